"""After the tool, under the real Codex: what of a result reaches the model in its next request."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from .conftest import NewPlace
from .hosts import Place, Record, codex_hook_runs, installed_hook, run_codex
from .model import Call, results
from .planted import ARCHIVE, FAILURE, LOGS, LONG, ORDER, PAGES, PLACE, furnish, lines_of, put_back, taken_out

HOST = "codex"
PROGRAMS = ("curl", "make")
pytestmark = pytest.mark.e2e


def shell(ident: str, command: str, takes: tuple[str, str] | None = None) -> Call:
    return Call(ident, "exec_command", {"cmd": command}, takes=takes)


def fetch(ident: str, name: str) -> Call:
    return Call(ident, "fetch", {"name": name}, namespace="mcp__desk")


def results_of_all_kinds(place: Place) -> list[Call]:
    return [
        shell("short", "make short"),
        shell("middle", "make middle"),
        fetch("mcp", "document"),
        fetch("rows", "rows"),
        shell("curl", "curl -s @MODEL@/page"),
        shell("failed", "curl -s @MODEL@/page; exit 3"),
        shell("file", f"cat {place.root}/outside.md"),
        fetch("mcp-long", "long"),
        fetch("broken", "broken"),
    ]


@pytest.fixture(scope="module")
def plain(new_place: NewPlace) -> tuple[Place, Record]:
    """The conversation without the hook: the order reaches the model with every result."""
    place = new_place()
    return place, run_codex(place, None, results_of_all_kinds(place), PAGES, furnish(place))


@pytest.fixture(scope="module")
def guarded(new_place: NewPlace) -> tuple[Place, Record]:
    """The same with the hook as it ships (orders are withheld, shortening is in shadow), and a harmful call at its ends."""
    place = new_place()
    served = furnish(place)
    calls = [shell("reset", "git reset --hard"), *results_of_all_kinds(place), shell("clean", "git clean -fdx")]
    return place, run_codex(place, installed_hook(HOST), calls, PAGES, served)


def output(told: str) -> str:
    """A result as its tool gave it: without the lines that Codex puts before it (a replaced result has none)."""
    return re.sub(
        r"\A(?:Chunk ID: |Wall time: |Process exited |Original token count: ).*?\nOutput:\n", "", told, flags=re.S
    )


@pytest.mark.parametrize("call", ["mcp", "rows", "curl", "failed", "file", "broken"])
def test_without_the_hook_the_order_reaches_the_model(plain: tuple[Place, Record], call: str) -> None:
    assert PLACE in plain[1].told(call), plain[1]


@pytest.mark.parametrize("call", ["mcp", "rows", "curl", "failed", "file"])
def test_an_order_does_not_reach_the_model_and_the_rest_does_byte_for_byte(
    plain: tuple[Place, Record], guarded: tuple[Place, Record], call: str
) -> None:
    passage = taken_out(output(plain[1].told(call)), guarded[1].told(call))
    assert ORDER in passage and len(passage) < len(ORDER) + 10
    before, after = lines_of(guarded[0], call)
    assert (before["decision"], after["decision"]) == ("none", "withhold")
    point = after["points"]["tool.injection"]
    assert (point["mode"], point["acted"], point["source"]) == ("active", True, "rules")
    assert all(told["withheld"] is True and PLACE in told["said"] for told in point["passages"])


def test_of_a_result_that_is_too_long_to_show_the_rest_is_where_codex_says(guarded: tuple[Place, Record]) -> None:
    shown = guarded[1].told("mcp-long")
    assert len(shown.encode()) < 11_000 and PLACE not in shown
    kept = Path(re.findall(r"Full hook output saved to: (\S+)", shown)[0])
    with kept.open(newline="") as file:
        assert ORDER in taken_out(LONG, file.read())


def test_the_order_is_in_no_request_but_that_of_a_call_without_an_event(guarded: tuple[Place, Record]) -> None:
    # Codex fires nothing after an MCP call that failed.
    assert [line["event"] for line in lines_of(guarded[0], "broken")] == ["PreToolUse"]
    turns = [turn for turn in guarded[1].turns if "broken" not in results(turn)]
    assert turns
    assert all(PLACE not in json.dumps(turn) for turn in turns)


def test_what_was_flagged_is_known_when_the_next_call_is_judged(guarded: tuple[Place, Record]) -> None:
    place, record = guarded
    (first,), (last,) = lines_of(place, "reset"), lines_of(place, "clean")
    assert "flagged" not in first["points"]["tool.risk"]
    assert {mark["source"] for mark in last["points"]["tool.risk"]["flagged"]} == {"mcp", "command"}
    assert (first["decision"], last["decision"]) == ("deny", "deny")
    assert (place.project / "notes.txt").read_text() == "uncommitted\n"
    assert (place.project / "Makefile").exists(), record


@pytest.mark.parametrize("call", ["short", "middle"])
def test_in_shadow_a_long_log_reaches_the_model_as_it_is(
    plain: tuple[Place, Record], guarded: tuple[Place, Record], call: str
) -> None:
    assert output(guarded[1].told(call)) == output(plain[1].told(call))
    point = lines_of(guarded[0], call)[-1]["points"]["tool.admission"]
    assert (point["mode"], point["judged"], point["outcome"], point["acted"]) == ("shadow", "trim", "none", False)
    assert not (guarded[0].state / "jevhook" / "archive").exists()


def test_every_event_has_one_line_and_no_answer_was_thrown_away(guarded: tuple[Place, Record]) -> None:
    place, record = guarded
    assert record.status == 0
    assert len(place.ledger()) == len(codex_hook_runs(record))
    assert not [line for line in record.stderr.splitlines() if line.startswith("hook: ") and "Failed" in line]


# ------------------------------------------------------------------------------------------------ tool.admission


def test_a_replay_of_the_session_decides_as_the_hook_did(guarded: tuple[Place, Record]) -> None:
    live = [line.get("decided") or line["decision"] for line in guarded[0].ledger()]
    replayed = [line["decision"] for line in guarded[0].replayed(HOST)]
    assert replayed == ["none" if decision == "context" else decision for decision in live]


def test_a_replay_of_a_session_without_the_hook_says_what_would_have_been_withheld(plain: tuple[Place, Record]) -> None:
    lines = plain[0].replayed(HOST)
    calls = [call.id for call in results_of_all_kinds(plain[0])]
    withheld = {call for call, after in zip(calls, lines[1::2], strict=False) if after["decision"] == "withhold"}
    assert withheld == {"mcp", "rows", "curl", "failed", "file"}  # of "mcp-long" the rollout has both ends only


@pytest.fixture(scope="module")
def shortened(new_place: NewPlace) -> tuple[Place, Record]:
    """Long logs with tool.admission active, then the ways in which an agent looks at what was left out."""
    place = new_place()
    furnish(place, '[modes]\n"tool.admission" = "active"\n')
    calls = [
        *(shell(name, f"make {name}") for name in LOGS),
        shell("screened", "curl -s @MODEL@/run"),
        shell("cat", "cat @TAKEN@", ("short", ARCHIVE)),
        shell("part", "sed -n 20,300p @TAKEN@", ("long", ARCHIVE)),
    ]
    return place, run_codex(place, installed_hook(HOST), calls, PAGES)


def archived(record: Record, call: str) -> Path:
    return Path(re.findall(ARCHIVE, record.told(call))[0])


@pytest.mark.parametrize("call", LOGS)
def test_a_long_log_is_shortened_and_the_archive_holds_all_that_codex_handed_out(
    plain: tuple[Place, Record], shortened: tuple[Place, Record], call: str
) -> None:
    place, record = shortened
    shown, kept = record.told(call), archived(record, call)
    whole = kept.read_text()
    if call == "short":
        assert whole == LOGS[call]
    else:  # Codex hands a hook what it would show the model, some 40,000 characters: the middle is nowhere
        assert "truncated output" in whole and whole.endswith(LOGS[call][-19_000:])
    if call == "middle":
        assert whole == output(plain[1].told(call))
    assert FAILURE in shown and len(shown.encode()) < 10_000 and len(shown) < 0.4 * len(whole)
    assert put_back(shown, whole) == whole
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    line = lines_of(place, call)[-1]
    assert line["decision"] == "trim"
    assert line["points"]["tool.admission"]["archived"] == 1
    assert line["points"]["tool.admission"]["saved"] == len(whole) - len(shown)


def test_the_archive_holds_the_screened_output(shortened: tuple[Place, Record]) -> None:
    place, record = shortened
    assert ORDER in taken_out(PAGES["/run"], archived(record, "screened").read_text())
    assert PLACE not in json.dumps(record.turns)
    points = lines_of(place, "screened")[-1]["points"]
    assert (points["tool.injection"]["outcome"], points["tool.admission"]["outcome"]) == ("withhold", "trim")


def test_what_was_left_out_can_be_read_and_is_not_shortened_again(shortened: tuple[Place, Record]) -> None:
    place, record = shortened
    assert output(record.told("cat")) == LOGS["short"]
    lines = archived(record, "long").read_text().split("\n")
    assert output(record.told("part")) == "\n".join(lines[19:300]) + "\n"
    for call in ("cat", "part"):
        assert lines_of(place, call)[-1]["decision"] == "none"
