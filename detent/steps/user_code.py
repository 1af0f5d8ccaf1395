"""A bounded pool of threads for plain functions.

Unlike the standard pool its threads never keep the process from ending: a function that hangs cannot be killed, and a
node that is told to stop must be able to.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Final, Generic, TypeVar

from detent.values.text import UNSHOWN, plain_text

# What is kept of an exception of the user's code: its kind, message and traceback, as text that any store takes.
#
# Nothing here raises or trusts the exception: its class, its attributes and its texts are the user's too.


LONGEST_KIND: Final = 200
LONGEST_MESSAGE: Final = 1000
LONGEST_TRACEBACK: Final = 8 * 1024


def describe(error: BaseException) -> str:
    """`ValueError: no funds`."""
    return f"{class_name(error)}: {error_message(error)}"


def class_name(error: BaseException) -> str:
    """The name of its class."""
    try:
        return plain_text(type(error).__name__, LONGEST_KIND)
    except BaseException:  # noqa: BLE001 - a class of a metaclass that raises
        return UNSHOWN


def qualified_name(error: BaseException) -> str:
    """The name of its class with its module, unless that is Python's own."""
    try:
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    except BaseException:  # noqa: BLE001 - as above
        name = UNSHOWN
    return plain_text(name, LONGEST_KIND)


def error_message(error: BaseException) -> str:
    """The error's message, even where asking for it fails."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - an exception whose __str__ raises is still a failure of its code
        text = "(its message cannot be shown)"
    return plain_text(text, LONGEST_MESSAGE)


def traceback_of(error: BaseException) -> str:
    """The end of the traceback, which names the place."""
    try:
        text = "".join(traceback.format_exception(error))
    except BaseException:  # noqa: BLE001 - as above
        return ""
    return plain_text(text[-LONGEST_TRACEBACK:], LONGEST_TRACEBACK)


def exception_detail(error: BaseException) -> dict[str, str]:
    """Return the `detail` of an error that stands for this exception: its class and the end of its traceback."""
    return {"type": qualified_name(error), "traceback": traceback_of(error)}


Result = TypeVar("Result")

#: Called in a thread after each function it carried out; what they raise is passed over. Frameworks that keep something
#: per thread, such as a database connection, look after it here.
TIDYING: Final[list[Callable[[], None]]] = []


class Escaped(RuntimeError):
    """A function raised that was to make a result of everything. Its error is the cause: it is not raised itself, since
    some errors mean something to whoever awaits them."""


class _Order(Generic[Result]):
    """One function to be called, and the future its result goes to."""

    def __init__(self, function: Callable[[], Result]) -> None:
        self._function = function
        self._context: Context = copy_context()
        self._loop = asyncio.get_running_loop()
        self.result: asyncio.Future[Result] = self._loop.create_future()

    def execute(self) -> None:
        # Given up while it waited in the queue: nobody wants its effect any more.
        if self.result.cancelled():
            return
        result = self._context.run(self._function)
        # The loop may be closed by now; then nobody is left to tell.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._deliver, result)

    def fail(self, error: BaseException) -> None:
        escaped = Escaped(f"the function raised {describe(error)}")
        escaped.__cause__ = error
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._deliver_error, escaped)

    def _deliver(self, result: Result) -> None:
        if not self.result.done():
            self.result.set_result(result)

    def _deliver_error(self, error: Escaped) -> None:
        if not self.result.done():
            self.result.set_exception(error)


class ThreadPool:
    """Up to `limit` threads, made when needed; when all are busy, calls wait their turn."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._orders: queue.SimpleQueue[_Order[object] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads = 0

    async def run(self, function: Callable[[], Result]) -> Result:
        """What the function gives back, or Escaped. Cancelled, a running function goes on and is forgotten."""
        return await self.order(function)

    def order(self, function: Callable[[], Result]) -> asyncio.Future[Result]:
        """The same, for those who do not wait in a coroutine."""
        order = _Order(function)
        self._orders.put(order)  # type: ignore[arg-type]  # a queue of orders of any result
        if not self._idle.acquire(blocking=False) and self._threads < self._limit:
            self._add_thread(order)
        return order.result

    def close(self) -> None:
        """Let idle threads go; busy ones go when they are done."""
        for _ in range(self._threads):
            self._orders.put(None)

    def _add_thread(self, order: _Order[Result]) -> None:
        try:
            threading.Thread(target=self._work, name=f"detent-action-{self._threads}", daemon=True).start()
        except RuntimeError:
            # The machine has no more threads: those we have will come to it. Without any it is given up.
            if self._threads == 0:
                order.result.cancel()
                raise
        else:
            self._threads += 1

    def _work(self) -> None:
        while (order := self._orders.get()) is not None:
            try:
                order.execute()
            except BaseException as error:  # noqa: BLE001 - a thread outlives whatever a function does
                order.fail(error)
            if TIDYING:
                _tidy()
            del order
            self._idle.release()


def _tidy() -> None:
    for tidy in TIDYING:
        with suppress(BaseException):
            tidy()
