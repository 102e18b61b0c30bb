"""``jev-use rerank``: BM25 finds passages, the judge reads the best few once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ..use import rerank as room
from ..use.request import RequestError
from .asking import BadRequest, jev, read_json, read_text, safe, show, whom

if TYPE_CHECKING:
    from rich.console import Console


@click.command("rerank")
@click.argument("query", required=False)
@click.option("--corpus", metavar="FILE", required=True, help='Lines of {"id", "text", "title"?}; - for stdin.')
@click.option(
    "--shortlist", type=click.IntRange(1, 100), default=8, show_default=True, help="Passages that are judged."
)
@click.option("--min-p", type=click.FloatRange(0, 1), default=room.MIN_P, show_default=True, help="What to keep.")
@click.option("--eval", "labelled", metavar="FILE", help='Compare on lines of {"query", "relevant": id or [ids]}.')
@whom
def rerank(
    query: str | None,
    corpus: str,
    shortlist: int,
    min_p: float,
    labelled: str | None,
    backend: str | None,
    model: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Find passages by BM25 and let the judge say of each, in one call, whether it decides the query. Kept is what
    reaches --min-p, or the single best. When the judge fails the order is BM25's, and "source" says so; a passage that
    was not judged comes last. Passages are redacted and cut to 1,500 characters.

    \b
    Examples:
      jev-use rerank 'refund for a gift card' --corpus rules.jsonl
      jev-use rerank --eval cases.jsonl --corpus rules.jsonl   # is it worth it here?

    \b
    Exit: 0 passages, or a comparison; 1 no passage shares a word with the query;
    2 bad request; 3 --eval, and the judge read none of the cases.
    """
    if (query is None) == (labelled is None):
        raise BadRequest("query: give either a QUERY or --eval FILE")
    if corpus == labelled == "-":
        raise BadRequest("--eval: stdin is the corpus already")
    try:
        asked = "" if query is None else room.query(query)
        found = room.Corpus(room.rows(_lines(corpus, "--corpus"), "--corpus"))
        ask = jev(backend, model, None, timeout).judge
        if labelled is not None:
            compared = _compare(found, room.cases(_lines(labelled, "--eval"), found, "--eval"), ask, shortlist)
            show(compared, as_json, lambda console: _paint_comparison(console, compared))
            return 0 if compared["judged"] else 3
        result = room.rerank(found, asked, ask, shortlist=shortlist, min_p=min_p)
    except RequestError as wrong:
        raise BadRequest(wrong) from None
    show(result, as_json, lambda console: _paint(console, result))
    return 0 if result["results"] else 1


def _lines(name: str, option: str) -> list[Any]:
    lines = enumerate(read_text(name, option).split("\n"), 1)
    return [read_json(line, f"{option}: line {at}") for at, line in lines if line.strip()]


def _compare(found: room.Corpus, cases: list[room.Case], ask: room.Ask, shortlist: int) -> dict[str, Any]:
    if not sys.stderr.isatty():
        return room.compare(found, cases, ask, shortlist=shortlist)
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("judging", total=len(cases))
        return room.compare(found, cases, ask, shortlist=shortlist, told=lambda: progress.advance(task))


def _paint(console: Console, found: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("passage", "p", "bm25", ""):
        table.add_column(title, overflow="fold")
    for entry in found["results"]:
        p = f"{entry['p']:.2f}" if entry["judged"] else "-"
        table.add_row(safe(entry["id"]), p, f"{entry['bm25']:.2f}", safe(entry["title"]))
    console.print(table)
    console.print(f"[dim]order: {found['source']}, {found['shortlisted']} on the shortlist[/dim]")
    if found.get("hint"):
        console.print(f"[yellow]{safe(found['hint'])}[/yellow]")


def _paint_comparison(console: Console, found: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in (f"{found['cases']} cases", "top 1", "top 3"):
        table.add_column(title)
    for name in ("bm25", "rerank"):
        table.add_row(name, *(f"{found[name][top]:.0%}" for top in ("top1", "top3")))
    console.print(table)
    why = "" if found["keep"] == "rerank" else ": re-ranking does not win on these labels"
    console.print(f"keep {found['keep']}{why}")
    if found.get("hint"):
        console.print(
            f"[yellow]{found['judged']} of {found['cases']} cases were judged whole. {safe(found['hint'])}[/yellow]"
        )
