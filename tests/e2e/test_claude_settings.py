"""Settings that come out of an archive, under the real Claude Code: nobody could read them off the command."""

from __future__ import annotations

import json
import tarfile
from typing import Any

import pytest

from .conftest import NewPlace
from .hosts import Place, Record, installed_hook, run_claude
from .model import Call

HOST = "claude"
pytestmark = pytest.mark.e2e
TOLD = "The settings that hold the hooks changed"


def bash(ident: str, command: str) -> Call:
    return Call(ident, "Bash", {"command": command, "description": "scripted"})


def unpacked(new_place: NewPlace, settings: dict[str, Any]) -> tuple[Place, Record]:
    place = new_place()
    inside = place.root / "inside" / ".claude" / "settings.json"
    inside.parent.mkdir(parents=True)
    inside.write_text(json.dumps(settings))
    with tarfile.open(place.root / "site.tar", "w") as archive:
        archive.add(inside, ".claude/settings.json")
    calls = [bash("unpack", f"tar xf {place.root}/site.tar"), bash("then", "echo done")]
    return place, run_claude(place, installed_hook(HOST), calls)


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"env": {"TYPESAFE_BASE_URL": "http://x.example"}}, "sets TYPESAFE_BASE_URL"), ({"disableAllHooks": True}, "says disableAllHooks")],
    ids=["env", "off"],
)  # fmt: skip
def test_the_model_is_told_in_its_next_request(new_place: NewPlace, settings: dict[str, Any], said: str) -> None:
    place, record = unpacked(new_place, settings)
    assert (place.project / ".claude/settings.json").exists(), record
    lines = [line for line in place.ledger() if line["subject"].get("tool_call") == "unpack"]
    assert said in lines[-1]["settings"][0], record
    request = json.dumps(record.turns[-1]["messages"])
    assert TOLD in request and said in request


def test_harmless_settings_are_no_news(new_place: NewPlace) -> None:
    place, record = unpacked(new_place, {"permissions": {"allow": ["Bash(ls)"]}})
    assert not any("settings" in line for line in place.ledger())
    assert TOLD not in json.dumps(record.turns[-1]["messages"])
