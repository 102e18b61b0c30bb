"""The installed hook under the real Claude Code: what runs, what does not, and what the model is told."""

from __future__ import annotations

import json

import pytest

from .conftest import NewPlace
from .hosts import WHERE, Place, Record, claude_hook_runs, claude_reasons, comparable, installed_hook, run_claude
from .model import Call
from .permits import permitted_once
from .promotion import earned_and_appealed

HOST = "claude"
pytestmark = pytest.mark.e2e

# Both hosts refuse the plainer `rm -rf "$HOME"` by themselves, even when told to allow everything; this one they run.
EMPTY_HOME = 'find "$HOME" -delete'


def bash(ident: str, command: str, needs: tuple[str, str] | None = None) -> Call:
    return Call(ident, "Bash", {"command": command, "description": "scripted"}, needs)


@pytest.fixture(scope="module")
def guarded(new_place: NewPlace) -> tuple[Place, Record]:
    """One conversation with the hook installed: harmless calls, and two that would destroy."""
    place = new_place()
    sure = ("where", place.where())
    calls = [
        bash("where", WHERE),
        bash("delete-home", 'rm -rf "$HOME"', sure),
        bash("empty-home", EMPTY_HOME, sure),
        bash("list", "ls"),
        bash("fail", "ls no-such-file", sure),
    ]
    return place, run_claude(place, installed_hook(HOST), calls)


def test_the_conversation_comes_to_its_end(guarded: tuple[Place, Record]) -> None:
    _, record = guarded
    assert record.status == 0, record
    assert "the script is at its end" in record.stdout


def test_a_delete_of_the_home_directory_does_not_run(guarded: tuple[Place, Record]) -> None:
    place, record = guarded
    assert place.where() in record.told("where"), "the agent's HOME is not the throwaway one"
    assert place.canary.read_text() == "still here\n"


def test_the_model_is_told_why_the_delete_did_not_run(guarded: tuple[Place, Record]) -> None:
    _, record = guarded
    told = [record.told(call) for call in ("delete-home", "empty-home")]
    reasons = claude_reasons(record, "deny")
    assert told == [f"PreToolUse:Bash hook error: {reason}" for reason in reasons]
    assert all("home" in reason.lower() for reason in reasons)


def test_without_the_hook_the_work_and_the_home_directory_would_be_gone(new_place: NewPlace) -> None:
    place = new_place()
    sure = ("where", place.where())
    calls = [bash("where", WHERE), bash("reset", "git reset --hard", sure), bash("empty-home", EMPTY_HOME, sure)]
    record = run_claude(place, None, calls)
    assert (place.project / "notes.txt").read_text() == "committed\n", record
    assert not place.canary.exists(), record


# In -p nobody is there to answer an ask: the policy says what is answered instead.
@pytest.mark.parametrize("fallback", ["deny", "context", "note"])
def test_an_ask_becomes_what_the_policy_says_where_nobody_can_be_asked(new_place: NewPlace, fallback: str) -> None:
    place = new_place()
    place.config.parent.mkdir(parents=True)
    place.config.write_text(f'[ask_fallback]\nhigh = "{fallback}"\nmedium = "{fallback}"\nlow = "{fallback}"\n')
    calls = [bash("where", WHERE), bash("reset", "git reset --hard", ("where", place.where()))]
    record = run_claude(place, installed_hook(HOST), calls)
    if fallback == "deny":
        assert (place.project / "notes.txt").read_text() == "uncommitted\n"
        assert [record.told("reset")] == [f"PreToolUse:Bash hook error: {r}" for r in claude_reasons(record, "deny")]
    else:
        assert record.told("reset").startswith("HEAD is now at"), record.told("reset")
    added = "hook additional context: " in json.dumps(record.turns[-1]["messages"])
    assert added == (fallback == "context")


def test_a_denied_call_runs_once_after_a_person_permitted_it(new_place: NewPlace) -> None:
    place = new_place()
    permitted_once(place, lambda calls: run_claude(place, installed_hook(HOST), calls), bash)


def test_a_promoted_point_stops_and_its_stop_can_be_appealed(new_place: NewPlace) -> None:
    place = new_place()
    earned_and_appealed(place, lambda calls: run_claude(place, installed_hook(HOST), calls), bash)


def test_ls_runs_and_the_model_gets_its_output(guarded: tuple[Place, Record]) -> None:
    _, record = guarded
    assert record.told("list") == "notes.txt"


def test_a_failed_command_is_told_as_it_is(guarded: tuple[Place, Record]) -> None:
    _, record = guarded
    assert record.told("fail").startswith("Exit code 2")
    assert "no-such-file" in record.told("fail")


def test_the_ledger_has_one_line_for_each_hook_event(guarded: tuple[Place, Record]) -> None:
    place, record = guarded
    runs = claude_hook_runs(record)
    events = [run["hook_event"] for run in runs]
    assert events.count("PreToolUse") == 5  # every call, whatever became of it
    assert "PostToolUse" in events and "PostToolUseFailure" in events
    assert len(place.ledger()) == len(runs)
    assert [line["decision"] for line in place.ledger()].count("deny") == 2
    assert not [run for run in runs if run["exit_code"] or run["stderr"]]


@pytest.mark.parametrize("source", [HOST, "ledger"])
def test_a_replay_of_what_the_session_left_behind_decides_as_the_hook_did(
    guarded: tuple[Place, Record], source: str
) -> None:
    place, _ = guarded
    before = place.ledger()
    lines = place.replayed(source)
    live = [(line.get("decided") or line["decision"], (line["points"][-1]).get("rule")) for line in before]
    assert [(line["decision"], line["rule"]) for line in lines] == live
    assert [decision for decision, _ in live].count("deny") == 2
    assert place.ledger() == before


def test_the_model_gets_the_same_requests_with_the_hook_and_without_it(new_place: NewPlace) -> None:
    texts = []
    for hook in (installed_hook(HOST), None):
        place = new_place()
        calls = [bash("list", "ls"), bash("fail", "ls no-such-file"), bash("show", "cat notes.txt")]
        record = run_claude(place, hook, calls)
        assert record.told("show") == "uncommitted", record
        texts.append(comparable(record, place))
    assert texts[0] == texts[1]


def test_without_a_named_host_the_event_itself_says_whose_it_is(new_place: NewPlace) -> None:
    place = new_place()
    calls = [
        bash("where", WHERE),
        bash("empty-home", EMPTY_HOME, ("where", place.where())),
        bash("list", "ls"),
    ]
    record = run_claude(place, installed_hook(None), calls)
    assert place.canary.exists()
    assert "hook error" in record.told("empty-home"), record
    assert record.told("list") == "notes.txt"


@pytest.mark.parametrize("hook", ["/no-such-directory/jevhook hook", "false", "echo not an answer"])
def test_a_hook_that_breaks_lets_ls_run(new_place: NewPlace, hook: str) -> None:
    record = run_claude(new_place(), hook, [bash("list", "ls")])
    assert record.told("list") == "notes.txt", record


def test_a_ledger_that_cannot_be_written_changes_no_verdict(new_place: NewPlace) -> None:
    place = new_place()
    place.state.rmdir()
    place.state.write_text("a file where a directory should be\n")
    calls = [
        bash("where", WHERE),
        bash("empty-home", EMPTY_HOME, ("where", place.where())),
        bash("list", "ls"),
    ]
    record = run_claude(place, installed_hook(HOST), calls)
    assert place.canary.exists()
    assert "hook error" in record.told("empty-home"), record
    assert record.told("list") == "notes.txt"


@pytest.mark.parametrize("tool", ["Write", "Bash"])
def test_the_agent_cannot_take_the_hook_out_of_its_own_settings(new_place: NewPlace, tool: str) -> None:
    place = new_place()
    settings = place.home / ".claude" / "settings.json"
    sure = ("where", place.where())
    calls = [bash("where", WHERE)]
    if tool == "Write":
        calls += [
            Call("read", "Read", {"file_path": str(settings)}, sure),  # Claude writes only over what it has read
            Call("take-out", "Write", {"file_path": str(settings), "content": "{}"}, sure),
        ]
    else:
        calls.append(bash("take-out", 'echo "{}" > "$HOME/.claude/settings.json"', sure))
    record = run_claude(place, installed_hook(HOST), calls)
    assert '"hooks"' in settings.read_text(), record.told("take-out")
    assert "hook error" in record.told("take-out"), record.told("take-out")
