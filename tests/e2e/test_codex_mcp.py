"""The MCP server in the real Codex, registered by Codex's own command and called by the scripted model."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from .conftest import NewPlace
from .hosts import Place, Record, binary, run_codex
from .model import Call

HOST = "codex"
pytestmark = pytest.mark.e2e
pytest.importorskip("mcp", reason="the extra mcp is not installed: scripts/venv dev,mcp")

SERVER = [sys.executable, "-I", "-m", "jevhook", "serve"]


def call(ident: str, tool: str, given: dict[str, Any]) -> Call:
    return Call(ident, tool, given, namespace="mcp__jevhook")


@pytest.fixture(scope="module")
def served(new_place: NewPlace) -> tuple[Place, Record]:
    place = new_place()
    (place.home / ".codex").mkdir()
    added = place.converse([str(binary(HOST)), "mcp", "add", "jevhook", "--", *SERVER], {}, [])
    assert added.status == 0, added
    with (place.home / ".codex" / "config.toml").open("a") as config:
        config.write("required = true\n")  # else Codex 0.171 begins without a server that is not up in about a second
    calls = [
        call("denied", "jev_gate", {"tool": "Bash", "input": {"command": 'rm -rf "$HOME"'}}),
        call("wrong", "jev_gate", {"tool": "Bash"}),
        call("judge", "jev_judge", {"state": "12 passed", "questions": [{"type": "noul", "question": "Is it green?"}]}),
        call("items", "judge_items", {"question": "Is it a failure?", "items": ["started", "killed"]}),
        call("ledger", "judge_ledger", {}),
    ]
    return place, run_codex(place, None, calls)


def test_the_model_is_given_what_the_gate_says(served: tuple[Place, Record]) -> None:
    place, record = served
    assert "fs.delete-home" in record.told("denied")
    assert "input: is missing" in record.told("wrong")
    assert "unreachable" in record.told("judge")  # nobody is configured here
    assert "read them yourself" in record.told("items")
    assert "left_off" in record.told("ledger")
    assert place.canary.exists()
