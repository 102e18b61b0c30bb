"""Programs that print: what flows out of cat, grep, base64, env, ls and their kin, and whether it is a secret."""

from __future__ import annotations

from ..finding import ANY, NAME, STAR, Target
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .options import has, operands, value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..walk import Invocation

MAX_DECODED = 64 << 10
MAX_READ = 256 << 10


def read_paths(inv: Invocation, paths: list[str]) -> Flow:
    """The text of files written on this line; a secret's mark; a finding for each secret that is printed."""
    texts: list[str] = []
    known = True
    taints = inv.taints & {"network", "stranger", "decoded", "secret"}
    for path in paths:
        if path == "-":
            known = False
            continue
        if path[:1] == "-":
            continue
        target = inv.target(path)
        if "secret" in target.roles or "history" in target.roles:
            exposed(inv, target)
            taints |= {"secret"}
        elif target.kind not in ("null",):
            taints |= {"file"}
        text = inv.walk.scripts.get(target.path or path)
        if text is None:
            text = inv.walk.scripts.get(path)
        marks = inv.walk.scripts.get(target.path + "\0taint")
        if marks:
            taints |= set(marks.split(","))
        if text is None and len(paths) == 1 and inv.name == "cat" and "secret" not in taints and not inv.scope.where:
            text = _from_disk(inv, target)
        if text is None:
            known = False
        else:
            texts.append(text)
    return Flow("".join(texts) if known and texts else None, frozenset(taints))


def _from_disk(inv: Invocation, target: Target) -> str | None:
    """What ``cat FILE`` would print, where it goes into another program on this line: at most 256 KB."""
    path = target.path
    if (
        path[:1] != "/"
        or ANY in path
        or STAR in path
        or NAME in path
        or "|" not in inv.walk.text[inv.end : inv.end + 8]
    ):
        return None
    size = inv.walk.world.size(path)
    return inv.walk.world.text(path, MAX_READ) if 0 < size <= MAX_READ else None


def exposed(inv: Invocation, target: Target, *facts: str) -> None:
    """A secret file is read by this program.  Facts: ``captured`` where what it prints goes into a variable or an
    argument and not to the reader's eyes, ``names`` where only names of settings come out."""
    marks = list(facts)
    if _names_only(inv):
        marks.append("names")
    elif _captured(inv):
        marks.append("captured")
    inv.add("read-secret", target, facts=tuple(marks))


_GREPS = ("grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep")
_PRINTERS = ("echo", "printf", "cat", "print", "tee", "head", "tail", "less", "")


def _names_only(inv: Invocation) -> bool:
    """Whether what this filter prints of ``NAME=value`` lines are names, counts or nothing."""
    name, args = inv.name, inv.args
    if name in _GREPS:
        if has(
            args,
            "-c",
            "-q",
            "-l",
            "-L",
            "--count",
            "--quiet",
            "--silent",
            "--files-with-matches",
            "--files-without-match",
            "--files",
        ):
            return True
        pattern = next((a for a in args if a[:1] != "-"), "")
        return (
            has(args, "-o", "--only-matching")
            and ".*" not in pattern
            and ".+" not in pattern
            and "=" not in pattern.rstrip("=")
        )
    if name == "cut":
        return (value_of(args, "-f", "--fields") or "").rstrip(",") == "1" and any(
            "=" in a[1:] if a[:1] == "-" else a == "=" for a in args
        )
    if name in ("awk", "gawk", "mawk", "nawk"):
        code = next((a for a in args if "{" in a), "")
        return (
            "$1" in code
            and "$2" not in code
            and "$0" not in code
            and "getline" not in code
            and any("=" in a for a in args if a is not code)
        )
    if name in ("sed", "gsed"):
        script = next((a for a in args if len(a) > 3 and a[0] == "s" and not a[1].isalnum()), "")
        parts = script.split(script[1]) if script else []
        return (
            len(parts) >= 4
            and "=.*" in parts[1].replace("[^ ]*", ".*").replace(")", "").replace("\\", "")
            and "\\2" not in parts[2]
            and "&" not in parts[2]
        )
    return name in ("wc", "md5sum", "sha256sum", "sha1sum", "shasum", "cksum", "sha512sum", "cmp")


def _captured(inv: Invocation) -> bool:
    """Whether this command stands in ``$(…)`` behind an assignment or as an argument of a program that prints nothing of it."""
    text = inv.walk.text
    depth = 0
    at = min(inv.start, len(text)) - 1
    low = max(0, at - 600)
    if text.find("$(", low, inv.start) < 0 and text.find("`", low, inv.start) < 0:
        return False
    ticks = text.count("`", low, inv.start)
    while at >= low:
        c = text[at]
        if c == ")":
            depth += 1
        elif c == "(":
            if depth == 0:
                break
            depth -= 1
        elif c == "`" and ticks % 2 and depth == 0:
            break
        at -= 1
    if at < low or (text[at] == "(" and text[at - 1 : at] != "$"):
        return False
    before = text[low : at - (text[at] == "(")]
    for mark in (";", "&", "|", "\n", "(", "{"):
        before = before[before.rfind(mark) + 1 :]
    words = before.split()
    while words and "=" in words[0].rstrip("\"'") and words[0].split("=", 1)[0].isidentifier() and len(words) > 1:
        words.pop(0)
    if not words:
        return False
    first = words[0]
    if "=" in first and first.split("=", 1)[0].strip("+").isidentifier():
        return True
    return first[first.rfind("/") + 1 :] not in _PRINTERS


def masked(inv: Invocation, flow: Flow | None) -> Flow | None:
    """A filter behind a pipe that lets only names through: what was read in front of it did not come out."""
    if flow is None or inv.stdin is None or "secret" not in inv.stdin.taints or not _names_only(inv):
        return flow
    text = inv.walk.text
    for finding in reversed(inv.walk.findings):
        if finding.effect != "read-secret" or finding.end > inv.start:
            continue
        between = text[finding.end : inv.start]
        if "|" not in between or any(m in between for m in (";", "&&", "||", "\n")):
            break
        finding.facts = finding.facts | {"names"}
    return Flow(flow.text, flow.taints - {"secret"}, flow.names)


def _redirected(inv: Invocation) -> None:
    """``cat < .env``: what comes in is a secret that nothing before has read."""
    if (
        inv.stdin is not None
        and {"secret", "file"} <= inv.stdin.taints
        and not any(f.effect == "read-secret" for f in inv.walk.findings)
    ):
        exposed(inv, Target("project", "stdin", ("secret",)), "redirect")


def cat(inv: Invocation) -> Flow:
    paths = operands(inv.args, "-n", "-c", "--lines", "--bytes") if inv.name in ("head", "tail") else operands(inv.args)
    if not paths or paths == ["-"]:
        _redirected(inv)
        flow = inv.stdin or UNKNOWN_FLOW
        if inv.name in ("head", "tail", "less", "more") and flow.text is not None and flow.text.count("\n") > 5:
            return Flow(None, flow.taints, flow.names)
        return flow
    flow = read_paths(inv, paths)
    if inv.name in ("head", "tail") and flow.text is not None and flow.text.count("\n") > 1:
        return Flow(None, flow.taints)
    return flow


def grep(inv: Invocation) -> Flow:
    words = operands(
        inv.args,
        "-e",
        "-f",
        "-A",
        "-B",
        "-C",
        "-m",
        "--include",
        "--exclude",
        "--exclude-dir",
        "-g",
        "-t",
        "--regexp",
        "--file",
        "--type",
        "--glob",
        "-d",
        "-D",
    )
    pre = value_of(inv.args, "--pre", "--hostname-bin") if inv.name == "rg" else None
    if pre:
        inv.command([pre], "rg --pre")
    if not values_of(inv.args, "-e", "-f", "--regexp", "--file") and not has(inv.args, "--files"):
        words = words[1:]
    for k, arg in enumerate(inv.args):
        # what stands in a pattern file shows in what matches
        path = (
            inv.args[k + 1]
            if k + 1 < len(inv.args) and arg[:1] == "-" and arg[1:2] != "-" and arg[-1:] == "f" and len(arg) < 6
            else arg[7:]
            if arg[:7] == "--file="
            else arg[2:]
            if arg[:2] == "-f"
            else ""
        )
        if (path or (arg == "--file" and k + 1 < len(inv.args))) and "secret" in inv.target(
            path or inv.args[k + 1]
        ).roles:
            exposed(inv, inv.target(path or inv.args[k + 1]), "patterns")
    if not words:
        _redirected(inv)
        taints = inv.stdin.taints if inv.stdin is not None else frozenset()
        return masked(inv, Flow(None, taints, inv.stdin.names if inv.stdin is not None else None)) or UNKNOWN_FLOW
    if has(inv.args, "--files"):
        return Flow(None, frozenset(), [w.rstrip("/") + "/" + STAR for w in words])
    flow = read_paths(inv, words)
    names = None
    if has(inv.args, "-l", "-L", "--files-with-matches", "--files-without-match", "--files"):
        names = [
            w.rstrip("/") + "/" + STAR if inv.walk.world.kind(inv.target(w).path) == "dir" or w in (".", "..") else w
            for w in words
        ]
    return Flow(None, flow.taints, names)


def ls(inv: Invocation) -> Flow:
    words = operands(inv.args, "-I", "-w", "--ignore", "--sort", "--time-style") or ["."]
    names: list[str] = []
    for word in words:
        if STAR in word or has(inv.args, "-d") or inv.walk.world.kind(inv.target(word).path) == "file":
            names.append(word)
        else:
            # ls prints bare names: what reads them sees them relative to its own directory
            names.append(STAR)
    return Flow(None, frozenset(), names)


def passes(inv: Invocation) -> Flow:
    """Filters whose output is made of their input (tr, cut, sort, uniq …): what it carries stays."""
    paths = operands(inv.args, "-d", "-f", "-c", "-k", "-t", "-n", "-w", "-s", "-b", "--delimiter", "--fields")
    if inv.name in ("tr", "rev", "fold") or not paths:
        flow = inv.stdin or UNKNOWN_FLOW
        if inv.name == "rev" and flow.text is not None:
            return Flow("\n".join(line[::-1] for line in flow.text.split("\n")), flow.taints | {"decoded"})
        if inv.name == "tr" and flow.text is not None and len(inv.args) >= 2:
            return Flow(
                _tr(flow.text, inv.args), flow.taints | ({"decoded"} if _is_rotation(inv.args) else frozenset())
            )
        text = (
            flow.text
            if inv.name in ("sort", "uniq", "tac", "nl") and flow.text is not None and flow.text.count("\n") <= 1
            else None
        )
        return masked(inv, Flow(text, flow.taints, flow.names)) or UNKNOWN_FLOW
    taints = read_paths(inv, paths).taints
    return Flow(None, taints - {"secret"} if _names_only(inv) else taints)


def _expanded(spec: str) -> str:
    out = []
    i = 0
    while i < len(spec):
        if i + 2 < len(spec) and spec[i + 1] == "-" and ord(spec[i]) < ord(spec[i + 2]):
            out += [chr(c) for c in range(ord(spec[i]), ord(spec[i + 2]) + 1)]
            i += 3
        else:
            out.append(spec[i])
            i += 1
    return "".join(out)


def _tr(text: str, args: list[str]) -> str | None:
    words = [a for a in args if a[:1] != "-"]
    flags = "".join(a[1:] for a in args if a[:1] == "-" and len(a) > 1)
    if flags == "d" and words:
        drop = _expanded(words[0].replace("\\n", "\n"))
        return "".join(c for c in text if c not in drop)
    if flags or len(words) != 2 or "[:" in words[0]:
        return None
    a, b = _expanded(words[0].replace("\\n", "\n")), _expanded(words[1].replace("\\n", "\n"))
    if not b:
        return None
    b += b[-1] * (len(a) - len(b))
    return text.translate({ord(x): y for x, y in zip(a, b, strict=False)})


def _is_rotation(args: list[str]) -> bool:
    return len(args) == 2 and len(_expanded(args[0])) >= 20


def base64(inv: Invocation) -> Flow:
    decode = has(inv.args, "-d", "-D", "--decode", "-di", "-id")
    words = operands(inv.args, "-w", "--wrap", "-b", "-i", "-o")
    if not words:
        _redirected(inv)
    into = read_paths(inv, words) if words else (inv.stdin or UNKNOWN_FLOW)
    taints = into.taints | inv.taints
    if not decode:
        return Flow(None, taints | {"encoded"})
    return Flow(decoded_text(into.text, inv.name), taints | {"decoded"})


def decoded_text(text: str | None, how: str) -> str | None:
    """Base64, base32 or hex decoded; None when it cannot be."""
    if text is None or len(text) > MAX_DECODED:
        return None
    import binascii

    data = "".join(text.split())
    try:
        if how in ("base64", "openssl", "gbase64"):
            raw = binascii.a2b_base64(data + "=" * (-len(data) % 4))
        elif how == "base32":
            import base64 as codec

            raw = codec.b32decode(data)
        else:
            raw = binascii.unhexlify(data)
        return raw.decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return None


def xxd(inv: Invocation) -> Flow:
    flow = inv.stdin or UNKNOWN_FLOW
    words = operands(inv.args, "-c", "-l", "-s", "-g")
    if words:
        flow = read_paths(inv, words[:1])
    if has(inv.args, "-r", "--revert", "-rp"):
        return Flow(decoded_text(flow.text, "hex"), flow.taints | {"decoded"})
    return Flow(None, flow.taints | {"encoded"})


def decompress(inv: Invocation) -> Flow:
    words = operands(inv.args, "-S")
    if (
        has(inv.args, "-c", "--stdout", "-dc")
        or inv.name in ("zcat", "bzcat", "xzcat", "zstdcat", "gzcat")
        or not words
    ):
        flow = read_paths(inv, words) if words else (inv.stdin or UNKNOWN_FLOW)
        decoding = inv.name in ("zcat", "bzcat", "xzcat", "gunzip", "unxz", "bunzip2", "zstdcat", "gzcat") or has(
            inv.args, "-d", "--decompress"
        )
        return Flow(None, flow.taints | ({"decoded"} if decoding and not words else frozenset()))
    return NO_FLOW


def env_dump(inv: Invocation) -> Flow:
    names = operands(inv.args)
    if names:
        from ..walk import _secret_variable

        secret = any(_secret_variable(n) for n in names)
        if secret:
            inv.add(
                "read-secret",
                inv.target("\0"),
                sure="likely",
                facts=("variable",),
                detail="a variable that holds a credential",
            )
        return Flow(None, frozenset(("secret",)) if secret else frozenset())
    return Flow(None, frozenset(("secret", "environment")))


def basename(inv: Invocation) -> Flow:
    words = operands(inv.args, "-s")
    if not words:
        return UNKNOWN_FLOW
    path = words[0]
    if path[:1] == ANY and len(path) == 1:
        return Flow(None if inv.name == "dirname" else NAME + "\n")
    if inv.name == "dirname":
        at = path.rstrip("/").rfind("/")
        return Flow((path[:at] or "/" if at >= 0 else ".") + "\n", inv.taints)
    name = path.rstrip("/")
    name = name[name.rfind("/") + 1 :]
    if len(words) > 1 and name.endswith(words[1]):
        name = name[: -len(words[1])]
    return Flow((NAME if ANY in name else name) + "\n", inv.taints)


def realpath(inv: Invocation) -> Flow:
    words = operands(inv.args, "--relative-to")
    if len(words) != 1 or ANY in words[0]:
        return UNKNOWN_FLOW
    return Flow((inv.target(words[0]).path or words[0]) + "\n", inv.taints)


def which(inv: Invocation) -> Flow:
    words = operands(inv.args)
    if inv.name == "command" and not has(inv.args, "-v", "-V"):
        return UNKNOWN_FLOW
    return Flow("/usr/bin/" + words[0] + "\n" if len(words) == 1 and "/" not in words[0] else None)


def name_only(inv: Invocation) -> Flow:
    """Prints one word that holds no slash: date, hostname, id -u, nproc, uname."""
    if inv.name == "wc":
        masked(inv, NO_FLOW)
    if inv.name == "whoami" or (inv.name == "id" and has(inv.args, "-un")):
        return Flow(inv.walk.world.user + "\n")
    return Flow(NAME + "\n")


def seq(inv: Invocation) -> Flow:
    return Flow(None, frozenset(), [NAME])


def jq(inv: Invocation) -> Flow:
    words = operands(inv.args, "--arg", "--argjson", "-f", "--indent", "--slurpfile", "--rawfile")
    if inv.name == "yq" and words[:1] in (["eval"], ["e"], ["eval-all"], ["ea"]):
        words = words[1:]
    taints = inv.stdin.taints if inv.stdin is not None else frozenset()
    return Flow(None, taints | (read_paths(inv, words[1:]).taints if len(words) > 1 else frozenset()))


def tput(inv: Invocation) -> Flow:
    return Flow(NAME)


READERS = {
    "cat": cat, "head": cat, "tail": cat, "less": cat, "more": cat, "bat": cat, "batcat": cat, "tac": passes, "nl": passes,
    "strings": cat, "pr": cat, "expand": cat, "iconv": passes, "most": cat, "pygmentize": cat, "ccat": cat, "hexyl": xxd, "od": xxd, "hexdump": xxd, "xxd": xxd, "grep": grep, "egrep": grep, "fgrep": grep, "rg": grep, "ag": grep, "ack": grep,
    "zgrep": grep, "ls": ls, "dir": ls, "exa": ls, "eza": ls, "tr": passes, "cut": passes, "uniq": passes, "rev": passes, "fold": passes, "column": passes,
    "paste": passes, "fmt": passes, "comm": passes, "join": passes, "base64": base64, "gbase64": base64, "base32": base64,
    "gzip": decompress, "gunzip": decompress, "zcat": decompress, "gzcat": decompress, "bzip2": decompress, "bunzip2": decompress, "bzcat": decompress,
    "xz": decompress, "unxz": decompress, "xzcat": decompress, "zstd": decompress, "zstdcat": decompress, "lz4": decompress,
    "printenv": env_dump, "basename": basename, "dirname": basename, "realpath": realpath, "readlink": realpath, "which": which,
    "date": name_only, "hostname": name_only, "id": name_only, "nproc": name_only, "uname": name_only, "whoami": name_only,
    "uuidgen": name_only, "wc": name_only, "seq": seq, "jq": jq, "yq": jq, "tput": tput, "diff": cat, "cmp": cat, "file": None, "stat": None,
    "awk_": None,
}  # fmt: skip
READERS = {name: reader for name, reader in READERS.items() if reader is not None}
