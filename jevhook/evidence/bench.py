"""One policy and one view of the world for many events: judging without acting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..decide import Verdict, decide
from ..event import Event, Output
from ..points import Context
from ..policy import Policy
from ..shell.world import RealWorld

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..hosts import Host


class Bench:
    """One policy and one view of the world for many events."""

    def __init__(self, policy: Policy, env: Mapping[str, str], home: str) -> None:
        self.policy = policy
        self.env = env
        self.home = home
        self.world = RealWorld(env, home)

    def context(self) -> Context:
        ctx = Context(self.policy, self.env, 0.0, home=self.home, offline=True)
        ctx.world = self.world
        return ctx

    def decide(
        self,
        event: Event,
        host: Host,
        ctx: Context | None = None,
        then: Callable[[Verdict], Verdict] | None = None,
    ) -> tuple[Verdict, Output]:
        """What the gate decides, and what the host would have been told.  ``then`` has the last word, as the session's
        memory has in the hook."""
        from ..hook import safe_reason

        verdict = decide(event, self.policy, ctx or self.context(), host.answers(event))
        if then is not None:
            verdict = then(verdict)
        told, bare = verdict.decision, verdict.decision.reason
        if bare:
            told.reason = safe_reason(bare, told.rule, self.env)
        output = host.answer(event, told)
        told.reason = bare  # often the very object that was decided: its reason is reported without the rule's name
        return verdict, output


def summary(verdict: Verdict) -> dict[str, Any]:
    """The decision in the words of ``replay --json``; secrets in the reason are redacted."""
    from ..text.printable import printable
    from ..text.redact import redact

    decided = verdict.decided
    outcome = decided.outcome if decided.outcome in ("ask", "deny", "withhold", "trim") else "none"
    reason = printable(redact(decided.reason)) if decided.reason else ""
    return {"decision": outcome, "point": decided.point or None, "rule": decided.rule, "reason": reason}
