"""Programs whose effect is on files: rm, mv, cp, dd, find, chmod, tar, sed -i, and their kin."""

from __future__ import annotations

from ..finding import ANY, NAME, STAR, Target
from ..paths import is_within
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .options import has, operands, value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..walk import Invocation


def rm(inv: Invocation) -> Flow:
    facts = []
    if has(inv.args, "-r", "-R", "--recursive", "-d") and has(inv.args, "-r", "-R", "--recursive"):
        facts.append("recursive")
    if has(inv.args, "-f", "--force"):
        facts.append("force")
    if has(inv.args, "-i", "-I", "--interactive") and "force" not in facts:
        facts.append("interactive")
    if has(inv.args, "--help", "--version"):
        return UNKNOWN_FLOW
    if "--no-preserve-root" in inv.args:
        facts.append("no-preserve-root")
    for path in operands(inv.args):
        _delete(inv, path, facts)
    return NO_FLOW


def _delete(inv: Invocation, path: str, facts: list[str]) -> None:
    target = inv.target(path)
    # rm refuses "/" without --no-preserve-root and always refuses "." and ".."; the wish is judged, not the refusal
    inv.add("delete", target, facts=tuple(facts))


def rmdir(inv: Invocation) -> Flow:
    for path in operands(inv.args):
        inv.add("delete", inv.target(path), facts=("empty-only",))
    return NO_FLOW


def windows_del(inv: Invocation) -> Flow:
    """``del``, ``erase``, ``rd``: options begin with a slash."""
    switches = {a.lower() for a in inv.args if a[:1] == "/" and len(a) <= 3}
    facts = ["recursive"] if "/s" in switches else []
    if "/q" in switches or "/f" in switches:
        facts.append("force")
    for path in inv.args:
        if not (path[:1] == "/" and len(path) <= 3):
            _delete(inv, path, facts)
    return NO_FLOW


def shred(inv: Invocation) -> Flow:
    facts = ("recursive", "force", "shred") if has(inv.args, "-r", "-R") else ("force", "shred")
    for path in operands(inv.args, "-n", "-s", "--iterations", "--size", "--random-source"):
        target = inv.target(path)
        inv.add("format" if target.kind == "device" else "delete", target, facts=facts)
    return NO_FLOW


def mv(inv: Invocation) -> Flow:
    paths = operands(inv.args, "-S", "--suffix", "-t", "--target-directory")
    into = value_of(inv.args, "-t", "--target-directory")
    if into is None and len(paths) >= 2:
        into = paths.pop()
    for path in paths:
        target = inv.target(path)
        moved_out = into is not None and inv.target(into).kind in ("null", "temp", "temp-root")
        inv.add(
            "move",
            target,
            facts=("to-null",)
            if into is not None and inv.target(into).kind == "null"
            else ("to-temp",)
            if moved_out
            else (),
        )
    if into is not None:
        _written(
            inv, into, paths, "overwrite" if not has(inv.args, "-n", "--no-clobber", "-b", "--backup") else "write"
        )
    return NO_FLOW


def cp(inv: Invocation) -> Flow:
    paths = operands(
        inv.args, "-S", "--suffix", "-t", "--target-directory", "-m", "-o", "-g", "--mode", "--owner", "--group"
    )
    into = value_of(inv.args, "-t", "--target-directory")
    if inv.name == "install" and has(inv.args, "-d", "--directory"):
        return NO_FLOW
    if into is None and len(paths) >= 2:
        into = paths.pop()
    for path in paths:
        _copied_secret(inv, path, into)
    if into is not None:
        _written(
            inv, into, paths, "write" if has(inv.args, "-n", "--no-clobber", "-b", "--backup", "-i") else "overwrite"
        )
    return NO_FLOW


def _copied_secret(inv: Invocation, path: str, into: str | None) -> None:
    """A copy of a secret beside the project's own, under a name that is still known as one, gives nothing away."""
    source = inv.target(path)
    if "secret" not in source.roles:
        _read_paths(inv, [path])
        return
    goal = inv.target(into) if into is not None else source
    if "secret" not in goal.roles and into is not None:
        goal = inv.target(into.rstrip("/") + "/" + path.rstrip("/").rsplit("/", 1)[-1])
        if not (into.endswith("/") or into in (".", "..") or inv.walk.world.kind(inv.target(into).path) == "dir"):
            goal = inv.target(into)
    own = ("project", "build", "home-item", "project-parent", "unknown")
    kept = "secret" in goal.roles and source.kind in own and goal.kind in own
    inv.add("read-secret", source, facts=("copy", "kept") if kept else ("copy",))


def _written(inv: Invocation, into: str, sources: list[str], effect: str) -> None:
    """What lands at ``into``: the file itself, or each source's name in the directory."""
    target = inv.target(into)
    for mount, host in inv.walk.mounts.items():
        if is_within(target.path, mount):
            from .network import send

            for source in sources[:8]:
                send(inv, host, path=source, facts=("copy",))
    is_dir = (
        into.endswith("/")
        or into in (".", "..")
        or inv.walk.world.kind(target.path) == "dir"
        or target.kind in ("home", "project-root", "temp-root", "root")
    )
    facts: tuple[str, ...] = ("copy",)
    if sources == ["/dev/null"]:
        facts = ("copy", "emptied", *_existing(inv, target))
    if is_dir and sources:
        for source in sources:
            name = source.rstrip("/")
            name = name[name.rfind("/") + 1 :]
            if STAR in name:
                inv.add("write", target, facts=facts)
                continue
            inv.add(
                "write" if effect == "write" else effect,
                inv.target(into.rstrip("/") + "/" + name if into != "/" else "/" + name),
                facts=facts,
            )
    else:
        inv.add(effect, target, facts=facts)
        _copied_script(inv, sources, target)


def _copied_script(inv: Invocation, sources: list[str], target: Target) -> None:
    """A copy of a script written on this line can be run under its new name."""
    if len(sources) == 1:
        text = inv.walk.scripts.get(inv.target(sources[0]).path)
        if text is not None and target.path:
            inv.walk.scripts[target.path] = text


def ln(inv: Invocation) -> Flow:
    paths = operands(inv.args, "-t", "--target-directory", "-S", "--suffix")
    if len(paths) == 2:
        inv.add("overwrite" if has(inv.args, "-f", "--force") else "write", inv.target(paths[1]), facts=("link",))
        goal = inv.target(paths[0])
        if goal.roles & {"secret", "gate", "hook-settings"}:
            inv.add("read-secret" if "secret" in goal.roles else "gate", goal, facts=("link",), sure="likely")
    return NO_FLOW


def _existing(inv: Invocation, target: Target) -> tuple[str, ...]:
    """("existing",) when the file that would be emptied has content now."""
    return ("existing",) if not inv.scope.where and inv.walk.world.size(target.path) > 0 else ()


def dd(inv: Invocation) -> Flow:
    source = target = ""
    for arg in inv.args:
        if arg.startswith("of="):
            target = arg[3:]
        elif arg.startswith("if="):
            source = arg[3:]
    flow = _read_paths(inv, [source] if source else [])
    if target:
        goal = inv.target(target)
        if goal.kind == "device":
            inv.add("format", goal, facts=("raw",))
        elif goal.kind != "null":
            facts: tuple[str, ...] = ("blank",) if source in ("/dev/zero", "/dev/random", "/dev/urandom") else ()
            if source == "/dev/null":
                facts = ("emptied", *_existing(inv, goal))
            inv.add("overwrite", goal, facts=facts)
        return NO_FLOW
    return flow


def truncate(inv: Invocation) -> Flow:
    size = value_of(inv.args, "-s", "--size") or ""
    for path in operands(inv.args, "-s", "--size", "-r", "--reference"):
        grows = size[:1] == "+"
        target = inv.target(path)
        facts = ("truncate", "emptied", *_existing(inv, target)) if size in ("0", "") else ("truncate",)
        inv.add("write" if grows else "overwrite", target, facts=facts)
    return NO_FLOW


def tee(inv: Invocation) -> Flow:
    append = has(inv.args, "-a", "--append")
    taints = inv.stdin.taints if inv.stdin is not None else frozenset()
    for path in operands(inv.args):
        target = inv.target(path)
        if target.kind == "device":
            inv.add("format", target, facts=("raw",))
        elif target.kind != "null":
            inv.add("write" if append else "overwrite", target, facts=("append",) if append else ("redirect",))
            if inv.stdin is not None and inv.stdin.text is not None and target.path:
                inv.walk.scripts[target.path] = inv.stdin.text
            elif taints & {"network", "decoded"} and target.path:
                inv.walk.scripts[target.path + "\0taint"] = ",".join(sorted(taints))
    return inv.stdin or UNKNOWN_FLOW


def chmod(inv: Invocation) -> Flow:
    words = operands([a for a in inv.args if not (a[:1] == "-" and a[1:2] in "rwxXst" and len(a) > 1)], "--reference")
    symbolic = [a for a in inv.args if a[:1] == "-" and len(a) > 1 and a[1] in "rwxst" and not a.startswith("--")]
    mode = symbolic[0] if symbolic else (words.pop(0) if words else "")
    facts = ["recursive"] if has(inv.args, "-R", "--recursive") else []
    if _world_writable(mode):
        facts.append("world-writable")
    if mode in ("000", "0", "00", "0000", "a-rwx", "a=", "-rwx", "ugo-rwx"):
        facts.append("locked-out")
    if _setuid(mode):
        facts.append("setuid")
    for path in words:
        inv.add("permissions", inv.target(path), facts=tuple(facts), detail=f"chmod {mode}")
    return NO_FLOW


def _setuid(mode: str) -> bool:
    """u+s, +s, 4755, 6755; the group bit alone is how shared directories are made."""
    if mode.isdigit():
        return len(mode) == 4 and mode[0] in "4567"
    for clause in mode.split(","):
        for op in "+=":
            who, mark, what = clause.partition(op)
            if mark and "s" in what and ("u" in who or "a" in who or who == ""):
                return True
    return False


def _world_writable(mode: str) -> bool:
    if mode.isdigit() and len(mode) >= 3:
        return mode[-1] in "2367"
    if ANY in mode:
        return False
    for clause in mode.split(","):
        for op in "+=":
            who, mark, what = clause.partition(op)
            if mark and "w" in what and ((who == "" and op == "=") or "o" in who or "a" in who):
                return True
    return False


def chown(inv: Invocation) -> Flow:
    words = operands(inv.args, "--from", "--reference")
    facts = ("recursive",) if has(inv.args, "-R", "--recursive") else ()
    for path in words[1:]:
        inv.add("permissions", inv.target(path), facts=(*facts, "owner"), detail=f"{inv.name} {words[0]}")
    return NO_FLOW


def setfacl(inv: Invocation) -> Flow:
    facts = ("recursive",) if has(inv.args, "-R", "--recursive") else ()
    for path in operands(inv.args, "-m", "-x", "-M", "-X", "--modify", "--remove")[:8]:
        inv.add("permissions", inv.target(path), facts=facts)
    return NO_FLOW


def mkfs(inv: Invocation) -> Flow:
    paths = operands(inv.args, "-t", "-L", "-U", "-b", "-O", "-E", "-m", "-N", "-i", "-T", "-n", "-F", "-s", "-S", "-I")
    for path in paths[:1] or ["\0"]:
        target = inv.target(path)
        if target.kind in ("device", "unknown", "unknown-root"):
            inv.add("format", target)
        else:  # a disk image in a file
            inv.add("overwrite", target, facts=("image",))
    return NO_FLOW


def partition(inv: Invocation) -> Flow:
    if has(inv.args, "-l", "--list", "--version", "--help", "-V", "-d", "--dump", "-s", "-x") or "print" in inv.args:
        return UNKNOWN_FLOW
    for path in operands(inv.args)[:1]:
        inv.add("format", inv.target(path), facts=("partition",))
    return NO_FLOW


def wipefs(inv: Invocation) -> Flow:
    if has(inv.args, "-a", "--all", "-o", "--offset", "-f") or inv.name != "wipefs":
        for path in operands(inv.args, "-o", "--offset", "-t")[:4]:
            inv.add("format", inv.target(path))
    return UNKNOWN_FLOW


def find(inv: Invocation) -> Flow:
    args = inv.args
    roots: list[str] = []
    i = 0
    while i < len(args) and args[i] in ("-H", "-L", "-P", "-D", "-O1", "-O2", "-O3"):
        i += 2 if args[i] == "-D" else 1
    while i < len(args) and (args[i][:1] not in "-(!" or args[i][:1] == "") and args[i] not in ("\\(", "(", "!"):
        roots.append(args[i])
        i += 1
    roots = roots or ["."]
    patterns: list[str] = []
    for tests in _alternatives(_find_tests(args[i:])):
        patterns += _find_part(inv, roots, tests)
    return Flow(None, frozenset(), patterns)


def _alternatives(tests: list[str]) -> list[list[str]]:
    """The expression cut at ``-o`` outside parentheses: each part has its own tests and its own action."""
    parts: list[list[str]] = [[]]
    depth = 0
    inside = False
    for test in tests:
        if inside:
            inside = test not in (";", "\\;", "+")
        elif test in ("-exec", "-execdir", "-ok", "-okdir"):
            inside = True
        elif test in ("(", "\\("):
            depth += 1
        elif test in (")", "\\)"):
            depth -= 1
        elif test in ("-o", "-or", ",") and depth <= 0:
            parts.append([])
            continue
        parts[-1].append(test)
    return parts


def _find_part(inv: Invocation, roots: list[str], tests: list[str]) -> list[str]:
    """One alternative: what its action would do, and the path patterns it prints."""
    narrow = any(t in ("-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename") for t in tests)
    negated = False
    names = []
    for k, test in enumerate(tests[:-1]):
        if test in ("-name", "-iname") and tests[k - 1 : k] not in (["!"], ["-not"], ["\\!"]):
            names.append(tests[k + 1])
    if not names and any(t in ("!", "-not", "\\!") for t in tests):
        negated = True  # everything but: as wide as no test at all
    aged = any(
        t in ("-mtime", "-mmin", "-atime", "-ctime", "-amin", "-cmin", "-newer", "-empty", "-size") for t in tests
    )
    plain_files = any(t == "-type" and tests[k + 1 : k + 2] in (["f"], ["l"]) for k, t in enumerate(tests))
    wanted = names if names and not negated else [STAR]
    found = [
        (root, (root.rstrip("/") + "/" if root != "/" else "/") + name.replace("*", STAR))
        for root in roots
        for name in wanted
    ]
    facts = ["find"]
    if narrow and not negated:
        facts.append("narrowed")
    if aged:
        facts.append("aged")
    if not plain_files:
        facts.append("recursive")
    whole = not narrow or negated
    if "-delete" in tests:
        for root, pattern in found:
            inv.add(
                "delete",
                inv.target(root if whole else pattern),
                facts=(*facts, "force", "recursive") if whole else (*facts, "force"),
            )
    for k, test in enumerate(tests):
        if test in ("-exec", "-execdir", "-ok", "-okdir"):
            words: list[str] = []
            for word in tests[k + 1 :]:
                if word in (";", "\\;", "+"):
                    break
                words.append(word.lstrip("\5"))
            if not words:
                continue
            for root, pattern in found:
                place = pattern if not whole else (root.rstrip("/") + "/" if root != "/" else "/") + STAR
                scope = inv.scope.copy()
                scope.via = (*inv.scope.via, "find -exec")
                before = len(inv.walk.findings)
                inv.command([w.replace("{}", place) for w in words], "", scope=scope)
                if any("{}" in w for w in words):
                    for finding in inv.walk.findings[before:]:
                        finding.facts = finding.facts | (set(facts) - {"recursive"})
        elif test in ("-fprint", "-fprintf", "-fls", "-fprint0") and k + 1 < len(tests):
            inv.add("overwrite", inv.target(tests[k + 1]))
    return [pattern for _, pattern in found]


_FIND_VALUED = frozenset(
    (
        "-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename", "-iwholename", "-lname", "-ilname", "-type", "-xtype", "-mtime", "-mmin", "-atime", "-amin",
        "-ctime", "-cmin", "-newer", "-anewer", "-cnewer", "-size", "-perm", "-user", "-group", "-uid", "-gid", "-inum", "-links", "-samefile", "-maxdepth", "-mindepth",
        "-fstype", "-used", "-regextype", "-printf", "-newermt", "-newerct", "-context",
    )
)  # fmt: skip


def _find_tests(args: list[str]) -> list[str]:
    """find's expression with the values of tests marked, so that ``-inum -delete`` is no ``-delete``."""
    out: list[str] = []
    i = 0
    while i < len(args):
        out.append(args[i])
        if args[i] in _FIND_VALUED and i + 1 < len(args):
            value = args[i + 1]
            out.append("\5" + value if value[:1] == "-" else value)
            i += 1
        elif args[i] in ("-exec", "-execdir", "-ok", "-okdir"):
            i += 1
            while i < len(args):
                word = args[i]
                end = word in (";", "\\;", "+")
                out.append(word if end or word[:1] != "-" else "\5" + word)
                if end:
                    break
                i += 1
        i += 1
    return out


def fd(inv: Invocation) -> Flow:
    for mark in ("-x", "-X", "--exec", "--exec-batch"):
        if mark in inv.args:
            words = inv.args[inv.args.index(mark) + 1 :]
            rest = operands(
                inv.args[: inv.args.index(mark)],
                "-e",
                "-t",
                "-d",
                "-E",
                "--extension",
                "--type",
                "--max-depth",
                "--exclude",
            )
            base = rest[1] if len(rest) > 1 else "."
            words = words if any("{" in w for w in words) else [*words, "{}"]
            inv.command([w.replace("{}", base + "/" + STAR) for w in words if w != ";"], "fd --exec")
    rest = operands(inv.args, "-e", "-t", "-d", "-E", "--extension", "--type", "--max-depth", "--exclude")
    return Flow(None, frozenset(), [(rest[1] if len(rest) > 1 else ".") + "/" + STAR])


def sed(inv: Invocation) -> Flow:
    in_place = any(
        a == "-i"
        or (a[:2] == "-i" and a[:3] != "-in")
        or a.startswith("--in-place")
        or (a[:1] == "-" and a[1:2] != "-" and "i" in a[1:] and a[1:].rstrip("i").isalpha() and len(a) <= 4)
        for a in inv.args
    )
    scripts = values_of(inv.args, "-e", "--expression")
    words = operands(inv.args, "-e", "-f", "--expression", "--file", "-l")
    if not scripts and not values_of(inv.args, "-f", "--file") and words:
        scripts = [words.pop(0)]
    for script in scripts:
        _sed_script(inv, script)
    if in_place:
        if words and words[0] == "" and len(words) > 1:  # BSD: -i ''
            words.pop(0)
        for path in words:
            inv.add("write", inv.target(path), facts=("in-place",))
        return NO_FLOW
    if words:
        return _read_paths(inv, words)
    from .readers import masked

    return masked(inv, Flow(None, inv.stdin.taints if inv.stdin else frozenset())) or UNKNOWN_FLOW


def _sed_script(inv: Invocation, script: str) -> None:
    """GNU sed's ``e`` runs a command, ``w`` writes a file."""
    text = script.strip()
    if "w" in text and "/" in text:  # w FILE, s/a/b/w FILE
        for line in text.replace(";", "\n").split("\n"):
            path = line.rpartition("w ")[2].strip() if "w " in line else ""
            if path and inv.target(path).roles & {"gate", "hook-settings"}:
                inv.add("overwrite", inv.target(path), facts=("in-place",), detail="sed w")
    if text[:2] in ("1e", "e ") or text.startswith("$e"):
        inv.code(text.lstrip("1$").removeprefix("e").strip() or ANY, "sed e")
    elif text[:1] == "s" and len(text) > 2:
        mark = text[1]
        parts = text.split(mark)
        if len(parts) >= 4 and "e" in parts[3].split(" ")[0] and parts[3].strip("gpiIme0123456789") == "":
            inv.code(parts[2] or ANY, "sed s///e")


def tar(inv: Invocation) -> Flow:
    args = inv.args
    first = args[0] if args else ""
    letters = first if first[:1] != "-" else "".join(a[1:] for a in args if a[:1] == "-" and a[1:2] != "-")
    for arg in args:
        for mark in (
            "--to-command=",
            "--checkpoint-action=exec=",
            "--use-compress-program=",
            "--rmt-command=",
            "--rsh-command=",
        ):
            if arg.startswith(mark):
                inv.code(arg[len(mark) :], "tar")
    program = value_of(args, "-I", "--use-compress-program")
    if program:
        inv.code(program, "tar")
    where = value_of(args, "-C", "--directory")
    archive = value_of(args, "-f", "--file")
    if archive is None and "f" in first and len(args) > 1:
        archive = args[1]
    create = "c" in letters or has(args, "--create")
    extract = "x" in letters or has(args, "--extract", "--get")
    paths = [
        a
        for a in operands(args, "-f", "-C", "--file", "--directory", "-I", "-X", "--exclude")
        if a != archive and a != first
    ]
    if create:
        if has(args, "--remove-files"):
            for path in paths:
                inv.add("delete", inv.target(path), facts=("recursive",))
        flow = _read_paths(inv, paths)
        if archive and archive != "-":
            inv.add("overwrite", inv.target(archive), facts=("archive",))
            return NO_FLOW
        return flow
    if extract and where:
        inv.add("write", inv.target(where), facts=("archive",))
    if extract:
        for path in paths[:32]:  # members that are named
            target = inv.target(f"{where}/{path}" if where else path)
            if target.roles & {"gate", "hook-settings"}:
                inv.add("write", target, facts=("archive",))
    return UNKNOWN_FLOW


def rsync(inv: Invocation) -> Flow:
    from .network import remote_part, send

    program = value_of(inv.args, "-e", "--rsh")
    if program:
        inv.code(program, "rsync -e")
    valued = (
        "-e",
        "--rsh",
        "--exclude",
        "--include",
        "--filter",
        "-f",
        "--exclude-from",
        "--include-from",
        "--files-from",
        "--log-file",
        "--password-file",
        "--port",
        "--bwlimit",
        "-T",
        "--temp-dir",
        "--timeout",
        "--chmod",
        "--chown",
        "--backup-dir",
        "--suffix",
        "--link-dest",
        "--max-size",
        "--min-size",
        "--partial-dir",
        "--info",
    )
    paths = operands(inv.args, *valued)
    if not paths:
        return UNKNOWN_FLOW
    into = paths.pop() if len(paths) > 1 else ""
    dry = has(inv.args, "-n", "--dry-run")
    if dry:
        return UNKNOWN_FLOW
    deleting = any(a.startswith("--del") for a in inv.args)
    if any(a == "--remove-source-files" for a in inv.args):
        for path in paths:
            if not remote_part(path):
                inv.add("delete", inv.target(path), facts=("recursive", "after-copy"))
    host = remote_part(into) if into else ""
    if host:
        for path in paths:
            if not remote_part(path):
                send(inv, host, path=path, facts=("copy",))
        if deleting:
            inv.add("delete", Target("remote", into), facts=("recursive", "mirror"))
    elif into:
        target = inv.target(into)
        if deleting:
            inv.add("delete", target, facts=("recursive", "mirror"))
        inv.add("write", target, facts=("copy",))
        empty = all(p.rstrip("/").startswith(("/tmp/", "empty", "$(mktemp")) or "empty" in p for p in paths)
        if deleting and empty:
            inv.add("delete", target, facts=("recursive", "mirror", "force"))
    return NO_FLOW


def unzip(inv: Invocation) -> Flow:
    where = value_of(inv.args, "-d")
    if where and not has(inv.args, "-l", "-t", "-Z", "-v", "-p"):
        inv.add("write", inv.target(where), facts=("archive",))
    return UNKNOWN_FLOW


def touch(inv: Invocation) -> Flow:
    for path in operands(inv.args, "-t", "-d", "-r", "--date", "--reference"):
        target = inv.target(path)
        if target.roles & {"gate", "hook-settings", "git-hook", "shell-rc", "cron", "autostart"}:
            inv.add("write", target, facts=("touch",))
    return NO_FLOW


def mkdir(inv: Invocation) -> Flow:
    return NO_FLOW


def sort(inv: Invocation) -> Flow:
    out = value_of(inv.args, "-o", "--output")
    if out:
        inv.add("overwrite", inv.target(out))
    program = value_of(inv.args, "--compress-program")
    if program:
        inv.code(program, "sort")
    return _read_paths(inv, operands(inv.args, "-k", "-t", "-o", "-T", "-S"))


def editor(inv: Invocation) -> Flow:
    """ed, ex, vim -c: commands given on the line can run a shell or write."""
    for command in [*values_of(inv.args, "-c", "--cmd"), *(a[1:] for a in inv.args if a[:1] == "+" and len(a) > 1)]:
        text = command.strip().lstrip(": ")
        verb, _, rest = text.partition(" ")
        while verb in ("silent", "silent!", "sil", "sil!", "noautocmd", "noa", "execute", "exe") and rest:
            text = rest.strip(" :'\"")
            verb, _, rest = text.partition(" ")
        if text[:1] == "!":
            inv.code(text[1:], f"{inv.name} :!")
        elif verb in ("term", "terminal") and rest:
            inv.code(rest, f"{inv.name} :terminal")
        elif text[:1] == "w" and " " in text:
            inv.add("overwrite", inv.target(text.split(" ", 1)[1].lstrip("!").strip()))
    if inv.stdin is not None and inv.stdin.text is not None and inv.name in ("ed", "ex", "vi", "vim"):
        for line in inv.stdin.text.split("\n"):
            if line[:1] == "!":
                inv.code(line[1:], f"{inv.name} !")
            elif line[:2] in ("w ", "wq") and " " in line:
                inv.add("overwrite", inv.target(line.split(" ", 1)[1].strip()))
        for path in operands(inv.args, "-c", "--cmd", "-S", "-u"):
            inv.add("write", inv.target(path), facts=("in-place",))
    return UNKNOWN_FLOW


def patch(inv: Invocation) -> Flow:
    if not has(inv.args, "--dry-run", "--check"):
        for path in operands(inv.args, "-p", "-i", "-o", "-d")[:1]:
            inv.add("write", inv.target(path), facts=("in-place",))
        where = value_of(inv.args, "-d", "--directory")
        if where and inv.target(where).roles & {"gate", "hook-settings"}:
            inv.add("write", inv.target(where), facts=("patch",))
        patched(inv, values_of(inv.args, "-i", "--input"))
    return UNKNOWN_FLOW


def patched(inv: Invocation, patches: list[str]) -> None:
    """Files of the gate or a host that a patch names: one on disk, in a here-document, or made earlier on the line."""
    from .interpreters import file_text

    texts = [file_text(inv, path) for path in patches[:4]]
    if inv.stdin is not None:
        texts.append(inv.stdin.text)
    seen = 0
    for text in texts:
        for line in (text or "").split("\n"):
            if line.startswith(("+++ ", "--- ", "rename to ", "copy to ")):
                name = line.split(" ", 2 if line[0] in "rc" else 1)[-1].partition("\t")[0].strip().strip('"')
                seen += 1
                for path in {name, name.partition("/")[2]} if seen <= 400 else ():
                    if path and inv.target(path).roles & {"gate", "hook-settings"}:
                        inv.add("write", inv.target(path), facts=("patch",), detail=f"{inv.name} changes it")


def trash(inv: Invocation) -> Flow:
    words = operands(inv.args)
    if inv.name == "gio":
        if words[:1] != ["trash"]:
            return UNKNOWN_FLOW
        words = words[1:]
    if inv.name == "trash-empty":
        inv.add("delete", Target("home-item", "trash"), facts=("recursive", "trash"))
    for path in words:
        inv.add("move", inv.target(path), facts=("to-trash",))
    return NO_FLOW


def split(inv: Invocation) -> Flow:
    program = value_of(inv.args, "--filter")
    if program:
        inv.code(program, "split --filter")
    return UNKNOWN_FLOW


def _read_paths(inv: Invocation, paths: list[str]) -> Flow:
    """What printing these files gives: their known text, and the mark of a secret where one of them is."""
    from .readers import read_paths

    return read_paths(inv, paths)


def _mktemp(inv: Invocation) -> Flow:
    where = value_of(inv.args, "-p", "--tmpdir") or "/tmp"
    template = list(operands(inv.args, "-p", "-t", "--suffix"))
    if template and "/" in template[0]:
        return Flow(template[0].replace("X", "") + NAME + "\n")
    return Flow(where.rstrip("/") + "/tmp." + NAME + "\n")


READERS = {
    "rm": rm, "srm": rm, "unlink": rm, "grm": rm, "rmdir": rmdir, "del": windows_del, "erase": windows_del, "rd": windows_del,
    "shred": shred, "wipe": shred, "mv": mv, "gmv": mv, "rename": None, "cp": cp, "gcp": cp, "install": cp, "ln": ln, "dd": dd,
    "truncate": truncate, "tee": tee, "chmod": chmod, "chown": chown, "chgrp": chown, "setfacl": setfacl, "mkfs": mkfs,
    "mke2fs": mkfs, "mkswap": mkfs, "newfs": mkfs, "fdisk": partition, "sfdisk": partition, "cfdisk": partition, "gdisk": partition,
    "sgdisk": partition, "parted": partition, "wipefs": wipefs, "blkdiscard": wipefs, "find": find, "gfind": find, "fd": fd,
    "fdfind": fd, "sed": sed, "gsed": sed, "tar": tar, "bsdtar": tar, "gtar": tar, "rsync": rsync, "unzip": unzip, "touch": touch,
    "mkdir": mkdir, "sort": sort, "ed": editor, "ex": editor, "vi": editor, "vim": editor, "nvim": editor, "patch": patch,
    "trash": trash, "trash-put": trash, "trash-empty": trash, "gio": trash, "split": split, "mktemp": _mktemp,
}  # fmt: skip
READERS = {name: reader for name, reader in READERS.items() if reader is not None}
