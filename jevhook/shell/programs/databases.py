"""Database clients: the SQL, Redis or Mongo text they are given, and which database it goes to."""

from __future__ import annotations

from ..finding import ANY, Target
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from .options import has, operands, value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..walk import Invocation


def _where(inv: Invocation) -> tuple[str, ...]:
    """Roles of the database that is meant: production by its name, local by its host."""
    from . import _production

    texts = [*inv.args, *inv.env.values()]
    roles = []
    if any(_production(t.lower()) for t in texts):
        roles.append("production")
    host = value_of(inv.args, "-h", "--host") or ""
    if host in ("localhost", "127.0.0.1", "::1") or any("@localhost" in t or "@127.0.0.1" in t for t in texts):
        roles.append("local")
    if any("test" in t.lower() for t in inv.args if "/" not in t or "://" in t) and "production" not in roles:
        names = operands(inv.args, "-h", "-p", "-U", "-u", "-c", "-e", "-f", "--command", "--execute")
        if any("test" in n.lower() for n in names) or "test" in (value_of(inv.args, "-d", "--dbname", "-D", "--database") or "").lower():
            roles.append("test")
    return tuple(roles)


def sql_effects(inv: Invocation, text: str) -> None:
    """Record what the SQL would lose as findings: the target's path is the statement's object."""
    from ..code.sql import read_sql

    roles = tuple(r for r in _where(inv) if r != "test")
    test = ("test-database",) if "test" in _where(inv) else ()
    for act, thing in read_sql(text):
        target = Target("none", thing, roles)
        if act == "shell":
            inv.code(thing, f"{inv.name} shell")
        elif act == "drop":
            inv.add("database", target, facts=("drop", *test, *((thing.split(" ", 1)[0],) if " " in thing else ())))
        elif act in ("truncate", "flush", "delete-all", "update-all", "drop-column", "delete", "grant", "shutdown"):
            inv.add("database", target, facts=(act, *test))
        elif act == "copy-program":
            inv.code(thing, "COPY PROGRAM")
        elif act in ("read-file", "write-file"):
            goal = inv.target(thing)
            if act == "read-file" and "secret" in goal.roles:
                inv.add("read-secret", goal, facts=("sql",))
            elif act == "write-file":
                inv.add("overwrite", goal, facts=("sql",))


def sql_client(inv: Invocation) -> Flow:
    args = inv.args
    texts = values_of(args, "-c", "--command", "-e", "--execute", "-Q", "-q", "--query", "--sql", "-cmd")
    valued = ("-h", "--host", "-p", "--port", "-U", "--username", "-d", "--dbname", "-u", "--user", "-P", "-D", "--database", "-f", "--file", "-c", "-e", "-o", "-S", "-v", "--set", "-q", "-Q", "-i", "-cmd", "--command", "--execute")
    words = operands(args, *valued)
    if inv.name in ("sqlite3", "sqlite", "duckdb", "litecli"):
        texts += words[1:]
    for text in texts:
        sql_effects(inv, text)
    for path in values_of(args, "-f", "--file", "-i"):
        if inv.name in ("psql", "mysql", "sqlcmd"):
            known = inv.walk.scripts.get(inv.target(path).path)
            if known is None and not inv.scope.where:
                known = inv.walk.world.text(inv.target(path).path, 1 << 18)
            if known is not None:
                sql_effects(inv, known)
    if inv.stdin is not None and inv.stdin.text is not None:
        sql_effects(inv, inv.stdin.text)
    return Flow(None, frozenset())


def redis(inv: Invocation) -> Flow:
    from ..code.sql import read_redis

    words = operands(inv.args, "-h", "-p", "-a", "-n", "-u", "--user", "--pass", "-r", "-i", "-s")
    lines = [words] if words else []
    if inv.stdin is not None and inv.stdin.text is not None:
        lines += [line.split() for line in inv.stdin.text.split("\n") if line.strip()]
    roles = tuple(r for r in _where(inv) if r != "test")
    for line in lines:
        for act, thing in read_redis(line):
            inv.add("database", Target("none", thing, roles), facts=(act, "redis"))
    return Flow(None, frozenset())


def mongo(inv: Invocation) -> Flow:
    from ..code.sql import read_mongo

    texts = values_of(inv.args, "--eval", "-e")
    if inv.stdin is not None and inv.stdin.text is not None:
        texts.append(inv.stdin.text)
    roles = tuple(r for r in _where(inv) if r != "test")
    for text in texts:
        for act, thing in read_mongo(text):
            inv.add("database", Target("none", thing, roles), facts=(act, "mongo"))
    return Flow(None, frozenset())


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    **{name: sql_client for name in ("psql", "mysql", "mariadb", "sqlite3", "sqlite", "duckdb", "sqlcmd", "cockroach", "clickhouse-client", "clickhouse", "pgcli", "mycli", "litecli", "usql", "snowsql", "bq", "isql", "osql", "tsql", "cqlsh", "trino", "presto", "spark-sql", "hive", "beeline", "impala-shell")},
    "redis-cli": redis, "valkey-cli": redis, "keydb-cli": redis, "mongo": mongo, "mongosh": mongo,
}  # fmt: skip
