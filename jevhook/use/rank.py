"""Rank: which of a few candidates fits best, and how well.  One call; a winner and its fit, never an order.

Bounded: 2 to 8 candidates, a state of 12,000 characters.  More candidates are a tournament, and each of its rounds is
a call that its caller has to want.  An escape option stands among the candidates, for without
one a judge picks somebody even when nobody fits (measured by others: 0.950 of the unanswerable questions right with
it, 0.000 without).
"""

from __future__ import annotations

from typing import Any

from . import bounded
from .request import pick, rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .request import Q
    from .verdict import Result

NONE = "none-of-these"
BAD_INPUT = "RANK_INPUT_INVALID"
LEVELS = (
    "None of the candidates has to do with the task.",
    "The best candidate touches the task but would not do it.",
    "The best candidate would do part of it, or do it with a detour.",
    "The best candidate does what the task asks for.",
    "The best candidate is made for exactly this task.",
)


def prepare(request: Any) -> tuple[dict[str, Any], list[Q], int]:
    """(state, questions, how many levels the fit has) for ``{"state", "candidates": [{"id", "description"}], "levels"?}``.

    Raises ``bounded.Invalid``: RANK_INPUT_INVALID, STATE_INVALID or CANDIDATE_INVALID.
    """
    request = bounded.fields(request, BAD_INPUT, "rank", ("state", "candidates", "levels"))
    task = bounded.state(request.get("state"))
    code = "CANDIDATE_INVALID"
    candidates: dict[str, str] = {}
    for at, each in enumerate(bounded.items(request.get("candidates"), code, "candidates", 2, 8)):
        field = f"candidates[{at}]"
        each = bounded.entry(each, code, field, ("id", "description"))
        name = bounded.name(each.get("id"), code, f"{field}.id")
        if name in candidates or name == NONE:
            raise bounded.Invalid(code, f"{field}.id", f"{name} is there already")
        candidates[name] = bounded.text(each.get("description"), code, f"{field}.description")
    levels = list(LEVELS)
    if request.get("levels") is not None:
        levels = bounded.levels(request["levels"], BAD_INPUT, "levels")
    options = {
        **candidates,
        NONE: "None of the others would do what the task asks for, or the task does not say enough.",
    }
    questions = [
        pick("Which of the candidates does best what `task` asks for?", options, id="winner"),
        rate("How well does the best one of `candidates` do what `task` asks for?", levels, id="fit"),
    ]
    # A list, for a key such as "token" would have its description redacted.
    listed = [{"id": name, "description": text} for name, text in candidates.items()]
    return {"task": task, "candidates": listed}, questions, len(levels)


def outcome(levels: int, result: Result) -> dict[str, Any]:
    """``{"winner", "winnerFit", "levels", "verdict", "confidence", "confidenceFrom"?, "escalate", "reason"?, "hint"?,
    "distribution"?}``.

    ``winner``     the candidate's id, None when nobody fits or nobody answered
    ``winnerFit``  0 to ``levels`` - 1, None without a winner or an answer
    ``verdict``    winner, none (nobody fits), or na (no answer)
    ``escalate``   whether the winner is only a prior: somebody else should decide
    """
    said = result["winner"].json()
    label = said.pop("answer")
    found = label is not None and label != NONE
    head = {
        "winner": label if found else None,
        "winnerFit": result["fit"].answer if found else None,
        "levels": levels,
        "verdict": "winner" if found else "na" if label is None else "none",
    }
    del said["id"], said["type"]
    return head | said
