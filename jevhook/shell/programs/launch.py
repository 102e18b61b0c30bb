"""Launchers: programs whose whole effect is the command they start (sudo, env, xargs, ssh, docker exec …)."""

from __future__ import annotations

from ..finding import ANY, NAME, STAR, Target
from ..readonly import XARGS_VALUED
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .options import has, operands, value_of, values_of

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
    "taskset": ("", 1),
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
    "prlimit": ("-p --pid -o --output", 0),
    "cpulimit": ("-l --limit -p --pid -e --exe -P --path -c --cpu", 0),
    "trickle": ("-d -u -w -t -l -n -L -P", 0),
    "proxychains": ("-f", 0),
    "proxychains4": ("-f", 0),
    "torsocks": ("", 0),
    "torify": ("", 0),
    "strace": ("-e -o -p -s -u -E -P -a -b -I -O -S -U -X", 0),
    "ltrace": ("-e -o -p -s -u -n -a -l -x -A -D -F", 0),
    "valgrind": ("", 0),
    "dbus-run-session": ("", 0),
    "dbus-launch": ("", 0),
    "xvfb-run": ("-e -f -n -p -s -w --server-args --server-num --error-file --auth-file --wait --xauth-protocol", 0),
    "firejail": ("", 0),
    "unshare": ("-S -G -R -w --root --wd --setuid --setgid --map-user --map-group", 0),
    "nsenter": ("-t --target -S --setuid -G --setgid", 0),
    "chroot": ("--userspec --groups", 1),
    "chronic": ("", 0),
    "ifne": ("", 0),
    "noglob": ("", 0),
    "nocorrect": ("", 0),
    "dotenv": ("-f -e", 0),
    "cross-env": ("", 0),
    "cross-env-shell": ("", 0),
    "env-cmd": ("-f -e -r --file --environments --rc-file", 0),
    "with-env": ("", 0),
    "rtk": ("", 0),
    "systemd-inhibit": ("--what --who --why --mode", 0),
    "setpriv": ("--reuid --regid --ruid --euid --rgid --egid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig --selinux-label --apparmor-profile", 0),
    "gosu": ("", 1),
    "su-exec": ("", 1),
    "runuser": ("-u -g -G -s -w --user --group --shell", 0),
    "coproc": ("", 0),
    "then": ("", 0),
    "do": ("", 0),
    "sshpass": ("-f -d -p -P", 0),
    "tini": ("-p -e", 0),
    "tini-static": ("-p -e", 0),
    "dumb-init": ("-r --rewrite", 0),
    "catatonit": ("", 0),
    "numactl": ("-C -N -m -i -p -P -S -f -L --physcpubind --cpunodebind --membind --interleave --preferred --shm --file --length", 0),
    "cgexec": ("-g", 0),
    "arch": ("-arch -e -d", 0),
    "rlwrap": ("-b -C -D -f -g -H -l -M -O -P -q -s -S -t -w -z", 0),
    "retry": ("-t -d -m -n -s -u -r -f --times --tries --delay --max --sleep --until --while --retries --interval", 0),
    "run-one": ("", 0),
    "run-this-one": ("", 0),
    "run-one-constantly": ("", 0),
    "run-one-until-success": ("", 0),
    "run-one-until-failure": ("", 0),
    "keep-one-running": ("", 0),
    "daemonize": ("-c -e -o -p -l -u -E", 0),
    "daemon": ("-n -u -F -o -O -E -D -P -l -p -T -t --name --user --pidfile --output --stdout --stderr --chdir --env", 0),
    "flatpak-spawn": ("", 0),
    "setuidgid": ("", 1),
    "s6-setuidgid": ("", 1),
    "envdir": ("", 1),
    "s6-envdir": ("", 1),
    "setlock": ("", 1),
    "chpst": ("-u -U -b -e -/ -m -d -o -p -f -c -r -t -l -L -n -C", 0),
    "runcon": ("-t -u -r -l --type --user --role --range", 0),
    "choom": ("-n -p --adjust --pid", 0),
    "uclampset": ("-m -M -p", 0),
    "faketime": ("", 1),
    "datefudge": ("", 1),
    "logsave": ("", 1),
    "gdbserver": ("", 1),
    "heaptrack": ("-o --output", 0),
    "ccache": ("-o -d -F -M --set-config --config-path", 0),
    "sccache": ("", 0),
    "envchain": ("", 1),
    "summon": ("-p -f -e -D -I --provider --environment", 0),
    "lima": ("", 0),
    "shx": ("", 0),
    "dockerize": ("-wait -template -stdout -stderr -timeout -wait-retry-interval -env", 0),
    "ld-linux-x86-64.so.2": ("--library-path --argv0 --preload --audit", 0),
    "ld-linux-aarch64.so.1": ("--library-path --argv0 --preload --audit", 0),
    "ld-linux.so.2": ("--library-path --argv0 --preload --audit", 0),
    "ld-musl-x86_64.so.1": ("--library-path --argv0 --preload", 0),
    "qemu-x86_64": ("-0 -B -D -E -L -R -U -cpu -d -g -p -s", 0),
    "qemu-aarch64": ("-0 -B -D -E -L -R -U -cpu -d -g -p -s", 0),
}  # fmt: skip


def plain(inv: Invocation) -> Flow:
    valued, first = _PLAIN[inv.name]
    words = _command_words(inv.args, valued.split())
    if inv.name == "command" and has(inv.args[:1], "-v", "-V"):
        from .readers import which

        return which(inv)
    own = inv.args[: len(inv.args) - len(words)]
    if inv.name in ("taskset", "chrt", "choom", "uclampset") and has(own, "-p", "--pid"):
        return UNKNOWN_FLOW  # a process that runs already
    if inv.name == "runuser" and value_of(inv.args, "-c", "--command", "--session-command") and not has(own, "-u"):
        return su(inv)
    if inv.name in ("dotenv", "rtk") and words[:1] and words[0] in ("run", "proxy", "err", "test", "summary"):
        words = _command_words(words[1:], ["-f", "-e"])
    if inv.name == "env-cmd" and words[:1] and (words[0][:1] == "." or words[0].endswith(".env")):
        words = words[1:]
    if inv.name == "runcon" and not own:
        first = 1
    if inv.name == "chrt" and words and not words[0].isdigit():
        first = 0
    if inv.name == "setarch" and own and not has(own, "-v"):
        first = 0 if words and "_" not in words[0] and words[0][:1] != "i" else 1
    if inv.name in ("cross-env", "env-cmd", "dotenv", "with-env", "fakeroot", "time", "exec", "cross-env-shell"):
        words = _assignments(inv, words)
    words = words[first:]
    if words[:1] == ["--"]:
        words = words[1:]
    elif first and inv.name in ("setarch", "faketime"):
        words = _command_words(words, [])
    if inv.name == "shx":
        words = [w if w[:1] == "-" else w.replace("*", STAR) for w in words]
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
    if inv.name == "lima":
        scope = _elsewhere(inv, "lima")
    elif inv.name == "chroot":
        scope = _elsewhere(inv, "container:chroot")
    elif inv.name == "nsenter":
        inv.add("escalate", Target("none"), facts=("nsenter",), sure="likely")
        # Another mount namespace is another file system, but process 1's is this machine's own.
        if has(own, "-m", "--mount", "-a", "--all") and value_of(own, "-t", "--target") not in ("1", None):
            scope = _elsewhere(inv, "container:nsenter")
        else:
            scope = inv.scope.copy()
            scope.root = True
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
        i += 2 if arg in valued or (len(arg) > 2 and arg[1] != "-" and _open_end(arg, valued)) else 1
    return args[i:]


def _open_end(arg: str, valued: list[str]) -> bool:
    """Whether a bundle of short options ends with one that takes the next word: ``sudo -nu root``."""
    for k in range(1, len(arg)):
        if "-" + arg[k] in valued:
            return k == len(arg) - 1
        if not arg[k].isalnum():
            return False
    return False


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
    *"--close-from --command-timeout --role --type --other-user --login-class".split(),
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


def xargs(inv: Invocation) -> Flow:
    words = _command_words(inv.args, list(XARGS_VALUED))
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
        elif arg[:1] == "-" and arg[1:2] != "-" and "I" in arg[2:] and arg[1 : arg.index("I")].strip("0rtpx") == "":
            at = arg.index("I")
            mark = arg[at + 1 :] or (own[k + 1] if k + 1 < len(own) else "")
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
        *"""--annotation --blkio-weight --cgroup-parent --cgroupns --cidfile --cpu-period --cpu-quota --cpu-shares -c
        --cpuset-cpus --cpuset-mems --detach-keys --device-cgroup-rule --device-read-bps --device-write-bps --dns-option
        --dns-search --domainname --health-cmd --health-interval --health-retries --health-start-period --health-timeout
        --ip --ip6 --isolation --kernel-memory --label-file --log-opt --mac-address --memory-reservation --memory-swap
        --memory-swappiness --net-alias --network-alias --oom-score-adj --pids-limit --runtime --stop-signal --stop-timeout
        --storage-opt --sysctl --volume-driver""".split(),
    ]
    mounts: list[tuple[str, str]] = []
    wide = []
    i = 0
    while i < len(rest):
        arg = rest[i]
        if (arg in ("-v", "--volume", "--mount") and i + 1 < len(rest)) or (
            arg[:1] == "-" and arg[1:2] != "-" and arg[-1:] == "v" and arg[1:].isalpha() and i + 1 < len(rest)
        ):
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


# Of these the command stands behind "--", whatever options and names come before it.
_SEPARATED = ("op", "mise", "infisical", "doppler", "dotenvx", "varlock", "teller", "berglas", "chamber", "aws-vault", "lerna", "nx")  # fmt: skip


_PACKAGED = {"@anthropic-ai/claude-code": "claude", "@openai/codex": "codex"}  # package -> the program in it


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
        "cargo",
        "go",
        "dotnet",
        "rustup",
        "op",
        "doppler",
        "infisical",
        "chamber",
        "aws-vault",
        "dotenvx",
        "varlock",
        "teller",
        "berglas",
        "pixi",
        "lerna",
        "nx",
        "foreman",
        "honcho",
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
            "uv": ("run", "tool", "x"),
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
            "dotenvx": ("run",),
            "varlock": ("run",),
            "teller": ("run",),
            "berglas": ("exec",),
            "pixi": ("run", "exec"),
            "lerna": ("exec",),
            "nx": ("exec",),
            "foreman": ("run",),
            "honcho": ("run",),
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
            "--spec",
            "--pip-args",
            "--path",
            "--projectId",
            "-f",
        ]
        if name == "uv" and words[0] == "tool":
            if words[1:2] != ["run"]:
                return None
            words = words[1:]
        inner = _command_words(words[1:], valued)
        if "--" in words and name in _SEPARATED:
            inner = words[words.index("--") + 1 :]
        elif name in ("direnv", "rustup", "chamber", "aws-vault") and inner:
            inner = inner[1:]
        elif name == "mise":
            while inner and "@" in inner[0]:
                inner = inner[1:]
        if inner[:1] == ["--"]:
            inner = inner[1:]
        code = value_of(words[1:], "-c", "--call") if name == "npm" else None
        if name in ("infisical", "doppler") and "--command" in " ".join(words):
            code = value_of(words[1:], "--command")
        if words[0] in ("dlx", "x", "exec") and inner[:1] == ["del"]:
            inner[0] = "del-cli"
        if code:
            inv.code(code, "npm exec -c")
        elif inner:
            inv.command(inner, f"{name} {words[0]}")
        return None
    valued = ["-p", "--package", "--registry", "--cache", "--with", "--python", "--from"]
    inner = _command_words(words, [*valued, "-c", "--call"] if name in ("npx", "bunx", "pnpx") else valued)
    code = value_of(words[: len(words) - len(inner)], "-c", "--call")  # behind the package it is the package's own
    if code and name in ("npx", "bunx", "pnpx"):
        inv.code(code, name)
    elif inner:
        first = inner[0].split("@")[0] if inner[0][:1] != "@" else "@" + inner[0][1:].split("@")[0]
        first = _PACKAGED.get(first, first)
        inner = ["del-cli" if first == "del" else first, *inner[1:]]
        inv.command(inner, name)
    return None


def multiplexer(inv: Invocation) -> Flow:
    """tmux, screen: typing into another terminal is running code there."""
    words = inv.args
    if inv.name == "tmux":
        words = _command_words(words, ["-f", "-L", "-S", "-c"])
        verb = words[0] if words else ""
        if verb in ("send-keys", "send"):
            return _typed(inv, operands(words[1:], "-t", "-N"), has(words, "-H"))
        if verb in ("set-buffer", "setb", "pipe-pane", "pipep", "if-shell", "if"):
            rest = operands(words[1:], "-t", "-b", "-n")
            return inv.code(rest[0], f"tmux {verb}") if rest else UNKNOWN_FLOW
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
    rest = _command_words(words, ["-S", "-c", "-h", "-t", "-T", "-p", "-e", "-s", "-Logfile"])
    return inv.command(rest, "screen") if rest else UNKNOWN_FLOW


_ENTER = ("Enter", "C-m", "C-j", "KPEnter")


def _typed(inv: Invocation, keys: list[str], codes: bool) -> Flow:
    """What ``tmux send-keys`` types: texts and names of keys, or with -H their codes, with nothing in between."""
    if codes:
        keys = [chr(int(key, 16)) for key in keys if len(key) <= 2 and key.isalnum() and key.isascii()]
    exact = "".join(" " if key == "Space" else "\n" if key in _ENTER else key for key in keys)
    flow = inv.code(exact.replace("\r", "\n"), "tmux send-keys")
    texts = [key for key in keys if key not in _ENTER and key != "Space"]
    if len(texts) > 1 and not codes:  # a line that was meant as words
        inv.code(" ".join(texts), "tmux send-keys")
    return flow


_TYPES = {
    "xdotool": "type", "ydotool": "type", "dotool": "type", "wtype": "", "kitty": "send-text", "kitten": "send-text",
    "wezterm": "send-text", "zellij": "write-chars",
}  # fmt: skip


def types(inv: Invocation) -> Flow | None:
    """Programs that type a text into whatever terminal has the focus, or into one that they run."""
    verb = _TYPES[inv.name]
    words = operands(inv.args, "-m", "--match", "-t", "--match-tab", "--pane-id", "--delay", "--window", "-d", "-D", "-k", "-s", "-P", "-p", "--to", "--clearmodifiers")  # fmt: skip
    if verb:
        if verb not in words:
            return None
        words = words[words.index(verb) + 1 :]
    for text in words:
        inv.code(text.replace("\\n", "\n").replace("\\r", "\n"), f"{inv.name} {verb}".strip())
    return UNKNOWN_FLOW


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
        _spawned(inv, code)
        return UNKNOWN_FLOW
    from .interpreters import file_text

    files = operands(inv.args, "-c", "-f")
    path = value_of(inv.args, "-f") or (files[0] if files else "")
    text = inv.stdin.text if path in ("", "-") and inv.stdin is not None else file_text(inv, path) if path else None
    if text is not None:
        before = len(inv.walk.findings)
        _spawned(inv, text)
        if path not in ("", "-"):
            for finding in inv.walk.findings[before:]:
                finding.facts = finding.facts | {"in-script"}
    return UNKNOWN_FLOW


def _spawned(inv: Invocation, text: str) -> None:
    """The commands that an expect script starts: ``spawn``, ``exec`` and ``system``; Tcl's variables are not known."""
    for line in text.replace(";", "\n").split("\n")[:4000]:
        words = line.strip().replace("[", " ").split(None, 1)
        for mark in ("spawn ", "exec ", "system "):
            if len(words) > 1 and mark in line and (line.strip().startswith(mark) or "[" + mark in line):
                started = line.split(mark, 1)[1].strip().rstrip("]")
                while started[:1] == "-" and " " in started:  # spawn -noecho -ignore HUP PROGRAM
                    option, _, started = started.partition(" ")
                    started = started.partition(" ")[2] if option == "-ignore" else started.lstrip()
                inv.code(started, "expect")
                break


# -- launchers with a verb in front of the command ---------------------------------------------------------------

# verb, options that take a value, names that come first, and where the command runs ("" on this machine's files)
_VERBED: dict[str, tuple[str, str, int, str]] = {
    "lxc": ("exec", "--cwd --env --user --group --mode", 1, "remote"),
    "incus": ("exec", "--cwd --env --user --group --mode --project", 1, "remote"),
    "multipass": ("exec", "-d --working-directory", 1, "remote"),
    "limactl": ("shell", "--workdir --shell", 1, "remote"),
    "colima": ("ssh", "-p --profile", 0, "remote"),
    "orb": ("", "-m -u -w -s --machine --user --workdir", 0, "remote"),
    "machinectl": ("shell", "--uid -E --setenv -M -H", 1, "remote"),
    "crictl": ("exec", "-r --timeout", 1, "container:"),
    "buildah": ("run", "--user --volume -v --mount --workingdir --env -e", 1, "container:"),
    "systemd-nspawn": ("", "-D -i -M -u -E -p --directory --image --machine --user --setenv --bind --bind-ro", 0, "container:"),
    "apptainer": ("exec", "-B --bind --pwd -H --home --env --env-file --overlay", 1, ""),
    "singularity": ("exec", "-B --bind --pwd -H --home --env --env-file --overlay", 1, ""),
    "distrobox": ("enter", "-n --name -a --additional-flags", 1, ""),
    "distrobox-enter": ("", "-n --name -a --additional-flags", 0, ""),
    "toolbox": ("run", "-c --container -d --distro -r --release", 0, ""),
    "wsl": ("", "-d --distribution -u --user --cd --shell-type", 0, ""),
    "guix": ("shell", "", 0, ""),
    "devenv": ("shell", "", 0, ""),
    "devbox": ("run", "-c --config -e --env", 0, ""),
    "flox": ("activate", "-d -r --dir --remote", 0, ""),
    "perf": ("stat record trace mem c2c", "-e -o -r -p -t -C -I -F -c -x -D -G -m --call-graph", 0, ""),
    "samply": ("record", "-o -r -d --output --rate --duration", 0, ""),
    "py-spy": ("record top", "-o -r -d -f --output --rate --duration --format", 0, ""),
    "rr": ("record", "-o -n --output-trace-dir", 0, ""),
    "wezterm": ("start cli", "--cwd --class --workspace --pane-id --window-id", 0, ""),
    "zellij": ("run action", "-d --direction -n --name --cwd", 0, ""),
    "pueue": ("add", "-g -w -l -d --group --working-directory --label --delay", 0, ""),
    "tsp": ("", "-L -N -D -W -d", 0, ""),
    "nq": ("", "", 0, ""),
    "dtach": ("", "-e -r", 0, ""),
    "abduco": ("", "-e", 0, ""),
    "tsh": ("ssh", "-l --login -p --port --proxy --user --cluster -i -A", 1, "remote"),
    "sg": ("", "", 1, ""),
    "capsh": ("", "", 0, ""),
    "onchange": ("", "", 0, ""),
    "wait-for-it.sh": ("", "-h -p -t --host --port --timeout", 0, ""),
    "wait-for-it": ("", "-h -p -t -s --host --port --timeout --service", 0, ""),
    "reflex": ("", "-r -g -d --regex --glob", 0, ""),
}  # fmt: skip
# Without "--" their words are the tool's own.
_ONLY_BEHIND = frozenset(("distrobox", "distrobox-enter", "guix", "devenv", "flox", "wezterm", "zellij", "capsh", "onchange", "wait-for-it", "wait-for-it.sh"))  # fmt: skip


def verbed(inv: Invocation) -> Flow | None:
    """``lxc exec NAME -- CMD``, ``perf stat CMD``, ``wsl -e CMD`` and their like."""
    verbs, options, first, where = _VERBED[inv.name]
    valued = options.split()
    words = _command_words(inv.args, valued)
    own = inv.args[: len(inv.args) - len(words)]
    if verbs:
        if not words or words[0] not in verbs.split():
            return None
        if inv.name in ("wezterm", "zellij") and words[0] in ("cli", "action") and words[1:2] not in (["spawn"], ["split-pane"], ["new-pane"], ["run"]):  # fmt: skip
            return types(inv)
        words = words[1:]
    code = None
    if inv.name in ("sg", "flox"):
        code = value_of(inv.args, "-c")
    elif (inv.name == "devbox" and words and " " in words[0]) or (inv.name == "pueue" and len(words) == 1):
        code = words[0]
    if code is not None:
        inv.code(code, inv.name)
        return None
    if inv.name in ("distrobox", "distrobox-enter") and has(inv.args[:6], "-e", "--exec") and "--" not in inv.args:
        words = inv.args[next(i for i, a in enumerate(inv.args) if a in ("-e", "--exec")) + 1 :]
    elif "--" in inv.args and (inv.name in _ONLY_BEHIND or first or "--" in words):
        words = inv.args[inv.args.index("--") + 1 :]
        if inv.name == "capsh":
            words = ["bash", *words]
    elif inv.name in _ONLY_BEHIND or (
        inv.name == "wsl" and has(own, "-l", "--list", "--shutdown", "-t", "--terminate", "--export", "--import")
    ):
        return None
    else:
        words = _command_words(words, valued)[first:]
        words = _command_words(words, valued) if inv.name != "dtach" else words
        if inv.name in ("dtach", "abduco") and own:
            words = words[1:] if words else words
    if not words:
        return None
    scope = _elsewhere(inv, inv.name if where == "remote" else where + inv.name) if where else None
    inv.command(words, inv.name, scope=scope)
    return None


def fleet(inv: Invocation) -> Flow:
    """pssh, pdsh, clush, fab, et: a shell line for one or many hosts."""
    valued = {
        "et": "-c -e -p -u -t -r --command --jumphost --jport --port",
        "fab": "-H -i -f -c -r --hosts --identity --collection",
        "pdsh": "-w -x -l -t -u -f -R -g -X",
        "clush": "-w -x -g -X -l -o -t -u -f -R --hostfile --fanout --user --options",
    }.get(inv.name, "-h -H -l -p -o -e -t -O -x -X --hosts --host --user --par --outdir --errdir --timeout --options")
    words = _command_words(inv.args, valued.split())
    scope = _elsewhere(inv, "hosts")
    if inv.name == "et":
        code = value_of(inv.args, "-c", "--command")
    elif inv.name == "fab":
        code = " ".join(inv.args[inv.args.index("--") + 1 :]) if "--" in inv.args else None
    else:
        code = " ".join(words)
    return inv.code(code, inv.name, scope) if code else UNKNOWN_FLOW


def bench(inv: Invocation) -> Flow:
    """hyperfine: every word is a shell line, and so are the options that prepare and clean up."""
    valued = ("-w", "-m", "-M", "-r", "-p", "-s", "-c", "-n", "-P", "-D", "-L", "-S", "-i", "-u", "-N", "-C")
    long = ("--warmup", "--min-runs", "--max-runs", "--runs", "--prepare", "--setup", "--cleanup", "--conclude", "--command-name", "--parameter-scan", "--parameter-step-size", "--parameter-list", "--shell", "--style", "--sort", "--time-unit", "--export-json", "--export-csv", "--export-markdown", "--export-asciidoc", "--export-orgmode", "--output", "--input", "--reference", "--conclude")  # fmt: skip
    for code in (
        *values_of(inv.args, "-p", "--prepare"), *values_of(inv.args, "-s", "--setup"), *values_of(inv.args, "-c", "--cleanup"), *values_of(inv.args, "-C", "--conclude"),
        *operands(inv.args, *(v for v in valued if v not in ("-i", "-N")), *long),
    ):  # fmt: skip
        inv.code(code, "hyperfine")
    return UNKNOWN_FLOW


# how many words an option of bwrap takes with it, where it is not one
_BWRAP_NONE = frozenset("--unshare-all --share-net --unshare-user --unshare-user-try --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup --unshare-cgroup-try --clearenv --new-session --die-with-parent --as-pid-1 --disable-userns --assert-userns-disabled --level-prefix --help --version".split())  # fmt: skip
_BWRAP_TWO = frozenset("--bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --symlink --setenv --chmod --file --bind-data --ro-bind-data --bind-fd --ro-bind-fd".split())  # fmt: skip


def bwrap(inv: Invocation) -> Flow:
    mounts: list[tuple[str, str]] = []
    args, i = inv.args, 0
    while i < len(args) and args[i][:2] == "--":
        arg = args[i]
        i += 1
        if arg == "--":
            break
        if arg in ("--bind", "--bind-try", "--dev-bind", "--dev-bind-try") and i + 1 < len(args):
            mounts.append((args[i], args[i + 1]))
        i += 0 if arg in _BWRAP_NONE else 2 if arg in _BWRAP_TWO else 3 if arg == "--overlay" else 1
    if i >= len(args):
        return UNKNOWN_FLOW
    scope = None if ("/", "/") in mounts else _elsewhere(inv, "container:bwrap")
    before = len(inv.walk.findings)
    inv.command(args[i:], "bwrap", scope=scope)
    if scope is not None:
        for finding in inv.walk.findings[before:]:
            if finding.target.path[:1] == "~":
                finding.target = Target(
                    finding.target.kind, inv.walk.world.home + finding.target.path[1:], finding.target.roles
                )
            _mounted(inv, finding, mounts)
    return UNKNOWN_FLOW


def proot(inv: Invocation) -> Flow:
    words = _command_words(inv.args, ["-r", "-b", "-w", "-q", "-k", "-i", "-R", "-S", "--rootfs", "--bind", "--cwd"])
    other = has(inv.args[: len(inv.args) - len(words)], "-r", "-R", "-S", "--rootfs")
    scope = _elsewhere(inv, "container:proot") if other else None
    return inv.command(words, "proot", scope=scope) if words else UNKNOWN_FLOW


def nix(inv: Invocation) -> Flow | None:
    """``nix develop -c CMD``, ``nix shell … -c CMD``, ``nix run PKG -- ARGS``, ``nix-shell --run CODE``."""
    args = inv.args
    if inv.name == "nix-shell":
        for code in (value_of(args, "--run"), value_of(args, "--command")):
            if code:
                inv.code(code, "nix-shell")
        return None
    words = operands(args, "-c", "--command")
    if words[:1] and words[0] in ("develop", "shell", "dev-shell", "env"):
        at = next((i for i, a in enumerate(args) if a in ("-c", "--command")), -1)
        if at >= 0:
            inv.command(args[at + 1 :], "nix")
    elif words[:1] == ["run"] and len(words) > 1 and "#" in words[1]:
        rest = args[args.index("--") + 1 :] if "--" in args else []
        inv.command([words[1].rpartition("#")[2].rpartition(".")[2], *rest], "nix run")
    return None


def sops(inv: Invocation) -> Flow | None:
    words = operands(inv.args, "--user", "--filename")
    if words[:1] and words[0] in ("exec-env", "exec-file") and len(words) > 2:
        inv.code(" ".join(words[2:]), "sops")
    return None


def start_stop_daemon(inv: Invocation) -> Flow:
    if has(inv.args, "-K", "--stop", "-T", "--status"):
        return UNKNOWN_FLOW
    start = value_of(inv.args, "-a", "--startas") or value_of(inv.args, "-x", "--exec")
    rest = inv.args[inv.args.index("--") + 1 :] if "--" in inv.args else []
    if not start:
        return UNKNOWN_FLOW
    return inv.command([start, *rest], "start-stop-daemon")


def terminal(inv: Invocation) -> Flow:
    """xterm -e CMD, gnome-terminal -- CMD, kitty CMD: a window in which a command runs."""
    args = inv.args
    if inv.name == "kitty" and args[:1] == ["@"]:
        return types(inv) or UNKNOWN_FLOW
    if "--" in args:
        words = args[args.index("--") + 1 :]
        return inv.command(words, inv.name) if words else UNKNOWN_FLOW
    for i, arg in enumerate(args):
        if arg in ("-e", "-x", "--execute", "--command"):
            words = args[i + 1 :]
            if words and (" " in words[0] or arg == "--command"):
                return inv.code(words[0], inv.name)
            return inv.command(words, inv.name) if words else UNKNOWN_FLOW
        if arg.startswith(("--command=", "--execute=")):
            return inv.code(arg.partition("=")[2], inv.name)
    if inv.name in ("kitty", "foot", "footclient"):
        if args[:1] == ["@"]:
            at = args.index("launch") if "launch" in args else -1
            words = _command_words(args[at + 1 :], ["--type", "--title", "--cwd", "--match"]) if at > 0 else []
        else:
            words = _command_words(args, ["-c", "-o", "-d", "-T", "--title", "--config", "--override", "--directory", "--class", "--name", "--session", "-a", "-w", "-W"])  # fmt: skip
        if words and words[0][:1] != "+":
            return inv.command(words, inv.name)
    return UNKNOWN_FLOW


def gdb(inv: Invocation) -> Flow:
    """gdb and lldb: commands on the line or on stdin that start a shell; ``--args`` names the program that is run."""
    lines = [*values_of(inv.args, "-ex"), *values_of(inv.args, "-iex"), *values_of(inv.args, "--eval-command")]
    lines += [*values_of(inv.args, "-o"), *values_of(inv.args, "--one-line")] if inv.name == "lldb" else []
    if inv.stdin is not None and inv.stdin.text is not None:
        lines += inv.stdin.text.split("\n")[:1000]
    for line in lines:
        text = line.strip()
        for mark in ("shell ", "!", "make ", "platform shell ", "pipe "):
            if text.startswith(mark):
                inv.code(text[len(mark) :] if mark != "make " else text, inv.name)
                break
    for mark in ("--args", "-args", "--"):
        if mark in inv.args:
            words = inv.args[inv.args.index(mark) + 1 :]
            return inv.command(words, inv.name) if words else UNKNOWN_FLOW
    return UNKNOWN_FLOW


def emacs(inv: Invocation) -> Flow:
    """``emacs --eval '(shell-command "…")'``: the strings that are handed to a shell, and files that are deleted."""
    for code in (*values_of(inv.args, "--eval"), *values_of(inv.args, "--execute"), *values_of(inv.args, "-eval")):
        for mark in ("shell-command", "call-process-shell-command", "start-process-shell-command", "shell-command-to-string", "async-shell-command"):  # fmt: skip
            for text in _lisp_strings(code, mark)[:2]:
                inv.code(text, "emacs")
        words = _lisp_strings(code, "call-process ")
        if words:
            inv.command(words, "emacs")
        for mark in ("delete-directory", "delete-file"):
            for path in _lisp_strings(code, mark)[:1]:
                inv.add("delete", inv.target(path), facts=("recursive", "force", "code"))
        for mark in _LISP_WRITES:
            for path in _lisp_strings(code, mark):
                inv.add("overwrite", inv.target(path), sure="likely", facts=("code",))
    return UNKNOWN_FLOW


_LISP_WRITES = (
    "write-region", "write-file", "append-to-file", "copy-file", "rename-file", "make-symbolic-link", "with-temp-file",
)  # fmt: skip


def _lisp_strings(code: str, mark: str) -> list[str]:
    """The string literals behind ``mark`` up to the closing parenthesis."""
    at = code.find("(" + mark)
    found: list[str] = []
    while at >= 0 and at < len(code):
        at += 1
        if at < len(code) and code[at] == ")":
            break
        if at < len(code) and code[at] == '"':
            end = at + 1
            while end < len(code) and code[end] != '"':
                end += 2 if code[end] == "\\" else 1
            found.append(code[at + 1 : end].replace('\\"', '"').replace("\\\\", "\\"))
            at = end
    return found


def calculator(inv: Invocation) -> Flow:
    """bc, dc, ftp and their like: a line that begins with ``!`` goes to a shell."""
    texts = values_of(inv.args, "-e", "--expression")
    if inv.stdin is not None and inv.stdin.text is not None:
        texts.append(inv.stdin.text)
    for text in texts:
        for line in text.split("\n")[:1000]:
            if line.lstrip()[:1] == "!" and line.lstrip()[1:2] not in ("=", "<", ">"):
                inv.code(line.lstrip()[1:], inv.name)
    return UNKNOWN_FLOW


def chokidar(inv: Invocation) -> Flow:
    code = value_of(inv.args, "-c", "--command")
    return inv.code(code, "chokidar") if code else UNKNOWN_FLOW


# -- what an argument or a variable in front starts, beside what the program itself does -------------------------


_HARMLESS_VIEWERS = frozenset("cat less more most bat vim vi nvim nano emacs true : false code delta head tail echo ed ex subl mate micro hx helix diff-so-fancy batcat tee wc".split())  # fmt: skip
_RUN_BY = ("PAGER", "EDITOR", "VISUAL", "MANPAGER", "BROWSER", "SUDO_EDITOR", "SYSTEMD_PAGER", "SYSTEMD_EDITOR", "AWS_PAGER", "GH_PAGER", "GH_EDITOR", "KUBE_EDITOR", "PSQL_PAGER", "PSQL_EDITOR", "LESSOPEN")  # fmt: skip


def _viewers(inv: Invocation) -> None:
    """``PAGER='…' man ls``, ``EDITOR='…' crontab -e``: what the variable says is started."""
    for name in _RUN_BY:
        text = inv.env.get(name) or inv.scope.env.get(name)
        if text:
            words = text.lstrip("|").split(None, 1)
            if words and words[0].rsplit("/", 1)[-1] not in _HARMLESS_VIEWERS:
                inv.code(text.lstrip("| "), name)


def _git_arguments(inv: Invocation) -> None:
    _viewers(inv)
    if "difftool" in inv.args:
        code = value_of(inv.args, "-x", "--extcmd")
        if code:
            inv.code(code, "git difftool")


def _man_arguments(inv: Invocation) -> None:
    _viewers(inv)
    for code in (
        value_of(inv.args, "-P", "--pager"),
        value_of(inv.args, "-H", "--html") if inv.name == "man" else None,
    ):
        if code and code.split(None, 1)[0].rsplit("/", 1)[-1] not in _HARMLESS_VIEWERS:
            inv.code(code, inv.name)


def _less_arguments(inv: Invocation) -> None:
    _viewers(inv)
    for arg in inv.args:
        if arg[:1] == "+" and arg.lstrip("+")[:1] == "!":
            inv.code(arg.lstrip("+")[1:], f"{inv.name} !")


def _zip_arguments(inv: Invocation) -> None:
    code = value_of(inv.args, "-TT", "--unzip-command")
    if code:
        inv.code(code, "zip -TT")


_BINARIES = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/")


def _copies(inv: Invocation) -> None:
    """A program or a script that gets a second name: what runs under it later on the line is the first one."""
    paths = operands(inv.args, "-S", "--suffix", "-m", "-o", "-g", "--mode", "--owner", "--group")
    if len(paths) != 2 or inv.scope.where or len(inv.walk.scripts) > 256:
        return
    source, goal = paths[0], inv.target(paths[1]).path
    if inv.name == "ln" and source[:1] not in "/~" and inv.walk.world.kind(inv.target(source).path) == "":
        return
    name = source[source.rfind("/") + 1 :]
    if paths[1].endswith("/") or paths[1] in (".", "..") or inv.walk.world.kind(goal) == "dir":
        goal = goal.rstrip("/") + "/" + name
    if not goal or ANY in source:
        return
    from .index import MODULE_OF

    known = inv.walk.scripts.get(inv.target(source).path + "\0program", "")
    installed = source.startswith(_BINARIES) or "/bin/" in source  # ~/.local/bin, .venv/bin
    if known or (installed and name in MODULE_OF):
        inv.walk.scripts[goal + "\0program"] = known or name
    elif inv.target(source).path not in inv.walk.scripts:
        inv.walk.scripts[goal + "\0copy"] = inv.target(source).path


# Run before the reader of the program (which may be another module's).
BEFORE: dict[str, Callable[[Invocation], None]] = {
    "git": _git_arguments, "man": _man_arguments, "less": _less_arguments, "more": _less_arguments, "zip": _zip_arguments, "crontab": _viewers, "psql": _viewers, "systemctl": _viewers,
    "journalctl": _viewers, "gh": _viewers, "aws": _viewers, "kubectl": _viewers, "visudo": _viewers, "sudoedit": _viewers, "mysql": _viewers, "xdg-open": _viewers, "info": _viewers,
    "cp": _copies, "gcp": _copies, "install": _copies, "ln": _copies, "mv": _copies, "gmv": _copies,
}  # fmt: skip


# -- programs that nobody knows ------------------------------------------------------------------------------------

_DESTROYERS = frozenset("rm dd shred find git curl wget mkfs wipefs blkdiscard unlink chmod chown mv python python3 perl ruby node sudo rimraf srm truncate docker kubectl terraform rsync tee cp".split())  # fmt: skip
_SHELLS = frozenset("sh bash zsh dash ksh ash".split())
_TEXT_OPTIONS = frozenset("-m --message --msg --title --body --description --desc --note --comment --text --prompt --subject --reason -t --name --query --search".split())  # fmt: skip
# Programs whose words are text or names and never a command.
_TALKERS = frozenset("man tldr cheat howdoi whatis apropos info type help whereis locate mlocate plocate figlet cowsay cowthink toilet banner logger notify-send say espeak wall gum dialog whiptail zenity kdialog shellcheck explain explainshell llm aichat sgpt ollama apt apt-get apt-cache aptitude dpkg brew port pacman yay dnf yum zypper apk snap flatpak choco winget scoop emerge gem cargo go rpm let expr test print jo yes lolcat tee glow rich ffmpeg convert magick task-warrior todo todo.sh taskwarrior note notes jrnl watson slack discord telegram-send trans wc fc bind complete compgen compdef abbr fzf sk peco dmenu rofi select command_not_found_handle".split())  # fmt: skip


_OWN = ("jevhook", "jev-use")
_CODE_OPTIONS = frozenset("-c -e -E -C --command --commands --eval --exec --execute".split())


def tail(inv: Invocation) -> None:
    """A program with no reader may be a launcher or an interpreter: where its words, or the quoted texts in code that
    it is given, start with a program that destroys or with ours, those are judged as a command too, and what would be
    a catastrophe is kept as likely."""
    if inv.name in _TALKERS or inv.depth > 8:
        return
    tries = 0
    for k, word in enumerate(inv.args):
        before = inv.args[k - 1] if k else ""
        lines: list[list[str] | str] = []
        if before in _CODE_OPTIONS and " " in word:
            lines += [text for text in (word, *_quoted(word)) if _destroys(text.split(" ", 1)[0], [text])]
        elif _destroys(word, inv.args[k + 1 : k + 3]) and len(inv.args) > k + 1 and before not in _TEXT_OPTIONS:
            lines.append(inv.args[k:])
        for line in lines:
            tries += 1
            if tries > 3 or _tried(inv, line):
                return


def _destroys(word: str, behind: list[str]) -> bool:
    name = word[word.rfind("/") + 1 :]
    if name in _SHELLS:
        return any(arg[:1] == "-" and arg[-1:] == "c" for arg in behind)
    return name in _DESTROYERS or name in _OWN or name.startswith("mkfs.")


def _quoted(code: str) -> list[str]:
    """The texts between double quotes, apostrophes or backticks."""
    found = []
    for mark in "\"'`":
        found += code.split(mark)[1::2]
    return found


def _tried(inv: Invocation, line: list[str] | str) -> bool:
    """Judge words or code on trial: whether something catastrophic was found, which alone is kept."""
    walk = inv.walk
    before, builtins, paths = len(walk.findings), len(walk.builtins), len(walk.paths)
    scripts, env, cwd = dict(walk.scripts), dict(inv.scope.env), inv.scope.cwd
    if isinstance(line, str):
        inv.code(line, inv.name, scope=inv.scope.copy())
    else:
        inv.command(line, inv.name, scope=inv.scope.copy())
    kept = [f for f in walk.findings[before:] if _catastrophe(f)]
    del walk.findings[before:], walk.builtins[builtins:], walk.paths[paths:]
    walk.scripts, inv.scope.env, inv.scope.cwd = scripts, env, cwd
    for finding in kept:
        finding.sure = "likely" if finding.sure == "certain" else finding.sure
        finding.facts = finding.facts | {"unknown-launcher"}
    walk.findings += kept
    return bool(kept)


def _catastrophe(finding: object) -> bool:
    from ..finding import Finding

    assert isinstance(finding, Finding)
    target = finding.target
    if finding.effect in ("delete", "format"):
        return target.kind in ("root", "home", "device", "project-root") or "top" in target.roles
    return finding.effect in ("run-remote-code", "reverse-shell", "gate") or (
        finding.effect == "force-push" and "lease" not in finding.facts
    )


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    **dict.fromkeys(_PLAIN, plain), **dict.fromkeys(_VERBED, verbed),
    **dict.fromkeys(("pssh", "parallel-ssh", "pdsh", "clush", "dsh", "fab", "et"), fleet),
    **dict.fromkeys(("xterm", "urxvt", "rxvt", "st", "konsole", "x-terminal-emulator", "lxterminal", "terminator", "xfce4-terminal", "gnome-terminal", "mate-terminal", "alacritty", "kitty", "foot", "footclient", "ghostty", "tilix", "guake", "terminology", "ptyxis", "kgx"), terminal),
    "hyperfine": bench, "bwrap": bwrap, "proot": proot, "nix": nix, "nix-shell": nix, "sops": sops, "start-stop-daemon": start_stop_daemon, "gdb": gdb, "lldb": gdb,
    "emacs": emacs, "emacsclient": emacs, "bc": calculator, "dc": calculator, "chokidar": chokidar,
    **dict.fromkeys(("dotenvx", "varlock", "teller", "berglas", "pixi", "lerna", "nx", "foreman", "honcho"), runner),
    "sudo": sudo, "doas": sudo, "sudoedit": sudo, "su": su, "pkexec": pkexec, "env": env, "genv": env, "xargs": xargs, "gxargs": xargs, "parallel": parallel, "sem": parallel,
    "watch": watch, "flock": flock, "ssh": ssh, "autossh": ssh, "mosh": ssh, "docker": container, "podman": container, "nerdctl": container, "docker-compose": container,
    "kubectl": container, "oc": container, "k": container, "npx": runner, "bunx": runner, "pnpx": runner, "uvx": runner, "npm": runner, "pnpm": runner, "yarn": runner, "bun": runner,
    "pipx": runner, "uv": runner, "poetry": runner, "pipenv": runner, "pdm": runner, "hatch": runner, "rye": runner, "bundle": runner, "conda": runner, "mamba": runner,
    "rbenv": runner, "pyenv": runner, "volta": runner, "asdf": runner, "mise": runner, "direnv": runner, "op": runner, "doppler": runner, "infisical": runner, "chamber": runner,
    "aws-vault": runner, "rustup": runner, "tmux": multiplexer, "screen": multiplexer, **dict.fromkeys(("xdotool", "ydotool", "dotool", "wtype", "kitten"), types), "script": script, "entr": entr, "concurrently": code_argument,
    "nodemon": code_argument, "watchexec": code_argument, "systemd-run": systemd_run, "at": at, "batch": at, "expect": expect,
}  # fmt: skip
