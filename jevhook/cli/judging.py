"""Judging without acting, as explain, replay and fuzz do it: no judge call, no ledger, no session memory."""

from __future__ import annotations

import os
import sys

import click

from .. import policy as layers
from ..config import ConfigError
from ..event import Event
from ..evidence.bench import Bench as Bench  # explain, fuzz and replay take it from here
from ..policy import Policy, clean, load_strict


def bench(policy: str | None, home: str | None, cwd: str) -> Bench:
    """A bench under the policy in force, or the named one.  With ``home``, that directory is home and the gate's own
    places are looked for in it.  Raises ClickException for a configuration that can't be used; what was left out of
    one that can is told on stderr."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 6000))  # as the hook does: the same line, the same verdict
    made = load_policy(policy, cwd)
    env: dict[str, str] = dict(os.environ)
    if home:
        env = {k: v for k, v in env.items() if not k.startswith("XDG_") and k not in ("TMPDIR", "USER", "LOGNAME")}
        env["HOME"] = os.path.abspath(home)
        env["USER"] = os.path.basename(env["HOME"])
    return Bench(made, env, env.get("HOME", ""))


def load_policy(policy: str | None, cwd: str) -> Policy:
    """The policy in force in ``cwd``, or the named one, for a command that a person runs.  Raises ClickException."""
    try:
        made = load_strict(dict(os.environ), cwd=cwd, policy=policy, in_hook=False, managed=layers.MANAGED)
    except ConfigError as wrong:
        raise click.ClickException(clean_lines(str(wrong))) from None
    for problem in made.problems:
        click.echo(f"problem: {clean(problem)}", err=True)
    return made


def clean_lines(text: str) -> str:
    return "\n".join(clean(line) for line in text.split("\n"))


def where(cwd: str | None) -> str:
    """``--cwd`` as an absolute path, else the directory we are in.  Raises UsageError when that one is gone."""
    try:
        return os.path.abspath(cwd) if cwd else os.getcwd()
    except FileNotFoundError:
        raise click.UsageError("the current directory does not exist any more: name one with --cwd") from None


def bash_event(command: str, cwd: str, host: str = "claude") -> Event:
    """A shell call as ``host`` would send it."""
    return Event(
        host,
        "before-tool",
        "PreToolUse",
        tool="Bash",
        input={"command": command},
        cwd=cwd,
        cwd_sure=host != "codex",
        permission_mode="default",
    )
