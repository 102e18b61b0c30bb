"""How often the gate stops what should be stopped, and bothers what should pass, on labelled sets.

    scripts/accuracy [--corpus DIR] [--quick] [--show NAME] [--missed N] [--json FILE]

The sets are not part of the project: ``--corpus`` (default ``../shared/corpus`` beside the checkout) holds
``commands/*.jsonl``, ``everyday.jsonl``, ``abuse.jsonl``; ``../shared/cases/cases.jsonl`` is read when it is there.
Every command is judged by the shipped default policy as a Bash call in a project directory that does not exist, with
no judge and no network.  "Stopped" is deny or ask.  ``--quick`` takes every fifth row of the large sets.
"""

from __future__ import annotations

import argparse
import datetime
import glob
import json
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
HOME, CWD = "/home/dev", "/home/dev/work/shop"

_state: dict[str, Any] = {}


def _ready() -> dict[str, Any]:
    if not _state:
        from jevhook.points import Context
        from jevhook.policy import load

        place = tempfile.mkdtemp()
        env = {"HOME": HOME, "USER": "dev", "XDG_CACHE_HOME": place, "XDG_STATE_HOME": place, "XDG_CONFIG_HOME": place}
        policy = load(env, cwd=CWD, in_hook=False)
        assert not policy.problems, policy.problems
        _state.update(ctx=Context(policy, {"HOME": HOME, "USER": "dev"}, 0.0, home=HOME, offline=True))
    return _state


def decide(command: str) -> tuple[str, str | None]:
    from jevhook.event import Event
    from jevhook.points import risk

    ctx = _ready()["ctx"]
    event = Event("claude", "before-tool", "PreToolUse", tool="Bash", input={"command": command}, cwd=CWD)
    judged = risk.judge(event, ctx).judged
    return judged.outcome, judged.rule


def read_only(command: str) -> bool:
    from jevhook.event import Event
    from jevhook.points import risk

    event = Event("claude", "before-tool", "PreToolUse", tool="Bash", input={"command": command}, cwd=CWD)
    return bool(risk.judge(event, _ready()["ctx"]).record.get("read_only"))


def _batch(commands: list[str]) -> list[tuple[str, str | None, bool]]:
    out = []
    for command in commands:
        from jevhook.event import Event
        from jevhook.points import risk

        event = Event("claude", "before-tool", "PreToolUse", tool="Bash", input={"command": command}, cwd=CWD)
        result = risk.judge(event, _ready()["ctx"])
        out.append((result.judged.outcome, result.judged.rule, bool(result.record.get("read_only"))))
    return out


def judge_all(commands: list[str]) -> list[tuple[str, str | None, bool]]:
    if len(commands) < 400:
        return _batch(commands)
    size = 500
    parts = [commands[i : i + size] for i in range(0, len(commands), size)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [r for part in pool.map(_batch, parts) for r in part]


def rows(path: str) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f} % ({part}/{whole})" if whole else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default=str(ROOT.parent / "shared" / "corpus"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--show", help="print the wrong rows of this set (a file's stem, 'everyday', 'abuse' or 'all')")
    parser.add_argument("--kind", choices=["missed", "bothered"], help="with --show: only these")
    parser.add_argument("--only", help="with --show: only rows whose category, rule or source holds this text")
    parser.add_argument("--json", help="write the figures to this file")
    args = parser.parse_args()
    if not os.path.isdir(args.corpus):
        print(f"no corpus at {args.corpus}: nothing measured")
        return 0
    step = 5 if args.quick else 1
    figures: dict[str, Any] = {"date": datetime.date.today().isoformat()}
    began = time.time()
    total_stop = total_should = total_bother = total_pass = 0
    show = args.show

    def wrong(name: str, kind: str, row: dict[str, Any], outcome: str, rule: str | None) -> None:
        if show not in (name, "all") or (args.kind and args.kind != kind):
            return
        where = f"{row.get('category', '')} {row.get('source', '')} {rule or ''}"
        if args.only and args.only not in where:
            return
        print(
            f"{kind:9}{name:15}{row.get('expected', ''):6}{outcome:5}{(rule or '-'):28}{row.get('category', '')[:24]:25}{row['command'][:220]!r}"
        )

    print(f"{'set':16}{'should stop, stopped':>26}{'should pass, stopped':>26}{'ambiguous stopped':>26}")
    for path in sorted(glob.glob(args.corpus + "/commands/*.jsonl")):
        name = Path(path).stem
        data = [r for r in rows(path) if r["kind"] == "block-gate"][
            :: step if name in ("cc-safety-net", "dcg-packs", "semgate") else 1
        ]
        if not data:
            continue
        results = judge_all([r["command"] for r in data])
        hit = should = bother = ok = amb = amb_hit = 0
        for row, (outcome, rule, _) in zip(data, results, strict=True):
            stopped = outcome in ("ask", "deny")
            if row["ambiguous"]:
                amb += 1
                amb_hit += stopped
                continue
            if row["expected"] in ("block", "ask"):
                should += 1
                hit += stopped
                if not stopped:
                    wrong(name, "missed", row, outcome, rule)
            else:
                ok += 1
                bother += stopped
                if stopped:
                    wrong(name, "bothered", row, outcome, rule)
        total_stop, total_should = total_stop + hit, total_should + should
        total_bother, total_pass = total_bother + bother, total_pass + ok
        print(f"{name:16}{percent(hit, should):>26}{percent(bother, ok):>26}{percent(amb_hit, amb):>26}")
        figures[name] = {"stopped": hit, "should": should, "bothered": bother, "pass": ok}
    print(f"{'all block-gate':16}{percent(total_stop, total_should):>26}{percent(total_bother, total_pass):>26}")
    figures["block-gate"] = {
        "stopped": total_stop,
        "should": total_should,
        "bothered": total_bother,
        "pass": total_pass,
    }

    dippy = args.corpus + "/commands/dippy.jsonl"
    if os.path.exists(dippy):
        data = rows(dippy)[::step]
        results = judge_all([r["command"] for r in data])
        ro = [(r, x) for r, x in zip(data, results, strict=True) if r["expected"] == "allow" and not r["ambiguous"]]
        stopped_rows = [(r, x) for r, x in ro if x[0] in ("ask", "deny")]
        for row, (outcome, rule, _) in stopped_rows:
            wrong("dippy", "bothered", row, outcome, rule)
        proven = sum(x[2] for _, x in ro)
        granted_wrong = [(r, x) for r, x in zip(data, results, strict=True) if r["expected"] == "ask" and x[2]]
        if show in ("grants",):
            for row, _ in granted_wrong:
                print(f"granted  {row['category'][:20]:21}{row['command'][:200]!r}")
        if show in ("unproven",):
            for row, x in ro:
                if not x[2]:
                    print(f"unproven {row['category'][:20]:21}{row['command'][:160]!r}")
        asks = sum(r["expected"] == "ask" for r in data)
        print(f"\ndippy read-only rows stopped      {percent(len(stopped_rows), len(ro))}")
        print(f"dippy read-only rows proven       {percent(proven, len(ro))}")
        print(f"dippy 'not proven' rows proven    {percent(len(granted_wrong), asks)}")
        figures["dippy"] = {
            "stopped": len(stopped_rows),
            "rows": len(ro),
            "proven": proven,
            "proven_of_ask": len(granted_wrong),
            "ask": asks,
        }

    everyday = args.corpus + "/everyday.jsonl"
    if os.path.exists(everyday):
        data = rows(everyday)[::step]
        results = judge_all([r["command"] for r in data])
        by: dict[str, Counter[str]] = defaultdict(Counter)
        counts: Counter[str] = Counter()
        proven = 0
        for row, (outcome, rule, ro_) in zip(data, results, strict=True):
            source = row["source"].split("@")[0]
            by[source][outcome] += 1
            by[source]["rows"] += 1
            counts[outcome] += 1
            proven += ro_
            if outcome in ("ask", "deny"):
                wrong("everyday", "bothered", row, outcome, rule)
        n = len(data)
        print(f"\neveryday stopped                  {percent(counts['ask'] + counts['deny'], n)}")
        print(f"everyday denied                   {percent(counts['deny'], n)}")
        print(f"everyday proven read-only         {percent(proven, n)}")
        agents = [s for s in by if "AgentBench" in s or "auto-code-rover" in s]
        a_rows = sum(by[s]["rows"] for s in agents)
        a_stop = sum(by[s]["ask"] + by[s]["deny"] for s in agents)
        print(f"everyday, agents' own runs        {percent(a_stop, a_rows)}")
        for source, c in sorted(by.items(), key=lambda i: -i[1]["rows"]):
            print(f"   {source:44}{percent(c['ask'] + c['deny'], c['rows'])}  denied {c['deny']}")
        figures["everyday"] = {
            "rows": n,
            "ask": counts["ask"],
            "deny": counts["deny"],
            "proven": proven,
            "agents": [a_stop, a_rows],
        }

    abuse = args.corpus + "/abuse.jsonl"
    if os.path.exists(abuse):
        data = rows(abuse)
        results = judge_all([r["command"] for r in data])
        seen: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
        for row, (outcome, rule, _) in zip(data, results, strict=True):
            key = (row["platform"], row["category"])
            seen[key][1] += 1
            if outcome in ("ask", "deny"):
                seen[key][0] += 1
            else:
                wrong("abuse", "missed", row, outcome, rule)
        print("\nabuse stopped, by category")
        for (platform, category), (hit, n) in sorted(seen.items()):
            print(f"   {platform:9}{category:28}{percent(hit, n)}")
        figures["abuse"] = {f"{p}/{c}": v for (p, c), v in seen.items()}

    cases = os.path.join(os.path.dirname(args.corpus.rstrip("/")), "cases", "cases.jsonl")
    if os.path.exists(cases):
        figures["cases"] = judge_cases(cases, show in ("cases", "all"))
    import accuracy_admission
    import accuracy_injection

    for name, module in (("injection", accuracy_injection), ("admission", accuracy_admission)):
        data = os.path.join(args.corpus, f"{name}.jsonl")
        if os.path.exists(data) and not args.quick:
            print(f"\n{name}")
            figures[name] = module.measure(data)
    print(f"\n{figures['date']}, {time.time() - began:.1f} s, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=1))
    return 0


def judge_cases(path: str, show: bool) -> list[int]:
    """Public incidents: the kinds that tool.risk answers.  The event is judged as it is, home as the log says."""
    from jevhook.hosts import detect
    from jevhook.points import risk

    right = total = 0
    for row in rows(path):
        if row["ambiguous"] or row["kind"] not in ("risk", "bypass", "false-positive", "config", "protocol"):
            continue
        want = row["expect"]["decision"]
        if want not in ("deny", "ask", "allow", "not-deny"):
            continue
        payload = row["event"]
        for step in row.get("recipe", ()):
            if step["op"] == "fill_bytes":
                filled = (step["text"] * (step["bytes"] // len(step["text"]) + 1))[: step["bytes"]]
                payload = json.loads(json.dumps(payload).replace(step["marker"], filled))
        if "ln -s" in row.get("raw", ""):  # needs a real tree: tests/test_cases.py makes one
            continue
        host = detect(payload)
        assert host is not None
        outcome = risk.judge(host.read(payload, {}), _ready()["ctx"]).judged.outcome
        good = {
            "deny": outcome == "deny",
            "ask": outcome in ("ask", "deny"),
            "allow": outcome == "none",
            "not-deny": outcome != "deny",
        }[want]
        total += 1
        right += good
        if not good and show:
            print(
                f"case     {row['id']} {row['kind']} wants {want}, got {outcome}: {json.dumps(payload['tool_input'])[:160]}"
            )
    print(f"\ncases (risk, bypass, false-positive, config, protocol): {right} of {total} right")
    return [right, total]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="jevhook-", ignore_cleanup_errors=True) as place:
        os.environ["TMPDIR"] = tempfile.tempdir = place  # what is made on the way goes when it ends
        sys.exit(main())
