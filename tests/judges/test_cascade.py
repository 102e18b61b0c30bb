from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from jevhook.judges import JudgeReply
from jevhook.judges.cascade import Cascade, Tier
from jevhook.judges.embedded import EmbeddedJudge
from jevhook.systemone import wire

NOUL = wire.noul("Is it?")
CHOICE = wire.choice("Which?", {"a": None, "b": None})
SCORE = wire.score("How much?", ["none", "all"])


class Scripted:
    """A judge that answers what it is told and remembers what it was asked."""

    def __init__(self, name: str, answers: Mapping[str, Any] | None = None, kind: Any = "") -> None:
        self.name = name
        self.given = answers or {}
        self.kind = kind
        self.asked: list[list[str]] = []
        self.deadlines: list[float] = []

    def ask(self, state: Any, questions: Mapping[str, Any], deadline: float) -> JudgeReply:
        self.asked.append(list(questions))
        self.deadlines.append(deadline)
        reply = JudgeReply(self.name, self.name, model=f"{self.name}-1", usage={"input_tokens": 10})
        if self.kind:
            reply.error = wire.JudgeError(self.kind, f"{self.name} failed")
            reply.warnings = [{"type": "missing-answer", "question": name} for name in questions]
            return reply
        reply.answers, reply.warnings = wire.read_answers(questions, {"answers": dict(self.given)})
        return reply


def noul(p: float) -> dict[str, Any]:
    return {"type": "noul", "noul": p}


def run(
    tiers: list[tuple[Scripted, dict[str, Any]]],
    questions: Mapping[str, Any],
    calls: int = 9,
    capabilities: Mapping[str, str] | None = None,
) -> JudgeReply:
    made = [Tier(judge, **{"network": True, **more}) for judge, more in tiers]
    return Cascade(made, network_calls=calls, capabilities=capabilities).ask("state", questions, 4.0)


SURE: list[tuple[Any, dict[str, Any], dict[str, Any], bool]] = [
    # (question, the first tier's answer, its profile, whether the second tier is asked)
    (NOUL, noul(0.95), {}, False),
    (NOUL, noul(0.8), {}, False),
    (NOUL, noul(0.79), {}, True),
    (NOUL, noul(0.5), {}, True),
    (NOUL, noul(0.2), {}, False),
    (NOUL, noul(0.21), {}, True),
    (NOUL, noul(0.85), {"yes": 0.9}, True),
    (NOUL, noul(0.3), {"no": 0.4}, False),
    (NOUL, noul(7), {}, True),
    (NOUL, {"type": "refusal"}, {}, True),
    (CHOICE, {"type": "choice", "choice": "a", "probabilities": {"a": 0.7, "b": 0.3}}, {}, False),
    (CHOICE, {"type": "choice", "choice": "a", "probabilities": {"a": 0.55, "b": 0.45}}, {}, True),
    (CHOICE, {"type": "choice", "choice": "a", "probabilities": {"a": 0.55, "b": 0.45}}, {"min_choice": 0.5}, False),
    (CHOICE, {"type": "choice", "choice": "a"}, {}, False),
    (SCORE, {"type": "score", "score": 0.5, "probabilities": {"0": 0.5, "1": 0.5}}, {}, False),
]


@pytest.mark.parametrize(("question", "answer", "profile", "goes_on"), SURE)
def test_only_an_uncertain_answer_goes_on_to_the_next_tier(
    question: Any, answer: dict[str, Any], profile: dict[str, Any], goes_on: bool
) -> None:
    first, second = Scripted("a", {"q": answer}), Scripted("b", {"q": {"type": "refusal"}})
    reply = run([(first, profile), (second, {})], {"q": question})
    assert second.asked == ([["q"]] if goes_on else [])
    if answer.get("noul") != 7 and answer["type"] != "refusal":
        assert reply.answers["q"]["judge"] == "a", "the uncertain one stays when the next tier has none"


def test_a_later_answer_replaces_an_uncertain_one_and_the_last_counts_whatever_it_is() -> None:
    first, second = Scripted("a", {"q": noul(0.6)}), Scripted("b", {"q": noul(0.5)})
    reply = run([(first, {}), (second, {})], {"q": NOUL})
    assert (reply.answers["q"]["p"], reply.answers["q"]["judge"]) == (0.5, "b")
    assert reply.warnings == [] and reply.error is None
    assert [(t["judge"], t["asked"], t["kept"]) for t in reply.tiers] == [("a", 1, 0), ("b", 1, 0)]
    assert reply.usage == {"input_tokens": 20}
    assert (reply.model, reply.provider, reply.judge) == ("a-1", "a", "cascade(a>b)")


def test_the_next_tier_is_only_asked_what_is_open() -> None:
    first = Scripted("a", {"sure": noul(0.9), "unsure": noul(0.5)})
    second = Scripted("b", {"unsure": noul(0.1), "lost": noul(0.9)})
    reply = run([(first, {}), (second, {})], {"sure": NOUL, "unsure": NOUL, "lost": NOUL})
    assert second.asked == [["unsure", "lost"]]
    assert {name: answer["judge"] for name, answer in reply.answers.items()} == {
        "sure": "a",
        "unsure": "b",
        "lost": "b",
    }
    assert reply.warnings == []


def test_a_tier_that_is_trusted_on_nothing_that_is_asked_is_passed_over_and_the_next_one_asked() -> None:
    first, second = Scripted("a", {"q": noul(0.9)}), Scripted("b", {"q": noul(0.9)})
    reply = run([(first, {"trust": frozenset(["rate"])}), (second, {})], {"q": NOUL})
    assert (first.asked, second.asked) == ([], [["q"]])
    assert reply.answers["q"]["judge"] == "b"


def test_what_a_question_needs_is_declared_or_seen_by_its_type() -> None:
    tier = {"trust": frozenset(["classify"])}
    judge = Scripted("a")
    reply = run([(judge, tier)], {"n": NOUL, "c": CHOICE, "s": SCORE, "r": NOUL}, capabilities={"r": "relate"})
    assert judge.asked == [["n", "c"]]
    assert [w for w in reply.warnings if w["type"] == "untrusted"] == [
        {"type": "untrusted", "question": "s"},
        {"type": "untrusted", "question": "r"},
    ]


def test_nobody_is_asked_what_nobody_is_trusted_on() -> None:
    judge = Scripted("a")
    reply = run([(judge, {"trust": frozenset()})], {"q": NOUL})
    assert judge.asked == [] and reply.error is None
    assert reply.warnings == [{"type": "untrusted", "question": "q"}]


def test_inside_a_hook_only_one_tier_across_the_network_is_asked() -> None:
    first, second = Scripted("a", {"q": noul(0.5)}), Scripted("b", {"q": noul(0.9)})
    reply = run([(first, {}), (second, {})], {"q": NOUL}, calls=1)
    assert second.asked == []
    assert reply.answers["q"]["judge"] == "a"


def test_inside_a_hook_a_failed_call_is_the_call() -> None:
    first, second = Scripted("a", kind="timeout"), Scripted("b", {"q": noul(0.9)})
    reply = run([(first, {}), (second, {})], {"q": NOUL}, calls=1)
    assert second.asked == []
    assert reply.error is not None and reply.error.kind == "timeout"


def test_inside_a_hook_the_first_tier_with_a_question_is_the_one_asked() -> None:
    first, second = Scripted("a", {"n": noul(0.9)}), Scripted("b", {"n": noul(0.9)})
    third = Scripted("c", {"n": noul(0.9)})
    tiers: list[tuple[Scripted, dict[str, Any]]] = [
        (first, {"trust": frozenset(["rate"])}),
        (second, {}),
        (third, {}),
    ]
    reply = run(tiers, {"n": NOUL}, calls=1)
    assert (first.asked, second.asked, third.asked) == ([], [["n"]], [])
    assert reply.answers["n"]["judge"] == "b"


def test_a_judge_in_this_process_is_no_network_call() -> None:
    remote = Scripted("b", {"q": noul(0.9)})
    tiers = [Tier(EmbeddedJudge(), network=False), Tier(remote, network=True)]
    cascade = Cascade(tiers, network_calls=1)
    assert cascade.name == "cascade(embedded>b)"
    assert cascade.ask("state", {"q": NOUL}, 4).answers["q"]["judge"] == "b"


def test_a_question_whose_only_tier_was_not_asked_says_so() -> None:
    first, second = Scripted("a", {"n": noul(0.9)}), Scripted("b")
    questions = {"n": NOUL, "s": SCORE}
    reply = run([(first, {"trust": frozenset(["classify"])}), (second, {})], questions, calls=1)
    assert reply.warnings == [{"type": "not-asked", "question": "s"}]


@pytest.mark.parametrize(
    ("first", "second", "kind", "answered"),
    [
        ("timeout", "", "", True),
        ("timeout", "auth", "auth", False),
        ("", "auth", "", True),
    ],
)
def test_a_failure_is_an_error_only_when_nobody_answered_anything(
    first: str, second: str, kind: str, answered: bool
) -> None:
    given = {"q": noul(0.5)}
    reply = run([(Scripted("a", given, first), {}), (Scripted("b", given, second), {})], {"q": NOUL})
    assert ("" if reply.error is None else reply.error.kind) == kind
    assert bool(reply.answers) is answered
    failed = [w for w in reply.warnings if w["type"] == "tier-failed"]
    assert bool(failed) is (answered and bool(first or second))
    assert [t.get("error", "") for t in reply.tiers] == [first, second]


def test_an_outage_behind_the_embedded_judge_is_an_outage() -> None:
    tiers = [Tier(EmbeddedJudge(), network=False), Tier(Scripted("b", kind="unreachable"), network=True)]
    reply = Cascade(tiers, network_calls=1).ask("state", {"q": NOUL}, 4)
    assert reply.error is not None and reply.error.kind == "unreachable"


def test_all_tiers_share_one_deadline() -> None:
    class Slow(Scripted):
        def ask(self, state: Any, questions: Mapping[str, Any], deadline: float) -> JudgeReply:
            import time

            time.sleep(0.15)
            return super().ask(state, questions, deadline)

    first, second, third = Slow("a"), Slow("b"), Scripted("c", {"q": noul(0.9)})
    made = [Tier(judge, network=True) for judge in (first, second, third)]
    reply = Cascade(made, network_calls=9).ask("state", {"q": NOUL}, 0.25)
    assert first.deadlines[0] <= 0.25 and second.deadlines[0] <= 0.1
    assert third.asked == []
    assert reply.answers == {} and reply.latency_ms >= 300


def test_an_answer_to_something_else_is_not_taken() -> None:
    reply = run([(Scripted("a", {"q": noul(0.9), "x": noul(0.9)}), {})], {"q": NOUL})
    assert list(reply.answers) == ["q"]
    assert reply.warnings == [{"type": "unexpected-answer", "question": ""}]
