"""Taking old lines out of the ledger, whole, while any number of hooks go on writing.

The file that is written to is never rewritten: where it holds old lines it is first made a generation, as a full one
is.  A generation is copied without its old lines, and the copy takes its place in one step, under the lock that keeps
rotation away.  What a hook that did not get the lock may have written into the old file meanwhile is appended again.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from .. import ledger
from .read import MAX_LINE, iso

LOCK_SECONDS = 20.0  # hooks hold the lock for a moment each, but there may be many
SETTLE_SECONDS = 0.2  # by then a hook that had opened the old file has written its line


@dataclass
class Pruned:
    """``lines`` and ``bytes`` that went, ``kept`` lines, ``files`` that went whole, ``late`` lines that were saved."""

    lines: int = 0
    bytes: int = 0
    kept: int = 0
    files: int = 0
    late: int = 0

    def add(self, other: Pruned) -> None:
        """Count what ``other`` counted."""
        for field, number in vars(other).items():
            setattr(self, field, getattr(self, field) + number)


class PruneError(Exception):
    """Nothing more was removed; the text says why, in one line."""


def prune(env: Mapping[str, str], path: str, before: str, *, dry_run: bool = False) -> Pruned:
    """Remove from the ledger ``path`` the lines of events before the ISO time ``before``; ``dry_run`` only counts them.

    A line without a time of its own (torn, foreign) goes with the one above it; at the head of a file, by the time of
    that file's last change.  Raises PruneError.
    """
    name = ledger.path(env, path)
    if ledger.fcntl is None:
        raise PruneError("this system has no file locks, so nothing can be removed while hooks write")
    done = Pruned()
    swapped: list[ledger.Part] = []
    parts: list[ledger.Part] = []
    try:
        if not dry_run:
            _sweep(name)
        parts = ledger.open_parts(name)
        now = next((part for part in parts if part.name == name), None)
        try:
            for part in parts:
                if dry_run:
                    done.add(_sorted(part, before))
                elif part is not now:
                    swapped += _rewrite(name, part, before, done)
            if now is not None and not dry_run:
                if _has_old(now, before):
                    _made_generation(name, now)
                    now.size = os.fstat(now.file.fileno()).st_size
                    swapped += _rewrite(name, now, before, done)
                else:
                    done.add(_sorted(now, before))
        finally:
            if swapped:  # whatever failed after it: what came late into a file that is gone is nowhere else
                _save_late(name, swapped, done)
    except OSError as wrong:
        raise PruneError(f"{wrong.filename or name}: {wrong.strerror or wrong}") from None
    finally:
        for part in parts:
            part.file.close()
    return done


def _lines(part: ledger.Part, before: str) -> Iterator[tuple[bytes, bool]]:
    """(line, whether it is old), from the file's beginning to the size it had when it was opened."""
    part.file.seek(0)
    at, old = 0, _changed(part) < before
    while at < part.size and (line := part.file.readline(MAX_LINE)):
        at += len(line)
        times = [value["asked_at"] for value in ledger.records(line.decode("utf-8", "replace"))[0] if _dated(value)]
        if times:
            old = max(times) < before
        yield line, old


def _changed(part: ledger.Part) -> str:
    return iso(datetime.datetime.fromtimestamp(os.fstat(part.file.fileno()).st_mtime, datetime.UTC))


def _dated(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("asked_at"), str) and value["asked_at"][:2] == "20"


def _has_old(part: ledger.Part, before: str) -> bool:
    return any(old for _, old in _lines(part, before))


def _sorted(part: ledger.Part, before: str, kept: BinaryIO | None = None) -> Pruned:
    """How many lines are old and how many not, which are written to ``kept``."""
    found = Pruned()
    for line, old in _lines(part, before):
        if old:
            found.lines, found.bytes = found.lines + 1, found.bytes + len(line)
            continue
        found.kept += 1
        if kept is not None:
            kept.write(line)
    found.files = int(found.lines > 0 == found.kept)
    return found


def _rewrite(name: str, part: ledger.Part, before: str, done: Pruned) -> list[ledger.Part]:
    """``part`` if its file is not in the ledger any more, else nothing."""
    if not _has_old(part, before):
        done.add(_sorted(part, before))
        return []
    aside = f"{name}.prune-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        with open(ledger.open_own(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            found = _sorted(part, before, file)
            file.flush()
            os.fsync(file.fileno())
        if not _swap(name, part, aside if found.kept else ""):
            return []  # rotation was quicker: it has just dropped the whole file
    finally:
        if os.path.lexists(aside):
            os.unlink(aside)
    done.add(found)
    return [part]


def _swap(name: str, part: ledger.Part, aside: str) -> bool:
    """Put ``aside`` (or nothing) in the place of ``part``, wherever rotation has moved it; False when it is gone."""
    with _locked(name):
        for number in ledger.numbers(name)[1:]:
            place = f"{name}.{number}"
            try:
                found = os.lstat(place)
            except FileNotFoundError:
                continue
            if (found.st_dev, found.st_ino) == part.inode:
                if aside:
                    os.utime(aside, ns=(found.st_atime_ns, found.st_mtime_ns))
                    os.replace(aside, place)
                else:
                    os.unlink(place)
                return True
    return False


def _made_generation(name: str, now: ledger.Part) -> None:
    """Rotate the file that is written to, unless that has happened by itself."""
    with _locked(name):
        try:
            found = os.stat(name)
        except FileNotFoundError:  # another prune was quicker, 9 times in 40 with two at once
            return
        if (found.st_dev, found.st_ino) == now.inode:
            ledger.rotate(name, 10**6)  # nothing falls off the end here


def _save_late(name: str, parts: list[ledger.Part], done: Pruned) -> None:
    time.sleep(SETTLE_SECONDS)
    for part in parts:
        part.file.seek(part.size)
        for line in part.file:
            whole = line if line.endswith(b"\n") else line + b"\n"
            ledger.append_line(name, whole, ledger.lock_name(name), max_bytes=1 << 62, generations=1)
            done.late += 1


class _locked:
    """The ledger's lock, waited for.  Raises PruneError."""

    def __init__(self, name: str) -> None:
        self.name = ledger.lock_name(name)

    def __enter__(self) -> None:
        until = time.monotonic() + LOCK_SECONDS
        while (held := ledger.lock(self.name)) < 0:
            if time.monotonic() > until:
                raise PruneError(f"{self.name}: not to be had within {LOCK_SECONDS:g} s")
        self.held = held

    def __exit__(self, *_: object) -> None:
        os.close(self.held)


def _sweep(name: str) -> None:
    """What a prune that was killed left behind."""
    folder, base = os.path.split(name)
    for entry in os.listdir(folder) if os.path.isdir(folder) else ():
        if entry.startswith(f"{base}.prune-"):
            place = os.path.join(folder, entry)
            with contextlib.suppress(FileNotFoundError):  # another prune's, just put in its place
                if time.time() - os.lstat(place).st_mtime > 3600:  # a younger one may be another prune's, at work
                    os.unlink(place)
