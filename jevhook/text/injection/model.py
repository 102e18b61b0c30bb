"""The small trained model: how much a passage sounds like the orders to assistants that it was trained on.

A logistic regression over hashed features of 16-word windows that overlap by half: words, pairs of neighbours, heads of
words, which classes of the rules' vocabulary meet in the window, which rules spoke, and what the passage looks like
(capitals, punctuation, digits).  A passage is as suspicious as its worst window and as what the rules
add up to in it.  The weights are one signed byte a
bucket in ``weights.bin`` beside this file, mapped into memory; scripts/train_injection makes it, docs/model-card.md says
from what and how well it does.  An opinion about style: it never withholds by itself unless a policy says so.
"""

from __future__ import annotations

import os
from zlib import crc32

from .rules import ABOUT, Hit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW = 16
STEP = 8  # words; shorter than an order and the rest of the passage drowns it (measured: 40 words find 10 points less)
BITS = 17
BUCKETS = 1 << BITS
MASK = BUCKETS - 1
MAGIC = b"jevinj2\n"
HEADER = 48  # magic, then as text: bias, scale, what a point of the rules' weight adds; padded
_SEEN = 0x5EED
_KINDS = ("override", "role", "address", "conceal", "exfil", "prompt", "forged", "authority", "task", "decoded")


def token_features(tokens: Sequence[bytes]) -> list[tuple[int, int, int]]:
    """Three buckets for every word: the word, the pair with the word before, the head of the word."""
    made = []
    before = 1
    for token in tokens:
        if len(token) > 24 or token[0] < 58:  # numbers and what is no word all look alike
            token = b"0" if token[0] < 58 else b"~"
        this = crc32(token)
        made.append((this & MASK, crc32(token, before) & MASK, crc32(token[:5], _SEEN) & MASK))
        before = this
    return made


def window_features(mask: int, marks: int) -> list[int]:
    """Buckets for the classes that meet in a window (``mask``), alone and in pairs, and for its ``marks``."""
    made = []
    bits: list[int] = []
    while mask and len(bits) < 16:
        low = mask & -mask
        bits.append(low.bit_length())
        mask ^= low
    for i, one in enumerate(bits):
        made.append(one * 0x9E3779B1 + 17 & MASK)
        for other in bits[i + 1 :]:
            made.append((one * 64 + other) * 0x85EBCA6B + 29 & MASK)
    while marks:
        low = marks & -marks
        made.append(low.bit_length() * 0xC2B2AE35 + 41 & MASK)
        marks ^= low
    return made


def style(text: str, facts: Sequence[str] | set[str]) -> int:
    """What a passage looks like, as a set of bits: shares of capitals, code signs, digits, other letters; facts."""
    size = len(text) or 1
    data = text.encode("utf-8", "replace")
    capitals = size - len(data.translate(None, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")) if len(data) == size else 0
    signs = len(data) - len(data.translate(None, b"{}[]()<>=;_$|\\/*#`"))
    digits = len(data) - len(data.translate(None, b"0123456789"))
    made = 1 << (0 if signs * 50 < size else 1 if signs * 20 < size else 2 if signs * 10 < size else 3)
    made |= 16 << (0 if digits * 50 < size else 1 if digits * 12 < size else 2)
    made |= 128 << (0 if capitals * 25 < size else 1 if capitals * 6 < size else 2)
    if len(data) != size:
        made |= 1 << 10
    if "!" in text:
        made |= 1 << 11
    if "?" in text:
        made |= 1 << 12
    if size < 200:
        made |= 1 << 13
    if facts:
        made |= 1 << 14
    return made


def context(masks: Sequence[int]) -> int:
    """Whether the passage as a whole speaks about attacks, as bits above those of ``hit_bits``."""
    spoken = sum(1 for mask in masks if mask & ABOUT)
    return 0 if not spoken else 1 << 50 if spoken == 1 else 1 << 51 if spoken < 4 else 1 << 52


def hit_bits(hits: Sequence[Hit], start: int, end: int) -> int:
    """Which kinds of rules spoke between two words, in three strengths, as a set of bits above those of ``style``."""
    made = 0
    for hit in hits:
        if hit.at < 0 or start <= hit.at < end:
            kind = _KINDS.index(hit.kind)
            made |= 1 << (16 + kind * 3 + (0 if hit.weight < 1 else 1 if hit.weight < 2 else 2))
    return made


def windows(count: int) -> list[tuple[int, int]]:
    """(first word, behind the last) of each window over ``count`` words."""
    if count <= WINDOW:
        return [(0, count)]
    return [(at, min(count, at + WINDOW)) for at in range(0, count - STEP, STEP)]


class Model:
    """The weights; ``score`` says how suspicious a passage is, from 0 to 0.99."""

    __slots__ = ("_bias", "_rules", "_scale", "_weights")

    def __init__(self, data: bytes | memoryview) -> None:
        head = bytes(data[:HEADER])
        if not head.startswith(MAGIC) or len(data) != HEADER + BUCKETS:
            raise ValueError("weights.bin: not the weights of this version")
        bias, scale, rules = head[len(MAGIC) :].split()
        self._bias = float(bias)
        self._scale = float(scale)
        self._rules = float(rules)
        self._weights = memoryview(data)[HEADER:].cast("b")

    def logit(
        self, tokens: Sequence[bytes], masks: Sequence[int], text: str, hits: Sequence[Hit], facts: set[str]
    ) -> tuple[float, int]:
        """The worst window's evidence and its first word."""
        weights = self._weights
        if not tokens:
            return -99.0, 0
        total = 0
        sums = [0]
        for one, two, three in token_features(tokens):
            total += weights[one] + weights[two] + weights[three]
            sums.append(total)
        looks = style(text, facts) | context(masks)
        best, where = -(1 << 30), 0
        for start, end in windows(len(tokens)):
            mask = 0
            for part in masks[start:end]:
                mask |= part
            evidence = sums[end] - sums[start]
            for bucket in window_features(mask, looks | hit_bits(hits, start, end) if hits else looks):
                evidence += weights[bucket]
            if evidence > best:
                best, where = evidence, start
        return best * self._scale + self._bias, where

    def score(
        self,
        tokens: Sequence[bytes],
        masks: Sequence[int],
        text: str,
        hits: Sequence[Hit],
        facts: set[str],
        weight: float = 0.0,
    ) -> tuple[float, int]:
        """The score of a passage to which the rules gave ``weight``, and the first word of its worst window."""
        from math import exp

        logit, where = self.logit(tokens, masks, text, hits, facts)
        logit += self._rules * weight
        return min(0.99, 1 / (1 + exp(-max(-60.0, min(60.0, logit))))), where


_loaded: list[Model] = []


def load() -> Model | None:
    """The trained model, None when its file is missing or of another version: then the rules judge alone."""
    if not _loaded:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights.bin")
        try:
            import mmap

            with open(path, "rb") as file:
                data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            _loaded.append(Model(data))
        except (OSError, ValueError):
            return None
    return _loaded[0]
