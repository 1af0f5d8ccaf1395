"""Caches of graphs and workflows keep by what they weigh, and not by how many there are."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from detent.engine.cache import CACHE_BYTES, ByteCache, GraphCache, WorkflowCache, weight
from detent.errors import NotFound
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.ids import new_id
from detent.store.memory.store import MemoryStore
from detent.store.rows import NewVersion
from tests.engine.rig import TENANT, VirtualClock, virtual


class Counting(MemoryStore):
    """Counts what is asked of it."""

    def __init__(self) -> None:
        super().__init__(VirtualClock())
        self.loaded: list[Any] = []

    async def graphs(self, versions: Any) -> Any:
        self.loaded += versions
        return await super().graphs(versions)

    async def workflow(self, tenant: int, key: bytes | str) -> Any:
        self.loaded.append(key)
        await asyncio.sleep(0.1)
        return await super().workflow(tenant, key)


def encoded(steps: int, note: str = "") -> bytes:
    tasks = [{"name": f"s{number}", "url": f"http://x.test/{note}"} for number in range(steps)]
    return codec.encode(compile_steps({"name": "w", "tasks": tasks}).graph)


async def save(store: MemoryStore, number: int, raw: bytes) -> bytes:
    id_ = new_id()
    facts = json.dumps({"type": "api"})
    await store.save_workflow(
        NewVersion(TENANT, id_, f"w{number}", "steps", None, True, facts, None, "", raw, "c", 1), replace=False
    )
    return id_


def test_the_oldest_are_dropped_when_all_weigh_too_much_and_not_before() -> None:
    cache = ByteCache[int, str](1_000)
    for number in range(10):
        cache.put(number, "x", 100)
    assert (len(cache), cache.bytes) == (10, 1_000)
    cache.renew(0)
    cache.put(10, "y", 250)
    assert [number in cache for number in range(11)] == [True, False, False, False, *[True] * 7]
    assert cache.bytes == 950
    cache.put(10, "z", 50)
    cache.pop(4)
    cache.pop(99)
    assert (cache.bytes, cache.get(10), cache.get(4)) == (650, "z", None)


def test_one_that_weighs_more_than_all_may_is_kept_alone() -> None:
    cache = ByteCache[str, str](100)
    cache.put("a", "a", 60)
    cache.put("huge", "b", 1_000)
    assert (cache.get("a"), cache.get("huge"), cache.bytes) == (None, "b", 1_000)
    cache.put("a", "a", 60)
    assert (cache.get("a"), cache.get("huge"), cache.bytes) == ("a", None, 60)


@virtual
async def test_thousands_of_small_graphs_are_loaded_once() -> None:
    store = Counting()
    raw = encoded(1)
    versions = [(await save(store, number, raw), 1) for number in range(3_000)]
    graphs = GraphCache(store)
    for _ in range(2):
        assert len(await graphs.get(versions)) == 3_000
    workflows = WorkflowCache(store, graphs)
    assert len(store.loaded) == 3_000
    store.loaded.clear()
    for _ in range(2):
        for number in range(3_000):
            await workflows.startable(TENANT, f"w{number}")
    assert len(store.loaded) == 3_000


@virtual
async def test_large_graphs_are_dropped_by_their_bytes() -> None:
    store = Counting()
    raws = [encoded(40, f"{number:04}" + "x" * 3_000) for number in range(60)]
    fitting = CACHE_BYTES // weight(len(raws[0]))
    assert fitting < 60
    versions = [(await save(store, number, raw), 1) for number, raw in enumerate(raws)]
    graphs = GraphCache(store)
    for version, raw in zip(versions, raws, strict=True):
        graphs.put(version, "w", raw)
    await graphs.get(versions[-fitting:])
    assert store.loaded == []
    assert len(await graphs.get(versions)) == 60, "those that are asked for together are there together"
    assert store.loaded == versions[: 60 - fitting]


@virtual
async def test_starts_that_miss_the_cache_together_share_one_read() -> None:
    store = Counting()
    await save(store, 1, encoded(1))
    workflows = WorkflowCache(store, GraphCache(store))
    crowd = [asyncio.create_task(workflows.startable(TENANT, "w1")) for _ in range(500)]
    await asyncio.sleep(0)
    crowd.pop(0).cancel()  # the caller that began the read gives up
    assert {ready.name for ready in await asyncio.gather(*crowd)} == {"w1"}
    assert store.loaded == ["w1"]
    unknown = await asyncio.gather(*(workflows.startable(TENANT, "w2") for _ in range(9)), return_exceptions=True)
    assert [type(error) for error in unknown] == [NotFound] * 9
    assert store.loaded == ["w1", "w2"]
