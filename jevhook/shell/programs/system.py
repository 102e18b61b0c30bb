"""Programs that act on the machine: processes, services, users, schedules, firewalls, the gate itself."""

from __future__ import annotations

from ..finding import ANY, NOTHING, STAR, Target
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .options import has, operands, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tree import Node
    from ..walk import Invocation


# Programs that a developer's machine, its editor, its terminal or the agent itself is made of: killing them by name
# takes everything with it that happens to be called the same.
_RUNTIMES = frozenset(
    "node nodejs bun deno npm npx yarn pnpm tsx python python2 python3 pypy java javaw ruby perl php php-fpm dotnet go beam beam.smp erl bash sh zsh fish dash tmux screen "
    "ssh sshd ssh-agent code cursor electron windsurf claude codex gemini docker dockerd containerd com.docker.backend podman systemd systemd-logind launchd init dbus-daemon "
    "xorg xwayland gnome-shell kwin plasmashell sway windowserver loginwindow finder dock explorer explorer.exe svchost lsass winlogon csrss chrome google-chrome chromium firefox safari "
    "postgres postgresql mysqld mariadbd mongod redis-server nginx apache2 httpd kubelet terminal iterm2 alacritty kitty wezterm gnome-terminal powershell pwsh cmd".split()
)
_WHOLE_PATTERNS = ("", ".", ".*", "*", "^", "$", "^.*", "/", "-")


def _process_name(word: str) -> str:
    """A process name or a pkill pattern without the marks that change nothing about what it finds."""
    low = word.lower().rsplit("/", 1)[-1].replace(STAR, "*").strip("^$ *").removesuffix(".*").removesuffix(".exe")
    return low.rstrip("0123456789.") if low.startswith(("python", "ruby", "php", "java")) else low


def _names_runtime(names: list[str]) -> bool:
    return any(_process_name(name) in _RUNTIMES for name in names)


def kill(inv: Invocation) -> Flow:
    args = inv.args
    if inv.name == "kill":
        if args[:1] in (["-l"], ["-L"], ["--list"], ["--table"]):
            return UNKNOWN_FLOW
        pids = [a for a in args if not (a[:1] == "-" and not a[1:].isdigit()) or a == "-1"]
        if "gate-ids" in inv.taints or (inv.stdin is not None and "gate-ids" in inv.stdin.taints):
            _stops_gate(inv)
        everyone = "-1" in args[1:] or (args[:1] == ["-1"] and len(args) == 1) or args[-2:] == ["--", "-1"]
        if everyone:
            inv.add("kill", Target("none", "-1"), facts=("everything",))
        elif "1" in pids and len(args) <= 3:
            inv.add("kill", Target("none", "1"), facts=("init",))
        else:
            inv.add("kill", Target("none", " ".join(pids)[:60]), facts=("pid", "zero") if "-0" in args else ("pid",))
        return NO_FLOW
    if inv.name.lower() == "taskkill":
        return _taskkill(inv)
    names = operands(
        args,
        "-u",
        "-U",
        "-s",
        "--signal",
        "-t",
        "-P",
        "-g",
        "-G",
        "--user",
        "-n",
        "--ns",
        "-o",
        "-y",
        "--older-than",
        "--younger-than",
    )
    if has(args, "--list", "-l", "--help", "--version", "-V"):
        return UNKNOWN_FLOW
    if inv.name == "fuser":
        if not has(args, "-k", "--kill"):
            return UNKNOWN_FLOW
        inv.add("kill", Target("none", " ".join(names)), facts=("port",))
        return NO_FLOW
    facts = []
    if inv.name == "pkill" and has(args, "-f", "--full"):
        facts.append("full-match")
    user = value_of(args, "-u", "-U", "--user", "-euid", "--euid")
    if (user is not None and not names) or (
        inv.name != "fuser" and any(n.replace(STAR, "*") in _WHOLE_PATTERNS for n in names)
    ):
        facts.append("own-session")
    if _names_runtime(names):
        facts.append("runtime")
    if _names_gate(names):
        _stops_gate(inv)
    inv.add("kill", Target("none", " ".join(names)), facts=("by-name", *facts))
    return NO_FLOW


def _taskkill(inv: Invocation) -> Flow:
    args = inv.args
    names = [args[i + 1] for i, a in enumerate(args[:-1]) if a.lower() in ("/im", "-im", "//im")]
    facts = ["by-name"] if names else ["pid"]
    if _names_runtime(names):
        facts.append("runtime")
    elif any(n.strip("*" + STAR) == "" for n in names):
        facts.append("own-session")
    inv.add("kill", Target("none", " ".join(names)), facts=tuple(facts))
    return NO_FLOW


def process_ids(inv: Invocation) -> Flow:
    """pgrep, pidof: what ``kill $(pgrep node)`` kills is what ``pkill node`` kills."""
    names = operands(inv.args, "-u", "-U", "-t", "-P", "-g", "-G", "-d", "-s", "--ns", "-o")
    taints = frozenset(("runtime-ids",)) if _names_runtime(names) else frozenset()
    if _names_gate(names):
        taints |= {"gate-ids"}
    return Flow(None, taints)


def _names_gate(names: list[str]) -> bool:
    return any("jevhook" in name.lower() or "jev-use" in name.lower() for name in names)


def _stops_gate(inv: Invocation) -> None:
    inv.add("gate", Target("none", "jevhook", ("gate",)), facts=("kill",), detail="stops the gate's own processes")


# Stopping one of these locks people out or leaves the machine unwatched.
_CRITICAL = frozenset(
    "ssh sshd network networking networkmanager systemd-networkd systemd-resolved wpa_supplicant firewalld ufw iptables nftables apparmor selinux auditd rsyslog syslog systemd-journald "
    "fail2ban crowdsec falco falcon-sensor clamav-daemon osqueryd wazuh-agent mdatp dbus systemd-logind polkit cron crond chronyd ntpd systemd-timesyncd docker containerd kubelet crio "
    "etcd k3s libvirtd lightdm gdm sddm display-manager".split()
)


def service(inv: Invocation) -> Flow:
    words = operands(
        inv.args,
        "-H",
        "-M",
        "-t",
        "-p",
        "-n",
        "-o",
        "-s",
        "--host",
        "--machine",
        "--type",
        "--property",
        "--lines",
        "--output",
        "--signal",
    )
    if inv.name in ("systemctl",):
        verb = words[0] if words else ""
        names = words[1:]
    elif inv.name == "launchctl":
        verb, names = (words[0] if words else ""), words[1:]
        verb = {
            "unload": "disable",
            "bootout": "stop",
            "remove": "disable",
            "load": "enable",
            "bootstrap": "enable",
            "kickstart": "restart",
        }.get(verb, verb)
    elif inv.name in ("sv", "initctl", "supervisorctl", "rc-update", "svcadm"):
        verb, names = (words[0] if words else ""), words[1:]
        verb = {
            "del": "disable",
            "delete": "disable",
            "add": "enable",
            "down": "stop",
            "d": "stop",
            "exit": "stop",
            "force-stop": "stop",
        }.get(verb, verb)
    else:
        verb = words[1] if len(words) > 1 else ""
        verb = (
            {"off": "disable", "remove": "disable", "defaults": "enable"}.get(verb, verb)
            if inv.name in ("chkconfig", "update-rc.d")
            else verb
        )
        names = words[:1]
    user = ("user",) if has(inv.args, "--user") else ()
    if any(name.lower().removesuffix(".service").removesuffix(".socket").split("@")[0] in _CRITICAL for name in names):
        user = (*user, "critical")
    if (
        any(name.startswith(("/Library/LaunchDaemons", "/System/", "system/", "system")) for name in names)
        and inv.name == "launchctl"
    ):
        user = (*user, "critical")
    target = Target("none", " ".join(names))
    if verb in ("poweroff", "reboot", "halt", "suspend", "hibernate", "kexec", "rescue", "emergency", "isolate"):
        inv.add("power", target, facts=(verb,))
    elif verb in ("stop", "kill"):
        inv.add("stop-service", target, facts=(verb, *user))
    elif verb in ("disable", "mask"):
        inv.add("stop-service", target, facts=(verb, "lasting", *user))
    elif verb == "enable":
        inv.add("persist", Target("system", " ".join(names), ("autostart",)), facts=("service", *user), sure="likely")
    elif verb in ("restart", "reload", "try-restart", "start"):
        inv.add("stop-service", target, facts=("restart", *user))
    return UNKNOWN_FLOW


def power(inv: Invocation) -> Flow:
    if has(inv.args, "-c", "--help", "-k", "--version", "--show") or inv.args[:1] in (
        ["--wtmp-only"],
        ["-w"],
        ["/a"],
        ["-a"],
        ["/?"],
    ):
        return UNKNOWN_FLOW
    if inv.name in ("init", "telinit") and inv.args[:1] not in (["0"], ["6"]):
        return UNKNOWN_FLOW
    inv.add("power", facts=(inv.name,))
    return NO_FLOW


def crontab(inv: Invocation) -> Flow:
    if has(inv.args, "-l"):
        return Flow(ANY + "\n")  # what there is already; lines behind it are still read
    if has(inv.args, "-r"):
        inv.add("delete", Target("system", "crontab", ("cron",)), facts=("crontab", "force"))
    elif not has(inv.args, "-e"):
        inv.add("persist", Target("system", "crontab", ("cron",)), facts=("crontab",))
        if inv.stdin is not None and inv.stdin.text is not None:
            for line in inv.stdin.text.split("\n"):
                parts = line.split(None, 5)
                if len(parts) == 6 and parts[0][:1] != "#":
                    inv.code(parts[5], "crontab")
                elif parts and parts[0].startswith("@"):
                    inv.code(line.split(None, 1)[1] if len(parts) > 1 else "", "crontab")
    return UNKNOWN_FLOW


def firewall(inv: Invocation) -> Flow:
    words = operands(inv.args)
    name = inv.name
    if name == "ufw" and words[:1] in (["disable"], ["reset"]):
        inv.add("weaken", facts=("firewall",), detail="ufw " + words[0])
    elif name == "ufw" and words[:2] == ["default", "allow"] and words[2:3] != ["outgoing"]:
        inv.add("weaken", facts=("firewall",), detail="ufw default allow")
    elif name in ("iptables", "ip6tables", "ebtables", "arptables", "nft", "pfctl", "ipfw"):
        off = (
            has(inv.args, "-F", "--flush", "-X")
            or words[:1] == ["flush"]
            or (name == "pfctl" and has(inv.args, "-d"))
            or (name == "nft" and words[:1] in (["delete"], ["destroy"]) and words[1:2] in (["table"], ["chain"]))
        )
        accept = ("-P" in inv.args or "--policy" in inv.args) and "ACCEPT" in inv.args and "OUTPUT" not in inv.args
        if off or accept:
            inv.add("weaken", facts=("firewall",), detail=name)
    elif name == "firewall-cmd" and (
        value_of(inv.args, "--set-default-zone") == "trusted" or "--set-target=ACCEPT" in inv.args
    ):
        inv.add("weaken", facts=("firewall",), detail=name)
    elif name == "socketfilterfw" and has(inv.args, "--setglobalstate", "--setblockall") and words[-1:] == ["off"]:
        inv.add("weaken", facts=("firewall",), detail="the application firewall off")
    elif name == "setenforce" and words[:1] in (["0"], ["permissive"], ["Permissive"]):
        inv.add("weaken", facts=("selinux",), detail="setenforce 0")
    elif (name in ("aa-teardown", "aa-disable", "aa-complain") and not has(inv.args, "-h", "--help")) or (
        name == "semanage" and words[:1] == ["permissive"] and has(inv.args, "-a")
    ):
        inv.add("weaken", facts=("selinux",), detail=name)
    elif name == "mokutil" and has(inv.args, "--disable-validation", "--sb-state-off"):
        inv.add("weaken", facts=("boot",), detail=name)
    elif name == "fail2ban-client" and words[:1] == ["stop"]:
        inv.add("weaken", facts=("audit",), detail=name)
    elif name in ("spctl", "csrutil") and (
        has(inv.args, "--master-disable", "--global-disable") or words[:1] == ["disable"]
    ):
        inv.add("weaken", facts=("macos-protection",), detail=name)
    elif name == "auditctl" and (has(inv.args, "-D") or value_of(inv.args, "-e") == "0"):
        inv.add("weaken", facts=("audit",), detail=name)
    return UNKNOWN_FLOW


def users(inv: Invocation) -> Flow:
    words = operands(inv.args, "-G", "-g", "-s", "-d", "-u", "-c", "-p", "-e", "-k", "-a")
    name = inv.name
    if name in ("userdel", "deluser", "groupdel", "delgroup"):
        inv.add(
            "delete",
            Target("other-home" if has(inv.args, "-r", "--remove", "--remove-home") else "system", " ".join(words)),
            facts=("account",),
        )
    elif name in ("useradd", "adduser"):
        inv.add("persist", Target("system", " ".join(words)), facts=("account",), sure="likely")
    elif name in ("usermod", "gpasswd", "addgroup", "dseditgroup"):
        groups = ",".join([value_of(inv.args, "-G", "--groups", "--append") or "", *words]).lower().split(",")
        admin = any(g in _ADMIN_GROUPS for g in groups) or (
            name == "usermod" and value_of(inv.args, "-u", "--uid") == "0"
        )
        inv.add(
            "escalate",
            Target("system", " ".join(words)),
            facts=("account", "admin") if admin else ("account",),
            sure="likely",
        )
    elif name == "dscl":
        verb = next((a for a in inv.args if a[:1] == "-" and len(a) > 2), "").lower()
        if verb == "-delete":
            inv.add("delete", Target("system", " ".join(words)), facts=("account",))
        elif verb in ("-append", "-create", "-change", "-merge", "-passwd"):
            inv.add(
                "escalate",
                Target("system", " ".join(words)),
                facts=("account", "admin") if "/groups/admin" in " ".join(words).lower() else ("account",),
                sure="likely",
            )
    elif name == "sysadminctl" and has(inv.args, "-deleteUser"):
        inv.add("delete", Target("system", " ".join(words)), facts=("account",))
    elif name == "passwd" and not has(inv.args, "-S", "--status"):
        inv.add(
            "persist",
            Target("system", " ".join(words)),
            facts=("password", *(("no-password",) if has(inv.args, "-d", "--delete") else ())),
            sure="likely",
        )
    elif name == "visudo" and not has(inv.args, "-c", "--check"):
        inv.add("persist", Target("system", "/etc/sudoers"), facts=("account",), sure="likely")
    elif name == "chpasswd":
        inv.add("persist", Target("system", "/etc/shadow"), facts=("password",))
    return UNKNOWN_FLOW


_ADMIN_GROUPS = frozenset(
    ("sudo", "wheel", "root", "admin", "docker", "adm", "lxd", "disk", "shadow", "libvirt", "sudoers")
)


def history(inv: Invocation) -> Flow:
    if has(inv.args, "-c", "-d"):
        inv.add("delete", Target("home-config", "history", ("history",)), facts=("history",))
        return NO_FLOW
    return Flow(None, frozenset(("secret",)))


def sysctl(inv: Invocation) -> Flow:
    if has(inv.args, "-w") or any("=" in a for a in operands(inv.args)):
        words = operands(inv.args)
        guards = any(w.replace("/", ".").startswith(_KERNEL_GUARDS) for w in words)
        inv.add("weaken", facts=("kernel", "guard") if guards else ("kernel",), detail=" ".join(words), sure="likely")
    return UNKNOWN_FLOW


_KERNEL_GUARDS = (
    "kernel.randomize_va_space=0",
    "kernel.yama.ptrace_scope=0",
    "kernel.kptr_restrict=0",
    "kernel.dmesg_restrict=0",
    "kernel.core_pattern=",
    "kernel.modprobe=",
    "kernel.sysrq=",
    "kernel.panic=",
    "fs.protected_",
    "fs.suid_dumpable=",
    "kernel.unprivileged_bpf_disabled=0",
    "kernel.perf_event_paranoid=-1",
    "kernel.lockdown",
)


def kernel_module(inv: Invocation) -> Flow:
    inv.add("persist", Target("system", " ".join(operands(inv.args))), facts=("kernel-module",), sure="likely")
    return UNKNOWN_FLOW


def mount(inv: Invocation) -> Flow:
    words = operands(inv.args, "-t", "-o", "-O", "-L", "-U")
    if inv.name == "umount":
        if has(inv.args, "-a", "--all"):
            inv.add("stop-service", Target("root", "every file system"), facts=("unmount",))
        for path in words:
            target = inv.target(path)
            if target.kind in ("root", "home", "system") and not target.path.startswith(
                ("/var/", "/run/", "/opt/", "/srv/")
            ):
                inv.add("stop-service", target, facts=("unmount",))
    elif len(words) == 2 and not has(inv.args, "--bind"):
        inv.add("escalate", inv.target(words[1]), facts=("mount-fs",), sure="likely")
    return UNKNOWN_FLOW


def setcap(inv: Invocation) -> Flow:
    words = operands(inv.args)
    # Ping and packet tools, and servers on low ports, are given these by their own manuals.
    small = bool(words) and all(
        c.split("+")[0].split("=")[0].strip()
        in ("cap_net_raw", "cap_net_admin", "cap_net_bind_service", "cap_ipc_lock", "cap_sys_nice")
        for c in words[0].lower().split(",")
    )
    for path in words[1:]:
        inv.add("escalate", inv.target(path), facts=("small-capability",) if small else ("capability",))
    return NO_FLOW


def chattr(inv: Invocation) -> Flow:
    for path in [a for a in inv.args if a[:1] not in "+-="]:
        inv.add("permissions", inv.target(path), facts=("attribute", *(("recursive",) if has(inv.args, "-R") else ())))
    return NO_FLOW


def clipboard(inv: Invocation) -> Flow:
    return Flow(None, frozenset(("user",)))


def keychain(inv: Invocation) -> Flow:
    words = operands(inv.args)
    verb = words[0] if words else ""
    if (
        verb in ("find-generic-password", "find-internet-password", "dump-keychain", "export")
        or (inv.name in ("secret-tool",) and verb == "lookup")
        or (inv.name == "pass" and verb not in ("", "ls", "insert", "git", "init", "generate"))
    ):
        inv.add("read-secret", Target("home-config", "keychain", ("secret",)), facts=("keychain",))
        return Flow(None, frozenset(("secret",)))
    if verb.startswith("delete-"):
        inv.add("delete", Target("home-config", "keychain", ("secret",)), facts=("keychain", "force"))
    return UNKNOWN_FLOW


_LIBRARY_VARIABLES = ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH")
_START_VARIABLES = {
    "PROMPT_COMMAND": "every prompt", "BASH_ENV": "every script", "ENV": "every shell", "PERL5OPT": "perl", "RUBYOPT": "ruby", "PYTHONSTARTUP": "python", "NODE_OPTIONS": "node",
    "PYTHONWARNINGS": "python", "PERL5DB": "perl", "JAVA_TOOL_OPTIONS": "java", "LESSOPEN": "less", "LESSCLOSE": "less", "MANPAGER": "man",
}  # fmt: skip


def judge_environment(inv: Invocation) -> None:
    """Variables that make other programs run something, trust anything, or switch the gate off."""
    pairs = dict(inv.env)
    if inv.name in ("export", "declare", "typeset", "readonly"):
        for word in inv.args:
            name, mark, value = word.partition("=")
            if mark:
                pairs[name] = value
    for name, value in pairs.items():
        if name in _LIBRARY_VARIABLES and name in ("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"):
            target = inv.target(value) if value else NOTHING
            system = (
                target.kind == "system"
                or value in ("", "libgtk3-nocsd.so.0")
                or "jemalloc" in value
                or "tcmalloc" in value
                or "libasan" in value
                or "libfaketime" in value
            )
            if not system:
                inv.add("run-unknown", target, facts=("preload",), sure="likely", detail=name)
        elif name in _START_VARIABLES and value:
            if name in ("PROMPT_COMMAND", "LESSOPEN", "LESSCLOSE", "MANPAGER"):
                if name == "PROMPT_COMMAND" or "|" in value:
                    inv.code(value.lstrip("|").replace("%s", ""), name)
            elif name == "NODE_OPTIONS":
                if "--require" in value or "-r " in value or "--import" in value or "--loader" in value:
                    path = value.replace("=", " ").split()[-1]
                    if path.startswith(("/tmp", "data:", "http")):
                        inv.add("run-unknown", inv.target(path), facts=("preload",), sure="likely", detail=name)
            elif name in ("BASH_ENV", "ENV") and inv.name not in ("sh", "bash", "zsh", "dash"):
                if ANY in value:
                    inv.add("run-unknown", Target("unknown"), facts=("preload",), sure="unknown", detail=name)
        elif name in ("NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY", "GIT_SSL_NO_VERIFY") and value in (
            "0",
            "1",
            "true",
        ):
            if (name == "GIT_SSL_NO_VERIFY") == (value in ("1", "true")):
                inv.add("weaken", facts=("tls", "one-call"), detail=name)
        elif (name == "HISTFILE" and value in ("", "/dev/null")) or (
            name in ("HISTSIZE", "HISTFILESIZE", "SAVEHIST") and value == "0"
        ):
            inv.add("weaken", facts=("shell-history",), detail=name)
        elif name in ("JEVHOOK", "JEVHOOK_MODE", "JEVHOOK_POLICY"):
            inv.add("gate", Target("none", name, ("gate",)), facts=("environment",), detail=name)


_CODEX_VALUED = ("-c", "-m", "-C", "-p", "-s", "--config", "--model", "--cd", "--profile", "--sandbox")
# What moves a host's settings or the gate's own files, and where in home they are; CLAUDE_CODE_SIMPLE is --bare.
_MOVED = {
    "HOME": "", "XDG_CONFIG_HOME": "/.config", "XDG_STATE_HOME": "/.local/state", "XDG_CACHE_HOME": "/.cache",
    "CLAUDE_CONFIG_DIR": "/.claude", "CODEX_HOME": "/.codex", "CLAUDE_CODE_SIMPLE": "\0",
}  # fmt: skip


def host_cli(inv: Invocation) -> Flow:
    """The hosts' own commands can register and drop hooks, trust them, or start an agent without them."""
    args = inv.args
    words = operands(args, *(_CODEX_VALUED if inv.name == "codex" else ()))
    world = inv.walk.world
    for name, usual in _MOVED.items():  # an agent or a gate with settings of somebody's own making
        told = inv.env[name] if name in inv.env else inv.scope.env.get(name)
        if told and told not in ("0", "false", world.env.get(name), world.home + usual):
            inv.add("gate", Target("none", f"{inv.name} with {name}", ("hook-settings",)), facts=("unguarded-agent",))
    if inv.name == "claude":
        for mark in ("--bare", "--safe-mode", "--setting-sources"):
            if has(args, mark):
                inv.add(
                    "gate",
                    Target("none", "claude " + mark, ("hook-settings",)),
                    facts=("unguarded-agent",),
                    sure="likely",
                )
        settings = value_of(args, "--settings")
        if settings and _about_hooks(inv, settings):
            inv.add("gate", Target("none", "claude --settings", ("hook-settings",)), facts=("settings",))
        if words[:1] in (["plugin"], ["plugins"]) and any(
            word in ("uninstall", "remove", "rm", "disable") for word in words[1:3]
        ):
            inv.add("gate", Target("none", "claude plugin", ("hook-settings",)), facts=("plugin",), sure="likely")
        if words[:1] == ["config"] and words[1:2] and words[1] not in ("get", "list", "ls"):
            inv.add("gate", Target("none", "claude config", ("hook-settings",)), facts=("settings",), sure="likely")
        if has(args, "--dangerously-skip-permissions") or value_of(args, "--permission-mode") == "bypassPermissions":
            inv.add("weaken", facts=("unattended-agent",), detail="claude without permission checks")
    elif inv.name == "codex":
        if (
            has(args, "--dangerously-bypass-hook-trust", "--ignore-user-config")
            or any("hooks" in v for v in args if "=" in v)
            or value_of(args, "--disable") in ("hooks", "codex_hooks", ANY)
            or words[:3] == ["features", "disable", "hooks"]
        ):
            inv.add("gate", Target("none", "codex hooks", ("hook-settings",)), facts=("settings",), sure="likely")
        if _serves(words, args):  # whoever speaks to it may write every setting and trust (config/batchWrite)
            inv.add("gate", Target("none", f"codex {words[0]}", ("hook-settings",)), facts=("settings",), sure="likely")
        if has(args, "--dangerously-bypass-approvals-and-sandbox", "--yolo"):
            inv.add("weaken", facts=("unattended-agent",), detail="codex without approvals")
    return UNKNOWN_FLOW


def _about_hooks(inv: Invocation, settings: str) -> bool:
    """Whether what ``claude --settings`` is given, JSON or a file, speaks of hooks, or can't be read."""
    text: str | None = settings
    if settings.lstrip()[:1] != "{":
        path = inv.target(settings).path
        text = inv.walk.scripts.get(path)
        if text is None and path[:1] == "/" and ANY not in path and not inv.scope.where:
            text = inv.walk.world.text(path, 64 << 10) if inv.walk.world.size(path) <= 64 << 10 else None
    return text is None or ANY in text or "disableAllHooks" in text or '"hooks"' in text or "\\u" in text


def _serves(words: list[str], args: list[str]) -> bool:
    if words[:1] == ["app-server"]:
        return not (words[1:2] and words[1][:8] in ("generate", "help")) and not has(
            args, "--help", "-h", "--version", "-V", "--print-startup-config"
        )
    return words[:1] == ["remote-control"] and not has(args, "--help", "-h")


def packages(inv: Invocation) -> Flow | None:
    """A package manager told to remove whatever a bare star or ``?*`` matches."""
    words = operands(inv.args, "-o", "-t", "-c")
    if words[:1] and words[0] in ("remove", "purge", "erase", "del", "autoremove", "uninstall"):
        if any(w in ("*", STAR, "?*", ".*", "~i", "?installed") for w in words[1:]) and not has(
            inv.args, "-s", "--simulate", "--dry-run", "--just-print"
        ):
            inv.add("delete", Target("none", "every installed package"), facts=("packages",), detail=inv.name)
    return None


def fork_bomb(name: str, body: Node) -> bool:
    """Whether a function of this name starts itself twice over: ``f() { f | f & }``.  The rest of the line is not
    looked at: such a function has no other use."""
    from ..tree import Command, Group, Pipeline, Sequence

    def calls(node: Node) -> bool:
        return (
            isinstance(node, Command)
            and bool(node.words)
            and len(node.words[0]) == 1
            and node.words[0][0][:2] == ("t", name)
        )

    todo: list[Node] = [body]
    background = 0
    while todo:
        node = todo.pop()
        if isinstance(node, Pipeline) and sum(calls(stage) for stage in node.stages) >= 2:
            return True
        if isinstance(node, Sequence):
            background += sum(calls(item) and op == "&" for item, op in zip(node.items, node.ops, strict=False))
            todo += node.items
        elif isinstance(node, Group):
            todo.append(node.body)
    return background >= 1


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    "pgrep": process_ids, "pidof": process_ids, "sv": service, "initctl": service, "supervisorctl": service, "rc-update": service, "chkconfig": service, "update-rc.d": service,
    "ebtables": firewall, "arptables": firewall, "ipfw": firewall, "socketfilterfw": firewall, "aa-teardown": firewall, "aa-disable": firewall, "aa-complain": firewall,
    "semanage": firewall, "mokutil": firewall, "fail2ban-client": firewall, "dscl": users, "dseditgroup": users, "sysadminctl": users,
    "kill": kill, "pkill": kill, "killall": kill, "skill": kill, "fuser": kill, "taskkill": kill, "systemctl": service, "service": service, "launchctl": service, "rc-service": service,
    "shutdown": power, "reboot": power, "halt": power, "poweroff": power, "init": power, "telinit": power, "crontab": crontab, "ufw": firewall, "iptables": firewall, "ip6tables": firewall,
    "nft": firewall, "pfctl": firewall, "firewall-cmd": firewall, "setenforce": firewall, "spctl": firewall, "csrutil": firewall, "auditctl": firewall, "userdel": users, "deluser": users,
    "groupdel": users, "delgroup": users, "useradd": users, "adduser": users, "usermod": users, "gpasswd": users, "addgroup": users, "passwd": users, "chpasswd": users, "visudo": users,
    "history": history, "sysctl": sysctl, "insmod": kernel_module, "modprobe": kernel_module, "rmmod": kernel_module, "mount": mount, "umount": mount, "setcap": setcap, "chattr": chattr,
    "pbpaste": clipboard, "xclip": clipboard, "xsel": clipboard, "wl-paste": clipboard, "security": keychain, "secret-tool": keychain, "pass": keychain,
    "claude": host_cli, "codex": host_cli,
    **dict.fromkeys(("apt", "apt-get", "aptitude", "yum", "dnf", "zypper", "apk", "brew"), packages),
}  # fmt: skip
