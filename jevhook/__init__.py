"""jevhook: the judgment gate for coding agents, and the same judgment as a library.

The library's names are loaded when they are first used: the hook imports this module with every tool call.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .use.gate import gate as gate
    from .use.guarded import ToolCallBlocked as ToolCallBlocked
    from .use.guarded import guarded as guarded
    from .use.jev import Jev as Jev
    from .use.request import RequestError as RequestError
    from .use.request import check as check
    from .use.request import pick as pick
    from .use.request import rate as rate
    from .use.verdict import route as route

_LIBRARY = {
    "Jev": "jev",
    "RequestError": "request",
    "ToolCallBlocked": "guarded",
    "check": "request",
    "gate": "gate",
    "guarded": "guarded",
    "pick": "request",
    "rate": "request",
    "route": "verdict",
}


def __getattr__(name: str) -> object:
    room = _LIBRARY.get(name)
    if room is None:
        raise AttributeError(f"module 'jevhook' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"jevhook.use.{room}"), name)
