"""What was recorded of events, in whatever form: one module a form, recognised by the shape of a file's lines.

A form's module has

``NAME``                      what ``jevhook replay`` calls it
``claims(value)``             whether one parsed line is of this form
``events(lines, place, met)`` the events on ``lines``, oldest first; what can't be read is counted in ``met``

Adding a form is one new module and one line in ``MODULES``.
"""

from __future__ import annotations

import glob
import importlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from ... import jsonio

# The more particular shape first.
MODULES = {
    "ledger": "jevhook.evidence.history.entries",
    "hooks": "jevhook.evidence.history.hooks",
    "codex": "jevhook.evidence.history.codex",
    "claude": "jevhook.evidence.history.claude",
}
TITLES = {
    "ledger": "ledger",
    "hooks": "hook events",
    "codex": "Codex rollout",
    "claude": "Claude Code transcript",
}

MAX_LINE = 64 << 20  # bytes; what is longer counts as broken, so that one line can't fill the memory
MAX_LOOK = 64  # lines by which a file's form is told
MOST_FILES = 200_000  # of one directory
MOST_OPEN = 1000  # calls of one transcript without a result yet
MOST_REQUESTS = 3  # as many as a judge is shown
_FILES = re.compile(r"\.(jsonl|ndjson)(\.\d+)?$")
Line = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class Past:
    """One event as it was recorded.

    ``where``     FILE:LINE
    ``payload``   the hook event in its host's own words; None where the line holds none (``trouble``) or where the
                  ledger has no state of it (``entry``)
    ``host``      its name, "" when the event's own shape has to say it
    ``env``       what of the hook's environment is known
    ``requests``  what the person had typed by then, newest last; None when nobody knows
    ``entry``     the ledger's entry: what was decided and answered then
    ``session``, ``call``  the host's own names, "" when absent
    ``at``        when, ISO, in UTC; "" when nobody knows
    ``alone``     it is a case of its own and no part of a session
    ``by_entry``  its result was changed then, so that the entry alone says what it was
    ``trouble``   why it can't be judged; ``foreign`` when it is no known host's event
    """

    where: str
    payload: dict[str, Any] | None = None
    host: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    requests: tuple[str, ...] | None = None
    entry: dict[str, Any] | None = None
    session: str = ""
    call: str = ""
    at: str = ""
    alone: bool = False
    by_entry: bool = False
    trouble: str = ""
    foreign: bool = False

    @property
    def key(self) -> tuple[str, str, str, bool] | None:
        """What names this event wherever it was recorded: host, session, call, whether after; None when that is not known."""
        if not (self.host and self.session and self.call):
            return None
        name = (self.payload or {}).get("hook_event_name") or (self.entry or {}).get("event")
        return self.host, self.session, self.call, str(name).startswith("Post")


@dataclass
class Met:
    """What a reading met: ``files`` read by form, and for each reason how many ``skipped`` and where the ``first`` was."""

    files: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    bytes: int = 0

    def skip(self, why: str, where: str) -> None:
        self.skipped[why] += 1
        self.first.setdefault(why, where)


class Form(Protocol):
    """What a form's module offers; see the module."""

    NAME: str

    def claims(self, value: Mapping[str, Any]) -> bool: ...

    def events(self, lines: Iterable[Line], place: str, met: Met) -> Iterator[Past]: ...


@dataclass(frozen=True)
class Source:
    """A file: ``named`` when a person named it itself, not the directory or the pattern that it was found by."""

    path: str
    named: bool = True


class NoSource(ValueError):
    """There is nothing to read under the name that was given."""


def load(name: str) -> Form:
    """The form called ``name``."""
    module: Form = importlib.import_module(MODULES[name])
    return module


def find(names: Iterable[str]) -> list[Source]:
    """The files under ``names``: a file itself, a directory's (at any depth, links not followed), a pattern's (``**``
    too); each once, a ledger's generations oldest first.  Raises NoSource for a name that nothing is found under.
    """
    found: dict[str, Source] = {}
    for name in names:
        if os.path.isdir(name):
            under = [Source(path, False) for path in _below(name)]
        elif os.path.lexists(name):
            under = [Source(name)]
        elif glob.has_magic(name):
            hits = sorted(glob.glob(name, recursive=True), key=_generation)
            under = []
            for hit in hits:
                under += [Source(path, False) for path in (_below(hit) if os.path.isdir(hit) else [hit])]
        else:
            raise NoSource(f"{name!r}: there is no such file or directory")
        if not under:
            raise NoSource(f"{name!r}: no .jsonl or .ndjson file there")
        for source in under:
            found.setdefault(os.path.realpath(source.path), source)
    return list(found.values())


def _below(folder: str) -> list[str]:
    paths: list[str] = []
    for base, folders, files in os.walk(folder):
        folders.sort()
        paths += [os.path.join(base, name) for name in files if _FILES.search(name)]
        if len(paths) > MOST_FILES:
            break
    return sorted(paths, key=_generation)


def _generation(path: str) -> tuple[str, int]:
    """``ledger.ndjson.2`` is older than ``.1``, and that than ``ledger.ndjson``."""
    stem, _, last = path.rpartition(".")
    return (stem, -int(last)) if last.isascii() and last.isdecimal() and len(last) < 9 else (path, 0)


def open_file(path: str, named: bool = True) -> BinaryIO:
    """The file's lines; of Parquet that ``ledger export`` made, the ledger's.

    Raises OSError for what is no regular file, nor a pipe that somebody ``named``: one that lies in a directory has
    perhaps nobody at its other end, and a device could block or never end.
    """
    import stat

    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not (named and stat.S_ISFIFO(mode)):
        raise OSError("not a file")
    file = open(path, "rb")  # noqa: SIM115
    if stat.S_ISREG(mode) and file.peek(4)[:4] == b"PAR1":
        file.close()
        from .. import parquet

        return parquet.lines(path)
    return file


def form_of(path: str) -> str:
    """The form of a regular file by its first lines; "" when it is of none or can't be read."""
    if not os.path.isfile(path):
        return ""
    try:
        with open_file(path) as file:
            for count, (_, line) in enumerate(_lines(file, Met(), None)):
                form = _form_of(line)
                if form or count + 1 >= MAX_LOOK:
                    return form
    except OSError:
        pass
    return ""


def read(
    file: BinaryIO, place: str, met: Met, *, named: bool = True, progress: Callable[[int], None] | None = None
) -> Iterator[Past]:
    """The events in ``file``; ``place`` is what it is called, "" for standard input.

    A file of no known form has none, unless it was ``named``: then its lines are taken for hook events, so that each is
    told apart.  ``progress`` gets the number of bytes of each step.
    """
    lines = _lines(file, met, progress)
    looked: list[Line] = []
    form = ""
    for line in lines:
        looked.append(line)
        form = _form_of(line[1])
        if form or len(looked) >= MAX_LOOK:
            break
    if not form:
        if not looked:
            met.files["empty"] += 1
            return
        if not named:
            met.skip("a file of no known form", place)
            return
        form = "hooks"
    met.files[form] += 1

    def all_lines() -> Iterator[Line]:
        yield from looked
        looked.clear()
        yield from lines

    yield from load(form).events(all_lines(), place, met)


def _form_of(line: bytes) -> str:
    value = parsed(line)
    if not isinstance(value, dict):
        return ""
    return next((name for name in MODULES if load(name).claims(value)), "")


def parsed(line: bytes) -> Any:
    """The JSON value on a line; None for what is none."""
    try:
        return jsonio.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _lines(file: BinaryIO, met: Met, progress: Callable[[int], None] | None) -> Iterator[Line]:
    """(line number from 1, line) without the blank ones; of one that is too long its beginning, which is no JSON."""
    number = told = 0
    while line := file.readline(MAX_LINE):
        number += 1
        told += len(line)
        if len(line) == MAX_LINE and line[-1:] != b"\n":
            rest = line
            while rest and rest[-1:] != b"\n":
                rest = file.readline(MAX_LINE)
                told += len(rest)
            line = line[:200]
        if told > 1 << 16:
            met.bytes += told
            if progress is not None:
                progress(told)
            told = 0
        if line.strip():
            yield number, line
    met.bytes += told
    if progress is not None:
        progress(told)


def at(place: str, number: int) -> str:
    """``FILE:LINE``; of standard input ``line LINE``."""
    return f"{place}:{number}" if place else f"line {number}"


def heard(requests: list[str], text: str) -> None:
    """Add what the person has typed now to ``requests``; the last few count, each once."""
    if text:
        if text in requests:
            requests.remove(text)
        requests.append(text)
        del requests[:-MOST_REQUESTS]


def text_of(entry: Mapping[str, Any], name: str) -> str:
    """The field's text, "" when it is none."""
    value = entry.get(name)
    return value if isinstance(value, str) else ""
