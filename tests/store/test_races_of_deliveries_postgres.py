"""Many callbacks in one statement, beside flushes that expire the same callbacks: shown wrong without `skip locked`."""

import asyncio

import asyncpg
import pytest

from detent.store.rows import Delivery, MessageKind
from detent.store.sql.postgres.commands import DELIVER_MANY
from detent.store.sql.postgres.store import PostgresStore
from tests.store.make import Node, activation, callback
from tests.store.sessions import session, somebody_waits

pytestmark = pytest.mark.slow


async def _waiting(node: Node, count: int) -> list[bytes]:
    runs = [await node.started() for _ in range(count)]
    await node.flush(callbacks=[callback(run) for run in runs], activations=[activation(run) for run in runs])
    return runs


async def test_a_batch_that_waits_for_locks_stands_across_a_flush_and_ours_passes_by(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    first, second = await _waiting(node, 2)
    expire = "update callback set state = 'expired' where run = $1 and state in ('pending', 'active')"
    waits = DELIVER_MANY.replace("skip locked", "")
    async with (
        session(postgres_database) as flusher,
        session(postgres_database) as client,
        session(postgres_database) as watcher,
    ):
        # A flush that has expired the second and comes to the first; a batch that has locked the first.
        flush = flusher.transaction()
        await flush.start()
        await flusher.execute(expire, second)
        given = ([first, second], ["w", "w"], ["{}", "{}"], [None, None])
        wrong = asyncio.create_task(client.fetch(waits, *given))
        await somebody_waits(watcher)
        met = await asyncio.gather(wrong, flusher.execute(expire, first), return_exceptions=True)
        assert any(isinstance(one, asyncpg.DeadlockDetectedError) for one in met)
        await flush.rollback()

    [first, second] = await _waiting(node, 2)
    async with session(postgres_database) as flusher:
        flush = flusher.transaction()
        await flush.start()
        await flusher.execute(expire, second)
        batch = [Delivery(first, "w", b"{}", None), Delivery(second, "w", b"{}", None)]
        async with asyncio.timeout(300):
            answers = await postgres_store.deliver_many(batch)
        assert [answer is not None for answer in answers] == [True, False]
        await flush.commit()
    assert (await postgres_store.deliver(second, "w", data=b"{}", message_id=None))[0] == "expired"


async def test_a_message_to_many_runs_passes_by_a_run_that_a_flush_has_locked(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    first, second = [await node.started() for _ in range(2)]
    async with session(postgres_database) as flusher:
        flush = flusher.transaction()
        await flush.start()
        await flusher.execute("update run set wake_at = null where id = $1", second)
        async with asyncio.timeout(300):
            sent = await postgres_store.send_many(1, [first, second], MessageKind.MOVE, b"{}")
        assert sent == {first}
        await flush.rollback()
    assert await postgres_store.send(1, second, MessageKind.MOVE, b"{}")
