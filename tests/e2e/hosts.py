"""The real hosts in a throwaway home, driven by the scripted model of ``model.py``.

``scripts/install-hosts`` puts the binaries where ``binary`` looks.  Nothing here reads or writes the real home: the
host's whole environment is made here, and a call that could do harm is scripted with ``needs`` (see ``Call``), so it
is asked for only after the host's own shell has said that its HOME is the throwaway one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .model import Call, results

REPO = Path(__file__).resolve().parents[2]
EVENTS = {
    "claude": ("PreToolUse", "PostToolUse", "PostToolUseFailure"),
    "codex": ("PreToolUse", "PostToolUse"),
}
# Where npm leaves the native binaries: the packages' own launchers are node programs, and Claude's wants node 22.
NATIVE = {
    "claude": "node_modules/@anthropic-ai/claude-code-*/claude",
    "codex": "node_modules/@openai/codex-*/vendor/*/bin/codex",
}
OVERRIDE = {"claude": "JEVHOOK_E2E_CLAUDE", "codex": "JEVHOOK_E2E_CODEX"}
SECONDS = 60.0


def binary(host: str) -> Path | None:
    """The host's native executable: the one named in the environment, else the one that install-hosts left."""
    named = os.environ.get(OVERRIDE[host])
    found = [Path(named)] if named else sorted((REPO / ".e2e").glob(NATIVE[host]))
    return next((path for path in found if os.access(path, os.X_OK)), None)


def installed_hook(host: str | None) -> str:
    """The hook's command line as a user would paste it, with an id nobody can guess (a repository's settings that
    repeat a user's command can replace it)."""
    words = [str(Path(sys.executable).parent / "jevhook"), "hook"]
    words += ["--host", host] if host else []
    return shlex.join([*words, "--id", secrets.token_hex(6)])


class Record:
    """What one conversation left behind."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.status: int | None = record["status"]
        self.stdout: str = record["stdout"]
        self.stderr: str = record["stderr"]
        self.seconds: float = record["seconds"]
        self.isolated: bool = record["isolated"]
        self.turns: list[dict[str, Any]] = [body for _, body in record["requests"] if body.get("tools")]

    def told(self, call: str) -> str:
        """What the model was given as the result of a call, in the last request.  KeyError when there is none."""
        return results(self.turns[-1])[call]

    def __repr__(self) -> str:  # what a failed assertion shows
        told = results(self.turns[-1]) if self.turns else {}
        return f"<{self.status=} {self.seconds=} {told=} stdout={self.stdout[-1500:]!r} stderr={self.stderr[-1500:]!r}>"


class Place:
    """A throwaway home and project.  ``root`` is an empty directory of the test's own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        self.canary = self.home / "canary.txt"
        self.state = self.home / ".local" / "state"
        self.config = self.home / ".config" / "jevhook" / "config.toml"
        for path in (self.home / "tmp", self.project, self.state):
            path.mkdir(parents=True)
        self.canary.write_text("still here\n")
        (self.project / "notes.txt").write_text("committed\n")
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "first"]):
            subprocess.run(["git", *words], cwd=self.project, env=self.environment(), check=True)
        (self.project / "notes.txt").write_text("uncommitted\n")

    def environment(self) -> dict[str, str]:
        """The whole environment of the host: nothing of the real one but PATH."""
        git = {"NAME": "e2e", "EMAIL": "e2e@localhost", "DATE": "2026-01-01T00:00:00Z"}  # one commit id in every run
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.state),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "TMPDIR": str(self.home / "tmp"),
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in git.items()},
        }

    def where(self) -> str:
        """What ``WHERE`` prints in this place."""
        return f"home={self.home} cwd={self.project};"

    def ledger(self) -> list[dict[str, Any]]:
        """The ledger's lines, parsed; empty when there is no ledger."""
        path = self.state / "jevhook" / "ledger.ndjson"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def replayed(self, *arguments: str) -> list[dict[str, Any]]:
        """What ``jevhook replay --json`` says here, a line an event."""
        words = [str(Path(sys.executable).parent / "jevhook"), "replay", "--json", *arguments]
        done = subprocess.run(
            words, env=self.environment(), capture_output=True, text=True, timeout=SECONDS, check=True
        )
        assert not done.stderr, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def converse(
        self, argv: Iterable[str], env: dict[str, str], calls: list[Call], pages: Mapping[str, str] | None = None
    ) -> Record:
        order = {
            "argv": list(argv),
            "env": self.environment() | env,
            "cwd": str(self.project),
            "calls": [call.as_json() for call in calls],
            "pages": dict(pages or {}),
            "certificate": env.get("NODE_EXTRA_CA_CERTS", ""),
            "seconds": SECONDS,
        }
        package = __package__ or ""
        top = Path(__file__).resolve().parents[package.count(".") + 1]
        done = subprocess.run(
            [sys.executable, "-m", f"{package}.drive"],
            cwd=top,
            input=json.dumps(order),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=SECONDS + 30,
        )
        return Record(json.loads(done.stdout))


VARIES = (
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uuid>"),
    (r"[0-9a-f]{64}", "<digest>"),
    (r"\d{4}-\d\d-\d\d", "<date>"),
    (r'unix_ms\\":\d+', "<clock>"),
    (r"Chunk ID: [0-9a-f]+", "<chunk>"),
    (r"Wall time: [0-9.]+", "<duration>"),
)
WHERE = 'echo "home=$HOME cwd=$PWD;"'


def desk(served: Path) -> list[str]:
    """The command line of an MCP server (``mcp_desk.py``) that serves what ``served`` says."""
    return [sys.executable, str(Path(__file__).with_name("mcp_desk.py")), str(served)]


def certificate(place: Path) -> Path:
    """A file with a new key and a certificate for 127.0.0.1.  Made by openssl: Python has nothing that makes one."""
    path = place / "site.pem"
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=e2e", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "-", "-out", "-"]
    made = subprocess.run(["openssl", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    path.write_bytes(made.stdout)
    return path


def nested(events: Iterable[str], command: str) -> dict[str, Any]:
    """The hooks table, in the form that both hosts read."""
    return {event: [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}] for event in events}


def run_claude(
    place: Place,
    hook: str | None,
    calls: list[Call],
    pages: Mapping[str, str] | None = None,
    server: Path | None = None,
) -> Record:
    """``claude -p`` with nothing but the hook between the model and the machine (bypassPermissions).

    ``pages``: a web site on loopback (see ``Model``).  ``server``: what an MCP server named "desk" serves.
    """
    settings = place.home / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)  # the host's own commands may have been here
    # The preflight asks a service of Anthropic's whether a page may be fetched.
    told: dict[str, Any] = {"skipWebFetchPreflight": True} if pages else {}
    told |= {"hooks": nested(EVENTS["claude"], hook)} if hook else {}
    settings.write_text(json.dumps(told, indent=2))
    env = {"NODE_EXTRA_CA_CERTS": str(certificate(place.root))} if pages else {}
    env |= {
        "ANTHROPIC_BASE_URL": "@MODEL@",
        "ANTHROPIC_API_KEY": "none-needed",
        "IS_SANDBOX": "1",  # else root may not use bypassPermissions
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }
    argv = [str(binary("claude")), "-p", "go on", "--permission-mode", "bypassPermissions"]
    argv += ["--output-format", "stream-json", "--verbose", "--include-hook-events"]
    if server:
        command, *args = desk(server)
        argv += ["--mcp-config", json.dumps({"mcpServers": {"desk": {"command": command, "args": args}}})]
    return place.converse(argv, env, calls, pages)


def claude_hook_runs(record: Record) -> list[dict[str, Any]]:
    """What Claude Code itself says of each run of a hook, in order: hook_event, stdout, stderr, exit_code, ..."""
    lines = [json.loads(line) for line in record.stdout.splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("subtype") == "hook_response"]


def claude_reasons(record: Record, decision: str) -> list[str]:
    """The reasons of the hook's answers with this permission decision, in order."""
    answers = [json.loads(run["stdout"])["hookSpecificOutput"] for run in claude_hook_runs(record) if run["stdout"]]
    return [answer["permissionDecisionReason"] for answer in answers if answer.get("permissionDecision") == decision]


def codex_trust(event: str, group: dict[str, Any]) -> str:
    """The hash that Codex 0.171 keeps for a hook which the user trusts: sha256 of the definition's canonical JSON
    (keys sorted, no blanks), with the defaults written out and the group's matcher if it has one."""
    (handler,) = group["hooks"]
    known = {name: handler[name] for name in ("statusMessage", "additionalContextLimit") if name in handler}
    definition: dict[str, Any] = {
        "event_name": event,
        "hooks": [
            {
                "type": handler["type"],
                "command": handler["command"],
                "timeout": handler.get("timeout", 600),
                "async": handler.get("async", False),
                **known,
            }
        ],
    }
    if "matcher" in group:
        definition["matcher"] = group["matcher"]
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def snake(name: str) -> str:
    """PreToolUse -> pre_tool_use."""
    return "".join("_" * (letter.isupper() and at > 0) + letter.lower() for at, letter in enumerate(name))


def run_codex(
    place: Place,
    hook: str | None,
    calls: list[Call],
    pages: Mapping[str, str] | None = None,
    server: Path | None = None,
) -> Record:
    """``codex exec`` without its sandbox, the hook recorded as trusted (an untrusted one is skipped in silence).

    ``pages`` and ``server`` as in ``run_claude``.
    """
    codex_home = place.home / ".codex"
    codex_home.mkdir(exist_ok=True)
    written = codex_home / "config.toml"
    before = written.read_text() if written.exists() else ""  # what `codex mcp add` put there: tables
    hooks_file = codex_home / "hooks.json"
    config: list[str] = [
        'model = "gpt-5.5-codex"',
        'model_provider = "scripted"',
        "[model_providers.scripted]",
        'name = "scripted"',
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
        "request_max_retries = 0",
        "stream_max_retries = 0",
        "[analytics]",
        "enabled = false",
        f"[projects.{json.dumps(str(place.project))}]",
        'trust_level = "trusted"',
    ]
    if server:
        command, *args = desk(server)
        config += ["[mcp_servers.desk]", f"command = {json.dumps(command)}", f"args = {json.dumps(args)}"]
    if hook:
        table = nested(EVENTS["codex"], hook)
        hooks_file.write_text(json.dumps({"hooks": table}, indent=2))
        for event, (group,) in table.items():
            config += [
                f"[hooks.state.{json.dumps(f'{hooks_file}:{snake(event)}:0:0')}]",
                f"trusted_hash = {json.dumps(codex_trust(snake(event), group))}",
            ]
    written.write_text("\n".join(config) + "\n" + before)
    argv = [str(binary("codex")), "exec", "-s", "danger-full-access"]
    argv += ["-c", 'model_providers.scripted.base_url="@MODEL@/v1"', "go on"]
    return place.converse(argv, {"SCRIPTED_KEY": "none-needed"}, calls, pages)


def codex_hook_runs(record: Record) -> list[str]:
    """The names of the hook events that Codex itself says it ran to their end, in order."""
    words = [line.split() for line in record.stderr.splitlines() if line.startswith("hook: ")]
    return [line[1] for line in words if len(line) == 3]


def comparable(record: Record, place: Place) -> str:
    """Every request of a conversation as text, without what differs between any two runs: ids, clock, the root."""
    text = json.dumps(record.turns, indent=1, sort_keys=True).replace(str(place.root), "<root>")
    text = text.replace(str(place.root).replace("/", "-").replace("_", "-"), "<root in a file name>")
    for pattern, name in VARIES:
        text = re.sub(pattern, name, text)
    return text
