"""What must be known of one file while another is read: what the ledger says of an event, and which a transcript had.

On disk, in a throwaway directory: a gigabyte of ledger must not become a gigabyte of memory.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from ... import ledger
from ..read import points_of
from . import Line, Past, parsed
from .entries import event_of

Key = tuple[str, str, str, bool]
_CHANGED = ("withhold", "trim")
_TELLING = (b'"answers":', *(f'"decision":"{word}"'.encode() for word in _CHANGED))


class Index:
    """``path`` is a file that does not exist yet; whoever made its directory removes it."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE entries (key BLOB PRIMARY KEY, entry TEXT) WITHOUT ROWID")
        self._db.execute("CREATE TABLE seen (key BLOB PRIMARY KEY, file INTEGER) WITHOUT ROWID")
        self._db.execute("BEGIN")
        self.kept = 0

    def close(self) -> None:
        self._db.close()

    def add(self, lines: Iterable[Line]) -> None:
        """Keep a ledger's entries that tell more than a transcript: a judge's answers, and that a result was changed (the
        transcript has what the model was given).  The last about an event counts.
        """
        for _, line in lines:
            entry = parsed(line) if any(mark in line for mark in _TELLING) else None
            past = event_of(entry, "") if isinstance(entry, dict) else None
            if past is not None and past.key is not None:
                row = (_digest(past.key), json.dumps(past.entry))
                self._db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?)", row)
                self.kept += 1

    def known(self, past: Past) -> tuple[Past, list[dict[str, Any]] | None]:
        """The event as it is to be judged, and the points of its ledger entry where that has something to tell."""
        if not self.kept or past.entry is not None or past.key is None:
            return past, None
        found = self._db.execute("SELECT entry FROM entries WHERE key = ?", (_digest(past.key),)).fetchone()
        if found is None:
            return past, None
        entry: dict[str, Any] = json.loads(found[0])
        if past.requests is None and entry.get("state_digest") != _state_digest(past):
            return past, None  # ids in a file of hook events may be made up; and it has what the hook was sent, whole
        if past.requests is not None and entry.get("decision") in _CHANGED:
            whole = event_of(entry, past.where)
            if whole is not None and whole.payload is not None:
                return whole, None
            return replace(past, entry=entry, by_entry=True), None
        return past, points_of(entry)

    def again(self, past: Past, file: int) -> bool:
        """Whether another file's transcript had this event.  A transcript's own events are noted; a ledger's are not."""
        if past.key is None:
            return False
        key = _digest(past.key)
        found = self._db.execute("SELECT file FROM seen WHERE key = ?", (key,)).fetchone()
        if found is None and past.entry is None:
            self._db.execute("INSERT INTO seen VALUES (?, ?)", (key, file))
        return found is not None and found[0] != file


def _state_digest(past: Past) -> str:
    """As the hook writes it.  There is an entry, so there is a key: none is made here."""
    given = past.payload or {}
    return ledger.digest({"tool": given.get("tool_name"), "input": given.get("tool_input")}, os.environ)


def _digest(key: Key) -> bytes:
    return blake2b("\0".join(map(str, key)).encode("utf-8", "replace"), digest_size=16).digest()
