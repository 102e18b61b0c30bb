from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jevhook.judges.mock import MockJudge
from jevhook.systemone import wire

QUESTIONS = {
    "n": wire.noul("Is it?"),
    "c": wire.choice("Which?", {"a": None, "b": None}),
    "s": wire.score("How?", ["low", "middle", "high"]),
}


def ask(tmp_path: Path, script: Any) -> Any:
    path = tmp_path / "mock.json"
    path.write_text(script if isinstance(script, str) else json.dumps(script))
    return MockJudge(str(path)).ask("state", QUESTIONS, 1)


def test_a_script_answers_in_shorthand(tmp_path: Path) -> None:
    reply = ask(tmp_path, {"answers": {"n": 0.9, "c": "b", "s": 2}})
    assert reply.error is None and reply.warnings == []
    assert reply.answers["n"]["p"] == 0.9
    assert (reply.answers["c"]["value"], reply.answers["c"]["confidence"]) == ("b", 1.0)
    assert (reply.answers["s"]["value"], reply.answers["s"]["confidence"]) == (2.0, 1.0)
    assert reply.provider == "mock"


def test_a_script_answers_natively_and_is_read_as_strictly_as_a_service(tmp_path: Path) -> None:
    answers = {"n": {"type": "noul", "noul": 1.5}, "c": "z", "s": {"type": "score", "score": 1, "confidence": 0.2}}
    reply = ask(tmp_path, {"answers": answers})
    assert list(reply.answers) == ["s"]
    assert reply.answers["s"]["confidence"] == 0.2
    assert reply.warnings == [
        {"type": "bad-number", "question": "n"},
        {"type": "unexpected-label", "question": "c"},
    ]


def test_a_question_without_a_script_is_unanswered(tmp_path: Path) -> None:
    reply = ask(tmp_path, {"answers": {"n": 0.5}})
    assert [w["question"] for w in reply.warnings] == ["c", "s"]


def test_a_script_plays_an_outage(tmp_path: Path) -> None:
    reply = ask(tmp_path, {"error": {"kind": "rate_limited", "status": 429, "message": "later"}})
    assert (reply.error.kind, reply.error.status, reply.error.message) == ("rate_limited", 429, "later")
    assert len(reply.warnings) == 3
    assert ask(tmp_path, {"error": {"kind": "no-such-kind"}}).error.kind == "server"


@pytest.mark.parametrize("script", ["", "[]", "{", "{}", '{"answers": []}'])
def test_a_broken_script_is_a_config_error(tmp_path: Path, script: str) -> None:
    assert ask(tmp_path, script).error.kind == "config"


def test_a_missing_script_is_a_config_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        reply = MockJudge(str(path)).ask("state", QUESTIONS, 1)
        assert reply.error is not None and reply.error.kind == "config"
