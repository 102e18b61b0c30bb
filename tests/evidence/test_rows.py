"""Labelled rows: every accepted shape, and what is said about a line that is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jevhook.evidence.rows import NotARow, Skipped, read, rows

CLAUDE = {
    "session_id": "s", "transcript_path": "", "cwd": "/home/dev/app", "permission_mode": "default",
    "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t",
}  # fmt: skip
CODEX = {**CLAUDE, "turn_id": "t-1", "model": "m", "transcript_path": None}
AFTER = {**CLAUDE, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "x", "stderr": ""}}

# (row, host, kind, tool, cwd, expected)
SHAPES: list[tuple[dict[str, Any], tuple[str, str, str, str, str]]] = [
    ({"command": "ls", "expected": "allow"}, ("claude", "before-tool", "Bash", "/home/dev/work/shop", "p")),
    ({"command": "ls", "expected": "block", "cwd": "/srv"}, ("claude", "before-tool", "Bash", "/srv", "s")),
    (
        {"command": "ls", "expected": "ask", "ambiguous": True},
        ("claude", "before-tool", "Bash", "/home/dev/work/shop", "?"),
    ),
    (
        {"command": "ls", "expected": "deny", "host": "codex"},
        ("codex", "before-tool", "Bash", "/home/dev/work/shop", "d"),
    ),
    ({"command": "ls", "expected": "stop", "home": "/home/ann"}, ("claude", "before-tool", "Bash", "/home/ann", "s")),
    (
        {"tool": "Write", "input": {"file_path": "a"}, "expected": "not-deny"},
        ("claude", "before-tool", "Write", "/home/dev/work/shop", "m"),
    ),
    (
        {"tool": "WebFetch", "input": {"url": "x"}, "result": "text", "expected": "withhold"},
        ("claude", "after-tool", "WebFetch", "/home/dev/work/shop", "w"),
    ),
    ({"event": CLAUDE, "expected": "allow"}, ("claude", "before-tool", "Bash", "/home/dev/app", "p")),
    ({"event": CODEX, "expect": {"decision": "deny"}}, ("codex", "before-tool", "Bash", "/home/dev/app", "d")),
    ({"event": AFTER, "expect": {"decision": "keep"}}, ("claude", "after-tool", "Bash", "/home/dev/app", "p")),
    ({**CLAUDE, "expected": "ask"}, ("claude", "before-tool", "Bash", "/home/dev/app", "a")),
]


@pytest.mark.parametrize(("given", "wanted"), SHAPES)
def test_a_row_in_any_of_its_shapes(given: dict[str, Any], wanted: tuple[str, str, str, str, str]) -> None:
    row = read(json.dumps(given).encode(), 1)
    assert (row.event.host, row.event.kind, row.event.tool, row.event.cwd, row.expected) == wanted


def test_what_a_judge_answered_then_comes_along() -> None:
    judge = {"answers": {"asked": {"p": 0.9}}, "user_requests": 2, "usage": {"input_tokens": 7}}
    row = read(json.dumps({"command": "ls", "expected": "allow", "category": "c", "judge": judge}).encode(), 1)
    assert (row.answers, row.requests, row.usage, row.category) == (
        {"asked": {"p": 0.9}},
        ("(not recorded)",) * 2,
        {"input_tokens": 7},
        "c",
    )


# (line, what is said)
WRONG = [
    ("{", "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("[1]", "no JSON object"),
    ('{"command": "ls"}', "without an expected decision (allow, pass, keep"),
    ('{"command": "ls", "expected": "maybe"}', "'maybe'"),
    ('{"command": "ls", "expected": 1}', "without an expected decision"),
    ('{"command": "ls", "expected": "fail-open"}', "a row about a broken event"),
    ('{"expected": "allow"}', "neither command, nor tool and input, nor event"),
    ('{"input": {}, "expected": "allow"}', "an input without its tool"),
    ('{"command": "ls", "expected": "allow", "host": "x"}', "of an unknown host (known: claude, codex)"),
    ('{"event": {"hook_event_name": "Nope"}, "expected": "allow"}', "an event of no known host"),
    (
        json.dumps({"event": {**CLAUDE, "hook_event_name": "SessionStart"}, "expected": "allow"}),
        "neither before nor after",
    ),
    (json.dumps({"event": {**CLAUDE, "tool_input": 3}, "expected": "allow"}), "an event with a fault"),
]


@pytest.mark.parametrize(("line", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_line_that_is_no_row_says_why(line: str, said: str) -> None:
    with pytest.raises(NotARow) as wrong:
        read(line.encode(), 1)
    assert said in str(wrong.value)


def test_what_is_skipped_is_counted_by_kind_and_named_once() -> None:
    skipped = Skipped()
    lines = [
        b'{"command": "ls", "expected": "allow"}\n',
        b"\n",
        b"{\n",
        b"}\n",
        b'{"command": "ls", "expected": "x"}\n',
    ]
    assert [row.line for row in rows(lines, "a.jsonl", skipped)] == [1]
    first, second = skipped.said()
    assert first == "2 skipped, not JSON (the first: a.jsonl:3)"
    assert second.startswith("1 skipped, without an expected decision") and second.endswith(
        "(the first: a.jsonl:5, 'x')"
    )


@given(st.binary(max_size=300))
def test_any_bytes_are_a_row_or_say_why_not(line: bytes) -> None:
    try:
        read(line, 1)
    except NotARow as wrong:
        assert wrong.kind


JSON = st.sampled_from([None, True, 0, "", "deny", "codex", [], ["a"], {}, {"command": 1}, {"command": "ls"}, {"answers": 3}, {"decision": "ask"}, CLAUDE, AFTER])  # fmt: skip
KEYS = st.sampled_from(
    ["command", "tool", "input", "event", "expected", "expect", "judge", "home", "cwd", "host", "result"]
)


@given(st.dictionaries(KEYS, JSON, max_size=6))
def test_any_object_is_a_row_or_says_why_not(found: dict[str, Any]) -> None:
    try:
        read(json.dumps(found).encode(), 1)
    except NotARow as wrong:
        assert wrong.kind
