"""The ledger as it was written: every generation, oldest first, one line at a time, so that a gigabyte costs no memory.

A line that is torn, that somebody else wrote, or that another version wrote is counted and skipped (``Counted``).
"""

from __future__ import annotations

import datetime
import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import ledger

SCHEMA = 1  # of a ledger line
STOPS = ("deny", "ask", "withhold", "trim")  # judgments that change what the agent gets, strongest first
PROBES = "doctor"  # the origin of what nobody's work caused
MAX_LINE = 16 << 20  # bytes; our own lines are far shorter, so a longer one is no record
_STEP = 1 << 20  # bytes between two calls of ``progress``
_WHOLE = b'{"schema":1,'  # how each of our lines begins
_PLAIN = re.compile(r"[\w.:@/+ -]+", re.ASCII)  # stands in JSON as it is
_AT = b'"asked_at":"'
_ENDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(frozen=True)
class Wanted:
    """Which entries: a field left empty takes all, several values of one field take any of them.

    ``points``     a point that was not off in that event
    ``decisions``  the event's decision; with ``points``, what one of those points judged (in shadow too)
    ``rules``      a rule that decided for a point
    ``tools``      names; ``*`` stands for anything
    ``sessions``   a session's name or the beginning of one
    ``since``, ``until``  ISO times as in the ledger (``moment``): from, and up to but without
    ``origins``    "hook", "cli", "doctor"; empty: all but the doctor's probes
    """

    points: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    origins: tuple[str, ...] = ()


ALL = Wanted()


@dataclass
class Counted:
    """What a reading met; filled while it goes on.

    ``records`` whole entries, ``taken`` those that were wanted, ``torn`` lines that are no JSON, ``foreign`` JSON that
    is no entry, ``other`` entries of another schema; ``first`` where the first of each kind stands.  With filters a
    line that cannot be wanted is not parsed, so that it counts as a record by its beginning alone.
    """

    records: int = 0
    taken: int = 0
    torn: int = 0
    foreign: int = 0
    other: int = 0
    first: dict[str, str] = field(default_factory=dict)

    @property
    def skipped(self) -> int:
        return self.torn + self.foreign + self.other

    def skip(self, kind: str, where: str) -> None:
        setattr(self, kind, getattr(self, kind) + 1)
        self.first.setdefault(kind, where)

    def said(self) -> str:
        """One line that names what was skipped and where the first of each kind is; "" when nothing was."""
        worded = {"torn": "torn", "foreign": "no ledger entry", "other": f"of another schema than {SCHEMA}"}
        parts = [
            f"{getattr(self, kind)} {word} (first: {self.first[kind]})"
            for kind, word in worded.items()
            if getattr(self, kind)
        ]
        return f"{self.skipped} line{'s'[: self.skipped != 1]} skipped: {', '.join(parts)}" if parts else ""


Progress = Callable[[int, int], None]  # (bytes read, bytes in all)
Sieve = Callable[[bytes], bool] | None


def entries(
    env: Mapping[str, str],
    path: str = "",
    wanted: Wanted = ALL,
    *,
    counted: Counted | None = None,
    progress: Progress | None = None,
) -> Iterator[dict[str, Any]]:
    """The wanted entries of the ledger ``path`` (as in ``ledger.path``), oldest first: plain dicts, each one its own.

    It is the ledger as it stands at the first step: what is written or rotated meanwhile neither doubles nor drops a
    line.  A missing ledger has none.
    """
    counted = Counted() if counted is None else counted
    parts = ledger.open_parts(ledger.path(env, path))
    try:
        total, before = sum(part.size for part in parts), 0
        for part in parts:
            yield from _entries(part, wanted, counted, before, total, progress)
            before += part.size
        if progress is not None:
            progress(total, total)
    finally:
        for part in parts:
            part.file.close()


def _entries(
    part: ledger.Part, wanted: Wanted, counted: Counted, before: int, total: int, progress: Progress | None
) -> Iterator[dict[str, Any]]:
    may = sieve(wanted)
    at = number = 0
    while at < part.size:
        line = part.file.readline(MAX_LINE)
        if not line:  # somebody cut the file
            break
        at, number = at + len(line), number + 1
        if len(line) == MAX_LINE and line[-1:] != b"\n":
            counted.skip("torn", f"{part.name}:{number}")
            while line and line[-1:] != b"\n":
                line = part.file.readline(MAX_LINE)
                at += len(line)
            continue
        yield from read_line(line, wanted, counted, f"{part.name}:{number}", may)
        if progress is not None and (before + at) // _STEP != (before + at - len(line)) // _STEP:
            progress(min(before + at, total), total)


def read_line(line: bytes, wanted: Wanted, counted: Counted, where: str, may: Sieve) -> Iterator[dict[str, Any]]:
    """The wanted entries on one line: none, one, or several that an append into a crash has welded together.

    ``may`` is ``sieve(wanted)``, ``where`` names the line in what is counted.
    """
    if may is not None and line.startswith(_WHOLE) and line.endswith(b"}\n") and not may(line):
        counted.records += 1
        return
    found, rest = ledger.records(line.decode("utf-8", "replace"))
    if rest:
        counted.skip("torn", where)
    for value in found:
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("schema"), int)
            or not isinstance(value.get("id"), str)
        ):
            counted.skip("foreign", where)
        elif value["schema"] != SCHEMA:
            counted.skip("other", where)
        else:
            counted.records += 1
            if is_wanted(value, wanted):
                counted.taken += 1
                yield value


def is_wanted(entry: Mapping[str, Any], wanted: Wanted) -> bool:
    """Whether ``wanted`` takes this entry."""
    origin = entry.get("origin", "hook")
    if (origin not in wanted.origins) if wanted.origins else origin == PROBES:
        return False
    if wanted.hosts and entry.get("host") not in wanted.hosts:
        return False
    if wanted.since or wanted.until:
        at = str(entry.get("asked_at") or "")
        if at < wanted.since or (wanted.until and at >= wanted.until):
            return False
    if wanted.tools or wanted.sessions:
        found = entry.get("subject")
        subject = found if isinstance(found, dict) else {}
        tool, session = str(subject.get("tool") or ""), str(subject.get("session") or "")
        if wanted.tools and not any(fnmatch.fnmatchcase(tool, one) for one in wanted.tools):
            return False
        if wanted.sessions and not any(session.startswith(one) for one in wanted.sessions):
            return False
    if not (wanted.points or wanted.rules or wanted.decisions):
        return True
    points = [one for one in points_of(entry) if not wanted.points or one.get("point") in wanted.points]
    if wanted.points and not points:
        return False
    if wanted.rules and not any(one.get("rule") in wanted.rules for one in points):
        return False
    if not wanted.decisions:
        return True
    if wanted.points:
        return any(one.get("judged") in wanted.decisions for one in points)
    return entry.get("decision") in wanted.decisions


def points_of(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each point that was not off did in ``entry``."""
    points = entry.get("points")
    return (
        [one for one in points if isinstance(one, dict) and one.get("mode") != "off"]
        if isinstance(points, list)
        else []
    )


def sieve(wanted: Wanted) -> Sieve:
    """A look at a whole line's bytes that says whether it may be wanted, for a tenth of what reading it costs; None where
    every line may.
    """
    fields: list[list[bytes]] = []  # a wanted line holds one of each
    for values in (wanted.points, wanted.decisions, wanted.rules, wanted.hosts, wanted.tools, wanted.origins):
        if values and all(_PLAIN.fullmatch(value) for value in values):
            fields.append([f'"{value}"'.encode() for value in values])
    if wanted.sessions and all(_PLAIN.fullmatch(value) for value in wanted.sessions):
        fields.append([f'"{value}'.encode() for value in wanted.sessions])
    since, until = wanted.since.encode(), wanted.until.encode()
    if not fields and not since and not until:
        return None

    def may(line: bytes) -> bool:
        if since or until:
            at = line.find(_AT)
            if at >= 0 and line.find(_AT, at + 1) < 0:  # once: a recorded call may hold the same words
                asked = line[at + len(_AT) : line.find(b'"', at + len(_AT))]
                if asked < since or (until and asked >= until):
                    return False
        for any_of in fields:
            for one in any_of:
                if one in line:
                    break
            else:
                return False
        return True

    return may


def moment(text: str, now: datetime.datetime | None = None) -> str:
    """A time as the ledger writes it: ``30d``, ``12h``, ``45m``, ``90s``, ``2w`` ago, a day (from its start, local
    time) or an ISO time (local without an offset).  Raises ValueError that names what is allowed.
    """
    text = text.strip()
    now = datetime.datetime.now(datetime.UTC) if now is None else now
    try:
        if re.fullmatch(r"\d{1,6}[smhdw]", text, re.ASCII):
            at = now - datetime.timedelta(seconds=int(text[:-1]) * _ENDS[text[-1]])
        else:
            at = datetime.datetime.fromisoformat(text).astimezone(datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{text[:60]!r} is no time: give an age such as 30d, 12h or 45m, a day such as 2027-01-31, "
            "or an ISO time such as 2027-01-31T23:59"
        ) from None
    return iso(at)


def iso(at: datetime.datetime) -> str:
    """A time in UTC as the ledger writes it: texts that sort as the times do."""
    return f"{at.year:04}-{at:%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"  # %Y leaves the noughts of year 999 out
