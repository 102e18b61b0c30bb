"""``jevhook explain``: the parts of a command, what each would do to what, which rule speaks, what a host is told."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from ..hosts import MODULES, detect, load
from .judging import Bench, bash_event, bench


@click.command()
@click.argument("command", required=False)
@click.option("--event", "event_file", type=click.File("rb"), help="Explain a recorded hook event instead (- for stdin).")
@click.option("--cwd", metavar="DIR", help="Where the command would start. Default: here.")
@click.option("--home", metavar="DIR", type=click.Path(file_okay=False), help="The home directory to judge for.")
@click.option("--policy", metavar="NAME|FILE", help="Explain under this policy instead of the one in force.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
def explain(command: str | None, event_file: Any, cwd: str | None, home: str | None, policy: str | None, as_json: bool) -> None:
    """Say what COMMAND would do, without running it.

    \b
    jevhook explain 'git reset --hard && rm -rf build'
    jevhook explain --event event.json --json
    """
    from ..config import ConfigError

    where = os.path.abspath(cwd) if cwd else os.getcwd()
    try:
        made = bench(policy, home, where)
    except ConfigError as wrong:
        raise click.ClickException(str(wrong)) from None
    if event_file is not None:
        event = _event(event_file)
    elif command is not None:
        event = bash_event(command, where)
    else:
        raise click.UsageError("give a COMMAND or --event FILE")
    report = report_on(made, event)
    if as_json:
        click.echo(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        _show(report)


def _event(source: Any) -> Any:
    try:
        payload = json.load(source)
    except ValueError as wrong:
        raise click.ClickException(f"--event: not JSON ({wrong})") from None
    host = detect(payload) if isinstance(payload, dict) else None
    if host is None:
        raise click.ClickException(f"--event: no known host sends this event; known are {', '.join(sorted(MODULES))}")
    try:
        event = host.read(payload, {})
    except ValueError as wrong:
        raise click.ClickException(f"--event: {wrong}") from None
    if event.kind != "before-tool":
        raise click.ClickException(f"--event: {event.name} is not an event before a tool call")
    return event


def report_on(made: Bench, event: Any) -> dict[str, Any]:
    """The whole explanation as plain values: parts, rules, decision, and each host's answer."""
    from ..points import risk
    from ..policy import rules
    from ..rules import match
    from ..text.redact import redact, redact_value

    ctx = made.context()
    reading = risk.read(event, ctx)
    hits = match(rules(made.policy), reading.findings, made.policy.rule_modes)
    result = risk.judge(event, made.context())
    text = reading.command
    parts = []
    for finding in reading.findings:
        part = finding.record()
        part["text"] = text[finding.start : finding.end] if text else ""
        part["rules"] = [h.rule["id"] for h in hits if h.finding is finding]
        parts.append(part)
    answers = {}
    for name in sorted(MODULES):
        host = load(name)
        shown = bash_event(event.input.get("command", ""), event.cwd, name) if reading.shell else event
        if not reading.shell and name != event.host:
            continue
        verdict, output = made.decide(shown, host)
        answers[name] = json.loads(output.stdout) if output.stdout else "silence: the host goes on as if we were not there"
    return {
        "command": redact(text) if text else event.tool,
        "cwd": event.cwd,
        "policy": made.policy.name,
        "decision": result.judged.outcome,
        "rule": result.judged.rule,
        "reason": redact(result.judged.reason),
        "read_only": bool(result.record.get("read_only")),
        "parts": redact_value(parts),
        "rules": [{"id": h.rule["id"], "severity": h.severity, "mode": h.mode, "reason": redact(h.reason())} for h in hits],
        "hosts": answers,
    }


_COLOURS = {"deny": "bold red", "ask": "bold yellow", "none": "green"}


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.tree import Tree

    from ..text.printable import printable

    def safe(text: object) -> str:
        return escape(printable(str(text)).replace("\n", "⏎"))

    console = Console(highlight=False, soft_wrap=True)
    tree = Tree(f"[bold]{safe(report['command'])}[/bold]")
    for part in report["parts"]:
        if part["effect"] == "run":
            label = f"runs [bold]{safe(part.get('program', ''))}[/bold]"
        else:
            what = part.get("path") or part.get("detail") or ""
            label = f"[magenta]{safe(part['effect'])}[/magenta] {safe(what)} ({safe(part['target'])}{', ' + safe(part['sure']) if part['sure'] != 'certain' else ''})"
        if part.get("via"):
            label += f" [dim]via {safe(' → '.join(part['via']))}[/dim]"
        if part["rules"]:
            label += f" [cyan]{safe(', '.join(part['rules']))}[/cyan]"
        tree.add(label)
    console.print(tree)
    for rule in report["rules"]:
        colour = _COLOURS.get(rule["severity"], "dim")
        mode = "" if rule["mode"] == "active" else f" ({rule['mode']})"
        console.print(f"  [{colour}]{rule['severity']}[/{colour}] {safe(rule['id'])}{mode}: {safe(rule['reason'])}")
    outcome = report["decision"]
    word = {"none": "nothing to say"}.get(outcome, outcome)
    more = " (proven read-only)" if report["read_only"] else ""
    console.print(f"decision: [{_COLOURS.get(outcome, 'green')}]{word}[/]{more}, policy {safe(report['policy'])}")
    for name, answer in report["hosts"].items():
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        console.print(f"  [dim]{name}:[/dim] {safe(text)}")
