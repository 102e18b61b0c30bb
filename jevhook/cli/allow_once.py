"""``jevhook allow-once CODE``: a person lets exactly one stopped call run once."""

from __future__ import annotations

import os
import time
from typing import Any

import click

from .. import policy
from ..state import permits
from .person import at_keyboard, note


@click.command("allow-once")
@click.argument("code", required=False)
@click.option("--yes", is_flag=True, help="Do not ask whether this is the call you mean.")
def allow_once(code: str | None, yes: bool) -> None:
    """Let the call that was denied with CODE run once; without a CODE, list what was denied.

    The permit is for that very call (tool, whole input) in that directory, for one run, and for ten minutes
    (`permit_minutes` in config.toml). What cannot be undone has no code and is never permitted. Then tell the agent
    to try again.

    \b
    jevhook allow-once KXQTB
    jevhook allow-once
    """
    env, now = dict(os.environ), time.time()
    if code is None:
        waiting = permits.all_offered(env, now)
        for entry in waiting:
            click.echo("\n".join(_lines(entry, now)))
        if not waiting:
            click.echo("nothing that a person could let run was denied in the last day")
        return
    at_keyboard("jevhook allow-once")
    found = permits.offered(code, env, now)
    if found is None:
        place = policy.clean(permits.folder(env)) or "no state directory"
        raise click.ClickException(
            f"no call was denied with the code {policy.shown(code)} in the last day (looked in {place}); "
            "`jevhook allow-once` lists the codes"
        )
    minutes = policy.load(env, cwd=str(found["cwd"]), managed=policy.MANAGED).permit_minutes
    if minutes <= 0:
        raise click.ClickException("the policy gives no permits (permit_minutes = 0). Nothing was changed.")
    click.echo("\n".join(_lines(found, now)))
    if not yes and not click.confirm(f"Let exactly this run once within {minutes:g} minutes?"):
        raise click.exceptions.Abort
    now = time.time()
    try:
        permits.grant(found, env, now)
    except (OSError, ValueError) as wrong:
        raise click.ClickException(f"nothing was permitted: {policy.clean(str(wrong))}") from None
    note(env, "allow-once", "permit", permit={"code": found["code"], "rule": found["rule"], "tool": found["tool"]})
    click.echo(f"permitted once until {time.strftime('%H:%M:%S', time.localtime(now + minutes * 60))}")


def _lines(entry: dict[str, Any], now: float) -> list[str]:
    """A stopped call as a person reads it.  Its words are the agent's: nothing in them moves the terminal."""
    from ..text.printable import printable

    ago = max(0, int(now - float(entry["at"]))) // 60
    when = "just now" if not ago else f"{ago} min ago" if ago < 120 else f"{ago // 60} h ago"
    place = f" in {entry['cwd']}" if entry.get("cwd") else ""
    rule = f" [{entry['rule']}]" if entry.get("rule") else ""
    head = f"{entry['code']}  {entry['host']} {entry['tool']}{place}, denied {when}{rule}"
    return [printable(head).replace("\n", " "), *(f"    {line}" for line in printable(entry["what"]).split("\n"))]
