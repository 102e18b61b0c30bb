"""The pages say what is there: files that exist, commands that exist, errors that exist, pages that are up to date."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jevhook.cli import COMMANDS
from jevhook.cli.rules import shipped
from jevhook.systemone import wire

REPO = Path(__file__).resolve().parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/architecture.md", "docs/install.md"]
ROOMS = ("jevhook", "policies", "hooks", "scripts", "tests", "docs", ".ci")


def text(page: str) -> str:
    return (REPO / page).read_text(encoding="utf-8")


def quoted(page: str) -> list[str]:
    """What stands in backticks, outside fenced blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text(page), flags=re.S | re.M))


def named_files(page: str) -> list[str]:
    """What in backticks looks like a file or a directory of this repository."""
    words = [words[0].removeprefix("./") for name in quoted(page) if (words := name.split())]
    return [word for word in words if word.split("/")[0] in ROOMS and "/" in word]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_exists(page: str) -> None:
    named = named_files(page)
    assert named or page == "CHANGELOG.md"
    assert [name for name in named if not (REPO / name).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_to_a_page_leads_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", text(page))
    assert [link for link in links if not (REPO / page).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_command_shown_exists(page: str) -> None:
    found = set(re.findall(r"(?:`|\$ |^)(?:jevhook|jev-use) ([a-z][a-z-]*)\b", text(page), flags=re.M))
    assert found <= set(COMMANDS)
    if page == "README.md":
        assert found == set(COMMANDS), "README shows every command"


def test_the_command_table_names_every_command_and_no_other() -> None:
    section = text("README.md").split("\n## Commands\n")[1].split("\n## ")[0]
    cells = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    named = {name for cell in cells for name in re.findall(r"`(?:jevhook|jev-use) ([a-z][a-z-]*)", cell)}
    assert named == set(COMMANDS)


def test_the_commands_page_has_every_subcommand_too() -> None:
    page = text("docs/commands.md")
    for name, (module, attribute, _) in COMMANDS.items():
        command = getattr(importlib.import_module(module), attribute)
        for inner, below in getattr(command, "commands", {}).items():
            assert below.hidden or f"\n### jevhook {name} {inner}\n" in page


@pytest.mark.parametrize("page", PAGES)
def test_every_option_shown_for_a_command_exists(page: str) -> None:
    rows = [line for line in text(page).splitlines() if line.startswith("| `jevhook ")]
    for line in [*quoted(page), *(row.replace("`", "").removeprefix("| ") for row in rows)]:
        words = line.split()
        if words[0] == "jevhook" and words[1:2] and words[1] in COMMANDS:
            section = text("docs/commands.md").split(f"\n## jevhook {words[1]}\n")[1].split("\n## ")[0]
            for option in re.findall(r"--[a-z-]+", line):
                assert option in section, line


def test_the_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(REPO / "scripts" / "docs.py"), "--check"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_failure_table_names_every_kind_of_error_and_no_other() -> None:
    table = text("README.md").split("## When something fails")[1].split("\n## ")[0]
    told = set(re.findall(r"`error:(\w+)`", table))
    kinds = _kinds()
    lane = {"internal", "input", "event"}
    assert told == kinds | lane
    hook = text("jevhook/hook.py")
    assert all(f'"error:{name}"' in hook for name in lane)


def _kinds() -> set[str]:
    """``wire.Kind``, which only type checkers see: the lane does not import typing."""
    source = Path(wire.__file__).read_text(encoding="utf-8")
    names = re.search(r"Kind = Literal\[(.*?)\]", source, flags=re.S)
    assert names
    return set(re.findall(r'"(\w+)"', names[1]))


@pytest.mark.parametrize(("file", "settings"), [("claude-settings.json", 0), ("codex-hooks.json", 1)])
def test_the_blocks_to_paste_are_the_files_under_hooks(file: str, settings: int) -> None:
    blocks = re.findall(r"^```json\n(\{\n  \"hooks\".*?)^```$", text("README.md"), flags=re.S | re.M)
    assert json.loads(blocks[settings]) == json.loads(text(f"hooks/{file}"))


def test_the_configuration_shown_is_one_that_is_accepted(tmp_path: Path) -> None:
    from jevhook.policy import load_strict

    shown = re.search(r"^```toml\n(.*?)^```$", text("README.md"), flags=re.S | re.M)
    assert shown
    file = tmp_path / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(shown[1])
    made = load_strict({"HOME": str(tmp_path)}, managed="")
    assert made.problems == []
    assert made.rule_mode("git.reset-hard") == "off"


@pytest.mark.parametrize("page", [*PAGES, "docs/rules.md"])
def test_every_rule_that_a_page_switches_or_quotes_exists(page: str) -> None:
    ids = {rule["id"] for rule in shipped()}
    packs = {name.split(".")[0] for name in ids}
    named = set(re.findall(r"[\[\"]([a-z0-9]+\.[a-z0-9-]+)[\]\"]", text(page)))
    assert {name for name in named if name.split(".")[0] in packs and not name.endswith((".toml", ".json"))} <= ids


def test_the_places_for_figures_are_there() -> None:
    for name in ("accuracy", "bench"):
        assert re.search(f"<!-- figures:{name} -->.*<!-- /figures:{name} -->", text("README.md"), flags=re.S)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_no_path_of_a_developers_machine(page: str) -> None:
    assert not re.search(r"/work/|/root/|/tmp/", text(page))


def test_the_readme_stays_readable() -> None:
    assert len(text("README.md").splitlines()) <= 260
