"""Calls to judges through the warm process: connections stay open, answers are remembered, failures are the same."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from jevhook.resident import relay, serve
from jevhook.systemone import client
from tests.resident.test_resident import event, lines
from tests.resident.warm import Warm, hook

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no Unix sockets in its Python")


class Served:
    """What a judge on loopback has seen: ``connections`` by client port, and how many ``calls``."""

    def __init__(self) -> None:
        self.connections: set[int] = set()
        self.calls = 0
        self.port = 0
        self.status = 200
        self.delay = 0.0


@contextmanager
def judge(certificate: Path | None = None) -> Iterator[Served]:
    seen = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.connections.add(self.client_address[1])
            seen.calls += 1
            time.sleep(seen.delay)
            answers = {n: {"type": "noul", "noul": 0.5} for n, q in asked["questions"].items() if q["type"] == "noul"}
            body = json.dumps(
                {"model": "m", "answers": answers, "usage": {"input_tokens": 7, "output_tokens": 1}}
            ).encode()
            self.send_response(seen.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    seen.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()


def configure(home: Path, port: int) -> None:
    place = home / ".config" / "jevhook"
    place.mkdir(parents=True, exist_ok=True)
    place.joinpath("config.toml").write_text(
        f'[judge]\nprovider = "native"\nbase_url = "http://127.0.0.1:{port}"\nmodel = "m"\n'
    )


def asked() -> list[dict[str, Any]]:
    return [entry["points"][0]["judge"] for entry in lines()]


def test_connections_stay_open_between_events(private_home: Path, tmp_path: Path) -> None:
    with judge() as seen, Warm(tmp_path / "r") as warm:
        configure(private_home, seen.port)
        for number in range(4):
            assert b'"ask"' in warm.hook(event("git reset --hard", session_id=f"s{number}")).stdout
        assert (seen.calls, len(seen.connections)) == (4, 1)
    assert [one["asked"] for one in asked()] == [True] * 4
    assert all(one["usage"]["input_tokens"] == 7 for one in asked())


def test_the_same_question_in_one_session_is_asked_once(private_home: Path, tmp_path: Path) -> None:
    with judge() as seen, Warm(tmp_path / "r") as warm:
        configure(private_home, seen.port)
        for command in ("git reset --hard", "git reset --hard", "git stash drop"):
            warm.hook(event(command, session_id="one"))
        assert seen.calls == 2
        warm.hook(event("git reset --hard", session_id="another"))
        assert seen.calls == 3
    assert [one["usage"].get("cached", 0) for one in asked()] == [0, 1, 0, 0]


def test_an_error_is_not_remembered_and_reads_as_without(private_home: Path, tmp_path: Path) -> None:
    with judge() as seen, Warm(tmp_path / "r") as warm:
        configure(private_home, seen.port)
        seen.status = 500
        with_it = warm.hook(event("git reset --hard", session_id="one"))
        seen.status = 200
        warm.hook(event("git reset --hard", session_id="one"))
        assert seen.calls == 2
        seen.status = 500
        without = hook(event("git reset --hard", session_id="two"))
        assert with_it.stdout == without.stdout
    first, _, third = asked()
    assert first["error"] == third["error"]
    assert first["error"]["kind"] == "server"


def test_a_slow_judge_ends_with_the_calls_own_deadline(private_home: Path, tmp_path: Path) -> None:
    with judge() as seen, Warm(tmp_path / "r") as warm:
        configure(private_home, seen.port)
        with (private_home / ".config" / "jevhook" / "config.toml").open("a") as more:
            more.write("deadline = 0.5\n")
        warm.hook(event("ls"))
        seen.delay = 5.0
        began = time.monotonic()
        assert b'"ask"' in warm.hook(event("git reset --hard")).stdout
        assert time.monotonic() - began < 4.5
    assert asked_error()["kind"] == "timeout"


def test_a_stranger_of_the_same_user_is_refused(tmp_path: Path) -> None:
    """A sandbox may let a program reach a socket and not the network: calls are made for our own children alone."""
    with judge() as seen, Warm(tmp_path / "r") as warm:
        given = {
            "url": f"http://127.0.0.1:{seen.port}/v1", "headers": {}, "body": '{"questions": {}}', "service": "s",
            "key_var": "K", "deadline": 5.0, "session": "",
        }  # fmt: skip
        for more, answer in (
            ({"secret": "0" * 32}, {"refused": True}),
            ({"secret": "é"}, None),
            ({"secret": 1}, None),
            ({}, None),
        ):
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(10)
                line.connect(serve.judges_name(str(warm.socket)))
                line.sendall(relay._frame({**given, **more}))
                assert relay._receive(line) == answer
        assert seen.calls == 0


def test_a_call_that_is_refused_is_made_by_the_child_itself(tmp_path: Path) -> None:
    name = str(tmp_path / "s")
    with judge() as seen, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()

        def refuse() -> None:
            line, _ = listener.accept()
            relay._serve(line, relay.Pool(), relay.Answers(), "another")

        threading.Thread(target=refuse, daemon=True).start()
        one = client.Call(f"http://127.0.0.1:{seen.port}/v1", {}, b"{}", "s", "K", False)
        assert relay.through(name, "mine", lambda: "")(one, 5.0) is None
        assert seen.calls == 0


def test_a_call_under_way_is_ended_when_the_parent_is_gone(private_home: Path, tmp_path: Path) -> None:
    with judge() as seen, Warm(tmp_path / "r") as warm:
        configure(private_home, seen.port)
        seen.delay = 1.0
        running = threading.Thread(target=warm.hook, args=(event("git reset --hard", session_id="one"),))
        running.start()
        until = time.monotonic() + 20
        while not seen.calls and time.monotonic() < until:
            time.sleep(0.01)
        warm.process.kill()
        running.join()
        assert seen.calls == 1
    (one,) = asked()
    assert "error" not in one and one["usage"]["input_tokens"] == 7


def asked_error() -> dict[str, Any]:
    found = lines()[-1]["points"][0]["judge"]["error"]
    assert isinstance(found, dict)
    return found


def test_a_judge_that_is_gone_is_unreachable(private_home: Path, tmp_path: Path) -> None:
    with judge() as seen:
        port = seen.port
    with Warm(tmp_path / "r") as warm:
        configure(private_home, port)
        assert b'"ask"' in warm.hook(event("git reset --hard")).stdout
    assert asked_error()["kind"] == "unreachable"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command to make a certificate")
    where = tmp_path_factory.mktemp("tls")
    key, cert, both = where / "key.pem", where / "cert.pem", where / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    return both


def call(port: int, session: str = "x") -> client.Call:
    body = json.dumps({"state": session, "questions": {"q": {"type": "noul", "question": "Is it?"}}}).encode()
    return client.Call(f"https://localhost:{port}/v1", {"Content-Type": "application/json"}, body, "test", "KEY", False)


def test_a_tls_connection_is_kept_and_one_that_was_closed_is_not_used(certificate: Path) -> None:
    pool = relay.Pool()
    pool.certificates = ssl.create_default_context(cafile=str(certificate))
    with judge(certificate) as seen:
        for _ in range(3):
            assert client.ask(call(seen.port), 5.0, pool).status == 200
        assert (seen.calls, len(seen.connections)) == (3, 1)
        for kept in pool.open.values():
            kept[0][1].shutdown(2)  # as a server's own idle limit does
        assert client.ask(call(seen.port), 5.0, pool).status == 200
        assert (seen.calls, len(seen.connections)) == (4, 2)
        (sock,) = [sock for kept in pool.open.values() for _, sock in kept]
        assert isinstance(sock, ssl.SSLSocket) and sock.session_reused, "the second handshake was a short one"


def test_a_service_is_greeted_before_the_next_call(certificate: Path) -> None:
    pool = relay.Pool()
    pool.certificates = ssl.create_default_context(cafile=str(certificate))
    with judge(certificate) as seen:
        pool.greet()
        assert pool.open == {}  # nobody was asked yet: nobody is greeted
        assert client.ask(call(seen.port), 5.0, pool).status == 200
        for kept in pool.open.values():
            kept.pop()[1].close()
        pool.greet()
        (sock,) = [sock for kept in pool.open.values() for _, sock in kept]
        time.sleep(0.1)  # the server's tickets have come: they are no reason to throw the connection away
        port = sock.getsockname()[1]
        assert client.ask(call(seen.port), 5.0, pool).status == 200
        assert port in seen.connections


def test_an_answer_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = relay.Answers()
    for number in range(relay.ANSWERS + 10):
        answers.put(str(number).encode(), client.Reply(200, b"", 0.0))
    assert len(answers.known) == relay.ANSWERS
    assert answers.get(b"0") is None and answers.get(b"20") is not None
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + relay.FRESH + 1)
    assert answers.get(b"20") is None
