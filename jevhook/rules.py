"""Rules: from findings to what should be said about them.

A rule is TOML (``policies/rules/*.toml``), a table ``[[rule]]`` with

=================  ====================================================================================================
``id``             ``pack.name``, stable: users switch rules by it, the ledger and promotions refer to it
``effect``         one effect or a list out of ``finding.EFFECTS``; default ``run`` (a program is started)
``program``        names; required for ``run`` rules
``sub``            subcommand paths, any of: ``"s3 rb"``; a word may hold ``*``; ``"* delete-*"``; ``""`` means none
``flags``          any of these options; ``all_flags`` all of them; ``not_flags`` none of them
``args``           any positional word matches one of these globs; ``not_args`` none does
``target``         labels (kinds and roles of ``finding``), any of; ``"a+b"`` needs both; ``not_target`` none of
``facts``          facts of the finding, any of; ``"a+b"`` needs both; ``not_facts`` none of
``sure``           any of certain, likely, unknown
``severity``       deny (what cannot be undone), ask (what a person should see), note (ledger only)
``stakes``         high, medium, low: what an ask becomes where nobody can be asked; default high for deny, else medium
``unrecoverable``  true: never granted, no judge lifts it; default true for deny
``reason``         one sentence: what would be lost; ``{target}`` ``{program}`` ``{detail}`` are filled in
``suggestion``     what to do instead; ``suggest`` an example command that the rules must let pass
``match``          command lines that must hit this rule; ``no_match`` ones that must not.  They run as tests
=================  ====================================================================================================

Compiled once (``compile_rules``) into plain lists that JSON can hold, matched with ``match``.
"""

from __future__ import annotations

from .shell.finding import EFFECTS, KINDS, ROLES, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .shell.finding import Finding

SEVERITIES = ("note", "ask", "deny")
STAKES = ("low", "medium", "high")
SURE = ("certain", "likely", "unknown")
_LISTS = ("effect", "program", "sub", "flags", "all_flags", "not_flags", "args", "not_args", "target", "not_target", "facts", "not_facts", "sure", "match", "no_match", "suggest")  # fmt: skip
_TEXTS = ("id", "severity", "stakes", "reason", "suggestion", "pack", "layer", "mode", "title", "comment", "docs")
_KNOWN = frozenset((*_LISTS, *_TEXTS, "unrecoverable"))


def compile_rules(raw: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """The ``[[rule]]`` tables as a table for ``match``, and a sentence for each one that was left out.

    The table: ``rules`` (id -> rule), ``by_effect`` and ``by_program`` (name -> ids).
    """
    rules: dict[str, dict[str, Any]] = {}
    by_effect: dict[str, list[str]] = {}
    by_program: dict[str, list[str]] = {}
    problems: list[str] = []
    for table in raw:
        try:
            rule = _rule(table)
            if rule["id"] in rules:
                raise ValueError("the id is used twice")
        except ValueError as wrong:
            where = f"{table.get('pack', '')}: " if table.get("pack") else ""
            problems.append(f"{where}rule {table.get('id', '?')!r}: {wrong}")
            continue
        for key in ("no_match", "suggest"):  # for the tests; the lane reads this table at every stop
            rule.pop(key, None)
        rule["match"] = rule.get("match", [])[:1]
        rules[rule["id"]] = rule
        for effect in rule["effect"]:
            if effect == "run" and rule.get("program"):
                for program in rule["program"]:
                    by_program.setdefault(program, []).append(rule["id"])
            else:
                by_effect.setdefault(effect, []).append(rule["id"])
    return {"rules": rules, "by_effect": by_effect, "by_program": by_program}, problems


def _rule(table: Mapping[str, Any]) -> dict[str, Any]:
    rule: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KNOWN:
            raise ValueError(f"unknown key {key!r}; known are {', '.join(sorted(_KNOWN))}")
        if key in _LISTS:
            values = [value] if isinstance(value, str) else value
            if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
                raise ValueError(f"{key} must be a text or a list of texts")
            rule[key] = values
        elif key == "unrecoverable":
            if not isinstance(value, bool):
                raise ValueError("unrecoverable must be true or false")
            rule[key] = value
        elif isinstance(value, str):
            rule[key] = value
        else:
            raise ValueError(f"{key} must be a text, found {type(value).__name__}")
    if not rule.get("id"):
        raise ValueError("a rule needs an id")
    if rule.get("severity") not in SEVERITIES:
        raise ValueError(f"severity is {rule.get('severity')!r}; use one of {', '.join(SEVERITIES)}")
    rule.setdefault("stakes", "high" if rule["severity"] == "deny" else "medium")
    if rule["stakes"] not in STAKES:
        raise ValueError(f"stakes is {rule['stakes']!r}; use one of {', '.join(STAKES)}")
    if not rule.get("reason"):
        raise ValueError("a rule needs a reason")
    rule.setdefault("effect", ["run"])
    rule.setdefault("unrecoverable", rule["severity"] == "deny")
    for effect in rule["effect"]:
        if effect not in EFFECTS:
            raise ValueError(
                f"effect {effect!r} does not exist, so the rule can never match; use one of {', '.join(sorted(EFFECTS))}"
            )
    if "run" in rule["effect"] and not rule.get("program") and not rule.get("target") and not rule.get("facts"):
        raise ValueError("a rule on the effect 'run' needs program, target or facts")
    labels = KINDS | ROLES
    for key in ("target", "not_target"):
        for entry in rule.get(key, ()):
            for label in entry.split("+"):
                if label not in labels:
                    raise ValueError(f"{key} {label!r} does not exist, so the rule can never match")
    for sure in rule.get("sure", ()):
        if sure not in SURE:
            raise ValueError(f"sure is {sure!r}; use one of {', '.join(SURE)}")
    wanted, refused = set(rule.get("flags", ())) | set(rule.get("all_flags", ())), set(rule.get("not_flags", ()))
    if (rule.get("all_flags") and set(rule["all_flags"]) & refused) or (
        rule.get("flags") and set(rule["flags"]) <= refused
    ):
        raise ValueError(
            f"it asks for and refuses the same options ({', '.join(sorted(wanted & refused))}), so it can never match"
        )
    for key in ("program", "sub", "target", "facts", "args", "flags"):
        if key in rule and not rule[key]:
            raise ValueError(f"{key} is an empty list, so the rule can never match")
    return rule


# What stands when no pack can be read at all: an installation that lost its rules still stops the worst.
BUILTIN: tuple[dict[str, Any], ...] = (
    {
        "id": "builtin.delete",
        "effect": ["delete", "move", "format", "overwrite"],
        "target": ["root", "home", "top", "device"],
        "not_facts": ["empty-only", "container", "redirect", "copy", "to-temp"],
        "severity": "deny",
        "reason": "This would destroy {target}.",
    },
    {
        "id": "builtin.force-push",
        "effect": "force-push",
        "target": ["production"],
        "facts": ["force", "mirror"],
        "severity": "deny",
        "reason": "This rewrites a shared branch for everyone ({target}).",
    },
    {
        "id": "builtin.code",
        "effect": ["run-remote-code", "run-decoded", "reverse-shell"],
        "severity": "deny",
        "reason": "This runs code that nobody has read.",
    },
    {
        "id": "builtin.self",
        "effect": ["overwrite", "write", "delete", "move"],
        "target": ["hook-settings", "gate"],
        "not_target": ["root", "home"],
        "severity": "deny",
        "reason": "This changes the gate or the settings that hold it ({target}).",
    },
)


class Hit:
    """One rule that speaks about one finding.  ``mode`` is off, shadow or active, by policy."""

    __slots__ = ("finding", "mode", "rule")

    def __init__(self, rule: dict[str, Any], finding: Finding, mode: str) -> None:
        self.rule = rule
        self.finding = finding
        self.mode = mode

    @property
    def severity(self) -> str:
        severity: str = self.rule["severity"]
        return severity

    def reason(self) -> str:
        """The rule's sentence and its suggestion, with what it is about filled in."""
        finding = self.finding
        text: str = self.rule["reason"]
        if finding.effect == "run" and finding.program and "{target}" not in text:
            # a rule on a program says what such a command does; which one it was belongs to it
            named = shown(" ".join([finding.program, *finding.sub]), 80)
            text = f"{text.rstrip('.')} ({named})."
        text = f"{text} {self.rule.get('suggestion', '')}".strip()
        if "{" in text:
            target = shown(finding.target.path, 80) or finding.program or "this"
            text = (
                text.replace("{target}", target)
                .replace("{program}", finding.program or "this command")
                .replace("{detail}", shown(finding.detail, 80) or "this")
            )
        return text


def match(
    table: Mapping[str, Any], findings: Iterable[Finding], rule_mode: Mapping[str, str] | None = None
) -> list[Hit]:
    """Every rule that speaks, strongest first.  ``rule_mode`` gives single rules another mode than active."""
    if not table.get("rules"):
        table = compile_rules([dict(rule) for rule in BUILTIN])[0]
    rules: dict[str, dict[str, Any]] = table["rules"]
    by_effect: dict[str, list[str]] = table["by_effect"]
    by_program: dict[str, list[str]] = table["by_program"]
    modes = rule_mode or {}
    hits: list[Hit] = []
    for finding in findings:
        names = by_effect.get(finding.effect, ())
        if finding.effect == "run":
            named = by_program.get(finding.program, ())
            names = [*names, *named] if names else named
        for name in names:
            rule = rules[name]
            mode = modes.get(name) or rule.get("mode") or "active"
            if mode != "off" and speaks(rule, finding):
                hits.append(Hit(rule, finding, mode))
    if len(hits) > 1:
        hits.sort(key=_order)
    return hits


def _order(hit: Hit) -> tuple[int, int, int]:
    return (-SEVERITIES.index(hit.rule["severity"]), -STAKES.index(hit.rule["stakes"]), hit.finding.start)


def speaks(rule: Mapping[str, Any], finding: Finding) -> bool:
    """Whether the rule is about this finding (its effect is not looked at again)."""
    wanted = rule.get("program")
    if wanted is not None and finding.program not in wanted:
        return False
    labels = None
    wanted = rule.get("target")
    if wanted is not None:
        labels = finding.target.labels()
        if not _any(wanted, labels):
            return False
    wanted = rule.get("not_target")
    if wanted is not None and _any(wanted, labels or finding.target.labels()):
        return False
    wanted = rule.get("facts")
    if wanted is not None and not _any(wanted, finding.facts):
        return False
    wanted = rule.get("not_facts")
    if wanted is not None and _any(wanted, finding.facts):
        return False
    wanted = rule.get("sure")
    if wanted is not None and finding.sure not in wanted:
        return False
    wanted = rule.get("sub")
    if wanted is not None and not any(_sub(pattern, finding.sub) for pattern in wanted):
        return False
    flags = finding.flags
    wanted = rule.get("flags")
    if wanted is not None and not any(_flag(f, flags) for f in wanted):
        return False
    wanted = rule.get("all_flags")
    if wanted is not None and not all(_flag(f, flags) for f in wanted):
        return False
    wanted = rule.get("not_flags")
    if wanted is not None and any(_flag(f, flags) for f in wanted):
        return False
    wanted = rule.get("args")
    if wanted is not None and not any(glob(p, word) for p in wanted for word in finding.words):
        return False
    wanted = rule.get("not_args")
    return wanted is None or not any(glob(p, word) for p in wanted for word in finding.words)


def _any(wanted: Iterable[str], have: frozenset[str]) -> bool:
    return any(entry in have or ("+" in entry and all(part in have for part in entry.split("+"))) for entry in wanted)


def _flag(wanted: str, flags: frozenset[str]) -> bool:
    if wanted in flags:
        return True
    return "*" in wanted and any(glob(wanted, flag) for flag in flags)


def _sub(pattern: str, words: list[str]) -> bool:
    parts = pattern.split()
    if len(parts) > len(words):
        return False
    return all(part == word or ("*" in part and glob(part, word)) for part, word in zip(parts, words, strict=False))


def glob(pattern: str, text: str) -> bool:
    """``*`` matches anything; the rest, letter for letter and without case."""
    pattern, text = pattern.lower(), text.lower()
    if "*" not in pattern:
        return pattern == text
    pieces = pattern.split("*")
    if not text.startswith(pieces[0]) or not text.endswith(pieces[-1]) or len(text) < len(pieces[0]) + len(pieces[-1]):
        return False
    at = len(pieces[0])
    end = len(text) - len(pieces[-1])
    for piece in pieces[1:-1]:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end
