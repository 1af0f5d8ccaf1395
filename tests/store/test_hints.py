"""Hints between the nodes of a PostgreSQL database."""

import asyncio

import pytest

from detent.clock import SystemClock
from detent.errors import StoreError
from detent.store.protocol import Hints
from detent.store.sql.postgres.store import PostgresStore
from tests.store.sessions import eventually, session

LISTENERS = "select pid from pg_stat_activity where datname = current_database() and query ilike 'listen %'"


class Ear:
    """Counts what is heard."""

    def __init__(self, hints: Hints) -> None:
        self._count, self._changed = 0, asyncio.Event()
        self.listening = asyncio.create_task(hints.listen(self._heard))

    def _heard(self) -> None:
        self._count += 1
        self._changed.set()

    @property
    def count(self) -> int:
        return self._count

    async def until(self, count: int) -> None:
        async with asyncio.timeout(300):
            while self._count < count:
                self._changed.clear()
                await self._changed.wait()

    async def close(self) -> None:
        self.listening.cancel()
        await asyncio.gather(self.listening, return_exceptions=True)


def hints_of(store: PostgresStore) -> Hints:
    assert store.hints is not None
    return store.hints


async def test_a_hint_is_heard_by_the_others_and_not_by_its_sender(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    other = PostgresStore(postgres_database, SystemClock())
    mine, theirs = Ear(hints_of(postgres_store)), Ear(hints_of(other))
    try:
        await mine.until(1)
        await theirs.until(1)  # that they listen is heard too, because they may have missed some
        await hints_of(postgres_store).send()
        await theirs.until(2)
        await hints_of(other).send()
        await mine.until(2)
        assert (mine.count, theirs.count) == (2, 2)
    finally:
        await mine.close()
        await theirs.close()
        await other.close()


async def test_listening_ends_with_its_connection(postgres_store: PostgresStore, postgres_database: str) -> None:
    ear = Ear(hints_of(postgres_store))
    try:
        await ear.until(1)
        async with session(postgres_database) as watcher:

            async def listens() -> bool:
                return bool(await watcher.fetch(LISTENERS))

            await eventually(listens, "it does not listen")
            await watcher.execute(f"select pg_terminate_backend(pid) from ({LISTENERS}) listening")
        async with asyncio.timeout(300):
            await ear.listening
    finally:
        await ear.close()


async def test_a_server_that_cannot_be_reached_is_an_error_of_the_store() -> None:
    store = PostgresStore("postgresql://nobody@127.0.0.1:1/none", SystemClock())
    with pytest.raises(StoreError):
        await hints_of(store).listen(lambda: None)


def test_a_pooler_gives_no_hints() -> None:
    store = PostgresStore("postgresql://nobody@127.0.0.1:1/none?pooling=transaction", SystemClock())
    assert store.hints is None
