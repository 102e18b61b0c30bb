"""The circuit breaker: a dead provider must not cost every event its deadline.

Every hook is a process of its own, so what the calls before this one met is kept on disk: one small private file for
each judge below ``<state>/jevhook/breaker``, replaced in one step under a lock that nobody waits for.  Whatever is
wrong with these files (corrupt, locked, not writable) means that the call is made: the breaker saves time, it is never
a condition.

- Three failures in a row open it, and so do two timeouts in a row: a timeout costs the whole deadline.  Calls that
  ran side by side and met the same outage are one failure.
- A lone timeout after five idle minutes does not count: a model that sleeps is slow to give its first answer.
- A refused key or an empty account opens it at once and for longer, for trying again cannot help.
- An answer that was no use for one event (bad request, invalid response) opens it only at the tenth in a row, an
  oversized event or a mistake in the configuration never does.
- Open means: no call for 30 s, then one by one process, and while that fails, twice as long each time up to ten
  minutes.  Any answer closes it.

Times are seconds since the epoch, given by the caller.
"""

from __future__ import annotations

import os
import time

from .. import config, jsonio, ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FAILURES = 3
USELESS = 10
WINDOW = 900.0  # how long a failure is remembered while nothing else happens
IDLE = 300.0  # after this long a model may have gone to sleep (Ollama unloads after five minutes)
WAIT = 30.0
LONG_WAIT = 300.0
MAX_WAIT = 600.0
LEASE = 30.0  # a process that was killed while it tried is waited for this long
PATIENCE = 0.003  # seconds for the lock
NOTED_EVERY = 60.0  # how often a success is written down: only the idle time hangs on it

_LASTING = frozenset(("auth", "payment"))
_NO_USE = frozenset(("bad_request", "invalid_response"))
_SILENT = frozenset(("config", "oversized"))  # mostly found out before anything is sent: no news of the provider
_LIMIT = 4096
_KEPT = 32
_NUMBERS = ("count", "useless", "failed_at", "used_at", "opened_at", "open_until", "wait")


class State:
    """What is known of one judge.

    ``count`` ``useless``  failures, and answers without use, in a row;  ``kind`` what the last failure was
    ``failed_at`` ``used_at``  the last failure, the last call of any outcome
    ``opened_at`` ``open_until`` ``wait``  0 while closed; the length of this opening in seconds
    """

    __slots__ = ("count", "failed_at", "kind", "open_until", "opened_at", "used_at", "useless", "wait")

    def __init__(self) -> None:
        self.count = 0.0
        self.useless = 0.0
        self.kind = ""
        self.failed_at = 0.0
        self.used_at = 0.0
        self.opened_at = 0.0
        self.open_until = 0.0
        self.wait = 0.0


def name(env: Mapping[str, str], provider: str, address: str, model: str = "", key: str = "") -> str:
    """The breaker's key for a judge.  ``key`` only goes in as a locally keyed digest: a new key, like a new model,
    starts with a closed breaker, so that a person who has mended the configuration need not wait."""
    parts = [provider, address, model]
    if key:
        parts.append(ledger.digest(["breaker", key], env)[:8])
    return " ".join(part for part in parts if part)


def allowed(env: Mapping[str, str], key: str, now: float) -> tuple[bool, str]:
    """(whether the call may be made, why it may not or that this is the one try).  Never raises, never waits.

    A True with a text is the half-open try, claimed for this process: make the call, then ``record`` it.
    """
    try:
        place = _place(env, key)
        state = _read(place, now) if place else None
        if state is None or not state.open_until:
            return True, ""
        left = state.open_until - now
        if left > 0:
            return False, f"skipped after {_said(state.kind)}; the next try is in {int(left) + 1} s"
        if _claim(place, state.open_until, now):
            return True, f"one try after {_said(state.kind)}"
        return False, f"skipped after {_said(state.kind)}; another call is trying it now"
    except (OSError, ValueError, OverflowError):
        return True, ""


def record(env: Mapping[str, str], key: str, ok: bool, kind: str, seconds: float, now: float) -> None:
    """Note what came of a call that took ``seconds`` and ended at ``now``; ``kind`` is the error's, "" when ``ok``.

    Never raises; waits for a lock for a few milliseconds at most, and then the outcome is simply not noted.
    """
    try:
        if kind in _SILENT:
            return
        place = _place(env, key)
        if not place:
            return
        state = _read(place, now)
        if ok and state is not None and _is_quiet(state) and now - state.used_at < NOTED_EVERY:
            return
        folder = os.path.dirname(place)
        if not os.path.isdir(folder):
            ledger.make_private(folder)
        held = _lock(place + ".lock")
        if held is None:
            return
        try:
            before = _read(place, now) or State()
            opened = before.opened_at
            after = move(before, ok, kind, seconds, now)
            _write(place, key, after)
            if after.opened_at != opened:
                _prune(folder)
        finally:
            if held >= 0:
                os.close(held)
    except (OSError, ValueError, OverflowError):
        pass


def move(state: State, ok: bool, kind: str, seconds: float, now: float) -> State:
    """The state after one more outcome: the whole rule, without a disk.  ``state`` itself may be changed."""
    idle = now - seconds - state.used_at
    earlier = state.kind
    used_at, state.used_at = state.used_at, max(now, state.used_at)
    if ok:
        fresh = State()
        fresh.used_at = state.used_at
        return fresh
    if kind in _NO_USE and (state.open_until or state.useless + 1 < USELESS):
        answered = State()  # without use, but it answered: not dead
        answered.used_at, answered.useless = state.used_at, state.useless + 1
        return answered

    began = now - seconds
    if state.open_until and began < state.opened_at:
        return state  # it was under way when the breaker opened: nothing new
    if state.open_until:
        state.kind = kind
        return _open(state, min(MAX_WAIT, max(state.wait * 2, LONG_WAIT if kind in _LASTING else 0)), now)
    streak = state.failed_at > 0 and now - state.failed_at < WINDOW
    if streak and began < state.failed_at and kind not in _LASTING:
        return state  # side by side with a failure that is already counted
    asleep = kind == "timeout" and not streak and (not used_at or idle > IDLE)
    state.count = (state.count if streak else 0) + (0 if asleep else 1)
    state.failed_at, state.kind = now, kind
    twice = streak and kind == earlier == "timeout"
    if kind in _LASTING:
        return _open(state, LONG_WAIT, now)
    if state.count >= FAILURES or twice or kind in _NO_USE:
        return _open(state, WAIT, now)
    return state


def _open(state: State, wait: float, now: float) -> State:
    state.opened_at, state.open_until, state.wait = now, now + wait, wait
    return state


def _is_quiet(state: State) -> bool:
    return not (state.count or state.useless or state.failed_at or state.open_until)


def _said(kind: str) -> str:
    return {
        "auth": "a refused key",
        "payment": "an empty account",
        "timeout": "timeouts",
        "rate_limited": "too many requests",
        "unreachable": "failed connections",
        "server": "failures of the service",
    }.get(kind, "failures")


def known(env: Mapping[str, str], now: float) -> list[tuple[str, State]]:
    """(key, state) of every judge on record, for people.  Never raises."""
    found: list[tuple[str, State]] = []
    folder = _folder(env)
    try:
        for entry in sorted(os.listdir(folder)):
            if entry.endswith(".json"):
                key = _stored(os.path.join(folder, entry)).get("key")
                state = _read(os.path.join(folder, entry), now)
                if isinstance(key, str) and state is not None:
                    found.append((key, state))
    except (OSError, ValueError):
        pass
    return found


def forget(env: Mapping[str, str], key: str) -> None:
    """Close the breaker of ``key`` by hand.  Never raises."""
    place = _place(env, key)
    if place:
        try:
            os.unlink(place)
        except OSError:
            pass


# -- the files -------------------------------------------------------------------------------------------------


def _folder(env: Mapping[str, str]) -> str:
    base = ledger.directory(env)
    return os.path.join(base, "breaker") if base else ""


def _place(env: Mapping[str, str], key: str) -> str:
    folder = _folder(env)
    digest = ledger.digest(["breaker", key], env) if folder else ""
    return os.path.join(folder, digest[:24] + ".json") if digest else ""


def _stored(place: str) -> dict[str, object]:
    """The JSON object at ``place``.  Raises OSError and ValueError."""
    handle = ledger.open_own(place, os.O_RDONLY)
    try:
        data = os.read(handle, _LIMIT + 1)
    finally:
        os.close(handle)
    kept = jsonio.loads(data.decode("ascii")) if len(data) <= _LIMIT else None
    if not isinstance(kept, dict):
        raise ValueError("not a breaker's state")
    return kept


def _read(place: str, now: float) -> State | None:
    """The state at ``place``; None when there is none, or none that can be believed."""
    try:
        kept = _stored(place)
    except (OSError, ValueError):
        return None
    state = State()
    for field in _NUMBERS:
        value = kept.get(field)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1e11:
            return None
        setattr(state, field, float(value))
    kind = kept.get("kind")
    state.kind = kind if isinstance(kind, str) and len(kind) <= 20 else ""
    # A clock that was set back must not keep a breaker open for a year.
    ahead = max(state.used_at, state.failed_at, state.opened_at, state.open_until - state.wait)
    return state if ahead <= now + 5 and state.wait <= MAX_WAIT else None


def _write(place: str, key: str, state: State) -> None:
    kept: dict[str, object] = {field: getattr(state, field) for field in _NUMBERS}
    config.write_private(place, jsonio.dumps({"key": key[:400], "kind": state.kind, **kept}).encode("ascii"))


def _claim(place: str, open_until: float, now: float) -> bool:
    """Whether this process is the one that tries.  An exclusive creation can't be held up by anybody, a lock can."""
    turn = int((now - open_until) // LEASE)
    mark = f"{place[:-5]}.{int(open_until * 1000)}-{turn}.try"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        os.close(os.open(mark, flags, 0o600))
    except FileExistsError:
        return False
    return True


def _lock(place: str) -> int | None:
    """The locked file's descriptor, -1 where there are no locks, None when somebody else has it."""
    if ledger.fcntl is None:
        return -1
    handle = ledger.open_own(place, os.O_RDWR | os.O_CREAT)
    until = time.monotonic() + PATIENCE
    while True:
        try:
            ledger.fcntl.flock(handle, ledger.fcntl.LOCK_EX | ledger.fcntl.LOCK_NB)
            return handle
        except BlockingIOError:
            if time.monotonic() >= until:
                break
            time.sleep(0.0003)
        except OSError:  # a file system without locks
            os.close(handle)
            return -1
    os.close(handle)
    return None


def _prune(folder: str) -> None:
    """Old tries go after an hour, and all but the newest judges."""
    try:
        judges = []
        with os.scandir(folder) as entries:
            for entry in entries:
                written = entry.stat(follow_symlinks=False).st_mtime
                if entry.name.endswith((".try", ".tmp")):
                    if time.time() - written > 3600:
                        os.unlink(entry.path)
                elif entry.name.endswith(".json"):
                    judges.append((written, entry.path))
        for _, path in sorted(judges)[: max(0, len(judges) - _KEPT)]:
            os.unlink(path)
            os.unlink(path + ".lock")
    except OSError:
        pass
