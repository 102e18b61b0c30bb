"""The ledger: what was decided and answered, and with ``record_state`` the call itself.

A recorded state is redacted, and its long texts are cut; a call of which something was cut is not judged again but
scored from what its entry says, as one without a state is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..read import ALL, Counted, points_of, read_line
from . import Line, Met, Past, at

NAME = "ledger"
_WORDS = {"torn": "a torn line", "foreign": "no ledger entry", "other": "an entry of another schema"}


def claims(value: Mapping[str, Any]) -> bool:
    """Whether a line is a ledger's."""
    return isinstance(value.get("schema"), int) and isinstance(value.get("points"), list) and "origin" in value


def events(lines: Iterable[Line], place: str, met: Met) -> Iterator[Past]:
    """One ``Past`` an entry about a tool call; the doctor's probes and other events are left out."""
    counted = Counted()
    for number, line in lines:
        where = at(place, number)
        for entry in read_line(line, ALL, counted, where, None):
            made = event_of(entry, where)
            if made is not None:
                yield made
        for kind, word in _WORDS.items():
            while getattr(counted, kind):
                setattr(counted, kind, getattr(counted, kind) - 1)
                met.skip(word, where)


def event_of(entry: dict[str, Any], where: str) -> Past | None:
    """The event that ``entry`` is about; None where it is about no tool call."""
    subject = entry.get("subject")
    if entry.get("kind") not in ("before-tool", "after-tool") or not isinstance(subject, dict):
        return None
    named = {key: str(subject.get(key) or "") for key in ("session", "tool", "tool_call", "project", "permission_mode")}
    payload: dict[str, Any] | None = None
    state = entry.get("state")
    if isinstance(state, dict) and isinstance(state.get("input"), dict) and not entry.get("state_cut"):
        payload = {
            "hook_event_name": str(entry.get("event") or ""),
            "session_id": named["session"],
            "cwd": named["project"],
            "permission_mode": named["permission_mode"],
            "tool_name": str(state.get("tool") or ""),
            "tool_input": state["input"],
            "tool_use_id": named["tool_call"],
        }
        failed = entry.get("event") == "PostToolUseFailure"
        if entry["kind"] == "after-tool":
            payload["error" if failed else "tool_response"] = state.get("result")
        if subject.get("actor") == "sub-agent":
            payload["agent_id"] = "sub-agent"
    heard = requests(entry)
    return Past(
        where,
        payload,
        str(entry.get("host") or ""),
        requests=None if heard is None else ("",) * heard,
        entry=entry,
        session=named["session"],
        call=named["tool_call"],
        at=str(entry.get("asked_at") or ""),
    )


def requests(entry: Mapping[str, Any]) -> int | None:
    """How many of the person's own texts the judge was shown then; None when it was not asked about a call."""
    for point in points_of(entry):
        judge = point.get("judge")
        count = judge.get("user_requests") if isinstance(judge, dict) else None
        if isinstance(count, int):
            return min(9, max(0, count))
    return None
