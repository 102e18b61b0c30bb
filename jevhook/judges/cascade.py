"""Several judges, one after the other: the cheap one first, the next only for what is still open.

A tier is a judge with what it is trusted on.  In the order of the tiers: questions that need what a tier is not trusted
on are not put to it (a tier without any is passed over, the next one is still asked); a certain answer is kept; an
uncertain one is kept too, but the question goes on to the next tier, whose answer replaces it.  The last word counts
whatever it is.  Inside a hook only one of the tiers may be across the network: the first that has a question to answer.

The capabilities: ``classify`` (say what one text is), ``relate`` (a relation between texts), ``rate`` (an ordered
rubric), ``meta`` (judge the request itself).  A question that nobody declared needs ``rate`` if it is a score, else
``classify``.
"""

from __future__ import annotations

import time

from . import JudgeReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..systemone.wire import Answer, JudgeError, Question, Warning_
    from . import Judge

CAPABILITIES = ("classify", "relate", "rate", "meta")
NO, YES, MIN_CHOICE = 0.2, 0.8, 0.6


class Tier:
    """A judge and its profile.

    ``network``     whether asking it leaves the process
    ``trust``       the capabilities it is trusted on; None for all
    ``no`` ``yes``  a noul strictly between them is uncertain
    ``min_choice``  a choice whose picked option has less is uncertain; without a distribution it is taken at its word
    """

    __slots__ = ("judge", "min_choice", "network", "no", "trust", "yes")

    def __init__(
        self,
        judge: Judge,
        *,
        network: bool,
        trust: frozenset[str] | None = None,
        no: float | None = None,
        yes: float | None = None,
        min_choice: float | None = None,
    ) -> None:
        self.judge = judge
        self.network = network
        self.trust = trust
        self.no = NO if no is None else no
        self.yes = YES if yes is None else yes
        self.min_choice = MIN_CHOICE if min_choice is None else min_choice

    def trusted(self, capability: str) -> bool:
        return self.trust is None or capability in self.trust

    def uncertain(self, answer: Answer) -> bool:
        """Whether the next tier should be asked too.  A score never is."""
        if answer["type"] == "noul":
            return bool(self.no < answer["p"] < self.yes)
        if answer["type"] == "choice":
            p = answer["probabilities"].get(answer["value"])
            return p is not None and bool(p < self.min_choice)
        return False


class Cascade:
    """The tiers as one judge.  ``network_calls``: how many of them across the network may be asked at most."""

    __slots__ = ("_calls", "_capabilities", "_tiers", "name")

    def __init__(self, tiers: list[Tier], *, network_calls: int, capabilities: Mapping[str, str] | None = None) -> None:
        self._tiers = tiers
        self._calls = network_calls
        self._capabilities: Mapping[str, str] = capabilities or {}
        names = [tier.judge.name for tier in tiers]
        self.name = names[0] if len(names) == 1 else f"cascade({'>'.join(names)})"

    def _needs(self, name: str, question: Question) -> str:
        return self._capabilities.get(name) or ("rate" if question["type"] == "score" else "classify")

    def ask(self, state: Any, questions: Mapping[str, Question], deadline: float) -> JudgeReply:
        """The last word on each question; see ``Judge``.  ``deadline`` bounds all tiers together.

        Each answer says in ``judge`` whose it is.  ``error`` is the last tier's failure when nothing was answered at
        all; a failure beside answers is a warning: ``{"type": "tier-failed", "question": "", "judge", "kind"}``.
        Further warnings: untrusted (no tier may be asked this), not-asked (the only one that may would be one call or
        one deadline too many), and the last tier's own for each open question.
        """
        started = time.monotonic()
        reply = JudgeReply(self.name, "cascade")
        open_ = dict(questions)
        why: dict[str, Warning_] = {name: {"type": "untrusted", "question": name} for name in questions}
        failures: list[tuple[str, JudgeError]] = []
        calls = self._calls
        for tier in self._tiers:
            asked = {n: q for n, q in open_.items() if tier.trusted(self._needs(n, q))}
            if not asked:
                continue
            left = deadline - (time.monotonic() - started)
            if tier.network:
                if not calls or left <= 0:
                    for name in asked:
                        if why[name]["type"] == "untrusted":
                            why[name] = {"type": "not-asked", "question": name}
                    continue
                calls -= 1
            said = tier.judge.ask(state, asked, left)
            report: dict[str, Any] = {"judge": said.judge, "asked": len(asked), "latency_ms": said.latency_ms}
            if said.error is not None:
                report["error"] = said.error.kind
                failures.append((said.judge, said.error))
            report["kept"] = self._take(tier, asked, said, reply, open_, why)
            reply.tiers.append(report)
            if said.model and not reply.model:
                reply.model, reply.provider = said.model, said.provider
            for unit, count in said.usage.items():
                reply.usage[unit] = reply.usage.get(unit, 0) + count
            if not open_:
                break
        reply.warnings += [warning for name, warning in why.items() if name not in reply.answers]
        if failures and not reply.answers:
            reply.error = failures[-1][1]
        else:
            for judge, error in failures:
                failed = {"type": "tier-failed", "question": "", "judge": judge, "kind": str(error.kind)}
                reply.warnings.append(failed)
        reply.latency_ms = int((time.monotonic() - started) * 1000)
        return reply

    def _take(
        self,
        tier: Tier,
        asked: Mapping[str, Question],
        said: JudgeReply,
        reply: JudgeReply,
        open_: dict[str, Question],
        why: dict[str, Warning_],
    ) -> int:
        """Move what ``said`` answers into ``reply``; returns how many questions are settled by it."""
        for name in asked:
            why[name] = {"type": "missing-answer", "question": name}
        for warning in said.warnings:
            if warning["question"] in asked:
                why[warning["question"]] = warning
            else:
                reply.warnings.append(warning)
        kept = 0
        for name, answer in said.answers.items():
            if name not in asked:
                continue
            reply.answers[name] = {**answer, "judge": said.judge}
            if not tier.uncertain(answer):
                del open_[name]
                kept += 1
        return kept
