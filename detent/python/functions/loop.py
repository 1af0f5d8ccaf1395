"""The event loop of a durable function: it has no clock, no sockets and no threads, only a queue.

Callbacks run in the order in which they were queued, and time does not pass between them. The only input from outside
is the end of an operation, one at a time. So with the same ends in the same order, the same program takes the same
path. This holds for `asyncio.gather`, `TaskGroup`, `timeout`, locks and queues as for plain awaits.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context
from typing import Any, Final, NoReturn

from detent.python.functions.errors import NotInFunction

_running = asyncio._get_running_loop  # noqa: SLF001 - meant for implementations of event loops
_set_running = asyncio._set_running_loop  # noqa: SLF001 - likewise
#: A function that runs this many callbacks without waiting for an operation is in an endless loop.
MOST_CALLBACKS: Final = 100_000


class DoesNotRest(Exception):
    """The function runs endlessly without waiting for anything."""


class FunctionTask(asyncio.Task[Any]):
    """A task whose hash is its number and not its address.

    `asyncio.wait` and `TaskGroup` iterate over sets of tasks. With this hash the order of a set is the same in a
    replay.
    """

    def __init__(self, number: int, coroutine: Coroutine[Any, Any, Any], **options: Any) -> None:
        self._number = number
        super().__init__(coroutine, **options)

    def __hash__(self) -> int:
        return self._number


Timer = Callable[[asyncio.TimerHandle], None]


class FunctionLoop(asyncio.AbstractEventLoop):
    """The event loop of one durable function.

    `now` is its time, in seconds. It calls `timer` for every timer that is set, and `called_off` for every timer that
    is cancelled. `owner` is the `Run` whose function runs here. Every other method of a loop raises NotInFunction,
    whose message names the alternative.
    """

    def __init__(self, now: float, timer: Timer, called_off: Timer) -> None:
        self.now, self._timer, self._called_off = now, timer, called_off
        self._queue: deque[asyncio.Handle] = deque()
        self._numbers = 0
        self.tasks: list[FunctionTask] = []
        self.is_closing = False
        self.owner: Any = None
        self._has_generators = False  # whether the function has started an async generator

    def run(self) -> None:
        """Run callbacks until the function waits for an operation. Raise DoesNotRest if it never does.

        This must not be called from within a task.
        """
        if not self._queue:
            return
        outside, hooks = _running(), sys.get_asyncgen_hooks()
        _set_running(self)
        sys.set_asyncgen_hooks(
            self._note_generator, None
        )  # the engine's loop must not finish the function's generators
        try:
            self._run_queued()
        finally:
            _set_running(outside)
            sys.set_asyncgen_hooks(*hooks)

    def _run_queued(self) -> None:
        queue = self._queue
        for _ in range(MOST_CALLBACKS):
            if not queue:
                return
            handle = queue.popleft()
            if not handle.cancelled():
                try:
                    handle._run()  # noqa: SLF001 - as every loop does
                except (SystemExit, KeyboardInterrupt):
                    continue  # only the task that tried to exit the process has ended
        raise DoesNotRest

    def _note_generator(self, _: object) -> None:
        self._has_generators = True

    def close(self) -> None:
        """Close every coroutine. `finally` and `except` blocks run, but what they await never ends.

        Closing a coroutine does not close the async generators that it iterates over. If the function has started any,
        its tasks are cancelled first, as the end of an ordinary loop does.
        """
        self.is_closing = True
        outside, hooks = _running(), sys.get_asyncgen_hooks()
        _set_running(self)
        sys.set_asyncgen_hooks(None, None)
        try:
            if self._has_generators:
                self._cancel_tasks()
            for task in self.tasks:
                if not task.done():
                    _take_down(task)
        finally:
            _set_running(outside)
            sys.set_asyncgen_hooks(*hooks)
            self._queue.clear()
            self.tasks.clear()
            self._timer = self._called_off = _ignore  # drops the references to objects that have ended
            self.owner = None

    def _cancel_tasks(self) -> None:
        for task in self.tasks:
            task.cancel()
        with suppress(DoesNotRest):
            self._run_queued()

    def refuse(self, what: str) -> NoReturn:
        """Raise NotInFunction: the function itself did what only its steps may do."""
        raise NotInFunction(what)

    # -- what asyncio asks of a loop

    def time(self) -> float:
        return self.now

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_soon(  # type: ignore[override]  # it takes any callback
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._queue.append(handle)
        return handle

    def call_later(  # type: ignore[override]  # likewise
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]  # likewise
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        if not self.is_closing:
            handle._scheduled = True  # type: ignore[attr-defined]  # noqa: SLF001 - so asyncio reports its cancellation
            self._timer(handle)
        return handle

    def ring(self, handle: asyncio.TimerHandle) -> None:
        """Queue the callback of a timer whose time has come."""
        self._queue.append(handle)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self._called_off(handle)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> FunctionTask:
        """Return a task. An operation, which needs no task, gets one too, so that a TaskGroup accepts it."""
        if asyncio.isfuture(coro):
            coro = _awaited(coro)
        self._numbers += 1
        task = FunctionTask(self._numbers, coro, loop=self, name=name or f"task-{self._numbers}", context=context)
        self.tasks.append(task)
        if len(self.tasks) > 1_000 and self._numbers % 1_000 == 0:
            self.tasks = [task for task in self.tasks if not task.done()]
        return task

    def get_task_factory(self) -> None:
        """Return None: only `create_task` makes tasks. Libraries ask before they start a group of tasks."""

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Ignore errors that were never retrieved, so that a live function and its replay behave alike."""


def _ignore(_: asyncio.TimerHandle) -> None:
    """Ignore the timers of a closed loop."""


async def _awaited(future: asyncio.Future[Any]) -> Any:
    return await future


def _take_down(task: FunctionTask) -> None:
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001 - that is the intention
    coroutine = task.get_coro()
    assert isinstance(coroutine, Coroutine | Generator)
    try:
        coroutine.close()
    except BaseException:  # noqa: BLE001 - a coroutine that refuses to close is left as it is
        return


def _refuse(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NotInFunction(name)

    return refuse


for _name in dir(asyncio.AbstractEventLoop):
    if not _name.startswith("_") and _name not in FunctionLoop.__dict__:
        setattr(FunctionLoop, _name, _refuse(_name))
