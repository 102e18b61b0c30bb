"""Running a command of ours as a person at a terminal does, and as a script does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")


def at_terminal(*arguments: str, typed: str = "", **extra: str) -> tuple[int, str]:
    """(exit code, output) of the command with a real terminal as stdin on which ``typed`` was typed."""
    master, slave = pty.openpty()
    try:
        os.write(master, typed.encode())
        done = subprocess.run(
            [sys.executable, "-m", "jevhook", *arguments],
            stdin=slave,
            capture_output=True,
            text=True,
            timeout=30,
            env={**os.environ, **extra},
            check=False,
        )
    finally:
        os.close(master)
        os.close(slave)
    return done.returncode, done.stdout + done.stderr


def in_a_pipe(*arguments: str) -> tuple[int, str]:
    """The same with a pipe as stdin."""
    done = subprocess.run(
        [sys.executable, "-m", "jevhook", *arguments],
        input="yes\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
