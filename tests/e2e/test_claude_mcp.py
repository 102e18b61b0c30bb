"""The MCP server in the real Claude Code, registered by Claude Code's own command and called by the scripted model."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from .conftest import NewPlace
from .hosts import Place, Record, binary, installed_hook, run_claude
from .model import Call

HOST = "claude"
pytestmark = pytest.mark.e2e
pytest.importorskip("mcp", reason="the extra mcp is not installed: scripts/venv dev,mcp")

SERVER = [sys.executable, "-I", "-m", "jevhook", "serve"]


def call(ident: str, tool: str, given: dict[str, Any]) -> Call:
    return Call(ident, f"mcp__jevhook__{tool}", given)


@pytest.fixture(scope="module")
def served(new_place: NewPlace) -> tuple[Place, Record]:
    """One conversation, the hook installed too, so that the ledger has the hook's own line about the first call."""
    place = new_place()
    added = place.converse([str(binary(HOST)), "mcp", "add", "--scope", "user", "jevhook", "--", *SERVER], {}, [])
    assert added.status == 0, added
    calls = [
        call("denied", "jev_gate", {"tool": "Bash", "input": {"command": 'rm -rf "$HOME"'}}),
        call("allowed", "jev_gate", {"tool": "Bash", "input": {"command": "ls"}, "state": "look around"}),
        call("wrong", "jev_gate", {"tool": "Bash"}),
        call("judge", "jev_judge", {"state": "12 passed", "questions": [{"type": "noul", "question": "Is it green?"}]}),
        call("items", "judge_items", {"question": "Is it a failure?", "items": ["started", "killed"]}),
        call("ledger", "judge_ledger", {"limit": 0}),
    ]
    return place, run_claude(place, installed_hook(HOST), calls)


def test_the_model_is_given_what_the_gate_says(served: tuple[Place, Record]) -> None:
    place, record = served
    denied, allowed = (json.loads(record.told(name)) for name in ("denied", "allowed"))
    assert (denied["decision"], denied["rule"]) == ("deny", "fs.delete-home")
    assert str(place.home) in denied["hint"]
    assert allowed["decision"] == "allow"
    assert json.loads(record.told("judge"))["verdicts"][0]["reason"] == "unreachable"  # nobody is configured here
    assert json.loads(record.told("items"))["unavailable"] is True
    assert place.canary.exists()  # it was asked about, not run


def test_a_bad_call_tells_the_model_which_field_is_wrong(served: tuple[Place, Record]) -> None:
    _, record = served
    assert "input: is missing" in record.told("wrong")


def test_the_ledger_of_the_same_session_can_be_read(served: tuple[Place, Record]) -> None:
    _, record = served
    records = json.loads(record.told("ledger"))["records"]
    assert "mcp__jevhook__jev_gate" in [entry["tool"] for entry in records]
