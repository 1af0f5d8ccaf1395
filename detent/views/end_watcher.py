"""Notify waiters when runs have ended, on any node: one query to the store for the awaited runs of a tenant."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from detent.clock import Clock
from detent.errors import StoreError
from detent.observe import emit
from detent.store.protocol import Store
from detent.views.pace import Pace

_AT_ONCE: Final = 500


@dataclass(slots=True)
class _Watched:
    over: asyncio.Future[None]
    watchers: int = 0


class EndWatcher:
    """The awaited runs of this process. It polls the store only while there are waiters, and retries after errors."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._pace = Pace(clock)
        self._watched: dict[tuple[int, bytes], _Watched] = {}
        self._runs: Counter[bytes] = Counter()
        self._asking: asyncio.Task[None] | None = None

    @contextmanager
    def watch(self, tenant: int, run: bytes) -> Iterator[asyncio.Future[None]]:
        """Return a future that is done when the run has ended or does not exist. `close` cancels it."""
        key = (tenant, run)
        watched = self._watched.get(key)
        if watched is None:
            self._runs[run] += 1
            watched = self._watched[key] = _Watched(asyncio.get_running_loop().create_future())
            self._pace.nudge()
        watched.watchers += 1
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_on())
        try:
            yield watched.over
        finally:
            watched.watchers -= 1
            if not watched.watchers:
                del self._watched[key]
                self._runs -= Counter((run,))
            if not self._watched:
                self._stop()

    def nudge(self, run: bytes) -> None:
        """Poll the store now, because this run may have ended."""
        if run in self._runs:
            self._pace.nudge()

    async def close(self) -> None:
        """Cancel all futures and stop polling."""
        for watched in self._watched.values():
            watched.over.cancel()
        asking = self._stop()
        if asking is not None:
            await asyncio.gather(asking, return_exceptions=True)

    def _stop(self) -> asyncio.Task[None] | None:
        asking, self._asking = self._asking, None
        if asking is not None:
            asking.cancel()
        return asking

    async def _ask_on(self) -> None:
        is_away = False
        while True:
            self._pace.look()
            waiting: dict[int, list[bytes]] = {}
            for (tenant, run), watched in self._watched.items():
                if not watched.over.done():
                    waiting.setdefault(tenant, []).append(run)
            found = False
            try:
                for tenant, runs in waiting.items():
                    for first in range(0, len(runs), _AT_ONCE):
                        ended = await self._store.for_tenant(tenant).ended(tenant, runs[first : first + _AT_ONCE])
                        found |= self._notify(tenant, ended)
                is_away = False
            except StoreError as error:
                if not is_away:
                    emit("engine.error", where="endings", error=error.message)
                is_away = True
            if waiting:
                await self._pace.rest(found=found)
            else:
                await self._pace.nudged()

    def _notify(self, tenant: int, ended: set[bytes]) -> bool:
        for run in ended:
            watched = self._watched.get((tenant, run))
            if watched is not None and not watched.over.done():
                watched.over.set_result(None)
        return bool(ended)
