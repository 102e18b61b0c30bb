"""``jevhook allow``: lasting exceptions in the user's own config.toml, which keeps its comments and its order."""

from __future__ import annotations

import datetime
import json
import os
import time
from typing import Any

import click

from .. import config, policy
from . import config_file
from .person import at_keyboard, note

DAYS = 90  # how long an exception holds when nobody says


@click.group("allow")
def allow() -> None:
    """Lasting exceptions: one rule for one path or one command, with a reason and an end.

    \b
    jevhook allow add fs.delete-home-item --path '~/scratch/**' --comment 'thrown away every night'
    jevhook allow list
    jevhook allow remove scratch
    """


@allow.command("add")
@click.argument("rule")
@click.option("--path", "pattern", metavar="GLOB", help="Where it holds: from / or ~/; ** is any depth. Quote it.")
@click.option("--command", "line", metavar="COMMAND", help="Or the one command, letter for letter.")
@click.option("--comment", metavar="TEXT", help="Why. Asked for when it is not given.")
@click.option("--expires", metavar="DAY|90d|never", default=f"{DAYS}d", show_default=True, help="The last day.")
@click.option("--id", "name", metavar="NAME", help="What to remove it by. Default: the rule's own last word.")
@click.option("--yes", is_flag=True, help="Do not ask, even where the rule stops what cannot be undone.")
def add(
    rule: str, pattern: str | None, line: str | None, comment: str | None, expires: str, name: str | None, yes: bool
) -> None:
    """Lift RULE (the id at the end of a reason) for one path or one command.

    \b
    jevhook allow add git.clean --path '~/work/shop/**' --comment 'generated files only' --expires 30d
    jevhook allow add git.reset-hard --command 'git reset --hard origin/ci' --comment 'a throw-away clone'
    """
    at_keyboard("jevhook allow add")
    if (pattern is None) == (line is None):
        raise click.UsageError("give either --path or --command")
    last = day(expires)
    env = dict(os.environ)
    found = _rule(rule, env)
    if comment is None:
        comment = str(click.prompt("Why"))
    if pattern is not None and not pattern.startswith(("/", "~/")):
        pattern = os.path.join(os.getcwd(), pattern)
    try:
        path = config_file.place(env)
        text = config_file.text_of(path)
        entry: dict[str, Any] = {"id": _free(name, rule, text, path), "rule": rule}
        entry |= {"path": pattern} if pattern is not None else {"command": line}
        entry |= {"comment": comment} | ({"expires": last} if last else {})
        made = config_file.with_exception(text, path, entry)
        if found.get("unrecoverable") and not yes:
            click.echo(f"{rule} stops what cannot be undone: {policy.clean(str(found['reason']))}")
            if not click.confirm("Lift it all the same?"):
                raise click.exceptions.Abort
        config_file.replace(path, made, config.home(env), before=text)
    except config.ConfigError as wrong:
        raise click.ClickException(f"nothing was changed: {policy.clean(str(wrong))}") from None
    note(env, "allow add", "allow", exception={"id": entry["id"], "rule": rule})
    until = f"until {last.isoformat()}" if last else "for good"
    click.echo(f"exception {entry['id']}: {rule} is lifted {until} ({policy.clean(path)})")


@allow.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_(as_json: bool) -> None:
    """List the exceptions of every layer: id, rule, where, until when, why.

    \b
    jevhook allow list
    jevhook allow list --json
    """
    made = policy.load(dict(os.environ), in_hook=False, managed=policy.MANAGED)
    held = policy.exceptions(made, time.time())
    table = [{**entry, "holds": entry in held} for entry in policy.rules(made).get("exceptions", [])]
    if as_json:
        click.echo(json.dumps(table, indent=1))
        return
    for entry in table:
        where = entry.get("path") or f"command {entry.get('command')}"
        until = f"until {entry['expires']}" if entry["expires"] else "for good"
        state = until if entry["holds"] else f"EXPIRED {entry['expires']}"
        why = f"  # {entry['comment']}" if entry["comment"] else ""
        click.echo(policy.clean(f"{entry['id']:20} {entry['rule']:28} {where}  {state} ({entry['layer']}){why}"))
    if not table:
        click.echo("no exceptions")


@allow.command("remove")
@click.argument("name", metavar="ID")
def remove(name: str) -> None:
    """Take the exception ID out of config.toml again.

    \b
    jevhook allow remove scratch
    """
    at_keyboard("jevhook allow remove")
    env = dict(os.environ)
    try:
        path = config_file.place(env)
        text = config_file.text_of(path)
        made = config_file.without_exception(text, path, name)
        config_file.replace(path, made, config.home(env), before=text)
    except config.ConfigError as wrong:
        raise click.ClickException(f"nothing was changed: {policy.clean(str(wrong))}") from None
    note(env, "allow remove", "allow", exception={"id": name})
    click.echo(f"exception {policy.clean(name)} is gone ({policy.clean(path)})")


def day(text: str) -> datetime.date | None:
    """``2027-01-31``, ``30d`` from today, or None for ``never``.  Raises BadParameter."""
    today = datetime.date.today()
    if text == "never":
        return None
    if text[-1:] == "d" and text[:-1].isascii() and text[:-1].isdigit() and len(text) <= 5:
        return today + datetime.timedelta(days=int(text[:-1]))
    try:
        last = datetime.date.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"--expires {text!r}: a day such as 2027-01-31, a number of days such as 30d, or never"
        ) from None
    if last < today:
        raise click.BadParameter(f"--expires {text!r}: that day is past")
    return last


def _rule(rule: str, env: dict[str, str]) -> dict[str, Any]:
    """The rule in force with this id.  Raises ClickException when there is none, or when it is not the user's to lift."""
    table = policy.rules(policy.load(env, in_hook=False, managed=policy.MANAGED))["rules"]
    if rule == "*":  # every rule but those that stop what cannot be undone
        return {}
    if rule not in table:
        import difflib

        close = ", ".join(difflib.get_close_matches(rule, table, 3, 0.5))
        near = f"; close to it: {close}" if close else ""
        raise click.ClickException(f"no rule has the id {policy.shown(rule)}{near}. `jevhook rules` lists them")
    found: dict[str, Any] = table[rule]
    if found.get("layer") in ("managed", "project"):
        raise click.ClickException(f"{rule} is a {found['layer']} rule: your own policy can't lift it")
    return found


def _free(name: str | None, rule: str, text: str, path: str) -> str:
    """The exception's id: ``name`` if it is not taken, else the rule's last word, numbered where needed."""
    from ..policy_toml import parse

    taken = {str(entry.get("id")) for entry in parse(text.encode(), path).get("exception", [])}
    if name is not None:
        if name in taken:
            raise config.ConfigError(f"{path}: there is an exception {policy.shown(name)} already")
        return name
    stem = rule.rsplit(".", 1)[-1].replace("*", "everything")
    return next(one for one in (stem, *(f"{stem}-{n}" for n in range(2, 10_000))) if one not in taken)
