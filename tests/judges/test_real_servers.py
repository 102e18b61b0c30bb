"""Against System One servers that others wrote (extra ``servers``).  Wiring only: their answers mean nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from jevhook.judges import JudgeReply, choose
from jevhook.judges.remote import RemoteJudge
from jevhook.systemone import dialects, wire

pytestmark = pytest.mark.slow

QUESTIONS = {
    "destructive": wire.noul("Does `command` delete data?", true="It deletes user data.", false="It deletes nothing."),
    "action": wire.choice("What now?", {"allow": "Routine.", "ask": "Unsure.", "deny": None}),
    "risk": wire.score("How risky is `command`?", ["none", "low", "high", "extreme"]),
}
STATE = {"command": "rm -rf build", "cwd": "/home/dev/shop"}


@contextlib.contextmanager
def running(*command: str) -> Iterator[str]:
    """The base URL of a server that another package brings, started for this test and stopped after it."""
    found = shutil.which(command[0], path=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""))
    if found is None:
        pytest.skip(f"{command[0]} is not installed: pip install '.[servers]'")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    quiet = subprocess.DEVNULL
    where = [] if command[0] == "microllm" else ["--port", str(port)]  # microllm goes by PORT alone
    env = {**os.environ, "PORT": str(port), "HOST": "127.0.0.1"}
    server = subprocess.Popen([found, *command[1:], *where], env=env, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        for _ in range(400):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.05):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(0.05)
                pytest.skip(f"{command[0]} does not start here")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(5)


def ask(base: str, key: str = "") -> JudgeReply:
    judge = RemoteJudge(dialects.load("typesafe"), base, "jev-latest", key=key, key_var="TYPESAFE_API_KEY")
    return judge.ask(STATE, QUESTIONS, 5)


SERVERS = [("jevcompat", "mock"), ("sparrow-decider", "serve"), ("microllm",)]


@pytest.mark.parametrize("command", SERVERS, ids=lambda command: command[0])
def test_a_server_of_others_answers_every_question(command: tuple[str, ...]) -> None:
    with running(*command) as base:
        reply = ask(base)
        routed, why = choose({"settings_origin": "user", "provider": "native", "base_url": base}, {}, True)
        assert routed is not None, why
        assert set(routed.ask(STATE, QUESTIONS, 5).answers) == set(QUESTIONS)
    assert reply.error is None and reply.warnings == []
    assert set(reply.answers) == set(QUESTIONS)
    assert reply.answers["risk"]["confidence_from"] == "reported"
    assert reply.usage.get("input_tokens", 1) >= 0
    assert reply.model


@pytest.mark.parametrize(("key", "kind"), [("", "auth"), ("wrong", "auth"), ("right", "")])
def test_a_key_is_checked(key: str, kind: str) -> None:
    with running("jevcompat", "mock", "--key", "right") as base:
        error = ask(base, key).error
        assert kind == ("" if error is None else error.kind)


FAULTS = {
    "wrong-route": "bad_request",
    "xssi-200": "invalid_response",
    "first-question-only": "missing-answer",
    "boolean-type": "wrong-type",
    "noul-range": "bad-number",
    "choice-sum": "bad-distribution",
    "choice-second": "inconsistent-answer",
    "choice-key-case": "",
    "score-sum": "bad-distribution",
    "score-argmax": "inconsistent-answer",
    "score-keys-1-based": "unexpected-label",
    "extra-answer": "unexpected-answer",
    "reject-jev-latest": "bad_request",
    "no-usage": "",
    "float-usage": "",
    "nan": "",
    "choice-no-confidence": "",
    "score-no-legend": "",
    "confidence-over": "",
    "confidence-margin": "",
    "plain-content-type": "",
    "unprefixed-extra": "",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_server_is_seen_through(fault: str) -> None:
    with running("jevcompat", "mock", "--fault", fault) as base:
        reply = ask(base)
    seen = {warning["type"] for warning in reply.warnings}
    if reply.error is not None:
        seen = {reply.error.kind}
    assert seen == ({FAULTS[fault]} if FAULTS[fault] else set())
