"""``jevhook judges``: what would answer, from where, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from jevhook import policy
from jevhook.cli.judges import judges
from jevhook.systemone import dialects

KEY = "or-live-0123456789abcdef"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setattr(policy, "MANAGED", str(tmp_path / "managed.toml"))
    return project


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(judges, arguments)
    assert result.exit_code == 0, result.output
    assert KEY not in result.output
    return result.stdout


def found() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(shown("--json"))
    return value


def configure(home: Path, text: str) -> None:
    file = home / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)


def test_with_nothing_configured_the_rules_are_alone_everywhere() -> None:
    seen = found()
    assert [entry["judge"] for entry in seen["hook"] + seen["prompt"]] == ["embedded", "embedded"]
    assert [entry["name"] for entry in seen["providers"]] == list(dialects.MODULES)
    assert all(entry["key_found"] == "" for entry in seen["providers"])


def test_a_key_for_other_work_answers_at_the_prompt_and_not_in_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    seen = found()
    assert seen["hook"][0]["judge"] == "embedded"
    assert seen["prompt"][0]["judge"] == "openrouter/typesafe/jev-1.13"
    assert "OPENROUTER_API_KEY is set; openrouter.ai" in seen["prompt"][0]["why"]
    keys = {entry["name"]: entry["key_found"] for entry in seen["providers"]}
    assert keys["openrouter"] == keys["openrouter_systemone"] == "OPENROUTER_API_KEY"


def test_a_route_has_a_line_of_its_own(private_home: Path) -> None:
    configure(private_home, '[judge]\ntiers = ["embedded", "llama_cpp"]\n[routes]\ntool.injection = ["vllm-here"]')
    seen = found()
    assert [(entry["point"], entry["judge"]) for entry in seen["hook"]] == [
        ("", "cascade(embedded>llama_cpp/default)"),
        ("tool.injection", None),
    ]
    assert "unknown provider" in seen["hook"][1]["why"]
    text = shown()
    assert "in the hook: cascade(embedded>llama_cpp/default)\n" in text
    assert "at the prompt, tool.injection: nobody\n" in text


def test_what_is_left_aside_in_the_hook_is_told(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(private_home, '[judge]\nprovider = "openrouter"')
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENROUTER_BASE_URL", "https://evil.example")
    seen = found()
    assert "HTTPS_PROXY is ignored in the hook" in seen["hook"][0]["why"]
    assert "OPENROUTER_BASE_URL is ignored" in seen["hook"][0]["why"]
    assert "HTTPS_PROXY" not in seen["prompt"][0]["why"]


def test_a_broken_policy_and_one_that_never_asks_are_told(private_home: Path) -> None:
    configure(private_home, '[judge]\nwhen = "never"\nmax_questions = "many"')
    assert "problem: " in shown()
    (private_home / ".config" / "jevhook" / "config.toml").write_text('[judge]\nwhen = "never"')
    assert "nobody is asked at all" in shown()
