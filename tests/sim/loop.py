"""An event loop whose time is virtual, and which chooses the next handle by a seed: same seed, same trace."""

from __future__ import annotations

import asyncio
import heapq
import random
from asyncio import events
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar
from typing import Any, TypeVarTuple, cast

Ts = TypeVarTuple("Ts")


class Process:
    """One process of the simulated world: what it schedules is lost when it dies and waits while it is paused."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.paused_until = 0.0
        self.context = Context()
        self.context.run(PROCESS.set, self)
        self.stashed: list[asyncio.Handle] = []

    def __repr__(self) -> str:
        return self.name


#: Whose code is running; null is the outside world and the database.
PROCESS: ContextVar[Process | None] = ContextVar("PROCESS", default=None)
OUTSIDE = Context()


class _Task(asyncio.Task[Any]):
    """A task whose place in a set does not depend on where it lies in memory: asyncio's groups iterate over sets."""

    def __init__(self, number: int, coro: Any, loop: asyncio.AbstractEventLoop, context: Context | None) -> None:
        self._number = number
        super().__init__(coro, loop=loop, context=context)

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self is other


class SimLoop(asyncio.AbstractEventLoop):
    """The part of an event loop that plain asyncio code needs. Time passes only when nothing is left to do."""

    def __init__(self, rng: random.Random, *, shuffled: bool) -> None:
        self._rng, self._shuffled = rng, shuffled
        self._now = 0.0
        self._count = 0
        self._ready: list[asyncio.Handle] = []
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._stopped = False
        self.errors: list[dict[str, Any]] = []
        self.handles = 0

    # -- what asyncio calls

    def time(self) -> float:
        return self._now

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._count += 1
        heapq.heappush(self._timers, (when, self._count, handle))
        return handle

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers are passed over when their time comes."""

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> asyncio.Task[Any]:
        task = _Task(len(self._tasks), coro, self, context)
        self._tasks.append(task)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if isinstance(context.get("future"), asyncio.Task) or "future" not in context:
            self.errors.append(context)  # a reply that nobody lives to read is no error

    # -- what the world calls

    def spawn(self, process: Process | None, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine as part of a process, or of the outside world."""
        context = Context() if process is None else process.context.copy()
        return self.create_task(work, context=context)

    def resume(self, process: Process) -> None:
        """Let a paused process go on with everything that came for it meanwhile."""
        process.paused_until = 0.0
        self._ready.extend(process.stashed)
        process.stashed.clear()

    def stop(self) -> None:
        self._stopped = True

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run until `main` has ended or somebody stopped the world."""
        events._set_running_loop(self)
        try:
            done = self.spawn(None, main)
            while not self._stopped and not done.done():
                self._run_next()
            if done.done():
                done.result()
        finally:
            events._set_running_loop(None)

    def _run_next(self) -> None:
        ready = self._ready
        if not ready:
            self._pass_time()
            return
        handle = ready.pop(self._rng.randrange(len(ready)) if self._shuffled and len(ready) > 1 else 0)
        process = handle._context.get(PROCESS)  # type: ignore[attr-defined]
        if process is not None:
            if process.is_dead:
                return
            if process.paused_until > self._now:
                process.stashed.append(handle)
                return
        if not handle._cancelled:
            self.handles += 1
            handle._run()

    def _pass_time(self) -> None:
        if not self._timers:
            raise RuntimeError("nothing will ever happen again in this world")
        timers = self._timers
        self._now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= self._now:
            handle = heapq.heappop(timers)[2]
            if not handle._cancelled:
                self._ready.append(handle)

    def bury(self) -> None:
        """End everything that is left; nothing it still does reaches anybody."""
        events._set_running_loop(self)
        try:
            for task in self._tasks:
                if not task.done():
                    task._log_destroy_pending = False  # type: ignore[attr-defined]
                    close(cast(Coroutine[Any, Any, Any], task.get_coro()))
        finally:
            events._set_running_loop(None)
        self._ready.clear()
        self._timers.clear()
        self._tasks.clear()


def close(coroutine: Coroutine[Any, Any, Any]) -> None:
    """End a coroutine where it stands."""
    try:
        coroutine.close()
    except RuntimeError:
        return  # it had something to await while it was closed: nobody waits for that any more
