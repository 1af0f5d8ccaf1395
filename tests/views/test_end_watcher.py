"""Waiters learn of the end of a run, whatever the store did meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, cast

import pytest

from detent.clock import SystemClock
from detent.errors import StoreBusy
from detent.ids import new_id
from detent.observe import listen
from detent.store.protocol import Store
from detent.views.end_watcher import EndWatcher


class FailingOnce:
    """A store whose first answer is an error. Every run has ended."""

    def __init__(self, error: Exception) -> None:
        self._errors = [error]

    def for_tenant(self, tenant: int) -> FailingOnce:
        del tenant
        return self

    async def ended(self, tenant: int, runs: Sequence[bytes]) -> Collection[bytes]:
        del tenant
        if self._errors:
            raise self._errors.pop()
        return runs


@pytest.mark.parametrize("error", [StoreBusy("the database is away"), ValueError("a row that no code expected")])
async def test_a_waiter_learns_of_the_end_although_a_look_failed(error: Exception) -> None:
    watcher = EndWatcher(cast("Store", FailingOnce(error)), SystemClock())
    errors: list[dict[str, Any]] = []
    stop = listen(lambda name, facts: errors.append(facts) if name == "engine.error" else None)
    try:
        with watcher.watch(1, new_id()) as over:
            assert await asyncio.wait_for(over, 300) is None
    finally:
        stop()
        await watcher.close()
    assert [str(error) in facts["error"] for facts in errors] == [True]
