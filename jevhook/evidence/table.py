"""The ledger as one flat table: what goes to a warehouse (``parquet``) and to a collector (``otlp``).

A row is what one point did in one event; an event that no point was asked about has one row without a point.  What
belongs to the whole event stands in each of its rows, so count events where ``point_no`` is 0.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..text.redact import redact_value
from .labels import Label
from .read import points_of
from .stats import agreement, fallback
from .truth import should_stop

VERSION = 1  # of the table; a column that is added does not change it
MAX_TEXT = 100_000  # characters of a text
Kind = Literal["text", "int", "float", "bool", "time"]


@dataclass(frozen=True)
class Column:
    """``kind``: text is UTF-8, int 64 bits, float 64 bits, time UTC in milliseconds.  Any value may be missing."""

    name: str
    kind: Kind
    about: str


COLUMNS = (
    Column("source", "text", "whose ledger: what `--source` said when it was exported"),
    Column("id", "text", "the event; the same in all of its rows"),
    Column("point_no", "int", "0 for the event's first row; with `id` and `source` it names the row"),
    Column("asked_at", "time", "when the host asked"),
    Column("origin", "text", "`hook`: an event; `cli`: what a person changed by a command"),
    Column("host", "text", "the agent program"),
    Column("event", "text", "the host's own name of the event"),
    Column("kind", "text", "`before-tool`, `after-tool` or `other`"),
    Column("decision", "text", "what the host was told"),
    Column("decided", "text", "what was decided, where the host could not be told that"),
    Column("told", "text", "why it was told something else"),
    Column("reason", "text", "why the event as a whole went another way: `error:…`, `off`, `timeout`"),
    Column("policy", "text", "the policy's name"),
    Column("session", "text", "the host's session"),
    Column("tool", "text", "the tool's name"),
    Column("tool_call", "text", "the host's id of the call"),
    Column("project", "text", "the working directory"),
    Column("actor", "text", "`main` or `sub-agent`"),
    Column("permission_mode", "text", "the host's permission mode"),
    Column("hook_ms", "float", "how long the hook took, in milliseconds"),
    Column("warnings", "int", "how many warnings the line carries"),
    Column("state_digest", "text", "keyed digest of the call; never comparable across machines"),
    Column("point", "text", "the decision point, such as `tool.risk`; missing where there was none"),
    Column("point_version", "int", "its version"),
    Column("mode", "text", "`active` or `shadow`"),
    Column("by", "text", "what decided: `rules`, `judge`, `fallback`"),
    Column("judged", "text", "what the point judged, in shadow too"),
    Column("acted", "bool", "whether that was done"),
    Column("outcome", "text", "what it came to: in shadow `none`"),
    Column("rule", "text", "the rule that spoke"),
    Column("said", "text", "the reason given"),
    Column("effects", "text", "the effects found, such as `delete home, send remote`"),
    Column("point_reason", "text", "why the point went another way: `error:…`, `breaker`, `budget`, `shadow`, `out-of-scope`"),
    Column("fallback", "text", "the same, where a judge was missed"),
    Column("judge_asked", "bool", "whether a call was made"),
    Column("judge", "text", "the provider"),
    Column("model", "text", "the model"),
    Column("judge_ms", "float", "how long the call took, in milliseconds"),
    Column("judge_error", "text", "the kind of its failure"),
    Column("input_tokens", "int", "as the service reported"),
    Column("output_tokens", "int", "as the service reported"),
    Column("cost_micros", "int", "its cost in micro-dollars, where reported"),
    Column("cached", "int", "1 where the answer came from memory"),
    Column("call_repeats", "bool", "the call stands in an earlier row of the event too: points after a tool share one"),
    Column("answers", "text", "question to probability or value, as JSON"),
    Column("agreed", "int", "how often the judge agreed with the rules"),
    Column("lifted", "int", "… saw nothing where they did"),
    Column("raised", "int", "… saw something where they did not"),
    Column("unsure", "int", "… was not sure enough to matter"),
    Column("should_stop", "bool", "whether this point should have stopped it, by a person's label; missing where the label is not about the point"),
    Column("label", "text", "`good` or `bad`: what a person said about the event"),
    Column("label_note", "text", "what the person added"),
    Column("labelled_at", "time", "when"),
    Column("entry", "text", "the whole ledger line as JSON, in the event's first row"),
)  # fmt: skip
NAMES = tuple(column.name for column in COLUMNS)
_KINDS = {column.name: column.kind for column in COLUMNS}


def rows(
    entry: Mapping[str, Any], label: Label | None = None, env: Mapping[str, str] | None = None, source: str = ""
) -> Iterator[dict[str, Any]]:
    """The rows of one entry of ``read.entries``, each with all of NAMES.

    Secrets are redacted once more, also the values of secret-like variables of ``env``: the line may be an older
    version's.  A value of the wrong kind is missing (None).
    """
    entry = redact_value(dict(entry), env)
    subject = entry.get("subject")
    subject = subject if isinstance(subject, dict) else {}
    warnings = entry.get("warnings")
    whole = {
        **{
            name: entry.get(name) for name in ("id", "asked_at", "host", "event", "kind", "decision", "decided", "told")
        },
        **{name: entry.get(name) for name in ("reason", "policy", "hook_ms", "state_digest")},
        **{name: subject.get(name) for name in ("session", "tool", "tool_call", "project", "actor", "permission_mode")},
        "origin": entry.get("origin", "hook"),
        "source": source or None,
        "warnings": len(warnings) if isinstance(warnings, list) else 0,
    }
    points = points_of(entry)
    truth = should_stop(entry, label) if label else {}
    seen: list[Any] = []
    for number, part in enumerate(points or [{}]):
        made = {**whole, "point_no": number, **(_point(part, seen) if part else {})}
        if label:
            made["should_stop"] = truth.get(str(part.get("point")))
            made |= {"label": label.label, "label_note": redact_value(label.note, env), "labelled_at": label.at}
        if number == 0:
            made["entry"] = json.dumps(entry, separators=(",", ":"))
        yield {name: _value(made.get(name), _KINDS[name]) for name in NAMES}


def _point(part: Mapping[str, Any], seen: list[Any]) -> dict[str, Any]:
    findings = part.get("findings")
    effects = [
        f"{one.get('effect')} {one.get('target')}"
        for one in (findings if isinstance(findings, list) else [])
        if isinstance(one, dict)
    ]
    made: dict[str, Any] = {
        **{name: part.get(name) for name in ("point", "mode", "judged", "acted", "outcome", "rule", "said")},
        "point_version": part.get("version"),
        "by": part.get("source"),
        "effects": ", ".join(dict.fromkeys(effects)) or None,
        "point_reason": part.get("reason"),
        "fallback": fallback(part) or None,
        **agreement(part),
    }
    call = part.get("judge")
    if not isinstance(call, dict):
        return made
    usage, error, answers = call.get("usage"), call.get("error"), call.get("answers")
    given = {
        str(name): answer.get("p", answer.get("value"))
        for name, answer in (answers.items() if isinstance(answers, dict) else ())
        if isinstance(answer, dict)
    }
    made |= {
        "judge_asked": bool(call.get("asked")),
        "judge": call.get("provider") or call.get("judge"),
        "model": call.get("model"),
        "judge_ms": call.get("latency_ms") if call.get("asked") else None,
        "judge_error": (error.get("kind") if isinstance(error, dict) else "unknown") if "error" in call else None,
        "call_repeats": call in seen,
        "answers": json.dumps(given, separators=(",", ":")) if given else None,
    }
    if isinstance(usage, dict) and call.get("asked"):
        made |= {name: usage.get(name) for name in ("input_tokens", "output_tokens", "cost_micros", "cached")}
    if call not in seen:
        seen.append(call)
    return made


def _value(value: object, kind: Kind) -> Any:
    """``value`` as its column holds it, None when it is of another kind."""
    if kind == "text":
        if not isinstance(value, str):
            return None
        return value[:MAX_TEXT].encode("utf-8", "replace").decode()  # a lone surrogate is no UTF-8
    if kind == "bool":
        return value if isinstance(value, bool) else None
    if kind == "time":
        return _time(value)
    if isinstance(value, bool):
        return int(value) if kind == "int" else None
    if not isinstance(value, (int, float)):
        return None
    if kind == "int":
        return value if isinstance(value, int) and abs(value) < 1 << 63 else None
    try:
        return float(value) if math.isfinite(float(value)) else None
    except OverflowError:
        return None


def _time(value: object) -> datetime.datetime | None:
    if not isinstance(value, str):
        return None
    try:
        found = datetime.datetime.fromisoformat(value)
        return found.astimezone(datetime.UTC) if found.tzinfo else found.replace(tzinfo=datetime.UTC)
    except (ValueError, OverflowError):
        return None
