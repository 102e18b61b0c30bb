"""BM25's shortlist, the judge's reading of it, and what is left when there is no judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from jevhook.use import rerank as room
from jevhook.use.request import RequestError
from jevhook.use.verdict import Result, Verdict

if TYPE_CHECKING:
    from jevhook.use.request import Q

ROWS = [
    {"id": "refund", "title": "Refunds", "text": "A refund is paid within 14 days when the item comes back unused."},
    {"id": "gift", "title": "Gift cards", "text": "No refund is paid for gift cards, whatever the reason."},
    {"id": "late", "title": "Late parcels", "text": "A parcel is late after 10 days; then the postage is paid back."},
    {"id": "colour", "title": "Colours", "text": "We offer red and blue."},
]


@pytest.fixture
def corpus() -> room.Corpus:
    return room.Corpus(room.rows(ROWS))


def saying(p: Mapping[str, float | None]) -> room.Ask:
    """An answer for each passage by a word in it."""

    def ask(state: Any, questions: list[Q]) -> Result:
        found = []
        for question in questions:
            passage = state["untrusted_passages"][question["id"]]
            said = next((value for word, value in p.items() if word in passage), 0.0)
            hint = "no judge" if said is None else ""
            found.append(Verdict(question["id"], "noul", said, 1.0, hint=hint))
        return Result(tuple(found))

    return ask


def idents(result: Mapping[str, Any]) -> list[str]:
    return [entry["id"] for entry in result["results"]]


QUERY = "Do I get a refund for a gift card?"


def test_bm25_finds_the_passages_with_the_words_and_no_others(corpus: room.Corpus) -> None:
    found = corpus.shortlist(QUERY, 30)
    assert [row.id for row, _ in found] == ["gift", "refund"]
    assert all(score > 0 for _, score in found)
    assert len(corpus.shortlist(QUERY, 1)) == 1


def test_a_title_is_searched_as_the_text_is(corpus: room.Corpus) -> None:
    assert [row.id for row, _ in corpus.shortlist("colours", 30)] == ["colour"]


@pytest.mark.parametrize(
    ("answers", "order", "source"),
    [
        ({"14 days": 0.9, "gift": 0.6}, ["refund", "gift"], "judge"),
        ({"14 days": 0.4, "gift": 0.6}, ["gift"], "judge"),
        ({"14 days": 0.4, "gift": 0.3}, ["refund"], "judge"),  # nobody at 0.5: the single best
        ({"14 days": 0.5, "gift": 0.5}, ["gift", "refund"], "judge"),  # BM25 breaks a tie
        ({"14 days": 0.9, "gift": None}, ["refund", "gift"], "judge"),  # not judged is not thrown away
        ({"14 days": None, "gift": None}, ["gift", "refund"], "bm25"),
    ],
)
def test_the_order(corpus: room.Corpus, answers: dict[str, float | None], order: list[str], source: str) -> None:
    result = room.rerank(corpus, QUERY, saying(answers))
    assert (idents(result), result["source"]) == (order, source)
    assert ("hint" in result) == (None in answers.values())


def test_without_a_judge_p_is_nought_and_bm25_is_whole(corpus: room.Corpus) -> None:
    result = room.rerank(corpus, QUERY, saying({"": None}))
    assert [(entry["p"], entry["judged"]) for entry in result["results"]] == [(0.0, False)] * 2
    assert result["hint"] == "no judge"


def test_a_query_without_a_word_in_common_asks_nobody(corpus: room.Corpus) -> None:
    def nobody(state: Any, questions: list[Q]) -> Result:
        raise AssertionError("asked")

    assert room.rerank(corpus, "zebra", nobody)["results"] == []


def test_a_passage_is_cut_after_its_secrets_are_out_and_never_in_a_question() -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    long = "refund " + "x" * 1480 + f" token {key}"
    state, questions = room.questions(
        "refund?", room.Corpus(room.rows([{"id": "a", "text": long}])).shortlist("refund", 5)
    )
    (passage,) = state["untrusted_passages"].values()
    assert len(passage) <= room.PASSAGE_CHARS
    assert key[:8] not in passage
    assert "xxx" not in str(questions)


BAD_ROWS: list[tuple[list[Any], str]] = [
    ([], "corpus: is empty"),
    (["text"], "row 1: must be an object"),
    ([{"text": "t"}], "row 1: id"),
    ([{"id": "", "text": "t"}], "row 1: id"),
    ([{"id": "a" * 201, "text": "t"}], "row 1: id"),
    ([{"id": "a", "text": "t"}, {"id": "a", "text": "t"}], "row 2: id: a is there already"),
    ([{"id": 1, "text": "t"}, {"id": 2, "text": " "}], "row 2: text"),
    ([{"id": "a", "text": "t", "title": 1}], "row 1: title"),
]


@pytest.mark.parametrize(("given", "said"), BAD_ROWS)
def test_a_bad_row_is_named(given: list[Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        room.rows(given)


BAD_CASES: list[tuple[list[Any], str]] = [
    ([], "cases: 1 to 500, got 0"),
    (["refund"], "case 1: must be an object"),
    ([{"query": "refund"}], "case 1: relevant"),
    ([{"query": "refund", "relevant": []}], "case 1: relevant"),
    ([{"query": "refund", "relevant": "nobody"}], "case 1: relevant: no passage has the id nobody"),
    ([{"query": "", "relevant": "gift"}], "case 1: query"),
    ([{"query": "x" * 4001, "relevant": "gift"}], "case 1: query: has 4,001"),
]


@pytest.mark.parametrize(("given", "said"), BAD_CASES)
def test_a_bad_case_is_named(corpus: room.Corpus, given: list[Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        room.cases(given, corpus)


LABELLED = [
    {"query": "refund for a gift card", "relevant": "gift"},
    {"query": "refund for a card that comes back with a gift", "relevant": ["refund"]},
    {"query": "zebra", "relevant": "late"},
]


@pytest.mark.parametrize(
    ("answers", "bm25", "reranked", "keep"),
    [
        ({"14 days": 0.9, "gift": 0.1}, (1 / 3, 2 / 3), (1 / 3, 2 / 3), "bm25"),
        ({"14 days": None, "gift": None}, (1 / 3, 2 / 3), (1 / 3, 2 / 3), "bm25"),
    ],
)
def test_bm25_is_kept_unless_the_labels_say_that_reranking_wins(
    corpus: room.Corpus,
    answers: dict[str, float | None],
    bm25: tuple[float, float],
    reranked: tuple[float, float],
    keep: str,
) -> None:
    told: list[int] = []
    count: Callable[[], None] = lambda: told.append(1)  # noqa: E731
    result = room.compare(corpus, room.cases(LABELLED, corpus), saying(answers), shortlist=8, told=count)
    for name, shares in (("bm25", bm25), ("rerank", reranked)):
        assert (result[name]["top1"], result[name]["top3"]) == pytest.approx(shares, abs=1e-4)
    assert result["keep"] == keep
    assert result["cases"] == len(told) == 3


def test_reranking_is_kept_when_it_wins(corpus: room.Corpus) -> None:
    labelled = room.cases([{"query": "refund for a gift", "relevant": "refund"}], corpus)
    result = room.compare(corpus, labelled, saying({"14 days": 0.9, "gift": 0.2}), shortlist=8)
    assert (result["bm25"]["top1"], result["rerank"]["top1"], result["keep"]) == (0.0, 1.0, "rerank")
