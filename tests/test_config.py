"""Where things live, and how a private file is written and read."""

from __future__ import annotations

import datetime
import os
import tomllib
from pathlib import Path

import pytest

from jevhook import config


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"HOME": "/h"}, ("/h/.config/jevhook", "/h/.cache/jevhook")),
        (
            {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_CACHE_HOME": "/k"},
            ("/c/jevhook", "/k/jevhook"),
        ),
        (
            {"HOME": "/h", "XDG_CONFIG_HOME": "conf", "XDG_CACHE_HOME": ""},
            ("/h/.config/jevhook", "/h/.cache/jevhook"),
        ),
        ({"HOME": "h"}, ("/account/.config/jevhook", "/account/.cache/jevhook")),
        ({}, ("/account/.config/jevhook", "/account/.cache/jevhook")),
    ],
)
def test_places_follow_xdg_then_home_then_the_account(
    env: dict[str, str], expected: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "account_home", lambda: "/account")
    assert (config.config_dir(env), config.cache_dir(env)) == expected


def test_without_any_home_there_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "account_home", lambda: "")
    assert [config.home({}), config.config_dir({}), config.cache_dir({})] == [""] * 3
    assert config.cache_dir({"XDG_CACHE_HOME": "/k"}) == "/k/jevhook"


def test_the_accounts_home_is_absolute_whatever_home_says(monkeypatch: pytest.MonkeyPatch) -> None:
    before = config.account_home()
    monkeypatch.setenv("HOME", "/elsewhere")
    assert config.account_home() == before
    assert before == "" or os.path.isabs(before)


def test_a_written_config_is_private_whole_and_reads_back(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    table = {"policy": "strict", "modes": {"tool.risk": "shadow"}, "exception": [{"id": "e", "path": 'a"\\'}]}
    config.write_config(str(file), table)
    assert tomllib.loads(file.read_text()) == table
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    config.write_config(str(file), {"policy": "ci"})
    assert tomllib.loads(file.read_text()) == {"policy": "ci"}
    assert [entry.name for entry in file.parent.iterdir()] == ["config.toml"]


def test_a_config_kept_elsewhere_by_a_link_is_written_through_the_link(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("")
    link = tmp_path / "config.toml"
    link.symlink_to(kept)
    config.write_config(str(link), {"name": "x"})
    assert link.is_symlink()
    assert tomllib.loads(kept.read_text()) == {"name": "x"}


@pytest.mark.parametrize(
    ("table", "part"),
    [({"a": None}, "cannot be written as TOML"), ({"a": object()}, "cannot be written as TOML")],
)
def test_what_toml_cannot_hold_is_an_error_and_the_old_file_stays(
    tmp_path: Path, table: dict[str, object], part: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("old = 1\n")
    with pytest.raises(config.ConfigError, match=part):
        config.write_config(str(file), table)
    assert file.read_text() == "old = 1\n"


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(config.ConfigError, match=r"file/config\.toml: cannot be written: "):
        config.write_config(str(tmp_path / "file" / "config.toml"), {})


def test_a_failed_write_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    with pytest.raises(OSError):
        config.write_private(str(tmp_path / "target"), b"x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["target"]


def test_dates_are_written_as_toml_dates(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    config.write_config(str(file), {"expires": datetime.date(2027, 1, 31)})
    assert file.read_text() == "expires = 2027-01-31\n"


def test_a_bounded_read_gives_the_bytes_and_the_stat_of_what_was_read(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"12345")
    data, facts = config.read_bounded(str(file), 5)
    assert (data, facts.st_size, facts.st_ino) == (b"12345", 5, file.stat().st_ino)


def test_a_bounded_read_refuses_what_is_long_or_not_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"123456")
    with pytest.raises(ValueError, match="6 bytes, more than the 5"):
        config.read_bounded(str(file), 5)
    with pytest.raises(ValueError, match="not a regular file"):
        config.read_bounded(str(tmp_path), 5)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        config.read_bounded(str(tmp_path / "pipe"), 5)
    with pytest.raises(FileNotFoundError):
        config.read_bounded(str(tmp_path / "none"), 5)
    (tmp_path / "link").symlink_to(file)
    assert config.read_bounded(str(tmp_path / "link"), 6)[0] == b"123456"
    with pytest.raises(OSError):
        config.read_bounded(str(tmp_path / "link"), 6, follow=False)


def test_an_error_shows_its_problems_a_line_each() -> None:
    assert str(config.ConfigError(["a", "b"])) == "a\nb"
    assert config.ConfigError("a").problems == ["a"]
