"""``jevhook replay``: what a policy would have decided about recorded events; nothing acted, nothing written."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import click

from .. import ledger
from ..evidence import history
from ..evidence.history import Met, NoSource, Past, Source
from ..evidence.read import STOPS, points_of
from ..evidence.rejudge import LET_RUN
from ..evidence.replay import Item, Plan, Replayed, replay
from ..jsonio import dumps
from ..policy import Policy, clean
from ..text.printable import printable
from .judging import bench, load_policy
from .ledger_filter import window

OWN = ("ledger", "claude", "codex")  # names of this user's own records
PER_GROUP = 3  # examples
RULES = 20  # shown


@click.command("replay")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("--json", "as_json", is_flag=True, help="One JSON line for each event, in order.")
@click.option("--policy", metavar="NAME|FILE", help="Judge under this policy instead of the one in force.")
@click.option("--against", metavar="NAME|FILE", help="Then under this one too, and say what it would change.")
@click.option("--judge", metavar="NAME", help="Ask this judge where no answer is on record. Else no call is made.")
@click.option("--home", metavar="DIR", type=click.Path(file_okay=False), help="The home directory the events speak of.")
@click.option("--since", metavar="TIME", help="Only events from then on: 30d, 12h, 2027-01-31, or an ISO time.")
@click.option("--until", metavar="TIME", help="Only events before then.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Processes. Default: one for each core.")
def replay_command(
    sources: tuple[str, ...],
    as_json: bool,
    policy: str | None,
    against: str | None,
    judge: str | None,
    home: str | None,
    since: str | None,
    until: str | None,
    jobs: int | None,
) -> None:
    """Say what would have been denied, asked, withheld or trimmed of recorded events, without acting.

    SOURCE is a file, a directory, a pattern such as 'sessions/**/*.jsonl', or - for stdin; what a file holds is told by
    its lines: a ledger, Claude Code's transcripts, Codex's rollouts, or hook events as JSONL (any host's; one wrapped as
    {"event": …} is a case of its own). The words ledger, claude and codex stand for your own records, and at a terminal
    they are what is read when no SOURCE is given; else stdin is.

    Events of one session are judged in order, with a session memory in a throwaway directory. Files are looked at as
    they are today. A judge's recorded answers are used again under the policy's thresholds; of a ledger without
    record_state the rules that spoke then are scored again. Nothing leaves this machine unless --judge names a judge
    that is elsewhere; what it is asked counts in the budget.

    With --json each line is {"index", "decision": none|ask|deny|withhold|trim, "point", "rule", "reason", "output"};
    "index" counts the events (of hook events, the lines that are not blank) from 0; "output" is what stdout would have
    been, parsed, or null for silence. "at" and "judge" (recorded, new or asked) are added for anything but hook events,
    and "against" with --against.

    \b
    jevhook replay                                   your own ledger, transcripts and rollouts
    jevhook replay claude --since 30d --against strict
    jevhook replay ~/.codex/sessions ledger --policy team.toml
    jevhook replay --policy strict --json events.jsonl > strict.jsonl
    """
    times = window(since, until)
    made = bench(policy, home, "")
    policies = [made.policy]
    if against is not None:
        policies.append(load_policy(against, ""))
    for chosen in policies if judge is not None else ():
        chosen.judge = _asking(chosen, judge or "")
    plan = Plan(tuple(policies), made.env, made.home, judge is not None, jobs or _cores())
    met = Met()
    sums = Sums(tuple(policies))
    with ExitStack() as stack:
        files = _files(sources, made.policy, stack)
        step = stack.enter_context(_progress(sum(one.size for one in files)))
        events = _events(files, met, step, stack, made.policy, times)
        try:
            for index, one in enumerate(replay(events, plan, lambda: met.bytes)):
                sums.add(one)
                if as_json:
                    click.echo(dumps(_line(index, one)))
        except BrokenProcessPool:
            raise click.ClickException("a process was killed (out of memory?): try --jobs 1") from None
    if not as_json:
        _show(sums, met)
    _complain(sums, met)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _asking(policy: Policy, name: str) -> dict[str, Any]:
    """The policy's ``[judge]`` table with ``name`` as its judge.  Raises UsageError for a name that nobody has."""
    from ..systemone import dialects
    from ..use.jev import judge_table, managed_judge

    known = {"mock", *dialects.MODULES, *(policy.judge.get("tier") or {})}
    named = name if name in known else dialects.named(name)
    if named not in known:
        raise click.UsageError(f"--judge: found {clean(name)!r}, allowed: {', '.join(sorted(known))}")
    if managed_judge(policy.judge, named):
        raise click.UsageError(f"--judge: the managed config names the judge, {clean(name)} can't replace it")
    return {**policy.judge, **judge_table(policy.judge, named)}


# -- what is read ----------------------------------------------------------------------------------------------------


@dataclass
class File:
    """One file to read: ``place`` is what it is called ("" for stdin), ``size`` in bytes as far as known."""

    place: str
    open: Callable[[], BinaryIO]
    named: bool = True
    size: int = 0
    form: str = ""
    own: bool = False


def _files(sources: tuple[str, ...], policy: Policy, stack: ExitStack) -> list[File]:
    """What the SOURCEs stand for.  Ledgers come last: of an event that is in a transcript too, that tells more."""
    wanted = sources or (OWN if sys.stdin.isatty() else ("-",))
    nothing: list[str] = []
    files: list[File] = []
    last: list[File] = []
    for name in wanted:
        if name == "-":
            files.append(File("", lambda: sys.stdin.buffer))
        elif name == "ledger":
            found = _own_ledger(policy, stack)
            nothing += [] if found else [ledger.path(os.environ, str(policy.ledger.get("path") or ""))]
            last += found
        else:
            paths = [name] if name not in OWN else _own(name)
            try:
                files += [_file(source) for source in history.find(paths)]
            except NoSource as wrong:
                if name not in OWN:
                    raise click.UsageError(f"SOURCE: {clean(str(wrong))}") from None
                nothing += paths
    if nothing and (sources or not (files or last)):
        click.echo(f"nothing recorded under {clean(', '.join(nothing))}", err=True)
    if len(files) + len(last) > 1:
        for file in files:
            file.form = history.form_of(file.place)
        files.sort(key=lambda file: file.form == "ledger")
    return files + last


def _own(name: str) -> list[str]:
    from ..hosts import installer

    below = {"claude": ("projects",), "codex": ("sessions", "archived_sessions")}[name]
    base = installer(name).directory(os.environ)
    paths = [os.path.join(base, part) for part in below]
    return [path for path in paths if os.path.isdir(path)] or paths[:1]


def _own_ledger(policy: Policy, stack: ExitStack) -> list[File]:
    files = []
    for part in ledger.open_parts(ledger.path(os.environ, str(policy.ledger.get("path") or ""))):
        stack.callback(part.file.close)
        file = part.file
        files.append(File(part.name, lambda file=file: file, True, part.size, "ledger", True))  # type: ignore[misc]
    return files


def _file(source: Source) -> File:
    try:
        size = os.path.getsize(source.path)
    except OSError:
        size = 0
    return File(source.path, lambda: history.open_file(source.path, source.named), source.named, size)


def _events(
    files: list[File],
    met: Met,
    step: Callable[[int], None],
    stack: ExitStack,
    policy: Policy,
    window: tuple[str, str],
) -> Iterator[Item]:
    """Each event of the time ``window`` with what a judge once answered about it; one that nobody dated is in any.

    Of an event in a transcript and in the ledger, or in two transcripts (a resumed session's), only the first counts.
    """
    from ..evidence.history.index import Index

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="jevhook-index-"))
    index = Index(os.path.join(folder, "index"))
    stack.callback(index.close)
    _index_ledgers(index, files, policy)
    for number, file in enumerate(files):
        try:
            source = file.open()
        except OSError as wrong:
            if len(files) == 1:
                raise click.UsageError(f"SOURCE: {clean(file.place)!r}: {wrong.strerror or wrong}") from None
            met.skip("a file that can't be opened", file.place)
            continue
        alone = len(files) == 1
        try:
            for past in history.read(source, "" if alone else file.place, met, named=file.named, progress=step):
                if past.at and (past.at < window[0] or (window[1] and past.at >= window[1])):
                    continue
                if not alone and not _is_hook_event(past) and index.again(past, number):
                    met.skip("the event is in another file too", past.where)
                    continue
                yield index.known(past)
        except OSError as wrong:
            met.skip(f"a file that can't be read on ({wrong.strerror or 'error'})", file.place)
        finally:
            if file.place and not file.own:
                source.close()


def _index_ledgers(index: Any, files: list[File], policy: Policy) -> None:
    """What one's own ledger, and ledgers among the files, tell of events in the others."""
    for part in ledger.open_parts(ledger.path(os.environ, str(policy.ledger.get("path") or ""))):
        with part.file as file:
            index.add(enumerate(file, 1))
    for one in files:
        if one.form == "ledger" and not one.own:
            try:
                with history.open_file(one.place) as file:
                    index.add(enumerate(file, 1))
            except OSError:
                continue


def _progress(total: int) -> Any:
    """A bar on stderr where a person looks; yields what takes the bytes of each step."""
    from contextlib import contextmanager

    @contextmanager
    def bar() -> Iterator[Callable[[int], None]]:
        if not sys.stderr.isatty() or total < 1 << 20:
            yield lambda _: None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as shown:
            task = shown.add_task("replaying", total=total)
            yield lambda step: shown.update(task, advance=step)

    return bar()


# -- what is said ----------------------------------------------------------------------------------------------------


def _line(index: int, one: Replayed) -> dict[str, Any]:
    line: dict[str, Any] = {"index": index, **one.told[0].said}
    if not _is_hook_event(one.past):
        line["at"] = printable(one.past.where)
        line["judge"] = one.told[0].judge or None
    if len(one.told) > 1:
        line["against"] = one.told[1].said
    return line


def _is_hook_event(past: Past) -> bool:
    return past.entry is None and past.requests is None


@dataclass
class Group:
    """Events that went the same way: how many, and a few of them as (place, what was called)."""

    count: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def add(self, one: Replayed) -> None:
        self.count += 1
        if one.example and len(self.examples) < PER_GROUP and one.example not in [text for _, text in self.examples]:
            self.examples.append((one.past.where, one.example))


class Sums:
    """What came of all events; bounded by the number of rules."""

    def __init__(self, policies: tuple[Policy, ...]) -> None:
        self.policies = policies
        self.decisions: Counter[str] = Counter()
        self.judge: Counter[str] = Counter()
        self.how: Counter[str] = Counter()
        self.rules: dict[tuple[str, str], Group] = {}
        self.changes: dict[tuple[str, str, str, str], Group] = {}
        self.same = 0
        self.then: dict[tuple[str, str, str, str], Group] = {}
        self.unread: dict[str, tuple[int, str]] = {}

    def add(self, one: Replayed) -> None:
        told = one.told[0]
        said = told.said
        decision = said["decision"]
        self.decisions[decision] += 1
        self.how[told.how] += 1
        if told.judge:
            self.judge[told.judge] += 1
        if told.how == "unread":
            if one.past.foreign:
                self._unread("of no known host", f"{one.past.where}: {one.past.trouble}")
            elif said["reason"].startswith("not read: "):
                self._unread("broken", f"{one.past.where}: {said['reason'][len('not read: ') :]}")
            else:
                self._unread("that could not be judged", f"{one.past.where}: {said['reason']}")
        if decision != "none":
            self.rules.setdefault((said["rule"] or said["point"] or "", decision), Group()).add(one)
        if len(one.told) > 1:
            self._compare(one)
        entry = one.past.entry
        if entry is not None:
            before = _decided(entry)
            if before != decision:
                rule = said["rule"] if decision != "none" else _rule_then(entry)
                self.then.setdefault(("", rule or "", before, decision), Group()).add(one)

    def _unread(self, why: str, where: str) -> None:
        count, first = self.unread.get(why, (0, where))
        self.unread[why] = count + 1, first

    def _compare(self, one: Replayed) -> None:
        old, new = one.told[0].said, one.told[1].said
        before, after = old["decision"], new["decision"]
        if before == after and (before == "none" or old["rule"] == new["rule"]):
            self.same += 1
            return
        kind = "newly stopped" if before == "none" else "newly let through" if after == "none" else "changed"
        rule = (new if after != "none" else old)["rule"] or (new if after != "none" else old)["point"] or ""
        self.changes.setdefault((kind, rule, before, after), Group()).add(one)


def _decided(entry: dict[str, Any]) -> str:
    """What the gate decided then, before it was turned into what the host can say."""
    said = str(entry.get("decided") or entry.get("decision") or "none")
    if said == "ask" and entry.get("told") == LET_RUN:
        return "none"
    return said if said in STOPS else "none"


def _rule_then(entry: dict[str, Any]) -> str:
    rules = [str(point["rule"]) for point in points_of(entry) if point.get("rule")]
    return rules[-1] if rules else ""


def _show(sums: Sums, met: Met) -> None:
    total = sums.decisions.total()
    tally = ", ".join(f"{n} {decision}" for decision, n in sorted(sums.decisions.items()))
    click.echo(f"{total} events: {tally or 'none'}")
    read = [
        f"{n} {_plural(history.TITLES[name], n)}" for name, n in sorted(met.files.items()) if name in history.TITLES
    ]
    if set(met.files) - {"hooks", "empty"}:
        click.echo(f"read: {', '.join(read)}; policy {clean(sums.policies[0].name)}")
    if sums.how["scored"]:
        click.echo(
            f"{sums.how['scored']} scored from what their ledger entry says: their calls were not recorded whole "
            "([ledger] record_state), so rules that are new can't be seen in them"
        )
    if sums.judge:
        words = {
            "recorded": "decided with recorded answers",
            "new": "would need a new call (shown as the rules decide)",
            "asked": "asked now",
        }
        click.echo("judge: " + ", ".join(f"{sums.judge[key]} {words[key]}" for key in words if sums.judge[key]))
    for (rule, decision), group in _most(sums.rules):
        click.echo(f"{group.count:6}  {rule}{'' if decision == _usual(sums, rule) else f' ({decision})'}")
        _examples(group)
    if sums.then:
        click.echo(f"{sum(group.count for group in sums.then.values())} decided otherwise than was recorded then:")
        _changes(sums.then)
    if len(sums.policies) > 1:
        kinds = Counter[str]()
        for key, group in sums.changes.items():
            kinds[key[0]] += group.count
        names = [clean(policy.name) for policy in sums.policies]
        said = ", ".join(f"{kinds[kind]} {kind}" for kind in ("newly stopped", "newly let through", "changed"))
        click.echo(f"from {names[0]} to {names[1]}: {said}, {sums.same} the same")
        for kind in ("newly stopped", "newly let through", "changed"):
            mine = {key: group for key, group in sums.changes.items() if key[0] == kind}
            if mine:
                click.echo(f"{kind}:")
                _changes(mine)


def _usual(sums: Sums, rule: str) -> str:
    """The strongest decision of a rule, which goes without saying."""
    return min((decision for name, decision in sums.rules if name == rule), key=STOPS.index)


def _most(groups: dict[Any, Group]) -> list[tuple[Any, Group]]:
    """The noisiest first."""
    return sorted(groups.items(), key=lambda item: (-item[1].count, item[0]))[:RULES]


def _changes(groups: dict[tuple[str, str, str, str], Group]) -> None:
    for (_, rule, before, after), group in _most(groups):
        click.echo(f"{group.count:6}  {rule}  {before} -> {after}")
        _examples(group)


def _examples(group: Group) -> None:
    for where, text in group.examples:
        click.echo(f"          {text}  [{printable(where)}]")


def _plural(word: str, count: int) -> str:
    return word if count == 1 or word.endswith("s") else f"{word}s"


def _complain(sums: Sums, met: Met) -> None:
    """What was skipped, each kind once, on stderr."""
    for why, (count, first) in sums.unread.items():
        click.echo(f"{count} {why}, the first on {printable(first)}", err=True)
    for why, count in met.skipped.items():
        click.echo(f"{count} skipped ({why}), the first {printable(met.first[why])}", err=True)
