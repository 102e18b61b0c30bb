"""R."""

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
    first,
    join,
    joined,
    known_text,
    looks_sql,
    open_file,
    percent,
    perform,
    quote,
    star,
    text,
    variants,
)
from .tokens import Body, Language, Lexer, Reader, Token, element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .record import Span

_ARROWS = ("<<-", "<-")


def literal(lexer: Lexer) -> Token | None:
    """``<-``, names in backticks, raw strings."""
    source, i = lexer.text, lexer.i
    c = source[i]
    if c == "<":
        for arrow in _ARROWS:
            if source.startswith(arrow, i):
                lexer.i = i + len(arrow)
                return lexer.push("o", "=", i)
    if c == "\\" and source[i + 1 : i + 2] == "(":
        lexer.i = i + 1
        return lexer.push("i", "function", i)
    if c == "`":
        end = source.find("`", i + 1, i + 200)
        if end > 0:
            lexer.i = end + 1
            return lexer.push("i", source[i + 1 : end], i)
    if c in "rR" and source[i + 1 : i + 2] in ("'", '"'):
        j = i + 2
        while source[j : j + 1] == "-":
            j += 1
        close = {"(": ")", "[": "]", "{": "}"}.get(source[j : j + 1])
        if close is not None:
            end = source.find(close + "-" * (j - i - 2) + source[i + 1], j + 1)
            stop = lexer.size if end < 0 else end
            lexer.i = min(lexer.size, stop + 2 + (j - i - 2))
            return lexer.push("s", source[j + 1 : stop], i)
    return None


def _path(reader: Reader, value: Any) -> Any:
    """R's own file functions read a leading ``~`` as the home directory."""
    if isinstance(value, list):
        return [_path(reader, one) for one in value]
    return reader.record.tilde(value)


def _is_url(value: Any) -> bool:
    return (known_text(value) or "").startswith(("http://", "https://", "ftp://"))


def _named(args: list[Any], *names: str) -> tuple[list[Any], dict[str, Any]]:
    """The arguments by place and by name; those of ``names`` that were named come first."""
    opts = args[-1] if args and isinstance(args[-1], dict) else {}
    plain = args[:-1] if opts else args
    return [*(opts[name] for name in names if name in opts), *plain], opts


def _on_paths(op: str, *names: str) -> Callable[..., Any]:
    """An operation of ``record.perform`` whose arguments are paths as R reads them."""

    def run(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
        given, _ = _named(args, *names)
        return perform(reader.record, op, [_path(reader, one) for one in given], {}, at)

    return run


def _unlink(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, opts = _named(args, "x")
    deep = opts.get("recursive", given[1] if len(given) > 1 else False)
    paths = _path(reader, given[0] if given else NOTHING)
    for path in paths if isinstance(paths, list) else [paths]:
        for one in variants(path):  # it expands wildcards
            pattern = star(one) if isinstance(one, str) else one
            reader.record.add("delete", pattern, at, recursive=deep not in (False, None))
    return NOTHING


def _second(op: str) -> Callable[..., Any]:
    """A function that writes to its second argument, or to one of these names."""

    def run(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
        given, opts = _named(args)
        named = next((opts[name] for name in ("file", "con", "path", "sink") if name in opts), None)
        where = named if named is not None else given[1] if len(given) > 1 else None
        if known_text(where) is not None:
            perform(reader.record, op, [_path(reader, where)], {}, at)
        return NOTHING

    return run


def _cat(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    _, opts = _named(args)
    if known_text(opts.get("file")):
        mode = "w" if opts.get("append", False) in (False, None) else "a"
        open_file(reader.record, _path(reader, opts["file"]), mode, at)
    return NOTHING


def _read(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, _ = _named(args, "file", "con", "path")
    where = given[0] if given else NOTHING
    if _is_url(where):
        return perform(reader.record, "fetch", [where], {}, at)
    if isinstance(where, str):
        if where[:1] in ("{", "[") or "\n" in where:  # fromJSON takes the text itself as well
            return NOTHING
        return perform(reader.record, "read", [_path(reader, where)], {}, at)
    if isinstance(where, Ref) and where.name == "socket()":
        return SOCKET
    return where if isinstance(where, Unknown) else NOTHING


def _file(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, opts = _named(args, "description")
    where = given[0] if given else NOTHING
    if where == "stdin":
        return STDIN
    mode = opts.get("open", given[1] if len(given) > 1 else "r")
    return open_file(reader.record, _path(reader, where), mode, at)


def _download(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, opts = _named(args)
    reader.record.add("fetch", opts.get("url", given[0] if given else NOTHING), at)
    where = opts.get("destfile", given[-1] if len(given) > 1 else NOTHING)
    reader.record.add("write", _path(reader, where), at)
    return NOTHING


def _source(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, _ = _named(args, "file")
    where = given[0] if given else NOTHING
    if _is_url(where):
        reader.record.add("fetch", where, at)
        reader.record.code(DOWNLOADED, "r", at)
    elif isinstance(where, Unknown) and where.origin:
        reader.record.code(where, "r", at)
    else:
        reader.record.add("run-file", _path(reader, where), at)
    return NOTHING


def _parse(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, opts = _named(args)
    if "text" not in opts and func.name.rpartition(".")[2] == "parse":  # a file's
        where = opts.get("file", given[0] if given else NOTHING)
        if _is_url(where):
            return perform(reader.record, "fetch", [where], {}, at)
        if isinstance(where, str):
            reader.record.add("run-file", _path(reader, where), at)
        return where if isinstance(where, Unknown) else NOTHING
    value = opts.get("text", given[0] if given else NOTHING)
    return "\n".join(text(one) for one in value) if isinstance(value, list) else value


def _eval(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[0] if args else NOTHING
    if isinstance(value, str) or (isinstance(value, Unknown) and value.origin):
        reader.record.code(value, "r", at)
    return NOTHING


def _system(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, opts = _named(args, "command", "cmd")
    if func.name in ("pipe", "shell") and known_text(given[0] if given else None) is None:
        return NOTHING  # names that people give to functions of their own
    return perform(reader.record, "shell", given[:1], {"input": opts["input"]} if "input" in opts else {}, at)


def _system2(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """system2("rm", c("-rf", "x")): the words go to a shell as they are."""
    given, opts = _named(args, "command")
    line = given[0] if given else NOTHING
    words = opts.get("args", given[1] if len(given) > 1 else [])
    for word in words if isinstance(words, list) else [words]:
        line = concat(concat(line, " "), word)
    return perform(reader.record, "shell", [line], {}, at)


def _run(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """processx::run("rm", c("-rf", "x")): words, no shell."""
    given, opts = _named(args, "command", "cmd")
    words = opts.get("args", given[1] if len(given) > 1 else [])
    return perform(
        reader.record, "spawn", [given[0] if given else NOTHING, words if isinstance(words, list) else [words]], {}, at
    )


def _quote(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[0] if args else NOTHING
    return either(*(quote(text(one)) for one in variants(value)))


def _c(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, opts = _named(args)
    if func.name.rpartition(".")[2] == "list" and opts and not given:
        return opts
    flat: list[Any] = []
    for one in (*given, *opts.values()):
        flat.extend(one if isinstance(one, list) else [one])
    return flat[:2_000]


def _paste(separator: str) -> Callable[..., Any]:
    def run(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
        given, opts = _named(args)
        between = opts.get("sep", separator)
        inside = opts.get("collapse")
        out: Any = None
        for one in given:
            if isinstance(one, list):
                glued: Any = None
                for part in one:
                    glued = part if glued is None else concat(concat(glued, text(inside)), part)
                one = either(*one) if inside is None and one else NOTHING if glued is None else glued
            out = one if out is None else concat(concat(out, text(between)), one)
        return "" if out is None else out

    return run


def _file_path(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, _ = _named(args)
    if not given:
        return reader.record.cwd or reader.record.env.get("PWD", "\0")
    return joined(given)


def _glue(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """glue("rm -rf {dir}")"""
    pattern = args[0] if args else NOTHING
    if not isinstance(pattern, str):
        return NOTHING
    out: Any = ""
    for at_piece, piece in enumerate(pattern.split("{")):
        name, mark, rest = piece.partition("}")
        if at_piece and mark:
            value = reader.get(name.strip())
            out = concat(concat(out, NOTHING if isinstance(value, Ref) else value), rest)
        else:
            out = concat(out, piece)
    return out


def _sprintf(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, _ = _named(args, "fmt")
    return percent(text(given[0]), tuple(given[1:])) if given else NOTHING


def _expand(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, _ = _named(args, "path")
    return _path(reader, given[0] if given else NOTHING)


def _same(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return args[0] if args else NOTHING


def _getenv(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, _ = _named(args, "x")
    if not given:
        reader.record.add("env", "", at)
        return Ref("Sys.getenv()")
    return reader.record.variable(given[0])


def _listing(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, opts = _named(args, "path")
    where = _path(reader, given[0] if given else ".")
    if opts.get("full.names", False) in (False, None) and func.name != "fs.dir_ls":
        return ["\1"]
    return [concat(where, "/\1")]


def _glob(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, _ = _named(args, "paths")
    return [star(text(_path(reader, one))) for one in given]


def _chdir(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.chdir(_path(reader, args[0] if args else NOTHING))
    return NOTHING


def _connect(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, _ = _named(args, "host")
    reader.record.connect(given[0] if given else "localhost", at)
    return Ref("socket()")


def _sql(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    given, opts = _named(args)
    statement = opts.get("statement", given[1] if len(given) > 1 else NOTHING)
    if looks_sql(statement):
        perform(reader.record, "sql", [statement], {}, at)
    return NOTHING


def _apply(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """lapply(paths, unlink, recursive = TRUE), purrr::walk, do.call(unlink, list(...))."""
    given, opts = _named(args, "X", ".x", "x")
    what = next((opts[name] for name in ("FUN", ".f", "what") if name in opts), None)
    first = func.name.rpartition(".")[2] in ("call", "Map")  # the function comes first
    if what is None:
        if not given or (not first and len(given) < 2):
            return NOTHING
        what = given.pop(0 if first else 1)
    on = opts.get("args", given[0] if given else NOTHING)
    opts = {name: one for name, one in opts.items() if name not in ("X", ".x", "x", "FUN", ".f", "what", "args")}
    if isinstance(what, str):
        what = Ref(what)
    if not isinstance(what, Ref | Body):
        return NOTHING
    if func.name == "do.call":
        rest, more = (on, {}) if isinstance(on, list) else ([], on) if isinstance(on, dict) else ([on], {})
    else:
        rest, more = [element(on) if isinstance(on, list) else on, *given[1:]], opts
    return reader.call(what, None, list(rest), dict(more), reader.i - 1)


def _for(reader: Reader) -> None:
    """for (f in files) { … }"""
    reader.i += 1
    if not reader.eat("("):
        return
    token = reader.peek()
    name = token.value if token is not None and token.kind == "i" else ""
    reader.i += 1
    if reader.word("in"):
        reader.i += 1
        value = reader.expression()
        reader.set(name, either(*value[:12]) if isinstance(value, list) and value else value)
    reader.eat(")")


def _return(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[0] if args else NOTHING
    reader.result = value if reader.result is NOTHING else either(reader.result, value)
    return value


def _binary(reader: Reader, mark: str, left: Any) -> Any:
    """``x |> f(y)`` and ``x %>% f(y)``: the value goes in front of the arguments.  ``x -> name`` assigns."""
    tokens = reader.tokens
    place = reader.i
    if mark == "->":
        reader.i += 1
        reader.eat(">")
        target = reader.peek()
        if target is not None and target.kind == "i":
            reader.set(target.value, left)
            reader.i += 1
        return left
    if mark == "|" and place + 1 < len(tokens) and tokens[place + 1].value == ">":
        reader.i += 2
    elif mark == "%" and place + 3 < len(tokens) and [one.value for one in tokens[place + 1 : place + 3]] == [">", "%"]:
        reader.i += 3
    else:
        return None
    while (line := reader.peek()) is not None and line.kind == "l":
        reader.i += 1
    start = reader.i
    name = ""
    while (token := reader.peek()) is not None and (token.kind == "i" or token.value == "::"):
        name += str(token.value).replace("::", ".")
        reader.i += 1
    if not name:
        return NOTHING
    args, opts = reader.sequence(")") if reader.eat("(") else ([], {})
    placed = {key: left for key, one in opts.items() if isinstance(one, Ref) and one.name in ("_", ".")}
    return reader.call(reader.get(name), None, args if placed else [left, *args], {**opts, **placed}, start)


def _if(reader: Reader) -> Any:
    """out <- if (fast) "a" else other"""
    reader.i += 1
    if not reader.eat("("):
        return NOTHING
    reader.sequence(")")
    value = reader.expression()
    if reader.word("else"):
        reader.i += 1
        value = either(value, reader.expression())
    return value


def _ifelse(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return either(*args[1:3]) if len(args) > 2 else NOTHING


def _last(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """Filter(dir.exists, paths), grep("x", paths, value = TRUE)"""
    given, _ = _named(args)
    return given[1] if len(given) > 1 else NOTHING


def _value(reader: Reader, name: str) -> Any:
    return {"TRUE": True, "T": True, "FALSE": False, "F": False}.get(name)


_SHELL = ("system", "shell", "pipe", "shell.exec")
_WRITES = ("write.csv", "write.csv2", "write.table", "writeLines", "saveRDS", "write", "dput", "writeBin", "readr.write_csv", "write_csv", "readr.write_lines", "readr.write_file", "data.table.fwrite", "fwrite", "arrow.write_parquet")  # fmt: skip
_READS = ("readLines", "readRDS", "read.csv", "read.table", "scan", "readChar", "readBin", "readr.read_csv", "readr.read_file", "readr.read_lines", "jsonlite.fromJSON", "fromJSON", "load", "data.table.fread", "fread", "url", "httr.content", "read.socket")  # fmt: skip
_APPLIES = ("Map", "lapply", "sapply", "vapply", "purrr.walk", "purrr.map", "walk", "map", "do.call")
_SQL = ("dbExecute", "dbSendQuery", "dbSendStatement", "dbGetQuery", "dbSendUpdate", "sqldf")

_CALLS: dict[str, Any] = {
    **dict.fromkeys(_SHELL, _system),
    **dict.fromkeys(_WRITES, _second("write")),
    **dict.fromkeys(_READS, _read),
    **dict.fromkeys(_APPLIES, _apply),
    **dict.fromkeys(_SQL, _sql),
    "system2": _system2,
    "processx.run": _run,
    "sys.exec_wait": _run,
    "sys.exec_background": _run,
    "sys.exec_internal": _run,
    "unlink": _unlink,
    "file.remove": _on_paths("delete*"),
    "fs.file_delete": _on_paths("delete*", "path"),
    "fs.dir_delete": _on_paths("tree*", "path"),
    "fs.link_delete": _on_paths("delete*", "path"),
    "file.rename": _on_paths("move", "from", "to"),
    "fs.file_move": _on_paths("move", "path", "new_path"),
    "file.copy": _on_paths("copy", "from", "to"),
    "fs.file_copy": _on_paths("copy", "path", "new_path"),
    "file.create": _on_paths("write"),
    "sink": lambda reader, func, args, opts, at: _second("write")(reader, func, [NOTHING, *args], opts, at),
    "save": _second("write"),
    "save.image": _on_paths("write", "file"),
    "file.symlink": _on_paths("write2", "from", "to"),
    "file.link": _on_paths("write2", "from", "to"),
    "cat": _cat,
    "file": _file,
    "gzfile": _file,
    "download.file": _download,
    "curl.curl_download": _download,
    "source": _source,
    "sys.source": _source,
    "devtools.source_url": _source,
    "parse": _parse,
    "str2expression": _parse,
    "str2lang": _parse,
    "eval": _eval,
    "evalq": _eval,
    "Sys.chmod": "chmod",
    "fs.file_chmod": "chmod",
    "Sys.getenv": _getenv,
    "setwd": _chdir,
    "tools.pskill": "kill",
    "socketConnection": _connect,
    "make.socket": _connect,
    "httr.GET": "fetch",
    "httr.POST": "send",
    "httr.PUT": "send",
    "curl.curl_fetch_memory": "fetch",
    "dbRemoveTable": lambda reader, func, args, opts, at: perform(
        reader.record, "sql", [concat("DROP TABLE ", first(args, {}, 1))], {}, at
    ),
    "c": _c,
    "list": _c,
    "paste": _paste(" "),
    "paste0": _paste(""),
    "glue.glue": _glue,
    "glue": _glue,
    "file.path": _file_path,
    "fs.path": _file_path,
    "here.here": _file_path,
    "sprintf": _sprintf,
    "shQuote": _quote,
    "path.expand": _expand,
    "fs.path_expand": _expand,
    "fs.path_home": lambda reader, func, args, opts, at: join(reader.record.home(), *(text(one) for one in args)),
    "normalizePath": _expand,
    "getwd": lambda reader, func, args, opts, at: reader.record.cwd or reader.record.env.get("PWD", "\0"),
    "tempdir": lambda reader, func, args, opts, at: "/tmp/\0",
    "tempfile": lambda reader, func, args, opts, at: "/tmp/\0",
    "withr.local_tempdir": lambda reader, func, args, opts, at: "/tmp/\0",
    "withr.local_tempfile": lambda reader, func, args, opts, at: "/tmp/\0",
    "commandArgs": lambda reader, func, args, opts, at: list(reader.record.args),
    "ifelse": _ifelse,
    "Filter": _last,
    "grep": _last,
    "httr.upload_file": _read,
    "curl.curl_upload": _read,
    "httr2.req_body_file": _last,
    "list.files": _listing,
    "list.dirs": _listing,
    "dir": _listing,
    "fs.dir_ls": _listing,
    "Sys.glob": _glob,
    "return": _return,
    **dict.fromkeys(
        (
            "setdiff",
            "rev",
            "unique",
            "head",
            "tail",
            "sort",
            "invisible",
            "identity",
            "as.character",
            "unlist",
            "suppressWarnings",
            "suppressMessages",
        ),
        _same,
    ),
}
# Attached with library(), they are called by their bare names; the base functions may be called by their full ones.
for _name in list(_CALLS):
    _package, _, _bare = _name.partition(".")
    if _package in ("fs", "processx", "httr", "here", "glue", "curl") and "." not in _bare:
        if _bare not in ("run", "path"):
            _CALLS.setdefault(_bare, _CALLS[_name])
for _name in list(_CALLS):
    _CALLS.setdefault(f"base.{_name}", _CALLS[_name])
    _CALLS.setdefault(f"utils.{_name}", _CALLS[_name])
    _CALLS.setdefault(f"DBI.{_name}", _CALLS[_name])

LANGUAGE = Language(
    "r",
    line_comments=("#",),
    quotes={"'": "plain", '"': "plain"},
    concat=(),
    lines=True,
    named=")",
    calls=_CALLS,
    hooks={"for": _for, "=if": _if},
    skips=("if", "while", "else", "repeat", "next", "break"),
    member=("$", "@", "::", ":::"),
    value=_value,
    literal=literal,
    extra="._",
    binary=_binary,
)
