"""Fitting tool.risk's thresholds to labelled decisions whose judge's answers are in the ledger.

A quarter of the sessions is held out, by a digest of the session's name: the same sessions every time, and never a
session on both sides, because calls of one session are alike.  Fitted on the rest: of the pairs (yes, no) that miss no
more of what should be stopped than the thresholds of now, the one with the fewest false alarms; among equals fewer
misses, then nearest to now.  What it is worth is told on the held-out part alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..event import Decision, Event
from ..points import risk
from .figures import ENOUGH, Change, Share, paired
from .labels import Label
from .read import points_of
from .truth import answers_of, should_stop

YES = tuple(round(0.5 + 0.05 * k, 2) for k in range(10))  # 0.5 to 0.95
NO = tuple(round(0.05 * k, 2) for k in range(1, 11))  # 0.05 to 0.5
HELD_OUT = 4  # every so many-th session


@dataclass(frozen=True)
class Sample:
    """One labelled decision: what the rules alone said, the answers, and whether it should have been stopped."""

    session: str
    rules_said: str
    unrecoverable: bool
    answers: dict[str, Any]
    requests: int
    agent: bool
    should_stop: bool

    @property
    def held_out(self) -> bool:
        return hashlib.sha256(self.session.encode("utf-8", "replace")).digest()[0] % HELD_OUT == 0

    def stopped(self, yes: float, no: float) -> bool:
        """Whether the gate stops this call with these thresholds."""
        if self.rules_said == "deny":
            return True
        said = Decision(self.rules_said, unrecoverable=self.unrecoverable)  # type: ignore[arg-type]
        event = Event("", "before-tool", "", agent="x" if self.agent else "")
        return risk.combine(said, self.answers, ["asked"] * self.requests, event, yes, no).outcome != "none"


def samples(
    entries: Iterable[Mapping[str, Any]], labels: Mapping[str, Label], rules: Mapping[str, Any]
) -> list[Sample]:
    """The labelled decisions among ``entries`` with a judge's answers.  ``rules``: the compiled rules by id."""
    found = []
    for entry in entries:
        label = labels.get(str(entry.get("id")))
        part = next((one for one in points_of(entry) if one.get("point") == risk.ID), None)
        if label is None or part is None:
            continue
        answers, truth = answers_of(part), should_stop(entry, label).get(risk.ID)
        if not answers or truth is None:
            continue
        subject = entry.get("subject") or {}
        silent = set(part["judge"].get("shadow") or ())
        hits = [hit for hit in part.get("rules") or () if hit.get("mode") == "active"]
        lifted = set(part.get("excepted") or ())
        severities = {hit.get("severity") for hit in hits if hit.get("id") not in lifted}
        requests = part["judge"].get("user_requests")
        found.append(
            Sample(
                str(subject.get("session") or entry.get("id")),
                next((word for word in ("deny", "ask") if word in severities), "none"),
                any(rules.get(str(hit.get("id")), {}).get("unrecoverable") for hit in hits),
                {name: answer for name, answer in answers.items() if name not in silent and isinstance(answer, dict)},
                requests if type(requests) is int else 0,
                subject.get("actor") == "sub-agent",
                truth,
            )
        )
    return found


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
    elif not why and after.false_alarms.k >= before.false_alarms.k and after.recall.k == before.recall.k:
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
