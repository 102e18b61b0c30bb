"""Python, read from its own syntax tree.

Constants, string building, paths, imports and aliases, loops over known lists and listings, functions where they are
called and branches where they differ are followed; a branch whose test is known is followed alone.
"""

from __future__ import annotations

import _ast as A  # the tree's node classes; `ast` itself imports half the library
import builtins

from .record import (
    DECODED,
    DEEP,
    DOWNLOADED,
    NOTHING,
    SHELLS,
    SOCKET,
    STDIN,
    Alts,
    DecodedBytes,
    DecodedText,
    Record,
    Ref,
    Spent,
    Unknown,
    base,
    concat,
    downloads,
    either,
    first,
    join,
    known_text,
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
    words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .record import Span

_HOLE = "\ue000"  # stands for "\0" while Python's own parser reads the text: it refuses a real one
_BUILTINS = frozenset(vars(builtins))
_ROUNDS = 64  # elements of a known list that a loop's body is read for
_DEPTH = 110  # nested expressions, statements and calls together: four Python frames each stay under the limit

_PATHS = ("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath", "py.path.local")

# what a library call does: an operation of record.perform
_CALLS: dict[str, str] = {
    "os.system": "shell",
    "os.popen": "shell",
    "os.popen2": "shell",
    "os.popen3": "shell",
    "os.popen4": "shell",
    "subprocess.getoutput": "shell",
    "subprocess.getstatusoutput": "shell",
    "commands.getoutput": "shell",
    "commands.getstatusoutput": "shell",
    "popen2.popen2": "shell",
    "popen2.popen3": "shell",
    "asyncio.create_subprocess_shell": "shell",
    "asyncio.subprocess.create_subprocess_shell": "shell",
    "invoke.run": "shell",
    "fabric.api.local": "shell",
    "fabric.api.sudo": "shell",
    "pexpect.run": "shell",
    "pexpect.spawn": "shell",
    "get_ipython().system": "shell",
    "get_ipython().getoutput": "shell",
    "IPython.get_ipython().system": "shell",
    "ctypes.CDLL().system": "shell",
    "ctypes.cdll.LoadLibrary().system": "shell",
    "ctypes.cdll.msvcrt.system": "shell",
    "os.remove": "delete",
    "os.unlink": "delete",
    "os.rmdir": "delete",
    "os.removedirs": "delete",
    "shutil.rmtree": "tree",
    "distutils.dir_util.remove_tree": "tree",
    "setuptools._distutils.dir_util.remove_tree": "tree",
    "os.rename": "move",
    "os.renames": "move",
    "os.replace": "move",
    "shutil.move": "move",
    "shutil.copy": "copy",
    "shutil.copy2": "copy",
    "shutil.copyfile": "copy",
    "shutil.copytree": "copy",
    "os.symlink": "write2",
    "os.link": "write2",
    "os.truncate": "write",
    "os.mknod": "write",
    "os.mkfifo": "write",
    "shutil.unpack_archive": "copy",
    "shutil.make_archive": "write",
    "os.chmod": "chmod",
    "os.lchmod": "chmod",
    "os.chown": "chmod",
    "os.lchown": "chmod",
    "shutil.chown": "chmod",
    "open": "open",
    "file": "open",
    "io.open": "open",
    "builtins.open": "open",
    "__builtin__.open": "open",
    "codecs.open": "open",
    "gzip.open": "open",
    "bz2.open": "open",
    "lzma.open": "open",
    "bz2.BZ2File": "open",
    "gzip.GzipFile": "open",
    "io.FileIO": "open",
    "tarfile.open": "open",
    "tarfile.TarFile": "open",
    "zipfile.ZipFile": "open",
    "aiofiles.open": "open",
    "shelve.open": "write",
    "linecache.getlines": "read",
    "linecache.getline": "read",
    "fileinput.input": "read",
    "fileinput.FileInput": "read",
    "dotenv.load_dotenv": "read",
    "dotenv.dotenv_values": "read",
    "pandas.read_csv": "read",
    "pandas.read_json": "read",
    "pandas.read_excel": "read",
    "pandas.read_parquet": "read",
    "pandas.read_pickle": "read",
    "numpy.load": "read",
    "numpy.loadtxt": "read",
    "numpy.genfromtxt": "read",
    "numpy.save": "write",
    "numpy.savez": "write",
    "numpy.savetxt": "write",
    "torch.save": "write2",
    "torch.load": "read",
    "runpy.run_path": "run-file",
    "execfile": "run-file",
    "os.startfile": "run-file",
    "imp.load_source": "run-file",
    "urllib.request.urlretrieve": "download",
    "urllib.urlretrieve": "download",
    "wget.download": "download",
    "socket.create_connection": "connect",
    "asyncio.open_connection": "connect",
    "socket.socket().connect": "connect",
    "socket.socket().connect_ex": "connect",
    "socket.socket().listen": "listen",
    "socket.create_server": "listen",
    "socket.socket().bind": "bind",
    "socketserver.UnixStreamServer": "bind",
    "socketserver.ThreadingUnixStreamServer": "bind",
    "socketserver.UnixDatagramServer": "bind",
    "asyncio.open_unix_connection": "connect",
    "ssl.wrap_socket().connect": "connect",
    "smtplib.SMTP": "connect",
    "smtplib.SMTP_SSL": "connect",
    "ftplib.FTP": "connect",
    "ftplib.FTP_TLS": "connect",
    "telnetlib.Telnet": "connect",
    "paramiko.SSHClient().connect": "connect",
    "paramiko.Transport": "connect",
    "websocket.create_connection": "send",
    "websockets.connect": "send",
    "websockets.sync.client.connect": "send",
    "os.kill": "kill",
    "os.killpg": "kill",
    "os.chdir": "chdir",
    "contextlib.chdir": "chdir",
    "os.dup2": "handed",
    "exec": "code",
    "eval": "code",
    "builtins.exec": "code",
    "builtins.eval": "code",
    "__builtin__.eval": "code",
    "code.InteractiveInterpreter().runsource": "code",
    "InteractiveInterpreter().runcode": "code",
    "pickle.loads": "unpickle",
    "cPickle.loads": "unpickle",
    "dill.loads": "unpickle",
    "marshal.loads": "unmarshal",
}
_HTTP = (
    "requests",
    "httpx",
    "requests.Session()",
    "requests.session()",
    "httpx.Client()",
    "httpx.AsyncClient()",
    "aiohttp.ClientSession()",
    "requests.api",
    "curl_cffi.requests",
    "niquests",
)
for _verb in ("post", "put", "patch", "delete"):
    for _lib in _HTTP:
        _CALLS[f"{_lib}.{_verb}"] = "send"
for _verb in ("get", "head", "options"):
    for _lib in _HTTP:
        _CALLS[f"{_lib}.{_verb}"] = "fetch"

# a method whose name alone says what it does, on an object that is not known
_METHODS: dict[str, str] = {
    "unlink": "delete",
    "rmdir": "delete",
    "rmtree": "tree",
    "write_text": "write",
    "write_bytes": "write",
    "read_text": "read",
    "read_bytes": "read",
}
_SAVES = frozenset(
    [
        "to_csv",
        "to_json",
        "to_excel",
        "to_parquet",
        "to_pickle",
        "to_feather",
        "to_hdf",
        "savefig",
        "tofile",
        "dump_stats",
    ]
)
_SQL_CALLS = frozenset(
    ["execute", "executescript", "executemany", "exec_driver_sql", "raw", "execute_sql", "read_sql", "run_sql"]
)
_PURE_STR = frozenset(
    [
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "title",
        "capitalize",
        "swapcase",
        "casefold",
        "removeprefix",
        "removesuffix",
        "startswith",
        "endswith",
        "isdigit",
        "find",
        "index",
        "count",
    ]
)
_STOPS = frozenset(["sys.exit", "exit", "quit", "os._exit", "os.abort"])
_EXECS = frozenset(
    ["os.execv", "os.execve", "os.execvp", "os.execvpe", "os.execl", "os.execle", "os.execlp", "os.execlpe"]
)
_WRAPS = frozenset(["str", "bytes", "bytearray", "list", "tuple", "iter", "reversed", "set", "frozenset", "repr"])

# name -> (module.name): what the names of several libraries stand for
_SAME = {
    "urllib2.urlopen": "urllib.request.urlopen",
    "urllib.urlopen": "urllib.request.urlopen",
    "urllib2.Request": "urllib.request.Request",
    "httplib.HTTPConnection": "http.client.HTTPConnection",
    "httplib.HTTPSConnection": "http.client.HTTPConnection",
    "http.client.HTTPSConnection": "http.client.HTTPConnection",
    "posix": "os",
    "nt": "os",
    "_posixsubprocess": "subprocess",
    "posixpath": "os.path",
    "ntpath": "os.path",
    "pathlib2": "pathlib",
    "os.getcwdb": "os.getcwd",
    "os.environb": "os.environ",
}


class PathText(str):
    """A pathlib path: a text whose ``/`` joins."""

    __slots__ = ()


class Function:
    """A function of the code that is read."""

    __slots__ = ("active", "acts", "decorated", "name", "node", "owner", "ran", "scope")

    def __init__(self, name: str, node: Any, scope: Scope, owner: Kind | None = None, decorated: bool = False) -> None:
        self.name = name
        self.node = node
        self.scope = scope
        self.owner = owner
        self.decorated = decorated
        self.active = False
        self.acts = False
        self.ran = 0


class Kind:
    """A class of the code that is read."""

    __slots__ = ("made", "members", "name", "parents")

    def __init__(self, name: str, members: dict[str, Any], parents: list[Any]) -> None:
        self.name = name
        self.members = members
        self.parents = parents
        self.made = False

    def find(self, name: str, depth: int = 0) -> Any:
        if name in self.members:
            return self.members[name]
        if depth < 8:
            for parent in self.parents:
                if isinstance(parent, Kind):
                    found = parent.find(name, depth + 1)
                    if found is not None:
                        return found
        return None


class Thing:
    """An object of such a class."""

    __slots__ = ("fields", "kind")

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.fields: dict[str, Any] = {}


class Bound:
    """A method with its object."""

    __slots__ = ("function", "me")

    def __init__(self, function: Function, me: Any) -> None:
        self.function = function
        self.me = me


class Partial:
    """functools.partial: a callable with its first arguments."""

    __slots__ = ("args", "call", "opts")

    def __init__(self, call: Any, args: list[Any], opts: dict[str, Any]) -> None:
        self.call = call
        self.args = args
        self.opts = opts


class Scope:
    __slots__ = ("names", "outer", "shared")

    def __init__(self, outer: Scope | None) -> None:
        self.names: dict[str, Any] = {}
        self.outer = outer
        self.shared: set[str] = set()


def parse(source: str) -> Any:
    """The module's tree, or None where Python refuses the text."""
    if "\0" in source:
        source = source.replace("\0", _HOLE)
    # The parser's own work is not bounded by the text's length alone: refused brackets are tried again and again.
    depth = most = 0
    for c in source:
        if c in "([{":
            depth += 1
            most = max(most, depth)
        elif c in ")]}":
            depth -= 1
    if most > 60:
        return None
    try:
        if "\\" not in source:
            return compile(source, "<code>", "exec", 0x400, True)
        import warnings

        with warnings.catch_warnings():  # "\d" in the judged text must not print a warning of ours
            warnings.simplefilter("ignore")
            return compile(source, "<code>", "exec", 0x400, True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def read(record: Record, source: str) -> None:
    """``source`` into the record."""
    tree = parse(source)
    if tree is None:
        record.understood = False
        from .tokens import read_tokens

        read_tokens(record, "pytokens", source)
        return
    reader = Reader(record, source)
    try:
        reader.block(tree.body)
        reader.leftovers()
    except RecursionError:
        record.understood = False


def _is_known(value: Any) -> bool:
    """Whether a test on this value can be decided."""
    if isinstance(value, bool | int) or value is None:
        return True
    return isinstance(value, str) and "\0" not in value and "\1" not in value and DEEP not in value


class Reader:
    __slots__ = (
        "ascii",
        "depth",
        "functions",
        "journal",
        "kinds",
        "lines",
        "loaded",
        "offsets",
        "ops",
        "record",
        "results",
        "scope",
        "source",
        "stars",
    )

    def __init__(self, record: Record, source: str) -> None:
        self.record = record
        self.source = source
        self.ascii = source.isascii()
        self.offsets: list[int] | None = None
        self.lines: list[str] = []
        self.depth = 0
        self.scope = Scope(None)
        self.scope.names["__name__"] = "__main__"
        self.journal: dict[tuple[int, str], tuple[Scope, Any]] | None = None
        self.functions: list[Function] = []
        self.kinds: list[Kind] = []
        self.loaded: set[str] = set()
        self.stars: list[str] = []
        self.results: list[Any] = []
        self.ops = _CALLS

    # ---- places

    def at(self, node: Any) -> Span:
        if self.offsets is None:
            self.offsets = [0]
            self.lines = self.source.split("\n")
            total = 0
            for line in self.lines:
                total += len(line) + 1
                self.offsets.append(total)
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        assert self.offsets is not None
        line = min(line, len(self.lines))
        if not self.ascii:
            column = len(self.lines[line - 1].encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))
        return min(self.offsets[line - 1] + column, len(self.source))

    # ---- names

    def get(self, name: str) -> Any:
        self.loaded.add(name)
        scope: Scope | None = self.scope
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        for module in self.stars:
            full = _SAME.get(f"{module}.{name}", f"{module}.{name}")
            if full in _CALLS or full in _SPECIAL or full in _PATHS:
                return Ref(full)
            if module.startswith("jevhook.") and name not in _BUILTINS:
                return Ref(full)
        return Ref(_SAME.get(name, name))

    def set(self, name: str, value: Any) -> None:
        scope = self.scope
        if name in scope.shared:
            outer: Scope | None = scope.outer
            while outer is not None and outer.outer is not None and name not in outer.names:
                outer = outer.outer
            scope = outer or scope
        if self.journal is not None:
            key = (id(scope), name)
            if key not in self.journal:
                self.journal[key] = (scope, scope.names.get(name, _MISSING))
        scope.names[name] = value

    def branches(self, *bodies: Sequence[Any]) -> bool:
        """Bodies of which one is run: what they leave behind differs by branch.  True when none of them goes on."""
        outer = self.journal
        cwd = self.record.cwd
        left: dict[tuple[int, str], tuple[Scope, Any]] = {}
        ends: list[dict[tuple[int, str], Any]] = []
        stopped = True
        cwds = []
        for body in bodies:
            self.journal = {}
            self.record.cwd = cwd
            try:
                stop = self.block(body)
            finally:
                changed, self.journal = self.journal or {}, outer
            after: dict[tuple[int, str], Any] = {}
            for key, (scope, before) in changed.items():
                after[key] = scope.names.get(key[1], _MISSING)
                left.setdefault(key, (scope, before))
                if before is _MISSING:
                    scope.names.pop(key[1], None)
                else:
                    scope.names[key[1]] = before
            if not stop:
                stopped = False
                ends.append(after)
                cwds.append(self.record.cwd)
        self.record.cwd = cwds[-1] if cwds else cwd
        for here in cwds:
            if here != cwd:
                self.record.cwd = here
                break
        for key, (scope, before) in left.items():
            values = [value for value in (end.get(key, before) for end in ends) if value is not _MISSING]
            if values:
                if outer is not None and key not in outer:
                    outer[key] = (scope, before)
                scope.names[key[1]] = either(*values)
        return stopped

    # ---- statements

    def block(self, body: Sequence[Any]) -> bool:
        """A list of statements.  True when what follows is not reached."""
        self.depth += 1
        try:
            for node in body:
                self.record.spend()
                if self.depth > _DEPTH:
                    self.flat(node)
                    continue
                run = _STATEMENTS.get(node.__class__)
                if run is None:
                    self.parts(node)
                elif run(self, node):
                    return True
            return False
        finally:
            self.depth -= 1

    def parts(self, node: Any) -> Any:
        """Whatever is inside a node of no interest of its own."""
        for field in node._fields:
            child = getattr(node, field, None)
            if isinstance(child, list):
                for one in child:
                    if isinstance(one, A.expr):
                        self.ev(one)
                    elif isinstance(one, A.stmt):
                        self.block([one])
                    elif isinstance(one, A.AST):
                        self.parts(one)
            elif isinstance(child, A.expr):
                self.ev(child)
            elif isinstance(child, A.AST):
                self.parts(child)
        return NOTHING

    def flat(self, node: Any) -> None:
        """A tree too deep to follow: every call in it, with the arguments that can be read at once."""
        self.record.understood = False
        todo = [node]
        while todo:
            one = todo.pop()
            self.record.spend()
            if isinstance(one, A.Call) and isinstance(one.func, A.Name | A.Attribute):
                func = self.shallow(one.func)
                if isinstance(func, Ref):
                    self.apply(func, [self.shallow(arg) for arg in one.args], {}, one)
            for field in one._fields:
                child = getattr(one, field, None)
                if isinstance(child, list):
                    todo.extend(part for part in child if isinstance(part, A.AST))
                elif isinstance(child, A.AST):
                    todo.append(child)

    def shallow(self, node: Any) -> Any:
        names: list[str] = []
        while isinstance(node, A.Attribute):
            names.append(node.attr)
            node = node.value
        if isinstance(node, A.Constant):
            return node.value
        if not isinstance(node, A.Name):
            return NOTHING
        value = self.get(node.id)
        for name in reversed(names[-8:]):
            value = self.attribute(value, name)
        return value

    def s_expr(self, node: Any) -> bool:
        value = node.value
        result = self.ev(value)
        return isinstance(result, Ref) and result.name == "stop"

    def s_assign(self, node: Any) -> None:
        value = self.ev(node.value)
        for target in node.targets:
            self.bind(target, value)

    def s_annassign(self, node: Any) -> None:
        if node.value is not None:
            self.bind(node.target, self.ev(node.value))

    def s_augassign(self, node: Any) -> None:
        target = node.target
        value = self.ev(node.value)
        before = self.ev(target)
        if isinstance(node.op, A.Add) and isinstance(before, list):
            extra = list(value) if isinstance(value, list | tuple) else [NOTHING]
            if len(before) < 5_000:
                self.bind(target, before + extra)
            return
        self.bind(target, self.binary(node.op, before, value))

    def bind(self, target: Any, value: Any) -> None:
        kind = target.__class__
        if kind is A.Name:
            self.set(target.id, value)
        elif kind is A.Tuple or kind is A.List:
            self.unpack(target.elts, value)
        elif kind is A.Starred:
            self.bind(target.value, value)
        elif kind is A.Attribute:
            owner = self.ev(target.value)
            if isinstance(owner, Thing):
                owner.fields[target.attr] = value
        elif kind is A.Subscript:
            owner = self.ev(target.value)
            key = self.ev(target.slice)
            if isinstance(owner, list):
                if isinstance(key, int) and -len(owner) <= key < len(owner):
                    owner[key] = value
            elif isinstance(owner, dict):
                if isinstance(key, str | int) and len(owner) < 5_000:
                    owner[key] = value
            elif isinstance(owner, Ref) and owner.name == "os.environ" and isinstance(key, str):
                self.record.env[key] = text(value)

    def unpack(self, targets: Sequence[Any], value: Any) -> None:
        if isinstance(value, Alts):
            rows = [one for one in value.values if isinstance(one, list | tuple) and len(one) == len(targets)]
            if rows:
                for place, target in enumerate(targets):
                    self.bind(target, either(*(row[place] for row in rows)))
                return
        items = list(value) if isinstance(value, list | tuple) else None
        starred = next((i for i, one in enumerate(targets) if isinstance(one, A.Starred)), -1)
        for place, target in enumerate(targets):
            if items is None:
                self.bind(target, value if isinstance(value, Unknown) else NOTHING)
            elif starred < 0 or place < starred:
                self.bind(target, items[place] if place < len(items) else NOTHING)
            elif place == starred:
                self.bind(target, items[place : len(items) - (len(targets) - place - 1)])
            else:
                back = place - len(targets)
                self.bind(target, items[back] if -back <= len(items) else NOTHING)

    def s_import(self, node: Any) -> None:
        for alias in node.names:
            if alias.asname:
                self.set(alias.asname, Ref(_SAME.get(alias.name, alias.name)))
            else:
                top = alias.name.split(".", 1)[0]
                self.set(top, Ref(_SAME.get(top, top)))

    def s_from(self, node: Any) -> None:
        module = _SAME.get(node.module or "", node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
                continue
            full = f"{module}.{alias.name}" if module else alias.name
            self.set(alias.asname or alias.name, Ref(_SAME.get(full, full)))

    def s_if(self, node: Any) -> bool:
        test = self.ev(node.test)
        if _is_known(test):
            return self.block(node.body if test else node.orelse)
        return self.branches(node.body, node.orelse)

    def s_while(self, node: Any) -> bool:
        test = self.ev(node.test)
        if _is_known(test) and not test:
            return self.block(node.orelse)
        self.branches(node.body, [])
        self.block(node.orelse)
        return False

    def s_for(self, node: Any) -> bool:
        self.loop(node.target, self.ev(node.iter), lambda: self.branches(node.body, []))
        self.block(node.orelse)
        return False

    def loop(self, target: Any, over: Any, body: Callable[[], Any]) -> None:
        elements = self.elements(over)
        if elements is None:
            self.bind(target, over if isinstance(over, Unknown) and over.origin else NOTHING)
            body()
            return
        for element in elements[:_ROUNDS]:
            self.record.spend()
            self.bind(target, element)
            body()
        if len(elements) > _ROUNDS:
            self.bind(target, NOTHING)
            body()

    def elements(self, over: Any) -> list[Any] | None:
        """What a loop over this value sees, or None where that is not known."""
        if isinstance(over, list | tuple | set):
            return list(over)
        if isinstance(over, dict):
            return list(over)
        if isinstance(over, Alts):
            out: list[Any] = []
            for one in over.values:
                out.extend(self.elements(one) or [NOTHING])
            return out
        if isinstance(over, str) and not isinstance(over, PathText):
            return list(over[:_ROUNDS])
        if isinstance(over, bytes):
            return list(over[:_ROUNDS])
        if isinstance(over, Ref) and over.name == "os.environ":
            return [NOTHING]
        return None

    def s_try(self, node: Any) -> bool:
        stop = self.block(node.body)
        for handler in node.handlers:
            if handler.type is not None:
                self.ev(handler.type)
            if handler.name:
                self.set(handler.name, NOTHING)
            self.branches(handler.body, [])
        if not stop:
            stop = self.block(node.orelse)
        ended = self.block(node.finalbody)
        # A handler that goes on makes what follows reachable.
        return ended or (stop and not node.handlers)

    def s_with(self, node: Any) -> bool:
        cwd = self.record.cwd
        for item in node.items:
            value = self.ev(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        stop = self.block(node.body)
        if any(
            isinstance(item.context_expr, A.Call)
            and isinstance(item.context_expr.func, A.Attribute)
            and item.context_expr.func.attr == "chdir"
            for item in node.items
        ):
            self.record.cwd = cwd
        return stop

    def s_def(self, node: Any) -> None:
        decorated = False
        for one in node.decorator_list:
            decorated = True
            self.ev(one)
        for default in node.args.defaults:
            self.ev(default)
        function = Function(node.name, node, self.scope, None, decorated)
        self.functions.append(function)
        self.set(node.name, function)

    def s_class(self, node: Any) -> None:
        parents = [self.ev(one) for one in node.bases]
        outer, self.scope = self.scope, Scope(self.scope)
        try:
            self.block(node.body)
            kind = Kind(node.name, self.scope.names, parents)
            for value in kind.members.values():
                if isinstance(value, Function):
                    value.owner = kind
                    value.scope = outer
        finally:
            self.scope = outer
        self.kinds.append(kind)
        self.set(node.name, kind)

    def s_return(self, node: Any) -> bool:
        self.results.append(self.ev(node.value) if node.value is not None else None)
        return True

    def s_raise(self, node: Any) -> bool:
        self.parts(node)
        return True

    def s_jump(self, node: Any) -> bool:
        return True

    def s_global(self, node: Any) -> None:
        self.scope.shared.update(node.names)

    def s_delete(self, node: Any) -> None:
        return

    def s_match(self, node: Any) -> bool:
        self.ev(node.subject)
        self.branches(*[case.body for case in node.cases], [])
        return False

    # ---- expressions

    def ev(self, node: Any) -> Any:
        self.record.spend()
        run = _EXPRESSIONS.get(node.__class__)
        self.depth += 1
        try:
            if self.depth > _DEPTH:
                self.flat(node)
                return NOTHING
            return run(self, node) if run is not None else self.parts(node)
        finally:
            self.depth -= 1

    def e_constant(self, node: Any) -> Any:
        value = node.value
        if value.__class__ is str:
            if _HOLE in value:
                value = value.replace(_HOLE, "\0")
            if "\1" in value or DEEP in value:
                value = value.replace("\1", "\0").replace(DEEP, "\0")
        return value

    def e_name(self, node: Any) -> Any:
        return self.get(node.id)

    def e_joined(self, node: Any) -> Any:
        out: Any = ""
        for part in node.values:
            if part.__class__ is A.FormattedValue:
                value = self.ev(part.value)
                if part.conversion == 114:  # !r puts quotes around a text
                    value = concat(concat("'", value), "'") if isinstance(value, str) else value
                self.note_env(value, node)
                if part.format_spec is not None:
                    spec = self.ev(part.format_spec)
                    if spec and not isinstance(value, str | Alts):
                        value = NOTHING
            else:
                value = self.e_constant(part)
            out = concat(out, value)
        return out

    def e_list(self, node: Any) -> list[Any]:
        out: list[Any] = []
        for one in node.elts:
            if one.__class__ is A.Starred:
                value = self.ev(one.value)
                more = self.elements(value)
                out.extend(more if more is not None else [NOTHING])
            else:
                out.append(self.ev(one))
        return out

    def e_tuple(self, node: Any) -> tuple[Any, ...]:
        return tuple(self.e_list(node))

    def e_dict(self, node: Any) -> Any:
        out: dict[Any, Any] = {}
        whole = False
        for key, value in zip(node.keys, node.values, strict=True):
            one = self.ev(value)
            if key is None:
                if isinstance(one, dict):
                    out.update(one)
                elif isinstance(one, Ref) and one.name == "os.environ":
                    whole = True
                continue
            name = self.ev(key)
            if isinstance(name, str | int | bytes):
                out[name] = one
        return Ref("os.environ") if whole else out

    def e_attribute(self, node: Any) -> Any:
        self.loaded.add(node.attr)
        return self.attribute(self.ev(node.value), node.attr)

    def attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, Alts):
            return either(*(self.attribute(one, name) for one in owner.values))
        if isinstance(owner, Ref):
            if owner.name == "file" and name == "name":
                return owner.args[0]
            if owner.name == "sys" and name == "argv":
                return [NOTHING, *self.record.args]
            if owner.name == "sys" and name == "stdin":
                return STDIN
            if owner.name == "os" and name in ("sep", "linesep", "pardir", "curdir", "devnull"):
                return {"sep": "/", "linesep": "\n", "pardir": "..", "curdir": ".", "devnull": "/dev/null"}[name]
            if owner.name == "string" and name.startswith("ascii_"):
                letters = "abcdefghijklmnopqrstuvwxyz"
                return {"ascii_lowercase": letters, "ascii_uppercase": letters.upper()}.get(
                    name, letters + letters.upper()
                )
            if owner.name in ("tempfile.TemporaryDirectory()", "tempfile.NamedTemporaryFile()") and name == "name":
                return owner.args[0] if owner.args else NOTHING
            if owner.name == "argparse" or owner.name.startswith("argparse."):
                return Ref("argparse." + name)
            full = f"{owner.name}.{name}"
            if len(full) > 200:
                return NOTHING
            return Ref(_SAME.get(full, full), owner.args, owner.opts)
        if isinstance(owner, PathText):
            return self.path_part(owner, name)
        if isinstance(owner, Thing):
            if name in owner.fields:
                return owner.fields[name]
            found = owner.kind.find(name)
            if isinstance(found, Function):
                return Bound(found, owner)
            return Ref("self." + name, (), {}) if found is None else found
        if isinstance(owner, Kind):
            found = owner.find(name)
            return NOTHING if found is None else found
        if isinstance(owner, Unknown) and owner.origin:
            return owner
        if name == "__class__" or name == "__dict__":
            return NOTHING
        return NOTHING

    def path_part(self, path: PathText, name: str) -> Any:
        head, _, tail = path.rpartition("/")
        if name == "parent":
            return PathText(head or ("/" if path.startswith("/") else "."))
        if name == "name":
            return tail
        if name == "stem":
            return tail.rsplit(".", 1)[0] if "." in tail[1:] else tail
        if name == "suffix":
            return "." + tail.rsplit(".", 1)[1] if "." in tail[1:] else ("\0" if "\0" in tail or "\1" in tail else "")
        if name == "parents":
            out: list[PathText] = []
            here: str = path
            while "/" in here.rstrip("/") and len(out) < 40:
                here = here.rstrip("/").rpartition("/")[0] or "/"
                out.append(PathText(here))
            return out
        if name == "parts":
            return tuple(path.split("/"))
        return NOTHING

    def e_subscript(self, node: Any) -> Any:
        owner = self.ev(node.value)
        if node.slice.__class__ is A.Slice:
            return self.slice(owner, node.slice)
        key = self.ev(node.slice)
        return self.item(owner, key)

    def item(self, owner: Any, key: Any) -> Any:
        if isinstance(owner, Alts):
            return either(*(self.item(one, key) for one in owner.values))
        if isinstance(key, Alts):
            return either(*(self.item(owner, one) for one in key.values))
        if isinstance(owner, Ref):
            if owner.name == "os.environ":
                return self.record.variable(key)
            if isinstance(key, str) and owner.name in ("sys.modules", "globals()", "locals()", "vars()"):
                return Ref(_SAME.get(key, key)) if owner.name != "vars()" else self.attribute(owner.args[0], key)
            if isinstance(key, str) and owner.name.endswith(".__dict__"):
                return self.attribute(Ref(owner.name[:-9]), key)
            if owner.name.endswith("()") and owner.name not in ("file",):
                return owner
            return Ref(owner.name + "[]", owner.args)
        if isinstance(owner, dict):
            if isinstance(key, str | int | bytes) and key in owner:
                return owner[key]
            return either(*list(owner.values())[:20]) if owner and not isinstance(key, str | int) else NOTHING
        if isinstance(owner, PathText):
            return NOTHING
        if isinstance(owner, list | tuple | str | bytes):
            if isinstance(key, int) and not isinstance(key, bool) and -len(owner) <= key < len(owner):
                return owner[key]
            if isinstance(owner, list | tuple) and 0 < len(owner) <= 20 and not isinstance(key, int):
                return either(*owner)
            return "\1" if isinstance(owner, list) and "\1" in [o for o in owner if isinstance(o, str)] else NOTHING
        if isinstance(owner, Unknown) and owner.origin:
            return owner
        return NOTHING

    def slice(self, owner: Any, node: Any) -> Any:
        marks: list[int | None] = []
        for part in (node.lower, node.upper, node.step):
            value = self.ev(part) if part is not None else None
            if value is not None and not isinstance(value, int):
                return list(owner) if isinstance(owner, list) else NOTHING
            marks.append(value)
        if isinstance(owner, Alts):
            return either(*(self._cut(one, marks) for one in owner.values))
        return self._cut(owner, marks)

    @staticmethod
    def _cut(owner: Any, marks: list[int | None]) -> Any:
        if isinstance(owner, str | bytes | list | tuple):
            if isinstance(owner, list) and owner in (["\1"], [DEEP]):
                return owner
            if marks[2] == 0:
                return NOTHING
            return owner[slice(*marks)]
        if isinstance(owner, Unknown) and owner.origin:
            return owner
        return NOTHING

    def e_binop(self, node: Any) -> Any:
        spine = [node]
        left = node.left
        while left.__class__ is A.BinOp:  # a sum of a thousand pieces leans to the left
            self.record.spend()
            spine.append(left)
            left = left.left
        value = self.ev(left)
        for one in reversed(spine):
            value = self.binary(one.op, value, self.ev(one.right))
        return value

    def binary(self, op: Any, left: Any, right: Any) -> Any:
        if isinstance(left, Alts) or isinstance(right, Alts):
            lefts = left.values if isinstance(left, Alts) else [left]
            rights = right.values if isinstance(right, Alts) else [right]
            return either(*(self.binary(op, a, b) for a in lefts for b in rights))
        kind = op.__class__
        if kind is A.Add:
            if isinstance(left, str) or isinstance(right, str):
                joined = concat(left, right)
                self.record.spend(len(joined) >> 8 if isinstance(joined, str) else 1)
                return joined
            if isinstance(left, bytes) and isinstance(right, bytes):
                return (left + right)[:65_536]
            if isinstance(left, list | tuple) and isinstance(right, list | tuple):
                return [*left, *right][:5_000]
            if isinstance(left, list) or isinstance(right, list):
                known = left if isinstance(left, list) else right
                return [*known, NOTHING] if known is left else [NOTHING, *known]
            if isinstance(left, bytes) or isinstance(right, bytes):
                return concat(left, right)
        if kind is A.Div:
            if isinstance(left, PathText):
                return PathText(join(left, text(right)))
            if isinstance(right, PathText):
                return PathText(join(text(left), right))
            if isinstance(right, str):  # an unknown path with a known tail
                return PathText(join("\0", right))
            if isinstance(left, Ref | Unknown) and isinstance(right, Unknown):
                return NOTHING
        if kind is A.Mod and isinstance(left, str | bytes):
            return percent(left if isinstance(left, str) else text(left), right)
        if kind is A.Mult:
            if isinstance(right, str | list) and isinstance(left, int):
                left, right = right, left
            if isinstance(left, str | list) and isinstance(right, int) and 0 <= right * len(left) <= 20_000:
                return left * right
            if isinstance(left, str):
                return NOTHING
        if isinstance(left, int) and isinstance(right, int) and abs(left) < 10**12 and abs(right) < 10**12:
            if kind is A.Add:
                return left + right
            if kind is A.Sub:
                return left - right
            if kind is A.Mult:
                return left * right
            if kind is A.BitXor:
                return left ^ right
            if kind is A.BitOr:
                return left | right
            if kind is A.BitAnd:
                return left & right
            if kind is A.Mod and right:
                return left % right
            if kind is A.FloorDiv and right:
                return left // right
        if kind is A.BitOr and isinstance(left, Ref) and isinstance(right, Ref):
            return Ref(f"{left.name}|{right.name}"[:120])
        return NOTHING

    def e_unary(self, node: Any) -> Any:
        value = self.ev(node.operand)
        if node.op.__class__ is A.Not and _is_known(value):
            return not value
        if node.op.__class__ is A.USub and isinstance(value, int):
            return -value
        return NOTHING

    def e_boolop(self, node: Any) -> Any:
        values: list[Any] = []
        for part in node.values:
            value = self.ev(part)
            if _is_known(value):
                if isinstance(node.op, A.Or):
                    if value:
                        values.append(value)
                        break
                    continue
                if not value:
                    values.append(value)
                    break
            values.append(value)
        if isinstance(node.op, A.Or):
            return either(*values) if values else False
        return values[-1] if values and not isinstance(values[-1], Alts) else NOTHING

    def e_ifexp(self, node: Any) -> Any:
        test = self.ev(node.test)
        if _is_known(test):
            return self.ev(node.body if test else node.orelse)
        return either(self.ev(node.body), self.ev(node.orelse))

    def e_compare(self, node: Any) -> Any:
        left = self.ev(node.left)
        rights = [self.ev(one) for one in node.comparators]
        if len(rights) == 1 and _is_known(left) and left is not None:
            right, op = rights[0], node.ops[0].__class__
            if _is_known(right) and type(left) is type(right):
                if op is A.Eq:
                    return bool(left == right)
                if op is A.NotEq:
                    return bool(left != right)
        return NOTHING

    def e_lambda(self, node: Any) -> Any:
        function = Function("", node, self.scope)
        self.functions.append(function)
        return function

    def e_named(self, node: Any) -> Any:
        value = self.ev(node.value)
        self.bind(node.target, value)
        return value

    def e_await(self, node: Any) -> Any:
        return self.ev(node.value)

    def e_yield(self, node: Any) -> Any:
        if node.value is not None:
            value = self.ev(node.value)
            self.results.append([value] if node.__class__ is A.Yield else value)
        return NOTHING

    def e_comp(self, node: Any) -> Any:
        out: list[Any] = []
        outer, self.scope = self.scope, Scope(self.scope)
        journal, self.journal = self.journal, None
        try:
            self._generate(node, 0, out)
        finally:
            self.scope, self.journal = outer, journal
        if node.__class__ is A.DictComp:
            return {key: value for key, value in out if isinstance(key, str | int)}
        return out

    def _generate(self, node: Any, place: int, out: list[Any]) -> None:
        if place == len(node.generators):
            if len(out) < 5_000:
                if node.__class__ is A.DictComp:
                    out.append((self.ev(node.key), self.ev(node.value)))
                else:
                    out.append(self.ev(node.elt))
            return
        part = node.generators[place]

        def body() -> None:
            for test in part.ifs:
                value = self.ev(test)
                if _is_known(value) and not value:
                    return
            self._generate(node, place + 1, out)

        over = self.ev(part.iter)
        elements = self.elements(over)
        if elements is not None and len(elements) > _ROUNDS:  # chr(c) for c in a long list of numbers
            for element in elements[:4_000]:
                self.bind(part.target, element)
                body()
            return
        self.loop(part.target, over, body)

    # ---- calls

    def e_call(self, node: Any) -> Any:
        func_node = node.func
        method = ""
        owner: Any = NOTHING
        if func_node.__class__ is A.Attribute:
            method = func_node.attr
            self.loaded.add(method)
            owner = self.ev(func_node.value)
            func = owner if isinstance(owner, str | list | dict | bytes | tuple) else self.attribute(owner, method)
        else:
            func = self.ev(func_node)
        args: list[Any] = []
        for arg in node.args:
            if arg.__class__ is A.Starred:
                value = self.ev(arg.value)
                more = self.elements(value)
                args.extend(more if more is not None else [NOTHING])
            else:
                args.append(self.ev(arg))
        opts: dict[str, Any] = {}
        for word in node.keywords:
            value = self.ev(word.value)
            if word.arg is not None:
                opts[word.arg] = value
            elif isinstance(value, dict):
                opts.update((key, one) for key, one in value.items() if isinstance(key, str))
        if isinstance(owner, Alts):
            return either(*(self.invoke(one, method, args, opts, node) for one in owner.values))
        if method and not isinstance(owner, Ref | Thing | Kind):
            return self.invoke(owner, method, args, opts, node)
        if isinstance(func, Alts):
            return either(*(self.apply(one, args, opts, node) for one in func.values))
        return self.apply(func, args, opts, node)

    def invoke(self, owner: Any, method: str, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        """A method of a value."""
        if isinstance(owner, PathText):
            return self.path_call(owner, method, args, opts, node)
        if isinstance(owner, str):
            return self.text_call(owner, method, args, opts, node)
        if isinstance(owner, bytes):
            return self.bytes_call(owner, method, args)
        if isinstance(owner, list | tuple):
            return self.list_call(owner, method, args, node)
        if isinstance(owner, dict):
            return self.dict_call(owner, method, args)
        if isinstance(owner, Ref | Thing | Kind):
            return self.apply(self.attribute(owner, method), args, opts, node)
        return self.guess(owner, method, args, opts, node)

    def guess(self, owner: Any, method: str, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        """A method of an object that is not known, by its name alone."""
        record = self.record
        self.callbacks(args, opts, node)
        origin = owner if isinstance(owner, Unknown) else NOTHING
        if method in _SQL_CALLS and args:
            statement = args[0]
            if looks_sql(statement) or (isinstance(statement, Ref) and statement.args and looks_sql(statement.args[0])):
                perform(record, "sql", args, opts, self.at(node))
            return Ref("cursor()")
        if origin.origin:
            if method in ("decode", "read", "strip", "encode", "text", "json", "readlines", "getvalue", "communicate"):
                return origin
            if method in ("recv", "recvfrom", "recv_into"):
                return SOCKET
            if method in ("unlink", "rename", "replace") and origin.origin != "socket":
                return NOTHING
            return origin
        if method in _METHODS:
            if method == "read_text" or method == "read_bytes" or args or method in ("unlink", "rmdir", "rmtree"):
                target = [args[0]] if method == "rmtree" and args else [NOTHING]
                return perform(record, _METHODS[method], target, {}, self.at(node), False)
            return NOTHING
        if method in _SAVES and args:
            record.add("write", args[0], self.at(node))
            return NOTHING
        if method == "fileno":
            return Ref("fileno()")
        if method in ("drop_all", "drop_database", "delete_many", "flushall", "flushdb"):
            return self.stores(method, args, node)
        if method == "delete" and not args and isinstance(node.func.value, A.Call):
            self.delete_rows(node)
        if method == "drop" and not args and not opts:
            return NOTHING
        if method == "add_argument":
            return NOTHING
        return NOTHING

    def stores(self, method: str, args: list[Any], node: Any) -> Any:
        """Databases that are not spoken to in SQL, said in the nearest words the other readers know."""
        at = self.at(node)
        if method == "drop_all":
            self.record.add("sql", "DROP TABLE \0", at)
        elif method == "drop_database":
            self.record.add("sql", "DROP DATABASE " + text(args[0] if args else NOTHING), at)
        elif method == "delete_many" and args and args[0] == {}:
            self.record.add("sql", "DELETE FROM \0", at)
        elif method.startswith("flush"):
            self.record.add("argv", ["redis-cli", method.upper()], at)
        return NOTHING

    def delete_rows(self, node: Any) -> None:
        """``Model.objects.all().delete()``: every row of a table."""
        inner = node.func.value
        if isinstance(inner.func, A.Attribute) and inner.func.attr == "all" and not inner.args:
            owner = inner.func.value
            if isinstance(owner, A.Attribute) and owner.attr in ("objects", "_default_manager"):
                name = owner.value.id if isinstance(owner.value, A.Name) else "\0"
                self.record.add("sql", f"DELETE FROM {name}", self.at(node))

    def callbacks(self, args: list[Any], opts: dict[str, Any], node: Any, sure: bool = False) -> None:
        """Functions handed to a call that may run them, with what stands behind them as their arguments."""
        everything = [*args, *opts.values()]
        for place, one in enumerate(everything):
            if isinstance(one, Function | Bound | Partial) or (
                isinstance(one, Ref) and (one.name in _CALLS or one.name in _SPAWNS)
            ):
                rest = args[place + 1 :] if place < len(args) else []
                if isinstance(opts.get("args"), list | tuple):
                    rest = list(opts["args"])
                flat: list[Any] = []
                for value in rest:
                    flat.append(either(*value) if isinstance(value, list) and value else value)
                if isinstance(one, Ref) and not flat:
                    continue
                was, self.record.sure = self.record.sure, self.record.sure and sure
                try:
                    self.apply(one, flat, {}, node)
                finally:
                    self.record.sure = was

    def apply(self, func: Any, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        """A call of a function that is known by name or written here."""
        self.record.spend()
        if isinstance(func, Ref):
            return self.library(func, args, opts, node)
        if isinstance(func, Function):
            return self.run(func, args, opts)
        if isinstance(func, Bound):
            return self.run(func.function, [func.me, *args], opts)
        if isinstance(func, Partial):
            return self.apply(func.call, [*func.args, *args], {**func.opts, **opts}, node)
        if isinstance(func, Alts):
            return either(*(self.apply(one, args, opts, node) for one in func.values))
        if isinstance(func, Kind):
            func.made = True
            thing = Thing(func)
            start = func.find("__init__")
            if isinstance(start, Function):
                self.run(start, [thing, *args], opts)
            return thing
        self.callbacks(args, opts, node)
        return NOTHING

    def run(self, function: Function, args: list[Any], opts: dict[str, Any]) -> Any:
        function.ran += 1
        if function.active or function.ran > 200 or self.depth > _DEPTH - 20:
            if not function.active and (function.acts or function.ran <= 200):
                self.record.understood = False  # a table filled by a thousand harmless calls is still understood
            return NOTHING
        node = function.node
        scope = Scope(function.scope)
        spec = node.args
        names = [one.arg for one in (*spec.posonlyargs, *spec.args)]
        outer, self.scope = self.scope, scope
        results, self.results = self.results, []
        function.active = True
        found = len(self.record.acts)
        try:
            late = len(names) - len(spec.defaults)
            for place, name in enumerate(names):
                if place < len(args):
                    scope.names[name] = args[place]
                elif name in opts:
                    scope.names[name] = opts[name]
                elif place >= late:
                    scope.names[name] = self.ev(spec.defaults[place - late])
                else:
                    scope.names[name] = NOTHING
            if (
                names
                and function.owner is not None
                and names[0] in ("self", "cls")
                and not isinstance(scope.names[names[0]], Thing | Kind)
            ):
                scope.names[names[0]] = Thing(function.owner)
            if spec.vararg is not None:
                scope.names[spec.vararg.arg] = list(args[len(names) :])
            for one, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
                if one.arg in opts:
                    scope.names[one.arg] = opts[one.arg]
                else:
                    scope.names[one.arg] = self.ev(default) if default is not None else NOTHING
            if spec.kwarg is not None:
                scope.names[spec.kwarg.arg] = {k: v for k, v in opts.items() if k not in scope.names}
            if node.__class__ is A.Lambda:
                return self.ev(node.body)
            self.block(node.body)
            if not self.results:
                return None
            return either(*self.results[:8])
        finally:
            function.active = False
            function.acts = function.acts or len(self.record.acts) > found
            self.scope, self.results = outer, results

    def leftovers(self) -> None:
        """Functions that were not called here but that something may call."""
        made = {kind.name for kind in self.kinds if kind.made}
        for function in self.functions:
            if function.ran:
                continue
            dunder = function.name.startswith("__") and function.owner is not None and function.owner.name in made
            if function.decorated or dunder or function.name in self.loaded or isinstance(function.node, A.Lambda):
                self.record.sure = False
                try:
                    self.run(function, [], {})
                finally:
                    self.record.sure = True

    # ---- methods of known values

    def path_call(self, path: PathText, method: str, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        record = self.record
        if method in ("unlink", "rmdir"):
            record.add("delete", path, self.at(node))
        elif method in ("write_text", "write_bytes"):
            record.add("write", path, self.at(node), detail="w")
        elif method in ("read_text", "read_bytes"):
            record.add("read", path, self.at(node))
            return Unknown("file", path)
        elif method == "open":
            return open_file(record, path, first(args, opts, 0, "mode") if args or opts else "r", self.at(node))
        elif method in ("rename", "replace", "move", "move_into"):
            return perform(record, "move", [path, *args], opts, self.at(node))
        elif method in ("copy", "copy_into"):
            return perform(record, "copy", [path, *args], opts, self.at(node))
        elif method in ("chmod", "lchmod"):
            perform(record, "chmod", [path, *args], opts, self.at(node))
        elif method in ("symlink_to", "hardlink_to"):
            record.add("write", path, self.at(node))
        elif method in ("iterdir", "listdir"):
            return [PathText(join(path, "\1"))]
        elif method in ("glob", "rglob"):
            pattern = text(first(args, opts, 0, "pattern"))
            if method == "rglob":
                pattern = "**/" + pattern
            return [PathText(join(path, star(pattern)))]
        elif method == "walk":
            return [(path, ["\1"], [DEEP])]
        elif method in ("joinpath", "join"):
            return PathText(join(path, *(text(one) for one in args)))
        elif method == "expanduser":
            return PathText(self.expand(path))
        elif method in ("resolve", "absolute"):
            return PathText(self.absolute(path))
        elif method == "with_name":
            return PathText(join(path.rpartition("/")[0], text(args[0] if args else NOTHING)))
        elif method == "with_suffix":
            return PathText(path.rsplit(".", 1)[0] + text(args[0] if args else NOTHING))
        elif method in ("as_posix", "__str__", "__fspath__"):
            return str(path)
        elif method == "as_uri":
            return "file://" + path
        elif method == "relative_to":
            return PathText("\0")
        elif method == "remove":  # py.path
            record.add("delete", path, self.at(node), recursive=True)
        return NOTHING

    def expand(self, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            return self.record.home() + path[1:]
        return "\0" if path.startswith("~") else path

    def absolute(self, path: str) -> str:
        if path.startswith(("/", "\x00")):
            return path
        here = self.record.cwd or self.record.env.get("PWD", "\0")
        return here if path in ("", ".") else join(here, path)

    def text_call(self, owner: str, method: str, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        plain = all(not isinstance(one, Alts) for one in args)
        if not plain:
            place = next(i for i, one in enumerate(args) if isinstance(one, Alts))
            return either(
                *(
                    self.text_call(owner, method, [*args[:place], one, *args[place + 1 :]], opts, node)
                    for one in args[place].values
                )
            )
        self.record.spend(len(owner) >> 8)
        if method == "format":
            for one in (*args, *opts.values()):
                self.note_env(one, node)
            return braces(owner, args, opts)
        if method == "join":
            over = args[0] if args else NOTHING
            if isinstance(over, str) and owner == "":
                return over
            parts = self.elements(over)
            if parts is None:
                return over if isinstance(over, Unknown) and over.origin else "\0"
            out: Any = ""
            if len(parts) > 64 and all(isinstance(one, str) for one in parts):
                size = sum(map(len, parts)) + len(owner) * len(parts)
                self.record.spend(size >> 6)
                return owner.join(parts) if size < 60_000 else "\0"
            for place, part in enumerate(parts):
                out = concat(concat(out, owner), part) if place else concat(out, part)
                self.record.spend(len(out) >> 8 if isinstance(out, str) else 1)
            return out
        if method == "encode":
            code = text(args[0]).lower() if args else "utf-8"
            if code.startswith("rot"):
                return DecodedText(rot13(owner))
            return owner
        if method == "decode":
            return _codec(owner, args)
        if method == "split" or method == "rsplit":
            if args and isinstance(args[0], str) and args[0]:
                limit = args[1] if len(args) > 1 and isinstance(args[1], int) else -1
                return owner.split(args[0], limit) if method == "split" else owner.rsplit(args[0], limit)
            return list(owner.split())
        if method == "splitlines":
            return owner.splitlines()
        if method == "replace" and len(args) >= 2 and isinstance(args[0], str) and isinstance(args[1], str):
            if (len(owner) + 1) * (len(args[1]) + 1) > 400_000:
                return "\0"
            return owner.replace(args[0], args[1])
        if method in ("partition", "rpartition") and args and isinstance(args[0], str) and args[0]:
            return owner.partition(args[0]) if method == "partition" else owner.rpartition(args[0])
        if method in _PURE_STR and all(isinstance(one, str) for one in args):
            try:
                return getattr(owner, method)(*args)
            except (ValueError, TypeError):
                return NOTHING
        return NOTHING

    def bytes_call(self, owner: bytes, method: str, args: list[Any]) -> Any:
        if method == "decode":
            return _codec(owner, args)
        if method == "hex":
            return owner.hex()
        if method == "fromhex" and args and isinstance(args[0], str):
            return _decoded(unhex(args[0]))
        if method == "split" and not args:
            return owner.split()
        if method == "strip" and not args:
            return owner.strip()
        if method == "replace" and len(args) >= 2 and isinstance(args[0], bytes) and isinstance(args[1], bytes):
            if (len(owner) + 1) * (len(args[1]) + 1) > 400_000:
                return NOTHING
            return owner.replace(args[0], args[1])
        return NOTHING

    def list_call(self, owner: Any, method: str, args: list[Any], node: Any) -> Any:
        if isinstance(owner, list) and len(owner) < 5_000:
            if method == "append" and args:
                owner.append(args[0])
            elif method == "extend" and args:
                more = self.elements(args[0])
                owner.extend(more[:1_000] if more is not None else [NOTHING])
            elif method == "insert" and len(args) > 1 and isinstance(args[0], int):
                owner.insert(args[0], args[1])
            elif method == "reverse":
                owner.reverse()
            elif method == "copy":
                return list(owner)
            elif method == "pop":
                return self.item(owner, args[0] if args else -1)
        self.callbacks(args, {}, node)
        return NOTHING

    def dict_call(self, owner: dict[Any, Any], method: str, args: list[Any]) -> Any:
        if method in ("get", "pop", "setdefault") and args:
            if isinstance(args[0], str | int) and args[0] in owner:
                return owner[args[0]]
            return args[1] if len(args) > 1 else NOTHING
        if method == "items":
            return list(owner.items())
        if method == "keys":
            return list(owner)
        if method == "values":
            return list(owner.values())
        if method == "update" and args and isinstance(args[0], dict) and len(owner) < 5_000:
            owner.update(args[0])
        if method == "copy":
            return dict(owner)
        return NOTHING

    def note_env(self, value: Any, node: Any) -> None:
        if isinstance(value, Ref) and value.name == "os.environ":
            self.record.add("env", "", self.at(node))

    # ---- the library

    def library(self, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        name = func.name
        record = self.record
        op = _CALLS.get(name)
        if op is not None:
            return self.operation(op, name, func, args, opts, node)
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, func, args, opts, node)
        if name in _SPAWNS:
            return self.spawn(name, args, opts, node)
        if name in _EXECS or name.startswith(("os.spawn", "os.posix_spawn")):
            return self.exec(name, args, node)
        if name in _STOPS:
            return Ref("stop")
        if name in _PATHS or (name.startswith("pathlib.") and name.endswith("Path")):
            for one in args:
                if isinstance(one, Alts):
                    return either(*(PathText(join(*(text(each) for each in variant))) for variant in variants(args)))
            return PathText(join(*(text(one) for one in args)) if args else ".")
        if name == "fcntl.ioctl" and any(isinstance(one, Ref) and one.name.endswith("TIOCSTI") for one in args):
            record.add("shell", NOTHING, self.at(node))  # types into a terminal, one letter at a time
            return NOTHING
        if name.startswith("jevhook.") or name in ("runpy.run_module", "runpy._run_module_as_main"):
            return self.own(name, args, opts, node)
        head, _, last = name.rpartition(".")
        if head == "os.environ" or head == "os.environ()":
            if last in ("get", "pop", "setdefault", "__getitem__"):
                value = record.variable(args[0] if args else NOTHING)
                return either(value, args[1]) if value is NOTHING and len(args) > 1 else value
            if last == "copy":
                return Ref("os.environ")
            if last in ("items", "values", "__str__", "__repr__"):
                record.add("env", "", self.at(node))
            return NOTHING
        if head.startswith("file") and func.args:
            return self.file_call(func, last, args, node)
        if head == "STDIN":
            return STDIN
        if head.endswith("Popen()") and last == "communicate":
            self.communicate(func, first(args, opts, 0, "input"), node)
            return NOTHING
        if last in ("recv", "recvfrom") and "socket" in head:
            return SOCKET
        if "socket" in head and last == "accept":
            record.connect("*", self.at(node))
            return (Ref("socket.socket()"), NOTHING)
        if "socket" in head and last in ("fileno", "makefile", "detach"):
            return Ref("fileno()")
        if head.startswith("http.client.HTTPConnection()") and last == "request":
            method = text(first(args, opts, 0, "method")).upper()
            host = concat(func.args[0] if func.args else NOTHING, first(args, opts, 1, "url"))
            body = len(args) > 2 or "body" in opts
            record.add("send" if method not in ("GET", "HEAD") or body else "fetch", host, self.at(node), detail=method)
            return NOTHING
        if name.endswith("().getresponse"):
            return DOWNLOADED
        if "\0" in name and head.split(".")[0] in ("os", "subprocess", "builtins", "shutil"):
            if args:
                record.add("shell", args[0], self.at(node), sure=False)
            return NOTHING
        if last in _SQL_CALLS and args:
            value = args[0]
            if looks_sql(value) or (isinstance(value, Ref) and value.args and looks_sql(value.args[0])):
                perform(record, "sql", args, opts, self.at(node))
            return Ref("cursor()")
        if last in _METHODS and head and not head[0].isupper():
            return self.guess(NOTHING, last, args, opts, node)
        if last in ("drop_all", "drop_database", "delete_many", "flushall", "flushdb"):
            return self.stores(last, args, node)
        if last == "delete" and not args and isinstance(node.func, A.Attribute) and isinstance(node.func.value, A.Call):
            self.delete_rows(node)
            return NOTHING
        if last in _SAVES and args:
            record.add("write", args[0], self.at(node))
            return NOTHING
        if last == "upload_file" or last == "put_object" or last == "upload_fileobj":
            bucket = first(args[1:] if last != "put_object" else [], opts, 0, "Bucket")
            if last == "upload_file":
                record.add("read", first(args, opts, 0, "Filename"), self.at(node))
            record.add("send", concat("s3://", bucket), self.at(node))
            return NOTHING
        if last in ("kill", "terminate") and head.startswith("psutil.Process"):
            record.add("kill", func.args[0] if func.args else NOTHING, self.at(node))
            return NOTHING
        if last == "extractall" or last == "extract":
            place = first(args, opts, 0 if last == "extractall" else 1, "path")
            record.add("write", join("." if place is NOTHING else text(place), "\1"), self.at(node))
            return NOTHING
        for one in (*args, *opts.values()):
            if isinstance(one, Ref) and one.name == "os.environ" and one is not opts.get("env"):
                if name in ("dict", "copy.copy", "copy.deepcopy"):
                    return one
                if name not in ("len", "isinstance", "type", "set", "sorted", "hasattr", "bool"):
                    record.add("env", "", self.at(node))
        self.callbacks(args, opts, node)
        if name.startswith("self."):
            return self.guess(NOTHING, name[5:], args, opts, node)
        return Ref(name + "()", tuple(args), opts) if len(name) < 180 else NOTHING

    def own(self, name: str, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        """Our own package: its entry is a command line, the rest a call that the reader of our commands knows."""
        at = self.at(node)
        if name.startswith("runpy."):
            module = text(args[0] if args else opts.get("mod_name", NOTHING))
            if module.split(".")[0] == "jevhook":  # sys.argv says what it does
                self.record.add("argv", ["jevhook", NOTHING], at)
            return NOTHING
        if name in ("jevhook.cli.main", "jevhook.__main__.main"):
            given = first(args, opts, 0, "argv")
            self.record.add("argv", ["jevhook", *given] if isinstance(given, list | tuple) else ["jevhook", given], at)
            return NOTHING
        self.record.add("call", name, at)
        return Ref(name + "()", tuple(args), opts) if len(name) < 180 else NOTHING

    def operation(self, op: str, name: str, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        record = self.record
        at = self.at(node)
        for one in (*args, *opts.values()):
            self.note_env(one, node)
        if op == "code":
            return self.code(name, args, at)
        if op == "unpickle" or op == "unmarshal":
            value = args[0] if args else NOTHING
            if isinstance(value, Unknown) and value.origin in ("downloaded", "socket"):
                record.add("run-code", "downloaded", at)
            return DECODED if op == "unmarshal" else NOTHING
        if op == "fetch" and any(key in opts for key in ("data", "json", "files")):
            op = "send"
        if op == "connect" and not args and not opts:
            return Ref(name + "()")
        if op == "connect" and name.startswith("paramiko"):
            record.add("send", first(args, opts, 0, "hostname", "sock"), at)
            return Ref(name + "()")
        if op in ("connect",) and name.split(".")[0] in ("smtplib", "ftplib", "telnetlib"):
            record.add("send", args[0] if args else opts.get("host", NOTHING), at)
            return Ref(name + "()", tuple(args))
        if op == "shell":
            line = first(args, opts, 0, "cmd", "command")
            perform(record, "shell", [line], opts, at)
            result = DOWNLOADED if any(downloads(one) for one in variants(line)) else NOTHING
            return result if name != "pexpect.spawn" else Ref("spawned()")
        if op == "open" and name.startswith("tarfile"):
            mode = text(first(args, opts, 1, "mode")) if len(args) > 1 or "mode" in opts else "r"
            return perform(record, "open", [first(args, opts, 0, "name", "fileobj"), mode.split(":")[0]], {}, at)
        if op == "open" and name.startswith("io.FileIO") is False and "file" in opts and not args:
            return open_file(record, opts["file"], opts.get("mode", "r"), at)
        if op == "move" and "\1" in text(args[0] if args else ""):
            return perform(record, op, args, opts, at)
        result = perform(record, op, args, opts, at, True, "python")
        if op in ("delete", "tree", "write", "move") and result is NOTHING:
            self.callbacks([], opts, node)
        return result

    def code(self, name: str, args: list[Any], at: Span) -> Any:
        value = args[0] if args else NOTHING
        if isinstance(value, Ref) and value.name == "compiled":
            value = value.args[0]
        if isinstance(value, Ref) and value.name.startswith("file"):
            value = Unknown("file", text(value.args[0]))
        if name.endswith("eval") and not isinstance(value, DecodedText | DecodedBytes):
            for one in variants(value):  # an expression: its value is the call's
                source = known_text(one)
                if source is not None and "\0" not in source and self.record.nested < 4 and len(source) < 4_000:
                    tree = parse(source.strip())
                    if tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], A.Expr):
                        span, self.record.span = self.record.span, self.record.span or at
                        offsets, self.offsets = self.offsets, [0, 0]
                        lines, self.lines = self.lines, [""]
                        self.record.nested += 1
                        try:
                            return self.ev(tree.body[0].value)
                        finally:
                            self.record.nested -= 1
                            self.record.span, self.offsets, self.lines = span, offsets, lines
        self.record.code(value, "python", at)
        return NOTHING

    def spawn(self, name: str, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        """subprocess and its kin: words or a shell line."""
        record = self.record
        at = self.at(node)
        if name == "pty.spawn":
            record.handed = record.handed or record.host is not None
            line = args[0] if args else NOTHING
            record.add("argv", line if isinstance(line, list | tuple) else [line], at)
            return NOTHING
        if name.endswith("create_subprocess_exec"):
            record.add("argv", list(args) or [NOTHING], at, cwd=opts.get("cwd", ""))
            return Ref("subprocess.Popen()", (list(args),))
        command = first(args, opts, 0, "args")
        shell = opts.get("shell", args[8] if len(args) > 8 else False)
        where = opts.get("cwd", "")
        where = "" if where is None else where
        fed = opts.get("input")
        for stream in ("stdin", "stdout"):
            given = opts.get(stream)
            if isinstance(given, Ref) and ("socket" in given.name or given.name == "fileno()"):
                record.handed = True
            if isinstance(given, Ref) and given.name == "file" and stream == "stdin":
                fed = Unknown("file", text(given.args[0]))
        for one in variants(command):
            if shell is not False and shell is not None:
                if isinstance(one, list | tuple):  # with shell=True only the first word is the line
                    record.add("shell", one[0] if one else NOTHING, at, cwd=where, stdin=fed)
                    if not isinstance(shell, bool):
                        record.add("argv", list(one), at, cwd=where, stdin=fed)
                else:
                    record.add("shell", one, at, cwd=where, stdin=fed)
            elif isinstance(one, list | tuple):
                record.add("argv", list(one), at, cwd=where, stdin=fed)
                self.feed(list(one), fed, at)
            elif isinstance(one, Ref) and one.name == "words":
                record.add("shell", one.args[0], at, cwd=where, stdin=fed)
            else:
                record.add("argv", [one], at, cwd=where, stdin=fed)
                self.feed([one], fed, at)
        self.callbacks([], opts, node)
        head = command[0] if isinstance(command, list | tuple) and command else command
        if any(downloads(one) for one in variants(head)):
            return DOWNLOADED
        if isinstance(head, Unknown) and head.origin == "socket":
            record.handed = record.shelled = True
        return Ref("subprocess.Popen()", (command,))

    def feed(self, argv: list[Any], fed: Any, at: Span) -> None:
        """Text on the standard input of a bare shell is a shell line."""
        line = known_text(fed)
        if (
            line is not None
            and argv
            and base(text(argv[0])) in SHELLS
            and all(text(one)[:1] == "-" for one in argv[1:])
        ):
            self.record.add("shell", line, at)

    def communicate(self, func: Ref, fed: Any, node: Any) -> None:
        command = func.args[0] if func.args else NOTHING
        if fed is not NOTHING:
            self.feed(list(command) if isinstance(command, list | tuple) else [command], fed, self.at(node))

    def exec(self, name: str, args: list[Any], node: Any) -> Any:
        """os.exec*, os.spawn*: the program's path and its own idea of its name."""
        if name.startswith("os.spawn"):
            args = args[1:]
        flavour = name.rpartition("_")[2] if "posix" in name else name.rpartition(".")[2].replace("spawn", "exec")
        program = args[0] if args else NOTHING
        rest: Any
        if flavour.startswith("execl"):
            rest = args[2:]
            if flavour.endswith("e"):
                rest = rest[:-1]
        else:
            rest = args[1] if len(args) > 1 else []
            rest = list(rest[1:]) if isinstance(rest, list | tuple) else [NOTHING]
        self.record.add("argv", [program, *rest], self.at(node))
        return Ref("stop") if name in _EXECS else NOTHING

    def file_call(self, func: Ref, method: str, args: list[Any], node: Any) -> Any:
        path = func.args[0]
        if method in ("read", "readlines", "readline", "readall"):
            return Unknown("file", text(path))
        if method in ("extractall", "extract"):
            place = first(args, {}, 0 if method == "extractall" else 1)
            self.record.add("write", join("." if place is NOTHING else text(place), "\1"), self.at(node))
        if method == "truncate":
            self.record.add("write", path, self.at(node))
        return NOTHING


def braces(pattern: str, args: list[Any], opts: dict[str, Any]) -> Any:
    """``str.format`` with widths left aside."""
    out: Any = ""
    i = auto = 0
    while i < len(pattern):
        j = i
        while j < len(pattern) and pattern[j] not in "{}":
            j += 1
        if j > i:
            out = concat(out, pattern[i:j])
        if j >= len(pattern):
            break
        if pattern[j : j + 2] in ("{{", "}}"):
            out = concat(out, pattern[j])
            i = j + 2
            continue
        close = pattern.find("}", j)
        if close < 0 or pattern[j] == "}":
            break
        field = pattern[j + 1 : close].split(":", 1)[0].split("!", 1)[0]
        value: Any = NOTHING
        if field == "":
            value = args[auto] if auto < len(args) else NOTHING
            auto += 1
        elif field.isdigit():
            value = args[int(field)] if len(field) < 6 and int(field) < len(args) else NOTHING
        elif field in opts:
            value = opts[field]
        out = concat(out, value)
        if isinstance(out, str) and len(out) > 65_000:
            return out
        i = close + 1
    return out


def _codec(value: str | bytes, args: list[Any]) -> Any:
    """``decode`` in a named encoding."""
    name = text(args[0]).lower().replace("_", "-") if args else "utf-8"
    if name.startswith("rot"):
        return DecodedText(rot13(text(value)))
    if name.startswith("hex"):
        return _decoded(unhex(value))
    if name.startswith("base64"):
        return _decoded(unbase64(value))
    if name.startswith("zlib"):
        return _decoded(unsqueeze(value, 15) if isinstance(value, bytes) else None)
    return DecodedText(text(value)) if isinstance(value, DecodedBytes | DecodedText) else text(value)


def _decoded(data: bytes | None) -> Any:
    return DecodedBytes(data) if data is not None else DECODED


# ---- library calls that need more than an operation's name


def _b64(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return _hidden(reader, args[0] if args else NOTHING, unbase64)


def _hex(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return _hidden(reader, args[0] if args else NOTHING, unhex)


def _zlib(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return _hidden(reader, args[0] if args else NOTHING, lambda data: unsqueeze(_raw(data), 15))


def _gzip(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return _hidden(reader, args[0] if args else NOTHING, lambda data: unsqueeze(_raw(data), 31))


def _raw(data: Any) -> bytes:
    return data if isinstance(data, bytes) else text(data).encode("utf-8", "replace")


def _hidden(reader: Reader, value: Any, decode: Callable[[Any], bytes | None]) -> Any:
    if isinstance(value, Unknown) and value.origin in ("downloaded", "socket"):
        return value
    if isinstance(value, str | bytes):
        reader.record.spend(len(value) >> 6)
        return _decoded(decode(value))
    return DECODED


def _codecs(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    value = args[0] if args else NOTHING
    code = first(args, opts, 1, "encoding")
    if not isinstance(value, str | bytes):
        return DECODED if not isinstance(value, Unknown) or not value.origin else value
    return _codec(value, [code] if code is not NOTHING else [])


def _env_get(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    value = reader.record.variable(args[0] if args else NOTHING)
    fallback = first(args, opts, 1, "default")
    return either(value, fallback) if value is NOTHING and fallback is not NOTHING else value


def _lifted(run: Callable[[Reader, list[str]], Any]) -> Callable[..., Any]:
    def call(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
        if any(isinstance(one, Alts) for one in args):
            return either(*(run(reader, [text(one) for one in row]) for row in variants(args)))
        return run(reader, [text(one) for one in args])

    return call


def _norm(path: str) -> str:
    import posixpath

    return posixpath.normpath(path)


def _listdir(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    if func.name == "os.scandir":
        return [PathText(join(text(first(args, opts, 0, "path")) if args or opts else ".", "\1"))]
    return ["\1"]


def _walk(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    root = first(args, opts, 0, "top")
    return either(*[[(text(one), [DEEP], [DEEP])] for one in variants(root)])


def _glob(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    pattern = first(args, opts, 0, "pathname")
    root = opts.get("root_dir", "")
    found = [star(text(one)) for one in variants(pattern)]
    return [join(text(root), one) if root else one for one in found]


def _import(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    name = args[0] if args else NOTHING
    if isinstance(name, str) and "\0" not in name:
        if func.name == "__import__":
            fromlist = len(args) > 3 or "fromlist" in opts
            name = name if fromlist else name.split(".", 1)[0]
        return Ref(_SAME.get(name, name))
    return Ref("os.\0") if isinstance(name, str) else NOTHING


def _getattr(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    if len(args) < 2:
        return NOTHING
    owner, name = args[0], args[1]
    if isinstance(name, Alts):
        return either(*(_getattr(reader, func, [owner, one], {}, node) for one in name.values))
    if isinstance(name, str) and "\0" not in name:
        reader.loaded.add(name)
        if isinstance(owner, str | list | dict | bytes):
            return NOTHING
        return reader.attribute(owner, name)
    if isinstance(owner, Ref):
        return Ref(owner.name + ".\0")
    return NOTHING


def _chr(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    value = args[0] if args else NOTHING
    return chr(value) if isinstance(value, int) and 0 <= value < 0x110000 else "\0"


def _ord(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    value = args[0] if args else NOTHING
    return ord(value) if isinstance(value, str) and len(value) == 1 and value not in "\0\1\2" else NOTHING


def _map(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    if len(args) < 2:
        return NOTHING
    call = args[0]
    elements = reader.elements(args[1])
    if elements is None:
        return [reader.apply(call, [NOTHING], {}, node)]
    return [reader.apply(call, [one], {}, node) for one in elements[:1_000]]


def _through(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    """A call that hands its argument on."""
    value = args[0] if args else NOTHING
    name = func.name
    reader.note_env(value, node)
    if isinstance(value, PathText):
        return str(value)
    if name in ("str", "repr", "bytes", "bytearray"):
        if isinstance(value, list | tuple) and value and all(isinstance(one, int) for one in value):
            try:
                return bytes(value).decode("utf-8", "replace")
            except ValueError:
                return NOTHING
        if isinstance(value, str | bytes | Unknown | Alts):
            return value
        return text(value)
    if name in ("list", "tuple", "sorted", "set", "reversed", "iter", "frozenset", "enumerate"):
        elements = reader.elements(value)
        if elements is None:
            return value if isinstance(value, Unknown) else NOTHING
        if name == "reversed":
            elements.reverse()
        if name == "enumerate":
            return [(NOTHING, one) for one in elements]
        return elements
    return value


def _next(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    elements = reader.elements(args[0]) if args else None
    return elements[0] if elements else NOTHING


def _zip(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    columns = [reader.elements(one) for one in args]
    if not columns or any(one is None for one in columns):
        return NOTHING
    return [tuple(row) for row in zip(*[one[:_ROUNDS] for one in columns if one is not None], strict=False)]


def _range(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    if args and all(isinstance(one, int) for one in args) and len(args) <= 3 and (len(args) < 3 or args[2]):
        found = range(*args)
        return list(found) if len(found) <= _ROUNDS else NOTHING
    return NOTHING


def _partial(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return Partial(args[0], args[1:], opts) if args else NOTHING


def _defer(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    """A function handed over to be run, with its arguments."""
    if "target" in opts:
        given = opts.get("args")
        reader.apply(opts["target"], list(given) if isinstance(given, list | tuple) else [], {}, node)
    elif args:
        if func.name.startswith(("threading.Timer", "asyncio.get")):
            args = args[1:]
        if args:
            reader.apply(args[0], args[1:], opts, node)
    return NOTHING


def _await(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return args[0] if args else NOTHING


def _compile(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return Ref("compiled", (args[0] if args else NOTHING,))


def _urlopen(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    url = first(args, opts, 0, "url")
    data = (len(args) > 1 and args[1] is not None) or opts.get("data") is not None
    method = ""
    if isinstance(url, Ref) and url.name == "urllib.request.Request()":
        method = text(url.opts.get("method", "")).upper()
        data = data or url.opts.get("data") is not None or len(url.args) > 1
        url = first(url.args, url.opts, 0, "url")
    kind = "send" if data or method not in ("", "GET", "HEAD") else "fetch"
    reader.record.add(kind, url, reader.at(node), detail=method)
    return DOWNLOADED


def _request(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    """requests.request(method, url)."""
    method = text(first(args, opts, 0, "method")).upper()
    sends = method not in ("GET", "HEAD", "OPTIONS") or any(key in opts for key in ("data", "json", "files", "content"))
    url = first(args, opts, 1, "url")
    reader.record.add("send" if sends else "fetch", url, reader.at(node), detail=method)
    return DOWNLOADED


def _os_open(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    path = first(args, opts, 0, "path")
    flags = first(args, opts, 1, "flags")
    names = flags.name if isinstance(flags, Ref) else ""
    writes = any(word in names for word in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"))
    if isinstance(flags, int) and flags & 0o3103:
        writes = True
    reader.record.add("write" if writes else "read", path, reader.at(node))
    return NOTHING


def _temp(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    where = opts.get("dir")
    root = reader.record.env.get("TMPDIR") or "/tmp"
    root = root if where is None or where is NOTHING else text(where)
    if func.name == "tempfile.gettempdir":
        return root
    path = join(root, "\0")
    if func.name == "tempfile.mkstemp":
        return (NOTHING, path)
    if func.name == "tempfile.mkdtemp":
        return path
    if func.name == "tempfile.TemporaryDirectory":
        return _TempDir(path)
    return Ref("tempfile.NamedTemporaryFile()", (path,))


class _TempDir(str):
    """A temporary directory: as a ``with`` target its path, as an object its ``name``."""

    __slots__ = ()


def _cwd(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    here = reader.record.cwd or reader.record.env.get("PWD", "\0")
    return PathText(here) if "Path" in func.name else here


def _home(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return PathText(reader.record.home())


def _input(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return STDIN


def _vars(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return Ref("vars()", tuple(args)) if args else Ref("globals()")


def _shlex_split(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return either(*[words(text(one)) for one in variants(args[0] if args else NOTHING)])


def _shlex_join(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    parts = reader.elements(args[0]) if args else None
    if parts is None:
        return NOTHING
    return " ".join(_quoted(text(one)) for one in parts)


def _quote(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    value = args[0] if args else NOTHING
    return either(*[_quoted(text(one)) for one in variants(value)])


def _quoted(word: str) -> str:
    plain = word and all(c.isalnum() or c in "_@%+=:,./-\0" for c in word)
    return word if plain else "'" + word.replace("'", "'\"'\"'") + "'"


def _kill_all(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    group = args[0] if args else NOTHING
    perform(reader.record, "kill", [concat("-", group), *args[1:]], opts, reader.at(node))
    return NOTHING


def _manage(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    reader.record.add("argv", ["django-admin", *args], reader.at(node))
    return NOTHING


def _environ(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return Ref("os.environ")


def _fromhex(reader: Reader, func: Ref, args: list[Any], opts: dict[str, Any], node: Any) -> Any:
    return _hidden(reader, args[0] if args else NOTHING, unhex)


def _split(reader: Reader, parts: list[str]) -> Any:
    head, _, tail = (parts[0] if parts else "\0").rpartition("/")
    return (head or "/", tail)


def _splitext(reader: Reader, parts: list[str]) -> Any:
    path = parts[0] if parts else "\0"
    stem, dot, suffix = path.rpartition(".")
    return (stem, dot + suffix) if dot and "/" not in suffix else (path, "")


_SPAWNS = frozenset(
    (
        "subprocess.run",
        "subprocess.call",
        "subprocess.check_call",
        "subprocess.check_output",
        "subprocess.Popen",
        "subprocess32.run",
        "asyncio.create_subprocess_exec",
        "asyncio.subprocess.create_subprocess_exec",
        "pty.spawn",
        "gevent.subprocess.run",
        "gevent.subprocess.Popen",
        "distutils.spawn.spawn",
    )
)

_SPECIAL: dict[str, Callable[..., Any]] = {
    "base64.b64decode": _b64,
    "base64.standard_b64decode": _b64,
    "base64.urlsafe_b64decode": _b64,
    "base64.decodebytes": _b64,
    "base64.decodestring": _b64,
    "binascii.a2b_base64": _b64,
    "base64.b32decode": lambda *_: DECODED,
    "base64.b85decode": lambda *_: DECODED,
    "base64.a85decode": lambda *_: DECODED,
    "base64.b16decode": _hex,
    "binascii.unhexlify": _hex,
    "binascii.a2b_hex": _hex,
    "bytes.fromhex": _fromhex,
    "bytearray.fromhex": _fromhex,
    "zlib.decompress": _zlib,
    "gzip.decompress": _gzip,
    "bz2.decompress": lambda *_: DECODED,
    "lzma.decompress": lambda *_: DECODED,
    "codecs.decode": _codecs,
    "codecs.encode": _codecs,
    "os.getenv": _env_get,
    "os.environ.get": _env_get,
    "os.path.join": _lifted(lambda reader, parts: join(*parts)),
    "os.path.expanduser": _lifted(lambda reader, parts: reader.expand(parts[0] if parts else "\0")),
    "os.path.abspath": _lifted(lambda reader, parts: reader.absolute(parts[0] if parts else "\0")),
    "os.path.realpath": _lifted(lambda reader, parts: reader.absolute(parts[0] if parts else "\0")),
    "os.path.normpath": _lifted(lambda reader, parts: _norm(parts[0] if parts else "\0")),
    "os.path.dirname": _lifted(lambda reader, parts: _split(reader, parts)[0]),
    "os.path.basename": _lifted(lambda reader, parts: _split(reader, parts)[1]),
    "os.path.split": _lifted(_split),
    "os.path.splitext": _lifted(_splitext),
    "os.path.expandvars": _lifted(lambda reader, parts: _expandvars(reader.record, parts[0] if parts else "\0")),
    "os.fspath": _through,
    "os.fsdecode": _through,
    "os.getcwd": _cwd,
    "pathlib.Path.cwd": _cwd,
    "pathlib.Path.home": _home,
    "os.listdir": _listdir,
    "os.scandir": _listdir,
    "os.walk": _walk,
    "os.fwalk": _walk,
    "glob.glob": _glob,
    "glob.iglob": _glob,
    "__import__": _import,
    "importlib.import_module": _import,
    "importlib.__import__": _import,
    "builtins.__import__": _import,
    "getattr": _getattr,
    "builtins.getattr": _getattr,
    "chr": _chr,
    "ord": _ord,
    "map": _map,
    "filter": lambda reader, func, args, opts, node: args[1] if len(args) > 1 else NOTHING,
    "next": _next,
    "zip": _zip,
    "range": _range,
    "functools.partial": _partial,
    "threading.Thread": _defer,
    "threading.Timer": _defer,
    "multiprocessing.Process": _defer,
    "atexit.register": _defer,
    "asyncio.to_thread": _defer,
    "asyncio.run": _await,
    "asyncio.gather": _await,
    "asyncio.wait_for": _await,
    "compile": _compile,
    "builtins.compile": _compile,
    "urllib.request.urlopen": _urlopen,
    "requests.request": _request,
    "httpx.request": _request,
    "requests.Session().request": _request,
    "urllib3.request": _request,
    "urllib3.PoolManager().request": _request,
    "os.open": _os_open,
    "tempfile.gettempdir": _temp,
    "tempfile.mkdtemp": _temp,
    "tempfile.mkstemp": _temp,
    "tempfile.mktemp": lambda *a: _temp(a[0], Ref("tempfile.mkdtemp"), *a[2:]),
    "tempfile.TemporaryDirectory": _temp,
    "tempfile.NamedTemporaryFile": _temp,
    "input": _input,
    "raw_input": _input,
    "vars": _vars,
    "globals": _vars,
    "locals": _vars,
    "shlex.split": _shlex_split,
    "shlex.join": _shlex_join,
    "shlex.quote": _quote,
    "pipes.quote": _quote,
    "os.killpg": _kill_all,
    "django.core.management.call_command": _manage,
    "os.environ.copy": _environ,
}
for _word in (*_WRAPS, "sorted", "enumerate", "typing.cast"):
    _SPECIAL[_word] = _through
del _CALLS["os.killpg"]


def _expandvars(record: Record, value: str) -> str:
    out: list[str] = []
    i = 0
    while i < len(value):
        if value[i] != "$":
            out.append(value[i])
            i += 1
            continue
        j = i + 1
        braced = value[j : j + 1] == "{"
        j += braced
        k = j
        while k < len(value) and (value[k].isalnum() or value[k] == "_"):
            k += 1
        out.append(text(record.variable(value[j:k])))
        i = k + braced
    return "".join(out)


_MISSING = object()

_STATEMENTS: dict[type, Callable[[Reader, Any], Any]] = {
    A.Expr: Reader.s_expr,
    A.Assign: Reader.s_assign,
    A.AnnAssign: Reader.s_annassign,
    A.AugAssign: Reader.s_augassign,
    A.Import: Reader.s_import,
    A.ImportFrom: Reader.s_from,
    A.If: Reader.s_if,
    A.While: Reader.s_while,
    A.For: Reader.s_for,
    A.AsyncFor: Reader.s_for,
    A.Try: Reader.s_try,
    A.TryStar: Reader.s_try,
    A.With: Reader.s_with,
    A.AsyncWith: Reader.s_with,
    A.FunctionDef: Reader.s_def,
    A.AsyncFunctionDef: Reader.s_def,
    A.ClassDef: Reader.s_class,
    A.Return: Reader.s_return,
    A.Raise: Reader.s_raise,
    A.Break: Reader.s_jump,
    A.Continue: Reader.s_jump,
    A.Global: Reader.s_global,
    A.Nonlocal: Reader.s_global,
    A.Delete: Reader.s_delete,
    A.Match: Reader.s_match,
}

_EXPRESSIONS: dict[type, Callable[[Reader, Any], Any]] = {
    A.Constant: Reader.e_constant,
    A.Name: Reader.e_name,
    A.JoinedStr: Reader.e_joined,
    A.List: Reader.e_list,
    A.Tuple: Reader.e_tuple,
    A.Set: Reader.e_list,
    A.Dict: Reader.e_dict,
    A.Attribute: Reader.e_attribute,
    A.Subscript: Reader.e_subscript,
    A.BinOp: Reader.e_binop,
    A.UnaryOp: Reader.e_unary,
    A.BoolOp: Reader.e_boolop,
    A.IfExp: Reader.e_ifexp,
    A.Compare: Reader.e_compare,
    A.Lambda: Reader.e_lambda,
    A.NamedExpr: Reader.e_named,
    A.Await: Reader.e_await,
    A.Yield: Reader.e_yield,
    A.YieldFrom: Reader.e_yield,
    A.ListComp: Reader.e_comp,
    A.SetComp: Reader.e_comp,
    A.GeneratorExp: Reader.e_comp,
    A.DictComp: Reader.e_comp,
    A.Call: Reader.e_call,
}

__all__ = ["Reader", "Spent", "parse", "read"]
