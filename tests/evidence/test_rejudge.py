"""A recorded event through a policy: with its session's memory, with what was answered then, and with the entry alone."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lane import Lane

from jevhook.cli.judging import bench
from jevhook.cli.replay import Sums
from jevhook.evidence import history
from jevhook.evidence.history import Past, index
from jevhook.evidence.history.entries import event_of
from jevhook.evidence.rejudge import Rejudge, usable
from jevhook.evidence.replay import Plan, replay
from jevhook.points import risk

RULES = """
[[rule]]
id = "team.ask"
program = ["frob"]
severity = "ask"
stakes = "medium"
reason = "Frobs."
"""


def past(command: str, number: int = 1, kind: str = "PreToolUse", session: str = "s-1", **fields: Any) -> Past:
    payload = {
        "hook_event_name": kind,
        "session_id": session,
        "cwd": "/home/dev/shop",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": f"toolu_{number}",
    }
    if kind == "PostToolUse":
        payload["tool_response"] = {"stdout": "", "stderr": "", "interrupted": False}
    return Past(f"F:{number}", payload, "claude", session=session, call=f"toolu_{number}", **fields)


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., list[str]]:
    def judge(*events: Past, policy: str = "") -> list[str]:
        config = tmp_path / "policy.toml"
        config.write_text(RULES + policy)
        folder = tmp_path / f"memory{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        side = Rejudge(bench(str(config), "/home/dev", ""), str(folder))
        return [side.judge(event).said["decision"] for event in events]

    return judge


def test_an_act_that_was_stopped_is_known_in_other_words_in_its_session_alone(judged: Callable[..., list[str]]) -> None:
    again = "mv /home/dev/notes /tmp/x"
    deny = '[[rule]]\nid = "team.notes"\nprogram = ["rm"]\neffect = "delete"\nseverity = "deny"\nreason = "Never."\n'
    first = past("rm -rf /home/dev/notes", 1)
    assert judged(first, past(again, 2), policy=deny) == ["deny", "deny"]
    assert judged(first, past(again, 2, session="s-2"), policy=deny) == ["deny", "none"]
    assert judged(first, past(again, 2, alone=True), policy=deny) == ["deny", "none"]


def test_cases_that_repeat_one_call_id_are_no_session(judged: Callable[..., list[str]]) -> None:
    deny = '[[rule]]\nid = "team.notes"\nprogram = ["rm"]\neffect = "delete"\nseverity = "deny"\nreason = "Never."\n'
    events = [past(text, 1) for text in ("rm -rf /home/dev/notes", "mv /home/dev/notes /tmp/x")]
    assert judged(*events, policy=deny) == ["deny", "none"]


def test_a_call_that_the_person_let_run_is_not_asked_about_again(judged: Callable[..., list[str]]) -> None:
    asked, ran, again = past("frob", 1), past("frob", 1, "PostToolUse"), past("frob", 2)
    assert judged(asked, ran, again) == ["ask", "none", "none"]
    assert judged(asked, past("frob", 3)) == ["ask", "ask"]


def test_nothing_of_ones_own_is_read_or_written(judged: Callable[..., list[str]], private_home: Path) -> None:
    judged(past("rm -rf ~", 1), past("frob", 2), past("frob", 2, "PostToolUse"))
    assert not (private_home / ".local").exists()


def test_an_event_that_breaks_the_analysis_costs_no_other(tmp_path: Path) -> None:
    side = Rejudge(bench("default", None, ""), str(tmp_path))
    told = side.judge(Past("F:1", {"hook_event_name": 7}, "no-such-host"))
    assert (told.how, told.said["decision"]) == ("unread", "none")
    assert told.said["reason"].startswith("error: ")


# -- what was answered then ----------------------------------------------------------------------------------------

CONFIG = RULES + '\n[judge]\nprovider = "mock"\nmock = "{mock}"\n\n[ledger]\nrecord_state = {state}\n{more}'
LIFT = {"asked": 0.85, "loss": 0, "limit": 0.05, "planted": 0.05}


@pytest.fixture
def lived(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """One real hook process on one ``frob`` with a judge that says what is scripted; the ledger entry it left."""
    home, project = tmp_path / "home", tmp_path / "home" / "shop"
    project.mkdir(parents=True)
    lane = Lane(home, project)
    transcript = home / "transcript.jsonl"
    transcript.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": "Please frob"}}) + "\n")

    def live(answers: dict[str, Any], *, state: bool = True, more: str = "", command: str = "frob") -> dict[str, Any]:
        script = tmp_path / "mock.json"
        script.write_text(json.dumps({"answers": answers}))
        lane.config(CONFIG.format(mock=script, state=str(state).lower(), more=more))
        return lane.hook(lane.claude(command, transcript_path=str(transcript))).entry

    return live


def scored(
    entry: dict[str, Any], tmp_path: Path, more: str = "", judge: str = 'provider = "typesafe"'
) -> tuple[str, str, str]:
    """(decision, judge, how) of the entry under other settings; the key in the environment is no key of anybody's."""
    config = tmp_path / "other.toml"
    config.write_text(f"{RULES}\n{more}")
    folder = tmp_path / f"m{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    made = bench(str(config), None, "")
    made.policy.judge = {**made.policy.judge, "provider": judge.split('"')[1], "settings_origin": "user"}
    made.env = {**made.env, "TYPESAFE_API_KEY": "ts-" + "0" * 40}
    event = event_of(entry, "L:1")
    assert event is not None
    told = Rejudge(made, str(folder)).judge(event)
    return told.said["decision"], told.judge, told.how


@pytest.mark.parametrize(("state", "how"), [(True, "judged"), (False, "scored")])
def test_a_recorded_answer_is_used_again_under_the_thresholds_of_now(
    lived: Callable[..., dict[str, Any]], tmp_path: Path, state: bool, how: str
) -> None:
    entry = lived(LIFT, state=state)
    assert entry["decision"] == "none" and entry["points"][0]["judge"]["answers"]["asked"]["p"] == 0.85
    assert scored(entry, tmp_path) == ("none", "recorded", how)
    stricter = '[thresholds]\n"tool.risk.yes" = 0.9\n'
    assert scored(entry, tmp_path, stricter) == ("ask", "recorded", how)


@pytest.mark.parametrize(("state", "how"), [(True, "judged"), (False, "scored")])
def test_what_a_policy_would_ask_about_now_and_nobody_was_asked_then_needs_a_new_call(
    lived: Callable[..., dict[str, Any]], tmp_path: Path, state: bool, how: str
) -> None:
    entry = lived(LIFT, state=state, more='\n[rule_modes]\n"team.ask" = "shadow"\n')
    assert entry["decision"] == "none" and "judge" not in entry["points"][0]
    assert scored(entry, tmp_path) == ("ask", "new", how)
    assert scored(entry, tmp_path, judge='provider = "none"') == ("ask", "", how)


def test_an_answer_to_a_question_that_is_worded_otherwise_by_now_is_none(
    lived: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    entry = lived(LIFT)
    entry["points"][0]["wording"] = "0" * 16
    assert scored(entry, tmp_path)[:2] == ("ask", "new")
    entry["points"][0]["wording"] = risk.wording_hash()
    entry["points"][0]["version"] = risk.VERSION + 1
    assert scored(entry, tmp_path)[:2] == ("ask", "new")


@pytest.mark.parametrize(
    "broken",
    [{}, {"judge": 7}, {"judge": {"answers": []}}, {"judge": {"answers": {"asked": 1}}, "point": "x"}, {"point": "tool.risk", "judge": {"answers": {"asked": {"p": 1}}, "error": {}}}],
)  # fmt: skip
def test_a_record_without_a_usable_answer_has_none(broken: dict[str, Any]) -> None:
    if broken.get("judge") != {"answers": {"asked": {"p": 1}}, "error": {}}:
        assert usable(broken) == {}


def test_a_rule_that_is_off_or_gone_stops_nothing_in_a_bare_entry(
    lived: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    entry = lived({}, state=False)
    assert entry["decision"] == "ask"
    assert scored(entry, tmp_path, judge='provider = "none"')[0] == "ask"
    assert scored(entry, tmp_path, '[rule_modes]\n"team.ask" = "off"\n')[0] == "none"
    assert scored(entry, tmp_path, '[modes]\n"tool.risk" = "shadow"\n')[0] == "none"
    entry["points"][0]["rules"][0]["id"] = "team.gone"
    assert scored(entry, tmp_path)[0] == "none"


@pytest.mark.parametrize("state", [True, False])
def test_what_the_judge_said_of_a_result_counts_again_too(
    lived: Callable[..., dict[str, Any]], tmp_path: Path, state: bool
) -> None:
    passage = {"slot": "stdout", "at": [0, 90], "score": 0.5, "rules": [], "withheld": False, "judge": 0.9}
    point = {"point": "tool.injection", "version": 1, "mode": "active", "judged": "none", "passages": [passage]}
    point["thresholds"] = {"withhold": 1.0, "mark": 0.65}
    subject = {"session": "s", "tool": "Bash", "tool_call": "t"}
    entry = {
        "schema": 1,
        "origin": "hook",
        "points": [point],
        "host": "claude",
        "event": "PostToolUse",
        "subject": subject,
    }
    entry |= {"kind": "after-tool", "id": "e"}
    assert scored(entry, tmp_path)[0] == "withhold"
    assert scored(entry, tmp_path, '[thresholds]\n"tool.injection.yes" = 0.95\n')[0] == "none"
    assert scored(entry, tmp_path, '[modes]\n"tool.injection" = "shadow"\n')[0] == "none"


# -- many of them --------------------------------------------------------------------------------------------------


def plan(tmp_path: Path, jobs: int) -> Plan:
    config = tmp_path / "many.toml"
    config.write_text(
        RULES
        + '[[rule]]\nid = "team.notes"\nprogram = ["rm"]\neffect = "delete"\nseverity = "deny"\nreason = "Never."\n'
    )
    made = bench(str(config), "/home/dev", "")
    return Plan((made.policy,), made.env, made.home, jobs=jobs)


def test_two_processes_say_what_one_says_in_the_same_order_with_every_sessions_memory(tmp_path: Path) -> None:
    commands = ("ls", "rm -rf /home/dev/notes", "frob", "mv /home/dev/notes /tmp/x", "git status")
    events = [past(commands[n % 5], n, session=f"s-{n % 7}") for n in range(1400)]
    found = []
    for jobs in (1, 2):
        answers = list(replay([(event, None) for event in events], plan(tmp_path, jobs)))
        assert [one.past for one in answers] == events
        found.append([(one.told, bool(one.example)) for one in answers])
    assert [told for told, _ in found[0]] == [told for told, _ in found[1]]
    decisions = [told[0].said["decision"] for told, _ in found[0]]
    assert decisions[3] == "none" and decisions[38] == "deny", "the second time round each session has been denied it"


def test_no_more_is_read_than_is_in_work(tmp_path: Path) -> None:
    taken = 0

    def events() -> Any:
        nonlocal taken
        for number in range(50_000):
            taken += 1
            yield past("ls", number, session=f"s-{number % 9}"), None

    answers = replay(events(), plan(tmp_path, 2))
    next(answers)
    assert taken < 10_000
    answers.close()  # type: ignore[attr-defined]


def test_the_throwaway_directories_are_gone_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    here = tmp_path / "plan"
    here.mkdir()
    list(replay([(past("rm -rf ~", n), None) for n in range(300)], plan(here, 2)))
    assert os.listdir(tmp_path) == ["plan"]


# -- bad input -----------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab/\x00\x1b\ud800 ", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "type", "id", "p"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything inside ``value``."""
    found = [path] if path else []
    if isinstance(value, dict):
        found += [below for key in value for below in places(value[key], (*path, key))]
    elif isinstance(value, list):
        found += [below for at in range(len(value)) for below in places(value[at], (*path, at))]
    return found


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    copy = json.loads(json.dumps(value))
    inside = copy
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = new
    return copy


ASKED = {"answers": {"asked": {"p": 0.9}}, "user_requests": 1, "asked": True}
FOUND = {"effect": "delete", "target": "home", "sure": "certain", "path": "/home/dev", "program": "rm"}
RISK = {"point": "tool.risk", "version": 1, "mode": "active", "judged": "deny", "rule": "fs.delete-home", "said": "x"}
SCANNED = {
    "point": "tool.injection",
    "version": 1,
    "mode": "active",
    "judged": "withhold",
    "thresholds": {"withhold": 1.0},
}
SUBJECT = {"session": "s", "tool": "Bash", "tool_call": "t-1", "project": "/home/dev", "actor": "main"}
ENTRY = {"schema": 1, "origin": "hook", "host": "claude", "id": "e", "subject": SUBJECT, "decision": "deny"}
USE = {"type": "tool_use", "id": "t-1", "name": "Bash", "input": {"command": "rm -rf ~"}}
DONE = {"type": "tool_result", "tool_use_id": "t-1", "content": [{"type": "text", "text": "x"}], "is_error": True}
LINE = {"sessionId": "s", "cwd": "/", "timestamp": "2026-01-01T00:00:00Z", "entrypoint": "cli", "isSidechain": False}
CALLED = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "rm -rf ~"}', "call_id": "c"}
RECORDS: list[list[dict[str, Any]]] = [
    [
        {
            **ENTRY,
            "event": "PreToolUse",
            "kind": "before-tool",
            "points": [{**RISK, "rules": [{"id": "fs.delete-home"}], "findings": [FOUND], "judge": ASKED}],
        },
        {
            **ENTRY,
            "event": "PostToolUse",
            "kind": "after-tool",
            "points": [{**SCANNED, "passages": [{"score": 1.0, "judge": 0.9, "rules": [], "withheld": True}]}],
            "state": {"tool": "Bash", "input": {"command": "ls"}, "result": {"stdout": "x"}},
        },
    ],
    [
        {**LINE, "type": "user", "message": {"role": "user", "content": "Go"}, "permissionMode": "default"},
        {**LINE, "type": "assistant", "message": {"role": "assistant", "content": [USE]}},
        {**LINE, "type": "user", "message": {"role": "user", "content": [DONE]}, "toolUseResult": "Error: x"},
    ],
    [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/", "source": {"subagent": "x"}}},
        {"type": "turn_context", "payload": {"turn_id": "t", "cwd": "/", "approval_policy": "never"}},
        {"type": "response_item", "payload": CALLED},
        {
            "type": "event_msg",
            "payload": {"type": "item_completed", "item": {"type": "McpToolCall", "id": "c", "result": {}}},
        },
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": "x"}},
    ],
]


@cache
def shipped() -> Plan:
    made = bench("default", "/home/dev", "")
    return Plan((made.policy, made.policy), made.env, made.home)


@pytest.mark.filterwarnings("ignore:The recursion limit")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_stands_in_a_record_nothing_is_raised(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = data.draw(st.sampled_from(RECORDS))
    at = data.draw(st.integers(0, len(lines) - 1))
    changed = put(lines[at], data.draw(st.sampled_from(places(lines[at]))), data.draw(VALUES))
    text = "".join(json.dumps(line) + "\n" for line in (*lines[:at], changed, *lines[at + 1 :]))
    both = shipped()
    events = [(event, None) for event in history.read(io.BytesIO(text.encode()), "F", history.Met())]
    sums = Sums(both.policies)
    for one in replay(events, both):
        sums.add(one)
    known = index.Index(str(tmp_path_factory.mktemp("index") / "index"))
    known.add(enumerate(text.encode().splitlines(), 1))
    for event, _ in events:
        known.known(event)
    known.close()
