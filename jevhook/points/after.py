"""After the tool: both points share one pass over the result and one System One call.

tool.injection first, tool.admission on what its rules leave; then the call, with the questions of both; then each
settles in that order.  What is handed on is rebuilt once, in the tool's own shape.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from ..event import Event
    from . import Context, PointResult

    class Prepared(Protocol):
        """What a point wants to know about a result: ``questions`` by id, and its part of the ``state``."""

        questions: dict[str, dict[str, Any]]
        state: dict[str, Any]

    class AfterPoint(Protocol):
        ID: str
        RIDES: bool  # in shadow its questions are no reason for a call

        def prepare(self, event: Event, ctx: Context) -> Prepared | None: ...

        def settle(self, prepared: Any, answers: dict[str, dict[str, Any]], ctx: Context) -> PointResult: ...


def judge_together(points: list[tuple[AfterPoint, str]], event: Event, ctx: Context) -> list[PointResult]:
    """One result a point, in order.  ``points`` come with their mode; those that are off are not among them.

    A point in shadow may ask too: its questions ride in the same request, so that nothing another point sees changes.
    """
    from ..event import Decision
    from . import PointResult

    prepared: list[Any] = []
    for point, mode in points:
        ctx.mode = mode
        prepared.append(point.prepare(event, ctx))
    answers, call = _ask(points, prepared, event, ctx)
    results: list[PointResult] = []
    for at, (point, mode) in enumerate(points):
        ctx.mode = mode
        if prepared[at] is None:
            results.append(PointResult(Decision(point=point.ID), {"reason": "out-of-scope"}))
            continue
        mine = {key[len(f"{at}:") :]: value for key, value in answers.items() if key.startswith(f"{at}:")}
        result = point.settle(prepared[at], mine, ctx)
        if prepared[at].questions and call:
            # with what was answered, so that another threshold can be tried on it later without a call
            result.record.setdefault("judge", {**call, "answers": mine} if mine else call)
            if "error" in call:
                kind = call["error"]["kind"]
                result.record["reason"] = kind if kind in ("breaker", "budget") else f"error:{kind}"
        results.append(result)
    return results


def _ask(
    points: list[tuple[AfterPoint, str]], prepared: list[Any], event: Event, ctx: Context
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The answers by prefixed id, and the call's part of the ledger line ({} when nobody was asked)."""
    questions: dict[str, dict[str, Any]] = {}
    asking = ""
    reason = False  # whether somebody's question is one to make a call for
    when = ctx.policy.judge.get("when", "ask")
    state: dict[str, Any] = {"tool": "".join(c for c in event.tool if c.isalnum() or c in "_-.")[:64]}
    for at, part in enumerate(prepared):
        if part is None or not part.questions:
            continue
        point, mode = points[at]
        # Sending excerpts of long outputs somewhere, and waiting for it, is no way to change nothing: such questions of
        # a point in shadow ride along with another's, or go where the policy wants everything asked.
        reason = reason or mode == "active" or when == "always" or not point.RIDES
        asking = asking or point.ID  # the route of the first point that asks is the one taken
        for name, question in part.questions.items():
            questions[f"{at}:{name}"] = question
        state.update(part.state)
    if not questions or not ctx.asks or ctx.asked or when == "never":
        return {}, {}
    if not reason:
        return {}, {"asked": False, "why": "in shadow it asks only where another point asks, or with when = always"}
    from ..judges import choose
    from ..text.redact import redact_value

    chosen, why = (ctx.choose or choose)(ctx.policy.judge, ctx.env, True, point=asking)
    if chosen is None or chosen.name == "embedded":
        return {}, {"asked": False, "why": why}
    from ..judges.guarded import REFUSALS, guard
    from .egress import level

    chosen = guard(chosen, ctx.env)
    if level(ctx.policy.judge, chosen) != "redacted":
        return {}, {"asked": False, "why": "egress allows no content to leave"}
    ctx.asked = True
    reply = chosen.ask(redact_value(state), questions, float(ctx.policy.judge.get("deadline", 4.0)))
    call: dict[str, Any] = {
        "asked": reply.error is None or reply.error.kind not in REFUSALS,
        "judge": reply.judge,
        "provider": reply.provider,
        "model": reply.model,
        "latency_ms": round(reply.latency_ms, 1),
        "usage": reply.usage,
        "questions": len(questions),
        "answered": len(reply.answers),
        "warnings": reply.warnings[:12],
    }
    if reply.error is not None:
        call["error"] = {"kind": reply.error.kind, "status": reply.error.status, "message": reply.error.message}
    return reply.answers, call
