"""The hooks table of a settings file, which the hosts so far share in shape: event -> groups -> handlers."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import jsontext
from .jsontext import Node


@dataclass(frozen=True)
class Entry:
    """One command handler.  ``group`` and ``handler`` are its places in the event's list and in the group's."""

    event: str
    group: int
    handler: int
    matcher: Any
    fields: Mapping[str, Any]
    alone: bool  # whether it is its group's only handler

    @property
    def command(self) -> str:
        """The command line as it stands in the file, "" when it is no text."""
        found = self.fields.get("command")
        return found if isinstance(found, str) else ""


@dataclass(frozen=True)
class Trouble:
    """``level`` "off" (the hook does not run, or stops nothing) or "warn"; ``text`` one sentence."""

    level: str
    text: str
    mend: str = ""  # "install" or "trust": what would mend it


def words(command: str) -> list[str]:
    """A command line's words; [] when its quotes don't close."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def ours(command: str) -> bool:
    """Whether ``command`` starts this gate's hook, wherever it is installed: ``PYTHON … -m jevhook hook``,
    ``PYTHON … DIR/jevhook/__main__.py hook``, or ``…/jevhook hook`` (or ``jev-use``)."""
    given = words(command)
    if given[1:2] == ["hook"] and os.path.basename(given[0]) in ("jevhook", "jev-use"):
        return True
    for at in range(2, len(given)):
        if given[at] == "hook":
            flag, said = given[at - 2], given[at - 1]
            if said.endswith("/jevhook/__main__.py") or (said == "jevhook" and flag[:1] == "-" and flag[-1:] == "m"):
                return True
    return False


def option(command: str, name: str) -> str:
    """The value of ``--name`` in a command line, "" when it has none."""
    given = words(command)
    for at, word in enumerate(given):
        head, mark, value = word.partition("=")
        if head == name:
            return value if mark else "".join(given[at + 1 : at + 2])
    return ""


def table(document: Any) -> Iterator[Entry]:
    """Every handler in a settings document.  What has not the documented shape is passed over."""
    hooks = document.get("hooks") if isinstance(document, dict) else None
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for number, fields in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(fields, dict) and isinstance(handlers, list):
                    yield Entry(event, at, number, group.get("matcher"), fields, len(handlers) == 1)


def mine(document: Any) -> list[Entry]:
    """Our handlers in it, in the file's order."""
    return [entry for entry in table(document) if ours(entry.command)]


def shape(document: Any) -> str:
    """Why no entry can be added to the document; "" when one can."""
    if not isinstance(document, dict):
        return "the file is not a JSON object"
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        return "hooks is not an object"
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            return f"hooks.{event} is not a list"
        for at, group in enumerate(groups):
            if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
                return f"hooks.{event}[{at}] is not an object with a list called hooks"
    return ""


def put(text: str, event: str, matcher: str, fields: dict[str, Any]) -> str:
    """``text`` with a group of our own as the last one of ``event``.  Last, because Codex trusts hooks by their place:
    another one's place never moves."""
    group = {"matcher": matcher, "hooks": [fields]}
    root = jsontext.read(text)
    hooks = root.get("hooks")
    if hooks is None:
        return jsontext.append(text, root, {event: [group]}, "hooks")
    groups = hooks.get(event)
    if groups is None:
        return jsontext.append(text, hooks, [group], event)
    return jsontext.append(text, groups, group)


def mend(text: str, entry: Entry, matcher: str, fields: dict[str, Any]) -> str:
    """``text`` with the entry (and, where it is alone in it, its group) as it should be."""
    group, handler = _nodes(text, entry)
    if entry.alone and entry.matcher != matcher:
        return jsontext.replace(text, group, {"matcher": matcher, "hooks": [fields]})
    return jsontext.replace(text, handler, fields)


def take(text: str, entry: Entry, keep: Collection[str] = ()) -> str:
    """``text`` without the entry, and without the group, the event's list and the hooks table that are left empty.

    ``keep`` names events, and "hooks", that stay nevertheless.
    """
    root = jsontext.read(text)
    group, _ = _nodes(text, entry, root)
    handlers, hooks = group.get("hooks"), root.get("hooks")
    groups = hooks.get(entry.event) if hooks else None
    if handlers is None or hooks is None or groups is None:
        raise ValueError("the entry is not there")
    if not entry.alone:
        return jsontext.remove(text, handlers, entry.handler)
    if len(groups.items) > 1 or entry.event in keep:
        return jsontext.remove(text, groups, entry.group)
    if len(hooks.members) > 1 or "hooks" in keep:
        return jsontext.remove(text, hooks, [key for key, _, _ in hooks.members].index(entry.event))
    return jsontext.remove(text, root, [key for key, _, _ in root.members].index("hooks"))


def _nodes(text: str, entry: Entry, root: Node | None = None) -> tuple[Node, Node]:
    hooks = (root or jsontext.read(text)).get("hooks")
    groups = hooks.get(entry.event) if hooks else None
    if groups is None:
        raise ValueError("the entry is not there")
    group = groups.items[entry.group]
    handlers = group.get("hooks")
    if handlers is None:
        raise ValueError("the entry is not there")
    return group, handlers.items[entry.handler]
