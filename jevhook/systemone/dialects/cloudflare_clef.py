"""Cloudflare's own decision model: ``POST {base}/ai/run/@cf/cloudflare/clef``, or ``clef-flash``.

Facts: measured by others between 2026-10-03 and 10-07.  1-64 questions, ids of ``[A-Za-z0-9_.-]`` up to 100 long,
2-10 levels, instructions everywhere, unknown fields refused.  Until 2026-10-04 it silently ignored a state past about
2,048 tokens.
"""

from __future__ import annotations

from ..wire import JudgeError
from .cloudflare import answers_body as answers_body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "cloudflare_clef"
KEY_VARS: tuple[str, ...] = ("CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY")
BASE_VARS: tuple[str, ...] = ()
ACCOUNT_VARS: tuple[str, ...] = ("CLOUDFLARE_ACCOUNT_ID",)
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "https://api.cloudflare.com/client/v4/accounts/{account}"
DEFAULT_MODEL = "clef"
LOCAL = False
MAX_QUESTIONS = 64

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def fits(name: str, question: Mapping[str, Any]) -> bool:
    """The service's own rule for ids."""
    return 0 < len(name) <= 100 and _LETTERS.issuperset(name) and bool(question.get("instructions"))


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    model = model.removeprefix("@cf/cloudflare/")
    if not model or not _LETTERS.issuperset(model) or ".." in model:  # it becomes part of the address
        raise JudgeError("config", f"{NAME}: the model must be clef or clef-flash")
    url = base.rstrip("/")
    if not url.endswith(f"/ai/run/@cf/cloudflare/{model}"):
        url = f"{url}/ai/run/@cf/cloudflare/{model}"
    return url, {}, {"model": model, "state": state, "questions": dict(questions)}
