"""Reading a record that may hold anything anywhere: what is not of the wanted shape counts as not there."""

from __future__ import annotations

from typing import Any


def table(value: object) -> dict[str, Any]:
    """``value`` where it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in ``value`` where it is an array."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def words(value: object) -> set[str]:
    """The texts in ``value`` where it is an array."""
    return {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()
