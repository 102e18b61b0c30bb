"""Vercel's AI Gateway for TypeSafe's own clients: ``POST {base}/v1/systemone`` under ``/typesafe``, the native shape.

Facts: Vercel's documentation.  Errors are ``{message, error_type}`` at the top.
"""

from __future__ import annotations

from .native import answers_body as answers_body
from .native import fits as fits
from .native import request as request

NAME = "vercel_typesafe"
KEY_VARS: tuple[str, ...] = ("AI_GATEWAY_API_KEY",)
BASE_VARS: tuple[str, ...] = ()  # AI_GATEWAY_BASE_URL names the gateway's other routes
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "https://ai-gateway.vercel.sh/typesafe"
DEFAULT_MODEL = "typesafe-ai/jev"
LOCAL = False
MAX_QUESTIONS = 400
