"""Database clients and migration tools: the SQL, Redis or Mongo text they are given, and which database it goes to.

Every reader here ends in ``database`` findings.  Facts: drop, truncate, flush, reset, delete-all, update-all, drop-column,
delete, rollback, load-schema, data-loss, grant, shutdown …, the dropped object's kind beside ``drop``, and
``test-database`` where the target is one by name.  Roles: production by the target's name, local by its host.
"""

from __future__ import annotations

from ..finding import ANY, NAME, Target
from ..walk import Flow
from .options import has, operands, value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..walk import Invocation

_SQL_OPTIONS = ("-c", "--command", "-e", "--execute", "-Q", "-q", "--query", "--sql", "-cmd", "--statement", "--eval")
_VALUED = (
    "-h", "--host", "-p", "--port", "-U", "--username", "-d", "--dbname", "-u", "--user", "-P", "-D", "--database", "-f", "--file", "-c", "-e", "-o", "-S", "-v", "--set", "-q", "-Q",
    "-i", "-cmd", "--command", "--execute", "--query", "--url", "--socket", "-L", "--env", "--config", "--schema",
)  # fmt: skip
_TEST_WORDS = frozenset(
    ("test", "tests", "testing", "testdb", "unittest", "e2e", "ci", "scratch", "tmp", "sandbox", "memory")
)
# Variables whose value says which database is meant.
_ABOUT = ("URL", "URI", "HOST", "ENV", "DATABASE", "DSN", "DB", "SETTINGS")


def _words_of(text: str) -> list[str]:
    """The letter runs of a name, lower case: ``shop_test-2`` is shop, test."""
    out: list[str] = []
    word = ""
    for c in text.lower() + " ":
        if c.isalnum():
            word += c
        elif word:
            out.append(word)
            word = ""
    return out


def _is_test(text: str) -> bool:
    return any(w in _TEST_WORDS or w.rstrip("0123456789") in _TEST_WORDS for w in _words_of(text))


def _variables(inv: Invocation) -> list[str]:
    """Names of the variables written in this command: ``$PROD_URL`` says production whatever it holds."""
    text = inv.walk.text[inv.start : inv.end]
    out: list[str] = []
    at = text.find("$")
    while at >= 0 and len(out) < 20:
        end = at + 1 + (text[at + 1 : at + 2] == "{")
        begin = end
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        if end > begin:
            out.append(text[begin:end])
        at = text.find("$", max(end, at + 1))
    return out


def place_of(inv: Invocation, said: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Roles and facts of the database that is meant.  ``said`` are the texts that are statements, not addresses."""
    from . import _production

    settings = {**inv.scope.env, **inv.env}
    about = [value for name, value in settings.items() if any(mark in name for mark in _ABOUT)]
    addresses = [a for a in inv.args if a not in said and not any(s and s in a for s in said)]
    texts = [*addresses, *about, *_variables(inv), inv.scope.where, *inv.scope.via]
    if inv.scope.where:  # the launcher's own words: a namespace, a context, a host
        around = inv.walk.text[inv.start : inv.end]
        for text in said:
            around = around.replace(text, " ")
        texts.append(around)
    roles: list[str] = []
    if any(_production(t.lower()) for t in texts):
        roles.append("production")
    host = value_of(inv.args, "-h", "--host", "-S") or settings.get("PGHOST", "") or settings.get("MYSQL_HOST", "")
    marks = ("@localhost", "@127.0.0.1", "//localhost", "//127.0.0.1", "host=localhost")
    if host.split(":")[0] in ("localhost", "127.0.0.1", "::1") or any(
        m in t for t in [*addresses, *about] for m in marks
    ):
        roles.append("local")
    facts: tuple[str, ...] = ()
    if "production" not in roles:
        names = [value_of(inv.args, "-d", "--dbname", "-D", "--database") or ""]
        names += [n.rsplit("/", 1)[-1].split("?")[0] if "://" in n else n for n in operands(addresses, *_VALUED)]
        kinds = ("ENV", "SETTINGS", "DATABASE", "URL", "PGDATABASE", "DB")
        names += [v.rsplit("/", 1)[-1] if "://" in v else v for n, v in settings.items() if any(k in n for k in kinds)]
        if (
            any(_is_test(n) for n in names if n)
            or any(t in ("--test", "--env=test") for t in inv.args)
            or any(
                n == ":memory:" or inv.target(n).kind in ("temp",)
                for n in names
                if n and ("/" in n or ":" in n) and "://" not in n
            )
        ):
            facts = ("test-database",)
    return tuple(roles), facts


def effect(
    inv: Invocation,
    act: str,
    thing: str,
    *,
    said: list[str] | None = None,
    extra: tuple[str, ...] = (),
    detail: str = "",
) -> None:
    """Record one ``database`` finding of this program."""
    from . import _production

    roles, facts = place_of(inv, said or [])
    if "production" not in roles and _production(thing.lower()):
        roles = (*roles, "production")
    inv.add(
        "database", Target("none", thing, roles), facts=(act, *facts, *extra), detail=detail or f"{act} {thing}".strip()
    )


_SQL_ACTS = frozenset(("truncate", "delete-all", "update-all", "drop-column", "delete", "shutdown", "update"))


def sql_effects(inv: Invocation, text: str) -> None:
    """Record what the SQL would lose as findings: the target's path is the statement's object."""
    from ..code.sql import read_sql

    dialect = "mysql" if inv.name in ("mysql", "mariadb", "mycli", "mysqlsh") else ""
    said = [text]
    for act, thing in read_sql(text, dialect):
        kind, _, name = thing.partition(" ")
        if act == "shell":
            inv.code(thing, f"{inv.name} shell")
        elif act == "drop":
            # PostgreSQL: DROP DATABASE test_x is a test database whatever server it is on
            test = ("test-database",) if kind in ("database", "schema") and _is_test(name) else ()
            effect(inv, "drop", thing, said=said, extra=(*test, kind) if name else test)
        elif act in _SQL_ACTS:
            effect(inv, act, thing, said=said)
        elif act == "flush":
            # FLUSH PRIVILEGES and RESET x lose nothing; logs that are purged and a restored file do
            if kind.lower() in ("master", "binary", "replica", "slave", "database"):
                effect(inv, "purge", thing, said=said)
        elif act == "grant":
            low = thing.lower()
            wide = low == "superuser" or (
                low.startswith("all") and " on * . *" in low.replace("*.*", "* . *").replace("*. *", "* . *")
            )
            effect(inv, "grant", thing, said=said, extra=("global",) if wide else ())
        elif act == "copy-program":
            inv.code(thing, "COPY PROGRAM")
        elif act == "read-file":
            goal = inv.target(thing)
            if "secret" in goal.roles:
                inv.add("read-secret", goal, facts=("sql",))
        elif act == "write-file":
            inv.add("overwrite", inv.target(thing), facts=("sql",))


def sql_client(inv: Invocation) -> Flow:
    args = inv.args
    texts = values_of(args, *_SQL_OPTIONS)
    words = operands(args, *_VALUED)
    if inv.name in ("sqlite3", "sqlite", "duckdb", "litecli", "libsql", "turso"):
        texts += words[1:]
        if words and "secret" in inv.target(words[0]).roles:
            from .readers import exposed

            exposed(inv, inv.target(words[0]), "sql")
        looks = all(text.strip().lower().startswith(("select", ".schema", ".tables", ".dump")) for text in texts)
        if words and texts and not looks and "gate" in inv.target(words[0]).roles:
            inv.add("write", inv.target(words[0]), facts=("sql",))
    elif inv.name in ("bq", "snow", "sqlite-utils", "cypher-shell", "wrangler"):
        texts += words
    if has(args, "-readonly", "--readonly", "-safe", "--safe"):
        return Flow(None, frozenset())
    if inv.stdin is not None and inv.stdin.text is not None:
        texts.append(inv.stdin.text)
    paths = [*values_of(args, "-f", "--file", "-i")] if inv.name in _FILE_CLIENTS else []
    for text in texts:
        sql_effects(inv, text)
        paths += _included(text)
    for path in paths[:20]:
        known = _on_disk(inv, path)
        if known is not None:
            sql_effects(inv, known)
    return Flow(None, frozenset())


_FILE_CLIENTS = ("psql", "mysql", "mariadb", "sqlcmd", "cqlsh", "snowsql")


def _included(text: str) -> list[str]:
    """Files that a client's own commands read in: ``\\i FILE`` (psql), ``source FILE`` (mysql), ``.read FILE`` (sqlite)."""
    found: list[str] = []
    for line in text.split("\n"):
        words = line.strip().rstrip(";").split()
        if len(words) == 2 and words[0].lower() in (
            "\\i",
            "\\ir",
            "\\include",
            "source",
            "\\.",
            ".read",
            "@",
            "start",
            "!source",
        ):
            found.append(words[1].strip("'\""))
    return found


def _on_disk(inv: Invocation, path: str) -> str | None:
    """The text of a script: as written on this line, else from disk (at most 256 KB)."""
    where = inv.target(path).path
    known = inv.walk.scripts.get(where)
    if known is None and not inv.scope.where:
        known = inv.walk.world.text(where, 1 << 18)
    return known


def cypher(inv: Invocation) -> Flow:
    texts = operands(
        inv.args,
        "-u",
        "-p",
        "-a",
        "-d",
        "--username",
        "--password",
        "--address",
        "--database",
        "-f",
        "--file",
        "-P",
        "--param",
    )
    if inv.stdin is not None and inv.stdin.text is not None:
        texts.append(inv.stdin.text)
    for text in texts:
        low = text.lower()
        if "delete" in low.split() and "match" in low:
            bare = "where" not in low.split() and "{" not in low
            effect(inv, "delete-all" if bare else "delete", "nodes", said=texts)
        elif "drop database" in low:
            effect(inv, "drop", "database", said=texts, extra=("database",))
    return Flow(None, frozenset())


def statement(inv: Invocation) -> Flow | None:
    """SQL typed where a shell command belongs: pasted for a client's prompt, or handed on by a tool."""
    text = inv.walk.text[inv.start : inv.end]
    if not text.lower().startswith(inv.name.lower()):
        text = inv.name + " " + " ".join(inv.args)
    head = inv.args[0].lower() if inv.args else ""
    name = inv.name.lower()
    if name == "truncate":
        if not inv.args or any(a[:1] == "-" for a in inv.args) or (head != "table" and len(inv.args) > 1):
            from .files import truncate

            return truncate(inv)
        sql_effects(inv, text)
    elif (
        (name == "drop" and head in ("database", "table", "schema", "view", "index", "user", "role", "keyspace"))
        or (name == "delete" and head == "from")
        or (name == "grant" and "on" in [a.lower() for a in inv.args])
        or (name == "alter" and head in ("table", "user", "role", "database"))
        or (name == "update" and "set" in [a.lower() for a in inv.args[1:3]])
    ):
        sql_effects(inv, text)
    return None


def redis(inv: Invocation) -> Flow:
    from ..code.sql import read_redis

    words = operands(
        inv.args, "-h", "-p", "-a", "-n", "-u", "--user", "--pass", "-r", "-i", "-s", "--askpass", "-t", "-d", "-D"
    )
    lines = [words] if words else []
    if inv.stdin is not None and inv.stdin.text is not None:
        lines += [line.split() for line in inv.stdin.text.split("\n") if line.strip()]
    for line in lines:
        for act, thing in read_redis(line):
            if act == "write-file":
                # where the server's dump goes: its own choice is harmless, a new place for it is how files get planted
                if ANY not in thing and thing:
                    effect(inv, "move-dump", thing, said=words, extra=("redis",))
            elif act == "run-code" and ("flushall" in thing.lower() or "flushdb" in thing.lower()):
                effect(inv, "flush", "all", said=words, extra=("redis",))
            elif act in ("flush", "shutdown", "delete", "replicate", "load-module", "debug", "grant"):
                wide = ("unseen",) if act == "delete" and (ANY in thing or NAME in thing) else ()
                effect(inv, act, thing, said=words, extra=("redis", *wide))
    return Flow(None, frozenset())


def mongo(inv: Invocation) -> Flow:
    from ..code.sql import read_mongo

    texts = values_of(inv.args, "--eval", "-e")
    if inv.stdin is not None and inv.stdin.text is not None:
        texts.append(inv.stdin.text)
    for path in [
        *values_of(inv.args, "--file", "-f"),
        *(w for w in operands(inv.args, *_VALUED, "--eval") if w.endswith((".js", ".mongodb"))),
    ]:
        known = inv.walk.scripts.get(inv.target(path).path) or (
            None if inv.scope.where else inv.walk.world.text(inv.target(path).path, 1 << 18)
        )
        if known:
            texts.append(known)
    for text in texts:
        for act, thing in read_mongo(text):
            if act == "shell":
                inv.code(thing, f"{inv.name} shell")
            elif act in ("drop", "delete-all", "update-all", "delete", "shutdown", "grant"):
                kind = thing.partition(" ")[0]
                if ANY in thing and kind == "database":  # db is the one the client was started on
                    named = operands(inv.args, *_VALUED, "--eval")[:1]
                    thing = f"database {named[0].rsplit('/', 1)[-1].split('?')[0]}" if named else "the current database"
                effect(inv, act, thing, said=texts, extra=("mongo", kind) if act == "drop" else ("mongo",))
    return Flow(None, frozenset())


# -- migration tools -------------------------------------------------------------------------------------------

# program -> (words in their order, options of which one must be there or "", act, what).  A word may end in "*".
# Acts: reset (everything is dropped, perhaps made again), rollback-all, rollback, load-schema, data-loss, drop.
_Row = tuple[str, str, str, str]
_DJANGO: tuple[_Row, ...] = (
    ("flush", "", "reset", "every row"), ("reset_db", "", "reset", "the database"), ("sqlflush", "", "print", ""), ("reset_schema", "", "reset", "the schema"),
    ("drop_tables", "", "reset", "every table"), ("migrate * zero", "", "rollback-all", "an app's tables"), ("clear_cache", "", "none", ""),
)  # fmt: skip
_RAILS: tuple[_Row, ...] = (
    ("db:drop*", "", "reset", "the database"), ("db:reset*", "", "reset", "the database"), ("db:purge*", "", "reset", "the database"), ("db:migrate:reset*", "", "reset", "the database"),
    ("db:truncate_all*", "", "reset", "every row"), ("db:seed:replant*", "", "reset", "every row"), ("db:schema:load*", "", "load-schema", "every table"),
    ("db:structure:load*", "", "load-schema", "every table"), ("db:setup*", "", "load-schema", "every table"), ("db:rollback*", "", "rollback", ""), ("db:migrate:down*", "", "rollback", ""),
    ("gitlab:backup:restore", "", "reset", "the instance's data"), ("gitlab:setup", "", "reset", "the instance's data"), ("db:mongoid:purge", "", "reset", "the database"), ("db:mongoid:drop", "", "reset", "the database"),
)  # fmt: skip
_ARTISAN: tuple[_Row, ...] = (
    ("migrate:fresh", "", "reset", "every table"), ("migrate:refresh", "", "reset", "every table"), ("migrate:reset", "", "reset", "every table"), ("db:wipe", "", "reset", "every table"),
    ("tenants:migrate-fresh", "", "reset", "every tenant's tables"), ("tenants:rollback", "", "rollback", ""), ("migrate:rollback", "", "rollback", ""), ("module:migrate-refresh", "", "reset", "a module's tables"),
    ("module:migrate-reset", "", "reset", "a module's tables"), ("module:migrate-fresh", "", "reset", "every table"), ("db:seed", "", "none", ""), ("schema:dump", "--prune", "data-loss", "migration files"),
)  # fmt: skip
_SYMFONY: tuple[_Row, ...] = (
    ("doctrine:database:drop", "--force -f", "reset", "the database"), ("d:d:d", "--force -f", "reset", "the database"), ("doctrine:schema:drop", "--force -f --full-database", "reset", "every table"),
    ("d:s:d", "--force -f", "reset", "every table"), ("doctrine:fixtures:load", "", "fixtures", "every row"), ("d:f:l", "", "fixtures", "every row"), ("doctrine:schema:update", "--complete", "data-loss", "tables"),
    ("doctrine:mongodb:schema:drop", "", "reset", "every collection"), ("doctrine:migrations:migrate first", "", "rollback-all", "every table"), ("migrations:rollback", "-t --target", "rollback-all", "every table"),
)  # fmt: skip
_ACE: tuple[_Row, ...] = (
    ("migration:fresh", "", "reset", "every table"), ("migration:refresh", "", "reset", "every table"), ("migration:reset", "", "reset", "every table"), ("db:wipe", "", "reset", "every table"),
    ("db:truncate", "", "reset", "every row"), ("migration:rollback", "", "rollback", ""),
)  # fmt: skip
_TYPEORM: tuple[_Row, ...] = (
    ("schema:drop", "", "reset", "every table"),
    ("schema:sync", "", "data-loss", "columns and tables"),
    ("migration:revert", "", "rollback", ""),
)
_SEQUELIZE: tuple[_Row, ...] = (
    ("db:drop", "", "reset", "the database"), ("db:migrate:undo:all", "", "rollback-all", "every table"), ("db:seed:undo:all", "", "rollback-all", "seeded rows"), ("db:migrate:undo", "", "rollback", ""),
)  # fmt: skip
_PRISMA: tuple[_Row, ...] = (
    ("migrate reset", "", "reset", "the database"), ("db push", "--force-reset", "reset", "the database"), ("db push", "--accept-data-loss", "data-loss", "columns and tables"),
    ("db drop", "", "reset", "the database"), ("migrate down", "", "rollback", ""), ("reset", "", "reset", "the database"),
)  # fmt: skip
_MIKRO: tuple[_Row, ...] = (
    ("schema:drop", "--run -r", "reset", "every table"), ("schema:fresh", "--run -r", "reset", "every table"), ("migration:fresh", "", "reset", "every table"), ("migration:down", "", "rollback", ""),
    ("database:drop", "", "reset", "the database"),
)  # fmt: skip
_ALEMBIC: tuple[_Row, ...] = (("downgrade base", "", "rollback-all", "every table"), ("downgrade", "", "rollback", ""))
_LIQUIBASE: tuple[_Row, ...] = (
    ("drop-all", "", "reset", "every object of the schema"), ("dropall", "", "reset", "every object of the schema"), ("liquibase:dropall", "", "reset", "every object of the schema"),
    ("rollback*", "", "rollback", ""), ("liquibase:rollback", "", "rollback", ""),
)  # fmt: skip
_FLYWAY: tuple[_Row, ...] = (
    ("clean", "", "reset", "every object of the schema"), ("flyway:clean", "", "reset", "every object of the schema"), ("flywayclean", "", "reset", "every object of the schema"), ("undo", "", "rollback", ""),
)  # fmt: skip
_TABLE: dict[str, tuple[_Row, ...]] = {
    name: rows
    for names, rows in (
        ("rails rake gitlab-rake gitlab-rails", _RAILS),
        ("artisan", _ARTISAN),
        ("manage.py django-admin", _DJANGO),
        ("console cake", _SYMFONY),
        ("ace", _ACE),
        ("prisma", _PRISMA),
        ("typeorm typeorm-ts-node-commonjs typeorm-ts-node-esm", _TYPEORM),
        ("sequelize sequelize-cli", _SEQUELIZE),
        ("mikro-orm mikro-orm-esm", _MIKRO),
        ("alembic", _ALEMBIC),
        ("flask", (("db downgrade base", "", "rollback-all", "every table"), ("db downgrade", "", "rollback", ""), ("drop-db", "", "reset", "the database"), ("drop_db", "", "reset", "the database"), ("reset-db", "", "reset", "the database"))),
        ("knex", (("migrate:rollback", "--all -a", "rollback-all", "every table"), ("migrate:rollback", "", "rollback", ""), ("migrate:down", "", "rollback", ""))),
        ("drizzle-kit", (("push*", "--force", "data-loss", "columns and tables"), ("drop", "", "rollback", ""))),
        ("liquibase", _LIQUIBASE),
        ("flyway", _FLYWAY),
        ("mvn mvnw mvnd", (("flyway:clean", "", "reset", "every object of the schema"), ("liquibase:dropall", "", "reset", "every object of the schema"), ("liquibase:rollback", "", "rollback", ""))),
        ("gradle gradlew", (("flywayclean", "", "reset", "every object of the schema"), (":flywayclean", "", "reset", "every object of the schema"), ("dropall", "", "reset", "every object of the schema"), ("liquibasedropall", "", "reset", "every object of the schema"))),
        ("supabase", (("db reset", "--linked --db-url", "reset", "the linked project's database"), ("db reset", "", "reset-local", "the local database"), ("stop", "--no-backup", "reset-local", "the local database"), ("db push", "--include-seed", "none", ""), ("branches delete", "", "drop", "a preview branch's database"), ("projects delete", "", "reset", "the project"))),
        ("hasura", (("migrate apply", "--down", "rollback", ""), ("metadata clear", "", "data-loss", "the metadata"), ("migrate delete", "--all --server", "data-loss", "migration history"))),
        ("mix", (("ecto.drop", "", "reset", "the database"), ("ecto.reset", "", "reset", "the database"), ("ecto.rollback", "--all", "rollback-all", "every table"), ("ecto.rollback", "", "rollback", ""), ("ash.reset", "", "reset", "the database"), ("ash_postgres.drop", "", "reset", "the database"))),
        ("sqlx", (("database drop", "", "reset", "the database"), ("db drop", "", "reset", "the database"), ("database reset", "", "reset", "the database"), ("db reset", "", "reset", "the database"), ("migrate revert", "", "rollback", ""))),
        ("diesel", (("database reset", "", "reset", "the database"), ("migration revert", "--all -a", "rollback-all", "every table"), ("migration redo", "--all -a", "rollback-all", "every table"), ("migration revert", "", "rollback", ""))),
        ("sea-orm-cli sea", (("migrate fresh", "", "reset", "every table"), ("migrate refresh", "", "reset", "every table"), ("migrate reset", "", "reset", "every table"), ("migrate down", "", "rollback", ""))),
        ("dbmate", (("drop", "", "reset", "the database"), ("down", "", "rollback", ""), ("rollback", "", "rollback", ""))),
        ("goose", (("* * reset", "", "rollback-all", "every table"), ("reset", "", "rollback-all", "every table"), ("down-to 0", "", "rollback-all", "every table"), ("* * down-to 0", "", "rollback-all", "every table"), ("down", "", "rollback", ""))),
        ("migrate", (("drop", "", "reset", "every table"), ("down", "-all --all", "rollback-all", "every table"))),
        ("atlas", (("schema clean", "", "reset", "every object of the schema"), ("schema apply", "--auto-approve", "data-loss", "columns and tables"), ("migrate down", "", "rollback", ""))),
        ("dotnet-ef", (("database drop", "", "reset", "the database"), ("database update 0", "", "rollback-all", "every table"))),
        ("dotnet", (("ef database drop", "", "reset", "the database"), ("ef database update 0", "", "rollback-all", "every table"))),
        ("rw redwood", (("prisma migrate reset", "", "reset", "the database"), ("prisma db push", "--force-reset", "reset", "the database"))),
        ("payload", (("migrate:fresh", "", "reset", "the database"), ("migrate:reset", "", "rollback-all", "every table"), ("migrate:refresh", "", "rollback-all", "every table"))),
        ("phinx", (("rollback", "-t=0 --target=0", "rollback-all", "every table"), ("rollback", "", "rollback", ""))),
        ("yii", (("migrate/fresh", "", "reset", "every table"), ("migrate/down all", "", "rollback-all", "every table"))),
        ("drush", (("sql-drop", "", "reset", "every table"), ("sql:drop", "", "reset", "every table"), ("site:install", "", "reset", "the site's database"), ("site-install", "", "reset", "the site's database"), ("si", "", "reset", "the site's database"))),
        ("wp", (("db reset", "", "reset", "the site's database"), ("db drop", "", "reset", "the site's database"), ("db clean", "", "reset", "the site's tables"), ("site empty", "", "reset", "the site's content"), ("db query", "", "none", ""))),
        ("meteor", (("reset", "", "reset", "the local database"),)),
        ("convex", (("import", "--replace --replace-all", "reset", "tables"),)),
        ("dropdb", (("*", "", "reset", "the database"),)),
        ("dropuser", (("*", "", "drop-user", "a database user"),)),
        ("mysqladmin mariadb-admin", (("drop *", "", "reset", "the database"),)),
        ("pg_restore", (("", "-c --clean", "restore-clean", "the objects it restores"),)),
        ("mongorestore", (("", "--drop", "restore-clean", "the collections it restores"),)),
        ("mysqlimport", (("*", "--delete -D", "restore-clean", "the table's rows"),)),
        ("mongoimport", (("", "--drop", "restore-clean", "the collection"),)),
        ("pg_dropcluster", (("*", "", "reset", "the cluster"),)),
        ("pg_resetwal pg_resetxlog", (("", "-f --force", "data-loss", "transactions that were not written yet"),)),
        ("influx", (("bucket delete", "", "drop", "bucket"), ("delete", "", "delete", "points"), ("org delete", "", "drop", "organisation"), ("v1 dbrp delete", "", "drop", "mapping"))),
        ("nodetool", (("decommission", "", "data-loss", "the node's share"), ("removenode", "", "data-loss", "the node's share"), ("assassinate", "", "data-loss", "the node's share"), ("clearsnapshot", "", "data-loss", "snapshots"))),
        ("etcdctl", (("del", "--prefix --from-key", "delete-all", "keys"), ("del", "", "delete", "keys"), ("snapshot restore", "", "none", ""))),
        ("couchbase-cli", (("bucket-delete", "", "drop", "bucket"), ("bucket-flush", "", "reset", "the bucket"))),
        ("neo4j-admin", (("database load", "--overwrite-destination --overwrite-destination=true", "restore-clean", "the database"), ("load", "--force", "restore-clean", "the database"))),
        ("turso", (("db destroy", "", "reset", "the database"), ("group destroy", "", "reset", "the group's databases"))),
        ("sqlite-utils", (("drop-table", "", "drop", "table"), ("drop-view", "", "none", ""))),
    )
    for name in names.split()
}  # fmt: skip
_TABLE_VALUED = (
    "-h", "--host", "-p", "--port", "-U", "--username", "-u", "--user", "-e", "--env", "--connection", "-n", "-x", "--schema", "--config", "-c", "--url", "--changelog-file", "--database-url", "-d",
    "--dataSource", "-f", "--knexfile", "-path", "-database", "-source", "--app", "-A", "-C", "--cwd", "--directory", "--settings", "--database", "--prefix", "-s", "--project", "--startup-project",
)  # fmt: skip

# What takes a value with other tools and none with these: `dropdb -f shop` names the database, not a file.
_SWITCHES = {
    "pg_restore": "-c",
    "mysqladmin": "-f -i -c -v",
    "mariadb-admin": "-f -i -c -v",
    "dropdb": "-f -e",
    "dropuser": "-e",
    "mysqlimport": "-d -f -c",
    "artisan": "-n",
    "console": "-n",
    "phinx": "-n",
    "flyway": "-n",
}


def migration(inv: Invocation, name: str = "", args: list[str] | None = None) -> None:
    """What a migration or admin tool would lose, by its table.  ``name`` and ``args`` where another program is in front."""
    words_of = inv.args if args is None else args
    rows = _TABLE.get(name or inv.name)
    if rows is None or has(words_of, "--help", "--dry-run", "--pretend", "--dump-sql", "--sql"):
        return
    switches = _SWITCHES.get(name or inv.name, "").split()
    valued = [v for v in _TABLE_VALUED if v not in switches]
    words = [w.lower() for w in operands(words_of, *valued)]
    if name in ("", "rake", "rails") and inv.name in ("rake", "rails", "gitlab-rake"):
        words = [w.split("[")[0] for w in words if "=" not in w]
        for word in words:
            _row(inv, rows, [word], words_of)
        return
    if not words and inv.name not in ("pg_restore", "mongorestore", "mongoimport", "pg_resetwal", "pg_resetxlog"):
        return
    many = inv.name in ("mvn", "mvnw", "mvnd", "gradle", "gradlew", "flyway", "liquibase", "mix")
    for begin in range(len(words)) if many else (0,):
        if _row(inv, rows, words[begin:], words_of):
            return


def _row(inv: Invocation, rows: tuple[_Row, ...], words: list[str], args: list[str]) -> bool:
    for pattern, options, act, what in rows:
        parts = pattern.split()
        if len(parts) > len(words):
            continue
        if not all(
            p == "*" or p == w or (p[-1] == "*" and w.startswith(p[:-1])) for p, w in zip(parts, words, strict=False)
        ):
            continue
        if (
            options
            and not has(args, *options.split())
            and not any(o in args or o.replace("=", " ") in " ".join(args) for o in options.split() if "=" in o)
        ):
            continue
        if act == "fixtures":
            if has(args, "--append"):
                return True
            act = "reset"
        if act in ("none", "print"):
            return True
        name = words[1] if parts[:1] == ["drop"] and len(words) > 1 else words[0] if parts == ["*"] else ""
        test = ("test-database",) if name and _is_test(name) else ()
        effect(
            inv,
            act,
            f"{what}" if not name else f"database {name}",
            extra=(*test, "tool"),
            detail=f"{inv.name} {' '.join(words[:2])}",
        )
        return True
    return False


def tool(inv: Invocation) -> Flow | None:
    """A migration tool, and the code or SQL that some of them take."""
    migration(inv)
    name, args = inv.name, inv.args
    words = operands(args, *_TABLE_VALUED)
    if name in ("rails", "gitlab-rails") and words[:1] in (["runner"], ["r"]):
        _orm(inv, " ".join(words[1:]))
    elif name in ("rails", "gitlab-rails") and words[:1] in (["c"], ["console"]):
        if inv.stdin is not None and inv.stdin.text is not None:
            _orm(inv, inv.stdin.text)
    elif name in ("manage.py", "django-admin"):
        return django(inv, words)
    elif name == "prisma" and words[:2] == ["db", "execute"]:
        if inv.stdin is not None and inv.stdin.text is not None:
            sql_effects(inv, inv.stdin.text)
        for path in values_of(args, "--file"):
            known = inv.walk.scripts.get(inv.target(path).path) or (
                None if inv.scope.where else inv.walk.world.text(inv.target(path).path, 1 << 18)
            )
            if known:
                sql_effects(inv, known)
    elif name == "artisan":
        _tinker(inv, args)
    elif (name == "wp" and words[:2] == ["db", "query"]) or (
        name in ("turso", "sqlite-utils") and words[:1] in (["db"], ["query"])
    ):
        for text in words[2:]:
            sql_effects(inv, text)
    elif name == "influx":
        for text in values_of(args, "-execute", "--execute"):
            sql_effects(inv, text)
    elif name == "sail" and words:
        inv.command(words, "sail")
    return None


def _orm(inv: Invocation, code: str) -> None:
    """Model calls that empty a table: enough to know a wipe when one is handed to a runner."""
    low = code.lower()
    if any(
        mark in low
        for mark in (
            ".delete_all",
            ".destroy_all",
            ".objects.all().delete()",
            "::truncate(",
            ".truncate(",
            "->truncate(",
            ".deletemany({})",
            ".deletemany()",
        )
    ):
        bare = ".where(" not in low and "->where(" not in low
        effect(inv, "delete-all" if bare else "delete", "a model's rows", said=[code])
    for mark in ("drop table ", "drop database ", "truncate table ", "drop schema "):
        at = low.find(mark)
        if at >= 0:
            effect(
                inv, "drop", code[at + 5 : at + 60].split("'")[0].split('"')[0], said=[code], extra=(mark.split()[1],)
            )
            break


def django(inv: Invocation, words: list[str]) -> Flow | None:
    if words[:1] == ["shell"] or words[:1] == ["shell_plus"]:
        for code in values_of(inv.args, "-c", "--command"):
            _orm(inv, code)
        if inv.stdin is not None and inv.stdin.text is not None:
            _orm(inv, inv.stdin.text)
    elif words[:1] == ["dbshell"] and inv.stdin is not None and inv.stdin.text is not None:
        sql_effects(inv, inv.stdin.text)
    elif words[:1] == ["sqlflush"]:
        return Flow("TRUNCATE every_table;\n")  # what it prints, as far as a client behind a pipe is concerned
    return None


def _tinker(inv: Invocation, args: list[str]) -> None:
    for code in values_of(args, "--execute"):
        _orm(inv, code)
    if "tinker" in args and inv.stdin is not None and inv.stdin.text is not None:
        _orm(inv, inv.stdin.text)


def interpreted(inv: Invocation) -> Flow | None:
    """php, python, node, java: a framework's own command file behind the interpreter, else the interpreter's reader."""
    from .interpreters import program

    at = next(
        (
            i
            for i, a in enumerate(inv.args)
            if a[:1] != "-" and (i == 0 or inv.args[i - 1] not in ("-d", "-c", "-W", "-X", "-r", "-e", "-m"))
        ),
        -1,
    )
    if at >= 0:
        name = inv.args[at].replace("\\", "/")
        name = name[name.rfind("/") + 1 :]
        rest = inv.args[at + 1 :]
        if name in ("artisan", "console", "manage.py", "ace", "yii", "phinx", "cake", "drush", "wp"):
            migration(inv, name, rest)
            if name == "artisan":
                _tinker(inv, rest)
            elif name == "manage.py":
                flow = django(inv, operands(rest, *_TABLE_VALUED))
                if flow is not None:
                    return flow
    if "-m" in inv.args[:3]:
        k = inv.args.index("-m")
        module = inv.args[k + 1] if k + 1 < len(inv.args) else ""
        if module in ("alembic", "flask", "django"):
            inv.command(["django-admin" if module == "django" else module, *inv.args[k + 2 :]], "python -m")
    before = len(inv.walk.findings)
    flow = program(inv)
    if any(f.effect == "database" for f in inv.walk.findings[before:]) and _scratch_file(inv):
        for finding in inv.walk.findings[before:]:
            if finding.effect == "database":
                finding.facts = finding.facts | {"test-database"}
    return flow


def _scratch_file(inv: Invocation) -> bool:
    """Whether every ``connect("…")`` in the code opens a file in a temporary directory or memory."""
    text = " ".join(inv.args) + (inv.stdin.text or "" if inv.stdin is not None else "")
    pieces = text.split("connect(")[1:]
    if not pieces:
        return False
    for piece in pieces:
        quote = piece[:1]
        name = piece[1:].split(quote, 1)[0] if quote in ("'", '"') else ""
        if name != ":memory:" and (not name or "://" in name or inv.target(name).kind != "temp"):
            return False
    return True


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    **dict.fromkeys(_TABLE, tool),
    "sail": tool,
    **dict.fromkeys(("psql", "mysql", "mariadb", "mysqlsh", "sqlite3", "sqlite", "duckdb", "sqlcmd", "cockroach", "clickhouse-client", "clickhouse", "pgcli", "mycli", "litecli", "usql", "snowsql", "snow", "bq", "isql", "osql", "tsql", "cqlsh", "trino", "presto", "spark-sql", "hive", "beeline", "impala-shell", "gitlab-psql", "libsql", "ysqlsh", "mssql-cli"), sql_client),
    "redis-cli": redis, "valkey-cli": redis, "keydb-cli": redis, "dragonfly-cli": redis, "mongo": mongo, "mongosh": mongo, "cypher-shell": cypher,
    **dict.fromkeys(("DROP", "drop", "TRUNCATE", "truncate", "DELETE", "delete", "GRANT", "grant", "ALTER", "alter", "UPDATE"), statement),
    **dict.fromkeys(("php", "python", "python2", "python3", "node", "nodejs"), interpreted),
}  # fmt: skip
