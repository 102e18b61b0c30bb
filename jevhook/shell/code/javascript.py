"""JavaScript and TypeScript as Node, Deno and Bun run them."""

from __future__ import annotations

from .record import (
    DECODED,
    DOWNLOADED,
    NOTHING,
    Alts,
    DecodedText,
    Record,
    Ref,
    Unknown,
    concat,
    either,
    join,
    looks_sql,
    perform,
    star,
    text,
    unbase64,
    unhex,
    variants,
)
from .tokens import Language, Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .record import Span

_SHELL = ["exec", "execSync", "$", "execaCommand", "execaCommandSync", "shell"]
_MODULES = {
    "fs/promises": "fs",
    "fs-extra": "fs",
    "graceful-fs": "fs",
    "path/posix": "path",
    "path/win32": "path",
    "timers/promises": "timers",
    "undici": "undici",
    "node-fetch": "fetch",
    "cross-fetch": "fetch",
    "https": "http",
    "http2": "http",
    "tls": "net",
    "shelljs": "shelljs",
    "bun": "Bun",
    "cross-spawn": "child_process.spawn",
    "node-pty": "child_process",
    "execa": "execa",
    "zx": "zx",
    "rimraf": "rimraf",
}

_FS = {
    "rm": "rm",
    "unlink": "delete",
    "rmdir": "rm",
    "remove": "tree",
    "emptyDir": "empty",
    "emptydir": "empty",
    "writeFile": "write",
    "appendFile": "write",
    "outputFile": "write",
    "outputJson": "write",
    "writeJson": "write",
    "writeJSON": "write",
    "createWriteStream": "write",
    "truncate": "write",
    "readFile": "read",
    "readJson": "read",
    "createReadStream": "read",
    "copyFile": "copy",
    "cp": "copy",
    "copy": "copy",
    "move": "move",
    "rename": "move",
    "symlink": "write2",
    "link": "write2",
    "chmod": "chmod",
    "lchmod": "chmod",
    "chown": "chmod",
    "open": "open",
    "opendir": "nothing",
}


def _readdir(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    for one in args[1:]:
        if hasattr(one, "params"):  # the callback gets (error, names)
            reader.call_body(one, [NOTHING, ["\1"]])
    return ["\1"]


def _empty(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.add("delete", join(text(args[0] if args else NOTHING), "\1"), at, recursive=True)
    return NOTHING


def _require(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return module(args[0] if args else NOTHING)


def module(name: Any) -> Any:
    if not isinstance(name, str) or "\0" in name:
        return NOTHING
    if name.startswith((".", "/")):
        return Ref("./" + name.rpartition("/")[2])
    name = name[5:] if name.startswith("node:") else name
    return Ref(_MODULES.get(name, name))


def _path_join(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return _lift(lambda parts: join(*[part.lstrip("/") if place else part for place, part in enumerate(parts)]), args)


def _resolve(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    here = reader.record.cwd or reader.record.env.get("PWD", "\0")

    def run(parts: list[str]) -> str:
        path = here
        for part in parts:
            if part not in ("", "."):
                path = part if part.startswith("\0") else join(path, part)  # an unknown part may be absolute
        return path

    return _lift(run, args)


def _dirname(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return _lift(lambda parts: (parts[0].rpartition("/")[0] or "/") if parts else "\0", args)


def _basename(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return _lift(lambda parts: parts[0].rpartition("/")[2] if parts else "\0", args)


def _lift(run: Callable[[list[str]], str], args: list[Any]) -> Any:
    return either(*(run([text(one) for one in row]) for row in variants(list(args))))


def _buffer(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    value = args[0] if args else NOTHING
    code = text(args[1]) if len(args) > 1 else ""
    if isinstance(value, list) and value and all(isinstance(one, int) for one in value):
        return DecodedText("".join(chr(one & 255) for one in value))
    if code in ("base64", "base64url", "hex"):
        return _decode(value, unhex if code == "hex" else unbase64)
    return value


def _decode(value: Any, how: Any) -> Any:
    if isinstance(value, Unknown) and value.origin:
        return value
    if isinstance(value, str):
        data = how(value)
        if data is not None:
            return DecodedText(data.decode("utf-8", "replace"))
    return DECODED


def _atob(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return _decode(args[0] if args else NOTHING, unbase64)


def _chars(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and all(isinstance(one, int) and 2 < one < 0x110000 for one in args):
        return "".join(chr(one) for one in args)
    return "\0"


def _code(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if func.name == "Function":
        args = args[-1:]
    reader.record.code(args[0] if args else NOTHING, "node", at)
    return NOTHING


def _timer(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and isinstance(args[0], str):
        reader.record.code(args[0], "node", at)
    return NOTHING


def _shelljs(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    flat: list[Any] = []
    for one in args:
        flat.extend(one if isinstance(one, list) else [one] if not isinstance(one, dict) else [])
    reader.record.add("argv", [func.name.rpartition(".")[2], *flat], at)
    return NOTHING


def _rimraf(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    target = args[0] if args else NOTHING
    for one in target if isinstance(target, list) else [target]:
        for path in variants(one):
            reader.record.add("delete", star(text(path)), at, recursive=True)
    return NOTHING


def _query(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    statement = args[0] if args else NOTHING
    if isinstance(statement, dict):
        statement = statement.get("text", statement.get("sql", NOTHING))
    if looks_sql(statement):
        perform(reader.record, "sql", [statement], {}, at)
    return NOTHING


def _request(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    perform(reader.record, "http", args, opts, at)
    for one in args:
        if hasattr(one, "params"):
            reader.call_body(one, [DOWNLOADED])
    return DOWNLOADED


def _client(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.add("send", args[0] if args else NOTHING, at)
    return NOTHING


def _pipe(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    # socket.pipe(shell.stdin): the program's streams are joined
    target = args[0] if args else NOTHING
    if target is DOWNLOADED:  # something is piped into http.request(…): it is a request with a body
        for act in reversed(reader.record.acts):
            if act.kind == "fetch":
                reader.record.add("send", act.value, at)
                break
    if isinstance(target, Ref) and reader.record.host is not None:
        name = target.name
        joins = name.endswith((".stdin", ".stdout")) or "socket" in name or name in ("this", "c")
        reader.record.handed = reader.record.handed or joins
    return target


def _chdir(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.chdir(args[0] if args else NOTHING)
    return NOTHING


def _cwd(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return reader.record.cwd or reader.record.env.get("PWD", "\0")


def _home(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return reader.record.home()


def _tmp(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return reader.record.env.get("TMPDIR") or "/tmp"


def _glob(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return [star(text(one)) for one in variants(args[0] if args else NOTHING)]


def _first(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return args[0] if args else NOTHING


def _mkdtemp(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return concat(args[0] if args else "", "\0")


def _env(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if any(isinstance(one, Ref) and one.name == "process.env" for one in args):
        reader.record.add("env", "", at)
    return args[0] if args and func.name == "JSON.parse" else "\0"


def _deno_command(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    options = args[1] if len(args) > 1 and isinstance(args[1], dict) else {}
    rest = options.get("args", [])
    reader.record.add(
        "argv",
        [args[0] if args else NOTHING, *(rest if isinstance(rest, list) else ["\0"])],
        at,
        cwd=options.get("cwd", ""),
    )
    return NOTHING


def _deno_run(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    options = args[0] if args and isinstance(args[0], dict) else {}
    command = options.get("cmd", NOTHING)
    reader.record.add("argv", command if isinstance(command, list) else [command], at, cwd=options.get("cwd", ""))
    return NOTHING


def _fork(reader: Reader, func: Any, args: list[Any], opts: Any, at: Span) -> Any:
    reader.record.add("run-file", args[0] if args else NOTHING, at)
    return NOTHING


# ---- methods of known values


def _m_join(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    between = text(args[0]) if args else ","
    if isinstance(owner, list):
        out: Any = ""
        for place, one in enumerate(owner[:400]):
            out = concat(concat(out, between), one) if place else concat(out, one)
        return out
    return NOTHING


def _m_split(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    mark = args[0] if args else NOTHING
    if isinstance(owner, str) and isinstance(mark, str):
        return list(owner[:4_000]) if mark == "" else owner.split(mark)
    return NOTHING


def _m_reverse(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return list(reversed(owner)) if isinstance(owner, list) else NOTHING


def _m_same(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    code = text(args[0]) if args else ""
    if code in ("base64", "hex"):
        return "\0"
    return owner


def _m_concat(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    out = owner
    for one in args:
        if isinstance(out, list):
            out = [*out, *(one if isinstance(one, list) else [one])]
        else:
            out = concat(out, one)
    return out


def _m_push(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if isinstance(owner, list) and len(owner) < 2_000:
        owner.extend(args)
    return NOTHING


def _m_replace(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    old, new = (args[0], args[1]) if len(args) > 1 else ("", "")
    if not (isinstance(owner, str) and isinstance(old, str) and isinstance(new, str) and old):
        return "\0"
    return owner.replace(old, new) if len(owner) * (len(new) + 1) < 400_000 else "\0"


def _m_lower(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    return owner.lower() if isinstance(owner, str) else owner


def _m_each(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    for one in args:
        if isinstance(one, Ref) and one.name in LANGUAGE.calls:
            for element in owner[:64] if isinstance(owner, list) else [owner]:
                reader.call(one, None, [element], {}, max(0, reader.i - 1))
    return owner


def _m_map(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if args and hasattr(args[0], "params") and isinstance(owner, list) and len(owner) <= 12:
        return [reader.call_body(args[0], [one]) for one in owner]
    return _m_each(reader, owner, args, opts, at) if not (args and hasattr(args[0], "params")) else NOTHING


def _m_slice(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    if isinstance(owner, str | list) and all(isinstance(one, int) for one in args) and len(args) <= 2:
        return owner[slice(*(args or [None]))] if owner != ["\1"] else owner
    return NOTHING


_CALLS: dict[str, Any] = {
    "require": _require,
    "import": _require,
    "import()": _first,
    "child_process.exec": "shell",
    "child_process.execSync": "shell",
    "child_process.spawn": "spawn",
    "child_process.spawnSync": "spawn",
    "child_process.execFile": "spawn",
    "child_process.execFileSync": "spawn",
    "child_process.fork": _fork,
    "execa": "spawn",
    "execa.execa": "spawn",
    "execa.execaSync": "spawn",
    "execa.sync": "spawn",
    "execa.command": "shell",
    "execa.commandSync": "shell",
    "execa.execaCommand": "shell",
    "execa.execaCommandSync": "shell",
    "execa.$": "shell",
    "zx.$": "shell",
    "$": "shell",
    "Bun.$": "shell",
    "Bun.spawn": "spawn",
    "Bun.spawnSync": "spawn",
    "Bun.write": "write",
    "Bun.file": "read",
    "shelljs.exec": "shell",
    "shelljs.rm": _shelljs,
    "shelljs.mv": _shelljs,
    "shelljs.cp": _shelljs,
    "shelljs.chmod": _shelljs,
    "rimraf": _rimraf,
    "rimraf.sync": _rimraf,
    "rimraf.rimraf": _rimraf,
    "rimraf.rimrafSync": _rimraf,
    "del": _rimraf,
    "del.sync": _rimraf,
    "del.deleteSync": _rimraf,
    "del.deleteAsync": _rimraf,
    "glob.sync": _glob,
    "glob.globSync": _glob,
    "glob": _glob,
    "glob.glob": _glob,
    "fast-glob.sync": _glob,
    "fs.globSync": _glob,
    "fs.readdir": _readdir,
    "fs.readdirSync": _readdir,
    "fs.mkdtempSync": _mkdtemp,
    "fs.mkdtemp": _mkdtemp,
    "Deno.remove": "rm",
    "Deno.removeSync": "rm",
    "Deno.writeTextFile": "write",
    "Deno.writeTextFileSync": "write",
    "Deno.writeFile": "write",
    "Deno.writeFileSync": "write",
    "Deno.readTextFile": "read",
    "Deno.readTextFileSync": "read",
    "Deno.readFile": "read",
    "Deno.readFileSync": "read",
    "Deno.rename": "move",
    "Deno.renameSync": "move",
    "Deno.copyFile": "copy",
    "Deno.copyFileSync": "copy",
    "Deno.chmod": "chmod",
    "Deno.chmodSync": "chmod",
    "Deno.truncate": "write",
    "Deno.kill": "kill",
    "Deno.Command": _deno_command,
    "Deno.run": _deno_run,
    "Deno.connect": "connect",
    "Deno.env.toObject": "env",
    "fetch": _request,
    "undici.request": _request,
    "undici.fetch": _request,
    "axios": _request,
    "axios.get": "fetch",
    "axios.head": "fetch",
    "axios.request": _request,
    "axios.post": "send",
    "axios.put": "send",
    "axios.patch": "send",
    "axios.delete": "send",
    "got": _request,
    "got.get": "fetch",
    "got.post": "send",
    "got.put": "send",
    "request": _request,
    "request.get": "fetch",
    "request.post": "send",
    "superagent.get": "fetch",
    "superagent.post": "send",
    "http.get": _request,
    "http.request": _request,
    "net.connect": "connect",
    "net.createConnection": "connect",
    "net.createServer": "listen",
    "socket().listen": "bind",
    "net.Socket().connect": "connect",
    "dgram.createSocket().send": "send",
    "WebSocket": _client,
    "ws": _client,
    "process.kill": "kill",
    "process.chdir": _chdir,
    "process.cwd": _cwd,
    "os.homedir": _home,
    "os.tmpdir": _tmp,
    "path.join": _path_join,
    "path.resolve": _resolve,
    "path.normalize": _first,
    "path.dirname": _dirname,
    "path.basename": _basename,
    "Buffer.from": _buffer,
    "Buffer": _buffer,
    "atob": _atob,
    "String.fromCharCode": _chars,
    "String": _first,
    "String.raw": _first,
    "Promise.all": _first,
    "Promise.resolve": _first,
    "util.promisify": _first,
    "decodeURIComponent": _first,
    "fileURLToPath": _first,
    "URL": _first,
    "eval": _code,
    "globalThis.eval": _code,
    "Function": _code,
    "vm.runInThisContext": _code,
    "vm.runInNewContext": _code,
    "vm.runInContext": _code,
    "vm.Script": _code,
    "setTimeout": _timer,
    "setInterval": _timer,
    "JSON.stringify": _env,
    "JSON.parse": _env,
    "console.log": _env,
    "Object.entries": _env,
    "Object.keys": "nothing",
}
for _name, _op in _FS.items():
    _entry: Any = _empty if _op == "empty" else _op
    _CALLS.setdefault(f"fs.{_name}", _entry)
    _CALLS.setdefault(f"fs.{_name}Sync", _entry)

_METHODS: dict[str, Any] = {
    "query": _query,
    "execute": _query,
    "raw": _query,
    "$executeRawUnsafe": _query,
    "$queryRawUnsafe": _query,
    "$executeRaw": _query,
    "pipe": _pipe,
    "unlinkSync": "delete",
    "rmSync": "rm",
    "rmdirSync": "rm",
    "writeFileSync": "write",
    "readFileSync": "read",
    "execSync": "shell",
    "spawnSync": "spawn",
    "*join": _m_join,
    "*split": _m_split,
    "*reverse": _m_reverse,
    "*toString": _m_same,
    "*trim": _m_same,
    "*text": _m_same,
    "*concat": _m_concat,
    "*push": _m_push,
    "*replace": _m_replace,
    "*replaceAll": _m_replace,
    "*toLowerCase": _m_lower,
    "*forEach": _m_each,
    "*map": _m_map,
    "*filter": lambda reader, owner, args, opts, at: owner,
    "*sort": lambda reader, owner, args, opts, at: owner,
    "*slice": _m_slice,
    "*catch": lambda reader, owner, args, opts, at: owner,
}


def _then(reader: Reader, owner: Any, args: list[Any], opts: Any, at: Span) -> Any:
    """``promise.then(f)``: f gets the promise's value."""
    value: Any = owner
    if isinstance(owner, Ref):
        value = owner.args[0] if owner.name.startswith("\0") and owner.args else NOTHING
    result: Any = NOTHING
    for one in args[:1]:
        if hasattr(one, "params"):
            one.ran = 0
            result = reader.call_body(one, [value])
        elif isinstance(one, Ref):
            result = reader.call(one, None, [value], {}, max(0, reader.i - 1))
    return value if isinstance(value, Unknown) and result is NOTHING else result


_METHODS["*then"] = _then
_METHODS["then"] = _then


def _attribute(reader: Reader, owner: Any, name: str) -> Any:
    if isinstance(owner, Ref):
        if owner.name == "process.env":
            return reader.record.variable(name)
        if owner.name == "process" and name == "argv":
            return argv(reader.record)
        if owner.name == "Deno" and name == "args":
            return list(reader.record.args)
        if owner.name == "Bun" and name == "argv":
            return argv(reader.record)
        if owner.name.startswith("{}") or name == "default":
            return owner if name == "default" else None
        if name in ("call", "apply", "bind") and owner.name in LANGUAGE.calls:
            return Ref("\0bound", (owner,))
        if owner.name == "fs" and name == "promises":
            return owner
        if owner.name.startswith(("globalThis", "global", "window")) and "." not in owner.name:
            return reader.get(name)
        if owner.name in ("process.mainModule", "module") and name == "require":
            return Ref("require")
    if isinstance(owner, str | list) and name == "length":
        return NOTHING
    return None


def argv(record: Record) -> list[Any]:
    # Behind -e the words start at 1, behind a script's name at 2: either may be meant.
    args: list[Any] = list(record.args)
    out: list[Any] = [NOTHING]
    for place in range(len(args) + 1):
        options = [args[at] for at in (place, place - 1) if 0 <= at < len(args)]
        out.append(either(*options) if options else NOTHING)
    return out


# ---- statements


def _declare(reader: Reader) -> None:
    """const, let, var: destructuring of what require gives."""
    reader.i += 1
    if reader.op("{", "["):
        opening = reader.i
        close = reader.match.get(opening, -1)
        if close < 0 or close + 1 >= len(reader.tokens) or reader.tokens[close + 1].value != "=":
            return
        names: list[tuple[str, str]] = []
        place = opening + 1
        while place < close:
            token = reader.tokens[place]
            if token.kind == "i":
                after = reader.tokens[place + 1]
                if after.value == ":" and place + 2 < close and reader.tokens[place + 2].kind == "i":
                    names.append((token.value, reader.tokens[place + 2].value))
                    place += 3
                    continue
                if after.value != ":":
                    names.append((token.value, token.value))
            place += 1
        listed = reader.tokens[opening].value == "["
        reader.i = close + 2
        value = reader.expression()
        for index, (key, name) in enumerate(names):
            if listed:
                reader.set(name, reader.item(value, index, "") if isinstance(value, list) else NOTHING)
            else:
                reader.set(name, reader.member(value, key, ""))
        return
    word = reader.peek()
    if word is None or word.kind != "i":
        return
    follows = reader.peek(1)
    if follows is not None and follows.value == ":":  # a TypeScript type
        place = reader.i + 2
        while (
            place < len(reader.tokens) and place < reader.i + 24 and reader.tokens[place].value not in ("=", ";", ",")
        ):
            place += 1
        if place < len(reader.tokens) and reader.tokens[place].value == "=":
            reader.i = place
            reader.assign(word.value, NOTHING, "=")
            return
    if follows is not None and follows.value in ("of", "in"):
        return  # for (const x of …) is read by its own hook
    if reader.level == 0:
        reader.vars.pop(word.value, None)
    reader.expression()


def _import(reader: Reader) -> None:
    """import x, {y as z}, * as w from "m"; import("m") is a call."""
    start = reader.i
    after = reader.peek(1)
    if after is None or (after.kind == "o" and after.value in ("(", ".")):
        reader.expression()
        return
    place = start + 1
    names: list[tuple[str, str]] = []
    inside = False
    while place < len(reader.tokens) and place < start + 400:
        token = reader.tokens[place]
        if token.kind == "s":
            source = module(token.value)
            for key, name in names:
                reader.set(name, source if key == "*" else reader.member(source, key, ""))
            reader.i = place + 1
            return
        if token.kind == "o" and token.value == "{":
            inside = True
        elif token.kind == "o" and token.value == "}":
            inside = False
        elif token.kind == "o" and token.value in (";", "("):
            break
        elif token.kind == "i" and token.value not in ("from", "type"):
            if token.value == "as" and names and reader.tokens[place + 1].kind == "i":
                names[-1] = (names[-1][0], reader.tokens[place + 1].value)
                place += 1
            else:
                names.append((token.value if inside else "*", token.value))
        elif (
            token.kind == "o"
            and token.value == "*"
            and reader.tokens[min(place + 1, len(reader.tokens) - 1)].value == "as"
        ):
            names.append(("*", ""))
        place += 1
    reader.i = start + 1


def _for(reader: Reader) -> None:
    """for (const x of list)."""
    reader.i += 1
    if reader.word("await"):
        reader.i += 1
    if not reader.eat("("):
        return
    if reader.word("const", "let", "var"):
        reader.i += 1
    token, after = reader.peek(), reader.peek(1)
    if (
        token is not None
        and token.kind == "i"
        and after is not None
        and after.kind == "i"
        and after.value in ("of", "in")
    ):
        reader.i += 2
        over = reader.expression()
        if isinstance(over, list) and after.value == "of":
            reader.vars[token.value] = either(*over[:12]) if over else NOTHING
        elif isinstance(over, str) or after.value == "in":
            reader.vars[token.value] = NOTHING
        else:
            reader.vars[token.value] = over if isinstance(over, Alts | Unknown) else NOTHING
        return


def _return(reader: Reader) -> None:
    reader.i += 1
    if not reader.op(";", "}"):
        value = reader.expression()
        reader.result = value if reader.result is NOTHING else either(reader.result, value)


def _skip_header(reader: Reader) -> None:
    """class X extends Y { : the members follow as statements."""
    reader.i += 1
    while reader.i < len(reader.tokens) and not reader.op("{", ";"):
        reader.i += 1


def _value(reader: Reader, name: str) -> Any:
    if name in ("undefined", "null", "true", "false"):
        return {"undefined": NOTHING, "null": None, "true": True, "false": False}[name]
    if name in ("__dirname", "__filename"):
        return NOTHING
    if name == "globalThis" or name == "global":
        return Ref("globalThis")
    return None


LANGUAGE = Language(
    "node",
    arrow="=>",
    line_comments=("//", "#!"),
    block=("/*", "*/"),
    quotes={"'": "plain", '"': "plain", "`": "js"},
    regex=True,
    calls=_CALLS,
    methods=_METHODS,
    hooks={
        "const": _declare,
        "let": _declare,
        "var": _declare,
        "import": _import,
        "for": _for,
        "return": _return,
        "class": _skip_header,
    },
    skips=(
        "if",
        "while",
        "else",
        "do",
        "try",
        "finally",
        "switch",
        "catch",
        "case",
        "export",
        "default",
        "break",
        "continue",
        "async",
        "static",
        "declare",
        "abstract",
        "public",
        "private",
        "protected",
        "readonly",
        "get",
        "set",
    ),
    value=_value,
    attribute=_attribute,
    extra="_$",
    same={"https": "http", "tls": "net", "cp": "cp"},
)
