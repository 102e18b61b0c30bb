"""What a text says once its disguises are off, with a map back to the original.

Compatibility forms, look-alike letters, marks and typographic signs are folded; invisible characters are dropped and
Unicode tag characters and variation selectors that spell something are read; escape sequences of terminals are erased;
JSON, HTML and URL escapes are resolved; words that were split by empty markup, by a comment or by spaces are joined; text in
base64, hex or rot13 is decoded, one level deep; data URIs of other than text are dropped.  What is dropped or replaced
keeps its place in the map: every range of the result names the range of the original it came from.

Facts about the text that are worth a second look come with it, see ``FACTS``.  What is ordinary spelling is not among
them: the joiners of Persian, Arabic, Indic scripts and emoji, byte order marks, soft hyphens, flags.
"""

from __future__ import annotations

TYPE_CHECKING = False

FACTS = frozenset(
    (
        "tags",  # invisible characters that spell a text
        "invisible",  # invisible characters inside Latin words, or long runs of them
        "bidi",  # overrides that show a text in another order
        "ansi",  # escape sequences
        "comment",  # an HTML comment
        "hidden",  # an element that a browser would not show
        "decoded",  # base64, hex
        "rot13",
        "spaced",  # words with a space behind every letter
        "lookalike",  # Latin words with Cyrillic or Greek letters in them
    )
)

_GAP = "\0"  # what the folding table says for a character that is to be dropped or looked at
_DROPPED = frozenset(
    (0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180E, 0x180F, 0x3164, 0xFEFF, 0xFFA0)
) | frozenset((*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)))
_BIDI = frozenset((0x202A, 0x202B, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068))
_SIGNS = {
    0x2018: "'", 0x2019: "'", 0x201A: "'", 0x201B: "'", 0x2032: "'", 0x02BC: "'", 0x00B4: "'", 0x2039: "'", 0x203A: "'",
    0x201C: '"', 0x201D: '"', 0x201E: '"', 0x201F: '"', 0x2033: '"', 0x00AB: '"', 0x00BB: '"', 0x300C: '"', 0x300D: '"',
    0x300E: '"', 0x300F: '"', 0x2010: "-", 0x2011: "-", 0x2012: "-", 0x2013: "-", 0x2014: "-", 0x2015: "-", 0x2212: "-",
    0x3002: ".", 0x3001: ",", 0x060C: ",", 0x061B: ";", 0x061F: "?", 0x00BF: "?", 0x00A1: "!", 0x2022: "*", 0x00B7: "*",
    0x2028: "\n", 0x2029: "\n", 0x85: "\n", 0xA0: " ", 0x0131: "i", 0x00DF: "s", 0x00F8: "o", 0x00D8: "O", 0x0142: "l",
}  # fmt: skip
_ALIKE = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04cf\u0501\u051b\u0410\u0412\u0415\u041a\u041c"
        "\u041d\u041e\u0420\u0421\u0422\u0425\u0405\u0406\u0408\u03bf\u03b1\u03b5\u03b9\u03bd\u03c1\u03c4\u03c5\u03c7"
        "\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7\u0396\u0261\u0251\u0432\u043d\u043a"
        "\u043c\u0442\u0433\u043f",
        "aeopcyxijsldwABEKMHOPCTXSIJoaeivptuxABEHIKMNOPTXZgabhkmtrn",
        strict=True,
    )
)
_ENTITIES = {
    "lt": "<",
    "gt": ">",
    "amp": "&",
    "quot": '"',
    "apos": "'",
    "nbsp": " ",
    "colon": ":",
    "period": ".",
    "comma": ",",
}
_HIDING = ("display:none", "display: none", "visibility:hidden", "visibility: hidden", "font-size:0", "font-size: 0",
           "font-size:1px", "opacity:0", "opacity: 0", 'hidden="', "<div hidden", "<span hidden", "<p hidden",
           "color:#fff", "color: #fff", "color:white", "color: white", "left:-9999", "left: -9999")  # fmt: skip
_ROTATED = ("vtaber", "vafgehpg", "flfgrz", "nffvfgnag", "qvfertneq", "cerivbhf")  # ignore, instruct, system, ...
_ESCAPES = {"n": "\n", "t": "\t", "r": "\n", '"': '"', "/": "/", "'": "'"}
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
MIN_BLOB = 24  # characters of base64: 18 bytes
MAX_BLOB = 64 << 10
_PIECE = 120  # characters from which a blob may be a piece of one
_RUN = b"1" * MIN_BLOB


class _Folding(dict[int, "str | int"]):
    """The folding of one character by its code, worked out when it is first met.

    Always one character or more, ``_GAP`` for what needs a look: a text of the same length is mapped one to one.
    """

    def __missing__(self, code: int) -> str | int:
        made = self[code] = code if code < 128 else _folded(code)
        return made


def _folded(code: int) -> str:
    if code in _SIGNS:
        return _SIGNS[code]
    if (
        code in _DROPPED
        or 0x300 <= code < 0x370
        or 0xFE00 <= code < 0xFE10
        or 0xE0000 <= code < 0xE1000
        or 0x80 <= code < 0xA0
    ):
        return _GAP
    char = chr(code)
    if 0x3040 <= code < 0xA000 or 0xAC00 <= code < 0xD7A4 or 0xD800 <= code < 0xE000:
        return char
    from unicodedata import normalize

    apart = normalize("NFKD", char)
    if apart[0] < "\x80":  # a letter with marks, or another form of one: the letters alone
        plain = "".join(c for c in apart if c < "\x80" or not 0x300 <= ord(c) < 0x370)
        return plain or char
    return normalize("NFKC", char) or char


_FOLD = _Folding()


def fold(text: str) -> str | None:
    """``text`` with every character folded, if that can be done one to one and nothing else needs a look; else None."""
    if text.isascii():
        return text
    made = text.translate(_FOLD)
    return None if len(made) != len(text) or _GAP in made else made


class Normal:
    """A normalised ``text``, the ``facts`` seen on the way, and the way back: ``original(start, end)``."""

    __slots__ = ("_segments", "_size", "facts", "text")

    def __init__(self, text: str, facts: set[str], segments: list[tuple[int, int, int, int]] | None, size: int) -> None:
        self.text = text
        self.facts = facts
        self._segments = segments  # (start, length, original start, original length), in the order of the result
        self._size = size

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The smallest range of the original that ``text[start:end]`` came from; (0, 0) for an empty range."""
        if start >= end:
            return 0, 0
        if self._segments is None:
            return start, end
        first, last = self._size, 0
        for at, length, where, size in self._segments[self._index(start) :]:
            if at >= end:
                break
            if length == size:  # copied: character by character
                low, high = where + max(0, start - at), where + min(length, end - at)
            else:
                low, high = where, where + size
            first, last = min(first, low), max(last, high)
        return first, max(first, last)

    def _index(self, start: int) -> int:
        segments = self._segments or []
        low, high = 0, len(segments)
        while low < high:
            middle = (low + high) // 2
            if segments[middle][0] + segments[middle][1] <= start:
                low = middle + 1
            else:
                high = middle
        return low


class _Writer:
    """The result under way: pieces of text, and where each came from."""

    __slots__ = ("at", "facts", "pieces", "segments")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.segments: list[tuple[int, int, int, int]] = []
        self.facts: set[str] = set()
        self.at = 0

    def put(self, piece: str, where: int, size: int) -> None:
        if piece:
            self.pieces.append(piece)
            self.segments.append((self.at, len(piece), where, size))
            self.at += len(piece)

    def copy(self, text: str, start: int, end: int) -> None:
        """``text[start:end]``, every character of it folded."""
        part = text[start:end]
        if not part:
            return
        if part.isascii():
            self.put(part, start, len(part))
            return
        made = part.translate(_FOLD)
        if len(made) == len(part) and _GAP not in made:
            self.put(made, start, len(part))
            return
        self._slowly(text, start, end)

    def _slowly(self, text: str, start: int, end: int) -> None:
        at = start
        while at < end:
            code = ord(text[at])
            folded = _FOLD[code]
            if folded != _GAP:
                stop = at + 1
                while stop < end and text[stop] < "\x80":
                    stop += 1
                # The first character may have become several; what follows it is plain.
                self.put(folded if isinstance(folded, str) else chr(folded), at, 1)
                self.put(text[at + 1 : stop], at + 1, stop - at - 1)
                at = stop
                continue
            stop = at + 1
            while stop < end and _FOLD[ord(text[stop])] == _GAP:
                stop += 1
            self._unseen(text, at, stop)
            at = stop

    def _unseen(self, text: str, start: int, end: int) -> None:
        """A run of characters that are not shown: dropped, unless they spell something."""
        run = text[start:end]
        before = text[start - 1] if start else ""
        spelt = "".join(chr(ord(c) - 0xE0000) for c in run if 0xE0020 <= ord(c) < 0xE007F)
        if spelt and before != "\U0001f3f4":  # a black flag with tags behind it is a flag
            self.facts.add("tags")
            self.put(" " + spelt + " ", start, end - start)
            return
        selectors = [ord(c) for c in run if 0xFE00 <= ord(c) < 0xFE10 or 0xE0100 <= ord(c) < 0xE01F0]
        if len(selectors) > 3:
            data = bytes(c - 0xFE00 if c < 0xFE10 else c - 0xE0100 + 16 for c in selectors)
            said = _readable(data)
            self.facts.add("invisible")
            if said:
                self.facts.add("tags")
                self.put(" " + said + " ", start, end - start)
            return
        if any(ord(c) in _BIDI for c in run) and before < "\u0590" and text[end : end + 1] < "\u0590":
            self.facts.add("bidi")
        after = text[end : end + 1]
        # Between Latin letters only a soft hyphen has a use; elsewhere joiners are spelling.
        if (
            before in _LETTERS and after in _LETTERS and run.strip("\u00ad") and not 0x300 <= ord(run[0]) < 0x370
        ) or len(run.strip("\u00ad")) > 7:
            self.facts.add("invisible")


def normalise(text: str) -> Normal:
    """See the module.  Linear in the length of ``text``; meant for passages, and right for whole texts too."""
    made = fold(text)
    if made is not None and not _needs_more(text):
        return Normal(made, set(), None, len(text))
    writer = _Writer()
    facts = writer.facts
    lowered = text.lower() if "<" in text else ""
    if "<!--" in text:
        facts.add("comment")
    if lowered and any(mark in lowered for mark in _HIDING):
        facts.add("hidden")
    blobs = _blobs(text)
    blob = 0
    marks = [c for c in "\x1b\x9b\b\\&<" if c in text] + (["%"] if "%20" in text else [])
    ahead = dict.fromkeys(marks, -1)
    at, size = 0, len(text)
    aside: list[tuple[int, int]] = []
    while at < size:
        nearest = blobs[blob][0] if blob < len(blobs) else size
        for mark, known in ahead.items():
            if known < at:
                known = text.find(mark, at)
                known = ahead[mark] = size if known < 0 else known
            nearest = min(nearest, known)
        writer.copy(text, at, nearest)
        at = nearest
        if at >= size:
            break
        if blob < len(blobs) and at == blobs[blob][0]:
            start, end, said = blobs[blob]
            if said:
                facts.add("decoded")
                writer.put("\n" + said + "\n", start, end - start)
            at, blob = end, blob + 1
            continue
        limit = blobs[blob][0] if blob < len(blobs) else size
        at = min(_special(text, at, writer, aside), limit)
    for start, end in aside:  # comments inside words
        writer.put("\n", start, 0)
        writer.copy(text, start, end)
    made = "".join(writer.pieces)
    _appendices(made, text, writer)
    made = "".join(writer.pieces)
    return Normal(made, facts, writer.segments, size)


def _needs_more(text: str) -> bool:
    """Whether there is anything but characters to fold."""
    if "\\" in text or "&" in text or "\x1b" in text or "\b" in text or "%20" in text or "\x9b" in text:
        return True
    if "<" in text and ("<!--" in text or "</" in text or "<" + "b" in text):
        return True
    lowered = text.lower()
    if any(mark in lowered for mark in _ROTATED) or _has_run(text) or _spaced(text) or _apart(text):
        return True
    return (
        any("\u0370" <= c < "\u0530" or c == "\u0261" or c == "\u0251" for c in text) if not text.isascii() else False
    )


def _special(text: str, at: int, writer: _Writer, aside: list[tuple[int, int]]) -> int:
    """What begins at ``at``, written; returns where to go on."""
    char = text[at]
    after = text[at + 1 : at + 2]
    if char in "\x1b\x9b":
        writer.facts.add("ansi")
        return _past_escape(text, at)
    if char == "\b":  # a letter struck over: as man pages print bold
        return at + 2 if after and writer.pieces and writer.pieces[-1][-1:] == after else at + 1
    if char == "\\":
        stop = at + 1
        while text[stop : stop + 1] == "\\":
            stop += 1
        name = text[stop : stop + 1]
        if name in _ESCAPES and name:
            writer.put(_ESCAPES[name], at, stop + 1 - at)
            return stop + 1
        if name == "u" and text[stop + 1 : stop + 2] == "{":
            end = text.find("}", stop, stop + 10)
            code = _number(text[stop + 2 : end], 16) if end > 0 else None
            if code is not None and 0 < code < 0x110000 and not 0xD800 <= code < 0xE000:
                folded = _FOLD[code]
                writer.put(folded if isinstance(folded, str) else chr(folded), at, end + 1 - at)
                return end + 1
        if name == "u" or name == "x":
            digits = text[stop + 1 : stop + (5 if name == "u" else 3)]
            code = _number(digits, 16)
            if code is not None and len(digits) == (4 if name == "u" else 2) and not 0xD800 <= code < 0xE000:
                folded = _FOLD[code]
                writer.put(folded if isinstance(folded, str) else chr(folded), at, stop + 1 + len(digits) - at)
                return stop + 1 + len(digits)
        writer.put("\\", at, 1)
        if stop > at + 1:
            writer.put("\\" * (stop - at - 1), at + 1, stop - at - 1)
        return stop
    if char == "&":
        end = text.find(";", at, at + 12)
        if end > 0:
            name = text[at + 1 : end]
            known: str | int | None = _ENTITIES.get(name)
            if known is None and name[:1] == "#":
                code = _number(name[2:], 16) if name[1:2] in ("x", "X") else _number(name[1:], 10)
                if code is not None and 0 < code < 0x110000:
                    known = _FOLD[code]
            if known is not None:
                writer.put(known if isinstance(known, str) else chr(known), at, end + 1 - at)
                return end + 1
    elif char == "%":
        code = _number(text[at + 1 : at + 3], 16)
        if code is not None and 32 <= code < 127:
            writer.put(chr(code), at, 3)
            return at + 3
    elif char == "<":
        end = _markup(text, at, writer, aside)
        if end:
            return end
    writer.put(char, at, 1)
    return at + 1


def _number(digits: str, base: int) -> int | None:
    if not digits or not digits.isalnum():
        return None
    try:
        return int(digits, base)
    except ValueError:
        return None


def _markup(text: str, at: int, writer: _Writer, aside: list[tuple[int, int]]) -> int:
    """Markup that splits a word: where it ends, or 0 when it is to be kept."""
    before = text[at - 1] if at else ""
    if before not in _LETTERS:
        return 0
    if text.startswith("<!--", at):
        end = text.find("-->", at + 4, at + 2000)
        if end > 0 and text[end + 3 : end + 4] in _LETTERS and text[end + 3 : end + 4]:
            aside.append((at + 4, end))
            return end + 3
        return 0
    stop = at
    while True:  # <b></b>, <wbr/>
        end = text.find(">", stop, stop + 24)
        name = text[stop + 1 : end].strip("/") if end > 0 else ""
        if end < 0 or not name.isalnum():
            return 0
        stop = end + 1
        if text[stop : stop + 1] != "<":
            break
    return stop if text[stop : stop + 1] in _LETTERS and text[stop : stop + 1] else 0


def _past_escape(text: str, at: int) -> int:
    """Behind the escape sequence at ``at`` (ECMA-48); an unfinished one loses its introducer only."""
    size = len(text)
    kind = text[at + 1 : at + 2] if text[at] == "\x1b" else "["
    start = at + 2 if text[at] == "\x1b" else at + 1
    if kind == "[":
        stop = start
        while stop < size and stop < start + 64 and " " <= text[stop] <= "?":
            stop += 1
        return stop + 1 if stop < size and "@" <= text[stop] <= "~" else start
    if kind and kind in "]PX^_":
        limit = min(size, start + 500)  # a link has room in that; unfinished ones in a row must not cost their square
        line = text.find("\n", start, limit)
        limit = line if line >= 0 else limit
        ends = [(text.find(mark, start, limit), len(mark)) for mark in ("\x07", "\x1b\\", "\x9c")]
        found = [at + length for at, length in ends if at >= 0]
        if found:
            return min(found)
        return start
    return min(size, start) if kind else at + 1


# ----------------------------------------------------------------------------------------------- encoded text

_B64 = bytes(
    49 if chr(c).isalnum() and c < 128 else 49 if chr(c) in "+/=_-" else 32 for c in range(256)
)  # 1 for a letter of some base64


def _mask(text: str) -> bytes:
    return text.encode("latin-1", "replace").translate(_B64) if text.isascii() else _wide_mask(text)


def _wide_mask(text: str) -> bytes:
    # "?" stands for what is not Latin-1 and is no letter of base64; neither are the letters above ASCII.
    return text.encode("latin-1", "replace").translate(_B64)


def _has_run(text: str) -> bool:
    return _RUN in _mask(text)


def _blobs(text: str) -> list[tuple[int, int, str]]:
    """(start, end, text) of what is text in base64 or hex, and of data URIs, whose text is "" unless it is text."""
    mask = _mask(text)
    at = mask.find(_RUN)
    found: list[tuple[int, int, str]] = []
    while at >= 0:
        end = mask.find(b" ", at)
        end = len(text) if end < 0 else end
        first = end
        while end < len(text) and end - at < MAX_BLOB and text[end] == "\n" and first - at >= 60:
            stop = mask.find(b" ", end + 1)  # base64 broken into lines
            stop = len(text) if stop < 0 else stop
            if stop - end < 5 or (stop < len(text) and text[stop] != "\n"):
                break
            end = stop
        head = text[max(0, at - 80) : at].lower()
        uri = head.rpartition("data:")[2] if "data:" in head else ""
        # A picture or a sound says nothing; of other kinds what decodes to a text is one (SVG is, octets may be).
        silent = uri.startswith(("image/", "audio/", "video/", "font/")) and not uri.startswith("image/svg")
        said = "" if silent else _decoded(text[at : min(end, at + MAX_BLOB)])
        if said or (uri and uri.endswith("base64,")):
            found.append((at, end, said))
        at = mask.find(_RUN, end)
    return found


def _decoded(blob: str) -> str:
    """What a blob of base64 or hex says, "" when it is no text.

    A long one may be a piece of one that was cut between two passages: it need not begin where four letters do.
    """
    import binascii

    blob = "".join(blob.split("\n")) if "\n" in blob else blob
    piece = len(blob) >= _PIECE
    for skip in (0, 1) if piece else (0,):
        part = blob[skip : skip + (len(blob) - skip) // 2 * 2] if piece else blob
        if len(part) % 2 == 0 and len(part) >= 32:
            try:
                said = _readable(binascii.unhexlify(part))
            except ValueError:
                break  # no hex, wherever it begins
            if said:
                return said
    blob = blob.strip("=").replace("-", "+").replace("_", "/")
    tries = [blob]
    if "=" in blob:  # "key=" before it
        tries.append(blob.rpartition("=")[2])
    if piece:
        tries += [blob[skip:] for skip in (1, 2, 3)]
    for part in tries:
        part = part[: len(part) - 1] if len(part) % 4 == 1 else part
        try:
            said = _readable(binascii.a2b_base64(part + "=" * (-len(part) % 4)))
        except ValueError:
            continue
        if said:
            return said
    return ""


def _readable(data: bytes) -> str:
    """``data`` as text when it is prose, else ""."""
    if len(data) < 12:
        return ""
    if not any(data[1:200:2]):  # UTF-16, as PowerShell encodes its commands
        data = data[::2]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        if len(data) < 40:
            return ""
        text = data[: len(data) - 4].decode("utf-8", "ignore")
        if len(text) < len(data) - 8:
            return ""
    sample = text[:400]
    if " " not in sample and sample.isascii():
        return ""
    plain = sum(c.isalpha() or c == " " for c in sample)
    return text if plain >= 0.8 * len(sample) else ""


_ROT13 = {
    **{c: 97 + (c - 97 + 13) % 26 for c in range(97, 123)},
    **{c: 65 + (c - 65 + 13) % 26 for c in range(65, 91)},
}


def _appendices(made: str, text: str, writer: _Writer) -> None:
    """What the whole text says when read in another way, put behind it."""
    lowered = made.lower()
    if sum(mark in lowered for mark in _ROTATED) > 1 or ("rot13" in lowered and any(m in lowered for m in _ROTATED)):
        writer.facts.add("rot13")
        writer.put("\n" + made.translate(_ROT13), 0, len(text))
    if "\u202e" in text:  # shown backwards: what a person would read
        writer.put(
            "\n" + "\n".join(run.partition("\u202c")[0].partition("\n")[0][::-1] for run in text.split("\u202e")[1:]),
            0,
            len(text),
        )
    octets = _octets(text) if _apart(text) else ""
    if octets:
        writer.facts.add("decoded")
        writer.put("\n" + octets, 0, len(text))
    if _spaced(made):
        joined = _joined(made)
        if joined:
            writer.facts.add("spaced")
            writer.put("\n" + joined, 0, len(text))
    if not made.isascii() and any("\u0370" <= c < "\u0530" or c in "\u0261\u0251" for c in made):
        alike = [_latin(word) for word in made.split() if not word.isascii()]
        said = " ".join(word for word in alike if word)
        if said:
            writer.facts.add("lookalike")
            whole = " ".join(word if word.isascii() else _latin(word) or word for word in made.split())
            writer.put("\n" + whole, 0, len(text))


def _apart(text: str) -> bool:
    """Whether there may be a text in bytes apart: it would have a space in it."""
    return " 20 " in text or ":20:" in text or "0x20" in text


def _octets(text: str) -> str:
    """What bytes written apart in hex say (``49 67``, ``49:67``, ``0x49, 0x67``): the longest run; "" for no text."""
    best = ""
    for gap in " :,":
        if text.count(gap) < 16:
            continue
        run: list[str] = []
        for word in [*text.replace("\n", gap).split(gap), ""]:
            word = word.strip(" ,;[](){}").removeprefix("0x")
            if len(word) == 2 and word.isalnum() and _number(word, 16) is not None:
                run.append(word)
            elif word or not run:
                if len(run) >= 16:
                    said = _readable(bytes.fromhex("".join(run)))
                    best = max(best, said, key=len)
                run = []
        if len(run) >= 16:
            best = max(best, _readable(bytes.fromhex("".join(run))), key=len)
    return best


def _latin(word: str) -> str:
    """A word of Latin letters with look-alikes in it, in Latin letters alone; "" for any other word."""
    if not any(c in _LETTERS for c in word):
        return ""
    made = "".join(_ALIKE.get(c, c) for c in word)
    return made if made.isascii() and made != word else ""


def _spaced(text: str) -> bool:
    """Whether there are five single letters in a row, with one space, dot, dash or star between them."""
    for gap in " .-*":
        parts = text.split(gap) if text.count(gap) > 4 else ()
        run = 0
        for part in parts:
            run = run + 1 if len(part) == 1 and part.isalpha() else 0
            if run >= 5:
                return True
    return False


def _joined(text: str) -> str:
    """The words that were spelt with gaps, joined; two or more spaces end a word."""
    found: list[str] = []
    for line in text.split("\n"):
        for gap in " .-*":
            run: list[str] = []
            words: list[str] = []
            for part in [*line.split(gap), "", ""]:
                if len(part) == 1 and part.isalpha():
                    run.append(part)
                    continue
                if run and part[:1].isalpha() and not part[1:2].isalnum():
                    run.append(part[0])
                    part = part[1:].strip()
                if len(run) >= 4:
                    words.append("".join(run))
                if len(part) > 1 and words:
                    words.append(part)
                run = []
            if words and len(words[0]) >= 4:
                found.append(" ".join(words))
    return "\n".join(found)
