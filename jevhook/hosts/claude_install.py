"""Claude Code: where its settings are, what an entry of ours looks like, and what makes it disappear.

Facts are of 2.1.332, seen running unless a line says otherwise.  See ``Installer`` in ``jevhook/hosts/__init__.py``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from .. import config
from ..install.entries import Trouble, table
from ..install.files import Found

NAME = "claude"
TITLE = "Claude Code"
PROGRAM = "claude"
TESTED = ("2.1.332", "2.1.197")
REGISTER = (("PreToolUse", "*"), ("PostToolUse", "*"), ("PostToolUseFailure", "*"))  # (event, matcher)
LOADED = "It counts at once: running sessions read it again within a second."
UNTRUSTED = ""
STURDIER = (
    "Sturdier: `jevhook install claude --managed`, which no repository can switch off or replace, or the plugin\n"
    "(`claude --plugin-dir hooks/claude-plugin` of a checkout), which none can replace."
)
SHELL = ("/bin/sh", "-c")  # whatever $SHELL says
DEFAULT_TIMEOUT = 600.0  # seconds, where the entry names none
BOM = True
MANAGED = "/etc/claude-code/managed-settings.json"
_PROJECT = (".claude/settings.json", ".claude/settings.local.json")  # the later one is the stronger
_TYPES = ("command", "prompt", "agent", "http", "mcp_tool")
# What a repository's env could mean to us: places, consent, the way to the judge, the loader.
_TELLING = ("JEV", "XDG_", "TYPESAFE", "LD_", "DYLD_", "SSL_CERT")
_TELLING_NAMES = frozenset(("HOME", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE"))


def directory(env: Mapping[str, str]) -> str:
    """The user's own directory: CLAUDE_CONFIG_DIR, else ``~/.claude``; "" without a home."""
    moved = env.get("CLAUDE_CONFIG_DIR", "")
    home = config.home(env)
    return os.path.abspath(moved) if moved else os.path.join(home, ".claude") if home else ""


def settings(env: Mapping[str, str], project: str = "") -> str:
    """The file an entry goes into: the user's, or the project's personal one (the path in it is this machine's)."""
    return os.path.join(project, _PROJECT[1]) if project else os.path.join(directory(env), "settings.json")


def handler(event: str, command: str, fail_closed: bool) -> dict[str, Any]:
    """The entry.  No timeout: a hook that runs out of it lets the call through, and ours ends by itself.

    ``onFailure`` stops a call whose hook can't be started (2.1.197 ignores it); after the tool it would stop nothing.
    """
    entry: dict[str, Any] = {"type": "command", "command": command}
    if fail_closed and event == "PreToolUse":
        entry["onFailure"] = "block"
    return entry


def drops(document: Any) -> str:
    """What in a settings document makes Claude Code ignore the whole file, without a word in ``-p``; "" for nothing."""
    allowed = document.get("allowedHttpHookUrls", [])
    if not isinstance(allowed, list) or not all(isinstance(url, str) for url in allowed):
        return "allowedHttpHookUrls is not a list of texts"
    permissions = document.get("permissions", {})
    for name in ("allow", "deny", "ask"):
        rules = permissions.get(name, []) if isinstance(permissions, dict) else None
        if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
            return f"permissions.{name} is not a list of texts"
    for entry in table(document):
        where = f"hooks.{entry.event}[{entry.group}].hooks[{entry.handler}]"
        kind, timeout = entry.fields.get("type"), entry.fields.get("timeout", 1)
        if kind not in _TYPES:
            return f"{where}.type is {json.dumps(kind)}, known are {', '.join(_TYPES)}"
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or timeout <= 0:
            return f"{where}.timeout is {json.dumps(timeout)}, it must be a number above 0"
        if entry.fields.get("onFailure", "block") not in ("block", "continue"):
            return f"{where}.onFailure is neither block nor continue"
    return ""


def covers(matcher: Any, tool: str) -> bool:
    """Whether a group with this matcher runs for ``tool``: exact names in a list, else an unanchored regex."""
    if matcher in (None, "", "*"):
        return True
    if not isinstance(matcher, str):
        return False
    import re

    if re.fullmatch(r"[\w-]+(\s*[|,]\s*[\w-]+)*", matcher):
        return tool in [name.strip() for name in re.split(r"[|,]", matcher)]
    try:
        return re.search(matcher, tool) is not None
    except re.error:
        return False


def trust(env: Mapping[str, str], path: str, text: str) -> tuple[Found, str, list[str]] | None:
    """Nothing to do: Claude Code runs the hooks of the user's own settings."""
    return None


def untrust(env: Mapping[str, str], path: str, text: str, keys: list[str]) -> tuple[Found, str] | None:
    """Nothing to take back."""
    return None


def elsewhere(
    env: Mapping[str, str], path: str, commands: list[str], cwd: str, root: str, binary: str
) -> list[Trouble]:
    """What other settings do to hooks in the user's file ``path``; ``commands`` are ours in it."""
    found: list[Trouble] = []
    switch = ""
    # Weakest first.  Of the root above the session's directory only the personal file counts.  The strongest file that
    # holds a switch wins, false over true as well.
    places = [(cwd, _PROJECT[0]), (root, _PROJECT[1]), (cwd, _PROJECT[1])]
    projects = dict.fromkeys(os.path.join(folder, name) for folder, name in places if folder)
    # What an administrator wrote, nobody below switches off or replaces.
    for place in (MANAGED,) if path == MANAGED else (settings(env), *projects, MANAGED):
        document, wrong = _read(place)
        if "disableAllHooks" in document:
            switch = place if document["disableAllHooks"] is True else ""
        if place == MANAGED and path != MANAGED and document.get("allowManagedHooksOnly") is True:
            found.append(Trouble("off", f"{MANAGED} says allowManagedHooksOnly: put the hook there"))
        if place in projects and os.path.realpath(place) != os.path.realpath(path):
            found += _project(place, document, wrong, path, commands)
    if switch:
        found.append(Trouble("off", f"{switch} says disableAllHooks: no hook runs here"))
    return found


def _project(place: str, document: dict[str, Any], wrong: str, path: str, commands: list[str]) -> list[Trouble]:
    if wrong:
        return [Trouble("warn", f"{place} can't be read and does not count: {wrong}")]
    found = []
    if any(entry.command in commands for entry in table(document)):
        found.append(Trouble("off", f"{place} repeats the hook's command and replaces it: take that entry out"))
    environment = document.get("env")
    names = [name for name in environment if _tells(name)] if isinstance(environment, dict) else []
    if names:
        found.append(Trouble("warn", f"{place} sets {', '.join(sorted(names))} for every hook here"))
    user = _read(path)[0]
    http = any(entry.fields.get("type") == "http" for entry in table(user))
    if http and isinstance(document.get("allowedHttpHookUrls"), list) and "allowedHttpHookUrls" not in user:
        found.append(
            Trouble("warn", f"{place} limits allowedHttpHookUrls: name your own http hooks' URLs in {path} as well")
        )
    return found


def _tells(name: Any) -> bool:
    return isinstance(name, str) and (name.upper() in _TELLING_NAMES or name.upper().startswith(_TELLING))


def _read(path: str) -> tuple[dict[str, Any], str]:
    """(document, what is wrong with it); ({}, "") when there is none."""
    try:
        data, _ = config.read_bounded(path, 8 << 20)
        found = json.loads(data.decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except (OSError, ValueError, RecursionError) as wrong:
        return {}, str(wrong)[:120]
    return (found, "") if isinstance(found, dict) else ({}, "not an object")


def event(command: str, cwd: str, session: str, call: str) -> dict[str, Any]:
    """A before-tool event as it comes on stdin."""
    return {
        "session_id": session,
        "transcript_path": "",
        "cwd": cwd,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "a question of jevhook doctor"},
        "tool_use_id": call,
    }


def denied(stdout: str) -> bool:
    """Whether Claude Code takes this answer for a denial."""
    try:
        inner = json.loads(stdout)["hookSpecificOutput"]
        return bool(inner["hookEventName"] == "PreToolUse" and inner["permissionDecision"] == "deny")
    except (ValueError, KeyError, TypeError):
        return False


def mcp_add(words: list[str]) -> list[str]:
    """Arguments of ``claude`` that register the MCP server for the user."""
    return ["mcp", "add", "--scope", "user", "jevhook", "--", *words]


def mcp_remove() -> list[str]:
    """Arguments of ``claude`` that take it out again."""
    return ["mcp", "remove", "--scope", "user", "jevhook"]
