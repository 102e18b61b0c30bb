"""``jevhook resident``: how it stands is anybody's to read; on and off are the person's."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from jevhook import config
from jevhook.cli.resident import resident


def test_it_says_how_it_stands() -> None:
    done = CliRunner().invoke(resident, ["--json"])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["running"]) == (0, False)
    assert found["folder"] == f"{config.account_home()}/.local/state/jevhook/resident"


@pytest.mark.parametrize("command", ["on", "off"])
def test_without_a_terminal_nothing_is_switched(command: str) -> None:
    done = CliRunner().invoke(resident, [command])
    assert done.exit_code == 1
    assert "for a person at a terminal" in done.output
