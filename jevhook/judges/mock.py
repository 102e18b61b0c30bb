"""The judge that reads its answers from a file: for trying out a policy, never chosen unless the config says so.

The script is JSON::

    {"answers": {"destructive": 0.9, "action": "ask", "risk": 2, "other": {"type": "noul", "noul": 0.1}},
     "error": {"kind": "timeout", "message": "…", "status": 0}}

A number answers a noul (its probability) or a score (its level), a text answers a choice; an object is taken as the
native answer, wrong ones included.  ``error`` plays an outage.  Questions without an entry stay unanswered.
"""

from __future__ import annotations

import os

from .. import jsonio
from ..systemone import wire
from . import JudgeReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..systemone.wire import Question

_KINDS = (
    "auth",
    "payment",
    "rate_limited",
    "server",
    "bad_request",
    "oversized",
    "unreachable",
    "timeout",
    "invalid_response",
    "config",
)


class MockJudge:
    """Answers from the script at ``path``, read anew for every call."""

    __slots__ = ("_path", "name")

    def __init__(self, path: str) -> None:
        self._path = os.path.expanduser(path)
        self.name = "mock"

    def ask(self, state: Any, questions: Mapping[str, Question], deadline: float) -> JudgeReply:
        """The scripted answers, read as strictly as a service's; see ``Judge``."""
        reply = JudgeReply(self.name, "mock", model="mock")
        try:
            script = self._script()
            played = script.get("error")
            if isinstance(played, dict):
                kind = played.get("kind")
                status = played.get("status")
                raise wire.JudgeError(
                    kind if kind in _KINDS else "server",
                    str(played.get("message") or "the mock's script plays an outage")[:400],
                    status if isinstance(status, int) else 0,
                )
            scripted = script.get("answers")
            if not isinstance(scripted, dict):
                raise wire.JudgeError("config", "the mock's script has no answers object")
            sent = {name: _native(questions[name], scripted[name]) for name in questions if name in scripted}
            reply.answers, reply.warnings = wire.read_answers(questions, {"answers": sent})
        except wire.JudgeError as error:
            reply.error = error
            reply.warnings = [{"type": "missing-answer", "question": name} for name in questions]
        return reply

    def _script(self) -> dict[str, Any]:
        import stat

        try:
            if not stat.S_ISREG(os.stat(self._path).st_mode):
                raise wire.JudgeError("config", "the mock's script is not a file")
            with open(self._path, "rb") as file:
                script = jsonio.loads(file.read(1_000_000).decode("utf-8"))
        except OSError:
            raise wire.JudgeError("config", "the mock's script is not readable") from None
        except ValueError:
            raise wire.JudgeError("config", "the mock's script is not JSON") from None
        if not isinstance(script, dict):
            raise wire.JudgeError("config", "the mock's script is not a JSON object")
        return script


def _native(question: Question, value: Any) -> Any:
    if isinstance(value, dict):
        return value
    if question["type"] == "noul":
        return {"type": "noul", "noul": value}
    if question["type"] == "choice":
        known = isinstance(value, str) and value in question["criteria"]
        return {"type": "choice", "choice": value, "probabilities": {value: 1.0} if known else None}
    sure = isinstance(value, int) and not isinstance(value, bool)
    return {"type": "score", "score": value, "probabilities": {str(value): 1.0} if sure else None}
