"""Which ledger entries: the options that commands reading the ledger share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .. import policy
from ..evidence.read import Wanted, moment
from ..points import MODULES as POINTS

F = TypeVar("F", bound=Callable[..., Any])

DECISIONS = ("none", "allow", "context", "trim", "withhold", "ask", "deny")
ORIGINS = ("hook", "cli", "doctor")
_NAMES = ("point", "decision", "rule", "host", "tool", "session", "origin")


def filters(command: F) -> F:
    """Adds the options; ``wanted`` takes what they were given."""
    many: dict[str, Any] = {"multiple": True}
    options = [
        click.option("--point", **many, metavar="POINT", help="Events this point had a say in."),
        click.option(
            "--decision",
            **many,
            type=click.Choice(DECISIONS),
            help="With --point: what that point judged, in shadow too.",
        ),
        click.option("--rule", **many, metavar="ID", help="Events this rule decided."),
        click.option("--host", **many, metavar="NAME", help="The agent program, such as claude or codex."),
        click.option("--tool", **many, metavar="NAME", help="The tool; * stands for anything. Quote it."),
        click.option("--session", **many, metavar="ID", help="A session's id or the beginning of it."),
        click.option("--since", metavar="AGE|TIME", help="From: 30d, 12h, 45m, 2027-01-31 or 2027-01-31T08:00."),
        click.option("--until", metavar="AGE|TIME", help="Up to, and without."),
        click.option("--origin", **many, type=click.Choice(ORIGINS), help="Default: all but the doctor's own events."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def wanted(given: dict[str, Any]) -> Wanted:
    """``given``: the options' values, taken out of it.  Raises BadParameter that names what is allowed."""
    values = {f"{name}s": tuple(given.pop(name)) for name in _NAMES}
    for name in values["points"]:
        if name not in POINTS:
            raise click.BadParameter(f"--point {policy.shown(name)}: there are {', '.join(POINTS)}")
    since, until = window(given.pop("since"), given.pop("until"))
    return Wanted(since=since, until=until, **values)


def window(since: str | None, until: str | None) -> tuple[str, str]:
    """The two times as the ledger has them, "" for none.  Raises BadParameter that names the option."""
    made = []
    for name, text in (("since", since), ("until", until)):
        try:
            made.append(moment(text) if text is not None else "")
        except ValueError as wrong:
            raise click.BadParameter(f"--{name}: {policy.clean(str(wrong))}") from None
    return made[0], made[1]
