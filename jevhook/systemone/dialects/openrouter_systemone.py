"""OpenRouter's endpoint for TypeSafe's own clients: ``POST {base}/api/v1/systemone``, the native shape.

Facts: OpenRouter's documentation.  Bare model ids (``jev-latest``) are mapped by the service.
"""

from __future__ import annotations

from . import native, openrouter
from .native import answers_body as answers_body
from .native import fits as fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "openrouter_systemone"
KEY_VARS: tuple[str, ...] = ("OPENROUTER_API_KEY",)
BASE_VARS: tuple[str, ...] = ("OPENROUTER_BASE_URL",)
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "https://openrouter.ai/api"
DEFAULT_MODEL = "jev-latest"
LOCAL = False
MAX_QUESTIONS = 400


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    url, _, body = native.request(base, model, state, questions)
    return url, dict(openrouter.TITLE), body
