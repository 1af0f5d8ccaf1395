"""Lists, counts and searches of runs: the same on every store."""

import asyncio
import json
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from detent.ids import new_id
from detent.instant import SECOND
from detent.run.journal import Kind
from detent.run.stage import StageKind
from detent.store.list_rows import HeroRow, Range, RunGroup, RunGroups, StepCounts
from detent.store.protocol import Store
from detent.store.rows import NewRun, RunCriteria
from tests.store.make import HOUR, NOON, WORKFLOW, Node, end, entry, park, start, version


async def found(store: Store, runs: list[NewRun], **given: Any) -> list[int]:
    """The places of the runs that a filter finds: by a list, by a bounded list and by a count alike."""
    where, ids = RunCriteria(**given), [run.id for run in runs]
    rows = await store.runs(1, limit=99, where=where)
    listed = await store.look_at_runs(1, limit=99, most=50, where=where)
    marks = await store.mark_runs(1, limit=99, most=50, where=where)
    older = await store.look_at_runs(1, limit=99, most=50, where=where, oldest_first=True)
    assert [row.id for row in rows] == [row.id for row in listed.rows] == [row.id for row in marks.rows]
    assert [row.id for row in rows] == [row.id for row in reversed(older.rows)]
    assert (listed.end, marks.end, older.end) == (None, None, None)
    assert await store.count_runs(1, where=where, limit=99) == len(rows)
    groups = await store.group_runs(1, limit=99, most=50, where=where)
    assert (groups.counts.total(), groups.end) == (len(rows), None)
    return sorted(ids.index(row.id) for row in rows)


def stage_of(kind: str | None, step: str | None = None) -> dict[str, Any]:
    return {"stage": kind, "stage_step": step}


async def test_every_stage_is_found_by_its_name(store: Store) -> None:
    node = await Node.register(store)
    later = NOON + HOUR
    rows = {
        StageKind.RUNNING: start(owned=True),
        StageKind.QUEUED: start(wake_at=NOON),
        StageKind.WAITING: start(wake_at=None, **stage_of("waiting", "ask")),
        StageKind.PERSON: start(wake_at=None, **stage_of("person", "approve")),
        StageKind.CHILD: start(wake_at=None, **stage_of("child")),
        StageKind.SLEEPING: start(wake_at=later, **stage_of("sleeping")),
        StageKind.RETRYING: start(wake_at=later, **stage_of("retrying")),
        StageKind.DELAYED: start(wake_at=later, status="pending"),
        StageKind.PAUSED: start(wake_at=None, status="paused", **stage_of("paused")),
        StageKind.UNCERTAIN: start(wake_at=None, status="paused", **stage_of("uncertain")),
    }
    assert set(rows) == set(StageKind)
    runs = list(rows.values())
    await node.flush(starts=[*runs, start(tenant=2, wake_at=later, **stage_of("sleeping"))])
    for place, kind in enumerate(rows):
        assert await found(store, runs, stages=(kind,), now=NOON) == [place], kind
    assert await found(store, runs, stages=("child", "paused", "delayed", "running"), now=NOON) == [0, 4, 7, 8]
    assert await found(store, runs, stages=("child",), statuses=("failed",), now=NOON) == []
    assert await found(store, runs, stages=("delayed",), statuses=("running",), now=NOON) == []
    assert await found(store, runs, stages=("sleeping",), now=later) == [], "its time has come"
    assert await found(store, runs, stages=("queued",), now=later) == [1, 5, 6, 7]
    assert await found(store, runs, statuses=("paused", "pending", "running")) == list(range(10))
    assert await found(store, runs, statuses=("paused",), stages=("uncertain",), now=NOON) == [9]


async def test_a_stage_of_an_older_generation_does_not_count(store: Store) -> None:
    node = await Node.register(store)
    run = start(owned=True)
    await node.flush(starts=[run])
    await node.flush(parks=[park(run.id, wake_at=NOON - 1)._replace(stage="child")])
    assert await found(store, [run], stages=("queued",), now=NOON) == [0]
    await node.claim()
    await node.flush(parks=[park(run.id, 2, wake_at=None)])
    assert await found(store, [run], stages=("child",), now=NOON) == []
    assert await found(store, [run], stages=("waiting",), now=NOON) == [0], "parked, without a word for what"
    await node.claim()


async def test_an_ended_run_has_no_stage(store: Store) -> None:
    node = await Node.register(store)
    run = start(owned=True)
    await node.flush(starts=[run])
    await node.flush(ends=[end(run.id)])
    for kind in StageKind:
        assert await found(store, [run], stages=(kind,), now=NOON) == []


async def test_runs_are_found_by_version_ids_and_ranges_of_ids(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True, version=number) for number in (1, 2, 2, 3)]
    await node.flush(starts=runs)
    assert await found(store, runs, version=2) == [1, 2]
    assert await found(store, runs, ids=(runs[3].id, runs[0].id, new_id())) == [0, 3]
    assert await found(store, runs, ids=(runs[3].id, runs[0].id), version=3) == [3]
    assert await found(store, runs, first=runs[1].id, last=runs[3].id) == [1, 2]
    assert await found(store, runs, first=runs[1].id, last=runs[3].id, workflow=WORKFLOW) == [1, 2]
    await node.flush(ends=[end(run.id, status="failed", ended_at=NOON + place) for place, run in enumerate(runs)])
    assert await found(store, runs, ended_after=NOON + 2) == [2, 3]
    assert await found(store, runs, ended_after=NOON + 2, statuses=("failed",), first=runs[3].id) == [3]


AWKWARD = ["50% off_", "it's", "a|b", "back\\slash", 'quo"te', "[x]", "ünï"]


@pytest.mark.parametrize("word", AWKWARD)
async def test_a_text_is_found_wherever_a_person_would_look_for_it(store: Store, word: str) -> None:
    node = await Node.register(store)
    saved = await store.save_workflow(version(name=f"w-{word}"), replace=False)
    workflow: bytes = saved.id  # type: ignore[union-attr]
    inside = f"<{word}>"
    runs = [
        start(owned=True),
        start(owned=True, workflow=workflow),
        start(owned=True, hero_type="t", hero_id=inside),
        start(owned=True, labels=json.dumps({"k": inside, "other": "x"})),
        start(owned=True, request_id=inside),
        start(stage="sleeping", stage_step=inside),
        start(owned=True, labels=json.dumps({"k": inside.replace(word[0], "")}, ensure_ascii=False)),
        start(owned=True, hero_type=inside),
    ]
    await node.flush(starts=runs)
    await node.flush(ends=[end(runs[0].id, status="failed", error=f"it said: {inside}")])
    assert await found(store, runs, text=word) == [0, 1, 2, 3, 4, 5]
    assert await found(store, runs, text=f"{word}!") == []
    assert await found(store, runs, error=word) == [0]
    assert await found(store, runs, text=word, statuses=("failed",)) == [0]


async def test_the_case_of_letters_does_not_matter(store: Store) -> None:
    node = await Node.register(store)
    await store.save_workflow(version(id=WORKFLOW, name="Orders"), replace=False)
    runs = [
        start(owned=True, workflow=new_id(), labels='{"a":"Blue"}'),
        start(owned=True, hero_type="t", hero_id="BLUE-7"),
    ]
    await node.flush(starts=runs)
    await node.flush(ends=[end(runs[1].id, status="failed", error="Payment Refused")])
    assert await found(store, runs, text="blue") == [0, 1]
    assert await found(store, runs, text="bLUE-") == [1]
    assert await found(store, runs, text="oRDER") == [1]
    assert await found(store, runs, error="payment refused") == [1]


async def test_a_run_is_found_by_the_end_of_its_id(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True) for _ in range(3)]
    await node.flush(starts=runs)
    assert await found(store, runs, text="zzzz", id_end=runs[1].id.hex()[-8:]) == [1]


async def test_labels_with_a_zero_character_hinder_no_search(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(labels='{"a":"\\u0000"}'), start(labels='{"a":"blue"}')]
    await node.flush(starts=runs)
    assert await found(store, runs, text="blue") == [1]


@pytest.mark.parametrize("oldest_first", [False, True])
async def test_a_list_looks_at_so_many_runs_and_then_goes_on_behind_them(store: Store, oldest_first: bool) -> None:
    node = await Node.register(store)
    runs = [start(labels='{"x":"1"}' if place in (3, 10, 11) else None) for place in range(20)]
    await node.flush(starts=runs)
    ids = [run.id for run in runs]
    where, cursor, seen, slices = RunCriteria(labels=(("x", "1"),)), None, [], 0
    while True:
        part = await store.look_at_runs(1, limit=5, most=4, where=where, cursor=cursor, oldest_first=oldest_first)
        seen += [ids.index(row.id) for row in part.rows]
        slices += 1
        if part.end is None:
            break
        assert cursor is None or (part.end > cursor if oldest_first else part.end < cursor)
        cursor = part.end
    assert seen == ([3, 10, 11] if oldest_first else [11, 10, 3])
    assert slices == 6, "five times four runs, and then none is left"


async def test_a_full_page_ends_at_its_last_row(store: Store) -> None:
    node = await Node.register(store)
    runs = [start() for _ in range(5)]
    await node.flush(starts=runs)
    part = await store.look_at_runs(1, limit=2, most=100)
    assert ([row.id for row in part.rows], part.end) == ([runs[4].id, runs[3].id], runs[3].id)


async def test_a_listed_run_has_what_its_row_has(store: Store) -> None:
    node = await Node.register(store)
    await store.save_workflow(version(id=WORKFLOW), replace=False)
    parent = new_id()
    run = start(
        owned=True, parent=parent, opening=b'{"family":{"step":"s"}}', hero_type="t", hero_id="1", labels='{"a":"b"}',
        request_id="r", origin=new_id(), origin_kind="retry", expires_at=NOON + HOUR, fired_by=new_id(),
    )  # fmt: skip
    alone = start(opening=b'{"skipped":["a"]}')
    await node.flush(starts=[run, alone])
    row = await store.run(1, run.id)
    [other, listed] = (await store.look_at_runs(1, limit=9, most=9)).rows
    assert row is not None
    for name in listed._fields:
        if name != "family":
            assert getattr(listed, name) == getattr(row, name), name
    assert (listed.family, other.family) == (run.opening, None)


async def test_the_steps_that_ended_are_counted_without_their_data(store: Store) -> None:
    node = await Node.register(store)
    one, two, none = [await node.started() for _ in range(3)]
    rows = [
        entry(one, 1, step="a", kind=Kind.RETRY, outcome="failed"),
        entry(one, 2, step="a"),
        entry(one, 3, step="b", outcome="failed"),
        entry(one, 4, step="b", outcome="failed"),
        entry(one, 5, step="c", outcome="timeout"),
        entry(two, 1, step="s#1", kind=Kind.CHECKPOINT),
        entry(two, 2, step=None, kind=Kind.PAUSED, outcome=None),
        entry(none, 1, step="a", kind=Kind.STARTED, outcome=None),
    ]
    await node.flush(entries=rows)
    assert await store.count_steps(1, [one, two, none, new_id()]) == {one: StepCounts(3, 2), two: StepCounts(1, 0)}
    assert await store.count_steps(1, []) == {}


async def test_runs_are_counted_by_ranges_of_their_ids(store: Store) -> None:
    node = await Node.register(store)
    other = new_id()
    runs = [start(owned=True), start(workflow=other, owned=True), start(owned=True, trigger="map"), start(owned=True)]
    runs += [start(stage="sleeping"), start(status="paused", stage="paused"), start(tenant=2)]
    await node.flush(starts=runs)
    await node.flush(ends=[end(runs[0].id), end(runs[1].id, status="failed")])
    bounds = [runs[0].id, runs[2].id, runs[4].id, b"\xff" * 16]

    async def count(**given: Any) -> list[int]:
        return await store.count_in_ranges(1, Range(**given), bounds)

    assert await count() == [2, 2, 2]
    assert await count(workflow=other) == [1, 0, 0]
    assert await count(status="failed") == [1, 0, 0]
    assert await count(status="failed", workflow=WORKFLOW) == [0, 0, 0]
    assert await count(status="paused") == [0, 0, 1]
    assert await count(is_open=True) == [0, 2, 0]
    assert await count(is_open=True, stage="sleeping") == [0, 0, 1]
    assert await count(pages=True) == [0, 1, 0]
    every = [await store.count_in_ranges(1, Range(), [low, high]) for low, high in pairwise(bounds)]
    assert every == [[2], [2], [2]]


async def test_runs_are_counted_by_what_lists_are_narrowed_by_part_for_part(store: Store) -> None:
    node = await Node.register(store)
    red, blue = '{"c":"red"}', '{"c":"blue"}'
    runs = [
        start(owned=True, labels=red),
        start(owned=True, labels=blue, version=2),
        start(stage="sleeping", labels=red, trigger="cron"),
        start(status="paused", stage="paused"),
        start(owned=True, labels=red),
    ]
    await node.flush(starts=[*runs, start(tenant=2)])
    await node.flush(ends=[end(runs[0].id, status="failed"), end(runs[1].id, status="timeout")])
    one = [RunGroup(WORKFLOW, run.version, run.status, run.trigger) for run in runs]
    one[0], one[1] = one[0]._replace(status="failed"), one[1]._replace(status="timeout")

    async def groups(limit: int, most: int, cursor: bytes | None = None, **given: Any) -> RunGroups:
        return await store.group_runs(1, limit=limit, most=most, where=RunCriteria(**given), cursor=cursor)

    assert await groups(9, 9) == (Counter(one), {red: 3, blue: 1}, None)
    assert await groups(2, 9) == (Counter(one[3:]), {red: 1}, runs[3].id)
    assert await groups(9, 9, runs[3].id) == (Counter(one[:3]), {red: 2, blue: 1}, None)
    assert await groups(9, 2, version=1) == (Counter(one[3:]), {red: 1}, runs[3].id)
    assert await groups(9, 3, runs[3].id, version=1) == (Counter([one[0], one[2]]), {red: 2}, runs[0].id)
    assert await groups(1, 9, statuses=("failed", "timeout")) == ({one[1]: 1}, {blue: 1}, runs[1].id)
    assert await groups(9, 9, statuses=("running", "paused")) == (Counter(one[2:]), {red: 2}, None)


async def test_open_runs_are_counted_by_workflow_and_version(store: Store) -> None:
    node = await Node.register(store)
    other = new_id()
    runs = [
        start(owned=True, workflow=other),
        start(stage="sleeping", version=2),
        start(status="paused", stage="paused", version=2),
        start(owned=True, trigger="map"),
        start(owned=True),
        start(owned=True),
    ]
    await node.flush(starts=[*runs, start(tenant=2)])
    await node.flush(ends=[end(runs[5].id)])
    assert await store.count_open(1, limit=99) == {(other, 1): 1, (WORKFLOW, 2): 2, (WORKFLOW, 1): 1}
    assert await store.count_open(1, limit=3) == {(WORKFLOW, 2): 1, (WORKFLOW, 1): 1}, "the newest, a page among them"


async def test_a_deleted_workflow_has_its_name_still(store: Store) -> None:
    ids: list[bytes] = []
    for name in ("kept", "deleted"):
        saved = await store.save_workflow(version(name=name), replace=False)
        ids.append(saved.id)  # type: ignore[union-attr]
    await store.delete_workflow(1, ids[1])
    assert await store.workflow_names(1, [*ids, new_id()]) == {ids[0]: "kept", ids[1]: "deleted"}
    assert await store.workflow_names(1, []) == {}


async def test_failures_are_counted_by_when_they_happened(store: Store) -> None:
    node = await Node.register(store)
    runs = [await node.started() for _ in range(4)]
    statuses = ("failed", "timeout", "completed", "failed")
    ends = [
        end(run, status=status, ended_at=NOON + place)
        for place, (run, status) in enumerate(zip(runs, statuses, strict=True))
    ]
    await node.flush(ends=ends)
    assert await store.count_failed(1, since=NOON, limit=10) == 3
    assert await store.count_failed(1, since=NOON + 1, limit=10) == 2
    assert await store.count_failed(1, since=NOON, limit=2) == 2
    assert await store.count_failed(2, since=NOON, limit=10) == 0


async def test_stuck_runs_are_late_or_their_node_is_gone(store: Store) -> None:
    node, gone = await Node.register(store), await Node.register(store)
    runs = [
        start(wake_at=NOON), start(wake_at=NOON + 1), start(wake_at=None),
        start(wake_at=NOON, queue="other", priority=-3), start(wake_at=NOON, tenant=2), start(owned=True),
    ]  # fmt: skip
    await node.flush(starts=runs)
    lost = await gone.started()
    await store.retire(gone.id)
    assert await store.stuck(1, before=NOON, limit=10) == sorted([runs[0].id, runs[3].id, lost])
    assert await store.stuck(1, before=NOON - SECOND, limit=10) == [lost]
    assert len(await store.stuck(1, before=NOON, limit=2)) == 2


async def test_heroes_are_listed_by_type_and_prefix(store: Store) -> None:
    node = await Node.register(store)
    heroes = [
        ("order", "a-1"),
        ("order", "a-2"),
        ("order", "B"),
        ("order", "b"),
        ("user", "a-1"),
        ("Zed", "1"),
        ("order", "a-1"),
    ]
    runs = [start(hero_type=type_, hero_id=id_) for type_, id_ in heroes]
    await node.flush(starts=[*runs, start(tenant=2, hero_type="secret", hero_id="1"), start()])
    assert await store.hero_types(1, limit=9) == ["Zed", "order", "user"]
    assert await store.hero_types(1, limit=2) == ["Zed", "order"]
    assert await store.heroes(1, "order", limit=9) == [
        HeroRow("order", "B", 1, runs[2].id),
        HeroRow("order", "a-1", 2, runs[6].id),
        HeroRow("order", "a-2", 1, runs[1].id),
        HeroRow("order", "b", 1, runs[3].id),
    ]
    assert [one.id for one in await store.heroes(1, "order", prefix="a-", limit=9)] == ["a-1", "a-2"]
    assert [one.id for one in await store.heroes(1, "order", prefix="a-", after="a-1", limit=9)] == ["a-2"]
    assert [one.id for one in await store.heroes(1, "order", after="a-1", limit=1)] == ["a-2"]
    assert await store.heroes(1, "nothing", limit=9) == []


async def test_a_run_that_is_claimed_and_parked_meanwhile_is_missing_from_no_list(store: Store) -> None:
    node = await Node.register(store)
    run = start(owned=True)
    await node.flush(starts=[run])
    where = RunCriteria(statuses=("running",))

    async def move(generation: int) -> None:
        await node.flush(parks=[park(run.id, generation, wake_at=NOON)._replace(stage="waiting")])
        [claimed] = await node.claim()
        assert claimed.generation == generation + 1

    for generation in range(1, 21):
        moving = asyncio.create_task(move(generation))
        assert [row.id for row in await store.runs(1, limit=9, where=where)] == [run.id]
        assert [row.id for row in (await store.look_at_runs(1, limit=9, most=50, where=where)).rows] == [run.id]
        assert await store.count_runs(1, where=where, limit=9) == 1
        await moving
