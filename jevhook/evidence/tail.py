"""The newest end of the ledger: its last entries without reading the rest, and what is written from now on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .. import ledger
from .read import ALL, MAX_LINE, Counted, Wanted, read_line, sieve

_BLOCK = 256 << 10


def last(
    env: Mapping[str, str], path: str, number: int, wanted: Wanted = ALL, *, counted: Counted | None = None
) -> list[dict[str, Any]]:
    """The newest ``number`` wanted entries, oldest of them first; read from the end, as far back as it takes."""
    parts = ledger.open_parts(ledger.path(env, path))
    try:
        return _last(parts, number, wanted, Counted() if counted is None else counted, unfinished=True)
    finally:
        _close(parts)


def _last(
    parts: list[ledger.Part], number: int, wanted: Wanted, counted: Counted, *, unfinished: bool
) -> list[dict[str, Any]]:
    """Without ``unfinished`` a line that has no end yet is left for later."""
    found: list[dict[str, Any]] = []
    may = sieve(wanted)
    for part in reversed(parts):
        for at, line in _backwards(part):
            if len(found) >= number:
                break
            if unfinished or line[-1:] == b"\n":
                found += reversed(list(read_line(line, wanted, counted, f"{part.name} at byte {at}", may)))
    return found[:number][::-1]


def _backwards(part: ledger.Part) -> Iterator[tuple[int, bytes]]:
    """(where it begins, line with its newline), the last one first.  A line longer than MAX_LINE comes in pieces."""
    at, rest = part.size, b""
    while at > 0:
        size = min(_BLOCK, at)
        at -= size
        part.file.seek(at)
        block = part.file.read(size) + rest
        first = block.find(b"\n") + 1 or len(block)  # the line before may begin before this block
        if at == 0 or first > MAX_LINE:
            first = 0
        end = len(block)
        while end > first:
            begin = max(block.rfind(b"\n", first, end - 1) + 1, first)
            yield at + begin, block[begin:end]
            end = begin
        rest = block[:first]


class _Growing:
    """A file that may still be written to, and how far it has been read."""

    def __init__(self, part: ledger.Part, at: int = 0) -> None:
        self.part, self.at = part, at

    def lines(self) -> Iterator[bytes]:
        """The lines that are finished by now."""
        file = self.part.file
        if file.seek(0, os.SEEK_END) < self.at:  # somebody emptied it
            self.at = 0
        file.seek(self.at)
        while (line := file.readline(MAX_LINE)) and (line[-1:] == b"\n" or len(line) == MAX_LINE):
            self.at += len(line)
            yield line


def follow(
    env: Mapping[str, str],
    path: str,
    number: int,
    wanted: Wanted = ALL,
    *,
    counted: Counted | None = None,
    wait: Callable[[], bool],
) -> Iterator[dict[str, Any]]:
    """The newest ``number`` wanted entries, then each one that is written, through any rotation, none left out or twice.

    ``wait`` is called when there is nothing new; it answers whether to go on.
    """
    counted = Counted() if counted is None else counted
    name = ledger.path(env, path)
    may = sieve(wanted)
    parts = ledger.open_parts(name)
    files: list[_Growing] = []
    try:
        newest = _newest(parts)
        begin = _last(parts, number, wanted, counted, unfinished=False)
        files = _after(parts, newest)
        yield from begin
        while True:
            came = False
            for growing in files:
                for line in growing.lines():
                    came, newest = True, line
                    yield from read_line(line, wanted, counted, growing.part.name, may)
            _close([growing.part for growing in files[:-2]])
            del files[:-2]  # the one before stays: somebody who opened it may just be writing into it
            added: list[_Growing] = []
            if not _is_current(name, files):
                parts = ledger.open_parts(name)
                inodes = [part.inode for part in parts]
                if files and files[-1].part.inode in inodes:
                    known = inodes.index(files[-1].part.inode) + 1
                    _close(parts[:known])
                    added = [_Growing(part) for part in parts[known:]]
                else:  # pruned, or passed by more rotations than are kept
                    _close([growing.part for growing in files])
                    added, files = _after(parts, newest), []
                files += added
            if not came and not added and not wait():
                return
    finally:
        _close(parts)
        _close([growing.part for growing in files])


def _is_current(name: str, files: list[_Growing]) -> bool:
    """Whether the last of ``files`` is what is being written to; also when nobody writes at all."""
    try:
        found = os.stat(name)
    except OSError:
        return True
    return bool(files) and files[-1].part.inode == (found.st_dev, found.st_ino)


def _newest(parts: list[ledger.Part]) -> bytes:
    """The last finished line, b"" when there is none."""
    return next((line for part in reversed(parts) for _, line in _backwards(part) if line[-1:] == b"\n"), b"")


def _after(parts: list[ledger.Part], newest: bytes) -> list[_Growing]:
    """What stands behind the line ``newest`` (each holds an id of its own), or everything where it is not any more."""
    for number in range(len(parts) - 1, -1, -1) if newest else ():
        for at, line in _backwards(parts[number]):
            if line == newest:
                _close(parts[:number])
                rest = [_Growing(part) for part in parts[number + 1 :]]
                return [_Growing(parts[number], at + len(line)), *rest]
    return [_Growing(part) for part in parts]


def _close(parts: list[ledger.Part]) -> None:
    for part in parts:
        part.file.close()
