"""The circuit breaker: when it opens, for how long, who tries, and that nothing about its files can stop a call."""

from __future__ import annotations

import multiprocessing
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from undisturbed import now

from jevhook import ledger
from jevhook.state import breaker

NOW = 1_800_000_000.0
KEY = "typesafe https://judge.example jev-latest"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}


def folder(env: dict[str, str]) -> Path:
    return Path(ledger.directory(env)) / "breaker"


def state_file(env: dict[str, str]) -> Path:
    (file,) = folder(env).glob("*.json")
    return file


def met(env: dict[str, str], *calls: tuple[float, str, float], key: str = KEY) -> None:
    """Calls as (seconds after NOW at which they ended, error kind or "ok", seconds they took)."""
    for at, kind, seconds in calls:
        breaker.record(env, key, kind == "ok", "" if kind == "ok" else kind, seconds, NOW + at)


def open_for(env: dict[str, str], at: float) -> float:
    """How long calls are skipped after ``at``, found by asking; 0 when it is closed."""
    for seconds in (0, 29, 31, 59, 61, 119, 121, 239, 241, 299, 301, 479, 481, 599):
        if breaker.allowed(env, KEY, NOW + at + seconds)[0]:
            return seconds
    return 600


TABLE = [
    # (what happened, open at the end, name)
    ([], False, "nothing yet"),
    ([(0, "unreachable", 0), (1, "unreachable", 0)], False, "two failures"),
    ([(0, "unreachable", 0), (1, "server", 0), (2, "rate_limited", 0)], True, "three failures of different kinds"),
    ([(0, "server", 0), (1, "server", 0), (2, "ok", 0.2), (3, "server", 0)], False, "an answer in between"),
    ([(0, "server", 0), (1, "server", 0), (1000, "server", 0)], False, "the third long after"),
    ([(0, "timeout", 4)], False, "one slow first answer"),
    ([(0, "ok", 1), (400, "timeout", 4), (406, "ok", 3)], False, "a model that woke up"),
    ([(0, "timeout", 4), (8, "timeout", 4)], True, "two timeouts"),
    ([(0, "ok", 1), (9, "timeout", 4), (14, "timeout", 4)], True, "two timeouts of a model that was awake"),
    ([(0, "timeout", 4), (1, "timeout", 4), (2, "timeout", 4), (3, "timeout", 4)], False, "timeouts side by side"),
    ([(0, "timeout", 4), (5, "server", 0), (6, "server", 0)], False, "the sleeper's timeout is no failure"),
    ([(0, "ok", 1), (5, "timeout", 4), (6, "server", 0), (7, "server", 0)], True, "a timeout while awake is one"),
    ([(0, "auth", 0)], True, "a refused key"),
    ([(0, "payment", 0)], True, "an empty account"),
    ([(n, "bad_request", 0) for n in range(9)], False, "nine events it could not read"),
    ([(n, "invalid_response", 0) for n in range(10)], True, "ten answers that are none"),
    ([(0, "server", 0), (1, "server", 0), (2, "bad_request", 0), (3, "server", 0)], False, "it still answers"),
    ([(n, "oversized", 0) for n in range(50)], False, "events that are too large"),
    ([(n, "config", 0) for n in range(50)], False, "a mistake in the configuration"),
]


@pytest.mark.parametrize(("calls", "is_open", "name"), TABLE, ids=[row[2] for row in TABLE])
def test_what_opens_it(env: dict[str, str], calls: list[tuple[float, str, float]], is_open: bool, name: str) -> None:
    met(env, *calls)
    may, why = breaker.allowed(env, KEY, NOW + (calls[-1][0] if calls else 0) + 0.5)
    assert may is not is_open
    assert bool(why) is is_open


def test_it_stays_open_for_half_a_minute_and_doubles_up_to_ten(env: dict[str, str]) -> None:
    met(env, *((n, "unreachable", 0) for n in range(3)))
    at, waits = 2.0, []
    for _ in range(7):
        wait = open_for(env, at)  # the asking that got through is the try
        waits.append(wait)
        at += wait + 1
        met(env, (at, "unreachable", 0.5))
    assert waits == [31, 61, 121, 241, 481, 600, 600]


@pytest.mark.parametrize("kind", ["auth", "payment"])
def test_what_trying_again_cannot_mend_stays_open_for_five_minutes(env: dict[str, str], kind: str) -> None:
    met(env, (0, kind, 0))
    assert open_for(env, 0) == 301


@pytest.mark.parametrize("kind", ["ok", "bad_request", "invalid_response"])
def test_any_answer_to_the_try_closes_it(env: dict[str, str], kind: str) -> None:
    met(env, *((n, "server", 0) for n in range(3)))
    assert breaker.allowed(env, KEY, NOW + 40)[0]
    assert not breaker.allowed(env, KEY, NOW + 40.1)[0], "one tries, the others skip"
    met(env, (41, kind, 0.5))
    assert breaker.allowed(env, KEY, NOW + 41.1) == (True, "")
    met(env, (42, "server", 0), (43, "server", 0))
    assert breaker.allowed(env, KEY, NOW + 44) == (True, ""), "and counting starts again"


def test_a_call_that_was_under_way_when_it_opened_does_not_prolong_it(env: dict[str, str]) -> None:
    met(env, (0, "server", 0), (1, "server", 0), (2, "server", 0), (5, "timeout", 4))
    assert open_for(env, 2) == 31


def test_a_try_that_was_killed_is_followed_by_another(env: dict[str, str]) -> None:
    met(env, *((n, "server", 0) for n in range(3)))
    assert breaker.allowed(env, KEY, NOW + 33)[0]
    assert not breaker.allowed(env, KEY, NOW + 50)[0]
    assert breaker.allowed(env, KEY, NOW + 33 + breaker.LEASE)[0]


def test_another_provider_address_model_or_key_is_another_breaker(env: dict[str, str]) -> None:
    first = breaker.name(env, "typesafe", "https://a.example", "jev", "sk-one")
    others = [
        breaker.name(env, "ollama", "https://a.example", "jev", "sk-one"),
        breaker.name(env, "typesafe", "https://b.example", "jev", "sk-one"),
        breaker.name(env, "typesafe", "https://a.example", "jev-2", "sk-one"),
        breaker.name(env, "typesafe", "https://a.example", "jev", "sk-two"),
    ]
    assert "sk-one" not in first
    met(env, (0, "auth", 0), key=first)
    assert not breaker.allowed(env, first, NOW + 1)[0]
    for other in others:
        assert breaker.allowed(env, other, NOW + 1)[0]
    assert [key for key, state in breaker.known(env, NOW + 1) if state.open_until] == [first]
    breaker.forget(env, first)
    assert breaker.allowed(env, first, NOW + 1)[0]


def test_the_files_are_private_and_few(env: dict[str, str]) -> None:
    for number in range(60):
        met(env, (number, "auth", 0), key=f"{KEY} {number}")
    assert len(list(folder(env).glob("*.json"))) <= 33
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in folder(env).iterdir())
    assert stat.S_IMODE(folder(env).stat().st_mode) == 0o700
    assert all(file.stat().st_size < 1024 for file in folder(env).iterdir())


def _fifo(file: Path) -> None:
    os.mkfifo(file)


WRONG: list[tuple[str, Callable[[Path], object]]] = [
    ("empty", lambda file: file.write_text("")),
    ("torn", lambda file: file.write_text('{"key":"x","kind":"auth","count":1,')),
    ("not an object", lambda file: file.write_text("[1]")),
    ("not numbers", lambda file: file.write_text(file_text().replace("1", '"1"'))),
    ("numbers that are none", lambda file: file.write_text(file_text().replace('"wait":300.0', '"wait":NaN'))),
    ("open for a year", lambda file: file.write_text(file_text().replace('"wait":300.0', '"wait":3e7'))),
    ("from the future", lambda file: file.write_text(file_text().replace("18000", "28000"))),
    ("huge", lambda file: file.write_text(" " * 100_000 + file_text())),
    ("a directory", lambda file: file.mkdir()),
    ("a pipe that nobody fills", _fifo),
    ("a link", lambda file: file.symlink_to("/etc/passwd")),
]


def file_text() -> str:
    numbers = dict.fromkeys(("count", "useless", "wait"), 0.0)
    numbers |= {"failed_at": NOW, "used_at": NOW, "opened_at": NOW, "open_until": NOW + 300, "wait": 300.0}
    return '{"key":"k","kind":"auth",' + ",".join(f'"{name}":{value!r}' for name, value in numbers.items()) + "}"


def test_the_text_that_the_next_test_breaks_is_a_valid_one(env: dict[str, str]) -> None:
    met(env, (0, "auth", 0))
    state_file(env).write_text(file_text())
    assert not breaker.allowed(env, KEY, NOW + 1)[0]


@pytest.mark.parametrize(("name", "spoil"), WRONG, ids=[row[0] for row in WRONG])
def test_a_file_that_cannot_be_believed_lets_the_call_through(
    env: dict[str, str], name: str, spoil: Callable[[Path], object]
) -> None:
    met(env, (0, "auth", 0))
    file = state_file(env)
    file.unlink()
    spoil(file)
    began = now()
    assert breaker.allowed(env, KEY, NOW + 1) == (True, "")
    met(env, (2, "server", 0))
    assert now() - began < 0.5


def test_without_a_place_to_write_every_call_is_allowed(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    for env in ({"XDG_STATE_HOME": str(blocked)}, {"XDG_STATE_HOME": "/proc/none"}):
        met(env, *((n, "auth", 0) for n in range(3)))
        assert breaker.allowed(env, KEY, NOW + 3) == (True, "")


def test_somebody_who_holds_the_lock_holds_nobody_up(env: dict[str, str]) -> None:
    fcntl = pytest.importorskip("fcntl")
    met(env, (0, "server", 0))
    with open(str(state_file(env)) + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        began = now()
        met(env, (1, "auth", 0))
        assert breaker.allowed(env, KEY, NOW + 2) == (True, "")
        assert now() - began < 0.1
    met(env, (3, "auth", 0))
    assert not breaker.allowed(env, KEY, NOW + 4)[0]


def _try(env: dict[str, str], at: float, gate: object, out: object) -> None:
    gate.wait()  # type: ignore[attr-defined]
    out.put(breaker.allowed(env, KEY, at)[0])  # type: ignore[attr-defined]


def _fail(env: dict[str, str], number: int) -> None:
    for turn in range(5):
        breaker.record(env, KEY, False, "server", 0.0, NOW + number / 100 + turn)


def test_of_many_processes_one_tries(env: dict[str, str]) -> None:
    met(env, *((n, "server", 0) for n in range(3)))
    context = multiprocessing.get_context("fork")
    for at in (NOW + 40, NOW + 75):  # the second round: the first one's try was killed
        gate, out = context.Event(), context.Queue()
        workers = [context.Process(target=_try, args=(env, at, gate, out)) for _ in range(24)]
        for worker in workers:
            worker.start()
        gate.set()
        tried = [out.get(timeout=30) for _ in workers]
        for worker in workers:
            worker.join()
        assert tried.count(True) == 1


def test_many_processes_that_fail_at_once_leave_a_whole_file_and_an_open_breaker(env: dict[str, str]) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_fail, args=(env, number)) for number in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not breaker.allowed(env, KEY, NOW + 6)[0]
    assert list(folder(env).glob("*.tmp")) == []


def test_asking_costs_less_than_a_millisecond(env: dict[str, str]) -> None:
    met(env, (0, "auth", 0))
    took = []
    for _ in range(200):
        began = now()
        breaker.allowed(env, KEY, NOW + 1)
        took.append(now() - began)
    took.sort()
    print(f"\nbreaker.allowed, open: median {took[100] * 1e6:.0f} us, 99th {took[198] * 1e6:.0f} us")
    assert took[100] < 0.001
