"""What is old goes, whole lines of it, and not one that is not, however many write meanwhile."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ledger_lines import ROOT, ids, line, write

from jevhook import ledger
from jevhook.evidence import prune as room
from jevhook.evidence.prune import Pruned, PruneError, prune
from jevhook.evidence.read import entries, iso, moment


def at(second: int) -> str:
    return str(line(second)["asked_at"])


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "SETTLE_SECONDS", 0.0)


@pytest.mark.parametrize("before", [0, 1, 17, 39, 40])
def test_old_lines_go_from_every_generation(before: int) -> None:
    write(*map(line, range(40)), max_bytes=3000, generations=30)
    sizes = sum(os.path.getsize(part.name) for part in ledger.open_parts(ledger.path(os.environ)))
    would = prune(os.environ, "", at(before), dry_run=True)
    assert ids() == list(range(40))
    done = prune(os.environ, "", at(before))
    assert ids() == list(range(before, 40))
    assert (done.lines, done.kept, done.late) == (would.lines, would.kept, 0) == (before, 40 - before, 0)
    left = ledger.open_parts(ledger.path(os.environ))
    assert sum(part.size for part in left) == sizes - done.bytes == sizes - would.bytes
    assert all(part.size or part.name == ledger.path(os.environ) for part in left)
    assert all(os.stat(part.name).st_mode & 0o777 == 0o600 for part in left)
    write(*map(line, range(40, 60)), max_bytes=3000, generations=30)
    assert ids() == list(range(before, 60))
    folder = os.listdir(ledger.directory(os.environ))
    assert not [name for name in folder if "prune" in name]


@pytest.mark.parametrize("age", ["500000d", "0999-01-01", "99999d"])
def test_nothing_is_older_than_a_time_before_the_year_1000(age: str) -> None:
    write(*map(line, range(3)))
    assert prune(os.environ, "", moment(age)).lines == 0
    assert ids() == [0, 1, 2]


def test_a_ledger_that_is_missing_has_nothing_to_prune() -> None:
    assert prune(os.environ, "", at(0)) == Pruned()


def test_what_has_no_time_goes_with_the_line_above_it() -> None:
    name = ledger.path(os.environ)
    os.makedirs(os.path.dirname(name))
    one, two, three = (json.dumps(line(n)).replace(" ", "").encode() for n in (1, 2, 3))
    Path(name).write_bytes(
        b"torn 0\n" + one + b"\ntorn 1\n" + two + b"\ntorn 2\n" + one + two + b"\n" + three + b"\n[3]\n"
    )
    os.utime(name, (2e9, 2e9))  # by which the first line counts
    prune(os.environ, "", at(2))
    kept = Path(name + ".1").read_bytes()
    assert kept == b"torn 0\n" + two + b"\ntorn 2\n" + one + two + b"\n" + three + b"\n[3]\n"
    os.utime(name + ".1", (0, 0))
    prune(os.environ, "", at(3))
    assert Path(name + ".1").read_bytes() == three + b"\n[3]\n"
    assert os.stat(name + ".1").st_mtime == 0


def test_a_line_that_came_late_into_the_old_file_is_appended_again(monkeypatch: pytest.MonkeyPatch) -> None:
    write(*map(line, range(10)))
    late = os.open(ledger.path(os.environ), os.O_WRONLY | os.O_APPEND)  # a hook that did not get the lock
    monkeypatch.setattr(room.time, "sleep", lambda _: os.write(late, (json.dumps(line(77)) + "\n").encode()))
    assert prune(os.environ, "", at(5)).late == 1
    os.close(late)
    assert ids() == [5, 6, 7, 8, 9, 77]


def test_a_lock_that_is_not_to_be_had_removes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    write(*map(line, range(10)))
    held = ledger.lock(ledger.lock_name(ledger.path(os.environ)))
    monkeypatch.setattr(room, "LOCK_SECONDS", 0.1)
    try:
        with pytest.raises(PruneError, match=r"ledger\.lock: not to be had within 0\.1 s"):
            prune(os.environ, "", at(5))
    finally:
        os.close(held)
    assert ids() == list(range(10))


def test_what_a_killed_prune_left_is_swept_and_a_running_ones_is_not() -> None:
    write(line(1))
    old, young = (Path(ledger.path(os.environ) + f".prune-{n}-aa") for n in (1, 2))
    for place in (old, young):
        place.write_bytes(b"x")
    os.utime(old, (0, 0))
    prune(os.environ, "", at(0))
    assert not old.exists() and young.exists() and ids() == [1]


def test_of_two_prunes_at_once_both_end_well(monkeypatch: pytest.MonkeyPatch) -> None:
    write(*map(line, range(10)))
    look = room._has_old
    other: list[Pruned] = []

    def looked(part: ledger.Part, before: str) -> bool:
        found = look(part, before)
        monkeypatch.setattr(room, "_has_old", look)
        other.append(prune(os.environ, "", before))  # from beginning to end, before the first has rotated
        return found

    monkeypatch.setattr(room, "_has_old", looked)
    assert prune(os.environ, "", at(5)).lines == 0
    assert (other[0].lines, ids()) == (5, [5, 6, 7, 8, 9])


def test_what_came_late_is_saved_although_the_rest_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    write(*map(line, range(10)))
    late = os.open(ledger.path(os.environ), os.O_WRONLY | os.O_APPEND)  # a hook that opened it before it was rotated
    ledger.rotate(ledger.path(os.environ), 5)
    write(*map(line, range(4)))
    monkeypatch.setattr(room.time, "sleep", lambda _: os.write(late, (json.dumps(line(77)) + "\n").encode()))

    def failed(name: str, now: ledger.Part) -> None:
        raise PruneError("not to be had")

    monkeypatch.setattr(room, "_made_generation", failed)
    with pytest.raises(PruneError, match="not to be had"):
        prune(os.environ, "", at(5))
    os.close(late)
    assert ids() == [5, 6, 7, 8, 9, 0, 1, 2, 3, 77]


def test_another_prunes_copy_may_go_while_ones_own_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    write(line(1))
    young = Path(ledger.path(os.environ) + ".prune-1-aa")
    young.write_bytes(b"x")
    listed = os.listdir

    def list_and_go(folder: str) -> list[str]:
        names = listed(folder)
        young.unlink(missing_ok=True)
        return names

    monkeypatch.setattr(os, "listdir", list_and_go)
    assert prune(os.environ, "", at(0)) == Pruned(kept=1)


WRITER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from jevhook import ledger
sys.stdin.read()
for number in range(int(sys.argv[3])):
    made = {"schema": 1, "asked_at": ledger.now_iso(), "id": f"{sys.argv[2]}-{number}", "points": [], "pad": "x" * 300}
    assert ledger.append(made, os.environ, max_bytes=20_000, generations=100_000)
"""


def test_pruning_beside_sixty_four_writers_loses_nothing_that_is_young(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "SETTLE_SECONDS", 0.2)
    old = [line(n, asked_at=f"2020{at(n)[4:]}") for n in range(400)]
    write(*old, max_bytes=20_000, generations=100_000)
    gun, ours = os.pipe()
    command = [sys.executable, "-S", "-c", WRITER, ROOT]
    writers = [subprocess.Popen([*command, str(who), "12"], stdin=gun) for who in range(64)]
    os.close(gun)
    os.close(ours)
    now = iso(datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1))
    gone = 0
    while True:
        over = all(writer.poll() is not None for writer in writers)
        gone += prune(os.environ, "", now).lines
        if over:
            break
    assert [writer.wait() for writer in writers] == [0] * 64
    found = [str(entry["id"]) for entry in entries(os.environ)]
    assert len(found) == len(set(found)) == 64 * 12
    assert gone == 400
