"""From the text of a command line to nodes (``tree.py``).

Two readers.  ``read`` is an exact recursive-descent reader of the shell grammar, one pass, linear in the length of
the text, no imports: it reads what a shell would accept.  When a line is not something a shell accepts,
``recover`` lets tree-sitter-bash, which is good at broken input, find the pieces that still make sense.

Why not tree-sitter for everything: tree-sitter-bash 0.25.1 loses the text at the start of here-documents
(``cat <<EOF`` / ``rm -rf $HOME``), fails on ``>> file <<< word``, nests what stands behind ``<<EOF`` inside the
redirect, and loading it costs 12 ms of every tool call; each of these was a wrong or a slow verdict.
``tests/shell/test_parse.py`` compares the two readers where both succeed.
"""

from __future__ import annotations

from .tree import Branch, Command, Function, Group, Loop, Node, Pipeline, Redirect, Sequence, Test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Part, Word

MAX_NESTING = 120  # deeper than any line a person or a model writes; keeps recursion bounded


class Unreadable(ValueError):
    """The text is not a shell line; ``position`` is where reading stopped, ``done`` what was read before it."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position
        self.done: list[Node] = []


_BLANK = " \t\r"
_META = frozenset(" \t\r\n;&|<>()")
_WORD_STOP = frozenset(" \t\r\n;&|<>()\"'\\$`")
_NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_NAME = _NAME_START | frozenset("0123456789")
_SPECIAL = frozenset("@*#?-$!0123456789")
_CLOSERS = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}"))
_OPENERS = frozenset(("if", "while", "until", "for", "select", "case", "{", "function", "[[", "!", "time", "coproc"))


def read(text: str, most: int = 0) -> Sequence:
    """The whole text as a sequence of nodes.  Raises Unreadable (with what was read so far in ``done``), also when
    it holds more than ``most`` words (0: any number); here-documents and quoted texts are one word each."""
    reader = _Reader(text, 0, most)
    try:
        body = reader.sequence("")
    except Unreadable as wrong:
        wrong.done = reader.top
        raise
    except RecursionError:
        raise Unreadable("nested too deeply", reader.i) from None
    if reader.i < reader.n:
        stopped = Unreadable(f"unexpected {text[reader.i]!r}", reader.i)
        stopped.done = list(body.items)
        raise stopped
    return body


class _Reader:
    __slots__ = ("depth", "heredocs", "i", "most", "n", "running", "s", "scanned", "top")

    def __init__(self, text: str, depth: int, most: int = 0) -> None:
        self.most = most or 1 << 60
        self.s = text
        self.n = len(text)
        self.i = 0
        self.depth = depth
        self.scanned = 0  # characters looked at twice, see arithmetic_end
        self.running: list[tuple[str, Word, bool]] = []  # subscripts of the assignment being read that run something
        self.heredocs: list[tuple[Redirect, str, bool]] = []
        self.top: list[Node] = []  # what was read at the outermost level, for recovery

    # -- white space, comments, here-documents -------------------------------------------------------------

    def blanks(self) -> None:
        """Past blanks, line continuations and a comment, but not past a newline."""
        s, n, i = self.s, self.n, self.i
        while i < n:
            c = s[i]
            if c in _BLANK:
                i += 1
            elif c == "\\" and s[i + 1 : i + 2] == "\n":
                i += 2
            elif c == "\\" and s[i + 1 : i + 3] == "\r\n":
                i += 3
            elif c == "#" and (i == 0 or s[i - 1] in " \t\r\n;&|()"):
                end = s.find("\n", i)
                i = n if end < 0 else end
            else:
                break
        self.i = i

    def newline(self) -> None:
        """Over one newline, and over the bodies of the here-documents that begin behind it."""
        self.i += 1
        if self.heredocs:
            pending, self.heredocs = self.heredocs, []
            for redirect, delimiter, quoted in pending:
                self.heredoc_body(redirect, delimiter, quoted)

    def heredoc_body(self, redirect: Redirect, delimiter: str, quoted: bool) -> None:
        s, n = self.s, self.n
        strip = redirect.op == "<<-"
        start = i = self.i
        stop, after = n, n  # without its end word bash takes everything to the end, and warns
        while i < n:
            end = s.find("\n", i)
            line_end = n if end < 0 else end
            if line_end - i <= len(delimiter) + 64:
                line = s[i:line_end]
                if (line.lstrip("\t") if strip else line).rstrip("\r") == delimiter:
                    stop, after = i, min(line_end + 1, n)
                    break
            i = line_end + 1
        self.i = after
        body = s[start:stop]
        if strip:
            body = "\n".join(line.lstrip("\t") for line in body.split("\n"))
        redirect.quoted = quoted
        if quoted or ("$" not in body and "`" not in body and "\\" not in body):
            redirect.word = [("q", body)]
        else:
            redirect.word = _Reader(body, self.depth + 1).quoted_parts("")

    def gap(self) -> None:
        """Past blanks, newlines and comments."""
        while True:
            self.blanks()
            if self.i < self.n and self.s[self.i] == "\n":
                self.newline()
            else:
                return

    # -- lists ---------------------------------------------------------------------------------------------

    def sequence(self, stop: str) -> Sequence:
        """A list up to ``stop``: "" the end, ")" , "}" , or a closing reserved word; the stop is not consumed."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise Unreadable("nested too deeply", self.i)
        start = self.i
        items: list[Node] = []
        ops: list[str] = []
        if not stop and self.depth == 1:
            self.top = items
        s, n = self.s, self.n
        while True:
            self.gap()
            if self.i >= n:
                break
            c = s[self.i]
            if c == ")":
                break
            if c == ";":
                if s.startswith(";;", self.i) or s.startswith(";&", self.i):
                    break  # the end of a case item
                if items and ops[-1] == "":
                    ops[-1] = ";"
                self.i += 1
                continue
            if c == "&" and not s.startswith("&>", self.i) and not s.startswith("&&", self.i):
                raise Unreadable("unexpected '&'", self.i)
            word = self.peek_word()
            if word in _CLOSERS and (stop or word != "}"):
                break
            items.append(self.pipeline())
            ops.append("")
            self.blanks()
            if self.i >= n:
                break
            c = s[self.i]
            if c == "\n":
                ops[-1] = ";"
                self.newline()
            elif c == ";":
                if s.startswith(";;", self.i) or s.startswith(";&", self.i):
                    break
                ops[-1] = ";"
                self.i += 1
            elif c == "&":
                if s.startswith("&&", self.i):
                    ops[-1] = "&&"
                    self.i += 2
                else:
                    ops[-1] = "&"
                    self.i += 1
            elif c == "|" and s.startswith("||", self.i):
                ops[-1] = "||"
                self.i += 2
            elif c == ")" or (self.peek_word() in _CLOSERS and isinstance(items[-1], (Group, Loop, Branch, Test))):
                break
            else:
                raise Unreadable(f"unexpected {s[self.i]!r}", self.i)
        self.depth -= 1
        return Sequence(start, self.i, items, ops)

    def peek_word(self) -> str:
        """The reserved word that stands here, else ""."""
        s, i, n = self.s, self.i, self.n
        if i < n and s[i] in "{}!":
            after = s[i + 1 : i + 2]
            if s[i] == "}":
                return "}" if after == "" or after in _META else ""
            return s[i] if after == "" or after in " \t\r\n" or (s[i] == "!" and after == "(") else ""
        if s.startswith("[[", i) and s[i + 2 : i + 3] in (" ", "\t", "\n"):
            return "[["
        j = i
        while j < n and j - i < 9 and "a" <= s[j] <= "z":
            j += 1
        if j == i or (j < n and s[j] not in _META):
            return ""
        word = s[i:j]
        return word if word in _CLOSERS or word in _OPENERS else ""

    def pipeline(self) -> Node:
        start = self.i
        s = self.s
        while True:  # prefixes that change nothing about what is done
            word = self.peek_word()
            if word == "!" or word == "time":
                self.i += len(word)
                self.blanks()
                if word == "time":
                    for option in ("-p", "--"):
                        if s.startswith(option, self.i) and s[self.i + 2 : self.i + 3] in (" ", "\t"):
                            self.i += 2
                            self.blanks()
                if self.i >= self.n or s[self.i] in "\n;&|)":
                    return Command(start, self.i, [], [], [])
            else:
                break
        stages = [self.command()]
        while True:
            self.blanks()
            if self.i < self.n and s[self.i] == "|" and not s.startswith("||", self.i):
                self.i += 2 if s.startswith("|&", self.i) else 1
                self.gap()
                while self.peek_word() == "!":
                    self.i += 1
                    self.blanks()
                stages.append(self.command())
            else:
                break
        return stages[0] if len(stages) == 1 else Pipeline(start, self.i, stages)

    # -- commands ------------------------------------------------------------------------------------------

    def command(self) -> Node:
        s, start = self.s, self.i
        if self.i >= self.n:
            raise Unreadable("a command is missing at the end", self.i)
        c = s[self.i]
        if c == "(":
            if s.startswith("((", self.i):
                end = self.arithmetic_end(self.i + 2)
                if end >= 0:
                    parts = self.arithmetic(self.i + 2, end)
                    self.i = end + 2
                    return Test(start, self.i, [parts], self.redirects())
            self.i += 1
            body = self.sequence(")")
            self.expect(")")
            return Group(start, self.i, body, True, self.redirects())
        word = self.peek_word()
        if word:
            if word in _CLOSERS:
                raise Unreadable(f"unexpected {word!r}", self.i)
            return self.compound(word)
        return self.simple()

    def expect(self, text: str) -> None:
        self.gap()
        if not self.s.startswith(text, self.i):
            found = self.s[self.i : self.i + 1] or "the end"
            raise Unreadable(f"expected {text!r}, found {found!r}", self.i)
        self.i += len(text)

    def reserved(self, *wanted: str) -> str:
        self.gap()
        word = self.peek_word()
        if word not in wanted:
            raise Unreadable(f"expected {wanted[0]!r}", self.i)
        self.i += len(word)
        return word

    def compound(self, word: str) -> Node:
        s, start = self.s, self.i
        self.i += len(word)
        if word == "{":
            body = self.sequence("}")
            self.reserved("}")
            return Group(start, self.i, body, False, self.redirects())
        if word == "if":
            bodies: list[Node] = [self.sequence("then")]
            self.reserved("then")
            bodies.append(self.sequence("fi"))
            while True:
                closing = self.reserved("fi", "elif", "else")
                if closing == "fi":
                    break
                bodies.append(self.sequence("fi"))
                if closing == "elif":
                    self.reserved("then")
                    bodies.append(self.sequence("fi"))
            return Branch(start, self.i, bodies, [], self.redirects())
        if word in ("while", "until"):
            condition = self.sequence("do")
            self.reserved("do")
            body = self.sequence("done")
            self.reserved("done")
            return Loop(start, self.i, word, "", None, condition, body, self.redirects())
        if word in ("for", "select"):
            return self.for_loop(start, word)
        if word == "case":
            return self.case(start)
        if word == "function":
            self.blanks()
            name = self.plain_word()
            self.blanks()
            if s.startswith("(", self.i):
                self.i += 1
                self.expect(")")
            self.gap()
            return Function(start, self.i, name, self.command())
        if word == "[[":
            return self.double_bracket(start)
        if word == "coproc":
            self.blanks()
            if not self.peek_word() and not s.startswith("(", self.i):
                back = self.i
                self.plain_word()
                self.blanks()
                if self.peek_word() not in ("{", "if", "while", "until", "for", "case") and not s.startswith(
                    "(", self.i
                ):
                    self.i = back  # a simple command; only a compound one takes a name
            return self.command()
        # "!" and "time" were taken by pipeline(); here they stand behind another prefix
        self.blanks()
        return self.command()

    def plain_word(self) -> str:
        start = self.i
        s, n = self.s, self.n
        while self.i < n and s[self.i] not in _META:
            self.i += 1
        return s[start : self.i]

    def for_loop(self, start: int, kind: str) -> Node:
        s = self.s
        self.blanks()
        words: list[Word] | None = None
        name = ""
        if s.startswith("((", self.i):
            end = self.arithmetic_end(self.i + 2)
            if end < 0:
                raise Unreadable("expected '))'", self.i)
            words = [self.arithmetic(self.i + 2, end)]
            self.i = end + 2
        else:
            name = self.plain_word()
            self.gap()
            if s.startswith("in", self.i) and s[self.i + 2 : self.i + 3] in (" ", "\t", "\n", ";", "\r"):
                self.i += 2
                words = []
                while True:
                    self.blanks()
                    if self.i >= self.n or s[self.i] in "\n;":
                        break
                    word = self.word()
                    if not word:
                        raise Unreadable("expected a word", self.i)
                    words.append(word)
        self.gap()
        if s.startswith(";", self.i):
            self.i += 1
            self.gap()
        closing = "}" if self.reserved("do", "{") == "{" else "done"
        body = self.sequence(closing)
        self.reserved(closing)
        return Loop(start, self.i, kind, name, words, None, body, self.redirects())

    def case(self, start: int) -> Node:
        s = self.s
        self.blanks()
        subject = self.word()
        self.gap()
        if not s.startswith("in", self.i):
            raise Unreadable("expected 'in'", self.i)
        self.i += 2
        bodies: list[Node] = []
        words: list[Word] = [subject]
        while True:
            self.gap()
            if self.peek_word() == "esac":
                self.i += 4
                break
            if self.i >= self.n:
                raise Unreadable("expected 'esac'", self.i)
            if s[self.i] == "(":
                self.i += 1
            while True:  # patterns
                self.gap()
                pattern = self.word(extglob=True)
                if not pattern:
                    raise Unreadable("expected a pattern", self.i)
                words.append(pattern)
                self.gap()
                if s.startswith("|", self.i):
                    self.i += 1
                    continue
                break
            self.expect(")")
            bodies.append(self.sequence("esac"))
            self.gap()
            for end in (";;&", ";;", ";&"):
                if s.startswith(end, self.i):
                    self.i += len(end)
                    break
        return Branch(start, self.i, bodies, words, self.redirects())

    def double_bracket(self, start: int) -> Node:
        s, n = self.s, self.n
        words: list[Word] = []
        while True:
            self.gap()
            if self.i >= n:
                raise Unreadable("expected ']]'", self.i)
            if s.startswith("]]", self.i):
                self.i += 2
                break
            if s[self.i] in "&|<>()" and not s.startswith(("<(", ">("), self.i):
                self.i += 1
                continue
            if s[self.i] == ";":
                raise Unreadable("unexpected ';'", self.i)
            words.append(self.word(extglob=True))
        return Test(start, self.i, words, self.redirects())

    def redirects(self) -> list[Redirect]:
        found: list[Redirect] = []
        while True:
            self.blanks()
            redirect = self.redirect()
            if redirect is None:
                return found
            found.append(redirect)

    def redirect(self) -> Redirect | None:
        s, n, i = self.s, self.n, self.i
        fd_start = i
        if i < n and s[i] == "{":  # {name}> file
            j = i + 1
            while j < n and s[j] in _NAME:
                j += 1
            if j > i + 1 and s[j : j + 1] == "}" and s[j + 1 : j + 2] in ("<", ">"):
                i = j + 1
        else:
            while i < n and "0" <= s[i] <= "9":
                i += 1
        if i >= n or s[i] not in "<>&":
            return None
        fd = s[fd_start:i]
        if s[i] == "&":
            if fd or not s.startswith("&>", i):
                return None
            op = "&>>" if s.startswith("&>>", i) else "&>"
        elif s[i] == ">":
            if s.startswith(">(", i) and not fd:
                return None
            op = next(o for o in (">>", ">|", ">&", ">") if s.startswith(o, i))
        else:
            if s.startswith("<(", i) and not fd:
                return None
            op = next(o for o in ("<<<", "<<-", "<<", "<>", "<&", "<") if s.startswith(o, i))
        self.i = i + len(op)
        if op in (">", ">>", "&>", "&>>") and s[self.i : self.i + 1] in ("!", "|"):
            self.i += 1  # zsh: write in spite of noclobber
        self.blanks()
        if op in ("<<", "<<-"):
            delimiter, quoted = self.delimiter()
            redirect = Redirect(op, fd, [])
            self.heredocs.append((redirect, delimiter, quoted))
            return redirect
        word = self.word()
        if not word:
            raise Unreadable("a file name is missing behind a redirection", self.i)
        return Redirect(op, fd, word)

    def delimiter(self) -> tuple[str, bool]:
        word = self.word()
        if not word:
            raise Unreadable("a here-document's end word is missing", self.i)
        text, quoted = "", False
        for part in word:
            if part[0] == "t":
                text += part[1]
            elif part[0] == "q":
                text += part[1]
                quoted = True
            elif part[0] == "v":
                text += "$" + part[1]
        return text, quoted

    def simple(self) -> Node:
        s, n, start = self.s, self.n, self.i
        words: list[Word] = []
        assigns: list[tuple[str, Word, bool]] = []
        redirects: list[Redirect] = []
        while True:
            self.blanks()
            if self.i >= n:
                break
            c = s[self.i]
            if c in "\n;|)":
                break
            if c == "&" and not s.startswith("&>", self.i):
                break
            if c in "<>&0123456789{":
                redirect = self.redirect()
                if redirect is not None:
                    redirects.append(redirect)
                    continue
            if c == "(":
                if len(words) == 1 and not assigns and not redirects and s[self.i : self.i + 2] == "()":
                    name = "".join(p[1] for p in words[0] if p[0] in "tq")
                    self.i += 2
                    self.gap()
                    return Function(start, self.i, name, self.command())
                j = self.i + 1
                while j < n and s[j] in _BLANK:
                    j += 1
                if len(words) == 1 and not assigns and s[j : j + 1] == ")":
                    name = "".join(p[1] for p in words[0] if p[0] in "tq")
                    self.i = j + 1
                    self.gap()
                    return Function(start, self.i, name, self.command())
                raise Unreadable("unexpected '('", self.i)
            if not words:
                assigned = self.assignment()
                if assigned is not None:
                    if self.running:
                        assigns += self.running
                        self.running = []
                    assigns.append(assigned)
                    continue
            word = self.word()
            if not word:
                raise Unreadable(f"unexpected {s[self.i]!r}", self.i)
            if words and s[self.i : self.i + 1] == "(" and word[-1][0] == "t" and word[-1][1][-1:] == "=":
                self.i += 1  # declare -a x=(…)
                word = [*word, ("A", self.array())]
            words.append(word)
            if len(words) > self.most:
                raise Unreadable("more words than one event is given", self.i)
        if not words and not assigns and not redirects:
            raise Unreadable(f"unexpected {s[self.i : self.i + 1]!r}", self.i)
        self.most -= len(words) + len(assigns)
        if self.most < 0:
            raise Unreadable("more words than one event is given", self.i)
        return Command(start, self.i, words, assigns, redirects)

    def assignment(self) -> tuple[str, Word, bool] | None:
        """``name=value``, ``name+=value``, ``name[i]=value`` at the front of a simple command."""
        s, n, i = self.s, self.n, self.i
        if i >= n or s[i] not in _NAME_START:
            return None
        j = i + 1
        while j < n and s[j] in _NAME:
            j += 1
        name = s[i:j]
        if j < n and s[j] == "[":
            close, subscript = self.subscript(j)
            if close < 0 or not s.startswith(("=", "+="), close + 1):
                return None
            j = close + 1
            if subscript:
                self.running.append(("", [("a", subscript)], False))
        append = s.startswith("+=", j)
        if not append and not s.startswith("=", j):
            return None
        self.i = j + (2 if append else 1)
        if self.i < n and s[self.i] == "(":
            self.i += 1
            return name, [("A", self.array())], append
        return name, self.word(), append

    def array(self) -> list[Word]:
        words: list[Word] = []
        while True:
            self.gap()
            if self.i >= self.n:
                raise Unreadable("expected ')'", self.i)
            if self.s[self.i] == ")":
                self.i += 1
                return words
            word = self.word()
            if not word:
                raise Unreadable("unexpected text in an array", self.i)
            words.append(word)

    # -- words ---------------------------------------------------------------------------------------------

    def word(self, extglob: bool = False) -> Word:
        """One word; [] when none stands here."""
        s, n = self.s, self.n
        parts: Word = []
        i = self.i
        while i < n:
            start = i
            while i < n and s[i] not in _WORD_STOP:
                i += 1
            if i > start:
                parts.append(("t", s[start:i]))
                if i >= n:
                    break
            c = s[i]
            if c == "'":
                end = s.find("'", i + 1)
                if end < 0:
                    raise Unreadable("a quote is not closed", i)
                parts.append(("q", s[i + 1 : end]))
                i = end + 1
            elif c == '"':
                self.i = i + 1
                inner = self.quoted_parts('"')
                parts.extend(inner or [("q", "")])
                i = self.i
            elif c == "\\":
                if i + 1 >= n:
                    parts.append(("q", "\\"))
                    i += 1
                elif s[i + 1] == "\n":
                    i += 2
                elif s.startswith("\r\n", i + 1):
                    i += 3
                else:
                    parts.append(("q", s[i + 1]))
                    i += 2
            elif c == "$":
                self.i = i
                parts.append(self.dollar(False))
                i = self.i
            elif c == "`":
                self.i = i
                parts.append(self.backticks(False))
                i = self.i
            elif (
                c in "<>" and s[i + 1 : i + 2] == "(" and (not parts or parts[-1][0] != "t" or parts[-1][1][-1:] == "=")
            ):
                self.i = i + 2
                body = self.sequence(")")
                self.expect(")")
                parts.append(("p", body, c))
                i = self.i
            elif (
                c == "("
                and parts
                and parts[-1][0] == "t"
                and parts[-1][1][-1] in "?*+@!"
                and (extglob or parts[-1][1][-1] in "?*+@!")
            ):
                close = self.balanced(i)
                if close < 0:
                    break
                # an extended glob: what it matches is not enumerated, so it is read as "anything"
                parts[-1] = ("t", parts[-1][1][:-1] + "*")
                i = close + 1
            else:
                break
        self.i = i
        return parts

    def balanced(self, i: int) -> int:
        """The index of the parenthesis that closes the one at ``i``, within one line, else -1."""
        s, n, depth = self.s, self.n, 0
        while i < n and s[i] != "\n":
            if s[i] == "(":
                depth += 1
            elif s[i] == ")":
                depth -= 1
                if not depth:
                    return i
            elif s[i] == "\\":
                i += 1
            i += 1
        return -1

    def quoted_parts(self, close: str) -> Word:
        """Parts up to the closing quote (consumed), or to the end of the text when ``close`` is ""."""
        s, n = self.s, self.n
        parts: Word = []
        i = self.i
        text: list[str] = []
        while i < n:
            start = i
            while i < n and s[i] != '"' and s[i] != "\\" and s[i] != "$" and s[i] != "`":
                i += 1
            if i > start:
                text.append(s[start:i])
                if i >= n:
                    break
            c = s[i]
            if c == '"':
                if close:
                    break
                text.append(c)
                i += 1
            elif c == "\\":
                after = s[i + 1 : i + 2]
                if after == "\n":
                    i += 2
                elif after and after in ('$`"\\' if close else "$`\\"):
                    text.append(after)
                    i += 2
                else:
                    text.append("\\")
                    i += 1
            else:
                self.i = i
                part = self.dollar(True) if c == "$" else self.backticks(True)
                if part[0] == "t":
                    text.append(part[1])
                else:
                    if text:
                        parts.append(("q", "".join(text)))
                        text = []
                    parts.append(part)
                i = self.i
        if close and (i >= n or s[i] != close):
            raise Unreadable("a double quote is not closed", self.i)
        if text:
            parts.append(("q", "".join(text)))
        self.i = i + 1 if close else i
        return parts

    def backticks(self, quoted: bool) -> Part:
        s, n, i = self.s, self.n, self.i + 1
        text: list[str] = []
        while i < n and s[i] != "`":
            if s[i] == "\\" and s[i + 1 : i + 2] in ("`", "\\", "$") + (('"',) if quoted else ()):
                text.append(s[i + 1])
                i += 2
            else:
                text.append(s[i])
                i += 1
        if i >= n:
            raise Unreadable("a backtick is not closed", self.i)
        self.i = i + 1
        inner = _Reader("".join(text), self.depth + 1)
        body = inner.sequence("`")
        if inner.i < inner.n:
            raise Unreadable("unexpected text between backticks", self.i)
        return ("c", body, quoted)

    def dollar(self, quoted: bool) -> Part:
        s, n, i = self.s, self.n, self.i
        c = s[i + 1 : i + 2]
        if c == "(":
            if s.startswith("((", i + 1):
                end = self.arithmetic_end(i + 3)
                if end >= 0:
                    parts = self.arithmetic(i + 3, end)
                    self.i = end + 2
                    return ("a", parts)
            self.i = i + 2
            body = self.sequence(")")
            self.expect(")")
            return ("c", body, quoted)
        if c == "{":
            return self.parameter(quoted)
        if c == "'" and not quoted:
            return self.ansi_c()
        if c == '"' and not quoted:  # $"…": a translated string
            self.i = i + 2
            inner = self.quoted_parts('"')
            if not inner or (len(inner) == 1 and inner[0][0] == "q"):
                return inner[0] if inner else ("q", "")
            return ("v", "", "", inner, True)
        if c == "[":  # old arithmetic
            end, running = self.subscript(i + 1)
            if end >= 0:
                self.i = end + 1
                return ("a", running)
        if c and c in _NAME_START:
            j = i + 2
            while j < n and s[j] in _NAME:
                j += 1
            self.i = j
            return ("v", s[i + 1 : j], "", None, quoted)
        if c and c in _SPECIAL:
            self.i = i + 2
            return ("v", c, "", None, quoted)
        self.i = i + 1
        return ("t", "$")

    def parameter(self, quoted: bool) -> Part:
        """``${…}``"""
        s, n = self.s, self.n
        begin = self.i
        i = self.i + 2
        prefix = ""
        if i < n and s[i] in "#!" and s[i + 1 : i + 2] not in ("}", ""):
            prefix = s[i]
            i += 1
        j = i
        if j < n and s[j] in _NAME_START:
            while j < n and s[j] in _NAME:
                j += 1
        elif j < n and s[j] in _SPECIAL:
            j += 1
            while j < n and s[j].isdigit() and s[i].isdigit():
                j += 1
        name = s[i:j]
        subscript: Word = []
        if j < n and s[j] == "[":
            close, subscript = self.subscript(j)
            if close < 0:
                raise Unreadable("expected ']'", j)
            j = close + 1
        op_start = j
        while j < n and s[j] in ":-+=?#%/^,@" and j - op_start < 2:
            j += 1
        op = s[op_start:j]
        if op[:1] == ":" and op[1:] not in ("-", "+", "=", "?"):  # ${x:1:2}
            op, j = ":", op_start + 1
        elif op[:1] in ("-", "+", "=", "?", "@") and len(op) == 2:
            op, j = op[0], op_start + 1
        elif op[:1] == "/" and op[1:] not in ("/", "#", "%"):
            op, j = "/", op_start + 1
        elif op[:1] in "#%^," and len(op) == 2 and op[1] != op[0]:
            op, j = op[0], op_start + 1
        self.i = j
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise Unreadable("nested too deeply", self.i)
        arg = self.parameter_word(quoted)
        self.depth -= 1
        if self.i >= n or s[self.i] != "}":
            raise Unreadable("expected '}'", begin)
        self.i += 1
        if subscript:  # it runs something of its own: the value is not followed, what runs is
            return ("v", name, "[", [*subscript, *arg], quoted)
        if prefix:
            return ("v", name, prefix, arg, quoted)
        return ("v", name, op, arg if op else None, quoted)

    def subscript(self, i: int) -> tuple[int, Word]:
        """The index of the ``]`` that closes the ``[`` at ``i`` (-1: none), and the parts when something in it runs."""
        s, n = self.s, min(self.n, i + 2000)
        j, runs, depth = i + 1, False, 0
        if self.scanned > 16 * self.n + 4000:
            return -1, []
        while j < n:
            c = s[j]
            if c == "]" and not depth:
                self.scanned += j - i
                return j, (self.arithmetic(i + 1, j) if runs else [])
            if c == "`" or (c == "$" and s[j + 1 : j + 2] in ("(", "{")):
                runs = True
            if c in "([{":
                depth += 1
            elif c in ")]}":
                depth -= depth > 0
            elif c in "'\"":
                end = s.find(c, j + 1, n)
                j = end if end > 0 else j
            elif c == "\\":
                j += 1
            j += 1
        self.scanned += 2000
        return -1, []

    def parameter_word(self, quoted: bool) -> Word:
        """What stands behind the operator, up to the closing brace (not consumed)."""
        s, n = self.s, self.n
        parts: Word = []
        i = self.i
        while i < n and s[i] != "}":
            c = s[i]
            if c == "'" and not quoted:
                end = s.find("'", i + 1)
                if end < 0:
                    raise Unreadable("a quote is not closed", i)
                parts.append(("q", s[i + 1 : end]))
                i = end + 1
            elif c == '"':
                self.i = i + 1
                parts.extend(self.quoted_parts('"') or [("q", "")])
                i = self.i
            elif c == "\\":
                parts.append(("q", s[i + 1 : i + 2]))
                i += 2
            elif c == "$":
                self.i = i
                parts.append(self.dollar(quoted))
                i = self.i
            elif c == "`":
                self.i = i
                parts.append(self.backticks(quoted))
                i = self.i
            else:
                start = i
                while i < n and s[i] not in "}'\"\\$`":
                    i += 1
                if i == start:
                    i += 1
                parts.append(("q" if quoted else "t", s[start:i]))
        self.i = i
        return parts

    def arithmetic_end(self, i: int) -> int:
        """The index of the ``))`` that closes arithmetic begun before ``i``, or -1 when this is no arithmetic."""
        s, n, depth, start = self.s, min(self.n, i + 20_000), 0, i  # nobody writes longer arithmetic
        if self.scanned > 16 * self.n + 4000:  # text made to be looked at again and again
            return -1
        found = -1
        while i < n:
            c = s[i]
            if c == "(":
                depth += 1
            elif c == ")":
                if not depth:
                    found = i if s.startswith("))", i) else -1
                    break
                depth -= 1
            elif c == "\\":
                i += 1
            elif c in "\"'`":
                i = s.find(c, i + 1)
                if i < 0:
                    break
            elif c == "\n" and depth == 0 and s[i + 1 : i + 2] == "\n":
                break
            i += 1
        self.scanned += (i if i >= 0 else n) - start
        return found

    def arithmetic(self, start: int, end: int) -> Word:
        inside = self.s[start:end]
        if "$" not in inside and "`" not in inside:
            return [("t", inside)]
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise Unreadable("nested too deeply", start)
        inner = _Reader(inside, self.depth)
        parts = inner.quoted_parts("")
        self.depth -= 1
        return parts

    def ansi_c(self) -> Part:
        """``$'…'``"""
        s, n, i = self.s, self.n, self.i + 2
        out: list[str] = []
        while i < n and s[i] != "'":
            c = s[i]
            if c != "\\" or i + 1 >= n:
                out.append(c)
                i += 1
                continue
            e = s[i + 1]
            i += 2
            simple = _ANSI.get(e)
            if simple is not None:
                out.append(simple)
            elif e in "01234567":
                j = i
                while j < n and j < i + 2 and s[j] in "01234567":
                    j += 1
                code = int(s[i - 1 : j], 8) & 255
                out.append(chr(code) if code else "\0")
                i = j
            elif e in "xuU":
                most = {"x": 2, "u": 4, "U": 8}[e]
                j = i
                while j < n and j < i + most and s[j] in "0123456789abcdefABCDEF":
                    j += 1
                code = int(s[i:j], 16) if j > i else -1
                out.append(chr(code) if 0 <= code < 0x110000 else "\\" + e)
                i = j
            elif e == "c" and i < n:
                out.append(chr(ord(s[i]) & 31))
                i += 1
            else:
                out.append("\\" + e)
        if i >= n:
            raise Unreadable("a quote is not closed", self.i)
        self.i = i + 1
        return ("q", "".join(out).partition("\0")[0])  # the shell's own strings end at a NUL


_ANSI = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
