"""The same commands judged by the warm process and without it: the same answer in every byte."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]


def corpus() -> list[str]:
    """The labelled commands beside the repository, where they are; else the examples of the rules."""
    place = ROOT.parent / "shared" / "corpus"
    files = [*sorted((place / "commands").glob("*.jsonl")), place / "everyday.jsonl", place / "abuse.jsonl"]
    found = [json.loads(line)["command"] for path in files if path.exists() for line in path.open(encoding="utf-8")]
    if found:
        return found
    from tests.test_rules import RAW

    return [c for rule in RAW for c in (*rule.get("match", []), *rule.get("no_match", [])) if isinstance(c, str)]


def run(quick: bool) -> list[dict[str, Any]]:
    from trust_faults import at_once, event, row

    from jevhook.hook import Lane, Options
    from jevhook.hook import run as lane
    from tests.resident.warm import Warm, speak

    lines = corpus()
    lines = lines[:: max(1, len(lines) // 400)] if quick else lines
    place = Path(tempfile.mkdtemp(prefix="jevhook-trust-"))
    env = {
        "PATH": "/usr/bin:/bin", "HOME": str(place), "XDG_STATE_HOME": f"{place}/state", "XDG_CACHE_HOME": f"{place}/cache",
        "XDG_CONFIG_HOME": f"{place}/config",
    }  # fmt: skip
    options = Options()
    options.host = "claude"
    different = 0
    with Warm(place / "warm") as warm, ThreadPoolExecutor(2) as pool:

        def there(number: int) -> tuple[bytes, int]:
            data = event(lines[number]).replace(b'"session_id": "s"', b'"session_id": "w%d"' % number)
            return speak(warm.socket, ["--host", "claude"], data, env)

        for number, (said, code) in enumerate(pool.map(there, range(len(lines)))):
            data = event(lines[number]).replace(b'"session_id": "s"', b'"session_id": "h%d"' % number)
            here = lane(data, Lane(options, env))
            if (said.decode().rstrip("\n"), code) != (here.stdout, here.code):
                different += 1
                print(f"   differs: {lines[number][:200]!r}")
        crowd = at_once(60 if quick else 200, str(warm.folder))
    return [
        row("judged by the warm process and without it", len(lines), crashed=different, note=f"{os.cpu_count()} cores"),
        crowd,
    ]
