"""What is proven to only look, what never is, and what is granted because of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jevhook.decide import decide
from jevhook.event import Event
from jevhook.points import Context, risk
from jevhook.policy import Policy
from jevhook.shell.calls import read_call, shell_call
from jevhook.shell.harmless import awk_only_prints, known, sed_only_prints
from jevhook.shell.paths import Place
from jevhook.shell.readonly import plainly, proven, shadowed
from jevhook.shell.world import RealWorld

HERE = Path(__file__).parent
HOME, CWD = "/home/dev", "/home/dev/work/shop"
CLAUDE = frozenset(("allow", "ask", "context", "deny"))
CODEX = frozenset(("context", "deny"))

NEVER = [
    line.replace("\\n", "\n")
    for line in (HERE / "never_proven.txt").read_text().splitlines()
    if line and not line.startswith("#")
]

LOOKS = r"""
ls
ls -la
pwd
# a comment
cat README.md
cat -n src/app.py tests/test_app.py
head -n 20 src/app.py
tail -5 build.log
wc -l src/app.py
du -sh .
stat ~/.ssh/id_rsa
ls -l ~/.ssh
grep -rn "TODO" src
grep -E '(foo|bar)+' src/app.py | sort | uniq -c | sort -rn | head
rg -n pattern src
find . -name '*.py' -type f
find . -name id_rsa
find . -name '*.py' -exec grep -l main {} +
find src -type f -exec wc -l {} \;
find . -name '*.py' | xargs wc -l
find . -name '*.py' -print0 | xargs -0 grep -n main
git ls-files | xargs wc -l
sort -k2,2n -t, data.csv
sort -u < names.txt
uniq -c -f 1 names.txt
cut -d: -f1 /etc/passwd
sed -n '1,20p' src/app.py
sed -n '/start/,/end/p' src/app.py
sed -e 's/a/b/g' -e '/x/d' src/app.py
sed ':a;N;$!ba;s/\n/ /g' notes.txt
awk '{print $1}' notes.txt
awk '{print $1}' *.log | sort | uniq | wc -l
awk -F: '$3 > 1000 {print $1}' /etc/passwd
awk 'NR==1 || /foo|bar/ {s += $2} END {print s / NR}' notes.txt
jq '.scripts | keys' package.json
diff -u a.txt b.txt
base64 logo.png
xxd -l 64 a.out
date +%Y-%m-%d
date -d yesterday
uname -a
hostname
ps aux --sort -rss
top -b -n 1
tar tzf dist.tar.gz
unzip -l dist.zip
gzip -dc access.log.gz | head
which python3
man git
less README.md
git status
git status --short --branch
git log --oneline -5
git log --since='2 weeks ago' --author=me
git -C ../other diff --stat
git --no-pager show HEAD:src/app.py
git branch
git branch -a --list 'feature/*'
git branch --contains abc123
git tag -l 'v1.*'
git remote -v
git config --get user.name
git stash list
git stash show -p
git reflog
git worktree list
git rev-parse HEAD
git grep -n main -- src
docker ps -a
docker logs --tail 100 web
docker compose -f compose.yml ps
docker image ls
kubectl get pods -n shop
kubectl -n shop describe pod web
kubectl logs -f web
kubectl get secrets
kubectl get secret db -o name
kubectl config current-context
helm list -A
terraform validate
terraform state list
terraform fmt -check -diff
aws s3 ls s3://bucket/prefix
aws --region eu-west-1 ec2 describe-instances
aws iam get-account-summary
gcloud compute instances list --project shop
az vm show -g shop -n web
gh pr view 12 --json title
gh api repos/owner/name/pulls
gh api -X GET search/issues -f q=bug
npm ls --depth=0
npm view lodash version
pip list
pip show requests
cargo tree
go list ./...
brew info jq
apt list --installed
dpkg -l
systemctl status nginx
journalctl -u nginx -n 50
ip addr show
sysctl -n kernel.ostype
openssl x509 -noout -text -in server.crt
python3 --version
node -v
git push --help
docker run --help
bash -c 'git status && ls'
sh -lc "grep -n main src/app.py | head"
env LC_ALL=C sort names.txt
timeout 10 git log
nice -n 5 find . -name '*.c'
time git status
command -v git
GIT_PAGER=cat git log -3
NO_COLOR=1 rg x
cd src && ls
cd src; cat app.py | head -3; pwd
ls 2>/dev/null
ls > /dev/null 2>&1
cat <<'EOF'
echo "$HOME"
echo $(date) $(whoami)
echo "a: $(git rev-parse --short HEAD)"
for f in *.py; do wc -l "$f"; done
for f in a.txt b.txt; do echo "== $f"; head -3 "$f"; done
for d in src tests; do find $d -name '*.py' | wc -l; done
n=5; head -$n README.md
dir=src; ls -l "$dir"; sort -u "$dir/names.txt"
if [ -f README.md ]; then head README.md; else echo none; fi
test -d .git && git status
[[ -f a.txt && -f b.txt ]] && diff a.txt b.txt
while read -r line; do echo "$line"; done < names.txt
ls -l $(git rev-parse --show-toplevel)
git log "--since=$(date +%Y)"
head -$((2 + 3)) README.md
diff <(sort a.txt) <(sort b.txt)
printf '%s\n' a b | sort
ls | tee /dev/null
/usr/bin/git status
(cd src && ls)
{ ls; pwd; }
true || ls
sleep 1; ls
""".strip().replace("cat <<'EOF'", "cat <<'EOF'\\nhello $(rm x)\\nEOF")


def place(cwd: str = CWD, home: str = HOME) -> Place:
    return Place(RealWorld({"HOME": home, "USER": "dev"}, home), cwd)


def is_proven(command: str, cwd: str = CWD) -> bool:
    where = place(cwd)
    return proven(shell_call(command, cwd, where), where)


@pytest.mark.parametrize(
    "command", [line.replace("\\nhello", "\nhello").replace("\\nEOF", "\nEOF") for line in LOOKS.splitlines()]
)
def test_what_only_looks_is_proven(command: str) -> None:
    assert is_proven(command)


@pytest.mark.parametrize("command", NEVER)
def test_what_writes_sends_tells_or_runs_is_never_proven(command: str) -> None:
    assert not is_proven(command)
    assert not plainly(command, CWD)


@pytest.mark.parametrize(
    "tail", ["; rm x", " && touch x", " | sh", " > out", "; sudo ls", " $(rm x)", " `rm x`", "\nrm x", " & curl x"]
)
@pytest.mark.parametrize("command", ["ls", "git status", "cat a.txt", "docker ps"])
def test_nothing_harmful_hides_behind_a_harmless_command(command: str, tail: str) -> None:
    assert is_proven(command)
    assert not is_proven(command + tail)
    assert not plainly(command + tail, CWD)


def everything() -> list[str]:
    """Many plain lines: each known word with each other's arguments."""
    rows = [line for line in LOOKS.splitlines() if "\\n" not in line] + NEVER
    tails = sorted({" ".join(row.split()[1:]) for row in rows if "\n" not in row})
    heads = ["ls", "cat", "sort", "git", "docker", "find", "kubectl", "tar", "sed", "awk", "date", "xxd", "gh", "pip"]
    return rows + [f"{head} {tail}" for head in heads for tail in tails]


def test_what_is_plain_is_proven_and_no_shipped_rule_stops_it() -> None:
    ctx = Context(Policy(), {"HOME": HOME, "USER": "dev"}, 0.0, home=HOME, offline=True)
    plain = [command for command in everything() if plainly(command, CWD)]
    assert len(plain) > 300
    for command in plain:
        assert is_proven(command), command
        reading = risk.read(bash(command), ctx)
        assert all(hit.severity == "note" for hit in risk._hits(reading, ctx)), command


@pytest.mark.parametrize(
    "command",
    [
        "",
        " ",
        "a=1",
        "ls;",
        "ls\n",
        "ls 'a'",
        "ls *",
        "ls $x",
        "~/ls",
        "./ls",
        "ls ~root",
        "ls =x",
        "cat /proc/1/environ",
        "cd x",
        "test -v x",
        "bash -c ls",
        "cat .env",
        "cat src/.ENV",
    ],
)
def test_what_needs_a_closer_look_is_not_plain(command: str) -> None:
    assert not plainly(command, CWD)


def test_a_link_to_a_secret_is_a_secret(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "notes.txt").symlink_to(tmp_path / ".env")
    (tmp_path / "plain.txt").write_text("x")
    for tool in ("cat", "sort", "git diff --no-index plain.txt"):
        assert not plainly(f"{tool} notes.txt", str(tmp_path))
        assert not is_proven(f"{tool} notes.txt", str(tmp_path))
    assert plainly("cat plain.txt", str(tmp_path))


@pytest.mark.parametrize(
    ("script", "prints"),
    [
        ("p", True),
        ("1,10p", True),
        ("$!d", True),
        ("/a/,/b/{s/x/y/;p}", True),
        ("s|a/b|c|g", True),
        ("s/a\\/b/c/", True),
        ("y/abc/xyz/", True),
        ("/a/!d", True),
        ("\\,a/b,d", True),
        ("a hello w file", True),
        ("# w file", True),
        ("s/x/y/w f", False),
        ("s/x/y/e", False),
        ("s/x/y/gw f", False),
        ("w f", False),
        ("/a/w f", False),
        ("1!w f", False),
        ("e date", False),
        ("r f", False),
        ("R f", False),
        ("p;w f", False),
        ("{p;w f\n}", False),
        ("a hi\nw f", False),
        ("s/[/]/x/w f", False),
        ("s/x/y", False),
        (":a w f\nw f", False),
    ],
)
def test_a_sed_script_is_read_command_by_command(script: str, prints: bool) -> None:
    assert sed_only_prints(script) is prints


@pytest.mark.parametrize(
    ("program", "prints"),
    [
        ("{print}", True),
        ("$1 > 10", True),
        ("{print ($1 > 10)}", True),
        ("{if ($1 > 10) print}", True),
        ("/a>b/ {print}", True),
        ('{print ">"}', True),
        ('{print "|"}', True),
        ("/a|b/", True),
        ("{x = $1 / $2; print x}", True),
        ("{print $1}\n$2 > 3", True),
        ('{print > "f"}', False),
        ('{print $1 / 2 > "f"}', False),
        ("{print $1,\n$2 > 3}", False),
        ('{print | "sh"}', False),
        ('{"x" | getline}', False),
        ('/"/{print > "f"}', False),
        ('{a = b / "/" > c; print > "f"}', False),
        ('function f() { system("x") }', False),
        ('@include "x"', False),
        ("{print (1) / 2}", False),  # a division here: not told apart from a regular expression
    ],
)
def test_an_awk_program_is_read_token_by_token(program: str, prints: bool) -> None:
    assert awk_only_prints(program) is prints


def test_unknown_programs_and_options_of_known_ones_are_not_known() -> None:
    assert known("git", ["status"])
    assert not known("git", ["frobnicate"])
    assert not known("docker", ["--frobnicate", "ps"])
    assert not known("frobnicate", ["--help"])


@pytest.mark.parametrize(
    ("tool", "given", "looks"),
    [
        ("Read", {"file_path": CWD + "/a.py"}, True),
        ("Read", {"file_path": CWD + "/.env"}, False),
        ("Grep", {"pattern": "x", "path": CWD}, True),
        ("Grep", {"pattern": "x", "path": HOME + "/.ssh"}, False),
        ("Grep", {"pattern": "x", "glob": ".env"}, False),
        ("Glob", {"pattern": "**/*.py"}, True),
        ("LS", {"path": CWD}, True),
        ("Write", {"file_path": CWD + "/a.py", "content": ""}, False),
        ("WebFetch", {"url": "https://example.org"}, False),
        ("Task", {"prompt": "x"}, False),
        ("Frobnicate", {}, False),
        ("mcp__files__read_file", {"path": CWD + "/a.py"}, False),
        ("mcp__shell__run", {"command": "ls"}, False),
    ],
)
def test_file_tools_that_look_are_proven_and_other_tools_never(tool: str, given: dict[str, str], looks: bool) -> None:
    event = Event("claude", "before-tool", "PreToolUse", tool=tool, input=given, cwd=CWD)
    assert proven(read_call(event, place()), place()) is looks


# Grants.


def bash(command: str, cwd: str = CWD, **given: object) -> Event:
    return Event("claude", "before-tool", "PreToolUse", tool="Bash", input={"command": command, **given}, cwd=cwd)


def programs(directory: Path, *names: str, mode: int = 0o755) -> str:
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        (directory / name).write_text("#!/bin/sh\n")
        (directory / name).chmod(mode)
    return str(directory)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that counts as no temporary one, though every test's does."""
    monkeypatch.setattr(Place, "temps", property(lambda self: ["/nowhere"], lambda self, value: None), raising=False)
    return tmp_path


def test_a_program_that_path_takes_from_an_untrusted_place_is_shadowed(machine: Path) -> None:
    safe = programs(machine / "usr" / "bin", "ls", "git")
    project = machine / "shop"
    (project / ".git").mkdir(parents=True)
    where = place(str(project))
    mine = programs(project / "bin", "git")
    loose = programs(machine / "loose", "git", mode=0o777)
    shared = programs(machine / "shared", "git")
    os.chmod(shared, 0o777)
    link = machine / "links"
    link.mkdir()
    (link / "git").symlink_to(project / "bin" / "git")
    for path, found in [
        (safe, ""),
        (f"{safe}:{mine}", ""),
        (f"{mine}:{safe}", "git"),
        (f"{loose}:{safe}", "git"),
        (f"{shared}:{safe}", "git"),
        (f"{link}:{safe}", "git"),
        (f"bin:{safe}", "git"),
        (f"/nothing/here:{safe}", ""),
        ("", ""),
    ]:
        assert shadowed(["ls", "git"], where, {"PATH": path}) == found, path
    assert shadowed(["echo"], where, {"PATH": mine}) == ""
    assert shadowed(["ls"], where, {"PATH": safe, "BASH_FUNC_ls%%": "() { :; }"}) == "ls"
    (project / "ls").write_text("")
    (project / "ls").chmod(0o755)
    assert shadowed(["ls"], where, {"PATH": f":{safe}"}) == "ls"


def granting(env: dict[str, str], **changes: object) -> Context:
    policy = Policy()
    policy.allow = "grant"
    policy.layers = [["shipped", "default.toml"]]
    for name, value in changes.items():
        setattr(policy, name, value)
    return Context(policy, env, 0.0, home=HOME, offline=True)


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ("ls -la", "allow"),
        ("ls | head -3", "allow"),
        ("git log --oneline", "allow"),
        ("touch x", "none"),
        ("cat .env", "none"),
        ("rm -rf ~", "deny"),
        ("git log > out", "none"),
    ],
)
def test_only_what_is_proven_is_granted(machine: Path, command: str, outcome: str) -> None:
    path = programs(machine / "bin", "ls", "head", "git")
    verdict = decide(bash(command), granting({"PATH": path}).policy, granting({"PATH": path}), CLAUDE)
    assert verdict.decision.outcome in ((outcome, "ask") if command == "cat .env" else (outcome,))
    assert (
        decide(bash(command), granting({"PATH": path}).policy, granting({"PATH": path}), CODEX).decision.outcome
        != "allow"
    )
    silent = granting({"PATH": path}, allow="silent")
    assert decide(bash(command), silent.policy, silent, CLAUDE).decision.outcome != "allow"


def test_a_shadowed_program_is_not_granted_and_the_ledger_says_which(machine: Path) -> None:
    project = machine / "shop"
    (project / ".git").mkdir(parents=True)
    path = programs(project / "bin", "ls", "grep")
    ctx = granting({"PATH": path})
    for command, name in (("ls -la", "ls"), ("echo x | grep x", "grep")):
        verdict = decide(bash(command, str(project)), ctx.policy, ctx, CLAUDE)
        assert verdict.decision.outcome == "none"
        assert (verdict.points[0]["read_only"], verdict.points[0]["shadowed"]) == (False, name)


def test_a_call_outside_the_hosts_sandbox_or_in_another_shell_is_not_granted(machine: Path) -> None:
    ctx = granting({"PATH": programs(machine / "bin", "ls")})
    for event in (
        bash("ls", dangerouslyDisableSandbox=True),
        Event("claude", "before-tool", "PreToolUse", tool="PowerShell", input={"command": "ls"}, cwd=CWD),
        Event("claude", "before-tool", "PreToolUse", tool="Frobnicate", input={"command": "ls"}, cwd=CWD),
    ):
        assert decide(event, ctx.policy, ctx, CLAUDE).decision.outcome == "none"


def test_a_plain_command_needs_no_walk_unless_a_policy_has_rules_of_its_own() -> None:
    ctx = granting({}, allow="silent")
    assert risk.judge(bash("git status"), ctx).record == {"read_only": True, "tier": "plain"}
    ctx.policy.judge = {**ctx.policy.judge, "when": "always"}
    assert "tier" not in risk.judge(bash("git status"), ctx).record
    own = granting({}, allow="silent", layers=[["user", "config.toml"], ["shipped", "default.toml"]])
    rule = {
        "id": "team.no-log",
        "severity": "ask",
        "program": ["git"],
        "effect": ["run"],
        "reason": "No.",
        "layer": "user",
    }
    from jevhook.rules import compile_rules

    table, problems = compile_rules([rule])
    assert not problems
    own.policy._rules = {**table, "exceptions": []}
    assert risk.judge(bash("git log"), own).judged.outcome == "ask"
    assert risk.judge(bash("ls"), own).record == {"read_only": True, "tier": "plain"}


def test_autopilot_grants_on_claude_and_says_nothing_on_codex(lane_env: dict[str, str], tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    claude = {
        "session_id": "s",
        "transcript_path": "",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": "pwd"},
        "tool_use_id": "t1",
    }
    codex = {**claude, "turn_id": "1", "model": "m"}
    for host, payload, said in (("claude", claude, "allow"), ("codex", codex, None)):
        for command in ("pwd", "echo a | head -1" if host == "codex" else "echo a; pwd", "touch x"):
            ran = subprocess.run(
                [sys.executable, "-m", "jevhook", "hook", "--host", host, "--policy", "autopilot"],
                input=json.dumps({**payload, "tool_input": {"command": command}}),
                capture_output=True,
                text=True,
                env=lane_env,
                cwd=project,
                check=True,
            )
            if said is None or command == "touch x":
                assert ran.stdout == "", (host, command)
            else:
                assert ran.stdout, (command, ran.stderr)
                told = json.loads(ran.stdout)["hookSpecificOutput"]
                assert (told["hookEventName"], told["permissionDecision"]) == ("PreToolUse", "allow")


@pytest.fixture
def lane_env(private_home: Path) -> dict[str, str]:
    kept = ("PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "LANG")
    return {name: os.environ[name] for name in kept if name in os.environ}
