"""A recorded event through a policy: what would be decided now, from what was answered then, with no call made.

Three ways, from the most that is known to the least:

- the call itself is there (a transcript, a rollout, a hook event, a ledger entry with its whole state): it is judged as
  the hook would, in the session's order, with a session memory in a throwaway directory;
- a judge's answers to it are in the ledger: they stand in for the call, under the thresholds of this policy.  An answer
  to a question that is worded otherwise by now is none;
- there is only the ledger entry: the rules that spoke then and the answers are scored again.  A rule that is new, or
  that is about another part of the call, can't be seen there.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..decide import Verdict, let_run_before, note_run, was_let_run
from ..event import Decision, Event
from ..hook import call_digest
from ..hosts import load as load_host
from ..jsonio import loads
from ..judges import JudgeReply, choose
from ..points import MODULES
from ..points import load as load_point
from ..policy import Policy
from .bench import Bench, summary
from .history import Past
from .read import STOPS, points_of

Points = list[dict[str, Any]]
MOST_SESSIONS = 4096  # whose last call is remembered
LET_RUN = "let run before"  # in the words of ``decide.let_run_before``
NOTHING: dict[str, Any] = {"decision": "none", "point": None, "rule": None, "reason": "", "output": None}


@dataclass(frozen=True, slots=True)
class Told:
    """What would be decided about one event.

    ``said``    {"decision": none|ask|deny|withhold|trim, "point", "rule", "reason", "output"}
    ``judge``   "recorded" when a recorded answer was used, "new" when a judge would be asked and nothing usable is on
                record, "asked" when one was asked now, "" otherwise
    ``how``     "judged" (the call itself), "scored" (its ledger entry), "unread"
    """

    said: dict[str, Any]
    judge: str = ""
    how: str = "judged"


class Rejudge:
    """One policy for many events of the past; ``folder`` is an empty directory for the sessions' memory.

    ``asking`` lets the policy's own judge be asked where nothing is on record; else no call is made.
    """

    def __init__(self, bench: Bench, folder: str, asking: bool = False) -> None:
        self.bench = bench
        self.asking = asking
        # a state directory of its own: nothing of the user's is read or written through it
        self.memory = {"HOME": folder, "XDG_STATE_HOME": os.path.join(folder, "state")}
        self._last: OrderedDict[tuple[str, str], str] = OrderedDict()

    def judge(self, past: Past, recorded: Points | None = None) -> Told:
        """Raises nothing: an event's trouble must not lose the others.  ``recorded``: the points of its ledger entry."""
        try:
            return self._judge(past, recorded)
        except Exception as wrong:  # the hook would be silent
            return Told({**NOTHING, "reason": f"error: {type(wrong).__name__}"}, how="unread")

    def _judge(self, past: Past, recorded: Points | None) -> Told:
        if past.trouble:
            return Told({**NOTHING, "reason": f"not read: {past.trouble}"}, how="unread")
        if past.entry is not None:
            recorded = points_of(past.entry)
        if past.payload is None or past.by_entry:
            return score(past.entry or {}, self.bench.policy, self.bench.env)
        host = load_host(past.host)
        try:
            event = host.read(past.payload, past.env)
        except ValueError as wrong:
            return Told({**NOTHING, "reason": f"not read: {past.host} event: {wrong}"}, how="unread")
        if event.kind == "other":
            return Told(NOTHING)
        asked = Asked(recorded or [], self.asking)
        ctx = self.bench.context()
        ctx.asks, ctx.choose = True, asked.choose
        if past.requests is not None:
            ctx.requests = list(past.requests)
        memory = None if past.alone or not event.session or self._restarts(event) else self.memory
        ctx.memory = memory
        if memory is None:
            verdict, output = self.bench.decide(event, host, ctx)
            return Told({**summary(verdict), "output": loads(output.stdout) if output.stdout else None}, asked.used)
        if event.kind == "after-tool":
            note_run(event, memory, call_digest)
        ctx.let_run = lambda: was_let_run(event, memory, call_digest)
        verdict, output = self.bench.decide(
            event, host, ctx, lambda one: let_run_before(event, one, memory, call_digest)
        )
        return Told({**said_of(verdict), "output": loads(output.stdout) if output.stdout else None}, asked.used)

    def _restarts(self, event: Event) -> bool:
        """Whether the session's call before had this very id: then these are cases written down, not a session."""
        if event.kind != "before-tool" or not event.call_id:
            return False
        key = (event.host, event.session)
        last = self._last.pop(key, "")
        self._last[key] = event.call_id
        if len(self._last) > MOST_SESSIONS:
            self._last.popitem(last=False)
        return last == event.call_id


def said_of(verdict: Verdict) -> dict[str, Any]:
    """The decision in the words of ``replay --json``; none where the person had let this very call run before."""
    if verdict.decided.outcome == "ask" and verdict.why == LET_RUN:
        return {"decision": "none", "point": verdict.decided.point or None, "rule": verdict.decided.rule, "reason": ""}
    return summary(verdict)


class Recorded:
    """A judge that says what was said before; what was not asked then is without an answer now."""

    __slots__ = ("answers", "asked", "name")

    def __init__(self, answers: Mapping[str, Any], asked: Asked) -> None:
        self.name = "recorded"
        self.answers = answers
        self.asked = asked

    def ask(self, state: Any, questions: Mapping[str, Any], deadline: float) -> JudgeReply:
        """See ``Judge``."""
        found = {name: self.answers[bare] for name in questions if (bare := name.rpartition(":")[2]) in self.answers}
        self.asked.used = "recorded" if len(found) == len(questions) else "new"
        return JudgeReply(self.name, "", answers=found)


class _Nobody:
    name = "embedded"  # the points ask it nothing


class Asked:
    """Who is asked about one event, in the place of ``judges.choose``; ``used`` says what came of it (see ``Told``)."""

    def __init__(self, points: Points, asking: bool) -> None:
        self.points = points
        self.asking = asking
        self.used = ""

    def choose(
        self, settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool, *, point: str = "",
        capabilities: Mapping[str, str] | None = None,
    ) -> tuple[Any, str]:  # fmt: skip
        """As ``judges.choose``."""
        if settings.get("provider") == "none" or settings.get("egress", "redacted") != "redacted":
            return _Nobody(), "the policy lets no content reach a judge"
        answers: dict[str, Any] = {}
        for record in self.points:
            if (record.get("point") == "tool.risk") == (point == "tool.risk"):
                answers |= usable(record)
        if answers:
            return Recorded(answers, self), "recorded"
        chosen, why = choose(settings, env, in_hook and not self.asking, point=point, capabilities=capabilities)
        if chosen is None or chosen.name == "embedded":
            return _Nobody(), why
        if self.asking:
            self.used = "asked"
            return chosen, why
        return Recorded({}, self), "nothing on record"


def usable(record: Mapping[str, Any]) -> dict[str, Any]:
    """The answers in a point's record that are to the questions as they are worded now."""
    judge = record.get("judge")
    answers = judge.get("answers") if isinstance(judge, dict) and not judge.get("error") else None
    if not isinstance(answers, dict) or record.get("point") not in MODULES:
        return {}
    module: Any = load_point(record["point"])
    if record.get("version") != module.VERSION:
        return {}
    if record["point"] == "tool.risk" and record.get("wording") != module.wording_hash():
        return {}
    return {str(name): answer for name, answer in answers.items() if isinstance(answer, dict)}


# -- only the ledger entry ----------------------------------------------------------------------------------------


def score(entry: Mapping[str, Any], policy: Policy, env: Mapping[str, str]) -> Told:
    """What ``policy`` makes of the rules that spoke and the answers that were given then."""
    from ..decide import _outweighs

    best, asked = Decision(), ""
    for record in points_of(entry):
        name = record.get("point")
        if not isinstance(name, str) or name not in MODULES:
            continue
        if policy.mode(name) != "active":
            continue
        if name == "tool.risk":
            decision, used = _risk(entry, record, policy, env)
            asked = used or asked
        elif name == "tool.injection":
            decision = _injection(entry, record, policy)
        else:
            decision = _as_it_was(record)
        if _outweighs(decision.outcome, best.outcome):
            best = decision
    if best.outcome == "ask" and entry.get("told") == LET_RUN:
        best = Decision(point=best.point, rule=best.rule)
    return Told({**summary(Verdict(best, best, [])), "output": None}, asked, "scored")


def _as_it_was(record: Mapping[str, Any]) -> Decision:
    decision = Decision(point=str(record["point"]), rule=_rule(record), source="rules")
    if record.get("judged") in STOPS:
        decision.outcome = record["judged"]
        decision.reason = str(record.get("said") or "")
    return decision


def _rule(record: Mapping[str, Any]) -> str | None:
    rule = record.get("rule")
    return rule if isinstance(rule, str) else None


def _risk(
    entry: Mapping[str, Any], record: Mapping[str, Any], policy: Policy, env: Mapping[str, str]
) -> tuple[Decision, str]:
    from ..points import risk
    from ..policy import rules as compiled
    from ..rules import SEVERITIES, STAKES, Hit
    from ..shell.finding import Finding, Target
    from .history.entries import requests

    table = compiled(policy)["rules"]
    gone = set(record.get("excepted") or ())
    hits: list[Hit] = []
    unknown = False
    for one in record.get("rules") or ():
        rule = table.get(one.get("id")) if isinstance(one, dict) else None
        if rule is None or rule["id"] in gone:
            continue
        mode = policy.rule_modes.get(rule["id"]) or rule.get("mode") or "active"
        if mode != "off":
            hits.append(Hit(rule, _finding(rule, record, Finding, Target), mode))
            unknown = unknown or hits[-1].finding.sure == "unknown"
    hits.sort(key=lambda hit: (-SEVERITIES.index(hit.severity), -STAKES.index(hit.rule["stakes"])))
    decision, _ = risk.decide_by_rules(hits)
    if record.get("said") and decision.rule == _rule(record) and decision.outcome == record.get("judged"):
        decision.reason = str(record["said"])
    if record.get("rephrased") and record.get("source") == "rules" and record.get("judged") in ("ask", "deny"):
        return _as_it_was(record), ""  # an earlier stop of that session decided
    when = policy.judge.get("when", "ask")
    if decision.outcome == "deny" or when == "never":
        return decision, ""
    if when != "always" and decision.outcome != "ask" and not unknown:
        return decision, ""
    asked = Asked([dict(record)], False)
    judge, _ = asked.choose(policy.judge, env, True, point="tool.risk", capabilities=risk.CAPABILITIES)
    if judge.name == "embedded":
        return decision, ""
    modes = {name: policy.rule_modes.get(f"tool.risk.{name}", "active") for name in risk.CAPABILITIES}
    wanted = {name: question for name, question in risk.questions().items() if modes[name] != "off"}
    answers = {name: said for name, said in judge.ask({}, wanted, 0).answers.items() if modes[name] == "active"}
    subject = entry.get("subject")
    agent = isinstance(subject, dict) and subject.get("actor") == "sub-agent"
    event = Event(str(entry.get("host") or ""), "before-tool", "", agent="sub-agent" if agent else "")
    yes, no = policy.threshold("tool.risk.yes", 0.8), policy.threshold("tool.risk.no", 0.2)
    return risk.combine(decision, answers, [""] * (requests(entry) or 0), event, yes, no), asked.used


def _finding(rule: Mapping[str, Any], record: Mapping[str, Any], finding: Any, target: Any) -> Any:
    """The recorded finding that the rule may have been about, for its sentence."""
    effects = rule["effect"] if isinstance(rule["effect"], (list, tuple)) else [rule["effect"]]
    for found in record.get("findings") or ():
        if isinstance(found, dict) and found.get("effect") in effects:
            where = target(str(found.get("target") or "none"), str(found.get("path") or ""))
            sure, program = str(found.get("sure") or "certain"), str(found.get("program") or "")
            return finding(
                str(found["effect"]), where, sure=sure, program=program, detail=str(found.get("detail") or "")
            )
    return finding(str(next(iter(effects))))


def _injection(entry: Mapping[str, Any], record: Mapping[str, Any], policy: Policy) -> Decision:
    """Which of the recorded passages would be taken out under these thresholds."""
    from ..points import injection

    withhold = policy.threshold("tool.injection.withhold", injection._WITHHOLD)
    yes, no = (
        policy.threshold("tool.injection.yes", injection._YES),
        policy.threshold("tool.injection.no", injection._NO),
    )
    then = record.get("thresholds")
    before = then.get("withhold") if isinstance(then, dict) else None
    for passage in record.get("passages") or ():
        found = passage.get("score") if isinstance(passage, dict) else None
        if not isinstance(found, (int, float)):
            continue
        p, value = passage.get("judge"), float(found)
        if isinstance(p, (int, float)):
            value = max(1.0, value) if p >= yes else min(value, p) if p <= no and not passage.get("rules") else value
        # one that stood above the line then and was let be may not be taken out at all
        may = passage.get("withheld") is True or not isinstance(before, (int, float)) or found < before
        if value >= withhold and may:
            decision = _as_it_was(record)
            decision.outcome = "none" if entry.get("event") == "PostToolUseFailure" else "withhold"
            decision.reason = decision.reason or "A passage of this result gives orders to the agent that reads it."
            return decision
    return Decision(point="tool.injection", source="rules")
