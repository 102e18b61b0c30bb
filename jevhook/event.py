"""Event and Decision: the two nouns that travel through the rooms.

Plain classes with ``__slots__``: on the hook's lane every import is paid by every tool call, and
``dataclasses`` alone costs as much as the rest of the lane (measured: 3.3x a bare interpreter).
Treat every instance as frozen once it has been handed on.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing is never imported at run time on the lane
    from typing import Any, Literal

    Kind = Literal["before-tool", "after-tool", "other"]
    Outcome = Literal["none", "allow", "context", "ask", "deny", "withhold", "trim"]
    Severity = Literal["high", "medium", "low"]
    Source = Literal["rules", "judge", "fallback", "none"]
    Mode = Literal["off", "shadow", "active"]


class Event:
    """One hook call, host-neutral.

    ``kind``      before-tool, after-tool (failed calls too, see ``failed``), or other
    ``name``      the host's own name of the event, as it must be echoed in the answer
    ``tool``      the host's own tool name (Bash, Write, apply_patch, mcp__server__tool, …)
    ``input``     the tool's input, always an object
    ``result``    after-tool: the tool's response in the host's own shape, else None
    ``cwd``       absolute directory the call starts in, or "" when unknown
    ``cwd_sure``  False where the host hides the call's own directory (Codex ``workdir``)
    ``session`` ``call_id`` ``transcript`` ``permission_mode``  the host's own values, "" when absent
    ``agent``     "" for the main agent, else the subagent's id
    ``raw``       the parsed payload, for what only one host's module needs
    """

    __slots__ = (
        "agent",
        "call_id",
        "cwd",
        "cwd_sure",
        "failed",
        "host",
        "input",
        "kind",
        "name",
        "permission_mode",
        "raw",
        "result",
        "session",
        "tool",
        "transcript",
    )

    def __init__(
        self,
        host: str,
        kind: Kind,
        name: str,
        *,
        tool: str = "",
        input: dict[str, Any] | None = None,
        result: Any = None,
        failed: bool = False,
        cwd: str = "",
        cwd_sure: bool = True,
        session: str = "",
        call_id: str = "",
        transcript: str = "",
        permission_mode: str = "",
        agent: str = "",
        raw: dict[str, Any] | None = None,
    ) -> None:
        self.host = host
        self.kind = kind
        self.name = name
        self.tool = tool
        self.input: dict[str, Any] = {} if input is None else input
        self.result = result
        self.failed = failed
        self.cwd = cwd
        self.cwd_sure = cwd_sure
        self.session = session
        self.call_id = call_id
        self.transcript = transcript
        self.permission_mode = permission_mode
        self.agent = agent
        self.raw: dict[str, Any] = {} if raw is None else raw


class Decision:
    """What the gate answers to one event, before a host puts it in its own words.

    ``outcome``      none (silence), allow (an explicit grant, only by policy), context (the call runs and the
                     model is told ``reason``), ask, deny, withhold / trim (``replacement`` is the new result)
    ``point``        the decision point that spoke, "" for none
    ``rule``         the id of the rule that spoke, or None
    ``severity``     high, medium or low: what an ask becomes where nobody can be asked
    ``reason``       one sentence for the agent and the person: what would be lost, what to do instead
    ``source``       rules, judge or fallback: whose word it is
    ``unrecoverable`` True when what would be lost cannot be got back: such a call is never granted
    ``replacement``  the tool result to hand on, in the tool's own response shape (withhold, trim)
    ``note``         text for the ledger only
    """

    __slots__ = (
        "note",
        "outcome",
        "point",
        "reason",
        "replacement",
        "rule",
        "severity",
        "source",
        "unrecoverable",
    )

    def __init__(
        self,
        outcome: Outcome = "none",
        *,
        point: str = "",
        rule: str | None = None,
        severity: Severity = "low",
        reason: str = "",
        source: Source = "none",
        unrecoverable: bool = False,
        replacement: Any = None,
        note: str = "",
    ) -> None:
        self.outcome = outcome
        self.point = point
        self.rule = rule
        self.severity = severity
        self.reason = reason
        self.source = source
        self.unrecoverable = unrecoverable
        self.replacement = replacement
        self.note = note


class Output:
    """What the hook process prints: stdout is "" or one JSON object without a newline inside."""

    __slots__ = ("code", "stderr", "stdout")

    def __init__(self, stdout: str = "", code: int = 0, stderr: str = "") -> None:
        self.stdout = stdout
        self.code = code
        self.stderr = stderr


SILENCE = Output()
