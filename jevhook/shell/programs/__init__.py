"""What programs do: one module a family, found by name through ``index.MODULE_OF``.

A module of this room has ``READERS``, a dict from program name to ``reader(inv) -> Flow | None``.  A reader adds the
effects that only code can work out (which paths, which nested command); what a command-line tool does by its
subcommands and flags alone is a rule on the ``run`` finding in ``policies/rules/*.toml`` and needs no reader.
Adding a program is one function and its name in that module's ``READERS``, then ``scripts/docs``, which writes the
index: a line mostly needs one module or two of the twelve (2 ms of every analysed command).
"""

from __future__ import annotations

from ..finding import ANY, NAME, QMARK, STAR, Target
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .index import MODULE_OF
from .options import split_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tree import Node
    from ..walk import Invocation

    Reader = Callable[[Invocation], Flow | None]

MODULES = (
    "readers",
    "files",
    "git",
    "launch",
    "interpreters",
    "network",
    "system",
    "databases",
    "tools",
    "cloud",
    "secrets",
    "own",
)

_table: dict[str, Reader] = {}


def reader_of(name: str) -> Reader | None:
    """The reader of the program called ``name``."""
    found = _table.get(name)
    if found is None and name in MODULE_OF:
        import sys

        module = f"{__name__}.{MODULE_OF[name]}"
        __import__(module)
        found = _table[name] = sys.modules[module].READERS[name]
    return found


def judge(inv: Invocation) -> Flow:
    """Everything that starting this program would do; returns what it would print."""
    name = inv.name
    if not name:
        return NO_FLOW
    if ANY in inv.path or NAME in inv.path or STAR in inv.path or QMARK in inv.path:
        return _unknown_program(inv)
    reader = reader_of(name)
    if inv.walk.scripts and "/" in inv.path:
        known = inv.walk.scripts.get(inv.target(inv.path).path + "\0program")
        if known:  # a copy of a program that was made on this line
            name = inv.name = known
            reader = reader_of(known)
    if reader is None:
        low = name.lower()
        if low != name and low in MODULE_OF:  # macOS and Windows start the same file under any spelling
            name = inv.name = low
            reader = reader_of(low)
        else:
            reader = _family(name)
    positional, flags = split_options(name, inv.args)
    inv.walk.add(inv, "run", Target("none"), "certain", positional, flags, _env_facts(inv), "")
    if inv.env:
        exported(inv)
    from .launch import BEFORE, tail

    if inv.args:
        from .own import touches

        _guarded(touches, inv)
    if name in _SOCKET_TALKERS:
        from .own import talks

        _guarded(talks, inv)
    before = BEFORE.get(name)
    if before is not None:
        _guarded(before, inv)
    if reader is not None:
        flow = _guarded(reader, inv)
        if flow is not None:
            return flow
    else:
        if inv.args:
            _guarded(tail, inv)
        if "/" in inv.path or inv.path.endswith((".sh", ".py", ".bash")):
            from .interpreters import run_path

            return run_path(inv)
    taints = inv.taints | (inv.stdin.taints if inv.stdin is not None else frozenset())
    return Flow(
        None, taints | _SETUP if name in _SETUP_PROGRAMS or any(w in _SETUP_WORDS for w in positional[:2]) else taints
    )


_SOCKET_TALKERS = frozenset(("nc", "ncat", "netcat", "nc.openbsd", "socat", "curl", "websocat"))


def _guarded(reader: Callable[[Invocation], Flow | None], inv: Invocation) -> Flow | None:
    try:
        return reader(inv)
    except Exception as wrong:  # one reader's defect must not hide what the rest of the line does
        inv.walk.unanalysed(f"{inv.name}: {type(wrong).__name__} while reading it", inv.start, inv.end, ("failed",))
        return None


# Programs and subcommands that print shell code meant for eval and source: a tool's own set-up.
_SETUP = frozenset(("shell-setup",))
_SETUP_PROGRAMS = frozenset(
    (
        "ssh-agent",
        "dircolors",
        "lesspipe",
        "lesspipe.sh",
        "starship",
        "zoxide",
        "fnm",
        "thefuck",
        "register-python-argcomplete",
        "keychain",
        "luarocks",
        "opam",
        "hcloud",
    )
)
_SETUP_WORDS = frozenset(
    (
        "init",
        "env",
        "shellenv",
        "hook",
        "activate",
        "completion",
        "completions",
        "docker-env",
        "show-env",
        "podman-env",
        "shell-init",
        "shell-hook",
        "gen-completions",
    )
)


_VERSIONED = ("python", "pypy", "pip", "ruby", "perl", "php", "lua", "julia", "node", "bash", "zsh", "ksh", "make")


def _family(name: str) -> Reader | None:
    """Names with a version or a variant behind them (python3.11, mkfs.ext4) or in another case (GIT on macOS)."""
    stem = name.rstrip("0123456789.-")
    if stem in _VERSIONED:
        return reader_of(stem)
    if name.startswith(("mkfs.", "newfs_")):
        return reader_of("mkfs")
    return None


def _unknown_program(inv: Invocation) -> Flow:
    """The program itself is not known: with arguments that would destroy, that is a finding of its own."""
    facts: tuple[str, ...] = ("program",)
    if inv.taints & {"network", "decoded"}:
        kind = "run-remote-code" if "network" in inv.taints else "run-decoded"
        inv.add(kind, Target("unknown"), sure="likely", detail="the program comes out of a substitution")
        return UNKNOWN_FLOW
    letters = "".join(a[1:] for a in inv.args if a[:1] == "-" and a[1:2] != "-" and len(a) <= 5).lower()
    if ("r" in letters or "--recursive" in inv.args) and ("f" in letters or "--force" in inv.args):
        facts = ("program", "destructive-flags")
        for arg in inv.args:
            if arg[:1] != "-":
                inv.add("delete", inv.target(arg), sure="unknown", facts=("recursive", "force", "unknown-program"))
    inv.add(
        "run-unknown",
        Target("unknown", inv.path),
        sure="unknown",
        facts=facts,
        detail="a program that is not known here",
    )
    return UNKNOWN_FLOW


def _env_facts(inv: Invocation) -> tuple[str, ...]:
    """("production",) when a word or an assignment in front names a production system."""
    for text in inv.args:
        if ("pr" in text or "PR" in text or "Pr" in text or "ive" in text or "IVE" in text) and _production(
            text.lower()
        ):
            return ("production",)
    for text in inv.env.values():
        if _production(text.lower()):
            return ("production",)
    return ()


def _production(low: str) -> bool:
    """Whether a text names a production system: the word stands alone between separators."""
    word = ""
    for c in low + " ":
        if "a" <= c <= "z":
            word += c
        else:
            if word in ("production", "prod", "prd", "live"):
                return True
            word = ""
    return False


def exported(inv: Invocation) -> None:
    """Assignments that make a later or the same program run something else or trust something else."""
    from .system import judge_environment

    judge_environment(inv)


def code_taints(inv: Invocation, taints: frozenset[str]) -> None:
    """Code that is about to run came from somewhere: say so."""
    from .interpreters import tainted_code

    tainted_code(inv, taints)


def network_shell(inv: Invocation) -> None:
    """A shell whose input or output is a network connection."""
    from .network import shell_on_socket

    shell_on_socket(inv)


def fork_bomb(name: str, body: Node) -> bool:
    """Whether a function's body starts the function again, twice or in the background."""
    from .system import fork_bomb as starts_itself

    return starts_itself(name, body)
