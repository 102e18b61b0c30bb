"""After the tool, under the real Claude Code: what of a result reaches the model in its next request."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from .conftest import NewPlace
from .hosts import EVENTS, Place, Record, claude_hook_runs, installed_hook, nested, run_claude
from .model import Call, results
from .planted import (
    ARCHIVE,
    DOCUMENT,
    FAILURE,
    LOGS,
    LONG,
    NOTE,
    ORDER,
    PAGES,
    PLACE,
    furnish,
    lines_of,
    put_back,
    taken_out,
)

HOST = "claude"
PROGRAMS = ("curl", "make", "openssl")
pytestmark = pytest.mark.e2e
SAVED = r"Full output saved to: (/\S+)"  # of an output that Claude Code shows 2 KB of


def bash(ident: str, command: str, takes: tuple[str, str] | None = None, **more: Any) -> Call:
    return Call(ident, "Bash", {"command": command, "description": "scripted", **more}, takes=takes)


def fetch(ident: str, name: str) -> Call:
    return Call(ident, "mcp__desk__fetch", {"name": name})


def results_of_all_kinds(place: Place) -> list[Call]:
    return [
        Call("tools", "ToolSearch", {"query": "select:mcp__desk__fetch,WebFetch"}),
        bash("short", "make short"),
        bash("middle", "make middle"),
        fetch("mcp", "document"),
        fetch("rows", "rows"),
        Call("web", "WebFetch", {"url": "@SECURE@/page", "prompt": "all of it"}),
        bash("curl", "curl -s @MODEL@/page"),
        Call("file", "Read", {"file_path": str(place.root / "outside.md")}),
        bash("curl-long", "curl -s @MODEL@/long"),
        Call("long-file", "Read", {"file_path": "@TAKEN@", "offset": 990, "limit": 40}, takes=("curl-long", SAVED)),
        fetch("broken", "broken"),
        bash("failed", "curl -s @MODEL@/page; exit 3"),
    ]


@pytest.fixture(scope="module")
def plain(new_place: NewPlace) -> tuple[Place, Record]:
    """The conversation without the hook: the order reaches the model with every result."""
    place = new_place()
    return place, run_claude(place, None, results_of_all_kinds(place), PAGES, furnish(place))


@pytest.fixture(scope="module")
def guarded(new_place: NewPlace) -> tuple[Place, Record]:
    """The same with the hook as it ships (orders are withheld, shortening is in shadow), and a harmful call at its ends."""
    place = new_place()
    served = furnish(place)
    calls = [bash("reset", "git reset --hard"), *results_of_all_kinds(place), bash("clean", "git clean -fdx")]
    return place, run_claude(place, installed_hook(HOST), calls, PAGES, served)


@pytest.mark.parametrize("call", ["mcp", "rows", "web", "curl", "file", "broken", "failed"])
def test_without_the_hook_the_order_reaches_the_model(plain: tuple[Place, Record], call: str) -> None:
    assert PLACE in plain[1].told(call), plain[1]


@pytest.mark.parametrize("call", ["mcp", "rows", "web", "curl"])
def test_an_order_does_not_reach_the_model_and_the_rest_does_byte_for_byte(
    plain: tuple[Place, Record], guarded: tuple[Place, Record], call: str
) -> None:
    passage = taken_out(plain[1].told(call), guarded[1].told(call))
    assert ORDER in passage and len(passage) < len(ORDER) + 10
    before, after = lines_of(guarded[0], call)
    assert (before["decision"], after["decision"]) == ("none", "withhold")
    point = after["points"]["tool.injection"]
    assert (point["mode"], point["acted"], point["source"]) == ("active", True, "rules")
    (told,) = point["passages"]
    assert told["withheld"] is True and PLACE in told["said"]


def test_of_a_file_the_model_gets_the_same_lines_with_the_same_numbers(
    plain: tuple[Place, Record], guarded: tuple[Place, Record]
) -> None:
    whole, shown = (record.told("file").split("\n") for _, record in (plain, guarded))
    assert len(whole) == len(shown)
    changed = [number for number, (old, new) in enumerate(zip(whole, shown, strict=True)) if old != new]
    assert [whole[number].partition("\t")[2] for number in changed] == [ORDER]
    assert NOTE.search(shown[changed[0]])


def test_the_order_is_in_no_request_but_those_that_no_hook_can_change(guarded: tuple[Place, Record]) -> None:
    # Claude Code gives a fetched page to a helper before any hook, and a failed call's text to the model whatever a
    # hook says.
    turns = [turn for turn in guarded[1].turns if not {"broken", "failed"} & set(results(turn))]
    assert turns
    assert all(PLACE not in json.dumps(turn) for turn in turns)


def test_of_an_output_that_is_too_long_to_show_the_whole_is_screened(
    plain: tuple[Place, Record], guarded: tuple[Place, Record]
) -> None:
    shown = guarded[1].told("curl-long")
    assert shown.startswith("<persisted-output>\n") and "jevhook" not in shown
    assert PLACE in plain[1].told("long-file")
    kept = Path(shown.partition("Full output saved to: ")[2].partition("\n")[0])
    assert PLACE not in guarded[1].told("long-file")
    with kept.open(newline="") as file:  # the file that the model is told of is Claude Code's own, of what we handed on
        assert ORDER in taken_out(LONG.rstrip(), file.read())


@pytest.mark.parametrize("call", ["broken", "failed"])
def test_of_a_failed_call_the_model_is_warned(guarded: tuple[Place, Record], call: str) -> None:
    place, record = guarded
    assert PLACE in record.told(call)  # nothing of it can be replaced
    after = lines_of(place, call)[-1]
    assert (after["event"], after["decision"]) == ("PostToolUseFailure", "context")
    (told,) = after["points"]["tool.injection"]["passages"]
    assert f"line {told['lines'][0]})" in after["points"]["tool.injection"]["said"]
    # the warning stands in the conversation, in the words of the ledger
    assert after["points"]["tool.injection"]["said"] in json.dumps(record.turns[-1]["messages"])


def test_what_was_flagged_is_known_when_the_next_call_is_judged(guarded: tuple[Place, Record]) -> None:
    place, record = guarded
    (first,), (last,) = lines_of(place, "reset"), lines_of(place, "clean")
    assert "flagged" not in first["points"]["tool.risk"]
    assert {mark["source"] for mark in last["points"]["tool.risk"]["flagged"]} <= {"mcp", "web", "command", "file"}
    assert (first["decision"], last["decision"]) == ("deny", "deny")
    assert (place.project / "notes.txt").read_text() == "uncommitted\n"
    assert (place.project / "Makefile").exists(), record


@pytest.mark.parametrize("call", ["short", "middle"])
def test_in_shadow_a_long_log_reaches_the_model_as_it_is(
    plain: tuple[Place, Record], guarded: tuple[Place, Record], call: str
) -> None:
    old, new = (record.told(call) for _, record in (plain, guarded))
    assert "jevhook" not in new
    assert [line for line in old.split("\n") if "saved to" not in line] == [
        line for line in new.split("\n") if "saved to" not in line
    ]
    point = lines_of(guarded[0], call)[-1]["points"]["tool.admission"]
    assert (point["mode"], point["judged"], point["outcome"], point["acted"]) == ("shadow", "trim", "none", False)
    assert point["saved"] > 0.5 * len(LOGS[call])
    assert not (guarded[0].state / "jevhook" / "archive").exists()


def test_every_event_has_one_line_and_no_hook_failed(guarded: tuple[Place, Record]) -> None:
    place, record = guarded
    runs = claude_hook_runs(record)
    assert record.status == 0
    assert len(place.ledger()) == len(runs)
    assert not [run for run in runs if run["exit_code"] or run["stderr"]]


# ------------------------------------------------------------------------------------------------ tool.admission


def test_a_replay_of_the_session_decides_as_the_hook_did(guarded: tuple[Place, Record]) -> None:
    live = [line.get("decided") or line["decision"] for line in guarded[0].ledger()]
    replayed = [line["decision"] for line in guarded[0].replayed(HOST)]
    assert replayed == ["none" if decision == "context" else decision for decision in live]


def test_a_replay_of_a_session_without_the_hook_says_what_would_have_been_withheld(plain: tuple[Place, Record]) -> None:
    lines = plain[0].replayed(HOST)
    calls = [call.id for call in results_of_all_kinds(plain[0])]
    withheld = {call for call, after in zip(calls, lines[1::2], strict=True) if after["decision"] == "withhold"}
    assert withheld == {"mcp", "rows", "web", "curl", "file", "curl-long", "long-file"}


@pytest.fixture(scope="module")
def shortened(new_place: NewPlace) -> tuple[Place, Record]:
    """Long logs with tool.admission active, then the ways in which an agent looks at what was left out."""
    place = new_place()
    furnish(place, '[modes]\n"tool.admission" = "active"\n')
    calls = [
        bash("start", "curl -s @MODEL@/page", run_in_background=True),
        *(bash(name, f"make {name}") for name in LOGS),
        bash("screened", "curl -s @MODEL@/run"),
        bash("cat", "cat @TAKEN@", ("short", ARCHIVE)),
        Call("read", "Read", {"file_path": "@TAKEN@"}, takes=("short", ARCHIVE)),
        bash("part", "sed -n 300,700p @TAKEN@", ("long", ARCHIVE)),
        Call("look", "Read", {"file_path": "@TAKEN@"}, takes=("start", r"(/\S+\.output)")),
    ]
    return place, run_claude(place, installed_hook(HOST), calls, PAGES)


def archived(record: Record, call: str) -> Path:
    told = record.told(call)
    return Path(told.partition(" of /")[2].partition("]")[0].join(("/", "")))


@pytest.mark.parametrize("call", LOGS)
def test_a_long_log_is_shortened_and_the_archive_holds_all_of_it(shortened: tuple[Place, Record], call: str) -> None:
    place, record = shortened
    whole, shown = LOGS[call].rstrip("\n"), record.told(call)
    assert len(shown) < 0.4 * len(whole) and len(shown) < 30_000
    assert FAILURE in shown and "test_rounding FAILED" in shown
    assert put_back(shown, whole) == whole
    kept = archived(record, call)
    assert kept.read_text().rstrip("\n") == whole
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    line = lines_of(place, call)[-1]
    assert line["decision"] == "trim"
    assert line["points"]["tool.admission"]["archived"] == 1
    assert 0 <= line["points"]["tool.admission"]["saved"] - (len(whole) - len(shown)) <= 1


def test_the_archive_holds_the_screened_output(shortened: tuple[Place, Record]) -> None:
    place, record = shortened
    kept = archived(record, "screened").read_text()
    assert ORDER in taken_out(PAGES["/run"].rstrip("\n"), kept.rstrip("\n"))
    assert PLACE not in json.dumps(record.turns)
    points = lines_of(place, "screened")[-1]["points"]
    assert (points["tool.injection"]["outcome"], points["tool.admission"]["outcome"]) == ("withhold", "trim")


def test_what_was_left_out_can_be_read_and_is_not_shortened_again(shortened: tuple[Place, Record]) -> None:
    place, record = shortened
    whole = LOGS["short"].rstrip("\n")
    assert record.told("cat") == whole
    assert [line.partition("\t")[2] for line in record.told("read").split("\n")] == whole.split("\n")
    assert record.told("part") == "\n".join(LOGS["long"].split("\n")[299:700])
    for call in ("cat", "read", "part"):
        assert lines_of(place, call)[-1]["decision"] == "none"


def test_the_output_of_a_command_in_the_background_is_screened_where_it_is_read(
    shortened: tuple[Place, Record],
) -> None:
    place, record = shortened
    assert record.told("start").startswith("Command running in background"), record
    assert "tool.injection" in lines_of(place, "start")[-1]["points"]  # which has nothing to look at yet
    assert NOTE.search(record.told("look")), record


def test_two_hooks_for_one_call_hand_on_one_result(new_place: NewPlace) -> None:
    place = new_place()
    served = furnish(place, '[modes]\n"tool.admission" = "active"\n')
    again = place.project / ".claude" / "settings.json"  # a team's repository that installs it for everyone
    again.parent.mkdir()
    again.write_text(json.dumps({"hooks": nested(EVENTS[HOST], installed_hook(HOST))}))
    calls = [Call("tools", "ToolSearch", {"query": "select:mcp__desk__fetch"}), fetch("mcp", "document")]
    record = run_claude(place, installed_hook(HOST), [*calls, bash("middle", "make middle")], None, served)
    assert ORDER in taken_out(f"First block.\n{DOCUMENT}", record.told("mcp"))
    whole = LOGS["middle"].rstrip("\n")
    assert put_back(record.told("middle"), whole) == whole
    assert len(list(archived(record, "middle").parent.glob("*.txt"))) == 1
    assert [line["decision"] for line in lines_of(place, "middle")] == ["none", "none", "trim", "trim"]
