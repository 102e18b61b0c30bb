"""The fault table: whole hook processes against servers that answer wrongly, badly, or not at all.

For every fault: the hook ends in time, the ledger names the right kind of failure, and the decision is what the rules
say without a judge.  The 47 wrong answers are jevcompat's (extra ``servers``); the transport's are our own.  The table
is printed at the end of the run: fault -> kind -> decision -> milliseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from jevhook.systemone import dialects

from .loopback import Connection, header_of, saying, serve

try:
    from jevcompat import mock as jevcompat
except ImportError:
    jevcompat = None

needs_jevcompat = pytest.mark.skipif(jevcompat is None, reason="jevcompat is not installed: pip install '.[servers]'")

KEY = "ts-live-0123456789abcdef"
ASKED = "git reset --hard"  # the rules ask about it
PLAIN = "ls -la"  # the rules say nothing
ROWS: list[tuple[str, str, str, float]] = []


@pytest.fixture(scope="module", autouse=True)
def table(pytestconfig: pytest.Config) -> Iterator[None]:
    """Print what was seen when the module is done, past pytest's capture."""
    ROWS.clear()
    yield
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        wide = max((len(row[0]) for row in ROWS), default=0)
        print()
        for fault, kind, decision, ms in ROWS:
            print(f"{fault:<{wide}}  {kind:<20} {decision:<6} {ms:6.0f} ms")


class Seen:
    def __init__(self, decision: str, line: dict[str, Any], seconds: float, output: bytes) -> None:
        self.decision = decision
        self.point = next((point for point in line["points"] if point["point"] == "tool.risk"), {})
        self.judge: dict[str, Any] = self.point.get("judge", {})
        self.seconds = seconds
        self.output = output

    @property
    def kind(self) -> str:
        """The error's kind, else what is wrong with single answers, else ""."""
        error = self.judge.get("error")
        if error:
            return str(error["kind"])
        return ",".join(sorted({warning["type"] for warning in self.judge.get("warnings", ())}))


def run_hook(
    home: Path,
    url: str,
    command: str,
    *,
    key: str = "",
    deadline: float = 4.0,
    when: str = "ask",
    provider: str = "typesafe",
    more: str = "",
) -> Seen:
    """One event through one hook process whose user config names the judge at ``url``."""
    config = home / ".config" / "jevhook" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    named = f'provider = "{provider}"\nbase_url = "{url}"\n' if provider else ""
    config.write_text(f'[judge]\ndeadline = {deadline}\nwhen = "{when}"\n{named}{more}')
    project = home / "shop"
    project.mkdir(exist_ok=True)
    event = {
        "session_id": "s",
        "transcript_path": str(home / "none.jsonl"),
        "cwd": str(project),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": "toolu_1",
    }
    env = {**os.environ, "MY_KEY": "my-own-key-0123456789", **({"TYPESAFE_API_KEY": key} if key else {})}
    ledger = home / ".local/state/jevhook/ledger.ndjson"
    before = ledger.read_text().count("\n") if ledger.exists() else 0
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "jevhook", "hook"],
        input=json.dumps(event).encode(),
        capture_output=True,
        env=env,
        cwd=project,
        timeout=30,
    )
    seconds = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    (line,) = [json.loads(text) for text in ledger.read_text().splitlines()[before:]]
    said = json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] if done.stdout.strip() else "none"
    seen = Seen(said, line, seconds, done.stdout + done.stderr + ledger.read_bytes())
    assert KEY.encode() not in seen.output
    return seen


# fault -> what is wrong with the answers to tool.risk's questions; "" where it doesn't touch them.
FAULTS = {
    "wrong-route": "bad_request",
    "xssi-200": "invalid_response",
    "plain-content-type": "",
    "text-errors": "",
    "models-404": "",
    "auth-rejects-header": "auth",
    "auth-x-api-key": "auth",
    "auth-plain": "auth",
    "auth-invalid-403-text": "auth",
    "reject-array-state": "",
    "reject-jev-latest": "bad_request",
    "first-question-only": "missing-answer",
    "strict-ids": "",
    "nfd-keys": "",
    "forbid-extra": "",
    "string-only-text": "",
    "noul-two-sided": "",
    "noul-needs-instructions": "",
    "no-null-description": "",
    "cap-64": "",
    "cap-5-levels": "",
    "accept-map-score": "",
    "no-usage": "",
    "float-usage": "",
    "extra-answer": "unexpected-answer",
    "boolean-type": "wrong-type",
    "nan": "",
    "unprefixed-extra": "",
    "noul-range": "bad-number",
    "choice-no-confidence": "",
    "choice-key-case": "",
    "choice-sum": "",
    "choice-second": "",
    "score-no-legend": "",
    "legend-1-based": "",
    "score-keys-1-based": "unexpected-label",
    "score-sum": "bad-distribution",
    "score-argmax": "inconsistent-answer",
    "confidence-over": "",
    "confidence-margin": "",
    "500-on-unknown-type": "",
    "accept-boolean": "",
    "validation-400": "",
    "error-flat": "",
    "id-leaks": "",
    "batch-leaks": "",
    "order-leaks": "",
}
# fault -> (the server's key, the hook's)
KEYS = {
    "auth-rejects-header": ("", KEY),
    "auth-x-api-key": (KEY, KEY),
    "auth-plain": (KEY, ""),
    "auth-invalid-403-text": (KEY, "not-this-key-0000"),
}
DRAWS = {"score-argmax": ("HEAD~1", "HEAD~2", "HEAD~3", "HEAD~4")}


@contextlib.contextmanager
def mock_of_jevcompat(fault: str, key: str) -> Iterator[str]:
    """Its base URL.  Not its own ``Running``: that one takes half a second to stop."""
    server = jevcompat.make_server(jevcompat.MockConfig(key=key or None, faults=frozenset({fault})))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@needs_jevcompat
def test_every_fault_there_is_has_a_row() -> None:
    assert set(FAULTS) == set(jevcompat.FAULTS)
    assert len(FAULTS) == 47


@needs_jevcompat
@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_leaves_the_rules_word_and_is_named(fault: str, private_home: Path) -> None:
    theirs, ours = KEYS.get(fault, ("", ""))
    with mock_of_jevcompat(fault, theirs) as url:
        seen = run_hook(private_home, url, ASKED, key=ours)
        # The mock draws its distribution from the request, the home's path included.  Now and then the likeliest level
        # it gives is as good as the expectation: that answer is right, so it draws again.
        for commit in DRAWS.get(fault, ()):
            if seen.kind:
                break
            assert seen.decision == "ask"
            seen = run_hook(private_home, url, f"{ASKED} {commit}", key=ours)
    ROWS.append((fault, seen.kind or "-", seen.decision, seen.seconds * 1000))
    assert seen.kind == FAULTS[fault]
    assert seen.decision == "ask"
    assert seen.seconds < 4
    assert seen.judge["asked"] is True


def refuse(connection: Connection) -> None:
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    connection.sock.close()


def drip(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    connection.forever(b" ", 0.05)


def slow_header(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\n")
    connection.forever(b"X-A: b\r\n", 0.05)


def endless(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    connection.forever(b"a" * 60_000, 0)


def half(connection: Connection) -> None:
    connection.answer(200, b'{"answers": {', length=100)
    connection.sock.shutdown(socket.SHUT_WR)


TRANSPORT: dict[str, tuple[Callable[[Connection], Any], str]] = {
    "silent": (lambda c: c.stopped.wait(20), "timeout"),
    "dripping body": (drip, "timeout"),
    "dripping headers": (slow_header, "timeout"),
    "endless body": (endless, "invalid_response"),
    "half an answer": (half, "invalid_response"),
    "not HTTP": (lambda c: c.sock.sendall(b"hello\r\n\r\n"), "invalid_response"),
    "hangs up": (lambda c: None, "unreachable"),
    "reset": (refuse, "unreachable"),
    "redirect": (saying(307, b"", "Location: http://127.0.0.1:1/"), "invalid_response"),
    "200 without answers": (saying(200, {"model": "m"}), "invalid_response"),
    "200 with an error": (saying(200, {"error": {"message": "x", "type": "overloaded_error"}}), "server"),
    "400": (saying(400, {"detail": {"error_type": "api_usage_error"}}), "bad_request"),
    "401": (saying(401, {"error": "no"}), "auth"),
    "402": (saying(402, {}), "payment"),
    "403 for a card": (saying(403, {"error": {"type": "customer_verification_required"}}), "payment"),
    "413": (saying(413, {}), "oversized"),
    "429": (saying(429, {}, "Retry-After: 3600"), "rate_limited"),
    "503": (saying(503, b"<html>"), "server"),
    "529": (saying(529, {"detail": {"error_type": "overloaded"}}), "server"),
}


@pytest.mark.parametrize(("command", "when", "decision"), [(ASKED, "ask", "ask"), (PLAIN, "always", "none")])
@pytest.mark.parametrize("fault", TRANSPORT)
def test_a_failing_server_leaves_the_rules_word_and_costs_no_more_than_the_deadline(
    fault: str, command: str, when: str, decision: str, private_home: Path
) -> None:
    handler, kind = TRANSPORT[fault]
    with serve(handler) as server:
        seen = run_hook(private_home, server.url, command, key=KEY, deadline=1.0, when=when)
    ROWS.append((f"{fault}: {command}", seen.kind or "-", seen.decision, seen.seconds * 1000))
    assert seen.kind == kind
    assert seen.decision == decision
    assert seen.seconds < 3
    assert seen.judge["latency_ms"] < 2000
    assert "typesafe" in seen.judge["error"]["message"]


@pytest.mark.parametrize("provider", sorted(dialects.MODULES))
def test_every_provider_can_be_named_in_the_users_config_and_is_asked_in_its_own_way(
    provider: str, private_home: Path
) -> None:
    recording = json.loads((Path(__file__).parent / "dialects" / f"{provider}.json").read_text())
    path = urlsplit(recording["request"]["url"]).path
    empty: dict[str, Any] = {"model": "m", "answers": [] if provider == "openai" else {}}
    body = {"result": empty, "success": True} if provider.startswith("cloudflare") else empty
    model = "clef" if provider == "cloudflare_clef" else "m"
    base = dialects.load(provider).DEFAULT_BASE.replace("{account}", recording["account"])
    with serve(saying(200, body)) as server:
        url = server.url + urlsplit(base).path
        seen = run_hook(
            private_home, url, ASKED, provider=provider, more=f'model = "{model}"\napi_key_env = "MY_KEY"\n'
        )
        (request,) = server.requests
    assert request.startswith(f"POST {path} ".encode())
    assert header_of(request, "Authorization") == "Bearer my-own-key-0123456789"
    assert (seen.kind, seen.decision) == ("missing-answer", "ask")
    assert seen.judge["judge"] == f"{provider}/{model}"


def test_two_tiers_across_the_network_are_one_call_in_the_hook(private_home: Path) -> None:
    tiers = (
        'tiers = ["embedded", "one", "two"]\n[judge.tier.one]\nprovider = "native"\nbase_url = "ONE"\n'
        '[judge.tier.two]\nprovider = "native"\nbase_url = "TWO"\n'
    )
    unsure = {"answers": {"asked": {"type": "noul", "noul": 0.5}}}
    with serve(saying(200, unsure)) as one, serve(saying(200, unsure)) as two:
        more = tiers.replace("ONE", one.url).replace("TWO", two.url)
        seen = run_hook(private_home, "", ASKED, provider="", more=more)
        assert (len(one.requests), len(two.requests)) == (1, 0)
    assert seen.judge["judge"] == "cascade(embedded>native/jev-latest>native/jev-latest)"
    assert seen.decision == "ask"


def test_a_closed_port_leaves_the_rules_word(private_home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    seen = run_hook(private_home, f"http://127.0.0.1:{port}", ASKED)
    ROWS.append(("closed port", seen.kind, seen.decision, seen.seconds * 1000))
    assert (seen.kind, seen.decision) == ("unreachable", "ask")
