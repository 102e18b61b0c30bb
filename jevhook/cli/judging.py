"""Judging without acting, as explain, replay and fuzz do it: no judge call, no ledger, no session memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from .. import policy as layers
from ..config import ConfigError
from ..decide import Verdict, decide
from ..event import Event, Output
from ..points import Context
from ..policy import Policy, clean, load_strict
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
        """What the gate decides, and what the host would have been told."""
        from ..hook import safe_reason

        verdict = decide(event, self.policy, self.context(), host.answers(event))
        told, bare = verdict.decision, verdict.decision.reason
        if bare:
            told.reason = safe_reason(bare, told.rule, self.env)
        output = host.answer(event, told)
        told.reason = bare  # often the very object that was decided: its reason is reported without the rule's name
        return verdict, output


def bench(policy: str | None, home: str | None, cwd: str) -> Bench:
    """A bench under the policy in force, or the named one.  With ``home``, that directory is home and the gate's own
    places are looked for in it.  Raises ClickException for a configuration that can't be used; what was left out of
    one that can is told on stderr."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 6000))  # as the hook does: the same line, the same verdict
    made = load_policy(policy, cwd)
    env: dict[str, str] = dict(os.environ)
    if home:
        env = {k: v for k, v in env.items() if not k.startswith("XDG_") and k not in ("TMPDIR", "USER", "LOGNAME")}
        env["HOME"] = os.path.abspath(home)
        env["USER"] = os.path.basename(env["HOME"])
    return Bench(made, env, env.get("HOME", ""))


def load_policy(policy: str | None, cwd: str) -> Policy:
    """The policy in force in ``cwd``, or the named one, for a command that a person runs.  Raises ClickException."""
    try:
        made = load_strict(dict(os.environ), cwd=cwd, policy=policy, in_hook=False, managed=layers.MANAGED)
    except ConfigError as wrong:
        raise click.ClickException(clean_lines(str(wrong))) from None
    for problem in made.problems:
        click.echo(f"problem: {clean(problem)}", err=True)
    return made


def clean_lines(text: str) -> str:
    return "\n".join(clean(line) for line in text.split("\n"))


def where(cwd: str | None) -> str:
    """``--cwd`` as an absolute path, else the directory we are in.  Raises UsageError when that one is gone."""
    try:
        return os.path.abspath(cwd) if cwd else os.getcwd()
    except FileNotFoundError:
        raise click.UsageError("the current directory does not exist any more: name one with --cwd") from None


def bash_event(command: str, cwd: str, host: str = "claude") -> Event:
    """A shell call as ``host`` would send it."""
    return Event(
        host,
        "before-tool",
        "PreToolUse",
        tool="Bash",
        input={"command": command},
        cwd=cwd,
        cwd_sure=host != "codex",
        permission_mode="default",
    )


def summary(verdict: Verdict) -> dict[str, Any]:
    """The decision in the words of ``replay --json``; secrets in the reason are redacted."""
    from ..text.printable import printable
    from ..text.redact import redact

    decided = verdict.decided
    outcome = decided.outcome if decided.outcome in ("ask", "deny", "withhold", "trim") else "none"
    reason = printable(redact(decided.reason)) if decided.reason else ""
    return {"decision": outcome, "point": decided.point or None, "rule": decided.rule, "reason": reason}
