"""`sql.query` and `sql.execute`: on SQLite what is the same everywhere, on the servers what is theirs."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.connectors.node import Node, open_node
from tests.servers.mariadb import MariadbServer

INJECTION = "x'; drop table customer; --"
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as n from n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database of SQLite with two customers."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table customer (id integer primary key, name text, picture blob, score real)")
        database.execute("insert into customer values (1, 'Ann', x'00ff', 0.5), (2, 'Bob', null, null)")
        database.commit()
    return path


@pytest.fixture
async def node(shop: Path) -> AsyncIterator[Node]:
    async with open_node({"CONNECTOR_SQL_URL": f"sqlite:///{shop}"}) as opened:
        yield opened


async def test_a_query_returns_rows_as_json(node: Node) -> None:
    found = await node.run("sql.query", statement="select * from customer where id <= :most", parameters={"most": 2})
    assert found == {
        "rows": [
            {"id": 1, "name": "Ann", "picture": "AP8=", "score": 0.5},
            {"id": 2, "name": "Bob", "picture": None, "score": None},
        ],
        "row_count": 2,
    }


async def test_a_value_never_becomes_a_part_of_the_statement(node: Node) -> None:
    """The injection of parameters, of the seed's list of security tests."""
    changed = await node.run(
        "sql.execute", statement="insert into customer (name) values (:name)", parameters={"name": INJECTION}
    )
    assert changed["row_count"] == 1
    query = {"statement": "select name from customer where name = :name", "parameters": {"name": INJECTION}}
    assert (await node.run("sql.query", **query))["rows"] == [{"name": INJECTION}]
    code, message = await node.refused("sql.execute", statement="select 1; drop table customer")
    assert code == "refused", message
    assert (await node.run("sql.query", statement="select count(*) as n from customer"))["rows"] == [{"n": 3}]


async def test_a_query_only_reads(node: Node) -> None:
    code, message = await node.refused("sql.query", statement="delete from customer returning id")
    assert (code, "readonly" in message) == ("refused", True)
    assert (await node.refused("sql.query", statement="create table t (a)"))[0] in ("refused", "no_rows")
    assert (await node.run("sql.query", statement="select count(*) as n from customer"))["rows"] == [{"n": 2}]


async def test_a_statement_runs_for_each_of_a_list_or_for_none_of_it(node: Node) -> None:
    statement = "insert into customer (id, name) values (:id, :name) returning id"
    changed = await node.run(
        "sql.execute", statement=statement, parameters=[{"id": 3, "name": "C"}, {"id": 4, "name": "D"}]
    )
    assert changed == {"row_count": 2, "rows": [{"id": 3}, {"id": 4}]}
    code, message = await node.refused(
        "sql.execute", statement=statement, parameters=[{"id": 5, "name": "E"}, {"id": 1, "name": "F"}]
    )
    assert (code, "UNIQUE" in message) == ("refused", True)
    assert (await node.run("sql.query", statement="select max(id) as n from customer"))["rows"] == [{"n": 4}]


async def test_the_key_of_the_attempt_can_be_bound(node: Node) -> None:
    await node.run("sql.execute", statement="create table done (key text primary key)")
    once = "insert into done values (:idempotency_key) on conflict do nothing"
    counts = [(await node.run("sql.execute", statement=once))["row_count"] for _ in range(2)]
    assert counts == [1, 0]


MANY = "with recursive n(i) as (select 1 union all select i + 1 from n where i < :most) select i from n"
BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "too many rows": (
        {"statement": MANY, "parameters": {"most": 6}, "max_rows": 5},
        "too_many_rows",
        "the statement returns more than 5 rows; narrow it, or raise max_rows (at most 10,000)",
    ),
    "too many bytes": ({"statement": "select hex(zeroblob(200000)) as x"}, "output_too_large", "more than 256 KB"),
    "a missing value": (
        {"statement": "select :a, :b", "parameters": {"a": 1}},
        "invalid_parameters",
        "parameters.b: is",
    ),
    "an unknown value": ({"statement": "select 1 as a", "parameters": {"c": 1}}, "invalid_parameters", "has no :c"),
    "a value that is no scalar": ({"statement": "select :a", "parameters": {"a": [1]}}, "invalid_parameters", "str"),
    "two columns of one name": ({"statement": "select 1 as a, 2 as a"}, "invalid_statement", "two columns"),
    "a syntax error": ({"statement": "selct 1"}, "refused", "syntax error"),
    "an unknown table": ({"statement": "select * from missing"}, "refused", "no such table"),
    "a change": ({"statement": "pragma foreign_keys = on"}, "no_rows", "call sql.execute"),
    "a limit above the limit": ({"statement": "select 1", "max_rows": 20_000}, "invalid_parameters", "10000"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_query_is_explained(node: Node, name: str) -> None:
    given, code, words = BAD[name]
    found, message = await node.refused("sql.query", **given)
    assert (found, words in message) == (code, True), message


async def test_a_statement_of_sqlite_ends_at_its_time_limit(node: Node) -> None:
    code, message = await node.refused("sql.query", retry=True, statement=ENDLESS, timeout=0.05)
    assert (code, message) == ("statement_timeout", "the statement did not end within 0.05 s")


async def test_a_locked_database_is_tried_again(node: Node, shop: Path) -> None:
    with closing(sqlite3.connect(shop, isolation_level=None)) as other:
        other.execute("begin exclusive")
        given = {"statement": "insert into customer (name) values ('x')", "timeout": 0.05}
        assert (await node.refused("sql.execute", retry=True, **given))[0] == "database_unavailable"
        other.execute("rollback")
    assert (await node.run("sql.execute", **given))["row_count"] == 1


async def test_only_connections_of_databases_are_used(shop: Path) -> None:
    environ = {
        "CONNECTOR_SLACK_URL": "https://slack.example.org",
        "CONNECTOR_MEMORY_URL": "sqlite://",
        "CONNECTOR_ORACLE_URL": "oracle://scott:tiger-secret@db.example.org/x",
        "CONNECTOR_ODD_URL": "::not a url::",
    }
    async with open_node(environ) as node:
        code, message = await node.refused("sql.query", statement="select 1")
        assert (code, "set CONNECTOR_SQL_URL" in message) == ("missing_credential", True)
        for name in ("slack", "memory", "oracle", "odd"):
            code, message = await node.refused("sql.query", statement="select 1", connection=name)
            assert (code, f"the connection {name!r} is not that of a database" in message) == (
                "invalid_connection",
                True,
            )
            assert "tiger-secret" not in message
            assert "example.org" not in message


async def test_a_node_without_the_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, url in (("psycopg", "postgresql://h/d"), ("pymysql", "mysql://h/d")):
        monkeypatch.setitem(__import__("sys").modules, name, None)
        async with open_node({"CONNECTOR_SQL_URL": url}) as node:
            code, message = await node.refused("sql.query", statement="select 1")
        assert (code, "pip install 'detent-workflows[sql]'" in message) == ("missing_extra", True)


# -- the servers


@pytest.fixture
def mariadb_bare_database(mariadb: MariadbServer) -> Iterator[str]:
    url = mariadb.create_database()
    yield url
    mariadb.drop_database(url)


async def check_server(node: Node, sleep: str, kinds: str, expected: dict[str, Any]) -> None:
    """What both servers must do, each with its own statements."""
    await node.run("sql.execute", statement="create table customer (id integer primary key, name varchar(100))")
    every = [{"id": number, "name": INJECTION} for number in range(300)]
    inserted = await node.run(
        "sql.execute", statement="insert into customer (id, name) values (:id, :name)", parameters=every
    )
    assert inserted["row_count"] == 300
    some = {"statement": "select name from customer where id = :id and name = :name", "parameters": every[7]}
    assert (await node.run("sql.query", **some))["rows"] == [{"name": INJECTION}]
    assert (await node.refused("sql.query", statement="select * from customer", max_rows=299))[0] == "too_many_rows"
    assert (await node.run("sql.query", statement="select * from customer", max_rows=300))["row_count"] == 300
    assert (await node.refused("sql.query", statement="delete from customer"))[0] == "refused"
    assert (await node.refused("sql.execute", statement="insert into customer values (1, 'x')"))[0] == "refused"
    assert (await node.refused("sql.query", statement="selct 1"))[0] == "refused"
    slow = await node.refused("sql.query", retry=True, statement=sleep, timeout=0.2)
    assert slow == ("statement_timeout", "the statement did not end within 0.2 s")
    assert (await node.run("sql.query", statement=kinds))["rows"] == [expected]
    assert (await node.run("sql.query", statement="select count(*) as n from customer"))["rows"] == [{"n": 300}]


async def test_statements_on_postgresql(postgres_bare_database: str) -> None:
    environ = {"CONNECTOR_SQL_URL": postgres_bare_database, "CONNECTOR_GONE_URL": "postgresql://u:secret@127.0.0.1:1/d"}
    async with open_node(environ) as node:
        kinds = (
            "select 1.50::numeric(4,2) as money, date '2026-01-02' as day, '{\"a\": [1]}'::jsonb as doc, true as yes,"
            " 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid as id, array[1,2] as many, 'NaN'::float8 as odd,"
            " '\\x00ff'::bytea as raw, timestamptz '2026-01-02 03:04:05+00' as at"
        )
        expected = {
            "money": "1.50",
            "day": "2026-01-02",
            "doc": {"a": [1]},
            "yes": True,
            "id": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "many": [1, 2],
            "odd": "nan",
            "raw": "AP8=",
            "at": "2026-01-02T03:04:05+00:00",
        }
        await check_server(node, "select pg_sleep(60)", kinds, expected)
        code, message = await node.refused("sql.query", retry=True, statement="select 1", connection="gone")
        assert (code, "secret" in message) == ("database_unavailable", False)


async def test_statements_on_mariadb(mariadb_bare_database: str) -> None:
    async with open_node({"CONNECTOR_SQL_URL": mariadb_bare_database}) as node:
        kinds = (
            "select cast(1.5 as decimal(4,2)) as money, date '2026-01-02' as day, x'00ff' as raw, time '01:02:03' as t"
        )
        expected = {"money": "1.50", "day": "2026-01-02", "raw": "AP8=", "t": "PT3723S"}
        await check_server(node, "select sleep(60)", kinds, expected)
