"""The ledger elsewhere: real Parquet read back by DuckDB, a real OTLP receiver, and nothing sent that nobody named."""

from __future__ import annotations

import datetime
import gzip
import http.server
import json
import os
import random
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jevhook import ledger
from jevhook.cli import main
from jevhook.evidence import labels, table
from jevhook.evidence.read import entries
from jevhook.evidence.stats import stats

KEY = "ghp_0123456789abcdefABCDEF0123456789abcd"


def some(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Lines of every kind: rules alone, judges that answer and fail, two points that share a call, shadow, by hand."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        call = {
            "asked": True, "judge": "typesafe/jev", "provider": "typesafe", "model": "jev-1", "latency_ms": rng.uniform(20, 900),
            "usage": {"input_tokens": rng.randrange(2000), "output_tokens": 4, "cost_micros": rng.randrange(300)},
            "answers": {"asked": {"p": round(rng.random(), 3)}, "loss": {"value": 2}},
        }  # fmt: skip
        kind = rng.choice(("plain", "plain", "stop", "judged", "failed", "refused", "after", "shadow", "none", "hand"))
        at = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC) + datetime.timedelta(minutes=7 * number)
        point: dict[str, Any] = {
            "point": "tool.risk", "version": 1, "mode": "active", "source": "rules", "judged": "none", "acted": False, "outcome": "none",
        }  # fmt: skip
        entry: dict[str, Any] = {
            "schema": 1, "origin": "hook", "points": [point], "host": rng.choice(("claude", "codex")), "event": "PreToolUse",
            "kind": "before-tool", "subject": {"session": f"s{number % 7}", "tool": "Bash", "project": "/home/dev/shop"},
            "policy": "default", "decision": "none", "id": f"{number:08}-0000", "hook_ms": round(rng.uniform(5, 300), 2),
            "asked_at": f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z",
        }  # fmt: skip
        if kind in ("stop", "judged", "failed", "refused", "shadow"):
            stop = {
                "judged": rng.choice(("ask", "deny")),
                "acted": True,
                "rule": f"r.{number % 5}",
                "said": f"no {KEY}",
            }
            point |= {**stop, "findings": [{"effect": "delete", "target": "home", "path": "/home/dev"}]}
            point["rules"] = [{"id": point["rule"], "severity": point["judged"], "mode": "active"}]
            entry["decision"] = point["outcome"] = point["judged"]
        if kind == "shadow":
            point |= {"mode": "shadow", "acted": False, "outcome": "none", "reason": "shadow"}
            entry["decision"] = "none"
        if kind == "judged":
            point |= {"judge": call, "thresholds": {"yes": 0.8, "no": 0.2}}
        if kind == "failed":
            point |= {
                "judge": {**call, "answers": {}, "usage": {}, "error": {"kind": "timeout"}},
                "reason": "error:timeout",
            }
        if kind == "refused":
            point |= {"judge": {**call, "asked": False, "usage": {}, "error": {"kind": "breaker"}}, "reason": "breaker"}
        if kind == "after":
            both = {"version": 1, "mode": "active", "judged": "none", "acted": False, "judge": call, "source": "rules"}
            entry["points"] = [
                {**both, "point": "tool.injection"},
                {**both, "point": "tool.admission", **({"reason": "out-of-scope"} if number % 2 else {})},
            ]
        if kind == "none":
            entry |= {"points": [], "reason": rng.choice(("off", "error:input")), "warnings": ["a", "b"]}
        if kind == "hand":
            entry |= {"origin": "cli", "points": [], "event": "jevhook off", "reason": "off"}
        made.append(entry)
    return made


def write(lines: list[dict[str, Any]]) -> None:
    place = Path(ledger.path(os.environ))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(json.dumps(one) + "\n" for one in lines))
    for number, line in enumerate(lines):
        if number % 3 == 0 and line["origin"] == "hook":
            labels.add(os.environ, line["id"], "good" if number % 2 else "bad", note="looked at it")


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["ledger", *arguments]) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


# -- rows ------------------------------------------------------------------------------------------------------


def test_every_point_is_a_row_and_an_event_without_one_too() -> None:
    lines = some(60)
    for line in lines:
        rows = list(table.rows(line))
        assert len(rows) == max(1, len(line["points"]))
        assert [row["point_no"] for row in rows] == list(range(len(rows)))
        assert {row["id"] for row in rows} == {line["id"]}
        assert all(tuple(row) == table.NAMES for row in rows)
        assert [row["entry"] is None for row in rows] == [number > 0 for number in range(len(rows))]


def test_a_call_that_points_share_is_marked_where_it_repeats() -> None:
    after = next(line for line in some(60) if len(line["points"]) == 2)
    assert [row["call_repeats"] for row in table.rows(after)] == [False, True]


def test_values_of_the_wrong_kind_are_missing_and_nothing_breaks() -> None:
    odd: list[Any] = [None, True, "x", "\ud800", -1, 1 << 70, 1e400, float("nan"), [], {}, {"a": "b"}, "9" * 200_000]
    for value in odd:
        point = {
            "point": "tool.risk",
            **dict.fromkeys(("judge", "judged", "acted", "rule", "findings", "rules"), value),
        }
        line = {**dict.fromkeys((*table.NAMES, "subject", "warnings"), value), "points": [point], "schema": 1}
        for row in table.rows(line):
            for column in table.COLUMNS:
                found = row[column.name]
                types: dict[str, type] = {
                    "text": str,
                    "int": int,
                    "float": float,
                    "bool": bool,
                    "time": datetime.datetime,
                }
                assert found is None or type(found) is types[column.kind], column.name
                if isinstance(found, str):
                    assert len(found.encode()) <= 4 * table.MAX_TEXT


def test_secrets_are_redacted_once_more() -> None:
    line = {**some(1)[0], "decided": f"export T={KEY}", "told": "swordfish-tango-99"}
    (row,) = table.rows(line, env={"SERVICE_PASSWORD": "swordfish-tango-99"})
    assert KEY not in json.dumps(row, default=str) and "swordfish" not in json.dumps(row, default=str)


# -- Parquet ---------------------------------------------------------------------------------------------------


@pytest.fixture
def duck() -> Iterator[Any]:
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed: scripts/venv dev,parquet")
    duckdb = pytest.importorskip("duckdb", reason="the extra parquet is not installed: scripts/venv dev,parquet")
    with duckdb.connect(":memory:") as con:
        yield con


def test_parquet_read_back_by_duckdb_has_equal_counts(
    duck: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from jevhook.evidence import parquet

    monkeypatch.setattr(parquet, "BATCH", 100)  # several row groups
    lines = some(400)
    write(lines)
    out = tmp_path / "x.parquet"
    rows = sum(max(1, len(line["points"])) for line in lines)
    told = said(capsys, "export", "--to", "parquet", "--out", str(out), "--source", "laptop-7")
    assert f"400 entries in {rows} rows" in told
    assert out.stat().st_mode & 0o777 == 0o600
    one = f"FROM read_parquet('{out}')"
    assert duck.execute(f"SELECT count(*), count(DISTINCT id) {one}").fetchone() == (rows, 400)
    decisions = dict(duck.execute(f"SELECT decision, count(*) {one} WHERE point_no = 0 GROUP BY 1").fetchall())
    assert decisions == {word: sum(line["decision"] == word for line in lines) for word in decisions}
    assert duck.execute(f"SELECT DISTINCT source {one}").fetchall() == [("laptop-7",)]
    types = {name: kind for name, kind, *_ in duck.execute(f"DESCRIBE SELECT * {one}").fetchall()}
    kinds = {
        "text": "VARCHAR",
        "int": "BIGINT",
        "float": "DOUBLE",
        "bool": "BOOLEAN",
        "time": "TIMESTAMP WITH TIME ZONE",
    }
    assert types == {column.name: kinds[column.kind] for column in table.COLUMNS}
    assert duck.execute(f"SELECT count(*) {one} WHERE entry LIKE '%{KEY}%' OR said LIKE '%{KEY}%'").fetchone() == (0,)
    assert [found for found, _ in parquet.entries([str(out)])] == [
        json.loads(json.dumps(line).replace(KEY, "[redacted]")) for line in lines
    ]


def test_the_sums_by_sql_are_the_sums_of_the_ledger(
    duck: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(some(500, seed=3))
    out = str(tmp_path / "x.parquet")
    said(capsys, "export", "--to", "parquet", "--out", out)
    here = stats(entries(os.environ), labels.labels(os.environ)).json()
    assert here["points"]["tool.risk"]["false_alarms"]["n"] and here["judge"]["cost_micros"], "something to compare"
    there = json.loads(said(capsys, "stats", "--from", out, "--json"))
    there.pop("skipped")
    assert rounded(there) == rounded(here)
    for part, mine in ((there, here), (there["points"]["tool.risk"], here["points"]["tool.risk"])):
        assert part["hook_ms"] == pytest.approx(mine["hook_ms"], rel=0.011), "the ledger's own is right to one percent"
    assert there["points"]["tool.risk"]["judge_ms"]["n"] > 20
    lines = said(capsys, "stats", "--from", out).splitlines()
    assert [line for line in lines if " ms" not in line] == [
        line for line in said(capsys, "stats").splitlines() if " ms" not in line
    ]


def rounded(sums: Any) -> Any:
    """``sums`` without its percentiles, how many times there were instead."""
    if not isinstance(sums, dict):
        return sums
    return {name: value["n"] if name.endswith("_ms") else rounded(value) for name, value in sums.items()}


def test_many_files_are_one_ledger_and_times_and_hosts_choose(
    duck: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = some(300, seed=5)
    write(lines)
    for name, span in (("a", ("--until", "2026-11-02")), ("b", ("--since", "2026-11-02"))):
        said(capsys, "export", "--to", "parquet", "--out", str(tmp_path / f"{name}.parquet"), *span)
    every = str(tmp_path / "*.parquet")

    def shown(*more: str) -> Any:
        return json.loads(said(capsys, "stats", "--json", *more))

    from_all, here = shown("--from", every), shown()
    assert rounded(from_all["points"]) == rounded(here["points"]) and from_all["events"] == here["events"]
    more = ("--since", "2026-11-01T12:00Z", "--until", "2026-11-02T06:00Z", "--host", "codex")
    assert rounded(shown("--from", every, *more)["points"]) == rounded(shown(*more)["points"])
    assert 0 < shown("--from", every, *more)["events"] < here["events"]


def test_a_report_is_made_from_parquet_too(duck: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(some(100))
    out = str(tmp_path / "x.parquet")
    said(capsys, "export", "--to", "parquet", "--out", out)
    pages = []
    for more in ([], ["--from", out]):
        assert main(["report", "--out", "-", *more]) == 0
        pages.append(capsys.readouterr().out)
    bodies = [page[page.index("<main>") : page.index("</main>")].replace(KEY, "[redacted]") for page in pages]
    assert bodies[0] == bodies[1]


def test_a_replay_reads_parquet_as_it_reads_the_ledger(
    duck: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = some(40)
    for line in lines:
        line["state"] = {"tool": "Bash", "input": {"command": "git reset --hard"}}
        line["subject"]["tool_call"] = line["id"]
    write(lines)
    out = tmp_path / "x.parquet"
    said(capsys, "export", "--to", "parquet", "--out", str(out))
    told = []
    for source in ("ledger", str(out)):
        assert main(["replay", "--json", source]) == 0
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        told.append([{k: v for k, v in one.items() if k not in ("where", "ms", "hook_ms")} for one in found])
    assert told[0] == told[1] and len(told[0]) > 20
    assert any("git.reset-hard" in json.dumps(one) for one in told[1])
    (tmp_path / "y.parquet").write_bytes(b"PAR1 and no more")
    assert main(["replay", str(tmp_path / "y.parquet")]) == 2
    assert "No magic bytes" in capsys.readouterr().err


def test_json_lines_into_a_pipe_that_closes_are_no_error() -> None:
    write(some(2000))
    command = f"{sys.executable} -m jevhook ledger export --to jsonl | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout)["schema"] == 1 and done.stderr == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("https://example.net/x.parquet", "is no file of this machine"),
        ("s3://bucket/x.parquet", "is no file of this machine"),
        ("missing.parquet", "No files found"),
        ("it's; DROP TABLE x.parquet", "No files found"),
        ("text.parquet", "too small to be a Parquet file"),
        ("other.parquet", "no export of a ledger: no column source, id"),
    ],
)
def test_what_is_no_export_is_named(
    duck: Any, tmp_path: Path, name: str, text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.parquet").write_text("no")
    duck.execute("COPY (SELECT 1 AS a) TO 'other.parquet' (FORMAT parquet)")
    assert text in said(capsys, "stats", "--from", name, code=1)


def test_filters_that_sql_does_not_know_are_refused(duck: Any, capsys: pytest.CaptureFixture[str]) -> None:
    err = said(capsys, "stats", "--from", "x.parquet", "--tool", "Bash", code=2)
    assert "--from goes with --since, --until and --host only" in err


# -- JSON lines ------------------------------------------------------------------------------------------------


def test_json_lines_carry_the_label_and_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = some(50)
    write(lines)
    found = [json.loads(line) for line in said(capsys, "export", "--to", "jsonl").splitlines()]
    assert [one["id"] for one in found] == [one["id"] for one in lines]
    assert sum("label" in one for one in found) == len(labels.labels(os.environ)) > 5
    assert KEY not in json.dumps(found)
    out = tmp_path / "x.jsonl"
    said(capsys, "export", "--to", "jsonl", "--out", str(out), "--host", "codex", "--source", "laptop-7")
    assert {json.loads(line)["source"] for line in out.read_text().splitlines()} == {"laptop-7"}
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == [
        one["id"] for one in lines if one["host"] == "codex"
    ]
    assert "is there already" in said(capsys, "export", "--to", "jsonl", "--out", str(out), code=1)
    said(capsys, "export", "--to", "jsonl", "--out", str(out), "--force")
    assert len(out.read_text().splitlines()) == 50


# -- OTLP ------------------------------------------------------------------------------------------------------


class Collector:
    """An OTLP/HTTP receiver on loopback, with TLS where there is a ``certificate`` (a file with its key).

    ``answer(number of the request)`` is (status, refused records, headers).
    """

    def __init__(self, answer: Callable[[int], tuple[int, int, dict[str, str]]], certificate: str = "") -> None:
        from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as wire

        self.requests: list[Any] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                outer.paths.append(self.path)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                outer.requests.append(wire.ExportLogsServiceRequest.FromString(body))
                status, refused, headers = answer(len(outer.requests))
                reply = wire.ExportLogsServiceResponse()
                if refused:
                    reply.partial_success.rejected_log_records = refused
                    reply.partial_success.error_message = "too old"
                data = reply.SerializeToString()
                self.send_response(status)
                for name, value in {
                    "Content-Type": "application/x-protobuf",
                    "Content-Length": str(len(data)),
                    **headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.url = f"https://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def records(self) -> list[Any]:
        return [
            record
            for request in self.requests
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]


@pytest.fixture
def collector() -> Iterator[Callable[..., Collector]]:
    for name in ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http", "opentelemetry.proto"):
        pytest.importorskip(name, reason="the extra otlp is not installed: scripts/venv dev,otlp")
    made: list[Collector] = []

    def start(
        answer: Callable[[int], tuple[int, int, dict[str, str]]] = lambda _: (200, 0, {}), certificate: str = ""
    ) -> Collector:
        made.append(Collector(answer, certificate))
        return made[-1]

    yield start
    for one in made:
        one.server.shutdown()
        one.server.server_close()


def values(record: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in record.attributes}


def test_a_collector_gets_every_row_with_its_attributes(
    collector: Callable[..., Collector], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLLECTOR_AUTH", "Bearer of-good-news")
    lines = some(700)
    write(lines)
    there = collector()
    told = said(
        capsys, "export", "--to", "otlp", "--endpoint", there.url, "--source", "laptop-7",
        "--header-from-env", "Authorization=COLLECTOR_AUTH",
    )  # fmt: skip
    rows = [row for line in lines for row in table.rows(line)]
    assert f"700 entries in {len(rows)} records" in told
    assert len(there.records) == len(rows) and len(there.requests) == -(-len(rows) // 500)
    assert set(there.paths) == {"/v1/logs"}
    assert {headers["content-type"] for headers in there.headers} == {"application/x-protobuf"}
    assert {headers["authorization"] for headers in there.headers} == {"Bearer of-good-news"}
    for record, row in zip(there.records, rows, strict=True):
        found = values(record)
        assert (found["jevhook.id"], found["jevhook.point_no"]) == (row["id"], row["point_no"])
        assert {f"jevhook.{name}" for name in table.NAMES} >= found.keys()
        assert "jevhook.entry" not in found and "" not in found.values()
        assert record.time_unix_nano == int(row["asked_at"].timestamp() * 1000) * 1_000_000
        assert record.event_name == ("jevhook.change" if row["origin"] == "cli" else "jevhook.decision")
        if row["point"]:
            assert found["jevhook.judged"] == row["judged"] and found["jevhook.hook_ms"] == row["hook_ms"]
    grave = [
        record
        for record in there.records
        if values(record).get("jevhook.judged") == "deny" and values(record)["jevhook.acted"]
    ]
    assert grave and {record.severity_number for record in grave} == {13}
    assert "r." in grave[0].body.string_value and "no " in grave[0].body.string_value
    resource = {one.key: one.value.string_value for one in there.requests[0].resource_logs[0].resource.attributes}
    assert resource["service.name"] == "jevhook" and resource["service.instance.id"] == "laptop-7"
    assert KEY.encode() not in b"".join(request.SerializeToString() for request in there.requests)
    assert sum("jevhook.label" in values(record) for record in there.records) > 50


def test_no_variable_and_no_redirection_sends_it_elsewhere(
    collector: Callable[..., Collector],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    foreign = collector()
    there = collector()
    for name in (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
    ):
        monkeypatch.setenv(name, foreign.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-planted=1")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "planted=1")
    (Path(os.environ["HOME"]) / ".netrc").write_text("machine 127.0.0.1 login planted password planted\n")
    write(some(20))
    said(capsys, "export", "--to", "otlp", "--endpoint", there.url + "/")
    assert there.records and not foreign.requests
    assert "x-planted" not in there.headers[0] and "authorization" not in there.headers[0]
    assert "planted" not in str(there.requests[0].resource_logs[0].resource)
    assert os.environ["OTEL_RESOURCE_ATTRIBUTES"] == "planted=1"
    away = collector(lambda _: (307, 0, {"Location": f"{foreign.url}/v1/logs"}))
    assert "answered 307; it has taken 0 records" in said(
        capsys, "export", "--to", "otlp", "--endpoint", away.url, code=1
    )
    assert not foreign.requests


def test_over_tls_only_to_a_certificate_that_is_trusted(
    collector: Callable[..., Collector], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from jevhook.evidence import otlp

    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *names], capture_output=True, check=True)
    both = tmp_path / "both.pem"
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    lines = some(20)
    write(lines)
    there = collector(certificate=str(both))
    with pytest.raises(otlp.NotSent, match="certificate is not one to trust") as wrong:
        otlp.send(there.url, (row for line in lines for row in table.rows(line)), version="1", timeout=1.0)
    assert (wrong.value.sent, wrong.value.since, there.requests) == (0, "2026-11-01T00:00:00.000Z", [])
    said(capsys, "export", "--to", "otlp", "--endpoint", there.url, "--ca", str(certificate))
    assert len(there.records) == sum(max(1, len(line["points"])) for line in lines)


def test_nobody_there_is_told_from_nobody_answering(collector: Callable[..., Collector]) -> None:
    from jevhook.evidence import otlp

    gone = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    with pytest.raises(otlp.NotSent, match="did not answer in time"):  # it listens, and never answers
        otlp.send(url, table.rows(some(1)[0]), version="1", timeout=0.5)
    gone.close()
    with pytest.raises(otlp.NotSent, match="could not be reached"):
        otlp.send(url, table.rows(some(1)[0]), version="1", timeout=0.5)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda n: (200, 0, {}) if n == 1 else (400, 0, {}), "answered 400; it has taken 500 records; go on with --since 2026-11-0"),
        (lambda n: (401, 0, {}), "answered 401; it has taken 0 records"),
        (lambda n: (200, 7, {}), "the collector refused 7 records: too old; it has taken 493 records"),
    ],
)  # fmt: skip
def test_what_a_collector_did_not_take_is_an_error_that_says_where_to_go_on(
    collector: Callable[..., Collector], answer: Any, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(some(700))
    assert text in said(capsys, "export", "--to", "otlp", "--endpoint", collector(answer).url, code=1)


def test_a_busy_collector_is_asked_again(
    collector: Callable[..., Collector], capsys: pytest.CaptureFixture[str]
) -> None:
    write(some(10))
    there = collector(lambda n: (503, 0, {"Retry-After": "0"}) if n == 1 else (200, 0, {}))
    assert "10 entries in" in said(capsys, "export", "--to", "otlp", "--endpoint", there.url)
    assert len(there.requests) == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--to", "otlp"], "--endpoint URL goes with --to otlp"),
        (["--to", "jsonl", "--endpoint", "https://c.example.net"], "--endpoint URL goes with --to otlp"),
        (["--to", "otlp", "--endpoint", "http://c.example.net"], "plain http is only allowed on this machine"),
        (["--to", "otlp", "--endpoint", "https://me:pw@c.example.net"], "carries no credentials"),
        (["--to", "otlp", "--endpoint", "ftp://c.example.net"], "starts with https://"),
        (
            ["--to", "otlp", "--endpoint", "https://c.example.net", "--header-from-env", "Authorization"],
            "NAME=VARIABLE",
        ),
        (
            ["--to", "otlp", "--endpoint", "https://c.example.net", "--header-from-env", "A=NOT_SET_ANYWHERE"],
            "NAME=VARIABLE",
        ),
        (["--to", "otlp", "--endpoint", "https://c.example.net", "--header-from-env", "A=TWO_LINES"], "to one line"),
        (["--to", "otlp", "--endpoint", "https://c.example.net", "--header-from-env", "A b=HOME"], "NAME=VARIABLE"),
        (["--to", "otlp", "--endpoint", "https://c.example.net", "--ca", "not-there.pem"], "there is no such file"),
        (["--to", "parquet"], "--to parquet needs --out FILE"),
        (["--to", "csv"], "'jsonl', 'parquet', 'otlp'"),
    ],
)
def test_bad_options_are_named(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWO_LINES", "a\nX-Planted: b")
    write(some(3))
    assert text in said(capsys, "export", *arguments, code=2)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("", "/v1/logs"),
        ("/", "/v1/logs"),
        ("/otlp", "/otlp/v1/logs"),
        ("/v1/logs", "/v1/logs"),
        ("/a/v1/logs/", "/a/v1/logs"),
    ],
)
def test_the_address_ends_as_otlp_has_it(given: str, path: str) -> None:
    from jevhook.evidence.otlp import endpoint

    assert endpoint(f"https://c.example.net{given}") == f"https://c.example.net{path}"


def test_an_agent_sends_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    write(some(3))
    err = said(capsys, "export", "--to", "otlp", "--endpoint", "http://127.0.0.1:9", code=1)
    assert "is for a person" in err


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["ledger", "export", "--to", "parquet", "--out", "x.parquet"], "parquet"),
        (["ledger", "export", "--to", "otlp", "--endpoint", "http://127.0.0.1:9"], "otlp"),
        (["ledger", "stats", "--from", "x.parquet"], "parquet"),
        (["report", "--from", "x.parquet"], "parquet"),
    ],
)
def test_without_the_extra_one_line_says_what_to_install(arguments: list[str], extra: str, tmp_path: Path) -> None:
    hide = (
        "import sys\nfor m in ('pyarrow', 'duckdb', 'opentelemetry', 'opentelemetry.exporter'): sys.modules[m] = None\n"
    )
    code = f"{hide}from jevhook.cli import main\nsys.exit(main({arguments!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert f"pip install 'jevhook[{extra}]'" in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_page_about_it_has_every_column_and_the_very_sql() -> None:
    from jevhook.evidence import parquet

    page = (Path(__file__).resolve().parents[2] / "docs/export.md").read_text(encoding="utf-8")
    for column in table.COLUMNS:
        assert f"| `{column.name}` | {column.kind} | {column.about} |" in page
    for text in parquet.SQL.values():
        assert text.strip() in page
