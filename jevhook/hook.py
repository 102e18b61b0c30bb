"""The lane: stdin -> event -> decision -> stdout, exit code, ledger line.  Nothing else.

What can go wrong here must not cost the host anything: silence, exit 0, one stderr line (once a session), one ledger
line.  A watchdog thread ends the process when it has not finished in time, with the rules' answer if there is one.
"""

from __future__ import annotations

import os
import sys
import time

from .event import SILENCE, Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .event import Decision, Event
    from .hosts import Host
    from .policy import Policy

MAX_INPUT = 100 << 20  # bytes of stdin that are read; a larger event is not judged (memory stays bounded)
WATCHDOG = 10.0  # seconds, until the policy says otherwise


class Options:
    __slots__ = ("home", "host", "policy", "unknown")

    def __init__(self) -> None:
        self.host = ""
        self.policy = ""
        self.home = ""
        self.unknown: list[str] = []


def parse_arguments(argv: list[str]) -> Options:
    """``--host NAME``, ``--policy FILE``, ``--id ANY`` (accepted and ignored: it makes the command line one that
    a repository's settings cannot repeat).  What is not known is named on stderr and ignored: a guard that stops
    working over a misspelt option would be worse."""
    options = Options()
    i = 0
    while i < len(argv):
        name, mark, value = argv[i].partition("=")
        if name in ("--host", "--policy", "--id"):
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
    """One run of the hook.  ``answer`` is what will be printed if the watchdog strikes now."""

    __slots__ = ("answer", "done", "env", "event", "options", "policy", "record", "started", "started_at", "troubles")

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
        self.done = False

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
    describe_event(record, event)
    if event.kind == "other":
        record["decision"] = "none"
        return SILENCE
    from .policy import load

    policy = load(lane.env, cwd=event.cwd, policy=lane.options.policy or None, in_hook=True)
    lane.policy = policy
    for problem in policy.problems[:1]:
        lane.trouble(f"policy: {problem}")
    record["policy"] = policy.name
    from .gate import decide, express, let_run_before, note_run
    from .points import Context

    digest = ""
    if event.kind == "after-tool":
        digest = call_digest(event, lane.env, "asked")
        note_run(event, lane.env, digest)
    ctx = Context(policy, lane.env, lane.started)
    expressible = host.answers(event)

    def rules_said(decision: Decision) -> None:
        """What the watchdog will print if the judge's call outlives every clock."""
        told, why = express(decision, policy, expressible)
        if told.reason:
            told.reason = safe_reason(told.reason, told.rule)
        record["decision"], record["reason"] = told.outcome, "timeout"
        if why:
            record["told"] = why
        lane.answer = host.answer(event, told)

    ctx.rules_said = rules_said
    verdict = decide(event, policy, ctx, expressible)
    record.pop("reason", None)
    record.pop("told", None)
    if verdict.decision.outcome == "ask":
        verdict = let_run_before(event, verdict, lane.env, call_digest(event, lane.env, ""))
    record["points"] = verdict.points
    record["decision"] = verdict.decision.outcome
    if verdict.decided.outcome != verdict.decision.outcome:
        record["decided"] = verdict.decided.outcome
        record["told"] = verdict.why
    if verdict.decision.reason:
        verdict.decision.reason = safe_reason(verdict.decision.reason, verdict.decision.rule)
    return host.answer(event, verdict.decision)


def safe_reason(reason: str, rule: str | None) -> str:
    from .text.printable import printable
    from .text.redact import redact

    text = printable(redact(reason)).replace("\n", " ")[:1500]
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


def describe_event(record: dict[str, Any], event: Event) -> None:
    """The event's part of the ledger line."""
    record["host"] = event.host
    record["event"] = event.name
    record["kind"] = event.kind
    subject: dict[str, Any] = {}
    for key, value in (
        ("session", event.session),
        ("tool", event.tool),
        ("tool_call", event.call_id),
        ("project", event.cwd),
        ("actor", "sub-agent" if event.agent else "main"),
        ("permission_mode", event.permission_mode),
    ):
        if value:
            subject[key] = value[:300]
    record["subject"] = subject


def call_digest(event: Event, env: Mapping[str, str], only_if: str) -> str:
    """A keyed digest of tool, input and directory.  With ``only_if`` it is "" when the session has no such entry,
    so that an ordinary after-tool event costs one failed look."""
    if only_if:
        from .state.session import recall

        if not recall(env, event, only_if):
            return ""
    from .ledger import digest

    given = {k: v for k, v in event.input.items() if k != "description"}
    return digest({"tool": event.tool, "input": given, "cwd": event.cwd}, env)


def read_input(limit: int = MAX_INPUT) -> bytes:
    """stdin as bytes, to its end or a little over ``limit``."""
    pieces: list[bytes] = []
    size = 0
    while size <= limit:
        try:
            piece = os.read(0, 1 << 20)
        except InterruptedError:
            continue
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def finish(lane: Lane, output: Output) -> int:
    """Print, write the ledger line, return the exit code."""
    code = output.code
    lane.answer = SILENCE
    if output.stdout:
        try:
            _write(1, output.stdout.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as wrong:
            lane.record["output"] = f"not written: {type(wrong).__name__}"
            if lane.record.get("decision") in ("deny", "ask"):
                # The answer could not be written whole.  Exit 2 with a reason on stderr is the other way to say no.
                code = 2
                output = Output("", 2, "jevhook: this call is stopped, see the ledger")
    write_ledger(lane)
    if output.stderr:
        lane.troubles.append(output.stderr)
        _stderr(output.stderr)
    elif lane.troubles and _first_time(lane):
        _stderr(f"jevhook: {lane.troubles[0]}")
    return code


def write_ledger(lane: Lane) -> None:
    from .ledger import append, new_id, now_iso

    record = lane.record
    record["id"] = new_id()
    record["asked_at"] = _iso(lane.started_at)
    record["answered_at"] = now_iso()
    record["hook_ms"] = round((time.monotonic() - lane.started) * 1000, 2)
    record.setdefault("decision", "none")
    if lane.troubles:
        record["warnings"] = [t[:300] for t in lane.troubles[:8]]
    ledger: Mapping[str, Any] = lane.policy.ledger if lane.policy is not None else {}
    if ledger.get("record_state") and lane.event is not None:
        record["state"] = {"tool": lane.event.tool, "input": lane.event.input, "result": lane.event.result}
    elif lane.event is not None and lane.event.tool:
        from .ledger import digest

        record["state_digest"] = digest({"tool": lane.event.tool, "input": lane.event.input}, lane.env)
    limits = {k: ledger[k] for k in ("max_bytes", "generations") if k in ledger}
    try:
        append(record, lane.env, str(ledger.get("path") or ""), **limits)
    except Exception as wrong:  # the ledger is allowed to fail; the answer is already out
        lane.troubles.append(f"ledger: {type(wrong).__name__}")


def _iso(moment: float) -> str:
    parts = time.gmtime(moment)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', parts)}.{int(moment % 1 * 1000):03d}Z"


def _first_time(lane: Lane) -> bool:
    """One stderr line a session; without a session, every time."""
    if lane.event is None or not lane.event.session:
        return True
    try:
        from .state.session import once

        return once(lane.env, lane.event, "stderr")
    except Exception:
        return True


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _stderr(text: str) -> None:
    from .text.printable import printable

    try:
        _write(2, (printable(text).replace("\n", " ")[:400] + "\n").encode("utf-8", "backslashreplace"))
    except OSError:
        pass


def _watch(lane: Lane, seconds: float) -> None:
    """Ends the process after ``seconds`` with whatever answer stands by then."""
    import _thread

    def strike() -> None:
        time.sleep(seconds)
        if lane.done:
            return
        lane.done = True
        lane.record.setdefault("reason", "timeout")
        lane.trouble(f"not finished within {seconds:g} s")
        code = 0
        try:
            code = finish(lane, lane.answer)
        finally:
            os._exit(code)

    try:
        _thread.start_new_thread(strike, ())
    except RuntimeError:
        pass


def main(argv: list[str]) -> int:
    """``jevhook hook``.  Does not return: the interpreter's own end would cost a millisecond of every tool call."""
    import gc

    gc.disable()  # one event, then the process is gone: collecting cycles only costs time
    sys.setrecursionlimit(6000)  # a line nested 120 deep goes through eight functions a level
    lane = Lane(parse_arguments(argv), os.environ)
    for name in lane.options.unknown:
        lane.trouble(f"unknown option {name[:60]!r}; known are --host, --policy, --id")
    _watch(lane, WATCHDOG)
    data = read_input()
    output = run(data, lane)
    if lane.done:  # the watchdog is already speaking
        time.sleep(1)
    lane.done = True
    code = finish(lane, output)
    os._exit(code)
