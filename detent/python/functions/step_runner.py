"""Carrying out the steps of durable functions: on the engine's loop, in a thread, or at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from functools import partial
from typing import Any, Final

import msgspec

from detent.graph.model import StepKind
from detent.python.classes.stages import StepTransactions
from detent.python.commit_guard import CommitGuard
from detent.python.functions.operations import StepWork
from detent.python.functions.step import StepContext, current_step
from detent.run.call import StepCall
from detent.run.outcomes import Fail, StepError
from detent.steps.action_step import failure_of
from detent.steps.output import encode_output
from detent.steps.user_code import ThreadPool, error_message

THREADS: Final = 32


class StepResult(msgspec.Struct, frozen=True):
    """What a step gave: as it is kept, and as the function sees it."""

    result: bytes
    value: Any


Told = Callable[[StepResult | Fail], None]
CallOff = Callable[[], object]


def _nothing() -> None:
    """There is nothing to call off."""


class StepRunner:
    """Runs the bodies of steps. `told` is called once with how each went, never before `begin` has returned unless the
    step is inline, and never after it was called off. `returned` is called once, after that, when a
    transactional body does nothing any more, whatever became of it."""

    def __init__(self, threads: int = THREADS, keeper: StepTransactions | None = None) -> None:
        self._pool, self._keeper = ThreadPool(threads), keeper

    def close(self) -> None:
        self._pool.close()

    def begin(
        self, work: StepWork, context: StepContext, told: Told, returned: Callable[[], None] = _nothing
    ) -> CallOff:
        """Carry out one try; gives the way to call it off."""
        function = work.function
        if function.is_inline and not function.transactional:
            token = current_step.set(context)
            try:
                told(_attempt(work, context, None))
            finally:
                current_step.reset(token)
            return _nothing
        around = copy_context()
        around.run(current_step.set, context)
        if function.is_async:
            return self._on_loop(work, context, around, told, returned)
        if function.transactional:
            return self._on_leash(work, context, around, told, returned)
        return self._in_thread(work, context, around, told)

    def _on_loop(
        self, work: StepWork, context: StepContext, around: Context, told: Told, returned: Callable[[], None]
    ) -> CallOff:
        task = asyncio.get_running_loop().create_task(_awaited(work, context, self._keeper), context=around)
        task.add_done_callback(lambda task: None if task.cancelled() else told(_end_of(task)))
        if work.function.transactional:
            task.add_done_callback(lambda _: returned())
        return task.cancel

    def _in_thread(self, work: StepWork, context: StepContext, around: Context, told: Told) -> CallOff:
        try:
            future = around.run(self._pool.order, lambda: _attempt(work, context, self._keeper))
        except RuntimeError as error:
            told_later = asyncio.get_running_loop().call_soon(told, failure_of(error))
            return told_later.cancel
        future.add_done_callback(lambda future: None if future.cancelled() else told(_end_of(future)))
        if work.timeout is None:
            return future.cancel
        limit = asyncio.get_running_loop().call_later(work.timeout, _run_out, future, work, told)
        future.add_done_callback(lambda _: limit.cancel())
        return future.cancel

    def _on_leash(
        self, work: StepWork, context: StepContext, around: Context, told: Told, returned: Callable[[], None]
    ) -> CallOff:
        """A transaction in a thread. It is over when its thread says so: until then it holds its run."""
        loop, leash = asyncio.get_running_loop(), CommitGuard()
        called_off = RuntimeError("the step was called off")
        try:
            future = around.run(self._pool.order, lambda: _attempt(work, context, self._keeper, leash))
        except RuntimeError as error:
            future = loop.create_future()
            future.set_result(failure_of(error))

        def give_up(reason: Exception) -> None:
            if leash.give_up(reason):
                future.cancel()

        def done(future: asyncio.Future[StepResult | Fail]) -> None:
            if limit is not None:
                limit.cancel()
            if leash.reason is not called_off:
                told(_timeout(work) if future.cancelled() else _end_of(future))
            returned()

        too_late = TimeoutError()
        limit = None if work.timeout is None else loop.call_later(work.timeout, give_up, too_late)
        future.add_done_callback(done)
        return lambda: give_up(called_off)


def _end_of(future: asyncio.Future[StepResult | Fail]) -> StepResult | Fail:
    """How it went, also where something escaped."""
    error = future.exception()
    return future.result() if error is None else failure_of(error)


def _run_out(future: asyncio.Future[Any], work: StepWork, told: Told) -> None:
    if future.cancel():
        told(_timeout(work))


def _attempt(
    work: StepWork, context: StepContext, keeper: StepTransactions | None, leash: CommitGuard | None = None
) -> StepResult | Fail:
    function = work.function.function
    try:
        kwargs = _arguments(work, context)
        if not work.function.transactional:
            return _kept(work, encode_output(function(*work.args, **kwargs)))

        def body(session: Any) -> bytes:
            result = encode_output(function(session, *work.args, **kwargs))
            if leash is not None:
                leash.check()
            return result

        keep = partial(_needed(keeper).run_once, _call(work, context), context.generation, body)
        return _kept(work, keep() if leash is None else leash.hold(keep))
    except BaseException as error:  # noqa: BLE001 - nothing a step does may end the node
        return _timeout(work) if leash is not None and error is leash.reason else failure_of(error)


async def _result(work: StepWork, context: StepContext, keeper: StepTransactions | None) -> bytes:
    function, kwargs = work.function.function, _arguments(work, context)
    if not work.function.transactional:
        return encode_output(await function(*work.args, **kwargs))

    async def body(session: Any) -> bytes:
        return encode_output(await function(session, *work.args, **kwargs))

    return await _needed(keeper).keep_async(_call(work, context), context.generation, body)


async def _awaited(work: StepWork, context: StepContext, keeper: StepTransactions | None) -> StepResult | Fail:
    deadline = None if work.timeout is None else asyncio.timeout(work.timeout)
    try:
        if deadline is None:
            return _kept(work, await _result(work, context, keeper))
        async with deadline:
            return _kept(work, await _result(work, context, keeper))
    except asyncio.CancelledError as error:
        this = asyncio.current_task()
        if this is None or this.cancelling() > 0:
            raise
        return failure_of(error)
    except BaseException as error:  # noqa: BLE001 - as above; if this was closed, nobody looks at what it gives
        if deadline is not None and deadline.expired() and isinstance(error, TimeoutError):
            return _timeout(work)
        return failure_of(error)


def _arguments(work: StepWork, context: StepContext) -> dict[str, Any]:
    wants = work.function.context
    if wants is None or wants in work.kwargs:
        return dict(work.kwargs)
    return {**work.kwargs, wants: context}


def _needed(keeper: StepTransactions | None) -> StepTransactions:
    if keeper is None:
        raise RuntimeError("this engine has no transactions")
    return keeper


def _call(work: StepWork, context: StepContext) -> StepCall:
    return StepCall(context.run, context.tenant, context.step, StepKind.FUNCTION, context.attempt, None, work.timeout)


def _kept(work: StepWork, result: bytes) -> StepResult | Fail:
    try:
        return StepResult(result, work.function.decode(result))
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        message = f"what it gave does not fit its return annotation: {error_message(error)}"
        return Fail(StepError("unserialisable", message), retry=False)


def _timeout(work: StepWork) -> Fail:
    return Fail(StepError("timeout", f"the step did not end within {work.timeout or 0:g} s"), timed_out=True)
