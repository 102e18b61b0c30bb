"""``jevhook resident``: the warm process that makes a hook cost little more than starting an interpreter."""

from __future__ import annotations

import json
import os

import click

from .. import ledger
from ..install.plan import warm_folder
from .person import at_keyboard


def folder(env: dict[str, str]) -> str:
    """Where the warm process's socket is: in the account's own state directory, whatever the environment says."""
    return warm_folder()


@click.group("resident", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@click.pass_context
def resident(ctx: click.Context, as_json: bool) -> None:
    """Keep one warm process, so that a hook need not load anything. Without a command: how it stands.

    The hook's command line must say `--resident FOLDER`, as `jevhook install` writes it. Where the process is
    missing, busy or of another version, the hook does the work itself: same answers, some milliseconds later.

    \b
    jevhook resident
    jevhook resident on
    """
    if ctx.invoked_subcommand is not None:
        return
    from ..resident import serve

    found = serve.state(folder(dict(os.environ)))
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    state = "on" if found["on"] else "off"
    click.echo(f"resident {state}, {'running' if found['running'] else 'not running'}: {found['folder']}")


@resident.command("on")
def on() -> None:
    """Let hooks start and use it. It ends by itself after a quarter of an hour without events.

    \b
    jevhook resident on
    """
    at_keyboard("jevhook resident on")
    place = folder(dict(os.environ))
    if not place:
        raise click.ClickException("there is no home directory to put the socket in")
    ledger.make_private(place)
    os.chmod(place, 0o700)
    click.echo(f"on: the next hook whose command line says --resident {place} starts it")


@resident.command("off")
def off() -> None:
    """Stop it, and let hooks do the work themselves again.

    \b
    jevhook resident off
    """
    at_keyboard("jevhook resident off")
    from ..resident import serve

    was = serve.off(folder(dict(os.environ)))
    click.echo("off: it was running and has ended" if was else "off: it was not running")


@resident.command("serve", hidden=True)
@click.argument("place", metavar="FOLDER")
@click.option("--idle", type=float, default=0.0)
def serving(place: str, idle: float) -> None:
    """What a hook starts: listen in FOLDER until nobody comes any more."""
    from ..resident import serve

    raise SystemExit(serve.serve(place, idle or serve.IDLE))
