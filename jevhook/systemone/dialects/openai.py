"""OpenAI's decisions: ``POST {base}/v1/decisions``, lists where the native shape has maps.

Facts: the OpenAPI description of DecisionResponse and openai-python 3.26.  The state is the text ``input``; a noul is
a predicate without criteria, so they go into its instructions; answers carry the question's ``name`` and may be a
refusal; numbers of probabilities come as ``[{value, probability}]``.  Also served by vLLM >= 0.33.0, LiteLLM and
Vercel's gateway under ``/v1``: name such a server as ``base_url``.
"""

from __future__ import annotations

from . import native
from .vercel import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "openai"
KEY_VARS: tuple[str, ...] = ("OPENAI_API_KEY",)
BASE_VARS: tuple[str, ...] = ("OPENAI_BASE_URL",)
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "https://api.openai.com"
DEFAULT_MODEL = "gpt-6-luna"
LOCAL = False
MAX_QUESTIONS = 400


def fits(name: str, question: Mapping[str, Any]) -> bool:
    """Instructions are required."""
    return bool(question.get("instructions"))


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    asked = [_question(name, question) for name, question in questions.items()]
    return native.endpoint(base, "/v1/decisions"), {}, {"model": model, "input": text(state), "questions": asked}


def _question(name: str, question: dict[str, Any]) -> dict[str, Any]:
    instructions = text(question["instructions"])
    criteria = question.get("criteria")
    if question["type"] == "noul":
        sides = [f"\n{side}: {text(criteria[side])}" for side in ("true", "false") if criteria and criteria.get(side)]
        return {"type": "predicate", "name": name, "instructions": instructions + "".join(sides)}
    if question["type"] == "choice":
        choices = [
            {"value": value} if described is None else {"value": value, "description": text(described)}
            for value, described in question["criteria"].items()
        ]
        return {"type": "choice", "name": name, "instructions": instructions, "choices": choices}
    levels = [{"label": text(level)} for level in question["criteria"]]
    return {"type": "score", "name": name, "instructions": instructions, "levels": levels}


def answers_body(parsed: Any) -> Any:
    """The list as a map by name, each answer in the native shape; see ``Dialect``."""
    if not isinstance(parsed, dict) or not isinstance(parsed.get("answers"), list):
        return parsed
    return {**parsed, "answers": by_name(parsed["answers"], "name")}


def by_name(listed: list[Any], key: str) -> dict[str, Any]:
    """``[{key: id, …}]`` as a map from id to native answer.  What is named twice has no answer: which would count?"""
    answers: dict[str, Any] = {}
    for answer in listed:
        name = answer.get(key) if isinstance(answer, dict) else None
        if isinstance(name, str):
            answers[name] = {"type": "given twice"} if name in answers else _native(answer)
    return answers


def _native(answer: dict[str, Any]) -> dict[str, Any]:
    made = dict(answer)
    if made.get("type") in ("predicate", "boolean", "noul"):
        made["type"] = "noul"
        if "noul" not in made:
            made["noul"] = made.pop("probability", None)
    listed = made.get("probabilities")
    if isinstance(listed, list):
        found: dict[str, Any] = {}
        for entry in listed:
            value = entry.get("value") if isinstance(entry, dict) else None
            plain = isinstance(value, (str, int)) and not isinstance(value, bool)
            # An entry that can't be read, or comes twice, makes the distribution one that nobody can check.
            readable = plain and str(value) not in found
            found[str(value) if readable else f"unreadable {len(found)}"] = entry.get("probability") if plain else None
        made["probabilities"] = found
    return made
