"""A shell line's parsed tree as plain values, for ``jevhook explain``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..shell import tree
from ..shell.parse import Unreadable, read

MAX_NODES = 300
MAX_DEPTH = 30


def plain(text: str) -> dict[str, Any] | None:
    """{"kind", "text", "span", "children"} (and "after": what joins a node to the one before), None for what no shell
    reads.  ``kind``: command, pipeline, sequence, group, subshell, for, while, until, select, branch, function, test,
    substitution.  More than MAX_NODES nodes, or what is nested deeper than MAX_DEPTH, are left out.
    """
    try:
        root = read(text)
    except Unreadable:
        return None
    left = [MAX_NODES]

    def made(node: tree.Node, depth: int, after: str = "", kind: str = "") -> dict[str, Any]:
        left[0] -= 1
        out: dict[str, Any] = {
            "kind": kind or _kind(node),
            "text": text[node.start : node.end].strip(),
            "span": [node.start, node.end],
            "children": [],
        }
        if after:
            out["after"] = after
        if depth < MAX_DEPTH:
            for joined, child in _children(node, text):
                if left[0] <= 0:
                    break
                inner = _alone(child)
                name = "substitution" if joined == "$(" and not isinstance(inner, tree.Command) else ""
                out["children"].append(made(inner, depth + 1, joined, name))
        return out

    return made(_alone(root), 0)


def _alone(node: tree.Node) -> tree.Node:
    """A sequence of one is that one."""
    while isinstance(node, tree.Sequence) and len(node.items) == 1:
        node = node.items[0]
    return node


def _kind(node: tree.Node) -> str:
    if isinstance(node, tree.Group):
        return "subshell" if node.subshell else "group"
    return node.kind if isinstance(node, tree.Loop) else type(node).__name__.lower()


def _children(node: tree.Node, text: str) -> Iterator[tuple[str, tree.Node]]:
    """(what joins it to the one before, node)."""
    if isinstance(node, tree.Sequence):
        for at, item in enumerate(node.items):
            before = node.ops[at - 1] if at and at - 1 < len(node.ops) else ""
            yield (before if before != "\n" else ";"), item
    elif isinstance(node, tree.Pipeline):
        for at, stage in enumerate(node.stages):
            yield ("|" if at else ""), stage
    elif isinstance(node, tree.Branch):
        yield from (("", body) for body in node.bodies)
    elif isinstance(node, (tree.Group, tree.Loop, tree.Function)):
        if isinstance(node, tree.Loop) and node.condition is not None:
            yield "", node.condition
        yield "", node.body
    words: list[Any] = []
    if isinstance(node, tree.Command):
        words = [*node.words, *(word for _, word, _ in node.assigns), *(one.word for one in node.redirects)]
    elif isinstance(node, (tree.Test, tree.Branch)):
        words = list(node.words)
    for word in words:
        for part in word:
            # A body read out of backquotes has offsets of its own: what stands before the others says that they have not.
            if part[0] in ("c", "p") and text[max(0, part[1].start - 2) : part[1].start] in ("$(", "<(", ">("):
                yield "$(" if part[0] == "c" else f"{part[2]}(", part[1]


def hang(root: dict[str, Any], parts: list[dict[str, Any]]) -> list[int]:
    """Name in each node's ``parts`` which of ``parts`` are about it and no node below it; the numbers left over."""
    over = []
    for number, part in enumerate(parts):
        span = part.get("span")
        if not span or not _holds(root, span):
            over.append(number)
            continue
        node = root
        while inner := next((child for child in node["children"] if _holds(child, span)), None):
            node = inner
        node.setdefault("parts", []).append(number)
    return over


def _holds(node: dict[str, Any], span: list[int]) -> bool:
    start, end = node["span"]
    return bool(start <= span[0] and span[1] <= end)
