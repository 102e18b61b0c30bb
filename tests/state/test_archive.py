"""The private files that hold whole outputs."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from jevhook.event import Event
from jevhook.state import archive

TEXT = "line é\n" * 1000


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}


def event(call: str = "toolu_1", **more: Any) -> Event:
    return Event("claude", "after-tool", "PostToolUse", tool="Bash", session="s", call_id=call, **more)


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_the_whole_text_is_kept_in_a_file_that_only_its_owner_can_read(env: dict[str, str]) -> None:
    path = archive.keep(env, event(), TEXT)
    assert Path(path).read_bytes() == TEXT.encode()
    assert (mode(path), mode(os.path.dirname(path))) == (0o600, 0o700)
    assert os.path.dirname(path) == archive.folder(env)


def test_the_name_tells_nothing_and_is_the_same_for_the_same_call(env: dict[str, str]) -> None:
    path = archive.keep(env, event(), TEXT)
    assert "toolu_1" not in path
    assert archive.keep(env, event(), TEXT) == path
    assert archive.keep(env, event("toolu_2"), TEXT) != path
    assert archive.keep(env, event(), TEXT, "1") != path
    assert len(list(Path(archive.folder(env)).glob("*.txt"))) == 3


def test_another_machine_s_key_gives_another_name(env: dict[str, str], tmp_path: Path) -> None:
    other = {**env, "XDG_STATE_HOME": str(tmp_path / "elsewhere")}
    assert os.path.basename(archive.keep(env, event(), TEXT)) != os.path.basename(archive.keep(other, event(), TEXT))


def test_a_directory_that_others_can_enter_is_closed_first(env: dict[str, str]) -> None:
    os.makedirs(archive.folder(env), mode=0o755)
    os.chmod(archive.folder(env), 0o755)
    assert archive.keep(env, event(), TEXT)
    assert mode(archive.folder(env)) == 0o700


def test_a_link_in_the_directory_s_place_is_not_followed(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    os.makedirs(os.path.dirname(archive.folder(env)))
    os.symlink(tmp_path / "target", archive.folder(env))
    assert archive.keep(env, event(), TEXT) == ""
    assert not list((tmp_path / "target").iterdir())


def test_what_can_not_be_written_is_no_error_and_no_path(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    assert archive.keep(env, event(), TEXT) == ""


def test_a_text_over_the_limit_is_not_kept(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_FILE", 100)
    assert archive.keep(env, event(), TEXT) == ""


def test_lone_surrogates_are_kept_too(env: dict[str, str]) -> None:
    path = archive.keep(env, event(), "a\ud800b")
    assert Path(path).read_bytes().decode("utf-8", "surrogatepass") == "a\ud800b"


def test_hooks_at_the_same_time_make_one_whole_file(env: dict[str, str]) -> None:
    archive.keep(env, event("first"), "x")  # the key is there
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(archive.keep(env, event(), TEXT))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert Path(found[0]).read_bytes() == TEXT.encode()
    assert sorted(p.suffix for p in Path(archive.folder(env)).iterdir()) == [".txt", ".txt"]


def test_of_several_hooks_for_one_call_the_first_one_s_word_counts(env: dict[str, str]) -> None:
    path = archive.keep(env, event(), TEXT)
    assert archive.agree(path, [1, 2]) == [1, 2]
    assert archive.agree(path, [3]) == [1, 2]
    assert mode(path.replace(".txt", ".kept")) == 0o600


def test_old_files_go_and_other_files_stay(env: dict[str, str]) -> None:
    old, new = archive.keep(env, event("a"), TEXT), archive.keep(env, event("b"), TEXT)
    other = Path(archive.folder(env)) / "notes.md"
    other.write_text("mine")
    for path in (old, str(other)):
        os.utime(path, (1, 1))
    assert archive.prune(archive.folder(env)) == 1
    assert not os.path.exists(old)
    assert os.path.exists(new)
    assert other.exists()


def test_of_too_much_the_oldest_go_and_the_one_just_written_stays(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [archive.keep(env, event(str(n)), TEXT) for n in range(4)]
    for n, path in enumerate(paths):
        os.utime(path, (1e9 + n, 1e9 + n))
    monkeypatch.setattr(archive, "MAX_TOTAL", 2 * len(TEXT.encode()) + 10)
    last = archive.keep(env, event("last"), TEXT)
    assert os.path.exists(last)
    assert not any(os.path.exists(path) for path in paths)  # all older than the age limit by now


def test_the_size_limit_takes_the_oldest_first(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [archive.keep(env, event(str(n)), TEXT) for n in range(4)]
    now = os.stat(paths[0]).st_mtime
    for n, path in enumerate(paths):
        os.utime(path, (now - 100 + n, now - 100 + n))
    monkeypatch.setattr(archive, "MAX_TOTAL", 2 * len(TEXT.encode()))
    assert archive.prune(archive.folder(env)) == 2
    assert [os.path.exists(path) for path in paths] == [False, False, True, True]


def test_a_link_in_the_archive_is_not_what_pruning_follows(env: dict[str, str], tmp_path: Path) -> None:
    archive.keep(env, event(), TEXT)
    victim = tmp_path / "victim.txt"
    victim.write_text("keep me")
    os.symlink(victim, os.path.join(archive.folder(env), "x.txt"))
    archive.prune(archive.folder(env), now=1e12)
    assert victim.read_text() == "keep me"


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"file_path": "/home/dev/.local/state/jevhook/archive/ab.txt"}, True),
        ({"command": "sed -n 1,20p ~/.local/state/jevhook/archive/ab.txt"}, True),
        ({"command": 'cat "$XDG_STATE_HOME"/jevhook//archive/ab.txt'}, True),
        ({"command": ["cat", "C:\\state\\jevhook\\archive\\ab.txt"]}, True),
        ({"command": "cat jevhook/state/archive.py"}, False),
        ({"command": "ls ~/archive"}, False),
        ({}, False),
    ],
)
def test_a_call_that_looks_into_the_archive_is_recognised(env: dict[str, str], value: Any, named: bool) -> None:
    assert archive.named_in(value, env) is named
