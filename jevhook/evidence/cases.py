"""Cases: stops that a person has called wrong, each a labelled row for ``jevhook score``.

``cases.ndjson`` in the state directory, one line each, appended and never edited; the last line about an id counts::

    {"schema": 1, "id": the ledger entry's, "at": ISO time, "expected": "allow" or "keep", "was": what was decided,
     "point", "rule", "host", "kind", "note", "judge": {…},
     "event": {"tool", "input", "cwd", "home"} and, after a tool, "result"; left out where it is not known or not wanted}

Everything in it has been redacted: it comes out of the ledger or out of the note that the gate kept for the person.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from .. import config, jsonio, ledger
from ..state import permits
from ..text.printable import printable
from ..text.redact import redact
from .labels import MAX_NOTE
from .read import STOPS, Counted, points_of
from .shapes import table

SCHEMA = 1


def place(env: Mapping[str, str]) -> str:
    """The file's path, "" without a state directory."""
    folder = ledger.directory(env)
    return os.path.join(folder, "cases.ndjson") if folder else ""


def stopped(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """The point's part that stopped, or in shadow would have stopped, what ``entry`` is about; of several the strongest."""
    found = [part for part in points_of(entry) if part.get("judged") in STOPS]
    return min(found, key=lambda part: (part.get("acted") is not True, STOPS.index(part["judged"])), default=None)


def event_of(entry: Mapping[str, Any], env: Mapping[str, str], now: float) -> tuple[dict[str, Any] | None, str]:
    """(the judged call as far as it was kept whole, why it is not)."""
    subject = table(entry.get("subject"))
    where = {"cwd": str(subject.get("project") or ""), "home": config.home(env)}
    state = entry.get("state")
    if isinstance(state, dict) and isinstance(state.get("input"), dict):
        if entry.get("state_cut"):
            return None, "the ledger keeps long texts cut"
        found = {"tool": str(state.get("tool") or ""), "input": state["input"], **where}
        return (found if state.get("result") is None else {**found, "result": state["result"]}), ""
    offer = permits.offered(str(table(entry.get("permit")).get("code") or ""), env, now)
    # A code is used again once its day is over: by then it may be another call's.
    if offer is None or offer.get("tool") != subject.get("tool") or where["cwd"] != str(offer.get("cwd"))[:300]:
        return None, "the ledger does not keep calls ([ledger] record_state), and no denial of the last day holds it"
    given = _given(str(offer["what"]))
    if given is None:
        return None, "the call is too long to have been kept whole"
    return {"tool": str(offer["tool"]), "input": given, "cwd": str(offer["cwd"]), "home": where["home"]}, ""


def _given(words: str) -> dict[str, Any] | None:
    """The input that ``permits.words`` made ``words`` of: a command's own text, or a JSON object."""
    if words.endswith("that are not shown)") and len(words) > permits.MAX_WORDS:
        return None
    if words.startswith("{"):
        try:
            found = json.loads(words)
        except ValueError:
            found = None
        if isinstance(found, dict):
            return found
    return {"command": words}


def case_of(
    entry: Mapping[str, Any], event: Mapping[str, Any] | None, note: str, env: Mapping[str, str]
) -> dict[str, Any]:
    """The case that an appeal against ``entry`` makes.  Raises ValueError when nothing was stopped there."""
    part = stopped(entry)
    if part is None:
        raise ValueError("nothing was stopped there")
    made: dict[str, Any] = {
        "schema": SCHEMA,
        "id": str(entry["id"]),
        "at": ledger.now_iso(),
        "expected": "keep" if entry.get("kind") == "after-tool" else "allow",
        "was": part["judged"],
        "point": str(part.get("point") or ""),
        "rule": str(part.get("rule") or ""),
        "host": str(entry.get("host") or ""),
        "kind": str(entry.get("kind") or ""),
        "note": printable(redact(note, env)).replace("\n", " ").strip()[:MAX_NOTE],
    }
    judge = part.get("judge")
    if isinstance(judge, dict) and isinstance(judge.get("answers"), dict) and judge["answers"]:
        made["judge"] = {key: judge[key] for key in ("answers", "user_requests", "usage", "model") if key in judge}
    if event is not None:
        made["event"] = dict(event)
    return made


def add(env: Mapping[str, str], case: Mapping[str, Any]) -> None:
    """Append one case.  Raises OSError when it could not be written."""
    name = place(env)
    if not name:
        raise OSError(errno.ENOENT, "no home directory and no XDG_STATE_HOME")
    data = (jsonio.dumps(dict(case)) + "\n").encode()
    ledger.append_line(name, data, name.removesuffix(".ndjson") + ".lock", max_bytes=1 << 62, generations=1)


def every(env: Mapping[str, str], counted: Counted | None = None) -> Iterator[dict[str, Any]]:
    """Each case once, as it was last given, in the order in which they came first."""
    counted = Counted() if counted is None else counted
    found: dict[str, dict[str, Any]] = {}
    for part in ledger.open_parts(place(env)):
        with part.file as file:
            for number, line in enumerate(file, 1):
                values, rest = ledger.records(line.decode("utf-8", "replace"))
                if rest:
                    counted.skip("torn", f"{part.name}:{number}")
                for value in values:
                    if not isinstance(value, dict) or value.get("schema") != SCHEMA or not value.get("id"):
                        counted.skip("foreign", f"{part.name}:{number}")
                        continue
                    counted.records += 1
                    found[str(value["id"])] = value
    yield from found.values()


def row(case: Mapping[str, Any]) -> dict[str, Any] | None:
    """``case`` as ``jevhook score`` reads it; None for one without its event."""
    event = case.get("event")
    if not isinstance(event, dict):
        return None
    told = ("id", "expected", "host", "was", "note", "judge")
    category = str(case.get("rule") or case.get("point") or "appeal")
    return {**{key: case[key] for key in told if case.get(key)}, "category": category, **event}
