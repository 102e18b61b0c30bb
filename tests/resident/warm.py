"""A warm process of our own in a private folder, and a hook's command line that uses it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jevhook
from jevhook.resident import ask

MAIN = str(Path(jevhook.__file__).parent / "__main__.py")
ALONE = [sys.executable, "-I", "-S", MAIN]


def name_of(folder: Path) -> Path:
    """The socket that a hook of this checkout looks for in ``folder``."""
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(Path(MAIN).parent.parent)!r}); from jevhook.resident import ask; print(ask.socket_name({str(folder)!r}))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return Path(said.stdout.strip())


class Warm:
    """``with Warm(folder) as warm``: a warm process that has been started and listens."""

    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self.folder = folder
        self.options = options
        self.socket = name_of(folder)

    def __enter__(self) -> Warm:
        self.process = subprocess.Popen([*ALONE, "resident", "serve", str(self.folder), *self.options])
        until = time.monotonic() + 20
        while not self.socket.exists() and time.monotonic() < until and self.process.poll() is None:
            time.sleep(0.01)
        assert self.socket.exists(), "the warm process does not listen"
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.kill()
        self.process.wait()

    def hook(self, data: bytes, *options: str, **env: str) -> subprocess.CompletedProcess[bytes]:
        return hook(data, "--resident", str(self.folder), *options, **env)


def hook(data: bytes, *options: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*ALONE, "hook", *options], input=data, capture_output=True, env={**os.environ, **env}, timeout=30, check=False
    )


def end(name: Path) -> None:
    """Stop the warm process that listens at ``name``, if one does."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with line:
        try:
            line.settimeout(5)
            line.connect(str(name))
            line.sendall(b"jevstop1".ljust(40, b"."))
            line.recv(1)
        except OSError:
            pass


def speak(folder: Path, argv: list[str], data: bytes, env: dict[str, str]) -> tuple[bytes, int]:
    """What a hook says to the warm process, without the hook: (stdout, exit code)."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.settimeout(30)
    line.connect(str(folder))
    return talk(line, argv, data, env)


def talk(line: socket.socket, argv: list[str], data: bytes, env: dict[str, str]) -> tuple[bytes, int]:
    words = "\0".join(argv).encode()
    environment = b"\0".join(os.fsencode(f"{name}={value}") for name, value in env.items())
    parts = (words, environment, b"/", data)
    out, into = os.pipe()
    try:
        line.sendall(ask.MARK + b"".join(len(p).to_bytes(8, "big") for p in parts) + b"".join(parts))
        assert line.recv(1) == b"A"
        socket.send_fds(line, [b"G"], [into, 2])
        os.close(into)
        said = b""
        while more := line.recv(16):
            said += more
        pieces = []
        while piece := os.read(out, 65536):
            pieces.append(piece)
        assert said[:2] == b"OX", said
        return b"".join(pieces), said[2]
    finally:
        line.close()
        os.close(out)
