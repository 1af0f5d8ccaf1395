"""The executor of action steps: calls a registered function and returns its outcome."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, ClassVar

from detent.graph.model import Step, StepKind
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.actions import CORE, Action, Registry
from detent.steps.actions import registry as default_registry
from detent.steps.arguments import did_you_mean
from detent.steps.output import encode_output
from detent.steps.protocol import Needs
from detent.steps.user_code import ThreadPool, failure_of, run_on_loop


class ActionExecutor:
    """Calls the actions of a registry and the core ones. Plain functions run in the threads of `pool`.

    A plain function cannot be stopped: after its time limit the attempt has timed out, its late result is ignored, and
    its thread is in use until it returns.
    """

    kind: ClassVar[StepKind] = StepKind.ACTION

    def __init__(self, registry: Registry = default_registry, *, pool: ThreadPool | None = None) -> None:
        self._registry = registry
        self._pool = pool or ThreadPool()

    def needs(self, step: Step) -> Needs:
        return Needs.NOTHING

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        try:
            parameters = call.parameters
            name = parameters["action"]
            action = CORE.find(name) or self._registry.find(name)
            if action is None:
                return self._unknown(name)
            arguments = action.bind(parameters.get("with"), call)
            if action.is_inline:
                return _call(action, arguments)
        except BaseException as error:  # noqa: BLE001 - nothing that an action raises may end the node
            return failure_of(error)
        if action.is_async:
            return _on_loop(action, arguments)
        return self._in_thread(action, arguments)

    async def close(self) -> None:
        """End the threads. A function that still runs ends with its thread."""
        self._pool.close()

    async def _in_thread(self, action: Action, arguments: Mapping[str, Any]) -> Outcome:
        return await self._pool.submit(lambda: _call(action, arguments), failure_of)

    def _unknown(self, name: object) -> Fail:
        known = (*self._registry.names(), *CORE.names())
        hint = did_you_mean(name, known) if isinstance(name, str) else ""
        return Fail(StepError("unknown_action", f"there is no action {str(name)[:160]!r}{hint}"), retry=False)


def _call(action: Action, arguments: Mapping[str, Any]) -> Outcome:
    return Done(encode_output(action.function(**arguments)))


def _on_loop(action: Action, arguments: Mapping[str, Any]) -> Coroutine[Any, Any, Outcome]:
    return run_on_loop(lambda: _await(action, arguments), failure_of)


async def _await(action: Action, arguments: Mapping[str, Any]) -> Outcome:
    return Done(encode_output(await action.function(**arguments)))
