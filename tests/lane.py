"""Driving the hook as a host does: real processes, a private home, the ledger read back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from jevhook import ledger

_SCRIPT = Path(sys.executable).with_name("jevhook")
PROGRAM = [str(_SCRIPT)] if _SCRIPT.exists() else [sys.executable, "-m", "jevhook"]

# Rules of our own, so that no rule pack has to stay as it is for these tests.
RULES = """
[[rule]]
id = "team.high"
program = ["frob-high"]
severity = "ask"
stakes = "high"
reason = "High stakes."

[[rule]]
id = "team.medium"
program = ["frob-medium"]
severity = "ask"
stakes = "medium"
reason = "Medium stakes."

[[rule]]
id = "team.low"
program = ["frob-low"]
severity = "ask"
stakes = "low"
reason = "Low stakes."

[[rule]]
id = "team.deny"
program = ["frob-deny"]
severity = "deny"
reason = "Never."

[[rule]]
id = "team.note"
program = ["frob-note"]
severity = "note"
reason = "Only noted."
"""


class Ran:
    """What one hook process did: ``answer`` is the JSON on stdout or None, ``entries`` all lines of the ledger."""

    def __init__(self, process: subprocess.CompletedProcess[bytes], entries: list[dict[str, Any]]) -> None:
        self.code = process.returncode
        self.stdout = process.stdout
        self.stderr = process.stderr.decode("utf-8", "replace").splitlines()
        self.answer = json.loads(process.stdout) if process.stdout else None
        self.entries = entries

    @property
    def entry(self) -> dict[str, Any]:
        return self.entries[-1]

    @property
    def said(self) -> dict[str, Any]:
        """The answer's inner part without the event's name, {} for silence."""
        return {} if self.answer is None else {
            k: v for k, v in self.answer["hookSpecificOutput"].items() if k != "hookEventName"
        }  # fmt: skip

    @property
    def decision(self) -> str:
        return str(self.said.get("permissionDecision") or ("context" if "additionalContext" in self.said else "none"))


class Lane:
    """A home and a project; ``hook`` runs one process on one event."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project
        self.env = {"HOME": str(home), "PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"}
        self.config(RULES)
        self.calls = 0

    def config(self, text: str) -> None:
        place = self.home / ".config" / "jevhook"
        place.mkdir(parents=True, exist_ok=True)
        (place / "config.toml").write_text(text)

    def claude(self, command: str = "ls", **over: Any) -> dict[str, Any]:
        self.calls += 1
        return {
            "session_id": "s-1",
            "transcript_path": "",
            "cwd": str(self.project),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": "Something"},
            "tool_use_id": f"toolu_{self.calls}",
            **over,
        }

    def codex(self, command: str = "ls", **over: Any) -> dict[str, Any]:
        self.calls += 1
        return {
            "session_id": "s-1",
            "turn_id": "t-1",
            "transcript_path": None,
            "cwd": str(self.project),
            "hook_event_name": "PreToolUse",
            "model": "m",
            "permission_mode": "default",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": f"call_{self.calls}",
            **over,
        }

    def ran(self, before: dict[str, Any], **over: Any) -> dict[str, Any]:
        """The after-tool event of a before-tool event."""
        result = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False}
        response = "ok" if "turn_id" in before else result
        return {**before, "hook_event_name": "PostToolUse", "tool_response": response, **over}

    def hook(self, event: Any, *arguments: str, env: dict[str, str] | None = None, **over: Any) -> Ran:
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        given = {**self.env, **(env or {})}
        words = over.pop("words", ["hook"])
        over.setdefault("stdout", subprocess.PIPE)
        process = subprocess.run(
            [*over.pop("program", PROGRAM), *words, *arguments],
            input=data,
            stderr=subprocess.PIPE,
            env={k: v for k, v in given.items() if v is not None},
            cwd=over.pop("cwd", self.project),
            timeout=60,  # a hook that is not let run may take half of that
            **over,
        )
        return Ran(process, self.ledger())

    def ledger(self) -> list[dict[str, Any]]:
        return list(ledger.read({"HOME": str(self.home)}))
