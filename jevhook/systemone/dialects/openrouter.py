"""OpenRouter's decisions API: ``POST {base}/api/alpha/decisions``, native but for two things.

Facts: OpenRouter's SDK types (August 2026 on).  A noul's criteria must have both sides; ``probabilities``,
``confidence`` and ``legend`` may be missing from an answer.  Model ids carry their maker: ``typesafe/jev-1.13``,
``~typesafe/jev-latest``, ``cloudflare/clef-flash``.
"""

from __future__ import annotations

from .native import answers_body as answers_body
from .native import fits as fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "openrouter"
KEY_VARS: tuple[str, ...] = ("OPENROUTER_API_KEY",)
BASE_VARS: tuple[str, ...] = ("OPENROUTER_BASE_URL",)
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "https://openrouter.ai"
DEFAULT_MODEL = "typesafe/jev-1.13"
LOCAL = False
MAX_QUESTIONS = 400

TITLE = {"X-OpenRouter-Title": "jevhook"}  # what the user's own activity page calls the caller


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    asked = {name: _two_sided(question) for name, question in questions.items()}
    return endpoint(base), dict(TITLE), {"model": model, "state": state, "questions": asked}


def endpoint(base: str) -> str:
    """OPENROUTER_BASE_URL is commonly written with the chat API's ``/api/v1``."""
    base = base.rstrip("/")
    if base.endswith("/decisions"):
        return base
    return base.removesuffix("/v1").removesuffix("/api") + "/api/alpha/decisions"


def _two_sided(question: dict[str, Any]) -> dict[str, Any]:
    criteria = question.get("criteria")
    if question["type"] != "noul" or not criteria or len(criteria) == 2:
        return question
    # The other side in words that add nothing: dropping the one there is would lose what the question means.
    return {**question, "criteria": {"true": "Otherwise.", "false": "Otherwise.", **criteria}}
