"""Adapters for the caller's connection: its driver, the connection of a cursor, and how statements and rows pass.

A driver is recognised by the module of its classes. It is never imported here: a caller with a connection has loaded
it.
"""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ClauseElement
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import Insert

from detent.errors import InvalidInput
from detent.store.sql.user_connection import Ask, DialectName, Rows

# Statements compiled to text in the paramstyle of a driver.


_DIALECTS: Final = {"postgresql": postgresql.dialect, "mysql": mysql.dialect, "sqlite": sqlite.dialect}


class Spelled(NamedTuple):
    """A compiled statement. `names` has the names of its values in their order; None if they are passed by name."""

    sql: str
    names: tuple[str, ...] | None
    fixed: Mapping[str, Any]


class Speller:
    """Compiles statements for one driver."""

    def __init__(self, dialect: DialectName, paramstyle: str, *, texts: bool = False) -> None:
        """Create a compiler. With `texts` a `UUID` is passed as text, because the driver does not support it."""
        # A tuple of values works for `format` and `pyformat`.
        style = "format" if paramstyle in ("format", "pyformat") else paramstyle
        self._dialect: Dialect = _DIALECTS[dialect](paramstyle=style)
        self._texts = texts

    def compile(self, clause: ClauseElement, values: dict[str, Any]) -> tuple[str, Any]:
        spelled = _spelled(self._dialect, clause, tuple(values) if isinstance(clause, Insert) else None)
        params = {name: self._plain(values.get(name, value)) for name, value in spelled.fixed.items()}
        if spelled.names is None:
            return spelled.sql, params
        return spelled.sql, tuple(params[name] for name in spelled.names)

    def _plain(self, value: Any) -> Any:
        return str(value) if self._texts and isinstance(value, UUID) else value


@lru_cache(maxsize=256)
def _spelled(dialect: Dialect, clause: ClauseElement, keys: tuple[str, ...] | None) -> Spelled:
    made = clause.compile(dialect=dialect, column_keys=None if keys is None else list(keys))
    assert isinstance(made, SQLCompiler)
    return Spelled(str(made), None if made.positiontup is None else tuple(made.positiontup), dict(made.params))


@lru_cache(maxsize=32)
def speller(dialect: DialectName, paramstyle: str, *, texts: bool = False) -> Speller:
    """Return the compiler that all connections of a driver share."""
    return Speller(dialect, paramstyle, texts=texts)


_DRIVERS: Final[dict[str, DialectName]] = {
    "psycopg": "postgresql",
    "psycopg2": "postgresql",
    "pg8000": "postgresql",
    "asyncpg": "postgresql",
    "pymysql": "mysql",
    "MySQLdb": "mysql",
    "mariadb": "mysql",
    "mysql": "mysql",
    "aiomysql": "mysql",
    "asyncmy": "mysql",
    "sqlite3": "sqlite",
    "_sqlite3": "sqlite",
    "aiosqlite": "sqlite",
}
#: Async drivers whose methods are not coroutine functions.
_AWAITED: Final = frozenset({"aiomysql", "aiosqlite", "asyncmy"})
#: The attribute of a cursor that has its connection, if it is not `connection`. (In pg8000 that one warns; in
#: aiosqlite it is the connection of sqlite3.)
_OF_CURSOR: Final = {"aiosqlite": "_conn", "mysql": "_connection", "pg8000": "_c"}


def driver_of(given: Any) -> tuple[str, DialectName] | None:
    """Return the driver of an object and its dialect, by its class or a base class, or None.

    A proxy whose `__class__` is that of the proxied object counts as that object.
    """
    for kind in given.__class__.__mro__:
        root = kind.__module__.partition(".")[0]
        if root in _DRIVERS:
            return root, _DRIVERS[root]
    return None


def connection_of(root: str, given: Any) -> Any:
    """Return the connection of a cursor, so that the cursor's own statement is not disturbed."""
    if not hasattr(given, "fetchall"):
        return given
    found = getattr(given, _OF_CURSOR.get(root, "connection"), None)
    return given if found is None else found


def is_awaited(root: str, connection: Any) -> bool:
    kind = connection.__class__
    says_so = any(inspect.iscoroutinefunction(getattr(kind, name, None)) for name in ("execute", "cursor"))
    return says_so or root in _AWAITED


def driver_speller(root: str, dialect: DialectName) -> Speller:
    module = sys.modules.get("sqlite3" if root == "_sqlite3" else root)
    style = getattr(module, "paramstyle", None) or ("qmark" if dialect == "sqlite" else "format")
    return speller(dialect, style, texts=root != "psycopg")


def driver_database(connection: Any) -> str | None:
    """Return a text that identifies the database of a connection, or None if the driver does not expose it."""
    info = getattr(connection, "info", None)  # psycopg, psycopg2
    if info is not None and hasattr(info, "dbname"):
        return f"{info.host}:{info.port}/{info.dbname}/{info.user}"
    name = getattr(connection, "db", None)  # pymysql
    if isinstance(name, str | bytes) and hasattr(connection, "host"):
        return f"{connection.host}:{connection.port}/{name!r}"
    return None


def cursor_on(root: str, connection: Any) -> Any:
    """Return a new cursor. It returns tuples even if the connection is configured for other rows."""
    match root:
        case "psycopg":
            return connection.cursor(row_factory=sys.modules["psycopg.rows"].tuple_row)
        case "psycopg2":
            return connection.cursor(cursor_factory=sys.modules["psycopg2.extensions"].cursor)
        case _:
            return connection.cursor()


def plain(rows: Sequence[Any]) -> Rows:
    """Return rows by position, also if the cursor returned dicts."""
    return [tuple(row.values()) if isinstance(row, dict) else row for row in rows]


# Adapters of the caller's connection, one per kind: each runs one statement and returns its rows.
#
# SQLAlchemy takes statements unchanged. A DB-API driver gets text in its paramstyle. Django takes `%s`, whatever its
# database is.


_NAMES: Final[dict[str, DialectName]] = {
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
}
#: Error numbers of MySQL and MariaDB: a unique key is taken.
_TAKEN: Final = frozenset({1062, 1586})


class ConnectionAdapter(ABC):
    """The caller's connection. `database` identifies its database if it is known, so that lookups are cached."""

    dialect: DialectName
    database: str | None = None

    @property
    def is_awaited(self) -> bool:
        return isinstance(self, AsyncConnectionAdapter)


class BlockingAdapter(ConnectionAdapter):
    @abstractmethod
    def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        """Run a statement and return its rows, if it has any."""

    @abstractmethod
    def run_many(self, clause: ClauseElement, rows: list[dict[str, Any]]) -> None:
        """Run a statement once for each of these rows of values."""

    def ask(self, ask: Ask) -> Rows | None:
        if ask.many:
            self.run_many(ask.clause, [dict(row) for row in ask.many])
            return ()
        try:
            return self.run(ask.clause, dict(ask.values))
        except Exception as error:
            if ask.unless_taken and is_taken(error):
                return None
            raise


class AsyncConnectionAdapter(ConnectionAdapter):
    @abstractmethod
    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        """Run a statement and return its rows, if it has any."""

    @abstractmethod
    async def run_many(self, clause: ClauseElement, rows: list[dict[str, Any]]) -> None:
        """Run a statement once for each of these rows of values."""

    async def ask(self, ask: Ask) -> Rows | None:
        if ask.many:
            await self.run_many(ask.clause, [dict(row) for row in ask.many])
            return ()
        try:
            return await self.run(ask.clause, dict(ask.values))
        except Exception as error:
            if ask.unless_taken and is_taken(error):
                return None
            raise


def is_taken(error: Exception) -> bool:
    """Return whether MySQL refused a row because a unique key is taken.

    On other databases the statement itself inserts nothing in that case, and raises no error.
    """
    cause = getattr(error, "orig", None) or error.__cause__ or error
    return any(isinstance(one, Exception) and one.args[:1] and one.args[0] in _TAKEN for one in (error, cause))


# -- SQLAlchemy


class SqlAlchemyAdapter(BlockingAdapter):
    """A Connection of SQLAlchemy."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.dialect = dialect_of(connection.dialect.name)
        self.database = str(connection.engine.url)

    def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        result = self._connection.execute(clause, values)
        return result.fetchall() if result.returns_rows else ()

    def run_many(self, clause: ClauseElement, rows: list[dict[str, Any]]) -> None:
        self._connection.execute(clause, rows)


class AwaitedSqlAlchemyAdapter(AsyncConnectionAdapter):
    """An AsyncConnection of SQLAlchemy."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.dialect = dialect_of(connection.dialect.name)
        self.database = str(connection.engine.url)

    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        result = await self._connection.execute(clause, values)
        return result.fetchall() if result.returns_rows else ()

    async def run_many(self, clause: ClauseElement, rows: list[dict[str, Any]]) -> None:
        await self._connection.execute(clause, rows)


# -- drivers


class DriverAdapter(BlockingAdapter):
    """A DB-API connection, or one of Django."""

    def __init__(
        self, root: str, connection: Any, dialect: DialectName, speller: Speller, database: str | None
    ) -> None:
        self._root, self._connection, self._speller = root, connection, speller
        self.dialect, self.database = dialect, database

    def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        sql, params = self._speller.compile(clause, values)
        cursor = cursor_on(self._root, self._connection)
        try:
            if params:
                cursor.execute(sql, params)
            else:
                cursor.execute(sql)
            return plain(cursor.fetchall()) if cursor.description else ()
        finally:
            cursor.close()

    def run_many(self, clause: ClauseElement, rows: list[dict[str, Any]]) -> None:
        compiled = [self._speller.compile(clause, row) for row in rows]
        cursor = cursor_on(self._root, self._connection)
        try:
            cursor.executemany(compiled[0][0], [params for _, params in compiled])
        finally:
            cursor.close()


class AwaitedDriverAdapter(AsyncConnectionAdapter):
    """An async connection of a driver: psycopg's AsyncConnection, asyncmy, aiosqlite."""

    def __init__(
        self, root: str, connection: Any, dialect: DialectName, speller: Speller, database: str | None
    ) -> None:
        self._root, self._connection, self._speller = root, connection, speller
        self.dialect, self.database = dialect, database

    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        sql, params = self._speller.compile(clause, values)
        cursor = cursor_on(self._root, self._connection)
        if inspect.isawaitable(cursor):
            cursor = await cursor
        try:
            if params:
                await cursor.execute(sql, params)
            else:
                await cursor.execute(sql)
            return plain(await cursor.fetchall()) if cursor.description else ()
        finally:
            await cursor.close()

    async def run_many(self, clause: ClauseElement, rows: list[dict[str, Any]]) -> None:
        compiled = [self._speller.compile(clause, row) for row in rows]
        cursor = cursor_on(self._root, self._connection)
        if inspect.isawaitable(cursor):
            cursor = await cursor
        try:
            await cursor.executemany(compiled[0][0], [params for _, params in compiled])
        finally:
            await cursor.close()


class AsyncpgAdapter(AsyncConnectionAdapter):
    """A connection of asyncpg."""

    dialect: DialectName = "postgresql"

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._speller = speller("postgresql", "numeric_dollar")

    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        sql, params = self._speller.compile(clause, values)
        return [tuple(row) for row in await self._connection.fetch(sql, *params)]

    async def run_many(self, clause: ClauseElement, rows: list[dict[str, Any]]) -> None:
        compiled = [self._speller.compile(clause, row) for row in rows]
        await self._connection.executemany(compiled[0][0], [params for _, params in compiled])


def dialect_of(name: str) -> DialectName:
    """Return our name of a dialect. Raise InvalidInput if it is not supported."""
    if name not in _NAMES:
        raise InvalidInput(f"a start cannot be part of a transaction in {name}; PostgreSQL, MariaDB, MySQL, SQLite can")
    return _NAMES[name]


# Which kind of connection the caller passed.


def adapt(connection: Any, using: str | None) -> BlockingAdapter | AsyncConnectionAdapter | AwaitedSession:
    """Return the adapter of a connection. `using` is the alias of a connection of Django. Raise InvalidInput."""
    if using is not None:
        if connection is not None:
            raise InvalidInput("give `connection` or `using`, not both")
        connection = _django_connections()[using]
    module = type(connection).__module__.partition(".")[0]
    if module == "sqlalchemy" or any(kind.__module__.startswith("sqlalchemy.") for kind in type(connection).__mro__):
        return _sqlalchemy(connection)
    for one in (connection, getattr(connection, "db", None)):  # `db` is the connection of Django's cursor
        if hasattr(one, "vendor") and hasattr(one, "settings_dict"):
            return _django(one)
    return _driver(connection)


class AwaitedSession:
    """An AsyncSession, whose connection must still be awaited."""

    def __init__(self, session: Any) -> None:
        self._session = session

    async def adapter(self) -> AsyncConnectionAdapter:
        return AwaitedSqlAlchemyAdapter(await self._session.connection())


def _sqlalchemy(given: Any) -> BlockingAdapter | AsyncConnectionAdapter | AwaitedSession:
    """Return the adapter of a Connection, AsyncConnection, Session, AsyncSession or scoped session."""
    if hasattr(given, "get_bind"):  # a session
        if inspect.iscoroutinefunction(_method(given, "connection")):
            return AwaitedSession(given)
        return SqlAlchemyAdapter(given.connection())
    if not hasattr(given, "execute") or not hasattr(given, "dialect"):
        raise InvalidInput(f"{given!r:.100} is not a connection; give a Connection or a Session, in its transaction")
    is_awaited = inspect.iscoroutinefunction(_method(given, "execute"))
    return AwaitedSqlAlchemyAdapter(given) if is_awaited else SqlAlchemyAdapter(given)


def _method(given: Any, name: str) -> Any:
    """Return the method of a class. A scoped session is a proxy; use the class of its session."""
    registry = getattr(given, "registry", None)
    target = registry() if callable(registry) else given
    return getattr(type(target), name, None)


def _django(connection: Any) -> BlockingAdapter:
    dialect = dialect_of(connection.vendor)
    where = connection.settings_dict
    database = f"django:{dialect}:{where.get('HOST')}:{where.get('PORT')}:{where.get('NAME')}"
    return DriverAdapter("django", connection, dialect, speller(dialect, "format", texts=True), database)


def _django_connections() -> Any:
    module = sys.modules.get("django.db")
    if module is None:
        raise InvalidInput("`using` names a database of Django, and Django is not loaded here")
    return module.connections


def _driver(given: Any) -> BlockingAdapter | AsyncConnectionAdapter:
    found = driver_of(given)
    if found is None:
        raise InvalidInput(
            f"{type(given).__module__}.{type(given).__qualname__} is not a connection Detent knows; give one of "
            "SQLAlchemy, of Django, or of a DB-API driver"
        )
    root, dialect = found
    connection = connection_of(root, given)
    if root == "asyncpg":
        return AsyncpgAdapter(connection)
    kind = AwaitedDriverAdapter if is_awaited(root, connection) else DriverAdapter
    return kind(root, connection, dialect, driver_speller(root, dialect), driver_database(connection))
