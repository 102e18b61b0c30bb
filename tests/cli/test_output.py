"""Where a command's output goes: a closed or full stdout, a reader that has gone, colours that nobody wants."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

JUDGE = ("judge", "--state", "x", "--check", "ok?")
DENIED = ("gate", "--tool", "Bash", "--input", "rm -rf /")
# (command, its exit code)
COMMANDS = [
    (JUDGE, 3),
    (DENIED, 1),
    (("gate", "--tool", "Bash", "--input", "ls"), 0),
    (("explain", "git reset --hard"), 0),
    (("rules",), 0),
    (("policy", "show"), 0),
]
ANSWERS = ("judge", "gate", "explain")  # a reader that has gone takes nothing from their exit code


def run(*arguments: str, redirect: str = "", **extra: str) -> subprocess.CompletedProcess[str]:
    line = f'exec "$0" -m jevhook "$@" {redirect}'
    return subprocess.run(
        ["sh", "-c", line, sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **extra},
        check=False,
    )


@pytest.mark.parametrize(("command", "code"), COMMANDS)
def test_a_closed_stdout_changes_no_answer(private_home: Path, command: tuple[str, ...], code: int) -> None:
    done = run(*command, redirect=">&-")
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize(("command", "code"), COMMANDS)
def test_a_reader_that_has_gone_changes_no_answer(private_home: Path, command: tuple[str, ...], code: int) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "jevhook", *command],
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (code if command[0] in ANSWERS else 141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("command", [command for command, _ in COMMANDS])
def test_a_full_disk_is_one_clean_line_and_no_answer(private_home: Path, command: tuple[str, ...]) -> None:
    done = run(*command, redirect=">/dev/full")
    assert done.returncode == 74
    assert done.stderr == "Error: the output could not be written: No space left on device\n"


@pytest.mark.parametrize("command", [("judge", "-"), ("gate", "--tool", "Bash", "--input", "-"), ("replay", "-")])
def test_a_closed_stdin_is_an_empty_one(private_home: Path, command: tuple[str, ...]) -> None:
    done = run(*command, redirect="<&-")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("extra", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize(
    "command",
    [("doctor", "--offline"), ("explain", "git reset --hard"), ("policy", "show"), ("rules",), ("judges",), ("budget",), JUDGE, DENIED],
)  # fmt: skip
def test_nobody_who_wants_no_colours_gets_any(
    private_home: Path, command: tuple[str, ...], extra: dict[str, str]
) -> None:
    import re

    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "jevhook", *command],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", **extra},
    ) as started:
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 1 << 16)
            except OSError:  # what a terminal says at its end
                break
            if not piece:
                break
            shown += piece
        started.wait(60)
    os.close(master)
    assert shown
    assert not re.search(rb"\x1b\[[0-9;]*[34][0-7]m", shown)


def test_the_usage_line_has_the_name_that_was_called(private_home: Path) -> None:
    folder = os.path.dirname(sys.executable)
    for name in ("jevhook", "jev-use"):
        done = subprocess.run([f"{folder}/{name}", "judge", "--help"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(f"Usage: {name} judge")
