"""What the person really typed, from the host's own transcript.

Only these words may lift an ask, so everything a program wrote is left out: tool results, subagent prompts,
summaries, reminders, notifications, other sessions' messages.  When in doubt a text is not the person's.

Shapes (community readers of both formats, Claude Code up to 2.1.332, Codex up to 0.171):

- Claude Code: one JSON object a line, ``{"type": "user", "message": {"role": "user", "content": …}}``; harness-made
  ones carry ``isMeta``, ``isSidechain``, ``isCompactSummary``, ``isVisibleInTranscriptOnly``, ``toolUseResult``,
  ``sourceToolUseID``, ``interruptedMessageId`` or an ``origin.kind`` other than human.  What is typed while the agent
  works is no user line but ``{"type": "attachment", "attachment": {"type": "queued_command", "commandMode":
  "prompt", "origin": {"kind": "human"}, "prompt": …}}``.
- Codex: ``{"type": "event_msg", "payload": {"type": "user_message", "message": …}}`` is the typed text; the
  ``response_item`` messages with role user are what the model reads and hold injected context too, so they count only
  where there is no ``user_message``.  The first line, ``session_meta``, says whether a subagent's thread it is.
"""

from __future__ import annotations

import os
import stat

from . import jsonio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

TAIL = 1_000_000
HEAD = 256_000
CUT = 400

# Texts that a harness writes in the person's place.  Tags with "-" or "_" in their name are caught by their shape.
_MADE = (
    "[Request interrupted",
    "Caveat:",
    "This session is being continued from a previous conversation",
    "Stop hook feedback",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<skill>",
    "<skills>",
    "<hook",
    "<permissions",
    "<subagent",
    "<collaboration",
)


def user_requests(path: str, host: str, limit: int = 3) -> list[str]:
    """The last ``limit`` things the person typed, newest last, each cut to 400 characters, nothing unseen in them.

    Reads at most the last megabyte.  [] for a host whose transcripts we can't read, for a subagent's own transcript,
    and for a path that is no readable file.  Never raises, never blocks.
    """
    reader = _READERS.get(host)
    if reader is None or not path or limit <= 0:
        return []
    try:
        head, tail = _ends(path)
    except (OSError, ValueError):
        return []
    found = reader(head, tail, limit)
    found.reverse()
    from .text.printable import printable

    return [printable(text) for text in found]


def _ends(path: str) -> tuple[bytes, bytes]:
    """(the first line or what of it fits, the whole lines at the end).  Raises OSError when it is no file."""
    # Looked at before it is opened: opening a FIFO waits, opening a device may do things.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError("not a file")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError("not a file")
        start = max(0, facts.st_size - TAIL)
        head = os.read(handle, HEAD)
        os.lseek(handle, start, os.SEEK_SET)
        parts, left = [], TAIL
        while left > 0:
            part = os.read(handle, left)
            if not part:
                break
            parts.append(part)
            left -= len(part)
    finally:
        os.close(handle)
    tail = b"".join(parts)
    if start:  # the first line is torn; its rest could even be JSON
        tail = tail[tail.find(b"\n") + 1 :] if b"\n" in tail else b""
    return head.partition(b"\n")[0], tail


def _backwards(tail: bytes, *marks: bytes) -> Iterator[dict[str, Any]]:
    """The objects on the lines that hold one of ``marks``, last line first.  Other lines are never parsed."""
    end = len(tail)
    while end > 0:
        start = tail.rfind(b"\n", 0, end) + 1
        line = tail[start:end]
        end = start - 1
        if not any(mark in line for mark in marks):
            continue
        try:
            value = jsonio.loads(line.decode("utf-8"))
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _claude(head: bytes, tail: bytes, limit: int) -> list[str]:
    found: list[str] = []
    for entry in _backwards(tail, b'"user"', b'"queued_command"'):
        text = claude_typed(entry)
        if text and text not in found:  # a resumed session repeats its lines
            found.append(text)
            if len(found) == limit:
                break
    return found


def claude_typed(entry: dict[str, Any]) -> str:
    """What the person typed in one entry of a Claude Code transcript, "" for all else."""
    if entry.get("isSidechain") or entry.get("isMeta"):
        return ""
    if entry.get("type") == "attachment":
        queued = entry.get("attachment")
        if not isinstance(queued, dict) or queued.get("type") != "queued_command" or queued.get("isMeta"):
            return ""
        if queued.get("commandMode") != "prompt" or _origin(queued) != "human":
            return ""
        return _typed(queued.get("prompt"), "text")
    if entry.get("type") != "user" or _origin(entry) not in ("", "human"):
        return ""
    made = ("isCompactSummary", "isVisibleInTranscriptOnly", "sourceToolUseID", "interruptedMessageId")
    if any(entry.get(mark) for mark in made) or entry.get("toolUseResult") is not None:
        return ""
    message = entry.get("message")
    if not isinstance(message, dict) or message.get("role") != "user":
        return ""
    content = message.get("content")
    if isinstance(content, list) and any(isinstance(b, dict) and b.get("type") == "tool_result" for b in content):
        return ""  # the texts beside a tool result are the harness's: reminders, loaded skills, interruptions
    return _typed(content, "text")


def _origin(holder: dict[str, Any]) -> str:
    origin = holder.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    if kind is None:
        return ""
    return kind if isinstance(kind, str) else "?"


def _codex(head: bytes, tail: bytes, limit: int) -> list[str]:
    if not persons_thread(head):
        return []
    events: list[str] = []
    items: list[str] = []
    seen_event = False
    for entry in _backwards(tail, b'"user_message"', b'"user"'):
        told = codex_typed(entry)
        if told is None:
            continue
        said, text = told
        seen_event = seen_event or said
        _collect(events if said else items, text, limit)
        if len(events) == limit:
            break
    return events if seen_event else items


def codex_typed(entry: dict[str, Any]) -> tuple[bool, str] | None:
    """(whether Codex itself calls it typed, the text, maybe "") for one entry of a rollout; None for all else.

    Where any entry is so called, the others do not count.
    """
    payload = entry.get("payload")
    if not isinstance(payload, dict):
        return None
    if entry.get("type") == "event_msg" and payload.get("type") == "user_message":
        return True, _codex_text(payload.get("message")) if payload.get("kind") in (None, "plain") else ""
    if entry.get("type") == "response_item" and payload.get("type") == "message" and payload.get("role") == "user":
        return False, _codex_text(payload.get("content"))
    return None


def _collect(found: list[str], text: str, limit: int) -> None:
    if text and text not in found and len(found) < limit:
        found.append(text)


def persons_thread(head: bytes) -> bool:
    """Whether the rollout's first line is a person's thread: in a subagent's, the "user" is another agent."""
    try:
        first = jsonio.loads(head.decode("utf-8"))
    except ValueError:
        # Longer than HEAD (it may hold the whole system prompt).  Inside a JSON text the quotes would be escaped.
        return b'"subagent"' not in head
    meta = first.get("payload") if isinstance(first, dict) and first.get("type") == "session_meta" else None
    if not isinstance(meta, dict):
        return True
    source = meta.get("source")
    if isinstance(source, dict) and "subagent" in source:
        return False
    return meta.get("thread_source") in (None, "user")


_IDE_MARK = "## My request for Codex:"


def _codex_text(content: Any) -> str:
    text = _typed(content, "input_text", whole=True)
    if text.startswith("# Context from my IDE") and _IDE_MARK in text:
        text = text.split(_IDE_MARK, 1)[1].strip()
    return _cut(text)


def _typed(content: Any, kind: str, whole: bool = False) -> str:
    """The person's words in a content: a text, or the blocks of ``kind`` that no harness wrote."""
    if isinstance(content, str):
        blocks = [content]
    elif isinstance(content, list):
        blocks = [b["text"] for b in content if isinstance(b, dict) and b.get("type") == kind and _is_text(b)]
    else:
        return ""
    kept = [block for block in (_without_reminders(block).strip() for block in blocks) if block and not _made(block)]
    text = "\n".join(kept)
    return text if whole else _cut(text)


def _cut(text: str) -> str:
    """At most CUT characters; redacted first, for half a secret is not seen as one."""
    if len(text) <= CUT:
        return text
    from .text.redact import redact

    return redact(text[: CUT + 4000])[:CUT]


def _is_text(block: dict[str, Any]) -> bool:
    return isinstance(block.get("text"), str)


def _without_reminders(text: str) -> str:
    """``text`` without the reminders that Claude Code puts into or behind what was typed."""
    while True:
        start = text.find("<system-reminder>")
        if start < 0:
            return text
        end = text.find("</system-reminder>", start)
        if end < 0:
            return text[:start]
        text = text[:start] + text[end + len("</system-reminder>") :]


def _made(text: str) -> bool:
    if text.startswith(_MADE):
        return True
    if not text.startswith("<"):
        return False
    # <command-name>, <local-command-stdout>, <task-notification>, <environment_context>, <turn_aborted>, …: every tag
    # of the harnesses has "-" or "_" in its name, HTML that a person pastes has not.
    name = ""
    for letter in text[1:60]:
        if not (letter.isalnum() or letter in "-_"):
            break
        name += letter
    return "-" in name or "_" in name


_READERS = {"claude": _claude, "codex": _codex}
