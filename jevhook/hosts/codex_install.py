"""Codex CLI: where its settings are, what an entry of ours looks like, and how its hooks are trusted.

Facts are of 0.171.0, seen running unless a line says otherwise.  See ``Installer`` in ``jevhook/hosts/__init__.py``.

Codex skips a hook that is not trusted; ``codex exec`` does not say so.  Trust is kept in ``config.toml`` beside
``hooks.json``: ``[hooks.state."<file>:<event>:<group>:<handler>"] trusted_hash = "sha256:…"``, where the hash is that
of the definition's canonical JSON.  The terminal's review writes the same lines, through ``config/batchWrite`` of
``codex app-server``; ``hooks/list`` of that server gives the key, the hash and whether it is trusted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import threading
import tomllib
from collections.abc import Mapping
from typing import Any

from .. import config
from ..install.entries import Entry, Trouble, mine, table
from ..install.files import Found, Refused, look

NAME = "codex"
TITLE = "Codex"
PROGRAM = "codex"
TESTED = ("0.171.0",)
REGISTER = (("PreToolUse", "*"), ("PostToolUse", "*"))  # (event, matcher); there is no event for failures
LOADED = "Codex reads it when a session starts: start running ones again."
UNTRUSTED = (
    "Codex skips a hook that you have not trusted, without a word: start codex in a terminal and review it (/hooks)."
)
STURDIER = "Sturdier place: managed requirements (/etc/codex/requirements.toml), which need no trust."
SHELL = ("/bin/sh", "-c")  # Codex takes the user's login shell
DEFAULT_TIMEOUT = 600.0  # seconds, where the entry names none
BOM = False
MANAGED = ""  # requirements.toml is no JSON
ASK_SECONDS = 10.0  # for codex app-server; it takes a third of a second


def directory(env: Mapping[str, str]) -> str:
    """The user's own directory: CODEX_HOME, else ``~/.codex``; "" without a home.

    Codex follows the links of CODEX_HOME, and only those, before it names a file in its record of trust.
    """
    moved = env.get("CODEX_HOME", "")
    home = config.home(env)
    return os.path.realpath(moved) if moved else os.path.join(home, ".codex") if home else ""


def settings(env: Mapping[str, str], project: str = "") -> str:
    """The file an entry goes into; a project's counts only where Codex trusts the project."""
    return os.path.join(project, ".codex", "hooks.json") if project else os.path.join(directory(env), "hooks.json")


def handler(event: str, command: str, fail_closed: bool) -> dict[str, Any]:
    """The entry.  Codex knows no ``onFailure``; a timeout would only let calls through (and a fraction drops the file)."""
    return {"type": "command", "command": command}


def drops(document: Any) -> str:
    """What in ``hooks.json`` makes Codex ignore the whole file; "" for nothing."""
    for entry in table(document):
        where = f"hooks.{entry.event}[{entry.group}].hooks[{entry.handler}]"
        kind, timeout = entry.fields.get("type"), entry.fields.get("timeout", 1)
        if kind not in ("command", "mcp_tool", "prompt", "agent"):
            return f"{where}.type is {json.dumps(kind)}, known are command, mcp_tool, prompt, agent"
        if isinstance(timeout, bool) or not isinstance(timeout, int) or timeout < 0:
            return f"{where}.timeout is {json.dumps(timeout)}, it must be a whole number of seconds"
    return ""


def covers(matcher: Any, tool: str) -> bool:
    """Whether a group with this matcher runs for ``tool``: exact names joined by ``|``, else an unanchored regex."""
    if matcher in (None, "", "*"):
        return True
    if not isinstance(matcher, str):
        return False
    if re.fullmatch(r"[\w-]+(\|[\w-]+)*", matcher):
        return tool in matcher.split("|")
    try:
        return re.search(matcher, tool) is not None
    except re.error:
        return False


def snake(name: str) -> str:
    """PreToolUse -> pre_tool_use, as Codex names events where it keeps trust."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def key(path: str, entry: Entry) -> str:
    """Under which name Codex keeps an entry's trust."""
    return f"{path}:{snake(entry.event)}:{entry.group}:{entry.handler}"


def trust_hash(entry: Entry) -> str:
    """The hash that stands for an entry's definition, its defaults written out."""
    given = entry.fields
    hook: dict[str, Any] = {
        "type": given.get("type"),
        "command": given.get("command"),
        "timeout": given.get("timeout", 600),
        "async": given.get("async", False),
        **{name: given[name] for name in ("statusMessage", "additionalContextLimit") if name in given},
    }
    definition: dict[str, Any] = {"event_name": snake(entry.event), "hooks": [hook]}
    if entry.matcher is not None and entry.event != "UserPromptSubmit":
        definition["matcher"] = entry.matcher
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def trust(env: Mapping[str, str], path: str, text: str) -> tuple[Found, str, list[str]] | None:
    """(config.toml as it is, its text with our entries of ``text`` trusted, their keys); None when they all are.

    Raises Refused when the file can't be read, or adding to it would change anything else.
    """
    found = look(os.path.join(directory(env), "config.toml"))
    before = found.text()
    state = _state(found.path, before)
    wanted = {key(path, entry): trust_hash(entry) for entry in mine(json.loads(text))}
    stale = {name: value for name, value in wanted.items() if state.get(name, {}).get("trusted_hash") != value}
    if not stale:
        return None
    after = _without(found.path, before, [name for name in stale if name in state])
    newline = "\r\n" if "\r\n" in before else "\n"
    if after and not after.endswith("\n"):
        after += newline
    for name, value in stale.items():
        gap = newline if after else ""
        after += f"{gap}[hooks.state.{_quoted(name)}]{newline}trusted_hash = {_quoted(value)}{newline}"
    expected = _parsed(found.path, before)
    expected.setdefault("hooks", {}).setdefault("state", {})
    for name, value in stale.items():
        expected["hooks"]["state"][name] = {"trusted_hash": value}
    _same(found.path, after, expected)
    return found, after, list(stale)


def untrust(env: Mapping[str, str], path: str, text: str, keys: list[str]) -> tuple[Found, str] | None:
    """(config.toml as it is, its text without the trust of our entries in ``text`` and of these keys); None when it
    holds none of them."""
    found = look(os.path.join(directory(env), "config.toml"))
    before = found.text()
    now = [key(path, entry) for entry in mine(json.loads(text.strip() or "{}"))]
    held = [name for name in dict.fromkeys([*keys, *now]) if name in _state(found.path, before)]
    return (found, _without(found.path, before, held)) if held else None


def _without(path: str, text: str, names: list[str]) -> str:
    if not names:
        return text
    expected = _parsed(path, text)
    for name in names:
        heads = "|".join(re.escape(f"[hooks.state.{quoted}]") for quoted in (_quoted(name), f"'{name}'"))
        text = re.sub(
            rf"(?:^[ \t]*\r?\n)?^(?:{heads})[ \t]*(?:\r?\n|\Z)(?:(?!\[)[ \t]*[^\s].*(?:\r?\n|\Z))*",
            "",
            text,
            flags=re.M,
        )
        del expected["hooks"]["state"][name]
    _same(path, text, expected)
    return text


def _same(path: str, text: str, expected: dict[str, Any]) -> None:
    if _trim(_parsed(path, text)) != _trim(expected):
        raise Refused(
            f"{path} is written in a way that can't be added to safely: trust the hooks in Codex itself (/hooks)"
        )


def _trim(document: dict[str, Any]) -> dict[str, Any]:
    """Without tables that are empty: [hooks] and [hooks.state] mean nothing by themselves."""
    hooks = {name: value for name, value in document.get("hooks", {}).items() if (name, value) != ("state", {})}
    return {
        **{name: value for name, value in document.items() if name != "hooks"},
        **({"hooks": hooks} if hooks else {}),
    }


def _parsed(path: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise Refused(f"{path} is no TOML: {wrong}") from None


def _state(path: str, text: str) -> dict[str, Any]:
    hooks = _parsed(path, text).get("hooks", {})
    state = hooks.get("state", {}) if isinstance(hooks, dict) else {}
    return {name: value for name, value in state.items() if isinstance(value, dict)} if isinstance(state, dict) else {}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a TOML basic string for every path that JSON can say


def elsewhere(
    env: Mapping[str, str], path: str, commands: list[str], cwd: str, root: str, binary: str
) -> list[Trouble]:
    """Whether Codex will run our entries in ``path``: by its own word where it can be asked, else by its files."""
    found: list[Trouble] = []
    try:
        document = json.loads(look(path).text() or "{}")
        told = ask(binary, env, cwd) if binary else None
        if told is not None:
            found += [Trouble("warn", f"Codex says: {text}") for text in told["said"]]
            for hook in told["hooks"]:
                if hook.get("command") not in commands or os.path.realpath(
                    hook.get("sourcePath", "")
                ) != os.path.realpath(path):
                    continue
                status = hook.get("trustStatus")
                if status not in ("trusted", "managed"):
                    found.append(Trouble("off", _SKIPPED.format(f"{hook.get('eventName')} ({status})"), "trust"))
                elif hook.get("enabled") is False:
                    found.append(Trouble("off", f"Codex has the {hook.get('eventName')} hook switched off (/hooks)"))
            listed = {hook.get("command") for hook in told["hooks"]}
            found += [Trouble("off", "Codex does not list the hook") for command in commands if command not in listed]
            return found
        state = _state(path, look(os.path.join(directory(env), "config.toml")).text())
    except (Refused, ValueError) as wrong:
        return [*found, Trouble("off", str(wrong))]
    for entry in mine(document):
        kept = state.get(key(path, entry), {})
        if kept.get("trusted_hash") != trust_hash(entry):
            found.append(Trouble("off", _SKIPPED.format(entry.event), "trust"))
        elif kept.get("enabled") is False:
            found.append(Trouble("off", f"Codex has the {entry.event} hook switched off (/hooks)"))
    return found


_SKIPPED = "Codex does not trust the hook of {} and skips it: review it in codex (/hooks), or run jevhook install codex"


def ask(binary: str, env: Mapping[str, str], cwd: str) -> dict[str, Any] | None:
    """What ``codex app-server`` says of the hooks that count in ``cwd``: {"hooks": [...], "said": [texts]}.

    None when it gives no answer within ASK_SECONDS.
    """
    try:
        server = subprocess.Popen(
            [binary, "app-server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(env), cwd=directory(env),
        )  # fmt: skip
    except OSError:
        return None
    late = threading.Timer(ASK_SECONDS, server.kill)
    late.start()
    try:
        _request(server, 1, "initialize", {"clientInfo": {"name": "jevhook", "version": "1"}})
        _send(server, {"method": "initialized"})
        (answer,) = _request(server, 2, "hooks/list", {"cwds": [cwd or directory(env)]})["data"]
        said = [str(text)[:200] for text in [*answer.get("warnings", []), *answer.get("errors", [])]]
        return {"hooks": [hook for hook in answer["hooks"] if isinstance(hook, dict)], "said": said}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        late.cancel()
        server.kill()
        server.communicate()


def _send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


def _request(server: subprocess.Popen[bytes], number: int, method: str, params: dict[str, Any]) -> Any:
    _send(server, {"id": number, "method": method, "params": params})
    assert server.stdout is not None
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message["result"]
    raise ValueError("no answer")


def event(command: str, cwd: str, session: str, call: str) -> dict[str, Any]:
    """A before-tool event as it comes on stdin."""
    return {
        "session_id": session,
        "turn_id": "doctor",
        "transcript_path": None,
        "cwd": cwd,
        "hook_event_name": "PreToolUse",
        "model": "none",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": call,
    }


def denied(stdout: str) -> bool:
    """Whether Codex takes this answer for a denial: a reason is needed, an unknown key is not forgiven."""
    try:
        answer = json.loads(stdout)
        inner = answer["hookSpecificOutput"]
        known = set(answer) == {"hookSpecificOutput"} and set(inner) <= {
            "hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext",
        }  # fmt: skip
        return known and inner["permissionDecision"] == "deny" and bool(inner["permissionDecisionReason"].strip())
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def mcp_add(words: list[str]) -> list[str]:
    """Arguments of ``codex`` that register the MCP server for the user."""
    return ["mcp", "add", "jevhook", "--", *words]


def mcp_remove() -> list[str]:
    """Arguments of ``codex`` that take it out again."""
    return ["mcp", "remove", "jevhook"]
