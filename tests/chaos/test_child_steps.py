"""A parent survives its node dying at every moment of the start and the end of its children."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from pathlib import Path

import pytest

from detent.clock import SystemClock
from detent.store.factory import open_store
from detent.store.rows import RunRow
from tests.chaos.cluster import Cluster, eventually

CHILDREN = 3
CHILD = {
    "name": "child",
    "tasks": {"nap": {"sleep": "300ms"}, "say": {"action": "core.echo", "needs": "nap"}},
    "output": {"n": "{{ trigger.body.n }}"},
}
PARENT = {
    "name": "parent",
    "tasks": {f"c{n}": {"workflow": "child", "with": {"n": n}} for n in range(CHILDREN)}
    | {"apart": {"workflow": "child", "wait": False, "with": {"n": 7}}},
    "output": {"sum": "{{ tasks.c0.output.n + tasks.c1.output.n + tasks.c2.output.n }}"},
}
#: The places where the node dies, and at which passing. The first flush has the start of the parent.
MOMENTS = (
    *(("before_flush", count) for count in (1, 2, 3, 4, 5, 6)),
    *(("after_flush", count) for count in (1, 2, 3, 4, 5, 6)),
    *(("before_effect", count) for count in (1, 3, 5)),
    *(("after_effect", count) for count in (1, 3, 5)),
    *(("after_start", count) for count in (1, 2, 4)),
    ("before_park", 1),
    ("after_claim", 1),
)


async def _runs(url: str) -> list[RunRow]:
    store = await open_store(url, SystemClock())
    try:
        return list(await store.runs(1, limit=100))
    finally:
        await store.close()


@pytest.mark.slow
@pytest.mark.parametrize(("place", "count"), MOMENTS)
def test_each_child_is_started_and_counted_once(place: str, count: int, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    with Cluster(url, tmp_path, ()) as cluster:
        node = cluster.add(failpoint=f"{place}:{count}").start()
        for definition in (CHILD, PARENT):
            node.save(definition)
        with contextlib.suppress(OSError):  # it died before it could answer; then the run may not be there
            node.begin("parent", {})
        assert node.wait() == -signal.SIGKILL
        other = cluster.add().start()
        eventually(60.0, lambda: not other.ask("/open")["open"])
        other.end(signal.SIGTERM)
    rows = asyncio.run(_runs(url))
    parents = [row for row in rows if row.parent is None]
    if not parents:
        assert (place, count) == ("before_flush", 1)
        return
    [parent] = parents
    assert (parent.status, json.loads(parent.output or b"null")) == ("completed", {"sum": 3})
    children = [row for row in rows if row.parent == parent.id]
    assert sorted(json.loads(row.output or b"{}").get("n") for row in children) == [0, 1, 2, 7]
    assert {row.status for row in children} == {"completed"}
