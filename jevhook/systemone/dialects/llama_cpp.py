"""llama.cpp's server >= b11361 on this machine: ``POST {base}/v1/systemone``, the native shape.

Facts: llama.cpp's PR 29818 and its server as it was seen.  Only models with a decision header; any model name is taken;
instructions are required; how many options one may offer depends on the model (openjev: 52), so the server says it
(400).  ``LLAMA_API_KEY`` is the server's own variable for ``--api-key``.
"""

from __future__ import annotations

from .native import answers_body as answers_body
from .native import request as request
from .openai import fits as fits

NAME = "llama_cpp"
KEY_VARS: tuple[str, ...] = ("LLAMA_API_KEY",)
BASE_VARS: tuple[str, ...] = ()
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "http://127.0.0.1:8080"
DEFAULT_MODEL = "default"
LOCAL = True
MAX_QUESTIONS = 400
