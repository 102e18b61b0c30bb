"""A text cut into passages: pieces of about 900 characters that are judged, and withheld, one by one.

Paragraphs (between blank lines) are packed together as long as they fit; one that does not fit is cut at the end of a
line, else between words, else hard.  Nothing is left out however long the text is: the passages joined are the text.
"""

from __future__ import annotations

SIZE = 900
_BLANK = ("\n\n", "\n\r\n", "\r\r", "\u2029")
_SOFT = ("\n", "\r", " ", "\t", "\u3002")


def cut(text: str, size: int = SIZE) -> list[tuple[int, int]]:
    """The passages of ``text`` as (start, end), in order, touching, none longer than ``size`` characters.

    [] for "".  Linear in the length of the text.
    """
    found: list[tuple[int, int]] = []
    at, last = 0, len(text)
    while last - at > size:
        end = _end(text, at, at + size)
        found.append((at, end))
        at = end
    if at < last:
        found.append((at, last))
    return found


def _end(text: str, start: int, limit: int) -> int:
    """Where the passage that begins at ``start`` ends: after the last blank line before ``limit``, if there is one."""
    end = -1
    for blank in _BLANK:
        seen = text.rfind(blank, start, limit)
        if seen >= 0:
            end = max(end, seen + len(blank))
    if end > start:
        # A run of blank lines belongs to what it ends, as far as it fits.
        while end < limit and text[end] in "\r\n":
            end += 1
        return end
    least = start + (limit - start) // 3  # a cut further ahead would make crumbs
    for soft in _SOFT:
        seen = text.rfind(soft, least, limit)
        if seen >= 0:
            end = seen + 1
            break
    else:
        end = limit
    if end < len(text) and text[end] == "\n" and text[end - 1] == "\r" and end > start + 1:
        end -= 1
    return end
