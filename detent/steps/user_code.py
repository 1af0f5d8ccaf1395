"""Runs user code: inline, on the event loop or in a thread.

Every executor runs user code with the parts of this module, so that the same rules hold for every kind of step:

- An exception becomes a result: `failed(error)` makes it. Nothing that user code raises ends the node.
- Code that did not end within its time limit has failed with `TimeLimit`, whatever it does after that.
- A cancellation of the attempt passes through. A `CancelledError` that the code raised by itself is its failure.
- Plain functions share a bounded pool of threads. Python cannot stop a thread: a function that is given up runs to its
  end, and its result is ignored. A function with a transaction has a `CommitGuard` and rolls back instead.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, TypeVar

from detent.run.links import InvalidLink
from detent.run.outcomes import Fail, StepError
from detent.steps.errors import (
    EXCEPTION,
    ActionError,
    InvalidParameters,
    OutputTooLarge,
    Permanent,
    Unserialisable,
    code_of,
    wait_of,
)
from detent.values.text import UNSHOWN, plain_text

Result = TypeVar("Result")

#: How many plain functions of users a node runs at once.
THREADS: Final = 32
#: Called in a thread after each function that ran there; exceptions are ignored. A framework that has objects per
#: thread, such as a database connection, cleans up here.
TIDYING: Final[list[Callable[[], None]]] = []

#: Where the modules of Detent are.
_OURS: Final = f"{Path(__file__).parents[1]}{os.sep}"
LONGEST_KIND: Final = 200
LONGEST_MESSAGE: Final = 1000
LONGEST_TRACEBACK: Final = 8 * 1024
#: Errors that a retry would not avoid, with their codes.
_PERMANENT: Final[dict[type[Exception], str]] = {
    InvalidParameters: "invalid_parameters",
    Unserialisable: "unserialisable",
    OutputTooLarge: "output_too_large",
    InvalidLink: "invalid_link",
}


class TimeLimit(TimeoutError):
    """User code did not end within its time limit."""

    def __init__(self, limit: float) -> None:
        super().__init__(f"the step did not end within {limit:g} s")


# -- failures


def failure_of(error: BaseException) -> Fail:
    """Return the outcome of user code that raised this error. Never raise.

    Only the class of the error decides: its attributes are code of the user, too, and may raise.
    """
    kind = type(error)
    for known, code in _PERMANENT.items():
        if issubclass(kind, known):
            return Fail(StepError(code, error_message(error)), retry=False)
    if issubclass(kind, ActionError):
        stored = StepError(code_of(error), error_message(error))
        return Fail(stored, retry=not issubclass(kind, Permanent), retry_after=wait_of(error))
    if kind is TimeLimit:
        return Fail(StepError("timeout", error_message(error)), timed_out=True)
    return Fail(StepError(EXCEPTION, describe(error), exception_detail(error)))


def describe(error: BaseException) -> str:
    """Return the class and message of an error: `ValueError: no funds`."""
    return f"{class_name(error)}: {error_message(error)}"


def class_name(error: BaseException) -> str:
    """Return the name of the error's class, even if its metaclass raises."""
    try:
        return plain_text(type(error).__name__, LONGEST_KIND)
    except BaseException:  # noqa: BLE001 - a metaclass of the user may raise anything
        return UNSHOWN


def qualified_name(error: BaseException) -> str:
    """Return the name of the error's class with its module. Python's own classes have no module here."""
    try:
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    except BaseException:  # noqa: BLE001 - as above
        name = UNSHOWN
    return plain_text(name, LONGEST_KIND)


def error_message(error: BaseException) -> str:
    """Return the error's message, even if its `__str__` raises."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - as above
        text = "(its message cannot be shown)"
    return plain_text(text, LONGEST_MESSAGE)


def traceback_end(error: BaseException) -> str:
    """Return the end of the error's traceback, which names the failing line. The frames of Detent before the code of
    the user are left out, so that there is room for its own."""
    try:
        text = "".join(traceback.format_exception(type(error), error, _users_frames(error)))
    except BaseException:  # noqa: BLE001 - as above
        return ""
    return plain_text(text[-LONGEST_TRACEBACK:], LONGEST_TRACEBACK)


def _users_frames(error: BaseException) -> TracebackType | None:
    """Return the traceback from the first frame that is not Detent's, or the whole of it if there is none."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename.startswith(_OURS):
        frame = frame.tb_next
    return frame or error.__traceback__


def exception_detail(error: BaseException) -> dict[str, str]:
    """Return the `detail` of a step error for this exception: its class and the end of its traceback."""
    return {"type": qualified_name(error), "traceback": traceback_end(error)}


# -- inline and on the loop


def run_inline(code: Callable[[], Result], failed: Callable[[BaseException], Result]) -> Result:
    """Call user code here and return its result, or what `failed` makes of its exception."""
    try:
        return code()
    except BaseException as error:  # noqa: BLE001 - nothing that user code raises may end the node
        return failed(error)


async def run_on_loop(
    code: Callable[[], Awaitable[Result]],
    failed: Callable[[BaseException], Result],
    *,
    limit: float | None = None,
    guard: CommitGuard | None = None,
) -> Result:
    """Await user code and return its result, or what `failed` makes of its exception or of its time limit.

    `guard` belongs to a transaction that the code runs in a thread. Such code is ended by its limit only before its
    transaction has begun; after that, the transaction rolls back and the code ends with it.
    """
    if guard is not None:
        return await _run_guarded(code, failed, limit, guard)
    if limit is not None:
        return await _run_limited(code, failed, limit, None)
    try:
        return await code()
    except BaseException as error:  # if this coroutine was closed, its result is not used
        if isinstance(error, asyncio.CancelledError) and is_cancelled():
            raise
        return failed(error)


async def _run_limited(
    code: Callable[[], Awaitable[Result]],
    failed: Callable[[BaseException], Result],
    limit: float,
    deadline: asyncio.Timeout | None,
) -> Result:
    deadline = deadline or asyncio.timeout(limit)
    try:
        async with deadline:
            result = await code()
    except BaseException as error:  # as above
        if isinstance(error, asyncio.CancelledError) and is_cancelled():
            raise
        if not deadline.expired():
            return failed(error)
    else:
        if not deadline.expired():
            return result
    return failed(TimeLimit(limit))


async def _run_guarded(
    code: Callable[[], Awaitable[Result]],
    failed: Callable[[BaseException], Result],
    limit: float | None,
    guard: CommitGuard,
) -> Result:
    timer = None
    try:
        if limit is None:
            return await run_on_loop(code, failed)
        deadline = asyncio.timeout(None)
        timer = asyncio.get_running_loop().call_later(limit, _expire, deadline, guard, limit)
        return await _run_limited(code, failed, limit, deadline)
    finally:
        if timer is not None:
            timer.cancel()
        guard.give_up(_cancelled())


def is_cancelled() -> bool:
    """Return whether the current task is being cancelled. If not, a CancelledError comes from user code."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _expire(deadline: asyncio.Timeout, guard: CommitGuard, limit: float) -> None:
    if guard.give_up(TimeLimit(limit)):
        deadline.reschedule(asyncio.get_running_loop().time())


def _cancelled() -> RuntimeError:
    return RuntimeError("the attempt was cancelled")


# -- in threads


class CommitGuard:
    """Decides whether the transaction of a function in a thread still counts.

    The transaction locks the row of its run. So the attempt must know whether it has begun: if not, it never will; if
    so, it rolls back when the function returns, and only then is the attempt over. `reason` is why it was given up.
    """

    __slots__ = ("_has_begun", "_lock", "reason")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._has_begun = False
        self.reason: Exception | None = None

    def give_up(self, reason: Exception) -> bool:
        """Make the transaction roll back, if it is not committed yet. Return True if it has not begun and never will.

        The first reason counts.
        """
        with self._lock:
            if self.reason is None:
                self.reason = reason
            return not self._has_begun

    def hold(self, transaction: Callable[[], Result]) -> Result:
        """Run the transaction, in the thread, and return its result. Raise the reason if it was given up."""
        with self._lock:
            if self.reason is not None:
                raise self.reason
            self._has_begun = True
        try:
            return transaction()
        except BaseException as error:
            # A database that ends a transaction for taking too long raises its own error.
            self.check(error)
            raise

    def check(self, error: BaseException | None = None) -> None:
        """Raise the reason, in the thread, if the transaction was given up; it then rolls back."""
        reason = self.reason
        if reason is not None and reason is not error:
            raise reason from error


class ThreadPool:
    """Up to `limit` threads for plain functions, started when needed. If all are busy, calls wait in a queue.

    Its threads are daemons: a function that hangs cannot be stopped, and must not keep the process from ending.
    """

    def __init__(self, limit: int = THREADS) -> None:
        self._limit = limit
        self._calls: queue.SimpleQueue[ThreadCall[Any] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads = 0

    def submit(
        self, code: Callable[[], Result], failed: Callable[[BaseException], Result], *, limit: float | None = None
    ) -> asyncio.Future[Result]:
        """Call user code in a thread. The future gets its result, or what `failed` makes of its exception or limit.

        If the future is cancelled, code that waits in the queue never runs, and the result of running code is ignored.
        """
        call = ThreadCall(code, failed)
        if limit is not None:
            timer = asyncio.get_running_loop().call_later(limit, call.expire, limit)
            call.future.add_done_callback(lambda _: timer.cancel())
        self._start(call)
        return call.future

    async def run_guarded(
        self, code: Callable[[], Result], failed: Callable[[BaseException], Result], guard: CommitGuard
    ) -> Result:
        """Call user code that runs a transaction under this guard.

        If this is cancelled, it ends when the transaction has ended, because that locks the run. A second cancellation
        does not wait.
        """
        future = self.submit(code, failed)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if guard.give_up(_cancelled()):
                future.cancel()
            else:
                await future
            raise

    def close(self) -> None:
        """End idle threads now and busy ones after their call. Nothing may be submitted after that."""
        threads, self._threads = self._threads, 0
        for _ in range(threads):
            self._calls.put(None)

    def _start(self, call: ThreadCall[Any]) -> None:
        self._calls.put(call)
        if self._idle.acquire(blocking=False) or self._threads >= self._limit:
            return
        try:
            threading.Thread(target=self._work, name=f"detent-action-{self._threads}", daemon=True).start()
        except RuntimeError as error:
            # The machine has no thread left. The threads of this pool will take the call, if there are any.
            if self._threads == 0:
                call.deliver_failure(error)
        else:
            self._threads += 1

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call.run()
            for tidy in TIDYING:
                with suppress(BaseException):
                    tidy()
            del call
            self._idle.release()


class ThreadCall(Generic[Result]):
    """One call of user code in a thread, and the future that gets its result."""

    __slots__ = ("_code", "_context", "_failed", "_loop", "future")

    def __init__(self, code: Callable[[], Result], failed: Callable[[BaseException], Result]) -> None:
        self._code = code
        self._failed = failed
        self._context = copy_context()
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Result] = self._loop.create_future()

    def run(self) -> None:
        """Call the code in this thread and send its result to the loop. Never raise."""
        try:
            if self.future.done():
                return  # given up while it waited in the queue
            result = self.execute()
            with suppress(RuntimeError):  # the loop is closed, and the result is not used
                self._loop.call_soon_threadsafe(self.deliver, result)
        except BaseException as error:  # noqa: BLE001 - e.g. one that another thread raised here; this thread goes on
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.deliver_failure, error)

    def execute(self) -> Result:
        """Call the code in its context and return its result, or what `failed` makes of its exception."""
        return self._context.run(run_inline, self._code, self._failed)

    def deliver(self, result: Result) -> None:
        """Set the result of the future, on the loop, unless it was given up."""
        if not self.future.done():
            self.future.set_result(result)

    def deliver_failure(self, error: BaseException) -> None:
        """Set what `failed` makes of this error. If that raises, the future raises RuntimeError."""
        if self.future.done():
            return
        try:
            self.future.set_result(self._failed(error))
        except BaseException as second:  # noqa: BLE001 - a future that is never done would leave its caller waiting
            self.future.set_exception(RuntimeError(f"the error {describe(error)} led to {describe(second)}"))

    def expire(self, limit: float) -> None:
        """End the call, on the loop, because its time is over."""
        self.deliver_failure(TimeLimit(limit))
