"""The installed hook under the real Codex: what runs, what does not, and what the model is told."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import NewPlace
from .hosts import WHERE, Place, Record, codex_hook_runs, codex_trust, comparable, installed_hook, run_codex
from .model import Call
from .permits import permitted_once
from .promotion import earned_and_appealed

HOST = "codex"
pytestmark = pytest.mark.e2e

# Both hosts refuse the plainer `rm -rf "$HOME"` by themselves, even when told to allow everything; this one they run.
EMPTY_HOME = 'find "$HOME" -delete'


def shell(ident: str, command: str, needs: tuple[str, str] | None = None) -> Call:
    return Call(ident, "exec_command", {"cmd": command}, needs)


def developer_messages(turn: dict[str, Any]) -> list[Any]:
    return [item for item in turn["input"] if item.get("role") == "developer"]


@pytest.fixture(scope="module")
def guarded(new_place: NewPlace) -> tuple[Place, Record]:
    """One conversation with the hook installed: harmless calls, and two that would destroy."""
    place = new_place()
    sure = ("where", place.where())
    calls = [
        shell("where", WHERE),
        shell("delete-home", 'rm -rf "$HOME"', sure),
        shell("empty-home", EMPTY_HOME, sure),
        shell("list", "ls"),
        shell("fail", "ls no-such-file", sure),
    ]
    return place, run_codex(place, installed_hook(HOST), calls)


def test_the_conversation_comes_to_its_end(guarded: tuple[Place, Record]) -> None:
    _, record = guarded
    assert record.status == 0, record
    assert "the script is at its end" in record.stdout


def test_a_delete_of_the_home_directory_does_not_run(guarded: tuple[Place, Record]) -> None:
    place, record = guarded
    assert place.where() in record.told("where"), "the agent's HOME is not the throwaway one"
    assert place.canary.read_text() == "still here\n"


@pytest.mark.parametrize("call", ["delete-home", "empty-home"])
def test_the_model_is_told_why_the_delete_did_not_run(guarded: tuple[Place, Record], call: str) -> None:
    _, record = guarded
    told = record.told(call)
    assert told.startswith("Command blocked by PreToolUse hook: "), told
    assert "home" in told.partition(" Command: ")[0].lower()


def test_without_the_hook_the_work_and_the_home_directory_would_be_gone(new_place: NewPlace) -> None:
    place = new_place()
    sure = ("where", place.where())
    calls = [shell("where", WHERE), shell("reset", "git reset --hard", sure), shell("empty-home", EMPTY_HOME, sure)]
    record = run_codex(place, None, calls)
    assert (place.project / "notes.txt").read_text() == "committed\n", record
    assert not place.canary.exists(), record


# Codex knows no ask, and runs the call when it gets one: the policy says what is answered instead.
@pytest.mark.parametrize("fallback", ["deny", "context", "note"])
def test_an_ask_becomes_what_the_policy_says_where_nobody_can_be_asked(new_place: NewPlace, fallback: str) -> None:
    place = new_place()
    place.config.parent.mkdir(parents=True)
    place.config.write_text(f'[ask_fallback]\nhigh = "{fallback}"\nmedium = "{fallback}"\nlow = "{fallback}"\n')
    calls = [shell("where", WHERE), shell("reset", "git reset --hard", ("where", place.where()))]
    record = run_codex(place, installed_hook(HOST), calls)
    before, after = (developer_messages(turn) for turn in record.turns[-2:])
    if fallback == "deny":
        assert (place.project / "notes.txt").read_text() == "uncommitted\n"
        assert record.told("reset").startswith("Command blocked by PreToolUse hook: "), record.told("reset")
    else:
        assert "HEAD is now at" in record.told("reset"), record.told("reset")
    assert len(after) - len(before) == (1 if fallback == "context" else 0), after


def test_a_denied_call_runs_once_after_a_person_permitted_it(new_place: NewPlace) -> None:
    place = new_place()

    def run(calls: list[Call]) -> Record:
        (place.home / ".codex" / "config.toml").unlink(missing_ok=True)  # run_codex keeps what it finds there
        return run_codex(place, installed_hook(HOST), calls)

    permitted_once(place, run, shell)


def test_a_promoted_point_stops_and_its_stop_can_be_appealed(new_place: NewPlace) -> None:
    place = new_place()

    def run(calls: list[Call]) -> Record:
        (place.home / ".codex" / "config.toml").unlink(missing_ok=True)  # run_codex keeps what it finds there
        return run_codex(place, installed_hook(HOST), calls)

    earned_and_appealed(place, run, shell)


def test_ls_runs_and_the_model_gets_its_output(guarded: tuple[Place, Record]) -> None:
    _, record = guarded
    assert record.told("list").endswith("\nOutput:\nnotes.txt\n")


def test_a_failed_command_is_told_as_it_is(guarded: tuple[Place, Record]) -> None:
    _, record = guarded
    assert "Process exited with code 2" in record.told("fail")
    assert "no-such-file" in record.told("fail")


def test_no_answer_of_the_hook_is_thrown_away(guarded: tuple[Place, Record]) -> None:
    _, record = guarded
    assert not [line for line in record.stderr.splitlines() if line.startswith("hook: ") and "Failed" in line]


def test_the_ledger_has_one_line_for_each_hook_event(guarded: tuple[Place, Record]) -> None:
    place, record = guarded
    runs = codex_hook_runs(record)
    assert runs.count("PreToolUse") == 5  # every call, whatever became of them
    assert "PostToolUse" in runs
    assert len(place.ledger()) == len(runs)
    assert [line["decision"] for line in place.ledger()].count("deny") == 2


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
        calls = [shell("list", "ls"), shell("fail", "ls no-such-file"), shell("show", "cat notes.txt")]
        record = run_codex(place, hook, calls)
        assert record.told("show").endswith("\nuncommitted\n"), record
        texts.append(comparable(record, place))
    assert texts[0] == texts[1]


def test_without_a_named_host_the_event_itself_says_whose_it_is(new_place: NewPlace) -> None:
    place = new_place()
    calls = [
        shell("where", WHERE),
        shell("empty-home", EMPTY_HOME, ("where", place.where())),
        shell("list", "ls"),
    ]
    record = run_codex(place, installed_hook(None), calls)
    assert place.canary.exists()
    assert "blocked by PreToolUse hook" in record.told("empty-home"), record
    assert record.told("list").endswith("\nnotes.txt\n")


@pytest.mark.parametrize("hook", ["/no-such-directory/jevhook hook", "false", "echo not an answer"])
def test_a_hook_that_breaks_lets_ls_run(new_place: NewPlace, hook: str) -> None:
    record = run_codex(new_place(), hook, [shell("list", "ls")])
    assert record.told("list").endswith("\nnotes.txt\n"), record


def test_a_ledger_that_cannot_be_written_changes_no_verdict(new_place: NewPlace) -> None:
    place = new_place()
    place.state.rmdir()
    place.state.write_text("a file where a directory should be\n")
    calls = [
        shell("where", WHERE),
        shell("empty-home", EMPTY_HOME, ("where", place.where())),
        shell("list", "ls"),
    ]
    record = run_codex(place, installed_hook(HOST), calls)
    assert place.canary.exists()
    assert "blocked by PreToolUse hook" in record.told("empty-home"), record
    assert record.told("list").endswith("\nnotes.txt\n")


@pytest.mark.parametrize("file", [".codex/hooks.json", ".codex/config.toml", ".claude/settings.json"])
def test_the_agent_cannot_take_the_hook_out_of_a_hosts_settings(new_place: NewPlace, file: str) -> None:
    place = new_place()
    calls = [
        shell("where", WHERE),
        shell("take-out", f'echo "{{}}" > "$HOME/{file}"', ("where", place.where())),
    ]
    (place.home / ".claude").mkdir()
    record = run_codex(place, installed_hook(HOST), calls)
    assert "blocked by PreToolUse hook" in record.told("take-out"), record.told("take-out")
    path = place.home / file
    assert not path.exists() or path.read_text() != "{}\n"


def test_the_trust_hash_covers_the_definition_with_its_defaults_written_out() -> None:
    group = {"hooks": [{"type": "command", "command": "guard"}]}
    explicit = {"hooks": [{"async": False, "timeout": 600, "command": "guard", "type": "command"}]}
    assert codex_trust("pre_tool_use", group) == codex_trust("pre_tool_use", explicit)
    assert codex_trust("pre_tool_use", group) != codex_trust("post_tool_use", group)
    assert codex_trust("pre_tool_use", group | {"matcher": "Bash"}) != codex_trust("pre_tool_use", group)
