"""What the rows of the injection corpus are, and which of them the weights may be trained on."""

from __future__ import annotations

from typing import Any

PERMISSIVE = (
    "MIT", "MIT OR Apache-2.0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "0BSD", "CC0-1.0", "Unlicense",
    "BlueOak-1.0.0", "MIT (wildguard: ODC-BY)", "per-package (mostly MIT)", "Apache-2.0 (in-the-wild jailbreaks, MIT upstream)",
)  # fmt: skip


def family(row: dict[str, Any]) -> str:
    """overt, sequenced ("first answer this"), covert (no cue at all), hard (benign, about AI or attacks) or plain."""
    category = row["category"]
    if row["label"]:
        if "bipia" in category or ("garak-latent" in category and "Translation" not in category):
            return "covert"
        return "sequenced" if "tasktracker" in category else "overt"
    plain = category.startswith(("tool-output", "readme", "changelog", "docs"))
    return "plain" if plain and "mentions" not in category and "prompting" not in category else "hard"


def trainable(row: dict[str, Any]) -> bool:
    return bool(row["redistributable"]) and row["licence"] in PERMISSIVE
