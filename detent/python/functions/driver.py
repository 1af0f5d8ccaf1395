"""Drives one attempt of a durable function: first through its records, then live.

The function runs until all its tasks wait. Then the driver resolves exactly one operation: of the recorded operations
that the function waits for, the first one in the journal. If none is recorded, the driver starts the operations that
the function waits for. The end of each is journalled, and the function sees it once it is durable. So the function has
always seen a prefix of the journal, in the journal's order, and a replay takes the same path.

Plain callbacks of the engine's loop drive the function, never a task, because the function's own tasks run inside.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from detent.graph.ask import FAILS, timed_out_result
from detent.graph.model import Ending
from detent.instant import SECOND
from detent.observe import emit
from detent.python.functions.approval import Approval
from detent.python.functions.errors import ChildFailed, StepFailed, WaitTimeout
from detent.python.functions.loop import DoesNotRest, FunctionTask
from detent.python.functions.operations import Exit, OperationLog, Pending, ReplayMismatch, Watch
from detent.python.functions.runner import OperationRunner
from detent.python.functions.step_runner import StepRunner
from detent.run.call import FunctionPort, Op
from detent.run.outcomes import Outcome, Pause, StepError, Suspend
from detent.run.state import Checkpoint, RunFacts
from detent.steps.logs.attempt_log import AttemptLog
from detent.steps.user_code import describe, error_message, failure_of

if TYPE_CHECKING:
    from detent.python.functions.loop import FunctionLoop

# How the record of an ended operation becomes a result or an exception in the function that waits for it.


# Members that are read for every step. A member of an enum class takes fifteen times as long to load as a global.
_STEP: Final = Op.STEP
_SUCCESS: Final = Ending.SUCCESS
_decode: Final = msgspec.json.Decoder().decode
_NO_REASON: Final = StepError("failed", "no reason was recorded")


class RecordDoesNotFit(Exception):
    """The recorded result of a step does not fit the return annotation that its function has now."""


def resolve(loop: FunctionLoop, pending: Pending, record: Checkpoint) -> None:
    """Resolve a pending operation with its record."""
    if pending.handle is not None:
        if not pending.handle.cancelled():
            loop.ring(pending.handle)
    elif record.ending is _SUCCESS or (pending.ask is not None and pending.ask["on_timeout"] != FAILS):
        try:
            pending.set_result(_value(pending, record) if pending.ask is None else _approval(pending.ask, record))
        except BaseException as error:  # noqa: BLE001 - this instantiates the user's class, which may raise anything
            why = describe(error)
            pending.set_exception(RecordDoesNotFit(f"the recorded result of {pending.key!r} does not fit: {why}"))
    else:
        pending.set_exception(_error(pending, record))


def _value(pending: Pending, record: Checkpoint) -> Any:
    if pending.op is _STEP:
        assert pending.work is not None
        given = pending.work.value
        return pending.work.function.decode(record.result) if given is None else given.value
    match pending.op:
        case Op.WAIT:
            return _decode(record.result).get("body")
        case Op.ASK | Op.CHILD:
            return _decode(record.result).get("output") if record.result else None
        case _:
            return None


def _approval(ask: Mapping[str, Any], record: Checkpoint) -> Approval:
    """Return the decision about an approval, or what the end of its time became."""
    result = record.result if record.ending is _SUCCESS else timed_out_result(ask["on_timeout"], record.at)
    return msgspec.convert(_decode(result)["output"], Approval)


def _error(pending: Pending, record: Checkpoint) -> Exception:
    error = record.error or _NO_REASON
    match pending.op:
        case Op.WAIT | Op.ASK:
            return WaitTimeout(pending.key)
        case Op.CHILD:
            return ChildFailed(pending.key, error)
        case _:
            return StepFailed(pending.key, error)


LONG: Final = 10_000
TOO_LONG: Final = 50_000

Ended = Callable[[FunctionTask], Outcome]


class FunctionDriver:
    """Drives one attempt of a durable function. It owns the operation log and the work in flight.

    `outcome` is done when this attempt is over. `ended` maps the end of the function's task to an outcome.
    """

    def __init__(
        self,
        port: FunctionPort,
        facts: RunFacts,
        steps: StepRunner,
        ended: Ended,
        *,
        monotonic: Callable[[], float],
        strict: bool = False,
        generation: int = 0,
        log: AttemptLog | None = None,
    ) -> None:
        self.port, self.facts, self._ended_as = port, facts, ended
        self._outside = asyncio.get_running_loop()
        self.outcome: asyncio.Future[Outcome] = self._outside.create_future()
        self._work = OperationRunner(port, facts, steps, self.look, monotonic=monotonic, generation=generation, log=log)
        self.attempt_log = log
        self.log = self._work.log = OperationLog(facts.started_at, self._work.give_up, keeps_asked=strict)
        self._watch = Watch(self.log) if strict else None
        self._is_turning = self._is_over = False

    # -- life

    def start(self, main: Coroutine[Any, Any, Any]) -> None:
        """Start the function in the next iteration of the engine's loop."""
        self._main = self.log.loop.create_task(main)
        for checkpoint in self.port.history():
            self.log.add(checkpoint)
        if self.attempt_log is not None:
            self.attempt_log.is_replaying = bool(self.log.records)
        self._replayed = len(self.log.records)
        self.port.listen(self)
        self.look()

    def close(self) -> None:
        """Stop everything. The results of work in flight are ignored."""
        if not self._is_over:
            self._is_over = True
            self._work.close()
            self.log.close()

    async def unlocked(self) -> None:
        """Wait until no transaction of a step locks the run. The attempt is not over before that."""
        await self._work.unlocked()

    def _end(self, outcome: Outcome) -> None:
        try:
            self.close()
        finally:
            if not self.outcome.done():
                self.outcome.set_result(outcome)

    def leave(self, asked: BaseException) -> None:
        """Note that the function has asked to end its run, by raising `asked`."""
        self.log.exit = Exit(asked, asyncio.current_task(), self._main)

    # -- notifications of the engine

    def ended(self, checkpoint: Checkpoint) -> None:
        """Handle the end of an operation that is now in the journal."""
        self._work.ended(checkpoint.key)
        pending = self.log.add(checkpoint)
        if pending is not None:
            self._work.call_off(pending)  # its body may still be in flight, if something else ended it
        if len(self.log.records) == LONG:
            emit("function.history_long", run=self.facts.id, checkpoints=LONG)
        self.look()

    def begun(self, key: str) -> None:
        """Handle the start of an operation that is now in the journal."""
        self._work.begun(key)
        self.look()

    def look(self) -> None:
        """Schedule the next turn."""
        if not self._is_turning and not self._is_over:
            self._is_turning = True
            self._outside.call_soon(self._turn)

    # -- one turn

    def _turn(self) -> None:
        self._is_turning = False
        if self._is_over:
            return
        try:
            if self._go_on():
                self._act()
        except DoesNotRest:
            self._pause("endless", "the function runs endlessly without waiting for anything")
        except ReplayMismatch as drift:
            self._end(Pause("its code does not fit its record", drift.error))
        except BaseException as error:  # noqa: BLE001 - nothing else would ever end this attempt
            self._end(Pause(f"the function could not continue: {error_message(error)}", failure_of(error).error))

    def _go_on(self) -> bool:
        """Run the function to the end of its records. Return False if it is over."""
        log, watch = self.log, self._watch
        while True:
            log.loop.run()
            if (self._main.done() or log.exit is not None) and self._is_through():
                if self._has_children_to_start():
                    return True  # the function sees no further ends before its children are started
                if watch is not None:
                    watch.at_the_end(self.port.operations())
                self._end(self._ended_as(self._main))
                return False
            if watch is not None:
                watch.at_rest(self.port.operations())
            found = log.next_ended()
            if found is None:
                if self._replayed:
                    self._replay(None)
                return True
            pending, record = found
            if self._replayed:
                self._replay(record)
            log.loop.now = max(log.loop.now, record.at / SECOND)
            resolve(log.loop, pending, record)

    def _replay(self, record: Checkpoint | None) -> None:
        """Note that the function is about to see the end of a recorded operation, or `None` if there are no more.

        What it logs before the last record of this attempt's beginning was logged by an attempt before."""
        if record is None or self.log.indexes[record.key] >= self._replayed - 1:
            self._replayed = 0
            if self.attempt_log is not None:
                self.attempt_log.is_replaying = False

    def _is_through(self) -> bool:
        """Return whether the function has ended or left.

        If it succeeded, steps that it asked for and did not await run first. If it failed or left, they are given up.
        """
        main, exit_ = self._main, self.log.exit
        if not main.done():
            return exit_ is not None and exit_.has_left()
        return not (self._has_succeeded() and any(one.op is Op.STEP for one in self.log.waiting.values()))

    def _has_children_to_start(self) -> bool:
        """Return whether children that the function did not await must still be started.

        They need not end first. Their start is not recorded, but starting them again is harmless.
        """
        return self._has_succeeded() and any(map(self._work.must_start, self.log.waiting.values()))

    def _has_succeeded(self) -> bool:
        main = self._main
        return main.done() and not main.cancelled() and main.exception() is None

    def _act(self) -> None:
        """Start the operations that the function waits for. Suspend the run if the wait is long or the node stops."""
        log, work = self.log, self._work
        if self.port.must_stop():
            if not work.is_busy():
                self._end(Suspend(self.port.now(), len(log.records)))
            return
        if log.fresh or log.to_open or log.decided or work.given_up:
            if len(log.records) >= TOO_LONG:
                self._pause("history_full", f"its history has {TOO_LONG:,} entries: use run.continue_as_new earlier")
                return
            if not work.begin_all():
                return
        busy = work.is_busy()
        if not busy:
            work.announce_timers()
            busy = work.is_busy()
        earliest = work.next_time()
        if busy or (earliest is not None and earliest - self.port.now() <= self.port.patience()):
            work.set_alarm(earliest)
        elif log.waiting:
            self._end(Suspend(earliest, len(log.records)))
        else:
            self._pause("stuck", "the function waits for something that can never happen: no operation is open")

    def _pause(self, code: str, message: str) -> None:
        self._end(Pause(message, StepError(code, message)))
