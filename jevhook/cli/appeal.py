"""``jevhook appeal CODE``: a person calls a stop wrong, and it becomes a labelled case."""

from __future__ import annotations

import os
import time
from typing import Any

import click

from .. import policy
from ..evidence import cases, labels
from ..evidence.shapes import table
from ..state import permits
from ..text.printable import visible
from .ledger_show import records
from .person import at_keyboard


@click.command()
@click.argument("code")
@click.option("--note", default="", metavar="TEXT", help="Why it was wrong, in your words.")
@click.option(
    "--with-event/--without-event",
    "wanted",
    default=None,
    help="Keep the redacted call in the case, or not. Default: ask.",
)
def appeal(code: str, note: str, wanted: bool | None) -> None:
    """A stop was wrong: note it, so that scores, `jevhook promote` and `jevhook calibrate` count it.

    CODE is the one in the denial's reason, a ledger id or the beginning of one, or a tool call's id. The case holds the
    rule, what was decided and your note; with the redacted call in it (you are asked) `jevhook score --local` judges it
    again under every later policy, and `jevhook cases export` makes a test of it. Nothing leaves this machine, and
    nothing is let run: that is `jevhook allow-once`.

    \b
    jevhook appeal KXQTB --note 'build/ is made again by make'
    jevhook appeal 04fc65d1 --with-event
    """
    at_keyboard("jevhook appeal")
    env, now = dict(os.environ), time.time()
    entry = _entry(env, code)
    part = cases.stopped(entry)
    if part is None:
        name = str(entry.get("id"))[:8]
        raise click.ClickException(
            f"nothing was stopped in {name}. If it should have been, `jevhook ledger label {name} bad` says so."
        )
    event, why = cases.event_of(entry, env, now)
    click.echo("\n".join(_lines(entry, part, event)))
    if event is None:
        if wanted:
            raise click.ClickException(f"the call can't be kept with the case: {why}. Nothing was changed.")
        click.echo(f"without the call: {why}")
    elif wanted is None:
        wanted = click.confirm("Keep this call, redacted, with the case?")
    try:
        cases.add(env, cases.case_of(entry, event if wanted else None, note, env))
        labels.add(env, str(entry["id"]), "bad", note, by="appeal")
    except (OSError, ValueError) as wrong:
        raise click.ClickException(f"the appeal was not noted: {policy.clean(str(wrong))}") from None
    kept = "with its call" if event is not None and wanted else "without its call"
    click.echo(f"noted {kept}: {str(entry['id'])[:8]} should not have been stopped")


def _entry(env: dict[str, str], code: str) -> dict[str, Any]:
    """The newest ledger entry that ``code`` names.  Raises ClickException."""
    found = records(env, code)
    letters = code.strip().upper()
    if not found and letters and all(letter in permits.LETTERS for letter in letters):
        found = [entry for entry in _denied(env) if entry["permit"].get("code") == letters]
    if not found:
        raise click.ClickException(
            f"the ledger has no stop {policy.shown(code)}: give the code in the denial's reason, the id of a ledger entry "
            "(at least 4 characters of it), or a tool call's id"
        )
    if len({entry["id"] for entry in found if cases.stopped(entry)}) > 1 and found[-1].get("id") != code:
        click.echo(f"{len(found)} entries fit {visible(code)}; this is the newest")
    return next((entry for entry in reversed(found) if cases.stopped(entry)), found[-1])


def _denied(env: dict[str, str]) -> list[dict[str, Any]]:
    from ..evidence.read import Wanted, entries

    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    book = str(made.ledger.get("path") or "")
    return [entry for entry in entries(env, book, Wanted(decisions=("deny",))) if isinstance(entry.get("permit"), dict)]


def _lines(entry: dict[str, Any], part: dict[str, Any], event: dict[str, Any] | None) -> list[str]:
    subject = table(entry.get("subject"))
    shadow = "" if part.get("acted") else ", in shadow"
    told = [
        f"{str(entry['id'])[:8]}  {str(entry.get('asked_at'))[:16]}  {entry.get('host')} {subject.get('tool', '')}: "
        f"{part['judged']} by {part.get('rule') or part.get('point')}{shadow}"
    ]
    if part.get("said"):
        told.append(f"    {part['said']}")
    if event is not None:
        given = event["input"]
        words = given["command"] if isinstance(given.get("command"), str) else str(given)
        told += [f"    | {line}" for line in words[:2000].split("\n")]
    return [visible(line) for line in told]
