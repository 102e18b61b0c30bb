"""The lane: stdin -> event -> decision -> stdout, exit code, ledger line.  Nothing else.

What can go wrong here must not cost the host anything: silence, exit 0, one stderr line (once a session), one ledger
line.  A watchdog thread ends the process when it has not finished in time, with the rules' answer if there is one.
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from .event import SILENCE, Event, Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .event import Decision
    from .hosts import Host
    from .policy import Policy

MAX_INPUT = 100 << 20  # bytes of stdin that are read; a larger event is not judged (memory stays bounded)
WATCHDOG = 10.0  # seconds, until the policy says otherwise
_FREE = ("said", "note", "findings", "judge", "written_here")  # a point's fields that may hold words of the judged call
CROWDED = 3  # at most so many times as long, where the machine was too busy to let the hook run
GRACE = 2.0  # seconds after the watchdog in which the kernel ends a process whose threads do not run any more


class Options:
    __slots__ = ("home", "host", "policy", "unknown")

    def __init__(self) -> None:
        self.host = ""
        self.policy = ""
        self.home = ""
        self.unknown: list[str] = []


def parse_arguments(argv: list[str]) -> Options:
    """``--host NAME``, ``--policy FILE``, ``--id ANY`` (accepted and ignored: it makes the command line one that
    a repository's settings cannot repeat), ``--resident FOLDER`` (has been followed by now).  What is not known is
    named on stderr and ignored: a guard that stops working over a misspelt option would be worse."""
    options = Options()
    i = 0
    while i < len(argv):
        name, mark, value = argv[i].partition("=")
        if name in ("--host", "--policy", "--id", "--resident"):
            if not mark:
                i += 1
                value = argv[i] if i < len(argv) else ""
            if name == "--host":
                options.host = value
            elif name == "--policy":
                options.policy = value
        else:
            options.unknown.append(argv[i])
        i += 1
    return options


class Lane:
    """One run of the hook.

    ``answer`` is what will be printed if the watchdog strikes now, ``reason`` why, ``code`` the exit code as far as it
    is known; whoever holds ``turn`` prints; ``session`` is the session's name where no event could be read;
    ``speaking`` is called before the first word; ``leave`` ends the process, or in a warm one the event, and then
    ``over`` is set; ``leader`` is the thread that judges; ``given`` says that the event has been read whole;
    ``waited`` is what ``waited()`` was when it began, ``held`` how long others have had the processor since; ``watched``
    is locked while its watchdog lives; who holds ``clock`` may set the kernel's.
    """

    __slots__ = (
        "answer",
        "clock",
        "code",
        "env",
        "event",
        "given",
        "held",
        "leader",
        "leave",
        "limit",
        "options",
        "over",
        "policy",
        "reason",
        "record",
        "session",
        "speaking",
        "started",
        "started_at",
        "troubles",
        "turn",
        "waited",
        "watched",
    )

    def __init__(self, options: Options, env: Mapping[str, str]) -> None:
        self.started = time.monotonic()
        self.started_at = time.time()
        self.options = options
        self.env = env
        self.answer = SILENCE
        self.event: Event | None = None
        self.policy: Policy | None = None
        self.record: dict[str, Any] = {"schema": 1, "origin": "hook", "points": []}
        self.troubles: list[str] = []
        self.turn = _thread.allocate_lock()
        self.limit = WATCHDOG
        self.session = ""
        self.reason = ""
        self.code = 0
        self.leader = _thread.get_ident()
        self.given = False
        self.over = False
        self.waited = self.held = 0.0
        self.watched = _thread.allocate_lock()
        self.clock = _thread.allocate_lock()
        self.speaking: Callable[[], None] | None = None
        self.leave: Callable[[int], Any] = os._exit

    def trouble(self, text: str) -> None:
        self.troubles.append(text)


def run(data: bytes, lane: Lane) -> Output:
    """Judge the event in ``data``.  Fills ``lane.record``; raises nothing."""
    try:
        return _run(data, lane)
    except Exception as wrong:
        lane.trouble(f"{type(wrong).__name__}: {wrong}" if str(wrong) else type(wrong).__name__)
        lane.record["reason"] = "error:internal"
        return lane.answer


def _run(data: bytes, lane: Lane) -> Output:
    from .jsonio import loads

    record = lane.record
    if not data.strip():
        record["reason"] = "error:input"
        lane.trouble("no event on stdin")
        return SILENCE
    if len(data) > MAX_INPUT:
        record["reason"] = "error:input"
        record["bytes"] = len(data)
        lane.trouble(f"the event is larger than {MAX_INPUT >> 20} MB")
        return SILENCE
    try:
        payload = loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError, MemoryError) as wrong:
        record["reason"] = "error:input"
        record["bytes"] = len(data)
        lane.trouble(f"stdin is not one JSON object: {str(wrong)[:120]}")
        return SILENCE
    if not isinstance(payload, dict):
        record["reason"] = "error:input"
        record["bytes"] = len(data)
        lane.trouble(f"stdin is a JSON {type(payload).__name__}, not an object")
        return SILENCE
    session = payload.get("session_id")
    lane.session = session if isinstance(session, str) else ""
    if lane.session == "jevhook-doctor":  # its questions are nobody's work: no host names a session so
        record["origin"] = "doctor"
    from . import hosts

    host = _host(hosts, payload, lane)
    if host is None:
        return SILENCE
    try:
        event = host.read(payload, lane.env)
    except ValueError as wrong:
        record["reason"] = "error:event"
        record["host"] = host.NAME
        lane.trouble(f"{host.NAME} event: {str(wrong)[:160]}")
        return SILENCE
    lane.event = event
    describe_event(record, event, lane.env)
    if event.kind == "other":
        record["decision"] = "none"
        return SILENCE
    from .policy import load

    policy = load(lane.env, cwd=event.cwd, policy=lane.options.policy or None, in_hook=True)
    lane.policy = policy
    if policy.watchdog != lane.limit:
        lane.limit = policy.watchdog
        _arm(lane)
    for problem in policy.problems[:1]:
        lane.trouble(f"policy: {problem}")
    record["policy"] = policy.name
    from . import ledger

    if policy.allow_env_off or os.path.lexists(os.path.join(ledger.directory(lane.env), "off")):
        from .state.off import env_off, switched_off

        off, until = switched_off(lane.env, lane.started_at, event.cwd)
        if off or (policy.allow_env_off and env_off(lane.env)):
            record["reason"] = "off"
            if until and off:
                record["off_until"] = _iso(until)
            return SILENCE
    from .decide import decide, express, let_run_before, let_run_once, note_run, was_let_run
    from .points import Context

    told_of: dict[str, bool] = {}
    if event.kind == "after-tool":
        note_run(event, lane.env, call_digest)
    if policy.mode("tool.risk") == "active":
        from .state import settings

        files = host.settings_files(event, lane.env)
        if event.kind == "after-tool":
            told_of = settings.changed(lane.env, event, files)
        else:
            settings.note(lane.env, event, files)
    ctx = Context(policy, lane.env, lane.started)
    expressible = host.answers(event)

    def rules_said(decision: Decision) -> None:
        """What the watchdog will print if the judge's call outlives every clock."""
        told, why = express(decision, policy, expressible)
        point: dict[str, Any] = {"point": decision.point, "source": decision.source, "judged": decision.outcome}
        if decision.rule:
            point["rule"] = decision.rule
        record["points"] = [{**point, "reason": "timeout"}]
        record["decision"], record["reason"] = told.outcome, "timeout"
        if why:
            record["decided"], record["told"] = decision.outcome, why
        lane.answer = answer(told)

    def answer(told: Decision) -> Output:
        lane.reason = safe_reason(told.reason, told.rule, lane.env) if told.reason else ""
        return host.answer(event, _with_reason(told, lane.reason))

    ctx.rules_said = rules_said
    ctx.let_run = lambda: was_let_run(event, lane.env, call_digest)
    verdict = decide(event, policy, ctx, expressible)
    record.pop("reason", None)
    record.pop("told", None)
    record.pop("decided", None)
    for trouble in verdict.troubles:
        lane.trouble(trouble)
    if verdict.decision.outcome in ("ask", "deny"):
        verdict = let_run_once(event, verdict, policy, lane.env, record)
    if verdict.decision.outcome == "ask":
        verdict = let_run_before(event, verdict, lane.env, call_digest)
    record["points"] = verdict.points
    record["decision"] = verdict.decision.outcome
    if verdict.decided.outcome != verdict.decision.outcome:
        record["decided"] = verdict.decided.outcome
        record["told"] = verdict.why
    output = answer(verdict.decision)
    return _told_of_settings(lane, host, event, output, told_of) if told_of else output


def _told_of_settings(lane: Lane, host: Host, event: Event, output: Output, changed: dict[str, bool]) -> Output:
    """``output``, with a warning where a file that decides whether this hook runs is not as it was and now does
    something to it.  Nobody can undo the call that did it; that is why it is said."""
    from .install.notice import troubles

    project = lane.env.get("CLAUDE_PROJECT_DIR") or event.cwd
    try:
        found = [safe_reason(text, None, lane.env)[:300] for text in troubles(host.NAME, lane.env, project, changed)]
    except Exception as wrong:
        lane.trouble(f"changed settings could not be read: {type(wrong).__name__}")
        return output
    if not found:
        return output
    lane.record["settings"] = found[:8]
    if lane.record["decision"] == "none":
        lane.record["decision"] = "context"
    text = f"The settings that hold the hooks changed: {'; '.join(found[:4])}. Tell the person before you go on."
    return host.warn(event, output, text)


def _with_reason(told: Decision, reason: str) -> Decision:
    """A copy: what was decided is still read by whoever decides on, so it is never written to."""
    if not reason:
        return told
    from .decide import with_outcome

    return with_outcome(told, told.outcome, reason)


def safe_reason(reason: str, rule: str | None, env: Mapping[str, str] | None = None) -> str:
    from .text.printable import printable
    from .text.redact import redact

    text = printable(redact(reason, env)).replace("\n", " ")[:1500]
    return f"{text} [{rule}]" if rule else text


def _host(hosts: Any, payload: dict[str, Any], lane: Lane) -> Host | None:
    record = lane.record
    found: Host | None = None
    if lane.options.host:
        try:
            found = hosts.load(lane.options.host)
        except ValueError as wrong:
            lane.trouble(str(wrong))
            lane.options.host = ""
    if found is None:
        found = hosts.detect(payload)
    if found is None:
        record["reason"] = "error:event"
        name = payload.get("hook_event_name")
        lane.trouble(f"no known host sends this event ({str(name)[:60]!r})")
    return found


def describe_event(record: dict[str, Any], event: Event, env: Mapping[str, str] | None = None) -> None:
    """The event's part of the ledger line: no secret (``env`` names more of them), nothing that moves a terminal."""
    given = (
        ("event", event.name),
        ("session", event.session),
        ("tool", event.tool),
        ("tool_call", event.call_id),
        ("project", event.cwd),
        ("actor", "sub-agent" if event.agent else "main"),
        ("permission_mode", event.permission_mode),
    )
    from .text.redact import needs_redaction

    values = {key: value[:4000] for key, value in given if value}
    everything = " ".join(values.values())  # most events need nothing: one look at all of it
    if not (everything.isascii() and everything.isprintable()) or needs_redaction(everything, env):
        from .text.printable import printable
        from .text.redact import redact

        values = {key: printable(redact(value, env)).replace("\n", " ") for key, value in values.items()}
    values = {key: value[:300] for key, value in values.items()}
    record["host"] = event.host
    record["event"] = values.pop("event", "")
    record["kind"] = event.kind
    record["subject"] = values


def call_digest(event: Event, env: Mapping[str, str], cwd: str) -> str:
    """A keyed digest of the call; ``cwd`` is the directory that belongs to it, or "" for the call wherever it runs."""
    from .ledger import digest

    given = {k: v for k, v in event.input.items() if k != "description"}
    return digest({"tool": event.tool, "input": given, "cwd": cwd}, env)


def read_input(limit: int = MAX_INPUT) -> bytes:
    """stdin as bytes, to its end or a little over ``limit``."""
    pieces: list[bytes] = []
    size = 0
    while size <= limit:
        try:
            piece = os.read(0, 1 << 20)
        except BlockingIOError:  # Node hands on sockets, and a pipe set non-blocking by whoever shares it
            time.sleep(0.001)
            continue
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def finish(lane: Lane, output: Output) -> int:
    """Print, write the ledger line, return the exit code.  Raises nothing: the answer is out before the rest."""
    lane.code = output.code
    spoken = output.stderr
    if lane.speaking is not None:
        try:
            lane.speaking()
        except OSError:  # the hook that asked us is gone: its host gave up on it
            pass
    if output.stdout:
        try:
            _write(1, output.stdout.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as wrong:
            lane.record["output"] = f"not written: {type(wrong).__name__}"
            if lane.record.get("decision") in ("deny", "ask"):
                # The answer could not be written whole.  Exit 2 with a reason on stderr is the other way to say no.
                lane.code = 2
                spoken = f"jevhook: this call is stopped: {lane.reason or 'see the ledger'}"
    try:
        write_ledger(lane)
        if spoken:
            _stderr(spoken, 1600)
        elif lane.troubles and _first_time(lane):
            from .text.redact import redact

            _stderr(f"jevhook: {redact(lane.troubles[0], lane.env)}")
    except Exception:  # a traceback's exit code would make the host drop what has been printed
        pass
    return lane.code


def write_ledger(lane: Lane) -> None:
    from .ledger import append, new_id, now_iso

    record = lane.record
    record["id"] = new_id()
    record["asked_at"] = _iso(lane.started_at)
    record["answered_at"] = now_iso()
    record["hook_ms"] = round((time.monotonic() - lane.started) * 1000, 2)
    record.setdefault("decision", "none")
    if lane.troubles:
        record["warnings"] = lane.troubles[:8]
    ledger: Mapping[str, Any] = lane.policy.ledger if lane.policy is not None else {}
    limits = {k: ledger[k] for k in ("max_bytes", "generations") if k in ledger}
    try:
        if lane.troubles or any(
            key in point for point in record["points"] for key in _FREE
        ):  # else: our own words only
            _redact_record(record, lane.env)
        if lane.event is not None and lane.event.tool:
            _add_state(record, lane.event, lane.env, bool(ledger.get("record_state")))
    except Exception as wrong:  # a line that says less beats no line
        record["points"], record["warnings"] = [], [f"{type(wrong).__name__} while describing the event"]
    append(record, lane.env, str(ledger.get("path") or ""), **limits)


def _redact_record(record: dict[str, Any], env: Mapping[str, str]) -> None:
    """What a command, a path or an exception's text may have brought into the line, redacted, then cut."""
    said = [*_strings(record["points"]), *record.get("warnings", [])]
    everything = " ".join(said)
    from .text.redact import needs_redaction

    if everything.isascii() and everything.isprintable() and max(map(len, said), default=0) <= 300:
        if not needs_redaction(everything, env):  # most lines: one look at all of it
            return
    from .text.printable import printable
    from .text.redact import redactor

    redact = redactor(env)

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return printable(redact(value)).replace("\n", " ")[:2000] if len(value) > 1 else value
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list) else value

    record["points"] = clean(record["points"])
    if "warnings" in record:
        record["warnings"] = [redact(text[:4000])[:300] for text in record["warnings"]]


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inside for text in _strings(item)]


def _add_state(record: dict[str, Any], event: Event, env: Mapping[str, str], whole: bool) -> None:
    """The judged state: by default only its keyed digest."""
    from .ledger import digest

    if not whole:
        record["state_digest"] = digest({"tool": event.tool, "input": event.input}, env)
        return
    from .ledger import elide
    from .text.redact import redact_value

    state = {"tool": event.tool, "input": event.input, "result": event.result}
    record["state"], cut = elide(redact_value(state, env))
    if cut:
        record["state_cut"] = cut


def _iso(moment: float) -> str:
    parts = time.gmtime(moment)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', parts)}.{int(moment % 1 * 1000):03d}Z"


def _first_time(lane: Lane) -> bool:
    """One stderr line a session; without a session, every time."""
    event = lane.event or Event(lane.options.host or "unknown", "other", "", session=lane.session)
    if not event.session:
        return True
    from .state.session import once

    return once(lane.env, event, "stderr")


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(handle, view) :]
        except BlockingIOError:  # the reader is slow and the pipe non-blocking; the watchdog bounds the wait
            time.sleep(0.001)


def _stderr(text: str, limit: int = 400) -> None:
    from .text.printable import printable

    try:
        _write(2, (printable(text).replace("\n", " ")[:limit] + "\n").encode("utf-8", "backslashreplace"))
    except OSError:
        pass


def _watch(lane: Lane) -> None:
    """Ends the process after ``lane.limit`` seconds with whatever answer stands by then."""

    def strike() -> None:
        try:
            struck()
        finally:
            lane.watched.release()

    def struck() -> None:
        while not lane.over:
            held = _held(lane) if lane.given else 0.0
            if held != lane.held:
                lane.held = held
                with lane.clock:
                    if lane.over:
                        return
                    _arm(lane)
            left = lane.started + lane.limit + held - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(left, 0.25))  # the policy may change the limit meanwhile, and the machine give us no time
        else:
            return
        if not lane.turn.acquire(False):
            time.sleep(GRACE / 2)  # the answer is being written, or is out and the ledger's disk hangs
            lane.leave(lane.code)
            return
        try:
            lane.record = dict(lane.record)  # the other thread may go on filling the old one
            lane.record.setdefault("reason", "timeout")
            more = f" and {lane.held:.1f} s in which others had the processor" if lane.held > 0.1 else ""
            lane.trouble(f"not finished within {lane.limit:g} s{more}")
            finish(lane, lane.answer)
        finally:
            lane.leave(lane.code)

    _arm(lane)
    lane.watched.acquire()
    try:
        _thread.start_new_thread(strike, ())
    except RuntimeError:
        lane.watched.release()


def _held(lane: Lane) -> float:
    """Seconds of the lane in which others had the processor: they do not count, up to CROWDED times the limit in all.

    With 64 hooks at once on two busy cores some had not come to their verdict in ten seconds, and what they would have
    denied ran; with a short watchdog, so did three of three that had got the processor for half of it.  No verdict may
    depend on how busy the machine is.
    """
    return min(waited() - lane.waited, (CROWDED - 1) * lane.limit)


def waited() -> float:
    """Seconds for which others had the processor while this process could have run (Linux counts it; elsewhere 0)."""
    try:
        handle = os.open("/proc/self/schedstat", os.O_RDONLY)
        try:
            return int(os.read(handle, 100).split()[1]) / 1e9
        finally:
            os.close(handle)
    except (OSError, ValueError, IndexError):
        return 0.0


def _arm(lane: Lane) -> None:
    """The last clock, for when no thread of ours gets to run (one long call into C): the kernel ends the process."""
    try:
        import _signal  # type: ignore[import-not-found]  # signal itself imports enum

        left = lane.started + lane.limit + lane.held + GRACE - time.monotonic()
        if lane.leader == _thread.get_ident():
            _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
        _signal.setitimer(_signal.ITIMER_REAL, max(left, GRACE))
    except (ImportError, AttributeError, OSError, ValueError):  # Windows; not the main thread
        pass


def _disarm() -> None:
    try:
        import _signal

        _signal.setitimer(_signal.ITIMER_REAL, 0.0)
    except (ImportError, AttributeError, OSError):  # Windows
        pass


def _keep_handles() -> None:
    """A closed stdin, stdout or stderr would give its number to the next file that is opened: the answer would go into
    the ledger.  What stands in for stdout can't be written to, so that a lost answer is noticed."""
    for handle, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(handle)
        except OSError:
            try:
                os.open(os.devnull, flags)  # the lowest free number is this one
            except OSError:
                pass


def main(argv: list[str], before: bytes = b"", since: float = 0.0) -> int:
    """``jevhook hook``.  Does not return: the interpreter's own end would cost a millisecond of every tool call.

    ``before``: what was read of stdin already; ``since``: when the hook began by the monotonic clock, where that was
    not now: a warm process that died over the event has used up its time.
    """
    lane = Lane(parse_arguments(argv), os.environ)
    lane.waited = waited()
    if since:
        lane.started_at -= lane.started - since
        lane.started = since
    return through(lane, before)


def through(lane: Lane, before: bytes) -> int:
    """The event in ``before`` and on stdin, from its watchdog to ``lane.leave``; the exit code, where that returns."""
    import gc

    _keep_handles()
    gc.disable()  # one event, then the process is gone: collecting cycles only costs time
    sys.setrecursionlimit(6000)  # a line nested 120 deep goes through eight functions a level
    for name in lane.options.unknown:
        lane.trouble(f"unknown option {name[:60]!r}; known are --host, --policy, --id, --resident")
    _watch(lane)
    data = before + read_input(MAX_INPUT - len(before))
    lane.given = True
    output = run(data, lane)
    lane.turn.acquire()  # for ever, where the watchdog is already speaking: it ends the process
    finish(lane, output)
    lane.leave(lane.code)
    with lane.clock:
        lane.over = True
        _disarm()
    return lane.code
