"""``jevhook ledger stats``: what the ledger adds up to."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from .. import policy
from ..evidence import parquet
from ..evidence.figures import share_of
from ..evidence.labels import labels
from ..evidence.read import Counted, Wanted, entries
from ..evidence.stats import stats as added_up
from ..text.printable import visible
from .extras import need
from .ledger_filter import filters, wanted

T = TypeVar("T")

_LARGE = 20 << 20  # bytes from which a person would wonder whether anything happens


@click.command(short_help="What the ledger adds up to, point by point.")
@filters
@click.option(
    "--from", "files", multiple=True, metavar="FILE", help="Parquet files of ledger export instead; may hold *."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object; times in milliseconds, cost in micro-dollars.")
def stats(files: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Add up each point: decisions, failures by reason, time, cost, rules against judge, false alarms by your labels.

    \b
    jevhook ledger stats
    jevhook ledger stats --since 30d --host claude
    jevhook ledger stats --point tool.risk --json
    jevhook ledger stats --from 'fleet/*.parquet' --since 30d
    """
    env = dict(os.environ)
    filter_ = wanted(given)
    counted = Counted()
    if files:
        sums = from_parquet(files, filter_, parquet.sums)
    else:
        made = policy.load(env, in_hook=False, managed=policy.MANAGED)
        with progress("reading the ledger") as told:
            found = entries(env, str(made.ledger.get("path") or ""), filter_, counted=counted, progress=told)
            sums = added_up(found, labels(env)).json()
    if filter_.points:
        sums["points"] = {name: point for name, point in sums["points"].items() if name in filter_.points}
    if as_json:
        click.echo(json.dumps({**sums, "skipped": {"lines": counted.skipped, "first": counted.first}}, indent=1))
        return
    for line in lines(sums):
        click.echo(visible(line))
    if counted.skipped:
        click.echo(policy.clean(counted.said()), err=True)


def from_parquet(files: tuple[str, ...], wanted: Wanted, work: Callable[..., T]) -> T:
    """What ``work`` makes of such files.  Raises ClickException for filters that SQL does not know, files that are no
    export, and a missing extra."""
    if wanted != Wanted(since=wanted.since, until=wanted.until, hosts=wanted.hosts):
        raise click.UsageError("--from goes with --since, --until and --host only: filter when you export")
    try:
        return work(files, wanted.since, wanted.until, wanted.hosts)
    except parquet.NoTable as wrong:
        raise click.ClickException(policy.clean(str(wrong))) from None
    except ImportError as wrong:
        need("parquet", wrong)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr where a person looks and there is much to read; else None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, visible=False)
        yield lambda at, total: bar.update(task, completed=at, total=total, visible=total > _LARGE)


def lines(sums: dict[str, Any]) -> list[str]:
    """The sums for a person."""
    if not sums["events"]:
        return ["no event of the ledger is like that"]
    out = [
        f"{sums['events']:,} events from {sums['first'][:16]} to {sums['last'][:16]} (UTC), {_counts(sums['hosts'])}",
        f"decisions   {_counts(sums['decisions'])}",
        f"hook        {_spread(sums['hook_ms'])}",
    ]
    if sums["judge"]:
        out.append(f"judge       {_money(sums['judge'])}")
    if sums["reasons"]:
        out.append(f"reasons     {_counts(sums['reasons'])}")
    for name, point in sums["points"].items():
        elsewhere = f", {point['elsewhere']:,} not its business" if point["elsewhere"] else ""
        out += ["", f"{name}: {_counts(point['modes']) or 'no event'}, {point['acted']:,} acted on{elsewhere}"]
        rows = [
            ("judged", _counts(point["judged"])),
            ("rules", _counts(point["rules"], 5)),
            ("hook", _spread(point["hook_ms"])),
            ("judge", _money(point["judge"]) if point["judge"] else ""),
            ("", _spread(point["judge_ms"]) if point["judge_ms"]["n"] else ""),
            ("fell back", _counts(point["fallbacks"])),
            ("agreement", _agreement(point)),
            ("labels", _counts(point["labels"])),
            ("false alarms", share_of(point["false_alarms"]).said() if point["labels"] else ""),
        ]
        out += [f"  {label:<13} {text}" for label, text in rows if text]
    return out


def _counts(found: dict[str, int], most: int = 12) -> str:
    shown = ", ".join(f"{name} {number:,}" for name, number in list(found.items())[:most])
    return f"{shown} and {len(found) - most} more" if len(found) > most else shown


def _spread(found: dict[str, float]) -> str:
    return " ".join(f"{name} {found[name]:g} ms" for name in ("p50", "p95", "p99") if name in found)


def _money(found: dict[str, int]) -> str:
    calls = found.get("calls", 0)
    parts = [f"{calls:,} call{'s'[: calls != 1]}"]
    parts += [
        f"{found[key]:,} {word}"
        for key, word in (("failed", "failed"), ("cached", "answered from memory"))
        if key in found
    ]
    if "input_tokens" in found:
        parts.append(f"{found['input_tokens']:,} tokens in, {found.get('output_tokens', 0):,} out")
    if "cost_micros" in found:
        parts.append(f"{found['cost_micros'] / 1e6:.4f} USD")
    return ", ".join(parts)


def _agreement(point: dict[str, Any]) -> str:
    return f"{share_of(point['agreed']).said()} ({_counts(point['agreement'])})" if point["agreement"] else ""
