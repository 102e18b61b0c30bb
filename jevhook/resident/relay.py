"""The part of the warm process that talks to judges: one process beside the parent, with connections that stay open.

A child that judges an event hands its one call over here and waits no longer than the call's own deadline.  What is
saved is the name look-up, the connection and the TLS handshake, and the loading of certificates; and the call itself
where the very same one (service, model, question, state, key) was answered in this session.  Who the call goes to, and
whether, has been decided before it comes here.

A child that can't reach this process makes its call itself; one whose call was handed over never makes it again.

Only the parent's own children are served: they know a secret that was made before they were forked and is written
nowhere.  Anybody else of the same user is refused, so that no sandbox that lets a program reach a socket lets it reach
the network through here.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time

from .. import jsonio
from ..systemone import client
from ..systemone.wire import JudgeError
from . import ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from typing import Any

IDLE = 55.0  # seconds that a connection is kept; most servers close theirs after a minute
LOOKED_UP = 60.0  # seconds that a name's addresses are believed
KEPT = 8  # connections to one service
ANSWERS = 256  # answers that are remembered
FRESH = 600.0  # seconds that an answer is remembered
FAREWELL = 60.0  # seconds that calls under way get when the parent has ended
SEEN = 3600.0  # seconds after a call in which its service is greeted again when events come
_LIMIT = 4 << 20


class Pool:
    """Open connections, certificates and addresses, shared by threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open: dict[tuple[bool, str, int], list[tuple[float, socket.socket]]] = {}
        self.used: dict[tuple[bool, str, int], tuple[float, client.Address]] = {}
        self.names: dict[tuple[str, int], tuple[float, Any]] = {}
        self.certificates: ssl.SSLContext | None = None
        self.sessions: dict[tuple[bool, str, int], ssl.SSLSession] = {}

    def take(self, where: client.Address) -> socket.socket | None:
        key = (where.secure, where.host, where.port)
        now = time.monotonic()
        with self.lock:
            self.used[key] = (now, where)
            kept = self.open.get(key, [])
            while kept:
                since, sock = kept.pop()
                if now - since < IDLE and _silent(sock):
                    return sock
                sock.close()
        return None

    def put(self, where: client.Address, sock: socket.socket) -> None:
        key = (where.secure, where.host, where.port)
        session = getattr(sock, "session", None)  # after the first answer: a server's tickets come after its greeting
        with self.lock:
            if session is not None:
                self.sessions[key] = session
            kept = self.open.setdefault(key, [])
            kept.append((time.monotonic(), sock))
            for _, old in kept[:-KEPT]:
                old.close()
            del kept[:-KEPT]

    def session(self, where: client.Address) -> ssl.SSLSession | None:
        with self.lock:
            return self.sessions.get((where.secure, where.host, where.port))

    def context(self, service: str) -> ssl.SSLContext:
        with self.lock:
            if self.certificates is None:
                self.certificates = client.own_context(service)
            return self.certificates

    def resolved(self, host: str, port: int) -> Any:
        now = time.monotonic()
        with self.lock:
            known = self.names.get((host, port))
        if known is not None and now - known[0] < LOOKED_UP:
            return known[1]
        found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
        with self.lock:
            self.names[host, port] = (now, found)
        return found

    def greet(self) -> None:
        """Open a connection to each service that was asked in the last hour and has none left."""
        now = time.monotonic()
        with self.lock:
            wanted = [
                where
                for key, (asked, where) in self.used.items()
                if now - asked < SEEN and not any(now - since < IDLE for since, _ in self.open.get(key, []))
            ]
        for where in wanted:
            exchange = client._Exchange(client.Call("", {}, b"", where.host, "", False), where, now + 5.0, self)
            try:
                exchange.open()
            except Exception:  # the call that comes will say what is wrong
                continue
            if exchange.sock is not None:
                self.put(where, exchange.sock)


def _silent(sock: socket.socket) -> bool:
    """Whether an idle connection is still open: the other end has neither closed it nor said what nobody asked for.

    TLS tickets that came after the handshake are nothing said: reading takes them, and then there is nothing to read.
    """
    import ssl

    if not select.select([sock.fileno()], [], [], 0)[0]:
        return True
    if not isinstance(sock, ssl.SSLSocket):
        return False
    sock.settimeout(0)
    try:
        sock.recv(1)
    except ssl.SSLWantReadError:
        return True
    except (OSError, ValueError):
        return False
    return False


class Answers:
    """What was answered in a session, for a while."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.known: dict[bytes, tuple[float, client.Reply]] = {}

    def get(self, key: bytes) -> client.Reply | None:
        with self.lock:
            found = self.known.get(key)
        return found[1] if found is not None and time.monotonic() - found[0] < FRESH else None

    def put(self, key: bytes, reply: client.Reply) -> None:
        with self.lock:
            if len(self.known) >= ANSWERS:
                del self.known[next(iter(self.known))]
            self.known[key] = (time.monotonic(), reply)


def run(listener: socket.socket, alive: int, greet: int, secret: str) -> None:
    """Serve until ``alive`` ends; every byte from ``greet`` says that an event has come."""
    pool, answers = Pool(), Answers()
    last = 0.0
    busy: list[threading.Thread] = []
    while True:
        ready, _, _ = select.select([listener.fileno(), alive, greet], [], [])
        busy = [one for one in busy if one.is_alive()]
        if alive in ready:
            listener.close()
            until = time.monotonic() + FAREWELL
            for one in busy:
                one.join(max(0.0, until - time.monotonic()))
            return
        if greet in ready:
            os.read(greet, 4096)
            if time.monotonic() - last > 10:
                last = time.monotonic()
                threading.Thread(target=pool.greet, daemon=True).start()
        if listener.fileno() in ready:
            try:
                line, _ = listener.accept()
                busy.append(threading.Thread(target=_serve, args=(line, pool, answers, secret), daemon=True))
                busy[-1].start()
            except (OSError, RuntimeError):  # too many at once: those under way are to end well
                time.sleep(0.05)


def _serve(line: socket.socket, pool: Pool, answers: Answers, secret: str) -> None:
    from hmac import compare_digest

    with line:
        line.settimeout(5.0)
        if not ask.same_user(line, os.geteuid()):
            return
        try:
            given = _receive(line)
            if given is None:
                return
            if not compare_digest(given["secret"], secret):
                line.sendall(_frame({"refused": True}))
                return
            line.settimeout(None)
            line.sendall(_frame(_answer(given, pool, answers)))
        except (OSError, ValueError, KeyError, TypeError):
            return


def _answer(given: dict[str, Any], pool: Pool, answers: Answers) -> dict[str, Any]:
    from hashlib import blake2b

    body = given["body"].encode("utf-8")
    call = client.Call(given["url"], given["headers"], body, given["service"], given["key_var"], False)
    key = blake2b(jsonio.dumps([given[k] for k in ("session", "url", "headers", "body")]).encode()).digest()
    known = answers.get(key) if given["session"] else None
    if known is not None:
        return {
            "status": known.status,
            "body": known.body.decode("utf-8", "surrogateescape"),
            "seconds": 0.0,
            "cached": True,
        }
    try:
        reply = client.ask(call, given["deadline"], pool)
    except JudgeError as error:
        return {"kind": error.kind, "message": error.message, "sent": getattr(error, "sent", True)}
    if reply.status == 200:
        answers.put(key, reply)
    return {
        "status": reply.status,
        "body": reply.body.decode("utf-8", "surrogateescape"),
        "seconds": reply.seconds,
        "retry_after": reply.retry_after,
        "cached": False,
    }


def through(name: str, secret: str, session: Callable[[], str]) -> Callable[[client.Call, float], client.Reply | None]:
    """What ``client.relay`` is in a child: calls go through the process that listens at ``name`` and knows ``secret``.

    ``session`` says whose event this is, when there is something to ask.
    """

    def hand_over(call: client.Call, deadline: float) -> client.Reply | None:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with line:
            try:
                line.settimeout(0.2)
                line.connect(name)
                if not ask.same_user(line, os.geteuid()):
                    return None
                given = {
                    "url": call.url, "headers": call.headers, "body": call.body.decode("utf-8"), "service": call.service,
                    "key_var": call.key_var, "deadline": deadline, "session": session(),
                    "secret": secret,
                }  # fmt: skip
                line.sendall(_frame(given))
            except (OSError, ValueError):
                return None
            try:
                line.settimeout(deadline + 0.1)
                said = _receive(line)
            except (OSError, ValueError):
                said = None
        if said is None:
            raise JudgeError("timeout", f"{call.service} did not answer within {deadline:g} s")
        if "refused" in said:  # by another parent's: ours has ended, and nothing was sent
            return None
        if "kind" in said:
            error = JudgeError(said["kind"], said["message"])
            error.sent = said["sent"]
            raise error
        body = said["body"].encode("utf-8", "surrogateescape")
        return client.Reply(said["status"], body, said["seconds"], said.get("retry_after", 0.0), said["cached"])

    return hand_over


def _frame(value: dict[str, Any]) -> bytes:
    text = jsonio.dumps(value).encode("ascii")
    return len(text).to_bytes(8, "big") + text


def _receive(line: socket.socket) -> dict[str, Any] | None:
    """One frame, or None at its end or past its limit."""
    head = line.recv(8, socket.MSG_WAITALL)
    size = int.from_bytes(head, "big")
    if len(head) < 8 or size > _LIMIT:
        return None
    pieces = []
    while size > 0:
        piece = line.recv(min(size, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        size -= len(piece)
    value = jsonio.loads(b"".join(pieces).decode("ascii"))
    return value if isinstance(value, dict) else None
