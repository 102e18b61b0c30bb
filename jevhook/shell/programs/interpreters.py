"""Interpreters: code on the line, in a here-document, behind a pipe or in a script on disk, read for its effects."""

from __future__ import annotations

from ..finding import ANY, NAME, QMARK, STAR, Target
from ..walk import MAX_SCRIPT, NO_FLOW, UNKNOWN_FLOW, Flow
from .options import has, operands, value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..walk import Invocation

SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "rbash", "fish", "csh", "tcsh", "pwsh-sh", "yash", "posh")


def interactive(inv: Invocation, how: str = "") -> None:
    """A shell or REPL is opened: where input to it fires no hook (Codex write_stdin), nothing after it is seen."""
    inv.add("interactive", Target("none"), facts=(how,) if how else (), sure="likely")


def tainted_code(inv: Invocation, taints: frozenset[str]) -> None:
    if "network" in taints or "remote-output" in taints:
        known = "stranger" not in taints and "remote-output" not in taints
        inv.add(
            "run-remote-code",
            Target("remote"),
            facts=("known-installer",) if known else (),
            detail="what was downloaded is run",
        )
    elif "decoded" in taints:
        inv.add("run-decoded", Target("unknown"), detail="what was decoded is run")


def shell(inv: Invocation) -> Flow:
    args = inv.args
    code: str | None = None
    login = False
    i = 0
    reads_stdin = False
    while i < len(args):
        arg = args[i]
        if arg in ("--", "-"):
            i += 1
            break
        if arg[:1] not in "-+" or len(arg) == 1:
            break
        if arg in ("--rcfile", "--init-file", "-O", "+O", "-o", "+o"):
            if arg in ("--rcfile", "--init-file") and i + 1 < len(args):
                _script(inv, args[i + 1], [], inv.name)
            i += 2
            continue
        if arg[:2] != "--" and "c" in arg[1:]:
            i += 1
            if i < len(args) and args[i] == "--":
                i += 1
            if i < len(args):
                code = args[i]
                i += 1
            break
        if arg[:2] != "--" and "s" in arg[1:]:
            reads_stdin = True
        login = login or arg in ("-l", "--login", "-i", "-li", "-il")
        i += 1
    rest = args[i:]
    for name in ("BASH_ENV", "ENV"):
        if inv.env.get(name):
            _script(inv, inv.env[name], [], name)
    scope = inv.scope.copy()
    if code is not None:
        tainted_code(inv, inv.taints)
        scope.args = rest[1:] if rest else []
        if rest:
            scope.env["0"] = rest[0]
        if code.strip(ANY) == "" and code:
            inv.add("run-unknown", Target("unknown"), detail=f"{inv.name} -c with code that is not visible here")
            return UNKNOWN_FLOW
        return inv.code(code, f"{inv.name} -c", scope, inv.stdin)
    if rest and not reads_stdin:
        scope.args = rest[1:]
        return _script(inv, rest[0], rest[1:], inv.name)
    if inv.stdin is not None:
        return _stdin_code(inv, scope, rest)
    if not has(args, "--version", "--help"):
        interactive(inv)
    return UNKNOWN_FLOW


def _stdin_code(inv: Invocation, scope: object, rest: list[str]) -> Flow:
    from ..walk import Scope

    assert isinstance(scope, Scope)
    flow = inv.stdin
    assert flow is not None
    tainted_code(inv, flow.taints)
    scope.args = rest
    if flow.text is not None:
        return inv.code(flow.text, f"| {inv.name}", scope, NO_FLOW)
    if not flow.taints & {"network", "decoded", "remote-output"}:
        facts = ("from-file",) if "file" in flow.taints else ()
        inv.add(
            "run-unknown",
            Target("unknown"),
            facts=facts,
            detail=f"text that is not visible here is piped into {inv.name}",
        )
    return UNKNOWN_FLOW


def _script(inv: Invocation, path: str, args: list[str], via: str) -> Flow:
    """A script by path: written on this line, or read from disk within bounds."""
    if inv.name.startswith(("python", "pypy")) and path.removesuffix("/__main__.py").rsplit("/", 1)[-1] == "jevhook":
        return inv.command(["jevhook", *args], via)  # the package's directory, or its entry
    if path in ("/dev/fd/0", "/proc/self/fd/0"):
        path = "/dev/stdin"
    if path.startswith("/dev/fd/") or path in ("/dev/stdin", "-"):
        text = inv.walk.scripts.get(path)
        if text is not None:
            return inv.code(text, f"{via} <()")
        taints = inv.taints | (inv.stdin.taints if inv.stdin is not None else frozenset())
        tainted_code(inv, taints)
        if path in ("/dev/stdin", "-") and inv.stdin is not None and inv.stdin.text is not None:
            return inv.code(inv.stdin.text, via)
        if not taints & {"network", "decoded", "remote-output"}:
            inv.add("run-unknown", Target("unknown"), detail="code that is not visible here is run")
        return UNKNOWN_FLOW
    target = inv.target(path)
    marks = inv.walk.scripts.get(target.path + "\0taint")
    if marks:
        tainted_code(inv, frozenset(marks.split(",")))
        return UNKNOWN_FLOW
    text = inv.walk.scripts.get(target.path)
    if text is None and (STAR in target.path or QMARK in target.path):
        matches = globbed(inv, target.path)
        for match in matches:
            _script(inv, match, args, via)
        if matches:
            return UNKNOWN_FLOW
    copied = inv.walk.scripts.get(target.path + "\0copy")
    if text is None and copied:
        target = inv.target(copied)
    if (
        text is None
        and not inv.scope.where
        and target.path[:1] == "/"
        and ANY not in target.path
        and STAR not in target.path
    ):
        if inv.walk.world.size(target.path) > MAX_SCRIPT:
            inv.add("run-unknown", target, facts=("too-large",), sure="unknown")
            return UNKNOWN_FLOW
        text = inv.walk.world.text(target.path, MAX_SCRIPT)
    if text is None:
        inv.add("run", target, facts=("script", "unseen"), sure="unknown")
        return UNKNOWN_FLOW
    return script_text(inv, text, target.path, args, via)


def globbed(inv: Invocation, pattern: str) -> list[str]:
    """The files that a path with wildcards in its last part names, as far as the directory can be looked at."""
    from ..paths import glob_match

    directory, _, name = pattern.rpartition("/")
    if inv.scope.where or pattern[:1] != "/" or any(c in directory for c in (STAR, QMARK, ANY, NAME)) or ANY in name:
        return []
    found = inv.walk.world.names(directory or "/", 500) or []
    return [f"{directory}/{n}" for n in sorted(found) if n[:1] != "." and glob_match(name, n)][:50]


def file_text(inv: Invocation, path: str) -> str | None:
    """The text of a file that is about to be run: written on this line, or on disk within bounds."""
    target = inv.target(path)
    text = inv.walk.scripts.get(target.path)
    if text is not None:
        return text
    at = inv.walk.scripts.get(target.path + "\0copy") or target.path
    if inv.scope.where or at[:1] != "/" or ANY in at or STAR in at:
        return None
    return inv.walk.world.text(at, MAX_SCRIPT) if 0 < inv.walk.world.size(at) <= MAX_SCRIPT else None


def in_script(inv: Invocation, before: int) -> None:
    """Mark the findings since ``before`` as coming out of a file and not off the line."""
    for finding in inv.walk.findings[before:]:
        finding.facts = finding.facts | {"in-script"}


def script_text(inv: Invocation, text: str, path: str, args: list[str], via: str) -> Flow:
    """The text of a script, in whatever language it is in."""
    if "\0" in text[:4096]:  # a binary
        return UNKNOWN_FLOW
    first = text.split("\n", 1)[0] if text[:2] == "#!" else ""
    language = _language(inv.name if inv.name in _LANGUAGES else "", first, path)
    if inv.name in SHELLS or language in ("sh", None):
        if not first and inv.name not in SHELLS and not path.endswith((".sh", ".bash", ".zsh")) and via != "source":
            return UNKNOWN_FLOW
        scope = inv.scope if via == "source" else inv.scope.copy()
        if args or via != "source":
            scope.args = args
        # where the script lies: what SCRIPT_DIR="$(dirname "${BASH_SOURCE[0]}")" is made of
        saved = {name: scope.env.get(name) for name in ("0", "BASH_SOURCE")}
        if path[:1] == "/":
            scope.env["BASH_SOURCE"] = path
            if via != "source":
                scope.env["0"] = path
        before = len(inv.walk.findings)
        flow = inv.code(text, f"script {path[path.rfind('/') + 1 :]}", scope)
        in_script(inv, before)
        for name, value in saved.items():
            if value is None:
                scope.env.pop(name, None)
            else:
                scope.env[name] = value
        return flow
    before = len(inv.walk.findings)
    code_effects(inv, language, text, args)
    in_script(inv, before)
    return UNKNOWN_FLOW


def run_path(inv: Invocation) -> Flow:
    """``./script``, ``/path/to/tool``: a file is started directly."""
    target = inv.target(inv.path)
    if (
        target.path in inv.walk.scripts
        or (target.path + "\0taint") in inv.walk.scripts
        or (target.path + "\0copy") in inv.walk.scripts
        or (
            not inv.scope.where
            and target.kind not in ("system",)
            and 0 < inv.walk.world.size(target.path) <= MAX_SCRIPT
        )
    ):
        return _script(inv, inv.path, inv.args, inv.name)
    return UNKNOWN_FLOW


def source(inv: Invocation) -> Flow:
    if not inv.args:
        return NO_FLOW
    saved = inv.name
    inv.name = "bash"
    try:
        target = inv.target(inv.args[0])
        if (
            inv.args[0].startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/0"))
            or target.path in inv.walk.scripts
            or (target.path + "\0taint") in inv.walk.scripts
            or target.path.endswith((".sh", ".bash", ".zsh"))
        ):
            return _script(inv, inv.args[0], inv.args[1:], "source")
    finally:
        inv.name = saved
    return NO_FLOW


_LANGUAGES = {
    "python": "python", "python2": "python", "python3": "python", "pypy": "python", "pypy3": "python", "ipython": "python", "node": "node", "nodejs": "node",
    "bun": "node", "deno": "node", "tsx": "node", "ts-node": "node", "perl": "perl", "ruby": "ruby", "irb": "ruby", "php": "php", "lua": "lua", "luajit": "lua",
    "Rscript": "r", "R": "r", "julia": "julia", "awk": "awk", "gawk": "awk", "mawk": "awk", "nawk": "awk",
}  # fmt: skip


def _language(program: str, first: str, path: str) -> str | None:
    from ..code import language_of

    return language_of(program, first, path)


# Options that carry code, by program: what stands behind them is read.
_CODE_FLAGS = {
    "python": ("-c",), "node": ("-e", "--eval", "-p", "--print", "-pe"), "perl": ("-e", "-E"), "ruby": ("-e",), "php": ("-r", "-B", "-R", "-E"), "lua": ("-e",),
    "r": ("-e",), "julia": ("-e", "-E", "--eval", "--print"),
}  # fmt: skip
_VALUED = {
    "python": ("-W", "-X", "--check-hash-based-pycs"), "node": ("-r", "--require", "--import", "--loader", "--env-file", "--conditions", "-C"),
    "perl": ("-I", "-M", "-m"), "ruby": ("-I", "-r", "-C", "-E"), "php": ("-d", "-c", "-z", "-t", "-S"), "lua": ("-l",),
    "r": (), "julia": ("-t", "--threads", "-p", "--procs", "-J", "--sysimage", "-C", "--cpu-target", "-m", "-L", "--load", "-H", "--home", "--machine-file", "--startup-file", "--color", "--compile", "--banner"),
}  # fmt: skip


def program(inv: Invocation) -> Flow | None:
    """python, node, perl, ruby, php, lua, R, julia with code or a script."""
    language = _LANGUAGES[inv.name.rstrip("0123456789.-") if inv.name not in _LANGUAGES else inv.name]
    args = inv.args
    if inv.name == "R":
        if args[:2] == ["CMD", "Rscript"]:
            return inv.command(["Rscript", *args[2:]], "R CMD")
        if args[:1] == ["CMD"] and args[1:2] != ["BATCH"]:
            return None
        args = _r_words(args)
    elif language == "julia":
        args = [a for a in args if a[:1] != "+"]  # juliaup's channel
        for path in values_of(args, "-L", "--load"):
            _script(inv, path, [], inv.name)
    if inv.name in ("bun", "deno"):
        return _bun(inv)
    flags, valued = _CODE_FLAGS[language], _VALUED[language]
    codes: list[str] = []
    i = 0
    script = ""
    module = ""
    while i < len(args):
        arg = args[i]
        if arg[:1] != "-" or arg == "-":
            script = arg
            break
        if arg in flags and i + 1 < len(args):
            codes.append(args[i + 1])
            i += 2
            if language == "python":
                break
            continue
        long = next((f for f in flags if f[:2] == "--" and arg.startswith(f + "=")), "")
        if long:
            codes.append(arg[len(long) + 1 :])
        elif language == "julia" and arg[1] != "-" and (bundled := _julia_code(args, i)) is not None:
            code, apart = bundled
            codes.append(code)
            i += apart
        elif language == "python" and (glued := _glued(arg)) is not None:
            i += 1
            if glued[0] == "m":
                module = glued[1]
            else:
                codes.append(glued[1])
            break
        elif language == "python" and arg[1] != "-" and arg[-1] == "c" and arg[1:].isalpha() and len(arg) > 2:
            codes.append(args[i + 1] if i + 1 < len(args) else "")
            break
        elif language == "python" and arg[1] != "-" and arg[-1] == "m" and arg[1:].isalpha():
            module = args[i + 1] if i + 1 < len(args) else ""
            i += 2
            break
        elif language in ("perl", "ruby") and arg[1] != "-" and arg[-1] in "eE" and arg[1:].isalpha():
            codes.append(args[i + 1] if i + 1 < len(args) else "")
            i += 2
            continue
        elif language in ("perl",) and arg[1] != "-" and "i" in arg and not codes:
            pass
        elif arg in valued:
            i += 1
        i += 1
    rest = args[i:] if not script else args[i + 1 :]
    if language == "node":
        for path in values_of(args[: i + 1], "-r", "--require", "--import", "--loader", "--experimental-loader"):
            if path[:1] in "./" and path != ".":
                _script(inv, path, [], "node")
    if codes:
        tainted_code(inv, inv.taints)
        in_place = language in ("perl", "ruby") and any(
            a[:2] == "-i"
            or (
                a[:1] == "-"
                and a[1:2] != "-"
                and "i" in a[1:]
                and a not in ("-i",)
                and a[1:].replace(".bak", "").isalpha()
                and len(a) < 8
                and "e" in a
            )
            for a in args
        )
        if in_place:
            for path in [a for a in rest if a[:1] != "-"]:
                inv.add("write", inv.target(path), facts=("in-place",))
        if language != "php":  # whose codes are put at three places of a program
            codes = ["\n".join(codes)]
        for code in codes:
            code_effects(inv, language, code, rest)
        return Flow(
            None,
            inv.taints
            | (inv.stdin.taints if inv.stdin is not None else frozenset())
            | (frozenset(("decoded",)) if _decodes(codes) else frozenset()),
        )
    if module:
        return _module(inv, module, rest)
    if script and script != "-":
        return _script(inv, script, rest, inv.name)
    if inv.stdin is not None:
        tainted_code(inv, inv.stdin.taints)
        if inv.stdin.text is not None:
            code_effects(inv, language, inv.stdin.text, rest)
        elif not inv.stdin.taints & {"network", "decoded", "remote-output"}:
            inv.add(
                "run-unknown",
                Target("unknown"),
                facts=("from-file",) if "file" in inv.stdin.taints else (),
                detail=f"text that is not visible here is piped into {inv.name}",
            )
        return UNKNOWN_FLOW
    if language == "php" and has(args, "-S"):
        return None
    if not has(args, "--version", "-V", "-v", "--help", "-h"):
        interactive(inv, "repl")
    return UNKNOWN_FLOW


def _decodes(codes: list[str]) -> bool:
    return any(
        "b64decode" in code
        or "fromhex" in code
        or "unhexlify" in code
        or "decode64" in code
        or "base64_decode" in code
        or "MIME::Base64" in code
        for code in codes
    )


def _bun(inv: Invocation) -> Flow | None:
    from .launch import runner

    code = value_of(inv.args, "-e", "--eval", "-p", "--print") or (
        inv.args[1] if inv.args[:1] == ["eval"] and len(inv.args) > 1 else None
    )
    if code is not None:
        code_effects(inv, "node", code, [])
        return UNKNOWN_FLOW
    words = [a for a in inv.args if a[:1] != "-"]
    path = words[1] if words[:1] == ["run"] and len(words) > 1 else words[0] if words else ""
    if path.endswith((".ts", ".js", ".mjs", ".cjs", ".mts", ".tsx", ".jsx")) and "://" not in path:
        return _script(inv, path, inv.args[inv.args.index(path) + 1 :], inv.name)
    if inv.name == "bun":
        return runner(inv)
    if words[:1] == ["task"] and len(words) > 1:
        from .tools import deno_task

        deno_task(inv, words[1])
    if words[:1] == ["run"] and len(words) > 1 and words[1].startswith(("http://", "https://")):
        inv.add("run-remote-code", Target("remote", words[1]))
    return None


def _julia_code(args: list[str], at: int) -> tuple[str, bool] | None:
    """``-e'code'``, ``-qe 'code'``: the code of a bundle of letters, and whether it is the next word."""
    letters = args[at][1:].lstrip("qih")
    if letters[:1] not in ("e", "E"):
        return None
    return (letters[1:], False) if letters[1:] else (args[at + 1] if at + 1 < len(args) else "", True)


def _r_words(args: list[str]) -> list[str]:
    """R's options with code, and its script: only ``-f``, ``--file`` and ``CMD BATCH`` name one."""
    if args[:2] == ["CMD", "BATCH"]:
        return operands(args[2:])[:1]
    args = args[: args.index("--args")] if "--args" in args else args
    codes = [word for code in values_of(args, "-e") for word in ("-e", code)]
    script = value_of(args, "-f", "--file")
    return [*codes, *(a for a in args if a in ("--version", "--help", "-h")), *([script] if script else [])]


def _glued(arg: str) -> tuple[str, str] | None:
    """``-mNAME``, ``-cCODE``, ``-IcCODE``: the letter and what is glued to it."""
    for at, letter in enumerate(arg[1:], 1):
        if letter in "mc":
            return (letter, arg[at + 1 :]) if len(arg) > at + 1 else None
        if letter not in "bBdEhiIOPqRsSuvVx":
            break
    return None


def _module(inv: Invocation, module: str, rest: list[str]) -> Flow | None:
    """``python -m``: a few modules are programs of their own."""
    if module in ("pip", "pytest", "uv", "twine", "build", "venv", "black", "ruff", "mypy", "ansible"):
        return inv.command([module, *rest], "python -m")
    if module == "json.tool":
        files = operands(rest, "--indent")
        if len(files) > 1:
            inv.add("overwrite", inv.target(files[1]))
    if module in ("jevhook", "jevhook.__main__"):
        return inv.command(["jevhook", *rest], "python -m")
    if module == "http.server":
        inv.add("listen", Target("none"), facts=("file-server",))
    elif module == "pdb" or module == "code":
        interactive(inv, "repl")
    elif module and module.replace(".", "_").isidentifier() and inv.scope.cwd[:1] == "/" and not inv.scope.where:
        base = module.replace(".", "/")
        for path in (base + ".py", base + "/__main__.py"):
            if file_text(inv, "./" + path) is not None:
                return _script(inv, "./" + path, rest, inv.name)
    return None


_TELLING = ("rmtree", "rm -", "rmSync", "rmdirSync", "rimraf", "rm_rf", "rm_r", "rmdir", "removedirs", "FileUtils", "remove_entry", "mkfs", "dd if=", "/dev/sd", "push --force", "push -f", "unlink", "| sh", "| bash", "|sh", "|bash", "remove(", "emptyDir", "rmtree(")  # fmt: skip


def _telling(code: str) -> list[str]:
    """Lines out of code that could not be read whole which name a deletion, each a small program with the imports and
    the assignments it needs: padding and broken syntax must not hide a catastrophe.  Linear in the code."""
    if not any(mark in code for mark in _TELLING):
        return []
    head: list[str] = []
    told: list[str] = []
    given: dict[str, str] = {}
    for line in code.split("\n"):
        text = line.strip()
        if len(text) > 4000:
            at = next((text.find(m) for m in _TELLING if m in text), -1)
            if at < 0:
                continue
            text = text[max(0, text.rfind(";", 0, at) + 1) : at + 400].strip()
        if len(told) < 40 and any(mark in text for mark in _TELLING):
            told.append(text)
        if text.startswith(("import ", "from ", "use ", "require", "const ", "let ", "var ")) and len(head) < 40:
            if "import" in text or "require" in text or text.startswith("use "):
                head.append(text)
        name, mark, _ = text.partition("=")
        name = name.strip().removeprefix("const ").removeprefix("let ").removeprefix("var ").removeprefix("my ").strip()
        if mark and name.lstrip("$@").isidentifier() and len(given) < 4000:
            given[name] = text
    pieces: list[str] = []
    for text in told:
        known = [line for name, line in given.items() if name in text and line != text and line not in head][:8]
        pieces.append("\n".join((*head, *known, text)) + "\n")
    return pieces


def code_effects(inv: Invocation, language: str | None, code: str, args: list[str]) -> None:
    """Read ``code`` and record what it would do as this program's findings."""
    if language is None:
        return
    from ..code import read_code

    world = inv.walk.world
    known = {"HOME": world.home, "USER": world.user, "PWD": inv.scope.cwd, "TMPDIR": "/tmp"}
    for name, text in inv.scope.env.items():
        known.setdefault(name, text)
    known.update(inv.env)
    code = code.replace(STAR, "*")
    if inv.walk.spend(1 + min(len(code), 200_000) // 200):
        acts, whole = read_code(language, code, known, args)
        if not whole:
            inv.walk.unanalysed(f"{language} code that could not be read whole", inv.start, inv.end, ("code", "partly"))
    else:
        acts, whole = [], False
        inv.walk.unanalysed("more work than one event is given", inv.start, inv.end, ("budget",))
    if not whole:
        acts += [act for piece in _telling(code) for act in read_code(language, piece, known, args)[0]]
    reads_secret = sends = fetches = False
    outside = ""  # a file from outside the project that is read
    before = len(inv.walk.findings)
    for act in acts:
        kind: str = act.kind
        value: Any = act.value
        sure = "" if act.sure else "likely"
        if kind in ("shell", "argv"):
            scope = inv.scope.copy()
            if act.cwd:
                scope.cwd = inv.target(act.cwd).path or ANY
            fed = Flow(act.stdin) if act.stdin else NO_FLOW
            if isinstance(value, str):
                inv.code(value, f"{language} shell", scope, fed)
            elif value:
                scope.via = (*scope.via, f"{language} run")
                inv.command([str(v) for v in value], "", fed, scope)
        elif kind == "run-file" and isinstance(value, str):
            _script(inv, value, [], inv.name)
        elif not isinstance(value, str):
            continue
        elif kind == "delete":
            inv.add(
                "delete",
                inv.target(value),
                facts=("recursive", "force", "code") if act.recursive else ("force", "code"),
                sure=sure,
            )
        elif kind == "write":
            inv.add("write" if act.detail[:1] == "a" else "overwrite", inv.target(value), facts=("code",), sure=sure)
        elif kind == "move":
            inv.add("move", inv.target(value), facts=("code",), sure=sure)
        elif kind == "read":
            target = inv.target(value)
            if "secret" in target.roles or "history" in target.roles:
                inv.add("read-secret", target, facts=("code",))
                reads_secret = True
            elif target.kind in ("outside", "other-home", "mount", "system"):
                outside = target.path
        elif kind == "env":
            reads_secret = True
        elif kind == "fetch":
            fetches = True
            from .network import metadata

            metadata(inv, value)
        elif kind == "send":
            sends = True
            if value[:1] == "/":  # a socket on this machine
                from .own import spoken_to

                spoken_to(inv, value)
            from .network import host_of, host_roles

            inv.add("send", Target("remote", value, host_roles(host_of(value))), facts=("code",), sure=sure)
        elif kind == "run-code":
            if value == "downloaded":
                inv.add("run-remote-code", Target("remote"), facts=("code",))
            elif value == "decoded":
                inv.add("run-decoded", Target("unknown"), facts=("code",))
            else:
                inv.add("run-unknown", Target("unknown"), facts=("code", "eval"), sure="unknown")
        elif kind == "reverse-shell":
            inv.add("reverse-shell", Target("remote", value), facts=("code",))
        elif kind == "kill":
            inv.add("kill", Target("none", value), facts=("code",), sure="likely")
        elif kind == "chmod":
            inv.add("permissions", inv.target(value), facts=("code",), sure="likely")
        elif kind == "call":
            from .own import called

            called(inv, value)
        elif kind == "sql":
            from .databases import sql_effects

            sql_effects(inv, value)
    if outside and sends:
        for finding in inv.walk.findings[before:]:
            if finding.effect == "send":
                finding.facts, finding.detail = finding.facts | {"copy", "outside"}, outside
    if reads_secret and (sends or fetches):
        inv.add(
            "send",
            Target("remote", "", ("secret",)),
            facts=("secret", "code"),
            detail="code that reads a secret and opens the network",
        )


def awk(inv: Invocation) -> Flow:
    words: list[str] = []
    skip = False
    files = values_of(inv.args, "-f", "--file")
    for arg in inv.args:
        if skip:
            skip = False
        elif arg in ("-F", "-v", "-f", "--file", "--assign", "--field-separator"):
            skip = True
        elif arg[:1] != "-" or arg == "-":
            words.append(arg)
    for path in files:
        text = file_text(inv, path)
        if text is not None:
            before = len(inv.walk.findings)
            code_effects(inv, "awk", text, words)
            in_script(inv, before)
    if not files and words:
        code_effects(inv, "awk", words[0], words[1:])
        words = words[1:]
    from .readers import read_paths

    if any(a == "-i" and k + 1 < len(inv.args) and inv.args[k + 1] == "inplace" for k, a in enumerate(inv.args)):
        for path in words:
            if path != "inplace":
                inv.add("write", inv.target(path), facts=("in-place",))
    flow = read_paths(inv, [w for w in words if "=" not in w])
    taints = flow.taints | (inv.stdin.taints if inv.stdin is not None and not words else frozenset())
    return Flow(None, taints)


def make(inv: Invocation) -> Flow | None:
    """``make -f -`` and ``--eval``: recipes on the line; ``SHELL=`` and ``VAR='$(shell …)'``."""
    code = value_of(inv.args, "--eval", "-E")
    if code:
        _makefile(inv, code)
    name = value_of(inv.args, "-f", "--file", "--makefile")
    if name in ("-", "/dev/stdin") and inv.stdin is not None:
        tainted_code(inv, inv.stdin.taints)
        if inv.stdin.text is not None:
            _makefile(inv, inv.stdin.text)
    elif name and name.startswith("/dev/fd/"):
        text = inv.walk.scripts.get(name)
        if text is not None:
            _makefile(inv, text)
    else:
        own_shell = next((a[6:] for a in inv.args if a.startswith("SHELL=")), "")
        if own_shell and own_shell.rsplit("/", 1)[-1] not in SHELLS:
            inv.code(own_shell, "make SHELL")
        from .tools import make_targets

        make_targets(inv, name or "")
    return None


def _makefile(inv: Invocation, text: str) -> None:
    for line in text.split("\n"):
        if line[:1] == "\t" or (";" in line and ":" in line.split(";")[0]):
            recipe = line.strip() if line[:1] == "\t" else line.split(";", 1)[1].strip()
            inv.code(recipe.lstrip("@-+").replace("$$", "$"), "make recipe")
        at = line.find("$(shell ")
        while at >= 0:
            depth, end = 0, at
            for end in range(at + 1, len(line)):
                depth += {"(": 1, ")": -1}.get(line[end], 0)
                if depth == 0:
                    break
            inv.code(line[at + 8 : end], "make $(shell)")
            at = line.find("$(shell ", end)


def osascript(inv: Invocation) -> Flow:
    for code in values_of(inv.args, "-e"):
        at = code.find("do shell script")
        while at >= 0:
            quote = code.find('"', at)
            end = quote + 1
            while quote >= 0 and end < len(code) and not (code[end] == '"' and code[end - 1] != "\\"):
                end += 1
            if quote >= 0:
                inv.code(code[quote + 1 : end].replace('\\"', '"'), "osascript")
            at = code.find("do shell script", at + 10)
        at = code.find("do script")
        while at >= 0:
            pieces = code[at:].replace('\\"', "\5").split('"')
            if len(pieces) > 2:
                inv.code(pieces[1].replace("\5", '"'), "osascript")
            at = code.find("do script", at + 9)
        if "delete" in code and "Finder" in code:
            inv.add("delete", Target("unknown", "Finder"), sure="likely")
        if any(mark in code.lower() for mark in ("to restart", "to shut down", "to log out", "to sleep")):
            inv.add("power", facts=("osascript",))
        if "empty trash" in code.lower() or "empty the trash" in code.lower():
            inv.add("delete", Target("home-item", "trash"), facts=("recursive", "trash"))
    return UNKNOWN_FLOW


def windows_shell(inv: Invocation) -> Flow:
    """``cmd /c LINE`` and ``powershell -Command LINE``."""
    from .powershell import _code, cmd_line, powershell_line

    low = [a.lower() for a in inv.args]
    at = next((i for i, a in enumerate(low) if a in ("-file", "-f") or a.endswith(".ps1")), -1)
    if at >= 0 and inv.name.lower() != "cmd" and not any(a in ("-c", "-command") for a in low[:at]):
        path = inv.args[at] if low[at].endswith(".ps1") else inv.args[at + 1] if at + 1 < len(low) else ""
        text = file_text(inv, path) if path and inv.depth <= 8 else None
        if text is not None:
            before = len(inv.walk.findings)
            _code(inv, text)
            in_script(inv, before)
            return UNKNOWN_FLOW
    return cmd_line(inv) if inv.name.lower() == "cmd" else powershell_line(inv)


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    **dict.fromkeys(SHELLS, shell),
    **{name: program for name, language in _LANGUAGES.items() if language != "awk"},
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
    "source": source, ".": source, "make": make, "gmake": make, "osascript": osascript,
    "cmd": windows_shell, "powershell": windows_shell, "pwsh": windows_shell,
}  # fmt: skip
