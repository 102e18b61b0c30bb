"""One file put in another's place: what somebody else wrote meanwhile is never lost without a word."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from second_writer import Second

from jevhook import ledger
from jevhook.install import files
from jevhook.install.files import Change, Refused


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "settings.json"
    made.write_text("{}")
    return made


def test_what_the_host_saves_before_the_last_step_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = Change(files.look(str(file)), b'{"hooks": {}}')

    def host(handle: int) -> None:  # the fsync is where the milliseconds go
        (file.parent / "theirs").write_text('{"allowed": true}')
        os.rename(file.parent / "theirs", file)

    monkeypatch.setattr(os, "fsync", host)
    with pytest.raises(Refused, match=r"settings\.json changed in the meantime: run it again$"):
        files.write(change)
    assert file.read_text() == '{"allowed": true}' and os.listdir(file.parent) == ["settings.json"]


def test_a_file_that_has_come_meanwhile_stays_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "new" / "settings.json"
    change = Change(files.look(str(file)), b"{}")
    monkeypatch.setattr(os, "fsync", lambda _: file.write_text("theirs"))
    with pytest.raises(Refused, match="in the meantime"):
        files.write(change)
    assert file.read_text() == "theirs"


def test_of_two_of_ours_in_the_same_microseconds_the_second_is_told(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = files.look(str(file))
    second = Second(monkeypatch, lambda: files.write(Change(found, b"second")))

    def step(old: str, new: str, replace: Any = os.replace) -> None:
        second.meanwhile()  # the first has looked for the last time
        replace(old, new)

    monkeypatch.setattr(os, "replace", step)
    files.write(Change(found, b"first"))
    second.thread.join()
    assert file.read_bytes() == b"first" and second.refused == [f"{file} changed in the meantime: run it again"]


def test_who_keeps_the_turn_for_good_keeps_nobody_from_their_settings(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "TURN_SECONDS", 0.05)
    held = os.open(file.parent, os.O_RDONLY)
    ledger.fcntl.flock(held, ledger.fcntl.LOCK_EX)
    files.write(Change(files.look(str(file)), b"ours"))
    os.close(held)
    assert file.read_bytes() == b"ours"


def test_a_directory_that_another_has_just_made_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = Change(files.look(str(tmp_path / "new" / "settings.json")), b"{}")

    def make(folder: str, mode: int, mkdir: Any = os.mkdir) -> None:
        mkdir(folder, mode)
        mkdir(folder, mode)

    monkeypatch.setattr(os, "mkdir", make)
    files.write(change)
    assert change.made == [] and (tmp_path / "new" / "settings.json").read_bytes() == b"{}"
