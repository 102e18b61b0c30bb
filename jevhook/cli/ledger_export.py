"""``jevhook ledger export``: the ledger for a warehouse, a collector, or a script."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import click

from .. import __version__, policy
from ..evidence import labels, otlp, parquet, table
from ..evidence.out import in_one_step
from ..evidence.read import Counted, Wanted, entries
from ..text.redact import redact_value
from .extras import need
from .ledger_filter import filters, wanted
from .ledger_stats import progress
from .person import no_agent


@click.command("export", short_help="The ledger for a warehouse, a collector, or a script.")
@click.option("--to", "kind", type=click.Choice(("jsonl", "parquet", "otlp")), required=True, help="In which form.")
@click.option("--out", default="-", help="The file to write; - for stdout (jsonl only).")
@click.option("--endpoint", default="", metavar="URL", help="The collector, https unless on this machine (otlp only).")
@click.option(
    "--header-from-env", "header", multiple=True, metavar="NAME=VARIABLE", help="A header with that variable's value."
)
@click.option("--ca", default="", metavar="FILE", help="Certificates to trust instead of the usual ones (otlp only).")
@click.option("--source", default="", help="Whose ledger this is, where many come together. Default: not said.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@filters
def export(
    kind: str, out: str, endpoint: str, header: tuple[str, ...], ca: str, source: str, force: bool, **given: Any
) -> None:
    """Write the ledger as Parquet or JSON lines, or send it to an OpenTelemetry collector.

    Columns, attributes and SQL for them are in docs/export.md. Nothing is sent but to the endpoint you name, and
    secrets are redacted once more. Needs jevhook[parquet] or jevhook[otlp]; for jsonl nothing.

    \b
    jevhook ledger export --to jsonl --since 7d | jq .decision
    jevhook ledger export --to parquet --out november.parquet --since 2026-11-01 --until 2026-12-01
    jevhook ledger export --to otlp --endpoint https://collector.example.net --source laptop-7 --since 1h
    """
    env = dict(os.environ)
    filter_ = wanted(given)
    if (kind == "otlp") != bool(endpoint):
        raise click.UsageError("--endpoint URL goes with --to otlp, and only with it")
    if (header or ca) and kind != "otlp":
        raise click.UsageError("--header-from-env and --ca go with --to otlp")
    if ca and not os.path.isfile(ca):
        raise click.BadParameter(f"--ca {policy.shown(ca)}: there is no such file")
    if kind == "parquet" and out == "-":
        raise click.UsageError("--to parquet needs --out FILE")
    if kind == "otlp" and out != "-":
        raise click.UsageError("--out does not go with --to otlp")
    if out != "-" and os.path.lexists(out) and not force:
        raise click.ClickException(f"{policy.clean(out)} is there already; name another file, or --force")
    counted = Counted()
    try:
        if kind == "jsonl":
            said = _jsonl(env, filter_, counted, source, out)
        elif kind == "parquet":
            count = parquet.write(out, _rows(env, filter_, counted, source))
            said = f"{policy.clean(out)}: {counted.taken} entries in {count} rows"
        else:
            said = _otlp(env, filter_, counted, source, endpoint, header, ca)
    except ImportError as wrong:
        need(kind, wrong)
    except BrokenPipeError:  # `| head`
        raise
    except OSError as wrong:
        raise click.ClickException(f"{policy.clean(out)}: {wrong.strerror or wrong}") from None
    if said:
        click.echo(said)
    if counted.skipped:
        click.echo(policy.clean(counted.said()), err=True)


def _path(env: dict[str, str]) -> str:
    return str(policy.load(env, in_hook=False, managed=policy.MANAGED).ledger.get("path") or "")


def _rows(env: dict[str, str], filter_: Wanted, counted: Counted, source: str) -> Iterator[dict[str, Any]]:
    said = labels.labels(env)
    with progress("reading the ledger") as told:
        for entry in entries(env, _path(env), filter_, counted=counted, progress=told):
            yield from table.rows(entry, said.get(str(entry.get("id"))), env, source)


def _jsonl(env: dict[str, str], filter_: Wanted, counted: Counted, source: str, out: str) -> str:
    said = labels.labels(env)

    def lines() -> Iterator[str]:
        for entry in entries(env, _path(env), filter_, counted=counted):
            clean = redact_value(entry, env)
            label = said.get(str(entry.get("id")))
            if label is not None:
                clean["label"] = redact_value({"label": label.label, "note": label.note, "at": label.at}, env)
            if source:
                clean["source"] = source
            yield json.dumps(clean, separators=(",", ":")) + "\n"

    if out == "-":
        sys.stdout.writelines(lines())
        return ""
    in_one_step(out, lambda aside: _write(aside, lines()))
    return f"{policy.clean(out)}: {counted.taken} entries"


def _write(name: str, lines: Iterator[str]) -> None:
    with open(name, "w", encoding="ascii") as file:
        file.writelines(lines)


def _otlp(
    env: dict[str, str],
    filter_: Wanted,
    counted: Counted,
    source: str,
    endpoint: str,
    header: tuple[str, ...],
    ca: str,
) -> str:
    no_agent("jevhook ledger export --to otlp", env)
    headers = {}
    for one in header:
        name, _, variable = one.partition("=")
        value = env.get(variable, "")
        if not re.fullmatch(r"[A-Za-z0-9-]+", name) or not value or not (value.isascii() and value.isprintable()):
            raise click.BadParameter(
                f"--header-from-env {policy.shown(one)}: give NAME=VARIABLE, and set that variable to one line"
            )
        headers[name] = value
    try:
        where = otlp.endpoint(endpoint)
    except ValueError as wrong:
        raise click.BadParameter(f"--endpoint: {wrong}") from None
    rows = _rows(env, filter_, counted, source)
    try:
        sent = otlp.send(endpoint, rows, version=__version__, source=source, headers=headers, authorities=ca)
    except otlp.NotSent as wrong:
        again = f"; go on with --since {wrong.since}" if wrong.since else ""
        raise click.ClickException(
            policy.clean(f"{where}: {wrong}; it has taken {wrong.sent} records{again}")
        ) from None
    return f"{where}: {counted.taken} entries in {sent} records"
