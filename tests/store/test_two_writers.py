"""One active attempt per run: whoever else writes its end is refused, by the fence or by the key of the journal."""

from __future__ import annotations

import asyncio

from detent.errors import StoreError
from detent.store.protocol import Store
from tests.store.make import NOON, Node, end, entries, entry, park, start

ROUNDS = 20


async def test_of_two_writers_that_end_the_same_attempt_one_is_refused_by_the_fence(store: Store) -> None:
    """The node that lost its lease and the one that took the run over both have the end of the same attempt."""
    for _ in range(ROUNDS):
        slow = await Node.register(store, ttl=-1)
        run = await slow.started(wake_at=None)
        rescuer = await Node.register(store)
        assert await store.take_over(slow.id)
        [taken] = [one for one in await rescuer.claim() if one.id == run]
        written = await asyncio.gather(
            slow.flush(entries=[entry(run, 1, data=b'"slow"')], ends=[end(run)]),
            rescuer.flush(entries=[entry(run, 1, data=b'"rescuer"')], ends=[end(run, taken.generation)]),
        )
        assert list(written) == [False, True]
        assert [one.data for one in await store.journal(1, run)] == [b'"rescuer"']


async def test_of_two_writers_that_the_fence_lets_through_one_is_refused_by_the_key_of_the_journal(
    store: Store,
) -> None:
    """Two parts of one node, or a bug: the place (run, seq) is taken once, and nothing of the other is written."""
    for _ in range(ROUNDS):
        node = await Node.register(store)
        run = await node.started()
        flushes = [
            node.flush(entries=[entry(run, 1, data=b'"%d"' % number)], parks=[park(run, wake_at=NOON + number)])
            for number in range(2)
        ]
        written = await asyncio.gather(*flushes, return_exceptions=True)
        assert [isinstance(one, StoreError) for one in written].count(True) == 1
        winner = written.index(True)
        assert [one.data for one in await store.journal(1, run)] == [b'"%d"' % winner]
        row = await store.run(1, run)
        assert row is not None
        assert row.wake_at == NOON + winner


async def test_a_claim_is_of_one_node_and_the_other_writes_nothing_of_it(store: Store) -> None:
    first, second = await Node.register(store), await Node.register(store)
    run = start()
    await first.flush(starts=[run])
    claims = await asyncio.gather(first.claim(), second.claim())
    assert sorted(len(one) for one in claims) == [0, 1]
    owner, other = (first, second) if claims[0] else (second, first)
    assert await owner.flush(entries=entries(run.id, 1))
    await other.flush(ends=[end(run.id, 1)])
    row = await store.run(1, run.id)
    assert row is not None
    assert (row.ended_at, row.owner) == (None, owner.id)
