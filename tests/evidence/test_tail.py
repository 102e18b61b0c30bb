"""The newest entries without reading the rest, and those to come: none left out, none twice, whatever rotates."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_lines import ROOT, line, write

from jevhook import ledger
from jevhook.evidence import read, tail
from jevhook.evidence.read import Counted, Wanted, entries


def last(number: int, wanted: Wanted = Wanted(), counted: Counted | None = None) -> list[int]:  # noqa: B008
    return [int(entry["id"]) for entry in tail.last(os.environ, "", number, wanted, counted=counted)]


@pytest.mark.parametrize(("number", "found"), [(0, []), (1, [39]), (5, [35, 36, 37, 38, 39]), (999, [*range(40)])])
def test_the_last_entries_come_oldest_first_across_generations(number: int, found: list[int]) -> None:
    write(*map(line, range(40)), max_bytes=2000, generations=30)
    assert last(number) == found


def test_the_last_of_those_that_are_wanted() -> None:
    write(*(line(n, host="codex" if n % 7 == 0 else "claude") for n in range(50)), max_bytes=2000, generations=30)
    assert last(3, Wanted(hosts=("codex",))) == [35, 42, 49]
    assert last(3, Wanted(hosts=("gemini",))) == []


def test_without_a_ledger_there_is_no_last_entry() -> None:
    assert last(5) == []
    assert list(tail.follow(os.environ, "", 5, wait=lambda: False)) == []


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([b"\n", b"\r", b"x" * 30, b'{"schema":1,"id":"1"}', b"[1]"]), max_size=60),
    st.integers(1, 200),
)
def test_backwards_is_forwards_reversed(pieces: list[bytes], block: int) -> None:
    data = b"".join(pieces)
    name = ledger.path(os.environ)
    os.makedirs(os.path.dirname(name), exist_ok=True)
    Path(name).write_bytes(data)
    ours, theirs = Counted(), Counted()
    before, tail._BLOCK = tail._BLOCK, block
    try:
        found = tail.last(os.environ, "", 10_000, counted=ours)
    finally:
        tail._BLOCK = before
    assert found == list(entries(os.environ, counted=theirs))
    assert (ours.records, ours.torn, ours.foreign) == (theirs.records, theirs.torn, theirs.foreign)


def test_a_line_without_an_end_is_passed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "MAX_LINE", 4096)
    monkeypatch.setattr(tail, "_BLOCK", 1024)
    write(line(1))
    with open(ledger.path(os.environ), "ab") as file:
        file.write(b"x" * 20_000 + b"\n")
    write(line(2))
    assert last(9) == [1, 2]


# ------------------------------------------------------------------------------------------------------ following

HOSTS, DECISIONS = ("claude", "codex", "ge\u00fcmini"), ("none", "ask", "deny")
TOOLS, POINTS = ("Bash", 'mcp__"odd"', "mcp__x"), ("tool.risk", "tool.injection", "x")


class Steps:
    """What happens while somebody follows: one step each time there is nothing new."""

    def __init__(self, *steps: Callable[[], Any]) -> None:
        self.steps: Iterator[Callable[[], Any]] = iter(steps)

    def __call__(self) -> bool:
        step = next(self.steps, None)
        if step is not None:
            step()
        return step is not None


def followed(number: int, *steps: Callable[[], Any], wanted: Wanted = Wanted()) -> list[int]:  # noqa: B008
    return [int(entry["id"]) for entry in tail.follow(os.environ, "", number, wanted, wait=Steps(*steps))]


def test_what_is_written_later_is_followed_through_rotations() -> None:
    write(*map(line, range(5)))
    steps = [lambda n=n: write(*map(line, range(n, n + 20)), max_bytes=2000, generations=30) for n in range(5, 105, 20)]  # type: ignore[misc]
    assert followed(2, *steps, lambda: None) == [3, 4, *range(5, 105)]
    assert followed(0, lambda: write(line(200)), wanted=Wanted(hosts=("claude",))) == [200]


def test_a_ledger_that_begins_while_it_is_followed() -> None:
    assert followed(3, lambda: None, lambda: write(line(1)), lambda: write(line(2))) == [1, 2]


def test_a_line_is_followed_when_it_is_finished_and_once() -> None:
    write(line(1))
    data = json.dumps(line(2)).encode() + b"\n"

    def half(piece: bytes) -> Callable[[], Any]:
        def append() -> None:
            with open(ledger.path(os.environ), "ab") as file:
                file.write(piece)

        return append

    assert followed(9, half(data[:50]), half(data[50:-1]), half(data[-1:]), lambda: write(line(3))) == [1, 2, 3]
    half(data[:50])()  # it may be unfinished when the following begins
    assert followed(1, half(data[50:])) == [3, 2]


def test_when_the_file_is_gone_what_stands_behind_the_last_line_is_followed() -> None:
    name = ledger.path(os.environ)

    def rewritten(keep: int) -> None:
        """As a prune does: another file with the newest lines."""
        lines = Path(name).read_bytes().splitlines(keepends=True)
        Path(name + ".new").write_bytes(b"".join(lines[-keep:]))
        os.replace(name + ".new", name)

    def emptied() -> None:
        with open(name, "r+b") as file:
            file.truncate()

    write(*map(line, range(10)))
    assert followed(1, lambda: (write(line(10)), rewritten(4)), lambda: write(line(11))) == [9, 10, 11]
    assert followed(0, lambda: (rewritten(2), write(line(12)))) == [12]
    assert followed(0, lambda: (os.unlink(name), write(line(13)))) == [13]
    assert followed(0, emptied, lambda: write(line(14))) == [14]


def test_what_is_no_file_is_waited_for() -> None:
    write(line(1))
    name = ledger.path(os.environ)
    assert followed(
        1, lambda: (os.replace(name, name + ".1"), os.mkfifo(name)), lambda: None, lambda: os.unlink(name)
    ) == [1]


WRITER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from jevhook import ledger
sys.stdin.read()
for number in range(int(sys.argv[3])):
    made = {"schema": 1, "id": f"{sys.argv[2]}-{number}", "points": [], "pad": "x" * 300}
    assert ledger.append(made, os.environ, max_bytes=20_000, generations=100_000)
"""


def test_sixty_four_writers_rotate_and_whoever_reads_or_follows_meets_each_line_once() -> None:
    write(line(1))
    gun, ours = os.pipe()
    command = [sys.executable, "-S", "-c", WRITER, ROOT]
    writers = [subprocess.Popen([*command, str(who), "12"], stdin=gun) for who in range(64)]
    os.close(gun)
    readings: list[int] = []

    def wait() -> bool:
        if not readings:
            os.close(ours)
        met = [entry["id"] for entry in entries(os.environ)]
        assert len(met) == len(set(met))
        for who in range(64):  # a reading is one moment: of each writer the lines up to some last one
            mine = [int(one.partition("-")[2]) for one in met if one.startswith(f"{who}-")]
            assert mine == list(range(len(mine)))
        readings.append(len(met))
        time.sleep(0.01)
        return any(writer.poll() is None for writer in writers) or len(readings) < 2 or readings[-2] != readings[-1]

    counted = Counted()
    found = [str(entry["id"]) for entry in tail.follow(os.environ, "", 1, counted=counted, wait=wait)]
    assert [writer.wait() for writer in writers] == [0] * 64
    assert len(found) == len(set(found)) == 1 + 64 * 12 and counted.skipped == 0
    assert sorted(found) == sorted(str(entry["id"]) for entry in entries(os.environ))
    assert len(list(Path(ledger.directory(os.environ)).glob("ledger.ndjson.*"))) > 10
    assert readings[-1] == 1 + 64 * 12


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from([0, 1, 2])] * 4), max_size=12),
    *[st.sets(st.sampled_from(words), max_size=2).map(tuple) for words in (HOSTS, DECISIONS, TOOLS, POINTS)],
    *[st.sampled_from(["", str(line(3)["asked_at"]), str(line(6)["asked_at"]), "2026-11-01"])] * 2,
)
def test_the_sieve_changes_nothing_but_the_time(
    rows: list[tuple[int, ...]], hosts: Any, decisions: Any, tools: Any, points: Any, since: str, until: str
) -> None:
    name = ledger.path(os.environ)
    if os.path.exists(name):
        os.unlink(name)
    for number, (host, decision, tool, point) in enumerate(rows):
        state = {"input": {"asked_at": str(line(9)["asked_at"]), "decision": "deny"}} if decision else {}
        said = {"point": POINTS[point], "judged": DECISIONS[decision], "mode": ("active", "off")[host == 1]}
        write(line(number, host=HOSTS[host], decision=DECISIONS[decision], subject={"tool": TOOLS[tool]}, points=[said], state=state))  # fmt: skip
    wanted = Wanted(hosts=hosts, decisions=decisions, tools=tools, points=points, since=since, until=until)
    fast, slow = Counted(), Counted()
    with pytest.MonkeyPatch.context() as patch:
        found = list(entries(os.environ, "", wanted, counted=fast))
        patch.setattr(read, "sieve", lambda wanted: None)
        assert found == list(entries(os.environ, "", wanted, counted=slow))
    assert (fast.records, fast.taken) == (slow.records, slow.taken) == (len(rows), len(found))
