"""Databricks model serving: ``POST https://{workspace}/ai-gateway/typesafe/v1/systemone``, the native shape.

Facts: Databricks' documentation of System One models.  The model is a Unity Catalog name.  Every workspace has its own
host: ``base_url`` (or ``account``, the bare host name) in ``[judge]``, or ``DATABRICKS_HOST``.  Errors are
``{error_code, message}``; those of decisions are not documented.
"""

from __future__ import annotations

from . import native
from .native import answers_body as answers_body
from .native import fits as fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "databricks"
KEY_VARS: tuple[str, ...] = ("DATABRICKS_TOKEN",)
BASE_VARS: tuple[str, ...] = ("DATABRICKS_HOST",)
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = (".cloud.databricks.com", ".gcp.databricks.com", ".azuredatabricks.net")
DEFAULT_BASE = "https://{account}"
DEFAULT_MODEL = "system.ai.openjev-qwen35-4b"
LOCAL = False
MAX_QUESTIONS = 400


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    base = base.rstrip("/")
    if "/ai-gateway" not in base and not base.endswith("/systemone"):
        base += "/ai-gateway/typesafe"
    return native.request(base, model, state, questions)
