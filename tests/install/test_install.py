"""``jevhook install`` and ``uninstall`` on many odd settings files, and for whom they work."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from second_writer import Second

from jevhook import ledger
from jevhook.cli import main
from jevhook.hosts import claude_install, codex_install, installable, installer
from jevhook.install import entries, files, plan, receipts
from jevhook.install.files import Refused

pty = pytest.importorskip("pty")


@pytest.fixture(autouse=True)
def nobody_is_at_work(private_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str, terminal: bool = False, keys: str = "", **extra: str) -> tuple[int, str]:
    """The command, with a real terminal as stdin or with none.  ``keys`` are what the person types."""
    master, slave = pty.openpty()
    os.write(master, keys.encode())
    said = io.StringIO()
    before = sys.stdin
    with (
        open(slave, encoding="utf-8") as screen,
        open(os.devnull, encoding="utf-8") as nothing,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in extra.items():
            patch.setenv(name, value)
        sys.stdin = screen if terminal else nothing
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = main(list(arguments))
        except SystemExit as stop:
            code = int(stop.code or 0)
        finally:
            sys.stdin = before
            os.close(master)
    return code, said.getvalue()


def settings(home: Path, text: str | bytes | None, name: str = ".claude/settings.json") -> Path:
    path = home / name
    path.parent.mkdir(exist_ok=True)
    if text is not None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def everything(home: Path) -> dict[str, bytes]:
    """Every file below home but the caches and the ledger, with its bytes."""
    files = (path for path in home.rglob("*") if path.is_file() and ".cache" not in path.parts)
    files = (path for path in files if not path.name.startswith(("ledger.", "ledger-")))
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


OTHERS = '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/other"}]}]}}'
# fmt: off
SETTINGS = [
    None, b"", b"{}", b"{}\n", b"\n", b'{"model":"opus"}', b'{\n  "model": "opus"\n}\n', b'{\r\n\t"a": [1,\r\n\t2]\r\n}', OTHERS.encode(),
    b'{\n    "hooks": {\n        "PreToolUse": [\n        ],\n        "Stop": []\n    },\n    "unknown": {"kept": null}\n}\n',
    '{"statusLine": "Grüße ✓", "n": 1.0, "env": {"A": "b"}}'.encode(), b'{ "hooks" : { } }',
    b'{"hooks":{"NoSuchEvent":[]},"permissions":{"allow":["Bash(ls)"]}}',
]
# fmt: on


@pytest.mark.parametrize("before", SETTINGS)
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_what_uninstall_leaves_is_what_install_found(private_home: Path, host: str, before: bytes | None) -> None:
    file = settings(private_home, before, {"claude": ".claude/settings.json", "codex": ".codex/hooks.json"}[host])
    if before is not None:
        file.chmod(0o640)
    was = everything(private_home)
    code, said = run("install", host, "--yes")
    assert code == 0, said
    document = json.loads(file.read_bytes())
    mine = entries.mine(document)
    assert [(entry.event, entry.matcher) for entry in mine] == list(installer(host).REGISTER)
    assert len({entry.command for entry in mine}) == 1
    words = shlex.split(mine[0].command)
    assert words[:7] == [sys.executable, "-I", "-S", plan.MAIN, "hook", "--host", host]
    assert words[7:] == ["--resident", plan.warm_folder(), "--id", words[10]] and len(words[10]) == 16
    assert all(set(entry.fields) == {"type", "command"} for entry in mine)
    old = json.loads(before) if before and before.strip() else {}
    assert {key: value for key, value in document.items() if key != "hooks"} == {
        key: value for key, value in old.items() if key != "hooks"
    }
    theirs = [entry.command for entry in entries.table(document) if not entries.ours(entry.command)]
    assert theirs == [entry.command for entry in entries.table(old)]
    if before is not None:
        assert stat.S_IMODE(file.stat().st_mode) == 0o640

    installed = everything(private_home)
    code, said = run("install", host, "--yes")
    assert code == 0 and "is as it should be" in said
    assert everything(private_home) == installed, "a second time changes nothing"

    code, said = run("uninstall", host, "--yes", terminal=True)
    assert code == 0, said
    assert everything(private_home) == was


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "the end of the file"),
        ('{"a": 1,}', "a key in double quotes"),
        ('{\n  // mine\n  "a": 1\n}', "line 2, column 3: a comment"),
        ("[]", "not a JSON object"),
        ('"x"', "not a JSON object"),
        ('{"hooks": []}', "hooks is not an object"),
        ('{"hooks": null}', "hooks is not an object"),
        ('{"hooks": {"PreToolUse": {}}}', "hooks.PreToolUse is not a list"),
        ('{"hooks": {"Stop": [{"type": "command", "command": "x"}]}}', "hooks.Stop[0] is not an object with a list"),
        ('{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}', "hooks.Stop[0].hooks[0].type is null"),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "x"}]}]}}', 'type is "x"'),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": "1"}]}]}}', "timeout"),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": -1}]}]}}', "timeout"),
        ('{"hooks": {}, "hooks": {}}', "twice"),
        ('{"hooks": {"Stop": [], "Stop": []}}', "twice"),
        (b'{"a": "\xff"}', "not UTF-8"),
    ],
)
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_settings_that_the_host_would_not_read_are_told_and_left(
    private_home: Path, host: str, text: str | bytes, said: str
) -> None:
    settings(private_home, text, {"claude": ".claude/settings.json", "codex": ".codex/hooks.json"}[host])
    was = everything(private_home)
    code, told = run("install", host, "--yes")
    assert code == 1 and said in told and "not installed" in told and "Traceback" not in told
    assert everything(private_home) == was


@pytest.mark.parametrize(
    "text", ['{"permissions": {"allow": "Bash"}}', '{"permissions": []}', '{"allowedHttpHookUrls": "x"}',
             '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 0}]}]}}'],
)  # fmt: skip
def test_what_makes_claude_code_drop_its_file_is_known(private_home: Path, text: str) -> None:
    settings(private_home, text)
    code, told = run("install", "claude", "--yes")
    assert code == 1 and "reads none of the file" in told


def test_a_byte_order_mark_stays_where_the_host_reads_it(private_home: Path) -> None:
    file = settings(private_home, b'\xef\xbb\xbf{"model": "opus"}')
    settings(private_home, b"\xef\xbb\xbf{}", ".codex/hooks.json")
    assert run("install", "claude", "--yes")[0] == 0
    assert file.read_bytes().startswith(b'\xef\xbb\xbf{"model": "opus", "hooks"')
    code, said = run("install", "codex", "--yes")
    assert code == 1 and "byte order mark" in said


def test_a_fraction_makes_codex_drop_its_file(private_home: Path) -> None:
    text = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 1.5}]}]}}'
    settings(private_home, text, ".codex/hooks.json")
    code, told = run("install", "codex", "--yes")
    assert code == 1 and "whole number" in told


def test_after_a_change_by_the_person_exactly_our_entries_go(private_home: Path) -> None:
    file = settings(private_home, '{\n  "model": "opus",\n  "hooks": {\n    "Stop": []\n  }\n}\n')
    assert run("install", "claude", "--yes")[0] == 0
    file.write_text(file.read_text().replace('"opus"', '"sonnet"'))
    assert run("uninstall", "claude", "--yes", terminal=True)[0] == 0
    assert file.read_text() == '{\n  "model": "sonnet",\n  "hooks": {\n    "Stop": []\n  }\n}\n'
    assert not list((private_home / ".local/state/jevhook").rglob("*.before"))


def test_entries_that_a_person_pasted_are_taken_over_and_go_too(private_home: Path) -> None:
    pasted = json.loads((Path(__file__).parents[2] / "hooks/claude-settings.json").read_text())
    file = settings(private_home, json.dumps({"model": "opus", **pasted}, indent=2))
    code, said = run("install", "claude", "--yes")
    assert code == 1 and "for a person at a terminal" in said, "it changes what is there"
    assert run("install", "claude", "--yes", terminal=True)[0] == 0
    commands = {entry.command for entry in entries.mine(json.loads(file.read_text()))}
    assert len(commands) == 1 and "REPLACE" not in commands.pop()
    assert run("uninstall", "claude", "--yes", terminal=True)[0] == 0
    assert json.loads(file.read_text()) == {"model": "opus"}


@pytest.mark.parametrize(
    ("spoil", "keeps"),
    [
        ({"timeout": 1}, {}),
        ({"timeout": 120}, {"timeout": 120}),
        ({"async": True}, {}),
        ({"if": "Bash(rm *)"}, {}),
        ({"args": []}, {}),
        ({"statusMessage": "judging"}, {"statusMessage": "judging"}),
        ({"command": "/gone/python -I -m jevhook hook --host claude --policy strict --id 0123456789abcdef"}, {}),
    ],
)
def test_a_second_install_mends_what_is_wrong_and_keeps_the_rest(
    private_home: Path, spoil: dict[str, Any], keeps: dict[str, Any]
) -> None:
    file = settings(private_home, OTHERS)
    assert run("install", "claude", "--yes")[0] == 0
    document = json.loads(file.read_text())
    command = document["hooks"]["PreToolUse"][1]["hooks"][0]["command"]
    document["hooks"]["PreToolUse"][1]["hooks"][0].update(spoil)
    file.write_text(json.dumps(document))
    assert run("install", "claude", "--yes", terminal=True)[0] == 0
    mended = json.loads(file.read_text())["hooks"]["PreToolUse"]
    assert mended[0] == json.loads(OTHERS)["hooks"]["PreToolUse"][0]
    expected = command
    if "command" in spoil:
        tail = ["--policy", "strict", "--resident", plan.warm_folder(), "--id", "0123456789abcdef"]
        expected = shlex.join([sys.executable, "-I", "-S", plan.MAIN, "hook", "--host", "claude", *tail])
    assert mended[1] == {"matcher": "*", "hooks": [{"type": "command", "command": expected, **keeps}]}
    assert run("uninstall", "claude", "--yes", terminal=True)[0] == 0
    assert json.loads(file.read_text()) == json.loads(OTHERS)


def test_only_the_events_that_the_points_need(private_home: Path) -> None:
    file = settings(private_home, None)
    assert run("install", "claude", "--yes", "--points", "tool.risk")[0] == 0
    assert list(json.loads(file.read_text())["hooks"]) == ["PreToolUse"]
    code, said = run("install", "claude", "--yes", "--points", "tool.injection,tool.admission")
    assert code == 1 and "at a terminal" in said, "fewer points weaken the gate"
    assert run("install", "claude", "--yes", "--points", "tool.injection", terminal=True)[0] == 0
    assert list(json.loads(file.read_text())["hooks"]) == ["PostToolUse", "PostToolUseFailure"]
    code, said = run("install", "claude", "--points", "tool.rsk")
    assert code == 2 and "tool.rsk" in said and "tool.risk" in said


def test_a_strict_policy_fails_closed_where_the_host_can_say_that(private_home: Path) -> None:
    config = private_home / ".config/jevhook/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('policy = "strict"')
    claude, codex = settings(private_home, None), settings(private_home, None, ".codex/hooks.json")
    assert run("install", "--yes")[0] == 0
    failing = {entry.event: entry.fields.get("onFailure") for entry in entries.mine(json.loads(claude.read_text()))}
    assert failing == {"PreToolUse": "block", "PostToolUse": None, "PostToolUseFailure": None}
    assert "onFailure" not in codex.read_text()
    config.write_text("")
    assert run("install", "--yes", terminal=True)[0] == 0
    assert "onFailure" not in claude.read_text()


def test_a_link_is_followed_and_stays_one(private_home: Path) -> None:
    real = private_home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}")
    file = settings(private_home, None)
    file.symlink_to(real)
    code, said = run("install", "claude", "--yes")
    assert code == 0 and f"is a link: {real} is what is changed" in said
    assert file.is_symlink() and "jevhook" in real.read_text()
    assert run("uninstall", "claude", "--yes", terminal=True)[0] == 0
    assert file.is_symlink() and real.read_text() == "{}"


def test_files_that_are_not_to_be_changed_are_said(private_home: Path) -> None:
    file = settings(private_home, "{}")
    file.chmod(0o444)
    code, said = run("install", "claude", "--yes")
    assert code == 1 and "read-only" in said and file.read_text() == "{}"
    file.unlink()
    file.symlink_to(private_home / "nowhere")
    assert "which is not there" in run("install", "claude", "--yes")[1]
    file.unlink()
    file.mkdir()
    assert "not a regular file" in run("install", "claude", "--yes")[1]
    file.rmdir()
    os.mkfifo(file)
    assert "not a regular file" in run("install", "claude", "--yes")[1]
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("a file")
    assert "is a file" in run("install", "claude", "--yes")[1]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make another user's file")
def test_another_users_settings_stay_as_they_are(private_home: Path) -> None:
    file = settings(private_home, "{}")
    os.chown(file, 12345, 12345)
    code, said = run("install", "claude", "--yes")
    assert code == 1 and "another user (uid 12345)" in said and file.read_text() == "{}"


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_directory_that_was_made_goes_again_if_nothing_else_is_in_it(private_home: Path, host: str) -> None:
    was = everything(private_home)
    assert run("install", host, "--yes")[0] == 0
    assert (private_home / f".{host}").is_dir()
    assert run("uninstall", host, "--yes", terminal=True)[0] == 0
    assert everything(private_home) == was and not (private_home / f".{host}").exists()


def test_the_projects_own_file_is_the_personal_one(private_home: Path, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert run("install", "claude", "--project", "--yes")[0] == 0
    assert "jevhook" in (tmp_path / ".claude/settings.local.json").read_text()
    assert not (private_home / ".claude").exists()
    assert run("uninstall", "claude", "--project", "--yes", terminal=True)[0] == 0
    assert not (tmp_path / ".claude").exists()


def test_the_machines_settings_are_for_every_user(private_home: Path, tmp_path: Path, monkeypatch: Any) -> None:
    managed = tmp_path / "etc" / "claude-code" / "managed-settings.json"
    monkeypatch.setattr(claude_install, "MANAGED", str(managed))
    code, said = run("install", "claude", "--managed", "--yes")
    assert code == 0, said
    assert "jevhook" in managed.read_text() and stat.S_IMODE(managed.stat().st_mode) == 0o644
    assert stat.S_IMODE(managed.parent.stat().st_mode) == 0o755 and not (private_home / ".claude").exists()
    open_to_all = all(above.stat().st_mode & 1 for above in Path(sys.executable).resolve().parents)
    assert ("can't be started by every user" in said) or open_to_all
    assert run("uninstall", "claude", "--managed", "--yes", terminal=True)[0] == 0
    assert not (tmp_path / "etc").exists()
    code, said = run("install", "codex", "--managed", "--yes")
    assert code == 1 and "requirements.toml" in said


def test_codex_follows_the_links_of_its_variable(private_home: Path, tmp_path: Path) -> None:
    """Else the trust would be recorded under a name that Codex never asks for (seen on 0.171.0)."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert run("install", "codex", "--yes", CODEX_HOME=str(tmp_path / "link"))[0] == 0
    state = tomllib.loads((tmp_path / "real/config.toml").read_text())["hooks"]["state"]
    assert all(key.startswith(f"{tmp_path}/real/hooks.json:") for key in state)


def test_a_dry_run_shows_the_change_and_makes_none(private_home: Path) -> None:
    key = "sk-ant-api03-" + "aB3" * 12
    settings(private_home, json.dumps({"env": {"KEY": key}}, indent=2))
    was = everything(private_home)
    code, said = run("install", "claude", "--dry-run", "--mcp")
    assert code == 0 and "+++ " in said and "__main__.py hook" in said and "--dry-run" in said
    assert "would run: claude mcp add --scope user jevhook -- " in said and "-I -m jevhook serve" in said
    assert key not in said
    assert everything(private_home) == was


def test_the_change_is_shown_first_and_a_no_is_a_no(private_home: Path) -> None:
    file = settings(private_home, "{}")
    code, said = run("install", "claude", terminal=True, keys="n\n")
    assert code == 0 and said.index("+++ ") < said.index("make this change?") and file.read_text() == "{}"
    assert run("install", "claude", terminal=True, keys="y\n")[0] == 0
    assert "jevhook" in file.read_text()


@pytest.mark.parametrize("command", [["install", "claude", "--yes"], ["uninstall", "--yes"], ["install", "claude"]])
@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI"])
def test_an_agents_shell_may_not(private_home: Path, command: list[str], variable: str) -> None:
    settings(private_home, "{}")
    was = everything(private_home)
    code, said = run(*command, terminal=True, **{variable: "1"})
    assert code == 1 and variable in said and everything(private_home) == was


@pytest.mark.parametrize("command", [["install", "claude"], ["uninstall", "claude"], ["uninstall", "claude", "--yes"]])
def test_without_a_terminal_only_a_first_install_with_yes(private_home: Path, command: list[str]) -> None:
    settings(private_home, "{}")
    was = everything(private_home)
    code, said = run(*command)
    assert code == 1 and "for a person at a terminal" in said and everything(private_home) == was


def test_a_host_that_is_not_here_has_to_be_named(private_home: Path) -> None:
    code, said = run("install", "--yes")
    assert code == 1 and "no host was found here" in said and "claude" in said
    code, said = run("install", "cluade")
    assert code == 2 and "claude, codex, all" in said


def test_both_leave_a_line_in_the_ledger(private_home: Path) -> None:
    file = settings(private_home, "{}")
    run("install", "claude", "--yes")
    run("uninstall", "claude", "--yes", terminal=True)
    lines = list(ledger.read(dict(os.environ)))
    assert [(line["origin"], line["event"], line["reason"], line["settings"]) for line in lines] == [
        ("cli", "jevhook install claude", "install", str(file)),
        ("cli", "jevhook uninstall claude", "uninstall", str(file)),
    ]


def test_settings_that_change_while_the_person_thinks_are_not_overwritten(private_home: Path) -> None:
    file = settings(private_home, "{}")
    todo = plan.install(installer("claude"), dict(os.environ))
    file.write_text('{"model": "opus"}')
    with pytest.raises(Refused, match="in the meantime"):
        plan.carry_out(todo, dict(os.environ))
    assert file.read_text() == '{"model": "opus"}'


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("lost", ["*.before", "*.json", "*"])
def test_without_the_backup_our_entries_still_go(private_home: Path, lost: str, again: bool) -> None:
    claude = settings(private_home, '{\n  "model": "opus"\n}\n')
    hooks, config = (
        settings(private_home, None, ".codex/hooks.json"),
        settings(private_home, "a = 1\n", ".codex/config.toml"),
    )
    assert run("install", "--yes")[0] == 0
    for file in (private_home / ".local/state/jevhook/installed").glob(lost):
        file.unlink()
    if again:
        assert run("install", "--yes")[0] == 0
    code, said = run("uninstall", "--yes", terminal=True)
    assert code == 0, said
    assert claude.read_text() == '{\n  "model": "opus"\n}\n'
    assert not hooks.exists() or json.loads(hooks.read_text()) == {}
    assert config.read_text() == "a = 1\n"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"files": []}', '{"files": [{}], "host": "claude"}'])
def test_a_broken_record_is_none(private_home: Path, text: str) -> None:
    file = settings(private_home, "{}")
    assert run("install", "claude", "--yes")[0] == 0
    (record,) = (private_home / ".local/state/jevhook/installed").glob("*.json")
    record.write_text(text)
    assert run("uninstall", "claude", "--yes", terminal=True)[0] == 0
    assert json.loads(file.read_text()) == {}


def test_no_trust_later_forgets_no_trust_that_was_given(private_home: Path) -> None:
    config = settings(private_home, "a = 1\n", ".codex/config.toml")
    assert run("install", "codex", "--yes")[0] == 0
    assert run("install", "codex", "--yes", "--no-trust", "--points", "tool.risk", terminal=True)[0] == 0
    assert run("uninstall", "codex", "--yes", terminal=True)[0] == 0
    assert config.read_text() == "a = 1\n"


def test_of_two_files_both_are_changed_or_none(private_home: Path) -> None:
    hooks = settings(private_home, "{}", ".codex/hooks.json")
    config = settings(private_home, "a = 1\n", ".codex/config.toml")
    todo = plan.install(installer("codex"), dict(os.environ))
    config.write_text("a = 2\n")
    with pytest.raises(Refused, match="in the meantime"):
        plan.carry_out(todo, dict(os.environ))
    assert (hooks.read_text(), config.read_text()) == ("{}", "a = 2\n")


def test_what_the_host_saved_since_is_not_taken_back_with_ours(
    private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = settings(private_home, "{}", ".codex/hooks.json")
    config = settings(private_home, "a = 1\n", ".codex/config.toml")
    todo = plan.install(installer("codex"), dict(os.environ))
    step = os.replace

    def steps(old: str, new: str) -> None:
        step(old, new)
        if new == str(hooks) and "a = 1" in config.read_text():  # ours is in; the host saves both
            hooks.write_text('{"theirs": 1}')
            config.write_text("a = 2\n")

    monkeypatch.setattr(os, "replace", steps)
    with pytest.raises(Refused, match="in the meantime"):
        plan.carry_out(todo, dict(os.environ))
    assert (hooks.read_text(), config.read_text()) == ('{"theirs": 1}', "a = 2\n")


@pytest.mark.parametrize("when", ["before", "in between"])
@pytest.mark.parametrize("again", [False, True])
def test_a_refused_install_leaves_the_receipt_as_it_was(
    private_home: Path, monkeypatch: pytest.MonkeyPatch, again: bool, when: str
) -> None:
    file = settings(private_home, '{"model": "opus"}')
    if again:
        assert run("install", "claude", "--yes")[0] == 0
    todo = plan.install(installer("claude"), dict(os.environ), points=["tool.risk"], python="/bin/sh")
    was = everything(private_home)
    if when == "before":
        file.write_text('{"theirs": 1}')
    else:
        monkeypatch.setattr(os, "fsync", lambda _: file.write_text('{"theirs": 1}'))
    with pytest.raises(Refused, match="in the meantime"):
        plan.carry_out(todo, dict(os.environ))
    assert everything(private_home) == {**was, ".claude/settings.json": b'{"theirs": 1}'}
    assert (private_home / ".local/state/jevhook/installed").exists() is again


def test_of_two_installs_at_once_the_receipt_is_of_the_one_that_was_made(
    private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = '{"model":   "opus"}\n'
    file = settings(private_home, before)
    env = dict(os.environ)
    first, second = (plan.install(installer("claude"), env) for _ in range(2))
    other = Second(monkeypatch, lambda: plan.carry_out(second, env))
    monkeypatch.setattr(os, "fsync", lambda _: other.meanwhile())  # the receipt is written, the settings are not
    plan.carry_out(first, env)
    other.thread.join()
    assert other.refused == [f"{file} changed in the meantime: run it again"]
    record = receipts.load(env, "claude", str(file))
    assert record and record["files"][0]["after"] == files.digest(file.read_bytes())
    plan.undo(plan.uninstall(installer("claude"), env), env)
    assert file.read_text() == before


def test_what_the_host_would_drop_can_still_be_taken_out(private_home: Path) -> None:
    file = settings(private_home, "{}")
    assert run("install", "claude", "--yes")[0] == 0
    document = json.loads(file.read_text())
    document["permissions"] = {"allow": "everything"}
    file.write_text(json.dumps(document))
    assert run("uninstall", "claude", "--yes", terminal=True)[0] == 0
    assert json.loads(file.read_text()) == {"permissions": {"allow": "everything"}}


# ---- Codex's trust

TRUST = [
    b"",
    b"model = 'x'",
    b'# mine\nmodel = "x" # why\n\n[projects."/p"]\ntrust_level = "trusted"\n',
    b'[hooks.state]\n\n[hooks.state."/other:stop:0:0"]\ntrusted_hash = "sha256:0"\n',
    b'a = 1\r\n[b]\r\nc = 2\r\n',
]  # fmt: skip


@pytest.mark.parametrize("before", [None, *TRUST])
def test_trust_is_written_beside_the_hooks_and_taken_back(private_home: Path, before: bytes | None) -> None:
    config = settings(private_home, before, ".codex/config.toml")
    was = everything(private_home)
    code, said = run("install", "codex", "--yes")
    assert code == 0, said
    document = tomllib.loads(config.read_text())
    hooks = private_home / ".codex/hooks.json"
    for entry in entries.mine(json.loads(hooks.read_text())):
        kept = document["hooks"]["state"][codex_install.key(str(hooks), entry)]
        assert kept == {"trusted_hash": codex_install.trust_hash(entry)}
    assert before is None or config.read_bytes().startswith(before)
    assert run("uninstall", "codex", "--yes", terminal=True)[0] == 0
    assert everything(private_home) == was


def test_trust_goes_even_where_codex_wrote_into_the_file_meanwhile(private_home: Path) -> None:
    config = settings(private_home, 'model = "x"\n', ".codex/config.toml")
    assert run("install", "codex", "--yes")[0] == 0
    config.write_text(config.read_text() + '\n[projects."/p"]\ntrust_level = "trusted"\n')
    assert run("uninstall", "codex", "--yes", terminal=True)[0] == 0
    assert config.read_text() == 'model = "x"\n\n[projects."/p"]\ntrust_level = "trusted"\n'


@pytest.mark.parametrize("text", ['hooks = { state = { a = { trusted_hash = "x" } } }\n', "a = [\n", "= 1"])
def test_a_config_that_cannot_be_added_to_is_told_and_nothing_is_written(private_home: Path, text: str) -> None:
    settings(private_home, text, ".codex/config.toml")
    was = everything(private_home)
    code, said = run("install", "codex", "--yes")
    assert code == 1 and "config.toml" in said and everything(private_home) == was
    if text.startswith("hooks"):
        assert "/hooks" in said
        assert run("install", "codex", "--yes", "--no-trust")[0] == 0


def test_without_the_trust_step_the_person_is_told_what_to_do(private_home: Path) -> None:
    code, said = run("install", "codex", "--yes", "--no-trust")
    assert code == 0 and "start codex in a terminal and review it" in said
    assert not (private_home / ".codex/config.toml").exists()


def test_hooks_of_others_that_move_up_are_mentioned(private_home: Path) -> None:
    file = settings(private_home, "{}", ".codex/hooks.json")
    assert run("install", "codex", "--yes")[0] == 0
    document = json.loads(file.read_text())
    document["hooks"]["PreToolUse"].append({"hooks": [{"type": "command", "command": "later"}]})
    file.write_text(json.dumps(document))
    code, said = run("uninstall", "codex", "--yes", terminal=True)
    assert code == 0 and "review them again" in said
    assert json.loads(file.read_text())["hooks"] == {"PreToolUse": document["hooks"]["PreToolUse"][1:]}


def test_every_host_with_an_installer_keeps_the_protocol() -> None:
    assert installable() == ["claude", "codex"]
    for name in installable():
        host = installer(name)
        assert name == host.NAME and host.TITLE and host.LOADED.endswith(".")
        assert host.handler("PreToolUse", "x", False) == {"type": "command", "command": "x"}
        assert host.denied(
            '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}'
        )
        for answer in (
            "",
            "{}",
            "no",
            '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}',
        ):
            assert not host.denied(answer)
    with pytest.raises(ValueError, match="claude, codex"):
        installer("none")


def test_the_doctors_fix_shows_the_change_and_asks(private_home: Path) -> None:
    file = settings(private_home, OTHERS)
    assert run("install", "claude", "--yes", "--points", "tool.risk")[0] == 0
    right = file.read_text()
    for wrong in (right.replace(sys.executable, "/gone/python"), OTHERS):
        file.write_text(wrong)
        code, said = run("doctor", "--fix", "--host", "claude", terminal=True, keys="n\n")
        assert code == 1 and "+++ " in said and file.read_text() == wrong
        code, said = run("doctor", "--fix", "--host", "claude", terminal=True, keys="y\n")
        assert code == 0, said
        mended = json.loads(file.read_text())
        assert [entry.event for entry in entries.mine(mended)] == ["PreToolUse"], "the points of the first install"
        assert run("doctor", "--host", "claude")[0] == 0
    code, said = run("doctor", "--fix", "--host", "claude")
    assert code == 1 and "at a terminal" in said
    file.write_text("{ broken")
    code, said = run("doctor", "--fix", "--host", "claude", terminal=True, keys="y\n")
    assert code == 1 and file.read_text() == "{ broken", "what is broken is told and left"


def test_a_projects_hooks_are_trusted_too(private_home: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert run("install", "codex", "--project", "--yes")[0] == 0
    state = tomllib.loads((private_home / ".codex/config.toml").read_text())["hooks"]["state"]
    assert sorted(state) == [f"{tmp_path}/.codex/hooks.json:{event}:0:0" for event in ("post_tool_use", "pre_tool_use")]
    assert run("uninstall", "codex", "--project", "--yes", terminal=True)[0] == 0
    assert not (private_home / ".codex").exists() and not (tmp_path / ".codex").exists()


def test_a_receipt_of_another_file_counts_for_nothing(private_home: Path) -> None:
    settings(private_home, "{}")
    assert run("install", "claude", "--yes")[0] == 0
    env = dict(os.environ)
    (record,) = receipts.every(env)
    assert receipts.load(env, "claude", record["path"]) == record
    assert receipts.load(env, "claude", "/another") is None
    assert receipts.load(env, "codex", record["path"]) is None
