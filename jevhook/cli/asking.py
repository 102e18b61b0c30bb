"""What the commands that ask a judge share: wrong requests as exit code 2, states out of files, JSON or a screen."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ..policy import clean
from ..use.jev import TIMEOUT, Jev
from ..use.request import RequestError
from . import unread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from ..use.verdict import Result

MAX_INPUT = 16 << 20  # bytes of a state, a request or a list of items


class BadRequest(click.ClickException):
    """What was asked for is no request: exit 2, and the field is named."""

    exit_code = 2

    def __init__(self, problem: object) -> None:
        super().__init__(clean(str(problem)))


def asking(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say who is asked, what counts as sure, and what is printed."""
    text = "Escalate below this confidence, whatever its source."
    return click.option("--threshold", type=float, metavar="0-1", help=text)(whom(command))


def whom(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say who is asked and what is printed, for a command with bands of its own."""
    options = (
        click.option("--backend", metavar="NAME", help="Ask this provider instead of the configured one (auto: find one)."),
        click.option("--model", metavar="NAME", help="Ask this model."),
        click.option("--timeout", type=float, default=TIMEOUT, show_default=True, metavar="S", help="Seconds for a request."),
        click.option("--json", "as_json", is_flag=True, help="JSON on a terminal too."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def jev(backend: str | None, model: str | None, threshold: float | None, timeout: float, cwd: str | None = None) -> Jev:
    """The judge that the options and the configuration name.  What is wrong in the latter is told on stderr: the rest
    of it stands.  Raises BadRequest."""
    from ..systemone import dialects

    try:
        made = Jev(backend, model=model, threshold=threshold, timeout=timeout, cwd=cwd)
    except RequestError as wrong:
        raise BadRequest(f"--{wrong}") from None
    known = ("", "auto", "embedded", "mock", "none", *dialects.MODULES)
    if dialects.named(made.backend) not in known and made.backend not in made.policy.judge["tier"]:
        raise BadRequest(f"--backend: unknown provider {backend!r}; use one of {', '.join(sorted(dialects.MODULES))}")
    for problem in made.policy.problems:
        click.echo(f"problem: {clean(problem)}", err=True)
    return made


def read_text(name: str, option: str) -> str:
    """The text of the file ``name``, ``-`` for stdin.  Raises BadRequest naming the option."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read(MAX_INPUT + 1)
        else:
            with open(name, "rb") as file:
                data = file.read(MAX_INPUT + 1)
    except OSError as wrong:
        raise BadRequest(f"{option}: {name}: {os.strerror(wrong.errno or 0)}") from None
    if len(data) > MAX_INPUT:
        raise BadRequest(f"{option}: more than {MAX_INPUT >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise BadRequest(f"{option}: not UTF-8 at byte {wrong.start}") from None


def read_json(text: str, field: str) -> Any:
    """The JSON value in ``text``, no key twice.  Raises BadRequest naming the field."""
    from ..jsonio import loads

    try:
        return loads(text, once=True)
    except (ValueError, RecursionError) as wrong:
        raise BadRequest(f"{field}: not JSON ({wrong})") from None


def state_of(state: str | None, state_file: str | None) -> str | None:
    """The state that --state or --state-file gives, None when neither does.  Raises BadRequest."""
    if state is not None and state_file is not None:
        raise BadRequest("state: given by --state and by --state-file; use one of the two")
    return read_text(state_file, "--state-file") if state_file is not None else state


def request_of(text: str | None, parts: dict[str, Any]) -> Any:
    """A request: what of ``parts`` (out of options) is not None, else the JSON in ``text``, ``-`` or stdin.

    Raises BadRequest.
    """
    given = {name: value for name, value in parts.items() if value is not None}
    if given and text is not None:
        raise BadRequest("request: given as JSON and by options; use one of the two")
    if given:
        return given
    if text is None and sys.stdin.isatty():
        raise BadRequest("request: is missing; give JSON, - for stdin, or the options that make one (--help)")
    return read_json(read_text("-", "request") if text in (None, "-") else text or "", "request")


def named(given: tuple[str, ...], option: str, key: str, value: str) -> list[dict[str, str]] | None:
    """``("a=this",)`` as ``[{key: "a", value: "this"}]``; None for none.  Raises BadRequest."""
    made = []
    for each in given:
        name, equals, text = each.partition("=")
        if not equals:
            raise BadRequest(f"{option}: write NAME=TEXT, not {each[:60]!r}")
        made.append({key: name, value: text})
    return made or None


def answered_by(result: Result) -> dict[str, Any]:
    """Who answered, as ``asked_of`` reads it."""
    told = result.json()
    return {name: told[name] for name in ("backend", "via", "model", "latencyMs", "usage")}


def show(found: dict[str, Any], as_json: bool, paint: Callable[[Console], None]) -> None:
    """JSON where stdout is piped or asked for, else what ``paint`` draws."""
    try:
        if as_json or not sys.stdout.isatty():
            click.echo(json.dumps(found, indent=2))
        else:
            from rich.console import Console

            paint(Console(highlight=False))
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads; the exit code is still an answer
        unread()


@contextlib.contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None] | None]:
    """What draws (done, of how many) on stderr; None where nobody watches it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("judging", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def safe(text: object) -> str:
    """A service's or a caller's text for the screen: no control characters, no markup."""
    from rich.markup import escape

    from ..text.printable import printable

    return escape(printable(str(text)))


def asked_of(found: dict[str, Any]) -> str:
    """One line: who answered, how it was chosen, how long it took."""
    parts = [found["backend"] or "nobody was asked"]
    if found["model"] and found["model"] not in found["backend"]:
        parts.append(f"model {found['model']}")
    if found["latencyMs"]:
        parts.append(f"{found['latencyMs']} ms")
    if found["usage"].get("input_tokens"):
        parts.append(f"{found['usage']['input_tokens']} tokens")
    return ", ".join(parts) + (f" ({found['via']})" if found["via"] else "")
