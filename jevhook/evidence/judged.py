"""What the gate decides about a labelled row: no memory, nothing written, and by default no disk.

A row is judged as if every point that is not off were active: a scorecard says how well a point judges, whether it
acts is its mode's business.  Where a row carries what a judge answered then, that judge answers again so; no call is
made but by ``ask_by``.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..decide import Verdict, decide
from ..judges import JudgeReply
from ..points import Context
from ..policy import POINTS, Policy
from ..shell.world import RealWorld
from .read import STOPS
from .rows import Row

EVERYTHING = frozenset(("allow", "context", "ask", "deny", "withhold", "trim"))


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


def as_active(policy: Policy) -> Policy:
    """A copy in which every point that is not off is active."""
    made = copy.copy(policy)
    made.modes = {"default": "off"}
    for point in POINTS:
        made.modes[point] = "off" if policy.mode(point) == "off" else "active"
    return made


class Recorded:
    """The judge that says what was said then; what was not asked then has no answer."""

    name = "recorded"

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers

    def ask(self, state: Any, questions: Mapping[str, Any], deadline: float) -> JudgeReply:
        """See ``Judge``.  After a tool a question's name has its point's number in front."""
        found = {name: self.answers[bare] for name in questions if (bare := name.rpartition(":")[2]) in self.answers}
        return JudgeReply(self.name, "", answers=found)


def judge_by(policy: Policy, *, disk: bool = False) -> Callable[[Row], Judged]:
    """A function that judges rows under ``policy``.  ``disk``: look at this machine's files, as the hook does."""
    world = _worlds(disk)

    def judge(row: Row) -> Judged:
        env = _env(row.home)
        ctx = Context(policy, env, 0.0, home=row.home, offline=True)
        ctx.world = world(row.home)
        ctx.asks, ctx.requests = bool(row.answers), list(row.requests)
        ctx.choose = lambda *_, **__: (Recorded(row.answers), "recorded")
        try:
            return _read(decide(row.event, policy, ctx, EVERYTHING))
        except Exception as wrong:  # the hook would be silent
            return Judged("none", trouble=f"{type(wrong).__name__}: {wrong}"[:200])

    return judge


def ask_by(
    policy: Policy, env: Mapping[str, str], *, disk: bool = False
) -> Callable[[Row], tuple[dict[str, Any], str]]:
    """A function that puts a row to the policy's own judge, where the hook would ask it.

    It gives (the row's ``judge`` part, {} where nobody was asked or answered; why not, "" for rows that need no judge).
    """
    world = _worlds(disk)

    def ask(row: Row) -> tuple[dict[str, Any], str]:
        ctx = Context(policy, env, time.monotonic(), home=row.home, offline=True)
        ctx.world = world(row.home)
        ctx.asks, ctx.requests = True, list(row.requests)
        answers: dict[str, Any] = {}
        made: dict[str, Any] = {}
        why = ""
        for part in decide(row.event, policy, ctx, EVERYTHING).points:
            judge = part.get("judge")
            if not isinstance(judge, dict):
                continue
            error = judge.get("error")
            if error:
                why = f"{error.get('kind')}: {error.get('message')}"
            elif not judge.get("asked"):
                why = str(judge.get("why") or "nobody was asked")
            elif judge.get("egress") != "shape":
                answers |= judge.get("answers") or {}
                made = {"answers": answers, "user_requests": len(row.requests), "usage": judge.get("usage") or {}}
                made["model"] = f"{judge.get('provider')}/{judge.get('model')}"
        return (made, "") if answers else ({}, why)

    return ask


def _env(home: str) -> dict[str, str]:
    return {"HOME": home, "USER": os.path.basename(home)}


def _worlds(disk: bool) -> Callable[[str], Any]:
    """The world as seen from a home directory, made once for each."""
    known: dict[str, Any] = {}

    def world(home: str) -> Any:
        if home not in known:
            known[home] = (RealWorld if disk else Nowhere)(_env(home), home)
        return known[home]

    return world


def _read(verdict: Verdict) -> Judged:
    points = {str(one["point"]): str(one["judged"]) for one in verdict.points if one.get("mode") != "off"}
    by = {str(one["point"]): str(one.get("rule") or "") for one in verdict.points}
    rules = {
        str(hit["id"])
        for one in verdict.points
        for hit in one.get("rules", ())
        if hit.get("severity") in ("ask", "deny") and hit.get("mode") != "off"
    }
    rules |= {by[point] for point, word in points.items() if word in STOPS and by[point]}
    trouble = verdict.troubles[0][:200] if verdict.troubles else ""
    outcome = next((stop for stop in STOPS if stop in points.values()), "none")
    rule = next((by[point] for point, word in points.items() if word == outcome and outcome != "none"), "")
    return Judged(outcome, points, tuple(sorted(rules)), rule, trouble)
