"""TypeSafe's own dialect, which is the native one.

Facts: typesafe-sdk 0.7.5; its AI-SDK provider reads ``TYPESAFE_AI_API_KEY``.  Limits: state plus the longest question
up to about 33,000 tokens, all together about 64,000; no documented limit on the number of questions (400 in one
request were measured), so ours is only a guard.
"""

from __future__ import annotations

from .native import answers_body as answers_body
from .native import endpoint as endpoint
from .native import fits as fits
from .native import request as request

NAME = "typesafe"
KEY_VARS: tuple[str, ...] = ("TYPESAFE_API_KEY", "TYPESAFE_AI_API_KEY")
BASE_VARS: tuple[str, ...] = ("TYPESAFE_BASE_URL",)
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "https://api.typesafe.ai"
DEFAULT_MODEL = "jev-latest"
LOCAL = False
MAX_QUESTIONS = 400
