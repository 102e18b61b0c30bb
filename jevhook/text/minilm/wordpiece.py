"""Words as numbers: the lower-casing WordPiece of BERT, as all-MiniLM-L6-v2 was trained with it.

``vocab.txt`` beside this file is the vocabulary of bert-base-uncased (Google, Apache-2.0), one piece a line, its number
the line's.  The model's wheel brings none, and the library that reads such files wants a hub client with eleven packages;
the procedure is forty lines (BERT's own ``tokenization.py`` describes it).
"""

from __future__ import annotations

import os
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN, BEGIN, END = 100, 101, 102
LONGEST = 100  # characters of a word; what is longer is unknown
_MARKS = {i: f" {chr(i)} " for i in (*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127))}
_BLANKS = {9: " ", 10: " ", 13: " "}
_ASCII = {**dict.fromkeys((*range(32), 127)), **_BLANKS, **_MARKS}
# The blocks that BERT takes for Chinese: each of their characters is a word.
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def vocabulary() -> dict[str, int]:
    """The pieces and their numbers; a piece that goes on with a word starts with ``##``."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vocab.txt")
    with open(path, encoding="utf-8") as file:
        return {piece: number for number, piece in enumerate(file.read().split("\n")[:-1])}


def words(text: str) -> list[str]:
    """``text`` in lower case, without accents and control characters, cut at white space and punctuation."""
    if text.isascii():
        return text.translate(_ASCII).lower().split()
    made = []
    for c in text:
        code = ord(c)
        if code < 128:
            made.append(_ASCII.get(code, c) or "")
        elif code == 0xFFFD:
            continue
        elif any(low <= code <= high for low, high in _CHINESE):
            made.append(f" {c} ")
        elif c.isspace():
            made.append(" ")
        elif unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cs"):
            made.append(c)
    found = []
    for c in unicodedata.normalize("NFD", "".join(made)):
        kind = unicodedata.category(c)
        if kind != "Mn":
            found.append(f" {c} " if kind[0] == "P" and not c.isascii() else c.lower())
    return "".join(found).split()


def numbers(text: str, vocab: Mapping[str, int], most: int) -> list[int]:
    """The numbers of ``text``'s pieces between the marks of a beginning and an end, ``most`` with these at most."""
    made = [BEGIN]
    for word in words(text):
        if len(made) >= most - 1:
            break
        whole = vocab.get(word)
        if whole is not None:
            made.append(whole)
        else:
            made += _pieces(word, vocab)
    del made[most - 1 :]
    made.append(END)
    return made


def _pieces(word: str, vocab: Mapping[str, int]) -> list[int]:
    """A word as the longest pieces from its beginning on; unknown as a whole where one is missing."""
    if len(word) > LONGEST:
        return [UNKNOWN]
    found = []
    at, size = 0, len(word)
    while at < size:
        for end in range(size, at, -1):
            number = vocab.get(f"##{word[at:end]}" if at else word[at:end])
            if number is not None:
                break
        else:
            return [UNKNOWN]
        found.append(number)
        at = end
    return found
