"""Scorecards that a person kept as evidence: ``<state>/jevhook/scorecards/DATE-DIGEST.json``, mode 0600."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from typing import Any

from .. import config, ledger
from .card import NoCard, check

MOST = 200  # files; the oldest go
_LIMIT = 64 << 20


def folder(env: Mapping[str, str]) -> str:
    """The directory (it may not exist yet), "" without a state directory."""
    base = ledger.directory(env)
    return os.path.join(base, "scorecards") if base else ""


def add(env: Mapping[str, str], card: Mapping[str, Any]) -> str:
    """Keep ``card``; its path.  Raises OSError."""
    place = folder(env)
    if not place:
        raise OSError(errno.ENOENT, "no home directory and no XDG_STATE_HOME")
    ledger.make_private(place)
    when = str(card["date"]).replace(":", "").replace("-", "").replace(".", "")
    path = os.path.join(place, f"{when}-{str(card['digest'])[:12]}.json")
    config.write_private(path, (json.dumps(card) + "\n").encode())
    for name in _names(place)[:-MOST]:
        os.unlink(os.path.join(place, name))
    return path


def every(env: Mapping[str, str]) -> list[dict[str, Any]]:
    """The kept cards, oldest first; of several about the same rows the last, for they are one piece of evidence.

    A file that is no card is left out.
    """
    place = folder(env)
    found: dict[str, dict[str, Any]] = {}
    for name in _names(place):
        try:
            data, _ = config.read_bounded(os.path.join(place, name), _LIMIT, follow=False)
            card = check(json.loads(data))
        except (OSError, ValueError, NoCard):
            continue
        rows = str(card["data"]["digest"])
        found.pop(rows, None)
        found[rows] = card
    return list(found.values())


def _names(place: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(place or os.devnull) if name.endswith(".json"))
    except OSError:
        return []
