"""Code that a command line hands to an interpreter, read for what it would do and never run.

``read_code`` turns a piece of Python, JavaScript, Perl, Ruby, PHP, Lua, R, Julia or awk into a list of ``Act``: a file it
deletes, a shell line it starts, a host it sends to.  Strings that are only data yield nothing.  Python is read from
its own syntax tree, the others from tokens; both follow constants, string building, imports and simple loops.

Sentinels inside values: ``"\\0"`` stands for a piece that nothing here can know, ``"\\1"`` for an active star (what a
directory listing or a glob pattern yields).  A path is literal otherwise: a leading ``~`` or a ``$`` in it would not
be expanded by the program, so whoever judges it must not either (a literal leading ``~`` is given as ``./~``).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNKNOWN = "\0"
STAR = "\1"

MAX_CHARS = 200_000
MAX_STEPS = 200_000


class Act:
    """One thing that a piece of code would do.

    ``kind``       shell (``value`` is a shell line), argv (a list of words), delete, write, read, move, chmod,
                   run-file (a path), send, fetch (a URL or host; fetch is a plain GET), run-code ("downloaded",
                   "decoded" or "unknown"), reverse-shell (the host), kill (a process id), env (reads the whole
                   environment, ``value`` is ""), sql (a statement), call (a dotted name of this package's own)
    ``recursive``  delete: the whole tree below ``value``
    ``sure``       False where the call is reached only through something unresolved: a name that was computed, a
                   method recognised by its name alone, a function that something else may call
    ``start`` ``end``  character offsets in the source that was handed to ``read_code``
    ``cwd``        shell and argv: the directory it starts in, "" for the program's own
    ``stdin``      shell and argv: the text fed to it, or None
    ``detail``     chmod: the mode in octal; send and fetch: the method; kill: the signal; write: the mode that opened
                   it ("w" empties the file, "a" adds to it); otherwise ""
    """

    __slots__ = ("cwd", "detail", "end", "kind", "recursive", "start", "stdin", "sure", "value")

    def __init__(
        self,
        kind: str,
        value: str | list[str],
        *,
        recursive: bool = False,
        sure: bool = True,
        start: int = 0,
        end: int = 0,
        cwd: str = "",
        stdin: str | None = None,
        detail: str = "",
    ) -> None:
        self.kind = kind
        self.value = value
        self.recursive = recursive
        self.sure = sure
        self.start = start
        self.end = end
        self.cwd = cwd
        self.stdin = stdin
        self.detail = detail

    def __repr__(self) -> str:
        marks = ("" if self.sure else "?") + ("*" if self.recursive else "")
        return f"<{self.kind}{marks} {self.value!r}>"


_BY_PROGRAM = {
    "python": "python",
    "pypy": "python",
    "ipython": "python",
    "node": "node",
    "nodejs": "node",
    "bun": "node",
    "deno": "node",
    "tsx": "node",
    "ts-node": "node",
    "qjs": "node",
    "perl": "perl",
    "ruby": "ruby",
    "jruby": "ruby",
    "php": "php",
    "awk": "awk",
    "gawk": "awk",
    "mawk": "awk",
    "nawk": "awk",
    "original-awk": "awk",
    "lua": "lua",
    "luajit": "lua",
    "rscript": "r",
    "r": "r",
    "julia": "julia",
    "sh": "sh",
    "bash": "sh",
    "zsh": "sh",
    "dash": "sh",
    "ksh": "sh",
    "mksh": "sh",
    "ash": "sh",
    "fish": "sh",
    "rbash": "sh",
    "busybox": "sh",
}

_BY_SUFFIX = {
    "py": "python",
    "pyw": "python",
    "js": "node",
    "cjs": "node",
    "mjs": "node",
    "ts": "node",
    "cts": "node",
    "mts": "node",
    "jsx": "node",
    "tsx": "node",
    "pl": "perl",
    "pm": "perl",
    "rb": "ruby",
    "php": "php",
    "awk": "awk",
    "lua": "lua",
    "r": "r",
    "jl": "julia",
    "sh": "sh",
    "bash": "sh",
    "zsh": "sh",
    "ksh": "sh",
    "command": "sh",
}


def _program(word: str) -> str | None:
    name = word.replace("\\", "/").rsplit("/", 1)[-1].lower()
    if name.endswith(".exe"):
        name = name[:-4]
    if name in _BY_PROGRAM:
        return _BY_PROGRAM[name]
    stem = name.rstrip("0123456789.").rstrip("-")  # python3.11, ruby2.7, lua5.4, python3-
    return _BY_PROGRAM.get(stem) if len(stem) > 1 else None  # r2 is no R


def language_of(program: str, script_first_line: str = "", file_name: str = "") -> str | None:
    """The language a program, a script's first line (``#!…``) or a file's name speaks: python, node, perl, ruby, php,
    awk, lua, r, julia, or sh for shells; None where it is none of these.  The program's word goes before the shebang, that
    before the suffix."""
    if program:
        found = _program(program)
        if found:
            return found
    if script_first_line.startswith("#!"):
        words = script_first_line[2:256].split()
        if words and words[0].rsplit("/", 1)[-1] == "env":
            words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        if words:
            found = _program(words[0])
            if found:
                return found
    base = file_name.replace("\\", "/").rsplit("/", 1)[-1]
    if "." in base:
        return _BY_SUFFIX.get(base.rsplit(".", 1)[-1].lower())
    return None


def read_code(language: str, source: str, known: Mapping[str, str], args: Sequence[str]) -> tuple[list[Act], bool]:
    """What ``source`` would do, and whether all of it was understood.

    ``language``  python, node, perl, ruby, php, awk, lua, r or julia
    ``known``     environment variables with a known value (HOME, PWD, TMPDIR, …); PWD is the starting directory
    ``args``      the words after the program text or the script's name

    The second value is False after a syntax error, beyond 200,000 characters (the head is still read), or when the
    work (counted in steps, never by the clock) ran out: then the acts found so far are given.  Never raises.
    """
    from .record import Record, Spent

    record = Record(known, args, source)
    if len(source) > MAX_CHARS:
        source = source[:MAX_CHARS]
        record.understood = False
    try:
        read_into(record, language, source)
    except Spent:
        record.understood = False
    except (RecursionError, MemoryError):
        record.understood = False
    except Exception:  # the gate must go on: a reader's bug reads as "not understood", never as a crash
        record.understood = False
    record.finish()
    return record.acts, record.understood


def read_into(record: object, language: str, source: str) -> None:
    """``source`` read into a record that is already there: code inside code."""
    from .record import Record

    assert isinstance(record, Record)
    if language == "python":
        from .python import read

        read(record, source)
        return
    if language not in ("node", "perl", "ruby", "php", "awk", "lua", "r", "julia"):
        record.understood = False
        return
    from .tokens import read_tokens

    read_tokens(record, "javascript" if language == "node" else language, source)
