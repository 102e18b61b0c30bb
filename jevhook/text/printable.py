"""Text that is safe to show: in a terminal, in a host's dialog, in a model's context.

A reason quotes targets and a replacement quotes tool output, so both can hold what somebody else wrote: escape
sequences that repaint the terminal, bidi controls that show a path backwards, tag characters that only a model reads.
"""

from __future__ import annotations

CUT = "\n[cut here: the rest is not shown]"

# The bidi controls of Unicode's UAX #9, and the marks that steer them.
_BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# Without a shape, and without a use in any script: zero-width space, word joiner and its kin, byte order mark,
# annotations.  The joiners U+200C and U+200D stay: names in Persian and Hindi, and half of the emoji, need them.
_UNSEEN = (0x180E, 0x200B, *range(0x2060, 0x2066), *range(0x206A, 0x2070), 0xFEFF, *range(0xFFF9, 0xFFFC))
_CSI = "\x9b"  # what ESC [ is in one character (ECMA-48)
_STRINGS = "\x90\x98\x9d\x9e\x9f"  # DCS, SOS, OSC, PM, APC: everything up to their terminator is theirs
_AFTER_ESC = {"[": _CSI, "P": "\x90", "X": "\x98", "]": "\x9d", "^": "\x9e", "_": "\x9f"}


def _table() -> dict[int, str | None]:
    dropped = [*range(0x20), *range(0x7F, 0xA0), *range(0xE0000, 0xE0080), *map(ord, _BIDI), *_UNSEEN]
    table: dict[int, str | None] = dict.fromkeys(dropped)
    table.update({9: "\t", 10: "\n", 13: "\n", 0x2028: "\n", 0x2029: "\n"})
    return table


def printable(text: str) -> str:
    """``text`` without escape sequences, control, bidi, tag and zero-width characters; newlines and tabs stay.

    A carriage return and Unicode's own line ends become a newline, a lone surrogate becomes U+FFFD (serde_json, and so
    Codex, refuses a whole answer for one).  Linear in the length of ``text``, never raises, idempotent.
    """
    if text.isprintable():
        return text
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    if "\x1b" in text or any(char in text for char in _CSI + _STRINGS):
        text = "\n".join([_without_escapes(line) for line in text.split("\n")])
    return text.translate(_table())


def _without_escapes(line: str) -> str:
    """One line without its escape sequences.  An unfinished sequence loses its introducer only: text stays readable."""
    kept: list[str] = []
    size, at = len(line), 0
    # Where the next terminator is, found once and kept: a line of nothing but introducers must not cost its square.
    ends = {"\x07": -1, "\x1b\\": -1, "\x9c": -1}
    while at < size:
        start = at
        while at < size and line[at] != "\x1b" and line[at] != _CSI and line[at] not in _STRINGS:
            at += 1
        kept.append(line[start:at])
        if at == size:
            break
        opener = line[at]
        at += 1
        if opener == "\x1b" and at < size and line[at] in _AFTER_ESC:
            opener = _AFTER_ESC[line[at]]
            at += 1
        if opener in _STRINGS:
            best = size
            for end, known in ends.items():
                if known < at:
                    known = line.find(end, at)
                    known = ends[end] = size if known < 0 else known
                best = min(best, known)
            if best < size:
                at = best + (2 if line[best] == "\x1b" else 1)
            continue
        stop = at
        if opener == _CSI:
            while stop < size and "0" <= line[stop] <= "?":
                stop += 1
        while stop < size and " " <= line[stop] <= "/":
            stop += 1
        if stop < size and ("@" if opener == _CSI else "0") <= line[stop] <= "~":
            at = stop + 1
    return "".join(kept)


def printable_within(text: str, limit: int) -> str:
    """``printable(text)`` in at most ``limit`` bytes of UTF-8, with a plain ending where it was cut.

    Bytes, because the hosts count differently (UTF-16 units, characters, tokens of four bytes) and none counts more.
    ``limit`` must leave room for the ending.
    """
    shown = printable(text[: limit * 4])
    data = shown.encode()
    if len(data) <= limit and len(text) <= limit * 4:
        return shown
    return data[: limit - len(CUT)].decode("utf-8", "ignore") + CUT


# What has no shape of its own and yet counts as printable: variation selectors, joiners, blank letters.
_BLANK = frozenset((0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))  # fmt: skip


def visible(text: str) -> str:
    """``text`` with every character that a terminal would obey or not show written as an escape; newlines stay.

    For a person who wants to see what is there: nothing is dropped.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char == "\n" or (char.isprintable() and ord(char) not in _BLANK) else ascii(char)[1:-1] for char in text
    )
