"""What a report shows, added up in one pass over the entries: a gigabyte of ledger makes a summary of some hundred KB.

Nothing in an entry is trusted to be what it should: a number that is none counts as missing, a name is cut, and what
there are too many different ones of goes under ``OTHERS``.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .labels import Label
from .read import STOPS, points_of
from .truth import answers_of, should_stop

QUIET = ("context", "none", "allow")
OTHERS = "(others)"
REFUSALS = ("breaker", "budget")  # calls that were not made
MAX_NAMES = 400  # different rules, judges, tools … that are told apart
MAX_TEXT = 600  # characters kept of a text
NEWEST = 40  # stops that are shown one by one
GAP = 30 * 60  # seconds without a failure that end an outage
MAX_OUTAGES = 60
MAX_HOURS = 50_000  # nearly six years of them
MAX_PAIRS = 100_000  # labelled probabilities that are kept
_HOUR = re.compile(r"\d{4}-\d\d-\d\dT\d\d", re.ASCII)
STEP = 1.02  # a spread's classes are this far apart: a quantile is right to one percent
# Questions whose high answer speaks against the call, and those whose high answer speaks for it.
_AGAINST, _FOR = ("limit", "planted"), ("asked",)


class Spread:
    """How long things took, in milliseconds, in classes two percent wide: ``quantile`` without keeping the values."""

    __slots__ = ("classes", "count", "most", "total")

    def __init__(self) -> None:
        self.classes: Counter[int] = Counter()
        self.count = 0
        self.total = 0.0
        self.most = 0.0

    def add(self, value: object) -> None:
        """Count one time; what is no number of milliseconds (up to a day) is not counted."""
        found = number(value)
        if found is None or not 0 <= found <= 86_400_000:
            return
        self.classes[round(math.log(max(found, 0.01), STEP))] += 1
        self.count += 1
        self.total += found
        self.most = max(self.most, found)

    def quantile(self, share: float) -> float | None:
        """The time that ``share`` (0 to 1) of them stay within, None without any."""
        left = max(1, math.ceil(self.count * share))
        for step in sorted(self.classes):
            left -= self.classes[step]
            if left <= 0:
                return min(STEP**step, self.most)
        return None


@dataclass(frozen=True)
class Example:
    """One stop for a person to look at: ``did`` is the decision, ``told`` what it became where the host can't say it."""

    id: str
    at: str
    host: str
    tool: str
    project: str
    point: str
    rule: str
    did: str
    told: str
    said: str
    targets: tuple[str, ...]
    label: str


@dataclass
class Rule:
    """A rule's part: ``stops`` by decision, ``shadow`` what it would have stopped, ``let_run`` stops that a person let
    run (the same call again, or by its code), ``good`` and ``bad`` labels, ``last`` when and ``said`` with what reason."""

    stops: Counter[str] = field(default_factory=Counter)
    shadow: int = 0
    let_run: int = 0
    good: int = 0
    bad: int = 0
    last: str = ""
    said: str = ""


@dataclass
class PointPart:
    """A point's part, of the events that it had a say in: ``judged`` by decision (in shadow too), ``acted`` how often it
    did it, ``modes`` it ran in."""

    events: int = 0
    judged: Counter[str] = field(default_factory=Counter)
    acted: int = 0
    asked: int = 0
    failed: int = 0
    modes: Counter[str] = field(default_factory=Counter)


@dataclass
class JudgePart:
    """What one judge was asked and cost: ``cost`` in micro-dollars of the ``priced`` calls that reported one."""

    calls: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0
    priced: int = 0
    time: Spread = field(default_factory=Spread)


@dataclass(frozen=True)
class Outage:
    """Failures of one kind with no pause of more than GAP between them: ISO times, how many."""

    kind: str
    first: str
    last: str
    count: int


@dataclass(frozen=True)
class ByHand:
    """What a person did to the gate: ISO time, which command, the rule it was about or ""."""

    at: str
    command: str
    rule: str


@dataclass
class Summary:
    """All that the page needs.  ``hours`` maps an hour (``2026-11-30T09``) to its events by decision, ``troubles`` to
    its failures by kind, ``spent`` to its micro-dollars; ``pairs`` maps a question to (p, whether stopping was right)."""

    events: int = 0
    first: str = ""
    last: str = ""
    decisions: Counter[str] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    projects: set[str] = field(default_factory=set)
    hours: dict[str, Counter[str]] = field(default_factory=dict)
    troubles: dict[str, Counter[str]] = field(default_factory=dict)
    spent: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    outages: deque[Outage] = field(default_factory=lambda: deque(maxlen=MAX_OUTAGES))
    rules: dict[str, Rule] = field(default_factory=dict)
    points: dict[str, PointPart] = field(default_factory=dict)
    judges: dict[str, JudgePart] = field(default_factory=dict)
    by_hand: deque[ByHand] = field(default_factory=lambda: deque(maxlen=NEWEST))
    newest: deque[Example] = field(default_factory=lambda: deque(maxlen=NEWEST))
    hook: Spread = field(default_factory=Spread)
    judge: Spread = field(default_factory=Spread)
    good: int = 0
    bad: int = 0
    probabilities: int = 0
    pairs: dict[str, list[tuple[float, bool]]] = field(default_factory=dict)


def summarise(entries: Iterable[Mapping[str, Any]], labels: Mapping[str, Label] | None = None) -> Summary:
    """Add up ``entries`` (``read.entries``, oldest first) with what a person said about them (``labels.labels``)."""
    left = dict(labels or {})  # a label counts once, however often its line stands in the ledger
    return summarise_labelled((entry, left.pop(text(entry.get("id")), None)) for entry in entries)


def summarise_labelled(entries: Iterable[tuple[Mapping[str, Any], Label | None]]) -> Summary:
    """The same for entries that come with their label (``parquet.entries``)."""
    made = Summary()
    for entry, label in entries:
        _add(made, entry, label)
    return made


def number(value: object) -> float | None:
    """``value`` as a finite number, None when it is none (true and false are none)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def text(value: object, most: int = MAX_TEXT) -> str:
    """``value`` as a text of at most ``most`` characters, "" when it is none."""
    if not isinstance(value, str):
        return ""
    return value if len(value) <= most else f"{value[:most]}…"


def named(value: object) -> str:
    return text(value, 120)


def inner(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def judge_call(points: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The event's one call, made or refused: points that share it each carry it."""
    for one in points:
        call = inner(one.get("judge"))
        if call.get("asked") is True or inner(call.get("error")).get("kind") in REFUSALS:
            return call
    return {}


def failures(entry: Mapping[str, Any], points: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Each kind of failure in an event once: ``error:timeout``, ``breaker``, ``off`` …"""
    said = [entry.get("reason"), *(one.get("reason") for one in points)]
    kinds = [named(one) for one in said]
    yield from dict.fromkeys(k for k in kinds if k.startswith("error:") or k in (*REFUSALS, "timeout", "off"))


def probabilities(one: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """(question, how likely by that answer the event was one to stop), 0 to 1, for what one point did."""
    point = named(one.get("point"))
    for name, answer in answers_of(one).items():
        p = number(inner(answer).get("p"))
        if p is not None and 0 <= p <= 1 and name in (*_AGAINST, *_FOR):
            yield f"{point}.{name}", p if name in _AGAINST else 1 - p
    passages = one.get("passages")
    for key, shown in (("score", "score of the passage"), ("judge", "judge on the passage")):
        found = [number(inner(part).get(key)) for part in passages] if isinstance(passages, list) else []
        sure = [p for p in found if p is not None and 0 <= p <= 1]
        if sure:
            yield f"{point}, {shown}", max(sure)


def _kept(book: Mapping[str, object], name: str) -> str:
    return name if name in book or len(book) < MAX_NAMES else OTHERS


def _add(made: Summary, entry: Mapping[str, Any], label: Label | None) -> None:
    at = text(entry.get("asked_at"), 40)
    if entry.get("origin") == "cli":  # a person's command, no event
        about = inner(entry.get("permit")) or inner(entry.get("exception"))
        made.by_hand.append(ByHand(at, named(entry.get("event")), named(about.get("rule"))))
        return
    points = points_of(entry)
    subject = inner(entry.get("subject"))
    decision = entry.get("decision")
    decision = decision if decision in STOPS or decision in QUIET else "none"
    hour = at[:13] if _HOUR.fullmatch(at[:13]) and moment(at) is not None else ""
    if hour not in made.hours and len(made.hours) >= MAX_HOURS:
        hour = ""
    made.events += 1
    made.decisions[decision] += 1
    if hour:
        made.first = min(made.first or at, at)
        made.last = max(made.last, at)
        made.hours.setdefault(hour, Counter())[decision] += 1
    for book, value in ((made.hosts, entry.get("host")), (made.tools, subject.get("tool")), (made.policies, entry.get("policy"))):  # fmt: skip
        if isinstance(value, str) and value:
            book[_kept(book, named(value))] += 1
    for names, value in ((made.sessions, subject.get("session")), (made.projects, subject.get("project"))):
        if isinstance(value, str) and value and len(names) < MAX_PAIRS:
            names.add(named(value))
    made.hook.add(entry.get("hook_ms"))
    _failures(made, entry, points, hour, at)
    _call(made, judge_call(points), hour)
    if label is not None:
        made.good += label.label == "good"
        made.bad += label.label == "bad"
    truth = should_stop(entry, label) if label is not None else {}
    for one in points:
        if one.get("reason") != "out-of-scope":
            _point(made, entry, one, subject, at, label)
            point = text(one.get("point"))
            for name, p in probabilities(one):
                made.probabilities += 1
                pairs = made.pairs.setdefault(_kept(made.pairs, name), [])
                if point in truth and len(pairs) < MAX_PAIRS:
                    pairs.append((p, truth[point]))


def _point(
    made: Summary,
    entry: Mapping[str, Any],
    one: Mapping[str, Any],
    subject: Mapping[str, Any],
    at: str,
    label: Label | None,
) -> None:
    name = named(one.get("point"))
    part = made.points.setdefault(_kept(made.points, name), PointPart())
    part.events += 1
    part.modes[named(one.get("mode"))] += 1
    call, reason = inner(one.get("judge")), one.get("reason")
    part.asked += call.get("asked") is True
    part.failed += isinstance(reason, str) and (reason.startswith("error:") or reason in REFUSALS)
    judged = one.get("judged")
    if judged not in STOPS:
        part.judged["context" if judged == "context" else "none"] += 1
        return
    part.judged[judged] += 1
    part.acted += one.get("acted") is True
    by = named(one.get("rule")) or f"{named(one.get('source')) or 'no'} alone ({name})"
    rule = made.rules.setdefault(_kept(made.rules, by), Rule())
    example = _example(entry, one, subject, at, by, label)
    if one.get("mode") == "shadow":
        rule.shadow += 1
    else:
        rule.stops[judged] += 1
        made.newest.append(example)
    rule.last = max(rule.last, at)
    rule.said = example.said or rule.said
    rule.let_run += entry.get("told") in ("let run before", "permit")
    if label is not None:
        rule.good += label.label == "good"
        rule.bad += label.label == "bad"


def _example(
    entry: Mapping[str, Any],
    one: Mapping[str, Any],
    subject: Mapping[str, Any],
    at: str,
    rule: str,
    label: Label | None,
) -> Example:
    findings = one.get("findings")
    targets = [
        _target(part) for part in (findings if isinstance(findings, list) else [])[:24] if isinstance(part, dict)
    ]
    passages = one.get("passages")
    for part in (passages if isinstance(passages, list) else [])[:4]:
        if isinstance(part, dict) and part.get("withheld"):  # its words stay where only a person looks: ledger show
            rules = part.get("rules")
            targets.append("order: " + ", ".join(named(one) for one in (rules if isinstance(rules, list) else [])[:6]))
    return Example(
        id=named(entry.get("id")),
        at=at,
        host=named(entry.get("host")),
        tool=named(subject.get("tool")),
        project=text(subject.get("project"), 200),
        point=named(one.get("point")),
        rule=rule,
        did=named(one.get("judged")),
        told=named(entry.get("told")),
        said=text(one.get("said")),
        targets=tuple(dict.fromkeys(target for target in targets if target))[:4],
        label=label.label if label is not None else "",
    )


def _target(finding: Mapping[str, Any]) -> str:
    """A finding in a few words: what happens to what, or what is run."""
    if finding.get("path"):
        return f"{named(finding.get('effect'))} {text(finding.get('path'), 200)}"
    if finding.get("words") or finding.get("effect") == "run":
        return f"{named(finding.get('program'))} {text(finding.get('words'), 200)}".strip()
    kind = named(finding.get("target"))
    return f"{named(finding.get('effect'))} {'' if kind == 'none' else kind}".strip()


def _failures(made: Summary, entry: Mapping[str, Any], points: list[dict[str, Any]], hour: str, at: str) -> None:
    for kind in failures(entry, points):
        kind = _kept(made.reasons, kind)
        made.reasons[kind] += 1
        if not hour:
            continue
        made.troubles.setdefault(hour, Counter())[kind] += 1
        place = next((k for k in range(len(made.outages) - 1, -1, -1) if made.outages[k].kind == kind), -1)
        if place >= 0 and _seconds(made.outages[place].last, at) <= GAP:
            one = made.outages[place]
            made.outages[place] = Outage(kind, one.first, max(at, one.last), one.count + 1)
        else:
            made.outages.append(Outage(kind, at, at, 1))


def _call(made: Summary, call: Mapping[str, Any], hour: str) -> None:
    if not call:
        return
    name = " ".join(filter(None, (named(call.get("provider") or call.get("judge")), named(call.get("model")))))
    part = made.judges.setdefault(_kept(made.judges, name or "(no name)"), JudgePart())
    kind = named(inner(call.get("error")).get("kind"))
    if call.get("asked") is not True:
        part.refused[kind] += 1
        return
    part.calls += 1
    if kind:
        part.errors[_kept(part.errors, kind)] += 1
    part.time.add(call.get("latency_ms"))
    made.judge.add(call.get("latency_ms"))
    usage = inner(call.get("usage"))
    part.tokens_in += _whole(usage.get("input_tokens"))
    part.tokens_out += _whole(usage.get("output_tokens"))
    if number(usage.get("cost_micros")) is not None:
        part.priced += 1
        part.cost += _whole(usage.get("cost_micros"))
        if hour:
            made.spent[hour] += _whole(usage.get("cost_micros"))


def _whole(value: object) -> int:
    found = number(value)
    return int(found) if found is not None and 0 <= found <= 1e12 else 0


def moment(at: str) -> datetime.datetime | None:
    """An entry's time, None when it is none."""
    try:
        found = datetime.datetime.fromisoformat(at)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


def _seconds(earlier: str, later: str) -> float:
    before, after = moment(earlier), moment(later)
    return abs((after - before).total_seconds()) if before and after else math.inf
