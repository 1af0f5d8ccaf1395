"""The executor of steps of workflow classes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import lru_cache
from typing import Any, ClassVar, Final

from detent.clock import SystemClock
from detent.graph.model import Step, StepKind
from detent.instant import Instant
from detent.python.classes.attempt import ClassAttempt
from detent.python.classes.compiled import CompiledClass
from detent.python.classes.stages import Awaited, Sequence, StepTransactions, failed, sequence
from detent.python.heroes import Heroes, Loader
from detent.python.heroes import heroes as default_heroes
from detent.python.registry import CodeKind, PythonRegistry, code_name
from detent.python.registry import registry as default_registry
from detent.run.call import StepCall
from detent.run.outcomes import Fail, Outcome, Pause, Reattempt, StepError
from detent.steps.protocol import Needs
from detent.steps.secret_calls import CodeSecrets
from detent.steps.user_code import CommitGuard, ThreadPool, is_cancelled, run_on_loop
from detent.tenants.limits import INSTALLATION
from detent.tenants.registry import NOT_ALLOWED, UNCONFINED, TenantRegistry
from detent.vault.secrets import SecretOpener

WALL: Final = SystemClock().wall
#: A node without the code of a run retries it after this many seconds. By then another node may have claimed it.
ELSEWHERE: Final = 15.0
_TRANSACTIONAL: Final = Needs.VIEW | Needs.ROW_LOCK


class ClassExecutor:
    """Runs attempts of workflow classes. Coroutines run on the loop, plain functions in the threads of `pool`.

    A plain function cannot be stopped: after its time limit the attempt has timed out, its late result is ignored, and
    its thread is in use until it returns. A transactional one rolls back when it returns, and times out then: until
    then it locks its run.
    """

    kind: ClassVar[StepKind] = StepKind.PYTHON

    def __init__(
        self,
        registry: PythonRegistry = default_registry,
        heroes: Heroes = default_heroes,
        *,
        pool: ThreadPool | None = None,
        now: Callable[[], Instant] = WALL,
        transactions: StepTransactions | None = None,
        tenants: TenantRegistry = UNCONFINED,
        secrets: SecretOpener | None = None,
    ) -> None:
        self._find = registry.find
        self._tenants = tenants
        self._heroes = heroes
        self._now = now
        self._pool = pool or ThreadPool()
        self._transactions = transactions
        self._secrets = secrets

    def needs(self, step: Step) -> Needs:
        return _TRANSACTIONAL if step.config.get("transactional") else Needs.VIEW

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        name, view = call.parameters["workflow"], call.view
        assert view is not None
        if (call.tenant != INSTALLATION or self._tenants.confines_default) and (
            refused := self._tenants.refusal(call.tenant, code_name(name))
        ):
            return Fail(StepError(NOT_ALLOWED, refused), retry=False)
        known = self._find(name)
        if known is None:
            return Reattempt(ELSEWHERE)
        if known.kind is not CodeKind.CHAIN:
            return Pause(f"{known.name!r} is a durable function now, and this run is of a class")
        compiled: CompiledClass = known.target.__compiled__
        drifted: Outcome | None = compiled.drift.answer(view)
        if drifted is not None:
            return drifted
        step = compiled.steps.get(call.step)
        if step is None:
            return Fail(StepError("unknown_step", f"{known.place} has no step {call.step!r}"), retry=False)
        attempt = ClassAttempt(compiled, step, call, view, self._now)
        if self._secrets is not None:
            attempt.secrets = CodeSecrets(self._secrets, call.tenant)
        load = None if view.facts.hero is None else self._heroes.find_loader(view.facts.hero[0])
        stages = sequence(attempt, load, self._transactions)
        in_thread = step.in_thread[0] if load is None else not _is_async(load)
        found: Awaited | None = None
        if not (in_thread or step.body.is_async or load is not None):
            resumed = _resume(stages.send, None)
            if not isinstance(resumed, tuple):
                return resumed
            found = resumed
        return self._run(attempt, stages, found, in_thread)

    async def close(self) -> None:
        """End the threads. A function that still runs ends with its thread."""
        self._pool.close()

    def _run(
        self, attempt: ClassAttempt, stages: Sequence, found: Awaited | None, in_thread: bool
    ) -> Coroutine[Any, Any, Outcome]:
        step = attempt.step
        if step.is_transactional and not step.body.is_async:
            attempt.guard = CommitGuard()
        return run_on_loop(
            lambda: self._drive(attempt, stages, found, in_thread),
            lambda error: failed(attempt, error),
            limit=step.timeout,
            guard=attempt.guard,
        )

    async def _drive(self, attempt: ClassAttempt, stages: Sequence, found: Awaited | None, in_thread: bool) -> Outcome:
        """Run the stages to their outcome: await what they await, and resume each in a thread or on the loop."""
        resume: Callable[[Any], Awaited] = stages.send
        value: Any = None
        visits = attempt.step.in_thread
        try:
            while True:
                if found is None:
                    resumed = await self._in_thread(attempt, resume, value) if in_thread else _resume(resume, value)
                    if not isinstance(resumed, tuple):
                        return resumed
                    found = resumed
                attempt.unawaited = None
                try:
                    value, resume = await found[0], stages.send
                except GeneratorExit as error:
                    # Either the step raised it, or this coroutine is being closed and must not await any more.
                    return _end(stages, error)
                except BaseException as error:
                    if isinstance(error, asyncio.CancelledError) and is_cancelled():
                        raise
                    value, resume = error, stages.throw
                in_thread, found = visits[found[1]], None
        finally:
            attempt.is_over = True
            if attempt.unawaited is not None:
                _close(attempt.unawaited)

    def _in_thread(
        self, attempt: ClassAttempt, resume: Callable[[Any], Awaited], value: Any
    ) -> Awaitable[Awaited | Outcome]:
        def code() -> Awaited | Outcome:
            found = _resume(resume, value)
            if isinstance(found, tuple):
                # The loop may drop this result, if the attempt is cancelled at this moment. Each side first writes
                # its own mark and then reads the other's, so at least one of them closes what is left to await.
                attempt.unawaited = found[0]
                if attempt.is_over:
                    _close(found[0])
            return found

        if attempt.guard is None:
            return self._pool.submit(code, lambda error: failed(attempt, error))
        return self._pool.run_guarded(code, lambda error: failed(attempt, error), attempt.guard)


def _resume(resume: Callable[[Any], Awaited], value: Any) -> Awaited | Outcome:
    """Resume the stages and return the next thing to await, or their outcome."""
    try:
        return resume(value)
    except StopIteration as stop:
        outcome: Outcome = stop.value
        return outcome


def _close(unawaited: Awaitable[Any]) -> None:
    """Close a coroutine that is not awaited, so that Python does not warn of it."""
    if isinstance(unawaited, Coroutine):
        unawaited.close()


def _end(stages: Sequence, error: BaseException) -> Outcome:
    """Return the outcome of stages that are not awaited any more."""
    outcome = _resume(stages.throw, error)
    assert not isinstance(outcome, tuple)
    return outcome


@lru_cache(maxsize=256)
def _is_async(load: Loader) -> bool:
    return asyncio.iscoroutinefunction(load)
