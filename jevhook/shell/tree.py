"""What a shell line is, once it has been read: a handful of node types.

A ``Word`` is a list of parts, each a tuple whose first item says what it is:

``("t", text)``                         unquoted literal text: tilde, globs and braces in it are live
``("q", text)``                         quoted or escaped literal text
``("v", name, op, arg, quoted)``        a parameter: ``${name op arg}``; op "" for a plain ``$name``, arg a Word or None
``("c", body, quoted)``                 command substitution, body a node
``("p", body, direction)``              process substitution, direction "<" or ">"
``("a", parts)``                        arithmetic: its value is a number, its parts may hold substitutions
``("A", words)``                        an array value ``(a b c)``, only as an assignment's value
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Part: TypeAlias = tuple[Any, ...]
    Word: TypeAlias = list[Part]


class Node:
    """Base of all nodes: ``start`` and ``end`` are character offsets into the text that was read."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class Redirect:
    """``op`` is one of > >> < <> >| &> &>> >& <& << <<- <<<; ``fd`` "" when not given.

    For here-documents ``word`` is the body (already one Word) and ``quoted`` says that nothing in it is expanded.
    """

    __slots__ = ("fd", "op", "quoted", "word")

    def __init__(self, op: str, fd: str, word: Word, quoted: bool = False) -> None:
        self.op = op
        self.fd = fd
        self.word = word
        self.quoted = quoted


class Command(Node):
    """A simple command: leading assignments ``(name, Word, append)``, words, redirects."""

    __slots__ = ("assigns", "redirects", "words")

    def __init__(
        self,
        start: int,
        end: int,
        words: list[Word],
        assigns: list[tuple[str, Word, bool]],
        redirects: list[Redirect],
    ) -> None:
        self.start = start
        self.end = end
        self.words = words
        self.assigns = assigns
        self.redirects = redirects


class Pipeline(Node):
    __slots__ = ("stages",)

    def __init__(self, start: int, end: int, stages: list[Node]) -> None:
        self.start = start
        self.end = end
        self.stages = stages


class Sequence(Node):
    """Nodes one after the other; ``ops[i]`` is what stands after ``items[i]``: ; && || & or "" at the end."""

    __slots__ = ("items", "ops")

    def __init__(self, start: int, end: int, items: list[Node], ops: list[str]) -> None:
        self.start = start
        self.end = end
        self.items = items
        self.ops = ops


class Group(Node):
    """``{ … }`` (``subshell`` False) or ``( … )``, with its own redirects."""

    __slots__ = ("body", "redirects", "subshell")

    def __init__(self, start: int, end: int, body: Node, subshell: bool, redirects: list[Redirect]) -> None:
        self.start = start
        self.end = end
        self.body = body
        self.subshell = subshell
        self.redirects = redirects


class Loop(Node):
    """for, select, while, until: ``name`` and ``words`` for the first two (``words`` None means "$@")."""

    __slots__ = ("body", "condition", "kind", "name", "redirects", "words")

    def __init__(
        self,
        start: int,
        end: int,
        kind: str,
        name: str,
        words: list[Word] | None,
        condition: Node | None,
        body: Node,
        redirects: list[Redirect],
    ) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.name = name
        self.words = words
        self.condition = condition
        self.body = body
        self.redirects = redirects


class Branch(Node):
    """if and case: every branch may run, so ``bodies`` holds them all in order (conditions included)."""

    __slots__ = ("bodies", "redirects", "words")

    def __init__(self, start: int, end: int, bodies: list[Node], words: list[Word], redirects: list[Redirect]) -> None:
        self.start = start
        self.end = end
        self.bodies = bodies
        self.words = words
        self.redirects = redirects


class Function(Node):
    __slots__ = ("body", "name")

    def __init__(self, start: int, end: int, name: str, body: Node) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.body = body


class Test(Node):
    """``[[ … ]]`` and ``(( … ))``: no effect of their own, but substitutions in ``words`` run."""

    __slots__ = ("redirects", "words")

    def __init__(self, start: int, end: int, words: list[Word], redirects: list[Redirect]) -> None:
        self.start = start
        self.end = end
        self.words = words
        self.redirects = redirects
