"""Settings that come out of an archive, under the real Codex: nobody could read them off the command."""

from __future__ import annotations

import json
import tarfile

import pytest

from .conftest import NewPlace
from .hosts import installed_hook, run_codex
from .model import Call

HOST = "codex"
pytestmark = pytest.mark.e2e


def test_the_model_is_told_in_its_next_request_and_gets_the_result(new_place: NewPlace) -> None:
    place = new_place()
    inside = place.root / "config.toml"
    inside.write_text("[features]\nhooks = false\n")
    (place.project / ".codex").mkdir()
    with tarfile.open(place.root / "site.tar", "w") as archive:
        archive.add(inside, ".codex/config.toml")
    unpack = Call("unpack", "exec_command", {"cmd": f"tar xvf {place.root}/site.tar"})
    record = run_codex(place, installed_hook(HOST), [unpack, Call("then", "exec_command", {"cmd": "echo done"})])
    lines = [line for line in place.ledger() if line["subject"].get("tool_call") == "unpack"]
    assert "features.hooks = false" in lines[-1]["settings"][0], record
    assert ".codex/config.toml" in record.told("unpack")
    assert "The settings that hold the hooks changed" in json.dumps(record.turns[-1]["input"])
