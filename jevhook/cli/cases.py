"""``jevhook cases``: what a person has appealed, to look at and as a test file."""

from __future__ import annotations

import json
import os

import click

from .. import policy
from ..evidence import cases as store
from ..evidence.read import Counted
from ..text.printable import visible
from .person import no_agent


@click.group("cases", no_args_is_help=True)
def cases() -> None:
    """The stops that you have called wrong (`jevhook appeal`).

    \b
    jevhook cases list
    jevhook cases export --out my-cases.jsonl
    """


@cases.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, as it was noted.")
def list_(as_json: bool) -> None:
    """List every case: id, day, what stopped it, your note.

    \b
    jevhook cases list
    jevhook cases list --json
    """
    no_agent("jevhook cases list")
    counted = Counted()
    found = list(store.every(dict(os.environ), counted))
    for case in found:
        if as_json:
            click.echo(json.dumps(case))
            continue
        event = "" if case.get("event") else "  (without its call)"
        note = f"  # {case['note']}" if case.get("note") else ""
        why = case.get("rule") or case.get("point")
        click.echo(
            visible(f"{str(case['id'])[:8]}  {str(case.get('at'))[:10]}  {case.get('was')!s:8} {why}{event}{note}")
        )
    if not found and not as_json:
        click.echo("no cases: `jevhook appeal CODE` makes one of a wrong stop")
    _said(counted)


@cases.command("export")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, writable=True),
    default="-",
    metavar="FILE",
    help="Where to; stdout by default.",
)
def export(out: str) -> None:
    """Write the cases that hold their call as labelled rows, in the form that `jevhook score` reads.

    They were redacted when they were noted. Look at them before you hand them on: paths and names are still yours.

    \b
    jevhook cases export --out my-cases.jsonl
    jevhook score my-cases.jsonl
    """
    no_agent("jevhook cases export")
    counted = Counted()
    found = [store.row(case) for case in store.every(dict(os.environ), counted)]
    rows = [row for row in found if row is not None]
    try:
        with click.open_file(out, "w", encoding="utf-8", atomic=out != "-") as file:
            for row in rows:
                file.write(json.dumps(row) + "\n")
    except OSError as failed:
        raise click.ClickException(f"{policy.clean(out)}: cannot be written: {failed.strerror or failed}") from None
    bare = f"; {len(found) - len(rows)} hold no call and are left out" if len(found) > len(rows) else ""
    click.echo(f"{len(rows)} case{'s'[: len(rows) != 1]}{bare}", err=True)
    _said(counted)


def _said(counted: Counted) -> None:
    if counted.said():
        click.echo(policy.clean(counted.said()), err=True)
