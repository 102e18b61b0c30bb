"""vLLM >= 0.32.0 on this machine: ``POST {base}/v1/systemone``, the native shape.

Facts: vLLM's documentation of structured decisions.  The model is the served one.  0.33.0 also has OpenAI's shape: use
the ``openai`` dialect with this server's ``base_url``.
"""

from __future__ import annotations

from .native import answers_body as answers_body
from .native import fits as fits
from .native import request as request

NAME = "vllm"
KEY_VARS: tuple[str, ...] = ("VLLM_API_KEY",)
BASE_VARS: tuple[str, ...] = ()
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "http://127.0.0.1:8000"
DEFAULT_MODEL = ""
LOCAL = True
MAX_QUESTIONS = 400
