"""allow add, list, remove: the user's file keeps every letter that is not the exception's."""

from __future__ import annotations

import datetime
import json
import os
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from terminal import at_terminal, in_a_pipe

from jevhook import ledger
from jevhook.cli import config_file
from jevhook.cli.allow import allow
from jevhook.config import ConfigError

OWN = """# mine
policy = "default"  # the shipped one

[[exception]] # nightly
id = "scratch"
rule = "fs.delete-home-item"
path = "~/scratch/**"
comment = "thrown away every night"

# how the judge is reached
[judge]
provider = "none" # for now
"""
ADD = ["allow", "add", "git.reset-hard", "--command", "git reset --hard", "--comment", "a throw-away clone"]


@pytest.fixture
def file(private_home: Path) -> Path:
    made = private_home / ".config" / "jevhook" / "config.toml"
    made.parent.mkdir(parents=True)
    made.write_text(OWN)
    return made


def test_added_listed_judged_and_removed_again_byte_for_byte(file: Path) -> None:
    status, said = at_terminal(*ADD, "--expires", "2999-01-31")
    assert (status, said) == (0, f"exception reset-hard: git.reset-hard is lifted until 2999-01-31 ({file})\n")
    assert file.read_text().startswith(OWN), "the comments and the order are the person's"
    entry = tomllib.loads(file.read_text())["exception"][1]
    assert entry == {
        "id": "reset-hard", "rule": "git.reset-hard", "command": "git reset --hard",
        "comment": "a throw-away clone", "expires": datetime.date(2999, 1, 31),
    }  # fmt: skip
    assert json.loads(in_a_pipe("explain", "git reset --hard", "--json")[1])["decision"] == "none"
    assert json.loads(in_a_pipe("explain", "git reset --hard HEAD~1", "--json")[1])["decision"] == "ask"
    listed = {row["id"]: row for row in json.loads(in_a_pipe("allow", "list", "--json")[1])}
    assert listed["reset-hard"]["holds"] and listed["scratch"]["layer"] == "user"
    assert at_terminal("allow", "remove", "reset-hard")[0] == 0
    assert file.read_text() == OWN
    assert [line["event"] for line in ledger.read(dict(os.environ))] == ["jevhook allow add", "jevhook allow remove"]


def test_what_stands_around_an_exception_stays(file: Path) -> None:
    assert at_terminal("allow", "remove", "scratch")[0] == 0
    assert file.read_text() == OWN[: OWN.index("\n[[exc")] + OWN[OWN.index("\n# how") :]


def test_the_first_exception_makes_the_file(private_home: Path) -> None:
    status, said = at_terminal("allow", "add", "git.clean", "--path", "build/**", typed="made anew\n")
    assert status == 0, said
    file = private_home / ".config/jevhook/config.toml"
    (entry,) = tomllib.loads(file.read_text())["exception"]
    assert entry["path"] == f"{os.getcwd()}/build/**" and entry["comment"] == "made anew"
    assert entry["expires"] == datetime.date.today() + datetime.timedelta(days=90)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_link_into_a_dotfiles_checkout_stays_a_link(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    file.rename(real)
    file.symlink_to(real)
    assert at_terminal(*ADD)[0] == 0
    assert file.is_symlink() and "reset-hard" in real.read_text()


def test_ids_are_numbered_and_a_given_one_is_not_taken_twice(file: Path) -> None:
    for _ in range(2):
        assert at_terminal(*ADD)[0] == 0
    assert [e["id"] for e in tomllib.loads(file.read_text())["exception"]] == ["scratch", "reset-hard", "reset-hard-2"]
    status, said = at_terminal(*ADD, "--id", "scratch")
    assert status == 1 and "already" in said


def test_a_rule_for_what_cannot_be_undone_is_lifted_only_by_a_yes(file: Path) -> None:
    words = ["allow", "add", "git.force-push-default", "--command", "git push -f", "--comment", "my fork"]
    status, said = at_terminal(*words, typed="n\n")
    assert status == 130 and "cannot be undone" in said and file.read_text() == OWN
    assert at_terminal(*words, typed="y\n")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["git.reset-har", "--command", "x"], "close to it: git.reset-hard"),
        (["git.reset-hard"], "either --path or --command"),
        (["git.reset-hard", "--command", "x", "--path", "/y"], "either --path or --command"),
        (["git.reset-hard", "--command", "x", "--expires", "soon"], "such as 30d, or never"),
        (["git.reset-hard", "--command", "x", "--expires", "2001-01-01"], "that day is past"),
        (["git.reset-hard", "--command", "x", "--id", "two words"], "a text without spaces"),
    ],
)
def test_mistakes_change_nothing(file: Path, words: list[str], told: str) -> None:
    status, said = at_terminal("allow", "add", *words, "--comment", "c")
    assert status in (1, 2) and told in said and "Traceback" not in said
    assert file.read_text() == OWN


@pytest.mark.parametrize("words", [ADD, ["allow", "remove", "scratch"]])
def test_only_a_person_changes_exceptions(file: Path, words: list[str]) -> None:
    assert in_a_pipe(*words)[0] == 1
    assert at_terminal(*words, CLAUDECODE="1")[0] == 1
    assert file.read_text() == OWN


@pytest.mark.parametrize(
    ("words", "seam"), [(ADD, "with_exception"), (["allow", "remove", "scratch"], "without_exception")]
)
def test_what_another_terminal_did_meanwhile_stays(
    file: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], seam: str
) -> None:
    others = "# theirs\n" + OWN
    make = getattr(config_file, seam)

    def made(*given: object) -> str:
        text: str = make(*given)
        file.write_text(others)
        return text

    monkeypatch.setattr(config_file, seam, made)
    monkeypatch.setattr("jevhook.cli.allow.at_keyboard", lambda _: None)
    done = CliRunner().invoke(allow, words[1:])
    assert file.read_text() == others
    assert done.exit_code == 1
    assert done.output == f"Error: nothing was changed: {file} changed in the meantime: run it again\n"


def test_a_broken_file_is_reported_and_not_touched(file: Path) -> None:
    file.write_text("[modes\n")
    for words in (ADD, ["allow", "remove", "scratch"]):
        status, said = at_terminal(*words)
        assert status == 1 and "nothing was changed" in said and "not TOML" in said
    assert file.read_text() == "[modes\n"


@pytest.mark.parametrize(
    "text",
    [
        'exception = [{ id = "a", rule = "git.clean", path = "/a" }]\n',
        '[[exception]]\nid = "a"\nrule = "git.clean"\npath = "/a"\ncomment = """\n[[exception]]\nid = "b"\n"""',
        '[[exception]]\nid = "b"\nrule = "r"\npath = "/a"\n[[exception]]\nrule = "git.clean"\npath = "/a"\nid = "a"\n',
    ],
)
def test_text_that_is_hard_to_cut_is_cut_rightly_or_left(text: str) -> None:
    before = tomllib.loads(text)
    try:
        made = config_file.without_exception(text, "f", "a")
    except ConfigError as wrong:
        assert "by hand" in str(wrong)
    else:
        kept = [entry for entry in before["exception"] if entry["id"] != "a"]
        assert tomllib.loads(made).get("exception", []) == kept


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("watchdog = 5\n[modes\n", 2),
        ('watchdog = 5\n[modes]\n"tool.risk" = "maybe"\n', 3),
        ("x = 1\n", 1),
        ('[judge]\nwhen = "ask"\nbase_url = "ftp://x"\n', 3),
        ('[[exception]]\nid = "a"\nrule = "r"\npath = "/"\n[[exception]]\nid = "b"\nrule = "r"\npath = ""\n', 8),
        ('[[rule]]\nid = "t.a"\nseverity = "ask"\n[[rule]]\nid = "t.b"\nseverity = "maybe"\n', 6),
        ("[ledger]\nmax_bytes = 1\n", 2),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, line: int) -> None:
    (told,) = config_file.mistakes(text, "/c.toml", "")
    assert told.startswith(f"/c.toml:{line}: ")
