"""The one bounded call: one POST, one answer, or a JudgeError before the deadline.  The package's only network use.

Nothing that a server, a resolver or a proxy does can hold the caller longer than the deadline: the exchange runs in
a thread of its own, the caller waits on a lock.  ``socket`` timeouts alone can't do this, they restart with every
byte and don't cover name resolution.

Why ``http.client`` and not ``urllib3``: a cold process pays 30 ms to import the one and 72 ms to import the other
(Python 3.11, urllib3 2.8; the difference was 40 to 45 ms in three runs), and its pools and retries have no use here.
"""

from __future__ import annotations

import _thread
import os
import time

from .wire import JudgeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol
else:
    Protocol = object

MAX_BODY = 1_000_000
MAX_HEAD = 64_000
MAX_DEADLINE = 600.0
STAGGER = 0.25  # seconds between attempts to connect to the addresses of one name

_HOST_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")
_PATH_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ/._~!$&'()*+,;=:@%-")


_PROXY_VARS = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
_TRUST_VARS = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")


class Call:
    """One request.  ``service`` and ``key_var`` are what error messages may name; ``body`` is JSON, ready to send.

    ``environment``: whether the environment may name a proxy and the certificates that count.  Who sets both reads
    the call, key and all, and a repository can set a host's environment: in the hook only the user's config allows it.
    """

    __slots__ = ("body", "environment", "headers", "key_var", "service", "url")

    def __init__(
        self,
        url: str,
        headers: dict[str, str],
        body: bytes,
        service: str,
        key_var: str,
        environment: bool = True,
    ) -> None:
        self.url = url
        self.headers = headers
        self.body = body
        self.service = service
        self.key_var = key_var
        self.environment = environment


class Reply:
    """One answer, whatever its status.  ``seconds`` by the monotonic clock, from the call to the last byte;
    ``retry_after`` the seconds that a busy service asks to wait, 0 when it doesn't say; ``cached`` when nothing was
    sent, because the very same call had been answered in this session."""

    __slots__ = ("body", "cached", "retry_after", "seconds", "status")

    def __init__(
        self, status: int, body: bytes, seconds: float, retry_after: float = 0.0, cached: bool = False
    ) -> None:
        self.status = status
        self.body = body
        self.seconds = seconds
        self.retry_after = retry_after
        self.cached = cached


class Pool(Protocol):
    """Connections that stay open between calls; what the warm process brings (``jevhook/resident/relay.py``)."""

    def take(self, where: Address) -> socket.socket | None:
        """A connection that is open and has nothing to read, or None."""

    def put(self, where: Address, sock: socket.socket) -> None:
        """Keep ``sock`` for the next call."""

    def context(self, service: str) -> ssl.SSLContext:
        """The certificates that count, read once."""

    def session(self, where: Address) -> ssl.SSLSession | None:
        """The TLS session of the last connection to ``where``, for a shorter handshake."""

    def resolved(self, host: str, port: int) -> Any:
        """What ``socket.getaddrinfo`` says, as of a minute ago at most."""


# Where another process makes the calls: the Reply, or None when it can't be reached and nothing was sent.
relay: Callable[[Call, float], Reply | None] | None = None


class Address:
    """An http(s) URL taken apart.  ``netloc`` is host and port as a Host header says them."""

    __slots__ = ("host", "loopback", "netloc", "path", "port", "secure")

    def __init__(self, secure: bool, host: str, port: int, path: str) -> None:
        self.secure = secure
        self.host = host
        self.port = port
        self.path = path
        self.loopback = is_loopback(host)
        shown = f"[{host}]" if ":" in host else host
        self.netloc = shown if port == (443 if secure else 80) else f"{shown}:{port}"


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine by its very spelling: localhost, 127.x.y.z or ::1."""
    if host in ("localhost", "::1"):
        return True
    parts = host.split(".")
    return (
        len(parts) == 4
        and parts[0] == "127"
        and all(part.isascii() and part.isdigit() and part == str(int(part[:4])) and int(part) < 256 for part in parts)
    )


def address(url: str) -> Address:
    """``url`` taken apart.  Raises ValueError when it is not plain https (http only on this machine).

    Stricter than RFC 3986 on purpose: credentials, queries, fragments, escapes in the host and anything that two
    parsers could read as two hosts are refused.
    """
    scheme, found, rest = url.partition("://")
    scheme = scheme.lower()
    if not found or scheme not in ("http", "https"):
        raise ValueError("a base URL starts with https://, or http:// on this machine")
    netloc, slash, path = rest.partition("/")
    path = slash + path
    if not _PATH_LETTERS.issuperset(path):
        raise ValueError("a base URL has no query, fragment, space or special characters")
    if "@" in netloc:
        raise ValueError("a base URL carries no credentials")
    if netloc.startswith("["):
        host, bracket, port = netloc[1:].partition("]")
        if not bracket or ":" not in host or not set(host.lower()) <= set("0123456789abcdef:."):
            raise ValueError("a base URL's IPv6 host is not readable")
        if port and not port.startswith(":"):
            raise ValueError("a base URL's port is not readable")
        port = port[1:]
    else:
        host, _, port = netloc.partition(":")
        if not host or not _HOST_LETTERS.issuperset(host.lower()):
            raise ValueError("a base URL's host is not readable")
    secure = scheme == "https"
    number = 443 if secure else 80
    if port:
        if not (port.isascii() and port.isdigit()) or len(port) > 5 or not 0 < int(port) < 65536:
            raise ValueError("a base URL's port is not readable")
        number = int(port)
    read = Address(secure, host.lower(), number, path or "/")
    if not secure and not read.loopback:
        raise ValueError("plain http is only allowed on this machine; use https")
    return read


def ask(call: Call, deadline: float, pool: Pool | None = None) -> Reply:
    """Send ``call`` once and wait at most ``deadline`` seconds for the whole answer.

    No retry, no redirect followed.  Where the call allows the environment a say, honours ``HTTPS_PROXY`` and
    ``NO_PROXY`` (never for this machine), ``SSL_CERT_FILE`` and ``REQUESTS_CA_BUNDLE``.  Any status is a Reply.

    Raises JudgeError of kind config, unreachable, timeout or invalid_response; its message never holds a header, the
    body or a server's text.
    """
    started = time.monotonic()
    try:
        where = address(call.url)
    except ValueError as wrong:
        raise JudgeError("config", f"{call.service}: {wrong}") from None
    late = JudgeError("timeout", f"{call.service} did not answer within {deadline:g} s{_unused(call, where)}")
    if not deadline > 0:
        raise late
    deadline = min(deadline, MAX_DEADLINE)
    if relay is not None and pool is None and not call.environment:
        reply = relay(call, deadline)
        if reply is not None:
            return reply
    exchange = _Exchange(call, where, started + deadline, pool)
    try:
        _thread.start_new_thread(exchange.run, ())
    except RuntimeError:
        raise JudgeError("unreachable", f"{call.service}: no thread can be started") from None
    if not exchange.done.acquire(timeout=max(0.0, started + deadline - time.monotonic())):
        exchange.give_up()
        late.sent = exchange.sent
        raise late
    if exchange.error is not None:
        error = late if exchange.error.kind == "timeout" else exchange.error
        error.sent = exchange.sent
        raise error
    return Reply(exchange.status, exchange.body, time.monotonic() - started, exchange.retry_after)


def _retry_after(milliseconds: str | None, seconds: str | None) -> float:
    """The wait that a service asks for, in seconds; a date, and anything else that is no plain number, counts as none."""
    for text, unit in ((milliseconds, 1000), (seconds, 1)):
        text = (text or "").strip()
        if text.isascii() and text.isdigit() and len(text) < 10:
            return int(text) / unit
    return 0.0


class _TooMuch(Exception):
    pass


class _Counted:
    """A socket's reading side that hands out a limited number of bytes: http.client bounds a line, not their sum."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.left = MAX_HEAD

    def _take(self, data: bytes) -> bytes:
        self.left -= len(data)
        if self.left < 0:
            raise _TooMuch
        return data

    def readline(self, limit: int = -1) -> bytes:
        room = self.left + 1
        return self._take(self.raw.readline(room if limit < 0 else min(limit, room)))

    def read(self, amount: int | None = -1) -> bytes:
        room = self.left + 1
        return self._take(self.raw.read(room if amount is None or amount < 0 else min(amount, room)))

    def close(self) -> None:
        self.raw.close()

    def flush(self) -> None:
        pass


class _Exchange:
    """What the calling thread and the one that talks share."""

    __slots__ = (
        "body",
        "call",
        "done",
        "error",
        "over",
        "pool",
        "retry_after",
        "sent",
        "sock",
        "status",
        "until",
        "where",
    )

    def __init__(self, call: Call, where: Address, until: float, pool: Pool | None = None) -> None:
        self.pool = pool
        self.call = call
        self.where = where
        self.until = until
        self.done = _thread.allocate_lock()
        self.done.acquire()
        self.over = False
        self.sent = False
        self.sock: socket.socket | None = None
        self.error: JudgeError | None = None
        self.status = 0
        self.body = b""
        self.retry_after = 0.0

    def give_up(self) -> None:
        """Called by the waiting thread: wake the other one, and let it send nothing any more."""
        self.over = True
        sock = self.sock
        if sock is not None:
            try:
                sock.shutdown(2)  # SHUT_RDWR; socket itself may still be half imported
            except (OSError, ValueError):
                pass

    def run(self) -> None:
        try:
            self.talk()
        except JudgeError as error:
            self.error = error
        except BaseException as error:  # a thread's traceback on stderr would be read by the host
            self.error = self.named(error)
        finally:
            sock = self.sock
            if sock is not None:
                try:
                    sock.close()
                except OSError:
                    pass
            self.done.release()

    def named(self, error: BaseException) -> JudgeError:
        """The JudgeError for what went wrong on the way.  Never the exception's own text: it may quote a header."""
        import http.client
        import socket
        import ssl

        service = self.call.service
        unused = _unused(self.call, self.where)
        if isinstance(error, _TooMuch):
            return JudgeError("invalid_response", f"{service} sent more than an answer can be")
        if isinstance(error, TimeoutError):
            return JudgeError("timeout", f"{service} did not answer in time")
        if isinstance(error, ssl.SSLCertVerificationError):
            why = f"{service}: its certificate is not trusted ({error.verify_message}){unused}"
            return JudgeError("unreachable", why)
        if isinstance(error, ssl.SSLError):
            return JudgeError("unreachable", f"{service}: no secure connection ({error.reason or 'TLS'})")
        if isinstance(error, socket.gaierror):
            return JudgeError("unreachable", f"{service}: the name {self.where.host} does not resolve{unused}")
        if isinstance(error, http.client.RemoteDisconnected):
            return JudgeError("unreachable", f"{service} closed the connection without an answer")
        if isinstance(error, http.client.IncompleteRead):
            return JudgeError("invalid_response", f"{service} stopped in the middle of its answer")
        if isinstance(error, http.client.HTTPException):
            return JudgeError("invalid_response", f"{service} does not speak HTTP as it should")
        if isinstance(error, OSError):
            what = os.strerror(error.errno) if error.errno else type(error).__name__
            return JudgeError("unreachable", f"{service} is not reachable at {self.where.netloc}: {what}{unused}")
        if isinstance(error, ValueError):  # http.client refuses a header with a line break, and quotes it
            return JudgeError("config", f"{service}: a header or the address can't be sent")
        return JudgeError("invalid_response", f"{service}: {type(error).__name__} while reading its answer")

    def left(self) -> float:
        left = self.until - time.monotonic()
        if left <= 0 or self.over:
            raise TimeoutError
        return left

    def talk(self) -> None:
        import http.client  # 27 ms with ssl and email: only a call pays it

        call, where = self.call, self.where
        pool = self.pool
        self.sock = pool.take(where) if pool is not None else None
        if self.sock is None:
            self.open()
        sock = self.sock
        assert sock is not None
        self.sent = True  # before the look at the clock: who gave up and saw it unset may rely on it
        sock.settimeout(self.left())  # raises when the caller has gone: from here on things are sent

        connection = http.client.HTTPConnection(where.host, where.port)
        connection.sock = sock
        headers = {"Host": where.netloc, "Accept-Encoding": "identity", **call.headers}
        if pool is None:
            headers["Connection"] = "close"
        try:
            connection.request("POST", where.path, call.body, headers)
        except (BrokenPipeError, ConnectionResetError):
            pass  # a server may refuse (401, 413) and hang up before it has read everything; its answer counts
        response = http.client.HTTPResponse(sock, method="POST")
        reader = _Counted(response.fp)
        response.fp = reader  # type: ignore[assignment]
        try:
            response.begin()
            self.left()
            reader.left = MAX_BODY + MAX_HEAD
            body = response.read(MAX_BODY + 1)
            if len(body) > MAX_BODY:
                raise _TooMuch
            if response.length:  # read(n) returns short of Content-Length without a word
                raise http.client.IncompleteRead(body, response.length)
            coding = (response.getheader("Content-Encoding") or "identity").strip().lower()
            if coding not in ("", "identity") and response.status == 200:
                raise JudgeError("invalid_response", f"{call.service} compressed its answer without being asked to")
            if response.status >= 400:
                self.retry_after = _retry_after(response.getheader("Retry-After-Ms"), response.getheader("Retry-After"))
            self.status, self.body = response.status, body
            if pool is not None and not response.will_close and response.isclosed():
                self.sock = None
                pool.put(where, sock)
        finally:
            reader.close()

    def open(self) -> None:
        """Connect, through the proxy where there is one, and greet."""
        call, where, pool = self.call, self.where, self.pool
        proxy = _proxy(where) if call.environment and where.secure and not where.loopback else None
        context = None
        if where.secure and pool is not None:
            context = pool.context(call.service)
        elif where.secure:
            context = (_context if call.environment else own_context)(call.service)
        if proxy is None:
            self.connect(where.host, where.port)
        else:
            self.connect(proxy.host, proxy.port)
            self.tunnel(proxy.credentials)
        if context is not None:
            plain = self.sock
            assert plain is not None
            plain.settimeout(self.left())
            # The handshake comes after self.sock is set: give_up() must be able to reach it.
            known = pool.session(where) if pool is not None else None
            wrapped = context.wrap_socket(
                plain, server_hostname=where.host, do_handshake_on_connect=False, session=known
            )
            self.sock = wrapped
            wrapped.do_handshake()

    def connect(self, host: str, port: int) -> None:
        """The first address that answers, each tried ``STAGGER`` after the one before (RFC 8305): a first one that
        swallows everything (IPv6 in many a home) cost every call half its deadline when they were tried in turn."""
        import selectors
        import socket

        pool = self.pool
        found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM) if pool is None else pool.resolved(host, port)
        targets = list(found[:4])
        problem: OSError | None = None
        trying = selectors.DefaultSelector()
        try:
            while targets or trying.get_map():
                if targets:
                    family, kind, protocol, _, target = targets.pop(0)
                    try:
                        sock = socket.socket(family, kind, protocol)
                    except OSError as error:  # no such family here
                        problem = error
                        continue
                    trying.register(sock, selectors.EVENT_WRITE)
                    sock.setblocking(False)
                    try:
                        sock.connect(target)
                    except BlockingIOError:
                        pass
                    except OSError as error:
                        problem = error
                        trying.unregister(sock)
                        sock.close()
                        continue
                for key, _ in trying.select(min(self.left(), STAGGER)):
                    sock = key.fileobj  # type: ignore[assignment]
                    trying.unregister(sock)
                    wrong = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                    if wrong:
                        problem = OSError(wrong, os.strerror(wrong))
                        sock.close()
                        continue
                    self.sock = sock
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    if not self.where.secure and not is_loopback(str(sock.getpeername()[0])):
                        raise JudgeError(
                            "config", f"{self.call.service}: {host} is not this machine, plain http is refused"
                        )
                    return
        finally:
            for key in list(trying.get_map().values()):
                key.fileobj.close()  # type: ignore[union-attr]
            trying.close()
        raise problem or OSError()

    def tunnel(self, credentials: str) -> None:
        sock, where = self.sock, self.where
        assert sock is not None
        target = f"[{where.host}]:{where.port}" if ":" in where.host else f"{where.host}:{where.port}"
        head = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
        if credentials:
            import binascii

            basic = binascii.b2a_base64(credentials.encode("utf-8"), newline=False).decode("ascii")
            head += f"Proxy-Authorization: Basic {basic}\r\n"
        sock.settimeout(self.left())
        sock.sendall(head.encode("ascii") + b"\r\n")
        answer = b""
        while b"\r\n\r\n" not in answer:
            sock.settimeout(self.left())
            more = sock.recv(4096)
            if not more:
                raise JudgeError("unreachable", f"{self.call.service}: the proxy in HTTPS_PROXY hung up")
            answer += more
            if len(answer) > MAX_HEAD:
                raise _TooMuch
        words = answer.split(b"\r\n", 1)[0].split(b" ")
        if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or words[1] != b"200":
            status = words[1].decode("ascii") if len(words) > 1 and words[1].isdigit() and len(words[1]) == 3 else "?"
            raise JudgeError("unreachable", f"{self.call.service}: the proxy in HTTPS_PROXY answered {status}")


def _context(service: str) -> ssl.SSLContext:
    import ssl

    context = ssl.create_default_context()  # SSL_CERT_FILE and SSL_CERT_DIR are OpenSSL's own and count here
    bundle = os.environ.get("REQUESTS_CA_BUNDLE", "")
    if not bundle:
        paths = ssl.get_default_verify_paths()
        if paths.cafile is None and paths.capath is None and not context.cert_store_stats()["x509_ca"]:
            try:  # a Python without a store of its own (macOS installers); requests brings certifi
                import certifi

                bundle = certifi.where()
            except ImportError:
                return context
    if bundle:
        try:
            if os.path.isdir(bundle):
                context.load_verify_locations(capath=bundle)
            else:
                context.load_verify_locations(cafile=bundle)
        except (OSError, ssl.SSLError):
            raise JudgeError("config", f"{service}: REQUESTS_CA_BUNDLE names no readable certificates") from None
    return context


def own_context(service: str) -> ssl.SSLContext:
    """Trusts the system's certificates and nothing that the environment names.

    ``create_default_context`` can't be used: OpenSSL itself reads SSL_CERT_FILE and SSL_CERT_DIR there, and Python
    writes the session's secrets to SSLKEYLOGFILE.
    """
    import ssl
    import sys

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    loaded = False
    if sys.platform == "win32":
        for store in ("CA", "ROOT"):
            for certificate, encoding, trust in ssl.enum_certificates(store):
                if encoding == "x509_asn" and (trust is True or ssl.Purpose.SERVER_AUTH.oid in trust):
                    context.load_verify_locations(cadata=certificate)
                    loaded = True
    paths = ssl.get_default_verify_paths()
    file = paths.openssl_cafile if os.path.isfile(paths.openssl_cafile or "") else None
    directory = paths.openssl_capath if os.path.isdir(paths.openssl_capath or "") else None
    if file is None and directory is None and not loaded:
        try:
            import certifi

            file = certifi.where()
        except ImportError:
            return context
    try:
        if file is not None or directory is not None:
            context.load_verify_locations(cafile=file, capath=directory)
    except (OSError, ssl.SSLError):
        raise JudgeError("config", f"{service}: the system's certificates are not readable") from None
    return context


def _unused(call: Call, where: Address) -> str:
    """A hint for whoever needs a proxy or certificates of their own and finds that the hook does not look at them."""
    if call.environment or where.loopback or not where.secure:
        return ""
    named = ignored(os.environ)
    return f"; {named} is not looked at in the hook without environment_proxy = true in [judge]" if named else ""


def ignored(env: Mapping[str, str]) -> str:
    """The first variable in ``env`` that a call with ``environment`` False does not look at, or ""."""
    return next((name for name in (*_PROXY_VARS, *_TRUST_VARS) if env.get(name)), "")


class _Proxy:
    __slots__ = ("credentials", "host", "port")

    def __init__(self, host: str, port: int, credentials: str) -> None:
        self.host = host
        self.port = port
        self.credentials = credentials


def _proxy(where: Address) -> _Proxy | None:
    """The proxy that the environment names for ``where``, or None.  Raises JudgeError for one we can't use:
    going around it would be the worse surprise."""
    env = os.environ
    named = env.get("https_proxy") or env.get("HTTPS_PROXY") or env.get("all_proxy") or env.get("ALL_PROXY") or ""
    if not named or _bypassed(where, env.get("no_proxy") or env.get("NO_PROXY") or ""):
        return None
    scheme, found, rest = named.partition("://")
    if not found:
        scheme, rest = "http", named
    netloc = rest.partition("/")[0]
    credentials, _, netloc = netloc.rpartition("@")
    if netloc.startswith("["):
        host, _, port = netloc[1:].partition("]")
        port = port.removeprefix(":")
    else:
        host, _, port = netloc.partition(":")
    port = port or "80"
    readable = bool(host) and (_HOST_LETTERS | {":"}).issuperset(host.lower())
    if scheme.lower() != "http" or not readable or not port.isdecimal() or not 0 < int(port[:6]) < 65536:
        raise JudgeError("config", "HTTPS_PROXY must be http://host:port; no other kind of proxy is supported")
    if "%" in credentials:
        from urllib.parse import unquote

        credentials = unquote(credentials)
    return _Proxy(host, int(port), credentials)


def _bypassed(where: Address, listed: str) -> bool:
    for entry in listed.lower().replace(",", " ").split():
        if entry == "*":
            return True
        name, colon, port = entry.rpartition(":")
        if colon and port.isdigit() and ":" not in name:
            if int(port[:6]) != where.port:
                continue
            entry = name
        entry = entry.strip("[]").removeprefix("*").lstrip(".")
        if entry and (where.host == entry or where.host.endswith("." + entry)):
            return True
    return False
