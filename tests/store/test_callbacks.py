"""Callbacks: exactly one payload or the timeout wins, and everybody is told the same."""

import asyncio
from typing import Any

import pytest

from detent.errors import StoreError
from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import Delivery, MessageKind, Receipt
from tests.store.make import HOUR, Node, activation, callback, end, park, start


async def waiting(node: Node, *, until: int | None = None, early: bool = True, active: bool = True) -> bytes:
    """A run that this node owns, with a callback for its step `w`."""
    run = await node.started()
    activations = [activation(run, until=until)] if active else []
    await node.flush(callbacks=[callback(run, early=early)], activations=activations)
    return run


async def state(store: Store, run: bytes) -> str:
    [found] = await store.callbacks(1, run)
    return found.state


async def test_a_callback_for_an_active_wait_is_accepted_and_its_payload_is_in_the_inbox(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node)
    before = await store.now()
    payload = b'{"\\u0000":"\xf0\x9f\xa7\xad","a":1,"a":2}'
    assert await store.deliver(run, "w", data=payload, message_id=None) == (Receipt.ACCEPTED, False)
    [mail] = await store.mail(node.id, limit=10)
    assert (mail.run, mail.kind, mail.step, mail.data) == (run, MessageKind.CALLBACK, "w", payload)
    assert before <= mail.at <= await store.now()
    assert await state(store, run) == "received"


async def test_a_callback_before_its_wait_is_active_is_kept(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node, active=False)
    assert await store.deliver(run, "w", data=b"{}", message_id=None) == (Receipt.EARLY, False)
    await node.flush(activations=[activation(run)])
    assert await state(store, run) == "received"
    assert len(await store.mail(node.id, limit=10)) == 1


async def test_a_callback_is_made_once_unless_the_flush_is_sent_again(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node)
    await store.deliver(run, "w", data=b"{}", message_id=None)
    with pytest.raises(StoreError):
        await node.flush(callbacks=[callback(run)], activations=[activation(run)])
    assert await node.flush(again=True, callbacks=[callback(run)], activations=[activation(run)])
    assert await state(store, run) == "received"


async def test_of_two_activations_in_the_flush_that_makes_a_callback_the_last_counts(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    until = await store.now() + HOUR
    await node.flush(callbacks=[callback(run)], activations=[activation(run), activation(run, until=until)])
    [found] = await store.callbacks(1, run)
    assert (found.state, found.until) == ("active", until)


async def test_a_wait_that_rejects_early_callbacks_accepts_once_it_is_active(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node, early=False, active=False)
    assert await store.deliver(run, "w", data=b"{}", message_id="m") == (Receipt.NOT_ACTIVE, False)
    assert await store.mail(node.id, limit=10) == []
    await node.flush(activations=[activation(run)])
    assert await store.deliver(run, "w", data=b"{}", message_id="m") == (Receipt.ACCEPTED, False)


async def test_a_second_callback_is_refused_and_leaves_no_mail(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node)
    await store.deliver(run, "w", data=b"1", message_id="first")
    assert await store.deliver(run, "w", data=b"2", message_id="second") == (Receipt.USED, False)
    assert await store.deliver(run, "w", data=b"2", message_id=None) == (Receipt.USED, False)
    assert [mail.data for mail in await store.mail(node.id, limit=10)] == [b"1"]


@pytest.mark.parametrize(("active", "answer"), [(True, Receipt.ACCEPTED), (False, Receipt.EARLY)])
async def test_the_same_message_again_gets_the_first_answer_again(store: Store, active: bool, answer: Receipt) -> None:
    node = await Node.register(store)
    run = await waiting(node, active=active)
    assert await store.deliver(run, "w", data=b"1", message_id="m-1") == (answer, False)
    await node.flush(activations=[activation(run)])
    assert await store.deliver(run, "w", data=b"1", message_id="m-1") == (answer, True)
    assert await store.deliver(run, "w", data=b"1", message_id="M-1") == (Receipt.USED, False)
    assert len(await store.mail(node.id, limit=10)) == 1


async def test_the_same_message_after_the_run_ended_still_gets_the_first_answer(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node)
    await store.deliver(run, "w", data=b"1", message_id="m-1")
    await node.flush(ends=[end(run)])
    assert await store.deliver(run, "w", data=b"1", message_id="m-1") == (Receipt.ACCEPTED, True)
    assert await store.mail(node.id, limit=10) == []


async def test_a_callback_for_nothing_is_not_found(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node)
    assert await store.deliver(new_id(), "w", data=b"{}", message_id=None) == (Receipt.NOT_FOUND, False)
    assert await store.deliver(run, "W", data=b"{}", message_id=None) == (Receipt.NOT_FOUND, False)
    assert await store.deliver(run, "w ", data=b"{}", message_id=None) == (Receipt.NOT_FOUND, False)


async def test_a_callback_past_its_time_is_expired_before_anybody_expired_it(store: Store) -> None:
    node = await Node.register(store)
    now = await store.now()
    run = await waiting(node, until=now + HOUR)
    late = await store.deliver(run, "w", data=b"{}", message_id=None, now=now + HOUR)
    assert late == (Receipt.EXPIRED, False)
    assert await state(store, run) == "active"
    in_time = await store.deliver(run, "w", data=b"{}", message_id=None, now=now + HOUR - 1)
    assert in_time == (Receipt.ACCEPTED, False)


async def test_an_expiry_wins_over_a_callback_that_comes_later(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node)
    assert await node.expire((run, "w")) == {(run, "w")}
    assert await store.deliver(run, "w", data=b"{}", message_id=None) == (Receipt.EXPIRED, False)
    assert await store.mail(node.id, limit=10) == []
    assert await node.expire((run, "w")) == {(run, "w")}, "what was expired before is said again"


async def test_a_callback_that_came_first_wins_over_the_expiry(store: Store) -> None:
    node = await Node.register(store)
    received, expired = await waiting(node), await waiting(node)
    await store.deliver(received, "w", data=b"{}", message_id=None)
    assert await node.expire((received, "w"), (expired, "w"), (new_id(), "w")) == {(expired, "w")}
    assert await state(store, received) == "received"


async def test_the_waits_that_are_closed_are_those_that_expired(store: Store) -> None:
    node = await Node.register(store)
    open_, expired, received, other = [await waiting(node) for _ in range(4)]
    assert (await store.deliver(received, "w", data=b"1", message_id=None))[0] is Receipt.ACCEPTED
    await node.expire((expired, "w"), (received, "w"), (other, "w"))
    assert await store.closed_waits([open_, expired, received, new_id()]) == {(expired, "w")}
    assert await store.closed_waits([]) == set()


async def test_an_activation_and_an_expiry_within_one_flush_end_expired(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node, active=False)
    assert await node.expire((run, "w"), activations=[activation(run, until=5)]) == {(run, "w")}
    assert await state(store, run) == "expired"


async def test_a_callback_made_and_expired_within_one_flush_is_expired(store: Store) -> None:
    node = await Node.register(store)
    run = start(owned=True)
    parts: dict[str, Any] = {"starts": [run], "callbacks": [callback(run.id)], "activations": [activation(run.id)]}
    assert await node.expire((run.id, "w"), **parts) == {(run.id, "w")}
    assert await state(store, run.id) == "expired"


async def test_a_callback_made_and_activated_within_one_flush_is_active(store: Store) -> None:
    node = await Node.register(store)
    run = start(owned=True)
    await node.flush(
        starts=[run],
        callbacks=[callback(run.id, early=False), callback(run.id, "later", early=False)],
        activations=[activation(run.id, until=1_900_000_000_000_000)],
        parks=[park(run.id)],
    )
    found = {row.step: row for row in await store.callbacks(1, run.id)}
    assert (found["w"].state, found["w"].until) == ("active", 1_900_000_000_000_000)
    assert (found["later"].state, found["later"].until) == ("pending", None)
    assert await store.deliver(run.id, "w", data=b"{}", message_id=None) == (Receipt.ACCEPTED, False)


async def test_the_end_of_a_run_expires_its_callbacks(store: Store) -> None:
    node = await Node.register(store)
    run, other = await waiting(node), await waiting(node)
    await node.flush(callbacks=[callback(run, "second")], ends=[end(run)])
    assert {row.state for row in await store.callbacks(1, run)} == {"expired"}
    assert await store.deliver(run, "w", data=b"{}", message_id=None) == (Receipt.EXPIRED, False)
    assert await state(store, other) == "active"


async def test_an_end_with_an_expiry_and_an_activation_of_its_callback_is_expired(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node, active=False)
    assert await node.expire((run, "w"), activations=[activation(run)], ends=[end(run)]) == {(run, "w")}
    assert await state(store, run) == "expired"


async def test_of_many_senders_one_is_accepted(store: Store) -> None:
    node = await Node.register(store)
    run = await waiting(node)
    answers = await asyncio.gather(
        *(store.deliver(run, "w", data=b"%d" % number, message_id=f"m{number}") for number in range(12))
    )
    assert sorted(answer for answer, _ in answers) == [Receipt.ACCEPTED] + [Receipt.USED] * 11
    assert len(await store.mail(node.id, limit=20)) == 1


@pytest.mark.slow
async def test_callback_and_expiry_never_both_win_and_never_both_lose(store: Store) -> None:
    """Two hundred waits, payload against timeout at the same moment."""
    node = await Node.register(store)
    runs = [start(owned=True) for _ in range(200)]
    await node.flush(
        starts=runs, callbacks=[callback(run.id) for run in runs], activations=[activation(run.id) for run in runs]
    )

    async def deliver(run: bytes) -> bool:
        return (await store.deliver(run, "w", data=b"{}", message_id=None))[0] is Receipt.ACCEPTED

    won_by = {"payload": 0, "timeout": 0}
    for first in range(0, 200, 10):
        group = [run.id for run in runs[first : first + 10]]
        expiry = node.expire(*((run, "w") for run in group))
        accepted, expired = await asyncio.gather(asyncio.gather(*map(deliver, group)), expiry)
        for run, payload in zip(group, accepted, strict=True):
            assert payload != ((run, "w") in expired)
            won_by["payload" if payload else "timeout"] += 1
    assert sum(won_by.values()) == 200
    assert len(await store.mail(node.id, limit=1000)) == won_by["payload"]


async def test_callbacks_are_received_together_and_the_others_are_left_alone(store: Store) -> None:
    node = await Node.register(store)
    now = await store.now()
    active, early, late, used = [
        await waiting(node),
        await waiting(node, active=False),
        await waiting(node, until=now - HOUR),
        await waiting(node),
    ]
    shy = await waiting(node, early=False, active=False)
    await store.deliver(used, "w", data=b"0", message_id="m0")
    runs = [active, early, late, used, shy, new_id()]
    batch = [Delivery(run, "w", f'{{"n":{n},"é":"\\u0000"}}'.encode(), f"m{n}") for n, run in enumerate(runs)]
    assert await store.deliver_many(batch) == [Receipt.ACCEPTED, Receipt.EARLY, None, None, None, None]
    mails = {mail.run: mail.data for mail in await store.mail(node.id, limit=10)}
    assert mails == {active: batch[0].data, early: batch[1].data, used: b"0"}
    assert await store.deliver(active, "w", data=b"9", message_id="m0") == (Receipt.ACCEPTED, True)
    assert await store.deliver(early, "w", data=b"9", message_id=None) == (Receipt.USED, False)
    assert await store.deliver_many(batch) == [None] * 6


async def test_many_batches_for_the_same_places_receive_each_once(store: Store) -> None:
    node = await Node.register(store)
    runs = [await waiting(node) for _ in range(20)]
    batches = [
        [Delivery(run, "w", f'"{n}"'.encode(), None) for run in runs[::step]] for n in range(6) for step in (1, -1)
    ]
    answers = await asyncio.gather(*(store.deliver_many(batch) for batch in batches))
    taken = [
        one.run
        for batch, got in zip(batches, answers, strict=True)
        for one, answer in zip(batch, got, strict=True)
        if answer
    ]
    while len(taken) < len(runs):  # somebody was in the way of one and the other gave way too
        batch = [Delivery(run, "w", b'"last"', None) for run in runs]
        taken += [one.run for one, answer in zip(batch, await store.deliver_many(batch), strict=True) if answer]
    assert sorted(taken) == sorted(runs)
    assert sorted(mail.run for mail in await store.mail(node.id, limit=100)) == sorted(runs)
