"""``guarded``: a function that the gate is asked about before every call.

::

    @guarded(state="The user asked to tidy up staging. Production is off limits.")
    def drop_table(database: str, table: str) -> None: ...

    drop_table("production", "orders")      # raises ToolCallBlocked, nothing was called
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar, overload

    from .gate import Gated
    from .jev import Jev

    P = ParamSpec("P")
    R = TypeVar("R")

_DEPTH = 8


class ToolCallBlocked(Exception):
    """The call was not made.  ``tool`` its name, ``result`` what the gate said (``Gated``)."""

    def __init__(self, tool: str, result: Gated) -> None:
        said = "denied" if result.decision == "deny" else "needs a person's word"
        super().__init__(f"{tool} {said}: {result.hint}" if result.hint else f"{tool} {said}")
        self.tool = tool
        self.result = result


if TYPE_CHECKING:

    @overload
    def guarded(function: Callable[P, R], /) -> Callable[P, R]: ...

    @overload
    def guarded(
        *,
        tool: str | None = None,
        state: str | Callable[[], str] = "",
        description: str | None = None,
        threshold: float | None = None,
        jev: Jev | None = None,
        escalated: Callable[[Gated], bool] | None = None,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def guarded(
    function: Callable[..., Any] | None = None,
    /,
    *,
    tool: str | None = None,
    state: str | Callable[[], str] = "",
    description: str | None = None,
    threshold: float | None = None,
    jev: Jev | None = None,
    escalated: Callable[[Gated], bool] | None = None,
) -> Any:
    """Wrap ``function``, plain or async: the gate is asked before each call and the call is made only when it allows.

    The input that is judged is every argument by its parameter's name, positional ones and defaults included.

    ``tool``         the name that rules and judge see; default: the function's own
    ``state``        the task and its limits, or a function that says them at the time of the call
    ``description``  what the tool does; default: the first line of the docstring
    ``escalated``    asked when the gate leaves it to a person: True makes the call.  Default: it is not made
    ``jev``          who is asked; default: one ``Jev()`` for this function

    Raises ToolCallBlocked instead of calling.  Arguments that don't fit raise TypeError as always, before anything is
    judged.
    """
    import functools
    import inspect

    wrap = functools.partial(
        guarded,
        tool=tool,
        state=state,
        description=description,
        threshold=threshold,
        jev=jev,
        escalated=escalated,
    )
    if function is None:
        return wrap
    if isinstance(function, (classmethod, staticmethod)):  # above @classmethod as well as below it
        return type(function)(wrap(function.__func__))
    if not callable(function):
        raise TypeError(f"guarded: takes a function, not {type(function).__name__}; the tool's name goes to tool=")
    inner: Callable[..., Any] = function
    before: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    while isinstance(inner, functools.partial):  # what it was given stands in no signature
        before, named, inner = inner.args + before, {**inner.keywords, **named}, inner.func
    signature = inspect.signature(inner)
    name: str = tool or getattr(inner, "__name__", "") or type(inner).__name__
    about = description
    if about is None:
        about = (inspect.getdoc(function) or "").strip().partition("\n")[0]
    asker = jev

    def ask(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Jev, dict[str, Any], dict[str, Any]]:
        nonlocal asker
        if asker is None:
            from .jev import Jev

            asker = Jev()
        given = {
            "state": state() if callable(state) else state,
            "description": about,
            "threshold": threshold,
        }
        return asker, arguments(signature, (*before, *args), {**named, **kwargs}), given

    def check(result: Gated) -> None:
        if result.decision == "allow":
            return
        if result.decision == "escalate" and escalated is not None and escalated(result) is True:
            return
        raise ToolCallBlocked(name, result)

    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):

        @functools.wraps(function)
        async def later(*args: Any, **kwargs: Any) -> Any:
            who, input, given = ask(args, kwargs)
            check(await who.agate(name, input, **given))
            return await function(*args, **kwargs)

        return later

    @functools.wraps(function)
    def now(*args: Any, **kwargs: Any) -> Any:
        who, input, given = ask(args, kwargs)
        check(who.gate(name, input, **given))
        return function(*args, **kwargs)

    return now


def arguments(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Every argument by its parameter's name as JSON values; ``self`` and ``cls`` are left out.  Raises TypeError."""
    from inspect import Parameter

    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    first = next(iter(signature.parameters), "")
    made: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if name == first and name in ("self", "cls"):
            continue
        if signature.parameters[name].kind is Parameter.VAR_KEYWORD and not value.keys() & made.keys():
            made |= {key: _plain(item, 1) for key, item in value.items()}  # else one would stand for a positional-only
        elif value or signature.parameters[name].kind is not Parameter.VAR_POSITIONAL:
            made[name] = _plain(value, 1)
    return made


def _plain(value: Any, depth: int) -> Any:
    """``value`` as a JSON value; what is none by its ``repr``, which is what a reader would see of it."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, (str, bytes)):
        return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")
    if isinstance(value, float):
        return value if value - value == 0 else repr(value)
    if depth < _DEPTH:
        if isinstance(value, dict):
            return {key if isinstance(key, str) else repr(key): _plain(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [_plain(item, depth + 1) for item in value]
    return repr(value)
