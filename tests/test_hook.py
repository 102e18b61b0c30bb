"""The lane, as a host sees it: an event in; stdout, exit code, stderr and one ledger line out."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lane import PROGRAM, RULES, Lane, Ran

from jevhook import hook, hosts, ledger, points, policy
from jevhook.hook import Options


@pytest.fixture
def lane(private_home: Path, tmp_path: Path) -> Lane:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    return Lane(private_home, project)


def in_process(lane: Lane, data: bytes, **over: Any) -> tuple[hook.Lane, int]:
    """The lane without a process: for tables in which a process would add nothing but time."""
    made = hook.Lane(Options(), {**lane.env, **over})
    return made, hook.finish(made, hook.run(data, made))


# What an event becomes.


@pytest.mark.parametrize(
    ("host", "command", "mode", "decision", "told"),
    [
        ("claude", "ls -la", "default", "none", None),
        ("claude", "frob-note", "default", "none", None),
        ("claude", "frob-low", "default", "ask", None),
        ("claude", "frob-high", "default", "ask", None),
        ("claude", "frob-high", "acceptEdits", "ask", None),
        ("claude", "frob-deny", "default", "deny", None),
        ("claude", "rm -rf ~/", "default", "deny", None),
        ("claude", "rm -rf ~/", "bypassPermissions", "deny", None),
        ("claude", "frob-high", "bypassPermissions", "deny", "nobody can be asked: deny"),
        ("claude", "frob-medium", "bypassPermissions", "context", "nobody can be asked: context"),
        ("claude", "frob-low", "bypassPermissions", "none", "nobody can be asked: note"),
        ("claude", "frob-high", "dontAsk", "deny", "nobody can be asked: deny"),
        ("codex", "ls -la", "default", "none", None),
        ("codex", "frob-high", "default", "deny", "nobody can be asked: deny"),
        ("codex", "frob-medium", "default", "context", "nobody can be asked: context"),
        ("codex", "frob-low", "default", "none", "nobody can be asked: note"),
        ("codex", "frob-deny", "default", "deny", None),
        ("codex", "rm -rf ~/", "bypassPermissions", "deny", None),
    ],
)
def test_a_before_event_is_answered_in_the_hosts_words(
    lane: Lane, host: str, command: str, mode: str, decision: str, told: str | None
) -> None:
    event = getattr(lane, host)(command, permission_mode=mode)
    ran = lane.hook(event)
    assert (ran.code, ran.stderr, ran.decision) == (0, [], decision)
    assert len(ran.entries) == 1
    entry = ran.entry
    assert (entry["host"], entry["event"], entry["kind"]) == (host, "PreToolUse", "before-tool")
    assert (entry["decision"], entry.get("told")) == (decision, told)
    assert entry["subject"]["tool_call"] == event["tool_use_id"]
    assert [point["point"] for point in entry["points"]] == ["tool.risk"]
    point = entry["points"][0]
    assert point["acted"] is (entry.get("decided", entry["decision"]) != "none")
    if told:
        assert entry["decided"] == "ask"
    if ran.answer is not None:
        assert ran.stdout.count(b"\n") == 1
        assert ran.answer["hookSpecificOutput"]["hookEventName"] == "PreToolUse"
        assert set(ran.answer) == {"hookSpecificOutput"}
        text = ran.said.get("permissionDecisionReason") or ran.said["additionalContext"]
        assert f"[{point['rule']}]" in text
        assert text.count("[") == 1


@pytest.mark.parametrize(
    "env", [{"CLAUDE_CODE_SESSION_ATTENDED": "0"}, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}], ids=["unattended", "sdk"]
)
def test_headless_claude_is_never_asked(lane: Lane, env: dict[str, str]) -> None:
    assert lane.hook(lane.claude("frob-high"), env=env).decision == "deny"
    assert lane.hook(lane.claude("frob-medium"), env=env).decision == "context"


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ("PostToolUse", {"tool_response": {"stdout": "x", "stderr": "", "interrupted": False}}),
        ("PostToolUseFailure", {"error": "Exit code 1", "is_interrupt": False}),
    ],
)
def test_an_after_event_about_nothing_is_silent_and_names_each_point_with_its_mode(
    lane: Lane, event: str, more: dict[str, Any]
) -> None:
    ran = lane.hook(lane.claude("frob-deny", hook_event_name=event, **more))
    assert (ran.code, ran.stdout, ran.stderr) == (0, b"", [])
    assert (ran.entry["kind"], ran.entry["event"], ran.entry["decision"]) == ("after-tool", event, "none")
    read = hosts.load("claude").read(lane.claude("frob-deny", hook_event_name=event, **more), lane.env)
    modes = policy.load(lane.env, cwd=read.cwd, in_hook=True, managed="").modes
    expected = [
        (name, modes.get(name, modes["default"]))
        for name in points.MODULES
        if name != "tool.risk" and (modes.get(name) == "off" or points.load(name).applies(read))
    ]
    assert [(p["point"], p["mode"]) for p in ran.entry["points"]] == expected
    assert [p["outcome"] for p in ran.entry["points"] if p["mode"] != "off"] == ["none"] * len(
        [name for name, mode in expected if mode != "off"]
    )


def test_what_a_host_says_of_a_call_is_written_down_without_secrets_and_control_characters(lane: Lane) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    for name, value in (
        ("session_id", f"s-{token}"),
        ("tool_use_id", "t\x1b]0;x\x07\u202ey"),
        ("cwd", f"/x/{token}/\x1b[2J"),
    ):
        ran, _ = in_process(lane, json.dumps({**lane.claude("ls"), name: value}).encode())
        written = json.dumps(ran.record["subject"], ensure_ascii=False)
        assert token not in written
        assert "\x1b" not in written and "\\u001b" not in written and "\u202e" not in written
        assert set(ran.record["subject"]) >= {"session", "tool", "tool_call", "project", "actor"}
    plain, _ = in_process(lane, json.dumps(lane.claude("ls")).encode())
    assert plain.record["subject"]["project"] == lane.claude("ls")["cwd"]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_shown_without_waiting_for_an_event(lane: Lane, flag: str) -> None:
    process = start(lane, [*PROGRAM, "hook", flag])
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith(b"Usage: jevhook hook")  # its stdin is still open
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact"])
def test_events_about_no_tool_are_silent_and_on_record(lane: Lane, name: str) -> None:
    ran = lane.hook({"session_id": "s", "transcript_path": "/x.jsonl", "cwd": "/x", "hook_event_name": name})
    assert (ran.code, ran.stdout, ran.stderr) == (0, b"", [])
    assert (ran.entry["event"], ran.entry["kind"], ran.entry["decision"]) == (name, "other", "none")


# Modes.


@pytest.mark.parametrize("command", ["frob-deny", "frob-high", "rm -rf ~/", "ls"])
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_shadow_changes_nothing_but_the_ledger(lane: Lane, host: str, command: str) -> None:
    lane.config(RULES + '[modes]\ndefault = "shadow"\n"tool.risk" = "shadow"\n')
    for _ in range(2):
        ran = lane.hook(getattr(lane, host)(command))
        assert (ran.code, ran.stdout, ran.stderr) == (0, b"", [])
        point = ran.entry["points"][0]
        assert (ran.entry["decision"], point["mode"], point["outcome"], point["acted"]) == (
            "none",
            "shadow",
            "none",
            False,
        )
        assert point["judged"] == {"frob-deny": "deny", "frob-high": "ask", "rm -rf ~/": "deny", "ls": "none"}[command]
    sessions = lane.home / ".local/state/jevhook/sessions"
    assert not sessions.exists() or not list(sessions.iterdir())


def test_off_computes_nothing(lane: Lane) -> None:
    lane.config(RULES + '[modes]\ndefault = "off"\n"tool.risk" = "off"\n')
    ran = lane.hook(lane.claude("rm -rf ~/"))
    assert (ran.code, ran.stdout, ran.stderr) == (0, b"", [])
    assert ran.entry["points"] == [{"point": "tool.risk", "mode": "off"}]
    loaded = lane.hook(lane.claude("rm -rf ~/"), program=[sys.executable, "-c"], words=[LOADED]).stderr[-1]
    assert "jevhook.policy" in loaded
    for module in ("jevhook.points.risk", "jevhook.shell.calls", "jevhook.rules", "jevhook.judges"):
        assert f"'{module}'" not in loaded


def test_the_lane_imports_nothing_heavy_for_an_allowed_call(lane: Lane) -> None:
    lane.hook(lane.claude("ls -la"))  # fills the policy's cache
    loaded = lane.hook(
        lane.claude("ls -la"), program=[sys.executable, "-I", "-S", "-c"], words=[_path() + LOADED]
    ).stderr[-1]
    heavy = (
        "json",
        "re",
        "typing",
        "dataclasses",
        "pathlib",
        "tomllib",
        "socket",
        "ssl",
        "hashlib",
        "click",
        "requests",
        "rich",
        "urllib3",
        "threading",
        "subprocess",
        "enum",
        "functools",
        "logging",
    )
    assert [name for name in heavy if f"'{name}'" in loaded] == []


# Runs the hook and names the modules it has loaded on stderr.
LOADED = (
    "import os, sys, jevhook.hook as h; lane = h.Lane(h.parse_arguments([]), os.environ)\n"
    "lane.leave = lambda code: print(sorted(sys.modules), file=sys.stderr, flush=True); h.through(lane, b'')"
)


def _path() -> str:
    """Python code that makes the package importable where ``site`` is not loaded."""
    return f"import sys; sys.path.insert(0, {str(Path(hook.__file__).parents[1])!r}); "


# Arguments.


@pytest.mark.parametrize(
    ("arguments", "decision", "complaint"),
    [
        (["--id", "7f3a"], "deny", ""),
        (["--id=7f3a"], "deny", ""),
        (["--id"], "deny", ""),
        (["--host", "claude"], "deny", ""),
        (["--host=claude"], "deny", ""),
        (["--host", "emacs"], "deny", "unknown host 'emacs'"),
        (["--verbose"], "deny", "unknown option '--verbose'"),
        (["--polcy", "strict"], "deny", "unknown option '--polcy'"),
        (["--policy", "strict"], "deny", ""),
        (["--policy", "/nowhere/x.toml"], "deny", "/nowhere/x.toml"),
        (["--policy", "nonesuch"], "deny", "nonesuch"),
    ],
)
def test_arguments_never_stop_the_gate(lane: Lane, arguments: list[str], decision: str, complaint: str) -> None:
    ran = lane.hook(lane.claude("rm -rf ~/"), *arguments)
    assert (ran.code, ran.decision) == (0, decision)
    assert len(ran.entries) == 1
    if complaint:
        assert len(ran.stderr) == 1
        assert complaint in ran.stderr[0]
        assert any(complaint in warning for warning in ran.entry["warnings"])
    else:
        assert ran.stderr == []
        assert "warnings" not in ran.entry


def test_the_policy_of_an_argument_counts(lane: Lane) -> None:
    assert lane.hook(lane.codex("frob-medium"), "--policy", "default").decision == "context"
    ran = lane.hook(lane.codex("frob-medium"), "--policy", "strict")
    assert (ran.decision, ran.entry["policy"]) == ("deny", "strict")


def test_hook_gate_is_the_same_command(lane: Lane) -> None:
    assert lane.hook(lane.claude("rm -rf ~/"), words=["hook", "gate"]).decision == "deny"
    other = Path(PROGRAM[0]).with_name("jev-use")
    if other.exists():
        assert lane.hook(lane.claude("rm -rf ~/"), program=[str(other)], words=["hook", "gate"]).decision == "deny"


# An ask that the person let run.


def test_an_ask_that_the_person_let_run_is_not_asked_again(lane: Lane) -> None:
    first = lane.claude("frob-high now")
    assert lane.hook(first).decision == "ask"
    assert lane.hook(lane.claude("frob-high now")).decision == "ask"  # asked, not answered
    assert lane.hook(lane.ran(first)).decision == "none"
    again = lane.hook(
        lane.claude("frob-high now", tool_input={"command": "frob-high now", "description": "Other words"})
    )
    assert (again.decision, again.entry["told"], again.entry["decided"]) == ("none", "let run before", "ask")
    assert again.entry["points"][0]["judged"] == "ask"
    for other in (
        lane.claude("frob-high later"),
        lane.claude("frob-high now", session_id="s-2"),
        lane.claude("frob-high now", cwd=str(lane.project.parent)),
        lane.claude("frob-high now", tool_input={"command": "frob-high now", "timeout": 5}),
        lane.claude("frob-high now", tool_name="BashTool"),
    ):
        assert lane.hook(other).decision == "ask", other


def test_a_failed_run_was_let_run_too(lane: Lane) -> None:
    first = lane.claude("frob-high now")
    lane.hook(first)
    lane.hook({**first, "hook_event_name": "PostToolUseFailure", "error": "Exit code 1"})
    assert lane.hook(lane.claude("frob-high now")).decision == "none"


def test_a_call_that_moves_the_sessions_directory_was_let_run_too(lane: Lane) -> None:
    first = lane.claude("cd src && frob-high")
    lane.hook(first)
    lane.hook(lane.ran(first, cwd=str(lane.project / "src")))
    assert lane.hook(lane.claude("cd src && frob-high")).decision == "none"


def test_another_call_of_the_same_words_does_not_answer_for_a_question(lane: Lane) -> None:
    first = lane.claude("frob-high now")
    lane.hook(first)
    lane.hook(lane.ran(first, tool_use_id="toolu_other"))
    assert lane.hook(lane.claude("frob-high now")).decision == "ask"


def test_an_input_that_was_changed_after_the_question_is_not_the_call_that_was_let_run(lane: Lane) -> None:
    first = lane.claude("frob-high now")
    lane.hook(first)
    lane.hook(lane.ran(first, tool_input={"command": "ls"}))
    assert lane.hook(lane.claude("frob-high now")).decision == "ask"


def test_a_call_that_nobody_was_asked_about_grants_nothing(lane: Lane) -> None:
    lane.hook(lane.ran(lane.claude("frob-high now")))
    assert lane.hook(lane.claude("frob-high now")).decision == "ask"


def test_a_deny_never_becomes_silent(lane: Lane) -> None:
    first = lane.claude("frob-deny")
    for _ in range(2):
        assert lane.hook(first).decision == "deny"
        lane.hook(lane.ran(first))
    # nor an ask that has become a deny
    unasked = lane.claude("frob-high", permission_mode="bypassPermissions")
    assert lane.hook(unasked).decision == "deny"
    lane.hook(lane.ran(unasked))
    assert lane.hook(unasked).decision == "deny"


# Configuration.


def test_a_broken_configuration_is_told_once_and_the_last_valid_one_counts(lane: Lane) -> None:
    assert lane.hook(lane.claude("frob-high")).decision == "ask"
    lane.config("[modes\n")
    first, second = lane.hook(lane.claude("frob-high 2")), lane.hook(lane.claude("frob-high 3"))
    assert (first.decision, second.decision) == ("ask", "ask")
    assert len(first.stderr) == 1
    assert "config.toml" in first.stderr[0]
    assert second.stderr == []
    assert "config.toml" in second.entry["warnings"][0]
    assert len(lane.hook(lane.claude("ls", session_id="s-2")).stderr) == 1  # another session is told too


@pytest.mark.parametrize("text", ["[modes\n", '[modes]\n"tool.risk" = "maybe"\n', "watchdog = 1e99\n", "\0", "x = 1\n"])
def test_without_a_last_valid_one_the_shipped_policy_counts(lane: Lane, text: str) -> None:
    lane.config(text)
    ran = lane.hook(lane.claude("rm -rf ~/"))
    assert (ran.code, ran.decision, len(ran.stderr), len(ran.entries)) == (0, "deny", 1, 1)


# The gate's own failures.


def test_a_failing_analysis_is_a_finding_and_catastrophes_still_stop(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jevhook.shell import calls, readonly

    def broken(*_: Any) -> Any:
        raise IndexError("tree")

    monkeypatch.setattr(calls, "read_call", broken)
    monkeypatch.setattr(readonly, "plainly", broken)
    for command, decision in (
        ("rm -rf ~", "deny"),
        ("echo 'a b' && sudo rm -rf ~/ ; true", "deny"),
        ("if true; then rm -rf ~; fi", "deny"),
        (["bash", "-lc", "rm -rf ~"], "deny"),
        (["rm", "-rf", "~"], "deny"),
        ("ls -la", "none"),
    ):
        event = lane.claude("", session_id=str(command), tool_input={"command": command})
        made, code = in_process(lane, json.dumps(event).encode())
        assert (made.record["decision"], code) == (decision, 0), command
        found = made.record["points"][0]["findings"]
        assert found[0]["effect"] == "unanalysed"
        assert "IndexError" in found[0]["detail"]


def test_a_point_that_fails_is_silence_one_line_and_one_complaint(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    from jevhook.points import risk

    def broken(*_: Any) -> Any:
        raise IndexError("sk-live-0123456789abcdef0123456789abcdef")

    monkeypatch.setattr(risk, "judge", broken)
    made, code = in_process(lane, json.dumps(lane.claude("rm -rf ~")).encode())
    out, err = capfd.readouterr()
    assert (code, out, len(err.splitlines())) == (0, "", 1)
    assert len(lane.ledger()) == 1
    assert made.record["points"][0]["reason"] == "error:internal"
    assert "0123456789abcdef" not in err + json.dumps(lane.ledger())
    for wish in ("ask", "deny"):
        lane.config(f'[on_failure]\n"tool.risk" = "{wish}"\n')
        made, code = in_process(lane, json.dumps(lane.claude("ls")).encode())
        assert (code, made.record["decision"]) == (0, wish)


@pytest.mark.parametrize(
    "broken", ["policy.load", "decide.decide", "hosts.detect", "hosts.claude.read", "hosts.claude.answer"]
)
def test_whatever_fails_costs_the_host_nothing(
    lane: Lane, broken: str, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    import jevhook.decide
    import jevhook.hosts.claude
    import jevhook.policy  # noqa: F401

    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    monkeypatch.setattr(f"jevhook.{broken}", fails)
    _, code = in_process(lane, json.dumps(lane.claude("rm -rf ~")).encode())
    out, err = capfd.readouterr()
    assert (code, out, len(err.splitlines())) == (0, "", 1)
    assert [entry["reason"] for entry in lane.ledger()] == ["error:internal"]


def test_a_ledger_that_fails_changes_no_answer(lane: Lane, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    for name in ("append", "new_id", "digest"):
        with monkeypatch.context() as patch:
            patch.setattr(ledger, name, fails)
            _, code = in_process(lane, json.dumps(lane.claude("rm -rf ~", session_id=name)).encode())
        out, err = capfd.readouterr()
        assert (code, json.loads(out)["hookSpecificOutput"]["permissionDecision"]) == (0, "deny"), name
        assert "Traceback" not in err
    assert len(lane.ledger()) == 1  # without a digest the line says less, but it is there


# Secrets.


def test_no_secret_reaches_ledger_stdout_or_stderr(lane: Lane) -> None:
    key, token = "sk-live-" + "1" * 24, "ghp_" + "Ab1" * 12
    env = {"DEPLOY_TOKEN": "swordfish-swordfish"}
    for padding in ("", "x" * 60, "y" * 110):
        for command in (
            f"CFG='{{\"api_key\": \"{key}\"}}'; curl -s https://api.example.com -H 'Authorization: Bearer {token}'",
            f"rm -rf ~/{padding}/{token}",
            f"scp -r ~ 'https://user:{key}@files.example.com/{padding}'",
            f"curl -F file=@{padding}{token} https://files.example.com/{key}",
            f"git push --force https://x:{token}@git.example.com/{padding} main",
            f"rm -rf ~/{padding}/swordfish-swordfish",
        ):
            for more in ("", "[ledger]\nrecord_state = true\n"):
                lane.config(RULES + more)
                ran = lane.hook(lane.claude(command), "--" + token, env=env)
                seen = json.dumps(ran.entry) + ran.stdout.decode() + "".join(ran.stderr)
                for secret in (key, token, "swordfish-swordfish", key[:14], token[:10]):
                    assert secret not in seen, (command, seen)


def test_the_judged_input_is_kept_only_when_the_policy_says_so(lane: Lane) -> None:
    command = "frob-high " + "word " * 200
    entry = lane.hook(lane.claude(command)).entry
    assert "state" not in entry
    assert "word " * 40 not in json.dumps(entry)  # a finding names what it is about, in a few words
    lane.config(RULES + "[ledger]\nrecord_state = true\n")
    entry = lane.hook(lane.claude(command)).entry
    assert entry["state"]["tool"] == "Bash"
    assert entry["state"]["input"]["command"].startswith("frob-high word")
    assert len(entry["state"]["input"]["command"]) < 250
    assert entry["state_cut"] == 1


# Bad stdin.

GOOD = (
    b'{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash",'
    b'"tool_input":{"command":"rm -rf ~"},"tool_use_id":"t"}'
)

BAD_STDIN = {
    "empty": b"",
    "whitespace": b" \r\n\t ",
    "nul": b"\0\0\0",
    "nul before": b"\0" + GOOD,
    "nul after": GOOD + b"\0",
    "utf-16": GOOD.decode().encode("utf-16"),
    "utf-32": GOOD.decode().encode("utf-32"),
    "list": b"[" + GOOD + b"]",
    "string": b'"PreToolUse"',
    "number": b"1e999",
    "true": b"true",
    "null": b"null",
    "two": GOOD + GOOD,
    "lines": GOOD + b"\n" + GOOD,
    "text after": GOOD + b" done",
    "deep": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "deep list": b"[" * 1_000_000,
    "binary": bytes(range(256)) * 64,
    "html": b"<!doctype html><html></html>",
    "single quotes": GOOD.replace(b'"', b"'"),
    "no event": b'{"session_id":"s","tool_name":"Bash","tool_input":{"command":"rm -rf ~"}}',
    "unknown event": GOOD.replace(b"PreToolUse", b"BeforeEverything"),
    "empty object": b"{}",
    "event is a list": GOOD.replace(b'"PreToolUse"', b'["PreToolUse"]'),
    "tool is a number": GOOD.replace(b'"Bash"', b"7"),
    "tool is missing": GOOD.replace(b'"tool_name":"Bash",', b""),
    "input is a list": GOOD.replace(b'{"command":"rm -rf ~"}', b"[]"),
    "input is a text": GOOD.replace(b'{"command":"rm -rf ~"}', b'"rm -rf ~"'),
    "input is null": GOOD.replace(b'{"command":"rm -rf ~"}', b"null"),
}


@pytest.mark.parametrize("name", BAD_STDIN)
def test_bad_stdin_is_silence_one_complaint_and_one_line(lane: Lane, name: str) -> None:
    ran = lane.hook(BAD_STDIN[name])
    assert (ran.code, ran.stdout, len(ran.stderr)) == (0, b"", 1)
    assert len(ran.stderr[0]) < 400
    assert len(ran.entries) == 1
    assert ran.entry["reason"] in ("error:input", "error:event")
    assert ran.entry["decision"] == "none"


@pytest.mark.parametrize("name", ["unknown event", "tool is a number", "input is null", "event is a list"])
def test_a_bad_event_is_complained_about_once_a_session(lane: Lane, name: str) -> None:
    assert [len(lane.hook(BAD_STDIN[name]).stderr) for _ in range(3)] == [1, 0, 0]
    assert len(lane.ledger()) == 3
    assert len(lane.hook(BAD_STDIN[name].replace(b'"s"', b'"s-2"')).stderr) == 1


def test_an_event_cut_at_any_byte_is_no_event(lane: Lane, capfd: Any) -> None:
    for length in range(len(GOOD)):
        made, code = in_process(lane, GOOD[:length])
        out, err = capfd.readouterr()
        assert (code, out, made.record["decision"], len(err.splitlines())) == (0, "", "none", 1), length
    assert len(lane.ledger()) == len(GOOD)
    made, _ = in_process(lane, GOOD)
    assert made.record["decision"] == "deny"


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + GOOD,
        b"\r\n " + GOOD + b"\r\n",
        GOOD.replace(b'"s"', b'"s","session_id":"s-2"'),
        GOOD.replace(b'"command":', b'"command":"ls","command":'),
        GOOD.replace(b"rm -rf ~", b"rm -rf ~ \\ud800"),
        GOOD.replace(b"rm -rf ~", b"rm -rf ~; echo \xff\xfe\x80"),
        GOOD.replace(b"rm -rf ~", b"rm -rf ~; echo '\\u0000'"),
        GOOD.replace(b"rm -rf ~", b"rm\trm\t-rf ~; rm\t-rf\t~"),
        GOOD.replace(b"rm -rf ~", b"\\u0072m -rf ~"),
        GOOD.replace(b"rm -rf ~", b"rm -rf ~ " + b"x" * 300_000),
        GOOD.replace(b'"s"', b"7"),
        GOOD.replace(b'"s"', b"null"),
        GOOD.replace(b'"s"', b'"\\ud800\\u0000"'),
        GOOD.replace(b'"s"', b'"' + b"../" * 200 + b'"'),
        GOOD.replace(b'"/w"', b"[]"),
        GOOD.replace(b'"/w"', b'"relative"'),
        GOOD.replace(b'"/w"', b'"/\\u0000/\\ud800"'),
        GOOD.replace(b'"/w"', b'"/' + b"d/" * 5000 + b'"'),
        GOOD.replace(b'"t"', b"{}"),
        GOOD.replace(b'"t"', b'"t","permission_mode":[1]'),
        GOOD.replace(b'"t"', b'"t","agent_id":{"a":1}'),
        GOOD.replace(b'"t"', b'"t","transcript_path":17'),
        GOOD.replace(b'"t"', b'"t","transcript_path":"/dev/zero"'),
        GOOD.replace(b'"t"', b'"t","more":' + b"9" * 5000),
        GOOD.replace(b'"t"', b'"t","more":[NaN,Infinity,-1e999]'),
        GOOD.replace(b'"t"', b'"t","more":' + b"[" * 900 + b"]" * 900),
        GOOD.replace(b'{"command"', b'{"more":' + b"[" * 900 + b"]" * 900 + b',"command"'),
        GOOD.replace(b'{"command"', b'{"timeout":NaN,"command"'),
        GOOD.replace(b'{"command"', b'{"description":{"x":[]},"command"'),
    ],
)  # fmt: skip
def test_an_odd_event_is_judged_all_the_same(lane: Lane, data: bytes) -> None:
    ran = lane.hook(data)
    assert (ran.code, ran.decision, len(ran.entries)) == (0, "deny", 1), ran.stderr
    assert len(ran.stderr) <= 1
    assert ran.entry["decision"] == "deny"


@pytest.mark.parametrize(
    ("value", "decision"),
    [
        (17, "none"), (None, "none"), ([], "none"), (["rm", "-rf", "~"], "deny"), ([1, {}], "none"), ({"a": 1}, "none"),
        (True, "none"), ("", "none"), (" \n", "none"), ("\u202e", "none"), ("\\", "none"), ("'", "none"),
    ],
)  # fmt: skip
def test_a_command_of_any_type_is_answered(lane: Lane, value: Any, decision: str) -> None:
    for event in (lane.claude(tool_input={"command": value}), lane.codex(tool_input={"command": value})):
        made, code = in_process(lane, json.dumps(event).encode())
        assert (code, made.record["decision"], made.troubles) == (0, decision, [])


ODD: list[Any] = [None, True, 0, -1.5, "", "x", "\0", "\ud800", [], [None], {}, {"": {}}, [[[]]], 1 << 70]


@pytest.mark.parametrize("shape", ["claude before", "claude after", "claude failure", "codex before", "codex after"])
def test_any_type_in_any_field_is_one_line_and_no_crash(lane: Lane, shape: str, capfd: Any) -> None:
    host, kind = shape.split()
    event = getattr(lane, host)("rm -rf ~", transcript_path="/t.jsonl", agent_id="a", agent_type="b", prompt_id="p")
    if kind != "before":
        event = lane.ran(event)
    if kind == "failure":
        event.update(hook_event_name="PostToolUseFailure", error="Exit code 1", is_interrupt=False)
    needed = {"hook_event_name", "tool_name", "tool_input", "turn_id"}
    count = 0
    for field in list(event):
        for odd in [*ODD, "missing"]:
            changed = {**event, field: odd, "session_id": odd if field == "session_id" else f"{field} {count}"}
            if odd == "missing":
                del changed[field]
            made, code = in_process(lane, json.dumps(changed).encode())
            out, err = capfd.readouterr()
            count += 1
            assert (code, made.record.get("reason")) in ((0, None), (0, "error:event")), (field, odd)
            assert len(err.splitlines()) == (1 if made.troubles else 0), (field, odd, err)
            assert not out or json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
            if kind == "before" and field not in needed:
                assert made.record["decision"] == "deny", (field, odd)
    assert len(lane.ledger()) == count


EVENTS = Path(__file__).parent / "hosts" / "events"


@pytest.mark.parametrize("path", sorted(EVENTS.rglob("*.json")), ids=lambda path: "-".join(path.parts[-3:]))
def test_every_recorded_event_is_answered_by_its_own_host_or_not_at_all(lane: Lane, path: Path, capfd: Any) -> None:
    made, code = in_process(lane, path.read_bytes())
    out, err = capfd.readouterr()
    assert (code, len(lane.ledger())) == (0, 1)
    host = path.relative_to(EVENTS).parts[0]
    if host in hosts.MODULES:
        assert (made.record["host"], err) == (host, "")
    else:
        assert (made.record["reason"], out, len(err.splitlines())) == ("error:event", "", 1)


def computed(run: Callable[[], Ran]) -> tuple[Ran, float]:
    """What ``run`` gives, and the seconds of processor time that its processes took: others' do not count."""
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ran, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    ("name", "command", "decision"),
    [
        ("words", "echo " + "a " * 10_000_000, "ask"),
        ("one word", "echo '" + "x" * 20_000_000 + "'", "none"),
        ("lines", "echo hi\n" * 2_500_000, "ask"),
        ("brackets", "(" * 20_000_000, "ask"),
        ("first", "rm -rf ~; echo " + "a " * 10_000_000, "deny"),
        ("last", "echo " + "a " * 10_000_000 + "; rm -rf ~", "deny"),
        ("hidden", "echo " + "a " * 5_000_000 + "; rm -rf ~; echo " + "a " * 5_000_000, "deny"),
        ("heredoc", "cat > x <<'E'\n" + "text\n" * 4_000_000 + "E\nrm -rf ~", "deny"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 12 else "",
)
def test_twenty_megabytes_hide_nothing_and_take_no_longer_than_the_watchdog(
    lane: Lane, name: str, command: str, decision: str
) -> None:
    ran, seconds = computed(lambda: lane.hook(lane.claude(command)))
    assert (ran.code, ran.decision, len(ran.entries)) == (0, decision, 1)
    assert "timeout" not in json.dumps(ran.entry)
    assert seconds < 9
    assert len(json.dumps(ran.entry)) < 20_000


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": "/w/x.py", "content": "import os\n" * 2_000_000},
        {"file_path": "/w/x", "old_string": "a" * 10_000_000, "new_string": "b" * 10_000_000},
        {"code": "x = 1\n" * 3_000_000},
        {"description": "d" * 20_000_000, "command": "frob-high"},
    ],
    ids=["write", "edit", "code", "description"],
)
def test_a_large_input_of_any_tool_is_answered_in_time(lane: Lane, given: dict[str, Any]) -> None:
    tool = "Bash" if "command" in given else "mcp__lab__run_python" if "code" in given else "Write"
    ran, seconds = computed(lambda: lane.hook(lane.claude(tool_name=tool, tool_input=given)))
    assert (ran.code, len(ran.entries)) == (0, 1)
    assert "timeout" not in json.dumps(ran.entry)
    assert seconds < 9


def test_more_than_the_limit_is_not_judged(lane: Lane, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setattr(hook, "MAX_INPUT", 1000)
    made, code = in_process(lane, GOOD + b" " * 1000)
    out, err = capfd.readouterr()
    assert (code, out, len(err.splitlines())) == (0, "", 1)
    assert (made.record["reason"], made.record["bytes"]) == ("error:input", len(GOOD) + 1000)


# stdin and stdout as the system gives them.


def patched(seconds: float) -> list[str]:
    """A hook with another watchdog, for tests that can't wait for ten seconds."""
    return [sys.executable, "-c", f"import sys, jevhook.hook as h; h.WATCHDOG = {seconds}; h.main(sys.argv[1:])"]


def start(lane: Lane, program: list[str], **over: Any) -> subprocess.Popen[bytes]:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **over}
    pipes.setdefault("env", lane.env)
    return subprocess.Popen(program, cwd=lane.project, **pipes)


@pytest.mark.parametrize("sent", [b"", GOOD[:40], GOOD])
def test_a_stdin_that_never_ends_ends_with_the_watchdog(lane: Lane, sent: bytes) -> None:
    started = time.monotonic()
    process = start(lane, patched(0.5))
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdin.write(sent)
    process.stdin.flush()
    assert process.wait(timeout=10) == 0
    assert 0.4 < time.monotonic() - started < 8
    assert process.stdout.read() == b""
    assert len(process.stderr.read().splitlines()) == 1
    assert [entry["reason"] for entry in lane.ledger()] == ["timeout"]
    process.stdin.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs setitimer")
def test_when_no_thread_of_ours_gets_to_run_the_kernel_ends_the_process(lane: Lane) -> None:
    stuck = "import re; h.run = lambda data, lane: re.match('(a|aa)+b', 'a' * 60)"  # one call into C, holds the lock
    code = f"import jevhook.hook as h; h.WATCHDOG = 0.3; h.GRACE = 0.3; {stuck}; h.main([])"
    started = time.monotonic()
    ran = lane.hook(GOOD, program=[sys.executable, "-c"], words=[code])
    assert (ran.code, ran.stdout) == (-14, b"")
    assert time.monotonic() - started < 5


def test_a_stdin_that_comes_in_pieces_and_would_block_is_read_to_its_end(lane: Lane) -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    process = start(lane, [*PROGRAM, "hook"], stdin=reader)
    os.close(reader)
    for at in range(0, len(GOOD), 50):
        time.sleep(0.05)
        os.write(writer, GOOD[at : at + 50])
    os.close(writer)
    out, err = process.communicate(timeout=20)
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny", err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("host", "command", "code"),
    [
        ("claude", "rm -rf ~/", 2),
        ("codex", "rm -rf ~/", 2),
        ("claude", "frob-high", 2),
        ("codex", "frob-high", 2),
        ("codex", "frob-medium", 0),
        ("claude", "ls", 0),
    ],
)
def test_a_full_stdout_says_no_with_exit_code_and_reason(lane: Lane, host: str, command: str, code: int) -> None:
    with open("/dev/full", "wb") as full:
        ran = _with_stdout(lane, getattr(lane, host)(command), full)
    _said_otherwise(ran, code, command)


@pytest.mark.parametrize(("command", "code"), [("rm -rf ~/", 2), ("frob-high", 2), ("ls", 0)])
def test_a_reader_that_has_gone_is_told_with_exit_code_and_reason(lane: Lane, command: str, code: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ran = _with_stdout(lane, lane.claude(command), writer)
    finally:
        os.close(writer)
    _said_otherwise(ran, code, command)


@pytest.mark.parametrize(("command", "code"), [("rm -rf ~/", 2), ("frob-high", 2), ("ls", 0)])
def test_a_closed_stdout_gets_no_file_of_ours_in_its_place(lane: Lane, command: str, code: int) -> None:
    words = ["sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, "hook"]
    process = start(lane, words)
    _, err = process.communicate(json.dumps(lane.claude(command)).encode(), timeout=20)
    _said_otherwise((process.returncode, err.decode().splitlines(), lane.ledger()), code, command)
    for file in lane.home.rglob("*"):
        assert file.is_dir() or b"hookSpecificOutput" not in file.read_bytes()


def test_a_closed_stderr_changes_nothing(lane: Lane) -> None:
    process = start(lane, ["sh", "-c", 'exec "$@" 2>&-', "sh", *PROGRAM, "hook", "--nonsense"], stderr=None)
    out, _ = process.communicate(json.dumps(lane.claude("rm -rf ~/")).encode(), timeout=20)
    assert process.returncode == 0
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert len(lane.ledger()) == 1


def test_a_closed_stdin_is_no_event(lane: Lane) -> None:
    process = start(lane, ["sh", "-c", 'exec "$@" <&-', "sh", *PROGRAM, "hook"])
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, len(err.splitlines()), len(lane.ledger())) == (0, b"", 1, 1)


def _with_stdout(lane: Lane, event: dict[str, Any], stdout: Any) -> tuple[int, list[str], list[dict[str, Any]]]:
    process = start(lane, [*PROGRAM, "hook"], stdout=stdout)
    _, err = process.communicate(json.dumps(event).encode(), timeout=20)
    return process.returncode, err.decode().splitlines(), lane.ledger()


def _said_otherwise(ran: tuple[int, list[str], list[dict[str, Any]]], code: int, command: str) -> None:
    found, err, entries = ran
    assert (found, len(entries)) == (code, 1)
    if code:
        assert len(err) == 1
        reason = {"rm -rf ~/": "delete a home directory", "frob-high": "High stakes"}[command]
        assert reason in err[0]
        assert entries[0]["output"].startswith("not written")
    elif command == "ls":
        assert err == []
        assert "output" not in entries[0]
    else:
        assert entries[0]["output"].startswith("not written")


# A home that is not as it should be.


@pytest.mark.parametrize(
    "env",
    [
        {"HOME": None},
        {"HOME": ""},
        {"HOME": "relative"},
        {"HOME": "/nonexistent/home"},
        {"HOME": "/proc"},
        {"XDG_CONFIG_HOME": "/proc/x", "XDG_STATE_HOME": "/proc/x", "XDG_CACHE_HOME": "/proc/x"},
        {"XDG_CONFIG_HOME": "rel", "XDG_STATE_HOME": "rel", "XDG_CACHE_HOME": "rel"},
        {"XDG_STATE_HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null"},
        {"PATH": None, "LANG": None},
        {"PYTHONUTF8": "0", "LC_ALL": "C"},
        {"TMPDIR": "/nonexistent"},
    ],
    ids=str,
)
def test_a_home_that_is_not_as_it_should_be_still_gets_the_right_answer(lane: Lane, env: dict[str, Any]) -> None:
    for command, decision in (("rm -rf /", "deny"), ("rm -rf /etc", "deny"), ("ls -la", "none")):
        # Where HOME names nothing the account's own home counts, and nothing may be written there by a test.
        apart = {"XDG_CONFIG_HOME": "/proc/x", "XDG_STATE_HOME": "/proc/x", "XDG_CACHE_HOME": "/proc/x"}
        ran = lane.hook(lane.claude(command), env={**(apart if "HOME" in env else {}), **env})
        assert (ran.code, ran.decision) == (0, decision), ran.stderr
        assert len(ran.stderr) <= 1
        assert "Traceback" not in "".join(ran.stderr)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_directories_that_can_only_be_read_still_get_the_right_answer(lane: Lane) -> None:
    lane.home.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert lane.hook(lane.claude("rm -rf ~/")).decision == "deny"
    finally:
        lane.home.chmod(0o700)


def test_a_state_directory_that_is_a_file_costs_the_line_and_is_counted(lane: Lane) -> None:
    (lane.home / ".local").write_text("in the way")
    assert lane.hook(lane.claude("rm -rf ~/")).decision == "deny"
    assert ledger.failure_count({"HOME": str(lane.home)}) == 1


def test_a_working_directory_that_is_gone_still_gets_the_right_answer(lane: Lane, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    words = ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(gone), *PROGRAM, "hook"]
    process = start(lane, words)
    out, err = process.communicate(json.dumps(lane.claude("rm -rf ~/", cwd=str(gone))).encode(), timeout=20)
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert len(lane.ledger()) == 1


def test_no_program_that_a_project_could_put_in_the_way_is_started(lane: Lane, tmp_path: Path) -> None:
    trap, mark = tmp_path / "bin", tmp_path / "started"
    trap.mkdir()
    for name in ("git", "python", "python3", "sh", "bash", "node", "env", "rm", "uname", "id", "getent", "jevhook"):
        (trap / name).write_text(f"#!/bin/sh\necho {name} >> {mark}\necho banner\necho banner >&2\n")
        (trap / name).chmod(0o755)
    (lane.project / "json.py").write_text(f"open({str(mark)!r}, 'a').write('json')")
    (lane.project / "jevhook.py").write_text(f"open({str(mark)!r}, 'a').write('jevhook')")
    (lane.project / "sitecustomize.py").write_text(f"open({str(mark)!r}, 'a').write('site')")
    for command in ("git push --force origin main", "rm -rf ~/", "git reset --hard", "python3 -c 'import os'"):
        process = start(lane, [*PROGRAM, "hook"], env={**lane.env, "PATH": str(trap)})
        out, err = process.communicate(json.dumps(lane.claude(command)).encode(), timeout=20)
        assert (process.returncode, err, out.count(b"\n") <= 1) == (0, b"", True)
    assert not mark.exists(), mark.read_text()


# Many at once.


def at_once(lane: Lane, count: int) -> list[str]:
    """The decisions of ``count`` hooks that all run at the same time."""
    processes = [start(lane, [*PROGRAM, "hook"]) for _ in range(count)]
    for number, process in enumerate(processes):
        assert process.stdin is not None
        command = "rm -rf ~/" if number % 2 else "ls -la"
        process.stdin.write(json.dumps(lane.claude(command, session_id=f"s-{number % 4}")).encode())
        process.stdin.close()
    found = []
    for process in processes:
        assert process.stdout is not None
        out = process.stdout.read()
        assert process.wait(timeout=60) == 0
        found.append(json.loads(out)["hookSpecificOutput"]["permissionDecision"] if out else "none")
        process.stdout.close()
        if process.stderr is not None:
            process.stderr.close()
    return found


@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_sixty_four_hooks_at_once_leave_as_many_whole_lines(lane: Lane, rounds: int) -> None:
    for _ in range(rounds):
        assert at_once(lane, 64) == ["none", "deny"] * 32
    text = (lane.home / ".local/state/jevhook/ledger.ndjson").read_bytes()
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == 64 * rounds
    assert len({line["id"] for line in lines}) == 64 * rounds
    assert len({line["subject"]["tool_call"] for line in lines}) == 64 * rounds
    times = sorted(line["hook_ms"] for line in lines)
    print(f"{len(lines)} whole lines; hook_ms median {times[len(times) // 2]}, worst {times[-1]}")


def test_no_verdict_of_the_rules_depends_on_how_busy_the_machine_is(lane: Lane) -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        assert {lane.hook(lane.claude("rm -rf ~/")).decision for _ in range(10)} == {"deny"}
    finally:
        for one in busy:
            one.kill()
            one.wait()


@pytest.mark.parametrize(("held", "decision"), [(5.0, "deny"), (0.0, "none")])
def test_a_hook_that_was_not_let_run_gets_more_time(lane: Lane, held: float, decision: str) -> None:
    """Ten seconds on a machine that gives a hook no processor are not ten seconds of work (64 hooks at load 38), nor
    where it has it for half of the time."""
    code = (
        "import sys, time; from jevhook import decide, hook\n"
        f"hook._held = lambda lane: {held}\n"
        "hook.WATCHDOG = 1.0\n"
        "judge = decide.decide\n"
        "def slow(*given):\n    time.sleep(1.5)\n    return judge(*given)\n"
        "decide.decide = slow\n"
        "import jevhook.policy as policy; load = policy.load\n"
        "def short(*given, **more):\n    made = load(*given, **more); made.watchdog = 1.0; return made\n"
        "policy.load = short\n"
        "hook.main([])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(lane.claude("rm -rf ~/")).encode(), capture_output=True,
        env={**os.environ, "HOME": str(lane.home)}, timeout=30, check=True,
    )  # fmt: skip
    assert (b'"deny"' in done.stdout) == (decision == "deny")


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="nobody counts here")
def test_only_time_that_others_had_is_given_back_and_that_is_bounded() -> None:
    from jevhook import hook

    began = hook.Lane(hook.Options(), {})
    began.waited = hook.waited()
    assert 0 <= hook._held(began) < 5
    began.waited -= 1000
    assert hook._held(began) == (hook.CROWDED - 1) * began.limit
    began.limit = 1.0
    assert hook._held(began) == hook.CROWDED - 1, "the policy's limit counts, not the built-in one"


def test_the_watchdog_asks_who_had_the_processor_right_before_it_strikes() -> None:
    """Its own thread may come to run only after the limit: it then struck with what it had asked before."""
    code = (
        "import time; from jevhook import hook\n"
        "hook.waited = lambda: 9.0 if time.monotonic() > began + 1.0 else 0.0\n"
        "hook.WATCHDOG = 2.0\n"
        "sleep = time.sleep\n"
        "hook.time.sleep = lambda s: sleep(2.2)\n"  # it is not let run for longer than that
        "began = time.monotonic()\n"
        "lane = hook.Lane(hook.Options(), {})\n"
        "lane.given = True\n"
        "lane.leave = lambda code: print('struck')\n"
        "hook._watch(lane)\n"
        "sleep(3.0)\n"
        "import signal; left = signal.getitimer(signal.ITIMER_REAL)[0]\n"
        "print('alive', lane.held, 'and the kernel waits too' if left > 3 else left, flush=True)\n"
        "hook.os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30, check=True)
    assert done.stdout == b"alive 4.0 and the kernel waits too\n"
