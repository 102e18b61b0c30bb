"""What was taken out of results, for a person: the passages as the tool returned them.

``<state>/jevhook/withheld``, mode 0700, one file a call, mode 0600, named by a keyed digest of the call: several hooks
for one call make one file, and the directory tells nobody what was run.  The texts are in base64, so that an agent that
searches the home directory does not come upon them by accident; that it may not look here is a rule (``self.withheld``).
Old files go after KEEP_SECONDS, the oldest when all together are more than MAX_TOTAL.  Nothing here raises.
"""

from __future__ import annotations

import os
import time

from .. import jsonio, ledger
from . import archive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..event import Event

KEEP_SECONDS = 14 * 86400.0
MAX_FILE = 4 << 20  # bytes of original text that are kept of one call
MAX_TOTAL = 64 << 20
MAX_READ = 16 << 20
NAME = 12  # hex digits that name a call's file in the note that stands for a passage
_ENDINGS = (".json", ".tmp")


def folder(env: Mapping[str, str]) -> str:
    """The directory (it may not exist yet), "" when neither XDG_STATE_HOME nor a home is known."""
    base = ledger.directory(env)
    return os.path.join(base, "withheld") if base else ""


def name_of(env: Mapping[str, str], event: Event) -> str:
    """What the originals of the event's call are called, 12 hex digits; "" where nothing can be kept."""
    call = event.call_id or jsonio.dumps([event.input, event.result])
    return ledger.digest(["withheld", event.host, event.session, event.tool, call], env)[:NAME] if folder(env) else ""


def keep(env: Mapping[str, str], name: str, passages: Sequence[Mapping[str, Any]]) -> bool:
    """Write ``passages`` (JSON values, each with its ``text``) under ``name``, beside what another hook for the call wrote
    there; whether they are there.

    Beyond MAX_FILE bytes of text the rest is cut, and its passage says ``cut``.
    """
    try:
        place = folder(env)
        if not name or not place or not archive.private(place):
            return False
        held = ledger.lock(f"{place}.lock")
        try:
            path = os.path.join(place, name + ".json")
            there = read(env, name)
            together = _all(there, passages)
            room = MAX_FILE - sum(len(_bytes(one)) for one in there)
            _write(path, together)
        finally:
            if held >= 0:
                os.close(held)
        prune(env, path)
        return room > 0 or len(together) == len(there)  # else another hook has filled it, and nothing of ours is there
    except (OSError, ValueError, RecursionError, KeyError):
        return False


def _bytes(passage: Mapping[str, Any]) -> bytes:
    return str(passage["text"]).encode("utf-8", "surrogatepass")


def _all(there: Sequence[Mapping[str, Any]], mine: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What another hook kept and what this one does: their judges may have marked different passages, and the ledger
    promised both to the person.  So it does where a call has another one's id: the texts differ then."""

    def at(passage: Mapping[str, Any]) -> str:
        return jsonio.dumps([passage.get("slot"), passage.get("at")])

    had: dict[str, list[Mapping[str, Any]]] = {}
    for one in there:
        had.setdefault(at(one), []).append(one)

    def is_there(passage: Mapping[str, Any]) -> bool:
        text = str(passage["text"])
        return any(
            text == one["text"] or (one.get("cut") and text.startswith(one["text"])) for one in had.get(at(passage), ())
        )

    return [*there, *(one for one in mine if not is_there(one))]


def _write(path: str, passages: Sequence[Mapping[str, Any]]) -> None:
    import binascii

    from ..config import write_private

    room = MAX_FILE
    kept = []
    for passage in passages:
        data = _bytes(passage)
        entry = {key: value for key, value in passage.items() if key != "text"}
        if len(data) > room:
            data, entry["cut"] = data[:room], True
        room -= len(data)
        entry["base64"] = binascii.b2a_base64(data, newline=False).decode("ascii")
        kept.append(entry)
    write_private(path, jsonio.dumps({"at": time.time(), "passages": kept}).encode("ascii"))


def prune(env: Mapping[str, str], spare: str = "") -> int:
    """Delete what is too old or too much, never ``spare``; how many files."""
    return archive.prune(folder(env), spare=spare, seconds=KEEP_SECONDS, most=MAX_TOTAL, endings=_ENDINGS)


def read(env: Mapping[str, str], name: str) -> list[dict[str, Any]]:
    """The passages kept under ``name``, each with its ``text``; [] when there are none (any more)."""
    import binascii

    place = folder(env)
    if not place or len(name) != NAME or name.strip("0123456789abcdef"):
        return []
    try:
        fd = ledger.open_own(os.path.join(place, name + ".json"), os.O_RDONLY)
        with open(fd, "rb") as file:
            found = jsonio.loads(file.read(MAX_READ).decode("ascii"))["passages"]
        for entry in found:
            data = binascii.a2b_base64(entry.pop("base64"))
            entry["text"] = data.decode("utf-8", "ignore" if entry.get("cut") else "surrogatepass")
        return list(found)
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return []
