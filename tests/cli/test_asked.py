"""``jev-use rank``, ``verify``, ``review`` and ``rerank`` as a script sees them: exit codes and JSON, a real judge."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.systemone.loopback import body_of
from tests.use.loopback_judge import Say, choice, judge, noul, score

CANDIDATES = ["--candidate", "sed=edits text by pattern", "--candidate", "lsp=renames symbols"]
RANK = ["rank", "--state", "rename a symbol", *CANDIDATES]
VERIFY = ["verify", "--claim", "green=Every test passed.", "--claim", "fast=It took under a minute."]
REVIEW = ["review", "--delegate", "worker-1", "--kind", "ok", "--output-chars", "84"]


def run(home: Path, *arguments: str, stdin: str = "") -> tuple[int, Any, str]:
    """(exit code, the JSON on stdout, stderr) of the installed command."""
    command = [sys.executable, "-I", "-m", "jevhook", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=home, timeout=30)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def configure(home: Path, url: str) -> None:
    file = home / ".config" / "jevhook" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'[judge]\nprovider = "native"\nbase_url = "{url}"\n')


def with_judge(home: Path, say: Say, *arguments: str, stdin: str = "") -> tuple[int, Any, Any]:
    """(exit code, the JSON, the one request's body)."""
    with judge(say) as served:
        configure(home, served.url)
        code, said, errors = run(home, *arguments, stdin=stdin)
    assert errors == ""
    assert len(served.requests) == 1  # one call, whatever is asked
    return code, said, body_of(served.requests[0])


@pytest.mark.parametrize(
    ("label", "p", "code", "verdict", "winner"),
    [
        ("lsp", 0.9, 0, "winner", "lsp"),
        ("lsp", 0.5, 1, "winner", "lsp"),  # a prior only
        ("none-of-these", 0.9, 1, "none", None),
    ],
)
def test_rank(private_home: Path, label: str, p: float, code: int, verdict: str, winner: str | None) -> None:
    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        return choice(question, label, p) if question["type"] == "choice" else score(question, 3)

    got, said, sent = with_judge(private_home, say, *RANK)
    assert (got, said["verdict"], said["winner"]) == (code, verdict, winner)
    assert said["winnerFit"] == (None if winner is None else 3.0)
    assert said["escalate"] == (p < 0.9)
    assert [each["id"] for each in sent["state"]["candidates"]] == ["sed", "lsp"]


def test_a_candidate_called_token_keeps_its_description(private_home: Path) -> None:
    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        return choice(question, "token") if question["type"] == "choice" else score(question, 3)

    request = [
        "rank",
        "--state",
        "how to log in",
        "--candidate",
        "token=a bearer header",
        "--candidate",
        "basic=a name",
    ]
    code, said, sent = with_judge(private_home, say, *request)
    assert (code, said["winner"]) == (0, "token")
    assert sent["state"]["candidates"][0] == {"id": "token", "description": "a bearer header"}


def test_rank_without_the_fit_still_has_a_winner(private_home: Path) -> None:
    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        return choice(question, "sed") if question["type"] == "choice" else None

    code, said, _ = with_judge(private_home, say, *RANK)
    assert (code, said["winner"], said["winnerFit"]) == (0, "sed", None)


@pytest.mark.parametrize(
    ("green", "fast", "code", "verdict"),
    [
        (0.9, 0.66, 0, "PASS"),
        (0.9, 0.65, 1, "UNVERIFIABLE"),
        (0.34, 0.9, 1, "FAIL"),
        (0.9, None, 1, "BLOCK"),
        (0.9, 1.2, 1, "BLOCK"),  # no probability
        (None, None, 3, "BLOCK"),
        (503, 503, 3, "BLOCK"),
        (401, 401, 3, "BLOCK"),
    ],
)
def test_verify(private_home: Path, green: Any, fast: Any, code: int, verdict: str) -> None:
    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        p = green if "c0" in question["instructions"] else fast
        return p if p is None or isinstance(p, int) else noul(p)

    with judge(say) as served:
        configure(private_home, served.url)
        got, said, _ = run(private_home, *VERIFY, "--state", "12 passed in 3 s")
    assert (got, said["verdict"], said["passed"]) == (code, verdict, code == 0)
    assert [claim["name"] for claim in said["claims"]] == ["green", "fast"]
    for claim in said["claims"]:
        assert ("hint" in claim) == (claim["p"] is None)
    sent = body_of(served.requests[0])
    assert sent["state"]["untrusted_evidence"] == "12 passed in 3 s"


def test_verify_reads_its_evidence_from_stdin(private_home: Path) -> None:
    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        return noul(0.99 if "failed" in state["untrusted_evidence"] else 0.01)

    code, _, sent = with_judge(private_home, say, *VERIFY, "--state-file", "-", stdin="\x1b[31m1 failed\x1b[0m\n")
    assert code == 0
    assert sent["state"]["untrusted_evidence"] == "1 failed\n"


@pytest.mark.parametrize(
    ("p", "code", "verdict"),
    [(0.2, 0, "recorded"), (0.65, 0, "recorded"), (0.7, 1, "flag-for-review"), (None, 3, "na")],
)
def test_review(private_home: Path, p: float | None, code: int, verdict: str) -> None:
    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        if question["type"] == "score":
            return score(question, 2)
        return None if p is None else noul(p)

    got, said, sent = with_judge(private_home, say, *REVIEW, "--criterion", "names the cause")
    assert (got, said["verdict"], said["quality"]) == (code, verdict, 2.0)
    assert set(sent["state"]) == {"delegate", "kind", "output_chars", "duration_ms", "criteria_count"}


@pytest.fixture
def corpus(private_home: Path) -> str:
    rows = [
        {"id": "refund", "title": "Refunds", "text": "A refund is paid within 14 days."},
        {"id": "gift", "text": "No refund for gift cards."},
        {"id": "colour", "text": "We offer red and blue."},
    ]
    file = private_home / "rules.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    return str(file)


def decided(p: dict[str, float | None]) -> Say:
    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        name = question["instructions"].split("untrusted_passages.")[1].split("`")[0]
        said = next((value for word, value in p.items() if word in state["untrusted_passages"][name]), 0.0)
        return None if said is None else noul(said)

    return say


def test_rerank_asks_once_and_keeps_what_decides(private_home: Path, corpus: str) -> None:
    say = decided({"14 days": 0.9, "gift": 0.2})
    code, said, sent = with_judge(private_home, say, "rerank", "refund for gift cards", "--corpus", corpus)
    assert (code, said["source"]) == (0, "judge")
    assert [(entry["id"], entry["p"]) for entry in said["results"]] == [("refund", 0.9)]
    assert len(sent["questions"]) == said["shortlisted"] == 2


@pytest.mark.parametrize("status", [500, 401, 429])
def test_rerank_keeps_bm25_when_the_judge_fails(private_home: Path, corpus: str, status: int) -> None:
    with judge(lambda ident, question, state: status) as served:
        configure(private_home, served.url)
        code, said, errors = run(private_home, "rerank", "refund for gift cards", "--corpus", corpus)
    assert (code, errors, said["source"]) == (0, "", "bm25")
    assert [(entry["id"], entry["p"]) for entry in said["results"]] == [("gift", 0.0), ("refund", 0.0)]
    assert str(status) in said["hint"]


def test_rerank_without_a_word_in_common_is_exit_1(private_home: Path, corpus: str) -> None:
    code, said, _ = run(private_home, "rerank", "zebra", "--corpus", corpus)
    assert (code, said["results"]) == (1, [])


def test_rerank_is_compared_with_bm25_on_labels(private_home: Path, corpus: str) -> None:
    file = private_home / "cases.jsonl"
    file.write_text(
        '{"query": "refund for gift cards", "relevant": ["refund"]}\n{"query": "red", "relevant": "colour"}\n'
    )
    with judge(decided({"14 days": 0.9, "gift": 0.2, "blue": 0.7})) as served:
        configure(private_home, served.url)
        code, said, _ = run(private_home, "rerank", "--eval", str(file), "--corpus", corpus)
    assert code == 0
    assert said == {
        "cases": 2,
        "judged": 2,
        "bm25": {"top1": 0.5, "top3": 1.0},
        "rerank": {"top1": 1.0, "top3": 1.0},
        "keep": "rerank",
    }
    code, said, _ = run(private_home, "rerank", "--eval", str(file), "--corpus", corpus)  # the server has gone
    assert (code, said["judged"], said["keep"]) == (3, 0, "bm25")


BAD: list[tuple[list[str], str, str]] = [
    (["rank", '{"state": "s"}'], "", "CANDIDATE_INVALID: candidates: "),
    (["rank", "{"], "", "request: not JSON"),
    (["rank", "-"], '{"a": 1, "a": 2}', "request: not JSON (a key appears twice"),
    (["rank", "-"], "\x00", "request: not JSON"),
    (["rank", *CANDIDATES, "{}"], "", "request: given as JSON and by options"),
    (["rank", "--candidate", "a"], "", "--candidate: write NAME=TEXT"),
    (["verify"], "", "request: not JSON"),
    (["verify"], "[" * 100_000, "request: not JSON"),
    (["verify"], " " * (17 << 20), "request: more than 16 MB"),
    ([*VERIFY, "--state", "x" * 12_001], "", "STATE_INVALID: state: at most 12,000 characters, got 12,001"),
    ([*VERIFY, "--state", "x", "--state-file", "-"], "", "state: given by --state and by --state-file"),
    (["review", "--delegate", "worker-1"], "", "REVIEW_INPUT_INVALID: kind: must be one of ok, empty, error"),
    (["rerank", "--corpus", "-"], "", "give either a QUERY or --eval FILE"),
    (["rerank", "x", "--corpus", "-"], "", "--corpus: is empty"),
    (["rerank", "x", "--corpus", "-"], '{"id": "a", "text": "x"}\n{', "--corpus: line 2: not JSON"),
    (["rerank", " ", "--corpus", "-"], '{"id": "a", "text": "x"}', "query: must be a text that is not blank"),
    (["rerank", "--eval", "-", "--corpus", "-"], "{}", "--eval: stdin is the corpus already"),
    (["rerank", "x", "--corpus", "/no/such/file"], "", "--corpus: /no/such/file: No such file"),
    ([*VERIFY, "--timeout", "0"], "", "--timeout: must be seconds"),
    ([*RANK, "--threshold", "2"], "", "--threshold: must be a number from 0 to 1"),
    ([*RANK, "--backend", "nobody"], "", "--backend: unknown provider"),
    (["rerank", "x", "--corpus", "-", "--shortlist", "0"], '{"id": "a", "text": "x"}', "--shortlist"),
]


@pytest.mark.parametrize(("arguments", "stdin", "said"), BAD)
def test_a_bad_request_is_exit_2_and_one_clean_line(
    private_home: Path, arguments: list[str], stdin: str, said: str
) -> None:
    code, out, errors = run(private_home, *arguments, stdin=stdin)
    assert (code, out) == (2, None)
    assert said in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("arguments", [RANK, VERIFY, REVIEW])
def test_without_a_judge_nothing_is_invented(private_home: Path, arguments: list[str]) -> None:
    code, said, _ = run(private_home, *arguments)
    assert code == 3
    assert said["verdict"] in ("na", "BLOCK")
    assert "TYPESAFE_API_KEY" in json.dumps(said) and "ollama" in json.dumps(said)


def on_a_terminal(home: Path, *arguments: str) -> str:
    """What the command shows on a terminal of its own, without colours."""
    import pty

    from jevhook.text.printable import printable

    parent, child = pty.openpty()
    command = [sys.executable, "-I", "-m", "jevhook", *arguments]
    with subprocess.Popen(command, cwd=home, stdin=subprocess.DEVNULL, stdout=child, stderr=child) as process:
        os.close(child)
        shown = b""
        with contextlib.suppress(OSError):  # Linux says EIO when the other side has gone
            while more := os.read(parent, 65536):
                shown += more
        assert process.wait(30) in (0, 1)
    os.close(parent)
    return printable(shown.decode())


def test_on_a_terminal_there_is_a_table(private_home: Path, corpus: str) -> None:
    def say(ident: str, question: dict[str, Any], state: Any) -> Any:
        if question["type"] == "noul":
            return noul(0.7)
        return choice(question, "lsp") if question["type"] == "choice" else score(question, 3)

    cases = private_home / "cases.jsonl"
    cases.write_text('{"query": "refund", "relevant": "refund"}\n')
    with judge(say) as served:
        configure(private_home, served.url)
        assert "winner: lsp, fit 3.00 of 4" in on_a_terminal(private_home, *RANK)
        assert "UNVERIFIABLE" not in on_a_terminal(private_home, *VERIFY)
        assert "flag-for-review" in on_a_terminal(private_home, *REVIEW)
        assert "order: judge, 2 on the shortlist" in on_a_terminal(private_home, "rerank", "refund", "--corpus", corpus)
        compared = on_a_terminal(private_home, "rerank", "--eval", str(cases), "--corpus", corpus)
        assert "keep bm25: re-ranking does not win on these labels" in compared
        assert "Traceback" not in compared
