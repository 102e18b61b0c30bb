"""How far past its deadline a judge's call goes when the server fails it.

    scripts/deadlines [--quick] [--calls N] [--at-once N]

Makes 1,000 calls (100 with --quick) with a deadline of 0.3 s, eight at a time, against servers in a process of their
own that are silent, drip, never end, never read, hang in the handshake, refuse, hang up, and a resolver that hangs.
Prints the overrun: what a call took beyond the deadline, 0 for one that ended before.  Fails (exit 1) when its 99th
percentile is above 50 ms.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from jevhook.judges.remote import RemoteJudge
from jevhook.systemone import dialects, wire

DEADLINE = 0.3
LIMIT = 0.050
QUESTIONS = {"q": wire.noul("Does `command` delete data?")}
STATE = {"command": "x" * 2000}
BIG = {"command": "x" * 110_000}

Behaviour = Callable[[socket.socket], None]


def forever(piece: bytes, every: float) -> Behaviour:
    def behave(sock: socket.socket) -> None:
        while True:
            if piece:
                sock.sendall(piece)
            time.sleep(every)

    return behave


def after(head: bytes, then: Behaviour) -> Behaviour:
    def behave(sock: socket.socket) -> None:
        sock.recv(65536)
        sock.sendall(head)
        then(sock)

    return behave


def reset(sock: socket.socket) -> None:
    sock.recv(100)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


OK = b"HTTP/1.1 200 OK\r\n"
SERVED: dict[str, Behaviour] = {
    "silent": forever(b"", 5),
    "slow status line": forever(b"H", 0.05),
    "slow headers": after(OK, forever(b"X-A: b\r\n", 0.03)),
    "dripping body": after(OK + b"Content-Length: 99999\r\n\r\n", forever(b" ", 0.03)),
    "endless chunks": after(OK + b"Transfer-Encoding: chunked\r\n\r\n", forever(b"1\r\nx\r\n", 0.02)),
    "endless 100 Continue": after(b"", forever(b"HTTP/1.1 100 C\r\n\r\n", 0.02)),
    "flooding body": after(OK + b"\r\n", forever(b"a" * 65536, 0)),
    "never reads": forever(b"", 5),
    "handshake hangs": forever(b"", 5),
    "hangs up": lambda sock: None,
    "reset": reset,
}


def serve(ports: Any) -> None:
    """One listener a behaviour; their ports go into ``ports``."""

    def one(sock: socket.socket, behave: Behaviour) -> None:
        with sock, contextlib.suppress(OSError):
            behave(sock)

    def accept(listener: socket.socket, behave: Behaviour) -> None:
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=one, args=(sock, behave), daemon=True).start()

    found = {}
    for name, behave in SERVED.items():
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        found[name] = listener.getsockname()[1]
        threading.Thread(target=accept, args=(listener, behave), daemon=True).start()
    ports.send(found)
    ports.recv()  # until the measuring process is done


def targets(found: dict[str, int]) -> dict[str, str]:
    """What is measured: a name and a base URL each."""
    made = {name: f"http://127.0.0.1:{port}" for name, port in found.items()}
    made["handshake hangs"] = made["handshake hangs"].replace("http:", "https:")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        made["refused"] = f"http://127.0.0.1:{closed.getsockname()[1]}"
    made["resolver hangs"] = f"http://localhost:{found['silent']}"
    return made


def hanging_resolver() -> None:
    """From here on the name localhost takes two seconds to resolve."""
    real = socket.getaddrinfo

    def slow(host: Any, *rest: Any, **more: Any) -> Any:
        if host == "localhost":
            time.sleep(2)
        return real(host, *rest, **more)

    socket.getaddrinfo = slow


def percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100 calls")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=8)
    options = parser.parse_args()
    calls = 100 if options.quick else options.calls

    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    where = targets(ours.recv())
    hanging_resolver()
    dialect = dialects.load("native")
    names = list(where)
    left = iter(range(calls))
    turn = threading.Lock()
    seen: dict[str, list[tuple[float, str]]] = {name: [] for name in names}

    def work() -> None:
        while True:
            with turn:
                number = next(left, None)
            if number is None:
                return
            name = names[number % len(names)]
            judge = RemoteJudge(dialect, where[name], "m", environment=False)
            state = BIG if name == "never reads" else STATE
            began = time.monotonic()
            reply = judge.ask(state, QUESTIONS, DEADLINE)
            took = time.monotonic() - began
            seen[name].append((max(0.0, took - DEADLINE), reply.error.kind if reply.error else "ANSWERED"))

    judge = RemoteJudge(dialect, where["refused"], "m")
    judge.ask(STATE, QUESTIONS, 2)  # imports and byte code are not what is measured
    began = time.monotonic()
    workers = [threading.Thread(target=work) for _ in range(options.at_once)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    took = time.monotonic() - began
    ours.send(None)
    server.join(2)
    server.kill()

    wide = max(map(len, names))
    print(f"{'server':<{wide}}  calls   p50 ms   p99 ms   max ms  kinds")
    for name in names:
        over = [overrun * 1000 for overrun, _ in seen[name]]
        kinds = ", ".join(sorted({kind for _, kind in seen[name]}))
        figures = f"{percentile(over, 0.5):8.1f} {percentile(over, 0.99):8.1f} {max(over):8.1f}"
        print(f"{name:<{wide}}  {len(over):5} {figures}  {kinds}")
    over = [overrun * 1000 for each in seen.values() for overrun, _ in each]
    worst = percentile(over, 0.99)
    figures = f"{percentile(over, 0.5):8.1f} {worst:8.1f} {max(over):8.1f}"
    print(f"{'all':<{wide}}  {len(over):5} {figures}  deadline {DEADLINE * 1000:g} ms, {took:.0f} s in all")
    answered = sum(kind == "ANSWERED" for each in seen.values() for _, kind in each)
    if answered or worst > LIMIT * 1000:
        print(f"FAILED: p99 {worst:.1f} ms, the limit is {LIMIT * 1000:g}; {answered} answered")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
