"""Where jevhook comes from and what comes with it: the lock, the wheel, other Pythons, imports.

    .venv/bin/python scripts/trust_supply.py [--quick]

Builds the wheel twice from two copies of the tree and compares the bytes; installs it with the hashes of
requirements.lock into clean environments outside the checkout, one for each Python >= 3.11 that is here, and runs a
real event through each; imports every module with no network, and every module of the hook's way without what only
POSIX has; audits the lock where an advisory database can be reached, and says so where none can.

Packages come through pip, as it is configured.  --quick: this Python only, no audit.
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
EPOCH = "1700000000"
LIMIT = 300  # seconds for one pip
VERSIONS = ("3.11", "3.12", "3.13", "3.14")

# Run in a process of its own: every module is imported while any attempt to reach a network ends it.
NO_NETWORK = """
import importlib, json, pkgutil, sys
reached, failed = [], []
def guard(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "socket.sendto", "subprocess.Popen", "os.system"):
        reached.append(event)
        raise OSError("no network at import")
sys.addaudithook(guard)
import jevhook
names = [m.name for m in pkgutil.walk_packages(jevhook.__path__, "jevhook.") if not m.name.endswith("__main__")]
for name in names:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as wrong:
        if wrong.name.partition(".")[0] == "jevhook":
            failed.append(f"{name}: {wrong}")
    except Exception as wrong:
        failed.append(f"{name}: {type(wrong).__name__}: {wrong}")
print(json.dumps({"count": len(names), "reached": reached, "failed": failed}))
"""

# The hook, before and after a call, where the modules, functions and flags that only POSIX has are not there.
WITHOUT = """
import json, sys
BLOCKED = ("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "spwd", "crypt", "syslog", "readline")
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r} here", name=name)
sys.meta_path.insert(0, Blocker())
for name in BLOCKED:
    sys.modules.pop(name, None)
import importlib, os, pkgutil, signal, socket
for name in ("getuid", "geteuid", "getgid", "getegid", "fchmod", "fchown", "chown", "lchown", "fork", "setsid", "killpg",
             "uname", "getpgid", "sysconf", "statvfs", "mkfifo", "nice", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC",
             "O_DIRECTORY", "register_at_fork", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGALRM", "SIGKILL", "SIGHUP", "SIGQUIT", "SIGUSR1", "setitimer", "alarm", "pause", "pthread_sigmask"):
    if hasattr(signal, name):
        delattr(signal, name)
del socket.AF_UNIX
"""
NO_POSIX = """
import jevhook
from jevhook import hook
failed, count = [], 0
for event in json.load(sys.stdin):
    lane = hook.Lane(hook.Options(), dict(os.environ))
    output = hook.run(json.dumps(event).encode(), lane)
    hook.write_ledger(lane)
    count += 1
    wanted = event["hook_event_name"] == "PreToolUse"
    if lane.record.get("reason") or wanted != bool(output.stdout):
        failed.append(f"{event['hook_event_name']}: {lane.record.get('reason')} {lane.troubles[:1]} {output.stdout[:80]}")
used = [name for name in sys.modules if name.startswith("jevhook")]
for package in ("points", "shell", "shell.programs", "shell.code", "hosts", "state", "text", "judges", "systemone", "resident"):
    module = importlib.import_module("jevhook." + package)
    for found in pkgutil.iter_modules(module.__path__, module.__name__ + "."):
        if found.name.endswith("_install"):
            continue
        try:
            importlib.import_module(found.name)
            count += 1
        except ModuleNotFoundError as wrong:
            if wrong.name.partition(".")[0] in ("jevhook", *BLOCKED):
                failed.append(f"{found.name}: {wrong}")
        except Exception as wrong:
            failed.append(f"{found.name}: {type(wrong).__name__}: {wrong}")
print(json.dumps({"count": count, "failed": failed, "used": len(used)}))
"""


WHOLE = """
sys.argv = ["jevhook", "hook", "--host", "claude"]
from jevhook.__main__ import main
main()
"""


def row(what: str, count: int, **found: Any) -> dict[str, Any]:
    """One line of scripts/trust's table."""
    return {"what": what, "how many": count, "lost": 0, "hung": 0, "crashed": 0, "let through": 0, "note": "", **found}


def event(kind: str, project: str) -> dict[str, Any]:
    """A call of Claude Code that is stopped, before or after it."""
    made = {
        "session_id": "supply", "transcript_path": "", "cwd": project, "permission_mode": "default",
        "hook_event_name": kind, "tool_name": "Bash", "tool_input": {"command": "rm -rf ~/"}, "tool_use_id": "toolu_1",
    }  # fmt: skip
    if kind == "PostToolUse":
        made["tool_response"] = {"stdout": "ok", "stderr": "", "interrupted": False, "isImage": False}
    return made


def imports() -> list[dict[str, Any]]:
    """No network at import, and no module that only POSIX has on the hook's way."""
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    found = json.loads(done.stdout or '{"count": 0, "reached": [], "failed": ["it did not end well"]}')
    rows = [
        row(
            "modules imported without a network", found["count"], crashed=len(found["failed"]),
            note="; ".join(found["failed"][:2]), **{"let through": len(found["reached"])},
        )
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="jevhook-supply-") as home:
        os.makedirs(f"{home}/shop/.git")
        events = [event("PreToolUse", f"{home}/shop"), event("PostToolUse", f"{home}/shop")]
        env = {"HOME": home, "PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT + NO_POSIX], input=json.dumps(events), cwd=home, capture_output=True, text=True,
            env=env, timeout=120, check=False,
        )  # fmt: skip
        whole = subprocess.run(
            [sys.executable, "-c", WITHOUT + WHOLE], input=json.dumps(events[0]), cwd=home, capture_output=True,
            text=True, env=env, timeout=120, check=False,
        )  # fmt: skip
    found = json.loads(done.stdout or json.dumps({"count": 0, "failed": [done.stderr[-200:]]}))
    found["count"] += 1
    if whole.returncode or '"deny"' not in whole.stdout or whole.stderr:
        found["failed"].append(f"whole process: exit {whole.returncode} {whole.stdout[:80]} {whole.stderr[-200:]}")
    rows.append(
        row(
            "the hook without what only POSIX has", found["count"], crashed=len(found["failed"]),
            note="; ".join(found["failed"][:2]),
        )
    )  # fmt: skip
    return rows


def _pip(python: str, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", "--no-input", *words],
        capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=LIMIT, check=False,
    )  # fmt: skip


def build(folder: str, number: int) -> tuple[Path | None, str]:
    """The wheel of a copy of the tree, (None, why) when it can't be built.  Only what git knows is copied."""
    tree = Path(folder, f"tree{number}")
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, files):
        source, goal = ROOT / os.fsdecode(name), tree / os.fsdecode(name)
        if source.is_file():
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, goal)  # without its times: those of the two copies differ
            goal.chmod(0o755 if os.access(source, os.X_OK) else 0o644)
    out = Path(folder, f"wheel{number}")
    env = {"SOURCE_DATE_EPOCH": EPOCH, "PIP_BUILD_CONSTRAINT": str(tree / "constraints.txt"), "TZ": "UTC" if number else "Asia/Tokyo"}  # fmt: skip
    done = _pip(sys.executable, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(tree), env=env)
    found = list(out.glob("*.whl"))
    return (found[0], "") if found else (None, done.stderr.strip()[-300:])


def pythons(quick: bool) -> list[tuple[str, str]]:
    """(version, path) of each Python that jevhook supports and that is here, this one first."""
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = [(own, sys._base_executable)]  # type: ignore[attr-defined]
    for version in () if quick else VERSIONS:
        places = [shutil.which(f"python{version}") or "", *sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python")), reverse=True)]  # fmt: skip
        for place in filter(None, places):
            if version == own:
                break
            done = subprocess.run([place, "-c", "import venv, ensurepip"], capture_output=True, check=False)
            if done.returncode == 0:
                found.append((version, place))
                break
    return found


def installs(wheel: Path, folder: str, python: str, version: str) -> str:
    """What is wrong with the wheel in a clean environment of this Python; "" when nothing is."""
    venv = Path(folder, f"venv{version}")
    done = subprocess.run([python, "-m", "venv", str(venv)], capture_output=True, text=True, check=False, timeout=LIMIT)
    if done.returncode:
        return f"no environment: {done.stderr[-200:]}"
    inside = str(venv / "bin" / "python")
    for words in (("install", "--quiet", "--require-hashes", "--only-binary=:all:", "-r", str(LOCK)), ("install", "--quiet", "--no-deps", str(wheel))):  # fmt: skip
        done = _pip(inside, *words)
        if done.returncode:
            return done.stderr.strip()[-300:]
    if _pip(inside, "check").returncode:
        return "pip check finds something missing"
    home = Path(folder, f"home{version}")
    (home / "shop" / ".git").mkdir(parents=True)
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    for command in ([inside, "-I", "-m", "jevhook"], [str(venv / "bin" / "jevhook")]):
        done = subprocess.run(
            [*command, "hook", "--host", "claude"], input=json.dumps(event("PreToolUse", str(home / "shop"))),
            capture_output=True, text=True, env=env, cwd=home, timeout=60, check=False,
        )  # fmt: skip
        said = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout.strip() else {}
        if done.returncode or said.get("permissionDecision") != "deny":
            return f"{command[-1]}: exit {done.returncode}, {done.stdout[:100]} {done.stderr[:200]}"
    gate = {**event("PreToolUse", str(home / "shop")), "tool_input": {"command": f"rm {venv}/lib/python{version}/site-packages/jevhook/hook.py"}}  # fmt: skip
    done = subprocess.run(
        [inside, "-I", "-m", "jevhook", "hook", "--host", "claude"], input=json.dumps(gate), capture_output=True,
        text=True, env=env, cwd=home, timeout=60, check=False,
    )  # fmt: skip
    if '"deny"' not in done.stdout:
        return "an installed gate does not guard its own package"
    lines = (home / ".local/state/jevhook/ledger.ndjson").read_text().splitlines()
    return "" if len(lines) == 3 else f"{len(lines)} ledger lines for three events"


def wheels(quick: bool) -> list[dict[str, Any]]:
    """The wheel twice, then in clean environments."""
    with tempfile.TemporaryDirectory(prefix="jevhook-supply-") as folder:
        built = [build(folder, number) for number in (0, 1)]
        if not all(wheel for wheel, _ in built):
            return [row("wheels built", 2, crashed=1, note=next(why for wheel, why in built if wheel is None))]
        digests = {hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel, _ in built if wheel}
        rows = [row("wheels built twice, byte for byte the same", 2, lost=len(digests) - 1)]
        wheel = built[0][0]
        assert wheel is not None
        there = pythons(quick)
        wrong = {version: installs(wheel, folder, python, version) for version, python in there}
        missing = [version for version in VERSIONS if version not in wrong] if not quick else []
        note = "; ".join(f"{version}: {text}" for version, text in wrong.items() if text)
        note = note or f"Python {', '.join(wrong)}" + (f"; not here: {', '.join(missing)}" if missing else "")
        rows.append(row("clean installs with --require-hashes, an event through each", len(there), crashed=sum(map(bool, wrong.values())), note=note))  # fmt: skip
        return rows


def lock() -> list[dict[str, Any]]:
    """Every pin of the lock is that of constraints.txt and has a hash; no registry is named."""
    text = LOCK.read_text()
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line and line[0] != "#")  # fmt: skip
    pins = {name.lower().replace("_", "-"): version for name, version in pins.items()}
    locked = [line.rstrip(" \\") for line in text.splitlines() if "==" in line and line[0] not in "# "]
    wrong = [line for line in locked if pins.get(line.partition("==")[0].lower()) != line.partition("==")[2]]
    bare = sum("--hash=sha256:" not in part for part in text.split("==")[1:])
    named = sum(mark in text for mark in ("http:", "https:", "--index", "--find-links"))
    return [row("pins in requirements.lock with hashes", len(locked), lost=len(wrong) + bare + named, note="; ".join(wrong))]  # fmt: skip


def audit() -> list[dict[str, Any]]:
    """pip-audit on the lock: advisories found are let through; that no database answers is said, and is no success."""
    count = LOCK.read_text().count("==")
    with tempfile.TemporaryDirectory(prefix="jevhook-supply-") as folder:
        python = str(Path(folder, "bin", "python"))
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=LIMIT)
        if _pip(python, "install", "--quiet", "pip-audit").returncode:
            return [row("pins audited", 0, note="pip-audit can't be had here: not audited")]
        done = subprocess.run(
            [python, "-m", "pip_audit", "-r", str(LOCK), "--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner", "off"],
            capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return [row("pins audited", 0, note="no advisory database answers here: not audited")]
    seen = [one for one in found if "skip_reason" not in one]
    bad = [f"{one['name']} {v['id']}" for one in seen for v in one.get("vulns", ())]
    note = "; ".join(bad) or ("" if len(seen) == count else f"the database does not know {count - len(seen)} of {count}: not audited")  # fmt: skip
    return [row("pins audited", len(seen), note=note, **{"let through": len(bad)})]


def run(quick: bool) -> list[dict[str, Any]]:
    """The rows for scripts/trust."""
    return [*imports(), *lock(), *wheels(quick), *([] if quick else audit())]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    rows = run(parser.parse_args().quick)
    for entry in rows:
        print("  ".join(f"{key} {value}" for key, value in entry.items() if value != ""))
    return int(any(entry[key] for entry in rows for key in ("lost", "hung", "crashed", "let through")))


if __name__ == "__main__":
    sys.exit(main())
