"""``jev-use review``: should a person look at what a delegate handed back?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..use import review as room
from ..use.request import RequestError
from .asking import BadRequest, answered_by, asked_of, jev, request_of, safe, show, whom

if TYPE_CHECKING:
    from rich.console import Console


@click.command("review")
@click.argument("request", required=False)
@click.option("--delegate", metavar="NAME", help="Who did the work.")
@click.option("--kind", metavar="KIND", help="How it ended: ok, empty or error.")
@click.option("--output-chars", type=int, metavar="N", help="How many characters came back.")
@click.option("--duration-ms", type=int, metavar="N", help="How long it took.")
@click.option(
    "--criterion", "criteria", multiple=True, metavar="TEXT", help="What was asked of it; up to 4, of 120 characters."
)
@whom
def review(
    request: str | None,
    delegate: str | None,
    kind: str | None,
    output_chars: int | None,
    duration_ms: int | None,
    criteria: tuple[str, ...],
    backend: str | None,
    model: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Say whether a person should look at what a delegate handed back, by its shape alone: none of its content is sent.
    REQUEST is JSON ({"delegate", "kind", "outputChars", "durationMs"?, "criteria"?, "levels"?}), - reads it from stdin.
    Criteria hold no path, no credential and no control character.

    \b
    Examples:
      jev-use review --delegate worker-1 --kind ok --output-chars 84 \\
          --duration-ms 900 --criterion 'explains the cause of the crash'
      jev-use review - <request.json | jq -r .verdict

    \b
    Exit: 0 recorded, 1 flag-for-review, 2 bad request, 3 nobody answered (na).
    """
    parts: dict[str, Any] = {
        "delegate": delegate,
        "kind": kind,
        "outputChars": output_chars,
        "durationMs": duration_ms,
        "criteria": list(criteria) or None,
    }
    try:
        asked, questions, levels = room.prepare(request_of(request, parts))
        result = jev(backend, model, None, timeout).judge(asked, questions)
    except RequestError as wrong:
        raise BadRequest(wrong) from None
    found = room.outcome(levels, result) | answered_by(result)
    show(found, as_json, lambda console: _paint(console, found))
    return {"recorded": 0, "flag-for-review": 1}.get(found["verdict"], 3)


def _paint(console: Console, found: dict[str, Any]) -> None:
    quality, p = (f"{value:.2f}" if value is not None else "-" for value in (found["quality"], found["p"]))
    console.print(
        f"[bold]{found['verdict']}[/bold]: a person should look p {p}, quality {quality} of {found['levels'] - 1}"
    )
    if found.get("hint"):
        console.print(f"[yellow]{safe(found['hint'])}[/yellow]")
    console.print(f"[dim]{safe(asked_of(found))}[/dim]")
