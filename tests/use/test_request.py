"""A request: what is none is refused by its field, what no judge can answer as it stands is handed back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jevhook import RequestError, check, pick, rate
from jevhook.use import request
from jevhook.use.request import make, read, tokens

Q = {"type": "noul", "question": "Is it green?"}

REFUSED: list[tuple[Any, str]] = [
    # (request, the field that the message starts with)
    ([], "request"),
    ("text", "request"),
    (None, "request"),
    ({}, "state"),
    ({"state": None, "questions": [Q]}, "state"),
    ({"state": "", "questions": [Q]}, "state"),
    ({"state": " \n", "questions": [Q]}, "state"),
    ({"state": {}, "questions": [Q]}, "state"),
    ({"state": 5, "questions": [Q]}, "state"),
    ({"state": True, "questions": [Q]}, "state"),
    ({"state": {"a": float("nan")}, "questions": [Q]}, "state"),
    ({"state": {"a": {1, 2}}, "questions": [Q]}, "state"),
    ({"document": "x", "questions": [Q]}, "document"),
    ({"state": "x"}, "questions"),
    ({"state": "x", "questions": None}, "questions"),
    ({"state": "x", "questions": []}, "questions"),
    ({"state": "x", "questions": "Is it?"}, "questions"),
    ({"state": "x", "questions": {"a": Q}}, "questions"),
    ({"state": "x", "questions": ["Is it?"]}, "questions[0]"),
    ({"state": "x", "questions": [Q, 5]}, "questions[1]"),
    ({"state": "x", "questions": [{"question": "Is it?"}]}, "questions[0].type"),
    ({"state": "x", "questions": [{"type": 3, "question": "Is it?"}]}, "questions[0].type"),
    ({"state": "x", "questions": [{"type": "noul"}]}, "questions[0].question"),
    ({"state": "x", "questions": [{"type": "noul", "question": 5}]}, "questions[0].question"),
    ({"state": "x", "questions": [Q, {**Q, "id": ""}]}, "questions[1].id"),
    ({"state": "x", "questions": [{**Q, "id": " "}]}, "questions[0].id"),
    ({"state": "x", "questions": [{**Q, "id": 7}]}, "questions[0].id"),
    ({"state": "x", "questions": [{**Q, "instructions": "y"}]}, "questions[0].instructions"),
    ({"state": "x", "questions": [Q], "confidenceThreshold": "0.5"}, "confidenceThreshold"),
    ({"state": "x", "questions": [Q], "confidenceThreshold": True}, "confidenceThreshold"),
    ({"state": "x", "questions": [Q], "confidenceThreshold": 1.1}, "confidenceThreshold"),
    ({"state": "x", "questions": [Q], "confidenceThreshold": -0.1}, "confidenceThreshold"),
    ({"state": "x", "questions": [Q], "confidenceThreshold": float("nan")}, "confidenceThreshold"),
    ({"state": "x", "questions": [Q], "confidence_threshold": 2}, "confidence_threshold"),
    ({"state": "x", "questions": [Q], "confidence_threshold": 0.5, "confidenceThreshold": 0.5}, "confidence_threshold"),
    ({"state": "x", "questions": [Q], "model": 5}, "model"),
    ({"state": "x", "questions": [Q], "model": " "}, "model"),
    ({"state": "x", "questions": [Q], "treshold": 0.5}, "treshold"),
]


@pytest.mark.parametrize(("value", "field"), REFUSED, ids=[f"{n}-{f}" for n, (_, f) in enumerate(REFUSED)])
def test_what_is_no_request_is_refused_by_its_field(value: Any, field: str) -> None:
    with pytest.raises(RequestError) as wrong:
        read(value)
    assert wrong.value.field == field
    assert str(wrong.value).startswith(f"{field}: ")


HANDED_BACK: list[tuple[dict[str, Any], str]] = [
    # (question, the field that the fault names)
    ({"type": "essay", "question": "Write it."}, "type"),
    ({"type": "noul", "question": ""}, "question"),
    ({"type": "noul", "question": "  "}, "question"),
    ({"type": "noul", "question": {}}, "question"),
    ({"type": "noul", "question": {"a": float("inf")}}, "question"),
    ({"type": "score", "question": "How?", "levels": [{"a": object()}, "b"]}, "question"),
    ({"type": "noul", "question": "Is it?", "criteria": {"true": "yes"}}, "criteria.false"),
    ({"type": "noul", "question": "Is it?", "criteria": {"false": "no"}}, "criteria.true"),
    ({"type": "noul", "question": "Is it?", "criteria": {"true": "yes", "false": ""}}, "criteria.false"),
    ({"type": "noul", "question": "Is it?", "criteria": {"true": "y", "false": "n", "maybe": "?"}}, "criteria.maybe"),
    ({"type": "noul", "question": "Is it?", "criteria": "yes"}, "criteria"),
    ({"type": "noul", "question": "Is it?", "options": ["a", "b"]}, "options"),
    ({"type": "choice", "question": "Which?"}, "options"),
    ({"type": "choice", "question": "Which?", "options": []}, "options"),
    ({"type": "choice", "question": "Which?", "options": ["a"]}, "options"),
    ({"type": "choice", "question": "Which?", "options": {"a": "x"}}, "options"),
    ({"type": "choice", "question": "Which?", "options": ["a", ""]}, "options[1]"),
    ({"type": "choice", "question": "Which?", "options": ["a", 2]}, "options[1]"),
    ({"type": "choice", "question": "Which?", "options": ["a", "b", "a"]}, "options[2]"),
    ({"type": "choice", "question": "Which?", "options": ["a", "a "]}, "options"),
    ({"type": "choice", "question": "Which?", "options": {"a": "x", "b": ""}}, "options.b"),
    ({"type": "choice", "question": "Which?", "options": "a, b"}, "options"),
    ({"type": "choice", "question": "Which?", "options": ["a", "b"], "levels": ["x", "y"]}, "levels"),
    ({"type": "choice", "question": "Which?", "options": [str(n) for n in range(256)]}, "options"),
    ({"type": "score", "question": "How?"}, "levels"),
    ({"type": "score", "question": "How?", "levels": ["one"]}, "levels"),
    ({"type": "score", "question": "How?", "levels": ["one", ""]}, "levels[1]"),
    ({"type": "score", "question": "How?", "levels": {"0": "one", "1": "two"}}, "levels"),
    ({"type": "score", "question": "How?", "levels": [str(n) for n in range(11)]}, "levels"),
    ({"type": "score", "question": "How?", "levels": ["a", "b"], "criteria": {"true": "x", "false": "y"}}, "criteria"),
]


@pytest.mark.parametrize(("question", "field"), HANDED_BACK, ids=[f"{n}-{f}" for n, (_, f) in enumerate(HANDED_BACK)])
def test_a_question_that_cannot_be_asked_is_handed_back_and_its_neighbours_are_not(
    question: dict[str, Any], field: str
) -> None:
    bad, good = read({"state": "x", "questions": [question, Q]}).questions
    assert bad.wire is None and bad.fault.startswith(f"questions[0].{field}: ")
    assert good.wire is not None and good.fault == ""


def test_an_id_that_stands_twice_is_handed_back_the_second_time() -> None:
    first, second, third = read({"state": "x", "questions": [{**Q, "id": "q1"}, Q, {**Q, "id": "a"}]}).questions
    assert (first.fault, third.fault) == ("", "")
    assert second.id == "q1" and second.fault.startswith("questions[1].id: ")


ASKED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (check("Is it?"), {"type": "noul", "instructions": "Is it?"}),
    (
        check("Is it?", true="y", false="n"),
        {"type": "noul", "instructions": "Is it?", "criteria": {"true": "y", "false": "n"}},
    ),
    (check({"ask": "Is it?"}), {"type": "noul", "instructions": {"ask": "Is it?"}}),
    (pick("Which?", ["a", "b"]), {"type": "choice", "instructions": "Which?", "criteria": {"a": "a", "b": "b"}}),
    (
        pick("Which?", {"a": "first", "b": None}),
        {"type": "choice", "instructions": "Which?", "criteria": {"a": "first", "b": None}},
    ),
    (rate("How?", ["low", "high"]), {"type": "score", "instructions": "How?", "criteria": ["low", "high"]}),
]


@pytest.mark.parametrize(("question", "native"), ASKED)
def test_the_builders_make_what_a_request_holds(question: dict[str, Any], native: dict[str, Any]) -> None:
    made = read({"state": "x", "questions": [json.loads(json.dumps(question))]})
    assert made.questions[0].wire == native


def test_ids_default_to_the_place_and_a_map_gives_its_names() -> None:
    assert [q.id for q in read({"state": "x", "questions": [Q, {**Q, "id": "own"}, Q]}).questions] == [
        "q0",
        "own",
        "q2",
    ]
    assert [q.id for q in make("x", {"one": Q, "two": check("?", id="two")}).questions] == ["one", "two"]
    with pytest.raises(RequestError, match=r"questions\.one\.id"):
        make("x", {"one": check("?", id="other")})


def test_both_spellings_of_the_threshold_are_read() -> None:
    for name in ("confidenceThreshold", "confidence_threshold"):
        assert read({"state": "x", "questions": [Q], name: 0.8}).threshold == 0.8
    assert read({"state": "x", "questions": [Q]}).threshold is None


@pytest.mark.parametrize(
    ("state", "count"),
    [("a", 1), ("abcd", 1), ("abcde", 2), ("ä" * 8, 2), ({"a": "b"}, 3), ({"ä": "b"}, 3), (["x"] * 3, 4)],
)
def test_tokens_are_a_quarter_of_the_characters_rounded_up(state: Any, count: int) -> None:
    assert tokens(state) == count


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
fields = st.fixed_dictionaries({}, optional=dict.fromkeys(request.QUESTION_FIELDS, json_values))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(json_values, st.fixed_dictionaries({"state": json_values, "questions": st.lists(fields, max_size=4)})))
def test_whatever_comes_is_read_or_refused_by_a_field(value: Any) -> None:
    try:
        made = read(value)
    except RequestError as wrong:
        assert wrong.field and str(wrong).isprintable()
    else:
        assert all((question.wire is None) == bool(question.fault) for question in made.questions)
