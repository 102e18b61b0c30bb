"""A text in chunks of whole lines that, put together again, are the text byte for byte."""

from __future__ import annotations

TARGET = 1200  # characters: about what one question can be asked about


def lines(text: str, longest: int = TARGET) -> list[str]:
    """The lines of ``text`` with their line ends; what is longer than ``longest`` characters comes in pieces.

    Only a line feed ends a line: form feeds and Unicode's separators stand inside the lines of real logs, and a tool
    that is told a line number counts as ``sed`` does.
    """
    found: list[str] = []
    whole = text.split("\n")
    last = whole.pop()
    for line in whole:
        if len(line) < longest:
            found.append(line + "\n")
        else:
            found += pieces(line + "\n", longest)
    if last:
        found += pieces(last, longest)
    return found


def pieces(line: str, longest: int) -> list[str]:
    """``line`` cut into pieces of at most ``longest`` characters, where there is a space near the end there."""
    if len(line) <= longest:
        return [line]
    found = []
    start = 0
    while len(line) - start > longest:
        end = line.rfind(" ", start + longest * 3 // 4, start + longest) + 1 or start + longest
        found.append(line[start:end])
        start = end
    found.append(line[start:])
    return found


def groups(sizes: list[int], target: int = TARGET) -> list[int]:
    """Where chunks of about ``target`` characters start, as indexes into lines of these ``sizes``; the first is 0."""
    starts: list[int] = []
    held = target
    for index, size in enumerate(sizes):
        if held and held + size > target:
            starts.append(index)
            held = 0
        held += size
    return starts


def chunks(text: str, target: int = TARGET) -> list[str]:
    """``text`` in chunks of whole lines, each at most ``target`` characters, together exactly ``text``."""
    found = lines(text, target)
    starts = groups([len(line) for line in found], target)
    ends = [*starts[1:], len(found)] if found else []
    return ["".join(found[a:b]) for a, b in zip(starts, ends, strict=True)]
