"""The children of durable functions: each has an id that follows from its parent, and an answer can stand in for it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any, ClassVar

import msgspec

from detent.graph.model import Ending, StepKind
from detent.python.function.function_step import FunctionStep
from detent.run.call import StepCall
from detent.run.outcomes import EMPTY_RESULT, Outcome, StepError
from detent.run.state import Checkpoint
from detent.run.view import Child, FunctionPort
from detent.steps.action_step import failure_of
from detent.steps.action_values import encode_output
from detent.testing.answers import Asked, Output, value_of
from detent.testing.ids import WISHED, id_of_child
from detent.testing.stage import Stage, is_dead
from detent.testing.store import for_ever


class WithChildren:
    """The executor of durable functions, whose children can be answered."""

    kind: ClassVar[StepKind] = StepKind.FUNCTION

    def __init__(self, inner: FunctionStep, stage: Stage) -> None:
        self._inner, self._stage = inner, stage

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        view = call.view
        if view is not None and view.port is not None:
            port = _Port(view.port, call.run_id, self._stage)
            call = msgspec.structs.replace(call, view=msgspec.structs.replace(view, port=port))
        return self._inner.begin(call)

    async def close(self) -> None:
        await self._inner.close()


class _Port:
    """The port of a function; it starts no child that is answered."""

    def __init__(self, inner: FunctionPort, run: bytes, stage: Stage) -> None:
        self._inner, self._run, self._stage, self._answers = inner, run, stage, stage.answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def start_child(self, key: str, child: Child) -> str:
        name = None if child.origin_kind else self._answers.name_for(key)
        if name is None:
            WISHED.set([id_of_child(self._run, key)])
            return await self._inner.start_child(key, child)
        await asyncio.sleep(self._stage.time_left(key))
        end = await self._end(key, Asked(name, 1, child.body))
        if is_dead():
            await for_ever()
        if end is not None:
            self._inner.end(end)
        return ""

    async def _end(self, key: str, asked: Asked) -> Checkpoint | None:
        """How the child ends; null if it never does."""
        now, given = self._inner.now(), None
        try:
            given = self._answers.of(asked)
            given = await given if inspect.isawaitable(given) else given
            result = encode_output(value_of(given))
        except Exception as error:  # noqa: BLE001 - an answer that raises is a child that fails
            ending = Ending.FAILED
            if self._answers.silence(key) is not None:
                if not str(error):
                    return None
                ending = Ending.TIMEOUT
            return Checkpoint(key, ending, EMPTY_RESULT, failure_of(error).error, now)
        if isinstance(given, Output) and given.then == "cancel":
            called_off = StepError("child", given.reason or "the test cancels it")
            return Checkpoint(key, Ending.CANCELLED, EMPTY_RESULT, called_off, now)
        return Checkpoint(key, Ending.SUCCESS, result, None, now)
