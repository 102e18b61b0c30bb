"""What one session's earlier calls say about this one: a stopped act tried again in other words, scripts written here.

A private, bounded, expiring file a session (``state/session.py``).  Never needed for correctness: without it every
call is judged by itself.
"""

from __future__ import annotations

from ..event import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..event import Event
    from ..shell.calls import Reading
    from ..shell.finding import Finding
    from . import Context

# Effects that take the same thing away, whatever they are called.
_LOSSES = frozenset(("delete", "move", "overwrite", "format"))
_SCRIPTS = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1", ".mk")
MAX_KEPT = 12


def _group(effect: str) -> str:
    return "loss" if effect in _LOSSES else effect


def _marks(findings: list[Finding]) -> list[list[str]]:
    """What was about to happen, as pairs (group of effects, target)."""
    out: list[list[str]] = []
    for finding in findings:
        path = finding.target.path.removesuffix("/\1")  # everything in a directory is the directory
        if finding.effect != "run" and path and path.strip("\0\4\1/."):
            pair = [_group(finding.effect), path]
            if pair not in out:
                out.append(pair)
    return out[:MAX_KEPT]


def same_again(event: Event, ctx: Context, reading: Reading, decision: Decision, record: dict[str, Any]) -> Decision:
    """The decision that an earlier stop of the same act asks for, or ``decision`` as it is."""
    memory = ctx.memory
    if not reading.findings or memory is None:
        return decision
    from ..state.session import recall

    earlier = recall(memory, event, "stopped")
    if not earlier:
        return decision
    from ..ledger import digest

    now = _marks(reading.findings)
    call = digest([reading.command, event.input.get("file_path")], memory)
    for entry in reversed(earlier):
        if call and entry.get("call") == call:
            continue  # the same call again, not other words; what is decided about it now stands
        for group, path in entry.get("marks") or ():
            for mine, target in now:
                # the same target only: a part of it is what the stop itself suggests to name
                if mine == group and target == path:
                    record["rephrased"] = True
                    if decision.outcome == "none" or (decision.outcome == "ask" and entry.get("outcome") == "deny"):
                        return Decision(
                            entry.get("outcome", "ask"),
                            point=decision.point,
                            rule=entry.get("rule"),
                            severity="high",
                            reason="This does in other words what was stopped before in this session; ask the person instead of trying another way.",
                            source="rules",
                            unrecoverable=bool(entry.get("unrecoverable", True)),  # as what it says again was
                        )
                    return decision
    return decision


def keep(event: Event, ctx: Context, reading: Reading, decision: Decision, spoke: Finding | None) -> None:
    """Remember a stop (active mode only: shadow changes nothing), and scripts this call writes."""
    memory = ctx.memory
    if memory is None:
        return
    from ..ledger import digest
    from ..state.session import remember

    if decision.outcome == "deny" and spoke is not None:
        marks = _marks([spoke])
        if marks:
            call = digest([reading.command, event.input.get("file_path")], memory)
            remember(
                memory, event, "stopped", outcome=decision.outcome, rule=decision.rule, marks=marks, call=call,
                unrecoverable=decision.unrecoverable,
            )  # fmt: skip
    scripts = [
        path
        for path, text in reading.scripts.items()
        if path[:1] == "/" and "\0" not in path and (path.endswith(_SCRIPTS) or text[:2] == "#!")
    ]
    for path in scripts[:4]:
        remember(memory, event, "wrote", path=path, content=digest(reading.scripts[path], memory))


def written_here(event: Event, ctx: Context, reading: Reading) -> list[str]:
    """Scripts among the call's words that this session wrote: a fact for the ledger and the judge."""
    if not reading.shell or ctx.memory is None:
        return []
    names = {
        word
        for finding in reading.findings
        for word in (*finding.words, finding.target.path)
        if word.endswith(_SCRIPTS)
    }
    if not names:
        return []
    from ..state.session import recall

    known = {str(entry.get("path")) for entry in recall(ctx.memory, event, "wrote")}
    return sorted(
        path for path in known if any(path == name or path.endswith("/" + name.removeprefix("./")) for name in names)
    )
