from __future__ import annotations

import contextlib
import json
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from undisturbed import now

from jevhook.systemone import client
from jevhook.systemone.client import Call, Reply
from jevhook.systemone.wire import JudgeError

from .loopback import Connection, body_of, header_of, saying, serve

KEY = "ts-live-0123456789abcdef"
STATE = "rm -rf /home/somebody/secret-project"
BODY = json.dumps({"model": "jev-latest", "state": STATE, "questions": {}}).encode()
DEADLINE = 0.4
OVERRUN = 0.15


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


def call(url: str) -> Call:
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    return Call(url, headers, BODY, "typesafe", "TYPESAFE_API_KEY")


def refused(url: str, deadline: float = 5.0) -> JudgeError:
    """The error of a call that must fail; checks that it kept its deadline and its secrets."""
    started = now()
    with pytest.raises(JudgeError) as caught:
        client.ask(call(url), deadline)
    assert now() - started < deadline + OVERRUN
    error = caught.value
    for secret in (KEY, STATE, "secret-project"):
        assert secret not in error.message
        assert secret not in str(error) and secret not in repr(error)
    assert "typesafe" in error.message
    return error


# ------------------------------------------------------------------------------------------------ good answers


def test_one_post_with_the_whole_body_brings_the_answer() -> None:
    with serve(saying(200, {"answers": {}})) as server:
        reply = client.ask(call(server.url + "/v1/systemone"), 5)
    assert isinstance(reply, Reply)
    assert (reply.status, json.loads(reply.body)) == (200, {"answers": {}})
    assert 0 < reply.seconds < 5
    (request,) = server.requests
    assert request.startswith(b"POST /v1/systemone HTTP/1.1\r\n")
    assert header_of(request, "Authorization") == f"Bearer {KEY}"
    assert header_of(request, "Host") == f"127.0.0.1:{server.port}"
    assert header_of(request, "Accept-Encoding") == "identity"
    assert body_of(request)["state"] == STATE


@pytest.mark.parametrize("status", [201, 400, 401, 403, 404, 413, 422, 429, 500, 503, 529])
def test_any_status_is_a_reply_and_is_asked_once(status: int) -> None:
    with serve(saying(status, {"detail": "x"}, "Retry-After: 0")) as server:
        reply = client.ask(call(server.url), 5)
        assert reply.status == status
        assert json.loads(reply.body) == {"detail": "x"}
        assert len(server.requests) == 1


def test_a_chunked_answer_is_put_together() -> None:
    def handler(connection: Connection) -> None:
        connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sock.sendall(b'4\r\n{"a"\r\n3;x=y\r\n:1}\r\n0\r\n\r\n')

    with serve(handler) as server:
        assert client.ask(call(server.url), 5).body == b'{"a":1}'


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    with serve(lambda c: c.sock.sendall(b"HTTP/1.0 200 OK\r\n\r\n{}")) as server:
        assert client.ask(call(server.url), 5).body == b"{}"


def test_an_answer_after_100_continue_counts() -> None:
    with serve(
        lambda c: c.sock.sendall(b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    ) as server:
        assert client.ask(call(server.url), 5).status == 200


def test_localhost_by_name_works_too() -> None:
    with serve(saying(200, {})) as server:
        assert client.ask(call(f"http://localhost:{server.port}/x"), 5).status == 200


def test_a_server_that_refuses_before_it_has_read_everything_is_still_understood() -> None:
    def handler(connection: Connection) -> None:
        connection.sock.recv(100)
        connection.answer(401, b"{}")
        connection.sock.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            while connection.sock.recv(1 << 20):
                pass

    with serve(handler, read=False) as server:
        big = Call(server.url, {"Authorization": f"Bearer {KEY}"}, b"x" * 3_000_000, "typesafe", "K")
        assert client.ask(big, 5).status == 401


# ---------------------------------------------------------------------------------------- bounded by the deadline


def drip(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    connection.forever(b" ", 0.1)


def drip_the_status_line(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 ")
    connection.forever(b"O", 0.1)


def endless_chunks(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    connection.forever(b"1\r\nx\r\n", 0.05)


SLOW: dict[str, Callable[[Connection], None]] = {
    "accepts and says nothing": lambda c: c.forever(b"", 0.05),
    "one byte at a time": drip,
    "one byte of the status line at a time": drip_the_status_line,
    "chunk after chunk": endless_chunks,
    "continue after continue": lambda c: c.forever(b"HTTP/1.1 100 Continue\r\n\r\n", 0.05),
    "header after header": lambda c: (c.sock.sendall(b"HTTP/1.1 200 OK\r\n"), c.forever(b"X-A: b\r\n", 0.05))[1],
}


@pytest.mark.parametrize("behaviour", SLOW)
def test_a_slow_server_costs_the_deadline_and_no_more(behaviour: str) -> None:
    with serve(SLOW[behaviour]) as server:
        error = refused(server.url, DEADLINE)
        assert error.kind == "timeout"
        # The thread that talked must not live on: the connection is closed under it.
        assert behaviour == "accepts and says nothing" or server.gone.wait(2)


def test_a_server_that_never_reads_costs_the_deadline_and_no_more() -> None:
    with serve(lambda c: c.stopped.wait(5), read=False) as server:
        big = Call(server.url, {}, b"x" * 50_000_000, "typesafe", "K")
        started = now()
        with pytest.raises(JudgeError, match="within"):
            client.ask(big, DEADLINE)
        assert now() - started < DEADLINE + OVERRUN


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels refuse instead of staying silent")
def test_a_full_backlog_costs_the_deadline_and_no_more() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    fillers = []
    try:
        for _ in range(8):  # connections that nobody accepts, until the kernel answers no more
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
            fillers.append(filler)
        assert refused(f"http://127.0.0.1:{listener.getsockname()[1]}", DEADLINE).kind == "timeout"
    finally:
        for filler in fillers:
            filler.close()
        listener.close()


def test_a_hanging_resolver_costs_the_deadline_and_nothing_is_sent_later(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    answered = threading.Event()
    real = socket.getaddrinfo

    def hanging(*args: object, **more: object) -> object:
        release.wait(5)
        try:
            return real("127.0.0.1", server.port, 0, socket.SOCK_STREAM)
        finally:
            answered.set()

    with serve(saying(200, {})) as server:
        monkeypatch.setattr(socket, "getaddrinfo", hanging)
        assert refused(f"http://localhost:{server.port}", DEADLINE).kind == "timeout"
        release.set()
        assert answered.wait(2)
        server.gone.wait(0.3)
        assert not any(KEY.encode() in request for request in server.requests)


def swallowing() -> tuple[socket.socket, list[socket.socket]]:
    """A port whose queue is full: what connects to it now hears nothing, as from behind a broken IPv6 route."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    held = []
    for _ in range(20):
        one = socket.socket()
        one.settimeout(0.1)
        held.append(one)
        try:
            one.connect(listener.getsockname())
        except OSError:
            return listener, held
    pytest.skip("this system's queue of connections has no end")


def test_an_address_that_swallows_everything_costs_a_quarter_of_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the deadline was lost on every call where the first of two addresses led nowhere."""
    listener, held = swallowing()
    real = socket.getaddrinfo
    try:
        with serve(saying(200, {})) as server:
            for order in ((listener.getsockname()[1], server.port), (server.port, listener.getsockname()[1])):
                found = [real("127.0.0.1", port, 0, socket.SOCK_STREAM)[0] for port in order]
                monkeypatch.setattr(socket, "getaddrinfo", lambda *_, found=found, **__: found)
                began = now()
                assert client.ask(call(f"http://localhost:{server.port}"), 8.0).status == 200
                assert now() - began < 3
            assert len(server.requests) == 2
            dead = [real("127.0.0.1", listener.getsockname()[1], 0, socket.SOCK_STREAM)[0]]
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: dead)
            assert refused(f"http://localhost:{server.port}", DEADLINE).kind == "timeout"
    finally:
        for one in (listener, *held):
            one.close()


def test_addresses_that_refuse_are_tried_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))  # bound and not listening: refused
    real = socket.getaddrinfo
    try:
        with serve(saying(200, {})) as server:
            no = real("127.0.0.1", closed.getsockname()[1], 0, socket.SOCK_STREAM)[0]
            yes = real("127.0.0.1", server.port, 0, socket.SOCK_STREAM)[0]
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [no, no, yes])
            assert client.ask(call(f"http://localhost:{server.port}"), 8.0).status == 200
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [no, no])
            assert refused(f"http://localhost:{server.port}", DEADLINE).kind == "unreachable"
    finally:
        closed.close()


@pytest.mark.parametrize("deadline", [0, -1, float("nan")])
def test_no_time_is_a_timeout_at_once(deadline: float) -> None:
    with serve(saying(200, {})) as server:
        with pytest.raises(JudgeError) as caught:
            client.ask(call(server.url), deadline)
        assert caught.value.kind == "timeout"
        assert server.requests == []


# -------------------------------------------------------------------------------------------- bounded in size


def flood_headers(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\n")
    connection.forever(b"X-Fill: " + b"a" * 4000 + b"\r\n", 0)


def flood_one_header(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nX-Fill: ")
    connection.forever(b"a" * 4000, 0)


def flood_the_body(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    connection.forever(b"a" * 60_000, 0)


def flood_chunks(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    connection.forever(b"ffff\r\n" + b"a" * 0xFFFF + b"\r\n", 0)


def flood_trailers(connection: Connection) -> None:
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    connection.forever(b"X-Fill: " + b"a" * 4000 + b"\r\n", 0)


def flood_continues(connection: Connection) -> None:
    connection.forever(b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0)


@pytest.mark.parametrize(
    "handler", [flood_headers, flood_one_header, flood_the_body, flood_chunks, flood_trailers, flood_continues]
)
def test_an_endless_answer_is_cut_off_long_before_the_deadline(handler: Callable[[Connection], None]) -> None:
    with serve(handler) as server:
        started = now()
        assert refused(server.url, 10).kind == "invalid_response"
        assert now() - started < 3
        assert server.gone.wait(2)


def test_a_body_of_a_megabyte_still_fits_and_one_byte_more_does_not() -> None:
    with serve(saying(200, b"a" * client.MAX_BODY)) as server:
        assert len(client.ask(call(server.url), 5).body) == client.MAX_BODY
    with serve(saying(200, b"a" * (client.MAX_BODY + 1))) as server:
        assert refused(server.url).kind == "invalid_response"


# --------------------------------------------------------------------------------------------- broken answers


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (b"", "unreachable"),
        (b"not http at all\r\n\r\n", "invalid_response"),
        (b"HTTP/1.1 abc OK\r\n\r\n", "invalid_response"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", "invalid_response"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "invalid_response"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "invalid_response"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x00\x00", "invalid_response"),
        (b"\x15\x03\x01\x00\x02\x02\x50", "invalid_response"),
    ],
)
def test_a_broken_answer_is_an_error_and_is_not_asked_again(sent: bytes, kind: str) -> None:
    def handler(connection: Connection) -> None:
        connection.sock.sendall(sent)
        connection.sock.shutdown(socket.SHUT_WR)

    with serve(handler) as server:
        assert refused(server.url).kind == kind
        assert len(server.requests) == 1


def test_a_reset_connection_is_unreachable() -> None:
    def handler(connection: Connection) -> None:
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connection.sock.close()

    with serve(handler) as server:
        assert refused(server.url).kind == "unreachable"


def test_a_closed_port_is_unreachable_and_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = refused(f"http://127.0.0.1:{port}")
    assert error.kind == "unreachable"
    assert f"127.0.0.1:{port}" in error.message


def test_a_name_that_does_not_resolve_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*args: object, **more: object) -> object:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = refused("https://judge.example/v1/systemone")
    assert error.kind == "unreachable"
    assert "judge.example" in error.message


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_the_key_stays(status: int) -> None:
    with serve(saying(200, {"stolen": True})) as thief:
        with serve(saying(status, b"", f"Location: {thief.url}/v1/systemone")) as server:
            assert client.ask(call(server.url), 5).status == status
        assert thief.requests == []


def test_a_header_with_a_line_break_is_refused_without_being_quoted() -> None:
    with serve(saying(200, {})) as server:
        bad = Call(server.url, {"Authorization": f"Bearer {KEY}\r\nX-Evil: 1"}, BODY, "typesafe", "K")
        with pytest.raises(JudgeError) as caught:
            client.ask(bad, 5)
        assert caught.value.kind == "config"
        assert KEY not in caught.value.message
        assert caught.value.__cause__ is None or KEY not in str(caught.value.__cause__)
        assert server.requests in ([], [b""])


# -------------------------------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("url", "host", "port", "loopback"),
    [
        ("https://api.typesafe.ai", "api.typesafe.ai", 443, False),
        ("HTTPS://API.TypeSafe.ai:8443/v1", "api.typesafe.ai", 8443, False),
        ("http://localhost:11434", "localhost", 11434, True),
        ("http://127.0.0.1", "127.0.0.1", 80, True),
        ("http://127.8.9.10:1/x", "127.8.9.10", 1, True),
        ("http://[::1]:8080/x", "::1", 8080, True),
        ("https://[2001:db8::1]/x", "2001:db8::1", 443, False),
        ("https://127.0.0.1.evil.example", "127.0.0.1.evil.example", 443, False),
        ("https://localhost.evil.example", "localhost.evil.example", 443, False),
    ],
)
def test_an_address_is_taken_apart(url: str, host: str, port: int, loopback: bool) -> None:
    found = client.address(url)
    assert (found.host, found.port, found.loopback) == (host, port, loopback)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.typesafe.ai",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "http://api.typesafe.ai",
        "http://127.1",
        "http://127.0.0.256",
        "http://127.0.0.01",
        "http://0.0.0.0",
        "http://2130706433",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://127.0.0.1@evil.example",
        "http://127.0.0.1\\@evil.example",
        "https://user:pw@api.typesafe.ai",
        "https://api.typesafe.ai?x=1",
        "https://api.typesafe.ai/v1?x=1",
        "https://api.typesafe.ai/#a",
        "https://api.typesafe.ai:0",
        "https://api.typesafe.ai:70000",
        "https://api.typesafe.ai:x",
        "https://api.typesafe.ai:８",
        "https://",
        "https:///v1",
        "https://ex ample.org",
        "https://exämple.org",
        "https://[::1",
        "https://[evil.example]",
        "http://[::1]evil.example",
        "https://a.example/\r\nX: y",
        "https://a.example/ü",
    ],
)
def test_an_address_that_could_mean_two_things_or_is_not_secure_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        client.address(url)
    assert refused(url).kind == "config"


# ------------------------------------------------------------------------------------------------------- https


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh self-signed certificate for localhost and judge.example, with its key in the same file."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command to make a certificate")
    where = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = "subjectAltName=DNS:localhost,DNS:judge.example"
    files = ["-keyout", str(where / "key.pem"), "-out", str(where / "cert.pem")]
    made = subprocess.run([*command.split(), "-addext", names, *files], capture_output=True)
    if made.returncode:
        pytest.skip("this openssl can't make a certificate")
    (where / "both.pem").write_bytes((where / "key.pem").read_bytes() + (where / "cert.pem").read_bytes())
    return where


@contextlib.contextmanager
def serve_tls(certificate: Path) -> Iterator[tuple[int, list[bytes]]]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "both.pem")
    seen: list[bytes] = []

    def handler(connection: Connection) -> None:
        connection.sock = context.wrap_socket(connection.sock, server_side=True)
        connection.read_request()
        seen.append(connection.request)
        connection.answer(200, b'{"answers": {}}')

    with serve(handler, read=False) as server:
        yield server.port, seen


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_a_private_certificate_is_accepted_when_the_environment_names_it(
    certificate: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(certificate / "cert.pem"))
    with serve_tls(certificate) as (port, seen):
        assert client.ask(call(f"https://localhost:{port}/v1/systemone"), 5).status == 200
        assert header_of(seen[0], "Authorization") == f"Bearer {KEY}"


def test_an_unknown_certificate_is_refused_before_anything_is_sent(certificate: Path) -> None:
    with serve_tls(certificate) as (port, seen):
        error = refused(f"https://localhost:{port}")
        assert error.kind == "unreachable"
        assert "certificate" in error.message
        assert seen == []


def test_a_certificate_for_another_name_is_refused(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    with serve_tls(certificate) as (port, seen):
        assert refused(f"https://127.0.0.1:{port}").kind == "unreachable"
        assert seen == []


def test_a_missing_bundle_is_a_config_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none.pem"))
    with serve(saying(200, {})) as server:
        assert refused(f"https://localhost:{server.port}").kind == "config"


def test_https_to_a_plain_server_is_unreachable() -> None:
    with serve(lambda c: c.sock.sendall(b"HTTP/1.1 400 Bad\r\n\r\n"), read=False) as server:
        assert refused(f"https://localhost:{server.port}").kind == "unreachable"


@pytest.mark.parametrize("piece", [b"", b"\x16"])
def test_a_handshake_that_never_ends_costs_the_deadline_and_no_more(piece: bytes) -> None:
    with serve(lambda c: c.forever(piece, 0.05), read=False) as server:
        assert refused(f"https://localhost:{server.port}", DEADLINE).kind in ("timeout", "unreachable")


# ------------------------------------------------------------------------------------------------------- proxies


@contextlib.contextmanager
def serve_proxy(
    to: int, verdict: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n"
) -> Iterator[tuple[int, list[bytes]]]:
    """A CONNECT proxy that leads every name to the port ``to`` on this machine."""
    asked: list[bytes] = []

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def handler(connection: Connection) -> None:
        connection.read_request()
        asked.append(connection.request)
        connection.sock.sendall(verdict)
        if b" 200 " not in verdict:
            return
        with socket.create_connection(("127.0.0.1", to)) as onward:
            back = threading.Thread(target=pump, args=(onward, connection.sock), daemon=True)
            back.start()
            pump(connection.sock, onward)
            back.join(5)

    with serve(handler, read=False) as server:
        yield server.port, asked


def test_a_remote_call_goes_through_the_proxy_of_the_environment(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    with serve_tls(certificate) as (port, seen), serve_proxy(port) as (proxy, asked):
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:p%40ss@127.0.0.1:{proxy}")
        assert client.ask(call("https://judge.example/v1/systemone"), 5).status == 200
    assert asked[0].startswith(b"CONNECT judge.example:443 HTTP/1.1\r\n")
    assert header_of(asked[0], "Proxy-Authorization") == "Basic bWU6cEBzcw=="
    assert KEY.encode() not in asked[0]  # only the proxy's own credentials are for its eyes
    assert header_of(seen[0], "Host") == "judge.example"


@pytest.mark.parametrize("status", [403, 407, 502])
def test_a_proxy_that_refuses_is_unreachable(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_proxy(0, f"HTTP/1.1 {status} No\r\n\r\n".encode()) as (proxy, _):
        monkeypatch.setenv("https_proxy", f"http://me:hunter2@127.0.0.1:{proxy}")
        error = refused("https://judge.example")
    assert error.kind == "unreachable"
    assert str(status) in error.message
    assert "hunter2" not in error.message


@pytest.mark.parametrize("verdict", [b"", b"HTTP/1.1 200 OK\r\n", b"nonsense\r\n\r\n"])
def test_a_proxy_that_talks_nonsense_is_unreachable(verdict: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(connection: Connection) -> None:
        connection.sock.sendall(verdict)

    with serve(handler) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.port}")
        assert refused("https://judge.example").kind == "unreachable"


def test_a_dripping_proxy_costs_the_deadline_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(lambda c: c.forever(b"x", 0.05)) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.port}")
        assert refused("https://judge.example", DEADLINE).kind == "timeout"


def test_this_machine_is_never_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(saying(500, {})) as proxy, serve(saying(200, {})) as server:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert client.ask(call(server.url), 5).status == 200
        assert proxy.requests == []


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "https://proxy.example:443", "http://:80", "http://h:x"])
def test_a_proxy_we_cannot_use_is_not_gone_around(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(JudgeError) as caught:
        client.ask(call("https://judge.example"), 5)
    assert caught.value.kind == "config"


@pytest.mark.parametrize(
    ("listed", "bypassed"),
    [
        ("*", True),
        ("judge.example", True),
        (".judge.example", True),
        ("example", True),
        ("*.example", True),
        ("other.org, JUDGE.example", True),
        ("judge.example:443", True),
        ("judge.example:8443", False),
        ("udge.example", False),
        ("judge.example.org", False),
        ("", False),
        (" , ", False),
    ],
)
def test_no_proxy_lists_hosts_and_domains(listed: str, bypassed: bool) -> None:
    assert client._bypassed(client.address("https://judge.example"), listed) is bypassed


# ------------------------------------------------------------- without the environment's say (in the hook)


def blind_call(url: str) -> Call:
    return Call(url, {"Authorization": f"Bearer {KEY}"}, BODY, "typesafe", "TYPESAFE_API_KEY", environment=False)


def blindly_refused(url: str, deadline: float = 5.0) -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        client.ask(blind_call(url), deadline)
    assert KEY not in caught.value.message
    return caught.value


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_a_certificate_that_only_the_environment_vouches_for_is_refused_and_told(
    certificate: Path, variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(variable, str(certificate / "cert.pem"))
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "secrets"))
    with serve_tls(certificate) as (port, seen):
        # Not loopback by its spelling, so that the hint has its place; the resolver leads it here.
        real = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: real("127.0.0.1", port, 0, socket.SOCK_STREAM))
        error = blindly_refused(f"https://judge.example:{port}")
        assert error.kind == "unreachable"
        assert "certificate" in error.message
        assert f"{variable} is not looked at in the hook" in error.message
        assert "environment_proxy" in error.message
        assert seen == []
    assert not (tmp_path / "secrets").exists(), "the session's secrets are written nowhere"


def test_the_systems_own_certificates_count_without_the_environment(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = ssl.get_default_verify_paths()._replace(openssl_cafile=str(certificate / "cert.pem"), openssl_capath="")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: system)
    with serve_tls(certificate) as (port, seen):
        assert client.ask(blind_call(f"https://localhost:{port}"), 5).status == 200
        assert header_of(seen[0], "Authorization") == f"Bearer {KEY}"
        assert blindly_refused(f"https://127.0.0.1:{port}").kind == "unreachable", "the name is still checked"


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_that_only_the_environment_names_is_not_used_and_told(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*args: object, **more: object) -> object:
        raise socket.gaierror(-2, "Name or service not known")

    with serve(saying(200, {})) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        error = blindly_refused("https://judge.example")
        assert error.kind == "unreachable"
        assert f"{variable} is not looked at in the hook" in error.message
        assert proxy.url not in error.message
        assert proxy.requests == []


def test_a_timeout_behind_an_unused_proxy_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(0.5) or [])
    error = blindly_refused("https://judge.example", 0.2)
    assert error.kind == "timeout" and "HTTPS_PROXY is not looked at" in error.message


@pytest.mark.parametrize(
    ("handler", "secure", "sent"),
    [
        (saying(200, {}), True, False),  # plain HTTP where TLS is spoken: the handshake fails
        (lambda c: c.stopped.wait(2), False, True),
        (lambda c: None, False, True),
    ],
)
def test_a_failure_says_whether_anything_was_sent(
    handler: Callable[[Connection], None], secure: bool, sent: bool
) -> None:
    with serve(handler, read=not secure) as server:
        assert refused(server.url.replace("http", "https") if secure else server.url, DEADLINE).sent is sent


def test_a_closed_port_and_an_unknown_name_got_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert refused(f"http://127.0.0.1:{port}").sent is False
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(0.5) or [])
    assert refused("http://localhost:1", 0.2).sent is False


def test_without_any_of_these_variables_nothing_is_said_about_them() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert "environment_proxy" not in blindly_refused(f"https://127.0.0.1:{port}").message


@pytest.mark.parametrize(
    ("milliseconds", "seconds", "wait"),
    [
        (None, None, 0.0),
        (None, "2", 2.0),
        ("50", "2", 0.05),
        (None, " 3 ", 3.0),
        (None, "Wed, 21 Oct 2026 07:28:00 GMT", 0.0),
        (None, "-1", 0.0),
        (None, "1e9", 0.0),
        (None, "9" * 400, 0.0),
        ("x", "2", 2.0),
    ],
)
def test_the_wait_that_a_busy_service_asks_for_is_read(
    milliseconds: str | None, seconds: str | None, wait: float
) -> None:
    headers = [f"Retry-After-Ms: {milliseconds}"] * (milliseconds is not None)
    headers += [f"Retry-After: {seconds}"] * (seconds is not None)
    with serve(saying(429, {}, *headers)) as server:
        reply = client.ask(client.Call(server.url, {}, b"{}", "service", "KEY"), 10)
    assert (reply.status, reply.retry_after) == (429, wait)
