"""Judges: whoever answers questions.  ``choose`` picks one and says why.

Whose word counts, first to last: the route of the point, the tiers or the provider that the managed or the user's
config names; the private skill record (before it, at a prompt, ``JEV_BACKEND``); ``JEV_BACKEND``; the first key found,
in the order of ``dialects.MODULES``: TYPESAFE_API_KEY (or TYPESAFE_AI_API_KEY), OPENROUTER_API_KEY, AI_GATEWAY_API_KEY,
OPENCODE_API_KEY, CLOUDFLARE_API_TOKEN with an account, DATABRICKS_TOKEN with a workspace, OPENAI_API_KEY; the embedded
judge.  Judges on this machine are only ever asked when they are named: nothing says that one runs.

A remote judge is only chosen in the hook when somebody consented: the user's or the managed config, the private skill
record, or ``TYPESAFE_API_KEY``.  Other keys in the environment were exported for other work, and a base URL there may
be the doing of the judged repository, which can set a host's environment.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from ..systemone.dialects import Dialect
    from ..systemone.wire import Answer, JudgeError, Question, Warning_
    from .record import Record

    class Judge(Protocol):
        """Who answers questions.  ``name`` is for the ledger and for people."""

        name: str

        def ask(self, state: Any, questions: Mapping[str, Question], deadline: float) -> JudgeReply:
            """The answers to ``questions`` about ``state`` within ``deadline`` seconds.  Never raises: what went
            wrong is in ``error``, and a question without a usable answer is only missing from ``answers``."""


class JudgeReply:
    """What came of one call.

    ``answers`` ``warnings``  as ``wire.read_answers`` gives them
    ``judge``       the judge's name; ``provider`` whose service; ``model`` as the service itself named it
    ``latency_ms``  whole milliseconds by the monotonic clock
    ``usage``       ``{"input_tokens", "output_tokens"}`` as far as known; ``{"cached": 1}`` when the warm process had the answer
    ``tiers``       where several were asked, one ``{"judge", "asked", "kept", "latency_ms", "error"?}`` for each
    ``error``       the JudgeError (``kind``, ``status``, ``message``) when there was no usable reply, else None
    """

    __slots__ = ("answers", "error", "judge", "latency_ms", "model", "provider", "tiers", "usage", "warnings")

    def __init__(
        self,
        judge: str,
        provider: str,
        *,
        model: str = "",
        answers: dict[str, Answer] | None = None,
        warnings: list[Warning_] | None = None,
        latency_ms: int = 0,
        usage: dict[str, int] | None = None,
        error: JudgeError | None = None,
    ) -> None:
        self.judge = judge
        self.provider = provider
        self.model = model
        self.answers: dict[str, Answer] = {} if answers is None else answers
        self.warnings: list[Warning_] = [] if warnings is None else warnings
        self.latency_ms = latency_ms
        self.usage: dict[str, int] = {} if usage is None else usage
        self.error = error
        self.tiers: list[dict[str, Any]] = []


MOST_QUESTIONS = 400  # of a judge that names no limit of its own

_OWN_WORD = ("user", "managed")  # whose [judge] table may name a provider, a base and a key
_ACCOUNT_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")


def choose(
    settings: Mapping[str, Any],
    env: Mapping[str, str],
    in_hook: bool,
    *,
    point: str = "",
    capabilities: Mapping[str, str] | None = None,
) -> tuple[Judge | None, str]:
    """(judge, why): the judge to ask, or None, and one sentence for the ledger and the doctor.

    ``settings`` is the policy's ``[judge]`` table: ``provider`` ("none", "embedded", "mock", a dialect's name, or
    absent: find one), ``base_url``, ``model``, ``api_key_env``, ``account``, ``max_questions``, ``environment_proxy``,
    ``consent``, ``mock`` (the script's path), ``tiers``, ``tier`` and ``routes`` (see ``cascade``), and
    ``settings_origin`` ("user", "managed", or who else wrote it).  A table from elsewhere may only say "none" or
    "embedded" when it is the shipped one, and nothing at all when it is a project's.

    ``point`` is the decision point that asks, for its route; ``capabilities`` what each of its questions needs.  Never
    raises.
    """
    try:
        return _choose(settings, env, in_hook, point, capabilities or {})
    except (_Refused, ValueError) as why:
        return None, str(why)


def most_questions(judge: Any) -> int:
    """How many questions one call of ``judge`` takes; behind a breaker or in tiers, the least of them."""
    tiers = getattr(judge, "_tiers", None)
    if tiers is not None:
        return min((most_questions(tier.judge) for tier in tiers), default=MOST_QUESTIONS)
    inner = getattr(judge, "judge", None)
    if inner is not None:
        return most_questions(inner)
    return int(getattr(judge, "_most", MOST_QUESTIONS))


def gate_threshold(env: Mapping[str, str]) -> float | None:
    """``JEV_GATE_THRESHOLD`` as a probability, None when it is unset or not a number from 0 to 1.

    A repository can set a host's environment: in the hook it may only be used to be stricter.
    """
    try:
        value = float(env.get("JEV_GATE_THRESHOLD", ""))
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


class _Refused(Exception):
    """Why there is no judge."""


def _choose(
    settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool, point: str, capabilities: Mapping[str, str]
) -> tuple[Judge | None, str]:
    origin = settings.get("settings_origin", "")
    trusted = origin in _OWN_WORD
    provider = _string(settings, "provider")
    if not trusted:
        if origin == "project" or provider not in ("none", "embedded"):
            provider = ""
        settings = {}
    routed = (settings.get("routes") or {}).get(point) or []
    tiers = routed or settings.get("tiers") or []
    if provider == "none" and not routed:
        return None, "the policy says provider = none"
    if tiers:
        why = f"the {origin} config routes {point} to {', '.join(tiers)}" if routed else f"the {origin} config's tiers"
        return _cascade(list(tiers), settings, env, in_hook, capabilities, why)
    if provider in ("", "auto"):
        return _found(settings, env, in_hook, trusted and settings.get("consent") is True)
    said = "the policy says" if provider in ("embedded", "mock") else f"the {origin} config names"
    return _named(provider, settings, env, in_hook, said)


def _named(
    provider: str, settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool, said: str
) -> tuple[Judge | None, str]:
    """The judge that somebody named, whoever it is."""
    if provider == "none":
        return None, f"{said} {provider}"
    if provider == "embedded":
        from .embedded import EmbeddedJudge

        return EmbeddedJudge(), f"{said} provider = embedded"
    if provider == "mock":
        from .mock import MockJudge

        path = _string(settings, "mock") or env.get("JEVHOOK_MOCK", "")
        if not path:
            raise _Refused("provider = mock needs a script: set mock in [judge], or JEVHOOK_MOCK")
        return MockJudge(path), f"{said} provider = mock"
    return _remote(provider, settings, env, in_hook, f"{said} {provider}")


def _cascade(
    names: list[str],
    settings: Mapping[str, Any],
    env: Mapping[str, str],
    in_hook: bool,
    capabilities: Mapping[str, str],
    why: str,
) -> tuple[Judge, str]:
    """The judges called ``names``, one after the other.  One that can't be used is told and left out."""
    from .cascade import Cascade, Tier

    tables = settings.get("tier") or {}
    shared = {key: settings[key] for key in ("environment_proxy", "settings_origin") if key in settings}
    env = {key: value for key, value in env.items() if key != "JEV_MODEL"}  # it names one judge's model
    tiers: list[Tier] = []
    told: list[str] = []
    refused = False
    for name in names:
        table = {"provider": name, **(tables.get(name) or {}), **shared}
        try:
            judge, how = _named(_string(table, "provider"), table, env, in_hook, "tier")
        except (_Refused, ValueError) as wrong:
            told.append(f"tier {name}: {wrong}")
            refused = True
            continue
        if judge is None:
            continue
        network = judge.name not in ("embedded", "mock")
        told.append(f"{name}: {how}")
        trust = table.get("trust")
        tiers.append(
            Tier(
                judge,
                network=network,
                trust=None if trust is None else frozenset(trust),
                no=table.get("no"),
                yes=table.get("yes"),
                min_choice=table.get("min_choice"),
            )
        )
    why = _joined(why, *told)
    if all(tier.judge.name == "embedded" for tier in tiers):
        if refused or not tiers:  # somebody wanted more than rules: that is an outage, not a choice
            raise _Refused(why)
        return tiers[0].judge, why
    return Cascade(tiers, network_calls=1 if in_hook else len(tiers), capabilities=capabilities), why


def _backend(env: Mapping[str, str], in_hook: bool, consent: bool) -> tuple[str, str]:
    """(what ``JEV_BACKEND`` names, a note when it is left aside).

    In the hook a repository may have set it: there it chooses among remote judges that somebody agreed to, and can
    neither switch the judge off nor replace it by a script.
    """
    from ..systemone import dialects

    said = env.get("JEV_BACKEND", "").strip()
    name = dialects.named(said)
    if name in ("", "auto"):
        return "", ""
    if not in_hook:
        return name, ""
    agreed = consent or (name == "typesafe" and bool(env.get("TYPESAFE_API_KEY")))
    if name in dialects.MODULES and agreed:
        return name, ""
    return "", "JEV_BACKEND is ignored in the hook: name the provider in the user's config"


def _found(
    settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool, consent: bool
) -> tuple[Judge | None, str]:
    """The judge when no config named one: the skill record, JEV_BACKEND, a key in the environment, the embedded one."""
    if in_hook and not consent and not _said(settings.get("api_key_env"), env):
        return _rules_only("")
    from ..systemone import dialects
    from .record import read_record

    backend, ignored = _backend(env, in_hook, consent)
    if backend and not in_hook:
        return _named(backend, _for_backend(backend, settings), env, in_hook, "JEV_BACKEND names")
    record, why_not = read_record(env, in_hook)
    if record is not None:
        return _from_record(record, settings, in_hook)
    why_not = _joined(why_not, ignored)
    if backend:
        judge, why = _named(backend, _for_backend(backend, settings), env, in_hook, "JEV_BACKEND names")
        return judge, _joined(why, why_not)

    named_key = _string(settings, "api_key_env")
    alone = bool(_string(settings, "base_url"))  # an address without a provider speaks the native shape
    names = ["typesafe"] if alone or not (consent or not in_hook) else list(dialects.MODULES)
    for name in names:
        dialect = dialects.load(name)
        if dialect.LOCAL:
            continue  # nothing says that it runs: it has to be named
        # In the hook without consent only this one variable is anybody's word.
        variables = dialect.KEY_VARS if consent or not in_hook else ("TYPESAFE_API_KEY",)
        if name == "typesafe" and named_key and env.get(named_key):
            variables = (named_key, *variables)
        variable = next((each for each in variables if env.get(each)), "")
        if variable and _base(dialect, _string(settings, "base_url"), settings, env, in_hook)[0]:
            judge, why = _remote(name, settings, env, in_hook, f"{variable} is set")
            return judge, _joined(why, why_not)
    return _rules_only(why_not)


def record_path(env: Mapping[str, str]) -> str:
    """Where the skill record is looked for: ``JEV_SKILL_CONFIG``, else ``~/.config/typesafe-ai-jev-skill.json``."""
    import os

    named = env.get("JEV_SKILL_CONFIG", "")
    if named:
        return os.path.expanduser(named)
    return os.path.join(os.path.expanduser("~"), ".config", "typesafe-ai-jev-skill.json")


def _said(named_key: Any, env: Mapping[str, str]) -> bool:
    """Whether anything but a config could name a judge in the hook.  Mostly nothing does, and then no dialect, no client
    and no wire is loaded (2 ms of every event that stops)."""
    import os

    names = ("JEV_BACKEND", "JEV_SKILL_CONFIG", "TYPESAFE_API_KEY")
    return bool(named_key) or any(env.get(name) for name in names) or os.path.exists(record_path(env))


def _rules_only(why_not: str) -> tuple[Judge, str]:
    from .embedded import EmbeddedJudge

    return EmbeddedJudge(), _joined("no judge is set up: rules only", why_not)


def _for_backend(backend: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What of a config without a provider also holds for the one in JEV_BACKEND: an address and a key don't, they
    belong to the native shape."""
    foreign = () if backend in ("typesafe", "native") else ("base_url", "api_key_env", "model")
    return {key: value for key, value in settings.items() if key not in foreign}


def _from_record(record: Record, settings: Mapping[str, Any], in_hook: bool) -> tuple[Judge, str]:
    from ..systemone import client, dialects
    from .remote import RemoteJudge

    judge = RemoteJudge(
        dialects.load("native"),
        record.base,
        record.model,
        key=record.key,
        key_var=record.key_var,
        provider=record.name,
        url=record.url,
        auth_header=record.auth_header,
        auth_scheme=record.auth_scheme,
        extra_headers=record.headers,
        patience=record.timeout,
        max_questions=_number(settings, "max_questions"),
        environment=_environment(settings, in_hook),
    )
    return judge, f"the private skill record names {record.name}; {client.address(record.url).netloc}"


def _environment(settings: Mapping[str, Any], in_hook: bool) -> bool:
    """Whether the environment may name a proxy and certificates: in the hook only on the user's word."""
    told = settings.get("environment_proxy")
    return told is True if in_hook else told is not False


def _remote(
    provider: str, settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool, why: str
) -> tuple[Judge, str]:
    """The remote judge for a provider somebody stands behind.  ``settings`` is the user's or managed table, or {}."""
    from ..systemone import client, dialects
    from .remote import RemoteJudge

    dialect = dialects.load(provider)
    configured = _string(settings, "base_url").rstrip("/")
    base, note = _base(dialect, configured, settings, env, in_hook)
    if not base:
        wanted = "base_url"
        if "{account}" in dialect.DEFAULT_BASE:
            wanted = " or ".join(("account", *dialect.ACCOUNT_VARS)) if dialect.ACCOUNT_VARS else "base_url or account"
        raise _Refused(_joined(f"{provider} has no address of its own: set {wanted} in [judge]", note))
    where = client.address(base)
    named = _string(settings, "api_key_env")
    if named and not configured:
        _not_for_another(named, dialect)
    variable = named or next((name for name in dialect.KEY_VARS if env.get(name)), "")
    key = env.get(variable, "") if variable else ""
    wanted = variable or (dialect.KEY_VARS[0] if dialect.KEY_VARS else "")
    if key:
        check_key(key, variable)
        if not (base == configured or where.loopback or _belongs(dialect, base, settings, env)):
            note = _joined(note, f"{variable} is not sent to {where.netloc}: name it as base_url in the user's config")
            key = ""
    if not key and not where.loopback and not dialect.LOCAL:
        raise _Refused(_joined(note, f"{provider} needs a key: {wanted} is not set or may not be sent there"))
    environment = _environment(settings, in_hook)
    unused = "" if environment or where.loopback else client.ignored(env)
    if unused:
        note = _joined(note, f"{unused} is ignored in the hook: environment_proxy = true in [judge] lets it count")
    judge = RemoteJudge(
        dialect,
        base,
        _model(dialect, settings, env, in_hook),
        key=key,
        key_var=wanted,
        max_questions=_number(settings, "max_questions"),
        environment=environment,
    )
    return judge, _joined(f"{why}; {where.netloc}", note)


def _not_for_another(variable: str, dialect: Dialect) -> None:
    from ..systemone import dialects

    if variable in dialect.KEY_VARS:
        return
    for other in dialects.MODULES:
        if variable in dialects.load(other).KEY_VARS:
            name = dialect.NAME
            raise _Refused(f"{variable} is {other}'s key and is not sent to {name}; set base_url if you mean it")


def _own_base(dialect: Dialect, settings: Mapping[str, Any], env: Mapping[str, str]) -> str:
    """The dialect's own base with the account filled in; "" when it needs one and there is none.

    An account in the environment counts in the hook too: the host stays the service's own, and the key opens no
    account but the user's.
    """
    base = dialect.DEFAULT_BASE
    if "{account}" not in base:
        return base
    account = _string(settings, "account") or next((env[name] for name in dialect.ACCOUNT_VARS if env.get(name)), "")
    if not account:
        return ""
    if len(account) > 253 or not _ACCOUNT_LETTERS.issuperset(account) or ".." in account:
        raise _Refused(f"{dialect.NAME}: the account is not one")
    return base.replace("{account}", account)


def _belongs(dialect: Dialect, base: str, settings: Mapping[str, Any], env: Mapping[str, str]) -> bool:
    """Whether ``base`` is the service that the dialect's own keys are for."""
    from ..systemone import client

    where = client.address(base)
    if where.secure and any(where.host.endswith(end) for end in dialect.OWN_HOSTS):
        return True
    own = _own_base(dialect, settings, env)
    return own != "" and same_origin(base, own)


def _base(
    dialect: Dialect, configured: str, settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool
) -> tuple[str, str]:
    """(base URL, a note when the environment's was left aside).

    In the hook the config's own base wins over any in the environment; at a prompt a loopback one overrides it.
    """
    from ..systemone import client

    configured = configured.rstrip("/")
    fallback = configured or _own_base(dialect, settings, env)
    for variable in dialect.BASE_VARS:
        named = env.get(variable, "").rstrip("/")
        if named and "://" not in named:  # OLLAMA_HOST and DATABRICKS_HOST are commonly bare
            named = ("http://" if dialect.LOCAL else "https://") + named
        if not named or named == fallback:
            continue
        try:
            where = client.address(named)
        except ValueError as wrong:
            return fallback, f"{variable} is ignored: {wrong}"
        if configured and (in_hook or not where.loopback):
            return fallback, f"{variable} is ignored: the config names its own base_url"
        if where.loopback or not in_hook or _belongs(dialect, named, settings, env):
            return named, ""
        reason = "a repository can set a host's environment, so a base must be named in the user's config to count"
        return fallback, f"{variable} is ignored: {reason}"
    return fallback, ""


def _model(dialect: Dialect, settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool) -> str:
    configured = _string(settings, "model")
    override = env.get("JEV_MODEL", "")
    # In the hook the environment may be a repository's doing; at a prompt the person's own override wins.
    names = [configured, override] if in_hook else [override, configured]
    if dialect.NAME == "typesafe":
        names.append(env.get("TYPESAFE_DEFAULT_MODEL", ""))
    for name in [*names, dialect.DEFAULT_MODEL]:
        if name:
            return check_model(name)
    raise _Refused(f"{dialect.NAME} needs a model: set model in [judge]")


def same_origin(one: str, other: str) -> bool:
    """Whether two base URLs reach the same scheme, host and port.  Raises ValueError for one that is no base URL."""
    from ..systemone import client

    a, b = client.address(one), client.address(other)
    return (a.secure, a.host, a.port) == (b.secure, b.host, b.port)


def check_model(name: str) -> str:
    """``name`` itself.  Raises ValueError when it can't be a model's name."""
    if "://" in name or not name.isprintable() or any(letter.isspace() for letter in name) or len(name) > 200:
        raise ValueError("model: not a model's name")
    return name


def check_key(key: str, variable: str) -> None:
    """Raises ValueError naming ``variable`` when ``key`` is a placeholder or can't be a header's value."""
    low = key.lower()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError(f"{variable} holds a key with spaces or special characters")
    if (
        not key
        or "<" in key
        or ">" in key
        or any(mark in low for mark in ("your-", "your_", "changeme", "replace"))
        or low.startswith("todo")
        or low.endswith("todo")
        or low in ("xxx", "sk-xxx")
    ):
        raise ValueError(f"{variable} holds a placeholder, not a key")


def _string(settings: Mapping[str, Any], name: str) -> str:
    value = settings.get(name, "")
    if not isinstance(value, str):
        raise _Refused(f"[judge] {name} must be a text")
    return value.strip()


def _number(settings: Mapping[str, Any], name: str) -> int:
    value = settings.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _Refused(f"[judge] {name} must be a whole number above 0")
    return value


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
