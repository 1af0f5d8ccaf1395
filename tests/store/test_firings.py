"""Firings: durable first, processed once, one at a time where that was asked for."""

import asyncio
from typing import Any

import pytest

from detent.ids import new_id
from detent.instant import SECOND
from detent.store.protocol import Store
from detent.store.rows import SavedVersion
from detent.store.trigger_rows import (
    QUEUE_PAUSE,
    SHORTEST_PAUSE,
    FiringRow,
    FiringState,
    NewTrigger,
    OverlapRule,
    Turn,
    Verdict,
)
from tests.store.make import HOUR, NOON, Node, end, firing, start, trigger, version

LONG_AGO = NOON - 5000 * HOUR


async def a_trigger(store: Store, **given: Any) -> NewTrigger:
    saved = await store.save_workflow(version(), replace=True)
    assert isinstance(saved, SavedVersion)
    new = trigger(saved.id, **given)
    assert await store.add_trigger(new)
    return new


async def fired(store: Store, of: NewTrigger, **given: Any) -> bytes:
    [row] = await store.add_firings([firing(of, **given)])
    return row.id


async def row_of(store: Store, id_: bytes) -> FiringRow:
    row = await store.firing(1, id_)
    assert row is not None
    return row


async def begin(store: Store, id_: bytes, overlap: OverlapRule, lease: float = 60, most_queued: int = 10) -> Turn:
    return await store.begin_firing(1, id_, overlap=overlap, lease=lease, most_queued=most_queued)


async def verdict(store: Store, id_: bytes, overlap: OverlapRule, **given: Any) -> Verdict:
    return (await begin(store, id_, overlap, **given)).verdict


async def test_a_firing_comes_back_as_it_was_given(store: Store) -> None:
    of, before = await a_trigger(store), await store.now()
    given = firing(
        of, slot=NOON, dedup="d'\"", request=b'{"body":"\\u0000 \xc3\xa4"}', replay_of=new_id(), message="m",
        due_at=NOON,
    )  # fmt: skip
    [row] = await store.add_firings([given])
    assert row == await store.firing(1, given.id)
    for name in given._fields:
        assert getattr(row, name) == getattr(given, name), name
    assert before <= row.at <= await store.now()
    assert (row.until, row.run) == (None, None)
    assert await store.firing(2, given.id) is None
    assert await store.firing(1, new_id()) is None


async def test_of_the_same_slot_or_thing_there_is_one_firing_per_trigger(store: Store) -> None:
    one, two = await a_trigger(store), await a_trigger(store)
    first = [firing(one, slot=1), firing(one, dedup="x"), firing(two, slot=1), firing(two, dedup="x")]
    assert [row.id for row in await store.add_firings(first)] == [new.id for new in first]
    second = [firing(two, dedup="x"), firing(one, slot=1), firing(one, dedup="X"), firing(one, dedup="x"), firing(one)]
    rows = await store.add_firings(second)
    assert [row.id for row in rows] == [first[3].id, first[0].id, second[2].id, first[1].id, second[4].id]


async def test_adding_a_firing_again_gives_the_row_that_is_there(store: Store) -> None:
    of = await a_trigger(store)
    new = firing(of)
    [first] = await store.add_firings([new])
    await store.end_firing(1, new.id, state=FiringState.IGNORED, run=None, message=None)
    [second] = await store.add_firings([new])
    assert (first.state, second.state, second.at) == ("due", "ignored", first.at)


async def test_many_that_send_the_same_thing_at_once_make_one_firing(store: Store) -> None:
    of = await a_trigger(store)
    rows = await asyncio.gather(*(store.add_firings([firing(of, dedup="same")]) for _ in range(8)))
    assert len({row.id for [row] in rows}) == 1


async def test_last_at_is_the_time_of_the_latest_firing_even_when_that_is_gone(store: Store) -> None:
    of = await a_trigger(store)
    await fired(store, of)
    latest = await row_of(store, await fired(store, of))
    row = await store.trigger(1, of.id)
    assert row is not None
    assert row.last_at == latest.at
    for old in await store.firings(1, trigger=of.id, limit=9):
        await store.end_firing(1, old.id, state=FiringState.IGNORED, run=None, message=None)
    assert await store.prune_firings(before=latest.at + 1, limit=9) == 2
    assert await store.trigger(1, of.id) == row


async def test_firings_are_listed_newest_first_and_narrowed(store: Store) -> None:
    of, other = await a_trigger(store), await a_trigger(store)
    ids = [await fired(store, of) for _ in range(4)]
    await fired(store, other)
    await store.end_firing(1, ids[1], state=FiringState.SKIPPED, run=None, message="no")

    async def listed(**given: Any) -> list[int]:
        rows = await store.firings(1, **{"trigger": of.id, "limit": 9, **given})
        return [ids.index(row.id) for row in rows]

    assert await listed() == [3, 2, 1, 0]
    assert await listed(limit=2) == [3, 2]
    assert await listed(before=ids[2]) == [1, 0]
    assert await listed(state="skipped") == [1]
    assert await listed(state="due", before=ids[2]) == [0]
    assert await store.firings(2, trigger=of.id, limit=9) == []


async def test_due_firings_are_the_open_ones_whose_time_has_come_and_nobody_is_at(store: Store) -> None:
    of, now = await a_trigger(store), await store.now()
    late, later = await fired(store, of, due_at=now - 1), await fired(store, of, due_at=LONG_AGO)
    await fired(store, of, due_at=now + HOUR)
    over, busy, left = [await fired(store, of, due_at=LONG_AGO + 1) for _ in range(3)]
    await store.end_firing(1, over, state=FiringState.STARTED, run=new_id(), message=None)
    await begin(store, busy, OverlapRule.ALLOW)
    await begin(store, left, OverlapRule.ALLOW, lease=-1)
    assert [row.id for row in await store.due_firings(limit=9)] == [later, left, late]
    assert [row.id for row in await store.due_firings(limit=1)] == [later]


async def test_a_firing_is_taken_up_by_one_and_by_another_when_its_lease_is_over(store: Store) -> None:
    id_ = await fired(store, await a_trigger(store))
    assert await begin(store, id_, OverlapRule.ALLOW, lease=-1) == Turn(Verdict.GO)
    before = await store.now()
    assert await verdict(store, id_, OverlapRule.ALLOW) is Verdict.GO
    assert await verdict(store, id_, OverlapRule.ALLOW) is Verdict.WAIT
    row = await row_of(store, id_)
    assert row.state == FiringState.STARTING
    assert row.until is not None
    assert before <= row.until - 60 * SECOND <= await store.now()
    await store.end_firing(1, id_, state=FiringState.STARTED, run=new_id(), message=None)
    assert await verdict(store, id_, OverlapRule.ALLOW) is Verdict.OVER
    assert await verdict(store, new_id(), OverlapRule.QUEUE) is Verdict.OVER


async def test_a_firing_ends_once(store: Store) -> None:
    id_, run = await fired(store, await a_trigger(store)), new_id()
    await begin(store, id_, OverlapRule.ALLOW)
    await store.end_firing(1, id_, state=FiringState.STARTED, run=run, message="m")
    await store.end_firing(1, id_, state=FiringState.ERRORED, run=None, message="late")
    await store.end_firing(1, new_id(), state=FiringState.ERRORED, run=None, message="nobody")
    row = await row_of(store, id_)
    assert (row.state, row.run, row.message, row.until) == ("started", run, "m", None)


async def with_an_open_run(store: Store) -> tuple[Node, NewTrigger, bytes]:
    node, of = await Node.register(store), await a_trigger(store)
    runs = [start(owned=True, fired_by=of.id), start(owned=True, fired_by=of.id), start(owned=True, fired_by=new_id())]
    await node.flush(starts=runs)
    await node.flush(ends=[end(runs[0].id)])
    return node, of, runs[1].id


async def test_with_allow_an_open_run_does_not_matter(store: Store) -> None:
    _, of, _ = await with_an_open_run(store)
    assert await begin(store, await fired(store, of), OverlapRule.ALLOW) == Turn(Verdict.GO)
    assert await begin(store, await fired(store, of), OverlapRule.ALLOW) == Turn(Verdict.GO)


async def test_with_skip_an_open_run_ends_the_firing(store: Store) -> None:
    node, of, run = await with_an_open_run(store)
    id_ = await fired(store, of)
    assert await begin(store, id_, OverlapRule.SKIP) == Turn(Verdict.SKIPPED, (run,))
    row = await row_of(store, id_)
    assert (row.state, row.message, row.until) == ("skipped", "the run before has not ended", None)
    await node.flush(ends=[end(run)])
    assert await verdict(store, id_, OverlapRule.SKIP) is Verdict.OVER
    assert await verdict(store, await fired(store, of), OverlapRule.SKIP) is Verdict.GO


async def test_with_cancel_previous_the_open_runs_are_named(store: Store) -> None:
    _, of, run = await with_an_open_run(store)
    id_ = await fired(store, of)
    assert await begin(store, id_, OverlapRule.CANCEL_PREVIOUS, lease=-1) == Turn(Verdict.GO, (run,))
    assert await begin(store, id_, OverlapRule.CANCEL_PREVIOUS) == Turn(Verdict.GO, (run,))


async def test_with_queue_a_firing_waits_its_turn(store: Store) -> None:
    node, of, run = await with_an_open_run(store)
    first, second = [await fired(store, of) for _ in range(2)]
    assert await verdict(store, first, OverlapRule.QUEUE) is Verdict.QUEUED
    row = await row_of(store, first)
    assert row.state == FiringState.QUEUED
    assert row.until is not None
    assert row.until <= await store.now() + SECOND
    assert await verdict(store, second, OverlapRule.QUEUE) is Verdict.QUEUED
    await node.flush(ends=[end(run)])
    assert await verdict(store, second, OverlapRule.QUEUE) is Verdict.QUEUED, "the older one comes first"
    assert await verdict(store, first, OverlapRule.QUEUE) is Verdict.GO
    assert await verdict(store, second, OverlapRule.QUEUE) is Verdict.WAIT
    await store.end_firing(1, first, state=FiringState.STARTED, run=run, message=None)
    assert await verdict(store, second, OverlapRule.QUEUE) is Verdict.GO


async def test_a_firing_whose_time_has_not_come_does_not_go_before(store: Store) -> None:
    of, now = await a_trigger(store), await store.now()
    await fired(store, of, due_at=now + HOUR)
    assert await verdict(store, await fired(store, of, due_at=now + 2 * HOUR), OverlapRule.QUEUE) is Verdict.GO


@pytest.mark.parametrize("most", [0, 2])
async def test_a_full_queue_skips_what_comes(store: Store, most: int) -> None:
    _, of, _ = await with_an_open_run(store)
    ids = [await fired(store, of) for _ in range(most + 1)]
    said = [await verdict(store, id_, OverlapRule.QUEUE, most_queued=most) for id_ in ids]
    assert said == [Verdict.QUEUED] * most + [Verdict.SKIPPED]
    assert (await row_of(store, ids[-1])).message == "too many are queued already"
    for id_ in ids[:-1]:
        assert await verdict(store, id_, OverlapRule.QUEUE, most_queued=most) is Verdict.QUEUED


async def test_the_first_in_line_is_tried_soon_and_one_that_goes_calls_the_next(store: Store) -> None:
    node, of, run = await with_an_open_run(store)
    first, second, third = [await fired(store, of, due_at=LONG_AGO + number) for number in range(3)]
    turns = [await begin(store, id_, OverlapRule.QUEUE) for id_ in (first, second, third)]
    assert [turn.verdict for turn in turns] == [Verdict.QUEUED] * 3
    assert SHORTEST_PAUSE <= turns[0].pause <= QUEUE_PAUSE
    assert [turn.pause for turn in turns[1:]] == [0, 0]
    await node.flush(ends=[end(run)])
    later = [(await row_of(store, id_)).until for id_ in (second, third)]
    assert await begin(store, first, OverlapRule.QUEUE) == Turn(Verdict.GO, (), SHORTEST_PAUSE)
    called, waits = [await row_of(store, id_) for id_ in (second, third)]
    assert called.state == waits.state == FiringState.QUEUED
    assert called.until is not None
    assert called.until <= await store.now() + SHORTEST_PAUSE * SECOND
    assert waits.until == later[1], "only the next one is called"


@pytest.mark.parametrize("overlap", [OverlapRule.SKIP, OverlapRule.QUEUE, OverlapRule.CANCEL_PREVIOUS])
async def test_a_firing_waits_while_another_of_its_trigger_is_processed(store: Store, overlap: OverlapRule) -> None:
    of, other = await a_trigger(store), await a_trigger(store)
    first, second, foreign = await fired(store, of), await fired(store, of), await fired(store, other)
    assert await verdict(store, first, overlap, lease=-1) is Verdict.GO
    assert await verdict(store, second, overlap) is Verdict.WAIT
    assert (await row_of(store, second)).state == FiringState.DUE
    assert await verdict(store, foreign, overlap) is Verdict.GO
    assert await verdict(store, first, overlap) is Verdict.GO, "what was left unfinished is finished first"


@pytest.mark.parametrize("overlap", [OverlapRule.SKIP, OverlapRule.QUEUE, OverlapRule.CANCEL_PREVIOUS])
async def test_of_firings_that_begin_at_once_one_goes(store: Store, overlap: OverlapRule) -> None:
    of = await a_trigger(store)
    ids = [await fired(store, of) for _ in range(4)]
    said = await asyncio.gather(*(verdict(store, id_, overlap) for id_ in ids))
    assert said.count(Verdict.GO) <= 1
    assert await verdict(store, ids[0], overlap) in (Verdict.WAIT, Verdict.GO)


async def test_old_firings_that_ended_are_pruned_a_few_at_a_time(store: Store) -> None:
    of = await a_trigger(store)
    ids = [await fired(store, of) for _ in range(5)]
    for id_ in ids[:4]:
        await store.end_firing(1, id_, state=FiringState.IGNORED, run=None, message=None)
    edge = (await row_of(store, ids[3])).at
    assert await store.prune_firings(before=0, limit=9) == 0
    assert await store.prune_firings(before=edge, limit=2) == 2
    assert await store.prune_firings(before=edge, limit=9) <= 1
    assert await store.prune_firings(before=await store.now() + HOUR, limit=9) >= 1
    assert [row.id for row in await store.firings(1, trigger=of.id, limit=9)] == [ids[4]]


async def test_a_lease_far_ahead_was_written_by_a_clock_that_has_been_put_back_and_counts_for_nothing(
    store: Store,
) -> None:
    id_ = await fired(store, await a_trigger(store), due_at=LONG_AGO)
    assert await verdict(store, id_, OverlapRule.SKIP, lease=7200.0) is Verdict.GO
    assert [row.id for row in await store.due_firings(limit=10)] == [id_]
    assert await verdict(store, id_, OverlapRule.SKIP, lease=10.0) is Verdict.GO
    assert await store.due_firings(limit=10) == []
