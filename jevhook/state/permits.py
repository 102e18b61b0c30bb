"""One-time permits: a person lets exactly one stopped call run once (``jevhook allow-once CODE``).

Three kinds of private file (0600) below ``<state>/jevhook/permits`` (0700):

- ``CODE.offer``    a stopped call: its keyed digest (tool, whole input, directory) and its words, redacted, for the
  person to read.  Written by the hook that denied it, once for any number of hooks.
- ``DIGEST.permit`` that call may run once.  Written by the person's command; whichever hook renames it first has it.
- ``CALL.used``      what a permit becomes: every hook of that one call finds it, until the tool has run.  Where a gate is
  registered twice (a person's settings and a managed policy's), the other hook would else deny what was permitted.

A code is five letters out of the call's digest, so a call that is tried again keeps its code.  Letters alone bind
nothing: what counts is the digest in the offer.  As with the off switch, only a directory that is ours, that nobody
else can write and that lies in no work tree counts: a repository can set a host's environment.
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

OFFERED_SECONDS = 86400.0  # how long a code can be used: a person may look in the next morning
AGAIN = 60.0  # seconds within which all hooks of a call have come
MAX_FILES = 200
MAX_WORDS = 4000  # characters of the call that are kept for the person
MAX_READ = 100_000  # characters that are redacted for it
LETTERS = "BCDFGHJKMNPQRSTVWXZ"  # no vowels, so no words; nothing that looks like another letter or a digit
_LIMIT = 64 << 10
# The hosts' own tools carry a label for people; the model words it anew each time it tries.  An MCP tool's is content.
_LABEL = "description"


def folder(env: Mapping[str, str]) -> str:
    """The permits' directory (it may not exist yet), "" when neither XDG_STATE_HOME nor a home is known."""
    base = ledger.directory(env)
    return os.path.join(base, "permits") if base else ""


def bound_to(event: Event, env: Mapping[str, str]) -> str:
    """The keyed digest of tool, whole input and directory, "" for what JSON can't hold exactly or without a key."""
    given = event.input
    if _LABEL in given and not event.tool.startswith("mcp__"):
        given = {key: value for key, value in given.items() if key != _LABEL}
    try:  # the text is what is digested: ledger.digest would make do with less for a value that is not JSON
        text = jsonio.dumps(["permit", event.tool, given, event.cwd], sort_keys=True)
    except ValueError:
        return ""
    return ledger.digest(text, env)


def offer(event: Event, call: str, rule: str | None, env: Mapping[str, str], now: float) -> str:
    """The code for ``call`` (of ``bound_to``), noted for the person; "" when none can be kept.  Never raises."""
    try:
        place = _trusted(env, event.cwd, make=True)
        if not place or not call:
            return ""
        kept = {
            "call": call, "at": now, "host": event.host, "tool": event.tool, "cwd": event.cwd, "rule": rule or "",
            "what": words(event, env),
        }  # fmt: skip
        for code in _codes(call):
            if _claim(os.path.join(place, f"{code}.offer"), kept, now):
                prune(env, now)
                return code
    except (OSError, ValueError, RecursionError):
        pass
    return ""


def offered(code: str, env: Mapping[str, str], now: float) -> dict[str, Any] | None:
    """What was stopped under ``code`` (any case): call, at, host, tool, cwd, rule, what; None when nothing was."""
    name = code.strip().upper()
    if not name or len(name) > 12 or any(letter not in LETTERS for letter in name):
        return None
    place = folder(env)
    found = _read(os.path.join(place, f"{name}.offer")) if place else None
    return {**found, "code": name} if found is not None and 0 <= now - _at(found) <= OFFERED_SECONDS else None


def all_offered(env: Mapping[str, str], now: float) -> list[dict[str, Any]]:
    """Every call that has a code, the latest first."""
    try:
        names = os.listdir(folder(env) or os.devnull)
    except OSError:
        return []
    found = [offered(name[:-6], env, now) for name in names if name.endswith(".offer")]
    return sorted((entry for entry in found if entry is not None), key=_at, reverse=True)


def grant(found: Mapping[str, Any], env: Mapping[str, str], now: float) -> None:
    """Let the call of ``found`` (of ``offered``) run once from ``now`` on.  Raises OSError, ValueError."""
    place = _trusted(env, "", make=True)
    if not place:
        from .off import distrusted

        raise OSError(distrusted(env) or f"{folder(env)} is not a private directory of yours")
    call = str(found["call"])
    kept = {"call": call, "at": now, "code": found["code"], "rule": found.get("rule", "")}
    _put(os.path.join(place, f"{call[:40]}.permit"), kept)


def take(event: Event, call: str, env: Mapping[str, str], now: float, seconds: float) -> dict[str, Any] | None:
    """The permit for ``call`` (of ``bound_to``) that is not older than ``seconds``, used up by this; None without one.

    Of any number of calls at once one gets it, and with it all hooks of that one.  Never raises.
    """
    place = folder(env)
    if not place or not call:
        return None
    path, used = os.path.join(place, f"{call[:40]}.permit"), _used(event, env, place)
    try:
        # In this order: between two looks the one may become the other.
        if not (os.path.lexists(path) or os.path.lexists(used)) or not _trusted(env, event.cwd):
            return None
        for _ in range(2):  # the first may find what another call with this id has left
            if not os.path.lexists(used):
                try:
                    os.replace(path, used)  # before it is read: one that is granted anew meanwhile is another file
                except FileNotFoundError:
                    pass  # another hook was first: of this call, then it is there
            found = _read(used)
            holds = found is not None and found.get("call") == call and -1 <= now - _at(found) < seconds
            # A model's server may give the same id to call after call; no two hooks of one call are so far apart.
            holds = holds and 0 <= time.time() - os.lstat(used).st_ctime < AGAIN
            if not holds or not event.call_id:
                os.unlink(used)
            if holds:
                return found
    except (OSError, ValueError):
        pass
    return None


def over(event: Event, env: Mapping[str, str]) -> None:
    """The tool has run: no hook of this call comes any more, but another call with its id may.  Never raises."""
    try:
        os.unlink(_used(event, env, folder(env)))
    except (OSError, ValueError):
        pass


def _used(event: Event, env: Mapping[str, str], place: str) -> str:
    """Where the hooks of the event's call find a permit that one of them has taken."""
    mark = ledger.digest(["used", event.host, event.session, event.call_id], env) if event.call_id else ""
    return os.path.join(place, f"{mark[:40] or os.urandom(20).hex()}.used")


def words(event: Event, env: Mapping[str, str]) -> str:
    """The call as a person reads it: redacted, then cut, and it says when it was cut."""
    from ..text.printable import printable
    from ..text.redact import redact

    command = event.input.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = " ".join(command)
    text = command if isinstance(command, str) else jsonio.dumps(event.input)
    shown = printable(redact(text[:MAX_READ], env))
    more = len(shown) - MAX_WORDS + max(0, len(text) - MAX_READ)
    return f"{shown[:MAX_WORDS]}… ({more} more characters that are not shown)" if more > 0 else shown


def prune(env: Mapping[str, str], now: float) -> None:
    """Delete what has expired, then the oldest of what is too much.  Never raises."""
    kept: list[tuple[float, str, os.stat_result]] = []
    try:
        with os.scandir(folder(env)) as entries:
            for entry in entries:
                if entry.name.endswith((".offer", ".permit", ".used", ".tmp")):
                    facts = entry.stat(follow_symlinks=False)
                    kept.append((facts.st_mtime, entry.path, facts))
        kept.sort(reverse=True)
        for at, (changed, path, facts) in enumerate(kept):
            if now - changed > OFFERED_SECONDS + 60 or at >= MAX_FILES:
                ledger.unlink_unchanged(path, facts)
    except (OSError, ValueError):
        pass


def _codes(call: str) -> list[str]:
    """The codes that the call may have, best first: five letters each, then one of ten that nothing else has."""
    number = int(call, 16)
    letters = []
    for _ in range(40):
        number, at = divmod(number, len(LETTERS))
        letters.append(LETTERS[at])
    text = "".join(letters)
    return [text[0:5], text[5:10], text[10:15], text[15:25]]


def _trusted(env: Mapping[str, str], cwd: str, *, make: bool = False) -> str:
    """The directory when it is one that counts (made where asked for), else "".  Raises OSError."""
    from .off import distrusted

    place = folder(env)
    if not place:
        return ""
    if make:
        ledger.make_private(place)
    if distrusted(env, cwd):
        return ""
    facts = os.lstat(place)
    owner = getattr(os, "geteuid", None)
    private = owner is None or (facts.st_uid == owner() and not facts.st_mode & 0o077)
    return place if stat.S_ISDIR(facts.st_mode) and private else ""


def _claim(path: str, kept: dict[str, Any], now: float) -> bool:
    """Make the offer at ``path`` this call's; False where it is another call's, however close the race."""
    aside = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    _put(aside, kept)
    try:
        os.link(aside, path)  # the one step that of any number of hooks only one can take: nothing is looked at before
    except FileExistsError:
        there = _read(path)
        if there is not None and there["call"] != kept["call"] and now - _at(there) <= OFFERED_SECONDS:
            return False
        _put(path, kept)
    finally:
        os.unlink(aside)
    return True


def _put(path: str, kept: dict[str, Any]) -> None:
    from ..config import write_private

    write_private(path, jsonio.dumps(kept).encode("ascii"))


def _read(path: str) -> dict[str, Any] | None:
    try:
        fd = ledger.open_own(path, os.O_RDONLY)
        try:
            found = jsonio.loads(os.read(fd, _LIMIT).decode("ascii"))
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("call"), str) else None


def _at(found: Mapping[str, Any]) -> float:
    at = found.get("at")
    return float(at) if isinstance(at, (int, float)) and not isinstance(at, bool) else -1e12
