"""An operation that a durable function has asked for, until it ends: a future of the function's own loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

from detent.run.keys import Op
from detent.run.view import Child

if TYPE_CHECKING:
    from detent.graph.model import Retry
    from detent.python.function.loop import FunctionLoop
    from detent.python.function.step_function import StepFunction


_VERBS: Final = {Op.STEP: "step", Op.SLEEP: "sleep", Op.WAIT: "wait", Op.ASK: "signal", Op.CHILD: "child"}
#: What people do with a value, and can only do with it when they have awaited it.
_OF_VALUES: Final = (
    *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__"),
    *("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__lt__", "__le__", "__gt__", "__ge__"),
    *("__getitem__", "__setitem__", "__contains__", "__int__", "__float__", "__index__"),
)


class Pending(asyncio.Future[Any]):
    """`number` counts operations in the order they were asked for. `told` is called if the function gives it up.
    `unwanted` are the operations that nobody has awaited yet: it takes itself out of them."""

    __slots__ = ("child", "handle", "key", "number", "op", "seconds", "told", "until", "unwanted", "work")

    def __init__(self, loop: FunctionLoop, op: Op, key: str, number: int, told: Callable[[Pending], None]) -> None:
        self.number = number
        super().__init__(loop=loop)
        self.op, self.key, self.told = op, key, told
        self.until: int | None = None  # when its time is over
        self.seconds: float | None = None  # how long that is from when it begins, if it is not begun yet
        self.handle: asyncio.TimerHandle | None = None
        self.work: StepWork | None = None
        self.child: Child | None = None
        self.unwanted: dict[int, Pending] | None = None

    @property
    def call(self) -> str:
        """How it was asked for, for people."""
        name = self.key.partition(":")[2] or ("..." if self.op is Op.SLEEP else self.key)
        return f"run.{_VERBS.get(self.op, self.op)}({name})"

    def __await__(self) -> Generator[Any, None, Any]:
        self._is_wanted()
        return super().__await__()

    __iter__ = __await__

    def add_done_callback(self, *args: Any, **kwargs: Any) -> None:
        self._is_wanted()
        super().add_done_callback(*args, **kwargs)

    def _is_wanted(self) -> None:
        if self.unwanted is not None:
            self.unwanted.pop(self.number, None)
            self.unwanted = None

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or name in Pending.__slots__:
            raise AttributeError(name)
        raise AttributeError(f"{self.call} has no {name!r} before it has ended: await it, `await {self.call}`")

    def __hash__(self) -> int:
        return self.number

    def cancel(self, msg: Any | None = None) -> bool:
        if not super().cancel(msg):
            return False
        self.told(self)
        return True


def _refuse(self: Pending, *_: Any) -> NoReturn:
    raise TypeError(f"{self.call} is not its value: await it, `await {self.call}`")


for _name in _OF_VALUES:
    setattr(Pending, _name, _refuse)


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
