"""``Jev`` against servers on loopback: what is sent, what comes back, who is asked, and what never leaves."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import jevhook
from jevhook import Jev, RequestError, check, pick, rate
from jevhook.use.jev import nobody
from tests.systemone.loopback import Connection, body_of, header_of, saying, serve

KEY = "tsk-0123456789abcdefghij"


def env_for(tmp_path: Path, url: str = "", **more: str) -> dict[str, str]:
    env = {"HOME": str(tmp_path), **more}
    if url:
        env |= {"TYPESAFE_API_KEY": KEY, "TYPESAFE_BASE_URL": url}
    return env


def config(tmp_path: Path, text: str) -> None:
    file = tmp_path / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def answering(connection: Connection) -> None:
    """Says yes with .9, the first option with .8, the first level with .9 to whatever is asked."""
    answers: dict[str, Any] = {}
    for name, question in body_of(connection.request)["questions"].items():
        keys = list(question.get("criteria") or {})
        if question["type"] == "noul":
            answers[name] = {"type": "noul", "noul": 0.9}
        elif question["type"] == "choice":
            rest = 0.2 / (len(keys) - 1)
            spread = {key: 0.8 if key == keys[0] else rest for key in keys}
            answers[name] = {"type": "choice", "choice": keys[0], "probabilities": spread, "confidence": 0.7}
        else:
            spread = {str(n): 0.9 if n == 0 else 0.1 if n == 1 else 0.0 for n in range(len(keys))}
            answers[name] = {"type": "score", "score": 0.1, "probabilities": spread, "confidence": 0.8}
    usage = {"input_tokens": 10, "output_tokens": 1}
    connection.answer(200, json.dumps({"model": "jev-1.13.0", "answers": answers, "usage": usage}).encode())


def test_all_questions_go_in_one_request_and_come_back_in_order(tmp_path: Path) -> None:
    with serve(answering) as server:
        result = Jev(env=env_for(tmp_path, server.url)).judge(
            {"log": "ok"},
            {
                "ü 1": check("Green?"),
                "essay": {"type": "essay", "question": "Write."},
                "kind": pick("Which?", ["a", "b"]),
            }
            | {"bad": rate("How?", ["fine", "down"])},
        )
    assert len(server.requests) == 1
    sent = body_of(server.requests[0])
    assert sent["state"] == {"log": "ok"} and sent["model"] == "jev-latest"
    assert [question["instructions"] for question in sent["questions"].values()] == ["Green?", "Which?", "How?"]
    assert header_of(server.requests[0], "Authorization") == f"Bearer {KEY}"
    assert [verdict.id for verdict in result] == ["ü 1", "essay", "kind", "bad"]
    assert result.answers == {"ü 1": 0.9, "essay": None, "kind": "a", "bad": 0.1}
    assert [verdict.reason for verdict in result] == [None, "open_ended", None, None]
    assert result["kind"].confidence_from == "reported" and result["bad"].legend == {"0": "fine", "1": "down"}
    assert (result.escalated, result.answered) == (True, True)
    assert (result.backend, result.model) == ("typesafe/jev-latest", "jev-1.13.0")
    assert result.usage == {"input_tokens": 10, "output_tokens": 1} and result.latency_ms >= 0
    assert set(result.json()) == {
        "answers", "verdicts", "escalated", "backend", "via", "model", "latencyMs", "usage",
    }  # fmt: skip


def test_it_can_be_awaited(tmp_path: Path) -> None:
    async def both(jev: Jev) -> list[Any]:
        return await asyncio.gather(*(jev.ajudge("x", [check("Green?")]) for _ in range(3)))

    with serve(answering) as server:
        results = asyncio.run(both(Jev(env=env_for(tmp_path, server.url))))
    assert [result.answers for result in results] == [{"q0": 0.9}] * 3


def test_more_questions_than_a_service_takes_are_asked_in_turn(tmp_path: Path) -> None:
    with serve(answering) as server:
        config(tmp_path, '[judge]\nprovider = "typesafe"\nmax_questions = 20\n')
        result = Jev(env=env_for(tmp_path, server.url)).judge("x", [check(f"Is it {n}?") for n in range(45)])
    assert [len(body_of(request)["questions"]) for request in server.requests] == [20, 20, 5]
    assert [verdict.answer for verdict in result] == [0.9] * 45
    assert result.usage == {"input_tokens": 30, "output_tokens": 3}


@pytest.mark.parametrize("state", ["x" * 120_001, {"a": "x" * 120_000}, ["ä" * 60_000, "x" * 60_000]])
def test_a_state_that_is_too_long_is_not_sent(tmp_path: Path, state: Any) -> None:
    with serve(answering) as server:
        result = Jev(env=env_for(tmp_path, server.url)).judge(state, [check("Green?"), pick("Which?", ["a"])])
    assert server.requests == []
    assert [verdict.reason for verdict in result] == ["oversized", "oversized"]
    assert "30,000" in result["q0"].hint and result.backend == ""


def test_a_state_that_only_the_wire_finds_too_long_is_oversized_too(tmp_path: Path) -> None:
    with serve(answering) as server:
        result = Jev(env=env_for(tmp_path, server.url)).judge("ä" * 100_000, [check("Green?")])
    assert server.requests == [] and result["q0"].reason == "oversized"


@pytest.mark.parametrize(
    ("status", "body", "reason", "word"),
    [
        (401, {"detail": {"error_type": "authentication_error"}}, "unreachable", "TYPESAFE_API_KEY"),
        (402, {}, "unreachable", "no credit"),
        (400, {"detail": {"error_type": "max_tokens_exceeded"}}, "oversized", "too long"),
        (422, {"detail": [{"msg": "Field required"}]}, "unreachable", "did not understand"),
        (200, {"answers": {}}, "unreachable", "left it out"),
        (200, {"answers": {"q0": {"type": "noul", "noul": 1.5}}}, "unreachable", "out of range"),
        (200, {"answers": {"q0": {"type": "noul", "noul": True}}}, "unreachable", "a number"),
        (200, {"answers": {"q0": {"type": "choice", "choice": "a"}}}, "unreachable", "another type"),
        (200, b"<html>", "unreachable", "without valid JSON"),
        (302, {}, "unreachable", "redirects"),
    ],
)
def test_what_a_service_does_wrong_is_a_verdict(tmp_path: Path, status: int, body: Any, reason: str, word: str) -> None:
    with serve(saying(status, body)) as server:
        result = Jev(env=env_for(tmp_path, server.url)).judge("x", [check("Green?")])
    assert len(server.requests) == 1
    verdict = result["q0"]
    assert (verdict.reason, verdict.answer, verdict.confidence, verdict.confidence_from) == (reason, None, 0.0, None)
    assert word in verdict.hint and KEY not in verdict.hint
    assert result.answered is False


def test_one_wrong_answer_costs_only_its_own_question(tmp_path: Path) -> None:
    body = {"answers": {"q0": {"type": "noul", "noul": 0.9}, "q1": {"type": "noul", "noul": 9}}}
    with serve(saying(200, body)) as server:
        result = Jev(env=env_for(tmp_path, server.url)).judge("x", [check("Green?"), check("Red?")])
    assert [verdict.reason for verdict in result] == [None, "unreachable"]


def test_a_busy_service_is_asked_again_and_a_wrong_key_is_not(tmp_path: Path) -> None:
    answers = iter([429, 503, 200])

    def busy(connection: Connection) -> None:
        status = next(answers)
        if status == 200:
            answering(connection)
        else:
            connection.answer(status, b"{}")

    with serve(busy) as server:
        result = Jev(env=env_for(tmp_path, server.url)).judge("x", [check("Green?")])
    assert len(server.requests) == 3 and result.answers == {"q0": 0.9}


@pytest.mark.parametrize(("seconds", "calls"), [(1, 2), (60, 1)])
def test_a_busy_service_is_given_the_time_it_asks_for_or_left_alone(tmp_path: Path, seconds: int, calls: int) -> None:
    seen: list[float] = []

    def busy(connection: Connection) -> None:
        seen.append(time.monotonic())
        if len(seen) == 2:
            answering(connection)
        else:
            connection.answer(429, b"{}", f"Retry-After: {seconds}")

    with serve(busy) as server:
        result = Jev(env=env_for(tmp_path, server.url)).judge("x", [check("Green?")])
    assert len(seen) == calls and result.answered == (calls == 2)
    assert seen[-1] - seen[0] >= (1 if calls == 2 else 0)


def test_asking_again_is_one_failure_for_the_breaker_that_hooks_share(tmp_path: Path) -> None:
    with serve(saying(503, {}, "Retry-After-Ms: 10")) as server:
        env = env_for(tmp_path, server.url)
        for _ in range(2):
            assert Jev(env=env).judge("x", [check("Green?")])["q0"].reason == "unreachable"
    assert len(server.requests) == 6


def test_the_timeout_holds_for_all_tries_together(tmp_path: Path) -> None:
    with serve(saying(503, {})) as server:
        result = Jev(env=env_for(tmp_path, server.url), timeout=0.3).judge("x", [check("Green?")])
    assert len(server.requests) == 1 and result["q0"].reason == "unreachable"


def test_secrets_stay_here(tmp_path: Path) -> None:
    env = env_for(tmp_path, MY_SERVICE_TOKEN="zq7-hidden-value-4411")
    secret = "AKIAIOSFODNN7ABCDEFG"
    with serve(answering) as server:
        env |= {"TYPESAFE_API_KEY": KEY, "TYPESAFE_BASE_URL": server.url}
        result = Jev(env=env).judge(
            {"log": f"aws {secret}", "password": "hunter2hunter2", "note": "zq7-hidden-value-4411"},
            [
                check(f"Is {secret} a key?", true="zq7-hidden-value-4411", false="no"),
                pick("Which?", {"token": "an access token", "other": secret}),
                pick("Which?", [secret, "other"]),
                rate("How?", ["fine", secret]),
            ],
        )
    sent = server.requests[0].decode()
    for value in (
        secret,
        "hunter2",
        "zq7-hidden",
        *(() if KEY in header_of(server.requests[0], "Authorization") else "!"),
    ):
        assert value not in sent.replace(KEY, "")
    assert "an access token" in sent
    assert [verdict.reason for verdict in result] == [None, None, "open_ended", None]


@pytest.mark.parametrize("level", ["none", "shape"])
def test_what_may_not_leave_does_not(tmp_path: Path, level: str) -> None:
    config(tmp_path, f'[judge]\nprovider = "typesafe"\negress = "{level}"\n')
    result = Jev(env=env_for(tmp_path, TYPESAFE_API_KEY=KEY)).judge("x", [check("Green?")])
    assert result["q0"].reason == "unreachable" and f"egress = {level}" in result["q0"].hint
    with serve(answering) as server:  # on this machine it may be asked: nothing leaves
        result = Jev(env=env_for(tmp_path, server.url)).judge("x", [check("Green?")])
    assert result.answers == {"q0": 0.9}


def test_without_a_provider_nothing_is_invented(tmp_path: Path) -> None:
    result = Jev(env=env_for(tmp_path)).judge("x", [check("Green?"), {"type": "essay", "question": "?"}])
    verdict = result["q0"]
    assert (verdict.answer, verdict.confidence, verdict.escalate, verdict.reason) == (None, 0.0, True, "unreachable")
    assert verdict.hint == nobody() and result.backend == "embedded"
    for word in (
        "TYPESAFE_API_KEY",
        "OPENROUTER_API_KEY",
        "AI_GATEWAY_API_KEY",
        "ollama",
        "llama_cpp",
        "vllm",
        "sglang",
    ):
        assert word in verdict.hint
    assert result["q1"].reason == "open_ended"


def test_the_backend_and_the_model_can_be_named(tmp_path: Path) -> None:
    with serve(answering) as server:
        env = env_for(tmp_path, server.url, OLLAMA_HOST=server.url)
        config(tmp_path, '[judge]\nprovider = "typesafe"\n')
        one = Jev(env=env).judge("x", [check("Green?")], model="jev-1.13.0")
        two = Jev("ollama", env=env, model="small").judge("x", [check("Green?")])
    assert [body_of(request)["model"] for request in server.requests] == ["jev-1.13.0", "small"]
    assert (one.backend, two.backend) == ("typesafe/jev-1.13.0", "ollama/small")
    assert header_of(server.requests[1], "Authorization") is None  # a key goes only to whom it belongs


def test_tiers_are_asked_one_after_the_other_and_take_no_model(tmp_path: Path) -> None:
    with serve(answering) as server:
        config(
            tmp_path,
            '[judge]\ntiers = ["embedded", "at-home"]\n'
            f'[judge.tier.at-home]\nprovider = "native"\nbase_url = "{server.url}"\nmax_questions = 2\n',
        )
        jev = Jev(env=env_for(tmp_path))
        result = jev.judge("x", [check("Green?"), check("Red?"), rate("How?", ["fine", "down"])])
        named = jev.judge("x", [check("Green?")], model="other")
        one = Jev("at-home", model="other", env=env_for(tmp_path)).judge("x", [check("Green?")])
    assert result.answers == {"q0": 0.9, "q1": 0.9, "q2": 0.1}
    assert [len(body_of(request)["questions"]) for request in server.requests] == [2, 1, 1]
    assert result.backend == "cascade(embedded>native/jev-latest)"
    assert named["q0"].reason == "unreachable" and "each has its own model" in named["q0"].hint
    assert one.answered and one.backend == "native/other"


def test_the_managed_config_stands_above_a_named_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    managed = tmp_path / "policy.toml"
    managed.write_text('[judge]\nprovider = "none"\n')
    monkeypatch.setattr("jevhook.policy.MANAGED", str(managed))
    monkeypatch.setattr("jevhook.policy_toml._refuse_strangers", lambda *_: None)
    with serve(answering) as server:
        result = Jev("typesafe", env=env_for(tmp_path, server.url)).judge("x", [check("Green?")])
    assert server.requests == []
    assert result["q0"].reason == "unreachable" and "managed config" in result["q0"].hint


def test_a_provider_that_keeps_failing_is_not_asked(tmp_path: Path) -> None:
    with serve(saying(500, {})) as server:
        jev = Jev(env=env_for(tmp_path, server.url), retries=0)
        for _ in range(4):
            result = jev.judge("x", [check("Green?")])
    assert len(server.requests) == 3
    assert result["q0"].reason == "unreachable" and "skipped after failures" in result["q0"].hint


def test_a_call_that_does_not_fit_the_budget_is_not_made(tmp_path: Path) -> None:
    from jevhook.state import budget

    with serve(answering) as server:
        env = env_for(tmp_path, server.url)
        budget.set_cap(env, 1000, 600, time.time())
        jev = Jev(env=env)
        first, second = (jev.judge("x", [check("Green?")]) for _ in range(2))
        budget.set_cap(env, 1000, 1000, time.time())
        budget.reserve(env, "typesafe", "jev-latest", time.time())
        third = jev.judge("x", [check("Green?")])
    assert first.answered and second.answered  # settled at what they cost: nothing was reported
    assert third["q0"].reason == "unreachable" and "typesafe: " in third["q0"].hint and third.answered is False
    assert len(server.requests) == 2


@pytest.mark.parametrize(("status", "calls"), [(429, 3), (503, 1)])
def test_under_a_budget_what_may_have_been_charged_is_not_asked_again(tmp_path: Path, status: int, calls: int) -> None:
    from jevhook.state import budget

    with serve(saying(status, {}, "Retry-After-Ms: 10")) as server:
        env = env_for(tmp_path, server.url)
        budget.set_cap(env, 1000, 600, time.time())
        Jev(env=env).judge("x", [check("Green?")])
        found = budget.status(env, time.time())
    assert len(server.requests) == calls
    assert sum(hold["count"] for hold in found["holds"]) == (status == 503)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"threshold": 2}, "threshold"),
        ({"threshold": "high"}, "threshold"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": 601}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"model": " "}, "model"),
        ({"retries": -1}, "retries"),
        ({"retries": True}, "retries"),
    ],
)
def test_a_judge_that_makes_no_sense_is_refused(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(RequestError) as wrong:
        Jev(env={}, **arguments)
    assert wrong.value.field == field


def test_one_instance_serves_many_threads(tmp_path: Path) -> None:
    with serve(answering) as server:
        jev = Jev(env=env_for(tmp_path, server.url))
        found: list[Any] = []
        threads = [
            threading.Thread(target=lambda: found.append(jev.judge("x", [check("Green?")]).answers)) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [{"q0": 0.9}] * 8


def fresh(code: str) -> str:
    """What a new interpreter prints, with this environment and nothing imported yet."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True).stdout


def test_every_public_name_can_be_imported_and_gate_stays_a_function() -> None:
    names = ", ".join(jevhook._LIBRARY)
    code = f"""
import jevhook.hook, jevhook.decide, pkgutil
from jevhook import {names}
assert all(map(callable, ({names})))
import jevhook
print(callable(jevhook.gate), [m.name for m in pkgutil.iter_modules(jevhook.__path__) if m.name in jevhook._LIBRARY])
"""
    assert fresh(code).strip() == "True []"
    with pytest.raises(AttributeError):
        _ = jevhook.no_such_name


def test_importing_the_package_itself_imports_nothing_more() -> None:
    code = "import sys; before = set(sys.modules); import jevhook; print(sorted(set(sys.modules) - before))"
    assert fresh(code).strip() == "['jevhook']"


def test_the_import_of_the_library_takes_less_than_forty_milliseconds() -> None:
    names = ", ".join(jevhook._LIBRARY)
    code = f"import time; t = time.process_time(); from jevhook import {names}; print(time.process_time() - t)"
    assert min(float(fresh(code)) for _ in range(5)) < 0.040
