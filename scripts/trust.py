"""What holds under load, faults and hostile input, as one table.

    scripts/trust [--quick | --full] [--only PART]

Parts: input (generated and mutated events), commands (other spellings of the same line), faults (killed, crowded, odd
machines, failing judges), resident (the warm process answers as the hook does), attacks (on the gate itself), secrets,
supply (the wheel).  --quick takes under five minutes; --full is 200,000 events, 2,000 kills, the whole corpus.  Exit 1
when anything was lost, hung, crashed or let through.  Nothing is sent beyond this machine, and no command that is
judged is run.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import platform
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
COLUMNS = ("lost", "hung", "crashed", "let through")


def row(what: str, count: int, **found: Any) -> dict[str, Any]:
    return {"what": what, "how many": count, **dict.fromkeys(COLUMNS, 0), "note": "", **found}


def given(quick: bool) -> list[dict[str, Any]]:
    """Events that are none, or nearly one."""
    import trust_input

    count, workers = (6_000 if quick else 200_000), os.cpu_count() or 1
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(trust_input.run, range(workers), [count // workers] * workers))
    wrong: dict[str, int] = {}
    for one in found:
        for what, times in one["wrong"].items():
            wrong[what] = wrong.get(what, 0) + times
        for kind, what, data in one["examples"]:
            print(f"   {what} ({kind}): {data!r}")
    lost = sum(n for what, n in wrong.items() if "line" in what)
    hung = wrong.get("hung", 0)
    rows = [
        row(
            "mutated events", sum(one["count"] for one in found), lost=lost, hung=hung, crashed=sum(wrong.values()) - lost - hung,
            note=f"slowest {max(one['slowest'] for one in found):.2f} s",
        )
    ]  # fmt: skip
    trust_home = trust_input.Home()
    trust_input.one(b"{}", trust_home)
    for kind, data in trust_input.large():
        began = time.monotonic()
        what = trust_input.one(data, trust_home)
        rows.append(row(kind, 1, crashed=int(bool(what)), note=what or f"{time.monotonic() - began:.1f} s in 500 MB"))
    return rows


def commands(quick: bool) -> list[dict[str, Any]]:
    """The property tests over the shell's grammar, and the rewrites of every rule's examples."""
    files = ["tests/shell/test_properties.py"] + ([] if quick else ["tests/test_fuzz_rules.py"])
    env = {**os.environ, **({} if quick else {"JEVHOOK_HYPOTHESIS": "thorough"})}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *files], cwd=ROOT, capture_output=True, text=True, env=env, check=False
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    for line in failed:
        print("  ", line)
    count = done.stdout.count(".")
    return [
        row(
            "properties of the shell's reading",
            count,
            crashed=int(done.returncode != 0 and not failed),
            **{"let through": len(failed)},
        )
    ]


def part(name: str) -> Any:
    """A module beside this one that has ``run(quick)``."""
    return importlib.import_module(f"trust_{name}").run


def secrets(quick: bool) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "planted_secrets.py")], capture_output=True, text=True, check=False
    )
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-200:]
    return [row("planted secrets", 1, **{"let through": int(done.returncode != 0)}, note=last[:110])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true")
    which.add_argument("--full", action="store_true")
    parts = {"input": given, "commands": commands, "faults": part("faults"), "secrets": secrets}
    for name in ("resident", "attacks", "supply"):
        if (ROOT / "scripts" / f"trust_{name}.py").exists():
            parts[name] = part(name)
    parser.add_argument("--only", choices=sorted(parts), action="append")
    args = parser.parse_args()
    print(f"{'what':44}{'how many':>9}{'lost':>6}{'hung':>6}{'crashed':>9}{'let through':>13}  note")
    bad = False
    began = time.monotonic()
    for name, run in parts.items():
        if args.only and name not in args.only:
            continue
        for found in run(not args.full):
            numbers = "".join(f"{found[column]:>{width}}" for column, width in zip(COLUMNS, (6, 6, 9, 13), strict=True))
            print(f"{found['what']:44}{found['how many']:>9}{numbers}  {found['note']}", flush=True)
            bad = bad or any(found[column] for column in COLUMNS)
    print(
        f"{datetime.date.today().isoformat()}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}, {time.monotonic() - began:.0f} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="jevhook-", ignore_cleanup_errors=True) as place:
        os.environ["TMPDIR"] = tempfile.tempdir = place  # what is made on the way goes when it ends
        sys.exit(main())
