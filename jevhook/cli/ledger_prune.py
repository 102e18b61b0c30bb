"""``jevhook ledger prune``: old lines go for good."""

from __future__ import annotations

import os

import click

from .. import policy
from ..evidence.prune import PruneError
from ..evidence.prune import prune as taken_out
from ..evidence.read import moment
from .person import at_keyboard, note


@click.command(short_help="Remove old entries, while hooks go on writing.")
@click.option("--older-than", "age", metavar="AGE|TIME", required=True, help="Such as 30d, 12w or 2027-01-31.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def prune(age: str, dry_run: bool, yes: bool) -> None:
    """Remove entries older than an age from every generation of the ledger. Labels stay.

    Hooks may go on writing meanwhile. What is removed cannot be got back.

    \b
    jevhook ledger prune --older-than 30d --dry-run
    jevhook ledger prune --older-than 30d
    """
    try:
        before = moment(age)
    except ValueError as wrong:
        raise click.BadParameter(f"--older-than: {wrong}") from None
    env = dict(os.environ)
    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    path = str(made.ledger.get("path") or "")
    if not dry_run:
        at_keyboard("jevhook ledger prune")
    try:
        would = taken_out(env, path, before, dry_run=True)
        if dry_run or not would.lines:
            click.echo(f"{_amount(would.lines, would.bytes)} before {before} would go, {would.kept:,} would stay")
            return
        if not yes and not click.confirm(f"Remove {_amount(would.lines, would.bytes)} before {before} for good?"):
            raise click.exceptions.Abort
        done = taken_out(env, path, before)
    except PruneError as wrong:
        raise click.ClickException(policy.clean(str(wrong))) from None
    note(env, "ledger prune", "prune", pruned={"before": before, "lines": done.lines, "bytes": done.bytes})
    click.echo(f"{_amount(done.lines, done.bytes)} before {before} are gone, {done.kept:,} stay")


def _amount(lines: int, size: int) -> str:
    return f"{lines:,} line{'s'[: lines != 1]} ({size / 1e6:.1f} MB)"
