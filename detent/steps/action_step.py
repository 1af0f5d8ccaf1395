"""The action step: calls a registered function and makes an outcome of whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar, Final

from detent.graph.model import StepKind
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.actions import CORE, EXCEPTION, Action, ActionError, Permanent, Registry, code_of, wait_of
from detent.steps.actions import registry as default_registry
from detent.steps.arguments import InvalidParameters, did_you_mean
from detent.steps.output import OutputTooLarge, Unserialisable, encode_output
from detent.steps.user_code import ThreadPool, describe, error_message, exception_detail

THREADS: Final = 32
#: What is wrong with a call or its result however often it is repeated.
_OURS: Final[dict[type[Exception], str]] = {
    InvalidParameters: "invalid_parameters",
    Unserialisable: "unserialisable",
    OutputTooLarge: "output_too_large",
}


class ActionExecutor:
    """Calls actions of a registry and the core ones. At most `threads` plain functions run at a time; others wait. A
    pool of threads may be given instead.

    A plain function that outlives its time limit cannot be stopped: the attempt times out, its late result is ignored,
    and its thread is in use until it returns.
    """

    kind: ClassVar[StepKind] = StepKind.ACTION

    def __init__(self, registry: Registry = default_registry, *, threads: int | ThreadPool = THREADS) -> None:
        self._registry = registry
        self._pool = ThreadPool(threads) if isinstance(threads, int) else threads

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        try:
            parameters = call.parameters
            name = parameters["action"]
            action = CORE.find(name) or self._registry.find(name)
            if action is None:
                return self._unknown(name)
            arguments = action.bind(parameters.get("with"), call)
            if action.is_inline:
                return Done(encode_output(action.function(**arguments)))
        except BaseException as error:  # noqa: BLE001 - nothing an action does may end the node
            return failure_of(error)
        if action.is_async:
            return self._on_loop(action, arguments, call)
        return self._in_thread(action, arguments, call)

    async def close(self) -> None:
        """Let go of the threads; those of functions that still run end with them."""
        self._pool.close()

    async def _on_loop(self, action: Action, arguments: Any, call: StepCall) -> Outcome:
        deadline = asyncio.timeout(call.timeout)
        try:
            async with deadline:
                output = await action.function(**arguments)
            if deadline.expired():
                return _timeout(call)
            return Done(encode_output(output))
        except asyncio.CancelledError as error:
            # A cancellation of ours goes on; one the action raised by itself is its failure.
            if _is_being_cancelled():
                raise
            return failure_of(error)
        except BaseException as error:  # noqa: BLE001 - as above; if this was closed, nobody looks at what it gives
            if deadline.expired() and isinstance(error, TimeoutError):
                return _timeout(call)
            return failure_of(error)

    async def _in_thread(self, action: Action, arguments: Any, call: StepCall) -> Outcome:
        def attempt() -> Outcome:
            try:
                return Done(encode_output(action.function(**arguments)))
            except BaseException as error:  # noqa: BLE001 - nothing an action does may end the node
                return failure_of(error)

        try:
            async with asyncio.timeout(call.timeout):
                return await self._pool.run(attempt)
        except TimeoutError:
            return _timeout(call)
        except RuntimeError as error:
            return failure_of(error)

    def _unknown(self, name: object) -> Fail:
        known = (*self._registry.names(), *CORE.names())
        hint = did_you_mean(name, known) if isinstance(name, str) else ""
        return _permanent("unknown_action", f"there is no action {str(name)[:160]!r}{hint}")


def _is_being_cancelled() -> bool:
    this = asyncio.current_task()
    return this is None or this.cancelling() > 0


def _timeout(call: StepCall) -> Fail:
    return Fail(StepError("timeout", f"the action did not end within {call.timeout:g} s"), timed_out=True)


def _permanent(code: str, message: str) -> Fail:
    return Fail(StepError(code, message), retry=False)


def failure_of(error: BaseException) -> Fail:
    """The outcome of code of the user's that raised this. It never raises: it asks the class of the error, which has no
    code of the user's in it, and where it must ask the error itself it takes any answer."""
    kind = type(error)
    for known, code in _OURS.items():
        if issubclass(kind, known):
            return _permanent(code, error_message(error))
    if issubclass(kind, ActionError):
        kept = StepError(code_of(error), error_message(error))
        return Fail(kept, retry=not issubclass(kind, Permanent), retry_after=wait_of(error))
    return Fail(StepError(EXCEPTION, describe(error), exception_detail(error)))
