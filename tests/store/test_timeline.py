"""Everything that happened to one hero, in the order of time."""

from __future__ import annotations

from detent.run.journal import Kind
from detent.store.list_rows import RUN_STARTED, TimelineRow
from detent.store.protocol import Store
from tests.store.make import NOON, Node, end, entry, start, version

ANN = ("User", "ann")
HERO = {"hero_type": "User", "hero_id": "ann"}


def told(found: list[TimelineRow]) -> list[tuple[int, str, str | None]]:
    return [(one.entry.at - NOON, one.entry.kind, one.entry.step) for one in found]


async def test_entries_of_all_runs_of_a_hero_are_merged_by_time_with_the_start_of_each(store: Store) -> None:
    node = await Node.register(store)
    await store.save_workflow(saved := version("signup"), replace=False)
    first = start(owned=True, workflow=saved.id, started_at=NOON, **HERO)
    second = start(owned=True, started_at=NOON + 5, **HERO)
    others = [
        start(owned=True, hero_type="User", hero_id="bob"),
        start(owned=True, tenant=2, **HERO),
        start(owned=True),
    ]
    await node.flush(
        starts=[first, second, *others],
        entries=[
            entry(first.id, 1, at=NOON + 2, step="a"),
            entry(first.id, 2, at=NOON + 9, step="b"),
            entry(second.id, 1, at=NOON + 7, step="x", kind=Kind.RETRY, attempt=2, outcome="failed", data=b'{"ms":1}'),
            *(entry(run.id, 1, tenant=run.tenant) for run in others),
        ],
        ends=[end(first.id)],
    )
    found = await store.timeline(1, ANN, limit=99)
    assert told(found) == [
        (0, RUN_STARTED, None),
        (2, "ended", "a"),
        (5, RUN_STARTED, None),
        (7, "retry", "x"),
        (9, "ended", "b"),
    ]
    assert [one.workflow_name for one in found] == ["signup", "signup", "", "", "signup"]
    assert found[3].entry == entry(
        second.id, 1, at=NOON + 7, step="x", kind=Kind.RETRY, attempt=2, outcome="failed", data=b'{"ms":1}'
    )
    assert (found[0].entry.seq, found[0].entry.run, found[0].entry.data) == (0, first.id, b"{}")


async def test_pages_of_a_timeline_follow_each_other_even_within_one_instant(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True, **HERO) for _ in range(3)]
    written = [entry(run.id, seq, at=NOON + seq // 3) for run in runs for seq in range(1, 6)]
    await node.flush(starts=runs, entries=written)
    whole = await store.timeline(1, ANN, limit=99)
    assert len(whole) == 18
    pieces: list[TimelineRow] = []
    while page := await store.timeline(1, ANN, limit=4, after=pieces[-1].place() if pieces else None):
        pieces += page
    assert pieces == whole


async def test_a_run_that_has_not_begun_is_not_in_the_timeline(store: Store) -> None:
    node = await Node.register(store)
    later = start(status="pending", started_at=NOON + 9, wake_at=NOON + 9, **HERO)
    never = start(status="pending", started_at=NOON + 9, owned=True, **HERO)
    await node.flush(starts=[later])
    await node.flush(starts=[never], entries=[entry(never.id, 1, at=NOON + 1, kind=Kind.CANCELLED, step=None)])
    await node.flush(ends=[end(never.id, ended_at=NOON + 1, status="cancelled")])
    assert told(await store.timeline(1, ANN, limit=9)) == [(1, "cancelled", None)]
    [claimed] = await node.claim()
    assert claimed.id == later.id
    assert told(await store.timeline(1, ANN, limit=9))[-1] == (9, RUN_STARTED, None)
