"""One-time permits: what they are bound to, who gets one, and all the files that are none."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from jevhook.event import Event
from jevhook.state import permits

NOW = time.time()  # what is kept is as old as its file: prune looks at the disk's clock


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "state")}


def call(tool: str = "Bash", cwd: str = "/srv/shop", **given: Any) -> Event:
    return Event("codex", "before-tool", "PreToolUse", tool=tool, input=given or {"command": "make deploy"}, cwd=cwd)


def granted(event: Event, env: dict[str, str], now: float = NOW) -> str:
    """The digest of a call that a person has let run."""
    digest = permits.bound_to(event, env)
    found = permits.offered(permits.offer(event, digest, "r", env, now), env, now)
    assert found is not None
    permits.grant(found, env, now)
    return digest


def one_of(call_id: str = "", session: str = "s", cwd: str = "") -> Event:
    return Event("codex", "before-tool", "PreToolUse", tool="Bash", session=session, call_id=call_id, cwd=cwd)


def take(digest: str, env: dict[str, str], cwd: str, now: float, seconds: float, **of: str) -> dict[str, Any] | None:
    return permits.take(one_of(cwd=cwd, **of), digest, env, now, seconds)


def test_a_permit_is_used_up_by_the_first_who_takes_it(env: dict[str, str]) -> None:
    digest = granted(call(), env)
    taken = take(digest, env, "/srv/shop", NOW + 5, 600)
    assert taken is not None and taken["rule"] == "r"
    assert take(digest, env, "/srv/shop", NOW + 5, 600) is None
    assert not list(Path(permits.folder(env)).glob("*.used")), "without an id nobody else can ask for it"


@pytest.mark.parametrize(("later", "holds"), [(0, True), (599, True), (600, False), (-3600, False)])
def test_a_permit_ends_by_itself_and_is_gone_then(env: dict[str, str], later: float, holds: bool) -> None:
    digest = granted(call(), env)
    assert (take(digest, env, "", NOW + later, 600) is not None) is holds
    assert take(digest, env, "", NOW, 600) is None


@pytest.mark.parametrize(
    "other",
    [
        call(command="make deploy "),
        call(command="make deploy", timeout=5),
        call(command="make deploy", cwd="/srv"),
        call("shell", command="make deploy"),
        call("mcp__x__y", command="make deploy", description="a"),
    ],
)
def test_another_call_is_another_digest(env: dict[str, str], other: Event) -> None:
    assert permits.bound_to(other, env) != permits.bound_to(call(), env)


def test_the_label_of_a_hosts_own_tool_is_no_part_of_the_call_but_an_mcp_tools_is(env: dict[str, str]) -> None:
    assert permits.bound_to(call(command="make deploy", description="again"), env) == permits.bound_to(call(), env)
    one, two = (call("mcp__jira__create", description=text) for text in ("a", "b"))
    assert permits.bound_to(one, env) != permits.bound_to(two, env)


def test_what_json_cannot_hold_gets_no_permit(env: dict[str, str]) -> None:
    assert permits.bound_to(call(command="x", n=float("nan")), env) == ""
    assert permits.offer(call(), "", None, env, NOW) == ""
    assert permits.take(call(), "", env, NOW, 600) is None


def test_a_call_keeps_its_code_and_a_code_is_plain_letters(env: dict[str, str]) -> None:
    digest = permits.bound_to(call(), env)
    codes = {permits.offer(call(), digest, None, env, NOW + step) for step in range(3)}
    (code,) = codes
    assert len(code) == 5 and set(code) <= set("BCDFGHJKMNPQRSTVWXZ")
    found = permits.offered(f" {code.lower()} ", env, NOW + 9)
    assert found is not None and found["call"] == digest and found["what"] == "make deploy"
    assert permits.offered(code, env, NOW + permits.OFFERED_SECONDS + 9) is None


@pytest.mark.parametrize("code", ["", "AEIOU", "../../x", "BCDFG", "B" * 99, "BCD\0G", "bcdf\n/g"])
def test_what_is_no_code_finds_nothing(env: dict[str, str], code: str) -> None:
    permits.offer(call(), permits.bound_to(call(), env), None, env, NOW)
    assert permits.offered(code, env, NOW) is None or code == "BCDFG"


def test_two_calls_whose_letters_are_the_same_get_two_codes(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two hooks once took one code: each saw no file, one made it, and the other then wrote over it.
    monkeypatch.setattr(permits, "_codes", lambda digest: ["BBBBB", "CCCCC", "DDDDD"])
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            for turn in range(50):
                home = {**env, "XDG_STATE_HOME": f"{env['XDG_STATE_HOME']}{turn}"}
                events = [call(command=f"make deploy-{n}") for n in range(4)]
                codes = list(
                    pool.map(lambda e, at: permits.offer(e, permits.bound_to(e, at), None, at, NOW), events, [home] * 4)
                )
                assert sorted(codes) == ["", "BBBBB", "CCCCC", "DDDDD"], "the fourth finds every code taken"
                for event, code in zip(events, codes, strict=True):
                    if code:
                        found = permits.offered(code, home, NOW)
                        assert found is not None and found["what"] == event.input["command"]
    finally:
        sys.setswitchinterval(usual)


def test_every_hook_of_the_permitted_call_finds_the_permit_and_no_other_call_does(env: dict[str, str]) -> None:
    """Registered twice, one hook let the call run and the other denied it: 20 of 20 times nothing ran."""
    digest = granted(call(), env)
    for _ in range(3):
        taken = take(digest, env, "", NOW + 1, 600, call_id="1")
        assert taken is not None and taken["rule"] == "r"
    assert take(digest, env, "", NOW + 1, 600, call_id="2") is None
    assert take(digest, env, "", NOW + 1, 600, call_id="1", session="another") is None
    assert take(digest, env, "", NOW + 1, 600) is None
    assert take("0" * 64, env, "", NOW + 1, 600, call_id="1") is None, "another call with that id"


@pytest.mark.parametrize("end", ["the tool has run", "a minute", "the permit's own time"])
def test_a_used_permit_ends_though_call_ids_repeat(
    env: dict[str, str], end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model's server may count from call_0 in every turn: one permit then let that call run for ten minutes."""
    digest = granted(call(), env)
    assert take(digest, env, "", NOW + 1, 600, call_id="call_0") is not None
    if end == "the tool has run":
        permits.over(one_of("call_0"), env)
    elif end == "a minute":
        monkeypatch.setattr(permits, "AGAIN", 0.0)
    now = NOW + 600 if end == "the permit's own time" else NOW + 1
    assert take(digest, env, "", now, 600, call_id="call_0") is None
    assert os.listdir(permits.folder(env)) == [f"{permits._codes(digest)[0]}.offer"]


def test_what_another_call_with_its_id_left_does_not_stand_before_a_permit(env: dict[str, str]) -> None:
    other = call(command="make other")
    permits.grant({"call": permits.bound_to(other, env), "code": "BCDFG"}, env, NOW)
    assert take(permits.bound_to(other, env), env, "", NOW, 600, call_id="call_0") is not None
    assert take(granted(call(), env), env, "", NOW, 600, call_id="call_0") is not None


def test_a_permit_that_the_other_hook_takes_between_two_looks_is_found(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = granted(call(), env)
    real = os.path.lexists

    def late(path: str) -> bool:
        monkeypatch.setattr(os.path, "lexists", real)
        assert take(digest, env, "", NOW, 600, call_id="1") is not None
        return False  # neither is where it was looked for

    monkeypatch.setattr(os.path, "lexists", late)
    assert take(digest, env, "", NOW, 600, call_id="1") is not None


def test_a_late_hook_of_a_permitted_call_leaves_the_next_permit_alone(env: dict[str, str]) -> None:
    digest = granted(call(), env)
    assert take(digest, env, "", NOW, 600, call_id="1") is not None
    granted(call(), env)
    assert take(digest, env, "", NOW, 600, call_id="1") is not None
    assert take(digest, env, "", NOW, 600, call_id="2") is not None


def test_a_permit_that_is_granted_anew_while_an_old_one_is_looked_at_is_kept(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = granted(call(), env, NOW - 700)
    found = permits.offered(permits.offer(call(), digest, "r", env, NOW), env, NOW)
    assert found is not None
    real = permits._read

    def slow(path: str) -> dict[str, Any] | None:
        monkeypatch.setattr(permits, "_read", real)
        read = real(path)
        permits.grant(found, env, NOW)
        return read

    monkeypatch.setattr(permits, "_read", slow)
    taken = take(digest, env, "", NOW, 600)
    assert taken is not None and taken["at"] == NOW, "the new one, and it is not deleted for the old one's age"
    assert take(digest, env, "", NOW, 600) is None


def test_an_offer_that_is_renewed_while_others_are_pruned_stays(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = call(command="make 1"), call(command="make 2")
    code = permits.offer(first, permits.bound_to(first, env), None, env, NOW)
    permits.offer(second, permits.bound_to(second, env), None, env, NOW)
    monkeypatch.setattr(permits, "MAX_FILES", 1)
    real = os.lstat

    def late(path: str) -> os.stat_result:
        monkeypatch.setattr(os, "lstat", real)
        monkeypatch.setattr(permits, "prune", lambda *_: None)
        assert permits.offer(first, permits.bound_to(first, env), None, env, NOW) == code
        return real(path)

    prune = permits.prune
    monkeypatch.setattr(os, "lstat", late)
    prune(env, NOW)
    assert permits.offered(code, env, NOW) is not None


def test_files_are_private_and_secrets_are_not_kept(env: dict[str, str]) -> None:
    event = call(command="curl -H 'Authorization: Bearer sk-ant-REDACTED'")
    granted(event, env)
    place = Path(permits.folder(env))
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    files = list(place.iterdir())
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert all("abcdefghijklmnop" not in file.read_text() for file in files)


def test_a_long_call_says_how_much_is_not_shown(env: dict[str, str]) -> None:
    assert "96 more characters that are not shown" in permits.words(call(command="x" * 4096), env)
    assert "196000 more" in permits.words(call(command="y " * 100_000), env)


def _open_to_all(place: Path, file: Path) -> None:
    place.chmod(0o777)


def _others_may_look(place: Path, file: Path) -> None:
    place.chmod(0o755)


def _in_a_work_tree(place: Path, file: Path) -> None:
    (place.parent.parent / ".git").mkdir()


def _a_link(place: Path, file: Path) -> None:
    file.rename(file.with_name("real"))
    file.symlink_to("real")


def _a_pipe(place: Path, file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def _for_another_call(place: Path, file: Path) -> None:
    file.write_text(file.read_text().replace('"call":"', '"call":"0'))


def _not_json(place: Path, file: Path) -> None:
    file.write_text("yes")


@pytest.mark.parametrize(
    "spoil",
    [_open_to_all, _others_may_look, _in_a_work_tree, _a_link, _a_pipe, _for_another_call, _not_json],
)
def test_a_permit_that_somebody_else_may_have_written_is_none(env: dict[str, str], spoil: Any) -> None:
    digest = granted(call(), env)
    place = Path(permits.folder(env))
    spoil(place, place / f"{digest[:40]}.permit")
    assert take(digest, env, "", NOW, 600) is None


def test_a_state_directory_in_the_judged_project_permits_nothing(env: dict[str, str], tmp_path: Path) -> None:
    digest = granted(call(), env)
    assert take(digest, env, str(tmp_path), NOW, 600) is None
    assert take(digest, env, str(tmp_path / "elsewhere"), NOW, 600) is not None


def test_old_and_too_many_files_go(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permits, "MAX_FILES", 3)
    for n in range(6):
        event = call(command=f"make {n}")
        permits.offer(event, permits.bound_to(event, env), None, env, NOW + n)
    assert [entry["what"] for entry in permits.all_offered(env, NOW + 9)] == ["make 5", "make 4", "make 3"]
    permits.prune(env, NOW + 2 * permits.OFFERED_SECONDS)
    assert os.listdir(permits.folder(env)) == []


TAKER = """
import os, sys, time
from jevhook.event import Event
from jevhook.state import permits
while not os.path.exists(sys.argv[2]):
    time.sleep(0.002)
print(int(permits.take(Event("codex", "before-tool", "PreToolUse"), sys.argv[1], dict(os.environ), float(sys.argv[3]), 600) is not None))
"""


def test_of_sixty_four_processes_one_has_the_permit(env: dict[str, str], tmp_path: Path) -> None:
    digest = granted(call(), env)
    start = tmp_path / "start"
    command = [sys.executable, "-S", "-c", TAKER, digest, str(start), str(NOW)]
    root = str(Path(permits.__file__).parents[2])
    takers = [
        subprocess.Popen(command, env={**env, "PYTHONPATH": root}, stdout=subprocess.PIPE, text=True) for _ in range(64)
    ]
    start.touch()
    said = [taker.communicate(timeout=60)[0].strip() for taker in takers]
    assert sorted(said) == ["0"] * 63 + ["1"]
