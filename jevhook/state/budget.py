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

SQLite finds a database's WAL by name, so another file may not take the name while anybody has this one open: a side
file ``budget.lock`` is held shared for each step, and alone by the commands that put a first file there or take it away.
"""

from __future__ import annotations

import errno
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
PATIENCE = 5.0  # seconds that a person's `clear` and first `set` wait until no hook has the file open
LOST = 120.0  # a reservation older than this belongs to a process that is gone: no call takes longer than 30 s
KEEP = 400 * 86400.0
MOST = 1_000_000 * MICROS

_SIDES = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database

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
        if not capped(env):  # a person took all caps away since the caller looked: none applies
            return Ticket(), ""
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
    at = int(now)
    while any(os.path.lexists(f"{place[:-7]}-{at}.sqlite{ending}") for ending in ("", *_SIDES)):
        at += 1  # cleared twice within a second: the first record stays
    aside = f"{place[:-7]}-{at}.sqlite"
    # The file first, so that no more hooks come: beside four that asked without a pause the lock was never free.  Those
    # that have it open finish, in the WAL, which follows when they are done.  Moved from under them, it was a disk I/O
    # error for 227 calls beside 300 clears.
    os.replace(place, aside)
    try:
        lock = _lock(place, alone=True)
    except BaseException:
        os.replace(aside, place)  # not another's: a first `set` needs the lock as well
        raise
    try:
        for ending in _SIDES:
            try:
                os.replace(place + ending, aside + ending)
            except FileNotFoundError:
                pass
    finally:
        _unlock(lock)
    if os.path.lexists(aside + "-wal"):
        try:  # closing it takes the WAL in: the path is then the whole record
            _check(aside)
            _run(aside, lambda con: None)
        except Exception:
            pass  # it can't be read, which may be why it was cleared: it is kept as it is
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
    """What ``work`` returns, done whole or not at all; ``make``: on a new file where there is none.

    Raises BudgetError.
    """
    place = path(env)
    lock = -1
    try:
        import sqlite3

        if make:
            ledger.make_private(os.path.dirname(place))
        first = make and not os.path.lexists(place)
        lock = _lock(place, alone=first)
        if first and not os.path.lexists(place):
            return _first(place, work)
        _check(place)
        return _run(place, work, make=make)
    except (ImportError, OSError, ValueError) as wrong:
        raise BudgetError(
            f"{place or 'the budget'} can't be used: {getattr(wrong, 'strerror', None) or wrong}"
        ) from None
    except (sqlite3.Error, TypeError, OverflowError) as wrong:  # TypeError: a table with other columns than ours
        raise BudgetError(f"{place} can't be used: {str(wrong)[:120]}") from None
    finally:
        _unlock(lock)


def _run(place: str, work: Callable[[sqlite3.Connection], T], *, make: bool = False) -> T:
    """What ``work`` returns, done on the file at ``place``, which is there already; ``make``: its tables as well."""
    import sqlite3

    con = sqlite3.connect(_uri(place), timeout=BUSY, isolation_level=None, uri=True)
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
    finally:
        con.close()


def _first(place: str, work: Callable[[sqlite3.Connection], T]) -> T:
    # Made aside and linked in whole, with its first cap: hooks beside a `set` that made it in place found a file without
    # tables (18 rounds of 60), and a `set` that failed or was killed left one (14 of 120): every call was refused then.
    for ending in _SIDES:  # of a file that somebody removed by hand: SQLite would read them into this one
        _remove(place + ending)
    aside = f"{place}.{os.getpid()}.{os.urandom(6).hex()}"
    try:
        os.close(ledger.open_own(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        made = _run(aside, work, make=True)
        if os.path.lexists(aside + "-wal"):  # the last connection empties it and takes it away, if there is room
            raise OSError("what was written can't be put into one file")
        try:
            os.link(aside, place)
        except FileExistsError:  # another first one, where there are no locks
            _check(place)
            made = _run(place, work, make=True)
    finally:
        for ending in ("", *_SIDES):
            _remove(aside + ending)
    return made


def _remove(name: str) -> None:
    try:
        os.unlink(name)
    except FileNotFoundError:
        pass


def _uri(place: str) -> str:
    # mode=rw: a plain path makes the file that `clear` took away a moment ago anew, empty and open to others (31 of 300
    # clears beside four hooks), and then every call is refused.
    if os.name == "nt":
        place = "/" + place.replace("\\", "/")
    return "file://" + place.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=rw"


def _lock(place: str, *, alone: bool) -> int:
    """The locked side file's descriptor, -1 where there are no locks; ``alone``: nobody has the file at ``place`` open.

    Raises OSError, also when others stay too long.
    """
    if not place:
        raise OSError("there is neither a home directory nor XDG_STATE_HOME")
    fcntl = ledger.fcntl
    if fcntl is None:
        return -1
    fd = ledger.open_own(f"{place[:-7]}.lock", os.O_RDWR | os.O_CREAT)
    patience = PATIENCE if alone else BUSY
    until = time.monotonic() + patience
    pause = 0.0005
    while True:
        try:
            fcntl.flock(fd, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            return fd
        except BlockingIOError:
            if time.monotonic() >= until:
                break
            time.sleep(pause)
            # Seven that looked every half millisecond beside two busy loops kept the one that had it from finishing: 5 s.
            pause = min(pause * 2, 0.016)
        except OSError:  # a file system without locks
            os.close(fd)
            return -1
    os.close(fd)
    raise OSError(errno.EBUSY, f"another process has had it locked for {patience:g} s", place)


def _unlock(lock: int) -> None:
    if lock >= 0:
        os.close(lock)


def _check(place: str) -> None:
    """Raises OSError unless ``place`` is our own private file.  It is never opened here to be closed again: closing
    any descriptor of a file gives up all locks that this process has on it."""
    facts = os.lstat(place)
    owner = getattr(os, "geteuid", None)
    if not stat.S_ISREG(facts.st_mode) or (owner and (facts.st_uid != owner() or facts.st_mode & 0o077)):
        raise OSError("it is not a private file of yours (mode 0600)")
