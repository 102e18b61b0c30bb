"""The evidence for making a point, a rule or a question act: what the ledger, labels and kept scorecards show.

What is asked for stands in the policy's ``[promotion]``.  Shares are compared as they are, and only where there are
enough cases to call them a figure (``figures.ENOUGH``); the interval beside each says what it may be off by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import points
from ..points import risk
from .figures import ENOUGH, ENOUGH_ANSWERS, Share, share_of
from .labels import Label
from .read import STOPS, points_of
from .truth import answers_of, says_stop, should_stop, would_stop


@dataclass(frozen=True)
class Target:
    """``kind`` point, rule or question; ``name`` as the policy names it; ``point`` whose events are looked at."""

    kind: str
    name: str
    point: str

    @property
    def table(self) -> str:
        return "modes" if self.kind == "point" else "rule_modes"


def target(name: str, rules: Iterable[str]) -> Target | None:
    """What ``name`` is: a decision point, a question of tool.risk, or one of ``rules``; None for none of them."""
    if name in points.MODULES:
        return Target("point", name, name)
    if name.startswith(f"{risk.ID}.") and name.removeprefix(f"{risk.ID}.") in risk.CAPABILITIES:
        return Target("question", name, risk.ID)
    return Target("rule", name, risk.ID) if name in rules else None


@dataclass
class Seen:
    """What the ledger shows.

    ``events`` that the point judged in its present version, ``spoke`` those in which the target would have stopped (a
    question: gave a sure answer), ``checked`` labelled ones among those that the target spoke about, ``right`` of them,
    ``wrong`` stops among labelled stops (``stops``), ``first`` and ``last`` day.
    """

    events: int = 0
    spoke: int = 0
    checked: int = 0
    right: int = 0
    stops: int = 0
    wrong: int = 0
    first: str = ""
    last: str = ""

    @property
    def agreement(self) -> Share:
        return Share(self.right, self.checked)

    @property
    def wrong_stops(self) -> Share:
        return Share(self.wrong, self.stops)

    @property
    def false_alarms(self) -> float | None:
        """The share of all events that were stopped wrongly, by the labelled stops; None where too few are labelled."""
        labelled = self.wrong_stops
        if self.events < ENOUGH or not (labelled.enough or self.stops == self.spoke):
            return None
        return labelled.rate * self.spoke / self.events


def look(
    entries: Iterable[Mapping[str, Any]], labels: Mapping[str, Label], what: Target, yes: float, no: float
) -> Seen:
    """What ``entries`` (the hook's) and ``labels`` show about ``what``.  ``yes``, ``no``: where an answer is sure."""
    seen, left = Seen(), dict(labels)  # a label counts once, however often its line stands in the ledger
    version = points.load(what.point).VERSION
    for entry in entries:
        part = next((one for one in points_of(entry) if one.get("point") == what.point), None)
        if part is None or part.get("version") != version:
            continue
        answer: bool | None = None
        if what.kind == "question":
            name = what.name.removeprefix(f"{risk.ID}.")
            answers = answers_of(part)
            if name not in answers:
                continue
            answer = says_stop(name, answers[name], yes, no)
        day = str(entry.get("asked_at") or "")[:10]
        seen.events += 1
        seen.first, seen.last = min(seen.first or day, day), max(seen.last, day)
        if what.kind == "point":
            stops = part.get("judged") in STOPS
        elif what.kind == "rule":
            stops = would_stop(part, what.name)
        else:
            stops = answer is True
        spoke = answer is not None if what.kind == "question" else stops
        seen.spoke += spoke
        label = left.pop(str(entry.get("id")), None)
        truth = should_stop(entry, label).get(what.point) if label is not None else None
        if truth is None or (what.kind != "point" and not spoke):
            continue
        seen.checked += 1
        seen.right += stops == truth
        if stops:
            seen.stops += 1
            seen.wrong += not truth
    return seen


@dataclass(frozen=True)
class Asked:
    """One thing that is asked for: ``name`` its key in ``[promotion]``, whether it is ``met``, what was ``found``."""

    name: str
    met: bool
    wanted: str
    found: str


def asked(what: Target, seen: Seen, cards: Sequence[Mapping[str, Any]], wanted: Mapping[str, float]) -> list[Asked]:
    """Each piece of evidence that ``wanted`` (the policy's ``[promotion]``) asks for."""
    told = [
        Asked("events", seen.events >= wanted["events"], f"at least {wanted['events']:g}", f"{seen.events}"),
        Asked("labels", seen.checked >= wanted["labels"], f"at least {wanted['labels']:g}", f"{seen.checked}"),
        Asked(
            "agreement",
            seen.agreement.enough and seen.agreement.rate >= wanted["agreement"],
            f"at least {100 * wanted['agreement']:g} %",
            seen.agreement.said() if seen.checked else "nothing is labelled",
        ),
    ]
    if what.kind != "question":  # its wrong answers are the other side of its agreement
        rate = seen.false_alarms
        found = f"not enough ({seen.stops} of {seen.spoke} stops in {seen.events} events are labelled)"
        if rate is not None:
            found = (
                f"{100 * rate:.2f} % of {seen.events} events ({seen.wrong} of {seen.stops} labelled stops were wrong)"
            )
        met = rate is not None and rate <= wanted["false_alarms"]
        told.append(Asked("false_alarms", met, f"at most {100 * wanted['false_alarms']:g} %", found))
    count = int(wanted["scorecards"])
    if count:
        told.append(_in_a_row(what, cards, count, wanted))
    return told


def _in_a_row(what: Target, cards: Sequence[Mapping[str, Any]], count: int, wanted: Mapping[str, float]) -> Asked:
    judged = [(card, why) for card in cards if (why := fault(card, what, wanted)) is not None]
    good = 0
    for _, why in reversed(judged):
        if why:
            break
        good += 1
    found = f"{good} in a row" if good else "none"
    if judged and judged[-1][1]:
        found += f"; the last, of {judged[-1][0]['date'][:10]}: {judged[-1][1]}"
    elif not judged:
        found += f": no kept card has enough rows for {what.name} (`jevhook score DATA --keep`)"
    asks = f"{count} in a row, of different rows"
    return Asked("scorecards", good >= count, asks, found)


def fault(card: Mapping[str, Any], what: Target, wanted: Mapping[str, float]) -> str | None:
    """Why ``card`` speaks against ``what``; "" when it speaks for it; None when it says too little about it."""
    if what.kind == "question":
        fit = card["calibration"].get(what.name)
        if fit is None or fit["n"] < ENOUGH_ANSWERS or fit["brier"] is None:
            return None
        return "" if fit["brier"] <= wanted["brier"] else f"Brier {fit['brier']:.3f}, allowed: {wanted['brier']:g}"
    if what.kind == "point":
        cell = card["points"].get(what.name)
        if cell is None:
            return None
        recall, alarms = share_of(cell["recall"]), share_of(cell["false_alarms"])
    else:
        hits = card["rules"].get(what.name)
        if hits is None:
            return None
        recall, alarms = None, Share(hits["wrong"], card["false_alarms"]["n"])
    if not alarms.enough or (recall is not None and not recall.enough):
        return None
    if alarms.rate > wanted["false_alarms"]:
        return f"{alarms.said()} of harmless rows stopped"
    if recall is not None and recall.rate < wanted["recall"]:
        return f"{recall.said()} of harmful rows stopped"
    return ""
