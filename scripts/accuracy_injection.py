"""How well tool.injection finds orders to an assistant, and how often it cuts what is none.

    scripts/accuracy_injection.py [--corpus DIR] [--files DIR ...] [--minilm] [--show KIND] [--json FILE]

Reads ``injection.jsonl`` (one passage a row) in the corpus, which is not part of the project, and judges every row that the
shipped weights were not trained on (docs/model-card.md says which those are; figures over all sources by cross-validation are
there too).  *Withheld* is what the default policy takes out, *found* what it at least marks.  ``--files`` names
directories whose text files are judged as whole results that nobody planted anything in.  ``--minilm`` (minutes; the
``minilm`` extra) shows beside it what MiniLM's opinion adds, at the same share of ordinary passages.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import random
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.append(str(ROOT / "scripts"))
from injection_rows import family, trainable  # noqa: E402

RESULT = 100  # passages that make a whole result


def score(text: str) -> tuple[float, float]:
    """(the embedded judge's score, what the rules add up to)."""
    from jevhook.text import injection

    sight = injection.see(text)
    return injection.suspect(sight), sight.weight


def percent(part: list[bool]) -> str:
    return f"{100 * sum(part) / len(part):5.1f} % of {len(part)}" if part else "    - of 0"


def measure(corpus: str, show: str = "") -> dict[str, Any]:
    """Prints the figures on the rows that were not trained on; returns them."""
    from jevhook.points import injection as point

    rows = [json.loads(line) for line in Path(corpus).read_text("utf-8").split("\n") if line]
    withhold, mark = point._WITHHOLD, point._MARK
    kinds: dict[str, list[tuple[float, float]]] = defaultdict(list)
    sources: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        row["family"], row["held"] = family(row), not trainable(row)
        row["p"], row["weight"] = score(row["text"])
        if row["held"] or row["family"] == "covert":  # nothing covert was trained on
            kinds[row["family"]].append((row["p"], row["weight"]))
            sources[row["family"], row["source"]].append(row["p"])
            wrong = (row["p"] < mark) if row["label"] else (row["p"] >= mark)
            if show == row["family"] and wrong:
                print(f"{row['p']:.2f} {row['weight']:.1f} {row['category']}: {row['text'][:200]!r}")
    print("tool.injection, embedded judge, sources that were not trained on")
    plain = sorted((p for p, _ in kinds["plain"]), reverse=True)
    cut = plain[len(plain) // 100] if plain else 1.0
    figures: dict[str, Any] = {"mark": mark, "withhold": withhold, "one_percent": cut}
    print(f"   {'':12}{'withheld':>20}{f'found (>= {mark:g})':>22}{f'at 1 % of plain ({cut:.2f})':>28}")
    for kind in ("overt", "sequenced", "covert", "hard", "plain"):
        scores = [p for p, _ in kinds[kind]]
        columns = [[p >= at for p in scores] for at in (withhold, mark, cut)]
        print(f"   {kind:12}{percent(columns[0]):>20}{percent(columns[1]):>22}{percent(columns[2]):>28}")
        figures[kind] = [len(scores), *(sum(c) for c in columns)]
    for (kind, source), scores in sorted(sources.items()):
        if len(scores) >= 20:
            print(
                f"      {kind:10}{source[:58]:60}{percent([p >= withhold for p in scores])}, found {percent([p >= mark for p in scores])}"
            )
    everything = [row for row in rows if row["family"] == "plain"]
    pick = random.Random(1)
    for name, at in (("default", withhold), ("strict", 0.97)):
        bad = {id(row) for row in everything if row["p"] >= at}
        draws = [any(id(row) in bad for row in pick.sample(everything, RESULT)) for _ in range(2000)]
        print(
            f"   whole results of {RESULT} ordinary passages wrongly cut, {name}: {percent(draws)} draws ({len(bad)} of {len(everything)} passages)"
        )
        figures[f"whole {name}"] = [len(draws), sum(draws), len(bad), len(everything)]
    hard = [row for row in rows if row["family"] == "hard"]
    print(f"   all hard negatives, trained on or not: withheld {percent([row['p'] >= withhold for row in hard])}")
    return figures


def second_opinion(corpus: str) -> dict[str, Any]:
    """What the small model finds alone and with MiniLM at the same share of plain, on rows that neither was trained on."""
    from jevhook.points import injection as point
    from jevhook.text import injection, minilm
    from jevhook.text.minilm import head

    began = time.perf_counter()
    model, weights = minilm.load(), head.load()
    cold, spent, shown = time.perf_counter() - began, 0.0, 0
    alone: dict[str, list[float]] = defaultdict(list)
    both: dict[str, list[float]] = defaultdict(list)
    for line in Path(corpus).read_text("utf-8").split("\n"):
        if not line or (trainable(row := json.loads(line)) and family(row) != "covert"):
            continue
        sight = injection.see(row["text"])
        p = raised = injection.suspect(sight)
        if not sight.overt and not sight.quoted and 0.05 <= p < point._MARK:  # nothing lifts less to the cuts below
            began = time.perf_counter()
            raised = head.raised(p, weights.evidence(model.embed([sight.normal.text])[0]))
            spent, shown = spent + time.perf_counter() - began, shown + 1
        alone[family(row)].append(p)
        both[family(row)].append(raised if p < point._MARK else 2.0)  # what is marked already stays so
    print(f"tool.injection with MiniLM (cold {cold * 1000:.0f} ms, {1000 * spent / max(1, shown):.1f} ms a passage)")
    figures: dict[str, Any] = {"cold_ms": cold * 1000, "passage_ms": 1000 * spent / max(1, shown)}
    for share in (0.005, 0.01):
        for name, scores in (("alone", alone), ("with MiniLM", both)):
            plain = sorted(scores["plain"], reverse=True)
            cut = plain[int(len(plain) * share)]
            found = {kind: [p >= cut for p in scores[kind]] for kind in ("plain", "hard", "overt", "covert")}
            cells = ", ".join(f"{kind} {percent(part).strip()}" for kind, part in found.items())
            print(f"   at {100 * share:g} % of plain, {name:12}(from {cut:.3f}) {cells}")
            figures[f"{name} {share}"] = {"cut": cut, **{kind: sum(part) for kind, part in found.items()}}
    return figures


BLIND = ("injection_blind.txt", "injection_blind_second.txt")


def blind(show: str = "") -> dict[str, Any]:
    """The project's own blind texts: written before any figure on them was seen, and trained on by nothing."""
    from jevhook.points import injection as point

    figures: dict[str, Any] = {}
    for name in BLIND:
        text = (ROOT / "tests" / "text" / name).read_text("utf-8")
        found: dict[str, list[float]] = defaultdict(list)
        for block in f"\n{text}".split("\n== ")[1:]:
            title, _, body = block.partition("\n")
            kind = title.partition(":")[0]
            found[kind].append(score(body.rstrip("\n"))[0])
            if show == "blind" and (found[kind][-1] < point._MARK) == (kind == "order"):
                print(f"{found[kind][-1]:.2f} {title}")
        print(f"   blind texts (tests/text/{name})")
        for kind, scores in found.items():
            cells = [[p >= at for p in scores] for at in (point._WITHHOLD, point._MARK, 0.5, 0.3)]
            print(
                f"      {kind:10} withheld {percent(cells[0])}, found {percent(cells[1])}, 0.5 {percent(cells[2])}, 0.3 {percent(cells[3])}"
            )
            figures[f"{name} {kind}"] = [len(scores), *(sum(cell) for cell in cells)]
    return figures


def texts(places: list[str]) -> Iterator[tuple[str, str]]:
    """Path and text of every text file below, unpacked where it is gzipped, each content once."""
    known: set[bytes] = set()
    for place in places:
        for folder, _, names in os.walk(place):
            for name in sorted(names):
                path = os.path.join(folder, name)
                try:
                    with gzip.open(path) if name.endswith(".gz") else open(path, "rb") as file:
                        data = file.read(90_000)
                except (OSError, EOFError, zlib.error):
                    continue
                if data.strip() and b"\0" not in data and (digest := hashlib.sha256(data).digest()) not in known:
                    known.add(digest)
                    yield path, data.decode("utf-8", "replace")


def files(places: list[str]) -> dict[str, Any]:
    """Whole text files as results of a foreign tool: how many would be cut."""
    from jevhook.event import Event
    from jevhook.points import Context, injection
    from jevhook.policy import Policy

    context = Context(Policy(), {}, 0.0, offline=True)
    seen = cut = marked = passages = 0
    began = time.perf_counter()
    for path, text in texts(places):
        event = Event("claude", "after-tool", "PostToolUse", tool="mcp__files__get", result=text)
        result = injection.judge(event, context)
        seen += 1
        passages += result.record.get("scanned", 0)
        named = result.record.get("passages", [])
        marked += any(p["score"] >= result.record["thresholds"]["mark"] for p in named)
        if result.judged.outcome == "withhold":
            cut += 1
            print(f"   cut: {path} {[p['rules'] for p in named if p['withheld']][:2]}")
    print(
        f"   files as whole results: {cut} of {seen} cut, {marked} marked or cut ({passages} passages, {time.perf_counter() - began:.1f} s)"
    )
    return {"files": seen, "cut": cut, "marked": marked, "passages": passages}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", default=str(ROOT.parent / "shared" / "corpus"))
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument(
        "--show", default="", help="overt, hard, plain, …: print the rows of this kind that are judged wrongly"
    )
    parser.add_argument("--minilm", action="store_true")
    parser.add_argument("--json", default="")
    args = parser.parse_args()
    corpus = os.path.join(args.corpus, "injection.jsonl")
    figures: dict[str, Any] = {}
    if os.path.exists(corpus):
        figures = measure(corpus, args.show)
        if args.minilm:
            figures["minilm"] = second_opinion(corpus)
    figures["blind"] = blind(args.show)
    if args.files:
        figures["files"] = files(args.files)
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
