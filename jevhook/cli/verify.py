"""``jev-use verify``: does the evidence show what is claimed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..use import verify as room
from ..use.request import RequestError
from .asking import BadRequest, answered_by, asked_of, jev, named, request_of, safe, show, state_of, whom

if TYPE_CHECKING:
    from rich.console import Console


@click.command("verify")
@click.argument("request", required=False)
@click.option("--claim", "claims", multiple=True, metavar="NAME=TEXT", help="1 to 4 of them; repeat it.")
@click.option("--state", metavar="TEXT", help="The evidence, up to 12,000 characters.")
@click.option("--state-file", metavar="FILE", help="The same out of a file (- for stdin).")
@whom
def verify(
    request: str | None,
    claims: tuple[str, ...],
    state: str | None,
    state_file: str | None,
    backend: str | None,
    model: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Say of 1 to 4 claims whether the evidence shows them. Fail-closed: only PASS passes. A claim's probability: above
    0.65 PASS, 0.35 to 0.65 UNVERIFIABLE, below it FAIL; no usable answer is BLOCK. REQUEST is JSON
    ({"claims": [{"name", "claim"}], "state"?}), - reads it from stdin.

    \b
    Examples:
      npm test 2>&1 | tail -c 12000 |
          jev-use verify --claim green='Every test passed.' --state-file - && git push
      jev-use verify '{"claims": [{"name": "green", "claim": "Every test passed."}],
          "state": "12 passed in 3 s"}'

    \b
    Exit: 0 every claim is PASS, 1 one is not, 2 bad request, 3 nobody answered.
    """
    try:
        parts = {"claims": named(claims, "--claim", "name", "claim"), "state": state_of(state, state_file)}
        asked, questions, names = room.prepare(request_of(request, parts))
        result = jev(backend, model, None, timeout).judge(asked, questions)
    except RequestError as wrong:
        raise BadRequest(wrong) from None
    found = room.outcome(names, result) | answered_by(result)
    show(found, as_json, lambda console: _paint(console, found, list(asked["claims"].values())))
    if found["passed"]:
        return 0
    return 1 if result.answered else 3


_COLOURS = {"PASS": "green", "FAIL": "red", "BLOCK": "bold red", "UNVERIFIABLE": "yellow"}


def _paint(console: Console, found: dict[str, Any], texts: list[str]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("claim", "verdict", "p", ""):
        table.add_column(title, overflow="fold")
    for claim, text in zip(found["claims"], texts, strict=True):
        colour = _COLOURS[claim["verdict"]]
        p = "-" if claim["p"] is None else f"{claim['p']:.2f}"
        shown = safe(text) if "hint" not in claim else f"{safe(text)} [yellow]{safe(claim['hint'])}[/yellow]"
        table.add_row(safe(claim["name"]), f"[{colour}]{claim['verdict']}[/{colour}]", p, shown)
    console.print(table)
    console.print(f"[dim]{safe(asked_of(found))}[/dim]")
