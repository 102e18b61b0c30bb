"""What the ledger adds up to, a point at a time: decisions, failures, time, money, and who agreed with whom.

One pass, memory that does not grow with the ledger.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .figures import Share
from .labels import Label
from .read import STOPS, points_of
from .summary import MAX_NAMES, OTHERS, REFUSALS, Spread, inner, judge_call, named, number
from .truth import answers_of, should_stop

_QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
_NO = 0.2  # where a line names no thresholds of its own
_MARK = 0.65  # the same for a passage's score


@dataclass
class PointStats:
    """One point's part: ``events`` it had a say in, and of ``elsewhere`` none (``out-of-scope``).  ``labels`` count "right
    stop", "wrong stop", "right silence", "missed" as ``truth.should_stop`` reads them; ``agreement`` as in ``agreement``.
    """

    events: int = 0
    elsewhere: int = 0
    acted: int = 0
    modes: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    agreement: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    hook: Spread = field(default_factory=Spread)
    judge: Spread = field(default_factory=Spread)
    money: Counter[str] = field(default_factory=Counter)

    def json(self) -> dict[str, Any]:
        """Plain values; ``agreed`` and ``false_alarms`` as ``figures.Share.plain``."""
        right, wrong = self.labels["right stop"], self.labels["wrong stop"]
        return {
            "events": self.events,
            "elsewhere": self.elsewhere,
            "acted": self.acted,
            "modes": _plain(self.modes),
            "judged": _plain(self.judged),
            "rules": _plain(self.rules),
            "fallbacks": _plain(self.fallbacks),
            "hook_ms": _spread(self.hook),
            "judge_ms": _spread(self.judge),
            "judge": _plain(self.money),
            "agreement": _plain(self.agreement),
            "agreed": Share(self.agreement["agreed"], self.agreement.total()).plain(),
            "labels": _plain(self.labels),
            "false_alarms": Share(wrong, right + wrong).plain(),
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
    hook: Spread = field(default_factory=Spread)
    money: Counter[str] = field(default_factory=Counter)
    points: dict[str, PointStats] = field(default_factory=lambda: defaultdict(PointStats))

    def json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "events": self.events,
            "first": self.first,
            "last": self.last,
            "hosts": _plain(self.hosts),
            "decisions": _plain(self.decisions),
            "reasons": _plain(self.reasons),
            "hook_ms": _spread(self.hook),
            "judge": _plain(self.money),
            "points": {name: point.json() for name, point in sorted(self.points.items())},
        }


def stats(entries: Iterable[Mapping[str, Any]], labels: Mapping[str, Label] | None = None) -> Stats:
    """The sums over ``entries`` (of ``read.entries``); what a command of a person's left there is no event."""
    made = Stats()
    left = dict(labels or {})  # a label counts once, however often its line stands in the ledger
    for entry in entries:
        if entry.get("origin") == "cli":
            continue
        points = points_of(entry)
        at = named(entry.get("asked_at"))
        made.events += 1
        made.first = min(made.first or at, at)
        made.last = max(made.last, at)
        _count(made.hosts, entry.get("host") or "unknown")
        _count(made.decisions, entry.get("decision") or "none")
        _count(made.reasons, entry.get("reason"))
        made.hook.add(entry.get("hook_ms"))
        _spend(made.money, judge_call(points))
        label = left.pop(str(entry.get("id")), None)
        truth = should_stop(entry, label) if label is not None else {}
        for part in points:
            name = named(part.get("point"))
            point = made.points[name if name in made.points or len(made.points) < MAX_NAMES else OTHERS]
            if part.get("reason") == "out-of-scope":
                point.elsewhere += 1
                continue
            _add(point, part, entry)
            if name in truth:
                point.labels[labelled(part.get("judged") in STOPS, truth[name])] += 1
    return made


def labelled(stopped: bool, should: bool) -> str:
    """What a label makes of a stop or a silence."""
    if stopped:
        return "right stop" if should else "wrong stop"
    return "missed" if should else "right silence"


def _add(point: PointStats, part: Mapping[str, Any], entry: Mapping[str, Any]) -> None:
    point.events += 1
    point.acted += part.get("acted") is True
    _count(point.modes, part.get("mode"))
    _count(point.judged, part.get("judged") or "none")
    _count(point.rules, part.get("rule"))
    _count(point.fallbacks, fallback(part))
    if "judge" in part or "passages" in part:
        point.agreement.update(agreement(part))
    point.hook.add(entry.get("hook_ms"))
    call = inner(part.get("judge"))
    if call.get("asked") is True:
        point.judge.add(call.get("latency_ms"))
        _spend(point.money, call)


def _spend(money: Counter[str], call: Mapping[str, Any]) -> None:
    if call.get("asked") is not True:
        return
    money["calls"] += 1
    money["failed"] += bool(call.get("error"))
    usage = inner(call.get("usage"))
    for key in ("input_tokens", "output_tokens", "cost_micros", "cached"):
        money[key] += int(number(usage.get(key)) or 0)


def fallback(part: Mapping[str, Any]) -> str:
    """Why a point had to do without a judge's answer: ``error:timeout``, ``breaker``, ``budget`` …; else ""."""
    reason = named(part.get("reason"))
    return reason if reason.startswith("error:") or reason in (*REFUSALS, "timeout") else ""


def agreement(part: Mapping[str, Any]) -> Counter[str]:
    """How a judge's word stands to the rules': "agreed", "lifted" (the rules saw something, the judge nothing), "raised"
    (the other way round), "unsure".  Empty where no judge answered.

    A point that is asked about passages counts each of them, by the side of one half that its probability is on.
    """
    found: Counter[str] = Counter()
    thresholds = inner(part.get("thresholds"))
    passages = part.get("passages")
    for passage in passages if isinstance(passages, list) else ():
        p, score = number(inner(passage).get("judge")), number(inner(passage).get("score"))
        if p is not None and score is not None:
            flagged = score >= _or(thresholds.get("mark"), _MARK)
            found["agreed" if flagged == (p >= 0.5) else "lifted" if flagged else "raised"] += 1
    p = number(inner(answers_of(part).get("asked")).get("p"))
    if p is None:
        return found
    rules = part.get("rules")
    hits = [inner(rule) for rule in rules] if isinstance(rules, list) else []
    stops = any(hit.get("severity") in ("ask", "deny") and hit.get("mode") != "shadow" for hit in hits)
    judged = part.get("judged") in STOPS
    if part.get("source") == "judge" and judged != stops:
        found["raised" if judged else "lifted"] += 1
    elif stops and p > _or(thresholds.get("no"), _NO):
        found["unsure"] += 1  # not sure, or the user asked for it and something else kept the question standing
    else:
        found["agreed"] += 1
    return found


def _or(value: object, otherwise: float) -> float:
    found = number(value)
    return otherwise if found is None else found


def _count(counted: Counter[str], value: object) -> None:
    if isinstance(value, str) and value in counted:
        counted[value] += 1
    elif name := named(value):
        counted[name if name in counted or len(counted) < MAX_NAMES else OTHERS] += 1


def _spread(spread: Spread) -> dict[str, float | int]:
    """``{"n", "p50", "p95", "p99"}``, each right to one per cent; only "n" of nothing."""
    known = [(name, spread.quantile(share)) for name, share in _QUANTILES]
    return {"n": spread.count, **{name: float(f"{value:.3g}") for name, value in known if value is not None}}


def _plain(counted: Counter[str]) -> dict[str, int]:
    """Most first."""
    return {name: number for name, number in sorted(counted.items(), key=lambda one: (-one[1], one[0])) if number}
