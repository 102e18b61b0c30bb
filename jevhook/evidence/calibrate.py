"""Fitting a point's two thresholds (a sure yes, a sure no) to labelled decisions whose judge's answers are in the ledger.

A quarter of the sessions is held out, by a digest of the session's name: the same sessions every time, and never a
session on both sides, because calls of one session are alike.  Fitted on the rest: of the pairs (yes, no) that miss no
more of what should be stopped than the thresholds of now, the one with the fewest false alarms; among equals fewer
misses, then nearest to now.  What it is worth is told on the held-out part alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..event import Decision, Event
from ..points import injection, risk
from .figures import ENOUGH, Change, Share, paired
from .labels import Label
from .read import points_of
from .shapes import objects, table, words
from .truth import answers_of, should_stop

YES = tuple(round(0.5 + 0.05 * k, 2) for k in range(10))  # 0.5 to 0.95
NO = tuple(round(0.05 * k, 2) for k in range(1, 11))  # 0.05 to 0.5
HELD_OUT = 4  # every so many-th session


POINTS = (risk.ID, injection.ID)


@dataclass(frozen=True)
class Sample:
    """One labelled decision: whether it should have stopped, and whether it would with these (yes, no)."""

    session: str
    should_stop: bool
    stopped: Callable[[float, float], bool]

    @property
    def held_out(self) -> bool:
        return hashlib.sha256(self.session.encode("utf-8", "replace")).digest()[0] % HELD_OUT == 0


def call(
    rules_said: str, answers: Mapping[str, Any], *, requests: int, unrecoverable: bool = False, agent: bool = False
) -> Callable[[float, float], bool]:
    """How tool.risk decides about a call that the rules alone had answered with ``rules_said``."""

    def stopped(yes: float, no: float) -> bool:
        if rules_said == "deny":
            return True
        said = Decision(rules_said, unrecoverable=unrecoverable)  # type: ignore[arg-type]
        event = Event("", "before-tool", "", agent="x" if agent else "")
        return risk.combine(said, dict(answers), ["asked"] * requests, event, yes, no).outcome != "none"

    return stopped


def result(passages: Iterable[Mapping[str, Any]], withhold: float) -> Callable[[float, float], bool]:
    """How tool.injection decides about a result with these recorded passages."""
    told = []
    for passage in passages:
        score, p = passage.get("score"), passage.get("judge")
        if isinstance(score, (int, float)):
            told.append((float(score), float(p) if isinstance(p, (int, float)) else None))

    def weight(score: float, p: float | None, yes: float, no: float) -> float:
        if p is None or score >= 1.0:  # what a rule has found is asked of nobody
            return score
        return 1.0 if p >= yes else min(score, p) if p <= no else score

    return lambda yes, no: any(weight(score, p, yes, no) >= withhold for score, p in told)


def samples(
    point: str,
    entries: Iterable[Mapping[str, Any]],
    labels: Mapping[str, Label],
    rules: Mapping[str, Any],
    withhold: float = 1.0,
) -> list[Sample]:
    """The labelled decisions of ``point`` among ``entries`` that a judge has answered about.

    ``rules``: the compiled rules by id; ``withhold``: tool.injection's threshold of that name.
    """
    found, left = [], dict(labels)  # a label counts once, however often its line stands in the ledger
    for entry in entries:
        label = left.pop(str(entry.get("id")), None)
        part = next((one for one in points_of(entry) if one.get("point") == point), None)
        truth = should_stop(entry, label).get(point) if label is not None else None
        if part is None or truth is None:
            continue
        subject = table(entry.get("subject"))
        how = _of_call(part, subject, rules) if point == risk.ID else _of_result(part, withhold)
        if how is not None:
            found.append(Sample(str(subject.get("session") or entry.get("id")), truth, how))
    return found


def _of_call(
    part: Mapping[str, Any], subject: Mapping[str, Any], rules: Mapping[str, Any]
) -> Callable[[float, float], bool] | None:
    answers = answers_of(part)
    if not answers:
        return None
    silent, lifted = words(part["judge"].get("shadow")), words(part.get("excepted"))
    hits = [hit for hit in objects(part.get("rules")) if hit.get("mode") == "active"]
    severities = [hit.get("severity") for hit in hits if str(hit.get("id")) not in lifted]
    requests = part["judge"].get("user_requests")
    return call(
        next((word for word in ("deny", "ask") if word in severities), "none"),
        {name: answer for name, answer in answers.items() if name not in silent and isinstance(answer, dict)},
        requests=min(requests, 3) if type(requests) is int else 0,
        unrecoverable=any(rules.get(str(hit.get("id")), {}).get("unrecoverable") for hit in hits),
        agent=subject.get("actor") == "sub-agent",
    )


def _of_result(part: Mapping[str, Any], withhold: float) -> Callable[[float, float], bool] | None:
    passages = objects(part.get("passages"))
    return result(passages, withhold) if any("judge" in one for one in passages) else None


@dataclass(frozen=True)
class Score:
    """``recall`` of what should be stopped, ``false_alarms`` of what should not."""

    recall: Share
    false_alarms: Share


def score(found: Sequence[Sample], yes: float, no: float) -> Score:
    """What these thresholds make of ``found``."""
    stop = [one.stopped(yes, no) for one in found if one.should_stop]
    run = [one.stopped(yes, no) for one in found if not one.should_stop]
    return Score(Share(sum(stop), len(stop)), Share(sum(run), len(run)))


@dataclass(frozen=True)
class Fit:
    """``now`` and ``best`` thresholds (yes, no); ``before`` and ``after`` on the held-out part, with the changes there;
    ``why_not``: why nothing should be written, "" when it may."""

    fitted_on: int
    held_out: int
    now: tuple[float, float]
    best: tuple[float, float]
    before: Score
    after: Score
    recall: Change
    false_alarms: Change
    why_not: str


def fit(found: Sequence[Sample], now: tuple[float, float]) -> Fit:
    """The thresholds that fit ``found`` best, and what they are worth on what was held out."""
    train = [one for one in found if not one.held_out]
    rest = [one for one in found if one.held_out]
    short = too_few(train, rest)
    best = now if short else _best(train, now)
    before, after = score(rest, *now), score(rest, *best)
    why = short
    if not why and best == now:
        why = "the thresholds of now are the best that were tried"
    elif not why and after.recall.k < before.recall.k:
        why = "on the held-out sessions it would miss more of what should be stopped"
    elif not why and after.false_alarms.k > before.false_alarms.k:
        why = "on the held-out sessions it would stop more of what should pass"
    elif not why and after == before:
        why = "on the held-out sessions it changes nothing for the better"
    return Fit(
        len(train), len(rest), now, best, before, after,
        _change([one for one in rest if one.should_stop], now, best),
        _change([one for one in rest if not one.should_stop], now, best),
        why,
    )  # fmt: skip


def too_few(train: Sequence[Sample], rest: Sequence[Sample]) -> str:
    """Why there is not enough to fit on or to measure with; "" when there is."""
    for name, part in (("to fit on", train), ("held out to measure with", rest)):
        stop = sum(one.should_stop for one in part)
        if stop < ENOUGH or len(part) - stop < ENOUGH:
            return (
                f"not enough labelled decisions with a judge's answers {name}: {stop} that should be stopped and "
                f"{len(part) - stop} that should not; {ENOUGH} of each are needed"
            )
    return ""


def _best(train: Sequence[Sample], now: tuple[float, float]) -> tuple[float, float]:
    stands = score(train, *now)
    best, cost = now, (stands.false_alarms.k, -stands.recall.k, 0.0)
    for yes in YES:
        for no in NO:
            made = score(train, yes, no)
            if no > yes or made.recall.k < stands.recall.k:
                continue
            far = round(abs(yes - now[0]) + abs(no - now[1]), 6)
            if (made.false_alarms.k, -made.recall.k, far) < cost:
                best, cost = (yes, no), (made.false_alarms.k, -made.recall.k, far)
    return best


def _change(found: Sequence[Sample], now: tuple[float, float], best: tuple[float, float]) -> Change:
    pairs = [(one.stopped(*now), one.stopped(*best)) for one in found]
    return paired(sum(b and not a for a, b in pairs), sum(a and not b for a, b in pairs), len(pairs))
