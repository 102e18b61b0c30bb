"""Money: what judges may cost in a month and for one decision, safe under any number of hooks at once.

Off until a person sets a cap (``jevhook budget set``): until then there is no file, and the hook pays one ``stat``.
From then on, in whole micro-dollars and UTC months:

1. *reserve*, before the call: the smallest per-decision cap that applies, or the call is not made.  Admitted while
   ``settled + reserved + held + amount <= monthly cap`` in every bucket that has a cap: the user's, the provider's
   and the model's.
2. *settle*, after it: what the service reported, else tokens at the price a person gave, else nothing (a service that
   says no cost is taken at its word).  More than was reserved freezes the buckets until a person has looked.
3. *hold*, when nobody knows whether the call was charged (timeout, broken connection): the reservation goes on
   counting until it is released or the month is over.  A process that was killed in between becomes a hold as well.

Each step is one IMMEDIATE transaction in ``<state>/jevhook/budget.sqlite`` (WAL, mode 0600).  A ledger of money that
can't be read or is locked for too long refuses the call: no work is blocked by that, the rules' word stands.
"""

from __future__ import annotations

import os
import stat
import time

from .. import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    T = TypeVar("T")

MICROS = 1_000_000  # in a dollar
BUSY = 1.0  # seconds that a hook waits for others' transactions
LOST = 120.0  # a reservation older than this belongs to a process that is gone: no call takes longer than 30 s
KEEP = 400 * 86400.0
MOST = 1_000_000 * MICROS

_SCHEMA = """
CREATE TABLE IF NOT EXISTS caps(
    scope TEXT, name TEXT, monthly INTEGER, decision INTEGER, set_at REAL, PRIMARY KEY(scope, name));
CREATE TABLE IF NOT EXISTS prices(
    provider TEXT, model TEXT, input INTEGER, output INTEGER, PRIMARY KEY(provider, model));
CREATE TABLE IF NOT EXISTS frozen(scope TEXT, name TEXT, why TEXT, at REAL, PRIMARY KEY(scope, name));
CREATE TABLE IF NOT EXISTS buckets(
    period TEXT, scope TEXT, name TEXT, settled INTEGER DEFAULT 0, reserved INTEGER DEFAULT 0, held INTEGER DEFAULT 0,
    PRIMARY KEY(period, scope, name));
CREATE TABLE IF NOT EXISTS reservations(
    id TEXT PRIMARY KEY, period TEXT, provider TEXT, model TEXT, amount INTEGER, state TEXT, at REAL,
    cost INTEGER, input_tokens INTEGER, output_tokens INTEGER, cost_from TEXT, why TEXT);
CREATE INDEX IF NOT EXISTS unsettled ON reservations(state, at) WHERE state IN ('reserved', 'held');
CREATE TABLE IF NOT EXISTS events(at REAL, what TEXT, detail TEXT);
"""


class BudgetError(Exception):
    """The ledger of money can't be used; the text says why, in one line."""


class Ticket:
    """A reservation: ``amount`` in micro-dollars, ``id`` "" when no cap applies to this judge."""

    __slots__ = ("amount", "id")

    def __init__(self, id: str = "", amount: int = 0) -> None:
        self.id = id
        self.amount = amount


def path(env: Mapping[str, str]) -> str:
    """Where the ledger of money is; "" without a state directory."""
    base = ledger.directory(env)
    return os.path.join(base, "budget.sqlite") if base else ""


def capped(env: Mapping[str, str]) -> bool:
    """Whether anybody ever set a cap.  One ``stat``."""
    place = path(env)
    return bool(place) and os.path.lexists(place)


def period(now: float) -> str:
    """The UTC month of ``now``: "2027-01"."""
    return time.strftime("%Y-%m", time.gmtime(now))


def scopes(provider: str, model: str) -> list[tuple[str, str]]:
    """The buckets that a call counts in."""
    return [("user", ""), ("provider", provider), ("model", f"{provider}/{model}")]


# -- what the hook does ----------------------------------------------------------------------------------------


def reserve(env: Mapping[str, str], provider: str, model: str, now: float) -> tuple[Ticket | None, str]:
    """(the reservation for one decision, "") or (None, why the call may not be made).  Never raises."""
    try:
        return _transaction(env, lambda con: _reserve(con, provider, model, now))
    except BudgetError as wrong:
        return None, str(wrong)


def settle(
    env: Mapping[str, str],
    ticket: Ticket,
    cost: int | None,
    now: float,
    *,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
) -> tuple[int, str]:
    """(micro-dollars that were booked, "" or why the buckets are frozen now).

    ``cost``: micro-dollars as the service reported them; None: tokens at the price that was set, else 0.
    Never raises: what can't be booked stays reserved, which becomes a hold.
    """
    if not ticket.id:
        return 0, ""
    try:
        return _transaction(env, lambda con: _settle(con, ticket.id, cost, now, input_tokens, output_tokens))
    except BudgetError:
        return 0, ""


def hold(env: Mapping[str, str], ticket: Ticket, why: str, now: float) -> None:
    """Nobody knows what the call cost: let its reservation count.  Never raises."""
    if not ticket.id:
        return
    try:
        _transaction(env, lambda con: _hold(con, ticket.id, why, now))
    except BudgetError:
        pass


def _reserve(con: sqlite3.Connection, provider: str, model: str, now: float) -> tuple[Ticket | None, str]:
    _sweep(con, now)
    mine = scopes(provider, model)
    for scope, name in mine:
        found = con.execute("SELECT why FROM frozen WHERE scope = ? AND name = ?", (scope, name)).fetchone()
        if found:
            return None, f"the budget of {_shown(scope, name)} is frozen: {found[0]}; see `jevhook budget`"
    limits = []
    for scope, name in mine:
        row = con.execute("SELECT monthly, decision FROM caps WHERE scope = ? AND name = ?", (scope, name)).fetchone()
        if row:
            limits.append((scope, name, int(row[0]), int(row[1])))
    if not limits:
        return Ticket(), ""
    amount = min(decision for _, _, _, decision in limits)
    month = period(now)
    for scope, name, monthly, _ in limits:
        row = con.execute(
            "SELECT settled + reserved + held FROM buckets WHERE period = ? AND scope = ? AND name = ?",
            (month, scope, name),
        ).fetchone()
        used = int(row[0]) if row else 0
        if used + amount > monthly:
            left = f"{usd(used)} of {usd(monthly)} USD are spoken for and one decision may cost {usd(amount)}"
            return None, f"the month's budget of {_shown(scope, name)} is used up: {left}"
    ticket = Ticket(ledger.new_id(), amount)
    con.execute(
        "INSERT INTO reservations(id, period, provider, model, amount, state, at) "
        "VALUES (?, ?, ?, ?, ?, 'reserved', ?)",
        (ticket.id, month, provider, model, amount, now),
    )
    _book(con, month, mine, reserved=amount)
    return ticket, ""


def _sweep(con: sqlite3.Connection, now: float) -> None:
    lost = con.execute("SELECT id FROM reservations WHERE state = 'reserved' AND at < ?", (now - LOST,)).fetchall()
    for (number,) in lost:
        _hold(con, number, "the process ended before it could say", now)


def _settle(
    con: sqlite3.Connection, number: str, cost: int | None, now: float, tokens_in: int | None, tokens_out: int | None
) -> tuple[int, str]:
    row = con.execute(
        "SELECT period, provider, model, amount, state FROM reservations WHERE id = ?", (number,)
    ).fetchone()
    if row is None or row[4] not in ("reserved", "held"):
        return 0, ""
    month, provider, model, amount, state = row
    origin = "reported"
    if cost is None:
        cost, origin = _priced(con, provider, model, tokens_in, tokens_out)
        if cost < 0:
            _hold(con, number, "a price, but no word on the tokens", now)
            return 0, ""
    if not 0 <= cost <= MOST:
        _hold(con, number, "a cost that can't be", now)
        return 0, ""
    mine = scopes(provider, model)
    con.execute(
        "UPDATE reservations SET state = 'settled', cost = ?, cost_from = ?, input_tokens = ?, output_tokens = ? "
        "WHERE id = ?",
        (cost, origin, tokens_in, tokens_out, number),
    )
    _book(con, month, mine, settled=cost, **{state: -amount})
    if cost <= amount:
        return cost, ""
    why = f"one decision cost {usd(cost)} USD where {usd(amount)} were reserved"
    for scope, name in mine:
        con.execute("INSERT OR IGNORE INTO frozen(scope, name, why, at) VALUES (?, ?, ?, ?)", (scope, name, why, now))
    _note(con, now, "frozen", f"{provider}/{model}: {why}")
    return cost, why


def _priced(
    con: sqlite3.Connection, provider: str, model: str, tokens_in: int | None, tokens_out: int | None
) -> tuple[int, str]:
    row = con.execute(
        "SELECT input, output FROM prices WHERE provider = ? AND model IN (?, '') ORDER BY model DESC LIMIT 1",
        (provider, model),
    ).fetchone()
    if row is None:
        return 0, "none"
    if tokens_in is None and tokens_out is None:
        return -1, ""
    # Prices are micro-dollars for a million tokens; a part of a micro-dollar counts as a whole one.
    return -(-((tokens_in or 0) * int(row[0]) + (tokens_out or 0) * int(row[1])) // 1_000_000), "tokens"


def _hold(con: sqlite3.Connection, number: str, why: str, now: float) -> None:
    row = con.execute(
        "SELECT period, provider, model, amount FROM reservations WHERE id = ? AND state = 'reserved'", (number,)
    ).fetchone()
    if row is None:
        return
    month, provider, model, amount = row
    con.execute("UPDATE reservations SET state = 'held', why = ? WHERE id = ?", (why[:200], number))
    _book(con, month, scopes(provider, model), reserved=-amount, held=amount)


def _book(
    con: sqlite3.Connection,
    month: str,
    mine: list[tuple[str, str]],
    *,
    settled: int = 0,
    reserved: int = 0,
    held: int = 0,
) -> None:
    for scope, name in mine:
        con.execute(
            "INSERT INTO buckets(period, scope, name, settled, reserved, held) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT(period, scope, name) DO UPDATE SET "
            "settled = settled + excluded.settled, reserved = reserved + excluded.reserved, "
            "held = held + excluded.held",
            (month, scope, name, settled, reserved, held),
        )


def _note(con: sqlite3.Connection, now: float, what: str, detail: str) -> None:
    con.execute("INSERT INTO events(at, what, detail) VALUES (?, ?, ?)", (now, what, detail[:400]))


# -- what a person does ----------------------------------------------------------------------------------------


def set_cap(
    env: Mapping[str, str], monthly: int, decision: int, now: float, provider: str = "", model: str = ""
) -> None:
    """A cap in micro-dollars for the user, a provider, or one of its models.  Raises BudgetError, ValueError."""
    if not 0 < decision <= monthly <= MOST:
        raise ValueError("both caps must be more than nothing, and one decision may not cost more than the month")
    if model and not provider:
        raise ValueError("a model's cap needs its provider")
    scope, name = _named(provider, model)

    def change(con: sqlite3.Connection) -> None:
        con.execute("INSERT OR REPLACE INTO caps VALUES (?, ?, ?, ?, ?)", (scope, name, monthly, decision, now))
        con.execute("DELETE FROM reservations WHERE at < ? AND state NOT IN ('reserved', 'held')", (now - KEEP,))
        con.execute("DELETE FROM events WHERE at < ?", (now - KEEP,))
        _note(con, now, "cap", f"{_shown(scope, name)}: {usd(monthly)} a month, {usd(decision)} a decision")

    _transaction(env, change, make=True)


def set_price(env: Mapping[str, str], provider: str, model: str, input: int, output: int, now: float) -> None:
    """What a million input and output tokens cost, in micro-dollars; ``model`` "" for all of the provider's.

    Raises BudgetError, ValueError.
    """
    if not provider or not (0 <= input <= MOST and 0 <= output <= MOST):
        raise ValueError("a price needs a provider and amounts that are not negative")

    def change(con: sqlite3.Connection) -> None:
        con.execute("INSERT OR REPLACE INTO prices VALUES (?, ?, ?, ?)", (provider, model, input, output))
        _note(con, now, "price", f"{provider} {model}: {usd(input)} in, {usd(output)} out, a million tokens")

    _transaction(env, change)


def unfreeze(env: Mapping[str, str], now: float) -> int:
    """Thaw every bucket; how many there were.  Raises BudgetError."""

    def change(con: sqlite3.Connection) -> int:
        count = con.execute("DELETE FROM frozen").rowcount
        _note(con, now, "unfreeze", f"{count} buckets")
        return count

    return _transaction(env, change)


def release(env: Mapping[str, str], provider: str, why: str, now: float) -> tuple[int, int]:
    """(how many, micro-dollars) of the provider's holds that count no more.  Raises BudgetError."""

    def change(con: sqlite3.Connection) -> tuple[int, int]:
        _sweep(con, now)
        rows = con.execute(
            "SELECT id, period, model, amount FROM reservations WHERE state = 'held' AND provider = ?", (provider,)
        ).fetchall()
        for number, month, model, amount in rows:
            con.execute("UPDATE reservations SET state = 'released', why = ? WHERE id = ?", (why[:200], number))
            _book(con, month, scopes(provider, model), held=-amount)
        total = sum(int(row[3]) for row in rows)
        _note(con, now, "release", f"{provider}: {len(rows)} holds, {usd(total)} USD: {why}")
        return len(rows), total

    return _transaction(env, change)


def clear(env: Mapping[str, str], now: float) -> str:
    """No caps any more: the ledger of money is put aside whole, and its new path returned.  Raises OSError."""
    place = path(env)
    aside = f"{place[:-7]}-{int(now)}.sqlite"
    os.replace(place, aside)
    for ending in ("-wal", "-shm"):
        try:
            os.replace(place + ending, aside + ending)
        except FileNotFoundError:
            pass
    return aside


def last_settled(env: Mapping[str, str], provider: str) -> float:
    """When a call to ``provider`` was last settled, 0 for never.  Raises BudgetError."""

    def look(con: sqlite3.Connection) -> float:
        row = con.execute(
            "SELECT max(at) FROM reservations WHERE provider = ? AND state = 'settled'", (provider,)
        ).fetchone()
        return float(row[0] or 0)

    return _transaction(env, look)


def status(env: Mapping[str, str], now: float) -> dict[str, Any]:
    """What `jevhook budget` shows.  Amounts in micro-dollars.  Raises BudgetError."""

    def look(con: sqlite3.Connection) -> dict[str, Any]:
        _sweep(con, now)
        month = period(now)
        caps = []
        for scope, name, monthly, decision in con.execute(
            "SELECT scope, name, monthly, decision FROM caps ORDER BY scope = 'user' DESC, scope DESC, name"
        ).fetchall():
            row = con.execute(
                "SELECT settled, reserved, held FROM buckets WHERE period = ? AND scope = ? AND name = ?",
                (month, scope, name),
            ).fetchone() or (0, 0, 0)
            caps.append(
                {
                    "scope": scope, "name": name, "monthly": monthly, "per_decision": decision,
                    "settled": row[0], "reserved": row[1], "held": row[2],
                }
            )  # fmt: skip
        return {
            "period": month,
            "caps": caps,
            "frozen": [
                {"scope": scope, "name": name, "why": why, "at": at}
                for scope, name, why, at in con.execute("SELECT scope, name, why, at FROM frozen ORDER BY scope, name")
            ],
            "holds": [
                {"provider": provider, "count": count, "amount": amount}
                for provider, count, amount in con.execute(
                    "SELECT provider, count(*), sum(amount) FROM reservations WHERE state = 'held' AND period = ? "
                    "GROUP BY provider ORDER BY provider",
                    (month,),
                )
            ],
            "prices": [
                {"provider": provider, "model": model, "input": given, "output": made}
                for provider, model, given, made in con.execute(
                    "SELECT provider, model, input, output FROM prices ORDER BY provider, model"
                )
            ],
            "unpriced": [
                {"provider": provider, "calls": count}
                for provider, count in con.execute(
                    "SELECT provider, count(*) FROM reservations WHERE state = 'settled' AND cost_from = 'none' "
                    "AND period = ? GROUP BY provider ORDER BY provider",
                    (month,),
                )
            ],
        }

    return _transaction(env, look)


def micros(dollars: object) -> int | None:
    """A reported cost in dollars as whole micro-dollars, rounded up; None when it is no amount of money."""
    if isinstance(dollars, bool) or not isinstance(dollars, (int, float)) or not 0 <= dollars <= MOST / MICROS:
        return None
    return int(-(-round(dollars * MICROS, 3) // 1))


def usd(amount: int) -> str:
    """Micro-dollars for people: "12.50", "0.000123"."""
    whole, rest = divmod(amount, MICROS)
    digits = f"{rest:06d}".rstrip("0")
    return f"{whole}.{digits.ljust(2, '0')}"


def _named(provider: str, model: str) -> tuple[str, str]:
    if model:
        return "model", f"{provider}/{model}"
    return ("provider", provider) if provider else ("user", "")


def _shown(scope: str, name: str) -> str:
    return f"{scope} {name}" if name else scope


# -- the file --------------------------------------------------------------------------------------------------


def _transaction(env: Mapping[str, str], work: Callable[[sqlite3.Connection], T], *, make: bool = False) -> T:
    """What ``work`` returns, done whole or not at all.  Raises BudgetError."""
    place = path(env)
    try:
        import sqlite3

        _check(place, make)
        con = sqlite3.connect(place, timeout=BUSY, isolation_level=None)
    except (ImportError, OSError, ValueError) as wrong:
        raise BudgetError(
            f"{place or 'the budget'} can't be used: {getattr(wrong, 'strerror', None) or wrong}"
        ) from None
    except Exception as wrong:
        raise BudgetError(f"{place} can't be opened: {type(wrong).__name__}") from None
    try:
        if make:
            con.execute("PRAGMA journal_mode = WAL")
            con.executescript(_SCHEMA)
        con.execute("PRAGMA synchronous = NORMAL")
        con.execute("BEGIN IMMEDIATE")
        try:
            made = work(con)
            con.execute("COMMIT")
        except BaseException:
            if con.in_transaction:
                con.execute("ROLLBACK")
            raise
        return made
    except (sqlite3.Error, TypeError, OverflowError) as wrong:  # TypeError: a table with other columns than ours
        raise BudgetError(f"{place} can't be used: {str(wrong)[:120]}") from None
    finally:
        con.close()


def _check(place: str, make: bool) -> None:
    """Raises OSError unless ``place`` is our own private file.  It is never opened here to be closed again: closing
    any descriptor of a file gives up all locks that this process has on it."""
    if not place:
        raise OSError("there is neither a home directory nor XDG_STATE_HOME")
    if make and not os.path.lexists(place):
        ledger.make_private(os.path.dirname(place))
        os.close(ledger.open_own(place, os.O_RDWR | os.O_CREAT))
    facts = os.lstat(place)
    owner = getattr(os, "geteuid", None)
    if not stat.S_ISREG(facts.st_mode) or (owner and (facts.st_uid != owner() or facts.st_mode & 0o077)):
        raise OSError("it is not a private file of yours (mode 0600)")
