"""A settings file read and written for a person: nothing is touched that can't be put back."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .. import config, ledger

LIMIT = 8 << 20  # bytes; real settings have a few thousand
TURN_SECONDS = 5.0  # a turn is over in milliseconds; who keeps it for longer has stopped in the middle


class Refused(Exception):
    """Why a file is left as it is: one sentence for the person."""


@dataclass(frozen=True)
class Found:
    """A file as it was read.  ``path`` as it is named, ``real`` behind its links; ``data`` None when there is none."""

    path: str
    real: str
    data: bytes | None
    mode: int = 0o600
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """The file's text, "" when there is none.  Raises Refused when it is not UTF-8."""
        try:
            return (self.data or b"").decode("utf-8")
        except UnicodeDecodeError as wrong:
            raise Refused(f"{self.path}: byte {wrong.start} is not UTF-8") from None


@dataclass
class Change:
    """What is to become of one file; ``after`` None takes it away.  ``made``: directories that were made for it."""

    before: Found
    after: bytes | None
    made: list[str] = field(default_factory=list)


def look(path: str, shared: bool = False) -> Found:
    """The file at ``path``, which need not be there: then ``shared`` says whether others are to read it.

    Raises Refused when it can't be read, or could not be made.
    """
    try:
        facts = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        above = _existing(os.path.dirname(path))
        if not os.path.isdir(above):
            raise Refused(f"{above} is a file, so {path} can't be made in it") from None
        if not os.access(above, os.W_OK | os.X_OK):
            raise Refused(f"{above} can't be written, so {path} can't be made") from None
        return Found(path, path, None, 0o644 if shared else 0o600)
    except OSError as wrong:
        raise Refused(f"{path} can't be looked at: {wrong.strerror or wrong}") from None
    real, notes = path, []
    if stat.S_ISLNK(facts.st_mode):
        real = os.path.realpath(path)
        notes.append(f"{path} is a link: {real} is what is changed")
        try:
            facts = os.stat(real)
        except OSError:
            raise Refused(f"{path} is a link to {real}, which is not there") from None
    try:
        data, facts = config.read_bounded(real, LIMIT)
    except (OSError, ValueError) as wrong:
        raise Refused(f"{path} can't be read: {getattr(wrong, 'strerror', None) or wrong}") from None
    return Found(path, real, data, stat.S_IMODE(facts.st_mode), tuple(notes))


def may_write(found: Found) -> None:
    """Raises Refused where the file is there and not ours to change: another user's, read-only, in a closed directory."""
    if found.data is None:
        return
    facts = os.stat(found.real)
    if hasattr(os, "geteuid") and facts.st_uid != os.geteuid():
        raise Refused(f"{found.path} belongs to another user (uid {facts.st_uid}): run this as that user")
    if not facts.st_mode & stat.S_IWUSR:
        raise Refused(f"{found.path} is read-only: whoever made it so should change it (chmod u+w)")
    if not os.access(os.path.dirname(found.real), os.W_OK | os.X_OK):
        raise Refused(f"{os.path.dirname(found.real)} can't be written, so {found.path} can't be replaced in one step")


def write(change: Change) -> None:
    """Do it in one step.  Raises Refused when the file is not what it was when it was read; OSError.

    The last look is right before the step: the fsync takes milliseconds (median 3.6), and a host that saved its settings
    meanwhile lost them, 98 to 141 times in 300 when aimed at.  No lock of ours binds a host, so what remains is 7 µs and
    the rename itself: 1 to 9 in 300.  Of ours, only one at a time is there.
    """
    found = change.before
    unchanged(found)  # before a directory is made for it
    folder = os.path.dirname(found.real)
    if change.after is None:
        with turn(folder):
            unchanged(found)
            if found.data is not None:
                os.unlink(found.real)
        return
    _make(folder, change.made, 0o755 if found.mode & 0o044 else 0o700)
    temporary = f"{found.real}.{os.getpid()}.{time.monotonic_ns():x}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        try:
            view = memoryview(change.after)
            while view:
                view = view[os.write(handle, view) :]
            if hasattr(os, "fchmod"):
                os.fchmod(handle, found.mode)
            os.fsync(handle)
        finally:
            os.close(handle)
        with turn(folder):
            unchanged(found)
            os.replace(temporary, found.real)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def unchanged(found: Found) -> None:
    """Raises Refused unless the file is what it was when it was ``found``."""
    now = look(found.path)
    if (now.real, now.data) != (found.real, found.data):
        raise Refused(f"{found.path} changed in the meantime: run it again")


def replace(path: str, after: bytes | None, same: Callable[[bytes], bool]) -> None:
    """Put ``after`` (None: nothing) in the place of a file of our own, through its links, mode 0600, directories 0700.

    Only where what is there now is still the ``same`` as what was read: a person may have thought for minutes in between.
    Raises ConfigError.
    """
    real = os.path.realpath(path)
    try:
        found = look(real)
        if not same(found.data or b""):
            raise Refused(f"{path} changed in the meantime: run it again")
        write(Change(Found(path=real, real=real, data=found.data), after))
    except Refused as wrong:
        raise config.ConfigError(str(wrong)) from None
    except OSError as wrong:
        raise config.ConfigError(f"{path}: cannot be written: {wrong.strerror or wrong}") from None


@contextlib.contextmanager
def turn(folder: str) -> Iterator[None]:
    """Keeps every other jevhook out of ``folder`` that asks for its turn too.  Raises nothing.

    The lock is on the directory itself, which leaves no file behind.  Without it (no locks on this system, no turn in
    TURN_SECONDS) one goes all the same, and `unchanged` still looks: nobody can keep a person from their own settings.
    """
    handle = -1
    with contextlib.suppress(OSError):  # no such directory, or a system that opens none
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        _wait(handle)
        yield
    finally:
        if handle >= 0:
            os.close(handle)


def _wait(handle: int) -> None:
    until = time.monotonic() + TURN_SECONDS
    while handle >= 0 and ledger.fcntl is not None and time.monotonic() < until:
        try:
            ledger.fcntl.flock(handle, ledger.fcntl.LOCK_EX | ledger.fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.002)
        except OSError:  # a file system without locks
            return


def digest(data: bytes | None) -> str:
    """What a receipt compares; "" for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _existing(folder: str) -> str:
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _make(folder: str, made: list[str], mode: int) -> None:
    if os.path.isdir(folder):
        return
    _make(os.path.dirname(folder), made, mode)
    with contextlib.suppress(FileExistsError):  # another jevhook has just made it: not ours to take away again
        os.mkdir(folder, mode)
        made.append(folder)
