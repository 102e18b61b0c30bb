"""Text that is shown holds nothing that acts on a terminal or hides from a reader."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jevhook.text.printable import CUT, printable, printable_within

CASES = [
    # nothing to do
    ("", ""),
    ("rm -rf build", "rm -rf build"),
    ("naïve café 漢字 \U0001f469\u200d\U0001f4bb e\u0301", "naïve café 漢字 \U0001f469\u200d\U0001f4bb e\u0301"),
    ("a\n\tb", "a\n\tb"),
    ("a\u00a0b", "a\u00a0b"),
    # without a shape or a use; a joiner has one
    ("a\u200bb\ufeffc\u2060d\u200de", "abcd\u200de"),
    # line ends
    ("a\r\nb\rc\u2028d\u2029e", "a\nb\nc\nd\ne"),
    # control characters
    ("a\0b\x07c\x08d\x7fe\x85f", "abcdef"),
    # CSI, in two characters and in one
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b[2J\x1b[1;1Hgone", "gone"),
    ("\x1b[?25l\x1b[38:2::1:2:3mx", "x"),
    ("\x9b31mred", "red"),
    # OSC with either end, DCS, APC
    ("\x1b]0;title\x07x", "x"),
    ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x9d0;title\x9cx", "x"),
    ("\x1bPq#0\x1b\\x\x1b_hidden\x1b\\y", "xy"),
    # charset, save cursor, reset
    ("\x1b(Ba\x1b7b\x1bcc", "abc"),
    # unfinished: the text stays readable
    ("\x1b]0;no end", "0;no end"),
    ("\x1b]0;no end\nnext\x07", "0;no end\nnext"),
    ("\x1b[31", "31"),
    ("\x1b", ""),
    ("\x1b\x1b[0m[31mx", "[31mx"),
    # what turns text round, and what only a model reads
    ("invoice\u202efdp.exe", "invoicefdp.exe"),
    ("\u2066a\u2069\u200e\u200fb\u061c", "ab"),
    ("ok\U000e0001\U000e0049\U000e0067\U000e007f", "ok"),
    # half a pair
    ("a\ud800b\udc80", "a\ufffdb\ufffd"),
]


@pytest.mark.parametrize(("text", "shown"), CASES)
def test_text_is_shown_without_what_acts_or_hides(text: str, shown: str) -> None:
    assert printable(text) == shown


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("\x1b\x9b\x9d\r\n[]0m\x07\\\u202e\ud800")))
def test_nothing_that_acts_is_left_and_twice_is_once(text: str) -> None:
    shown = printable(text)
    assert printable(shown) == shown
    shown.encode()
    assert all(char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs") for char in shown)
    assert not any(
        unicodedata.bidirectional(char) in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI", "FSI") for char in shown
    )
    assert not any("\U000e0000" <= char <= "\U000e007f" for char in shown)


@pytest.mark.parametrize("unit", ["\x1b]", "\x1b[", "\x1b[0", "\x1bP\x07", "\x9d\u202e", "\x1b", "\r\n"])
def test_the_work_grows_with_the_text_and_not_with_its_square(unit: str) -> None:
    start = time.process_time()
    printable(unit * 200_000)
    assert time.process_time() - start < 5  # linear is 0.2 s, the square was 40 s


@given(st.text(max_size=400), st.integers(60, 500))
def test_a_limited_text_fits_in_its_bytes(text: str, limit: int) -> None:
    shown = printable_within(text, limit)
    assert len(shown.encode()) <= limit
    if len(printable(text).encode()) <= limit:
        assert shown == printable(text)
    else:
        assert shown.endswith(CUT)
        assert printable(text).startswith(shown.removesuffix(CUT))
