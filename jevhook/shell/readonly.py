"""What provably only looks: the one tier that may be granted without asking, and that needs no further work.

``proven`` judges a line that was walked, ``plainly`` one simple command by its text alone; both use the same tables,
and what ``plainly`` accepts is always proven.  Everything is a list of what is known to be harmless; whatever nobody
listed is not proven.  The programs of which any argument is harmless are here, the others in ``harmless.py``.
"""

from __future__ import annotations

import os

from .finding import ANY, NAME, QMARK, STAR
from .paths import secret_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .calls import Reading
    from .finding import Finding
    from .paths import Place

MAX_WORDS = 60  # the walk keeps 64 words of one expansion: a longer line may have lost an option
MAX_CALLS = 15  # and 16 calls of one xargs -I

# -- tables ----------------------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# No option writes, sends or runs anything, and the content of an operand isn't printed.
LOOKS = _words(
    """
    ls dir vdir pwd echo true false test [ : basename dirname realpath readlink stat du df wc uname nproc whoami
    id groups logname tty users who w uptime free lscpu lsblk lsusb lspci lsmod lsattr getfacl namei pgrep pidof
    pstree vmstat mpstat netstat which whereis type locale getconf cal seq sleep expr factor numfmt md5sum
    sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum size readelf sw_vers vm_stat mdls
    mdfind exa eza lsd tokei zipinfo pathchk apropos whatis otool
    """
)
# The same, but the content of operands is printed.
READS = _words(
    """
    cat tac head tail nl od hexdump hd strings cut paste comm join fold fmt rev expand unexpand column cmp diff
    tr grep egrep fgrep zcat bzcat xzcat gzcat pr look
    """
)
# The first operand is a pattern, a filter or a script, not a file.
PATTERN = _words("grep egrep fgrep rg ag jq yq sed awk gawk mawk nawk tr look")
LAUNCHERS = _words(
    """
    command builtin time nice timeout gtimeout stdbuf ionice env xargs bash sh dash zsh ksh caffeinate noglob
    nocorrect
    """
)
SHELLS = _words("bash sh dash zsh ksh")

# Builtins that change nothing but the shell that ends with the call.
_BUILTINS = _words(
    """
    cd chdir pushd popd pwd echo printf : true false test [ return break continue exit wait jobs dirs sleep
    shift umask read set export declare local readonly typeset unset shopt
    """
)
_NO_PROGRAM = _BUILTINS | {"type", "command", "builtin", "time", "noglob", "nocorrect"}

_TRUSTED_DIRS = _words("/bin /usr/bin /sbin /usr/sbin /usr/local/bin /opt/homebrew/bin /opt/local/bin")

# Variables that make a program run, load or trust something else, by a piece of their name.
_LOUD = _words(
    """
    PATH OPT PAGER EDIT VISUAL CONF PROXY HOME LOAD SHELL COMMAND BROWSER ENV DIFF FLAGS ASK HOST URL LIB
    INCLUDE RC IFS PS4 PS1 XDG_ LD_ DYLD_ GIT_ PYTHON NODE PERL RUBY JAVA LESS MAN AWS_ AZURE_ CLOUDSDK_ DOCKER
    HELM KUBE TF_ PIP_ NPM_ UV_ CARGO RUST GO GH_ BREW DIR GLOB SSL CERT TERMINFO SYSTEMD OPENSSL BASH ZDOT FZF_
    RIPGREP TAR_ GZIP XZ_ BAT_ MAGIC NLSPATH EXEC TOOL WRAP CMD PLUGIN CC CXX
    """
)
_QUIET = _words(
    """
    NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE LANG LC_ALL LC_CTYPE TZ COLUMNS LINES TERM LS_COLORS
    PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE AWS_REGION AWS_DEFAULT_REGION AWS_PAGER GIT_PAGER PAGER MANPAGER
    GH_PAGER GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT HOMEBREW_NO_AUTO_UPDATE HOMEBREW_NO_ANALYTICS
    """
)
# Lower-case names that mean something to zsh.
_ZSH = _words(
    """
    path cdpath fpath manpath mailpath module_path prompt psvar argv options aliases galiases saliases functions
    commands dirstack nameddirs widgets parameters modules histchars fignore watch status
    """
)

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,~ -")
_SENTINELS = (ANY, NAME, STAR, QMARK)


# -- the doors -------------------------------------------------------------------------------------------------


def proven(reading: Reading, place: Place) -> bool:
    """Whether the whole call provably only looks."""
    walk = reading.trace
    if walk is None:
        return reading.looks
    from .walk import MAX_WORK

    if walk.spent > MAX_WORK or "/dev/pts/" in reading.command:
        return False
    nested = False
    for name, args in walk.builtins:
        if name == "code":
            nested = True
        elif not _builtin(name, args, place):
            return False
    if any(not _quiet(name, value) for name, value in walk.assigned):
        return False
    if any(path[: path.rfind("/")] not in _TRUSTED_DIRS for path in walk.paths):
        return False
    calls = 0
    for finding in reading.findings:
        if finding.effect != "run" or finding.facts & {"remote", "container", "root-user"}:
            return False
        if not _call(finding.program, finding.words, place):
            return False
        if "xargs" in finding.facts:
            calls += 1
            if calls > MAX_CALLS or not (_soft(finding.program) or _named_whole(finding)):
                return False
    text = reading.command
    if _tricky(text, bool(walk.assigned)):
        return False
    if "$" not in text and "`" not in text and "=(" not in text:
        return True
    if _secret_variable(text):
        return False
    if nested:  # what an inner shell makes of its own expansions is not followed here
        if walk.assigned or "${" in text or "$0" in text:
            return False
        return all(_soft(f.program) or f.program in LAUNCHERS for f in reading.findings)
    if walk.body is None:
        return False
    named = {name for name, _ in walk.assigned}
    from .exactly import Lines

    first = Lines(named, _counts(text))
    second = Lines(named, _counts(text))
    if not first.node(walk.body, frozenset(), True):
        return False
    second.loose = first.loose  # a variable that is set again further down is not known anywhere
    if not second.node(walk.body, frozenset(), True):
        return False
    return all(_soft(f.program) or (f.start, f.end) not in second.open for f in reading.findings)


def plainly(command: str, cwd: str = "") -> bool:
    """Whether ``command`` is one simple command that needs no walk to be proven: ordinary characters, a known program.

    ``cwd`` is where operands are looked at: a link to a secret is a secret."""
    if not _PLAIN.issuperset(command) or len(command) > 2000:
        return False
    words = command.split()
    if not words or len(words) > MAX_WORDS:
        return False
    name, args = words[0], words[1:]
    if (
        name in LAUNCHERS
        or "/" in name
        or "=" in name
        or (name in _BUILTINS and name not in ("echo", "pwd", "true", "sleep"))
    ):
        return False
    for word in words:
        if word[0] == "=" or (word[0] == "~" and word[1:2] not in ("", "/")) or "/dev/" in word or "/proc/" in word:
            return False
    home = os.environ.get("HOME", "") if any(word[0] == "~" for word in words) else ""
    args = [home + word[1:] if word[0] == "~" and home else word for word in args]
    if not _known(name, args):
        return False
    if not _shows(name):
        return True
    for word in args:
        if word[0] != "-" and cwd[:1] == "/":
            real = os.path.realpath(os.path.join(cwd, word)).lower()
            if secret_name(real) or real.endswith("_history"):
                return False
    return True


def shadowed(programs: Iterable[str], place: Place, env: Mapping[str, str]) -> str:
    """The first of ``programs`` that would not be taken from a trusted place, "" when all would.

    Not trusted: a file inside the judged project or a temporary directory, one found through a relative or empty
    entry of PATH, and what somebody else than its owner can write."""
    entries = env.get("PATH", "").split(os.pathsep)
    temps = [*place.temps, *([place.project] if place.project else [])]
    for name in programs:
        if f"BASH_FUNC_{name}%%" in env:
            return name
        if "/" in name:
            if _writable(name, temps):
                return name
            continue
        if name in _NO_PROGRAM:
            continue
        for entry in entries:
            file = os.path.join(entry or ".", name)
            if entry[:1] != "/":
                file = os.path.join(place.project or ".", file)
            if not os.path.isfile(file) or not os.access(file, os.X_OK):
                continue
            if entry[:1] != "/" or _writable(file, temps):
                return name
            break
    return ""


def programs_of(reading: Reading) -> list[str]:
    """What the call would start, as written."""
    found = {f.program: None for f in reading.findings if f.effect == "run"}
    if reading.trace is not None:
        found.update(dict.fromkeys(reading.trace.paths))
    return list(found)


def _writable(file: str, temps: list[str]) -> bool:
    real = os.path.realpath(file)
    for path in (file, real):
        if any(path.startswith(temp + "/") for temp in temps):
            return True
        for one in (path, os.path.dirname(path)):
            try:
                if os.stat(one).st_mode & 0o022:
                    return True
            except OSError:
                return True
    return False


# -- one program -----------------------------------------------------------------------------------------------


def _soft(name: str) -> bool:
    """Whether any argument at all is harmless."""
    return name in LOOKS or name in READS


def _named_whole(finding: Finding) -> bool:
    """Whether xargs hands on names that begin with a directory, each as one word: none can become an option."""
    if finding.program in LAUNCHERS:
        return True
    return "splits-names" not in finding.facts and any(STAR in word for word in finding.words)


def _call(name: str, args: list[str], place: Place) -> bool:
    if name in LAUNCHERS:
        return _launcher(name, args)
    if len(args) > MAX_WORDS and name not in LOOKS:
        return False
    if not _known(name, args):
        return False
    if not _shows(name):
        return True
    from .paths import classify

    for word in operands(name, args):
        target = classify(word, place.project, place) if word else None
        if target is not None and target.roles & {"secret", "history"}:
            return False
    return True


def _known(name: str, args: list[str]) -> bool:
    if name in LOOKS:
        return True
    if name in READS:
        return all(readable(word) for word in operands(name, args))
    from .harmless import known

    return known(name, args)


def _shows(name: str) -> bool:
    """Whether the program prints what is in its operands."""
    if name in LOOKS or name in READS:
        return name in READS
    from .harmless import CONTENT

    return name in CONTENT


def operands(name: str, args: list[str]) -> list[str]:
    """The words whose content would be printed."""
    skip = (
        1
        if name in PATTERN
        and not any(
            a in ("-e", "-f", "--regexp", "--file", "--files", "--expression") or a[:9] == "--regexp=" for a in args
        )
        else 0
    )
    found: list[str] = []
    valued = False
    plain = False
    for arg in args:
        if not plain and arg == "--":
            plain = True
        elif not plain and arg[:1] == "-" and len(arg) > 1:
            valued = len(arg) == 2
            if name == "git" and ":" in arg:
                found.append(arg[arg.rfind(":") + 1 :])
            elif (
                "=" in arg
                and not arg.startswith(("--exclude", "--include", "--glob", "--iglob", "--ignore"))
                and not any(m in arg for m in _SENTINELS)
            ):
                found.append(arg.partition("=")[2])
            continue
        elif skip and not (valued and (arg.isdigit() or ANY in arg or NAME in arg)):
            skip -= 1
        elif not (valued and (ANY in arg or NAME in arg)):  # a count
            found.append(arg[arg.rfind(":") + 1 :] if name == "git" and ":" in arg else arg)
        valued = False
    return found


def readable(word: str) -> bool:
    """Whether the content of this operand may be shown: no secret by its name, and the name is known."""
    if secret_name("/" + word.lower()) or word.endswith(("_history", ".zhistory", ".histfile")):
        return False
    if "/proc/" in word and not word.startswith(
        ("/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg", "/proc/uptime", "/proc/mounts")
    ):
        return False
    if word.startswith("/dev/fd/"):
        return True  # <(…): what is in it has findings of its own
    at = max(word.rfind(ANY), word.rfind(NAME))
    if at >= 0 and "/" not in word[at:]:
        return word[at + 1 : at + 2] == "." and len(word) > at + 2  # "$name.py": the ending says what it is
    return True


def forbidden(args: Iterable[str], options: list[str], long_dash: bool = False) -> bool:
    """Whether one of ``options`` stands in ``args``, abbreviated or bundled."""
    letters = [o[1] for o in options if len(o) == 2]
    for arg in args:
        if arg[:1] != "-" or len(arg) < 2:
            continue
        name = arg.partition("=")[0]
        if name in options:
            return True
        if long_dash:  # one dash or two
            if any(o.lstrip("-").lower() == name.lstrip("-").lower() for o in options):
                return True
            continue
        if name[:2] == "--":
            if len(name) > 3 and any(o.startswith(name) for o in options):
                return True
        elif any(c in name[1:] for c in letters):
            return True
    return False


# -- launchers -------------------------------------------------------------------------------------------------


def _launcher(name: str, args: list[str]) -> bool:
    """A launcher whose own part is harmless; what it starts has a finding of its own."""
    if name in SHELLS:
        return _shell(args)
    if name == "xargs":
        return _xargs(args)
    if name == "env":
        return _env(args)
    if name == "command" and args[:1] in (["-v"], ["-V"]):
        return True
    if not any(a[:1] != "-" for a in args):
        return False
    if name == "time" or name == "ionice":
        for arg in args:
            if arg[:1] != "-":
                break
            if arg not in ("-p", "-v", "-l") if name == "time" else arg[:2] not in ("-c", "-n", "-t"):
                return False  # GNU time -o writes; ionice -p is about another process
    return not (ANY in args[0] or NAME in args[0] or args[0][:1] in (STAR, QMARK))


def _shell(args: list[str]) -> bool:
    i = 0
    while i < len(args):
        arg = args[i]
        if arg in ("-o", "-O", "+o", "+O"):
            i += 2
            continue
        if arg in ("--login", "--norc", "--noprofile", "--posix"):
            i += 1
            continue
        if arg[:1] != "-" or arg[:2] == "--" or len(arg) < 2 or not arg[1:].isalpha() or "s" in arg:
            return False
        i += 1
        if "c" in arg:
            # a name put into the code by xargs or find would be read as code
            return i < len(args) and bool(args[i].strip()) and not any(mark in args[i] for mark in _SENTINELS)
    return False


# Whose value is the next word.  Not --max-lines, --eof, -e, -i, -l: theirs is optional and stands in the same word.
XARGS_VALUED = (
    "-I",
    "-n",
    "-P",
    "-L",
    "-s",
    "-d",
    "-E",
    "-a",
    "-J",
    "-R",
    "-S",
    "--max-args",
    "--max-procs",
    "--delimiter",
    "--arg-file",
    "--max-chars",
    "--process-slot-var",
)


def _xargs(args: list[str]) -> bool:
    i = 0
    while i < len(args) and args[i][:1] == "-" and args[i] != "--":
        arg = args[i]
        if (
            any(mark in arg for mark in _SENTINELS)
            or arg in ("-p", "--interactive", "-o", "--open-tty")
            or (arg[1:2] != "-" and len(arg) > 2 and arg[1] in "rtx0" and set(arg) & set("po"))
        ):
            return False
        value = (
            args[i + 1]
            if arg in ("-a", "--arg-file") and i + 1 < len(args)
            else arg.partition("=")[2]
            if arg[:10] == "--arg-file"
            else ""
        )
        if value and not readable(value):
            return False
        i += 2 if arg in XARGS_VALUED else 1
    return i + (args[i : i + 1] == ["--"]) < len(args)


def _env(args: list[str]) -> bool:
    """``env`` alone would print every variable: credentials are among them."""
    i = 0
    while i < len(args):
        arg = args[i]
        if arg in ("-u", "--unset", "-C", "--chdir"):
            i += 2
        elif arg in ("-i", "--ignore-environment", "-", "--", "-0", "--null") or arg.startswith(
            ("--chdir=", "--unset=")
        ):
            i += 1
        elif arg[:1] == "-":
            return False
        elif "=" in arg:
            name, _, value = arg.partition("=")
            if not _quiet(name, value):
                return False
            i += 1
        else:
            return ANY not in arg and NAME not in arg
    return False


# -- the shell's own part --------------------------------------------------------------------------------------


def _quiet(name: str, value: str) -> bool:
    """Whether setting this variable leaves alone what programs do."""
    if name in _QUIET:
        return "PAGER" not in name or value in ("", "cat", "less")
    if not name.isidentifier() or name in _ZSH:
        return False
    if name == name.lower():
        return "_config" not in name and "proxy" not in name
    upper = name.upper()
    return not any(mark in upper for mark in _LOUD)


def _builtin(name: str, args: list[str], place: Place) -> bool:
    if name == "<":  # an input redirection: the file's content is shown or handed on
        return all(readable(a) for a in args)
    if name not in _BUILTINS:
        return False
    if name in ("cd", "chdir", "pushd"):
        return not any(secret_name((a + "/x").lower()) for a in args)
    if name == "printf":
        return args[:1] != ["-v"]
    if name in ("test", "["):
        return "-v" not in args and "-R" not in args
    if name == "set":
        return bool(args) and all(a[:1] in "-+" or args[k - 1][-1:] == "o" for k, a in enumerate(args))
    if name in ("export", "declare", "local", "readonly", "typeset"):
        pairs = [a.partition("=") for a in args if a[:1] not in "-+"]
        return (
            bool(pairs)
            and all(mark and _quiet(key, value) for key, mark, value in pairs)
            and not any(set(a[1:]) - set("rxga") for a in args if a[:1] in "-+")
        )
    if name in ("unset", "read"):
        flags = [k for k, a in enumerate(args) if a[:1] == "-"]
        values = (
            {k + 1 for k in flags if args[k][-1:] in ("p", "d", "n", "N", "t", "u", "i")} if name == "read" else set()
        )
        return all(_quiet(a, "") for k, a in enumerate(args) if a[:1] != "-" and k not in values)
    if name == "shopt":
        return "expand_aliases" not in args
    return True


def _tricky(text: str, sets: bool) -> bool:
    """Forms whose expansion the walk does not follow to the end, and arithmetic that sets variables."""
    if "(" in text and any(mark in _unquoted(text) for mark in _QUALIFIED):
        return True
    if "$[" in text or "coproc" in text or (sets and ("]=" in text or "]+=" in text)):
        return True
    at = text.find("((")
    while at >= 0:
        end = text.find("))", at)
        inside = text[at + 2 : end if end >= 0 else len(text)]
        for harmless in ("==", "!=", "<=", ">="):
            inside = inside.replace(harmless, "")
        if "=" in inside or "++" in inside or "--" in inside:
            return True
        at = text.find("((", at + 2)
    if "[[" in text and "=" in text and any(op in text for op in _NUMERIC):
        return True
    at = text.find("${")
    while at >= 0:
        i = at + 2
        while i < len(text) and (text[i] in "#!" or text[i].isalnum() or text[i] == "_"):
            i += 1
        if text[i : i + 1] == "[":
            close = text.find("]", i)
            inside = text[i + 1 : close] if close > 0 else "?"
            if inside not in ("@", "*") and not inside.isdigit():
                return True
        elif text[i : i + 1] == "(":
            return True  # a flag of zsh
        at = text.find("${", at + 2)
    return False


def _unquoted(text: str) -> str:
    """The text without what stands in quotes; all of it where that is not plain to see."""
    if "<<" in text or "#" in text or "$'" in text or any(shell in text for shell in (" -c", " -lc", "xargs", "-exec")):
        return text
    out: list[str] = []
    i, n = 0, len(text)
    while i < n:
        c = text[i]
        if c == "\\":
            i += 2
        elif c == "'":
            i = text.find("'", i + 1) + 1 or n
        elif c == '"':
            i += 1
            while i < n and text[i] != '"':
                if text[i] in "$`":
                    return text
                i += 2 if text[i] == "\\" else 1
            i += 1
        else:
            out.append(c)
            i += 1
    return "".join(out)


# An extended glob to bash; zsh may find code in it.
_QUALIFIED = ("*(", "?(", "+(", "@(", "!(")
_NUMERIC = (" -eq ", " -ne ", " -lt ", " -le ", " -gt ", " -ge ")


def _counts(text: str) -> bool:
    """Whether there is arithmetic in the text: it runs substitutions that stand in a variable's value."""
    return "((" in text or ("[[" in text and any(op in text for op in _NUMERIC))


def _secret_variable(text: str) -> bool:
    """Whether a variable is read that holds a credential by its name."""
    at = text.find("$")
    while at >= 0:
        i = at + 1
        while i < len(text) and (text[i] in "{#!" or text[i].isalnum() or text[i] == "_"):
            i += 1
        name = text[at + 1 : i].lstrip("{#!").upper()
        if any(
            mark in name
            for mark in (
                "TOKEN",
                "SECRET",
                "PASS",
                "_KEY",
                "APIKEY",
                "CREDENTIAL",
                "_PAT",
                "AUTH",
                "COOKIE",
                "_DSN",
                "DATABASE_URL",
            )
        ):
            return True
        at = text.find("$", i)
    return False
