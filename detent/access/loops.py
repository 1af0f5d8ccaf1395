"""An event loop in a thread of its own, for programs that have none or another one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any, Final, TypeVar

T = TypeVar("T")

#: Seconds a thread gets to end by itself; it is a daemon, so a process never hangs on it.
_PATIENCE: Final = 5.0


class LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, name="detent", daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Do it there, and wait for what comes of it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_PATIENCE)
        if not self._thread.is_alive():
            self.loop.close()
