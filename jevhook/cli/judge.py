"""``jev-use judge``: typed questions about one state, or one question about many lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ..use import request as asked
from ..use.items import MAX_ITEMS
from ..use.request import RequestError
from .asking import BadRequest, asked_of, asking, jev, progress_bar, read_json, read_text, safe, show, state_of

if TYPE_CHECKING:
    from rich.console import Console

    from ..use.jev import Jev


_WANTED = "give JSON, - for stdin, or --state with --check, --pick or --rate"


class _InOrder(click.Command):
    """Remembers in which order --check, --pick and --rate were given: click groups them by option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names = (word.partition("=")[0] for word in args)
        ctx.meta["order"] = [name for name in names if name in ("--check", "--pick", "--rate")]
        return super().parse_args(ctx, args)


@click.command(cls=_InOrder)
@click.argument("request", required=False)
@click.option("--state", metavar="TEXT", help="What is judged; with --items what a reader has to know.")
@click.option("--state-file", metavar="FILE", help="The same out of a file (- for stdin).")
@click.option("--check", "checks", multiple=True, metavar="QUESTION", help="A yes/no question. May be repeated.")
@click.option(
    "--pick",
    "picks",
    multiple=True,
    nargs=2,
    metavar="QUESTION OPTIONS",
    help="One of several: 'bug, billing, other', or a JSON list or map. May be repeated.",
)
@click.option(
    "--rate",
    "rates",
    multiple=True,
    nargs=2,
    metavar="QUESTION LEVELS",
    help="A place on ordered levels, lowest first: 'fine | slow | down'. May be repeated.",
)
@click.option("--items", "items_file", metavar="FILE", help="One question about each line of FILE (- for stdin).")
@click.option("--most", type=click.IntRange(1), default=MAX_ITEMS, show_default=True, help="So many items at most.")
@asking
@click.option("--strict", is_flag=True, help="Exit 1 when any verdict escalates.")
@click.pass_context
def judge(
    ctx: click.Context,
    request: str | None,
    state: str | None,
    state_file: str | None,
    checks: tuple[str, ...],
    picks: tuple[tuple[str, str], ...],
    rates: tuple[tuple[str, str], ...],
    items_file: str | None,
    most: int,
    threshold: float | None,
    backend: str | None,
    model: str | None,
    timeout: float,
    as_json: bool,
    strict: bool,
) -> int:
    """Ask typed questions about a state; every question comes back with an answer, a confidence, and whether it should
    be escalated. REQUEST is JSON, - reads it from stdin. Prints JSON where stdout is piped.

    \b
    Examples:
      jev-use judge --state "$(tail -50 build.log)" --check 'Is the build green?'
      git diff | jev-use judge --state-file - \\
          --pick 'What kind of change?' 'feature, fix, refactoring, other' \\
          --rate 'How risky is it to ship?' 'harmless | small | large | outage'
      jev-use judge '{"state": "…", "questions": [{"id": "green", "type": "noul",
          "question": "Is the build green?"}]}' | jq .answers.green
      jev-use judge --items app.log --check 'Does the line report a failure?' | jq .yes

    \b
    Exit: 0 answered, 1 something escalates (with --strict), 2 bad request,
    3 nothing answered.
    """
    told, questions = state_of(state, state_file), _questions(checks, picks, rates, ctx.meta["order"])
    if items_file is not None:
        if request is not None or len(questions) != 1:
            raise BadRequest("items: goes with one question: one --check, --pick or --rate, and no REQUEST")
        lines = _lines(items_file, state_file)
        return _items(jev(backend, model, threshold, timeout), questions[0], lines, told or "", most, as_json, strict)
    made = _request(request, told, questions)
    for name, option, own in (("confidenceThreshold", threshold, made.threshold), ("model", model, made.model or None)):
        if option is not None and own is not None:
            raise BadRequest(f"{name}: given in the request and by an option; use one of the two")
    asker = jev(backend, model, threshold, timeout)
    result = asker.answer(made)
    found = result.json()
    show(found, as_json, lambda console: _paint(console, found, made))
    if not result.answered:
        return 3
    return 1 if strict and result.escalated else 0


def _lines(file: str, state_file: str | None) -> list[tuple[int, str]]:
    """The lines that are not blank, with their numbers in the file.  Raises BadRequest."""
    if file == "-" == state_file:
        raise BadRequest("--state-file: stdin is already read for --items")
    lines = [
        (at, line.rstrip("\r")) for at, line in enumerate(read_text(file, "--items").split("\n"), 1) if line.strip()
    ]
    if not lines:
        raise BadRequest(f"items: {file} has no line that is not blank")
    return lines


def _items(
    asker: Jev, question: asked.Q, lines: list[tuple[int, str]], context: str, most: int, as_json: bool, strict: bool
) -> int:
    try:
        with progress_bar() as progress:
            made = asker.items(question, lines, context=context, most=most, progress=progress)
    except RequestError as wrong:
        raise BadRequest(wrong) from None
    found = made.json()
    show(found, as_json, lambda console: _paint_items(console, found))
    if not made.answered:
        return 3
    return 1 if strict and made.escalated else 0


def _request(text: str | None, state: str | None, questions: list[asked.Q]) -> asked.Request:
    """The request out of JSON and options together.  Raises BadRequest."""
    if text is None and not questions:
        if sys.stdin.isatty():
            raise BadRequest(f"request: is missing; {_WANTED}")
        text = "-"
    value: Any = {}
    if text is not None:
        text = read_text("-", "request") if text == "-" else text
        if not text.strip():
            raise BadRequest(f"request: is empty; {_WANTED}")
        value = read_json(text, "request")
        if not isinstance(value, dict):
            raise BadRequest("request: must be a JSON object with state and questions")
    if state is not None:
        if value.get("state") is not None:
            raise BadRequest("state: given in the request and by an option; use one of the two")
        value["state"] = state
    if value.get("state") is None and text is None:
        raise BadRequest("state: is missing; give --state TEXT or --state-file FILE (- for stdin)")
    if questions:
        given = value.get("questions")
        if given is not None and not isinstance(given, list):
            raise BadRequest("questions: must be a list of questions")
        value["questions"] = [*(given or []), *questions]
    try:
        return asked.read(value)
    except RequestError as wrong:
        raise BadRequest(wrong) from None


def _questions(
    checks: tuple[str, ...], picks: tuple[tuple[str, str], ...], rates: tuple[tuple[str, str], ...], order: list[str]
) -> list[asked.Q]:
    """The questions out of the options, in the order in which they were given."""
    made = {
        "--check": [asked.check(text) for text in checks],
        "--pick": [asked.pick(text, _listed(options, "--pick")) for text, options in picks],
        "--rate": [asked.rate(text, _listed(levels, "--rate")) for text, levels in rates],
    }
    if len(order) != sum(map(len, made.values())):  # a question that is itself called --check
        order = [name for name, questions in made.items() for _ in questions]
    return [made[name].pop(0) for name in order]


def _listed(text: str, option: str) -> Any:
    """A list out of an option's text: JSON, else parted at | or, where there is none, at commas."""
    if text.lstrip()[:1] in ("[", "{"):
        return read_json(text, option)
    return [part.strip() for part in text.split("|" if "|" in text else ",")]


def _paint(console: Console, found: dict[str, Any], request: asked.Request) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("question", "answer", "confidence", ""):
        table.add_column(title, overflow="fold")
    for question, verdict in zip(request.questions, found["verdicts"], strict=True):
        text = question.wire["instructions"] if question.wire is not None else ""
        name = f"{safe(verdict['id'])} [dim]{safe(text)}[/dim]"
        sure = (
            f"{verdict['confidence']:.2f} {verdict.get('confidenceFrom', '')}" if "confidenceFrom" in verdict else "-"
        )
        note = f"[yellow]{verdict['reason']}[/yellow] {safe(verdict['hint'])}" if verdict["escalate"] else ""
        table.add_row(name, _answer(verdict), sure, note)
    console.print(table)
    console.print(f"[dim]{safe(asked_of(found))}[/dim]")


def _paint_items(console: Console, found: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("item", "answer", "text"):
        table.add_column(title, overflow="fold")
    for entry in found.get("yes", ()):
        table.add_row(str(entry["item"]), f"[green]yes[/green] {entry['p']:.2f}", safe(entry["text"]))
    for entry in found.get("unsure", ()):
        table.add_row(str(entry["item"]), f"[yellow]unsure[/yellow] {entry['p']:.2f}", safe(entry["text"]))
    for entry in found.get("verdicts", ()):
        unsure = " [yellow]unsure[/yellow]" if entry["escalate"] else ""
        table.add_row(str(entry["item"]), f"{_answer(entry)}{unsure}", safe(entry["text"]))
    if table.row_count:
        console.print(table)
    for name in ("no", "unanswered", "hint", "note"):
        if found.get(name):
            console.print(f"[bold]{name}[/bold] {safe(found[name])}")
    console.print(f"[dim]{found['answered']} of {found['items']} answered; {safe(asked_of(found))}[/dim]")


def _answer(verdict: dict[str, Any]) -> str:
    value = verdict["answer"]
    if value is None:
        return "[dim]-[/dim]"
    if verdict["type"] == "noul":
        return f"{'yes' if value >= 0.5 else 'no'} (p {value:.2f})"
    if verdict["type"] == "score":
        nearest = verdict["legend"][str(round(value))]
        return f"{value:.2f} of {len(verdict['legend']) - 1}: {safe(nearest)}"
    return safe(value)
