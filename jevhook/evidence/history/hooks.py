"""A JSONL of hook events, as a host sends them to the hook; a case may wrap one under ``event``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ... import jsonio
from ...hosts import detect
from . import Line, Met, Past, at

NAME = "hooks"


def claims(value: Mapping[str, Any]) -> bool:
    """Whether a line is a hook event of any host, known or not, or a case with one."""
    inner = value.get("event")
    return any(
        key in value or (isinstance(inner, dict) and key in inner) for key in ("hook_event_name", "hookEventName")
    )


def events(lines: Iterable[Line], place: str, met: Met) -> Iterator[Past]:
    """One ``Past`` a line, also for a line that can't be judged: its place in the order counts.

    An event in a wrapper is a case of its own, no part of a session.
    """
    for number, line in lines:
        where = at(place, number)
        try:
            payload = jsonio.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as wrong:
            yield Past(where, trouble=f"not JSON ({wrong})")
            continue
        wrapped = (
            isinstance(payload, dict) and "hook_event_name" not in payload and isinstance(payload.get("event"), dict)
        )
        if wrapped:
            payload = payload["event"]
        if not isinstance(payload, dict):
            yield Past(where, trouble="no JSON object")
            continue
        host = detect(payload)
        if host is None:
            from ...policy import shown

            name = payload.get("hook_event_name") or payload.get("hookEventName") or "without a name"
            yield Past(where, trouble=f"event {shown(name)}", foreign=True)
            continue
        session, call = payload.get("session_id"), payload.get("tool_use_id")
        yield Past(
            where,
            payload,
            host.NAME,
            session=session if isinstance(session, str) else "",
            call=call if isinstance(call, str) else "",
            alone=wrapped,
        )
