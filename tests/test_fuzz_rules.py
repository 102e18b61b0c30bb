"""Every example of every rule that asks or denies stays stopped in other words (``jevhook fuzz`` over the packs)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from jevhook.cli import fuzz
from jevhook.cli.judging import Bench, bench

HOME, CWD = "/home/dev", "/home/dev/work/shop"
PACKS = sorted((Path(__file__).parent.parent / "policies" / "rules").glob("*.toml"))
# From the packs themselves: the compiled rules keep one example each.
STOPPING: list[dict[str, Any]] = [
    rule
    for pack in PACKS
    for rule in tomllib.loads(pack.read_text(encoding="utf-8"))["rule"]
    if rule["severity"] in ("ask", "deny")
]

# What gets through today.  Each is a defect that is reported as xfailed; the test of a mended one says so.
RULES: dict[str, str] = {
    "database.drop-production": "$PROD_… is forgotten in text that is run through eval, a pipe, a script, make",
    "secrets.file": "a script that prints .env is read as one that uses it",
    "secrets.private": "the same",
}


@pytest.fixture(scope="module")
def made() -> Bench:
    return bench(None, HOME, CWD)


def shell_text(command: str) -> bool:
    """Whether an example is a shell line: some are SQL, which only means something to a database tool."""
    first = command.split()[0]
    return not (first.isalpha() and first.isupper()) and not command.startswith('{"tool"')


def weaker(made: Bench, rule: dict[str, Any]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    examples = rule["match"] if isinstance(rule["match"], list) else [rule["match"]]
    for example in filter(shell_text, examples):
        for name, text, got in fuzz.check(made, example, CWD)[1]:
            found.setdefault(name, (got, text))
    return found


@pytest.mark.parametrize("rule", STOPPING, ids=[rule["id"] for rule in STOPPING])
def test_no_rewrite_of_an_example_gets_a_weaker_decision(rule: dict[str, Any], made: Bench) -> None:
    found, known = weaker(made, rule), RULES.get(rule["id"])
    if known is None:
        assert found == {}
        return
    assert found, f"mended: remove the line of {rule['id']!r} from RULES in tests/test_fuzz_rules.py"
    pytest.xfail(known)


def test_a_known_gap_names_a_rule_and_a_rewrite_that_exist() -> None:
    assert set(RULES) <= {rule["id"] for rule in STOPPING}
