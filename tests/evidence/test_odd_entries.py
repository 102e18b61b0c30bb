"""A ledger entry of any shape is counted or passed over: it never stops the evidence from being read."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jevhook.evidence import calibrate, cases, promotion, truth
from jevhook.evidence.labels import Label
from jevhook.evidence.promotion import Target
from jevhook.evidence.rows import NotARow, read
from jevhook.evidence.stats import stats
from jevhook.evidence.summary import summarise

CALL: dict[str, Any] = {
    "schema": 1, "id": "04fc65d1", "origin": "hook", "host": "claude", "event": "PreToolUse", "kind": "before-tool",
    "asked_at": "2026-11-29T21:17:47.932Z", "decision": "deny", "permit": {"code": "BCDFG", "used": False},
    "subject": {"session": "s", "tool": "Bash", "project": "/home/dev/shop", "actor": "main"},
    "state": {"tool": "Bash", "input": {"command": "git reset --hard"}, "result": None},
    "points": [{
        "point": "tool.risk", "version": 1, "mode": "active", "judged": "ask", "acted": True, "rule": "git.reset-hard",
        "rules": [{"id": "git.reset-hard", "severity": "ask", "mode": "active"}], "excepted": ["git.clean"],
        "judge": {"asked": True, "answers": {"asked": {"p": 0.5}, "loss": {"value": 1.0}}, "user_requests": 1, "usage": {}, "shadow": []},
    }],
}  # fmt: skip
RESULT: dict[str, Any] = {
    **CALL, "event": "PostToolUse", "kind": "after-tool", "decision": "withhold",
    "state": {"tool": "WebFetch", "input": {"url": "x"}, "result": "text"},
    "points": [
        {"point": "tool.injection", "version": 1, "mode": "active", "judged": "withhold", "passages": [{"score": 0.7, "judge": 0.9}]},
        {"point": "tool.admission", "version": 1, "mode": "shadow", "judged": "none"},
    ],
}  # fmt: skip
ODD = st.sampled_from(
    [None, True, 0, -1.5, 1e308, "", "x", "deny", [], [None], [1, "a"], {}, {"p": "x"}, {"a": {}}, [[]]]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))][0 if path else 1 :]


def put(entry: dict[str, Any], path: tuple[Any, ...], odd: Any) -> None:
    holder: Any = entry
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = odd


@given(
    st.sampled_from([CALL, RESULT]).flatmap(lambda one: st.tuples(st.just(one), st.sampled_from(places(one)))),
    ODD,
    st.sampled_from(["good", "bad"]),
)
def test_nothing_in_an_entry_stops_the_reading(
    where: tuple[dict[str, Any], tuple[Any, ...]], odd: Any, word: str
) -> None:
    entry = copy.deepcopy(where[0])
    put(entry, where[1], odd)
    label = Label(str(entry.get("id")), word, "", "", "label")
    labels = {label.id: label}
    for name, kind in (("tool.risk", "point"), ("tool.injection", "point"), ("git.reset-hard", "rule"), ("tool.risk.asked", "question")):  # fmt: skip
        point = name if kind == "point" else "tool.risk"
        promotion.look([entry], labels, Target(kind, name, point), 0.8, 0.2)
    for point in calibrate.POINTS:
        calibrate.fit(calibrate.samples(point, [entry], labels, {}), (0.8, 0.2))
        for one in calibrate.samples(point, [entry], labels, {}):
            one.stopped(0.8, 0.2)
    truth.row(entry, label, "/home/dev")
    event, _ = cases.event_of(entry, {}, 0.0)
    try:
        row = cases.row(cases.case_of(entry, event, "", {}))
    except ValueError:
        return
    if row is not None:
        try:
            read(json.dumps(row).encode(), 1)
        except NotARow as wrong:
            assert wrong.kind


def test_a_label_counts_once_however_often_its_line_stands_in_the_ledger() -> None:
    label = Label("04fc65d1", "bad", "", "", "label")
    labels, twice = {label.id: label}, [CALL, copy.deepcopy(CALL)]
    seen = promotion.look(twice, labels, Target("point", "tool.risk", "tool.risk"), 0.8, 0.2)
    assert (seen.checked, seen.stops, seen.wrong) == (1, 1, 1)
    assert stats(twice, labels).points["tool.risk"].labels.total() == 1
    assert summarise(twice, labels).bad == 1
    assert len(calibrate.samples("tool.risk", twice, labels, {})) == len(
        calibrate.samples("tool.risk", twice[:1], labels, {})
    )
    assert len(list(truth.local_rows(iter(twice), labels, {}, "/home/dev"))) == 1
    assert labels == {label.id: label}
