"""tool.admission: registered, so that policies and ledgers can name it; it judges nothing yet and its mode is off."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..event import Event
    from . import Context, PointResult

ID = "tool.admission"
VERSION = 1
READY = False
CAPABILITIES: dict[str, str] = {}


def applies(event: Event) -> bool:
    return event.kind == "after-tool"


def judge(event: Event, ctx: Context) -> PointResult:
    from ..event import Decision
    from . import PointResult

    return PointResult(Decision(point=ID), {})
