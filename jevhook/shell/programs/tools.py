"""Build and package tools that start what a project's own files say: package scripts, install hooks, recipes."""

from __future__ import annotations

from ..finding import ANY
from ..walk import UNKNOWN_FLOW, Flow
from .launch import runner
from .options import operands
from .system import installer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..walk import Invocation


def node_manager(inv: Invocation) -> Flow | None:
    """npm, pnpm, yarn, bun: ``run NAME`` runs a line of package.json, which is read when it is there."""
    installer(inv)
    words = operands(inv.args, "--prefix", "-C", "--cwd", "--dir", "-w", "--workspace", "--filter", "-F")
    if not words:
        return None
    name = ""
    if words[0] in ("run", "run-script", "rum", "urn") and len(words) > 1:
        name = words[1]
    elif words[0] in ("test", "start", "stop", "restart", "t", "tst"):
        name = {"t": "test", "tst": "test"}.get(words[0], words[0])
    elif inv.name in ("yarn", "pnpm", "bun") and words[0] not in _VERBS:
        name = words[0]
    if name:
        line = _package_script(inv, name)
        if line:
            scope = inv.scope.copy()
            before = len(inv.walk.findings)
            inv.code(line, f"{inv.name} run {name}", scope)
            for finding in inv.walk.findings[before:]:
                finding.facts = finding.facts | {"in-script"}
            return UNKNOWN_FLOW
        if inv.name != "npm" and name not in _SCRIPTS and name.isascii() and name[:1] not in ".:/":
            # no script of that name to be seen: yarn and pnpm then start the project's own program
            inv.command([name, *inv.args[inv.args.index(name) + 1 :]], inv.name)
            return UNKNOWN_FLOW
    return runner(inv)


# Ordinary script names that are also programs: a script that cannot be seen is likelier.
_SCRIPTS = frozenset(
    (
        "test", "start", "stop", "restart", "build", "dev", "clean", "format", "lint", "kill", "halt", "reboot",
        "shutdown", "reset", "date", "env", "set", "time", "watch", "service", "make", "find", "sort", "split",
        "users", "mount", "rm", "deploy", "release", "drop", "delete", "truncate", "update", "docker", "server",
        "serve", "preview", "docs", "check", "wipe", "purge", "destroy", "login", "history", "power", "open", "print",
        "cat", "ls", "cp", "mv", "sh", "bash", "node", "python",
    )
)  # fmt: skip


_VERBS = frozenset(
    (
        "add", "remove", "install", "i", "ci", "up", "update", "upgrade", "exec", "dlx", "create", "init", "publish",
        "pack", "link", "unlink", "config", "cache", "list", "ls", "info", "view", "outdated", "audit", "why",
        "dedupe", "import", "login", "logout", "workspace", "workspaces", "set", "version", "versions", "npm", "node",
        "plugin", "rebuild", "store", "fetch", "prune", "patch", "x", "pm", "uninstall", "rm", "un", "global", "bin",
        "help", "whoami", "dist-tag", "deprecate", "unpublish", "owner", "team", "token",
    )
)  # fmt: skip


def _package_script(inv: Invocation, name: str) -> str:
    """The script's line out of the nearest package.json, "" when there is none to read."""
    if inv.scope.where or inv.scope.cwd[:1] != "/" or ANY in inv.scope.cwd:
        return ""
    at = inv.scope.cwd
    for _ in range(8):
        path = at.rstrip("/") + "/package.json"
        text = inv.walk.scripts.get(path) or inv.walk.world.text(path, 1 << 18)
        if text is not None:
            from ...jsonio import loads

            try:
                package = loads(text)
            except ValueError:
                return ""
            scripts = package.get("scripts") if isinstance(package, dict) else None
            line = scripts.get(name) if isinstance(scripts, dict) else None
            return line if isinstance(line, str) else ""
        above = at[: at.rstrip("/").rfind("/")] or "/"
        if above == at or at == inv.walk.place.project:
            return ""
        at = above
    return ""


def apply_patch(inv: Invocation) -> Flow | None:
    """Codex's patch program inside a shell call: the same files as the tool of that name."""
    from ..calls import patch_files

    text = (
        inv.args[0]
        if inv.args and "*** " in inv.args[0]
        else (inv.stdin.text if inv.stdin is not None and inv.stdin.text else "")
    )
    for effect, path, body in patch_files(text):
        target = inv.target(path)
        inv.add(effect, target, facts=("patch", "file-tool"))
        if body and effect == "overwrite" and target.path:
            inv.walk.scripts[target.path] = body
    return None


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    "npm": node_manager, "pnpm": node_manager, "yarn": node_manager, "apply_patch": apply_patch, "applypatch": apply_patch,
}  # fmt: skip
