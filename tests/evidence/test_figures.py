"""Intervals, differences and calibration against published values; and what they must hold for any input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jevhook.evidence.figures import Share, apart, calibration, paired, share_of, sign_test


# Wilson's interval as R's prop.test(k, n, correct = FALSE) gives it.
@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (9, 10, 0.5958, 0.9821), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (0, 0, 0.0, 1.0)],
)
def test_wilsons_interval(k: int, n: int, low: float, high: float) -> None:
    assert Share(k, n).interval == pytest.approx((low, high), abs=5e-5)


def test_the_difference_of_two_samples_is_newcombes_own_example() -> None:
    change = apart(Share(48, 80), Share(56, 70))  # 56/70 - 48/80, method 10: 0.0524 to 0.3339
    assert (change.by, change.low, change.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert change.sure


@pytest.mark.parametrize(
    ("one", "other", "p"), [(0, 0, 1), (0, 5, 0.0625), (1, 9, 0.021484375), (5, 5, 1), (0, 6, 0.03125)]
)
def test_the_sign_test(one: int, other: int, p: float) -> None:
    assert sign_test(one, other) == sign_test(other, one) == pytest.approx(p)


def test_few_rows_are_no_figure() -> None:
    assert Share(2, 3).plain() == {"k": 2, "n": 3, "rate": None, "low": None, "high": None}
    assert Share(2, 3).said() == "not enough (2 of 3)"
    assert Share(0, 0).said() == "no rows"
    assert Share(9, 10).said() == "90.0 % (59.6-98.2), 9 of 10"
    assert not apart(Share(0, 3), Share(3, 3)).sure


def test_calibration_weighs_each_bin_by_its_answers() -> None:
    found = calibration([(0.9, True)] * 9 + [(0.9, False)] + [(0.1, False)] * 9 + [(0.1, True)])
    assert (found["n"], found["brier"], found["ece"]) == (20, 0.09, 0.0)
    assert [(one["from"], one["k"], one["n"]) for one in found["bins"]] == [(0.1, 1, 10), (0.9, 9, 10)]
    wrong = calibration([(1.0, False)] * 20)
    assert (wrong["brier"], wrong["ece"], wrong["bins"][0]["to"]) == (1.0, 1.0, 1.0)


def test_few_answers_are_not_called_calibrated() -> None:
    assert calibration([(0.9, True)] * 19) == {
        "n": 19, "brier": None, "ece": None, "bins": [{"from": 0.9, "to": 1.0, "mean": 0.9, **Share(19, 19).plain()}],
    }  # fmt: skip


@pytest.mark.parametrize(
    "found", [{}, {"k": 1}, {"k": 2, "n": 1}, {"k": -1, "n": 1}, {"k": 1.0, "n": 1}, {"k": True, "n": 1}]
)
def test_a_share_that_is_none_is_refused(found: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="two whole numbers"):
        share_of(found)


COUNTS = st.integers(0, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, COUNTS)
def test_an_interval_holds_its_share_and_a_difference_its_own(one: tuple[int, int], other: tuple[int, int]) -> None:
    a, b = Share(*one), Share(*other)
    low, high = a.interval
    assert 0 <= low <= a.rate <= high <= 1 or not a.n
    assert share_of(a.plain()) == a
    change = apart(a, b)
    assert change.low <= change.by + 1e-9 and change.by <= change.high + 1e-9
    assert not (change.sure and a == b)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 1000))
def test_a_paired_change_lies_in_its_interval(gained: int, lost: int, same: int) -> None:
    change = paired(gained, lost, gained + lost + same)
    assert -1 <= change.low <= change.high <= 1
    assert change.sure == (sign_test(gained, lost) < 0.05)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=200))
def test_calibration_counts_every_answer_once(answers: list[tuple[float, bool]]) -> None:
    found = calibration(answers)
    assert sum(one["n"] for one in found["bins"]) == len(answers)
    assert found["ece"] is None or 0 <= found["ece"] <= 1
