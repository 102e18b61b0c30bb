"""Judges: whoever answers questions.  ``choose`` picks one and says why.

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
    ``usage``       ``{"input_tokens", "output_tokens"}`` as far as known
    ``error``       the JudgeError (``kind``, ``status``, ``message``) when there was no usable reply, else None
    """

    __slots__ = ("answers", "error", "judge", "latency_ms", "model", "provider", "usage", "warnings")

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


_OWN_WORD = ("user", "managed")  # whose [judge] table may name a provider, a base and a key


def choose(settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool) -> tuple[Judge | None, str]:
    """(judge, why): the judge to ask, or None, and one sentence for the ledger and the doctor.

    ``settings`` is the policy's ``[judge]`` table: ``provider`` ("none", "embedded", "mock", a dialect's name, or
    absent: find one), ``base_url``, ``model``, ``api_key_env``, ``consent``, ``mock`` (the script's path) and
    ``settings_origin`` ("user", "managed", or who else wrote it).  A table from elsewhere may only say "none" or
    "embedded" when it is the shipped one, and nothing at all when it is a project's.  Never raises.
    """
    try:
        return _choose(settings, env, in_hook)
    except (_Refused, ValueError) as why:
        return None, str(why)


class _Refused(Exception):
    """Why there is no judge."""


def _choose(settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool) -> tuple[Judge | None, str]:
    origin = settings.get("settings_origin", "")
    trusted = origin in _OWN_WORD
    provider = _string(settings, "provider")
    if not trusted:
        if origin == "project" or provider not in ("none", "embedded"):
            provider = ""
        settings = {}
    if provider == "none":
        return None, "the policy says provider = none"
    if provider == "embedded":
        from .embedded import EmbeddedJudge

        return EmbeddedJudge(), "the policy says provider = embedded"
    if provider == "mock":
        from .mock import MockJudge

        path = _string(settings, "mock") or env.get("JEVHOOK_MOCK", "")
        if not path:
            raise _Refused("provider = mock needs a script: set mock in [judge], or JEVHOOK_MOCK")
        return MockJudge(path), "the policy says provider = mock"
    if provider not in ("", "auto"):
        return _remote(provider, settings, env, in_hook, f"the {origin} config names {provider}")
    return _found(settings, env, in_hook, trusted and settings.get("consent") is True)


def _found(settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool, consent: bool) -> tuple[Judge, str]:
    """The judge when nobody named one: the skill record, then a key in the environment, then the embedded one."""
    from ..systemone import dialects
    from .record import read_record

    record, why_not = read_record(env, in_hook)
    if record is not None:
        return _from_record(record)

    names = list(dialects.MODULES) if consent or not in_hook else ["typesafe"]
    named_key = _string(settings, "api_key_env")
    for name in names:
        dialect = dialects.load(name)
        if dialect.LOCAL:
            continue  # nothing says that it runs: it has to be named
        for variable in dialect.KEY_VARS:
            if env.get(variable) or (named_key and name == "typesafe" and env.get(named_key)):
                judge, why = _remote(name, settings, env, in_hook, f"{named_key or variable} is set")
                return judge, _joined(why, why_not)
    from .embedded import EmbeddedJudge

    return EmbeddedJudge(), _joined("no provider is configured and no TYPESAFE_API_KEY is set: rules only", why_not)


def _from_record(record: Record) -> tuple[Judge, str]:
    from ..systemone import client, dialects
    from .remote import RemoteJudge

    judge = RemoteJudge(
        dialects.load("typesafe"),
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
    )
    return judge, f"the private skill record names {record.name}; {client.address(record.url).netloc}"


def _remote(
    provider: str, settings: Mapping[str, Any], env: Mapping[str, str], in_hook: bool, why: str
) -> tuple[Judge, str]:
    """The remote judge for a provider somebody stands behind.  ``settings`` is the user's or managed table, or {}."""
    from ..systemone import client, dialects
    from .remote import RemoteJudge

    dialect = dialects.load(provider)
    configured = _string(settings, "base_url").rstrip("/")
    base, note = _base(dialect, configured, env, in_hook)
    if not base:
        raise _Refused(f"{provider} has no address of its own: set base_url in [judge]")
    where = client.address(base)
    named = _string(settings, "api_key_env")
    if named and not configured:
        _not_for_another(named, provider)
    variable = named or next((name for name in dialect.KEY_VARS if env.get(name)), "")
    key = env.get(variable, "") if variable else ""
    wanted = variable or (dialect.KEY_VARS[0] if dialect.KEY_VARS else "")
    if key:
        check_key(key, variable)
        own = base == configured or (dialect.DEFAULT_BASE != "" and same_origin(base, dialect.DEFAULT_BASE))
        if not (own or where.loopback):
            note = _joined(note, f"{variable} is not sent to {where.netloc}: name it as base_url in the user's config")
            key = ""
    if not key and not where.loopback and not dialect.LOCAL:
        raise _Refused(_joined(note, f"{provider} needs a key: {wanted} is not set or may not be sent there"))
    judge = RemoteJudge(dialect, base, _model(dialect, settings, env, in_hook), key=key, key_var=wanted)
    return judge, _joined(f"{why}; {where.netloc}", note)


def _not_for_another(variable: str, provider: str) -> None:
    from ..systemone import dialects

    for other in dialects.MODULES:
        if other != provider and variable in dialects.load(other).KEY_VARS:
            raise _Refused(f"{variable} is {other}'s key and is not sent to {provider}; set base_url if you mean it")


def _base(dialect: Dialect, configured: str, env: Mapping[str, str], in_hook: bool) -> tuple[str, str]:
    """(base URL, a note when the environment's was left aside).

    In the hook the config's own base wins over any in the environment; at a prompt a loopback one overrides it.
    """
    from ..systemone import client

    fallback = configured or dialect.DEFAULT_BASE
    for variable in dialect.BASE_VARS:
        named = env.get(variable, "").rstrip("/")
        if not named or named == fallback:
            continue
        try:
            where = client.address(named)
        except ValueError as wrong:
            return fallback, f"{variable} is ignored: {wrong}"
        if configured and (in_hook or not where.loopback):
            return fallback, f"{variable} is ignored: the config names its own base_url"
        if where.loopback or (dialect.DEFAULT_BASE and same_origin(named, dialect.DEFAULT_BASE)) or not in_hook:
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


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
