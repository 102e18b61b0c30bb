"""Vercel's AI Gateway as its earlier releases had it: ``POST {base}/v4/ai/evaluation-model``.

Facts: @ai-sdk/gateway 4.x before 4.0.146.  As ``vercel``, but for the route, one header and ``state``.
"""

from __future__ import annotations

from . import vercel
from .native import fits as fits
from .vercel import answers_body as answers_body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "vercel_evaluation"
KEY_VARS: tuple[str, ...] = ("AI_GATEWAY_API_KEY",)
BASE_VARS: tuple[str, ...] = ("AI_GATEWAY_BASE_URL",)
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "https://ai-gateway.vercel.sh"
DEFAULT_MODEL = "typesafe-ai/jev"
LOCAL = False
MAX_QUESTIONS = 400


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    headers = vercel.headers(model, "ai-evaluation-model-specification-version")
    body = {"state": state, "questions": vercel.boolean_questions(questions)}
    return vercel.endpoint(base, "/v4/ai/evaluation-model"), headers, body
