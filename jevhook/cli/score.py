"""``jevhook score``: labelled calls in, a dated scorecard out."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from .. import config, policy
from ..evidence import card as cards
from ..evidence import cases, kept, truth
from ..evidence.figures import Share, share_of
from ..evidence.judged import as_active, ask_by, judge_by
from ..evidence.labels import labels
from ..evidence.read import entries
from ..evidence.rows import AMBIGUOUS, CWD, HOME, Row, Skipped, read, rows
from ..text.printable import visible
from .judging import load_policy
from .person import at_keyboard

MOST_CATEGORIES = 20
MOST_ROWS = 10  # named when two cards are compared
_LIMIT = 64 << 20  # bytes of a card's file
_SAID = {"n": "nothing", "a": "ask", "d": "deny", "w": "withhold", "t": "trim"}
_TITLES = {
    "recall": "stopped of what should be",
    "denied": "denied of what must be",
    "false_alarms": "stopped of what should pass",
    "false_denials": "denied of what must not be",
}


@click.command()
@click.argument(
    "data", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True), metavar="[DATA.jsonl]…"
)
@click.option("--local", is_flag=True, help="Your own labelled decisions and appeals too.")
@click.option("--policy", "chosen", metavar="NAME|FILE", help="Score this policy instead of the one in force.")
@click.option("--home", default=HOME, show_default=True, metavar="DIR", help="The home directory the rows speak of.")
@click.option("--cwd", default=CWD, show_default=True, metavar="DIR", help="Where a row is that says nothing.")
@click.option(
    "--disk", is_flag=True, help="Look at this machine's files as the hook does; the card is of this machine then."
)
@click.option(
    "--ask", is_flag=True, help="Ask the policy's judge, as the hook would, about rows without recorded answers."
)
@click.option(
    "--answered",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="With --ask: write the rows with their answers to FILE, to be scored again without a call.",
)
@click.option("--wrong", type=click.IntRange(0), default=0, metavar="N", help="Show the first N rows that went wrong.")
@click.option("--out", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="Write the card to FILE.")
@click.option(
    "--keep", is_flag=True, help="Keep the card as evidence for `jevhook promote` (a person at a terminal only)."
)
@click.option(
    "--compare",
    "old",
    type=click.Path(exists=True, dir_okay=False),
    metavar="CARD",
    help="What got better or worse since CARD.",
)
@click.option("--json", "as_json", is_flag=True, help="The card as JSON; with --compare, {card, comparison}.")
def score(
    data: tuple[str, ...], local: bool, chosen: str | None, home: str, cwd: str, disk: bool, ask: bool,
    answered: str | None, wrong: int, out: str | None, keep: bool, old: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Judge labelled rows and say how often the gate is right, with what that figure may be off by (95 %).

    A row is one JSON object a line: {"command" or "tool" and "input" (and "result") or "event", "expected": allow, ask,
    block, deny, not-deny, withhold, trim, keep}; category, ambiguous, cwd, home, host, user_requests and judge (recorded
    answers) may be there too. Nothing is run, and without --ask nothing is sent or looked up: the same rows, policy and
    version give the same card. Every point that is not off is scored, in shadow too.

    With --compare the exit code is 1 when a share is surely worse: fewer stopped or denied of what should be, more of
    what should not. Cards of the same rows are compared row by row.

    \b
    jevhook score commands.jsonl --wrong 20
    jevhook score commands.jsonl --out before.json
    jevhook score commands.jsonl --policy strict --compare before.json
    jevhook score commands.jsonl --ask --answered answered.jsonl
    jevhook score --local --keep
    """
    if not data and not local:
        raise click.UsageError("name a file of labelled rows, or give --local for your own labelled decisions")
    if answered and not ask:
        raise click.UsageError("--answered goes with --ask")
    if keep:
        at_keyboard("jevhook score --keep")
    before = _card(old) if old else None
    made = as_active(load_policy(chosen, ""))
    skipped, tally, judge = Skipped(), cards.Tally(), judge_by(made, disk=disk)
    bad: list[tuple[Row, str, str]] = []
    scored: list[Row] = []
    asking = _Asking(made, disk) if ask else None
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 6000))  # as the hook does: the same line, the same verdict
    for row, line in _watched(_rows(data, local, made, skipped, home, cwd)):
        if asking is not None:
            row, line = asking.about(row, line)
        judged = judge(row)
        tally.add(row, judged, line)
        scored.append(row)
        letter = tally.outcomes[-1]
        if row.expected != AMBIGUOUS and not cards.right(row.expected, letter):
            bad.append((row, letter, judged.rule))
    for told in [*skipped.said(), *(asking.said() if asking is not None else ())]:
        click.echo(policy.clean(told), err=True)
    if not tally.expected:
        raise click.ClickException("no row could be scored")
    found = tally.card(made, {"home": home, "cwd": cwd, "disk": disk}, skipped.kinds, time.time())
    comparison = cards.compare(before, found) if before is not None else None
    if answered and asking is not None:
        _write(answered, b"".join(asking.lines))
    if out:
        _write(out, json.dumps(found).encode() + b"\n")
    if as_json:
        click.echo(json.dumps(found if comparison is None else {"card": found, "comparison": _plain(comparison)}))
    else:
        click.echo("\n".join([*lines(found), *_wrong(bad, wrong)]))
        if comparison is not None:
            click.echo("\n".join(["", *_compared(comparison, scored, before or {}, found)]))
    if keep:
        try:
            click.echo(f"kept as {policy.clean(kept.add(dict(os.environ), found))}", err=True)
        except OSError as failed:
            raise click.ClickException(f"the card was not kept: {failed.strerror or failed}") from None
    if comparison is not None and comparison.regressed:
        raise SystemExit(1)


def _rows(
    data: tuple[str, ...], local: bool, made: policy.Policy, skipped: Skipped, home: str, cwd: str
) -> Iterator[tuple[Row, bytes]]:
    for name in data:
        with click.open_file(name, "rb") as file:
            lines = file.readlines()
        for row in rows(lines, os.path.basename(name), skipped, home, cwd):
            yield row, lines[row.line - 1]
    if not local:
        return
    env = dict(os.environ)
    book = entries(env, str(made.ledger.get("path") or ""))
    appealed = {str(case["id"]): case for case in cases.every(env)}
    for number, found in enumerate(truth.local_rows(book, labels(env), appealed, config.home(env)), 1):
        if found is None:
            skipped.add("labelled without its event being kept", f"local:{number}")
            continue
        line = json.dumps(found, sort_keys=True).encode()
        yield from ((row, line) for row in rows([line], "local", skipped, home, cwd))


class _Asking:
    """Puts rows to the policy's judge; ``lines`` are all rows as they are scored, with their answers."""

    def __init__(self, made: policy.Policy, disk: bool) -> None:
        self.lines: list[bytes] = []
        self._ask = ask_by(made, dict(os.environ), disk=disk)
        self._answered = 0
        self._silent: dict[str, int] = {}

    def about(self, row: Row, line: bytes) -> tuple[Row, bytes]:
        """The row and its line, with answers where the judge was asked and gave some."""
        if not row.answers:
            judge, why = self._ask(row)
            if judge:
                line = json.dumps({**json.loads(line), "judge": judge}).encode()
                row = read(line, row.line, row.home, row.event.cwd)
                self._answered += 1
            elif why:
                self._silent[why] = self._silent.get(why, 0) + 1
        self.lines.append(line.strip() + b"\n")
        return row, line

    def said(self) -> list[str]:
        """What came of the asking."""
        told = [f"{self._answered} rows were put to the judge and answered"]
        return told + [f"{count} rows without an answer: {why}" for why, count in self._silent.items()]


def _watched(found: Iterator[tuple[Row, bytes]]) -> Iterator[tuple[Row, bytes]]:
    """The same, with a bar where a person waits at a terminal."""
    if not sys.stderr.isatty():
        yield from found
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(found, "judging", console=Console(stderr=True), transient=True)


def lines(found: Mapping[str, Any]) -> list[str]:
    """A card as lines for a person."""
    data, cost = found["data"], found["cost"]
    aside = f", {data['ambiguous']} ambiguous" if data["ambiguous"] else ""
    told = [
        f"{found['date'][:10]}  policy {found['policy']['name']}, jevhook {found['version']}, {data['rows']} row{'s'[: data['rows'] != 1]}{aside}"
        f"  [{found['digest'][:12]}]"
    ]
    told += [f"  {title:<28} {share_of(found[name]).said()}" for name, title in _TITLES.items() if found[name]["n"]]
    for title, key in (("point", "points"), ("category", "categories")):
        told += _table(title, found[key])
    for name, fit in found["calibration"].items():
        if fit["brier"] is None:
            told.append(f"  {name:<28} not enough recorded answers for a calibration ({fit['n']})")
            continue
        told.append(f"  {name:<28} {fit['n']} answers, Brier {fit['brier']:.3f}, ECE {fit['ece']:.3f}")
        told += [
            f"      {one['from']:.1f}-{one['to']:.1f}  said {one['mean']:.2f}, was {Share(one['k'], one['n']).said()}"
            for one in fit["bins"]
        ]
    if cost["calls"]:
        told.append(
            f"  recorded calls: {cost['calls']}, {cost['input_tokens']} tokens in, {cost['output_tokens']} out, ${cost['usd']:.4f}"
        )
    else:
        told.append("  no recorded answers of a judge: nothing to calibrate, no cost")
    if found["troubles"]:
        told.append(f"  {found['troubles']} rows with trouble inside a point (the hook would have said nothing)")
    return [visible(line) for line in told]


def _table(title: str, found: Mapping[str, Any]) -> list[str]:
    def mistakes(name: str) -> int:
        recall, alarms = found[name]["recall"], found[name]["false_alarms"]
        return int(recall["n"] - recall["k"] + alarms["k"])

    if not found or (title == "category" and len(found) == 1):
        return []
    names = sorted(found, key=lambda name: (-mistakes(name), name))
    told = [f"\n  {title:<30} {'stopped of what should be':<42} stopped of what should pass"]
    for name in names[:MOST_CATEGORIES]:
        cell = found[name]
        recall, alarms = share_of(cell["recall"]).said(), share_of(cell["false_alarms"]).said()
        told.append(f"  {name[:30]:<30} {recall:<42} {alarms}")
    if len(names) > MOST_CATEGORIES:
        rest = sum(mistakes(name) for name in names[MOST_CATEGORIES:])
        told.append(f"  … and {len(names) - MOST_CATEGORIES} more with {rest} mistakes (--json has all)")
    return [*told, ""] if title == "category" else told


def _wrong(bad: list[tuple[Row, str, str]], most: int) -> list[str]:
    told = [f"{min(most, len(bad))} of {len(bad)} rows that went wrong:"] if most and bad else []
    for row, letter, rule in bad[:most]:
        told.append(f"  {row.line:>6} wanted {_wanted(row):<9} got {_SAID[letter]:<8} {rule:<28} {_words(row)}")
    return told


def _wanted(row: Row) -> str:
    return {
        "p": "nothing",
        "s": "a stop",
        "a": "a stop",
        "d": "deny",
        "m": "no deny",
        "w": "withhold",
        "t": "trim",
    }.get(row.expected, "?")


def _words(row: Row) -> str:
    command = row.event.input.get("command")
    text = command if isinstance(command, str) else json.dumps(row.event.input, ensure_ascii=False)
    text = visible(text.replace("\n", " ⏎ "))
    return text if len(text) <= 160 else f"{text[:159]}…"


def _compared(
    found: cards.Comparison, judged: list[Row], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[str]:
    how = "row by row" if found.same_rows else "other rows, so as two samples"
    other = [name for name in ("policy", "version", "place") if before[name] != after[name]]
    what = f"; {' and '.join(other)} {'differs' if len(other) == 1 else 'differ'}" if other else ""
    told = [f"against the card of {before['date'][:10]} [{before['digest'][:12]}], {how}{what}:"]
    for one in found.shares:
        change = one.change
        if not (one.before.enough and one.after.enough):
            word = "not enough rows to say"
        elif not change.sure:
            word = "no sure change"
        else:
            word = "WORSE" if one.worse else "better"
        told.append(
            f"  {_TITLES[one.name]:<28} {one.before.k} of {one.before.n} -> {one.after.k} of {one.after.n}: "
            f"{100 * change.by:+.1f} points ({100 * change.low:+.1f} to {100 * change.high:+.1f}), {word}"
        )
    if found.same_rows:
        for title, places in (("went wrong now", found.lost), ("went wrong then and is right now", found.mended)):
            if places:
                told.append(f"  {len(places)} {title}:")
            told += [
                f"    {judged[at].line:>6} {_SAID[before['outcomes'][at]]} -> {_SAID[after['outcomes'][at]]}  {_words(judged[at])}"
                for at in places[:MOST_ROWS]
            ]
            if len(places) > MOST_ROWS:
                told.append(f"    … and {len(places) - MOST_ROWS} more")
    return told


def _plain(found: cards.Comparison) -> dict[str, Any]:
    return {
        "same_rows": found.same_rows,
        "regressed": found.regressed,
        "shares": {
            one.name: {
                "before": one.before.plain(), "after": one.after.plain(), "change": round(one.change.by, 6),
                "low": round(one.change.low, 6), "high": round(one.change.high, 6), "sure": one.change.sure, "worse": one.worse,
            }
            for one in found.shares
        },
        "lost": list(found.lost),
        "mended": list(found.mended),
    }  # fmt: skip


def _card(path: str) -> dict[str, Any]:
    try:
        data, _ = config.read_bounded(path, _LIMIT)
        return cards.check(json.loads(data))
    except (OSError, ValueError) as wrong:
        raise click.ClickException(f"{policy.clean(path)}: {policy.clean(str(wrong))}") from None


def _write(path: str, data: bytes) -> None:
    try:
        with click.open_file(path, "wb", atomic=path != "-") as file:
            file.write(data)
    except OSError as failed:
        raise click.ClickException(f"{policy.clean(path)}: cannot be written: {failed.strerror or failed}") from None
