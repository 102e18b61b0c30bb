"""Julia."""

from __future__ import annotations

from .record import (
    DOWNLOADED,
    NOTHING,
    SOCKET,
    STDIN,
    Ref,
    Unknown,
    concat,
    either,
    joined,
    looks_sql,
    open_file,
    perform,
    quote,
    text,
    variants,
)
from .tokens import Body, Language, Lexer, Reader, Token, element, ended_function, return_statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .record import Span


_DONE = "\0do"  # what the last call hands to the block behind it


def literal(lexer: Lexer) -> Token | None:
    """Texts and commands in three quotes, raw"…", characters, symbols."""
    source, i = lexer.text, lexer.i
    c = source[i]
    for quotes in ('"""', "```"):
        if c == quotes[0] and source.startswith(quotes, i):
            lexer.i = i + 3
            end = source.find(quotes, lexer.i)
            inside = Lexer(source[lexer.i : lexer.size if end < 0 else end], lexer.language, lexer.record, 0, 1)
            value = inside.quoted("\0\0", "", "julia")
            lexer.i = lexer.size if end < 0 else end + 3
            return lexer.push("c" if c == "`" else "s", value, i)
    if c.isalpha() and (i == 0 or not (source[i - 1].isalnum() or source[i - 1] == "_")):
        j = i
        while j < lexer.size and (source[j].isalnum() or source[j] == "_"):
            j += 1
        if source[j : j + 1] == '"':  # raw"…", r"…", ip"…": nothing in them is put in
            close = '"""' if source.startswith('"""', j) else '"'
            lexer.i = j + len(close)
            if len(close) == 1:
                return lexer.push("s", lexer.quoted(close, "", "raw"), i)
            end = source.find(close, lexer.i)
            value = source[lexer.i : lexer.size if end < 0 else end]
            lexer.i = lexer.size if end < 0 else end + 3
            return lexer.push("s", value, i)
    if c == "'":
        before = lexer.tokens[-1] if lexer.tokens else None
        if before is not None and not lexer.space and (before.kind in "in" or before.value in (")", "]")):
            lexer.i = i + 1
            return lexer.push("o", "~", i)  # a transposition
        end = source.find("'", i + (3 if source[i + 1 : i + 2] == "\\" else 2), i + 13)
        if end > 0:
            lexer.i = end + 1
            return lexer.push("s", source[i + 1 : end], i)
    return None


def _rm(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return perform(reader.record, "rm", args[:1], args[-1] if args and isinstance(args[-1], dict) else {}, at)


def _expand(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return reader.record.tilde(args[0] if args else NOTHING)


def _joined(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and isinstance(args[0], list):  # readdir hands on a list
        args = [*(args[0][:1] or [NOTHING]), *args[1:]]
    return joined(args)


def _string(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    out: Any = ""
    for one in args:
        out = concat(out, one)
    return out


def _join(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if not args or not isinstance(args[0], list):
        return NOTHING
    return text(args[1] if len(args) > 1 else "").join(text(one) for one in args[0])


def _readdir(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    options = args[-1] if args and isinstance(args[-1], dict) else {}
    where = args[0] if args and not isinstance(args[0], dict) else ""
    return [concat(where, "/\1") if options.get("join") is True and where != "" else "\1"]


def _home(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return reader.record.home()


def _pwd(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return reader.record.cwd or reader.record.env.get("PWD", "\0")


def _scratch(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.vars[_DONE] = "/tmp/\0"
    for one in args:
        if isinstance(one, Body):  # mktempdir(dir -> …)
            reader.call(one, None, ["/tmp/\0"], {}, reader.i - 1)
    return "/tmp/\0"


def _get(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """get(ENV, "HOME", "/root")"""
    if len(args) > 1 and isinstance(args[0], Ref) and args[0].name == "ENV":
        found = reader.record.variable(args[1])
        return found if isinstance(found, str) else args[2] if len(args) > 2 else NOTHING
    return NOTHING


def _open(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, reader.vars[_DONE] = args[-1] if args else None, NOTHING
    args = [one for one in args if not isinstance(one, dict | Body)]
    if args and isinstance(args[0], str):
        if isinstance(given, dict) and True in (given.get("write"), given.get("append"), given.get("truncate")):
            args = [args[0], "w"]
        return open_file(reader.record, args[0], args[1] if len(args) > 1 else "r", at)
    return NOTHING  # open(`command`): the command was seen where it stands


def _read(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    where = args[0] if args else NOTHING
    if isinstance(where, str):
        return perform(reader.record, "read", [where], {}, at)
    if isinstance(where, Ref) and where.name == "stdin":
        return STDIN
    if isinstance(where, Ref) and where.name == "socket()":
        return SOCKET
    return where if isinstance(where, Unknown) else NOTHING


def _write(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and isinstance(args[0], str):
        perform(reader.record, "write", args[:1], {}, at)
    return NOTHING


def _download(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    args = [one for one in args if not isinstance(one, dict)]
    perform(reader.record, "download", args[:2], {}, at)
    return DOWNLOADED


def _include(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    where = args[0] if args else NOTHING
    if isinstance(where, Unknown) and where.origin:
        reader.record.code(where, "julia", at)
    else:
        reader.record.add("run-file", where, at)
    return NOTHING


def _eval(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[-1] if args else NOTHING
    if isinstance(value, str) or (isinstance(value, Unknown) and value.origin):
        reader.record.code(value, "julia", at)
    return NOTHING


def _same(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[0] if args else NOTHING
    if isinstance(value, Ref) and value.name.startswith("\0") and value.args and isinstance(value.args[0], Unknown):
        return value.args[0]  # String(HTTP.get(url).body)
    return value


def _last(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """filter(isdir, paths)"""
    return args[-1] if args else NOTHING


def _run(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """run(Cmd(["rm", "-rf", path])); one in backticks was seen where it stands."""
    what = args[0] if args else NOTHING
    if isinstance(what, Ref) and what.name == "Cmd()":
        reader.record.add("argv", what.args[0], at)
    return NOTHING


def _ccall(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """ccall(:system, Cint, (Cstring,), line)"""
    what = args[0] if args else ""
    if isinstance(what, list) and what:  # (:system, "libc")
        what = what[0]
    name = what.name if isinstance(what, Ref) else text(what)
    if name in ("system", "popen") and len(args) > 1:
        perform(reader.record, "shell", [args[-1]], {}, at)
    elif name in ("unlink", "remove", "rmdir") and len(args) > 1:
        perform(reader.record, "delete", [args[-1]], {}, at)
    return NOTHING


def _connect(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    where = args[0] if args else NOTHING
    reader.record.connect("localhost" if isinstance(where, int) else where, at)
    return Ref("socket()")


def _request(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """HTTP.request("POST", url, headers, body)"""
    calm = text(args[0]).upper() in ("GET", "HEAD", "OPTIONS") if args else False
    return perform(reader.record, "fetch" if calm else "send", args[1:2], {}, at)


def _sql(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if len(args) > 1 and looks_sql(args[1]):
        perform(reader.record, "sql", [args[1]], {}, at)
    return NOTHING


def _words(value: Any) -> Any:
    """A value in a command is one word, a list is several: there is no shell that would split it."""
    if isinstance(value, list):
        return " ".join(text(_words(one)) for one in value[:200])
    return either(*(quote(one) if isinstance(one, str) and "\0" not in one else one for one in variants(value)))


def _each(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """foreach(rm, paths), map(p -> rm(p), paths)"""
    reader.vars[_DONE] = element(args[0]) if len(args) == 1 and isinstance(args[0], list) else NOTHING
    if len(args) > 1 and isinstance(args[0], Ref | Body):
        given = [element(args[1]) if isinstance(args[1], list) else args[1]]
        return reader.call(args[0], None, given, {}, reader.i - 1)
    return NOTHING


def _pipeline(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """pipeline(`sh`, stdin=socket)"""
    options = args[-1] if args and isinstance(args[-1], dict) else {}
    if any(isinstance(one, Ref) and one.name == "socket()" for one in (*args, *options.values())):
        reader.record.handed = True
    fetched = any(isinstance(one, Unknown) and one.origin == "downloaded" for one in args[:-1])
    if fetched and reader.record.shelled:
        reader.record.add("run-code", "downloaded", at)
    return NOTHING


def _do(reader: Reader) -> None:
    """mktempdir() do dir"""
    reader.i += 1
    token = reader.peek()
    if token is not None and token.kind == "i" and not token.line:
        reader.i += 1
        reader.set(token.value, reader.vars.pop(_DONE, NOTHING))


def _at_ccall(reader: Reader) -> Any:
    """@ccall system(line::Cstring)::Cint"""
    reader.i += 1
    name = reader.peek()
    if name is None or name.kind != "i":
        return Ref("ccall")
    reader.i += 1
    first = reader.i
    if reader.eat("("):
        args, _ = reader.sequence(")")
        _ccall(reader, None, [name.value, *args[:1]], {}, reader.span(first))
    return NOTHING


def _binary(reader: Reader, mark: str, left: Any) -> Any:
    """paths .|> rm"""
    ahead = 1 if mark == "." else 0
    marks = [reader.peek(ahead), reader.peek(ahead + 1)]
    if [one.value if one is not None and one.kind == "o" else "" for one in marks] != ["|", ">"]:
        return None
    reader.i += ahead + 2
    while (line := reader.peek()) is not None and line.kind == "l":
        reader.i += 1
    first = reader.i
    func = reader.operand()
    if isinstance(func, Ref | Body):
        return reader.call(func, None, [element(left) if ahead and isinstance(left, list) else left], {}, first)
    return NOTHING


def _before(reader: Reader) -> None:
    """f(x) = rm(x), a function in one line"""
    name, opening = reader.peek(), reader.peek(1)
    if name is None or name.kind != "i" or opening is None or opening.value != "(":
        return
    close = reader.match.get(reader.i + 1, -1)
    if close < 0 or close + 1 >= len(reader.tokens) or reader.tokens[close + 1].value != "=":
        return
    opened = reader.i + 1
    params = reader.params(opened, close)
    reader.i = close + 2
    made = reader.arrow(params)
    made.defaults = reader.defaults(opened, close)
    made.name = name.value
    reader.vars[made.name] = made
    reader.methods.setdefault(made.name, made)


def _for(reader: Reader) -> None:
    """for f in readdir("x")"""
    reader.i += 1
    token = reader.peek()
    if token is None or token.kind != "i":
        return
    reader.i += 1
    if reader.word("in") or reader.op("="):
        reader.i += 1
        value = reader.expression()
        reader.set(token.value, either(*value[:12]) if isinstance(value, list) and value else value)


def _value(reader: Reader, name: str) -> Any:
    if name == "ARGS":
        return list(reader.record.args)
    return {"true": True, "false": False}.get(name)


def _attribute(reader: Reader, owner: Any, name: str) -> Any:
    """ENV["HOME"]"""
    return reader.record.variable(name) if isinstance(owner, Ref) and owner.name == "ENV" else None


_BASE: dict[str, Any] = {
    "rm": _rm,
    "mv": "move",
    "cp": "copy",
    "symlink": "write2",
    "hardlink": "write2",
    "chmod": "chmod",
    "touch": "write",
    "truncate": lambda *_: NOTHING,
    "cd": "chdir",
    "open": _open,
    "read": _read,
    "readlines": _read,
    "eachline": _read,
    "readchomp": _read,
    "readline": _read,
    "readavailable": _read,
    "write": _write,
    "download": _download,
    "run": _run,
    "pipeline": _pipeline,
    "foreach": _each,
    "map": _each,
    "filter": _last,
    "sort": _last,
    "unique": _same,
    "collect": _same,
    "reverse": _same,
    "invokelatest": lambda reader, func, args, opts, at: (
        reader.call(args[0], None, args[1:], {}, reader.i - 1) if args and isinstance(args[0], Ref | Body) else NOTHING
    ),
    "success": _run,
    "include": _include,
    "include_string": _eval,
    "eval": _eval,
    "homedir": _home,
    "expanduser": _expand,
    "joinpath": _joined,
    "abspath": _joined,
    "normpath": _same,
    "realpath": _same,
    "string": _string,
    "String": _same,
    "join": _join,
    "pwd": _pwd,
    "tempdir": _scratch,
    "tempname": _scratch,
    "mktempdir": _scratch,
    "readdir": _readdir,
    "get": _get,
}
_SKIPS = (
    "if", "while", "else", "elseif", "begin", "let", "try", "catch", "finally", "end", "do", "break", "continue",
    "const", "global", "local", "using", "import", "quote",
)  # fmt: skip
LANGUAGE = Language(
    "julia",
    line_comments=("#",),
    block=("#=", "=#"),
    quotes={'"': "julia", "`": "julia"},
    command="`",
    concat=("*",),
    lines=True,
    named=")",
    calls={
        **_BASE,
        **{f"Base.{name}": entry for name, entry in _BASE.items()},
        **{f"Base.Filesystem.{name}": entry for name, entry in _BASE.items()},
        "Meta.parse": _same,
        "Downloads.download": _download,
        "ccall": _ccall,
        "Core.eval": _eval,
        "Sockets.connect": _connect,
        "connect": _connect,
        "HTTP.get": "fetch",
        "HTTP.post": "send",
        "HTTP.put": "send",
        "HTTP.request": _request,
        "execute": _sql,
        "LibPQ.execute": _sql,
        "DBInterface.execute": _sql,
        "SQLite.execute": _sql,
        "CSV.write": _write,
        "JLD2.save": _write,
    },
    hooks={"function": ended_function, "for": _for, "return": return_statement, "do": _do, "=ccall": _at_ccall},
    skips=_SKIPS,
    blocks=("function", "do", "if", "while", "for", "begin", "let", "try", "quote", "module", "struct", "macro"),
    value=_value,
    attribute=_attribute,
    literal=literal,
    before=_before,
    arrow="->",
    inside=_words,
    binary=_binary,
    extra="_!",
    word_functions=(),
)
