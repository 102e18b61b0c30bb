from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from systemone.loopback import body_of, header_of, saying, serve

from jevhook.judges import check_key, choose, gate_threshold
from jevhook.judges.record import read_record
from jevhook.judges.remote import RemoteJudge
from jevhook.systemone import wire

KEY = "ts-live-0123456789abcdef"
QUESTIONS = {"q": wire.noul("Is it?")}
ANSWER = {"model": "m", "answers": {"q": {"type": "noul", "noul": 0.5}}}

USER = {"settings_origin": "user"}
MANAGED = {"settings_origin": "managed"}
PROJECT = {"settings_origin": "project"}
SHIPPED = {"settings_origin": "shipped"}


def named(settings: dict[str, Any], env: dict[str, str], in_hook: bool = True) -> str:
    """The chosen judge's name, or "" for none; the key is never in the explanation."""
    judge, why = choose(settings, env, in_hook)
    assert why
    assert KEY not in why
    return "" if judge is None else judge.name


def sends(settings: dict[str, Any], env: dict[str, str], in_hook: bool = True) -> tuple[bytes, str]:
    """What the chosen judge really sends when ``BASE`` in settings and env stands for a server here, and why it was
    chosen.  b"" when there is no judge or nothing came."""
    with serve(saying(200, ANSWER)) as server:
        here = {k: v.replace("BASE", server.url) if isinstance(v, str) else v for k, v in settings.items()}
        judge, why = choose(here, {k: v.replace("BASE", server.url) for k, v in env.items()}, in_hook)
        if judge is not None:
            judge.ask("state", QUESTIONS, 2)
        return (server.requests[0] if server.requests else b""), why


# ------------------------------------------------------------------------------------------------------ consent

CONSENT: list[tuple[str, dict[str, Any], dict[str, str], str]] = [
    ("nothing at all", {}, {}, "embedded"),
    ("the right key in the environment", {}, {"TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("an empty key", {}, {"TYPESAFE_API_KEY": ""}, "embedded"),
    ("keys for other work", {}, {"OPENROUTER_API_KEY": KEY, "OPENAI_API_KEY": KEY}, "embedded"),
    ("the user names the provider", {**USER, "provider": "typesafe"}, {"TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    (
        "a managed policy names it",
        {**MANAGED, "provider": "typesafe"},
        {"TYPESAFE_API_KEY": KEY},
        "typesafe/jev-latest",
    ),
    ("the user names it, without a key", {**USER, "provider": "typesafe"}, {}, ""),
    ("the user says auto", {**USER, "provider": "auto"}, {"TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("the user names their own variable", {**USER, "api_key_env": "MY_KEY"}, {"MY_KEY": KEY}, "typesafe/jev-latest"),
    ("the user says none", {**USER, "provider": "none"}, {"TYPESAFE_API_KEY": KEY}, ""),
    ("the user says embedded", {**USER, "provider": "embedded"}, {"TYPESAFE_API_KEY": KEY}, "embedded"),
    ("the shipped policy says none", {**SHIPPED, "provider": "none"}, {"TYPESAFE_API_KEY": KEY}, ""),
    ("the shipped policy says embedded", {**SHIPPED, "provider": "embedded"}, {"TYPESAFE_API_KEY": KEY}, "embedded"),
    ("a project says none", {**PROJECT, "provider": "none"}, {"TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("a project says embedded", {**PROJECT, "provider": "embedded"}, {"TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("a project says mock", {**PROJECT, "provider": "mock", "mock": "/x"}, {}, "embedded"),
    ("a project names a provider", {**PROJECT, "provider": "typesafe", "consent": True}, {}, "embedded"),
    ("a project names a variable", {**PROJECT, "api_key_env": "AWS_SECRET"}, {"AWS_SECRET": KEY}, "embedded"),
    ("a project names a model", {**PROJECT, "model": "evil"}, {"TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("nobody's settings name a model", {"model": "evil"}, {"TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("the environment asks for a mock", {}, {"JEVHOOK_MOCK": "/x"}, "embedded"),
    ("the user asks for a mock", {**USER, "provider": "mock", "mock": "/x"}, {}, "mock"),
    ("the user asks for a mock in the environment", {**USER, "provider": "mock"}, {"JEVHOOK_MOCK": "/x"}, "mock"),
    ("the user asks for a mock and has none", {**USER, "provider": "mock"}, {}, ""),
    ("a provider that there is not", {**USER, "provider": "typsafe"}, {"TYPESAFE_API_KEY": KEY}, ""),
    ("a setting of a wrong type", {**USER, "provider": 7}, {"TYPESAFE_API_KEY": KEY}, ""),
    ("a base that is not secure", {**USER, "provider": "typesafe", "base_url": "http://a.example"}, {}, ""),
    ("a placeholder key", {}, {"TYPESAFE_API_KEY": "<your-key>"}, ""),
    ("the SDK's other variable", {}, {"TYPESAFE_AI_API_KEY": KEY}, "embedded"),
    ("the environment names a backend", {}, {"JEV_BACKEND": "openrouter", "OPENROUTER_API_KEY": KEY}, "embedded"),
    ("it switches the judge off", {}, {"JEV_BACKEND": "none", "TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("it names the embedded one", {}, {"JEV_BACKEND": "embedded", "TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("it names a mock", {}, {"JEV_BACKEND": "mock", "JEVHOOK_MOCK": "/x"}, "embedded"),
    ("it names what was agreed to", {}, {"JEV_BACKEND": "typesafe", "TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("it names nonsense", {}, {"JEV_BACKEND": "x", "TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ("it names one on this machine", {}, {"JEV_BACKEND": "llama.cpp"}, "embedded"),
    (
        "with the user's consent it chooses",
        {**USER, "consent": True},
        {"JEV_BACKEND": "openrouter", "OPENROUTER_API_KEY": KEY, "TYPESAFE_API_KEY": KEY},
        "openrouter/typesafe/jev-1.13",
    ),
    (
        "the config's provider wins over it",
        {**USER, "provider": "typesafe", "consent": True},
        {"JEV_BACKEND": "openrouter", "OPENROUTER_API_KEY": KEY, "TYPESAFE_API_KEY": KEY},
        "typesafe/jev-latest",
    ),
    ("a project's tiers", {**PROJECT, "tiers": ["llama_cpp"]}, {}, "embedded"),
    ("a project's route", {**PROJECT, "routes": {"tool.risk": ["llama_cpp"]}}, {}, "embedded"),
]


@pytest.mark.parametrize(("case", "settings", "env", "expected"), CONSENT, ids=[row[0] for row in CONSENT])
def test_in_the_hook_a_remote_judge_needs_somebodys_word(
    case: str, settings: dict[str, Any], env: dict[str, str], expected: str
) -> None:
    assert named(settings, env) == expected


@pytest.mark.parametrize(
    "key",
    [
        *("", "<key>", "your-key-here", "YOUR_KEY", "changeme", "ChangeMe1", "replace-me", "sk-xxx", "xxx", "todo"),
        *("TODO-key", "a b", "abc\n", "abc\r\nX-Evil: 1", "schlüssel"),
    ],
)
def test_placeholders_and_keys_that_break_a_header_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match=r"^MY_VAR holds") as caught:
        check_key(key, "MY_VAR")
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize("key", [KEY, "sk-or-v1-0123abcd", "AIzaSyA-xxx9", "autodoc123"])
def test_real_looking_keys_pass(key: str) -> None:
    check_key(key, "MY_VAR")


# -------------------------------------------------------------------------------------- where a key may be sent


def test_a_loopback_base_in_the_environment_counts_in_the_hook() -> None:
    request, _ = sends({}, {"TYPESAFE_API_KEY": KEY, "TYPESAFE_BASE_URL": "BASE"})
    assert header_of(request, "Authorization") == f"Bearer {KEY}"


def test_a_loopback_base_alone_is_no_consent() -> None:
    request, why = sends({}, {"TYPESAFE_BASE_URL": "BASE"})
    assert request == b""
    assert "rules only" in why


def test_a_named_provider_on_this_machine_needs_no_key() -> None:
    request, _ = sends({**USER, "provider": "typesafe", "base_url": "BASE"}, {})
    assert body_of(request)["state"] == "state"
    assert header_of(request, "Authorization") is None


def test_a_base_named_by_the_user_gets_the_key() -> None:
    request, _ = sends({**USER, "provider": "typesafe", "base_url": "BASE/v1"}, {"TYPESAFE_API_KEY": KEY})
    assert request.startswith(b"POST /v1/systemone ")
    assert header_of(request, "Authorization") == f"Bearer {KEY}"


def test_in_the_hook_the_users_base_wins_over_the_environments() -> None:
    with serve(saying(200, ANSWER)) as other:
        env = {"TYPESAFE_API_KEY": KEY, "TYPESAFE_BASE_URL": other.url}
        request, why = sends({**USER, "provider": "typesafe", "base_url": "BASE"}, env)
        assert request and "TYPESAFE_BASE_URL is ignored" in why
        assert other.requests == []


def test_at_a_prompt_a_loopback_base_in_the_environment_overrides_the_config() -> None:
    settings = {**USER, "provider": "typesafe", "base_url": "https://gateway.example"}
    request, _ = sends(settings, {"TYPESAFE_API_KEY": KEY, "TYPESAFE_BASE_URL": "BASE"}, in_hook=False)
    assert request


@pytest.mark.parametrize(
    ("base", "reached", "told"),
    [
        ("https://evil.example", "api.typesafe.ai", True),
        ("https://api.typesafe.ai.evil.example", "api.typesafe.ai", True),
        ("http://api.typesafe.ai", "api.typesafe.ai", True),
        ("https://user@127.0.0.1", "api.typesafe.ai", True),
        ("nonsense", "api.typesafe.ai", True),
        ("https://api.typesafe.ai/", "api.typesafe.ai", False),
        ("https://api.typesafe.ai/v1", "api.typesafe.ai", False),
        ("http://127.0.0.1:8700", "127.0.0.1:8700", False),
    ],
)
def test_in_the_hook_another_base_in_the_environment_is_ignored_and_told(base: str, reached: str, told: bool) -> None:
    judge, why = choose({}, {"TYPESAFE_API_KEY": KEY, "TYPESAFE_BASE_URL": base}, True)
    assert judge is not None
    assert reached in why
    assert ("TYPESAFE_BASE_URL is ignored" in why) is told
    assert "evil" not in why


def test_at_a_prompt_a_foreign_base_in_the_environment_never_gets_the_key() -> None:
    env = {"TYPESAFE_API_KEY": KEY, "TYPESAFE_BASE_URL": "https://gateway.example"}
    judge, why = choose({}, env, False)
    assert judge is None
    assert "not sent to gateway.example" in why
    judge, why = choose({**USER, "base_url": "https://gateway.example"}, env, False)
    assert judge is not None
    assert "gateway.example" in why


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second provider in the registry, with a key variable of its own."""
    from jevhook.systemone import dialects

    names = {"NAME": "other", "KEY_VARS": ("OTHER_API_KEY",), "BASE_VARS": ("OTHER_BASE_URL",), "LOCAL": False}
    more = {"DEFAULT_BASE": "https://other.example", "DEFAULT_MODEL": "o-1", "MAX_QUESTIONS": 9}
    dialect = type("Other", (), {**names, **more, "ACCOUNT_VARS": (), "OWN_HOSTS": ()})
    real = dialects.load
    monkeypatch.setitem(dialects.MODULES, "other", "nowhere")
    monkeypatch.setattr(dialects, "load", lambda name: dialect if name == "other" else real(name))


@pytest.mark.parametrize(
    ("settings", "in_hook", "expected"),
    [
        ({}, True, "embedded"),
        ({"consent": True}, True, "embedded"),
        ({**PROJECT, "consent": True}, True, "embedded"),
        ({**USER, "consent": False}, True, "embedded"),
        ({**USER, "consent": "yes"}, True, "embedded"),
        ({**USER, "consent": True}, True, "other/o-1"),
        ({**USER, "provider": "other"}, True, "other/o-1"),
        ({}, False, "other/o-1"),
    ],
)
def test_another_providers_key_counts_in_the_hook_only_with_the_users_consent(
    other: None, settings: dict[str, Any], in_hook: bool, expected: str
) -> None:
    assert named(settings, {"OTHER_API_KEY": KEY}, in_hook) == expected


def test_another_services_key_is_not_sent_to_a_service_of_its_own_accord(other: None) -> None:
    settings = {**USER, "provider": "typesafe", "api_key_env": "OTHER_API_KEY"}
    assert named(settings, {"OTHER_API_KEY": KEY}) == ""
    assert named({**settings, "base_url": "https://gateway.example"}, {"OTHER_API_KEY": KEY}) == "typesafe/jev-latest"
    swapped = {**USER, "provider": "other", "api_key_env": "TYPESAFE_API_KEY"}
    assert named(swapped, {"TYPESAFE_API_KEY": KEY}) == ""


# --------------------------------------------------------------------------------------------- at a prompt

AT_A_PROMPT: list[tuple[dict[str, Any], dict[str, str], str]] = [
    ({}, {}, "embedded"),
    ({}, {"TYPESAFE_AI_API_KEY": KEY}, "typesafe/jev-latest"),
    ({}, {"OPENAI_API_KEY": KEY, "OPENROUTER_API_KEY": KEY, "TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ({}, {"OPENAI_API_KEY": KEY, "OPENROUTER_API_KEY": KEY, "AI_GATEWAY_API_KEY": KEY}, "openrouter/typesafe/jev-1.13"),
    ({}, {"OPENAI_API_KEY": KEY, "AI_GATEWAY_API_KEY": KEY, "OPENCODE_API_KEY": KEY}, "vercel/typesafe-ai/jev"),
    ({}, {"OPENCODE_ZEN_API_KEY": KEY, "CLOUDFLARE_API_TOKEN": KEY}, "opencode/jev-1.13"),
    (
        {},
        {"CLOUDFLARE_API_TOKEN": KEY, "CLOUDFLARE_ACCOUNT_ID": "abc0", "OPENAI_API_KEY": KEY},
        "cloudflare/typesafe/jev",
    ),
    ({}, {"CLOUDFLARE_API_TOKEN": KEY, "OPENAI_API_KEY": KEY}, "openai/gpt-6-luna"),
    (
        {},
        {"DATABRICKS_TOKEN": KEY, "DATABRICKS_HOST": "team.cloud.databricks.com", "OPENAI_API_KEY": KEY},
        "databricks/system.ai.openjev-qwen35-4b",
    ),
    ({}, {"DATABRICKS_TOKEN": KEY, "OPENAI_API_KEY": KEY}, "openai/gpt-6-luna"),
    ({}, {"LLAMA_API_KEY": KEY, "OLLAMA_HOST": "127.0.0.1:11434"}, "embedded"),
    ({}, {"JEV_BACKEND": "auto", "TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ({}, {"JEV_BACKEND": "", "TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    (
        {},
        {"JEV_BACKEND": "OpenRouter", "TYPESAFE_API_KEY": KEY, "OPENROUTER_API_KEY": KEY},
        "openrouter/typesafe/jev-1.13",
    ),
    ({}, {"JEV_BACKEND": "openrouter", "TYPESAFE_API_KEY": KEY}, ""),
    ({}, {"JEV_BACKEND": "mock", "JEVHOOK_MOCK": "/x"}, "mock"),
    ({}, {"JEV_BACKEND": "mock"}, ""),
    ({}, {"JEV_BACKEND": "none", "TYPESAFE_API_KEY": KEY}, ""),
    ({}, {"JEV_BACKEND": "llama.cpp"}, "llama_cpp/default"),
    ({}, {"JEV_BACKEND": "ollama"}, ""),
    ({}, {"JEV_BACKEND": "ollama", "JEV_MODEL": "nimble"}, "ollama/nimble"),
    ({}, {"JEV_BACKEND": "nonsense", "TYPESAFE_API_KEY": KEY}, ""),
    ({**USER, "provider": "typesafe"}, {"JEV_BACKEND": "openrouter", "TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
]


@pytest.mark.parametrize(("settings", "env", "expected"), AT_A_PROMPT, ids=[str(n) for n in range(len(AT_A_PROMPT))])
def test_at_a_prompt_the_first_key_found_or_the_named_backend_answers(
    settings: dict[str, Any], env: dict[str, str], expected: str
) -> None:
    assert named(settings, env, in_hook=False) == expected


def test_an_address_without_a_provider_never_gets_another_services_key() -> None:
    settings = {**USER, "base_url": "https://gateway.example", "consent": True}
    for in_hook in (True, False):
        assert named(settings, {"OPENROUTER_API_KEY": KEY}, in_hook) == "embedded"
    env = {"OPENROUTER_API_KEY": KEY, "JEV_BACKEND": "openrouter"}
    judge, why = choose(settings, env, False)
    assert judge is not None and "openrouter.ai" in why and "gateway.example" not in why


# ------------------------------------------------------------------------------------- accounts and workspaces


@pytest.mark.parametrize("in_hook", [True, False])
@pytest.mark.parametrize(
    ("settings", "env", "place"),
    [
        (
            {"provider": "cloudflare"},
            {"CLOUDFLARE_API_TOKEN": KEY, "CLOUDFLARE_ACCOUNT_ID": "abc0"},
            "api.cloudflare.com",
        ),
        ({"provider": "cloudflare", "account": "abc0"}, {"CLOUDFLARE_API_TOKEN": KEY}, "api.cloudflare.com"),
        ({"provider": "cloudflare"}, {"CLOUDFLARE_API_TOKEN": KEY}, ""),
        ({"provider": "cloudflare"}, {"CLOUDFLARE_API_TOKEN": KEY, "CLOUDFLARE_ACCOUNT_ID": "../../evil"}, ""),
        ({"provider": "cloudflare"}, {"CLOUDFLARE_API_TOKEN": KEY, "CLOUDFLARE_ACCOUNT_ID": "a/b"}, ""),
        ({"provider": "databricks", "account": "team.cloud.databricks.com"}, {"DATABRICKS_TOKEN": KEY}, "team.cloud"),
        ({"provider": "databricks", "base_url": "https://dbx.example"}, {"DATABRICKS_TOKEN": KEY}, "dbx.example"),
        (
            {"provider": "databricks"},
            {"DATABRICKS_TOKEN": KEY, "DATABRICKS_HOST": "adb-1.azuredatabricks.net"},
            "adb-1",
        ),
        ({"provider": "databricks"}, {"DATABRICKS_TOKEN": KEY, "DATABRICKS_HOST": "evil.example"}, ""),
        ({"provider": "databricks"}, {"DATABRICKS_TOKEN": KEY, "DATABRICKS_HOST": "https://xazuredatabricks.net"}, ""),
        ({"provider": "databricks"}, {"DATABRICKS_TOKEN": KEY}, ""),
        ({"provider": "native", "base_url": "https://judge.example"}, {}, "judge.example"),
        ({"provider": "native"}, {}, ""),
        (
            {"provider": "openrouter"},
            {"OPENROUTER_API_KEY": KEY, "OPENROUTER_BASE_URL": "http://evil.example"},
            "openrouter.ai",
        ),
    ],
)
def test_a_service_with_an_address_for_each_user_is_found_at_theirs(
    settings: dict[str, Any], env: dict[str, str], place: str, in_hook: bool
) -> None:
    judge, why = choose({**USER, **settings}, env, in_hook)
    assert (judge is not None) is bool(place)
    assert place in why
    assert KEY not in why and "evil.example" not in why.replace("is not sent to evil.example", "")


def test_a_local_server_is_found_where_its_own_variable_says() -> None:
    settings = {**USER, "provider": "ollama", "model": "nimble"}
    with serve(saying(200, ANSWER)) as server:
        for host in (f"127.0.0.1:{server.port}", server.url):
            judge, _ = choose(settings, {"OLLAMA_HOST": host}, True)
            assert judge is not None and judge.ask("state", QUESTIONS, 2).error is None
    judge, why = choose(settings, {"OLLAMA_HOST": "0.0.0.0:11434"}, True)
    assert judge is not None and "localhost:11434" in why and "OLLAMA_HOST is ignored" in why


def test_no_service_gets_the_key_of_another_by_name() -> None:
    for provider, variable in (("typesafe", "OPENROUTER_API_KEY"), ("openai", "AI_GATEWAY_API_KEY")):
        settings = {**USER, "provider": provider, "api_key_env": variable}
        assert named(settings, {variable: KEY}) == ""
    settings = {**USER, "provider": "openrouter", "api_key_env": "OPENROUTER_API_KEY"}
    assert named(settings, {"OPENROUTER_API_KEY": KEY}) == "openrouter/typesafe/jev-1.13"


# ------------------------------------------------------------------------------------------ the environment's say


@pytest.mark.parametrize(
    ("told", "in_hook", "counts"),
    [(None, True, False), (False, True, False), (True, True, True), (None, False, True), (False, False, False)],
)
def test_in_the_hook_a_proxy_counts_only_on_the_users_word(told: bool | None, in_hook: bool, counts: bool) -> None:
    settings = {**USER, "provider": "typesafe", "environment_proxy": told}
    env = {"TYPESAFE_API_KEY": KEY, "HTTPS_PROXY": "http://127.0.0.1:1"}
    judge, why = choose(settings, env, in_hook)
    assert isinstance(judge, RemoteJudge)
    assert judge._call("state", QUESTIONS).environment is counts
    assert ("HTTPS_PROXY is ignored" in why) is not counts


def test_the_number_of_questions_is_the_users_to_set() -> None:
    settings = {**USER, "provider": "typesafe", "base_url": "BASE", "max_questions": 1}
    with serve(saying(200, ANSWER)) as server:
        judge, _ = choose({**settings, "base_url": server.url}, {}, True)
        assert judge is not None
        judge.ask("state", {**QUESTIONS, "r": QUESTIONS["q"]}, 2)
        assert list(body_of(server.requests[0])["questions"]) == ["q"]


@pytest.mark.parametrize(
    ("value", "expected"), [("0.8", 0.8), ("", None), ("1.5", None), ("-1", None), ("nan", None), ("high", None)]
)
def test_a_gate_threshold_is_a_probability_or_nothing(value: str, expected: float | None) -> None:
    assert gate_threshold({"JEV_GATE_THRESHOLD": value}) == expected
    assert gate_threshold({}) is None


# ------------------------------------------------------------------------------------------------ tiers and routes


TIERED = {
    **USER,
    "tiers": ["embedded", "llama_cpp", "team"],
    "tier": {"team": {"provider": "native", "base_url": "https://judge.example", "model": "m"}},
    "routes": {"tool.injection": ["team"]},
}


@pytest.mark.parametrize(
    ("settings", "point", "env", "expected"),
    [
        (TIERED, "", {}, "cascade(embedded>llama_cpp/default>native/m)"),
        (TIERED, "tool.risk", {}, "cascade(embedded>llama_cpp/default>native/m)"),
        (TIERED, "tool.injection", {}, "native/m"),
        (TIERED, "", {"JEV_MODEL": "other"}, "cascade(embedded>llama_cpp/default>native/m)"),
        ({**USER, "tiers": ["embedded"]}, "", {}, "embedded"),
        ({**USER, "tiers": ["embedded", "typesafe"]}, "", {}, ""),
        ({**USER, "tiers": ["nonsense", "llama_cpp"]}, "", {}, "llama_cpp/default"),
        ({**USER, "tiers": ["nonsense", "ollama"]}, "", {}, ""),
        ({**USER, "provider": "none", "routes": {"tool.risk": ["llama_cpp"]}}, "tool.risk", {}, "llama_cpp/default"),
        ({**USER, "provider": "none", "routes": {"tool.risk": ["llama_cpp"]}}, "tool.other", {}, ""),
        ({**USER, "tiers": ["typesafe"]}, "", {}, ""),
        ({**USER, "tiers": ["typesafe"]}, "", {"TYPESAFE_API_KEY": KEY}, "typesafe/jev-latest"),
    ],
)
def test_tiers_and_routes_name_the_judges(
    settings: dict[str, Any], point: str, env: dict[str, str], expected: str
) -> None:
    judge, why = choose(settings, env, True, point=point)
    assert ("" if judge is None else judge.name) == expected
    assert why and KEY not in why


def test_a_tier_that_cannot_be_used_is_told() -> None:
    why = choose({**USER, "tiers": ["typesafe", "llama_cpp"]}, {}, True)[1]
    assert "tier typesafe: typesafe needs a key: TYPESAFE_API_KEY is not set" in why


# -------------------------------------------------------------------------------------------------------- model


@pytest.mark.parametrize(
    ("settings", "env", "in_hook", "model"),
    [
        ({}, {}, True, "jev-latest"),
        ({}, {"JEV_MODEL": "jev-1.14.0"}, True, "jev-1.14.0"),
        ({}, {"TYPESAFE_DEFAULT_MODEL": "jev-preview"}, True, "jev-preview"),
        ({}, {"JEV_MODEL": "a", "TYPESAFE_DEFAULT_MODEL": "b"}, True, "a"),
        ({**USER, "model": "pinned"}, {"JEV_MODEL": "a"}, True, "pinned"),
        ({**USER, "model": "pinned"}, {"JEV_MODEL": "a"}, False, "a"),
        ({**USER, "model": "pinned"}, {"TYPESAFE_DEFAULT_MODEL": "a"}, False, "pinned"),
        ({**PROJECT, "model": "evil"}, {}, True, "jev-latest"),
    ],
)
def test_the_model_is_pinned_by_config_then_environment(
    settings: dict[str, Any], env: dict[str, str], in_hook: bool, model: str
) -> None:
    assert named(settings, {"TYPESAFE_API_KEY": KEY, **env}, in_hook) == f"typesafe/{model}"


@pytest.mark.parametrize("model", ["https://a.example", "a b", "a\nb", "x" * 201])
def test_a_model_that_is_no_name_is_refused(model: str) -> None:
    assert named({}, {"TYPESAFE_API_KEY": KEY, "JEV_MODEL": model}) == ""


# ----------------------------------------------------------------------------------------------- the skill record


def record(path: Path, mode: int = 0o600, **fields: Any) -> dict[str, str]:
    """Write a record and return the environment that points to it; a field set to None is left out."""
    whole = {
        "providerName": "My Relay",
        "baseUrl": "https://relay.example",
        "model": "jev-1.13",
        "apiKey": KEY,
        **fields,
    }
    path.write_text(json.dumps({name: value for name, value in whole.items() if value is not None}))
    path.chmod(mode)
    return {"JEV_SKILL_CONFIG": str(path)}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory is a project; the returned one is outside of it."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    outside = tmp_path / "outside"
    outside.mkdir()
    return outside


def test_a_private_record_is_consent_and_names_everything(elsewhere: Path) -> None:
    with serve(saying(200, ANSWER)) as server:
        env = record(
            elsewhere / "r.json",
            baseUrl=server.url,
            endpointPath="/relay/decide",
            authHeader="X-Api-Key",
            authScheme="",
            extraHeaders={"X-Team": "shop"},
        )
        judge, why = choose({}, {**env, "TYPESAFE_API_KEY": "other-key-0000"}, True)
        assert judge is not None and judge.name == "My Relay/jev-1.13"
        reply = judge.ask("state", QUESTIONS, 2)
        assert reply.error is None and reply.provider == "My Relay"
        (request,) = server.requests
    assert "My Relay" in why
    assert request.startswith(b"POST /relay/decide ")
    assert header_of(request, "X-Api-Key") == KEY
    assert header_of(request, "Authorization") is None
    assert header_of(request, "X-Team") == "shop"
    assert b"other-key-0000" not in request


def test_the_record_in_the_home_directory_is_found(elsewhere: Path, private_home: Path) -> None:
    (private_home / ".config").mkdir(exist_ok=True)
    record(private_home / ".config" / "typesafe-ai-jev-skill.json")
    assert named({}, {}) == "My Relay/jev-1.13"
    assert named({**USER, "provider": "none"}, {}) == ""


def test_a_records_key_may_live_in_a_variable(elsewhere: Path) -> None:
    env = record(elsewhere / "r.json", apiKey=None, apiKeyEnv="RELAY_KEY")
    assert named({}, {**env, "RELAY_KEY": KEY}) == "My Relay/jev-1.13"
    assert named({}, env) == "embedded"
    assert "RELAY_KEY is not set" in choose({}, env, True)[1]


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://r.example", None, "https://r.example/v1/systemone"),
        ("https://r.example/", None, "https://r.example/v1/systemone"),
        ("https://r.example/v1/systemone", None, "https://r.example/v1/systemone"),
        ("https://r.example/v1", None, "https://r.example/v1/systemone"),
        ("https://r.example/api", "decide", "https://r.example/api/decide"),
        ("https://r.example/api/decide", "/decide/", "https://r.example/api/decide"),
        ("http://localhost:8080", None, "http://localhost:8080/v1/systemone"),
    ],
)
def test_a_records_address_is_put_together(elsewhere: Path, base: str, path: str | None, url: str) -> None:
    found, why = read_record(record(elsewhere / "r.json", baseUrl=base, endpointPath=path), True)
    assert found is not None, why
    assert found.url == url


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"providerName": " "}, "providerName"),
    ({"providerName": 7}, "providerName"),
    ({"baseUrl": None}, "baseUrl"),
    ({"baseUrl": "http://relay.example"}, "http"),
    ({"baseUrl": "https://a:b@relay.example"}, "credentials"),
    ({"baseUrl": "https://relay.example?x=1"}, "host"),
    ({"baseUrl": "https://relay.example/v1#x"}, "fragment"),
    ({"baseUrl": "relay.example"}, "base URL"),
    ({"model": None}, "model"),
    ({"model": "https://x"}, "model"),
    ({"model": "a b"}, "model"),
    ({"protocol": "chat"}, "protocol"),
    ({"endpointPath": "https://evil.example/x"}, "endpointPath"),
    ({"endpointPath": "x?y"}, "endpointPath"),
    ({"apiKey": None}, "apiKey"),
    ({"apiKey": "<your key>"}, "apiKey"),
    ({"apiKey": "changeme"}, "apiKey"),
    ({"apiKey": "a b"}, "apiKey"),
    ({"apiKeyEnv": "NOT A NAME"}, "apiKeyEnv"),
    ({"authHeader": "X Y"}, "authHeader"),
    ({"authHeader": "X\r\nY"}, "authHeader"),
    ({"authScheme": "Bearer\r\nX: y"}, "authScheme"),
    ({"extraHeaders": []}, "extraHeaders"),
    ({"extraHeaders": ["a"]}, "extraHeaders"),
    ({"extraHeaders": {"A": 1}}, "extraHeaders"),
    ({"extraHeaders": {"A": "b\r\nC: d"}}, "extraHeaders"),
    ({"extraHeaders": {"A B": "c"}}, "extraHeaders"),
    ({"extraHeaders": {"authorization": "Bearer x"}}, "extraHeaders"),
    ({"extraHeaders": {"Host": "x"}}, "extraHeaders"),
    ({"extraHeaders": {"Content-Length": "0"}}, "extraHeaders"),
    ({"authHeader": "X-Key", "extraHeaders": {"x-key": "y"}}, "extraHeaders"),
    ({"timeoutSeconds": 0}, "timeoutSeconds"),
    ({"timeoutSeconds": True}, "timeoutSeconds"),
    ({"timeoutSeconds": "30"}, "timeoutSeconds"),
]


@pytest.mark.parametrize(("fields", "word"), REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_a_record_that_is_not_sound_is_not_used_and_told(elsewhere: Path, fields: dict[str, Any], word: str) -> None:
    judge, why = choose({}, record(elsewhere / "r.json", **fields), True)
    assert judge is not None and judge.name == "embedded"
    assert "the skill record is not used" in why
    assert word in why
    assert KEY not in why


def test_a_record_that_is_no_private_json_object_is_not_used(elsewhere: Path) -> None:
    path = elsewhere / "r.json"
    env = {"JEV_SKILL_CONFIG": str(path)}
    assert "names no file" in choose({}, env, True)[1]
    for mode in (0o640, 0o604, 0o620, 0o644):
        record(path, mode)
        assert "chmod 600" in choose({}, env, True)[1]
    for text in ("", "[]", "{", '"x"', "\x00"):
        path.write_text(text)
        path.chmod(0o600)
        assert "not used" in choose({}, env, True)[1]
    path.write_text(" " * 70_000 + "{}")
    assert "too long" in choose({}, env, True)[1]
    path.unlink()
    path.mkdir()
    assert "not a file" in choose({}, env, True)[1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_fifo_as_record_never_blocks(elsewhere: Path) -> None:
    os.mkfifo(elsewhere / "fifo", 0o600)
    assert "not a file" in choose({}, {"JEV_SKILL_CONFIG": str(elsewhere / "fifo")}, True)[1]


def test_in_the_hook_a_record_inside_the_judged_project_is_not_used(elsewhere: Path) -> None:
    inside = elsewhere.parent / "project" / "r.json"
    env = record(inside)
    assert named({}, env) == "embedded"
    assert "judged project" in choose({}, env, True)[1]
    assert named({}, env, in_hook=False) == "My Relay/jev-1.13"
    link = elsewhere / "link.json"
    link.symlink_to(inside)
    assert named({}, {"JEV_SKILL_CONFIG": str(link)}) == "embedded"
    assert "absolute" in choose({}, {"JEV_SKILL_CONFIG": "../r.json"}, True)[1]


def test_a_record_in_a_home_that_is_a_repository_of_its_own_is_used(
    private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (private_home / ".git").mkdir()
    monkeypatch.chdir(private_home)
    assert named({}, record(private_home / "r.json")) == "My Relay/jev-1.13"
    monkeypatch.chdir("/")
    assert named({}, record(private_home / "r.json")) == "My Relay/jev-1.13"
