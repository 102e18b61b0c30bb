"""tool.admission: which parts of a long result does the model need in its context?

Only for what is long and mostly noise: logs, searches, listings, web and MCP texts.  A file that is looked at, an edit,
an error or data is never cut: their value is in being whole (measured elsewhere: cutting file views keeps 44 % of what
is needed).  Stage 1 needs no network: lines are scored, the best are kept up to a budget, the beginning and the end
always, and what looks like an error even beyond the budget.  Stage 2 asks one question a passage of the middle band;
an unsure answer keeps, no answer leaves stage 1's word.

What is left out becomes one line that says how much it was and where the whole output is: a private file which the
model can read with its ordinary tools.  Nothing that was said in an earlier result is left out for that: after a
compaction the model would not have it any more.
"""

from __future__ import annotations

from ..event import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..event import Event, Source
    from ..shell.finding import Finding
    from . import Context, PointResult
    from .result import Path

ID = "tool.admission"
VERSION = 1
READY = True
CAPABILITIES = {"part": "relate"}
RIDES = True

LEAST = 4000  # characters of a text that is worth a look
MOST = 8_000_000  # characters that are read; what is longer goes out as it is
MAX_TERMS = 120  # words that are looked for
MAX_QUESTIONS = 16
SHOWN = 1200  # characters of a passage that a question is about
MIN_SAVED, MIN_SHARE = 300, 0.10  # characters and share below which a cut is not worth it
BUDGET = {"log": 0.30, "search": 0.40, "listing": 0.40, "prose": 0.50}  # share of the characters that is kept
CEILING = 0.60  # share that likely errors may raise it to
SURELY_NOISE = -0.55  # score of a line that tells of success or progress and nothing else
MAX_KEPT = 60_000  # characters kept of one text by rank alone
# Characters of all that is handed on: of a longer replacement the model gets what these hosts choose to show, and a file.
# Codex shows 10,000 bytes (2,500 tokens) of it, Claude Code 2 KB of what has more than 30,000 characters (seen on 0.171.0
# and 2.1.332); an eighth may go to the lines that stand for what was left out.
HANDED = {"codex": 8_500, "claude": 26_000}
LONGEST = 1200  # characters of a line that are judged as one
# Characters: what is shorter is kept, for the line that would stand for it is as long.
_GAP = {"log": 240, "search": 160, "listing": 160, "prose": 240}
_POINTER = "[jevhook left out "
_SHELLS = (
    "Bash", "PowerShell", "shell", "local_shell", "exec_command", "shell_command", "unified_exec", "run_shell_command",
)  # fmt: skip
_OUTPUTS = ("BashOutput", "TaskOutput", "write_stdin")  # of a command that was started before
_SEARCHES = ("Grep", "grep_search", "search_file_content")
_WEB = ("WebFetch", "WebSearch", "web_fetch", "web_search", "webfetch", "websearch", "google_web_search")
# Parts of an MCP tool's name that say that a file is viewed, or something changed or compared.
_MCP_VIEWS = (
    "file",
    "read",
    "edit",
    "write",
    "diff",
    "patch",
    "snippet",
    "source",
    "code",
    "schema",
    "snapshot",
    "commit",
)
_CODE_HEADS = (
    "#!", "import ", "from ", '"""', "/*", "// ", "package ", "using ", "#include", "<?php", "<!DOCTYPE", "<html", "use ",
    "---\n", "# -*-", "'use strict'", '"use strict"', "export ", "module ", "const ", "CREATE ", "BEGIN;",
)  # fmt: skip
_WORDS = {
    "log": "log lines",
    "search": "search results with little in common with the request",
    "listing": "entries with little in common with the request",
    "prose": "passages with little in common with the request",
}

_PASSING, _PROGRESS = "passing or finished steps", "progress"
KINDS = (*_WORDS.values(), _PASSING, _PROGRESS)


class Part:
    """One text of the result: its lines, which of them stay, and the passages that a question may be asked about.

    ``limit``: characters that may stay whatever they are, 0 for any.  ``keep`` and ``must``: a flag a line.  ``units``:
    the chunks that were ranked, and ``asked``: question id -> passage, each as (first line, line after the last).
    """

    __slots__ = ("asked", "keep", "kind", "limit", "lines", "must", "path", "scores", "text", "units")

    def __init__(self, path: Path, text: str, kind: str, limit: int = 0) -> None:
        self.path = path
        self.text = text
        self.kind = kind
        self.limit = limit
        self.lines: list[str] = []
        self.scores: list[float] = []
        self.keep: list[bool] = []
        self.must: list[bool] = []
        self.asked: dict[str, tuple[int, int]] = {}
        self.units: list[tuple[int, int]] = []


class Prepared:
    """``questions`` and ``state`` for the one call; ``parts``: the texts that were looked at."""

    __slots__ = ("event", "parts", "query", "questions", "state")

    def __init__(self, event: Event, parts: list[Part], query: dict[str, float]) -> None:
        self.event = event
        self.parts = parts
        self.query = query
        self.questions: dict[str, dict[str, Any]] = {}
        self.state: dict[str, Any] = {}


def applies(event: Event) -> bool:
    return event.kind == "after-tool"


def prepare(event: Event, ctx: Context) -> Prepared | None:
    """Stage 1 and the questions of stage 2; None where nothing is to be cut whatever it says."""
    if event.failed or event.result is None or ctx.policy.leaves(ID, event.tool):
        return None
    from .result import slots

    found = slots(event)
    whole = sum(len(slot.text) for slot in found)
    texts = [(slot.path, ctx.texts.get(slot.path, slot.text)) for slot in found if not slot.cut]
    texts = [(path, text) for path, text in texts if LEAST <= len(text) <= MOST]
    if not texts:
        return None
    purpose = purpose_of(event, ctx)
    if not purpose:
        return None
    from ..state.archive import named_in

    if named_in(event.input, ctx.env) or named_in(event.cwd, ctx.env):
        return None  # what was left out is being looked up
    kinds = [(path, text, kind_of(text, purpose)) for path, text in texts]
    kinds = [entry for entry in kinds if entry[2]]
    if not kinds:
        return None
    requests = _requests(event) if ctx.requests is None else ctx.requests
    query = wanted(event, requests)
    parts = []
    for path, text, kind in kinds:
        part = Part(path, text, kind, _limit(event.host, text, whole))
        choose(part, query, part.limit)
        parts.append(part)
    made = Prepared(event, parts, query)
    if requests and any(_worth(part) for part in parts):  # needed for what? without a request nobody can tell
        _ask(made, requests, ctx)
    return made


def settle(prepared: Prepared, answers: Mapping[str, Mapping[str, Any]], ctx: Context) -> PointResult:
    """The lines that stay, the pointer lines for the rest, and in active mode the text that is handed on.

    Where the archive can't be written nothing is cut.
    """
    from . import PointResult

    record: dict[str, Any] = {"kind": sorted({part.kind for part in prepared.parts})}
    chars = passages = kept = saved = heard = 0
    done: list[tuple[Part, str]] = []
    cut: list[str] = []
    for at, part in enumerate(prepared.parts):
        now = ctx.texts.get(part.path, part.text)
        verdicts = _verdicts(part, answers, ctx)
        heard += len(verdicts)
        if now != part.text:  # the point before us has taken something out since
            part = _again(part, now, prepared)
        apply(part, verdicts)
        chars += len(part.text)
        passages += len(part.units)
        if not _worth(part):
            kept += len(part.units)
            continue
        archived = ""
        if ctx.mode == "active":
            from ..state.archive import agree, keep, unwritten

            if ctx.offline:
                archived = unwritten(ctx.env)
            else:
                archived = keep(ctx.env, prepared.event, part.text, str(at))
            if not archived:
                record["note"] = "the archive could not be written: nothing was left out"
                kept += len(part.units)
                continue
            if not ctx.offline:
                part.keep = _flags(agree(archived, _spans(part.keep)), part.keep)
        text = render(part, archived)
        if len(part.text) - len(text) < MIN_SAVED or len(part.text) - len(text) < MIN_SHARE * len(part.text):
            kept += len(part.units)
            continue
        kept += sum(any(part.keep[start:end]) for start, end in part.units)
        saved += len(part.text) - len(text)
        done.append((part, text))
        if archived:
            cut.append(archived)
    record.update({"chars": chars, "chunks": passages, "kept": kept, "saved": saved})
    if prepared.questions:
        record["questions"] = [{"id": name, "type": "noul", "capability": "relate"} for name in prepared.questions]
        record["heard"] = heard
    source: Source = "judge" if heard else "rules"
    if not done:
        return PointResult(Decision(point=ID, source=source), record)
    if ctx.mode == "active":
        for part, text in done:
            ctx.texts[part.path] = text
        record["archived"] = len(cut)
    reason = "Where a line of this result says that something was left out, the file it names holds the whole output."
    note = f"{saved} of {chars} characters"
    return PointResult(Decision("trim", point=ID, reason=reason, source=source, note=note), record)


def judge(event: Event, ctx: Context) -> PointResult:
    """Stage 1 alone."""
    from . import PointResult

    prepared = prepare(event, ctx)
    if prepared is None:
        return PointResult(Decision(point=ID), {"reason": "out-of-scope"})
    return settle(prepared, {}, ctx)


# ------------------------------------------------------------------------------------------------------- what it is


_SOURCE = (
    ".py", ".pyi", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".go", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".java",
    ".kt", ".scala", ".rb", ".php", ".pl", ".lua", ".sh", ".bash", ".zsh", ".ps1", ".sql", ".html", ".css", ".scss", ".vue",
    ".svelte", ".json", ".toml", ".yaml", ".yml", ".xml", ".md", ".rst", ".ini", ".cfg", ".conf", ".env", ".tf", ".proto",
    ".ipynb", ".csv", ".tsv", ".diff", ".patch", ".swift", ".cs", ".ex", ".exs", ".erl", ".hs", ".ml", ".r", ".jl", ".dart",
    ".zig", ".nix", ".lock", ".gradle", ".cmake", ".mk",
)  # fmt: skip


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What a test runner, a build or a service prints is a log, whatever share of its lines looks so: program -> the
# subcommands of which that is so, None for all.  A plan of changes (terraform plan, kubectl diff) is read line by line.
_RUNNERS: dict[str, frozenset[str] | None] = {
    **dict.fromkeys(
        _set(
            "pytest py.test unittest nosetests nose2 tox nox jest vitest mocha ava karma cypress playwright ctest phpunit "
            "pest rspec minitest cucumber behave robot make gmake ninja cmake meson bazel gradle gradlew mvn mvnw ant sbt "
            "tsc eslint webpack rollup vite esbuild turbo nx lerna just task rake invoke journalctl dmesg ansible-playbook "
            "pre-commit act xcodebuild msbuild"
        )
    ),
    # what they list or show is read line by line
    **dict.fromkeys(
        _set("pip pip3 apt apt-get dnf yum brew conda mamba poetry"),
        _set(
            "install download wheel uninstall remove update upgrade full-upgrade dist-upgrade create add lock sync run build"
        ),
    ),
    "npm": _set("test t tst run run-script install i ci add update audit start exec rebuild build publish"),
    "yarn": None,
    "pnpm": _set("test t run install i add update exec build start recursive -r"),
    "bun": _set("test run install add build x"),
    "npx": None,
    "uv": _set("run sync pip add lock"),
    "cargo": _set("test t build b check c clippy run r bench doc install nextest update fetch publish"),
    "go": _set("test build vet run get mod install generate"),
    "dotnet": _set("test build run restore publish"),
    "mix": _set("test compile deps.get"),
    "docker": _set("build buildx compose logs pull push run up"),
    "docker-compose": None,
    "podman": _set("build logs pull push run compose"),
    "kubectl": _set("logs"),
    "helm": _set("install upgrade test"),
    "terraform": _set("apply destroy init"),
    "tofu": _set("apply destroy init"),
    "gh": _set("run"),
    "swift": _set("test build"),
    "manage.py": _set("test migrate"),
}
# Words of a runner that stand in what it prints, wherever it was started from.
_RUNNER_MARKS = (
    "test session starts", "short test summary info", "\nRan ", "test result: ", "\nTests: ", "npm ERR!", "npm error ",
    "BUILD FAILED", "BUILD SUCCESS", "--- FAIL: ", "\n=== RUN ", "Traceback (most recent call last)", "error: could not compile",
    "[INFO] ", "make: ***", "make[1]:", "Test Suites: ", "##[error]", "##[group]", "tests finished: ", "TAP version ",
)  # fmt: skip
_LOG_MARKS = (".log", ".out", ".err")
_VIEWERS = _set(
    "cat bat batcat less more head tail sed nl tac pr fold strings xxd hexdump od type Get-Content gc awk gawk perl view vi vim"
)
_GREPS = _set("grep egrep fgrep zgrep rg ag ack ugrep findstr Select-String sls")
_LISTS = _set("ls find fd fdfind tree du locate dir lsof Get-ChildItem gci exa eza")
_GIT_RUNS = _set("clone fetch pull push submodule gc checkout switch status lfs")
_DIFFS = _set("diff colordiff sdiff wdiff cmp comm patch jq yq xq sqlite3 psql mysql base64 openssl gpg")
_PASSERS = _set("cd export set source . echo printf sleep wait tee xargs sudo env time timeout nohup sort uniq cut tr wc column stdbuf unbuffer")  # fmt: skip


def purpose_of(event: Event, ctx: Context) -> str:
    """What the call's result may be: run (what a runner prints), log, search, listing, prose, any, "" for never cut.

    For log and any the text has to tell.
    """
    tool = event.tool
    if tool in _SHELLS:
        return _shell_purpose(event, ctx)
    if tool in _OUTPUTS:
        return "log"
    if tool in _SEARCHES:
        return "search"
    if tool in _WEB:
        return "prose"
    if not tool.startswith(("mcp__", "mcp_")):
        return ""
    name = tool.rpartition("__")[2].lower()
    return "" if any(word in name for word in _MCP_VIEWS) and "log" not in name else "any"


def _shell_purpose(event: Event, ctx: Context) -> str:
    if isinstance(event.result, dict) and event.result.get("interrupted") is True:
        return ""
    from ..shell.calls import read_call
    from .risk import place_of

    try:
        reading = read_call(event, place_of(event, ctx))
    except Exception:  # a call that can't be read is left alone
        return ""
    told: set[str] = set()
    before = None
    runs = [run for run in reading.findings if run.effect == "run" and run.program not in _PASSERS]
    # What else a recipe or a package's script does says nothing about what the tests in it print.
    tested = any(_in_script(run) and _program_purpose(run, False) == "run" for run in runs)
    for run in runs:
        if tested and _in_script(run) and _program_purpose(run, False) != "run":
            continue
        piped = before is not None and "|" in _between(reading.command, before, run)
        purpose = _program_purpose(run, piped)
        if not purpose:
            return ""
        if purpose != "any":
            if piped or "xargs" in run.via:  # what it reads is not what is printed
                told.clear()
            told.add(purpose)
        before = run
    return told.pop() if len(told) == 1 else "log"


def _in_script(run: Finding) -> bool:
    """Whether a runner (make, npm) runs this, by what its own file says."""
    return bool(run.via) and run.via[0].partition(" ")[0] in _RUNNERS


def _between(command: str, before: Finding, run: Finding) -> str:
    return command[before.end : run.start].replace("||", " ")


def _program_purpose(run: Finding, piped: bool) -> str:
    """What one program of the line prints; "" for what is never cut, any for what says nothing about it."""
    program = run.program
    sub = run.sub[0] if run.sub else ""
    if program in _DIFFS:
        return ""
    if program == "git":
        if sub in ("grep", "ls-files"):
            return "search" if sub == "grep" else "listing"
        return "run" if sub in _GIT_RUNS else ""  # log, show, diff, blame: dense, and asked for
    if program in _RUNNERS:
        subs = _RUNNERS[program]
        return "run" if subs is None or sub in subs else "any"
    if program in _VIEWERS:
        return "" if _views_a_file(program, run.words) else "any"
    if program in _GREPS:
        if sub in ("", ".", ".*", "^"):
            return ""  # the whole file, by way of a search
        return "any" if piped and len(run.sub) < 2 else "search"
    return "listing" if program in _LISTS else "any"


def _views_a_file(program: str, words: Sequence[str]) -> bool:
    """Whether a viewer shows a file that is no log: its operands, those of sed and awk without their program."""
    names = [word for word in words if word and word[:1] not in "-+"]
    if program in ("sed", "awk", "gawk", "perl") and names and not any(w in ("-f", "--file") for w in words):
        names = names[1:]
    if program in ("head", "tail"):
        names = [name for name in names if not name.isdigit()]
    return any(not _names_a_log(name) for name in names)


def _names_a_log(name: str) -> bool:
    low = name.lower().replace("\\", "/")
    base = low.rpartition("/")[2]
    if base.endswith(_SOURCE):
        return False
    return base.endswith(_LOG_MARKS) or ".log." in base or low.startswith("/var/log/") or "log" in base.split(".")[0]


def kind_of(text: str, purpose: str) -> str:
    """log, search, listing, prose, or "" for what must stay whole: data, code, a difference, one of our own cuts."""
    head = text[:20_000]
    if _POINTER in head and ("\n" + _POINTER) in "\n" + head:
        return ""
    if "\0" in head or "\ndiff --git " in "\n" + head or "\n@@ -" in head:
        return ""
    if _is_data(head.lstrip(), text[-200:].rstrip(), purpose):
        return ""
    lines = head.split("\n")
    if purpose == "run" and _holds_data(lines, text):
        return ""
    if purpose != "run" and (_numbered(lines) or (purpose != "prose" and head.lstrip().startswith(_CODE_HEADS))):
        return ""
    if purpose in ("search", "listing"):
        return purpose if len(lines) >= 20 else ""
    if purpose == "prose":
        return "log" if _logs(lines) > 0.5 else "prose"
    if any(mark in head or mark in text[-20_000:] for mark in _RUNNER_MARKS):
        return "log" if len(lines) >= 12 else ""
    if purpose == "run":
        if len(lines) < 12:
            return ""
        # A runner runs anything: what it prints may be a document, code, a table.
        return "" if _logs(lines) < 0.1 and _made(lines) else "log"
    share = _logs(lines)
    if share >= (0.2 if purpose == "log" else 0.4) and len(lines) >= 12:
        return "log"
    from ..text.salience import place_of

    places = sum(1 for line in lines[:200] if place_of(line) and line[:1] not in " \t")
    if places > 0.8 * min(len(lines), 200) and len(lines) >= 20:
        return "search" if sum(1 for line in lines[:200] if ":" in line) > 0.5 * min(len(lines), 200) else "listing"
    if purpose == "any" and _reads(lines):
        return "prose"
    return ""


def _is_data(head: str, end: str, purpose: str) -> bool:
    """Whether a text is JSON, JSON lines, XML or HTML: half of it is none."""
    after = head[1:40].lstrip()[:1]
    if head[:1] == "{":
        return after in ('"', "}") and end[-1:] == "}"
    if head[:1] == "[":
        return after in ('"', "{", "[", "]") and end[-1:] == "]"
    return head[:1] == "<" and end[-1:] == ">" and purpose != "run" and (after.isalpha() or after in ("!", "?"))


def _holds_data(lines: Sequence[str], text: str) -> bool:
    """Whether a text is JSON behind a few lines of a runner's own, and perhaps before some: npm names the script first."""
    before = 0
    for line in lines[:12]:
        if line[:1] in ("{", "[") and line[1:40].lstrip()[:1] in ("", '"', "{", "[", "}", "]"):
            end = max(text.rfind("\n}"), text.rfind("\n]"))
            return (end if end > before else len(text)) - before > 0.8 * len(text)
        before += len(line) + 1
    return False


def _made(lines: Sequence[str]) -> bool:
    """Whether lines are of something that was made to be read whole: code, settings, a table, a text in paragraphs."""
    filled = [line for line in lines[:400] if line.strip()]
    code = settings = 0
    columns: dict[tuple[str, int], int] = {}
    for line in filled:
        told = line.strip()
        code += told[-1] in "{};,("
        name, colon, value = told.removeprefix("- ").partition(":")
        settings += (
            bool(colon) and value[:1] in ("", " ") and name.strip("\"'").replace("_", "a").replace("-", "a").isalnum()
        )
        for sign in (",", "\t", "|", ";"):
            if sign in line:
                of = (sign, line.count(sign))
                columns[of] = columns.get(of, 0) + 1
    most = max(columns.values(), default=0)
    blank = len(lines[:400]) - len(filled)
    return max(code * 2, settings * 1.4, most * 1.25) > len(filled) or (blank > 0.25 * len(filled) and _reads(lines))


def _numbered(lines: Sequence[str]) -> bool:
    """Whether most lines carry the numbers of a file's lines, one after the other: a file view, by whatever tool."""
    before, steps, told = -1, 0, 0
    for line in lines[:400]:
        digits = line.lstrip()[:7]
        number = len(digits) - len(digits.lstrip("0123456789"))
        if number:
            at = int(digits[:number])
            steps += at == before + 1
            before = at
        told += bool(line.strip())
    return told > 0 and steps > 0.6 * told


def _logs(lines: Sequence[str]) -> float:
    """The share of lines that are as logs have them: an hour, an error, a verdict, a step."""
    from ..text.lexical import Folded, template
    from ..text.salience import NOISE, score_template

    folded = Folded()
    known: dict[str, float] = {}
    told = some = 0
    for line in lines[:400]:
        if not line.strip():
            continue
        some += 1
        made = template(line[:300], folded)
        score = known.get(made)
        if score is None:
            score = known[made] = score_template(made)
        if score >= 2.0 or score <= NOISE + 0.45 or _dated(line[:48]) or line[:2] in ("E ", "> "):
            told += 1
    return told / some if some else 0.0


def _dated(head: str) -> bool:
    """Whether a date or a time of day stands at a line's beginning."""
    for word in head.split(None, 4)[:4]:
        date = word.strip("[]()")
        if date[4:5] in ("-", ".", "/") and date[:4].isdigit() and date[5:7].isdigit() and date[7:8] == date[4]:
            return True
    at = head.find(":")
    minutes, after = head[at + 1 : at + 3], head[at + 3 : at + 4]
    return at >= 2 and head[at - 2 : at].isdigit() and minutes.isdigit() and after in (":", "")


def _reads(lines: Sequence[str]) -> bool:
    """Whether this is text that people read: long lines of words, few of the marks that code is made of."""
    filled = [line for line in lines[:300] if line.strip()]
    if not filled:
        return False
    code = sum(1 for line in filled if line.rstrip()[-1:] in "{};,()[]" or line[:4] == "    ")
    words = sum(len(line.split()) for line in filled)
    return code < 0.2 * len(filled) and words > 5 * len(filled)


# ------------------------------------------------------------------------------------------------------ what is kept


def _requests(event: Event) -> list[str]:
    """What the person asked for last, newest last: what a result is good for.  A help, never a condition."""
    if not event.transcript:
        return []
    from ..transcript import user_requests

    try:
        return user_requests(event.transcript, event.host)
    except Exception:
        return []


_ABOUT = (
    "command",
    "description",
    "pattern",
    "query",
    "prompt",
    "q",
    "search",
    "text",
    "question",
    "path",
    "url",
    "glob",
)


def wanted(event: Event, requests: Sequence[str]) -> dict[str, float]:
    """The words to look for: of the last request, and lighter of those before it, of its later part and of the call."""
    from ..text.lexical import terms

    query: dict[str, float] = {}

    def add(text: str, weight: float) -> None:
        for term, often in terms(text).items():
            query[term] = query.get(term, 0.0) + weight * often

    for at, request in enumerate(reversed(requests)):
        add(request[:250], 1.0 if at == 0 else 0.3)
        add(request[250:4000], 0.3 if at == 0 else 0.1)
    for key in _ABOUT:
        value = event.input.get(key)
        if isinstance(value, str):
            add(value[:1000], 0.3)
    if len(query) > MAX_TERMS:
        query = {term: query[term] for term in sorted(query, key=lambda t: (-query[t], t))[:MAX_TERMS]}
    return query


def _limit(host: str, text: str, whole: int) -> int:
    """Characters of a text that may stay because of what the host does to a longer replacement; 0 for no limit.

    ``whole``: characters of all the texts of the result, among which what may be handed on is shared out.
    """
    limit = HANDED.get(host, 0) * len(text) // max(whole, len(text))
    if limit and not text.isascii():  # Codex counts bytes, Claude Code UTF-16 units: never more than bytes
        limit = limit * len(text) // len(text.encode("utf-8", "replace"))
    return max(1, limit) if host in HANDED else 0


def choose(part: Part, query: Mapping[str, float], limit: int = 0, budget: float | None = None) -> None:
    """Fill in the part's lines, scores and what stays by stage 1.

    ``limit``: characters that may stay at most, whatever they are; 0 for none.  ``budget``: share instead of BUDGET's.
    """
    from ..text.chunks import lines

    part.lines = lines(part.text, LONGEST)
    sizes = [len(line) for line in part.lines]
    total = len(part.text)
    count = len(sizes)
    room = min((BUDGET[part.kind] if budget is None else budget) * total, MAX_KEPT)
    ceiling = room if budget is not None else max(room, CEILING * total)
    if limit:
        room, ceiling = min(room, limit), min(ceiling, limit)
    if part.kind == "log":
        part.scores, units = _log_units(part, query, sizes)
        strong = 4.4
    else:
        part.scores, units = _relevance_units(part, query)
        strong = max(part.scores, default=0.0) * 0.8 or 1.0
    part.units = sorted((start, end) for _, start, end in units)
    part.keep = [False] * count
    part.must = [False] * count
    if part.kind != "log" and not any(part.scores):  # nothing in common with anything: no way to tell
        part.keep = [True] * count
        part.must = [True] * count
        return
    used = 0
    head, tail = min(600, total // 16), min(1200, total // 10)
    held = 0
    for i in range(count):
        if held and held + sizes[i] > head:
            break
        part.must[i] = True
        held += sizes[i]
    used += held
    held = 0
    for i in range(count - 1, -1, -1):
        if part.must[i] or (held and held + sizes[i] > tail):
            break
        part.must[i] = True
        held += sizes[i]
    used += held
    for i in range(count):
        part.keep[i] = part.must[i]
    for score, start, end in sorted(units, key=lambda u: (-u[0], u[1])):
        if part.kind == "log" and max(part.scores[start:end]) <= SURELY_NOISE:
            continue  # everything in it passes or only moves on
        size = sum(sizes[i] for i in range(start, end) if not part.keep[i])
        if used + size <= room or (score >= strong and used + size <= ceiling):
            for i in range(start, end):
                part.keep[i] = True
            used += size
    _close_gaps(part, sizes)
    if limit > 1500:
        handed = sum(size for size, keep in zip(sizes, part.keep, strict=True) if keep) + 140 * (
            len(_spans(part.keep)) // 2
        )
        if handed > limit * 9 // 8:  # many short pieces, each with a line between: fewer of them
            choose(part, query, limit * 2 // 3, budget)


def _log_units(
    part: Part, query: Mapping[str, float], sizes: list[int]
) -> tuple[list[float], list[tuple[float, int, int]]]:
    """The lines' scores, and the units that are kept or left as one: (score, first line, line after the last)."""
    from ..text.lexical import bm25
    from ..text.salience import score_chunk, score_lines

    scores = score_lines(part.lines)
    names = {term: weight for term, weight in query.items() if "_" in term or len(term) > 9}
    if names:  # a request's own identifiers, where they are rare: the test, the function, the host it speaks of
        starts, at = [], 0
        for size in sizes:
            starts.append(at)
            at += size
        for i, shared in enumerate(bm25(names, part.text, starts, most=60)):
            if shared > 3:
                scores[i] = max(scores[i], 0.0) + min(1.5, shared / 4)
    target = min(LONGEST, max(800, len(part.text) // 20))
    starts_at: list[int] = []
    held = 0
    for i, line in enumerate(part.lines):
        # a failure starts its own unit, so that its header is not left with what stands before it
        header = held >= target // 3 and line[:4] in ("____", "====")
        if i == 0 or held + sizes[i] > target or header:
            starts_at.append(i)
            held = 0
        held += sizes[i]
    ends = [*starts_at[1:], len(sizes)][: len(starts_at)]  # of an empty text there is no unit
    units = [(score_chunk(scores[a:b], sizes[a:b]), a, b) for a, b in zip(starts_at, ends, strict=True)]
    return scores, units


def _relevance_units(part: Part, query: Mapping[str, float]) -> tuple[list[float], list[tuple[float, int, int]]]:
    from ..text.salience import score_places, score_prose

    if part.kind == "prose":
        scores, spans = score_prose(part.lines, query)
        return scores, [(scores[a], a, b) for a, b in spans]
    scores = score_places(part.lines, query)
    return scores, [(score, i, i + 1) for i, score in enumerate(scores)]


def _close_gaps(part: Part, sizes: Sequence[int]) -> None:
    """Keep what is shorter than the line that would stand for it."""
    least = _GAP[part.kind]
    start = 0
    count = len(part.keep)
    while start < count:
        if part.keep[start]:
            start += 1
            continue
        end = start
        while end < count and not part.keep[end]:
            end += 1
        if sum(sizes[start:end]) < least:
            for i in range(start, end):
                part.keep[i] = True
        start = end


def _saved(part: Part) -> int:
    return sum(len(line) for line, keep in zip(part.lines, part.keep, strict=True) if not keep)


def _worth(part: Part) -> bool:
    saved = _saved(part)
    return saved >= MIN_SAVED and saved >= MIN_SHARE * len(part.text)


# ----------------------------------------------------------------------------------------------------------- stage 2


def _ask(made: Prepared, requests: Sequence[str], ctx: Context) -> None:
    """Questions about the passages nearest to the cut, and the state they read."""
    from ..systemone.wire import noul
    from ..text.printable import printable
    from ..text.redact import redact

    found: list[tuple[float, int, int, int]] = []
    for at, part in enumerate(made.parts):
        found += [(distance, at, start, end) for distance, start, end in _band(part)]
    found.sort()
    if ctx.decided:
        found = [
            entry
            for entry in found
            if not _holds("".join(made.parts[entry[1]].lines[entry[2] : entry[3]]), ctx.decided)
        ]
    shown: dict[str, str] = {}
    for number, (_, at, start, end) in enumerate(sorted(found[:MAX_QUESTIONS], key=lambda f: f[1:])):
        name = f"c{number}"
        part = made.parts[at]
        part.asked[name] = (start, end)
        text = "".join(part.lines[start:end])
        shown[name] = printable(redact(text[: 4 * SHOWN], ctx.env))[:SHOWN]
        made.questions[name] = noul(
            f"Is the text at `untrusted_output_parts.{name}` needed to do what `user_requests` ask for?",
            true="It holds a failure, an error, a cause, a value, a name or a place that the next step on the request depends on.",
            false="It reports progress, repeats success, names what the request does not touch, or says what the other "
            "lines say already; the output's beginning, its end and its error lines are kept anyway.",
        )
    if not made.questions:
        return
    command = made.event.input.get("command") or made.event.input.get("query") or made.event.input.get("prompt") or ""
    made.state = {
        "user_requests": [redact(request, ctx.env)[:400] for request in requests],
        "untrusted_call": printable(redact(str(command)[:4000], ctx.env))[:600],
        "untrusted_output_parts": shown,
    }


def _holds(text: str, passages: Sequence[str]) -> bool:
    """Whether a part of one of the passages stands in ``text``, wherever either of them was cut."""
    for passage in passages:
        for at in range(0, len(passage), 30):
            piece = passage[at : at + 30]
            if len(piece.strip()) >= 16 and piece in text:
                return True
    return False


def _band(part: Part) -> list[tuple[float, int, int]]:
    """Passages that stage 1 is least sure of, as (distance from the cut, first line, line after the last)."""
    from ..text.salience import LIKELY

    passages: list[tuple[float, bool, int, int]] = []
    start, count = 0, len(part.lines)
    while start < count:
        end, size, keep = start, 0, part.keep[start]
        while end < count and part.keep[end] == keep and (end == start or size + len(part.lines[end]) <= SHOWN):
            size += len(part.lines[end])
            end += 1
        if not any(part.must[start:end]):
            passages.append((max(part.scores[start:end]), keep, start, end))
        start = end
    kept = [score for score, keep, _, _ in passages if keep]
    left = [score for score, keep, _, _ in passages if not keep]
    if not left:
        return []
    cut = (min(kept) + max(left)) / 2 if kept else max(left)
    return [
        (abs(score - cut), start, end)
        for score, keep, start, end in passages
        if (part.kind != "log" or -0.5 < score < LIKELY) and sum(len(line) for line in part.lines[start:end]) >= 120
    ]


def _verdicts(part: Part, answers: Mapping[str, Mapping[str, Any]], ctx: Context) -> dict[str, bool]:
    """What the judge says, by the passage's text: only a sure no leaves out."""
    no = ctx.policy.threshold("tool.admission.no", 0.2)
    told: dict[str, bool] = {}
    for name, (start, end) in part.asked.items():
        p = answers.get(name, {}).get("p")
        if isinstance(p, (int, float)) and not isinstance(p, bool):
            told["".join(part.lines[start:end])] = p > no
    return told


def apply(part: Part, verdicts: Mapping[str, bool]) -> None:
    """Put the judge's verdicts on the passages they are about."""
    if not verdicts:
        return
    for start, end in part.asked.values():
        keep = verdicts.get("".join(part.lines[start:end]))
        if keep is not None:
            for i in range(start, end):
                part.keep[i] = keep or part.must[i]
    _close_gaps(part, [len(line) for line in part.lines])


def _again(part: Part, text: str, prepared: Prepared) -> Part:
    """Stage 1 on what another point has left of the text; the passages that are still whole can be asked for again."""
    new = Part(part.path, text, part.kind, part.limit)
    choose(new, prepared.query, part.limit)
    at: dict[str, list[int]] = {}
    for i, line in enumerate(new.lines):
        at.setdefault(line, []).append(i)
    for name, (start, end) in part.asked.items():
        for first in at.get(part.lines[start], ()):
            if new.lines[first : first + end - start] == part.lines[start:end]:
                new.asked[name] = (first, first + end - start)
                break
    return new


# ------------------------------------------------------------------------------------------------------ what is said


def _spans(keep: Sequence[bool]) -> list[int]:
    """The flags as lengths of runs, the first of kept lines."""
    runs: list[int] = [0]
    state = True
    for flag in keep:
        if flag != state:
            runs.append(0)
            state = flag
        runs[-1] += 1
    return runs


def _flags(runs: Any, mine: list[bool]) -> list[bool]:
    """What ``_spans`` made of flags; ``mine`` for what is no such thing or not of this text."""
    if not isinstance(runs, list) or not all(isinstance(n, int) and 0 <= n <= len(mine) for n in runs):
        return mine
    flags: list[bool] = []
    state = True
    for n in runs[: len(mine) + 2]:
        flags += [state] * n
        state = not state
        if len(flags) > len(mine):
            return mine
    return flags if len(flags) == len(mine) else mine


def render(part: Part, archived: str) -> str:
    """The kept lines as they are, and one line for each run of lines left out."""
    out: list[str] = []
    number = 1  # of the line, as sed counts them
    i, count = 0, len(part.lines)
    named = False
    while i < count:
        if part.keep[i]:
            out.append(part.lines[i])
            number += part.lines[i].endswith("\n")
            i += 1
            continue
        end = i
        size = newlines = errors = 0
        while end < count and not part.keep[end]:
            size += len(part.lines[end])
            newlines += part.lines[end].endswith("\n")
            errors += part.kind == "log" and part.scores[end] >= 3.0
            end += 1
        last = number + newlines - (1 if part.lines[end - 1].endswith("\n") else 0)
        if out and not out[-1].endswith("\n"):
            out.append("\n")
        where = f"lines {number}-{last}" if last > number else f"line {number}"
        if archived:
            where += " of the same file" if named else f" of {archived}"
            named = True
        lines = last - number + 1
        also = f", {errors} of them like errors above" if errors else ""
        out.append(
            f"{_POINTER}{lines:,} {'line' if lines == 1 else 'lines'}, {size:,} characters ({_what(part, i, end)}{also}): {where}]\n"
        )
        number += newlines
        i = end
    return "".join(out)


def _what(part: Part, start: int, end: int) -> str:
    if part.kind != "log":
        return _WORDS[part.kind]
    scores = part.scores[start:end]
    passing = sum(1 for score in scores if score <= -0.95)
    steps = sum(1 for score in scores if score <= -0.55)
    if passing > 0.6 * len(scores):
        return _PASSING
    return _PROGRESS if steps > 0.6 * len(scores) else _WORDS["log"]
