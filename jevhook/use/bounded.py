"""What rank, verify and review take: small, named, whole.  What is wrong is refused before anything is asked.

Each has a code of its own beside the field, as a caller that is a program wants it: ``CLAIM_INVALID: claims[1].name:
…``.  Nothing is cut or scrubbed: a claim that was cut is another claim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..text.printable import printable
from ..text.redact import redact
from .request import RequestError

MAX_STATE = 12_000  # characters
MAX_TEXT = 500
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")
# A slash at the start of a word, a drive, a share, a file name with its ending, or two slashes; not "and/or".
_PATH = re.compile(
    r"(?:^|[\s\"'`(=:,])(?:~|\.{1,2})?/[\w.-]|\b[A-Za-z]:[\\/]|\\\\\w|\b[\w.-]+(?:/[\w.-]+)*/[\w-]+\.\w{1,5}\b"
    r"|\b[\w.-]+/[\w.-]+/[\w.-]+"
)


class Invalid(RequestError):
    """A request that is not asked.  ``code`` is the kind, ``field`` where it is wrong, the text names both."""

    def __init__(self, code: str, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.args = (f"{code}: {field}: {problem}",)
        self.code = code


def fields(request: Any, code: str, mode: str, known: Sequence[str]) -> Mapping[str, Any]:
    """``request`` if it is an object with nothing but ``known``, ``schemaVersion`` 1 and ``mode``, else Invalid."""
    if not isinstance(request, dict):
        raise Invalid(code, "request", f"must be an object, not {_kind(request)}")
    for name in request:
        if name not in known and name not in ("schemaVersion", "mode"):
            raise Invalid(code, printable(str(name))[:80], f"is not known; known are {', '.join(known)}")
    version = request.get("schemaVersion", 1)
    if version != 1 or isinstance(version, bool):
        raise Invalid(code, "schemaVersion", "must be 1")
    if request.get("mode", mode) != mode:
        raise Invalid(code, "mode", f'must be "{mode}"')
    return request


def items(value: Any, code: str, field: str, least: int, most: int) -> Sequence[Any]:
    """A list of ``least`` to ``most`` entries."""
    if not isinstance(value, list):
        raise Invalid(code, field, f"must be a list, not {_kind(value)}")
    if not least <= len(value) <= most:
        raise Invalid(code, field, f"{least} to {most} of them, got {len(value)}")
    return value


def entry(value: Any, code: str, field: str, known: Sequence[str]) -> Mapping[str, Any]:
    """One object in a list, with nothing but ``known``."""
    if not isinstance(value, dict):
        raise Invalid(code, field, f"must be an object with {' and '.join(known)}, not {_kind(value)}")
    for name in value:
        if name not in known:
            raise Invalid(code, f"{field}.{printable(str(name))[:80]}", f"is not known; known are {', '.join(known)}")
    return value


def name(value: Any, code: str, field: str) -> str:
    """A name of 1 to 64 letters, digits, ``. _ : -``, a letter or digit first."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Invalid(code, field, "1 to 64 letters, digits, . _ : -, a letter or digit first")
    return value


def text(value: Any, code: str, field: str, most: int = MAX_TEXT) -> str:
    """A text of 1 to ``most`` characters that is not blank and holds no control character and no credential."""
    said = _text(value, code, field, most)
    if printable(said) != said:
        raise Invalid(code, field, "holds control characters")
    return said


def _text(value: Any, code: str, field: str, most: int) -> str:
    if not isinstance(value, str):
        raise Invalid(code, field, f"must be a text, not {_kind(value)}")
    if not value.strip():
        raise Invalid(code, field, "must not be blank")
    if len(value) > most:
        raise Invalid(code, field, f"at most {most:,} characters, got {len(value):,}")
    if redact(value) != value:
        raise Invalid(code, field, "holds what looks like a credential, and none is sent: take it out")
    return value


def criterion(value: Any, code: str, field: str) -> str:
    """One criterion: 1 to 120 characters on one line, without a path (it goes beside shapes only, never content)."""
    said = text(value, code, field, 120)
    if "\n" in said or "\t" in said:
        raise Invalid(code, field, "must be one line")
    if _PATH.search(said):
        raise Invalid(code, field, "holds what looks like a path, and none is sent: say it without")
    return said


def levels(value: Any, code: str, field: str) -> list[str]:
    """2 to 10 different levels of a score, lowest first."""
    found = [criterion(each, code, f"{field}[{at}]") for at, each in enumerate(items(value, code, field, 2, 10))]
    for at, each in enumerate(found):
        if each in found[:at]:
            raise Invalid(code, f"{field}[{at}]", "is there twice")
    return found


def state(value: Any, code: str = "STATE_INVALID", field: str = "state") -> str:
    """A text of 1 to 12,000 characters without a credential, as it is but for the escape sequences: what a program
    wrote for a terminal is evidence, its colours are not."""
    return printable(_text(value, code, field, MAX_STATE))


def count(value: Any, code: str, field: str) -> int:
    """A whole number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0 or value >= 1 << 53:
        raise Invalid(code, field, "must be a whole number from 0 up")
    return value


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__
