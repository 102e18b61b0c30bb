"""--help of every command, the examples in it, and completion in real shells."""

from __future__ import annotations

import importlib
import inspect
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from jevhook.cli import COMMANDS, group, main


def every() -> Iterator[tuple[str, click.Command]]:
    """Each command and each subcommand that is shown, by its words."""

    def inside(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield name, command
        if isinstance(command, click.Group):
            for inner, below in command.commands.items():
                if not below.hidden:
                    yield from inside(f"{name} {inner}", below)

    for name, (module, attribute, _) in COMMANDS.items():
        yield from inside(name, getattr(importlib.import_module(module), attribute))


def examples(command: click.Command) -> Iterator[str]:
    """The command lines in its help's verbatim blocks, continued lines joined."""
    for block in re.findall(r"\x08\n(.*?)(?:\n\n|\Z)", inspect.cleandoc(command.help or ""), flags=re.S):
        for one in re.split(r"\n(?=\S)", block.replace("\\\n", " ")):
            yield from re.findall(r"^(?:[A-Z]+='[^']*' )?((?:jevhook|jev-use) .*)", one, flags=re.S)


ALL = dict(every())
EXAMPLES = [(name, line) for name, command in ALL.items() for line in examples(command)]


@pytest.mark.parametrize("name", ALL)
def test_every_command_says_what_it_does_and_shows_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"Usage: jevhook {name}")
    assert re.search(rf"^  .*\b(?:jevhook|jev-use) {name}\b", said, flags=re.M), "an example"


def test_the_examples_are_found() -> None:
    assert len(EXAMPLES) > len(ALL)


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_an_example_names_a_command_and_options_that_there_are(name: str, line: str) -> None:
    """The words up to a pipe or a redirection; what is not parsed is not an example that works."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if set(word) <= set("|<>"):
            break
        words.append(word)
    words = words[1:]
    found = max((known for known in ALL if words[: len(known.split())] == known.split()), key=len, default="")
    assert found, line
    options = {option for parameter in ALL[found].params for option in (*parameter.opts, *parameter.secondary_opts)}
    used = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert used <= options | {"--help"}, line


def test_the_page_without_a_command_lists_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(re.search(rf"^  {name} ", said, flags=re.M) for name in COMMANDS)


def test_a_commands_module_is_imported_when_it_is_called() -> None:
    code = "import sys; from jevhook.cli import main; main(['--help']); print([m for m in sys.modules if m.startswith('jevhook.cli.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.endswith("[]\n")


# Completion.

BIN = Path(sys.executable).parent


def completed(shell: str, line: str) -> list[str]:
    """What the shell would offer behind ``line``, asked as its own script asks."""
    words = line.split(" ")
    asked = " ".join(words)
    if shell == "bash":
        setup = 'eval "$(jevhook completion bash)"; COMP_WORDS=(%s); COMP_CWORD=%d; COMP_LINE=%s; COMP_POINT=${#COMP_LINE}; '
        quoted = " ".join(shlex.quote(word) for word in words)
        code = setup % (quoted, len(words) - 1, shlex.quote(asked))
        function = "_jev_use_completion" if words[0] == "jev-use" else "_jevhook_completion"
        code += f'{function} {words[0]}; printf "%s\\n" "${{COMPREPLY[@]}}"'
        command = ["bash", "--norc", "-c", code]
    else:
        command = ["fish", "--no-config", "-c", f"jevhook completion fish | source; complete -C {shlex.quote(asked)}"]
    path = f"{BIN}:/usr/local/bin:/usr/bin:/bin"
    env = {"PATH": path, "HOME": "/nonexistent", "TERM": "dumb"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return [row.split("\t")[0] for row in done.stdout.split("\n") if row]


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("jevhook exp", ["explain"]),
        ("jev-use verif", ["verify"]),
        ("jevhook policy ", ["check", "diff", "edit", "show"]),
        ("jevhook completion z", ["zsh"]),
        ("jevhook allow add --exp", ["--expires"]),
    ],
)
def test_a_real_shell_completes(shell: str, line: str, offered: list[str]) -> None:
    if not shutil.which(shell) or not (BIN / "jevhook").exists():
        pytest.skip(f"no {shell} here, or the command is not installed")
    assert sorted(completed(shell, line)) == offered


def test_zsh_gets_a_script_for_both_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh"]) == 0
    said = capsys.readouterr().out
    assert "#compdef jevhook" in said and "#compdef jev-use" in said and "_JEVHOOK_COMPLETE=zsh_complete" in said


def test_another_shell_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err


def test_the_group_is_the_one_that_runs() -> None:
    assert set(group().list_commands(click.Context(group()))) == set(COMMANDS)
