"""TypeSafe's own dialect, which is the native one: ``POST {base}/v1/systemone``.

Facts: typesafe-sdk 0.7.5.  The same shape is served by many local servers (sparrow-decider, microllm-jev, jevcompat).
Limits: state plus the longest question up to about 33,000 tokens, all together about 64,000; no documented limit on
the number of questions (400 in one request were measured), so ours is only a guard.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "typesafe"
KEY_VARS: tuple[str, ...] = ("TYPESAFE_API_KEY",)
BASE_VARS: tuple[str, ...] = ("TYPESAFE_BASE_URL",)
DEFAULT_BASE = "https://api.typesafe.ai"
DEFAULT_MODEL = "jev-latest"
LOCAL = False
MAX_QUESTIONS = 400


def endpoint(base: str) -> str:
    """The full address: ``base`` may be the origin, the origin with ``/v1``, or already the whole endpoint."""
    base = base.rstrip("/")
    if base.endswith("/systemone"):
        return base
    if base.endswith("/v1"):
        return base + "/systemone"
    return base + "/v1/systemone"


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    return endpoint(base), {}, {"model": model, "state": state, "questions": dict(questions)}


def answers_body(parsed: Any) -> Any:
    """Native already."""
    return parsed
