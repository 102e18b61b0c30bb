"""scripts/tour does what docs/tour.md shows, and the README shows lines of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pty")
REPO = Path(__file__).resolve().parents[1]
PAGE = REPO / "docs" / "tour.md"


@pytest.fixture(scope="module")
def checked() -> subprocess.CompletedProcess[str]:
    """The tour, run once.  It takes some 15 seconds; the longer time is for a busy machine."""
    return subprocess.run(
        [sys.executable, str(REPO / "scripts/tour.py"), "--check", "--seconds", "200"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.skipif(not Path(sys.executable).with_name("jevhook").exists(), reason="jevhook is not installed here")
def test_the_tour_goes_through_and_is_what_the_page_shows(checked: subprocess.CompletedProcess[str]) -> None:
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert int(re.search(r"(\d+) commands did what they should", checked.stdout)[1]) >= 35  # type: ignore[index]


def test_a_step_that_says_something_else_ends_the_tour(tmp_path: Path) -> None:
    sys.path.insert(0, str(REPO / "scripts"))
    try:
        import tour
    finally:
        sys.path.pop(0)
    made = tour.Tour(tmp_path, live=False, seconds=20)
    made.part("x")
    assert made.run("printf 'so far: '; read x; echo got $x", "got y", types=("y",)) == "so far: y\ngot y"
    for line, wanted in (
        ("echo other", {}),
        ("echo this; exit 3", {}),
        ("echo this", {"code": 1}),
        ("echo this", {"silent": True}),
        ("echo this", {"types": ("y",)}),
    ):
        with pytest.raises(tour.Wrong):
            made.run(line, "this", **wanted)
    made.until = 0.0
    with pytest.raises(tour.Wrong, match="in time"):
        made.run("cat")
    shown = tour.fixed(
        f"{tmp_path}/home/dev/x {REPO}/.venv/bin/python3.11 y --id 0123456789abcdef\nKHHSW  codex 12.5 ms", made
    )
    assert shown == "/home/dev/x /home/dev/jevhook/.venv/bin/python y --id 5ac1f09be6d27734\nKXQTB  codex … ms"


def test_a_part_that_could_not_be_run_stays_as_the_page_has_it(tmp_path: Path) -> None:
    sys.path.insert(0, str(REPO / "scripts"))
    try:
        import tour
    finally:
        sys.path.pop(0)
    made = tour.Tour(tmp_path, live=False, seconds=20)
    old = PAGE.read_text(encoding="utf-8")
    for part in old.split("\n\n## ")[1:]:
        made.part(part.partition("\n")[0])
    assert tour.differs(old, tour.page(made, old)) == ""
    assert "+something else" in tour.differs(old, old + "something else\n")


def test_what_the_readme_shows_are_lines_of_the_tour_in_its_order() -> None:
    section = (REPO / "README.md").read_text(encoding="utf-8").split("\n## What you see\n")[1].split("\n## ")[0]
    shown = "".join(re.findall(r"^```console\n(.*?)^```$", section, flags=re.S | re.M)).splitlines()
    assert 15 <= len(shown) <= 30
    rest = iter(PAGE.read_text(encoding="utf-8").splitlines())
    assert [line for line in shown if line not in rest] == []
