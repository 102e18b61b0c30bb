"""Ruby."""

from __future__ import annotations

from .record import (
    DECODED,
    DOWNLOADED,
    NOTHING,
    SOCKET,
    STDIN,
    Alts,
    DecodedText,
    Ref,
    Unknown,
    concat,
    either,
    join,
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


def literal(lexer: Lexer) -> Token | None:
    """%w, %q, %x and kin, symbols, here-documents, =begin comments and what follows __END__."""
    source, i = lexer.text, lexer.i
    c = source[i]
    before = lexer.tokens[-1] if lexer.tokens else None
    if c == "=" and source.startswith("=begin", i) and (i == 0 or source[i - 1] == "\n"):
        end = source.find("\n=end", i)
        lexer.i = lexer.size if end < 0 else end + 5
        return Token("l", "", i, lexer.i, True, True)
    if c == "_" and source.startswith("__END__", i) and (i == 0 or source[i - 1] == "\n"):
        lexer.i = lexer.size
        return Token("l", "", i, lexer.i, True, True)
    value_before = before is not None and (
        before.kind in "vns"
        or (before.kind == "o" and before.value in (")", "]", "}"))
        or (before.kind == "i" and not lexer.space)
    )
    if c == ":" and not value_before and source[i + 1 : i + 2] != ":":
        after = source[i + 1 : i + 2]
        if after.isalpha() or after == "_":
            j = i + 2
            while j < lexer.size and (source[j].isalnum() or source[j] in "_?!"):
                j += 1
            lexer.i = j
            return lexer.push("s", source[i + 1 : j], i)
    if c == "%" and not value_before:
        kind = source[i + 1 : i + 2]
        j = i + 1
        if kind in ("w", "W", "i", "I", "q", "Q", "x", "r", "s"):
            j += 1
        elif kind not in _PAIRS and kind not in ("|", "!", "/"):
            return None
        else:
            kind = "Q"
        delimiter = source[j : j + 1]
        if not delimiter or delimiter.isalnum() or delimiter.isspace() or delimiter == "=":
            return None
        close = _PAIRS.get(delimiter, delimiter)
        opens = delimiter if close != delimiter else ""
        lexer.i = j + 1
        if kind in "wWiI":
            end = source.find(close, lexer.i)
            end = lexer.size if end < 0 else end
            items = source[lexer.i : end].split()
            lexer.i = min(lexer.size, end + 1)
            return lexer.push("w", items, i)
        value = lexer.quoted(close, opens, "raw" if kind in "qs" else "ruby")
        return lexer.push("c" if kind == "x" else "r" if kind == "r" else "s", value, i)
    if c == "<" and source.startswith("<<", i) and not (value_before and source[i + 2 : i + 3] not in "~-"):
        j = i + 2
        indented = source[j : j + 1] in ("~", "-") and j < lexer.size
        j += indented
        quote = source[j : j + 1]
        if quote in ("'", '"', "`") and quote:
            last = source.find(quote, j + 1, j + 80)
            if last < 0:
                return None
            tag, end = source[j + 1 : last], last + 1
        else:
            end = j
            while end < lexer.size and (source[end].isalnum() or source[end] == "_"):
                end += 1
            tag = source[j:end]
            if not tag or not tag[0].isupper():
                return None
        lexer.i = end
        return lexer.heredoc(tag, indented, "raw" if quote == "'" else "ruby", i, quote == "`")
    if c == "/" and before is not None and before.kind == "i" and lexer.space and source[i + 1 : i + 2] in (" ", "="):
        lexer.i = i + 1
        return lexer.push("o", "/", i)
    return None


def _plain(args: list[Any]) -> list[Any]:
    out: list[Any] = []
    for one in args:
        if isinstance(one, list):
            out.extend(one)
        elif not isinstance(one, dict):
            out.append(one)
    return out


def _spawn(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """system, exec, spawn, popen: one text is a shell line, several are words; a hash in front is the environment."""
    options = next((one for one in reversed(args) if isinstance(one, dict)), {})
    if func.name.startswith(("IO.popen", "PTY")) and args and isinstance(args[0], list):
        reader.record.add("argv", args[0], at, cwd=options.get("chdir", ""))
        return NOTHING
    words = [one for one in args if not isinstance(one, dict)]
    if func.name.startswith("IO.popen"):
        words = words[:1]
    flat = [one[0] if isinstance(one, list) and one else one for one in words]
    for stream in ("in", "out", "err"):
        given = options.get(stream)
        if isinstance(given, Ref) and "socket" in given.name.lower():
            reader.record.handed = True
    if len(flat) == 1:
        reader.record.add("shell", flat[0], at, cwd=options.get("chdir", ""), stdin=options.get("stdin_data"))
    elif flat:
        reader.record.add("argv", flat, at, cwd=options.get("chdir", ""), stdin=options.get("stdin_data"))
    return NOTHING


def _glob(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    base = opts.get("base") if isinstance(opts, dict) else None
    out: list[Any] = []
    for one in variants(args[0] if args else NOTHING):
        for each in one if isinstance(one, list) else [one]:
            path = star(text(each))
            out.append(join(text(base), path) if base is not None else path)
    return out


def _children(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return ["\1"]


def _sprintf(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return percent(text(args[0]), tuple(args[1:])) if args else NOTHING


def _find(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return [args[0], concat(args[0], "/\2")] if args else NOTHING


def _join(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    flat = _plain(args)
    return either(
        *(join(*[text(p).lstrip("/") if n else text(p) for n, p in enumerate(row)]) for row in variants(flat))
    )


def _expand(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    out = []
    for one in variants(args[0] if args else NOTHING):
        path = text(one)
        if path == "~" or path.startswith("~/"):
            path = reader.record.home() + path[1:]
        elif len(args) > 1 and not path.startswith("/"):
            path = join(text(args[1]), path)
        elif not path.startswith(("/", "\0")):
            path = join(reader.record.cwd or reader.record.env.get("PWD", "\0"), path)
        out.append(path)
    return either(*out)


def _dirname(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return text(args[0] if args else NOTHING).rpartition("/")[0] or "."


def _file_open(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    target = args[0] if args else NOTHING
    if func.name in ("open", "Kernel.open", "IO.read") and isinstance(target, str):
        if target.startswith("|"):
            reader.record.add("shell", target[1:].strip(), at)
            return NOTHING
        if "://" in target[:12]:
            reader.record.add("fetch", target, at)
            return DOWNLOADED
    mode = args[1] if len(args) > 1 and not isinstance(args[1], dict) else "r"
    open_file(reader.record, target, mode, at)
    return Ref("file", (target, mode))


def _read(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.add("read", args[0] if args else NOTHING, at)
    return Unknown("file", text(args[0] if args else NOTHING))


def _http(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    target = args[0] if args else NOTHING
    if isinstance(target, Ref) and target.args:
        target = target.args[0]
    sends = func.name.rpartition(".")[2] in ("post", "post_form", "put", "patch", "delete", "Post", "Put")
    reader.record.add("send" if sends else "fetch", target, at)
    return DOWNLOADED


def _uri(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return args[0] if args else NOTHING


def _connect(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.connect(args[0] if args else NOTHING, at)
    return Ref("socket()")


def _listen(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.connect("*", at)
    return Ref("socket()")


def _handed(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if reader.record.host is not None:
        reader.record.handed = True
    return NOTHING


def _gets(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return SOCKET if func.args or reader.record.host is not None else STDIN


def _kill(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    for one in _plain(args[1:]):
        reader.record.add("kill", one, at, detail=text(args[0]))
    return NOTHING


def _code(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args:
        reader.record.code(args[0], "ruby", at)
    return NOTHING


def _decode(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[0] if args else NOTHING
    data = unbase64(value) if isinstance(value, str) else None
    if data is not None:
        return DecodedText(data.decode("utf-8", "replace"))
    return value if isinstance(value, Unknown) and value.origin else DECODED


def _pack(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    how = text(args[0]) if args else ""
    source = owner[0] if isinstance(owner, list) and owner else owner
    data = None
    if isinstance(source, str):
        data = unhex(source) if how.startswith("H") else unbase64(source) if how.startswith("m") else None
    elif isinstance(owner, list) and owner and all(isinstance(one, int) and 0 <= one < 256 for one in owner):
        data = bytes(owner)
    return DecodedText(data.decode("utf-8", "replace")) if data is not None else DECODED


def _unpack(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return [_pack(reader, owner, args, opts, at)]


def _sql(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and looks_sql(args[0]):
        perform(reader.record, "sql", args[:1], {}, at)
    return NOTHING


def _delete_all(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    owner = func.name.rpartition(".")[0].removesuffix("()").removesuffix(".all")
    if owner and owner[:1].isupper() and "." not in owner:  # a model, not a relation that was narrowed
        reader.record.add("sql", f"DELETE FROM {owner}", at)
    return NOTHING


def _pathname(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return Ref("Pathname", tuple(args))


def _path_op(op: str) -> Any:
    def run(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
        if func.args:
            return perform(reader.record, op, [func.args[0], *args], {}, at)
        return NOTHING

    return run


def _send(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """Kernel.send(:system, …)"""
    if args and isinstance(args[0], str):
        owner = func.name.rpartition(".")[0]
        for name in (args[0], f"{owner}.{args[0]}"):
            if name in _CALLS:
                return reader.call(Ref(name), None, args[1:], {}, max(0, reader.i - 1))
    return NOTHING


def _chdir(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.chdir(args[0] if args else reader.record.home())
    return NOTHING


def _m_each(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return owner


def _m_join(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if not isinstance(owner, list):
        return concat(concat(owner, "/"), args[0]) if args else NOTHING
    out: Any = ""
    for place, one in enumerate(owner[:400]):
        out = concat(concat(out, args[0] if args else ""), one) if place else concat(out, one)
    return out


def _m_reverse(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return owner[::-1] if isinstance(owner, str | list) else NOTHING


def _def(reader: Reader) -> None:
    """def name(params) … end"""
    first = reader.i
    close = reader.match.get(first)
    reader.i += 1
    token = reader.peek()
    if token is None:
        return
    if reader.word("self") and (after := reader.peek(1)) is not None and after.value == ".":
        reader.i += 2
        token = reader.peek()
        if token is None:
            return
    name = str(token.value)
    reader.i += 1
    params: list[str] = []
    if reader.op("("):
        end = reader.match.get(reader.i, -1)
        if end > 0:
            params = reader.params(reader.i, end)
            reader.i = end + 1
    else:
        while reader.i < len(reader.tokens) and reader.tokens[reader.i].kind != "l" and not reader.op(";"):
            if reader.tokens[reader.i].kind == "i":
                params.append(reader.tokens[reader.i].value)
            reader.i += 1
    if close is None:
        return
    from .tokens import Body

    made = Body(name, params, reader, reader.i, close)
    reader.bodies.append(made)
    reader.vars[name] = made
    reader.methods.setdefault(name, made)
    reader.i = close + 1


def _header(reader: Reader) -> None:
    """class, module, require: nothing in the line matters."""
    while reader.i < len(reader.tokens) and reader.tokens[reader.i].kind != "l" and not reader.op(";"):
        reader.i += 1


def _require(reader: Reader) -> None:
    reader.i += 1
    token = reader.peek()
    if token is not None and token.kind == "s":
        reader.i += 1


def _do(reader: Reader) -> None:
    reader.i += 1
    if reader.eat("|"):
        count = 0
        while reader.i < len(reader.tokens) and not reader.op("|") and count < 24:
            if reader.tokens[reader.i].kind == "i":
                reader.vars[reader.tokens[reader.i].value] = NOTHING
            reader.i += 1
            count += 1
        reader.eat("|")


def _for(reader: Reader) -> None:
    reader.i += 1
    token, after = reader.peek(), reader.peek(1)
    if token is not None and token.kind == "i" and after is not None and after.value == "in":
        reader.i += 2
        over = reader.expression()
        reader.vars[token.value] = either(*over[:12]) if isinstance(over, list) and over else NOTHING


def _value(reader: Reader, name: str) -> Any:
    if name in ("nil", "true", "false"):
        return {"nil": None, "true": True, "false": False}[name]
    if name == "ARGV":
        return list(reader.record.args)
    if name in ("__FILE__", "__dir__", "$0"):
        return NOTHING
    if name in ("STDIN", "$stdin", "ARGF"):
        return STDIN
    if name[0] in "@$":
        return NOTHING
    return None


def _attribute(reader: Reader, owner: Any, name: str) -> Any:
    if isinstance(owner, Ref):
        if owner.name == "ENV":
            if name in ("to_h", "each", "to_a", "inspect", "map", "to_hash"):
                reader.record.add("env", "", reader.span(reader.i - 1))
                return NOTHING
            if name == "fetch":
                return None
            return reader.record.variable(name)
        if owner.name == "Dir":
            if name == "home":
                return reader.record.home()
            if name in ("pwd", "getwd"):
                return reader.record.cwd or reader.record.env.get("PWD", "\0")
            if name == "tmpdir":
                return reader.record.env.get("TMPDIR") or "/tmp"
            if "*" in name or "/" in name:
                return [star(name)]
    if isinstance(owner, list | Alts | str) and name in (
        "each",
        "map",
        "each_with_index",
        "select",
        "reject",
        "sort",
        "uniq",
        "first",
        "to_a",
        "to_s",
        "strip",
        "chomp",
        "dup",
        "flatten",
        "compact",
        "reverse_each",
        "to_str",
        "freeze",
        "filter",
        "force_encoding",
        "to_sym",
    ):
        if name == "first" and isinstance(owner, list):
            return owner[0] if owner else NOTHING
        return owner
    if isinstance(owner, str | list) and name == "reverse":
        return owner[::-1]
    return None


def _env(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = reader.record.variable(args[0] if args else NOTHING)
    return either(value, args[1]) if value is NOTHING and len(args) > 1 else value


_CALLS: dict[str, Any] = {
    "ENV.fetch": _env,
    "sprintf": _sprintf,
    "format": _sprintf,
    "eval": _code,
    "Kernel.eval": _code,
    "instance_eval": _code,
    "Dir.glob": _glob,
    "Dir.entries": _children,
    "Dir.children": _children,
    "Dir.each_child": _children,
    "Dir.foreach": _children,
    "Find.find": _find,
    "Dir.chdir": _chdir,
    "Dir.rmdir": "delete",
    "Dir.delete": "delete",
    "Dir.unlink": "delete",
    "File.delete": "delete*",
    "File.unlink": "delete*",
    "File.rename": "move",
    "File.write": "write",
    "IO.write": "write",
    "File.binwrite": "write",
    "File.truncate": "write",
    "File.symlink": "write2",
    "File.link": "write2",
    "File.chmod": "chmod*",
    "File.read": _read,
    "File.binread": _read,
    "File.readlines": _read,
    "File.foreach": _read,
    "IO.read": _file_open,
    "IO.readlines": _read,
    "YAML.load_file": _read,
    "File.open": _file_open,
    "File.new": _file_open,
    "open": _file_open,
    "Kernel.open": _file_open,
    "File.join": _join,
    "File.expand_path": _expand,
    "File.absolute_path": _expand,
    "File.dirname": _dirname,
    "URI.open": _http,
    "OpenURI.open_uri": _http,
    "URI": _uri,
    "URI.parse": _uri,
    "Net.HTTP.get": _http,
    "Net.HTTP.get_response": _http,
    "Net.HTTP.post": _http,
    "Net.HTTP.post_form": _http,
    "Net.HTTP.Get.new": _http,
    "Net.HTTP.Post.new": _http,
    "Net.HTTP.Put.new": _http,
    "HTTParty.get": _http,
    "HTTParty.post": _http,
    "Faraday.get": _http,
    "Faraday.post": _http,
    "RestClient.get": _http,
    "RestClient.post": _http,
    "TCPSocket.new": _connect,
    "TCPSocket.open": _connect,
    "Socket.tcp": _connect,
    "TCPServer.new": _listen,
    "TCPServer.open": _listen,
    "UNIXSocket.new": _connect,
    "UNIXSocket.open": _connect,
    "UNIXServer.new": "bind",
    "UNIXServer.open": "bind",
    "STDIN.reopen": _handed,
    "$stdin.reopen": _handed,
    "STDOUT.reopen": _handed,
    "$stdout.reopen": _handed,
    "Process.kill": _kill,
    "Base64.decode64": _decode,
    "Base64.strict_decode64": _decode,
    "Base64.urlsafe_decode64": _decode,
    "load": "run-file",
    "Pathname.new": _pathname,
    "Pathname": _pathname,
    "gets": lambda *_: STDIN,
    "puts": "nothing",
}
for _name in (
    "system",
    "exec",
    "spawn",
    "IO.popen",
    "Process.spawn",
    "Process.exec",
    "Open3.capture2",
    "Open3.capture2e",
    "Open3.capture3",
    "Open3.popen3",
    "Open3.popen2",
    "Open3.popen2e",
    "PTY.spawn",
    "sh",
):
    _CALLS[_name] = _spawn
    _CALLS.setdefault("Kernel." + _name, _spawn)
for _name, _op in {
    "rm": "delete*",
    "rm_f": "delete*",
    "remove": "delete*",
    "safe_unlink": "delete*",
    "rmdir": "delete*",
    "rm_rf": "tree*",
    "rm_r": "tree*",
    "rmtree": "tree*",
    "remove_dir": "tree*",
    "remove_entry": "tree*",
    "remove_entry_secure": "tree*",
    "mv": "move",
    "move": "move",
    "cp": "copy",
    "cp_r": "copy",
    "copy": "copy",
    "install": "copy",
    "ln_s": "write2",
    "ln_sf": "write2",
    "chmod": "chmod*",
    "chmod_R": "chmod*",
    "cd": "chdir",
}.items():
    _CALLS["FileUtils." + _name] = _op
    if _name.startswith(("rm_", "remove_")):
        _CALLS[_name] = _op

LANGUAGE = Language(
    "ruby",
    line_comments=("#",),
    quotes={"'": "raw", '"': "ruby", "`": "ruby"},
    command="`",
    sigils="@$",
    concat=("+",),
    lines=True,
    bare="all",
    regex=True,
    calls=_CALLS,
    methods={
        "execute": _sql,
        "exec_query": _sql,
        "exec": _sql,
        "query": _sql,
        "run": _sql,
        "delete_all": _delete_all,
        "destroy_all": _delete_all,
        "rmtree": _path_op("tree"),
        "unlink": _path_op("delete"),
        "gets": _gets,
        "recv": _gets,
        "send": _send,
        "public_send": _send,
        "__send__": _send,
        "reopen": _handed,
        "*each": _m_each,
        "*map": _m_each,
        "*join": _m_join,
        "*pack": _pack,
        "*unpack": _unpack,
        "*unpack1": _pack,
        "*reverse": _m_reverse,
        "*split": lambda reader, owner, args, opts, at: (
            owner.split(text(args[0]) if args else None)
            if isinstance(owner, str) and (not args or text(args[0]))
            else NOTHING
        ),
        "*select": _m_each,
        "*reject": _m_each,
    },
    hooks={
        "def": _def,
        "class": _header,
        "module": _header,
        "require": _require,
        "require_relative": _require,
        "do": _do,
        "for": _for,
    },
    skips=(
        "if",
        "unless",
        "while",
        "until",
        "else",
        "elsif",
        "then",
        "end",
        "begin",
        "rescue",
        "ensure",
        "case",
        "when",
        "and",
        "or",
        "not",
        "loop",
        "next",
        "break",
        "redo",
        "retry",
        "BEGIN",
        "END",
        "private",
        "return",
    ),
    member=(".", "&.", "::"),
    blocks=("def", "class", "module", "begin", "do", "case", "if", "unless", "while", "until", "for"),
    value=_value,
    attribute=_attribute,
    literal=literal,
    word_functions=(),
)
