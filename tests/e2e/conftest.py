"""The hosts' tests: skipped with a reason where a binary is missing, failed there where CI has promised it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from .hosts import OVERRIDE, Place, binary

NewPlace = Callable[[], Place]


def need(host: str, programs: Sequence[str] = ()) -> None:
    """Skip unless the host's binary, the hook's console script and the ``programs`` that its shell is to run are there."""
    missing = [f"no {program} on PATH" for program in programs if not shutil.which(program)]
    if binary(host) is None:
        missing.append(f"no {host} binary: run scripts/install-hosts, or set {OVERRIDE[host]}")
    if not (Path(sys.executable).parent / "jevhook").exists():
        missing.append("no jevhook console script beside this Python: pip install -e .")
    if missing:
        (pytest.fail if os.environ.get("JEVHOOK_E2E_REQUIRED") else pytest.skip)("; ".join(missing))


@pytest.fixture(scope="module")
def new_place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NewPlace:
    """Makes a throwaway home and project for the host that the test module names in ``HOST``; see ``PROGRAMS`` for more."""
    need(request.module.HOST, getattr(request.module, "PROGRAMS", ()))
    return lambda: Place(tmp_path_factory.mktemp("e2e"))
