"""``jevhook calibrate``: thresholds that fit what a person has labelled."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from .. import config, policy
from ..evidence import calibrate as fitting
from ..evidence import promoted
from ..evidence.figures import Change, Share
from ..evidence.labels import labels
from ..evidence.read import Counted, Wanted, entries
from ..points import risk
from .judging import load_policy
from .person import at_keyboard, note


@click.command()
@click.argument("point", type=click.Choice(fitting.POINTS), default=risk.ID)
@click.option("--write", is_flag=True, help="Write what it found into promoted.toml (a person at a terminal only).")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def calibrate(point: str, write: bool, as_json: bool) -> None:
    """Fit POINT's two thresholds (a sure yes, a sure no; tool.risk by default) to the decisions that you have labelled.

    Used are labelled ledger entries with a judge's recorded answers; no call is made. A quarter of the sessions is held
    out, and what the change is worth is told on those alone. It never trades a miss for fewer false alarms. Nothing is
    written without --write, and then beside config.toml, which counts more; `jevhook promote NAME --undo` takes it back.

    \b
    jevhook calibrate
    jevhook calibrate tool.injection --write
    """
    if write:
        at_keyboard("jevhook calibrate --write")
    env = dict(os.environ)
    made = load_policy(None, "")
    counted = Counted()
    book = entries(env, str(made.ledger.get("path") or ""), Wanted(points=(point,), origins=("hook",)), counted=counted)
    withhold = made.threshold("tool.injection.withhold", 1.0)
    found = fitting.samples(point, book, labels(env), policy.rules(made)["rules"], withhold)
    keys = (f"{point}.yes", f"{point}.no")
    now = (made.threshold(keys[0], 0.8), made.threshold(keys[1], 0.2))
    fit = fitting.fit(found, now)
    if counted.said():
        click.echo(policy.clean(counted.said()), err=True)
    click.echo(json.dumps(_plain(fit, keys)) if as_json else "\n".join(_lines(fit)))
    if not write:
        return
    if fit.why_not:
        raise click.ClickException(f"nothing was written: {fit.why_not}")
    try:
        path = promoted.place(env)
        document = before = promoted.read(path)
        evidence = {
            "held_out": fit.held_out,
            "recall": fit.after.recall.said(),
            "false_alarms": fit.after.false_alarms.said(),
        }
        for key, value in zip(keys, fit.best, strict=True):
            document = promoted.with_value(document, "thresholds", key, value, evidence)
        promoted.write(path, document, before=before)
        after = load_policy(None, "")
        if tuple(after.threshold(key, 0) for key in keys) != fit.best:
            promoted.write(path, before, before=document)
            raise config.ConfigError("a stronger layer sets these thresholds (`jevhook policy show` says which)")
    except config.ConfigError as wrong:
        raise click.ClickException(f"nothing was changed: {policy.clean(str(wrong))}") from None
    note(env, "calibrate", "calibrate", thresholds=dict(zip(keys, fit.best, strict=True)))
    click.echo(f"{keys[0]} = {fit.best[0]:g}, {keys[1]} = {fit.best[1]:g} from the next call on ({policy.clean(path)})")


def _lines(fit: fitting.Fit) -> list[str]:
    told = [
        f"{fit.fitted_on} labelled decisions to fit on, {fit.held_out} held out; now yes {fit.now[0]:g}, no {fit.now[1]:g}"
    ]
    if fit.best != fit.now:
        told.append(f"  yes {fit.now[0]:g} -> {fit.best[0]:g}, no {fit.now[1]:g} -> {fit.best[1]:g}")
        told.append("on the held-out sessions:")
        told.append(_line("stopped of what should be", fit.before.recall, fit.after.recall, fit.recall))
        told.append(
            _line("stopped of what should pass", fit.before.false_alarms, fit.after.false_alarms, fit.false_alarms)
        )
    told.append(fit.why_not or "`jevhook calibrate --write` puts it in force")
    return told


def _line(title: str, before: Share, after: Share, change: Change) -> str:
    sure = "" if change.sure else ", no sure change"
    return (
        f"  {title:<28} {before.said()} -> {after.said()}: {100 * change.by:+.1f} points "
        f"({100 * change.low:+.1f} to {100 * change.high:+.1f}){sure}"
    )


def _plain(fit: fitting.Fit, keys: tuple[str, str]) -> dict[str, Any]:
    def both(one: fitting.Score) -> dict[str, Any]:
        return {"recall": one.recall.plain(), "false_alarms": one.false_alarms.plain()}

    return {
        "fitted_on": fit.fitted_on,
        "held_out": fit.held_out,
        "now": dict(zip(keys, fit.now, strict=True)),
        "best": dict(zip(keys, fit.best, strict=True)),
        "before": both(fit.before),
        "after": both(fit.after),
        "why_not": fit.why_not,
    }
