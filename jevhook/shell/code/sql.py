"""What a database text would do: SQL, Redis commands, mongo shell scripts.

SQL is cut into tokens (strings, quoted names, comments of every dialect) and each statement is read by its first
words; what stands in a string is data.  Each act is a pair of a kind and what it is about:

``drop`` "database x", "table x", "schema x", "user x", …   ``drop-temp`` a temporary table
``drop-column`` "table.column"                    ``truncate`` table
``delete`` / ``delete-all`` table                 ``update`` / ``update-all`` table
``insert`` table                                  ``alter`` "table x"
``grant`` / ``revoke`` the statement's words      ``flush`` what is emptied or reset
``copy-program`` the program's shell line         ``read-file`` / ``write-file`` path
``shell`` a shell line (psql ``\\!``, mysql ``system``, sqlite ``.shell``)
``run-file`` path (psql ``\\i``, mysql ``source``, sqlite ``.read``)
``kill`` what is stopped                          ``shutdown`` ""
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Act = tuple[str, str]
    # kind: w word, q quoted name, s string, n number, o punctuation
    Token = tuple[str, str, int]

_MAX = 200_000
_TEMPORARY = ("temp", "temporary")
_WORD_MORE = frozenset("_$")
_OBJECTS = frozenset(
    [
        "database",
        "table",
        "schema",
        "view",
        "index",
        "user",
        "role",
        "function",
        "procedure",
        "trigger",
        "sequence",
        "type",
        "domain",
        "extension",
        "keyspace",
        "tablespace",
        "publication",
        "subscription",
        "server",
        "event",
        "aggregate",
        "collation",
        "policy",
        "rule",
        "owned",
        "catalog",
        "materialized",
        "foreign",
        "external",
        "package",
        "stream",
        "warehouse",
    ]
)


def tokens(text: str, mysql: bool = False) -> list[Token]:
    """The text's tokens with their places; comments are left out, unfinished ones too.  Linear in the text.

    ``mysql``: a backslash escapes in a string, comments do not nest, ``--`` needs a space behind it, ``#`` is a comment
    anywhere (elsewhere, where it is an operator, only at the start of a statement or line)."""
    out: list[Token] = []
    i, size = 0, min(len(text), _MAX)
    while i < size:
        c = text[i]
        if c.isspace():
            i += 1
        elif (
            c == "-" and text.startswith("--", i) and not (mysql and not text[i + 2 : i + 3].isspace() and i + 2 < size)
        ) or (c == "#" and (mysql or not out or out[-1][1] == ";" or not text[text.rfind("\n", 0, i) + 1 : i].strip())):
            end = text.find("\n", i)
            i = size if end < 0 else end
        elif c == "/" and text.startswith("/*", i):
            # MySQL runs what stands in /*! … */
            runs = text[i + 2 : i + 3] == "!"
            if runs:
                i += 3
                while i < size and text[i].isdigit():
                    i += 1
                continue
            depth, i = 1, i + 2
            while i < size and depth:
                close = text.find("*/", i)
                if close < 0:
                    i = size
                    break
                depth += (0 if mysql else text.count("/*", i, close)) - 1
                i = close + 2
        elif c == "*" and text.startswith("*/", i):
            i += 2
        elif c == "'":
            value, i = _quoted(text, i, size, "'", mysql)
            out.append(("s", value, i))
        elif c == '"':
            value, i = _quoted(text, i, size, '"', mysql)
            out.append(("q", value, i))
        elif c == "`":
            value, i = _quoted(text, i, size, "`", False)
            out.append(("q", value, i))
        elif c == "[" and (out and (out[-1][1] == "." or out[-1][0] == "w") and not (i and text[i - 1].isalnum())):
            end = text.find("]", i, i + 200)
            if end < 0:
                out.append(("o", c, i))
                i += 1
            else:
                out.append(("q", text[i + 1 : end], i))
                i = end + 1
        elif c == "$" and (tag := _dollar(text, i)):
            end = text.find(tag, i + len(tag))
            end = size if end < 0 else end
            out.append(("s", text[i + len(tag) : end], i))
            i = end + len(tag)
        elif c.isalpha() or c == "_" or c in "\0\1":
            j = i + 1
            while j < size and (text[j].isalnum() or text[j] in "_$\0\1"):
                j += 1
            if j - i <= 2 and text[j : j + 1] == "'" and text[i:j].lower() in ("e", "n", "b", "x"):
                value, j = _quoted(text, j, size, "'", True)
                out.append(("s", value, i))
            else:
                out.append(("w", text[i:j], i))
            i = j
        elif c.isdigit():
            j = i + 1
            while j < size and (text[j].isalnum() or text[j] == "."):
                j += 1
            out.append(("n", text[i:j], i))
            i = j
        elif c == "\\":
            end = text.find("\n", i)
            end = size if end < 0 else end
            out.append(("b", text[i + 1 : end], i))
            i = end
        else:
            out.append(("o", c, i))
            i += 1
    return out


def _quoted(text: str, i: int, size: int, quote: str, escapes: bool) -> tuple[str, int]:
    out: list[str] = []
    i += 1
    while i < size:
        c = text[i]
        if c == quote:
            if text[i + 1 : i + 2] == quote:
                out.append(c)
                i += 2
                continue
            return "".join(out), i + 1
        if c == "\\" and escapes and i + 1 < size:
            out.append(text[i + 1])
            i += 2
            continue
        out.append(c)
        i += 1
    return "".join(out), size


def _dollar(text: str, i: int) -> str:
    j = i + 1
    while j < len(text) and j < i + 40 and (text[j].isalnum() or text[j] == "_"):
        j += 1
    if text[j : j + 1] == "$" and not text[i + 1 : i + 2].isdigit():
        return text[i : j + 1]
    return ""


class _Statement:
    """A cursor over one statement's tokens."""

    __slots__ = ("i", "low", "parts")

    def __init__(self, parts: list[Token]) -> None:
        self.parts = parts
        self.low = [value.lower() if kind == "w" else "" for kind, value, _ in parts]
        self.i = 0

    def at(self, *words: str) -> bool:
        return self.i < len(self.low) and self.low[self.i] in words

    def skip(self, *words: str) -> None:
        while self.i < len(self.low) and self.low[self.i] in words:
            self.i += 1

    def find(self, word: str, start: int = 0) -> int:
        """The place of a word outside parentheses, or -1."""
        depth = 0
        for place in range(start, len(self.parts)):
            kind, value, _ = self.parts[place]
            if kind == "o":
                depth += (value == "(") - (value == ")")
            elif depth <= 0 and self.low[place] == word:
                return place
        return -1

    def name(self) -> str:
        """A name with its dots."""
        out: list[str] = []
        while self.i < len(self.parts):
            kind, value, _ = self.parts[self.i]
            if kind not in "wqs":
                break
            out.append(value)
            self.i += 1
            if self.i + 1 < len(self.parts) and self.parts[self.i][:2] == ("o", "."):
                self.i += 1
                continue
            break
        return ".".join(out)

    def names(self) -> list[str]:
        out: list[str] = []
        while True:
            name = self.name()
            if not name:
                return out
            out.append(name)
            self.skip("cascade", "restrict")
            if self.i < len(self.parts) and self.parts[self.i][:2] == ("o", ","):
                self.i += 1
                self.skip("only")
                continue
            return out

    def string(self, start: int) -> str | None:
        for kind, value, _ in self.parts[start : start + 6]:
            if kind == "s" or kind == "q":
                return value
        return None


def _always(statement: _Statement, where: int) -> bool:
    """Whether a WHERE holds for every row: 1=1, true, 'a'='a', or such a part joined by OR."""
    end = len(statement.parts)
    for place in range(where + 1, end):
        if statement.low[place] in ("order", "limit", "returning", "group"):
            end = place
            break
    groups: list[list[Token]] = [[]]
    depth = 0
    for part in statement.parts[where + 1 : end]:
        kind, value, _ = part
        if kind == "o" and value in "()":
            depth += 1 if value == "(" else -1
            continue
        if kind == "w" and value.lower() == "or":
            groups.append([])
            continue
        groups[-1].append(part)
    return any(_tautology(group) for group in groups)


def _tautology(group: list[Token]) -> bool:
    values = [value for _, value, _ in group]
    low = [value.lower() for value in values]
    if len(group) == 1:
        return group[0][0] != "s" and (low[0] == "true" or (group[0][0] == "n" and low[0].strip("0.") != ""))
    if len(group) == 3 and values[1] == "=":
        return (values[0] == values[2] and group[0][0] in "sn" and group[2][0] in "sn") or (
            low[0] == low[2] and group[0][0] == group[2][0] in ("w", "q")
        )
    if len(group) == 3 and low[1] == "is" and low[0] == "true":
        return low[2] == "true"
    if len(group) == 3 and low[1] == "like" and values[2] == "%":
        return True
    return len(group) == 4 and low[1:] == ["is", "not", "null"] and low[0] in ("id", "1")


def read_sql(text: str, dialect: str = "") -> list[tuple[str, str]]:
    """The acts of a text of SQL statements and of the clients' own commands, in order.  Never raises.

    ``dialect``  "mysql", "standard" (PostgreSQL, SQLite and the rest), or "" where it is not known: a text that the two
    cut differently is then read both ways, so that neither can hide a statement from the other."""
    text = text[:_MAX]
    acts = _read(text, dialect == "mysql")
    if not dialect and ("\\'" in text or text.count("/*") > 1 or _tight_comment(text)):
        acts += [act for act in _read(text, True) if act not in acts]
    return acts


def _tight_comment(text: str) -> bool:
    place = text.find("--")
    for _ in range(200):
        if place < 0:
            return False
        if text[place + 2 : place + 3].strip():
            return True
        place = text.find("--", place + 2)
    return False


def _read(text: str, mysql: bool) -> list[Act]:
    acts: list[Act] = []
    temporary: set[str] = set()
    parts: list[Token] = []
    rest = _client_lines(text, acts)
    for token in [*tokens(rest, mysql), ("o", ";", 0)]:
        if token[0] == "b":
            if parts:
                _statement(_Statement(parts), temporary, acts, 0)
                parts = []
            _backslash(token[1], acts)
        elif token[0] == "o" and token[1] == ";":
            if parts:
                _statement(_Statement(parts), temporary, acts, 0)
            parts = []
        elif (
            token[0] == "w"
            and len(token[1]) == 2
            and token[1].lower() == "go"
            and parts
            and _line_alone(rest, token[2])
        ):
            _statement(_Statement(parts), temporary, acts, 0)
            parts = []
        else:
            parts.append(token)
    return acts


def _line_alone(text: str, place: int) -> bool:
    before = text.rfind("\n", 0, place)
    after = text.find("\n", place)
    return text[before + 1 : after if after >= 0 else len(text)].strip().lower() == "go"


def _client_lines(text: str, acts: list[Act]) -> str:
    """sqlite's dot commands and mysql's ``system`` and ``source`` lines, taken out of the text."""
    if "." not in text and "s" not in text.lower():
        return text
    kept: list[str] = []
    found = False
    open_statement = False
    for line in text.split("\n"):
        bare = line.strip()
        if not open_statement:
            if bare.startswith(".") and bare[1:2].isalpha():
                found = True
                _dot(bare, acts)
                kept.append("")
                continue
            head, _, tail = bare.partition(" ")
            if head.lower() in ("system", "source") and tail:
                found = True
                line_text = tail.rstrip(";").strip()
                acts.append(("shell" if head.lower() == "system" else "run-file", line_text))
                kept.append("")
                continue
        if bare and not bare.startswith(("--", "#")):
            open_statement = not bare.endswith(";")
        kept.append(line)
    return "\n".join(kept) if found else text


def _dot(line: str, acts: list[Act]) -> None:
    words = line.split(None, 1)
    name, tail = words[0][1:].lower(), words[1].strip() if len(words) > 1 else ""
    path = tail.split(None, 1)[0].strip("'\"") if tail else ""
    if name in ("shell", "system", "sy", "sh"):
        acts.append(("shell", tail))
    elif name in ("output", "once", "log", "backup", "save", "clone", "excel"):
        if path.startswith("|"):
            acts.append(("shell", tail.strip("'\"")[1:]))
        elif path and path not in ("stdout", "off", "-e", "-x"):
            acts.append(("write-file", tail.split()[-1].strip("'\"")))
    elif name in ("read",):
        if path.startswith("|"):
            acts.append(("shell", tail.strip("'\"")[1:]))
        elif path:
            acts.append(("run-file", path))
    elif name == "import" and tail:
        words = [word.strip("'\"") for word in tail.split() if not word.startswith("-")]
        if words and words[0].startswith("|"):
            acts.append(("shell", tail.strip("'\"")[1:]))
        elif words:
            acts.append(("read-file", words[0]))
    elif name == "restore" and tail:
        acts.append(("flush", "database main"))


def _backslash(line: str, acts: list[Act]) -> None:
    """psql's and mysql's backslash commands."""
    word = line.split(None, 1)[0] if line.split() else ""
    tail = line[len(word) :].strip()
    if word.startswith("!"):
        acts.append(("shell", line[1:].strip()))
    elif word in ("i", "ir", "include", "."):
        acts.append(("run-file", tail.strip("'\"")))
    elif word in ("o", "out", "w", "write", "g", "gx"):
        path = tail.strip("'\"")
        if path.startswith("|"):
            acts.append(("shell", path[1:].strip()))
        elif path and not path.startswith("("):
            acts.append(("write-file", path))
    elif word == "copy":
        _statement(_Statement(tokens("copy " + tail)), set(), acts, 0)


def _statement(s: _Statement, temporary: set[str], acts: list[Act], depth: int) -> None:
    _files(s, acts)
    s.skip("explain", "analyze", "verbose", "begin", "declare") if not s.at("begin") else s.skip("begin")
    explained = s.i > 0 and s.low[0] == "explain" and "analyze" not in s.low[:4]
    if explained:
        return
    if s.at("with"):
        # a common table expression may itself delete: DELETE … RETURNING inside the parentheses
        for place in range(s.i, len(s.low)):
            if s.low[place] in ("delete", "update", "truncate") and depth < 3:
                before = s.parts[place - 1][1] if place else ""
                if before in ("(", ")"):
                    _statement(_Statement(_inside(s.parts, place)), temporary, acts, depth + 1)
        return
    word = s.low[s.i] if s.i < len(s.low) else ""
    s.i += 1
    if word == "drop":
        _drop(s, temporary, acts)
    elif word == "create":
        _create(s, temporary, acts, depth)
    elif word == "truncate":
        s.skip("table", "only")
        for name in s.names():
            acts.append(("drop-temp" if name.lower() in temporary else "truncate", name))
    elif word == "delete":
        _delete(s, temporary, acts)
    elif word == "update":
        _update(s, temporary, acts)
    elif word in ("insert", "replace"):
        s.skip("into", "ignore", "low_priority", "delayed", "or", "replace", "abort", "fail", "rollback")
        acts.append(("insert", s.name()))
    elif word == "alter":
        _alter(s, acts)
    elif word in ("grant", "revoke"):
        acts.append((word, _words(s.parts, s.i)))
    elif word in ("flush", "reset", "purge"):
        acts.append(("flush", _words(s.parts, s.i)))
    elif word in ("kill",):
        acts.append(("kill", _words(s.parts, s.i)))
    elif word == "shutdown":
        acts.append(("shutdown", ""))
    elif word == "rename" and s.at("table"):
        s.skip("table")
        acts.append(("alter", "table " + s.name()))
    elif word == "copy":
        _copy(s, acts)
    elif word == "set" and s.at("password"):
        acts.append(("grant", "set password"))
    elif word == "attach":
        s.skip("database")
        path = s.string(s.i)
        if path is not None:
            acts.append(("write-file", path))
    elif word == "vacuum" and "into" in s.low:
        path = s.string(s.low.index("into") + 1)
        if path is not None:
            acts.append(("write-file", path))
    elif word == "do" and depth < 3:
        body = s.string(s.i)
        if body is not None:
            _nested(body, temporary, acts, depth)
    elif word in ("exec", "execute", "call"):
        _execute(s, temporary, acts, depth)
    elif word == "load" and s.at("data"):
        where = s.find("infile")
        path = s.string(where + 1) if where >= 0 else None
        if path is not None:
            acts.append(("read-file", path))
    elif word in ("then", "else", "loop", "if") and depth < 3:
        _nested_words(s, temporary, acts, depth)


def _nested_words(s: _Statement, temporary: set[str], acts: list[Act], depth: int) -> None:
    for place in range(s.i, len(s.low)):
        if s.low[place] in ("drop", "delete", "truncate", "update", "alter", "execute"):
            _statement(_Statement(s.parts[place:]), temporary, acts, depth + 1)
            return


def _nested(body: str, temporary: set[str], acts: list[Act], depth: int) -> None:
    parts: list[Token] = []
    for token in [*tokens(body), ("o", ";", 0)]:
        if token[0] == "o" and token[1] == ";":
            if parts:
                _statement(_Statement(parts), temporary, acts, depth + 1)
                parts = []
        elif token[0] == "w" and token[1].lower() in ("begin", "loop", "then", "else") and len(parts) < 40:
            parts = []
        else:
            parts.append(token)


def _inside(parts: list[Token], start: int) -> list[Token]:
    """The tokens from a place to the parenthesis that closes around it."""
    depth = 0
    for place in range(start, len(parts)):
        kind, value, _ = parts[place]
        if kind == "o":
            depth += (value == "(") - (value == ")")
            if depth < 0:
                return parts[start:place]
    return parts[start:]


def _words(parts: list[Token], start: int) -> str:
    out = ""
    for _, value, _ in parts[start : start + 24]:
        tight = not out or value in (",", ".", "@", ")") or out.endswith((".", "(", "@"))
        out += value if tight else " " + value
        if value == ",":
            out += " "
    return " ".join(out.split())


def _drop(s: _Statement, temporary: set[str], acts: list[Act]) -> None:
    temp = False
    if s.at(*_TEMPORARY):
        temp = True
        s.i += 1
    s.skip("materialized", "foreign", "external", "unique", "if_exists")
    kind = s.low[s.i] if s.i < len(s.low) else ""
    if kind not in _OBJECTS:
        if kind:
            acts.append(("drop", _words(s.parts, s.i)))
        return
    s.i += 1
    s.skip("concurrently")
    if s.at("if"):
        s.skip("if", "not", "exists")
    if kind == "owned":
        s.skip("by")
    kind = "database" if kind == "keyspace" else kind
    names = s.names()
    for name in names or ["\0"]:
        gone = (
            temp or name.lower() in temporary or name.startswith("#") or name.lower().startswith(("pg_temp.", "temp."))
        )
        acts.append(("drop-temp" if gone else "drop", f"{kind} {name}"))


def _create(s: _Statement, temporary: set[str], acts: list[Act], depth: int) -> None:
    s.skip("or", "replace")
    temp = s.at(*_TEMPORARY, "local", "global", "unlogged") and any(word in _TEMPORARY for word in s.low[s.i : s.i + 2])
    s.skip(*_TEMPORARY, "local", "global", "unlogged")
    if s.at("table"):
        s.i += 1
        if s.at("if"):
            s.skip("if", "not", "exists")
        name = s.name()
        if temp and name:
            temporary.add(name.lower())
    elif s.at("user", "role") and "superuser" in s.low:
        acts.append(("grant", "superuser"))


def _delete(s: _Statement, temporary: set[str], acts: list[Act]) -> None:
    s.skip("low_priority", "quick", "ignore", "from", "only")
    name = s.name()
    if not name:
        return
    where = s.find("where", s.i)
    if "limit" in s.low and where < 0:
        every = False
    else:
        every = (where < 0 and s.find("using", s.i) < 0) or (where >= 0 and _always(s, where))
    if name.lower() in temporary:
        return
    acts.append(("delete-all" if every else "delete", name))


def _update(s: _Statement, temporary: set[str], acts: list[Act]) -> None:
    s.skip("low_priority", "ignore", "only", "or", "replace", "abort", "fail", "rollback")
    name = s.name()
    if not name or s.find("set", s.i) < 0 or name.lower() in temporary:
        return
    where = s.find("where", s.i)
    every = where < 0 or _always(s, where)
    acts.append(("update-all" if every else "update", name))


def _alter(s: _Statement, acts: list[Act]) -> None:
    kind = s.low[s.i] if s.i < len(s.low) else ""
    s.i += 1
    if s.at("if"):
        s.skip("if", "exists")
    s.skip("only")
    name = s.name()
    if kind in ("user", "role"):
        if any(word in s.low for word in ("superuser", "password", "identified")):
            acts.append(("grant", f"alter {kind} {name}"))
        else:
            acts.append(("alter", f"{kind} {name}"))
        return
    dropped = False
    place = s.i
    while place < len(s.low):
        if s.low[place] == "drop":
            after = place + 1
            word = s.low[after] if after < len(s.low) else ""
            if word in ("constraint", "index", "primary", "foreign", "key", "check", "default", "not", "identity"):
                place += 1
                continue
            if word == "partition":
                acts.append(("truncate", name))
                dropped = True
                place += 1
                continue
            s.i = after
            s.skip("column")
            if s.at("if"):
                s.skip("if", "exists")
            column = s.name()
            acts.append(("drop-column", f"{name}.{column}"))
            dropped = True
            place = max(s.i, place + 1)
            continue
        place += 1
    if not dropped:
        acts.append(("alter", f"{kind} {name}".strip()))


def _copy(s: _Statement, acts: list[Act]) -> None:
    for place in range(s.i, len(s.low)):
        if s.low[place] in ("to", "from"):
            after = place + 1
            if after < len(s.low) and s.low[after] == "program":
                line = s.string(after + 1)
                acts.append(("copy-program", line if line is not None else "\0"))
            elif after < len(s.parts) and s.parts[after][0] == "s":
                acts.append(("write-file" if s.low[place] == "to" else "read-file", s.parts[after][1]))
            return


def _execute(s: _Statement, temporary: set[str], acts: list[Act], depth: int) -> None:
    """EXECUTE 'text', and SQL Server's xp_cmdshell."""
    s.skip("immediate")
    for place in range(s.i, min(len(s.low), s.i + 8)):
        if s.low[place] == "xp_cmdshell":
            line = s.string(place + 1)
            acts.append(("shell", line if line is not None else "\0"))
            return
    body = s.string(s.i)
    if body is not None and depth < 3:
        _nested(body, temporary, acts, depth)


_READS = frozenset(
    [
        "pg_read_file",
        "pg_read_binary_file",
        "load_file",
        "lo_import",
        "readfile",
        "pg_ls_dir",
        "read_text",
        "read_blob",
        "read_csv",
        "read_csv_auto",
        "read_parquet",
    ]
)
_WRITES = frozenset(("lo_export", "writefile", "pg_file_write"))


def _files(s: _Statement, acts: list[Act]) -> None:
    """Functions and clauses that touch the server's files, wherever they stand in a statement."""
    for place, word in enumerate(s.low):
        if not word:
            continue
        if word in ("outfile", "dumpfile"):
            name = s.string(place + 1)
            if name is not None:
                acts.append(("write-file", name))
        elif word in _READS or word in _WRITES:
            if place + 1 < len(s.parts) and s.parts[place + 1][:2] == ("o", "("):
                strings = [value for kind, value, _ in s.parts[place + 2 : place + 8] if kind == "s"]
                path = strings[-1] if word == "lo_export" and strings else strings[0] if strings else "\0"
                acts.append(("read-file" if word in _READS else "write-file", path))
        elif word in ("pg_terminate_backend", "pg_cancel_backend"):
            acts.append(("kill", "backend"))


_REDIS_FLUSH = frozenset(("FLUSHALL", "FLUSHDB"))
_REDIS_WRITES = frozenset(
    [
        "SET",
        "MSET",
        "SETEX",
        "HSET",
        "LPUSH",
        "RPUSH",
        "SADD",
        "ZADD",
        "APPEND",
        "GETSET",
        "INCR",
        "DECR",
        "EXPIRE",
        "RENAME",
        "MOVE",
    ]
)


def read_redis(words: Sequence[str]) -> list[tuple[str, str]]:
    """The acts of one Redis command, given as words (without ``redis-cli`` and its options).

    ``flush`` "all" or "database", ``shutdown``, ``delete`` key, ``insert`` key, ``config`` "name value" (with
    ``write-file`` where it moves the dump), ``run-code`` the script of EVAL, ``load-module`` path, ``replicate`` host,
    ``kill`` "client", ``debug`` what."""
    if not words:
        return []
    head = words[0].upper()
    rest = list(words[1:])
    if head == "-X" or head == "-N":
        return read_redis(rest)
    if head in _REDIS_FLUSH:
        return [("flush", "all" if head == "FLUSHALL" else "database")]
    if head == "SHUTDOWN":
        return [("shutdown", " ".join(rest))]
    if head in ("DEL", "UNLINK"):
        return [("delete", key) for key in rest] or [("delete", "\0")]
    if head in _REDIS_WRITES:
        return [("insert", rest[0] if rest else "\0")]
    if head == "CONFIG" and rest:
        what = rest[0].upper()
        if what == "SET":
            name = rest[1].lower() if len(rest) > 1 else "\0"
            value = rest[2] if len(rest) > 2 else "\0"
            acts = [("config", f"{name} {value}")]
            if name in ("dir", "dbfilename", "logfile", "appendfilename"):
                acts.append(("write-file", value))
            return acts
        return [("config", what.lower())] if what in ("REWRITE", "RESETSTAT") else []
    if head in ("EVAL", "EVALSHA", "FCALL"):
        return [("run-code", rest[0] if rest and head == "EVAL" else "\0")]
    if head == "SCRIPT" and rest:
        return [("flush", "scripts")] if rest[0].upper() == "FLUSH" else []
    if head in ("SLAVEOF", "REPLICAOF"):
        return [] if rest[:1] and rest[0].upper() == "NO" else [("replicate", rest[0] if rest else "\0")]
    if head == "MODULE" and len(rest) > 1 and rest[0].upper() == "LOAD":
        return [("load-module", rest[1])]
    if head == "CLIENT" and rest and rest[0].upper() == "KILL":
        return [("kill", "client")]
    if head == "DEBUG" and rest:
        return [("debug", rest[0].lower())]
    if head == "CLUSTER" and rest and rest[0].upper() in ("RESET", "FLUSHSLOTS", "FORGET"):
        return [("flush", "cluster")]
    if head in ("ACL",) and rest and rest[0].upper() in ("SETUSER", "DELUSER"):
        return [("grant", " ".join(rest))]
    if head in ("SWAPDB", "RESTORE", "MIGRATE"):
        return [("insert", rest[0] if rest else "\0")]
    if head in ("SAVE", "BGSAVE"):
        return [("write-file", "\0")]
    return []


_MONGO = {
    "dropDatabase": "database",
    "dropIndexes": "index",
    "dropUser": "user",
    "dropAllUsers": "user",
    "dropRole": "role",
    "dropAllRoles": "role",
}


def read_mongo(text: str) -> list[tuple[str, str]]:
    """The acts of a mongo shell script, read by JavaScript's tokens: ``drop`` "database x" or "collection x",
    ``delete`` / ``delete-all`` collection, ``update`` / ``update-all``, ``insert``, ``shutdown``, ``grant``, ``shell``.
    Never raises."""
    from .record import Record, Spent
    from .tokens import Lexer

    try:
        from .javascript import LANGUAGE

        lexer = Lexer(text[:_MAX], LANGUAGE, Record({}, []))
        try:
            lexer.run()
        except Spent:
            pass
        parts = lexer.tokens
    except RecursionError:
        return []
    acts: list[Act] = []
    database = "\0"
    for place, token in enumerate(parts):
        if token.kind != "i" or place + 1 >= len(parts):
            continue
        if token.value == "use" and parts[place + 1].kind == "i" and (token.line or place == 0):
            database = parts[place + 1].value
            continue
        if parts[place + 1].value != "(" or parts[place + 1].kind != "o":
            continue
        called = place > 0 and parts[place - 1].kind == "o" and parts[place - 1].value in (".", "?.")
        first = parts[place + 2] if place + 2 < len(parts) else None
        string = first.value if first is not None and first.kind == "s" and isinstance(first.value, str) else None
        name = token.value
        if not called:
            if name in ("runProgram", "run", "shellHelper"):
                acts.append(("shell", string or "\0"))
            continue
        if name in ("getSiblingDB", "getDB"):
            database = string or "\0"
            continue
        owner = _collection(parts, place - 2)
        empty = (
            first is not None
            and first.kind == "o"
            and (
                first.value == ")" or (first.value == "{" and place + 3 < len(parts) and parts[place + 3].value == "}")
            )
        )
        if name == "dropDatabase":
            acts.append(("drop", f"database {database}"))
        elif name in _MONGO:
            acts.append(("drop", f"{_MONGO[name]} {string or owner}"))
        elif name == "drop":
            if (first is not None and first.value == ")") or (first is not None and first.value == "{"):
                acts.append(("drop", f"collection {owner}"))
        elif name == "dropCollection":
            acts.append(("drop", f"collection {string or chr(0)}"))
        elif name in ("deleteMany", "remove"):
            acts.append(("delete-all" if empty else "delete", owner))
        elif name in ("deleteOne", "findOneAndDelete", "findAndModify"):
            acts.append(("delete", owner))
        elif name == "updateMany":
            acts.append(("update-all" if empty else "update", owner))
        elif name in ("updateOne", "replaceOne", "update"):
            acts.append(("update", owner))
        elif name in ("insertOne", "insertMany", "insert", "save"):
            acts.append(("insert", owner))
        elif name in ("shutdownServer",):
            acts.append(("shutdown", ""))
        elif name in ("createUser", "grantRolesToUser", "updateUser", "changeUserPassword"):
            acts.append(("grant", name))
        elif name in ("adminCommand", "runCommand"):
            command = parts[place + 3] if place + 3 < len(parts) else None
            if command is not None and command.value in ("dropDatabase", "drop", "shutdown"):
                subject = parts[place + 5].value if place + 5 < len(parts) else "\0"
                if command.value == "shutdown":
                    acts.append(("shutdown", ""))
                elif command.value == "drop":
                    acts.append(("drop", f"collection {subject if isinstance(subject, str) else chr(0)}"))
                else:
                    acts.append(("drop", f"database {database}"))
    return acts


def _collection(parts: Sequence[object], place: int) -> str:
    """The name that stands before a method: db.users, db["users"], db.getCollection("users")."""
    if place < 0:
        return "\0"
    token = parts[place]
    kind, value = token.kind, token.value  # type: ignore[attr-defined]
    if kind == "i":
        return str(value)
    if kind == "o" and value in (")", "]") and place >= 2:
        before = parts[place - 1]
        if before.kind == "s" and isinstance(before.value, str):  # type: ignore[attr-defined]
            return str(before.value)  # type: ignore[attr-defined]
    return "\0"
