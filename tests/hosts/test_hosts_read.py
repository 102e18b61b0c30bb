"""What each host's recorded events become, and that no host takes another's event for its own.

The events under events/ have the shapes that Claude Code 2.1.332 and Codex 0.171.0 really sent, with our own values.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jevhook import hosts
from jevhook.hosts import claude, codex

EVENTS = Path(__file__).parent / "events"
SESSION = "7d1c0f3e-1111-4222-8333-94445555aaaa"

# (event/tool, kind, tool, failed)
CLAUDE = [
    ("PreToolUse/Agent", "before-tool", "Agent", False),
    ("PreToolUse/Bash", "before-tool", "Bash", False),
    ("PreToolUse/Bash-failing", "before-tool", "Bash", False),
    ("PreToolUse/Bash-in-subagent", "before-tool", "Bash", False),
    ("PreToolUse/Edit", "before-tool", "Edit", False),
    ("PreToolUse/Read", "before-tool", "Read", False),
    ("PreToolUse/ToolSearch", "before-tool", "ToolSearch", False),
    ("PreToolUse/WebFetch", "before-tool", "WebFetch", False),
    ("PreToolUse/Write", "before-tool", "Write", False),
    ("PreToolUse/Write-update", "before-tool", "Write", False),
    ("PreToolUse/mcp__tickets__broken", "before-tool", "mcp__tickets__broken", False),
    ("PreToolUse/mcp__tickets__find", "before-tool", "mcp__tickets__find", False),
    ("PreToolUse/mcp__tickets__structured", "before-tool", "mcp__tickets__structured", False),
    ("PostToolUse/Agent", "after-tool", "Agent", False),
    ("PostToolUse/Bash", "after-tool", "Bash", False),
    ("PostToolUse/Bash-background", "after-tool", "Bash", False),
    ("PostToolUse/Bash-in-subagent", "after-tool", "Bash", False),
    ("PostToolUse/Bash-large-output", "after-tool", "Bash", False),
    ("PostToolUse/Edit", "after-tool", "Edit", False),
    ("PostToolUse/Read", "after-tool", "Read", False),
    ("PostToolUse/ToolSearch", "after-tool", "ToolSearch", False),
    ("PostToolUse/WebFetch", "after-tool", "WebFetch", False),
    ("PostToolUse/Write", "after-tool", "Write", False),
    ("PostToolUse/Write-update", "after-tool", "Write", False),
    ("PostToolUse/mcp__tickets__find", "after-tool", "mcp__tickets__find", False),
    ("PostToolUse/mcp__tickets__structured", "after-tool", "mcp__tickets__structured", False),
    ("PostToolUseFailure/Bash", "after-tool", "Bash", True),
    ("PostToolUseFailure/Read", "after-tool", "Read", True),
    ("PostToolUseFailure/mcp__tickets__broken", "after-tool", "mcp__tickets__broken", True),
    ("PermissionRequest/Bash", "other", "Bash", False),
    ("PermissionRequest/Write", "other", "Write", False),
    ("PostToolBatch/default", "other", "", False),
    ("SessionEnd/default", "other", "", False),
    ("SessionStart/default", "other", "", False),
    ("Stop/active", "other", "", False),
    ("Stop/default", "other", "", False),
    ("SubagentStart/default", "other", "", False),
    ("SubagentStop/default", "other", "", False),
    ("UserPromptSubmit/default", "other", "", False),
]
# (event/tool, kind, tool, is the call's own directory known)
CODEX = [
    ("PreToolUse/Bash", "before-tool", "Bash", False),
    ("PreToolUse/Bash-failing", "before-tool", "Bash", False),
    ("PreToolUse/Bash-in-subagent", "before-tool", "Bash", False),
    ("PreToolUse/Bash-interactive", "before-tool", "Bash", False),
    ("PreToolUse/apply_patch", "before-tool", "apply_patch", True),
    ("PreToolUse/mcp__tickets__broken", "before-tool", "mcp__tickets__broken", True),
    ("PreToolUse/mcp__tickets__find", "before-tool", "mcp__tickets__find", True),
    ("PreToolUse/mcp__tickets__structured", "before-tool", "mcp__tickets__structured", True),
    ("PreToolUse/spawn_agent", "before-tool", "spawn_agent", True),
    ("PreToolUse/view_image", "before-tool", "view_image", True),
    ("PostToolUse/Bash", "after-tool", "Bash", False),
    ("PostToolUse/Bash-failing", "after-tool", "Bash", False),
    ("PostToolUse/Bash-in-subagent", "after-tool", "Bash", False),
    ("PostToolUse/Bash-interactive", "after-tool", "Bash", False),
    ("PostToolUse/apply_patch", "after-tool", "apply_patch", True),
    ("PostToolUse/mcp__tickets__find", "after-tool", "mcp__tickets__find", True),
    ("PostToolUse/mcp__tickets__structured", "after-tool", "mcp__tickets__structured", True),
    ("PostToolUse/spawn_agent", "after-tool", "spawn_agent", True),
    ("PostToolUse/view_image", "after-tool", "view_image", True),
    ("PermissionRequest/Bash", "other", "Bash", False),
    ("SessionEnd/default", "other", "", True),
    ("SessionEnd/interactive", "other", "", True),
    ("SessionStart/default", "other", "", True),
    ("SessionStart/interactive", "other", "", True),
    ("Stop/active", "other", "", True),
    ("Stop/default", "other", "", True),
    ("Stop/interactive", "other", "", True),
    ("SubagentStart/default", "other", "", True),
    ("SubagentStop/default", "other", "", True),
    ("UserPromptSubmit/default", "other", "", True),
    ("UserPromptSubmit/interactive", "other", "", True),
]


def recorded(name: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return payload


def detected(payload: dict[str, Any]) -> str:
    host = hosts.detect(payload)
    return host.NAME if host else ""


@pytest.mark.parametrize(("host", "rows"), [("claude", CLAUDE), ("codex", CODEX)])
def test_every_recorded_event_has_its_row(host: str, rows: list[tuple[str, str, str, bool]]) -> None:
    files = {f"{path.parent.name}/{path.stem}" for path in (EVENTS / host).glob("*/*.json")}
    assert files == {row[0] for row in rows}


@pytest.mark.parametrize(("name", "kind", "tool", "failed"), CLAUDE)
def test_a_claude_event_is_read_as_what_it_is(name: str, kind: str, tool: str, failed: bool) -> None:
    payload = recorded(f"claude/{name}")
    assert detected(payload) == "claude"
    event = claude.read(payload, {})
    assert (event.host, event.kind, event.name, event.tool) == ("claude", kind, name.partition("/")[0], tool)
    assert (event.failed, event.cwd, event.cwd_sure, event.session) == (failed, "/home/dev/shop", True, SESSION)
    assert event.transcript == f"/home/dev/.claude/projects/-home-dev-shop/{SESSION}.jsonl"
    assert event.input == payload.get("tool_input", {})
    assert event.call_id == payload.get("tool_use_id", "")
    assert event.permission_mode == payload.get("permission_mode", "")
    assert event.agent == payload.get("agent_id", "")
    assert event.result == (payload["error"] if failed else payload.get("tool_response"))


@pytest.mark.parametrize(("name", "kind", "tool", "sure"), CODEX)
def test_a_codex_event_is_read_as_what_it_is(name: str, kind: str, tool: str, sure: bool) -> None:
    payload = recorded(f"codex/{name}")
    assert detected(payload) == "codex"
    assert not claude.claims(payload)
    event = codex.read(payload, {})
    assert (event.host, event.kind, event.name, event.tool) == ("codex", kind, name.partition("/")[0], tool)
    assert (event.failed, event.cwd, event.cwd_sure, event.session) == (False, "/home/dev/shop", sure, SESSION)
    assert event.transcript == payload["transcript_path"]
    assert event.input == payload.get("tool_input", {})
    assert event.call_id == payload.get("tool_use_id", "")
    assert event.permission_mode == payload.get("permission_mode", "")
    assert event.agent == payload.get("agent_id", "")
    assert event.result == payload.get("tool_response")


FOREIGN = sorted(
    f"{path.parent.parent.name}/{path.parent.name}/{path.stem}"
    for host in ("copilot", "gemini", "qwen")
    for path in (EVENTS / host).glob("*/*.json")
)


@pytest.mark.parametrize("name", FOREIGN)
def test_another_hosts_event_is_claimed_by_neither(name: str) -> None:
    payload = recorded(name)
    assert detected(payload) == ""
    assert not claude.claims(payload)
    assert not codex.claims(payload)


def test_there_are_events_of_three_other_hosts() -> None:
    assert {name.partition("/")[0] for name in FOREIGN} == {"copilot", "gemini", "qwen"}


BASE = {"session_id": "s", "cwd": "/w"}
SHAPES: list[tuple[str, dict[str, Any], str]] = [
    ("nothing", {}, ""),
    ("only Claude's event name", {"hook_event_name": "PreToolUse"}, "claude"),
    ("an unknown event name", {**BASE, "hook_event_name": "PreToolUsed"}, ""),
    ("an event name that is no text", {**BASE, "hook_event_name": ["PreToolUse"]}, ""),
    ("a turn", {**BASE, "hook_event_name": "PreToolUse", "turn_id": "t"}, "codex"),
    (
        "a Codex session with a directory of its own",
        {"hook_event_name": "SessionStart", "transcript_path": "/data/cx/sessions/2026/01/02/rollout-2026-01-02.jsonl"},
        "codex",
    ),
    (
        "a Codex session on Windows",
        {"hook_event_name": "SessionStart", "transcript_path": r"C:\Users\dev\.codex\sessions\2026\rollout-1.jsonl"},
        "codex",
    ),
    (
        "a Codex session that keeps no transcript",
        {**BASE, "hook_event_name": "SessionEnd", "transcript_path": None, "reason": "other"},
        "codex",
    ),
    (
        "a Claude project that lies in a .codex directory",
        {"hook_event_name": "SessionStart", "transcript_path": "/home/dev/.claude/projects/-x--codex-sessions/a.jsonl"},
        "claude",
    ),
    ("Claude Code's hooks run by Cursor", {**BASE, "hook_event_name": "PreToolUse", "cursor_version": "2"}, ""),
]


@pytest.mark.parametrize(("case", "payload", "host"), SHAPES, ids=[row[0] for row in SHAPES])
def test_an_event_is_claimed_by_its_shape(case: str, payload: dict[str, Any], host: str) -> None:
    assert detected(payload) == host


NEEDED = [
    ("hook_event_name", None),
    ("hook_event_name", 7),
    ("hook_event_name", ["PreToolUse"]),
    ("tool_name", None),
    ("tool_name", {"name": "Bash"}),
    ("tool_input", None),
    ("tool_input", "rm"),
    ("tool_input", ["rm"]),
]


@pytest.mark.parametrize("host", [claude, codex])
@pytest.mark.parametrize(("field", "wrong"), NEEDED)
def test_a_field_that_nothing_can_be_judged_without_is_named(host: Any, field: str, wrong: Any) -> None:
    payload = recorded(f"{host.NAME}/PreToolUse/Bash")
    with pytest.raises(ValueError, match=field):
        host.read({**payload, field: wrong}, {})
    del payload[field]
    with pytest.raises(ValueError, match=field):
        host.read(payload, {})


@pytest.mark.parametrize("host", [claude, codex])
def test_events_without_a_tool_need_no_tool(host: Any) -> None:
    event = host.read({**recorded(f"{host.NAME}/Stop/default"), "tool_name": 1, "tool_input": "x"}, {})
    assert (event.kind, event.tool, event.input) == ("other", "", {})


DEGRADED = [
    ("cwd", 5, "cwd", ""),
    ("cwd", "src", "cwd", ""),
    ("cwd", "/home/\0dev", "cwd", ""),
    ("cwd", "/home/\ud800dev", "cwd", ""),
    ("cwd", "/home/\udcffdev", "cwd", "/home/\udcffdev"),  # a file name byte that is not UTF-8
    ("transcript_path", None, "transcript", ""),
    ("transcript_path", "/a\0b", "transcript", ""),
    ("session_id", 5, "session", ""),
    ("session_id", "\ud800", "session", "\ud800"),
    ("tool_use_id", [], "call_id", ""),
    ("permission_mode", {}, "permission_mode", ""),
    ("agent_id", True, "agent", ""),
]


@pytest.mark.parametrize("host", [claude, codex])
@pytest.mark.parametrize(("field", "value", "attribute", "read"), DEGRADED)
def test_every_other_field_degrades(host: Any, field: str, value: Any, attribute: str, read: str) -> None:
    event = host.read({**recorded(f"{host.NAME}/PreToolUse/Bash"), field: value}, {})
    assert getattr(event, attribute) == read


@pytest.mark.parametrize("host", [claude, codex])
def test_a_huge_command_is_read_whole(host: Any) -> None:
    command = "echo " + "x\0\ud800" * 1_000_000
    event = host.read({**recorded(f"{host.NAME}/PreToolUse/Bash"), "tool_input": {"command": command}}, {})
    assert event.input["command"] == command


def test_reading_leaves_the_payload_alone() -> None:
    payload = recorded("claude/PreToolUse/Bash")
    claude.read(payload, {})
    assert payload == recorded("claude/PreToolUse/Bash")


def test_a_failure_without_a_text_has_no_result() -> None:
    event = claude.read({**recorded("claude/PostToolUseFailure/Bash"), "error": 3}, {})
    assert (event.failed, event.result) == (True, None)
