"""The texts inside a tool's result, and the result put together again in the tool's own shape.

Claude Code drops a replacement of another shape silently and hands out the original (HOSTS.md, seen on 2.1.332), so a
replacement is always a copy of the response in which only texts differ.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from ..event import Event

    Path: TypeAlias = tuple[str | int, ...]

MAX_SLOTS = 20_000  # texts that are judged; no host hands on a result of more
MAX_DEPTH = 200  # as deep as a host may take a replacement (hosts/claude.py)
MAX_SPILL = 5 << 20  # bytes that are read of an output that the host keeps in a file

# Where Claude Code keeps an output of more than 30,000 characters.  As long as the path is there, the model gets 2 KB of
# whatever stdout says and the path; without it all of it, or if that is too long again 2 KB and a file of its own (seen
# on 2.1.332).  So what was changed goes out without them.
_SPILLED = ("persistedOutputPath", "persistedOutputSize")

# The hosts' own tools, whose keys are known.  What another tool calls its keys is its author's choice, and the model
# reads all of it: a plant under "name" or "data" is one too.
_OWN_KEYS = frozenset(
    (
        "Bash", "BashOutput", "PowerShell", "Read", "Grep", "Glob", "LS", "NotebookRead", "WebFetch", "WebSearch", "Edit", "Write",
        "MultiEdit", "NotebookEdit", "Agent", "Task", "ToolSearch", "TodoWrite", "apply_patch", "view_image",
    )
)  # fmt: skip
# Keys of theirs whose text is about the call, not its result: never judged, never changed.
_ABOUT = frozenset(
    (
        "type", "filePath", "file_path", "url", "codeText", "backgroundTaskId", "persistedOutputPath", "mimeType", "mime_type", "id", "agentId", "status",
        "oldString", "newString", "originalFile", "structuredPatch", "userFacingName", "subtype", "encoding", "uri", "name", "data", "blob", "tool_use_id",
    )
)  # fmt: skip


class Slot:
    """One text of a result: ``path`` leads to it from the response, () for a response that is itself a text.

    ``cut``: it is longer than what is read of it; its last line says so.
    """

    __slots__ = ("cut", "path", "text")

    def __init__(self, path: Path, text: str, cut: bool = False) -> None:
        self.path = path
        self.text = text
        self.cut = cut


def slots(event: Event) -> list[Slot]:
    """Every text of the result that the model will read, in order.

    Bash: stdout (all of it, where the host has cut it and keeps the whole in a file), stderr; Read: file.content;
    WebFetch: result; MCP: the text blocks, or the JSON string; Codex: the string or the text blocks; a failed call: the
    error text.  Images and other binary blocks have none.
    """
    found: list[Slot] = []
    _collect(event.result, (), found, 0, event.tool in _OWN_KEYS)
    whole = _spilled(event.result)
    return [whole, *(slot for slot in found if slot.path != whole.path)] if whole else found


def _spilled(result: Any) -> Slot | None:
    """The whole output of which Claude Code hands on the first 30,000 characters; None where that is all."""
    if not isinstance(result, dict):
        return None
    name, shown = result.get(_SPILLED[0]), result.get("stdout")
    if not isinstance(name, str) or not name or not isinstance(shown, str):
        return None
    data, rest = _head(name)
    text = data.decode("utf-8", "replace")
    if not text:
        return None
    if not text.lstrip().startswith(shown[:20_000].strip()):  # without the blank lines that it began with
        text = f"{shown}\n{text}"  # not what was shown: both are looked at
    if rest:
        text += f"\n[jevhook: the rest of this output, {rest:,} bytes, was not looked at and is not handed on]\n"
    return Slot(("stdout",), text, rest > 0)


def _head(name: str) -> tuple[bytes, int]:
    """The first MAX_SPILL bytes of a regular file, and how many more it has; nothing of what is none."""
    import os
    import stat

    try:
        fd = os.open(name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return b"", 0
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            return b"", 0
        parts, size = [], 0
        while size < MAX_SPILL:
            part = os.read(fd, min(1 << 20, MAX_SPILL - size))
            if not part:
                break
            parts.append(part)
            size += len(part)
        return b"".join(parts), max(0, facts.st_size - size)
    except OSError:
        return b"", 0
    finally:
        os.close(fd)


def _collect(value: Any, path: Path, found: list[Slot], depth: int, own: bool) -> None:
    if len(found) >= MAX_SLOTS or depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        if value:
            found.append(Slot(path, value))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _collect(item, (*path, i), found, depth + 1, own)
    elif isinstance(value, dict):
        picture = value.get("type") in ("image", "audio", "base64", "input_image")
        if own and (picture or value.get("isImage") is True):
            return
        for key, item in value.items():
            if own and key in _ABOUT:
                continue
            if isinstance(item, str) and ((picture and _encoded(item)) or _names_a_type(key, item)):
                continue
            _collect(item, (*path, key), found, depth + 1, own)


def _encoded(text: str) -> bool:
    """Whether a text may be an encoded picture or sound: one word."""
    return " " not in text and "\n" not in text


def _names_a_type(key: str, text: str) -> bool:
    """Whether a host reads this word to tell what a block is: changed, the block would be none."""
    return key in ("type", "mimeType", "mime_type") and len(text) < 100 and " " not in text


def rebuild(event: Event, texts: dict[Path, str]) -> Any:
    """A copy of the response in which the texts at these paths are replaced; everything else stays as it was.

    The file with the host's own copy of a replaced output is no longer named: the key is left out, for a null makes
    Claude Code discard the whole answer.
    """
    made = _copy(event.result, (), texts, 0)
    if isinstance(made, dict) and ("stdout",) in texts:
        for key in _SPILLED:
            made.pop(key, None)
    return made


def _copy(value: Any, path: Path, texts: dict[Path, str], depth: int) -> Any:
    if isinstance(value, str):
        return texts.get(path, value)
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [_copy(item, (*path, i), texts, depth + 1) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _copy(item, (*path, key), texts, depth + 1) for key, item in value.items()}
    return value


def whole(event: Event) -> str:
    """All texts of the result, one after the other: what size and relevance are judged on."""
    return "\n".join(slot.text for slot in slots(event))
