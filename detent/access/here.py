"""The database, opened in this process: an engine that starts runs and leaves them to others, in a thread of its own.

So the caller is plain code that asks and gets an answer, and the node behind it lives on between two questions.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import Final

from detent.access.loops import LoopThread
from detent.access.near import NearWay
from detent.assembly import App, assembled
from detent.errors import StoreInUse
from detent.settings import Settings

#: A process that has just taken the file says a moment later where it answers; one that wants no more is gone by then.
_PATIENCE: Final = 3.0
_LOOK_AGAIN: Final = 0.1
#: Seconds that leaving may take. A process that ends does not wait for a database that does not answer.
_LEAVING: Final = 5.0


class Opened:
    """An application without claims, in a thread of its own, until it is closed."""

    def __init__(self, settings: Settings) -> None:
        self._thread, self._stack = LoopThread(), AsyncExitStack()
        try:
            self.way = NearWay(self._open(settings), self._thread.loop)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with suppress(TimeoutError):
            self._thread.call(self._stack.aclose(), _LEAVING)
        self._thread.close()

    def _open(self, settings: Settings) -> App:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._thread.call(self._stack.enter_async_context(assembled(settings)))
            except StoreInUse as error:
                if error.url is not None or time.monotonic() > until:
                    raise
            self._thread.call(asyncio.sleep(_LOOK_AGAIN))


@contextmanager
def open_here(settings: Settings) -> Iterator[NearWay | str]:
    """The API before the database; or, if another process has it, the address where that one answers."""
    try:
        opened = Opened(settings)
    except StoreInUse as error:
        if error.url is None:
            message = f"{error.message}. It does not answer others: use `detent serve`, or PostgreSQL or MariaDB"
            raise StoreInUse(message, pid=error.pid, url=None) from None
        yield error.url
        return
    try:
        yield opened.way
    finally:
        opened.close()
