"""The stage: every effect of a test's engine passes through it, so that the test can watch and kill it."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Never, TypeVar

from detent.graph.model import Step
from detent.run.call import StepCall
from detent.run.outcomes import Outcome
from detent.steps.protocol import Needs, StepExecutor
from detent.steps.user_code import ThreadCall, ThreadPool
from detent.testing.answers import Answers, CallPlace
from detent.testing.clock import LIFE, FakeLoop, end, outside_of_loops
from detent.testing.store import for_ever

Result = TypeVar("Result")


class Killed(BaseException):
    """The process died while a plain function ran. It is raised in place of the function's result."""


class SameThread(ThreadPool):
    """Calls plain functions in the test's own thread, where its transactions, patches and debugger are.

    The fake clock does not run meanwhile. But timers that became due in the real time of the call run before the
    function's result is delivered, so a time limit works.
    """

    def _start(self, call: ThreadCall[Any]) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, FakeLoop)
        loop.call_soon(_execute, loop, call)


def _execute(loop: FakeLoop, call: ThreadCall[Any]) -> None:
    if call.future.done():
        return  # given up before it began
    with loop.called(), outside_of_loops():
        result = call.execute()
    call.deliver(result)


class Stage:
    """Counts the bodies that ran, and calls `effect` before and after each of them."""

    def __init__(self, loop: FakeLoop, answers: Answers) -> None:
        self._loop = loop
        self.answers = answers
        self.ran: Counter[str] = Counter()
        self.effect: Callable[[str, str], None] = lambda when, step: None
        self.signals: dict[tuple[bytes, str], asyncio.Future[Any]] = {}  # that functions wait for, by run and key
        self.time_left: Callable[[str], float] = lambda key: 0.0  # until the answer to a key comes
        self.is_beyond: Callable[[bytes], bool] = lambda run: False  # whether that run must not continue
        self.place_of: Callable[[StepCall], CallPlace] = lambda call: CallPlace("", call.step)
        self.calls: list[tuple[CallPlace, StepCall]] = []  # of steps that are answered or run as a whole
        self.forgotten: dict[str, None] = {}  # operations that durable functions began and did not await
        self._works: set[Any] = set()

    def begins(self, step: str) -> bool:
        """Count a body that runs now. Return False if its process died before that."""
        if not self.comes(step):
            return False
        self.ran[step] += 1
        return True

    def comes(self, step: str) -> bool:
        """Report that a body is about to run. Return False if its process died before that.

        The body may still be skipped, if an earlier attempt stored its result.
        """
        if not is_dead():
            self.effect("before", step)
        return not is_dead()

    def ended(self, step: str) -> bool:
        """Report that a body has ended. Return False if its process has died meanwhile."""
        if is_dead():
            return False
        self.effect("after", step)
        return not is_dead()

    def performed(self, step: str, body: Callable[[], Result]) -> Result:
        """Run a plain body and return its result. Raise Killed if the process died.

        A body that raises has ended, too.
        """
        try:
            given = body()
        except BaseException:
            self.time_passes()
            if not self.ended(step):
                raise Killed from None
            raise
        self.time_passes()
        if inspect.isawaitable(given) or self.ended(step):
            return given
        raise Killed

    def time_passes(self) -> None:
        """Run the timers that became due while a plain body ran, before its result counts."""
        self._loop.time_passes()

    async def waited_for(self, step: str, work: Awaitable[Result]) -> Result:
        """Await a body and return its result. Never return if the process died. A body that raises has ended too."""
        try:
            result = await work
        except Exception:
            if not self.ended(step):
                await for_ever()
            raise
        return result if self.ended(step) else await for_ever()

    def counted(self, work: Coroutine[Any, Any, Result], *inside: Any) -> Coroutine[Any, Any, Result]:
        """Return the work, counted as in flight while it runs. `inside` are other coroutines that start with it."""
        mine = {work, *inside}
        outer = self._counted(work, mine)
        mine.add(outer)
        self._works |= mine
        return outer

    async def _counted(self, work: Coroutine[Any, Any, Result], mine: set[Any]) -> Result:
        self._loop.effects += 1
        try:
            return await work
        finally:
            self._loop.effects -= 1
            self._works -= mine

    def for_ever(self) -> Coroutine[Any, Any, Never]:
        """Return a coroutine that never ends. A dead process gets it instead of an effect."""
        never = for_ever()
        self._works.add(never)
        return never

    def end_all(self) -> None:
        """Close the coroutines that are left."""
        for work in list(self._works):
            end(work)
        self._works.clear()


class Staged:
    """An executor on the stage: a step that has an answer does not run."""

    def __init__(self, inner: StepExecutor, stage: Stage) -> None:
        self._inner, self._stage = inner, stage

    def needs(self, step: Step) -> Needs:
        # The engine ends every attempt in time: an answer that never comes has no limit of its own.
        return self._inner.needs(step) & ~Needs.OWN_LIMIT

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        stage = self._stage
        if not stage.begins(call.step):
            return stage.for_ever()
        place = stage.place_of(call)
        stage.calls.append((place, call))
        work = stage.answers.outcome(call, place) or self._inner.begin(call)
        if asyncio.iscoroutine(work):
            return stage.counted(stage.waited_for(call.step, work), work)
        return work if stage.ended(call.step) else stage.for_ever()

    async def close(self) -> None:
        await self._inner.close()


class AnsweredChildren:
    """The executor of child runs. A child that has an answer is not started."""

    def __init__(self, inner: StepExecutor, stage: Stage) -> None:
        self._inner, self._stage = inner, stage

    def needs(self, step: Step) -> Needs:
        return self._inner.needs(step)

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        place = self._stage.place_of(call)
        self._stage.calls.append((place, call))
        answered = None if is_dead() else self._stage.answers.outcome(call, place)
        if asyncio.iscoroutine(answered):
            return self._stage.counted(answered)  # the clock waits for it, as for every other effect
        return answered or self._inner.begin(call)

    async def close(self) -> None:
        await self._inner.close()


class Counted:
    """An executor whose bodies pass through the stage by themselves."""

    def __init__(self, inner: StepExecutor, stage: Stage) -> None:
        self._inner, self._stage = inner, stage

    def needs(self, step: Step) -> Needs:
        return self._inner.needs(step)

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        if self._stage.is_beyond(call.run_id):
            return self._stage.for_ever()
        work = self._inner.begin(call)
        return self._stage.counted(work) if asyncio.iscoroutine(work) else work

    async def close(self) -> None:
        await self._inner.close()


def is_dead() -> bool:
    """Return whether the process that runs this code has died."""
    life = LIFE.get()
    return life is not None and life.is_dead
