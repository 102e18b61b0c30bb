"""The dialects of System One: one module a provider, found by name here.

Adding a provider is one new module that is the ``Dialect`` protocol, and one line in ``MODULES``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    class Dialect(Protocol):
        """What a provider's module offers.  Facts and sources: the module's own docstring.

        ``NAME``           as in ``MODULES``; also what error messages call the service
        ``KEY_VARS``       environment variables that may hold its key, the first one is the one we name
        ``BASE_VARS``      environment variables that may hold its base URL
        ``DEFAULT_BASE``   base URL, no trailing slash
        ``DEFAULT_MODEL``  the model asked when nobody names one
        ``LOCAL``          True when it normally runs on this machine and needs no key
        ``MAX_QUESTIONS``  how many questions one request may carry
        """

        NAME: str
        KEY_VARS: tuple[str, ...]
        BASE_VARS: tuple[str, ...]
        DEFAULT_BASE: str
        DEFAULT_MODEL: str
        LOCAL: bool
        MAX_QUESTIONS: int

        def request(
            self, base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
        ) -> tuple[str, dict[str, str], dict[str, Any]]:
            """(url, headers, body) for native questions.  Authorization and the usual JSON headers are added by
            the caller: no dialect ever sees a key.  Raises ValueError for a question it cannot ask."""

        def answers_body(self, parsed: Any) -> Any:
            """The parsed response in the native shape ``{"model", "answers", "usage"}``.  Never raises: what is
            not understood is handed on as it is, and ``wire.read_answers`` finds no answer in it."""


MODULES = {
    "typesafe": "jevhook.systemone.dialects.typesafe",
}


def load(name: str) -> Dialect:
    """The dialect module called ``name``.  Raises ValueError that names the dialects there are."""
    if name not in MODULES:
        raise ValueError(f"unknown provider {name!r}: use one of {', '.join(sorted(MODULES))}")
    __import__(MODULES[name])
    import sys

    module: Dialect = sys.modules[MODULES[name]]
    return module
