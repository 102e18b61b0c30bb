"""Which words of a line are known exactly: what a proof needs besides the findings.

The walk follows one order of events and takes the last value of a variable; a proof needs every order.
"""

from __future__ import annotations

from .tree import Branch, Command, Function, Group, Loop, Pipeline, Sequence, Test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Node, Redirect, Word

# Variables that the walk knows exactly.
_EXACT = frozenset(
    ("HOME", "PWD", "USER", "LOGNAME", "?", "#", "$", "UID", "EUID", "PPID", "RANDOM", "SECONDS", "LINENO")
)
_SETTERS = frozenset(["read", "export", "declare", "local", "typeset", "readonly", "unset", "printf"])


class Lines:
    """Which commands have words that are not known exactly (``open``: their offsets).

    A variable is ``exact`` when the line sets it once, unconditionally, to a text that stands on the line, and inside
    the loop that it belongs to; set in any other way it is ``loose``.  The walk followed one order of events only."""

    __slots__ = ("counts", "exact", "loose", "named", "open", "seen")

    def __init__(self, named: set[str], counts: bool) -> None:
        self.named = named  # every variable that the line sets somewhere
        self.counts = counts
        self.exact: set[str] = set()
        self.loose: set[str] = set()
        self.seen: set[str] = set()  # loop variables
        self.open: set[tuple[int, int]] = set()

    def node(self, node: Node, loops: frozenset[str], top: bool) -> bool:
        """False: something in ``node`` is not followed here."""
        if isinstance(node, Command):
            return self.command(node, loops, top)
        if isinstance(node, Sequence):
            for k, item in enumerate(node.items):
                always = top and (k == 0 or node.ops[k - 1] not in ("&&", "||")) and node.ops[k] != "&"
                if not self.node(item, loops, always):
                    return False
            return True
        if isinstance(node, Pipeline):
            return all(self.node(stage, loops, top and len(node.stages) == 1) for stage in node.stages)
        if isinstance(node, Group):
            return self.redirects(node.redirects, loops) and self.node(node.body, loops, top and not node.subshell)
        if isinstance(node, Loop):
            return self.loop(node, loops)
        if isinstance(node, Branch):
            words = all(self.word(word, loops) is not None for word in node.words)
            return (
                words
                and self.redirects(node.redirects, loops)
                and all(self.node(body, loops, False) for body in node.bodies)
            )
        if isinstance(node, Test):
            if (self.counts and self.loose) or any(_literal(word) for word in node.words):
                return False
            return self.redirects(node.redirects, loops) and all(
                self.word(word, loops) is not None for word in node.words
            )
        return not isinstance(node, Function)

    def redirects(self, redirects: list[Redirect], loops: frozenset[str]) -> bool:
        for redirect in redirects:
            known = self.word(redirect.word, loops)
            if known is None or (not known and redirect.op not in ("<", "<<", "<<-", "<<<")):
                return False
        return True

    def loop(self, node: Loop, loops: frozenset[str]) -> bool:
        exact = node.words is not None
        for word in node.words or []:
            known = self.word(word, loops)
            if known is None:
                return False
            exact = exact and known
        if not self.redirects(node.redirects, loops):
            return False
        if node.name:
            self.seen.add(node.name)
            if node.name in self.exact or not exact:
                self.loose.add(node.name)
            loops = loops | {node.name}
        if node.condition is not None and not self.node(node.condition, loops, False):
            return False
        return self.node(node.body, loops, False)

    def sets(self, name: str, known: bool) -> None:
        if known and name not in self.exact and name not in self.loose and name not in self.seen:
            self.exact.add(name)
        else:
            self.exact.discard(name)
            self.loose.add(name)

    def command(self, node: Command, loops: frozenset[str], top: bool) -> bool:
        if not self.redirects(node.redirects, loops):
            return False
        for name, word, append in node.assigns:
            known = self.word(word, loops)
            if known is None or (self.counts and _literal(word)):
                return False
            if not node.words:
                self.sets(name, known and top and not append)
        exact = True
        for word in node.words:
            known = self.word(word, loops)
            if known is None:
                return False
            exact = exact and known
            if any(part[0] == "A" for part in word) and node.words[0][0][1] not in _SETTERS:
                return False  # =(…) of zsh
        first = node.words[0] if node.words else []
        if not exact:
            self.open.add((node.start, node.end))
            if any(part[0] not in ("t", "q") for part in first):
                return False  # the program itself
        name = "".join(str(part[1]) for part in first if part[0] in ("t", "q"))
        if name in _SETTERS or name in ("test", "["):
            if any(_literal(word) for word in node.words):
                return False
            for word in node.words[1:] if name in _SETTERS else ():
                text = "".join(str(part[1]) for part in word if part[0] in ("t", "q"))
                self.sets(text.partition("=")[0], False)
            if name == "read":
                self.sets("REPLY", False)
        return True

    def word(self, word: Word, loops: frozenset[str]) -> bool | None:
        """True: known exactly.  False: not known, or it could become several words.  None: not followed here."""
        known = True
        begun = False
        for part in word:
            kind = part[0]
            if kind == "v":
                told = self.variable(part, loops)
                if told is None:
                    return None
                known = known and (told or (bool(part[4]) and begun))
            elif kind in ("c", "p"):
                if not self.node(part[1], loops, False):
                    return None
                known = known and kind == "c" and bool(part[2]) and begun
            elif kind == "a":
                if self.loose or any(self.word([inner], loops) is None for inner in part[1]):
                    return None
                known = False
            elif kind == "A":
                for item in part[1]:
                    told = self.word(item, loops)
                    if told is None:
                        return None
                    known = known and told
            elif kind == "t" and "(" in part[1]:
                return None
            elif not part[1]:
                continue
            begun = True
        return known

    def variable(self, part: tuple[object, ...], loops: frozenset[str]) -> bool | None:
        _, name, op, arg, _quoted = part
        assert isinstance(name, str) and isinstance(op, str)
        if op in ("!", "@", "=", ":="):
            return None
        if arg is not None:
            assert isinstance(arg, list)
            if op == ":" and any(p[0] not in ("t", "q") or str(p[1]).strip("0123456789: -") for p in arg):
                return None
            if self.word(arg, loops) is None:
                return None
        if name in self.loose or op:
            return False
        return name in loops or name in self.exact or (name in _EXACT and name not in self.named)


def _literal(word: Word) -> bool:
    """Whether a quoted text in the word holds a substitution: arithmetic would run it."""
    return any(part[0] in ("t", "q") and ("$(" in part[1] or "`" in part[1]) for part in word)
