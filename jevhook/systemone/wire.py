"""System One's native wire shapes: building questions, reading answers strictly, naming what went wrong.

Question and answer shapes are those of ``POST {base}/v1/systemone`` (typesafe-sdk 0.7.5, jevcompat 0.1.1's SPEC).
Every dialect translates to and from these; nothing else in the package knows another shape.
"""

from __future__ import annotations

from .. import jsonio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal

    Question = dict[str, Any]
    Answer = dict[str, Any]
    Warning_ = dict[str, str]
    Kind = Literal[
        "auth",
        "payment",
        "rate_limited",
        "server",
        "bad_request",
        "oversized",
        "unreachable",
        "timeout",
        "invalid_response",
        "config",
    ]

MIN_OPTIONS, MAX_OPTIONS = 2, 255
MIN_LEVELS, MAX_LEVELS = 2, 10
SUM_SLACK = 0.05  # jevcompat's own tolerance; answers carry two decimals
ROUNDING = 0.005


class JudgeError(Exception):
    """Why a judge gave no answers.

    ``kind``     one of the ``Kind`` literals
    ``status``   the HTTP status, 0 when there was none
    ``message``  one line in our own words, naming the service and the key's variable; never a key, a state, or
                 text that the service sent
    ``sent``     False when it is certain that nothing of the request left: nothing can have been charged
    ``retry_after``  the seconds that a busy service asks to wait, 0 when it doesn't say
    """

    __slots__ = ("kind", "message", "retry_after", "sent", "status")

    def __init__(self, kind: Kind, message: str, status: int = 0, *, sent: bool = True) -> None:
        super().__init__(message)
        self.retry_after = 0.0
        self.kind: Kind = kind
        self.status = status
        self.message = message
        self.sent = sent


# ------------------------------------------------------------------------------------------------ questions


def _text(value: Any, field: str) -> Any:
    if isinstance(value, str):
        if value.strip():
            return value
        raise ValueError(f"{field}: must not be blank")
    if isinstance(value, (dict, list)):
        if value:
            return value
        raise ValueError(f"{field}: must not be empty")
    raise ValueError(f"{field}: must be a text, an object or an array, not {type(value).__name__}")


def noul(instructions: Any, true: Any = None, false: Any = None) -> Question:
    """A yes/no question.  ``true`` and ``false`` say what counts as which.  Raises ValueError naming the field."""
    question: Question = {"type": "noul", "instructions": _text(instructions, "instructions")}
    criteria = {}
    if true is not None:
        criteria["true"] = _text(true, "criteria.true")
    if false is not None:
        criteria["false"] = _text(false, "criteria.false")
    if criteria:
        question["criteria"] = criteria
    return question


def choice(instructions: Any, criteria: Mapping[str, Any]) -> Question:
    """One of 2-255 options; ``criteria`` maps an option's name to its description or None, in the order to be read.

    Raises ValueError naming the field.
    """
    text = _text(instructions, "instructions")
    if not isinstance(criteria, dict):
        raise ValueError(f"criteria: must be a map from option to description, not {type(criteria).__name__}")
    if not MIN_OPTIONS <= len(criteria) <= MAX_OPTIONS:
        raise ValueError(f"criteria: {MIN_OPTIONS} to {MAX_OPTIONS} options, got {len(criteria)}")
    options: dict[str, Any] = {}
    for name, description in criteria.items():
        if not isinstance(name, str) or not name.strip():
            raise ValueError("criteria: an option's name must be a text that is not blank")
        options[name] = None if description is None else _text(description, f"criteria.{name}")
    return {"type": "choice", "instructions": text, "criteria": options}


def score(instructions: Any, levels: list[Any]) -> Question:
    """A place on 2-10 levels, lowest first, each a described situation.  Raises ValueError naming the field."""
    text = _text(instructions, "instructions")
    if not isinstance(levels, (list, tuple)):
        raise ValueError(f"levels: must be a list, lowest first, not {type(levels).__name__}")
    if not MIN_LEVELS <= len(levels) <= MAX_LEVELS:
        raise ValueError(f"levels: {MIN_LEVELS} to {MAX_LEVELS} levels, got {len(levels)}")
    criteria = [_text(level, f"levels[{index}]") for index, level in enumerate(levels)]
    return {"type": "score", "instructions": text, "criteria": criteria}


# -------------------------------------------------------------------------------------------------- answers


def choice_confidence(probabilities: list[float]) -> float:
    """How far the best option stands above chance, 0-1: ``(p_max - 1/n) / (1 - 1/n)`` (jevcompat SPEC 4.5)."""
    count = len(probabilities)
    if count < 2:
        return 1.0
    return min(1.0, max(0.0, (max(probabilities) - 1 / count) / (1 - 1 / count)))


def score_confidence(probabilities: list[float]) -> float:
    """How narrow the distribution is around its mode, 0-1 (jevcompat SPEC 4.5).

    ``max(0, 1 - sum(p_i * |i - mode|) / D)`` with ``D`` the mean distance of the levels from their middle.
    """
    count = len(probabilities)
    if count < 2:
        return 1.0
    mode = probabilities.index(max(probabilities))
    spread = sum(p * abs(index - mode) for index, p in enumerate(probabilities))
    uniform = sum(abs(index - (count - 1) / 2) for index in range(count)) / count
    return min(1.0, max(0.0, 1 - spread / uniform))


def noul_confidence(p: float) -> float:
    """``|p - 0.5| * 2``: our own estimate, the wire carries none for a noul."""
    return abs(p - 0.5) * 2


class _Unusable(Exception):
    """Why one answer is no answer; its text becomes the warning's type."""


def _number(value: Any, low: float, high: float) -> float | None:
    # The range is checked before float(): an integer of 400 digits has no float.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        return None  # NaN fails the comparison
    return float(value)


def _distribution(answer: Mapping[str, Any], keys: list[str]) -> list[float] | None:
    """The probabilities in the order of ``keys``; None when the service sent none."""
    sent = answer.get("probabilities")
    if sent is None:
        return None
    if not isinstance(sent, dict):
        raise _Unusable("bad-distribution")
    values = dict.fromkeys(keys, 0.0)
    for key, value in sent.items():
        if key not in values:
            raise _Unusable("unexpected-label")
        p = _number(value, 0, 1)
        if p is None:
            raise _Unusable("bad-number")
        values[key] = p
    found = list(values.values())
    # Each of many options is rounded to two decimals on its own, so their sum strays further than that of a few.
    if abs(sum(found) - 1) > max(SUM_SLACK, ROUNDING * len(keys)) + 1e-9:
        raise _Unusable("bad-distribution")
    return found


def _read_noul(question: Question, answer: Mapping[str, Any]) -> Answer:
    p = _number(answer.get("noul"), 0, 1)
    if p is None:
        raise _Unusable("bad-number")
    return {"type": "noul", "value": p, "p": p, "confidence": noul_confidence(p), "confidence_from": "estimated"}


def _read_choice(question: Question, answer: Mapping[str, Any]) -> Answer:
    options = list(question["criteria"])
    label = answer.get("choice")
    if not isinstance(label, str) or label not in question["criteria"]:
        raise _Unusable("unexpected-label")
    values = _distribution(answer, options)
    if values is None:
        return _rated({"type": "choice", "value": label, "probabilities": {}}, answer, None)
    if max(values) - values[options.index(label)] > 2 * ROUNDING + 1e-9:
        raise _Unusable("inconsistent-answer")
    read = {"type": "choice", "value": label, "probabilities": dict(zip(options, values, strict=True))}
    return _rated(read, answer, choice_confidence(values))


def _read_score(question: Question, answer: Mapping[str, Any]) -> Answer:
    count = len(question["criteria"])
    value = _number(answer.get("score"), 0, count - 1)
    if value is None:
        raise _Unusable("bad-number")
    keys = [str(index) for index in range(count)]
    values = _distribution(answer, keys)
    if values is None:
        return _rated({"type": "score", "value": value, "probabilities": {}}, answer, None)
    mean = sum(index * p for index, p in enumerate(values))
    # .02 is jevcompat's; the rest is what two-decimal rounding and a sum that strays by SUM_SLACK can move the mean.
    stray = 0.02 + ROUNDING * count * (count - 1) / 2 + abs(sum(values) - 1) * (count - 1)
    if abs(value - mean) > stray:
        raise _Unusable("inconsistent-answer")
    read = {"type": "score", "value": value, "probabilities": dict(zip(keys, values, strict=True))}
    return _rated(read, answer, score_confidence(values))


def _rated(read: Answer, answer: Mapping[str, Any], ours: float | None) -> Answer:
    """``read`` with its confidence: ours wherever there is a distribution, for services use five other formulas."""
    reported = _number(answer.get("confidence"), 0, 1)
    if reported is not None:
        read["reported_confidence"] = reported
    if ours is None:
        ours = 0.0 if reported is None else reported
    read["confidence"] = ours
    read["confidence_from"] = "estimated" if reported is None else "reported"
    return read


_READERS: dict[str, Callable[[Question, Mapping[str, Any]], Answer]] = {
    "noul": _read_noul,
    "choice": _read_choice,
    "score": _read_score,
}


def _read(question: Question, answer: Any) -> Answer:
    if not isinstance(answer, dict):
        raise _Unusable("wrong-type")
    if answer.get("type") == "refusal" or answer.get("refusal"):
        raise _Unusable("refusal")
    if answer.get("type") != question.get("type"):
        raise _Unusable("wrong-type")
    reader = _READERS.get(question["type"])
    if reader is None:
        raise _Unusable("wrong-type")
    return reader(question, answer)


def read_answers(questions: Mapping[str, Question], body: Any) -> tuple[dict[str, Answer], list[Warning_]]:
    """The usable answers in a native-shaped response ``body``, and a warning for every question without one.

    An answer: ``{"type", "value", "confidence", "confidence_from"}`` and

    - noul: ``"p"``, the probability of yes (``value`` is the same number)
    - choice: ``"probabilities"`` by option in the question's order; ``value`` is the chosen option's name
    - score: ``"probabilities"`` by level index as text; ``value`` is the mean level, 0 to levels-1

    ``probabilities`` is ``{}`` where the service sent none (OpenRouter may leave it out).  ``confidence`` is always
    recomputed from the distribution where there is one; what the service said stays in ``"reported_confidence"``.
    ``confidence_from`` is ``reported`` when the service stated one, else ``estimated``.

    A warning: ``{"type", "question"}``; types: missing-answer, wrong-type, refusal, bad-number, bad-distribution,
    unexpected-label, inconsistent-answer, and once for ids nobody asked about: unexpected-answer with question "".
    Never raises, never repairs a number.
    """
    answers: dict[str, Answer] = {}
    warnings: list[Warning_] = []
    sent = body.get("answers") if isinstance(body, dict) else None
    if not isinstance(sent, dict):
        sent = {}
    for name, question in questions.items():
        if sent.get(name) is None:
            warnings.append({"type": "missing-answer", "question": name})
            continue
        try:
            answers[name] = _read(question, sent[name])
        except _Unusable as why:
            warnings.append({"type": str(why), "question": name})
    if any(name not in questions for name in sent):
        warnings.append({"type": "unexpected-answer", "question": ""})
    return answers, warnings


def read_usage(body: Any) -> dict[str, int]:
    """``{"input_tokens", "output_tokens", "cost_micros"}`` as far as the service said so, in snake or camel case.

    ``cost_micros``: OpenRouter's ``cost`` (US dollars) in millionths, rounded up.
    """
    usage = body.get("usage") if isinstance(body, dict) else None
    if not isinstance(usage, dict):
        return {}
    found: dict[str, int] = {}
    for ours, theirs in (("input_tokens", "inputTokens"), ("output_tokens", "outputTokens")):
        value = usage.get(ours, usage.get(theirs))
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53:
            found[ours] = value
    cost = _number(usage.get("cost"), 0, 1e9)
    if cost is not None:
        found["cost_micros"] = int(-(-round(cost * 1e6, 3) // 1))
    return found


# --------------------------------------------------------------------------------------------- response JSON


def decode(body: bytes) -> Any:
    """The JSON value in a response body.  Raises ValueError: not UTF-8, not one JSON value, or a key twice.

    NaN and infinities are let through: they are dropped later, with the one answer that holds them.
    """
    return jsonio.loads(body.decode("utf-8").strip(" \t\r\n\ufeff"), once=True)


def encode(body: dict[str, Any]) -> bytes:
    """The request body.  Raises ValueError for what JSON cannot hold.

    A lone surrogate (a file name that is not UTF-8, as Python spells it) becomes "?": several servers refuse the
    whole request for one.
    """
    text = jsonio.dumps(body)
    if "\\ud" in text:
        text = jsonio.dumps(_whole(body))
    return text.encode("ascii")


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return value


# --------------------------------------------------------------------------------------------------- errors

# What the services call their errors, in whichever envelope.  Anything else is judged by its status.
_KINDS: dict[str, Kind] = {
    "authentication_error": "auth",
    "invalid_api_key": "auth",
    "unauthorized": "auth",
    "permission_error": "auth",
    "permission_denied": "auth",
    "forbidden": "auth",
    "customer_verification_required": "payment",
    "insufficient_quota": "payment",
    "insufficient_credits": "payment",
    "insufficient_funds": "payment",
    "payment_required": "payment",
    "billing_error": "payment",
    "quota_exceeded": "payment",
    "rate_limit": "rate_limited",
    "rate_limit_error": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "too_many_requests": "rate_limited",
    "overloaded": "server",
    "overloaded_error": "server",
    "server_error": "server",
    "internal_error": "server",
    "internal_server_error": "server",
    "max_tokens_exceeded": "oversized",
    "context_length_exceeded": "oversized",
    "request_too_large": "oversized",
    "unauthenticated": "auth",
    "invalid_token": "auth",
    "request_limit_exceeded": "rate_limited",
    "resource_exhausted": "rate_limited",
    "temporarily_unavailable": "server",
    "request_entity_too_large": "oversized",
    "invalid_parameter_value": "bad_request",
    "resource_does_not_exist": "bad_request",
    "api_usage_error": "bad_request",
    "invalid_request_error": "bad_request",
    "not_found": "bad_request",
    "not_found_error": "bad_request",
    # Cloudflare's own numbers, only in its errors[] envelope
    "cf:10000": "auth",
    "cf:4006": "payment",
    "cf:3040": "rate_limited",
    "cf:5021": "oversized",
    "cf:7000": "bad_request",
}

_STATUS: dict[int, Kind] = {
    401: "auth",
    402: "payment",
    403: "auth",
    407: "unreachable",
    408: "timeout",
    413: "oversized",
    429: "rate_limited",
}

_MONEY = ("credit", "payment", "billing", "quota", "free allocation", "balance")


def _envelope(parsed: Any) -> tuple[list[str], str]:
    """(error types, all texts in lower case) from any of the six envelopes in use; ([], "") for none of them."""
    types: list[str] = []
    texts: list[str] = []

    def note(holder: Any, prefix: str = "") -> None:
        if isinstance(holder, str):
            texts.append(holder)
        if not isinstance(holder, dict):
            return
        for key in ("error_type", "type", "error_code", "code"):
            value = holder.get(key)
            if isinstance(value, str):
                types.append(value.lower())
            elif prefix and isinstance(value, int) and not isinstance(value, bool):
                types.append(f"{prefix}{value}")
        for key in ("message", "msg"):
            if isinstance(holder.get(key), str):
                texts.append(holder[key])

    if isinstance(parsed, dict):
        note(parsed.get("error"))  # {"error": {message, code|type}} and {"error": "…"}
        note(parsed.get("detail"))  # {"detail": {error_type, message}} and {"detail": "…"}
        details = parsed.get("detail")
        for detail in details if isinstance(details, list) else ():  # {"detail": [{loc, msg, type}]}
            note(detail)
        if "answers" not in parsed:
            note(parsed)  # {"message", "error_type"}
        errors = parsed.get("errors")
        for failure in errors if isinstance(errors, list) else ():  # Cloudflare's {"errors": [{code, message}]}
            note(failure, "cf:")
    return types, " ".join(texts)[:4000].lower()


def says_error(parsed: Any) -> bool:
    """Whether a parsed body is one of the error envelopes: some services send one with status 200."""
    types, texts = _envelope(parsed)
    return bool(types or texts)


def error_from(status: int, body: bytes, service: str, key_var: str, sent: bool = True) -> JudgeError:
    """The error that an HTTP answer stands for.  ``sent``: whether the request carried a key.

    The type that the service names wins over the status: a 403 is a missing key at one service, a missing credit
    card at the next.  The service's own words are only looked at, never passed on: some echo the input, some the key.
    """
    try:
        types, texts = _envelope(decode(body))
    except ValueError:
        types, texts = [], ""
    kind: Kind | None = None
    for name in types:
        kind = kind or _KINDS.get(name)
    if status >= 500:
        kind = "server"
    elif status in (401, 402):
        kind = _STATUS[status]
    elif kind in (None, "auth") and status in (403, 429) and any(word in texts for word in _MONEY):
        kind = "payment"
    if kind is None:
        kind = _STATUS.get(status, "bad_request" if status >= 400 else "invalid_response")
    return JudgeError(kind, _sentence(kind, status, service, key_var, sent, texts), status)


def _sentence(kind: Kind, status: int, service: str, key_var: str, sent: bool, texts: str) -> str:
    key = key_var or "a key"
    said = f"{service} answered {status}: "
    if kind == "auth":
        if key_var and sent:
            return said + f"the key in {key_var} was not accepted"
        where = f"; set {key_var}" if key_var else " (api_key_env in [judge] names its variable)"
        return f"{said}it wants a key and none is configured{where}"
    if kind == "payment":
        return said + f"the account behind {key} has no credit, quota or verified payment left"
    if kind == "rate_limited":
        return said + "too many requests"
    if kind == "server":
        return said + "the service failed or is overloaded"
    if kind == "oversized":
        return said + "the state and questions are too long for it"
    if kind == "timeout":
        return said + "it gave up waiting"
    if kind == "unreachable":
        return said + "a proxy on the way wants credentials"
    if kind == "bad_request":
        if status == 404 or "unknown model" in texts or ("model" in texts and "not found" in texts):
            return said + "no such model or address there; check model and base_url"
        return said + "it did not understand the request"
    if 300 <= status < 400:
        return said + "it redirects elsewhere, which is never followed; check base_url"
    return said + "not an answer to the questions"
