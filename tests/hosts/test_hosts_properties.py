"""Whatever comes in, a host module raises nothing but ValueError and says nothing that is not documented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jevhook import hosts
from jevhook.event import Decision
from jevhook.hosts import claude, codex

EVENTS = Path(__file__).parent / "events"
# fmt: off
FIELDS = (
    "agent_id", "cwd", "cursor_version", "error", "hook_event_name", "permission_mode", "session_id", "timestamp",
    "tool_input", "tool_name", "tool_response", "tool_use_id", "transcript_path", "turn_id",
)
# fmt: on

text = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    [
        "\0",
        "\ud800",
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\u202e",
        "\U000e0041",
        "\r\n",
        "Bash",
        "mcp__a__b",
        "/w",
        "default",
    ]
)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionStart"]) | json_value
wild = st.dictionaries(st.sampled_from(FIELDS) | text, json_value, max_size=8)
recordings = st.sampled_from(sorted((EVENTS / "claude").glob("*/*.json")) + sorted((EVENTS / "codex").glob("*/*.json")))
outcomes = st.sampled_from(["none", "allow", "context", "ask", "deny", "withhold", "trim"])

# The documented keys of an answer (Claude's hook schema, Codex's post-/pre-tool-use.command.output schemas), of which
# we use these and no others: the value says what its type must be.
DECIDE = {"hookEventName": str, "permissionDecision": str, "permissionDecisionReason": str, "additionalContext": str}
SPECIFIC: dict[tuple[str, str], dict[str, Any]] = {
    ("claude", "PreToolUse"): DECIDE,
    ("claude", "PostToolUse"): {"hookEventName": str, "additionalContext": str, "updatedToolOutput": object},
    ("claude", "PostToolUseFailure"): {"hookEventName": str, "additionalContext": str},
    ("codex", "PreToolUse"): DECIDE,
    ("codex", "PostToolUse"): {"hookEventName": str, "additionalContext": str},
}
DECISIONS = {"claude": {"allow", "ask", "deny"}, "codex": {"deny"}}


def check(host: str, name: str, stdout: str) -> None:
    """Whether ``stdout`` is silence or an answer that the host takes."""
    if not stdout:
        return
    assert "\n" not in stdout and "\r" not in stdout
    # Codex's parser refuses a lone surrogate; Claude's own results may hold one, and then so may a replacement.
    answer = json.loads(stdout)
    if host == "codex":
        json.dumps(answer, ensure_ascii=False).encode()
    if "decision" in answer:
        assert host == "codex" and name == "PostToolUse"
        assert set(answer) == {"decision", "reason"}
        assert answer["decision"] == "block" and answer["reason"].strip()
        return
    assert set(answer) == {"hookSpecificOutput"}
    said = answer["hookSpecificOutput"]
    allowed = SPECIFIC[host, name]
    assert set(said) <= set(allowed) and len(said) > 1
    assert said["hookEventName"] == name
    for key, value in said.items():
        assert value is not None and isinstance(value, allowed[key])
        if allowed[key] is str:
            assert value.strip() and len(value.encode()) <= 9_000
            assert not any(char < " " and char not in "\n\t" for char in value)
    if "permissionDecision" in said:
        assert said["permissionDecision"] in DECISIONS[host]
        assert said["permissionDecision"] == "allow" or said["permissionDecisionReason"]
        assert "additionalContext" not in said


@pytest.mark.parametrize("host", [claude, codex], ids=["claude", "codex"])
@settings(max_examples=150, deadline=None)
@given(payload=wild, name=names, outcome=outcomes, reason=text, replacement=json_value)
def test_any_payload_is_read_or_refused_with_a_value_error(
    host: Any, payload: dict[str, Any], name: Any, outcome: Any, reason: str, replacement: Any
) -> None:
    payload["hook_event_name"] = name
    assert host.claims(payload) in (True, False)
    hosts.detect(payload)
    try:
        event = host.read(payload, {})
    except ValueError as wrong:
        assert str(wrong).split()[0] in ("hook_event_name", "tool_name", "tool_input")
        return
    for attribute in ("name", "tool", "cwd", "session", "call_id", "transcript", "permission_mode", "agent"):
        assert isinstance(getattr(event, attribute), str)
    assert isinstance(event.input, dict)
    output = host.answer(event, Decision(outcome, reason=reason, replacement=replacement))
    check(host.NAME, event.name, output.stdout)


@settings(max_examples=250, deadline=None)
@given(
    path=recordings,
    field=st.sampled_from(FIELDS),
    value=json_value,
    outcome=outcomes,
    reason=text | st.text("ab\x1b\u202e\ud800\n", max_size=200).map(lambda part: part * 100),
    replacement=json_value | st.just("same"),
    mode=st.sampled_from(["default", "bypassPermissions", "dontAsk", "plan"]),
)
def test_any_decision_on_a_recorded_event_is_silence_or_a_documented_answer(
    path: Path, field: str, value: Any, outcome: Any, reason: str, replacement: Any, mode: str
) -> None:
    payload = {**json.loads(path.read_text()), "permission_mode": mode}
    host = hosts.load(path.parent.parent.name)
    for given_payload in (payload, {**payload, field: value}):
        try:
            event = host.read(given_payload, {"CLAUDE_CODE_ENTRYPOINT": "cli"})
        except ValueError:
            continue
        new = event.result if replacement == "same" else replacement
        output = host.answer(event, Decision(outcome, reason=reason, replacement=new))
        assert (output.code, output.stderr) == (0, "")
        check(host.NAME, event.name, output.stdout)
        if outcome in ("deny", "withhold") and outcome in host.answers(event):
            assert output.stdout, "a deny or a withheld result is never swallowed"
        if outcome == "none" or (outcome not in host.answers(event) and event.kind == "before-tool"):
            assert output.stdout == ""
