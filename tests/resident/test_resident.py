"""The warm process answers as the hook itself would, and nothing is lost when it does not answer."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from jevhook import ledger, policy
from jevhook.hook import MAX_INPUT, WATCHDOG
from jevhook.resident import ask, serve
from tests.resident.warm import ALONE, MAIN, Warm, end, hook, name_of, speak, talk
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


@pytest.fixture(autouse=True)
def ended(tmp_path: Path) -> Iterator[None]:
    """A hook that finds none starts one: it would go on for a quarter of an hour."""
    yield
    for name in tmp_path.glob("r/*"):
        if name.is_socket() and not name.suffix:
            end(name)


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


def test_an_event_that_is_too_large_is_read_as_far_as_without(warm: Warm, tmp_path: Path) -> None:
    both(warm, b" " * (MAX_INPUT + (9 << 20)), tmp_path)


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
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(name))
        line.sendall(serve._STOP.ljust(serve._HEAD, b"."))
        line.recv(1)
        line.close()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_hooks_that_come_together_start_one(tmp_path: Path) -> None:
    """Of 20 hooks at once up to 17 started a process, which then found that another one listens."""
    posix = pytest.importorskip("posix")
    started: list[str] = []

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(posix, name)

        def posix_spawn(self, program: str, *_: Any, **__: Any) -> None:
            started.append(program)

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for turn in range(20):
            folder = tmp_path / str(turn)
            folder.mkdir(mode=0o700)
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda _, at: ask._wake(Counting(), at), range(8), [str(folder)] * 8))
            assert len(started) == turn + 1
    finally:
        sys.setswitchinterval(usual)
    os.utime(ask.socket_name(str(folder)) + ".tried", (1, 1))
    ask._wake(Counting(), str(folder))
    assert len(started) == 21, "and five seconds later the next one"


def test_one_that_a_hook_starts_has_nothing_of_its_host(tmp_path: Path) -> None:
    """Not its environment (a repository can set that), directory or handles: only what each event brings, for that event."""
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    reads, writes = os.pipe()
    more = {"TYPESAFE_API_KEY": "k" * 40, "PYTHONPATH": "/evil", "LD_LIBRARY_PATH": "/evil", "XDG_CONFIG_HOME": "/evil"}
    subprocess.run(
        [*ALONE, "hook", "--resident", str(folder)], input=event("ls"), env={**os.environ, **more}, cwd=tmp_path, pass_fds=[writes],
        capture_output=True, check=True, timeout=30,
    )  # fmt: skip
    os.close(writes)
    assert os.read(reads, 1) == b""  # its end comes: nobody holds the other one
    os.close(reads)
    name, until = name_of(folder), time.monotonic() + 20
    while not name.exists() and time.monotonic() < until:
        time.sleep(0.02)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(name))
        found = Path("/proc", str(int.from_bytes(line.getsockopt(1, 17, 12)[:4], sys.byteorder)))
        assert found.joinpath("environ").read_bytes() == b"PATH=/usr/bin:/bin\0LC_ALL=C.UTF-8\0"
        assert os.readlink(found / "cwd") == "/"
        handles = {os.readlink(one).partition(":")[0] for one in (found / "fd").iterdir()}
        weights = str(Path(MAIN).parent / "text" / "injection" / "weights.bin")
        assert handles <= {"/dev/null", "pipe", "socket", f"{name}.lock", weights}
    assert serve.stop(str(folder)) or name.exists()
    os.kill(int(found.name), signal.SIGTERM)


def test_no_folder_means_nobody_wants_one(tmp_path: Path) -> None:
    done = hook(event("rm -rf ~/"), "--resident", str(tmp_path / "none"))
    assert b'"deny"' in done.stdout and not (tmp_path / "none").exists()


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_that_others_can_reach_is_not_used(tmp_path: Path, mode: int) -> None:
    with Warm(tmp_path / "r") as warm:
        assert len(settled(warm)) >= 4  # three that wait, and the one that talks to judges
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
    [
        "never accepts",
        "hangs",
        "hangs up",
        "hangs up after the head",
        "says nonsense",
        "takes it and dies",
        "takes it, goes, and dies",
    ],
)
def test_a_warm_process_that_fails_leaves_the_work_to_the_hook(tmp_path: Path, behaviour: str) -> None:
    """One answer and one ledger line, whatever the other end does before it has said that it speaks.  And nothing of ours
    is held by a connection that waits: the host reads our stdout to its end (``communicate`` does, too)."""
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

    if behaviour != "never accepts":
        threading.Thread(target=serve, daemon=True).start()
    done = hook(event("rm -rf ~/"), "--resident", str(folder))
    listener.close()
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


@pytest.mark.parametrize("how", [">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full"])
def test_handles_that_are_closed_or_full_read_as_without(warm: Warm, how: str, tmp_path: Path) -> None:
    """A closed stdout's number was the connection's: a denial went nowhere, with exit code 0."""
    if "full" in how and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    found = []
    for more in ([], ["--resident", str(warm.folder)]):
        command = shlex.join([*ALONE, "hook", *more])
        done = subprocess.run(
            ["sh", "-c", f"{command} {how}"], input=event("rm -rf /"), capture_output=True, check=False
        )
        found.append((done.returncode, done.stdout, done.stderr, same(lines()[-1])))
    assert found[0] == found[1]
    assert len(lines()) == 2


def test_the_time_zone_is_the_events(warm: Warm, private_home: Path) -> None:
    """An exception holds to the end of its last day, where the person is."""
    zones = ("Pacific/Pago_Pago", "Pacific/Kiritimati")  # 25 hours apart: never one day in both
    place = private_home / ".config" / "jevhook"
    place.mkdir(parents=True)
    days = [datetime.now(ZoneInfo(zone)).date() for zone in zones]
    assert days[0] < days[1]
    place.joinpath("config.toml").write_text(
        f'[[exception]]\nid = "x"\nrule = "git.reset-hard"\ncommand = "git reset --hard"\ncomment = "x"\nexpires = {days[0]}\n'
    )
    said = [warm.hook(event("git reset --hard", session_id=zone), TZ=zone).stdout for zone in zones]
    assert said[0] == b"" and b'"ask"' in said[1]


def test_a_host_that_ignores_its_children_does_not_stop_it(tmp_path: Path) -> None:
    """What a host ignores and blocks is handed on.  Children that nobody could count were forty soon, and the last."""
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    code = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGALRM]); os.execv(sys.argv[1], sys.argv[1:])"
    )
    process = subprocess.Popen([sys.executable, "-c", code, *ALONE, "resident", "serve", str(folder)])
    name = name_of(folder)
    try:
        until = time.monotonic() + 20
        while not name.exists() and time.monotonic() < until:
            time.sleep(0.01)
        for number in range(serve.MOST + 5):
            said, _ = speak(name, ["--host", "claude"], event("rm -rf ~/", session_id=f"s{number}"), dict(os.environ))
            assert b'"deny"' in said
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="finds the children in /proc")
def test_children_that_are_killed_are_replaced(tmp_path: Path) -> None:
    with Warm(tmp_path / "r") as warm:
        for _ in range(2):
            before = settled(warm)
            assert len(before) > serve.WAITING
            for child in before:
                os.kill(int(child), signal.SIGKILL)
            until = time.monotonic() + 20
            while (before & set(_waiting(warm)) or len(_waiting(warm)) < 2) and time.monotonic() < until:
                time.sleep(0.01)
            assert not before & set(_waiting(warm))
            said, _ = speak(warm.socket, ["--host", "claude"], event("rm -rf ~/"), dict(os.environ))
            assert b'"deny"' in said


def settled(warm: Warm) -> set[str]:
    """The warm process's children, when all of them wait."""
    until = time.monotonic() + 20
    while len(_waiting(warm)) < serve.WAITING + 1 and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.2)
    return set(_waiting(warm))


def test_children_judge_one_event_after_another(tmp_path: Path) -> None:
    """And the clocks of an event end with it: its watchdog's thread, and the kernel's timer two seconds later."""
    place = Path(os.environ["XDG_CONFIG_HOME"], "jevhook")
    place.mkdir(parents=True)
    place.joinpath("config.toml").write_text("watchdog = 1\n")
    hook(event("ls"))  # compiling takes so long that another child would be made meanwhile
    with Warm(tmp_path / "r") as warm:
        before = settled(warm)
        for _ in range(2):
            for number in range(6):
                assert b'"deny"' in warm.hook(event("rm -rf ~/", tool_use_id=f"t{number}")).stdout
            assert settled(warm) >= before  # where an event was slow another child was made meanwhile
            time.sleep(3.5)
        assert settled(warm) >= before
        for child in before:
            assert len(os.listdir(f"/proc/{child}/task")) == 1
            assert {os.readlink(f"/proc/{child}/fd/{handle}") for handle in (0, 1, 2)} == {"/dev/null"}
    assert len(lines()) == 13


@pytest.mark.parametrize("data", [b"{", event("x" * serve.LARGE)], ids=["a complaint", "a large one"])
def test_a_child_ends_after_an_event_that_was_not_as_others(data: bytes, tmp_path: Path) -> None:
    hook(event("ls"))
    with Warm(tmp_path / "r") as warm:
        before = settled(warm)
        warm.hook(data)
        after = settled(warm)
        assert len(before - after) == 1
        for _ in range(serve.WAITING * serve.SERVED + 5):
            speak(warm.socket, ["--host", "claude"], event("ls"), dict(os.environ))
        assert len(after - settled(warm)) >= 1, "no child judges for ever"


LEFT = {
    "nothing": ("", True),
    "a handle": ("os.open('/dev/null', os.O_RDONLY)", False),
    "a thread": ("_thread.start_new_thread(time.sleep, (30,)); time.sleep(0.1)", False),
    "no lock file": ("os.path.exists(lock) and os.unlink(lock)", True),
}


@pytest.mark.parametrize("what", LEFT)
def test_a_child_goes_on_only_where_an_event_left_nothing(what: str, tmp_path: Path) -> None:
    """One child, with what an event leaves behind put into the lane: it says "back", or it ends.  When nobody comes for a
    while it ends, too, and while it waits it has nothing of the event."""
    left, goes_on = LEFT[what]
    name = tmp_path / "s"
    Path(f"{name}.lock").touch()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(name))
    listener.listen()
    alive, life = os.pipe()
    heard, say = os.pipe()
    code = (
        f"import _thread, os, socket, sys, time; sys.path.insert(0, {str(Path(MAIN).parent.parent)!r})\n"
        "from jevhook import hook; from jevhook.resident import serve; from jevhook.systemone import client\n"
        f"lock = {str(name) + '.lock'!r}; real = hook.through; serve.REST = 0.5\n"
        "def through(lane, data):\n"
        "    code = real(lane, data)\n"
        f"    {left or 'pass'}\n"
        "    return code\n"
        "hook.through = through\n"
        "serve._child(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], '')\n"
        "said = [dict(os.environ), os.getcwd(), client.relay, [os.readlink(f'/proc/self/fd/{n}') for n in (1, 2)]]\n"
        "os.write(int(sys.argv[3]), repr(said).encode() + b'\\n')"
    )
    null = subprocess.DEVNULL
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code, str(listener.fileno()), str(alive), str(say), str(name)],
        pass_fds=(listener.fileno(), alive, say), stdin=null, stdout=null, stderr=null,
    )  # fmt: skip
    os.close(say)
    listener.close()
    try:
        for number in range(3 if goes_on else 1):
            said, _ = speak(name, ["--host", "claude"], event("rm -rf ~/", tool_use_id=f"t{number}"), dict(os.environ))
            assert b'"deny"' in said
        assert child.wait(20) == 0
        told = os.read(heard, 65536).decode().splitlines()
        words = [line.partition(" ")[0] for line in told[:-1] if not line.startswith("read ")]
        assert words == (["taken", "back"] * 3 if goes_on else ["taken"])
        assert told[-1] == repr([{}, "/", None, ["/dev/null", "/dev/null"]])
    finally:
        child.kill()
        for handle in (alive, life, heard):
            os.close(handle)


def standing_in(folder: Path) -> tuple[socket.socket, Path]:
    """A socket where hooks look for the warm process, and the file that says when it last took an event."""
    folder.mkdir(mode=0o700)
    name = name_of(folder)
    beat = Path(f"{name}.lock")
    beat.touch()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(name))
    listener.listen()
    return listener, beat


def test_waiting_in_a_crowd_does_not_use_up_the_watchdog(tmp_path: Path, private_home: Path) -> None:
    """With a watchdog of a second, hooks that had waited for others had nothing left to judge in: 34 of 48 were silent."""
    place = private_home / ".config" / "jevhook"
    place.mkdir(parents=True)
    place.joinpath("config.toml").write_text("watchdog = 1\n")
    listener, beat = standing_in(tmp_path / "r")  # it never takes one
    hook(event("ls"))
    # The watchdog looks four times a second: judging has to take longer than that.
    line = "git add src/a.py && git commit -m 'change a' && npm run build -- --mode production | tee build.log\n"
    slow = event(line * (60_000 // len(line)) + "rm -rf ~/")
    over = threading.Event()

    def others() -> None:
        while not over.wait(0.01):
            os.utime(beat)

    busy = threading.Thread(target=others)
    busy.start()
    try:
        waited = 0.0
        for _ in range(5):  # a machine that stops our thread for a tenth of a second ends the hook's patience
            began = time.monotonic()
            assert b'"deny"' in hook(slow, "--resident", str(tmp_path / "r")).stdout
            waited = time.monotonic() - began
            if waited > ask.CROWD:
                break
        assert waited > ask.CROWD
    finally:
        over.set()
        busy.join()
        listener.close()


def test_an_event_that_does_not_end_is_left_to_the_lane(tmp_path: Path) -> None:
    """The lane has a watchdog; a hook that read on by itself would have waited for as long as its host."""
    with Warm(tmp_path / "r") as warm:
        reads, into = os.pipe()
        os.write(into, event("ls")[:-1])
        began = time.monotonic()
        command = [*ALONE, "hook", "--resident", str(warm.folder)]
        process = subprocess.Popen(command, stdin=reads, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(reads)
        said, told = process.communicate(timeout=30)
        assert (process.returncode, said, told.count(b"\n")) == (0, b"", 1)
        assert time.monotonic() - began < ask.SLOW + WATCHDOG + 5
        os.close(into)
    assert [entry["reason"] for entry in lines()] == ["timeout"]


@pytest.mark.parametrize("pause", [0.3, 1.3])
def test_an_event_that_comes_in_pieces_is_read_whole(pause: float, tmp_path: Path) -> None:
    data = event("rm -rf ~/", padding="x" * 200_000)
    with Warm(tmp_path / "r") as warm:
        command = [*ALONE, "hook", "--resident", str(warm.folder)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdin is not None
        for at in range(0, len(data), 70_000):
            process.stdin.write(data[at : at + 70_000])
            process.stdin.flush()
            time.sleep(pause / 3)
        said, told = process.communicate(timeout=30)
        assert (process.returncode, told) == (0, b"") and b'"deny"' in said
    assert len(lines()) == 1


def test_a_hook_waits_for_one_that_goes_on(tmp_path: Path) -> None:
    """Of 100 hooks at once most were tired after 0.1 s and judged alone.  One that takes nothing is not waited for."""
    listener, beat = standing_in(tmp_path / "r")

    def late(goes_on: bool) -> None:
        line, _ = listener.accept()
        with line:
            swallow(line)
            until = time.monotonic() + 0.5
            while time.monotonic() < until:
                time.sleep(0.01)
                if goes_on:
                    os.utime(beat)
            try:
                line.sendall(b"A")
                _, handles, _, _ = socket.recv_fds(line, 1, 2)
                os.write(handles[0], b"from the other one")
                for handle in handles:
                    os.close(handle)
                line.sendall(b"OX\0")
            except (OSError, IndexError):
                pass

    def said(goes_on: bool) -> bytes:
        server = threading.Thread(target=late, args=(goes_on,))
        server.start()
        found = hook(event("rm -rf ~/"), "--resident", str(tmp_path / "r")).stdout
        server.join()
        return found

    try:
        assert b'"deny"' in said(False)
        assert b"from the other one" in [said(True) for _ in range(5)]
    finally:
        listener.close()


@pytest.mark.parametrize("name", ["plain", "a\nstop\n", "a\ntaken x\n"])
def test_the_parent_is_told_of_policies_and_takes_no_orders_from_a_path(tmp_path: Path, name: str) -> None:
    """A repository may set a host's environment, and with it the name of the cache that children tell the parent of."""
    code = (
        f"import os, socket, sys; sys.path.insert(0, {str(Path(MAIN).parent.parent)!r})\n"
        "from jevhook import policy; from jevhook.resident import serve\n"
        "policy.kept = {}; serve._one(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), '/nonexistent/s', '')"
    )
    home = str(tmp_path / "home")
    env = {"HOME": home, "XDG_CACHE_HOME": str(tmp_path / name), "XDG_STATE_HOME": home, "PATH": os.environ["PATH"]}
    told = []
    for number in range(2):  # the first compiles it
        ours, theirs = socket.socketpair()
        news, say = os.pipe()
        handles = [theirs.fileno(), say]
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", code, *map(str, handles)], pass_fds=handles)
        theirs.close()
        os.close(say)
        said, _ = talk(ours, ["--host", "claude"], event("rm -rf ~/", session_id=f"s{number}"), env)
        assert b'"deny"' in said and child.wait(30) == 0
        with open(news, "rb") as file:
            told.append(file.read().splitlines())
    words = [[line.partition(b" ")[0] for line in lines] for lines in told]
    assert words[1] == ([b"read"] * 2 if name == "plain" else [])
    assert all(os.path.exists(line.partition(b" ")[2]) for line in told[1])


def test_a_policy_that_changed_is_kept_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "kept", {})
    assert policy.kept is not None
    files = [tmp_path / f"{number}.json" for number in range(serve._KEPT + 2)]
    tmp_path.chmod(0o700)
    for file in files:
        file.write_text('{"a": 1}')
        file.chmod(0o600)
        serve._remember(str(file))
    assert list(policy.kept) == [str(file) for file in files[2:]]
    files[5].write_text('{"a": 22}')
    serve._remember(str(files[5]))
    assert policy.kept[str(files[5])][1] == {"a": 22}
    assert len(policy.kept) == serve._KEPT


def test_a_hook_never_judges_what_the_warm_process_still_has(monkeypatch: pytest.MonkeyPatch) -> None:
    from jevhook import hook as lane

    longest = 60.0  # seconds: the most that a policy may say
    assert longest * lane.CROWDED + lane.GRACE < ask.END
    monkeypatch.setattr(ask, "END", 0.2)
    ours, theirs = socket.socketpair()
    ours.settimeout(5)

    def serving() -> None:
        swallow(theirs)
        theirs.sendall(b"A")

    threading.Thread(target=serving, daemon=True).start()
    code = ask._exchange(sys.modules["posix"], sys.modules["_socket"], ours, ["--host", "claude"], event("ls"))
    assert code[0] == 0 and code[1] > 0


def test_one_that_dies_late_has_used_up_the_hooks_time(tmp_path: Path) -> None:
    """The kernel's clock ends a child as it ends a hook; the hook does not start its own clock after that."""
    from jevhook import hook as lane

    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    code = (
        f"import sys, time; sys.path.insert(0, {str(Path(MAIN).parent.parent)!r}); from jevhook import hook\n"
        f"hook.main(['--host', 'claude'], b'', since=time.monotonic() - {lane.WATCHDOG + 1})"
    )
    reads, into = os.pipe()  # an event that does not come: the clock strikes
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], stdin=reads, capture_output=True, check=False)
    os.close(into)
    assert time.monotonic() - began < lane.WATCHDOG / 2
    assert (done.returncode, [entry["reason"] for entry in lines()]) == (0, ["timeout"])


def test_what_is_installed_beside_it_does_not_hide_the_standard_library(tmp_path: Path) -> None:
    """Old backports (enum34, typing, dataclasses) lie in many a site-packages: behind the library's own, as ``site`` has it."""
    import shutil

    copy = tmp_path / "site packages é"
    shutil.copytree(Path(MAIN).parent, copy / "jevhook")
    shutil.copytree(Path(MAIN).parent.parent / "policies", copy / "policies")
    for name in (
        "enum",
        "re",
        "typing",
        "json",
        "socket",
        "dataclasses",
        "hashlib",
        "stat",
        "tomllib",
        "pwd",
        "fnmatch",
    ):
        (copy / f"{name}.py").write_text("raise SystemExit('of another time')\n")
    main = str(copy / "jevhook" / "__main__.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", main, "hook"],
        input=event("rm -rf ~/"),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"") and b'"deny"' in done.stdout


def test_off_takes_the_folder_away_whatever_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "warm"
    with Warm(folder) as warm:
        (folder / "of somebody").mkdir()
        (folder / "of somebody" / "file").write_text("x")
        assert serve.off(str(folder)) is True
        assert warm.process.wait(10) == 0
    assert not list(tmp_path.iterdir()) and serve.off(str(folder)) is False


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
        while len(list(folder.iterdir())) < 3 and time.monotonic() < until:
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


def test_an_event_imports_nothing_of_ours_any_more(tmp_path: Path) -> None:
    """Not for speed alone: after an upgrade a child of the old process would read new files to old ones."""
    code = (
        f"import sys, os, json; sys.path.insert(0, {str(Path(MAIN).parent.parent)!r})\n"
        "from jevhook.resident import serve; from jevhook import policy; serve._warm(); policy.kept = {}\n"
        "before = set(sys.modules)\n"
        "from jevhook.hook import Lane, Options, run, write_ledger\n"
        "for path in json.loads(sys.stdin.read()):\n"
        "    lane = Lane(Options(), os.environ); run(open(path, 'rb').read(), lane); write_ledger(lane)\n"
        "print(sorted(name for name in set(sys.modules) - before if name.startswith('jevhook')))"
    )
    paths = [str(path) for path in sorted(EVENTS.rglob("*.json"))]
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], input=json.dumps(paths), capture_output=True, text=True, check=True
    )
    assert len(lines()) == len(paths) and said.stdout == "[]\n"


def test_an_event_leaves_nothing_for_the_next_one(tmp_path: Path) -> None:
    """One child judges many events.  What may grow: expressions, the key (forgotten before the
    next event), and cache files as they were read; nothing that is there may get another value."""
    paths = [str(path) for path in sorted(EVENTS.rglob("*.json"))]
    for number, example in enumerate(
        ("rm -rf ~/", "git push -f origin main", "psql -c 'DROP TABLE a'", "python -c 'import os'")
    ):
        path = tmp_path / "claude" / "PreToolUse" / f"{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(event(example))
        paths.append(str(path))
    broken = tmp_path / "claude" / "PreToolUse" / "broken.json"
    broken.write_bytes(b"{")
    place = Path(os.environ["XDG_CONFIG_HOME"], "jevhook")
    place.mkdir(parents=True, exist_ok=True)
    place.joinpath("config.toml").write_text('colour = "red"\n[ledger]\npath = "~/lines.ndjson"\n')
    said = subprocess.run(
        [sys.executable, "-I", "-S", str(Path(__file__).with_name("remains.py")), str(Path(MAIN).parent.parent)],
        input="\0".join([*paths, str(broken), *paths]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    remains = json.loads(said.stdout)
    assert set(remains) == {*paths, str(broken)}
    allowed = {
        "jevhook.text.redact._compiled",
        "jevhook.ledger._keys",
        "jevhook.policy.kept",
    }
    for path, (changed, grown) in remains.items():
        assert not changed, path
        assert set(grown) <= allowed, path


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
        "_socket",
        "posix",
    }
