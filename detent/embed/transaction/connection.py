"""What Detent knows of drivers: whose a connection is, how a cursor leads to it, how statements and rows go through it.

A driver is known by the module of its classes, and is never imported: whoever has a connection of it has loaded it.
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

# Writes statements as a driver reads them, in its paramstyle.


_DIALECTS: Final = {"postgresql": postgresql.dialect, "mysql": mysql.dialect, "sqlite": sqlite.dialect}


class Spelled(NamedTuple):
    """A statement as a driver reads it: the names of its values in their order (null: they are given by name)."""

    sql: str
    names: tuple[str, ...] | None
    fixed: Mapping[str, Any]


class Speller:
    """Writes statements as one driver reads them."""

    def __init__(self, dialect: DialectName, paramstyle: str, *, texts: bool = False) -> None:
        """`texts`: the driver does not know `UUID`, and gets its text."""
        # A tuple of values serves `format` and `pyformat` alike.
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
    """One for all connections of a driver."""
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
#: Drivers whose classes do not say that they are awaited.
_AWAITED: Final = frozenset({"aiomysql", "aiosqlite", "asyncmy"})
#: Where a cursor keeps its connection, if not in `connection`. (pg8000 warns of that one, aiosqlite's is sqlite3's.)
_OF_CURSOR: Final = {"aiosqlite": "_conn", "mysql": "_connection", "pg8000": "_c"}


def driver_of(given: Any) -> tuple[str, DialectName] | None:
    """The driver that an object belongs to, by its class or one that is derived from. A proxy that tells the class of
    what it stands for counts as that."""
    for kind in given.__class__.__mro__:
        root = kind.__module__.partition(".")[0]
        if root in _DRIVERS:
            return root, _DRIVERS[root]
    return None


def connection_of(root: str, given: Any) -> Any:
    """A cursor leads to its connection: what it is in the middle of is not disturbed."""
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
    """The database behind a driver's connection, if the driver tells it."""
    info = getattr(connection, "info", None)  # psycopg, psycopg2
    if info is not None and hasattr(info, "dbname"):
        return f"{info.host}:{info.port}/{info.dbname}/{info.user}"
    name = getattr(connection, "db", None)  # pymysql
    if isinstance(name, str | bytes) and hasattr(connection, "host"):
        return f"{connection.host}:{connection.port}/{name!r}"
    return None


def cursor_on(root: str, connection: Any) -> Any:
    """A new cursor. Where the connection may have been told to make anything of a row, it gives tuples."""
    match root:
        case "psycopg":
            return connection.cursor(row_factory=sys.modules["psycopg.rows"].tuple_row)
        case "psycopg2":
            return connection.cursor(cursor_factory=sys.modules["psycopg2.extensions"].cursor)
        case _:
            return connection.cursor()


def plain(rows: Sequence[Any]) -> Rows:
    """Rows by position, also of a cursor that gives them by name."""
    return [tuple(row.values()) if isinstance(row, dict) else row for row in rows]


# Hands on the caller's connection, of whatever kind it is: each runs one statement and gives its rows.
#
# SQLAlchemy takes statements as they are. A driver of its own gets text in its paramstyle; Django wants `%s` whatever
# stands behind it.


_NAMES: Final[dict[str, DialectName]] = {
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
}
#: Error numbers of MySQL and MariaDB: a unique key is taken.
_TAKEN: Final = frozenset({1062, 1586})


class ConnectionAdapter(ABC):
    """`database` names the database behind it if it can be told, so that what was found there is found once."""

    dialect: DialectName
    database: str | None = None

    @property
    def is_awaited(self) -> bool:
        return isinstance(self, AsyncConnectionAdapter)


class BlockingHand(ConnectionAdapter):
    @abstractmethod
    def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        """Run it, and give its rows if it has any."""

    def ask(self, ask: Ask) -> Rows | None:
        try:
            return self.run(ask.clause, dict(ask.values))
        except Exception as error:
            if ask.unless_taken and is_taken(error):
                return None
            raise


class AsyncConnectionAdapter(ConnectionAdapter):
    @abstractmethod
    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        """Run it, and give its rows if it has any."""

    async def ask(self, ask: Ask) -> Rows | None:
        try:
            return await self.run(ask.clause, dict(ask.values))
        except Exception as error:
            if ask.unless_taken and is_taken(error):
                return None
            raise


def is_taken(error: Exception) -> bool:
    """Whether MySQL refused a row because a unique key of it is taken. Elsewhere the statement itself gives way."""
    cause = getattr(error, "orig", None) or error.__cause__ or error
    return any(isinstance(one, Exception) and one.args[:1] and one.args[0] in _TAKEN for one in (error, cause))


# -- SQLAlchemy


class SqlAlchemyHand(BlockingHand):
    """A Connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.dialect = dialect_of(connection.dialect.name)
        self.database = str(connection.engine.url)

    def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        result = self._connection.execute(clause, values)
        return result.fetchall() if result.returns_rows else ()


class AwaitedSqlAlchemyHand(AsyncConnectionAdapter):
    """An AsyncConnection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.dialect = dialect_of(connection.dialect.name)
        self.database = str(connection.engine.url)

    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        result = await self._connection.execute(clause, values)
        return result.fetchall() if result.returns_rows else ()


# -- drivers


class DriverHand(BlockingHand):
    """A DB-API connection, or Django's."""

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


class AwaitedDriverHand(AsyncConnectionAdapter):
    """The same where everything is awaited: psycopg's AsyncConnection, asyncmy, aiosqlite."""

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


class AsyncpgHand(AsyncConnectionAdapter):
    """asyncpg's own connection."""

    dialect: DialectName = "postgresql"

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._speller = speller("postgresql", "numeric_dollar")

    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        sql, params = self._speller.compile(clause, values)
        return [tuple(row) for row in await self._connection.fetch(sql, *params)]


def dialect_of(name: str) -> DialectName:
    """Our name of a database."""
    if name not in _NAMES:
        raise InvalidInput(f"a start cannot be part of a transaction in {name}; PostgreSQL, MariaDB, MySQL, SQLite can")
    return _NAMES[name]


# Tells what kind of connection somebody gave us.


def adapt(connection: Any, using: str | None) -> BlockingHand | AsyncConnectionAdapter | AwaitedSession:
    """Hands on a connection; `using` is the alias of one of Django's."""
    if using is not None:
        if connection is not None:
            raise InvalidInput("give `connection` or `using`, not both")
        connection = _django_connections()[using]
    module = type(connection).__module__.partition(".")[0]
    if module == "sqlalchemy" or any(kind.__module__.startswith("sqlalchemy.") for kind in type(connection).__mro__):
        return _sqlalchemy(connection)
    for one in (connection, getattr(connection, "db", None)):  # `db` leads a cursor of Django to its connection
        if hasattr(one, "vendor") and hasattr(one, "settings_dict"):
            return _django(one)
    return _driver(connection)


class AwaitedSession:
    """An AsyncSession, whose connection is yet to be awaited."""

    def __init__(self, session: Any) -> None:
        self._session = session

    async def hand(self) -> AsyncConnectionAdapter:
        return AwaitedSqlAlchemyHand(await self._session.connection())


def _sqlalchemy(given: Any) -> BlockingHand | AsyncConnectionAdapter | AwaitedSession:
    """Connection, AsyncConnection, Session, AsyncSession, or the scoped kinds of both."""
    if hasattr(given, "get_bind"):  # a session
        if inspect.iscoroutinefunction(_method(given, "connection")):
            return AwaitedSession(given)
        return SqlAlchemyHand(given.connection())
    if not hasattr(given, "execute") or not hasattr(given, "dialect"):
        raise InvalidInput(f"{given!r:.100} is not a connection; give a Connection or a Session, in its transaction")
    is_awaited = inspect.iscoroutinefunction(_method(given, "execute"))
    return AwaitedSqlAlchemyHand(given) if is_awaited else SqlAlchemyHand(given)


def _method(given: Any, name: str) -> Any:
    """The method behind the proxies that scoped sessions are."""
    registry = getattr(given, "registry", None)
    target = registry() if callable(registry) else given
    return getattr(type(target), name, None)


def _django(connection: Any) -> BlockingHand:
    dialect = dialect_of(connection.vendor)
    where = connection.settings_dict
    database = f"django:{dialect}:{where.get('HOST')}:{where.get('PORT')}:{where.get('NAME')}"
    return DriverHand("django", connection, dialect, speller(dialect, "format", texts=True), database)


def _django_connections() -> Any:
    module = sys.modules.get("django.db")
    if module is None:
        raise InvalidInput("`using` names a database of Django, and Django is not loaded here")
    return module.connections


def _driver(given: Any) -> BlockingHand | AsyncConnectionAdapter:
    found = driver_of(given)
    if found is None:
        raise InvalidInput(
            f"{type(given).__module__}.{type(given).__qualname__} is not a connection Detent knows; give one of "
            "SQLAlchemy, of Django, or of a DB-API driver"
        )
    root, dialect = found
    connection = connection_of(root, given)
    if root == "asyncpg":
        return AsyncpgHand(connection)
    kind = AwaitedDriverHand if is_awaited(root, connection) else DriverHand
    return kind(root, connection, dialect, driver_speller(root, dialect), driver_database(connection))
