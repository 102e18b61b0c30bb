"""Real servers on 127.0.0.1 that behave or misbehave exactly as a test says."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

Handler = Callable[["Connection"], None]


class Connection:
    """One accepted connection; ``request`` is what was read before the handler was called."""

    def __init__(self, sock: socket.socket, stopped: threading.Event) -> None:
        self.sock = sock
        self.stopped = stopped
        self.request = b""

    def read_request(self) -> None:
        while b"\r\n\r\n" not in self.request:
            more = self.sock.recv(65536)
            if not more:
                return
            self.request += more
        head, _, body = self.request.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":", 1)[1])
        while len(body) < length:
            more = self.sock.recv(65536)
            if not more:
                return
            self.request += more
            body += more

    def answer(self, status: int, body: bytes, *headers: str, length: int | None = None) -> None:
        size = len(body) if length is None else length
        lines = [f"HTTP/1.1 {status} Words", "Content-Type: application/json", f"Content-Length: {size}", *headers]
        self.sock.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def forever(self, piece: bytes, every: float) -> None:
        """Send ``piece`` again and again until the test is over or the client has gone."""
        while not self.stopped.is_set():
            self.sock.sendall(piece)
            if every:
                self.stopped.wait(every)


class Served:
    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.requests: list[bytes] = []
        self.gone = threading.Event()  # set when a handler saw the client hang up or finished


@contextlib.contextmanager
def serve(handler: Handler, *, read: bool = True) -> Iterator[Served]:
    """A server that calls ``handler`` for every connection, after reading the request unless ``read`` is False."""
    listener = socket.create_server(("127.0.0.1", 0))
    served = Served(listener.getsockname()[1])
    stopped = threading.Event()

    def one(sock: socket.socket) -> None:
        connection = Connection(sock, stopped)
        with sock, contextlib.suppress(OSError):
            sock.settimeout(10)
            if read:
                connection.read_request()
                served.requests.append(connection.request)
            handler(connection)
        served.gone.set()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = listener.accept()
                threading.Thread(target=one, args=(sock,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield served
    finally:
        stopped.set()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def saying(status: int, body: Any, *headers: str) -> Handler:
    """A handler that answers every request with this status and body (bytes, or a value sent as JSON)."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda connection: connection.answer(status, data, *headers)


def body_of(request: bytes) -> Any:
    return json.loads(request.partition(b"\r\n\r\n")[2])


def header_of(request: bytes, name: str) -> str | None:
    for line in request.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]:
        field, _, value = line.partition(":")
        if field.lower() == name.lower():
            return value.strip()
    return None
