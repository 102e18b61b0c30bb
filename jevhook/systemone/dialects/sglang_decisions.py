"""SGLang's own decisions: ``POST {base}/v1/decisions`` with ``{input, questions: [{id, type, question, …}]}``.

Facts: SGLang's documentation of decision models; not OpenAI's shape, and no confidence comes back.  Only a choice's
request is documented in what was read; how a yes/no question is called, and the answers' exact form, are taken to be
as elsewhere (boolean, a list with ids) and are not verified.  Options have no descriptions, so a choice's criteria go
into the question's text, as a noul's do.
"""

from __future__ import annotations

from . import native
from .openai import by_name
from .openai import fits as fits
from .vercel import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "sglang_decisions"
KEY_VARS: tuple[str, ...] = ()
BASE_VARS: tuple[str, ...] = ()
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "http://127.0.0.1:30000"
DEFAULT_MODEL = ""
LOCAL = True
MAX_QUESTIONS = 400


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    asked = [_question(name, question) for name, question in questions.items()]
    return native.endpoint(base, "/v1/decisions"), {}, {"model": model, "input": text(state), "questions": asked}


def _question(name: str, question: dict[str, Any]) -> dict[str, Any]:
    asked = text(question["instructions"])
    criteria = question.get("criteria")
    if question["type"] == "score":
        return {
            "id": name,
            "type": "score",
            "question": asked,
            "levels": [text(level) for level in question["criteria"]],
        }
    described = [f"\n{key}: {text(value)}" for key, value in (criteria or {}).items() if value is not None]
    asked += "".join(described)
    if question["type"] == "noul":
        return {"id": name, "type": "boolean", "question": asked}
    return {"id": name, "type": "choice", "question": asked, "options": list(question["criteria"])}


def answers_body(parsed: Any) -> Any:
    """The list as a map by id, each answer in the native shape; see ``Dialect``."""
    if not isinstance(parsed, dict) or not isinstance(parsed.get("answers"), (list, dict)):
        return parsed
    answers = parsed["answers"]
    if isinstance(answers, dict):
        answers = [{**answer, "id": name} for name, answer in answers.items() if isinstance(answer, dict)]
    return {**parsed, "answers": by_name(answers, "id")}
