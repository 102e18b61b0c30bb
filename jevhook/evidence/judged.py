"""What the gate decides about a labelled row: no call, no memory, nothing written, and by default no disk.

A row is judged as if every point that is not off were active: a scorecard says how well a point judges, whether it
acts is its mode's business.  Where a row carries what a judge answered then, the answers are put to the policy's
thresholds of now.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..decide import decide
from ..event import Decision
from ..points import Context, risk
from ..policy import Policy
from ..policy import rules as compiled
from ..shell.world import RealWorld
from .rows import Row

STOPS = ("ask", "deny", "withhold", "trim")
EVERYTHING = frozenset(("allow", "context", "ask", "deny", "withhold", "trim"))
_STRENGTH = {"ask": 1, "trim": 1, "withhold": 2, "deny": 3}


@dataclass(frozen=True)
class Judged:
    """``outcome`` the strongest of what the ``points`` judged; ``rules`` that hit and would stop, in shadow too;
    ``trouble``: what failed inside, "" for nothing."""

    outcome: str
    points: dict[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    rule: str = ""
    trouble: str = ""


class Nowhere:
    """A world in which nothing exists: the same verdict on every machine and on every day."""

    def __init__(self, env: Mapping[str, str], home: str) -> None:
        self.env = env
        self.home = home
        self.user = env.get("USER", "")

    def kind(self, path: str) -> str:
        return "dir" if path == "/" else ""

    def real(self, path: str) -> str:
        return os.path.normpath(path) if path else path

    def names(self, path: str, limit: int) -> list[str] | None:
        return None

    def text(self, path: str, limit: int) -> str | None:
        return None

    def size(self, path: str) -> int:
        return -1

    def git(self, path: str) -> None:
        return None


def judge_by(policy: Policy, *, disk: bool = False) -> Callable[[Row], Judged]:
    """A function that judges rows under ``policy``.  ``disk``: look at this machine's files, as the hook does."""
    worlds: dict[str, tuple[dict[str, str], Any]] = {}

    def judge(row: Row) -> Judged:
        if row.home not in worlds:
            env = {"HOME": row.home, "USER": os.path.basename(row.home)}
            worlds[row.home] = (env, (RealWorld if disk else Nowhere)(env, row.home))
        env, world = worlds[row.home]
        ctx = Context(policy, env, 0.0, home=row.home, offline=True)
        ctx.world = world
        try:
            verdict = decide(row.event, policy, ctx, EVERYTHING)
        except Exception as wrong:  # the hook would be silent
            return Judged("none", trouble=f"{type(wrong).__name__}: {wrong}"[:200])
        points = {str(one["point"]): str(one["judged"]) for one in verdict.points if one.get("mode") != "off"}
        rules = {
            str(hit["id"])
            for one in verdict.points
            for hit in one.get("rules", ())
            if hit.get("severity") in ("ask", "deny") and hit.get("mode") != "off"
        }
        by = {str(one["point"]): str(one.get("rule") or "") for one in verdict.points}
        rules |= {by[point] for point, word in points.items() if word in STOPS and by[point]}
        if row.answers and risk.ID in points:
            points[risk.ID] = _with_answers(points[risk.ID], row, policy, rules)
        spoke = max(points, key=lambda point: _STRENGTH.get(points[point], 0), default="")
        outcome = points.get(spoke, "none")
        return Judged(
            outcome if outcome in _STRENGTH else "none",
            points,
            tuple(sorted(rules)),
            by.get(spoke, ""),
            verdict.troubles[0][:200] if verdict.troubles else "",
        )

    return judge


def _with_answers(judged: str, row: Row, policy: Policy, hits: set[str]) -> str:
    """What tool.risk makes of the recorded answers; a deny is never lifted."""
    if judged == "deny":
        return judged
    active = {
        name: answer
        for name, answer in row.answers.items()
        if isinstance(answer, dict) and policy.rule_mode(f"{risk.ID}.{name}") == "active"
    }
    table = compiled(policy)["rules"]
    rules_said = Decision(judged)  # type: ignore[arg-type]
    rules_said.unrecoverable = any(table.get(rule, {}).get("unrecoverable") for rule in hits)
    yes, no = policy.threshold("tool.risk.yes", 0.8), policy.threshold("tool.risk.no", 0.2)
    return risk.combine(rules_said, active, ["asked"] * row.requests, row.event, yes, no).outcome
