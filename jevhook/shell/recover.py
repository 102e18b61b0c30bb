"""Reading a line that no shell would accept, as far as it makes sense.

A shell that meets a syntax error runs nothing of that line in ``bash -c`` form, but an interactive shell, another
dialect (zsh, fish) or an agent's own wrapper may.  So catastrophes must still stop: tree-sitter-bash, which is built
for broken input, names the commands it finds; where it is not installed, and for every line of the text, the words
are re-read as simple commands with the offending quote or bracket taken for an ordinary character.
"""

from __future__ import annotations

from .parse import Unreadable, read
from .tree import Node, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_PIECES = 400  # what tree-sitter finds; the plain reading is linear and has no bound of its own
MAX_TREE = 4_000  # characters: tree-sitter's own recovery is quadratic, 0.2 s here and 65 s for 100 KB of "a=("


def recover(text: str) -> Sequence:
    """Whatever commands can be made out, in order.  Never raises."""
    items: list[Node] = []
    seen: set[str] = set()
    for piece in [*_tree_pieces(text), *plain_pieces(text)]:
        if piece in seen:
            continue
        seen.add(piece)
        try:
            body = read(piece)
        except Unreadable:
            continue
        for item in body.items:
            item.start, item.end = 0, len(text)
            items.append(item)
    return Sequence(0, len(text), items, [";"] * len(items))


def _tree_pieces(text: str) -> list[str]:
    """The source texts of the commands that tree-sitter finds, outermost first."""
    parser = bash_parser()
    if parser is None or len(text) > MAX_TREE:
        return []
    source = text.encode("utf-8", "replace")
    pieces: list[str] = []
    todo = [parser.parse(source).root_node]
    while todo and len(pieces) < MAX_PIECES:
        node = todo.pop()
        if node.type in ("command", "redirected_statement", "declaration_command") and not node.has_error:
            pieces.append(source[node.start_byte : node.end_byte].decode("utf-8", "replace"))
            continue
        todo.extend(reversed(node.children))
    return pieces


def bash_parser() -> Any:
    """A tree-sitter parser for bash, or None where the grammar is not installed."""
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


_LEADING = ("then ", "else ", "do ", "if ", "elif ", "while ", "until ", "! ", "time ")


def plain_pieces(text: str) -> list[str]:
    """The text cut at line ends and operators outside quotes, with an unmatched quote taken as a character."""
    pieces: list[str] = []
    for line in text.split("\n"):
        start = i = 0
        quote = ""
        while i < len(line):
            c = line[i]
            if quote:
                if c == quote:
                    quote = ""
            elif c in "'\"":
                if c in line[i + 1 :]:
                    quote = c
                else:
                    line = line[:i] + " " + line[i + 1 :]
            elif c in ";|&(){}`":
                pieces.append(line[start:i])
                start = i + 1
            elif c == "\\":
                i += 1
            i += 1
        pieces.append(line[start:])
    out: list[str] = []
    for piece in pieces:
        piece = piece.strip()
        while piece.startswith(_LEADING):
            piece = piece.split(" ", 1)[1].strip()
        if piece:
            out.append(piece)
    return out
