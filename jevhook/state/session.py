"""What the hooks of one session tell each other: a small private memory, bounded, expiring, never needed.

One append-only file a session below ``<state>/jevhook/sessions``, named by a keyed digest of host and session, so that
the directory tells nobody which sessions there were.  Everything here is silent on failure: a lost memory means one
question or one notice more, never another verdict of the rules.

Facts are stored as they are given: redact what may hold free text.
"""

from __future__ import annotations

import os
import time

from .. import jsonio, ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..event import Event

MAX_LINE = 16 << 10
MAX_FILE = 512 << 10
TAIL = 256 << 10
KEEP_SECONDS = 7 * 86400.0
KEPT_MARK = 86400.0  # seconds in which a session's later calls are judged knowing what a result tried


def _folder(env: Mapping[str, str]) -> str:
    base = ledger.directory(env)
    return os.path.join(base, "sessions") if base else ""


def file_stem(env: Mapping[str, str], event: Event) -> str:
    """The session's file without its extension, or "" when the session can't be told from others."""
    folder = _folder(env)
    if not folder or not event.session:
        return ""
    name = ledger.digest([event.host, event.session], env)
    return os.path.join(folder, name[:32]) if name else ""


def remember(env: Mapping[str, str], event: Event, kind: str, **facts: Any) -> None:
    """Note ``facts`` (JSON values, less than 16 KB) under ``kind`` for the later hooks of the event's session."""
    try:
        stem = file_stem(env, event)
        if not stem:
            return
        line = jsonio.dumps({"kind": kind, "at": time.time(), "facts": facts}).encode("ascii", "replace") + b"\n"
        if len(line) > MAX_LINE:
            return
        lock = os.path.join(_folder(env), "lock")
        ledger.append_line(stem + ".ndjson", line, lock, max_bytes=MAX_FILE, generations=1)
        _prune_sometimes(env)
    except (OSError, ValueError, RecursionError):
        pass


def _tail(name: str, most: int) -> bytes:
    """The last whole lines of ``name``, at most ``most`` bytes; b"" when there are none or the file isn't ours."""
    try:
        fd = ledger.open_own(name, os.O_RDONLY)
    except (OSError, ValueError):
        return b""
    try:
        size = os.fstat(fd).st_size
        start = max(0, size - most)
        os.lseek(fd, start, os.SEEK_SET)
        data = b""
        while len(data) < most:
            part = os.read(fd, most - len(data))
            if not part:
                break
            data += part
    except OSError:
        return b""
    finally:
        os.close(fd)
    return data.partition(b"\n")[2] if start else data


def recall(env: Mapping[str, str], event: Event, kind: str, max_age: float = KEPT_MARK) -> list[dict[str, Any]]:
    """The facts remembered under ``kind`` in the event's session during the last ``max_age`` seconds, oldest first.

    Each is the dict of facts with ``at`` (Unix time, seconds) added.  Looks at the last 256 KB only; [] on any failure.
    """
    found: list[dict[str, Any]] = []
    try:
        if not os.path.isdir(_folder(env)):  # nothing was ever remembered: no key need be made to find that out
            return found
        stem = file_stem(env, event)
        if not stem:
            return found
        data = _tail(stem + ".ndjson", TAIL)
        if len(data) < TAIL // 2:  # the file has just been turned over
            data = _tail(stem + ".ndjson.1", TAIL - len(data)) + b"\n" + data
        oldest = time.time() - max_age
        head = b'{"kind":' + jsonio.dumps(kind).encode("ascii") + b","
        for line in data.split(b"\n"):
            if not line.startswith(head):
                continue
            try:
                entry = jsonio.loads(line.decode("ascii"))
            except ValueError:
                continue
            at, facts = entry.get("at"), entry.get("facts")
            if isinstance(at, (int, float)) and at >= oldest and isinstance(facts, dict):
                facts["at"] = at
                found.append(facts)
    except (OSError, ValueError, RecursionError):
        pass
    return found


def marks(env: Mapping[str, str], kind: str, max_age: float = 86400, most: int = 200) -> list[dict[str, Any]]:
    """The facts remembered under ``kind`` in any session during the last ``max_age`` seconds, oldest first, each with
    its ``at``.  For people and their commands: it reads up to ``most`` sessions, those last written to.  Never raises."""
    found: list[dict[str, Any]] = []
    try:
        with os.scandir(_folder(env)) as entries:
            files = [(_written(entry), entry.path) for entry in entries if entry.name.endswith(".ndjson")]
    except (OSError, ValueError):
        return found
    oldest = time.time() - max_age
    for _, path in sorted(files, reverse=True)[:most]:
        for line in _tail(path, TAIL).split(b"\n"):
            try:
                entry = jsonio.loads(line.decode("ascii")) if line else {}
                facts = entry["facts"]
                if entry["kind"] == kind and entry["at"] >= oldest:
                    found.append({**facts, "at": entry["at"]})
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
    return sorted(found, key=lambda facts: float(facts["at"]))


def _written(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:  # pruned meanwhile
        return 0.0


def once(env: Mapping[str, str], event: Event, what: str) -> bool:
    """True the first time ``what`` is asked about in the event's session, of any number of hooks at once.

    True as well when that can't be known (no session, no state directory): a notice too many beats none.
    """
    try:
        stem = file_stem(env, event)
        mark = ledger.digest(["once", what], env)
        if not stem or not mark:
            return True
        name = f"{stem}.{mark[:16]}.once"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        try:
            fd = os.open(name, flags, 0o600)
        except FileNotFoundError:
            ledger.make_private(os.path.dirname(name))
            fd = os.open(name, flags, 0o600)
        os.close(fd)
        _prune_sometimes(env)
    except FileExistsError:
        return False
    except (OSError, ValueError, RecursionError):
        return True
    return True


def _prune_sometimes(env: Mapping[str, str]) -> None:
    if os.urandom(1)[0] & 63 == 0:
        prune(env)
        from . import archive, withheld  # what is written now and then would else outlive its time

        archive.prune(archive.folder(env))
        withheld.prune(env)


def prune(env: Mapping[str, str], now: float | None = None) -> int:
    """Delete what no hook has written to for seven days, at most 50 files a call; how many.  Never raises."""
    oldest = (time.time() if now is None else now) - KEEP_SECONDS
    gone = seen = 0
    try:
        with os.scandir(_folder(env)) as entries:
            for entry in entries:
                seen += 1
                if gone >= 50 or seen > 4000:  # this runs inside a tool call
                    break
                try:
                    if not entry.name.endswith((".ndjson", ".ndjson.1", ".once", ".settings", ".tmp")):
                        continue
                    facts = entry.stat(follow_symlinks=False)
                    if facts.st_mtime < oldest and not entry.is_dir(follow_symlinks=False):
                        gone += ledger.unlink_unchanged(entry.path, facts)
                except OSError:
                    continue
    except (OSError, ValueError):
        pass
    return gone
