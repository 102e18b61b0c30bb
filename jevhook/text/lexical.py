"""Words in common (BM25) and lines of one kind (templates): plain counting, no model, no ``re``.

Both have to read megabytes inside a tool call, so what can be done by one search through the whole text is.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DIGITS = frozenset("0123456789")
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_HEX = "0123456789abcdefABCDEFx"
_SHORT = 64
_MOST = 20_000


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


class Folded(dict[str, str]):
    """What each word becomes in a template.  A log says most of its words again and again: looked up, a line takes a
    third of the time."""

    def __missing__(self, word: str) -> str:
        if "/" in word or "\\" in word:
            found = "/" if len(word) > 1 else word
        elif word.isalpha() or word == "0":
            found = word
        elif _DIGITS.isdisjoint(word):
            found = word if len(word) < _SHORT else word[:8]
        else:
            found = _folded(word)
        if len(self) >= _MOST:  # of a result of megabytes in which no word comes twice
            self.clear()
        self[word] = found
        return found


def template(line: str, folded: Folded | None = None) -> str:
    """The line with what differs between lines of one kind folded: numbers, dates, hashes, paths, addresses.

    ``2024-05-01 12:00:03 GET /a/b took 31ms`` becomes ``# # GET / took #``.  A lone ``0`` stays: "0 failed" is another
    kind of line than "3 failed".  ``folded`` is for a caller with many lines.
    """
    return " ".join(map((Folded() if folded is None else folded).__getitem__, line.split()))


def _folded(word: str) -> str:
    """The letters before a word's first digit and a mark; nothing but the mark for a number in base 16."""
    rest = word.lstrip(_LETTERS + "[(<_-=.\"'")
    head = word[: len(word) - len(rest)]
    if len(word) >= 6 and not word.strip(_HEX):
        return "#"
    return head + "#" if head else "#"


# -------------------------------------------------------------------------------------------------- words in common

_STOP = _set(
    "the and for that this with from are was were not but you your have has had can could would should will its it "
    "into out when then than which what where who how why all any some also only just been being does did done "
    "there their they them these those here our about after before over under again more most such very because "
    "please let make makes made like want need using use used per via etc see get got one two if is in on of or to a "
    "an be as at by do we my me so no up i s t"
)
_SPLIT = {i: " " for i in range(128) if not (chr(i).isalnum() or chr(i) == "_")}
_CAMEL = {**_SPLIT, ord("_"): " ", **{i: " " + chr(i + 32) for i in range(65, 91)}}
MAX_TERMS = 160


def stem(word: str) -> str:
    """``word`` without a plural or a tense, so that "serializers" and "serializer" are one."""
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-2] if word.endswith(("ses", "xes", "ches", "shes")) and len(word) > 5 else word[:-1]
    for ending in ("ing", "ed"):
        if len(word) - len(ending) >= 4 and word.endswith(ending):
            return word[: -len(ending)]
    return word


def terms(text: str, most: int = MAX_TERMS) -> dict[str, float]:
    """What to look for, with weights: identifiers whole, and their parts split at capitals and underscores.

    Lower case, stemmed, without the commonest English words; a word that comes again weighs more, but never double.
    At most ``most``, the longest first where there are more.
    """
    counts: dict[str, int] = {}
    whole = text.translate(_SPLIT).split()
    for word in whole:
        low = word.lower().strip("_")
        if len(low) < 2 or low in _STOP or low.isdigit():
            continue
        parts = [p for p in word.translate(_CAMEL).split() if len(p) > 1 and p != low and p not in _STOP]
        for found in (stem(low), *(stem(p) for p in parts if not p.isdigit())):
            counts[found] = counts.get(found, 0) + 1
    if len(counts) > most:
        kept = sorted(counts, key=lambda t: (-len(t), t))[:most]
        counts = {term: counts[term] for term in kept}
    return {term: 1.0 + min(count - 1, 4) / 4 for term, count in counts.items()}


def _starts_word(text: str, at: int) -> bool:
    """Whether a word, or a part of an identifier, starts at ``at``."""
    before = text[at - 1] if at else " "
    if not before.isalpha():
        return True
    return text[at].isupper() and not before.isupper()


def occurrences(term: str, text: str, low: str, most: int) -> list[int]:
    """Where ``term`` stands in ``text`` (``low`` is it in lower case) as a word or a word's beginning; at most ``most``.

    A beginning: what comes after it may be an ending of up to three letters.
    """
    found: list[int] = []
    size = len(term)
    at = low.find(term)
    while at >= 0 and len(found) < most:
        after = low[at + size : at + size + 4]
        if _starts_word(text, at) and (len(after) < 4 or not after.isalpha()):
            found.append(at)
        at = low.find(term, at + size)
    return found


def bm25(
    query: Mapping[str, float], text: str, starts: Sequence[int], *, k: float = 1.2, b: float = 0.4, most: int = 20_000
) -> list[float]:
    """How much each part of ``text`` (``starts``: where they start, the first at 0) has to do with ``query``.

    BM25 (Robertson and others) with each part as a document and the weights of ``terms``.  A term that stands
    everywhere says nothing, so what is found more than ``most`` times is left out.
    """
    scores = [0.0] * len(starts)
    if not starts:
        return scores
    low = text.lower()
    if len(low) != len(text):  # a few letters grow in lower case; places must be the same in both
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    count = len(starts)
    mean = max(1.0, len(text) / count)
    ends = [*starts[1:], len(text)]
    norms = [k * (1 - b + b * (end - start) / mean) for start, end in zip(starts, ends, strict=True)]
    from math import log

    for term, weight in query.items():
        places = occurrences(term, text, low, most)
        if not places or len(places) >= most:
            continue
        hits: dict[int, int] = {}
        part, end = 0, ends[0]
        for at in places:
            while at >= end:
                part += 1
                end = ends[part]
            hits[part] = hits.get(part, 0) + 1
        idf = log(1 + (count - len(hits) + 0.5) / (len(hits) + 0.5))
        for part, often in hits.items():
            scores[part] += weight * idf * often * (k + 1) / (often + norms[part])
    return scores
