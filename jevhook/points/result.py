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
MAX_DEPTH = 199  # as deep as a host may take a replacement (hosts/claude.py); what is deeper is replaced as one
LONG_KEY = 20  # characters of a key that can say something by itself, as one of several words can
MAX_SPILL = 5 << 20  # bytes that are read of an output that the host keeps in a file

# Where Claude Code keeps an output of more than 30,000 characters.  As long as the path is there, the model gets 2 KB of
# whatever stdout says and the path; without it all of it, or if that is too long again 2 KB and a file of its own (seen
# on 2.1.332).  So what was changed goes out without them.
_SPILLED = ("persistedOutputPath", "persistedOutputSize")
_SPILLING = ("Bash", "BashOutput", "PowerShell")  # another tool that has such keys names a file of its author's choice

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
    """One text of a result: ``path`` leads to it from the response, () for a response that is itself a text; -1 behind a
    key stands for the key itself.

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
    found = _collect(event.result, event.tool in _OWN_KEYS)
    whole = _spilled(event.result) if event.tool in _SPILLING else None
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


def _collect(result: Any, own: bool) -> list[Slot]:
    """The texts of ``result`` in order, however deep; ``own``: it is of a tool of the host's own."""
    found: list[Slot] = []
    left: list[tuple[Any, Path]] = [(result, ())]
    while left and len(found) < MAX_SLOTS:
        value, path = left.pop()
        inside: list[tuple[Any, Path]] = []
        if isinstance(value, str):
            if value:
                found.append(Slot(path, value))
        elif isinstance(value, list):
            inside = [(item, (*path, i)) for i, item in enumerate(value)]
        elif isinstance(value, dict):
            picture = value.get("type") in ("image", "audio", "base64", "input_image")
            if own and picture:
                continue
            # Claude Code takes an output for a picture by how it begins, and hands on the text where it is none.
            picture = picture or value.get("isImage") is True
            for key, item in value.items():
                if own and key in _ABOUT:
                    continue
                if not own and (len(key) >= LONG_KEY or " " in key):
                    inside.append((key, (*path, key, -1)))
                if not (isinstance(item, str) and ((picture and _encoded(item)) or _names_a_type(key, item))):
                    inside.append((item, (*path, key)))
        left += reversed(inside)
    return found


def _encoded(text: str) -> bool:
    """Whether a text may be an encoded picture or sound: one word."""
    text = text.strip()
    return " " not in text and "\n" not in text


def _names_a_type(key: str, text: str) -> bool:
    """Whether a host reads this word to tell what a block is: changed, the block would be none."""
    return key in ("type", "mimeType", "mime_type") and len(text) < 100 and " " not in text


def rebuild(event: Event, texts: dict[Path, str]) -> Any:
    """A copy of the response in which the texts at these paths are replaced; everything else stays as it was.

    The file with the host's own copy of a replaced output is no longer named: the key is left out, for a null makes
    Claude Code discard the whole answer.
    """
    deep = {path[:MAX_DEPTH]: text for path, text in texts.items() if len(path) >= MAX_DEPTH}
    made = _copy(event.result, (), texts, deep)
    if isinstance(made, dict) and ("stdout",) in texts and event.tool in _SPILLING:
        for key in _SPILLED:
            made.pop(key, None)
    return made


def _copy(value: Any, path: Path, texts: dict[Path, str], deep: dict[Path, str]) -> Any:
    if len(path) >= MAX_DEPTH:
        return deep.get(path, value)
    if isinstance(value, str):
        return texts.get(path, value)
    if isinstance(value, list):
        return [_copy(item, (*path, i), texts, deep) for i, item in enumerate(value)]
    if isinstance(value, dict):
        made: dict[str, Any] = {}
        for key, item in value.items():
            note = texts.get((*path, key, -1))
            if note and (note in made or note in value):  # two notes may say the same
                note = f"{note} {len(made)}"
            made[note or key] = _copy(item, (*path, key), texts, deep)
        return made
    return value
