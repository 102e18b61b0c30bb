"""A judge request: reading it, and screening each question before anything is sent.

::

    {"state": "text, or any JSON object or array",
     "questions": [{"id": "green", "type": "noul", "question": "Is the build green?",
                    "criteria": {"true": "…", "false": "…"}},
                   {"type": "choice", "question": "Which queue?", "options": ["billing", "bug"]},
                   {"type": "choice", "question": "Which queue?", "options": {"billing": "what it means", "bug": null}},
                   {"type": "score", "question": "How bad?", "levels": ["lowest", "…", "highest"]}],
     "confidenceThreshold": 0.8, "model": "jev-latest"}

``id`` defaults to ``q<index>``; ``criteria`` is both sides or none.  Two kinds of wrong: what is no request at all
raises ``RequestError`` naming the field; a question that no judge can answer as it stands is handed back, escalated,
with the reason ``open_ended`` and a hint, and its neighbours are asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import jsonio
from ..systemone import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Q = dict[str, Any]  # a question as it stands in a request

MAX_TOKENS = 30_000  # of the state, by the estimate of four characters a token; the service refuses 33,003
MAX_QUESTIONS = 10_000
TYPES = ("noul", "choice", "score")
FIELDS = ("state", "questions", "confidenceThreshold", "model")
QUESTION_FIELDS = ("id", "type", "question", "options", "levels", "criteria")


class RequestError(ValueError):
    """What is no request.  ``field`` is its path, such as ``questions[2].id``; the text says what is allowed."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field


class Question:
    """One question of a request.

    ``id``     as given, or ``q<index>``
    ``type``   as given, also where it is none
    ``wire``   the native question, None when it can't be asked
    ``fault``  why it can't, naming the field; "" when it can
    """

    __slots__ = ("fault", "id", "type", "wire")

    def __init__(self, id: str, type: str, wire: wire.Question | None, fault: str = "") -> None:
        self.id = id
        self.type = type
        self.wire = wire
        self.fault = fault


class Request:
    """A request that was read.  ``tokens`` is what ``state`` is estimated to have; ``threshold`` and ``model`` are None
    and "" when it names none."""

    __slots__ = ("model", "questions", "state", "threshold", "tokens")

    def __init__(
        self, state: Any, questions: tuple[Question, ...], threshold: float | None = None, model: str = ""
    ) -> None:
        self.state = state
        self.tokens = tokens(state)
        self.questions = questions
        self.threshold = threshold
        self.model = model


# -------------------------------------------------------------------------------------------------- builders


def check(question: Any, *, true: Any = None, false: Any = None, id: str | None = None) -> Q:
    """A yes/no question.  ``true`` and ``false`` say what counts as which (both or none); the answer is P(yes)."""
    made: Q = {"type": "noul", "question": question}
    if true is not None or false is not None:
        made["criteria"] = {side: text for side, text in (("true", true), ("false", false)) if text is not None}
    return _named(made, id)


def pick(question: Any, options: Sequence[str] | Mapping[str, Any], *, id: str | None = None) -> Q:
    """One of several options: a list of labels, or label -> what it means.  The answer is a label.

    Give it an option for "none of these": a judge that has to pick picks wrongly (measured by others: .00 -> .95).
    """
    return _named({"type": "choice", "question": question, "options": options}, id)


def rate(question: Any, levels: Sequence[Any], *, id: str | None = None) -> Q:
    """A place on ordered levels, lowest first.  The answer is the mean level's index, often between two."""
    return _named({"type": "score", "question": question, "levels": levels}, id)


def _named(made: Q, id: str | None) -> Q:
    return made if id is None else {"id": id, **made}


# --------------------------------------------------------------------------------------------------- reading


def read(value: Any) -> Request:
    """The request in a JSON value (see the module; ``confidence_threshold`` is accepted too, as MCP spells it).

    Raises RequestError.
    """
    if not isinstance(value, Mapping):
        raise RequestError("request", f"must be an object with {', '.join(FIELDS)}, not {_kind(value)}")
    for name in value:
        if name not in (*FIELDS, "confidence_threshold"):
            raise RequestError(_shown(name), f"unknown field; allowed are {', '.join(FIELDS)}")
    if "confidenceThreshold" in value and "confidence_threshold" in value:
        raise RequestError("confidence_threshold", "stands beside confidenceThreshold; give one of the two")
    for name in ("state", "questions"):
        if value.get(name) is None:
            raise RequestError(name, "is missing")
    questions = value["questions"]
    if not isinstance(questions, (list, tuple)):
        raise RequestError("questions", f"must be a list of questions, not {_kind(questions)}")
    spelt = "confidence_threshold" if "confidence_threshold" in value else "confidenceThreshold"
    return make(value["state"], questions, threshold=value.get(spelt), model=value.get("model"), spelt=spelt)


def make(
    state: Any,
    questions: Sequence[Any] | Mapping[str, Any],
    *,
    threshold: Any = None,
    model: Any = None,
    spelt: str = "threshold",
) -> Request:
    """A request from its parts; ``questions`` may be a map from id to question.  Raises RequestError."""
    if not isinstance(state, (str, dict, list)):
        raise RequestError("state", f"must be a text, an object or an array, not {_kind(state)}")
    if not state or (isinstance(state, str) and not state.strip()):
        raise RequestError("state", "is empty: there is nothing to judge")
    if threshold is not None:
        threshold = check_threshold(threshold, spelt)
    if model is not None and (not isinstance(model, str) or not model.strip()):
        raise RequestError("model", "must be a model's name")
    if isinstance(questions, Mapping):
        questions = [_under(name, question) for name, question in questions.items()]
    if not questions:
        raise RequestError("questions", "is empty: ask at least one")
    if len(questions) > MAX_QUESTIONS:
        raise RequestError("questions", f"holds {len(questions)}, {MAX_QUESTIONS} is the limit")
    seen: set[str] = set()
    made = tuple(_question(index, question, seen) for index, question in enumerate(questions))
    return Request(state, made, threshold, (model or "").strip())


def check_threshold(value: Any, field: str) -> float:
    """``value`` as a threshold.  Raises RequestError naming ``field``."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RequestError(field, f"must be a number from 0 to 1, not {_kind(value)}")
    if not 0 <= value <= 1:
        raise RequestError(field, f"must be a number from 0 to 1, not {value}")
    return float(value)


def _under(name: Any, question: Any) -> Any:
    if isinstance(question, Mapping) and question.get("id") not in (None, name):
        raise RequestError(f"questions.{_shown(name)}.id", "differs from the name it stands under")
    return {**question, "id": name} if isinstance(question, Mapping) else question


def _question(index: int, given: Any, seen: set[str]) -> Question:
    where = f"questions[{index}]"
    if not isinstance(given, Mapping):
        raise RequestError(where, f"must be an object with {', '.join(QUESTION_FIELDS)}, not {_kind(given)}")
    for name in given:
        if name not in QUESTION_FIELDS:
            raise RequestError(f"{where}.{_shown(name)}", f"unknown field; allowed are {', '.join(QUESTION_FIELDS)}")
    id = given.get("id")
    if id is None:
        id = f"q{index}"
    if not isinstance(id, str) or not id.strip():
        raise RequestError(f"{where}.id", "must be a text that is not blank")
    for name in ("type", "question"):
        if given.get(name) is None:
            hint = f"; one of {', '.join(TYPES)}" if name == "type" else ""
            raise RequestError(f"{where}.{name}", f"is missing{hint}")
    type_ = given["type"]
    if not isinstance(type_, str):
        raise RequestError(f"{where}.type", f"must be one of {', '.join(TYPES)}, not {_kind(type_)}")
    if not isinstance(given["question"], (str, dict, list)):
        raise RequestError(f"{where}.question", f"must be a text, not {_kind(given['question'])}")
    if id in seen:
        return Question(id, type_, None, f"{where}.id: {id!r} stands twice; give every question its own id")
    seen.add(id)
    try:
        return Question(id, type_, _wire(type_, given))
    except ValueError as wrong:
        return Question(id, type_, None, f"{where}.{wrong}")


def _wire(type_: str, given: Mapping[str, Any]) -> wire.Question:
    """The native question.  Raises ValueError whose text starts with the field."""
    if type_ not in TYPES:
        raise ValueError(f"type: {type_!r} is no kind of question; use one of {', '.join(TYPES)}")
    text = given["question"]
    if not text or (isinstance(text, str) and not text.strip()):
        raise ValueError("question: is empty")
    try:
        jsonio.dumps(dict(given))
    except ValueError:  # it would spoil the whole call
        raise ValueError("question: holds something that is no JSON value") from None
    needs = {"noul": "criteria", "choice": "options", "score": "levels"}[type_]
    for name in ("criteria", "options", "levels"):
        if name != needs and given.get(name) is not None:
            raise ValueError(f"{name}: a {type_} has none{'' if type_ == 'noul' else f'; it has {needs}'}")
    if type_ == "noul":
        true, false = _criteria(given.get("criteria"))
        return wire.noul(text, true=true, false=false)
    if type_ == "choice":
        options = _options(given.get("options"))
        try:
            return wire.choice(text, options)
        except ValueError as wrong:  # on the wire they are called criteria
            raise ValueError(f"options{str(wrong).removeprefix('criteria')}") from None
    levels = given.get("levels")
    if levels is None:
        raise ValueError("levels: are missing; a score needs at least two, lowest first")
    if not isinstance(levels, (list, tuple)):
        raise ValueError(f"levels: must be a list, lowest first, not {_kind(levels)}")
    if len(levels) < wire.MIN_LEVELS:
        raise ValueError(f"levels: a score needs at least two, got {len(levels)}")
    return wire.score(text, list(levels))


def _criteria(value: Any) -> tuple[Any, Any]:
    if value is None:
        return None, None
    if not isinstance(value, Mapping):
        raise ValueError(f"criteria: must be an object with true and false, not {_kind(value)}")
    strange = [name for name in value if name not in ("true", "false")]
    if strange:
        raise ValueError(f"criteria.{_shown(strange[0])}: unknown; criteria have true and false")
    true, false = value.get("true"), value.get("false")
    if (true is None) != (false is None):
        missing = "true" if true is None else "false"
        raise ValueError(f"criteria.{missing}: is missing; give both sides or none")
    return true, false


def _options(value: Any) -> dict[str, Any]:
    if value is None:
        raise ValueError("options: are missing; a choice needs at least two")
    if isinstance(value, Mapping):
        made = dict(value)
    elif isinstance(value, (list, tuple)):
        made = {}
        for index, label in enumerate(value):
            if not isinstance(label, str) or not label.strip():
                raise ValueError(f"options[{index}]: must be a text that is not blank")
            if label in made:
                raise ValueError(f"options[{index}]: {label!r} stands twice")
            made[label] = label  # a label alone is its own description
    else:
        raise ValueError(f"options: must be a list of labels, or label -> meaning, not {_kind(value)}")
    if len(made) < wire.MIN_OPTIONS:
        raise ValueError(f"options: a choice needs at least two, got {len(made)}")
    if len({label.strip() for label in made if isinstance(label, str)}) < len(made):
        raise ValueError("options: two labels differ by nothing but spaces, or one is no text")
    return made


def tokens(state: Any) -> int:
    """How many tokens ``state`` is estimated to have: a quarter of its characters, rounded up.

    Raises RequestError for a state that JSON can't hold.
    """
    if isinstance(state, str):
        return -(-len(state) // 4)
    import json

    try:
        return -(-len(json.dumps(state, ensure_ascii=False, separators=(",", ":"), allow_nan=False)) // 4)
    except (TypeError, ValueError, RecursionError):
        raise RequestError("state", "holds something that is no JSON value") from None


def _kind(value: Any) -> str:
    names = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "an array"}
    return "an object" if isinstance(value, Mapping) else names.get(type(value), type(value).__name__)


def _shown(name: Any) -> str:
    text = str(name)
    return text if text.isprintable() and 0 < len(text) <= 60 else repr(text[:60])
