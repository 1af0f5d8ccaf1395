"""A clock that a test moves, and an event loop that runs on it."""

from __future__ import annotations

import asyncio
import selectors
from asyncio import events
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, ContextVar, copy_context
from datetime import datetime, timedelta
from typing import Any, Final, TypeVarTuple

from detent.clock import SystemClock
from detent.instant import SECOND, Instant, as_datetime, micros
from detent.values.durations import parse_duration

Length = float | str | timedelta

LONGEST: Final = 100 * 366 * 86_400 * SECOND


class FakeClock:
    """A clock that does not run until a test moves it. It begins at `start`, or now."""

    def __init__(self, start: datetime | None = None) -> None:
        self._start = SystemClock().wall() if start is None else round(start.timestamp() * SECOND)
        self._passed = 0

    def wall(self) -> Instant:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed / SECOND

    def now(self) -> datetime:
        """Return the time of day in UTC."""
        return as_datetime(self.wall())

    @property
    def passed(self) -> timedelta:
        """Return how far the clock was moved."""
        return timedelta(microseconds=self._passed)

    def advance(self, length: Length = 0.0, /, **units: float) -> None:
        """Let time pass: seconds, a timedelta, a text such as "2d", or `days=2, hours=1`."""
        self.move_to(self.wall() + micros(seconds_of(length, **units)))

    def move_to(self, instant: Instant) -> None:
        """Move the clock to that time, unless it is already later."""
        self._passed = max(self._passed, min(instant - self._start, LONGEST))


def seconds_of(length: Length = 0.0, /, **units: float) -> float:
    """Return a length of time in seconds: a number, a text such as "2d", a timedelta, or units."""
    more = timedelta(**units).total_seconds() if units else 0.0
    if isinstance(length, timedelta):
        return length.total_seconds() + more
    return parse_duration(length) + more


# An event loop with the time of a FakeClock.
#
# Where another loop would wait, this loop calls `when_idle`, which may move the clock. The loop really waits only for
# work outside of this thread: threads, and sockets in use. Meanwhile the clock runs like the machine's.


Ts = TypeVarTuple("Ts")

_OWN_SOCKETS: Final = 1
_LOOK_AGAIN: Final = 0.05
#: A timer that is due within a moment runs at once, without moving the clock; but at most this often in a row.
_MOMENT: Final = 0.001
_MOST_HURRIED: Final = 5


class Life:
    """One process of a world. After its death none of its callbacks run."""

    def __init__(self) -> None:
        self.is_dead = False
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.context = copy_context()
        self.context.run(LIFE.set, self)


LIFE: ContextVar[Life | None] = ContextVar("LIFE", default=None)
NO_ID: Final = Context()


class _Waiting(selectors.DefaultSelector):
    """A selector that calls `before_wait` instead of waiting."""

    before_wait: Callable[[], list[Any]]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found or (timeout is not None and timeout <= 0):
            return found
        return self.before_wait()

    def wait(self, seconds: float) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(seconds)


class FakeLoop(asyncio.SelectorEventLoop):
    """The real asyncio loop with a fake clock. `effects` counts the pieces of user code in flight."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.effects = 0
        self.when_idle: Callable[[], None] = self._nothing_happens
        self._threads = 0
        self._called_at: float | None = None
        self._dead = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._system = SystemClock()
        self._waiting = _Waiting()
        self._waiting.before_wait = self._before_wait
        super().__init__(self._waiting)
        self._clock_resolution = _MOMENT
        self._hurried = (0.0, 0)

    def time(self) -> float:
        return self.clock.monotonic()

    def next_timer(self) -> float | None:
        """Return when the loop would wake up by itself, or None."""
        times: list[float] = [handle.when() for handle in self._handles_to_come() if not handle.cancelled()]
        return min(times, default=None)

    # -- time that a call takes

    @contextmanager
    def called(self) -> Iterator[None]:
        """Measure the real time of test code that runs inside the block: the fake clock cannot shorten it."""
        self._called_at = self._system.monotonic()
        try:
            yield
            self.time_passes()
        finally:
            self._called_at = None

    def time_passes(self) -> None:
        """Run the timers that became due in the real time that the call has taken."""
        if self._called_at is None:
            return
        now, timer = self._system.monotonic(), self.next_timer()
        taken = now - self._called_at
        if timer is None or timer - self.time() > taken:
            return
        self._called_at = now
        self.clock.advance(taken)
        with inside_of(self):
            for handle in sorted(self._handles_to_come(), key=asyncio.TimerHandle.when):
                if not handle.cancelled() and handle.when() <= self.time():
                    handle._run()  # noqa: SLF001 - as the loop itself would
                    handle.cancel()

    # -- idleness

    def _before_wait(self) -> list[Any]:
        if self._threads or (self.effects and len(self._waiting.get_map()) > _OWN_SOCKETS):
            return self._wait_really()
        if not self._is_at_once():
            self.when_idle()
        return []

    def _is_at_once(self) -> bool:
        timer, now = self.next_timer(), self.time()
        if timer is None or timer - now >= _MOMENT:
            return False
        count = self._hurried[1] + 1 if self._hurried[0] == now else 1
        self._hurried = (now, count)
        if count > _MOST_HURRIED:
            self.clock.advance(max(timer - now, 1e-6))
        return True

    def _wait_really(self) -> list[Any]:
        begun, timer = self._system.monotonic(), self.next_timer()
        left = _LOOK_AGAIN if timer is None else min(_LOOK_AGAIN, max(0.0, timer - self.time()))
        found = self._waiting.wait(left)
        self.clock.advance(max(self._system.monotonic() - begun, 0.0 if found else left))
        return found

    def _nothing_happens(self) -> None:
        raise RuntimeError("nothing is left to happen")

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], Any], *args: *Ts) -> asyncio.Future[Any]:
        future = super().run_in_executor(executor, func, *args)
        self._threads += 1
        # In an empty context: the context of a process that is dead by then would prevent the call.
        future.add_done_callback(self._thread_ended, context=NO_ID)
        return future

    def _thread_ended(self, future: asyncio.Future[Any]) -> None:
        self._threads -= 1

    # -- death

    def create_task(self, coro: Any, *, name: object = None, context: Any = None) -> asyncio.Task[Any]:
        # Store the task: garbage collection would close it and run its `finally` while other tasks are still alive.
        task: asyncio.Task[Any] = super().create_task(coro, name=name, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard, context=NO_ID)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self._dead:  # unfinished work of a dead process is not an error
            super().call_exception_handler(context)

    def end_all(self) -> None:
        """Close the remaining tasks of all processes."""
        self._dead, this = True, asyncio.current_task(self)
        for task in list(self._tasks):
            if task is not this and not task.done():
                end(task.get_coro())

    def bury(self, life: Life) -> None:
        """Cancel all callbacks of a process, those scheduled now and those it would schedule later."""
        life.is_dead = self._dead = True
        self.effects = 0
        for handle in (*self._ready, *self._handles_to_come()):  # type: ignore[attr-defined]  # of BaseEventLoop
            _still(handle)

    def _handles_to_come(self) -> list[asyncio.TimerHandle]:
        handles: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]  # of BaseEventLoop
        return handles

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = super().call_soon(callback, *args, context=context)
        if self._dead:
            _still(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = super().call_at(when, callback, *args, context=context)
        if self._dead:
            _still(handle)
        return handle


def _still(handle: asyncio.Handle) -> None:
    life = handle._context.get(LIFE)  # type: ignore[attr-defined]  # noqa: SLF001 - only the context knows its process
    if life is not None and life.is_dead:
        handle.cancel()


def end(work: Any) -> None:
    """Close a coroutine."""
    try:
        work.close()
    except RuntimeError:
        return  # it awaits something while it closes, which never ends


def outside_of_loops() -> AbstractContextManager[None]:
    """Hide the running loop of this thread, so that another loop, or code that refuses a running loop, can run."""
    return inside_of(None)


@contextmanager
def inside_of(loop: asyncio.AbstractEventLoop | None) -> Iterator[None]:
    """Make this loop the running loop of this thread inside the block."""
    outer = events._get_running_loop()  # noqa: SLF001 - every loop uses this to enter and leave
    events._set_running_loop(loop)  # noqa: SLF001
    try:
        yield
    finally:
        events._set_running_loop(outer)  # noqa: SLF001
