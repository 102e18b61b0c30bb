"""The policy in force: layers of TOML, read once and kept compiled in a private cache.

Layers, strongest first:

1. *managed*: ``/etc/jevhook/policy.toml``.  What it sets, nobody below can loosen.
2. *user*: ``$XDG_CONFIG_HOME/jevhook/config.toml``.
3. *promoted*: ``promoted.toml`` beside it, written by ``jevhook promote`` and ``jevhook calibrate --write`` alone, so that
   the user's own file never is.  It holds ``[modes]`` and ``[rule_modes]`` (shadow or active, and only where that is
   stricter than what is below), ``[thresholds]``, and ``[[evidence]]``: when and on what grounds.
4. *policy*: what the user's ``policy`` names to build on (a shipped name or a file); ``--policy`` replaces that choice
   for one run, never the managed layer.
5. *shipped*: ``policies/default.toml``.
6. *project*: ``<project root>/.jevhook.toml``.  It may only tighten: rules that ask or deny, modes that are stricter.
   The root is the nearest ancestor of the call's directory with a ``.git``, else that directory.

The form of a policy file (every key may be left out; an unknown key or a wrong value is an error)::

    name = "team"                      # what the ledger calls this policy
    policy = "strict"                  # config.toml and the managed file only: the policy to build on
    allow = "silent"                   # silent | grant
    watchdog = 10.0                    # seconds for the whole hook, 1 to 60
    permit_minutes = 10                # how long a permit of `jevhook allow-once` holds, 0 to 1440; 0: there are none
    allow_env_off = false              # whether JEVHOOK=off in a host's environment switches the hook off

    [modes]                            # off | shadow | active for each point; "default" covers every point that
    default = "active"                 # this file doesn't name, whatever a weaker layer says about it
    "tool.risk" = "active"             # quoted or dotted, both are read

    [rule_modes]                       # off | shadow | active, by rule id
    "git.force-push" = "shadow"

    [thresholds]                       # numbers from 0 to 9 (a score goes from 0 to its levels - 1)
    "tool.risk.yes" = 0.8

    [leave]                            # tools whose results a point does not look at; * stands for any characters
    "tool.injection" = ["mcp__wiki__*"]
    "tool.admission" = ["WebSearch"]

    [ask_fallback]                     # what an ask becomes where nobody can be asked: deny | context | note
    high = "deny"
    medium = "context"
    low = "note"

    [on_failure]                       # open | ask | deny for each point, "default" for all
    "tool.risk" = "open"

    [judge]
    provider = "auto"                  # auto, none, embedded, mock, or a provider's name
    base_url = "https://…"             # https, or http on loopback
    model = "jev-latest"
    api_key_env = "TYPESAFE_API_KEY"   # the variable's name; a key itself is never written here
    account = "…"                      # Cloudflare's account id, Databricks' workspace host
    max_questions = 20                 # how many questions one request may carry (a relay's own limit)
    environment_proxy = false          # HTTPS_PROXY, SSL_CERT_FILE and REQUESTS_CA_BUNDLE count in the hook too
    mock = "/path/to/script.json"      # for provider = "mock": an absolute path, or ~/
    consent = true                     # judged content may leave this machine
    egress = "redacted"                # redacted | shape | none: what may leave this machine
    when = "ask"                       # never | ask | always
    deadline = 4.0                     # seconds for the one call, 0.1 to 30
    tiers = ["ollama", "team"]         # instead of provider: several judges, each asked what is still open

    [judge.tier.team]                  # a tier that is more than a provider's name: provider, base_url, model,
    provider = "native"                # api_key_env, account, mock and max_questions as above
    base_url = "https://…"
    trust = ["classify", "relate"]     # of classify, relate, rate, meta; default: all
    no = 0.2                           # a yes/no answer between the two is uncertain: the next tier is asked
    yes = 0.8
    min_choice = 0.6                   # a choice whose probability is below is uncertain

    [routes]                           # the tiers of one point, whatever the rest says
    "tool.risk" = ["team"]

    [ledger]
    path = "~/ledger.ndjson"           # absolute or ~/; default: the state directory
    record_state = false
    max_bytes = 8388608                # 65536 to 1073741824: when a generation is full
    generations = 5                    # 0 to 100

    [promotion]                        # the evidence that `jevhook promote` asks for
    events = 200                       # that the point or the rule's point has judged
    labels = 20                        # of those, decisions that a person has labelled
    agreement = 0.9                    # the least share of labelled decisions that were right
    false_alarms = 0.05                # the largest share of harmless calls that were stopped
    recall = 0.9                       # the least share of harmful ones that a scorecard shows stopped
    brier = 0.2                        # the largest Brier score of a question's answers on a scorecard
    scorecards = 2                     # kept cards in a row that meet these; 0: none are asked for

    [rules]
    packs = ["core", "git"]            # shipped packs by name; default: all of them
    extra = ["team-rules.toml"]        # more packs: files or directories, relative to this file

    [[rule]]                           # a rule of your own, as in a pack; the same id replaces a weaker layer's rule
    id = "team.no-prod-db"
    severity = "deny"                  # note | ask | deny; the rest is the rules' own form

    [[exception]]
    id = "scratch"
    rule = "fs.delete-home-item"       # the rule it lifts
    path = "~/scratch/**"              # or command = "…"
    comment = "why"
    expires = 2027-01-31               # the last day on which it holds

Who may set what:

- *managed and user*: user settings count where they are as strict or stricter (off < shadow < active,
  note < ask < deny, note < context < deny, open < ask < deny, redacted < shape < none, silent over grant).  For
  thresholds, the judge's destination, the ledger and times the managed value stands.  A pack that the managed file
  names can't be dropped, its rules not switched off or excepted by the user.
- *environment*: ``JEVHOOK_MODE`` (a mode for every point) and ``JEVHOOK_POLICY`` (as ``--policy``).  In the hook they
  count only when they tighten: a repository can set a host's environment.  In commands that a person runs they decide.
- *where the user's file is*: in the hook, a configuration directory inside a git work tree or the judged project is
  not taken for the user's, and a file under ``$HOME/.config`` can't be hidden by ``XDG_CONFIG_HOME``.

A layer that can't be read never stops the gate: its last valid state is used when the cache has it, else the layer is
left out; either way ``Policy.problems`` says so.

The cache: two files for each set of layers in ``$XDG_CACHE_HOME/jevhook`` (everything but the rules; the rules),
valid while every source has the same stat as when it was read, and only when directory and file are ours and nobody
else can write them.  With a valid cache ``load`` reads one small file and never imports ``tomllib``.
"""

from __future__ import annotations

import os

from . import __version__, config, jsonio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from .event import Mode

MANAGED = "/etc/jevhook/policy.toml"
PROJECT_FILE = ".jevhook.toml"
PROMOTED_FILE = "promoted.toml"  # beside the user's config.toml
FORMAT = 5  # of the cache; raise it when the head's or the rules' shape changes
POINTS = ("tool.risk", "tool.admission", "tool.injection")
AFTER = ("tool.admission", "tool.injection")

# Each from loosest to strictest.
MODES = ("off", "shadow", "active")
SEVERITIES = ("note", "ask", "deny")
FALLBACKS = ("note", "context", "deny")
FAILURES = ("open", "ask", "deny")
EGRESS = ("redacted", "shape", "none")

_HEAD_LIMIT = 512 * 1024
RULES_LIMIT = 32 * 1024 * 1024
# Cache files as they were read, by path, with their stamp: only the warm process keeps them.  Nobody may write to what
# is kept; a head, whose tables become a Policy's own, is copied.
kept: dict[str, tuple[list[int], Any]] | None = None
_LEVELS = 40  # how far up a project root is looked for

# What travels in the cache's head, in the order of Policy's own arguments.
FIELDS = (
    "name",
    "modes",
    "rule_modes",
    "thresholds",
    "leave",
    "ask_fallback",
    "on_failure",
    "allow",
    "judge",
    "watchdog",
    "permit_minutes",
    "allow_env_off",
    "ledger",
    "promotion",
    "layers",
    "problems",
)


def builtin() -> dict[str, Any]:
    """The policy when no file can be read at all: what ``policies/default.toml`` says too."""
    return {
        "name": "default",
        "modes": {"default": "active", "tool.injection": "active", "tool.admission": "shadow"},
        "rule_modes": {},
        "thresholds": {},
        "leave": {},
        "ask_fallback": {"high": "deny", "medium": "context", "low": "note"},
        "on_failure": {"default": "open"},
        "allow": "silent",
        "judge": {
            "provider": "auto",
            "base_url": "",
            "model": "",
            "api_key_env": "",
            "account": "",
            "mock": "",
            "tiers": [],
            "tier": {},
            "routes": {},
            "max_questions": 0,
            "environment_proxy": None,
            "consent": None,
            "egress": "redacted",
            "when": "ask",
            "deadline": 4.0,
            "settings_origin": "shipped",
        },
        "watchdog": 10.0,
        "permit_minutes": 10.0,
        "allow_env_off": False,
        "ledger": {"path": "", "record_state": False, "max_bytes": 8 * 1024 * 1024, "generations": 5},
        "promotion": {
            "events": 200,
            "labels": 20,
            "agreement": 0.9,
            "false_alarms": 0.05,
            "recall": 0.9,
            "brier": 0.2,
            "scorecards": 2,
        },
        "layers": [],
        "problems": [],
    }


def _fits(tool: str, name: str) -> bool:
    """Whether a tool's name fits ``name``, in which * stands for any characters."""
    first, *rest = name.split("*")
    if not rest:
        return tool == name
    if not tool.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        at = tool.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return len(tool) - at >= len(rest[-1]) and tool.endswith(rest[-1])


class Policy:
    """What is in force for one event.  Treat it as frozen, but for ``problems``.

    ``modes``        point -> off, shadow, active; "default" for the points that are not named
    ``rule_modes``   rule id -> off, shadow, active; a rule that is not named is active
    ``thresholds``   name -> number
    ``leave``        point -> names of tools whose results it does not look at
    ``ask_fallback`` high, medium, low -> deny, context, note: what an ask becomes where nobody can be asked
    ``on_failure``   point -> open, ask, deny; "default" for the rest
    ``allow``        silent or grant
    ``judge``        provider ("auto" when nobody named one), base_url, model, api_key_env, account ("" when unset),
                     max_questions (0 when unset), consent and environment_proxy (None when nobody said), mock (a
                     path), egress (redacted, shape, none), when (never, ask, always), deadline in seconds, tiers
                     (names), tier (name -> its table), routes (point -> names), settings_origin (shipped, user,
                     managed: whose word the destination is, or else the consent)
    ``watchdog``     seconds for the whole hook
    ``permit_minutes`` how long a one-time permit holds; 0 where there are none
    ``allow_env_off`` whether JEVHOOK=off in the host's environment counts in the hook
    ``ledger``       path (absolute, "" for the default place), record_state, max_bytes, generations
    ``promotion``    events, labels, agreement, false_alarms, recall, brier, scorecards: what `jevhook promote` asks for
    ``layers``       [name, path] of what counted, strongest first
    ``problems``     what was wrong with the configuration, one line each
    """

    __slots__ = (
        "_cached",
        "_recipe",
        "_rules",
        "allow",
        "allow_env_off",
        "ask_fallback",
        "judge",
        "layers",
        "leave",
        "ledger",
        "modes",
        "name",
        "on_failure",
        "permit_minutes",
        "problems",
        "promotion",
        "rule_modes",
        "thresholds",
        "watchdog",
    )

    def __init__(self, values: dict[str, Any] | None = None) -> None:
        given = builtin() if values is None else values
        self.name: str = given["name"]
        self.modes: dict[str, Mode] = given["modes"]
        self.rule_modes: dict[str, Mode] = given["rule_modes"]
        self.thresholds: dict[str, float] = given["thresholds"]
        self.leave: dict[str, list[str]] = given["leave"]
        self.ask_fallback: dict[str, str] = given["ask_fallback"]
        self.on_failure: dict[str, str] = given["on_failure"]
        self.allow: str = given["allow"]
        self.judge: dict[str, Any] = given["judge"]
        self.watchdog: float = given["watchdog"]
        self.permit_minutes: float = given["permit_minutes"]
        self.allow_env_off: bool = given["allow_env_off"]
        self.ledger: dict[str, Any] = given["ledger"]
        self.promotion: dict[str, float] = given["promotion"]
        self.layers: list[list[str]] = given["layers"]
        self.problems: list[str] = given["problems"]
        self._rules: dict[str, Any] | None = None
        self._cached: tuple[str, str] | None = None  # the rules' file and the key it must hold
        self._recipe: tuple[list[str], str, str] | None = None  # layers, cache directory, home

    def mode(self, point: str) -> Mode:
        """off, shadow or active for ``point``."""
        return self.modes.get(point) or self.modes.get("default", "active")

    def rule_mode(self, rule: str) -> Mode:
        """off, shadow or active for the rule with this id."""
        return self.rule_modes.get(rule, "active")

    def failure(self, point: str) -> str:
        """open, ask or deny: what ``point`` does when it fails itself."""
        return self.on_failure.get(point) or self.on_failure.get("default", "open")

    def threshold(self, name: str, default: float) -> float:
        """The number in force for ``name``."""
        return self.thresholds.get(name, default)

    def leaves(self, point: str, tool: str) -> bool:
        """Whether ``point`` does not look at results of ``tool``."""
        return any(_fits(tool, name) for name in self.leave.get(point, ()))


def load(
    env: Mapping[str, str], *, cwd: str = "", policy: str | None = None, in_hook: bool = True, managed: str = MANAGED
) -> Policy:
    """The policy in force.  Never raises: what is wrong is in ``problems``, and the rest stands.

    ``cwd``      absolute directory of the call, "" when unknown (then there is no project layer)
    ``policy``   ``--policy``: a shipped name or a file
    ``in_hook``  False in commands that a person runs: the environment may loosen there
    """
    try:
        return _load(env, cwd, policy, in_hook, managed, strict=False)
    except Exception as wrong:
        made = Policy()
        made.problems.append(f"policy: could not be loaded, the built-in one is used: {type(wrong).__name__}: {wrong}")
        return made


def load_strict(
    env: Mapping[str, str], *, cwd: str = "", policy: str | None = None, in_hook: bool = False, managed: str = MANAGED
) -> Policy:
    """As ``load``, for commands: raises ConfigError when a layer or the environment is wrong.

    A broken rule pack, and anything in a project's file, is in ``problems`` here too.
    """
    return _load(env, cwd, policy, in_hook, managed, strict=True)


def rules(policy: Policy) -> dict[str, Any]:
    """The compiled rules (``jevhook.rules.compile_rules``' table plus "exceptions"; "rules" may be a ``Stored``).  Read
    on first use, never raises.

    Each exception is {"id", "rule", "command" or "path", "comment", "expires" ("YYYY-MM-DD" or ""), "layer"}.
    """
    if policy._rules is None:
        found: dict[str, Any] | None = None
        if policy._cached is not None:
            found = _kept(policy._cached[0], policy._cached[1])
        if found is None:
            found = _compile_again(policy)
        policy._rules = found
    return policy._rules


def written_rules(policy: Policy) -> list[dict[str, Any]]:
    """Every rule in force as its file has it, with ``match``, ``no_match`` and ``suggest``; for commands, not the hook."""
    from . import policy_toml

    recipe, _, home = policy._recipe or ([str(FORMAT), __version__, policies_dir(), "", "", "", "", ""], "", "")
    found: list[dict[str, Any]] = []
    policy_toml.compile_policy(recipe, "", home, strict=False, written=found)
    return found


def exceptions(policy: Policy, now: float) -> list[dict[str, Any]]:
    """The exceptions that hold at ``now`` (seconds since the epoch); one holds to the end of its last day."""
    import time

    today = time.strftime("%Y-%m-%d", time.localtime(now))
    return [entry for entry in rules(policy).get("exceptions", []) if not entry["expires"] or entry["expires"] >= today]


def policies_dir() -> str:
    """Where the shipped policies and rule packs are: in the installed package, else in the checkout."""
    package = os.path.dirname(os.path.abspath(__file__))
    inside = os.path.join(package, "policies")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "policies")


def project_root(cwd: str) -> str:
    """The nearest ancestor of ``cwd`` with a ``.git`` (40 levels at most), else ``cwd``; "" when not absolute."""
    if not os.path.isabs(cwd) or "\0" in cwd:
        return ""
    start = os.path.normpath(cwd)
    return _work_tree(start) or start


def _work_tree(directory: str) -> str:
    here = directory
    for _ in range(_LEVELS):
        try:
            os.lstat(os.path.join(here, ".git"))
            return here
        except (OSError, ValueError):
            pass
        above = os.path.dirname(here)
        if above == here:
            break
        here = above
    return ""


def _inside(path: str, directory: str) -> bool:
    return bool(directory) and (path == directory or path.startswith(directory.rstrip(os.sep) + os.sep))


def _foreign(place: str, projects: list[str]) -> str:
    """The project or git work tree that ``place`` lies in, when it is not simply the account's own; else ""."""
    real = os.path.realpath(place)
    tree = _work_tree(real)
    if not tree:
        for root in projects:
            if root and _inside(real, os.path.realpath(root)):
                tree = os.path.realpath(root)
                break
    if not tree:
        return ""
    own = os.path.realpath(config.account_home() or os.sep)
    # A home, or the configuration in it, kept under git is common and is still the account's own.
    dotted = (os.path.join(own, ".config", "jevhook"), os.path.join(own, ".cache", "jevhook"))
    return "" if real in dotted or _inside(own, tree) else tree


def _user_file(env: Mapping[str, str], projects: list[str], in_hook: bool, notes: list[str]) -> str:
    """The path of the user's config.toml as far as the hook may believe the environment; "" for none."""
    place = config.config_dir(env)
    if not place:
        return ""
    chosen = os.path.join(place, "config.toml")
    if not in_hook:
        return chosen
    at_home = os.path.join(config.home(env), ".config", "jevhook")
    if place != at_home:
        plain = os.path.join(at_home, "config.toml")
        there = next((p for p in (plain, os.path.join(at_home, PROMOTED_FILE)) if os.path.exists(p)), "")
        here = os.path.join(place, os.path.basename(there))
        if there and not (os.path.exists(here) and os.path.samefile(there, here)):
            notes.append(
                f"XDG_CONFIG_HOME: points to {place}, but {there} exists and counts in the hook "
                "(a repository can set a host's environment); keep only one of them"
            )
            place, chosen = at_home, plain
    tree = _foreign(place, projects)
    if tree:
        if os.path.exists(chosen):
            notes.append(
                f"{chosen}: lies in the work tree {tree}, so the hook doesn't take it for the user's own; "
                "keep it in ~/.config/jevhook"
            )
        own = config.account_home()
        return os.path.join(own, ".config", "jevhook", "config.toml") if own else ""
    return chosen


def _named(choice: str, env: Mapping[str, str], base: str) -> str:
    """A policy argument as a shipped name, or as an absolute file."""
    if choice.startswith("~/"):
        return config.home(env) + choice[1:]
    if os.sep in choice or "/" in choice or choice.endswith(".toml"):
        return os.path.normpath(os.path.join(base, choice))
    return choice


def toml_names(directory: str) -> list[str]:
    """The names of the TOML files in ``directory``, sorted, without their ending."""
    try:
        return sorted(name[:-5] for name in os.listdir(directory) if name.endswith(".toml"))
    except OSError:
        return []


def shown(value: object, limit: int = 60) -> str:
    """``value`` for a message: short, and never able to move a terminal's cursor."""
    if isinstance(value, str):
        return jsonio.dumps(value if len(value) <= limit else value[: limit - 3] + "...")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value) if abs(value) < 1 << 64 or value != value else "a huge number"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array"
    return "a date or time"


def clean(text: str) -> str:
    """``text`` without control characters: a path in a message may have been named by a repository."""
    return text if text.isprintable() else "".join(one if one.isprintable() else "?" for one in text)


def _load(env: Mapping[str, str], cwd: str, policy: str | None, in_hook: bool, managed: str, *, strict: bool) -> Policy:
    notes: list[str] = []
    shipped = policies_dir()
    project = project_root(cwd)
    projects = [project, env.get("CLAUDE_PROJECT_DIR", "")] if in_hook else []
    user = _user_file(env, projects, in_hook, notes)

    choice, tighten = _choices(env, policy, in_hook, shipped, notes)
    own_rules = os.path.join(project, PROJECT_FILE) if project else ""
    if own_rules and not _exists(own_rules):
        own_rules = ""
    recipe = [str(FORMAT), __version__, shipped, managed, user, choice, tighten, own_rules]

    cache = config.cache_dir(env)
    if cache and in_hook and _foreign(cache, projects):
        notes.append(f"{cache}: lies in a work tree, so the hook keeps no cache there")
        cache = ""

    head = None if strict or not cache else _head(cache, recipe)
    compiled: dict[str, Any] | None = None
    if head is None:
        from . import policy_toml

        head, compiled = policy_toml.compile_policy(recipe, cache, config.home(env), strict=strict)
    made = Policy(head["policy"] if kept is None else _copy(head["policy"]))
    made._recipe = (recipe, cache, config.home(env))
    made._rules = compiled
    if compiled is None:
        made._cached = (cache_file(cache, recipe, "-rules"), head["key"])
    for table, key in ((made.ledger, "path"), (made.judge, "mock")):
        if table[key].startswith("~/"):
            table[key] = config.home(env) + table[key][1:]
    _environment_mode(made, env.get("JEVHOOK_MODE", ""), in_hook, notes)
    if strict and notes:
        raise config.ConfigError(notes)
    made.problems[:0] = notes
    made.problems = [clean(problem) for problem in made.problems]
    return made


def _choices(
    env: Mapping[str, str], policy: str | None, in_hook: bool, shipped: str, notes: list[str]
) -> tuple[str, str]:
    """The policy chosen for this run (shipped name or absolute path), and the shipped one that may only tighten."""
    told = env.get("JEVHOOK_POLICY", "")
    tighten = told if in_hook else ""
    source, asked = ("--policy", policy) if policy or in_hook else ("JEVHOOK_POLICY", told)
    choice = _named(asked, env, "" if in_hook else os.getcwd()) if asked else ""
    # In the hook the working directory is the judged project's: a relative path would let it choose.
    if choice and not os.path.isabs(choice) and not _shipped(shipped, choice):
        place = "a file from / or ~/" if in_hook else "a file"
        notes.append(f"{source}: found {shown(choice, 400)}, allowed: {', '.join(toml_names(shipped))}, or {place}")
        choice = ""
    if tighten and not _shipped(shipped, tighten):
        allowed = f"{', '.join(toml_names(shipped))} (in the hook it may only tighten)"
        notes.append(f"JEVHOOK_POLICY: found {shown(tighten)}, allowed: {allowed}")
        tighten = ""
    return choice, tighten


def _shipped(directory: str, name: str) -> bool:
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum() and len(name) <= 40
    return plain and _exists(os.path.join(directory, f"{name}.toml"))


def _exists(path: str) -> bool:
    try:
        os.lstat(path)
    except (OSError, ValueError):
        return False
    return True


def _environment_mode(made: Policy, told: str, in_hook: bool, notes: list[str]) -> None:
    if not told:
        return
    if told not in MODES:
        notes.append(f"JEVHOOK_MODE: found {shown(told)}, allowed: {', '.join(MODES)}")
    elif not in_hook:
        made.modes = {"default": told}  # type: ignore[dict-item]
    elif any(MODES.index(mode) > MODES.index(told) for mode in made.modes.values()):
        notes.append(
            f"JEVHOOK_MODE: {told} would loosen this policy and is ignored in the hook, "
            "where the environment may only tighten; set it in config.toml"
        )
    else:
        made.modes = {"default": told}  # type: ignore[dict-item]


# The cache.


def cache_file(cache: str, recipe: list[str], suffix: str = "") -> str:
    """The file for this set of layers.  The digest only names it: what it holds is compared in full."""
    return os.path.join(cache, f"policy-{checksum(jsonio.dumps(recipe).encode())}{suffix}.json")


def checksum(data: bytes) -> str:
    """16 hexadecimal digits, against damage and not against anybody."""
    try:
        from _imp import source_hash  # SipHash, built in: hashlib would cost milliseconds
    except ImportError:
        from hashlib import blake2b

        return blake2b(data, digest_size=8).hexdigest()
    return source_hash(FORMAT, data).hex()


def ours(facts: os.stat_result) -> bool:
    """Whether a cache file or directory is our own and nobody else can write it."""
    owner = getattr(os, "geteuid", None)
    return owner is None or (facts.st_uid == owner() and not facts.st_mode & 0o022)


def read_cached(path: str, limit: int) -> Any:
    """The JSON of a cache file, or of its first line; then the second line's is under "index", and what follows under
    "text" (see ``stored``).  None when there is no such file, it can't be trusted, or it is damaged."""
    try:
        if not ours(os.stat(os.path.dirname(path))):
            return None
        if kept is not None and path in kept:
            facts = os.lstat(path)
            if kept[path][0] == stamp(facts) and ours(facts):
                return kept[path][1]
        data, facts = config.read_bounded(path, limit, follow=False)
        first, _, rest = data.partition(b"\n")
        value = jsonio.loads(first.decode("ascii")) if ours(facts) else None
        if rest and value is not None:
            if value["sum"] != checksum(rest):
                return None
            index, _, value["text"] = rest.partition(b"\n")
            value["index"] = jsonio.loads(index.decode("ascii"))
        if kept is not None and value is not None:
            kept[path] = (stamp(facts), value)
        return value
    except (OSError, ValueError, TypeError, KeyError):
        return None


def stamp(facts: os.stat_result) -> list[int]:
    """What of a source's stat makes a compiled policy stale."""
    return [facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_mode, facts.st_uid]


def _head(cache: str, recipe: list[str]) -> dict[str, Any] | None:
    head = read_cached(cache_file(cache, recipe), _HEAD_LIMIT)
    try:
        if head["recipe"] != recipe or not isinstance(head["key"], str):
            return None
        for source in head["sources"]:
            try:
                facts = os.stat(source[0])
            except (OSError, ValueError):
                if len(source) != 1:
                    return None
            else:
                if source[1:] != stamp(facts):
                    return None
        if not head["sources"] or any(field not in head["policy"] for field in FIELDS):
            return None
        return head  # type: ignore[no-any-return]
    except (TypeError, KeyError, IndexError, AttributeError):
        return None


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _kept(path: str, key: str) -> dict[str, Any] | None:
    found = read_cached(path, RULES_LIMIT)
    if not isinstance(found, dict) or found.get("key") != key or "index" not in found:
        return None
    index = found["index"]
    return {**index, "rules": Stored(index["rules"], found["text"])}


class Stored:
    """The rules in a cache file's text, by id: each is read when it is asked for.  To read all 470 took 2 ms of every
    analysed command, which needs five of them."""

    __slots__ = ("_at", "_made", "_text")

    def __init__(self, at: dict[str, list[int]], text: bytes) -> None:
        self._at = at
        self._text = text
        self._made: dict[str, dict[str, Any]] = {}

    def __getitem__(self, name: str) -> dict[str, Any]:
        found = self._made.get(name)
        if found is None:
            start, end = self._at[name]
            found = self._made[name] = jsonio.loads(self._text[start:end].decode("ascii"))
        return found

    def __len__(self) -> int:
        return len(self._at)

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __contains__(self, name: object) -> bool:
        return name in self._at

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self._at else default

    def keys(self) -> Iterable[str]:
        return self._at.keys()

    def values(self) -> list[dict[str, Any]]:
        return [self[name] for name in self._at]

    def items(self) -> list[tuple[str, dict[str, Any]]]:
        return [(name, self[name]) for name in self._at]


def stored(compiled: dict[str, Any], key: str) -> bytes:
    """A cache file of rules: a line with its key and a checksum of what follows, for damage to it could lose a rule in
    silence; a line with where each rule's text is and the rest whole; and those texts."""
    at: dict[str, list[int]] = {}
    parts: list[bytes] = []
    end = 0
    for name, rule in compiled["rules"].items():
        part = jsonio.dumps(rule).encode("ascii")
        at[name] = [end, end + len(part)]
        end += len(part)
        parts.append(part)
    rest = jsonio.dumps({**compiled, "rules": at}).encode("ascii") + b"\n" + b"".join(parts)
    return jsonio.dumps({"key": key, "sum": checksum(rest)}).encode("ascii") + b"\n" + rest


def _compile_again(policy: Policy) -> dict[str, Any]:
    """Rules for a policy whose cached rules are gone, or that never had layers."""
    try:
        from . import policy_toml

        recipe, cache, home = policy._recipe or ([str(FORMAT), __version__, policies_dir(), "", "", "", "", ""], "", "")
        return policy_toml.compile_policy(recipe, cache, home, strict=False)[1]
    except Exception as wrong:
        policy.problems.append(f"rules: could not be compiled: {type(wrong).__name__}: {wrong}")
        return {}
