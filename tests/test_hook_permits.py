"""A denied call, its code, the person who lets it run once, and the next try: through the installed command."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from lane import PROGRAM, RULES, Lane, Ran
from terminal import at_terminal, in_a_pipe

from jevhook import hosts
from jevhook.state import permits


@pytest.fixture
def lane(private_home: Path, tmp_path: Path) -> Lane:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    return Lane(private_home, project)


def code_in(ran: Ran) -> str:
    """The code in the reason, "" for none; it is in the ledger line too."""
    found = re.search(r"jevhook allow-once ([A-Z]+)", ran.said.get("permissionDecisionReason", ""))
    code = found[1] if found else ""
    assert ran.entry.get("permit") == ({"code": code, "used": False} if code else None)
    return code


def stopped(lane: Lane, host: str) -> dict[str, Any]:
    """An event that the host's session has nobody to ask about."""
    mode = "bypassPermissions" if host == "claude" else "default"
    made: dict[str, Any] = getattr(lane, host)("frob-high now", permission_mode=mode)
    return made


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_person_lets_a_denied_call_run_once(lane: Lane, host: str) -> None:
    first = lane.hook(stopped(lane, host))
    code = code_in(first)
    assert first.decision == "deny" and code
    assert first.said["permissionDecisionReason"].endswith(f"jevhook allow-once {code} [team.high]")
    assert code_in(lane.hook(stopped(lane, host))) == code, "tried again before anybody looked: the same code"

    status, said = at_terminal("allow-once", code.lower(), typed="y\n")
    assert status == 0 and "frob-high now" in said and "[team.high]" in said and "permitted once until" in said
    line = lane.ledger()[-1]
    assert (line["event"], line["reason"], line["permit"]["code"]) == ("jevhook allow-once", "permit", code)

    ran = lane.hook(stopped(lane, host))
    assert (ran.stdout, ran.code, ran.stderr) == (b"", 0, []), "silence: the host's own permission flow goes on"
    assert (ran.entry["decision"], ran.entry["decided"], ran.entry["told"]) == ("none", "ask", "permit")
    assert ran.entry["permit"] == {"code": code, "used": True}
    assert lane.hook({**stopped(lane, host), "tool_use_id": "another"}).decision == "deny", "once"
    lane.hook({**stopped(lane, host), "hook_event_name": "PostToolUse", "tool_response": {"stdout": "done"}})
    assert lane.hook(stopped(lane, host)).decision == "deny", "and after the tool its id is nobody's"


def permitted(lane: Lane, host: str = "codex") -> None:
    code = code_in(lane.hook(stopped(lane, host)))
    assert at_terminal("allow-once", code, "--yes")[0] == 0


def test_an_ask_is_lifted_too_and_carries_no_code_of_its_own(lane: Lane) -> None:
    permitted(lane, "claude")
    asked = lane.hook(lane.claude("frob-high other"))
    assert asked.decision == "ask" and code_in(asked) == "", "the host's own question is the permit"
    ran = lane.hook(lane.claude("frob-high now"))
    assert (ran.decision, ran.entry["told"]) == ("none", "permit")
    assert lane.hook(lane.claude("frob-high now")).decision == "ask"


def test_the_permit_is_for_that_call_in_that_directory(lane: Lane) -> None:
    permitted(lane)
    for other in (
        lane.codex("frob-high now "),
        lane.codex("frob-high now && frob-high now"),
        lane.codex("frob-high now", cwd=str(lane.project.parent)),
        lane.codex("frob-high now", tool_input={"command": "frob-high now", "timeout_ms": 5}),
        lane.codex("frob-high now", tool_name="shell"),
    ):
        assert lane.hook(other).decision == "deny", other
    assert lane.hook(lane.codex("frob-high now", session_id="s-2")).decision == "none", "any session's"


@pytest.mark.parametrize("command", ["frob-deny", "rm -rf ~/", "rm -rf ~/ && frob-high now", "jevhook off"])
def test_what_cannot_be_undone_has_no_code_and_no_permit_lifts_it(lane: Lane, command: str) -> None:
    event = lane.codex(command)
    ran = lane.hook(event)
    assert ran.decision == "deny" and code_in(ran) == ""
    assert not (lane.home / ".local/state/jevhook/permits").exists()
    # not even one that somebody has managed to write
    call = permits.bound_to(hosts.load("codex").read(event, lane.env), lane.env)
    permits.grant({"call": call, "code": "BCDFG", "rule": ""}, lane.env, time.time())
    assert lane.hook(event).decision == "deny"


def test_a_call_said_in_other_words_after_a_final_deny_has_no_code(lane: Lane) -> None:
    lane.hook(lane.codex("rm -rf ~/"))
    again = lane.hook(lane.codex("mv ~/ /tmp/gone"))
    assert again.decision == "deny" and code_in(again) == ""


def test_an_expired_permit_lifts_nothing(lane: Lane) -> None:
    lane.config("permit_minutes = 0.001\n" + RULES)
    permitted(lane)
    (file,) = (lane.home / ".local/state/jevhook/permits").glob("*.permit")
    kept = json.loads(file.read_text())
    file.write_text(json.dumps({**kept, "at": kept["at"] - 1}, separators=(",", ":")))
    assert lane.hook(stopped(lane, "codex")).decision == "deny"


def test_a_policy_without_permits_gives_no_code_and_takes_none(lane: Lane) -> None:
    permitted(lane)
    code = code_in(lane.hook(lane.codex("frob-high other")))
    lane.config("permit_minutes = 0\n" + RULES)
    ran = lane.hook(stopped(lane, "codex"))
    assert ran.decision == "deny" and code_in(ran) == ""
    status, said = at_terminal("allow-once", code, "--yes")
    assert status == 1 and "the policy gives no permits" in said


def test_shadow_neither_offers_nor_uses_a_permit(lane: Lane) -> None:
    permitted(lane)
    lane.config('[modes]\n"tool.risk" = "shadow"\n' + RULES)
    ran = lane.hook(stopped(lane, "codex"))
    assert ran.decision == "none" and "permit" not in ran.entry
    lane.config(RULES)
    assert lane.hook(stopped(lane, "codex")).entry["told"] == "permit", "it is still there"


def test_calls_that_pass_touch_no_permit(lane: Lane) -> None:
    lane.hook(lane.codex("ls -la"))
    lane.hook(lane.codex("frob-low"))
    assert not (lane.home / ".local/state/jevhook/permits").exists()


@pytest.mark.parametrize("registered", ["once", "twice"])
def test_of_many_calls_at_once_one_is_let_through_with_all_its_hooks(lane: Lane, registered: str) -> None:
    permitted(lane)
    calls = [f"call_{number // (2 if registered == 'twice' else 1)}" for number in range(8)]
    started = [
        subprocess.Popen(
            [*PROGRAM, "hook"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=lane.env, cwd=lane.project
        )
        for _ in calls
    ]
    for process, name in zip(started, calls, strict=True):
        assert process.stdin is not None
        process.stdin.write(json.dumps({**stopped(lane, "codex"), "tool_use_id": name}).encode())
        process.stdin.close()
    said = []
    for process, name in zip(started, calls, strict=True):
        assert process.stdout is not None
        said.append((name, process.stdout.read()))
        process.wait()
    through = [name for name, text in said if not text]
    assert len(set(through)) == 1 and len(through) == calls.count(through[0])
    used = [line["subject"]["tool_call"] for line in lane.ledger() if line.get("permit", {}).get("used")]
    assert used == through


def test_where_nothing_can_be_kept_the_stop_stands_without_a_code(lane: Lane) -> None:
    place = lane.home / ".local/state/jevhook"
    place.mkdir(parents=True)
    (place / "permits").write_text("a file in the way")
    ran = lane.hook(stopped(lane, "codex"))
    assert (ran.decision, code_in(ran), ran.stderr) == ("deny", "", [])


# The command.


def test_a_person_sees_the_call_and_can_say_no(lane: Lane) -> None:
    code = code_in(lane.hook(stopped(lane, "codex")))
    status, said = at_terminal("allow-once", code, typed="n\n")
    assert status == 130 and "frob-high now" in said and "stopped" in said
    assert lane.hook(stopped(lane, "codex")).decision == "deny"


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_SANDBOX"])
def test_an_agents_terminal_permits_nothing(lane: Lane, variable: str) -> None:
    code = code_in(lane.hook(stopped(lane, "codex")))
    status, said = at_terminal("allow-once", code, "--yes", **{variable: "1"})
    assert status == 1 and variable in said
    assert in_a_pipe("allow-once", code, "--yes")[0] == 1
    assert lane.hook(stopped(lane, "codex")).decision == "deny"


def test_a_code_that_was_never_given_is_one_clean_line(lane: Lane) -> None:
    status, said = at_terminal("allow-once", "BCDFG")
    assert status == 1 and 'code "BCDFG"' in said and "Traceback" not in said


def test_without_a_code_it_lists_what_was_denied(lane: Lane) -> None:
    assert in_a_pipe("allow-once") == (0, "nothing that a person could let run was denied in the last day\n")
    code = code_in(lane.hook(lane.codex("frob-high \x1b[2Jnow")))
    status, said = in_a_pipe("allow-once")
    assert status == 0 and said.startswith(f"{code}  codex Bash in {lane.project}, denied just now [team.high]\n")
    assert "\x1b" not in said
