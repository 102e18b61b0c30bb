"""``jevhook replay``: recorded hook events through a policy, nothing acted, nothing written."""

from __future__ import annotations

import json
from typing import Any, TextIO

import click

from ..hosts import detect
from ..jsonio import dumps, loads
from .judging import Bench, bench, summary


@click.command()
@click.argument("source", type=click.File("rb"), default="-")
@click.option("--json", "as_json", is_flag=True, help="One JSON line for each event, in order.")
@click.option("--policy", metavar="NAME|FILE", help="Judge under this policy instead of the one in force.")
@click.option("--home", metavar="DIR", type=click.Path(file_okay=False), help="The home directory the events speak of.")
def replay(source: Any, as_json: bool, policy: str | None, home: str | None) -> None:
    """Judge the hook events in SOURCE (JSONL, any host's format, - for stdin) without acting.

    With --json each line is {"index", "decision": none|ask|deny|withhold|trim, "point", "rule", "reason", "output"};
    "output" is what stdout would have been, parsed, or null for silence. Without it, a summary.
    """
    from ..config import ConfigError

    try:
        made = bench(policy, home, "")
    except ConfigError as wrong:
        raise click.ClickException(str(wrong)) from None
    counts: dict[str, int] = {}
    by_rule: dict[str, int] = {}
    unread = 0
    out = click.get_text_stream("stdout")
    for index, line in enumerate(_lines(source)):
        result = judge_line(made, line)
        unread += result.get("unread", 0)
        result.pop("unread", None)
        counts[result["decision"]] = counts.get(result["decision"], 0) + 1
        if result["decision"] != "none" and result["rule"]:
            by_rule[result["rule"]] = by_rule.get(result["rule"], 0) + 1
        if as_json:
            _print(out, {"index": index, **result})
    if not as_json:
        total = sum(counts.values())
        click.echo(f"{total} events: " + (", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "none"))
        for rule, n in sorted(by_rule.items(), key=lambda item: -item[1])[:20]:
            click.echo(f"{n:6}  {rule}")
    if unread:
        click.echo(f"{unread} lines were no hook event of a known host and were skipped", err=True)


def _lines(source: Any) -> Any:
    for line in source:
        if line.strip():
            yield line


def _print(out: TextIO, result: dict[str, Any]) -> None:
    out.write(dumps(result) + "\n")


def judge_line(made: Bench, line: bytes) -> dict[str, Any]:
    """One line of a replay: {"decision", "point", "rule", "reason", "output"}, and "unread": 1 when it was no event."""
    nothing: dict[str, Any] = {"decision": "none", "point": None, "rule": None, "reason": "", "output": None}
    try:
        payload = loads(line.decode("utf-8", "replace"))
    except ValueError as wrong:
        return {**nothing, "reason": f"not read: {wrong}", "unread": 1}
    if isinstance(payload, dict) and "hook_event_name" not in payload and isinstance(payload.get("event"), dict):
        payload = payload["event"]
    if not isinstance(payload, dict):
        return {**nothing, "reason": "not read: no JSON object", "unread": 1}
    host = detect(payload)
    if host is None:
        return {**nothing, "reason": "not read: no known host sends this event", "unread": 1}
    try:
        event = host.read(payload, {})
    except ValueError as wrong:
        return {**nothing, "reason": f"not read: {wrong}", "unread": 1}
    if event.kind == "other":
        return nothing
    verdict, output = made.decide(event, host)
    answer = json.loads(output.stdout) if output.stdout else None
    return {**summary(verdict), "output": answer}
