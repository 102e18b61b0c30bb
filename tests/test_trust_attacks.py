"""The agent works on the gate itself: scripts/trust_attacks.py in its short form, and what grew out of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from jevhook.cli.judging import bash_event, bench
from jevhook.event import Event
from jevhook.points import risk

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import trust_attacks

HOME, CWD = "/home/dev", "/home/dev/shop"


def test_no_way_to_write_the_gates_or_the_hosts_files_is_let_through() -> None:
    failed: list[str] = []
    rows = trust_attacks.run(True, failed)
    assert failed == []
    assert sum(row["how many"] for row in rows) > 1000
    assert not any(row[what] for row in rows for what in ("lost", "hung", "crashed", "let through"))


# fmt: off
EVERYDAY = [
    "perl -pi -e s/a/b/ src/a.py",
    "yq -i '.a = 1' config.yml",
    "vim src/a.py",
    "gzip notes.txt",
    "jq . package.json | sponge package.json",
    "openssl enc -d -in x -out y",
    "aws s3 cp s3://b/x data/x",
    "docker cp c:/x out",
    "ls -o ~/.claude/settings.json",
    "grep -o hooks ~/.claude/settings.json",
    "perl -ne print ~/.claude/settings.json",
    "perl -Mstrict -ne print ~/.claude/settings.json",
    "yq .hooks ~/.claude/settings.json",
    "vim -R ~/.claude/settings.json",
    "gzip -c ~/.claude/settings.json",
    "npx prettier --check .claude/settings.json",
    "aws s3 cp ~/.claude/settings.json s3://b/x --dryrun",
    "git checkout -- src/a.py",
    "git restore --staged .claude/settings.json",
    "git mv a.py b.py",
    "git apply --check x.patch",
    "git add .claude/settings.json",
    "tar tf x.tar jevhook/config.toml",
    "crontab -l",
    "pgrep -f jevhook",
    "git branch -d jevhook",
    "docker ps --filter name=jevhook",
    "cp -P notes.txt other.txt",
    "cat /proc/self/cwd/a.py",
    "claude config list",
    "claude plugin list",
    "npx @openai/codex --version",
    "sed -n 's/a/b/w out.txt' x",
    "echo > ${x}dex/hooks.json",
    "cat $DIR/settings.json > $DIR/settings.bak",
    "npm install --prefix web left-pad",
    "systemctl --user status jevhook",
    "git stash push -- src/a.py",
    "git worktree add ../other main",
    "python3 -m json.tool x out.json",
]
# fmt: on


@pytest.mark.parametrize("line", EVERYDAY)
def test_what_only_looks_like_it_is_not_stopped(line: str) -> None:
    decision = risk.judge(bash_event(line, CWD), bench("default", HOME, CWD).context()).judged
    assert not str(decision.rule).startswith("self."), decision.reason


SETTINGS = f"{HOME}/.claude/settings.json"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__fs__read_file", {"path": SETTINGS}),
        ("mcp__fs__get_file_info", {"path": SETTINGS}),
        ("mcp__fs__directory_tree", {"path": f"{HOME}/.claude"}),
        ("mcp__fs__search_files", {"path": f"{HOME}/.claude", "pattern": "hooks"}),
        ("mcp__git__git_diff", {"repo_path": CWD, "files": [".claude/settings.json"]}),
        ("mcp__git__git_log", {"repo_path": CWD, "path": ".claude/settings.json"}),
        ("mcp__github__create_issue", {"title": "about .claude/settings.json", "body": SETTINGS + " is odd"}),
        ("mcp__slack__send_message", {"text": SETTINGS}),
        ("mcp__fs__write_file", {"path": "NOTES.md", "content": SETTINGS}),
        ("str_replace_based_edit_tool", {"command": "view", "path": SETTINGS}),
        ("str_replace_based_edit_tool", {"command": "create", "path": "src/a.py", "file_text": "x"}),
        ("Read", {"file_path": SETTINGS}),
        ("Bash", {"command": "create src/a.py"}),
    ],
)
def test_a_tool_that_looks_or_only_speaks_of_it_is_not_stopped(tool: str, given: dict[str, Any]) -> None:
    event = Event("claude", "before-tool", "PreToolUse", tool=tool, input=given, cwd=CWD)
    decision = risk.judge(event, bench("default", HOME, CWD).context()).judged
    assert not str(decision.rule).startswith("self."), decision.reason


@pytest.mark.parametrize(
    "line",
    ["curl -u admin:§ https://x.example", "mysql -u root -p§ shop", "docker login -u me -p § r.example"],
)
def test_a_findings_words_hide_what_the_whole_line_would(line: str) -> None:
    reading = risk.read(bash_event(line.replace("§", "hunter2Xy9zKqAb"), CWD), bench("default", HOME, CWD).context())
    shown = [finding.record().get("words", "") for finding in reading.findings]
    assert any(shown) and not any("hunter2" in str(words) for words in shown)
