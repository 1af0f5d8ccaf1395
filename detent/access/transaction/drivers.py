"""What Detent knows of drivers: whose a connection is, how a cursor leads to it, how statements and rows go through it.

A driver is known by the module of its classes, and is never imported: whoever has a connection of it has loaded it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from typing import Any, Final

from detent.access.transaction.spelling import Speller, speller
from detent.store.sql.guests import DialectName, Rows

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
