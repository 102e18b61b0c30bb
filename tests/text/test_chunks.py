"""Chunks of whole lines that put together again are the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jevhook.text.chunks import chunks, groups, lines

TEXTS = st.text(alphabet=st.sampled_from("ab \n\r\t\x0b\x0c\x85\u2028é\ud800😀"), max_size=400)


@given(TEXTS, st.integers(1, 60))
def test_lines_and_chunks_are_the_text_byte_for_byte(text: str, longest: int) -> None:
    assert "".join(lines(text, longest)) == text
    assert "".join(chunks(text, longest)) == text


@given(TEXTS, st.integers(1, 60))
def test_no_piece_is_longer_than_asked_and_none_is_empty(text: str, longest: int) -> None:
    assert all(0 < len(piece) <= longest for piece in lines(text, longest))
    assert all(0 < len(chunk) <= longest for chunk in chunks(text, longest))


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 120))
def test_groups_start_at_the_first_line_and_go_on_upwards(sizes: list[int], target: int) -> None:
    starts = groups(sizes, target)
    assert starts == sorted(set(starts))
    assert starts[:1] == ([0] if sizes else [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a\nb", ["a\n", "b"]),
        ("a\n\nb\n", ["a\n", "\n", "b\n"]),
        ("a\r\nb\r\n", ["a\r\n", "b\r\n"]),
        ("a\x0cb\u2028c\n", ["a\x0cb\u2028c\n"]),  # only a line feed ends a line, as for sed
    ],
)
def test_a_line_ends_at_a_line_feed_only(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


def test_a_chunk_is_cut_between_lines_where_it_can_be() -> None:
    text = "".join(f"line {n} of some length\n" for n in range(100))
    made = chunks(text, 200)
    assert all(chunk.endswith("\n") for chunk in made)
    assert all(len(chunk) > 100 for chunk in made[:-1])


def test_an_overlong_line_is_cut_at_a_space_near_the_end_of_a_piece() -> None:
    made = lines("word " * 100, 52)
    assert all(piece.endswith(" ") for piece in made)
