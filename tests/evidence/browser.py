"""A real headless Chromium: what it makes of a page, and what it complains about."""

from __future__ import annotations

import os
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VOID = frozenset(("meta", "br", "hr", "img", "input", "link", "base", "embed", "source", "wbr"))


def binary() -> str:
    """Skips without a browser, fails there where CI has promised one."""
    named = os.environ.get("JEVHOOK_E2E_CHROMIUM")
    found = next((path for name in ([named] if named else NAMES) if (path := shutil.which(name))), None)
    if found is None:
        (pytest.fail if os.environ.get("JEVHOOK_E2E_REQUIRED") else pytest.skip)(
            "no Chromium: run scripts/install-browser, or set JEVHOOK_E2E_CHROMIUM"
        )
    return str(found)


def look(page: Path, profile: Path, *options: str) -> tuple[str, str]:
    """(the page's DOM after everything has run, what the browser said about it on its console)."""
    done = subprocess.run(
        [
            binary(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--enable-logging=stderr", f"--user-data-dir={profile}", *options, "--dump-dom", page.as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )  # fmt: skip
    said = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in line]
    return done.stdout.decode("utf-8", "replace"), "\n".join(said)


class Dom(HTMLParser):
    """``tags`` and ``attributes`` that occur, and the text inside the elements of each id (``inside``)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.inside: dict[str, str] = {}
        self.count: dict[str, int] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.attributes |= given.keys()
        self.count[tag] = self.count.get(tag, 0) + 1
        name = given.get("id") or ""
        if name:
            self.ids.append(name)
        if tag not in VOID:
            self._open.append((tag, name))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for _, name in self._open:
            if name:
                self.inside[name] = self.inside.get(name, "") + data
