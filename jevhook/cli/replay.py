"""``jevhook replay``: recorded hook events through a policy, nothing acted, nothing written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

import click

from ..hosts import detect
from ..jsonio import dumps, loads
from ..policy import shown
from .judging import Bench, bench, summary


@click.command()
@click.argument("source", type=click.File("rb"), default="-")
@click.option("--json", "as_json", is_flag=True, help="One JSON line for each event, in order.")
@click.option("--policy", metavar="NAME|FILE", help="Judge under this policy instead of the one in force.")
@click.option("--home", metavar="DIR", type=click.Path(file_okay=False), help="The home directory the events speak of.")
def replay(source: BinaryIO, as_json: bool, policy: str | None, home: str | None) -> None:
    """Judge the hook events in SOURCE (JSONL, any host's format, - for stdin) without acting.

    With --json each line is {"index", "decision": none|ask|deny|withhold|trim, "point", "rule", "reason", "output"};
    "index" counts the lines that are not blank, from 0; "output" is what stdout would have been, parsed, or null for
    silence. Without it, a summary.

    \b
    jevhook replay events.jsonl
    jevhook replay --policy strict --json events.jsonl > strict.jsonl
    """
    made = bench(policy, home, "")
    counts: Counter[str] = Counter()
    by_rule: Counter[str] = Counter()
    broken: list[str] = []
    foreign: list[str] = []
    for index, (number, line) in enumerate(_lines(source)):
        result = {**_NOTHING}
        try:
            result.update(judge_line(made, line))
        except Broken as wrong:
            broken.append(f"line {number}: {wrong}")
            result["reason"] = f"not read: {wrong}"
        except Foreign as wrong:
            foreign.append(f"line {number}: {wrong}")
            result["reason"] = f"not read: {wrong}"
        except Exception as wrong:  # one event's trouble must not lose the others; the hook would be silent
            result["reason"] = f"error: {type(wrong).__name__}"
        counts[result["decision"]] += 1
        if result["decision"] != "none" and result["rule"]:
            by_rule[result["rule"]] += 1
        if as_json:
            click.echo(dumps({"index": index, **result}))
    if not as_json:
        tally = ", ".join(f"{n} {decision}" for decision, n in sorted(counts.items()))
        click.echo(f"{counts.total()} events: {tally or 'none'}")
        for rule, n in sorted(by_rule.items(), key=lambda item: (-item[1], item[0]))[:20]:
            click.echo(f"{n:6}  {rule}")
    if broken:
        click.echo(f"{len(broken)} broken, the first on {broken[0]}", err=True)
    if foreign:
        click.echo(f"{len(foreign)} of no known host, the first on {foreign[0]}", err=True)


class Broken(ValueError):
    """The line is not one JSON object, or not a whole event of its host."""


class Foreign(ValueError):
    """The line is an object that no known host sends."""


_NOTHING: dict[str, Any] = {"decision": "none", "point": None, "rule": None, "reason": "", "output": None}


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, line) without the blank ones."""
    for number, line in enumerate(source, 1):
        if line.strip():
            yield number, line


def judge_line(made: Bench, line: bytes) -> dict[str, Any]:
    """One line's {"decision", "point", "rule", "reason", "output"}.  A line may also be a wrapper with the event
    under ``event``.  Raises Broken or Foreign."""
    try:
        payload = loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as wrong:
        raise Broken(f"not JSON ({wrong})") from None
    if isinstance(payload, dict) and "hook_event_name" not in payload and isinstance(payload.get("event"), dict):
        payload = payload["event"]
    if not isinstance(payload, dict):
        raise Broken("no JSON object")
    host = detect(payload)
    if host is None:
        raise Foreign(
            f"event {shown(payload.get('hook_event_name') or payload.get('hookEventName') or 'without a name')}"
        )
    try:
        event = host.read(payload, {})
    except ValueError as wrong:
        raise Broken(f"{host.NAME} event: {wrong}") from None
    if event.kind == "other":
        return _NOTHING
    verdict, output = made.decide(event, host)
    return {**summary(verdict), "output": loads(output.stdout) if output.stdout else None}
