"""A judge behind its breaker and budget: when it is not asked, what is counted, and what a dead provider costs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from systemone.loopback import Connection, Served, serve
from undisturbed import now

from jevhook.judges.embedded import EmbeddedJudge
from jevhook.judges.guarded import GuardedJudge, guard
from jevhook.judges.mock import MockJudge
from jevhook.judges.remote import RemoteJudge
from jevhook.state import breaker, budget
from jevhook.systemone import dialects, wire

QUESTIONS = {"asked": wire.noul("Is it so?")}
USAGE = {"input_tokens": 1000, "output_tokens": 10}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}


def judge(env: dict[str, str], server: Served, key: str = "") -> GuardedJudge:
    made = guard(RemoteJudge(dialects.load("typesafe"), server.url, "jev-latest", key=key), env)
    assert isinstance(made, GuardedJudge)
    return made


def good(connection: Connection) -> None:
    body = {"model": "jev-1", "answers": {"asked": {"type": "noul", "noul": 0.9}}, "usage": USAGE}
    connection.answer(200, json.dumps(body).encode())


def silent(connection: Connection) -> None:
    connection.stopped.wait(20)


def failing(status: int, error_type: str = "") -> Callable[[Connection], None]:
    body = json.dumps({"error": {"type": error_type, "message": "no"}}).encode()
    return lambda connection: connection.answer(status, body)


@pytest.fixture
def server() -> Iterator[Callable[[Callable[[Connection], None]], Served]]:
    import contextlib

    with contextlib.ExitStack() as stack:
        yield lambda handler: stack.enter_context(serve(handler))


def spent(env: dict[str, str]) -> tuple[int, int, int]:
    (found,) = budget.status(env, time.time())["caps"]
    return found["settled"], found["reserved"], found["held"]


def test_judges_that_never_leave_the_process_need_no_guard(env: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "mock.json"
    script.write_text("{}")
    for inner in (EmbeddedJudge(), MockJudge(str(script))):
        assert guard(inner, env) is inner


def test_an_answer_comes_through_unchanged(env: dict[str, str], server: Any) -> None:
    guarded = judge(env, server(good))
    assert guard(guarded, env) is guarded
    reply = guarded.ask({}, QUESTIONS, 5)
    assert reply.error is None and reply.answers["asked"]["p"] == 0.9
    assert reply.usage == USAGE
    assert not budget.capped(env)


def test_a_dead_provider_costs_fifty_events_less_than_three_deadlines(env: dict[str, str], server: Any) -> None:
    dead = server(silent)
    deadline, kinds = 0.4, []
    began = now()
    for _ in range(50):
        reply = judge(env, dead).ask({"n": 1}, QUESTIONS, deadline)
        assert reply.error is not None and not reply.answers
        kinds.append(reply.error.kind)
    took = now() - began
    told = judge(env, dead).ask({}, QUESTIONS, deadline).error
    assert told is not None
    print(
        f"\ndead provider, 50 events, deadline {deadline} s: {took:.3f} s in all ({took / deadline:.2f} deadlines), "
        f"{kinds.count('timeout')} timeouts, {kinds.count('breaker')} skipped, "
        f"{(took - kinds.count('timeout') * deadline) / 50 * 1000:.2f} ms an event beside them; {told.message!r}"
    )
    assert took < 3 * deadline
    assert kinds[:2] == ["timeout", "timeout"] and set(kinds[2:]) == {"breaker"}
    assert len(dead.requests) == 2
    assert told.message.startswith("typesafe: skipped after timeouts; the next try is in ")


def test_a_refused_key_is_shown_to_the_service_once_and_a_new_one_is_tried(env: dict[str, str], server: Any) -> None:
    where = server(failing(401, "authentication_error"))
    kinds = [judge(env, where, "sk-old-0123456789").ask({}, QUESTIONS, 5).error.kind for _ in range(5)]  # type: ignore[union-attr]
    assert kinds == ["auth", "breaker", "breaker", "breaker", "breaker"]
    assert judge(env, where, "sk-new-0123456789").ask({}, QUESTIONS, 5).error.kind == "auth"  # type: ignore[union-attr]
    state = Path(env["XDG_STATE_HOME"]) / "jevhook"
    kept = b"".join(file.read_bytes() for file in state.rglob("*") if file.is_file())
    assert b"sk-" not in kept


def test_events_that_it_could_not_read_are_not_its_death(env: dict[str, str], server: Any) -> None:
    where = server(failing(400, "invalid_request_error"))
    for _ in range(5):
        assert judge(env, where).ask({}, QUESTIONS, 5).error.kind == "bad_request"  # type: ignore[union-attr]


def test_a_call_is_booked_at_the_price_that_was_set(env: dict[str, str], server: Any) -> None:
    budget.set_cap(env, 10_000, 1000, time.time())
    budget.set_price(env, "typesafe", "", 300_000, 0, time.time())
    reply = judge(env, server(good)).ask({}, QUESTIONS, 5)
    assert reply.usage == {**USAGE, "cost_micros": 300, "reserved_micros": 1000}
    assert spent(env) == (300, 0, 0)


def test_when_the_money_is_spent_nothing_is_sent(env: dict[str, str], server: Any) -> None:
    budget.set_cap(env, 1000, 1000, time.time())
    budget.set_price(env, "typesafe", "", 300_000, 0, time.time())
    where = server(good)
    assert judge(env, where).ask({}, QUESTIONS, 5).error is None
    refused = judge(env, where).ask({}, QUESTIONS, 5)
    assert refused.error is not None and refused.error.kind == "budget"
    assert "the month's budget of user is used up" in refused.error.message
    assert refused.warnings == [{"type": "missing-answer", "question": "asked"}]
    assert len(where.requests) == 1


def test_a_decision_that_cost_too_much_freezes_and_says_so(env: dict[str, str], server: Any) -> None:
    budget.set_cap(env, 10_000, 10, time.time())
    budget.set_price(env, "typesafe", "", 300_000, 0, time.time())
    where = server(good)
    reply = judge(env, where).ask({}, QUESTIONS, 5)
    assert reply.answers and {"type": "budget-frozen", "question": ""} in reply.warnings
    assert "frozen" in judge(env, where).ask({}, QUESTIONS, 5).error.message  # type: ignore[union-attr]


FAULTS = [
    # (status, settled, held): what is known not to be charged is given back, the rest is held
    (401, 0, 0),
    (402, 0, 0),
    (429, 0, 0),
    (400, 0, 0),
    (413, 0, 0),
    (500, 0, 1000),
    (302, 0, 1000),
]


@pytest.mark.parametrize(("status", "settled", "held"), FAULTS)
def test_what_a_failed_call_leaves_in_the_budget(
    env: dict[str, str], server: Any, status: int, settled: int, held: int
) -> None:
    budget.set_cap(env, 10_000, 1000, time.time())
    judge(env, server(failing(status))).ask({}, QUESTIONS, 5)
    assert spent(env) == (settled, 0, held)


def test_a_timeout_is_held_and_a_skipped_call_reserves_nothing(env: dict[str, str], server: Any) -> None:
    budget.set_cap(env, 10_000, 1000, time.time())
    where = server(silent)
    for _ in range(4):
        judge(env, where).ask({}, QUESTIONS, 0.1)
    assert spent(env) == (0, 0, 2000)


def test_a_state_directory_that_cannot_be_written_stops_no_call(server: Any, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    env = {"XDG_STATE_HOME": str(blocked)}
    assert judge(env, server(good)).ask({}, QUESTIONS, 5).error is None
    assert breaker.known(env, time.time()) == []


def test_each_tier_of_a_cascade_has_its_own_breaker(env: dict[str, str], server: Any) -> None:
    from jevhook.judges.cascade import Cascade, Tier

    dead, alive = server(failing(402)), server(good)

    def both() -> Any:
        tiers = [
            Tier(RemoteJudge(dialects.load("typesafe"), dead.url, "one"), network=True),
            Tier(RemoteJudge(dialects.load("typesafe"), alive.url, "two"), network=True),
        ]
        return guard(Cascade(tiers, network_calls=2), env)

    for _ in range(3):
        assert both().ask({}, QUESTIONS, 5).answers["asked"]["judge"] == "typesafe/two"
    assert (len(dead.requests), len(alive.requests)) == (1, 3)
