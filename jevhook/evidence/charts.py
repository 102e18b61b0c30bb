"""Charts as SVG text: no script, no style of their own (the page's style sheet colours the classes), a title and a
description for those who do not see them.  Texts are given plain and escaped here.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..text.printable import visible

WIDTH, LEFT, RIGHT = 940.0, 46.0, 10.0  # as wide as the page, so that a unit is a pixel
HALF = 440.0


@dataclass(frozen=True)
class Series:
    """One colour of a stacked chart: ``css`` is its class, ``values`` one a column."""

    name: str
    css: str
    values: Sequence[float]


@dataclass(frozen=True)
class Dot:
    """One point of a reliability diagram: ``p`` said, ``share`` seen with its interval ``low`` to ``high``, of ``n``."""

    p: float
    share: float
    low: float
    high: float
    n: int


def escaped(value: object) -> str:
    """Any text as HTML: what would move, hide or turn other text is written out, and no mark-up survives."""
    return html.escape(visible(str(value)), quote=True)


def columns(name: str, title: str, described: str, labels: Sequence[str], series: Sequence[Series], unit: str) -> str:
    """Stacked columns, one for each of ``labels``, the first series at the bottom."""
    height, bottom, top = 190.0, 28.0, 10.0
    totals = [sum(one.values[k] for one in series) for k in range(len(labels))]
    most, step = _scale(max(totals, default=0))
    room = height - bottom - top
    each = (WIDTH - LEFT - RIGHT) / max(1, len(labels))
    parts = [_grid(most, step, height - bottom, room)]
    for k, label in enumerate(labels):
        at, said = height - bottom, [f"{one.name} {_short(one.values[k])}" for one in series if one.values[k]]
        bars = []
        for one in series:
            tall = one.values[k] / most * room
            if tall > 0:
                at -= tall
                bars.append(
                    f'<rect class="{one.css}" x="{LEFT + k * each + each * 0.12:.1f}" y="{at:.2f}" '
                    f'width="{each * 0.76:.1f}" height="{tall:.2f}"/>'
                )
        if bars:
            tip = escaped(f"{label}: {', '.join(said)} {unit}")
            parts.append(f"<g><title>{tip}</title>{''.join(bars)}</g>")
    every = max(1, math.ceil(len(labels) / 14))
    for k in range(0, len(labels), every):
        x = LEFT + (k + 0.5) * each
        parts.append(f'<text x="{x:.1f}" y="{height - 9:.0f}" text-anchor="middle">{escaped(labels[k])}</text>')
    return _svg(name, title, described, height, parts)


def histogram(
    name: str,
    title: str,
    described: str,
    classes: Sequence[tuple[float, float, int]],
    marks: Sequence[tuple[str, float]],
) -> str:
    """``classes`` are (from, to, count) in milliseconds, drawn on a logarithmic scale; ``marks`` name single values."""
    height, bottom, top = 210.0, 28.0, 48.0
    low, high = math.log10(classes[0][0]), math.log10(classes[-1][1])
    most, step = _scale(max(count for _, _, count in classes))
    room, width = height - bottom - top, HALF - LEFT - RIGHT

    def x(value: float) -> float:
        return LEFT + (math.log10(max(value, 1e-9)) - low) / max(high - low, 1e-9) * width

    parts = [_grid(most, step, height - bottom, room, HALF)]
    for begin, end, count in classes:
        if count:
            tall = max(count / most * room, 1)
            tip = escaped(f"{milliseconds(begin)} to {milliseconds(end)}: {count}")
            parts.append(
                f'<rect class="s-time" x="{x(begin) + 0.5:.1f}" y="{height - bottom - tall:.2f}" '
                f'width="{max(x(end) - x(begin) - 1, 1):.1f}" height="{tall:.2f}"><title>{tip}</title></rect>'
            )
    ticks = [times * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for times in (1, 2, 5)]
    free = 0.0
    for value in ticks:
        if low - 1e-9 <= math.log10(value) <= high + 1e-9 and x(value) >= free:
            free = x(value) + 46
            parts.append(
                f'<text x="{x(value):.1f}" y="{height - 9:.0f}" text-anchor="middle">{milliseconds(value)}</text>'
            )
    taken = [0.0, 0.0, 0.0]  # how far each row of labels is full
    for label, value in sorted(marks, key=lambda mark: mark[1]):
        here = min(max(x(value), LEFT), HALF - RIGHT)
        words = f"{label} {milliseconds(value)}"
        long = 6.6 * len(words) + 6
        left = here + long > HALF
        begin = here - long if left else here
        row = next((k for k, full in enumerate(taken) if begin >= full), 2)
        taken[row] = begin + long
        y = 11 + 14 * row
        parts.append(
            f'<line class="mark" x1="{here:.1f}" x2="{here:.1f}" y1="{y - 9}" y2="{height - bottom:.0f}"/>'
            f'<text class="strong" x="{here + (-4 if left else 4):.1f}" y="{y}" text-anchor="{"end" if left else "start"}">'
            f"{escaped(words)}</text>"
        )
    return _svg(name, title, described, height, parts, HALF)


def reliability(name: str, title: str, described: str, dots: Sequence[Dot]) -> str:
    """What was said against what came true; on the diagonal the two agree."""
    size, left, bottom, top = 260.0, 40.0, 36.0, 8.0
    room = size - left - bottom + 20

    def place(p: float, share: float) -> tuple[float, float]:
        return left + p * room, top + (1 - share) * room

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = place(share, share)
        parts.append(
            f'<line class="grid" x1="{left}" x2="{left + room}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>'
            f'<text x="{x:.1f}" y="{top + room + 15:.1f}" text-anchor="middle">{share:.0%}</text>'
        )
    (x0, y0), (x1, y1) = place(0, 0), place(1, 1)
    parts.append(f'<line class="ideal" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>')
    line = " ".join("{:.1f},{:.1f}".format(*place(dot.p, dot.share)) for dot in dots)
    parts.append(f'<polyline class="curve" points="{line}"/>')
    for dot in dots:
        x, y = place(dot.p, dot.share)
        (_, high), (_, low) = place(0, dot.high), place(0, dot.low)
        tip = escaped(f"said {dot.p:.0%}, seen {dot.share:.0%} of {dot.n} (between {dot.low:.0%} and {dot.high:.0%})")
        parts.append(
            f'<g><title>{tip}</title><line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{high:.1f}" y2="{low:.1f}"/>'
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{3 + 3 * min(1.0, dot.n / 50):.1f}"/></g>'
        )
    return _svg(name, title, described, top + room + bottom - 14, parts, left + room + 24)


def bar(share: float, css: str) -> str:
    """A small bar for a table's cell; the number stands beside it, so nobody needs it."""
    wide = max(0.0, min(1.0, share)) * 100
    return f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="{css}" width="{wide:.1f}" height="8"/></svg>'


def milliseconds(value: float) -> str:
    """A duration for people: 0.4 ms, 37 ms, 1.2 s, 3 min."""
    if value < 999.5:
        return f"{value:.0f} ms" if value >= 9.95 or value == int(value) else f"{value:.2g} ms"
    if value < 99_950:
        return f"{value / 1000:.3g} s"
    return f"{value / 60_000:.0f} min"


def _svg(name: str, title: str, described: str, height: float, parts: Sequence[str], width: float = WIDTH) -> str:
    return (
        f'<div class="plot"><svg class="chart" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{escaped(title)}</title>'
        f'<desc id="{name}-desc">{escaped(described)}</desc>{"".join(parts)}</svg></div>'
    )


def _grid(most: float, step: float, base: float, room: float, width: float = WIDTH) -> str:
    lines = []
    for k in range(round(most / step) + 1):
        y = base - k * step / most * room
        lines.append(
            f'<line class="grid" x1="{LEFT}" x2="{width - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_short(k * step)}</text>'
        )
    return "".join(lines)


def _scale(most: float) -> tuple[float, float]:
    """The top of an axis and the distance of its lines: three to five round steps."""
    if most <= 0:
        return 1.0, 1.0
    raw = most / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= raw)
    if most >= 4:
        step = max(1.0, round(step)) if step < 10 else step
    elif most == int(most):
        step = 1.0
    return step * math.ceil(most / step - 1e-9), step


def _short(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            return f"{value / (1000 if unit == 'k' else size):.3g}{unit}"
    return f"{value:.0f}" if value == int(value) else f"{value:.3g}"
