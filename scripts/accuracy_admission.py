"""How much of what is needed tool.admission's first stage keeps, by kind of output, on ``admission.jsonl``.

Called by ``scripts/accuracy``; on its own: ``.venv/bin/python scripts/accuracy_admission.py [--minilm] [CORPUS]``.  Each row is a
long output in chunks with the indexes of those that somebody needed.  Three questions:

1. *ranking*: the row's own chunks, ranked, kept from the best on until 30 % of the bytes are used (the first and the
   last are always kept and count); beside it head+tail and a plain search for error words.
2. *product*: the whole output through the point as shipped, in lines, with its own budgets: how much is left out, and
   how many needed chunks are still whole.
3. file views, which the point must leave alone.

``--minilm`` (minutes; the ``minilm`` extra) ranks searches and listings with MiniLM's similarity to the request too, alone
and added to the point's own scores.  It does not help (docs/model-card.md), so the point makes no use of it.

Nothing is trained; the weights are set by hand.  Groups (sources) are halved by name and both halves are shown.  Single
wrong rows were read in the first half only, but the totals of both were in view while weights were chosen, so neither
half is a held-out set.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SHARE = 0.30
LOGS, FOUND = ("test-log", "system-log"), ("grep", "listing")
ERRORS = ("error", "fail", "exception", "traceback", "fatal", "panic", "assert")
REQUEST = 400  # characters of a request that a transcript hands over

Row = dict[str, Any]


def _query(task: str) -> dict[str, float]:
    from jevhook.event import Event
    from jevhook.points.admission import wanted

    return wanted(Event("claude", "after-tool", "PostToolUse"), [task[:REQUEST]])


def ours(row: Row) -> list[float]:
    from jevhook.text.salience import score_chunk, score_lines, score_places

    chunks = row["chunks"]
    if row["tool"] in LOGS:
        lines, owners = [], []
        for at, chunk in enumerate(chunks):
            for line in chunk.split("\n"):
                lines.append(line + "\n")
                owners.append(at)
        found: list[list[tuple[float, int]]] = [[] for _ in chunks]
        for owner, line, score in zip(owners, lines, score_lines(lines), strict=True):
            found[owner].append((score, len(line)))
        return [score_chunk([s for s, _ in pairs], [n for _, n in pairs]) for pairs in found]
    return score_places([chunk + "\n" for chunk in chunks], _query(row["task"]))


def head_tail(row: Row) -> list[float]:
    count = len(row["chunks"])
    return [abs(at - (count - 1) / 2) for at in range(count)]


def error_words(row: Row) -> list[float]:
    return [float(sum(chunk.lower().count(word) for word in ERRORS) > 0) for chunk in row["chunks"]]


def kept_at(share: float, scores: list[float], chunks: list[str], ends: bool = True) -> set[int]:
    """Indexes kept: the first and last, then the best, as long as they fit in ``share`` of the bytes."""
    room = share * sum(map(len, chunks))
    order = sorted(range(len(chunks)), key=lambda at: (-scores[at], -at))
    kept: set[int] = set()
    for at in [0, len(chunks) - 1, *order] if ends else order:
        if at not in kept and len(chunks[at]) <= room:
            kept.add(at)
            room -= len(chunks[at])
    return kept


def product(row: Row, share: float | None = None) -> tuple[set[int], int, int]:
    """(needed chunks that are still whole in what the point hands on, its characters, the output's)."""
    from jevhook.points.admission import Part, choose, render

    text = "\n".join(row["chunks"]) + "\n"
    kind = {"grep": "search", "listing": "listing"}.get(row["tool"], "log")
    part = Part((), text, kind)
    choose(part, _query(row["task"]), budget=share)
    spans, at = [], 0
    for chunk in row["chunks"]:
        spans.append((at, at + len(chunk) + 1))
        at += len(chunk) + 1
    gone: list[tuple[int, int]] = []
    at = 0
    for line, keep in zip(part.lines, part.keep, strict=True):
        if not keep:
            gone.append((at, at + len(line)))
        at += len(line)
    whole = {i for i in row["needed"] if not any(a < spans[i][1] and b > spans[i][0] for a, b in gone)}
    shown = (
        render(part, "/home/dev/.local/state/jevhook/archive/0123456789abcdef0123456789abcdef.txt") if gone else text
    )
    return whole, len(shown), len(text)


class Sum:
    """Needed chunks kept, and outputs of which all were kept."""

    def __init__(self) -> None:
        self.hit = self.need = self.all = self.rows = self.left = self.total = 0
        self.mean = 0.0

    def add(self, hit: int, need: int, left: int = 0, total: int = 0) -> None:
        self.hit += hit
        self.need += need
        self.all += hit == need
        self.rows += 1
        self.mean += hit / need
        self.left += left
        self.total += total

    def shown(self) -> str:
        if not self.rows:
            return "-"
        line = (
            f"{100 * self.hit / self.need:6.1f} % of chunks{100 * self.mean / self.rows:7.1f} % a output"
            f"{100 * self.all / self.rows:7.1f} % all ({self.all}/{self.rows})"
        )
        return line + (f"   {100 * self.left / self.total:5.1f} % of bytes handed on" if self.total else "")

    def figures(self) -> list[float]:
        return [self.hit, self.need, self.all, self.rows, self.left, self.total]


def measure(path: str) -> dict[str, Any]:
    """Print the figures of the set at ``path`` and return them."""
    with open(path, encoding="utf-8") as lines:
        data: list[Row] = [json.loads(line) for line in lines]
    names = sorted({row["group"] for row in data})
    half = {name: at % 2 for at, name in enumerate(names)}
    sums: dict[tuple[str, str], Sum] = defaultdict(Sum)
    ways: dict[str, tuple[Callable[[Row], list[float]], bool]] = {
        "ours": (ours, True),
        "error words": (error_words, True),
        "head+tail": (head_tail, False),
    }
    for row in data:
        if row["tool"] not in LOGS + FOUND:
            continue
        need = set(row["needed"])
        kind = "logs" if row["tool"] in LOGS else "grep, listing"
        for name, (way, ends) in ways.items():
            hit = len(need & kept_at(SHARE, way(row), row["chunks"], ends))
            for key in (kind, row["tool"], f"{kind}, half {half[row['group']] + 1}", row["group"]):
                sums[(name, key)].add(hit, len(need))
        for name, share in (("lines at 30 %", SHARE), ("as shipped", None)):
            whole, left, total = product(row, share)
            for key in (kind, row["tool"]):
                sums[(name, key)].add(len(whole), len(need), left, total)
    print(f"\ntool.admission, stage 1 alone, at {100 * SHARE:.0f} % of the bytes")
    for kind in ("logs", "grep, listing"):
        for name in ways:
            print(f"   {kind:16}{name:16}{sums[(name, kind)].shown()}")
        for number in (1, 2):
            print(f"   {kind:16}{f'ours, half {number}':16}{sums[('ours', f'{kind}, half {number}')].shown()}")
    for tool in LOGS + FOUND:
        print(f"   {tool:16}{'ours':16}{sums[('ours', tool)].shown()}")
    print("whole outputs through the point (a chunk counts when every line of it is handed on)")
    for tool in ("logs", *FOUND):
        for name in ("lines at 30 %", "as shipped"):
            print(f"   {tool:16}{name:16}{sums[(name, tool)].shown()}")
    untouched = views_untouched(data)
    print(f"   file-view       left alone      {untouched[0]} of {untouched[1]}")
    seen = recognised(data)
    for tool, (right, count) in sorted(seen.items()):
        print(f"   {tool:16}taken for what it is {right} of {count}")
    figures: dict[str, Any] = {f"{name}: {key}": found.figures() for (name, key), found in sums.items()}
    figures["file-view"] = list(untouched)
    figures["recognised"] = seen
    return figures


def with_minilm(path: str) -> None:
    """Print what MiniLM's similarity would add to the ranking of searches and listings."""
    from statistics import fmean, pstdev

    from jevhook.text import minilm

    def even(scores: list[float]) -> list[float]:
        wide = pstdev(scores) or 1.0
        return [(score - fmean(scores)) / wide for score in scores]

    model = minilm.load()
    sums: dict[tuple[str, str], Sum] = defaultdict(Sum)
    with open(path, encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["tool"] not in FOUND:
                continue
            request = model.embed([row["task"][:REQUEST]])[0]
            near = even([minilm.similarity(request, vector) for vector in model.embed(row["chunks"])])
            words = even(ours(row))
            need = set(row["needed"])
            ways = {"MiniLM": near}
            ways |= {f"ours + {w:g}": [a + w * b for a, b in zip(words, near, strict=True)] for w in (0, 0.25, 0.5, 1)}
            for name, scores in ways.items():
                hit = len(need & kept_at(SHARE, scores, row["chunks"]))
                for tool in (row["tool"], "both"):
                    sums[(name, tool)].add(hit, len(need))
    print(f"\nsearches and listings at {100 * SHARE:.0f} % of the bytes, with MiniLM")
    for (name, tool), found in sorted(sums.items(), key=lambda entry: entry[0][1]):
        print(f"   {tool:16}{name:16}{found.shown()}")


def views_untouched(data: list[Row]) -> tuple[int, int]:
    """(file views that the point leaves alone whatever tool they come from, all of them)."""
    from jevhook.points.admission import kind_of

    views = [row for row in data if row["tool"] == "file-view"]
    left = sum(not kind_of("\n".join(row["chunks"]), "any") for row in views)
    return left, len(views)


def recognised(data: list[Row]) -> dict[str, list[int]]:
    """By kind of output: how many the point takes for what they are, by the text alone for logs."""
    from jevhook.points.admission import kind_of

    wanted = {"test-log": "log", "system-log": "log"}
    found: dict[str, list[int]] = {}
    for row in data:
        if row["tool"] in wanted:
            counts = found.setdefault(row["tool"], [0, 0])
            counts[1] += 1
            counts[0] += kind_of("\n".join(row["chunks"]), "log") == wanted[row["tool"]]
    return found


if __name__ == "__main__":
    told = [word for word in sys.argv[1:] if word != "--minilm"]
    place = told[0] if told else str(ROOT.parent / "shared" / "corpus")
    file = os.path.join(place, "admission.jsonl")
    if not os.path.exists(file):
        sys.exit(f"no admission.jsonl at {place}: nothing measured")
    measure(file)
    if "--minilm" in sys.argv:
        with_minilm(file)
