"""The MCP server (``jev-use serve``): the same judgment for an agent that asks for it, over stdio.

Four tools, each answered with one text block of JSON.  What is wrong with a call is a tool error that names the field,
so that the model can mend it; what a judge could not answer is a normal result that says so.  The server is started by
a host, and a repository can set a host's environment: so the judge is chosen as in the hook.

Only this module knows the ``mcp`` package (extra ``mcp``); it is imported when the server starts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from . import ledger, policy
from .text.printable import printable
from .text.redact import redact_value
from .use import request
from .use.gate import gate
from .use.items import judge_items as items_of
from .use.jev import Jev
from .use.request import RequestError

MAX_ARGUMENTS = 1_000_000  # characters of JSON
MAX_ANSWER = 60_000  # characters of JSON that judge_ledger answers with
MAX_RECORDS = 1000  # more don't fit into it
_RECORD = ("id", "origin", "host", "event", "asked_at", "policy", "decision", "mode", "reason", "error")
_SUBJECT = ("tool", "actor", "project")
_POINT = ("point", "mode", "source", "judged", "outcome", "acted", "rule", "said", "reason", "error")


def jev_judge(arguments: Mapping[str, Any], jev: Jev) -> dict[str, Any]:
    """``jevhook.use.verdict.Result`` as JSON, for a request as ``jevhook.use.request`` describes it."""
    return jev.answer(request.read(arguments)).json()


def jev_gate(arguments: Mapping[str, Any], jev: Jev) -> dict[str, Any]:
    """``jevhook.use.gate.Gated`` as JSON."""
    _known(arguments, ("tool", "input", "state", "description", "cwd", "confidence_threshold", "model"))
    for name in ("tool", "input"):
        if name not in arguments:
            raise RequestError(name, "is missing")
    return gate(
        arguments["tool"],
        arguments["input"],
        state=_text(arguments, "state") or "",
        description=_text(arguments, "description") or "",
        threshold=_threshold(arguments),
        model=_text(arguments, "model"),
        cwd=_text(arguments, "cwd"),
        jev=jev,
    ).json()


def judge_items(arguments: Mapping[str, Any], jev: Jev) -> dict[str, Any]:
    """``jevhook.use.items.Items`` as JSON; without any answer ``"unavailable": true`` and a note instead of lists that
    would read as "nothing matched"."""
    _known(arguments, ("question", "items", "context", "confidence_threshold", "model"))
    for name in ("question", "items"):
        if name not in arguments:
            raise RequestError(name, "is missing")
    question, items = arguments["question"], arguments["items"]
    if isinstance(question, str):
        question = request.check(question)
    if not isinstance(question, dict):
        raise RequestError("question", "must be a text, or an object as in jev_judge")
    if not isinstance(items, list):
        raise RequestError("items", "must be a list of texts")
    found = items_of(
        jev,
        {"type": "noul", **question},
        items,
        context=_text(arguments, "context") or "",
        threshold=_threshold(arguments),
        model=_text(arguments, "model"),
    )
    said = found.json()
    if not found.answered:
        for name in ("yes", "unsure", "no", "verdicts"):
            said.pop(name, None)
        said |= {
            "unavailable": True,
            "note": "Nothing was judged, which says nothing about the items: read them yourself.",
        }
    return said


def judge_ledger(arguments: Mapping[str, Any], jev: Jev) -> dict[str, Any]:
    """``{"records": [...], "left_off": n}``: the last ``limit`` lines (20; 0 for all), newest first, as many as fit
    into 60,000 characters.  Reads, never writes; every text is redacted and cut again."""
    _known(arguments, ("limit",))
    limit = arguments.get("limit", 20)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise RequestError("limit", "must be a whole number from 0 up; 0 is all")
    from collections import deque

    total = 0
    kept: deque[dict[str, Any]] = deque(maxlen=min(limit or MAX_RECORDS, MAX_RECORDS))
    for record in ledger.read(jev.env, str(jev.policy.ledger.get("path") or "")):
        total += 1
        kept.append(record)
    found: list[Any] = []
    size = 0
    for record in reversed(kept):
        entry, _ = ledger.elide(redact_value(_brief(record), jev.env))
        size += len(json.dumps(entry))
        if size > MAX_ANSWER:
            break
        found.append(entry)
    return {"records": found, "left_off": total - len(found)}


def _brief(record: Mapping[str, Any]) -> dict[str, Any]:
    brief = {key: record[key] for key in _RECORD if key in record}
    subject = record.get("subject")
    if isinstance(subject, dict):
        brief.update({key: subject[key] for key in _SUBJECT if key in subject})
    points = record.get("points")
    if isinstance(points, list):
        brief["points"] = [
            {key: each[key] for key in _POINT if key in each} for each in points if isinstance(each, dict)
        ]
    return brief


def _known(arguments: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in known:
            raise RequestError(printable(name)[:80], f"unknown field; allowed are {', '.join(known)}")


def _text(arguments: Mapping[str, Any], name: str) -> str | None:
    value = arguments.get(name)
    if not isinstance(value, (str, type(None))):
        raise RequestError(name, "must be a text")
    return value


def _threshold(arguments: Mapping[str, Any]) -> float | None:
    value = arguments.get("confidence_threshold")
    return None if value is None else request.check_threshold(value, "confidence_threshold")


# --------------------------------------------------------------------------------------------------------- the tools

Tool = Callable[[Mapping[str, Any], Jev], dict[str, Any]]


def _schema(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_THRESHOLD = {
    "type": "number",
    "minimum": 0,
    "maximum": 1,
    "description": "Below it a verdict escalates. Default: 0.5 where the service reports a confidence, else 0.4.",
}
_MODEL = {"type": "string", "description": "The judge's model, instead of the configured one."}
_STATE = {
    "type": ["string", "object", "array"],
    "description": "Everything the judge may know; it sees nothing else. Up to 30,000 tokens.",
}
_QUESTIONS = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Default: q0, q1 …"},
            "type": {"enum": ["noul", "choice", "score"]},
            "question": {"type": "string", "description": "One narrow judgment; high means yes."},
            "criteria": {
                "type": "object",
                "description": "noul: what counts as yes and as no, both or none.",
                "properties": {"true": {"type": "string"}, "false": {"type": "string"}},
            },
            "options": {
                "type": ["array", "object"],
                "description": "choice: labels, or label -> what it means. Give one for none of these.",
            },
            "levels": {"type": "array", "description": "score: 2 to 10 situations, lowest first."},
        },
        "required": ["type", "question"],
    },
}

TOOLS: dict[str, tuple[Tool, str, dict[str, Any]]] = {
    "jev_judge": (
        jev_judge,
        "Ask a judge yes/no, which-of and how-much questions about a state you give. Every verdict says how sure it is "
        "and whether you should decide yourself (escalate). It writes no text and looks nothing up.",
        _schema(
            ["state", "questions"], state=_STATE, questions=_QUESTIONS, confidence_threshold=_THRESHOLD, model=_MODEL
        ),
    ),
    "jev_gate": (
        jev_gate,
        "May this tool call run? allow, deny or escalate (ask a person), before you make it. It runs nothing, and an "
        "allow replaces no permission of the host.",
        _schema(
            ["tool", "input"],
            tool={"type": "string", "description": "The tool's name, such as Bash."},
            input={"description": "What it would be called with: a text, or its arguments."},
            state={"type": "string", "description": "The task and its limits: what the user wants and what to spare."},
            description={"type": "string", "description": "What the call is said to do."},
            cwd={"type": "string", "description": "Where it would start. Default: here."},
            confidence_threshold=_THRESHOLD,
            model=_MODEL,
        ),
    ),
    "judge_items": (
        judge_items,
        "Ask one question about each of up to 500 texts (lines of a log, search results, file names). Yes, surest first; "
        "unsure; no and unanswered as ranges of numbers counted from 1.",
        _schema(
            ["question", "items"],
            question={"type": ["string", "object"], "description": "A yes/no question, or an object as in jev_judge."},
            items={
                "type": "array",
                "minItems": 1,
                "items": {"type": "string"},
                "description": "Read up to 1,000 characters.",
            },
            context={"type": "string", "description": "What a reader has to know about all of them, 2,000 characters."},
            confidence_threshold=_THRESHOLD,
            model=_MODEL,
        ),
    ),
    "judge_ledger": (
        judge_ledger,
        "The gate's last decisions, newest first: what was stopped, by which rule, and why. Read only.",
        _schema([], limit={"type": "integer", "minimum": 0, "default": 20, "description": "0 for all that fit."}),
    ),
}


def call(name: str, arguments: Mapping[str, Any] | None, env: Mapping[str, str]) -> tuple[str, bool]:
    """(text, whether it is an error) for one tool call.  Never raises."""
    if name not in TOOLS:
        return f"{printable(name)[:80]}: no such tool; there are {', '.join(TOOLS)}", True
    try:
        given = {} if arguments is None else dict(arguments)
        if len(json.dumps(given)) > MAX_ARGUMENTS:
            raise RequestError("arguments", f"are longer than {MAX_ARGUMENTS:,} characters of JSON")
        jev = Jev(env=env, hosted=True)  # a new one: what was configured meanwhile counts
        said = TOOLS[name][0](given, jev)
        if jev.policy.problems:
            said["problems"] = [policy.clean(problem) for problem in jev.policy.problems[:10]]
    except RequestError as wrong:
        return printable(str(wrong)), True
    except Exception as wrong:  # the host's conversation goes on; the text may quote the state, so it is left out
        return f"{name} failed: {type(wrong).__name__}", True
    # Printable: it quotes what others wrote, and a lone surrogate could not be sent at all.
    return printable(json.dumps(said, indent=2, ensure_ascii=False)), False


def serve(env: Mapping[str, str]) -> None:
    """Speak MCP on stdin and stdout until stdin ends.  Raises ImportError without the ``mcp`` package."""
    import anyio
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    from . import __version__

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=name,
                description=told,
                input_schema=schema,
                annotations=types.ToolAnnotations(read_only_hint=True, destructive_hint=False),
            )
            for name, (_, told, schema) in TOOLS.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text, wrong = await anyio.to_thread.run_sync(call, params.name, params.arguments, env)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=wrong)

    async def main() -> None:
        server: Any = Server("jevhook", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(main)
