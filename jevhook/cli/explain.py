"""``jevhook explain``: the parts of a command, what each would do to what, which rule speaks, what a host is told."""

from __future__ import annotations

import json
import os
from typing import Any, BinaryIO

import click

from ..event import Event
from ..hosts import MODULES, detect, load
from ..jsonio import loads
from . import unread
from .judging import Bench, bash_event, bench, where
from .tree import hang, plain

_NO_OPINION = "no opinion"  # what silence means, in the words of README
_SHOWN = 2000  # characters of one text on the screen; --json has all of it
# What an ask is turned into where nobody can be asked, in the words of [ask_fallback].
_BECOMES = {"deny": "deny", "context": "context", "none": "note"}


@click.command()
@click.argument("command", required=False)
@click.option("--event", "event_file", type=click.File("rb"), help="Explain a recorded hook event (- for stdin).")
@click.option("--cwd", metavar="DIR", help="Where the command would start. Default: here.")
@click.option("--home", metavar="DIR", type=click.Path(file_okay=False), help="The home directory to judge for.")
@click.option("--policy", metavar="NAME|FILE", help="Explain under this policy instead of the one in force.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
def explain(
    command: str | None,
    event_file: BinaryIO | None,
    cwd: str | None,
    home: str | None,
    policy: str | None,
    as_json: bool,
) -> None:
    """Say what COMMAND would do, without running it: its parts, what each would do to what, which rule speaks, what a
    judge would be asked, and what each host would be told. Nothing is asked or written. Exits 0 whatever the decision.

    \b
    jevhook explain 'git reset --hard && rm -rf build'
    jevhook explain --policy strict --cwd ~/work/shop 'make deploy'
    jevhook explain --event event.json --json | jq .judge.state
    """
    if (event_file is None) == (command is None):
        raise click.UsageError("give either a COMMAND or --event FILE")
    if command is not None and not command.strip():
        raise click.UsageError("nothing to explain: COMMAND is empty")
    if event_file is not None:
        if cwd:
            raise click.UsageError("--cwd goes with a COMMAND: an event names its own directory")
        event = _event(event_file)
    else:
        event = bash_event(command or "", where(cwd))
    made = bench(policy, home, event.cwd)
    report = report_on(made, event)
    if event_file is not None:
        report["judge"]["was"] = _was(made, event)
    if as_json:
        click.echo(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        _show(report)


def _event(source: BinaryIO) -> Event:
    try:
        payload = loads(source.read().decode("utf-8", "replace"))
    except (ValueError, RecursionError) as wrong:
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


def report_on(made: Bench, event: Event) -> dict[str, Any]:
    """The whole explanation as plain values: parts, rules, decision, and what each host would be told.

    The event's own host is told about the event itself; another host about the same command in a session of its own.
    """
    from ..points import risk
    from ..policy import rules
    from ..rules import match
    from ..text.redact import redact, redact_value

    reading = risk.read(event, made.context())
    hits = match(rules(made.policy), reading.findings, made.policy.rule_modes)
    result = risk.judge(event, made.context())
    text = reading.command
    parts = []
    for finding in reading.findings:
        part = finding.record()
        part["text"] = text[finding.start : finding.end] if text else ""
        part["rules"] = [hit.rule["id"] for hit in hits if hit.finding is finding]
        parts.append(part)
    answers: dict[str, Any] = {}
    turned: dict[str, str] = {}
    for name in sorted(MODULES):
        if name == event.host:
            asked = event
        elif reading.shell and isinstance(event.input.get("command"), str):
            asked = bash_event(event.input["command"], event.cwd, name)
        else:
            continue  # another host has other tools
        verdict, output = made.decide(asked, load(name))
        answers[name] = json.loads(output.stdout) if output.stdout else _NO_OPINION
        if verdict.decided.outcome != verdict.decision.outcome:
            turned[name] = f"cannot {verdict.decided.outcome}: {_BECOMES.get(verdict.decision.outcome, 'note')}"
    from ..state.session import recall
    from .doctor import utc

    flagged = [{**mark, "at": utc(mark["at"])} for mark in recall(made.env, event, "flagged")] if event.session else []
    root = plain(text) if text and reading.shell else None
    over = hang(root, parts) if root is not None else list(range(len(parts)))
    return {
        "flagged": flagged,
        "command": redact(text) if text else event.tool,
        "cwd": event.cwd,
        "policy": made.policy.name,
        "mode": made.policy.mode(risk.ID),
        "decision": result.judged.outcome,
        "rule": result.judged.rule,
        "reason": redact(result.judged.reason),
        "read_only": bool(result.record.get("read_only")),
        "tree": redact_value(root),
        "parts": redact_value(parts),
        "outside": over,
        "rules": [
            {"id": hit.rule["id"], "severity": hit.severity, "mode": hit.mode, "reason": redact(hit.reason())}
            for hit in hits
        ],
        "judge": _judge(made, event, reading, hits, result),
        "hosts": answers,
        "turned": turned,
    }


def _judge(made: Bench, event: Event, reading: Any, hits: list[Any], result: Any) -> dict[str, Any]:
    """Whether a judge would be asked about this call, who, and the very questions and state; nobody is.

    ``asked`` False with ``why``; ``questions`` and ``state`` wherever the rules leave something to ask, so that they can
    be read before any judge is set up.
    """
    from ..judges import choose
    from ..points import egress, risk
    from ..text.redact import redact

    settings, decision, ctx = made.policy.judge, result.judged, made.context()
    if decision.outcome == "deny":
        return {"asked": False, "why": "a deny is never put to a judge"}
    if not risk._wants_judge(decision, hits, ctx):
        never = settings.get("when") == "never"
        why = "the policy never asks ([judge] when)" if never else "the rules leave nothing to ask"
        return {"asked": False, "why": why}
    chosen, why = choose(settings, made.env, True, point=risk.ID, capabilities=risk.CAPABILITIES)
    real = chosen is not None and chosen.name != "embedded"
    level = egress.level(settings, chosen) if chosen is not None else str(settings.get("egress", "redacted"))
    out: dict[str, Any] = {"asked": real and level != "none", "why": why, "egress": level}
    if real and chosen is not None:
        out["judge"] = chosen.name
    if level == "none":
        out["why"] = "egress = none: nothing leaves this machine"
    elif level == "shape":
        out |= {"questions": egress.questions_shape(), "state": egress.shape_state(event, reading, {})}
    else:
        requests: list[str] = []
        if event.transcript and not event.agent:
            from ..transcript import user_requests

            try:
                requests = [redact(text, made.env) for text in user_requests(event.transcript, event.host)]
            except Exception:  # a transcript is a help, never a condition
                requests = []
        out["questions"] = {
            name: question
            for name, question in risk.questions().items()
            if made.policy.rule_modes.get(f"{risk.ID}.{name}") != "off"
        }
        out["state"] = risk.build_state(event, reading, decision, requests, env=made.env)
    return out


def _was(made: Bench, event: Event) -> dict[str, Any] | None:
    """What a judge was asked and answered when the ledger's last line about this very call was written, else None."""
    from .. import ledger

    if not os.path.exists(os.path.join(ledger.directory(made.env), "key")):
        return None  # looking must not make one
    digest = ledger.digest({"tool": event.tool, "input": event.input}, made.env)
    found = None
    for line in ledger.read(made.env, str(made.policy.ledger.get("path") or ""), digest):
        if digest and line.get("state_digest") == digest and isinstance(line.get("points"), list):
            for point in line["points"]:
                if isinstance(point, dict) and isinstance(point.get("judge"), dict) and point["judge"].get("asked"):
                    found = {"at": line.get("asked_at"), "questions": point.get("questions"), **point["judge"]}
    return found


_COLOURS = {"deny": "bold red", "ask": "bold yellow", "none": "green"}


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    from ..text.printable import printable
    from .doctor import said_of

    def safe(text: object) -> str:
        shown = printable(str(text)).replace("\n", "⏎")
        if len(shown) > _SHOWN:
            shown = f"{shown[:_SHOWN]}… ({len(shown) - _SHOWN:,} more characters)"
        return escape(shown)

    console = Console(highlight=False, soft_wrap=True)
    console.on_broken_pipe = unread  # type: ignore[method-assign]  # rich would exit 1
    console.print(f"[bold]{safe(report['command'])}[/bold]")

    def label(part: dict[str, Any]) -> str:
        if part["effect"] == "run":
            told = f"runs [bold]{safe(part.get('program', ''))}[/bold]"
        else:
            what = part.get("path") or part.get("detail") or ""
            sure = "" if part["sure"] == "certain" else f", {part['sure']}"
            told = f"[magenta]{safe(part['effect'])}[/magenta] {safe(what)} ({safe(part['target'] + sure)})"
        if part.get("via"):
            told += f" [dim]via {safe(' → '.join(part['via']))}[/dim]"
        if part["rules"]:
            told += f" [cyan]{safe(', '.join(part['rules']))}[/cyan]"
        return told

    # not rich's Tree: that one breaks long paths at the terminal's width
    def show(node: dict[str, Any], before: str, more: list[int]) -> None:
        below: list[Any] = [*node.get("parts", ()), *node["children"], *more]
        for one in below:
            last = one is below[-1]
            branch, deeper = ("└── ", "    ") if last else ("├── ", "│   ")
            if isinstance(one, int):
                console.print(f"{before}{branch}{label(report['parts'][one])}")
            else:
                joined = f"[dim]{safe(one['after'])}[/dim] " if one.get("after") else ""
                kind = "" if one["kind"] == "command" else f" [dim]({safe(one['kind'])})[/dim]"
                console.print(f"{before}{branch}{joined}{safe(one['text'])}{kind}")
                show(one, before + deeper, [])

    show(report["tree"] or {"children": []}, "", report["outside"])
    for rule in report["rules"]:
        colour = _COLOURS.get(rule["severity"], "dim")
        mode = "" if rule["mode"] == "active" else f" ({rule['mode']})"
        console.print(f"  [{colour}]{rule['severity']}[/{colour}] {safe(rule['id'])}{mode}: {safe(rule['reason'])}")
    for mark in report["flagged"][-3:]:
        console.print(f"  [yellow]flagged[/yellow] in this session: {safe(said_of(mark))}")
    outcome = report["decision"]
    word = {"none": _NO_OPINION}.get(outcome, outcome)
    more = " (proven read-only)" if report["read_only"] else ""
    if report["mode"] != "active":
        more += f" (tool.risk is {report['mode']}: nothing is acted)"
    console.print(f"decision: [{_COLOURS.get(outcome, 'green')}]{word}[/]{more}, policy {safe(report['policy'])}")
    judge = report["judge"]
    asked = f"would ask {safe(judge.get('judge', ''))}" if judge["asked"] else "asks nobody"
    more = "" if judge["asked"] or "state" not in judge else " (--json has what a judge would be asked)"
    console.print(f"judge: {asked}: {safe(judge['why'])}{more}")
    if judge["asked"]:
        for name, question in judge["questions"].items():
            console.print(f"  [dim]{safe(name)}:[/dim] {safe(question['instructions'])}")
        console.print(f"  [dim]about:[/dim] {safe(json.dumps(judge['state'], ensure_ascii=False))}")
    if judge.get("was"):
        console.print(f"  [dim]was asked {safe(judge['was']['at'])}:[/dim] {safe(judge['was'].get('answers'))}")
    for name, answer in report["hosts"].items():
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        turned = report["turned"].get(name)
        told = f"{name} {turned}" if turned else name  # codex cannot ask: deny: {…}
        console.print(f"  [dim]{told}:[/dim] {safe(text)}")
