"""decide: one event, one policy, one decision, one record.

Which points speak, in which mode; what an inexpressible ask becomes; what the ledger will say.  No input or output
of its own beyond what the points do.
"""

from __future__ import annotations

from .event import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .event import Event
    from .points import Context
    from .policy import Policy

_STRENGTH = {"none": 0, "allow": 0, "context": 1, "trim": 2, "ask": 3, "withhold": 3, "deny": 4}


class Verdict:
    """What the hook prints (``decision``) and what the ledger keeps (``points``: one entry a point).

    ``told`` differs from what was decided where the host cannot express it; ``decided`` keeps the latter.
    """

    __slots__ = ("decided", "decision", "points", "why")

    def __init__(self, decision: Decision, decided: Decision, points: list[dict[str, Any]], why: str = "") -> None:
        self.decision = decision
        self.decided = decided
        self.points = points
        self.why = why


def decide(event: Event, policy: Policy, ctx: Context, expressible: frozenset[str]) -> Verdict:
    """Every point that has a say about ``event``.  ``expressible``: the outcomes the host knows for it."""
    from .points import MODULES, load

    best = Decision()
    records: list[dict[str, Any]] = []
    for name in MODULES:
        mode = policy.mode(name)
        point = None
        if mode != "off":
            point = load(name)
            if not point.READY:
                mode = "off"
        if mode == "off" or point is None:
            if _concerns(name, event):
                records.append({"point": name, "mode": "off"})
            continue
        if not point.applies(event):
            continue
        ctx.mode = mode
        result = point.judge(event, ctx)
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
        if mode == "active" and _STRENGTH[judged.outcome] >= _STRENGTH[best.outcome] and (judged.outcome != "none" or best.outcome == "none"):
            best = judged
    told, why = express(best, policy, expressible)
    return Verdict(told, best, records, why)


def _concerns(name: str, event: Event) -> bool:
    """Whether a point that is off would have been about this kind of event (it is not loaded to find out)."""
    return (name == "tool.risk") == (event.kind == "before-tool") and event.kind != "other"


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
            reason = f"{decision.reason} Nobody can be asked here, so this is stopped: do not work around it; tell the person what you wanted to do and why."
            return _as(decision, "deny", reason), "nobody can be asked: deny"
        if wish == "context" and "context" in expressible:
            return _as(decision, "context", f"Take care: {decision.reason}"), "nobody can be asked: context"
        return _as(decision, "none", ""), "nobody can be asked: note"
    if outcome in ("withhold", "trim") and "context" in expressible:
        return _as(decision, "context", decision.reason), f"the host cannot {outcome}"
    return _as(decision, "none", ""), f"the host cannot {outcome}"


def _as(decision: Decision, outcome: str, reason: str) -> Decision:
    return Decision(
        outcome,  # type: ignore[arg-type]
        point=decision.point,
        rule=decision.rule,
        severity=decision.severity,
        reason=reason,
        source=decision.source,
        unrecoverable=decision.unrecoverable,
        replacement=decision.replacement,
        note=decision.note,
    )


def let_run_before(event: Event, verdict: Verdict, env: Mapping[str, str], digest: str) -> Verdict:
    """An ask that the person let run is not asked again for the same call in that session."""
    if verdict.decision.outcome != "ask" or not digest:
        return verdict
    from .state.session import recall, remember

    for entry in recall(env, event, "let-run"):
        if entry.get("call") == digest:
            quiet = Decision("none", point=verdict.decision.point, rule=verdict.decision.rule, source="rules", note="the person let this call run before")
            return Verdict(quiet, verdict.decided, verdict.points, "let run before")
    remember(env, event, "asked", call=digest, call_id=event.call_id)
    return verdict


def note_run(event: Event, env: Mapping[str, str], digest: str) -> None:
    """After the tool: when the gate had asked about this very call, the person has let it run."""
    if not digest:
        return
    from .state.session import recall, remember

    for entry in recall(env, event, "asked"):
        if entry.get("call") == digest and (not entry.get("call_id") or entry.get("call_id") == event.call_id):
            remember(env, event, "let-run", call=digest)
            return
