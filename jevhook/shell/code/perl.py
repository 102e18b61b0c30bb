"""Perl."""

from __future__ import annotations

from .record import (
    DECODED,
    DOWNLOADED,
    NOTHING,
    STDIN,
    DecodedText,
    Ref,
    Unknown,
    concat,
    either,
    looks_sql,
    open_file,
    percent,
    perform,
    star,
    text,
    unbase64,
    unhex,
    variants,
)
from .tokens import Language, Lexer, Reader, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .record import Span

_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_VALUE_ENDS = (")", "]", "}")


def literal(lexer: Lexer) -> Token | None:
    """q, qq, qw, qx, m, s, tr, y, here-documents, POD and what follows __END__."""
    source, i = lexer.text, lexer.i
    c = source[i]
    if c == "=" and lexer.line and source[i + 1 : i + 2].isalpha() and (i == 0 or source[i - 1] == "\n"):
        end = source.find("\n=cut", i)
        lexer.i = lexer.size if end < 0 else end + 5
        return Token("l", "", i, lexer.i, True, True)
    before = lexer.tokens[-1] if lexer.tokens else None
    value_before = before is not None and (
        before.kind in "vnsw" or (before.kind == "o" and before.value in _VALUE_ENDS and not lexer.line)
    )
    if c == "<" and source.startswith("<<", i):
        if value_before:
            return None
        j = i + 2
        indented = source[j : j + 1] == "~"
        j += indented
        quote = source[j : j + 1]
        if quote in ('"', "'") and quote:
            last = source.find(quote, j + 1, j + 80)
            if last < 0:
                return None
            tag, end = source[j + 1 : last], last + 1
        else:
            end = j
            while end < lexer.size and (source[end].isalnum() or source[end] == "_"):
                end += 1
            tag = source[j:end]
            if not tag or not (tag[0].isalpha() or tag[0] == "_"):
                return None
        lexer.i = end
        return lexer.heredoc(tag, indented, "raw" if quote == "'" else "perl", i)
    if c == "<" and not value_before:
        end = source.find(">", i, i + 120)
        inside = source[i + 1 : end] if end > 0 else ""
        if "*" in inside and " " not in inside:
            lexer.i = end + 1
            return lexer.push("w", [star(inside)], i)
        return None
    if c not in "qmsty_":
        return None
    if i and (source[i - 1].isalnum() or source[i - 1] in "_$@%&"):
        return None
    touching = before.value if before is not None and before.kind == "o" and before.end == i else ""
    if touching == "->" or (touching == "{" and source[i + 1 : i + 2] == "}"):
        return None
    if c == "_":
        if source.startswith(("__END__", "__DATA__"), i):
            lexer.i = lexer.size
            return Token("l", "", i, lexer.i, True, True)
        return None
    for word in ("qq", "qw", "qx", "qr", "q", "tr", "m", "s", "y"):
        if source.startswith(word, i):
            j = i + len(word)
            break
    else:
        return None
    spaced = j
    while spaced < lexer.size and source[spaced] in " \t":
        spaced += 1
    delimiter = source[spaced : spaced + 1]
    if not delimiter or delimiter.isalnum() or delimiter in "_,;)\n\r=" or delimiter.isspace():
        return None
    if (spaced > j and delimiter in "#-.<>?:") or (delimiter == "=" and source[spaced + 1 : spaced + 2] == ">"):
        return None
    close = _PAIRS.get(delimiter, delimiter)
    opens = delimiter if close != delimiter else ""
    lexer.i = spaced + 1
    if word in ("m", "qr", "s", "tr", "y"):
        _skip(lexer, opens, close)
        if word in ("s", "tr", "y"):
            if opens:
                while lexer.i < lexer.size and source[lexer.i].isspace():
                    lexer.i += 1
                second = source[lexer.i : lexer.i + 1]
                lexer.i += 1
                begin = lexer.i
                _skip(lexer, second if second in _PAIRS else "", _PAIRS.get(second, second))
            else:
                begin = lexer.i
                _skip(lexer, "", close)
            replacement = source[begin : lexer.i - 1]
        else:
            replacement = ""
        flags = lexer.i
        while lexer.i < lexer.size and source[lexer.i].isalpha():
            lexer.i += 1
        if word == "s" and "e" in source[flags : lexer.i] and lexer.depth < 6:
            # s/…/code/e runs its replacement
            nested = Lexer(replacement, lexer.language, lexer.record, 0, lexer.depth + 1)
            return lexer.push("s", [nested.run()], i)
        return lexer.push("r", "", i)
    if word == "qw":
        end = source.find(close, lexer.i)
        end = lexer.size if end < 0 else end
        items = source[lexer.i : end].split()
        lexer.i = min(lexer.size, end + 1)
        return lexer.push("w", items, i)
    value = lexer.quoted(close, opens, "raw" if word == "q" or (word == "qx" and delimiter == "'") else "perl")
    return lexer.push("c" if word == "qx" else "s", value, i)


def _skip(lexer: Lexer, opens: str, close: str) -> None:
    source, level = lexer.text, 0
    while lexer.i < lexer.size:
        c = source[lexer.i]
        if c == "\\":
            lexer.i += 1
        elif opens and c == opens:
            level += 1
        elif c == close:
            if level == 0:
                break
            level -= 1
        lexer.i += 1
    lexer.i = min(lexer.size, lexer.i + 1)


def _flat(args: list[Any]) -> list[Any]:
    out: list[Any] = []
    for one in args:
        if isinstance(one, list):
            out.extend(one)
        elif not isinstance(one, dict):
            out.append(one)
    return out


def _open(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    record = reader.record
    if len(args) == 2:
        for one in variants(args[1]):
            spec = text(one).strip()
            if spec.startswith("|") or spec.endswith("|"):
                line = spec.strip("|").strip()
                if not line.startswith("-"):
                    record.add("shell", line, at)
            elif spec.startswith((">&", "<&", "+<&", "+>&")):
                record.handed = True
            elif spec.startswith((">", "+")):
                record.add("write", spec.lstrip("+<>").strip(), at, detail="a" if spec.startswith(">>") else "w")
            elif spec.strip("\0"):
                record.add("read", spec.lstrip("<").strip(), at)
        return NOTHING
    if len(args) < 3:
        return NOTHING
    mode = text(args[1]).split(":")[0].strip()
    if mode in ("-|", "|-"):
        rest = _flat(args[2:])
        record.add("shell", rest[0], at) if len(rest) == 1 else record.add("argv", rest, at)
    elif "&" in mode:
        record.handed = True
    elif isinstance(args[2], Ref):
        return NOTHING  # an in-memory file
    else:
        word = {">": "w", ">>": "a", "<": "r", "+<": "r+", "+>": "w+", "+>>": "a+"}.get(mode, "r")
        open_file(record, args[2], word, at)
    return NOTHING


def _unlink(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    flat = _flat(args) if args else [reader.get("$_")]
    for one in flat:
        reader.record.add("delete", one if not isinstance(one, Ref) else NOTHING, at)
    return NOTHING


def _kill(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    flat = _flat(args)
    for one in flat[1:]:
        reader.record.add("kill", one, at, detail=text(flat[0]))
    return NOTHING


def _glob(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    out = []
    for one in variants(args[0] if args else NOTHING):
        for pattern in text(one).split():
            if pattern.startswith("~/") or pattern == "~":  # glob expands it, other calls do not
                pattern = reader.record.home() + pattern[1:]
            out.append(star(pattern))
    return out


def _connect(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    options = next((one for one in args if isinstance(one, dict)), {})
    host = options.get("PeerAddr", options.get("PeerHost", NOTHING))
    if (host is NOTHING and options.get("LocalPort") is not None) or "Listen" in options:
        reader.record.connect("*", at)
        return Ref("socket()")
    if host is NOTHING and args:
        host = args[0]
        if func.name == "connect" and len(args) > 1:
            host = NOTHING
            address = args[1]
            if isinstance(address, Ref) and len(address.args) > 1:
                host = address.args[1]
                host = host.args[0] if isinstance(host, Ref) and host.args else host
    for one in variants(host):
        name = text(one)
        reader.record.connect(name.rsplit(":", 1)[0] if ":" in name and "::" not in name else name, at)
    return Ref("socket()")


def _unix(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    options = next((one for one in args if isinstance(one, dict)), {})
    if "Local" in options:  # a file that others will take for whoever stood there
        reader.record.add("write", options["Local"], at)
    for one in variants(options.get("Peer", NOTHING)):
        reader.record.connect(text(one), at)
    return Ref("socket()")


def _listen(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.connect("*", at)
    return NOTHING


def _fdopen(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.handed = True
    return NOTHING


def _eval(reader: Reader) -> None:
    reader.i += 1
    if reader.op("{"):
        return
    first = reader.i
    value = reader.expression() if not reader.op(";") else reader.get("$_")
    reader.record.code(value, "perl", reader.span(first))


def _eval_value(reader: Reader) -> Any:
    _eval(reader)
    return NOTHING


def _do(reader: Reader) -> None:
    reader.i += 1
    if reader.op("{"):
        return
    first = reader.i
    value = reader.expression()
    if isinstance(value, str):
        reader.record.add("run-file", value, reader.span(first))


def _use(reader: Reader) -> None:
    while reader.i < len(reader.tokens) and not reader.op(";"):
        reader.i += 1


def _my(reader: Reader) -> None:
    """my ($a, $b) = …"""
    reader.i += 1
    if not reader.op("("):
        reader.expression()
        return
    close = reader.match.get(reader.i, -1)
    if close < 0 or close + 1 >= len(reader.tokens) or reader.tokens[close + 1].value != "=":
        return
    names = [token.value for token in reader.tokens[reader.i + 1 : min(close, reader.i + 80)] if token.kind == "v"]
    reader.i = close + 2
    value = reader.expression()
    items = value if isinstance(value, list) else [value]
    for place, name in enumerate(names):
        if name[0] == "@":
            reader.set(name, items[place:])
            break
        reader.set(name, items[place] if place < len(items) else NOTHING)


def _sub(reader: Reader) -> None:
    reader.i += 1
    name = ""
    token = reader.peek()
    if token is not None and token.kind == "i":
        name = token.value
        reader.i += 1
    if reader.op("("):
        reader.i = reader.match.get(reader.i, reader.i) + 1
    if reader.op("{"):
        made = reader.body(name, [], reader.i)
        if name:
            reader.vars[name] = made
            reader.methods.setdefault(name, made)


def _sub_value(reader: Reader) -> Any:
    count = len(reader.bodies)
    _sub(reader)
    return reader.bodies[-1] if len(reader.bodies) > count else NOTHING


def _for(reader: Reader) -> None:
    """for my $x (LIST) { … }; as a modifier it was read before its statement."""
    reader.i += 1
    name = "$_"
    if reader.word("my", "our"):
        reader.i += 1
    token = reader.peek()
    if token is not None and token.kind == "v":
        name = token.value
        reader.i += 1
    if reader.op("("):
        close = reader.match.get(reader.i, -1)
        inner = reader.tokens[reader.i + 1 : min(close, reader.i + 60)] if close > 0 else []
        if any(one.kind == "o" and one.value == ";" for one in inner):
            return
        reader.i += 1
        values, _ = reader.sequence(")")
        _each(reader, name, values)


def _each(reader: Reader, name: str, values: list[Any]) -> None:
    flat = _flat(values)
    reader.vars[name] = either(*flat[:12]) if flat else NOTHING


def before(reader: Reader) -> None:
    """``unlink $_ for glob("*")``: the list of a modifier counts before the statement it modifies."""
    token = reader.peek()
    if token is None or (token.kind == "o" and token.value in "{};") or token.value in ("for", "foreach", "sub"):
        return
    place, last = reader.i + 1, min(reader.i + 40, len(reader.tokens))
    while place < last:
        token = reader.tokens[place]
        if token.kind == "o":
            if token.value in ("(", "[", "{"):
                jump = reader.match.get(place)
                if jump is None:
                    return
                place = jump + 1
                continue
            if token.value in (";", "}", ")", "]"):
                return
        elif token.kind == "i" and token.value in ("for", "foreach"):
            back = reader.i
            reader.i = place + 1
            value = reader.expression()
            reader.i = back
            _each(reader, "$_", [value])
            return
        place += 1


def _return(reader: Reader) -> None:
    reader.i += 1
    if not reader.op(";", "}"):
        value = reader.expression()
        reader.result = value if reader.result is NOTHING else either(reader.result, value)


def _shift(reader: Reader) -> Any:
    reader.i += 1
    name = "@_" if "@_" in reader.vars else "@ARGV"
    if reader.op("("):
        reader.i = reader.match.get(reader.i, reader.i) + 1
    elif (token := reader.peek()) is not None and token.kind == "v" and token.value[0] == "@":
        name = token.value
        reader.i += 1
    values = reader.vars.get(name)
    if values is None and name == "@ARGV":
        values = reader.vars["@ARGV"] = list(reader.record.args)
    if isinstance(values, list):
        return values.pop(0) if values else NOTHING
    return NOTHING


def _value(reader: Reader, name: str) -> Any:
    if name == "@ARGV":
        return list(reader.record.args)
    if name == "$ARGV":
        return list(reader.record.args)
    if name in ("$ENV", "%ENV"):
        return Ref(name)
    if name[0] == "$" and len(name) > 1:
        for sigil in "@%":
            if sigil + name[1:] in reader.vars:
                return reader.vars[sigil + name[1:]]
        return NOTHING
    if name == "STDIN":
        return STDIN
    if name[0] == "&" and name[1:] in reader.vars:
        return reader.vars[name[1:]]
    if name[0] in "@%":
        return NOTHING
    return None


def _attribute(reader: Reader, owner: Any, name: str) -> Any:
    if isinstance(owner, Ref) and owner.name == "$ENV":
        return reader.record.variable(name)
    return None


def _sql(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and looks_sql(args[0]):
        perform(reader.record, "sql", args[:1], {}, at)
    return NOTHING


def _decode(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[-1] if args else NOTHING
    if func.name == "pack":
        how = text(args[0]) if args else ""
        if how.startswith("H") and isinstance(value, str):
            data = unhex(value)
            return DecodedText(data.decode("utf-8", "replace")) if data is not None else DECODED
        return DECODED if how[:1] in ("H", "C", "W", "U") else NOTHING
    if isinstance(value, str):
        data = unbase64(value)
        if data is not None:
            return DecodedText(data.decode("utf-8", "replace"))
    return value if isinstance(value, Unknown) and value.origin else DECODED


def _chr(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[0] if args else NOTHING
    return chr(value) if isinstance(value, int) and 2 < value < 0x110000 else "\0"


def _join(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    flat = _flat(args[1:])
    out: Any = ""
    for place, one in enumerate(flat[:400]):
        out = concat(concat(out, args[0]), one) if place else concat(out, one)
    return out


def _reverse(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if len(args) == 1 and isinstance(args[0], str):
        return args[0][::-1]
    return list(reversed(_flat(args)))


def _sprintf(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return percent(text(args[0]), tuple(args[1:])) if args else NOTHING


def _readdir(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return ["\1"]


def _same(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return args[0] if args else NOTHING


def _get(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    target = args[0] if args else NOTHING
    if isinstance(target, str | Ref | Unknown) and (not isinstance(target, str) or "://" in target):
        reader.record.add("fetch", target, at)
        return DOWNLOADED
    return NOTHING


_CALLS = {
    "system": "list",
    "exec": "list",
    "readpipe": "shell",
    "unlink": _unlink,
    "rmdir": _unlink,
    "rmtree": "tree*",
    "remove_tree": "tree*",
    "File.Path.rmtree": "tree*",
    "File.Path.remove_tree": "tree*",
    "File.Path.Tiny.rm": "tree*",
    "rename": "move",
    "move": "move",
    "mv": "move",
    "copy": "copy",
    "cp": "copy",
    "File.Copy.copy": "copy",
    "File.Copy.move": "move",
    "symlink": "write2",
    "link": "write2",
    "truncate": "write",
    "chmod": "chmod*",
    "chown": "nothing",
    "kill": _kill,
    "open": _open,
    "sysopen": _open,
    "opendir": "nothing",
    "readdir": _readdir,
    "glob": _glob,
    "bsd_glob": _glob,
    "chdir": "chdir",
    "connect": _connect,
    "listen": _listen,
    "socket": "nothing",
    "inet_aton": _same,
    "IO.Socket.INET": _connect,
    "IO.Socket.INET.new": _connect,
    "IO.Socket.SSL.new": _connect,
    "IO.Socket.IP.new": _connect,
    "IO.Socket.UNIX.new": _unix,
    "getstore": "download",
    "LWP.Simple.getstore": "download",
    "LWP.Simple.get": _get,
    "get": _get,
    "mirror": "download",
    "decode_base64": _decode,
    "MIME.Base64.decode": _decode,
    "MIME.Base64.decode_base64": _decode,
    "pack": _decode,
    "chr": _chr,
    "join": _join,
    "reverse": _reverse,
    "sprintf": _sprintf,
    "lc": _same,
    "ref": "nothing",
    "die": "nothing",
    "warn": "nothing",
    "Cwd.getcwd": lambda reader, *_: reader.record.cwd or reader.record.env.get("PWD", "\0"),
    "getcwd": lambda reader, *_: reader.record.cwd or reader.record.env.get("PWD", "\0"),
    "fdopen": _fdopen,
}

LANGUAGE = Language(
    "perl",
    line_comments=("#",),
    quotes={"'": "raw", '"': "perl", "`": "perl"},
    command="`",
    sigils="$@%&",
    concat=(".",),
    bare="known",
    regex=True,
    calls=_CALLS,
    methods={
        "do": _sql,
        "prepare": _sql,
        "execute": _sql,
        "selectall_arrayref": _sql,
        "post": "send",
        "put": "send",
        "get": _get,
        "fdopen": _fdopen,
        "remove_tree": "nothing",
        "spew": "nothing",
    },
    hooks={
        "eval": _eval,
        "=eval": _eval_value,
        "do": _do,
        "use": _use,
        "no": _use,
        "package": _use,
        "my": _my,
        "our": _my,
        "local": _my,
        "sub": _sub,
        "=sub": _sub_value,
        "for": _for,
        "foreach": _for,
        "return": _return,
        "=shift": _shift,
    },
    skips=(
        "if",
        "unless",
        "while",
        "until",
        "else",
        "elsif",
        "BEGIN",
        "END",
        "and",
        "or",
        "not",
        "last",
        "next",
        "redo",
    ),
    member=("->", "::"),
    value=_value,
    attribute=_attribute,
    literal=literal,
    before=before,
    word_functions=(),
)
