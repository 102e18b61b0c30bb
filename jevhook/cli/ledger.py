"""``jevhook ledger``: what was decided, and for a person what was taken out of a result."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from .. import ledger as book
from .. import policy
from ..state import withheld
from ..text.printable import visible
from .person import why_nobody

LEAST = 4  # characters of an id that tell one record from another
MOST = 20  # records shown for one id


@click.group("ledger", no_args_is_help=True)
def ledger() -> None:
    """Look at the ledger: one line for every event that the gate was asked about.

    \b
    jevhook ledger show 3f2a9c1d07be
    """


@ledger.command("show")
@click.argument("wanted", metavar="ID")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a line, with `originals` for what was taken out."
)
def show(wanted: str, as_json: bool) -> None:
    """Show what is written about ID, and the original of what was taken out of a result.

    ID is a record's id or the beginning of one, a tool call's id, or the one that a note in a result names. Originals
    are shown at a person's own terminal only, with what would move it or hide in it escaped.

    \b
    jevhook ledger show 3f2a9c1d07be
    jevhook ledger show toolu_01 --json
    """
    env = dict(os.environ)
    found = records(env, wanted)
    if not found:
        raise click.ClickException(
            f"the ledger has no record {policy.shown(wanted)}: give a record's id (at least {LEAST} characters of it), "
            "a tool call's id, or the id that a note in a result names"
        )
    nobody = why_nobody(env)
    for at, record in enumerate(found):
        names = [
            part["original"] for part in record.get("points", ()) if isinstance(part, dict) and part.get("original")
        ]
        originals = [] if nobody else [entry for name in names for entry in withheld.read(env, str(name))]
        if as_json:
            click.echo(json.dumps({**record, "originals": originals}))
            continue
        lines = [*([""] if at else []), *readable(record)]
        if names and nobody:
            lines.append(f"what was taken out is shown to a person at a terminal only: {nobody}")
        elif names and not originals:
            lines.append("what was taken out is not kept any more")
        for entry in originals:
            lines += _original(entry)
        click.echo("\n".join(visible(line) for line in lines))


def records(env: dict[str, str], wanted: str) -> list[dict[str, Any]]:
    """The records that ``wanted`` names, oldest first, at most MOST of the newest."""
    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    found = [record for record in book.read(env, str(made.ledger.get("path") or "")) if _named(record, wanted)]
    return found[-MOST:]


def _named(record: dict[str, Any], wanted: str) -> bool:
    if len(wanted) >= LEAST and str(record.get("id", "")).startswith(wanted.lower()):
        return True
    subject = record.get("subject")
    if wanted and isinstance(subject, dict) and subject.get("tool_call") == wanted:
        return True
    points = record.get("points")
    return any(isinstance(part, dict) and part.get("original") == wanted for part in points or ())


def readable(record: dict[str, Any]) -> list[str]:
    """A record as lines for a person; what is not worded here follows as JSON, so that nothing is left out."""
    subject = record.get("subject") or {}
    lines = [
        f"{record.get('id', '(no id)')}  {record.get('asked_at', '')}",
        _field("event", _words(record.get("host"), record.get("event"), record.get("kind"))),
        _field("decision", _words(record.get("decision"), record.get("reason"), record.get("told"))),
    ]
    lines += [_field(key.replace("_", " "), str(value)) for key, value in subject.items()]
    if record.get("policy"):
        lines.append(_field("policy", str(record["policy"])))
    known = ("id", "asked_at", "host", "event", "kind", "decision", "reason", "told", "subject", "policy", "points")
    for part in record.get("points") or ():
        if not isinstance(part, dict):
            continue
        acted = "" if part.get("acted") else "nothing done"
        lines.append(
            _field(str(part.get("point")), _words(part.get("mode"), part.get("judged"), part.get("rule"), acted))
        )
        if part.get("said"):
            lines.append(f"    {part['said']}")
        for passage in part.get("passages") or ():
            lines += _passage(passage)
        told = ("point", "mode", "judged", "rule", "acted", "said", "passages", "outcome")
        lines += [f"    {key} {_short(value)}" for key, value in part.items() if key not in told]
    lines += [_field(key, _short(value)) for key, value in record.items() if key not in known]
    return lines


def _field(name: str, value: str) -> str:
    return f"  {name:<16} {value}"


def _words(*parts: object) -> str:
    return ", ".join(str(part) for part in parts if part)


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _passage(passage: dict[str, Any]) -> list[str]:
    first, last = (*passage.get("lines", (0, 0)), 0, 0)[:2]
    done = "order" if passage.get("withheld") else "suspicious"
    why = ", ".join(map(str, [*passage.get("rules", ()), *passage.get("facts", ())]))
    head = (
        f"    {done}: {passage.get('slot') or 'result'}, lines {first} to {last}, score {passage.get('score')} ({why})"
    )
    return [head, *(f"    | {line}" for line in str(passage.get("said") or "").split("\n") if line)]


def _original(entry: dict[str, Any]) -> list[str]:
    first, last = (*entry.get("lines", (0, 0)), 0, 0)[:2]
    cut = ", cut" if entry.get("cut") else ""
    place = entry.get("slot") or "result"
    head = f"  as the tool returned it ({place}, lines {first} to {last}, {len(entry['text'])} characters{cut}):"
    return [head, *(f"  | {line}" for line in entry["text"].split("\n"))]
