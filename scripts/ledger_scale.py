"""How quickly a large ledger is read, and in how much memory.

    scripts/ledger_scale [--mb N] [--full]

A few events go through the real hook (the mock judge answers); their lines are written again and again, each with an
id, a time and a duration of its own, into generations of 64 MB, until there are 200 MB (``--full``: 1 GB).  Then each
command runs as a process of its own: wall time, time of a core, MB of ledger a second, peak memory.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATION = 64_000_000
COMMANDS = [
    "ls -la",
    "git status",
    "npm test",
    "rm -rf build",
    "git clean -fdx",
    "rm -rf ~/old",
    "git reset --hard",
    "rm -rf /",
]
CONFIG = '[judge]\nprovider = "mock"\nmock = "{script}"\nwhen = "always"\n'
ANSWERS = '{"answers": {"asked": 0.1, "loss": 2, "limit": 0.05, "planted": 0.1}}'


def lines(home: Path, env: dict[str, str]) -> list[dict[str, object]]:
    """What the hook writes about COMMANDS, with and without a judge, before and after the tool."""
    project, config = home / "shop", home / ".config/jevhook"
    (project / ".git").mkdir(parents=True)
    config.mkdir(parents=True)
    (home / "answers.json").write_text(ANSWERS)
    for judged in (False, True):
        if judged:
            (config / "config.toml").write_text(CONFIG.format(script=home / "answers.json"))
        for command in COMMANDS:
            for kind in ("PreToolUse", "PostToolUse"):
                event = {
                    "session_id": "3f6c1a52-8a53-4c1e-9d1e-5d0b8c4b7a10", "hook_event_name": kind, "tool_name": "Bash",
                    "tool_use_id": "toolu_01A", "cwd": str(project), "permission_mode": "default",
                    "tool_input": {"command": command}, "tool_response": {"stdout": "x\n" * 40, "stderr": ""},
                }  # fmt: skip
                hook = [sys.executable, "-m", "jevhook", "hook", "--host", "claude"]
                subprocess.run(hook, input=json.dumps(event).encode(), env=env, capture_output=True, check=True)
    ledger = home / ".local/state/jevhook/ledger.ndjson"
    return [json.loads(line) for line in ledger.read_text().splitlines()]


def fill(folder: Path, shapes: list[dict[str, object]], size: int) -> int:
    """Write ``size`` bytes of ledger into ``folder``; how many lines."""
    chance = random.Random(7)
    marks = {"id": "@id@", "asked_at": "@at@", "hook_ms": 12345.25}
    texts = [json.dumps({**shape, **marks}, separators=(",", ":")) for shape in shapes]
    start, made = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), 0
    count = max(1, -(-size // GENERATION))
    for number in range(count - 1, -1, -1):  # the oldest has the highest number
        left = min(GENERATION, size)
        size -= left
        with open(folder / f"ledger.ndjson{f'.{number}' if number else ''}", "w", encoding="ascii") as file:
            while left > 0:
                at = start + datetime.timedelta(seconds=made * 9)
                line = chance.choice(texts).replace("@id@", f"{chance.getrandbits(128):032x}", 1)
                line = line.replace("@at@", f"{at:%Y-%m-%dT%H:%M:%S}.000Z", 1)
                line = line.replace("12345.25", f"{chance.lognormvariate(3.5, 0.5):.2f}", 1) + "\n"
                file.write(line)
                left -= len(line)
                made += 1
    return made


def measured(arguments: list[str], env: dict[str, str]) -> tuple[float, float, float]:
    """(seconds, seconds of the processor, peak MB) of one command."""
    began = time.monotonic()
    command = [sys.executable, "-m", "jevhook", *arguments]
    running = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise SystemExit(f"jevhook {' '.join(arguments)}: exit code {running.returncode}")
    peak = used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return time.monotonic() - began, used.ru_utime + used.ru_stime, peak


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mb", type=int, default=200, help="how large a ledger (200)")
    options.add_argument("--full", action="store_true", help="the same as --mb 1000")
    given = options.parse_args()
    size = (1000 if given.full else given.mb) * 1_000_000
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "home"
        home.mkdir()
        env = {"HOME": str(home), "PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT)}
        shapes = lines(home, env)
        state = home / ".local/state/jevhook"
        *_, floor = measured(["ledger", "tail", "-n", "1"], env)
        made = fill(state, shapes, size)
        print(
            f"{size / 1e6:.0f} MB, {made:,} lines of {len(shapes)} shapes; {floor:.0f} MB is what a small ledger takes"
        )
        for arguments in (
            ["ledger", "tail"],
            ["ledger", "tail", "-n", "5", "--host", "codex"],  # none: all of it is looked at, backwards
            ["ledger", "stats"],
            ["ledger", "stats", "--decision", "deny"],
            ["ledger", "stats", "--since", "2026-01-02"],
            ["ledger", "prune", "--older-than", "2026-01-02", "--dry-run"],
        ):
            took, busy, peak = measured(arguments, env)
            print(
                f"{took:7.2f} s ({busy:.2f} of a core)  {size / 1e6 / took:5.0f} MB/s  {peak:5.0f} MB  jevhook {' '.join(arguments)}"
            )


if __name__ == "__main__":
    main()
