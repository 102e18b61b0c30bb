"""PHP."""

from __future__ import annotations

from .record import (
    DECODED,
    DOWNLOADED,
    NOTHING,
    DecodedText,
    Ref,
    Unknown,
    concat,
    either,
    looks_sql,
    open_file,
    percent,
    perform,
    rot13,
    star,
    text,
    unbase64,
    unhex,
    unsqueeze,
    variants,
)
from .tokens import Language, Lexer, Reader, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .record import Span


def prepare(source: str) -> str:
    """A page's text outside ``<?php … ?>`` blanked, offsets kept; ``php -r`` code has no tags."""
    if "<?" not in source:
        return source
    opening = source.find("<?")
    if source[:opening].strip() and not source[:opening].lstrip().startswith(("<", "#!")):
        return source  # code that holds a tag in a string
    out: list[str] = []
    i = 0
    while i < len(source):
        start = source.find("<?", i)
        if start < 0:
            out.append(" " * (len(source) - i))
            break
        out.append(" " * (start - i))
        width = 5 if source.startswith("<?php", start) else 3 if source.startswith("<?=", start) else 2
        end = source.find("?>", start)
        stop = len(source) if end < 0 else end
        out.append(" " * width + source[start + width : stop])
        if end >= 0:
            out.append("; ")
        i = stop + 2
    return "".join(out)


def literal(lexer: Lexer) -> Token | None:
    """Here-documents."""
    source, i = lexer.text, lexer.i
    if source[i] != "<" or not source.startswith("<<<", i):
        return None
    j = i + 3
    while source[j : j + 1] in (" ", "\t") and j < lexer.size:
        j += 1
    quote = source[j : j + 1]
    if quote in ("'", '"'):
        end = source.find(quote, j + 1, j + 80)
        if end < 0:
            return None
        tag, end = source[j + 1 : end], end + 1
    else:
        end = j
        while end < lexer.size and (source[end].isalnum() or source[end] == "_"):
            end += 1
        tag = source[j:end]
    if not tag:
        return None
    lexer.i = end
    return lexer.heredoc(tag, True, "raw" if quote == "'" else "php", i)


def _contents(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """file_get_contents and kin: a file, or a URL."""
    value: Any = NOTHING
    for one in variants(args[0] if args else NOTHING):
        path = text(one)
        if "://" in path[:12]:
            if path.startswith("php://"):
                continue
            reader.record.add("send" if len(args) > 2 else "fetch", path, at)
            value = DOWNLOADED
        else:
            reader.record.add("read", one, at)
            value = Unknown("file", path)
    return value


def _fopen(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    target = args[0] if args else NOTHING
    if isinstance(target, str) and "://" in target[:12]:
        if not target.startswith("php://"):
            reader.record.add("fetch", target, at)
        return DOWNLOADED
    return open_file(reader.record, target, args[1] if len(args) > 1 else "r", at)


def _put(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return perform(reader.record, "write", args[:1], {}, at)


def _decoder(decode: Callable[[Any], bytes | None]) -> Any:
    def run(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
        value = args[0] if args else NOTHING
        if isinstance(value, Unknown) and value.origin:
            return value
        if isinstance(value, str):
            data = decode(value)
            if data is not None:
                # Latin-1 keeps every byte, for a gzinflate that follows; text is the same in ASCII
                return DecodedText(data.decode("latin-1"))
        return DECODED

    return run


def _inflate(bits: int) -> Any:
    return _decoder(lambda value: unsqueeze(value.encode("latin-1", "replace"), bits))


def _rot(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return DecodedText(rot13(args[0])) if args and isinstance(args[0], str) else DECODED


def _strrev(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return args[0][::-1] if args and isinstance(args[0], str) else NOTHING


def _chr(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[0] if args else NOTHING
    return chr(value) if isinstance(value, int) and 2 < value < 256 else "\0"


def _implode(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    glue, items = (args[0], args[1]) if len(args) > 1 else ("", args[0] if args else [])
    if not isinstance(items, list):
        return NOTHING
    out: Any = ""
    for place, one in enumerate(items[:400]):
        out = concat(concat(out, glue), one) if place else concat(out, one)
    return out


def _sprintf(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return percent(text(args[0]), tuple(args[1:])) if args else NOTHING


def _glob(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return [star(text(one)) for one in variants(args[0] if args else NOTHING)]


def _scandir(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return ["\1"]


def _same(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return args[0] if args else NOTHING


def _code(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if func.name == "create_function":
        args = args[1:]
    if func.name == "assert" and args and not isinstance(args[0], str | Unknown):
        return NOTHING
    reader.record.code(args[0] if args else NOTHING, "php", at)
    return NOTHING


def _include(reader: Reader) -> Any:
    first = reader.i
    reader.i += 1
    value = reader.expression()
    if isinstance(value, str) and "://" in value[:12]:
        reader.record.add("fetch", value, reader.span(first))
        reader.record.add("run-code", "downloaded", reader.span(first))
    elif isinstance(value, str):
        reader.record.add("run-file", value, reader.span(first))
    return NOTHING


def _env(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if not args:
        reader.record.add("env", "", at)
        return NOTHING
    return reader.record.variable(args[0])


def _map(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """array_map("unlink", glob(…)); call_user_func("system", …)."""
    if func.name == "array_walk" or func.name == "array_filter":
        args = [args[1], args[0]] if len(args) > 1 else []
    if not args:
        return NOTHING
    call = Ref(args[0]) if isinstance(args[0], str) else args[0]
    rest = args[1:]
    if func.name == "call_user_func_array" and rest and isinstance(rest[0], list):
        rest = rest[0]
    elif func.name.startswith("array"):
        items = rest[0] if rest else NOTHING
        rest = [either(*items[:12])] if isinstance(items, list) and items else [items]
    return reader.call(call, None, list(rest), {}, max(0, reader.i - 1))


def _proc(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    record = reader.record
    command = args[0] if args else NOTHING
    if isinstance(command, list):
        record.add("argv", command, at)
    else:
        record.add("shell", command, at, cwd=args[3] if len(args) > 3 and isinstance(args[3], str) else "")
    pipes = args[1] if len(args) > 1 else None
    streams = pipes.values() if isinstance(pipes, dict) else pipes if isinstance(pipes, list) else ()
    if any(isinstance(one, Ref) and "socket" in one.name for one in streams):
        record.handed = True
    return NOTHING


def _pcntl(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    rest = args[1] if len(args) > 1 and isinstance(args[1], list) else []
    reader.record.add("argv", [args[0] if args else NOTHING, *rest], at)
    return NOTHING


def _curl(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args:
        reader.vars["\0curl"] = args[0]
    return Ref("curl", tuple(args))


def _setopt(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    name = args[1].name if len(args) > 1 and isinstance(args[1], Ref) else ""
    if name == "CURLOPT_URL" and len(args) > 2:
        reader.vars["\0curl"] = args[2]
    elif name in ("CURLOPT_POST", "CURLOPT_POSTFIELDS", "CURLOPT_UPLOAD", "CURLOPT_INFILE"):
        reader.vars["\0post"] = True
    return NOTHING


def _exec(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    url = reader.vars.get("\0curl", NOTHING)
    reader.record.add("send" if reader.vars.pop("\0post", False) else "fetch", url, at)
    return DOWNLOADED


def _connect(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    host = args[1] if func.name == "socket_connect" and len(args) > 1 else args[0] if args else NOTHING
    for one in variants(host):
        name = text(one)
        reader.record.connect(name.rpartition("://")[2].split(":")[0] if "://" in name else name, at)
    return Ref("socket()")


def _serve(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    name = text(args[0]) if args else ""
    if name.startswith("unix://"):  # a file that others will take for whoever stood there
        reader.record.add("write", name[7:], at)
    else:
        reader.record.connect("*", at)
    return Ref("socket()")


def _mail(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.add("send", concat("mailto:", args[0] if args else NOTHING), at)
    return NOTHING


def _sql(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    for one in args[:2]:
        if looks_sql(one):
            perform(reader.record, "sql", [one], {}, at)
            break
    return NOTHING


def _foreach(reader: Reader) -> None:
    """foreach (glob("*") as $f)"""
    reader.i += 1
    if not reader.eat("("):
        return
    over = reader.operand()
    if not reader.word("as"):
        return
    reader.i += 1
    token, after = reader.peek(), reader.peek(1)
    if token is None or token.kind != "v":
        return
    reader.i += 1
    if after is not None and after.value == "=>":
        reader.vars[token.value] = NOTHING
        reader.i += 1
        token = reader.peek()
        if token is None or token.kind != "v":
            return
        reader.i += 1
    if isinstance(over, dict):
        over = list(over.values())
    reader.vars[token.value] = either(*over[:12]) if isinstance(over, list) and over else NOTHING


def _return(reader: Reader) -> None:
    reader.i += 1
    if not reader.op(";", "}"):
        value = reader.expression()
        reader.result = value if reader.result is NOTHING else either(reader.result, value)


def _header(reader: Reader) -> None:
    reader.i += 1
    while reader.i < len(reader.tokens) and not reader.op("{", ";"):
        reader.i += 1


def _array(reader: Reader) -> Any:
    reader.i += 1
    if not reader.eat("("):
        return NOTHING
    values, opts = reader.sequence(")")
    return opts if opts and not values else values


def _value(reader: Reader, name: str) -> Any:
    if name == "$argv":
        return [NOTHING, *reader.record.args]
    if name in ("$_SERVER", "$_ENV"):
        return Ref(name)
    if name[0] == "$":
        return NOTHING
    if name in ("__DIR__", "__FILE__"):
        return NOTHING
    if name == "PHP_EOL":
        return "\n"
    if name == "DIRECTORY_SEPARATOR":
        return "/"
    low = name.lower()
    if low in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[low]
    if low in _CALLS:  # PHP's function names know no case
        return Ref(low)
    return None


def _attribute(reader: Reader, owner: Any, name: str) -> Any:
    if isinstance(owner, Ref) and owner.name in ("$_SERVER", "$_ENV"):
        return reader.record.variable(name)
    return None


_CALLS: dict[str, Any] = {
    "system": "shell",
    "exec": "shell",
    "shell_exec": "shell",
    "passthru": "shell",
    "popen": "shell",
    "proc_open": _proc,
    "pcntl_exec": _pcntl,
    "unlink": "delete",
    "rmdir": "delete",
    "rename": "move",
    "move_uploaded_file": "move",
    "copy": "copy",
    "symlink": "write2",
    "link": "write2",
    "file_put_contents": _put,
    "fopen": _fopen,
    "file_get_contents": _contents,
    "file": _contents,
    "readfile": _contents,
    "parse_ini_file": _contents,
    "chmod": "chmod",
    "chown": "chmod",
    "chdir": "chdir",
    "posix_kill": "kill",
    "glob": _glob,
    "scandir": _scandir,
    "readdir": lambda *_: "\1",
    "eval": _code,
    "assert": _code,
    "create_function": _code,
    "base64_decode": _decoder(unbase64),
    "hex2bin": _decoder(unhex),
    "gzinflate": _inflate(-15),
    "gzuncompress": _inflate(15),
    "gzdecode": _inflate(31),
    "str_rot13": _rot,
    "strrev": _strrev,
    "chr": _chr,
    "implode": _implode,
    "join": _implode,
    "sprintf": _sprintf,
    "trim": _same,
    "realpath": _same,
    "strtolower": _same,
    "escapeshellarg": _same,
    "getenv": _env,
    "phpinfo": "env",
    "getcwd": lambda reader, *_: reader.record.cwd or reader.record.env.get("PWD", "\0"),
    "sys_get_temp_dir": lambda reader, *_: reader.record.env.get("TMPDIR") or "/tmp",
    "array_map": _map,
    "array_walk": _map,
    "array_filter": _map,
    "call_user_func": _map,
    "call_user_func_array": _map,
    "curl_init": _curl,
    "curl_setopt": _setopt,
    "curl_exec": _exec,
    "fsockopen": _connect,
    "pfsockopen": _connect,
    "stream_socket_client": _connect,
    "stream_socket_server": _serve,
    "socket_connect": _connect,
    "mail": _mail,
    "mysqli_query": _sql,
    "mysql_query": _sql,
    "pg_query": _sql,
    "sqlite_exec": _sql,
    "File.delete": "delete*",
    "File.deleteDirectory": "tree",
    "Storage.delete": "delete*",
}

LANGUAGE = Language(
    "php",
    line_comments=("//", "#"),
    block=("/*", "*/"),
    quotes={"'": "raw", '"': "php", "`": "php"},
    command="`",
    sigils="$",
    concat=(".",),
    calls=_CALLS,
    methods={
        "query": _sql,
        "exec": _sql,
        "prepare": _sql,
        "execute": _sql,
        "statement": _sql,
        "unprepared": _sql,
        "post": "send",
        "put": "send",
    },
    hooks={
        "foreach": _foreach,
        "return": _return,
        "class": _header,
        "namespace": _header,
        "use": _header,
        "=include": _include,
        "=include_once": _include,
        "=require": _include,
        "=require_once": _include,
        "=array": _array,
    },
    skips=(
        "if",
        "while",
        "else",
        "elseif",
        "do",
        "try",
        "finally",
        "switch",
        "catch",
        "case",
        "for",
        "abstract",
        "final",
    ),
    member=("->", "::", "?->"),
    value=_value,
    attribute=_attribute,
    literal=literal,
    word_functions=("function", "fn"),
)
