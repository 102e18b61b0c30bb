"""Launchers: programs whose whole effect is the command they start (sudo, env, xargs, ssh, docker exec …)."""

from __future__ import annotations

from ..finding import ANY, NAME, STAR, Target
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .options import has, operands, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..walk import Invocation, Scope

# Launchers of the plain kind: options, then the command.  Options that take a value, then how many words come first.
_PLAIN: dict[str, tuple[str, int]] = {
    "nice": ("-n --adjustment", 0),
    "nohup": ("", 0),
    "ionice": ("-c -n -p -P -u --class --classdata", 0),
    "chrt": ("-p -T -P -D", 1),
    "taskset": ("-c -p", 1),
    "time": ("-o -f --output --format", 0),
    "gtime": ("-o -f", 0),
    "timeout": ("-k -s --kill-after --signal", 1),
    "gtimeout": ("-k -s --kill-after --signal", 1),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "unbuffer": ("", 0),
    "setsid": ("", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("-a", 0),
    "busybox": ("", 0),
    "toybox": ("", 0),
    "caffeinate": ("-t -w", 0),
    "catchsegv": ("", 0),
    "eatmydata": ("", 0),
    "fakeroot": ("-s -i -l -u -b", 0),
    "setarch": ("", 1),
    "linux32": ("", 0),
    "linux64": ("", 0),
    "prlimit": ("--pid", 0),
    "cpulimit": ("-l --limit -p -e", 0),
    "trickle": ("-d -u -s", 0),
    "proxychains": ("-f", 0),
    "proxychains4": ("-f", 0),
    "torsocks": ("", 0),
    "torify": ("", 0),
    "strace": ("-e -o -p -s -u -E -P -a -b -I -O -S -X", 0),
    "ltrace": ("-e -o -p -s -u -n -a -l", 0),
    "gdb": ("-x -ex -p", -1),
    "valgrind": ("", 0),
    "perf": ("", -1),
    "dbus-run-session": ("", 0),
    "dbus-launch": ("", 0),
    "xvfb-run": ("-e -f -n -p -s -w --server-args", 0),
    "firejail": ("", 0),
    "bwrap": ("", -1),
    "unshare": ("-S -G -R -w --root --wd --setuid --setgid --map-user --map-group", 0),
    "nsenter": ("-t --target -S -G -w", 0),
    "chroot": ("", 1),
    "chronic": ("", 0),
    "ifne": ("", 0),
    "noglob": ("", 0),
    "nocorrect": ("", 0),
    "dotenv": ("-f -e", 0),
    "cross-env": ("", 0),
    "cross-env-shell": ("", 0),
    "env-cmd": ("-f -e", 0),
    "with-env": ("", 0),
    "rtk": ("", 0),
    "systemd-inhibit": ("--what --who --why --mode", 0),
    "setpriv": ("--reuid --regid --groups", 0),
    "gosu": ("", 1),
    "su-exec": ("", 1),
    "runuser": ("-u -g -G -c -s -l", 0),
    "hyperfine": ("", -1),
    "coproc": ("", 0),
    "then": ("", 0),
    "do": ("", 0),
}  # fmt: skip


def plain(inv: Invocation) -> Flow:
    valued, first = _PLAIN[inv.name]
    words = _command_words(inv.args, valued.split())
    if inv.name == "command" and has(inv.args[:1], "-v", "-V"):
        from .readers import which

        return which(inv)
    if first < 0:
        return UNKNOWN_FLOW
    if inv.name in ("cross-env", "env-cmd", "dotenv", "with-env", "fakeroot", "time", "exec", "cross-env-shell"):
        words = _assignments(inv, words)
    words = words[first:]
    if words[:1] == ["--"]:
        words = words[1:]
    if inv.name == "exec" and not words:
        return NO_FLOW
    if inv.name in ("busybox", "toybox") and not words:
        return UNKNOWN_FLOW
    if not words:
        if inv.name in ("unshare", "nsenter", "chroot", "setsid", "firejail") and inv.args:
            from .interpreters import interactive

            interactive(inv)
        return UNKNOWN_FLOW
    scope = None
    if inv.name in ("chroot", "nsenter"):
        scope = _elsewhere(inv, "container:" + inv.name)
        inv.add("escalate", Target("none"), facts=(inv.name,), sure="likely") if inv.name == "nsenter" else None
    elif inv.name in ("gosu", "su-exec", "runuser", "setpriv"):
        scope = inv.scope.copy()
        scope.root = True
    return inv.command(words, inv.name, scope=scope)


def _command_words(args: list[str], valued: list[str]) -> list[str]:
    """What is left behind a launcher's own options."""
    i, n = 0, len(args)
    while i < n:
        arg = args[i]
        if arg == "--":
            return args[i + 1 :]
        if arg[:1] != "-" or len(arg) == 1:
            break
        i += 2 if arg in valued else 1
    return args[i:]


def _assignments(inv: Invocation, words: list[str]) -> list[str]:
    while (
        words
        and "=" in words[0]
        and words[0].split("=", 1)[0].replace("_", "a").isalnum()
        and words[0][:1] not in "-/."
    ):
        name, _, value = words[0].partition("=")
        inv.env[name] = value
        words = words[1:]
    return words


def _elsewhere(inv: Invocation, where: str) -> Scope:
    scope = inv.scope.copy()
    scope.where = where
    scope.cwd = ""
    scope.env = {}
    scope.lists = {}
    scope.functions = {}
    scope.aliases = {}
    return scope


_ROOT_VALUED = [
    "-u",
    "-g",
    "-h",
    "-p",
    "-C",
    "-c",
    "-T",
    "-U",
    "-r",
    "-t",
    "-D",
    "-R",
    "--user",
    "--group",
    "--host",
    "--prompt",
    "--chdir",
    "--chroot",
]


def sudo(inv: Invocation) -> Flow:
    args = inv.args
    scope = inv.scope.copy()
    scope.root = True
    words = _command_words(args, _ROOT_VALUED)
    own = args[: len(args) - len(words)]
    chdir = value_of(own, "-D", "--chdir")
    if chdir:
        scope.cwd = inv.target(chdir).path or ANY
    words = _assignments(inv, words)
    if has(own, "-e", "--edit") or inv.name == "sudoedit":
        for path in words:
            inv.add("write", inv.target(path), facts=("editor",))
        return UNKNOWN_FLOW
    if not words:
        if has(own, "-i", "-s", "--login", "--shell"):
            from .interpreters import interactive

            interactive(inv)
            if inv.stdin is not None:
                return inv.code(inv.stdin.text if inv.stdin.text is not None else ANY, inv.name, scope)
        return UNKNOWN_FLOW
    if has(own, "-i", "-s", "--login", "--shell") and len(words) == 1:
        return inv.code(words[0], inv.name, scope)
    return inv.command(words, inv.name, scope=scope)


def su(inv: Invocation) -> Flow:
    code = value_of(inv.args, "-c", "--command", "--session-command")
    if code is None:
        from .interpreters import interactive

        interactive(inv)
        return UNKNOWN_FLOW
    scope = inv.scope.copy()
    scope.root = True
    return inv.code(code, "su -c", scope)


def pkexec(inv: Invocation) -> Flow:
    scope = inv.scope.copy()
    scope.root = True
    return inv.command(_command_words(inv.args, ["--user"]), "pkexec", scope=scope)


def env(inv: Invocation) -> Flow:
    args = list(inv.args)
    words: list[str] = []
    scope = inv.scope
    while args:
        arg = args.pop(0)
        if (arg in ("-u", "--unset") and args) or (arg == "-P" and args):
            args.pop(0)
        elif arg in ("-C", "--chdir") and args:
            scope = inv.scope.copy()
            scope.cwd = inv.target(args.pop(0)).path or ANY
        elif arg.startswith("--chdir="):
            scope = inv.scope.copy()
            scope.cwd = inv.target(arg[8:]).path or ANY
        elif arg in ("-S", "--split-string") and args:
            args = _split(args.pop(0)) + args
        elif arg.startswith("-S") and len(arg) > 2:
            args = _split(arg[2:]) + args
        elif arg.startswith("--split-string="):
            args = _split(arg[15:]) + args
        elif arg[:1] == "-" and arg != "-":
            if arg[1:2] != "-" and arg.endswith("S") and args:  # -iS
                args = _split(args.pop(0)) + args
        elif arg == "-":
            continue
        elif "=" in arg and not words:
            name, _, value = arg.partition("=")
            inv.env[name] = value
        else:
            words = [arg, *args]
            break
    if not words:
        return Flow(None, frozenset(("secret", "environment")))
    from . import exported

    if inv.env:
        exported(inv)
    new = scope.copy()
    return inv.command(words, "env", scope=new)


def _split(text: str) -> list[str]:
    """``env -S``: shell-like quoting without expansion."""
    from ..parse import Unreadable, read
    from ..tree import Command

    try:
        first = read(text).items[0]
    except (Unreadable, IndexError):
        return text.split()
    if not isinstance(first, Command):
        return text.split()
    out = [name + "=" + "".join(str(p[1]) for p in word) for name, word, _ in first.assigns]
    return out + ["".join(str(p[1]) if p[0] in "tq" else ANY for p in word) for word in first.words]


_XARGS_VALUED = (
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
    "--max-lines",
    "--max-chars",
    "--process-slot-var",
    "--eof",
)


def xargs(inv: Invocation) -> Flow:
    words = _command_words(inv.args, list(_XARGS_VALUED))
    own = inv.args[: len(inv.args) - len(words)]
    mark = ""
    for k, arg in enumerate(own):
        if arg in ("-I", "-J") and k + 1 < len(own):
            mark = own[k + 1]
        elif arg in ("-i", "--replace"):
            mark = "{}"
        elif arg.startswith(("-I", "-J", "-i")) and len(arg) > 2 and arg[1:2] != "-":
            mark = arg[2:]
        elif arg.startswith("--replace="):
            mark = arg[10:]
    flow = inv.stdin
    whole_lines = bool(mark) or has(own, "-d", "--delimiter", "-0", "--null", "-L", "-l")
    names: list[str]
    if value_of(own, "-a", "--arg-file"):
        names = [ANY]
    elif flow is not None and flow.text is not None and ANY not in flow.text:
        names = [n for n in (flow.text.split("\n") if whole_lines else flow.text.split()) if n][:64]
    elif flow is not None and flow.names:
        names = [n if n != STAR else "./" + STAR for n in flow.names]
    else:
        names = [ANY]
    if not words:
        return flow or UNKNOWN_FLOW
    facts = {"xargs"}
    if not has(own, "-0", "--null", "-d", "--delimiter") and flow is not None and flow.names and not mark:
        facts.add("splits-names")
    if mark:
        calls = [[w.replace(mark, name) for w in words] for name in names[:16]]
        if not any(mark in w for w in words):
            calls = [[*words, *names]]  # the mark is never used: what was meant is judged
    else:
        calls = [[*words, *names]]
    before = len(inv.walk.findings)
    taints = inv.taints
    if flow is not None:
        inv.taints = inv.taints | flow.taints
    saved, inv.stdin = inv.stdin, None
    for call in calls:
        inv.walk.launch(inv, call, "xargs", None, None)
    inv.taints, inv.stdin = taints, saved
    for finding in inv.walk.findings[before:]:
        finding.facts = finding.facts | facts
    return UNKNOWN_FLOW


def parallel(inv: Invocation) -> Flow:
    args = inv.args
    at = next((i for i, a in enumerate(args) if a in (":::", ":::+", "::::")), -1)
    head = args if at < 0 else args[:at]
    values = [a for a in args[at + 1 :] if a[:3] != ":::"] if at >= 0 and args[at] != "::::" else [ANY]
    words = _command_words(
        head,
        [
            "-j",
            "-n",
            "-N",
            "-I",
            "--jobs",
            "-a",
            "--colsep",
            "--joblog",
            "--tmpdir",
            "-S",
            "--sshlogin",
            "--timeout",
            "--delay",
            "--retries",
            "-L",
            "-X",
            "-m",
            "--results",
            "--tagstring",
            "--max-args",
            "--load",
            "--memfree",
            "--halt",
            "-P",
            "--wd",
            "--workdir",
        ],
    )
    if at < 0 and inv.stdin is not None:
        values = inv.stdin.names or (inv.stdin.text.split("\n") if inv.stdin.text else [ANY])
    values = [v for v in values if v][:16] or [ANY]
    if not words:
        for value in values:
            inv.code(value, "parallel")
        return UNKNOWN_FLOW
    marks = ("{}", "{1}", "{.}", "{/}", "{//}")
    used = any(m in w for w in words for m in marks)
    for value in values:
        filled = []
        for word in words:
            for m in marks:
                word = word.replace(m, value)
            filled.append(word)
        if not used:
            filled.append(value)
        # parallel joins its words into one shell line; both readings are judged
        if len(words) == 1 or (used and len(filled) == 1):
            inv.code(" ".join(filled), "parallel")
        else:
            inv.command(filled, "parallel", NO_FLOW)
    return UNKNOWN_FLOW


def watch(inv: Invocation) -> Flow:
    words = _command_words(inv.args, ["-n", "--interval", "-q", "--equexit"])
    if has(inv.args[: len(inv.args) - len(words)], "-x", "--exec"):
        return inv.command(words, "watch")
    if len(words) > 1:
        return inv.command(words, "watch")  # watch joins its words for sh; quoted ones are judged as they stand
    return inv.code(" ".join(words), "watch") if words else UNKNOWN_FLOW


def flock(inv: Invocation) -> Flow:
    words = _command_words(inv.args, ["-w", "-E", "--timeout", "--wait", "--conflict-exit-code"])
    code = value_of(inv.args, "-c", "--command")
    if code is not None:
        return inv.code(code, "flock")
    words = words[1:]
    if words[:1] == ["-c"] and len(words) > 1:
        return inv.code(words[1], "flock")
    return inv.command(words, "flock") if words else UNKNOWN_FLOW


def ssh(inv: Invocation) -> Flow:
    valued = [
        "-b",
        "-c",
        "-D",
        "-E",
        "-e",
        "-F",
        "-I",
        "-i",
        "-J",
        "-L",
        "-l",
        "-m",
        "-O",
        "-o",
        "-p",
        "-Q",
        "-R",
        "-S",
        "-W",
        "-w",
        "-B",
    ]
    from .network import ssh_options

    ssh_options(inv)
    words = _command_words(inv.args, valued)
    host = words[0] if words else ""
    rest = _command_words(words[1:], valued)
    scope = _elsewhere(inv, host or "remote")
    if inv.stdin is not None and (
        inv.stdin.taints & {"secret", "file", "environment"} or (inv.stdin.text is None and rest)
    ):
        from .network import send

        send(inv, host, facts=("copy", "stdin"))
    if rest:
        text = " ".join(rest)
        before = len(inv.walk.findings)
        flow = inv.code(text, "ssh", scope)
        if _prod(host):
            for finding in inv.walk.findings[before:]:
                finding.facts = finding.facts | {"production"}
        return Flow(None, flow.taints | {"remote-output"})
    if inv.stdin is not None:
        if inv.stdin.text is not None:
            inv.code(inv.stdin.text, "ssh", scope, NO_FLOW)
        return UNKNOWN_FLOW
    if host and not has(inv.args, "-N", "-W", "-O", "-Q", "-V", "-G", "-T"):
        from .interpreters import interactive

        interactive(inv, "remote")
    return UNKNOWN_FLOW


def _prod(text: str) -> bool:
    from . import _production

    return _production(text.lower())


def container(inv: Invocation) -> Flow | None:
    """docker/podman/kubectl run and exec: the command runs elsewhere, on what is mounted here."""
    words = inv.args
    from .options import VALUED

    words = _command_words(words, list(VALUED.get(inv.name, ())))
    if words[:1] in (["container"], ["compose"]):
        words = _command_words(words[1:], ["-f", "--file", "-p", "--project-name", "--profile", "--env-file"])
    if not words:
        return None
    verb, rest = words[0], words[1:]
    if inv.name in ("kubectl", "oc", "k") and verb in ("exec", "run", "debug"):
        if "--" in rest:
            inner = rest[rest.index("--") + 1 :]
        else:
            inner = (
                _command_words(rest, ["-n", "--namespace", "-c", "--container", "--image"])[1:]
                if verb == "exec"
                else []
            )
        if inner:
            inv.command(inner, f"{inv.name} {verb}", scope=_elsewhere(inv, "container:kube"))
        return None
    if verb not in ("exec", "run", "create"):
        return None
    valued = [
        "-u",
        "--user",
        "-w",
        "--workdir",
        "-e",
        "--env",
        "--env-file",
        "-v",
        "--volume",
        "--mount",
        "--name",
        "-p",
        "--publish",
        "--network",
        "--net",
        "--entrypoint",
        "-l",
        "--label",
        "-m",
        "--memory",
        "--cpus",
        "-h",
        "--hostname",
        "--add-host",
        "--platform",
        "--restart",
        "--device",
        "--cap-add",
        "--cap-drop",
        "--security-opt",
        "--gpus",
        "--ulimit",
        "--tmpfs",
        "--dns",
        "--pid",
        "--ipc",
        "--uts",
        "--userns",
        "--index",
        "--shm-size",
        "--log-driver",
        "--link",
        "--pull",
        "--expose",
        "-a",
        "--attach",
        "--volumes-from",
        "--group-add",
    ]
    mounts: list[tuple[str, str]] = []
    wide = []
    i = 0
    while i < len(rest):
        arg = rest[i]
        if arg in ("-v", "--volume", "--mount") and i + 1 < len(rest):
            _mount(rest[i + 1], mounts)
        elif arg.startswith(("-v=", "--volume=", "--mount=")):
            _mount(arg.split("=", 1)[1], mounts)
        elif (
            arg == "--privileged"
            or arg.startswith(("--pid=host", "--cap-add=ALL", "--cap-add=SYS_ADMIN"))
            or (arg in ("--pid", "--cap-add") and rest[i + 1 : i + 2] in (["host"], ["ALL"], ["SYS_ADMIN"]))
        ):
            wide.append(arg)
        i += 1
    for source, _ in mounts:
        target = inv.target(source)
        if (
            target.kind in ("root", "device")
            or source.startswith(("/var/run/docker.sock", "/run/docker.sock", "/etc", "/proc", "/sys"))
            or "gate" in target.roles
        ):
            inv.add("escalate", target, facts=("mount", *wide), detail=f"mounts {source}")
    if wide and not mounts:
        inv.add("escalate", facts=("privileged",), detail=" ".join(wide), sure="likely")
    entry = value_of(rest, "--entrypoint")
    inner = _command_words(rest, valued)[1:]
    if entry:
        inner = [entry, *inner]
    if inner:
        scope = _elsewhere(inv, "container:" + inv.name)
        workdir = value_of(rest, "-w", "--workdir") or ""
        scope.cwd = workdir if workdir.startswith("/") else ""
        before = len(inv.walk.findings)
        inv.command(inner, f"{inv.name} {verb}", scope=scope)
        for finding in inv.walk.findings[before:]:
            _mounted(inv, finding, mounts)
    return None


def _mount(text: str, mounts: list[tuple[str, str]]) -> None:
    if "source=" in text or "src=" in text:
        parts = dict(p.split("=", 1) for p in text.split(",") if "=" in p)
        mounts.append(
            (
                parts.get("source") or parts.get("src") or "",
                parts.get("target") or parts.get("dst") or parts.get("destination") or "",
            )
        )
        return
    parts_list = text.split(":")
    if len(parts_list) >= 2 and not (len(parts_list) > 2 and parts_list[-1] == "ro"):
        mounts.append((parts_list[0], parts_list[1]))


def _mounted(inv: Invocation, finding: object, mounts: list[tuple[str, str]]) -> None:
    """A path inside the container that is really a directory of this machine."""
    from ..finding import Finding
    from ..paths import is_within

    assert isinstance(finding, Finding)
    path = finding.target.path
    for source, inside in mounts:
        if path and inside.startswith("/") and is_within(path, inside.rstrip("/") or "/") and source[:1] in "/.~$\0":
            real = inv.target((source.rstrip("/") + path[len(inside.rstrip("/")) :]) or "/")
            finding.target = Target(real.kind, real.path, real.roles | {"local"})
            finding.facts = finding.facts - {"container"} | {"mounted"}


def runner(inv: Invocation) -> Flow | None:
    """npx, uv run, poetry run …: a project's or a registry's program is started."""
    words = inv.args
    name = inv.name
    if name in (
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "deno",
        "pipx",
        "uv",
        "poetry",
        "pipenv",
        "pdm",
        "hatch",
        "rye",
        "bundle",
        "conda",
        "mamba",
        "rbenv",
        "pyenv",
        "nvm",
        "volta",
        "asdf",
        "mise",
        "direnv",
        "nix",
        "nix-shell",
        "cargo",
        "go",
        "dotnet",
        "rustup",
        "op",
        "doppler",
        "infisical",
        "chamber",
        "aws-vault",
        "sops",
        "envchain",
        "heroku",
        "railway",
        "fly",
        "flyctl",
    ):
        verbs = {
            "npm": ("exec", "x"),
            "pnpm": ("exec", "dlx"),
            "yarn": ("exec", "dlx"),
            "bun": ("x",),
            "pipx": ("run",),
            "uv": ("run",),
            "poetry": ("run",),
            "pipenv": ("run",),
            "pdm": ("run",),
            "hatch": ("run",),
            "rye": ("run",),
            "bundle": ("exec",),
            "conda": ("run",),
            "mamba": ("run",),
            "rbenv": ("exec",),
            "pyenv": ("exec",),
            "volta": ("run",),
            "asdf": ("exec",),
            "mise": ("exec", "x"),
            "direnv": ("exec",),
            "op": ("run",),
            "doppler": ("run",),
            "infisical": ("run",),
            "chamber": ("exec",),
            "aws-vault": ("exec",),
            "rustup": ("run",),
        }.get(name, ())
        if not words or words[0] not in verbs:
            return None
        valued = [
            "--package",
            "-p",
            "--python",
            "-n",
            "--name",
            "--with",
            "--with-editable",
            "--extra",
            "--env-file",
            "--directory",
            "--project",
            "--group",
            "--config",
            "-c",
            "-e",
            "--env",
            "--from",
            "--index-url",
            "--prefix",
            "--cwd",
            "-C",
            "-w",
            "--workspace",
            "--only-group",
            "--isolated",
        ]
        inner = _command_words(words[1:], [v for v in valued if v != "--isolated"])
        if name == "op" and "--" in words:
            inner = words[words.index("--") + 1 :]
        if name in ("direnv", "rustup", "chamber", "aws-vault") and inner:
            inner = inner[1:]
        if inner[:1] == ["--"]:
            inner = inner[1:]
        code = value_of(words[1:], "-c", "--call") if name == "npm" else None
        if code:
            inv.code(code, "npm exec -c")
        elif inner:
            inv.command(inner, f"{name} {words[0]}")
        return None
    inner = _command_words(words, ["-p", "--package", "--registry", "--cache", "--with", "--python", "--from"])
    code = value_of(words, "-c", "--call")
    if code and name in ("npx", "bunx", "pnpx"):
        inv.code(code, name)
    elif inner:
        inner = [inner[0].split("@")[0] if inner[0][:1] != "@" else inner[0], *inner[1:]]
        inv.command(inner, name)
    return None


def multiplexer(inv: Invocation) -> Flow:
    """tmux, screen: typing into another terminal is running code there."""
    words = inv.args
    if inv.name == "tmux":
        words = _command_words(words, ["-f", "-L", "-S", "-c"])
        verb = words[0] if words else ""
        if verb in ("send-keys", "send"):
            typed = [w for w in operands(words[1:], "-t", "-N") if w not in ("Enter", "C-m", "C-j", "KPEnter")]
            return inv.code(" ".join(typed), "tmux send-keys")
        if verb in (
            "new-session",
            "new",
            "new-window",
            "neww",
            "split-window",
            "splitw",
            "respawn-pane",
            "run-shell",
            "run",
            "popup",
            "display-popup",
        ):
            rest = operands(words[1:], "-t", "-s", "-n", "-c", "-x", "-y", "-F", "-e", "-l", "-p", "-w", "-h")
            if rest:
                return inv.code(" ".join(rest), f"tmux {verb}")
            return UNKNOWN_FLOW
        return UNKNOWN_FLOW
    if value_of(words, "-X") == "stuff":
        return inv.code(words[-1].replace("\\n", "\n").replace("\\r", "\n").replace("^M", "\n"), "screen stuff")
    rest = operands(words, "-S", "-c", "-h", "-t", "-T", "-L", "-Logfile")
    return inv.command(rest, "screen") if rest else UNKNOWN_FLOW


def script(inv: Invocation) -> Flow:
    code = value_of(inv.args, "-c", "--command")
    if code is None:  # bundled: script -qc CODE
        at = next(
            (i for i, a in enumerate(inv.args) if a[:1] == "-" and a[1:2] != "-" and a[-1:] == "c" and a[1:].isalpha()),
            -1,
        )
        code = inv.args[at + 1] if 0 <= at < len(inv.args) - 1 else None
    if code is not None:
        return inv.code(code, "script")
    rest = operands(inv.args, "-I", "-O", "-B", "-T", "-m", "-E")
    return inv.command(rest[1:], "script") if len(rest) > 1 else UNKNOWN_FLOW


def entr(inv: Invocation) -> Flow:
    words = _command_words(inv.args, [])
    if has(inv.args[: len(inv.args) - len(words)], "-s"):
        return inv.code(words[0] if words else ANY, "entr")
    return inv.command([w.replace("/_", NAME) if w == "/_" else w for w in words], "entr") if words else UNKNOWN_FLOW


def code_argument(inv: Invocation) -> Flow:
    """concurrently, npm-run-all, nodemon --exec …: each word is a command line."""
    if inv.name in ("nodemon", "watchexec", "chokidar"):
        code = value_of(inv.args, "--exec", "-x", "-c", "--command")
        if code:
            return inv.code(code, inv.name)
        words = operands(inv.args, "-e", "-w", "--ext", "--watch", "-i", "--ignore", "--exts", "-d", "--delay", "-p")
        return inv.command(words, inv.name) if inv.name == "watchexec" and words else UNKNOWN_FLOW
    for word in operands(
        inv.args,
        "-n",
        "--names",
        "-c",
        "--prefix-colors",
        "-p",
        "--prefix",
        "-m",
        "--max-processes",
        "--restart-tries",
        "-s",
        "--success",
        "--kill-others-on",
    ):
        if " " in word:
            inv.code(word, inv.name)
    return UNKNOWN_FLOW


def systemd_run(inv: Invocation) -> Flow:
    from .options import VALUED

    words = _command_words(inv.args, list(VALUED["systemd-run"]))
    scope = inv.scope.copy()
    scope.root = not has(inv.args, "--user")
    return inv.command(words, "systemd-run", scope=scope) if words else UNKNOWN_FLOW


def at(inv: Invocation) -> Flow:
    if has(inv.args, "-l", "-c", "-V") or inv.name in ("atq",):
        return UNKNOWN_FLOW
    inv.add("persist", Target("system", "at", ("cron",)), facts=("at",), sure="likely")
    if inv.stdin is not None and inv.stdin.text is not None:
        inv.code(inv.stdin.text, "at")
    return UNKNOWN_FLOW


def expect(inv: Invocation) -> Flow:
    code = value_of(inv.args, "-c")
    if code and "spawn " in code:
        inner = code.split("spawn ", 1)[1].split(";")[0].split("\n")[0]
        inv.code(inner, "expect")
    return UNKNOWN_FLOW


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    **dict.fromkeys(_PLAIN, plain),
    "sudo": sudo, "doas": sudo, "sudoedit": sudo, "su": su, "pkexec": pkexec, "env": env, "genv": env, "xargs": xargs, "gxargs": xargs, "parallel": parallel, "sem": parallel,
    "watch": watch, "flock": flock, "ssh": ssh, "autossh": ssh, "mosh": ssh, "docker": container, "podman": container, "nerdctl": container, "docker-compose": container,
    "kubectl": container, "oc": container, "k": container, "npx": runner, "bunx": runner, "pnpx": runner, "uvx": runner, "npm": runner, "pnpm": runner, "yarn": runner, "bun": runner,
    "pipx": runner, "uv": runner, "poetry": runner, "pipenv": runner, "pdm": runner, "hatch": runner, "rye": runner, "bundle": runner, "conda": runner, "mamba": runner,
    "rbenv": runner, "pyenv": runner, "volta": runner, "asdf": runner, "mise": runner, "direnv": runner, "op": runner, "doppler": runner, "infisical": runner, "chamber": runner,
    "aws-vault": runner, "rustup": runner, "tmux": multiplexer, "screen": multiplexer, "script": script, "entr": entr, "concurrently": code_argument,
    "nodemon": code_argument, "watchexec": code_argument, "systemd-run": systemd_run, "at": at, "batch": at, "expect": expect,
}  # fmt: skip
