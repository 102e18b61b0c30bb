"""Cloudflare Workers AI running Jev: ``POST {base}/ai/run``, the native fields under ``input``.

Facts: Cloudflare's model page for typesafe/jev; errors as others measured them.  ``base`` carries the account's id:
``account`` in ``[judge]``, or ``CLOUDFLARE_ACCOUNT_ID``.  An answer is ``{result, success, errors, messages}``.
"""

from __future__ import annotations

from .native import fits as fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "cloudflare"
KEY_VARS: tuple[str, ...] = ("CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY")
BASE_VARS: tuple[str, ...] = ()
ACCOUNT_VARS: tuple[str, ...] = ("CLOUDFLARE_ACCOUNT_ID",)
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "https://api.cloudflare.com/client/v4/accounts/{account}"
DEFAULT_MODEL = "typesafe/jev"
LOCAL = False
MAX_QUESTIONS = 64


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    body = {"model": model, "input": {"state": state, "questions": dict(questions)}}
    return f"{base.rstrip('/').removesuffix('/ai/run')}/ai/run", {}, body


def answers_body(parsed: Any) -> Any:
    """What is in the envelope, unless it reports a failure; see ``Dialect``."""
    if isinstance(parsed, dict) and parsed.get("success") is not False and isinstance(parsed.get("result"), dict):
        return parsed["result"]
    return parsed
