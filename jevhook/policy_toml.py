"""Reading and compiling the layers of a policy.  Imported only when there is no valid cache.

The form of a file and the meaning of the layers: ``policy.py``.  A *partial* here is what one file sets, validated:
only the keys that are there, points and names flattened to dotted ones, paths made absolute.
"""

from __future__ import annotations

import datetime
import os
import re
import tomllib
import urllib.parse
from collections.abc import Callable, Iterable
from typing import Any

from . import config, jsonio
from . import policy as lane

Partial = dict[str, Any]

MAX_DEPTH = 64  # of tables and lists in a file
_FILE_LIMIT = 1024 * 1024
_PROJECT_LIMIT = 64 * 1024
_PROJECT_RULES = 64
_PROJECT_DEPTH = 8  # of tables in one rule
_PROJECT_PROBLEMS = 20
_PROJECT_DOTS = 64  # in one line: tomllib is quadratic in a key's parts, 60 KB of "x.x.x" took it 12 s
_KEPT_FILES = 64  # in the cache directory, before the oldest go

_DESTINATION = ("provider", "base_url", "model", "api_key_env", "account", "mock", "tiers", "tier", "routes")
_MANNER = ("consent", "environment_proxy", "max_questions")
_TIER = ("provider", "base_url", "model", "api_key_env", "account", "mock", "max_questions", "trust", "no", "yes")
_NAME = r"[a-z0-9][a-z0-9_.-]{0,39}"
_MOST_TIERS = 8
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PROJECT_REASONS = {
    "ask": "the project's own policy asks for a look at this",
    "deny": "the project's own policy forbids this",
}
# A project's words never reach the model or the person: these say something, the rest of a rule only matches.
_WORDS = frozenset({"reason", "suggestion", "suggestions", "title", "description", "comment", "note", "docs", "url"})


# One file.


class _Reader:
    """Collects what is wrong in one file, each as "file: key: found …, allowed: …"."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.errors: list[str] = []

    def wrong(self, key: str, found: object, allowed: str) -> None:
        self.errors.append(f"{self.path}: {key}: found {lane.shown(found)}, allowed: {allowed}")

    def hidden(self, key: str, allowed: str) -> None:
        """As ``wrong`` for a value that may be a secret."""
        self.errors.append(f"{self.path}: {key}: found a value that is not shown here, allowed: {allowed}")

    def unknown(self, key: str, allowed: Iterable[str]) -> None:
        self.errors.append(f"{self.path}: {key}: found a key that is not known, allowed: {', '.join(allowed)}")

    def one_of(self, key: str, value: object, allowed: tuple[str, ...]) -> Any:
        if isinstance(value, str) and value in allowed:
            return value
        self.wrong(key, value, ", ".join(allowed))
        return None

    def number(self, key: str, value: object, low: float, high: float, unit: str = "") -> Any:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        self.wrong(key, value, f"a number from {low:g} to {high:g}{unit}")
        return None

    def whole(self, key: str, value: object, low: int, high: int) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self.wrong(key, value, f"a whole number from {low} to {high}")
        return None

    def flag(self, key: str, value: object) -> Any:
        if isinstance(value, bool):
            return value
        self.wrong(key, value, "true or false")
        return None

    def text(self, key: str, value: object, pattern: str, allowed: str) -> Any:
        if isinstance(value, str) and re.fullmatch(pattern, value):
            return value
        self.wrong(key, value, allowed)
        return None

    def table(self, key: str, value: object) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        self.wrong(key, value, "a table")
        return {}

    def flat(self, key: str, value: object) -> dict[str, Any]:
        """A table whose dotted keys TOML may have nested: ``tool.risk = 1`` and ``"tool.risk" = 1`` are the same."""
        flat: dict[str, Any] = {}

        def walk(prefix: str, table: dict[str, Any]) -> None:
            for name, inner in table.items():
                whole = f"{prefix}{name}"
                if isinstance(inner, dict):
                    walk(f"{whole}.", inner)
                elif whole in flat:
                    self.wrong(f"{key}.{_key(whole)}", "a second value", "one value")
                else:
                    flat[whole] = inner

        walk("", self.table(key, value))
        return flat

    def tables(self, key: str, value: object) -> list[dict[str, Any]]:
        if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
            return value
        self.wrong(key, value, f"tables written as [[{key}]]")
        return []


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", name) else lane.shown(name)


def _modes(reader: _Reader, value: object) -> Partial:
    return _by_point(reader, "modes", value, lane.MODES)


def _by_point(reader: _Reader, table: str, value: object, allowed: tuple[str, ...]) -> Partial:
    made = {}
    for point, told in reader.flat(table, value).items():
        if point != "default" and point not in lane.POINTS:
            reader.unknown(f"{table}.{_key(point)}", ("default", *lane.POINTS))
        else:
            made[point] = reader.one_of(f"{table}.{point}", told, allowed)
    return made


def _rule_modes(reader: _Reader, value: object) -> Partial:
    flat = reader.flat("rule_modes", value)
    return {rule: reader.one_of(f"rule_modes.{_key(rule)}", told, lane.MODES) for rule, told in flat.items()}


def _thresholds(reader: _Reader, value: object) -> Partial:
    flat = reader.flat("thresholds", value)
    return {name: reader.number(f"thresholds.{_key(name)}", told, 0, 9) for name, told in flat.items()}


def _leave(reader: _Reader, value: object) -> Partial:
    made: Partial = {}
    for point, told in reader.flat("leave", value).items():
        if point not in lane.AFTER:
            reader.unknown(f"leave.{_key(point)}", lane.AFTER)
        elif (
            isinstance(told, list)
            and len(told) <= 200
            and all(isinstance(tool, str) and re.fullmatch(r"[A-Za-z0-9_.*-]{1,120}", tool) for tool in told)
        ):
            made[point] = told
        else:
            reader.wrong(f"leave.{point}", told, 'an array of tool names, with * for any characters: ["mcp__wiki__*"]')
    return made


def _ask_fallback(reader: _Reader, value: object) -> Partial:
    made = {}
    for severity, told in reader.table("ask_fallback", value).items():
        if severity in ("high", "medium", "low"):
            made[severity] = reader.one_of(f"ask_fallback.{severity}", told, ("deny", "context", "note"))
        else:
            reader.unknown(f"ask_fallback.{_key(severity)}", ("high", "medium", "low"))
    return made


def _judge(reader: _Reader, value: object) -> Partial:
    made: Partial = {}
    for name, told in reader.table("judge", value).items():
        key = f"judge.{_key(name)}"
        if name in ("consent", "environment_proxy"):
            made[name] = reader.flag(key, told)
        elif name == "egress":
            made[name] = reader.one_of(key, told, lane.EGRESS)
        elif name == "when":
            made[name] = reader.one_of(key, told, ("never", "ask", "always"))
        elif name == "deadline":
            made[name] = reader.number(key, told, 0.1, 30, " (seconds)")
        elif name == "tiers":
            made[name] = _tier_names(reader, key, told)
        elif name == "tier":
            made[name] = {}
            for tier, table in reader.table(key, told).items():
                if reader.text(f"{key}.{_key(tier)}", tier, _NAME, "a tier's name: small letters, digits, . _ -"):
                    made[name][tier] = _tier(reader, f"{key}.{tier}", table)
        elif not _place(reader, made, key, name, told):
            known = [each for each in _DESTINATION if each != "routes"]
            reader.unknown(key, (*known, *_MANNER, "egress", "when", "deadline"))
    if made.get("tiers") and made.get("provider") is not None:
        reader.errors.append(f"{reader.path}: judge: found both provider and tiers, allowed: one of the two")
    return made


def _place(reader: _Reader, made: Partial, key: str, name: str, told: object) -> bool:
    """Read what says where one judge is and what it is asked; whether ``name`` is such a key."""
    if name == "provider":
        made[name] = reader.text(key, told, _NAME, "auto, none, embedded, mock, or a provider's name")
    elif name == "base_url":
        made[name] = _base_url(reader, key, told)
    elif name == "model":
        made[name] = reader.text(key, told, r"(?!.*://)[^\s\x00-\x1f\x7f]{1,200}", "a model's name without spaces")
    elif name == "api_key_env":
        # Not echoed: the usual mistake is to put the key itself here.
        if isinstance(told, str) and re.fullmatch(r"[A-Z_][A-Z0-9_]{0,99}", told):
            made[name] = told
        else:
            reader.hidden(key, "the name of an environment variable in capitals (never the key itself)")
    elif name == "account":
        made[name] = reader.text(
            key, told, r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9.-]{0,252}", "an account's id, or a workspace's host name"
        )
    elif name == "mock":
        made[name] = reader.text(key, told, r"(/|~/|[A-Za-z]:[\\/])[^\x00]+", "a path from / or ~/")
    elif name == "max_questions":
        made[name] = reader.whole(key, told, 1, 400)
    else:
        return False
    return True


def _tier(reader: _Reader, key: str, value: object) -> Partial:
    made: Partial = {}
    for name, told in reader.table(key, value).items():
        inner = f"{key}.{_key(name)}"
        if name in ("no", "yes", "min_choice"):
            made[name] = reader.number(inner, told, 0, 1)
        elif name == "trust":
            allowed = ("classify", "relate", "rate", "meta")
            if isinstance(told, list) and all(isinstance(entry, str) and entry in allowed for entry in told):
                made[name] = told
            else:
                reader.wrong(inner, told, f"an array of {', '.join(allowed)}")
        elif not _place(reader, made, inner, name, told):
            reader.unknown(inner, (*_TIER, "min_choice"))
    no, yes = made.get("no", 0.2), made.get("yes", 0.8)
    if no is not None and yes is not None and no > yes:
        reader.errors.append(f"{reader.path}: {key}: found no = {no:g} above yes = {yes:g}, allowed: no below yes")
    return made


def _tier_names(reader: _Reader, key: str, value: object) -> Any:
    good = (
        isinstance(value, list)
        and 0 < len(value) <= _MOST_TIERS
        and all(isinstance(entry, str) and re.fullmatch(_NAME, entry) for entry in value)
        and len(set(value)) == len(value)
    )
    if good:
        return value
    reader.wrong(key, value, f"1 to {_MOST_TIERS} different names of providers or of tables [judge.tier.NAME]")
    return None


def _routes(reader: _Reader, value: object) -> Partial:
    made: Partial = {}
    for point, told in reader.flat("routes", value).items():
        if point in lane.POINTS:
            made[point] = _tier_names(reader, f"routes.{point}", told)
        else:
            reader.unknown(f"routes.{_key(point)}", lane.POINTS)
    return made


def _base_url(reader: _Reader, key: str, told: object) -> Any:
    allowed = "an https URL (http on loopback) without a user, query or fragment"
    if not isinstance(told, str):
        reader.wrong(key, told, allowed)
        return None
    try:
        parts = urllib.parse.urlsplit(told)
        good = (
            bool(parts.hostname)
            and not re.search(r"[\s\x00-\x1f\x7f\\]", told)
            and "@" not in parts.netloc
            and "?" not in told
            and "#" not in told
            and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK))
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        good = False
    if not good:
        reader.hidden(key, allowed)
        return None
    return told


def _ledger(reader: _Reader, value: object) -> Partial:
    made: Partial = {}
    for name, told in reader.table("ledger", value).items():
        key = f"ledger.{_key(name)}"
        if name == "path":
            made[name] = reader.text(key, told, r"(/|~/|[A-Za-z]:[\\/])[^\x00]+", "a path from / or ~/")
        elif name == "record_state":
            made[name] = reader.flag(key, told)
        elif name == "max_bytes":
            made[name] = reader.whole(key, told, 65536, 1 << 30)
        elif name == "generations":
            made[name] = reader.whole(key, told, 0, 100)
        else:
            reader.unknown(key, ("path", "record_state", "max_bytes", "generations"))
    return made


_PROMOTION = ("events", "labels", "agreement", "false_alarms", "recall", "brier", "scorecards")


def _promotion(reader: _Reader, value: object) -> Partial:
    made: Partial = {}
    for name, told in reader.table("promotion", value).items():
        key = f"promotion.{_key(name)}"
        if name in ("events", "labels"):
            made[name] = reader.whole(key, told, 0, 1_000_000)
        elif name == "scorecards":
            made[name] = reader.whole(key, told, 0, 20)
        elif name in _PROMOTION:
            made[name] = reader.number(key, told, 0, 1)
        else:
            reader.unknown(key, _PROMOTION)
    return made


def _packs(reader: _Reader, value: object, here: str, home: str) -> Partial:
    made: Partial = {}
    for name, told in reader.table("rules", value).items():
        key = f"rules.{_key(name)}"
        if name not in ("packs", "extra"):
            reader.unknown(key, ("packs", "extra"))
        elif not (isinstance(told, list) and all(isinstance(entry, str) and entry for entry in told)):
            reader.wrong(key, told, "an array of strings")
        elif name == "packs":
            made["packs"] = told
        else:
            made["extra"] = [_absolute(entry, here, home) for entry in told]
    return made


def _absolute(path: str, here: str, home: str) -> str:
    if path.startswith("~/"):
        return home + path[1:]
    return os.path.normpath(os.path.join(here, path))


def _rules(reader: _Reader, value: object) -> list[dict[str, Any]]:
    made = []
    for number, rule in enumerate(reader.tables("rule", value), 1):
        key = f"rule {number}"
        before = len(reader.errors)
        if reader.text(f"{key}.id", rule.get("id"), r"\S{1,100}", "a text without spaces"):
            key = f"rule {_key(rule['id'])}"
        if "severity" in rule:
            reader.one_of(f"{key}.severity", rule["severity"], lane.SEVERITIES)
        try:
            jsonio.dumps(rule)
        except ValueError:
            reader.errors.append(
                f"{reader.path}: {key}: found a date, or a number that is none, allowed: text, numbers"
            )
        if len(reader.errors) == before:
            made.append(rule)
    return made


def _exceptions(reader: _Reader, value: object) -> list[dict[str, Any]]:
    made = []
    for number, entry in enumerate(reader.tables("exception", value), 1):
        named = entry.get("id")
        key = f"exception {_key(named)}" if isinstance(named, str) and named else f"exception {number}"
        before = len(reader.errors)
        for name in entry:
            if name not in ("id", "rule", "command", "path", "comment", "expires"):
                reader.unknown(f"{key}.{_key(name)}", ("id", "rule", "command", "path", "comment", "expires"))
        for name in ("id", "rule"):
            reader.text(f"{key}.{name}", entry.get(name, ""), r"\S{1,100}", "a text without spaces")
        for name in ("command", "path", "comment"):
            if name in entry:
                reader.text(f"{key}.{name}", entry[name], r"(?s).{1,4000}", "a text of at most 4000 characters")
        if ("command" in entry) == ("path" in entry):
            found = "both" if "command" in entry else "neither"
            reader.errors.append(f"{reader.path}: {key}: found {found} command and path, allowed: one of the two")
        expires = _day(reader, f"{key}.expires", entry["expires"]) if "expires" in entry else ""
        if len(reader.errors) == before:
            made.append({"comment": "", **entry, "expires": expires})
    return made


def _day(reader: _Reader, key: str, told: object) -> Any:
    if isinstance(told, datetime.date) and not isinstance(told, datetime.datetime):
        return told.isoformat()
    if isinstance(told, str):
        try:
            return datetime.date.fromisoformat(told).isoformat()
        except ValueError:
            pass
    reader.wrong(key, told, "a day such as 2027-01-31")
    return None


def validate(document: dict[str, Any], path: str, *, home: str = "", may_choose: bool = False) -> Partial:
    """The partial that ``document`` (TOML read from ``path``) says.  Raises ConfigError with every mistake in it.

    ``may_choose``: whether the file may name the policy it builds on (config.toml and the managed file).
    """
    reader = _Reader(path)
    here = os.path.dirname(path)
    made: Partial = {}
    readers: dict[str, Callable[[_Reader, object], Any]] = {
        "name": lambda r, v: r.text("name", v, r"[A-Za-z0-9][A-Za-z0-9_. -]{0,59}", "a short name"),
        "policy": lambda r, v: r.text("policy", v, r"[^\x00]{1,4000}", "a shipped policy's name, or a file"),
        "allow": lambda r, v: r.one_of("allow", v, ("silent", "grant")),
        "watchdog": lambda r, v: r.number("watchdog", v, 1, 60, " (seconds)"),
        "permit_minutes": lambda r, v: r.number("permit_minutes", v, 0, 1440),
        "allow_env_off": lambda r, v: r.flag("allow_env_off", v),
        "modes": _modes,
        "rule_modes": _rule_modes,
        "thresholds": _thresholds,
        "leave": _leave,
        "ask_fallback": _ask_fallback,
        "on_failure": lambda r, v: _by_point(r, "on_failure", v, lane.FAILURES),
        "judge": _judge,
        "routes": _routes,
        "ledger": _ledger,
        "promotion": _promotion,
        "rules": lambda r, v: _packs(r, v, here, home),
        "rule": _rules,
        "exception": _exceptions,
    }
    if not may_choose:
        del readers["policy"]
    for key, value in document.items():
        if key in readers:
            made[key] = readers[key](reader, value)
        else:
            reader.unknown(_key(key), readers)
    if reader.errors:
        raise config.ConfigError(reader.errors)
    if "routes" in made:  # kept with the tiers that they name
        made["judge"] = {**made.get("judge", {}), "routes": made.pop("routes")}
    for name, value in made.pop("rules", {}).items():
        made[name] = value
    if "policy" in made:
        made["policy"] = _choice(made["policy"], here, home)
    return made


def validate_promoted(document: dict[str, Any], path: str) -> Partial:
    """As ``validate`` for ``promoted.toml``: modes, the modes of rules and questions, thresholds, and the evidence."""
    reader = _Reader(path)
    readers = {"modes": _modes, "rule_modes": _rule_modes, "thresholds": _thresholds}
    made: Partial = {}
    for key, value in document.items():
        if key in readers:
            made[key] = readers[key](reader, value)
        elif key == "evidence":
            reader.tables(key, value)  # for people, and for the command that wrote it
        else:
            reader.unknown(_key(key), (*readers, "evidence"))
    for table in ("modes", "rule_modes"):
        for name, mode in made.get(table, {}).items():
            if mode == "off" or name == "default":
                reader.wrong(f"{table}.{_key(name)}", mode, "shadow or active, for one point, rule or question")
    if reader.errors:
        raise config.ConfigError(reader.errors)
    return made


def _choice(choice: str, here: str, home: str) -> str:
    """``policy = …`` as a shipped name or an absolute path."""
    if "/" in choice or os.sep in choice or choice.endswith(".toml"):
        return _absolute(choice, here, home)
    return choice


def parse(data: bytes, path: str) -> dict[str, Any]:
    """The TOML document in ``data``.  Raises ConfigError that names ``path``."""
    deep = f"{path}: found TOML nested too deeply, allowed: a few levels"
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as wrong:
        raise config.ConfigError(f"{path}: found a byte that is not UTF-8 at {wrong.start}, allowed: TOML") from None
    except ValueError as wrong:  # TOMLDecodeError, and what int() says about a number of thousands of digits
        raise config.ConfigError(f"{path}: found text that is not TOML: {wrong}") from None
    except RecursionError:
        raise config.ConfigError(deep) from None
    if _too_deep(document):
        raise config.ConfigError(deep)
    return document


def _too_deep(document: dict[str, Any]) -> bool:
    """Whether a value stands deeper than MAX_DEPTH: counted, because the stack's own end moves with the process."""
    level: list[object] = [document]
    for _ in range(MAX_DEPTH):
        above, level = level, []
        for value in above:
            level += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if not level:
            return False
    return True


# All files of one compilation.


class _Sources:
    """Reads files and remembers the stat of each, present or absent: what the cache's validity hangs on."""

    def __init__(self, cache: str, home: str, strict: bool) -> None:
        self.cache = cache
        self.home = home
        self.strict = strict
        self.seen: dict[str, list[Any]] = {}
        self.problems: list[str] = []

    def note(self, path: str) -> bool:
        """Remember ``path`` as it is now; whether it is there."""
        try:
            self.seen[path] = [path, *lane.stamp(os.stat(path))]
        except (OSError, ValueError):
            self.seen[path] = [path]
        return len(self.seen[path]) > 1

    def read(
        self, path: str, limit: int = _FILE_LIMIT, *, guarded: bool, follow: bool = True, dots: int = 0
    ) -> dict[str, Any] | None:
        """The TOML at ``path``, None when there is none.  Raises ConfigError.

        ``guarded``: refuse a file that strangers could have written; ``dots``: how many a line may have.
        """
        self.note(path)
        try:
            data, facts = config.read_bounded(path, limit, follow=follow)
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            return None
        except (OSError, ValueError) as wrong:
            raise config.ConfigError(f"{path}: cannot be read: {getattr(wrong, 'strerror', None) or wrong}") from None
        self.seen[path] = [path, *lane.stamp(facts)]
        if guarded:
            _refuse_strangers(path, facts)
        if dots and any(line.count(b".") > dots for line in data.splitlines()):
            raise config.ConfigError(f"{path}: found a line with more than {dots} full stops, allowed: shorter keys")
        return parse(data, path)

    def layer(
        self, path: str, *, may_choose: bool = False, guarded: bool = True, promoted: bool = False
    ) -> Partial | None:
        """What the file at ``path`` sets; its last valid state when it is broken now; None when there is neither."""
        if not path:
            return None
        try:
            document = self.read(path, guarded=guarded)
            if document is None:
                return None
            if promoted:
                made = validate_promoted(document, path)
            else:
                made = validate(document, path, home=self.home, may_choose=may_choose)
        except Exception as found:
            unforeseen = f"{path}: cannot be used: {type(found).__name__}"
            wrong = found if isinstance(found, config.ConfigError) else config.ConfigError(unforeseen)
            if self.strict:
                raise wrong from None
            self.problems += wrong.problems
            kept = self._last(path)
            told = "its last valid state is used" if kept is not None else "the layer is left out"
            self.problems.append(f"{path}: broken, so {told}")
            return kept
        self._keep(path, made)
        return made

    def _place(self, path: str) -> str:
        from hashlib import blake2b

        return os.path.join(self.cache, f"last-{blake2b(os.fsencode(path), digest_size=8).hexdigest()}.json")

    def _last(self, path: str) -> Partial | None:
        if not self.cache:
            return None
        kept = lane.read_cached(self._place(path), _FILE_LIMIT * 2)
        if isinstance(kept, dict) and kept.get("format") == lane.FORMAT and kept.get("path") == path:
            return kept["layer"] if isinstance(kept.get("layer"), dict) else None
        return None

    def _keep(self, path: str, made: Partial) -> None:
        if self.cache and made != self._last(path):
            value = {"format": lane.FORMAT, "path": path, "layer": made}
            _store(self.cache, self._place(path), lambda: jsonio.dumps(value).encode("ascii"))


def _refuse_strangers(path: str, facts: os.stat_result) -> None:
    # Group-writable is let through: a umask of 002 with a group of one's own is a distribution's default.
    owner = getattr(os, "geteuid", None)
    if owner is None:
        return
    if facts.st_mode & 0o002:
        raise config.ConfigError(f"{path}: found a file that everybody may write, allowed: one that only you may")
    if owner() != 0 and facts.st_uid not in (0, owner()):
        raise config.ConfigError(f"{path}: found a file of user {facts.st_uid}, allowed: one of yours or root's")


def compile_policy(
    recipe: list[str], cache: str, home: str, *, strict: bool, written: list[dict[str, Any]] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The cache's head and the compiled rules for these layers, written to ``cache`` when that can be done.

    ``recipe``: format, version, directory of the shipped policies, then the paths of the managed and the user's file,
    the chosen policy (name or path), a shipped policy to tighten by, and the project's file; "" for none.
    ``written``: gets every rule as it is written, its examples included.  Raises ConfigError when ``strict`` and a layer
    is wrong.
    """
    _, _, shipped, managed_path, user_path, choice, tighten, project_path = recipe
    sources = _Sources(cache, home, strict)
    for code in ("rules.py", "policy_toml.py"):  # what compiles is as much a source as what is compiled
        sources.note(os.path.join(os.path.dirname(os.path.abspath(__file__)), code))
    problems = sources.problems
    layers: list[list[str]] = []

    managed = sources.layer(managed_path, may_choose=True)
    if managed is not None:
        layers.append(["managed", managed_path])
        base, base_path = _base(sources, shipped, managed.pop("policy", ""), f"{managed_path}: policy")
        if base is not None:
            layers.append(["managed", base_path])
            managed = over(managed, base)
    _stamp_layer(managed, "managed", managed_path)

    user = sources.layer(user_path, may_choose=True)
    if user is not None:
        layers.append(["user", user_path])
    folder, name = os.path.split(user_path)
    promoted_path = os.path.join(folder, lane.PROMOTED_FILE) if name == "config.toml" else ""
    promoted = sources.layer(promoted_path, promoted=True)
    if promoted is not None:
        layers.append(["promoted", promoted_path])
    own_choice = (user or {}).pop("policy", "")
    base, base_path = _base(sources, shipped, choice, "--policy")
    if base is None:
        base, base_path = _base(sources, shipped, own_choice, f"{user_path}: policy")
    if base is not None:
        layers.append(["policy", base_path])

    bottom_path = os.path.join(shipped, "default.toml")
    bottom = sources.layer(bottom_path, guarded=False)
    if bottom is None:
        problems.append(f"{bottom_path}: missing or broken, the built-in default is used")
    else:
        layers.append(["shipped", bottom_path])
    _stamp_layer(bottom, "shipped", bottom_path)
    lower = over(bottom, lane.builtin()) if bottom else lane.builtin()

    if promoted is not None:
        base = _promoted(promoted, base or {}, lower)
    if base is not None:
        user = over(user, base) if user is not None else base
    _stamp_layer(user, "user", user_path)

    raw, exceptions, protected = _gather(sources, shipped, managed or {}, user or {}, lower)
    merged = _lock(managed or {}, user or {}, lower, protected, problems)
    merged["judge"]["settings_origin"] = _origin(managed or {}, user or {})

    if tighten:
        stricter, _ = _base(sources, shipped, tighten, "JEVHOOK_POLICY")
        if stricter is not None:
            layers.append(["environment", os.path.join(shipped, f"{tighten}.toml")])
            _tighten(merged, stricter)
    if project_path:
        layers.append(["project", project_path])
        told: list[str] = []
        try:
            raw += _project(sources, project_path, merged, told)
        except Exception as wrong:  # whatever a hostile file manages to break, the layers above it stand
            told.append(f"{project_path}: ignored: {type(wrong).__name__}")
        problems += told[:_PROJECT_PROBLEMS]

    _lint(raw, exceptions, merged, problems)
    if written is not None:
        written += raw
    compiled = _compiled(raw, problems)
    compiled["exceptions"] = exceptions
    merged["layers"] = layers
    merged["problems"] = problems
    values = {field: merged[field] for field in lane.FIELDS}
    stats = list(sources.seen.values())
    key = _digest(recipe, stats)
    head = {"recipe": recipe, "sources": stats, "key": key, "policy": values}
    if cache and not strict:
        kept = _store(cache, lane.cache_file(cache, recipe, "-rules"), lambda: lane.stored(compiled, key))
        kept = kept or _store(cache, lane.cache_file(cache, recipe), lambda: jsonio.dumps(head).encode("ascii"))
        if kept:
            problems.append(f"{cache}: no cache is kept there, so every hook compiles the policy: {kept}")
        else:
            _prune(cache)
    return head, compiled


def _base(sources: _Sources, shipped: str, choice: str, where: str) -> tuple[Partial | None, str]:
    """The policy file that ``choice`` (a shipped name or an absolute path) names, and its path."""
    if not choice:
        return None, ""
    named = not os.path.isabs(choice)
    path = os.path.join(shipped, f"{choice}.toml") if named else choice
    names = lane.toml_names(shipped)
    if not named or choice in names:
        made = sources.layer(path, guarded=not named)
        if made is not None or len(sources.seen[path]) > 1:
            return made, path
    allowed = f"{', '.join(names)}, or a file that is there"
    wrong = f"{where}: found {lane.shown(choice, 400)}, allowed: {allowed}"
    if sources.strict:
        raise config.ConfigError(wrong)
    sources.problems.append(wrong)
    return None, ""


def _stamp_layer(made: Partial | None, layer: str, path: str) -> None:
    if made is None:
        return
    for rule in made.get("rule", []):
        rule["layer"] = layer
        rule["pack"] = _stem(path)
    for entry in made.get("exception", []):
        entry["layer"] = layer


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


# Layers.


def over(strong: Partial, weak: Partial) -> Partial:
    """``strong`` laid over ``weak``, where the strong one may do anything (one authority, two files)."""
    made = {**weak, **strong}
    for table in ("rule_modes", "thresholds", "leave", "ask_fallback", "ledger", "promotion"):
        if table in strong and table in weak:
            made[table] = {**weak[table], **strong[table]}
    for table in ("modes", "on_failure"):
        if table in strong and table in weak and "default" not in strong[table]:
            made[table] = {**weak[table], **strong[table]}
    if "judge" in strong and "judge" in weak:
        below = dict(weak["judge"])
        if any(key in strong["judge"] for key in ("provider", "base_url", "tiers")):
            # A key or a model meant for another address never travels to a new one.
            below.update({key: lane.builtin()["judge"][key] for key in _DESTINATION if key in below})
        made["judge"] = {**below, **strong["judge"]}
    if "rule" in strong and "rule" in weak:
        named = {rule["id"] for rule in strong["rule"]}
        made["rule"] = strong["rule"] + [rule for rule in weak["rule"] if rule["id"] not in named]
    for table in ("exception", "extra"):
        if table in strong and table in weak:
            made[table] = strong[table] + [entry for entry in weak[table] if entry not in strong[table]]
    return made


def _promoted(promoted: Partial, base: Partial, lower: Partial) -> Partial:
    """``promoted`` laid over what the user's file builds on: a mode only where it is stricter than what stands there."""
    below = over(base, lower)
    stricter: Partial = {"thresholds": promoted.get("thresholds", {})}
    for table in ("modes", "rule_modes"):
        stands = {"default": "active", **below[table]}
        stricter[table] = {
            name: mode
            for name, mode in promoted.get(table, {}).items()
            if lane.MODES.index(mode) > lane.MODES.index(_said(stands, name) or "active")
        }
    return over({table: values for table, values in stricter.items() if values}, base)


def _looser(key: str, wish: str, floor: str) -> str:
    return f"{key}: the user's {wish} is looser than the managed {floor} and is ignored"


def _said(table: dict[str, str], key: str) -> str | None:
    return table.get(key, table.get("default"))


def _strictest(
    name: str, managed: Partial, user: Partial, lower: Partial, order: tuple[str, ...], problems: list[str]
) -> dict[str, str]:
    """One table of ordered words, where the user may only go up from what is managed."""
    above, own, below = managed.get(name, {}), user.get(name, {}), lower.get(name, {})
    keys = [*dict.fromkeys([*above, *own, *(below if "default" not in above and "default" not in own else {})])]
    made: dict[str, str] = {}
    for key in keys:
        floor, wish = _said(above, key), _said(own, key)
        if floor is None:
            made[key] = wish if wish is not None else below[key]
        elif wish is None or order.index(wish) >= order.index(floor):
            made[key] = wish or floor
        else:
            made[key] = floor
            problems.append(_looser(f"{name}.{_key(key)}", wish, floor))
    if name in ("modes", "on_failure") and "default" not in made:
        made["default"] = below.get("default", lane.builtin()[name]["default"])
    return made


def _lock(managed: Partial, user: Partial, lower: Partial, protected: set[str], problems: list[str]) -> dict[str, Any]:
    """The three layers as one: user over shipped, except that nothing managed is loosened."""
    merged = over(user, lower)
    for name, order in (
        ("modes", lane.MODES),
        ("on_failure", lane.FAILURES),
        ("ask_fallback", lane.FALLBACKS),
    ):
        merged[name] = _strictest(name, managed, user, lower, order, problems)

    floors = {**dict.fromkeys(protected, "active"), **managed.get("rule_modes", {})}
    rule_modes = {**lower["rule_modes"], **user.get("rule_modes", {})}
    for rule, floor in floors.items():
        wish = rule_modes.get(rule, floor)
        if lane.MODES.index(wish) < lane.MODES.index(floor):
            problems.append(_looser(f"rule_modes.{_key(rule)}", wish, floor))
            wish = floor
        if rule in rule_modes or rule in managed.get("rule_modes", {}):
            rule_modes[rule] = wish
    merged["rule_modes"] = rule_modes

    if "allow" in managed:
        merged["allow"] = "silent" if "silent" in (managed["allow"], user.get("allow")) else "grant"
        if user.get("allow") == "grant" and merged["allow"] == "silent":
            problems.append(_looser("allow", "grant", "silent"))
    for name in ("name", "watchdog", "permit_minutes", "allow_env_off"):
        if name in managed:
            merged[name] = managed[name]
    for name in ("thresholds", "leave", "ledger", "promotion"):
        for key, value in managed.get(name, {}).items():
            if user.get(name, {}).get(key, value) != value:
                problems.append(f"{name}.{_key(key)}: the user's value is ignored, a managed one stands")
            merged[name] = {**merged.get(name, {}), key: value}
    merged["judge"] = _locked_judge(managed.get("judge", {}), user.get("judge", {}), merged["judge"], problems)
    return merged


def _locked_judge(managed: Partial, user: Partial, merged: Partial, problems: list[str]) -> dict[str, Any]:
    made = {**lane.builtin()["judge"], **merged}
    if any(key in managed for key in _DESTINATION):
        # As one: a managed provider with the user's address would send the team's content elsewhere.
        for key in _DESTINATION:
            if user.get(key) not in (None, managed.get(key)):
                problems.append(f"judge.{key}: the user's value is ignored, the managed judge stands")
            made[key] = managed.get(key, lane.builtin()["judge"][key])
    for key in ("when", "deadline", "max_questions"):
        if key in managed:
            if user.get(key, managed[key]) != managed[key]:
                problems.append(f"judge.{key}: the user's value is ignored, a managed one stands")
            made[key] = managed[key]
    if "egress" in managed:
        wish = user["egress"] if "egress" in user else managed["egress"]
        made["egress"] = max(managed["egress"], wish, key=lane.EGRESS.index)
        if made["egress"] != wish:
            problems.append(_looser("judge.egress", wish, managed["egress"]))
    for key in ("consent", "environment_proxy"):
        if key in managed:
            made[key] = managed[key] and user.get(key, True)
            if user.get(key) and not managed[key]:
                problems.append(_looser(f"judge.{key}", "true", "false"))
    return made


def _origin(managed: Partial, user: Partial) -> str:
    """Whose word the judge's destination is; when nobody named one, whose word the consent is."""
    for keys in (_DESTINATION, _MANNER):
        for layer, partial in (("managed", managed), ("user", user)):
            if any(key in partial.get("judge", {}) for key in keys):
                return layer
    return "shipped"


def _tighten(merged: dict[str, Any], stricter: Partial) -> None:
    for name, order in (
        ("modes", lane.MODES),
        ("on_failure", lane.FAILURES),
        ("ask_fallback", lane.FALLBACKS),
    ):
        given = stricter.get(name, {})
        table = merged[name]
        made = {}
        for key in dict.fromkeys([*table, *given]):
            now, wish = _said(table, key), _said(given, key)
            both = [word for word in (now, wish) if word is not None]
            made[key] = max(both, key=order.index)
        merged[name] = made
    if stricter.get("allow") == "silent":
        merged["allow"] = "silent"


# Rules.


def _gather(
    sources: _Sources, shipped: str, managed: Partial, user: Partial, lower: Partial
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], set[str]]:
    """Every raw rule, strongest layer first, the exceptions that count, and the ids that the user can't loosen."""
    problems = sources.problems
    directory = os.path.join(shipped, "rules")
    sources.note(directory)
    there = lane.toml_names(directory)
    wanted = managed.get("packs", [])
    own: list[str] = user.get("packs", there)
    for layer, names in (("managed", wanted), ("user", user.get("packs", []))):
        for name in names:
            if name not in there:
                problems.append(f"{layer}: rules.packs: found {lane.shown(name)}, allowed: {', '.join(there)}")

    groups: list[tuple[str, list[dict[str, Any]]]] = [("managed", managed.get("rule", []))]
    for path in managed.get("extra", []):
        groups.append(("managed", _extra(sources, path, "managed")))
    for name in wanted:
        if name in there:
            groups.append(("managed", _pack(sources, os.path.join(directory, f"{name}.toml"), "managed", False)))
    groups.append(("user", user.get("rule", [])))
    for path in user.get("extra", []):
        groups.append(("user", _extra(sources, path, "user")))
    groups.append(("shipped", lower.get("rule", [])))
    for name in there:
        if name in own and name not in wanted:
            groups.append(("shipped", _pack(sources, os.path.join(directory, f"{name}.toml"), "shipped", False)))

    raw: list[dict[str, Any]] = []
    owner: dict[str, str] = {}
    for layer, rules in groups:
        for rule in rules:
            known = rule.get("id")
            taken = owner.get(known) if isinstance(known, str) else None
            if taken is not None and taken != layer:
                if taken == "managed" and layer == "user":
                    problems.append(f"rule {_key(str(known))}: a managed rule has this id, the user's is ignored")
                continue
            if isinstance(known, str):
                owner[known] = layer
            raw.append(rule)
    protected = {rule for rule, layer in owner.items() if layer == "managed"}

    exceptions = list(managed.get("exception", []))
    for entry in [*user.get("exception", []), *lower.get("exception", [])]:
        if entry["rule"] in protected:
            problems.append(f"exception {_key(entry['id'])}: rule {_key(entry['rule'])} is managed, so it is ignored")
        else:
            exceptions.append(entry)
    return raw, exceptions, protected


def _extra(sources: _Sources, path: str, layer: str) -> list[dict[str, Any]]:
    if os.path.isdir(path):
        sources.note(path)
        made = []
        for name in lane.toml_names(path):
            made += _pack(sources, os.path.join(path, f"{name}.toml"), layer, True)
        return made
    return _pack(sources, path, layer, True)


def _pack(sources: _Sources, path: str, layer: str, guarded: bool) -> list[dict[str, Any]]:
    try:
        document = sources.read(path, guarded=guarded)
        if document is None:
            raise config.ConfigError(f"{path}: there is no such rule pack")
        reader = _Reader(path)
        made = _rules(reader, document.get("rule", []))
        if reader.errors:
            raise config.ConfigError(reader.errors)
    except config.ConfigError as wrong:
        sources.problems += [f"{problem} (the pack is skipped)" for problem in wrong.problems]
        return []
    for rule in made:
        rule["pack"] = _stem(path)
        rule["layer"] = layer
    return made


def _project(sources: _Sources, path: str, merged: dict[str, Any], problems: list[str]) -> list[dict[str, Any]]:
    """The project's rules in our wording; its stricter modes go into ``merged``.  Nothing else of it counts."""
    try:
        document = sources.read(path, _PROJECT_LIMIT, guarded=False, follow=False, dots=_PROJECT_DOTS) or {}
    except config.ConfigError as wrong:
        problems += [f"{problem} (ignored)" for problem in wrong.problems]
        return []
    only = "ignored: a project may only add rules that ask or deny, and make modes stricter"
    problems += [f"{path}: {_key(key)}: {only}" for key in document if key not in ("rule", "modes")]

    reader = _Reader(path)
    for point, wish in _modes(reader, document.get("modes", {})).items():
        points = [*merged["modes"]] if point == "default" else [point]
        for name in points:
            now = _said(merged["modes"], name) or "active"
            if wish is None:
                continue
            if lane.MODES.index(wish) >= lane.MODES.index(now):
                merged["modes"][name] = wish
            else:
                problems.append(f"{path}: modes.{point}: {wish} is looser than {now} for {name}; {only}")

    made = []
    rules = reader.tables("rule", document.get("rule", []))
    if len(rules) > _PROJECT_RULES:
        problems.append(f"{path}: rule: found {len(rules)}, only the first {_PROJECT_RULES} count")
    for rule in rules[:_PROJECT_RULES]:
        named, severity = rule.get("id"), rule.get("severity")
        if not (isinstance(named, str) and re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,59}", named)):
            reader.wrong("rule.id", named if isinstance(named, str) else "", "lower-case letters, digits and . _ -")
        elif severity not in _PROJECT_REASONS:
            reader.wrong(f"rule {named}.severity", severity if severity is not None else "", "ask, deny")
        else:
            kept = {key: value for key, value in rule.items() if key not in _WORDS}
            if not _simple(kept, _PROJECT_DEPTH):
                problems.append(f"{path}: rule {named}: found a date, a huge number or too many levels (ignored)")
                continue
            # A name of its own: it must never replace a rule that somebody else wrote.
            kept["id"] = f"project.{named}"
            kept["reason"] = _PROJECT_REASONS[severity]
            kept["pack"] = kept["layer"] = "project"
            made.append(kept)
    problems += [f"{error} (ignored)" for error in reader.errors]
    return made


def _simple(value: object, levels: int) -> bool:
    if isinstance(value, dict):
        return levels > 0 and all(_simple(inner, levels - 1) for inner in value.values())
    if isinstance(value, list):
        return levels > 0 and all(_simple(inner, levels - 1) for inner in value)
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 63
    return isinstance(value, str) or (isinstance(value, float) and value - value == 0)


def _lint(
    raw: list[dict[str, Any]], exceptions: list[dict[str, Any]], merged: dict[str, Any], problems: list[str]
) -> None:
    ids = {rule.get("id") for rule in raw}
    for rule in merged["rule_modes"]:
        if rule not in ids and rule not in questions():
            problems.append(f"rule_modes.{_key(rule)}: no rule has this id")
    for entry in exceptions:
        if entry["rule"] not in ids:
            problems.append(f"exception {_key(entry['id'])}: rule {_key(entry['rule'])}: no rule has this id")


def questions() -> set[str]:
    """The questions that have a mode of their own, as ``[rule_modes]`` names them: ``tool.risk.asked`` and so on."""
    from .points import risk

    return {f"{risk.ID}.{name}" for name in risk.CAPABILITIES}


def _compiled(raw: list[dict[str, Any]], problems: list[str]) -> dict[str, Any]:
    try:
        from .rules import compile_rules
    except ImportError:
        return {"rules": {}}
    try:
        compiled, wrong = compile_rules(raw)
    except Exception as first:
        problems.append(f"rules: could not be compiled together: {type(first).__name__}: {first}")
        compiled, wrong = _compiled_apart(compile_rules, raw, problems)
    problems += wrong
    return dict(compiled)


def _compiled_apart(
    compile_rules: Callable[[list[dict[str, Any]]], tuple[dict[str, Any], list[str]]],
    raw: list[dict[str, Any]],
    problems: list[str],
) -> tuple[dict[str, Any], list[str]]:
    """One bad pack must not take the rest with it: leave out those that can't be compiled alone."""
    good: list[dict[str, Any]] = []
    for layer, pack in dict.fromkeys((rule["layer"], rule["pack"]) for rule in raw):
        part = [rule for rule in raw if (rule["layer"], rule["pack"]) == (layer, pack)]
        try:
            compile_rules(part)
        except Exception as wrong:
            problems.append(f"rules: {layer} pack {_key(pack)} is skipped: {type(wrong).__name__}: {wrong}")
        else:
            good += part
    for part in (good, [rule for rule in good if rule["layer"] == "shipped"]):
        try:
            return compile_rules(part)
        except Exception as wrong:
            problems.append(f"rules: could not be compiled: {type(wrong).__name__}: {wrong}")
    return {}, []


# The cache.


def _digest(recipe: list[str], stats: list[list[Any]]) -> str:
    from hashlib import blake2b

    return blake2b(jsonio.dumps([recipe, stats]).encode(), digest_size=16).hexdigest()


def _store(cache: str, path: str, made: Callable[[], bytes]) -> str:
    """Write one cache file; "" when done, else why not."""
    try:
        os.makedirs(cache, mode=0o700, exist_ok=True)
        if not lane.ours(os.stat(cache)):
            return "the directory belongs to somebody else, or others can write it"
        config.write_private(path, made())
    except (OSError, ValueError) as wrong:
        return str(getattr(wrong, "strerror", None) or wrong)
    return ""


def _prune(cache: str) -> None:
    """Projects with a policy of their own leave two files each: drop the oldest when there are many."""
    try:
        names = [name for name in os.listdir(cache) if name.startswith(("policy-", "last-"))]
        if len(names) <= _KEPT_FILES:
            return
        aged = sorted((os.stat(os.path.join(cache, name)).st_mtime_ns, name) for name in names if "policy-" in name)
        for _, name in aged[: len(names) - _KEPT_FILES // 2]:
            os.unlink(os.path.join(cache, name))
    except OSError:
        pass
