"""Tool calls by their input's shape: Codex lines and patches, notebook cells, MCP tools, files that show secrets."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from jevhook.event import Event
from jevhook.rules import compile_rules, match
from jevhook.shell.calls import cell_parts, read_call
from jevhook.shell.paths import Place
from jevhook.shell.world import RealWorld

PACKS = sorted((Path(__file__).parent.parent.parent / "policies" / "rules").glob("*.toml"))
TABLE = compile_rules([rule for pack in PACKS for rule in tomllib.loads(pack.read_text())["rule"]])[0]
CWD = "/home/dev/work/shop"
PLACE = Place(RealWorld({"HOME": "/home/dev", "USER": "dev"}), CWD, ["/home/dev/.config/jevhook"])
PATCH = "*** Begin Patch\n*** Update File: /home/dev/.claude/settings.json\n+x\n*** End Patch"


def strongest(tool: str, given: dict[str, Any]) -> str:
    event = Event("claude", "before-tool", "PreToolUse", tool=tool, input=given, cwd=CWD, raw={})
    found = match(TABLE, read_call(event, PLACE).findings)
    return found[0].severity if found else "none"


@pytest.mark.parametrize(
    ("tool", "given", "want"),
    [
        ("exec_command", {"cmd": "rm -rf ~"}, "deny"),
        ("unified_exec", {"cmd": "rm -rf ~"}, "deny"),
        ("exec_command", {"cmd": ["rm", "-rf", "/home/dev"]}, "deny"),
        ("shell", {"command": ["bash", "-lc", "rm -rf ~"]}, "deny"),
        ("local_shell", {"command": ["bash", "-lc", "rm -rf ~"]}, "deny"),
        ("exec_command", {"cmd": "rm -rf *", "workdir": "/home/dev"}, "deny"),
        ("apply_patch", {"command": PATCH}, "deny"),
        ("apply_patch", {"input": PATCH}, "deny"),
        ("apply_patch", {"patch": PATCH}, "deny"),
        ("mcp__sh__exec", {"argv": ["rm", "-rf", "/home/dev"]}, "deny"),
        ("mcp__jupyter__execute_cell", {"source": "!rm -rf ~"}, "deny"),
        ("mcp__jupyter__add_cell", {"source": "%%bash\nrm -rf ~"}, "deny"),
        ("mcp__jupyter__execute_code", {"code": "import os\n!rm -rf ~"}, "deny"),
        ("mcp__jupyter__execute_cell", {"source": "print(1)"}, "none"),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "!rm -rf ~"}, "deny"),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "!rm -rf ~", "cell_type": "markdown"}, "none"),
        ("mcp__pg__run", {"statement": "DROP TABLE users"}, "ask"),
        ("mcp__redis__execute", {"command": "FLUSHALL"}, "ask"),
        ("mcp__fs__move_file", {"source": "/home/dev/work", "destination": "/tmp/x"}, "ask"),
        ("mcp__todo__delete_task", {"id": "1"}, "note"),
        ("mcp__stripe__list_refunds", {}, "none"),
        ("Read", {"file_path": "/home/dev/.ssh/id_rsa"}, "ask"),
        ("Read", {"file_path": "config/master.key"}, "ask"),
        ("Read", {"file_path": ".env"}, "ask"),
        ("read_file", {"path": ".env"}, "ask"),
        ("Read", {"file_path": ".env.example"}, "none"),
        ("Grep", {"pattern": "x", "path": "/home/dev/.aws", "output_mode": "content"}, "ask"),
        ("Grep", {"pattern": "x", "glob": ".env*", "output_mode": "content"}, "ask"),
        ("Grep", {"pattern": "x", "path": ".env"}, "none"),
        ("Write", {"file_path": "/home/dev/.local/bin/git", "content": "x"}, "ask"),
        ("Write", {"file_path": "/home/dev/.gitconfig", "content": "x"}, "ask"),
        ("Write", {"file_path": ".venv/lib/python3.11/site-packages/x.pth", "content": "x"}, "ask"),
        ("Write", {"file_path": "/home/dev/.gradle/init.gradle", "content": "x"}, "ask"),
        ("Write", {"file_path": ".mcp.json", "content": "{}"}, "note"),
        ("Write", {"file_path": "bin/tool", "content": "x"}, "none"),
    ],
    ids=lambda value: value if isinstance(value, str) else json.dumps(value)[:60],
)
def test_a_tool_call_is_judged_by_its_shape(tool: str, given: dict[str, Any], want: str) -> None:
    assert strongest(tool, given) == want


@pytest.mark.parametrize(
    ("source", "shell", "rest"),
    [
        ("!ls", "ls", ""),
        ("%%bash\nls\npwd", "ls\npwd", ""),
        ("x = !ls -l\nprint(x)", "ls -l", "print(x)"),
        ("%sx ls", "ls", ""),
        ("print('!ls')", "", "print('!ls')"),
        ("%matplotlib inline\nx = 1", "", "\nx = 1"),
    ],
)
def test_a_cell_falls_into_shell_lines_and_the_rest(source: str, shell: str, rest: str) -> None:
    assert cell_parts(source) == (shell, rest)


def test_a_file_that_is_piped_into_a_client_is_read_from_disk(tmp_path: Path) -> None:
    script = tmp_path / "d.sql"
    script.write_text("DROP TABLE users;\n")
    for line in (f"cat {script} | psql shop", f"psql shop -c '\\i {script}'", f"mysql shop -e 'source {script}'"):
        assert strongest("Bash", {"command": line}) == "ask", line
    script.write_text("SELECT 1;\n")
    assert strongest("Bash", {"command": f"cat {script} | psql shop"}) == "none"
