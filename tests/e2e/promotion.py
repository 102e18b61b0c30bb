"""Shadow, a promotion, a stop, an appeal: the same story under every host."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from terminal import at_terminal

from .hosts import WHERE, Place, Record
from .model import Call


def earned_and_appealed(place: Place, run: Callable[[list[Call]], Record], call: Callable[..., Call]) -> None:
    """``run`` starts a conversation under the installed hook, ``call(ident, command, needs)`` makes a shell call."""
    sure = ("where", place.where())
    notes = place.project / "notes.txt"
    calls = [call("where", WHERE), call("reset", "git reset --hard", sure)]
    place.config.parent.mkdir(parents=True)
    place.config.write_text('policy = "shadow"\n[promotion]\nevents = 2\nlabels = 1\nscorecards = 0\n')
    assert "HEAD is now at" in run(calls).told("reset"), "shadow stops nothing"
    (entry,) = (line for line in place.ledger() if any(part.get("judged") == "ask" for part in line["points"]))

    person = place.environment()
    assert at_terminal("ledger", "label", entry["id"], "good", **person)[0] == 0
    status, said = at_terminal("promote", "tool.risk", "--yes", **person)
    assert status == 1 and "not enough evidence (agreement, false_alarms)" in said, said
    status, said = at_terminal("promote", "tool.risk", "--yes", "--force", **person)
    assert status == 0 and "tool.risk is active from the next call on" in said, said

    notes.write_text("uncommitted\n")
    found = re.search(r"jevhook allow-once ([A-Z]+) \[git\.reset-hard\]", run(calls).told("reset"))
    assert found and notes.read_text() == "uncommitted\n"
    assert at_terminal("appeal", found[1], "--with-event", "--note", "a scratch tree", **person)[0] == 0
    out = place.home / "cases.jsonl"
    assert at_terminal("cases", "export", "--out", str(out), **person)[0] == 0
    status, said = at_terminal("score", str(out), "--json", **person)
    assert status == 0 and json.loads(said)["outcomes"] == "a", said
    assert at_terminal("promote", "tool.risk", "--undo", **person)[0] == 0
    assert "HEAD is now at" in run(calls).told("reset"), "in shadow again"
