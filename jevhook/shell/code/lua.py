"""Lua."""

from __future__ import annotations

from .record import (
    NOTHING,
    SOCKET,
    STDIN,
    Ref,
    either,
    looks_sql,
    open_file,
    percent,
    perform,
    text,
)
from .tokens import Body, Language, Lexer, Reader, Token, ended_function, made_function, return_statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .record import Span


def literal(lexer: Lexer) -> Token | None:
    """Long strings and long comments."""
    source, i = lexer.text, lexer.i
    comment = source.startswith("--[", i)
    start = i + 2 if comment else i
    if source[start : start + 1] != "[":
        return None
    j = start + 1
    while source[j : j + 1] == "=":
        j += 1
    if source[j : j + 1] != "[":
        return None
    close = "]" + "=" * (j - start - 1) + "]"
    end = source.find(close, j)
    stop = lexer.size if end < 0 else end
    lexer.i = min(lexer.size, stop + len(close))
    if comment:
        lexer.space = True
        return Token("l", "", i, lexer.i, True, True)
    return lexer.push("s", source[j + 1 : stop].removeprefix("\n"), i)


def _open(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return open_file(reader.record, args[0] if args else NOTHING, args[1] if len(args) > 1 else "r", at)


def _code(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[0] if args else NOTHING
    if not isinstance(value, Body):
        reader.record.code(value, "lua", at)
    return NOTHING


def _env(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return reader.record.variable(args[0] if args else NOTHING)


def _chars(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and all(isinstance(one, int) and 2 < one < 0x110000 for one in args):
        return "".join(chr(one) for one in args)
    return "\0"


def _reverse(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return args[0][::-1] if args and isinstance(args[0], str) else NOTHING


def _format(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return percent(text(args[0]), tuple(args[1:])) if args else NOTHING


def _connect(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.connect(args[0] if args else NOTHING, at)
    return Ref("socket()")


def _bind(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.connect("*", at)
    return Ref("socket()")


def _receive(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return SOCKET if reader.record.host is not None else NOTHING


def _sql(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and looks_sql(args[0]):
        perform(reader.record, "sql", args[:1], {}, at)
    return NOTHING


def _request(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return perform(reader.record, "send" if len(args) > 1 else "http", args, {}, at)


def _for(reader: Reader) -> None:
    """for line in io.popen("ls"):lines() do"""
    reader.i += 1
    names: list[str] = []
    while reader.i < len(reader.tokens) and not reader.word("in") and not reader.op("=") and len(names) < 12:
        if reader.tokens[reader.i].kind == "i":
            names.append(reader.tokens[reader.i].value)
        reader.i += 1
    for name in names:
        reader.vars[name] = NOTHING
    if reader.word("in"):
        reader.i += 1
        value = reader.expression()
        if isinstance(value, list) and names:
            reader.vars[names[-1]] = either(*value[:12]) if value else NOTHING


def _local(reader: Reader) -> None:
    """local a, b = f()"""
    reader.i += 1
    if reader.word("function"):
        return
    names: list[str] = []
    place = reader.i
    while place + 1 < len(reader.tokens) and reader.tokens[place].kind == "i" and len(names) < 20:
        names.append(reader.tokens[place].value)
        place += 1
        if reader.tokens[place].value != ",":
            break
        place += 1
    if len(names) < 2 or place >= len(reader.tokens) or reader.tokens[place].value != "=":
        return
    reader.i = place + 1
    values = [reader.expression()]
    while reader.eat(","):
        values.append(reader.expression())
    for index, name in enumerate(names):
        reader.set(name, values[index] if index < len(values) else NOTHING)


def _pairs(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return args[0] if args else NOTHING


def _value(reader: Reader, name: str) -> Any:
    if name in ("nil", "true", "false"):
        return {"nil": None, "true": True, "false": False}[name]
    if name == "arg":
        return list(reader.record.args)
    return None


def _attribute(reader: Reader, owner: Any, name: str) -> Any:
    if isinstance(owner, Ref) and owner.name == "io" and name == "stdin":
        return STDIN
    return None


LANGUAGE = Language(
    "lua",
    line_comments=("--", "#!"),
    quotes={"'": "plain", '"': "plain"},
    concat=("..",),
    calls={
        "os.execute": "shell",
        "io.popen": "shell",
        "os.remove": "delete",
        "os.rename": "move",
        "os.getenv": _env,
        "io.open": _open,
        "io.lines": "read",
        "io.output": "write",
        "io.input": "read",
        "lfs.rmdir": "delete",
        "lfs.chdir": "chdir",
        "lfs.dir": lambda *_: ["\1"],
        "dofile": "run-file",
        "loadfile": "run-file",
        "loadstring": _code,
        "load": _code,
        "string.char": _chars,
        "string.reverse": _reverse,
        "string.format": _format,
        "pairs": _pairs,
        "ipairs": _pairs,
        "assert": _pairs,
        "require": lambda reader, func, args, opts, at: Ref(text(args[0]) if args else "\0"),
        "socket.bind": _bind,
        "socket.connect": _connect,
        "socket.http.request": _request,
        "ssl.https.request": _request,
        "http.request": _request,
        "vim.fn.system": "shell",
        "vim.fn.delete": "rm",
        "vim.fn.writefile": "write2",
        "vim.fn.expand": _pairs,
    },
    methods={
        "connect": _connect,
        "receive": _receive,
        "execute": _sql,
        "*rep": lambda *_: NOTHING,
        "*reverse": lambda reader, owner, args, opts, at: owner[::-1] if isinstance(owner, str) else NOTHING,
    },
    hooks={
        "function": ended_function,
        "=function": lambda reader: made_function(reader) or NOTHING,
        "for": _for,
        "return": return_statement,
        "local": _local,
    },
    skips=("if", "while", "else", "elseif", "do", "repeat", "until", "then", "end", "break", "goto"),
    member=(".", ":"),
    blocks=("function", "do", "if", "repeat"),
    named="}",
    value=_value,
    attribute=_attribute,
    literal=literal,
    word_functions=(),
)
