"""`@workflow`: a coroutine function becomes a workflow of one step, whose operations are journalled.

@workflow
async def checkout(run: Run, order: Order) -> Receipt:
    paid = await run.step(charge, order, retry=3)
    await run.sleep("3d")
    return await run.step(ship, order, paid)
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Coroutine
from typing import Any, Final, overload

from detent.errors import InvalidDefinition
from detent.forms.compiled import Compiled
from detent.graph.model import FailurePolicy, Graph, Step, StepKind
from detent.python.decorators import shown
from detent.python.fingerprint import fingerprint
from detent.python.functions.arguments import Arguments
from detent.python.registry import CodeKind, Registered, code_name, registry
from detent.python.schedules import Schedule
from detent.python.settings import SCHEDULED, DriftPolicy, WorkflowSettings, read_settings
from detent.values.durations import Duration
from detent.values.fields import Problems
from detent.values.text import plain_text

Function = Callable[..., Coroutine[Any, Any, Any]]

FORM: Final = "python"
FAIL: Final = "fail"
_LONGEST_DESCRIPTION: Final = 10_000


class FunctionWorkflow:
    """A durable function. Calling it calls the plain function, so that a test may pass its own run."""

    def __init__(self, function: Function, settings: WorkflowSettings, said: dict[str, Any], *, fails: bool) -> None:
        functools.update_wrapper(self, function)
        self.function, self.settings, self.fails = function, settings, fails
        self.name = settings.name
        self.arguments = Arguments(function, function.__name__)
        self.place = f"{function.__module__}:{function.__qualname__}"
        self.fingerprint = fingerprint([function], said)
        self.source = self._document(said)
        self.compiled = self._compiled()

    def __call__(self, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<durable function {self.name!r}>"

    def body_of(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the body of a run with these arguments. Raise InvalidInput if they do not fit the function."""
        return self.arguments.body_of(args, kwargs)

    def registered(self) -> Registered:
        """Return the entry of the function for the registry."""
        return Registered(
            self.name, CodeKind.FUNCTION, self, self.compiled, self.source, self.fingerprint, self.place
        )  # fmt: skip

    def _compiled(self) -> Compiled:
        settings = self.settings
        config = {"workflow": settings.name, "drift": str(settings.drift), "fingerprint": self.fingerprint}
        step = Step(_step_name(settings.name), StepKind.FUNCTION, config)
        graph = Graph(
            (step,),
            on_failure=FailurePolicy.SETTLE,
            scope=FORM,
            max_duration=settings.max_duration,
            one_per_hero=not settings.allow_multiple,
        )
        pinned = self.fingerprint if settings.drift is DriftPolicy.PIN else None
        return Compiled(
            name=settings.name,
            form=FORM,
            graph=graph,
            description=_description(self.function),
            code=(code_name(settings.name, pinned),),
            queue=settings.queue,
            priority=settings.priority,
            trigger_schema=self.arguments.schema,
            trigger=settings.trigger,
        )

    def _document(self, said: dict[str, Any]) -> str:
        document: dict[str, Any] = {"form": FORM, "name": self.name, "function": self.place}
        description = _description(self.function)
        if description is not None:
            document["description"] = description
        document |= {**said, "fingerprint": self.fingerprint}
        if self.arguments.schema is not None:
            document["trigger_schema"] = self.arguments.schema
        if self.settings.trigger.config:
            document["schedule"] = self.settings.trigger.config
        return json.dumps(document, ensure_ascii=False)


@overload
def workflow(function: Function, /) -> FunctionWorkflow: ...


@overload
def workflow(
    *,
    name: str | None = None,
    queue: str | None = None,
    priority: int | None = None,
    drift: str = "tolerant",
    max_duration: Duration | None = None,
    on_exception: Any = "pause",
    allow_multiple: bool = False,
    schedule: Schedule | None = None,
    every: Duration | None = None,
) -> Callable[[Function], FunctionWorkflow]: ...


def workflow(function: Function | None = None, /, **options: Any) -> Any:
    """Make a coroutine function a workflow. `name` is by default the function's.

    `on_exception` decides what happens to a run when an exception leaves the function: "pause" (the default: fix the
    code and resume), "fail", "cancel", `reattempt(...)`, or a mapping of classes to these. `drift` decides what happens
    to runs whose code was changed: "tolerant" finds records by their keys and continues, "strict" pauses with the
    difference, "pin" waits for a node that has the code they began with. A hero has one active run unless
    `allow_multiple`. `schedule=cron("0 9 * * *", "Europe/Zurich")` or `every="90m"` starts it by itself.
    """
    if function is None:
        return functools.partial(_made, options=options)
    return _made(function, options=options)


_OPTIONS: Final = (
    *("name", "queue", "priority", "drift", "max_duration", "on_exception", "allow_multiple", *SCHEDULED),
)
#: The others identify the code. A run does not change because its workflow is started at other times.
_NOT_CODE: Final = ("name", *SCHEDULED)


def _made(function: Function, *, options: dict[str, Any]) -> FunctionWorkflow:
    if not inspect.iscoroutinefunction(function):
        raise InvalidDefinition(f"{getattr(function, '__name__', function)!r}: a durable function is an `async def`")
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise InvalidDefinition(f"{function.__name__}: workflow has no option {unknown[0]!r}")
    fails = options.get("on_exception") == FAIL
    values: dict[str, Any] = {
        "name": function.__name__,
        "allow_multiple": False,
        "may_proceed_without_hero": True,
        **{name: value for name, value in options.items() if value is not None},
    }
    if fails:
        del values["on_exception"]
    problems = Problems()
    settings = read_settings(values, problems)
    required = Arguments(function, function.__name__).required if settings.trigger.config else ()
    if required:
        problems.add("schedule", f"a scheduled run has no arguments; give {', '.join(map(repr, required))} a default")
    if problems.found:
        lines = "".join(f"\n  {problem}" for problem in problems.found)
        raise InvalidDefinition(f"{function.__qualname__} cannot be a workflow:{lines}", problems.found)
    said = {name: shown(options[name]) for name in _OPTIONS if options.get(name) is not None and name not in _NOT_CODE}
    made = FunctionWorkflow(function, settings, said, fails=fails)
    registry.add(made.registered())
    return made


def _description(function: Function) -> str | None:
    text = (function.__doc__ or "").strip()
    return plain_text(" ".join(text.split()), _LONGEST_DESCRIPTION) or None


def _step_name(name: str) -> str:
    """Return the name of the one step: that of its workflow, with invalid characters replaced."""
    plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_" for letter in name)
    return (plain if plain[:1].isalpha() or plain.startswith("_") else f"_{plain}")[:64]
