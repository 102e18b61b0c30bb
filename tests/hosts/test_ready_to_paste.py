"""The blocks under hooks/ that a person pastes register what the host modules say, and nothing that disarms them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from jevhook.hosts import claude, codex

HOOKS = Path(__file__).parents[2] / "hooks"
FILES = [("claude-settings.json", claude), ("codex-hooks.json", codex)]


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
        # -I: a repository can set the host's environment, and PYTHONPATH or PYTHONHOME would switch the gate off.
        program, *module, room = shlex.split(entry["command"])[:5]
        flags = shlex.split(entry["command"])[5:]
        assert program.startswith("/PATH/TO/") and module == ["-I", "-m", "jevhook"] and room == "hook"
        assert flags == ["--host", host.NAME, "--id", "REPLACE-WITH-SOMETHING-ONLY-YOU-KNOW"]


@pytest.mark.parametrize("host", [claude, codex])
def test_install_facts_have_the_same_names_in_every_host(host: Any) -> None:
    assert isinstance(host.CONFIG_ENV, str) and host.CONFIG_DIR.startswith("~/")
    assert isinstance(host.USER_SETTINGS, str) and all(isinstance(place, str) for place in host.PROJECT_SETTINGS)
    assert host.TIMEOUT_UNIT.endswith("seconds") and host.TIMEOUT_DEFAULT == 600
    assert {event for event, _ in host.REGISTER} == set(host.KINDS)
