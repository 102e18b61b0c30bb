"""Codex's rollouts: ``~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl``.

Shapes seen running 0.171.0: ``session_meta`` first; ``turn_context`` with the turn's cwd and approval policy;
``response_item`` lines ``function_call`` (arguments are JSON in a text), ``custom_tool_call`` (apply_patch) and their
``…_output``; ``event_msg`` ``item_completed`` with the whole output of a ``CommandExecution`` and the result of an
``McpToolCall`` (of a long one both ends).  The hook hears of a shell
call as Bash with its command alone, of what is typed into a running one (``write_stdin``) and of a command that outlives
its call nothing, of a failed MCP call only before it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...transcript import codex_typed, persons_thread
from . import MOST_OPEN, Line, Met, Past, at, heard, parsed, text_of

NAME = "codex"
_SHELLS = ("exec_command", "shell", "local_shell", "shell_command", "container.exec")
_HOOKED = ("apply_patch", "view_image", "spawn_agent", "tool_search")  # beside shells and MCP
_BARE = ("function_call", "function_call_output", "message", "reasoning")  # lines of rollouts before the wrapper


def claims(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of Codex's, of early versions too (these are named and skipped)."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    return isinstance(value.get("payload"), dict) or (
        kind in _BARE and "sessionId" not in value and "uuid" not in value
    )


def events(lines: Iterable[Line], place: str, met: Met) -> Iterator[Past]:
    """Each hooked call as a PreToolUse, and as a PostToolUse where a hook would have heard of its result."""
    session = cwd = turn = agent = ""
    mode = "default"
    opened: dict[str, tuple[str, dict[str, Any]]] = {}
    outputs: dict[str, Any] = {}
    said: list[str] = []
    read: list[str] = []
    called_typed = False
    for number, line in lines:
        where = at(place, number)
        entry = parsed(line)
        if not isinstance(entry, dict):
            met.skip("a broken line", where)
            continue
        payload, kind = entry.get("payload"), entry.get("type")
        if not isinstance(payload, dict):
            if number > 1 or kind in _BARE:  # an early rollout's first line has no type
                met.skip("a line of another version" if kind in _BARE else "not a line of Codex's", where)
            continue
        typed = codex_typed(entry)
        if typed is not None:
            called_typed = called_typed or typed[0]
            heard(said if typed[0] else read, typed[1])
        if kind == "session_meta":
            session = text_of(payload, "id") or text_of(payload, "session_id")
            cwd = text_of(payload, "cwd")
            agent = "" if persons_thread(line) else session
        elif kind == "turn_context":
            cwd = text_of(payload, "cwd") or cwd
            turn = text_of(payload, "turn_id")
            mode = "bypassPermissions" if payload.get("approval_policy") == "never" else "default"
        elif kind == "event_msg" and payload.get("type") == "item_completed":
            item = payload.get("item")
            if isinstance(item, dict) and text_of(item, "id") in opened:
                if item.get("type") == "CommandExecution":
                    outputs[text_of(item, "id")] = text_of(item, "aggregated_output")
                elif item.get("type") == "McpToolCall" and isinstance(item.get("result"), dict):
                    outputs[text_of(item, "id")] = item["result"]
        if kind != "response_item":
            continue
        made: dict[str, Any] | None = None
        what, call = payload.get("type"), text_of(payload, "call_id") or text_of(payload, "id")
        if what in ("function_call", "custom_tool_call", "local_shell_call"):
            told = _call(payload)
            if told is None:
                met.skip("a line of another version", where)
            elif told[0]:
                if len(opened) >= MOST_OPEN:
                    del opened[next(iter(opened))]
                opened[call] = told
                made = {"hook_event_name": "PreToolUse", "tool_name": told[0], "tool_input": told[1]}
        elif what in ("function_call_output", "custom_tool_call_output") and call in opened:
            tool, given = opened.pop(call)
            response = _response(tool, payload.get("output"), outputs.pop(call, None))
            if response is not None:
                made = {"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": given}
                made["tool_response"] = response
        if made is None:
            continue
        made |= {"session_id": session, "turn_id": turn, "cwd": cwd, "permission_mode": mode, "tool_use_id": call}
        if agent:
            made["agent_id"] = agent
        requests = () if agent else tuple(said if called_typed else read)
        yield Past(where, made, "codex", requests=requests, session=session, call=call, at=text_of(entry, "timestamp"))


def _call(payload: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """(the tool as the hook would hear of it, its input); ("", {}) for a call that no hook hears of; None when it
    can't be read."""
    name = text_of(payload, "name")
    if payload.get("type") == "local_shell_call":
        action = payload.get("action")
        command = _command(action.get("command")) if isinstance(action, dict) else None
        return None if command is None else ("Bash", {"command": command})
    if payload.get("type") == "custom_tool_call":
        patch = payload.get("input")
        if name != "apply_patch":
            return "", {}
        return ("apply_patch", {"command": patch}) if isinstance(patch, str) else None
    given = parsed(text_of(payload, "arguments").encode("utf-8", "replace"))
    if not name or not isinstance(given, dict):
        return None
    if name in _SHELLS:
        command = _command(given.get("cmd", given.get("command")))
        return None if command is None else ("Bash", {"command": command})
    space = text_of(payload, "namespace")
    if space.startswith("mcp__"):
        return f"{space}__{name}", given
    if name == "apply_patch":
        patch = given.get("input", given.get("patch"))
        return ("apply_patch", {"command": patch}) if isinstance(patch, str) else None
    return (name, given) if name in _HOOKED or name.startswith("mcp__") else ("", {})


def _command(value: Any) -> str | None:
    """The command line of a shell call: a text, or an argument vector whose shell is left out as the hook leaves it out."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return None
    if len(value) == 3 and value[1] in ("-c", "-lc") and value[0].rpartition("/")[2] in ("bash", "sh", "zsh"):
        return str(value[2])
    return shlex.join(value)


def _response(tool: str, output: Any, whole: Any) -> Any:
    """What a hook would have been given as the result, None where it would not have been called.

    ``output`` is what the model was given, ``whole`` what the item's own line has, if there is one.
    """
    if tool.startswith("mcp__"):
        if isinstance(whole, dict):
            return None if whole.get("isError") else whole
        if isinstance(output, list):  # the first block is Codex's own
            return {
                "content": [{"type": "text", "text": text_of(b, "text")} for b in output[1:] if isinstance(b, dict)]
            }
        text = output if isinstance(output, str) else ""
        return (
            None if text.startswith(("Command blocked by", "err:")) else {"content": [{"type": "text", "text": text}]}
        )
    if tool == "view_image" and isinstance(output, list):
        return output
    if isinstance(output, dict):
        output = output.get("content")
    if not isinstance(output, str) or output.startswith("Command blocked by "):
        return None
    if tool != "Bash":
        return output
    if output[:1] == "{":  # versions before unified_exec
        value = parsed(output.encode("utf-8", "replace"))
        if isinstance(value, dict) and isinstance(value.get("output"), str):
            return value["output"]
    head, mark, text = output.partition("\nOutput:\n")
    if mark and "Process running with session ID" in head:
        return None
    if isinstance(whole, str):
        return whole
    return text if mark else output
