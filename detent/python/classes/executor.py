"""The executor of steps of workflow classes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import lru_cache, partial
from typing import Any, ClassVar, Final

from detent.clock import SystemClock
from detent.graph.model import StepKind
from detent.instant import Instant
from detent.python.classes.attempt import ClassAttempt
from detent.python.classes.compiled import CompiledClass
from detent.python.classes.stages import Awaited, Sequence, StepTransactions, failed, is_awaitable, sequence
from detent.python.commit_guard import CommitGuard
from detent.python.heroes import Heroes, Loader
from detent.python.heroes import heroes as default_heroes
from detent.python.registry import CodeKind, PythonRegistry
from detent.python.registry import registry as default_registry
from detent.run.call import StepCall
from detent.run.outcomes import Fail, Outcome, Pause, Reattempt, StepError
from detent.steps.user_code import ThreadPool

THREADS: Final = 32
WALL: Final = SystemClock().wall
#: A run that came to a node without its code is tried again this much later, by then on another node.
ELSEWHERE: Final = 15.0


class ClassExecutor:
    """Runs attempts of workflow classes. Coroutines run on the loop, plain functions in one of `threads` threads.

    A plain function that outlives its time limit cannot be stopped: the attempt times out, its late result is ignored,
    and its thread is in use until it returns. A transactional one times out when it returns, and is rolled back: before
    that it holds its run.
    """

    kind: ClassVar[StepKind] = StepKind.PYTHON

    def __init__(
        self,
        registry: PythonRegistry = default_registry,
        heroes: Heroes = default_heroes,
        *,
        threads: int = THREADS,
        now: Callable[[], Instant] = WALL,
        keeper: StepTransactions | None = None,
    ) -> None:
        self._find, self._heroes, self._now = registry.find, heroes, now
        self._pool = ThreadPool(threads)
        self.keeper = keeper

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        known, view = self._find(call.parameters["workflow"]), call.view
        assert view is not None
        if known is None:
            return Reattempt(ELSEWHERE)
        if known.kind is not CodeKind.CHAIN:
            return Pause(f"{known.name!r} is a durable function now, and this run is of a class")
        chain: CompiledClass = known.target.__chain__
        drifted: Outcome | None = chain.drift.answer(view)
        if drifted is not None:
            return drifted
        link = chain.links.get(call.step)
        if link is None:
            return Fail(StepError("unknown_step", f"{known.place} has no step {call.step!r}"), retry=False)
        attempt = ClassAttempt(chain, link, call, view, self._now)
        load = None if view.facts.hero is None else self._heroes.find_loader(view.facts.hero[0])
        stages = sequence(attempt, load, self.keeper)
        in_thread = link.in_thread[0] if load is None else not _is_async(load)
        if in_thread or link.body.is_async or load is not None:
            return self._within_time(attempt, stages, None, in_thread=in_thread)
        found = _resume(stages.send, None)
        if isinstance(found, tuple):
            return self._within_time(attempt, stages, found, in_thread=False)
        return found

    async def close(self) -> None:
        """Let go of the threads; those of functions that still run end with them."""
        self._pool.close()

    async def _within_time(
        self, attempt: ClassAttempt, stages: Sequence, found: Awaited | None, *, in_thread: bool
    ) -> Outcome:
        limit, link = attempt.link.timeout, attempt.link
        if link.is_transactional and not link.body.is_async:
            return await self._on_leash(attempt, stages, found, in_thread=in_thread)
        if limit is None:
            try:
                return await self._drive(attempt, stages, found, in_thread=in_thread)
            finally:
                attempt.is_over = True
        deadline = asyncio.timeout(limit)
        try:
            async with deadline:
                outcome = await self._drive(attempt, stages, found, in_thread=in_thread)
        except TimeoutError:
            outcome = None
        finally:
            attempt.is_over = True
        if outcome is not None and not deadline.expired():
            return outcome
        return failed(attempt, _too_late(limit))

    async def _on_leash(
        self, attempt: ClassAttempt, stages: Sequence, found: Awaited | None, *, in_thread: bool
    ) -> Outcome:
        """The same for a transaction in a thread. Its time limit ends the attempt only if it has not begun yet."""
        limit, loop = attempt.link.timeout, asyncio.get_running_loop()
        leash = attempt.leash = CommitGuard()
        deadline = asyncio.timeout(None)

        def run_out() -> None:
            if limit is not None and leash.give_up(_too_late(limit)):
                deadline.reschedule(loop.time())

        timer = None if limit is None else loop.call_later(limit, run_out)
        try:
            async with deadline:
                return await self._drive(attempt, stages, found, in_thread=in_thread)
        except TimeoutError as error:
            return failed(attempt, leash.reason or error)
        finally:
            attempt.is_over = True
            leash.give_up(_called_off())
            if timer is not None:
                timer.cancel()

    def _in_thread(
        self, attempt: ClassAttempt, resume: Callable[[Any], Awaited], value: Any
    ) -> Coroutine[Any, Any, Awaited | Outcome]:
        function = partial(_unless_given_up, attempt, partial(_resume, resume, value))
        return self._pool.run(function) if attempt.leash is None else self._held(attempt.leash, function)

    async def _held(self, leash: CommitGuard, function: Callable[[], Awaited | Outcome]) -> Awaited | Outcome:
        """In a thread, on a leash. Called off, the attempt is not over before its transaction is: that holds the run.
        Whoever calls it off once more does not wait for it."""
        found = self._pool.order(function)
        try:
            return await asyncio.shield(found)
        except asyncio.CancelledError:
            if leash.give_up(_called_off()):
                found.cancel()
            else:
                await found
            raise

    async def _drive(
        self, attempt: ClassAttempt, stages: Sequence, found: Awaited | None, *, in_thread: bool
    ) -> Outcome:
        resume: Callable[[Any], Awaited] = stages.send
        value: Any = None
        visits = attempt.link.in_thread
        while True:
            if found is None:
                try:
                    given = await self._in_thread(attempt, resume, value) if in_thread else _resume(resume, value)
                except RuntimeError as error:  # there is no thread for it, or something escaped there
                    return failed(attempt, error)
                if not isinstance(given, tuple):
                    return given
                found = given
            try:
                value, resume = await found[0], stages.send
            except GeneratorExit as error:
                # The step raised it; or this is closed, and then nothing more may be awaited and nobody looks at it.
                return _end(stages, error)
            except asyncio.CancelledError as error:
                # A cancellation of ours goes on; one the step raised by itself is its failure.
                if _is_being_cancelled():
                    raise
                value, resume = error, stages.throw
            except BaseException as error:  # noqa: BLE001 - nothing that a step does may end the node
                value, resume = error, stages.throw
            in_thread, found = visits[found[1]], None


def _resume(resume: Callable[[Any], Awaited], value: Any) -> Awaited | Outcome:
    """Go on to the next thing that must be awaited, or to the outcome."""
    try:
        return resume(value)
    except StopIteration as stop:
        outcome: Outcome = stop.value
        return outcome


def _end(stages: Sequence, error: BaseException) -> Outcome:
    """What an attempt ends as that is not awaited any more."""
    outcome = _resume(stages.throw, error)
    assert not isinstance(outcome, tuple)
    return outcome


def _unless_given_up(attempt: ClassAttempt, go: Callable[[], Awaited | Outcome]) -> Awaited | Outcome:
    """In a thread: what is left to await when nobody waits any more is closed, so that nothing warns of it."""
    found = go()
    if attempt.is_over and isinstance(found, tuple) and is_awaitable(found[0]) and hasattr(found[0], "close"):
        found[0].close()
    return found


def _called_off() -> RuntimeError:
    return RuntimeError("the attempt was called off")


def _too_late(limit: float) -> TimeoutError:
    return TimeoutError(f"the step did not end within {limit:g} s")


def _is_being_cancelled() -> bool:
    this = asyncio.current_task()
    return this is None or this.cancelling() > 0


@lru_cache(maxsize=256)
def _is_async(load: Loader) -> bool:
    return asyncio.iscoroutinefunction(load)
