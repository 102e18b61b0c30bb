"""``jevhook hook --help``: the lane itself is jevhook/hook.py and never comes here."""

from __future__ import annotations

import click


@click.command()
@click.option("--host", metavar="NAME", help="Which host sends the event: claude or codex. Default: by the event's own shape.")
@click.option("--policy", metavar="NAME|FILE", help="A shipped policy (default, strict, shadow, ci, autopilot) or a TOML file.")
@click.option("--id", "unused", metavar="ANY", help="Accepted and ignored: makes the command line one that nobody can guess.")
def hook(host: str | None, policy: str | None, unused: str | None) -> None:
    """Read one hook event on stdin, judge it, answer in the host's own format, write one ledger line.

    Exit code 0 and silence mean: no opinion. This is the command that goes into Claude Code's or Codex's settings.
    `jev-use hook gate` is the same command.
    """
