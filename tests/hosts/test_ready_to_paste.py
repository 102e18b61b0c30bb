"""The blocks under hooks/ that a person pastes register what the host modules say, and nothing that disarms them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from jevhook.hosts import claude, claude_install, codex, codex_install
from jevhook.install import plan

HOOKS = Path(__file__).parents[2] / "hooks"
FILES = [("claude-settings.json", claude_install), ("codex-hooks.json", codex_install)]


@pytest.mark.parametrize(("file", "host"), FILES)
def test_a_block_registers_exactly_the_hosts_events(file: str, host: Any) -> None:
    block = json.loads((HOOKS / file).read_text())
    assert list(block) == ["hooks"]
    registered = [(event, group["matcher"]) for event, groups in block["hooks"].items() for group in groups]
    assert registered == list(host.REGISTER)


@pytest.mark.parametrize(("file", "host"), FILES)
def test_every_entry_is_our_command_with_the_hosts_name_and_an_id_to_replace(file: str, host: Any) -> None:
    block = json.loads((HOOKS / file).read_text())
    entries = [entry for groups in block["hooks"].values() for group in groups for entry in group["hooks"]]
    assert len(entries) == len(host.REGISTER)
    for entry in entries:
        # No timeout: the host's own 600 s stands, and a hook that runs out of time lets the call through.
        assert set(entry) == {"type", "command"}
        assert entry["type"] == "command"
        assert entry["command"] == written("/PATH/TO/jevhook", host.NAME, "REPLACE-WITH-SOMETHING-ONLY-YOU-KNOW")


def written(repo: str, host: str, ident: str) -> str:
    """The command line that ``jevhook install`` writes, for a clone in ``repo``; without the warm process's folder."""
    return plan.command(f"{repo}/.venv/bin/python", host, ident).replace(str(HOOKS.parent), repo)


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_an_installed_line_is_the_one_to_paste_but_for_the_warm_processs_folder(name: str) -> None:
    pasted = shlex.split(written("/clone", name, "0123"))
    assert pasted == ["/clone/.venv/bin/python", "-I", "-S", "/clone/jevhook/__main__.py", *pasted[4:]]
    installed = shlex.split(plan.command("/clone/.venv/bin/python", name, "0123", resident="/r"))
    installed[3] = installed[3].replace(str(HOOKS.parent), "/clone")
    assert [word for word in installed if word not in ("--resident", "/r")] == pasted


@pytest.mark.parametrize("file", ["README.md", "hooks/claude-plugin/hooks/hooks.json"])
def test_every_place_that_shows_the_line_shows_this_form(file: str) -> None:
    text = (HOOKS.parent / file).read_text()
    found = re.findall(r"\.venv/bin/python\\?\"? (\S+ \S+) \S*/jevhook/__main__\.py\\?\"? hook --host", text)
    assert found and set(found) == {"-I -S"} and "-m jevhook hook" not in text


def test_the_try_script_prints_the_line_that_install_would_write() -> None:
    text = (HOOKS.parent / "scripts" / "try").read_text()
    assert "plan.command(sys.executable" in text and "jevhook hook --host" not in text


@pytest.mark.parametrize(("host", "install"), [(claude, claude_install), (codex, codex_install)])
def test_what_is_registered_is_what_the_host_module_reads(host: Any, install: Any) -> None:
    assert {event for event, _ in install.REGISTER} == set(host.KINDS)
    assert install.NAME == host.NAME and install.DEFAULT_TIMEOUT == 600
