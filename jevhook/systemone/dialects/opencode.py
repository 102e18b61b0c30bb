"""OpenCode Zen: ``POST {base}/v1/systemone``, the native shape.

Facts: OpenCode's documentation.  An account without funds is 402, the free checkpoint outside its own client 403.
"""

from __future__ import annotations

from .native import answers_body as answers_body
from .native import fits as fits
from .native import request as request

NAME = "opencode"
KEY_VARS: tuple[str, ...] = ("OPENCODE_API_KEY", "OPENCODE_ZEN_API_KEY")
BASE_VARS: tuple[str, ...] = ()
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "https://opencode.ai/zen"
DEFAULT_MODEL = "jev-1.13"
LOCAL = False
MAX_QUESTIONS = 400
