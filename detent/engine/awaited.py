"""Those who wait for this node to write the end of a run."""

from __future__ import annotations

import asyncio


class Awaited:
    """A future for each of them, by run."""

    def __init__(self) -> None:
        self._futures: dict[bytes, list[asyncio.Future[None]]] = {}

    def end_of(self, run: bytes) -> asyncio.Future[None]:
        """Done when this node has written the run's end; cancelled if there is no such run after all."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures.setdefault(run, []).append(future)
        return future

    def has_ended(self, run: bytes) -> None:
        for future in self._futures.pop(run, ()):
            if not future.done():
                future.set_result(None)

    def is_not_there(self, run: bytes) -> None:
        for future in self._futures.pop(run, ()):
            future.cancel()
