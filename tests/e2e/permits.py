"""A denied call, the person's permit, and the next try: the same story under every host."""

from __future__ import annotations

import re
from collections.abc import Callable

from terminal import at_terminal

from .hosts import WHERE, Place, Record
from .model import Call


def permitted_once(place: Place, run: Callable[[list[Call]], Record], call: Callable[..., Call]) -> None:
    """``run`` starts a conversation under the installed hook, ``call(ident, command, needs)`` makes a shell call."""
    sure = ("where", place.where())
    first = run([call("where", WHERE), call("reset", "git reset --hard", sure)])
    found = re.search(r"jevhook allow-once ([A-Z]+) \[git\.reset-hard\]", first.told("reset"))
    assert found, first.told("reset")
    assert (place.project / "notes.txt").read_text() == "uncommitted\n"

    status, said = at_terminal("allow-once", found[1], "--yes", **place.environment())
    assert status == 0 and "git reset --hard" in said, said

    second = run(
        [
            call("where", WHERE),
            call("other", "git reset --hard HEAD", sure),
            call("reset", "git reset --hard", sure),
            call("twice", "git reset --hard", sure),
        ]
    )
    assert "allow-once" in second.told("other"), "another call than the one that was permitted"
    assert "HEAD is now at" in second.told("reset"), second
    assert (place.project / "notes.txt").read_text() == "committed\n"
    assert found[1] in second.told("twice"), "once"
    told = [line for line in place.ledger() if line.get("told") == "permit"]
    assert [line["permit"] for line in told] == [{"code": found[1], "used": True}]
