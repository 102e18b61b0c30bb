from __future__ import annotations

import pytest

from jevhook.systemone import dialects, wire
from jevhook.systemone.dialects import typesafe

QUESTIONS = {"q": wire.noul("Is it?")}


@pytest.mark.parametrize("name", sorted(dialects.MODULES))
def test_every_dialect_in_the_registry_is_a_dialect(name: str) -> None:
    dialect = dialects.load(name)
    assert name == dialect.NAME
    assert isinstance(dialect.KEY_VARS, tuple) and all(isinstance(v, str) for v in dialect.KEY_VARS)
    assert isinstance(dialect.BASE_VARS, tuple)
    assert isinstance(dialect.LOCAL, bool) and dialect.MAX_QUESTIONS >= 1
    assert dialect.LOCAL or dialect.KEY_VARS
    assert dialect.answers_body(["not", "understood"]) is not None


def test_an_unknown_dialect_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ValueError, match="typesafe"):
        dialects.load("typsafe")


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.typesafe.ai", "https://api.typesafe.ai/v1/systemone"),
        ("https://api.typesafe.ai/", "https://api.typesafe.ai/v1/systemone"),
        ("https://api.typesafe.ai/v1", "https://api.typesafe.ai/v1/systemone"),
        ("https://api.typesafe.ai/v1/systemone", "https://api.typesafe.ai/v1/systemone"),
        ("http://127.0.0.1:8700", "http://127.0.0.1:8700/v1/systemone"),
    ],
)
def test_typesafe_takes_the_origin_or_any_part_of_the_endpoint(base: str, url: str) -> None:
    assert typesafe.request(base, "m", "s", QUESTIONS)[0] == url


def test_typesafe_sends_state_under_its_own_name() -> None:
    _, headers, body = typesafe.request("https://x", "jev-latest", {"command": "ls"}, QUESTIONS)
    assert body == {"model": "jev-latest", "state": {"command": "ls"}, "questions": QUESTIONS}
    assert headers == {}
