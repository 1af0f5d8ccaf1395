"""Tells what kind of connection somebody gave us."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from detent.access.transaction.drivers import (
    connection_of,
    driver_database,
    driver_of,
    driver_speller,
    is_awaited,
)
from detent.access.transaction.hands import (
    AsyncpgHand,
    AwaitedDriverHand,
    AwaitedHand,
    AwaitedSqlAlchemyHand,
    BlockingHand,
    DriverHand,
    SqlAlchemyHand,
    dialect_of,
)
from detent.access.transaction.spelling import speller
from detent.errors import InvalidInput


def recognise(connection: Any, using: str | None) -> BlockingHand | AwaitedHand | AwaitedSession:
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

    async def hand(self) -> AwaitedHand:
        return AwaitedSqlAlchemyHand(await self._session.connection())


def _sqlalchemy(given: Any) -> BlockingHand | AwaitedHand | AwaitedSession:
    """Connection, AsyncConnection, Session, AsyncSession, or the scoped kinds of both."""
    if hasattr(given, "get_bind"):  # a session
        if inspect.iscoroutinefunction(_method(given, "connection")):
            return AwaitedSession(given)
        return SqlAlchemyHand(given.connection())
    if not hasattr(given, "execute") or not hasattr(given, "dialect"):
        raise InvalidInput(f"{given!r:.100} is no connection; give a Connection or a Session, in its transaction")
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


def _driver(given: Any) -> BlockingHand | AwaitedHand:
    found = driver_of(given)
    if found is None:
        raise InvalidInput(
            f"{type(given).__module__}.{type(given).__qualname__} is no connection Detent knows; give one of "
            "SQLAlchemy, of Django, or of a DB-API driver"
        )
    root, dialect = found
    connection = connection_of(root, given)
    if root == "asyncpg":
        return AsyncpgHand(connection)
    kind = AwaitedDriverHand if is_awaited(root, connection) else DriverHand
    return kind(root, connection, dialect, driver_speller(root, dialect), driver_database(connection))
