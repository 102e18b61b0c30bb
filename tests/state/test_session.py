"""The memory of a session: private, bounded, expiring, silent, and the same for any number of hooks at once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jevhook import ledger
from jevhook.event import Event
from jevhook.state import archive, session

ROOT = str(Path(ledger.__file__).parents[1])


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}


def event(name: str = "s-1", host: str = "claude") -> Event:
    return Event(host, "before-tool", "PreToolUse", session=name)


def files(env: dict[str, str]) -> list[Path]:
    return sorted((Path(ledger.directory(env)) / "sessions").iterdir())


def test_facts_come_back_to_the_same_session_host_and_kind_only(env: dict[str, str]) -> None:
    before = time.time()
    session.remember(env, event(), "denied", rule="rm.home", target="~")
    session.remember(env, event(), "denied", rule="git.force")
    session.remember(env, event(), "asked", rule="x")
    found = session.recall(env, event(), "denied")
    assert [facts["rule"] for facts in found] == ["rm.home", "git.force"]
    assert found[0]["target"] == "~" and before - 1 <= found[0]["at"] <= time.time() + 1
    assert session.recall(env, event("s-2"), "denied") == []
    assert session.recall(env, event("s-1", "codex"), "denied") == []
    assert session.recall(env, event(), "deni") == []


def test_files_are_private_and_their_names_tell_nothing(env: dict[str, str]) -> None:
    session.remember(env, event("my-session"), "k", a=1)
    session.once(env, event("my-session"), "notice")
    for file in files(env):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "my-session" not in file.name and "notice" not in file.name
    assert stat.S_IMODE((Path(ledger.directory(env)) / "sessions").stat().st_mode) == 0o700


def test_old_facts_are_forgotten(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for age, name in ((90000, "old"), (100, "new")):
        monkeypatch.setattr(time, "time", lambda at=now - age: at)
        session.remember(env, event(), "k", name=name)
    monkeypatch.setattr(time, "time", lambda: now)
    assert [facts["name"] for facts in session.recall(env, event(), "k")] == ["new"]
    assert session.recall(env, event(), "k", max_age=10) == []
    assert len(session.recall(env, event(), "k", max_age=1e9)) == 2


def test_corrupt_lines_are_skipped(env: dict[str, str]) -> None:
    session.remember(env, event(), "k", n=1)
    (file,) = [file for file in files(env) if file.suffix == ".ndjson"]
    with file.open("ab") as out:
        out.write(b'\xff\n{"kind":"k","at":"x","facts":{}}\n{"kind":"k","facts":[]}\n{"kind":"k",[\n{"kind":"k","at":1')
    session.remember(env, event(), "k", n=2)
    assert [facts["n"] for facts in session.recall(env, event(), "k")] == [1, 2]


def test_memory_is_bounded_and_keeps_the_latest(env: dict[str, str]) -> None:
    for number in range(500):
        session.remember(env, event(), "k", n=number, pad="x" * 4000)
    sizes = [file.stat().st_size for file in files(env)]
    assert sum(sizes) <= 2 * session.MAX_FILE
    found = [facts["n"] for facts in session.recall(env, event(), "k")]
    assert found == list(range(500 - len(found), 500)) and 30 <= len(found) <= 64
    session.remember(env, event(), "k", n=-1, pad="x" * 20_000)
    assert session.recall(env, event(), "k")[-1]["n"] == 499


def test_once_is_once_a_session_and_a_word(env: dict[str, str]) -> None:
    assert [session.once(env, event(), "a") for _ in range(3)] == [True, False, False]
    assert session.once(env, event(), "b") and session.once(env, event("s-2"), "a")


def test_once_is_true_for_one_of_many_hooks_at_once(env: dict[str, str]) -> None:
    code = (
        "import os\nfrom jevhook.event import Event\nfrom jevhook.state import session\n"
        "print(session.once(os.environ, Event('claude','other','x',session='s'), 'w'))"
    )
    running = [
        subprocess.Popen([sys.executable, "-S", "-c", code], env={"PYTHONPATH": ROOT, **env}, stdout=subprocess.PIPE)
        for _ in range(20)
    ]
    assert sorted(process.communicate()[0].strip() for process in running) == [b"False"] * 19 + [b"True"]


def test_many_hooks_remember_everything(env: dict[str, str]) -> None:
    code = (
        "import os,sys\nfrom jevhook.event import Event\nfrom jevhook.state import session\n"
        "e = Event('claude','other','x',session='s')\n"
        "for n in range(10): session.remember(os.environ, e, 'k', n=n, w=sys.argv[1])"
    )
    running = [
        subprocess.Popen([sys.executable, "-S", "-c", code, str(w)], env={"PYTHONPATH": ROOT, **env}) for w in range(16)
    ]
    assert [process.wait() for process in running] == [0] * 16
    found = session.recall(env, event("s"), "k")
    assert {(facts["w"], facts["n"]) for facts in found} == {(str(w), n) for w in range(16) for n in range(10)}


@pytest.mark.parametrize("obstacle", ["no session", "state is a file", "no key"])
def test_where_nothing_can_be_kept_everything_is_silent(env: dict[str, str], obstacle: str) -> None:
    asked = event("" if obstacle == "no session" else "s")
    if obstacle == "state is a file":
        Path(env["XDG_STATE_HOME"]).write_text("x")
    if obstacle == "no key":
        os.makedirs(os.path.join(ledger.directory(env), "key"))
    session.remember(env, asked, "k", a=1)
    assert session.recall(env, asked, "k") == []
    assert session.once(env, asked, "w") and session.once(env, asked, "w")


@pytest.mark.parametrize("make", ["symlink", "fifo", "directory"])
def test_a_memory_that_is_no_file_of_ours_is_not_read_written_or_waited_for(env: dict[str, str], make: str) -> None:
    session.remember(env, event(), "k", a=1)
    (file,) = [file for file in files(env) if file.suffix == ".ndjson"]
    kept = file.rename(file.with_suffix(".kept"))
    if make == "symlink":
        file.symlink_to(kept)
    elif make == "fifo":
        os.mkfifo(file)
    else:
        file.mkdir()
    size = kept.stat().st_size
    session.remember(env, event(), "k", a=2)
    assert session.recall(env, event(), "k") == [] and kept.stat().st_size == size


def test_facts_that_json_cannot_hold_are_dropped(env: dict[str, str]) -> None:
    session.remember(env, event(), "k", a=object())
    session.remember(env, event(), "k", a=float("nan"))
    assert session.recall(env, event(), "k") == []


def test_pruning_deletes_week_old_files_fifty_at_a_time(env: dict[str, str]) -> None:
    session.remember(env, event("fresh"), "k", a=1)
    folder = Path(ledger.directory(env)) / "sessions"
    for number in range(70):
        old = folder / f"{number:032}.{'once' if number % 2 else 'ndjson'}"
        old.write_text("x")
        os.utime(old, (time.time() - 8 * 86400,) * 2)
    (folder / "foreign.txt").write_text("x")
    os.utime(folder / "foreign.txt", (0, 0))
    assert [session.prune(env) for _ in range(3)] == [50, 20, 0]
    assert (folder / "foreign.txt").exists() and session.recall(env, event("fresh"), "k")


def test_pruning_happens_on_one_write_in_sixty_four(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    session.remember(env, event(), "k", a=1)
    old = Path(ledger.directory(env)) / "sessions" / "old.ndjson"
    old.write_text("x")
    os.utime(old, (0, 0))
    real = os.urandom
    monkeypatch.setattr(os, "urandom", lambda size: b"\x01" if size == 1 else real(size))
    session.remember(env, event(), "k", a=1)
    assert old.exists()
    monkeypatch.setattr(os, "urandom", lambda size: b"\x40" if size == 1 else real(size))
    session.remember(env, event(), "k", a=1)
    assert not old.exists()


@pytest.mark.parametrize("which", ["session", "archive"])
def test_what_is_renewed_while_old_files_are_pruned_stays(
    env: dict[str, str], which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that came back after a week lost what was just noted, 127 times in 1,500."""
    if which == "session":
        session.remember(env, event(), "k", a=1)
        (file,) = (one for one in files(env) if one.suffix == ".ndjson")
    else:
        file = Path(archive.keep(env, event(), "text"))
    os.utime(file, (1, 1))
    real = os.lstat

    def late(path: str) -> os.stat_result:
        os.utime(file)  # another hook needs it again
        return real(path)

    monkeypatch.setattr(os, "lstat", late)
    assert (session.prune(env) if which == "session" else archive.prune(archive.folder(env))) == 0
    monkeypatch.undo()
    assert file.exists()
    os.utime(file, (1, 1))
    assert (session.prune(env) if which == "session" else archive.prune(archive.folder(env))) == 1
