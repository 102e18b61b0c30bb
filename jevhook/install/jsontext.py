"""A JSON file edited as text: what is not ours keeps its bytes (order, indentation, line ends, odd spellings).

``read`` is strict, as the hosts are: Claude Code and Codex drop a whole settings file over one comment or trailing
comma (seen on 2.1.332 and 0.171.0), so such a file is named, never guessed at.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

DEPTH = 100  # containers inside containers; settings have five

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_WORD = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")

_BLANK = " \t\r\n\ufeff"
_CUT = "the end of the file, in the middle of things"


@dataclass
class Node:
    """A value and where it stands: ``text[start:end]``.

    ``members`` of an object: (key, where the key starts, node); ``items`` of an array.  ``value`` is the Python value
    of what is neither.
    """

    kind: str  # object, array or plain
    start: int
    end: int = 0
    value: Any = None
    members: list[tuple[str, int, Node]] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)

    def get(self, key: str) -> Node | None:
        """The member ``key``.  Raises ValueError when it stands there twice: nobody can say which one counts."""
        found = [node for name, _, node in self.members if name == key]
        if len(found) > 1:
            raise ValueError(f"the key {json.dumps(key)} stands there twice")
        return found[0] if found else None

    def plain(self) -> Any:
        """The Python value."""
        if self.kind == "object":
            return {key: node.plain() for key, _, node in self.members}
        return [node.plain() for node in self.items] if self.kind == "array" else self.value


def read(text: str) -> Node:
    """The document, behind a byte order mark if there is one.

    Raises ValueError with line and column of the first thing that is no JSON.
    """
    node = _value(text, _skip(text, text.startswith("\ufeff")), 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise _wrong(text, end, "something follows the closing bracket")
    return node


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _wrong(text: str, at: int, what: str) -> ValueError:
    line = text.count("\n", 0, at) + 1
    if text[at : at + 2] in ("//", "/*"):
        what = "a comment, which JSON does not have"
    return ValueError(f"line {line}, column {at - text.rfind(chr(10), 0, at)}: {what}")


def _value(text: str, at: int, depth: int) -> Node:
    opening = text[at : at + 1]
    if opening in ("{", "["):
        if depth >= DEPTH:
            raise _wrong(text, at, f"nested deeper than {DEPTH}")
        return _container(text, at, depth)
    found = _STRING.match(text, at) or _WORD.match(text, at)
    if found is None:
        raise _wrong(
            text, at, "a value is missing" if at < len(text) else "the end of the file, in the middle of things"
        )
    return Node("plain", at, found.end(), json.loads(found.group()))


def _container(text: str, at: int, depth: int) -> Node:
    keyed = text[at] == "{"
    node, closing = Node("object" if keyed else "array", at), "}" if keyed else "]"
    at = _skip(text, at + 1)
    if text[at : at + 1] == closing:
        node.end = at + 1
        return node
    while True:
        if keyed:
            key = _STRING.match(text, at)
            if key is None:
                raise _wrong(text, at, "a key in double quotes is missing" if at < len(text) else _CUT)
            colon = _skip(text, key.end())
            if text[colon : colon + 1] != ":":
                raise _wrong(text, colon, "a colon is missing")
            inner = _value(text, _skip(text, colon + 1), depth + 1)
            node.members.append((json.loads(key.group()), at, inner))
        else:
            inner = _value(text, at, depth + 1)
            node.items.append(inner)
        at = _skip(text, inner.end)
        if text[at : at + 1] == closing:
            node.end = at + 1
            return node
        if text[at : at + 1] != ",":
            raise _wrong(text, at, f"a comma or {closing} is missing")
        at = _skip(text, at + 1)


def append(text: str, container: Node, value: Any, key: str | None = None) -> str:
    """``text`` with ``value`` as the last item of an array, or under ``key`` as the last member of an object.

    It looks as its neighbours do: on a line of its own where they are, else in their line.
    """
    parts = [start for _, start, _ in container.members] or [node.start for node in container.items]
    ends = [node.end for _, _, node in container.members] or [node.end for node in container.items]
    newline = "\r\n" if "\r\n" in text else "\n"
    step = _step(text)
    if parts:
        base = _own_line(text, parts[-1])
        head = text[: ends[-1]] + ","
        if base is None:
            single = "" if _tight(text) else " "
            gap = text[_skip(text, ends[-2]) + 1 : parts[-1]] if len(parts) > 1 else single
            return head + gap + _shown(text, key, value, None, newline, "") + text[ends[-1] :]
        return head + newline + base + _shown(text, key, value, step, newline, base) + text[ends[-1] :]
    inside = text[container.start + 1 : container.end - 1]
    line = _line_indent(text, container.start)
    if "\n" not in text.strip() and not ("\n" in inside and not text[: container.start].strip(_BLANK)):
        if text.strip(_BLANK) in ("{}", "[]"):  # the whole document is empty: there is no style to follow
            line = ""
        else:
            return text[: container.start + 1] + _shown(text, key, value, None, newline, "") + text[container.end - 1 :]
    base = line + step
    shown = newline + base + _shown(text, key, value, step, newline, base) + newline + line
    return text[: container.start + 1] + shown + text[container.end - 1 :]


def replace(text: str, node: Node, value: Any) -> str:
    """``text`` with ``value`` in the node's place."""
    base = _own_line(text, node.start)
    newline = "\r\n" if "\r\n" in text else "\n"
    step = None if base is None and "\n" not in text[node.start : node.end] else _step(text)
    shown = _shown(text, None, value, step, newline, _line_indent(text, node.start))
    return text[: node.start] + shown + text[node.end :]


def remove(text: str, container: Node, index: int) -> str:
    """``text`` without the item or member ``index``: the exact reverse of ``append`` for the last of several."""
    starts = [start for _, start, _ in container.members] or [node.start for node in container.items]
    ends = [node.end for _, _, node in container.members] or [node.end for node in container.items]
    if len(starts) == 1:
        return text[: container.start + 1] + text[container.end - 1 :]
    if index == len(starts) - 1:
        return text[: ends[index - 1]] + text[ends[index] :]
    return text[: starts[index]] + text[starts[index + 1] :]


def _shown(text: str, key: str | None, value: Any, step: str | None, newline: str, base: str) -> str:
    tight = step is None and _tight(text)
    gap = ":" if tight else ": "
    if step is None:
        shown = json.dumps(value, ensure_ascii=False, separators=(",", ":") if tight else (", ", ": "))
    else:
        shown = json.dumps(value, ensure_ascii=False, indent=step).replace("\n", newline + base)
    return shown if key is None else json.dumps(key, ensure_ascii=False) + gap + shown


def _tight(text: str) -> bool:
    """Whether no colon in the file has a blank behind it."""
    return '": ' not in text and '":' in text


def _own_line(text: str, at: int) -> str | None:
    """The blanks in front of what stands at ``at``; None when something else is in front of it on its line."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if "\n" in text[:at] and not before.strip() else None


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """One level of the file's own indentation; two blanks where it has none."""
    found = re.search(r"[{\[][ \t]*\r?\n([ \t]+)\S", text)
    return found.group(1) if found and not text[: found.start()].strip(_BLANK) else _any_step(text)


def _any_step(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return ("\t" if found.group(1).startswith("\t") else found.group(1)[:8]) if found else "  "
