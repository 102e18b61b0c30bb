"""rank, verify, review and rerank against System One servers that others wrote.  Wiring only: their answers mean nothing."""

from __future__ import annotations

import os

import pytest

from jevhook.use import rank, rerank, review, verify
from jevhook.use.jev import Jev
from tests.judges.test_real_servers import SERVERS, running

pytestmark = pytest.mark.slow

RANK = {"state": "rename", "candidates": [{"id": name, "description": f"does {name}"} for name in "abcdefgh"]}
VERIFY = {"claims": [{"name": f"n{at}", "claim": f"Test {at} passed."} for at in range(4)], "state": "12 passed"}
REVIEW = {"delegate": "worker-1", "kind": "ok", "outputChars": 84, "criteria": ["names the cause"]}
ROWS = [{"id": f"r{at}", "text": f"rule {at} about refunds"} for at in range(12)]


def at(base: str) -> Jev:
    jev = Jev("typesafe", env={**os.environ, "TYPESAFE_BASE_URL": base})
    assert base.removeprefix("http://") in jev.chosen()[1]
    return jev


@pytest.mark.parametrize("command", SERVERS, ids=lambda command: command[0])
def test_a_server_of_others_answers_all_of_them(command: tuple[str, ...]) -> None:
    with running(*command) as base:
        jev = at(base)
        state, questions, levels = rank.prepare(RANK)
        ranked = rank.outcome(levels, jev.judge(state, questions))
        state, questions, names = verify.prepare(VERIFY)
        verified = verify.outcome(names, jev.judge(state, questions))
        state, questions, levels = review.prepare(REVIEW)
        reviewed = review.outcome(levels, jev.judge(state, questions))
        found = rerank.rerank(rerank.Corpus(rerank.rows(ROWS)), "refunds", jev.judge)
    assert ranked["verdict"] in ("winner", "none")
    assert "BLOCK" not in [claim["verdict"] for claim in verified["claims"]]
    assert reviewed["verdict"] in ("recorded", "flag-for-review") and reviewed["quality"] is not None
    assert found["source"] == "judge" and all(entry["judged"] for entry in found["results"])


@pytest.mark.parametrize("fault", ["first-question-only", "noul-range", "boolean-type", "wrong-route", "xssi-200"])
def test_a_faulty_server_passes_no_claim(fault: str) -> None:
    with running("jevcompat", "mock", "--fault", fault) as base:
        jev = at(base)
        state, questions, names = verify.prepare(VERIFY)
        result = jev.judge(state, questions)
    found = verify.outcome(names, result)
    assert (found["verdict"], found["passed"]) == ("BLOCK", False)
    assert "answer" in found["claims"][-1]["hint"]  # it was there, and what it said was no answer
