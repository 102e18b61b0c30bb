"""Every test gets a home of its own: nothing here may touch the real one, or see a real key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time, however busy the machine is; other ones with --hypothesis-profile=wild.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("wild", **_PATIENT)
settings.register_profile("steady", derandomize=True, **_PATIENT)
settings.load_profile("steady")

_STRIPPED = ("_API_KEY", "_TOKEN", "_BASE_URL")


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.endswith(_STRIPPED) or name.startswith(("JEV", "CLAUDE", "CODEX", "TYPESAFE")):
            if not name.startswith("JEVHOOK_E2E"):
                monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / ".local/state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    return home
