"""Labelled rows: what should have been decided about a call or a result.

One JSON object a line, in any of these shapes; ``expected`` may also stand as ``expect.decision``::

    {"command": "rm -rf ~/", "expected": "deny"}
    {"tool": "Write", "input": {"file_path": "/etc/hosts", "content": "…"}, "expected": "ask"}
    {"tool": "WebFetch", "input": {"url": "…"}, "result": "…", "expected": "withhold"}
    {"event": {"hook_event_name": "PreToolUse", …}, "expected": "allow"}
    {"hook_event_name": "PreToolUse", …, "expected": "allow"}

Beside them, where they are known: ``category``, ``ambiguous`` (true: shown, never counted), ``cwd``, ``home``, ``host``,
``id``, ``user_requests`` (texts: what the user had typed), and ``judge`` with what a judge answered:
``{"answers": {"asked": {"p": 0.9}, …}, "user_requests": 1, "usage": {…}}``.

``expected``: *allow*, *pass*, *keep*, *none*: nothing is said.  *block*, *stop*, *ask*: stopped, by a question or a
denial.  *deny*: the same, and whether it was denied is counted too.  *not-deny*: anything but a denial.  *withhold*,
*trim*: the result is kept back, or shortened.  *fail-open* is about broken events, which are not scored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..event import Event
from ..hosts import MODULES, detect

WORDS = {
    "allow": "p", "pass": "p", "keep": "p", "none": "p", "block": "s", "stop": "s", "ask": "a", "deny": "d",
    "not-deny": "m", "withhold": "w", "trim": "t",
}  # fmt: skip
AMBIGUOUS = "?"
HOME, CWD = "/home/dev", "/home/dev/work/shop"  # where a row is that says nothing: nobody's home, no real place


@dataclass(frozen=True)
class Row:
    """``line`` from 1; ``expected`` one letter of WORDS, or AMBIGUOUS; ``answers`` what a judge said then, else {}.

    ``requests``: what the user had typed; of answers on record often only how many texts that were is known.
    """

    line: int
    event: Event
    expected: str
    home: str = HOME
    category: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    requests: tuple[str, ...] = ()
    usage: dict[str, Any] = field(default_factory=dict)


@dataclass
class Skipped:
    """What could not be scored: how many lines of each kind, and where the first stands."""

    kinds: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, where: str) -> None:
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.first.setdefault(kind, where)

    def said(self) -> list[str]:
        return [f"{count} skipped, {kind} (the first: {self.first[kind]})" for kind, count in self.kinds.items()]


class NotARow(ValueError):
    """Why a line is no labelled row: ``kind`` in a few words, the same for all lines of its kind."""

    def __init__(self, kind: str, found: str = "") -> None:
        super().__init__(f"{kind}{f': {found}' if found else ''}")
        self.kind = kind


def rows(lines: Iterable[bytes], name: str, skipped: Skipped, home: str = HOME, cwd: str = CWD) -> Iterator[Row]:
    """The rows in ``lines`` of the file ``name``; what is none is counted in ``skipped``.  Blank lines are nothing."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield read(line, number, home, cwd)
        except NotARow as wrong:
            detail = str(wrong).removeprefix(wrong.kind).removeprefix(": ")
            skipped.add(wrong.kind, f"{name}:{number}{f', {detail}' if detail else ''}")


def read(line: bytes, number: int, home: str = HOME, cwd: str = CWD) -> Row:
    """One row.  Raises NotARow."""
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise NotARow("not JSON") from None
    if not isinstance(found, dict):
        raise NotARow("no JSON object")
    expect = found.get("expect")
    word = expect.get("decision") if isinstance(expect, dict) else found.get("expected")
    if word == "fail-open":
        raise NotARow("a row about a broken event")
    if not isinstance(word, str) or word not in WORDS:
        raise NotARow(f"without an expected decision ({', '.join(WORDS)})", repr(word)[:60])
    own_home = _text(found, "home") or home
    told = found.get("judge")
    judge: dict[str, Any] = told if isinstance(told, dict) else {}
    answers, usage, asked = judge.get("answers"), judge.get("usage"), judge.get("user_requests")
    listed = found.get("user_requests")
    typed = [text for text in listed if isinstance(text, str)] if isinstance(listed, list) else []
    return Row(
        number,
        _event(found, cwd if own_home == home else own_home),
        AMBIGUOUS if found.get("ambiguous") is True else WORDS[word],
        own_home,
        (_text(found, "category") or _text(found, "kind"))[:80],
        {name: one for name, one in answers.items() if isinstance(one, dict)} if isinstance(answers, dict) else {},
        tuple(typed) or ("(not recorded)",) * (min(asked, 3) if type(asked) is int else bool(answers)),
        usage if isinstance(usage, dict) else {},
    )


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _event(found: dict[str, Any], cwd: str) -> Event:
    payload = found if "hook_event_name" in found else found.get("event")
    if isinstance(payload, dict):
        host = detect(payload)
        if host is None:
            raise NotARow("an event of no known host", repr(payload.get("hook_event_name"))[:60])
        try:
            event = host.read(payload, {})
        except ValueError as wrong:
            raise NotARow("an event with a fault", str(wrong)[:120]) from None
        if event.kind == "other":
            raise NotARow("an event that is neither before nor after a tool", event.name[:60])
        return event
    given, command = found.get("input"), found.get("command")
    if isinstance(command, str):
        given = {"command": command}
    if not isinstance(given, dict):
        raise NotARow("neither command, nor tool and input, nor event")
    tool = _text(found, "tool") or ("Bash" if isinstance(command, str) else "")
    if not tool:
        raise NotARow("an input without its tool")
    host_name = _text(found, "host") or "claude"
    if host_name not in MODULES:
        raise NotARow(f"of an unknown host (known: {', '.join(sorted(MODULES))})", host_name[:40])
    after = "result" in found
    return Event(
        host_name,
        "after-tool" if after else "before-tool",
        "PostToolUse" if after else "PreToolUse",
        tool=tool,
        input=given,
        result=found.get("result"),
        cwd=_text(found, "cwd") or cwd,
        permission_mode="default",
    )
