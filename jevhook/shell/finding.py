"""What the rules judge: one finding is one effect on one target, with how sure we are and where it stands.

Sentinels inside texts.  An argument vector cannot hold control characters from the shell's own syntax, so the walk
uses four of them: ``ANY`` a piece that cannot be known, ``NAME`` an unknown piece without a slash (a number, a
date, a file name), ``STAR`` and ``QMARK`` the live wildcards.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ANY = "\0"
NAME = "\4"
STAR = "\1"
QMARK = "\2"

_SHOWN = {0: "…", 4: "…", 1: "*", 2: "?"}

# Every effect there is.  A rule that names another one can never match and is an error.
EFFECTS = frozenset(
    (
        "run",  # a program is started: what most rules about command-line tools look at
        "delete",
        "overwrite",  # the old content of a file is lost
        "write",  # something is created, appended or edited in place
        "move",
        "discard",  # uncommitted work, stashes, untracked files
        "rewrite-history",
        "force-push",
        "delete-ref",  # branches, tags, remote branches
        "permissions",
        "format",  # file systems, partitions, raw devices
        "kill",
        "stop-service",
        "power",  # shutdown, reboot
        "database",  # drop, truncate, flush, reset
        "infrastructure",  # cloud resources, clusters, volumes
        "container",
        "publish",  # packages, releases
        "deploy",
        "send",  # local data leaves for another host
        "read-secret",
        "run-remote-code",  # downloaded text is run
        "run-decoded",  # encoded text is decoded and run
        "run-unknown",  # text that cannot be read here is run
        "escalate",
        "persist",
        "weaken",
        "gate",  # the gate's own files, commands, or the hosts' hook settings
        "interactive",  # a shell or REPL is opened for input that no hook sees
        "reverse-shell",
        "listen",
        "unanalysed",
    )
)

# What a target can be called.  ``kind`` is one of the first group, roles from the second may stand beside it.
KINDS = frozenset(
    (
        "root", "system", "home", "home-item", "home-config", "other-home", "project-root", "project-parent",
        "project", "git-dir", "build", "cache", "temp", "temp-root", "device", "null", "mount", "outside", "unknown",
        "unknown-root", "remote", "stdin", "none",
    )
)  # fmt: skip
ROLES = frozenset(
    (
        "secret", "shell-rc", "git-hook", "git-config", "ci", "hook-settings", "gate", "ssh", "cron", "autostart",
        "system-config", "package-scripts", "tracked", "tracked-clean", "untracked", "wildcard", "contents", "production", "public",
        "local", "database-file", "history", "log", "container-file", "agent-instructions", "elsewhere", "top", "transcript", "foreign", "disguised", "test", "command-dir", "tool-config",
    )
)  # fmt: skip


def shown(text: str, limit: int = 120) -> str:
    """``text`` as a person may see it: sentinels replaced, nothing that a terminal would obey, bounded.

    The query of a URL is left out: keys and signatures stand there.
    """
    text = text.translate(_SHOWN)
    if "://" in text and "?" in text:
        text = " ".join(w.partition("?")[0] + "?…" if "://" in w and "?" in w else w for w in text.split(" "))
    if not text.isprintable():
        from ..text.printable import printable

        text = printable(text)
    if len(text) > limit:
        from ..text.redact import redact

        text = redact(text[: limit + 4000])  # before the cut: half a secret is not seen as one
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Target:
    """``kind`` one of KINDS, ``path`` the absolute or literal target, ``roles`` a frozenset out of ROLES."""

    __slots__ = ("kind", "path", "roles")

    def __init__(self, kind: str, path: str = "", roles: Iterable[str] = ()) -> None:
        self.kind = kind
        self.path = path
        self.roles = frozenset(roles)

    def labels(self) -> frozenset[str]:
        return self.roles | {self.kind}


NOTHING = Target("none")


class Finding:
    """One effect on one target.

    ``effect``   one of EFFECTS
    ``target``   what it happens to
    ``sure``     "certain" (read off the line), "likely", or "unknown" (an unresolved piece is part of it)
    ``start`` ``end``  character offsets of the part of the command line that does it
    ``program``  base name of the program, "" for the shell itself or a file tool
    ``words``    the program's own arguments, sentinels inside
    ``sub``      leading positional words (subcommand path)
    ``flags``    normalised options: ``-rf`` counts as -r, -f and -rf; ``--x=y`` as --x and --x=y
    ``via``      launchers it was unwrapped from (sudo, ssh, xargs, bash -c, …)
    ``facts``    further marks: recursive, force, remote, container, root-user, production, secret, loop, decoded, …
    ``detail``   one short text for the ledger and explain
    """

    __slots__ = (
        "detail", "effect", "end", "facts", "flags", "program", "start", "sub", "sure", "target", "via", "words",
    )  # fmt: skip

    def __init__(
        self,
        effect: str,
        target: Target = NOTHING,
        *,
        sure: str = "certain",
        start: int = 0,
        end: int = 0,
        program: str = "",
        words: list[str] | None = None,
        sub: list[str] | None = None,
        flags: frozenset[str] = frozenset(),
        via: tuple[str, ...] = (),
        facts: frozenset[str] = frozenset(),
        detail: str = "",
    ) -> None:
        self.effect = effect
        self.target = target
        self.sure = sure
        self.start = start
        self.end = end
        self.program = program
        self.words = words or []
        self.sub = sub or []
        self.flags = flags
        self.via = via
        self.facts = facts
        self.detail = detail

    def record(self) -> dict[str, object]:
        """The finding for the ledger and ``explain --json``."""
        out: dict[str, object] = {"effect": self.effect, "target": self.target.kind, "sure": self.sure}
        if self.target.path:
            out["path"] = shown(self.target.path)
        if self.target.roles:
            out["roles"] = sorted(self.target.roles)
        if self.program:
            out["program"] = self.program
        if self.facts:
            out["facts"] = sorted(self.facts)
        if self.via:
            out["via"] = list(self.via)
        if self.effect == "run" and self.words:
            from ..text.redact import redact

            # The program's name tells that -p is a password; words alone do not.
            line = redact(f"{self.program} {' '.join(self.words)}"[:8000])
            out["words"] = shown(line.removeprefix(f"{self.program} "), 160)
        if self.detail:
            out["detail"] = shown(self.detail)
        out["span"] = [self.start, self.end]
        return out
