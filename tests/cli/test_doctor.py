"""``jevhook doctor``: shows what a hook would use; exits 1 when the policy or the ledger is not in order."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from jevhook import ledger, policy
from jevhook.cli.doctor import doctor


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setattr(policy, "MANAGED", str(tmp_path / "managed.toml"))
    return project


def run(*arguments: str) -> Result:
    return CliRunner().invoke(doctor, arguments)


def asked(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = run("--json", *arguments)
    found: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, found


def write(home: Path, text: str) -> Path:
    file = home / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def test_a_fresh_machine_is_in_order(here: Path, private_home: Path) -> None:
    code, found = asked()
    assert (code, found["ok"], found["policy"]["problems"]) == (0, True, [])
    assert [layer["layer"] for layer in found["policy"]["layers"]] == ["shipped"]
    assert found["ledger"]["path"] == str(private_home / ".local/state/jevhook/ledger.ndjson")
    assert found["ledger"]["writable"] is True
    assert not (private_home / ".local").exists(), "looking makes nothing"


def test_the_plain_form_says_the_same_in_lines(here: Path, private_home: Path) -> None:
    file = write(private_home, 'policy = "strict"')
    result = run()
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[1:3] == ["claude   not used here", "codex    not used here"]
    assert lines[3].startswith("policy   strict (default active")
    assert f"         user: {file}" in lines
    assert any(line.startswith("judge    ") for line in lines)
    assert any(line.startswith("ledger   ") and line.endswith(": writable") for line in lines)
    assert lines[-1] == "ok"


def test_a_broken_file_is_told_and_exits_1(here: Path, private_home: Path) -> None:
    file = write(private_home, '[modes]\ndefault = "on"')
    code, found = asked()
    assert (code, found["ok"]) == (1, False)
    assert f'{file}: modes.default: found "on", allowed: off, shadow, active' in found["policy"]["problems"]
    result = run()
    assert result.exit_code == 1
    assert "problem  " in result.stdout
    assert result.stdout.splitlines()[-1] == "not ok"


def test_the_project_and_the_argument_count_as_they_would_in_the_hook(here: Path) -> None:
    (here / ".jevhook.toml").write_text('[modes]\ndefault = "active"')
    _, found = asked("--policy", "shadow")
    assert found["policy"]["name"] == "shadow"
    assert found["policy"]["modes"]["tool.risk"] == "active"
    code, found = asked("--policy", "relative.toml")
    assert (code, found["policy"]["name"]) == (1, "default")


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("", None, "rules only"),
        ('[judge]\nwhen = "never"', None, "judge.when = never"),
        ('[judge]\nprovider = "none"', None, "none"),
        ('[judge]\nprovider = "embedded"', None, "embedded"),
        ('[judge]\nprovider = "ollama"\nmodel = "m"', "ollama/m", "ollama"),
    ],
)
def test_the_judge_is_named_with_the_reason(
    here: Path, private_home: Path, text: str, name: str | None, why: str
) -> None:
    write(private_home, text)
    _, found = asked()
    assert found["judge"]["name"] == name
    assert why in found["judge"]["why"]
    assert f"\njudge    {name or 'none (rules only)'}: " in run().stdout


def test_a_ledger_that_is_no_file_exits_1(here: Path, private_home: Path) -> None:
    (private_home / ".local/state/jevhook/ledger.ndjson").mkdir(parents=True)
    code, found = asked()
    assert (code, found["ledger"]["writable"], found["policy"]["problems"]) == (1, False, [])
    assert found["ledger"]["why"]
    assert "NOT writable" in run().stdout


def test_a_ledger_below_a_file_exits_1(here: Path, private_home: Path) -> None:
    (private_home / "file").write_text("")
    write(private_home, f'[ledger]\npath = "{private_home}/file/ledger.ndjson"')
    code, found = asked()
    assert (code, found["ledger"]["why"]) == (1, f"{private_home}/file is not a directory")


def test_lines_that_were_lost_are_shown_with_when_and_why(here: Path, private_home: Path) -> None:
    env = {"HOME": str(private_home)}
    (private_home / "file").write_text("")
    assert not ledger.append({"a": 1}, env, str(private_home / "file" / "ledger.ndjson"))
    code, found = asked()
    assert (code, found["ok"], found["ledger"]["write_failures"], found["ledger"]["lost_lately"]) == (1, False, 1, True)
    assert found["ledger"]["last_failures"][0]["reason"]
    assert "1 lines could not be written" in run().stdout


def test_lines_that_were_lost_long_ago_are_shown_and_that_is_all(here: Path, private_home: Path) -> None:
    failures = private_home / ".local/state/jevhook/write-failures"
    failures.parent.mkdir(parents=True)
    failures.write_text("2020-01-31T23:59:59.123Z ENOSPC No space left on device\n")
    code, found = asked()
    assert (code, found["ok"], found["ledger"]["write_failures"], found["ledger"]["lost_lately"]) == (0, True, 1, False)
    assert "2020-01-31T23:59:59.123Z ENOSPC" in run().stdout


@pytest.mark.parametrize("there", [True, False], ids=["a ledger that is there", "a ledger to be made"])
def test_a_disk_without_room_is_found_by_trying(here: Path, private_home: Path, there: bool) -> None:
    """What stands in for the full disk: the process may not write a byte to any file."""
    state = private_home / ".local/state/jevhook"
    state.mkdir(parents=True)
    if there:
        (state / "ledger.ndjson").touch(mode=0o600)
    before = sorted(state.iterdir())
    words = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", sys.executable, "-m", "jevhook", "doctor", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30)
    found = json.loads(done.stdout)
    assert (done.returncode, found["ledger"]["writable"]) == (1, False)
    assert found["ledger"]["why"] == f"{state} can't be written: File too large"
    assert sorted(state.iterdir()) == before, "the try leaves nothing"


def test_an_exception_that_has_expired_is_named(here: Path, private_home: Path) -> None:
    form = '[[exception]]\nid = "{}"\nrule = "git.reset-hard"\npath = "~/x"\nexpires = {}\n'
    write(private_home, form.format("old", "2020-01-31") + form.format("new", "2999-01-31"))
    code, found = asked()
    assert (code, found["policy"]["expired"]) == (
        0,
        [{"id": "old", "rule": "git.reset-hard", "expires": "2020-01-31"}],
    )
    text = run().stdout
    assert "expired  exception old for git.reset-hard: held until 2020-01-31\n" in text
    assert "exception new" not in text


def test_a_directory_named_by_somebody_else_cannot_move_the_terminals_cursor(
    tmp_path: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "a\x1b[2Jb"
    odd.mkdir()
    (odd / ".jevhook.toml").write_text('allow = "grant"')
    monkeypatch.chdir(odd)
    result = run()
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout


def test_an_extra_that_the_policy_asks_for_and_is_not_installed_is_named(
    here: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jevhook.text.minilm.MODEL", "no_such_package_of_weights")
    write(private_home, '[thresholds]\n"tool.injection.minilm" = 0.5')
    code, found = asked()
    assert (code, found["ok"]) == (1, False)
    assert found["policy"]["lacking"] == [
        "tool.injection.minilm: the minilm extra is not installed: pip install 'jevhook[minilm]'"
    ]
    assert any(line.startswith("problem  tool.injection.minilm: ") for line in run().stdout.splitlines())
