"""The blocks under hooks/ that a person pastes register what the host modules say, and nothing that disarms them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from jevhook.hosts import claude, claude_install, codex, codex_install

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
        # -I: a repository can set the host's environment, and PYTHONPATH or PYTHONHOME would switch the gate off.
        program, *module, room = shlex.split(entry["command"])[:5]
        flags = shlex.split(entry["command"])[5:]
        assert program.startswith("/PATH/TO/") and module == ["-I", "-m", "jevhook"] and room == "hook"
        assert flags == ["--host", host.NAME, "--id", "REPLACE-WITH-SOMETHING-ONLY-YOU-KNOW"]


@pytest.mark.parametrize(("host", "install"), [(claude, claude_install), (codex, codex_install)])
def test_what_is_registered_is_what_the_host_module_reads(host: Any, install: Any) -> None:
    assert {event for event, _ in install.REGISTER} == set(host.KINDS)
    assert install.NAME == host.NAME and install.DEFAULT_TIMEOUT == 600
