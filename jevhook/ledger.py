"""The ledger: one whole NDJSON line for every event, in a private file that nothing here can block or tear.

Where: ``$XDG_STATE_HOME/jevhook/ledger.ndjson`` (else ``~/.local/state/jevhook``), mode 0600, directory 0700; when it
is full it becomes ``ledger.ndjson.1``, ``.2`` and so on.  A side file ``ledger.lock`` keeps rotation and appends apart.
A line that can't be written never raises and never changes a decision: it is counted in ``write-failures``.

What is written must have been redacted before (``jevhook.text.redact``); this module stores what it is given.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from . import jsonio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: appends are still whole, but nothing rotates
    fcntl = None

MAX_BYTES = 8 << 20
GENERATIONS = 5
LOCK_SECONDS = 0.1
_FAILURES_BYTES = 64 << 10
_OPEN = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
_keys: dict[str, bytes] = {}
_decoder: Any = None


def _home(env: Mapping[str, str]) -> str:
    home = env.get("HOME", "")
    if os.path.isabs(home):
        return home
    try:
        import pwd

        home = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError, AttributeError):
        return ""
    return home if os.path.isabs(home) else ""


def _base(env: Mapping[str, str], name: str, below_home: str) -> str:
    base = env.get(name, "")
    if not os.path.isabs(base):  # the XDG specification: a relative path is to be ignored
        home = _home(env)
        if not home:
            return ""
        base = os.path.join(home, below_home)
    return os.path.join(base, "jevhook")


def directory(env: Mapping[str, str]) -> str:
    """The private state directory (it may not exist yet), or "" when neither XDG_STATE_HOME nor a home is known."""
    return _base(env, "XDG_STATE_HOME", ".local/state")


def path(env: Mapping[str, str], configured: str = "") -> str:
    """The ledger's file: ``configured`` (``~/`` is the home, a relative one is below ``directory``) or the default.

    "" when there is no directory to put it in.  Never relative to the working directory: that is the judged project.
    """
    if configured.startswith("~/"):
        home = _home(env)
        return os.path.join(home, configured[2:]) if home else ""
    if os.path.isabs(configured):
        return configured
    base = directory(env)
    return os.path.join(base, configured or "ledger.ndjson") if base else ""


_path = path


def forget_keys() -> None:
    """Before another event in the same process: somebody may have removed the file, and made another."""
    _keys.clear()


def make_private(folder: str) -> None:
    """Make ``folder`` and what is missing above it, mode 0700.  Raises OSError."""
    if not folder or os.path.isdir(folder):
        return
    make_private(os.path.dirname(folder))
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise


def open_own(name: str, flags: int) -> int:
    """A file descriptor of a regular file that is ours, made 0600.  Never blocks, never follows a link.

    Raises OSError for a symlink, FIFO, device, directory or another user's file, and for all that ``os.open`` raises.
    """
    fd = os.open(name, flags | _OPEN, 0o600)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if hasattr(os, "geteuid"):
            if found.st_uid != os.geteuid():
                raise OSError(errno.EPERM, "another user's file")
            if stat.S_IMODE(found.st_mode) != 0o600:
                os.fchmod(fd, 0o600)
    except BaseException:
        os.close(fd)
        raise
    return fd


def unlink_unchanged(path: str, facts: os.stat_result) -> bool:
    """Delete ``path`` if it still is the file of ``facts`` (an ``lstat``); whether it was.  Raises OSError.

    What was too old when it was looked at may be wanted again by now: of 6,053 codes that agents had been told 17 were
    pruned in the moment they were renewed.
    """
    now = os.lstat(path)
    if (now.st_mtime_ns, now.st_ino) != (facts.st_mtime_ns, facts.st_ino):
        return False
    os.unlink(path)
    return True


def lock(name: str, create: bool = True) -> int:
    """The locked side file's descriptor, or -1 when it can't be had within LOCK_SECONDS."""
    if fcntl is None:
        return -1
    try:
        fd = open_own(name, os.O_RDWR | (os.O_CREAT if create else 0))
    except OSError:
        return -1
    until = time.monotonic() + LOCK_SECONDS
    pause = 0.0005
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
        except BlockingIOError:
            if time.monotonic() + pause > until:
                break
            time.sleep(pause)
            pause = min(pause * 2, 0.008)
        except OSError:  # a file system without locks
            break
    os.close(fd)
    return -1


def rotate(name: str, generations: int) -> None:
    """Make ``name`` its own newest generation, and drop what would be more than ``generations``; under the lock only."""
    free = 1
    while free < generations and os.path.lexists(f"{name}.{free}"):  # a crash may have left a hole: fill that first
        free += 1
    for number in range(free, 1, -1):
        os.replace(f"{name}.{number - 1}", f"{name}.{number}")
    os.replace(name, f"{name}.1")


def append_line(name: str, data: bytes, side: str, *, max_bytes: int, generations: int) -> None:
    """Append ``data`` (one line, newline at its end) to ``name`` whole, under the lock of the file ``side``.

    The directory is made when it is missing.  Raises OSError when nothing was written.  Without the lock (somebody
    holds it for longer than LOCK_SECONDS) the line is written all the same: one O_APPEND write of one buffer is whole
    on local file systems, only rotation and repair have to wait for the next caller.
    """
    folder = os.path.dirname(name)
    if not os.path.isdir(folder):
        make_private(folder)
    held = lock(side)
    fd = -1
    try:
        fd = open_own(name, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        size = os.fstat(fd).st_size
        if held >= 0 and size and size + len(data) > max_bytes:
            try:
                rotate(name, max(1, generations))
            except OSError:  # a ledger that grows beats a ledger that stops
                pass
            else:
                os.close(fd)
                fd = -1
                fd = open_own(name, os.O_RDWR | os.O_APPEND | os.O_CREAT)
                size = os.fstat(fd).st_size
        if size and _torn(fd, size):  # that must cost one line, not two
            data = b"\n" + data
        written = os.write(fd, data)
        if written != len(data):
            # Only what is surely our own half line may be cut off again.
            if held >= 0 and os.fstat(fd).st_size == size + written:
                os.ftruncate(fd, size)
            raise OSError(errno.ENOSPC, "short write")
    finally:
        if fd >= 0:
            os.close(fd)
        if held >= 0:
            os.close(held)  # releases the lock


def _torn(fd: int, size: int) -> bool:
    """Whether the last line was left without its end by a crash.  One whose end is only on its way is waited for: pages
    of a write that is under way (of somebody who did not get the lock) are seen one by one, and an end that we add makes
    an empty line then (once in 400 hooks beside two busy loops)."""
    for pause in (0.001, 0.002, 0.004, 0.008, 0.016, 0.0):
        if size <= 0:  # emptied meanwhile
            return False
        os.lseek(fd, size - 1, os.SEEK_SET)
        if os.read(fd, 1) == b"\n":
            return False
        time.sleep(pause)
        size = os.fstat(fd).st_size
    return True


def _plain(value: Any, depth: int = 0) -> Any:
    """``value`` as JSON can hold it: what it can't hold becomes null or its type's name."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None  # NaN and infinity
    if depth >= 20:
        return "[cut]"
    if isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item, depth + 1) for item in value]
    return f"[{type(value).__name__}]"


def _text(value: Any) -> str:
    try:
        return jsonio.dumps(value)
    except ValueError:  # a line that says less beats no line
        return jsonio.dumps(_plain(value))


def append(
    record: Mapping[str, Any],
    env: Mapping[str, str],
    path: str = "",
    *,
    max_bytes: int = MAX_BYTES,
    generations: int = GENERATIONS,
) -> bool:
    """Write ``record`` as one line of the ledger; ``path`` as in ``path()``.  True when the line is in the file.

    Never raises: a failed write is counted (``write_failures``) and answered with False.
    """
    try:
        name = _path(env, path)
        if not name:
            raise OSError(errno.ENOENT, "no home directory and no XDG_STATE_HOME")
        data = (_text(dict(record)) + "\n").encode("ascii", "replace")
        append_line(name, data, lock_name(name), max_bytes=max_bytes, generations=generations)
    except (OSError, ValueError, RecursionError, MemoryError) as wrong:
        _count_failure(env, wrong)
        return False
    return True


def lock_name(name: str) -> str:
    """The side file that keeps rotation and appends to the ledger ``name`` apart."""
    return name.removesuffix(".ndjson") + ".lock"


def _failure_files(env: Mapping[str, str]) -> list[str]:
    folders = (directory(env), _base(env, "XDG_CACHE_HOME", ".cache"))
    return [os.path.join(folder, "write-failures") for folder in folders if folder]


def _count_failure(env: Mapping[str, str], wrong: BaseException) -> None:
    number = getattr(wrong, "errno", None)
    word = errno.errorcode.get(number, type(wrong).__name__) if isinstance(number, int) else type(wrong).__name__
    said = str(getattr(wrong, "strerror", None) or "")[:80]
    data = f"{now_iso()} {word} {said}\n".encode("ascii", "replace")
    for name in _failure_files(env):
        try:
            append_line(name, data, name + ".lock", max_bytes=_FAILURES_BYTES, generations=1)
            return
        except (OSError, ValueError):
            continue


def _failure_lines(env: Mapping[str, str]) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for base in _failure_files(env):
        for name in (base + ".1", base):
            try:
                fd = open_own(name, os.O_RDONLY)
            except (OSError, ValueError):
                continue
            with open(fd, "rb") as file:
                text = file.read(2 * _FAILURES_BYTES).decode("ascii", "replace")
            for line in text.splitlines():
                when, _, reason = line.partition(" ")
                if reason:
                    lines.append((when, reason.strip()))
    lines.sort(key=lambda entry: entry[0])
    return lines


def write_failures(env: Mapping[str, str]) -> list[tuple[str, str]]:
    """The last 20 lines that could not be written, oldest first: (ISO time, reason)."""
    return _failure_lines(env)[-20:]


def failure_count(env: Mapping[str, str]) -> int:
    """How many failed writes are on record, which is bounded (two files of 64 KiB): "at least" when it is large."""
    return len(_failure_lines(env))


class Part:
    """One generation that is being read: its ``name`` now, the open ``file``, and how many bytes it held (``size``)."""

    __slots__ = ("file", "inode", "name", "size")

    def __init__(self, name: str, file: BinaryIO) -> None:
        found = os.fstat(file.fileno())
        self.name, self.file = name, file
        self.size, self.inode = found.st_size, (found.st_dev, found.st_ino)


def open_parts(name: str) -> list[Part]:
    """The files that hold the ledger ``name``, open for reading, oldest first; the caller closes them.

    No generation twice and none left out, whatever rotates meanwhile.  The lock keeps rotation away where it can be
    had; without it (another user's, a file system without locks) the order does: rotation only ever moves a file to a
    higher number, so whoever goes from the newest up meets each file at least once, and an open file's inode tells it.
    """
    if not name:
        return []
    held = lock(lock_name(name), create=False)
    try:
        return _open_parts(name)
    finally:
        if held >= 0:
            os.close(held)


def _open_parts(name: str) -> list[Part]:
    parts: list[Part] = []
    seen: set[tuple[int, int]] = set()
    number = -1
    while further := [one for one in numbers(name) if one > number]:  # again: rotation may have made a higher one
        for number in further:
            part = f"{name}.{number}" if number else name
            try:
                fd = os.open(part, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
            except (OSError, ValueError):
                continue
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                continue
            parts.append(Part(part, os.fdopen(fd, "rb")))
            if parts[-1].inode in seen:
                parts.pop().file.close()
            else:
                seen.add(parts[-1].inode)
    return parts[::-1]


def numbers(name: str) -> list[int]:
    """The numbers of the generations that there are, newest first; 0 is the ledger itself, and always there."""
    base = os.path.basename(name) + "."
    try:
        found = os.listdir(os.path.dirname(name) or ".")
    except OSError:
        return [0]
    return sorted({0, *(int(entry[len(base) :]) for entry in found if _is_generation(entry, base))})


def _is_generation(entry: str, base: str) -> bool:
    number = entry[len(base) :]
    return entry.startswith(base) and number.isascii() and number.isdecimal() and number[0] != "0" and len(number) < 10


def read(env: Mapping[str, str], path: str = "", holding: str = "") -> Iterator[dict[str, Any]]:
    """All records, oldest first; ``path`` as in ``path()``.  With ``holding`` (ASCII), only lines in which it stands.

    Torn and corrupt lines are skipped, records welded on one line (an append that fell into a crash) are taken apart.
    A missing ledger has no records.  For people and their commands: it imports ``json`` and may take seconds.
    """
    parts = open_parts(_path(env, path))
    needle = holding.encode()
    try:
        for part in parts:
            for line in part.file:
                if needle not in line:  # a look costs a tenth of what reading the line does
                    continue
                for value in records(line.decode("utf-8", "replace"))[0]:
                    if isinstance(value, dict):
                        yield value
    finally:
        for part in parts:
            part.file.close()


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    found = float(text)
    if found - found != 0:
        raise ValueError(f"{text[:20]} is beyond every number")
    return found


def _whole(text: str) -> int:
    if len(text) > 300:  # whoever adds it up or prints it makes a float of it
        raise ValueError("a whole number of more than 300 digits")
    return int(text)


def _made_decoder() -> Any:
    """Strict JSON, unlike ``json.loads``: whoever reads a line must be able to write it again, and to add up what it holds."""
    global _decoder
    if _decoder is None:
        import json

        _decoder = json.JSONDecoder(parse_constant=_refused, parse_float=_finite, parse_int=_whole)
    return _decoder


def records(line: str) -> tuple[list[Any], bool]:
    """The JSON values on one line, and whether something else stands on it too (a record that a crash has torn)."""
    decoder = _made_decoder()
    line = line.strip(" \t\r\n\0")
    if not line:
        return [], False
    try:
        return [decoder.decode(line)], False
    except (ValueError, RecursionError):
        pass
    if not line.startswith('{"'):
        return [], True
    # All records start with the same key, so the line's own head tells a record from an object inside a torn one.
    head = line[: line.find('"', 2) + 1]
    found: list[Any] = []
    at, tries, torn, end = 0, 0, False, 0
    while at >= 0 and tries < 1000:
        tries += 1
        try:
            value, stop = decoder.raw_decode(line, at)
        except (ValueError, RecursionError):
            torn = True
            at = line.find(head, at + 1)
            continue
        rest = line[stop : stop + 80].lstrip()
        if isinstance(value, dict) and (not rest or rest.startswith("{")):
            found.append(value)
            end = stop
        at = line.find(head, stop)
    return found, torn or bool(line[end:].strip())


def now_iso() -> str:
    """The time now in UTC, ``2025-01-31T23:59:59.123Z``."""
    seconds, nanos = divmod(time.time_ns(), 1_000_000_000)
    at = time.gmtime(seconds)
    return (
        f"{at.tm_year:04}-{at.tm_mon:02}-{at.tm_mday:02}T{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}"
        f".{nanos // 1_000_000:03}Z"
    )


def new_id() -> str:
    """A random UUID (version 4) as text."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _read_key(name: str) -> bytes:
    fd = open_own(name, os.O_RDONLY)
    try:
        found = os.read(fd, 33)
    finally:
        os.close(fd)
    return found if len(found) == 32 else b""


def _key(env: Mapping[str, str]) -> bytes:
    """The local key, made at its first use; b"" when there is none to be had."""
    folder = directory(env)
    if not folder:
        return b""
    name = os.path.join(folder, "key")
    if name in _keys:
        return _keys[name]
    try:
        try:
            found = _read_key(name)
        except FileNotFoundError:
            make_private(folder)
            _make_key(name)
            found = _read_key(name)
    except (OSError, ValueError):
        return b""
    if found:
        _keys[name] = found
    return found


def _make_key(name: str) -> None:
    # Written aside and linked in whole: two first hooks at once, or a kill between create and write, must not leave
    # a key that is empty or seen half.
    aside = f"{name}.{os.getpid()}.{os.urandom(6).hex()}"
    fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600)
    try:
        try:
            if os.write(fd, os.urandom(32)) != 32:
                raise OSError(errno.ENOSPC, "short write")
            os.fsync(fd)
        finally:
            os.close(fd)
        try:
            os.link(aside, name)
        except FileExistsError:
            pass
    finally:
        os.unlink(aside)


def digest(obj: Any, env: Mapping[str, str]) -> str:
    """64 hex digits: the keyed digest of ``obj`` as canonical JSON (sorted keys), or "" when there is no local key.

    Keyed, because a plain digest of a short command or path can be guessed; unkeyed ones are never written.
    """
    key = _key(env)
    if not key:
        return ""
    try:
        text = jsonio.dumps(obj, sort_keys=True)
    except ValueError:
        try:
            text = jsonio.dumps(_plain(obj), sort_keys=True)
        except (ValueError, RecursionError):
            return ""
    data = text.encode("ascii", "replace")
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=32, key=key).hexdigest()


def elide(obj: Any) -> tuple[Any, int]:
    """A copy of ``obj`` whose strings of more than 200 characters are cut to head and length; how many were cut.

    Redact first: a secret that is cut in half is no longer seen.
    """
    cut = 0

    def walk(value: Any, depth: int) -> Any:
        nonlocal cut
        if isinstance(value, str):
            if len(value) <= 200:
                return value
            cut += 1
            return f"{value[:160]}… [{len(value)} characters]"
        if isinstance(value, (dict, list, tuple)) and depth >= 100:
            cut += 1
            return "[cut]"
        if isinstance(value, dict):
            return {walk(key, depth + 1): walk(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [walk(item, depth + 1) for item in value]
        return value

    return walk(obj, 0), cut
