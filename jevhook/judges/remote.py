"""The judge behind an HTTP endpoint: a dialect's words, the client's one call, the wire's strict reading."""

from __future__ import annotations

import time

from ..systemone import client, wire
from . import JudgeReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..systemone.dialects import Dialect
    from ..systemone.wire import Question, Warning_

# About 30,000 tokens: the service refuses a state with its longest question above 33,000 (measured by others).
MAX_CHARS = 120_000


class RemoteJudge:
    """One provider, one model, one key.

    ``provider`` is the name for people and the ledger (default: the dialect's); ``url`` replaces the dialect's own
    address; ``patience`` is an upper bound in seconds on every deadline; ``max_questions`` one more on the dialect's
    own; ``environment`` as in ``client.Call``.  The key is kept out of ``repr``.
    """

    __slots__ = (
        "_auth_header",
        "_auth_scheme",
        "_base",
        "_dialect",
        "_environment",
        "_extra",
        "_key",
        "_key_var",
        "_most",
        "_patience",
        "_url",
        "model",
        "name",
        "provider",
        "send",
    )

    def __init__(
        self,
        dialect: Dialect,
        base: str,
        model: str,
        *,
        key: str = "",
        key_var: str = "",
        provider: str = "",
        url: str = "",
        auth_header: str = "Authorization",
        auth_scheme: str = "Bearer",
        extra_headers: Mapping[str, str] | None = None,
        patience: float = client.MAX_DEADLINE,
        max_questions: int = 0,
        environment: bool = True,
    ) -> None:
        self._dialect = dialect
        self._base = base
        self._key = key
        self._key_var = key_var
        self._url = url
        self._auth_header = auth_header
        self._auth_scheme = auth_scheme
        self._extra: Mapping[str, str] = extra_headers or {}
        self._patience = patience
        self._most = min(max_questions or dialect.MAX_QUESTIONS, dialect.MAX_QUESTIONS)
        self._environment = environment
        self.send = client.ask  # the doctor puts another way of sending here
        self.model = model
        self.provider = provider or dialect.NAME
        self.name = f"{self.provider}/{model}"

    def ask(self, state: Any, questions: Mapping[str, Question], deadline: float) -> JudgeReply:
        """One request with all ``questions`` that the service takes; see ``Judge``.

        The first ones count where it takes only so many.  The rest stay unanswered, with a warning each:
        unsupported-question or too-many-questions.
        """
        started = time.monotonic()
        reply = JudgeReply(self.name, self.provider, model=self.model)
        if not questions:
            return reply
        try:
            self._ask(state, questions, deadline, reply)
        except wire.JudgeError as error:
            reply.error = error
        except Exception as error:  # a judge's failure is never the caller's: the rules' word stands
            reply.error = wire.JudgeError("invalid_response", f"{self.provider}: unexpected {type(error).__name__}")
        if reply.error is not None:
            reply.warnings = [{"type": "missing-answer", "question": name} for name in questions]
        reply.latency_ms = int((time.monotonic() - started) * 1000)
        return reply

    def _ask(self, state: Any, questions: Mapping[str, Question], deadline: float, reply: JudgeReply) -> None:
        asked, left = self._asked(questions)
        if not asked:
            reply.warnings = left
            return
        call = self._call(state, asked)
        answer = self.send(call, min(deadline, self._patience))
        if answer.status != 200:
            error = self._error(answer.status, answer.body)
            error.retry_after = answer.retry_after
            raise error
        try:
            parsed = wire.decode(answer.body)
        except ValueError:
            raise wire.JudgeError("invalid_response", f"{self.provider} answered 200 without valid JSON", 200) from None
        body = self._dialect.answers_body(parsed)
        if not isinstance(body, dict) or not isinstance(body.get("answers"), dict):
            if wire.says_error(parsed):
                raise self._error(200, answer.body)
            raise wire.JudgeError("invalid_response", f"{self.provider} answered 200 without answers", 200)
        reply.answers, reply.warnings = wire.read_answers(asked, body)
        reply.warnings += left
        reply.usage = {"cached": 1} if answer.cached else wire.read_usage(body)
        model = body.get("model")
        if isinstance(model, str) and 0 < len(model) <= 200 and model.isprintable():
            reply.model = model

    def _asked(self, questions: Mapping[str, Question]) -> tuple[dict[str, Question], list[Warning_]]:
        """The questions to send, in their order, and a warning for each of the others."""
        asked: dict[str, Question] = {}
        left: list[Warning_] = []
        for name, question in questions.items():
            if not self._dialect.fits(name, question):
                left.append({"type": "unsupported-question", "question": name})
            elif len(asked) < self._most:
                asked[name] = question
            else:
                left.append({"type": "too-many-questions", "question": name})
        return asked, left

    def _error(self, status: int, body: bytes) -> wire.JudgeError:
        return wire.error_from(status, body, self.provider, self._key_var, sent=bool(self._key))

    def _call(self, state: Any, questions: Mapping[str, Question]) -> client.Call:
        if state is None:
            raise wire.JudgeError("config", "there is no state to judge")
        try:
            url, headers, body = self._dialect.request(self._base, self.model, state, questions)
            data = wire.encode(body)
            size = len(wire.encode({"state": state}))
        except ValueError:  # its text may quote the state
            raise wire.JudgeError("config", f"{self.provider}: the state or a question can't be sent") from None
        if size > MAX_CHARS:
            raise wire.JudgeError("oversized", f"the state has {size} characters, {MAX_CHARS} is the limit")
        from .. import __version__

        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"jevhook/{__version__}",
            **headers,
            **self._extra,
        }
        if self._key:
            headers[self._auth_header] = f"{self._auth_scheme} {self._key}".strip()
        return client.Call(self._url or url, headers, data, self.provider, self._key_var, self._environment)
