"""Every dialect against a loopback server: exactly what is sent, and what is made of what comes back.

``dialects/*.json`` beside this file is one recorded exchange a dialect.  Where the recordings of the workbench lie
beside the repository (``../shared/systemone/dialects``) they are replayed too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jevhook.judges import JudgeReply
from jevhook.judges.remote import RemoteJudge
from jevhook.systemone import dialects, wire
from jevhook.systemone.dialects import cloudflare_clef, native, openai, openrouter, vercel

from .loopback import body_of, header_of, saying, serve

KEY = "ts-live-0123456789abcdef"
ECHO = "a secret part of the judged call"
QUESTIONS = {"q": wire.noul("Is it?")}
HERE = Path(__file__).parent / "dialects"
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "systemone" / "dialects"
NEEDS_A_MODEL = {"ollama": "nimble", "vllm": "served", "sglang": "served", "sglang_decisions": "served"}


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text())
    return found


def judge(name: str, server: str, account: str = "", key: str = KEY, model: str = "") -> RemoteJudge:
    """The dialect's judge with the loopback server in its own service's place."""
    dialect = dialects.load(name)
    base = dialect.DEFAULT_BASE.replace("{account}", account) or "http://127.0.0.1:8700"
    key_var = dialect.KEY_VARS[0] if dialect.KEY_VARS else ""
    model = model or dialect.DEFAULT_MODEL or NEEDS_A_MODEL[name]
    return RemoteJudge(dialect, server + urlsplit(base).path, model, key=key, key_var=key_var)


# ---------------------------------------------------------------------------------------------------- registry


@pytest.mark.parametrize("name", sorted(dialects.MODULES))
def test_every_dialect_in_the_registry_is_a_dialect_with_a_recording(name: str) -> None:
    dialect = dialects.load(name)
    assert name == dialect.NAME
    for variables in (dialect.KEY_VARS, dialect.BASE_VARS, dialect.ACCOUNT_VARS, dialect.OWN_HOSTS):
        assert isinstance(variables, tuple) and all(isinstance(variable, str) for variable in variables)
    assert isinstance(dialect.LOCAL, bool) and dialect.MAX_QUESTIONS >= 1
    assert dialect.LOCAL or (dialect.KEY_VARS and dialect.DEFAULT_BASE.startswith("https://"))
    assert all(end.startswith(".") for end in dialect.OWN_HOSTS)
    assert dialect.fits("q", QUESTIONS["q"])
    assert (HERE / f"{name}.json").exists()


def test_every_recording_has_its_dialect() -> None:
    assert {path.stem for path in HERE.glob("*.json")} == set(dialects.MODULES)


@pytest.mark.parametrize("name", ["llama.cpp", "llama-cpp", "llama_cpp", " LLAMA_CPP "])
def test_a_dialect_is_found_however_people_write_it(name: str) -> None:
    assert dialects.load(name).NAME == "llama_cpp"


def test_an_unknown_dialect_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ValueError, match="typesafe"):
        dialects.load("typsafe")


@pytest.mark.parametrize("parsed", [None, 7, "x", [], {}, {"answers": 3}, {"answers": [1, None, {}]}, {"result": []}])
@pytest.mark.parametrize("name", sorted(dialects.MODULES))
def test_no_dialect_fails_on_an_answer_it_does_not_understand(name: str, parsed: Any) -> None:
    answers, warnings = wire.read_answers(QUESTIONS, dialects.load(name).answers_body(parsed))
    assert answers == {}
    assert [warning["type"] for warning in warnings] == ["missing-answer"]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(["q", "noul", "refusal", "predicate"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "answers",
                    "q",
                    "type",
                    "noul",
                    "probability",
                    "probabilities",
                    "name",
                    "id",
                    "value",
                    "result",
                    "success",
                    "providerMetadata",
                    "confidence",
                    "choice",
                    "usage",
                    "cost",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(parsed=JSON, name=st.sampled_from(sorted(dialects.MODULES)))
def test_whatever_a_service_sends_is_read_without_failing(parsed: Any, name: str) -> None:
    body = dialects.load(name).answers_body(parsed)
    answers, warnings = wire.read_answers(QUESTIONS, body)
    wire.read_usage(body)
    assert set(answers) <= {"q"}
    assert bool(answers) or warnings
    for answer in answers.values():
        assert 0 <= answer["p"] <= 1


# ------------------------------------------------------------------------------------------- our own recordings


@pytest.mark.parametrize("name", sorted(dialects.MODULES))
def test_a_request_is_sent_exactly_and_its_answer_read(name: str) -> None:
    case = recorded(name)
    request = case["request"]
    headers = dict(request["headers"])
    key = KEY if headers.pop("Authorization", None) else ""
    with serve(saying(case["response"]["status"], case["response"]["body"])) as server:
        reply = judge(name, server.url, case["account"], key).ask(case["state"], case["questions"], 5)
        (sent,) = server.requests
    assert sent.split(b" ", 2)[:2] == [b"POST", urlsplit(request["url"]).path.encode()]
    assert header_of(sent, "Authorization") == (f"Bearer {KEY}" if key else None)
    assert {field: header_of(sent, field) for field in headers} == headers
    ours = {"host", "accept-encoding", "connection", "content-length", "user-agent", "authorization"}
    seen = {line.split(b":")[0].decode().lower() for line in sent.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]}
    assert seen - ours == {field.lower() for field in headers}, "nothing else is sent"
    assert json.dumps(body_of(sent)) == json.dumps(request["body"]), "in this order: options are read in it"

    assert reply.error is None and reply.warnings == []
    assert reply.usage == case["usage"]
    assert reply.model == case["model"]
    assert set(reply.answers) == set(case["answers"])
    for question, expected in case["answers"].items():
        found = reply.answers[question]
        assert {field: found[field] for field in expected} == expected
        assert found["type"] == case["questions"][question]["type"]


@pytest.mark.parametrize("name", sorted(name for name in dialects.MODULES if "refusal" in recorded(name)))
def test_a_refused_question_is_unanswered_and_the_rest_stand(name: str) -> None:
    case = recorded(name)
    with serve(saying(200, case["refusal"])) as server:
        reply = judge(name, server.url, case["account"]).ask(case["state"], case["questions"], 5)
    assert reply.warnings == [{"type": "refusal", "question": "loses"}]
    assert set(reply.answers) == {"next", "harm"}


ERRORS = [
    pytest.param(name, error, id=f"{name}-{number}-{error['status']}-{error['kind']}")
    for name in sorted(dialects.MODULES)
    for number, error in enumerate(recorded(name)["errors"])
]


def check_error(reply: JudgeReply, name: str, status: int, kind: str, key: str = KEY) -> None:
    error = reply.error
    assert error is not None
    assert (error.kind, error.status) == (kind, status)
    assert name in error.message
    for secret in (KEY, ECHO, "rm -r", "/home/"):
        assert secret not in error.message
    variables = dialects.load(name).KEY_VARS
    if kind in ("auth", "payment") and variables:
        assert variables[0] in error.message
    assert reply.answers == {}


@pytest.mark.parametrize(("name", "failure"), ERRORS)
def test_each_service_error_is_one_kind(name: str, failure: dict[str, Any]) -> None:
    case = recorded(name)
    body = failure["body"]
    data = b"" if body is None else json.dumps(body).replace("ECHO", f"{ECHO} {KEY}").encode()
    with serve(saying(failure["status"], data)) as server:
        reply = judge(name, server.url, case["account"]).ask(case["state"], case["questions"], 5)
        assert len(server.requests) == 1
    check_error(reply, name, failure["status"], failure["kind"])


# -------------------------------------------------------------------------------- the workbench's recordings

# Their file -> our dialect.
FILES = {
    "cloudflare-clef": "cloudflare_clef",
    "cloudflare-jev": "cloudflare",
    "databricks": "databricks",
    "llama-cpp": "llama_cpp",
    "ollama": "ollama",
    "openai-decisions": "openai",
    "opencode-zen": "opencode",
    "openrouter-decisions": "openrouter",
    "openrouter-systemone": "openrouter_systemone",
    "sglang": "sglang",
    "typesafe-native": "typesafe",
    "vercel-decision-v4": "vercel",
    "vercel-evaluation-v4": "vercel_evaluation",
    "vercel-typesafe": "vercel_typesafe",
    "vllm": "vllm",
}
STATUS = {401: "auth", 402: "payment", 403: "auth", 404: "bad_request", 413: "oversized", 429: "rate_limited"}
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared/systemone/dialects beside the repository")


def shared(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SHARED / f"{file}.json").read_text())
    return found


def unfolded(body: Any) -> Any:
    """A body with the state that it holds as text unfolded: its blanks mean nothing."""
    body = json.loads(json.dumps(body))
    if isinstance(body.get("input"), str):
        body["input"] = json.loads(body["input"])
    for part in body.get("stateParts", ()):
        part["text"] = json.loads(part["text"])
    return body


@needs_shared
@pytest.mark.parametrize("file", sorted(FILES))
def test_a_recorded_exchange_of_the_workbench_is_reproduced(file: str) -> None:
    name, case = FILES[file], shared(file)
    expected = case["request"]
    body = expected["body"]
    asked = body.get("input") if isinstance(body.get("input"), dict) else body
    if "state" not in asked or any(q.get("type") == "boolean" for q in asked["questions"].values()):
        asked = shared("typesafe-native")["request"]["body"]
    model = body.get("model") or expected["headers"]["ai-model-id"]
    account = "team.cloud.databricks.com" if name == "databricks" else "acc0"
    with serve(saying(200, case["response"]["body"])) as server:
        key = KEY if "Authorization" in expected["headers"] else ""
        reply = judge(name, server.url, account, key, model).ask(asked["state"], asked["questions"], 5)
        (sent,) = server.requests
    path = urlsplit(expected["url"].replace("${CLOUDFLARE_ACCOUNT_ID}", "acc0")).path
    assert sent.split(b" ", 2)[:2] == [b"POST", path.encode()]
    for field, value in expected["headers"].items():
        if not field.startswith(("HTTP-Referer", "X-", "User-Agent")):  # who the recorded client was
            assert header_of(sent, field) == (f"Bearer {KEY}" if field == "Authorization" else value)
    assert unfolded(body_of(sent)) == unfolded(body)
    assert reply.error is None and reply.warnings == []
    assert set(reply.answers) == set(asked["questions"])
    assert reply.usage["input_tokens"] > 0


SHARED_ERRORS = [
    pytest.param(file, error, id=f"{file}-{error['status']}-{number}")
    for file in sorted(FILES)
    if SHARED.is_dir()
    for number, error in enumerate(shared(file)["errors"])
    if "status" in error
]


@needs_shared
@pytest.mark.parametrize(("file", "failure"), SHARED_ERRORS)
def test_a_recorded_error_of_the_workbench_is_its_kind(file: str, failure: dict[str, Any]) -> None:
    status = failure["status"]
    kind = "server" if status >= 500 else STATUS.get(status, "bad_request")
    data = json.dumps(failure["body"]).encode() if "body" in failure else b""
    if b"customer_verification" in data or b"4006" in data:
        kind = "payment"
    if b"max_tokens_exceeded" in data:
        kind = "oversized"
    with serve(saying(status, data)) as server:
        reply = judge(FILES[file], server.url, "acc0").ask("state", QUESTIONS, 5)
    check_error(reply, FILES[file], status, kind)


# ------------------------------------------------------------------------------------------------------ details


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.typesafe.ai", "https://api.typesafe.ai/v1/systemone"),
        ("https://api.typesafe.ai/", "https://api.typesafe.ai/v1/systemone"),
        ("https://api.typesafe.ai/v1", "https://api.typesafe.ai/v1/systemone"),
        ("https://api.typesafe.ai/v1/systemone", "https://api.typesafe.ai/v1/systemone"),
        ("https://a.example/systemone", "https://a.example/systemone"),
        ("http://127.0.0.1:8700", "http://127.0.0.1:8700/v1/systemone"),
    ],
)
def test_a_native_base_may_be_the_origin_or_any_part_of_the_endpoint(base: str, url: str) -> None:
    assert native.request(base, "m", "s", QUESTIONS)[0] == url


@pytest.mark.parametrize(
    ("name", "base", "url"),
    [
        ("openrouter", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/alpha/decisions"),
        ("openrouter", "https://openrouter.ai/api", "https://openrouter.ai/api/alpha/decisions"),
        ("openrouter_systemone", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/systemone"),
        ("openai", "https://api.openai.com/v1", "https://api.openai.com/v1/decisions"),
        ("openai", "http://127.0.0.1:8000/v1/decisions", "http://127.0.0.1:8000/v1/decisions"),
        ("vercel", "https://ai-gateway.vercel.sh/v1", "https://ai-gateway.vercel.sh/v4/ai/decision-model"),
        ("vercel", "https://ai-gateway.vercel.sh/v3/ai", "https://ai-gateway.vercel.sh/v4/ai/decision-model"),
        ("databricks", "https://a.example/ai-gateway/typesafe", "https://a.example/ai-gateway/typesafe/v1/systemone"),
        ("cloudflare", "https://a.example/x/ai/run", "https://a.example/x/ai/run"),
        ("cloudflare_clef", "https://a.example/x", "https://a.example/x/ai/run/@cf/cloudflare/m"),
    ],
)
def test_a_base_as_people_write_it_still_leads_to_the_endpoint(name: str, base: str, url: str) -> None:
    assert dialects.load(name).request(base, "m", "s", QUESTIONS)[0] == url


@pytest.mark.parametrize("model", ["../../x", "a/b", "a?b", ""])
def test_a_model_that_becomes_part_of_the_address_stays_a_name(model: str) -> None:
    with pytest.raises(wire.JudgeError, match="clef"):
        cloudflare_clef.request("https://a.example", model, "s", QUESTIONS)


def test_openrouter_gets_both_sides_of_a_noul_or_none() -> None:
    asked = {"one": wire.noul("Is it?", true="It is."), "none": wire.noul("Is it?"), "two": wire.noul("?", "a", "b")}
    sent = openrouter.request("https://x", "m", "s", asked)[2]["questions"]
    assert sent["one"]["criteria"] == {"true": "It is.", "false": "Otherwise."}
    assert "criteria" not in sent["none"]
    assert sent["two"] == asked["two"]
    assert asked["one"]["criteria"] == {"true": "It is."}, "the caller's question is left alone"


def test_structured_words_become_text_where_only_text_is_taken() -> None:
    asked = {"q": wire.choice({"ask": ["größe"]}, {"a": {"b": 1}, "c": None})}
    (sent,) = openai.request("https://x", "m", ["s"], asked)[2]["questions"]
    assert sent["instructions"] == '{"ask": ["größe"]}'
    assert sent["choices"] == [{"value": "a", "description": '{"b": 1}'}, {"value": "c"}]


@pytest.mark.parametrize(
    "answers",
    [
        [
            {"type": "predicate", "name": "q", "probability": 0.1},
            {"type": "predicate", "name": "q", "probability": 0.9},
        ],
        [{"type": "predicate", "probability": 0.1}],
        [{"type": "choice", "name": "q", "choice": "x"}],
        [{"type": "predicate", "name": "q", "probability": True}],
    ],
)
def test_a_list_that_does_not_say_one_thing_says_nothing(answers: list[Any]) -> None:
    read, warnings = wire.read_answers(QUESTIONS, openai.answers_body({"answers": answers}))
    assert read == {} and warnings


@pytest.mark.parametrize(
    "probabilities",
    [
        [{"value": "a", "probability": 0.5}, {"value": "a", "probability": 0.5}],
        [{"value": True, "probability": 1}],
        [{"probability": 1}, "x"],
    ],
)
def test_a_listed_distribution_that_cannot_be_read_is_no_answer(probabilities: list[Any]) -> None:
    question = {"q": wire.choice("?", {"a": None, "b": None})}
    sent = {"answers": [{"type": "choice", "name": "q", "choice": "a", "probabilities": probabilities}]}
    read, warnings = wire.read_answers(question, openai.answers_body(sent))
    assert read == {} and [warning["question"] for warning in warnings] == ["q"]


def test_vercels_confidences_find_their_answers_whatever_the_provider_is_called() -> None:
    sent = {"answers": {"c": {"type": "choice", "choice": "a"}}, "providerMetadata": {"x": {"confidence": {"c": 0.4}}}}
    assert vercel.answers_body(sent)["answers"]["c"]["confidence"] == 0.4


@pytest.mark.parametrize(
    ("name", "question", "fits"),
    [
        ("ollama", wire.choice("?", {str(n): None for n in range(26)}), True),
        ("ollama", wire.choice("?", {str(n): None for n in range(27)}), False),
        ("typesafe", wire.choice("?", {str(n): None for n in range(27)}), True),
        ("ollama", {"type": "noul", "criteria": {"true": "x"}}, False),
        ("llama_cpp", {"type": "noul", "criteria": {"true": "x"}}, False),
    ],
)
def test_a_service_is_not_asked_what_it_would_refuse(name: str, question: dict[str, Any], fits: bool) -> None:
    assert dialects.load(name).fits("q", question) is fits


@pytest.mark.parametrize(
    ("name", "fits"), [("a.b-c_1", True), ("a b", False), ("ü", False), ("", False), ("x" * 101, False)]
)
def test_clef_takes_plain_ids_only(name: str, fits: bool) -> None:
    assert cloudflare_clef.fits(name, QUESTIONS["q"]) is fits
