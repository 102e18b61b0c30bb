"""Where things live, and how a file of ours is written and read.

Places follow the XDG base directory specification: a variable that holds a relative path is ignored, as the
specification asks.  Nothing here decides what to trust; ``policy.py`` does.
"""

from __future__ import annotations

import os
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class ConfigError(Exception):
    """A configuration that cannot be used.  ``problems``: one line each, naming file, key, found and allowed."""

    def __init__(self, problems: list[str] | str) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems))


def home(env: Mapping[str, str]) -> str:
    """The user's home directory: HOME when absolute, else the account's own, else ""."""
    told = env.get("HOME", "")
    return told if os.path.isabs(told) else account_home()


def account_home() -> str:
    """The home directory that the account database names, whatever HOME says; "" when there is none."""
    if sys.platform == "win32":
        return os.environ.get("USERPROFILE", "")
    try:
        import pwd

        found = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError, OSError):
        return ""
    return found if os.path.isabs(found) else ""


def _place(env: Mapping[str, str], variable: str, under_home: str) -> str:
    base = env.get(variable, "")
    if not os.path.isabs(base):
        at_home = home(env)
        if not at_home:
            return ""
        base = os.path.join(at_home, under_home)
    return os.path.join(base, "jevhook")


def config_dir(env: Mapping[str, str]) -> str:
    """``$XDG_CONFIG_HOME/jevhook``, else ``~/.config/jevhook``, else "" where there is no home."""
    return _place(env, "XDG_CONFIG_HOME", ".config")


def cache_dir(env: Mapping[str, str]) -> str:
    """``$XDG_CACHE_HOME/jevhook``, else ``~/.cache/jevhook``, else ""."""
    return _place(env, "XDG_CACHE_HOME", ".cache")


def read_bounded(path: str, limit: int, *, follow: bool = True) -> tuple[bytes, os.stat_result]:
    """A regular file's bytes with the stat of exactly what was read.

    Raises FileNotFoundError when there is none, ValueError when it is not a regular file or longer than
    ``limit`` bytes, other OSError when it can't be read.  Never waits: a pipe put in a file's place is refused.
    """
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("not a regular file")
        if facts.st_size > limit:
            raise ValueError(f"{facts.st_size} bytes, more than the {limit} that are read")
        parts = []
        left = limit + 1
        while left > 0:
            part = os.read(handle, min(left, 1 << 20))
            if not part:
                break
            parts.append(part)
            left -= len(part)
        if left <= 0:  # grew while we read
            raise ValueError(f"more than the {limit} bytes that are read")
        return b"".join(parts), facts
    finally:
        os.close(handle)


def write_private(path: str, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step (temporary file, rename), mode 0600.  Raises OSError."""
    temporary = f"{path}.{os.getpid()}.{time.monotonic_ns():x}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(temporary, flags, 0o600)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def write_config(path: str, table: dict[str, Any]) -> None:
    """Write ``table`` as TOML at ``path``, atomically, mode 0600; directories are made 0700.

    A symlink is written through, not replaced: people keep their configuration in a dotfiles checkout.
    Raises ConfigError when the table isn't TOML or the place can't be written.
    """
    import tomli_w

    try:
        text = tomli_w.dumps(table)
    except (TypeError, ValueError) as wrong:
        raise ConfigError(f"{path}: cannot be written as TOML: {wrong}") from None
    real = os.path.realpath(path)
    try:
        os.makedirs(os.path.dirname(real), mode=0o700, exist_ok=True)
        write_private(real, text.encode("utf-8"))
    except OSError as wrong:
        raise ConfigError(f"{path}: cannot be written: {wrong.strerror or wrong}") from None
