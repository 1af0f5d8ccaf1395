"""Attempts in flight: so many at once, each within its time, and nothing that one does may hurt the engine."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from types import CoroutineType
from typing import Any

from detent.clock import Clock
from detent.engine.owned_run import OwnedRun
from detent.graph.model import StepKind
from detent.observe.failpoints import reach
from detent.planner.calls import make_call
from detent.run.call import FunctionPort, StepCall
from detent.run.outcomes import Fail, Outcome, StepError
from detent.run.plan import StartAttempt
from detent.steps.protocol import StepExecutor
from detent.steps.user_code import describe, exception_detail

Work = Coroutine[Any, Any, Outcome]


class Attempts:
    """Begins attempts while there are slots; the others wait. `ended` is told the outcome of each."""

    def __init__(
        self,
        *,
        clock: Clock,
        slots: int,
        executors: Mapping[StepKind, StepExecutor],
        may_begin: Callable[[OwnedRun, StartAttempt], bool],
        has_room: Callable[[], bool],
        ended: Callable[[OwnedRun, int, int, Outcome, float], None],
        port_of: Callable[[OwnedRun], FunctionPort],
        unlock: Callable[[OwnedRun], None],
    ) -> None:
        self._clock, self._slots, self._executors = clock, slots, executors
        self._may_begin, self._has_room, self._ended = may_begin, has_room, ended
        self._port_of, self._unlock = port_of, unlock
        self._waiting: dict[OwnedRun, deque[StartAttempt]] = {}
        self.in_flight = 0

    def admit(self, held: OwnedRun, start: StartAttempt) -> None:
        """Begin an attempt, which may begin now, if there is a free slot; else it waits for one."""
        if self._is_free():
            self._begin(held, start)
        else:
            self._waiting.setdefault(held, deque()).append(start)

    def let_waiting_in(self) -> None:
        """Begin those that waited, as far as there is room: one step of each run in turn, so that wide ones share."""
        while self._waiting and self._is_free():
            held = next(iter(self._waiting))
            starts = self._waiting.pop(held)
            start = starts.popleft()
            if held.gone:
                continue
            if starts:
                self._waiting[held] = starts
            if self._may_begin(held, start):
                self._begin(held, start)

    def forget_waiting(self) -> None:
        self._waiting.clear()

    def stop(self, held: OwnedRun) -> None:
        """End the attempts of a run that are in flight; nobody wants to know what becomes of them."""
        for attempt in list(held.attempts.values()):
            attempt.cancel()

    def stop_one(self, held: OwnedRun, step: int) -> None:
        """End the attempt of one step."""
        attempt = held.attempts.pop(step, None)
        if attempt is not None:
            attempt.cancel()

    def _is_free(self) -> bool:
        return self.in_flight < self._slots and self._has_room()

    def _begin(self, held: OwnedRun, start: StartAttempt) -> None:
        step, number, begun = start.step, start.attempt, self._clock.monotonic()
        kind = held.prepared.steps[step].kind
        port = self._port_of(held) if kind is StepKind.FUNCTION else None
        call = make_call(held.prepared, held.state, step, generation=held.generation, port=port)
        if isinstance(call, Fail):
            self._tell(held, step, number, call, begun)
            return
        reach("before_effect")
        work = self._ask_executor(call)
        # The first question is quick, and answers for nearly all: a union is asked class by class.
        if not isinstance(work, CoroutineType) and isinstance(work, Outcome):
            self._tell(held, step, number, work, begun)
            return
        self.in_flight += 1
        if kind is StepKind.PYTHON and held.prepared.graph.steps[step].config.get("transactional"):
            held.locks += 1
        attempt = asyncio.get_running_loop().create_task(run_attempt(work, call.timeout))
        held.attempts[step] = attempt
        attempt.add_done_callback(lambda attempt: self._done(attempt, held, step, number, work, begun))

    def _ask_executor(self, call: StepCall) -> Outcome | Work:
        try:
            return self._executors[call.kind].begin(call)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - an executor that raises all the same has failed
            return _surprise(error)

    def _done(
        self, attempt: asyncio.Task[Outcome], held: OwnedRun, step: int, number: int, work: Work, begun: float
    ) -> None:
        # Here and not in the attempt itself: one that is stopped before it has begun would never come to its end.
        self.in_flight -= 1
        is_wanted = held.attempts.get(step) is attempt
        if is_wanted:
            del held.attempts[step]
        if attempt.cancelled():
            work.close()
        elif is_wanted:
            self._tell(held, step, number, attempt.result(), begun)
        if held.locks and held.prepared.graph.steps[step].config.get("transactional"):
            self._unlock(held)
        self.let_waiting_in()

    def _tell(self, held: OwnedRun, step: int, number: int, outcome: Outcome, begun: float) -> None:
        reach("after_effect")
        self._ended(held, step, number, outcome, round((self._clock.monotonic() - begun) * 1000, 2))


async def run_attempt(work: Work, timeout: float | None) -> Outcome:
    """The outcome of the work, within its time. An executor that raises all the same has failed."""
    limit = None if timeout is None else asyncio.timeout(timeout)
    try:
        if limit is None:
            return await work
        async with limit:
            return await work
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a step does must end as an outcome
        if limit is not None and limit.expired():
            return Fail(StepError("timeout", f"the step took longer than {timeout:g} s"), timed_out=True)
        if isinstance(error, asyncio.CancelledError) and _is_stopped():
            raise
        return _surprise(error)


def _is_stopped() -> bool:
    """Whether it was the engine that stopped the attempt, and not a step that stopped itself."""
    attempt = asyncio.current_task()
    return attempt is not None and attempt.cancelling() > 0


def _surprise(error: BaseException) -> Fail:
    return Fail(StepError("exception", describe(error), exception_detail(error)))
