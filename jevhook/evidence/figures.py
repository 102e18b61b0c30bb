"""Shares, differences and calibration, each with what it may be off by; and "not enough" where there is too little.

Sources: Wilson's score interval (1927); Newcombe's hybrid score interval for the difference of two independent shares
(1998, method 10); Bonett and Price's interval for paired shares (2012); the exact sign test, which on paired yes/no
answers is McNemar's.  All at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Z = 1.959963984540054
ENOUGH = 10  # a share of fewer is no figure
ENOUGH_ANSWERS = 20  # answers below which nothing is said about calibration
BINS = 10
SURE = 0.05  # a difference that chance alone makes less often than this counts


@dataclass(frozen=True)
class Share:
    """``k`` of ``n``."""

    k: int
    n: int

    @property
    def enough(self) -> bool:
        return self.n >= ENOUGH

    @property
    def rate(self) -> float:
        return self.k / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; (0, 1) of nothing."""
        if not self.n:
            return 0.0, 1.0
        p, n, z2 = self.rate, self.n, Z * Z
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return (0.0 if not self.k else max(0.0, middle - half)), (1.0 if self.k == n else min(1.0, middle + half))

    def plain(self) -> dict[str, Any]:
        """{"k", "n", "rate", "low", "high"}; the last three are null where there is not enough."""
        low, high = self.interval
        known = (round(self.rate, 6), round(low, 6), round(high, 6)) if self.enough else (None, None, None)
        return {"k": self.k, "n": self.n, **dict(zip(("rate", "low", "high"), known, strict=True))}

    def said(self) -> str:
        """For a person: ``97.3 % (95.1-98.6), 214 of 220``, or that there is not enough."""
        if not self.n:
            return "no rows"
        if not self.enough:
            return f"not enough ({self.k} of {self.n})"
        low, high = self.interval
        return f"{100 * self.rate:.1f} % ({100 * low:.1f}-{100 * high:.1f}), {self.k} of {self.n}"


@dataclass(frozen=True)
class Change:
    """How much a share moved (``after - before``), between what and what that lies, and whether chance explains it."""

    by: float
    low: float
    high: float
    sure: bool


def apart(before: Share, after: Share) -> Change:
    """The change between two independent samples."""
    (l1, u1), (l2, u2) = before.interval, after.interval
    p1, p2 = before.rate, after.rate
    by = p2 - p1
    low = by - math.sqrt((p2 - l2) ** 2 + (u1 - p1) ** 2)
    high = by + math.sqrt((u2 - p2) ** 2 + (p1 - l1) ** 2)
    return Change(by, low, high, before.enough and after.enough and (low > 0 or high < 0))


def paired(gained: int, lost: int, n: int) -> Change:
    """The change on the very same ``n`` rows, of which ``gained`` joined the share and ``lost`` left it."""
    if not n:
        return Change(0.0, -1.0, 1.0, False)
    a, b = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = Z * math.sqrt(max(0.0, (a + b - (a - b) ** 2) / (n + 2)))
    return Change((gained - lost) / n, max(-1.0, a - b - half), min(1.0, a - b + half), sign_test(gained, lost) < SURE)


def sign_test(one: int, other: int) -> float:
    """How often chance alone splits ``one + other`` cases at least so unevenly (two-sided, exact)."""
    n = one + other
    if not n:
        return 1.0
    tail = sum(math.comb(n, k) for k in range(min(one, other) + 1))
    return float(min(1.0, 2 * tail / (1 << n)))


def calibration(answers: Iterable[tuple[float, bool]]) -> dict[str, Any]:
    """How far (probability, whether it was so) are apart: n, brier, ece, and bins, each {"from", "to", "mean"} (of the
    probabilities in it) with the share that was so.

    ``ece`` weighs each of ten equal bins by its answers.  ``brier`` and ``ece`` are null where there is not enough.
    """
    pairs = [(min(1.0, max(0.0, p)), truth) for p, truth in answers]
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for p, truth in pairs:
        bins[min(BINS - 1, int(p * BINS))].append((p, truth))
    n = len(pairs)
    enough = n >= ENOUGH_ANSWERS
    told = []
    error = 0.0
    for at, inside in enumerate(bins):
        if not inside:
            continue
        mean = math.fsum(p for p, _ in inside) / len(inside)
        true = sum(truth for _, truth in inside)
        error += abs(mean - true / len(inside)) * len(inside)
        told.append(
            {"from": at / BINS, "to": (at + 1) / BINS, "mean": round(mean, 6), **Share(true, len(inside)).plain()}
        )
    return {
        "n": n,
        "brier": round(math.fsum((p - truth) ** 2 for p, truth in pairs) / n, 6) if enough else None,
        "ece": round(error / n, 6) if enough else None,
        "bins": told,
    }


def share_of(found: Mapping[str, Any]) -> Share:
    """A share as ``Share.plain`` wrote it.  Raises ValueError."""
    k, n = found.get("k"), found.get("n")
    if type(k) is not int or type(n) is not int or not 0 <= k <= n:
        raise ValueError(f"found {k!r} of {n!r}, allowed: two whole numbers, the first not above the second")
    return Share(k, n)
