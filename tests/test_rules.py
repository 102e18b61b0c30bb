"""Every shipped rule shows itself: its examples hit it, its counter-examples don't, its suggestions pass."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from jevhook.event import Event
from jevhook.rules import compile_rules, glob, match
from jevhook.shell.calls import read_call, shell_call
from jevhook.shell.finding import Finding
from jevhook.shell.paths import Place
from jevhook.shell.world import RealWorld

PACKS = sorted((Path(__file__).parent.parent / "policies" / "rules").glob("*.toml"))
RAW: list[dict[str, Any]] = [
    {**rule, "pack": pack.stem, "layer": "shipped"}
    for pack in PACKS
    for rule in tomllib.loads(pack.read_text())["rule"]
]
TABLE, PROBLEMS = compile_rules(RAW)
HOME, CWD = "/home/dev", "/home/dev/work/shop"
PLACE = Place(RealWorld({"HOME": HOME, "USER": "dev"}), CWD, ["/home/dev/.config/jevhook"])


def findings(example: str) -> list[Finding]:
    """A command line, or a tool call as JSON: {"tool", "input", "annotations"}."""
    if not example.startswith('{"tool"'):
        return shell_call(example, CWD, PLACE).findings
    call = json.loads(example)
    raw = {"tool_annotations": call.get("annotations")}
    return read_call(
        Event("claude", "before-tool", "PreToolUse", tool=call["tool"], input=call["input"], cwd=CWD, raw=raw), PLACE
    ).findings


def hits(command: str) -> list[str]:
    return [hit.rule["id"] for hit in match(TABLE, findings(command))]


def stopped(command: str) -> list[str]:
    found = match(TABLE, findings(command))
    return [hit.rule["id"] for hit in found if hit.severity in ("ask", "deny")]


def test_every_shipped_rule_compiles() -> None:
    assert PROBLEMS == []


def test_a_rule_is_named_after_its_pack() -> None:
    short = {"filesystem": "fs", "kubernetes": "k8s"}
    for rule in RAW:
        assert rule["id"].split(".")[0] == short.get(rule["pack"], rule["pack"]), rule["id"]


@pytest.mark.parametrize(("name", "command"), [(r["id"], c) for r in RAW for c in r.get("match", [])])
def test_an_example_hits_its_rule(name: str, command: str) -> None:
    assert name in hits(command)


@pytest.mark.parametrize(("name", "command"), [(r["id"], c) for r in RAW for c in r.get("no_match", [])])
def test_a_counter_example_does_not_hit_its_rule(name: str, command: str) -> None:
    assert name not in hits(command)


@pytest.mark.parametrize(("name", "command"), [(r["id"], c) for r in RAW for c in r.get("suggest", [])])
def test_what_a_rule_suggests_is_let_through(name: str, command: str) -> None:
    assert stopped(command) == []


@pytest.mark.parametrize("rule", RAW, ids=[r["id"] for r in RAW])
def test_a_rule_that_speaks_has_an_example(rule: dict[str, Any]) -> None:
    assert rule.get("match"), "a rule without an example is a rule nobody has seen work"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            {"id": "x.y", "severity": "block", "reason": "r", "program": ["a"]},
            "severity is 'block'; use one of note, ask, deny",
        ),
        ({"id": "x.y", "severity": "ask", "reason": "r", "effect": "deletes"}, "effect 'deletes' does not exist"),
        (
            {"id": "x.y", "severity": "ask", "reason": "r", "effect": "delete", "target": ["hom"]},
            "target 'hom' does not exist",
        ),
        (
            {"id": "x.y", "severity": "ask", "reason": "r", "effect": "delete", "targets": ["home"]},
            "unknown key 'targets'",
        ),
        ({"id": "x.y", "severity": "ask", "effect": "delete"}, "a rule needs a reason"),
        ({"severity": "ask", "reason": "r"}, "a rule needs an id"),
        ({"id": "x.y", "severity": "ask", "reason": "r"}, "needs program, target or facts"),
        (
            {"id": "x.y", "severity": "ask", "reason": "r", "program": ["a"], "flags": ["-f"], "not_flags": ["-f"]},
            "can never match",
        ),
        ({"id": "x.y", "severity": "ask", "reason": "r", "program": []}, "needs program"),
        ({"id": "x.y", "severity": "ask", "reason": "r", "program": ["a"], "sub": []}, "can never match"),
        ({"id": "x.y", "severity": "ask", "reason": 3, "program": ["a"]}, "reason must be a text, found int"),
        (
            {"id": "x.y", "severity": "ask", "reason": "r", "program": "a", "unrecoverable": "yes"},
            "unrecoverable must be true or false",
        ),
        ({"id": "x.y", "severity": "ask", "reason": "r", "program": "a", "stakes": "huge"}, "stakes is 'huge'"),
    ],
)
def test_a_broken_rule_is_left_out_and_named(table: dict[str, Any], said: str) -> None:
    compiled, problems = compile_rules([table])
    assert compiled["rules"] == {}
    assert len(problems) == 1
    assert said in problems[0]


def test_the_same_id_twice_keeps_the_first() -> None:
    rule = {"id": "x.y", "severity": "ask", "reason": "r", "program": ["a"]}
    compiled, problems = compile_rules([rule, {**rule, "severity": "deny"}])
    assert compiled["rules"]["x.y"]["severity"] == "ask"
    assert "used twice" in problems[0]


@pytest.mark.parametrize(
    ("pattern", "text", "same"),
    [
        ("a*", "abc", True), ("*c", "abc", True), ("a*c", "ac", True), ("a*b*c", "axxbyyc", True), ("a*b", "ab", True),
        ("abc", "ABC", True), ("a*bc", "abbc", True), ("ab*ba", "aba", False), ("*x*", "abc", False), ("", "", True), ("*", "", True),
    ],
)  # fmt: skip
def test_globs_match_whole_words(pattern: str, text: str, same: bool) -> None:
    assert glob(pattern, text) is same
