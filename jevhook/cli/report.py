"""``jevhook report``: one page about what the gate did, to look at in a browser and to show around."""

from __future__ import annotations

import os
import tempfile

import click

from .. import __version__, policy
from .. import ledger as book
from ..evidence import labels, read
from ..evidence.page import MARK, About, page
from ..evidence.summary import summarise


@click.command("report")
@click.option("--out", default="jevhook-report.html", show_default=True, help="Where to write the page; - for stdout.")
@click.option("--since", default="", help="From then on: 30d, 12h, a day such as 2027-01-31, or an ISO time.")
@click.option("--until", default="", help="Up to then, in the same forms.")
@click.option("--host", "hosts", multiple=True, help="Events of this host only; may be given again.")
@click.option(
    "--no-examples", is_flag=True, help="Leave out every reason, path and id, so that the page can be shared."
)
@click.option("--force", is_flag=True, help="Write over a file that is no report.")
def report(out: str, since: str, until: str, hosts: tuple[str, ...], no_examples: bool, force: bool) -> None:
    """Write one self-contained HTML page: decisions over time, what was stopped and why, latency, cost, outages.

    Nothing is sent and the page loads nothing: no script, no network. It quotes the ledger's reasons and paths.

    \b
    jevhook report
    jevhook report --since 30d --out gate.html
    jevhook report --since 7d --no-examples --out - | less
    """
    env = dict(os.environ)
    try:
        wanted = read.Wanted(
            hosts=hosts, since=read.moment(since) if since else "", until=read.moment(until) if until else ""
        )
    except ValueError as wrong:
        raise click.ClickException(str(wrong)) from None
    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    path = str(made.ledger.get("path") or "")
    counted = read.Counted()
    found = summarise(read.entries(env, path, wanted, counted=counted), labels.labels(env))
    words = [f"since {wanted.since}" if since else "", f"until {wanted.until}" if until else "", " ".join(hosts)]
    about = About(
        made=book.now_iso()[:16].replace("T", " "),
        source="" if no_examples else book.path(env, path),
        version=__version__,
        wanted=", ".join(filter(None, words)),
        skipped=counted.said(),
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


def write(out: str, text: str, force: bool) -> None:
    """Write the page in one step, readable by its owner only.  Raises OSError, also for another's file in its place."""
    if os.path.lexists(out) and not force and not _ours(out):
        raise OSError(0, "there is something else than a report in this place; name another file, or --force")
    folder = os.path.dirname(os.path.abspath(out))
    handle, aside = tempfile.mkstemp(prefix=".jevhook-report-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(aside, out)
    except BaseException:
        os.unlink(aside)
        raise


def _ours(out: str) -> bool:
    if not os.path.isfile(out) or os.path.islink(out):
        return False
    with open(out, "rb") as file:
        return file.read(len(MARK)) == MARK.encode()
