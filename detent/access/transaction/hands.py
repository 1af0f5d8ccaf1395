"""Hands on the caller's connection, of whatever kind it is: each runs one statement and gives its rows.

SQLAlchemy takes statements as they are. A driver of its own gets text in its paramstyle; Django wants `%s` whatever
stands behind it.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from typing import Any, Final

from sqlalchemy import ClauseElement

from detent.access.transaction.drivers import cursor_on, plain
from detent.access.transaction.spelling import Speller, speller
from detent.errors import InvalidInput
from detent.store.sql.guests import Ask, DialectName, Rows

_NAMES: Final[dict[str, DialectName]] = {
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
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


class DriverHand(BlockingHand):
    """A DB-API connection, or Django's."""

    def __init__(
        self, root: str, connection: Any, dialect: DialectName, speller: Speller, database: str | None
    ) -> None:
        self._root, self._connection, self._speller = root, connection, speller
        self.dialect, self.database = dialect, database

    def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        sql, params = self._speller.spell(clause, values)
        cursor = cursor_on(self._root, self._connection)
        try:
            if params:
                cursor.execute(sql, params)
            else:
                cursor.execute(sql)
            return plain(cursor.fetchall()) if cursor.description else ()
        finally:
            cursor.close()


class AwaitedDriverHand(AwaitedHand):
    """The same where everything is awaited: psycopg's AsyncConnection, asyncmy, aiosqlite."""

    def __init__(
        self, root: str, connection: Any, dialect: DialectName, speller: Speller, database: str | None
    ) -> None:
        self._root, self._connection, self._speller = root, connection, speller
        self.dialect, self.database = dialect, database

    async def run(self, clause: ClauseElement, values: dict[str, Any]) -> Rows:
        sql, params = self._speller.spell(clause, values)
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
