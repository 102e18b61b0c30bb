"""What the ledger adds up to, a point at a time: decisions, failures, time, money, and who agreed with whom.

One pass, memory that does not grow with the ledger: times are counted at three significant digits, so a percentile is
right to half a percent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .labels import Label
from .read import points_of

STOPS = ("ask", "deny", "withhold", "trim", "context")  # what a person or an agent notices
_PERCENTILES = (50, 95, 99)
_QUIET = ("shadow", "out-of-scope")  # reasons that are no failure
_NO = 0.2  # where a line names no thresholds of its own


class Spread:
    """Values and how often they came, at three significant digits."""

    def __init__(self) -> None:
        self.counts: Counter[float] = Counter()

    def add(self, value: object) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12:
            self.counts[float(f"{value:.3g}")] += 1

    def json(self) -> dict[str, float | int]:
        """``{"n"}``, and where there is any value ``"p50"``, ``"p95"``, ``"p99"``: the least that so many per cent do not
        exceed."""
        n = self.counts.total()
        made: dict[str, float | int] = {"n": n}
        left, below = [one for one in _PERCENTILES if n], 0
        for value in sorted(self.counts):
            below += self.counts[value]
            while left and below * 100 >= left[0] * n:
                made[f"p{left.pop(0)}"] = value
        return made


@dataclass
class PointStats:
    """One point's part: ``events`` it had a say in; of ``elsewhere`` it had none (``out-of-scope``).  ``labels`` count by what was judged: "stopped good", "stopped bad", "passed good", "passed bad";
    ``agreement`` as in ``agreement``."""

    events: int = 0
    elsewhere: int = 0
    acted: int = 0
    modes: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    agreement: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    hook_ms: Spread = field(default_factory=Spread)
    judge_ms: Spread = field(default_factory=Spread)
    money: Counter[str] = field(default_factory=Counter)

    def json(self) -> dict[str, Any]:
        """Plain values; ``false_alarms`` is None without a labelled stop."""
        good, bad = self.labels["stopped good"], self.labels["stopped bad"]
        return {
            "events": self.events,
            "elsewhere": self.elsewhere,
            "acted": self.acted,
            "modes": _plain(self.modes),
            "judged": _plain(self.judged),
            "rules": _plain(self.rules),
            "fallbacks": _plain(self.fallbacks),
            "hook_ms": self.hook_ms.json(),
            "judge_ms": self.judge_ms.json(),
            "judge": _plain(self.money),
            "agreement": _plain(self.agreement),
            "labels": _plain(self.labels),
            "false_alarms": {"bad": bad, "of": good + bad, "rate": round(bad / (good + bad), 4)}
            if good + bad
            else None,
        }


@dataclass
class Stats:
    """All of it: ``points`` by name, and what belongs to the event as a whole."""

    events: int = 0
    first: str = ""
    last: str = ""
    hosts: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    hook_ms: Spread = field(default_factory=Spread)
    money: Counter[str] = field(default_factory=Counter)
    points: dict[str, PointStats] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "events": self.events,
            "first": self.first,
            "last": self.last,
            "hosts": _plain(self.hosts),
            "decisions": _plain(self.decisions),
            "reasons": _plain(self.reasons),
            "hook_ms": self.hook_ms.json(),
            "judge": _plain(self.money),
            "points": {name: point.json() for name, point in sorted(self.points.items())},
        }


def stats(entries: Iterable[Mapping[str, Any]], labels: Mapping[str, Label] | None = None) -> Stats:
    """The sums over ``entries`` (of ``read.entries``); what a command of a person's left there is no event."""
    made = Stats()
    labels = labels or {}
    for entry in entries:
        if entry.get("origin") == "cli":
            continue
        made.events += 1
        at = str(entry.get("asked_at") or "")
        made.first = min(made.first or at, at)
        made.last = max(made.last, at)
        made.hosts[str(entry.get("host") or "unknown")] += 1
        made.decisions[str(entry.get("decision") or "none")] += 1
        if entry.get("reason"):
            made.reasons[str(entry["reason"])] += 1
        made.hook_ms.add(entry.get("hook_ms"))
        points = points_of(entry)
        label = labels.get(str(entry.get("id")))
        about = label and _labelled(points)
        calls: list[Any] = []
        for part in points:
            name = str(part.get("point"))
            point = made.points.get(name) or made.points.setdefault(name, PointStats())
            if part.get("reason") == "out-of-scope":
                point.elsewhere += 1
                continue
            _add(point, part, entry)
            if label and about and part in about:
                point.labels[f"{'stopped' if part.get('judged') in STOPS else 'passed'} {label.label}"] += 1
            call = part.get("judge")
            if isinstance(call, dict):
                point.judge_ms.add(call.get("latency_ms") if call.get("asked") else None)
                _spend(point.money, call)
                if call not in calls:  # points after the tool share one call, and each line names it
                    calls.append(call)
                    _spend(made.money, call)
    return made


def _add(point: PointStats, part: Mapping[str, Any], entry: Mapping[str, Any]) -> None:
    point.events += 1
    point.acted += part.get("acted") is True
    point.modes[str(part.get("mode") or "active")] += 1
    point.judged[str(part.get("judged") or "none")] += 1
    if part.get("rule"):
        point.rules[str(part["rule"])] += 1
    reason = fallback(part)
    if reason:
        point.fallbacks[reason] += 1
    for word, number in agreement(part).items():
        point.agreement[word] += number
    point.hook_ms.add(entry.get("hook_ms"))


def _spend(money: Counter[str], call: Mapping[str, Any]) -> None:
    if not call.get("asked"):
        return
    money["calls"] += 1
    money["failed"] += "error" in call
    usage = call.get("usage")
    for key in ("input_tokens", "output_tokens", "cost_micros", "cached") if isinstance(usage, dict) else ():
        value = usage.get(key)  # type: ignore[union-attr]
        if isinstance(value, int) and not isinstance(value, bool):
            money[key] += value


def _labelled(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The points that a label is about: those that stopped it, else all."""
    mine = [one for one in points if one.get("reason") != "out-of-scope"]
    return [one for one in mine if one.get("judged") in STOPS] or mine


def fallback(part: Mapping[str, Any]) -> str:
    """Why a point fell back on what it has without a judge: ``error:timeout``, ``breaker``, ``budget``; else ""."""
    reason = part.get("reason")
    return reason if isinstance(reason, str) and reason and reason not in _QUIET else ""


def agreement(part: Mapping[str, Any]) -> Counter[str]:
    """How a judge's word stands to the rules': "agreed", "lifted" (the rules saw something, the judge nothing), "raised"
    (the other way round), "unsure".  Empty where no judge answered.

    A point that is asked about passages counts each of them, by the side of one half that its probability is on.
    """
    found: Counter[str] = Counter()
    given = part.get("thresholds")
    thresholds = given if isinstance(given, dict) else {}
    passages = part.get("passages")
    for passage in passages if isinstance(passages, list) else ():
        p, score = (passage.get("judge"), passage.get("score")) if isinstance(passage, dict) else (None, None)
        if isinstance(p, int | float) and isinstance(score, int | float):
            flagged = score >= _number(thresholds.get("mark"), 0.5)
            found["agreed" if flagged == (p >= 0.5) else "lifted" if flagged else "raised"] += 1
    call = part.get("judge")
    answers = call.get("answers") if isinstance(call, dict) and "error" not in call else None
    asked = answers.get("asked") if isinstance(answers, dict) else None
    p = asked.get("p") if isinstance(asked, dict) else None
    if not isinstance(p, int | float):
        return found
    rules = part.get("rules")
    stops = any(
        isinstance(rule, dict) and rule.get("severity") in ("ask", "deny") and rule.get("mode") != "shadow"
        for rule in (rules if isinstance(rules, list) else ())
    )
    judged = part.get("judged") in STOPS
    if part.get("source") == "judge" and judged != stops:
        found["raised" if judged else "lifted"] += 1
    elif stops and p > _number(thresholds.get("no"), _NO):
        found["unsure"] += 1  # not sure, or the user asked for it and something else kept the question standing
    else:
        found["agreed"] += 1
    return found


def _number(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _plain(counted: Counter[str]) -> dict[str, int]:
    """Most first."""
    return {name: number for name, number in sorted(counted.items(), key=lambda one: (-one[1], one[0])) if number}
