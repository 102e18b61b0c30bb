"""``cmd /c`` and ``powershell -Command``: a lesser reading than the shell's.

Statements are cut at ``;`` ``|`` ``&`` and line ends outside quotes, words are read with both quote styles, a few
aliases are known.  Variables and .NET calls stay unknown.  What it cannot read is never called destructive.
"""

from __future__ import annotations

from ..finding import ANY, Target
from ..walk import UNKNOWN_FLOW, Flow
from .options import value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..walk import Invocation

_REMOVE = ("remove-item", "ri", "rm", "rmdir", "del", "erase", "rd")
_SHORT_COMMANDS = ("-c", "-command", "-co", "-com", "-comm", "-comma", "-comman")
_SHORT_ENCODED = ("-e", "-ec", "-en", "-enc", "-enco", "-encod", "-encode", "-encoded", "-encodedc", "-encodedcommand")


def cmd_line(inv: Invocation) -> Flow:
    args = inv.args
    for i, arg in enumerate(args):
        if arg.lower() in ("/c", "/k", "/r"):
            for words in statements(" ".join(args[i + 1 :]), "\\"):
                if words and words[0].lower() in ("del", "erase", "rd", "rmdir"):
                    words[0] = "del"
                if words:
                    inv.command(words, "cmd /c")
            return UNKNOWN_FLOW
    return UNKNOWN_FLOW


def powershell_line(inv: Invocation) -> Flow:
    args = inv.args
    for i, arg in enumerate(args):
        low = arg.lower()
        if low in _SHORT_COMMANDS:
            return _code(inv, " ".join(args[i + 1 :]))
        if low in _SHORT_ENCODED and i + 1 < len(args):
            text = _decoded(args[i + 1])
            inv.add("run-decoded", Target("unknown"), facts=("powershell",), detail="an encoded command is run")
            return _code(inv, text) if text else UNKNOWN_FLOW
        if low in ("-file", "-f"):
            return UNKNOWN_FLOW
        if arg[:1] != "-":
            return _code(inv, " ".join(args[i:]))
        if low in ("-executionpolicy", "-ep", "-ex", "-exec", "-version", "-windowstyle", "-w", "-inputformat", "-outputformat", "-workingdirectory", "-configurationname"):
            continue
    if inv.stdin is not None and inv.stdin.text is not None:
        return _code(inv, inv.stdin.text)
    return UNKNOWN_FLOW


def _decoded(text: str) -> str:
    import binascii

    try:
        return binascii.a2b_base64(text + "=" * (-len(text) % 4)).decode("utf-16-le")
    except (ValueError, binascii.Error):
        return ""


def _code(inv: Invocation, text: str) -> Flow:
    low = text.lower()
    fetches = any(mark in low for mark in ("downloadstring", "invoke-webrequest", "iwr ", "invoke-restmethod", "irm ", "net.webclient", "downloadfile"))
    runs = any(word in ("iex", "invoke-expression") for words in statements(low, "`") for word in words[:1]) or "iex(" in low or "iex (" in low or "| iex" in low or "|iex" in low or "invoke-expression" in low
    if fetches and runs:
        inv.add("run-remote-code", Target("remote"), facts=("powershell",), detail="what was downloaded is run")
    for words in statements(text, "`"):
        if not words:
            continue
        name = words[0].lower().lstrip("&(").rsplit("\\", 1)[-1]
        flags = [w.lower() for w in words[1:] if w[:1] == "-"]
        paths = [w for w in words[1:] if w[:1] != "-"]
        if name in _REMOVE:
            facts = []
            if any("-recurse".startswith(f) and len(f) > 1 for f in flags) or "-r" in flags or "-rf" in flags:
                facts.append("recursive")
            if any("-force".startswith(f) and len(f) > 1 for f in flags):
                facts.append("force")
            for path in paths:
                path = path.strip(",")
                if path.lower().startswith(("$env:userprofile", "$home", "~")):
                    path = "~" + path[path.find("\\") :].replace("\\", "/") if "\\" in path else "~"
                elif "$" in path:
                    path = ANY
                inv.add("delete", inv.target(path.replace("\\", "/") if ":" not in path else path), facts=tuple(facts))
        elif name in ("format-volume", "clear-disk", "initialize-disk", "remove-partition"):
            inv.add("format", Target("device", " ".join(words[1:])))
        elif name in ("stop-process", "kill", "spps"):
            inv.add("kill", Target("none", " ".join(paths)), facts=("by-name",) if "-name" in flags else ("pid",))
        elif name in ("stop-computer", "restart-computer"):
            inv.add("power")
        elif name == "set-executionpolicy" and any(p.lower() in ("bypass", "unrestricted") for p in paths):
            inv.add("weaken", facts=("execution-policy",))
        elif name == "set-mppreference" and any(f.startswith("-disable") for f in flags):
            inv.add("weaken", facts=("antivirus",))
        elif name in ("git", "npm", "docker", "kubectl", "terraform", "aws", "az", "python", "node"):
            inv.command(words, "powershell")
    return UNKNOWN_FLOW


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
