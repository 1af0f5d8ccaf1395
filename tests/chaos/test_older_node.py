"""A node of the release before the graph form beside one of today, on one database.

The older node is one of today that serves no feature word and that pauses what it cannot read, as the release before
does. The real old code cannot be here: a copy of the sources need not have their history.
"""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from detent.clock import SystemClock
from detent.ids import RUN, show
from detent.store.factory import open_store
from detent.store.url import is_shared
from tests.chaos.cluster import Cluster, eventually

NAP: Final = {"nap": {"sleep": "700ms"}}
PLAIN: Final = {"name": "plain", "tasks": {**NAP, "say": {"action": "core.echo", "needs": "nap"}}}
MAP: Final = {"for_each": [1, 2, 3], "action": "core.echo", "with": {"n": "{{ item }}"}, "needs": "nap"}
#: Workflows with a feature: a map, and a child, which is a run without one.
NEWER: Final[tuple[dict[str, Any], ...]] = (
    {"name": "mapped", "tasks": {**NAP, "each": MAP}},
    {"name": "parent", "tasks": {"child": {"workflow": "plain"}}},
)
EACH: Final = 5


async def _states(url: str) -> dict[str, tuple[str, str]]:
    """Workflow and status of each run that was started from outside."""
    store = await open_store(url, SystemClock())
    try:
        rows = await store.runs(1, limit=100)
        return {show(RUN, row.id): (row.workflow_name, row.status) for row in rows if row.parent is None}
    finally:
        await store.close()


@pytest.mark.slow
def test_an_older_node_leaves_runs_with_new_features_alone(store_url: str, tmp_path: Path) -> None:
    with Cluster(store_url, tmp_path, ()) as cluster:
        older, newer = cluster.add("--older"), cluster.add()
        if is_shared(store_url):
            older.start()
        newer.start()
        for definition in (PLAIN, *NEWER):
            newer.save(definition)
        begun = {newer.begin(definition["name"]) for definition in (PLAIN, *NEWER) for _ in range(EACH)}
        newer.end(signal.SIGKILL)
        if not is_shared(store_url):
            older.start()
        eventually(60.0, lambda: {one["workflow"] for one in older.ask("/open")["open"]} <= {"mapped", "parent"})
        # It goes on with other work, and after each of these it has looked for runs to claim.
        later = {older.begin("plain") for _ in range(EACH)}
        eventually(60.0, lambda: not later & {one["run"] for one in older.ask("/open")["open"]})
        assert older.said("run.quarantined") == []
        assert "cannot be read" not in older.log.read_text()
        older.end(signal.SIGTERM)
        states = Counter(asyncio.run(_states(store_url)).values())
        assert states == {("plain", "completed"): 2 * EACH, ("mapped", "running"): EACH, ("parent", "running"): EACH}
        newer.start()
        eventually(60.0, lambda: not newer.ask("/open")["open"])
        newer.end(signal.SIGTERM)
    ended = asyncio.run(_states(store_url))
    assert set(ended) == begun | later
    assert {status for _, status in ended.values()} == {"completed"}
