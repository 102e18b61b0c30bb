"""``jevhook rules``: the rules in force, in lines, as JSON, or as the page docs/rules.md."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jevhook.cli.rules import page, rules, shipped

PACKS = sorted(path.stem for path in (Path(__file__).parents[2] / "policies" / "rules").glob("*.toml"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


def run(*arguments: str) -> Result:
    return CliRunner().invoke(rules, arguments)


def configure(home: Path, text: str) -> None:
    file = home / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)


def test_without_a_configuration_every_shipped_rule_is_in_force() -> None:
    result = run("--json")
    assert result.exit_code == 0
    assert {rule["id"] for rule in json.loads(result.stdout)} == {rule["id"] for rule in shipped()}


def test_a_line_says_severity_id_and_reason_with_nothing_left_to_fill_in() -> None:
    lines = run().stdout.splitlines()
    assert len(lines) == len(shipped())
    assert all(line.split()[0] in ("deny", "ask", "note") for line in lines)
    assert any(line.split()[:2] == ["ask", "git.reset-hard"] for line in lines)
    assert not any("{" in line for line in lines)


@pytest.mark.parametrize("pack", PACKS)
def test_one_pack_is_only_that_pack(pack: str) -> None:
    found = json.loads(run("--json", "--pack", pack).stdout)
    assert found
    assert {rule["pack"] for rule in found} == {pack}


def test_a_wrong_pack_lists_the_packs_there_are() -> None:
    result = run("--pack", "gti")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: --pack: no pack 'gti'; there are {', '.join(PACKS)}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [(("--policy", "nope"), 1, '--policy: found "nope"'), (("--json", "--markdown"), 2, "choose one")],
)
def test_a_mistake_is_one_clean_line(arguments: tuple[str, ...], code: int, said: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr


def test_a_rule_that_is_switched_off_says_so(private_home: Path) -> None:
    configure(private_home, '[rule_modes]\n"git.reset-hard" = "off"\n"git.clean" = "shadow"\n')
    lines = {line.split()[1]: line for line in run("--pack", "git").stdout.splitlines()}
    assert lines["git.reset-hard"].endswith(" (off)")
    assert lines["git.clean"].endswith(" (shadow)")
    modes = {rule["id"]: rule["mode"] for rule in json.loads(run("--json").stdout)}
    assert (modes["git.reset-hard"], modes["git.clean"], modes["git.stash-drop"]) == ("off", "shadow", "active")


def test_a_rule_of_the_users_own_is_listed_with_its_reason(private_home: Path) -> None:
    configure(
        private_home,
        '[[rule]]\nid = "team.no-prod"\nprogram = ["prodctl"]\nseverity = "deny"\nreason = "Ask the team first."\n',
    )
    assert any(
        line.startswith("deny  team.no-prod ") and "Ask the team first." in line for line in run().stdout.splitlines()
    )


def test_a_configuration_that_cannot_be_used_is_told_with_file_key_and_what_is_allowed(private_home: Path) -> None:
    configure(private_home, '[modes]\ndefault = "on"\n')
    result = run()
    assert (result.exit_code, result.stdout) == (1, "")
    assert 'config.toml: modes.default: found "on", allowed: off, shadow, active' in result.stderr


def test_the_page_is_the_shipped_rules_page() -> None:
    assert run("--markdown").stdout == page(shipped())


def test_the_page_has_a_section_a_pack_and_a_row_a_rule_that_stays_one_row() -> None:
    text = page(
        [
            {
                "id": "b.x",
                "pack": "b",
                "severity": "ask",
                "reason": "It | <b> {target} ({detail}).",
                "match": ["a | b\n`c`"],
            },
            {
                "id": "a.y",
                "pack": "a",
                "severity": "deny",
                "reason": "No.",
                "suggestion": "Run {program}.",
                "program": ["ls"],
            },
        ]
    )
    assert text.index("## a") < text.index("## b")
    assert "| `a.y` | deny | No. Run ls. |  |\n" in text
    assert "| `b.x` | ask | It \\| &lt;b> the target. | `` a \\| b⏎`c` `` |\n" in text


def test_in_a_directory_that_is_gone_it_still_lists_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run("--pack", "git").exit_code == 0
