"""A summary as one HTML page that needs nothing else: no script, no network, no file beside it.

The policy in its head lets the page load nothing and apply only its own style sheet, by hash.  Every text from the
ledger goes through ``said`` (escaped, and kept from turning the text around it) or ``charts.escaped``.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import importlib.resources
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..state.budget import usd
from ..text.redact import redact
from . import charts
from .charts import Dot, Series, escaped, milliseconds
from .figures import ENOUGH_ANSWERS, Share, calibration
from .read import STOPS
from .summary import STEP, Example, JudgePart, Rule, Spread, Summary, moment

MARK = "<!doctype html><!-- made by jevhook report -->"  # a page of ours may be written over
COLUMNS = 62  # at most in a chart over time
_WORDS = {"deny": "denied", "ask": "asked", "withhold": "withheld", "trim": "trimmed"}
_KINDS = {
    "breaker": "not asked: the judge kept failing (breaker)",
    "budget": "not asked: the budget is spent",
    "off": "the gate was switched off",
    "timeout": "the watchdog ended it",
    "error:timeout": "the judge did not answer in time",
    "error:server": "the judge's server failed",
    "error:rate_limited": "the judge refused: too many calls",
    "error:auth": "the judge refused the key",
    "error:payment": "the judge's account is empty",
    "error:unreachable": "the judge could not be reached",
    "error:invalid_response": "the judge's answer was none",
    "error:bad_request": "the judge refused the request",
    "error:oversized": "too long for the judge",
    "error:config": "a judge is set up wrongly",
    "error:internal": "an error inside the gate",
    "error:input": "stdin was no event",
    "error:event": "an event that no host is known for",
}


@dataclass(frozen=True)
class About:
    """Where a page comes from: ``made`` an ISO time, ``source`` and ``wanted`` in words, ``skipped`` what could not be
    read (``Counted.said``), ``version`` of jevhook; ``examples`` False leaves out every path, reason and id."""

    made: str
    source: str
    version: str
    wanted: str = ""
    skipped: str = ""
    examples: bool = True


def said(value: object) -> str:
    """A text from the ledger, in a box that its own direction does not leave.

    Redacted once more, for the page is shown around and the line may be an older version's.
    """
    return f"<bdi>{escaped(redact(str(value)))}</bdi>"


def page(found: Summary, about: About) -> str:
    """The whole page."""
    style = importlib.resources.files("jevhook.evidence").joinpath("report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    period = f"{_day(found.first)} to {_day(found.last)}" if found.first else "no events"
    sections = [
        _over_time(found),
        _stopped(found, about),
        _noisy(found, about),
        _time(found),
        _points(found),
        _cost(found),
        _troubles(found),
        _calibration(found),
    ]
    return f"""{MARK}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>jevhook report, {escaped(period)}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>What the gate did</h1>
<p class="soft">{" · ".join(said(part) for part in (f"{period} (UTC)", about.wanted, about.source) if part)}</p>
{_lead(found)}
{_tiles(found)}
{_where(found, about)}
</header>
<main>
{"".join(sections)}</main>
<footer>
<p>Made {escaped(about.made)} by jevhook {escaped(about.version)}. Times are UTC; percentiles are right to one percent.
{f"{said(about.skipped)}. " if about.skipped else ""}{_shared(about)}</p>
</footer>
</body>
</html>
"""


def _shared(about: About) -> str:
    if not about.examples:
        return "Paths, reasons and ids were left out."
    return "This page quotes reasons and paths from the ledger: look at it before you pass it on, or make it with --no-examples."


def _lead(found: Summary) -> str:
    if not found.events:
        return '<p class="lead">The ledger has no events in this time: nothing was judged, or the hook is not installed. <code>jevhook doctor</code> tells.</p>'
    parts = [f"{_WORDS[name]} {_n(found.decisions[name])}" for name in STOPS if found.decisions[name]]
    quiet = found.events - sum(found.decisions[name] for name in STOPS)
    if not parts:
        return f'<p class="lead">{_n(found.events)} event{_s(found.events)}; the gate stopped none of them.</p>'
    alone = f"left the other {_n(quiet)} alone ({_percent(quiet, found.events)})"
    return (
        f'<p class="lead">Of {_n(found.events)} event{_s(found.events)} the gate {", ".join(parts)}, and {alone}.</p>'
    )


def _tiles(found: Summary) -> str:
    calls = sum(part.calls for part in found.judges.values())
    cost, priced = sum(part.cost for part in found.judges.values()), sum(part.priced for part in found.judges.values())
    shown = [
        (_n(found.events), "events"),
        (_n(found.decisions["deny"] + found.decisions["withhold"]), "denied or withheld"),
        (_n(found.decisions["ask"]), "put before a person"),
        (_ms(found.hook.quantile(0.5)), "gate, median"),
        (_ms(found.hook.quantile(0.95)), "gate, 95th percentile"),
        (_n(calls), f"judge call{_s(calls)}"),
        (f"{_cents(cost)} USD" if priced else "–", "cost reported by judges"),
        (_n(len(found.sessions)), f"session{_s(len(found.sessions))} in {_n(len(found.projects))} folder{_s(len(found.projects))}"),
    ]  # fmt: skip
    return '<ul class="tiles">' + "".join(f"<li><b>{a}</b><span>{b}</span></li>" for a, b in shown) + "</ul>"


def _where(found: Summary, about: About) -> str:
    """Which agents, tools and policies it is about, the most frequent first."""
    books = (
        ("By", found.hosts),
        ("Tools", found.tools),
        ("Policy", found.policies if about.examples else Counter[str]()),
    )
    shown = [
        f"{word} {', '.join(f'{said(name)} {_n(count)}' for name, count in book.most_common(5))}"
        + (f" and {len(book) - 5} more" if len(book) > 5 else "")
        for word, book in books
        if book
    ]
    return f'<p class="meta">{" · ".join(shown)}</p>' if shown else ""


# -- sections --------------------------------------------------------------------------------------------------


def _section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{title}</h2>\n{body}\n</section>\n'


def _missing(words: str) -> str:
    return f'<p class="none">{words}</p>'


def _over_time(found: Summary) -> str:
    if not found.hours:
        return _section("over-time", "Decisions over time", _missing("No event with a time was found."))
    span, step = _span(found.hours)
    rows = _columns(found.hours, span, step)
    labels = [_label(at, step) for at in span]
    events = Series("events", "s-quiet", [sum(row.values()) for row in rows])
    kinds = [name for name in STOPS if found.decisions[name]]
    stops = [Series(_WORDS[name], f"s-{name}", [row[name] for row in rows]) for name in kinds]
    body = f"<h3>All events, by {step}</h3>" + charts.columns(
        "events", f"Events by {step}", f"{_n(found.events)} events; the busiest {step} had {_n(max(events.values))}.", labels, [events], ""
    )  # fmt: skip
    if stops:
        total = sum(found.decisions[name] for name in kinds)
        body += f"<h3>Stopped or changed, by {step}</h3>" + charts.columns(
            "stops", f"Stopped or changed by {step}", f"{_n(total)} in all: {_list([f'{_WORDS[k]} {found.decisions[k]}' for k in kinds])}.", labels, stops, ""
        )  # fmt: skip
        body += _key([(one.name, one.css) for one in stops])
    else:
        body += _missing("Nothing was stopped or changed.")
    table = _table(
        [step, "events", *(_WORDS[name] for name in kinds)],
        [
            [labels[k], _n(events.values[k]), *(_n(row[name]) for name in kinds)]
            for k, row in enumerate(rows)
            if sum(row.values())
        ],
    )
    return _section("over-time", "Decisions over time", body + _details("The same as a table", table))


def _stopped(found: Summary, about: About) -> str:
    title = "What was stopped, and why"
    if not found.newest:
        return _section("stopped", title, _missing("Nothing was stopped in this time."))
    if not about.examples:
        return _section("stopped", title, _missing("Left out of this page (--no-examples)."))
    first: list[Example] = []
    later: list[Example] = []
    seen: set[str] = set()
    for one in reversed(found.newest):
        fresh = one.rule not in seen and len(first) < 8
        (first if fresh else later).append(one)
        seen.add(one.rule)
    body = "<p>The newest stop of each rule, with the words that the agent was given. <code>jevhook ledger show ID</code> has the rest, what was withheld included.</p>"
    body += f'<ul class="stops">{"".join(map(_example, first))}</ul>'
    if later:
        rest = f'<ul class="stops">{"".join(map(_example, later))}</ul>'
        body += _details(f"{len(later)} more, newest first", rest)
    return _section("stopped", title, body)


def _example(one: Example) -> str:
    told = f", {escaped(one.told)}" if one.told else ""
    label = f" · labelled {escaped(one.label)}" if one.label else ""
    where = " · ".join(said(part) for part in (one.host, one.tool, one.project) if part)
    what = " · ".join(f"<code>{said(target)}</code>" for target in one.targets)
    did = one.did if one.did in STOPS else "ask"
    return (
        f'<li><p><span class="tag {did}">{_WORDS[did]}</span> {said(one.said or "no reason was written down")}</p>'
        f"{f'<p>{what}</p>' if what else ''}"
        f'<p class="meta">{said(one.rule)}{told} · {_minute(one.at)} · {where} · <span class="id">{said(one.id[:8])}</span>{label}</p></li>'
    )


def _noisy(found: Summary, about: About) -> str:
    title = "Noisiest rules"
    if not found.rules:
        return _section("noisy", title, _missing("No rule stopped anything."))
    ranked = sorted(found.rules.items(), key=lambda pair: (-_all(pair[1]), pair[0]))
    most = max(1, _all(ranked[0][1]))
    shadow = any(rule.shadow for _, rule in ranked)
    head = [
        "rule",
        "how often",
        "stops",
        *(["in shadow"] if shadow else []),
        "let run after all",
        "labelled right",
        "labelled wrong",
        "last",
    ]

    def row(name: str, rule: Rule) -> list[str]:
        css = next((f"s-{kind}" for kind in STOPS if rule.stops[kind]), "s-other")
        return [
            f"<code>{said(name)}</code>{_why(rule, about)}",
            charts.bar(_all(rule) / most, css),
            _n(sum(rule.stops.values())),
            *([_n(rule.shadow)] if shadow else []),
            _n(rule.let_run),
            _n(rule.good),
            _n(rule.bad),
            _day(rule.last),
        ]

    rows = [row(name, rule) for name, rule in ranked]
    body = "<p>A rule that stops much and is then let run, or is labelled wrong, costs more than it saves: look at it with <code>jevhook rules</code>, or try another mode for it in <code>[rule_modes]</code>.</p>"
    body += _key([(_WORDS[kind], f"s-{kind}") for kind in STOPS if any(rule.stops[kind] for _, rule in ranked)])
    body += _table(head, rows[:12], numbers=range(2, len(head) - 1), plain=False)
    if len(rows) > 12:
        body += _details(
            f"{len(rows) - 12} more rules", _table(head, rows[12:], numbers=range(2, len(head) - 1), plain=False)
        )
    return _section("noisy", title, body)


def _why(rule: Rule, about: About) -> str:
    return f'<span class="meta why">{said(rule.said)}</span>' if rule.said and about.examples else ""


def _time(found: Summary) -> str:
    title = "How long it took"
    if not found.hook.count:
        return _section("time", title, _missing("No line says how long its hook took."))
    body = "<p>The whole hook as it measured itself, and of that the call to a judge. Both scales are logarithmic.</p>"
    body += '<div class="pair">'
    rows = []
    for name, words, spread in (("hook-time", "the hook", found.hook), ("judge-time", "the judge's call", found.judge)):
        if not spread.count:
            body += (
                f"<div><h3>{words.capitalize()}</h3>{_missing('No judge was asked: the rules decided alone.')}</div>"
            )
            continue
        marks = [(word, spread.quantile(share) or 0.0) for word, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))]
        told = f"{_n(spread.count)} times; " + ", ".join(f"{word} {_ms(value)}" for word, value in marks)
        drawn = charts.histogram(name, f"How long {words} took", told, _classes(spread), marks)
        body += f"<div><h3>{words.capitalize()}</h3>{drawn}</div>"
        rows.append(
            [
                words,
                _n(spread.count),
                *(_ms(value) for _, value in marks),
                _ms(spread.most),
                _ms(spread.total / spread.count),
            ]
        )
    body += "</div>" + _table(["what", "times", "p50", "p95", "p99", "longest", "mean"], rows)
    return _section("time", title, body)


def _points(found: Summary) -> str:
    title = "What each point did"
    if not found.points:
        return _section("points", title, _missing("No point judged an event."))
    kinds = [name for name in STOPS if any(part.judged[name] for part in found.points.values())]
    rows = [
        [
            f"<code>{said(name)}</code>",
            _list([said(mode) for mode, _ in part.modes.most_common(3)]),
            _n(part.events),
            *(_n(part.judged[kind]) for kind in kinds),
            _n(part.acted),
            _n(part.asked),
            _n(part.failed),
        ]
        for name, part in sorted(found.points.items())
    ]
    head = ["point", "mode", "events", *(_WORDS[kind] for kind in kinds), "acted on", "judge asked", "judge failed"]
    body = "<p>In shadow a point judges and nothing is done: what it would have stopped counts here, not above.</p>"
    return _section("points", title, body + _table(head, rows, numbers=range(2, len(head)), plain=False))


def _cost(found: Summary) -> str:
    title = "Judges and what they cost"
    if not found.judges:
        return _section("cost", title, _missing("No judge was asked, so nothing was sent and nothing cost anything."))

    def row(name: str, part: JudgePart) -> list[str]:
        failed = sum(part.errors.values())
        return [
            said(name),
            _n(part.calls),
            _n(failed),
            _n(sum(part.refused.values())),
            _ms(part.time.quantile(0.5)),
            _ms(part.time.quantile(0.95)),
            _n(part.tokens_in),
            _n(part.tokens_out),
            f"{usd(part.cost)}" if part.priced else "not reported",
            usd(part.cost // part.priced) if part.priced else "–",
        ]

    head = ["judge", "calls", "failed", "not made", "p50", "p95", "tokens in", "tokens out", "USD", "USD a call"]
    ranked = sorted(found.judges.items(), key=lambda pair: -pair[1].calls)
    body = _table(head, [row(name, part) for name, part in ranked], numbers=range(1, len(head)), plain=False)
    unpriced = sum(part.calls - part.priced for part in found.judges.values())
    if unpriced:
        body += f'<p class="meta">{_n(unpriced)} call{_s(unpriced)} came back without a cost (failed, or the service reports none) and {"counts" if unpriced == 1 else "count"} as nothing here.</p>'
    if sum(found.spent.values()):
        span, step = _span(found.hours)
        spent = {hour: Counter({"USD": cost}) for hour, cost in found.spent.items()}
        values = [row["USD"] / 1_000_000 for row in _columns(spent, span, step)]
        labels = [_label(at, step) for at in span]
        body += f"<h3>USD by {step}</h3>" + charts.columns(
            "spent", f"Cost by {step}", f"{usd(sum(found.spent.values()))} USD in all.", labels, [Series("USD", "s-time", values)], ""
        )  # fmt: skip
        table = _table([step, "USD"], [[labels[k], f"{value:.6f}"] for k, value in enumerate(values) if value])
        body += _details("The same as a table", table)
    return _section("cost", title, body)


def _troubles(found: Summary) -> str:
    title = "Breaker, fallbacks, and changes by hand"
    if found.reasons:
        total = sum(found.reasons.values())
        body = (
            f"<p>{_n(total)} time{_s(total)} the gate had to do without something; what the rules had said stood.</p>"
        )
        body += _fallbacks(found)
    else:
        body = _missing("No call failed, no breaker opened, no budget ran out, and the gate was never off.")
    if found.by_hand:
        hands = [
            [f"<code>{said(one.command)}</code>", said(one.rule), _minute(one.at)] for one in reversed(found.by_hand)
        ]
        table = _table(["command", "rule", "when"], hands, numbers=(), plain=False)
        body += "<h3>What a person changed, newest first</h3>" + (
            table if len(hands) <= 8 else _details(f"{len(hands)} changes", table)
        )
    return _section("troubles", title, body)


def _fallbacks(found: Summary) -> str:
    ranked = [kind for kind, _ in found.reasons.most_common()]
    body = ""
    if found.troubles:
        span, step = _span(found.hours)
        rows = _columns(found.troubles, span, step)
        labels = [_label(at, step) for at in span]
        series = [Series(_kind(kind), f"t-{k + 1}", [row[kind] for row in rows]) for k, kind in enumerate(ranked[:4])]
        if len(ranked) > 4:
            series.append(Series("others", "t-5", [sum(row[kind] for kind in ranked[4:]) for row in rows]))
        told = f"{_n(sum(found.reasons.values()))} in all; the table below says which."
        body += charts.columns("trouble", f"Fallbacks by {step}", told, labels, series, "")
        body += _key([(one.name, one.css) for one in series])
    body += _table(
        ["what happened", "in the ledger", "times"],
        [[said(_kind(kind)), f"<code>{said(kind)}</code>", _n(found.reasons[kind])] for kind in ranked],
        numbers=(2,),
        plain=False,
    )
    if found.outages:
        outages = [
            [said(_kind(one.kind)), _minute(one.first), _minute(one.last), _n(one.count)]
            for one in reversed(found.outages)
        ]
        table = _table(["what", "from", "to", "times"], outages, numbers=(3,), plain=False)
        body += "<h3>When, newest first</h3>" + (
            table if len(outages) <= 8 else _details(f"{len(outages)} times of failure", table)
        )
    return body


def _calibration(found: Summary) -> str:
    title = "Calibration: does what is said come true?"
    ready = {name: pairs for name, pairs in sorted(found.pairs.items()) if len(pairs) >= ENOUGH_ANSWERS}
    labelled = found.good + found.bad
    if not ready:
        best = max((len(pairs) for pairs in found.pairs.values()), default=0)
        if not found.probabilities:
            lacks = "no line in this time holds a probability (no judge answered, no passage was scored)"
        elif not labelled:
            lacks = f"probabilities are there ({_n(found.probabilities)}), but nobody has said yet which decisions were right"
        else:
            lacks = f"of {_n(labelled)} label{_s(labelled)} {best} at most are about one question's probability, and a curve needs {ENOUGH_ANSWERS}"
        how = "Label decisions with <code>jevhook ledger label ID good</code> or <code>bad</code>."
        return _section("calibration", title, _missing(f"No curve yet: {lacks}. {how}"))
    body = f"<p>{_n(labelled)} decisions are labelled ({_n(found.good)} right, {_n(found.bad)} wrong). Across: how likely the answer said the call was one to stop. Up: how often the labels say so. On the dashed line both agree; a whisker is a 95 % interval. A call can be one to stop for another reason than its question asks about: above the line is no fault of the question, below it is.</p>"
    body += '<div class="small">'
    rows = []
    for k, (name, pairs) in enumerate(ready.items()):
        fit = calibration(pairs)
        shares = [Share(one["k"], one["n"]) for one in fit["bins"]]
        dots = [
            Dot(one["mean"], share.rate, *share.interval, share.n)
            for one, share in zip(fit["bins"], shares, strict=True)
        ]
        told = "; ".join(f"said {dot.p:.0%}, seen {dot.share:.0%} of {dot.n}" for dot in dots)
        drawn = charts.reliability(f"cal-{k}", f"Calibration of {name}", told, dots)
        body += f'<div><h3>{said(name)}</h3>{drawn}<p class="meta">{_n(fit["n"])} labels, off by {fit["ece"]:.0%} on average</p></div>'
        rows += [
            [said(name), f"{dot.p:.0%}", f"{dot.share:.0%}", f"{dot.low:.0%} to {dot.high:.0%}", _n(dot.n)]
            for dot in dots
        ]
    table = _table(["question", "said", "seen", "interval", "labels"], rows, numbers=(1, 2, 3, 4), plain=False)
    return _section("calibration", title, body + "</div>" + _details("The same as a table", table))


# -- figures ---------------------------------------------------------------------------------------------------


def _classes(spread: Spread) -> list[tuple[float, float, int]]:
    """The spread in classes a twelfth of a power of ten wide, for a chart; what is outside 0.1 ms to 1000 s is at its ends."""
    each = Counter[int]()
    for step, count in spread.classes.items():
        each[math.floor(min(max(step * math.log10(STEP), -1), 5.99) * 12 + 1e-9)] += count
    return [(10 ** (k / 12), 10 ** ((k + 1) / 12), each[k]) for k in range(min(each), max(each) + 1)]


def _all(rule: Rule) -> int:
    return sum(rule.stops.values()) + rule.shadow


def _span(hours: Iterable[str]) -> tuple[list[datetime.datetime], str]:
    """The columns of a chart over time, oldest first, and what each of them is: the newest COLUMNS at most."""
    known = sorted(hours)
    first, last = _hour(known[0]), _hour(known[-1])
    length = (last - first).total_seconds() / 3600
    sizes = (("hour", 1), ("day", 24), ("week", 168))
    step = next((name for name, hours_in in sizes if length / hours_in < COLUMNS - 1), "month")
    at = _floor(last, step)
    span: list[datetime.datetime] = []
    while at >= _floor(first, step) and len(span) < COLUMNS:
        span.append(at)
        try:
            at = _floor(at - datetime.timedelta(hours=1), step)
        except OverflowError:
            break
    return span[::-1], step


def _columns(hours: dict[str, Counter[str]], span: Sequence[datetime.datetime], step: str) -> list[Counter[str]]:
    """What ``hours`` add up to in each column of ``span``."""
    gathered: dict[datetime.datetime, Counter[str]] = {}
    for hour, row in hours.items():
        gathered.setdefault(_floor(_hour(hour), step), Counter()).update(row)
    return [gathered.get(at, Counter()) for at in span]


def _hour(hour: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(f"{hour}:00")


def _floor(at: datetime.datetime, step: str) -> datetime.datetime:
    at = at.replace(minute=0, second=0, microsecond=0)
    if step == "hour":
        return at
    at = at.replace(hour=0)
    if step == "week":
        return at - datetime.timedelta(days=min(at.weekday(), at.toordinal() - 1))
    return at.replace(day=1) if step == "month" else at


# -- pieces ----------------------------------------------------------------------------------------------------


def _key(shown: Iterable[tuple[str, str]]) -> str:
    items = (
        f'<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="{css}" width="10" height="10"/></svg>{escaped(name)}</li>'
        for name, css in shown
    )
    return f'<ul class="key">{"".join(items)}</ul>'


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] | None = None, plain: bool = True
) -> str:
    """Cells are HTML unless ``plain``; ``numbers`` are the columns set to the right (default: all but the first)."""
    right = set(range(1, len(head)) if numbers is None else numbers)

    def cell(k: int, value: str) -> str:
        css = ' class="n"' if k in right else ""
        inside = escaped(value) if plain else value
        return f'<th scope="row"{css}>{inside}</th>' if k == 0 else f"<td{css}>{inside}</td>"

    top = "".join(f'<th scope="col"{" class=n" if k in right else ""}>{name}</th>' for k, name in enumerate(head))
    body = "".join(f"<tr>{''.join(cell(k, value) for k, value in enumerate(row))}</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _details(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>{body}</details>"


def _kind(kind: str) -> str:
    return _KINDS.get(kind, kind)


def _label(at: datetime.datetime, step: str) -> str:
    if step == "hour":
        return f"{at:%d} {at:%H}h"
    return f"{at.year:04}-{at:%m}" if step == "month" else f"{at:%m}-{at:%d}"


def _day(at: str) -> str:
    return escaped(at[:10]) if moment(at) else "–"


def _minute(at: str) -> str:
    return escaped(at[:16].replace("T", " ")) if moment(at) else "no time"


def _n(value: float) -> str:
    return f"{value:,.0f}"


def _cents(micros: int) -> str:
    """A sum for a glance: cents from a dollar on, below that the two digits that say most."""
    return f"{micros / 1e6:,.2f}" if micros >= 1_000_000 or not micros else f"{micros / 1e6:.2g}"


def _ms(value: float | None) -> str:
    return "–" if value is None else milliseconds(value)


def _s(count: int, more: str = "s", one: str = "") -> str:
    return one if count == 1 else more


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0.0
    return f"{share:.2f} %" if share > 99 else f"{share:.1f} %"


def _list(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""
