"""What MiniLM's vector of a passage adds to the small model's opinion of it: a logistic head of 385 numbers.

``head.bin`` beside this file: a header with bias and scale as text, then a signed byte a dimension.  scripts/train_minilm
makes it, docs/model-card.md says what it is worth.
"""

from __future__ import annotations

import os
from math import exp, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC = b"jevmini1\n"
HEADER = 32


class Head:
    """``most`` is the highest evidence that any vector can have."""

    __slots__ = ("_bias", "_weights", "most")

    def __init__(self, data: bytes) -> None:
        from . import DIMENSIONS

        if not data.startswith(MAGIC) or len(data) != HEADER + DIMENSIONS:
            raise ValueError("head.bin: not the weights of this version")
        bias, scale = data[len(MAGIC) : HEADER].split()
        self._bias = float(bias)
        self._weights = [float(scale) * weight for weight in memoryview(data)[HEADER:].cast("b")]
        self.most = self._bias + sum(weight * weight for weight in self._weights) ** 0.5

    def evidence(self, vector: Sequence[float]) -> float:
        """What a vector of length 1 adds to the log odds."""
        return self._bias + sum(weight * value for weight, value in zip(self._weights, vector, strict=True))


def load() -> Head:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "head.bin"), "rb") as file:
        return Head(file.read())


def raised(score: float, evidence: float) -> float:
    """A score of the small model (0 to 1) with the evidence on it; never above 0.99."""
    held = min(0.9999, max(0.0001, score))
    return min(0.99, 1 / (1 + exp(-log(held / (1 - held)) - evidence)))
