"""Claims: who gets which run, in which order, and that nobody gets it twice."""

import asyncio

import pytest

from detent.ids import new_id
from detent.instant import SECOND
from detent.store.protocol import Store
from detent.store.rows import MessageKind, NewRun
from detent.store.sql.verbs import WINDOW
from tests.store.make import HOUR, NOON, Node, callback, end, message, park, start


async def test_a_claimed_run_brings_everything_the_engine_needs(store: Store) -> None:
    node = await Node.register(store)
    given = start(
        opening=b'{"sleep":{"s":1}}',
        expires_at=NOON + HOUR,
        queue="slow",
        priority=4,
        parent=new_id(),
        status="pending",
    )
    await node.flush(starts=[given])
    [run] = await node.claim()
    for name in ("id", "tenant", "workflow", "version", "status", "input", "opening", "expires_at", "wake_at", "queue"):
        assert getattr(run, name) == getattr(given, name), name
    assert (run.priority, run.started_at, run.parent) == (4, NOON, given.parent)
    assert (run.generation, run.adopted) == (1, False)
    assert await store.owned(node.id) == [(given.id, 1)]


async def test_a_run_is_not_claimed_before_its_time_nor_when_it_waits_for_mail_only(store: Store) -> None:
    node = await Node.register(store)
    now = await store.now()
    await node.flush(starts=[start(wake_at=now + HOUR), start(wake_at=None)])
    assert await node.claim() == []


async def test_the_horizon_reaches_a_little_ahead(store: Store) -> None:
    node = await Node.register(store)
    now = await store.now()
    soon, later = start(wake_at=now + 20 * SECOND), start(wake_at=now + HOUR)
    await node.flush(starts=[soon, later])
    assert await node.claim(horizon=10 * SECOND) == []
    assert [run.id for run in await node.claim(horizon=30 * SECOND)] == [soon.id]


async def test_a_claimed_run_is_not_claimed_again_and_each_claim_raises_the_generation(store: Store) -> None:
    node = await Node.register(store)
    run = start()
    await node.flush(starts=[run])
    for generation in (1, 2, 3):
        [claimed] = await node.claim()
        assert claimed.generation == generation
        assert await node.claim() == []
        await node.flush(parks=[park(run.id, generation, 0)])


async def test_larger_priority_comes_first_and_then_the_longest_due(store: Store) -> None:
    node = await Node.register(store)
    runs = {
        name: start(priority=priority, wake_at=NOON - due, queue=queue)
        for name, priority, due, queue in (
            ("low", -5, 900, "a"), ("old", 0, 500, "b"), ("new", 0, 100, "a"), ("high", 7, 1, "c"), ("mid", 3, 1, "a"),
        )
    }  # fmt: skip
    await node.flush(starts=list(runs.values()))
    names = {run.id: name for name, run in runs.items()}
    assert [names[run.id] for run in await node.claim(limit=3)] == ["high", "mid", "old"]
    assert [names[run.id] for run in await node.claim(limit=3)] == ["new", "low"]


async def test_only_the_asked_queues_are_claimed(store: Store) -> None:
    node = await Node.register(store)
    fast, slow = start(queue="fast"), start(queue="slow", priority=9)
    await node.flush(starts=[fast, slow, start(queue="Fast")])
    assert await node.claim(queues=["none"]) == []
    assert await node.claim(queues=[]) == []
    assert [run.id for run in await node.claim(queues=["fast"])] == [fast.id]
    assert len(await node.claim(queues=None)) == 2


async def test_a_run_is_claimed_only_by_a_node_that_serves_all_its_code(store: Store) -> None:
    node = await Node.register(store)
    plain, both = start(), start(code='["pay","ship it"]')
    await node.flush(starts=[plain, both])
    assert [run.id for run in await node.claim(serves=["pay"])] == [plain.id]
    assert await node.claim(serves=["ship it", "Pay"]) == []
    assert [run.id for run in await node.claim(serves=["ship it", "x", "pay"])] == [both.id]


async def test_mail_makes_a_sleeping_run_claimable(store: Store) -> None:
    node = await Node.register(store)
    now = await store.now()
    sleeping, waiting = start(wake_at=now + HOUR), start(wake_at=None)
    await node.flush(starts=[sleeping, waiting], callbacks=[callback(waiting.id)])
    assert await store.send(1, sleeping.id, MessageKind.CANCEL, b"{}")
    await store.deliver(waiting.id, "w", data=b"{}", message_id=None)
    assert {run.id for run in await node.claim()} == {sleeping.id, waiting.id}
    assert len(await store.mail(node.id, limit=10)) == 2


async def test_mail_that_comes_before_the_park_makes_the_parked_run_claimable(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await store.send(1, run, MessageKind.CANCEL, b"{}")
    await node.flush(parks=[park(run, 1, None)])
    assert [claimed.id for claimed in await node.claim()] == [run]


async def test_a_run_with_mail_is_not_starved_by_mail_of_runs_that_cannot_be_claimed(store: Store) -> None:
    node, other = await Node.register(store), await Node.register(store)
    owned = [await other.started(priority=9) for _ in range(30)]
    foreign = start(wake_at=None, queue="elsewhere", priority=9)
    wanted = start(wake_at=None)
    await node.flush(starts=[foreign, wanted])
    for run in [*owned, foreign.id, wanted.id]:
        await store.send(1, run, MessageKind.PAUSE, b"{}")
    assert [run.id for run in await node.claim(limit=1, queues=["default"])] == [wanted.id]


async def test_old_mail_behind_more_than_a_claim_looks_at_is_found_in_a_few_claims(store: Store) -> None:
    """Nothing of it can be claimed here, and newer mail lies before it whichever way one looks."""
    node = await Node.register(store)
    wanted = start(wake_at=None, id=b"\x80" * 16)
    before = [start(wake_at=None, queue="elsewhere", id=b"\x01" * 8 + n.to_bytes(8, "big")) for n in range(WINDOW)]
    behind = [start(wake_at=None, queue="elsewhere", id=b"\xf0" * 8 + n.to_bytes(8, "big")) for n in range(WINDOW)]
    await node.flush(starts=[wanted, *before, *behind])
    sender = await node.started()
    messages = [message(run.id, sender, seq) for seq, run in enumerate((wanted, *before, *behind), 1)]
    await node.flush(messages=messages)
    claimed = [run.id for _ in range(4) for run in await node.claim(limit=1, queues=["default"])]
    assert claimed == [wanted.id]


@pytest.mark.parametrize("limit", [1, 6])
@pytest.mark.parametrize("wake_at", [HOUR, None])
async def test_a_run_that_only_has_mail_is_claimed_beside_any_backlog_of_due_runs(
    store: Store, limit: int, wake_at: int | None
) -> None:
    node = await Node.register(store)
    backlog = [start(priority=priority, wake_at=0) for priority in (0, 5) for _ in range(6)]
    parked = start(wake_at=None if wake_at is None else await store.now() + wake_at)
    await node.flush(starts=[*backlog, parked])
    await store.send(1, parked.id, MessageKind.CANCEL, b"{}")
    assert parked.id in await claimed_beside(node, backlog, limit)


@pytest.mark.parametrize("limit", [1, 6])
async def test_a_due_run_and_a_run_of_a_dead_node_are_claimed_beside_any_backlog_of_mail(
    store: Store, limit: int
) -> None:
    node, dead = await Node.register(store), await Node.register(store)
    backlog = [start(priority=5, wake_at=None) for _ in range(12)]
    due, orphan = start(), await dead.started()
    await node.flush(starts=[*backlog, due])
    for run in backlog:
        await store.send(1, run.id, MessageKind.SIGNAL, b"{}")
    await store.retire(dead.id)
    assert {due.id, orphan} <= await claimed_beside(node, backlog, limit)


async def claimed_beside(node: Node, backlog: list[NewRun], limit: int) -> set[bytes]:
    """The runs of four claims. Those of the backlog can be claimed again at once: they are due, or have mail."""
    found: set[bytes] = set()
    again = {run.id for run in backlog}
    for _ in range(4):
        claimed = await node.claim(limit=limit)
        assert len(claimed) == limit
        assert claimed == sorted(claimed, key=lambda run: (-run.priority, run.wake_at or 0, run.id))
        found.update(run.id for run in claimed)
        await node.flush(parks=[park(run.id, run.generation, run.wake_at) for run in claimed if run.id in again])
    return found


async def test_the_mail_of_a_node_is_found_behind_more_mail_of_others_than_a_poll_looks_at(store: Store) -> None:
    node, other = await Node.register(store), await Node.register(store)
    theirs, mine = await other.started(), await node.started()
    await other.flush(messages=[message(theirs, theirs, seq) for seq in range(1, WINDOW + 2)])
    await other.flush(messages=[message(mine, theirs, WINDOW + 2 + seq, data=b"%d" % seq) for seq in range(3)])
    assert [(mail.run, mail.data) for mail in await store.mail(node.id, limit=2)] == [(mine, b"0"), (mine, b"1")]


async def test_mail_of_the_runs_a_node_owns_comes_oldest_first_and_up_to_the_limit(store: Store) -> None:
    node, other = await Node.register(store), await Node.register(store)
    mine, theirs = await node.started(), await other.started()
    for number in range(5):
        await store.send(1, mine, MessageKind.CANCEL, b'{"n":%d}' % number)
        await store.send(1, theirs, MessageKind.CANCEL, b"{}")
    found = await store.mail(node.id, limit=3)
    assert [mail.data for mail in found] == [b'{"n":0}', b'{"n":1}', b'{"n":2}']
    assert [mail.id for mail in found] == sorted(mail.id for mail in found)
    assert all(mail.run == mine and mail.kind == "cancel" and mail.step is None for mail in found)


async def test_runs_of_a_node_that_is_gone_are_adopted_whatever_they_wait_for(store: Store) -> None:
    dead, node = await Node.register(store, ttl=-1), await Node.register(store)
    now = await store.now()
    runs = [await dead.started(wake_at=wake_at) for wake_at in (None, NOON, now + HOUR)]
    assert await node.claim() == []
    await store.take_over(dead.id)
    claimed = await node.claim()
    assert {run.id for run in claimed} == set(runs)
    assert all(run.adopted and run.generation == 2 for run in claimed)


async def test_an_ended_run_is_never_claimed(store: Store) -> None:
    dead, node = await Node.register(store, ttl=-1), await Node.register(store)
    run = await dead.started()
    await dead.flush(ends=[end(run)])
    await store.take_over(dead.id)
    assert await node.claim(horizon=HOUR) == []


async def test_a_released_run_is_adopted_at_once(store: Store) -> None:
    node = await Node.register(store)
    run, kept = await node.started(wake_at=None), await node.started()
    await store.release(node.id, node.epoch, [(run, 1), (kept, 99)])
    assert await store.owned(node.id) == [(kept, 1)]
    [claimed] = await node.claim()
    assert (claimed.id, claimed.generation, claimed.adopted) == (run, 2, True)


async def test_the_limit_holds_over_everything_that_can_be_claimed(store: Store) -> None:
    dead, node = await Node.register(store, ttl=-1), await Node.register(store)
    for _ in range(4):
        await dead.started()
    await store.take_over(dead.id)
    waiting = [start(wake_at=None) for _ in range(4)]
    await node.flush(starts=[*waiting, *(start() for _ in range(4))])
    for run in waiting:
        await store.send(1, run.id, MessageKind.CANCEL, b"{}")
    counts = [len(await node.claim(limit=5)) for _ in range(4)]
    assert counts == [5, 5, 2, 0]


@pytest.mark.slow
@pytest.mark.case("A5")
async def test_nodes_that_claim_at_the_same_time_never_get_the_same_run(store: Store) -> None:
    nodes = [await Node.register(store) for _ in range(3)]
    runs = [start(priority=number % 3) for number in range(600)]
    await nodes[0].flush(starts=runs)

    async def claim_all(node: Node) -> list[bytes]:
        claimed: list[bytes] = []
        idle = 0
        while idle < 5:
            found = await node.claim(limit=7)
            idle = 0 if found else idle + 1
            claimed += [run.id for run in found]
        return claimed

    taken = await asyncio.gather(*(claim_all(node) for node in nodes))
    everything = [run for found in taken for run in found]
    assert len(everything) == len(set(everything)) == 600


async def test_graphs_come_by_workflow_and_version(store: Store) -> None:
    assert await store.graphs([(new_id(), 1)]) == {}
