"""How long a transaction of the user's own may take, told to the database: one that hangs lets go of its locks.

Only what is stricter than what the connection has is set. PostgreSQL forgets it with the transaction. MariaDB does so
with the connection, so it is set back before the commit; without a commit the connection is not used again. MySQL knows
no such bound.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import ceil
from typing import Any, Final

from sqlalchemy import TextClause, text

#: The step's own limit comes first.
GRACE: Final = 0.5

_POSTGRES: Final = text(
    "select set_config(name, cast(cast(:ms as bigint) as text), true) from pg_settings"
    " where name in ('statement_timeout', 'idle_in_transaction_session_timeout')"
    " and (cast(setting as bigint) = 0 or cast(setting as bigint) > cast(:ms as bigint))"
)
_MARIADB: Final = text("select @@session.max_statement_time, @@session.idle_transaction_timeout")


@contextmanager
def bounded(connection: Any, seconds: float | None) -> Iterator[None]:
    """The transaction that is open on this connection takes about so long at most."""
    undo = None if seconds is None else _bind(connection, seconds + GRACE)
    try:
        yield
    except BaseException:
        if undo is not None:
            connection.invalidate()
        raise
    if undo is not None:
        connection.execute(undo)


@asynccontextmanager
async def bounded_async(connection: Any, seconds: float | None) -> AsyncIterator[None]:
    """The same for an asynchronous one."""
    undo = None if seconds is None else await connection.run_sync(_bind, seconds + GRACE)
    try:
        yield
    except BaseException:
        if undo is not None:
            await connection.invalidate()
        raise
    if undo is not None:
        await connection.execute(undo)


def _bind(connection: Any, seconds: float) -> TextClause | None:
    """Set the bound; gives what sets it back, if it would outlive the transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(_POSTGRES, {"ms": ceil(seconds * 1000)})
        return None
    if not getattr(connection.dialect, "is_mariadb", False):
        return None
    statement, idle = connection.execute(_MARIADB).one()
    connection.execute(_session(_stricter(float(statement), seconds), _stricter(int(idle), ceil(seconds))))
    return _session(float(statement), int(idle))


def _stricter(now: float, wanted: float) -> float:
    """Zero is no bound at all."""
    return min(now, wanted) if now else wanted


def _session(statement: float, idle: float) -> TextClause:
    return text(f"set session max_statement_time = {statement:.6f}, session idle_transaction_timeout = {int(idle):d}")
