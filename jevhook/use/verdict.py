"""Verdicts: what one question came to, how sure that is, and whether somebody else should decide.

A verdict as JSON::

    {"id", "type", "answer", "confidence", "confidenceFrom"?, "escalate", "reason"?, "hint"?, "distribution"?, "legend"?}

``reason`` and ``hint`` stand there exactly when ``escalate`` is true.  ``confidenceFrom`` says whether the service
stated the confidence (``reported``) or it is ours (``estimated``: |p - 0.5| * 2 for a noul, else the margin between the
two most probable).  The two are on different scales, so each has its own threshold.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Literal

    Reason = Literal["writing", "open_ended", "oversized", "unsure", "unreachable"]
    Source = Literal["reported", "estimated"]
    Answer = float | str | None

REPORTED, ESTIMATED = 0.5, 0.4  # a confidence that reaches this is acted upon


class Verdict:
    """See the module.  ``answer``: P(yes) for a noul, a label for a choice, a level index (often between two) for a
    score, None when there is none.  ``distribution``: label or level index (a text) -> probability.  ``legend``: level
    index (a text) -> the level."""

    __slots__ = (
        "answer",
        "confidence",
        "confidence_from",
        "distribution",
        "escalate",
        "hint",
        "id",
        "legend",
        "reason",
        "type",
    )

    def __init__(
        self,
        id: str,
        type: str,
        answer: Answer,
        confidence: float,
        *,
        confidence_from: Source | None = None,
        reason: Reason | None = None,
        hint: str = "",
        distribution: Mapping[str, float] | None = None,
        legend: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.type = type
        self.answer = answer
        self.confidence = confidence
        self.confidence_from = confidence_from
        self.escalate = reason is not None
        self.reason = reason
        self.hint = hint
        self.distribution: Mapping[str, float] = distribution or {}
        self.legend: Mapping[str, Any] = legend or {}

    def __repr__(self) -> str:
        return f"Verdict({self.json()})"

    def json(self) -> dict[str, Any]:
        """The verdict as it is printed."""
        made: dict[str, Any] = {"id": self.id, "type": self.type, "answer": self.answer, "confidence": self.confidence}
        if self.confidence_from is not None:
            made["confidenceFrom"] = self.confidence_from
        made["escalate"] = self.escalate
        if self.escalate:
            made |= {"reason": self.reason, "hint": self.hint}
        if self.distribution:
            made["distribution"] = dict(self.distribution)
        if self.legend:
            made["legend"] = dict(self.legend)
        return made


class Result:
    """What a request came to.

    ``verdicts``    in the order of the questions
    ``backend``     the judge's name (``typesafe/jev-latest``, ``embedded``), "" when there is none
    ``via``         how it was chosen, one sentence
    ``model``       as the service itself named it, "" when nobody was asked
    ``latency_ms``  whole milliseconds of all calls together
    ``usage``       ``{"input_tokens", "output_tokens", …}`` as far as known
    """

    __slots__ = ("backend", "latency_ms", "model", "usage", "verdicts", "via")

    def __init__(
        self,
        verdicts: tuple[Verdict, ...],
        backend: str = "",
        via: str = "",
        model: str = "",
        latency_ms: int = 0,
        usage: Mapping[str, int] | None = None,
    ) -> None:
        self.verdicts = verdicts
        self.backend = backend
        self.via = via
        self.model = model
        self.latency_ms = latency_ms
        self.usage: Mapping[str, int] = usage or {}

    def __repr__(self) -> str:
        return f"Result({self.json()})"

    @property
    def answers(self) -> dict[str, Answer]:
        """Answers by id; where an id stands twice, the first question's."""
        found: dict[str, Answer] = {}
        for verdict in self.verdicts:
            found.setdefault(verdict.id, verdict.answer)
        return found

    @property
    def escalated(self) -> bool:
        """Whether any verdict is."""
        return any(verdict.escalate for verdict in self.verdicts)

    @property
    def answered(self) -> bool:
        """Whether any question has an answer."""
        return any(verdict.answer is not None for verdict in self.verdicts)

    def __getitem__(self, id: str) -> Verdict:
        for verdict in self.verdicts:
            if verdict.id == id:
                return verdict
        raise KeyError(id)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def json(self) -> dict[str, Any]:
        """The result as it is printed."""
        return {
            "answers": self.answers,
            "verdicts": [verdict.json() for verdict in self.verdicts],
            "escalated": self.escalated,
            "backend": self.backend,
            "via": self.via,
            "model": self.model,
            "latencyMs": self.latency_ms,
            "usage": dict(self.usage),
        }


class Route:
    """Who should do something: ``to`` is jev or llm; ``reason`` says why not jev."""

    __slots__ = ("reason", "to")

    def __init__(self, to: Literal["jev", "llm"], reason: Reason | None = None) -> None:
        self.to = to
        self.reason = reason

    def __repr__(self) -> str:
        return f"Route(to={self.to!r}, reason={self.reason!r})"


def route(*, produces_content: bool = False, enumerable: bool = True) -> Route:
    """Whether a judge can do it at all.  No key, no call.

    ``produces_content``: text has to be written.  ``enumerable``: the possible answers can be listed.
    """
    if produces_content:
        return Route("llm", "writing")
    return Route("jev") if enumerable else Route("llm", "open_ended")


# ------------------------------------------------------------------------------------------------ from answers


def handed_back(id: str, type_: str, reason: Reason, hint: str) -> Verdict:
    """A question that has no answer."""
    return Verdict(id, type_, None, 0.0, reason=reason, hint=hint)


def judged(id: str, question: Mapping[str, Any], answer: Mapping[str, Any], threshold: float | None) -> Verdict:
    """The verdict for an answer as ``wire.read_answers`` gives it.  ``threshold`` None: the source's own."""
    type_ = question["type"]
    value, confidence, source = answer["value"], *_confidence(answer)
    if type_ == "noul":
        value = min(1.0, max(0.0, value))
    legend = {str(index): level for index, level in enumerate(question["criteria"])} if type_ == "score" else {}
    needed = threshold if threshold is not None else REPORTED if source == "reported" else ESTIMATED
    unsure = confidence < needed
    hint = ""
    if unsure:
        said = f"{value:g}" if isinstance(value, float) else repr(value)
        hint = (
            f"The judge says {said} with {source} confidence {confidence:g}, below the threshold {needed:g}: "
            "treat it as a prior and decide yourself."
        )
    return Verdict(
        id,
        type_,
        value,
        confidence,
        confidence_from=source,
        reason="unsure" if unsure else None,
        hint=hint,
        distribution=dict(answer.get("probabilities") or {}),
        legend=legend,
    )


def _confidence(answer: Mapping[str, Any]) -> tuple[float, Source]:
    """What the service reported always wins: a threshold is set for its scale.  Ours else."""
    if answer["type"] == "noul":
        return round(abs(min(1.0, max(0.0, answer["p"])) - 0.5) * 2, 4), "estimated"
    reported = answer.get("reported_confidence")
    if reported is not None:
        return float(reported), "reported"
    best = sorted((answer.get("probabilities") or {}).values(), reverse=True)
    margin = 0.0 if not best else best[0] - (best[1] if len(best) > 1 else 0.0)
    return round(margin, 4), "estimated"
