"""An operation that a durable function has asked for, until it ends: a future of the function's own loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from detent.run.keys import Op
from detent.run.view import Child

if TYPE_CHECKING:
    from detent.graph.model import Retry
    from detent.python.function.loop import FunctionLoop
    from detent.python.function.step_function import StepFunction


class Pending(asyncio.Future[Any]):
    """`number` counts operations in the order they were asked for. `told` is called if the function gives it up."""

    __slots__ = ("child", "handle", "key", "number", "op", "seconds", "told", "until", "work")

    def __init__(self, loop: FunctionLoop, op: Op, key: str, number: int, told: Callable[[Pending], None]) -> None:
        self.number = number
        super().__init__(loop=loop)
        self.op, self.key, self.told = op, key, told
        self.until: int | None = None  # when its time is over
        self.seconds: float | None = None  # how long that is from when it begins, if it is not begun yet
        self.handle: asyncio.TimerHandle | None = None
        self.work: StepWork | None = None
        self.child: Child | None = None

    def __hash__(self) -> int:
        return self.number

    def cancel(self, msg: Any | None = None) -> bool:
        if not super().cancel(msg):
            return False
        self.told(self)
        return True


class StepWork:
    """What a step of a function does. `value` is what it gave, once it is known; `attempt` the try it is at."""

    __slots__ = ("args", "attempt", "begun", "function", "kwargs", "retry", "timeout", "value")

    def __init__(
        self,
        function: StepFunction,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        retry: Retry,
        timeout: float | None,
    ) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.retry, self.timeout = retry, timeout
        self.attempt = 1
        self.begun = 0.0
        self.value: Any = None
