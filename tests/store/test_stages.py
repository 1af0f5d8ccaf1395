"""What a parked run waits for is written with its row, and goes when a node takes the run."""

from detent.store.protocol import Store
from detent.store.rows import NewRun, RunRow
from tests.store.make import NOON, Node, end, park, start


async def _row(store: Store, run: bytes) -> RunRow:
    row = await store.run(1, run)
    assert row is not None
    return row


async def _stage(store: Store, run: bytes) -> tuple[str | None, str | None, bool]:
    row = await _row(store, run)
    return row.stage, row.stage_step, row.stage_epoch == row.generation


async def test_a_park_writes_the_stage_and_a_claim_clears_it(store: Store) -> None:
    node = await Node.register(store)
    runs = [await node.started() for _ in range(3)]
    stages = [("sleeping", "nap"), ("waiting", "it's \\ here"), (None, None)]
    parks = [park(run)._replace(stage=kind, stage_step=step) for run, (kind, step) in zip(runs, stages, strict=True)]
    await node.flush(parks=[one._replace(wake_at=NOON - 1) for one in parks])
    for run, (kind, step) in zip(runs, stages, strict=True):
        assert await _stage(store, run) == (kind, step, True)
    assert {run.id for run in await node.claim()} == set(runs)
    for run in runs:
        assert await _stage(store, run) == (None, None, False)
    await node.flush(ends=[end(run, 2) for run in runs])
    for run in runs:
        assert (await _row(store, run)).stage is None


async def test_a_run_can_start_with_a_stage(store: Store) -> None:
    node = await Node.register(store)
    some: list[NewRun] = [start(stage="waiting", stage_step="ask", wake_at=None), start(), start(request_id="r")]
    await node.flush(starts=some)
    assert await _stage(store, some[0].id) == ("waiting", "ask", True)
    assert (await _row(store, some[1].id)).stage is None
    assert (await _row(store, some[2].id)).stage is None


async def test_a_run_that_starts_and_parks_in_one_flush_has_the_stage_of_its_park(store: Store) -> None:
    node = await Node.register(store)
    for given in ({}, {"request_id": "r"}):
        run = start(owned=True, **given)
        await node.flush(starts=[run, start()], parks=[park(run.id)._replace(stage="child", stage_step="c")])
        assert await _stage(store, run.id) == ("child", "c", True)


async def test_a_stage_that_older_code_left_is_seen_to_be_old(store: Store) -> None:
    """Code of an older revision changes neither column when it claims and parks. Its claim raises the generation."""
    node = await Node.register(store)
    run = await node.started()
    await node.flush(parks=[park(run, wake_at=NOON - 1)._replace(stage="sleeping", stage_step="nap")])
    row = await _row(store, run)
    assert row.stage_epoch == row.generation
    [claimed] = await node.claim()
    assert claimed.generation != row.stage_epoch
