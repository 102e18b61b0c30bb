"""A settings file edited as text: our part comes and goes, every other byte stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jevhook.install import entries, jsontext

FIELDS = {"type": "command", "command": "/py -I -m jevhook hook --host claude --id 0123456789abcdef"}

BOM = "\ufeff"

# fmt: off
ODD = [
    "{}", "{ }", "{\n}", "{\n}\n", '{"hooks":{}}', '{"hooks": {}}', '{\n  "hooks": {}\n}\n', '{\n  "hooks": {\n  }\n}\n',
    '{"hooks":{"PreToolUse":[]}}', '{\n  "hooks": {\n    "PreToolUse": []\n  }\n}', '{"a":1}', '{"a": 1}', '{ "a" : 1 }',
    '{\n\t"a": 1\n}', '{\n    "a": {\n        "b": [1,\n 2]\n    }\n}\n', '{\r\n  "a": 1,\r\n  "hooks": {}\r\n}\r\n',
    '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]},"z":"ä€\\u00e4"}',
    '{\n  "hooks": {\n    "PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]\n  }\n}\n',
    '{\n  "hooks": {\n    "PreToolUse": [\n      {"hooks": [{"type": "command", "command": "x"}]}\n    ],\n    "Stop": []\n  },\n  "z": 1.50\n}',
    '\n\n  {"a": "b"}  \n', '{\n "a": 1,\n "a": 2\n}', '{"n": 1e400, "m": -0, "big": 12345678901234567890}',
    '{"hooks": {"Stop": []}, "PreToolUse": "not here"}', '[1, {"hooks": 2}]',
]
BROKEN = [
    ("", "line 1"), ("{", "end of the file"), ('{"a": 1,}', "a key"), ('{"a": 1} x', "something follows"), ("{'a': 1}", "a key"),
    ('{"a": 1 // no\n}', "a comment"), ('/* no */ {}', "a comment"), ('{"a": NaN}', "a value"), ('{"a" 1}', "a colon"),
    ('{"a": [1 2]}', "a comma"), ('{"a": "tab\there"}', "a value"), ('{"a": 01}', "a comma"),
    ('{"a": "\\x"}', "a value"), ("{\ufeff}", "a key"), ("[" * 101 + "]" * 101, "nested deeper"), ("nul", "a value"), ('{"a": undefined}', "a value"),
]
# fmt: on


@pytest.mark.parametrize("text", [text for text in ODD if text.strip().lstrip(BOM).startswith("{")])
@pytest.mark.parametrize("events", [("PreToolUse",), ("PreToolUse", "PostToolUse")])
def test_what_was_put_in_can_be_taken_out_and_nothing_else_moves(text: str, events: tuple[str, ...]) -> None:
    before = jsontext.read(text).plain()
    edited = text
    for event in events:
        edited = entries.put(edited, event, "*", FIELDS)
    document = json.loads(edited.removeprefix(BOM))
    assert [(entry.event, entry.matcher, entry.fields) for entry in entries.mine(document)] == [
        (event, "*", FIELDS) for event in events
    ]
    hooks = before.get("hooks")
    keep = {"hooks", *hooks} if isinstance(hooks, dict) else set()
    while there := entries.mine(json.loads(edited.removeprefix(BOM))):
        edited = entries.take(edited, there[-1], keep)
    # Byte for byte, but for the blanks inside a container that was empty.
    assert json.loads(edited.removeprefix(BOM)) == json.loads(text.removeprefix(BOM))
    if all(blank not in text for blank in ("{ }", "{\n")) or text.startswith("{\n "):
        assert edited == text or "{\n  }" in text


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_what_is_no_json_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        jsontext.read(text)


def test_the_place_is_the_line_and_the_column() -> None:
    with pytest.raises(ValueError, match="line 3, column 9: a comma or } is missing"):
        jsontext.read('{\n  "a": 1,\n  "b": 2 3\n}'.replace("2 3", "2x"))


@pytest.mark.parametrize("text", ODD)
def test_reading_is_what_json_reads(text: str) -> None:
    assert jsontext.read(text).plain() == json.loads(text.removeprefix(BOM))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"a":1}', '{"a":1,"k":[1,{"b":2}]}'),
        ('{"a": 1}', '{"a": 1, "k": [1, {"b": 2}]}'),
        ("{}", '{\n  "k": [\n    1,\n    {\n      "b": 2\n    }\n  ]\n}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"k": [\n\t\t1,\n\t\t{\n\t\t\t"b": 2\n\t\t}\n\t]\n}\n'),
        ('{\r\n "a": 1\r\n}', '{\r\n "a": 1,\r\n "k": [\r\n  1,\r\n  {\r\n   "b": 2\r\n  }\r\n ]\r\n}'),
    ],
)
def test_what_is_added_looks_like_its_neighbours(text: str, shown: str) -> None:
    assert jsontext.append(text, jsontext.read(text), [1, {"b": 2}], "k") == shown


def test_a_key_that_stands_twice_is_told_when_it_is_asked_for() -> None:
    with pytest.raises(ValueError, match="twice"):
        jsontext.read('{"hooks": {}, "hooks": {}}').get("hooks")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.sampled_from([None, 1, 2, "\t"]), VALUES)
def test_any_document_keeps_its_bytes(document: dict[str, object], indent: object, value: object) -> None:
    text = json.dumps(document, indent=indent)  # type: ignore[arg-type]
    edited = jsontext.append(text, jsontext.read(text), value, "added by us")
    assert json.loads(edited.removeprefix(BOM)) == {**document, "added by us": value}
    root = jsontext.read(edited)
    assert jsontext.remove(edited, root, len(root.members) - 1) == text


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("/p/.venv/bin/python -I -m jevhook hook --host claude", True),
        ("'/a b/python' -Im jevhook hook", True),
        ("/usr/local/bin/jevhook hook --id x", True),
        ("/p/python -I -S /p/site-packages/jevhook/__main__.py hook --host claude", True),
        ("/p/python -I -S /p/other/__main__.py hook", False),
        ("jev-use hook gate", True),
        ("jevhook doctor", False),
        ("echo jevhook hook", False),
        ("my-jevhook hook", False),
        ("python -m other hook", False),
        ("hook", False),
        ("echo 'unclosed", False),
        ("", False),
    ],
)
def test_our_own_command_lines_are_known(command: str, expected: bool) -> None:
    assert entries.ours(command) is expected
