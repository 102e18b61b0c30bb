"""What a person said about a decision: appended records beside the ledger, never an edit.

``labels.ndjson`` in the state directory, one line each: ``{"schema": 1, "id", "label", "note", "at", "by"}``.  The last
line about an id counts.  It is never rotated: this is a person's work, and small.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .. import jsonio, ledger
from ..text.printable import printable
from ..text.redact import redact
from .read import Counted

LABELS = (
    "good",
    "bad",
)  # the decision was right; it was wrong (a false alarm where it stopped, a miss where it did not)
MAX_NOTE = 500


@dataclass(frozen=True)
class Label:
    """``id`` of a ledger entry, ``label`` of LABELS, ``note`` in a person's words, ``at`` ISO time, ``by`` which command."""

    id: str
    label: str
    note: str
    at: str
    by: str


def place(env: Mapping[str, str]) -> str:
    """The file's path, "" without a state directory."""
    folder = ledger.directory(env)
    return os.path.join(folder, "labels.ndjson") if folder else ""


def add(env: Mapping[str, str], entry_id: str, label: str, note: str = "", by: str = "label") -> Label:
    """Append one label.  Raises ValueError for an unknown one, OSError when it could not be written."""
    if label not in LABELS:
        raise ValueError(f"{label[:40]!r} is no label: {' or '.join(LABELS)}")
    name = place(env)
    if not name:
        raise OSError(errno.ENOENT, "no home directory and no XDG_STATE_HOME")
    said = printable(redact(note, env)).replace("\n", " ").strip()[:MAX_NOTE]
    made = Label(entry_id, label, said, ledger.now_iso(), by)
    record = {"schema": 1, "id": made.id, "label": made.label, "note": made.note, "at": made.at, "by": made.by}
    data = (jsonio.dumps(record) + "\n").encode()
    ledger.append_line(name, data, name.removesuffix(".ndjson") + ".lock", max_bytes=1 << 62, generations=1)
    return made


def every(env: Mapping[str, str], counted: Counted | None = None) -> Iterator[Label]:
    """All labels that were given, oldest first, also those that a later one replaced."""
    counted = Counted() if counted is None else counted
    name = place(env)
    for part in ledger.open_parts(name):
        with part.file as file:
            for number, line in enumerate(file, 1):
                found, rest = ledger.records(line.decode("utf-8", "replace"))
                if rest:
                    counted.skip("torn", f"{part.name}:{number}")
                for value in found:
                    if not isinstance(value, dict) or value.get("label") not in LABELS or not value.get("id"):
                        counted.skip("foreign", f"{part.name}:{number}")
                        continue
                    counted.records += 1
                    yield Label(*(str(value.get(key) or "") for key in ("id", "label", "note", "at", "by")))


def labels(env: Mapping[str, str], counted: Counted | None = None) -> dict[str, Label]:
    """For each labelled entry's id the label that counts: the last."""
    return {one.id: one for one in every(env, counted)}
