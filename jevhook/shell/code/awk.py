"""awk: ``system``, pipes and redirections of ``print``, ``getline`` from commands and files, gawk's sockets."""

from __future__ import annotations

from .record import NOTHING, Ref, concat, percent, text
from .tokens import Language, Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .record import Span


def _shell(reader: Reader, value: Any, at: Span) -> Any:
    """A command at either end of a pipe, or a gawk socket in its place."""
    name = text(value)
    if name.startswith("/inet"):
        parts = name.split("/")
        host = parts[4] if len(parts) > 4 else "\0"
        local = parts[3] if len(parts) > 3 else "0"
        reader.record.connect("*" if host == "0" and local != "0" else host, at)
        return NOTHING
    if reader.record.host is not None and not name.strip("\0"):
        # The command came in over the connection.
        reader.record.handed = reader.record.shelled = True
    reader.record.add("shell", value, at)
    return NOTHING


def binary(reader: Reader, mark: str, left: Any) -> Any:
    printing = reader.vars.get("\0print")
    first = reader.i
    after = reader.peek(1)
    if mark in ("|", "|&"):
        if after is not None and after.kind == "i" and after.value == "getline":
            reader.i += 2
            token = reader.peek()
            if token is not None and token.kind == "i" and token.value not in ("while", "if", "print"):
                reader.vars[token.value] = NOTHING
                reader.i += 1
            _shell(reader, left, reader.span(max(0, first - 1)))
            return NOTHING
        reader.i += 1
        value = reader.operand()
        while (token := reader.peek()) is not None and token.kind in "svn" and not token.line:
            value = concat(value, reader.operand())
        _shell(reader, value, reader.span(first))
        return NOTHING
    if mark in (">", ">>") and printing:
        reader.i += 1
        value = reader.operand()
        while (
            (token := reader.peek()) is not None
            and not token.line
            and (
                token.kind in "svn"
                or (token.kind == "i" and token.value not in LANGUAGE.hooks)
                or (token.kind == "o" and token.value == "$")
            )
        ):
            value = concat(value, reader.operand())
        name = text(value)
        if name.startswith("/inet"):
            _shell(reader, value, reader.span(first))
        elif not name.startswith(("/dev/stderr", "/dev/stdout", "/dev/tty", "/dev/null")):
            reader.record.add("write", value, reader.span(first), detail="a" if mark == ">>" else "w")
        return NOTHING
    return None


def _print(reader: Reader) -> None:
    """print and printf: the arguments, then where they go."""
    reader.i += 1
    reader.vars["\0print"] = 1
    try:
        while reader.i < len(reader.tokens):
            token = reader.tokens[reader.i]
            if token.kind == "l" or (token.kind == "o" and token.value in (";", "}", ")")):
                return
            if token.kind == "o" and token.value == ",":
                reader.i += 1
                continue
            before = reader.i
            if token.kind == "o" and token.value in (">", ">>", "|", "|&"):
                binary(reader, token.value, NOTHING)
            else:
                reader.expression()
            if reader.i == before:
                return
    finally:
        reader.vars.pop("\0print", None)


def _getline(reader: Reader) -> Any:
    """getline var < file"""
    first = reader.i
    reader.i += 1
    token = reader.peek()
    if token is not None and token.kind == "i" and not token.line:
        reader.vars[token.value] = NOTHING
        reader.i += 1
    if reader.op("<"):
        reader.i += 1
        value = reader.operand()
        if text(value) != "-":
            reader.record.add("read", value, reader.span(first))
    return NOTHING


def _system(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return _shell(reader, args[0] if args else NOTHING, at)


def _sprintf(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return percent(text(args[0]), tuple(args[1:])) if args else NOTHING


def _attribute(reader: Reader, owner: Any, name: str) -> Any:
    if isinstance(owner, Ref) and owner.name == "ENVIRON":
        return reader.record.variable(name)
    return None


def _for(reader: Reader) -> None:
    reader.i += 1
    if reader.op("(") and (token := reader.peek(2)) is not None and token.value == "in":
        whole = reader.peek(3)
        if whole is not None and whole.value == "ENVIRON":
            reader.record.add("env", "", reader.span(reader.i))
        reader.i = reader.match.get(reader.i, reader.i) + 1


def _value(reader: Reader, name: str) -> Any:
    if name in ("ENVIRON",) or name in LANGUAGE.calls:
        return None
    return NOTHING


LANGUAGE = Language(
    "awk",
    line_comments=("#",),
    quotes={'"': "plain"},
    concat=("",),
    lines=True,
    regex=True,
    calls={"system": _system, "sprintf": _sprintf},
    hooks={"print": _print, "printf": _print, "=getline": _getline, "for": _for},
    skips=(
        "BEGIN",
        "END",
        "BEGINFILE",
        "ENDFILE",
        "if",
        "while",
        "else",
        "do",
        "next",
        "exit",
        "delete",
        "return",
        "func",
        "break",
        "continue",
        "nextfile",
    ),
    member=(),
    value=_value,
    attribute=_attribute,
    binary=binary,
)
