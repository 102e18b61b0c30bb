"""What one hook costs, as a ratio to a bare interpreter measured in the same run.

    scripts/bench [--quick] [--runs N] [--peers] [--busy] [--plot FILE.svg] [--json FILE]

Every row is a whole process that gets an event on stdin and ends: the command line that ``jevhook install`` writes,
alone and with the warm process (``jevhook resident``).  Floors: ``python -I -S -c pass`` (1.0 by definition) and
``python -c pass``.  ``--peers`` adds the guards of others that ``scripts/peers`` has installed, ``--busy`` measures
everything once more beside two busy loops.  Runs are interleaved; medians and p95 of N (30).  Then: many hooks at once,
one warm process (commands a second, 64 KiB of script), and how the time grows with length, result, ledger, rules,
and what a result costs that is screened after the tool (``--after``: only that).
Fails (exit 1) only when a ratio is past its wide margin.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PYTHON = sys.executable
FLOOR = "python -I -S -c pass"
PEERS = ROOT / ".bench"
WORK = 0.1  # seconds that the loopback judge of the last event takes


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


def result(size: int) -> dict[str, Any]:
    line = "12:00:01 worker-3 INFO compiled module in 31 ms (cache miss), 0 warnings\n"
    return {"stdout": (line * (size // len(line) + 1))[:size], "stderr": "", "interrupted": False, "isImage": False}


EVENTS = {
    "ls -la": event("ls -la"),
    "npm test && git push": event(
        "npm test -- --watch=false && git add -A && git commit -m 'x' && git push origin topic"
    ),
    "git reset --hard": event("git reset --hard"),
    "200-line heredoc": event(HEREDOC),
    "after a 100 KB result": event("cat big.log", "PostToolUse", tool_response=result(100_000)),
}
JUDGED = "a judge with 100 ms of work"


def peers() -> dict[str, list[str]]:
    """The guards of others that are installed, by name: what each has a host run."""
    python, npm = PEERS / "python" / "bin", PEERS / "npm" / "node_modules" / ".bin"
    known = {
        "nah": [str(python / "nah"), "_claude-hook"],
        "bashgate": [str(python / "bashgate"), "hook"],
        "provio": [str(python / "provio"), "check", "--format", "claude-code"],
        "agentbelay": [str(python / "belay"), "hook", "claude-code"],
        "claude-safety-guard": [str(python / "claude-safety-guard"), "hook"],
        "cc-safety-net": [str(npm / "cc-safety-net"), "hook", "--coding-cli"],
    }
    return {name: command for name, command in known.items() if os.path.exists(command[0])}


@contextmanager
def loopback_judge(seconds: float) -> Iterator[int]:
    """A judge in a process of its own that answers every question after ``seconds``; its port."""
    code = (
        "import json, time, sys\n"
        "from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer\n"
        "class Judge(BaseHTTPRequestHandler):\n"
        "    protocol_version = 'HTTP/1.1'\n"
        "    disable_nagle_algorithm = True\n"
        "    def do_POST(self):\n"
        "        asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))\n"
        f"        time.sleep({seconds})\n"
        "        answers = {n: {'type': 'noul', 'noul': 0.5} for n, q in asked['questions'].items() if q['type'] == 'noul'}\n"
        "        body = json.dumps({'model': 'bench', 'answers': answers, 'usage': {'input_tokens': 1, 'output_tokens': 1}}).encode()\n"
        "        self.wfile.write(b'HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n' % len(body) + body)\n"
        "    def log_message(self, *args): pass\n"
        "server = ThreadingHTTPServer(('127.0.0.1', 0), Judge)\n"
        "print(server.server_port, flush=True)\n"
        "server.serve_forever()\n"
    )
    server = subprocess.Popen([PYTHON, "-I", "-c", code], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield int(server.stdout.readline())
    finally:
        server.kill()
        server.wait()


@contextmanager
def resident(folder: Path) -> Iterator[None]:
    """The warm process, in ``folder``."""
    folder.mkdir(mode=0o700)
    process = subprocess.Popen([*HOOK[:-1], "resident", "serve", str(folder)])
    until = time.monotonic() + 20
    while len(list(folder.iterdir())) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """``loops`` processes that only count; each ends by itself after five minutes."""
    code = "import time\nend = time.monotonic() + 300\nwhile time.monotonic() < end: pass"
    running = [subprocess.Popen([PYTHON, "-I", "-S", "-c", code]) for _ in range(loops)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


HOOK = [PYTHON, "-I", "-S", str(ROOT / "jevhook" / "__main__.py"), "hook"]


def once(command: list[str], data: bytes, env: dict[str, str], strict: bool = True) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, input=data, capture_output=True, env=env, check=False, cwd="/")
    took = (time.perf_counter() - began) * 1000
    if done.returncode and strict:
        raise SystemExit(f"{command}: exit {done.returncode}: {done.stderr.decode()[:300]}")
    return took


def percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


class Home:
    """A home of its own for every program that is measured, and the rows: name -> (command, event, environment)."""

    def __init__(self, with_peers: bool, judge: int) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="jevhook-bench-"))
        self.warm = self.place / "warm"
        env = self.environment("own")
        asking = self.environment("asking")
        config = Path(asking["XDG_CONFIG_HOME"], "jevhook")
        config.mkdir(parents=True)
        config.joinpath("config.toml").write_text(
            f'[judge]\nprovider = "native"\nbase_url = "http://127.0.0.1:{judge}"\nmodel = "bench"\n'
        )
        with_warm = [*HOOK, "--resident", str(self.warm)]
        self.rows: dict[str, tuple[list[str], bytes, dict[str, str]]] = {
            FLOOR: ([PYTHON, "-I", "-S", "-c", "pass"], b"", env),
            "python -c pass": ([PYTHON, "-c", "pass"], b"", env),
        }
        for name, data in EVENTS.items():
            self.rows[f"{name} | jevhook"] = (HOOK, data, env)
            self.rows[f"{name} | jevhook, resident"] = (with_warm, data, env)
            if with_peers:
                for peer, command in peers().items():
                    env = self.environment(peer)
                    if peer == "provio":  # without a policy file it only says that there is none
                        command = [command[0], "--policy", self.provio(command[0], env), *command[1:]]
                    self.rows[f"{name} | {peer}"] = (command, data, env)
        self.rows[f"{JUDGED} | jevhook"] = (HOOK, EVENTS["git reset --hard"], asking)
        self.rows[f"{JUDGED} | jevhook, resident"] = (with_warm, EVENTS["git reset --hard"], asking)
        self.number = 0

    def provio(self, program: str, env: dict[str, str]) -> str:
        """The policy that provio itself writes for a new project."""
        project = Path(env["HOME"], "project")
        if not project.exists():
            project.mkdir(parents=True)
            subprocess.run(
                [program, "init", "--agent", "claude-code"],
                cwd=project,
                env=env,
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        return str(project / "provio.yaml")

    def environment(self, name: str) -> dict[str, str]:
        home = self.place / name
        return {
            "PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": f"{home}/state", "XDG_CACHE_HOME": f"{home}/cache",
            "XDG_CONFIG_HOME": f"{home}/config",
        }  # fmt: skip

    def data(self, row: str) -> bytes:
        """The row's event in a session of its own: the same question in one session is answered from memory."""
        self.number += 1
        data = self.rows[row][1]
        return data.replace(b'"bench"', b'"bench-%d"' % self.number, 1) if row.startswith(JUDGED) else data

    def time(self, row: str) -> float:
        command, _, env = self.rows[row]
        return once(command, self.data(row), env, strict="jevhook" in row)


def whole_process(home: Home, runs: int) -> dict[str, list[float]]:
    """Milliseconds by row; one run of each first, for byte code and caches.  Each time in another order: what ran just
    before leaves its mark, beside busy loops most of all."""
    times: dict[str, list[float]] = {name: [] for name in home.rows}
    names = list(home.rows)
    order = random.Random(1)
    for number in range(runs + 1):
        order.shuffle(names)
        for name in names:
            took = home.time(name)
            if number:
                times[name].append(took)
    return times


def judges_own(port: int) -> float:
    """Milliseconds that the loopback judge takes for a question over a connection that stays open."""
    import http.client
    import socket

    line = http.client.HTTPConnection("127.0.0.1", port)
    line.connect()
    line.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    took = []
    for _ in range(15):
        began = time.perf_counter()
        line.request("POST", "/", json.dumps({"questions": {"risk": {"type": "noul"}}}))
        line.getresponse().read()
        took.append((time.perf_counter() - began) * 1000)
    line.close()
    return statistics.median(took)


def table(times: dict[str, list[float]], title: str, own: float) -> dict[str, float]:
    floor = statistics.median(times[FLOOR])
    print(f"\n{title:56}{'median ms':>10}{'p95 ms':>9}{'x floor':>9}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:56}{median:10.1f}{percentile(values, 0.95):9.1f}{median / floor:9.2f}")
    for name in (f"{JUDGED} | jevhook", f"{JUDGED} | jevhook, resident"):
        print(f"{name}: {statistics.median(times[name]) - own:.1f} ms beside the judge's own {own:.1f}")
    return {name: statistics.median(values) / floor for name, values in times.items()}


def at_once(home: Home, count: int) -> None:
    """The same hooks one after another and all at once."""
    for row in ("git reset --hard | jevhook", "git reset --hard | jevhook, resident"):
        command, data, env = home.rows[row]
        began = time.perf_counter()
        for _ in range(count):
            once(command, data, env)
        alone = time.perf_counter() - began
        began = time.perf_counter()
        running = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
            for _ in range(count)
        ]
        for one in running:
            assert one.stdin is not None
            one.stdin.write(data)
            one.stdin.close()
        silent = 0
        for one in running:
            assert one.stdout is not None
            silent += not one.stdout.read()
            one.wait()
        together = time.perf_counter() - began
        print(
            f"{count} x {row}: one after another {alone:.2f} s, at once {together:.2f} s ({together / alone:.2f}x), silent {silent}"
        )


def growth(home: Home, quick: bool) -> None:
    """Whole processes again: how the time grows with what grows in use."""
    env = home.environment("own")
    runs = 5 if quick else 15

    def median(data: bytes, where: dict[str, str] = env) -> float:
        once(HOOK, data, where)
        return statistics.median(once(HOOK, data, where) for _ in range(runs))

    line = "git add src/a.py && git commit -m 'change a' && npm run build -- --mode production | tee build.log\n"
    kib = (1, 16, 64, 256) if quick else (1, 4, 16, 64, 256, 1024)
    rows = [
        f"{k} KiB {median(event((line * (k * 1024 // len(line) + 1))[: k * 1024].rsplit(chr(10), 1)[0])):.1f}"
        for k in kib
    ]
    print("growth with the command (ms):", ", ".join(rows))
    sizes = (10, 100, 1000) if quick else (10, 100, 500, 1000, 5000)
    rows = [f"{k} KB {median(event('cat big.log', 'PostToolUse', tool_response=result(k * 1000))):.1f}" for k in sizes]
    print("growth with the result (ms):", ", ".join(rows))
    rows = []
    for megabytes in (0, 1, 7):
        where = home.environment(f"ledger-{megabytes}")
        folder = Path(where["XDG_STATE_HOME"], "jevhook")
        folder.mkdir(parents=True, mode=0o700)
        folder.joinpath("ledger.ndjson").write_bytes((b"x" * 999 + b"\n") * 1000 * megabytes)
        folder.joinpath("ledger.ndjson").chmod(0o600)
        rows.append(f"{megabytes} MB {median(EVENTS['ls -la'], where):.1f}")
    print("growth with the ledger (ms):", ", ".join(rows))
    rows = []
    for count in (0, 100, 1000):
        where = home.environment(f"rules-{count}")
        folder = Path(where["XDG_CONFIG_HOME"], "jevhook")
        folder.mkdir(parents=True)
        text = "".join(
            f'[[rule]]\nid = "team.r{n}"\nprogram = ["tool{n}"]\nseverity = "ask"\nreason = "Because {n}."\n'
            for n in range(count)
        )
        folder.joinpath("config.toml").write_text(text)
        rows.append(f"{count} more {median(EVENTS['git reset --hard'], where):.1f}")
    print("growth with the rules (ms):", ", ".join(rows))


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


def plot(times: dict[str, list[float]], path: str) -> None:
    """Bars by event, one a program, as one SVG: median, and a thin line to the p95."""
    programs = list(dict.fromkeys(name.partition(" | ")[2] for name in times if " | " in name))
    colours = ["#1b6ca8", "#4fa3d1", "#9a9a9a", "#b5b5b5", "#c8c8c8", "#8a8a8a", "#d6d6d6", "#787878"]
    most = max(percentile(values, 0.95) for name, values in times.items() if " | " in name)
    scale = 560 / most
    when = f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    parts, y = (
        [f'<text x="10" y="18" fill="#444">Whole processes: the median, and a line to the p95; {when}</text>'],
        44,
    )
    for what in [*EVENTS, JUDGED]:
        parts.append(f'<text x="10" y="{y}" font-weight="bold">{what.replace("&", "&amp;")}</text>')
        y += 8
        for program in programs:
            values = times.get(f"{what} | {program}")
            if not values:
                continue
            median, late = statistics.median(values), percentile(values, 0.95)
            parts.append(
                f'<rect x="170" y="{y}" width="{median * scale:.1f}" height="11" fill="{colours[programs.index(program) % 8]}"/>'
                f'<path d="M{170 + median * scale:.1f} {y + 5.5} H{170 + late * scale:.1f}" stroke="#444" stroke-width="1"/>'
                f'<text x="164" y="{y + 10}" text-anchor="end">{program}</text>'
                f'<text x="{176 + late * scale:.1f}" y="{y + 10}">{median:.0f} ms</text>'
            )
            y += 15
        y += 24
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{y}" font-family="sans-serif" font-size="11">'
    Path(path).write_text(head + '<rect width="100%" height="100%" fill="white"/>' + "".join(parts) + "</svg>\n")


def after() -> dict[str, float]:
    """tool.injection alone, warm: a passage of 1,000 characters, results of 100 KB and of 5 MB, and 5 MB of escapes.

    Milliseconds of the processor, not of the clock: these are whole seconds of work, and a machine is rarely idle.
    """
    import resource

    from jevhook.event import Event
    from jevhook.points import Context, injection
    from jevhook.policy import Policy
    from jevhook.text import injection as judge

    # Ordinary text of every kind at hand: documentation, code, tables; numbered, so that no passage comes twice.
    ours = [p.read_text("utf-8") for folder in ("docs", "jevhook", "scripts") for p in sorted((ROOT / folder).rglob("*.*"))
            if p.suffix in (".md", ".py", ".toml")]  # fmt: skip
    lines = [line for text in ours for line in text.split("\n")]
    big = "\n".join(f"{n}: {lines[n % len(lines)]}" for n in range(5_000_000 // 30))[:5_000_000]
    context = Context(Policy(), {}, 0.0, offline=True)

    def screen(text: str) -> float:
        event = Event("claude", "after-tool", "PostToolUse", tool="mcp__files__get", result=text)
        began = time.process_time()
        injection.judge(event, context)
        return (time.process_time() - began) * 1000

    prose = "\n".join(line for line in ours[0].split("\n") if line)
    pieces = [prose[at : at + 1000] for at in range(0, min(20_000, len(prose) - 1000), 1000)]
    for piece in pieces:
        judge.suspect(judge.see(piece))
    one = []
    for piece in pieces * 5:
        began = time.process_time()
        judge.suspect(judge.see(piece))
        one.append((time.process_time() - began) * 1000)
    figures = {"1,000 characters": statistics.median(one)}
    figures["100 KB"] = statistics.median(screen(big[at : at + 100_000]) for at in range(0, 700_000, 100_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures["5 MB"] = min(screen(big) for _ in range(3))
    figures["5 MB of escapes"] = screen(("\\u0061\\u0062\\u0063 word " * 250_000)[:5_000_000])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print("\nafter the tool, tool.injection warm:", ", ".join(f"{name} {took:.2f} ms" for name, took in figures.items()),
          f"(memory grew by {grown:.0f} MB)")  # fmt: skip
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--plot", default="")
    parser.add_argument("--json", default="")
    parser.add_argument("--after", action="store_true", help="only what a result costs after the tool")
    args = parser.parse_args()
    if args.after:
        after()
        return 0
    runs = args.runs or (10 if args.quick else 30)
    if args.peers and not peers():
        raise SystemExit("no peers here: run scripts/peers first")
    with loopback_judge(WORK) as port:
        home = Home(args.peers, port)
        with resident(home.warm):
            times = whole_process(home, runs)
            ratios = table(times, "whole process", judges_own(port))
            if args.busy:
                with busy(2):
                    loaded_times = whole_process(home, max(5, runs // 2))
                    table(loaded_times, "beside two busy loops", judges_own(port))
            print()
            at_once(home, 30 if args.quick else 100)
        growth(home, args.quick)
    if args.plot:
        plot(times, args.plot)
    loaded()
    rate, _worst = warm(args.quick)
    after()
    print(
        f"\n{datetime.date.today().isoformat()}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}, {runs} runs a row"
    )
    if args.json:
        Path(args.json).write_text(json.dumps({"ratios": ratios, "commands a second": rate}, indent=1))
    limits = {
        "ls -la | jevhook": 6.0,
        "ls -la | jevhook, resident": 4.0,
        "200-line heredoc | jevhook": 9.0,
        "git reset --hard | jevhook, resident": 6.0,
    }
    late = [f"{name}: {ratios[name]:.1f}x, margin {limit}x" for name, limit in limits.items() if ratios[name] > limit]
    if rate < 1000:
        late.append(f"{rate:.0f} commands a second, margin 1000")
    for text in late:
        print("too slow:", text)
    return 1 if late else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="jevhook-", ignore_cleanup_errors=True) as place:
        os.environ["TMPDIR"] = tempfile.tempdir = place  # what is made on the way goes when it ends
        sys.exit(main())
