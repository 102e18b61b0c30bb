"""``jevhook policy``: what is in force and from where, whether it is right, what another one would change."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from .. import __version__, config, policy, policy_toml
from . import config_file
from .judging import clean_lines
from .person import at_keyboard, note

CURRENT = "current"
_TABLES = ("modes", "rule_modes", "thresholds", "ask_fallback", "on_failure", "judge", "ledger", "promotion")
_SINGLE = ("name", "allow", "watchdog", "permit_minutes", "allow_env_off")
_HOME, _CWD = "/home/dev", "/home/dev/work/shop"  # where the rules' examples are read: on nobody's machine


@click.group("policy")
def policy_group() -> None:
    """The policy in force: show it, check it, compare it, edit it.

    \b
    jevhook policy show
    jevhook policy check team.toml
    jevhook policy diff current strict
    """


# show


@policy_group.command("show")
@click.option("--policy", "chosen", metavar="NAME|FILE", help="Show this one instead of the one in force here.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def show(chosen: str | None, as_json: bool) -> None:
    """Show every value in force with the layer it comes from, as TOML that is a policy itself.

    \b
    jevhook policy show
    jevhook policy show --policy strict --json
    """
    from .judging import load_policy

    made = load_policy(chosen, _here())
    values = list(effective(made))
    rules: dict[str, int] = {}
    table = policy.rules(made)
    for rule in table["rules"].values():
        rules[rule.get("layer", "shipped")] = rules.get(rule.get("layer", "shipped"), 0) + 1
    exceptions = table.get("exceptions", [])
    layers = [{"layer": layer, "path": place} for layer, place in made.layers]
    if as_json:
        found = {
            "name": made.name, "layers": layers, "values": values, "rules": rules, "exceptions": exceptions,
            "problems": made.problems,
        }  # fmt: skip
        click.echo(json.dumps(found, indent=1))
        return
    lines = [f"# {entry['layer']}: {entry['path']}" for entry in layers]
    section = ""
    for value in values:
        head, _, key = value["key"].partition(".")
        if key and head != section:
            section = head
            lines += ["", f"[{head}]"]
        name = (key or head) if (key or head).replace("_", "").isalnum() else json.dumps(key or head)
        lines.append(f"{name} = {_toml(value['value'])}".ljust(44) + f" # {value['layer']}")
    count = ", ".join(f"{number} {layer}" for layer, number in sorted(rules.items()))
    lines += ["", f"# rules: {count} (`jevhook rules` lists them)"]
    for entry in exceptions:
        lines += ["", f"[[exception]] # {entry['layer']}"]
        lines += [f"{key} = {_toml(text)}" for key, text in entry.items() if key != "layer" and text]
    click.echo("\n".join(map(policy.clean, lines)))


def effective(made: policy.Policy) -> Iterator[dict[str, Any]]:
    """Every value as {"key", "value", "layer", "path"}; ``layer`` is "built in" where no file says it."""
    told = list(_partials(made))
    for key, value in _flat({name: getattr(made, name) for name in (*_SINGLE, *_TABLES)}):
        layer, path = _origin(key, value, told)
        if layer == "built in" and key.startswith("modes.") and os.environ.get("JEVHOOK_MODE") == value:
            layer = "environment: JEVHOOK_MODE"
        yield {"key": key, "value": value, "layer": layer, "path": path}


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """("modes.tool.risk", "active") and so on, as a file has them; what nobody has set is left out."""
    for name in _SINGLE:
        if name in values:
            yield name, values[name]
    for table in _TABLES:
        given = values.get(table, {})
        for key, value in given.items():
            idle = value in (None, "", {}, []) or (key, value) == ("max_questions", 0)
            if not (idle or key in ("routes", "settings_origin") or (key == "provider" and given.get("tiers"))):
                yield f"{table}.{key}", value
    for point, tiers in values.get("judge", {}).get("routes", {}).items():
        yield f"routes.{point}", tiers


def _partials(made: policy.Policy) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(layer, path, what that file says), whose word counts first in front.  A file that is broken says nothing."""
    order = ("managed", "environment", "project", "user", "promoted", "policy", "shipped")
    for layer, path in sorted(made.layers, key=lambda entry: order.index(entry[0])):
        try:
            document = policy_toml.parse(config_file.text_of(path).encode(), path)
            if layer == "promoted":
                said = policy_toml.validate_promoted(document, path)
            else:
                said = policy_toml.validate(document, path, home=config.home(os.environ), may_choose=True)
        except config.ConfigError:
            continue
        yield layer, path, dict(_flat(said))


def _origin(key: str, value: Any, told: list[tuple[str, str, dict[str, Any]]]) -> tuple[str, str]:
    table = key.partition(".")[0]
    for name in (key, f"{table}.default") if table in ("modes", "on_failure") else (key,):
        for layer, path, said in told:
            if name in said and said[name] == value:
                return layer, path
    return "built in", ""


def _toml(value: Any) -> str:
    """``value`` on one line of TOML."""
    import tomli_w

    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").strip()


# check


@policy_group.command("check")
@click.argument("source", required=False, metavar="[NAME|FILE]")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def check(source: str | None, as_json: bool) -> None:
    """Check the policy in force here, or a shipped one, or a file: form, and every rule against its own examples.

    Names each mistake with file and line. Exits 1 when there is one.

    \b
    jevhook policy check
    jevhook policy check team.toml
    """
    made, wrong = _loaded(source)
    rules = policy.written_rules(made) if made is not None else []
    files = _files(made) if made is not None else []
    failed, count = examples(rules, files)
    wrong += failed
    bare = [rule["id"] for rule in rules if rule.get("layer") != "shipped" and not rule.get("match") and "id" in rule]
    found = {"ok": not wrong, "problems": wrong, "rules": len(rules), "examples": count, "without_examples": bare}
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        for problem in wrong:
            click.echo(policy.clean(problem))
        for name in bare:
            click.echo(f"note: rule {policy.clean(name)} has no example of what it hits (match = [...])")
        click.echo(
            f"{'ok' if not wrong else f'{len(wrong)} problem' + 's' * (len(wrong) > 1)}: {len(rules)} rules, {count} examples"
        )
    raise SystemExit(1 if wrong else 0)


def _loaded(source: str | None) -> tuple[policy.Policy | None, list[str]]:
    """The policy that is checked and what is wrong with its form."""
    env = dict(os.environ)
    try:
        made = _alone(source) if source else policy.load_strict(env, cwd=_here(), managed=policy.MANAGED)
    except config.ConfigError as wrong:
        return None, [_located(problem) for problem in wrong.problems]
    policy.rules(made)  # compiling them finds more
    return made, [_located(problem) for problem in made.problems]


def _alone(source: str) -> policy.Policy:
    """The shipped policy or the file ``source`` without the layers of this machine.  Raises ConfigError."""
    if source == CURRENT:
        return policy.load_strict(dict(os.environ), cwd=_here(), managed=policy.MANAGED)
    shipped = policy.policies_dir()
    named = source in policy.toml_names(shipped)
    path = source if named else os.path.abspath(os.path.expanduser(source))
    if not named and not os.path.exists(path):
        names = ", ".join(policy.toml_names(shipped))
        raise config.ConfigError(
            f"{source}: found no such policy, allowed: {names}, {CURRENT}, or a file that is there"
        )
    # As the user's own file where it says what it builds on, so that a config.toml can be checked too.
    places = ["", "", path, "", ""] if named else ["", path, "", "", ""]
    if os.path.basename(path) == policy.PROJECT_FILE:  # a project's may only tighten
        places = ["", "", "", "", path]
    recipe = [str(policy.FORMAT), __version__, shipped, *places]
    head, compiled = policy_toml.compile_policy(recipe, "", config.home(os.environ), strict=True)
    made = policy.Policy(head["policy"])
    made._recipe, made._rules = (recipe, "", config.home(os.environ)), compiled
    return made


def examples(rules: list[dict[str, Any]], files: list[str]) -> tuple[list[str], int]:
    """(what is wrong with the rules' own examples, how many there are).  Nothing is run; no disk is looked at."""
    from ..rules import compile_rules, match
    from ..shell.paths import Place
    from ..shell.world import RealWorld

    table, _ = compile_rules(rules)
    place = Place(RealWorld({"HOME": _HOME, "USER": "dev"}), _CWD, [f"{_HOME}/.config/jevhook"])
    wrong: list[str] = []
    count = 0
    for rule in rules:
        name = rule.get("id")
        if name not in table["rules"]:
            continue  # its form is wrong, and that has been said
        for key, what in (("match", "is not hit by"), ("no_match", "is hit by"), ("suggest", "suggests")):
            for line in _listed(rule.get(key)):
                count += 1
                hits = match(table, _findings(line, place))
                mine = any(hit.rule["id"] == name for hit in hits)
                stops = next((hit.rule["id"] for hit in hits if hit.severity in ("ask", "deny")), "")
                if (key == "match" and mine) or (key == "no_match" and not mine) or (key == "suggest" and not stops):
                    continue
                more = f", which {stops} stops" if key == "suggest" else ""
                wrong.append(f"{_where(str(name), files)}rule {name} {what} its {key} {policy.shown(line, 200)}{more}")
    return wrong, count


def _listed(value: object) -> list[str]:
    return (
        [value]
        if isinstance(value, str)
        else [v for v in value if isinstance(v, str)]
        if isinstance(value, list)
        else []
    )


def _findings(example: str, place: Any) -> list[Any]:
    """A command line, or a tool call as JSON: {"tool", "input", "annotations"}."""
    from ..event import Event
    from ..shell.calls import read_call, shell_call

    if not example.startswith('{"tool"'):
        return list(shell_call(example, _CWD, place).findings)
    call = json.loads(example)
    raw = {"tool_annotations": call.get("annotations")}
    event = Event("claude", "before-tool", "PreToolUse", tool=call["tool"], input=call["input"], cwd=_CWD, raw=raw)
    return list(read_call(event, place).findings)


def _files(made: policy.Policy) -> list[str]:
    """Where rules may be written, the person's own files first."""
    found = [path for _, path in made.layers]
    for path in list(found):
        try:
            document = policy_toml.parse(config_file.text_of(path).encode(), path)
        except config.ConfigError:
            continue
        extra = document.get("rules", {}).get("extra", []) if isinstance(document.get("rules"), dict) else []
        for name in extra:
            place = Path(os.path.dirname(path), os.path.expanduser(str(name)))
            found += map(str, sorted(place.glob("*.toml")) if place.is_dir() else [place])
    return found + [str(pack) for pack in sorted(Path(policy.policies_dir(), "rules").glob("*.toml"))]


def _where(rule: str, files: list[str]) -> str:
    """``file:line: `` of the rule's id, "" when no file has it."""
    for path in files:
        try:
            text = config_file.text_of(path)
        except config.ConfigError:
            continue
        plain = rule.removeprefix("project.")
        if plain in text:
            told = config_file.located(f"{path}: rule {plain}: ", path, text)
            if told.startswith(path + ":") and told[len(path) + 1].isdigit():
                return told.split(": ")[0] + ": "
    return ""


def _located(problem: str) -> str:
    path = problem.split(": ", 1)[0]
    if not os.path.isabs(path) or not path.endswith(".toml"):
        return problem
    try:
        return config_file.located(problem, path, config_file.text_of(path))
    except config.ConfigError:
        return problem


# diff


@policy_group.command("diff")
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def diff(old: str, new: str, as_json: bool) -> None:
    """Say what B sets otherwise than A: shipped names, files, or `current` for what is in force here.

    Exits 1 when they differ. What that does to recorded events: `jevhook replay --policy`.

    \b
    jevhook policy diff default strict
    jevhook policy diff current team.toml
    """
    try:
        before, after = _alone(old), _alone(new)
    except config.ConfigError as wrong:
        raise click.ClickException(clean_lines("\n".join(map(_located, wrong.problems)))) from None
    found = differences(before, after)
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        for entry in found:
            click.echo(policy.clean(f"{entry['key']}: {_said(entry['old'])} → {_said(entry['new'])}"))
        if not found:
            click.echo("no difference")
    raise SystemExit(1 if found else 0)


def differences(before: policy.Policy, after: policy.Policy) -> list[dict[str, Any]]:
    """[{"key", "old", "new"}]: values, rules and exceptions; None where there is nothing."""
    out = []
    sides = [dict(_everything(made)) for made in (before, after)]
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        pair = [side.get(key) for side in sides]
        if pair[0] != pair[1]:
            out.append({"key": key, "old": pair[0], "new": pair[1]})
    return out


def _everything(made: policy.Policy) -> Iterator[tuple[str, Any]]:
    yield from _flat({name: getattr(made, name) for name in (*_SINGLE, *_TABLES)})
    table = policy.rules(made)
    for name, rule in table.get("rules", {}).items():
        own = {key: value for key, value in rule.items() if key not in ("layer", "pack", "id", "match")}
        yield f"rule {name}", own
    for entry in table.get("exceptions", []):
        yield f"exception {entry['id']}", {key: value for key, value in entry.items() if key not in ("layer", "id")}


def _said(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, dict) and "severity" in value:
        return f"{value['severity']} ({policy.shown(value.get('reason', ''), 80)})"
    return json.dumps(value, ensure_ascii=False)


# edit


@policy_group.command("edit")
def edit() -> None:
    """Open a copy of config.toml in $VISUAL or $EDITOR; put it in place only when nothing is wrong with it.

    \b
    jevhook policy edit
    EDITOR='code --wait' jevhook policy edit
    """
    at_keyboard("jevhook policy edit")
    env = dict(os.environ)
    try:
        path = config_file.place(env)
        before = config_file.text_of(path)
    except config.ConfigError as wrong:
        raise click.ClickException(policy.clean(str(wrong))) from None
    editor = shlex.split(env.get("VISUAL") or env.get("EDITOR") or "vi")
    folder, keep = tempfile.mkdtemp(prefix="jevhook-"), False  # mode 0700
    try:
        copy = Path(folder, "config.toml")
        copy.write_text(before, encoding="utf-8")
        text = _edited(editor, copy, before, path, config.home(env))
        if text == before:
            click.echo("nothing was changed")
            return
        config_file.replace(path, text, config.home(env), before=before)
    except config.ConfigError as failed:
        keep = True
        raise click.ClickException(
            f"nothing was changed: {policy.clean(str(failed))}. What you wrote is kept in {policy.clean(str(copy))}"
        ) from None
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    note(env, "policy edit", "policy")
    click.echo(f"in force from the next call on ({policy.clean(path)}); `jevhook policy check` looks at all layers")


def _edited(editor: list[str], copy: Path, before: str, path: str, home: str) -> str:
    """What the person made of ``copy``: ``before``, or a text without mistakes.  Raises ClickException."""
    while True:
        try:
            status = subprocess.run([*editor, str(copy)], check=False).returncode
        except OSError as wrong:
            raise click.ClickException(f"{editor[0]}: {wrong.strerror}. Set EDITOR; nothing was changed.") from None
        if status:
            raise click.ClickException(f"{editor[0]} ended with {status}. Nothing was changed.")
        text = copy.read_text(encoding="utf-8", errors="replace")
        if text == before:
            return text
        wrong_lines = config_file.mistakes(text, path, home) or _own_examples(text, path)
        if not wrong_lines:
            return text
        click.echo("\n".join(map(policy.clean, wrong_lines)))
        if not click.confirm("Edit it again?", default=True):
            raise click.ClickException("nothing was changed")


def _own_examples(text: str, path: str) -> list[str]:
    """What is wrong with the rules in ``text`` that only compiling and trying them shows."""
    from ..rules import compile_rules

    rules = [{**rule, "layer": "user"} for rule in policy_toml.parse(text.encode(), path).get("rule", [])]
    form = [config_file.located(f"{path}: {problem}", path, text) for problem in compile_rules(rules)[1]]
    return form + examples(rules, [])[0]


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # the directory was removed under us
        return ""
