"""A thread that owns one connection and does one thing at a time."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from detent.errors import CommitUnknown, StoreBusy, StoreError

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
_Item = tuple[Work[Any], "asyncio.AbstractEventLoop | None", "asyncio.Future[Any] | None"]

_PRIMARY: Final = 0xFF  # the low byte of an extended result code


class Worker:
    """Calls run in the order they came. `writes`: what fails on the disk may or may not have been applied."""

    def __init__(self, connection: sqlite3.Connection, *, name: str, writes: bool) -> None:
        self._connection, self._writes = connection, writes
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def call(self, work: Work[T]) -> T:
        """Run `work` with the connection and give its result, with its errors in our words."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put((work, loop, future))
        return await future

    def post(self, work: Work[Any]) -> None:
        """Run `work` when its turn comes; nobody waits for it."""
        self._queue.put((work, None, None))

    def close(self) -> None:
        """End when everything that was asked for is done."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            work, loop, future = item
            result, error = self._attempt(work)
            if loop and future:
                with contextlib.suppress(RuntimeError):  # the loop that asked is gone
                    loop.call_soon_threadsafe(_settle, future, result, error)

    def _attempt(self, work: Work[Any]) -> tuple[Any, BaseException | None]:
        try:
            return work(self._connection), None
        except Exception as error:  # noqa: BLE001 - it belongs to whoever asked
            with contextlib.suppress(sqlite3.Error):
                self._connection.rollback()
            return None, translated(error, writing=self._writes)


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


def translated(error: Exception, *, writing: bool) -> Exception:
    """An error of SQLite in our words."""
    if not isinstance(error, sqlite3.Error):
        return error
    said = StoreError(f"SQLite: {error}")
    match getattr(error, "sqlite_errorcode", 0) & _PRIMARY:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            said = StoreBusy(f"SQLite: {error}")
        case sqlite3.SQLITE_FULL:
            said = StoreBusy("SQLite: the disk is full; nothing was written")
        case sqlite3.SQLITE_IOERR if writing:
            # The bytes may have reached the disk all the same, and count after a restart.
            said = CommitUnknown(f"SQLite: {error}: the disk failed while something was written")
    said.__cause__ = error
    return said
