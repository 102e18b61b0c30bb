"""``jevhook ledger tail``: the newest entries, and with ``--follow`` those to come."""

from __future__ import annotations

import datetime
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import click

from .. import policy
from ..evidence.labels import labels
from ..evidence.read import Counted, points_of
from ..evidence.tail import follow, last
from ..jsonio import dumps
from ..text.printable import visible
from .ledger_filter import filters, wanted

POLL_SECONDS = 0.25
_WIDE = (
    70  # columns of a terminal; in fewer the tool, the time it took and the label make way for the reason and the id
)
_STRENGTH = ("none", "allow", "context", "trim", "withhold", "ask", "deny")
_COLOURS = {"deny": "bold red", "ask": "bold yellow", "withhold": "bold magenta", "trim": "cyan", "context": "magenta"}


class Headline(NamedTuple):
    """An entry in a few words: ``decision``, the ``point`` that counts, ``why`` (a rule, else a reason), what was ``said``."""

    decision: str
    point: str
    why: str
    said: str


@click.command(short_help="The newest entries; --follow goes on.")
@click.option(
    "-n", "number", type=click.IntRange(0, 1_000_000), default=20, show_default=True, help="How many entries."
)
@click.option("-f", "--follow", "following", is_flag=True, help="Go on with what is written from now on.")
@filters
@click.option("--json", "as_json", is_flag=True, help="The entries as they were written, one JSON object a line.")
def tail(number: int, following: bool, as_json: bool, **given: Any) -> None:
    """Show the newest entries, the newest of them last.

    Where no terminal reads, each is one line of fields between tabs: time (UTC), id, host, tool, decision, point, rule
    or reason, milliseconds, label, what was said; "-" where there is none. A decision in brackets was not acted on.

    \b
    jevhook ledger tail -n 50 --decision deny --decision ask
    jevhook ledger tail --follow --tool 'mcp__*'
    jevhook ledger tail --point tool.admission --since 2h --json
    """
    env = dict(os.environ)
    filter_ = wanted(given)
    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    path, counted = str(made.ledger.get("path") or ""), Counted()
    show = _json if as_json else _table(env) if sys.stdout.isatty() else _lines(env)
    if following:

        def wait() -> bool:
            time.sleep(POLL_SECONDS)
            return True

        for entry in follow(env, path, number, filter_, counted=counted, wait=wait):
            show([entry])
    else:
        found = last(env, path, number, filter_, counted=counted)
        if found:
            show(found)
        elif not as_json:
            click.echo("no entry of the ledger is like that" if counted.records else "the ledger is empty", err=True)
        if counted.skipped:
            click.echo(policy.clean(counted.said()), err=True)


def headline(entry: Mapping[str, Any]) -> Headline:
    """What counts in ``entry``: the decision, or in brackets what a point judged and nobody was told."""
    decision = str(entry.get("decision") or "none")
    chosen: Mapping[str, Any] = {}
    for part in points_of(entry):
        if not chosen or _weight(part) >= _weight(chosen):
            chosen = part
    judged = str(chosen.get("judged") or "none")
    reason = str(entry.get("told") or entry.get("reason") or "")
    if decision == "none" and judged != "none":
        decision = f"({judged})"
        reason = reason or ("shadow" if chosen.get("mode") == "shadow" else "")
    own = str(chosen.get("reason") or "")
    why = ", ".join(
        one for one in (str(chosen.get("rule") or ""), reason or (own if own != "out-of-scope" else "")) if one
    )
    point = str(chosen.get("point") or "") or (str(entry.get("event") or "") if entry.get("origin") == "cli" else "")
    return Headline(decision, point, why, str(chosen.get("said") or chosen.get("note") or ""))


def _weight(part: Mapping[str, Any]) -> tuple[bool, int]:
    judged = part.get("judged")
    return part.get("acted") is True, _STRENGTH.index(judged) if judged in _STRENGTH else 0


def _fields(entry: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    subject = entry.get("subject")
    head = headline(entry)
    said = given.get(str(entry.get("id")))
    hook_ms = entry.get("hook_ms")
    return [
        str(entry.get("asked_at") or ""), str(entry.get("id") or ""), str(entry.get("host") or ""),
        str(subject.get("tool") or "") if isinstance(subject, dict) else "", head.decision, head.point, head.why,
        f"{hook_ms:.0f}" if isinstance(hook_ms, int | float) else "", said.label if said else "", head.said,
    ]  # fmt: skip


Show = Callable[[Iterable[Mapping[str, Any]]], None]


def _json(found: Iterable[Mapping[str, Any]]) -> None:
    for entry in found:
        click.echo(dumps(dict(entry)))


def _lines(env: Mapping[str, str]) -> Show:
    given = labels(env)

    def show(found: Iterable[Mapping[str, Any]]) -> None:
        for entry in found:
            click.echo("\t".join(visible(field).replace("\n", "\\n") or "-" for field in _fields(entry, given)))

    return show


def _table(env: Mapping[str, str]) -> Show:
    """A table for a person; each call goes on under the same columns."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    given = labels(env)
    headed = False

    def show(found: Iterable[Mapping[str, Any]]) -> None:
        nonlocal headed
        table = Table(
            box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=not headed, header_style="dim", expand=True
        )
        wide = console.width >= _WIDE
        for name, width in (("time", 14), ("decision", 10), ("tool", 12))[: 3 if wide else 2]:
            table.add_column(name, min_width=width, max_width=width, no_wrap=True, overflow="ellipsis")
        table.add_column("rule or reason", ratio=1, no_wrap=True, overflow="ellipsis")
        if wide:
            table.add_column("ms", min_width=5, justify="right", no_wrap=True)
        table.add_column("id", min_width=8, no_wrap=True)
        if given and wide:
            table.add_column("label", min_width=5, no_wrap=True)
        for entry in found:
            at, name, host, tool, decision, point, why, hook_ms, label, said = map(_shown, _fields(entry, given))
            colour = _COLOURS.get(decision.strip("()"), "green")
            about = Text.assemble(why or (point, "dim"), "  " if said else "", (said, "dim"))
            row: list[str | Text] = [
                _local(at), Text(decision, f"{colour} not bold" if decision[:1] == "(" else colour),
                *([tool or host] if wide else []), about, *([hook_ms] if wide else []),
                Text(name[:8], "cyan"), Text(label, "red" if label == "bad" else "green"),
            ]  # fmt: skip
            table.add_row(*row[: len(table.columns)])
        headed = True
        console.print(table)

    return show


def _shown(text: str) -> str:
    return visible(text).replace("\n", "⏎")


def _local(at: str) -> str:
    try:
        return f"{datetime.datetime.fromisoformat(at).astimezone():%m-%d %H:%M:%S}"
    except ValueError:
        return at[:14]
