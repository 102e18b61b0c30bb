"""What database texts would do: one row a text."""

from __future__ import annotations

import pytest

from jevhook.shell.code.sql import read_mongo, read_redis, read_sql

SQL: list[tuple[str, list[tuple[str, str]]]] = [
    ("DROP DATABASE ledger", [("drop", "database ledger")]),
    ("drop table if exists a, b cascade", [("drop", "table a"), ("drop", "table b")]),
    (
        'drop table "A b"; DROP TABLE `x`; drop table [dbo].[y]',
        [("drop", "table A b"), ("drop", "table x"), ("drop", "table dbo.y")],
    ),
    ("CREATE TEMP TABLE t (x int); DROP TABLE t", [("drop-temp", "table t")]),
    ("DROP TEMPORARY TABLE q", [("drop-temp", "table q")]),
    ("TRUNCATE TABLE orders, lines", [("truncate", "orders"), ("truncate", "lines")]),
    ("DELETE FROM parcels", [("delete-all", "parcels")]),
    ("DELETE FROM users WHERE 1=1", [("delete-all", "users")]),
    ("DELETE FROM users WHERE true", [("delete-all", "users")]),
    ("DELETE FROM users WHERE name = '' OR 'a'='a'", [("delete-all", "users")]),
    ("DELETE FROM parcels WHERE id = 77", [("delete", "parcels")]),
    ("DELETE FROM users WHERE id = 1 AND 1=1", [("delete", "users")]),
    ("UPDATE users SET admin = true", [("update-all", "users")]),
    ("UPDATE users SET admin = true WHERE id = 3", [("update", "users")]),
    ("WITH d AS (DELETE FROM x RETURNING *) SELECT * FROM d", [("delete-all", "x")]),
    ("DO $$ BEGIN EXECUTE 'DROP TABLE x'; END $$", [("drop", "table x")]),
    ("ALTER TABLE a DROP COLUMN b", [("drop-column", "a.b")]),
    ("ALTER TABLE a DROP CONSTRAINT c", [("alter", "table a")]),
    ("GRANT ALL ON t TO bob", [("grant", "ALL ON t TO bob")]),
    ("FLUSH PRIVILEGES", [("flush", "PRIVILEGES")]),
    ("COPY x TO PROGRAM 'curl evil.test'", [("copy-program", "curl evil.test")]),
    ("SELECT * FROM t INTO OUTFILE '/tmp/x'", [("write-file", "/tmp/x")]),
    ("SELECT pg_read_file('/etc/passwd')", [("read-file", "/etc/passwd")]),
    ("SELECT LOAD_FILE('/etc/passwd')", [("read-file", "/etc/passwd")]),
    ("\\! rm -rf /", [("shell", "rm -rf /")]),
    ("select 1;\n\\! ls\nDROP TABLE x", [("shell", "ls"), ("drop", "table x")]),
    ("system ls -l", [("shell", "ls -l")]),
    (".shell ls", [("shell", "ls")]),
    (".system ls", [("shell", "ls")]),
    ("exec xp_cmdshell 'dir'", [("shell", "dir")]),
    ("/*!50000 DROP TABLE x */", [("drop", "table x")]),
    ("IF EXISTS (SELECT 1) DROP TABLE x", [("drop", "table x")]),
    ("DROP TABLE \0", [("drop", "table \0")]),
    # dialects that cut the text differently may not hide a statement
    ("SELECT '\\'; DROP TABLE x; --'", [("drop", "table x")]),
    ("SELECT 1 # 2; DROP TABLE x", [("drop", "table x")]),
    # data is not code
    ("SELECT 'DROP TABLE x'", []),
    ("INSERT INTO logs VALUES ('DROP TABLE x; DELETE FROM y')", [("insert", "logs")]),
    ("SELECT 1 -- DROP TABLE x", []),
    ("SELECT 1 /* ; DROP TABLE x */", []),
    ("# DROP TABLE x\nSELECT 1", []),
    ("SELECT dropped, truncate_at FROM deletes", []),
    ("EXPLAIN DELETE FROM x", []),
    ("VACUUM", []),
    ("", []),
]

REDIS: list[tuple[str, list[tuple[str, str]]]] = [
    ("FLUSHALL", [("flush", "all")]),
    ("flushdb async", [("flush", "database")]),
    ("SHUTDOWN NOSAVE", [("shutdown", "NOSAVE")]),
    ("CONFIG SET dir /root/.ssh", [("config", "dir /root/.ssh"), ("write-file", "/root/.ssh")]),
    ("EVAL return 0", [("run-code", "return")]),
    ("DEL a b", [("delete", "a"), ("delete", "b")]),
    ("GET flushall", []),
    ("", []),
]

MONGO: list[tuple[str, list[tuple[str, str]]]] = [
    ("db.dropDatabase()", [("drop", "database \0")]),
    ("use shop\ndb.dropDatabase()", [("drop", "database shop")]),
    ("db.getSiblingDB('x').dropDatabase()", [("drop", "database x")]),
    ("db.users.drop()", [("drop", "collection users")]),
    ("db.users.deleteMany({})", [("delete-all", "users")]),
    ("db.getCollection('u').remove({})", [("delete-all", "u")]),
    ("db.users.deleteMany({a: 1})", [("delete", "users")]),
    ("db.users.find({})", []),
    ("print('db.dropDatabase()') // db.users.drop()", []),
]


@pytest.mark.parametrize(("statement", "expected"), SQL, ids=[row[0][:50] for row in SQL])
def test_sql_is_read_by_statements(statement: str, expected: list[tuple[str, str]]) -> None:
    assert read_sql(statement) == expected


@pytest.mark.parametrize(("line", "expected"), REDIS, ids=[row[0] for row in REDIS])
def test_a_redis_command_is_read_by_its_words(line: str, expected: list[tuple[str, str]]) -> None:
    assert read_redis(line.split()) == expected


@pytest.mark.parametrize(("script", "expected"), MONGO, ids=[row[0][:50] for row in MONGO])
def test_a_mongo_script_is_read_by_tokens(script: str, expected: list[tuple[str, str]]) -> None:
    assert read_mongo(script) == expected


def test_a_named_dialect_is_read_its_own_way_only() -> None:
    assert read_sql("SELECT 'it\\'s; DROP TABLE x; --'", "mysql") == []
    assert read_sql("SELECT 1 # 2; DROP TABLE x", "standard") == [("drop", "table x")]
