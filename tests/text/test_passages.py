"""Passages: everything is in one, nothing is in two, and blank lines are where they part."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jevhook.text.passages import SIZE, cut

PIECES = st.sampled_from(
    ["word ", "\n", "\n\n", "\r\n", "\r\n\r\n", "\t", "é", "文", "\U0001f600", "x" * 400, " " * 30, "\u2029"]
)


def joined(text: str, size: int = SIZE) -> str:
    return "".join(text[start:end] for start, end in cut(text, size))


@given(st.one_of(st.text(), st.lists(PIECES, max_size=80).map("".join)), st.integers(min_value=1, max_value=1200))
@settings(max_examples=200, deadline=None)
def test_the_passages_joined_are_the_text_and_none_is_too_long(text: str, size: int) -> None:
    spans = cut(text, size)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(0 < end - start <= size for start, end in spans)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])][: len(spans)]


@pytest.mark.parametrize(
    ("text", "passages"),
    [
        ("", []),
        ("one\n\ntwo", ["one\n\ntwo"]),
        ("a" * 500 + "\n\n" + "b" * 500, ["a" * 500 + "\n\n", "b" * 500]),
        ("a" * 300 + "\n\n" + "b" * 300 + "\n\n" + "c" * 600, ["a" * 300 + "\n\n" + "b" * 300 + "\n\n", "c" * 600]),
        ("a" * 500 + "\r\n\r\n" + "b" * 500, ["a" * 500 + "\r\n\r\n", "b" * 500]),
        ("a" * 2000, ["a" * 900, "a" * 900, "a" * 200]),
        ("a" * 800 + "\n" + "b" * 800, ["a" * 800 + "\n", "b" * 800]),
        ("a" * 800 + " " + "b" * 800, ["a" * 800 + " ", "b" * 800]),
    ],
)
def test_passages_part_at_blank_lines_then_lines_then_words_then_anywhere(text: str, passages: list[str]) -> None:
    assert [text[start:end] for start, end in cut(text)] == passages


def test_five_megabytes_are_cut_at_once() -> None:
    for text in ("x" * 5_000_000, "\n" * 5_000_000, "a b\n\n" * 1_000_000):
        began = time.process_time()
        assert joined(text) == text
        assert time.process_time() - began < 2
