"""Codex CLI: what its events look like and what it understands.

Facts are of 0.171.0, seen running unless a line says otherwise.  Codex checks an answer against a closed schema: one
unknown key, an ``ask``, a bare ``allow`` or a decision without a reason makes it throw the whole answer away and run
the call.
"""

from __future__ import annotations

import os

from ..config import home
from ..event import SILENCE, Event, Output
from ..jsonio import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..event import Decision, Kind

NAME = "codex"

KINDS: dict[str, Kind] = {"PreToolUse": "before-tool", "PostToolUse": "after-tool"}

_TEXT_LIMIT = 9_000  # bytes; context over 2,500 tokens goes to a file
_NO_REASON = {
    "deny": "The policy does not allow this call.",
    "withhold": "The result of this call was withheld: it holds text that should not be relied on.",
    "trim": "Nothing in the result of this call belongs to the task.",
}


def claims(payload: Mapping[str, Any]) -> bool:
    """Whether the event's own shape says that Codex sent it."""
    if "turn_id" in payload:
        return True
    # SessionStart and SessionEnd have no turn: their transcript is a rollout file, or null where none is kept.
    transcript = payload.get("transcript_path", "")
    if isinstance(transcript, str):
        place = transcript.replace("\\", "/")
        inside = "/.codex/" in place or "/sessions/" in place  # CODEX_HOME can be any directory
        return inside and place.rpartition("/")[2].startswith("rollout-")
    session = payload.get("hook_event_name") in ("SessionStart", "SessionEnd")
    return session and transcript is None and "timestamp" not in payload


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """The host-neutral event.  The environment says nothing here.

    Raises ValueError naming ``hook_event_name``, or for a tool event ``tool_name`` or ``tool_input``, when it is not of
    the documented type; every other field degrades to "" or None.  A failed command is an ordinary result: Codex does
    not tell.
    """
    name = payload.get("hook_event_name")
    if not isinstance(name, str):
        raise ValueError("hook_event_name is not a string")
    kind: Kind = KINDS.get(name, "other")
    tool, given = payload.get("tool_name"), payload.get("tool_input")
    if kind != "other":
        if not isinstance(tool, str):
            raise ValueError("tool_name is not a string")
        if not isinstance(given, dict):
            raise ValueError("tool_input is not an object")
    cwd = _path(payload, "cwd")
    return Event(
        NAME,
        kind,
        name,
        tool=tool if isinstance(tool, str) else "",
        input=given if isinstance(given, dict) else {},
        result=payload.get("tool_response") if kind == "after-tool" else None,
        cwd=cwd if os.path.isabs(cwd) else "",
        cwd_sure=tool != "Bash",  # exec_command's own workdir is not in the event: cwd is the session's
        session=_text(payload, "session_id"),
        call_id=_text(payload, "tool_use_id"),
        transcript=_path(payload, "transcript_path"),
        permission_mode=_text(payload, "permission_mode"),
        agent=_text(payload, "agent_id"),
        raw=payload,
    )


def _text(payload: dict[str, Any], field: str) -> str:
    value = payload.get(field)
    return value if isinstance(value, str) else ""


def _path(payload: dict[str, Any], field: str) -> str:
    """The field's path, or "" for what no file system call would take (NUL, a surrogate that is no file name byte)."""
    value = _text(payload, field)
    try:
        return "" if b"\0" in os.fsencode(value) else value
    except ValueError:
        return ""


def answers(event: Event) -> frozenset[str]:
    """The outcomes that can be expressed for this event: no ask at all, and allow is silence."""
    if event.kind == "before-tool":
        return frozenset(("context", "deny"))
    if event.kind == "after-tool":
        return frozenset(("context", "trim", "withhold"))
    return frozenset()


def answer(event: Event, decision: Decision) -> Output:
    """The decision in Codex's words.  SILENCE for what it cannot say.

    After the tool, ``decision: block`` does not block: its reason is what the model gets instead of the result, for
    failed commands too.  A withheld result without a usable replacement is replaced by the reason.
    """
    outcome = decision.outcome
    if outcome not in answers(event):
        return SILENCE
    if outcome == "deny":
        return _say(event, permissionDecision="deny", permissionDecisionReason=_reason(decision))
    if outcome in ("withhold", "trim"):
        shown = _shown(decision.replacement)
        if shown is not None or outcome == "withhold":
            # The tool's own bytes, however many: of more than 10,000 Codex shows the model both ends and names a file
            # with all of them (2 MB seen).
            shown = _whole(shown or "")
            return Output(dumps({"decision": "block", "reason": shown if shown.strip() else _reason(decision)}))
    return _say(event, additionalContext=_printable(decision.reason, _TEXT_LIMIT).strip())


def settings_files(event: Event, env: Mapping[str, str]) -> list[str]:
    """The user's hooks, the settings that hold their trust, and a project's.  They count from the next session on."""
    own = env.get("CODEX_HOME") or os.path.join(home(env), ".codex")
    places = [own, event.cwd and os.path.join(event.cwd, ".codex")]
    names = ("hooks.json", "config.toml")
    return [os.path.join(place, name) for place in places if os.path.isabs(place) for name in names]


def warn(event: Event, output: Output, text: str) -> Output:
    """See ``hosts.warning``: the schema of PostToolUse has both fields, beside ``decision: block`` too."""
    from . import warning

    return warning(event, output, text)


def _printable(text: str, limit: int) -> str:
    from ..text.printable import printable_within  # most events end in silence and need none of it

    return printable_within(text, limit)


def _whole(text: str) -> str:
    """``text`` without lone surrogates: serde_json refuses a whole answer for one."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _reason(decision: Decision) -> str:
    return _printable(decision.reason, _TEXT_LIMIT).strip() or _NO_REASON[decision.outcome]


def _say(event: Event, **fields: str) -> Output:
    said = {name: value for name, value in fields.items() if value}
    if not said:
        return SILENCE
    return Output(dumps({"hookSpecificOutput": {"hookEventName": event.name, **said}}))


def _shown(replacement: Any) -> str | None:
    """What the model reads of a result: a string, content blocks, or an MCP result.  None for all else.

    Of an MCP result with structured content the model gets that, as JSON, and none of the blocks.
    """
    if isinstance(replacement, str):
        return replacement
    if isinstance(replacement, dict):
        if replacement.get("structuredContent") is not None:
            import json

            try:
                return json.dumps(replacement["structuredContent"], ensure_ascii=False, separators=(",", ":"))
            except RecursionError:
                return None
        replacement = replacement.get("content")
    if not isinstance(replacement, list):
        return None
    parts = []
    for block in replacement:
        text = block.get("text") if isinstance(block, dict) else block
        parts.append(text if isinstance(text, str) else "[a part that is not text was left out]")
    return "\n".join(parts)
