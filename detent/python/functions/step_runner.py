"""Runs the steps of durable functions: inline, on the engine's loop or in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from detent.graph.model import StepKind
from detent.python.classes.stages import StepTransactions
from detent.python.functions.operations import StepWork
from detent.python.functions.step import StepContext, current_step
from detent.run.call import StepCall
from detent.run.links import Link, Linked
from detent.run.outcomes import Fail, StepError
from detent.steps.links import Links, Reservations, done_with, without_links
from detent.steps.logs.attempt_log import current_log
from detent.steps.output import encode_output
from detent.steps.secret_calls import CodeSecrets
from detent.steps.user_code import (
    CommitGuard,
    ThreadPool,
    error_message,
    failure_of,
    qualified_name,
    run_inline,
    run_on_loop,
)
from detent.vault.secrets import SecretOpener


class StepResult(msgspec.Struct, frozen=True):
    """The result of a step: as it is stored, and as the function sees it."""

    result: bytes
    value: Any
    links: tuple[Link, ...] = ()


Ended = Callable[[StepResult | Fail], None]
CancelStep = Callable[[], object]


def _nothing() -> None:
    """Do nothing: there is nothing to cancel."""


class StepRunner:
    """Runs steps of durable functions; plain functions run in the threads of `pool`."""

    def __init__(
        self,
        pool: ThreadPool | None = None,
        transactions: StepTransactions | None = None,
        reservations: Reservations | None = None,
        secrets: SecretOpener | None = None,
    ) -> None:
        self._pool = pool or ThreadPool()
        self._transactions = transactions
        self._reservations = reservations
        self._secrets = secrets

    def close(self) -> None:
        """End the threads."""
        self._pool.close()

    def begin(
        self, work: StepWork, context: StepContext, ended: Ended, unlocked: Callable[[], None] = _nothing
    ) -> CancelStep:
        """Start one attempt and return the function that cancels it.

        `ended` gets the result once: never before this returns unless the step is inline, and never after the attempt
        was cancelled. `unlocked` is called once, after that, when a transactional step does not run any more.
        """
        function = work.function
        if function.context is not None or function.transactional:
            links = Links(self._reservations, context.run, context.tenant, context.step)
            context = replace(context, links=links, secrets=CodeSecrets(self._secrets, context.tenant))
        if function.is_inline and not function.transactional:
            token = current_step.set(context)
            log_token = current_log.set(context.attempt_log)
            try:
                ended(run_inline(lambda: _call(work, context), _failure))
            finally:
                current_log.reset(log_token)
                current_step.reset(token)
            return _nothing
        around = copy_context()
        around.run(current_step.set, context)
        around.run(current_log.set, context.attempt_log)
        if function.transactional:
            cancel = self._in_transaction(work, context, around, ended, unlocked)
        elif function.is_async:
            cancel = self._on_loop(work, lambda: _await(work, context), around, ended).cancel
        else:
            cancel = around.run(self._in_thread, work, context, ended)
        return cancel

    def _in_thread(self, work: StepWork, context: StepContext, ended: Ended) -> CancelStep:
        future = self._pool.submit(lambda: _call(work, context), _failure, limit=work.timeout)
        future.add_done_callback(lambda future: _deliver(ended, future))
        return future.cancel

    def _on_loop(
        self,
        work: StepWork,
        code: Callable[[], Awaitable[StepResult | Fail]],
        around: Context,
        ended: Ended,
        guard: CommitGuard | None = None,
    ) -> asyncio.Task[StepResult | Fail]:
        task = asyncio.get_running_loop().create_task(
            run_on_loop(code, _failure, limit=work.timeout, guard=guard), context=around
        )
        task.add_done_callback(lambda task: _deliver(ended, task))
        return task

    def _in_transaction(
        self, work: StepWork, context: StepContext, around: Context, ended: Ended, unlocked: Callable[[], None]
    ) -> CancelStep:
        """Start a step with a transaction. It locks the run until its task is done."""
        if work.function.is_async:
            task = self._on_loop(work, partial(_await_once, work, context, self._transactions), around, ended)
        else:
            guard = CommitGuard()
            once = partial(_call_once, work, context, self._transactions, guard)
            task = self._on_loop(work, partial(self._pool.run_guarded, once, _failure, guard), around, ended, guard)
        task.add_done_callback(lambda _: unlocked())
        return task.cancel


def _failure(error: BaseException) -> Fail:
    """Return the failure of a step that raised. Its function can ask for the class of every exception."""
    failed = failure_of(error)
    if failed.error.detail is not None or failed.timed_out:
        return failed
    stored = StepError(failed.error.code, failed.error.message, {"type": qualified_name(error)})
    return replace(failed, error=stored)


def _deliver(ended: Ended, future: asyncio.Future[StepResult | Fail]) -> None:
    if not future.cancelled():
        error = future.exception()
        ended(future.result() if error is None else _failure(error))


def _call(work: StepWork, context: StepContext) -> StepResult | Fail:
    return _returned(work, context, work.function.function(*work.args, **_arguments(work, context)))


async def _await(work: StepWork, context: StepContext) -> StepResult | Fail:
    return _returned(work, context, await work.function.function(*work.args, **_arguments(work, context)))


def _returned(work: StepWork, context: StepContext, value: Any) -> StepResult | Fail:
    """Return the result of a step that returned this value, with the links that it named."""
    if context.links is None and type(value) is not Linked:
        return _decoded(work, encode_output(value))
    done = done_with(value, context.links)
    found = _decoded(work, done.result)
    return replace(found, links=done.links) if isinstance(found, StepResult) else found


def _call_once(
    work: StepWork, context: StepContext, transactions: StepTransactions | None, guard: CommitGuard
) -> StepResult | Fail:
    kwargs = _arguments(work, context)

    def body(session: Any) -> bytes:
        output = work.function.function(session, *work.args, **kwargs)
        result: bytes = context.secrets.clean(encode_output(without_links(output)))
        guard.check()
        return result

    run_once = partial(_needed(transactions).run_once, _step_call(work, context), context.generation, body)
    return _decoded(work, guard.hold(run_once))


async def _await_once(work: StepWork, context: StepContext, transactions: StepTransactions | None) -> StepResult | Fail:
    kwargs = _arguments(work, context)

    async def body(session: Any) -> bytes:
        output = await work.function.function(session, *work.args, **kwargs)
        result: bytes = context.secrets.clean(encode_output(without_links(output)))
        return result

    call = _step_call(work, context)
    return _decoded(work, await _needed(transactions).run_once_async(call, context.generation, body))


def _arguments(work: StepWork, context: StepContext) -> dict[str, Any]:
    wants = work.function.context
    if wants is None or wants in work.kwargs:
        return dict(work.kwargs)
    return {**work.kwargs, wants: context}


def _needed(transactions: StepTransactions | None) -> StepTransactions:
    if transactions is None:
        raise RuntimeError("this engine has no transactions")
    return transactions


def _step_call(work: StepWork, context: StepContext) -> StepCall:
    return StepCall(context.run, context.tenant, context.step, StepKind.FUNCTION, context.attempt, None, work.timeout)


def _decoded(work: StepWork, result: bytes) -> StepResult | Fail:
    """Return the result as the function sees it, or Fail if it does not fit the step's return annotation."""
    try:
        return StepResult(result, work.function.decode(result))
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        message = f"the result does not fit its return annotation: {error_message(error)}"
        return Fail(StepError("unserialisable", message), retry=False)
