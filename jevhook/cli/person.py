"""Commands that change the gate are for the person at the keyboard.

No check inside a process can prove that: an agent can make itself a terminal.  What keeps an agent from these commands
is the gate's own rule (``self.gate-command``); what is here catches the rest, such as a script in a pipeline.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from .. import ledger, policy

# What hosts set in the environment of the commands that their agents run.
_AGENTS = {
    "CLAUDECODE": "Claude Code",
    "CODEX_SANDBOX": "Codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "Codex",
    "GEMINI_CLI": "Gemini CLI",
}


def at_keyboard(command: str, env: Mapping[str, str] = os.environ) -> None:
    """Raises ClickException unless stdin is a terminal that no agent has opened."""
    if not _terminal():
        raise click.ClickException(f"{command} is for a person at a terminal: stdin is none. Nothing was changed.")
    no_agent(command, env)


def no_agent(command: str, env: Mapping[str, str] = os.environ) -> None:
    """Raises ClickException in a shell that an agent has opened."""
    whose = _agent(env)
    if whose:
        raise click.ClickException(
            f"{command} is for a person, and this is {whose}. Nothing was changed: run it in a terminal of your own."
        )


def why_nobody(env: Mapping[str, str] = os.environ) -> str:
    """Why this is taken for no person at a terminal; "" when it is one."""
    return _agent(env) or ("" if _terminal() else "stdin is none")


def _terminal() -> bool:
    try:
        return os.isatty(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):
        return False


def _agent(env: Mapping[str, str]) -> str:
    """Whose shell this is, when a host has opened it for its agent; else ""."""
    return next((f"a shell of {host} ({name} is set)" for name, host in _AGENTS.items() if env.get(name)), "")


def note(env: Mapping[str, str], command: str, reason: str, **facts: Any) -> None:
    """What a person changed stands in the ledger too: who looks there must see why the gate was silent."""
    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    record: dict[str, Any] = {
        "schema": 1, "origin": "cli", "points": [], "id": ledger.new_id(), "asked_at": ledger.now_iso(),
        "answered_at": ledger.now_iso(), "event": f"jevhook {command}", "kind": "other", "decision": "none",
        "reason": reason, **facts,
    }  # fmt: skip
    ledger.append(record, env, str(made.ledger.get("path") or ""))
