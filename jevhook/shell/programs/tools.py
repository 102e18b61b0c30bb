"""Build and package tools that start what a project's own files say: package scripts, install hooks, recipes."""

from __future__ import annotations

from ..finding import ANY, STAR
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .interpreters import _bun, file_text, in_script, script_text
from .launch import runner
from .options import has, operands, value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..walk import Invocation, Scope


def node_manager(inv: Invocation) -> Flow | None:
    """npm, pnpm, yarn, bun: ``run NAME`` runs a line of package.json, which is read when it is there."""
    words = operands(inv.args, "--prefix", "-C", "--cwd", "--dir", "-w", "--workspace", "--filter", "-F")
    if not words:
        return None
    name = ""
    if words[0] in ("run", "run-script", "rum", "urn") and len(words) > 1:
        name = words[1]
    elif words[0] in ("test", "start", "stop", "restart", "t", "tst"):
        name = {"t": "test", "tst": "test"}.get(words[0], words[0])
    elif inv.name in ("yarn", "pnpm", "bun") and words[0] not in _VERBS:
        name = words[0]
    if not name and words[0] in ("install", "i", "ci", "add", "rebuild", "publish", "pack", "link"):
        if len(words) == 1 and not has(inv.args, "--ignore-scripts"):
            _package_lines(inv, _LIFECYCLE.get(words[0], ()))
        return runner(inv)
    if name:
        if _package_lines(inv, ("pre" + name, name, "post" + name), name):
            return UNKNOWN_FLOW
        if inv.name != "npm" and name not in _SCRIPTS and name.isascii() and name[:1] not in ".:/":
            # no script of that name to be seen: yarn and pnpm then start the project's own program
            inv.command([name, *inv.args[inv.args.index(name) + 1 :]], inv.name)
            return UNKNOWN_FLOW
    return runner(inv)


# Ordinary script names that are also programs: a script that cannot be seen is likelier.
_SCRIPTS = frozenset(
    (
        "test", "start", "stop", "restart", "build", "dev", "clean", "format", "lint", "kill", "halt", "reboot",
        "shutdown", "reset", "date", "env", "set", "time", "watch", "service", "make", "find", "sort", "split",
        "users", "mount", "rm", "deploy", "release", "drop", "delete", "truncate", "update", "docker", "server",
        "serve", "preview", "docs", "check", "wipe", "purge", "destroy", "login", "history", "power", "open", "print",
        "cat", "ls", "cp", "mv", "sh", "bash", "node", "python",
    )
)  # fmt: skip


_VERBS = frozenset(
    (
        "add", "remove", "install", "i", "ci", "up", "update", "upgrade", "exec", "dlx", "create", "init", "publish",
        "pack", "link", "unlink", "config", "cache", "list", "ls", "info", "view", "outdated", "audit", "why",
        "dedupe", "import", "login", "logout", "workspace", "workspaces", "set", "version", "versions", "npm", "node",
        "plugin", "rebuild", "store", "fetch", "prune", "patch", "x", "pm", "uninstall", "rm", "un", "global", "bin",
        "help", "whoami", "dist-tag", "deprecate", "unpublish", "owner", "team", "token",
    )
)  # fmt: skip


# What npm runs of the own package's scripts around a command.
_LIFECYCLE = {
    **dict.fromkeys(("install", "i", "ci", "rebuild"), ("preinstall", "install", "postinstall", "prepublish", "prepare")),
    **dict.fromkeys(("publish", "pack"), ("prepublishOnly", "prepare", "prepack", "postpack", "publish", "postpublish")),
}  # fmt: skip


def _package_lines(inv: Invocation, names: tuple[str, ...], wanted: str = "") -> bool:
    """Judge these scripts of the nearest package.json; whether the wanted one is there."""
    scripts, at = _package_scripts(inv)
    if wanted and not isinstance(scripts.get(wanted), str):
        return False
    for name in names:
        line = scripts.get(name)
        if isinstance(line, str) and line:
            scope = inv.scope.copy()
            scope.cwd = at
            before = len(inv.walk.findings)
            inv.code(line, f"{inv.name} run {name}", scope)
            in_script(inv, before)
    return True


def _base(inv: Invocation, *options: str) -> str:
    """The directory a tool works in, "" when it cannot be looked at."""
    if inv.scope.where or inv.scope.cwd[:1] != "/" or ANY in inv.scope.cwd:
        return ""
    named = value_of(inv.args, *options) if options else None
    at = inv.target(named).path if named else inv.scope.cwd
    return at.rstrip("/") if at[:1] == "/" and ANY not in at else ""


def _nearest(inv: Invocation, at: str, *names: str) -> tuple[str | None, str]:
    """The text of the first of these files in the directory or one above it within the project, and its directory."""
    for _ in range(8):
        for name in names:
            text = inv.walk.scripts.get(at + "/" + name) or inv.walk.world.text(at + "/" + name, 1 << 18)
            if text is not None:
                return text, at or "/"
        above = at[: at.rfind("/")] if "/" in at[1:] else ""
        if not above or at == inv.walk.place.project:
            break
        at = above
    return None, ""


def _json_table(text: str | None, key: str) -> dict[str, object]:
    from ...jsonio import loads

    try:
        whole = loads(text or "{}")
    except ValueError:
        return {}
    found = whole.get(key) if isinstance(whole, dict) else None
    return found if isinstance(found, dict) else {}


def _package_scripts(inv: Invocation) -> tuple[dict[str, object], str]:
    """The scripts of the nearest package.json and its directory."""
    base = _base(inv, "--prefix", "-C", "--cwd", "--dir")
    if not base:
        return {}, ""
    text, at = _nearest(inv, base, "package.json")
    return _json_table(text, "scripts"), at


def bun(inv: Invocation) -> Flow | None:
    words = operands(inv.args, "--cwd")
    path = words[1] if words[:1] == ["run"] and len(words) > 1 else words[0] if words else ""
    if has(inv.args, "-e", "--eval", "-p", "--print") or words[:1] in (["eval"], ["x"]) or "." in path:
        return _bun(inv)
    return node_manager(inv)


def deno_task(inv: Invocation, name: str) -> None:
    base = _base(inv, "--cwd")
    text, at = _nearest(inv, base, "deno.json", "deno.jsonc", "package.json") if base else (None, "")
    line = _json_table(text, "tasks").get(name) or _json_table(text, "scripts").get(name)
    line = line.get("command") if isinstance(line, dict) else line
    if isinstance(line, str):
        _line(inv, line, "deno task", at)


def composer(inv: Invocation) -> Flow | None:
    words = operands(inv.args, "-d", "--working-dir")
    name = words[1] if words[:1] in (["run"], ["run-script"]) and len(words) > 1 else words[0] if words else ""
    base = _base(inv, "-d", "--working-dir")
    if not name or not base:
        return None
    scripts = _json_table(_nearest(inv, base, "composer.json")[0], "scripts")
    names = [name] if name not in ("install", "update") else [f"pre-{name}-cmd", f"post-{name}-cmd", "post-autoload-dump"]  # fmt: skip
    for one in names:
        lines = scripts.get(one)
        for line in [lines] if isinstance(lines, str) else lines if isinstance(lines, list) else []:
            if isinstance(line, str) and "::" not in line:
                _line(inv, line.removeprefix("@"), "composer", base)
    return None


def python_task(inv: Invocation) -> Flow | None:
    """poe NAME and pdm run NAME: a line of pyproject.toml."""
    words = operands(inv.args, "-C", "--root", "-p", "--project")
    if inv.name == "pdm":
        if words[:1] != ["run"]:
            return runner(inv)
        words = words[1:]
    base = _base(inv, "-C", "--root", "-p", "--project")
    text, at = _nearest(inv, base, "pyproject.toml") if base and words else (None, "")
    if text is not None and ("tool.poe" in text or "tool.pdm" in text):
        import tomllib

        try:
            tool = tomllib.loads(text).get("tool", {})
        except (tomllib.TOMLDecodeError, RecursionError):
            tool = {}
        table = tool.get("poe", {}).get("tasks", {}) if inv.name == "poe" else tool.get("pdm", {}).get("scripts", {})
        line = table.get(words[0]) if isinstance(table, dict) else None
        if isinstance(line, dict):
            line = line.get("cmd") or line.get("shell")
        if isinstance(line, str):
            _line(inv, line, f"{inv.name} {words[0]}", at)
            return UNKNOWN_FLOW
    return runner(inv) if inv.name == "pdm" else None


def _line(inv: Invocation, line: str, via: str, at: str) -> None:
    scope: Scope = inv.scope.copy()
    scope.cwd = at or scope.cwd
    before = len(inv.walk.findings)
    inv.code(line, via, scope)
    in_script(inv, before)


# -- recipes: make, just, task -----------------------------------------------------------------------------------

MAX_RECIPES = 40  # targets that one call is followed into
_UNSET = "\0unset"  # the value of a variable that no line of the file sets
MAX_LINES = 400  # lines of recipes that are read in one call


def make_targets(inv: Invocation, name: str) -> None:
    """The recipes of the targets that ``make`` is asked for, the first one when none is named, and what they need."""
    if has(inv.args, "-n", "--dry-run", "--just-print", "--recon", "-q", "-t", "-p", "-v", "--version", "--help"):
        return
    base = _base(inv, "-C", "--directory")
    if not base or inv.depth > 6:
        return
    text = None
    for one in (name,) if name else ("GNUmakefile", "makefile", "Makefile"):
        text = file_text(inv, one if one[:1] == "/" else base + "/" + one)
        if text is not None:
            break
    if text is None:
        return
    given = dict(a.split("=", 1) for a in inv.args if "=" in a and a.split("=", 1)[0].replace("_", "a").isalnum())
    rules, values, first = _make_rules(text)
    if "include" not in text:
        values[_UNSET] = ""
    for key, value in inv.walk.world.env.items():
        values.setdefault(key, value)
    values.update(given)
    values.update({"CURDIR": base, "PWD": base, "MAKE": "make", "RM": "rm -f", "SHELL": "/bin/sh"})
    asked = [a for a in operands(inv.args, "-C", "-f", "-j", "-o", "-W", "-I", "--directory", "--file", "--jobs", "-l", "-O") if "=" not in a and not a.isdigit()]  # fmt: skip
    todo = asked or ([first] if first else [])
    done: set[str] = set()
    left = MAX_LINES
    while todo and len(done) < MAX_RECIPES:
        target = todo.pop(0)
        if target in done or target not in rules:
            continue
        done.add(target)
        needs, lines = rules[target]
        needed = _made(" ".join(needs), values, target, "", 0).replace("|", " ").split()
        todo += needed
        for line in lines[:left]:
            command = _made(line, values, target, needed[0] if needed else "", 0).replace("$$", "$")
            _line(inv, command.lstrip("@-+ \t"), f"make {target}", base)
        left -= len(lines)
        if left <= 0:
            break


def _make_rules(text: str) -> tuple[dict[str, tuple[list[str], list[str]]], dict[str, str], str]:
    """Targets with their prerequisites and recipe lines, the plain variables, and the first target."""
    rules: dict[str, tuple[list[str], list[str]]] = {}
    values: dict[str, str] = {}
    first = ""
    current: list[str] = []
    for line in text.replace("\\\n", " ").split("\n"):
        if line[:1] == "\t":
            for target in current:
                rules[target][1].append(line.strip())
            continue
        bare = line.split("#", 1)[0].rstrip()
        if not bare.strip():
            continue
        name, mark, value = bare.partition("=")
        word = name.rstrip(":?+! ").strip().removeprefix("export ").removeprefix("override ").strip()
        if mark and " " not in word and word and ":" not in word:
            if name.rstrip()[-1:] == "+":
                values[word] = (values.get(word, "") + " " + value.strip()).strip()
            elif name.rstrip()[-1:] != "?" or word not in values:
                values[word] = value.strip()
            continue
        head, mark, rest = bare.partition(":")
        if not mark or head[:1] == " ":
            current = current if head[:1] == " " else []
            continue
        needs, _, command = rest.lstrip(":").partition(";")
        current = head.split()
        for target in current:
            had = rules.setdefault(target, ([], []))
            if "=" not in needs:
                had[0].extend(needs.split())
            if command.strip():
                had[1].append(command.strip())
            if not first and target[:1] != "." and "%" not in target:
                first = target
    return rules, values, first


def _made(text: str, values: dict[str, str], target: str, need: str, depth: int) -> str:
    """make's own expansion; what is not known here becomes an unknown piece, ``$$`` stays."""
    if "$" not in text:
        return text
    out: list[str] = []
    i = 0
    while i < len(text):
        at = text.find("$", i)
        if at < 0 or len(out) > 4000:
            out.append(text[i:])
            break
        out.append(text[i:at])
        c = text[at + 1 : at + 2]
        if c == "$":
            out.append("$$")
            i = at + 2
        elif c in ("(", "{"):
            close, level = at + 1, 0
            for close in range(at + 1, len(text)):
                level += 1 if text[close] == c else -1 if text[close] == (")" if c == "(" else "}") else 0
                if not level:
                    break
            name = text[at + 2 : close]
            if name in ("@D", "<D"):
                out.append(".")
            elif name in values and depth < 8:
                out.append(_made(values[name], values, target, need, depth + 1)[:4096])
            else:  # make takes what is set nowhere for empty
                out.append(values.get(_UNSET, ANY) if name.isidentifier() else ANY)
            i = close + 1
        else:
            out.append({"@": target, "<": need, "^": need}.get(c, values.get(c, ANY)))
            i = at + 2
    return "".join(out)


def just(inv: Invocation) -> Flow | None:
    """just NAME: the recipe's lines out of the justfile, and those of the recipes it depends on."""
    if has(inv.args, "-n", "--dry-run", "-l", "--list", "--summary", "--show", "-s", "--dump", "--evaluate", "--fmt"):
        return None
    named = value_of(inv.args, "-f", "--justfile")
    base = _base(inv, "-d", "--working-directory")
    if not base:
        return None
    if named:
        text, at = file_text(inv, named), base
    else:
        text, at = _nearest(inv, base, "justfile", "Justfile", ".justfile")
    if text is None:
        return None
    rules: dict[str, tuple[list[str], list[str]]] = {}
    values: dict[str, str] = {}
    first = current = ""
    for line in text.split("\n"):
        if line[:1] in " \t":
            if current and line.strip():
                rules[current][1].append(line.strip())
            continue
        if line[:1] in "#[" or not line.strip():
            continue
        name, mark, value = line.partition(":=")
        if mark:
            values[name.strip().removeprefix("export ").strip()] = value.strip().strip("\"'`")
            continue
        head, mark, needs = line.partition(":")
        current = head.split()[0].lstrip("@") if mark and head.split() else ""
        if current:
            rules[current] = (needs.replace("&&", " ").replace("(", " ").replace(")", " ").split(), [])
            first = first or current
    todo = [a for a in operands(inv.args, "-f", "--justfile", "-d", "--working-directory", "--set") if a in rules]
    _recipes(inv, rules, todo or [first], values, "just", at)
    return None


def task(inv: Invocation) -> Flow | None:
    """task NAME: the ``cmds`` of Taskfile.yml, read by indentation."""
    if has(inv.args, "-n", "--dry", "-l", "--list", "--list-all", "-a", "--summary", "-s", "--status"):
        return None
    base = _base(inv, "-d", "--dir")
    text, at = _nearest(inv, base, "Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "Taskfile.dist.yml") if base else (None, "")  # fmt: skip
    if text is None:
        return None
    rules: dict[str, tuple[list[str], list[str]]] = {}
    inside = False
    own = -1
    current = part = ""
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare[:1] == "#":
            continue
        indent = len(line) - len(line.lstrip())
        if indent == 0:
            inside, own, current = bare == "tasks:", -1, ""
            continue
        if not inside:
            continue
        own = indent if own < 0 else own
        if indent == own:
            current, _, value = bare.partition(":")
            current = current.strip("\"'")
            rules[current] = ([], [value.strip()] if value.strip() else [])
            part = ""
            continue
        if not current:
            continue
        key, mark, value = bare.partition(":")
        if mark and key in ("cmds", "cmd", "deps", "desc", "vars", "env", "sources", "generates", "status", "preconditions", "requires"):  # fmt: skip
            part = key
            if value.strip() and key == "cmd":
                rules[current][1].append(value.strip().strip("\"'"))
            elif key == "deps":
                rules[current][0].extend(value.strip(" []").replace(",", " ").split())
        elif part in ("cmds", "cmd", "deps"):
            item = bare.removeprefix("- ").strip()
            if item.startswith("task:"):
                rules[current][0].append(item[5:].strip())
            elif part == "deps":
                rules[current][0].append(item)
            elif item not in ("|", ">", "|-", ">-", "cmd: |"):
                item = item.removeprefix("cmd:").strip()
                rules[current][1].append(item[1:-1] if item[:1] in "\"'" and item[:1] == item[-1:] else item)
    todo = [a for a in operands(inv.args, "-d", "--dir", "-t", "--taskfile") if a in rules] or ["default"]
    _recipes(inv, rules, todo, {}, "task", at)
    return None


def _recipes(inv: Invocation, rules: dict[str, tuple[list[str], list[str]]], todo: list[str], values: dict[str, str], via: str, at: str) -> None:  # fmt: skip
    done: set[str] = set()
    left = MAX_LINES
    while todo and len(done) < MAX_RECIPES and inv.depth <= 6:
        name = todo.pop(0)
        if name in done or name not in rules:
            continue
        done.add(name)
        needs, lines = rules[name]
        todo += needs
        lines = [_braced(line, values) for line in lines[:left]]
        left -= len(lines)
        if lines and lines[0][:2] == "#!":
            before = len(inv.walk.findings)
            script_text(inv, "\n".join(lines) + "\n", at + "/" + name, [], via)
            in_script(inv, before)
            continue
        for line in lines:
            _line(inv, line.lstrip("@-"), f"{via} {name}", at)


def _braced(text: str, values: dict[str, str]) -> str:
    """``{{name}}`` replaced by its value, or by an unknown piece."""
    pieces = text.split("{{")
    for i in range(1, len(pieces)):
        name, mark, rest = pieces[i].partition("}}")
        pieces[i] = values.get(name.strip(), ANY) + rest if mark else "{{" + pieces[i]
    return "".join(pieces)


# -- deleters that are not rm ------------------------------------------------------------------------------------


def deleter(inv: Invocation) -> Flow:
    """rimraf, del-cli, safe-rm …: whole trees, asking nobody; wildcards in quotes are theirs to expand."""
    if has(inv.args, "--help", "--version", "--dry-run", "-d" if inv.name in ("del", "del-cli") else "--dry-run"):
        return UNKNOWN_FLOW
    plain_rm = inv.name in ("safe-rm", "rm-safe")
    facts = ("recursive", "force") if not plain_rm else tuple(
        fact for fact, flags in (("recursive", ("-r", "-R", "--recursive")), ("force", ("-f", "--force"))) if has(inv.args, *flags)
    )  # fmt: skip
    for path in operands(inv.args, "--impl", "--tmp", "--max-retries", "--retry-delay", "--backoff", "--concurrency"):
        if path[:1] != "!":
            inv.add("delete", inv.target(path.replace("*", STAR)), facts=facts)
    return NO_FLOW


def either_del(inv: Invocation) -> Flow:
    """``del`` is Windows' own, and del-cli's short name."""
    from .files import windows_del

    switches = any(a[:1] == "/" and len(a) == 2 and a[1].isalpha() for a in inv.args)
    return windows_del(inv) if switches or not inv.scope.via else deleter(inv)


def cmake(inv: Invocation) -> Flow | None:
    """``cmake -E``: rm, remove_directory, and the verbs that start a command."""
    if inv.args[:1] != ["-E"] or len(inv.args) < 3:
        return None
    verb, rest = inv.args[1], inv.args[2:]
    if verb in ("rm", "remove"):
        inv.command(["rm", *rest], "cmake -E")
    elif verb == "remove_directory":
        inv.command(["rm", "-rf", *rest], "cmake -E")
    elif verb in ("env", "time"):
        inv.command([verb, *rest], "cmake -E")
    elif verb == "chdir" and len(rest) > 1:
        scope = inv.scope.copy()
        scope.cwd = inv.target(rest[0]).path or ANY
        inv.command(rest[1:], "cmake -E", scope=scope)
    elif verb in ("copy", "rename", "copy_directory") and len(rest) > 1:
        inv.command(["mv" if verb == "rename" else "cp", *rest], "cmake -E")
    return None


def cargo(inv: Invocation) -> Flow | None:
    """``cargo watch -s CODE``: a shell line at every change."""
    if inv.args[:1] == ["watch"]:
        for code in values_of(inv.args, "-s", "--shell"):
            inv.code(code, "cargo watch")
    return None


def apply_patch(inv: Invocation) -> Flow | None:
    """Codex's patch program inside a shell call: the same files as the tool of that name."""
    from ..calls import patch_files

    text = (
        inv.args[0]
        if inv.args and "*** " in inv.args[0]
        else (inv.stdin.text if inv.stdin is not None and inv.stdin.text else "")
    )
    for effect, path, body in patch_files(text):
        target = inv.target(path)
        inv.add(effect, target, facts=("patch", "file-tool"))
        if body and effect == "overwrite" and target.path:
            inv.walk.scripts[target.path] = body
    return None


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    "bun": bun, "deno": _bun, "composer": composer, "poe": python_task, "pdm": python_task, "just": just, "task": task, "go-task": task, "cmake": cmake, "cargo": cargo,
    **dict.fromkeys(("rimraf", "del-cli", "safe-rm", "rm-safe", "premove", "rmrf", "rm-rf"), deleter), "del": either_del,
    "npm": node_manager, "pnpm": node_manager, "yarn": node_manager, "apply_patch": apply_patch, "applypatch": apply_patch,
}  # fmt: skip
