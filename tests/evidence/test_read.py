"""Every line of every generation once, in order; what is no line of ours is counted, named once, and passed over."""

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
from jevhook.evidence import labels
from jevhook.evidence.read import Counted, Wanted, entries, moment


def test_all_generations_are_read_oldest_first() -> None:
    write(*map(line, range(60)), max_bytes=3000, generations=30)
    assert len(list(Path(ledger.directory(os.environ)).glob("ledger.ndjson.*"))) > 5
    counted = Counted()
    assert ids(counted=counted) == list(range(60))
    assert (counted.records, counted.taken, counted.skipped, counted.said()) == (60, 60, 0, "")


def test_a_missing_ledger_has_no_entries() -> None:
    assert ids() == []
    assert list(entries({}, "/nowhere/at/all.ndjson")) == []


MINE = json.dumps(line(7)).replace(" ", "").encode()


@pytest.mark.parametrize(
    ("data", "found", "torn", "foreign", "other"),
    [
        (b"", [], 0, 0, 0),
        (b"\n\n \n", [], 0, 0, 0),
        (MINE, [7], 0, 0, 0),  # the last newline is missing
        (MINE + b"\n" + MINE[:40] + b"\n" + MINE + b"\n", [7, 7], 1, 0, 0),
        (MINE[:60] + MINE + b"\n", [7], 1, 0, 0),  # welded by a crash
        (MINE + MINE + b"\n", [7, 7], 0, 0, 0),
        (MINE + MINE[:90] + b"\n", [7], 1, 0, 0),
        (b"\0" * 50 + b"\n" + MINE + b"\n", [7], 0, 0, 0),  # a hole that a power cut left
        (b"Traceback (most recent call last):\n" + MINE, [7], 1, 0, 0),
        (b'{"level":"info","msg":"hello"}\n[1]\n"x"\n3\n' + MINE, [7], 0, 4, 0),
        (b'{"schema":"1","id":"x"}\n{"schema":1}\n', [], 0, 2, 0),
        (MINE.replace(b'"schema":1', b'"schema":2') + b"\n" + MINE, [7], 0, 0, 1),
        (b'{"schema":1,"id":"x","hook_ms":NaN}\n' + MINE, [7], 1, 0, 0),
        (b"\xff\xfe{\n" + MINE, [7], 1, 0, 0),
        (b"[" * 100_000 + b"\n" + MINE, [7], 1, 0, 0),
        (b'{"schema":1,"id":' + b"9" * 5000 + b"}\n" + MINE, [7], 1, 0, 0),
        (b'{"schema":1,"id":"x","hook_ms":1e999}\n' + MINE, [7], 1, 0, 0),  # nobody can write it again
        (b'{"schema":1,"id":"x","hook_ms":' + b"9" * 400 + b"}\n" + MINE, [7], 1, 0, 0),  # nor add it up
        (b'{"schema":1,"id":[]}\n{"schema":1,"id":{}}\n{"schema":1,"id":5}\n' + MINE, [7], 0, 3, 0),
    ],
)
def test_what_is_no_entry_is_counted_and_named_once(
    data: bytes, found: list[int], torn: int, foreign: int, other: int
) -> None:
    name = ledger.path(os.environ)
    os.makedirs(os.path.dirname(name))
    Path(name).write_bytes(data)
    counted = Counted()
    assert ids(counted=counted) == found
    assert (counted.records, counted.torn, counted.foreign, counted.other) == (len(found), torn, foreign, other)
    assert counted.said().startswith(f"{torn + foreign + other} line") == bool(torn + foreign + other)
    assert set(counted.first) == {
        kind for kind, n in (("torn", torn), ("foreign", foreign), ("other", other)) if n
    }  # fmt: skip
    assert all(where.startswith(f"{name}:") for where in counted.first.values())


def test_a_line_without_an_end_costs_no_memory_and_one_count(monkeypatch: pytest.MonkeyPatch) -> None:
    from jevhook.evidence import read

    monkeypatch.setattr(read, "MAX_LINE", 4096)
    write(line(1))
    with open(ledger.path(os.environ), "ab") as file:
        file.write(b'{"schema":1,"id":"' + b"x" * 20_000 + b'"}\n')
    write(line(2))
    counted = Counted()
    assert ids(counted=counted) == [1, 2]
    assert counted.torn == 1 and counted.first["torn"].endswith(":2")


RISK = {"point": "tool.risk", "judged": "ask", "rule": "git.clean"}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), [0, 1, 2, 3, 4, 5, 6]),
        (Wanted(points=("tool.risk",)), [0, 1, 2, 3]),
        (Wanted(points=("tool.injection", "tool.admission")), [4]),
        (Wanted(decisions=("ask",)), [1]),
        (Wanted(decisions=("ask", "deny")), [1, 2]),
        (Wanted(points=("tool.risk",), decisions=("ask",)), [1, 3]),  # 3 in shadow
        (Wanted(rules=("git.clean",)), [1, 3]),
        (Wanted(hosts=("codex",)), [2]),
        (Wanted(tools=("Read",)), [0]),
        (Wanted(tools=("mcp__*",)), [3]),
        (Wanted(tools=("mcp__*", "Read")), [0, 3]),
        (Wanted(tools=("read",)), []),
        (Wanted(sessions=("other",)), [2]),
        (Wanted(sessions=('q"x',)), [3]),
        (Wanted(since="2026-11-01T00:00:02"), [2, 3, 4, 5, 6]),
        (Wanted(until="2026-11-01T00:00:02.000Z"), [0, 1]),
        (Wanted(since="2026-11-01T00:00:01.000Z", until="2026-11-01T00:00:03.000Z"), [1, 2]),
        (Wanted(origins=("doctor",)), [7]),
        (Wanted(origins=("hook",)), [0, 1, 2, 3, 4, 5]),
        (Wanted(origins=("cli",)), [6]),
        (Wanted(hosts=("claude",), decisions=("deny",)), []),
    ],
)
def test_a_filter_takes_what_it_says(wanted: Wanted, found: list[int]) -> None:
    write(
        line(0, subject={"tool": "Read"}),
        line(1, decision="ask", point=RISK),
        line(2, decision="deny", host="codex", subject={"session": "other-session"}),
        line(3, point={**RISK, "mode": "shadow"}, subject={"tool": "mcp__db__query", "session": 'q"x'}),
        line(4, points=[{"point": "tool.injection", "mode": "shadow"}, {"point": "tool.admission", "mode": "off"}]),
        {**line(5), "points": "odd", "subject": None},
        line(6, origin="cli", points=[], host=""),
        line(7, origin="doctor"),
    )
    counted = Counted()
    assert ids(wanted, counted) == found
    assert (counted.records, counted.taken, counted.skipped) == (8, len(found), 0)


def test_progress_is_told_in_bytes_and_reaches_the_end() -> None:
    write(*(line(number, pad="x" * 100_000) for number in range(40)), max_bytes=1_000_000, generations=9)
    told: list[tuple[int, int]] = []
    assert len(list(entries(os.environ, progress=lambda at, total: told.append((at, total))))) == 40
    assert len(told) >= 4 and told == sorted(told) and told[-1][0] == told[-1][1] > 4_000_000
    assert len({total for _, total in told}) == 1


WRITER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from jevhook import ledger
for number in range(int(sys.argv[3])):
    made = {"schema": 1, "id": f"{sys.argv[2]}-{number}", "points": [], "pad": "x" * 400}
    assert ledger.append(made, os.environ, max_bytes=12_000, generations=10_000)
"""


def test_a_reading_while_others_write_and_rotate_is_one_moment_of_the_ledger() -> None:
    writers = [subprocess.Popen([sys.executable, "-S", "-c", WRITER, ROOT, str(who), "150"]) for who in range(4)]
    readings = 0
    while any(writer.poll() is None for writer in writers) or not readings:
        counted = Counted()
        found = [tuple(map(int, entry["id"].split("-"))) for entry in entries(os.environ, counted=counted)]
        assert counted.skipped == 0
        for who in range(4):  # each writer's lines from its first to some last, none left out and none twice
            mine = [number for writer, number in found if writer == who]
            assert mine == list(range(len(mine)))
        readings += 1
    assert [writer.wait() for writer in writers] == [0] * 4
    assert len(list(entries(os.environ))) == 600
    assert len(list(Path(ledger.directory(os.environ)).glob("ledger.ndjson.*"))) > 20


NOW = datetime.datetime(2026, 11, 30, 12, 0, 0, 5000, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("30d", "2026-10-31T12:00:00.005Z"),
        ("12h", "2026-11-30T00:00:00.005Z"),
        ("45m", "2026-11-30T11:15:00.005Z"),
        ("90s", "2026-11-30T11:58:30.005Z"),
        ("2w", "2026-11-16T12:00:00.005Z"),
        ("0999-01-01T00:00Z", "0999-01-01T00:00:00.000Z"),  # as a text it stands before every year of the ledger
        ("500000d", "0657-12-17T12:00:00.005Z"),
        ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00.000Z"),
        ("2026-11-30T10:00:00.250+02:00", "2026-11-30T08:00:00.250Z"),
    ],
)
def test_a_moment_is_an_age_or_a_time(text: str, at: str) -> None:
    assert moment(text, NOW) == at


@pytest.mark.parametrize("text", ["", "yesterday", "30", "d", "-3d", "999999w", "2026-13-01", "3\u0664d"])
def test_what_is_no_moment_names_what_is_allowed(text: str) -> None:
    with pytest.raises(ValueError, match="an age such as 30d"):
        moment(text, NOW)


# ------------------------------------------------------------------------------------------------------ labels


def test_the_last_label_about_an_entry_counts_and_none_is_ever_overwritten() -> None:
    assert labels.labels(os.environ) == {}
    labels.add(os.environ, "a", "bad", "the tree was committed")
    labels.add(os.environ, "b", "good")
    labels.add(os.environ, "a", "good", by="appeal")
    assert [(one.id, one.label, one.by) for one in labels.every(os.environ)] == [
        ("a", "bad", "label"), ("b", "good", "label"), ("a", "good", "appeal"),
    ]  # fmt: skip
    assert {name: one.label for name, one in labels.labels(os.environ).items()} == {"a": "good", "b": "good"}
    assert os.stat(labels.place(os.environ)).st_mode & 0o777 == 0o600


def test_a_note_holds_no_secret_and_nothing_that_moves_a_terminal() -> None:
    key = "ghp_" + "a1B2" * 9
    made = labels.add(os.environ, "a", "bad", f"used {key}\x1b[31m\nsecond" + "x" * 900)
    assert key not in Path(labels.place(os.environ)).read_text() and len(made.note) == 500
    assert made.note.isprintable() and "second" in made.note
    assert labels.labels(os.environ)["a"] == made


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(ValueError, match="good or bad"):
        labels.add(os.environ, "a", "fine")
    assert not os.path.exists(labels.place(os.environ))


def test_odd_lines_among_the_labels_are_counted() -> None:
    labels.add(os.environ, "a", "bad")
    with open(labels.place(os.environ), "ab") as file:
        file.write(b'{"id":"a","label":"x"}\n[1]\n{"id":"b"')
    labels.add(os.environ, "c", "good")
    counted = Counted()
    assert set(labels.labels(os.environ, counted)) == {"a", "c"}
    assert (counted.records, counted.torn, counted.foreign) == (2, 1, 2)
