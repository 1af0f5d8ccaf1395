"""`step` and `cancel_if`: how the body of a workflow class declares its steps and conditions.

Both work as decorators and as statements. The namespace of the class body is a `ClassBody`; a statement finds it in
the frame that calls it. So a body that raises leaves no global state behind, and classes may be nested.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from types import FrameType
from typing import Any, Final, TypeVar, overload

from detent.errors import InvalidDefinition
from detent.values.durations import Duration
from detent.values.nearest import nearest

Function = TypeVar("Function", bound=Callable[..., Any])
Condition = str | bool | Callable[[Any], Any]

MARK: Final = "__detent_step__"
CANCEL_MARK: Final = "__detent_cancel_if__"
_INSIDE: Final = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_numbers = itertools.count()
_frame = sys._getframe  # noqa: SLF001 - a class body is known only by its frame


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOptions:
    """The options of a step, as they were written. For a function outside of a class only the last four count."""

    wait: Duration | None = None
    skip_if: Condition | None = None
    on_exception: Any = None
    queue: str | None = None
    priority: int | None = None
    before_step: str | Callable[..., Any] | None = None
    after_step: str | Callable[..., Any] | None = None
    on_crash: str = "retry"
    inline: bool = False
    transactional: bool = False
    timeout: Duration | None = None
    retry: Any = None
    unknown: tuple[str, ...] = ()  # options that were given and do not exist

    def complaints(self) -> list[str]:
        """Return a message for each option that does not exist."""
        hints = ((name, nearest(name, OPTIONS)) for name in self.unknown)
        return [
            f"step has no option {name!r}; {f'did you mean {meant!r}?' if meant else 'there are ' + ', '.join(OPTIONS)}"
            for name, meant in hints
        ]


OPTIONS: Final = tuple(one.name for one in fields(StepOptions) if one.name != "unknown")


class StepMark:
    """One use of `step`: its position, the given name, and its target (a callable or the name of a method)."""

    __slots__ = ("name", "number", "options", "target")

    def __init__(self, name: str | None, target: str | Callable[..., Any] | None, options: StepOptions) -> None:
        self.number = next(_numbers)
        self.name, self.target, self.options = name, target, options


class CancelMark:
    """One condition of a `cancel_if`."""

    __slots__ = ("condition",)

    def __init__(self, condition: Condition) -> None:
        self.condition = condition


class ClassBody(dict[str, Any]):
    """The namespace of a workflow class while its body runs."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[StepMark] = []
        self.conditions: list[CancelMark] = []


@overload
def step(function: Function, /) -> Function: ...


@overload
def step(
    name: str | None = None,
    target: str | Callable[..., Any] | None = None,
    /,
    *,
    wait: Duration | None = None,
    skip_if: Condition | None = None,
    on_exception: Any = None,
    queue: str | None = None,
    priority: int | None = None,
    before_step: str | Callable[..., Any] | None = None,
    after_step: str | Callable[..., Any] | None = None,
    on_crash: str = "retry",
    inline: bool = False,
    transactional: bool = False,
    timeout: Duration | None = None,
    retry: Any = None,
) -> Callable[[Function], Function]: ...


@overload
def step(function: Callable[..., Any], /, **options: Any) -> Callable[..., Any]: ...


def step(what: Any = None, target: Any = None, /, **options: Any) -> Any:
    """Make a step, in the body of a workflow class:

        @step
        @step(wait=days(2), skip_if="is_active")
        @step("send-welcome")                          # a method under another name
        step("complete", "method_name", wait=days(7))  # a method of the class
        step("tidy", lambda self: ...)
        step(lambda self: ...)                         # without a name: step_1, step_2, ...

    Outside of a class, the decorator sets how a durable function runs the decorated function.
    """
    known = {name: value for name, value in options.items() if name in OPTIONS}
    said = StepOptions(**known, unknown=tuple(name for name in options if name not in OPTIONS))
    body = _class_body(_frame(1))
    if callable(what):
        return _decorate(body, StepMark(None, what, said), what)
    if what is not None and not isinstance(what, str):
        raise InvalidDefinition(f"step: a step is a function or a name, not {type(what).__name__}")
    if what is None and target is None:
        return lambda function: _decorate(_class_body(_frame(1)), StepMark(None, function, said), function)
    mark = StepMark(what, target if target is not None else what, said)
    if body is not None:
        body.steps.append(mark)
    elif target is not None:
        raise InvalidDefinition(f"step({what!r}, ...) can only be used in the body of a workflow class")
    return _Naming(mark)


class _Naming:
    """The value of `step("name")`: a statement, or a decorator that sets the function of that step."""

    def __init__(self, mark: StepMark) -> None:
        self._mark = mark

    def __call__(self, function: Function) -> Function:
        self._mark.target = function
        setattr(function, MARK, self._mark)
        return function


def _decorate(body: ClassBody | None, mark: StepMark, function: Function) -> Function:
    if body is not None:
        body.steps.append(mark)
    elif mark.options.unknown:
        name = getattr(function, "__name__", "a function")
        raise InvalidDefinition(f"{name}: {'; '.join(mark.options.complaints())}")
    try:
        setattr(function, MARK, mark)
    except AttributeError:
        if body is None:
            raise InvalidDefinition(f"step: {function!r} cannot be marked; wrap it in a function") from None
    return function


@overload
def cancel_if(function: Function, /) -> Function: ...  # type: ignore[overload-overlap]  # a function is a condition


@overload
def cancel_if(*conditions: Condition) -> None: ...


def cancel_if(*conditions: Any) -> Any:
    """Cancel the run before a step if a condition holds. Decorate a method, or list methods and functions:

    @cancel_if
    def deactivated(self) -> bool: ...

    cancel_if("is_gone", lambda self: self.hero.is_blocked)
    """
    body = _class_body(_frame(1))
    if body is None:
        raise InvalidDefinition("cancel_if can only be used in the body of a workflow class")
    if not conditions:
        raise InvalidDefinition("cancel_if: no condition was given; pass a method's name or a function")
    marks = [CancelMark(condition) for condition in conditions]
    body.conditions += marks
    if len(conditions) == 1 and callable(conditions[0]):
        setattr(conditions[0], CANCEL_MARK, marks[0])
        return conditions[0]
    return None


def marked(function: object) -> StepOptions | None:
    """Return the options that `@step(...)` set on a function, or None if it is not decorated."""
    mark = getattr(function, MARK, None)
    return mark.options if isinstance(mark, StepMark) else None


def _class_body(frame: FrameType | None) -> ClassBody | None:
    """Return the body of the workflow class that the frame is in, or None."""
    while frame is not None and frame.f_code.co_name in _INSIDE:
        frame = frame.f_back
    space: Mapping[str, Any] | None = None if frame is None else frame.f_locals
    return space if isinstance(space, ClassBody) else None


def shown(value: Any) -> Any:
    """Return an option as documents show it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, timedelta):
        return value.total_seconds()
    return getattr(value, "__name__", None) or type(value).__name__
