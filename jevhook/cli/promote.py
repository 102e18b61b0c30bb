"""``jevhook promote``: a point, a rule or a question earns its mode with evidence."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from .. import config, policy
from ..evidence import kept, promoted, promotion
from ..evidence.labels import labels
from ..evidence.read import Counted, Wanted, entries
from ..text.printable import visible
from .judging import load_policy
from .person import at_keyboard, note
from .policy import effective


@click.command()
@click.argument("name", required=False, metavar="[POINT|RULE|QUESTION]")
@click.option(
    "--to", type=click.Choice(["shadow", "active"]), default="active", show_default=True, help="The mode it gets."
)
@click.option("--force", is_flag=True, help="Without the evidence. The file says so.")
@click.option("--undo", is_flag=True, help="Take its last promotion (or calibrated threshold) back.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="The evidence as JSON; nothing is changed.")
def promote(name: str | None, to: str, force: bool, undo: bool, yes: bool, as_json: bool) -> None:
    """Show the evidence for POINT, RULE or QUESTION, and when it is enough make it act.

    Asked for are events that it has judged in your sessions, decisions that you have labelled (`jevhook ledger label`,
    `jevhook appeal`), that your labels agree, few false alarms, and scorecards in a row (`jevhook score --keep`); how
    much of each is `[promotion]` in config.toml. The mode goes into promoted.toml beside config.toml, which is never
    rewritten and always counts more. Without a name: what has been promoted.

    \b
    jevhook promote
    jevhook promote tool.admission
    jevhook promote git.force-push --force
    jevhook promote tool.admission --undo
    """
    env = dict(os.environ)
    try:
        path = promoted.place(env)
        document = promoted.read(path)
        if name is None:
            if undo or force:
                raise click.UsageError("--undo and --force need a name")
            _list(path, document, as_json)
        elif undo:
            at_keyboard("jevhook promote --undo")
            _undo(env, path, document, name)
        else:
            _promote(env, path, document, name, to, force, yes, as_json)
    except config.ConfigError as wrong:
        raise click.ClickException(f"nothing was changed: {policy.clean(str(wrong))}") from None


def _list(path: str, document: dict[str, Any], as_json: bool) -> None:
    evidence = document.get("evidence", [])
    if as_json:
        click.echo(json.dumps({"path": path, "evidence": evidence}, default=str))
        return
    for entry in evidence:
        forced = ", without the evidence" if entry.get("forced") else ""
        click.echo(visible(f"{str(entry.get('at'))[:10]}  {entry.get('what')} = {entry.get('to')}{forced}"))
    click.echo(policy.clean(f"({path})") if evidence else "nothing has been promoted")


def _undo(env: dict[str, str], path: str, document: dict[str, Any], name: str) -> None:
    found = promoted.without_last(document, name)
    if found is None:
        names = ", ".join(sorted({str(entry.get("what")) for entry in document.get("evidence", [])})) or "nothing"
        raise click.ClickException(f"{policy.shown(name)} was not promoted; what was: {policy.clean(names)}")
    left, entry = found
    promoted.write(path, left, before=document)
    note(env, "promote --undo", "promote", promotion={"what": name, "table": entry["table"], "undone": entry.get("to")})
    now = _mode(env, name) if entry["table"] != "thresholds" else entry.get("before", "what the policy says")
    click.echo(visible(f"{name} is {now} again ({path})"))


def _promote(
    env: dict[str, str], path: str, document: dict[str, Any], name: str, to: str, force: bool, yes: bool, as_json: bool
) -> None:
    made = load_policy(None, "")
    table = policy.rules(made)["rules"]
    what = promotion.target(name, table)
    if what is None:
        import difflib

        known = [*policy.POINTS, *(f"tool.risk.{question}" for question in _questions()), *table]
        close = ", ".join(difflib.get_close_matches(name, known, 3, 0.5))
        near = f"; close to it: {close}" if close else ""
        raise click.ClickException(
            f"{policy.shown(name)} is no point, rule or question{near}. `jevhook rules` lists the rules"
        )
    now = _mode(env, name)
    counted = Counted()
    book = entries(
        env, str(made.ledger.get("path") or ""), Wanted(points=(what.point,), origins=("hook",)), counted=counted
    )
    yes_at, no_at = made.threshold("tool.risk.yes", 0.8), made.threshold("tool.risk.no", 0.2)
    seen = promotion.look(book, labels(env), what, yes_at, no_at)
    told = promotion.asked(what, seen, kept.every(env), made.promotion)
    enough = all(one.met for one in told)
    if as_json:
        click.echo(json.dumps({
            "what": name, "kind": what.kind, "mode": now, "enough": enough,
            "evidence": [{"name": one.name, "met": one.met, "wanted": one.wanted, "found": one.found} for one in told],
            "from": seen.first, "to": seen.last, "events": seen.events, "spoke": seen.spoke, "labelled": seen.checked,
        }))  # fmt: skip
        return
    period = f", {seen.first} to {seen.last}" if seen.first else ""
    click.echo(f"{what.kind} {name}, now {now}{period}")
    for one in told:
        click.echo(
            visible(f"  {'ok     ' if one.met else 'MISSING'}  {one.name:<14} {one.found}; asked for: {one.wanted}")
        )
    if counted.said():
        click.echo(policy.clean(counted.said()), err=True)
    if policy.MODES.index(now) >= policy.MODES.index(to):
        click.echo(f"it is {now} already; nothing was changed")
        return
    if not enough and not force and to == "active":
        missing = ", ".join(one.name for one in told if not one.met)
        raise click.ClickException(
            f"not enough evidence ({missing}), so nothing was changed. --force does it all the same, and says so."
        )
    at_keyboard("jevhook promote")
    if not yes and not click.confirm(f"Make {name} {to}?"):
        raise click.exceptions.Abort
    evidence: dict[str, Any] = {"from": now, "forced": not enough, **{one.name: one.found for one in told}}
    wanted = promoted.with_value(document, what.table, name, to, evidence)
    promoted.write(path, wanted, before=document)
    after = _mode(env, name)
    if after != to:
        promoted.write(path, document, before=wanted)
        raise click.ClickException(f"nothing was changed: {_whose(what, name, after)} says {after}, which counts more")
    note(
        env,
        "promote",
        "promote",
        promotion={"what": name, "table": what.table, "from": now, "to": to, "forced": not enough},
    )
    click.echo(
        f"{name} is {to} from the next call on ({policy.clean(path)}); `jevhook promote {name} --undo` takes it back"
    )


def _questions() -> list[str]:
    from ..points import risk

    return list(risk.CAPABILITIES)


def _mode(env: dict[str, str], name: str) -> str:
    """The mode in force for a point, a rule or a question, whatever this shell's own variables say."""
    plain = {key: value for key, value in env.items() if not key.startswith("JEVHOOK_")}
    made = policy.load(plain, in_hook=False, managed=policy.MANAGED)
    return made.mode(name) if name in policy.POINTS else made.rule_mode(name)


def _whose(what: promotion.Target, name: str, mode: str) -> str:
    """The file whose word stands, in words."""
    made = policy.load(dict(os.environ), in_hook=False, managed=policy.MANAGED)
    for value in effective(made):
        if value["key"] == f"{what.table}.{name}" and value["value"] == mode:
            return policy.clean(f"{value['layer']} ({value['path']})" if value["path"] else value["layer"])
    return "a stronger layer"
