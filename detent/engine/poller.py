"""A background chore is one method: `poll` does a batch and says how long to wait until the next."""

from __future__ import annotations

import asyncio
from typing import Protocol

from detent.engine.committer import Fenced
from detent.errors import StoreError
from detent.observe import emit


class Poller(Protocol):
    """Something done again and again."""

    name: str

    async def poll(self) -> float:
        """Do a batch; give the seconds until the next one is due."""


class Polling:
    """Runs a poller for ever. Trouble with the store is told and tried again; `nudge` cuts the pause short."""

    def __init__(self, poller: Poller, *, after_trouble: float = 0.5) -> None:
        self._poller = poller
        self._after_trouble = after_trouble
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        self._nudged.set()

    async def work(self) -> None:
        while True:
            self._nudged.clear()
            try:
                pause = await self._poller.poll()
            except Fenced:
                raise
            except StoreError as error:
                emit("engine.error", where=self._poller.name, error=error.message)
                pause = self._after_trouble
            _stop_if_told()
            if pause > 0:
                await self._pause(pause)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._nudged.wait()
        except TimeoutError:
            return


def _stop_if_told() -> None:
    """A cancellation may be lost in what a poll calls, with an error or without, and nobody says it twice: who waits
    for this to end would wait for ever."""
    this = asyncio.current_task()
    if this is not None and this.cancelling():
        raise asyncio.CancelledError
