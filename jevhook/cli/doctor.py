"""``jevhook doctor``: what a hook started here would go by, and whether its parts work."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import click

from .. import __version__, ledger, policy

RECENT = 86400  # seconds in which a lost ledger line makes the doctor say no
_PROBE = 4096  # bytes that are written to see whether there is room


def examine(env: dict[str, str], cwd: str, chosen: str | None = None) -> dict[str, Any]:
    """What the hook would see for ``env`` and ``cwd``, as the JSON form of the command shows it.

    ``ok`` is False when the policy has problems, the ledger can't be written or has lost lines since RECENT.  Judges
    nothing and calls nobody.
    """
    made = policy.load(env, cwd=cwd, policy=chosen, in_hook=True, managed=policy.MANAGED)
    rules = policy.rules(made)  # compiling them is what finds their problems
    now = time.time()
    held = policy.exceptions(made, now)
    judge, why = _judge(made, env)
    path = ledger.path(env, made.ledger["path"])
    trouble = _unwritable(path)
    failures = ledger.write_failures(env)
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now - RECENT))
    lost = any(at >= since for at, _ in failures)
    return {
        "ok": not made.problems and not trouble and not lost,
        "version": __version__,
        "policy": {
            "name": made.name,
            "modes": made.modes,
            "layers": [{"layer": layer, "path": place} for layer, place in made.layers],
            "problems": made.problems,
            "expired": [
                {"id": entry["id"], "rule": entry["rule"], "expires": entry["expires"]}
                for entry in rules.get("exceptions", [])
                if entry not in held
            ],
        },
        "flagged": _flagged(env, now),
        "judge": {"name": judge, "why": why, "when": made.judge["when"]},
        "ledger": {
            "path": path,
            "writable": not trouble,
            "why": trouble,
            "write_failures": ledger.failure_count(env),
            "lost_lately": lost,
            "last_failures": [{"at": at, "reason": reason} for at, reason in failures],
        },
    }


def _flagged(env: dict[str, str], now: float) -> list[dict[str, Any]]:
    """What tool.injection saw in the results of the last day: each mark, and how long tool.risk is told about it."""
    from ..state.session import KEPT_MARK, marks

    return [
        {
            "at": utc(mark["at"]),
            "until": utc(mark["at"] + KEPT_MARK),
            **{key: mark[key] for key in ("source", "tool", "sure", "kinds", "passages", "withheld") if key in mark},
        }
        for mark in marks(env, "flagged", KEPT_MARK)
    ]


def utc(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def _judge(made: policy.Policy, env: dict[str, str]) -> tuple[str | None, str]:
    if made.judge["when"] == "never":
        return None, "the policy never asks a judge (judge.when = never)"
    from .. import judges

    judge, why = judges.choose(made.judge, env, in_hook=True)
    return (judge.name if judge is not None and judge.name != "embedded" else None), why  # that one answers nothing


def _unwritable(path: str) -> str:
    """Why a line can't be added to the ledger at ``path``; "" when it can.  Tried, not guessed; leaves nothing."""
    if not path:
        return "there is no home directory and no XDG_STATE_HOME"
    if os.path.lexists(path):
        try:
            os.close(ledger.open_own(path, os.O_WRONLY | os.O_APPEND))
        except OSError as wrong:
            return wrong.strerror or str(wrong)
    above = os.path.dirname(path)
    while not os.path.lexists(above) and above != os.path.dirname(above):
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        return f"{above} is not a directory"
    return _no_room(above, may_make=not os.path.lexists(path))


def _no_room(folder: str, may_make: bool) -> str:
    """Why no file with something in it can be made in ``folder``; "" when it can.

    Without ``may_make`` a file need not be made there (the ledger is there already), so only a full disk counts.
    """
    probe = os.path.join(folder, f".jevhook-doctor-{os.getpid()}")
    try:
        handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as wrong:
        return f"{folder} can't be written: {wrong.strerror or wrong}" if may_make else ""
    try:
        os.write(handle, bytes(_PROBE))
    except OSError as wrong:
        return f"{folder} can't be written: {wrong.strerror or wrong}"
    finally:
        os.close(handle)
        os.unlink(probe)
    return ""


def _lines(found: dict[str, Any]) -> list[str]:
    rules, judge, book = found["policy"], found["judge"], found["ledger"]
    modes = ", ".join(f"{point} {mode}" for point, mode in rules["modes"].items())
    lines = [f"jevhook  {found['version']}", f"policy   {rules['name']} ({modes})"]
    lines += [f"         {layer['layer']}: {layer['path']}" for layer in rules["layers"]]
    lines += [f"problem  {problem}" for problem in rules["problems"]]
    for entry in rules["expired"]:
        lines.append(f"expired  exception {entry['id']} for {entry['rule']}: held until {entry['expires']}")
    lines.append(f"judge    {judge['name'] or 'none (rules only)'}: {judge['why']}")
    for mark in found["flagged"][-5:]:
        lines.append(f"flagged  {said_of(mark)}; the mark ends {mark['until']}")
    if len(found["flagged"]) > 5:
        lines.append(f"         and {len(found['flagged']) - 5} more before these")
    state = "writable" if book["writable"] else f"NOT writable: {book['why']}"
    lines.append(f"ledger   {book['path'] or '(no place)'}: {state}")
    if book["write_failures"]:
        lines.append(f"         {book['write_failures']} lines could not be written; the last:")
        lines += [f"         {failure['at']} {failure['reason']}" for failure in book["last_failures"][-3:]]
    lines.append("ok" if found["ok"] else "not ok")
    return lines


def said_of(mark: dict[str, Any]) -> str:
    """One mark of tool.injection in a person's words."""
    passages = mark.get("passages", 1)
    count = "one passage" if passages == 1 else f"{passages} passages"
    return (
        f"{mark['at']} {count} written to an AI assistant in a result of {mark.get('tool') or 'a tool'} "
        f"({mark.get('source', 'tool')}, sure {mark.get('sure', 0):g}), {mark.get('withheld', 0)} withheld"
    )


@click.command("doctor")
@click.option("--policy", "chosen", metavar="NAME|FILE", help="Look at this policy, as `hook --policy` would use it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def doctor(chosen: str | None, as_json: bool) -> None:
    """Show the policy, judge and ledger that a hook started here would use.

    Exits 1 when the policy has problems, the ledger can't be written, or a line of it was lost in the last 24 hours.
    """
    try:
        cwd = os.getcwd()
    except OSError:  # the directory was removed under us
        cwd = ""
    found = examine(dict(os.environ), cwd, chosen)
    click.echo(json.dumps(found, indent=2) if as_json else "\n".join(map(policy.clean, _lines(found))))
    raise SystemExit(0 if found["ok"] else 1)
