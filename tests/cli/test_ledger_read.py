"""``jevhook ledger tail``, ``label``, ``stats`` and ``prune`` as a person and a script use them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ledger_lines import line, write
from terminal import at_terminal, in_a_pipe

from jevhook import ledger
from jevhook.cli.ledger_tail import Headline, _table, headline
from jevhook.evidence import labels

pty = pytest.importorskip("pty")
RISK = {"point": "tool.risk", "judged": "ask", "acted": True, "rule": "git.clean", "said": "git clean deletes files."}


def fill() -> None:
    write(
        line(1, hook_ms=7.4),
        line(2, decision="ask", point=RISK, hook_ms=30.0),
        line(
            3, point={**RISK, "mode": "shadow", "acted": False, "reason": "shadow"}, subject={"tool": "mcp__db__query"}
        ),
        line(
            4, decision="deny", host="codex", point={**RISK, "judged": "deny", "said": "\x1b[31mred\u202e\nand \ttab"}
        ),
        line(5, origin="doctor"),
    )


def shown_on_a_terminal(*arguments: str, columns: int = 160) -> str:
    """What a person sees: stdout is a real terminal."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "jevhook", "ledger", *arguments]
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", "TZ": "UTC"}
    running = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, env=env)
    os.close(slave)
    seen = b""
    try:
        while piece := os.read(master, 65536):
            seen += piece
    except OSError:  # the terminal's other end is gone
        pass
    assert running.wait(30) == 0
    os.close(master)
    return seen.decode()


# ------------------------------------------------------------------------------------------------------ tail


@pytest.mark.parametrize("arguments", [(), ("tail",)])
def test_in_a_pipe_an_entry_is_one_line_of_fields(arguments: tuple[str, ...]) -> None:
    fill()
    code, out = in_a_pipe("ledger", *arguments)
    assert code == 0 and out.isprintable() is False and "\x1b" not in out and "\u202e" not in out
    rows = [row.split("\t") for row in out.splitlines()]
    assert rows == [
        ["2026-11-01T00:00:01.000Z", "00000001", "claude", "Bash", "none", "tool.risk", "-", "7", "-", "-"],
        ["2026-11-01T00:00:02.000Z", "00000002", "claude", "Bash", "ask", "tool.risk", "git.clean", "30", "-", "git clean deletes files."],
        ["2026-11-01T00:00:03.000Z", "00000003", "claude", "mcp__db__query", "(ask)", "tool.risk", "git.clean, shadow", "-", "-", "git clean deletes files."],
        ["2026-11-01T00:00:04.000Z", "00000004", "codex", "Bash", "deny", "tool.risk", "git.clean", "-", "-", "\\x1b[31mred\\u202e\\nand \\ttab"],
    ]  # fmt: skip


def test_on_a_terminal_it_is_a_table_that_nothing_in_it_moves() -> None:
    fill()
    labels.add(os.environ, "00000002", "bad")
    out = shown_on_a_terminal()
    assert "rule or reason" in out and "git.clean" in out and "bad" in out
    assert "\\x1b[31mred\\u202e⏎and \\ttab" in out and "\x1b[31mred" not in out and "\u202e" not in out
    assert len(out.splitlines()) == 5
    for columns in (60, 80, 200):  # the id is what the other commands are given
        plain = re.sub(r"\x1b\[[0-9;]*m", "", shown_on_a_terminal(columns=columns))
        assert all(f"0000000{n}" in plain and f"00:00:0{n}" in plain for n in (1, 2, 3, 4))
        assert max(map(len, plain.splitlines())) <= columns


def test_as_json_it_is_the_line_that_was_written() -> None:
    fill()
    _, out = in_a_pipe("ledger", "tail", "--json", "-n", "3")
    written = Path(ledger.path(os.environ)).read_text().splitlines()
    assert out.splitlines() == written[1:4]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["-n", "1"], ["4"]),
        (["-n", "0"], []),
        (["--decision", "ask"], ["2"]),
        (["--decision", "ask", "--decision", "deny"], ["2", "4"]),
        (["--point", "tool.risk", "--decision", "ask"], ["2", "3"]),
        (["--rule", "git.clean", "--host", "claude"], ["2", "3"]),
        (["--tool", "mcp__*"], ["3"]),
        (["--session", "s"], ["1", "2", "3", "4"]),
        (["--since", "2026-11-01T00:00:03Z"], ["3", "4"]),
        (["--until", "2026-11-01T00:00:03Z"], ["1", "2"]),
        (["--origin", "doctor"], ["5"]),
        (["--since", "0s"], []),
    ],
)
def test_a_filter_is_an_option(arguments: list[str], found: list[str]) -> None:
    fill()
    code, out = in_a_pipe("ledger", *arguments, "--json")
    assert code == 0 and [json.loads(row)["id"].lstrip("0") for row in out.splitlines()] == found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--point", "tool.riks"], "there are tool.risk, tool.injection, tool.admission"),
        (["--decision", "no"], "'none', 'allow'"),
        (["--since", "yesterday"], "an age such as 30d"),
        (["-n", "-1"], "0<=x<=1000000"),
        (["--json", "label", "x", "bad"], "unexpected extra argument"),
        (["--", "label", "x", "bad"], "unexpected extra argument"),
        (["nope"], "No such command 'nope'"),
        (["prune"], "Missing option '--older-than'"),
    ],
)
def test_a_wrong_option_names_what_is_allowed(arguments: list[str], said: str) -> None:
    code, out = in_a_pipe("ledger", *arguments)
    assert code == 2 and said in out


def test_an_empty_ledger_and_one_without_such_an_entry_are_told_apart() -> None:
    assert in_a_pipe("ledger") == (0, "the ledger is empty\n")
    fill()
    assert in_a_pipe("ledger", "--host", "nobody") == (0, "no entry of the ledger is like that\n")
    assert in_a_pipe("ledger", "--host", "nobody", "--json") == (0, "")


def test_odd_lines_are_named_once_and_nothing_else_is_lost() -> None:
    fill()
    with open(ledger.path(os.environ), "ab") as file:
        file.write(b'{"half\nTraceback\n{"schema":9,"id":"x"}\n')
    code, out = in_a_pipe("ledger")
    assert code == 0 and len(out.splitlines()) == 5
    assert out.splitlines()[-1].startswith("3 lines skipped: 2 torn (first: ") and "another schema than 1" in out


def test_following_goes_on_through_a_rotation() -> None:
    fill()
    command = [sys.executable, "-m", "jevhook", "ledger", "--follow", "-n", "1", "--json"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert running.stdout is not None
        found = [json.loads(running.stdout.readline())["id"]]
        for number in range(6, 26):
            write(line(number), max_bytes=2000, generations=9)
            found.append(json.loads(running.stdout.readline())["id"])
    finally:
        running.terminate()
        running.communicate()
    assert [int(one) for one in found] == [4, *range(6, 26)]


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ({}, Headline("none", "", "", "")),
        ({"decision": "none", "reason": "off", "points": []}, Headline("none", "", "off", "")),
        ({"decision": "none", "reason": "error:input"}, Headline("none", "", "error:input", "")),
        (line(1), Headline("none", "tool.risk", "", "")),
        (
            line(1, told="let run before", point=RISK),
            Headline("(ask)", "tool.risk", "git.clean, let run before", "git clean deletes files."),
        ),
        (
            line(1, decision="context", decided="ask", told="nobody can be asked: context", point=RISK),
            Headline("context", "tool.risk", "git.clean, nobody can be asked: context", "git clean deletes files."),
        ),
        (
            line(1, decision="ask", point={**RISK, "rule": "", "reason": "error:timeout"}),
            Headline("ask", "tool.risk", "error:timeout", "git clean deletes files."),
        ),
        (
            line(1, decision="withhold", points=[
                {"point": "tool.injection", "mode": "active", "judged": "withhold", "acted": True},
                {"point": "tool.admission", "mode": "shadow", "judged": "trim", "acted": False},
            ]),
            Headline("withhold", "tool.injection", "", ""),
        ),
        (
            {"origin": "cli", "event": "jevhook off", "reason": "off", "points": []},
            Headline("none", "jevhook off", "off", ""),
        ),
        ({"points": [{"judged": ["odd"]}, 3], "decision": 5}, Headline("5", "", "", "")),
    ],
)  # fmt: skip
def test_an_entry_in_a_few_words(entry: dict[str, Any], found: Headline) -> None:
    assert headline(entry) == found


# ------------------------------------------------------------------------------------------------------ show


def test_show_draws_what_was_seen_asked_and_answered() -> None:
    home = Path(os.environ["HOME"])
    (home / "shop/.git").mkdir(parents=True)
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "jevhook"
    config.mkdir(parents=True)
    script = home / "answers.json"
    script.write_text('{"answers": {"asked": 0.1, "loss": 2, "limit": 0.05}}')
    (config / "config.toml").write_text(
        f'[judge]\nprovider = "mock"\nmock = "{script}"\n[ledger]\nrecord_state = true\n'
    )
    event = {
        "session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1",
        "cwd": str(home / "shop"), "permission_mode": "default",
        "tool_input": {"command": "cd src && git clean -fdx | tee log"},
    }  # fmt: skip
    command = [sys.executable, "-m", "jevhook", "hook", "--host", "claude"]
    subprocess.run(command, input=json.dumps(event).encode(), stdout=subprocess.DEVNULL, timeout=60, check=True)
    (entry,) = ledger.read(os.environ)
    labels.add(os.environ, entry["id"], "bad", "all of it was built")
    code, out = in_a_pipe("ledger", "show", "toolu_1")
    assert code == 0
    for part in (
        "label            bad, all of it was built, ",
        " ms in the hook, 0 ms of them for the judge",
        "│   └── ask   git.clean",
        f"│   ├── discard {home}/shop/src (project, certain), git at 10-25, all ignored-too recursive untracked, git clean",
        "├── judge mock mock mock, 0 ms",
        "│   ├── asked: p 0.10, confidence 0.80, noul",
        "│   │   └── Did the user, in `user_requests`, ask for",
        "│   ├── loss: 2.00 (0 0.00, 1 0.00, 2 1.00, 3 0.00), confidence 1.00, score",
        "│   ├── planted: no answer, noul",
        "└── thresholds yes 0.8, no 0.2",
        "cd src && git clean -fdx | tee log  (sequence)",
        "        └── | tee log",
        "            └── overwrite ",
    ):
        assert part in out, part
    (said,) = (row for row in in_a_pipe("ledger", "stats")[1].splitlines() if "false alarms" in row)
    assert said == "  false alarms  not enough (1 of 1)"


@pytest.mark.parametrize("odd", [5, "text", ["x"], {"a": {"b": []}}, None, True])
def test_show_survives_any_shape_in_a_record(odd: Any) -> None:
    keys = ("rules", "findings", "judge", "passages", "questions", "thresholds", "said", "point", "source")
    write({**line(1234), "points": [dict.fromkeys(keys, odd), odd], "subject": odd, "hook_ms": odd, "state": odd})
    write(line(1235, points=odd, state={"input": {"command": odd}}))
    for name in ("00001234", "00001235"):
        code, out = in_a_pipe("ledger", "show", name)
        assert code == 0 and name in out and "Traceback" not in out
    assert in_a_pipe("ledger")[0] == in_a_pipe("ledger", "stats")[0] == 0


# ------------------------------------------------------------------------------------------------------ label


def test_a_person_labels_and_the_last_label_counts() -> None:
    fill()
    code, out = at_terminal("ledger", "label", "00000002", "good")
    assert code == 0 and out.startswith("00000002 is good: ask, Bash, git.clean, 2026")
    before = Path(ledger.path(os.environ)).read_bytes()
    assert at_terminal("ledger", "label", "00000002", "bad", "--note", "it was \x1b[2Jcommitted")[0] == 0
    assert Path(ledger.path(os.environ)).read_bytes() == before
    code, out = in_a_pipe("ledger", "label", "--list")
    assert (code, out) == (0, "bad   00000002  ask, Bash, git.clean, 2026-11-01T00:00:02.000Z  # it was committed\n")
    (row,) = in_a_pipe("ledger", "label", "--list", "--json")[1].splitlines()
    found = json.loads(row)
    assert (found["id"], found["label"], found["by"], found["entry"]["host"]) == ("00000002", "bad", "label", "claude")


def test_an_agent_and_a_pipe_label_nothing() -> None:
    fill()
    code, out = in_a_pipe("ledger", "label", "00000002", "good")
    assert code == 1 and "for a person at a terminal" in out
    code, out = at_terminal("ledger", "label", "00000002", "good", CLAUDECODE="1")
    assert code == 1 and "Claude Code" in out
    assert labels.labels(os.environ) == {}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["0000", "good"], 1, "names several entries:\n  00000001  none, Bash, 2026"),
        (["99999999", "good"], 1, "has no entry '99999999'"),
        (["00000002"], 2, "give an ID and good or bad, or --list"),
        (["00000002", "fine"], 2, "good or bad, not 'fine'"),
        (["--list", "00000002", "good"], 2, "--list takes no ID"),
    ],
)
def test_a_label_that_cannot_be_is_refused(arguments: list[str], code: int, said: str) -> None:
    fill()
    got, out = at_terminal("ledger", "label", *arguments)
    assert got == code and said.replace("'", '"') in out.replace("'", '"')
    assert labels.labels(os.environ) == {}


def test_a_label_outlives_its_entry() -> None:
    labels.add(os.environ, "00000077", "good", "long ago")
    assert in_a_pipe("ledger", "label", "--list")[1] == "good  00000077  not in the ledger any more  # long ago\n"
    assert "99" not in in_a_pipe("ledger", "label", "--list")[1]


# ------------------------------------------------------------------------------------------------------ stats


def test_stats_for_a_person_and_as_json() -> None:
    fill()
    assert in_a_pipe("ledger", "stats", "--host", "nobody") == (0, "no event of the ledger is like that\n")
    _, out = in_a_pipe("ledger", "stats")
    assert "4 events from 2026-11-01T00:00" in out and "decisions   none 2, ask 1, deny 1" in out
    assert "tool.risk: active 3, shadow 1, 2 acted on" in out and "p95 30 ms" in out
    found = json.loads(in_a_pipe("ledger", "stats", "--json", "--point", "tool.risk", "--decision", "ask")[1])
    assert found["events"] == 2 and found["points"]["tool.risk"]["judged"] == {"ask": 2}
    assert found["skipped"] == {"lines": 0, "first": {}}


# ------------------------------------------------------------------------------------------------------ prune


def test_a_person_prunes_what_is_old() -> None:
    fill()
    write(line(6, asked_at=ledger.now_iso()))
    old = f"2020{str(line(1)['asked_at'])[4:]}"
    write(line(7, asked_at=old))
    arguments = ("ledger", "prune", "--older-than", "2021-01-01T00:00Z")
    assert "1 line (0.0 MB) before 2021-01-01" in in_a_pipe(*arguments, "--dry-run")[1]
    code, out = in_a_pipe(*arguments)
    assert code == 1 and "for a person at a terminal" in out
    assert at_terminal(*arguments, typed="n\n")[0] == 130
    assert len(list(ledger.read(os.environ))) == 7
    code, out = at_terminal(*arguments, typed="y\n")
    assert code == 0 and "1 line (0.0 MB) before 2021-01-01" in out and "are gone, 6 stay" in out
    *kept, note = ledger.read(os.environ)
    assert [int(entry["id"]) for entry in kept] == [1, 2, 3, 4, 5, 6]
    assert (note["event"], note["pruned"]["lines"]) == ("jevhook ledger prune", 1)
    assert "0 lines (0.0 MB)" in at_terminal(*arguments)[1]


@pytest.mark.parametrize("columns", [44, 60, 100])
def test_a_narrow_terminal_still_shows_the_rule_and_the_id(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _table(os.environ)([line(7, decision="ask", point={"judged": "ask", "rule": "git.clean"})])
    out = capsys.readouterr().out
    assert "git." in out and "00000007" in out and "ask" in out
    assert ("Bash" in out) == (columns == 100)
    assert max(map(len, out.splitlines())) <= columns
