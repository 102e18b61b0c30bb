"""The embedded judge of tool.injection: is a passage said to an assistant rather than to a reader?

Rules and a small model (``rules``, ``model``) on the normalised passage.  A score of 1.0 is an overt order that the rules
found; the model alone stays below.  Scores are not probabilities of harm: what has no cue at all is not seen.
"""

from __future__ import annotations

from ..normalise import normalise
from . import model, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..normalise import Normal

# Disguises that ordinary texts have no use for: with an order inside they are one sign more.
_DISGUISES = ("tags", "decoded", "rot13", "spaced", "lookalike", "invisible", "bidi")
_HIDDEN = ("comment", "hidden")
# What only the parties of the conversation may write: with one of these acts beside it, it is a forgery.
_ACTS = frozenset(("override", "conceal", "authority", "exfil", "prompt", "task", "role"))


QUOTED_AT_MOST = 0.3
# What the rules must add up to, and the score from which on the two together are a finding.  By cross-validation none of
# 6,288 plain passages is cut from 0.85 on; licences and manuals read for a check were, up to 0.964.
AGREED = ((rules.SUSPECT, 0.97), (0.8, 0.98))


class Sight:
    """What was seen in one passage.

    ``weight``  what the rules add up to; ``hits`` those that count, heaviest first
    ``overt``   an order to an assistant, by rule, and not a quotation
    ``quoted``  it would be one, but it stands in quotes, code or a quotation of a text about such attacks
    ``forged``  it is overt and poses as the harness or as somebody in the conversation, or is invisible
    ``score``   0 to 1: 1.0 for an overt one, else the model's opinion; -1 when the model was not asked
    """

    __slots__ = (
        "_data",
        "_looked",
        "_masks",
        "_tokens",
        "forged",
        "hits",
        "normal",
        "overt",
        "quoted",
        "score",
        "weight",
    )

    def __init__(
        self, normal: Normal, tokens: list[bytes], masks: list[int], hits: list[rules.Hit], data: bool
    ) -> None:
        self.normal = normal
        self._tokens = tokens
        self._masks = masks
        self._data = data
        self._looked = tuple(hits)  # the model was trained on all of them, ``hits`` are those that count
        self.hits = hits
        self.weight = 0.0
        self.overt = False
        self.quoted = False
        self.forged = False
        self.score = -1.0

    @property
    def kinds(self) -> list[str]:
        return [hit.kind for hit in self.hits]

    def place(self) -> int:
        """Where in the normalised text the heaviest sign is; 0 when it is about the whole passage."""
        for hit in self.hits:
            if hit.at >= 0:
                return _offset(self.normal.text, hit.at)
        return 0


def see(text: str, *, about: bool = False, fenced: bool = False, strict: bool = False, data: bool = False) -> Sight:
    """What the rules see in a passage.

    ``about``   the text that the passage is from is about such attacks: quotations in it are quotations
    ``fenced``  the passage begins inside a block of code
    ``data``    the passage is part of a JSON text: the quotes of its values quote nobody
    ``strict``  every quotation is one, whatever the text is about: for what is the project's own
    """
    normal = normalise(text)
    tokens = rules.words(normal.text)
    masks = rules.classes(tokens)
    hits = rules.look(normal.text, tokens, masks)
    sight = Sight(normal, tokens, masks, hits, data)
    if normal.facts and any(hit.weight >= 0.8 for hit in hits):
        if any(fact in normal.facts for fact in _DISGUISES):
            hits.append(rules.Hit("disguised", "decoded", 1.5, -1))
        elif any(fact in normal.facts for fact in _HIDDEN):
            hits.append(rules.Hit("hidden", "decoded", 0.5, -1))
    if "tags" in normal.facts and sum(c >= "\U000e0000" for c in text) > 9:
        hits.append(rules.Hit("invisible-text", "decoded", 3.0, -1))  # nothing ordinary is written so
    if not hits:
        return sight
    sight.weight, sight.hits = rules.weigh(hits)
    if sight.weight < rules.SUSPECT:
        return sight
    if (about or strict or _speaks(normal.text, masks)) and _quoted(normal.text, sight.place(), fenced, data):
        sight.quoted = True
        return sight
    if sight.weight >= rules.OVERT:
        sight.overt = True
        sight.score = 1.0
        sight._tokens, sight._masks = [], []  # nobody asks the model any more
        kinds = set(sight.kinds)
        posing = any(hit.kind == "forged" and hit.weight >= 1.2 for hit in sight.hits)
        sight.forged = (posing and bool(kinds & _ACTS)) or "tags" in normal.facts
    return sight


def suspect(sight: Sight) -> float:
    """The model's opinion of a passage, kept in ``sight.score``; an overt one needs none."""
    if sight.overt:
        return 1.0
    judge = model.load()
    if judge is None or not sight._tokens:
        sight.score = 0.0 if sight.weight < rules.SUSPECT else 0.5
        return sight.score
    score, where = judge.score(
        sight._tokens, sight._masks, sight.normal.text, sight._looked, sight.normal.facts, sight.weight
    )
    sight.score = tempered(sight, score, where)
    return sight.score


def tempered(sight: Sight, score: float, where: int) -> float:
    """What the model's score of a passage that is no overt order comes to; ``where``: the worst window's word.

    Lower for quotations; 1.0, and ``sight.overt``, where the rules half agree.
    """
    if score > QUOTED_AT_MOST and (
        sight.quoted
        or (
            _speaks(sight.normal.text, sight._masks)
            and _quoted(sight.normal.text, _offset(sight.normal.text, where), False, sight._data)
        )
    ):
        return QUOTED_AT_MOST  # worth a judge's look, nothing more
    if any(sight.weight >= least and score >= sure for least, sure in AGREED):
        sight.overt = True
        return 1.0
    return score


def _speaks(text: str, masks: Sequence[int]) -> bool:
    """Whether a passage speaks about attacks, or is code or prose about prompts."""
    if any(mask & rules.ABOUT for mask in masks):
        return True
    lowered = text.lower()
    return (
        '"role"' in lowered
        or "llm" in lowered
        or "prompt:" in lowered
        or "prompt\n" in lowered
        or "prompt =" in lowered
        or "re.compile" in lowered
        or "|---" in lowered
    )


def speaks_of_attacks(tokens: Sequence[bytes]) -> bool:
    """Whether a text is about attacks on assistants, as far as its words tell."""
    get = rules.VOCABULARY.get
    return sum(1 for token in tokens if get(token, 0) & rules.ABOUT) > 2


def _offset(text: str, word: int) -> int:
    """Where the word with this number begins in ``text``."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        if len(rules.words(text[:middle])) > word:
            high = middle
        else:
            low = middle + 1
    return max(0, low - 1)


def _quoted(text: str, at: int, fenced: bool, data: bool) -> bool:
    """Whether what is at ``at`` stands in a block of code, a quotation, a table's cell or quotes on its line."""
    before = text.count("```", 0, at) + text.count("~~~", 0, at) + fenced
    if before % 2 or (
        not before and "\n```\n" in text[at:] and text.count("```", at) % 2
    ):  # the passage began inside a block
        return True
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    line = text[start:at]
    if line.lstrip("0123456789:- \t").startswith((">", "|", "assert")):
        return True
    behind = text[at:end]
    for quote in ('"', "`", "'"):
        opened = line.rfind(quote)
        # An opening quote stands behind a gap or a bracket; a JSON value's own quotes say nothing.
        if opened < 0 or quote not in behind or (opened and line[opened - 1] not in " \t([{=,:>*|-r"):
            continue
        if data and quote == '"' and line[:opened].rstrip().endswith(":"):
            continue
        if line.count(quote) % 2 or quote == "`":
            return True
    return False
