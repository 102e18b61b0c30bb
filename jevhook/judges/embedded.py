"""The judge inside the package: no network, no key, and by itself no answer.

No model that fits into a package judges commands better than the rules do (measured: chance), so every question comes
back unanswered and what the rules decided stands.
"""

from __future__ import annotations

from . import JudgeReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..systemone.wire import Question


class EmbeddedJudge:
    """Answers nothing, at once, without an error."""

    __slots__ = ("name",)

    def __init__(self) -> None:
        self.name = "embedded"

    def ask(self, state: Any, questions: Mapping[str, Question], deadline: float) -> JudgeReply:
        """Every question unanswered; see ``Judge``."""
        warnings = [{"type": "missing-answer", "question": name} for name in questions]
        return JudgeReply(self.name, "embedded", warnings=warnings)
