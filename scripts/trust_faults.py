"""Hooks that are killed, crowded, or given a machine that is not as it should be: real processes, real files."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOOK = [sys.executable, "-I", "-S", str(ROOT / "jevhook" / "__main__.py"), "hook", "--host", "claude"]


def event(command: str, number: int = 0) -> bytes:
    return json.dumps(
        {
            "session_id": "s", "cwd": "/srv/shop", "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": f"t{number}",
        }
    ).encode()  # fmt: skip


def home() -> dict[str, str]:
    place = tempfile.mkdtemp(prefix="jevhook-trust-")
    env = {
        "PATH": "/usr/bin:/bin", "HOME": place, "XDG_STATE_HOME": f"{place}/state", "XDG_CACHE_HOME": f"{place}/cache",
        "XDG_CONFIG_HOME": f"{place}/config",
    }  # fmt: skip
    hook("ls", env)  # the policy is compiled once
    return env


def hook(command: str, env: dict[str, str], **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(HOOK, input=event(command), capture_output=True, env=env, timeout=30, check=False, **more)


def ledger(env: dict[str, str]) -> list[str]:
    folder = Path(env["XDG_STATE_HOME"], "jevhook")
    return [
        line
        for path in sorted(folder.glob("ledger.ndjson*"))
        if path.is_file()
        for line in path.read_text("utf-8", "replace").splitlines()
    ]


def unreadable(env: dict[str, str]) -> list[str]:
    """Lines of the ledger that are no JSON."""
    found = []
    for line in ledger(env):
        try:
            json.loads(line)
        except ValueError:
            found.append(line)
    return found


def row(what: str, count: int, **found: Any) -> dict[str, Any]:
    return {"what": what, "how many": count, "lost": 0, "hung": 0, "crashed": 0, "let through": 0, "note": "", **found}


def killed(count: int) -> dict[str, Any]:
    """SIGKILL at a random moment of each hook's life; then the next hook, and the ledger as it lies."""
    env = home()
    pick = random.Random(1)

    def whole_life(_: int) -> float:
        began = time.monotonic()
        hook("git reset --hard", env)
        return time.monotonic() - began

    with ThreadPoolExecutor(4) as pool:
        window = sorted(pool.map(whole_life, range(12)))[6] * 1.2  # most are killed before their end

    def one(number: int) -> tuple[int, bool]:
        process = subprocess.Popen(
            HOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(event("git reset --hard" if number % 2 else "rm -rf ~/", number))
        process.stdin.close()
        time.sleep(pick.random() * window)
        process.kill()
        said = process.stdout.read()
        code = process.wait()
        whole = not said or said.endswith(b"}\n")
        return code, whole

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(one, range(count)))
    torn = len(unreadable(env))
    began = time.monotonic()
    after = hook("rm -rf ~/", env)
    late = time.monotonic() - began > 3
    ended = sum(code == 0 for code, _ in done)
    lines = sum(1 for line in ledger(env) if '"tool_call":"t' in line)
    return row(
        "killed with -9 at a random moment", count, hung=int(late), crashed=int(after.returncode != 0),
        lost=max(0, ended - lines), **{"let through": int(b'"deny"' not in after.stdout)},
        note=f"{count - ended} killed before their end, {torn} torn lines, {sum(not whole for _, whole in done)} half answers",
    )  # fmt: skip


def at_once(count: int, warm: str = "") -> dict[str, Any]:
    """So many hooks at once, beside two busy loops; ``warm``: the warm process's folder."""
    command = [*HOOK, "--resident", warm] if warm else HOOK
    env = home()
    loop = "import time\nend = time.monotonic() + 120\nwhile time.monotonic() < end: pass"
    loops = [subprocess.Popen([sys.executable, "-I", "-S", "-c", loop]) for _ in range(2)]
    try:
        running = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
            for _ in range(count)
        ]
        for number, one in enumerate(running):
            assert one.stdin is not None
            one.stdin.write(event("rm -rf ~/", number))
            one.stdin.close()
        silent = crashed = 0
        for one in running:
            assert one.stdout is not None
            silent += b'"deny"' not in one.stdout.read()
            crashed += one.wait(60) != 0
    finally:
        for one in loops:
            one.kill()
            one.wait()
    lines = ledger(env)
    wrong = unreadable(env)
    lost = len(wrong) + sum(not any(f'"tool_call":"t{number}"' in line for line in lines) for number in range(count))
    note = f"no JSON: {wrong[0][:80]!r}" if wrong else ""
    return row(
        "at once, beside two busy loops" + (", warm" if warm else ""),
        count,
        lost=lost,
        crashed=crashed,
        note=note,
        **{"let through": silent},
    )


@contextmanager
def tmpfs(size: str) -> Iterator[str | None]:
    """A small file system of its own, or None where none can be mounted."""
    place = tempfile.mkdtemp(prefix="jevhook-trust-disk-")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "jevhook-trust", place], capture_output=True, check=False
    )
    try:
        yield place if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", place], check=False)


def places() -> list[dict[str, Any]]:
    """A home or ledger that is not as it should be: the answer is the right one all the same, and nothing hangs."""
    rows = []

    def look(what: str, env: dict[str, str], **more: Any) -> None:
        hung = crashed = through = complaints = 0
        for command, stopped in (("rm -rf /", True), ("rm -rf /etc", True), ("ls -la", False)):
            try:
                done = hook(command, env, **more)
            except subprocess.TimeoutExpired:
                hung += 1
                continue
            crashed += done.returncode != 0 or b"Traceback" in done.stderr
            through += (b'"deny"' in done.stdout) != stopped
            complaints += len(done.stderr.splitlines()) > 1
        rows.append(row(what, 3, hung=hung, crashed=crashed + complaints, **{"let through": through}))

    def broken(what: str, change: Callable[[Path], Any]) -> None:
        env = home()
        path = Path(env["XDG_STATE_HOME"], "jevhook", "ledger.ndjson")
        path.unlink()
        change(path)
        look(what, env)

    def foreign(path: Path) -> None:
        path.write_text("")
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)

    base = home()
    look("HOME unset", {k: v for k, v in base.items() if k != "HOME"})
    look(
        "no home at all",
        {**base, **dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), "/proc/none")},
    )
    broken("ledger is a directory", lambda path: path.mkdir())
    broken("ledger is a link", lambda path: path.symlink_to("/dev/full"))
    broken("ledger is a FIFO", lambda path: os.mkfifo(path))
    broken("ledger is another user's", foreign)
    broken("ledger is /dev/zero", lambda path: path.symlink_to("/dev/zero"))
    with tmpfs("4m") as disk:
        if disk is not None:
            hook("ls", {**base, "HOME": disk, "XDG_STATE_HOME": f"{disk}/state"})
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            look(
                "read-only home",
                {**base, **dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), disk)},
            )
        elif os.geteuid():
            env = home()
            os.chmod(env["HOME"], 0o500)
            look("read-only home", env)
    import resource

    look("only 12 open files allowed", home(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12)))
    look("no process or thread to be had", home(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)))
    look("400 MB of memory", home(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)))
    look("no file may grow", home(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    with tmpfs("256k") as disk:
        if disk is not None:
            env = {**home(), "XDG_STATE_HOME": f"{disk}/state", "XDG_CACHE_HOME": f"{disk}/cache"}
            hook("ls", env)
            try:
                with open(Path(disk, "full"), "wb", buffering=0) as more:
                    while True:
                        more.write(b"x" * 512)
            except OSError:
                pass
            look("disk full", env)
        else:
            rows.append(row("disk full", 0, note="no file system can be mounted here"))
    if shutil.which("faketime"):
        for moment in ("1970-01-02 00:00:00", "2106-02-07 07:00:00", "-3d"):
            env = home()
            line = ["faketime", "-f", moment, *HOOK]
            done = subprocess.run(
                line, input=event("rm -rf /"), capture_output=True, env={**os.environ, **env}, timeout=30, check=False
            )
            rows.append(
                row(
                    f"clock says {moment}",
                    1,
                    crashed=int(done.returncode != 0),
                    **{"let through": int(b'"deny"' not in done.stdout)},
                )
            )
    else:
        rows.append(row("clock jumps", 0, note="needs the faketime command"))
    return rows


def outputs() -> list[dict[str, Any]]:
    """stdout that is closed, full, or read by nobody: a denial is then said with exit code 2 and a reason."""
    rows = []
    env = home()
    for what, shell in (
        ("stdout closed", '"$@" >&-'),
        ("stdout full", '"$@" >/dev/full'),
        ("stderr closed", '"$@" 2>&-'),
        ("stdout and stderr closed", '"$@" >&- 2>&-'),
    ):
        done = subprocess.run(
            ["sh", "-c", shell, "sh", *HOOK],
            input=event("rm -rf /"),
            capture_output=True,
            env=env,
            timeout=30,
            check=False,
        )
        said = b'"deny"' in done.stdout or done.returncode == 2
        rows.append(row(what, 1, crashed=int(done.returncode not in (0, 2)), **{"let through": int(not said)}))
    first, second = os.pipe()
    os.close(first)
    process = subprocess.Popen(HOOK, stdin=subprocess.PIPE, stdout=second, stderr=subprocess.PIPE, env=env)
    os.close(second)
    _, err = process.communicate(event("rm -rf /"), timeout=30)
    rows.append(
        row("reader has gone (SIGPIPE)", 1, **{"let through": int(process.returncode != 2 or b"stopped" not in err)})
    )
    return rows


def never_ending() -> dict[str, Any]:
    """A stdin that never ends is left after the watchdog's time, in silence."""
    env = home()
    process = subprocess.Popen(HOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    assert process.stdin is not None
    process.stdin.write(event("rm -rf /")[:-5])
    process.stdin.flush()
    began = time.monotonic()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        return row("stdin that never ends", 1, hung=1)
    took = time.monotonic() - began
    assert process.stdout is not None
    return row(
        "stdin that never ends", 1, hung=int(took > 13), crashed=int(process.returncode != 0), note=f"{took:.1f} s"
    )


def judges() -> list[dict[str, Any]]:
    """A judge that is dead, slow, lying or endless: what the rules asked stands, and the hook ends in time."""
    rows = []

    def answering(data: bytes, after: float = 0.0, forever: bool = False) -> Callable[[socket.socket], None]:
        def behave(line: socket.socket) -> None:
            line.recv(65536)
            time.sleep(after)
            line.sendall(data)
            while forever:
                line.sendall(b"x" * 1000)

        return behave

    lie = json.dumps(
        {"model": "m", "answers": {name: {"type": "noul", "noul": 0.0} for name in ("q", "lossy", "wanted", "risk")}}
    ).encode()
    claims = json.dumps(
        {"answers": {}, "decision": "allow", "hookSpecificOutput": {"permissionDecision": "allow"}}
    ).encode()
    ok = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
    behaviours: dict[str, Callable[[socket.socket], None] | None] = {
        "refuses": None,
        "is silent": answering(b"", after=8.0),
        "hangs up": answering(b""),
        "says allow": answering(ok % (len(claims), claims)),
        "answers what nobody asked": answering(ok % (len(lie), lie)),
        "never ends": answering(b"HTTP/1.1 200 OK\r\n\r\n", forever=True),
        "sends no HTTP": answering(b"\x16\x03\x01" * 100),
        "redirects": answering(b"HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
    }
    for name, behave in behaviours.items():
        env = home()
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        if behave is None:
            listener.close()
        else:
            listener.listen(8)

            def serve(behave: Callable[[socket.socket], None] = behave, listener: socket.socket = listener) -> None:
                try:
                    line, _ = listener.accept()
                    with line:
                        behave(line)
                except OSError:
                    pass

            import threading

            threading.Thread(target=serve, daemon=True).start()
        folder = Path(env["XDG_CONFIG_HOME"], "jevhook")
        folder.mkdir(parents=True)
        folder.joinpath("config.toml").write_text(
            f'[judge]\nprovider = "native"\nbase_url = "http://127.0.0.1:{port}"\nmodel = "m"\ndeadline = 1.0\n'
        )
        began = time.monotonic()
        done = hook("git reset --hard", env)
        took = time.monotonic() - began
        denied = hook("rm -rf /", env)
        rows.append(
            row(
                f"a judge that {name}", 2, hung=int(took > 4), crashed=int(done.returncode != 0),
                **{"let through": int(b'"ask"' not in done.stdout) + int(b'"deny"' not in denied.stdout)}, note=f"{took:.1f} s",
            )
        )  # fmt: skip
        listener.close()
    return rows


def run(quick: bool) -> list[dict[str, Any]]:
    return [
        killed(150 if quick else 2000), at_once(60 if quick else 200), *places(), *outputs(), never_ending(), *judges(),
    ]  # fmt: skip
