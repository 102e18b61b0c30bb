"""``jev-use judge`` and ``jev-use gate`` as a shell runs them: real processes, pipes and a terminal, exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.systemone.loopback import body_of, saying, serve
from tests.use.test_gate import saying_run
from tests.use.test_items import reading
from tests.use.test_jev import answering, env_for

_SCRIPT = Path(sys.executable).with_name("jev-use")
PROGRAM = [str(_SCRIPT)] if _SCRIPT.exists() else [sys.executable, "-m", "jevhook"]
GREEN = {"state": "ok", "questions": [{"id": "green", "type": "noul", "question": "Is it green?"}]}


class Ran:
    def __init__(self, code: int, stdout: str, stderr: str) -> None:
        self.code = code
        self.stdout = stdout
        self.stderr = stderr

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


def run(tmp_path: Path, *words: str, url: str = "", stdin: str | bytes = "", **env: str) -> Ran:
    done = subprocess.run(
        [*PROGRAM, *words],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", **env_for(tmp_path, url), **env},
        cwd=tmp_path,
        timeout=60,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def on_a_terminal(tmp_path: Path, *words: str, url: str = "") -> Ran:
    """The same with stdin, stdout and stderr on a pseudo terminal of 100 columns."""
    ours, theirs = pty.openpty()
    env = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen(
        [*PROGRAM, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**env, **env_for(tmp_path, url)},
        cwd=tmp_path,
        start_new_session=True,
    )
    os.close(theirs)
    shown, until = b"", time.monotonic() + 60
    while time.monotonic() < until and select.select([ours], [], [], until - time.monotonic())[0]:
        try:
            more = os.read(ours, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not more:
            break
        shown += more
    os.close(ours)
    return Ran(process.wait(10), shown.decode(), "")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


CODES: list[tuple[list[str], str, int, str]] = [
    # words, stdin, exit code, what stderr names
    ([json.dumps(GREEN)], "", 0, ""),
    (["-"], json.dumps(GREEN), 0, ""),
    ([], json.dumps(GREEN), 0, ""),
    (["--state", "ok", "--check", "Is it green?"], "", 0, ""),
    (["--state-file", "-", "--check", "Is it green?"], "ok", 0, ""),
    (["--state-file", "state.txt", "--check", "Is it green?"], "", 0, ""),
    (["--state", "ok", '{"questions": [{"type": "noul", "question": "Is it?"}]}'], "", 0, ""),
    (["--state", "ok", "--check", "Is it?", "--strict"], "", 0, ""),
    (["--state", "ok", "--check", "Is it?", "--threshold", "0.9", "--strict"], "", 1, ""),
    (["--state", "ok", "--check", "Is it?", "--threshold", "0.9"], "", 0, ""),
    (["--state", "ok", "--check", "Is it?", "--pick", "Which?", "one", "--strict"], "", 1, ""),
    (["--state", "ok", "--pick", "Which?", "one"], "", 3, ""),
    (["--state", "ok", "--pick", "Which?", "one", "--strict"], "", 3, ""),
    ([], "", 2, "request: is empty; give JSON"),
    ([], '{"state": {"a": NaN}, "questions": [{"type": "noul", "question": "?"}]}', 2, "state: holds something"),
    ([], '{"state": ' + "[" * 3000 + "]" * 3000 + ', "questions": [{"type": "noul", "question": "?"}]}', 2, ""),
    (["{"], "", 2, "request: not JSON"),
    (["[]"], "", 2, "request: must be a JSON object"),
    (['{"state": "x", "state": "y"}'], "", 2, "request: not JSON (a key appears twice"),
    (['{"questions": []}'], "", 2, "state: is missing"),
    (['{"state": "x"}'], "", 2, "questions: is missing"),
    (['{"state": "x", "questions": [{"type": "noul"}]}'], "", 2, "questions[0].question: is missing"),
    (["--check", "Is it?"], "", 2, "state: is missing; give --state"),
    (["--state", "", "--check", "Is it?"], "", 2, "state: is empty"),
    (["--state", "x"], "", 2, "request: is empty"),
    (["--state", "x", json.dumps(GREEN)], "", 2, "state: given in the request and by an option"),
    (["--threshold", "0.9", json.dumps({**GREEN, "confidenceThreshold": 0.1})], "", 2, "confidenceThreshold: given in"),
    (["--threshold", "0.9", json.dumps({**GREEN, "confidence_threshold": 0})], "", 2, "confidenceThreshold: given in"),
    (["--model", "a", json.dumps({**GREEN, "model": "b"})], "", 2, "model: given in the request and by an option"),
    (
        ["--state", "x", "--state-file", "state.txt", "--check", "?"],
        "",
        2,
        "state: given by --state and by --state-file",
    ),
    (["--state-file", "missing.txt", "--check", "?"], "", 2, "--state-file: missing.txt: No such file"),
    (["--state-file", ".", "--check", "?"], "", 2, "--state-file: .: Is a directory"),
    (["--state", "x", "--check", "?", "--threshold", "7"], "", 2, "--threshold: must be a number from 0 to 1"),
    (["--state", "x", "--check", "?", "--threshold", "x"], "", 2, "--threshold"),
    (["--state", "x", "--check", "?", "--timeout", "0"], "", 2, "--timeout: must be seconds"),
    (["--state", "x", "--check", "?", "--backend", "nobody"], "", 2, "--backend: unknown provider 'nobody'"),
    (["--state", "x", "--check", "?", "--model", " "], "", 2, "--model: must be"),
    (["--state", "x", "--pick", "Which?", "[1"], "", 2, "--pick: not JSON"),
    (["--state", "x", "--pick", "Which?"], "", 2, "--pick"),
    (["--items", "missing.txt", "--check", "?"], "", 2, "--items: missing.txt: No such file"),
    (["--items", "blank.txt", "--check", "?"], "", 2, "items: blank.txt has no line"),
    (["--items", "state.txt"], "", 2, "items: goes with one question"),
    (["--items", "state.txt", "--check", "a?", "--check", "b?"], "", 2, "items: goes with one question"),
    (["--items", "state.txt", "--check", "a?", json.dumps(GREEN)], "", 2, "items: goes with one question"),
    (["--items", "-", "--state-file", "-", "--check", "a?"], "", 2, "--state-file: stdin is already read"),
    (["--items", "state.txt", "--pick", "a?", "one"], "", 2, "question: options: a choice needs at least two"),
    (["--items", "state.txt", "--check", "a?"], "", 0, ""),
    (["--items", "state.txt", "--check", "a?", "--most", "0"], "", 2, "--most"),
]


@pytest.mark.parametrize(
    ("words", "stdin", "code", "said"), CODES, ids=[f"{n}-{c}" for n, (_, _, c, _) in enumerate(CODES)]
)
def test_the_exit_code_of_judge(tmp_path: Path, words: list[str], stdin: str, code: int, said: str) -> None:
    (tmp_path / "state.txt").write_text("ok\n")
    (tmp_path / "blank.txt").write_text("\n \n")
    with serve(answering) as server:
        done = run(tmp_path, "judge", *words, url=server.url, stdin=stdin)
    assert done.code == code, done.stdout + done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr
    assert (done.stdout == "") == (code == 2)
    assert (len(server.requests) == 0) == (code in (2, 3))


def test_nothing_answered_is_three_whoever_is_silent(tmp_path: Path) -> None:
    request = json.dumps(GREEN)
    with serve(saying(401, {})) as server:
        refused = run(tmp_path, "judge", request, url=server.url)
    nobody = run(tmp_path, "judge", request, "--strict")
    assert (refused.code, nobody.code) == (3, 3)
    assert refused.json["verdicts"][0]["reason"] == nobody.json["verdicts"][0]["reason"] == "unreachable"
    assert "TYPESAFE_API_KEY" in nobody.json["verdicts"][0]["hint"] and nobody.json["answers"] == {"green": None}


def test_a_pipe_gets_the_whole_result_as_json(tmp_path: Path) -> None:
    with serve(answering) as server:
        done = run(
            tmp_path, "judge", "--check", "Is it green?", "--pick", "Which?", "a, b", "--check=Is it red?",
            "--rate", "How bad?", "fine, really | bad", "--state", "ok", "--pick", "Which?", '{"a": "first", "b": null}',
            url=server.url,
        )  # fmt: skip
    found = done.json
    assert [(v["id"], v["type"], v["answer"]) for v in found["verdicts"]] == [  # in the order of the options
        ("q0", "noul", 0.9),
        ("q1", "choice", "a"),
        ("q2", "noul", 0.9),
        ("q3", "score", 0.1),
        ("q4", "choice", "a"),
    ]
    assert found["verdicts"][3]["legend"] == {"0": "fine, really", "1": "bad"}
    assert found["verdicts"][1]["distribution"] == {"a": 0.8, "b": 0.2}
    sent = list(body_of(server.requests[0])["questions"].values())
    assert [question["instructions"] for question in sent][::2] == ["Is it green?", "Is it red?", "Which?"]
    assert [question.get("criteria") for question in sent] == [
        None,
        {"a": "a", "b": "b"},
        None,
        ["fine, really", "bad"],
        {"a": "first", "b": None},
    ]
    assert (found["backend"], found["model"], found["escalated"]) == ("typesafe/jev-latest", "jev-1.13.0", False)
    assert done.stderr == ""


def test_a_question_that_reads_like_an_option_is_asked(tmp_path: Path) -> None:
    with serve(answering) as server:
        done = run(tmp_path, "judge", "--state", "ok", "--pick", "--rate", "a,b", "--check", "Is it?", url=server.url)
    assert {v["type"] for v in done.json["verdicts"]} == {"noul", "choice"}


def test_a_terminal_gets_a_table_and_json_when_asked(tmp_path: Path) -> None:
    words = ("judge", "--state", "ok", "--check", "Is it?", "--rate", "How?", "fine,bad", "--pick", "Which?", "one")
    with serve(answering) as server:
        table = on_a_terminal(tmp_path, *words, url=server.url)
        asked = on_a_terminal(tmp_path, *words, "--json", url=server.url)
    text = plain(table.stdout)
    for part in (
        "q0",
        "yes (p 0.90)",
        "0.80 estimated",
        "0.10 of 1: fine",
        "0.80 reported",
        "open_ended",
        "jev-1.13.0",
    ):
        assert part in text, text
    assert table.code == 0 and "\x1b[" in table.stdout and "{" not in text
    assert json.loads(plain(asked.stdout))["answers"] == {"q0": 0.9, "q1": 0.1, "q2": None}


def test_a_terminal_shows_no_control_characters_of_others(tmp_path: Path) -> None:
    request = json.dumps(
        {"state": "x", "questions": [{"id": "\x1b]0;title\x07[red]", "type": "essay", "question": "?"}]}
    )
    with serve(answering) as server:
        done = on_a_terminal(tmp_path, "judge", request, url=server.url)
    assert "\x1b]0;" not in done.stdout and "\x07" not in done.stdout and "[red]" in plain(done.stdout)


def test_without_a_request_a_terminal_is_not_waited_for(tmp_path: Path) -> None:
    done = on_a_terminal(tmp_path, "judge")
    assert done.code == 2 and "request: is missing" in plain(done.stdout)


def test_items_of_a_file_by_their_lines(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_bytes(b"start 0.1\r\n\nfailed 0.95\nmaybe 0.5\nwhat\n")
    with serve(reading) as server:
        done = run(
            tmp_path, "judge", "--items", "app.log", "--check", "A failure?", "--state", "A log.", url=server.url
        )
        strict = run(tmp_path, "judge", "--items", "app.log", "--check", "A failure?", "--strict", url=server.url)
        piped = run(
            tmp_path, "judge", "--items", "-", "--check", "Is it?", "--most", "1", url=server.url, stdin="a 0.9\nb"
        )
        shown = on_a_terminal(tmp_path, "judge", "--items", "app.log", "--check", "A failure?", url=server.url)
    assert done.json["yes"] == [{"item": 3, "p": 0.95, "text": "failed 0.95"}]
    assert done.json["unsure"] == [{"item": 4, "p": 0.5, "text": "maybe 0.5"}]
    assert (done.json["no"], done.json["unanswered"], done.json["answered"]) == ("1", "5", 3)
    assert (done.code, strict.code, piped.code) == (0, 1, 0) and done.stderr == ""
    assert piped.json["note"] == "only the first 1 of 2 items were judged"
    text = plain(shown.stdout)
    assert "yes 0.95" in text and "unsure 0.50" in text and "unanswered 5" in text and "3 of 4 answered" in text
    assert "judging" in text  # the progress bar
    nobody = run(tmp_path, "judge", "--items", "app.log", "--check", "A failure?")
    assert nobody.code == 3 and "TYPESAFE_API_KEY" in nobody.json["hint"]


def test_a_script_of_answers_can_be_played(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text('{"answers": {"q0": 0.95, "q1": "b"}}')
    (tmp_path / "outage.json").write_text('{"error": {"kind": "timeout"}}')
    words = ("judge", "--backend", "mock", "--state", "x", "--check", "Is it?", "--pick", "Which?", "a,b")
    played = run(tmp_path, *words, JEVHOOK_MOCK=str(tmp_path / "answers.json"))
    outage = run(tmp_path, *words, JEVHOOK_MOCK=str(tmp_path / "outage.json"))
    assert (played.code, played.json["answers"]) == (0, {"q0": 0.95, "q1": "b"})
    assert (outage.code, {v["reason"] for v in outage.json["verdicts"]}) == (3, {"unreachable"})


def test_what_is_wrong_with_the_configuration_is_told_and_the_rest_stands(tmp_path: Path) -> None:
    (tmp_path / ".config/jevhook").mkdir(parents=True)
    (tmp_path / ".config/jevhook/config.toml").write_text("nonsense = 1\n")
    with serve(answering) as server:
        done = run(tmp_path, "judge", json.dumps(GREEN), url=server.url)
    assert done.code == 0 and "problem: " in done.stderr and "nonsense" in done.stderr


# ---------------------------------------------------------------------------------------------------- gate

GATE: list[tuple[list[str], int, str, str]] = [
    # words, exit code, decision, what stderr names: without a provider
    (["--tool", "Bash", "--input", '{"command": "ls"}'], 0, "allow", ""),
    (["--tool", "Bash", "--input", "ls"], 0, "allow", ""),
    (["--tool", "Bash", "--input", "npm test"], 0, "allow", ""),
    (["--tool", "Bash", "--input", "npm test", "--threshold", "0.8"], 3, "escalate", ""),
    (["--tool", "Bash", "--input", "rm -rf ~"], 1, "deny", ""),
    (["--tool", "Bash", "--input", '{"command": "rm -rf ~"}', "--threshold", "0"], 1, "deny", ""),
    (["--tool", "Bash", "--input", "git reset --hard"], 3, "escalate", ""),
    (["--tool", "weather", "--input", '{"city": "Oslo"}'], 3, "escalate", ""),
    (["--tool", "weather", "--input", "Oslo"], 3, "escalate", ""),
    (["--tool", "Bash"], 2, "", "--input"),
    (["--input", "ls"], 2, "", "--tool"),
    (["--tool", "", "--input", "ls"], 2, "", "--tool: must be the name"),
    (["--tool", "Bash", "--input", "[ -f x ] && rm -rf ~"], 1, "deny", ""),
    (["--tool", "Bash", "--input", "{ ls; }"], 0, "allow", ""),
    (["--tool", "Bash", "--input", '"rm -rf ~"'], 1, "deny", ""),  # a text as JSON writes it
    (["--tool", "Bash", "--input", '"rm" -rf ~'], 1, "deny", ""),
    (["--tool", "Bash", "--input", '["bash", "-c", "rm -rf ~"]'], 1, "deny", ""),
    (["--tool", "Bash", "--input", '{"command": "ls"'], 2, "", "--input: not JSON"),
    (["--tool", "weather", "--input", "{"], 2, "", "--input: not JSON"),
    (["--tool", "Bash", "--input", "ls", "--threshold", "2"], 2, "", "--threshold: must be a number"),
    (["--tool", "Bash", "--input", "-", "--state-file", "-"], 2, "", "--state-file: stdin is already read"),
    (["--tool", "Bash", "--input", "ls", "--state", "x", "--state-file", "y"], 2, "", "state: given by"),
]


@pytest.mark.parametrize(("words", "code", "decision", "said"), GATE)
def test_the_exit_code_of_gate(tmp_path: Path, words: list[str], code: int, decision: str, said: str) -> None:
    done = run(tmp_path, "gate", *words)
    assert done.code == code, done.stdout + done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr
    if code == 2:
        assert done.stdout == ""
    else:
        assert done.json["decision"] == decision and done.stderr == ""
        assert set(done.json) >= {"decision", "confidence", "hint", "backend", "via", "model", "latencyMs", "usage"}


@pytest.mark.parametrize(
    ("label", "p", "more", "env", "code"),
    [
        ("allow", 0.95, [], {}, 0),
        ("deny", 0.95, [], {}, 1),
        ("allow", 0.6, [], {}, 3),
        ("allow", 0.6, ["--threshold", "0.1"], {}, 0),
        ("allow", 0.95, [], {"JEV_GATE_THRESHOLD": "0.95"}, 3),
        ("allow", 0.95, ["--threshold", "0.5"], {"JEV_GATE_THRESHOLD": "0.95"}, 0),
        ("allow", 0.95, [], {"JEV_GATE_THRESHOLD": "nonsense"}, 0),
    ],
)
def test_a_judge_behind_the_gate(
    tmp_path: Path, label: str, p: float, more: list[str], env: dict[str, str], code: int
) -> None:
    with serve(saying_run(label, p)) as server:
        done = run(
            tmp_path, "gate", "--tool", "Bash", "--input", "-", "--state", "Test it.", *more,
            url=server.url, stdin="npm test", **env,
        )  # fmt: skip
    assert done.code == code, done.stdout
    assert done.json["confidenceFrom"] == "estimated" and set(done.json["distribution"]) == {"allow", "deny"}
    assert body_of(server.requests[0])["state"]["state"] == "Test it."


def test_a_reader_that_has_gone_changes_no_exit_code(tmp_path: Path) -> None:
    env = {"PATH": os.environ.get("PATH", ""), **env_for(tmp_path)}
    read_end, write_end = os.pipe()
    os.close(read_end)
    words = [*PROGRAM, "gate", "--tool", "Bash", "--input", "rm -rf ~"]
    done = subprocess.run(words, stdout=write_end, stderr=subprocess.PIPE, env=env, cwd=tmp_path, timeout=60)
    os.close(write_end)
    assert done.returncode == 1 and done.stderr == b""


def test_the_gate_on_a_terminal(tmp_path: Path) -> None:
    done = on_a_terminal(tmp_path, "gate", "--tool", "Bash", "--input", "rm -rf ~")
    text = plain(done.stdout)
    assert done.code == 1 and text.startswith("deny 1.00 rules [fs.delete-home]") and "home directory" in text


@pytest.mark.parametrize("command", ["judge", "gate"])
def test_the_help_shows_examples_and_exit_codes(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, command, "--help")
    assert done.code == 0
    assert "Examples:" in done.stdout and f"jev-use {command} " in done.stdout and "Exit: 0" in done.stdout
