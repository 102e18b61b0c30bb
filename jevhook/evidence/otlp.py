"""The table as OpenTelemetry logs, sent as HTTP/protobuf to a collector: the extra ``otlp``.

One log record a row, each value that is there as the attribute ``jevhook.<column>``.  Where it goes is what the caller
says and nothing else: no ``OTEL_*`` variable, no proxy, no netrc and no redirection counts, for a repository can set a
host's environment and with it a person's shell.
"""

from __future__ import annotations

import datetime
import logging
import os
import time
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from ..systemone.client import address
from .read import iso

BATCH = 500  # records of one request
TIMEOUT = 10.0  # seconds for one request, tries included
LEFT_OUT = ("entry", "asked_at", "point_no")  # columns that are no attribute: too large, or stand elsewhere


class NotSent(Exception):
    """Why the collector has not taken everything; ``sent`` records it has, ``since`` the time of the first it has not."""

    def __init__(self, why: str, sent: int, since: str) -> None:
        super().__init__(why)
        self.sent = sent
        self.since = since


def endpoint(url: str) -> str:
    """The address of a collector's logs: ``url`` with ``/v1/logs`` at its end, as OTLP has it.

    Raises ValueError when it is not plain https (http only on this machine).
    """
    where = address(url)
    path = where.path.rstrip("/")
    path = path if path.endswith("/v1/logs") else f"{path}/v1/logs"
    return f"{'https' if where.secure else 'http'}://{where.netloc}{path}"


def send(
    url: str,
    rows: Iterable[Mapping[str, Any]],
    *,
    version: str,
    source: str = "",
    headers: Mapping[str, str] | None = None,
    authorities: str = "",
    timeout: float = TIMEOUT,
) -> int:
    """Send the rows of ``table.rows`` to ``endpoint(url)``; how many.  Raises NotSent, ImportError without the SDK.

    ``authorities`` is a file of certificates to trust instead of the usual ones.
    """
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OTEL_")}
    try:
        return _send(endpoint(url), rows, version, source, dict(headers or {}), authorities, timeout)
    finally:
        os.environ.update(hidden)


def _send(
    where: str,
    rows: Iterable[Mapping[str, Any]],
    version: str,
    source: str,
    headers: dict[str, str],
    authorities: str,
    timeout: float,
) -> int:
    import requests
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    logging.getLogger("opentelemetry").disabled = True  # what it has to say is said by NotSent
    for name in ("opentelemetry.exporter.otlp.proto.http._log_exporter", "opentelemetry.sdk"):
        logging.getLogger(name).disabled = True
    about = {"service.name": "jevhook", "service.version": version}
    if source:
        about["service.instance.id"] = source
    resource, scope = Resource(about), InstrumentationScope("jevhook.ledger", version)
    last: list[requests.Response | requests.RequestException] = []  # the exporter itself tells only whether

    class Heard(requests.Session):
        def request(self, *args: Any, **options: Any) -> requests.Response:
            try:
                response = super().request(*args, **options)
            except requests.RequestException as wrong:
                last.append(wrong)
                raise
            last.append(response)
            return response

    with Heard() as session:
        session.trust_env = False
        exporter = OTLPLogExporter(
            endpoint=where,
            headers=headers,
            timeout=timeout,
            compression=Compression.Gzip,
            certificate_file=authorities or None,
            session=session,
        )
        sent, left = 0, iter(rows)
        while batch := list(islice(left, BATCH)):
            last.clear()
            result = exporter.export([_record(row, resource, scope) for row in batch])
            why, rejected = _said(last[-1] if last else None, result.name == "SUCCESS")
            if why:
                raise NotSent(why, sent + (len(batch) - rejected if rejected else 0), _iso(batch[0].get("asked_at")))
            sent += len(batch)
    return sent


def _said(response: Any, fine: bool) -> tuple[str, int]:
    """(what is wrong with the collector's answer, how many records it refused of a batch that it took)."""
    from requests import RequestException, Timeout
    from requests.exceptions import SSLError

    if response is None or isinstance(response, RequestException):
        if isinstance(response, SSLError):
            return "the collector's certificate is not one to trust (--ca FILE names others)", 0
        late = isinstance(response, Timeout)
        return "the collector did not answer in time" if late else "the collector could not be reached", 0
    if not 200 <= response.status_code < 300:  # the exporter takes a redirection for success
        return f"the collector answered {response.status_code}", 0
    if not fine:
        return "the collector's answer could not be read", 0
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

    if "json" in response.headers.get("Content-Type", ""):
        return "", 0
    try:
        part = ExportLogsServiceResponse.FromString(response.content).partial_success
    except DecodeError:
        return "the collector's answer is no OTLP", 0
    if not part.rejected_log_records:
        return "", 0
    return (
        f"the collector refused {part.rejected_log_records} records: {part.error_message[:200]}",
        part.rejected_log_records,
    )


def _record(row: Mapping[str, Any], resource: Any, scope: Any) -> Any:
    from opentelemetry._logs import LogRecord, SeverityNumber
    from opentelemetry.sdk._logs import ReadableLogRecord

    judged = row.get("judged") if row.get("acted") else None
    trouble = row.get("fallback") or str(row.get("reason") or "").startswith("error:")
    grave = judged in ("deny", "withhold") or trouble
    severity = (
        SeverityNumber.WARN if grave else SeverityNumber.INFO2 if judged in ("ask", "trim") else SeverityNumber.INFO
    )
    at = row.get("asked_at")
    attributes = {f"jevhook.{name}": value for name, value in row.items() if value is not None and name not in LEFT_OUT}
    for name, value in attributes.items():
        if isinstance(value, datetime.datetime):
            attributes[name] = _iso(value)
    attributes["jevhook.point_no"] = row["point_no"]
    return ReadableLogRecord(
        LogRecord(
            timestamp=_nanoseconds(at) if isinstance(at, datetime.datetime) else None,
            observed_timestamp=time.time_ns(),
            severity_text="WARN" if grave else "INFO",
            severity_number=severity,
            body=_body(row),
            attributes=attributes,
            event_name="jevhook.decision" if row.get("origin") != "cli" else "jevhook.change",
        ),
        resource,
        scope,
    )


def _body(row: Mapping[str, Any]) -> str:
    """One line for a person: what was judged about which tool, by which rule, and the reason."""
    words = [row.get("judged") or row.get("decision") or row.get("event"), row.get("tool"), row.get("rule")]
    head = " ".join(str(word) for word in words if word)
    return f"{head}: {row['said']}" if row.get("said") else head


def _nanoseconds(at: datetime.datetime) -> int | None:
    micros = (at - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)) // datetime.timedelta(microseconds=1)
    return micros * 1000 if 0 <= micros * 1000 < 1 << 63 else None


def _iso(at: object) -> str:
    return iso(at) if isinstance(at, datetime.datetime) else ""
