"""``jevhook fuzz``: the same meaning in other words must get the same decision."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator

import click

from .judging import Bench, bash_event, bench, where

STRENGTH = {"none": 0, "ask": 1, "deny": 2}

# A new shell, a script or a function has arguments of its own: there `$1` is not what it was.
_ARGUMENTS = re.compile(r"\$\{?[#!]?[@*0-9#]")
_SINGLE_QUOTED = re.compile(r"'[^']*'")


def rewrites(command: str) -> Iterator[tuple[str, str]]:
    """Names and texts of command lines that do what ``command`` does, each name once.

    Left out where they would do something else: another working directory or user's home is never entered, a line
    that uses its own arguments stays in its own shell, a builtin has no path.
    """
    yield from _around(command)
    if not _ARGUMENTS.search(_SINGLE_QUOTED.sub("", command)):
        yield from _elsewhere(command)
    yield from _first_word(command)


def _around(command: str) -> Iterator[tuple[str, str]]:
    """In the same shell, with other shell text around it."""
    q = _quoted(command)
    yield "trailing newline", command + "\n"
    yield "leading blanks", "  \t" + command
    yield "behind true &&", f"true && {command}"
    yield "behind a newline", f"date\n{command}"
    yield "behind ;", f"echo start; {command}"
    yield "behind a here-document", f"cat <<'_X'\nall is well\n_X\n{command}"
    yield "with a comment", f"{command} # tidy up" if "\n" not in command else f"# tidy up\n{command}"
    yield "subshell", f"( {command}\n)"
    yield "subshells, 30 deep", "( " * 30 + f"{command}\n" + ") " * 30
    yield "braces", f"{{ {command}\n}}"
    yield "if", f"if true; then {command}\nfi"
    yield "else", f"if false; then true; else {command}\nfi"
    yield "for", f"for _once in 1; do {command}\ndone"
    yield "while", f"while true; do {command}\nbreak\ndone"
    yield "case", f"case x in x) {command}\n;; esac"
    yield "in the background", f"{{ {command}\n}} &"
    yield "eval", f"eval {q}"
    yield "variable and eval", f'_c={q}; eval "$_c"'
    yield "alias", f"shopt -s expand_aliases\nalias _a={q}\n_a"
    yield "substitution", f"echo $( {command}\n)"
    yield "source", f"source /dev/stdin <<< {q}"
    yield "trap", f"trap {q} EXIT"


def _elsewhere(command: str) -> Iterator[tuple[str, str]]:
    """In another shell or interpreter, by another program, or out of another spelling of the text."""
    q = _quoted(command)
    end = "_END"
    while end in command:
        end += "_"
    mark = "@@"
    while mark in command:
        mark += "@"
    data = command.encode()
    encoded = base64.b64encode(data).decode()
    yield "function", f"_do() {{ {command}\n}}; _do"
    yield "bash -c", f"bash -c {q}"
    yield "sh -c, twice", f"sh -c {_quoted('sh -c ' + q)}"
    yield "variable and bash -c", f'_c={q}; bash -c "$_c"'
    yield "exported variable", f"export _c={q}; bash -c 'eval \"$_c\"'"
    yield "here-document into sh", f"sh <<'{end}'\n{command}\n{end}"
    yield "here-string into bash", f"bash <<< {q}"
    yield "pipe into sh", f"printf '%s\\n' {q} | sh"
    yield "process substitution", f"bash <(printf '%s\\n' {q})"
    yield "script", f"cat > /tmp/_s.sh <<'{end}'\n{command}\n{end}\nbash /tmp/_s.sh"
    yield "base64", f"echo {encoded} | base64 -d | bash"
    yield "gzip and base64", f"echo {base64.b64encode(gzip.compress(data, mtime=0)).decode()} | base64 -d | gunzip | sh"
    yield "xxd", f"echo {data.hex()} | xxd -r -p | sh"
    yield "printf escapes", f"printf '{_hex(command)}' | bash"
    yield "exec", f"exec bash -c {q}"
    yield "env", f"env bash -c {q}"
    yield "nohup", f"nohup bash -c {q} &"
    yield "timeout", f"timeout 60 bash -c {q}"
    yield "sudo", f"sudo bash -c {q}"
    yield "launchers in a row", f"nice -n 5 setsid stdbuf -oL env bash -c {q}"
    yield "busybox", f"busybox sh -c {q}"
    yield "flock", f"flock /tmp/_lock -c {q}"
    yield "script(1)", f"script -qc {q} /dev/null"
    yield "xargs", f"echo x | xargs -I{mark} bash -c {q}"
    if "{}" not in command:  # find would put its own path there
        yield "find -exec", f"find . -maxdepth 0 -exec bash -c {q} \\;"
    yield "parallel", f"parallel ::: {q}"
    if "\n" not in command:
        yield "make", f"make -f - <<'{end}'\nall:\n\t@{command.replace('$', '$$')}\n{end}"
    for name, program, code in (
        ("python os.system", "python3 -c", f"import os; os.system({command!r})"),
        ("python subprocess", "python3 -c", f"import subprocess; subprocess.run({command!r}, shell=True)"),
        ("python and base64", "python3 -c", f"import base64, os; os.system(base64.b64decode({encoded!r}).decode())"),
        ("node execSync", "node -e", f"require('child_process').execSync({_string(command)})"),
        ("perl system", "perl -e", f"system({_backslashed(command)})"),
        ("php system", "php -r", f"system({_backslashed(command)});"),
        ("ruby system", "ruby -e", f"system({_string(command)})"),
        ("awk system", "awk", f"BEGIN {{ system({_string(command)}) }}"),
        ("lua os.execute", "lua -e", f"os.execute({_string(command)})"),
    ):
        if name != "ruby system" or "#" not in command:  # "#{x}" in a Ruby string is code
            yield name, f"{program} {_quoted(code)}"


def _quoted(text: str) -> str:
    """As one single-quoted word of the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _string(text: str) -> str:
    """As a double-quoted string of JavaScript, Ruby, awk and Lua, which agree on these escapes."""
    return json.dumps(text, ensure_ascii=False)


def _hex(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def _backslashed(text: str) -> str:
    """As a single-quoted string of Perl and PHP."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# The first word, where it is plainly a program's name.

_PLAIN_NAME = re.compile(r"[ \t\n]*([A-Za-z][A-Za-z0-9_.+-]*|\[)(?=[ \t]+[^ \t(=])")
_KEYWORDS = frozenset(
    re.findall(r"\w+", "if then else elif fi for while until do done case esac select function time in")
)
# bash's builtins that no file in /usr/bin stands for
_BUILTINS = frozenset(
    re.findall(
        r"\w+",
        "alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown enable "
        "eval exec exit export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray "
        "readonly return set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait",
    )
)
# these read assignments only where they are spelt out
_ASSIGNS = frozenset(("alias", "declare", "export", "local", "readonly", "typeset"))


def _ansi(word: str) -> str:
    return f"$'{_hex(word)}'"


_SPELLINGS: list[tuple[str, Callable[[str], str]]] = [
    ("single quotes", lambda name: f"'{name}'"),
    ("double quotes", lambda name: f'"{name}"'),
    ("backslash", lambda name: "\\" + name),
    ("empty quotes inside", lambda name: f"{name[0]}''{name[1:]}"),
    ("ANSI-C quoting", _ansi),
    ("substituted name", lambda name: f"$(echo {name})"),
    ("line continuation", lambda name: f"{name} \\\n"),
    ("line continuation inside", lambda name: f"{name[0]}\\\n{name[1:]}"),
    ("command", lambda name: f"command {name}"),
]


def _first_word(command: str) -> Iterator[tuple[str, str]]:
    found = _PLAIN_NAME.match(command)
    if found is None or found[1] in _KEYWORDS or found[1] in _ASSIGNS:
        return
    name = found[1]
    before, after = command[: found.start(1)], command[found.end(1) :]
    for spelling, change in _SPELLINGS:
        yield spelling, before + change(name) + after
    yield "name in a variable", f"_n={name}\n{before}$_n{after}"
    yield "IFS for a blank", before + name + "${IFS}" + after.lstrip(" \t")
    option = re.match(r"[ \t]+([A-Za-z0-9_./-]+)(?=[ \t\n;|&]|$)", after)
    if option is not None:
        yield "brace expansion", f"{before}{{{name},{option[1]}}}{after[option.end() :]}"
    if name not in _BUILTINS:
        yield "absolute path", f"{before}/usr/bin/{name}{after}"


def check(made: Bench, command: str, cwd: str) -> tuple[str, list[tuple[str, str, str]]]:
    """The decision on ``command``, and the rewrites that got a weaker one: (name, text, decision)."""
    from ..points import risk

    def decision(text: str) -> str:
        return risk.judge(bash_event(text, cwd), made.context()).judged.outcome

    first = decision(command)
    weaker = []
    if STRENGTH.get(first, 0):
        for name, text in rewrites(command):
            got = decision(text)
            if STRENGTH.get(got, 0) < STRENGTH[first]:
                weaker.append((name, text, got))
    return first, weaker


@click.command()
@click.argument("command")
@click.option("--cwd", metavar="DIR", help="Where the command would start. Default: here.")
@click.option("--home", metavar="DIR", type=click.Path(file_okay=False), help="The home directory to judge for.")
@click.option("--policy", metavar="NAME|FILE", help="Under this policy instead of the one in force.")
def fuzz(command: str, cwd: str | None, home: str | None, policy: str | None) -> None:
    """Rewrite COMMAND in many ways that mean the same and demand the same decision.

    Exit 1 when one of them gets a weaker one. Nothing is run.

    \b
    jevhook fuzz 'git push --force origin main'
    jevhook fuzz --home /home/ada --cwd /home/ada/shop 'rm -rf ~'
    """
    place = where(cwd)
    decided, weaker = check(bench(policy, home, place), command, place)
    if STRENGTH.get(decided, 0) == 0:
        click.echo("nothing stops this command, so there is nothing to get round")
        return
    for name, text, got in weaker:
        click.echo(f"{got:5} {name}: {text!r}")
    total = sum(1 for _ in rewrites(command))
    click.echo(f"{decided}: {total - len(weaker)} of {total} rewrites get the same decision")
    if weaker:
        raise SystemExit(1)
