"""From one tool call to findings: shell commands, file tools, patches, MCP tools.  By the input's shape, so that a
host's own tool names need no table here."""

from __future__ import annotations

from .finding import ANY, QMARK, STAR, Finding, Target, shown
from .paths import Place, absolute, classify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..event import Event
    from .walk import Walk

# Keys under which tools take a path, in the order in which they are believed.
_PATH_KEYS = (
    "file_path",
    "notebook_path",
    "path",
    "filePath",
    "filename",
    "file",
    "target_file",
    "destination",
    "dest",
    "uri",
    "relative_path",
    "source",
)
_CONTENT_KEYS = (
    "content",
    "new_string",
    "new_source",
    "edits",
    "file_text",
    "new_str",
    "text",
    "contents",
    "data",
    "insert_text",
    "patch",
    "diff",
    "new_content",
    "code_edit",
)
_CODE_KEYS = (
    "code",
    "command",
    "cmd",
    "script",
    "python",
    "python_code",
    "js",
    "javascript",
    "expression",
    "source_code",
    "commands",
    "shell",
    "bash",
    "function",
    "command_line",
)
_SQL_KEYS = ("query", "sql", "statement", "sql_query", "queries")
_READ_ONLY = (
    "Read",
    "Glob",
    "Grep",
    "LS",
    "WebFetch",
    "WebSearch",
    "ToolSearch",
    "TodoWrite",
    "Task",
    "Agent",
    "view_image",
    "spawn_agent",
    "update_plan",
    "NotebookRead",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "BashOutput",
    "KillShell",
    "ExitPlanMode",
    "AskUserQuestion",
    "Skill",
    "tool_search",
)

# What other hosts call their tool that shows a file.
_READERS = ("read_file", "readfile", "read", "view", "view_file", "open_file", "read_text_file", "cat_file")

# What a text editor tool can be told, in the place where a shell tool has its line.
_EDITOR_VERBS = ("create", "insert", "str_replace", "undo_edit", "view")
# Words of tools that look, beside those of _READS: what they are given is not changed.
_LOOKING_WORDS = frozenset(
    "tree info stat stats exists watch open cat head tail grep diff hash load inspect check validate analyze analyse "
    "parse lint summarize render lookup count size preview explain log status blame history compare outline".split()
)

MAX_PATCH_FILES = 200


class Reading:
    """What one call would do: ``findings``, the command line when there is one, and whether it is a shell call."""

    __slots__ = ("command", "findings", "looks", "notes", "scripts", "shell", "trace")

    def __init__(self, findings: list[Finding], command: str = "", shell: bool = False) -> None:
        self.findings = findings
        self.command = command
        self.shell = shell
        self.notes: list[str] = []
        self.scripts: dict[str, str] = {}
        self.looks = False  # a file tool that only looks, at nothing secret
        self.trace: Walk | None = None  # of a shell call: what readonly.py needs besides the findings


def read_call(event: Event, place: Place) -> Reading:
    """The findings of a before-tool event.  Raises nothing that the caller need not treat as a failed analysis."""
    tool, given = event.tool, event.input
    if tool.startswith(("mcp__", "mcp_")):
        reading = _mcp(tool, given, event, place)
        _named(tool, given, reading, event, place)
        return reading
    for key in ("command", "input", "patch", "cmd", "diff"):
        text = given.get(key)
        if isinstance(text, str) and text.lstrip().startswith("*** Begin Patch"):
            return _patch(text, event, place)
    command = given.get("command")
    if command is None and not any(key in given for key in _PATH_KEYS):
        command = given.get("cmd") or given.get("argv")
    cwd = event.cwd
    where = given.get("workdir")
    if isinstance(where, str) and where:
        cwd = absolute(where, cwd, place.world.home) or cwd
    if isinstance(command, list) and command and all(isinstance(c, str) for c in command):
        return _argv(command, cwd, place)
    if isinstance(command, str):
        if command in _EDITOR_VERBS and (path := _first(given, _PATH_KEYS)):  # the text editor tool
            return (
                _read_tool(tool, given, event, place) if command == "view" else _write(tool, path, given, event, place)
            )
        if tool == "apply_patch":
            return _patch(command, event, place)
        return shell_call(command, cwd, place)
    if tool in _READ_ONLY or tool.lower() in _READERS:
        return _read_tool(tool, given, event, place)
    path = _first(given, _PATH_KEYS)
    if path and any(key in given for key in _CONTENT_KEYS):
        return _write(tool, path, given, event, place)
    if path and tool.lower() in ("delete", "delete_file", "remove", "remove_file"):
        return Reading([Finding("delete", classify(path, event.cwd, place), program=tool)])
    return Reading([])


def shell_call(command: str, cwd: str, place: Place) -> Reading:
    """The findings of a shell command line."""
    from .walk import analyse

    walk = analyse(command, place, cwd)
    reading = Reading(walk.findings, command, True)
    from .programs.powershell import looks_windows, read_windows

    if looks_windows(command):  # beside the shell's reading, never instead of it
        reading.findings += read_windows(command, place, cwd)
    reading.notes = walk.notes
    reading.scripts = walk.scripts
    reading.trace = walk
    if "secret-staged" in walk.notes or "secret-named" in walk.notes:
        _staged_secret(walk.findings)
    return reading


def _staged_secret(findings: list[Finding]) -> None:
    """A secret that was put into a commit and then leaves for a strange remote is a secret on its way out."""
    for finding in findings:
        if finding.effect == "send" and "git-push" in finding.facts:
            finding.target = Target("remote", finding.target.path, finding.target.roles | {"secret"})


def _argv(words: list[str], cwd: str, place: Place) -> Reading:
    """A shell call given as an argument vector (older Codex: ["bash", "-lc", "…"])."""
    if len(words) == 3 and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") and words[1] in ("-c", "-lc", "-cl"):
        return shell_call(words[2], cwd, place)
    return shell_call(" ".join("'" + w.replace("'", "'\\''") + "'" for w in words), cwd, place)


def _first(given: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = given.get(key)
        if isinstance(value, str) and value:
            return value.removeprefix("file://")
    return ""


def _texts(given: Mapping[str, Any]) -> str:
    """All the text that would be written, for looking at what a script would do."""
    parts: list[str] = []
    for key in _CONTENT_KEYS:
        value = given.get(key)
        if isinstance(value, str):
            parts.append(value)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, dict):
                    parts += [v for k, v in item.items() if k in _CONTENT_KEYS and isinstance(v, str)]
    return "\n".join(parts)


def _write(tool: str, path: str, given: Mapping[str, Any], event: Event, place: Place) -> Reading:
    target = classify(path, event.cwd, place)
    whole = "content" in given or "file_text" in given or "contents" in given
    effect = "overwrite" if whole else "write"
    finding = Finding(effect, target, program=tool, facts=frozenset(("file-tool",)), words=[path])
    reading = Reading([finding])
    text = _texts(given)
    if text:
        reading.scripts[target.path] = text
        _settings_content(finding, text)
    if (path.endswith(".ipynb") or "notebook_path" in given) and text and given.get("cell_type") != "markdown":
        shell = cell_parts(text)[0]
        if shell:
            reading.findings += _said_by(tool, shell_call(shell, event.cwd, place).findings)
    return reading


def _said_by(tool: str, findings: list[Finding]) -> list[Finding]:
    for finding in findings:
        finding.via = (tool, *finding.via)
    return findings


def cell_parts(source: str) -> tuple[str, str]:
    """A notebook cell as (shell lines, the rest): ``!cmd``, ``%sx cmd`` and ``%%bash`` are run by a shell."""
    first = source.lstrip().split("\n", 1)
    if first[0].startswith(("%%bash", "%%sh", "%%script bash", "%%script sh", "%%!", "%%system", "%%sx")):
        return (first[1] if len(first) > 1 else "", "")
    shell: list[str] = []
    rest: list[str] = []
    for line in source.split("\n"):
        bare = line.strip()
        at = bare.find("= !")  # files = !ls
        mark = next((m for m in ("!", "%sx ", "%system ", "%bash ") if bare.startswith(m)), "")
        if mark:
            shell.append(bare.lstrip("!")[len(mark) if mark != "!" else 0 :])
        elif at > 0:
            shell.append(bare[at + 3 :])
        else:
            rest.append("" if bare.startswith("%") else line)
    return "\n".join(shell), "\n".join(rest)


def _settings_content(finding: Finding, text: str) -> None:
    """What a write puts into a file can make it special: an off switch for the gate, a script that runs on install."""
    if "package-scripts" in finding.target.roles and any(
        mark in text for mark in ('"preinstall"', '"postinstall"', '"prepare"', '"install"')
    ):
        finding.facts = finding.facts | {"install-script"}


def _patch(text: str, event: Event, place: Place) -> Reading:
    """The files an apply_patch touches: added, updated, deleted, moved."""
    reading = Reading([])
    for effect, path, body in patch_files(text):
        target = classify(path, event.cwd, place)
        finding = Finding(effect, target, program=event.tool, facts=frozenset(("file-tool", "patch")), words=[path])
        reading.findings.append(finding)
        if body:
            reading.scripts[target.path] = body
            _settings_content(finding, body)
    return reading


def patch_files(text: str) -> list[tuple[str, str, str]]:
    """(effect, path, added text) of each file in a patch of the ``*** Begin Patch`` form."""
    found: list[tuple[str, str, str]] = []
    effect = path = ""
    body: list[str] = []
    for line in [*text.split("\n"), "*** End Patch"]:
        if line.startswith("*** "):
            if path and len(found) < MAX_PATCH_FILES:
                found.append((effect, path, "\n".join(body)))
            path, body = "", []
            for mark, kind in (
                ("*** Add File: ", "overwrite"),
                ("*** Update File: ", "write"),
                ("*** Delete File: ", "delete"),
                ("*** Move to: ", "overwrite"),
            ):
                if line.startswith(mark):
                    effect, path = kind, line[len(mark) :].strip()
        elif line[:1] == "+" and path:
            body.append(line[1:])
    return found


def _read_tool(tool: str, given: Mapping[str, Any], event: Event, place: Place) -> Reading:
    """Read and its kin show a whole file, Grep its lines when it was asked for content: as ``cat`` and ``grep`` do."""
    path = _first(given, ("file_path", "path", "notebook_path", "absolute_path", "filePath", "target_file"))
    names = [path] if path else []
    shows = tool in ("Read", "NotebookRead", "view_image") or tool.lower() in _READERS
    if tool == "Grep":
        glob = given.get("glob")
        shows = given.get("output_mode") == "content"
        if isinstance(glob, str) and glob:
            names.append((path.rstrip("/") + "/" if path else "") + glob.replace("*", STAR).replace("?", QMARK))
    if shows:
        for name in names:
            target = classify(name, event.cwd, place)
            if "secret" in target.roles:
                return Reading([Finding("read-secret", target, program=tool, facts=frozenset(("file-tool",)))])
    reading = Reading([])
    if tool in ("Read", "NotebookRead", "Glob", "Grep", "LS"):
        names = [v for v in (path, given.get("glob")) if isinstance(v, str) and v]
        reading.looks = not any(classify(name, event.cwd, place).roles & {"secret", "history"} for name in names)
    return reading


_WRITES = (
    "write",
    "edit",
    "create",
    "update",
    "append",
    "insert",
    "replace",
    "save",
    "put",
    "patch",
    "set",
    "modify",
    "overwrite",
    "upload",
    "move",
    "rename",
    "copy",
)
_DELETES = (
    "delete",
    "remove",
    "drop",
    "destroy",
    "purge",
    "trash",
    "unlink",
    "erase",
    "wipe",
    "truncate",
    "terminate",
    "cancel",
    "uninstall",
)
_RUNS = (
    "execute",
    "exec",
    "run",
    "eval",
    "shell",
    "terminal",
    "bash",
    "command",
    "script",
    "python",
    "repl",
    "code",
    "powershell",
    "console",
    "process",
)
_SENDS = (
    "send",
    "post",
    "publish",
    "email",
    "mail",
    "message",
    "tweet",
    "share",
    "forward",
    "reply",
    "invite",
    "transfer",
    "pay",
    "deploy",
    "release",
    "merge",
)
_READS = (
    "read",
    "get",
    "list",
    "search",
    "find",
    "fetch",
    "view",
    "show",
    "describe",
    "query",
    "browse",
    "snapshot",
    "screenshot",
    "look",
    "lookup",
    "inspect",
    "check",
    "count",
    "status",
    "info",
    "tree",
)


# Servers that are the agent's own notebook: what is deleted there is a note.
_NOTEBOOKS = frozenset(
    ("memory", "knowledge", "todo", "todos", "notes", "memo", "scratchpad", "tasks", "taskmaster", "mem")
)
_SQL_WORDS = frozenset(
    ("sql", "query", "execute", "database", "db", "pg", "postgres", "postgresql", "mysql", "mariadb", "sqlite", "bigquery",
     "snowflake", "supabase", "redshift", "clickhouse", "duckdb", "cockroach", "neon", "mssql", "oracle", "statement", "dbhub")
)  # fmt: skip
_MONEY = frozenset(("refund", "refunds", "payout", "payouts", "payment", "payments", "funds", "money", "charge", "wire", "withdrawal", "withdraw"))  # fmt: skip
_STORES = frozenset(
    ("database", "db", "schema", "cluster", "environment", "project", "data", "all", "production", "prod", "cache", "bucket", "trash", "queue",
     "volume", "volumes", "keyspace", "table", "branch", "repository", "index", "topic", "store")
)  # fmt: skip
_APPLIERS = frozenset(("terraform", "tofu", "opentofu", "pulumi", "cloudformation", "terragrunt", "infrastructure"))


def _grave(words: list[str], server: list[str], given: Mapping[str, Any]) -> str:
    """What an MCP tool's name says that no file or statement shows: "wipes", "pays", "applies", "deploys",
    "unprotects"; "" for the rest."""
    said = set(words)
    if (
        not words
        or words[0] in _READS
        or said & {"dry", "preview", "plan", "simulate", "validate", "estimate", "quote"}
    ):
        return ""
    first = words[0]
    if said & {"flushall", "flushdb", "prune", "revoke", "factory"} or ("flush" in said and len(said) > 1):
        return "wipes"
    if first in ("reset", "empty", "clear", "nuke", "flush", "format") and said & _STORES and said - {"cache", first}:
        return "wipes"
    if said & _MONEY and not said & {"link", "links", "method", "methods", "intent", "reminder", "request"}:
        return "pays"
    if "apply" in said and (said | set(server)) & _APPLIERS:
        return "applies"
    if said & {"protection", "ruleset"} and first in ("update", "set", "edit", "disable", "modify", "put", "patch"):
        return "unprotects"
    if said & {"deploy", "promote", "release", "rollback", "publish"} and (
        said & {"production", "prod", "live"} or _production_roles(given)
    ):
        return "deploys"
    return ""


def _words(name: str) -> list[str]:
    """The words of a tool name: ``write_file``, ``writeFile`` and ``write-file`` are the same."""
    out: list[str] = []
    word = ""
    for c in name:
        if c in "_-./ ":
            if word:
                out.append(word.lower())
            word = ""
        elif c.isupper() and word and not word[-1].isupper():
            out.append(word.lower())
            word = c
        else:
            word += c
    if word:
        out.append(word.lower())
    return out


def _mcp(tool: str, given: Mapping[str, Any], event: Event, place: Place) -> Reading:
    """An MCP tool by its name's verb and by what its input holds: a path, code, SQL."""
    parts = tool.split("__", 2)
    name = parts[2] if len(parts) == 3 else tool.split("_", 2)[-1]
    words = _words(name)
    verb = next((w for w in words if w in _DELETES or w in _WRITES or w in _RUNS or w in _SENDS or w in _READS), "")
    annotations = event.raw.get("tool_annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    findings: list[Finding] = []
    reading = Reading(findings)
    server = _words(parts[1]) if len(parts) == 3 else []
    code = _first(given, _CODE_KEYS)
    listed = (
        given.get("args")
        if code
        else given.get("argv") or given.get("command") or given.get("cmd") or given.get("args")
    )
    if {"cell", "cells", "notebook", "jupyter", "ipython", "colab"} & {*words, *server} and given.get(
        "cell_type"
    ) != "markdown":
        source = code or _first(given, ("source", "new_source", "cell_source", "cell_content", "content"))
        if source and verb not in _READS and verb not in _DELETES:
            inner = _cell(source, event.cwd, place)
            reading.scripts, reading.command = inner.scripts, inner.command
            findings += _said_by(tool, inner.findings)
            return reading
    if isinstance(listed, list) and listed and all(isinstance(c, str) for c in listed):
        code = " ".join([code, *("'" + c.replace("'", "'\\''") + "'" for c in listed)]).strip()
    if code and (verb in _RUNS or any(w in _RUNS for w in words) or verb == ""):
        if {"redis", "valkey", "dragonfly"} & {*words, *server}:
            code = "redis-cli " + code
            words = ["shell"]
        inner = _code(name, words, code, given, event, place)
        reading.scripts, reading.command = inner.scripts, inner.command
        findings += _said_by(tool, inner.findings)
        return reading
    sql = _first(given, _SQL_KEYS)
    if sql and ("query" not in given or _SQL_WORDS & {*words, *server}):
        from .code.sql import read_sql

        roles = _production_roles(given)
        for act, thing in read_sql(sql):
            fact = {"drop": ("drop", thing.split(" ", 1)[0])}.get(act, (act,))
            if act in ("drop", "truncate", "flush", "delete-all", "update-all", "drop-column", "delete", "grant"):
                findings.append(Finding("database", Target("none", thing, roles), program=tool, facts=frozenset(fact)))
        return reading
    moving = ("source", "source_path", "src", "from", "old_path") if verb in ("move", "rename") else ()
    path = _first(given, (*moving, *_PATH_KEYS))
    facts = {"mcp"}
    grave = _grave(words, server, given)
    if grave and not _NOTEBOOKS & set(server):
        findings.append(
            Finding(
                "infrastructure",
                Target("remote", name, _production_roles(given)),
                sure="likely",
                program=tool,
                facts=frozenset(facts | {"mcp-" + grave}),
            )
        )
        return reading
    if hints.get("destructiveHint") is True:
        facts.add("destructive-hint")
    paths = given.get("paths")
    names = [path] if path else [p for p in paths if isinstance(p, str)] if isinstance(paths, list) else []
    if verb in _DELETES:
        whole = given.get("recursive") is True or any(w in ("directory", "dir", "folder", "tree") for w in words)
        for one in names[:20]:
            target = _file(one, event, place)
            more = {"force", "recursive"} if whole or place.world.kind(target.path) == "dir" else {"force"}
            findings.append(Finding("delete", target, program=tool, facts=frozenset(facts | more)))
        if not names and _NOTEBOOKS & set(server):
            findings.append(Finding("delete", Target("remote", name), program=tool, facts=frozenset(("mcp-note",))))
        elif not names:
            findings.append(
                Finding(
                    "infrastructure",
                    Target("remote", name, _production_roles(given)),
                    sure="likely",
                    program=tool,
                    facts=frozenset(facts | {"mcp-delete"}),
                )
            )
    elif verb in _WRITES and names:
        for one in names[:20]:
            target = _file(one, event, place)
            findings.append(
                Finding(
                    "move" if verb in ("move", "rename") else "overwrite",
                    target,
                    program=tool,
                    facts=frozenset(facts | {"file-tool"}),
                )
            )
        into = _first(given, ("destination", "dest", "new_path", "to"))
        if into:
            findings.append(
                Finding("overwrite", _file(into, event, place), program=tool, facts=frozenset(facts | {"file-tool"}))
            )
        text = _texts(given)
        if text:
            reading.scripts[classify(names[0], event.cwd, place).path] = text
    elif verb in _READS and names:
        for one in names[:20]:
            target = _file(one, event, place)
            if "secret" in target.roles:
                findings.append(Finding("read-secret", target, program=tool, facts=frozenset(facts)))
    elif verb in _SENDS:
        findings.append(Finding("send", Target("remote", name), sure="likely", program=tool, facts=frozenset(facts)))
    elif "destructive-hint" in facts:
        findings.append(
            Finding("infrastructure", Target("remote", name), sure="likely", program=tool, facts=frozenset(facts))
        )
    return reading


def _named(tool: str, given: Mapping[str, Any], reading: Reading, event: Event, place: Place) -> None:
    """A tool that is not known to only look, with a file of the gate or a host anywhere in its input, by whatever key.

    Texts that are content or words for somebody are passed over: those a person writes hold blanks.
    """
    words = set(_words(tool.split("__", 2)[-1]))
    if words & (_LOOKING_WORDS | set(_READS) | set(_SENDS)) and not words & {*_WRITES, *_DELETES, "copy", "move"}:
        return
    base = _first(given, ("repo_path", "cwd", "working_directory", "workdir", "root", "base_path"))
    cwd = absolute(base, event.cwd, place.world.home) if base else event.cwd
    todo: list[tuple[str, Any, int]] = [("", given, 0)]
    seen = 0
    while todo and seen < 400:
        key, value, depth = todo.pop()
        seen += 1
        if isinstance(value, dict) and depth < 5:
            todo += [(k, v, depth + 1) for k, v in list(value.items())[:100]]
        elif isinstance(value, list) and depth < 5:
            todo += [(key, v, depth + 1) for v in value[:100]]
        elif isinstance(value, str) and key not in _CONTENT_KEYS and 1 < len(value) <= 1024:
            if "\n" in value or ("/" not in value and "\\" not in value) or (" " in value and value[0] not in "/~"):
                continue
            target = classify(value.removeprefix("file://"), cwd, place)
            known = any(finding.target.path == target.path for finding in reading.findings)
            if target.roles & {"gate", "hook-settings"} and target.kind not in ("root", "home") and not known:
                reading.findings.append(
                    Finding("write", target, sure="likely", program=tool, facts=frozenset(("mcp",)))
                )


def _file(path: str, event: Event, place: Place) -> Target:
    target = classify(path, event.cwd, place)
    if not path.startswith(("/", "~", "./", "../")) and "://" in path:
        return Target("remote", path, target.roles)
    return target


def _production_roles(given: Mapping[str, Any]) -> tuple[str, ...]:
    from .programs import _production

    for value in given.values():
        if isinstance(value, str) and len(value) < 400 and _production(value.lower()):
            return ("production",)
    return ()


def _code(name: str, words: list[str], code: str, given: Mapping[str, Any], event: Event, place: Place) -> Reading:
    """Code handed to a tool: in the language its name says, else whatever it can be read as."""
    language = given.get("language") or given.get("lang")
    said = [*words, *([language.lower()] if isinstance(language, str) else [])]
    cwd = event.cwd
    where = given.get("cwd") or given.get("working_directory") or given.get("workdir")
    if isinstance(where, str) and where:
        cwd = where
    if any(w in ("shell", "bash", "terminal", "command", "sh", "console", "cmd", "process", "zsh") for w in said):
        return shell_call(code, cwd, place)
    for mark, known in (
        ("python", "python"),
        ("blender", "python"),
        ("jupyter", "python"),
        ("ipython", "python"),
        ("javascript", "node"),
        ("js", "node"),
        ("node", "node"),
        ("typescript", "node"),
        ("ruby", "ruby"),
        ("perl", "perl"),
        ("php", "php"),
        ("lua", "lua"),
        ("r", "r"),
        ("rscript", "r"),
        ("julia", "julia"),
    ):
        if mark in said:
            return _cell(code, cwd, place) if known == "python" else _interpreted(known, code, cwd, place)
    if _is_python(code):
        return _interpreted("python", code, cwd, place)
    return shell_call(code, cwd, place)


def _cell(code: str, cwd: str, place: Place) -> Reading:
    """A notebook cell: its shell lines and its Python."""
    shell, rest = cell_parts(code)
    if not shell:
        return _interpreted("python", code, cwd, place)
    reading = shell_call(shell, cwd, place)
    if rest.strip():
        reading.findings += _interpreted("python", rest, cwd, place).findings
    return reading


def _is_python(code: str) -> bool:
    if "import " not in code and "(" not in code:
        return False
    try:
        compile(code, "<code>", "exec", 0x400)  # PyCF_ONLY_AST: parsed, never run
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _interpreted(language: str, code: str, cwd: str, place: Place) -> Reading:
    from .programs.interpreters import code_effects
    from .walk import Invocation, Scope, Walk

    walk = Walk(place, code)
    inv = Invocation(walk, Scope(cwd), [language], 0, len(code), None, 0)
    code_effects(inv, language, code, [])
    return Reading(walk.findings, code)


def describe(findings: list[Finding], limit: int = 24) -> list[dict[str, object]]:
    """Findings as facts for the judge and the ledger; plain runs are left out."""
    out: list[dict[str, object]] = []
    for finding in findings:
        if finding.effect != "run":
            out.append(finding.record())
            if len(out) >= limit:
                break
    return out


__all__ = ["ANY", "Reading", "describe", "read_call", "shell_call", "shown"]
