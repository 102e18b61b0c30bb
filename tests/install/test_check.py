"""``jevhook doctor`` says of each host whether its guard is really on: the truth in every way it can be lost."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from jevhook import ledger, policy
from jevhook.cli.doctor import doctor
from jevhook.hosts import claude_install, installer
from jevhook.install import check, plan
from jevhook.state import off


@pytest.fixture
def here(private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project to be in; no host's program on PATH, no managed file of the machine's."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(policy, "MANAGED", str(tmp_path / "managed.toml"))
    monkeypatch.setattr(claude_install, "MANAGED", str(tmp_path / "managed-settings.json"))
    return project


def install(name: str, **options: Any) -> Path:
    """The settings file with our entries."""
    env = dict(os.environ)
    todo = plan.install(installer(name), env, **options)
    plan.carry_out(todo, env)
    return Path(todo.record["path"])


def asked(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(doctor, ["--json", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    found: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, found


def state(*arguments: str) -> tuple[int, str, str]:
    """(exit code, the first host's state, all that is said of it)."""
    code, found = asked(*arguments)
    (guard,) = found["hosts"]
    return code, guard["state"], " | ".join(f"{each['level']}: {each['text']}" for each in guard["troubles"])


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_an_installed_hook_is_on_and_what_it_costs_is_measured(here: Path, private_home: Path, name: str) -> None:
    file = install(name)
    code, found = asked("--host", name)
    (guard,) = found["hosts"]
    assert (code, guard["state"], guard["troubles"], guard["settings"]) == (0, "on", [], str(file))
    assert 1 < guard["hook_ms"] < 10_000
    lines = list(ledger.read(dict(os.environ)))
    assert [line["decision"] for line in lines] == ["deny"] + ["none"] * check.RUNS
    assert {line["origin"] for line in lines} == {"doctor"}, "nobody's work: not to be counted as the user's"
    text = CliRunner().invoke(doctor, ["--host", name]).stdout
    assert f"{name:<8} guarded" in text and "a hook takes" in text and text.endswith("ok\n")


def edit(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))


def first(document: dict[str, Any]) -> dict[str, Any]:
    handler: dict[str, Any] = document["hooks"]["PreToolUse"][0]["hooks"][0]
    return handler


def group(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["hooks"]["PreToolUse"][0]
    return found


# fmt: off
BOTH: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: d.pop("hooks"), "off: the hook was installed in"),
    (lambda d: d["hooks"].pop("PreToolUse"), "has no entry of jevhook for PreToolUse"),
    (lambda d: group(d).update(matcher="Write"), "does not cover Bash"),
    (lambda d: group(d).update(matcher="bash"), "does not cover Bash"),
    (lambda d: group(d).update(matcher="(Bash"), "does not cover Bash"),
    (lambda d: first(d).update({"async": True}), "says async"),
    (lambda d: first(d).update({"if": "Bash(ls)"}), "has an if"),
    (lambda d: first(d).update(timeout=1), "a timeout of 1 s"),
    (lambda d: first(d).update(timeout="1"), "reads none of it"),
    (lambda d: first(d).update(type="comand"), "reads none of it"),
    (lambda d: d.update(hooks=[]), "hooks is not an object"),
    (lambda d: first(d).update(command=first(d)["command"].replace(sys.executable, "/gone/python")), "/gone/python is not there any more"),
    (lambda d: first(d).update(command=first(d)["command"].replace(sys.executable, "python3")), "no absolute path"),
    (lambda d: first(d).update(command=first(d)["command"].replace(" -I", "")), "has no -I"),
    (lambda d: first(d).update(command=first(d)["command"].replace(plan.MAIN, "/gone/jevhook/__main__.py")), "/gone/jevhook/__main__.py is not there"),
    (lambda d: first(d).update(command=first(d)["command"].replace(" -I", " -I -c pass")), "more than jevhook's own"),
    (lambda d: first(d).update(command=first(d)["command"] + "; true"), "more than jevhook's own"),
    (lambda d: first(d).update(command=first(d)["command"] + " >/dev/null"), "more than jevhook's own"),
]
CLAUDE: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: first(d).update(command=first(d)["command"] + " --policy shadow"), "a dangerous call was not stopped"),
    (lambda d: d.update(disableAllHooks=True), "says disableAllHooks"),
    (lambda d: first(d).update(timeout=0.001), "a timeout of 0.001 s"),
    (lambda d: first(d).update(timeout=0), "reads none of it"),
    (lambda d: first(d).update(args=[]), "has args"),
    (lambda d: d.update(permissions={"allow": "all"}), "permissions.allow"),
    (lambda d: d.update(allowedHttpHookUrls=1), "allowedHttpHookUrls"),
]
CODEX: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: first(d).update(timeout=0), "a timeout of 0 s"),
    (lambda d: first(d).update(timeout=1.5), "whole number"),
    (lambda d: first(d).update(statusMessage="changed"), "does not trust"),
    (lambda d: d["hooks"]["PreToolUse"].insert(0, {"hooks": [{"type": "command", "command": "earlier"}]}), "does not trust"),
]
# fmt: on
SABOTAGE = [("claude", *row) for row in (*BOTH, *CLAUDE)] + [("codex", *row) for row in (*BOTH, *CODEX)]


@pytest.mark.parametrize(("name", "change", "said"), SABOTAGE)
def test_what_switches_a_guard_off_in_its_own_file_is_named(
    here: Path, name: str, change: Callable[[dict[str, Any]], Any], said: str
) -> None:
    edit(install(name), change)
    code, is_, why = state("--host", name)
    assert (code, is_) == (1, "off"), why
    assert said in why


@pytest.mark.parametrize("text", ["{", '{"a": 1 // c\n}', "", "[]", None])
def test_a_file_that_is_broken_or_gone_is_named(here: Path, text: str | None) -> None:
    file = install("claude")
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    code, is_, why = state("--host", "claude")
    assert (code, is_) == (1, "off") and str(file) in why
    assert asked()[0] == 1, "without --host too: it was installed"


@pytest.mark.parametrize(
    ("name", "document", "is_", "said"),
    [
        (".claude/settings.json", {"disableAllHooks": True}, "off", "says disableAllHooks"),
        (".claude/settings.local.json", {"disableAllHooks": True}, "off", "says disableAllHooks"),
        (".claude/settings.json", {"disableAllHooks": False}, "on", ""),
        (".claude/settings.json", {"env": {"HTTP_PROXY": "http://127.0.0.1:9", "A": "b"}}, "on", "sets HTTP_PROXY for"),
        (".claude/settings.json", {"env": {"XDG_STATE_HOME": "/x"}}, "on", "sets XDG_STATE_HOME"),
        (".claude/settings.json", {"model": "opus"}, "on", ""),
        (".claude/settings.json", [], "on", "can't be read and does not count"),
    ],
)
def test_what_a_projects_settings_do(here: Path, name: str, document: Any, is_: str, said: str) -> None:
    install("claude")
    (here / ".claude").mkdir()
    (here / name).write_text(json.dumps(document))
    code, found, why = state("--host", "claude")
    assert (code, found) == (int(is_ == "off"), is_) and said in why


@pytest.mark.parametrize("extra", [{}, {"timeout": 0.001}, {"async": True}])
def test_a_project_that_repeats_the_command_replaces_it(here: Path, extra: dict[str, Any]) -> None:
    command = json.loads(install("claude").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    (here / ".claude").mkdir()
    entry = {"type": "command", "command": command, **extra}
    (here / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}}))
    code, is_, why = state("--host", "claude")
    assert (code, is_) == (1, "off") and "repeats the hook's command" in why


def test_a_limit_on_http_hooks_is_named_where_the_person_has_any(here: Path, private_home: Path) -> None:
    edit(
        install("claude"),
        lambda d: d["hooks"].update(Stop=[{"hooks": [{"type": "http", "url": "http://127.0.0.1:1/"}]}]),
    )
    (here / ".claude").mkdir()
    (here / ".claude/settings.json").write_text('{"allowedHttpHookUrls": []}')
    _, is_, why = state("--host", "claude")
    assert is_ == "on" and "limits allowedHttpHookUrls" in why


def test_the_strongest_switch_counts(here: Path, tmp_path: Path) -> None:
    edit(install("claude"), lambda d: d.update(disableAllHooks=True))
    (here / ".claude").mkdir()
    (here / ".claude/settings.json").write_text('{"disableAllHooks": false}')
    assert state("--host", "claude")[1] == "on"
    (here / ".claude/settings.local.json").write_text('{"disableAllHooks": true}')
    assert state("--host", "claude")[1] == "off"
    (tmp_path / "managed-settings.json").write_text('{"disableAllHooks": false}')
    assert state("--host", "claude")[1] == "on"
    (tmp_path / "managed-settings.json").write_text('{"allowManagedHooksOnly": true}')
    assert "allowManagedHooksOnly" in state("--host", "claude")[2]


def test_a_hook_in_the_managed_file_counts(here: Path, private_home: Path, tmp_path: Path) -> None:
    file = install("claude")
    (tmp_path / "managed-settings.json").write_text(file.read_text())
    file.unlink()
    code, is_, _ = state("--host", "claude")
    assert (code, is_) == (0, "on")


def test_nobody_below_switches_a_managed_hook_off(here: Path, private_home: Path, tmp_path: Path) -> None:
    file = install("claude", path=claude_install.MANAGED)
    assert file == tmp_path / "managed-settings.json" and file.stat().st_mode & 0o777 == 0o644
    (here / ".claude").mkdir()
    command = json.loads(file.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    repeated = {"PreToolUse": [{"hooks": [{**command, "timeout": 0.001}]}]}
    (here / ".claude/settings.json").write_text(json.dumps({"disableAllHooks": True, "hooks": repeated}))
    assert state("--host", "claude") == (0, "on", "")
    edit(file, lambda d: d.update(disableAllHooks=True))
    assert state("--host", "claude")[1] == "off"


def test_a_projects_own_entries_are_not_started_unless_this_user_put_them_there(here: Path, tmp_path: Path) -> None:
    evil = tmp_path / "python"
    ran = tmp_path / "ran"
    evil.write_text(f"#!/bin/sh\ntouch {ran}\n")
    evil.chmod(0o755)
    command = f"{evil} -I -m jevhook hook --host claude --id 0123456789abcdef"
    text = json.dumps({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]}})
    (here / ".claude").mkdir()
    (here / ".claude/settings.local.json").write_text(text)
    assert state("--host", "claude")[1] in ("none", "absent")
    # Nor from a home that only the environment names: an agent may run the doctor.
    home = Path(os.environ["HOME"])
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text(text)
    code, is_, why = state("--host", "claude")
    assert (code, is_) == (1, "off") and "it was not tried" in why
    assert not ran.exists()
    code_of_its_own = tmp_path / "jevhook" / "__main__.py"
    code_of_its_own.parent.mkdir()
    code_of_its_own.write_text(f"open({str(ran)!r}, 'w')")
    (home / ".claude/settings.json").write_text(
        text.replace(f"{evil} -I -m jevhook", f"{sys.executable} -I -S {code_of_its_own}")
    )
    assert "it was not tried" in state("--host", "claude")[2] and not ran.exists()


def test_a_project_install_counts_in_its_project(here: Path) -> None:
    file = install("claude", path=str(here / ".claude/settings.local.json"))
    code, is_, _ = state("--host", "claude")
    assert (code, is_) == (0, "on")
    edit(file, lambda d: d.update(disableAllHooks=True))
    (here / ".claude/settings.json").write_text('{"disableAllHooks": false}')
    assert state("--host", "claude")[1] == "off", "the personal file is the stronger"


def test_nothing_installed_where_a_host_is_used(here: Path, private_home: Path) -> None:
    (private_home / ".claude").mkdir()
    code, found = asked()
    assert code == 1 and [guard["state"] for guard in found["hosts"]] == ["none", "absent"]
    install("codex")
    code, found = asked()
    assert code == 0 and [guard["state"] for guard in found["hosts"]] == ["none", "on"], "one of them is guarded"
    assert asked("--host", "claude")[0] == 1, "this one was named"


def test_a_gate_that_is_off_is_not_on(here: Path) -> None:
    install("claude")
    off.switch_off(dict(os.environ), 0.0, time.time())
    code, is_, why = state("--host", "claude")
    assert (code, is_) == (1, "off") and "jevhook off was said" in why
    assert "OFF      jevhook off was said" in CliRunner().invoke(doctor, []).stdout
    off.switch_on(dict(os.environ))
    assert state("--host", "claude")[1] == "on"


def test_a_policy_in_shadow_only_watches(here: Path, private_home: Path) -> None:
    config = private_home / ".config/jevhook/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('policy = "shadow"')
    install("claude")
    code, is_, why = state("--host", "claude")
    assert (code, is_) == (0, "watching"), why
    assert "stops nothing" in CliRunner().invoke(doctor, []).stdout


def test_what_the_hook_itself_complains_of_is_passed_on(here: Path, private_home: Path) -> None:
    config = private_home / ".config/jevhook/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("modes = 1")
    install("claude")
    code, is_, why = state("--host", "claude")
    assert (code, is_) == (1, "on") and "warn: the hook says: policy: " in why, "the policy's problem makes it a no"


def test_an_entry_anybody_could_write_down_is_noted(here: Path) -> None:
    file = install("claude")
    edit(file, lambda d: first(d).update(command=first(d)["command"].rsplit(" --id", 1)[0]))
    _, is_, why = state("--host", "claude")
    assert is_ == "on" and "can be guessed" in why


def test_a_missing_event_after_the_tool_is_a_note_unless_it_was_not_wanted(here: Path) -> None:
    edit(install("claude"), lambda d: d["hooks"].pop("PostToolUse"))
    _, is_, why = state("--host", "claude")
    assert is_ == "on" and "no entry of jevhook for PostToolUse" in why
    install("claude", points=["tool.risk"])
    assert state("--host", "claude") == (0, "on", "")


def test_an_unknown_host_is_told_which_there_are(here: Path) -> None:
    result = CliRunner().invoke(doctor, ["--host", "cursor"])
    assert result.exit_code == 2 and "claude, codex" in result.output


def test_fix_is_for_a_person(here: Path) -> None:
    result = CliRunner().invoke(doctor, ["--fix"])
    assert result.exit_code == 1 and "for a person at a terminal" in result.output


# ---- the judge, asked through requests


class Judge(BaseHTTPRequestHandler):
    status = 200
    seen: list[tuple[str, str]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.headers["User-Agent"], json.dumps(body)))
        answers = {name: {"type": "noul", "noul": 0.9} for name in body.get("questions", {})}
        data = json.dumps({"model": "m", "answers": answers}).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def judge(private_home: Path) -> Any:
    with HTTPServer(("127.0.0.1", 0), Judge) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        config = private_home / ".config/jevhook/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            f'[judge]\nprovider = "native"\nmodel = "m"\nbase_url = "http://127.0.0.1:{server.server_port}"\n'
        )
        Judge.status, Judge.seen = 200, []
        yield Judge
        server.shutdown()


def test_the_judge_is_asked_one_question_and_its_time_is_told(here: Path, judge: Any) -> None:
    code, found = asked()
    assert code == 0, found["judge"]
    assert found["judge"]["error"] == "" and found["judge"]["ms"] >= 0 and len(judge.seen) == 1
    assert "jevhook/" in judge.seen[0][0]
    assert "answered in" in CliRunner().invoke(doctor, []).stdout


def test_a_judge_that_answers_with_an_error_makes_the_doctor_say_no(here: Path, judge: Any) -> None:
    judge.status = 401
    code, found = asked()
    assert code == 1 and found["judge"]["error"].startswith("auth: ")
    assert "gives NO answer: breaker: " in CliRunner().invoke(doctor, []).stdout, "a refused key is not tried again"
    assert asked("--offline")[0] == 0, "then nobody is asked"


def test_a_judge_that_is_left_alone_is_named(here: Path, judge: Any) -> None:
    judge.status = 500
    for _ in range(6):
        asked()
    _, found = asked()
    assert found["judge"]["error"].startswith("breaker: ") and found["judge"]["breakers"][0]["seconds_left"] > 0
