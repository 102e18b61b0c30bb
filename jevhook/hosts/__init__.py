"""The hosts that call us: one module a host, found by name here.

Adding a host is one new module that is the ``Host`` protocol, and one line in ``MODULES``.  Where ``jevhook install``
should know it too, its ``Installer`` stands beside it in ``<host>_install.py``: no hook ever loads that.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from ..event import Decision, Event, Output
    from ..install.entries import Trouble
    from ..install.files import Found

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

        def settings_files(self, event: Event, env: Mapping[str, str]) -> list[str]:
            """The files that decide whether this hook runs in the event's session, whether they exist or not."""

        def warn(self, event: Event, output: Output, text: str) -> Output:
            """``output`` with a warning after the tool for the model and, where the host shows any, for the person."""

    class Installer(Protocol):
        """Where a host's settings are and what becomes of hooks in them.  Facts: the module's own docstring."""

        NAME: str
        TITLE: str  # what people call it
        PROGRAM: str  # its executable
        TESTED: tuple[str, ...]  # versions that these facts are of
        REGISTER: tuple[tuple[str, str], ...]  # (event, matcher)
        LOADED: str  # when a change of the settings counts
        UNTRUSTED: str  # what to tell where an entry does not count before the person has said so; "" where it does
        STURDIER: str  # where a repository can't undo it
        SHELL: tuple[str, str]  # what runs a command line
        DEFAULT_TIMEOUT: float  # seconds
        BOM: bool  # whether a settings file may start with a byte order mark
        MANAGED: str  # settings in the same form that an administrator makes; "" where there are none

        def directory(self, env: Mapping[str, str]) -> str:
            """The user's own directory of settings; "" without a home."""

        def settings(self, env: Mapping[str, str], project: str = "") -> str:
            """The JSON file that an entry goes into: the user's, or the one in ``project``."""

        def handler(self, event: str, command: str, fail_closed: bool) -> dict[str, Any]:
            """The entry for ``event``.  ``fail_closed``: a call whose hook can't run is stopped, where that can be said."""

        def drops(self, document: Any) -> str:
            """What in a settings document makes the host ignore all of it; "" for nothing."""

        def covers(self, matcher: Any, tool: str) -> bool:
            """Whether a group with this matcher runs for ``tool``."""

        def trust(self, env: Mapping[str, str], path: str, text: str) -> tuple[Found, str, list[str]] | None:
            """(a file as it is, its text as it must be, the keys that are new in it) so that our entries in ``text``
            are run; None if they are."""

        def untrust(self, env: Mapping[str, str], path: str, text: str, keys: list[str]) -> tuple[Found, str] | None:
            """The reverse, for our entries in ``text`` and those that these ``keys`` stand for."""

        def elsewhere(
            self, env: Mapping[str, str], path: str, commands: list[str], cwd: str, root: str, binary: str
        ) -> list[Trouble]:
            """What anything but ``path`` itself does to our ``commands`` in it, for sessions in ``cwd``."""

        def event(self, command: str, cwd: str, session: str, call: str) -> dict[str, Any]:
            """A before-tool event of a shell command."""

        def denied(self, stdout: str) -> bool:
            """Whether the host takes this answer to a before-tool event for a denial."""

        def mcp_add(self, words: list[str]) -> list[str]:
            """Arguments of the host's own program that register an MCP server with this command."""

        def mcp_remove(self) -> list[str]:
            """Arguments that take it out again."""


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


def installer(name: str) -> Installer:
    """The ``Installer`` of the host called ``name``.  Raises ValueError that names the hosts that have one."""
    import importlib

    if name in MODULES:
        try:
            found: Installer = importlib.import_module(f"{MODULES[name]}_install")
            return found
        except ModuleNotFoundError:
            pass
    raise ValueError(f"jevhook can't install itself into {name!r}: use one of {', '.join(installable())}")


def installable() -> list[str]:
    """The names of the hosts that have an ``Installer``, sorted."""
    import importlib.util

    return sorted(name for name, module in MODULES.items() if importlib.util.find_spec(f"{module}_install"))


def warning(event: Event, output: Output, text: str) -> Output:
    """``output`` with ``text`` as Claude Code and Codex take it after a tool: ``additionalContext`` for the model and
    ``systemMessage`` for the person, both in their schemas of that event."""
    from ..event import Output as Said
    from ..jsonio import dumps, loads

    told = loads(output.stdout) if output.stdout else {}
    inner = told.setdefault("hookSpecificOutput", {"hookEventName": event.name})
    inner["additionalContext"] = f"{inner['additionalContext']}\n{text}" if "additionalContext" in inner else text
    told["systemMessage"] = text
    return Said(dumps(told), output.code, output.stderr)


def detect(payload: Mapping[str, Any]) -> Host | None:
    """The host whose event shape this is, or None."""
    for name in MODULES:
        host = load(name)
        if host.claims(payload):
            return host
    return None
