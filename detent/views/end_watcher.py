"""Notify waiters when runs have ended or one of their steps has, on any node: one query to the store, or two with
steps, for all awaited runs of a tenant."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from detent.clock import Clock
from detent.errors import StoreError
from detent.graph.model import Ending
from detent.observe import emit
from detent.run.journal import Entry
from detent.store.protocol import Store
from detent.views.pace import Pace

_AT_ONCE: Final = 500
_NO_STEPS: Final[frozenset[str]] = frozenset()

#: Tenant, run, and the steps of it that are awaited beside its end.
_Key = tuple[int, bytes, frozenset[str]]


@dataclass(slots=True)
class _Watched:
    over: asyncio.Future[Entry | None]
    watchers: int = 0


class EndWatcher:
    """The awaited runs of this process. It polls the store only while there are waiters, and retries after errors."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._pace = Pace(clock)
        self._watched: dict[_Key, _Watched] = {}
        self._runs: Counter[bytes] = Counter()
        self._asking: asyncio.Task[None] | None = None

    @contextmanager
    def watch(
        self, tenant: int, run: bytes, steps: frozenset[str] = _NO_STEPS
    ) -> Iterator[asyncio.Future[Entry | None]]:
        """Return a future that is done when the run has ended or does not exist, or when one of the steps has
        succeeded: then it has the entry of that step. `close` cancels it."""
        key = (tenant, run, steps)
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
        """Poll the store now, because this run may have ended, or a step of it."""
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
            waiting: dict[int, list[_Key]] = {}
            for key, watched in self._watched.items():
                if not watched.over.done():
                    waiting.setdefault(key[0], []).append(key)
            found = False
            try:
                for tenant, keys in waiting.items():
                    for first in range(0, len(keys), _AT_ONCE):
                        found |= await self._ask(tenant, keys[first : first + _AT_ONCE])
                is_away = False
            except Exception as error:  # noqa: BLE001 - waiters must not wait for ever because of one answer
                if not is_away:
                    reason = error.message if isinstance(error, StoreError) else f"{type(error).__name__}: {error}"
                    emit("engine.error", where="endings", error=reason)
                is_away = True
            if waiting:
                await self._pace.rest(found=found)
            else:
                await self._pace.nudged()

    async def _ask(self, tenant: int, keys: Collection[_Key]) -> bool:
        """Ask which of these are over, and notify their watchers. The end of a run is read first: an entry that is not
        there afterwards will never be."""
        store = self._store.for_tenant(tenant)
        ended = await store.ended(tenant, list({run for _, run, _ in keys}))
        stepped = [run for _, run, steps in keys if steps]
        names = {name for _, _, steps in keys for name in steps}
        ends = await store.step_ends(tenant, stepped, sorted(names)) if stepped else []
        succeeded: dict[bytes, list[Entry]] = {}
        for entry in ends:
            if entry.outcome == Ending.SUCCESS:
                succeeded.setdefault(entry.run, []).append(entry)
        found = False
        for key in keys:
            found |= self._notify(key, ended, succeeded)
        return found

    def _notify(self, key: _Key, ended: Collection[bytes], succeeded: Mapping[bytes, list[Entry]]) -> bool:
        _, run, steps = key
        entry = next((one for one in succeeded.get(run, ()) if one.step in steps), None)
        watched = self._watched.get(key)
        if (entry is None and run not in ended) or watched is None or watched.over.done():
            return False
        watched.over.set_result(entry)
        return True
