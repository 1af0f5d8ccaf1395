"""The database, opened in this process: an engine that starts runs and leaves them to others, in a thread of its own.

So a command is plain code that asks and gets an answer, and the node behind it lives on while a person thinks about a
question.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

from detent.app import App, running
from detent.errors import StoreInUse
from detent.settings import Settings

if TYPE_CHECKING:
    from detent.cli.inside import Inside

T = TypeVar("T")

#: A process that has just taken the file says a moment later where it answers; another command is gone by then.
_PATIENCE: Final = 3.0
_LOOK_AGAIN: Final = 0.1


class LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="detent", daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Do it there, and wait for what comes of it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def open_here(settings: Settings) -> Iterator[Inside | str]:
    """The API before the database; or, if another process has it, the address where that one answers."""
    thread, stack = LoopThread(), AsyncExitStack()
    try:
        try:
            app = _opened(thread, stack, settings)
        except StoreInUse as error:
            if error.url is None:
                raise
            yield error.url
            return
        # Loaded when it is needed: who talks to another process needs no API in this one.
        from detent.cli.inside import Inside

        yield Inside(app, thread.call)
    finally:
        thread.call(stack.aclose())
        thread.close()


def _opened(thread: LoopThread, stack: AsyncExitStack, settings: Settings) -> App:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return thread.call(stack.enter_async_context(running(settings, claims=False)))
        except StoreInUse as error:
            if error.url is not None or time.monotonic() > until:
                raise
        thread.call(asyncio.sleep(_LOOK_AGAIN))
