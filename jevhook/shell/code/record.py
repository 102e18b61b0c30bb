"""What the readers of code share: values that may be unknown, the work budget, and the list of acts.

A value is a str, bytes, number, list, tuple or dict where it is known, else one of ``Unknown`` (nothing is known but
where it came from), ``Alts`` (one of a few), ``Ref`` (a named thing of the language's library).
"""

from __future__ import annotations

from . import MAX_STEPS, Act

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Span = tuple[int, int]

DEEP = "\2"  # a star below any number of directories: becomes "\1" and recursive in an act
_LONG = 65_536
_BUILT = 16_384  # a text that code puts together piece by piece
_MOST = 8  # alternatives that are kept apart
_MANY_ACTS = 2_000

SHELLS = frozenset(
    [
        "sh",
        "bash",
        "zsh",
        "dash",
        "ksh",
        "mksh",
        "ash",
        "fish",
        "rbash",
        "csh",
        "tcsh",
        "cmd",
        "cmd.exe",
        "powershell",
        "powershell.exe",
        "pwsh",
        "busybox",
    ]
)
_PATHS = frozenset(("delete", "write", "read", "move", "chmod", "run-file"))


class Spent(Exception):
    """The work budget ran out."""


class Unknown:
    """A value that cannot be resolved.  ``origin``: "", downloaded, decoded, socket, stdin, or file (``path``)."""

    __slots__ = ("origin", "path")

    def __init__(self, origin: str = "", path: str = "") -> None:
        self.origin = origin
        self.path = path


class Ref:
    """A named thing of the library, with the arguments it was made with where it is an object."""

    __slots__ = ("args", "name", "opts")

    def __init__(self, name: str, args: Sequence[Any] = (), opts: dict[str, Any] | None = None) -> None:
        self.name = name
        self.args = args
        self.opts: dict[str, Any] = opts or {}


class DecodedText(str):
    """A text that was hidden by an encoding: running it as code is worth saying."""

    __slots__ = ()


class DecodedBytes(bytes):
    """Bytes that were hidden by an encoding."""

    __slots__ = ()


class Alts:
    """One of several values."""

    __slots__ = ("values",)

    def __init__(self, values: list[Any]) -> None:
        self.values = values


NOTHING = Unknown()
DOWNLOADED = Unknown("downloaded")
DECODED = Unknown("decoded")
SOCKET = Unknown("socket")
STDIN = Unknown("stdin")


def either(*values: Any) -> Any:
    """One value, or ``Alts`` of those that differ."""
    flat: list[Any] = []
    for value in values:
        for one in value.values if isinstance(value, Alts) else (value,):
            if not any(one is had or (type(one) is type(had) and one == had) for had in flat):
                flat.append(one)
    if len(flat) > _MOST:
        flat = [*flat[:_MOST], NOTHING]
    return flat[0] if len(flat) == 1 else Alts(flat)


def text(value: Any) -> str:
    """The value as text, with ``"\\0"`` for what is not known."""
    if isinstance(value, str):
        return value if len(value) <= _LONG else value[:_LONG] + "\0"
    if isinstance(value, bytes):
        return value[:_LONG].decode("utf-8", "replace")
    if isinstance(value, bool | float) or value is None:
        return str(value)
    if isinstance(value, int):
        return str(value) if -(10**18) < value < 10**18 else "\0"
    return "\0"


def variants(value: Any) -> Iterator[Any]:
    """Each alternative of a value, those inside a list too (at most a few)."""
    if isinstance(value, Alts):
        yield from value.values
    elif isinstance(value, list | tuple) and any(isinstance(one, Alts) for one in value):
        rows: list[list[Any]] = [[]]
        for one in value:
            choices = one.values if isinstance(one, Alts) and len(rows) * len(one.values) <= 16 else (one,)
            rows = [[*row, choice] for row in rows for choice in choices]
        yield from rows
    else:
        yield value


def concat(left: Any, right: Any) -> Any:
    """Two values as one text."""
    if isinstance(left, Alts) or isinstance(right, Alts):
        lefts = left.values if isinstance(left, Alts) else [left]
        rights = right.values if isinstance(right, Alts) else [right]
        return either(*(text(a) + text(b) for a in lefts for b in rights))
    head, tail = text(left), text(right)
    if tail[:1] == "\0" and head[-2:] in ("\0/", "\0\0"):
        head = head[:-2]  # unknown, a slash and unknown again is unknown: loops would pile them up
    elif tail[:1] == "\0" and head[-1:] == "\0":
        head = head[:-1]
    joined = head + tail
    return joined if len(joined) <= _BUILT else joined[:_BUILT] + "\0"


def known_text(value: Any) -> str | None:
    """The value where it is a text of which something is known, else None."""
    if isinstance(value, bytes):
        return value[:_LONG].decode("utf-8", "replace")
    return value if isinstance(value, str) and value.strip("\0") else None


def base(program: str) -> str:
    return program.replace("\\", "/").rsplit("/", 1)[-1].lower()


def words(line: str) -> list[str]:
    """A line split the way ``shlex.split`` does it, without importing it."""
    out: list[str] = []
    now, open_word, quote, i = [""], False, "", 0
    while i < len(line):
        c = line[i]
        if quote:
            if c == quote:
                quote = ""
            elif c == "\\" and quote == '"' and i + 1 < len(line) and line[i + 1] in '"\\$`':
                i += 1
                now.append(line[i])
            else:
                now.append(c)
        elif c in "'\"":
            quote, open_word = c, True
        elif c in " \t\r\n":
            if open_word:
                out.append("".join(now))
                now, open_word = [""], False
        elif c == "\\" and i + 1 < len(line):
            i += 1
            now.append(line[i])
            open_word = True
        else:
            now.append(c)
            open_word = True
        i += 1
    if open_word:
        out.append("".join(now))
    return out


def star(pattern: str) -> str:
    """A glob pattern with its active characters as sentinels: ``**/*.md`` becomes a deep star and ``.md``."""
    deep = "**" in pattern
    while "**/" in pattern:
        pattern = (
            pattern.replace("**/", "", 1) if "*" in pattern.split("**/", 1)[1] else pattern.replace("**/", "*/", 1)
        )
    out: list[str] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c in "*?":
            mark = DEEP if deep else "\1"
            if not out or out[-1] != mark:
                out.append(mark)
        elif c == "[" and "]" in pattern[i : i + 40]:
            out.append("\1")
            i = pattern.index("]", i)
        else:
            out.append(c)
        i += 1
    return "".join(out)


def join(*parts: str) -> str:
    """``posixpath.join`` that lets an unknown part stand where it is."""
    path = ""
    for part in parts:
        if part.startswith("/") or not path or (part[:1] == path == "\0"):
            path = part
        else:
            path = path + part if path.endswith("/") else path + "/" + part
    return path


def joined(parts: Sequence[Any]) -> Any:
    """``join`` of values, each of which may be one of several (``Alts``, or a list): at most 16 paths."""
    rows: list[list[str]] = [[]]
    for one in parts:
        choices = one if isinstance(one, list) else list(variants(one))
        rows = [[*row, text(choice)] for row in rows for choice in choices[:8]][:16]
    return either(*(join(*row) for row in rows))


def quote(word: str) -> str:
    """A word as a shell reads it whole."""
    return "'" + word.replace("'", "'\\''") + "'"


def percent(pattern: str, values: Any) -> str:
    """``%`` formatting with widths left aside."""
    items = list(values) if isinstance(values, tuple) else [values]
    out: list[str] = []
    i = place = 0
    while True:
        j = pattern.find("%", i)
        if j < 0:
            out.append(pattern[i:])
            break
        out.append(pattern[i:j])
        k = j + 1
        key = None
        if pattern[k : k + 1] == "(":
            close = pattern.find(")", k)
            if close > 0:
                key = pattern[k + 1 : close]
                k = close + 1
        while k < len(pattern) and pattern[k] in "-+ #0123456789.":
            k += 1
        if pattern[k : k + 1] == "%":
            out.append("%")
        elif key is not None:
            source = items[0] if items else None
            out.append(text(source.get(key, NOTHING)) if isinstance(source, dict) else "\0")
        else:
            out.append(text(items[place]) if place < len(items) else "\0")
            place += 1
        i = k + 1
    joined = "".join(out)
    return joined if len(joined) < 65_536 else joined[:65_536] + "\0"


def unbase64(value: str | bytes) -> bytes | None:
    import binascii

    data = value.encode("utf-8", "replace") if isinstance(value, str) else value
    if b"\0" in data:
        return None
    data = data.replace(b"-", b"+").replace(b"_", b"/")
    try:
        return binascii.a2b_base64(data + b"=" * (-len(data) % 4))
    except ValueError:
        return None


def unhex(value: str | bytes) -> bytes | None:
    import binascii

    data = value.encode("ascii", "replace") if isinstance(value, str) else value
    try:
        return binascii.a2b_hex(b"".join(data.split()))
    except ValueError:
        return None


def rot13(value: str) -> str:
    out = []
    for c in value:
        low = c.lower()
        if "a" <= low <= "z":
            c = chr((ord(low) - 97 + 13) % 26 + (97 if c == low else 65))
        out.append(c)
    return "".join(out)


def unsqueeze(value: bytes, bits: int) -> bytes | None:
    """zlib or gzip data, at most 64 KB of it."""
    import zlib

    try:
        return zlib.decompressobj(bits).decompress(value, _LONG)
    except zlib.error:
        return None


class Record:
    """The acts found so far, the work spent, and what is known about the program's surroundings."""

    __slots__ = (
        "acts",
        "args",
        "cwd",
        "env",
        "handed",
        "host",
        "host_at",
        "nested",
        "seen",
        "shelled",
        "source",
        "span",
        "steps",
        "sure",
        "understood",
    )

    def __init__(self, known: Mapping[str, str], args: Sequence[str], source: str = "") -> None:
        self.acts: list[Act] = []
        self.args = list(args)
        self.cwd = ""
        self.env = dict(known)
        self.host: str | None = None
        self.host_at: Span = (0, 0)
        self.handed = False
        self.shelled = False
        self.nested = 0
        self.seen: set[tuple[str, str, int, bool]] = set()
        self.source = source
        self.span: Span | None = None
        self.steps = 0
        self.sure = True
        self.understood = True

    def spend(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise Spent

    def home(self) -> str:
        return self.env.get("HOME", "\0")

    def tilde(self, value: Any) -> Any:
        """A path whose leading ``~`` stands for the home directory."""
        found = [
            self.home() + one[1:] if isinstance(one, str) and (one == "~" or one[:2] == "~/") else one
            for one in variants(value)
        ]
        return either(*found)

    def variable(self, name: Any) -> Any:
        return self.env.get(name, NOTHING) if isinstance(name, str) else NOTHING

    def place(self, value: Any) -> str:
        path = text(value)
        if path.startswith("file://"):
            path = path[7:]
        if path.startswith("~"):
            path = "./" + path
        if self.cwd and not path.startswith(("/", "\0")):
            path = self.cwd if path in ("", ".") else join(self.cwd, path)
        return path

    def chdir(self, value: Any) -> None:
        value = value.values[0] if isinstance(value, Alts) else value
        self.cwd = self.place(value)

    def add(
        self,
        kind: str,
        value: Any,
        at: Span,
        *,
        recursive: bool = False,
        sure: bool = True,
        cwd: Any = "",
        stdin: Any = None,
        detail: str = "",
    ) -> None:
        """One act for each alternative of ``value``; the same act at the same place counts once."""
        start, end = self.span or at
        sure = sure and self.sure
        for one in variants(value):
            self.spend()
            deep = recursive
            ready: str | list[str]
            if kind == "argv":
                ready = (
                    [text(word).replace(DEEP, "\1") for word in one] if isinstance(one, list | tuple) else [text(one)]
                )
                self._spawned(ready)
            elif kind in _PATHS:
                path = self.place(one)
                if DEEP in path:
                    deep = deep or kind == "delete"
                    path = path.replace(DEEP, "\1")
                ready = path
            else:
                ready = text(one).replace(DEEP, "\1")
                if kind == "shell":
                    self._spawned(ready.split(None, 4)[:5], ready)
                    if isinstance(one, Unknown) and one.origin == "socket":
                        self.handed = self.shelled = True
            key = (kind, "\n".join(ready) if isinstance(ready, list) else ready, start, sure)
            if key in self.seen or len(self.acts) >= _MANY_ACTS:
                continue
            self.seen.add(key)
            place = ""
            if kind in ("shell", "argv"):
                place = self.place(cwd) if cwd else self.cwd
            fed = None if stdin is None else text(stdin)
            self.acts.append(
                Act(
                    kind,
                    ready,
                    recursive=deep,
                    sure=sure,
                    start=start,
                    end=end,
                    cwd=place,
                    stdin=fed,
                    detail=detail,
                )
            )

    def _spawned(self, argv: list[str], line: str = "") -> None:
        if argv and base(argv[0]) in SHELLS:
            self.shelled = True
            whole = line or " ".join(argv[:6])
            if "<&" in whole or ">&" in whole or "/dev/tcp/" in whole:
                self.handed = True

    def connect(self, host: Any, at: Span, sure: bool = True) -> None:
        """A connection goes out to ``host`` ("*" where the program listens)."""
        name = text(host)
        self.host, self.host_at = name, at
        if name != "*":
            self.add("send", name, at, sure=sure)

    def code(self, value: Any, language: str, at: Span, *, sure: bool = True) -> None:
        """A text that is run as code: said so where it is not the source's own, and read where it is known."""
        from . import read_into

        for one in variants(value):
            decoded = isinstance(one, DecodedText | DecodedBytes)
            if isinstance(one, bytes):
                one = one.decode("utf-8", "replace")
            if isinstance(one, str) and one.strip("\0 "):
                if decoded:
                    self.add("run-code", "decoded", at, sure=sure)
                elif "\0" in one:
                    self.add("run-code", "unknown", at, sure=False)
                if self.nested >= 4:
                    self.understood = False
                    continue
                span, was, self.span = self.span, self.sure, self.span or at
                self.nested += 1
                self.sure = was and sure
                understood = self.understood
                try:
                    read_into(self, language, one)
                finally:
                    self.nested -= 1
                    self.span, self.sure = span, was
                    if "\0" in one:  # said already: a text with holes need not parse
                        self.understood = understood
            elif isinstance(one, Unknown) and one.origin == "file":
                self.add("run-file", one.path, at, sure=sure)
            else:
                origin = one.origin if isinstance(one, Unknown) else ""
                word = {"downloaded": "downloaded", "socket": "downloaded", "decoded": "decoded"}.get(origin, "unknown")
                self.add("run-code", word, at, sure=sure)

    def finish(self) -> None:
        if self.host is not None and self.shelled and self.handed:
            self.nested, self.sure = 0, True
            self.steps = 0
            self.add("reverse-shell", self.host, self.host_at)


_DATA = ("data", "json", "files", "body", "content", "form", "multipart")
_CALM = frozenset(("GET", "HEAD", "OPTIONS", ""))


def first(args: Sequence[Any], opts: Mapping[str, Any], at: int, *names: str) -> Any:
    """The argument at a position or under one of its names."""
    if len(args) > at:
        return args[at]
    for name in names:
        if name in opts:
            return opts[name]
    return NOTHING


def mode_text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 0o100000:
        return oct(value)[2:]
    return text(value)


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _each(one)
    else:
        yield value


def downloads(line: Any) -> bool:
    """Whether a shell line is a download."""
    head = text(line).split(None, 1)
    return bool(head) and base(head[0]) in ("curl", "wget", "http", "fetch", "aria2c")


def perform(
    record: Record,
    op: str,
    args: Sequence[Any],
    opts: Mapping[str, Any],
    at: Span,
    sure: bool = True,
    language: str = "",
) -> Any:
    """One library call, by the operation its table names.  Returns the call's value."""
    target = first(args, opts, 0, "path", "file", "src", "filename", "dir", "name")
    if op == "delete" or op == "tree":
        for one in _each(target):
            record.add("delete", one, at, recursive=op == "tree", sure=sure)
        return NOTHING
    if op == "delete*" or op == "tree*":
        for one in _each(list(args)):
            if not isinstance(one, dict):
                record.add("delete", one, at, recursive=op == "tree*", sure=sure)
        return NOTHING
    if op == "rm":
        options = args[1] if len(args) > 1 and isinstance(args[1], dict) else opts
        deep = options.get("recursive", False)
        for one in _each(target):
            record.add("delete", one, at, recursive=deep is not False and deep is not None, sure=sure)
        return NOTHING
    if op == "write" or op == "read":
        for one in _each(target):
            record.add(op, one, at, sure=sure)
        return Unknown("file", text(target)) if op == "read" else NOTHING
    if op == "open":
        mode = first(args, opts, 1, "mode")
        return open_file(record, target, "r" if mode is NOTHING and len(args) < 2 else mode, at, sure)
    if op == "move" or op == "copy":
        dest = first(args, opts, 1, "dst", "dest", "target")
        for one in _each(target):
            record.add("move" if op == "move" else "read", one, at, sure=sure)
        record.add("write", dest, at, sure=sure)
        return dest
    if op == "write2":  # link(from, to), download(url, to)
        record.add("write", first(args, opts, 1, "dst", "filename"), at, sure=sure)
        return NOTHING
    if op == "chmod":
        for one in _each(target):
            record.add("chmod", one, at, sure=sure, detail=mode_text(first(args, opts, 1, "mode")))
        return NOTHING
    if op == "chmod*":
        for one in _each(list(args[1:])):
            if not isinstance(one, dict):
                record.add("chmod", one, at, sure=sure, detail=mode_text(args[0]))
        return NOTHING
    if op == "shell":
        line = first(args, opts, 0, "cmd", "command", "args")
        options = next((one for one in args[1:] if isinstance(one, dict)), opts)
        if isinstance(line, list | tuple):
            record.add("argv", list(line), at, sure=sure, cwd=options.get("cwd", ""))
        else:
            record.add("shell", line, at, sure=sure, cwd=options.get("cwd", ""), stdin=options.get("input"))
        return DOWNLOADED if downloads(line) else NOTHING
    if op == "list":  # system LIST: one text is a shell line, several are words
        flat = list(_each([one for one in args if not isinstance(one, dict)]))
        if len(flat) == 1:
            record.add("shell", flat[0], at, sure=sure)
            return DOWNLOADED if downloads(flat[0]) else NOTHING
        if flat:
            record.add("argv", flat, at, sure=sure)
        return DOWNLOADED if flat and downloads(flat[0]) else NOTHING
    if op == "spawn":  # (program, [words], {shell, cwd})
        options = next((one for one in args[1:] if isinstance(one, dict)), {})
        rest = args[1] if len(args) > 1 and isinstance(args[1], list | tuple) else []
        if len(args) > 1 and not isinstance(args[1], list | tuple | dict) and not callable_value(args[1]):
            rest = ["\0"]
        program = target
        if isinstance(program, list | tuple):  # Bun.spawn([…]), Deno
            record.add("argv", list(program), at, sure=sure, cwd=options.get("cwd", ""))
        elif options.get("shell") not in (None, False):
            line = program
            for word in rest:
                line = concat(concat(line, " "), word)
            record.add("shell", line, at, sure=sure, cwd=options.get("cwd", ""), stdin=options.get("input"))
        else:
            record.add("argv", [program, *rest], at, sure=sure, cwd=options.get("cwd", ""), stdin=options.get("input"))
        return DOWNLOADED if downloads(program) else NOTHING
    if op in ("fetch", "send", "http"):
        url = first(args, opts, 0, "url", "uri", "host")
        options = next((one for one in args[1:] if isinstance(one, dict)), opts)
        if isinstance(url, dict):
            options = url
            url = options.get("url", options.get("hostname", options.get("host", NOTHING)))
        if isinstance(url, Ref):
            url = url.args[0] if url.args else NOTHING
        method = text(options.get("method", options.get("type", ""))).upper()
        kind = "send" if op == "send" else "fetch"
        if op == "http" and (method not in _CALM or any(name in options for name in _DATA)):
            kind = "send"
        if "params" in options:
            url = concat(url, "?\0")
        record.add(kind, url, at, sure=sure, detail=method)
        return DOWNLOADED
    if op == "download":
        record.add("fetch", target, at, sure=sure)
        record.add("write", first(args, opts, 1, "filename", "out"), at, sure=sure)
        return NOTHING
    if op == "connect":
        where = first(args, opts, 0, "host", "address", "PeerAddr", "PeerHost")
        if isinstance(where, list | tuple) and where:
            where = where[0]
        if isinstance(where, dict):
            where = where.get("host", "localhost")
        if isinstance(where, int) and len(args) > 1:  # net.connect(port, host)
            where = args[1] if isinstance(args[1], str | Alts | Unknown) else "localhost"
        record.connect(where, at, sure)
        return Ref("socket()")
    if op in ("bind", "listen"):
        where = first(args, opts, 0, "path", "server_address", "Local")
        if "/" in (known_text(where) or ""):  # a file that others will take for whoever stood there
            record.add("write", where, at, sure=sure)
            return Ref("socket()")
    if op == "bind":
        return NOTHING
    if op == "listen":
        record.connect("*", at, sure)
        return Ref("socket()")
    if op == "kill":
        signal = text(first(args, opts, 1, "sig", "signal"))
        record.add("kill", text(target), at, sure=sure, detail=signal.strip("\0"))
        return NOTHING
    if op == "sql":
        statement = first(args, opts, 0, "sql", "statement", "query", "operation")
        if isinstance(statement, Ref) and statement.args:
            statement = statement.args[0]
        if isinstance(statement, dict):
            statement = statement.get("text", statement.get("sql", NOTHING))
        for one in variants(statement):
            if known_text(one) is not None:
                record.add("sql", one, at, sure=sure)
        return NOTHING
    if op == "run-file":
        record.add("run-file", target, at, sure=sure)
        return NOTHING
    if op == "env":
        record.add("env", "", at, sure=sure)
        return NOTHING
    if op == "code":
        code = first(args, opts, 0, "source", "object")
        record.code(code, language, at, sure=sure)
        return NOTHING
    if op == "chdir":
        record.chdir(target)
        return NOTHING
    if op == "handed":
        record.handed = True
        return NOTHING
    return NOTHING


def callable_value(value: Any) -> bool:
    return isinstance(value, Ref) or type(value).__name__ in ("Function", "Body")


def open_file(record: Record, path: Any, mode: Any, at: Span, sure: bool = True) -> Any:
    """A file opened with a C-like mode: r, w, a, x, r+.  An unknown mode reads."""
    word = text(mode) if isinstance(mode, str | bytes) else "r"
    if isinstance(path, int) and not isinstance(path, bool):
        return NOTHING
    writes = any(c in word for c in "wax+c")
    if (not writes or "r" in word) and "w" not in word:
        record.add("read", path, at, sure=sure)
    if writes:
        record.add("write", path, at, sure=sure, detail=word)
    return Ref("file", (path, word))


_SQL_HEADS = frozenset(
    [
        "select",
        "insert",
        "update",
        "delete",
        "drop",
        "truncate",
        "alter",
        "create",
        "grant",
        "revoke",
        "with",
        "copy",
        "vacuum",
        "flush",
        "replace",
        "merge",
        "call",
        "do",
        "begin",
        "commit",
        "set",
        "show",
        "attach",
        "pragma",
        "reindex",
        "load",
        "exec",
        "execute",
        "rename",
        "use",
        "lock",
        "purge",
        "reset",
    ]
)


def looks_sql(value: Any) -> bool:
    """Whether a text begins like a statement: what tells ``cursor.execute`` from another ``execute``."""
    for one in variants(value):
        if isinstance(one, str):
            head = one.lstrip(" \t\r\n(;").split(None, 1)
            if head and (head[0].lower().rstrip(";") in _SQL_HEADS or head[0][:2] in ("--", "/*")):
                return True
    return False
