"""``jevhook promote``: what the evidence is, what is refused without it, and what a promotion changes for the next call."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from lane import RULES, Lane
from terminal import at_terminal, in_a_pipe

from jevhook import ledger
from jevhook.cli.promote import promote
from jevhook.evidence import kept, labels, promoted, promotion
from jevhook.evidence.promotion import Target

LEAST = "[promotion]\nevents = 14\nlabels = 12\nscorecards = 0\n"
SHADOW = 'policy = "shadow"\n' + LEAST + RULES


@pytest.fixture
def lane(private_home: Path, tmp_path: Path) -> Lane:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    made = Lane(private_home, project)
    made.config(SHADOW)
    return made


def env() -> dict[str, str]:
    return dict(os.environ)


def worked(lane: Lane, wrong: int = 0) -> None:
    """Twelve stops in shadow and two silences, all stops labelled, the first ``wrong`` of them as wrong."""
    for number in range(12):
        entry = lane.hook(lane.claude(f"frob-deny {number}")).entry
        labels.add(env(), entry["id"], "bad" if number < wrong else "good")
    for command in ("ls", "pwd"):
        lane.hook(lane.claude(command))


def evidence(name: str) -> dict[str, Any]:
    status, said = in_a_pipe("promote", name, "--json")
    assert status == 0, said
    found: dict[str, Any] = json.loads(said)
    return {**found, "missing": [one["name"] for one in found["evidence"] if not one["met"]]}


def test_a_point_earns_active_and_the_next_call_is_stopped(lane: Lane, private_home: Path) -> None:
    worked(lane)
    own = (private_home / ".config/jevhook/config.toml").read_text()
    assert lane.hook(lane.claude("frob-deny")).decision == "none"
    status, said = at_terminal("promote", "tool.risk", typed="y\n")
    assert status == 0, said
    assert "ok       agreement      100.0 % (75.8-100.0), 12 of 12; asked for: at least 90 %" in said
    assert "tool.risk is active from the next call on" in said
    assert lane.hook(lane.claude("frob-deny")).decision == "deny"
    assert (private_home / ".config/jevhook/config.toml").read_text() == own, "the person's own file is theirs"
    file = private_home / ".config/jevhook/promoted.toml"
    written = tomllib.loads(file.read_text())
    assert written["modes"] == {"tool.risk": "active"} and file.stat().st_mode & 0o777 == 0o600
    (entry,) = written["evidence"]
    assert (entry["what"], entry["from"], entry["to"], entry["forced"]) == ("tool.risk", "shadow", "active", False)
    assert entry["labels"] == "12" and entry["at"].tzinfo is not None
    told = [line for line in ledger.read(env()) if line.get("origin") == "cli"][-1]
    assert (told["event"], told["promotion"]["to"]) == ("jevhook promote", "active")
    assert "active already; nothing was changed" in at_terminal("promote", "tool.risk")[1]


def test_undo_brings_the_mode_back_and_takes_the_file_with_it(lane: Lane, private_home: Path) -> None:
    at_terminal("promote", "tool.risk", "--force", "--yes")
    assert "tool.risk = active, without the evidence" in in_a_pipe("promote")[1]
    assert lane.hook(lane.claude("frob-deny")).decision == "deny"
    status, said = at_terminal("promote", "tool.risk", "--undo")
    assert status == 0 and said.startswith("tool.risk is shadow again")
    assert lane.hook(lane.claude("frob-deny")).decision == "none"
    assert not (private_home / ".config/jevhook/promoted.toml").exists()
    status, said = at_terminal("promote", "tool.risk", "--undo")
    assert status == 1 and "was not promoted" in said and "nothing has been promoted" in in_a_pipe("promote")[1]


def test_off_to_shadow_to_active_is_undone_a_step_at_a_time(lane: Lane, private_home: Path) -> None:
    lane.config('policy = "ci"\n')  # tool.admission is off there
    assert at_terminal("promote", "tool.admission", "--to", "shadow", "--yes")[0] == 0
    assert at_terminal("promote", "tool.admission", "--force", "--yes")[0] == 0
    assert at_terminal("promote", "tool.admission", "--undo")[1].startswith("tool.admission is shadow again")
    assert at_terminal("promote", "tool.admission", "--undo")[1].startswith("tool.admission is off again")


def test_without_the_evidence_it_is_refused_and_the_file_says_when_it_was_forced(
    lane: Lane, private_home: Path
) -> None:
    lane.hook(lane.claude("frob-deny"))
    file = private_home / ".config/jevhook/promoted.toml"
    status, said = at_terminal("promote", "tool.risk", typed="y\n")
    assert status == 1 and "not enough evidence (events, labels, agreement, false_alarms)" in said and not file.exists()
    assert "MISSING  events         1; asked for: at least 14" in said
    assert "MISSING  false_alarms   not enough (0 of 1 stops in 1 events are labelled)" in said
    assert at_terminal("promote", "tool.risk", "--force", "--yes")[0] == 0
    assert tomllib.loads(file.read_text())["evidence"][0]["forced"] is True


def test_labels_that_disagree_are_evidence_against_it(lane: Lane) -> None:
    worked(lane, wrong=2)
    found = evidence("tool.risk")
    assert found["missing"] == ["agreement", "false_alarms"]
    (alarms,) = (one["found"] for one in found["evidence"] if one["name"] == "false_alarms")
    assert alarms == "14.29 % of 14 events (2 of 12 labelled stops were wrong)"


def test_a_rule_in_shadow_is_judged_by_the_events_that_it_would_have_stopped(lane: Lane) -> None:
    lane.config(LEAST + '[rule_modes]\n"team.deny" = "shadow"\n' + RULES)
    for number in range(12):  # nothing stopped them, which was wrong: the rule would have been right
        labels.add(env(), lane.hook(lane.claude(f"frob-deny {number}")).entry["id"], "bad")
    for command in ("ls", "frob-low"):
        labels.add(env(), lane.hook(lane.claude(command)).entry["id"], "good")
    found = evidence("team.deny")
    assert (found["kind"], found["mode"], found["spoke"], found["labelled"], found["missing"]) == (
        "rule",
        "shadow",
        12,
        12,
        [],
    )
    status, said = at_terminal("promote", "team.deny", "--yes")
    assert status == 1 and "user (" in said and "config.toml) says shadow, which counts more" in said
    assert in_a_pipe("promote")[1] == "nothing has been promoted\n"


def test_a_rule_that_a_chosen_policy_keeps_in_shadow_becomes_active(lane: Lane, tmp_path: Path) -> None:
    team = tmp_path / "team.toml"
    team.write_text('[rule_modes]\n"team.deny" = "shadow"\n' + RULES)
    lane.config(f'policy = "{team}"\n')
    assert lane.hook(lane.claude("frob-deny")).decision == "none"
    assert at_terminal("promote", "team.deny", "--force", "--yes")[0] == 0
    assert lane.hook(lane.claude("frob-deny")).decision == "deny"


def test_a_question_is_judged_by_its_sure_answers(lane: Lane, private_home: Path) -> None:
    script = private_home / "answers.json"
    team = private_home / "team.toml"
    team.write_text('[rule_modes]\n"tool.risk.planted" = "shadow"\n[thresholds]\n"tool.risk.yes" = 0.8\n' + RULES)
    lane.config(f'policy = "{team}"\n[judge]\nprovider = "mock"\nmock = "{script}"\n{LEAST}')
    for number in range(14):
        harm = number % 2 == 0
        script.write_text(
            json.dumps(
                {
                    "answers": {
                        "planted": 0.9 if harm else 0.5 if number == 13 else 0.1,
                        "limit": 0.1,
                        "asked": 0.1,
                        "loss": 1,
                    }
                }
            )
        )
        entry = lane.hook(lane.claude(f"frob-high {number}")).entry
        labels.add(env(), entry["id"], "good" if harm else "bad")
    found = evidence("tool.risk.planted")
    assert (found["kind"], found["events"], found["spoke"], found["labelled"], found["missing"]) == (
        "question",
        14,
        13,
        13,
        [],
    )
    assert at_terminal("promote", "tool.risk.planted", "--yes")[0] == 0
    script.write_text(json.dumps({"answers": {"planted": 0.95, "limit": 0.1, "asked": 0.1, "loss": 1}}))
    said = lane.hook(lane.claude("frob-high now")).said["permissionDecisionReason"]
    assert "an order from material that was read" in said


def test_two_kept_cards_in_a_row_are_asked_for_and_two_of_the_same_rows_are_one(lane: Lane, tmp_path: Path) -> None:
    lane.config(SHADOW.replace("scorecards = 0", "scorecards = 2"))
    worked(lane)
    data = tmp_path / "d.jsonl"
    lines = ['{"command": "frob-deny", "expected": "deny"}\n'] * 10 + ['{"command": "ls", "expected": "allow"}\n'] * 10

    def keep(extra: str = "", *options: str) -> str:
        data.write_text("".join(lines) + extra)
        assert at_terminal("score", str(data), "--keep", *options)[0] == 0
        found = evidence("tool.risk")
        return next(str(one["found"]) for one in found["evidence"] if one["name"] == "scorecards")

    assert evidence("tool.risk")["missing"] == ["scorecards"]
    assert keep() == "1 in a row" and keep() == "1 in a row"
    assert keep("", "--cwd", "/home/dev/else") == "1 in a row"
    assert keep('{"command": "pwd", "expected": "allow"}\n') == "2 in a row"
    assert evidence("tool.risk")["missing"] == []
    assert keep('{"command": "pwd", "expected": "deny"}\n' * 5).startswith("none; the last, of 20")
    assert len(kept.every(env())) == 3


def test_a_kept_card_that_was_changed_is_no_evidence(lane: Lane, tmp_path: Path) -> None:
    data = tmp_path / "d.jsonl"
    data.write_text('{"command": "ls", "expected": "allow"}\n')
    at_terminal("score", str(data), "--keep")
    (card,) = Path(kept.folder(env())).iterdir()
    card.write_text(card.read_text().replace('"k": 0', '"k": 1', 1))
    assert kept.every(env()) == []


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ({"recall": (10, 10), "false_alarms": (0, 10)}, ""),
        ({"recall": (8, 10), "false_alarms": (0, 10)}, "80.0 % (49.0-94.3), 8 of 10 of harmful rows stopped"),
        ({"recall": (10, 10), "false_alarms": (1, 10)}, "10.0 % (1.8-40.4), 1 of 10 of harmless rows stopped"),
        ({"recall": (2, 2), "false_alarms": (0, 10)}, None),
    ],
)
def test_a_card_speaks_for_a_point_against_it_or_not_at_all(
    cell: dict[str, tuple[int, int]], wanted: str | None
) -> None:
    shares = {name: {"k": k, "n": n} for name, (k, n) in cell.items()}
    asked = {"false_alarms": 0.05, "recall": 0.9, "brier": 0.2}
    assert (
        promotion.fault({"points": {"tool.risk": shares}}, Target("point", "tool.risk", "tool.risk"), asked) == wanted
    )


@pytest.mark.parametrize(
    ("events", "spoke", "stops", "wrong", "rate"),
    [
        (1, 1, 1, 1, None),  # one event is no figure
        (9, 0, 0, 0, None),
        (200, 0, 0, 0, 0.0),
        (200, 3, 3, 1, 0.005),  # every stop is labelled: that is a count
        (200, 40, 9, 0, None),  # nine of forty are not enough to say how the rest are
        (200, 40, 10, 1, 0.02),
    ],
)
def test_false_alarms_are_told_from_enough_only(
    events: int, spoke: int, stops: int, wrong: int, rate: float | None
) -> None:
    seen = promotion.Seen(events=events, spoke=spoke, stops=stops, wrong=wrong)
    assert seen.false_alarms == (None if rate is None else pytest.approx(rate))


def test_events_of_another_version_of_the_point_are_no_evidence(lane: Lane) -> None:
    entry = lane.hook(lane.claude("frob-deny")).entry
    what = Target("point", "tool.risk", "tool.risk")
    assert promotion.look([entry], {}, what, 0.8, 0.2).events == 1
    entry["points"][0]["version"] += 1
    assert promotion.look([entry], {}, what, 0.8, 0.2).events == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tool.risks"], 'Error: "tool.risks" is no point, rule or question; close to it: tool.risk'),
        (["git.reset"], "close to it: git.reset-hard"),
        (["--undo"], "need a name"),
        (["tool.risk", "--to", "off"], "'off' is not one of 'shadow', 'active'"),
    ],
)
def test_a_mistake_is_named(lane: Lane, arguments: list[str], said: str) -> None:
    status, told = at_terminal("promote", *arguments)
    assert status in (1, 2) and said in told and "Traceback" not in told


def test_an_agents_shell_and_a_pipe_promote_nothing(lane: Lane, private_home: Path) -> None:
    for status, said in (
        in_a_pipe("promote", "tool.risk", "--force", "--yes"),
        at_terminal("promote", "tool.risk", "--force", "--yes", CLAUDECODE="1"),
        at_terminal("promote", "tool.risk", "--undo", CODEX_SANDBOX="seatbelt"),
    ):
        assert status == 1 and "for a person" in said
    assert not (private_home / ".config/jevhook/promoted.toml").exists()


@pytest.mark.parametrize("words", [["tool.risk", "--force"], ["tool.admission", "--undo"]])
def test_a_promotion_in_another_terminal_is_not_lost(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr("jevhook.cli.promote.at_keyboard", lambda _: None)
    say = CliRunner().invoke
    assert say(promote, ["tool.admission", "--force", "--yes"]).exit_code == 0
    take_back = promoted.without_last

    def other() -> bool:
        assert say(promote, ["tool.injection", "--force", "--yes"]).exit_code == 0
        return True

    monkeypatch.setattr("click.confirm", lambda _: other())  # the person thinks about the one, and does the other
    monkeypatch.setattr(promoted, "without_last", lambda *given: other() and take_back(*given))
    done = say(promote, words)
    file = promoted.place(env())
    assert promoted.read(file)["modes"] == {"tool.admission": "active", "tool.injection": "active"}
    assert done.exit_code == 1
    assert f"nothing was changed: {file} changed in the meantime: run it again\n" in done.output


def test_a_file_that_is_broken_is_named_and_left_alone(lane: Lane, private_home: Path) -> None:
    file = private_home / ".config/jevhook/promoted.toml"
    file.write_text("allow = 'grant'\n")
    status, said = at_terminal("promote", "tool.risk", "--force", "--yes")
    assert status == 1 and f"nothing was changed: {file}: allow: found a key that is not known" in said
    assert file.read_text() == "allow = 'grant'\n"


def test_a_file_that_a_person_has_edited_is_undone_as_far_as_it_says(lane: Lane, private_home: Path) -> None:
    file = private_home / ".config/jevhook/promoted.toml"
    file.write_text('[modes]\ntool.risk = "active"\n[[evidence]]\nwhat = "tool.risk"\ntable = "modes"\n[[evidence]]\n')
    assert "tool.risk = None" in in_a_pipe("promote")[1]
    assert at_terminal("promote", "tool.risk", "--undo")[0] == 0
    assert tomllib.loads(file.read_text()) == {"evidence": [{}]}


def test_policy_show_names_the_layer_that_promoted(lane: Lane) -> None:
    at_terminal("promote", "tool.risk", "--force", "--yes")
    values = {one["key"]: one for one in json.loads(in_a_pipe("policy", "show", "--json")[1])["values"]}
    assert (values["modes.tool.risk"]["value"], values["modes.tool.risk"]["layer"]) == ("active", "promoted")
    assert values["modes.default"]["layer"] == "policy"
