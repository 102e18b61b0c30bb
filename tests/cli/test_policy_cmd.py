"""policy show, check, diff and edit."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from terminal import at_terminal, in_a_pipe

from jevhook import ledger, policy
from jevhook.cli.policy import policy_group

RULE = """
[[rule]]
id = "team.no-prod"
program = "frob"
severity = "deny"
reason = "Not on production."
match = ["frob --prod", "echo hello"]
no_match = ["ls", "frob --dev"]
suggest = ["rm -rf ~"]
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(policy, "MANAGED", str(tmp_path / "managed.toml"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def file(private_home: Path) -> Path:
    made = private_home / ".config" / "jevhook" / "config.toml"
    made.parent.mkdir(parents=True)
    return made


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(policy_group, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def origins(*words: str) -> dict[str, tuple[Any, str]]:
    found = json.loads(run("show", "--json", *words)[1])
    return {value["key"]: (value["value"], value["layer"]) for value in found["values"]}


def test_every_value_names_the_layer_it_comes_from(file: Path, tmp_path: Path) -> None:
    (tmp_path / "managed.toml").write_text('[on_failure]\n"tool.risk" = "ask"\n')
    file.write_text('policy = "strict"\npermit_minutes = 5\n[modes]\n"tool.admission" = "active"\n')
    (tmp_path / ".git").mkdir()
    (tmp_path / ".jevhook.toml").write_text('[modes]\n"tool.injection" = "active"\n')
    found = origins()
    assert found["on_failure.tool.risk"] == ("ask", "managed")
    assert found["permit_minutes"] == (5.0, "user")
    assert found["modes.tool.admission"] == ("active", "user")
    assert found["modes.tool.injection"] == ("active", "project")
    assert found["thresholds.tool.risk.yes"] == (0.9, "policy")
    assert found["ask_fallback.medium"] == ("deny", "policy")
    assert found["watchdog"] == (10.0, "built in")


def test_what_is_shown_is_a_policy_that_says_the_same(file: Path, tmp_path: Path) -> None:
    file.write_text(
        'policy = "strict"\n[judge]\ntiers = ["ollama", "team"]\n[judge.tier.team]\nprovider = "native"\nyes = 0.9\n'
        '[routes]\n"tool.risk" = ["team"]\n[rule_modes]\n"git.clean" = "shadow"\n'
        '[[exception]]\nid = "a"\nrule = "git.clean"\npath = "/a \\"b\\""\nexpires = 2999-01-31\n'
    )
    status, text = run("show")
    assert status == 0 and "# user" in text
    assert tomllib.loads(text)["judge"]["tier"]["team"]["yes"] == 0.9
    before = json.loads(run("show", "--json")[1])
    file.write_text(text)
    after = json.loads(run("show", "--json")[1])
    assert {v["key"]: v["value"] for v in after["values"]} == {v["key"]: v["value"] for v in before["values"]}
    assert after["exceptions"][0]["path"] == '/a "b"'


def test_the_shipped_policies_pass_with_all_their_examples() -> None:
    for name in policy.toml_names(policy.policies_dir()):
        status, said = run("check", name)
        assert status == 0 and said.startswith("ok: "), said
    assert int(said.split(", ")[1].split()[0]) > 2000


def test_a_rule_is_checked_against_its_own_examples_and_named_with_its_line(tmp_path: Path) -> None:
    made = tmp_path / "team.toml"
    made.write_text('name = "team"\n' + RULE)
    status, said = run("check", str(made))
    assert status == 1
    assert f'{made}:4: rule team.no-prod is not hit by its match "echo hello"' in said
    assert f'{made}:4: rule team.no-prod is hit by its no_match "frob --dev"' in said
    assert f'{made}:4: rule team.no-prod suggests its suggest "rm -rf ~", which fs.delete-home stops' in said
    assert said.endswith("examples\n") and "3 problems" in said


def test_a_rule_of_an_extra_pack_is_found_in_its_own_file(file: Path) -> None:
    pack = file.with_name("team-rules.toml")
    pack.write_text(RULE)
    file.write_text('[rules]\nextra = ["team-rules.toml"]\n')
    status, said = run("check")
    assert status == 1 and f"{pack}:3: rule team.no-prod is not hit" in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[modes]\n"tool.risk" = "on"\n', ":2: modes.tool.risk: found"),
        ("[modes\n", ":1: found text that is not TOML"),
        ('[[rule]]\nid = "t.a"\nseverity = "ask"\nreason = "r"\nprogam = "x"\n', "unknown key 'progam'"),
        ('[rule_modes]\n"git.cleen" = "off"\n', "rule_modes.git.cleen: no rule has this id"),
    ],
)
def test_mistakes_are_named(file: Path, text: str, told: str) -> None:
    file.write_text(text)
    status, said = run("check")
    assert status == 1 and told in said and "Traceback" not in said
    assert run("check", "--json")[0] == 1


def test_a_projects_file_is_checked_as_one_that_may_only_tighten(tmp_path: Path) -> None:
    (tmp_path / ".jevhook.toml").write_text('allow = "grant"\n[modes]\n"tool.risk" = "off"\n')
    status, said = run("check", ".jevhook.toml")
    assert status == 1 and "allow: ignored" in said and "off is looser than active" in said


def test_a_rule_without_an_example_is_noted_and_is_no_problem(file: Path) -> None:
    file.write_text('[[rule]]\nid = "t.a"\nseverity = "ask"\nreason = "r"\nprogram = "x"\n')
    status, said = run("check")
    assert status == 0 and "note: rule t.a has no example" in said


def test_a_source_that_is_not_there(file: Path) -> None:
    assert "allowed: autopilot, ci, default" in run("check", "nosuch")[1]
    status, said = run("diff", "default", "nosuch.toml")
    assert status == 1 and "a file that is there" in said


def test_two_policies_compared(tmp_path: Path) -> None:
    assert run("diff", "default", "default") == (0, "no difference\n")
    status, said = run("diff", "default", "strict")
    assert status == 1 and 'ask_fallback.medium: "context" → "deny"' in said
    made = tmp_path / "team.toml"
    made.write_text(RULE.replace('"echo hello"', '"frob"') + '[rule_modes]\n"git.clean" = "off"\n')
    found = {entry["key"]: entry for entry in json.loads(run("diff", "default", str(made), "--json")[1])}
    assert found["rule_modes.git.clean"]["new"] == "off"
    assert found["rule team.no-prod"]["old"] is None and found["rule team.no-prod"]["new"]["severity"] == "deny"
    assert "rule team.no-prod: – → deny" in run("diff", "default", str(made))[1]


def editor(tmp_path: Path, *texts: str) -> dict[str, str]:
    """An editor that writes one text after the other."""
    for number, text in enumerate(texts):
        (tmp_path / f"text-{number}").write_text(text)
    script = tmp_path / "editor.sh"
    script.write_text(
        f'n=$(cat {tmp_path}/n 2>/dev/null || echo 0)\ncat {tmp_path}/text-$n > "$1"\necho $((n + 1)) > {tmp_path}/n\n'
    )
    return {"EDITOR": f"sh {script}"}


def test_an_edited_copy_is_put_in_place_when_it_is_right(file: Path, tmp_path: Path) -> None:
    file.write_text("# mine\n")
    status, said = at_terminal("policy", "edit", **editor(tmp_path, "# mine\nwatchdog = 5\n"))
    assert status == 0 and "in force from the next call on" in said
    assert file.read_text() == "# mine\nwatchdog = 5\n"
    assert [line["event"] for line in ledger.read(dict(os.environ))] == ["jevhook policy edit"]


def test_a_mistake_is_shown_and_can_be_mended(file: Path, tmp_path: Path) -> None:
    file.write_text("# mine\n")
    chosen = editor(tmp_path, "watchdog = 500\n", RULE, "watchdog = 6\n")
    status, said = at_terminal("policy", "edit", typed="y\ny\n", **chosen)
    assert status == 0 and "config.toml:1: watchdog: found 500" in said and "is not hit by its match" in said
    assert file.read_text() == "watchdog = 6\n"


def test_a_rule_that_can_never_match_is_a_mistake(file: Path, tmp_path: Path) -> None:
    wrong = '[[rule]]\nid = "t.a"\nseverity = "ask"\nreason = "r"\nprogam = "x"\n'
    status, said = at_terminal("policy", "edit", typed="n\n", **editor(tmp_path, wrong))
    assert status == 1 and "unknown key 'progam'" in said and not file.exists()


def test_a_mistake_that_is_not_mended_changes_nothing(file: Path, tmp_path: Path) -> None:
    file.write_text("# mine\n")
    status, said = at_terminal("policy", "edit", typed="n\n", **editor(tmp_path, "watchdog = 500\n"))
    assert status == 1 and "nothing was changed" in said and file.read_text() == "# mine\n"


@pytest.mark.parametrize(
    ("chosen", "told"),
    [("true", "nothing was changed"), ("false", "ended with 1"), ("no-such-editor-here", "No such file")],
)
def test_an_editor_that_does_nothing_changes_nothing(file: Path, chosen: str, told: str) -> None:
    file.write_text("# mine\n")
    assert told in at_terminal("policy", "edit", EDITOR=chosen)[1]
    assert file.read_text() == "# mine\n"


OTHER = '[[exception]]\nid = "scratch"\nrule = "git.clean"\npath = "/scratch/**"\n'


@pytest.mark.parametrize(("before", "after"), [("# mine\n", OTHER), (OTHER, "")], ids=["added", "removed"])
def test_what_was_done_while_the_editor_was_open_stays_and_so_does_the_edit(
    file: Path, tmp_path: Path, before: str, after: str
) -> None:
    file.write_text(before)
    (tmp_path / "other").write_text(after)
    script = editor(tmp_path, f"watchdog = 5\n{before}")["EDITOR"].split()[1]
    with open(script, "a") as more:
        more.write(f"cp {tmp_path}/other {file}\n")  # `allow add` and `allow remove` in another terminal
    (tmp_path / "tmp").mkdir()
    status, said = at_terminal("policy", "edit", EDITOR=f"sh {script}", TMPDIR=str(tmp_path / "tmp"))
    assert file.read_text() == after
    (kept,) = (tmp_path / "tmp").glob("*/config.toml")
    told = f"{file} changed in the meantime: run it again. What you wrote is kept in {kept}"
    assert (status, said) == (1, f"Error: nothing was changed: {told}\n")
    assert kept.read_text() == f"watchdog = 5\n{before}" and kept.parent.stat().st_mode & 0o077 == 0


def test_an_edit_that_went_well_or_was_given_up_leaves_no_copy(file: Path, tmp_path: Path) -> None:
    file.write_text("# mine\n")
    (tmp_path / "tmp").mkdir()
    chosen = {**editor(tmp_path, "watchdog = 500\n", "watchdog = 5\n"), "TMPDIR": str(tmp_path / "tmp")}
    assert at_terminal("policy", "edit", typed="n\n", **chosen)[0] == 1
    assert at_terminal("policy", "edit", **chosen)[0] == 0
    assert file.read_text() == "watchdog = 5\n" and not list((tmp_path / "tmp").iterdir())


def test_only_a_person_edits(file: Path, tmp_path: Path) -> None:
    file.write_text("# mine\n")
    assert in_a_pipe("policy", "edit")[0] == 1
    assert at_terminal("policy", "edit", CLAUDECODE="1", **editor(tmp_path, "watchdog = 5\n"))[0] == 1
    assert file.read_text() == "# mine\n"
