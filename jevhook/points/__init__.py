"""Decision points: one module a point, listed here in the order in which they judge.

A point's module has

``ID`` ``VERSION``     stable id and a number that goes up whenever wording, state or policy changes
``READY``              False while the point is only registered: its mode is off whatever a policy says
``CAPABILITIES``       question id -> classify, relate, rate or meta (what a judge must be good at to be asked)
``applies(event)``     whether the point has anything to say about this kind of event
``judge(event, ctx)``  -> ``PointResult``; never raises for the judge's sake
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from ..event import Decision, Event
    from ..policy import Policy

    class Point(Protocol):
        ID: str
        VERSION: int
        READY: bool
        CAPABILITIES: Mapping[str, str]

        def applies(self, event: Event) -> bool: ...

        def judge(self, event: Event, ctx: Context) -> PointResult: ...


MODULES = {
    "tool.risk": "jevhook.points.risk",
    "tool.injection": "jevhook.points.injection",
    "tool.admission": "jevhook.points.admission",
}
# The only kind of event that a point applies to, where there is one: for others it is not even loaded.
KINDS = {"tool.risk": "before-tool", "tool.injection": "after-tool", "tool.admission": "after-tool"}


class Context:
    """What a point may use: the policy, the environment, the clock's start (monotonic seconds), and its mode.

    ``asked`` is set once a System One request has been made for this event: there is never a second one.
    """

    __slots__ = (
        "asked",
        "asks",
        "choose",
        "decided",
        "env",
        "home",
        "let_run",
        "memory",
        "mode",
        "offline",
        "policy",
        "requests",
        "rules_said",
        "started",
        "texts",
        "troubles",
        "world",
    )

    def __init__(
        self, policy: Policy, env: Mapping[str, str], started: float, *, home: str = "", offline: bool = False
    ) -> None:
        self.policy = policy
        self.env = env
        self.started = started
        self.home = home
        self.offline = offline  # replay and explain: no call is made, nothing that was taken out is kept
        self.asks = not offline  # whether questions are put at all
        self.choose: Callable[..., Any] | None = None  # who is asked, instead of ``judges.choose``: a replay's own
        self.memory: Mapping[str, str] | None = None if offline else env  # whose state directory holds the session's
        self.requests: list[str] | None = None  # what the person had typed by then; None: the transcript says it
        self.mode = "active"
        self.asked = False
        self.world: Any = None
        self.texts: dict[tuple[str | int, ...], str] = {}  # after the tool: texts of the result as points left them
        self.decided: list[str] = []  # after the tool: passages that a rule has decided; no judge is shown them
        self.troubles: list[str] = []  # for the ledger line's warnings: what a point went on without
        self.let_run: Callable[[], bool] | None = None  # whether the person let this very call run before
        self.rules_said: Callable[[Decision], None] | None = None  # told before a call is made: what stands without it


class PointResult:
    """``judged`` what the point would do; ``record`` its part of the ledger line (plain JSON values)."""

    __slots__ = ("judged", "record")

    def __init__(self, judged: Decision, record: dict[str, Any]) -> None:
        self.judged = judged
        self.record = record


def load(name: str) -> Point:
    import sys

    module = MODULES[name]
    __import__(module)
    point: Point = sys.modules[module]
    return point
