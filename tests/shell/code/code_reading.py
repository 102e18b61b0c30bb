"""How the tables of this directory say what a piece of code would do."""

from __future__ import annotations

from jevhook.shell.code import Act, read_code

KNOWN = {"HOME": "/home/dev", "PWD": "/home/dev/work/shop", "USER": "dev", "TMPDIR": "/tmp"}


def said(act: Act) -> str:
    """An act in one line: kind, ``*`` for recursive, ``?`` for unsure, value (``<?>`` unknown, ``<*>`` a star)."""
    value = act.value if isinstance(act.value, str) else " | ".join(act.value)
    marks = ("*" if act.recursive else "") + ("" if act.sure else "?")
    return f"{act.kind}{marks} {value}".rstrip().replace("\0", "<?>").replace("\1", "<*>")


def acts(language: str, source: str, *args: str) -> list[str]:
    return [said(act) for act in read_code(language, source, KNOWN, args)[0]]
