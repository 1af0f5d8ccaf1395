"""`Workflow`: a class whose steps are a chain.

    class Signup(Workflow):
        queue, priority = "onboarding", 5

        @cancel_if
        def deactivated(self) -> bool:
            return self.hero.deactivated

        @step
        async def welcome(self):
            await mail.welcome(self.hero)

        @step(wait=days(2), skip_if="already_active", on_exception=reattempt(max=5, then="pause"))
        def remind(self):
            ...

A class is checked and registered when it is created. A class without steps, or with `abstract=True`, is only a base for
others. Each attempt of a step gets its own instance: store values for later steps in `self.state`.
"""

from __future__ import annotations

import inspect
import logging
import sys
from abc import ABCMeta
from collections.abc import Mapping
from datetime import datetime
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, TypeVar

from detent.errors import InvalidDefinition, InvalidInput
from detent.graph.check import check
from detent.python.classes.attempt import ClassAttempt, Results
from detent.python.classes.compiled import CompiledClass, compile_class, registered
from detent.python.classes.definition import ClassReader, Definitions
from detent.python.classes.state import StateType
from detent.python.decorators import ClassBody
from detent.python.flow import FlowControl, FlowVerbs
from detent.python.registry import PythonRegistry, registry
from detent.python.schedules import Schedule, scheduled_at
from detent.python.settings import SCHEDULED, SETTINGS, misspelt, read_settings
from detent.steps.logs.attempt_log import current_log
from detent.steps.logs.run_log import RunLog, workflow_logger
from detent.steps.secret_calls import CodeSecrets
from detent.values.durations import Duration
from detent.values.fields import Problems

W = TypeVar("W", bound="WorkflowType")

_ANNOTATED: Final = ("hero", "state")
_frame = sys._getframe  # noqa: SLF001 - a type may be defined in the function that defines the class


class WorkflowType(ABCMeta):
    """The metaclass of workflow classes. It reads, checks and registers each class."""

    __definitions__: Definitions
    __compiled__: CompiledClass | None
    __state__: StateType
    __registry__: PythonRegistry

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **options: Any) -> ClassBody:
        return ClassBody()

    def __new__(
        cls: type[W],
        name: str,
        bases: tuple[type, ...],
        body: ClassBody,
        /,
        *,
        abstract: bool = False,
        registry: PythonRegistry | None = None,
        **options: Any,
    ) -> W:
        if not isinstance(body, ClassBody):
            raise InvalidDefinition(
                f"{name} cannot be a workflow: write it as `class {name}(Workflow):`, or make it with "
                "types.new_class(name, bases, {}, fill); type(...), and a decorator that creates the class again, "
                "lose its steps"
            )
        made = super().__new__(cls, name, bases, dict(body), **options)
        made.__compiled__ = None
        if not any(isinstance(base, WorkflowType) for base in bases):
            made.__definitions__, made.__state__ = Definitions(), StateType()
            return made
        if registry is not None:
            made.__registry__ = registry
        _define(made, body, _frame(1), abstract=abstract or inspect.isabstract(made))
        return made


def _define(made: WorkflowType, body: ClassBody, frame: FrameType, *, abstract: bool) -> None:
    """Read the body, check it and register the class. Raise InvalidDefinition with all problems."""
    parents = [base.__definitions__ for base in made.__bases__ if isinstance(base, WorkflowType)]
    reader = ClassReader(made.__name__, body, parents)
    problems = reader.problems
    _check_names(body, problems)
    definitions = made.__definitions__ = reader.read()
    if "name" not in body:
        made.name = made.__name__  # type: ignore[attr-defined]  # a name is never inherited
    inherited = {name: getattr(made, name) for name in SETTINGS if name not in SCHEDULED}
    settings = read_settings({**inherited, **{name: body.get(name) for name in SCHEDULED}}, problems)
    made.__state__ = _state(made, body, frame, problems)
    if abstract or not definitions.steps:
        _refuse(made, problems)
        return
    compiled = compile_class(made, Workflow, settings, definitions, made.__state__, problems)
    problems.found += check(compiled.graph)
    _refuse(made, problems)
    made.__compiled__ = compiled
    made.__registry__.add(registered(compiled, definitions))


def _check_names(body: ClassBody, problems: Problems) -> None:
    """Add a problem for each name that is reserved or looks like a misspelt option."""
    for name in body:
        if name in _ANNOTATED:
            problems.add(name, f"annotate it only (`{name}: YourType`): its value comes with the run")
        elif name in RESERVED:
            problems.add(name, f"every workflow has {name!r} already; choose another name")
        elif name not in body.get("__annotations__", {}) and (meant := misspelt(name, body[name])):
            problems.add(name, f"a workflow has no option {name!r}; did you mean {meant!r}?")


def _state(made: WorkflowType, body: ClassBody, frame: FrameType, problems: Problems) -> StateType:
    """Return the type that the annotation of `state` names, in this class or a parent."""
    given = body.get("__annotations__", {}).get("state")
    if given is None:
        return made.__state__
    try:
        if isinstance(given, str):
            around = {**sys.modules[made.__module__].__dict__, **frame.f_locals, **body}
            given = eval(given, around)
        return StateType(given)
    except InvalidInput as error:
        problems.add("state", error.message)
    except Exception as error:  # noqa: BLE001 - an annotation may be any expression
        problems.add("state", f"its annotation cannot be read: {error}")
    return made.__state__


def _refuse(made: WorkflowType, problems: Problems) -> None:
    if problems.found:
        lines = "".join(f"\n  {problem}" for problem in problems.found)
        raise InvalidDefinition(f"{made.__qualname__} cannot be a workflow:{lines}", problems.found)


class Workflow(FlowVerbs, metaclass=WorkflowType):
    """The base of all workflow classes. The module docstring has an example."""

    name: ClassVar[str]
    queue: ClassVar[str | None] = None
    priority: ClassVar[int | None] = None
    max_duration: ClassVar[Duration | None] = None
    allow_multiple: ClassVar[bool] = False
    may_proceed_without_hero: ClassVar[bool] = False
    drift: ClassVar[str] = "tolerant"
    on_exception: ClassVar[Any] = "pause"
    schedule: ClassVar[Schedule | None] = None
    every: ClassVar[Duration | None] = None

    __registry__ = registry
    _attempt: ClassAttempt | None = None

    def before_step_starts(self, step_name: str) -> Any:
        """Override this to run code before the body of each step that is not cancelled or skipped. May be async."""

    if TYPE_CHECKING:
        hero: Any
        state: Any
    else:

        @property
        def hero(self) -> Any:
            """Return the object that the run is about, loaded for this attempt.

            Without a loader it is a reference (type and id). It is None if the run has no hero, or if the hero is gone
            and the workflow may proceed without it.
            """
            return self._now_running().hero

        @property
        def state(self) -> Any:
            """Return the state that steps share, of the annotated type.

            It is stored with the result of a step that succeeds or is skipped.
            """
            return self._now_running().state

        @state.setter
        def state(self, value: Any) -> None:
            self._now_running().state = value

    @property
    def hero_type(self) -> str | None:
        hero = self._now_running().view.facts.hero
        return None if hero is None else hero[0]

    @property
    def hero_id(self) -> str | None:
        hero = self._now_running().view.facts.hero
        return None if hero is None else hero[1]

    @property
    def input(self) -> Any:
        """Return the input that the run was started with."""
        return self._now_running().input

    @property
    def scheduled_at(self) -> datetime | None:
        """Return the slot of the schedule that started the run, or None if something else did."""
        return scheduled_at(self._now_running().view.facts.input)

    @property
    def run_id(self) -> str:
        return self._now_running().run_id

    @property
    def results(self) -> Mapping[str, Any]:
        """Return the results of earlier steps, by name."""
        return Results(self._now_running())

    @property
    def step_name(self) -> str:
        return self._now_running().step.name

    @property
    def attempt(self) -> int:
        """Return the number of this attempt of the step, from 1. Attempts that a crash interrupted count."""
        return self._now_running().call.attempt

    @property
    def idempotency_key(self) -> str:
        """Return a key that is the same in every attempt of this step of this run. Send it with every effect."""
        return self._now_running().call.idempotency_key

    @property
    def session(self) -> Any:
        """Return the database session of a transactional step."""
        session = self._now_running().session
        if session is None:
            raise RuntimeError("self.session is only available in steps with transactional=True")
        return session

    def secret(self, name: str) -> str:
        """Return the newest value of a secret, in a plain step. What the step returns or raises is redacted.

        Raise Permanent if there is no such secret."""
        return self._secrets().read(name)

    async def secret_async(self, name: str) -> str:
        """Return the newest value of a secret, in a coroutine."""
        return await self._secrets().read_async(name)

    @property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """Return a logger (`detent.workflow`) whose records have the run, workflow, step and attempt. Its lines are
        stored with the attempt."""
        now = self._now_running()
        facts = {"run": now.run_id, "workflow": self.name, "step": now.step.name, "attempt": self.attempt}
        return RunLog(workflow_logger, facts, current_log.get())

    def progress(self, fraction: float, text: str = "") -> None:
        """Show how far the attempt of the step is: from 0 to 1, with a few words. Only the latest is shown."""
        self._now_running()
        if (stored := current_log.get()) is not None:
            stored.progress(fraction, text)

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return self._now_running().now()

    def _now_running(self) -> ClassAttempt:
        if self._attempt is None:
            raise RuntimeError(
                f"this {type(self).__name__} has no run: workflows are instantiated by the engine; "
                "start one with detent.start, or try it with detent.testing.speedruns"
            )
        return self._attempt

    def _secrets(self) -> CodeSecrets:
        found = self._now_running().secrets
        if found is None:
            raise RuntimeError("the engine of this run opens no secrets")
        return found

    def _ask(self, verb: str, asked: FlowControl) -> NoReturn:
        attempt = self._attempt
        if attempt is None or attempt.is_over:
            raise RuntimeError(
                f"self.{verb}() works only in a step while it runs; from outside call "
                f"`run.{verb}()` on the handle that detent.start returned, or `detent runs {verb} ID`"
            )
        if attempt.asked is None:
            attempt.asked = asked
        raise asked

    def _where(self) -> str:
        return f"step {self._attempt.step.name!r}" if self._attempt is not None else ""


RESERVED: Final = frozenset(name for name in (*vars(Workflow), *vars(FlowVerbs)) if not name.startswith("__")) - {
    *SETTINGS,
    *_ANNOTATED,
    "before_step_starts",
}
