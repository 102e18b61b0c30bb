"""The hosts that call us: one module a host, found by name here.

Adding a host is one new module that is the ``Host`` protocol, and one line in ``MODULES``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from ..event import Decision, Event, Output

    class Host(Protocol):
        """What a host's module offers.  Facts and versions: the module's own docstring."""

        NAME: str

        def claims(self, payload: Mapping[str, Any]) -> bool:
            """Whether the event's own shape says that this host sent it."""

        def read(self, payload: dict[str, Any], env: Mapping[str, str]) -> Event:
            """The host-neutral event.  Raises ValueError naming the field that is missing or of a wrong type."""

        def answers(self, event: Event) -> frozenset[str]:
            """The outcomes this host can express for this event: a subset of allow, context, ask, deny,
            withhold, trim.  Silence ("none") always works and is never listed."""

        def answer(self, event: Event, decision: Decision) -> Output:
            """The decision in the host's own words, documented fields only.  SILENCE for what it cannot say."""


# Order matters for detection only: the more particular shape first.
MODULES = {
    "codex": "jevhook.hosts.codex",
    "claude": "jevhook.hosts.claude",
}


def load(name: str) -> Host:
    """The host module called ``name``.  Raises ValueError that names the hosts there are."""
    if name not in MODULES:
        raise ValueError(f"unknown host {name!r}: use one of {', '.join(sorted(MODULES))}")
    __import__(MODULES[name])
    import sys

    module: Host = sys.modules[MODULES[name]]
    return module


def detect(payload: Mapping[str, Any]) -> Host | None:
    """The host whose event shape this is, or None."""
    for name in MODULES:
        host = load(name)
        if host.claims(payload):
            return host
    return None
