"""The mail of a run that continues as another one: it belongs to that one."""

import asyncio
from typing import Any

import pytest

from detent.clock import SystemClock
from detent.errors import StoreError
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.store.rows import CallbackState, MessageKind, NewRun
from detent.store.sql.mysql import commands
from detent.store.sql.mysql.flush import blob
from detent.store.sql.postgres.commands import SEND
from tests.store import wires
from tests.store.make import NOON, Node, activation, callback, end, entries, message, start
from tests.store.sessions import session, somebody_waits
from tests.store.wires import wire

FOLLOWING = (MessageKind.SIGNAL, MessageKind.CANCEL, MessageKind.PAUSE, MessageKind.RESUME, MessageKind.FINISH)
STAYING = (MessageKind.SKIP, MessageKind.REATTEMPT, MessageKind.RESOLVE)


def successor_of(run: bytes, **given: Any) -> NewRun:
    return start(owned=True, origin=run, origin_kind="continued", **given)


async def mails(node: Node) -> list[tuple[bytes, str, bytes]]:
    """The messages of the runs of a node, in order."""
    return [(mail.run, mail.kind, mail.data) for mail in await node.store.mail(node.id, limit=1000)]


async def send(store: Store, run: bytes, kind: MessageKind, number: int) -> None:
    assert await store.send(1, run, kind, b"%d" % number)


async def test_unread_mail_goes_to_the_successor_in_its_order_and_the_rest_is_dropped(store: Store) -> None:
    node = await Node.register(store)
    old, other = await node.started(), await node.started()
    await node.flush(callbacks=[callback(old)], activations=[activation(old)])
    await store.deliver(old, "w", data=b"0", message_id=None)
    for number, kind in enumerate((*FOLLOWING, *STAYING), 1):
        await send(store, old, kind, number)
        await send(store, other, kind, number)
    [first, *_] = await store.mail(node.id, limit=1000)
    successor = successor_of(old)
    assert await node.flush(
        starts=[successor], entries=entries(old, 1), ends=[end(old, successor=successor.id)], consumed=[first.id]
    )
    await send(store, successor.id, MessageKind.SIGNAL, 9)
    moved = [(successor.id, str(kind), b"%d" % number) for number, kind in enumerate(FOLLOWING, 1)]
    kept = [(other, str(kind), b"%d" % number) for number, kind in enumerate((*FOLLOWING, *STAYING), 1)]
    found = await mails(node)
    assert [mail for mail in found if mail[0] == successor.id] == [*moved, (successor.id, "signal", b"9")]
    assert [mail for mail in found if mail[0] == other] == kept
    assert not [mail for mail in found if mail[0] == old]
    [row] = await store.callbacks(1, old)
    assert row.state == CallbackState.RECEIVED


async def test_what_was_consumed_in_the_flush_that_ends_a_run_does_not_go_on(store: Store) -> None:
    node = await Node.register(store)
    old = await node.started()
    for number in (1, 2):
        await send(store, old, MessageKind.SIGNAL, number)
    [first, _] = await store.mail(node.id, limit=10)
    successor = successor_of(old)
    assert await node.flush(starts=[successor], ends=[end(old, successor=successor.id)], consumed=[first.id])
    assert await mails(node) == [(successor.id, "signal", b"2")]


async def test_a_successor_inherits_the_key_and_the_mail_in_one_flush(store: Store) -> None:
    node = await Node.register(store)
    old = await node.started(active_key="k")
    await send(store, old, MessageKind.SIGNAL, 1)
    successor = successor_of(old, active_key="k", successor_of=old)
    assert await node.refused(starts=[successor], ends=[end(old, successor=successor.id)]) == frozenset()
    assert await store.active_run(1, "k") == successor.id
    assert await mails(node) == [(successor.id, "signal", b"1")]


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_flush_of_another_ownership_forwards_nothing(store: Store, key: str | None) -> None:
    node, thief = await Node.register(store), await Node.register(store)
    old = await node.started(active_key=key)
    await send(store, old, MessageKind.SIGNAL, 1)
    successor = successor_of(old)
    await thief.flush(starts=[successor], ends=[end(old, successor=successor.id)])
    assert await mails(node) == [(old, "signal", b"1")]
    stale, again = Node(store, node.id, node.epoch - 1), successor_of(old)
    assert not await stale.flush(starts=[again], ends=[end(old, successor=again.id)])
    await node.flush(ends=[end(old, generation=7, successor=successor.id)])
    assert await mails(node) == [(old, "signal", b"1")]


async def test_a_run_does_not_end_if_its_successor_is_refused(store: Store) -> None:
    """It never is, unless there is a fault: then the flush as such is refused, and nothing is lost."""
    node = await Node.register(store)
    old, holder = await node.started(active_key="mine"), await node.started(active_key="taken")
    await send(store, old, MessageKind.SIGNAL, 1)
    successor = successor_of(old, active_key="taken", successor_of=old)
    with pytest.raises(StoreError):
        await node.flush(starts=[successor], entries=entries(old, 1), ends=[end(old, successor=successor.id)])
    assert await mails(node) == [(old, "signal", b"1")]
    row = await store.run(1, old)
    assert row is not None
    assert (row.status, row.owner, row.active_key) == ("running", node.id, "mine")
    assert await store.journal(1, old) == []
    assert await store.active_run(1, "taken") == holder


async def test_a_forwarding_that_is_sent_again_counts_once(store: Store) -> None:
    node = await Node.register(store)
    old = await node.started()
    for number in (1, 2):
        await send(store, old, MessageKind.SIGNAL, number)
    successor = successor_of(old)
    parts: dict[str, Any] = {
        "starts": [successor], "entries": entries(old, 1), "ends": [end(old, successor=successor.id)],
    }  # fmt: skip
    assert await node.flush(**parts)
    epoch = await store.raise_epoch(node.id, node.epoch)
    assert epoch is not None
    node.epoch = epoch
    assert await node.flush(again=True, **parts)
    assert await mails(node) == [(successor.id, "signal", b"1"), (successor.id, "signal", b"2")]


async def test_late_mail_is_forwarded_along_the_whole_chain_and_other_mail_is_left(store: Store) -> None:
    node = await Node.register(store)
    first = await node.started()
    second, third = successor_of(first), start(owned=True)
    third = third._replace(origin=second.id, origin_kind="continued")
    await node.flush(starts=[second], ends=[end(first, successor=second.id)])
    await node.flush(starts=[third], ends=[end(second.id, successor=third.id)])
    stranger = await node.started()
    fork = start(owned=True, origin=stranger, origin_kind="fork")
    await node.flush(starts=[fork], ends=[end(stranger)])
    # Messages of other runs do not ask whether their run is open.
    late = [
        message(first, stranger, -1, kind="cancel", data=b"1"),
        message(second.id, stranger, -2, kind="signal", data=b"2"),
        message(first, stranger, -3, kind="child", data=b"3"),
        message(stranger, stranger, -4, kind="cancel", data=b"4"),
    ]
    await node.flush(messages=late)
    assert await mails(node) == []
    await store.tidy()
    assert await mails(node) == [(third.id, "cancel", b"1"), (third.id, "signal", b"2")]


async def test_a_continuation_of_many_runs_in_one_flush_keeps_their_mail_apart(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True) for _ in range(60)]
    await node.flush(starts=runs)
    for number, run in enumerate(runs):
        await send(store, run.id, MessageKind.SIGNAL, number)
    following = [successor_of(run.id) for run in runs]
    ends = [end(run.id, successor=one.id) for run, one in zip(runs, following, strict=True)]
    plain = await node.started()
    assert await node.flush(starts=following, ends=[*ends, end(plain)])
    assert sorted(await mails(node)) == sorted(
        (one.id, "signal", b"%d" % number) for number, one in enumerate(following)
    )


@pytest.mark.parametrize("store_url", ["postgres", "mariadb"], indirect=True)
async def test_a_signal_that_races_with_the_end_is_forwarded_or_refused(store: Store, store_url: str) -> None:
    """Two connections: what was accepted must be in the successor's inbox as soon as the flush has returned."""
    elsewhere = await open_store(store_url, SystemClock())
    node = await Node.register(store)
    old, accepted = await node.started(), 0
    try:
        for turn in range(40):
            successor = successor_of(old)
            ends = [end(old, successor=successor.id, ended_at=NOON + turn)]
            sending = [asyncio.ensure_future(elsewhere.send(1, old, MessageKind.SIGNAL, b"1")) for _ in range(4)]
            await node.flush(starts=[successor], entries=entries(old, 1), ends=ends)
            accepted += sum(await asyncio.gather(*sending))
            assert len(await mails(node)) == accepted
            old = successor.id
    finally:
        await elsewhere.close()


@pytest.mark.parametrize("store_url", ["postgres", "mariadb"], indirect=True)
async def test_an_end_waits_for_a_send_that_is_under_way(store: Store, store_url: str) -> None:
    """A sender has looked at the run and written its message, and has not committed yet."""
    node = await Node.register(store)
    old = await node.started()
    successor = successor_of(old)
    flush: dict[str, Any] = {"starts": [successor], "ends": [end(old, successor=successor.id)]}
    if store_url.startswith("mysql"):
        values: dict[str, Any] = {"kind": "'signal'", "data": "'1'", "now": "1", "run": blob(old), "tenant": 1}
        async with wire(store_url) as sender, wire(store_url) as watcher:
            await sender.send("start transaction")
            await sender.send(commands.SEND.format(**values))
            ending = asyncio.create_task(node.flush(**flush))
            await wires.somebody_waits(watcher)
            await sender.send("commit")
            assert await ending
    else:
        async with session(store_url) as outside, session(store_url) as watcher:
            async with outside.transaction():
                assert await outside.fetch(SEND, 1, old, "signal", "1")
                ending = asyncio.create_task(node.flush(**flush))
                await somebody_waits(watcher)
            assert await ending
    assert await mails(node) == [(successor.id, "signal", b"1")]
