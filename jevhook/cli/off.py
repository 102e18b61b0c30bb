"""``jevhook off [--for 1h]`` and ``jevhook on``: the person's own switch."""

from __future__ import annotations

import os
import time

import click

from .. import policy
from ..state import off as switch
from .person import at_keyboard, note

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LONGEST = 30 * 86400


def seconds(text: str) -> int:
    """``"90s"``, ``"30m"``, ``"1h"``, ``"2d"`` in seconds.  Raises BadParameter."""
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdigit() and len(number) <= 7 and unit in _UNITS):
        raise click.BadParameter(f"{text!r}: a number and one of s, m, h, d, such as 30m or 1h")
    total = int(number) * _UNITS[unit]
    if not 0 < total <= LONGEST:
        raise click.BadParameter(f"{text!r}: from 1s to 30d")
    return total


@click.command("off")
@click.option("--for", "lasting", metavar="TIME", help="Switch itself on again after 90s, 30m, 1h, 2d …")
def off(lasting: str | None) -> None:
    """Switch the gate off: hooks judge nothing, stop nothing and only write their line in the ledger.

    This lifts everything, the protection of the gate's own files and settings included.

    \b
    jevhook off --for 30m
    jevhook off
    """
    duration = 0 if lasting is None else seconds(lasting)
    at_keyboard("jevhook off")
    env, now = dict(os.environ), time.time()
    until = now + duration if duration else 0.0
    try:
        place = switch.switch_off(env, until, now)
    except (OSError, ValueError) as wrong:
        raise click.ClickException(f"the gate stays on: {policy.clean(str(wrong))}") from None
    note(env, "off", "off", **({"off_until": until} if until else {}))
    when = f"until {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(until))}" if until else "until `jevhook on`"
    click.echo(f"off {when} ({policy.clean(place)})")


@click.command("on")
def on() -> None:
    """Switch the gate on again.

    \b
    jevhook on
    """
    at_keyboard("jevhook on")
    env = dict(os.environ)
    try:
        was = switch.switch_on(env)
    except OSError as wrong:
        raise click.ClickException(f"{policy.clean(str(wrong))}") from None
    if was:
        note(env, "on", "on")
    click.echo("on" if was else "it was on")
