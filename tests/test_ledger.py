"""One whole line for every event, under any concurrency, any crash, any odd file in the way."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jevhook import ledger

ROOT = str(Path(ledger.__file__).parents[1])


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "h"
    home.mkdir()
    return {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "XDG_CACHE_HOME": str(home / "cache")}


def python(code: str, env: dict[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-S", "-c", code, *arguments],
        env={"PYTHONPATH": ROOT, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def race(code: str, env: dict[str, str], arguments: list[list[str]]) -> None:
    """Run one process for each list of arguments, all of them let go at the same moment."""
    ours, gun = os.pipe()
    running = []
    for words in arguments:
        command = [sys.executable, "-S", "-c", code, *words]
        inherited = {"PYTHONPATH": ROOT, **env}
        running.append(subprocess.Popen(command, env=inherited, stdin=ours, stdout=-1, stderr=-1))
    os.close(ours)
    time.sleep(0.3)  # most are up by now; those that are not come late, which is a race as well
    os.close(gun)
    finish(running)


def finish(processes: list[subprocess.Popen[bytes]]) -> list[str]:
    said = []
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()
        said.append(out.decode())
    return said


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


# ------------------------------------------------------------------------------------------------------ where it is


@pytest.mark.parametrize(
    ("env", "configured", "expected"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "", "/s/jevhook/ledger.ndjson"),
        ({"HOME": "/h"}, "", "/h/.local/state/jevhook/ledger.ndjson"),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, "", "/h/.local/state/jevhook/ledger.ndjson"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "", "/h/.local/state/jevhook/ledger.ndjson"),
        ({"HOME": "/h"}, "/var/log/l.ndjson", "/var/log/l.ndjson"),
        ({"HOME": "/h"}, "~/l.ndjson", "/h/l.ndjson"),
        ({"HOME": "/h"}, "mine.ndjson", "/h/.local/state/jevhook/mine.ndjson"),
    ],
)
def test_the_ledger_is_never_in_the_working_directory(env: dict[str, str], configured: str, expected: str) -> None:
    assert ledger.path(env, configured) == expected


def test_without_a_home_the_user_database_is_asked() -> None:
    import pwd

    home = pwd.getpwuid(os.getuid()).pw_dir
    assert ledger.directory({}) == os.path.join(home, ".local/state/jevhook")


def test_without_any_home_a_write_fails_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    def missing(_: int) -> object:
        raise KeyError("uid not found")

    monkeypatch.setattr(pwd, "getpwuid", missing)
    assert ledger.directory({}) == "" and ledger.path({}) == ""
    assert ledger.append({"id": 1}, {}) is False
    assert list(ledger.read({})) == [] and ledger.write_failures({}) == [] and ledger.digest(1, {}) == ""


# ------------------------------------------------------------------------------------------------------ one line


def test_a_record_is_one_private_line_and_reads_back(env: dict[str, str]) -> None:
    record = {"id": ledger.new_id(), "text": "line\nbreak \ud800 ü", "n": [1, None, True]}
    assert ledger.append(record, env) and ledger.append({"id": "2"}, env)
    name = ledger.path(env)
    assert Path(name).read_bytes().count(b"\n") == 2
    assert mode(name) == 0o600 and mode(os.path.dirname(name)) == 0o700
    assert list(ledger.read(env)) == [record, {"id": "2"}]
    assert ledger.write_failures(env) == []


def test_modes_are_right_under_any_umask_and_repaired(env: dict[str, str]) -> None:
    before = os.umask(0)
    try:
        ledger.append({"id": 1}, env)
    finally:
        os.umask(before)
    name = ledger.path(env)
    assert mode(name) == 0o600 and mode(os.path.dirname(name)) == 0o700
    os.chmod(name, 0o644)
    assert ledger.append({"id": 2}, env)
    assert mode(name) == 0o600


def test_what_json_cannot_hold_still_leaves_one_line(env: dict[str, str]) -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    assert ledger.append({"id": 1, "n": float("nan"), "o": object(), "s": {1}, "c": cycle, 5: "x"}, env)
    (record,) = ledger.read(env)
    assert record["id"] == 1 and record["n"] is None and record["o"] == "[object]" and record["s"] == [1]


def test_an_empty_working_directory_that_is_gone_is_no_obstacle(env: dict[str, str], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    code = (
        "import os,sys; os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]);"
        "from jevhook import ledger; sys.exit(not ledger.append({'id':1}, os.environ))"
    )
    finish([python(code, env, str(gone))])
    assert len(list(ledger.read(env))) == 1


# ------------------------------------------------------------------------------------------------------ torn files


def test_a_torn_tail_costs_only_its_own_line(env: dict[str, str]) -> None:
    ledger.append({"id": 1}, env)
    name = ledger.path(env)
    with open(name, "ab") as file:
        file.write(b'{"id":2,"x":{"y":1},"cut":"')
    assert ledger.append({"id": 3}, env)
    assert Path(name).read_bytes().splitlines()[-1] == b'{"id":3}'
    assert list(ledger.read(env)) == [{"id": 1}, {"id": 3}]


def test_a_file_that_is_emptied_while_its_end_is_waited_for(env: dict[str, str]) -> None:
    ledger.append({"id": 1}, env)
    name = ledger.path(env)
    with open(name, "ab", buffering=0) as file:
        file.write(b'{"id":2,')
        later = threading.Timer(0.003, lambda: file.truncate(0))
        later.start()
        assert ledger.append({"id": 4}, env)
        later.join()


def test_a_line_that_is_being_written_is_no_torn_one(env: dict[str, str]) -> None:
    """Its pages are seen one by one; an end added meanwhile made an empty line, which is no JSON to other readers."""
    ledger.append({"id": 1}, env)
    name = ledger.path(env)
    with open(name, "ab", buffering=0) as file:
        file.write(b'{"id":2,')
        later = threading.Timer(0.003, lambda: file.write(b'"x":3}\n'))
        later.start()
        assert ledger.append({"id": 4}, env)
        later.join()
    assert [json.loads(line)["id"] for line in Path(name).read_text().splitlines()] == [1, 2, 4]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"id":1}{"id":2}', [1, 2]),
        (b'{"id":1} {"id":2}{"id":3', [1, 2]),
        (b'{"id":1,"x":{"y":2},"z{"id":2}', [2]),
        (b'{"id":1,"points":[{"id":7,"o":1}],"cut{"id":2}', [2]),
        (b'\0\0\0{"id":1}', [1]),
        (b'\xff\xfe{"id"', []),
        (b"", []),
        (b"[1,2]", []),
        (b'"text"', []),
        (b'{"id":' + b"[" * 100_000, []),
        (b'{"id' * 20_000, []),
    ],
)
def test_corrupt_and_welded_lines_are_read_for_what_they_hold(
    env: dict[str, str], line: bytes, expected: list[int]
) -> None:
    ledger.append({"id": 0}, env)
    with open(ledger.path(env), "ab") as file:
        file.write(line + b"\n")
    ledger.append({"id": 9}, env)
    assert [record["id"] for record in ledger.read(env)] == [0, *expected, 9]


WRITER = """
import os, sys
from jevhook import ledger
who, count, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.read(0, 1)  # the starting gun: all wake at once when the test closes its end
for n in range(count):
    assert ledger.append({"id": f"{who}-{n}", "pad": "x" * (n * 37 % 3000)}, os.environ, max_bytes=most)
"""


@pytest.mark.slow
def test_sixty_four_processes_write_whole_lines(env: dict[str, str]) -> None:
    race(WRITER, env, [[str(who), "20", str(8 << 20)] for who in range(64)])
    lines = Path(ledger.path(env)).read_bytes().splitlines()
    assert {json.loads(line)["id"] for line in lines} == {f"{who}-{n}" for who in range(64) for n in range(20)}
    assert len(lines) == 64 * 20
    assert ledger.failure_count(env) == 0


@pytest.mark.slow
def test_forty_processes_at_the_rotation_boundary_lose_and_tear_nothing(env: dict[str, str]) -> None:
    expected = set()
    while True:
        entry = f"fill-{len(expected)}"
        ledger.append({"id": entry, "pad": "x" * 500}, env)
        expected.add(entry)
        if os.path.getsize(ledger.path(env)) > (64 << 10) - 600:
            break
    race(WRITER, env, [[str(who), "1", str(64 << 10)] for who in range(40)])
    expected |= {f"{who}-0" for who in range(40)}
    name = ledger.path(env)
    files = sorted(entry.name for entry in Path(name).parent.iterdir() if entry.name.startswith("ledger.ndjson"))
    assert files == ["ledger.ndjson", "ledger.ndjson.1"]
    found = [json.loads(line)["id"] for part in (name + ".1", name) for line in Path(part).read_bytes().splitlines()]
    assert len(found) == len(expected) and set(found) == expected
    assert mode(name) == mode(name + ".1") == 0o600


@pytest.mark.slow
def test_many_rotations_under_many_writers_keep_every_line_of_the_kept_generations(env: dict[str, str]) -> None:
    code = WRITER.replace("max_bytes=most", "max_bytes=most, generations=1000")
    race(code, env, [[str(who), "60", "20000"] for who in range(12)])
    found = [record["id"] for record in ledger.read(env)]
    assert len(found) == 12 * 60 and len(set(found)) == 12 * 60
    assert len(list(Path(ledger.path(env)).parent.glob("ledger.ndjson.*"))) > 10


def test_rotation_keeps_so_many_generations_and_reads_them_oldest_first(env: dict[str, str]) -> None:
    for number in range(40):
        ledger.append({"id": number, "pad": "x" * 80}, env, max_bytes=300, generations=3)
    names = sorted(entry.name for entry in Path(ledger.directory(env)).iterdir())
    assert names == ["ledger.lock", "ledger.ndjson", "ledger.ndjson.1", "ledger.ndjson.2", "ledger.ndjson.3"]
    found = [record["id"] for record in ledger.read(env)]
    assert found == list(range(40 - len(found), 40)) and len(found) >= 9
    assert all(os.path.getsize(Path(ledger.directory(env)) / name) <= 300 for name in names)


def test_a_hole_left_by_a_crash_in_the_middle_of_a_rotation_is_filled_first(env: dict[str, str]) -> None:
    for number in range(12):
        ledger.append({"id": number, "pad": "x" * 80}, env, max_bytes=300, generations=5)
    name = ledger.path(env)
    os.replace(name + ".2", name + ".5")
    before = [record["id"] for record in ledger.read(env)]
    for number in range(12, 15):
        ledger.append({"id": number, "pad": "x" * 80}, env, max_bytes=300, generations=5)
    assert [record["id"] for record in ledger.read(env)] == [*before, 12, 13, 14]


def test_a_generation_that_cannot_be_moved_does_not_stop_the_ledger(env: dict[str, str]) -> None:
    ledger.append({"id": 0, "pad": "x" * 300}, env)
    Path(ledger.path(env) + ".1").mkdir()
    assert ledger.append({"id": 1}, env, max_bytes=300, generations=1)
    assert [record["id"] for record in ledger.read(env)] == [0, 1]


def test_a_lock_that_somebody_holds_delays_a_line_but_never_loses_it(env: dict[str, str]) -> None:
    ledger.append({"id": 0, "pad": "x" * 300}, env)
    code = (
        "import fcntl,os,sys; fd=os.open(sys.argv[1],os.O_RDWR); fcntl.flock(fd,fcntl.LOCK_EX);"
        "print('held',flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-S", "-c", code, ledger.path(env)[: -len("ndjson")] + "lock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    began = time.monotonic()
    assert ledger.append({"id": 1}, env, max_bytes=300)
    took = time.monotonic() - began
    holder.communicate(b"")
    assert 0.05 < took < 1.0
    assert [record["id"] for record in ledger.read(env)] == [0, 1]
    assert not os.path.exists(ledger.path(env) + ".1")  # no rotation without the lock


@pytest.mark.slow
def test_two_hundred_writers_killed_at_any_point_never_spoil_the_next_line(env: dict[str, str]) -> None:
    code = (
        "import os,sys\nfrom jevhook import ledger\nn=0\n"
        "while True:\n ledger.append({'id':f'{sys.argv[1]}-{n}','pad':'y'*60000}, os.environ, max_bytes=4<<20); n+=1\n"
    )
    chance = random.Random(7)
    alive: list[subprocess.Popen[bytes]] = []
    for number in range(200):
        alive.append(python(code, env, str(number)))
        if len(alive) >= 3:
            time.sleep(chance.random() * 0.05)
            victim = alive.pop(0)
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
    for victim in alive:
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
    assert ledger.append({"id": "after"}, env)
    records = list(ledger.read(env))
    assert records[-1] == {"id": "after"} and len(records) > 20
    torn = 0
    for name in [part.name for part in ledger.open_parts(ledger.path(env))]:
        if os.path.exists(name):
            for line in Path(name).read_bytes().splitlines():
                try:
                    json.loads(line)
                except ValueError:
                    torn += bool(line)
    assert torn <= 200


def test_a_process_killed_after_half_a_write_is_repaired_by_the_next(env: dict[str, str]) -> None:
    code = (
        "import os,signal,sys\nfrom jevhook import ledger\nreal=os.write\n"
        "def half(fd,data):\n real(fd,data[:len(data)//2]); os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.write=half\nledger.append({'id':'dead','pad':'z'*100}, os.environ)\n"
    )
    ledger.append({"id": "before"}, env)
    process = python(code, env)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not Path(ledger.path(env)).read_bytes().endswith(b"\n")
    assert ledger.append({"id": "after"}, env)
    assert list(ledger.read(env)) == [{"id": "before"}, {"id": "after"}]


# ------------------------------------------------------------------------------------------------------ refusals


def _symlink(name: str) -> None:
    Path(name + ".target").write_bytes(b"")
    os.symlink(name + ".target", name)


def _device(name: str) -> None:
    os.symlink("/dev/full", name)


@pytest.mark.parametrize(
    "make", [_symlink, _device, os.mkfifo, os.mkdir], ids=["symlink", "device", "fifo", "directory"]
)
def test_what_is_no_file_of_ours_is_refused_at_once_and_counted(env: dict[str, str], make: object) -> None:
    name = ledger.path(env)
    os.makedirs(os.path.dirname(name))
    make(name)  # type: ignore[operator]
    began = time.monotonic()
    assert ledger.append({"id": 1}, env) is False
    assert time.monotonic() - began < 1.0
    ((when, reason),) = ledger.write_failures(env)
    assert when.endswith("Z") and reason
    assert not os.path.exists(name + ".target") or os.path.getsize(name + ".target") == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_file_is_refused(env: dict[str, str]) -> None:
    name = ledger.path(env)
    ledger.append({"id": 1}, env)
    os.chown(name, 65534, 65534)
    assert ledger.append({"id": 2}, env) is False
    assert "another user" in ledger.write_failures(env)[0][1]
    assert Path(name).read_bytes() == b'{"id":1}\n'


def test_a_lock_that_is_no_file_costs_rotation_only(env: dict[str, str]) -> None:
    os.makedirs(ledger.directory(env))
    os.mkfifo(os.path.join(ledger.directory(env), "ledger.lock"))
    assert ledger.append({"id": 1}, env) and ledger.append({"id": 2}, env, max_bytes=1)
    assert len(list(ledger.read(env))) == 2


FULL = """
import os, resource, sys
from jevhook import ledger
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # Python ignores SIGXFSZ
done = [ledger.append({"id": n, "pad": "x" * 130}, os.environ) for n in range(10)]
print(done.count(True), done.count(False))
"""


def test_a_full_disk_leaves_whole_lines_and_is_counted(env: dict[str, str]) -> None:
    (said,) = finish([python(FULL, env)])
    written, failed = map(int, said.split())
    data = Path(ledger.path(env)).read_bytes()
    assert written and failed and written + failed == 10
    assert data.endswith(b"\n") and len(data.splitlines()) == written
    assert [record["id"] for record in ledger.read(env)] == list(range(written))
    assert ledger.failure_count(env) == failed
    assert all("ENOSPC" in reason or "EFBIG" in reason for _, reason in ledger.write_failures(env))
    assert ledger.append({"id": "later"}, env)


def test_when_the_state_directory_is_a_file_the_failure_is_counted_in_the_cache(env: dict[str, str]) -> None:
    Path(env["XDG_STATE_HOME"]).write_text("not a directory")
    assert ledger.append({"id": 1}, env) is False
    assert os.path.exists(os.path.join(env["XDG_CACHE_HOME"], "jevhook", "write-failures"))
    assert ledger.failure_count(env) == 1 and len(ledger.write_failures(env)) == 1


def test_when_nothing_can_be_written_nothing_is_raised(env: dict[str, str]) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        Path(env[name]).write_text("not a directory")
    assert ledger.append({"id": 1}, env) is False
    assert ledger.append({"id": 1}, env, "/nul\0byte") is False
    assert ledger.write_failures(env) == []


def test_failures_are_bounded_and_the_last_twenty_are_told(env: dict[str, str]) -> None:
    os.makedirs(ledger.path(env))
    for _ in range(60):
        assert ledger.append({"id": 1}, env) is False
    assert len(ledger.write_failures(env)) == 20 and ledger.failure_count(env) == 60
    for _ in range(3000):
        ledger._count_failure(env, OSError(28, "x" * 300))
    sizes = [entry.stat().st_size for entry in Path(ledger.directory(env)).glob("write-failures*")]
    assert sum(sizes) <= 2 * (64 << 10)


# ------------------------------------------------------------------------------------------------------ small things


def test_the_time_is_iso_with_milliseconds_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_999_999_999)
    assert ledger.now_iso() == "2023-11-14T22:13:20.999Z"


def test_an_id_is_a_random_uuid() -> None:
    ids = {ledger.new_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(str(uuid.UUID(text)) == text and uuid.UUID(text).version == 4 for text in ids)


def test_a_digest_is_keyed_canonical_and_local(env: dict[str, str], tmp_path: Path) -> None:
    first = ledger.digest({"b": 1, "a": [1, "ü"]}, env)
    assert first == ledger.digest({"a": [1, "ü"], "b": 1}, env) and len(first) == 64
    assert first != ledger.digest({"a": [1, "ü"], "b": 2}, env)
    other = {**env, "XDG_STATE_HOME": str(tmp_path / "other")}
    assert ledger.digest({"b": 1, "a": [1, "ü"]}, other) != first
    key = os.path.join(ledger.directory(env), "key")
    assert mode(key) == 0o600 and os.path.getsize(key) == 32
    assert os.listdir(ledger.directory(env)) == ["key"]


@pytest.mark.parametrize("make", ["missing", "short", "symlink", "fifo"])
def test_without_a_sound_key_there_is_no_digest(env: dict[str, str], make: str) -> None:
    key = os.path.join(ledger.directory(env), "key")
    if make == "missing":
        Path(env["XDG_STATE_HOME"]).write_text("not a directory")
    else:
        os.makedirs(os.path.dirname(key))
    if make == "short":
        Path(key).write_bytes(b"short")
    if make == "symlink":
        Path(key + "2").write_bytes(b"k" * 32)
        os.symlink(key + "2", key)
    if make == "fifo":
        os.mkfifo(key)
    assert ledger.digest("x", env) == ""


def test_first_hooks_at_once_agree_on_one_key(env: dict[str, str]) -> None:
    code = "import os; from jevhook import ledger; print(ledger.digest('x', os.environ))"
    said = finish([python(code, env) for _ in range(24)])
    assert len(set(said)) == 1 and len(said[0].strip()) == 64
    assert os.listdir(ledger.directory(env)) == ["key"]


def test_long_strings_are_cut_at_any_depth_and_counted() -> None:
    given_value = {"a": "x" * 200, "b": ["y" * 201, {"c": ("z" * 5000,)}], "n": 7, "k" * 300: None}
    after, cut = ledger.elide(given_value)
    assert cut == 3 and after["a"] == "x" * 200 and after["n"] == 7
    assert after["b"][0].endswith("[201 characters]") and after["b"][1]["c"][0].startswith("z" * 160)
    assert ledger.elide(after) == (after, 0)
    deep: list[object] = []
    deep.append(deep)
    assert "[cut]" in repr(ledger.elide(deep)[0])


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None)
@given(records=st.lists(st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=4), max_size=5))
def test_any_records_come_back_as_they_were_written(
    records: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    env = {"HOME": str(tmp_path_factory.mktemp("h"))}
    for record in records:
        assert ledger.append(record, env, max_bytes=200, generations=9)
    assert list(ledger.read(env)) == records


def test_the_lane_stays_light(env: dict[str, str]) -> None:
    code = (
        "import os,sys\nbefore=set(sys.modules)\nfrom jevhook import ledger, event\nfrom jevhook.state import session\n"
        "from jevhook.text import redact\n"
        "e=event.Event('claude','before-tool','PreToolUse',session='s')\n"
        "ledger.append({'id':ledger.new_id(),'at':ledger.now_iso()}, os.environ); ledger.digest({'a':1}, os.environ)\n"
        "session.remember(os.environ,e,'k',a=1); session.recall(os.environ,e,'k'); session.once(os.environ,e,'w')\n"
        "redact.redact('git commit -m \"add x\" && npm test', os.environ)\n"
        "print(*sorted(set(sys.modules)-before))"
    )
    (said,) = finish([python(code, env)])
    heavy = {"typing", "json", "re", "enum", "hashlib", "datetime", "uuid", "logging", "pathlib", "tempfile", "socket"}
    assert not heavy & set(said.split())
