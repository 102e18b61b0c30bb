"""A person's way: install into the real hosts' settings, see the guard hold, ask the doctor, take it out again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import need
from .hosts import REPO, WHERE, Place, Record, binary, claude_hook_runs
from .model import Call

pty = pytest.importorskip("pty")
pytestmark = pytest.mark.e2e

EMPTY_HOME = 'find "$HOME" -delete'
CLAUDE = {
    "ANTHROPIC_BASE_URL": "@MODEL@",
    "ANTHROPIC_API_KEY": "none-needed",
    "IS_SANDBOX": "1",  # else root may not use bypassPermissions
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
}
SETTINGS = '{\n\t"model": "sonnet",\n\t"hooks": {\n\t\t"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]\n\t},\n\t"env": {"A": "b"}\n}'
CONFIG = """# mine
model = "scripted" # of the test
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
"""


@pytest.fixture(params=["claude", "codex"])
def host(request: pytest.FixtureRequest) -> str:
    need(request.param)
    return str(request.param)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A home in which both hosts have settings of their own, which must be there again in the end."""
    place = Place(tmp_path)
    (place.home / ".claude").mkdir()
    (place.home / ".claude/settings.json").write_text(SETTINGS)
    (place.home / ".codex").mkdir()
    (place.home / ".codex/config.toml").write_text(CONFIG)
    yield place


def person(place: Place, *arguments: str) -> tuple[int, str]:
    """``jevhook`` at a terminal of the person's, the hosts on PATH."""
    master, slave = pty.openpty()
    env = place.environment()
    hosts = [str(path.parent) for path in (binary("claude"), binary("codex")) if path]
    env["PATH"] = os.pathsep.join([*hosts, env["PATH"]])
    try:
        done = subprocess.run(
            [sys.executable, "-m", "jevhook", *arguments],
            stdin=slave, capture_output=True, text=True, env=env, cwd=place.project, timeout=120,
        )  # fmt: skip
    finally:
        os.close(master)
        os.close(slave)
    return done.returncode, done.stdout + done.stderr


def doctor(place: Place, host: str) -> tuple[int, dict[str, Any]]:
    code, said = person(place, "doctor", "--json", "--host", host)
    (guard,) = json.loads(said)["hosts"]
    return code, guard


def talk(place: Place, host: str, *extra: str) -> Record:
    """The real host, asked by its model to empty the home directory."""
    sure = ("where", place.where())
    if host == "claude":
        argv = [str(binary("claude")), "-p", "go on", "--permission-mode", "bypassPermissions", *extra]
        argv += ["--output-format", "stream-json", "--verbose", "--include-hook-events"]
        calls = [
            Call(name, "Bash", {"command": command, "description": "scripted"}, needs)
            for name, command, needs in (("where", WHERE, None), ("empty-home", EMPTY_HOME, sure))
        ]
        return place.converse(argv, CLAUDE, calls)
    argv = [str(binary("codex")), "exec", "-s", "danger-full-access", "--skip-git-repo-check", *extra]
    argv += ["-c", 'model_providers.scripted.base_url="@MODEL@/v1"', "go on"]
    calls = [
        Call("where", "exec_command", {"cmd": WHERE}),
        Call("empty-home", "exec_command", {"cmd": EMPTY_HOME}, sure),
    ]
    return place.converse(argv, {"SCRIPTED_KEY": "none-needed"}, calls)


def test_installed_the_real_host_is_guarded_and_uninstalled_every_byte_is_back(place: Place, host: str) -> None:
    files = {path: path.read_bytes() for path in place.home.rglob("*") if path.is_file()}
    assert doctor(place, host)[1]["state"] == "none"
    code, said = person(place, "install", host, "--yes")
    assert code == 0, said
    code, guard = doctor(place, host)
    assert (code, guard["state"], guard["troubles"]) == (0, "on", []), guard
    assert guard["tested"] and guard["version"] and guard["hook_ms"] > 0

    record = talk(place, host)
    assert place.where() in record.told("where"), record
    assert place.canary.read_text() == "still here\n", record
    assert "home" in record.told("empty-home").lower() and "jevhook" not in record.told("where")
    lines = [line for line in place.ledger() if line["origin"] == "hook"]
    assert [line["decision"] for line in lines if line["event"] == "PreToolUse"] == ["none", "deny"]

    code, said = person(place, "uninstall", host, "--yes")
    assert code == 0, said
    for path, before in files.items():
        assert path.read_bytes() == before, path
    assert not (place.home / ".codex/hooks.json").exists()
    assert doctor(place, host)[1]["state"] == "none"


def test_uninstalled_the_home_is_not_guarded_any_more(place: Place, host: str) -> None:
    """What proves that it was our hook which held."""
    assert person(place, "install", host, "--yes")[0] == 0
    assert person(place, "uninstall", host, "--yes")[0] == 0
    record = talk(place, host)
    assert not place.canary.exists(), record


# What is done to the installation; whether the real host still runs the hook; whether the doctor finds it on.
SABOTAGE = {
    "claude": {
        "a project says disableAllHooks": lambda place: put(place, '{"disableAllHooks": true}'),
        "a project repeats the command": lambda place: put(place, json.dumps(repeated(place))),
        "one value of another type": lambda place: spoil(place, "claude", lambda d: d.update(permissions={"allow": "x"})),
        "a comment": lambda place: comment(place),
        "a matcher for something else": lambda place: spoil(place, "claude", lambda d: group(d).update(matcher="Write")),
        "a timeout of a millisecond": lambda place: spoil(place, "claude", lambda d: entry(d).update(timeout=0.001)),
        "another Python": lambda place: spoil(
            place, "claude", lambda d: entry(d).update(command=entry(d)["command"].replace(sys.executable, "/gone/python"))
        ),
    },
    "codex": {
        "no trust": lambda place: (place.home / ".codex/config.toml").write_text(CONFIG),
        "a changed definition": lambda place: spoil(place, "codex", lambda d: entry(d).update(statusMessage="x")),
        "an entry in front": lambda place: spoil(
            place, "codex",
            lambda d: d["hooks"]["PreToolUse"].insert(0, {"hooks": [{"type": "command", "command": "true"}]}),
        ),
        "a fraction": lambda place: spoil(place, "codex", lambda d: entry(d).update(timeout=20.5)),
    },
}  # fmt: skip


def settings(place: Place, host: str) -> Path:
    return place.home / {"claude": ".claude/settings.json", "codex": ".codex/hooks.json"}[host]


def spoil(place: Place, host: str, change: Any) -> None:
    document = json.loads(settings(place, host).read_text())
    change(document)
    settings(place, host).write_text(json.dumps(document))


def group(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["hooks"]["PreToolUse"][0]
    return found


def entry(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = group(document)["hooks"][0]
    return found


def put(place: Place, text: str) -> None:
    (place.project / ".claude").mkdir()
    (place.project / ".claude/settings.json").write_text(text)


def repeated(place: Place) -> dict[str, Any]:
    mine = entry(json.loads(settings(place, "claude").read_text()))
    return {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{**mine, "timeout": 0.001}]}]}}


def comment(place: Place) -> None:
    file = settings(place, "claude")
    file.write_text(file.read_text().replace("{", "{ // mine", 1))


@pytest.mark.parametrize(
    ("host", "what"), [(name, what) for name, rows in SABOTAGE.items() for what in rows], indirect=["host"]
)
def test_where_the_host_does_not_run_the_hook_the_doctor_says_so(place: Place, host: str, what: str) -> None:
    assert person(place, "install", host, "--yes")[0] == 0
    SABOTAGE[host][what](place)
    code, guard = doctor(place, host)
    assert (code, guard["state"]) == (1, "off"), guard
    record = talk(place, host)
    assert not place.canary.exists(), ("the doctor says off, the host is guarded", what, record)


def test_under_the_strict_policy_a_hook_that_cannot_start_stops_the_call(place: Place) -> None:
    need("claude")
    place.config.parent.mkdir(parents=True)
    place.config.write_text('policy = "strict"\n')
    assert person(place, "install", "claude", "--yes")[0] == 0
    spoil(
        place, "claude", lambda d: entry(d).update(command=entry(d)["command"].replace(sys.executable, "/gone/python"))
    )
    record = talk(place, "claude")
    assert place.canary.exists() and "home=" not in record.told("where"), record


def test_a_projects_own_install_guards_below_its_root_too(place: Place, host: str) -> None:
    if host == "codex":  # reads a project's settings only where it trusts the project
        trusted = f'\n[projects."{place.project}"]\ntrust_level = "trusted"\n'
        (place.home / ".codex/config.toml").write_text(CONFIG + trusted)
    below = place.project / "below"
    below.mkdir()
    place.project = below
    code, said = person(place, "install", host, "--project", "--yes")
    assert code == 0, said
    assert doctor(place, host)[1]["state"] == "on"
    record = talk(place, host)
    assert place.canary.exists(), record
    assert person(place, "uninstall", host, "--project", "--yes")[0] == 0
    assert not (below.parent / f".{host}").exists()


def test_the_plugin_is_loaded_and_guards(place: Place) -> None:
    need("claude")
    if not (REPO / ".venv/bin/python").exists():
        pytest.skip("the plugin starts the checkout's .venv: scripts/venv")
    record = talk(place, "claude", "--plugin-dir", str(REPO / "hooks/claude-plugin"))
    assert place.canary.exists() and "hook error" in record.told("empty-home"), record
    assert "PreToolUse" in [run["hook_event"] for run in claude_hook_runs(record)]
    assert (place.home / ".claude/settings.json").read_text() == SETTINGS


def test_the_plugin_is_in_order_by_the_hosts_own_word(place: Place) -> None:
    need("claude")
    done = subprocess.run(
        [str(binary("claude")), "plugin", "validate", "--strict", str(REPO / "hooks/claude-plugin")],
        env=place.environment() | {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_mcp_server_is_registered_through_the_hosts_own_command_and_goes_again(place: Place, host: str) -> None:
    before = (place.home / ".codex/config.toml").read_bytes()
    code, said = person(place, "install", host, "--yes", "--mcp")
    assert code == 0, said
    words = json.dumps(["-I", "-m", "jevhook", "serve"])
    kept = {"claude": place.home / ".claude.json", "codex": place.home / ".codex/config.toml"}[host]
    if host == "claude":
        server = json.loads(kept.read_text())["mcpServers"]["jevhook"]
        assert [server["command"], server["args"]] == [sys.executable, json.loads(words)]
    else:
        assert f'[mcp_servers.jevhook]\ncommand = "{sys.executable}"\nargs = {words}' in kept.read_text()
    assert doctor(place, host)[1]["state"] == "on"
    assert person(place, "install", host, "--yes", "--mcp")[0] == 0, "a second time is no error"
    assert person(place, "uninstall", host, "--yes")[0] == 0
    if host == "claude":
        assert "jevhook" not in json.loads(kept.read_text())["mcpServers"]
    else:
        assert kept.read_bytes() == before
