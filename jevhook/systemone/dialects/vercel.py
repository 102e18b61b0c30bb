"""Vercel's AI Gateway, its own dialect: ``POST {base}/v4/ai/decision-model``.

Facts: a request of @ai-sdk/gateway 4.0.146 as it was sent; answers and errors as others measured them.  The model is
named in a header, the state is text in ``stateParts``, a noul is called boolean, and the confidences stand apart, under
``providerMetadata.<provider>.confidence``.  The error's type decides, not its status: 403 may be a missing credit card.
"""

from __future__ import annotations

from .native import fits as fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "vercel"
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
    body = {"stateParts": [{"type": "text", "text": text(state)}], "questions": boolean_questions(questions)}
    return endpoint(base, "/v4/ai/decision-model"), headers(model, "ai-decision-model-specification-version"), body


def endpoint(base: str, path: str) -> str:
    """AI_GATEWAY_BASE_URL is commonly written with a version, of the chat or the model API."""
    base = base.rstrip("/")
    if base.endswith(path):
        return base
    for end in ("/v4/ai", "/v3/ai", "/v1/ai", "/v1"):
        base = base.removesuffix(end)
    return base + path


def headers(model: str, version: str) -> dict[str, str]:
    """The gateway's protocol headers; ``version`` is the name of the one that differs between its two routes."""
    return {
        "ai-gateway-protocol-version": "0.0.1",
        "ai-gateway-auth-method": "api-key",
        "ai-model-id": model,
        version: "4",
    }


def text(state: Any) -> str:
    """The state as a text: itself, or readable JSON (letters stay letters, a model reads them).  Raises ValueError."""
    if isinstance(state, str):
        return state
    import json

    try:
        return json.dumps(state, ensure_ascii=False, allow_nan=False)
    except (TypeError, RecursionError):
        raise ValueError("the state is not JSON") from None


def boolean_questions(questions: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The native questions with noul called boolean."""
    return {name: {**q, "type": "boolean"} if q["type"] == "noul" else q for name, q in questions.items()}


def answers_body(parsed: Any) -> Any:
    """boolean -> noul, and each confidence back to its answer; see ``Dialect``."""
    if not isinstance(parsed, dict) or not isinstance(parsed.get("answers"), dict):
        return parsed
    known = _confidences(parsed.get("providerMetadata"))
    answers = {}
    for name, answer in parsed["answers"].items():
        if isinstance(answer, dict):
            answer = dict(answer)
            if answer.get("type") == "boolean":
                answer["type"], answer["noul"] = "noul", answer.pop("probability", None)
            elif name in known:
                answer.setdefault("confidence", known[name])
        answers[name] = answer
    return {**parsed, "answers": answers}


def _confidences(metadata: Any) -> dict[str, Any]:
    for provider in metadata.values() if isinstance(metadata, dict) else ():
        if isinstance(provider, dict) and isinstance(provider.get("confidence"), dict):
            found: dict[str, Any] = provider["confidence"]
            return found
    return {}
