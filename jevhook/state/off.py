"""The off switch: ``jevhook off [--for 1h]`` and ``jevhook on``, for the person at the keyboard.

One private file ``$XDG_STATE_HOME/jevhook/off``.  While it is there and its time has not run out, the hook judges
nothing, denies nothing (not even changes to its own files) and says nothing; the ledger still gets one line for every
event, with the reason ``off``.

Only a file that nobody but its owner can read or write, in a directory that nobody else can write and that lies in no
work tree and not in the judged project, switches anything off: a repository can set a host's environment, and with it
``XDG_STATE_HOME``.  A file that can't be read as it should be leaves the gate on.
"""

from __future__ import annotations

import os
import stat

from .. import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LIMIT = 512


def path(env: Mapping[str, str]) -> str:
    """Where the switch is, "" when there is neither a home nor XDG_STATE_HOME."""
    base = ledger.directory(env)
    return os.path.join(base, "off") if base else ""


def switched_off(env: Mapping[str, str], now: float, cwd: str = "") -> tuple[bool, float]:
    """(whether the gate is off, until when): seconds since the epoch, 0 for "until somebody says on".

    ``cwd`` is the judged call's directory.  One ``stat`` while the gate is on.  Never raises.
    """
    place = path(env)
    try:
        facts = os.lstat(place)
    except (OSError, ValueError):
        return False, 0.0
    try:
        if distrusted(env, cwd, facts):
            return False, 0.0
        until = _until(place)
    except (OSError, ValueError):
        return False, 0.0
    return (until == 0 or now < until), until


def distrusted(env: Mapping[str, str], cwd: str = "", facts: os.stat_result | None = None) -> str:
    """Why a switch at ``path(env)`` would not count; "" when it would.  ``facts``: the file's own stat, if it is there.

    Raises OSError when its directory can't be looked at.
    """
    place = path(env)
    if not place:
        return "there is neither a home directory nor XDG_STATE_HOME"
    if facts is not None:
        if not stat.S_ISREG(facts.st_mode):
            return f"{place} is not a regular file"
        if not _own(facts, 0o077):
            return f"{place} is another user's, or others can read or write it"
    folder = os.path.dirname(place)
    if not _own(os.stat(folder), 0o022):
        return f"{folder} is another user's, or others can write it"
    from .. import policy

    tree = policy._foreign(folder, [policy.project_root(cwd), env.get("CLAUDE_PROJECT_DIR", "")])
    return f"{folder} lies in the work tree {tree}" if tree else ""


def switch_off(env: Mapping[str, str], until: float, now: float) -> str:
    """Switch the gate off until ``until`` (0: until ``switch_on``); the file's path.  Raises OSError, ValueError."""
    from ..config import write_private
    from ..jsonio import dumps

    place = path(env)
    if not place:
        raise OSError("there is neither a home directory nor XDG_STATE_HOME")
    ledger.make_private(os.path.dirname(place))
    why = distrusted(env)
    if why:
        raise OSError(why)
    write_private(place, (dumps({"until": until, "since": now}) + "\n").encode("ascii"))
    return place


def switch_on(env: Mapping[str, str]) -> bool:
    """Switch the gate on again; whether there was a switch to take away.  Raises OSError."""
    try:
        os.unlink(path(env))
    except FileNotFoundError:
        return False
    return True


def env_off(env: Mapping[str, str]) -> bool:
    """Whether the environment says ``JEVHOOK=off``.  In the hook it counts only where the user's own configuration
    says ``allow_env_off = true``: a repository can set a host's environment."""
    return env.get("JEVHOOK", "").strip().lower() == "off"


def _own(facts: os.stat_result, others: int) -> bool:
    owner = getattr(os, "geteuid", None)
    return owner is None or (facts.st_uid == owner() and not facts.st_mode & others)


def _until(place: str) -> float:
    from ..config import read_bounded
    from ..jsonio import loads

    data, _ = read_bounded(place, _LIMIT, follow=False)
    kept = loads(data.decode("ascii"))
    until = kept.get("until") if isinstance(kept, dict) else None
    if not isinstance(until, (int, float)) or isinstance(until, bool) or not 0 <= until < 1e11:
        raise ValueError("not a switch")
    return float(until)
