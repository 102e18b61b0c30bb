"""Review: should a person look at what a delegate handed back?  Judged by its shape alone: nothing of it leaves.

The judge sees who it was, how it ended, how long the output and the work were, and the acceptance criteria in the
caller's own words.  A flag is advice; what is not answered is "na", which is no approval.
"""

from __future__ import annotations

from typing import Any

from . import bounded
from .request import check, rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .request import Q
    from .verdict import Result

BAD_INPUT = "REVIEW_INPUT_INVALID"
KINDS = ("ok", "empty", "error")
FLAG_ABOVE = 0.65  # only an affirmative predicate flags: the band of verify
LEVELS = (
    "Nothing usable can have come back.",
    "What came back can hardly meet what was asked.",
    "It may meet part of what was asked.",
    "It has the shape of a complete answer to what was asked.",
)


def prepare(request: Any) -> tuple[dict[str, Any], list[Q], int]:
    """(state, questions, how many levels quality has) for ``{"delegate", "kind", "outputChars", "durationMs"?,
    "criteria"?, "levels"?}``.

    ``kind`` is ok, empty or error; ``criteria`` up to four lines of 120 characters.  Raises ``bounded.Invalid``:
    REVIEW_INPUT_INVALID or CRITERIA_INVALID.
    """
    known = ("delegate", "kind", "outputChars", "durationMs", "criteria", "levels")
    request = bounded.fields(request, BAD_INPUT, "review", known)
    kind = request.get("kind")
    if kind not in KINDS:
        raise bounded.Invalid(BAD_INPUT, "kind", f"must be one of {', '.join(KINDS)}")
    duration = request.get("durationMs")
    criteria: list[str] = []
    if request.get("criteria") is not None:
        code = "CRITERIA_INVALID"
        given = bounded.items(request["criteria"], code, "criteria", 0, 4)
        criteria = [bounded.criterion(each, code, f"criteria[{at}]") for at, each in enumerate(given)]
    state = {
        "delegate": bounded.name(request.get("delegate"), BAD_INPUT, "delegate"),
        "kind": kind,
        "output_chars": bounded.count(request.get("outputChars"), BAD_INPUT, "outputChars"),
        "duration_ms": "na" if duration in (None, "na") else bounded.count(duration, BAD_INPUT, "durationMs"),
        "criteria_count": len(criteria),
    }
    levels = list(LEVELS)
    if request.get("levels") is not None:
        levels = bounded.levels(request["levels"], BAD_INPUT, "levels")
    asked = ""
    if criteria:
        asked = " What was asked of it: " + " ".join(f"({at}) {each}" for at, each in enumerate(criteria, 1))
    questions = [
        rate(f"How good can what `delegate` handed back be, going by its shape?{asked}", levels, id="quality"),
        check(
            f"Should a person look at what `delegate` handed back before it is used?{asked}",
            true="It ended in an error or empty, or it is too short or came too quickly for what was asked.",
            false="It ended well, with an output and a duration that go with what was asked.",
            id="human",
        ),
    ]
    return state, questions, len(levels)


def outcome(levels: int, result: Result) -> dict[str, Any]:
    """``{"verdict", "quality", "levels", "p", "hint"?}``: recorded, flag-for-review (p above 0.65) or na.

    ``quality`` is 0 to ``levels`` - 1; it and ``p`` are None where there is no answer.
    """
    human = result["human"]
    p = human.answer if isinstance(human.answer, float) else None
    said: dict[str, Any] = {
        "verdict": "na" if p is None else "flag-for-review" if p > FLAG_ABOVE else "recorded",
        "quality": result["quality"].answer,
        "levels": levels,
        "p": p,
    }
    if p is None:
        said["hint"] = human.hint
    return said
