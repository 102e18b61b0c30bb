"""Programs that give out secrets: archivers, openssl, git's old versions, password stores, token commands."""

from __future__ import annotations

from ..finding import Target
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .options import has, operands, value_of
from .readers import exposed, masked, read_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..walk import Invocation

_STORE = Target("home-config", "credential store", ("secret",))


def archive(inv: Invocation) -> Flow:
    """zip, 7z, rar: the files that go in, behind the archive's own name."""
    words = operands(inv.args, "-x", "-i", "-P", "-b", "-t", "-n")
    if inv.name != "zip":
        if words[:1] not in (["a"], ["u"]):
            return UNKNOWN_FLOW
        words = words[1:]
    read_paths(inv, words[1:])
    return NO_FLOW


def openssl(inv: Invocation) -> Flow | None:
    """Ciphers print what they are given; key commands print the key unless told otherwise."""
    verb = inv.args[0] if inv.args else ""
    source = value_of(inv.args, "-in")
    shows = verb == "pkcs12" or verb.startswith(
        ("des", "camellia", "chacha", "zlib")
    )  # enc and aes: the network reader
    keys = verb in ("rsa", "ec", "pkey", "pkcs8", "dsa") and not any(
        a in ("-pubout", "-noout", "-check", "-out", "-modulus", "-pubin") for a in inv.args
    )
    if source and (shows or keys):
        read_paths(inv, [source])
    from .network import READERS as known

    reader = known.get("openssl")
    return reader(inv) if reader is not None else None


def git(inv: Invocation) -> Flow | None:
    """``git show REV:.env``: an old version of a secret is a secret."""
    from .git import READERS as known

    for arg in inv.args:
        at = arg.find(":")
        if (
            at > 0
            and arg[at + 1 :]
            and arg[at + 1] != "/"
            and "://" not in arg
            and any(a in ("show", "cat-file", "blame", "diff") for a in inv.args[:6])
        ):
            target = inv.target(arg[at + 1 :])
            if "secret" in target.roles:
                exposed(inv, target, "git-history")
    reader = known.get("git")
    return reader(inv) if reader is not None else None


# program -> subcommands that print a stored secret
_STORES: dict[str, tuple[str, ...]] = {
    "gh": ("auth token",), "glab": ("auth token", "config get token"), "bw": ("get password", "get item", "get totp", "get notes", "get username", "export", "list items"), "rbw": ("get", "code"),
    "lpass": ("show", "export"), "gopass": ("show", "cat", "otp", "totp"), "keyring": ("get",), "dashlane": ("password", "read"), "dcli": ("password", "read", "note"), "keepassxc-cli": ("show", "export"),
    "chezmoi": ("secret keyring get",), "kwallet-query": ("",), "docker-credential-desktop": ("get",), "docker-credential-osxkeychain": ("get",),
    "docker-credential-pass": ("get",), "docker-credential-secretservice": ("get",), "gnome-keyring": ("",), "git-credential-osxkeychain": ("get",), "git-credential-manager": ("get",),
}  # fmt: skip


def store(inv: Invocation) -> Flow | None:
    words = operands(inv.args, "-R", "--repo", "--hostname", "-h", "--session", "-a", "--app")
    said = " ".join(words)
    for verb in _STORES[inv.name]:
        if said == verb or said.startswith(verb + " ") or not verb:
            exposed(inv, _STORE, "store")
            return Flow(None, frozenset(("secret",)))
    if inv.name == "gh" and words[:2] in (["gist", "create"], ["gist", "new"]):
        from .network import send

        public = has(inv.args, "-p", "--public")
        for path in operands(inv.args, "-d", "--desc", "-f", "--filename")[2:]:
            send(inv, "gist.github.com", path=path, facts=("public-gist",) if public else ("gist",))
        if inv.stdin is not None and inv.stdin.taints & {"secret"}:
            send(inv, "gist.github.com", facts=("stdin", "gist"))
    if inv.name == "gh" and said.startswith("auth status") and has(inv.args, "-t", "--show-token"):
        exposed(inv, _STORE, "store")
    return None


def keychain(inv: Invocation) -> Flow | None:
    """macOS hides the password without -w or -g (dump-keychain: -d); pass shows one unless another verb stands first."""
    from .system import READERS as known

    words = operands(inv.args)
    verb = words[0] if words else ""
    if inv.name == "security":
        if (verb.startswith("find-") and not has(inv.args, "-w", "-g")) or (
            verb == "dump-keychain" and "-d" not in inv.args
        ):
            return UNKNOWN_FLOW
    elif inv.name == "pass" and (
        verb
        in (
            "edit",
            "mv",
            "rename",
            "cp",
            "copy",
            "rm",
            "remove",
            "delete",
            "find",
            "search",
            "list",
            "version",
            "help",
            "add",
            "import",
            "tail",
            "update",
            "audit",
        )
        or (verb == "otp" and words[1:2] in (["insert"], ["append"], ["validate"]))
        or has(inv.args, "-c", "--clip")
    ):
        return UNKNOWN_FLOW
    before = len(inv.walk.findings)
    reader = known.get(inv.name)
    flow = reader(inv) if reader is not None else None
    from .readers import _captured

    for finding in inv.walk.findings[before:]:
        if finding.effect == "read-secret" and _captured(inv):
            finding.facts = finding.facts | {"captured"}
    return flow


def gpg(inv: Invocation) -> Flow | None:
    if any(a in ("--export-secret-keys", "--export-secret-subkeys", "--export-secret-key") for a in inv.args):
        exposed(inv, Target("home-config", "secret key ring", ("secret",)), "export")
        return Flow(None, frozenset(("secret",)))
    return None


def awk(inv: Invocation) -> Flow | None:
    from .interpreters import awk as reader

    return masked(inv, reader(inv))


def digest(inv: Invocation) -> Flow | None:
    return masked(inv, UNKNOWN_FLOW)


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    "zip": archive, "7z": archive, "7za": archive, "7zz": archive, "rar": archive, "openssl": openssl, "git": git, "gpg": gpg, "gpg2": gpg,
    **dict.fromkeys(_STORES, store), **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
    "security": keychain, "pass": keychain, "secret-tool": keychain,
    **dict.fromkeys(("md5sum", "sha256sum", "sha1sum", "shasum", "sha512sum", "cksum"), digest),
}  # fmt: skip
