"""decide: one event, one policy, one decision, one record.

Which points speak, in which mode; what an inexpressible ask becomes; what the ledger will say.  No input or output
of its own beyond what the points do.
"""

from __future__ import annotations

from .event import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .event import Event, Mode, Outcome, Severity
    from .points import Context, Point, PointResult
    from .policy import Policy

_STRENGTH = {"none": 0, "allow": 0, "context": 1, "trim": 2, "ask": 3, "withhold": 3, "deny": 4}


class Verdict:
    """What the hook prints (``decision``) and what the ledger keeps (``points``: one entry a point).

    ``decision`` differs from what was ``decided`` where the host cannot express it (``why``).  ``troubles``: what went
    wrong inside a point.
    """

    __slots__ = ("decided", "decision", "points", "troubles", "why")

    def __init__(self, decision: Decision, decided: Decision, points: list[dict[str, Any]], why: str = "") -> None:
        self.decision = decision
        self.decided = decided
        self.points = points
        self.why = why
        self.troubles: list[str] = []


def decide(event: Event, policy: Policy, ctx: Context, expressible: frozenset[str]) -> Verdict:
    """Every point that has a say about ``event``.  ``expressible``: the outcomes the host knows for it."""
    from .points import KINDS, MODULES, load

    best = Decision()
    records: list[dict[str, Any]] = []
    troubles: list[str] = []
    speaking: list[tuple[str, Mode, Point]] = []
    for name in MODULES:
        if KINDS.get(name, event.kind) != event.kind:
            continue
        mode = policy.mode(name)
        point = None
        if mode != "off":
            point = load(name)
            if not point.READY:
                mode = "off"
        if mode == "off" or point is None:
            records.append({"point": name, "mode": "off"})
        elif point.applies(event):
            speaking.append((name, mode, point))
    for (name, mode, point), result in zip(speaking, _results(speaking, event, policy, ctx, troubles), strict=True):
        judged = result.judged
        if judged.outcome == "none" and policy.allow == "grant":
            judged = _granted(judged, result.record)
        record: dict[str, Any] = {"point": name, "version": point.VERSION, "mode": mode, "source": judged.source}
        record["judged"] = judged.outcome
        record["acted"] = mode == "active" and judged.outcome != "none"
        record["outcome"] = judged.outcome if mode == "active" else "none"
        if judged.rule:
            record["rule"] = judged.rule
        if judged.reason:
            record["said"] = judged.reason
        if judged.note:
            record["note"] = judged.note
        if mode == "shadow":
            record["reason"] = "shadow"
        record.update(result.record)
        records.append(record)
        if mode == "active" and _outweighs(judged.outcome, best.outcome):
            best = judged
    if best.outcome in ("withhold", "trim") and ctx.texts:
        from .points.result import rebuild

        best.replacement = rebuild(event, ctx.texts)
    told, why = express(best, policy, expressible)
    verdict = Verdict(told, best, records, why)
    verdict.troubles = [*troubles, *ctx.troubles]
    return verdict


def _results(
    speaking: list[tuple[str, Mode, Point]], event: Event, policy: Policy, ctx: Context, troubles: list[str]
) -> list[PointResult]:
    """What each point says, in order.  Those after the tool share one pass and one call."""
    if event.kind == "after-tool" and speaking:
        from .points.after import judge_together

        try:
            return judge_together([(point, mode) for _, mode, point in speaking], event, ctx)  # type: ignore[misc]
        except Exception as wrong:
            troubles.append(f"after the tool: {type(wrong).__name__}: {wrong}")
            ctx.texts = {}
            return [_failed(name, policy) for name, _, _ in speaking]
    results = []
    for name, mode, point in speaking:
        ctx.mode = mode
        try:
            results.append(point.judge(event, ctx))
        except Exception as wrong:  # one point's failure is not another's, and its own is the policy's to answer
            troubles.append(f"{name}: {type(wrong).__name__}: {wrong}")
            results.append(_failed(name, policy))
    return results


def _failed(name: str, policy: Policy) -> PointResult:
    """What a point that raised stands for: nothing, unless the policy wants an outage to ask or to deny."""
    from .points import PointResult

    wish = policy.failure(name)
    if wish == "open":
        return PointResult(Decision(point=name, source="fallback"), {"reason": "error:internal"})
    reason = "The gate could not judge this call and the policy does not let such a call pass unseen."
    severity: Severity = "high" if wish == "deny" else "medium"
    failed = Decision(wish, point=name, severity=severity, reason=reason, source="fallback")  # type: ignore[arg-type]
    failed.unrecoverable = True  # for all that is known
    return PointResult(failed, {"reason": "error:internal"})


def _outweighs(new: Outcome, old: Outcome) -> bool:
    """Whether ``new`` replaces ``old``; of two that weigh the same the later speaks, but nothing is no word."""
    return _STRENGTH[new] >= _STRENGTH[old] and (new != "none" or old == "none")


def _granted(judged: Decision, record: dict[str, Any]) -> Decision:
    """Explicit allow, by policy only, and only for what is proven read-only."""
    if record.get("read_only") and not judged.unrecoverable:
        return Decision("allow", point=judged.point, source="rules", reason="read-only")
    return judged


def express(decision: Decision, policy: Policy, expressible: frozenset[str]) -> tuple[Decision, str]:
    """The decision as this host can say it, and a word on what it was turned into."""
    outcome = decision.outcome
    if outcome == "none" or outcome in expressible:
        return decision, ""
    if outcome == "ask":
        wish = policy.ask_fallback.get(decision.severity, "note")
        if wish == "deny" and "deny" in expressible:
            reason = (
                f"{decision.reason} Nobody can be asked here, so this is stopped: do not work around it; "
                "tell the person what you wanted to do and why."
            )
            return with_outcome(decision, "deny", reason), "nobody can be asked: deny"
        if wish == "context" and "context" in expressible:
            return with_outcome(decision, "context", f"Take care: {decision.reason}"), "nobody can be asked: context"
        return with_outcome(decision, "none", ""), "nobody can be asked: note"
    if outcome in ("withhold", "trim") and "context" in expressible:
        return with_outcome(decision, "context", decision.reason), f"the host cannot {outcome}"
    return with_outcome(decision, "none", ""), f"the host cannot {outcome}"


def with_outcome(decision: Decision, outcome: Outcome, reason: str) -> Decision:
    """A copy of ``decision`` with another outcome and reason."""
    return Decision(
        outcome,
        point=decision.point,
        rule=decision.rule,
        severity=decision.severity,
        reason=reason,
        source=decision.source,
        unrecoverable=decision.unrecoverable,
        replacement=decision.replacement,
        note=decision.note,
    )


def was_let_run(event: Event, env: Mapping[str, str], digest: Callable[[Event, Mapping[str, str], str], str]) -> bool:
    """Whether the gate asked about this very call before in this session and the person let it run.

    ``digest(event, env, cwd)`` names the call; without a local key there is none and every ask is asked.
    """
    from .state.session import recall

    earlier = recall(env, event, "let-run")
    if not earlier:
        return False
    call = digest(event, env, event.cwd)
    return bool(call) and any(entry.get("call") == call for entry in earlier)


def let_run_before(
    event: Event, verdict: Verdict, env: Mapping[str, str], digest: Callable[[Event, Mapping[str, str], str], str]
) -> Verdict:
    """An ask that the person let run is not asked again for the same call in that session."""
    if verdict.decision.outcome != "ask":
        return verdict
    if was_let_run(event, env, digest):
        quiet = Decision(
            "none",
            point=verdict.decision.point,
            rule=verdict.decision.rule,
            source="rules",
            note="the person let this call run before",
        )
        return Verdict(quiet, verdict.decided, verdict.points, "let run before")
    call = digest(event, env, event.cwd)
    if call:
        from .state.session import remember

        remember(env, event, "asked", call=call, what=digest(event, env, ""), call_id=event.call_id)
    return verdict


def let_run_once(
    event: Event, verdict: Verdict, policy: Policy, env: Mapping[str, str], record: dict[str, Any]
) -> Verdict:
    """A stop that a person has permitted for this very call is lifted, once; a denial that a person could permit
    names its code.  Never for what cannot be undone.  ``record`` is the ledger line.  Raises nothing: what fails here
    leaves the stop as it is.
    """
    if verdict.decided.unrecoverable or policy.permit_minutes <= 0:
        return verdict
    try:
        import time

        from .state import permits

        call, now, stopped = permits.bound_to(event, env), time.time(), verdict.decision
        taken = permits.take(event, call, env, now, policy.permit_minutes * 60)
        if taken is not None:
            if event.call_id:
                from .state.session import remember

                remember(env, event, "asked", call_id=event.call_id, permit=True)  # note_run ends it
            record["permit"] = {"code": taken.get("code"), "used": True}
            quiet = Decision("none", point=stopped.point, rule=stopped.rule, source="rules", note="permitted once")
            return Verdict(quiet, verdict.decided, verdict.points, "permit")
        code = permits.offer(event, call, stopped.rule, env, now) if stopped.outcome == "deny" else ""
        if not code:
            return verdict
        record["permit"] = {"code": code, "used": False}
        told = f"{stopped.reason} The person can let exactly this run once: jevhook allow-once {code}".strip()
        return Verdict(with_outcome(stopped, "deny", told), verdict.decided, verdict.points, verdict.why)
    except Exception:
        return verdict


def note_run(event: Event, env: Mapping[str, str], digest: Callable[[Event, Mapping[str, str], str], str]) -> None:
    """After the tool: when the gate had asked about this very call, the person has let it run.  A permit of it ends.

    The directory is not compared where the call has an id: a ``cd`` in it has moved the session's by now.  The input
    is: another hook may have changed it after our question.
    """
    from .state.session import recall, remember

    asked = recall(env, event, "asked")
    if not asked:
        return
    what, call = digest(event, env, ""), digest(event, env, event.cwd)
    for entry in reversed(asked):
        if event.call_id and entry.get("permit") and entry.get("call_id") == event.call_id:
            from .state.permits import over

            over(event, env)
            return
        same = entry.get("call_id") == event.call_id if event.call_id else entry.get("call") == call
        if same and what and entry.get("what") == what:
            remember(env, event, "let-run", call=entry.get("call"))
            return
