"""``jevhook install`` and ``jevhook uninstall``: the hook in the hosts' own settings, and out of them again."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from typing import Any

import click

from .. import config, hosts, policy
from ..install import files, plan, receipts
from ..install.files import Refused
from .person import at_keyboard, no_agent, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..hosts import Installer
    from ..install.plan import Plan

_MCP_SECONDS = 30.0


def binary(host: Installer, env: dict[str, str], root: str) -> str:
    """The host's program on PATH, "" for none.  One inside the project ``root`` does not count: it would be started."""
    places = [place for place in env.get("PATH", "").split(os.pathsep) if os.path.isabs(place)]
    found = shutil.which(host.PROGRAM, path=os.pathsep.join(places))
    if not found or (root and os.path.realpath(found).startswith(os.path.realpath(root).rstrip(os.sep) + os.sep)):
        return ""
    return found


def present(host: Installer, env: dict[str, str], root: str) -> bool:
    """Whether the host seems to be used here: it has a directory of settings, or its program is on PATH."""
    return os.path.isdir(host.directory(env)) or bool(binary(host, env, root))


def chosen(which: str, env: dict[str, str], root: str, scope: str) -> list[Installer]:
    """The hosts that an argument means.  Raises ClickException when "all" means none."""
    if which != "all":
        return [hosts.installer(which)]
    found = [host for host in map(hosts.installer, hosts.installable()) if present(host, env, root)]
    if scope == "managed":
        found = [host for host in found if host.MANAGED]
    if not found:
        names = ", ".join(hosts.installable())
        raise click.ClickException(f"no host was found here: name the one you mean ({names})")
    return found


class _Host(click.ParamType):  # type: ignore[type-arg]
    name = "host"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        known = [*hosts.installable(), "all"]
        if value not in known:
            self.fail(f"{value!r}: one of {', '.join(known)}", param, ctx)
        return str(value)


def project(env: dict[str, str], cwd: str) -> str:
    """The work tree of ``cwd``, else ``cwd`` itself; "" for one that holds the home directory: the person's own
    programs lie in that."""
    root = policy.project_root(cwd)
    home = os.path.realpath(config.home(env) or "/")
    above = os.path.realpath(root or "/").rstrip(os.sep) + os.sep
    return "" if (home + os.sep).startswith(above) else root


def _where() -> tuple[dict[str, str], str]:
    """(environment, the working directory's project, "" for none)."""
    env = dict(os.environ)
    try:
        return env, project(env, os.getcwd())
    except OSError:  # the directory was removed under us
        return env, ""


def _file(host: Installer, env: dict[str, str], root: str, scope: str) -> str:
    """The settings file that is meant.  Raises Refused where the host has none there."""
    if scope == "managed":
        if not host.MANAGED:
            raise Refused(f"managed settings of {host.TITLE} are for your own hand. {host.STURDIER}")
        return host.MANAGED
    if scope == "project" and not root:
        raise Refused("--project: the working directory is in no project")
    return host.settings(env, root if scope == "project" else "")


def again(host: Installer, env: dict[str, str], path: str, points: list[str] | None, made: policy.Policy) -> None:
    """Install into ``path`` once more, after showing the change and asking.  What is in the way is said."""
    try:
        _install(host, env, "", path, points, made, dry_run=False, yes=False, trust=True, mcp=False)
    except (Refused, OSError) as wrong:
        click.echo(f"{host.TITLE}: {policy.clean(str(wrong))}", err=True)


def _scope(command: Any) -> Any:
    for name, said in (
        ("managed", "The machine's settings, for every user: no repository can switch these off (Claude Code)."),
        ("project", "Your personal settings for this project."),
        ("user", "Your own settings (the default)."),
    ):
        command = click.option(f"--{name}", "scope", flag_value=name, default=name == "user", help=said)(command)
    return command


def _points(given: str | None) -> list[str] | None:
    if given is None:
        return None
    from ..points import MODULES

    names = [name.strip() for name in given.split(",") if name.strip()]
    for name in names:
        if name not in MODULES:
            raise click.BadParameter(f"{name!r}: one or more of {', '.join(MODULES)}", param_hint="--points")
    if not names:
        raise click.BadParameter(f"name one or more of {', '.join(MODULES)}", param_hint="--points")
    return names


def _show(made: Plan) -> None:
    for said in made.notes:
        click.echo(f"note: {policy.clean(said)}")
    for change in made.changes:
        click.echo("\n".join(plan.diff(change)))


@click.command("install")
@click.argument("host", type=_Host(), default="all")
@_scope
@click.option("--points", metavar="A,B", help="Only what these decision points need (default: all).")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.  Needs no terminal where nothing of jevhook is there yet.")
@click.option("--trust/--no-trust", default=True, help="Codex: record your trust in the hooks as well (the default).")
@click.option("--mcp", is_flag=True, help="Register the MCP server too, through the host's own command.")
def install(host: str, scope: str, points: str | None, dry_run: bool, yes: bool, trust: bool, mcp: bool) -> None:
    """Register the hook in the settings of HOST: claude, codex, or all that are found here (the default).

    Shows the change first and asks.  Nothing else in the file is touched, the old file is kept, and `jevhook
    uninstall` puts it back.  Run again after you have moved or upgraded Python: it only changes what is not right.

    \b
    jevhook install --dry-run
    jevhook install claude
    jevhook install codex --project
    """
    env, root = _where()
    wanted = _points(points)
    if not dry_run:
        no_agent("jevhook install")
    made = policy.load(env, cwd=root, in_hook=True, managed=policy.MANAGED)
    failed = False
    for each in chosen(host, env, root, scope):
        try:
            path = _file(each, env, root, scope)
            failed |= not _install(each, env, root, path, wanted, made, dry_run=dry_run, yes=yes, trust=trust, mcp=mcp)
        except (Refused, OSError) as wrong:
            click.echo(f"{each.TITLE}: not installed: {policy.clean(str(wrong))}", err=True)
            failed = True
    raise SystemExit(1 if failed else 0)


def _install(
    host: Installer, env: dict[str, str], root: str, path: str, points: list[str] | None, made: policy.Policy,
    *, dry_run: bool, yes: bool, trust: bool, mcp: bool,
) -> bool:  # fmt: skip
    """Whether all went well.  Raises Refused, OSError, ClickException."""
    strict = made.failure("tool.risk") != "open"
    todo = plan.install(host, env, path=path, points=points, fail_closed=strict, trusted=trust)
    if root and os.path.realpath(sys.prefix).startswith(os.path.realpath(root) + os.sep):
        todo.notes.append(f"{sys.prefix} lies in this project: who can write here can replace the guard")
    if path == host.MANAGED and not _for_everybody(sys.executable):
        todo.notes.append(f"{sys.executable} can't be started by every user: their calls would go through unjudged")
    _show(todo)
    if not todo.changes:
        click.echo(f"{host.TITLE}: {path} is as it should be")
    elif dry_run:
        click.echo(f"{host.TITLE}: nothing was changed (--dry-run)")
    else:
        if not (yes and todo.adds):
            at_keyboard("jevhook install")
        if not yes and not click.confirm(f"{host.TITLE}: make this change?", default=True):
            click.echo(f"{host.TITLE}: nothing was changed")
            return True
        kept = plan.carry_out(todo, env)
        note(env, f"install {host.NAME}", "install", settings=path)
        click.echo(f"{host.TITLE}: the hook is in {policy.clean(path)}. {host.LOADED}")
        for name in kept:
            click.echo(f"  as it was: {policy.clean(name)}")
    if todo.changes and not dry_run:
        if host.UNTRUSTED and not trust:
            click.echo(f"  {host.UNTRUSTED}")
        click.echo(f"  {host.STURDIER}")
        click.echo("  See whether it works: jevhook doctor")
    if mcp and dry_run:
        click.echo(f"{host.TITLE}: would run: {shlex.join([host.PROGRAM, *host.mcp_add(_server())])}")
    return _register(host, env, root, todo) if mcp and not dry_run else True


def _for_everybody(program: str) -> bool:
    """Whether any user may start ``program``: it and every directory above it, behind its links too."""
    for path in {os.path.abspath(program), os.path.realpath(program)}:
        while True:
            if not os.stat(path).st_mode & 0o001:
                return False
            if path == os.path.dirname(path):
                break
            path = os.path.dirname(path)
    return True


def _server() -> list[str]:
    return [plan.interpreter(), "-I", "-m", "jevhook", "serve"]


def _register(host: Installer, env: dict[str, str], root: str, todo: Plan) -> bool:
    if todo.record["mcp"]:
        click.echo(f"{host.TITLE}: the MCP server is registered")
        return True
    program = binary(host, env, root)
    words = host.mcp_add(_server())
    if not program:
        click.echo(f"{host.TITLE}: {host.PROGRAM} is not on PATH; to register the MCP server run:")
        click.echo(f"  {shlex.join([host.PROGRAM, *words])}")
        return False
    done = _run([program, *words], env)
    if done is None or done.returncode:
        said = "" if done is None else (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        click.echo(
            f"{host.TITLE}: the MCP server was not registered: {policy.clean(' '.join(said) or 'no answer')}", err=True
        )
        return False
    if importlib.util.find_spec("mcp") is None:
        click.echo(
            "note: the package mcp is missing, without which the server ends at once: pip install 'jevhook[mcp]'"
        )
    todo.record["mcp"] = True
    for entry in todo.record["files"]:  # codex writes it into the file that holds its trust
        entry["after"] = files.digest(files.look(entry["path"]).data)
    receipts.save(env, todo.record, todo.befores)
    click.echo(f"{host.TITLE}: the MCP server is registered ({shlex.join([host.PROGRAM, *words[:2]])})")
    return True


def _run(words: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            words, env=env, cwd=os.path.expanduser("~"), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=_MCP_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None


@click.command("uninstall")
@click.argument("host", type=_Host(), default="all")
@_scope
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def uninstall(host: str, scope: str, dry_run: bool, yes: bool) -> None:
    """Take the hook out of the settings of HOST: claude, codex, or all that are found here (the default).

    A file that nobody changed since is put back to the byte; from any other exactly our entries are taken.  The
    policy and the ledger stay where they are.

    \b
    jevhook uninstall
    jevhook uninstall codex --dry-run
    """
    env, root = _where()
    if not dry_run:
        at_keyboard("jevhook uninstall")
    failed = False
    for each in chosen(host, env, root, scope):
        try:
            _uninstall(each, env, root, _file(each, env, root, scope), dry_run, yes)
        except (Refused, OSError) as wrong:
            click.echo(f"{each.TITLE}: not uninstalled: {policy.clean(str(wrong))}", err=True)
            failed = True
    raise SystemExit(1 if failed else 0)


def _uninstall(host: Installer, env: dict[str, str], root: str, path: str, dry_run: bool, yes: bool) -> None:
    todo = plan.uninstall(host, env, path)
    _show(todo)
    mcp = bool(todo.record.get("mcp"))
    if not todo.changes and not mcp:
        click.echo(f"{host.TITLE}: nothing of jevhook is in {policy.clean(todo.record['path'])}")
        if not dry_run:
            receipts.forget(env, todo.record)
        return
    if dry_run:
        click.echo(f"{host.TITLE}: nothing was changed (--dry-run)")
        return
    if not yes and not click.confirm(f"{host.TITLE}: make this change?", default=True):
        click.echo(f"{host.TITLE}: nothing was changed")
        return
    plan.undo(todo, env)
    note(env, f"uninstall {host.NAME}", "uninstall", settings=path)
    click.echo(f"{host.TITLE}: the hook is out of {policy.clean(todo.record['path'])}")
    program = binary(host, env, root) if mcp else ""
    if program:
        _run([program, *host.mcp_remove()], env)
    elif mcp:
        click.echo(f"  to take the MCP server out: {shlex.join([host.PROGRAM, *host.mcp_remove()])}")
