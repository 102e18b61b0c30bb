"""``jevhook fuzz``: the same meaning in other words must get the same decision."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator

import click

from ..shell.parse import Unreadable, read
from ..shell.tree import Command
from .judging import Bench, bash_event, bench

STRENGTH = {"none": 0, "ask": 1, "deny": 2}


def rewrites(command: str) -> Iterator[tuple[str, str]]:
    """Names and texts of command lines that do what ``command`` does."""
    q = "'" + command.replace("'", "'\\''") + "'"
    yield "trailing newline", command + "\n"
    yield "leading blanks", "  \t" + command
    yield "behind true &&", f"true && {command}"
    yield "behind a newline", f"cd .\n{command}"
    yield "behind ;", f"echo start; {command}"
    yield "with a comment", f"{command} # tidy up" if "\n" not in command else f"# tidy up\n{command}"
    yield "subshell", f"( {command}\n)"
    yield "braces", f"{{ {command}\n}}"
    yield "if", f"if true; then {command}\nfi"
    yield "for", f"for _once in 1; do {command}\ndone"
    yield "function", f"_do() {{ {command}\n}}; _do"
    yield "bash -c", f"bash -c {q}"
    yield "sh -c, twice", f"sh -c {_quoted('sh -c ' + q)}"
    yield "eval", f"eval {q}"
    yield "variable and eval", f"_c={q}; eval \"$_c\""
    yield "substitution", f"echo $( {command}\n)"
    yield "here-document into sh", f"sh <<'_END'\n{command}\n_END"
    yield "here-string into bash", f"bash <<< {q}"
    yield "pipe into sh", f"printf '%s\\n' {q} | sh"
    yield "base64", f"echo {base64.b64encode(command.encode()).decode()} | base64 -d | bash"
    yield "script", f"cat > /tmp/_s.sh <<'_END'\n{command}\n_END\nbash /tmp/_s.sh"
    yield "env", f"env bash -c {q}"
    yield "nohup", f"nohup bash -c {q} &"
    yield "timeout", f"timeout 60 bash -c {q}"
    yield "sudo", f"sudo bash -c {q}"
    yield "xargs", f"echo x | xargs -I_X bash -c {q}"
    yield "trap", f"trap {q} EXIT"
    yield "python os.system", f"python3 -c {_quoted('import os; os.system(' + repr(command) + ')')}"
    yield "python subprocess", f"python3 -c {_quoted('import subprocess; subprocess.run(' + repr(command) + ', shell=True)')}"
    yield "node execSync", f"node -e {_quoted('require(' + repr('child_process') + ').execSync(' + _js(command) + ')')}"
    yield "perl system", f"perl -e {_quoted('system(q(' + command + '))')}" if command.count("(") == command.count(")") and "\n" not in command else command
    for name, change in _WORD_CHANGES:
        changed = _words(command, change)
        if changed is not None and changed != command:
            yield name, changed


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _js(text: str) -> str:
    import json

    return json.dumps(text)


def _single(word: str) -> str:
    return _quoted(word)


def _double(word: str) -> str:
    return '"' + word + '"' if not set(word) & set('"\\$`!') else word


def _backslash(word: str) -> str:
    return "\\" + word if word[:1].isalpha() else word


def _split(word: str) -> str:
    return f"{word[0]}''{word[1:]}" if len(word) > 1 and word[0].isalnum() else word


def _ansi(word: str) -> str:
    return "$'" + "".join(f"\\x{b:02x}" for b in word.encode()) + "'" if word.isascii() and word.isalnum() else word


def _absolute(word: str) -> str:
    return "/bin/" + word if word.isalnum() else word


_WORD_CHANGES: list[tuple[str, Callable[[str], str]]] = [
    ("single quotes", _single),
    ("double quotes", _double),
    ("backslash", _backslash),
    ("empty quotes inside", _split),
    ("ANSI-C quoting", _ansi),
    ("absolute path", _absolute),
]


def _words(command: str, change: Callable[[str], str]) -> str | None:
    """``command`` with the name of its one simple command changed; None when it is not one simple command."""
    try:
        body = read(command)
    except Unreadable:
        return None
    if len(body.items) != 1 or not isinstance(body.items[0], Command):
        return None
    first = body.items[0]
    if first.assigns or not first.words or len(first.words[0]) != 1 or first.words[0][0][0] != "t":
        return None
    name = first.words[0][0][1]
    at = command.index(name)
    return command[:at] + change(name) + command[at + len(name) :]


def check(made: Bench, command: str, cwd: str) -> tuple[str, list[tuple[str, str, str]]]:
    """The decision on ``command``, and the rewrites that got a weaker one: (name, text, decision)."""
    from ..points import risk

    def decision(text: str) -> str:
        return risk.judge(bash_event(text, cwd), made.context()).judged.outcome

    first = decision(command)
    weaker = []
    for name, text in rewrites(command):
        got = decision(text)
        if STRENGTH.get(got, 0) < STRENGTH.get(first, 0):
            weaker.append((name, text, got))
    return first, weaker


@click.command()
@click.argument("command")
@click.option("--cwd", metavar="DIR", help="Where the command would start. Default: here.")
@click.option("--policy", metavar="NAME|FILE", help="Under this policy instead of the one in force.")
def fuzz(command: str, cwd: str | None, policy: str | None) -> int:
    """Rewrite COMMAND in many ways that mean the same and demand the same decision.

    Exit 1 when one of them gets a weaker one. Nothing is run.
    """
    from ..config import ConfigError

    where = os.path.abspath(cwd) if cwd else os.getcwd()
    try:
        made = bench(policy, None, where)
    except ConfigError as wrong:
        raise click.ClickException(str(wrong)) from None
    decided, weaker = check(made, command, where)
    total = sum(1 for _ in rewrites(command))
    if STRENGTH.get(decided, 0) == 0:
        click.echo("nothing stops this command, so there is nothing to get round")
        return 0
    for name, text, got in weaker:
        click.echo(f"{got:5} {name}: {text!r}")
    click.echo(f"{decided}: {total - len(weaker)} of {total} rewrites get the same decision")
    return 1 if weaker else 0
