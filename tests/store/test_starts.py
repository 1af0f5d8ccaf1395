"""Starts that may be refused: by their request id, or because their workflow is not what it was."""

from typing import Any

import pytest

from detent.errors import StoreError
from detent.ids import new_id
from detent.run.journal import Kind
from detent.store.protocol import Store
from detent.store.rows import Flush, NewRun, SavedVersion, StartCheck
from tests.store.make import HOUR, NOON, Node, activation, callback, end, entries, entry, message, park, start, version


async def saved(store: Store, **given: Any) -> SavedVersion:
    made = await store.save_workflow(version(**given), replace=True)
    assert isinstance(made, SavedVersion)
    return made


async def test_a_request_id_starts_one_run_within_a_tenant(store: Store) -> None:
    node = await Node.register(store)
    first, late = start(request_id="once"), start(request_id="once")
    others = [start(request_id="once", tenant=2), start(request_id="Once"), start(), start()]
    assert await node.refused(starts=[first]) == frozenset()
    assert await node.refused(starts=[*others[:2], late, *others[2:]]) == {late.id}
    assert await store.run(1, late.id) is None
    assert [(await store.run(run.tenant, run.id) is not None) for run in [first, *others]] == [True] * 5


async def test_of_two_starts_with_one_request_id_in_a_flush_the_first_is_made(store: Store) -> None:
    node = await Node.register(store)
    late, early = start(request_id="same"), start(request_id="same")
    late, early = sorted([late, early], reverse=True)  # whatever their ids say
    assert await node.refused(starts=[late, start(), early]) == {early.id}
    assert await store.run(1, late.id) is not None


async def test_a_request_id_stays_taken_when_its_run_has_ended(store: Store) -> None:
    node = await Node.register(store)
    first, second = start(request_id="r", owned=True), start(request_id="r", owned=True)
    await node.refused(starts=[first], ends=[end(first.id)])
    assert await node.refused(starts=[second], ends=[end(second.id)]) == {second.id}


async def test_a_start_of_a_workflow_that_is_current_is_made(store: Store) -> None:
    node = await Node.register(store)
    made = await saved(store)
    run = start(workflow=made.id, version=1, check=StartCheck.CURRENT)
    assert await node.refused(starts=[run]) == frozenset()
    assert await store.run(1, run.id) is not None


async def is_refused(store: Store, node: Node, made: SavedVersion, number: int) -> bool:
    checked, unchecked = (
        start(workflow=made.id, version=number, check=check) for check in (StartCheck.CURRENT, StartCheck.NONE)
    )
    refused = await node.refused(starts=[checked, unchecked])
    assert refused <= {checked.id}
    assert (await store.run(1, checked.id) is None) == bool(refused)
    assert await store.run(1, unchecked.id) is not None
    return bool(refused)


async def test_a_start_is_refused_unless_its_workflow_is_there_enabled_and_at_that_version(store: Store) -> None:
    node = await Node.register(store)
    made = await saved(store)
    assert not await is_refused(store, node, made, 1)
    assert await is_refused(store, node, made, 2)
    assert await is_refused(store, node, made._replace(id=new_id()), 1)
    await saved(store, checksum="c2")
    assert await is_refused(store, node, made, 1)
    assert not await is_refused(store, node, made, 2)
    await store.enable_workflow(1, made.id, enabled=False)
    assert await is_refused(store, node, made, 2)
    await store.enable_workflow(1, made.id, enabled=True)
    assert not await is_refused(store, node, made, 2)
    await store.delete_workflow(1, made.id)
    assert await is_refused(store, node, made, 2)


async def test_a_request_id_whose_start_was_refused_for_its_workflow_is_free(store: Store) -> None:
    node = await Node.register(store)
    made = await saved(store)
    stale = start(workflow=made.id, version=7, check=StartCheck.CURRENT, request_id="r")
    good = start(workflow=made.id, version=1, check=StartCheck.CURRENT, request_id="r")
    assert await node.refused(starts=[stale, good]) == {stale.id}
    assert await store.run(1, good.id) is not None


def whole(run: NewRun, target: bytes) -> dict[str, list[Any]]:
    """A start and everything that can belong to it in the same flush."""
    return {
        "starts": [run],
        "entries": [entry(run.id, 1, kind=Kind.REUSED), entry(run.id, 2, kind=Kind.OPENED), *entries(run.id, 4)[2:]],
        "callbacks": [callback(run.id), callback(run.id, "v")],
        "activations": [activation(run.id, until=NOON + HOUR)],
        "ends": [end(run.id)],
        "expiries": [(run.id, "v")],
        "messages": [message(target, run.id, 2)],
    }


async def test_nothing_of_a_refused_start_is_written_and_all_of_its_neighbours(store: Store) -> None:
    node = await Node.register(store)
    target = await node.started()
    await node.flush(starts=[start(request_id="taken")])
    good, bad = start(owned=True, request_id="free"), start(owned=True, request_id="taken")
    parts = [whole(run, target) for run in (bad, good)]
    both = {name: [row for part in parts for row in part[name]] for name in parts[0]}
    flushed = await store.flush(node.id, node.epoch, Flush(**both))
    assert flushed is not None
    assert (set(flushed.refused), set(flushed.expired)) == ({bad.id}, {(good.id, "v")})
    assert await store.run(1, bad.id) is None
    assert await store.journal(1, bad.id) == []
    assert await store.callbacks(1, bad.id) == []
    assert [found.seq for found in await store.journal(1, good.id)] == [1, 2, 3, 4]
    assert sorted((row.step, row.state) for row in await store.callbacks(1, good.id)) == [
        ("v", "expired"),
        ("w", "expired"),
    ]
    row = await store.run(1, good.id)
    assert row is not None
    assert row.status == "completed"
    assert [mail.run for mail in await store.mail(node.id, limit=9)] == [target]


async def test_what_a_flush_says_of_other_runs_is_written_beside_a_refused_start(store: Store) -> None:
    node = await Node.register(store)
    going, parking = await node.started(), await node.started()
    await node.flush(starts=[start(request_id="taken")])
    bad = start(owned=True, request_id="taken")
    refused = await node.refused(
        starts=[bad],
        entries=[entry(going, 1), entry(bad.id, 1)],
        ends=[end(going)],
        parks=[park(parking), park(bad.id)],
    )
    assert refused == {bad.id}
    assert len(await store.journal(1, going)) == 1
    assert await store.owned(node.id) == []


@pytest.mark.parametrize("owned", [True, False])
async def test_a_start_sent_again_counts_as_made_by_its_first_sending(store: Store, owned: bool) -> None:
    node = await Node.register(store)
    made = await saved(store)
    run = start(owned=owned, request_id="r", workflow=made.id, version=1, check=StartCheck.CURRENT)
    late = start(owned=owned, request_id="r")
    parts: dict[str, Any] = {
        "starts": [run, late],
        "entries": [*entries(run.id, 2), *entries(late.id, 2)],
        "callbacks": [callback(run.id)],
    }
    assert await node.refused(**parts) == {late.id}
    await store.enable_workflow(1, made.id, enabled=False)
    raised = await store.raise_epoch(node.id, node.epoch)
    assert raised is not None
    node.epoch = raised
    assert await node.refused(again=True, **parts) == {late.id}
    assert [found.seq for found in await store.journal(1, run.id)] == [1, 2]
    assert await store.journal(1, late.id) == []


async def test_a_start_whose_first_sending_never_arrived_is_made_by_the_second(store: Store) -> None:
    node = await Node.register(store)
    run = start(owned=True, request_id="r")
    assert await node.refused(again=True, starts=[run], entries=entries(run.id, 2)) == frozenset()
    assert len(await store.journal(1, run.id)) == 2


async def test_an_entry_that_is_there_already_is_an_error_beside_checked_starts_too(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await node.flush(entries=[entry(run, 1)])
    new = start(request_id="r")
    with pytest.raises(StoreError):
        await node.flush(starts=[new], entries=[entry(run, 1)])
    assert await store.run(1, new.id) is None


async def test_the_fence_holds_for_checked_starts(store: Store) -> None:
    node = await Node.register(store)
    await store.raise_epoch(node.id, node.epoch)
    run = start(request_id="r")
    assert not await node.flush(starts=[run], entries=entries(run.id, 1), parks=[park(run.id)])
    assert not await node.flush(starts=[run], entries=entries(run.id, 1))
    assert await store.run(1, run.id) is None


async def test_a_thousand_starts_of_which_half_are_refused_are_one_flush(store: Store) -> None:
    node = await Node.register(store)
    await node.flush(starts=[start(request_id=f"r{number}") for number in range(0, 1000, 2)])
    runs = [start(owned=True, request_id=f"r{number}") for number in range(1000)]
    refused = await node.refused(starts=runs, entries=[found for run in runs for found in entries(run.id, 3)])
    assert refused == {run.id for run in runs[::2]}
    journals = await store.journals([run.id for run in runs])
    assert set(journals) == {run.id for run in runs[1::2]}


async def test_a_run_has_the_principal_the_caller_and_the_correlation_id_of_its_start(store: Store) -> None:
    node = await Node.register(store)
    given = {
        "principal": '{"userId":"Ü1","displayName":"O\'Neil \\\\","email":null}',
        "via": "key ci",
        "correlation": "c-7",
    }
    named, half, plain = start(**given), start(correlation="only"), start(owned=True)
    assert await node.refused(starts=[named, half, plain]) == frozenset()
    names = tuple(given)
    rows = [await store.run(1, run.id) for run in (named, half, plain)]
    assert [tuple(getattr(row, name) for name in names) for row in rows] == [
        tuple(given.values()), (None, None, "only"), (None, None, None)
    ]  # fmt: skip
    claimed = {run.id: run for run in await node.claim()}
    assert tuple(getattr(claimed[named.id], name) for name in names) == tuple(given.values())
    assert claimed[half.id].principal is None
