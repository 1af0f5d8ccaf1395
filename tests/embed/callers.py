"""The connections that users have, of every kind, with a table of their own: each does something in one transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncmy
import asyncpg
import psycopg
import psycopg2
import psycopg2.extras
import pymysql
from psycopg.rows import dict_row, scalar_row
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from detent.embed import sync
from detent.embed.start import start
from detent.ids import new_id


class Undone(Exception):
    """The transaction is to be rolled back."""


def sync_start(*args: Any, **options: Any) -> str:
    return sync.start(*args, **options).id


async def async_start(*args: Any, **options: Any) -> str:
    return (await start(*args, **options)).id


class Caller(ABC):
    """Somebody with a connection. `within` gives it inside a transaction that ends with the block."""

    server = "postgres"

    def __init__(self, url: str) -> None:
        self.url = url

    @abstractmethod
    def within(self) -> AbstractAsyncContextManager[Any]: ...

    async def start(self, connection: Any, *args: Any, **options: Any) -> str:
        return sync_start(*args, connection=connection, **options)


class SqlAlchemyConnection(Caller):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        engine = create_engine(self.url.replace("postgresql://", "postgresql+psycopg://"))
        try:
            with engine.begin() as connection:
                yield connection
        finally:
            engine.dispose()


class SqlAlchemySession(Caller):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        engine = create_engine(self.url.replace("postgresql://", "postgresql+psycopg://"))
        try:
            with Session(engine) as session, session.begin():
                yield session
        finally:
            engine.dispose()


class SqlAlchemyScopedSession(Caller):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        engine = create_engine(self.url.replace("postgresql://", "postgresql+psycopg://"))
        session = scoped_session(sessionmaker(engine))
        try:
            with session.begin():
                yield session
        finally:
            session.remove()
            engine.dispose()


class Awaited(Caller):
    async def start(self, connection: Any, *args: Any, **options: Any) -> str:
        return await async_start(*args, connection=connection, **options)


class AsyncSqlAlchemyConnection(Awaited):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        engine = create_async_engine(self.url.replace("postgresql://", "postgresql+asyncpg://"))
        try:
            async with engine.begin() as connection:
                yield connection
        finally:
            await engine.dispose()


class AsyncSqlAlchemySession(Awaited):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        engine = create_async_engine(self.url.replace("postgresql://", "postgresql+asyncpg://"))
        try:
            async with AsyncSession(engine) as session, session.begin():
                yield session
        finally:
            await engine.dispose()


class Psycopg(Caller):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        with psycopg.connect(self.url) as connection:
            yield connection


class PsycopgCursor(Caller):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        with psycopg.connect(self.url) as connection, connection.cursor() as cursor:
            cursor.execute("select 1")
            yield cursor
            assert cursor.fetchone() == (1,), "a start disturbed what its cursor was in the middle of"


class PsycopgScalars(Caller):
    """The connection gives the first value of a row in place of the row."""

    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        with psycopg.connect(self.url, row_factory=scalar_row) as connection:
            yield connection


class AsyncPsycopg(Awaited):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        async with await psycopg.AsyncConnection.connect(self.url) as connection:
            yield connection


class AsyncPsycopgDicts(Awaited):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        async with await psycopg.AsyncConnection.connect(self.url, row_factory=dict_row) as connection:
            yield connection


class Psycopg2(Caller):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        connection = psycopg2.connect(self.url)
        try:
            with connection:
                yield connection
        finally:
            connection.close()


class Psycopg2Cursor(Caller):
    """Its rows are dictionaries."""

    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        connection = psycopg2.connect(self.url, cursor_factory=psycopg2.extras.RealDictCursor)
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute("select 1 as one")
                yield cursor
                assert cursor.fetchone() == {"one": 1}, "a start disturbed what its cursor was in the middle of"
        finally:
            connection.close()


class Psycopg2Session(Caller):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        engine = create_engine(self.url.replace("postgresql://", "postgresql+psycopg2://"))
        try:
            with Session(engine) as session, session.begin():
                yield session
        finally:
            engine.dispose()


class Asyncpg(Awaited):
    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        connection = await asyncpg.connect(self.url)
        try:
            async with connection.transaction():
                yield connection
        finally:
            await connection.close()


def mariadb_at(url: str) -> dict[str, Any]:
    """What a driver is told to connect."""
    where = urlsplit(url)
    told = {"user": where.username, "password": where.password or "", "database": where.path[1:]}
    return {"host": where.hostname, "port": where.port or 3306, **told}


class PyMysql(Caller):
    server = "mariadb"

    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        connection = pymysql.connect(**mariadb_at(self.url))
        try:
            yield connection
            connection.commit()
        finally:
            connection.close()  # rolls back what was not committed


class Asyncmy(Awaited):
    server = "mariadb"

    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        connection = await asyncmy.connect(**mariadb_at(self.url))
        try:
            yield connection
            await connection.commit()
        finally:
            connection.close()


class MariadbSession(Caller):
    server = "mariadb"

    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        engine = create_engine(self.url.replace("mysql://", "mysql+pymysql://"))
        try:
            with Session(engine) as session, session.begin():
                yield session
        finally:
            engine.dispose()


class AsyncMariadbSession(Awaited):
    server = "mariadb"

    @asynccontextmanager
    async def within(self) -> AsyncIterator[Any]:
        engine = create_async_engine(self.url.replace("mysql://", "mysql+asyncmy://"))
        try:
            async with AsyncSession(engine) as session, session.begin():
                yield session
        finally:
            await engine.dispose()


CALLERS: dict[str, type[Caller]] = {
    kind.__name__: kind
    for kind in (
        SqlAlchemyConnection,
        SqlAlchemySession,
        SqlAlchemyScopedSession,
        AsyncSqlAlchemyConnection,
        AsyncSqlAlchemySession,
        Psycopg,
        PsycopgCursor,
        PsycopgScalars,
        AsyncPsycopg,
        AsyncPsycopgDicts,
        Psycopg2,
        Psycopg2Cursor,
        Psycopg2Session,
        Asyncpg,
        PyMysql,
        Asyncmy,
        MariadbSession,
        AsyncMariadbSession,
    )
}


def fresh() -> tuple[str, str]:
    """A hero that never was. Where one was, and its entries of the index are not yet swept away, InnoDB looks for a
    double among them, and locks them, the gap before and the entry behind them: then neighbours are held up too."""
    return ("User", new_id().hex())
