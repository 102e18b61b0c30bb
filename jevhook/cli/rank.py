"""``jev-use rank``: which of a few candidates fits best, and how well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..use import rank as room
from ..use.request import RequestError
from .asking import BadRequest, answered_by, asked_of, asking, jev, named, request_of, safe, show

if TYPE_CHECKING:
    from rich.console import Console


@click.command("rank")
@click.argument("request", required=False)
@click.option("--state", metavar="TEXT", help="What the candidates are for, up to 12,000 characters.")
@click.option("--candidate", "candidates", multiple=True, metavar="ID=TEXT", help="2 to 8 of them; repeat it.")
@asking
def rank(
    request: str | None,
    state: str | None,
    candidates: tuple[str, ...],
    threshold: float | None,
    backend: str | None,
    model: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Say which of 2 to 8 candidates does best what the state asks for, and how well: one call, one winner, no order.
    REQUEST is JSON ({"state", "candidates": [{"id", "description"}], "levels"?}), - reads it from stdin.

    \b
    Examples:
      jev-use rank --state 'rename a symbol in 40 files' \\
          --candidate sed='edits text by pattern' \\
          --candidate lsp='renames symbols in a code base'
      jev-use rank - <request.json | jq -r .winner

    \b
    Exit: 0 a winner, 1 nobody fits or the winner is only a prior (escalate),
    2 bad request, 3 nobody answered.
    """
    try:
        parts = {"state": state, "candidates": named(candidates, "--candidate", "id", "description")}
        asked, questions, levels = room.prepare(request_of(request, parts))
        result = jev(backend, model, threshold, timeout).judge(asked, questions)
    except RequestError as wrong:
        raise BadRequest(wrong) from None
    found = room.outcome(levels, result) | answered_by(result)
    show(found, as_json, lambda console: _paint(console, asked, found))
    return {"na": 3, "none": 1}.get(found["verdict"], int(found["escalate"]))


def _paint(console: Console, asked: dict[str, Any], found: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("candidate", "p", "description"):
        table.add_column(title, overflow="fold")
    spread = found.get("distribution", {})
    for name, description in (each.values() for each in asked["candidates"]):
        p = f"{spread[name]:.2f}" if name in spread else "-"
        table.add_row(safe(name), p, safe(description), style="bold green" if name == found["winner"] else None)
    console.print(table)
    fit = "" if found["winnerFit"] is None else f", fit {found['winnerFit']:.2f} of {found['levels'] - 1}"
    console.print(f"winner: {safe(found['winner'] or found['verdict'])}{fit}")
    if found.get("hint"):
        console.print(f"[yellow]{safe(found['hint'])}[/yellow]")
    console.print(f"[dim]{safe(asked_of(found))}[/dim]")
