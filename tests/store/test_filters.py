"""Runs that are looked for."""

import json
from typing import Any

import pytest

from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import NewRun, RunCriteria
from tests.store.make import NOON, WORKFLOW, Node, end, start


async def found(store: Store, runs: list[NewRun], **given: Any) -> list[int]:
    """The places of the runs that a filter finds, which must be as many as are counted, and the rows that they are
    alone: a database may change the type of a column in a union."""
    where = RunCriteria(**given)
    rows = await store.runs(1, limit=99, where=where)
    assert rows == [await store.run(1, row.id) for row in rows]
    assert await store.count_runs(1, where=where, limit=99) == len(rows)
    assert await store.count_runs(1, where=where, limit=1) == min(1, len(rows))
    return sorted([run.id for run in runs].index(row.id) for row in rows)


async def test_each_part_of_a_filter_narrows_by_itself_and_all_do_together(store: Store) -> None:
    node = await Node.register(store)
    some = {name: new_id() for name in ("workflow", "fired_by", "origin", "parent")}
    texts = {"trigger": "cron", "hero_type": "order", "hero_id": "42", "request_id": "r-1"}
    every = start(owned=True, **some, **texts, labels='{"a":"b"}', started_at=NOON + 5)
    runs = [start(owned=True), every, start(owned=True, tenant=2)]
    await node.flush(starts=runs)
    for name, value in {**some, **texts}.items():
        assert await found(store, runs, **{name: value}) == [1], name
        assert await found(store, runs, **{name: new_id() if name in some else "'"}) == [], name
    assert await found(store, runs) == [0, 1]
    assert await found(store, runs, started_after=NOON + 5) == [1]
    assert await found(store, runs, started_after=NOON + 6) == []
    assert await found(store, runs, started_before=NOON + 5) == [0]
    assert await found(store, runs, started_before=NOON + 6, started_after=NOON) == [0, 1]
    together = {**some, **texts, "labels": (("a", "b"),), "started_after": NOON, "statuses": ("running",)}
    assert await found(store, runs, **together) == [1]
    assert await found(store, runs, **{**together, "hero_id": "43"}) == []


async def test_statuses_are_narrowed_to_any_of_those_given(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True) for _ in range(5)]
    await node.flush(starts=runs)
    ended = ("completed", "failed", "cancelled", "failed")
    await node.flush(ends=[end(run.id, status=status) for run, status in zip(runs, ended, strict=False)])
    assert await found(store, runs, statuses=("failed",)) == [1, 3]
    assert await found(store, runs, statuses=("cancelled", "failed")) == [1, 2, 3]
    assert await found(store, runs, statuses=("running", "failed")) == [1, 3, 4]
    assert await found(store, runs, statuses=("completed",), workflow=WORKFLOW) == [0]


AWKWARD = ["a.b", 'quote"d', "it's", "$", "$.a", "[0]", "ü n ï", "a\\b", "\\u0061", "%", "'; drop table run; --", ""]


@pytest.mark.case("F4")
@pytest.mark.parametrize("key", AWKWARD)
async def test_f4_labels_are_found_whatever_stands_in_them(store: Store, key: str) -> None:
    node = await Node.register(store)
    labelled = [{key: "v"}, {"k": key}, {key: "other"}, {"k": "v"}, {key: key, "k": "v"}]
    runs = [start(labels=json.dumps(labels)) for labels in labelled]
    runs += [start(labels=json.dumps(labelled[4], ensure_ascii=False)), start()]
    await node.flush(starts=runs)
    assert await found(store, runs, labels=((key, "v"),)) == [0]
    assert await found(store, runs, labels=(("k", key),)) == [1]
    assert await found(store, runs, labels=((key, key),)) == [4, 5]
    assert await found(store, runs, labels=((key, key), ("k", "v"))) == [4, 5]
    assert await found(store, runs, labels=((key, "v"), (key, "other"))) == []


async def test_a_label_is_text_and_nothing_else(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(labels='{"a":1}'), start(labels='{"a":"1"}'), start(labels='{"a":{"b":"1"}}'), start(labels="{}")]
    await node.flush(starts=runs)
    assert await found(store, runs, labels=(("a", "1"),)) == [1]
    assert await found(store, runs, labels=(("a.b", "1"),)) == []
    assert await found(store, runs, labels=(("b", "1"),)) == []


async def test_a_label_that_a_database_cannot_hold_hinders_no_search(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(labels='{"a":"\\u0000"}'), start(labels='{"a":"b"}')]
    await node.flush(starts=runs)
    assert await found(store, runs, labels=(("a", "b"),)) == [1]


async def test_runs_are_paged_in_both_directions(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(hero_type="h") for _ in range(6)]
    await node.flush(starts=[*runs, start()])
    ids = [run.id for run in runs]
    where = RunCriteria(hero_type="h")

    async def page(cursor: bytes | None, oldest_first: bool) -> list[int]:
        rows = await store.runs(1, limit=4, where=where, cursor=cursor, oldest_first=oldest_first)
        return [ids.index(row.id) for row in rows]

    assert await page(None, False) == [5, 4, 3, 2]
    assert await page(ids[2], False) == [1, 0]
    assert await page(None, True) == [0, 1, 2, 3]
    assert await page(ids[3], True) == [4, 5]


async def test_which_runs_have_ended_is_known_of_many_at_once(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True) for _ in range(300)]
    await node.flush(starts=runs)
    await node.flush(ends=[end(run.id) for run in runs[:100]])
    gone = new_id()
    assert await store.ended(1, [run.id for run in runs] + [gone]) == {run.id for run in runs[:100]} | {gone}
    assert await store.ended(1, [runs[200].id]) == set()
    assert await store.ended(1, []) == set()
