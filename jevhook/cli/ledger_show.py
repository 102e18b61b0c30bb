"""``jevhook ledger show``: one decision, and for a person what was taken out of a result."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from .. import ledger as book
from .. import policy
from ..evidence.labels import Label, labels
from ..state import withheld
from ..text.printable import visible
from . import tree
from .person import why_nobody

LEAST = 4  # characters of an id that tell one record from another
MOST = 20  # records shown for one id


@click.command(short_help="All about one decision.")
@click.argument("wanted", metavar="ID")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a line, with `originals` for what was taken out."
)
def show(wanted: str, as_json: bool) -> None:
    """Show all that is written about ID: what was seen, asked, answered and done, and how long it took.

    ID is a record's id or the beginning of one, a tool call's id, or the one that a note in a result names. Originals
    are shown at a person's own terminal only, with what would move it or hide in it escaped.

    \b
    jevhook ledger show 3f2a9c1d07be
    jevhook ledger show toolu_01 --json
    """
    env = dict(os.environ)
    found = records(env, wanted)
    if not found:
        raise click.ClickException(
            f"the ledger has no record {policy.shown(wanted)}: give a record's id (at least {LEAST} characters of it), "
            "a tool call's id, or the id that a note in a result names"
        )
    nobody = why_nobody(env)
    given = labels(env)
    for at, record in enumerate(found):
        names = [
            part["original"] for part in _list(record.get("points")) if isinstance(part, dict) and part.get("original")
        ]
        originals = [] if nobody else [entry for name in names for entry in withheld.read(env, str(name))]
        if as_json:
            click.echo(json.dumps({**record, "originals": originals}))
            continue
        lines = [*([""] if at else []), *readable(record, given.get(str(record.get("id"))))]
        if names and nobody:
            lines.append(f"what was taken out is shown to a person at a terminal only: {nobody}")
        elif names and not originals:
            lines.append("what was taken out is not kept any more")
        for entry in originals:
            lines += _original(entry)
        click.echo("\n".join(visible(line) for line in lines))


def records(env: dict[str, str], wanted: str) -> list[dict[str, Any]]:
    """The records that ``wanted`` names, oldest first, at most MOST of the newest."""
    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    path = str(made.ledger.get("path") or "")
    id_like = all(char in "0123456789abcdef-" for char in wanted)  # else it may be written otherwise than it is given
    return list(
        deque((one for one in book.read(env, path, wanted if id_like else "") if _named(one, wanted)), maxlen=MOST)
    )


def _named(record: dict[str, Any], wanted: str) -> bool:
    if len(wanted) >= LEAST and str(record.get("id", "")).startswith(wanted.lower()):
        return True
    subject = record.get("subject")
    if wanted and isinstance(subject, dict) and subject.get("tool_call") == wanted:
        return True
    return any(isinstance(part, dict) and part.get("original") == wanted for part in _list(record.get("points")))


Node = tuple[str, list[Any]]  # a line, and the nodes below it

_TOLD = ("point", "mode", "judged", "rule", "acted", "said", "outcome", "source")
_HEAD = (
    "id",
    "asked_at",
    "answered_at",
    "host",
    "event",
    "kind",
    "decision",
    "decided",
    "reason",
    "told",
    "subject",
    "policy",
)
_REST = ("points", "hook_ms", "schema", "origin")


def readable(record: Mapping[str, Any], label: Label | None = None) -> list[str]:
    """A record as lines for a person; what is not worded here follows as JSON, so that nothing is left out."""
    lines = [
        f"{record.get('id', '(no id)')}  {record.get('asked_at', '')}",
        _field("event", _words(record.get("host"), record.get("event"), record.get("kind"), record.get("origin"))),
        _field("decision", _words(record.get("decision"), record.get("reason"), record.get("told"), _decided(record))),
        _field("time", _time(record)),
    ]
    if label is not None:
        lines.append(_field("label", _words(label.label, label.note, f"{label.at} by {label.by}")))
    lines += [_field(key.replace("_", " "), str(value)) for key, value in _dict(record.get("subject")).items()]
    if record.get("policy"):
        lines.append(_field("policy", str(record["policy"])))
    findings: list[Any] = []
    for part in _list(record.get("points")):
        if not isinstance(part, dict):
            continue
        acted = "" if part.get("acted") else "nothing done"
        said = _words(part.get("mode"), part.get("judged"), part.get("rule"), _source(part), acted)
        lines.append(_field(str(part.get("point")), said))
        if part.get("said"):
            lines.append(f"    {part['said']}")
        lines += _drawn([node for key, value in part.items() if key not in _TOLD for node in _nodes(key, value, part)])
        findings += _list(part.get("findings"))
    state = record.get("state")
    if isinstance(state, dict):
        lines.append(_field("judged call", ""))
        lines += _drawn([node for key, value in state.items() for node in _call(key, value, findings)])
    known = (*_HEAD, *_REST, *(("state",) if isinstance(state, dict) else ()))
    lines += [_field(key, _short(value)) for key, value in record.items() if key not in known]
    return lines


def _drawn(nodes: list[Node], before: str = "    ") -> list[str]:
    lines = []
    for at, (text, below) in enumerate(nodes):
        branch, deeper = ("└── ", "    ") if at == len(nodes) - 1 else ("├── ", "│   ")
        first, *more = text.split("\n")
        lines += [f"{before}{branch}{first}", *(f"{before}{deeper}| {line}" for line in more)]
        lines += _drawn(below, before + deeper)
    return lines


def _nodes(key: str, value: Any, part: Mapping[str, Any]) -> Iterator[Node]:
    """A field of a point; one whose shape is not ours is shown as it is."""
    shapes: dict[str, Callable[[Any, Mapping[str, Any]], Node | None]] = {
        "rules": _rules, "findings": _findings, "judge": _judge, "passages": _passages, "questions": _questions,
    }  # fmt: skip
    try:
        made = shapes[key](value, part) if key in shapes else (f"{key} {_values(value)}", [])
    except (TypeError, ValueError, KeyError, AttributeError, IndexError):
        made = (f"{key} {_short(value)}", [])
    if made is not None:
        yield made


def _rules(value: Any, part: Mapping[str, Any]) -> Node:
    return "rules", [
        (_words(f"{rule['severity']:5} {rule['id']}", rule["mode"] if rule["mode"] != "active" else ""), [])
        for rule in value
    ]


def _findings(value: Any, part: Mapping[str, Any]) -> Node:
    return "findings", [(_finding(one), []) for one in value]


def _finding(one: Mapping[str, Any]) -> str:
    known = ("effect", "target", "roles", "sure", "path", "detail", "program", "facts", "span")
    where = f" at {one['span'][0]}-{one['span'][1]}" if one.get("span") else ""
    rest = {key: value for key, value in one.items() if key not in known}
    return _words(
        f"{one['effect']} {one.get('path') or one.get('detail') or ''} ({_words(one['target'], *one.get('roles', ()), one['sure'])})",
        f"{one['program']}{where}" if one.get("program") else where.strip(),
        " ".join(one.get("facts", ())),
        one.get("detail") if one.get("path") else "",
        _values(rest) if rest else "",
    )


def _judge(call: Any, part: Mapping[str, Any]) -> Node:
    if not call["asked"]:
        error = call.get("error") or {}
        return f"judge not asked: {call.get('why') or error.get('message') or error.get('kind') or ''}", []
    head = _words(
        " ".join(str(call[key]) for key in ("judge", "provider", "model") if call.get(key)),
        f"{call['latency_ms']:g} ms" if "latency_ms" in call else "",
        _values(call["usage"]) if call.get("usage") else "",
    )
    answers = _dict(call.get("answers"))
    types = {one["id"]: one["type"] for one in _list(part.get("questions"))}
    texts = _wording(part)
    below: list[Node] = [
        (
            _words(f"{name}: {_answer(answers[name]) if name in answers else 'no answer'}", types.get(name)),
            [(texts[name], [])] if name in texts else [],
        )
        for name in {**types, **answers}
    ]
    told = ("asked", "judge", "provider", "model", "latency_ms", "usage", "answers")
    below += [
        (f"{key} {_values(value)}", []) for key, value in call.items() if key not in told and value not in ([], "")
    ]
    return f"judge {head}", below


def _answer(answer: Mapping[str, Any]) -> str:
    value = answer.get("p", answer.get("value"))
    said = f"p {value:.2f}" if "p" in answer else f"{value:.2f}" if isinstance(value, float) else str(value)
    spread = ", ".join(f"{name} {share:.2f}" for name, share in _dict(answer.get("probabilities")).items())
    sure = answer.get("confidence")
    return _words(f"{said} ({spread})" if spread else said, f"confidence {sure:.2f}" if isinstance(sure, float) else "")


def _wording(part: Mapping[str, Any]) -> dict[str, str]:
    """The questions' own words, where they are still the ones that were asked."""
    from ..points import risk

    if part.get("point") != risk.ID or part.get("wording") != risk.wording_hash():
        return {}
    return {name: str(question["instructions"]) for name, question in risk.questions().items()}


def _questions(value: Any, part: Mapping[str, Any]) -> Node | None:
    """Nothing where the judge's answers stand beside them."""
    if _dict(part.get("judge")).get("asked") and "answers" in part["judge"]:
        return None
    return "questions", [(_words(one["id"], one["type"], one.get("capability")), []) for one in value]


def _passages(value: Any, part: Mapping[str, Any]) -> Node:
    return "passages", [(_passage(passage), []) for passage in value]


def _passage(passage: Mapping[str, Any]) -> str:
    first, last = passage["lines"]
    done = "order" if passage.get("withheld") else "suspicious"
    why = ", ".join(map(str, [*passage.get("rules", ()), *passage.get("facts", ())]))
    asked = f", judge p {passage['judge']:.2f}" if "judge" in passage else ""
    head = (
        f"{done}: {passage.get('slot') or 'result'}, lines {first} to {last}, score {passage['score']} ({why}){asked}"
    )
    return "\n".join([head, *(line for line in str(passage.get("said") or "").split("\n") if line)])


def _call(key: str, value: Any, findings: list[Any]) -> Iterator[Node]:
    """A field of the recorded call; a shell line as the tree that was judged, each finding at its place."""
    command = value.get("command") if key == "input" and isinstance(value, dict) else None
    root = tree.plain(command) if isinstance(command, str) else None
    if root is None:
        if value not in (None, {}, ""):
            yield f"{key} {_short(value)}", []
        return
    parts = [one for one in findings if isinstance(one, dict) and "effect" in one and "target" in one and "sure" in one]
    tree.hang(root, parts)
    yield _tree(root, parts)
    rest = {name: given for name, given in value.items() if name != "command"}
    if rest:
        yield f"{key} {_short(rest)}", []


def _tree(node: Mapping[str, Any], parts: list[Any]) -> Node:
    kind = "" if node["kind"] == "command" else f"  ({node['kind']})"
    joined = f"{node['after']} " if node.get("after") else ""
    below: list[Node] = [(_finding(parts[number]), []) for number in node.get("parts", ())]
    return f"{joined}{node['text']}{kind}", below + [_tree(child, parts) for child in node["children"]]


def _decided(record: Mapping[str, Any]) -> str:
    return f"decided {record['decided']}" if record.get("decided") else ""


def _source(part: Mapping[str, Any]) -> str:
    source = part.get("source")
    return (
        f"by the {source}"
        if source in ("rules", "judge", "fallback") and part.get("judged") not in (None, "none")
        else ""
    )


def _time(record: Mapping[str, Any]) -> str:
    """How long the hook took, and how much of it was a judge's; what each says of itself."""
    calls: list[Any] = []
    for part in _list(record.get("points")):
        call = _dict(_dict(part).get("judge"))
        if call.get("asked") and call not in calls:  # points after the tool share one
            calls.append(call)
    waited = sum(call["latency_ms"] for call in calls if isinstance(call.get("latency_ms"), int | float))
    took = record.get("hook_ms")
    return _words(
        f"{took:g} ms in the hook" if isinstance(took, int | float) else "",
        f"{waited:g} ms of them for the judge" if calls else "",
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _field(name: str, value: str) -> str:
    return f"  {name:<16} {value}".rstrip()


def _words(*parts: object) -> str:
    return ", ".join(str(part) for part in parts if part)


def _values(value: object) -> str:
    """A flat object as words, anything else as JSON."""
    if isinstance(value, dict) and value and not any(isinstance(one, dict | list) for one in value.values()):
        return ", ".join(f"{key} {_short(one)}" for key, one in value.items())
    return _short(value)


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _original(entry: dict[str, Any]) -> list[str]:
    first, last = (*entry.get("lines", (0, 0)), 0, 0)[:2]
    cut = ", cut" if entry.get("cut") else ""
    place = entry.get("slot") or "result"
    head = f"  as the tool returned it ({place}, lines {first} to {last}, {len(entry['text'])} characters{cut}):"
    return [head, *(f"  | {line}" for line in entry["text"].split("\n"))]
