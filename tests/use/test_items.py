"""One question about many texts: batches, bands, ranges, and what an outage costs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from jevhook import Jev, RequestError, check, pick, rate
from jevhook.use.items import BATCH_CHARS, ranges
from tests.systemone.loopback import Connection, body_of, serve
from tests.use.test_jev import config, env_for


def reading(connection: Connection) -> None:
    """Answers each item by its own text: "yes 0.97" is a noul of .97, any other text is no number at all."""
    body = body_of(connection.request)
    answers: dict[str, Any] = {}
    for name, question in body["questions"].items():
        at = re.search(r"`untrusted_items\.(i\d+)`", question["instructions"])
        assert at
        said = body["state"]["untrusted_items"][at[1]].rpartition(" ")[2]
        if question["type"] == "noul":
            if said.replace(".", "").isdigit():
                answers[name] = {"type": "noul", "noul": float(said)}
        elif question["type"] == "choice":
            answers[name] = {"type": "choice", "choice": said, "confidence": 0.9 if said == "a" else 0.1}
        else:
            answers[name] = {"type": "score", "score": float(said), "confidence": 0.9}
    usage = {"input_tokens": len(answers), "output_tokens": 0}
    connection.answer(200, json.dumps({"model": "m", "answers": answers, "usage": usage}).encode())


def test_yes_no_unsure_and_unanswered_are_told_apart(tmp_path: Path) -> None:
    said = ["0.8", "0.9", "0.81", "0.79", "0.21", "0.2", "0.0", "x", "0.1", "x", "x"]
    with serve(reading) as server:
        made = Jev(env=env_for(tmp_path, server.url)).items(
            check("Is it?"), [f"line {p}" for p in said], context="About."
        )
    assert len(server.requests) == 1 and body_of(server.requests[0])["state"]["context"] == "About."
    found = made.json()
    assert [(entry["item"], entry["p"]) for entry in found["yes"]] == [(2, 0.9), (3, 0.81), (1, 0.8)]
    assert found["yes"][0]["text"] == "line 0.9"
    assert [entry["item"] for entry in found["unsure"]] == [4, 5]
    assert (found["no"], found["unanswered"]) == ("6-7, 9", "8, 10-11")
    assert (found["items"], found["answered"], found["reason"]) == (11, 8, "unreachable")
    assert "left it out" in found["hint"] and "note" not in found
    assert (found["usage"], found["model"]) == ({"input_tokens": 8, "output_tokens": 0}, "m")


def test_an_explicit_threshold_moves_the_bands(tmp_path: Path) -> None:
    with serve(reading) as server:
        made = Jev(env=env_for(tmp_path, server.url)).items(check("Is it?"), ["0.8", "0.96", "0.04"], threshold=0.9)
    found = made.json()
    assert [entry["item"] for entry in found["yes"]] == [2]
    assert [entry["item"] for entry in found["unsure"]] == [1]
    assert found["no"] == "3"


def test_other_questions_give_a_verdict_for_each(tmp_path: Path) -> None:
    with serve(reading) as server:
        jev = Jev(env=env_for(tmp_path, server.url))
        picked = jev.items(pick("Which?", ["a", "b"]), ["x a", "x b"]).json()["verdicts"]
        rated = jev.items(rate("How?", ["low", "high"]), ["x 1"]).json()["verdicts"]
    assert [(v["item"], v["answer"], v["escalate"]) for v in picked] == [(1, "a", False), (2, "b", True)]
    assert "id" not in picked[0] and picked[1]["reason"] == "unsure"
    assert rated[0]["answer"] == 1.0 and rated[0]["legend"] == {"0": "low", "1": "high"}


@pytest.mark.parametrize(
    ("cap", "size", "count", "batches"),
    [
        (400, 20, 100, [80, 20]),  # a short text counts as 200 characters
        (400, 1000, 40, [16, 16, 8]),
        (400, 3000, 20, [16, 4]),  # cut to 1,000
        (7, 20, 20, [7, 7, 6]),
    ],
)
def test_a_batch_is_bounded_by_the_providers_cap_and_by_its_length(
    tmp_path: Path, cap: int, size: int, count: int, batches: list[int]
) -> None:
    config(tmp_path, f'[judge]\nprovider = "typesafe"\nmax_questions = {cap}\n')
    seen: list[tuple[int, int]] = []
    texts = [("x" * size)[:-4] + f" {n % 10 / 10}" for n in range(count)]
    with serve(reading) as server:
        made = Jev(env=env_for(tmp_path, server.url)).items(
            check("Is it?"), texts, progress=lambda done, total: seen.append((done, total))
        )
    states = [body_of(request)["state"]["untrusted_items"] for request in server.requests]
    assert sorted((len(state) for state in states), reverse=True) == sorted(batches, reverse=True)
    assert all(sum(map(len, state.values())) <= BATCH_CHARS for state in states)
    assert sorted(int(name[1:]) for state in states for name in state) == list(range(1, count + 1))
    assert seen[0] == (0, count) and seen[-1] == (count, count) and len(seen) == len(batches) + 1
    assert [item.number for item in made.found] == list(range(1, count + 1))
    assert made.answered == (count if size < 1000 else 0 if size > 1000 else count)


def test_what_is_left_out_or_cut_is_told(tmp_path: Path) -> None:
    with serve(reading) as server:
        made = Jev(env=env_for(tmp_path, server.url)).items(
            check("Is it?"), ["x" * 1200, "0.9", "0.9"], context="c" * 2001, most=2
        )
    assert made.note == (
        "only the first 2 of 3 items were judged; 1 longer than 1000 characters were judged by their beginning; "
        "the context was cut to 2000 characters"
    )
    assert len(body_of(server.requests[0])["state"]["context"]) == 2000


def test_where_nobody_answers_only_one_request_is_made(tmp_path: Path) -> None:
    def refuses(connection: Connection) -> None:
        connection.answer(401, b"{}")

    with serve(refuses) as server:
        made = Jev(env=env_for(tmp_path, server.url)).items(check("Is it?"), ["x"] * 300)
    assert len(server.requests) == 1
    assert made.json()["unanswered"] == "1-300" and "TYPESAFE_API_KEY" in made.json()["hint"]
    assert made.answered == 0 and made.escalated


def test_an_outage_in_the_middle_costs_its_own_batch(tmp_path: Path) -> None:
    def third_fails(connection: Connection) -> None:
        if "i170" in body_of(connection.request)["state"]["untrusted_items"]:
            connection.answer(422, b"{}")
        else:
            reading(connection)

    with serve(third_fails) as server:
        made = Jev(env=env_for(tmp_path, server.url)).items(check("Is it?"), ["0.9"] * 240)
    assert made.json()["unanswered"] == "161-240" and len(made.json()["yes"]) == 160


def test_secrets_are_redacted_before_a_text_is_cut(tmp_path: Path) -> None:
    secret = "AKIAIOSFODNN7ABCDEFG"
    with serve(reading) as server:
        Jev(env=env_for(tmp_path, server.url)).items(check("Is it?"), ["x" * 985 + " " + secret], context=secret)
    assert secret[:10] not in server.requests[0].decode()


@pytest.mark.parametrize(
    ("question", "items", "more", "field"),
    [
        (check("Is it?"), [], {}, "items"),
        (check("Is it?"), [5], {}, "items"),
        (check("Is it?"), [(1, "a"), (1, "b")], {}, "items"),
        (check("Is it?", id="x"), ["a"], {}, "question.id"),
        (pick("Which?", ["a"]), ["a"], {}, "question"),
        (check(" "), ["a"], {}, "question"),
        (check("Is it?"), ["a"], {"threshold": 3}, "threshold"),
        (check("Is it?"), ["a"], {"context": 3}, "context"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_field(question: Any, items: Any, more: Any, field: str) -> None:
    with pytest.raises(RequestError) as wrong:
        Jev(env={}).items(question, items, **more)
    assert wrong.value.field == field


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([1], "1"), ([1, 2], "1-2"), ([1, 3], "1, 3"), ([1, 2, 3, 7, 9, 10], "1-3, 7, 9-10")],
)
def test_numbers_are_shown_as_ranges(numbers: list[int], text: str) -> None:
    assert ranges(numbers) == text
