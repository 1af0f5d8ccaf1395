"""The operations of a durable function: those it has asked for, and their records.

The key of an operation is its name and a count of the operations with that name. So code between steps may be moved,
added and removed, and a replay still finds the records.
"""

from __future__ import annotations

import asyncio
import difflib
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NoReturn

from detent.instant import SECOND
from detent.python.functions.loop import FunctionLoop, FunctionTask
from detent.run.call import Op, name_of
from detent.run.outcomes import StepError
from detent.run.start import StartRequest
from detent.run.state import Checkpoint
from detent.steps.logs.attempt_log import AttemptLog
from detent.values.durations import in_seconds

if TYPE_CHECKING:
    from detent.graph.model import Retry
    from detent.python.functions.step import StepFunction

# An operation that a durable function has asked for is a future of the function's own loop, until it ends.


# Members that are read for every step. A member of an enum class takes fifteen times as long to load as a global.
_ASK: Final = Op.ASK
_SIGNAL: Final = Op.SIGNAL
_VERBS: Final = {Op.STEP: "step", Op.SLEEP: "sleep", Op.WAIT: "wait", Op.ASK: "signal", Op.CHILD: "child"}
#: Operators of a value. On an operation they raise, because the user forgot to await it.
_OF_VALUES: Final = (
    *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__"),
    *("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__lt__", "__le__", "__gt__", "__ge__"),
    *("__getitem__", "__setitem__", "__contains__", "__int__", "__float__", "__index__"),
)


class Pending(asyncio.Future[Any]):
    """One operation that has not ended.

    `number` counts operations in the order of the calls. It calls `on_cancel` if the function cancels it. `unwanted`
    has the operations that were never awaited; the operation removes itself when it is awaited.
    """

    __slots__ = (
        *("ask", "child", "handle", "key", "number", "on_cancel", "op", "seconds", "until", "unwanted", "url", "work"),
    )

    def __init__(self, loop: FunctionLoop, op: Op, key: str, number: int, on_cancel: Callable[[Pending], None]) -> None:
        self.number = number
        super().__init__(loop=loop)
        self.op, self.key, self.on_cancel = op, key, on_cancel
        self.until: int | None = None  # when its time ends
        self.seconds: float | None = None  # its duration from its start, until `until` is known
        self.handle: asyncio.TimerHandle | None = None
        self.work: StepWork | None = None
        self.child: StartRequest | None = None
        self.ask: Mapping[str, Any] | None = None  # what an approval asks
        self.unwanted: dict[int, Pending] | None = None
        self.url: str | None = None  # of an approval

    @property
    def call(self) -> str:
        """Return the call that asked for it, for messages."""
        name = self.key.partition(":")[2] or ("..." if self.op is Op.SLEEP else self.key)
        return f"run.{_VERBS.get(self.op, self.op)}({name})"

    def __await__(self) -> Generator[Any, None, Any]:
        self._is_wanted()
        return super().__await__()

    __iter__ = __await__

    def add_done_callback(self, *args: Any, **kwargs: Any) -> None:
        self._is_wanted()
        super().add_done_callback(*args, **kwargs)

    def _is_wanted(self) -> None:
        if self.unwanted is not None:
            self.unwanted.pop(self.number, None)
            self.unwanted = None

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or name in Pending.__slots__:
            raise AttributeError(name)
        raise AttributeError(f"{self.call} has no {name!r} before it has ended: await it, `await {self.call}`")

    def __hash__(self) -> int:
        return self.number

    def cancel(self, msg: Any | None = None) -> bool:
        if not super().cancel(msg):
            return False
        self.on_cancel(self)
        return True


def _refuse(self: Pending, *_: Any) -> NoReturn:
    raise TypeError(f"{self.call} is not its value: await it, `await {self.call}`")


for _name in _OF_VALUES:
    setattr(Pending, _name, _refuse)


class StepWork:
    """The work of one step: function, arguments and limits.

    `value` is its StepResult once it is known. `attempt` is the number of the current attempt.
    """

    __slots__ = ("args", "attempt", "begun", "function", "kwargs", "log", "retry", "timeout", "value")

    def __init__(
        self,
        function: StepFunction,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        retry: Retry,
        timeout: float | None,
    ) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.retry, self.timeout = retry, timeout
        self.attempt = 1
        self.begun = 0.0
        self.value: Any = None
        self.log: AttemptLog | None = None  # of the current attempt


# The signals of a run are numbered as they arrive. Waiters get them in the order in which they asked.
#
# A signal is assigned to a waiter only when the signal is delivered. So a waiter that gave up or timed out takes no
# signal with it.


class Signals:
    """The signals of a run, by the index of their record, and the operations that wait for one."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}  # how many of each name
        self._came: dict[str, deque[int]] = {}
        self._asked: dict[str, dict[str, Pending]] = {}

    def came(self, key: str, index: int) -> None:
        """Add a signal that is recorded."""
        self._came.setdefault(name_of(key), deque()).append(index)

    def asked(self, pending: Pending) -> None:
        """Add a waiter."""
        self._asked.setdefault(name_of(pending.key), {})[pending.key] = pending

    def left(self, pending: Pending) -> None:
        """Remove a waiter."""
        self._asked.get(name_of(pending.key), {}).pop(pending.key, None)

    def first(self) -> tuple[int, Pending] | None:
        """Return the earliest signal that has a waiter, and that waiter, or None."""
        if not self._came:
            return None
        best: tuple[int, Pending] | None = None
        for name, indexes in self._came.items():
            waiting = self._asked.get(name)
            if indexes and waiting and (best is None or indexes[0] < best[0]):
                best = indexes[0], next(iter(waiting.values()))
        return best

    def take(self, pending: Pending) -> None:
        """Remove the first signal of that name, which the waiter receives."""
        name = name_of(pending.key)
        self._came[name].popleft()
        self.taken[name] = self.taken.get(name, 0) + 1


# A function that asked to end its run is leaving: from then on it may clean up, and nothing else.
#
# Operations that it asks for while it handles its own exception (in a `finally`, or in an `except` that caught it)
# still run. The function has left in two cases. It asks for an operation after it swallowed the exception. Or one of
# its tasks made the request and has ended, and the function itself still waits where it waited before.


class Exit:
    """The exit of a function that asked to end its run.

    `asked` is the exception that the task `said_by` raised. `main` is the task of the function itself.
    """

    def __init__(self, asked: BaseException, said_by: asyncio.Task[object] | None, main: FunctionTask) -> None:
        self._asked, self._said_by, self._main = asked, said_by, main
        self._main_waits_for = _waits_for(main)
        self._went_on = False

    def asked_for_more(self) -> None:
        """Note that the function asks for another operation."""
        task = asyncio.current_task()
        responsible = self._said_by if self._said_by is not None and not self._said_by.done() else self._main
        if task is responsible and not _is_about(sys.exc_info()[1], self._asked):
            self._went_on = True

    def has_left(self) -> bool:
        """Return whether the function has nothing more to clean up. Call this whenever the function waits."""
        if self._went_on or self._said_by is None:
            return True
        if not self._said_by.done():
            self._main_waits_for = _waits_for(self._main)
            return False
        return _waits_for(self._main) is self._main_waits_for


def _waits_for(task: FunctionTask) -> object:
    return task._fut_waiter  # type: ignore[attr-defined]  # noqa: SLF001 - there is no public way to know what a task awaits


def _is_about(error: BaseException | None, asked: BaseException) -> bool:
    """Return whether an error is `asked`, was raised while `asked` was handled, or has it in a group."""
    seen: set[int] = set()
    left = [error]
    while left:
        one = left.pop()
        if one is asked:
            return True
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        left += [one.__context__, one.__cause__]
        if isinstance(one, BaseExceptionGroup):
            left += one.exceptions
    return False


class OperationLog:
    """The operations of one attempt and the records of its run. It owns the function's loop.

    It calls `left` with each operation that the function no longer waits for.
    """

    def __init__(self, started_at: int, left: Callable[[Pending], None], *, keeps_asked: bool) -> None:
        self.loop = FunctionLoop(  # type: ignore[abstract]  # the other methods raise NotInFunction
            started_at / SECOND, self._timer_was_set, self._timer_was_called_off
        )
        self._left, self._keeps_asked = left, keeps_asked
        self.records: list[Checkpoint] = []
        self.indexes: dict[str, int] = {}  # of the records, by key
        self.waiting: dict[str, Pending] = {}  # by key: asked for, and not ended
        self.asked: dict[str, None] = {}  # every key in order, if `keeps_asked`
        self.fresh: list[Pending] = []  # asked for, and not started yet
        self.to_open: list[str] = []  # keys of callbacks
        self.decided: list[Checkpoint] = []  # values the function got at once, not recorded yet
        self.exit: Exit | None = None  # set when the function asks to end its run
        self._due: list[tuple[int, int, Pending]] = []  # recorded and asked for, by index
        self._signals = Signals()
        self._timers: dict[int, Pending] = {}  # by the identity of their handle
        self._counts: dict[str, int] = {}
        self._numbers = 0

    def close(self) -> None:
        """Close the function. From now on `left` is not called any more."""
        self._left = _ignore
        self.loop.close()
        self.exit = None

    # -- the record

    def add(self, checkpoint: Checkpoint) -> Pending | None:
        """Add a record. Return the operation that it ends, or None if the function does not wait for it."""
        key = checkpoint.key
        if key in self.indexes:
            return None
        index = self.indexes[key] = len(self.records)
        self.records.append(checkpoint)
        if key.startswith(_SIGNAL):
            self._signals.came(key, index)
        pending = self.waiting.get(key)
        if pending is not None:
            heappush(self._due, (index, pending.number, pending))
        return pending

    def signals_taken(self) -> dict[str, int]:
        """Return how many signals of each name the function has received. They are the first ones of that name."""
        return self._signals.taken

    def next_index(self) -> int | None:
        """Return the index of the record that the function receives next, or None."""
        due, signal = self._still_due(), self._signals.first()
        if signal is None:
            return due[0][0] if due else None
        return min(signal[0], due[0][0]) if due else signal[0]

    def next_ended(self) -> tuple[Pending, Checkpoint] | None:
        """Return the operation that the function waits for and that ended first in the journal, with its record."""
        due, signal = self._still_due(), self._signals.first()
        if signal is not None and (not due or signal[0] < due[0][0]):
            index, pending = signal
            self._signals.take(pending)
        elif due:
            index, _, pending = heappop(due)
        else:
            return None
        self._is_over(pending)
        return pending, self.records[index]

    def _still_due(self) -> list[tuple[int, int, Pending]]:
        """Return what is due, after removing given-up operations from its head."""
        due, waiting = self._due, self.waiting
        while due and waiting.get(due[0][2].key) is not due[0][2]:
            heappop(due)
        return due

    def _is_over(self, pending: Pending) -> None:
        del self.waiting[pending.key]
        if pending.op is _ASK:
            self._signals.left(pending)
        elif pending.handle is not None:
            self._timers.pop(id(pending.handle), None)

    def is_open(self, pending: Pending) -> bool:
        """Return whether the function waits for it and it has not ended."""
        return self.waiting.get(pending.key) is pending and pending.key not in self.indexes

    # -- what the function asks for

    def next_key(self, base: str) -> str:
        """Return the key of the next operation of that name."""
        count = self._counts[base] = self._counts.get(base, 0) + 1
        return base if count == 1 else f"{base}#{count}"

    def ask(self, op: Op, key: str) -> Pending:
        """Return a new operation of that key. It starts with `release`."""
        self._numbers += 1
        return Pending(self.loop, op, key, self._numbers, self._is_given_up)

    def release(self, pending: Pending) -> Pending:
        """Release a complete operation: from now on it may start and end."""
        if self.loop.is_closing:
            return pending  # it never ends
        if self.exit is not None:
            self.exit.asked_for_more()
        key = pending.key
        self.waiting[key] = pending
        if pending.op is _ASK:
            self._signals.asked(pending)
        if self._keeps_asked:
            self.asked[key] = None
        index = self.indexes.get(key)
        if index is None:
            self.fresh.append(pending)
        else:
            heappush(self._due, (index, pending.number, pending))
        return pending

    def open(self, key: str) -> None:
        """Request that a callback is opened."""
        if self.loop.is_closing:
            return
        self.to_open.append(key)
        if self._keeps_asked:
            self.asked[key] = None

    def _is_given_up(self, pending: Pending) -> None:
        if self.waiting.get(pending.key) is not pending:
            return
        self._is_over(pending)
        self._left(pending)

    def _timer_was_set(self, handle: asyncio.TimerHandle) -> None:
        seconds = in_seconds(max(0.0, handle.when() - self.loop.now))
        pending = self.ask(Op.TIMER, self.next_key(Op.TIMER.value))
        pending.handle, pending.seconds = handle, seconds
        self._timers[id(handle)] = self.release(pending)

    def _timer_was_called_off(self, handle: asyncio.TimerHandle) -> None:
        pending = self._timers.pop(id(handle), None)
        if pending is not None:
            pending.cancel()


def _ignore(_: Pending) -> None:
    """Ignore the operations of a closed function."""


# Strict functions: what a function asks for must match the records, in their order.
#
# An operation is recorded only after the function asked for it. The function asked because of the results it had
# received before, and those are recorded before the operation. So whenever the function waits, it must have asked for
# every operation recorded before the one that it receives next. At the end of the records it must also have asked for
# every operation that was started. It does not matter whether it waits for the operation, received it or gave it up.


#: Records that the function need not ask for: signals, which are sent and not always taken, and calls of `run.now`,
#: of which changed code may have more or fewer.
_FREE: Final = (f"{Op.SIGNAL}:", str(Op.NOW))
_SHOWN: Final = 20


class ReplayMismatch(Exception):
    """The code of a function does not match its records."""

    def __init__(self, error: StepError) -> None:
        super().__init__(error.message)
        self.error = error


class Watch:
    """Compares the operations of a strict function with its records."""

    def __init__(self, log: OperationLog) -> None:
        self._log = log
        self._checked = 0  # how many records
        self._is_live = False

    def at_rest(self, begun: Iterable[str]) -> None:
        """Check the operations while the function waits.

        Raise ReplayMismatch unless it asked for every record before the one it receives next. If it receives none, it
        must have asked for all of them.
        """
        index = self._log.next_index()
        if index is None:
            self.at_the_end(begun)
        else:
            self._check_records(index)

    def at_the_end(self, begun: Iterable[str]) -> None:
        """Raise ReplayMismatch unless the function asked for everything."""
        self._check_records(len(self._log.records))
        if not self._is_live:
            self._is_live = True  # from now on only operations that it asks for are started
            self._check(begun)

    def _check_records(self, index: int) -> None:
        if self._checked < index:
            self._check(checkpoint.key for checkpoint in self._log.records[self._checked : index])
            self._checked = index

    def _check(self, keys: Iterable[str]) -> None:
        for key in keys:
            if key not in self._log.asked and not key.startswith(_FREE):
                raise ReplayMismatch(self._error(key))

    def _error(self, record: str) -> StepError:
        recorded = [checkpoint.key for checkpoint in self._log.records]
        asked = list(self._log.asked)
        lines = list(difflib.unified_diff(recorded, asked, "on record", "asked for", lineterm="", n=2))
        message = f"the record has {record!r} next, and the function does not ask for it; it asks for {_listed(asked)}"
        return StepError("drift", message, {"diff": lines[:200], "recorded": recorded[-200:], "asked": asked[-200:]})


def _listed(keys: list[str]) -> str:
    shown = ", ".join(map(repr, keys[-_SHOWN:])) or "nothing"
    return f"..., {shown}" if len(keys) > _SHOWN else shown
