"""A judge on 127.0.0.1 in System One's native words, which answers what a test says."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.systemone.loopback import Connection, Served, body_of, serve

Say = Callable[[str, dict[str, Any], Any], Any]


def noul(p: float) -> dict[str, Any]:
    return {"type": "noul", "noul": p}


def choice(question: dict[str, Any], label: str, p: float = 0.9) -> dict[str, Any]:
    """``label`` with probability ``p``, the rest shared by the others, without a confidence of its own."""
    others = [name for name in question["criteria"] if name != label]
    spread = {name: round((1 - p) / len(others), 4) for name in others}
    return {"type": "choice", "choice": label, "probabilities": {label: p, **spread}}


def score(question: dict[str, Any], level: int) -> dict[str, Any]:
    spread = {str(at): float(at == level) for at in range(len(question["criteria"]))}
    return {"type": "score", "score": float(level), "probabilities": spread, "confidence": 1.0}


@contextlib.contextmanager
def judge(say: Say) -> Iterator[Served]:
    """``say(id, question, state)`` is the answer to one question; None leaves it out, an int is the HTTP status."""

    def handler(connection: Connection) -> None:
        body = body_of(connection.request)
        answers = {}
        for ident, question in body["questions"].items():
            said = say(ident, question, body["state"])
            if isinstance(said, int):
                connection.answer(said, b'{"detail": "no"}')
                return
            if said is not None:
                answers[ident] = said
        usage = {"input_tokens": 12, "output_tokens": 3}
        reply = {"model": "loopback-1", "answers": answers, "usage": usage}
        connection.answer(200, json.dumps(reply).encode())

    with serve(handler) as served:
        yield served
