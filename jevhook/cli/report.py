"""``jevhook report``: one page about what the gate did, to look at in a browser and to show around."""

from __future__ import annotations

import os
from typing import Any

import click

from .. import __version__, policy
from .. import ledger as book
from ..evidence import labels, parquet, read
from ..evidence.out import in_one_step
from ..evidence.page import MARK, About, page
from ..evidence.summary import Summary, summarise, summarise_labelled
from .ledger_filter import window
from .ledger_stats import from_parquet, progress


@click.command("report")
@click.option("--out", default="jevhook-report.html", show_default=True, help="Where to write the page; - for stdout.")
@click.option("--since", help="From then on: 30d, 12h, a day such as 2027-01-31, or an ISO time.")
@click.option("--until", help="Up to then, in the same forms.")
@click.option("--host", "hosts", multiple=True, help="Events of this host only; may be given again.")
@click.option(
    "--from", "files", multiple=True, metavar="FILE", help="Parquet files of ledger export instead; may hold *."
)
@click.option(
    "--no-examples", is_flag=True, help="Leave out every reason, path and id, so that the page can be shared."
)
@click.option("--force", is_flag=True, help="Write over a file that is no report.")
def report(
    out: str,
    since: str | None,
    until: str | None,
    hosts: tuple[str, ...],
    files: tuple[str, ...],
    no_examples: bool,
    force: bool,
) -> None:
    """Write one self-contained HTML page: decisions over time, what was stopped and why, latency, cost, outages.

    Nothing is sent and the page loads nothing: no script, no network. It quotes the ledger's reasons and paths.

    \b
    jevhook report
    jevhook report --since 30d --out gate.html
    jevhook report --since 7d --no-examples --out - | less
    jevhook report --from 'fleet/*.parquet' --out fleet.html
    """
    env = dict(os.environ)
    first, end = window(since, until)
    wanted = read.Wanted(hosts=hosts, since=first, until=end)
    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    path = str(made.ledger.get("path") or "")
    counted = read.Counted()
    if files:
        found = from_parquet(files, wanted, _from_files)
    else:
        with progress("reading the ledger") as told:
            found = summarise(read.entries(env, path, wanted, counted=counted, progress=told), labels.labels(env))
    words = [f"since {wanted.since}" if since else "", f"until {wanted.until}" if until else "", " ".join(hosts)]
    about = About(
        made=book.now_iso()[:16].replace("T", " "),
        source="" if no_examples else ", ".join(files) or book.path(env, path),
        version=__version__,
        wanted=", ".join(filter(None, words)),
        skipped=counted.said() if not no_examples else f"{counted.skipped} lines skipped" if counted.skipped else "",
        examples=not no_examples,
    )
    text = page(found, about)
    if out == "-":
        click.echo(text, nl=False)
        return
    try:
        write(out, text, force)
    except OSError as wrong:
        raise click.ClickException(f"{policy.clean(out)}: {wrong.strerror or wrong}") from None
    click.echo(f"{policy.clean(out)}: {found.events} events" + (f"; {counted.said()}" if counted.skipped else ""))


def _from_files(*chosen: Any) -> Summary:
    return summarise_labelled(parquet.entries(*chosen))


def write(out: str, text: str, force: bool) -> None:
    """Write the page in one step, readable by its owner only.  Raises OSError, also for another's file in its place."""
    if os.path.lexists(out) and not force and not _ours(out):
        raise OSError(0, "there is something else than a report in this place; name another file, or --force")
    in_one_step(out, lambda aside: _fill(aside, text))


def _fill(name: str, text: str) -> None:
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def _ours(out: str) -> bool:
    if not os.path.isfile(out) or os.path.islink(out):
        return False
    with open(out, "rb") as file:
        return file.read(len(MARK)) == MARK.encode()
