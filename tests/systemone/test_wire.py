from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jevhook.systemone import wire

NOUL = wire.noul("Does `command` delete data?", true="It deletes user data.", false="It deletes nothing.")
CHOICE = wire.choice("What now?", {"allow": "Routine.", "ask": "Unsure.", "deny": None})
SCORE = wire.score("How risky?", ["none", "low", "high", "extreme"])


def noul(p: Any) -> dict[str, Any]:
    return {"type": "noul", "noul": p}


def choice(label: Any, probabilities: Any, **more: Any) -> dict[str, Any]:
    return {"type": "choice", "choice": label, "probabilities": probabilities, **more}


def score(value: Any, probabilities: Any, **more: Any) -> dict[str, Any]:
    return {"type": "score", "score": value, "probabilities": probabilities, **more}


# ------------------------------------------------------------------------------------------------ questions


def test_questions_are_built_exactly_as_they_go_over_the_wire() -> None:
    assert NOUL == {
        "type": "noul",
        "instructions": "Does `command` delete data?",
        "criteria": {"true": "It deletes user data.", "false": "It deletes nothing."},
    }
    assert wire.noul("Is it?") == {"type": "noul", "instructions": "Is it?"}
    assert wire.noul("Is it?", false="no") == {"type": "noul", "instructions": "Is it?", "criteria": {"false": "no"}}
    assert wire.choice({"ask": "which"}, {"a": None, "b": "B"}) == {
        "type": "choice",
        "instructions": {"ask": "which"},
        "criteria": {"a": None, "b": "B"},
    }
    assert wire.score(["how"], ["x", "y"]) == {"type": "score", "instructions": ["how"], "criteria": ["x", "y"]}


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: wire.noul(""), "instructions"),
        (lambda: wire.noul("  \n"), "instructions"),
        (lambda: wire.noul(None), "instructions"),
        (lambda: wire.noul(7), "instructions"),
        (lambda: wire.noul({}), "instructions"),
        (lambda: wire.noul("x", true=""), "criteria.true"),
        (lambda: wire.noul("x", false=3), "criteria.false"),
        (lambda: wire.choice("x", {"a": None}), "criteria"),
        (lambda: wire.choice("x", {f"o{i}": None for i in range(256)}), "criteria"),
        (lambda: wire.choice("x", ["a", "b"]), "criteria"),  # type: ignore[arg-type]
        (lambda: wire.choice("x", {"a": None, " ": None}), "criteria"),
        (lambda: wire.choice("x", {"a": None, "b": 3}), "criteria.b"),
        (lambda: wire.score("x", ["only"]), "levels"),
        (lambda: wire.score("x", [str(i) for i in range(11)]), "levels"),
        (lambda: wire.score("x", {"low": "a", "high": "b"}), "levels"),  # type: ignore[arg-type]
        (lambda: wire.score("x", ["a", None]), r"levels\[1\]"),
    ],
)
def test_a_question_that_no_service_takes_is_refused_by_the_name_of_its_field(build: Any, field: str) -> None:
    with pytest.raises(ValueError, match=f"^{field}:"):
        build()


@pytest.mark.parametrize("count", [2, 255])
def test_a_choice_takes_2_to_255_options(count: int) -> None:
    assert len(wire.choice("x", {f"o{i}": None for i in range(count)})["criteria"]) == count


# -------------------------------------------------------------------------------------------------- answers


def test_good_answers_are_read_with_our_own_confidence() -> None:
    questions = {"n": NOUL, "c": CHOICE, "s": SCORE}
    body = {
        "model": "jev-1.13.0",
        "answers": {
            "n": noul(0.07),
            "c": choice("ask", {"allow": 0.1, "ask": 0.8, "deny": 0.1}, confidence=0.31),
            "s": score(1.39, {"0": 0.02, "1": 0.62, "2": 0.31, "3": 0.05}, legend={}, confidence=0.57),
        },
    }
    answers, warnings = wire.read_answers(questions, body)
    assert warnings == []
    assert answers["n"] == {
        "type": "noul",
        "value": 0.07,
        "p": 0.07,
        "confidence": pytest.approx(0.86),
        "confidence_from": "estimated",
    }
    assert answers["c"] == {
        "type": "choice",
        "value": "ask",
        "probabilities": {"allow": 0.1, "ask": 0.8, "deny": 0.1},
        "confidence": pytest.approx(0.7),  # (0.8 - 1/3) / (1 - 1/3)
        "confidence_from": "reported",
        "reported_confidence": 0.31,
    }
    assert answers["s"]["value"] == 1.39
    # the mean distance from the middle of four levels is 1; the spread around level 1 is .02 + .31 + 2 * .05
    assert answers["s"]["confidence"] == pytest.approx(1 - 0.43)
    assert answers["s"]["reported_confidence"] == 0.57


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [([0.5, 0.5], 0.0), ([1.0, 0.0], 1.0), ([0.75, 0.25], 0.5), ([0.25] * 4, 0.0), ([0.4, 0.3, 0.3], 0.1)],
)
def test_a_choices_confidence_is_its_height_above_chance(probabilities: list[float], expected: float) -> None:
    assert wire.choice_confidence(probabilities) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([1.0, 0.0, 0.0], 1.0),
        ([0.0, 1.0, 0.0], 1.0),
        ([0.5, 0.0, 0.5], 0.0),
        ([0.25, 0.5, 0.25], 0.25),
        ([0.5, 0.5], 0.0),
    ],
)
def test_a_scores_confidence_is_how_narrow_it_is_around_its_mode(probabilities: list[float], expected: float) -> None:
    assert wire.score_confidence(probabilities) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("question", "answer", "why"),
    [
        (NOUL, None, "missing-answer"),
        (NOUL, 0.5, "wrong-type"),
        (NOUL, [], "wrong-type"),
        (NOUL, {"noul": 0.5}, "wrong-type"),
        (NOUL, {"type": "boolean", "noul": 0.5}, "wrong-type"),
        (NOUL, choice("allow", {"allow": 1}), "wrong-type"),
        (NOUL, {"type": "refusal", "reason": "no"}, "refusal"),
        (NOUL, {"type": "noul", "refusal": "I can't help"}, "refusal"),
        (NOUL, noul(True), "bad-number"),
        (NOUL, noul("0.5"), "bad-number"),
        (NOUL, noul(None), "bad-number"),
        (NOUL, noul(1.01), "bad-number"),
        (NOUL, noul(-0.01), "bad-number"),
        (NOUL, noul(math.nan), "bad-number"),
        (NOUL, noul(math.inf), "bad-number"),
        (NOUL, noul(10**400), "bad-number"),
        (CHOICE, choice("maybe", {"allow": 1.0}), "unexpected-label"),
        (CHOICE, choice(None, {"allow": 1.0}), "unexpected-label"),
        (CHOICE, choice(["allow"], {"allow": 1.0}), "unexpected-label"),
        (CHOICE, choice("Allow", {"allow": 1.0}), "unexpected-label"),
        (CHOICE, choice("allow", {"allow": 0.9, "other": 0.1}), "unexpected-label"),
        (CHOICE, choice("allow", {"allow": 0.9, "ask": 0.16}), "bad-distribution"),
        (CHOICE, choice("allow", {"allow": 0.9, "ask": 0.04}), "bad-distribution"),
        (CHOICE, choice("allow", {}), "bad-distribution"),
        (CHOICE, choice("allow", [1.0, 0, 0]), "bad-distribution"),
        (CHOICE, choice("allow", {"allow": True}), "bad-number"),
        (CHOICE, choice("allow", {"allow": math.nan, "ask": 1.0}), "bad-number"),
        (CHOICE, choice("allow", {"allow": 1.2, "ask": -0.2}), "bad-number"),
        (CHOICE, choice("allow", {"allow": 0.2, "deny": 0.8}), "inconsistent-answer"),
        (SCORE, score(3.5, {"3": 1.0}), "bad-number"),
        (SCORE, score(-1, {"0": 1.0}), "bad-number"),
        (SCORE, score(True, {"1": 1.0}), "bad-number"),
        (SCORE, score(1, {"1": 0.5, "4": 0.5}), "unexpected-label"),
        (SCORE, score(1, {"0": 0.4, "1": 0.4}), "bad-distribution"),
        (SCORE, score(0, {"0": 0.5, "3": 0.5}), "inconsistent-answer"),
    ],
)
def test_an_unusable_answer_is_no_answer_and_the_others_stand(question: Any, answer: Any, why: str) -> None:
    answers, warnings = wire.read_answers(
        {"bad": question, "good": NOUL}, {"answers": {"bad": answer, "good": noul(1)}}
    )
    assert list(answers) == ["good"]
    assert answers["good"]["p"] == 1.0
    assert warnings == [{"type": why, "question": "bad"}]


@pytest.mark.parametrize("body", [None, [], "x", {}, {"answers": None}, {"answers": []}, {"answers": "q"}])
def test_a_body_without_answers_answers_nothing(body: Any) -> None:
    answers, warnings = wire.read_answers({"a": NOUL, "b": CHOICE}, body)
    assert answers == {}
    assert [w["type"] for w in warnings] == ["missing-answer", "missing-answer"]


def test_an_answer_that_nobody_asked_for_is_noted_without_its_name() -> None:
    answers, warnings = wire.read_answers({"a": NOUL}, {"answers": {"a": noul(0.5), "evil\nname": noul(0.1)}})
    assert list(answers) == ["a"]
    assert warnings == [{"type": "unexpected-answer", "question": ""}]


@pytest.mark.parametrize("total", [0.95, 0.99, 1.0, 1.01, 1.05])
def test_probabilities_may_miss_one_by_their_rounding(total: float) -> None:
    answers, _ = wire.read_answers({"c": CHOICE}, {"answers": {"c": choice("ask", {"ask": total - 0.1, "deny": 0.1})}})
    assert answers["c"]["value"] == "ask"
    assert answers["c"]["probabilities"] == {"allow": 0.0, "ask": pytest.approx(total - 0.1), "deny": 0.1}


def test_without_a_distribution_the_services_confidence_is_all_there_is() -> None:
    bare = {"type": "choice", "choice": "ask"}
    answers, _ = wire.read_answers({"c": CHOICE}, {"answers": {"c": {**bare, "confidence": 0.4}}})
    assert (answers["c"]["confidence"], answers["c"]["confidence_from"]) == (0.4, "reported")
    answers, _ = wire.read_answers({"c": CHOICE}, {"answers": {"c": bare}})
    assert (answers["c"]["confidence"], answers["c"]["confidence_from"]) == (0.0, "estimated")


@pytest.mark.parametrize("nonsense", [1.5, -1, True, "0.9", math.nan, None, {}])
def test_a_reported_confidence_that_is_none_is_left_out(nonsense: Any) -> None:
    sent = choice("ask", {"allow": 0.1, "ask": 0.8, "deny": 0.1}, confidence=nonsense)
    answers, warnings = wire.read_answers({"c": CHOICE}, {"answers": {"c": sent}})
    assert "reported_confidence" not in answers["c"]
    assert answers["c"]["confidence_from"] == "estimated"
    assert warnings == []


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(ANY_JSON, ANY_JSON, ANY_JSON)
def test_whatever_a_service_sends_reading_never_raises_and_keeps_numbers_in_range(a: Any, b: Any, c: Any) -> None:
    sent = {"n": noul(a), "c": choice(b, {"allow": a, "ask": b, "deny": c}, confidence=c), "s": score(a, b)}
    answers, _ = wire.read_answers({"n": NOUL, "c": CHOICE, "s": SCORE}, {"answers": sent})
    for answer in answers.values():
        assert 0 <= answer["confidence"] <= 1
        assert all(0 <= p <= 1 for p in answer.get("probabilities", {}).values())


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.001, 1), min_size=4, max_size=4), st.integers(2, 4))
def test_a_rounded_honest_distribution_is_always_accepted(weights: list[float], places: int) -> None:
    total = sum(weights)
    ps = [round(w / total, places) for w in weights]
    mean = round(sum(i * w / total for i, w in enumerate(weights)), places)
    answers, warnings = wire.read_answers(
        {"s": SCORE}, {"answers": {"s": score(mean, {str(i): p for i, p in enumerate(ps)})}}
    )
    assert warnings == []
    assert answers["s"]["value"] == mean


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 438, "output_tokens": 0}, {"input_tokens": 438, "output_tokens": 0}),
        ({"inputTokens": 12}, {"input_tokens": 12}),
        ({"input_tokens": 1.5, "output_tokens": True}, {}),
        ({"input_tokens": -1}, {}),
        ("many", {}),
    ],
)
def test_usage_is_read_in_both_spellings(usage: Any, expected: dict[str, int]) -> None:
    assert wire.read_usage({"usage": usage}) == expected


# -------------------------------------------------------------------------------------------- response JSON


def test_a_nan_costs_only_the_answer_that_holds_it() -> None:
    parsed = wire.decode(b'{"answers": {"a": {"type": "noul", "noul": NaN}, "b": {"type": "noul", "noul": 0.25}}}')
    answers, warnings = wire.read_answers({"a": NOUL, "b": NOUL}, parsed)
    assert answers["b"]["p"] == 0.25
    assert warnings == [{"type": "bad-number", "question": "a"}]


@pytest.mark.parametrize(
    "body",
    [
        b'{"answers": {"a": {"type": "noul", "noul": 0.1, "noul": 0.9}}}',
        b'{"answers": {}, "answers": {}}',
        b"",
        b"   ",
        b"{",
        b"not json",
        b'{"a": 1} trailing',
        b")]}'\n{}",
        b"\xff\xfe{\x00}\x00",
        b"\x1f\x8b\x08\x00garbage",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_is_not_one_unambiguous_json_value_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):
        wire.decode(body)


def test_a_lone_surrogate_does_not_cost_the_whole_request() -> None:
    sent = wire.encode({"state": {"command": "rm caf\udce9", "emoji": "\U0001f600"}})
    assert json.loads(sent) == {"state": {"command": "rm caf?", "emoji": "\U0001f600"}}


# --------------------------------------------------------------------------------------------------- errors

ERRORS: list[tuple[int, Any, str]] = [
    # {"detail": {error_type, message}}
    (401, {"detail": {"error_type": "authentication_error", "message": "Invalid API key sk-live-123"}}, "auth"),
    (403, {"detail": {"error_type": "authentication_error", "message": "Must supply an API key!"}}, "auth"),
    (400, {"detail": {"error_type": "api_usage_error", "message": "Unknown model: jev-0"}}, "bad_request"),
    (400, {"detail": {"error_type": "max_tokens_exceeded"}}, "oversized"),
    (422, {"detail": {"error_type": "max_tokens_exceeded"}}, "oversized"),
    (429, {"detail": {"error_type": "rate_limit", "message": "Too many requests"}}, "rate_limited"),
    (529, {"detail": {"error_type": "overloaded", "message": "Overloaded"}}, "server"),
    # {"detail": [{loc, msg, type, input}]}
    (422, {"detail": [{"loc": ["body", "state"], "msg": "Field required", "type": "missing"}]}, "bad_request"),
    (
        422,
        {"detail": [{"loc": ["body"], "msg": "x", "type": "y", "input": "sk-live-123 my secret state"}]},
        "bad_request",
    ),
    # {"detail": "…"}
    (403, {"detail": "Forbidden"}, "auth"),
    # {"error": {message, code|type}}
    (401, {"error": {"message": "No auth credentials found", "code": 401}}, "auth"),
    (402, {"error": {"message": "Insufficient credits", "code": 402}}, "payment"),
    (403, {"error": {"message": "needs a card on file", "type": "customer_verification_required"}}, "payment"),
    (403, {"error": {"message": "Key limit exceeded: out of credits", "code": 403}}, "payment"),
    (403, {"error": {"message": "slow down", "type": "rate_limit_exceeded"}}, "rate_limited"),
    (403, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "oversized"),
    (429, {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota"}}, "payment"),
    (404, {"error": {"message": "No endpoints found for model", "code": 404}}, "bad_request"),
    (413, {"error": {"message": "Request too large", "code": 413}}, "oversized"),
    (502, {"error": {"message": "Provider returned error", "code": 502}}, "server"),
    (500, {"error": {"message": "unknown question type", "type": "invalid_request_error"}}, "server"),
    # {"error": "…"}
    (400, {"error": "`questions.q.criteria` must have 2 to 26 entries, got 27."}, "bad_request"),
    (404, {"error": "model 'nimble' not found"}, "bad_request"),
    (413, {"error": "request body too large"}, "oversized"),
    # {"message", "error_type"}
    (401, {"message": "Authentication failed.", "error_type": "authentication_error"}, "auth"),
    (403, {"message": "verify", "error_type": "customer_verification_required"}, "payment"),
    # {"errors": [{code, message}]}
    (401, {"success": False, "errors": [{"code": 10000, "message": "Authentication error"}]}, "auth"),
    (403, {"success": False, "errors": [{"code": 10000, "message": "Authentication error"}]}, "auth"),
    (429, {"success": False, "errors": [{"code": 3040, "message": "Capacity temporarily exceeded"}]}, "rate_limited"),
    (429, {"success": False, "errors": [{"code": 4006, "message": "daily free allocation used"}]}, "payment"),
    (413, {"success": False, "errors": [{"code": 5021, "message": "65536"}]}, "oversized"),
    (422, {"success": False, "errors": [{"code": 5012, "message": "validation"}]}, "bad_request"),
    (529, {"success": False, "errors": [{"code": 5012, "message": "inference failed"}]}, "server"),
    # no envelope at all
    (401, b"", "auth"),
    (403, b"<html>Forbidden</html>", "auth"),
    (429, b"slow", "rate_limited"),
    (500, b"\xff\x00", "server"),
    (503, b"", "server"),
    (302, b"", "invalid_response"),
    (204, b"", "invalid_response"),
    (418, b"[]", "bad_request"),
    (408, b"null", "timeout"),
]


@pytest.mark.parametrize(("status", "body", "kind"), ERRORS)
def test_an_error_is_named_by_its_type_and_never_quotes_the_service(status: int, body: Any, kind: str) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    error = wire.error_from(status, data, "typesafe", "TYPESAFE_API_KEY")
    assert (error.kind, error.status) == (kind, status)
    assert "typesafe" in error.message
    assert "\n" not in error.message
    for secret in ("sk-live-123", "my secret state", "card on file", "<html>"):
        assert secret not in error.message


def test_a_refused_key_is_told_by_its_variable() -> None:
    assert "TYPESAFE_API_KEY" in wire.error_from(401, b"", "typesafe", "TYPESAFE_API_KEY").message
    assert "none is configured" in wire.error_from(401, b"", "local", "").message
    assert "TYPESAFE_API_KEY" in wire.error_from(402, b"", "typesafe", "TYPESAFE_API_KEY").message


def test_an_unknown_model_is_told_as_such() -> None:
    body = json.dumps({"detail": {"error_type": "api_usage_error", "message": "Unknown model: x"}}).encode()
    assert "check model" in wire.error_from(400, body, "typesafe", "K").message


@settings(max_examples=150, deadline=None)
@given(st.integers(200, 599), ANY_JSON, ANY_JSON)
def test_any_error_body_gives_one_short_line(status: int, a: Any, b: Any) -> None:
    body = json.dumps({"error": a, "detail": b, "errors": [a, b], "message": a}).encode()
    error = wire.error_from(status, body, "svc", "VAR")
    assert len(error.message) < 200
