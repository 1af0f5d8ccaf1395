"""Drives one attempt of a durable function: first through what is on record, then live.

The function runs until it has nothing to do but wait. Then exactly one operation ends for it: of those it waits for and
that are on record, the one that stands first in the journal. When none is, work begins on what it waits for; each end
is journalled, and reaches the function when that is durable. So what the function has seen is always a beginning of the
journal, in the journal's order, and a replay takes the same way.

It is driven by plain callbacks of the engine's loop and never from within a task, since its own tasks run inside.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from heapq import heappop, heappush
from typing import Any, Final

from detent.errors import DetentError, StoreError, Unavailable
from detent.graph.model import Ending
from detent.instant import SECOND, micros
from detent.observe import emit
from detent.planner.retry import retry_at
from detent.python.function.bodies import Bodies, Given
from detent.python.function.drift import Drift, Watch
from detent.python.function.loop import DoesNotRest, FunctionLoop, FunctionTask
from detent.python.function.pending import Pending
from detent.python.function.resolving import resolve
from detent.python.function.signals import Signals
from detent.python.function.step_function import StepContext
from detent.run.keys import Op
from detent.run.outcomes import EMPTY_RESULT, Fail, Outcome, Pause, StepError, Suspend
from detent.run.state import Checkpoint, Operation, RunFacts
from detent.run.view import FunctionPort
from detent.steps.action_values import encode_output

LONG: Final = 10_000
TOO_LONG: Final = 50_000
#: A child that cannot be started just now is tried again this many seconds later.
CHILD_AGAIN: Final = 1.0

Ended = Callable[[FunctionTask], Outcome]


class Driver:
    """`outcome` is done when this attempt is over. `ended` makes an outcome of how the function ended."""

    def __init__(
        self, port: FunctionPort, facts: RunFacts, bodies: Bodies, ended: Ended, *, monotonic: Callable[[], float],
        strict: bool = False,
        generation: int = 0,
    ) -> None:  # fmt: skip
        self.port, self.facts = port, facts
        self._bodies, self._ended, self._monotonic, self._generation = bodies, ended, monotonic, generation
        self._outside = asyncio.get_running_loop()
        self.outcome: asyncio.Future[Outcome] = self._outside.create_future()
        self.loop = FunctionLoop(  # type: ignore[abstract]  # the rest is refused
            facts.started_at / SECOND, self._timer_was_set, self._timer_was_called_off
        )
        self._main: FunctionTask | None = None
        self.records: list[Checkpoint] = []
        self.places: dict[str, int] = {}
        self._pending: dict[str, Pending] = {}  # by key: asked for, and not ended
        self._counts: dict[str, int] = {}
        self._numbers = 0
        self._due: list[tuple[int, int, Pending]] = []  # on record and asked for, by place in the journal
        self._fresh: list[Pending] = []  # asked for, nothing done about it yet
        self._flying: dict[str, Callable[[], None]] = {}  # bodies, and how to call them off
        self._writing: dict[str, None] = {}  # ends on their way to the journal
        self._beginning: dict[str, None] = {}  # begins on their way
        self._children: dict[str, asyncio.Task[None]] = {}
        self._times: list[tuple[int, int, Pending]] = []
        self._alarm: tuple[int, Callable[[], None]] | None = None
        self._timers: dict[int, Pending] = {}  # by the identity of their handle
        self._places_to_open: list[str] = []
        self._unrecorded: list[Checkpoint] = []  # what the function itself decided
        self.asked: dict[str, None] = {}  # every key, in order; only where it is compared with the record
        self._watch = Watch(self) if strict else None
        self._signals = Signals(self._pending)
        self._is_turning = self._is_over = False

    # -- life

    def start(self, main: Coroutine[Any, Any, Any]) -> None:
        """Begin, with the next turn of the engine's loop."""
        self._main = self.loop.create_task(main)
        for checkpoint in self.port.history():
            self._take_note(checkpoint)
        self.port.listen(self)
        self.look()

    def close(self) -> None:
        """Stop everything. Nothing that is still in flight counts."""
        if self._is_over:
            return
        self._is_over = True
        if self._alarm is not None:
            self._alarm[1]()
        for call_off in list(self._flying.values()):
            call_off()
        for child in self._children.values():
            child.cancel()
        self._flying.clear()
        self.loop.close()

    def _end(self, outcome: Outcome) -> None:
        self.close()
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    # -- what the engine tells

    def ended(self, checkpoint: Checkpoint) -> None:
        """It stands in the journal."""
        self._take_note(checkpoint)
        self.look()

    def begun(self, key: str) -> None:
        """It stands in the journal that this was begun."""
        self._beginning.pop(key, None)
        self.look()

    def look(self) -> None:
        """Go on, soon."""
        if not self._is_turning and not self._is_over:
            self._is_turning = True
            self._outside.call_soon(self._turn)

    def _take_note(self, checkpoint: Checkpoint) -> None:
        key = checkpoint.key
        if key in self.places:
            return
        place = self.places[key] = len(self.records)
        self.records.append(checkpoint)
        self._writing.pop(key, None)
        self._beginning.pop(key, None)
        if len(self.records) == LONG:
            emit("function.long", run=self.facts.id, checkpoints=LONG)
        pending = self._pending.get(key)
        if pending is not None:
            heappush(self._due, (place, pending.number, pending))
            self._call_off(pending)  # if somebody else ended it

    # -- one turn

    def _turn(self) -> None:
        self._is_turning = False
        if self._is_over:
            return
        try:
            self._go_on()
        except DoesNotRest:
            self._pause("endless", "the function goes on and on without waiting for anything")
        except Drift as drift:
            self._end(Pause("its code does not fit its record", drift.error))

    def _go_on(self) -> None:
        assert self._main is not None
        while True:
            self.loop.run()
            if self._main.done() and not self._has_steps():
                if self._watch is not None:
                    self._watch.at_the_end()
                self._end(self._ended(self._main))
                return
            if self._watch is not None:
                self._watch.at_rest()
            if not self._resolve_next():
                break
        if self.port.must_stop():
            if not self._is_busy():
                self._end(Suspend(self.port.now(), len(self.records)))
            return
        if self._has_news() and not self._begin_fresh():
            return
        self._wait_or_leave()

    def _has_news(self) -> bool:
        return bool(self._fresh or self._places_to_open or self._unrecorded)

    def waiting(self) -> Mapping[str, Pending]:
        """What the function waits for."""
        return self._pending

    def _has_steps(self) -> bool:
        """Whether steps are left that were asked for and not awaited: they are done before the function is. If it
        failed, they are given up."""
        assert self._main is not None
        if self._main.cancelled() or self._main.exception() is not None:
            return False
        return any(pending.op is Op.STEP for pending in self._pending.values())

    def _resolve_next(self) -> bool:
        """End one operation for the function: the first by the journal. False if there is none."""
        while self._due:
            place, _, pending = heappop(self._due)
            if self._pending.get(pending.key) is not pending:
                continue
            del self._pending[pending.key]
            record = self.records[place]
            self.loop.now = max(self.loop.now, record.at / SECOND)
            resolve(self.loop, pending, record)
            return True
        return False

    def _begin_fresh(self) -> bool:
        """Begin what was asked for. False if that must wait, or the attempt is over."""
        if len(self.records) >= TOO_LONG:
            self._pause("history_full", f"its history has {TOO_LONG:,} entries: use run.continue_as_new earlier")
            return False
        # What must be on record before a step may know of it: the place of a callback, a time that was asked for.
        self._put_on_record()
        others = [pending for pending in self._fresh if pending.op is not Op.STEP]
        self._fresh = [pending for pending in self._fresh if pending.op is Op.STEP]
        for pending in others:
            self._begin(pending)
        if self._fresh and (self._beginning or any(key.startswith(Op.NOW) for key in self._writing)):
            return False
        fresh, self._fresh = self._fresh, []
        for pending in fresh:
            if self._pending.get(pending.key) is pending and pending.key not in self.places:
                self._begin_step(pending)
        return True

    def _put_on_record(self) -> None:
        decided, self._unrecorded = self._unrecorded, []
        for checkpoint in decided:
            self.record(checkpoint)
        opened, self._places_to_open = self._places_to_open, []
        for key in opened:
            if key not in self.places and key not in self.port.operations() and key not in self._beginning:
                self.begin_on_record(key, None, callback=True)

    def _wait_or_leave(self) -> None:
        while self._times and self._pending.get(self._times[0][2].key) is not self._times[0][2]:
            heappop(self._times)
        earliest = self._times[0][0] if self._times else None
        if self._is_busy() or (earliest is not None and earliest - self.port.now() <= self.port.patience()):
            self._set_alarm(earliest)
        elif not self._pending:
            self._pause("stuck", "the function waits for something that nothing will ever bring: no operation is open")
        else:
            self._end(Suspend(earliest, len(self.records)))

    def _is_busy(self) -> bool:
        return bool(self._flying or self._writing or self._beginning or self._children)

    def _pause(self, code: str, message: str) -> None:
        self._end(Pause(message, StepError(code, message)))

    # -- what the function asks for

    def next_key(self, base: str) -> str:
        """The key of the next operation of that name: its name, and how often that was asked for."""
        count = self._counts[base] = self._counts.get(base, 0) + 1
        return base if count == 1 else f"{base}#{count}"

    def ask(self, op: Op, key: str) -> Pending:
        """A new operation of that key. `let_go` lets it begin."""
        self._numbers += 1
        return Pending(self.loop, op, key, self._numbers, self._given_up)

    def ask_signal(self, name: str) -> Pending:
        """The next signal of that name."""
        pending = self.ask(Op.SIGNAL, self._signals.next_key(name))
        pending.name = name
        return pending

    def let_go(self, pending: Pending) -> Pending:
        """It is complete: from here on it may end."""
        if self.loop.is_closing:
            return pending  # it will never come
        key = pending.key
        self._pending[key] = pending
        if self._watch is not None:
            self.asked[key] = None
        place = self.places.get(key)
        if place is None:
            self._fresh.append(pending)
        else:
            heappush(self._due, (place, pending.number, pending))
        return pending

    def open_place(self, key: str) -> None:
        """Make the place where a callback is received before any step that comes after can know of it."""
        self._places_to_open.append(key)

    def decide(self, checkpoint: Checkpoint) -> None:
        """Something that the function is told at once, and is told again in a replay."""
        self._unrecorded.append(checkpoint)

    def _given_up(self, pending: Pending) -> None:
        """The function does not wait for it any more: a body in flight is stopped, and what it does does not count."""
        if self._pending.get(pending.key) is not pending:
            return
        del self._pending[pending.key]
        if self._watch is not None:
            self._watch.given_up(pending.key)
        self._call_off(pending)
        if pending.op is Op.SIGNAL:
            for other in self._signals.give_back(pending):
                place = self.places.get(other.key)
                if place is not None:
                    heappush(self._due, (place, other.number, other))

    def _timer_was_set(self, handle: asyncio.TimerHandle) -> None:
        pending = self.ask(Op.TIMER, self.next_key(Op.TIMER))
        pending.handle, pending.seconds = handle, max(0.0, handle.when() - self.loop.now)
        self._timers[id(handle)] = self.let_go(pending)

    def _timer_was_called_off(self, handle: asyncio.TimerHandle) -> None:
        pending = self._timers.pop(id(handle), None)
        if pending is not None:
            pending.cancel()

    # -- beginning

    def _begin(self, pending: Pending) -> None:
        if self._pending.get(pending.key) is not pending or pending.key in self.places:
            return
        known = self.port.operations().get(pending.key)
        self._settle_time(pending, known)
        if pending.op is Op.CHILD or pending.op is Op.CONTINUE:
            self._start_child(pending)
        elif known is None or (pending.op is Op.WAIT and known.until != pending.until):
            self._announce(pending)

    def _settle_time(self, pending: Pending, known: Operation | None) -> None:
        if known is not None and known.until is not None:
            pending.until = known.until
        elif pending.until is None and pending.seconds is not None:
            pending.until = self.port.now() + micros(pending.seconds)
        if pending.until is not None:
            heappush(self._times, (pending.until, pending.number, pending))

    def _announce(self, pending: Pending) -> None:
        """Put on record that it was begun, so that it keeps its time and people see it; short sleeps need neither."""
        is_nap = pending.op in (Op.SLEEP, Op.TIMER)
        if is_nap and (pending.until or 0) - self.port.now() <= self.port.patience():
            return
        self.begin_on_record(pending.key, pending.until, callback=pending.op is Op.WAIT)

    def begin_on_record(self, key: str, until: int | None, *, callback: bool) -> None:
        """Put on record that an operation was begun."""
        self._beginning[key] = None
        self.port.begin(Operation(key, until, None, 0, None, self.port.now()), callback=callback)

    def record(self, checkpoint: Checkpoint, ms: float | None = None) -> None:
        """Put on record that an operation has ended."""
        self._writing[checkpoint.key] = None
        self.port.end(checkpoint, ms)

    # -- steps

    def _begin_step(self, pending: Pending) -> None:
        known = self.port.operations().get(pending.key)
        assert pending.work is not None
        if known is not None:
            pending.work.attempt = known.attempt + 1
            if known.until is not None and known.until > self.port.now():
                pending.until = known.until
                heappush(self._times, (known.until, pending.number, pending))
                return
        self._begin_body(pending)

    def _begin_body(self, pending: Pending) -> None:
        work, facts = pending.work, self.facts
        assert work is not None
        work.begun = self._monotonic()
        context = StepContext(facts.id, facts.tenant, pending.key, work.attempt, self._generation)
        if work.function.transactional:
            self.port.lock()
        self._flying[pending.key] = _nothing  # an inline one is over before `begin` returns
        call_off = self._bodies.begin(work, context, lambda given: self._body_ended(pending, given))
        if pending.key in self._flying:
            self._flying[pending.key] = call_off

    def _call_off(self, pending: Pending) -> None:
        call_off = self._flying.pop(pending.key, None)
        if call_off is not None:
            call_off()
            if pending.work is not None and pending.work.function.transactional:
                self._outside.call_soon(self.port.unlock)

    def _body_ended(self, pending: Pending, given: Given | Fail) -> None:
        work, now = pending.work, self.port.now()
        assert work is not None
        if work.function.transactional:
            self._outside.call_soon(self.port.unlock)  # when its end is on its way to the journal
        if self._is_over or self._flying.pop(pending.key, None) is None:
            return
        ms = round((self._monotonic() - work.begun) * 1000, 2)
        if isinstance(given, Given):
            work.value = given
            self.record(Checkpoint(pending.key, Ending.SUCCESS, given.result, None, now, work.attempt), ms)
            return
        key = b"%b/%b" % (self.facts.id, pending.key.encode())
        again = retry_at(work.retry, given, attempt=work.attempt, key=key, now=now)
        if again is None:
            ending = Ending.TIMEOUT if given.timed_out else Ending.FAILED
            self.record(Checkpoint(pending.key, ending, EMPTY_RESULT, given.error, now, work.attempt), ms)
            return
        self._beginning[pending.key] = None
        self.port.begin(Operation(pending.key, again, None, work.attempt, given.error, now))
        self._fresh.append(pending)  # and from there to its time, once that is on record

    # -- time

    def _set_alarm(self, at: int | None) -> None:
        if self._alarm is not None:
            if self._alarm[0] == at:
                return
            self._alarm[1]()
        self._alarm = None if at is None else (at, self.port.call_at(at, self._ring))

    def _ring(self) -> None:
        self._alarm = None
        now = self.port.now()
        while self._times and self._times[0][0] <= now and not self._is_over:
            pending = heappop(self._times)[2]
            if self._pending.get(pending.key) is pending and pending.key not in self.places:
                self._time_is_over(pending, now)
        self.look()

    def _time_is_over(self, pending: Pending, now: int) -> None:
        if pending.op is Op.STEP:
            if not self.port.must_stop():
                self._begin_body(pending)
        elif pending.op is Op.WAIT:
            self._writing[pending.key] = None
            self.port.expire(pending.key)
        elif pending.op is Op.SIGNAL:
            error = StepError("timeout", "no signal came in time")
            self.record(Checkpoint(pending.key, Ending.TIMEOUT, EMPTY_RESULT, error, now))
        else:
            self.record(Checkpoint(pending.key, Ending.SUCCESS, EMPTY_RESULT, None, now))

    # -- children

    def _start_child(self, pending: Pending) -> None:
        task = self._outside.create_task(self._start_and_tell(pending))
        self._children[pending.key] = task
        task.add_done_callback(lambda _: self._child_was_started(pending.key))

    async def _start_and_tell(self, pending: Pending) -> None:
        assert pending.child is not None
        while True:
            try:
                child = await self.port.start_child(pending.key, pending.child)
            except (Unavailable, StoreError):
                await asyncio.sleep(CHILD_AGAIN)
            except DetentError as error:
                refused = StepError(error.code, error.message)
                self.record(Checkpoint(pending.key, Ending.FAILED, EMPTY_RESULT, refused, self.port.now()))
                return
            else:
                if pending.op is Op.CONTINUE:
                    self.record(Checkpoint(pending.key, Ending.SUCCESS, encode_output(child), None, self.port.now()))
                return

    def _child_was_started(self, key: str) -> None:
        self._children.pop(key, None)
        self.look()


def _nothing() -> None:
    """An inline body cannot be called off."""
