"""A remote judge with its circuit breaker and its budget in front: what both hooks and commands should ask through.

A call that is not made comes back as a ``JudgeReply`` whose error kind is ``breaker`` or ``budget``; then nothing was
sent, and what the rules decided stands as after any other failure.
"""

from __future__ import annotations

import os
import time

from .. import ledger
from . import JudgeReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..systemone.wire import JudgeError, Question
    from . import Judge

_BUSY = ("rate_limited", "server")  # the service's own word that it may be better in a moment
REFUSALS = ("breaker", "budget")  # error kinds of calls that were never made

# After these nothing can have been charged.  After any other failure nobody knows: the reservation is held.
_FREE = frozenset(("auth", "payment", "rate_limited", "bad_request", "oversized", "config"))


def guard(judge: Judge, env: Mapping[str, str], retries: int = 0) -> Judge:
    """``judge`` behind its breaker and budget, each tier of a cascade behind its own.

    ``retries``: how often a service that says it is busy is asked again, never in a hook.  A judge that never leaves
    this process comes back as it is.
    """
    for tier in getattr(judge, "_tiers", ()):
        tier.judge = guard(tier.judge, env, retries)
    if isinstance(judge, GuardedJudge) or not getattr(judge, "provider", ""):
        return judge
    return GuardedJudge(judge, env, retries)


class GuardedJudge:
    """See the module.  ``judge`` is the one behind."""

    __slots__ = ("_env", "_retries", "judge", "model", "name", "provider")

    def __init__(self, judge: Judge, env: Mapping[str, str], retries: int = 0) -> None:
        self.judge = judge
        self._env = env
        self._retries = retries
        self.name = judge.name
        self.provider: str = getattr(judge, "provider", "")
        self.model: str = getattr(judge, "model", "")

    def ask(self, state: Any, questions: Mapping[str, Question], deadline: float) -> JudgeReply:
        """One call (and its retries), none when the breaker is open or the money is spent; see ``Judge``."""
        if not questions:
            return self.judge.ask(state, questions, deadline)
        from ..state import breaker

        env = self._env
        key = breaker.name(env, self.provider, address(self.judge), self.model, getattr(self.judge, "_key", ""))
        may, why = breaker.allowed(env, key, time.time())
        if not may:
            return self._refused("breaker", why, questions)
        ticket = None
        if os.path.lexists(os.path.join(ledger.directory(env), "budget.sqlite")):  # budget.capped, without the import
            from ..state import budget

            ticket, why = budget.reserve(env, self.provider, self.model, time.time())
            if ticket is None:
                return self._refused("budget", why, questions)
        started = time.monotonic()
        reply = self._patiently(state, questions, deadline, ticket is not None and bool(ticket.id))
        seconds, now = time.monotonic() - started, time.time()
        error = reply.error
        breaker.record(env, key, error is None, "" if error is None else error.kind, seconds, now)
        if ticket is not None and ticket.id:
            self._settle(ticket, reply, now)
        return reply

    def _patiently(self, state: Any, questions: Mapping[str, Question], deadline: float, counted: bool) -> JudgeReply:
        """The call, and again after the wait that a busy service asks for: one outcome for breaker and budget.

        ``counted``: a reservation stands for one call, so a failure that may have been charged is the last one.
        """
        started, pause = time.monotonic(), 0.5
        reply = self.judge.ask(state, questions, deadline)
        for _ in range(self._retries):
            kind = "" if reply.error is None else reply.error.kind
            if reply.error is None or kind not in _BUSY or (counted and kind not in _FREE):
                break
            import random

            wait = reply.error.retry_after or pause * (1 + random.random() / 4)
            left = deadline - (time.monotonic() - started) - wait
            if left <= 0:
                break
            time.sleep(wait)
            pause = min(5.0, pause * 2)
            reply = self.judge.ask(state, questions, left)
        return reply

    def _settle(self, ticket: Any, reply: JudgeReply, now: float) -> None:
        from ..state import budget

        error = reply.error
        if reply.usage.get("cached"):
            budget.settle(self._env, ticket, 0, now)
        elif error is None:
            cost, frozen = budget.settle(
                self._env,
                ticket,
                reply.usage.get("cost_micros"),
                now,
                input_tokens=reply.usage.get("input_tokens"),
                output_tokens=reply.usage.get("output_tokens"),
            )
            reply.usage["cost_micros"] = cost
            if frozen:
                reply.warnings.append({"type": "budget-frozen", "question": ""})
        elif error.kind in _FREE or getattr(error, "sent", True) is False:
            budget.settle(self._env, ticket, 0, now)
        else:
            budget.hold(self._env, ticket, error.kind, now)
        reply.usage["reserved_micros"] = ticket.amount

    def _refused(self, kind: Any, why: str, questions: Mapping[str, Question]) -> JudgeReply:
        from ..systemone.wire import JudgeError

        error: JudgeError = JudgeError(kind, f"{self.provider}: {why}")
        missing = [{"type": "missing-answer", "question": name} for name in questions]
        return JudgeReply(self.name, self.provider, model=self.model, warnings=missing, error=error)


def address(judge: Any) -> str:
    """Where a remote judge sends its calls, "" when that can't be told."""
    found = getattr(judge, "_url", "") or getattr(judge, "_base", "")
    return found if isinstance(found, str) else ""
