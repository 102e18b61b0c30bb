"""What rank, verify and review refuse before anything is asked: the code, the field, and nothing of a secret."""

from __future__ import annotations

from typing import Any

import pytest

from jevhook.use import rank, review, verify
from jevhook.use.bounded import Invalid
from jevhook.use.verdict import Result, Verdict

KEY = "sk-" + "a1B2c3D4e5F6g7H8" * 3
TWO = [{"id": "a", "description": "does this"}, {"id": "b", "description": "does that"}]
CLAIM = {"name": "tests", "claim": "All tests passed."}
DONE = {"delegate": "worker-1", "kind": "ok", "outputChars": 10}


def many(count: int) -> list[dict[str, str]]:
    return [{"id": f"c{at}", "description": "one"} for at in range(count)]


RANK: list[tuple[Any, str, str]] = [
    (["a"], "RANK_INPUT_INVALID", "request"),
    ({"state": "s", "candidates": TWO, "order": True}, "RANK_INPUT_INVALID", "order"),
    ({"state": "s", "candidates": TWO, "schemaVersion": 2}, "RANK_INPUT_INVALID", "schemaVersion"),
    ({"state": "s", "candidates": TWO, "schemaVersion": True}, "RANK_INPUT_INVALID", "schemaVersion"),
    ({"state": "s", "candidates": TWO, "mode": "verify"}, "RANK_INPUT_INVALID", "mode"),
    ({"state": "s", "candidates": TWO, "levels": ["one"]}, "RANK_INPUT_INVALID", "levels"),
    ({"state": "s", "candidates": TWO, "levels": ["one", "one"]}, "RANK_INPUT_INVALID", "levels[1]"),
    ({"candidates": TWO}, "STATE_INVALID", "state"),
    ({"state": " ", "candidates": TWO}, "STATE_INVALID", "state"),
    ({"state": {"a": 1}, "candidates": TWO}, "STATE_INVALID", "state"),
    ({"state": "x" * 12_001, "candidates": TWO}, "STATE_INVALID", "state"),
    ({"state": f"log in with {KEY}", "candidates": TWO}, "STATE_INVALID", "state"),
    ({"state": "s"}, "CANDIDATE_INVALID", "candidates"),
    ({"state": "s", "candidates": "a,b"}, "CANDIDATE_INVALID", "candidates"),
    ({"state": "s", "candidates": many(1)}, "CANDIDATE_INVALID", "candidates"),
    ({"state": "s", "candidates": many(9)}, "CANDIDATE_INVALID", "candidates"),
    ({"state": "s", "candidates": [*TWO, "c"]}, "CANDIDATE_INVALID", "candidates[2]"),
    ({"state": "s", "candidates": [*TWO, TWO[0]]}, "CANDIDATE_INVALID", "candidates[2].id"),
    (
        {"state": "s", "candidates": [*TWO, {"id": "none-of-these", "description": "d"}]},
        "CANDIDATE_INVALID",
        "candidates[2].id",
    ),
    ({"state": "s", "candidates": [*TWO, {"id": "-c", "description": "d"}]}, "CANDIDATE_INVALID", "candidates[2].id"),
    (
        {"state": "s", "candidates": [*TWO, {"id": "c" * 65, "description": "d"}]},
        "CANDIDATE_INVALID",
        "candidates[2].id",
    ),
    ({"state": "s", "candidates": [*TWO, {"id": "c\n", "description": "d"}]}, "CANDIDATE_INVALID", "candidates[2].id"),
    ({"state": "s", "candidates": [*TWO, {"id": "c"}]}, "CANDIDATE_INVALID", "candidates[2].description"),
    (
        {"state": "s", "candidates": [*TWO, {"id": "c", "description": "d" * 501}]},
        "CANDIDATE_INVALID",
        "candidates[2].description",
    ),
    (
        {"state": "s", "candidates": [*TWO, {"id": "c", "description": "d", "cost": 1}]},
        "CANDIDATE_INVALID",
        "candidates[2].cost",
    ),
]

VERIFY: list[tuple[Any, str, str]] = [
    ("claim", "VERIFY_INPUT_INVALID", "request"),
    ({"claims": [CLAIM], "evidence": "e"}, "VERIFY_INPUT_INVALID", "evidence"),
    ({"claims": [CLAIM], "state": ""}, "STATE_INVALID", "state"),
    ({"claims": [CLAIM], "state": "x" * 12_001}, "STATE_INVALID", "state"),
    ({"claims": [CLAIM], "state": f"token: {KEY}"}, "STATE_INVALID", "state"),
    ({}, "CLAIM_INVALID", "claims"),
    ({"claims": []}, "CLAIM_INVALID", "claims"),
    ({"claims": [{"name": f"n{at}", "claim": "c"} for at in range(5)]}, "CLAIM_INVALID", "claims"),
    ({"claims": [CLAIM, CLAIM]}, "CLAIM_INVALID", "claims[1].name"),
    ({"claims": [{"name": "a b", "claim": "c"}]}, "CLAIM_INVALID", "claims[0].name"),
    ({"claims": [{"name": "a", "claim": "\x1b[31mred\x1b[0m"}]}, "CLAIM_INVALID", "claims[0].claim"),
    ({"claims": [{"name": "a", "claim": 1}]}, "CLAIM_INVALID", "claims[0].claim"),
]

REVIEW: list[tuple[Any, str, str]] = [
    (None, "REVIEW_INPUT_INVALID", "request"),
    ({**DONE, "output": "text"}, "REVIEW_INPUT_INVALID", "output"),
    ({**DONE, "delegate": "/bin/sh"}, "REVIEW_INPUT_INVALID", "delegate"),
    ({**DONE, "kind": "fine"}, "REVIEW_INPUT_INVALID", "kind"),
    ({**DONE, "kind": ["ok"]}, "REVIEW_INPUT_INVALID", "kind"),
    ({**DONE, "outputChars": -1}, "REVIEW_INPUT_INVALID", "outputChars"),
    ({**DONE, "outputChars": True}, "REVIEW_INPUT_INVALID", "outputChars"),
    ({**DONE, "outputChars": 1.5}, "REVIEW_INPUT_INVALID", "outputChars"),
    ({**DONE, "durationMs": "long"}, "REVIEW_INPUT_INVALID", "durationMs"),
    ({**DONE, "criteria": ["c"] * 5}, "CRITERIA_INVALID", "criteria"),
    ({**DONE, "criteria": ["c" * 121]}, "CRITERIA_INVALID", "criteria[0]"),
    ({**DONE, "criteria": ["fine", "reads /etc/hosts"]}, "CRITERIA_INVALID", "criteria[1]"),
    ({**DONE, "criteria": ["changes src/app.py"]}, "CRITERIA_INVALID", "criteria[0]"),
    ({**DONE, "criteria": ["~/notes is there"]}, "CRITERIA_INVALID", "criteria[0]"),
    ({**DONE, "criteria": [r"writes C:\temp\x"]}, "CRITERIA_INVALID", "criteria[0]"),
    ({**DONE, "criteria": [f"uses {KEY}"]}, "CRITERIA_INVALID", "criteria[0]"),
    ({**DONE, "criteria": ["two\nlines"]}, "CRITERIA_INVALID", "criteria[0]"),
    ({**DONE, "levels": ["bad"] * 11}, "REVIEW_INPUT_INVALID", "levels"),
]

ALL = [
    *((rank.prepare, *row) for row in RANK),
    *((verify.prepare, *row) for row in VERIFY),
    *((review.prepare, *row) for row in REVIEW),
]


@pytest.mark.parametrize(("prepare", "request_", "code", "field"), ALL)
def test_a_bad_request_is_refused_by_code_and_field(prepare: Any, request_: Any, code: str, field: str) -> None:
    with pytest.raises(Invalid) as wrong:
        prepare(request_)
    assert (wrong.value.code, wrong.value.field) == (code, field)
    assert str(wrong.value).startswith(f"{code}: {field}: ")
    assert KEY not in str(wrong.value)


GOOD = [
    (rank.prepare, {"schemaVersion": 1, "mode": "rank", "state": "s", "candidates": many(8)}),
    (rank.prepare, {"state": "x" * 12_000, "candidates": TWO, "levels": [str(at) for at in range(10)]}),
    (verify.prepare, {"claims": [CLAIM]}),
    (verify.prepare, {"claims": [CLAIM], "state": "\x1b[32m12 passed\x1b[0m in 3 s", "mode": "verify"}),
    (review.prepare, DONE),
    (review.prepare, {**DONE, "durationMs": "na", "criteria": ["reads and/or writes", "ends in under 2 s"]}),
    (review.prepare, {**DONE, "durationMs": 0, "criteria": []}),
]


@pytest.mark.parametrize(("prepare", "request_"), GOOD)
def test_what_is_at_the_bounds_is_taken(prepare: Any, request_: Any) -> None:
    prepare(request_)


def test_a_review_sees_the_shape_and_nothing_else() -> None:
    state, questions, _ = review.prepare({**DONE, "durationMs": 900, "criteria": ["names the cause"]})
    assert state == {
        "delegate": "worker-1",
        "kind": "ok",
        "output_chars": 10,
        "duration_ms": 900,
        "criteria_count": 1,
    }
    assert all("names the cause" in question["question"] for question in questions)


def test_evidence_loses_its_colours_and_stays_apart_from_the_claims() -> None:
    state, questions, names = verify.prepare({"claims": [CLAIM], "state": "\x1b[32m12 passed\x1b[0m"})
    assert state == {"claims": {"c0": "All tests passed."}, "untrusted_evidence": "12 passed"}
    assert names == ["tests"]
    assert "12 passed" not in str(questions) and "All tests" not in str(questions)


@pytest.mark.parametrize(
    ("p", "verdict"),
    [
        (1, "PASS"),
        (0.66, "PASS"),
        (0.65, "UNVERIFIABLE"),
        (0.5, "UNVERIFIABLE"),
        (0.35, "UNVERIFIABLE"),
        (0.34, "FAIL"),
        (0.0, "FAIL"),
        (None, "BLOCK"),
        (True, "BLOCK"),
        (float("nan"), "BLOCK"),
        (1.01, "BLOCK"),
        (-0.01, "BLOCK"),
        ("0.9", "BLOCK"),
    ],
)
def test_only_a_probability_above_the_band_passes(p: Any, verdict: str) -> None:
    assert verify.band(p) == verdict


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ([0.9, 0.8], "PASS"),
        ([0.9, 0.5], "UNVERIFIABLE"),
        ([0.5, 0.1], "FAIL"),
        ([0.1, None], "BLOCK"),
    ],
)
def test_the_worst_claim_is_the_verdict(answers: list[float | None], verdict: str) -> None:
    result = Result(tuple(Verdict(f"c{at}", "noul", p, 1.0) for at, p in enumerate(answers)))
    found = verify.outcome(["one", "two"], result)
    assert found["verdict"] == verdict
    assert found["passed"] == (verdict == "PASS")
