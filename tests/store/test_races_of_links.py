"""Races of claims of links on real servers. Each test shows the wrong variant breaking, and ours holding."""

import asyncio
import random

import asyncpg
import pytest

from detent.clock import SystemClock
from detent.errors import StoreBusy, StoreLocked
from detent.ids import new_id
from detent.store.factory import open_store
from detent.store.links import NewLink
from detent.store.rows import Flush
from detent.store.sql import link_verbs
from detent.store.sql.mysql.connection import StatementRefused
from detent.store.sql.mysql.flush import blob
from detent.store.sql.mysql.store import MysqlStore
from detent.store.sql.postgres.store import PostgresStore
from tests.store import wires
from tests.store.make import Node, end, entry, link
from tests.store.sessions import session, somebody_waits

pytestmark = pytest.mark.slow

CLAIM = """insert into link (tenant, system, type, id, run, step, at) values (1, 'monday', 'item', $1, $2, 's1', now())
           on conflict do nothing"""
#: Decides in the statement that claims: both parts share one snapshot.
IN_ONE = """
with made as (
  insert into link (tenant, system, type, id, run, step, at) values (1, 'monday', 'item', $1, $2, 's1', now())
  on conflict do nothing returning run
)
select (select run from made),
       (select run from link where tenant = 1 and system = 'monday' and type = 'item' and id = $1)
"""


def claim_text(id_: str, run: bytes) -> str:
    return (
        'insert into link (tenant, "system", type, id, run, step, at) values '
        f"(1, 'monday', 'item', '{id_}', {blob(run)}, 's1', 0) on duplicate key update link.run = link.run"
    )


async def test_claims_in_different_orders_deadlock_and_sorted_ones_do_not_on_postgresql(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    async with session(postgres_database) as one, session(postgres_database) as two, session(postgres_database) as see:

        async def wrong() -> None:
            runs = new_id(), new_id()
            async with one.transaction():
                await one.execute(CLAIM, "a", runs[0])
                async with two.transaction():
                    await two.execute(CLAIM, "b", runs[1])
                    waits = asyncio.create_task(two.execute(CLAIM, "a", runs[1]))
                    await somebody_waits(see)
                    try:
                        await one.execute(CLAIM, "b", runs[0])
                    finally:
                        await waits

        with pytest.raises(asyncpg.DeadlockDetectedError):
            await wrong()
        await see.execute("delete from link")
        # The same moment, with ours in the place of the second: it waits for `a` and has not claimed `b` yet.
        node, other = await Node.register(postgres_store), new_id()
        run = await node.started()
        async with one.transaction():
            await one.execute(CLAIM, "a", other)
            ours = asyncio.create_task(node.unlinked(link(run, "b"), link(run, "a"), entries=[entry(run)]))
            await somebody_waits(see)
            await one.execute(CLAIM, "b", other)
        assert {key[3] for key, _ in await ours} == {"a", "b"}
        assert len(await postgres_store.journal(1, run)) == 1


async def test_a_claim_decided_in_one_snapshot_sees_no_owner_and_ours_does_on_postgresql(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    run, owner = await node.started(), await node.started()
    async with (
        session(postgres_database) as other,
        session(postgres_database) as third,
        session(postgres_database) as see,
    ):
        async with other.transaction():
            await other.execute(CLAIM, "17", owner)
            wrong = asyncio.create_task(third.fetchrow(IN_ONE, "17", run))
            ours = asyncio.create_task(node.unlinked(link(run)))
            await somebody_waits(see, 2)
        decided = await wrong
        assert decided is not None
        assert tuple(decided) == (None, None), "the wrong variant neither claimed it nor sees whose it is"
        assert await ours == {(link(run).key, run)}
        assert await postgres_store.link_owners([link(run).key]) == {link(run).key: owner}


async def test_claims_in_different_orders_deadlock_and_sorted_ones_do_not_on_mariadb(
    mariadb_store: MysqlStore, mariadb_database: str
) -> None:
    async with (
        wires.wire(mariadb_database) as one,
        wires.wire(mariadb_database) as two,
        wires.wire(mariadb_database) as see,
    ):
        runs = new_id(), new_id()
        await one.send_all(("start transaction", claim_text("a", runs[0])))
        await two.send_all(("start transaction", claim_text("b", runs[1])))
        waits = asyncio.create_task(two.send(claim_text("a", runs[1])))
        await wires.somebody_waits(see)
        found = await asyncio.gather(one.send(claim_text("b", runs[0])), waits, return_exceptions=True)
        [refused] = [answer for answer in found if isinstance(answer, StatementRefused)]
        assert refused.code == 1213
        for wire in (one, two):
            await wire.send("rollback")
        node, other = await Node.register(mariadb_store), new_id()
        run = await node.started()
        await one.send_all(("start transaction", claim_text("a", other)))
        ours = asyncio.create_task(node.unlinked(link(run, "b"), link(run, "a"), entries=[entry(run)]))
        await wires.somebody_waits(see)
        await one.send_all((claim_text("b", other), "commit"))
        assert {key[3] for key, _ in await ours} == {"a", "b"}
        assert len(await mariadb_store.journal(1, run)) == 1


async def test_a_claim_decided_in_one_snapshot_sees_no_owner_and_ours_does_on_mariadb(
    mariadb_store: MysqlStore, mariadb_database: str
) -> None:
    node = await Node.register(mariadb_store)
    run, owner = await node.started(), await node.started()
    look = """select count(*) from link where tenant = 1 and "system" = 'monday' and type = 'item' and id = '17'"""
    async with (
        wires.wire(mariadb_database) as other,
        wires.wire(mariadb_database) as third,
        wires.wire(mariadb_database) as see,
    ):
        await third.send("set session transaction isolation level repeatable read")
        await third.send("start transaction with consistent snapshot")
        await other.send_all(("start transaction", claim_text("17", owner)))
        wrong = asyncio.create_task(third.send_all((claim_text("17", run), look)))
        ours = asyncio.create_task(node.unlinked(link(run)))
        await wires.somebody_waits(see, 2)
        await other.send("commit")
        assert (await wrong)[1].rows[0][0] == 0, "the wrong variant does not see whose it is"
        await third.send("rollback")
        assert await ours == {(link(run).key, run)}
        assert await mariadb_store.link_owners([link(run).key]) == {link(run).key: owner}


#: Does not look whether the owner is still the one that was read.
TAKE = "update link set run = $2 where tenant = 1 and system = 'monday' and type = 'item' and id = $1"
HOLDS = "select 1 from link where id = '{}' for update nowait"


def take_text(id_: str, run: bytes) -> str:
    place = f"tenant = 1 and \"system\" = 'monday' and type = 'item' and id = '{id_}'"
    return f"update link set run = {blob(run)} where {place}"


async def _repeated(node: Node, *ids: str) -> tuple[bytes, bytes]:
    """Two runs that repeat one that has ended and had these resources."""
    first = await node.started()
    assert await node.unlinked(*(link(first, id_) for id_ in ids)) == set()
    assert await node.flush(ends=[end(first)])
    return await node.started(origin=first), await node.started(origin=first)


async def test_a_resource_that_is_handed_over_meanwhile_is_not_taken_from_its_new_owner_on_postgresql(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    one, two = await _repeated(node, "17", "18")
    async with (
        session(postgres_database) as other,
        session(postgres_database) as third,
        session(postgres_database) as see,
    ):
        async with other.transaction():
            for id_ in ("17", "18"):
                await other.execute(TAKE, id_, one)
            wrong = asyncio.create_task(third.execute(TAKE, "18", two))
            ours = asyncio.create_task(postgres_store.hand_over_links(two, [link(two)]))
            await somebody_waits(see, 2)
        await wrong
        assert await ours == {link(one).key: one}
    keys = [link(one).key, link(one, "18").key]
    assert await postgres_store.link_owners(keys) == {keys[0]: one, keys[1]: two}, "the wrong variant took it"


async def test_a_resource_that_is_handed_over_meanwhile_is_not_taken_from_its_new_owner_on_mariadb(
    mariadb_store: MysqlStore, mariadb_database: str
) -> None:
    node = await Node.register(mariadb_store)
    one, two = await _repeated(node, "17", "18")
    async with (
        wires.wire(mariadb_database) as other,
        wires.wire(mariadb_database) as third,
        wires.wire(mariadb_database) as see,
    ):
        await other.send_all(("start transaction", take_text("17", one), take_text("18", one)))
        wrong = asyncio.create_task(third.send(take_text("18", two)))
        ours = asyncio.create_task(mariadb_store.hand_over_links(two, [link(two)]))
        await wires.somebody_waits(see, 2)
        await other.send("commit")
        await wrong
        assert await ours == {link(one).key: one}
    keys = [link(one).key, link(one, "18").key]
    assert await mariadb_store.link_owners(keys) == {keys[0]: one, keys[1]: two}, "the wrong variant took it"


@pytest.mark.parametrize("is_sorted", [True, False])
async def test_a_hand_over_that_waits_has_locked_nothing_that_comes_later_in_order(
    postgres_store: PostgresStore, postgres_database: str, is_sorted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_sorted:
        monkeypatch.setattr(link_verbs, "sorted", lambda claims, key: list(claims), raising=False)
    node = await Node.register(postgres_store)
    _, run = await _repeated(node, "a", "b")
    async with session(postgres_database) as other, session(postgres_database) as see:
        async with other.transaction():
            await other.execute(HOLDS.format("a"))
            ours = asyncio.create_task(postgres_store.hand_over_links(run, [link(run, "b"), link(run, "a")]))
            await somebody_waits(see)
            if is_sorted:
                await other.execute(HOLDS.format("b"))
            else:
                with pytest.raises(asyncpg.LockNotAvailableError):  # two of these would wait for each other
                    async with other.transaction():
                        await other.execute(HOLDS.format("b"))
        assert set((await ours).values()) == {run}


@pytest.fixture(params=["postgres", "mariadb"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_database"))


@pytest.mark.parametrize("is_sorted", [True, False])
async def test_four_nodes_that_claim_the_same_resources_at_once_never_deadlock_if_they_are_sorted(
    url: str, is_sorted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flushes of many claims, in as many orders. Unsorted ones are sent until one of them meets a deadlock."""
    if not is_sorted:
        monkeypatch.setattr(Flush, "sorted_links", lambda self: list({one.key: one for one in self.links}.values()))
    stores = [await open_store(url, SystemClock()) for _ in range(4)]
    try:
        nodes = [await Node.register(store) for store in stores]
        runs = [await node.started() for node in nodes]
        deadlocks = 0
        for number in range(300):
            claims = [_shuffled(number, run, seed) for seed, run in enumerate(runs)]
            flushes = (_claimed(node, links) for node, links in zip(nodes, claims, strict=True))
            deadlocks += sum(await asyncio.gather(*flushes))
            if deadlocks or (is_sorted and number == 20):
                break
        assert (deadlocks == 0) is is_sorted
    finally:
        for store in stores:
            await store.close()


def _shuffled(round_: int, run: bytes, seed: int) -> list[NewLink]:
    ids = [f"{round_}-{number}" for number in range(40)]
    random.Random(seed).shuffle(ids)
    return [link(run, id_) for id_ in ids]


async def _claimed(node: Node, links: list[NewLink]) -> bool:
    """Claim, and say whether that met a deadlock. A lock that another node has for long is waited for again."""
    while True:
        try:
            assert await node.store.flush(node.id, node.epoch, Flush(links=links)) is not None
        except StoreLocked:
            continue
        except StoreBusy as error:
            if "deadlock" not in str(error).lower():
                raise
            return True
        return False
