"""The work in flight of a durable function: bodies of steps, timers, children, and journal writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Final

from detent.errors import DetentError, StoreError, Unavailable
from detent.graph.ask import build_ask
from detent.graph.model import Ending
from detent.instant import micros
from detent.planner.retry import retry_at
from detent.python.functions.operations import OperationLog, Pending, StepWork
from detent.python.functions.step import StepContext
from detent.python.functions.step_runner import CancelStep, StepResult, StepRunner
from detent.run.call import FunctionPort, Op
from detent.run.links import Link
from detent.run.outcomes import EMPTY_RESULT, Fail, StepError
from detent.run.state import Checkpoint, Operation, RunFacts
from detent.steps.logs.attempt_log import AttemptLog

#: While Detent is unavailable, the start of a child is retried after this many seconds.
CHILD_AGAIN: Final = 1.0
#: The keys of operations that only take time.
_SLEEPS: Final = (str(Op.SLEEP), str(Op.TIMER))
# Members that are read for every step. A member of an enum class takes fifteen times as long to load as a global.
_STEP: Final = Op.STEP
_SUCCESS: Final = Ending.SUCCESS
_GIVEN_UP: Final = StepError("given_up", "the function does not wait for it any more")


class OperationRunner:
    """Starts operations and journals their ends. It calls `look` when the driver must look again."""

    log: OperationLog

    def __init__(
        self,
        port: FunctionPort,
        facts: RunFacts,
        steps: StepRunner,
        look: Callable[[], None],
        *,
        monotonic: Callable[[], float],
        generation: int,
        log: AttemptLog | None = None,
    ) -> None:
        self._port, self._facts, self._steps, self._look = port, facts, steps, look
        self._monotonic, self._generation = monotonic, generation
        self._attempt_log = log
        self._outside = asyncio.get_running_loop()
        self._flying: dict[str, CancelStep] = {}  # how to cancel each body in flight
        self._writing: dict[str, None] = {}  # ends that are not durable yet
        self._beginning: dict[str, None] = {}  # starts that are not durable yet
        self._children: dict[str, asyncio.Task[None]] = {}  # that start now
        self._started: set[str] = set()  # children
        self.given_up: list[Pending] = []  # by the function; their start may be recorded
        self._times: list[tuple[int, int, Pending]] = []
        self._timers: list[Pending] = []  # short timers of asyncio whose end time is not recorded
        self._alarm: tuple[int, Callable[[], None]] | None = None
        self._is_over = False
        self._locking = 0  # bodies whose transaction may lock the run, cancelled ones included
        self._unlocked: asyncio.Future[None] | None = None

    def close(self) -> None:
        """Stop everything. The results of work in flight are ignored."""
        self._is_over = True
        if self._alarm is not None:
            self._alarm[1]()
        for pending in list(self.log.waiting.values()) if self._flying else ():
            self.call_off(pending)
        for call_off in list(self._flying.values()):
            call_off()
        for child in self._children.values():
            child.cancel()
        self._flying.clear()
        self._look = _nothing

    def is_busy(self) -> bool:
        """Return whether anything is in flight that ends by itself."""
        return bool(self._flying or self._writing or self._beginning or self._children or self._locking)

    async def unlocked(self) -> None:
        """Wait until no transaction of a step locks the run."""
        if self._locking:
            self._unlocked = self._outside.create_future()
            await self._unlocked

    def must_start(self, pending: Pending) -> bool:
        """Return whether it is a child that this attempt has not started yet."""
        return pending.op is Op.CHILD and pending.key not in self._started and pending.key not in self.log.indexes

    def ended(self, key: str) -> None:
        """Handle the end of an operation that is now in the journal."""
        self._writing.pop(key, None)
        self._beginning.pop(key, None)
        child = self._children.get(key)
        if child is not None:
            child.cancel()

    def begun(self, key: str) -> None:
        """Handle the start of an operation that is now in the journal."""
        self._beginning.pop(key, None)

    # -- beginning

    def begin_all(self) -> bool:
        """Start the operations that were asked for. Return False if some must wait for a journal write."""
        log = self.log
        if log.decided or log.to_open:
            self._put_on_record()
        if self.given_up:
            self._end_given_up()
        fresh, log.fresh = log.fresh, []
        steps: list[Pending] = []
        for pending in fresh:
            if not log.is_open(pending):
                continue
            if pending.op is _STEP:
                steps.append(pending)
            else:
                self._begin(pending)
        if steps and self._must_steps_wait():
            log.fresh += steps
            return False
        for pending in steps:
            self._begin_step(pending)
        return True

    def _must_steps_wait(self) -> bool:
        """Return whether a callback or a time from `run.now()` is not recorded yet.

        A step may know the URL of that callback, or that time, and begins only after they are recorded.
        """
        if not self._beginning and not self._writing:
            return False
        return any(not key.startswith(_SLEEPS) for key in self._beginning) or any(
            key.startswith(Op.NOW) for key in self._writing
        )

    def _put_on_record(self) -> None:
        log = self.log
        decided, log.decided = log.decided, []
        for checkpoint in decided:
            self._record(checkpoint)
        opened, log.to_open = log.to_open, []
        for key in opened:
            if key not in log.indexes and key not in self._port.operations() and key not in self._beginning:
                self._announce(key, None, callback=True)

    def _end_given_up(self) -> None:
        """Record the end of operations that the function gave up, so that they are not shown as open.

        What the function had seen when it gave them up is recorded before that, so a replay gives them up too. A child
        is a run of its own and continues.
        """
        given_up, self.given_up = self.given_up, []
        begun, now = self._port.operations(), self._port.now()
        for key, op in ((pending.key, pending.op) for pending in given_up):
            if key not in begun or key in self.log.indexes or key in self._writing or op is Op.CHILD:
                continue
            if op is Op.WAIT:
                self._writing[key] = None
                self._port.expire(key)  # unless its callback came first
            else:
                self._record(Checkpoint(key, Ending.CANCELLED, EMPTY_RESULT, _GIVEN_UP, now, begun[key].attempt))

    def _begin(self, pending: Pending) -> None:
        known = self._port.operations().get(pending.key)
        self._settle_time(pending, known)
        if pending.op is Op.CHILD:
            self._start_child(pending)
        elif pending.op is Op.SLEEP or pending.op is Op.TIMER:
            ahead = (pending.until or 0) - self._port.now()
            if known is None and ahead > 0:
                if pending.op is Op.TIMER and ahead <= self._port.patience():
                    self._timers.append(pending)
                else:
                    self._announce(pending.key, pending.until, callback=False)
        elif known is None or (pending.op is Op.WAIT and known.until != pending.until):
            now = self._port.now()
            ask = None if pending.ask is None or known is not None else build_ask(pending.ask, now=now).decode()
            self._announce(pending.key, pending.until, callback=pending.op is Op.WAIT, ask=ask)

    def announce_timers(self) -> None:
        """Record when the short timers of asyncio end, while the function waits and nothing is in flight.

        Otherwise they would start again after a stop. While a step is in flight such a timer is usually the limit of
        that step, which starts again with it.
        """
        timers, self._timers = self._timers, []
        for pending in timers:
            if self.log.is_open(pending):
                self._announce(pending.key, pending.until, callback=False)

    def _settle_time(self, pending: Pending, known: Operation | None) -> None:
        if known is not None and known.until is not None:
            pending.until = known.until
        elif pending.until is None and pending.seconds is not None:
            pending.until = self._port.now() + micros(pending.seconds)
        if pending.until is not None:
            heappush(self._times, (pending.until, pending.number, pending))

    def _announce(self, key: str, until: int | None, *, callback: bool, ask: str | None = None) -> None:
        """Record the start of an operation, so that its end time is stored and users see it."""
        self._beginning[key] = None
        self._port.begin(Operation(key, until, None, 0, None, self._port.now()), callback=callback, ask=ask)

    def _record(self, checkpoint: Checkpoint, ms: float | None = None) -> None:
        self._writing[checkpoint.key] = None
        self._port.end(checkpoint, ms)

    # -- steps

    def _begin_step(self, pending: Pending) -> None:
        known, work = self._port.operations().get(pending.key), pending.work
        assert work is not None
        if known is not None:
            work.attempt = known.attempt + 1
            if known.until is not None and known.until > self._port.now():
                heappush(self._times, (known.until, pending.number, pending))
                return
        self._begin_body(pending, work)

    def _begin_body(self, pending: Pending, work: StepWork) -> None:
        facts = self._facts
        work.begun = self._monotonic()
        if self._attempt_log is not None:
            work.log = self._attempt_log.of_step(pending.key, work.attempt)
        context = StepContext(facts.id, facts.tenant, pending.key, work.attempt, self._generation, attempt_log=work.log)
        if work.function.transactional:
            self._port.lock()
            self._locking += 1
        self._flying[pending.key] = _nothing  # an inline one is over before `begin` returns
        returned = self._unlock if work.function.transactional else _nothing
        call_off = self._steps.begin(work, context, lambda given: self._body_ended(pending, work, given), returned)
        if pending.key in self._flying:
            self._flying[pending.key] = call_off

    def give_up(self, pending: Pending) -> None:
        """Give up an operation that the function no longer waits for."""
        if not self._is_over:
            self.given_up.append(pending)
        self.call_off(pending)

    def call_off(self, pending: Pending) -> None:
        """Cancel the body of an operation if it is in flight. Its result is ignored."""
        call_off = self._flying.pop(pending.key, None)
        if call_off is not None:
            call_off()
            _end_log(pending.work)

    def _unlock(self) -> None:
        """Release the lock of a transactional body that has returned.

        Its end, if it counts, was handed to the journal before.
        """
        self._locking -= 1
        self._port.unlock()
        if not self._locking and self._unlocked is not None and not self._unlocked.done():
            self._unlocked.set_result(None)
        self._look()

    def _body_ended(self, pending: Pending, work: StepWork, given: StepResult | Fail) -> None:
        now = self._port.now()
        _end_log(work)
        if self._is_over or self._flying.pop(pending.key, None) is None:
            return
        ms = round((self._monotonic() - work.begun) * 1000, 2)
        if isinstance(given, StepResult):
            work.value = given
            checkpoint = Checkpoint(pending.key, _SUCCESS, given.result, None, now, work.attempt)
            if given.links:
                self._claim(given.links, checkpoint, ms)
            else:
                self._record(checkpoint, ms)
            return
        key = b"%b/%b" % (self._facts.id, pending.key.encode())
        again = retry_at(work.retry, given, attempt=work.attempt, key=key, now=now)
        if again is None:
            ending = Ending.TIMEOUT if given.timed_out else Ending.FAILED
            self._record(Checkpoint(pending.key, ending, EMPTY_RESULT, given.error, now, work.attempt), ms)
            return
        self._beginning[pending.key] = None
        self._port.begin(Operation(pending.key, again, None, work.attempt, given.error, now))
        self.log.fresh.append(pending)  # `_begin_step` schedules its retry once that is recorded

    def _claim(self, links: Sequence[Link], checkpoint: Checkpoint, ms: float) -> None:
        """Claim the links of a step, and journal its end when the store has answered."""
        self._writing[checkpoint.key] = None

        def answered(error: StepError | None) -> None:
            if self._is_over:
                return
            failed = checkpoint._replace(ending=Ending.FAILED, result=EMPTY_RESULT, error=error)
            self._record(checkpoint if error is None else failed, ms)

        self._port.claim(checkpoint.key, links, answered)

    # -- time

    def next_time(self) -> int | None:
        """Return the earliest time that an open operation waits for, or None."""
        times = self._times
        while times and not self.log.is_open(times[0][2]):
            heappop(times)
        return times[0][0] if times else None

    def set_alarm(self, at: int | None) -> None:
        """Wake up at that time, and cancel the previous alarm."""
        if self._alarm is not None:
            if self._alarm[0] == at:
                return
            self._alarm[1]()
        self._alarm = None if at is None else (at, self._port.call_at(at, self._ring))

    def _ring(self) -> None:
        self._alarm = None
        now = self._port.now()
        while self._times and self._times[0][0] <= now and not self._is_over:
            pending = heappop(self._times)[2]
            if self.log.is_open(pending):
                self._time_is_over(pending, now)
        self._look()

    def _time_is_over(self, pending: Pending, now: int) -> None:
        if pending.op is Op.STEP:
            assert pending.work is not None
            if self._port.must_stop():
                self.log.fresh.append(pending)  # nothing starts while the node stops; the next attempt starts it
            else:
                self._begin_body(pending, pending.work)
        elif pending.op is Op.WAIT:
            self._writing[pending.key] = None
            self._port.expire(pending.key)
        elif pending.op is Op.ASK:
            error = StepError("timeout", "no signal came in time")
            self._record(Checkpoint(pending.key, Ending.TIMEOUT, EMPTY_RESULT, error, now))
        else:
            self._record(Checkpoint(pending.key, Ending.SUCCESS, EMPTY_RESULT, None, now))

    # -- children

    def _start_child(self, pending: Pending) -> None:
        task = self._outside.create_task(self._start_and_record(pending))
        self._children[pending.key] = task
        task.add_done_callback(lambda _: self._child_was_started(pending.key))

    async def _start_and_record(self, pending: Pending) -> None:
        assert pending.child is not None
        key, now = pending.key, self._port.now
        while True:
            try:
                await self._port.start_child(key, pending.child)
            except (Unavailable, StoreError):
                await asyncio.sleep(CHILD_AGAIN)
            except DetentError as error:
                refused = StepError(error.code, error.message)
                self._record(Checkpoint(key, Ending.FAILED, EMPTY_RESULT, refused, now()))
                return
            else:
                self._started.add(key)
                return

    def _child_was_started(self, key: str) -> None:
        self._children.pop(key, None)
        self._look()


def _nothing() -> None:
    """Do nothing: an inline body cannot be cancelled, and a body without a transaction locks nothing."""


def _end_log(work: StepWork | None) -> None:
    if work is not None and work.log is not None:
        work.log.end()
