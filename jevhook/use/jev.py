"""``Jev``: asks the judge that the configuration names, and turns what comes back into verdicts.

::

    from jevhook import Jev, check, pick, rate

    jev = Jev()
    result = jev.judge(log, {"green": check("Is the build green?"), "kind": pick("What failed?", ["tests", "lint"])})
    if result["green"].escalate: ...      # result.answers["green"] is P(yes)
    result = await jev.ajudge(log, [rate("How bad is it?", ["fine", "a warning", "an error", "an outage"])])

Whatever asks a judge outside the hook is built on ``Jev.judge``: it screens the questions, redacts secrets, keeps what
may not leave on this machine, asks as few times as the provider's cap on questions allows, through the same circuit
breaker and budget as the hook, and never raises for what a service does.  A consumer that does its own arithmetic
(ranks, bands) reads ``verdict.answer`` and ``verdict.distribution`` and minds only the reason ``unreachable``.
"""

from __future__ import annotations

import _thread
import os

from .. import judges
from ..systemone import wire
from . import request as asked
from . import verdict as said
from .request import Question, Request, RequestError
from .verdict import Result, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..judges import Judge, JudgeReply
    from ..policy import Policy
    from .gate import Gated
    from .items import Items

TIMEOUT = 10.0  # seconds for one request; a model that slept takes 2-3 s to its first answer
RETRIES = 2


class Jev:
    """A judge, chosen as the commands choose it: your or the managed config, the skill record, JEV_BACKEND, a key.

    ``backend``    a provider's or a configured tier's name instead ("auto" or None: find one); the managed config's word
                   stands above it
    ``model``      the model to ask instead of the provider's or the config's
    ``threshold``  the confidence below which a verdict escalates; None: 0.5 where the service reports one, else 0.4
    ``timeout``    seconds for one request, its retries included
    ``retries``    how often a service that says it is busy (429, 5xx) is asked again, after the wait it asks for
    ``env``        the environment, ``os.environ`` by default
    ``cwd``        the directory whose project policy counts for ``gate``, the current one by default
    ``hosted``     whether a host started this process: then policy and judge are chosen as in the hook, because a
                   repository can set a host's environment

    The judge is chosen at the first call and kept.  One instance serves many threads.  Raises RequestError for a
    threshold, timeout, number of retries or model that is none.
    """

    def __init__(
        self,
        backend: str | None = None,
        *,
        model: str | None = None,
        threshold: float | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        hosted: bool = False,
    ) -> None:
        asked.make("x", [asked.check("x")], threshold=threshold, model=model or None)
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 600:
            raise RequestError("timeout", "must be seconds, more than 0 and at most 600")
        if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= 10:
            raise RequestError("retries", "must be a whole number from 0 to 10")
        self.backend = backend or ""
        self.model = model or ""
        self.threshold = threshold
        self.timeout = float(timeout)
        self.retries = retries
        self.env: Mapping[str, str] = dict(os.environ) if env is None else env
        self.cwd = cwd
        self.hosted = hosted
        self._lock = _thread.allocate_lock()
        self._policy: Policy | None = None
        self._chosen: dict[str, tuple[Judge | None, str]] = {}

    # ------------------------------------------------------------------------------------------ asking

    def judge(
        self,
        state: Any,
        questions: Sequence[asked.Q] | Mapping[str, asked.Q],
        *,
        threshold: float | None = None,
        model: str | None = None,
    ) -> Result:
        """A verdict for every question, in order.  ``questions``: a list (``check``, ``pick``, ``rate`` make them), or
        a map from name to question.  Raises RequestError for what is no request, and for nothing else."""
        return self.answer(asked.make(state, questions, threshold=threshold, model=model))

    async def ajudge(
        self,
        state: Any,
        questions: Sequence[asked.Q] | Mapping[str, asked.Q],
        *,
        threshold: float | None = None,
        model: str | None = None,
    ) -> Result:
        """``judge`` without blocking the event loop."""
        import asyncio

        return await asyncio.to_thread(self.judge, state, questions, threshold=threshold, model=model)

    def gate(
        self,
        tool: str,
        input: Any,
        *,
        state: str = "",
        description: str = "",
        threshold: float | None = None,
        model: str | None = None,
        cwd: str | None = None,
    ) -> Gated:
        """May this tool call run?  See ``jevhook.use.gate.gate``."""
        from .gate import gate

        return gate(
            tool, input, state=state, description=description, threshold=threshold, model=model, cwd=cwd, jev=self
        )

    def items(
        self,
        question: asked.Q,
        items: Sequence[str | tuple[int, str]],
        *,
        context: str = "",
        threshold: float | None = None,
        model: str | None = None,
        most: int = 500,
        progress: Callable[[int, int], None] | None = None,
    ) -> Items:
        """One question about many texts.  See ``jevhook.use.items.judge_items``."""
        from .items import judge_items

        return judge_items(
            self, question, items, context=context, threshold=threshold, model=model, most=most, progress=progress
        )

    async def agate(
        self,
        tool: str,
        input: Any,
        *,
        state: str = "",
        description: str = "",
        threshold: float | None = None,
        model: str | None = None,
        cwd: str | None = None,
    ) -> Gated:
        """``gate`` without blocking the event loop."""
        import asyncio

        return await asyncio.to_thread(
            self.gate,
            tool,
            input,
            state=state,
            description=description,
            threshold=threshold,
            model=model,
            cwd=cwd,
        )

    def answer(self, request: Request) -> Result:
        """The result for a request that was read (``request.read``)."""
        threshold = request.threshold if request.threshold is not None else self.threshold
        found: dict[int, Verdict] = {}
        size = request.tokens
        open_: dict[str, Question] = {}
        for index, question in enumerate(request.questions):
            if size > asked.MAX_TOKENS:
                hint = (
                    f"The state has about {size:,} tokens, {asked.MAX_TOKENS:,} is the limit: nothing was sent. "
                    "Judge a part or a summary of it."
                )
                found[index] = said.handed_back(question.id, question.type, "oversized", hint)
            elif question.wire is None:
                hint = (
                    f"{question.fault}. The question was not asked; mend it, or let a person or a writing model decide."
                )
                found[index] = said.handed_back(question.id, question.type, "open_ended", hint)
            else:
                open_[str(index)] = question
        result = Result((), "", "", "", 0, {})
        if open_:
            verdicts, result = self._ask(request, open_, threshold)
            found |= {int(index): verdict for index, verdict in verdicts.items()}
        ordered = tuple(found[index] for index in range(len(request.questions)))
        return Result(ordered, result.backend, result.via, result.model, result.latency_ms, result.usage)

    def _ask(
        self, request: Request, open_: Mapping[str, Question], threshold: float | None
    ) -> tuple[dict[str, Verdict], Result]:
        """Verdicts by the keys of ``open_``, and a Result whose verdicts are left out."""
        from ..text.redact import redact_value

        judge, via = self.chosen(request.model or self.model)
        kept_back = "" if judge is None else self.kept_back(judge)
        if judge is None or kept_back:
            hint = kept_back or f"There is no judge to ask: {via}."
            backend = "" if judge is None else judge.name
            return self._unreachable(open_, hint), Result((), backend, via)
        # Ids are the caller's words and not for the service: several take only some letters in one.
        state = redact_value(request.state, self.env)
        sent: dict[str, wire.Question] = {}
        verdicts: dict[str, Verdict] = {}
        for key, question in open_.items():
            assert question.wire is not None
            clean = _redacted(question.wire, self.env)
            if clean is None:
                hint = "options: a label looks like a secret, and secrets are never sent. Rename it."
                verdicts[key] = said.handed_back(question.id, question.type, "open_ended", hint)
            else:
                sent[f"q{key}"] = clean
        replies: list[JudgeReply] = []
        most = judges.most_questions(judge)
        names = list(sent)
        for start in range(0, len(names), most):
            batch = {name: sent[name] for name in names[start : start + most]}
            reply = judge.ask(state, batch, self.timeout)
            replies.append(reply)
            for name in batch:
                verdicts[name[1:]] = self._verdict(open_[name[1:]], name, batch[name], reply, judge, threshold)
        usage: dict[str, int] = {}
        for reply in replies:
            for unit, count in reply.usage.items():
                usage[unit] = usage.get(unit, 0) + count
        model = next((reply.model for reply in replies if reply.error is None and reply.model), "")
        return verdicts, Result((), judge.name, via, model, sum(reply.latency_ms for reply in replies), usage)

    def _verdict(
        self,
        question: Question,
        name: str,
        sent: wire.Question,
        reply: JudgeReply,
        judge: Judge,
        threshold: float | None,
    ) -> Verdict:
        answer = reply.answers.get(name)
        if answer is not None:
            return said.judged(question.id, sent, answer, threshold)
        if reply.error is not None:
            reason: said.Reason = "oversized" if reply.error.kind == "oversized" else "unreachable"
            return said.handed_back(question.id, question.type, reason, f"{_sentence(reply.error.message)}{_AND_NOW}")
        if judge.name == "embedded":
            return said.handed_back(question.id, question.type, "unreachable", nobody(self.hosted))
        why = next((w["type"] for w in reply.warnings if w.get("question") == name), "missing-answer")
        hint = f"{judge.name} gave no usable answer to this question: {_WHY.get(why, why)}."
        return said.handed_back(question.id, question.type, "unreachable", hint + _AND_NOW)

    def _unreachable(self, open_: Mapping[str, Question], hint: str) -> dict[str, Verdict]:
        return {key: said.handed_back(q.id, q.type, "unreachable", hint + _AND_NOW) for key, q in open_.items()}

    # --------------------------------------------------------------------------------------- who is asked

    @property
    def policy(self) -> Policy:
        """The policy in force, with its ``[judge]`` table.  What is wrong with it is in ``policy.problems``."""
        with self._lock:
            if self._policy is None:
                cwd = self.cwd
                if cwd is None:
                    try:
                        cwd = os.getcwd()
                    except FileNotFoundError:
                        cwd = ""
                self._policy = self.policy_in(cwd)
            return self._policy

    def policy_in(self, cwd: str) -> Policy:
        """The policy for calls that start in ``cwd``, whose project may tighten it."""
        from .. import policy

        where = os.path.abspath(cwd) if cwd else ""
        return policy.load(self.env, cwd=where, in_hook=self.hosted, managed=policy.MANAGED)

    def chosen(self, model: str = "") -> tuple[Judge | None, str]:
        """(the judge behind its breaker and budget, or None, and one sentence why)."""
        settings = self.policy.judge
        with self._lock:
            if model not in self._chosen:
                self._chosen[model] = self._choose(settings, model)
            return self._chosen[model]

    def _choose(self, settings: Mapping[str, Any], model: str) -> tuple[Judge | None, str]:
        from ..judges.guarded import guard
        from ..systemone import dialects

        backend = self.backend if self.backend in (settings.get("tier") or {}) else dialects.named(self.backend)
        env = {**self.env, "JEV_MODEL": model} if model else self.env
        if backend in ("", "auto"):
            judge, via = judges.choose(settings, env, self.hosted)
        elif managed_judge(settings, backend):
            return None, f"the managed config names the judge, {self.backend} can't replace it"
        else:
            judge, via = judges.choose(judge_table(settings, backend), env, self.hosted)
        wanted = backend if backend not in ("", "auto") else settings.get("provider", "auto")
        if judge is None and (wanted if wanted != "auto" else dialects.named(env.get("JEV_BACKEND", ""))) == "none":
            from ..judges.embedded import EmbeddedJudge

            judge = EmbeddedJudge()  # somebody wants no judge: that is a choice, not an outage
        if model and judge is not None and getattr(judge, "model", model) != model:
            remote: Any = judge  # the skill record's own
            remote.model, remote.name = judges.check_model(model), f"{remote.provider}/{model}"
        if model and hasattr(judge, "_tiers"):
            return None, "several judges are configured and each has its own model: name a backend beside the model"
        return (None if judge is None else guard(judge, self.env, self.retries)), via

    def most_questions(self, model: str | None = None) -> int:
        """How many questions one request to the chosen judge may carry."""
        judge, _ = self.chosen(model or self.model)
        return judges.most_questions(judge)

    def kept_back(self, judge: Judge) -> str:
        """Why nothing may be sent to ``judge``; "" when the redacted state may be."""
        from ..points.egress import level

        told = level(self.policy.judge, judge)
        if told == "redacted":
            return ""
        return f"egress = {told} in [judge] keeps the content on this machine and {judge.name} is not on it."


_AND_NOW = " Decide without it, or ask again later."
_WHY = {
    "missing-answer": "it left it out",
    "wrong-type": "an answer of another type",
    "refusal": "it refused",
    "bad-number": "a number that is none or out of range",
    "bad-distribution": "probabilities that don't add up",
    "unexpected-label": "an option that was not offered",
    "inconsistent-answer": "an answer that contradicts its own probabilities",
    "unsupported-question": "the service can't be asked such a question (too many options or levels, or no instructions)",
    "untrusted": "no tier is trusted with it",
    "not-asked": "no tier was left to ask",
}


def nobody(hosted: bool = False) -> str:
    """What to do so that somebody answers: the key variables and the local servers, as the dialects name them.

    ``hosted``: what counts of them where a host started us.
    """
    from ..systemone import dialects

    keys, local = [], []
    for name in dialects.MODULES:
        dialect = dialects.load(name)
        if dialect.LOCAL:
            local.append(f"{name} ({dialect.DEFAULT_BASE or 'your base_url'})")
        elif dialect.KEY_VARS and dialect.KEY_VARS[0] not in keys:
            keys.append(dialect.KEY_VARS[0])
    if hosted:
        return (
            "No provider is configured, and the embedded judge answers no questions. A person can name one in [judge] of "
            "~/.config/jevhook/config.toml, or set TYPESAFE_API_KEY: where a host started this, no other key in the "
            f"environment counts. Servers on this machine: {', '.join(local)}."
        )
    return (
        "No provider is configured, and the embedded judge answers no questions. "
        f"Set one of {', '.join(keys)}; or name a server on this machine, JEV_BACKEND or provider in [judge]: "
        f"{', '.join(local)}."
    )


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _redacted(question: wire.Question, env: Mapping[str, str]) -> wire.Question | None:
    """``question`` without secrets; None when an option's label holds one: the answer would name it."""
    from ..text.redact import redact, redact_value

    criteria = question.get("criteria")
    if question["type"] == "choice" and any(redact(label, env) != label for label in criteria or ()):
        return None
    clean = {**question, "instructions": redact_value(question["instructions"], env)}
    if isinstance(criteria, dict):
        # Value by value: a label such as "token" would make its own description a secret.
        clean["criteria"] = {label: redact_value(text, env) for label, text in criteria.items()}
    elif criteria is not None:
        clean["criteria"] = [redact_value(level, env) for level in criteria]
    return clean


def managed_judge(settings: Mapping[str, Any], backend: str) -> bool:
    """Whether the managed config names a judge other than ``backend``."""
    if settings.get("settings_origin") != "managed":
        return False
    named = settings.get("provider", "")
    return bool(settings.get("tiers")) or named not in ("", "auto", backend)


def judge_table(settings: Mapping[str, Any], backend: str) -> dict[str, Any]:
    """The ``[judge]`` table as if it named ``backend``: the config's own where it does, or the tier of that name."""
    trusted = settings.get("settings_origin") in ("user", "managed")
    shared = {key: settings.get(key) for key in ("environment_proxy", "max_questions", "mock")} if trusted else {}
    if trusted and settings.get("provider") == backend:
        return {**settings, "tiers": [], "routes": {}}
    tier = (settings.get("tier") or {}).get(backend) if trusted else None
    return {"provider": backend, **shared, **(tier or {}), "settings_origin": "user"}
