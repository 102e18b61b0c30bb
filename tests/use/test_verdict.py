"""Verdicts: confidence, thresholds, reasons and hints, case by case."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jevhook import route
from jevhook.systemone import wire
from jevhook.use.verdict import Verdict, handed_back, judged

NOUL = wire.noul("Is it?")
CHOICE = wire.choice("Which?", {"a": "a", "b": "b", "c": "c"})
SCORE = wire.score("How?", ["low", "middle", "high"])


def verdict(question: dict[str, Any], native: dict[str, Any], threshold: float | None = None) -> Verdict:
    answers, warnings = wire.read_answers({"x": question}, {"answers": {"x": native}})
    assert warnings == []
    return judged("x", question, answers["x"], threshold)


def noul(p: float) -> dict[str, Any]:
    return {"type": "noul", "noul": p}


def choice(label: str, sent: dict[str, float] | None, confidence: float | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "choice", "choice": label}
    if sent is not None:
        made["probabilities"] = sent
    if confidence is not None:
        made["confidence"] = confidence
    return made


def score(value: float, sent: list[float] | None, confidence: float | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "score", "score": value}
    if sent is not None:
        made["probabilities"] = {str(index): p for index, p in enumerate(sent)}
    if confidence is not None:
        made["confidence"] = confidence
    return made


CASES: list[tuple[dict[str, Any], dict[str, Any], float | None, Any, float, str, bool]] = [
    # question, what the service says, threshold, answer, confidence, its source, escalates
    (NOUL, noul(1.0), None, 1.0, 1.0, "estimated", False),
    (NOUL, noul(0.0), None, 0.0, 1.0, "estimated", False),
    (NOUL, noul(0.7), None, 0.7, 0.4, "estimated", False),  # the threshold itself is enough
    (NOUL, noul(0.3), None, 0.3, 0.4, "estimated", False),
    (NOUL, noul(0.69), None, 0.69, 0.38, "estimated", True),
    (NOUL, noul(0.5), None, 0.5, 0.0, "estimated", True),
    (NOUL, noul(0.5), 0.0, 0.5, 0.0, "estimated", False),
    (NOUL, noul(0.123456), None, 0.123456, 0.7531, "estimated", False),  # four decimals
    (NOUL, noul(0.9), 0.9, 0.9, 0.8, "estimated", True),
    (CHOICE, choice("a", {"a": 0.7, "b": 0.2, "c": 0.1}), None, "a", 0.5, "estimated", False),
    (CHOICE, choice("a", {"a": 0.6, "b": 0.3, "c": 0.1}), None, "a", 0.3, "estimated", True),
    (CHOICE, choice("a", {"a": 0.6, "b": 0.3, "c": 0.1}, 0.9), None, "a", 0.9, "reported", False),
    (CHOICE, choice("a", {"a": 0.9, "b": 0.1}, 0.45), None, "a", 0.45, "reported", True),  # reported wins
    (CHOICE, choice("a", {"a": 0.9, "b": 0.1}, 0.5), None, "a", 0.5, "reported", False),
    (CHOICE, choice("a", {"a": 0.9, "b": 0.1}, 0.5), 0.6, "a", 0.5, "reported", True),
    (CHOICE, choice("a", {"a": 0.9, "b": 0.1}, 0.3), 0.2, "a", 0.3, "reported", False),
    (CHOICE, choice("b", {"b": 1.0}), None, "b", 1.0, "estimated", False),
    (CHOICE, choice("b", None), None, "b", 0.0, "estimated", True),
    (CHOICE, choice("b", None, 0.8), None, "b", 0.8, "reported", False),
    (SCORE, score(1.9, [0.0, 0.1, 0.9]), None, 1.9, 0.8, "estimated", False),
    (SCORE, score(1.0, [0.3, 0.4, 0.3]), None, 1.0, 0.1, "estimated", True),
    (SCORE, score(1.0, [0.3, 0.4, 0.3], 0.6), None, 1.0, 0.6, "reported", False),
    (SCORE, score(1.2, None), None, 1.2, 0.0, "estimated", True),
]


@pytest.mark.parametrize(("question", "native", "threshold", "answer", "confidence", "source", "escalates"), CASES)
def test_an_answer_becomes_a_verdict(
    question: dict[str, Any],
    native: dict[str, Any],
    threshold: float | None,
    answer: Any,
    confidence: float,
    source: str,
    escalates: bool,
) -> None:
    made = verdict(question, native, threshold)
    assert (made.id, made.type, made.answer) == ("x", question["type"], answer)
    assert (made.confidence, made.confidence_from, made.escalate) == (confidence, source, escalates)
    printed = made.json()
    assert ("reason" in printed, "hint" in printed) == (escalates, escalates)
    if escalates:
        assert made.reason == "unsure"
        needed = threshold if threshold is not None else 0.5 if source == "reported" else 0.4
        for word in (
            repr(answer) if isinstance(answer, str) else f"{answer:g}",
            source,
            f"{confidence:g}",
            f"{needed:g}",
        ):
            assert word in made.hint
        assert "prior" in made.hint


def test_the_distribution_and_the_legend_are_handed_on() -> None:
    assert verdict(CHOICE, choice("a", {"a": 0.9, "b": 0.1})).json()["distribution"] == {"a": 0.9, "b": 0.1, "c": 0.0}
    made = verdict(SCORE, score(2.0, [0.0, 0.0, 1.0])).json()
    assert made["distribution"] == {"0": 0.0, "1": 0.0, "2": 1.0}
    assert made["legend"] == {"0": "low", "1": "middle", "2": "high"}
    assert set(verdict(NOUL, noul(0.9)).json()) == {"id", "type", "answer", "confidence", "confidenceFrom", "escalate"}


def test_a_question_without_an_answer_has_no_source() -> None:
    assert handed_back("x", "noul", "unreachable", "why").json() == {
        "id": "x",
        "type": "noul",
        "answer": None,
        "confidence": 0.0,
        "escalate": True,
        "reason": "unreachable",
        "hint": "why",
    }


@pytest.mark.parametrize(
    ("content", "enumerable", "to", "reason"),
    [
        (True, True, "llm", "writing"),
        (True, False, "llm", "writing"),
        (False, False, "llm", "open_ended"),
        (False, True, "jev", None),
    ],
)
def test_what_is_to_be_written_or_cannot_be_listed_is_not_for_a_judge(
    content: bool, enumerable: bool, to: str, reason: str | None
) -> None:
    way = route(produces_content=content, enumerable=enumerable)
    assert (way.to, way.reason) == (to, reason)


numbers = (
    st.floats(allow_nan=True) | st.floats(0, 1) | st.integers(-2, 3) | st.booleans() | st.none() | st.text(max_size=3)
)
spread = st.dictionaries(st.sampled_from(["a", "b", "c", "0", "1", "2", "x"]), st.floats(0, 1) | numbers, max_size=4)
natives = st.fixed_dictionaries(
    {"type": st.sampled_from(["noul", "choice", "score", "refusal"])},
    optional={
        "noul": numbers,
        "choice": st.sampled_from(["a", "b", "c", "x"]) | numbers,
        "score": numbers,
        "probabilities": spread | numbers,
        "confidence": numbers,
    },
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(natives, st.sampled_from([NOUL, CHOICE, SCORE]), st.none() | st.floats(0, 1))
def test_whatever_a_service_says_is_a_whole_verdict_or_no_answer(
    native: dict[str, Any], question: dict[str, Any], threshold: float | None
) -> None:
    answers, warnings = wire.read_answers({"x": question}, {"answers": {"x": native}})
    if not answers:
        assert len(warnings) == 1
        return
    made = judged("x", question, answers["x"], threshold)
    needed = threshold if threshold is not None else 0.5 if made.confidence_from == "reported" else 0.4
    assert 0 <= made.confidence <= 1 and made.answer is not None
    assert made.escalate == (made.confidence < needed) == (made.reason == "unsure") == bool(made.hint)
    assert made.confidence_from == ("estimated" if question is NOUL else made.confidence_from)
