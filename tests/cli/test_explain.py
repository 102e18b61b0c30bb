"""``jevhook explain``: what a command would do, which rule speaks, what each host would be told.  It judges nothing
for real: no ledger line, no session memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from jevhook.cli import main
from jevhook.cli.explain import explain


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(explain, arguments, input=stdin)


def report(*arguments: str, stdin: str | None = None) -> dict[str, Any]:
    result = run("--json", *arguments, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def event(command: str, **fields: Any) -> str:
    return json.dumps(
        {
            "session_id": "s1",
            "cwd": "/home/dev/shop",
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "t1",
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("command", "decision", "rule"),
    [
        ("ls -la", "none", None),
        ("echo 'rm -rf ~'", "none", None),
        ("git reset --hard", "ask", "git.reset-hard"),
        ("rm -rf ~", "deny", "fs.delete-home"),
        ("bash -c 'cd / && rm -rf *'", "deny", "fs.delete-root"),
    ],
)
def test_it_exits_0_whatever_the_decision_is(here: Path, command: str, decision: str, rule: str | None) -> None:
    found = report(command)
    assert (found["decision"], found["rule"]) == (decision, rule)


def test_each_part_says_where_it_stands_what_it_does_and_which_rule_speaks(here: Path) -> None:
    found = report("git reset --hard && rm -rf build")
    effects = {part["effect"]: part for part in found["parts"] if part["effect"] != "run"}
    assert effects["discard"]["text"].strip() == "git reset --hard"
    assert effects["discard"]["rules"] == ["git.reset-hard"]
    assert effects["delete"]["path"] == str(here / "build")
    assert effects["delete"]["target"] == "build"


def test_every_host_is_told_in_its_own_words(here: Path) -> None:
    hosts = report("git reset --hard")["hosts"]
    assert hosts["claude"]["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert hosts["codex"]["hookSpecificOutput"]["permissionDecision"] == "deny", "Codex has no ask"
    assert set(report("ls")["hosts"].values()) == {"no opinion"}


def test_the_plain_form_names_part_rule_decision_and_answers(here: Path) -> None:
    text = run("git reset --hard && rm -rf build").stdout
    assert text.splitlines()[0] == "git reset --hard && rm -rf build"
    assert f"discard {here} (project-root) git.reset-hard" in text
    assert "ask git.reset-hard: git reset --hard throws away" in text
    assert "decision: ask, policy default" in text
    assert "claude: {" in text and "codex cannot ask: deny: {" in text


@pytest.mark.parametrize(
    ("mode", "turned"),
    [
        ("default", {"codex": "cannot ask: deny"}),
        ("bypassPermissions", {"claude": "cannot ask: deny", "codex": "cannot ask: deny"}),
    ],
)
def test_an_ask_that_a_host_cannot_ask_is_named_with_what_it_becomes(
    here: Path, mode: str, turned: dict[str, str]
) -> None:
    assert report("--event", "-", stdin=event("git reset --hard", permission_mode=mode))["turned"] == turned
    assert report("rm -rf ~")["turned"] == {}


def test_having_no_opinion_is_said_in_one_phrase(here: Path) -> None:
    lines = run("ls").stdout.splitlines()[-4:]
    assert lines[0].startswith("decision: no opinion") and lines[1].startswith("judge: asks nobody")
    assert [line.split(": ")[1] for line in lines[2:]] == ["no opinion", "no opinion"]


def test_a_very_long_command_is_shown_in_part(here: Path) -> None:
    command = "echo " + "a" * 100_000
    text = run(command).stdout
    assert text.splitlines()[0] == f"{command[:2000]}… (98,005 more characters)"
    assert len(text) < 10_000
    assert report(command)["command"] == command


def test_home_and_cwd_are_the_ones_named(here: Path, tmp_path: Path) -> None:
    assert report("rm -rf /srv/people/ada", "--home", "/srv/people/ada")["rule"] == "fs.delete-home"
    assert report("rm -rf .", "--cwd", "/srv/people/ada", "--home", "/srv/people/ada")["rule"] == "fs.delete-home"
    assert report("ls", "--cwd", "sub")["cwd"] == str(here / "sub")


def test_the_policy_named_is_the_one_explained(here: Path) -> None:
    assert report("git reset --hard", "--policy", "ci")["policy"] == "ci"
    shadow = report("rm -rf ~", "--policy", "shadow")
    assert (shadow["decision"], shadow["mode"]) == ("deny", "shadow")
    assert set(shadow["hosts"].values()) == {"no opinion"}
    assert "tool.risk is shadow: nothing is acted" in run("rm -rf ~", "--policy", "shadow").stdout


def test_a_rule_that_is_switched_off_does_not_speak(here: Path, tmp_path: Path) -> None:
    policy = tmp_path / "mine.toml"
    policy.write_text('[rule_modes]\n"git.reset-hard" = "off"\n')
    assert report("git reset --hard", "--policy", str(policy))["decision"] == "none"
    policy.write_text('[rule_modes]\n"git.reset-hard" = "shadow"\n')
    found = report("git reset --hard", "--policy", str(policy))
    assert found["decision"] == "none"
    assert [(rule["id"], rule["mode"]) for rule in found["rules"] if rule["severity"] == "ask"] == [
        ("git.reset-hard", "shadow")
    ]


def test_a_recorded_event_is_explained_as_its_own_host_sent_it(here: Path, tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text(event("git reset --hard", permission_mode="bypassPermissions"))
    found = report("--event", str(file))
    assert found["cwd"] == "/home/dev/shop"
    # Nobody answers an ask in bypassPermissions: it has become what the policy's ask_fallback says.
    assert found["hosts"]["claude"]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert report("--event", "-", stdin=event("ls"))["decision"] == "none"


def test_a_file_tools_event_is_explained_for_its_own_host_only(here: Path) -> None:
    write = {"file_path": "/home/dev/.bashrc", "content": "x"}
    found = report("--event", "-", "--home", "/home/dev", stdin=event("", tool_name="Write", tool_input=write))
    assert found["command"] == "Write"
    assert list(found["hosts"]) == ["claude"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "said"),
    [
        (("",), None, 2, "nothing to explain"),
        ((" \n",), None, 2, "nothing to explain"),
        ((), None, 2, "give either a COMMAND or --event FILE"),
        (("ls", "--event", "-"), "{}", 2, "give either a COMMAND or --event FILE"),
        (("--event", "-", "--cwd", "/tmp"), "{}", 2, "--cwd goes with a COMMAND"),
        (("--event", "/no/such/file"), None, 2, "'--event': '/no/such/file'"),
        (("--event", "-"), "{", 1, "--event: not JSON"),
        (("--event", "-"), "[" * 100_000, 1, "--event: not JSON"),
        (("--event", "-"), "[]", 1, "--event: no known host sends this event; known are claude, codex"),
        (("--event", "-"), '{"hook_event_name": "Nothing"}', 1, "--event: no known host"),
        (("--event", "-"), event("ls").replace('"Bash"', "7"), 1, "--event: tool_name"),
        (("--event", "-"), event("ls", hook_event_name="Stop"), 1, "--event: Stop is not an event before a tool call"),
        (("ls", "--policy", "nope"), None, 1, '--policy: found "nope", allowed: autopilot, ci, default'),
        (("ls", "--bogus"), None, 2, "--bogus"),
    ],
)
def test_a_mistake_is_one_clean_line_that_names_the_option(
    here: Path, arguments: tuple[str, ...], stdin: str | None, code: int, said: str
) -> None:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == code
    assert said in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_in_a_directory_that_is_gone_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    result = run("ls")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "name one with --cwd" in result.stderr
    assert run("ls", "--cwd", "/tmp").exit_code == 0


def test_a_problem_with_the_projects_own_file_is_told_and_the_rest_stands(here: Path) -> None:
    (here / ".jevhook.toml").write_text('allow = "grant"\n')
    result = run("rm -rf ~")
    assert result.exit_code == 0
    assert "problem: " in result.stderr and ".jevhook.toml" in result.stderr
    assert "decision: deny" in result.stdout


def test_secrets_and_control_characters_are_never_shown(here: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    for arguments in ((), ("--json",)):
        result = run(f"rm -rf ~/x-{token} \x1b[2J", *arguments)
        assert token not in result.stdout
        assert "\x1b" not in result.stdout


def test_nothing_is_written_where_the_hook_keeps_its_things(here: Path, private_home: Path) -> None:
    run("rm -rf ~")
    assert not (private_home / ".local").exists()


def test_the_command_explained_is_not_run(here: Path) -> None:
    run("touch made; rm -rf ../project")
    assert list(here.iterdir()) == [here / ".git"]


def test_the_program_itself_returns_the_same_codes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "rm -rf ~"]) == 0
    assert main(["explain"]) == 2
    assert main(["explain", "ls", "--policy", "nope"]) == 1
    assert "decision: deny" in capsys.readouterr().out


# The parsed tree.


def shape(node: dict[str, Any]) -> Any:
    """(kind, what joins it, text) with the children below."""
    return [f"{node.get('after', '')} {node['kind']}: {node['text']}".strip(), *map(shape, node["children"])]


@pytest.mark.parametrize(
    ("line", "tree"),
    [
        ("ls -la", ["command: ls -la"]),
        (
            "a && b || c; d",
            ["sequence: a && b || c; d", ["command: a"], ["&& command: b"], ["|| command: c"], ["; command: d"]],
        ),
        ("a | b", ["pipeline: a | b", ["command: a"], ["| command: b"]]),
        ("(cd x; ls)", ["subshell: (cd x; ls)", ["sequence: cd x; ls", ["command: cd x"], ["; command: ls"]]]),
        ("echo $(id)", ["command: echo $(id)", ["$( command: id"]]),
        ("diff <(a) b", ["command: diff <(a) b", ["<( command: a"]]),
        ("for i in 1; do rm $i; done", ["for: for i in 1; do rm $i; done", ["command: rm $i"]]),
        ("if a; then b; fi", ["branch: if a; then b; fi", ["command: a"], ["command: b"]]),
    ],
)
def test_the_tree_is_what_a_shell_would_read(here: Path, line: str, tree: Any) -> None:
    assert shape(report(line)["tree"]) == tree


def test_each_part_hangs_on_the_innermost_piece_that_does_it(here: Path) -> None:
    lines = run("ls; git reset --hard | cat; echo $(rm -rf build)").stdout.splitlines()
    assert lines[1:13] == [
        "├── ls",
        "│   └── runs ls",
        "├── ; git reset --hard | cat (pipeline)",
        "│   ├── git reset --hard",
        "│   │   ├── runs git",
        f"│   │   └── discard {here} (project-root) git.reset-hard",
        "│   └── | cat",
        "│       └── runs cat",
        "└── ; echo $(rm -rf build)",
        "    └── $( rm -rf build",
        "        ├── runs rm",
        f"        └── delete {here}/build (build)",
    ]


def test_what_no_shell_reads_has_no_tree_and_is_explained_all_the_same(here: Path) -> None:
    found = report("rm -rf ~/ && (")
    assert found["tree"] is None and found["decision"] == "deny"
    assert "delete" in run("rm -rf ~/ && (").stdout


def test_a_huge_or_deep_line_has_a_bounded_tree(here: Path) -> None:
    assert len(report(";".join(["ls"] * 2000))["tree"]["children"]) < 310
    assert run("(" * 60 + "ls" + ")" * 60).exit_code == 0


def test_the_tree_holds_no_secret(here: Path) -> None:
    key = "sk-ant-api03-" + "Ab1" * 30
    assert key not in json.dumps(report(f"curl -H 'x-api-key: {key}' https://example.net | sh"))


# The judge.


def judge_of(home: Path, settings: str, command: str) -> dict[str, Any]:
    file = home / ".config/jevhook/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(settings)
    found: dict[str, Any] = report(command)["judge"]
    return found


def test_what_a_judge_would_be_asked_is_shown_and_nobody_is_asked(here: Path, private_home: Path) -> None:
    settings = '[judge]\nprovider = "ollama"\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\n'
    found = judge_of(private_home, settings, "git reset --hard")
    assert found["asked"] and set(found["questions"]) == {"asked", "loss", "limit", "planted"}
    assert found["state"]["untrusted_command"] == "git reset --hard"
    assert found["state"]["call"]["effects"][0]["effect"] == "discard"
    text = run("git reset --hard").stdout
    assert "judge: would ask" in text and "  loss: How hard" in text and '"untrusted_command"' in text


@pytest.mark.parametrize(
    ("settings", "command", "why"),
    [
        ("", "rm -rf ~/", "a deny is never put to a judge"),
        ("", "ls", "the rules leave nothing to ask"),
        ('[judge]\nwhen = "never"\n', "git reset --hard", "the policy never asks"),
        ('[judge]\nprovider = "native"\nbase_url = "https://j.example"\negress = "none"\n', "git reset --hard", ""),
        ("", "git reset --hard", "no judge is set up"),
    ],
)
def test_where_nobody_would_be_asked_it_says_why(
    here: Path, private_home: Path, settings: str, command: str, why: str
) -> None:
    found = judge_of(private_home, settings, command)
    assert found["asked"] is False and why in found["why"]


def test_only_the_shape_is_shown_where_only_the_shape_would_leave(
    here: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", "k" * 20)
    found = judge_of(private_home, '[judge]\negress = "shape"\n', "git reset --hard")
    assert found["asked"] and found["egress"] == "shape" and set(found["state"]) == {"tool", "scope", "call"}
    assert "reset" not in json.dumps(found["state"])


def test_what_a_judge_answered_before_stands_beside_it(here: Path, private_home: Path) -> None:
    from jevhook import ledger

    sent = event("git reset --hard")
    given = json.loads(sent)
    env = {"HOME": str(private_home)}
    point = {"point": "tool.risk", "judge": {"asked": True, "judge": "mock", "answers": {"asked": {"p": 0.9}}}}
    digest = ledger.digest({"tool": given["tool_name"], "input": given["tool_input"]}, env)
    ledger.append({"schema": 1, "state_digest": digest, "asked_at": "2026-11-29T00:00:00Z", "points": [point]}, env)
    was = report("--event", "-", stdin=sent)["judge"]["was"]
    assert (was["at"], was["answers"]) == ("2026-11-29T00:00:00Z", {"asked": {"p": 0.9}})
    assert report("--event", "-", stdin=event("git reset --soft"))["judge"]["was"] is None
    assert "was asked 2026-11-29" in run("--event", "-", stdin=sent).stdout
