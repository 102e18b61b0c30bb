"""``jev-use gate``: may this one tool call run?  A one-shot with exit codes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ..use.gate import SHELLS
from ..use.request import RequestError
from .asking import BadRequest, asked_of, asking, jev, read_json, read_text, safe, show, state_of
from .judging import where

if TYPE_CHECKING:
    from rich.console import Console

_CODES = {"allow": 0, "deny": 1, "escalate": 3}
_COLOURS = {"allow": "green", "deny": "bold red", "escalate": "bold yellow"}


@click.command("gate")
@click.option("--tool", required=True, metavar="NAME", help="The tool's name: Bash, Write, or your own.")
@click.option("--input", "input_", required=True, metavar="JSON|TEXT", help="Its input; - for stdin.")
@click.option("--description", default="", metavar="TEXT", help="What the call says it is for. Taken as data.")
@click.option("--state", metavar="TEXT", help="The task and its limits, in your words.")
@click.option("--state-file", metavar="FILE", help="The same out of a file (- for stdin).")
@click.option("--cwd", metavar="DIR", help="Where the call would start. Default: here.")
@asking
def gate(
    tool: str,
    input_: str,
    description: str,
    state: str | None,
    state_file: str | None,
    cwd: str | None,
    threshold: float | None,
    backend: str | None,
    model: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Say whether a tool call may run: allow, deny, or escalate to a person. Nothing is run. The rules come first: what
    they deny is denied, whatever a judge says. Without a provider they answer alone, and the hint says so.

    \b
    Examples:
      jev-use gate --tool Bash --input '{"command": "rm -rf build"}'
      jev-use gate --tool Bash --input 'git push --force' --state 'Release day: main is frozen.'
      jev-use gate --tool deploy --input '{"to": "staging"}' --state-file task.txt && ./deploy staging

    \b
    Exit: 0 allow, 1 deny, 2 bad request, 3 escalate.
    """
    if input_ == "-" and state_file == "-":
        raise BadRequest("--state-file: stdin is already read for --input")
    told = state_of(state, state_file) or ""
    value = _input(tool, read_text("-", "--input") if input_ == "-" else input_)
    asker = jev(backend, model, _threshold(threshold), timeout, where(cwd))
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 6000))  # as the hook does: the same line, the same verdict
    try:
        found = asker.gate(tool, value, state=told, description=description).json()
    except RequestError as wrong:
        raise BadRequest(f"--{wrong}") from None
    except Exception as wrong:  # exit code 1 would read as a denial, 0 as an allowance
        raise Failed(f"the call could not be judged ({type(wrong).__name__}); a person decides") from wrong
    show(found, as_json, lambda console: _paint(console, found))
    return _CODES[found["decision"]]


class Failed(click.ClickException):
    exit_code = _CODES["escalate"]


def _input(tool: str, text: str) -> Any:
    """JSON where it looks like an object, an array or a quoted text, else the text itself.  In a shell ``{ ls; }`` and
    ``"my program" x`` are text too."""
    start = text.lstrip()[:2]
    if start[:1] not in ("{", "[", '"'):
        return text
    try:
        return read_json(text, "--input")
    except BadRequest:
        if start[:1] == '"' or (tool.lower() in SHELLS and start not in ('{"', "{'", '["')):
            return text
        raise


def _threshold(told: float | None) -> float | None:
    """--threshold, else JEV_GATE_THRESHOLD."""
    import os

    from ..judges import gate_threshold

    return told if told is not None else gate_threshold(os.environ)


def _paint(console: Console, found: dict[str, Any]) -> None:
    sure = f" {found['confidence']:.2f} {found['confidenceFrom']}" if "confidenceFrom" in found else ""
    rule = f" \\[{safe(found['rule'])}]" if "rule" in found else ""
    console.print(f"[{_COLOURS[found['decision']]}]{found['decision']}[/]{sure}{rule}")
    if found["hint"]:
        console.print(safe(found["hint"]))
    console.print(f"[dim]{safe(asked_of(found))}[/dim]")
