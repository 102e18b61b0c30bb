"""JSON for the lane, without importing ``json``.

``import json`` pulls in ``re``, ``enum`` and ``functools``: 7 ms of every tool call, as much as a bare interpreter.
The C scanner and encoder that ``json`` itself uses live in ``_json`` and need none of it.  Where ``_json`` is
missing (another Python than CPython), ``json`` does the work.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SPACE = " \t\r\n"


class _Context:
    """What the C scanner reads its options from: json.JSONDecoder's own defaults, but strict about NaN."""

    strict = False  # hosts are machines, but a raw tab in a command must not make the gate blind
    object_hook = None
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None
    parse_float = float
    memo: dict[str, str] = {}  # noqa: RUF012

    @staticmethod
    def parse_int(text: str) -> int | float:
        # int() refuses more than 4,300 digits with ValueError since 3.11; such a number is never ours to use.
        return int(text) if len(text) <= 400 else float(text)

    @staticmethod
    def parse_constant(name: str) -> float:
        return {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}[name]


class _Once(_Context):
    """The same, and a key that stands twice in one object is an error: two readers would read it differently."""

    @staticmethod
    def object_pairs_hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) != len(pairs):
            raise ValueError("a key appears twice in one object")
        return built


_scan: Callable[[str, int], tuple[Any, int]] | None
_scan_once: Callable[[str, int], tuple[Any, int]] | None
_encoder: Any
try:
    import _json

    _scan = _json.make_scanner(_Context)  # type: ignore[arg-type]
    _scan_once = _json.make_scanner(_Once)  # type: ignore[arg-type]
    _escape: Callable[[str], str] = _json.encode_basestring_ascii
    _encoder = _json.make_encoder
except (ImportError, AttributeError):  # not CPython
    _scan = _scan_once = None
    _encoder = None


def loads(text: str, *, once: bool = False) -> Any:
    """The value that ``text`` holds.  Raises ValueError when it is not exactly one JSON value.

    With ``once`` a key that stands twice in one object is an error too; without it the last one counts.
    """
    scan = _scan_once if once else _scan
    if scan is None:
        import json

        try:
            return json.loads(text, strict=False, object_pairs_hook=_Once.object_pairs_hook if once else None)
        except RecursionError:
            raise ValueError("JSON is nested too deeply") from None
    start, end = 0, len(text)
    if text[:1] == "\ufeff":  # Claude Code accepts a BOM before JSON, so may whoever pipes to us
        start = 1
    while start < end and text[start] in _SPACE:
        start += 1
    try:
        value, stop = scan(text, start)
    except StopIteration as stopped:
        raise ValueError(f"no JSON value at character {stopped.value}") from None
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None
    except SystemError:  # the scanner takes its error class from json.decoder: with it, it says what is wrong and where
        import json

        assert json
        return loads(text, once=once)
    while stop < end and text[stop] in _SPACE:
        stop += 1
    if stop != end:
        raise ValueError(f"text after the JSON value at character {stop}")
    return value


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON")


def dumps(value: Any, *, sort_keys: bool = False) -> str:
    """Compact ASCII JSON on one line.  Raises ValueError for what JSON cannot hold (NaN, cycles, other types)."""
    if _encoder is None:
        import json

        try:
            return json.dumps(value, separators=(",", ":"), sort_keys=sort_keys, allow_nan=False)
        except (TypeError, RecursionError) as wrong:
            raise ValueError(str(wrong)) from None

    def floats(number: float) -> str:
        if number != number or number in (float("inf"), float("-inf")):
            raise ValueError("NaN and infinity are not JSON")
        return float.__repr__(number)

    try:
        if isinstance(value, str):
            return _escape(value)
        if value is None or value is True or value is False:
            return {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, int):
            return int.__repr__(value)
        if isinstance(value, float):
            return floats(value)
        encode = _encoder({}, _refuse, _escape, None, ":", ",", sort_keys, False, False)
        return "".join(encode(value, 0))
    except (TypeError, RecursionError) as wrong:
        raise ValueError(str(wrong) or "nested too deeply") from None
