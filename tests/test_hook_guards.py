"""The hook as a process: switched off, with a dead judge, with the money spent, with nothing to leave the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from systemone.loopback import Connection, serve

from jevhook import ledger
from jevhook.state import budget, off

STOPPED = "rm -rf ~"
ASKED = "git reset --hard HEAD~"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    (made / ".git").mkdir(parents=True)
    return made


def hook(project: Path, command: str, **env: str) -> tuple[str, dict[str, Any]]:
    """What one PreToolUse event of Claude Code was answered, and its line in the ledger."""
    event = {
        "session_id": "s",
        "cwd": str(project),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": "t",
    }
    before = len(list(ledger.read(dict(os.environ))))
    done = subprocess.run(
        [sys.executable, "-m", "jevhook", "hook"],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        timeout=30,
        check=True,
    )
    lines = list(ledger.read(dict(os.environ)))
    assert len(lines) == before + 1
    return done.stdout, lines[-1]


def configure(home: Path, text: str) -> None:
    file = home / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def risk(line: dict[str, Any]) -> dict[str, Any]:
    (point,) = [point for point in line["points"] if point["point"] == "tool.risk"]
    return dict(point)


def sure(connection: Connection) -> None:
    """Says the worst about everything."""
    answers: dict[str, Any] = {}
    for name, question in json.loads(connection.request.partition(b"\r\n\r\n")[2])["questions"].items():
        top = len(question["criteria"]) - 1 if question["type"] == "score" else 0
        worst = {"type": "score", "score": top, "probabilities": {str(n): float(n == top) for n in range(top + 1)}}
        answers[name] = worst if top else {"type": "noul", "noul": 0.99}
    usage = {"input_tokens": 10, "output_tokens": 1}
    connection.answer(200, json.dumps({"model": "m", "answers": answers, "usage": usage}).encode())


def test_off_says_nothing_and_leaves_one_line(project: Path) -> None:
    env, now = dict(os.environ), time.time()
    assert "deny" in hook(project, STOPPED)[0]
    off.switch_off(env, now + 100, now)
    out, line = hook(project, STOPPED)
    assert (out, line["reason"], line["decision"], line["points"]) == ("", "off", "none", [])
    assert line["off_until"].endswith("Z") and line["subject"]["tool"] == "Bash"
    off.switch_off(env, now - 1, now)
    assert "deny" in hook(project, STOPPED)[0], "its time has run out"


def test_the_environment_switches_off_only_with_the_users_word(private_home: Path, project: Path) -> None:
    assert "deny" in hook(project, STOPPED, JEVHOOK="off")[0]
    configure(private_home, "allow_env_off = true")
    out, line = hook(project, STOPPED, JEVHOOK="off")
    assert (out, line["reason"]) == ("", "off") and "off_until" not in line
    assert "deny" in hook(project, STOPPED)[0]


def test_a_dead_judge_is_asked_twice_and_then_skipped(private_home: Path, project: Path) -> None:
    with serve(lambda connection: connection.stopped.wait(20)) as server:
        configure(private_home, f'[judge]\nprovider = "typesafe"\nbase_url = "{server.url}"\ndeadline = 0.5\n')
        seen, waited = [], 0
        for number in range(12):
            out, line = hook(project, f"{ASKED}{number}")
            assert '"ask"' in out, "the rules' word stands"
            seen.append((risk(line)["judge"]["asked"], risk(line)["reason"]))
            waited += risk(line)["judge"]["latency_ms"]
        assert seen == [(True, "error:timeout")] * 2 + [(False, "breaker")] * 10
        assert len(server.requests) == 2 and waited < 3 * 500


def test_when_the_money_is_spent_the_rules_stand_alone(private_home: Path, project: Path) -> None:
    env, now = dict(os.environ), time.time()
    with serve(sure) as server:
        configure(private_home, f'[judge]\nprovider = "typesafe"\nbase_url = "{server.url}"\n')
        budget.set_cap(env, 100, 100, now)
        budget.set_price(env, "typesafe", "", 1_000_000, 0, now)
        _, line = hook(project, f"{ASKED}1")
        assert risk(line)["judge"]["usage"]["cost_micros"] == 10
        out, line = hook(project, f"{ASKED}2")
        assert '"ask"' in out
        assert (risk(line)["judge"]["asked"], risk(line)["reason"]) == (False, "budget")
        assert len(server.requests) == 1


@pytest.mark.parametrize("egress", ["shape", "none"])
def test_nothing_is_said_beyond_this_machine_about_the_content(
    private_home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, egress: str
) -> None:
    # Nobody listens at this address: what counts is that the questions and the state are the shape's, or none at all.
    configure(
        private_home,
        f'[judge]\nprovider = "native"\nbase_url = "https://judge.invalid"\napi_key_env = "MY_JUDGE"\n'
        f'egress = "{egress}"\ndeadline = 1\n[on_failure]\ndefault = "deny"\n',
    )
    out, line = hook(project, f"{ASKED}1", MY_JUDGE="k-0123456789abcdef")
    assert '"ask"' in out, "not even the failure of a question about a shape does anything"
    judge = risk(line)["judge"]
    if egress == "none":
        assert judge == {"asked": False, "why": "egress = none: nothing leaves this machine"}
    else:
        assert judge["shadow"] == ["intent", "risk"] and risk(line)["reason"].startswith("error:")
