"""``jevhook judges``: what would answer, from where, and why: in the hook, and at the prompt."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from .. import judges as room
from .. import policy
from ..systemone import dialects
from .judging import where


def examine(env: dict[str, str], cwd: str, chosen: str | None = None) -> dict[str, Any]:
    """The JSON form of the command.  Calls nobody, shows no key.

    ``hook`` and ``prompt``: ``[{"point", "judge" (or None), "why"}]``, one entry for each route and one (point "") for
    the rest.  ``providers``: every dialect with where its key would come from (the variable's name, or "").
    """
    found: dict[str, Any] = {"when": "", "consent": None, "problems": []}
    for place, in_hook in (("hook", True), ("prompt", False)):
        made = policy.load(env, cwd=cwd, policy=chosen, in_hook=in_hook, managed=policy.MANAGED)
        if in_hook:
            found["when"], found["consent"] = made.judge["when"], made.judge["consent"]
            found["problems"] = made.problems
        entries = []
        for point in ("", *sorted(made.judge.get("routes") or {})):
            judge, why = room.choose(made.judge, env, in_hook, point=point)
            entries.append({"point": point, "judge": judge.name if judge is not None else None, "why": why})
        found[place] = entries
    found["providers"] = [_provider(name, env) for name in dialects.MODULES]
    return found


def _provider(name: str, env: dict[str, str]) -> dict[str, Any]:
    dialect = dialects.load(name)
    return {
        "name": name,
        "base_url": dialect.DEFAULT_BASE,
        "model": dialect.DEFAULT_MODEL,
        "key_variables": list(dialect.KEY_VARS),
        "key_found": next((variable for variable in dialect.KEY_VARS if env.get(variable)), ""),
        "local": dialect.LOCAL,
        "max_questions": dialect.MAX_QUESTIONS,
    }


def _lines(found: dict[str, Any]) -> list[str]:
    lines = []
    for place, title in (("hook", "in the hook"), ("prompt", "at the prompt")):
        for entry in found[place]:
            head = f"{title}, {entry['point']}" if entry["point"] else title
            lines += [f"{head}: {entry['judge'] or 'nobody'}", f"    {entry['why']}"]
    if found["when"] == "never":
        lines.append("(the policy says when = never: in the hook nobody is asked at all)")
    lines += [f"problem: {problem}" for problem in found["problems"]]
    lines += ["", "providers, in the order in which a key is looked for at the prompt (name one in [judge]):"]
    width = max(len(entry["name"]) for entry in found["providers"])
    for entry in found["providers"]:
        if entry["key_found"]:
            key = f"{entry['key_found']} is set"
        elif entry["key_variables"]:
            key = f"{entry['key_variables'][0]} is not set{' (needed where the server wants one)' * entry['local']}"
        else:
            key = "no key of its own"
        lines.append(f"  {entry['name']:<{width}}  {entry['base_url'] or '(your base_url)'}; {key}")
    return lines


@click.command("judges")
@click.option("--cwd", metavar="DIR", help="As if the call were made in this directory.")
@click.option("--policy", "chosen", metavar="NAME|FILE", help="Look at this policy, as `hook --policy` would use it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def judges(cwd: str | None, chosen: str | None, as_json: bool) -> None:
    """Show what would answer, from where, and why: in the hook, and at the prompt.  Asks nobody.

    \b
    jevhook judges
    jevhook judges --policy strict --json
    """
    found = examine(dict(os.environ), where(cwd), chosen)
    click.echo(json.dumps(found, indent=2) if as_json else "\n".join(map(policy.clean, _lines(found))))
