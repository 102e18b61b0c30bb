"""Judging without acting, as explain, replay and fuzz do it: no judge call, no ledger, no session memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..event import Event, Output
from ..gate import Verdict, decide
from ..points import Context
from ..policy import Policy, load_strict
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

    def decide(self, event: Event, host: Host) -> tuple[Verdict, Output]:
        from ..hook import safe_reason

        verdict = decide(event, self.policy, self.context(), host.answers(event))
        if verdict.decision.reason:
            verdict.decision.reason = safe_reason(verdict.decision.reason, verdict.decision.rule)
        return verdict, host.answer(event, verdict.decision)


def bench(policy: str | None, home: str | None, cwd: str) -> Bench:
    """A bench under the policy in force, or the named one.  With ``home``, that directory is home and the gate's own
    places are looked for in it.  Raises ConfigError."""
    made = load_strict(dict(os.environ), cwd=cwd, policy=policy, in_hook=False)
    env: dict[str, str] = dict(os.environ)
    if home:
        env = {k: v for k, v in env.items() if not k.startswith("XDG_") and k not in ("TMPDIR", "USER", "LOGNAME")}
        env["HOME"] = os.path.abspath(home)
        env["USER"] = os.path.basename(env["HOME"])
    return Bench(made, env, env.get("HOME", ""))


def bash_event(command: str, cwd: str, host: str = "claude") -> Event:
    """A shell call as ``host`` would send it."""
    return Event(host, "before-tool", "PreToolUse", tool="Bash", input={"command": command}, cwd=cwd, cwd_sure=host != "codex", permission_mode="default")


def summary(verdict: Verdict) -> dict[str, Any]:
    """The decision in the words of ``replay --json``."""
    decided = verdict.decided
    outcome = decided.outcome if decided.outcome in ("ask", "deny", "withhold", "trim") else "none"
    return {"decision": outcome, "point": decided.point or None, "rule": decided.rule, "reason": decided.reason}
