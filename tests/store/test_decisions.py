"""Answers to callbacks that have an ask: they count once, in order, and one of several waits wins."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.store.overview_rows import AskAnswer
from detent.store.protocol import Store
from detent.store.rows import Activation, Delivery, MessageKind, NewCallback, Receipt
from tests.store.make import HOUR, Node, activation

ASK = '{"is_approval":true,"title":"it\'s \\\\ é"}'


async def asking(node: Node, *steps: str, until: int | None = None, active: bool = True) -> bytes:
    """A run that this node owns, whose waits have an ask."""
    run = await node.started()
    await node.flush(callbacks=[NewCallback(1, run, step, True, "") for step in steps])
    if active:
        await node.flush(activations=[Activation(run, step, until, ASK) for step in steps])
    return run


def answer(run: bytes, step: str = "w", **given: Any) -> AskAnswer:
    values: dict[str, Any] = {"data": b'{"a":1}', "message_id": None, **given}
    return AskAnswer(run, step, **values)


async def test_a_callback_with_an_ask_is_received_only_by_an_answer_that_was_checked(store: Store) -> None:
    node = await Node.register(store)
    run = await asking(node, "w")
    [row] = await store.callbacks(1, run)
    assert row.ask == ASK
    assert [wait.ask for wait in await store.active_waits(1, limit=5)] == [ASK]
    assert await store.deliver(run, "w", data=b"{}", message_id=None) == (Receipt.ASKS, False)
    assert await store.deliver_many([Delivery(run, "w", b"{}", None)]) == [None]
    assert await store.mail(node.id, limit=5) == []
    assert await store.decide(answer(run, message_id="m")) is Receipt.ACCEPTED
    [mail] = await store.mail(node.id, limit=5)
    assert (mail.kind, mail.step, mail.data) == (MessageKind.CALLBACK, "w", b'{"a":1}')
    facts = await store.callback(run, "w")
    assert facts is not None
    assert (facts.state, facts.answer, facts.message_id) == ("received", "accepted", "m")
    assert await store.decide(answer(run)) is None
    assert await store.deliver(run, "w", data=b"{}", message_id="m") == (Receipt.ACCEPTED, True)


async def test_an_ask_stays_as_it_was_when_the_time_of_its_wait_is_set_again(store: Store) -> None:
    node = await Node.register(store)
    run = await asking(node, "w", active=False)
    assert await store.decide(answer(run)) is Receipt.EARLY
    other = await node.started()
    new = NewCallback(1, other, "w", True, "")
    await node.flush(callbacks=[new], activations=[Activation(other, "w", None, ASK), activation(other, until=HOUR)])
    await node.flush(activations=[activation(other, until=2 * HOUR)])
    facts = await store.callback(other, "w")
    assert facts is not None
    assert (facts.ask, facts.until) == (ASK, 2 * HOUR)
    assert await store.callback(other, "x") is None


async def test_each_decision_counts_only_after_those_that_it_was_compared_with(store: Store) -> None:
    node = await Node.register(store)
    run = await asking(node, "w")
    one, two = '[{"by":"a\'"}]', '[{"by":"a\'"},{"by":"b"}]'
    first = answer(run, is_final=False, decisions=one)
    assert await store.decide(first) is Receipt.COUNTED
    assert await store.decide(first) is None, "the callback has a decision by now"
    assert await store.decide(answer(run, before=two, decisions=two)) is None
    assert await store.decide(answer(run, before=one, decisions=two)) is Receipt.ACCEPTED
    facts = await store.callback(run, "w")
    assert facts is not None
    assert facts.decisions == two
    assert [mail.kind for mail in await store.mail(node.id, limit=5)] == ["note", "callback"]


async def test_an_answer_after_the_deadline_counts_not_even_if_the_wait_is_still_open(store: Store) -> None:
    node = await Node.register(store)
    now = await store.now()
    run = await asking(node, "w", until=now + HOUR)
    assert await store.decide(answer(run), now=now + HOUR) is None
    assert await store.decide(answer(run), now=now + HOUR - 1) is Receipt.ACCEPTED


async def test_an_answer_to_one_of_several_waits_closes_the_others(store: Store) -> None:
    node = await Node.register(store)
    run = await asking(node, "a", "b", "c")
    await node.expire((run, "c"))
    assert await store.decide(answer(run, "a", others=("b", "c"))) is Receipt.ACCEPTED
    assert await store.deliver(run, "b", data=b"{}", message_id=None) == (Receipt.EXPIRED, False)
    assert await store.decide(answer(run, "b", others=("a", "c"))) is None
    assert len(await store.mail(node.id, limit=5)) == 1


@pytest.mark.slow
async def test_of_answers_and_an_expiry_at_the_same_moment_exactly_one_counts(store: Store) -> None:
    """Two people decide, a third answers another wait of the same race, and the node expires the wait."""
    node = await Node.register(store)
    for _ in range(12):
        run = await asking(node, "a", "b")

        async def decide(own: str, other: str, who: str, run: bytes = run) -> bool:
            for _ in range(200):
                facts = await store.callback(run, own)
                assert facts is not None
                if facts.refusal(0) is not None:
                    return False
                given = answer(run, own, others=(other,), decisions=who)
                if await store.decide(given) is not None:
                    return True
                await asyncio.sleep(0.002)
            raise AssertionError("nobody gets the callbacks")

        people = (decide("a", "b", "1"), decide("a", "b", "2"), decide("b", "a", "3"))
        won, expired = await asyncio.gather(asyncio.gather(*people), node.expire((run, "a"), (run, "b")))
        assert sum(won) + (len(expired) == 2) == 1, (won, expired)
        assert len([mail for mail in await store.mail(node.id, limit=100) if mail.run == run]) == sum(won)
