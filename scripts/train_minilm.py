"""Train the head on MiniLM's vectors: jevhook/text/minilm/head.bin, 385 numbers.

    scripts/venv train,minilm && .venv/bin/python scripts/train_minilm.py [--corpus FILE] [--no-write]

A logistic regression on the vector of each passage (of its first 128 tokens), trained on the rows that
scripts/train_injection is trained on, without the covert and the sequenced ones.  What it says is added, at SHARE of its
weight, to the small model's log odds: alone it finds a tenth of the overt orders at 1 % of plain, because one vector for a
passage drowns an order in the rest.  SHARE and C were chosen by cross-validation in the folds of scripts/train_injection,
and SHIFT so that one ordinary passage in two hundred came to 0.5 (on the rows that nothing was trained on now 8 of 2,412).
The small model's score is no input: the head need not be trained again when that one is.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

from jevhook.text import minilm  # noqa: E402
from jevhook.text.minilm import head  # noqa: E402

sys.path.append(str(ROOT / "scripts"))
from injection_rows import family, trainable  # noqa: E402

C, SHARE, SHIFT = 0.1, 0.25, 0.6
WEIGHTS = {"overt": 1.0, "plain": 1.0, "hard": 1.5}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", default=str(ROOT.parent / "shared" / "corpus" / "injection.jsonl"))
    parser.add_argument("--no-write", action="store_true")
    args = parser.parse_args()
    rows = [json.loads(line) for line in Path(args.corpus).read_text("utf-8").split("\n") if line]
    rows = [row for row in rows if trainable(row) and family(row) in WEIGHTS]
    model = minilm.load()
    vectors = np.array(model.embed([row["text"] for row in rows]))
    learner = LogisticRegression(C=C, max_iter=500)
    learner.fit(vectors, [row["label"] for row in rows], sample_weight=[WEIGHTS[family(row)] for row in rows])
    weights, bias = SHARE * learner.coef_[0], SHARE * float(learner.intercept_[0]) + SHIFT
    scale = float(np.abs(weights).max()) / 127
    small = np.rint(weights / scale).astype(np.int8)
    print(f"{len(rows)} rows, bias {bias:.4f}, at most {scale * float(np.linalg.norm(small)) + bias:.3f}")
    if not args.no_write:
        text = head.MAGIC + f"{bias:.6f} {scale:.8f}".encode()
        place = ROOT / "jevhook" / "text" / "minilm" / "head.bin"
        place.write_bytes(text.ljust(head.HEADER)[: head.HEADER] + small.tobytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
