"""The hosts' own settings as a session found them: what becomes of them while it runs is seen after each call, and said.

A command says what it writes; a checkout, an unpacked archive or a program of the agent's own does not.  So the files
that decide whether this hook runs are looked at (one ``stat`` each) and compared with one small private file a session,
beside its memory.  Only where one has changed is anything read.
"""

from __future__ import annotations

import os

from .. import ledger
from .session import file_stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..event import Event

ENDING = ".settings"
_MAX = 64 << 10


def note(env: Mapping[str, str], event: Event, files: list[str]) -> None:
    """Before a session's first call: keep how ``files`` are.  Never raises."""
    try:
        name = file_stem(env, event)
        if name and not os.path.lexists(name + ENDING):
            marks = [_look(file) + _ours(file) for file in files]
            aside = f"{name}.{os.urandom(6).hex()}.tmp"
            _keep(aside, marks, files)
            try:
                # Never over what another hook noted: a slow one would have kept how they are after the first call.
                os.link(aside, name + ENDING)
            finally:
                os.unlink(aside)
    except Exception:  # this is a help: no call's answer hangs on it
        pass


def changed(env: Mapping[str, str], event: Event, files: list[str]) -> dict[str, bool]:
    """Those of ``files`` that are not as the session last saw them, each with whether it named this gate then.

    The next look compares with what is there now, so each change is told once; a file that was never looked at
    before is only kept.  Never raises.
    """
    try:
        name = file_stem(env, event)
        known = _known(name + ENDING) if name else None
        if known is None:
            return {}
        now = {file: _look(file) for file in files}
        found = {file: known[file][-1:] == "+" for file in files if file in known and known[file][:-1] != now[file]}
        if found or any(file not in known for file in files):
            marks = {file: text if file not in found else now[file] + _ours(file) for file, text in known.items()}
            for file in files:
                marks.setdefault(file, now[file] + _ours(file))
            _keep(name + ENDING, list(marks.values())[-64:], list(marks)[-64:])
        return found
    except Exception:
        return {}


def _look(file: str) -> str:
    try:
        about = os.stat(file)
    except (OSError, ValueError):
        return "-"
    return f"{about.st_mtime_ns}.{about.st_size}.{about.st_ino}"


def _ours(file: str) -> str:
    """ "+" when the file names this gate, "." when it does not."""
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError):
        return "."
    try:
        return "+" if b"jevhook" in os.read(handle, 1 << 20) else "."
    except OSError:
        return "."
    finally:
        os.close(handle)


def _keep(name: str, marks: list[str], files: list[str]) -> None:
    from ..config import write_private

    ledger.make_private(os.path.dirname(name))
    lines = [f"{mark} {file}" for mark, file in zip(marks, files, strict=True) if "\n" not in file]
    write_private(name, "\n".join(lines).encode("utf-8", "surrogateescape"))


def _known(name: str) -> dict[str, str] | None:
    try:
        handle = ledger.open_own(name, os.O_RDONLY)
    except OSError:
        return None
    try:
        text = os.read(handle, _MAX).decode("utf-8", "surrogateescape")
    finally:
        os.close(handle)
    found = {}
    for line in text.split("\n"):
        mark, _, file = line.partition(" ")
        if file:
            found[file] = mark
    return found
