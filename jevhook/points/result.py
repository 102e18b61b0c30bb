"""The texts inside a tool's result, and the result put together again in the tool's own shape.

Claude Code drops a replacement of another shape silently and hands out the original (HOSTS.md, seen on 2.1.332), so a
replacement is always a copy of the response in which only texts differ.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from ..event import Event

    Path: TypeAlias = tuple[str | int, ...]

MAX_SLOTS = 400
MAX_DEPTH = 12

# Keys whose text is about the call, not its result: never judged, never changed.
_ABOUT = frozenset(
    (
        "type", "filePath", "file_path", "url", "codeText", "backgroundTaskId", "persistedOutputPath", "mimeType", "mime_type", "id", "agentId", "status",
        "oldString", "newString", "originalFile", "structuredPatch", "userFacingName", "subtype", "encoding", "uri", "name", "data", "blob", "tool_use_id",
    )
)  # fmt: skip


class Slot:
    """One text of a result: ``path`` leads to it from the response, () for a response that is itself a text."""

    __slots__ = ("path", "text")

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text


def slots(event: Event) -> list[Slot]:
    """Every text of the result that the model will read, in order.

    Bash: stdout, stderr; Read: file.content; WebFetch: result; MCP: the text blocks, or the JSON string; Codex: the
    string or the text blocks; a failed call: the error text.  Images and other binary blocks have none.
    """
    found: list[Slot] = []
    _collect(event.result, (), found, 0)
    return found


def _collect(value: Any, path: Path, found: list[Slot], depth: int) -> None:
    if len(found) >= MAX_SLOTS or depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        if value:
            found.append(Slot(path, value))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _collect(item, (*path, i), found, depth + 1)
    elif isinstance(value, dict):
        if value.get("type") in ("image", "audio", "base64") or value.get("isImage") is True:
            return
        for key, item in value.items():
            if key not in _ABOUT:
                _collect(item, (*path, key), found, depth + 1)


def rebuild(event: Event, texts: dict[Path, str], drop: Iterable[str] = ()) -> Any:
    """A copy of the response in which the texts at these paths are replaced; everything else stays as it was.

    ``drop``: top-level keys that are left out (the path of a spilled file that holds what was withheld).  They are
    never set to null: that makes Claude Code discard the whole answer.
    """
    made = _copy(event.result, (), texts, 0)
    if isinstance(made, dict):
        for key in drop:
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
