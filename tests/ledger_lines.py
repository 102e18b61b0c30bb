"""Ledger lines as the hook writes them, for tests that read the ledger."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jevhook import ledger
from jevhook.evidence.read import Counted, Wanted, entries

ROOT = str(Path(ledger.__file__).parents[1])


def line(number: int, **fields: Any) -> dict[str, Any]:
    """A ledger line as the hook writes it; ``point`` and ``subject`` are added to."""
    point = {"point": "tool.risk", "mode": "active", "source": "rules", "judged": "none", **fields.pop("point", {})}
    subject = {"session": "s1", "tool": "Bash", **fields.pop("subject", {})}
    made = {
        "schema": 1, "origin": "hook", "points": [point], "host": "claude", "event": "PreToolUse",
        "kind": "before-tool", "subject": subject, "policy": "default", "decision": "none", "id": f"{number:08}",
        "asked_at": f"2026-11-{1 + number // 86400:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
    }  # fmt: skip
    return {**made, **fields}


def write(*records: dict[str, Any], **limits: int) -> None:
    for record in records:
        assert ledger.append(record, os.environ, **limits)


def ids(wanted: Wanted = Wanted(), counted: Counted | None = None) -> list[int]:  # noqa: B008
    return [int(entry["id"]) for entry in entries(os.environ, "", wanted, counted=counted)]
