"""SGLang on this machine: ``POST {base}/v1/systemone``, the native shape.  Its own one: ``sglang_decisions``.

Facts: SGLang's documentation of decision models.  A model whose answer labels are not single tokens is 400.
"""

from __future__ import annotations

from .native import answers_body as answers_body
from .native import fits as fits
from .native import request as request

NAME = "sglang"
KEY_VARS: tuple[str, ...] = ()
BASE_VARS: tuple[str, ...] = ()
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = "http://127.0.0.1:30000"
DEFAULT_MODEL = ""
LOCAL = True
MAX_QUESTIONS = 400
