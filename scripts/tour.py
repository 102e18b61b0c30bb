"""A first hour with jevhook, from install to uninstall, in a home and a project that are thrown away.

Every command is run by a shell at a real terminal, and what a person would type is typed.  A step that does not print
what it should, or not in time, ends the tour with exit 1.

scripts/tour             the session as text
scripts/tour --record    write it to docs/tour.md, with /home/dev for the home and fixed times, ids and ports
scripts/tour --check     exit 1 and show the difference when docs/tour.md is not what the tour prints today
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from jevhook.config import account_home  # noqa: E402
from tests.use.loopback_judge import choice, judge, noul, score  # noqa: E402

PAGE = ROOT / "docs" / "tour.md"
SECONDS = 60.0
_ASKS = re.compile(rb"(\[[YyNn]/[YyNn]\]:|\?|:) ?\Z")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
INTRO = """# A tour

What `scripts/tour` prints: a new user's first hour, every command run at a real terminal in a home and a project made for
it. Written by `scripts/tour --record`; a test fails when the tour prints something else today. Ids, codes, digests, dates and
ports are replaced by fixed ones; `[exit 1]` is the exit code where it is not 0; `…` stands for what was left out.
"""

SETTINGS = '{\n  "model": "opus"\n}\n'
CODEX = '# mine\nmodel = "gpt-5"\n'
CLAUDE_EVENT = {
    "session_id": "7f1d6c0e",
    "cwd": "",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf ~/"},
    "tool_use_id": "toolu_01",
}
CODEX_EVENT = {
    "session_id": "7f1d6c0e",
    "turn_id": "turn_1",
    "transcript_path": None,
    "cwd": "",
    "hook_event_name": "PreToolUse",
    "model": "gpt-5",
    "permission_mode": "default",
    "tool_name": "Bash",
    "tool_input": {"command": "git reset --hard"},
    "tool_use_id": "call_01",
}
LIBRARY = """\
from jevhook import Jev, check, gate, pick

result = Jev().judge("All 212 tests passed.", [check("Is the build green?"), pick("Who looks?", ["build", "nobody"])])
print(result.answers, result.escalated)
print(gate("Bash", {"command": "rm -rf ~"}).decision)
"""
CLIENT = """\
import os, sys, anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

async def main():
    server = StdioServerParameters(command=sys.executable, args=["-I", "-m", "jevhook", "serve"], env=dict(os.environ))
    async with Client(server) as client:
        print(*sorted(tool.name for tool in (await client.list_tools()).tools))
        result = await client.call_tool("jev_gate", {"tool": "Bash", "input": "git reset --hard"})
        print(result.content[0].text)

anyio.run(main)
"""


class Wrong(Exception):
    """A step that did not do what it should."""


class Tour:
    """The session: ``home`` and ``project`` are thrown away with it; ``said`` is (title, text) of each part."""

    def __init__(self, top: Path, live: bool, seconds: float) -> None:
        self.home, self.project = top / "home" / "dev", top / "home" / "dev" / "shop"
        self.said: list[tuple[str, str]] = []
        self.words: dict[str, str] = {}  # what stands under a title
        self.live = live
        self.until = time.monotonic() + seconds
        (self.project / ".git").mkdir(parents=True)
        self.env = {
            "HOME": str(self.home),
            # Neither the agents of this machine nor a key of its owner: what is shown is what ships.
            "PATH": f"{Path(sys.executable).parent}:{top / 'bin'}",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        (top / "bin").mkdir()
        for name in ("sh", "cat"):
            (top / "bin" / name).symlink_to(f"/bin/{name}")

    def file(self, name: str, text: str) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def part(self, title: str, words: str = "") -> None:
        self.said.append((title, ""))
        self.words[title] = words
        if self.live:
            print(f"\n## {title}\n" + (f"\n{words}\n" if words else ""), flush=True)

    def run(
        self,
        line: str,
        *says: str,
        code: int = 0,
        types: tuple[str, ...] = (),
        silent: bool = False,
        show: tuple[int, int] | None = None,
    ) -> str:
        """What ``line`` prints at a terminal, with ``types`` typed where it asks.

        ``says``: texts that must be in it, whatever the breaks; ``show``: how many first and last lines are shown.
        """
        ended, output = self._at_terminal(line, types)
        flat = " ".join(output.split())
        problems = [f"it does not say {text!r}" for text in says if text not in flat]
        if ended != code:
            problems.append(f"exit {ended}, not {code}")
        if silent and output:
            problems.append("it says something")
        lines = output.splitlines()
        if show and len(lines) > sum(show):
            left = len(lines) - sum(show)
            lines = [*lines[: show[0]], f"… {left} lines …", *lines[len(lines) - show[1] :]]
        text = "\n".join([f"$ {line}", *lines, *([f"[exit {ended}]"] if ended else [])]) + "\n"
        title, before = self.said[-1]
        self.said[-1] = (title, before + text)
        if self.live:
            print(text, end="", flush=True)
        if problems:
            shown = "" if self.live else f"\n{text}"
            raise Wrong(f"{line}: {'; '.join(problems)}{shown}")
        return output

    def _at_terminal(self, line: str, types: tuple[str, ...]) -> tuple[int, str]:
        keys, told, since = list(types), b"", 0
        master, slave = pty.openpty()
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", line],
                stdin=slave, stdout=slave, stderr=slave, cwd=self.project, env=self.env, start_new_session=True,
            )  # fmt: skip
            os.close(slave)
            while True:
                if not select.select([master], [], [], max(0.0, self.until - time.monotonic()))[0]:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    raise Wrong(f"{line}: the tour has not ended in time; so far: {told.decode(errors='replace')}")
                try:
                    piece = os.read(master, 65536)
                except OSError:  # Linux says so when the last one has closed the other end
                    break
                if not piece:
                    break
                told += piece
                if keys and _ASKS.search(told[since:]):
                    os.write(master, keys.pop(0).encode() + b"\n")
                    since = len(told)
            ended = process.wait(timeout=max(1.0, self.until - time.monotonic()))
        finally:
            os.close(master)
        if keys:
            raise Wrong(f"{line}: it asked less often than it should")
        text = _ESCAPES.sub("", told.decode(errors="replace").replace("\r\n", "\n"))
        lines = [part.rpartition("\r")[2].rstrip() for part in text.split("\n")]
        return ended, "\n".join(lines).strip("\n")


def answer(ident: str, question: dict[str, Any], state: Any) -> Any:
    """The stand-in judge: fixed answers, for the tour's own questions."""
    if question["type"] == "noul":
        asked, text = str(question["instructions"]), json.dumps(state)
        item = re.search(r"untrusted_items\.(i\d+)", asked)
        if item:
            return noul(0.97 if "ERROR" in state["untrusted_items"][item[1]] else 0.03)
        claim = re.search(r"claims\.(c\d+)", asked)
        if claim:
            return noul(0.96 if "passed" in state["claims"][claim[1]] else 0.08)
        return noul(0.96 if "passed" in text else 0.5)
    if question["type"] == "choice":
        labels = list(question["criteria"])
        return choice(question, next((label for label in ("lsp", "nobody", "allow") if label in labels), labels[0]))
    return score(question, 4)


def session(tour: Tour) -> list[str]:
    """The whole tour; the titles of parts left out because something is not installed.  Raises Wrong."""
    shop = str(tour.project)
    settings = tour.file(".claude/settings.json", SETTINGS)
    toml = tour.file(".codex/config.toml", CODEX)
    was = {path: path.read_bytes() for path in (settings, toml)}
    tour.file("shop/event.json", json.dumps(CLAUDE_EVENT | {"cwd": shop}) + "\n")
    tour.file("shop/codex.json", json.dumps(CODEX_EVENT | {"cwd": shop}) + "\n")
    tour.file("shop/again.json", json.dumps(CODEX_EVENT | {"cwd": shop, "tool_use_id": "call_2"}) + "\n")
    tour.file("shop/app.log", "ok: 12 rows written\nERROR: disk full\nok: done\n")
    tour.file("shop/five.py", LIBRARY)
    left_out = []

    tour.part("Install", "What would change, then the change itself. Every other byte of the settings stays.")
    tour.run("jevhook install --dry-run", '"PreToolUse"', "hook --host claude", "Codex: nothing was changed")
    tour.run("jevhook install", "Claude Code: the hook is in", "Codex: the hook is in", types=("y", "y"), show=(4, 6))
    tour.run("jevhook doctor --offline", "claude guarded", "codex guarded", "judge none (rules only)", "ok")

    tour.part("A call is stopped", "The command line that the install wrote, given one event as Claude Code gives it.")
    python = 'import json; print(json.load(open("../.claude/settings.json"))["hooks"]["PreToolUse"][0]["hooks"][0]["command"])'
    tour.run(f"python -c '{python}' >hook.sh; cat hook.sh", "-I -S", "hook --host claude", "--id ")
    tour.run("cat event.json", "rm -rf ~/")
    tour.run("sh hook.sh <event.json", '"permissionDecision":"deny"', "[fs.delete-home]")
    tour.run("jevhook ledger show toolu_01", "claude, PreToolUse, before-tool", "decision deny", "fs.delete-home")
    tour.run(
        "jevhook explain 'git reset --hard && rm -rf build'", "ask git.reset-hard", "(build)", "codex cannot ask: deny"
    )

    tour.part("Let it run once", "Codex has no question to put to you, so the call is stopped and a code named.")
    denied = tour.run("jevhook hook --host codex <codex.json", '"deny"', "allow-once", "[git.reset-hard]")
    code = re.search(r"allow-once ([A-Z]{5})", denied)
    if not code:
        raise Wrong("the denial names no code")
    tour.run(f"jevhook allow-once {code[1]}", "git reset --hard", "permitted once until", types=("y",))
    tour.run("jevhook hook --host codex <codex.json", silent=True)
    tour.run("jevhook hook --host codex <again.json", '"deny"', "[git.reset-hard]")

    tour.part("The policy", "What is in force and which file says so; a lasting exception, and gone again.")
    tour.run("jevhook policy show", "[modes]", '"tool.risk" = "active"', "# shipped", show=(12, 0))
    tour.run("jevhook policy check", "ok: ", " rules, ", " examples")
    tour.run("jevhook policy diff current strict", '"default" → "strict"', code=1)
    add = "jevhook allow add git.clean --path '~/shop/**' --comment 'generated files only' --expires 2099-12-31"
    tour.run(add, "git.clean is lifted until 2099-12-31")
    tour.run("jevhook allow list", "git.clean", "~/shop/**", "# generated files only")
    tour.run("jevhook allow remove clean", "exception clean is gone")

    tour.part("Ask a judge: none is set up", "Nothing is invented: nobody answers, and the hint says who would.")
    green = "jev-use judge --state 'All 212 tests passed.' --check 'Is the build green?'"
    tour.run(green, "unreachable", "TYPESAFE_API_KEY", "ollama", code=3)
    tour.run("jev-use gate --tool Bash --input 'ls -la' | cat", '"decision": "allow"', "proven to be read-only")
    tour.run("jev-use gate --tool Bash --input 'rm -rf ~'", "deny", "[fs.delete-home]", code=1)
    tour.run("jev-use gate --tool Bash --input 'git push --force'", "escalate", "[git.force-push]", code=3)

    with judge(answer) as served:
        tour.part(
            "Ask a judge: one on this machine",
            "A stand-in on 127.0.0.1 that knows the answers of this tour; yours is ollama, a service, …",
        )
        tour.file(".config/jevhook/config.toml", f'[judge]\nprovider = "native"\nbase_url = "{served.url}"\n')
        tour.run("cat ~/.config/jevhook/config.toml", "[judge]")
        tour.run(green, "yes (p 0.96)", "0.92 estimated")
        tour.run(
            "jev-use judge --items app.log --check 'Does the line report a failure?'", "2 yes 0.97 ERROR: disk full"
        )
        rank = "jev-use rank --state 'rename a symbol in 40 files'"
        rank += " --candidate sed='edits text by pattern' --candidate lsp='renames symbols'"
        tour.run(rank, "winner: lsp")
        verify = "jev-use verify --claim green='Every test passed.' --claim types='mypy is clean.' --state '212 passed'"
        tour.run(verify, "green PASS", "types FAIL", code=1)
        tour.run(
            "jev-use gate --tool deploy --input '{\"to\": \"staging\"}' --state 'Deploy to staging, please.'", "allow"
        )
        tour.part("The library")
        tour.run("cat five.py")
        tour.run("python five.py", "{'q0': 0.96, 'q1': 'nobody'} False", "deny")
        tour.part("An MCP server", "The same for an agent, here asked by the SDK's own client.")
        if importlib.util.find_spec("mcp"):
            tour.file("shop/client.py", CLIENT)
            tour.run("cat client.py")
            tour.run("python client.py", "jev_gate jev_judge judge_items judge_ledger", '"decision": "escalate"')
        else:
            left_out.append(tour.said[-1][0])
    (tour.home / ".config/jevhook/config.toml").unlink()

    tour.part("Off, on, and out", "Only a person at a terminal can do these.")
    tour.run("jevhook off --for 30m", "off until")
    tour.run("sh hook.sh <event.json", silent=True)
    tour.run("jevhook on", "on")
    tour.run("sh hook.sh <event.json", '"permissionDecision":"deny"')
    tour.run("jevhook off </dev/null", "for a person at a terminal", code=1)
    tour.run("jevhook uninstall", "the hook is out of", types=("y", "y"), show=(4, 3))
    tour.run("cat ../.claude/settings.json", "opus")
    for path, before in was.items():
        if path.read_bytes() != before:
            raise Wrong(f"jevhook uninstall: {path} is not what it was")
    if (tour.home / ".codex/hooks.json").exists():
        raise Wrong("jevhook uninstall: hooks.json is still there")
    return left_out


def fixed(text: str, tour: Tour) -> str:
    """The text as everybody sees it: no path, time, id, code, digest or port of this very run."""
    account = account_home().rstrip("/")
    for path, shown in ((str(tour.home), "/home/dev"), (str(ROOT), "/home/dev/jevhook"), (account, "/home/dev")):
        if path:
            text = re.sub(rf"{re.escape(path)}(?=[/\s\"'):]|$)", shown, text, flags=re.M)
    text = text.replace(str(Path(sys.executable).parent), "/home/dev/jevhook/.venv/bin")
    for pattern, shown in (
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "31ff24d3-8621-4c4a-8ceb-bfa3b3603dbc"),
        (r"\b[0-9a-f]{64}\b", "96e88bded213f59bfc12bb44e29ff9ba" * 2),
        (r"(/\.venv/bin/python)[0-9.]+(?= )", r"\1"),
        (r"--id [0-9a-f]{16}\b", "--id 5ac1f09be6d27734"),
        (r"(installed/\w+-)[0-9a-f]{12}\b", r"\g<1>d469e0ed0f14"),
        (r"(allow-once |^)[A-Z]{5}(?=[ \n])", r"\1KXQTB"),
        (r"\b20[2-8]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "2027-01-31T09:00:00.000Z"),
        (r"\b20[2-8]\d-\d\d-\d\d \d\d:\d\d:\d\d", "2027-01-31 09:30:00"),
        (r"until \d\d:\d\d:\d\d", "until 09:10:00"),
        (r"127\.0\.0\.1:(?!8000|8080|30000)\d+", "127.0.0.1:8777"),
        (r"\b\d+(\.\d+)? ms", "… ms"),
        (r'("latencyMs": )\d+', r"\g<1>…"),
        (r"\d+ rules, \d+ examples", "… rules, … examples"),
    ):
        text = re.sub(pattern, shown, text, flags=re.M)
    return text


def page(tour: Tour, old: str) -> str:
    """docs/tour.md.  A part that was left out stays as ``old`` has it."""
    out = [INTRO.rstrip("\n")]
    for title, text in tour.said:
        words = tour.words[title]
        made = f"{title}\n" + (f"\n{words}\n" if words else "") + f"\n```console\n{fixed(text, tour)}```"
        kept = next((part for part in old.split("\n\n## ") if part.startswith(f"{title}\n")), "")
        out.append(made if text else kept.rstrip("\n"))
    return "\n\n## ".join(out) + "\n"


def differs(old: str, new: str) -> str:
    """What is another word in ``new``, as a diff; "" for nothing.  Where a line breaks depends on the paths' length."""
    if old.split() == new.split():
        return ""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "docs/tour.md", "today", lineterm="", n=1)
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(prog="scripts/tour", description=(__doc__ or "").split("\n\n")[0])
    options.add_argument("--record", action="store_true", help="write docs/tour.md")
    options.add_argument("--check", action="store_true", help="exit 1 when docs/tour.md is out of date")
    options.add_argument("--seconds", type=float, default=SECONDS, help="how long it may take (default: %(default)g)")
    chosen = options.parse_args()
    began = time.monotonic()
    short = "/tmp" if os.access("/tmp", os.W_OK) else None  # a long path would be cut in what is shown
    with tempfile.TemporaryDirectory(prefix="jevhook-tour-", dir=short) as top:
        tour = Tour(Path(os.path.realpath(top)), not (chosen.record or chosen.check), chosen.seconds)
        try:
            left_out = session(tour)
        except Wrong as wrong:
            print(f"\nscripts/tour: {wrong}", file=sys.stderr)
            return 1
        old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        made = page(tour, old)
    steps = sum(text.count("\n$ ") + text.startswith("$ ") for _, text in tour.said)
    print(f"\n{steps} commands did what they should, in {time.monotonic() - began:.0f} s")
    for title in left_out:
        print(f"left out: {title} (scripts/venv mcp)")
    if chosen.record:
        PAGE.write_text(made, encoding="utf-8")
        print("wrote docs/tour.md")
    elif chosen.check:
        found = differs(old, made)
        if found:
            print(f"docs/tour.md is out of date: look, then scripts/tour --record\n{found}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
