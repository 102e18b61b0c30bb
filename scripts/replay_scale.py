"""How fast ``jevhook replay`` is on a generated history, and how much memory it takes.

    scripts/replay_scale [--events N] [--form hooks|ledger|entries|claude] [--jobs N] [--against NAME]

Writes N events (200,000; a call and its result count as two) of ordinary work in sessions of 100 calls into a temporary
directory: hook events, a ledger with the whole state, a ledger of bare entries, or transcripts.  Runs the installed
command on them and prints the rate, the processor time (which says what a quiet machine would do) and the peak memory
of all its processes together (the sum of each one's peak).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CALLS = 100  # of one session
HOME = "/home/dev"
COMMANDS = (
    "ls -la src",
    "git status --short",
    "git diff HEAD~1 -- src/price.py",
    "grep -rn 'tax_rate' src tests",
    "cat pyproject.toml | head -40",
    "python -m pytest -q tests/test_{n}.py",
    "npm test -- --watch=false",
    "npm run build && ls dist",
    "sed -n '{n},+40p' src/price.py",
    "find . -name '*.py' -newer setup.cfg | wc -l",
    "mkdir -p build/{n} && cp src/*.json build/{n}/",
    "git add -A && git commit -m 'Round prices {n}'",
    "rm -rf build/{n}",
    "curl -s https://example.com/status/{n} | jq .state",
    "docker compose ps",
    "cd frontend && npx tsc --noEmit",
    'for f in src/*.py; do wc -l "$f"; done',
    "make lint",
    "git log --oneline -{n}",
    "echo done {n} > /tmp/step-{n}.txt",
)
RESULT = "src/price.py:{n}: tax_rate = 0.{n}\nsrc/cart.py:4: from price import tax_rate\n2 matches\n"


def calls(count: int) -> Iterator[tuple[str, int, str]]:
    """(session, number of the call, command)."""
    for number in range(count):
        command = COMMANDS[number % len(COMMANDS)].replace("{n}", str(number % 97 + 1))
        yield f"session-{number // CALLS}", number, command


def hook_events(count: int) -> Iterator[dict[str, Any]]:
    for session, number, command in calls(count // 2):
        event = {"session_id": session, "cwd": f"{HOME}/shop", "permission_mode": "default", "tool_name": "Bash"}
        event |= {"tool_input": {"command": command}, "tool_use_id": f"toolu_{number}"}
        yield {**event, "hook_event_name": "PreToolUse"}
        response = {"stdout": RESULT.replace("{n}", str(number % 89)), "stderr": "", "interrupted": False}
        yield {**event, "hook_event_name": "PostToolUse", "tool_response": response}


def entries(count: int, whole: bool) -> Iterator[dict[str, Any]]:
    for number, event in enumerate(hook_events(count)):
        before = event["hook_event_name"] == "PreToolUse"
        point = {
            "point": "tool.risk" if before else "tool.injection",
            "version": 1,
            "mode": "active",
            "source": "rules",
        }
        entry: dict[str, Any] = {"schema": 1, "origin": "hook"}
        entry["points"] = [{**point, "judged": "none", "acted": False, "outcome": "none"}]
        entry |= {
            "host": "claude",
            "event": event["hook_event_name"],
            "kind": "before-tool" if before else "after-tool",
        }
        entry["subject"] = {"session": event["session_id"], "tool": "Bash", "tool_call": event["tool_use_id"]}
        entry["subject"] |= {"project": event["cwd"], "actor": "main", "permission_mode": "default"}
        entry |= {"policy": "default", "decision": "none", "id": f"{number:08x}-0000-4000-8000-000000000000"}
        entry |= {"asked_at": "2026-01-01T00:00:00.000Z", "answered_at": "2026-01-01T00:00:00.010Z", "hook_ms": 10.0}
        if whole:
            entry["state"] = {"tool": "Bash", "input": event["tool_input"], "result": event.get("tool_response")}
        else:
            entry["state_digest"] = "0" * 64
        yield entry


def transcript(count: int) -> Iterator[dict[str, Any]]:
    for number, event in enumerate(hook_events(count)):
        line: dict[str, Any] = {"sessionId": event["session_id"], "cwd": event["cwd"], "version": "2.1.332"}
        line |= {"isSidechain": False, "entrypoint": "cli", "uuid": f"{number:08x}-0000-4000-8000-000000000000"}
        call = event["tool_use_id"]
        if event["hook_event_name"] == "PreToolUse":
            block = {"type": "tool_use", "id": call, "name": "Bash", "input": event["tool_input"]}
            yield {**line, "type": "assistant", "message": {"role": "assistant", "content": [block]}}
        else:
            block = {"type": "tool_result", "tool_use_id": call, "content": event["tool_response"]["stdout"]}
            message = {"role": "user", "content": [{**block, "is_error": False}]}
            yield {**line, "type": "user", "message": message, "toolUseResult": event["tool_response"]}


def write(form: str, count: int, folder: Path) -> None:
    if form == "claude":
        files: dict[str, Any] = {}
        for line in transcript(count):
            if line["sessionId"] not in files:
                for file in files.values():
                    file.close()
                files = {line["sessionId"]: (folder / f"{line['sessionId']}.jsonl").open("w")}
            files[line["sessionId"]].write(json.dumps(line) + "\n")
        for file in files.values():
            file.close()
        return
    made = hook_events(count) if form == "hooks" else entries(count, form == "ledger")
    with (folder / ("events.jsonl" if form == "hooks" else "ledger.ndjson")).open("w") as out:
        for event in made:
            out.write(json.dumps(event, separators=(",", ":")) + "\n")


def peaks(pid: int, found: dict[int, int]) -> None:
    """The peak resident memory in KiB of a process and all below it, as far as they are still there."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            found[pid] = max(found.get(pid, 0), int(line.split()[1]))
    for child in below:
        peaks(int(child), found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--form", choices=["hooks", "ledger", "entries", "claude"], default="hooks")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--against", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="replay-scale-") as made:
        folder = Path(made) / "history"
        home = Path(made) / "home"
        folder.mkdir()
        home.mkdir()
        write(args.form, args.events, folder)
        size = sum(file.stat().st_size for file in folder.iterdir())
        program = str(Path(sys.executable).parent / "jevhook")
        words = [program, "replay", str(folder), "--home", HOME]
        words += ["--jobs", str(args.jobs)] if args.jobs else []
        words += ["--against", args.against] if args.against else []
        env = {"PATH": os.environ["PATH"], "HOME": str(home)}
        began = time.monotonic()
        running = subprocess.Popen(words, stdout=subprocess.PIPE, env=env, text=True)
        memory: dict[int, int] = {}
        while running.poll() is None:
            peaks(running.pid, memory)
            time.sleep(0.2)
        took = time.monotonic() - began
        said = running.stdout.read() if running.stdout else ""
        print(said.splitlines()[0] if said else "nothing was said")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = used.ru_utime + used.ru_stime
        print(
            f"{args.form}: {args.events:,} events, {size / 1e6:.0f} MB, in {took:.1f} s: {args.events / took:,.0f} a second "
            f"({busy:.1f} s of processor time: {args.events / busy:,.0f} for each of them); "
            f"{sum(memory.values()) / 1024:.0f} MB at its peak in {len(memory)} processes; {os.cpu_count()} cores"
        )
        return running.returncode


if __name__ == "__main__":
    sys.exit(main())
