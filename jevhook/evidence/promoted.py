"""``promoted.toml``, beside the user's config.toml: the layer that `jevhook promote` and `jevhook calibrate` write.

Each change leaves an ``[[evidence]]`` table: ``what`` was changed (the key as written in ``table``), ``to`` which value,
``before`` (the value that stood in this file, left out where none did), ``at`` when, ``forced``, and what was found.
What a promotion means to the rest: ``jevhook.policy``.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from typing import Any

from .. import config, policy, policy_toml
from ..install import files

TABLES = ("modes", "rule_modes", "thresholds")


def place(env: Mapping[str, str]) -> str:
    """The file's path (it may not exist yet).  Raises ConfigError where there is no home."""
    folder = config.config_dir(env)
    if not folder:
        raise config.ConfigError(f"there is neither a home directory nor XDG_CONFIG_HOME, so no {policy.PROMOTED_FILE}")
    return os.path.join(folder, policy.PROMOTED_FILE)


def read(path: str) -> dict[str, Any]:
    """The document, {} when there is none.  Raises ConfigError when it is not what we write."""
    try:
        data, _ = config.read_bounded(path, 1 << 20)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as wrong:
        raise config.ConfigError(f"{path}: cannot be read: {getattr(wrong, 'strerror', None) or wrong}") from None
    document = policy_toml.parse(data, path)
    policy_toml.validate_promoted(document, path)
    return document


def write(path: str, document: Mapping[str, Any], *, before: Mapping[str, Any]) -> None:
    """Put ``document`` in place in one step; an empty one takes the file away.

    ``before`` is the document that it was made from.  Raises ConfigError when that is not what stands there any more: of
    two promotions at once one was lost, 29 times in 40.
    """
    import tomli_w

    kept, was = _filled(document), _filled(before)
    policy_toml.validate_promoted(kept, path)
    try:
        text = tomli_w.dumps(kept)
    except (TypeError, ValueError) as wrong:
        raise config.ConfigError(f"{path}: cannot be written as TOML: {wrong}") from None
    files.replace(path, text.encode() if kept else None, lambda data: _filled(policy_toml.parse(data, path)) == was)


def _filled(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value}


def with_value(
    document: Mapping[str, Any], table: str, what: str, to: str | float, evidence: Mapping[str, Any]
) -> dict[str, Any]:
    """``document`` with ``what`` in ``table`` set, and the ``evidence`` (plain TOML values) for it."""
    given = _flat(document.get(table, {}))
    entry: dict[str, Any] = {"what": what, "table": table, "to": to}
    if what in given:
        entry["before"] = given[what]
    entry |= {"at": datetime.datetime.now(datetime.UTC).replace(microsecond=0), **evidence}
    return {**document, table: {**given, what: to}, "evidence": [*document.get("evidence", []), entry]}


def without_last(document: Mapping[str, Any], what: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """(the document before the last change of ``what``, that change); None when there was none."""
    evidence = list(document.get("evidence", []))
    at = next((k for k in range(len(evidence) - 1, -1, -1) if evidence[k].get("what") == what), -1)
    if at < 0 or evidence[at].get("table") not in TABLES:
        return None
    entry = evidence.pop(at)
    given = _flat(document.get(entry["table"], {}))
    given.pop(what, None)
    if "before" in entry:
        given[what] = entry["before"]
    return {**document, entry["table"]: given, "evidence": evidence}, entry


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted keys, which a person may have written as nested ones."""
    made: dict[str, Any] = {}
    for key, value in table.items():
        made |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return made
