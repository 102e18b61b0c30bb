"""off, on and budget: for a person at a terminal, and what they say there."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from terminal import at_terminal, in_a_pipe

from jevhook import ledger
from jevhook.cli import COMMANDS
from jevhook.cli.budget import budget as budget_command
from jevhook.cli.budget import dollars
from jevhook.cli.off import seconds
from jevhook.state import budget, off

CHANGING = [
    ["off"],
    ["off", "--for", "1h"],
    ["on"],
    ["allow-once", "BCDFG"],
    ["allow-once", "BCDFG", "--yes"],
    ["budget", "set", "--monthly-usd", "5", "--per-decision-usd", "0.01"],
    ["budget", "price", "--provider", "p", "--input-usd", "1", "--output-usd", "1"],
    ["budget", "unfreeze"],
    ["budget", "release", "--provider", "p", "--reason", "r"],
    ["budget", "clear"],
]


def files(home: Path) -> list[str]:
    return sorted(str(file.relative_to(home)) for file in home.rglob("*") if file.is_file())


@pytest.mark.parametrize("arguments", CHANGING, ids=[" ".join(row[:2]) for row in CHANGING])
def test_nothing_changes_without_a_terminal(private_home: Path, arguments: list[str]) -> None:
    code, said = in_a_pipe(*arguments)
    assert code == 1 and "for a person at a terminal" in said and "Traceback" not in said
    assert files(private_home) == []


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI"])
def test_nothing_changes_in_a_shell_that_an_agent_opened(private_home: Path, variable: str) -> None:
    code, said = at_terminal("off", **{variable: "1"})
    assert code == 1 and variable in said
    assert files(private_home) == []


def test_off_and_on_at_a_terminal_leave_their_lines_in_the_ledger(private_home: Path) -> None:
    env = dict(os.environ)
    code, said = at_terminal("off", "--for", "30m")
    assert code == 0 and said.startswith("off until ")
    is_off, until = off.switched_off(env, time.time())
    assert is_off and 1700 < until - time.time() <= 1800
    assert at_terminal("off") == (0, f"off until `jevhook on` ({off.path(env)})\n")
    assert off.switched_off(env, time.time() + 1e6) == (True, 0)
    assert at_terminal("on") == (0, "on\n")
    assert at_terminal("on") == (0, "it was on\n")
    assert off.switched_off(env, time.time())[0] is False
    assert [(line["event"], line["reason"]) for line in ledger.read(env)] == [
        ("jevhook off", "off"),
        ("jevhook off", "off"),
        ("jevhook on", "on"),
    ]


@pytest.mark.parametrize(
    ("text", "value"), [("90s", 90), ("30m", 1800), ("1h", 3600), ("2d", 172800), ("30d", 2592000)]
)
def test_times(text: str, value: int) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "1", "h", "1w", "-1h", "1.5h", "0m", "31d", "9999999999d", "٣h"])
def test_what_is_no_time_is_refused_before_anything_changes(private_home: Path, text: str) -> None:
    code, said = at_terminal("off", f"--for={text}")
    assert (code == 2 and "such as 30m" in said) or "from 1s to 30d" in said
    assert files(private_home) == []


@pytest.mark.parametrize(("text", "value"), [("5", 5_000_000), ("0.002", 2000), ("1e-6", 1), ("12.50", 12_500_000)])
def test_amounts(text: str, value: int) -> None:
    assert dollars(text) == value


@pytest.mark.parametrize("text", ["", "five", "-1", "nan", "inf", "0.0000001", "1000001", "1e99"])
def test_what_is_no_amount_is_refused(private_home: Path, text: str) -> None:
    code, said = at_terminal("budget", "set", f"--monthly-usd={text}", "--per-decision-usd", "0.001")
    assert code == 2 and "Traceback" not in said
    assert files(private_home) == []


def test_a_budget_from_the_first_cap_to_the_last(private_home: Path) -> None:
    env, now = dict(os.environ), time.time()
    assert at_terminal("budget") == (0, "no cap is set: nothing is counted and nothing is refused\n")
    code, said = at_terminal("budget", "set", "--monthly-usd", "5", "--per-decision-usd", "0.002")
    assert code == 0 and "cap      user: 0.00 of 5.00 USD" in said and "at most 0.002 USD" in said
    for provider, cost in (("typesafe", 1500), ("typesafe", None), ("old-relay", None)):
        ticket, why = budget.reserve(env, provider, "jev", now)
        assert ticket is not None, why
        if cost is None:
            budget.hold(env, ticket, "timeout", now)
        else:
            budget.settle(env, ticket, cost, now)

    code, said = in_a_pipe("budget")
    assert code == 0, "looking is free"
    assert "user: 0.0055 of 5.00 USD (settled 0.0015, reserved 0.00, held 0.004)" in said
    assert "held     old-relay: 1 calls of unknown cost, 0.002 USD" in said
    found = json.loads(in_a_pipe("budget", "--json")[1])
    assert found["caps"][0]["settled"] == 1500

    release = ("budget", "release", "--reason", "closed", "--provider")
    code, said = at_terminal(*release, "typesafe")
    assert code == 1 and "answered within the last day" in said and "--force" in said
    assert at_terminal(*release, "old-relay") == (0, "1 holds released, 0.002 USD\n")
    assert at_terminal(*release, "typesafe", "--force") == (0, "1 holds released, 0.002 USD\n")

    ticket, _ = budget.reserve(env, "typesafe", "jev", now)
    assert ticket is not None
    budget.settle(env, ticket, 9000, now)
    assert "FROZEN   user: one decision cost 0.009 USD" in in_a_pipe("budget")[1]
    assert at_terminal("budget", "unfreeze") == (0, "3 buckets thawed\n")
    assert at_terminal("budget", "clear")[0] == 0
    assert in_a_pipe("budget")[1].startswith("no cap is set")


def test_the_provider_that_the_configuration_names_is_alive(private_home: Path) -> None:
    file = private_home / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[judge]\nprovider = "ollama"\nmodel = "m"\n')
    budget.set_cap(dict(os.environ), 1000, 100, time.time())
    code, said = at_terminal("budget", "release", "--provider", "ollama", "--reason", "x")
    assert code == 1 and "is the judge that your configuration names" in said


def test_a_broken_record_is_one_clean_line(private_home: Path) -> None:
    budget.set_cap(dict(os.environ), 1000, 100, time.time())
    Path(budget.path(dict(os.environ))).write_bytes(b"no database")
    result = CliRunner().invoke(budget_command, [])
    assert result.exit_code == 1 and "can't be used" in result.output


def test_the_commands_are_listed() -> None:
    assert {"budget", "off", "on"} <= set(COMMANDS)
