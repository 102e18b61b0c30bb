"""Our own commands and functions: looking is free, changing the gate is for the person at the keyboard.

What is not known here to look only counts as a change, so a command that is added later is denied to an agent until
its name stands below (``tests/shell/test_own.py`` holds this table against the commands there are).
"""

from __future__ import annotations

from ..finding import ANY, Target
from ..walk import UNKNOWN_FLOW, Flow
from .options import value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..walk import Invocation

# What an agent may run: commands, and of the commands that have subcommands those ("" is the bare command).
LOOKS = frozenset(
    (
        "calibrate", "completion", "doctor", "explain", "fuzz", "gate", "help", "judge", "judges", "rank", "replay",
        "report", "rerank", "review", "rules", "score", "serve", "stats", "verify",
    )
)  # fmt: skip
LOOKS_INSIDE = {
    "budget": frozenset(("", "show", "status")),
    "ledger": frozenset(("", "export", "find", "list", "stats", "tail", "verify")),  # show has what was withheld
    "policy": frozenset(("", "check", "diff", "show")),
    "resident": frozenset(("", "status")),
}
# What turns a command that looks into one that changes something, or hands a judge all that was recorded.
_CHANGING = {
    "calibrate": ("--write",), "doctor": ("--fix",), "replay": ("--judge",), "score": ("--ask", "--keep"),
}  # fmt: skip
_HELP = ("--help", "-h")
_SWITCHES = ("--user", "--project", "--json")  # options without a value that may stand before --dry-run or a subcommand

# Modules whose functions do what the commands do, and the functions there that only look.
_MODULES = (
    "jevhook.state.", "jevhook.cli.", "jevhook.hook.", "jevhook.__main__.", "jevhook.ledger.", "jevhook.resident.",
    "jevhook.evidence.cases.", "jevhook.evidence.kept.", "jevhook.evidence.labels.", "jevhook.evidence.promoted.",
    "jevhook.evidence.prune.", "jevhook.install.", "jevhook.config.", "jevhook.hosts.claude_install.",
    "jevhook.hosts.codex_install.",
)  # fmt: skip
_LOOKING = (LOOKS - _CHANGING.keys()) | {"judging"}
_READS = frozenset(
    (
        "account_home", "all_offered", "allowed", "bound_to", "cache_dir", "capped", "case_of", "config_dir", "digest",
        "directory", "distrusted", "elide", "env_off", "event_of", "every", "failure_count", "folder", "home", "known",
        "labels", "last_settled", "mine", "move", "named_in", "new_id", "now_iso", "offered", "open_parts", "option",
        "ours", "path", "period", "place", "read", "read_bounded", "recall", "records", "row", "safe_reason", "shape",
        "status", "stopped", "switched_off", "table", "usd", "with_value", "without_last", "words", "write_failures",
    )
)  # fmt: skip


def changes(args: list[str]) -> bool:
    """Whether our command with these arguments changes the gate, as click reads them."""
    rest = args[1:] if args[:1] == ["--"] else args
    verb = rest[0] if rest else ""
    if verb[:1] == "-" or not verb:  # --help and --version end it, another option is an error
        return ANY in verb
    rest = rest[1:]
    if verb == "hook":
        return not any(arg in _HELP for arg in rest)
    first = next((k for k, arg in enumerate(rest) if arg[:1] == "-"), len(rest))
    if rest[first:] in (["--help"], ["-h"]):  # behind another option it may be that one's value
        return False
    if verb in ("install", "uninstall"):
        options = [arg for arg in rest[first:] if arg not in _SWITCHES]
        return options[:1] != ["--dry-run"]
    if any(arg.partition("=")[0] in _CHANGING.get(verb, ()) or ANY in arg[:3] for arg in rest if verb in _CHANGING):
        return True
    if verb == "ledger" and ((rest[:1] and rest[0][:1] == "-") or rest[:2] == ["label", "--list"]):
        return False  # its own options are those of tail; a list takes no label
    inside = LOOKS_INSIDE.get(verb)
    if inside is None:
        return verb not in LOOKS
    before = rest[:first] or [arg for arg in rest if arg not in _SWITCHES]
    sub = before[0] if before else ""
    if verb == "ledger" and sub == "export" and any(ANY in arg or "otlp" in arg or "--endpoint" in arg for arg in rest):
        return True  # the ledger leaves this machine
    return sub not in inside and not (sub[:1] == "-" and all(arg[:1] == "-" for arg in before))


def command(inv: Invocation) -> Flow | None:
    if changes(inv.args):
        words = [arg for arg in inv.args if arg[:1] != "-"][:2]
        withheld = words[:1] == ["ledger"] and (words[1:] == ["show"] or ANY in words[-1])
        shown = " ".join(
            [inv.name, *(words if withheld or words[:1] in (["policy"], ["budget"], ["ledger"]) else words[:1])]
        )
        fact = "withheld" if withheld else "command"
        inv.add("gate", Target("none", shown, ("gate",)), facts=(fact,), detail=shown)
    elif inv.args[:1] in (["report"], ["score"]) or inv.args[:2] == ["ledger", "export"]:
        for out in values_of(inv.args, "--out", "--answered"):
            if out != "-":
                over = "--force" in inv.args or inv.args[:1] == ["score"]
                inv.add("overwrite" if over else "write", inv.target(out))
    return None if inv.args[:1] == ["completion"] else UNKNOWN_FLOW  # what that prints is meant for the shell


def called(inv: Invocation, name: str) -> None:
    """Python code calls ``name``, a dotted name of this package."""
    if not name.startswith(_MODULES) or name.rsplit(".", 1)[-1] in _READS:
        return
    if name.startswith("jevhook.cli.") and name.split(".")[2] in _LOOKING:
        return
    inv.add("gate", Target("none", name, ("gate",)), facts=("code",), detail=name)


# Programs that write what they are given.  Only words that name the gate's or a host's own files count here.
_EDITORS = frozenset("ed ex vi vim nvim nano pico micro kak hx joe mg".split())
_PACKERS = frozenset("gzip gunzip bzip2 bunzip2 xz unxz lzma zstd unzstd compress uncompress pigz brotli".split())
_REWRITERS = frozenset(
    "sponge sd dos2unix unix2dos mac2unix recode rename mmv mount mkfifo mknod setfattr xattr chflags crudini "
    "ssh-keygen wipe unlink fallocate setfacl ditto robocopy xcopy".split()
)
_IN_PLACE = frozenset("perl ruby yq tomlq xq dasel json jaq gsed awk gawk xmlstarlet xml tidy indent gojq".split())
_FORMATTERS = frozenset("gofmt shfmt goimports prettier taplo dprint".split())
_COPYING = frozenset(("cp", "copy", "copyto", "sync", "mv", "move", "moveto", "download", "get-object", "fetch"))
_LEAVES = ("-c", "--stdout", "-l", "--list", "-t", "--test", "-k", "--keep")
_INTO = (
    "-o", "-O", "-out", "--out", "--output", "--output-file", "--output-document", "--outfile", "--out-file",
    "--outFile", "--prefix", "--target", "--output-dir", "--directory-prefix", "--dest", "--destination", "--target-file", "--log-file", "--logfile",
)  # fmt: skip
_LISTING = frozenset(("ls", "ps", "ssh", "grep", "git"))  # their -o and -O say something else
_CHANGES_THERE = frozenset(("--in-place", "--inplace", "--write", "--fix", "--overwrite", "-inplace"))
_HERE = frozenset(("localhost", "127.0.0.1", "[::1", "::1", "0.0.0.0"))
_MANAGERS = frozenset(
    "pip pip3 uv pipx conda mamba micromamba pixi poetry pdm rye hatch brew apt apt-get npm pnpm yarn bun gem "
    "claude codex gemini".split()  # their mcp and plugin commands
)
_LEAVE = frozenset(("uninstall", "remove", "rm", "un", "purge", "erase", "delete"))


def touches(inv: Invocation) -> None:
    """A program that rewrites, packs, fetches into or copies over a file of the gate or a host, whatever it is for:
    an option that says so, or a program that does nothing else."""
    name, args = inv.name, inv.args
    all_of_them = (
        name in _REWRITERS
        or (name in _EDITORS and "-R" not in args)
        or (name in _PACKERS and not any(arg in _LEAVES for arg in args))
    )
    words: list[str] = []
    if name in _MORE:
        all_of_them = all_of_them or (name == "zip" and any(arg in ("-m", "--move") for arg in args))
        words += _more(name, args)
        if name in _SERVICES and any("jevhook" in arg for arg in args) and not _SERVICE_LOOKS & set(args):
            inv.add(
                "gate", Target("none", "jevhook", ("gate",)), facts=("kill",), detail=f"{name} of the gate's process"
            )
    copying = False
    for at, arg in enumerate(args):
        if arg[:1] == "-":
            option, mark, value = arg.partition("=")
            if (option in _INTO and name not in _LISTING) or (option == "-P" and name == "wget"):
                words.append(value if mark else "".join(args[at + 1 : at + 2]))
            elif (
                option in _CHANGES_THERE
                or (arg == "-w" and name in _FORMATTERS)
                or (name in _IN_PLACE and _in_place(arg))
            ):
                all_of_them = True
        elif arg in _COPYING:
            copying = True
        elif ":" in arg:
            host, _, path = arg.rpartition("]:" if "]:" in arg else ":")
            if host.rpartition("@")[2] in _HERE:
                words.append(path)
        elif arg in _LEAVE and name in _MANAGERS:
            if any(word.partition("=")[0].lower() in ("jevhook", "jev-use") for word in args):
                inv.add("gate", Target("none", "jevhook", ("gate",)), facts=("package",), detail="removes the gate")
    if name == "script":
        words += [word for word in args if word[:1] != "-"][:1]
    if all_of_them:
        words += [word for word in args if word[:1] != "-"]
    elif copying and args[-1][:1] != "-":
        words.append(args[-1])
    for word in words[:64]:
        if not word or (word[0] == "s" and len(word) > 3 and not word[1].isalnum()):  # s/a/b/
            continue
        goal = inv.target(word)
        if "wildcard" in goal.roles and "/." not in goal.path and "jevhook" not in goal.path:
            continue  # a star matches no directory whose name starts with a dot
        if goal.roles & {"gate", "hook-settings"} and goal.kind not in ("root", "home", "system"):
            inv.add("write", goal, sure="likely", facts=("in-place",), detail=f"{name} writes it")


_SERVICES = frozenset(("systemctl", "service", "launchctl", "supervisorctl", "sv"))
_SERVICE_LOOKS = frozenset(("status", "list", "show", "cat", "print", "is-active", "list-units"))
_MORE = _SERVICES | {"7z", "7za", "7zz", "cpio", "socat", "zip"}


def _more(name: str, args: list[str]) -> list[str]:
    """Paths that some programs write and name in a way of their own."""
    if name == "cpio":
        return [value_of(args, "-D", "--directory") or ""]
    if name == "socat":  # OPEN:/path,creat
        return [arg.split(":", 1)[1].partition(",")[0] for arg in args if ":" in arg and "/" in arg]
    return [arg[2:] for arg in args if arg[:2] == "-o"]


def _in_place(arg: str) -> bool:
    """-i, -pi, -i.bak, -pie (perl); not -Mstrict, -Ilib."""
    letters = arg[1:].partition(".")[0]
    return letters[:1] not in ("", "-", "M", "m") and ("i" in letters or letters in ("I", "L")) and len(letters) <= 6


def talks(inv: Invocation) -> None:
    """A word names a socket of ours: whoever speaks there is taken for a host's hook."""
    words = [value_of(inv.args, "--unix-socket") or ""] if inv.name == "curl" else inv.args
    for word in words:
        if "jevhook" in word and "/" in word:  # UNIX-CONNECT:/…/jevhook/…,option
            spoken_to(inv, word[word.find("/") :].partition(",")[0])


def spoken_to(inv: Invocation, path: str) -> None:
    """Something connects to the socket at ``path``."""
    goal = inv.target(path)
    if "gate" in goal.roles:
        inv.add("gate", goal, facts=("socket",), detail="speaks to the gate's own process")


READERS = {"jevhook": command, "jev-use": command}
