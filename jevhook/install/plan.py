"""What an install or an uninstall would change: worked out first, shown, then done."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import secrets
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .. import __version__, config, ledger
from . import entries, files, jsontext, receipts
from .entries import Entry
from .files import Change, Found, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..hosts import Installer

MAIN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "__main__.py")
SHORTEST = 60.0  # seconds; an entry of ours with a shorter timeout is mended, because the host lets the call through
_UNHELPFUL = ("async", "asyncRewake", "if", "args", "once", "shell")  # each can keep a hook from being heard


@dataclass
class Plan:
    """``changes`` in the order in which they are made; ``adds``: nothing of ours was there, so nothing is weakened.

    ``befores`` are the bytes an uninstall will put back, one for each of ``paths``.
    """

    host: Installer
    record: dict[str, Any]
    changes: list[Change] = field(default_factory=list)
    befores: list[bytes | None] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    adds: bool = True


def interpreter(python: str = "") -> str:
    """The absolute path of this Python.  Raises Refused when there is none to be named."""
    found = python or sys.executable
    if not found or not os.path.isabs(found) or not os.access(found, os.X_OK):
        raise Refused("this Python does not know its own path, so no command can be registered")
    return found


def command(python: str, host: str, ident: str, policy: str = "", resident: str = "") -> str:
    """The command line of an entry, in the form that starts quickest (``jevhook/__main__.py``).

    -I: a repository can set a host's environment, PYTHONPATH among it.  ``resident``: the warm process's folder, which
    counts only while the person has it on.
    """
    line = [python, "-I", "-S", MAIN, "hook", "--host", host]
    line += ["--policy", policy] if policy else []
    line += ["--resident", resident] if resident else []
    return shlex.join([*line, "--id", ident])


def warm_folder() -> str:
    """Where this account's warm process would listen (``jevhook resident``), "" without a home."""
    home = config.account_home()
    return os.path.join(home, ".local", "state", "jevhook", "resident") if home else ""


def events(host: Installer, points: list[str] | None) -> list[tuple[str, str]]:
    """(event, matcher) of what ``points`` need; None: all that the host registers."""
    if points is None:
        return list(host.REGISTER)
    import importlib

    from ..event import Event
    from ..hosts import MODULES
    from ..points import MODULES as POINTS

    kinds = importlib.import_module(MODULES[host.NAME]).KINDS
    judged = [importlib.import_module(POINTS[name]) for name in points]
    return [
        (name, matcher)
        for name, matcher in host.REGISTER
        if any(point.applies(Event(host.NAME, kinds[name], name, tool="Bash", result="x")) for point in judged)
    ]


def install(
    host: Installer,
    env: Mapping[str, str],
    *,
    path: str = "",
    points: list[str] | None = None,
    fail_closed: bool = False,
    trusted: bool = True,
    python: str = "",
) -> Plan:
    """The plan to register the hook in ``path`` (the user's own settings).  Raises Refused where nothing can be done."""
    if not host.directory(env):
        raise Refused("there is no home directory")
    path = path or host.settings(env)
    found = files.look(path, shared=path == host.MANAGED)
    files.may_write(found)
    text = found.text()
    blank = not text.strip()
    document = _document(host, found, text)
    wanted = dict(events(host, points))
    there = entries.mine(document)
    resident = "" if path == host.MANAGED else warm_folder()  # that one is every user's own
    line = command(interpreter(python), host.NAME, _ident(there), _policy(there), resident)
    before = found.data
    if there:  # put in by hand, or by an earlier install: an uninstall takes that out as well
        before = _without(text, None).encode()
    old = receipts.load(dict(env), host.NAME, path)
    made: list[str] = []
    if old:
        made = list(old["files"][0].get("made", []))
        if old["files"][0].get("after") == files.digest(found.data) and receipts.readable(dict(env), old["files"][0]):
            before = receipts.before(dict(env), old["files"][0])
        elif old["files"][0].get("before") is None and json.loads(before or b"{}") == {}:
            before = None
    after = _entered(host, "{}" if blank else text, wanted, line, fail_closed)
    if blank:
        after += "\n"
    record = {
        "schema": 1, "host": host.NAME, "path": path, "command": line, "events": list(wanted),
        "points": points, "version": __version__, "at": ledger.now_iso(), "mcp": bool(old and old.get("mcp")),
        "trusted": list(old.get("trusted", [])) if old else [],
        "files": [{"path": path, "after": files.digest(after.encode()), "made": made}],
    }  # fmt: skip
    plan = Plan(host, record, befores=[before], notes=list(found.notes), adds=not there)
    if after.encode() != found.data:
        plan.changes.append(Change(found, after.encode(), made))
    _trust(plan, host, env, path, after, old, trusted)
    return plan


def _trust(
    plan: Plan, host: Installer, env: Mapping[str, str], path: str, after: str, old: dict[str, Any] | None, wanted: bool
) -> None:
    """Add what makes the host run the entries, where it is ``wanted`` and not there."""
    kept = next((entry for entry in (old or {}).get("files", [])[1:]), None)
    given = host.trust(env, path, after) if wanted else None
    if given is None:
        if old and kept and receipts.readable(dict(env), kept):
            plan.record["files"].append({name: kept[name] for name in ("path", "after", "made")})
            plan.befores.append(receipts.before(dict(env), kept))
        return
    found, text, keys = given
    files.may_write(found)
    before = found.data
    if old and kept:
        if kept.get("after") == files.digest(found.data) and receipts.readable(dict(env), kept):
            before = receipts.before(dict(env), kept)
        elif (cleaned := host.untrust(env, path, "", plan.record["trusted"])) is not None:
            before = cleaned[1].encode()
    made: list[str] = list(kept.get("made", [])) if kept else []
    plan.record["trusted"] = sorted({*plan.record["trusted"], *keys})
    plan.record["files"].append({"path": found.path, "after": files.digest(text.encode()), "made": made})
    plan.befores.append(before)
    plan.changes.append(Change(found, text.encode(), made))
    plan.notes += found.notes


def uninstall(host: Installer, env: Mapping[str, str], path: str = "") -> Plan:
    """The plan to take the hook out of ``path`` (the user's own settings).

    Every file as it was before, where nobody changed it since and the backup is there; else without our entries.
    """
    if not host.directory(env):
        raise Refused("there is no home directory")
    path = path or host.settings(env)
    old = receipts.load(dict(env), host.NAME, path)
    plan = Plan(host, old or {"host": host.NAME, "path": path, "files": []}, adds=False)
    found = files.look(path)
    plan.notes += found.notes
    first = old["files"][0] if old else {}
    kept, was = _kept(plan, env, first)
    text = found.text()
    after: bytes | None = found.data
    if kept and found.data is not None and first.get("after") == files.digest(found.data):
        after = was
    elif found.data is not None and text.strip():
        document = _document(host, found, text, whole=False)
        there = entries.mine(document)
        if there:
            after = _without(text, json.loads(was) if was and was.strip() else {}).encode()
            if kept and was is None and json.loads(after) == {}:
                after = None
            if old and old.get("trusted") and _moves(document, there):
                plan.notes.append(
                    f"hooks of others behind ours move up one place: {host.TITLE} will ask you to review them again"
                )
    if after != found.data:
        files.may_write(found)
        plan.changes.append(Change(found, after, list(first.get("made", []))))
    beside = [entry for entry in plan.record["files"][1:] if os.path.dirname(entry["path"]) == host.directory(env)]
    for entry in beside:
        _restore(plan, host, env, path, text, entry)
    if not beside and (given := host.untrust(env, path, text, [])) is not None:
        files.may_write(given[0])
        plan.changes.append(Change(given[0], given[1].encode()))
    return plan


def _kept(plan: Plan, env: Mapping[str, str], entry: dict[str, Any]) -> tuple[bool, bytes | None]:
    """(whether it is known what a file was before, what it was): False without a record, or with its backup gone."""
    if not entry:
        return False, None
    try:
        return True, receipts.before(dict(env), entry)
    except Refused as wrong:
        plan.notes.append(f"{wrong}: our entries are taken out of the file as it is")
        return False, None


def _restore(plan: Plan, host: Installer, env: Mapping[str, str], path: str, text: str, entry: dict[str, Any]) -> None:
    """The file beside the settings (Codex's trust)."""
    found = files.look(entry["path"])
    kept, was = _kept(plan, env, entry)
    after: bytes | None
    if kept and entry.get("after") == files.digest(found.data):
        after = was
    else:
        given = host.untrust(env, path, text, list(plan.record.get("trusted", [])))
        after = given[1].encode() if given and given[0].path == found.path else found.data
        if kept and was is None and not (after or b"").strip():
            after = None
    if after != found.data:
        files.may_write(found)
        plan.changes.append(Change(found, after, list(entry.get("made", []))))


def carry_out(plan: Plan, env: Mapping[str, str]) -> list[str]:
    """Write the receipt, then the files; the backups' paths.

    Raises Refused, OSError: then the files and the receipt are as they were, but for a file that somebody else changed
    meanwhile, which stays as they left it.
    """
    where = receipts.folder(dict(env))
    ledger.make_private(where)
    with files.turn(where):  # of two installs at once the second finds the settings changed, and writes no receipt
        old = receipts.load(dict(env), plan.host.NAME, plan.record["path"])
        whole = old is not None and all(receipts.readable(dict(env), entry) for entry in old["files"])
        was = [receipts.before(dict(env), entry) for entry in old["files"]] if old and whole else []
        try:
            for change in plan.changes:
                files.unchanged(change.before)
            kept = receipts.save(dict(env), plan.record, plan.befores)
            _write_all(plan.changes)
        except BaseException:  # Ctrl-C too
            with contextlib.suppress(OSError):  # what went wrong first is what the person has to hear
                if old is None:
                    receipts.forget(dict(env), plan.record)
                elif whole:
                    receipts.save(dict(env), old, was)
            raise
        made = {change.before.path: change.made for change in plan.changes}  # known only now
        for entry in plan.record["files"]:
            entry["made"] = made.get(entry["path"], entry.get("made", []))
        with contextlib.suppress(OSError):  # installed it is, with a receipt; an uninstall may leave an empty directory
            receipts.save(dict(env), plan.record, plan.befores)
    return [name for name in kept if name]


def _write_all(changes: list[Change]) -> None:
    """All of them or none.  Raises Refused, OSError."""
    for number, change in enumerate(changes):
        try:
            files.write(change)
        except BaseException:
            for done in reversed(changes[:number]):
                with contextlib.suppress(Refused):  # the host has saved its settings since: those are not ours to lose
                    files.write(Change(replace(done.before, data=done.after), done.before.data))
            raise


def undo(plan: Plan, env: Mapping[str, str]) -> None:
    """Carry out an uninstall: the files, the directories that the install made and that are empty, the receipt."""
    folders: list[str] = []
    for change in plan.changes:
        files.write(change)
        if change.after is None:
            folders += change.made
    for folder in sorted(folders, key=len, reverse=True):
        try:
            os.rmdir(folder)
        except OSError:
            break
    receipts.forget(dict(env), plan.record)


def diff(change: Change) -> list[str]:
    """The change as a unified diff, without secrets and without what moves a terminal."""
    from ..policy import clean
    from ..text.redact import redact

    before = (change.before.data or b"").decode("utf-8", "replace")
    after = (change.after or b"").decode("utf-8", "replace")
    name = change.before.real
    old = name if change.before.data is not None else "/dev/null"
    new = name if change.after is not None else "/dev/null"
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")
    return [clean(redact(line.expandtabs(4))) for line in lines]


def _document(host: Installer, found: Found, text: str, whole: bool = True) -> Any:
    """The settings as JSON values.  Raises Refused for what the host would not read: that is for the person to mend.

    ``whole``: what is JSON and still of no use to the host counts too.
    """
    if not text.strip():
        return {}
    if text.startswith("\ufeff") and not host.BOM:
        raise Refused(f"{found.path} starts with a byte order mark: {host.TITLE} reads none of the file. Mend it first")
    try:
        root = jsontext.read(text)
        hooks = root.get("hooks") if root.kind == "object" else None
        for key, _, _ in hooks.members if hooks else ():
            assert hooks is not None
            hooks.get(key)
    except ValueError as wrong:
        raise Refused(f"{found.path}: {wrong}. {host.TITLE} would not read it as it stands: mend it first") from None
    document = root.plain()
    wrong_shape = (entries.shape(document) or host.drops(document)) if whole else ""
    if wrong_shape:
        raise Refused(f"{found.path}: {wrong_shape}. {host.TITLE} reads none of the file: mend it first")
    return document


def _entered(host: Installer, text: str, wanted: dict[str, str], line: str, fail_closed: bool) -> str:
    """``text`` with exactly one entry of ours for each wanted event."""
    for _ in range(100):  # one edit a turn: every edit moves the places of what comes after it
        step = _step(host, text, wanted, line, fail_closed)
        if step is None:
            return text
        text = step
    raise Refused("there are more than a hundred entries of jevhook in the file")


def _step(host: Installer, text: str, wanted: dict[str, str], line: str, fail_closed: bool) -> str | None:
    seen: set[str] = set()
    for entry in entries.mine(jsontext.read(text).plain()):
        if entry.event not in wanted or entry.event in seen:
            return entries.take(text, entry)
        seen.add(entry.event)
        right = host.handler(entry.event, line, fail_closed)
        kept = {name: value for name, value in entry.fields.items() if name not in _UNHELPFUL}
        if _short(kept.get("timeout", SHORTEST)):
            del kept["timeout"]
        if "onFailure" not in right and kept.get("onFailure") == "block" and not fail_closed:
            del kept["onFailure"]
        fields = {**kept, **right}
        matcher = wanted[entry.event]
        covered = entry.matcher in (None, "", "*", matcher)
        if fields != entry.fields or (not covered and entry.alone):
            return entries.mend(text, entry, entry.matcher if covered else matcher, fields)
        if not covered:  # another hook shares its group, whose matcher is not ours to change
            return entries.take(text, entry)
    for event, matcher in wanted.items():
        if event not in seen:
            return entries.put(text, event, matcher, host.handler(event, line, fail_closed))
    return None


def _short(timeout: Any) -> bool:
    return not isinstance(timeout, (int, float)) or timeout < SHORTEST


def _without(text: str, was: Any) -> str:
    """``text`` without our entries; lists and tables that are left empty go too, but for those that ``was`` had."""
    hooks = was.get("hooks") if isinstance(was, dict) else None
    keep = {"hooks", *hooks} if isinstance(hooks, dict) else set()
    while there := entries.mine(jsontext.read(text).plain()):
        text = entries.take(text, there[-1], keep)
    return text


def _moves(document: Any, there: list[Entry]) -> bool:
    ours = {(entry.event, entry.group) for entry in there if entry.alone}
    others = [e for e in entries.table(document) if (e.event, e.group) not in ours]
    return any(e.event == event and e.group > group for e in others for event, group in ours)


def _ident(there: list[Entry]) -> str:
    """The id that is there already if nobody can guess it, else a new one."""
    for entry in there:
        found = entries.option(entry.command, "--id")
        if len(found) >= 12 and found.isalnum():
            return found
    return secrets.token_hex(8)


def _policy(there: list[Entry]) -> str:
    return next((entries.option(entry.command, "--policy") for entry in there), "")
