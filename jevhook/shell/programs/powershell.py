"""Windows command lines: ``cmd /c``, ``powershell -Command`` and lines that are Windows' own; a lesser reading.

Statements are cut at ``;`` ``|`` ``&`` and line ends outside quotes, words are read with both quote styles, the
well-known variables and aliases are known.  Other variables and .NET calls stay unknown.  What it cannot read is never
called destructive.
"""

from __future__ import annotations

from ..finding import ANY, STAR, Target
from ..walk import UNKNOWN_FLOW, Flow, Invocation, Scope, Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..finding import Finding
    from ..paths import Place

_SHORT_COMMANDS = ("-c", "-command", "-co", "-com", "-comm", "-comma", "-comman", "/c", "/command")
_SHORT_ENCODED = ("-e", "-ec", "-en", "-enc", "-enco", "-encod", "-encode", "-encoded", "-encodedc", "-encodedcommand")
_VALUED = ("-executionpolicy", "-ep", "-ex", "-exec", "-version", "-windowstyle", "-w", "-inputformat", "-outputformat", "-workingdirectory", "-configurationname", "-psconsolefile")  # fmt: skip
_ALIASES = {
    "ri": "remove-item", "rm": "remove-item", "rmdir": "remove-item", "del": "remove-item", "erase": "remove-item", "rd": "remove-item", "sc": "set-content", "ac": "add-content",
    "clc": "clear-content", "mi": "move-item", "mv": "move-item", "move": "move-item", "ci": "copy-item", "cp": "copy-item", "copy": "copy-item", "kill": "stop-process", "spps": "stop-process",
    "iex": "invoke-expression", "iwr": "invoke-webrequest", "irm": "invoke-restmethod", "wget": "invoke-webrequest", "curl": "invoke-webrequest", "saps": "start-process", "start": "start-process",
    "spsv": "stop-service", "clhy": "clear-history", "sp": "set-itemproperty", "rp": "remove-itemproperty", "ni": "new-item", "gc": "get-content", "cat": "get-content", "type": "get-content",
    "icm": "invoke-command", "cli": "clear-item",
}  # fmt: skip
# A verb in front of a dash that PowerShell's own commands begin with: what tells its lines from everybody else's.
_VERBS = frozenset(
    "add clear close complete copy debug disable disconnect dismount enable enter exit export find format get import initialize install invoke limit mount move new open out pop push "
    "read receive register remove rename repair reset resize resolve restart restore resume save select send set show split start stop suspend test uninstall unblock unregister update write".split()
)
_VARIABLES = {
    "userprofile": "~", "homepath": "~", "home": "~", "homedrive": "C:", "systemdrive": "C:", "systemroot": "C:\\Windows", "windir": "C:\\Windows", "programfiles": "C:\\Program Files", "programdata": "C:\\ProgramData",
    "programfiles(x86)": "C:\\Program Files (x86)", "appdata": "C:\\Users\\me\\AppData\\Roaming", "localappdata": "C:\\Users\\me\\AppData\\Local", "temp": "C:\\Temp", "tmp": "C:\\Temp",
    "public": "C:\\Users\\Public", "allusersprofile": "C:\\ProgramData", "comspec": "C:\\Windows\\System32\\cmd.exe", "cd": ".", "username": "me",
}  # fmt: skip


def cmd_line(inv: Invocation) -> Flow:
    for i, arg in enumerate(inv.args):
        if arg.lower() in ("/c", "/k", "/r", "//c"):
            windows_line(inv, " ".join(inv.args[i + 1 :]))
            break
    return UNKNOWN_FLOW


def powershell_line(inv: Invocation) -> Flow:
    args = inv.args
    i = 0
    while i < len(args):
        arg = args[i]
        low = arg.lower()
        i += 1
        if low in _SHORT_COMMANDS:
            return _code(inv, " ".join(args[i:]))
        if low in _SHORT_ENCODED and i < len(args):
            text = _decoded(args[i])
            inv.add("run-decoded", Target("unknown"), facts=("powershell",), detail="an encoded command is run")
            return _code(inv, text) if text else UNKNOWN_FLOW
        if low in ("-file", "-f"):
            return UNKNOWN_FLOW
        if low in _VALUED:
            i += 1
        elif arg[:1] != "-":
            return _code(inv, " ".join(args[i - 1 :]))
    if inv.stdin is not None and inv.stdin.text is not None:
        return _code(inv, inv.stdin.text)
    return UNKNOWN_FLOW


def _decoded(text: str) -> str:
    import binascii

    try:
        return binascii.a2b_base64(text + "=" * (-len(text) % 4)).decode("utf-16-le")
    except (ValueError, binascii.Error):
        return ""


def looks_windows(text: str) -> bool:
    """Whether a command line is Windows' own: a drive and a backslash, ``%NAME%``, ``\\\\server\\share``, a program
    named with ``.exe``, or a PowerShell command.  A POSIX shell would eat its backslashes."""
    if "\\" in text:
        at = text.find(":\\")
        while at > 0:
            if text[at - 1].isalpha() and (at == 1 or text[at - 2] in " \t\n\"'`=(,;&|>@"):
                return True
            at = text.find(":\\", at + 1)
        if text[:2] == "\\\\" or " \\\\" in text:
            return True
    if "]::" in text and "io.file]::" in text.lower():
        return True
    if "HKLM" in text or "HKCU" in text or "HKEY_" in text:
        return True
    at = text.find("%")
    while at >= 0:
        close = text.find("%", at + 1)
        if close > at + 1 and text[at + 1 : close].lower() in _VARIABLES:
            return True
        at = close
    for piece in text[:2000].replace("|", ";").replace("&", ";").replace("\n", ";").replace("{", ";").split(";")[:12]:
        words = piece.split(None, 6)
        name = words[0].strip("\"'(").lower() if words else ""
        if name.endswith((".exe", ".cmd", ".bat", ".ps1", ".msc", ".cpl")) and "/" not in name:
            return True
        verb, dash, noun = name.partition("-")
        if dash and noun.isalpha() and verb in _VERBS and words[0][:1].isupper() and words[0][len(verb) + 1].isupper():
            return True
        if name in ("iex", "iwr", "irm", "ri", "del", "erase", "rd") or (
            name in _BARE and any(w[:1] in "/-" for w in words[1:])
        ):
            return True
    return False


# Commands of cmd and of Windows that nobody else has, told by a switch behind them.
_BARE = frozenset(
    "certutil certreq bitsadmin mshta regsvr32 rundll32 wmic schtasks vssadmin wevtutil takeown icacls bcdedit wbadmin diskshadow fsutil cmdkey msiexec esentutl reg netsh "
    "cmstp odbcconf installutil forfiles diantz makecab extrac32 attrib xcopy robocopy tasklist taskkill fltmc pnputil cipher".split()
)


def read_windows(text: str, place: Place, cwd: str) -> list[Finding]:
    """The findings of a line that ``looks_windows``.  They stand beside the shell's own reading, never instead."""
    walk = Walk(place, text)
    inv = Invocation(walk, Scope(cwd), ["cmd"], 0, len(text), None, 0)
    windows_line(inv, text)
    return walk.findings


def windows_line(inv: Invocation, text: str) -> None:
    """A line of cmd or PowerShell: it is read as both, for both start the same programs."""
    if inv.depth > 12:
        return
    _pipelines(inv, text)
    if "]::" in text:
        _file_methods(inv, text)
    behind: list[str] = []
    for words in statements(_expanded(text), "\\")[:200]:
        _statement(inv, words, behind)
        behind = words


def _file_methods(inv: Invocation, text: str) -> None:
    """``[IO.File]::WriteAllText('path', …)`` and its kin, where they name a file of the gate or a host."""
    low = text.lower()
    at = low.find("io.file]::")
    while at >= 0:
        method, _, rest = text[at + 10 : at + 4010].partition("(")
        if not method.lower().startswith(("read", "exists", "get", "open")):
            for quote in ("'", '"'):
                for part in rest.partition(")")[0].split(quote)[1::2]:
                    if inv.target(part).roles & {"gate", "hook-settings"}:
                        inv.add("overwrite", inv.target(part), facts=("code",), detail=f"[IO.File]::{method.strip()}")
        at = low.find("io.file]::", at + 1)


def _expanded(text: str) -> str:
    """``%NAME%`` filled in, carets (cmd's escapes) dropped."""
    if "^" in text:
        text = text.replace("^", "")
    if "%" not in text:
        return text
    out: list[str] = []
    at = 0
    while True:
        begin = text.find("%", at)
        close = text.find("%", begin + 1)
        if begin < 0 or close < 0:
            out.append(text[at:])
            return "".join(out)
        name = text[begin + 1 : close]
        if name and " " not in name and "\\" not in name:
            out += [text[at:begin], _VARIABLES.get(name.lower(), ANY)]
            at = close + 1
        else:
            out.append(text[at : begin + 1])
            at = begin + 1


def _code(inv: Invocation, text: str) -> Flow:
    if inv.depth <= 12:
        _pipelines(inv, text)
        behind: list[str] = []
        for words in statements(text, "`")[:200]:
            _statement(inv, words, behind)
            behind = words
    return UNKNOWN_FLOW


_FETCHES = (
    "downloadstring",
    "downloaddata",
    "invoke-webrequest",
    "iwr ",
    "invoke-restmethod",
    "irm ",
    "net.webclient",
    "downloadfile",
    "start-bitstransfer",
    "curl ",
    "wget ",
)


def _pipelines(inv: Invocation, text: str) -> None:
    """What only the whole line shows: fetched or decoded text that is run."""
    low = text.lower()
    runs = (
        "invoke-expression" in low
        or "iex(" in low
        or any(words[0].lower().lstrip("(&.") == "iex" for words in statements(low, "`") if words)
    )
    runs = runs or "scriptblock]::create" in low or "assembly]::load(" in low
    if not runs:
        return
    if any(mark in low for mark in _FETCHES):
        inv.add("run-remote-code", Target("remote"), facts=("powershell",), detail="what was downloaded is run")
    elif "frombase64string" in low or "gzipstream" in low or "-bxor" in low:
        inv.add("run-decoded", Target("unknown"), facts=("powershell",), detail="encoded text is run")
    elif "$" in low and ("iex $" in low or "invoke-expression $" in low or "| iex" in low or "|iex" in low):
        inv.add(
            "run-unknown",
            Target("unknown"),
            facts=("eval",),
            sure="unknown",
            detail="text that is not visible here is run as PowerShell",
        )


def _place(inv: Invocation, word: str) -> Target:
    """What a Windows path is; the parts it plays (settings, secrets) are told by the path without its drive."""
    word = word.strip(",\"'").replace("*", STAR)
    low = word.lower()
    for mark in ("${env:userprofile}", "$env:userprofile", "$env:home", "${home}", "$home"):
        if low.startswith(mark):
            word, low = "~" + word[len(mark) :], "~" + low[len(mark) :]
    for name in (
        "systemroot",
        "windir",
        "systemdrive",
        "programfiles",
        "appdata",
        "localappdata",
        "temp",
        "tmp",
        "programdata",
        "public",
    ):
        if low.startswith("$env:" + name) and not low[5 + len(name) :][:1].isalnum():
            word = _VARIABLES[name] + word[5 + len(name) :]
    if "$" in word:
        word = ANY + word[word.rfind("\\") :] if "\\" in word[word.rfind("$") :] else ANY
    if word[1:2] == ":" and word[:1].isalpha():
        target = inv.target(word)
        inside = inv.walk.target("/" + word[2:].replace("\\", "/").lstrip("/"), inv.scope)
        roles = target.roles | (inside.roles & _ROLES)
        if "startup" in low and "start menu" in low:
            roles |= {"autostart"}
        if low.rstrip("\\").endswith(
            ("\\windows\\system32\\drivers\\etc\\hosts", "\\system32\\config\\sam", "\\ntds.dit")
        ):
            roles |= {"system-config"}
        parts = [part for part in low[2:].replace("/", "\\").split("\\") if part and part != STAR]
        if parts in (
            ["windows"],
            ["windows", "system32"],
            ["windows", "syswow64"],
            ["program files"],
            ["program files (x86)"],
            ["programdata"],
        ):
            roles |= {"top"}
        kind = target.kind
        if parts[:1] == ["users"] and kind != "temp":  # whose home it is cannot be told from the line
            kind = "home" if len(parts) <= 2 else "home-config" if parts[2][:1] == "." else "home-item"
        return Target(kind, target.path, roles)
    return inv.target(word.replace("\\", "/"))


_ROLES = frozenset(
    (
        "secret",
        "hook-settings",
        "gate",
        "ssh",
        "git-config",
        "git-hook",
        "ci",
        "package-scripts",
        "history",
        "database-file",
    )
)


def _statement(inv: Invocation, words: list[str], behind: list[str]) -> None:
    """One statement: its redirections, then the command.  ``behind`` is the statement before it, a pipe's other end."""
    kept: list[str] = []
    i = 0
    while i < len(words):
        word = words[i]
        bare = word.lstrip("012*")
        if bare[:1] == ">":
            into = bare.lstrip(">") or (words[i + 1] if i + 1 < len(words) else "")
            i += 1 if bare.lstrip(">") else 2
            if into and into.lower() not in ("nul", "$null", "&1", "con"):
                _stream(inv, into)
                inv.add(
                    "write" if bare[:2] == ">>" else "overwrite",
                    _place(inv, into),
                    facts=("append",) if bare[:2] == ">>" else ("redirect",),
                )
            continue
        kept.append(word)
        i += 1
    while kept and (
        kept[0].lower() in ("call", "@echo", "echo.", "&", "(", ".", "do", "else", "try", "runas") or kept[0][:1] == "@"
    ):
        if kept[0][:1] == "@" and len(kept[0]) > 1:
            kept[0] = kept[0][1:]
            if kept[0].lower() == "echo":
                return
            continue
        kept = kept[1:]
    if not kept or kept[0].lower() in ("echo", "rem", "set", "title", "write-host", "write-output", "#"):
        return
    if kept[0].startswith("$") and len(kept) > 2 and kept[1] == "=":
        kept = kept[2:]
    if kept[0].lower() == "for" and "do" in (w.lower() for w in kept):
        kept = kept[[w.lower() for w in kept].index("do") + 1 :]
    elif kept[0].lower() == "if":
        kept = kept[3:] if kept[1:2] and kept[1].lower() in ("exist", "defined") else kept[2:]
    if not kept:
        return
    name = kept[0].lower().strip("&(\"'").replace("/", "\\").rsplit("\\", 1)[-1]
    name = name.removesuffix(".exe").removesuffix(".com")
    if kept[0].strip("\"'").startswith("\\\\") and not kept[0].startswith(("\\\\wsl", "\\\\?\\", "\\\\.\\")):
        inv.add(
            "run-unknown",
            Target("remote", kept[0]),
            facts=("remote-program",),
            sure="likely",
            detail="a program on another machine is started",
        )
    if name == "start" and len(kept) > 1 and "-" not in "".join(kept[1:2]):
        rest = [w for w in kept[1:] if w[:1] != "/"]
        _statement(inv, rest, []) if rest else None
        return
    _command(inv, name, kept, behind)


def _stream(inv: Invocation, word: str) -> None:
    """``file.txt:name``: a second stream of a file, which no listing shows."""
    at, slash = word.rfind(":"), word.rfind("\\")
    if at > 2 and 0 <= slash < at and "://" not in word and word[at + 1 :] and not word[at + 1 :].isdigit():
        inv.add("write", _place(inv, word[:at]), facts=("hidden-stream",), sure="likely", detail=word)


def _options(words: list[str]) -> tuple[list[str], list[str], bool, bool]:
    """Lower-case options, the other words, and whether it goes all the way down, without asking.  Both styles."""
    flags = [
        w.lower()
        for w in words
        if (w[:1] == "-" and len(w) > 1) or (w[:1] == "/" and 1 < len(w) < 6 and "/" not in w[1:])
    ]
    rest = [
        w
        for w in words
        if not ((w[:1] == "-" and len(w) > 1) or (w[:1] == "/" and 1 < len(w) < 6 and "/" not in w[1:]))
    ]
    deep = any(
        f in ("/s", "-r", "-rf", "-fr") or (len(f) > 2 and "-recurse".startswith(f.split(":")[0])) for f in flags
    )
    force = any(f in ("/q", "/f", "-rf", "-fr", "-f") or (len(f) > 2 and "-force".startswith(f)) for f in flags)
    return flags, rest, deep, force


def _value(words: list[str], *names: str) -> str:
    for i, word in enumerate(words[:-1]):
        if word.lower() in names:
            return words[i + 1]
    return ""


def _command(inv: Invocation, name: str, kept: list[str], behind: list[str]) -> None:
    args = kept[1:]
    flags, rest, deep, force = _options(args)
    full = _ALIASES.get(name, name)
    if name == "sc" and args[:1] and args[0].lower() in _SC:
        full = name
    what = " ".join(args).lower()
    if full == "remove-item":
        facts = [*(["recursive"] if deep else []), *(["force"] if force or name in ("del", "erase") else [])]
        if not rest and _options(behind[1:])[2] and "whatif" not in what:
            inv.add("delete", Target("unknown", " ".join(behind)), sure="likely", facts=("recursive", *facts))
        skip = {_value(args, "-exclude", "-include", "-filter", "-erroraction", "-ea")} - {""}
        for word in rest:
            if word not in skip:
                inv.add("delete", _place(inv, word), facts=tuple(facts))
                if "\\currentversion\\run" in word.lower() or word.lower().startswith(("hklm:", "hkey_local")):
                    inv.add("weaken", facts=("registry",), detail=word)
    elif full in (
        "set-content",
        "out-file",
        "clear-content",
        "add-content",
        "tee-object",
        "export-csv",
        "set-item",
        "clear-item",
        "expand-archive",
    ) or (full == "new-item" and "directory" not in what):
        path = _value(args, "-path", "-filepath", "-literalpath", "-destinationpath", "-lp") or (
            rest[0] if rest else ""
        )
        if path and not path.lower().startswith(("env:", "alias:", "function:", "variable:")):
            inv.add(
                "write" if full in ("add-content", "new-item") else "overwrite",
                _place(inv, path),
                facts=("emptied",) if full.startswith("clear") else (),
            )
    elif full in ("move-item", "copy-item", "xcopy", "robocopy"):
        into = _value(args, "-destination") or (rest[1] if len(rest) > 1 else "")
        source = _value(args, "-path") or (rest[0] if rest else "")
        if full == "move-item" and source:
            inv.add("move", _place(inv, source))
        if into:
            inv.add("overwrite" if full != "robocopy" else "write", _place(inv, into), facts=("copy",))
        if (
            full == "robocopy"
            and "/l" not in [w.lower() for w in args]
            and any(f in ("/mir", "/purge") for f in [w.lower() for w in args])
            and into
        ):
            inv.add("delete", _place(inv, into), facts=("recursive", "mirror"))
        for word in (into, source):
            if word.startswith("\\\\") and full == "copy-item" and word == into:
                inv.add("send", Target("remote", word), facts=("copy",))
    elif full in ("format-volume", "clear-disk", "initialize-disk", "remove-partition", "reset-physicaldisk"):
        inv.add("format", Target("device", " ".join(args)))
    elif name == "format" and rest and rest[0][1:2] == ":":
        inv.add("format", Target("device", rest[0]))
    elif full == "stop-process":
        names = [w for w in rest if w.lower() not in ("-name", "-id")]
        from .system import _names_runtime

        by_name = "-name" in flags or "-n" in flags
        inv.add(
            "kill",
            Target("none", " ".join(names)),
            facts=("by-name", *(("runtime",) if _names_runtime(names) else ())) if by_name else ("pid",),
        )
    elif full in ("stop-computer", "restart-computer"):
        inv.add("power", facts=(full,))
    elif full in ("invoke-webrequest", "invoke-restmethod", "start-bitstransfer"):
        from .network import metadata, send

        for word in rest:
            metadata(inv, word)
        path = _value(args, "-infile", "-source")
        if path and "-infile" in flags:
            send(
                inv,
                next((w for w in rest if "://" in w), ""),
                path=path.replace("\\", "/") if ":" not in path else path,
                facts=("upload",),
            )
        into = _value(args, "-outfile", "-destination", "-o")
        if into:
            inv.add("overwrite", _place(inv, into), facts=("download",))
    elif full == "invoke-command" and _value(args, "-computername", "-cn"):
        inv.add(
            "run-unknown",
            Target("remote", _value(args, "-computername", "-cn")),
            facts=("program",),
            sure="likely",
            detail="runs on another machine",
        )
    elif full == "start-process" and "runas" in what:
        inv.add("escalate", facts=("runas",), detail=" ".join(args))
    elif full in ("stop-service", "remove-service", "suspend-service"):
        _service(inv, rest, ("lasting",) if full == "remove-service" else ("stop",))
    elif full == "set-service" and "disabled" in what:
        _service(inv, rest, ("lasting",))
    elif (
        full == "set-executionpolicy"
        and any(p.lower() in ("bypass", "unrestricted") for p in rest)
        and "process" not in what
    ):
        inv.add("weaken", facts=("execution-policy",), detail=" ".join(args))
    elif full == "remove-mpthreat" or (
        full in ("set-mppreference", "add-mppreference")
        and any(f.startswith(("-disable", "-exclusion")) for f in flags)
    ):
        inv.add("weaken", facts=("antivirus",), detail=" ".join(args))
    elif (full == "set-netfirewallprofile" and "false" in what) or full in (
        "disable-netfirewallrule",
        "remove-netfirewallrule",
    ):
        inv.add("weaken", facts=("firewall",), detail=name)
    elif full in ("clear-eventlog", "remove-eventlog", "limit-eventlog"):
        inv.add("weaken", facts=("event-log",), detail=name)
    elif full in (
        "disable-computerrestore",
        "disable-bitlocker",
        "suspend-bitlocker",
        "disable-windowsoptionalfeature",
    ):
        inv.add("weaken", facts=("boot",), detail=name)
    elif full in ("register-scheduledtask", "new-service", "register-wmievent", "set-wmiinstance"):
        inv.add("persist", Target("system", " ".join(rest), ("autostart",)), facts=("windows",), detail=name)
    elif full in ("set-itemproperty", "new-itemproperty") and "\\run" in what:
        inv.add(
            "persist", Target("system", rest[0] if rest else "", ("autostart",)), facts=("windows",), detail="a Run key"
        )
    elif full == "add-localgroupmember" and "admin" in what:
        inv.add("escalate", Target("system", " ".join(rest)), facts=("account", "admin"))
    elif full in ("remove-localuser", "remove-aduser", "remove-adcomputer", "remove-adgroup", "remove-localgroup"):
        inv.add("delete", Target("system", " ".join(rest)), facts=("account",))
    elif full == "clear-history":
        inv.add("delete", Target("home-config", "history", ("history",)), facts=("history",))
    elif full == "clear-recyclebin":
        inv.add("delete", Target("home-item", "recycle bin"), facts=("recursive", "trash"))
    elif "win32_shadowcopy" in what and ("delete" in what or full.startswith("remove-")):
        inv.add("delete", Target("system", "shadow copies"), facts=("backup",))
    elif full in ("invoke-wmimethod", "invoke-cimmethod") and "win32_process" in what:
        inv.add("run-unknown", Target("unknown"), facts=("wmi",), sure="likely", detail=" ".join(args))
    elif not _is_cmdlet(full) and name not in (
        "find",
        "sort",
        "more",
        "date",
        "time",
        "cd",
        "if",
        "for",
        "dir",
        "type",
        "cls",
        "exit",
        "pause",
        "start",
        "foreach",
        "function",
        "param",
    ):
        inv.command([name, *args], "windows")
    for word in args:
        _stream(inv, word)


_SC = frozenset(
    "query queryex qc start stop config create delete failure sdset sdshow pause continue description privs".split()
)


def _is_cmdlet(name: str) -> bool:
    verb, dash, noun = name.partition("-")
    return bool(dash) and verb in _VERBS and noun.isalpha()


def _service(inv: Invocation, names: list[str], facts: tuple[str, ...]) -> None:
    guard = any(
        n.lower()
        in (
            "windefend",
            "wuauserv",
            "eventlog",
            "mpssvc",
            "sense",
            "wscsvc",
            "sshd",
            "termservice",
            "vss",
            "securityhealthservice",
            "sysmon",
            "sysmon64",
        )
        for n in names
    )
    inv.add("stop-service", Target("none", " ".join(names)), facts=(*facts, "critical") if guard else facts)


def statements(text: str, escape: str) -> list[list[str]]:
    """Words of each statement; ``escape`` is ``\\`` never (cmd has no escapes we read) or a backtick."""
    out: list[list[str]] = []
    words: list[str] = []
    word = ""
    began = False
    quote = ""
    i = 0
    while i < len(text):
        c = text[i]
        if quote:
            if c == quote:
                quote = ""
            else:
                word += c
        elif c in "'\"":
            quote, began = c, True
        elif c == "`" and escape == "`" and i + 1 < len(text):
            i += 1
            word += text[i]
            began = True
        elif (
            (c in "{}" and word[-1:] in ("$", "@"))
            or (c == "}" and word[:2] == "${")
            or (c == "&" and word[-1:] == ">")
        ):
            word += c
        elif c in ";|&\n{}":
            if word or began:
                words.append(word)
            if words:
                out.append(words)
            words, word, began = [], "", False
        elif c in " \t\r":
            if word or began:
                words.append(word)
            word, began = "", False
        else:
            word += c
        i += 1
    if word or began:
        words.append(word)
    if words:
        out.append(words)
    return out
