"""Any server that speaks the native shape: ``POST {base}/v1/systemone``.  It has no address of its own.

Facts: typesafe-sdk 0.7.5, jevcompat 0.1.1's SPEC.  sparrow-decider, microllm-jev, LiteLLM, ngrok's gateway and many
others serve it.  The dialects whose body is the same take their functions from here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "native"
KEY_VARS: tuple[str, ...] = ()
BASE_VARS: tuple[str, ...] = ()
ACCOUNT_VARS: tuple[str, ...] = ()
OWN_HOSTS: tuple[str, ...] = ()
DEFAULT_BASE = ""
DEFAULT_MODEL = "jev-latest"  # every conformant server takes this alias
LOCAL = True
MAX_QUESTIONS = 400


def endpoint(base: str, path: str = "/v1/systemone") -> str:
    """The full address: ``base`` may be the origin, the origin with ``/v1``, or already the whole endpoint."""
    base = base.rstrip("/")
    if base.endswith("/" + path.rpartition("/")[2]):
        return base
    first, _, rest = path.lstrip("/").partition("/")
    if rest and base.endswith("/" + first):
        return f"{base}/{rest}"
    return base + path


def fits(name: str, question: Mapping[str, Any]) -> bool:
    """The shape's own limits are kept by ``wire``'s builders."""
    return True


def request(
    base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(url, headers, body); see ``Dialect``."""
    return endpoint(base), {}, {"model": model, "state": state, "questions": dict(questions)}


def answers_body(parsed: Any) -> Any:
    """Native already."""
    return parsed
