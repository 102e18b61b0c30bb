"""The only eyes of the analysis: looking at files, without ever starting a program.

``World`` is a Protocol so that tests and replays can hand in a tree of their own.  Git state is read from ``.git``
files: running git would run the repository's own ``core.fsmonitor``.
"""

from __future__ import annotations

import os
import stat as _stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class World(Protocol):
        home: str
        user: str
        env: Mapping[str, str]

        def kind(self, path: str) -> str:
            """ "file", "dir", "link", "other" (device, FIFO, socket) or "" when nothing is there."""

        def real(self, path: str) -> str:
            """The path with every symbolic link resolved, as far as it exists."""

        def names(self, path: str, limit: int) -> list[str] | None:
            """Up to ``limit`` names in a directory, None when it cannot be listed."""

        def text(self, path: str, limit: int) -> str | None:
            """Up to ``limit`` bytes of a regular file as text, None when it cannot be read."""

        def size(self, path: str) -> int:
            """Size in bytes of a regular file, -1 otherwise."""

        def git(self, path: str) -> Git | None:
            """The repository that holds ``path``, or None."""


class Git:
    """What ``.git`` says, read once: ``root`` the work tree, ``dir`` the git directory."""

    __slots__ = ("_config", "_index", "common", "dir", "root")

    MAX_INDEX = 24 << 20

    def __init__(self, root: str, git_dir: str) -> None:
        self.root = root
        self.dir = git_dir
        self.common = git_dir
        common = _read(os.path.join(git_dir, "commondir"), 4096)
        if common:
            self.common = os.path.normpath(os.path.join(git_dir, common.decode("utf-8", "replace").strip()))
        self._index: bytes | None = None
        self._config: str | None = None

    def branch(self) -> str:
        """The checked-out branch, "" when detached or unknown."""
        head = (_read(os.path.join(self.dir, "HEAD"), 4096) or b"").decode("utf-8", "replace").strip()
        return head[len("ref: refs/heads/") :] if head.startswith("ref: refs/heads/") else ""

    def config(self) -> str:
        if self._config is None:
            self._config = (_read(os.path.join(self.common, "config"), 1 << 18) or b"").decode("utf-8", "replace")
        return self._config

    def default_branch(self, remote: str = "origin") -> str:
        head = _read(os.path.join(self.common, "refs", "remotes", remote, "HEAD"), 4096)
        text = (head or b"").decode("utf-8", "replace").strip()
        mark = f"refs/remotes/{remote}/"
        return text.split(mark, 1)[1] if mark in text else ""

    def remotes(self) -> dict[str, str]:
        """Remote names and their URLs."""
        found: dict[str, str] = {}
        name = ""
        for line in self.config().split("\n"):
            line = line.strip()
            if line.startswith("["):
                name = line[9:].rstrip("]").strip().strip('"') if line.startswith("[remote ") else ""
            elif name and line.startswith("url") and "=" in line:
                found.setdefault(name, line.split("=", 1)[1].strip())
        return found

    def aliases(self) -> dict[str, str]:
        found: dict[str, str] = {}
        inside = False
        for line in self.config().split("\n"):
            line = line.strip()
            if line.startswith("["):
                inside = line.lower().startswith("[alias]")
            elif inside and "=" in line:
                key, value = line.split("=", 1)
                found[key.strip()] = value.strip()
        return found

    def state(self, path: str, is_dir: bool) -> str:
        """ "clean" (tracked, same size and time as in the index), "changed", "untracked", or "" when unknown.

        For a directory: "clean" only says that something in it is tracked.
        """
        relative = os.path.relpath(path, self.root)
        if relative.startswith(".."):
            return ""
        if self._index is None:
            self._index = _read(os.path.join(self.dir, "index"), self.MAX_INDEX) or b""
        index = self._index
        if len(index) < 12 or index[:4] != b"DIRC" or index[7] not in (2, 3):
            return ""
        name = relative.replace(os.sep, "/").encode("utf-8", "surrogateescape")
        if is_dir:
            if name == b".":
                return "clean"
            at = index.find(b"\0" + name + b"/")  # a name may begin right behind the flags' low byte; try both
            if at < 0:
                at = index.find(name + b"/")
            return "clean" if at >= 0 else "untracked"
        start = 12
        while True:
            at = index.find(name + b"\0", start)
            if at < 0:
                return "untracked"
            start = at + 1
            head = at - 62
            if head < 12:
                continue
            length = int.from_bytes(index[at - 2 : at], "big") & 0xFFF
            if length != min(len(name), 0xFFF):
                continue
            try:
                now = os.lstat(path)
            except OSError:
                return "changed"
            size = int.from_bytes(index[head + 36 : head + 40], "big")
            seconds = int.from_bytes(index[head + 8 : head + 12], "big")
            same = size == now.st_size & 0xFFFFFFFF and seconds == int(now.st_mtime) & 0xFFFFFFFF
            return "clean" if same else "changed"


def _read(path: str, limit: int) -> bytes | None:
    """Bounded read of a regular file; a FIFO or a device in its place must not hold the hook."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError):
        return None
    try:
        if not _stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        pieces: list[bytes] = []
        left = limit
        while left > 0:
            piece = os.read(handle, min(left, 1 << 20))
            if not piece:
                break
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)
    except OSError:
        return None
    finally:
        os.close(handle)


class RealWorld:
    """The machine's own file system."""

    __slots__ = ("_git", "_real", "env", "home", "user")

    def __init__(self, env: Mapping[str, str], home: str = "") -> None:
        self.env = env
        self.home = os.path.normpath(home or env.get("HOME") or _home_of_user() or "/nonexistent")
        self.user = env.get("USER") or env.get("LOGNAME") or os.path.basename(self.home) or "user"
        self._git: dict[str, Git | None] = {}
        self._real: dict[str, str] = {}

    def kind(self, path: str) -> str:
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            return ""
        if _stat.S_ISREG(mode):
            return "file"
        if _stat.S_ISDIR(mode):
            return "dir"
        return "link" if _stat.S_ISLNK(mode) else "other"

    def real(self, path: str) -> str:
        known = self._real.get(path)
        if known is None:
            try:
                known = os.path.realpath(path)
            except (OSError, ValueError):
                known = path
            if len(self._real) < 4096:
                self._real[path] = known
        return known

    def names(self, path: str, limit: int) -> list[str] | None:
        found: list[str] = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    found.append(entry.name)
                    if len(found) >= limit:
                        break
        except (OSError, ValueError):
            return None
        return found

    def text(self, path: str, limit: int) -> str | None:
        data = _read(path, limit)
        return None if data is None else data.decode("utf-8", "replace")

    def size(self, path: str) -> int:
        try:
            about = os.stat(path)
        except (OSError, ValueError):
            return -1
        return about.st_size if _stat.S_ISREG(about.st_mode) else -1

    def git(self, path: str) -> Git | None:
        seen: list[str] = []
        at = path
        found: Git | None = None
        for _ in range(40):
            if at in self._git:
                found = self._git[at]
                break
            seen.append(at)
            mark = os.path.join(at, ".git")
            what = self.kind(mark)
            if what == "dir":
                found = Git(at, mark)
                break
            if what == "file":  # a worktree or a submodule: "gitdir: PATH"
                line = (_read(mark, 4096) or b"").decode("utf-8", "replace").strip()
                if line.startswith("gitdir:"):
                    found = Git(at, os.path.normpath(os.path.join(at, line[7:].strip())))
                    break
            above = os.path.dirname(at)
            if above == at:
                break
            at = above
        for path in seen:
            self._git[path] = found
        return found


def _home_of_user() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError, AttributeError):
        return ""
