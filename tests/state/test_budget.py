"""Money: reservations, settlements, holds, caps and freezes, one process or sixty-four."""

from __future__ import annotations

import calendar
import multiprocessing
import os
import random
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from jevhook import ledger
from jevhook.state import budget

NOW = float(calendar.timegm((2027, 1, 31, 23, 59, 0)))
LATER = NOW + 120  # another month
P, M = "typesafe", "jev-latest"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}


def cap(env: dict[str, str], monthly: int, decision: int, provider: str = "", model: str = "") -> None:
    budget.set_cap(env, monthly, decision, NOW, provider, model)


def reserved(env: dict[str, str], provider: str = P, model: str = M, now: float = NOW) -> budget.Ticket:
    ticket, why = budget.reserve(env, provider, model, now)
    assert ticket is not None, why
    return ticket


def refusal(env: dict[str, str], provider: str = P, model: str = M, now: float = NOW) -> str:
    ticket, why = budget.reserve(env, provider, model, now)
    assert ticket is None
    return why


def bucket(env: dict[str, str], scope: str = "user", name: str = "", now: float = NOW) -> tuple[int, int, int]:
    """settled, reserved, held as `jevhook budget` shows them."""
    for found in budget.status(env, now)["caps"]:
        if (found["scope"], found["name"]) == (scope, name):
            return found["settled"], found["reserved"], found["held"]
    raise AssertionError("no such cap")


def test_until_a_cap_is_set_there_is_no_file_and_no_sqlite(env: dict[str, str]) -> None:
    assert not budget.capped(env)
    code = (
        "import sys; from jevhook.state import budget; from jevhook.judges import guarded;"
        "budget.capped({'HOME': '/nonexistent'}); sys.exit('sqlite3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_decision_is_reserved_and_then_booked_at_what_it_cost(env: dict[str, str]) -> None:
    cap(env, 1000, 100)
    ticket = reserved(env)
    assert ticket.amount == 100
    assert bucket(env) == (0, 100, 0)
    assert budget.settle(env, ticket, 7, NOW + 1) == (7, "")
    assert bucket(env) == (7, 0, 0)
    assert budget.settle(env, ticket, 7, NOW + 2) == (0, ""), "only once"
    budget.hold(env, ticket, "timeout", NOW + 2)
    assert bucket(env) == (7, 0, 0)


def test_no_reported_cost_and_no_price_is_a_real_zero(env: dict[str, str]) -> None:
    cap(env, 1000, 100)
    assert budget.settle(env, reserved(env), None, NOW, input_tokens=900, output_tokens=3) == (0, "")
    assert budget.status(env, NOW)["unpriced"] == [{"provider": P, "calls": 1}]


def test_tokens_cost_what_a_person_said_they_do(env: dict[str, str]) -> None:
    cap(env, 100_000, 10_000)
    budget.set_price(env, P, "", 300_000, 1_200_000, NOW)
    budget.set_price(env, P, "big", 3_000_000, 0, NOW)
    tokens = {"input_tokens": 1001, "output_tokens": 10}
    assert budget.settle(env, reserved(env), None, NOW, **tokens) == (313, ""), "rounded up"
    assert budget.settle(env, reserved(env, model="big"), None, NOW, **tokens) == (3003, "")
    assert budget.settle(env, reserved(env), 5, NOW, **tokens) == (5, ""), "what the service says counts first"


def test_a_price_without_a_word_on_tokens_is_an_unknown_cost(env: dict[str, str]) -> None:
    cap(env, 1000, 100)
    budget.set_price(env, P, "", 300_000, 1_200_000, NOW)
    budget.settle(env, reserved(env), None, NOW)
    assert bucket(env) == (0, 0, 100)


def test_the_month_is_never_exceeded_and_holds_count(env: dict[str, str]) -> None:
    cap(env, 350, 100)
    budget.hold(env, reserved(env), "timeout", NOW)
    budget.settle(env, reserved(env), 90, NOW)
    reserved(env)
    assert bucket(env) == (90, 100, 100)
    assert refusal(env) == (
        "the month's budget of user is used up: 0.00029 of 0.00035 USD are spoken for and one decision may cost 0.0001"
    )


def test_a_month_is_a_utc_month_and_the_next_one_starts_empty(env: dict[str, str]) -> None:
    cap(env, 100, 100)
    ticket = reserved(env)
    refusal(env)
    assert budget.period(NOW) == "2027-01" and budget.period(LATER) == "2027-02"
    reserved(env, now=LATER)
    budget.settle(env, ticket, 40, LATER)
    assert bucket(env)[0] == 40, "booked in the month in which it was reserved"
    assert bucket(env, now=LATER)[0] == 0


CAPS = [
    # (caps as (monthly, decision, provider, model), provider, model, admitted amount)
    ([(1000, 100, "", "")], P, M, 100),
    ([(1000, 100, "", ""), (1000, 30, P, "")], P, M, 30),
    ([(1000, 100, "", ""), (1000, 30, P, "")], "ollama", "x", 100),
    ([(1000, 100, "", ""), (1000, 30, P, ""), (50, 20, P, M)], P, M, 20),
    ([(1000, 30, P, "")], "ollama", "x", 0),
    ([(1000, 30, P, M)], P, "other", 0),
]


@pytest.mark.parametrize(("caps", "provider", "model", "amount"), CAPS)
def test_the_smallest_cap_that_applies_is_what_is_reserved(
    env: dict[str, str], caps: list[tuple[int, int, str, str]], provider: str, model: str, amount: int
) -> None:
    for monthly, decision, of, version in caps:
        cap(env, monthly, decision, of, version)
    assert reserved(env, provider, model).amount == amount


def test_every_bucket_has_to_admit(env: dict[str, str]) -> None:
    cap(env, 1000, 100)
    cap(env, 150, 100, P)
    reserved(env)
    assert "provider typesafe" in refusal(env)
    reserved(env, "ollama")


def test_a_cost_above_the_reservation_freezes_until_somebody_looks(env: dict[str, str]) -> None:
    cap(env, 1_000_000, 100)
    cost, why = budget.settle(env, reserved(env), 101, NOW)
    assert cost == 101 and why == "one decision cost 0.000101 USD where 0.0001 were reserved"
    assert "frozen" in refusal(env)
    assert "frozen" in refusal(env, now=LATER), "a new month is nobody who looked"
    assert {ice["scope"] for ice in budget.status(env, NOW)["frozen"]} == {"user", "provider", "model"}
    assert budget.unfreeze(env, NOW) == 3
    reserved(env)
    assert bucket(env)[0] == 101


@pytest.mark.parametrize("cost", [-1, 10**30])
def test_a_cost_that_cannot_be_is_an_unknown_one(env: dict[str, str], cost: int) -> None:
    cap(env, 1000, 100)
    budget.settle(env, reserved(env), cost, NOW)
    assert bucket(env) == (0, 0, 100)


def test_a_process_that_is_gone_leaves_a_hold(env: dict[str, str]) -> None:
    early = NOW - 86400
    cap(env, 1000, 100)
    ticket = reserved(env, now=early)
    reserved(env, now=early + budget.LOST)
    assert bucket(env, now=early + budget.LOST) == (0, 200, 0)
    reserved(env, now=early + budget.LOST + 1)
    assert bucket(env, now=early + budget.LOST + 1) == (0, 200, 100)
    budget.settle(env, ticket, 9, early + 130)
    assert bucket(env, now=early + 130) == (9, 200, 0), "unless it was only slow"


def test_releasing_takes_a_providers_holds_away_and_no_others(env: dict[str, str]) -> None:
    cap(env, 1000, 100)
    for provider in (P, P, "gone"):
        budget.hold(env, reserved(env, provider), "timeout", NOW)
    assert budget.release(env, "gone", "closed down", NOW) == (1, 100)
    assert bucket(env) == (0, 0, 200)
    assert budget.release(env, "gone", "again", NOW) == (0, 0)


@pytest.mark.parametrize(
    ("monthly", "decision", "model"), [(0, 0, ""), (10, 11, ""), (10, 0, ""), (10, -1, ""), (9, 1, "m")]
)
def test_a_cap_that_makes_no_sense_is_refused(env: dict[str, str], monthly: int, decision: int, model: str) -> None:
    with pytest.raises(ValueError):
        budget.set_cap(env, monthly, decision, NOW, "", model)
    assert not budget.capped(env)


DOLLARS = [(0.0001, 100), (0, 0), (1e-7, 1), (0.1 + 0.2, 300000), (2.5, 2500000)]
NO_DOLLARS = [-1, float("nan"), float("inf"), "1", None, True, 1e12]


@pytest.mark.parametrize(("said", "amount"), DOLLARS)
def test_a_reported_cost_becomes_micro_dollars_rounded_up(said: float, amount: int) -> None:
    assert budget.micros(said) == amount


@pytest.mark.parametrize("said", NO_DOLLARS)
def test_what_is_no_amount_is_none(said: object) -> None:
    assert budget.micros(said) is None


def test_the_files_are_private_even_while_in_use(env: dict[str, str]) -> None:
    old = os.umask(0)
    try:
        cap(env, 1000, 100)
        con = sqlite3.connect(budget.path(env))
        con.execute("BEGIN IMMEDIATE")
        con.execute("DELETE FROM events")
        con.execute("COMMIT")
        files = [file for file in Path(budget.path(env)).parent.iterdir() if file.name.startswith("budget")]
        assert len(files) > 1
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        con.close()
    finally:
        os.umask(old)


def _spoil(place: Path, how: str) -> None:
    if how == "corrupt":
        place.write_bytes(b"SQLite format 3\0" + random.Random(1).randbytes(8000))
    elif how == "empty":
        place.write_bytes(b"")
    elif how == "text":
        place.write_text("hello " * 1000)
    elif how == "another's tables":
        place.unlink()
        con = sqlite3.connect(place)
        con.execute("CREATE TABLE caps(x)")
        con.execute("CREATE TABLE frozen(x)")
        con.close()
        place.chmod(0o600)
    elif how == "open to others":
        place.chmod(0o644)
    elif how == "a link":
        place.rename(place.with_name("elsewhere"))
        place.symlink_to("elsewhere")
    else:
        place.unlink()
        place.mkdir()


@pytest.mark.parametrize(
    "how", ["corrupt", "empty", "text", "another's tables", "open to others", "a link", "a directory"]
)
def test_a_ledger_of_money_that_cannot_be_used_refuses_the_call(env: dict[str, str], how: str) -> None:
    cap(env, 1000, 100)
    ticket = reserved(env)
    place = Path(budget.path(env))
    for ending in ("-wal", "-shm"):
        place.with_name(place.name + ending).unlink(missing_ok=True)
    _spoil(place, how)
    assert "can't be" in refusal(env)
    budget.settle(env, ticket, 1, NOW)
    budget.hold(env, ticket, "x", NOW)


def test_somebody_who_holds_the_lock_is_waited_for_a_second_and_no_longer(env: dict[str, str]) -> None:
    cap(env, 1000, 100)
    con = sqlite3.connect(budget.path(env), isolation_level=None)
    con.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    assert "locked" in refusal(env)
    assert time.monotonic() - began < budget.BUSY + 0.5
    con.close()


def test_clearing_puts_the_record_aside(env: dict[str, str]) -> None:
    cap(env, 1000, 100)
    budget.settle(env, reserved(env), 5, NOW)
    aside = budget.clear(env, NOW)
    assert not budget.capped(env)
    con = sqlite3.connect(aside)
    assert con.execute("SELECT settled FROM buckets WHERE scope = 'user'").fetchone() == (5,)
    con.close()


def names(env: dict[str, str]) -> list[str]:
    """What there is of the budget, without the lock that stays."""
    return sorted(name for name in os.listdir(ledger.directory(env)) if name != "budget.lock")


def test_two_clears_in_one_second_keep_both_records(env: dict[str, str]) -> None:
    records = []
    for cost in (5, 7):
        cap(env, 1000, 100)
        budget.settle(env, reserved(env), cost, NOW)
        records.append(budget.clear(env, NOW))
    assert [_settled(record) for record in records] == [5, 7]


def test_a_file_that_goes_between_look_and_open_is_not_made_anew(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cap(env, 1000, 100)
    connect = sqlite3.connect

    def late(*args: Any, **more: Any) -> sqlite3.Connection:
        os.replace(budget.path(env), budget.path(env) + ".aside")
        return connect(*args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", late)
        assert reserved(env).id == "", "no cap applies any more"
    assert not budget.capped(env)
    cap(env, 1000, 100)
    assert reserved(env).amount == 100


def test_a_file_that_a_hook_has_open_stays_where_it_is(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "PATIENCE", 0.0, raising=False)
    cap(env, 1000, 100)
    number = os.stat(budget.path(env)).st_ino

    def work(con: sqlite3.Connection) -> None:
        con.execute("INSERT INTO events VALUES (1, 'x', '')")
        with pytest.raises(OSError, match="locked"):
            budget.clear(env, NOW)

    budget._transaction(env, work)
    assert (names(env), os.stat(budget.path(env)).st_ino) == (["budget.sqlite"], number)
    reserved(env)


def test_a_hook_that_has_the_file_open_finishes_in_the_record(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "PATIENCE", 60.0, raising=False)
    cap(env, 1000, 100)
    opened, gone = threading.Event(), threading.Event()

    def work(con: sqlite3.Connection) -> None:
        opened.set()
        gone.wait()
        budget._reserve(con, P, M, NOW)

    with ThreadPoolExecutor(2) as pool:
        hook = pool.submit(budget._transaction, env, work)
        opened.wait()
        clearing = pool.submit(budget.clear, env, NOW)
        try:
            while budget.capped(env) and not clearing.done():
                time.sleep(0.001)
            assert reserved(env).id == "", "the next one is not kept waiting"
            assert not clearing.done()
        finally:
            gone.set()
        hook.result()
        record = clearing.result()
    assert names(env) == [os.path.basename(record)], "with what was in its WAL"
    con = sqlite3.connect(record)
    assert con.execute("SELECT reserved FROM buckets WHERE scope = 'user'").fetchone() == (100,)
    con.close()


def test_a_step_beside_another_that_is_alone_waits_and_then_refuses(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "BUSY", 0.0)
    cap(env, 1000, 100)
    held = budget._lock(budget.path(env), alone=True)
    assert "locked" in refusal(env)
    budget._unlock(held)
    reserved(env)


def _settled(record: str) -> int:
    con = sqlite3.connect(record)
    row = con.execute("SELECT settled FROM buckets WHERE scope = 'user'").fetchone()
    con.close()
    return int(row[0]) if row else 0


def _ask(env: dict[str, str], asked: Any, stop: Any, out: Any) -> None:
    """As a hook does, again and again: look, reserve, settle."""
    spent, refusals = 0, set()
    while not stop.is_set():
        if not budget.capped(env):
            continue
        ticket, why = budget.reserve(env, P, M, NOW)
        if ticket is None:
            refusals.add(why)
        else:
            spent += budget.settle(env, ticket, 1, NOW)[0]
        asked.release()
    out.put((spent, refusals))


def test_clearing_beside_hooks_refuses_no_call_and_loses_no_money(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "PATIENCE", 60.0, raising=False)
    context = multiprocessing.get_context("fork")
    asked, stop, out = context.Semaphore(0), context.Event(), context.Queue()
    hooks = [context.Process(target=_ask, args=(env, asked, stop, out)) for _ in range(3)]
    for hook in hooks:
        hook.start()
    records = []
    try:
        for _ in range(8):
            cap(env, 1_000_000, 100)
            for _ in range(5):
                assert asked.acquire(timeout=60)
            records.append(budget.clear(env, NOW))
    finally:
        stop.set()
        results = [out.get() for _ in hooks]
        for hook in hooks:
            hook.join()
    refusals = {why for _, mine in results for why in mine}
    assert not {why for why in refusals if "locked" not in why}, "a machine that stands still for a second may do that"
    assert names(env) == sorted(os.path.basename(record) for record in records)
    assert sum(_settled(record) for record in records) == sum(spent for spent, _ in results)


def test_the_first_file_is_seen_whole_or_not_at_all(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Watched(sqlite3.Connection):
        def execute(self, *args: Any) -> sqlite3.Cursor:
            seen.append(budget.capped(env))
            return super().execute(*args)

        def executescript(self, *args: Any) -> sqlite3.Cursor:
            seen.append(budget.capped(env))
            return super().executescript(*args)

    with monkeypatch.context() as patch:
        connect = sqlite3.connect
        patch.setattr(sqlite3, "connect", lambda *args, **more: connect(*args, factory=Watched, **more))
        cap(env, 1000, 100)
    assert len(seen) > 5 and not any(seen)
    assert names(env) == ["budget.sqlite"] and reserved(env).amount == 100


def _killed(*_: Any) -> None:
    os._exit(9)


def test_a_first_cap_that_fails_leaves_nothing(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(budget, "_note", full)
        with pytest.raises(budget.BudgetError, match="full"):
            cap(env, 1000, 100)
    assert names(env) == []


def test_a_first_cap_that_is_killed_refuses_no_call(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(budget, "_note", _killed)
        child = multiprocessing.get_context("fork").Process(target=cap, args=(env, 1000, 100))
        child.start()
        child.join()
    assert child.exitcode == 9 and not budget.capped(env)
    cap(env, 1000, 100)
    assert reserved(env).amount == 100


def _cap_at_once(env: dict[str, str], provider: str, gate: Any) -> None:
    gate.wait()
    cap(env, 1000, 100, provider)


def test_first_caps_at_once_all_count(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "PATIENCE", 60.0, raising=False)
    context = multiprocessing.get_context("fork")
    gate = context.Barrier(4)
    people = [context.Process(target=_cap_at_once, args=(env, f"p{number}", gate)) for number in range(4)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert [person.exitcode for person in people] == [0] * 4
    assert [found["name"] for found in budget.status(env, NOW)["caps"]] == [f"p{number}" for number in range(4)]


def test_first_caps_at_once_all_count_where_there_are_no_locks(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def second(source: str, place: str) -> None:
        monkeypatch.setattr(os, "link", link)
        cap(env, 1000, 100, "another")
        link(source, place)

    monkeypatch.setattr(ledger, "fcntl", None)
    monkeypatch.setattr(os, "link", second)
    cap(env, 1000, 100, P)
    assert [found["name"] for found in budget.status(env, NOW)["caps"]] == ["another", P]
    assert names(env) == ["budget.sqlite"]


def test_what_a_removed_file_left_beside_it_is_not_read_into_the_next(env: dict[str, str]) -> None:
    cap(env, 1000, 100, "old")
    place = Path(budget.path(env))
    con = sqlite3.connect(place)
    con.execute("SELECT * FROM caps").fetchall()  # so that the step below leaves its WAL
    cap(env, 2000, 100, "old")
    wal = place.with_name(place.name + "-wal").read_bytes()
    con.close()
    place.unlink()
    place.with_name(place.name + "-wal").write_bytes(wal)
    assert wal
    cap(env, 1000, 100, "new")
    assert [found["name"] for found in budget.status(env, NOW)["caps"]] == ["new"]


ODD = ["a b", "50%41", "what?mode=ro", "#1", "/double", "caf\udce9"]


@pytest.mark.parametrize("name", ODD)
def test_the_directory_may_have_any_name(tmp_path: Path, name: str) -> None:
    env = {"XDG_STATE_HOME": f"{'/' * name.startswith('/')}{tmp_path}/{name.strip('/')}"}
    cap(env, 1000, 100)
    assert reserved(env).amount == 100
    assert names(env) == ["budget.sqlite"]


def _spend(env: dict[str, str], seed: int, gate: Any, out: Any) -> None:
    """As a hook does: reserve, settle or hold or die; and look whether the cap is kept."""
    dice = random.Random(seed)
    gate.wait()
    counts = {"admitted": 0, "refused": 0, "busy": 0, "spent": 0, "worst": 0.0}
    for _ in range(3):
        began = time.monotonic()
        ticket, why = budget.reserve(env, dice.choice((P, "ollama")), M, NOW)
        counts["worst"] = max(counts["worst"], time.monotonic() - began)
        if ticket is None:
            counts["busy" if "used up" not in why else "refused"] += 1
            continue
        counts["admitted"] += 1
        cost = dice.randrange(ticket.amount + 1)
        fate = dice.random()
        if fate < 0.7:
            counts["spent"] += budget.settle(env, ticket, cost, NOW)[0]
        elif fate < 0.9:
            budget.hold(env, ticket, "timeout", NOW)
    out.put(counts)


def test_sixty_four_processes_at_once_never_exceed_the_cap(env: dict[str, str]) -> None:
    monthly, decision = 5_000, 100  # 192 wishes for at least 50 places
    cap(env, monthly, decision)
    context = multiprocessing.get_context("fork")
    gate, out = context.Event(), context.Queue()
    workers = [context.Process(target=_spend, args=(env, seed, gate, out)) for seed in range(64)]
    for worker in workers:
        worker.start()
    began = time.monotonic()
    gate.set()
    most = 0
    con = sqlite3.connect(budget.path(env))
    results: list[dict[str, Any]] = []
    while len(results) < 64:
        row = con.execute("SELECT settled + reserved + held FROM buckets WHERE scope = 'user'").fetchone()
        most = max(most, row[0] if row else 0)
        try:
            results.append(out.get(timeout=0.005))
        except Exception as empty:
            assert type(empty).__name__ == "Empty" and time.monotonic() - began < 60
    con.close()
    for worker in workers:
        worker.join()
    total = {name: sum(result[name] for result in results) for name in ("admitted", "refused", "busy", "spent")}
    settled, still, held = bucket(env)
    worst = max(result["worst"] for result in results)
    print(
        f"\nbudget race: 64 processes, 192 wishes of {decision} under a cap of {monthly}: {total}, "
        f"highest sum seen {most}, at the end settled {settled} reserved {still} held {held}, "
        f"longest reserve {worst * 1000:.0f} ms, {time.monotonic() - began:.2f} s in all"
    )
    assert settled + still + held <= monthly and most <= monthly
    assert settled == total["spent"]
    assert total["admitted"] + total["refused"] + total["busy"] == 192
    assert total["refused"] > 0, "the race must reach the cap"
    con = sqlite3.connect(budget.path(env))
    states = dict(con.execute("SELECT state, sum(amount) FROM reservations GROUP BY state").fetchall())
    con.close()
    assert states.get("reserved", 0) == still and states.get("held", 0) == held
