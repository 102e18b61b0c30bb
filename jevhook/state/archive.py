"""Whole outputs of which the model was given a part: private files that it can read with its ordinary tools.

``<state>/jevhook/archive``, mode 0700, files 0600, named by a keyed digest of the call and the text, so that the
directory tells nobody what was run and two hooks for one call make one file.  Old files go after ``KEEP_SECONDS``, and
the oldest when all together are more than ``MAX_TOTAL``.  Nothing here raises: what can't be kept is not cut.
"""

from __future__ import annotations

import os
import stat
import time

from .. import jsonio, ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..event import Event

KEEP_SECONDS = 3 * 86400.0
MAX_FILE = 32 << 20  # bytes
MAX_TOTAL = 256 << 20
MAX_FILES = 2000
_PLACE = "jevhook/archive"
_ENDINGS = (".txt", ".kept", ".tmp")


def folder(env: Mapping[str, str]) -> str:
    """The archive's directory (it may not exist yet), "" when neither XDG_STATE_HOME nor a home is known."""
    base = ledger.directory(env)
    return os.path.join(base, "archive") if base else ""


def named_in(value: Any, env: Mapping[str, str], depth: int = 0) -> bool:
    """Whether a text in ``value`` (a tool's input, a path) names the archive, in whatever way it is written."""
    if isinstance(value, str):
        if _PLACE in value.replace("\\", "/").replace("//", "/"):
            return True
        place = folder(env)
        return bool(place) and place in value
    if depth > 6:
        return False
    if isinstance(value, dict):
        return any(named_in(item, env, depth + 1) for item in value.values())
    if isinstance(value, list):
        return any(named_in(item, env, depth + 1) for item in value)
    return False


def keep(env: Mapping[str, str], event: Event, text: str, which: str = "") -> str:
    """The path of a private file that holds ``text`` (``which``: which text of the call's result); "" when there is none.

    The same call and text get the same file, of any number of hooks at once; it is whole as soon as it is there.
    """
    try:
        place = folder(env)
        if not place:
            return ""
        name = ledger.digest([event.host, event.session, event.call_id, event.tool, event.input, which, text], env)
        if not name:
            return ""
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > MAX_FILE or not private(place):
            return ""
        path = os.path.join(place, name[:32] + ".txt")
        if not _same(path, len(data)):
            from ..config import write_private

            write_private(path, data)
            prune(place, spare=path)
        return path
    except (OSError, ValueError, RecursionError):
        return ""


def unwritten(env: Mapping[str, str]) -> str:
    """A path as ``keep`` gives them, for a replay, which keeps nothing; "" where nothing could be kept."""
    place = folder(env)
    return os.path.join(place, "0" * 32 + ".txt") if place else ""


def agree(path: str, mine: Any) -> Any:
    """What all hooks for one call hand on: ``mine`` (JSON), or what another one noted first beside ``path``.

    Two hooks for one call ask a judge at the same time and may hear different answers; the model must get one result.
    """
    beside = path.removesuffix(".txt") + ".kept"
    aside = f"{beside}.{os.getpid()}.{time.monotonic_ns():x}.tmp"
    try:
        data = jsonio.dumps(mine).encode("ascii")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        fd = os.open(aside, flags, 0o600)
        try:
            whole = os.write(fd, data) == len(data)
        finally:
            os.close(fd)
        try:
            if whole:
                os.link(aside, beside)
            return mine
        except FileExistsError:
            fd = ledger.open_own(beside, os.O_RDONLY)
            try:
                return jsonio.loads(os.read(fd, 1 << 20).decode("ascii"))
            finally:
                os.close(fd)
        finally:
            os.unlink(aside)
    except (OSError, ValueError, RecursionError):
        return mine


def private(place: str) -> bool:
    """Make the directory; whether it is ours and nobody else's.  Raises OSError."""
    ledger.make_private(place)
    facts = os.lstat(place)
    if not stat.S_ISDIR(facts.st_mode):
        return False
    if hasattr(os, "geteuid"):
        if facts.st_uid != os.geteuid():
            return False
        if facts.st_mode & 0o077:
            os.chmod(place, 0o700)
    return True


def _same(path: str, size: int) -> bool:
    try:
        fd = ledger.open_own(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        if os.fstat(fd).st_size != size:
            return False
        os.utime(path)  # it is wanted again: it stays as long as a new one
        return True
    finally:
        os.close(fd)


def prune(
    place: str,
    now: float | None = None,
    spare: str = "",
    *,
    seconds: float = KEEP_SECONDS,
    most: int = 0,
    endings: tuple[str, ...] = _ENDINGS,
) -> int:
    """Delete what is older than ``seconds`` in the directory ``place``, then the oldest of more than ``most`` bytes (0:
    MAX_TOTAL) or MAX_FILES files, never ``spare``; how many.  Never raises."""
    most = most or MAX_TOTAL
    moment = time.time() if now is None else now
    gone = 0
    found: list[tuple[float, str, os.stat_result]] = []
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                if not entry.name.endswith(endings):
                    continue
                try:
                    facts = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISREG(facts.st_mode):
                    found.append((facts.st_mtime, entry.path, facts))
        found.sort(reverse=True)
        total = 0
        for at, (changed, path, facts) in enumerate(found):
            total += facts.st_size
            if path != spare and (moment - changed > seconds or total > most or at >= MAX_FILES):
                try:
                    gone += ledger.unlink_unchanged(path, facts)
                except OSError:
                    continue
    except (OSError, ValueError):
        pass
    return gone
