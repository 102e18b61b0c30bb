"""Python that Python's own parser refuses (Python 2, notebooks, cut-off text), read from tokens."""

from __future__ import annotations

from .python import _CALLS as CALLS
from .record import NOTHING, Ref, either, join, looks_sql, perform, text, variants
from .tokens import Language, Lexer, Reader, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .record import Span


def literal(lexer: Lexer) -> Token | None:
    """A notebook's ``!command`` and ``%magic`` lines."""
    source, i = lexer.text, lexer.i
    if source[i] not in "!%" or not lexer.line:
        return None
    if source[i] == "%" and not source.startswith(("%%bash", "%%sh", "%sx", "%system", "%%writefile"), i):
        return None
    end = source.find("\n", i)
    end = lexer.size if end < 0 else end
    if source.startswith(("%%bash", "%%sh"), i):
        value, lexer.i = source[end:], lexer.size
    elif source.startswith("%%writefile", i):
        path, lexer.i = source[i + 11 : end].strip(), lexer.size
        lexer.record.add("write", path, (i, end))
        return Token("l", "", i, lexer.i, True, True)
    else:
        value, lexer.i = source[i:end].lstrip("!%").removeprefix("sx ").removeprefix("system "), end
    return lexer.push("c", value, i)


def _spawn(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    options = args[-1] if args and isinstance(args[-1], dict) else {}
    shell = options.get("shell", False)
    for one in variants(args[0] if args else NOTHING):
        if isinstance(one, list):
            reader.record.add("argv", one, at, cwd=options.get("cwd", ""))
        else:
            reader.record.add("shell" if shell not in (False, None) else "argv", one, at, cwd=options.get("cwd", ""))
    return NOTHING


def _import(reader: Reader) -> None:
    """import a.b as c, d"""
    reader.i += 1
    while (token := reader.peek()) is not None and token.kind == "i":
        name, reader.i = str(token.value), reader.i + 1
        while reader.op(".") and (after := reader.peek(1)) is not None and after.kind == "i":
            name += "." + after.value
            reader.i += 2
        if reader.word("as") and (after := reader.peek(1)) is not None:
            reader.set(after.value, Ref(name))
            reader.i += 2
        if not reader.eat(","):
            return


def _from(reader: Reader) -> None:
    """from a.b import c as d, e"""
    reader.i += 1
    name = ""
    while (token := reader.peek()) is not None and not reader.word("import") and token.kind in "io":
        name += token.value
        reader.i += 1
        if len(name) > 200:
            return
    reader.i += 1
    reader.eat("(")
    while (token := reader.peek()) is not None and token.kind == "i" and not token.line:
        reader.i += 1
        target = token.value
        if reader.word("as") and (after := reader.peek(1)) is not None:
            target = after.value
            reader.i += 2
        reader.set(target, Ref(f"{name}.{token.value}"))
        if not reader.eat(","):
            return


def _join(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return either(*(join(*[text(one) for one in row]) for row in variants(list(args)))) if args else NOTHING


def _expand(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    path = text(args[0]) if args else "\0"
    return reader.record.tilde(path)


def _env(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return reader.record.variable(args[0] if args else NOTHING)


def _sql(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and looks_sql(args[0]):
        perform(reader.record, "sql", args[:1], {}, at)
    return NOTHING


def _code(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args:
        reader.record.code(args[0], "python", at)
    return NOTHING


def _attribute(reader: Reader, owner: Any, name: str) -> Any:
    if isinstance(owner, Ref) and owner.name == "os.environ" and name not in ("get", "items", "copy", "keys"):
        return reader.record.variable(name)
    return None


def _value(reader: Reader, name: str) -> Any:
    return {"True": True, "False": False, "None": None}.get(name)


def _for(reader: Reader) -> None:
    reader.i += 1
    token, after = reader.peek(), reader.peek(1)
    if token is not None and token.kind == "i" and after is not None and after.value == "in":
        reader.i += 2
        over = reader.expression()
        reader.vars[token.value] = either(*over[:12]) if isinstance(over, list) and over else NOTHING


_TABLE: dict[str, Any] = {name: op for name, op in CALLS.items() if op not in ("code", "unpickle", "unmarshal")}
for _name in (
    "subprocess.call",
    "subprocess.run",
    "subprocess.Popen",
    "subprocess.check_call",
    "subprocess.check_output",
):
    _TABLE[_name] = _spawn
_TABLE.update(
    {
        "os.path.join": _join,
        "os.path.expanduser": _expand,
        "os.getenv": _env,
        "os.environ.get": _env,
        "eval": _code,
        "exec": _code,
        "os.listdir": lambda *_: ["\1"],
        "urllib2.urlopen": "fetch",
        "urllib.urlopen": "fetch",
        "urllib.request.urlopen": "fetch",
    }
)

LANGUAGE = Language(
    "pytokens",
    named=")",
    line_comments=("#",),
    quotes={"'": "python", '"': "python"},
    command="",
    concat=("+",),
    lines=True,
    calls=_TABLE,
    methods={"execute": _sql, "executescript": _sql, "rmtree": "tree"},
    hooks={"import": _import, "from": _from, "for": _for},
    skips=(
        "if",
        "while",
        "else",
        "elif",
        "try",
        "except",
        "finally",
        "with",
        "def",
        "class",
        "pass",
        "lambda",
        "global",
        "assert",
        "raise",
        "del",
        "break",
        "continue",
    ),
    member=(".",),
    value=_value,
    attribute=_attribute,
    literal=literal,
    word_functions=(),
)
