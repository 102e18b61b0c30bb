"""docs/use.md shows what works: its programs run, its commands' options exist, its JSON is a request."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jevhook.cli.gate import gate
from jevhook.cli.judge import judge
from jevhook.cli.rank import rank
from jevhook.cli.rerank import rerank
from jevhook.cli.review import review
from jevhook.cli.verify import verify
from jevhook.mcp_server import TOOLS
from jevhook.use.request import read
from jevhook.use.verdict import handed_back
from tests.systemone.loopback import serve
from tests.use.test_jev import answering, env_for

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "use.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.S | re.M)


@pytest.mark.parametrize("program", blocks("python"), ids=["judge", "gate"])
def test_the_programs_run(tmp_path: Path, program: str) -> None:
    with serve(answering) as server:
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            env=env_for(tmp_path, server.url),
            cwd=tmp_path,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] in ("{'green': 0.9, 'who': 'build', 'bad': 0.1} jev-1.13.0", "deny")


def test_the_commands_options_exist() -> None:
    commands = (judge, gate, rank, verify, review, rerank)
    known = {command.name: {o for p in command.params for o in p.opts} for command in commands}
    shown = re.findall(r"jev-use (\w+) (.*)$", "\n".join(blocks("console")), flags=re.M)
    assert {name for name, _ in shown} == set(known)
    for name, rest in shown:
        bare = re.sub(r"'[^']*'", "''", rest)  # a quoted command has options of its own
        assert set(re.findall(r"(?<= )--[a-z-]+", f" {bare}")) <= known[name]


def test_the_request_shown_is_one() -> None:
    (shown,) = blocks("json")
    assert [question.fault for question in read(json.loads(shown)).questions] == ["", "", ""]


def test_the_page_names_every_field_and_reason_of_a_verdict() -> None:
    fields = set(handed_back("x", "noul", "unsure", "why").json()) | {"confidenceFrom", "distribution", "legend"}
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert fields | {"writing", "open_ended", "oversized", "unsure", "unreachable"} <= named


def test_the_page_names_every_mcp_tool() -> None:
    assert {f"`{name}`" for name in TOOLS} <= set(re.findall(r"`\w+`", PAGE))
