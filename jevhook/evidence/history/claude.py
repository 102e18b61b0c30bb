"""Claude Code's transcripts: ``~/.claude/projects/<project>/<session>.jsonl``, and its subagents' beside them.

Shapes seen running 2.1.332: an ``assistant`` line holds ``tool_use`` blocks, a ``user`` line the ``tool_result`` with the
tool's own response under ``toolUseResult``; both carry ``cwd``, ``sessionId``, ``version``.  A call that was refused says
``permissionDecision.decision = "reject"`` (earlier versions: only the words of its result) and fires no hook afterwards.
Two things differ from what the hook was sent: the input is the model's own, before the host filled in its defaults, and
a large output is as the host cut it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...transcript import claude_typed
from . import MOST_OPEN, Line, Met, Past, at, heard, parsed, text_of

NAME = "claude"
_LINES = frozenset(("assistant", "attachment", "progress", "queue-operation", "summary", "system", "user"))
_REFUSED = (
    "PreToolUse:",
    "Hook PreToolUse:",
    "Permission to use ",
    "The user doesn't want to ",
    "[Request interrupted",
    "<tool_use_error>",
)


def claims(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of Claude Code's."""
    kind = value.get("type")
    if not isinstance(kind, str) or "payload" in value:
        return False
    return isinstance(value.get("sessionId"), str) or (kind in _LINES and ("uuid" in value or "leafUuid" in value))


def events(lines: Iterable[Line], place: str, met: Met) -> Iterator[Past]:
    """Each call as a PreToolUse, and as a PostToolUse or PostToolUseFailure where its result is there."""
    opened: dict[str, tuple[str, dict[str, Any]]] = {}
    requests: list[str] = []
    mode = "default"
    for number, line in lines:
        where = at(place, number)
        entry = parsed(line)
        if not isinstance(entry, dict):
            met.skip("a broken line", where)
            continue
        kind = entry.get("type")
        if kind == "attachment":
            heard(requests, claude_typed(entry))
        if kind not in ("assistant", "user"):
            if not isinstance(kind, str):
                met.skip("not a line of Claude Code's", where)
            continue
        message = entry.get("message")
        if not isinstance(message, dict):
            met.skip("a line of another version", where)
            continue
        if kind == "user":
            told = entry.get("permissionMode")
            mode = told if isinstance(told, str) and told else mode
            heard(requests, claude_typed(entry))
        content = message.get("content")
        if not isinstance(content, list):
            continue
        results = [block for block in content if isinstance(block, dict) and block.get("type") == "tool_result"]
        for block in content:
            if not isinstance(block, dict):
                met.skip("a line of another version", where)
                continue
            made: dict[str, Any] | None = None
            if kind == "assistant" and block.get("type") == "tool_use":
                tool, given, call = block.get("name"), block.get("input"), block.get("id")
                if not (isinstance(tool, str) and isinstance(given, dict) and isinstance(call, str)):
                    met.skip("a line of another version", where)
                    continue
                if len(opened) >= MOST_OPEN:
                    del opened[next(iter(opened))]
                opened[call] = tool, given
                made = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, "tool_use_id": call}
            elif kind == "user" and block.get("type") == "tool_result":
                call = block.get("tool_use_id")
                tool_and_input = opened.pop(call, None) if isinstance(call, str) else None
                if tool_and_input is not None and not _refused(entry, block):
                    tool, given = tool_and_input
                    made = {"tool_name": tool, "tool_input": given, "tool_use_id": call}
                    made |= _result(entry, block, len(results) == 1)
            if made is None:
                continue
            session = text_of(entry, "sessionId")
            made |= {"session_id": session, "cwd": text_of(entry, "cwd"), "permission_mode": mode}
            if entry.get("isSidechain") is True:
                made["agent_id"] = text_of(entry, "agentId") or "sidechain"
            yield Past(
                where,
                made,
                "claude",
                # where nobody can be asked an ask becomes something else
                {"CLAUDE_CODE_ENTRYPOINT": text_of(entry, "entrypoint")},
                () if "agent_id" in made else tuple(requests),
                session=session,
                call=str(made["tool_use_id"]),
                at=text_of(entry, "timestamp"),
            )


def _refused(entry: Mapping[str, Any], block: Mapping[str, Any]) -> bool:
    """Whether the call never ran, so that no hook heard of its result."""
    if block.get("is_error") is not True:
        return False
    decision = entry.get("permissionDecision")
    if isinstance(decision, dict) and decision.get("decision") == "reject":
        return True
    return "toolDenialKind" in entry or _words(block.get("content")).startswith(_REFUSED)


def _result(entry: Mapping[str, Any], block: Mapping[str, Any], only: bool) -> dict[str, Any]:
    if block.get("is_error") is True:
        return {"hook_event_name": "PostToolUseFailure", "error": _words(block.get("content"))}
    response = entry.get("toolUseResult") if only else None
    return {"hook_event_name": "PostToolUse", "tool_response": block.get("content") if response is None else response}


def _words(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
