"""Hands on the caller's connection, of whatever kind it is: each runs one statement and gives its rows.

SQLAlchemy takes statements as they are. A driver of its own gets text in its paramstyle; Django wants `%s` whatever
stands behind it.
"""

from __future__ import annotations

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
from detent.store.sql.guests import Ask, DialectName, Rows

_DIALECTS: Final = {"postgresql": postgresql.dialect, "mysql": mysql.dialect, "sqlite": sqlite.dialect}
_NAMES: Final[dict[str, DialectName]] = {
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
}
_DRIVERS: Final[dict[str, DialectName]] = {
    "psycopg": "postgresql",
    "psycopg2": "postgresql",
    "pg8000": "postgresql",
    "asyncpg": "postgresql",
    "pymysql": "mysql",
    "MySQLdb": "mysql",
    "mariadb": "mysql",
    "mysql": "mysql",
    "sqlite3": "sqlite",
    "_sqlite3": "sqlite",
    "aiosqlite": "sqlite",
}
#: Error numbers of MySQL and MariaDB: a unique key is taken.
_TAKEN: Final = frozenset({1062, 1586})


class Hand(ABC):
    """`database` names the database behind it if it can be told, so that what was found there is found once."""

    dialect: DialectName
    database: str | None = None

    @property
    def is_awaited(self) -> bool:
        return isinstance(self, AwaitedHand)


class BlockingHand(Hand):
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


class AwaitedHand(Hand):
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


class AwaitedSqlAlchemyHand(AwaitedHand):
    """An AsyncConnection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.dialect = dialect_of(connection.dialect.name)
        self.database = str(connection.engine.url)

    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        result = await self._connection.execute(clause, values)
        return result.fetchall() if result.returns_rows else ()


# -- drivers


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

    def spell(self, clause: ClauseElement, values: dict[str, Any]) -> tuple[str, Any]:
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


class DriverHand(BlockingHand):
    """A DB-API connection, or Django's."""

    def __init__(self, connection: Any, dialect: DialectName, speller: Speller, database: str | None = None) -> None:
        self._connection, self.dialect, self._speller, self.database = connection, dialect, speller, database

    def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        cursor = self._connection.cursor()
        try:
            sql, params = self._speller.spell(clause, values)
            if params:
                cursor.execute(sql, params)
            else:
                cursor.execute(sql)
            rows: Sequence[Sequence[Any]] = cursor.fetchall() if cursor.description else ()
            return [tuple(row.values()) if isinstance(row, dict) else row for row in rows]
        finally:
            cursor.close()


class AwaitedDriverHand(AwaitedHand):
    """psycopg's AsyncConnection, aiosqlite: `execute` gives a cursor that is awaited."""

    def __init__(self, connection: Any, dialect: DialectName, speller: Speller, database: str | None = None) -> None:
        self._connection, self.dialect, self._speller, self.database = connection, dialect, speller, database

    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        sql, params = self._speller.spell(clause, values)
        cursor = await self._connection.execute(sql, params or None)
        try:
            return await cursor.fetchall() if cursor.description else ()
        finally:
            await cursor.close()


class AsyncpgHand(AwaitedHand):
    """asyncpg's own connection."""

    dialect: DialectName = "postgresql"

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._speller = speller("postgresql", "numeric_dollar")

    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        sql, params = self._speller.spell(clause, values)
        return [tuple(row) for row in await self._connection.fetch(sql, *params)]


def dialect_of(name: str) -> DialectName:
    """Our name of a database."""
    if name not in _NAMES:
        raise InvalidInput(f"a start cannot be part of a transaction in {name}; PostgreSQL, MariaDB, MySQL, SQLite can")
    return _NAMES[name]


def driver_of(kind: type[Any]) -> tuple[str, DialectName] | None:
    """The driver that a class, or one it is derived from, belongs to."""
    for parent in kind.__mro__:
        root = parent.__module__.partition(".")[0]
        if root in _DRIVERS:
            return root, _DRIVERS[root]
    return None


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
