"""Dead letters: written where something is given up, taken once, purged, on every store."""

import asyncio

import pytest

from detent.ids import new_id
from detent.instant import SECOND
from detent.store.letters import LetterCriteria, LetterKind, NewLetter
from detent.store.protocol import Store
from detent.store.trigger_rows import FiringState
from tests.store.make import Node, entry, firing, letter, trigger, version

STALE = 60 * SECOND


async def written(store: Store, *letters: NewLetter) -> Node:
    node = await Node.register(store)
    assert await node.flush(letters=list(letters))
    return node


async def test_a_letter_is_written_with_its_flush_and_read_as_it_was(store: Store) -> None:
    workflow = version("orders")
    await store.save_workflow(workflow, replace=False)
    new = letter(workflow=workflow.id, payload='{"ü":"\\u0000"}'.encode(), last_error="it's a \\ trap", message="né\n")
    bare = letter(run=None, step=None, payload=None, source=new_id(), trigger=new_id(), kind=str(LetterKind.FIRING))
    node = await written(store, new, bare)
    row = await store.letter(1, new.id)
    assert row is not None
    assert row[: len(new)] == new
    assert (row.state, row.workflow_name, row.result, row.settled_at) == ("open", "orders", None, None)
    found = await store.letter(1, bare.id)
    assert found is not None
    assert found[: len(bare)] == bare
    assert await store.letter(2, new.id) is None
    run = await node.started()
    assert await node.flush(letters=[new], entries=[entry(run)], again=True), "a repeated flush writes it once"
    assert len(await store.letters(1, limit=9)) == 2


async def test_letters_are_listed_and_counted_by_what_they_are_about(store: Store) -> None:
    run, workflow = new_id(), new_id()
    one, two, three = letter(run=run), letter(kind="run", reason="quarantined"), letter(workflow=workflow, reason="x")
    await written(store, one, two, three, letter(tenant=2))
    every = await store.letters(1, limit=9)
    assert [row.id for row in every] == [three.id, two.id, one.id]
    assert await store.letters(1, limit=2, cursor=every[0].id) == every[1:]
    assert [row.id for row in await store.letters(1, limit=9, oldest_first=True, cursor=one.id)] == [two.id, three.id]
    wanted = {
        "kind": (LetterCriteria(kind="run"), [two.id]),
        "reason": (LetterCriteria(reason="poison"), [one.id]),
        "workflow": (LetterCriteria(workflow=workflow), [three.id]),
        "run": (LetterCriteria(run=run), [one.id]),
        "state": (LetterCriteria(state="requeued"), []),
        "before": (LetterCriteria(before=every[0].at + 60 * SECOND, state="open"), [three.id, two.id, one.id]),
        "long before": (LetterCriteria(before=1), []),
    }
    for name, (where, ids) in wanted.items():
        assert [row.id for row in await store.letters(1, limit=9, where=where)] == ids, name
        assert await store.count_letters(1, where=where, limit=9) == len(ids), name
    assert await store.count_letters(1, where=LetterCriteria(), limit=2) == 2


async def test_a_letter_is_taken_once_and_by_another_only_if_the_first_has_died(store: Store) -> None:
    new = letter()
    await written(store, new)
    taken = await store.take_letter(1, new.id, by="ann", stale=STALE)
    assert taken is not None
    assert taken.state == "open"
    assert await store.take_letter(1, new.id, by="bob", stale=STALE) is None
    row = await store.letter(1, new.id)
    assert row is not None
    assert (row.state, row.settled_by, row.result) == ("requeued", "ann", None)
    again = await store.take_letter(1, new.id, by="bob", stale=-STALE)
    assert again is not None, "it has no result after so long"
    await store.settle_letter(1, new.id, result="run_1")
    assert await store.take_letter(1, new.id, by="ann", stale=-STALE) is None, "it has a result"
    row = await store.letter(1, new.id)
    assert row is not None
    assert (row.settled_by, row.result) == ("bob", "run_1")
    assert await store.take_letter(2, new.id, by="ann", stale=STALE) is None
    assert await store.take_letter(1, new_id(), by="ann", stale=STALE) is None


async def test_a_requeue_that_was_refused_opens_the_letter_again(store: Store) -> None:
    new = letter()
    await written(store, new)
    assert await store.take_letter(1, new.id, by="ann", stale=STALE)
    await store.settle_letter(1, new.id, result=None)
    row = await store.letter(1, new.id)
    assert row is not None
    assert (row.state, row.settled_at, row.settled_by) == ("open", None, None)
    assert await store.take_letter(1, new.id, by="bob", stale=STALE)


@pytest.mark.slow
async def test_of_many_that_take_a_letter_at_once_one_gets_it(store: Store) -> None:
    new = letter()
    await written(store, new)
    taken = await asyncio.gather(*(store.take_letter(1, new.id, by=f"{n}", stale=STALE) for n in range(8)))
    assert sum(one is not None for one in taken) == 1


async def test_letters_are_purged_and_old_ones_pruned(store: Store) -> None:
    letters = [letter() for _ in range(5)]
    await written(store, *letters)
    assert await store.drop_letters(1, []) == 0
    assert await store.drop_letters(2, [letters[0].id]) == 0
    assert await store.drop_letters(1, [letters[0].id, letters[1].id, new_id()]) == 2
    assert await store.prune_letters(before=1, limit=9) == 0
    [newest, *_] = await store.letters(1, limit=1)
    assert await store.prune_letters(before=newest.at + SECOND, limit=2) == 2
    assert [row.id for row in await store.letters(1, limit=9)] in ([[letters[4].id], [letters[3].id], [letters[2].id]])


async def test_a_firing_and_its_letter_end_together_and_once(store: Store) -> None:
    workflow = version("orders")
    await store.save_workflow(workflow, replace=False)
    of = trigger(workflow.id)
    await store.add_trigger(of)
    new = firing(of)
    await store.add_firings([new])
    dead = letter(id=new.id, kind="firing", source=new.id, trigger=of.id, run=None, step=None)
    await store.end_firing(1, new.id, state=FiringState.REFUSED, run=None, message="no", letter=dead)
    assert [row.id for row in await store.letters(1, limit=9)] == [new.id]
    await store.drop_letters(1, [new.id])
    await store.end_firing(1, new.id, state=FiringState.ERRORED, run=None, message="again", letter=dead)
    assert await store.letters(1, limit=9) == [], "the firing had ended"
    ended = await store.firing(1, new.id)
    assert ended is not None
    assert ended.state == "refused"


async def test_a_firing_that_has_ended_already_and_its_letter_are_added_together_and_once(store: Store) -> None:
    workflow = version("orders")
    await store.save_workflow(workflow, replace=False)
    of = trigger(workflow.id)
    await store.add_trigger(of)
    new, again, open_ = firing(of, dedup="e"), firing(of, dedup="e"), firing(of)
    for one in (new, again):
        dead = letter(id=one.id, kind="event", source=one.id, trigger=None, run=None, step=None)
        rows = await store.add_firings([one._replace(state=FiringState.ERRORED), open_], letters=[dead])
        assert [row.id for row in rows] == [new.id, open_.id]
    assert [row.id for row in await store.letters(1, limit=9)] == [new.id]
