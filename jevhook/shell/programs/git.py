"""git: what a subcommand would lose, where a push goes, and the many ways git starts other programs."""

from __future__ import annotations

from ..finding import ANY, NAME, STAR, Target
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .options import has, operands, value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..walk import Invocation, Scope

DEFAULT_BRANCHES = ("main", "master", "trunk", "develop", "production", "prod", "release", "stable")

# Settings whose value is a program git starts.
_PROGRAM_KEYS = (
    "core.fsmonitor", "core.pager", "core.editor", "core.sshcommand", "core.askpass", "core.gitproxy", "diff.external", "credential.helper",
    "sequence.editor", "gpg.program", "gpg.ssh.program", "merge.tool", "interactive.difffilter", "uploadpack.packobjectshook", "core.alternaterefscommand",
)  # fmt: skip
_PROGRAM_ENDINGS = (
    ".textconv",
    ".command",
    ".clean",
    ".smudge",
    ".process",
    ".driver",
    ".cmd",
    ".helper",
    ".proxy",
    ".vcs",
    ".pager",
)
_PROGRAM_VARIABLES = (
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "EDITOR",
    "VISUAL",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "GIT_PROXY_COMMAND",
)


# Long options by subcommand, so that git's unambiguous prefixes (--har for --hard) are read as git reads them; a "="
# marks one that takes the next word as its value.
_LONG: dict[str, str] = {
    "reset": "hard soft mixed merge keep quiet patch pathspec-from-file= recurse-submodules no-recurse-submodules unified= inter-hunk-context=",
    "checkout": "force ours theirs patch track no-track detach orphan= merge conflict= quiet progress pathspec-from-file= overlay no-overlay recurse-submodules ignore-skip-worktree-bits guess no-guess overwrite-ignore unified= inter-hunk-context=",
    "restore": "staged worktree source= patch quiet progress ours theirs merge conflict= ignore-unmerged overlay no-overlay pathspec-from-file= recurse-submodules unified= inter-hunk-context= no-staged no-worktree no-patch",
    "switch": "create= force-create= detach force discard-changes merge conflict= quiet track orphan= guess recurse-submodules ignore-other-worktrees",
    "clean": "force dry-run interactive quiet exclude=",
    "push": "all branches mirror tags follow-tags force force-with-lease force-if-includes delete dry-run prune set-upstream porcelain quiet verbose push-option= repo= receive-pack= exec= no-verify verify signed thin atomic recurse-submodules no-force no-delete no-mirror no-prune",
    "branch": "delete force move copy list remotes all merged no-merged contains sort= format= set-upstream-to= unset-upstream edit-description show-current verbose quiet track",
    "tag": "delete list force annotate sign message= file= sort= contains verify",
    "stash": "",
    "rm": "cached force dry-run quiet ignore-unmatch pathspec-from-file= no-cached no-force no-dry-run",
    "worktree": "force",
    "commit": "amend no-verify message= file= all patch author= date= fixup= squash= reuse-message= reedit-message= allow-empty no-edit signoff quiet verbose",
    "rebase": "abort continue skip quit edit-todo exec= onto= interactive autosquash autostash strategy= strategy-option= root",
}  # fmt: skip
_SHORT_VALUED = {
    "reset": "U",
    "checkout": "bBU",
    "restore": "sU",
    "switch": "cC",
    "clean": "e",
    "push": "o",
    "branch": "u",
    "tag": "mFu",
    "commit": "mFCctSu",
    "rebase": "xsXC",
    "rm": "",
    "worktree": "",
}


def options(command: str, args: list[str]) -> tuple[set[str], list[str], list[str]]:
    """Options as git reads them (prefixes expanded, the last of --x/--no-x standing), operands, paths behind ``--``."""
    known = _LONG.get(command, "").split()
    names = {k.rstrip("="): k.endswith("=") for k in known}
    short = _SHORT_VALUED.get(command, "")
    flags: set[str] = set()
    words: list[str] = []
    behind: list[str] = []
    i, n = 0, len(args)
    while i < n:
        arg = args[i]
        i += 1
        if arg == "--":
            behind = args[i:]
            break
        if arg[:2] == "--":
            name, mark, value = arg[2:].partition("=")
            if name not in names and name:
                fits = [k for k in names if k.startswith(name)]
                name = min(fits, key=len) if fits else name
            if name.startswith("no-") and name[3:] in names:
                flags.discard("--" + name[3:])
            flags.add("--" + name)
            if mark:
                flags.add(f"--{name}={value}")
            elif names.get(name) and i < n:
                flags.add(f"--{name}={args[i]}")
                i += 1
        elif arg[:1] == "-" and len(arg) > 1:
            for k, c in enumerate(arg[1:], 1):
                flags.add("-" + c)
                if c in short:
                    if k == len(arg) - 1 and i < n:
                        i += 1
                    break
        else:
            words.append(arg)
    return flags, words, behind


def git(inv: Invocation) -> Flow:
    args = list(inv.args)
    scope = inv.scope
    settings = _environment_settings(inv)
    while args and args[0][:1] == "-":
        flag = args.pop(0)
        if flag == "-C" and args:
            scope = _moved(inv, scope, args.pop(0))
        elif flag == "-c" and args:
            settings.append(args.pop(0))
        elif flag.startswith("-c") and "=" in flag and flag[2:3] != "-" and not flag.startswith("--"):
            settings.append(flag[2:])
        elif flag in ("--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env") and args:
            value = args.pop(0)
            if flag == "--work-tree":
                scope = _moved(inv, scope, value)
        elif flag.startswith("--work-tree="):
            scope = _moved(inv, scope, flag[12:])
        elif flag in ("--help", "--version", "-h", "-v"):
            return UNKNOWN_FLOW
    remote = bool(args) and (
        args[0] in _REMOTE_COMMANDS
        or any(a.startswith("--remote") for a in args[1:])
        or (args[:1] == ["remote"] and any(a in ("update", "show", "prune", "set-head") for a in args))
    )
    for name in _PROGRAM_VARIABLES:
        value = inv.env.get(name) or scope.env.get(name) or ""
        if value and (remote or ("SSH" not in name and "PROXY" not in name and "ASKPASS" not in name)):
            _starts(inv, value, f"git {name}")
    for text in settings:
        if remote or not text.lower().startswith(
            ("core.sshcommand", "core.gitproxy", "core.askpass", "credential.helper")
        ):
            _setting(inv, text)
    if not args:
        return UNKNOWN_FLOW
    command, rest = args[0], args[1:]
    for text in settings:
        key, _, value = text.partition("=")
        if key.lower() == f"alias.{command.lower()}" and value[:1] != "!" and command not in _COMMANDS:
            return inv.command(["git", *value.split(), *rest], "git -c alias")
    state = inv.walk.world.git(scope.cwd) if scope.cwd[:1] == "/" and ANY not in scope.cwd else None
    if command not in _COMMANDS and state is not None:
        alias = state.aliases().get(command)
        if alias:
            if alias[:1] == "!":
                return inv.code(alias[1:].strip('"') + " " + " ".join(rest), "git alias")
            return inv.command(["git", *alias.split(), *rest], "git alias")
    if rest[:1] == ["--help"] or rest == ["-h"]:
        return UNKNOWN_FLOW
    reader = _COMMANDS.get(command)
    saved = inv.scope
    inv.scope = scope
    try:
        flow = reader(inv, rest) if reader is not None else None
    finally:
        inv.scope = saved
    return flow if flow is not None else UNKNOWN_FLOW


def _environment_settings(inv: Invocation) -> list[str]:
    """GIT_CONFIG_COUNT / _KEY_n / _VALUE_n and GIT_CONFIG_PARAMETERS: settings given by the environment."""
    values = {**inv.scope.env, **inv.env}
    found: list[str] = []
    count = values.get("GIT_CONFIG_COUNT", "")
    if count.isdigit():
        for i in range(min(int(count), 20)):
            found.append(f"{values.get(f'GIT_CONFIG_KEY_{i}', '')}={values.get(f'GIT_CONFIG_VALUE_{i}', '')}")
    for text in values.get("GIT_CONFIG_PARAMETERS", "").split("' '"):
        text = text.strip("' ").replace("'='", "=")
        if "=" in text:
            found.append(text)
    return found


_REMOTE_COMMANDS = frozenset(
    ("push", "pull", "fetch", "clone", "ls-remote", "submodule", "fetch-pack", "send-pack", "remote-https", "lfs")
)

_PLAIN_PROGRAMS = frozenset(
    ("cat", "true", ":", "less", "vim", "vi", "nano", "code", "echo", "false", "ssh", "emacs", "subl", "delta", "diff-so-fancy", "difft", "gpg", "gpg2",
     "store", "cache", "osxkeychain", "manager", "manager-core", "libsecret", "most", "bat", "nvim", "kdiff3", "meld", "opendiff", "vimdiff", "p4merge", "never", "auto", "git-lfs", "git", "gh", "op-ssh-sign", "watchman", "rs-git-fsmonitor")
)  # fmt: skip


def _starts(inv: Invocation, value: str, via: str) -> None:
    """A program that git is told to start: well-known ones are quiet, others are read, unseen ones are said."""
    text = value.strip().lstrip("!").strip()
    first = text.split(" ", 1)[0].strip("'\"")
    if text in ("", "true", "false", "0", "1"):
        return
    before = len(inv.walk.findings)
    inv.code(text, via)
    name = first[first.rfind("/") + 1 :]
    spoke = any(f.effect not in ("run", "weaken") for f in inv.walk.findings[before:])
    if (
        not spoke
        and name not in _PLAIN_PROGRAMS
        and "/" in first
        and not first.startswith(("/usr/", "/opt/", "/bin/", "~/.config/"))
    ):
        inv.add("run-unknown", inv.target(first), facts=("preload",), sure="likely", detail=f"{via} {first}")


def _moved(inv: Invocation, scope: Scope, where: str) -> Scope:
    from ..paths import absolute

    new = scope.copy()
    new.cwd = ANY if ANY in where else absolute(where, scope.cwd, inv.walk.world.home) or ANY
    return new


def _setting(inv: Invocation, text: str) -> None:
    key, _, value = text.partition("=")
    low = key.lower()
    if low.startswith("alias."):
        if value[:1] == "!":
            inv.code(value[1:], "git -c alias")
    elif low in _PROGRAM_KEYS or low.endswith(_PROGRAM_ENDINGS):
        _starts(inv, value, f"git {key}")
    elif low == "core.hookspath":
        inv.add("persist", inv.target(value), facts=("hooks-path",), detail=f"{key}={value}", sure="likely")
    elif low in ("http.sslverify",) and value.lower() in ("false", "0", "no"):
        inv.add("weaken", facts=("tls",), detail=key)
    elif low == "protocol.ext.allow" and value == "always":
        inv.add("run-unknown", facts=("git-ext",), detail=key)


def _add_work(inv: Invocation, what: str, facts: tuple[str, ...] = (), target: Target | None = None) -> None:
    target = target or inv.target(".")
    _settings(inv, target, what)
    inv.add("discard", target, facts=(*facts, *_fresh(inv)), detail=f"git {what}")


def _settings(inv: Invocation, target: Target, what: str) -> None:
    """The gate's or a host's files are what git would put back."""
    roles = target.roles & {"gate", "hook-settings"}
    if target.kind in ("project-root", "project-parent"):
        roles -= {"gate"}  # installed into a project's .venv, which git leaves alone
    if roles and target.kind not in ("root", "home"):
        inv.add("overwrite", target, facts=("git",), detail=f"git {what}")


def _fresh(inv: Invocation) -> tuple[str, ...]:
    """("fresh",) in a tree that this very line cloned: nobody's work is in it yet."""
    from ..paths import is_within

    where = inv.target(".").path
    trees = [n[5:] for n in inv.walk.notes if n[:5] == "tree:"]
    return ("fresh",) if any(where and is_within(where, tree) for tree in trees) else ()


def _reset(inv: Invocation, args: list[str]) -> None:
    flags, words, _behind = options("reset", args)
    if "--hard" in flags:
        back = bool(words) and not _is_head(words[0])
        _add_work(inv, "reset --hard", ("hard", "moves-branch") if back else ("hard",))
    elif "--merge" in flags:
        _add_work(inv, "reset --merge", ("forced",))


def _is_head(rev: str) -> bool:
    return rev in ("HEAD", "@", "HEAD~0")


def _checkout(inv: Invocation, args: list[str]) -> None:
    flags, words, behind = options("checkout", args)
    force = bool(flags & {"-f", "--force"})
    if flags & {"-b", "-B", "--orphan"}:
        if "-B" in flags:
            _add_work(inv, "checkout -B", ("soft", "moves-branch"))
        if force:
            _add_work(inv, "checkout -f", ("forced",))
        return
    if flags & {"-p", "--patch", "--theirs", "--ours"}:
        return  # --ours and --theirs take one side of a conflict: what stood there was made by the merge
    paths = list(behind)
    if not behind:
        if (len(words) == 1 and _looks_like_path(inv, words[0])) or any(
            f.startswith("--pathspec-from-file") for f in flags
        ):
            paths = words or [ANY]
        elif len(words) >= 2:
            paths = words[1:]  # git checkout REV PATH
    if paths:
        for path in paths[:16]:
            _discard_path(inv, path, "checkout --")
    elif force:
        _add_work(inv, "checkout -f", ("forced",))


def _looks_like_path(inv: Invocation, word: str) -> bool:
    if word in (".", "..") or word.startswith(("./", "../", ":/")) or STAR in word:
        return True
    name = word[word.rfind("/") + 1 :]
    stem, dot, ending = name.rpartition(".")
    if dot and stem and ending.isalpha() and 1 <= len(ending) <= 5 and not word.startswith(("release", "v")):
        return True
    target = inv.target(word)
    return inv.walk.world.kind(target.path) in ("file", "dir") and "tracked" in target.roles


def _discard_path(inv: Invocation, path: str, what: str) -> None:
    target = inv.target("." if path in (":/", ":(top)", STAR) else path.removeprefix(":/"))
    _settings(inv, target, what)
    if (
        target.kind in ("project", "build")
        and "tracked-clean" in target.roles
        and inv.walk.world.kind(target.path) == "file"
    ):
        return  # nothing in it differs from the index
    facts = ("all",) if target.kind in ("project-root", "project-parent") else ("paths",)
    inv.add("discard", target, facts=(*facts, *_fresh(inv)), detail=f"git {what}")


def _restore(inv: Invocation, args: list[str]) -> None:
    flags, words, behind = options("restore", args)
    if "-h" in flags or (flags & {"--help", "--version"} and "--help" not in behind):
        return
    # without any of the four the work tree is restored; with one of them only what is switched on
    if flags & {"--staged", "-S", "--no-staged", "--worktree", "-W", "--no-worktree"}:
        if not flags & {"--worktree", "-W"} or "--no-worktree" in flags:
            return
    paths = words + behind
    if not paths and any(f.startswith("--pathspec-from-file=") for f in flags):
        paths = [ANY]
    for path in paths[:16]:
        _discard_path(inv, path, "restore")


def _switch(inv: Invocation, args: list[str]) -> None:
    flags, _words, _behind = options("switch", args)
    if flags & {"-f", "--force", "--discard-changes"}:
        _add_work(inv, "switch --discard-changes", ("forced",))
    elif flags & {"-C", "--force-create"}:
        _add_work(inv, "switch -C", ("soft", "moves-branch"))


def _clean(inv: Invocation, args: list[str]) -> None:
    flags, words, behind = options("clean", args)
    if flags & {"-n", "--dry-run", "-i", "--interactive"} or not flags & {"-f", "--force"}:
        return
    facts = ["untracked"]
    if "-d" in flags:
        facts.append("recursive")
    if flags & {"-x", "-X"}:
        facts.append("ignored-too" if "-x" in flags else "ignored-only")
    paths = words + behind
    if not paths:
        _add_work(inv, "clean", (*facts, "all"))
    for path in paths:
        target = inv.target(path)
        if target.kind in ("build", "cache", "temp"):
            inv.add("delete", target, facts=("recursive",))
        else:
            inv.add("discard", target, facts=(*facts, "paths", *_fresh(inv)), detail="git clean")


def _stash(inv: Invocation, args: list[str]) -> None:
    words = operands(args)
    if words[:1] in (["push"], ["save"]) or (args and args[0][:1] == "-"):
        for path in words[1:] or words:  # what is stashed goes back to what is committed
            if inv.target(path).roles & {"gate", "hook-settings"}:
                inv.add("overwrite", inv.target(path), facts=("git",), detail="git stash")
    if words[:1] in (["drop"], ["clear"]):
        inv.add("discard", inv.target("."), facts=("stash", words[0]), detail=f"git stash {words[0]}")
    elif not words or words[0] in ("push", "save", "pop", "apply"):
        _settings(inv, inv.target("."), "stash")


def _branch(inv: Invocation, args: list[str]) -> None:
    flags, words, behind = options("branch", args)
    deleting = bool(flags & {"-d", "-D", "--delete"})
    force = "-D" in flags or bool(flags & {"-f", "--force"})
    if deleting:
        for name in (words + behind)[:8]:
            roles = ("production",) if name in DEFAULT_BRANCHES[:2] else ()
            inv.add(
                "delete-ref",
                Target("none", name, roles),
                facts=(
                    "branch",
                    *(("force",) if force else ()),
                    *(("remote-ref",) if flags & {"-r", "--remotes"} else ()),
                ),
            )
    elif (force and words) or flags & {"-M", "-C"}:
        inv.add("delete-ref", Target("none", words[0] if words else ""), facts=("branch", "moved"))


def _tag(inv: Invocation, args: list[str]) -> None:
    flags, words, behind = options("tag", args)
    if flags & {"-d", "--delete"}:
        for name in (words + behind)[:8]:
            inv.add("delete-ref", Target("none", name), facts=("tag",))


def _push(inv: Invocation, args: list[str]) -> None:
    flags, words, behind = options("push", args)
    words = words + behind
    if flags & {"-n", "--dry-run"}:
        return
    program = value_of(args, "--receive-pack", "--exec")
    if program and program != "git-receive-pack":
        inv.code(program, "git push --receive-pack")
    remote = words[0] if words else "origin"
    specs = words[1:]
    state = inv.walk.world.git(inv.scope.cwd) if inv.scope.cwd[:1] == "/" and ANY not in inv.scope.cwd else None
    remotes = state.remotes() if state is not None else {}
    roles: tuple[str, ...] = ()
    made_here = (
        remote != "origin" and f"remote:{remote}" in inv.walk.notes
    ) or f"remote-moved:{remote}" in inv.walk.notes
    is_url = (
        made_here or "://" in remote or ("@" in remote and ":" in remote) or remote.startswith(("/", "./", "../", "~"))
    )
    if is_url and remote not in remotes.values() and not remote.startswith(("/", "./", "../", "~", "file:")):
        from .network import host_of, host_roles, send

        roles = ("foreign",)
        if "local" not in host_roles(host_of(remote)):
            send(inv, remote, facts=("git-push",), roles=("foreign",))
    elif remotes and remote not in remotes and not is_url and ANY not in remote:
        roles = ()
    lease = bool(flags & {"--force-with-lease", "--force-if-includes"})
    force = bool(flags & {"-f", "--force"})
    facts: list[str] = ["foreign"] if roles else []
    branch = state.branch() if state is not None else ""
    default = state.default_branch() if state is not None else ""
    named = [s.lstrip("+").split(":")[-1].removeprefix("refs/heads/") for s in specs if s not in ("--tags",)]
    if "HEAD" in named:
        named = [branch if n == "HEAD" else n for n in named]
    aimed = named or ([branch] if branch else [])
    hits_default = any(n == default or n in DEFAULT_BRANCHES or n.startswith("release/") for n in aimed if n)
    where = Target("remote", f"{remote} {' '.join(specs)}".strip(), ("production",) if hits_default else ())
    if flags & {"--mirror", "--prune"}:
        inv.add("force-push", where, facts=(*facts, "mirror"))
    elif force or any(s[:1] == "+" for s in specs):
        unknown = not aimed or any(ANY in n for n in aimed)
        inv.add(
            "force-push",
            where,
            facts=(
                *facts,
                "force",
                *(("unknown-branch",) if unknown else ()),
                *(("all",) if flags & {"--all", "--branches"} else ()),
            ),
        )
    elif lease:
        inv.add("force-push", where, facts=(*facts, "lease"))
    deleting = bool(flags & {"-d", "--delete"})
    if deleting or any(s[:1] == ":" and len(s) > 1 for s in specs):
        for spec in specs:
            if deleting or spec[:1] == ":":
                name = spec.lstrip(":").removeprefix("refs/heads/")
                gone = ("production",) if name == default or name in DEFAULT_BRANCHES[:2] else ()
                inv.add("delete-ref", Target("remote", name, gone), facts=("branch", "remote-ref"))


def _history(inv: Invocation, args: list[str]) -> None:
    inv.add("rewrite-history", inv.target("."), detail="git filter-branch")
    for mark in (
        "--tree-filter",
        "--index-filter",
        "--msg-filter",
        "--env-filter",
        "--commit-filter",
        "--parent-filter",
        "--tag-name-filter",
    ):
        code = value_of(args, mark)
        if code:
            inv.code(code, "git filter-branch")


def _rebase(inv: Invocation, args: list[str]) -> None:
    for code in values_of(args, "-x", "--exec"):
        inv.code(code, "git rebase --exec")
    if options("rebase", args)[0] & {"--abort", "--continue", "--skip", "--quit", "--edit-todo"}:
        return
    inv.add("rewrite-history", inv.target("."), facts=("local", "rebase"), detail="git rebase")


def _commit(inv: Invocation, args: list[str]) -> None:
    if has(args, "--amend"):
        inv.add("rewrite-history", inv.target("."), facts=("local", "amend"), detail="git commit --amend")
    if has(args, "-n", "--no-verify"):
        inv.add("weaken", facts=("no-verify",), detail="git commit --no-verify")


def _reflog(inv: Invocation, args: list[str]) -> None:
    words = operands(args)
    if words[:1] in (["expire"], ["delete"]):
        now = any("now" in a or "all" in a or a == "--expire=0" for a in args)
        inv.add(
            "rewrite-history",
            inv.target("."),
            facts=("reflog", *(("now",) if now else ())),
            detail="git reflog " + words[0],
        )


def _gc(inv: Invocation, args: list[str]) -> None:
    if any(a.startswith("--prune=") and a[8:] in ("now", "all") for a in args) or (inv.args and "prune" in inv.args[0]):
        inv.add("rewrite-history", inv.target("."), facts=("gc",), detail="git gc --prune=now")


def _prune(inv: Invocation, args: list[str]) -> None:
    if not has(args, "-n", "--dry-run"):
        inv.add("rewrite-history", inv.target("."), facts=("gc",), detail="git prune")


def _update_ref(inv: Invocation, args: list[str]) -> None:
    if has(args, "-d", "--delete") or has(args, "--stdin"):
        inv.add("delete-ref", Target("none", " ".join(operands(args))), facts=("ref", "force"))
        return
    words = operands(args, "-m")
    if len(words) == 2 and words[0].startswith("refs/heads/"):  # with the old value given, git checks it
        inv.add("delete-ref", Target("none", words[0][11:]), facts=("ref", "moved"))


def _worktree(inv: Invocation, args: list[str]) -> None:
    if args[:1] in (["add"], ["move"]):
        for path in operands(args[1:], "-b", "-B", "--reason"):
            if inv.target(path).roles & {"gate", "hook-settings"}:
                inv.add("write", inv.target(path), facts=("git",), detail="git worktree")
    flags, words, _ = options("worktree", args)
    if words[:1] == ["remove"]:
        forced = bool(flags & {"-f", "--force"})
        for path in words[1:]:
            inv.add(
                "discard",
                inv.target(path),
                facts=("worktree", *(("forced",) if forced else ())),
                detail="git worktree remove",
            )


def _submodule(inv: Invocation, args: list[str]) -> None:
    at = args.index("foreach") if "foreach" in args else -1
    if at >= 0:  # what stands behind foreach is the command with its own options
        code = [a for k, a in enumerate(args[at + 1 :]) if a not in ("--recursive", "--quiet", "-q") or k > 2]
        text = code[0] if len(code) == 1 else " ".join(code)
        inv.code(text, "git submodule foreach")
        return
    words = operands(args)
    if words[:1] == ["deinit"] and has(args, "-f", "--force"):
        _add_work(inv, "submodule deinit --force", ("forced", "paths"))


def _rm(inv: Invocation, args: list[str]) -> None:
    flags, words, behind = options("rm", args)
    if flags & {"--cached", "-n", "--dry-run"}:
        return
    force = bool(flags & {"-f", "--force"})
    facts = [*(("recursive",) if "-r" in flags else ()), *(("force",) if force else ()), "git-rm"]
    for path in words + behind:
        target = inv.target(path)
        inv.add("delete", target, facts=tuple(facts))
        if force and not flags & {"--ignore-unmatch"}:
            _discard_path(inv, path, "rm -f")


def _bisect(inv: Invocation, args: list[str]) -> None:
    if args[:1] == ["run"]:
        inv.command(args[1:], "git bisect run")


def _config(inv: Invocation, args: list[str]) -> None:
    words = operands(args, "-f", "--file", "--blob", "--type", "--default")
    if words[:1] in (["set"], ["get"], ["list"], ["unset"]):
        words = words[1:]
    file = value_of(args, "-f", "--file")
    if file and inv.target(file).roles & {"gate", "hook-settings"}:
        inv.add("write", inv.target(file), facts=("git",), detail="git config --file")
    if len(words) >= 2:
        key, value = words[0], words[1]
        low = key.lower()
        wide = has(args, "--global", "--system")
        if (
            low in _PROGRAM_KEYS
            or low.endswith(_PROGRAM_ENDINGS)
            or low == "core.hookspath"
            or (low.startswith("alias.") and value[:1] == "!")
        ):
            first = value.lstrip("!").split(" ", 1)[0]
            plain = not value or first[first.rfind("/") + 1 :] in _PLAIN_PROGRAMS
            local_hooks = low == "core.hookspath" and value in (".githooks", ".husky", ".husky/_", "hooks", ".hooks")
            if not plain and not local_hooks:
                inv.add(
                    "persist",
                    inv.target("~/.gitconfig" if wide else ".git/config"),
                    facts=("git-program",),
                    detail=f"git config {key}",
                )
                if low.startswith("alias."):
                    inv.code(value[1:], "git alias")
        elif low == "http.sslverify" and value.lower() in ("false", "0", "no"):
            inv.add("weaken", facts=("tls", *(("global",) if wide else ())), detail=key)


def _clone(inv: Invocation, args: list[str]) -> None:
    words = operands(
        args,
        "-b",
        "--branch",
        "--depth",
        "-o",
        "--origin",
        "-c",
        "--config",
        "-j",
        "--jobs",
        "--reference",
        "--filter",
        "--separate-git-dir",
        "-u",
        "--upload-pack",
        "--template",
    )
    if words:
        name = (
            words[1]
            if len(words) > 1
            else words[0].rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1].removesuffix(".git")
        )
        goal = inv.target(name)
        tree = goal.path
        if goal.roles & {"gate", "hook-settings"}:
            inv.add("write", goal)
        if tree[:1] == "/" and ANY not in tree and not inv.walk.world.kind(tree):
            inv.walk.notes.append("tree:" + tree)
    for text in values_of(args, "-c", "--config"):
        _setting(inv, text)
    for url in operands(
        args, "-b", "--branch", "--depth", "-o", "--origin", "-c", "--config", "-j", "--reference", "--filter"
    )[:1]:
        if url.startswith("ext::"):
            inv.code(url[5:], "git ext::")
    program = value_of(args, "-u", "--upload-pack")
    if program:
        inv.code(program, "git --upload-pack")


def _fetch(inv: Invocation, args: list[str]) -> None:
    program = value_of(args, "--upload-pack")
    if program:
        inv.code(program, "git --upload-pack")
    words = operands(args)
    for url in words[:1]:
        if url.startswith("ext::"):
            inv.code(url[5:], "git ext::")
    force = has(args, "-f", "--force")
    for spec in words[1:9]:
        source, mark, into = spec.partition(":")
        into = into.removeprefix("refs/heads/")
        if (
            mark
            and into
            and not into.startswith("refs/")
            and STAR not in into
            and "*" not in into
            and (force or source[:1] == "+")
        ):
            inv.add("delete-ref", Target("none", into), facts=("fetched", "force"))


def _grep(inv: Invocation, args: list[str]) -> None:
    for arg in args:
        if arg.startswith(("-O", "--open-files-in-pager")):
            program = arg.partition("=")[2] if "=" in arg else arg[2:]
            if program and program not in ("less", "vim", "vi", "cat"):
                inv.code(program, "git grep -O")


def _add(inv: Invocation, args: list[str]) -> None:
    forced = ("forced",) if has(args, "-f", "--force") else ()
    for path in operands(args)[:32]:
        target = inv.target(path)
        if "secret" in target.roles and "wildcard" not in target.roles:
            inv.add("read-secret", target, facts=("git-add", *forced), detail="git add")
            inv.walk.notes.append("secret-staged" if forced else "secret-named")


def _revparse(inv: Invocation, args: list[str]) -> Flow:
    if "--show-toplevel" in args and inv.walk.place.project:
        return Flow(inv.walk.place.project + "\n")
    if "--git-dir" in args or "--absolute-git-dir" in args or "--git-common-dir" in args:
        return Flow((inv.walk.place.project or inv.scope.cwd) + "/.git\n")
    return Flow(NAME + "\n")


def _listing(inv: Invocation, args: list[str]) -> Flow:
    return Flow(None, frozenset(), [(inv.walk.place.project or inv.scope.cwd) + "/" + NAME])


def _archive(inv: Invocation, args: list[str]) -> None:
    out = value_of(args, "-o", "--output")
    if out:
        inv.add("overwrite", inv.target(out), facts=("archive",))
    for mark in ("--exec", "--remote"):
        program = value_of(args, mark)
        if program and mark == "--exec":
            inv.code(program, "git archive --exec")


def _diff(inv: Invocation, args: list[str]) -> Flow:
    out = value_of(args, "--output")
    if out:
        inv.add("overwrite", inv.target(out))
    if has(args, "--name-only"):
        return Flow(None, frozenset(), [(inv.walk.place.project or inv.scope.cwd) + "/" + NAME])
    return UNKNOWN_FLOW


def _send_email(inv: Invocation, args: list[str]) -> None:
    inv.add("send", Target("remote", "mail"), facts=("mail",), sure="likely")


def _remote(inv: Invocation, args: list[str]) -> None:
    words = operands(args, "-t", "-m")
    if words[:1] in (["add"], ["set-url"]) and len(words) > 2:
        inv.walk.notes.append("remote:" + words[1])  # a remote that this line makes is nobody's yet
        if words[0] == "set-url" and _elsewhere(inv, words[1], words[2]):
            inv.walk.notes.append("remote-moved:" + words[1])
    if words[:1] in (["remove"], ["rm"]):
        inv.add("delete-ref", Target("none", " ".join(words[1:])), facts=("remote-entry",))


def _elsewhere(inv: Invocation, name: str, url: str) -> bool:
    """Whether ``url`` is on another host than the remote was, as far as that can be seen."""
    from .network import host_of

    known = inv.walk.world.git(inv.scope.cwd) if inv.scope.cwd[:1] == "/" and ANY not in inv.scope.cwd else None
    before = known.remotes().get(name, "") if known is not None else ""
    host = host_of(url)
    if before:
        return host_of(before) != host
    return (
        host not in ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "ssh.github.com") and ANY not in url
    )


def _plumbing(inv: Invocation, args: list[str]) -> None:
    if has(args, "-u", "--update") or has(args, "-f", "-a", "--force"):
        _add_work(inv, "checkout-index", ("forced",))

    if args[:1] != ["--"] and "--stdin" not in args:
        for path in operands(args, "--prefix", "--stage"):
            if inv.target(path).roles & {"gate", "hook-settings"}:
                inv.add("overwrite", inv.target(path), facts=("git",), detail="git checkout-index")


def _notes(inv: Invocation, args: list[str]) -> None:
    return None


def _mv(inv: Invocation, args: list[str]) -> None:
    """Only what is the gate's or a host's: git mv keeps everything else."""
    if has(args, "-n", "--dry-run"):
        return
    for path in operands(args):
        target = inv.target(path)
        if target.roles & {"gate", "hook-settings"}:
            inv.add("overwrite", target, facts=("git",), detail="git mv")


def _apply(inv: Invocation, args: list[str]) -> None:
    """A patch that can be read says which files it changes."""
    from .files import patched

    if not has(args, "--check", "--stat", "--numstat", "--summary"):
        patched(inv, operands(args, "-p", "-C", "--directory", "--exclude", "--include", "--whitespace"))


_COMMANDS = {
    "reset": _reset, "checkout": _checkout, "restore": _restore, "switch": _switch, "clean": _clean, "stash": _stash, "branch": _branch,
    "tag": _tag, "push": _push, "filter-branch": _history, "filter-repo": _history, "rebase": _rebase, "commit": _commit, "reflog": _reflog,
    "gc": _gc, "prune": _prune, "update-ref": _update_ref, "worktree": _worktree, "submodule": _submodule, "rm": _rm, "bisect": _bisect,
    "config": _config, "clone": _clone, "fetch": _fetch, "pull": _fetch, "ls-remote": _fetch, "grep": _grep, "add": _add,
    "rev-parse": _revparse, "ls-files": _listing, "archive": _archive, "diff": _diff, "log": _diff, "show": _diff, "send-email": _send_email,
    "remote": _remote, "checkout-index": _plumbing, "read-tree": _plumbing,
    "status": _notes, "blame": _notes, "init": _notes, "merge": _notes, "cherry-pick": _notes, "describe": _notes, "shortlog": _notes,
    "revert": _notes, "apply": _apply, "am": _apply, "mv": _mv, "cat-file": _notes, "format-patch": _notes, "lfs": _notes,
}  # fmt: skip


def bfg(inv: Invocation) -> Flow:
    inv.add("rewrite-history", inv.target("."), detail="bfg")
    return NO_FLOW


READERS = {"git": git, "git-filter-repo": bfg, "bfg": bfg, "hub": git}
