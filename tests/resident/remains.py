"""Run as ``python -I -S remains.py CHECKOUT``: judges the events named on stdin, one after another in one process, and
prints as JSON what each left behind in any of our modules: {path of the event: [names]}.  The first word of a name is the
table's; what a table that only grows has got is left out, what had another value before is not."""

from __future__ import annotations

import json
import os
import sys
import types
from typing import Any


def walk(found: dict[str, Any], seen: set[int], name: str, value: Any) -> None:
    if value is None or isinstance(value, (str, bytes, int, float)):
        found[name] = repr(value)
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    inside: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        inside = [(f"{name} {key!r}", item) for key, item in value.items()]
    elif isinstance(value, (set, frozenset)):
        found[name] = sorted(map(repr, value))
    elif isinstance(value, (list, tuple)):
        found[name] = len(value)
        inside = [(f"{name} {number}", item) for number, item in enumerate(value)]
    elif isinstance(value, types.FunctionType):
        inside = [(f"{name} {what}", getattr(value, what)) for what in ("__defaults__", "__kwdefaults__", "__dict__")]
        cells = [cell for cell in value.__closure__ or () if cell != types.CellType()]
        inside += [(f"{name} cell {number}", cell.cell_contents) for number, cell in enumerate(cells)]
    elif isinstance(value, type) and value.__module__.startswith("jevhook"):
        inside = [(f"{name} {key}", item) for key, item in vars(value).items()]
    elif type(value).__module__.startswith("jevhook"):
        slots = [key for key in getattr(type(value), "__slots__", ()) if hasattr(value, key)]
        inside = [(f"{name} {key}", getattr(value, key)) for key in slots]
        inside += [(f"{name} {key}", item) for key, item in getattr(value, "__dict__", {}).items()]
    else:
        found[name] = type(value).__name__
    for where, item in inside:
        walk(found, seen, where, item)


def state() -> dict[str, Any]:
    found: dict[str, Any] = {}
    seen: set[int] = set()
    for module in sorted(name for name in sys.modules if name.partition(".")[0] == "jevhook"):
        for name, value in list(vars(sys.modules[module]).items()):
            if not name.startswith("__"):
                walk(found, seen, f"{module}.{name}", value)
    return found


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    from jevhook import ledger, policy
    from jevhook.hook import Lane, parse_arguments, run, write_ledger
    from jevhook.resident import serve
    from jevhook.text import redact

    serve._warm()
    policy.kept = {}
    remains = {}
    before = state()
    for number, path in enumerate(sys.stdin.read().split("\0")):
        with open(path, "rb") as file:
            data = file.read()
        ledger.forget_keys()
        words = redact.known()
        env = {**os.environ, "JEVHOOK_MODE": "loose" if number % 2 else ""}  # one that is complained of
        host = os.path.basename(os.path.dirname(os.path.dirname(path)))
        lane = Lane(parse_arguments(["--host", host]), env)
        run(data, lane)
        write_ledger(lane)
        redact.forget(words)
        after = state()
        changed = [name for name, value in before.items() if name in after and after[name] != value]
        grown = {name.partition(" ")[0] for name in after if name not in before}
        remains[path] = [changed, sorted(grown)]
        before = after
    print(json.dumps(remains))


if __name__ == "__main__":
    main()
