"""``jevhook ledger label``: was that decision right.  Labels are what promote and calibrate count."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from .. import policy
from ..evidence import labels as book
from ..evidence.read import ALL, Counted, entries
from ..text.printable import visible
from .ledger_show import LEAST, records
from .ledger_tail import headline
from .person import at_keyboard


@click.command(short_help="Say whether a decision was good or bad.")
@click.argument("wanted", metavar="ID", required=False)
@click.argument("word", metavar="good|bad", required=False)
@click.option("--note", metavar="TEXT", default="", help="Why, in a few words.")
@click.option("--list", "listing", is_flag=True, help="List what is labelled, the last label of each entry.")
@click.option("--json", "as_json", is_flag=True, help="With --list: one JSON object a line.")
def label(wanted: str | None, word: str | None, note: str, listing: bool, as_json: bool) -> None:
    """Say whether the decision ID was good or bad: bad is a false alarm where it stopped something, a miss where not.

    ID is an entry's id or the beginning of one. A label is added beside the ledger and changes no line of it; of
    several about one entry the last counts.

    \b
    jevhook ledger label 3f2a9c1d bad --note 'the tree was committed'
    jevhook ledger label --list
    """
    env = dict(os.environ)
    if listing:
        if wanted or word:
            raise click.UsageError("--list takes no ID")
        _list(env, as_json)
        return
    if not wanted or word not in book.LABELS:
        given = f", not {policy.shown(word)}" if word else ""
        raise click.UsageError(f"give an ID and {' or '.join(book.LABELS)}{given}, or --list")
    at_keyboard("jevhook ledger label")
    entry = _one(env, wanted)
    try:
        made = book.add(env, str(entry["id"]), word, note)
    except OSError as wrong:
        raise click.ClickException(f"nothing was labelled: {policy.clean(str(wrong))}") from None
    click.echo(f"{made.id} is {made.label}: {_words(entry)}")


def _one(env: dict[str, str], wanted: str) -> dict[str, Any]:
    """The one entry that ``wanted`` names.  Raises ClickException for none and for several."""
    found = {str(entry.get("id")): entry for entry in records(env, wanted)}
    if not found:
        raise click.ClickException(
            f"the ledger has no entry {policy.shown(wanted)}: give an id of `jevhook ledger tail` (at least {LEAST} "
            "characters of it)"
        )
    if len(found) > 1:
        lines = [f"  {name}  {_words(entry)}" for name, entry in found.items()]
        raise click.ClickException("\n".join([f"{policy.shown(wanted)} names several entries:", *lines]))
    return next(iter(found.values()))


def _words(entry: dict[str, Any]) -> str:
    head = headline(entry)
    subject = entry.get("subject")
    tool = str(subject.get("tool") or "") if isinstance(subject, dict) else ""
    return visible(", ".join(one for one in (head.decision, tool, head.why, str(entry.get("asked_at") or "")) if one))


def _list(env: dict[str, str], as_json: bool) -> None:
    odd = Counted()
    given = book.labels(env, odd)
    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    met: dict[str, dict[str, Any]] = {}
    for entry in entries(env, str(made.ledger.get("path") or ""), ALL) if given else ():
        if entry["id"] in given:
            met[str(entry["id"])] = entry
    for name, one in given.items():
        about = met.get(name)
        if as_json:
            click.echo(json.dumps({**vars(one), "entry": about}))
            continue
        note = f"  # {visible(one.note)}" if one.note else ""
        click.echo(
            f"{one.label:4}  {visible(name)[:8]}  {_words(about) if about else 'not in the ledger any more'}{note}"
        )
    if not given and not as_json:
        click.echo("nothing is labelled")
    if odd.skipped:
        click.echo(policy.clean(odd.said()), err=True)
