"""Ollama >= 0.35 on this machine: ``POST {base}/v1/systemone``, the native shape without a key.

Facts: Ollama's documentation.  2-26 options or levels, a noul needs instructions, a body above 64 KiB is 413, errors
are ``{"error": "…"}``.  There is no default model: name one that was pulled.
"""

from __future__ import annotations

from .native import answers_body as answers_body
from .native import request as request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "ollama"
KEY_VARS: tuple[str, ...] = ("OLLAMA_API_KEY",)
BASE_VARS: tuple[str, ...] = ("OLLAMA_HOST",)
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "http://localhost:11434"
DEFAULT_MODEL = ""
LOCAL = True
MAX_QUESTIONS = 400


def fits(name: str, question: Mapping[str, Any]) -> bool:
    """At most 26 options: one letter answers."""
    return bool(question.get("instructions")) and (
        question["type"] == "noul" or 2 <= len(question.get("criteria") or ()) <= 26
    )
