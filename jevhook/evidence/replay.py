"""Many events of the past through one policy or two, on all cores, in order, in bounded memory.

The events of one session go to one process, in their order, so that each process holds that session's memory; the
answers come back in the order of the events.  A window of events is in work while the next is read.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from ..policy import Policy
from ..text.printable import printable
from ..text.redact import redact
from .bench import Bench
from .history import Past
from .read import points_of
from .rejudge import Points, Rejudge, Told

WINDOW = 1024  # events
HEAVY = 6 << 20  # bytes read, after which a window is closed before it is full
ALONE = 256  # events that are not worth starting processes for
AHEAD = 8  # windows in work
MOST_SESSIONS = 1 << 16  # whose process is remembered; of one that comes back later the memory is lost
EXAMPLES = 5  # of one rule, from one process
_NAMED_BY = ("command", "file_path", "path", "notebook_path", "url", "query", "pattern", "prompt", "message")

Item = tuple[Past, Points | None]
Answer = tuple[tuple[Told, ...], str]
Parts = list[tuple[list[int], Future[list[Answer]]]]


@dataclass(frozen=True)
class Plan:
    """``policies``: one, or the one compared with and the other.  ``env`` and ``home`` are those the events speak of."""

    policies: tuple[Policy, ...]
    env: Mapping[str, str]
    home: str
    asking: bool = False
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Replayed:
    """One event, what each policy says, and what was called in a few words ("" where nothing is to be shown)."""

    past: Past
    told: tuple[Told, ...]
    example: str


class Process:
    """What one process works with."""

    def __init__(self, plan: Plan, folder: str) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 6000))  # as the hook does: the same line, the same verdict
        self.sides = []
        for number, policy in enumerate(plan.policies):
            memory = os.path.join(folder, str(number))
            os.makedirs(memory, mode=0o700)
            self.sides.append(Rejudge(Bench(policy, plan.env, plan.home), memory, plan.asking))
        self.env = plan.env
        self.shown: Counter[tuple[Any, ...]] = Counter()

    def work(self, items: list[Item]) -> list[Answer]:
        return [self.one(past, recorded) for past, recorded in items]

    def one(self, past: Past, recorded: Points | None) -> Answer:
        told = tuple(side.judge(past, recorded) for side in self.sides)
        if all(one.said["decision"] == "none" for one in told):
            return told, ""
        what = tuple((one.said["decision"], one.said["rule"]) for one in told)
        self.shown[what] += 1
        return told, example(past, self.env) if self.shown[what] <= EXAMPLES else ""


def example(past: Past, env: Mapping[str, str]) -> str:
    """What was called, on one line: redacted before it is cut, nothing in it moves a terminal."""
    payload = past.payload or {}
    given = payload.get("tool_input")
    tool = str(payload.get("tool_name") or "")
    if isinstance(given, dict):
        named = next((str(given[key]) for key in _NAMED_BY if isinstance(given.get(key), str) and given[key]), "")
        text = named if tool in ("Bash", "") else f"{tool} {named}"
    else:
        text = _recorded(past.entry or {})
    shown = printable(redact(text[:4000], env)).replace("\n", " ⏎ ").strip()
    return shown if len(shown) <= 160 else shown[:159] + "…"


def _recorded(entry: Mapping[str, Any]) -> str:
    """The tool and what it was about to do, of an entry without the call."""
    subject = entry.get("subject")
    text = str(subject.get("tool") or "") if isinstance(subject, dict) else ""
    for point in points_of(entry):
        findings = point.get("findings")
        for found in findings if isinstance(findings, list) else ():
            if isinstance(found, dict) and found.get("effect"):
                return f"{text}: {found['effect']} {found.get('path') or found.get('target') or ''}"
    return f"{text} (not recorded)"


def replay(items: Iterable[Item], plan: Plan, weigh: Callable[[], int] = lambda: 0) -> Iterator[Replayed]:
    """Each event with its answer, in order.  ``weigh`` says how many bytes have been read so far.

    Raises ``concurrent.futures.process.BrokenProcessPool`` when a process is killed.
    """
    with tempfile.TemporaryDirectory(prefix="jevhook-replay-") as folder:
        windows = _windows(items, weigh)
        first = next(windows, [])
        if plan.jobs < 2 or len(first) <= ALONE:
            here = Process(plan, os.path.join(folder, "here"))
            while first:
                yield from (Replayed(past, *here.one(past, recorded)) for past, recorded in first)
                first = next(windows, [])
            return
        pools = [
            ProcessPoolExecutor(
                1, get_context("spawn"), initializer=_start, initargs=(plan, os.path.join(folder, str(number)))
            )
            for number in range(plan.jobs)
        ]
        shares = _Shares(plan.jobs)
        try:
            ahead: deque[tuple[list[Item], Parts]] = deque()
            while first or ahead:
                while first and len(ahead) < AHEAD:
                    ahead.append((first, _hand_out(first, pools, shares)))
                    first = next(windows, [])
                window, parts = ahead.popleft()
                answers: list[Answer | None] = [None] * len(window)
                for places, future in parts:
                    for place, answer in zip(places, future.result(), strict=True):
                        answers[place] = answer
                for (past, _), found in zip(window, answers, strict=True):
                    if found is not None:
                        yield Replayed(past, *found)
        finally:
            for pool in pools:
                pool.shutdown(cancel_futures=True)


def _windows(items: Iterable[Item], weigh: Callable[[], int]) -> Iterator[list[Item]]:
    window: list[Item] = []
    began = weigh()
    for item in items:
        window.append(item)
        if len(window) >= WINDOW or weigh() - began > HEAVY:
            yield window
            window, began = [], weigh()
    if window:
        yield window


class _Shares:
    """Which process has which session: the one with the least to do until then when it comes up, and that one ever after.

    A hash of the session's name would leave a process without work while another has all the sessions of a window.
    """

    def __init__(self, processes: int) -> None:
        self.given = [0] * processes
        self.of: OrderedDict[tuple[str, str], int] = OrderedDict()

    def take(self, past: Past) -> int:
        least = self.given.index(min(self.given))
        share = least
        if past.session and not past.alone:
            session = (past.host, past.session)
            share = self.of.pop(session, least)
            self.of[session] = share
            if len(self.of) > MOST_SESSIONS:
                self.of.popitem(last=False)
        self.given[share] += 1
        return share


def _hand_out(window: list[Item], pools: list[ProcessPoolExecutor], shares: _Shares) -> Parts:
    places: list[list[int]] = [[] for _ in pools]
    for place, (past, _) in enumerate(window):
        places[shares.take(past)].append(place)
    return [
        (mine, pool.submit(_work, [window[place] for place in mine]))
        for mine, pool in zip(places, pools, strict=True)
        if mine
    ]


_here: Process | None = None


def _start(plan: Plan, folder: str) -> None:
    global _here
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    gc.set_threshold(50_000)
    _here = Process(plan, folder)


def _work(items: list[Item]) -> list[Answer]:
    assert _here is not None
    return _here.work(items)
