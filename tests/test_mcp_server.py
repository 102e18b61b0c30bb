"""``jev-use serve`` under the SDK's own client, which starts the real command, and byte for byte under a bare pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.use.loopback_judge import choice, judge, noul

pytest.importorskip("mcp", reason="the extra mcp is not installed: scripts/venv dev,mcp")

COMMAND = [sys.executable, "-I", "-m", "jevhook", "serve"]
ALL = ["jev_gate", "jev_judge", "judge_items", "judge_ledger"]


def session(work: Callable[[Any], Any], **env: str) -> Any:
    """What ``work(client)`` gives, in a session with a server of its own."""
    import anyio
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters

    names = ("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    whole = {**{name: os.environ[name] for name in names}, **env}

    project = Path(os.environ["HOME"] + "-project")  # not in the home: a project's own config is not the user's
    project.mkdir(exist_ok=True)

    async def main() -> Any:
        parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=whole, cwd=project)
        async with Client(parameters) as client:
            return await work(client)

    return anyio.run(main)


def calls(*asked: tuple[str, dict[str, Any] | None], **env: str) -> list[tuple[Any, bool]]:
    """(the one text block, parsed if it is JSON; whether it is an error) for each call of one session."""

    async def work(client: Any) -> list[tuple[Any, bool]]:
        found = []
        for name, arguments in asked:
            result = await client.call_tool(name, arguments)
            (block,) = result.content
            found.append((block.text if result.is_error else json.loads(block.text), result.is_error))
        return found

    made: list[tuple[Any, bool]] = session(work, **env)
    return made


def configure(home: Path, url: str) -> None:
    file = home / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'[judge]\nprovider = "native"\nbase_url = "{url}"\n')


def event(home: Path, command: str) -> None:
    """One real event through the hook, so that the ledger has a line."""
    told = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": str(home)}
    told |= {"tool_input": {"command": command}}
    argv = [sys.executable, "-I", "-m", "jevhook", "hook", "--host", "claude"]
    subprocess.run(argv, input=json.dumps(told), text=True, check=True, capture_output=True)


def test_the_tools_are_listed_with_their_arguments() -> None:
    async def work(client: Any) -> Any:
        return (await client.list_tools()).tools

    tools = session(work)
    assert sorted(tool.name for tool in tools) == ALL
    for tool in tools:
        assert tool.description and tool.annotations.read_only_hint
        assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])


QUESTIONS = [
    {"id": "green", "type": "noul", "question": "Is the build green?"},
    {"type": "choice", "question": "What failed?", "options": ["tests", "lint", "nothing"]},
]


def test_jev_judge_answers_with_verdicts(private_home: Path) -> None:
    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        return noul(0.97) if question["type"] == "noul" else choice(question, "nothing", 0.5)

    with judge(say) as served:
        configure(private_home, served.url)
        ((said, wrong),) = calls(("jev_judge", {"state": "12 passed", "questions": QUESTIONS}))
    assert not wrong
    assert said["answers"] == {"green": 0.97, "q1": "nothing"}
    assert [verdict["escalate"] for verdict in said["verdicts"]] == [False, True]
    assert said["model"] == "loopback-1"


def test_a_judge_that_fails_is_a_verdict_and_no_error(private_home: Path) -> None:
    with judge(lambda ident, question, state: 401) as served:
        configure(private_home, served.url)
        ((said, wrong),) = calls(("jev_judge", {"state": "12 passed", "questions": QUESTIONS}))
    assert not wrong
    assert {verdict["reason"] for verdict in said["verdicts"]} == {"unreachable"}


def test_a_configuration_that_does_not_count_is_told(private_home: Path) -> None:
    file = private_home / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[judge]\nprovidr = 1\n")
    ((said, wrong),) = calls(("jev_judge", {"state": "x", "questions": QUESTIONS}))
    assert not wrong and "providr" in said["problems"][0]


def test_jev_gate_answers_by_the_rules_where_no_judge_is() -> None:
    home = {"command": 'rm -rf "$HOME"'}
    (denied, _), (allowed, _) = calls(
        ("jev_gate", {"tool": "Bash", "input": home}), ("jev_gate", {"tool": "Bash", "input": {"command": "ls"}})
    )
    assert (denied["decision"], denied["rule"]) == ("deny", "fs.delete-home")
    assert allowed["decision"] == "allow"


LINES = ["out of memory", "started", "killed by the kernel", "done"]


def test_judge_items_sorts_them(private_home: Path) -> None:
    p = {"out of memory": 0.99, "killed by the kernel": 0.7, "started": 0.02}

    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        number = question["instructions"].split("untrusted_items.i")[1].split("`")[0]
        said = p.get(state["untrusted_items"][f"i{number}"])
        return None if said is None else noul(said)

    with judge(say) as served:
        configure(private_home, served.url)
        ((said, wrong),) = calls(("judge_items", {"question": "Is it a failure?", "items": LINES, "context": "a log"}))
    assert not wrong
    assert [(entry["item"], entry["p"]) for entry in said["yes"]] == [(1, 0.99)]
    assert [entry["item"] for entry in said["unsure"]] == [3]
    assert (said["no"], said["unanswered"], said["answered"]) == ("2", "4", 3)


def test_items_that_nobody_judged_are_no_empty_match() -> None:
    ((said, wrong),) = calls(("judge_items", {"question": "Is it a failure?", "items": LINES}))
    assert not wrong
    assert said["unavailable"] is True and "read them yourself" in said["note"]
    assert not {"yes", "unsure", "no"} & set(said)
    assert "TYPESAFE_API_KEY" in said["hint"] and "OPENROUTER" not in said["hint"]


def test_a_key_for_other_work_judges_nothing_here() -> None:
    # A repository can set a host's environment; what a host starts goes by the hook's rules.
    ((said, _),) = calls(
        ("jev_judge", {"state": "x", "questions": QUESTIONS}),
        OPENROUTER_API_KEY="or-live-0123",
        JEV_BACKEND="openrouter",
    )
    assert said["backend"] == "embedded"


def test_the_ledger_is_read_newest_first_without_secrets(private_home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    event(private_home, "git reset --hard")
    event(private_home, f"rm -rf ~/ # {secret}")
    before = (private_home / ".local/state/jevhook/ledger.ndjson").read_bytes()
    (whole, _), (one, _), (every, _) = calls(
        ("judge_ledger", None), ("judge_ledger", {"limit": 1}), ("judge_ledger", {"limit": 0})
    )
    assert [record["decision"] for record in whole["records"]] == ["deny", "ask"]
    assert whole["records"][0]["points"][0]["rule"] == "fs.delete-home"
    assert whole == every and whole["left_off"] == 0
    assert (len(one["records"]), one["left_off"]) == (1, 1)
    assert secret not in json.dumps(whole)
    assert (private_home / ".local/state/jevhook/ledger.ndjson").read_bytes() == before


def test_a_long_ledger_is_cut_to_what_a_model_can_read(private_home: Path) -> None:
    event(private_home, "git reset --hard")
    file = private_home / ".local/state/jevhook/ledger.ndjson"
    record = json.loads(file.read_text())
    record["points"][0]["said"] = "word " * 10_000  # an older version, or somebody's own line
    file.write_text(json.dumps(record) + "\n")
    with file.open("a") as more:
        more.write((json.dumps(record) + "\n") * 500)
    ((said, _),) = calls(("judge_ledger", {"limit": 0}))
    assert 0 < len(said["records"]) < 501
    assert len(said["records"]) + said["left_off"] == 501
    assert len(json.dumps(said)) < 70_000


def test_without_a_ledger_there_are_no_records() -> None:
    assert calls(("judge_ledger", {})) == [({"records": [], "left_off": 0}, False)]


STATE = {"state": "x", "questions": QUESTIONS}
GATE = {"tool": "Bash", "input": "ls"}
BAD: list[tuple[str, Any, str]] = [
    ("nobody", {}, "nobody: no such tool"),
    ("jev_judge", {}, "state: is missing"),
    ("jev_judge", {"state": "x"}, "questions: is missing"),
    ("jev_judge", {"state": "x", "questions": "q"}, "questions: must be a list"),
    ("jev_judge", {"state": "x", "questions": [{"type": "noul"}]}, "questions[0].question: is missing"),
    ("jev_judge", {**STATE, "context": "y"}, "context: unknown field"),
    ("jev_judge", {**STATE, "confidence_threshold": 2}, "confidence_threshold: must be a number from 0 to 1"),
    ("jev_judge", {**STATE, "confidence_threshold": "high"}, "confidence_threshold: must be a number from 0 to 1"),
    ("jev_judge", {**STATE, "model": 1}, "model: must be"),
    ("jev_judge", {"state": "x" * 1_000_001, "questions": QUESTIONS}, "arguments: are longer than"),
    ("jev_gate", {"input": "ls"}, "tool: is missing"),
    ("jev_gate", {"tool": "Bash"}, "input: is missing"),
    ("jev_gate", {**GATE, "tool": 1}, "tool: must be"),
    ("jev_gate", {**GATE, "state": ["x"]}, "state: must be a text"),
    ("jev_gate", {**GATE, "cwd": 1}, "cwd: must be a text"),
    ("jev_gate", {**GATE, "description": {}}, "description: must be a text"),
    (
        "judge_items",
        {"question": "q", "items": ["a"], "confidence_threshold": -1},
        "confidence_threshold: must be a number",
    ),
    ("jev_gate", {**GATE, "confidence_threshold": 2}, "confidence_threshold: must be a number from 0 to 1"),
    ("jev_gate", {**GATE, "command": "ls"}, "command: unknown field"),
    ("judge_items", {"items": ["a"]}, "question: is missing"),
    ("judge_items", {"question": "q"}, "items: is missing"),
    ("judge_items", {"question": "q", "items": []}, "items: is empty"),
    ("judge_items", {"question": "q", "items": "a"}, "items: must be a list of texts"),
    ("judge_items", {"question": "q", "items": [1]}, "items: must be texts"),
    ("judge_items", {"question": 1, "items": ["a"]}, "question: must be a text"),
    ("judge_items", {"question": "q", "items": ["a"], "context": 1}, "context: must be a text"),
    ("judge_items", {"question": {"type": "noul"}, "items": ["a"]}, "question: is missing"),
    ("judge_items", {"question": "q", "items": ["a"], "task": "t"}, "task: unknown field"),
    ("judge_ledger", {"limit": -1}, "limit: must be a whole number"),
    ("judge_ledger", {"limit": "20"}, "limit: must be a whole number"),
    ("judge_ledger", {"limit": True}, "limit: must be a whole number"),
    ("judge_ledger", {"path": "/etc/passwd"}, "path: unknown field"),
]


def test_a_bad_call_is_a_tool_error_that_names_the_field() -> None:
    found = calls(*((name, arguments) for name, arguments, _ in BAD))
    for (text, wrong), (name, arguments, said) in zip(found, BAD, strict=True):
        assert wrong and said in text, (name, str(arguments)[:80], text)


def message(ident: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}) + "\n"


def test_stdout_carries_the_protocol_and_nothing_else(private_home: Path) -> None:
    (private_home / ".config" / "jevhook").mkdir(parents=True)
    (private_home / ".config" / "jevhook" / "config.toml").write_text("this is = = no TOML\n")
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "pipe", "version": "0"}}
    lines = [
        "not json\n",
        "[1, 2]\n",
        message(1, "initialize", **client),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n",
        "\x00\x1b[31m\n",
        message(2, "tools/call", name="jev_gate", arguments={"tool": "Bash", "input": "ls"}),
        message(3, "no/such/method"),
        message(
            5,
            "tools/call",
            name="jev_judge",
            arguments={"state": "\ud800", "questions": [{**QUESTIONS[0], "id": "\ud800"}]},
        ),
        message(4, "tools/call", name="judge_ledger", arguments={}),
    ]
    server = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdin is not None and server.stdout is not None
    answered: dict[int, Any] = {}
    try:
        server.stdin.write("".join(lines))
        server.stdin.flush()
        while not {1, 2, 3, 4} <= set(answered):
            line = json.loads(server.stdout.readline())  # raises on the first byte that is no protocol
            assert line["jsonrpc"] == "2.0"
            if "id" in line and line["id"] is not None:
                answered[line["id"]] = line
        server.stdin.close()
        assert server.wait(10) == 0
        assert server.stdout.read() == ""
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    assert answered[1]["result"]["serverInfo"]["name"] == "jevhook"
    assert "error" in answered[3]
    assert json.loads(answered[2]["result"]["content"][0]["text"])["decision"] == "allow"


def test_without_the_mcp_package_one_line_says_what_to_install() -> None:
    blocked = "import sys; sys.modules['mcp_types'] = sys.modules['mcp'] = None; sys.argv = ['jev-use', 'serve']\n"
    run = "from jevhook.__main__ import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-I", "-c", blocked + run], capture_output=True, text=True, input="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and f"{sys.executable} -m pip install 'mcp>=2'" in done.stderr
