from __future__ import annotations

import json
from typing import Any

import pytest
from systemone.loopback import Connection, body_of, header_of, saying, serve
from undisturbed import now

from jevhook.judges import JudgeReply
from jevhook.judges.embedded import EmbeddedJudge
from jevhook.judges.remote import MAX_CHARS, RemoteJudge
from jevhook.systemone import dialects, wire

KEY = "ts-live-0123456789abcdef"
STATE = {"command": "rm -rf /home/somebody/secret-project"}
QUESTIONS = {
    "destructive": wire.noul("Does `command` delete data?"),
    "action": wire.choice("What now?", {"allow": "a", "ask": "b", "deny": "c"}),
}
GOOD = {
    "model": "jev-1.13.0",
    "answers": {
        "destructive": {"type": "noul", "noul": 0.93},
        "action": {
            "type": "choice",
            "choice": "ask",
            "probabilities": {"allow": 0.1, "ask": 0.8, "deny": 0.1},
            "confidence": 0.7,
        },
    },
    "usage": {"input_tokens": 438, "output_tokens": 54},
}


def judge(base: str, key: str = KEY, **more: Any) -> RemoteJudge:
    return RemoteJudge(dialects.load("typesafe"), base, "jev-latest", key=key, key_var="TYPESAFE_API_KEY", **more)


def failed(reply: JudgeReply) -> wire.JudgeError:
    assert reply.error is not None
    assert reply.answers == {}
    assert [w["type"] for w in reply.warnings] == ["missing-answer"] * len(QUESTIONS)
    for secret in (KEY, "secret-project"):
        assert secret not in reply.error.message
    return reply.error


def test_all_questions_go_in_one_request_and_come_back_answered() -> None:
    with serve(saying(200, GOOD)) as server:
        reply = judge(server.url).ask(STATE, QUESTIONS, 5)
    assert reply.error is None and reply.warnings == []
    assert reply.answers["destructive"]["p"] == 0.93
    assert reply.answers["action"]["value"] == "ask"
    assert (reply.judge, reply.provider, reply.model) == ("typesafe/jev-latest", "typesafe", "jev-1.13.0")
    assert reply.usage == {"input_tokens": 438, "output_tokens": 54}
    assert 0 <= reply.latency_ms < 5000
    (request,) = server.requests
    assert request.startswith(b"POST /v1/systemone ")
    assert header_of(request, "Authorization") == f"Bearer {KEY}"
    assert body_of(request) == {"model": "jev-latest", "state": STATE, "questions": QUESTIONS}


def test_without_a_key_no_authorization_is_sent() -> None:
    with serve(saying(200, GOOD)) as server:
        assert judge(server.url, key="").ask(STATE, QUESTIONS, 5).error is None
        assert header_of(server.requests[0], "Authorization") is None


def test_a_partly_wrong_answer_leaves_the_rest_standing() -> None:
    answers = {"destructive": {"type": "noul", "noul": 0.5}, "action": {"type": "choice", "choice": "maybe"}}
    with serve(saying(200, {"answers": answers})) as server:
        reply = judge(server.url).ask(STATE, QUESTIONS, 5)
    assert reply.error is None
    assert list(reply.answers) == ["destructive"]
    assert reply.warnings == [{"type": "unexpected-label", "question": "action"}]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"detail": {"error_type": "authentication_error", "message": f"bad key {KEY}"}}, "auth"),
        (403, {"error": {"message": "no card", "type": "customer_verification_required"}}, "payment"),
        (422, {"detail": [{"loc": ["body"], "msg": "x", "type": "y", "input": STATE}]}, "bad_request"),
        (429, {"error": "slow down"}, "rate_limited"),
        (529, {"errors": [{"code": 1, "message": "x"}]}, "server"),
        (302, b"", "invalid_response"),
        (200, b"not json", "invalid_response"),
        (200, b"", "invalid_response"),
        (200, [], "invalid_response"),
        (200, {"model": "m"}, "invalid_response"),
        (200, {"answers": []}, "invalid_response"),
        (200, b'{"answers": {"destructive": {"type": "noul", "noul": 0.1, "noul": 0.9}}}', "invalid_response"),
        (200, {"error": {"message": "over quota", "type": "insufficient_quota"}}, "payment"),
        (200, {"success": False, "errors": [{"code": 10000, "message": "Authentication error"}]}, "auth"),
    ],
)
def test_a_failed_call_is_an_error_and_no_exception(status: int, body: Any, kind: str) -> None:
    with serve(saying(status, body)) as server:
        error = failed(judge(server.url).ask(STATE, QUESTIONS, 5))
        assert error.kind == kind
        assert error.status == status
        assert len(server.requests) == 1


def test_a_silent_server_costs_the_deadline_and_is_a_timeout() -> None:
    with serve(lambda c: c.stopped.wait(5)) as server:
        started = now()
        reply = judge(server.url).ask(STATE, QUESTIONS, 0.4)
        assert now() - started < 0.55
    assert failed(reply).kind == "timeout"
    assert 350 <= reply.latency_ms < 2500


def test_the_records_own_patience_shortens_a_deadline() -> None:
    with serve(lambda c: c.stopped.wait(5)) as server:
        started = now()
        assert failed(judge(server.url, patience=0.2).ask(STATE, QUESTIONS, 5)).kind == "timeout"
        assert now() - started < 0.35


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        (None, "config"),
        ({"x": float("nan")}, "config"),
        ({"x": object()}, "config"),
        ("a" * (MAX_CHARS + 1), "oversized"),
    ],
)
def test_what_cannot_be_judged_is_never_sent(state: Any, kind: str) -> None:
    with serve(saying(200, GOOD)) as server:
        assert failed(judge(server.url).ask(state, QUESTIONS, 5)).kind == kind
        assert server.requests == []


@pytest.mark.parametrize(("most", "sent"), [(20, 20), (0, 24), (1, 1), (500, 24)])
def test_the_first_questions_are_asked_and_the_rest_stay_unanswered_in_one_request(most: int, sent: int) -> None:
    many = {f"q{number}": wire.noul("Is it?") for number in range(24)}

    def answer(connection: Connection) -> None:
        asked = body_of(connection.request)["questions"]
        connection.answer(200, json.dumps({"answers": {n: {"type": "noul", "noul": 0.9} for n in asked}}).encode())

    with serve(answer) as server:
        reply = judge(server.url, max_questions=most).ask("x", many, 5)
        (request,) = server.requests
    assert list(body_of(request)["questions"]) == list(many)[:sent]
    assert reply.error is None and list(reply.answers) == list(many)[:sent]
    assert [w["question"] for w in reply.warnings] == list(many)[sent:]
    assert {w["type"] for w in reply.warnings} <= {"too-many-questions"}


def test_a_dialects_own_limit_is_never_raised() -> None:
    many = {f"q{number}": wire.noul("Is it?") for number in range(70)}
    dialect = dialects.load("cloudflare")
    with serve(saying(200, {"result": {"answers": {}}})) as server:
        RemoteJudge(dialect, server.url, "m", key=KEY, max_questions=400).ask("x", many, 5)
        assert len(body_of(server.requests[0])["input"]["questions"]) == 64


def test_a_question_that_the_service_refuses_is_left_out_and_the_rest_are_asked() -> None:
    questions = {"big": wire.choice("?", {str(n): None for n in range(27)}), **QUESTIONS}
    with serve(saying(200, GOOD)) as server:
        reply = RemoteJudge(dialects.load("ollama"), server.url, "nimble").ask(STATE, questions, 5)
        assert list(body_of(server.requests[0])["questions"]) == list(QUESTIONS)
    assert set(reply.answers) == set(QUESTIONS)
    assert reply.warnings == [{"type": "unsupported-question", "question": "big"}]


def test_only_questions_that_the_service_refuses_make_no_call() -> None:
    questions = {"big": wire.choice("?", {str(n): None for n in range(27)})}
    with serve(saying(200, GOOD)) as server:
        reply = RemoteJudge(dialects.load("ollama"), server.url, "nimble").ask(STATE, questions, 5)
        assert server.requests == []
    assert reply.error is None and reply.answers == {}
    assert reply.warnings == [{"type": "unsupported-question", "question": "big"}]


def test_a_key_that_was_not_sent_is_named_as_missing_and_not_as_wrong() -> None:
    with serve(saying(401, {"detail": {"error_type": "authentication_error"}})) as server:
        assert (
            "none is configured; set TYPESAFE_API_KEY"
            in failed(judge(server.url, key="").ask(STATE, QUESTIONS, 5)).message
        )
        assert (
            "the key in TYPESAFE_API_KEY was not accepted" in failed(judge(server.url).ask(STATE, QUESTIONS, 5)).message
        )


def test_no_questions_make_no_call() -> None:
    with serve(saying(200, GOOD)) as server:
        reply = judge(server.url).ask(STATE, {}, 5)
        assert (reply.answers, reply.warnings, reply.error) == ({}, [], None)
        assert server.requests == []


def test_the_model_that_a_service_names_is_only_believed_when_it_is_a_name() -> None:
    for model in ("a\nb", "", 7, "x" * 300):
        with serve(saying(200, {**GOOD, "model": model})) as server:
            assert judge(server.url).ask(STATE, QUESTIONS, 5).model == "jev-latest"


def test_a_judge_does_not_show_its_key() -> None:
    assert KEY not in repr(judge("http://127.0.0.1:1"))


def test_the_embedded_judge_answers_nothing_at_once() -> None:
    reply = EmbeddedJudge().ask(STATE, QUESTIONS, 0)
    assert (reply.answers, reply.error, reply.provider, reply.judge) == ({}, None, "embedded", "embedded")
    assert [w["question"] for w in reply.warnings] == list(QUESTIONS)
