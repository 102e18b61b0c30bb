"""The user's ``config.toml`` as text: what a person wrote stays as it is, and nothing broken is put in its place."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from .. import config, policy, policy_toml
from ..install import files

_HEADER = re.compile(r"\s*\[")
_EXCEPTION = re.compile(r"\s*\[\[\s*exception\s*\]\]\s*(#.*)?$")


def place(env: Mapping[str, str]) -> str:
    """Where the user's file is (it may not exist).  Raises ConfigError where there is no home."""
    folder = config.config_dir(env)
    if not folder:
        raise config.ConfigError("there is neither a home directory nor XDG_CONFIG_HOME, so no config.toml")
    return os.path.join(folder, "config.toml")


def text_of(path: str) -> str:
    """The file's text, "" when there is none.  Raises ConfigError."""
    try:
        data, _ = config.read_bounded(path, 1 << 20)
        return data.decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise config.ConfigError(f"{path}: found bytes that are not UTF-8, allowed: TOML") from None
    except (OSError, ValueError) as wrong:
        raise config.ConfigError(f"{path}: cannot be read: {getattr(wrong, 'strerror', None) or wrong}") from None


def mistakes(text: str, path: str, home: str) -> list[str]:
    """What is wrong in a policy file, one line each with the line's number where it can be found; [] when nothing is."""
    try:
        policy_toml.validate(policy_toml.parse(text.encode("utf-8"), path), path, home=home, may_choose=True)
    except config.ConfigError as wrong:
        return [located(problem, path, text) for problem in wrong.problems]
    return []


def replace(path: str, text: str, home: str, *, before: str) -> None:
    """Put ``text`` at ``path`` in one step, through a symlink, mode 0600; ``before`` is the text that it was made from.

    Raises ConfigError when it is no policy, or when the file does not say ``before`` any more: while an editor was open,
    `allow remove` may have taken an exception out, which would come back to life.
    """
    wrong = mistakes(text, path, home)
    if wrong:
        raise config.ConfigError(wrong)
    files.replace(path, text.encode("utf-8"), lambda data: data == before.encode("utf-8"))


def with_exception(text: str, path: str, entry: dict[str, Any]) -> str:
    """``text`` with one more ``[[exception]]`` at its end.  Raises ConfigError where that can't be."""
    import tomli_w

    block = "[[exception]]\n" + tomli_w.dumps(entry)
    made = text + ("\n" if text and not text.endswith("\n") else "") + ("\n" if text.strip() else "") + block
    before = policy_toml.parse(text.encode(), path)
    if _parsed(made) != {**before, "exception": [*before.get("exception", []), entry]}:
        raise config.ConfigError(f"{path}: nothing can be added behind its last line; write it in by hand:\n{block}")
    return made


def without_exception(text: str, path: str, name: str) -> str:
    """``text`` without the exception ``name``; every comment outside of it stays.  Raises ConfigError."""
    document = policy_toml.parse(text.encode(), path)
    kept = [entry for entry in document.get("exception", []) if entry.get("id") != name]
    if len(kept) == len(document.get("exception", [])):
        names = ", ".join(str(entry.get("id")) for entry in kept) or "none"
        raise config.ConfigError(f"{path}: no exception has the id {policy.shown(name)}; there are: {names}")
    wanted = {key: value for key, value in document.items() if key != "exception"} | (
        {"exception": kept} if kept else {}
    )
    lines = text.splitlines(keepends=True)
    for start in range(len(lines) - 1, -1, -1):
        if not _EXCEPTION.match(lines[start]):
            continue
        end = next((k for k in range(start + 1, len(lines)) if _HEADER.match(lines[k])), len(lines))
        while end > start + 1 and lines[end - 1].strip()[:1] in ("", "#"):  # what stands above the next table is its
            end -= 1
        first = start - 1 if start and not lines[start - 1].strip() else start
        made = "".join(lines[:first] + lines[end:])
        if _parsed(made) == wanted:
            return made
    line = next((k for k, one in enumerate(lines, 1) if policy.shown(name) in one or f"'{name}'" in one), 1)
    raise config.ConfigError(f"{path}:{line}: this exception can't be cut out of the text; remove it by hand")


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def located(problem: str, path: str, text: str) -> str:
    """``file: key: …`` as ``file:line: key: …`` where the key's line can be found in ``text``."""
    if not problem.startswith(path + ": "):
        return problem
    rest = problem[len(path) + 2 :]
    stated = re.search(r"\(at line (\d+), column \d+\)", rest)
    line = int(stated[1]) if stated else _line(rest.split(": ", 1)[0], text.splitlines())
    return f"{path}:{line}: {rest}" if line else problem


def _line(key: str, lines: list[str]) -> int:
    """The number of the line that says ``key`` (``judge.base_url``, ``rule team.x.severity``), 0 when unknown."""
    low, high, found = 0, len(lines), 0
    table = re.match(r"(rule|exception) (\S+?)(?:\.(\w+))?$", key)
    if table:
        names = {table[2], key.split(" ", 1)[1]}
        for at, line in enumerate(lines):
            told = re.match(r"""\s*id\s*=\s*(["'])(.*?)\1""", line)
            if told and told[2] in names:
                found = at + 1
                low = next((k for k in range(at, -1, -1) if _HEADER.match(lines[k])), 0)
                high = next((k for k in range(at, len(lines)) if _HEADER.match(lines[k])), len(lines))
                break
    parts = key.split(".")
    for start in range(len(parts)):
        wanted = ".".join(parts[start:])
        for at in range(low, high):
            named = lines[at].split("=", 1)[0].strip().replace('"', "").replace("'", "")
            if "=" in lines[at] and named == wanted:
                return at + 1
            if not table and named.strip("[] ") == wanted and _HEADER.match(lines[at]):
                return at + 1
    return found
