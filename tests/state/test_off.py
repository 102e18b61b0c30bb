"""The off switch: one private file, and all the files that are none."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from undisturbed import now

from jevhook.state import off

NOW = 1_800_000_000.0


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "state")}


def place(env: dict[str, str]) -> Path:
    return Path(off.path(env))


def test_nothing_is_switched_off_by_itself(env: dict[str, str]) -> None:
    assert off.switched_off(env, NOW) == (False, 0)
    assert off.switched_off({}, NOW)[0] is False
    assert not place(env).parent.exists(), "looking makes nothing"


def test_off_and_on(env: dict[str, str]) -> None:
    assert off.switch_off(env, 0, NOW) == str(place(env))
    assert off.switched_off(env, NOW + 1e7) == (True, 0)
    assert stat.S_IMODE(place(env).stat().st_mode) == 0o600
    assert off.switch_on(env) is True
    assert off.switched_off(env, NOW) == (False, 0)
    assert off.switch_on(env) is False


def test_off_for_an_hour_ends_by_itself(env: dict[str, str]) -> None:
    off.switch_off(env, NOW + 3600, NOW)
    assert off.switched_off(env, NOW + 3599) == (True, NOW + 3600)
    assert off.switched_off(env, NOW + 3600)[0] is False


def _replace(text: str) -> Callable[[Path], object]:
    return lambda file: file.write_text(text)


def _link(file: Path) -> None:
    file.rename(file.with_name("real"))
    file.symlink_to("real")


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


NOT_A_SWITCH: list[tuple[str, Callable[[Path], object]]] = [
    ("empty", _replace("")),
    ("some text", _replace("off")),
    ("a list", _replace("[0]")),
    ("no time", _replace('{"since":1}')),
    ("a time that is a text", _replace('{"until":"0"}')),
    ("true", _replace('{"until":true}')),
    ("a time before time", _replace('{"until":-1}')),
    ("no number", _replace('{"until":NaN}')),
    ("never", _replace('{"until":1e300}')),
    ("huge", _replace('{"until":0}' + " " * 10_000)),
    ("readable by others", lambda file: file.chmod(0o644)),
    ("writable by the group", lambda file: file.chmod(0o620)),
    ("a link to a good one", _link),
    ("a pipe", _pipe),
    ("in a directory that others can write", lambda file: file.parent.chmod(0o777)),
]


@pytest.mark.parametrize(("name", "spoil"), NOT_A_SWITCH, ids=[row[0] for row in NOT_A_SWITCH])
def test_what_is_no_switch_leaves_the_gate_on(env: dict[str, str], name: str, spoil: Callable[[Path], object]) -> None:
    off.switch_off(env, 0, NOW)
    assert off.switched_off(env, NOW)[0]
    spoil(place(env))
    began = now()
    assert off.switched_off(env, NOW) == (False, 0)
    assert now() - began < 0.5


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_another_users_file_is_no_switch(env: dict[str, str]) -> None:
    off.switch_off(env, 0, NOW)
    os.chown(place(env), 12345, -1)
    assert off.switched_off(env, NOW) == (False, 0)


def test_a_state_directory_in_a_work_tree_or_in_the_judged_project_does_not_count(tmp_path: Path) -> None:
    """A repository can set XDG_STATE_HOME for the host, and bring the file along."""
    tree, plain = tmp_path / "repo", tmp_path / "tarball"
    (tree / ".git").mkdir(parents=True)
    for project in (tree, plain):
        env = {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(project / "state")}
        place(env).parent.mkdir(parents=True, mode=0o700)
        place(env).write_text('{"until":0}')
        place(env).chmod(0o600)
        assert off.switched_off(env, NOW, str(project / "src")) == ((False, 0) if project == tree else (True, 0))
        assert off.switched_off(env, NOW, str(project)) == (False, 0)
        assert off.switched_off({**env, "CLAUDE_PROJECT_DIR": str(project)}, NOW, "/elsewhere") == (False, 0)
    with pytest.raises(OSError, match="work tree"):
        off.switch_off({"XDG_STATE_HOME": str(tree / "state")}, 0, NOW)


@pytest.mark.parametrize(("told", "is_off"), [("off", True), ("OFF ", True), ("", False), ("on", False), ("0", False)])
def test_what_the_environment_says(told: str, is_off: bool) -> None:
    assert off.env_off({"JEVHOOK": told}) is is_off
    assert off.env_off({}) is False


def test_while_the_gate_is_on_the_switch_costs_one_stat(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    real = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path: calls.append(str(path)) or real(path))  # type: ignore[func-returns-value]
    monkeypatch.setattr(os, "stat", lambda path: calls.append(str(path)))
    monkeypatch.setattr(os, "open", lambda *given: calls.append("open"))
    off.switched_off(env, NOW, "/work")
    assert calls == [str(place(env))]
