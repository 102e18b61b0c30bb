"""The library and the commands against System One servers that others wrote (extra ``servers``).

Wiring only: their answers mean nothing.  What is demanded of each: every question comes back as a whole verdict.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jevhook import Jev, check, pick, rate
from jevhook.use.verdict import Verdict
from tests.cli.test_judge_cmd import run
from tests.judges.test_real_servers import SERVERS, running
from tests.use.test_jev import config, env_for

pytestmark = pytest.mark.slow

STATE = {"log": "3 passed, 1 failed: test_login expected 200, got 500"}
QUESTIONS = {
    "failed ü": check("Did a test in `log` fail?", true="At least one failed.", false="All passed."),
    "plain": check("Is there a `log`?"),
    "kind": pick("What failed?", ["login", "payment", "none_of_these"]),
    "described": pick("What failed?", {"login": "Signing in.", "other": "Anything else."}),
    "bad": rate("How bad is it?", ["nothing failed", "one test failed", "many failed", "nothing runs"]),
    "essay": {"type": "essay", "question": "Write about it."},
}


def whole(verdict: Verdict) -> bool:
    """An answer of the question's type, a confidence with its source, escalated exactly when there is a reason."""
    if verdict.id == "essay":
        return verdict.reason == "open_ended"
    right = {
        "noul": isinstance(verdict.answer, float) and 0 <= verdict.answer <= 1,
        "choice": verdict.answer in verdict.distribution,
        "score": isinstance(verdict.answer, float) and 0 <= verdict.answer <= 3 and len(verdict.legend) == 4,
    }[verdict.type]
    source = {"noul": "estimated", "choice": "reported", "score": "reported"}[verdict.type]
    needed = {"estimated": 0.4, "reported": 0.5}[source]
    return (
        right
        and verdict.confidence_from == source
        and 0 <= verdict.confidence <= 1
        and verdict.escalate == (verdict.confidence < needed)
        and (verdict.reason, bool(verdict.hint)) == (("unsure", True) if verdict.escalate else (None, False))
    )


@pytest.mark.parametrize("command", SERVERS, ids=lambda command: command[0])
def test_every_question_comes_back_as_a_whole_verdict(tmp_path: Path, command: tuple[str, ...]) -> None:
    with running(*command) as base:
        jev = Jev(env=env_for(tmp_path, base))
        result = jev.judge(STATE, QUESTIONS)
        lines = jev.items(check("Does it report a failure?"), [f"line {n}" for n in range(30)], context="A log.")
        gated = jev.gate("Bash", "npm test", state="The user wants the tests to run.", cwd=str(tmp_path))
        shell = run(tmp_path, "judge", json.dumps({"state": STATE, "questions": list(QUESTIONS.values())}), url=base)
        code = run(tmp_path, "gate", "--tool", "Bash", "--input", "npm test", url=base).code
    assert [verdict.id for verdict in result] == list(QUESTIONS)
    assert [verdict for verdict in result if not whole(verdict)] == []
    assert result.model and result.backend == "typesafe/jev-latest"
    assert lines.answered == 30 and lines.json()["unanswered"] == ""
    assert gated.decision in ("allow", "deny", "escalate") and set(gated.distribution) == {"allow", "deny"}
    assert shell.code == 0 and [v["id"] for v in shell.json["verdicts"]] == [f"q{n}" for n in range(len(QUESTIONS))]
    assert code in (0, 1, 3)


@pytest.mark.parametrize("command", SERVERS, ids=lambda command: command[0])
def test_one_that_is_named_is_asked_without_a_key(tmp_path: Path, command: tuple[str, ...]) -> None:
    with running(*command) as base:
        config(tmp_path, f'[judge]\nprovider = "native"\nbase_url = "{base}"\negress = "none"\n')
        result = Jev(env=env_for(tmp_path)).judge(STATE, [check("Did a test fail?")])
    assert result.answered and result.backend.startswith("native/")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("noul-range", "unreachable"),
        ("boolean-type", "unreachable"),
        ("first-question-only", "unreachable"),
        ("xssi-200", "unreachable"),
        ("choice-no-confidence", None),  # the margin is our own estimate then
        ("score-no-legend", None),  # the levels are known without it
    ],
)
def test_a_faulty_server_costs_the_answers_that_it_spoils(tmp_path: Path, fault: str, reason: str | None) -> None:
    with running("jevcompat", "mock", "--fault", fault) as base:
        result = Jev(env=env_for(tmp_path, base), threshold=0.0).judge(STATE, [*list(QUESTIONS.values())[:5]])
    reasons = {verdict.reason for verdict in result}
    assert (reason in reasons) if reason else reasons == {None}
    if fault == "choice-no-confidence":
        assert {v.confidence_from for v in result if v.type == "choice"} == {"estimated"}
    assert all(verdict.legend for verdict in result if verdict.type == "score" and verdict.reason is None)


def test_the_right_key_opens_and_a_wrong_one_is_named_not_shown(tmp_path: Path) -> None:
    key = "tsk-0123456789abcdefghij"
    with running("jevcompat", "mock", "--key", key) as base:
        good = Jev(env=env_for(tmp_path, base)).judge(STATE, [check("Did a test fail?")])
        bad = Jev(env={**env_for(tmp_path, base), "TYPESAFE_API_KEY": "tsk-wrong"}).judge(STATE, [check("Did it?")])
    assert good.answered and not bad.answered
    assert "TYPESAFE_API_KEY was not accepted" in bad["q0"].hint and "tsk-wrong" not in bad["q0"].hint
