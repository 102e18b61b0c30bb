"""What a person's labels say should have been decided, point by point.

A label is about what was *judged*, in shadow too: *good* on a stop says that it should have been stopped, *bad* that it
should not; on silence the other way round.  In an event that several points spoke about, it is about those that would
have stopped; on silence of all, *good* is about each of them, and *bad* about tool.injection alone: a result that was not
shortened harms nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..points import injection, risk
from . import cases
from .labels import Label
from .read import STOPS, points_of
from .shapes import objects, table

LOSS = 2.5  # of tool.risk.loss: from here on it raises (points/risk.py)


def should_stop(entry: Mapping[str, Any], label: Label) -> dict[str, bool]:
    """point -> whether it should have stopped ``entry``'s event, for the points that the label is about."""
    parts = {str(part.get("point")): part.get("judged") in STOPS for part in points_of(entry)}
    stops = [point for point, stopped in parts.items() if stopped]
    if stops:
        return dict.fromkeys(stops, label.label == "good")
    if label.label == "good":
        return dict.fromkeys(parts, False)
    return dict.fromkeys((point for point in parts if len(parts) == 1 or point == injection.ID), True)


def would_stop(part: Mapping[str, Any], rule: str) -> bool:
    """Whether ``rule`` hit, in shadow too, so that it would stop by itself."""
    return any(hit.get("id") == rule and hit.get("severity") in ("ask", "deny") for hit in objects(part.get("rules")))


def answers_of(part: Mapping[str, Any]) -> dict[str, Any]:
    """What a judge answered for this point, {} where none did or only the call's shape was judged."""
    judge = table(part.get("judge"))
    return {} if judge.get("error") or judge.get("egress") == "shape" else table(judge.get("answers"))


def says_stop(question: str, answer: Any, yes: float, no: float) -> bool | None:
    """What a sure answer of tool.risk's ``question`` is for: True stop, False run, None where it is not sure."""
    if not isinstance(answer, dict):
        return None
    if question == "loss":
        value = answer.get("value")
        return True if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= LOSS else None
    p = answer.get("p")
    if not isinstance(p, (int, float)) or isinstance(p, bool) or no < p < yes:
        return None
    return (p >= yes) != (question == "asked")


def row(entry: Mapping[str, Any], label: Label, home: str) -> dict[str, Any] | None:
    """A labelled entry whose event stands whole in the ledger, as ``jevhook score`` reads it; else None."""
    wanted = should_stop(entry, label)
    state, subject = table(entry.get("state")), table(entry.get("subject"))
    if not wanted or not isinstance(state.get("input"), dict) or entry.get("state_cut"):
        return None
    part = next((one for one in points_of(entry) if str(one.get("point")) in wanted), {})
    made: dict[str, Any] = {
        "id": str(entry["id"]),
        "tool": str(state.get("tool") or ""),
        "input": state["input"],
        "cwd": str(subject.get("project") or ""),
        "home": home,
        "host": str(entry.get("host") or ""),
        "expected": _expected(wanted, entry.get("kind") == "after-tool"),
        "category": str(part.get("rule") or part.get("point") or ""),
    }
    if entry.get("kind") == "after-tool":
        made["result"] = state.get("result")
    answers = answers_of(part)
    if answers:
        judge = part["judge"]
        made["judge"] = {key: judge[key] for key in ("answers", "user_requests", "usage") if key in judge}
    return made


def _expected(wanted: Mapping[str, bool], after: bool) -> str:
    if not any(wanted.values()):
        return "keep" if after else "allow"
    if wanted.get(injection.ID):
        return "withhold"
    return "block" if risk.ID in wanted else "trim"


def local_rows(
    entries: Iterator[dict[str, Any]], labels: Mapping[str, Label], appealed: Mapping[str, Mapping[str, Any]], home: str
) -> Iterator[dict[str, Any] | None]:
    """The person's own labelled decisions as rows: every case, then what else is labelled; None for one whose event
    was not kept."""
    for case in appealed.values():
        yield cases.row(case)
    left = {name: label for name, label in labels.items() if name not in appealed}
    for entry in entries:
        label = left.pop(str(entry.get("id")), None)
        if label is not None:
            yield row(entry, label, home)
