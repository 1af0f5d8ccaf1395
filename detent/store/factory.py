"""Open, migrate and inspect the store that a URL names."""

from __future__ import annotations

from typing import Final, Literal

from detent.clock import Clock
from detent.errors import InvalidInput, Problem, StoreBusy, StoreError
from detent.store.memory.store import MemoryStore
from detent.store.protocol import Store
from detent.store.sql.sqlite.maintenance import file_revision, migrate_file
from detent.store.sql.sqlite.store import SqliteStore
from detent.store.url import scheme, sqlite_path
from detent.version import install_hint

Role = Literal["engine", "client"]
_NAMES: Final = {"memory": "in memory", "sqlite": "SQLite", "mysql": "MariaDB or MySQL"}


async def open_store(
    url: str, clock: Clock, *, role: Role = "engine", migrate: bool | None = None, row_security: bool = False
) -> Store:
    """Open the store at `sqlite:///path`, `postgresql://...`, `mysql://...` (or `mariadb://...`) or `memory://`.

    A SQLite file is created and migrated on open. A server is migrated only with `migrate`; otherwise tables of another
    revision raise SchemaMismatch. An engine holds the lock of its SQLite file. A client that finds an engine there can
    read; a write raises StoreInUse. `row_security` lets PostgreSQL keep the tenants apart for commands too; another
    database refuses it."""
    _refuse_row_security(url, row_security)
    try:
        return await _open(url, clock, role=role, migrate=migrate, row_security=row_security)
    except StoreBusy as error:
        hint = "database_url (--database or DETENT_DATABASE_URL) says where the database is"
        raise type(error)(f"{error.message}; {hint}") from error


async def _open(url: str, clock: Clock, *, role: Role, migrate: bool | None, row_security: bool) -> Store:
    match scheme(url):
        case "memory":
            return MemoryStore(clock)
        case "sqlite":
            return SqliteStore(sqlite_path(url), clock, role=role)
        case "mysql":
            _require_mysql()
            from detent.store.sql.mysql.store import MysqlStore

            return await MysqlStore.open(url, clock, migrated=bool(migrate))
        case _:
            _require_postgres()
            from detent.store.sql.postgres.store import PostgresStore

            return await PostgresStore.open(url, clock, migrated=bool(migrate), row_security=row_security)


async def migrate_store(url: str, to: str | None = None, *, force: bool = False, row_security: bool = False) -> str:
    """Bring the tables to a revision and return it. The default is the newest revision that can be reached now.

    A downgrade that deletes data needs `force`. With `row_security` the tables are put under it."""
    _refuse_row_security(url, row_security)
    match scheme(url):
        case "memory":
            return ""
        case "sqlite":
            return migrate_file(sqlite_path(url), to, force=force)
        case "mysql":
            _require_mysql()
            from detent.store.sql.mysql.connection import Address as MysqlAddress
            from detent.store.sql.mysql.migration import migrate as migrate_mysql

            return await migrate_mysql(MysqlAddress.parse(url), to, force=force)
        case _:
            _require_postgres()
            from detent.store.sql.postgres.connection import Address
            from detent.store.sql.postgres.migration import migrate

            return await migrate(Address.parse(url), to, force=force, row_security=row_security)


async def stored_revision(url: str) -> str | None:
    """Return the revision of the tables at that URL, or `None` if there are no tables."""
    match scheme(url):
        case "memory":
            return None
        case "sqlite":
            return file_revision(sqlite_path(url)).revision
        case "mysql":
            _require_mysql()
            from detent.store.sql.mysql.connection import Address as MysqlAddress
            from detent.store.sql.mysql.migration import revision as mysql_revision

            return (await mysql_revision(MysqlAddress.parse(url))).revision
        case _:
            _require_postgres()
            from detent.store.sql.postgres.connection import Address
            from detent.store.sql.postgres.migration import revision

            return (await revision(Address.parse(url))).revision


def newest_revision() -> str:
    """Return the newest revision that this code can bring tables to."""
    from detent.store.migrations.plan import revisions  # Alembic: only when it is needed

    return revisions()[-1]


def _refuse_row_security(url: str, is_wanted: bool) -> None:
    """Raise InvalidInput if row security is wanted of a database that does not have it."""
    kind = scheme(url)
    if is_wanted and kind in ("memory", "sqlite", "mysql"):
        raise InvalidInput(
            "invalid settings",
            [Problem("DETENT_ROW_SECURITY", f"needs PostgreSQL, and the database is {_NAMES[kind]}; set it to false")],
        )


def _require_postgres() -> None:
    try:
        import asyncpg  # noqa: F401 - an optional dependency
    except ImportError:
        raise StoreError(f"PostgreSQL needs its driver: {install_hint('postgres')}") from None


def _require_mysql() -> None:
    try:
        import asyncmy  # noqa: F401 - an optional dependency
    except ImportError:
        raise StoreError(f"MariaDB and MySQL need their driver: {install_hint('mysql')}") from None
