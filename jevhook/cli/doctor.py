"""``jevhook doctor``: whether the guard is really on, what a hook started here would go by, and whether its parts work."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import click

from .. import __version__, hosts, ledger, policy
from ..install import check, receipts
from ..install.check import Guard, Surroundings
from .install import again, binary, project
from .person import at_keyboard

RECENT = 86400  # seconds in which a lost ledger line makes the doctor say no
_MOST = 4 << 20  # bytes of a judge's answer
_PROBE = 4096  # bytes that are written to see whether there is room


def examine(
    env: dict[str, str], cwd: str, chosen: str | None = None, *, only: tuple[str, ...] = (), offline: bool = False
) -> dict[str, Any]:
    """What the hook would see for ``env`` and ``cwd``, as the JSON form of the command shows it.

    Starts the command lines that are installed in the hosts' settings (``only`` these hosts) on events of its own, and
    asks the judge one question unless ``offline``.  ``ok`` is False when a host that should be guarded is not, the
    policy has problems or asks for what is not installed, the ledger can't be written or has lost lines since RECENT,
    or the judge does not answer.
    """
    made = policy.load(env, cwd=cwd, policy=chosen, in_hook=True, managed=policy.MANAGED)
    rules = policy.rules(made)  # compiling them is what finds their problems
    now = time.time()
    held = policy.exceptions(made, now)
    path = ledger.path(env, made.ledger["path"])
    trouble = _unwritable(path)
    off = _off(made, env, cwd, now)
    here = Surroundings(env, cwd, project(env, cwd), made, off)
    guards = [_guard(name, here) for name in only or hosts.installable()]
    lacking = _lacking(made)
    failures = ledger.write_failures(env)
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now - RECENT))
    lost = any(at >= since for at, _ in failures)
    judge = _judge(made, env, offline)
    return {
        "ok": _guarded(guards, only)
        and not made.problems
        and not lacking
        and not trouble
        and not lost
        and not judge["error"],
        "version": __version__,
        "hosts": [_as_json(guard) for guard in guards],
        "off": off,
        "policy": {
            "name": made.name,
            "modes": made.modes,
            "layers": [{"layer": layer, "path": place} for layer, place in made.layers],
            "problems": made.problems,
            "lacking": lacking,
            "expired": [
                {"id": entry["id"], "rule": entry["rule"], "expires": entry["expires"]}
                for entry in rules.get("exceptions", [])
                if entry not in held
            ],
        },
        "flagged": _flagged(env, now),
        "judge": judge,
        "ledger": {
            "path": path,
            "writable": not trouble,
            "why": trouble,
            "write_failures": ledger.failure_count(env),
            "lost_lately": lost,
            "last_failures": [{"at": at, "reason": reason} for at, reason in failures],
        },
    }


def _lacking(made: policy.Policy) -> list[str]:
    """What the policy asks for and is not installed; looked up, not loaded."""
    if "tool.injection.minilm" not in made.thresholds:
        return []
    from ..text.minilm import why_not

    why = why_not()
    return [f"tool.injection.minilm: {why}"] if why else []


def _flagged(env: dict[str, str], now: float) -> list[dict[str, Any]]:
    """What tool.injection saw in the results of the last day: each mark, and how long tool.risk is told about it."""
    from ..state.session import KEPT_MARK, marks

    return [
        {
            "at": utc(mark["at"]),
            "until": utc(mark["at"] + KEPT_MARK),
            **{key: mark[key] for key in ("source", "tool", "sure", "kinds", "passages", "withheld") if key in mark},
        }
        for mark in marks(env, "flagged", KEPT_MARK)
    ]


def utc(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def _guard(name: str, here: Surroundings) -> Guard:
    host = hosts.installer(name)
    return check.examine(host, binary(host, dict(here.env), here.root), here)


def _guarded(guards: list[Guard], only: tuple[str, ...]) -> bool:
    """Whether every host that should be guarded is: one that was named, one with a hook, and where hosts are used at
    all, at least one."""
    working = [guard for guard in guards if guard.state in ("on", "watching")]
    if only:
        return len(working) == len(guards)
    return not any(guard.state == "off" for guard in guards) and (
        bool(working) or all(guard.state == "absent" for guard in guards)
    )


def _as_json(guard: Guard) -> dict[str, Any]:
    return {
        "host": guard.host, "state": guard.state, "settings": guard.path, "command": guard.command,
        "version": guard.version, "tested": guard.tested, "hook_ms": guard.ms,
        "troubles": [{"level": each.level, "text": each.text} for each in guard.troubles],
    }  # fmt: skip


def _off(made: policy.Policy, env: dict[str, str], cwd: str, now: float) -> str:
    """Why the gate is switched off for calls in ``cwd``; "" while it is on."""
    from ..state import off as switch

    off, until = switch.switched_off(env, now, cwd)
    if off:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(until)) if until else "somebody says jevhook on"
        return f"jevhook off was said: it is off until {when}"
    return "JEVHOOK=off is set, and the policy lets it count" if made.allow_env_off and switch.env_off(env) else ""


def _judge(made: policy.Policy, env: dict[str, str], offline: bool) -> dict[str, Any]:
    """``name`` (None for nobody), ``why``, ``when``; ``ms`` of a live question, ``error`` what came instead of an answer
    ("" when nobody was asked), ``breakers`` of judges that are being left alone."""
    from ..state import breaker

    now = time.time()
    found: dict[str, Any] = {"name": None, "when": made.judge["when"], "ms": 0, "error": ""}
    found["breakers"] = [
        {"judge": name, "kind": state.kind, "seconds_left": round(state.open_until - now)}
        for name, state in breaker.known(env, now)
        if state.open_until > now
    ]
    if made.judge["when"] == "never":
        return {**found, "why": "the policy never asks a judge (judge.when = never)"}
    from .. import judges

    judge, why = judges.choose(made.judge, env, in_hook=True)
    found["why"] = why
    if judge is None or judge.name == "embedded":  # that one answers nothing
        return found
    found["name"] = judge.name
    if offline:
        return found
    from ..judges.guarded import guard
    from ..systemone.wire import noul

    _through_requests(judge)
    state, question = {"untrusted_command": "ls -la"}, noul("Is untrusted_command a shell command?")
    reply = guard(judge, env).ask(state, {"alive": question}, made.judge["deadline"])
    if reply.error is not None:
        found["error"] = f"{reply.error.kind}: {reply.error.message}"
    elif not reply.answers:
        found["error"] = "it answered without an answer to the question"
    found["ms"] = reply.latency_ms
    return found


def _through_requests(judge: Any) -> None:
    """Let the question go out through ``requests``, not the hook's own client: a second opinion on the way there.
    What the hook's client met lately is what the breaker and the ledger say."""
    for inner in [judge, *(tier.judge for tier in getattr(judge, "_tiers", ()))]:
        if hasattr(inner, "send"):
            inner.send = _send


def _send(call: Any, deadline: float) -> Any:
    """``client.ask`` by way of requests.  Raises JudgeError of kind config, unreachable, timeout or invalid_response."""
    import threading

    from ..systemone import client
    from ..systemone.wire import JudgeError

    try:
        client.address(call.url)
    except ValueError as wrong:
        raise JudgeError("config", f"{call.service}: {wrong}") from None
    came: list[Any] = []
    talk = threading.Thread(target=lambda: came.append(_post(call, deadline)), daemon=True)
    started = time.monotonic()
    talk.start()
    talk.join(deadline)  # requests bounds single reads, not the whole: a dripping server would hold it
    if not came:
        raise JudgeError("timeout", f"{call.service} did not answer within {deadline:g} s")
    if isinstance(came[0], JudgeError):
        raise came[0]
    status, body = came[0]
    return client.Reply(status, body, time.monotonic() - started)


def _post(call: Any, deadline: float) -> Any:
    import requests

    from ..systemone.wire import JudgeError

    with requests.Session() as session:
        session.trust_env = False  # a .netrc would put its own password over our key
        if call.environment:
            session.proxies = dict(requests.utils.get_environ_proxies(call.url))
            session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("SSL_CERT_FILE") or True
        try:
            with session.post(
                call.url, data=call.body, headers=call.headers, timeout=deadline, allow_redirects=False, stream=True
            ) as answer:
                body = b""
                for part in answer.iter_content(1 << 16):
                    body += part
                    if len(body) > _MOST:
                        return JudgeError("invalid_response", f"{call.service} sent more than {_MOST >> 20} MB")
                return answer.status_code, body
        except requests.Timeout:
            return JudgeError("timeout", f"{call.service} did not answer within {deadline:g} s")
        except requests.exceptions.SSLError:
            return JudgeError("unreachable", f"{call.service}: its certificate is not accepted")
        except (requests.RequestException, OSError, ValueError) as wrong:
            return JudgeError("unreachable", f"{call.service} can't be reached ({type(wrong).__name__})")


def _unwritable(path: str) -> str:
    """Why a line can't be added to the ledger at ``path``; "" when it can.  Tried, not guessed; leaves nothing."""
    if not path:
        return "there is no home directory and no XDG_STATE_HOME"
    if os.path.lexists(path):
        try:
            os.close(ledger.open_own(path, os.O_WRONLY | os.O_APPEND))
        except OSError as wrong:
            return wrong.strerror or str(wrong)
    above = os.path.dirname(path)
    while not os.path.lexists(above) and above != os.path.dirname(above):
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        return f"{above} is not a directory"
    return _no_room(above, may_make=not os.path.lexists(path))


def _no_room(folder: str, may_make: bool) -> str:
    """Why no file with something in it can be made in ``folder``; "" when it can.

    Without ``may_make`` a file need not be made there (the ledger is there already), so only a full disk counts.
    """
    probe = os.path.join(folder, f".jevhook-doctor-{os.getpid()}")
    try:
        handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as wrong:
        return f"{folder} can't be written: {wrong.strerror or wrong}" if may_make else ""
    try:
        os.write(handle, bytes(_PROBE))
    except OSError as wrong:
        return f"{folder} can't be written: {wrong.strerror or wrong}"
    finally:
        os.close(handle)
        os.unlink(probe)
    return ""


_STATES = {
    "on": "guarded",
    "watching": "watched only: the policy is in shadow and stops nothing",
    "off": "NOT guarded",
    "none": "not guarded: jevhook install {}",
    "absent": "not used here",
}


def _lines(found: dict[str, Any]) -> list[str]:
    rules, judge, book = found["policy"], found["judge"], found["ledger"]
    modes = ", ".join(f"{point} {mode}" for point, mode in rules["modes"].items())
    lines = [f"jevhook  {found['version']}"]
    for host in found["hosts"]:
        known = "" if host["tested"] else ", a version that jevhook was not tried with"
        version = f" ({host['version']}{known})" if host["version"] else ""
        lines.append(f"{host['host']:<8} {_STATES[host['state']].format(host['host'])}{version}")
        if host["settings"]:
            cost = f"; a hook takes {host['hook_ms']} ms here" if host["hook_ms"] else ""
            lines.append(f"         in {host['settings']}{cost}")
        lines += [
            f"         {'OFF:' if each['level'] == 'off' else 'note:'} {each['text']}" for each in host["troubles"]
        ]
    lines.append(f"policy   {rules['name']} ({modes})")
    lines += [f"         {layer['layer']}: {layer['path']}" for layer in rules["layers"]]
    lines += [f"problem  {problem}" for problem in [*rules["problems"], *rules["lacking"]]]
    for entry in rules["expired"]:
        lines.append(f"expired  exception {entry['id']} for {entry['rule']}: held until {entry['expires']}")
    lines.append(f"judge    {judge['name'] or 'none (rules only)'}: {judge['why']}")
    if judge["error"]:
        lines.append(f"         gives NO answer: {judge['error']}")
    elif judge["ms"]:
        lines.append(f"         answered in {judge['ms']} ms")
    for each in judge["breakers"]:
        lines.append(f"         {each['judge']} is left alone for {each['seconds_left']} s more ({each['kind']})")
    for mark in found["flagged"][-5:]:
        lines.append(f"flagged  {said_of(mark)}; the mark ends {mark['until']}")
    if len(found["flagged"]) > 5:
        lines.append(f"         and {len(found['flagged']) - 5} more before these")
    state = "writable" if book["writable"] else f"NOT writable: {book['why']}"
    lines.append(f"ledger   {book['path'] or '(no place)'}: {state}")
    if book["write_failures"]:
        lines.append(f"         {book['write_failures']} lines could not be written; the last:")
        lines += [f"         {failure['at']} {failure['reason']}" for failure in book["last_failures"][-3:]]
    if found["off"]:
        lines.append(f"OFF      {found['off']}")
    lines.append("ok" if found["ok"] else "not ok")
    return lines


def said_of(mark: dict[str, Any]) -> str:
    """One mark of tool.injection in a person's words."""
    passages = mark.get("passages", 1)
    count = "one passage" if passages == 1 else f"{passages} passages"
    return (
        f"{mark['at']} {count} written to an AI assistant in a result of {mark.get('tool') or 'a tool'} "
        f"({mark.get('source', 'tool')}, sure {mark.get('sure', 0):g}), {mark.get('withheld', 0)} withheld"
    )


def _coloured(line: str) -> str:
    """What a person looks for first; a pipe gets the bare line from click.echo."""
    if any(mark in line for mark in (" NOT ", " OFF: ", "problem  ", "OFF      ")) or line == "not ok":
        return click.style(line, fg="red", bold=True)
    return click.style(line, fg="green") if line == "ok" or line[9:16] == "guarded" else line


def _mend(env: dict[str, str], cwd: str, chosen: str | None, only: tuple[str, ...]) -> None:
    """Install again where an entry of ours is not as it should be.  Nothing else is safe to be mended by itself."""
    made = policy.load(env, cwd=cwd, policy=chosen, in_hook=True, managed=policy.MANAGED)
    here = Surroundings(env, cwd, project(env, cwd), made)
    for name in only or hosts.installable():
        guard = _guard(name, here)
        if guard.state == "off" and any(trouble.mend for trouble in guard.troubles):
            host = hosts.installer(name)
            record = receipts.load(env, name, guard.path) or {}
            again(host, env, guard.path, record.get("points"), made)


@click.command("doctor")
@click.option("--policy", "chosen", metavar="NAME|FILE", help="Look at this policy, as `hook --policy` would use it.")
@click.option("--host", "only", multiple=True, metavar="HOST", help="Only this host, and it has to be guarded.")
@click.option("--offline", is_flag=True, help="Put no question to the judge.")
@click.option("--fix", is_flag=True, help="Install again what is not as it should be; shows the change and asks.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def doctor(chosen: str | None, only: tuple[str, ...], offline: bool, fix: bool, as_json: bool) -> None:
    """Say of each host whether the guard is really on, and show the policy, judge and ledger that a hook would use.

    The command line that is installed in a host's settings is started on a dangerous and on harmless events; their
    ledger lines have the origin "doctor".  A judge is asked one question.  Exits 1 when a host that should be guarded
    is not, the policy has problems, the judge gives no answer, the ledger can't be written, or a line of it was lost
    in the last 24 hours.

    \b
    jevhook doctor
    jevhook doctor --json | jq .ok
    """
    for name in only:
        if name not in hosts.installable():
            raise click.BadParameter(f"{name!r}: one of {', '.join(hosts.installable())}", param_hint="--host")
    try:
        cwd = os.getcwd()
    except OSError:  # the directory was removed under us
        cwd = ""
    env = dict(os.environ)
    if fix:
        at_keyboard("jevhook doctor --fix")
        _mend(env, cwd, chosen, only)
    found = examine(env, cwd, chosen, only=only, offline=offline)
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        for line in map(policy.clean, _lines(found)):  # what a directory's name brings along is out before the colours
            click.echo(_coloured(line))
    raise SystemExit(0 if found["ok"] else 1)
