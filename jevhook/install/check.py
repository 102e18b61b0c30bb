"""Whether a host's guard is really on: its settings read as the host reads them, and the installed command line run."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import config, ledger
from ..hook import CROWDED, GRACE
from . import entries, files, jsontext, plan, receipts
from .entries import Entry, Trouble
from .files import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..hosts import Installer
    from ..policy import Policy

SESSION = "jevhook-doctor"  # hook.py: lines of this session have the origin "doctor" and are nobody's work
BARE_PATH = "/usr/bin:/bin"  # a host may start hooks with no more than this
DANGEROUS = 'find "$HOME" -delete'  # only ever words on stdin
HARMLESS = "ls"
RUNS = 5  # of the harmless event, for the time
MARGIN = 2.0  # seconds over the hook's own watchdog
_TAIL = 256 << 10
_FLAGS = ("-I", "-S", "-s", "-E", "-P", "-B")


@dataclass
class Guard:
    """What is known of one host.

    ``state``  on; watching (it judges, but its policy stops nothing); off (it is registered, and stops nothing); none
               (it is not registered); absent (the host has no settings here either)
    ``path``   the settings file with our entries, "" for none; ``command`` their command line
    ``ms``     median of a harmless event, whole process; 0 when it was not run
    """

    host: str
    title: str
    state: str = "none"
    path: str = ""
    command: str = ""
    version: str = ""
    tested: bool = True
    expected: bool = False
    ms: float = 0.0
    troubles: list[Trouble] = field(default_factory=list)

    def off(self, text: str, mend: str = "") -> None:
        """Note why it is off."""
        self.troubles.append(Trouble("off", text, mend))

    def warn(self, text: str) -> None:
        """Note what a person should know."""
        self.troubles.append(Trouble("warn", text))


@dataclass(frozen=True)
class Surroundings:
    """``root`` is the work tree of ``cwd``, "" for none; ``off`` why the gate is switched off, "" when it is on."""

    env: Mapping[str, str]
    cwd: str
    root: str
    policy: Policy
    off: str = ""


def examine(host: Installer, binary: str, here: Surroundings) -> Guard:
    """The host's guard for sessions in ``here.cwd``.  Starts the installed command line, and ``binary`` (the host's
    own program, "" for none) for its version and what it says of its hooks; all bounded in time."""
    guard = Guard(host.NAME, host.TITLE)
    env = dict(here.env)
    kept = [record["path"] for record in receipts.every(env) if record["host"] == host.NAME]
    places = [path for path in (host.MANAGED, host.settings(env)) if path] if host.directory(env) else []
    if not places or not (kept or os.path.isdir(host.directory(env)) or os.path.lexists(host.MANAGED or places[0])):
        guard.state = "absent"
        return guard
    guard.version = version(binary, env)
    guard.tested = not guard.version or guard.version in host.TESTED
    if here.root and (own := host.settings(env, here.root)) in kept:
        places.append(own)  # a project's file counts only where this user's own install wrote it
    guard.expected = any(path in places for path in kept)
    for path in places:
        found, wrong = _mine(host, path)
        if wrong and (path in kept or path == host.settings(env)):
            if path in kept:
                guard.path = guard.path or path
                guard.off(wrong)
            else:
                guard.warn(wrong)
        if found:
            trial = Guard(host.NAME, host.TITLE, path=path, command=found[0].command)
            _entry(host, binary, here, trial, found)
            guard.expected = True
            if not guard.command or trial.state in ("on", "watching"):
                guard.path, guard.command, guard.state, guard.ms = path, trial.command, trial.state, trial.ms
                guard.troubles = [*trial.troubles, *(each for each in guard.troubles if each.level == "warn")]
            if trial.state in ("on", "watching"):
                break
    if guard.expected and not guard.command:
        guard.state = "off"
        if not _stopped(guard):
            guard.path = next((path for path in kept if path in places), guard.path)
            guard.off(f"the hook was installed in {guard.path} and is not there any more", "install")
    return guard


def _mine(host: Installer, path: str) -> tuple[list[Entry], str]:
    """(our entries in the file, why the host reads none of it)."""
    try:
        found = files.look(path)
        text = found.text()
        if not text.strip():
            return [], ""
        if text.startswith("\ufeff") and not host.BOM:
            return [], f"{path} starts with a byte order mark: {host.TITLE} reads none of it"
        document = jsontext.read(text).plain()
    except (Refused, ValueError) as wrong:
        said = str(wrong)
        return [], f"{path}: {said}: {host.TITLE} reads none of it" if path not in said else said
    wrong_shape = entries.shape(document) or host.drops(document)
    return (
        ([], f"{path}: {wrong_shape}: {host.TITLE} reads none of it") if wrong_shape else (entries.mine(document), "")
    )


def _entry(host: Installer, binary: str, here: Surroundings, guard: Guard, found: list[Entry]) -> None:
    before = [entry for entry in found if entry.event == host.REGISTER[0][0]]
    wanted = _events(here, host, guard.path)
    for event, _ in host.REGISTER:
        if event in wanted and not any(entry.event == event for entry in found):
            note = guard.off if event == host.REGISTER[0][0] else guard.warn
            note(f"{guard.path} has no entry of jevhook for {event}: run jevhook install {host.NAME}")
    for entry in found:
        _fields(host, here, guard, entry)
    guard.troubles += host.elsewhere(
        here.env, guard.path, sorted({entry.command for entry in found}), here.cwd, here.root, binary
    )
    if here.off:
        guard.off(here.off)
    guard.command = (before or found)[0].command
    why = untried(guard.command, guard.path, host)
    if why:
        guard.off(why, "install")
    watching = not _stopped(guard) and _probe(host, here, guard)
    guard.state = "off" if _stopped(guard) else "watching" if watching else "on"


def _stopped(guard: Guard) -> bool:
    return any(trouble.level == "off" for trouble in guard.troubles)


def _events(here: Surroundings, host: Installer, path: str) -> list[str]:
    record = receipts.load(dict(here.env), host.NAME, path)
    events = record.get("events") if record else None
    return events if isinstance(events, list) else [event for event, _ in host.REGISTER]


def _fields(host: Installer, here: Surroundings, guard: Guard, entry: Entry) -> None:
    where = f"the {entry.event} entry in {guard.path}"
    if not host.covers(entry.matcher, "Bash"):
        guard.off(f"{where} does not cover Bash: its matcher is {json.dumps(entry.matcher)}", "install")
    elif not host.covers(entry.matcher, "mcp__x__y"):
        guard.warn(f"{where} does not cover every tool: its matcher is {json.dumps(entry.matcher)}")
    for name in ("async", "asyncRewake"):
        if entry.fields.get(name):
            guard.off(f"{where} says {name}: the host does not wait for an answer", "install")
    if "if" in entry.fields:
        guard.off(f"{where} has an if: calls that it does not match are not judged", "install")
    if "args" in entry.fields:
        guard.off(f"{where} has args: the command line is taken for the name of a program", "install")
    timeout = entry.fields.get("timeout", host.DEFAULT_TIMEOUT)
    if timeout < 2:
        guard.off(f"{where} has a timeout of {timeout:g} s: the host lets the call through after that", "install")
    elif timeout < (longest := here.policy.watchdog * CROWDED + GRACE):
        guard.warn(
            f"{where} has a timeout of {timeout:g} s, on a busy machine the hook may take {longest:g}: leave the timeout out"
        )
    if entry.event == host.REGISTER[0][0] and len(entries.option(entry.command, "--id")) < 8:
        guard.warn(f"{where} can be guessed, so a repository can replace it: run jevhook install {host.NAME}")


def _probe(host: Installer, here: Surroundings, guard: Guard) -> bool:
    """Run the command line on a dangerous and a harmless event; whether it only watches."""
    call = f"doctor-{secrets.token_hex(6)}"
    answer = _run(host, here, guard.command, host.event(DANGEROUS, here.cwd, SESSION, call))
    if answer is None:
        guard.off(f"the command line gave no answer within {here.policy.watchdog + MARGIN:g} s")
        return False
    code, stdout, stderr, _ = answer
    line = _line(here, call)
    watching = here.policy.mode("tool.risk") == "shadow"
    if line is None:
        guard.warn("what the command line did is not in the ledger")
    for said in (line or {}).get("warnings", []):
        guard.warn(f"the hook says: {said}")
    if not (host.denied(stdout) or (code == 2 and stderr.strip())):
        if watching and line is not None and code == 0:
            pass
        else:
            said = f": {stderr.strip().splitlines()[-1][:200]}" if stderr.strip() else ""
            reason = str((line or {}).get("reason", ""))
            noted = f" (the ledger says {reason})" if reason else ""
            guard.off(f"a dangerous call was not stopped: exit {code}, {len(stdout)} bytes on stdout{noted}{said}")
            return False
    times = []
    for _ in range(RUNS):
        answer = _run(host, here, guard.command, host.event(HARMLESS, here.cwd, SESSION, f"{call}-harmless"))
        if answer is None or answer[0] or answer[1].strip():
            guard.warn(f"a harmless call ({HARMLESS}) was not let through in silence")
            break
        times.append(answer[3])
    guard.ms = round(statistics.median(times) * 1000, 1) if times else 0.0
    return watching


def untried(command: str, path: str, host: Installer) -> str:
    """Why the command line must not be started here; "" when it may.

    An agent may run the doctor, and say with CLAUDE_CONFIG_DIR or HOME whose settings it reads: no word of a file that
    the gate does not guard may become a process.  What is plainly this very installation can be started from anywhere;
    another one only from the account's own settings, which no agent may write.
    """
    words = entries.words(command)
    if shlex.join(words) != command:
        return "the command line is more than jevhook's own: it was not tried"
    at = words.index("hook")
    program, main = words[0], words[at - 1]
    if not os.path.isabs(program):
        return (
            f"{program} is no absolute path: a host may start hooks with a bare PATH. Run jevhook install {host.NAME}"
        )
    for file in (program, main) if main.endswith("/jevhook/__main__.py") else (program,):
        if not os.access(file, os.R_OK):
            return f"{file} is not there any more: run jevhook install {host.NAME}"
    module = words[at - 2 : at] == ["-m", "jevhook"]
    flags = words[1 : at - 2] if module else words[1 : at - 1]
    if not (at == 1 or ((module or main.endswith("/jevhook/__main__.py")) and all(flag in _FLAGS for flag in flags))):
        return "the command line is more than jevhook's own: it was not tried"
    if at > 1 and "-I" not in flags:
        return f"the command line has no -I, so PYTHONPATH can switch it off: run jevhook install {host.NAME}"
    same = _folder(program) == _folder(sys.executable)
    if same and (at == 1 or module or os.path.realpath(main) == os.path.realpath(plan.MAIN)):
        return ""
    own = host.settings({"HOME": config.account_home()})
    if path in (own, host.MANAGED):
        return ""
    return f"it starts another jevhook ({program}) from settings that only the environment names: it was not tried"


def _folder(program: str) -> str:
    return os.path.realpath(os.path.dirname(program))


def _run(
    host: Installer, here: Surroundings, command: str, event: dict[str, Any]
) -> tuple[int, str, str, float] | None:
    """(exit code, stdout, stderr, seconds) of the command line as the host starts it, but with a bare PATH."""
    started = time.monotonic()
    process = subprocess.Popen(
        [*host.SHELL, command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        env={**here.env, "PATH": BARE_PATH}, cwd=here.cwd or "/", start_new_session=True,
    )  # fmt: skip
    try:
        stdout, stderr = process.communicate(json.dumps(event) + "\n", timeout=here.policy.watchdog + MARGIN)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return process.returncode, stdout, stderr, time.monotonic() - started


def _line(here: Surroundings, call: str) -> dict[str, Any] | None:
    """The ledger's line for our call, from the end of the file."""
    try:
        handle = ledger.open_own(ledger.path(here.env, here.policy.ledger["path"]), os.O_RDONLY)
    except OSError:
        return None
    with open(handle, "rb") as file:
        file.seek(max(0, os.fstat(handle).st_size - _TAIL))
        for raw in reversed(file.read().splitlines()):
            if call.encode() in raw:
                try:
                    found = json.loads(raw)
                except ValueError:
                    continue
                return found if isinstance(found, dict) else None
    return None


def version(binary: str, env: Mapping[str, str]) -> str:
    """What ``binary --version`` says, its number only; "" when there is none within some seconds."""
    if not binary:
        return ""
    try:
        done = subprocess.run(
            [binary, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, env=dict(env),
            cwd="/", check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = [word.strip("v()") for word in done.stdout.split()]
    return next((word for word in words if word[:1].isdigit() and "." in word), "")[:40]
