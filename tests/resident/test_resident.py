"""The warm process answers as the hook itself would, and nothing is lost when it does not answer."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jevhook import ledger
from jevhook.resident import ask
from tests.resident.warm import ALONE, MAIN, Warm, hook, name_of, speak
from tests.test_rules import RAW

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no Unix sockets in its Python")

EVENTS = Path(__file__).parent.parent / "hosts" / "events"


def event(command: str, **more: Any) -> bytes:
    return json.dumps(
        {
            "session_id": "5f0c", "transcript_path": "/nonexistent.jsonl", "cwd": "/srv/shop", "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1", **more,
        }
    ).encode()  # fmt: skip


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    with Warm(tmp_path_factory.mktemp("warm") / "r") as found:
        yield found


def lines(env: dict[str, str] | None = None) -> list[dict[str, Any]]:
    place = Path(ledger.path(env or dict(os.environ)))
    return [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []


def same(entry: dict[str, Any]) -> dict[str, Any]:
    """A ledger line without what differs from one run to the next."""
    return {k: v for k, v in entry.items() if k not in ("id", "asked_at", "answered_at", "hook_ms")}


def both(warm: Warm, data: bytes, tmp_path: Path, *options: str) -> None:
    """One event, judged with the warm process and without, in a home of its own each: the same in every byte."""
    found = []
    for how in (("--resident", str(warm.folder)), ()):
        home = str(tmp_path / "home")
        env = {"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": home}
        key = Path(home, "jevhook")
        done = hook(data, *options, *how, **env)
        entries = [same(entry) for entry in lines(env)]
        for name in os.listdir(key):
            if name != "key":  # digests are keyed: both runs have the same key, and nothing else of each other
                subprocess.run(["rm", "-rf", str(key / name)], check=True)
        found.append((done.stdout, done.stderr, done.returncode, entries))
    assert found[0] == found[1]
    assert len(found[0][3]) == 1


@pytest.mark.parametrize("path", sorted(EVENTS.rglob("*.json")), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_recorded_events_get_the_same_answer(warm: Warm, path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    asked = len(lines())
    both(warm, data, tmp_path)
    assert len(lines()) == asked


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff\xfe", b'{"a": 1}', event("ls") + b"x", b"\x00" * 100, event("x" * 300_000)]
)
def test_input_that_is_none_gets_the_same_silence(warm: Warm, data: bytes, tmp_path: Path) -> None:
    both(warm, data, tmp_path)


def test_examples_of_every_rule_get_the_same_answer(warm: Warm) -> None:
    """Straight to the socket: the first example of every rule, and its first counter-example."""
    from jevhook.hook import Lane, Options, run

    examples = {
        lines[0]
        for rule in RAW
        for lines in (rule.get("match"), rule.get("no_match"))
        if lines and isinstance(lines[0], str)
    }
    assert len(examples) > 300
    env = dict(os.environ)
    options = Options()
    options.host = "claude"
    wrong = []
    for number, example in enumerate(sorted(examples)):
        # a session of its own for each: what one remembers is not for the next
        there, code = speak(warm.socket, ["--host", "claude"], event(example, session_id=f"s{number}"), env)
        output = run(event(example, session_id=f"h{number}"), Lane(options, env))
        if (there.decode().rstrip("\n"), code) != (output.stdout, output.code):
            wrong.append(example)
    assert not wrong


def test_the_answer_comes_from_the_warm_process(warm: Warm) -> None:
    """Its environment and directory are the event's: the home that is protected is this one."""
    home = os.environ["HOME"]
    done = warm.hook(event(f"rm -rf {home}"), "--host", "claude")
    assert f"a home directory ({home})" in json.loads(done.stdout)["hookSpecificOutput"]["permissionDecisionReason"]
    taken = [entry["hook_ms"] for entry in lines()]
    assert len(taken) == 1


def test_a_hook_without_a_warm_process_starts_one_for_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    name = name_of(folder)
    done = hook(event("rm -rf ~/"), "--resident", str(folder))
    assert b'"deny"' in done.stdout and len(lines()) == 1
    until = time.monotonic() + 20
    while not name.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert name.exists()
    try:
        assert hook(event("rm -rf ~/"), "--resident", str(folder)).stdout == done.stdout
        assert len(lines()) == 2
    finally:
        from jevhook.resident import serve

        line = socket.socket(socket.AF_UNIX)
        line.connect(str(name))
        line.sendall(serve._STOP.ljust(serve._HEAD, b"."))
        line.recv(1)
        line.close()


def test_no_folder_means_nobody_wants_one(tmp_path: Path) -> None:
    done = hook(event("rm -rf ~/"), "--resident", str(tmp_path / "none"))
    assert b'"deny"' in done.stdout and not (tmp_path / "none").exists()


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_that_others_can_reach_is_not_used(tmp_path: Path, mode: int) -> None:
    with Warm(tmp_path / "r") as warm:
        while len(_waiting(warm)) < 4:  # three that wait, and the one that talks to judges
            time.sleep(0.01)
        warm.folder.chmod(mode)
        listening = _waiting(warm)
        assert b'"deny"' in warm.hook(event("rm -rf ~/")).stdout
        assert _waiting(warm) == listening


def _waiting(warm: Warm) -> list[str]:
    return sorted(Path(f"/proc/{warm.process.pid}/task/{warm.process.pid}/children").read_text().split())


def swallow(line: socket.socket) -> None:
    """Read one event whole, as the warm process does."""
    head = line.recv(40, socket.MSG_WAITALL)
    size = sum(int.from_bytes(head[at : at + 8], "big") for at in range(len(ask.MARK), 40, 8))
    assert len(line.recv(size, socket.MSG_WAITALL)) == size


@pytest.mark.parametrize(
    "behaviour",
    ["hangs", "hangs up", "hangs up after the head", "says nonsense", "takes it and dies", "takes it, goes, and dies"],
)
def test_a_warm_process_that_fails_leaves_the_work_to_the_hook(tmp_path: Path, behaviour: str) -> None:
    """One answer and one ledger line, whatever the other end does before it has said that it speaks."""
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(name_of(folder)))
    listener.listen(8)

    def serve() -> None:
        line, _ = listener.accept()
        if behaviour == "hangs":
            time.sleep(3)
        elif behaviour == "hangs up after the head":
            line.recv(40)
        elif behaviour == "says nonsense":
            swallow(line)
            line.sendall(b"?")
        elif behaviour.startswith("takes it"):
            swallow(line)
            line.sendall(b"A")
            if "goes" in behaviour:
                line.recv(1)
        line.close()

    threading.Thread(target=serve, daemon=True).start()
    done = hook(event("rm -rf ~/"), "--resident", str(folder))
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert len(lines()) == 1


def test_one_that_dies_while_it_speaks_is_not_spoken_over(tmp_path: Path) -> None:
    """Half an answer and a whole one after it would be no JSON: the host would drop both."""
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(name_of(folder)))
    listener.listen(8)

    def serve() -> None:
        line, _ = listener.accept()
        swallow(line)
        line.sendall(b"A")
        assert line.recv(1) == b"G"
        line.sendall(b"O")
        line.close()

    threading.Thread(target=serve, daemon=True).start()
    done = hook(event("rm -rf ~/"), "--resident", str(folder))
    assert (done.returncode, done.stdout) == (0, b"")


def test_another_users_process_is_not_asked(tmp_path: Path) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("needs to be root on Linux to become somebody else")
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    name = str(name_of(folder))
    code = (
        "import os, socket, sys\n"
        f"s = socket.socket(socket.AF_UNIX); s.bind({name!r}); os.setuid(65534); s.listen(8); print('up', flush=True)\n"
        "l, _ = s.accept(); d = l.recv(100000); print('asked' if d else 'not asked', flush=True)\n"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "up\n"
    done = hook(event("rm -rf ~/"), "--resident", str(folder))
    assert b'"deny"' in done.stdout
    assert other.stdout.readline() == "not asked\n"
    other.wait()


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    """120 hooks at once on whatever cores there are: each answered, each with its one line, none waits for another."""
    hook(event("ls"))  # the policy is compiled once, not by every one of them
    with Warm(tmp_path / "r") as warm:
        running = [
            subprocess.Popen(
                [*ALONE, "hook", "--resident", str(warm.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            for _ in range(120)
        ]  # fmt: skip
        for number, one in enumerate(running):
            assert one.stdin is not None
            one.stdin.write(event("rm -rf ~/", tool_use_id=f"t{number}"))
            one.stdin.close()
        for one in running:
            assert one.stdout is not None
            assert b'"deny"' in one.stdout.read()
            assert one.wait(30) == 0
    assert sorted(entry["subject"]["tool_call"] for entry in lines()[1:]) == sorted(f"t{n}" for n in range(120))


def test_killed_at_any_moment_it_costs_no_event(tmp_path: Path) -> None:
    for delay in (0.0, 0.002, 0.005, 0.01, 0.02, 0.03):
        with Warm(tmp_path / "r") as warm:
            timer = threading.Timer(delay, lambda pid=warm.process.pid: os.kill(pid, signal.SIGKILL))
            timer.start()
            done = warm.hook(event("rm -rf ~/"))
            timer.join()
            assert b'"deny"' in done.stdout
        (tmp_path / "r" / f"{warm.socket.name}.tried").unlink(missing_ok=True)
    assert len(lines()) == 6


def test_two_do_not_listen_in_one_folder(tmp_path: Path) -> None:
    with Warm(tmp_path / "r") as warm:
        second = subprocess.run([*ALONE, "resident", "serve", str(warm.folder)], timeout=30, check=False)
        assert second.returncode == 1
        assert b'"deny"' in warm.hook(event("rm -rf ~/")).stdout


def test_it_ends_when_nobody_comes(tmp_path: Path) -> None:
    with Warm(tmp_path / "r", "--idle", "0.5") as warm:
        assert warm.process.wait(20) == 0
        assert not warm.socket.exists()


def test_it_ends_when_its_code_changed(tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "site"
    shutil.copytree(Path(MAIN).parent, copy / "jevhook")
    shutil.copytree(Path(MAIN).parent.parent / "policies", copy / "policies")
    main = str(copy / "jevhook" / "__main__.py")
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    process = subprocess.Popen([sys.executable, "-I", "-S", main, "resident", "serve", str(folder)])
    try:
        until = time.monotonic() + 20
        while len(list(folder.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        os.utime(copy / "jevhook" / "rules.py")
        command = [sys.executable, "-I", "-S", main, "hook", "--resident", str(folder)]
        assert (
            b'"deny"'
            in subprocess.run(command, input=event("rm -rf ~/"), capture_output=True, timeout=30, check=True).stdout
        )
        assert process.wait(20) == 0
    finally:
        process.kill()


def test_its_name_is_that_of_one_install(monkeypatch: pytest.MonkeyPatch) -> None:
    name = ask.socket_name("/f")
    assert name.startswith("/f/") and len(name) == 3 + 16
    monkeypatch.setattr("jevhook.__version__", "0.0.0")
    assert ask.socket_name("/f") != name


def test_the_hooks_own_part_imports_nothing_else() -> None:
    """Before the warm process is asked only built-in modules and three of ours are loaded."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(MAIN).parent.parent)!r}); before = set(sys.modules)\n"
        "from jevhook.resident import ask\n"
        "ask.judged(['--resident', '/nonexistent/none'])\n"
        "print(sorted(set(sys.modules) - before))"
    )
    said = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert set(json.loads(said.stdout.replace("'", '"'))) <= {
        "jevhook",
        "jevhook.resident",
        "jevhook.resident.ask",
        "__future__",
        "_socket",
        "posix",
    }
