"""What an install did, in ``$XDG_STATE_HOME/jevhook/installed/``: one JSON record a host and settings file, and beside
it the bytes of every file as they were, so that an uninstall can put them back to the byte."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from .. import config, jsonio, ledger
from .files import Refused

_LIMIT = 1 << 20


def folder(env: dict[str, str]) -> str:
    """Where they lie.  Raises Refused where there is neither a home nor XDG_STATE_HOME."""
    base = ledger.directory(env)
    if not base:
        raise Refused("there is neither a home directory nor XDG_STATE_HOME to keep the backup in")
    return os.path.join(base, "installed")


def place(env: dict[str, str], host: str, path: str) -> str:
    """The record's file for ``host`` and its settings file ``path``."""
    name = f"{host}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}.json"
    return os.path.join(folder(env), name)


def load(env: dict[str, str], host: str, path: str) -> dict[str, Any] | None:
    """The record, or None when there is none that can be used."""
    try:
        data, _ = config.read_bounded(place(env, host, path), _LIMIT, follow=False)
        found = jsonio.loads(data.decode("utf-8"))
    except (OSError, ValueError, Refused):
        return None
    fits = isinstance(found, dict) and found.get("host") == host and found.get("path") == path
    listed = found.get("files") if fits else None
    whole = isinstance(listed, list) and all(
        isinstance(entry, dict) and isinstance(entry.get("path"), str) and isinstance(entry.get("made"), list)
        for entry in listed
    )
    return found if listed and whole and listed[0]["path"] == path else None


def every(env: dict[str, str]) -> list[dict[str, Any]]:
    """All records that can be used."""
    try:
        names = sorted(os.listdir(folder(env)))
    except (OSError, Refused):
        return []
    found = []
    for name in names:
        if name.endswith(".json"):
            try:
                data, _ = config.read_bounded(os.path.join(folder(env), name), _LIMIT, follow=False)
                record = jsonio.loads(data.decode("utf-8"))
            except (OSError, ValueError):
                continue
            if isinstance(record, dict) and isinstance(record.get("host"), str) and isinstance(record.get("path"), str):
                found.append(record)
    return found


def save(env: dict[str, str], record: dict[str, Any], befores: list[bytes | None]) -> list[str]:
    """Write the record and the files' former bytes; the paths of the backups ("" where there was no file).

    ``record["files"]`` gets each file's ``before``: the backup's name, or None.  Raises OSError, Refused.
    """
    where = place(env, record["host"], record["path"])
    ledger.make_private(os.path.dirname(where))
    kept = []
    for number, (entry, data) in enumerate(zip(record["files"], befores, strict=True)):
        backup = f"{where.removesuffix('.json')}.{number}.before"
        entry["before"] = None if data is None else os.path.basename(backup)
        if data is not None:
            config.write_private(backup, data)
        kept.append("" if data is None else backup)
    config.write_private(where, (jsonio.dumps(record) + "\n").encode("utf-8"))
    return kept


def before(env: dict[str, str], entry: dict[str, Any]) -> bytes | None:
    """The former bytes of one of a record's files, None for "there was none".  Raises Refused when they are gone."""
    name = entry.get("before")
    if name is None:
        return None
    try:
        data, _ = config.read_bounded(os.path.join(folder(env), os.path.basename(str(name))), 16 << 20, follow=False)
    except (OSError, ValueError) as wrong:
        raise Refused(f"the backup {name} can't be read: {wrong}") from None
    return data


def readable(env: dict[str, str], entry: dict[str, Any]) -> bool:
    """Whether it is still known what the file was before."""
    try:
        before(env, entry)
    except Refused:
        return False
    return True


def forget(env: dict[str, str], record: dict[str, Any]) -> None:
    """Take the record and its backups away.  Raises nothing."""
    where = place(env, record["host"], record["path"])
    names = [
        os.path.join(folder(env), os.path.basename(str(entry["before"])))
        for entry in record["files"]
        if entry.get("before")
    ]
    for name in [*names, where]:
        try:
            os.unlink(name)
        except OSError:
            pass
    try:
        os.rmdir(folder(env))
    except OSError:
        pass
