"""``jevhook hook --help``: the lane itself is jevhook/hook.py and never comes here."""

from __future__ import annotations

import click

from ..hosts import MODULES
from ..policy import policies_dir, toml_names

_HOSTS = " or ".join(sorted(MODULES))
_POLICIES = ", ".join(toml_names(policies_dir()))


@click.command()
@click.option("--host", metavar="NAME", help=f"Who sends the event: {_HOSTS}. Default: by the event's own shape.")
@click.option("--policy", metavar="NAME|FILE", help=f"A shipped policy ({_POLICIES}) or a TOML file, from / or ~/.")
@click.option("--id", "unused", metavar="ANY", help="Accepted and ignored: makes the command one nobody can guess.")
def hook(host: str | None, policy: str | None, unused: str | None) -> None:
    """Read one hook event on stdin, judge it, answer in the host's own format, write one ledger line.

    Exit code 0 and silence mean: no opinion. This is the command that goes into Claude Code's or Codex's settings.
    `jev-use hook gate` is the same command.
    """
