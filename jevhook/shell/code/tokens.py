"""Languages without a parser of ours, read from tokens.

A tokeniser tells code from strings, comments and regex literals; a lenient reader of expressions then follows
constants, string building, imports and calls.  What it cannot follow it steps over, one token at a time.  Each
language is one module of tables (``LANGUAGE``) and, where its grammar needs it, a few functions.
"""

from __future__ import annotations

from .record import (
    DECODED,
    NOTHING,
    STDIN,
    Alts,
    Record,
    Ref,
    Unknown,
    concat,
    either,
    perform,
    text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .record import Span

_DEPTH = 90  # nested expressions: five Python frames each stay under the limit

_OPERATORS = (
    "===",
    "!==",
    "**=",
    "...",
    "<=>",
    "||=",
    "&&=",
    "??=",
    "//=",
    "<<=",
    ">>=",
    "=>",
    "->",
    "::",
    "?.",
    "==",
    "!=",
    "<=",
    ">=",
    "&&",
    "||",
    "??",
    "+=",
    "-=",
    "*=",
    "/=",
    ".=",
    "++",
    "--",
    "**",
    "..",
    "=~",
    "!~",
    "<<",
    ">>",
    ":=",
    "|=",
    "&=",
    "|&",
    "&.",
)
_THREE = frozenset(one for one in _OPERATORS if len(one) == 3)
_TWO = frozenset(one for one in _OPERATORS if len(one) == 2)
_CLOSE = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "a": "\a"}


class Token:
    """``kind``: i identifier, v variable with its sigil, s string, c a command string (backticks), n number,
    o operator, r regex, l new line, w list of words.  ``value``: text; for s and c a text or a list of texts and
    token lists (interpolation); for w a list of texts.  ``space``: white space stands before it."""

    __slots__ = ("end", "kind", "line", "space", "start", "value")

    def __init__(self, kind: str, value: Any, start: int, end: int, space: bool, line: bool) -> None:
        self.kind = kind
        self.value = value
        self.start = start
        self.end = end
        self.space = space
        self.line = line


class Language:
    """A language's lexical rules and its tables.

    ``quotes``    quote character -> how its string is read: raw (``\\\\`` and the quote only), none (nothing is
                  escaped), plain (escapes), js (template), and perl, php, ruby, julia (escapes and interpolation)
    ``command``   quote characters whose string is a shell line
    ``sigils``    characters that begin a variable
    ``concat``    operators that join texts; "" in it stands for two values side by side
    ``lines``     whether a new line ends a statement
    ``bare``      whether a call may leave out its parentheses; "known" for names of the tables only
    ``calls``     dotted name -> operation of record.perform, or a function (reader, args, opts, span) -> value
    ``methods``   the same for a method's name on an object that is not known (never sure)
    ``same``      names that stand for another
    ``hooks``     statement word -> function (reader) that reads it and moves the cursor
    ``blocks``    words that open a block that the word ``end`` closes
    ``literal``   function (lexer) -> token or None: quote-like literals of the language's own
    ``before``    function (reader), called where a statement begins
    ``binary``    function (reader, operator, left) -> value or None: operators that do more than compute
    ``arrow``     what stands between a function's parameters and its body in an expression
    ``inside``    function (value) -> how a value stands in a command string, where that is not as it is
    ``named``     closing brackets inside which ``name = value`` is a pair, not an assignment
    """

    def __init__(
        self,
        name: str,
        *,
        line_comments: Sequence[str] = (),
        block: tuple[str, str] | None = None,
        quotes: Mapping[str, str] = {},
        command: str = "",
        sigils: str = "",
        concat: Sequence[str] = ("+",),
        lines: bool = False,
        bare: str = "",
        regex: bool = False,
        calls: Mapping[str, Any] = {},
        methods: Mapping[str, Any] = {},
        same: Mapping[str, str] = {},
        hooks: Mapping[str, Any] = {},
        blocks: Sequence[str] = (),
        literal: Callable[[Lexer], Token | None] | None = None,
        skips: Sequence[str] = (),
        member: Sequence[str] = (".", "?."),
        value: Callable[[Reader, str], Any] | None = None,
        attribute: Callable[[Reader, Any, str], Any] | None = None,
        extra: str = "_",
        word_functions: Sequence[str] = ("function",),
        before: Callable[[Reader], None] | None = None,
        binary: Callable[[Reader, str, Any], Any] | None = None,
        named: str = "",
        arrow: str = "",
        inside: Callable[[Any], Any] | None = None,
    ) -> None:
        self.name = name
        self.line_comments = tuple(line_comments)
        self.block = block
        self.quotes = quotes
        self.command = command
        self.sigils = sigils
        self.concat = frozenset(concat)
        self.lines = lines
        self.bare = bare
        self.regex = regex
        self.calls = calls
        self.methods = methods
        self.same = same
        self.hooks = hooks
        self.blocks = frozenset(blocks)
        self.literal = literal
        self.skips = frozenset(skips)
        self.member = frozenset(member)
        self.value = value
        self.attribute = attribute
        self.extra = extra
        self.functions = frozenset(word_functions)
        self.before = before
        self.binary = binary
        self.named = named
        self.arrow = arrow
        self.inside = inside


# ---- the tokeniser


class Lexer:
    __slots__ = ("depth", "i", "language", "last", "line", "pending", "record", "size", "space", "text", "tokens")

    def __init__(self, source: str, language: Language, record: Record, start: int = 0, depth: int = 0) -> None:
        self.text = source
        self.size = len(source)
        self.language = language
        self.record = record
        self.i = start
        self.depth = depth
        self.tokens: list[Token] = []
        self.space = self.line = True
        self.pending: list[tuple[str, bool, bool, Token]] = []  # heredocs whose text starts on the next line

    def push(self, kind: str, value: Any, start: int) -> Token:
        token = Token(kind, value, start, self.i, self.space, self.line)
        self.tokens.append(token)
        self.space = self.line = False
        return token

    def run(self, until: str = "") -> list[Token]:
        """The tokens up to the end, or up to an unmatched bracket ``until`` (which is stepped over)."""
        source, size, language = self.text, self.size, self.language
        quotes, sigils, extra = language.quotes, language.sigils, language.extra
        nested = 0
        opens = "(" if until == ")" else "{"
        while self.i < size:
            c = source[self.i]
            if c == " " or c == "\t" or c == "\r":
                self.i += 1
                self.space = True
                continue
            self.record.spend()
            if c == "\n":
                self.i += 1
                if self.pending:
                    self.heredocs()
                if language.lines and self.tokens and self.tokens[-1].kind != "l":
                    self.push("l", "\n", self.i - 1)
                self.space = self.line = True
                continue
            if c == "\\" and source[self.i + 1 : self.i + 2] == "\n":
                self.i += 2
                continue
            if self.comment(c):
                continue
            start = self.i
            if language.literal is not None:
                found = language.literal(self)
                if found is not None:
                    continue
            if c.isalpha() or c in extra:
                j = start + 1
                while j < size and (source[j].isalnum() or source[j] in extra):
                    j += 1
                if language.name == "ruby" and source[j : j + 1] in ("?", "!") and source[j + 1 : j + 2] != "=":
                    j += 1
                self.i = j
                self.push("i", source[start:j], start)
                continue
            if c in sigils and self.variable(c):
                continue
            if c in quotes:
                self.string(c)
                continue
            if c.isdigit():
                j = start + 1
                while j < size and (source[j].isalnum() or source[j] == "_"):
                    j += 1
                self.i = j
                self.push("n", source[start:j], start)
                continue
            if c == "/" and language.regex and self.regex():
                continue
            if until:
                if c == opens:
                    nested += 1
                elif c == until:
                    if nested == 0:
                        self.i += 1
                        return self.tokens
                    nested -= 1
            three = source[start : start + 3]
            width = 3 if three in _THREE else 2 if three[:2] in _TWO else 1
            self.i = start + width
            self.push("o", three[:width], start)
        return self.tokens

    def comment(self, c: str) -> bool:
        block = self.language.block
        if block is not None and c == block[0][0] and self.text.startswith(block[0], self.i):
            end = self.text.find(block[1], self.i + len(block[0]))
            self.i = self.size if end < 0 else end + len(block[1])
            self.space = True
            return True
        for mark in self.language.line_comments:
            if c == mark[0] and self.text.startswith(mark, self.i):
                end = self.text.find("\n", self.i)
                self.i = self.size if end < 0 else end
                self.space = True
                return True
        return False

    def variable(self, c: str) -> bool:
        source, j = self.text, self.i + 1
        while j < self.size and source[j] in self.language.sigils and j < self.i + 3:
            j += 1
        k = j
        if source[j : j + 1] == "{" and self.language.name != "ruby":
            close = source.find("}", j, j + 80)
            name = source[j + 1 : close].strip() if close > 0 else ""
            if name.replace("_", "a").isalnum():
                start, self.i = self.i, close + 1
                self.push("v", c + name, start)
                return True
            return False
        while k < self.size and (source[k].isalnum() or source[k] == "_" or source[k : k + 2] == "::"):
            k += 2 if source[k] == ":" else 1
        if k == j:
            if c in "%&":
                return False  # an operator
            if (source[k : k + 1] and source[k] in "_!@/0&,;.^\\?<>$*~" and c == "$") or (
                c == "$" and source[k : k + 1] == "#"
            ):
                k += 1
            else:
                return False
        elif c in "%&" and self.tokens and (self.tokens[-1].kind in "vns" or self.tokens[-1].value in (")", "]")):
            return False
        start, self.i = self.i, k
        self.push("v", source[start:k], start)
        return True

    def regex(self) -> bool:
        """A regex literal, where one may stand."""
        if self.tokens:
            before = self.tokens[-1]
            if before.kind in "nsvrwc" or (before.kind == "o" and before.value in (")", "]", "}")):
                return False
            if (
                before.kind == "i"
                and before.value
                not in (
                    "return",
                    "typeof",
                    "case",
                    "in",
                    "of",
                    "delete",
                    "void",
                    "throw",
                    "if",
                    "unless",
                    "when",
                    "and",
                    "or",
                    "not",
                    "split",
                    "grep",
                    "map",
                    "while",
                    "puts",
                    "print",
                )
                and not (self.language.name == "ruby" and self.space and self.text[self.i + 1 : self.i + 2] not in " =")
            ):
                return False
        j, inside = self.i + 1, False
        source = self.text
        while j < self.size and source[j] != "\n":
            c = source[j]
            if c == "\\":
                j += 1
            elif c == "[":
                inside = True
            elif c == "]":
                inside = False
            elif c == "/" and not inside:
                break
            j += 1
        if j >= self.size or source[j] != "/":
            return False
        j += 1
        while j < self.size and source[j].isalpha():
            j += 1
        start, self.i = self.i, j
        self.push("r", source[start:j], start)
        return True

    def string(self, c: str) -> None:
        start = self.i
        mode = self.language.quotes[c]
        if mode == "python":
            self.python_string(c)
            return
        self.i += 1
        value = self.quoted(c, "", mode)
        self.push("c" if c in self.language.command else "s", value, start)

    def python_string(self, c: str) -> None:
        start = self.i
        triple = self.text.startswith(c * 3, start)
        close = c * 3 if triple else c
        prefix = self.tokens[-1] if self.tokens and not self.space and self.tokens[-1].kind == "i" else None
        raw = prefix is not None and "r" in prefix.value.lower() and len(prefix.value) < 3
        j = start + len(close)
        out: list[str] = []
        while j < self.size and not self.text.startswith(close, j):
            if self.text[j] == "\n" and not triple:
                break
            if self.text[j] == "\\" and not raw:
                j += 1
                out.append(_ESCAPES.get(self.text[j : j + 1], self.text[j : j + 1]))
            else:
                out.append(self.text[j])
            j += 1
        self.i = min(self.size, j + len(close))
        if prefix is not None and len(prefix.value) < 3 and set(prefix.value.lower()) <= set("rbuf"):
            self.tokens.pop()
            if "f" in prefix.value.lower():
                joined = "".join(out)
                self.push("s", joined.split("{")[0] + "\0" if "{" in joined else joined, start)
                return
        self.push("s", "".join(out), start)

    def quoted(self, close: str, opens: str, mode: str) -> Any:
        """A string's value, the cursor being inside it; ``opens`` is a bracket that nests."""
        source, size = self.text, self.size
        parts: list[Any] = []
        now: list[str] = []
        level = 0
        while self.i < size:
            c = source[self.i]
            if c == close and level == 0:
                break
            if opens and c == opens:
                level += 1
            elif opens and c == close:
                level -= 1
            if c == "\\" and mode != "none":
                after = source[self.i + 1 : self.i + 2]
                if mode == "raw":
                    if after in ("\\", close):
                        now.append(after)
                    else:
                        now.append("\\" + after)
                    self.i += 2
                else:
                    self.escape(after, now)
                continue
            if c in "\1\2":
                c = "\0"
            if (c == "$" or c == "#" or c == "@" or c == "{") and mode in ("js", "perl", "php", "ruby", "julia"):
                found = self.interpolated(c, mode)
                if found is not None:
                    if now:
                        parts.append("".join(now))
                        now = []
                    parts.append(found)
                    continue
                c = source[self.i]
            now.append(c)
            self.i += 1
        self.i = min(size, self.i + len(close))
        if not parts:
            return "".join(now)
        if now:
            parts.append("".join(now))
        return parts

    def escape(self, after: str, now: list[str]) -> None:
        source, i = self.text, self.i
        if after == "x" or after == "u":
            if source[i + 2 : i + 3] == "{":
                close = source.find("}", i + 3, i + 12)
                digits = source[i + 3 : close] if close > 0 else ""
                end = close + 1 if close > 0 else i + 2
            else:
                width = 2 if after == "x" else 4
                digits = source[i + 2 : i + 2 + width]
                end = i + 2 + len(digits)
            try:
                code = int(digits, 16)
                now.append(chr(code) if 2 < code < 0x110000 else "\0")
                self.i = end
            except ValueError:
                now.append(after)
                self.i += 2
            return
        if after.isdigit() and after in "01234567":
            j = i + 1
            while j < i + 4 and source[j : j + 1] in tuple("01234567"):
                j += 1
            code = int(source[i + 1 : j], 8)
            now.append(chr(code) if code > 2 else "\0")
            self.i = j
            return
        if after != "\n":
            now.append(_ESCAPES.get(after, after))
        self.i += 2

    def interpolated(self, c: str, mode: str) -> list[Token] | None:
        """The tokens of an interpolation that begins here, or None where this is only text."""
        source, i = self.text, self.i
        after = source[i + 1 : i + 2]
        if (mode == "js" and c == "$" and after == "{") or (mode == "ruby" and c == "#" and after == "{"):
            return self.inner(i + 2)
        if mode == "julia" and c == "$":
            if after == "(":
                return self.inner(i + 2, ")")
            return self.named(i) if after.isalpha() or after == "_" else None
        if mode == "php":
            if c == "{" and after == "$":
                return self.inner(i + 1)
            if c != "$" or not (after.isalpha() or after in ("_", "{")):
                return None
            return self.named(i)
        if mode == "perl":
            if c == "@" and after == "{" and source[i + 2 : i + 3] == "[":
                return self.inner(i + 2)
            if c == "$" and after == "{":
                return self.named(i)
            if c in "$@" and (after.isalpha() or after == "_" or (c == "$" and after.isdigit())):
                return self.named(i)
            if c == "$" and after in ("0", "!", "@", "&"):
                self.i += 2
                return []
        return None

    def inner(self, start: int, close: str = "}") -> list[Token]:
        if self.depth > 12:
            self.record.understood = False
            end = self.text.find(close, start)
            self.i = self.size if end < 0 else end + 1
            return []
        lexer = Lexer(self.text, self.language, self.record, start, self.depth + 1)
        tokens = lexer.run(close)
        self.i = max(lexer.i, self.i + 1)
        return tokens

    def named(self, start: int) -> list[Token]:
        """``$name``, ``${name}``, ``$name[0]``, ``$name{key}``, ``$name->{key}`` inside a string."""
        source = self.text
        j = start + 1
        braced = source[j : j + 1] == "{"
        if braced:
            close = source.find("}", j, j + 200)
            if close < 0:
                self.i = start + 2
                return []
            name = source[j + 1 : close].strip()
            j = close + 1
        else:
            k = j
            while k < self.size and (source[k].isalnum() or source[k] == "_"):
                k += 1
            name = source[j:k]
            j = k
        name = name.lstrip("$")
        if self.language.name == "julia":
            self.i = j
            return [Token("i", name, start, j, False, False)]
        tokens = [Token("v", source[start] + name, start, j, False, False)]
        for _ in range(3):
            k = j + 2 if source.startswith("->", j) else j
            opener = source[k : k + 1]
            if opener in ("[", "{") and (opener == "[" or self.language.name == "perl"):
                close = source.find(_CLOSE[opener], k, k + 120)
                if close < 0:
                    break
                key = source[k + 1 : close]
                lexer = Lexer(key, self.language, self.record, 0, self.depth + 1) if self.depth < 12 else None
                tokens.append(Token("o", opener, k, k + 1, False, False))
                if lexer is not None:
                    tokens.extend(lexer.run())
                tokens.append(Token("o", _CLOSE[opener], close, close + 1, False, False))
                j = close + 1
            elif k > j and self.language.name == "php" and opener.isalpha():
                close = k
                while close < self.size and (source[close].isalnum() or source[close] == "_"):
                    close += 1
                tokens.append(Token("o", "->", j, k, False, False))
                tokens.append(Token("i", source[k:close], k, close, False, False))
                j = close
            else:
                break
        self.i = j
        return tokens

    def heredoc(self, tag: str, indented: bool, mode: str, start: int, command: bool = False) -> Token:
        token = self.push("c" if command else "s", "", start)
        self.pending.append((tag, indented, mode == "raw", token))
        return token

    def heredocs(self) -> None:
        for tag, indented, raw, token in self.pending:
            begin = self.i
            while True:
                end = self.text.find("\n", self.i)
                line = self.text[self.i : self.size if end < 0 else end]
                word = line.strip() if indented else line.rstrip("\r")
                if word.rstrip(";,)") == tag or (end < 0):
                    body = self.text[begin : self.i]
                    if end < 0 and word.rstrip(";,)") != tag:
                        body = self.text[begin:]
                        self.i = self.size
                    elif word != tag:
                        self.i += line.index(tag) + len(tag)
                    else:
                        self.i = self.size if end < 0 else end
                    break
                self.i = end + 1
                self.record.spend()
            if raw or self.depth > 12:
                token.value = body
            else:
                mode = {"perl": "perl", "php": "php", "ruby": "ruby"}.get(self.language.name, "plain")
                inside = Lexer(body, self.language, self.record, 0, self.depth + 1)
                token.value = inside.quoted("\0\0", "", mode)
        self.pending = []


# ---- the reader


class Body:
    """A function of the code that is read: where its body stands."""

    __slots__ = ("active", "acts", "defaults", "end", "match", "name", "params", "ran", "start", "tokens")

    def __init__(self, name: str, params: list[str], reader: Reader, start: int, end: int) -> None:
        self.name = name
        self.params = params
        self.defaults: dict[str, int] = {}  # where the value of a parameter that is not given stands
        self.tokens = reader.tokens
        self.match = reader.match
        self.start = start
        self.end = min(end, len(reader.tokens))
        self.active = False
        self.acts = False
        self.ran = 0


class _TooDeep(Exception):
    pass


class Reader:
    __slots__ = (
        "bodies",
        "depth",
        "feed",
        "i",
        "language",
        "level",
        "levels",
        "match",
        "methods",
        "record",
        "result",
        "tokens",
        "vars",
        "words",
    )

    def __init__(self, record: Record, language: Language, tokens: list[Token]) -> None:
        self.record = record
        self.language = language
        self.tokens = tokens
        self.match = pair(tokens, language)
        self.i = 0
        self.depth = 0
        self.level = 0
        self.vars: dict[str, Any] = {}
        self.levels: dict[str, int] = {}
        self.bodies: list[Body] = []
        self.methods: dict[str, Body] = {}
        self.words: dict[str, int] = {}
        self.feed: Any = None
        self.result: Any = NOTHING
        for token in tokens:
            if token.kind == "i":
                self.words[token.value] = self.words.get(token.value, 0) + 1

    # ---- cursor

    def peek(self, ahead: int = 0) -> Token | None:
        place = self.i + ahead
        return self.tokens[place] if 0 <= place < len(self.tokens) else None

    def op(self, *values: str) -> bool:
        """Whether the cursor stands on one of these operators."""
        token = self.tokens[self.i] if self.i < len(self.tokens) else None
        return token is not None and token.kind == "o" and token.value in values

    def word(self, *values: str) -> bool:
        token = self.tokens[self.i] if self.i < len(self.tokens) else None
        return token is not None and token.kind == "i" and token.value in values

    def eat(self, value: str) -> bool:
        if self.op(value):
            self.i += 1
            return True
        return False

    def span(self, first: int) -> Span:
        start = self.tokens[min(first, len(self.tokens) - 1)].start
        end = self.tokens[min(max(self.i - 1, first), len(self.tokens) - 1)].end
        return start, max(start, end)

    # ---- names

    def get(self, name: str) -> Any:
        if name in self.vars:
            return self.vars[name]
        if self.language.value is not None:
            found = self.language.value(self, name)
            if found is not None:
                return found
        return Ref(self.language.same.get(name, name))

    def set(self, name: str, value: Any) -> None:
        """A variable gets a value; deeper in a block than it was first set, it may also keep the old one."""
        if not name or len(self.vars) > 20_000:
            return
        if name in self.vars and self.level > self.levels.get(name, 0):
            value = either(self.vars[name], value)
        else:
            self.levels.setdefault(name, self.level)
        self.vars[name] = value

    # ---- statements

    def walk(self, end: int) -> None:
        """Statements up to a place."""
        tokens = self.tokens
        while self.i < end:
            before = self.i
            self.record.spend()
            token = tokens[self.i]
            try:
                self.statement(token, end)
            except _TooDeep:
                # Whatever was not reached is read flat from where it got stuck: nothing is skipped, nothing twice.
                self.record.understood = False
                self.depth = 0
            if self.i <= before:
                self.i = before + 1

    def statement(self, token: Token, end: int) -> None:
        if self.language.before is not None:
            self.language.before(self)
        if token.kind == "o":
            if token.value == "{":
                self.level += 1
                self.i += 1
                return
            if token.value == "}":
                self.level = max(0, self.level - 1)
                self.i += 1
                return
            if token.value in (";", ",", ")", "]", ":"):
                self.i += 1
                return
        elif token.kind == "l":
            self.i += 1
            return
        elif token.kind == "i":
            after = self.peek(1)
            hook = self.language.hooks.get(token.value)
            if hook is not None and not (after is not None and after.kind == "o" and after.value in (".", "=", ":")):
                hook(self)
                return
            if token.value in self.language.skips:
                self.i += 1
                return
            if token.value in self.language.functions and self.function():
                return
            if after is not None and after.kind == "o" and after.value == "(" and self.language.name == "node":
                close = self.match.get(self.i + 1, -1)
                if 0 < close < len(self.tokens) - 1 and self.tokens[close + 1].value == "{":
                    body = self.body(token.value, self.params(self.i + 1, close), close + 1)
                    self.methods.setdefault(token.value, body)
                    return
        self.expression()

    def params(self, opening: int, close: int) -> list[str]:
        """Parameter names between two parentheses."""
        out: list[str] = []
        fresh = True
        for place in range(opening + 1, min(close, opening + 120)):
            token = self.tokens[place]
            if token.kind == "o" and token.value == ",":
                fresh = True
            elif token.kind == "o" and token.value == ";":
                fresh = self.language.name == "julia"
            elif fresh and token.kind in "iv":
                out.append(token.value)
                fresh = self.language.name == "php" and token.kind == "i"
                if fresh:
                    out.pop()
        return out

    def defaults(self, opening: int, close: int) -> dict[str, int]:
        """Where the values stand that parameters have when they are not given."""
        out: dict[str, int] = {}
        if ")" in self.language.named:
            for place in range(opening + 1, min(close, opening + 120) - 1):
                name, before = self.tokens[place], self.tokens[place - 1]
                if name.kind == "i" and self.tokens[place + 1].value == "=" and before.value in ("(", ",", ";", "\n"):
                    out[name.value] = place + 2
        return out

    def body(self, name: str, params: list[str], opening: int) -> Body:
        """A function whose block opens at a place; the cursor moves behind it."""
        close = self.match.get(opening, len(self.tokens))
        made = Body(name, params, self, opening + 1, close)
        self.bodies.append(made)
        self.i = min(close + 1, len(self.tokens))
        return made

    def function(self) -> Body | None:
        """``function name(params) { … }`` and its kin, the cursor being on the word."""
        start = self.i
        place = start + 1
        name = ""
        while place < len(self.tokens) and place < start + 8:
            token = self.tokens[place]
            if token.kind == "i" and token.value not in ("use",):
                name = token.value
            elif token.kind == "o" and token.value == "(":
                close = self.match.get(place, -1)
                if close < 0:
                    return None
                after = close + 1
                if self.language.name == "r":  # whose functions need no braces: the next ones would be another's
                    while after < len(self.tokens) and self.tokens[after].kind == "l":
                        after += 1
                    if after < len(self.tokens) and self.tokens[after].value != "{":
                        params = self.params(place, close)
                        self.i = after
                        made = self.arrow(params)
                        made.defaults = self.defaults(place, close)
                        return made
                while after < len(self.tokens) and after < close + 24 and self.tokens[after].value != "{":
                    if self.tokens[after].value in (";", "}"):
                        return None
                    after += 1
                if after >= len(self.tokens) or self.tokens[after].value != "{":
                    return None
                made = self.body(name, self.params(place, close), after)
                made.defaults = self.defaults(place, close)
                if name:
                    self.vars[name] = made
                    self.methods.setdefault(name, made)
                return made
            elif token.kind == "o" and token.value not in ("*", "&", ".", ":", "?"):
                return None
            place += 1
        return None

    def call_body(self, body: Body, args: Sequence[Any]) -> Any:
        body.ran += 1
        if body.active or body.ran > (60 if body.acts else 8) or self.depth > _DEPTH - 25:
            return NOTHING
        found = len(self.record.acts)
        saved = {name: self.vars.get(name) for name in body.params}
        at, tokens, match = self.i, self.tokens, self.match
        level, depth, result = self.level, self.depth, self.result
        body.active = True
        was = self.vars.get("@_")
        try:
            self.depth += 6
            self.vars["@_"] = list(args)
            named = args[-1] if args and isinstance(args[-1], dict) and ")" in self.language.named else {}
            plain = list(args[:-1]) if named else args
            self.tokens, self.match = body.tokens, body.match
            free = iter(plain)
            for name in body.params:
                if name in named:
                    self.vars[name] = named[name]
                elif (value := next(free, None)) is not None:
                    self.vars[name] = value
                elif name in body.defaults:
                    self.i = body.defaults[name]
                    self.vars[name] = self.expression()
                else:
                    self.vars[name] = NOTHING
            self.i, self.result = body.start, NOTHING
            self.level += 1
            self.walk(body.end)
            return self.result
        finally:
            body.active = False
            body.acts = body.acts or len(self.record.acts) > found
            self.i, self.tokens, self.match = at, tokens, match
            self.level, self.depth, self.result = level, depth, result
            for name, old in saved.items():
                if old is None:
                    self.vars.pop(name, None)
                else:
                    self.vars[name] = old
            if was is not None:
                self.vars["@_"] = was

    def leftovers(self) -> None:
        """Functions that nothing here called: read where something else names them."""
        place = 0
        while place < len(self.bodies):
            body = self.bodies[place]
            place += 1
            if body.ran or (body.name and self.words.get(body.name, 0) < 2):
                continue
            self.record.sure = False
            names = dict(self.vars)  # what one of them leaves behind is nothing to the next
            self.record.spend(len(names) >> 4)
            try:
                self.call_body(body, [])
            finally:
                self.record.sure = True
                self.vars = names

    # ---- expressions

    def expression(self) -> Any:
        """A value, with its operators; the cursor moves behind it."""
        self.depth += 1
        if self.depth > _DEPTH:
            raise _TooDeep
        try:
            return self._expression()
        finally:
            self.depth -= 1

    def _expression(self) -> Any:
        language = self.language
        value = self.operand()
        while True:
            token = self.peek()
            if token is None:
                return value
            self.record.spend()
            if token.kind == "i":
                word = token.value
                if word in ("or", "and", "xor") and language.name in ("perl", "ruby", "php", "lua"):
                    if language.name != "lua":
                        return value
                    self.i += 1
                    right = self.operand()
                    value = either(value, right) if word == "or" else right
                    continue
                if (
                    word in ("instanceof", "in", "is", "as", "eq", "ne", "lt", "gt", "x", "not")
                    and language.name != "awk"
                ):
                    if word == "in" and language.name not in ("node", "pytokens"):
                        return value
                    self.i += 1
                    right = self.operand()
                    value = value if word == "as" else NOTHING
                    continue
                if "" in language.concat and token.value not in language.hooks and not token.line:
                    value = concat(value, self.operand())
                    continue
                return value
            if token.kind in "svnc" and "" in language.concat:
                value = concat(value, self.operand())
                continue
            if token.kind != "o":
                return value
            mark = token.value
            if mark in language.concat:
                self.i += 1
                right = self.operand()
                if isinstance(value, list) and isinstance(right, list):
                    value = [*value, *right][:2_000]
                elif isinstance(value, int) and isinstance(right, int):
                    value = value + right if mark == "+" else NOTHING
                elif isinstance(value, Unknown) and value.origin and not isinstance(right, str):
                    pass
                else:
                    value = concat(value, right)
                continue
            if mark == "?":
                self.i += 1
                one = self.expression()
                if self.eat(":"):
                    value = either(one, self.expression())
                else:
                    value = NOTHING
                continue
            if mark in ("||", "??", "//"):
                self.i += 1
                right = self.operand()
                value = (
                    value
                    if isinstance(value, str) and value.strip("\0") and "\0" not in value
                    else either(value, right)
                )
                if isinstance(value, Alts):
                    value = either(*[one for one in value.values if not isinstance(one, Ref)] or [NOTHING])
                continue
            if mark == "&&":
                self.i += 1
                value = self.operand()
                continue
            if mark == "=>" or mark == ":" or mark == "," or mark == "=":
                return value
            if language.binary is not None:
                found = language.binary(self, mark, value)
                if found is not None:
                    value = found
                    continue
            if mark == "$" and "" in language.concat:
                value = concat(value, self.operand())
                continue
            if mark in _BINARY:
                self.i += 1
                self.operand()
                value = NOTHING
                continue
            return value

    def operand(self) -> Any:
        """A value without binary operators: prefix, primary, members, calls, assignment."""
        self.depth += 1
        if self.depth > _DEPTH:
            raise _TooDeep
        try:
            first = self.i
            token = self.peek()
            if token is None:
                return NOTHING
            self.record.spend()
            if token.kind == "o":
                if token.value in _PREFIX:
                    self.i += 1
                    value = self.operand()
                    if token.value == "-" and isinstance(value, int):
                        return -value
                    return value if token.value in ("...", "*", "**", "&", "\\", "@", "+", "<", "::") else NOTHING
                if token.value not in ("(", "[", "{", "->"):
                    return NOTHING
            elif token.kind == "i" and token.value in _WORD_PREFIX:
                self.i += 1
                return self.operand()
            name = ""
            value = NOTHING
            kind = token.kind
            if kind == "i":
                value, name = self.identifier(token)
            elif kind == "v":
                self.i += 1
                name = token.value
                value = self.get(name)
            elif kind == "s":
                self.i += 1
                value = self.string(token)
            elif kind == "c":
                self.i += 1
                value = self.command(token, first)
            elif kind == "n":
                self.i += 1
                value = number(token.value)
            elif kind == "w":
                self.i += 1
                value = list(token.value)
            elif kind == "r":
                self.i += 1
                value = Ref("regex")
            elif kind == "o":
                value = self.group(token)
            else:
                return NOTHING
            return self.postfix(value, name, first)
        finally:
            self.depth -= 1

    def string(self, token: Token, inside: Callable[[Any], Any] | None = None) -> Any:
        if isinstance(token.value, str):
            return token.value
        out: Any = ""
        for part in token.value:
            if isinstance(part, str):
                out = concat(out, part)
            else:
                value = self.aside(part)
                out = concat(out, value if inside is None else inside(value))
        return out

    def aside(self, tokens: list[Token]) -> Any:
        """The value of tokens that stand apart: an interpolation."""
        if not tokens:
            return NOTHING
        saved = self.tokens, self.match, self.i
        self.tokens, self.i = tokens, 0
        self.match = pair(tokens, self.language)
        try:
            value = self.expression()
            if self.i < len(tokens):
                self.walk(len(tokens))
            if isinstance(value, Ref) and value.name == "process.env":
                self.record.add("env", "", (tokens[0].start, tokens[-1].end))
            return value
        finally:
            self.tokens, self.match, self.i = saved

    def command(self, token: Token, first: int) -> Any:
        line = self.string(token, self.language.inside)
        return perform(self.record, "shell", [line], {}, (token.start, token.end))

    def identifier(self, token: Token) -> tuple[Any, str]:
        name = token.value
        language = self.language
        if name in language.functions:
            made = self.function()
            if made is not None:
                return made, ""
        after = self.peek(1)
        hook = language.hooks.get("=" + name)
        if hook is not None:
            return hook(self), ""
        self.i += 1
        if after is not None and after.kind == "o" and after.value == language.arrow:
            self.i += 1
            return self.arrow([name]), ""
        return self.get(name), name

    def arrow(self, params: list[str]) -> Body:
        """An arrow function's body, the cursor being behind the arrow."""
        if self.op("{"):
            return self.body("", params, self.i)
        while self.i < len(self.tokens) and self.tokens[self.i].kind == "l":
            self.i += 1
        start = self.i
        depth = 0
        place = start
        while place < len(self.tokens):
            token = self.tokens[place]
            if token.kind == "o":
                if token.value in ("(", "[", "{"):
                    jump = self.match.get(place)
                    place = jump + 1 if jump is not None else place + 1
                    continue
                if token.value in (")", "]", "}", ",", ";") and depth == 0:
                    break
            if token.kind == "l" and place > start:
                break
            if token.line and place > start and token.kind == "i" and self.tokens[place - 1].kind != "o":
                break
            place += 1
        self.record.spend((place - start) >> 3)
        made = Body("", params, self, start, place)
        self.bodies.append(made)
        self.i = place
        return made

    def group(self, token: Token) -> Any:
        """``( … )``, ``[ … ]``, ``{ … }``, the cursor being on the bracket."""
        first = self.i
        language = self.language
        if token.value == "(":
            close = self.match.get(first, -1)
            if language.arrow and 0 < close < len(self.tokens) - 1:
                after = close + 1
                if self.tokens[after].value == ":" and language.name == "node":  # a TypeScript return type
                    for place in range(after, min(after + 8, len(self.tokens))):
                        if self.tokens[place].value == language.arrow:
                            after = place
                            break
                if self.tokens[after].value == language.arrow:
                    params = self.params(first, close)
                    self.i = after + 1
                    return self.arrow(params)
            self.i += 1
            values, _ = self.sequence(")")
            if language.name in ("perl", "ruby", "julia") and len(values) != 1:
                return values
            return values[-1] if values else NOTHING
        if token.value == "[":
            self.i += 1
            values, opts = self.sequence("]")
            return opts if opts and not values else [*values, opts] if opts else values
        if token.value == "->":
            self.i += 1
            return NOTHING
        return self.braces()

    def braces(self) -> Any:
        """An object, hash or table."""
        self.i += 1
        values, opts = self.sequence("}")
        if values and not opts and self.language.name == "lua":
            return values
        return opts

    def sequence(self, close: str) -> tuple[list[Any], dict[str, Any]]:
        """Comma-separated values and key-value pairs up to a bracket, which is stepped over."""
        values: list[Any] = []
        opts: dict[str, Any] = {}
        tokens = self.tokens
        while self.i < len(tokens):
            before = self.i
            token = tokens[self.i]
            self.record.spend()
            if token.kind == "o" and token.value == close:
                self.i += 1
                return values, opts
            if token.kind == "o" and token.value in (")", "]", "}"):
                return values, opts  # not ours: leave it to whoever opened it
            if token.kind == "l" or (token.kind == "o" and token.value in (",", ";")):
                self.i += 1
                continue
            key = self.key(close)
            if key is not None:
                value = self.pair_value(close, key)
                if len(opts) < 2_000:
                    opts[key] = value
                continue
            spread = token.kind == "o" and token.value in ("...", "*")
            value = self.expression()
            after = self.peek()
            if (after is not None and after.kind == "o" and after.value in ("=>", ":") and close != ")") or self.op(
                "=>"
            ):
                self.i += 1
                name = text(value)
                opts[name] = self.expression()
                continue
            if spread:
                if isinstance(value, list):
                    values.extend(value[:500])
                elif isinstance(value, dict):
                    opts.update(value)
                elif close == ")":
                    values.append(value)
            elif self.i == before:
                self.statement(token, len(tokens))  # a block that stands where a value would
                if self.i == before:
                    self.i += 1
            elif len(values) < 5_000:
                values.append(value)
        return values, opts

    def key(self, close: str) -> str | None:
        """``name:``, ``"name":``, ``name =>``, ``[name] =``, or a shorthand ``name`` in an object."""
        token, after = self.peek(), self.peek(1)
        if token is None or after is None:
            return None
        language = self.language.name
        if token.kind in "is" and isinstance(token.value, str) and after.kind == "o":
            if after.value == ":" and (language in ("node", "pytokens") or (language == "ruby" and not after.space)):
                if close == ")" and language == "node":
                    return None
                self.i += 2
                return str(token.value)
            if after.value == "=>" and language in ("perl", "ruby", "php"):
                self.i += 2
                return str(token.value).lstrip("-")
            if after.value == "=" and close and close in self.language.named:
                self.i += 2
                return str(token.value)
        if language == "ruby" and token.kind == "o" and token.value == ":" and after.kind == "i":
            arrow = self.peek(2)
            if arrow is not None and arrow.value == "=>":
                self.i += 3
                return str(after.value)
        if language == "node" and close == "}" and token.kind == "i" and after.kind == "o" and after.value == "(":
            end = self.match.get(self.i + 1, -1)
            if 0 < end < len(self.tokens) - 1 and self.tokens[end + 1].value == "{":
                return "\0method"
        return None

    def pair_value(self, close: str, key: str) -> Any:
        if key == "\0method":
            token = self.tokens[self.i]
            end = self.match[self.i + 1]
            made = self.body(token.value, self.params(self.i + 1, end), end + 1)
            self.methods.setdefault(token.value, made)
            return made
        return self.expression()

    def postfix(self, value: Any, name: str, first: int) -> Any:
        """Members, subscripts, calls and an assignment behind a value."""
        language = self.language
        tokens = self.tokens
        owner: Any = None
        fresh = True
        while self.i < len(tokens):
            token = tokens[self.i]
            self.record.spend()
            if token.kind == "o":
                mark = token.value
                if mark in language.member:
                    after = self.peek(1)
                    if after is None:
                        return value
                    if after.kind == "i" or (after.kind == "v" and language.name in ("php", "perl")):
                        self.i += 2
                        owner = value
                        name = f"{name}{'.'}{after.value}"[:200]
                        value = self.member(owner, str(after.value), name)
                        fresh = False
                        continue
                    if after.kind == "o" and after.value in ("(", "[", "{"):
                        self.i += 1
                        if after.value == "{" and language.name != "perl":
                            return value
                        continue
                    if mark == ".":
                        return value
                    self.i += 1
                    return value
                if mark == "(" and not (language.lines and token.line):
                    if language.name == "awk" and token.space and not isinstance(value, Ref):
                        return value
                    if language.name == "ruby" and token.space and language.bare and self.bare(value, token):
                        return self.bare_call(value, owner, first)
                    feed, self.feed = self.feed, self.fed(value, owner)
                    self.i += 1
                    args, opts = self.sequence(")")
                    value = self.call(value, owner, args, opts, first)
                    self.feed = feed
                    owner, name = None, ""
                    continue
                if (
                    mark == "["
                    and not (language.lines and token.line)
                    and not (token.space and language.name == "ruby" and language.bare and isinstance(value, Ref))
                ):
                    self.i += 1
                    keys, _ = self.sequence("]")
                    key = keys[0] if keys else NOTHING
                    owner = value
                    name = f"{name}[{text(key)}]"[:200]
                    value = self.item(value, key, name)
                    continue
                if mark == "{" and language.name == "perl" and not token.space and name:
                    self.i += 1
                    after = self.peek()
                    closes = self.peek(1)
                    if after is not None and after.kind == "i" and closes is not None and closes.value == "}":
                        key = after.value
                        self.i += 2
                    else:
                        keys, _ = self.sequence("}")
                        key = keys[0] if keys else NOTHING
                    owner = value
                    name = f"{name}[{text(key)}]"[:200]
                    value = self.item(value, key, name)
                    continue
                if mark in ("++", "--"):
                    self.i += 1
                    continue
                if mark in _ASSIGN and name and not (mark == "<<" and language.name != "ruby"):
                    return self.assign(name, value, mark)
                if mark == "!" and language.name == "node" and not token.space:
                    self.i += 1
                    continue
            if (
                token.kind == "s"
                and language.name in ("lua", "node")
                and (
                    language.name == "lua"
                    or (tokens[self.i].value is not None and not token.space and self.template(token))
                )
            ):
                if isinstance(value, Ref | Body) and not token.line:
                    self.i += 1
                    value = self.call(value, owner, [self.string(token)], {}, first)
                    continue
                return value
            if language.name == "ruby" and not fresh_value(value) and self.block(value, owner):
                continue
            if token.kind == "o" and token.value == "{" and language.name == "lua" and isinstance(value, Ref):
                table = self.braces()
                value = self.call(value, owner, [table], {}, first)
                continue
            if language.bare and fresh is not None and self.bare(value, token):
                return self.bare_call(value, owner, first)
            break
        if language.bare == "all" and isinstance(value, Ref) and (owner is not None or value.name in language.calls):
            # Ruby calls a method by its bare name
            return self.call(value, owner, [], {}, first)
        return value

    def block(self, value: Any, owner: Any) -> bool:
        """A Ruby block behind a call: its parameter is an element of what is gone through."""
        token, after = self.tokens[self.i], self.peek(1)
        if not (token.kind == "o" and token.value == "{") and not (token.kind == "i" and token.value == "do"):
            return False
        close = self.match.get(self.i)
        if close is None:
            return False
        self.i += 1
        if after is not None and after.kind == "o" and after.value == "|":
            names: list[str] = []
            self.i += 1
            while self.i < close and not self.op("|") and len(names) < 12:
                if self.tokens[self.i].kind == "i":
                    names.append(self.tokens[self.i].value)
                self.i += 1
            self.i += 1
            for place, name in enumerate(names):
                self.vars[name] = element(value) if place == 0 else NOTHING
        self.level += 1
        self.walk(close)
        self.level -= 1
        self.i = close + 1
        return True

    def template(self, token: Token) -> bool:
        return self.record.source[token.start : token.start + 1] == "`" or self.record.nested > 0

    def fed(self, value: Any, owner: Any) -> Any:
        """What a callback of this call will be handed: the elements of a known list."""
        if isinstance(value, Ref) and value.name.rpartition(".")[2] in _EACH:
            if isinstance(owner, list):
                return either(*owner[:12]) if owner else NOTHING
            if isinstance(owner, str | Alts):
                return owner
        return None

    def bare(self, value: Any, token: Token) -> bool:
        """Whether a call without parentheses begins here."""
        if not isinstance(value, Ref | Body) or token.line:
            return False
        if isinstance(value, Ref) and self.language.bare == "known" and value.name not in self.language.calls:
            return False
        if isinstance(value, Ref) and value.name in ("regex",):
            return False
        if token.kind in "svcnwr":
            return token.kind != "n" or token.space
        if token.kind == "i":
            return token.value not in _STOP_WORDS
        if token.kind == "o":
            if token.value in ("[", "(", ":", "->", "\\"):
                return token.space
            if token.value in ("*", "&", "-", "::", "<", "{", "!"):
                after = self.peek(1)
                if token.value == "{":
                    return self.language.bare == "known" and token.space
                return token.space and after is not None and not after.space and after.value != "="
        return False

    def bare_call(self, value: Any, owner: Any, first: int) -> Any:
        feed, self.feed = self.feed, self.fed(value, owner)
        args, opts = self.arguments()
        self.feed = feed
        return self.call(value, owner, args, opts, first)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Arguments without parentheses, up to the statement's end or a low operator."""
        values: list[Any] = []
        opts: dict[str, Any] = {}
        while self.i < len(self.tokens):
            token = self.tokens[self.i]
            self.record.spend()
            if token.kind == "l" or (token.kind == "i" and token.value in _STOP_WORDS):
                break
            if token.kind == "o" and token.value in (";", ")", "]", "}", "||", "&&", "?"):
                break
            key = self.key("")
            if key is not None and key != "\0method":
                opts[key] = self.expression()
            else:
                before = self.i
                value = self.expression()
                if self.op("=>"):
                    self.i += 1
                    opts[text(value)] = self.expression()
                elif self.i == before:
                    break
                else:
                    values.append(value)
            if self.op(","):
                self.i += 1
                while self.i < len(self.tokens) and self.tokens[self.i].kind == "l":
                    self.i += 1
                continue
            if self.language.name == "perl" and self.i < len(self.tokens) and self.tokens[self.i].kind in "vs":
                continue  # print $handle "text"
            break
        return values, opts

    def member(self, owner: Any, name: str, path: str) -> Any:
        if path in self.vars:
            return self.vars[path]
        if self.language.attribute is not None:
            found = self.language.attribute(self, owner, name)
            if found is not None:
                return found
        if isinstance(owner, dict):
            return owner.get(name, Ref("{}." + name))
        if isinstance(owner, Alts):
            return either(*(self.member(one, name, "") for one in owner.values))
        if isinstance(owner, Ref):
            full = f"{owner.name}.{name}"
            return Ref(self.language.same.get(full, full)[:160], owner.args, owner.opts)
        if isinstance(owner, Unknown) and owner.origin and name not in self.language.methods:
            return Ref("\0" + owner.origin + "." + name, (owner,))
        return Ref("\0." + name, (owner,))

    def item(self, owner: Any, key: Any, path: str) -> Any:
        if path in self.vars:
            return self.vars[path]
        if isinstance(key, Alts):
            return either(*(self.item(owner, one, "") for one in key.values))
        if isinstance(owner, list):
            if isinstance(key, int) and not isinstance(key, bool):
                if self.language.name in ("lua", "r", "julia"):
                    if key < 1:  # R: all but one
                        return either(*owner[:8]) if owner else NOTHING
                    key -= 1
                return owner[key] if -len(owner) <= key < len(owner) else NOTHING
            return either(*owner[:8]) if owner else NOTHING
        if isinstance(owner, dict):
            return owner.get(text(key), NOTHING)
        if isinstance(owner, Ref) and isinstance(key, str):
            return self.member(owner, key, "")
        if isinstance(owner, str) and isinstance(key, int) and -len(owner) <= key < len(owner):
            return owner[key]
        if isinstance(owner, Unknown):
            return owner
        return NOTHING

    def assign(self, name: str, before: Any, mark: str) -> Any:
        self.i += 1
        start = len(self.bodies)
        value = self.expression()
        if mark in ("||=", "??=", "//="):
            value = either(before, value) if isinstance(before, str) else value
        elif mark in ("+=", ".=", "<<"):
            if isinstance(before, list):
                if len(before) < 5_000:
                    before.append(value)
                return before
            if isinstance(before, int) and isinstance(value, int):
                value = NOTHING
            else:
                value = concat(before, value)
        elif mark not in ("=", ":="):
            value = NOTHING
        if isinstance(value, Body) and not value.name and len(self.bodies) > start:
            value.name = name.lstrip("$&@%").rpartition(".")[2]
            self.methods.setdefault(value.name, value)
        self.set(name, value)
        return value

    def call(self, func: Any, owner: Any, args: list[Any], opts: dict[str, Any], first: int) -> Any:
        """A call: of a function written here, of the library, or unknown."""
        self.record.spend()
        at = self.span(first)
        if opts:
            args = [*args, opts]
        if isinstance(func, str) and self.language.name == "php":
            func = Ref(func.lstrip("\\").replace("\\", "."))
        if isinstance(func, Alts):
            return either(*(self.call(one, owner, args, {}, first) for one in func.values))
        if isinstance(func, Body):
            return self.call_body(func, args)
        value: Any = NOTHING
        if isinstance(func, Ref):
            name = func.name
            entry = self.language.calls.get(name)
            last = name.rpartition(".")[2]
            made_with: Any = func.args
            if entry is None and last in self.methods and not isinstance(owner, str | list):
                self.call_body(self.methods[last], args)
            if entry is None:
                entry = (
                    self.language.methods.get("*" + last)
                    if isinstance(owner, str | list | dict | Alts | Unknown)
                    else None
                )
                if entry is not None:
                    value = entry(self, owner, args, opts, at)
                    for one in args:
                        self.callback(one)
                    return value
            sure = True
            if entry is None:
                entry = self.language.methods.get(last) if "." in name else None
                sure = not name.startswith("\0")
            if entry is not None:
                if isinstance(entry, str):
                    value = perform(self.record, entry, args, opts, at, sure, self.language.name)
                else:
                    value = entry(self, Ref(name, made_with, func.opts), args, opts, at)
            elif name.startswith("\0") and made_with and isinstance(made_with[0], Unknown) and made_with[0].origin:
                value = made_with[0]
            else:
                for one in args:
                    if isinstance(one, Ref) and one.name in ("process.env", "os.environ", "ENV", "%ENV", "$_ENV"):
                        self.record.add("env", "", at)
                value = Ref(f"{name}()"[:160], tuple(args), opts)
        for one in args:
            self.callback(one)
        for one in opts.values():
            self.callback(one)
        return value

    def callback(self, one: Any) -> None:
        if isinstance(one, Body) and not one.ran:
            given = [self.feed] if self.feed is not None else []
            self.call_body(one, given)


def ended_function(reader: Reader) -> None:
    """``function name(params) … end``, a statement."""
    made = made_function(reader)
    if made is not None and made.name:
        reader.vars[made.name] = made
        reader.methods.setdefault(made.name.rpartition(".")[2], made)


def made_function(reader: Reader) -> Body | None:
    """A function whose body the word ``end`` closes, the cursor being on the word ``function``."""
    close = reader.match.get(reader.i)
    reader.i += 1
    name = ""
    while reader.i < len(reader.tokens) and not reader.op("("):
        token = reader.tokens[reader.i]
        if token.kind not in "io":
            return None
        name += token.value if token.value != ":" else "."
        reader.i += 1
        if len(name) > 200:
            return None
    end = reader.match.get(reader.i, -1)
    if end < 0 or close is None:
        return None
    params = reader.params(reader.i, end)
    made = Body(name, params, reader, end + 1, close)
    made.defaults = reader.defaults(reader.i, end)
    reader.bodies.append(made)
    reader.i = close + 1
    return made


def return_statement(reader: Reader) -> None:
    reader.i += 1
    if not reader.op(";") and not reader.word("end"):
        value = reader.expression()
        reader.result = value if reader.result is NOTHING else either(reader.result, value)


def fresh_value(value: Any) -> bool:
    return isinstance(value, int | float | dict) or value is None


def element(value: Any) -> Any:
    """One element of what a loop goes through."""
    if isinstance(value, Ref) and value.name.startswith("\0each") and value.args:
        value = value.args[0]
    if isinstance(value, list):
        return either(*value[:12]) if value else NOTHING
    return value if isinstance(value, str | Alts) or (isinstance(value, Unknown) and value.origin) else NOTHING


_BINARY = frozenset(
    (
        "==",
        "===",
        "!=",
        "!==",
        "<",
        ">",
        "<=",
        ">=",
        "-",
        "*",
        "/",
        "%",
        "**",
        "|",
        "&",
        "^",
        "=~",
        "!~",
        "<=>",
        "<<",
        ">>",
        "+",
        "..",
        "...",
        "~",
        ".",
    )
)
_PREFIX = frozenset(("!", "-", "+", "~", "...", "\\", "&", "*", "**", "++", "--", "@", "<", "$", "::"))
_WORD_PREFIX = frozenset(
    [
        "await",
        "new",
        "typeof",
        "void",
        "delete",
        "yield",
        "not",
        "async",
        "return",
        "throw",
        "const",
        "let",
        "var",
        "my",
        "our",
        "local",
        "static",
        "public",
        "private",
        "protected",
        "export",
        "default",
        "readonly",
        "print",
        "echo",
        "puts",
        "defined",
        "ref",
        "scalar",
        "clone",
        "final",
        "state",
    ]
)
_ASSIGN = frozenset(("=", ":=", "+=", ".=", "||=", "??=", "//=", "-=", "*=", "/=", "<<", "&&=", "|=", "**="))
_STOP_WORDS = frozenset(
    [
        "if",
        "unless",
        "while",
        "until",
        "for",
        "foreach",
        "or",
        "and",
        "xor",
        "do",
        "then",
        "end",
        "else",
        "elsif",
        "elseif",
        "rescue",
        "in",
        "eq",
        "ne",
        "lt",
        "gt",
        "le",
        "ge",
        "cmp",
        "x",
        "not",
        "instanceof",
        "as",
        "of",
    ]
)
_EACH = frozenset(
    [
        "forEach",
        "map",
        "filter",
        "each",
        "some",
        "every",
        "find",
        "flatMap",
        "each_entry",
        "each_child",
        "foreach",
        "reduce",
    ]
)


def number(word: str) -> Any:
    word = word.replace("_", "").rstrip("nLl")
    try:
        if word[:2].lower() in ("0x", "0o", "0b"):
            return int(word, 0)
        if len(word) > 1 and word[0] == "0" and word.isdigit() and len(word) < 12:
            return int(word, 8)
        return int(word) if len(word) < 18 else NOTHING
    except ValueError:
        return NOTHING


def pair(tokens: list[Token], language: Language) -> dict[int, int]:
    """Opening bracket (and block word) -> the place of what closes it."""
    match: dict[int, int] = {}
    stack: list[tuple[str, int]] = []
    blocks: list[int] = []
    loop = False
    fresh = True

    def indexed() -> bool:
        """Whether Julia's begin and end are the first and the last index here."""
        last = blocks[-1] if blocks else -1
        return language.name == "julia" and any(mark == "[" and at > last for mark, at in stack[-8:])

    for place, token in enumerate(tokens):
        if token.kind == "o":
            mark = token.value
            if mark in ("(", "[", "{"):
                stack.append((mark, place))
            elif mark in (")", "]", "}"):
                for back in range(len(stack) - 1, max(-1, len(stack) - 4), -1):
                    if _CLOSE[stack[back][0]] == mark:
                        match[stack[back][1]] = place
                        del stack[back:]
                        break
        elif token.kind == "i" and language.blocks:
            word = token.value
            before = tokens[place - 1] if place else None
            member = before is not None and before.kind == "o" and before.value in (".", ":", "&.", "::")
            if member:
                pass
            elif word == "end":
                if blocks and not indexed():  # else x[end]
                    match[blocks.pop()] = place
            elif word in language.blocks:
                if word in ("if", "unless", "while", "until", "for", "repeat"):
                    if fresh or language.name == "lua" or (language.name == "julia" and not stack):
                        blocks.append(place)
                        loop = word in ("while", "until", "for") and language.name != "julia"
                elif word == "do":
                    if not loop:
                        blocks.append(place)
                    loop = False
                elif not (word == "begin" and indexed()):
                    blocks.append(place)
        if token.kind == "l":
            loop = False
        fresh = (
            token.kind == "l"
            or (token.kind == "o" and token.value in (";", "=", "(", "{", "|"))
            or (token.kind == "i" and token.value in ("then", "do", "else", "begin", "ensure"))
        )
    return match


def read_tokens(record: Record, name: str, source: str) -> None:
    """``source`` in the language of a module's name, into the record."""
    module = __import__(f"{__package__}.{name}", fromlist=["LANGUAGE"])
    language: Language = module.LANGUAGE
    prepare = getattr(module, "prepare", None)
    if prepare is not None:
        source = prepare(source)
    tokens = Lexer(source, language, record).run()
    reader = Reader(record, language, tokens)
    start = getattr(module, "start", None)
    if start is not None:
        start(reader)
    reader.walk(len(tokens))
    reader.leftovers()


__all__ = ["DECODED", "STDIN", "Language", "Lexer", "Reader", "Token", "read_tokens"]
