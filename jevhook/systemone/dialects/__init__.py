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
        ``ACCOUNT_VARS``   environment variables that may hold what stands for ``{account}`` in ``DEFAULT_BASE``
        ``OWN_HOSTS``      ends of the host names that are this service too (a workspace each), with the leading dot
        ``DEFAULT_BASE``   base URL, no trailing slash; "" where every user has their own
        ``DEFAULT_MODEL``  the model asked when nobody names one; "" where there is no such thing
        ``LOCAL``          True when it normally runs on this machine and may need no key
        ``MAX_QUESTIONS``  how many questions one request may carry; the first ones of the caller are the ones asked
        """

        NAME: str
        KEY_VARS: tuple[str, ...]
        BASE_VARS: tuple[str, ...]
        ACCOUNT_VARS: tuple[str, ...]
        OWN_HOSTS: tuple[str, ...]
        DEFAULT_BASE: str
        DEFAULT_MODEL: str
        LOCAL: bool
        MAX_QUESTIONS: int

        def fits(self, name: str, question: Mapping[str, Any]) -> bool:
            """Whether the service can be asked the native ``question`` under the id ``name``.  One that does not fit
            is not sent: most services refuse a whole request for it."""

        def request(
            self, base: str, model: str, state: Any, questions: Mapping[str, dict[str, Any]]
        ) -> tuple[str, dict[str, str], dict[str, Any]]:
            """(url, headers, body) for native questions.  Authorization and the usual JSON headers are added by
            the caller: no dialect ever sees a key.  Raises ValueError for what it cannot ask."""

        def answers_body(self, parsed: Any) -> Any:
            """The parsed response in the native shape ``{"model", "answers", "usage"}``.  Never raises: what is
            not understood is handed on as it is, and ``wire.read_answers`` finds no answer in it."""


# In the order in which a key is looked for where nobody named a provider (never in the hook without consent).
MODULES = {
    "typesafe": "jevhook.systemone.dialects.typesafe",
    "openrouter": "jevhook.systemone.dialects.openrouter",
    "openrouter_systemone": "jevhook.systemone.dialects.openrouter_systemone",
    "vercel": "jevhook.systemone.dialects.vercel",
    "vercel_evaluation": "jevhook.systemone.dialects.vercel_evaluation",
    "vercel_typesafe": "jevhook.systemone.dialects.vercel_typesafe",
    "opencode": "jevhook.systemone.dialects.opencode",
    "cloudflare": "jevhook.systemone.dialects.cloudflare",
    "cloudflare_clef": "jevhook.systemone.dialects.cloudflare_clef",
    "databricks": "jevhook.systemone.dialects.databricks",
    "openai": "jevhook.systemone.dialects.openai",
    "ollama": "jevhook.systemone.dialects.ollama",
    "llama_cpp": "jevhook.systemone.dialects.llama_cpp",
    "vllm": "jevhook.systemone.dialects.vllm",
    "sglang": "jevhook.systemone.dialects.sglang",
    "sglang_decisions": "jevhook.systemone.dialects.sglang_decisions",
    "native": "jevhook.systemone.dialects.native",
}


def named(name: str) -> str:
    """``name`` as it stands in ``MODULES``: people write llama.cpp, llama-cpp and llama_cpp."""
    return name.strip().lower().replace("-", "_").replace(".", "_")


def load(name: str) -> Dialect:
    """The dialect module called ``name``.  Raises ValueError that names the dialects there are."""
    known = MODULES.get(named(name))
    if known is None:
        raise ValueError(f"unknown provider {name!r}: use one of {', '.join(sorted(MODULES))}")
    __import__(known)
    import sys

    module: Dialect = sys.modules[known]
    return module
