"""What one hook costs, as a ratio to a bare interpreter measured in the same run.

    scripts/bench [--quick] [--runs N]

Every row is a whole process: the installed ``jevhook hook`` gets an event on stdin and ends.  Floors: ``python -I -S
-c pass`` (1.0 by definition) and ``python -c pass``.  Runs are interleaved, medians and p95 of N (30).  Then one warm
process: commands a second, 64 KiB of script, and how the time grows with length.  Fails (exit 1) only when a ratio is
past its wide margin.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PYTHON = sys.executable
HOOK = str(Path(PYTHON).parent / "jevhook")


def event(command: str, name: str = "PreToolUse", **more: Any) -> bytes:
    return json.dumps(
        {
            "session_id": "bench", "transcript_path": "/nonexistent.jsonl", "cwd": "/tmp/bench-project", "permission_mode": "default",
            "hook_event_name": name, "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_1", **more,
        }
    ).encode()  # fmt: skip


HEREDOC = (
    "cat > notes.md <<'EOF'\n"
    + "".join(f"line {i}: some text about the build, rm -rf is only a word here\n" for i in range(200))
    + "EOF\n"
)


def rows() -> dict[str, tuple[list[str], bytes]]:
    hook = [HOOK, "hook"]
    direct = [PYTHON, "-I", "-c", "import sys; sys.argv=['jevhook','hook']; from jevhook.__main__ import main; main()"]
    result = {"stdout": "x" * 100_000, "stderr": "", "interrupted": False, "isImage": False}
    return {
        "python -I -S -c pass": ([PYTHON, "-I", "-S", "-c", "pass"], b""),
        "python -c pass": ([PYTHON, "-c", "pass"], b""),
        "hook: ls -la": (hook, event("ls -la")),
        "hook (python -I): ls -la": (direct, event("ls -la")),
        "hook: npm test && git push": (
            hook,
            event("npm test -- --watch=false && git add -A && git commit -m 'x' && git push origin topic"),
        ),
        "hook: git reset --hard": (hook, event("git reset --hard")),
        "hook: 200-line heredoc": (hook, event(HEREDOC)),
        "hook: after a 100 KB result": (hook, event("cat big.log", "PostToolUse", tool_response=result)),
    }


def loopback_judge() -> int:
    """A server that answers every question at once; returns its port."""
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Judge(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answers = {
                name: {"type": "noul", "noul": 0.5} for name, q in asked["questions"].items() if q["type"] == "noul"
            }
            body = json.dumps(
                {"model": "bench", "answers": answers, "usage": {"input_tokens": 1, "output_tokens": 1}}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def once(command: list[str], data: bytes, env: dict[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, input=data, capture_output=True, env=env, check=False)
    took = (time.perf_counter() - began) * 1000
    if done.returncode:
        raise SystemExit(f"{command}: exit {done.returncode}: {done.stderr.decode()[:300]}")
    return took


def percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def whole_process(runs: int) -> dict[str, float]:
    place = tempfile.mkdtemp(prefix="jevhook-bench-")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": place,
        "XDG_STATE_HOME": place + "/state",
        "XDG_CACHE_HOME": place + "/cache",
        "XDG_CONFIG_HOME": place + "/config",
    }
    table = {name: (command, data, env) for name, (command, data) in rows().items()}
    asks = Path(place, "asks", "jevhook")
    asks.mkdir(parents=True)
    port = loopback_judge()
    asks.joinpath("config.toml").write_text(
        f'[judge]\nprovider = "native"\nbase_url = "http://127.0.0.1:{port}"\nmodel = "bench"\n'
    )
    table["hook: the same, with a judge"] = (
        *table["hook: git reset --hard"][:2],
        {**env, "XDG_CONFIG_HOME": str(asks.parent)},
    )
    for command, data, where in table.values():  # warm: byte code, policy cache
        once(command, data, where)
    times: dict[str, list[float]] = {name: [] for name in table}
    for _ in range(runs):
        for name, (command, data, where) in table.items():
            times[name].append(once(command, data, where))
    floor = statistics.median(times["python -I -S -c pass"])
    print(f"{'whole process':32}{'median ms':>10}{'p95 ms':>9}{'x floor':>9}")
    ratios = {"floor ms": floor}
    for name, values in times.items():
        median = statistics.median(values)
        ratios[name] = median / floor
        print(f"{name:32}{median:10.1f}{percentile(values, 0.95):9.1f}{median / floor:9.2f}")
    return ratios


def loaded() -> None:
    code = (
        "import sys, io, os; sys.argv=['jevhook','hook']\n"
        "import jevhook.hook as h\n"
        f"lane = h.Lane(h.parse_arguments([]), os.environ); h.run({event('ls -la')!r}, lane); h.write_ledger(lane)\n"
        "heavy = [m for m in ('click','rich','requests','urllib3','json','re','tomllib','typing','dataclasses','pathlib','logging','tree_sitter','socket','ssl','threading') if m in sys.modules]\n"
        "print(len(sys.modules), 'modules; of the heavy ones:', heavy or 'none')"
    )
    place = tempfile.mkdtemp(prefix="jevhook-bench-")
    env = {
        "HOME": place,
        "XDG_STATE_HOME": place,
        "XDG_CACHE_HOME": place,
        "XDG_CONFIG_HOME": place,
        "PATH": os.environ["PATH"],
    }
    for _ in range(2):
        done = subprocess.run([PYTHON, "-I", "-c", code], capture_output=True, text=True, env=env, check=True)
    print(f"\nloaded for `ls -la`: {done.stdout.strip()}")


def warm(quick: bool) -> tuple[float, float]:
    from jevhook.shell.calls import shell_call
    from jevhook.shell.paths import Place
    from jevhook.shell.world import RealWorld

    home = "/home/dev"
    place = Place(RealWorld({"HOME": home, "USER": "dev"}), home + "/work/shop", [])
    corpus = ROOT.parent / "shared" / "corpus" / "commands"
    commands: list[str] = []
    for path in sorted(corpus.glob("*.jsonl")) if corpus.is_dir() else []:
        commands += [json.loads(line)["command"] for line in path.open(encoding="utf-8")]
    if not commands:
        from tests.test_rules import RAW

        commands = [c for rule in RAW for c in rule.get("match", []) + rule.get("no_match", [])] * 10
    commands = commands[:: 5 if quick else 1]
    shell_call("ls", home, place)
    gc.disable()  # as the hook does
    began = time.perf_counter()
    for command in commands:
        shell_call(command, home + "/work/shop", place)
    took = time.perf_counter() - began
    rate = len(commands) / took
    print(f"\nwarm: {len(commands)} commands, {rate:,.0f} a second")
    line = "git add src/a.py && git commit -m 'change a' && npm run build -- --mode production | tee build.log\n"
    sixty_four = (line * (65536 // len(line) + 1))[:65536].rsplit("\n", 1)[0]
    kinds = {
        "commands": sixty_four,
        "heredoc": "cat > f <<'E'\n" + "text of a file\n" * 4369 + "E\n",
        "quotes": "echo '" + "x" * 65000 + "'",
    }
    worst = 0.0
    for name, text in kinds.items():
        best = min(_timed(shell_call, text, place) for _ in range(5))
        worst = max(worst, best)
        print(f"warm: 64 KiB of {name}: {best:.1f} ms")
    print(
        "growth (ms):",
        ", ".join(
            f"{k} KiB {_timed(shell_call, (line * (k * 1024 // len(line) + 1))[: k * 1024].rsplit(chr(10), 1)[0], place):.1f}"
            for k in (16, 32, 64, 128, 256, 512, 1024)
        ),
    )
    print(
        "growth, one heredoc (ms):",
        ", ".join(
            f"{k} KiB {_timed(shell_call, 'cat > f <<E' + chr(10) + 'some text here' * (k * 73) + chr(10) + 'E', place):.1f}"
            for k in (64, 256, 1024)
        ),
    )
    return rate, worst


def _timed(call: Any, text: str, place: Any) -> float:
    began = time.perf_counter()
    call(text, "/home/dev/work/shop", place)
    return (time.perf_counter() - began) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=0)
    args = parser.parse_args()
    runs = args.runs or (10 if args.quick else 30)
    ratios = whole_process(runs)
    asked, alone = ratios["hook: the same, with a judge"], ratios["hook: git reset --hard"]
    print(f"a judge on loopback that answers at once adds {(asked - alone) * ratios['floor ms']:.1f} ms")
    loaded()
    rate, _worst = warm(args.quick)
    print(
        f"\n{datetime.date.today().isoformat()}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}, {runs} runs a row"
    )
    limits = {"hook: ls -la": 6.0, "hook: 200-line heredoc": 9.0}
    late = [f"{name}: {ratios[name]:.1f}x, margin {limit}x" for name, limit in limits.items() if ratios[name] > limit]
    if rate < 1000:
        late.append(f"{rate:.0f} commands a second, margin 1000")
    for text in late:
        print("too slow:", text)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
