"""Another jevhook that writes at the same moment: started in the middle of the first one's step."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from jevhook import ledger
from jevhook.install import files
from jevhook.install.files import Refused


class Second:
    """``meanwhile`` starts ``work`` once and comes back when it waits for its turn, or is done; ``refused`` is what it was
    told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
        self.refused: list[str] = []
        self.waits = threading.Event()
        self.flock = ledger.fcntl.flock
        self.thread = threading.Thread(target=self._run, args=(work,))
        monkeypatch.setattr(files, "TURN_SECONDS", 60.0)
        monkeypatch.setattr(ledger.fcntl, "flock", self._asked)

    def meanwhile(self) -> None:
        if not self.thread.ident:
            self.thread.start()
            assert self.waits.wait(60)

    def _asked(self, handle: int, how: int) -> None:
        try:
            self.flock(handle, how)
        except BlockingIOError:
            self.waits.set()
            raise

    def _run(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Refused as wrong:
            self.refused.append(str(wrong))
        self.waits.set()
