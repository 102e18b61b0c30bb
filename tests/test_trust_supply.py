"""What holds on any machine of where jevhook comes from: imports, and the lock (scripts/trust_supply.py has the rest)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import trust_supply


def test_nothing_is_reached_at_import_and_the_hook_needs_nothing_of_posix() -> None:
    for row in trust_supply.imports():
        assert row["how many"] > 50, row
        assert (row["crashed"], row["let through"], row["note"]) == (0, 0, ""), row


def test_the_lock_has_the_pins_of_constraints_with_a_hash_each() -> None:
    (row,) = trust_supply.lock()
    assert row["how many"] > 8 and row["lost"] == 0, row


def test_the_lock_names_all_that_running_needs() -> None:
    import tomllib

    project = tomllib.loads((trust_supply.ROOT / "pyproject.toml").read_text())["project"]
    locked = [line.partition("==")[0] for line in trust_supply.LOCK.read_text().splitlines() if "==" in line]
    assert {name.partition(">")[0] for name in project["dependencies"]} <= set(locked)
