"""The table as Parquet (pyarrow), and sums over such files by SQL (DuckDB): the extra ``parquet``.

``SQL`` is what ``ledger stats --from`` runs.  It is ISO SQL over a table ``decisions``, so the same text runs where the
files lie in a warehouse (docs/export.md).
"""

from __future__ import annotations

import datetime
import glob
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO

from .. import ledger
from .labels import Label
from .out import in_one_step
from .read import STOPS, iso
from .stats import PointStats, Stats, labelled
from .table import COLUMNS, VERSION

BATCH = 20_000  # rows of a row group: some ten MB in memory

SQL = {
    "whole": """
SELECT count(*) AS events, min(asked_at) AS first, max(asked_at) AS last,
       count(hook_ms) AS n,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY hook_ms) AS p50,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY hook_ms) AS p95,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY hook_ms) AS p99
FROM decisions WHERE origin <> 'cli' AND point_no = 0""",
    "events": """
SELECT host, decision, reason, count(*) AS events
FROM decisions WHERE origin <> 'cli' AND point_no = 0
GROUP BY host, decision, reason""",
    "calls": """
SELECT count(*) AS calls, sum(CASE WHEN judge_error IS NOT NULL THEN 1 ELSE 0 END) AS failed,
       sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
       sum(cost_micros) AS cost_micros, sum(cached) AS cached
FROM decisions WHERE origin <> 'cli' AND judge_asked AND NOT call_repeats""",
    "points": """
SELECT point,
       sum(CASE WHEN point_reason = 'out-of-scope' THEN 1 ELSE 0 END) AS elsewhere,
       sum(CASE WHEN point_reason = 'out-of-scope' THEN 0 ELSE 1 END) AS events,
       sum(CASE WHEN acted THEN 1 ELSE 0 END) AS acted
FROM decisions WHERE origin <> 'cli' AND point IS NOT NULL
GROUP BY point""",
    "point_parts": """
SELECT point, mode, judged, rule, fallback, should_stop, count(*) AS events
FROM decisions
WHERE origin <> 'cli' AND point IS NOT NULL AND coalesce(point_reason, '') <> 'out-of-scope'
GROUP BY point, mode, judged, rule, fallback, should_stop""",
    "point_times": """
SELECT point, count(hook_ms) AS n,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY hook_ms) AS p50,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY hook_ms) AS p95,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY hook_ms) AS p99,
       count(judge_ms) AS judge_n,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY judge_ms) AS judge_p50,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY judge_ms) AS judge_p95,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY judge_ms) AS judge_p99,
       sum(agreed) AS agreed, sum(lifted) AS lifted, sum(raised) AS raised, sum(unsure) AS unsure
FROM decisions
WHERE origin <> 'cli' AND point IS NOT NULL AND coalesce(point_reason, '') <> 'out-of-scope'
GROUP BY point""",
    "point_calls": """
SELECT point, count(*) AS calls, sum(CASE WHEN judge_error IS NOT NULL THEN 1 ELSE 0 END) AS failed,
       sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
       sum(cost_micros) AS cost_micros, sum(cached) AS cached
FROM decisions
WHERE origin <> 'cli' AND judge_asked AND coalesce(point_reason, '') <> 'out-of-scope'
GROUP BY point""",
}

# A label stands at some of an event's rows; the line in its first.
_ENTRIES = """
SELECT entry, decisions.id, label_said, note_said, labelled
FROM decisions JOIN (
  SELECT source AS label_source, id AS label_id, max(label) AS label_said, max(label_note) AS note_said,
         max(labelled_at) AS labelled
  FROM decisions GROUP BY source, id
) ON decisions.id = label_id AND source IS NOT DISTINCT FROM label_source
WHERE point_no = 0 AND entry IS NOT NULL ORDER BY asked_at, decisions.id"""


class NoTable(ValueError):
    """The files are not what ``write`` makes; the message names why."""


def write(out: str, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write the rows of ``table.rows`` to ``out`` in one step; how many.  Raises OSError, ImportError without pyarrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        "text": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "time": pa.timestamp("ms", "UTC"),
    }  # fmt: skip
    fields = [pa.field(column.name, types[column.kind], metadata={"about": column.about}) for column in COLUMNS]
    schema = pa.schema(fields, metadata={"jevhook.table": str(VERSION)})
    count = 0

    def fill(aside: str) -> None:
        nonlocal count
        left = iter(rows)
        with pq.ParquetWriter(aside, schema, compression="zstd") as writer:
            while batch := list(islice(left, BATCH)):
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                count += len(batch)

    in_one_step(out, fill)
    return count


def sums(files: Sequence[str], since: str = "", until: str = "", hosts: Sequence[str] = ()) -> dict[str, Any]:
    """What ``stats.Stats.json`` says, over Parquet files (names or patterns of this machine's), by SQL.

    ``since`` and ``until`` as in ``read.Wanted``.  Raises NoTable, ImportError without duckdb.
    """
    with _opened(files, since, until, hosts) as con:
        return _sums({name: _table(con, text) for name, text in SQL.items()})


def entries(
    files: Sequence[str], since: str = "", until: str = "", hosts: Sequence[str] = ()
) -> Iterator[tuple[dict[str, Any], Label | None]]:
    """The ledger lines in such files as they were, oldest first, each with what a person said about it."""
    with _opened(files, since, until, hosts) as con:
        rows = con.execute(_ENTRIES)
        while batch := rows.fetchmany(1000):
            for line, name, label, note, at in batch:
                for found in ledger.records(line)[0]:
                    if isinstance(found, dict):
                        yield found, Label(name, label, note or "", str(at), "export") if label else None


def lines(path: str) -> BinaryIO:
    """The ledger lines in one such file, as a ledger has them, from a file that is gone when it is closed.

    Raises OSError, also for no export and a missing extra.
    """
    made = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        for entry, _ in entries([glob.escape(path)]):
            made.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
    except (NoTable, ImportError) as wrong:
        made.close()
        missing = "reading Parquet needs the extra parquet: pip install 'jevhook[parquet]'"
        raise OSError(missing if isinstance(wrong, ImportError) else str(wrong)) from None
    made.seek(0)
    return made


@contextmanager
def _opened(files: Sequence[str], since: str, until: str, hosts: Sequence[str]) -> Iterator[Any]:
    """A connection with the wanted rows as ``decisions``."""
    import duckdb

    for name in files:
        if "://" in name:
            raise NoTable(f"{name[:80]!r} is no file of this machine")
    # Nothing is fetched: an extension that is not there is not looked for.
    config: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with duckdb.connect(":memory:", config=config) as con:
        try:
            con.execute("SET TimeZone = 'UTC'")
            con.execute(
                f"CREATE VIEW everything AS SELECT * FROM read_parquet([{_texts(files)}], union_by_name = true)"
            )
            found = {row[0] for row in con.execute("DESCRIBE everything").fetchall()}
            missing = [column.name for column in COLUMNS if column.name not in found]
            if missing:
                raise NoTable(f"no export of a ledger: no column {', '.join(missing[:5])}")
            con.execute(f"CREATE VIEW decisions AS SELECT * FROM everything WHERE {_where(since, until, hosts)}")
            yield con
        except duckdb.Error as wrong:
            raise NoTable(str(wrong).split("\n")[0][:300]) from None


def _texts(texts: Sequence[str]) -> str:
    """Texts as SQL; a view takes no parameters."""
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts)


def _where(since: str, until: str, hosts: Sequence[str]) -> str:
    parts = ["true"]
    if since:
        parts.append(f"asked_at >= CAST({_texts([since])} AS TIMESTAMPTZ)")
    if until:
        parts.append(f"asked_at < CAST({_texts([until])} AS TIMESTAMPTZ)")
    if hosts:
        parts.append(f"host IN ({_texts(hosts)})")
    return " AND ".join(parts)


def _table(con: Any, text: str) -> list[dict[str, Any]]:
    cursor = con.execute(text)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _sums(found: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The answers to SQL as one object, in the shape of ``stats.Stats``."""
    whole = found["whole"][0]
    made = Stats(events=whole["events"], first=_iso(whole["first"]), last=_iso(whole["last"]))
    for row in found["events"]:
        made.hosts[row["host"] or "unknown"] += row["events"]
        made.decisions[row["decision"] or "none"] += row["events"]
        if row["reason"]:
            made.reasons[row["reason"]] += row["events"]
    made.money.update(_calls(found["calls"][0]))
    for row in found["points"]:
        made.points[row["point"]] = PointStats(events=row["events"], elsewhere=row["elsewhere"], acted=row["acted"])
    for row in found["point_parts"]:
        point, number = made.points[row["point"]], row["events"]
        if row["mode"]:
            point.modes[row["mode"]] += number
        point.judged[row["judged"] or "none"] += number
        if row["rule"]:
            point.rules[row["rule"]] += number
        if row["fallback"]:
            point.fallbacks[row["fallback"]] += number
        if row["should_stop"] is not None:
            point.labels[labelled(row["judged"] in STOPS, row["should_stop"])] += number
    for row in found["point_times"]:
        agreement = {word: row[word] or 0 for word in ("agreed", "lifted", "raised", "unsure")}
        made.points[row["point"]].agreement.update(agreement)
    for row in found["point_calls"]:
        made.points[row["point"]].money.update(_calls(row))
    said = made.json()
    said["hook_ms"] = _spread(whole, "")
    for row in found["point_times"]:
        said["points"][row["point"]] |= {"hook_ms": _spread(row, ""), "judge_ms": _spread(row, "judge_")}
    return said


def _calls(row: Mapping[str, Any]) -> dict[str, int]:
    keys = ("calls", "failed", "input_tokens", "output_tokens", "cost_micros", "cached")
    return {key: int(row[key]) for key in keys if row[key]}


def _spread(row: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    times = {f"p{one}": row[f"{prefix}p{one}"] for one in (50, 95, 99)}
    return {"n": row[f"{prefix}n"], **{name: float(f"{ms:.3g}") for name, ms in times.items() if ms is not None}}


def _iso(at: datetime.datetime | None) -> str:
    return "" if at is None else iso(at)
