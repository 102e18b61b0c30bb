"""What may leave the machine: which judge is far away, and a shape without content."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from systemone.loopback import Connection, serve

from jevhook import policy as policies
from jevhook.event import Decision, Event
from jevhook.judges.cascade import Cascade, Tier
from jevhook.judges.embedded import EmbeddedJudge
from jevhook.judges.guarded import GuardedJudge
from jevhook.judges.remote import RemoteJudge
from jevhook.points import Context, egress
from jevhook.shell.calls import Reading
from jevhook.shell.finding import KINDS, Finding, Target
from jevhook.systemone import dialects

SECRETS = ("sk-live-4eC39HqLyjWDarjtT1zdp7dc", "/srv/clients/northwind", "drop table payroll", "mcp__northwind__pay")


def remote(base: str, url: str = "") -> RemoteJudge:
    return RemoteJudge(dialects.load("native" if url else "typesafe"), base, "m", url=url)


def cascade(*judges: Any) -> Cascade:
    return Cascade([Tier(judge, network=True) for judge in judges], network_calls=1)


NEAR, FAR = "http://127.0.0.1:8700", "https://judge.example"
WHERE = [
    (EmbeddedJudge(), False),
    (remote(NEAR), False),
    (remote("http://localhost:1"), False),
    (remote("http://[::1]:1"), False),
    (remote(FAR), True),
    (remote("https://127.0.0.1.judge.example"), True),
    (remote(NEAR, url=FAR + "/v1/systemone"), True),
    (GuardedJudge(remote(NEAR), {}), False),
    (GuardedJudge(remote(FAR), {}), True),
    (cascade(EmbeddedJudge(), remote(NEAR)), False),
    (cascade(remote(NEAR), remote(FAR)), True),
    (object(), True),
]


@pytest.mark.parametrize(("judge", "far"), WHERE)
def test_which_judges_are_asked_over_the_network(judge: Any, far: bool) -> None:
    assert egress.leaves(judge) is far
    for told in ("shape", "none"):
        assert egress.level({"egress": told}, judge) == (told if far else "redacted")
    assert egress.level({"egress": "redacted"}, judge) == "redacted"
    assert egress.level({}, judge) == "redacted"


def event(tool: str = "Bash", **given: Any) -> Event:
    return Event("claude", "before-tool", "PreToolUse", tool=tool, input=given, cwd="/srv/clients/northwind")


def reading(*kinds: str) -> Reading:
    findings = [Finding("delete", Target(kind, SECRETS[1]), detail=SECRETS[2]) for kind in kinds]
    return Reading([*findings, Finding("run", Target("system", "/bin/rm"), program="rm")], SECRETS[2], True)


def test_a_shape_is_a_tool_kinds_and_a_digest() -> None:
    made = egress.shape_state(event(command="rm -rf build"), reading("home", "build", "home"), os.environ)
    assert {key: value for key, value in made.items() if key != "call"} == {"tool": "Bash", "scope": ["build", "home"]}
    assert len(made["call"]) == 64 and set(made["call"]) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("tool", "token"),
    [
        ("Bash", "Bash"),
        ("mcp__northwind__pay", "mcp"),
        ("northwind_billing", "other"),
        ("Bash ", "other"),
        ("", "other"),
    ],
)
def test_a_tools_name_comes_out_of_our_own_list(tool: str, token: str) -> None:
    assert egress.shape_state(event(tool), reading(), os.environ)["tool"] == token


def test_no_content_is_in_a_shape() -> None:
    given = {"command": " ".join(SECRETS), "description": SECRETS[0], "file_path": SECRETS[1]}
    found = reading("home", SECRETS[1], "unknown")
    text = json.dumps([egress.shape_state(event(SECRETS[3], **given), found, os.environ), egress.questions_shape()])
    for secret in SECRETS:
        assert secret not in text
    assert set(egress.shape_state(event(**given), found, os.environ)["scope"]) <= KINDS


def test_the_digest_is_the_calls_own_and_this_machines_own(tmp_path: Any) -> None:
    def digest(command: str, **env: str) -> str:
        return str(egress.shape_state(event(command=command), reading(), {**os.environ, **env})["call"])

    assert digest("ls") == digest("ls") != digest("ls -l")
    assert digest("ls") != digest("ls", XDG_STATE_HOME=str(tmp_path / "other"))
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert digest("ls", XDG_STATE_HOME=str(blocked)) == "", "without a local key there is none"


@pytest.mark.parametrize("fault", [False, True])
def test_what_is_said_about_a_shape_is_recorded_and_nothing_else(fault: bool) -> None:
    """The judge is sure that this is a catastrophe, or fails: the decision is the rules' own either way."""

    def answer(connection: Connection) -> None:
        answers = {
            "risk": {"type": "score", "score": 3, "probabilities": {"0": 0, "1": 0, "2": 0, "3": 1}},
            "intent": {"type": "noul", "noul": 0.01},
        }
        connection.answer(500 if fault else 200, json.dumps({"model": "m", "answers": answers}).encode())

    record: dict[str, Any] = {}
    ctx = Context(policies.Policy(), os.environ, 0.0)
    decision = Decision("none", point="tool.risk", source="rules")
    before = {name: getattr(decision, name) for name in Decision.__slots__}
    given = {"command": " ".join(SECRETS), "description": SECRETS[0]}
    with serve(answer) as server:
        egress.ask_shape(event(SECRETS[3], **given), ctx, reading("home"), decision, record, remote(server.url))
        (sent,) = server.requests
    assert {name: getattr(decision, name) for name in Decision.__slots__} == before
    assert ctx.asked
    for secret in SECRETS:
        assert secret.encode() not in sent
    assert set(json.loads(sent.partition(b"\r\n\r\n")[2])["state"]) == {"tool", "scope", "call"}
    judge = record["judge"]
    assert (judge["egress"], judge["shadow"], judge["asked"]) == ("shape", ["intent", "risk"], True)
    if fault:
        assert record["reason"] == "error:server" and judge["answers"] == {}
    else:
        assert judge["answers"]["risk"]["value"] == 3 and "reason" not in record


def test_the_two_questions_are_well_formed() -> None:
    questions = egress.questions_shape()
    assert {name: question["type"] for name, question in questions.items()} == {"risk": "score", "intent": "noul"}
    assert set(questions) == set(egress.SHAPE_CAPABILITIES)
