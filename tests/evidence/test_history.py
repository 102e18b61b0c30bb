"""What a file of the past holds: its form is told by its lines, each call becomes the events that the hook got."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from jevhook.evidence import history
from jevhook.evidence.history import Met, NoSource, Past, index

CALL = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make check"}}
RESPONSE = {"stdout": "all well", "stderr": "", "interrupted": False}


def claude(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "sessionId": "s-1",
        "cwd": "/home/dev/shop",
        "version": "2.1.332",
        "isSidechain": False,
        "message": {"role": kind, "content": content},
        **fields,
    }


def result(text: str, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": text, "is_error": False}
    block.update({key: fields.pop(key) for key in ("is_error",) if key in fields})
    return claude("user", [block], **fields)


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}


META = codex("session_meta", id="s-2", cwd="/home/dev/shop", cli_version="0.171.0", source="cli", thread_source="user")
TURN = codex("turn_context", turn_id="t-1", cwd="/home/dev/shop/api", approval_policy="on-request")


def call(name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return codex("response_item", type="function_call", name=name, arguments=given, call_id="c-1", **fields)


def output(text: Any) -> dict[str, Any]:
    return codex("response_item", type="function_call_output", call_id="c-1", output=text)


def entry(**fields: Any) -> dict[str, Any]:
    subject = {"session": "s-1", "tool": "Bash", "tool_call": "toolu_1", "project": "/home/dev/shop", "actor": "main"}
    made = {"schema": 1, "origin": "hook", "points": [], "host": "claude", "event": "PreToolUse"}
    return {**made, "kind": "before-tool", "subject": subject, "decision": "none", "id": "e-1", **fields}


def read(*lines: Any, named: bool = True) -> tuple[list[Past], Met]:
    met = Met()
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return list(history.read(io.BytesIO(text.encode()), "F", met, named=named)), met


def names(events: list[Past]) -> list[str]:
    return [event.payload["hook_event_name"] if event.payload else "-" for event in events]


@pytest.mark.parametrize(
    ("line", "form"),
    [
        (claude("assistant", [CALL]), "claude"),
        ({"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "x"}, "claude"),
        ({"type": "summary", "summary": "x", "leafUuid": "u"}, "claude"),
        (META, "codex"),
        ({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}, "codex"),
        (entry(), "ledger"),
        ({"hook_event_name": "PreToolUse", "session_id": "s"}, "hooks"),
        ({"id": 7, "event": {"hook_event_name": "PreToolUse"}}, "hooks"),
        ({"hookEventName": "whatever"}, "hooks"),
        ({"any": "thing"}, ""),
    ],
)
def test_the_form_is_told_by_the_shape_of_a_line(line: dict[str, Any], form: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("half a li\n\n" + json.dumps(line) + "\n")
    assert history.form_of(str(path)) == form


def test_claudes_call_and_result_are_the_two_events_that_the_hook_got() -> None:
    asked = claude("user", "Run the checks", permissionMode="acceptEdits", entrypoint="cli")
    (before, after), met = read(asked, claude("assistant", [CALL]), result("all well", toolUseResult=RESPONSE))
    assert before.payload == {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make check"},
        "tool_use_id": "toolu_1",
        "session_id": "s-1",
        "cwd": "/home/dev/shop",
        "permission_mode": "acceptEdits",
    }
    assert after.payload == {**before.payload, "hook_event_name": "PostToolUse", "tool_response": RESPONSE}
    assert [event.requests for event in (before, after)] == [("Run the checks",)] * 2
    assert (before.where, after.where) == ("F:2", "F:3")
    assert met.files == {"claude": 1} and not met.skipped


def test_what_the_person_typed_is_what_they_had_typed_by_then() -> None:
    lines = []
    for number in range(5):
        lines += [claude("user", f"request {number}"), claude("assistant", [{**CALL, "id": f"toolu_{number}"}])]
    events, _ = read(*lines)
    assert events[0].requests == ("request 0",)
    assert events[4].requests == ("request 2", "request 3", "request 4")


@pytest.mark.parametrize(
    "refused",
    [
        result("PreToolUse:Bash hook error: no", is_error=True, permissionDecision={"decision": "reject"}),
        result("no", is_error=True, toolDenialKind="permission-rule"),
        result("The user doesn't want to proceed with this tool use.", is_error=True),
    ],
)
def test_a_refused_call_has_no_event_after_it(refused: dict[str, Any]) -> None:
    events, _ = read(claude("assistant", [CALL]), refused)
    assert names(events) == ["PreToolUse"]


def test_a_failed_call_is_the_failures_own_event() -> None:
    (_, after), _ = read(claude("assistant", [CALL]), result("Exit code 2\nno rule", is_error=True))
    assert after.payload is not None
    assert (after.payload["hook_event_name"], after.payload["error"]) == ("PostToolUseFailure", "Exit code 2\nno rule")


def test_a_subagents_call_names_its_agent_and_nobodys_request() -> None:
    (event,), _ = read(
        claude("user", "Go", isSidechain=True), claude("assistant", [CALL], isSidechain=True, agentId="a9")
    )
    assert event.payload is not None and event.payload["agent_id"] == "a9"
    assert event.requests == ()


@pytest.mark.parametrize(
    ("made", "tool", "given"),
    [
        (call("exec_command", {"cmd": "ls", "workdir": "/x"}), "Bash", {"command": "ls"}),
        (call("shell", {"command": ["bash", "-lc", "ls | wc"]}), "Bash", {"command": "ls | wc"}),
        (call("shell", {"command": ["git", "commit", "-m", "a b"]}), "Bash", {"command": "git commit -m 'a b'"}),
        (call("find", {"text": "tax"}, namespace="mcp__tickets"), "mcp__tickets__find", {"text": "tax"}),
        (call("view_image", {"path": "/a.png"}), "view_image", {"path": "/a.png"}),
        (
            codex("response_item", type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c-1"),
            "apply_patch",
            {"command": "*** Begin Patch"},
        ),
    ],
)
def test_codexs_call_is_what_its_hook_hears_of(made: dict[str, Any], tool: str, given: dict[str, Any]) -> None:
    (event,), met = read(META, TURN, made)
    assert event.payload == {
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": given,
        "session_id": "s-2",
        "turn_id": "t-1",
        "cwd": "/home/dev/shop/api",
        "permission_mode": "default",
        "tool_use_id": "c-1",
    }
    assert not met.skipped


@pytest.mark.parametrize("made", [call("write_stdin", {"chars": "rm -rf ~\n"}), call("update_plan", {"plan": []})])
def test_a_call_of_which_no_hook_hears_is_no_event(made: dict[str, Any]) -> None:
    assert read(META, TURN, made, output("ok"))[0] == []


@pytest.mark.parametrize(
    ("said", "response"),
    [
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno\n", "no\n"),
        ('{"output": "no", "metadata": {"exit_code": 2}}', "no"),
        ("Chunk ID: 1\nProcess running with session ID 7\nOutput:\nso far\n", None),
        ("Command blocked by PreToolUse hook: never. Command: make", None),
    ],
)
def test_codexs_result_is_the_bare_output_where_its_hook_is_called_at_all(said: str, response: str | None) -> None:
    events, _ = read(META, TURN, call("exec_command", {"cmd": "make"}), output(said))
    assert names(events) == ["PreToolUse"] + ["PostToolUse"] * (response is not None)
    assert response is None or (events[1].payload or {})["tool_response"] == response


def test_the_whole_output_is_taken_where_the_rollout_has_it() -> None:
    item = {"type": "CommandExecution", "id": "c-1", "aggregated_output": "all of it"}
    said = output("Process exited with code 0\nOutput:\nall …\n")
    events, _ = read(
        META, TURN, call("exec_command", {"cmd": "make"}), codex("event_msg", type="item_completed", item=item), said
    )
    assert (events[1].payload or {})["tool_response"] == "all of it"


def test_a_codex_subagents_rollout_has_nobodys_request() -> None:
    meta = codex("session_meta", id="s-2", cwd="/", source={"subagent": "review"})
    typed = codex("event_msg", type="user_message", message="Go")
    (event,), _ = read(meta, TURN, typed, call("exec_command", {"cmd": "ls"}))
    assert event.requests == ()
    (event,), _ = read(META, TURN, typed, call("exec_command", {"cmd": "ls"}))
    assert event.requests == ("Go",)


def test_a_ledger_entry_is_the_call_where_it_is_recorded_whole_and_its_record_alone_where_not() -> None:
    state = {"tool": "Bash", "input": {"command": "ls"}, "result": None}
    whole, cut, bare = read(entry(state=state), entry(state=state, state_cut=1), entry(state_digest="0" * 64))[0]
    assert whole.payload is not None and whole.payload["tool_input"] == {"command": "ls"}
    assert cut.payload is None and bare.payload is None
    assert whole.key == cut.key == ("claude", "s-1", "toolu_1", False)


def test_the_doctors_probes_and_events_about_no_call_are_no_events_of_the_past() -> None:
    assert read(entry(origin="doctor"), entry(kind="other", event="Stop"))[0] == []


HALF = json.dumps(claude("assistant", [CALL]))[:80]


@pytest.mark.parametrize(
    ("lines", "events", "skipped"),
    [
        ([claude("user", "x"), HALF, claude("assistant", [CALL])], 1, {"a broken line": 1}),
        ([claude("user", "x"), {"sessionId": "s"}, [1]], 0, {"not a line of Claude Code's": 1, "a broken line": 1}),
        ([claude("assistant", [CALL]), claude("assistant", [CALL], message="another shape")], 1, {"a line of another version": 1}),
        ([claude("assistant", ["text", {**CALL, "input": "text"}])], 0, {"a line of another version": 2}),
        ([META, TURN, call("exec_command", "{"), call("exec_command", {"cmd": 7})], 0, {"a line of another version": 2}),
        ([META, '{"type": "resp', {"type": "x"}], 0, {"a broken line": 1, "not a line of Codex's": 1}),
        ([{"type": "message", "role": "user", "content": []}] * 3, 0, {"a line of another version": 3}),
        ([entry(), json.dumps(entry())[:50], entry(schema=2), {"a": 1}], 1, {"a torn line": 1, "an entry of another schema": 1, "no ledger entry": 1}),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_counted_by_kind_and_takes_nothing_with_it(
    lines: list[Any], events: int, skipped: dict[str, int]
) -> None:
    found, met = read(*lines)
    assert len(found) == events
    assert met.skipped == skipped
    assert set(met.first) == set(skipped) and all(where.startswith("F:") for where in met.first.values())


def test_a_file_of_no_known_form_has_no_events_unless_it_was_named() -> None:
    found, met = read({"a": 1}, {"b": 2}, named=False)
    assert found == [] and met.skipped == {"a file of no known form": 1}
    found, _ = read({"a": 1}, "{", named=True)
    assert [bool(event.trouble) for event in found] == [True, True]
    assert [event.foreign for event in found] == [True, False]


def test_a_line_without_an_end_of_any_length_is_one_broken_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_LINE", 1000)
    found, met = read(claude("user", "x" * 5000), claude("assistant", [CALL]), claude("user", "y" * 5000))
    assert len(found) == 1 and met.skipped == {"a broken line": 2}


def test_directories_and_patterns_are_walked_and_each_file_is_read_once(tmp_path: Path) -> None:
    for name in (
        "b/deep/x.jsonl",
        "a.jsonl",
        "notes.txt",
        "led/ledger.ndjson",
        "led/ledger.ndjson.10",
        "led/ledger.ndjson.2",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    os.symlink(tmp_path / "b", tmp_path / "linked")
    here = [os.path.relpath(source.path, tmp_path) for source in history.find([str(tmp_path)])]
    assert here == ["a.jsonl", "b/deep/x.jsonl", "led/ledger.ndjson.10", "led/ledger.ndjson.2", "led/ledger.ndjson"]
    found = history.find([str(tmp_path / "b" / "**" / "*.jsonl"), str(tmp_path / "b" / "deep" / "x.jsonl")])
    assert [source.named for source in found] == [False]
    for nothing in ("none", "*.toml", "notes.d"):
        (tmp_path / "notes.d").mkdir(exist_ok=True)
        with pytest.raises(NoSource, match=r"no such file|no \.jsonl"):
            history.find([str(tmp_path / nothing)])


def test_what_is_no_file_is_not_opened() -> None:
    with pytest.raises(OSError, match="not a file"):
        history.open_file("/dev/null")


def test_a_pipe_that_lies_among_transcripts_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.jsonl")
    (source,) = history.find([str(tmp_path)])
    with pytest.raises(OSError, match="not a file"):
        history.open_file(source.path, source.named)
    (source,) = history.find([str(tmp_path / "*.jsonl")])
    with pytest.raises(OSError, match="not a file"):
        history.open_file(source.path, source.named)


def test_the_index_knows_what_the_ledger_tells_of_an_event_and_which_file_had_it(tmp_path: Path) -> None:
    kept = index.Index(str(tmp_path / "index"))
    point = {"point": "tool.risk", "judge": {"answers": {"asked": {"p": 0.9}}}}
    lines = [json.dumps(entry(points=[point])).encode(), b'{"answers":', json.dumps(entry()).encode()]
    kept.add(enumerate(lines, 1))
    (event, *_), _ = read(claude("assistant", [CALL]))
    (other, *_), _ = read(claude("assistant", [CALL], sessionId="s-9"))
    assert kept.known(event) == (event, [point])
    assert kept.known(other) == (other, None)
    changed = json.dumps(entry(event="PostToolUse", kind="after-tool", decision="withhold"), separators=(",", ":"))
    kept.add([(1, changed.encode())])
    (_, after), _ = read(claude("assistant", [CALL]), result("what the model was given"))
    replaced, points = kept.known(after)
    assert replaced.by_entry and replaced.entry is not None and replaced.where == after.where and points is None
    state = {"tool": "Bash", "input": {}, "result": "what the tool had said"}
    kept.add([(1, json.dumps({**replaced.entry, "state": state}, separators=(",", ":")).encode())])
    replaced, _ = kept.known(after)
    assert (replaced.payload or {})["tool_response"] == "what the tool had said"
    assert [kept.again(event, 0), kept.again(event, 0), kept.again(event, 1), kept.again(other, 1)] == [
        False,
        False,
        True,
        False,
    ]
    (recorded,), _ = read(entry())
    assert kept.again(recorded, 2) is True
    kept.close()
