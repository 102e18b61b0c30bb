"""Templates of lines, words to look for, BM25."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jevhook.text.lexical import bm25, occurrences, template, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05-01 12:00:03 GET /a/b took 31ms", "2025-11-30 01:59:00 GET /c took 4ms"),
        ("tests/test_a.py::test_x PASSED [ 12%]", "tests/test_b.py::TestY::test_z PASSED [ 98%]"),
        ("commit 9f86d081884c7d65", "commit 2c26b46b68ffc68f"),
        ("worker-12 done", "worker-7 done"),
        ("error[E0308]: mismatched", "error[E0277]: mismatched"),
        ("at 0x7fe86b1e47b0 in f", "at 0x7fe86b1e4000 in f"),
    ],
)
def test_lines_of_one_kind_have_one_template(one: str, other: str) -> None:
    assert template(one) == template(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0 failed", "3 failed"),
        ("test_a PASSED", "test_a FAILED"),
        ("step one", "step two"),
    ],
)
def test_lines_that_say_something_else_have_different_templates(one: str, other: str) -> None:
    assert template(one) != template(other)


@given(st.text())
def test_a_template_is_a_single_line_whatever_the_text(text: str) -> None:
    assert "\n" not in template(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fix OneHotEncoder", {"onehotencoder", "hot", "encoder"}),
        ("get_feature_names()", {"get_feature_name", "feature", "name"}),
        ("the serializers in HTTPServer", {"serializer", "httpserver", "server"}),
        ("limit_choices_to", {"limit_choices_to", "limit", "choice"}),
        ("README", {"readme"}),
    ],
)
def test_identifiers_are_looked_for_whole_and_in_parts(text: str, found: set[str]) -> None:
    assert found <= set(terms(text))


def test_common_words_and_numbers_are_not_looked_for() -> None:
    assert terms("please make it so that the 42 is not in this") == {}


def test_the_words_are_bounded_and_the_longest_stay() -> None:
    made = terms(" ".join("abcdefghij"[n % 10] * (3 + n % 40) + "xyz"[n % 3] for n in range(2000)), most=10)
    assert len(made) == 10
    assert min(map(len, made)) > 30


@pytest.mark.parametrize(
    ("term", "text", "count"),
    [
        ("query", "QuerySet query querying subquery Subquery", 3),
        ("name", "feature_name getName rename names", 3),
        ("test", "contest latest test", 1),
    ],
)
def test_a_word_counts_where_it_or_a_part_of_an_identifier_starts(term: str, text: str, count: int) -> None:
    assert len(occurrences(term, text, text.lower(), 100)) == count


def test_bm25_ranks_the_part_with_the_rare_word_first() -> None:
    parts = ["django/db/models/base.py\n", "django/db/migrations/serializer.py\n", "django/db/models/query.py\n"]
    starts = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    scores = bm25(terms("the migration serializer of django models"), "".join(parts), starts)
    assert max(range(3), key=scores.__getitem__) == 1


def test_nothing_in_common_is_all_zero_and_no_part_is_no_score() -> None:
    assert bm25(terms("unrelated words"), "a b c\nd e f\n", [0, 6]) == [0.0, 0.0]
    assert bm25(terms("x"), "", []) == []


def test_letters_that_grow_in_lower_case_do_not_shift_the_places() -> None:
    text = "İİİİ\nneedle\n"
    assert bm25({"needle": 1.0}, text, [0, 5])[1] > 0


@given(st.text(max_size=200), st.text(max_size=60))
def test_bm25_takes_any_text(text: str, query: str) -> None:
    starts = [0, *[i + 1 for i, char in enumerate(text[:-1]) if char == "\n"]]
    scores = bm25(terms(query), text, starts)
    assert len(scores) == len(starts)
    assert all(score >= 0 for score in scores)


def test_five_megabytes_are_searched_in_bounded_time() -> None:
    text = "2024-05-01 12:00:03 worker done with the request of user\n" * 90_000
    starts = list(range(0, len(text), 57))
    query = {f"absent{n}": 1.0 for n in range(100)} | {"worker": 1.0, "request": 1.0}
    began = time.process_time()
    bm25(query, text, starts)
    assert time.process_time() - began < 2.0  # 0.3 s on an idle core
