"""A compiled workflow class: everything that is known before an attempt is computed once.

A step is a sequence of stages: the conditions of `cancel_if`, `skip_if`, `before_step_starts` and the body. Plain
functions run in a thread and coroutines on the loop. As many stages as possible share one visit to a thread.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from detent.forms.compiled import Compiled
from detent.graph.model import Edge, Ending, FailurePolicy, Graph, Step, StepKind
from detent.python.classes.definition import Definitions, StepDefinition
from detent.python.classes.drift import DriftCheck
from detent.python.classes.state import StateType
from detent.python.fingerprint import fingerprint
from detent.python.flow import Policies
from detent.python.registry import CodeKind, Registered, code_name
from detent.python.results import lenient_decoder
from detent.python.settings import HOOK, DriftPolicy, WorkflowSettings
from detent.steps.arguments import innermost
from detent.values.fields import Problems
from detent.values.nearest import nearest
from detent.values.text import plain_text

GOES_ON: Final = frozenset({Ending.SUCCESS, Ending.SKIPPED})
DEFAULT_QUEUE: Final = "default"


@dataclass(frozen=True, slots=True)
class UserCode:
    """One callable of the user. `name` is the name that users see."""

    name: str
    call: Callable[..., Any]
    is_async: bool


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """One step, ready to run.

    `in_thread[n]` is true if the code from stage n up to the next coroutine needs a thread. The last entry is for the
    code after the body.
    """

    name: str
    cancel_if: tuple[UserCode, ...]
    skip_if: UserCode | None
    before: UserCode | None
    body: UserCode
    in_thread: tuple[bool, ...]
    always_skipped: bool
    is_checked: bool  # whether it has cancel_if or skip_if conditions
    is_transactional: bool
    timeout: float | None
    policies: Policies
    earlier: tuple[str, ...]  # the steps before it
    decode: Callable[[bytes], Any]  # reads its result, by the annotation of its body


class CompiledClass:
    """A workflow class with its settings, steps, state type and fingerprint. Its runs are planned with `graph`."""

    def __init__(
        self,
        target: type[Any],
        settings: WorkflowSettings,
        steps: Sequence[CompiledStep],
        state: StateType,
        graph: Graph,
        fingerprint: str,
    ) -> None:
        self.target, self.settings, self.state = target, settings, state
        self.steps = {step.name: step for step in steps}
        self.graph, self.fingerprint = graph, fingerprint
        self.drift = DriftCheck(settings.name, settings.drift, graph)
        self.may_proceed_without_hero = settings.may_proceed_without_hero


def compile_class(
    target: type[Any],
    base: type[Any],
    settings: WorkflowSettings,
    definitions: Definitions,
    state: StateType,
    problems: Problems,
) -> CompiledClass:
    """Compile a class below `base`. Add a problem for each named method that does not exist."""
    find = _Finder(target, problems)
    conditions = tuple(
        found
        for one in definitions.conditions
        if one.value is not False and (found := find.condition("cancel_if", one.attribute or one.value)) is not None
    )
    is_hooked = inspect.getattr_static(target, HOOK) is not vars(base)[HOOK]
    before = find.stage(HOOK, HOOK) if is_hooked else None
    steps: list[CompiledStep] = []
    for one in definitions.steps:
        earlier = tuple(step.name for step in steps)
        step = find.step(one, settings, conditions, before, earlier)
        if step is not None:
            steps.append(step)
    of_code = fingerprint(_functions(target, base, definitions), described(settings, definitions))
    return CompiledClass(target, settings, steps, state, _graph(settings, definitions, of_code), of_code)


class _Finder:
    """Finds the code that the definitions name."""

    def __init__(self, target: type[Any], problems: Problems) -> None:
        self._target, self._problems = target, problems

    def step(
        self,
        one: StepDefinition,
        settings: WorkflowSettings,
        conditions: tuple[UserCode, ...],
        before: UserCode | None,
        earlier: tuple[str, ...],
    ) -> CompiledStep | None:
        body = self.stage(one.name, one.attribute or one.function)
        skip = one.options.skip_if
        skip_if = None if skip is None or isinstance(skip, bool) else self.condition(one.name, skip)
        if body is None:
            return None
        if body.is_async and one.options.inline:
            self._problems.add(one.name, "inline: only a plain function can be inline, not an async one")
        stages = [*conditions, *filter(None, (skip_if, before)), body]
        return CompiledStep(
            name=one.name,
            cancel_if=conditions,
            skip_if=skip_if,
            before=before,
            body=body,
            in_thread=_visits(stages, is_inline=one.options.inline),
            always_skipped=skip is True,
            is_checked=bool(conditions) or bool(skip),
            is_transactional=one.options.transactional,
            timeout=one.timeout,
            policies=one.policies or settings.policies,
            earlier=earlier,
            decode=lenient_decoder(innermost(body.call)),
        )

    def condition(self, where: str, given: Any) -> UserCode | None:
        """Return the code of a condition: the name of a method or property, a callable, or True."""
        if given is True:
            return UserCode("True", lambda workflow: True, is_async=True)  # `is_async`, because it needs no thread
        return self.stage(where, given)

    def stage(self, where: str, given: Any) -> UserCode | None:
        """Return the code of a name or a callable, as a function of the workflow. Add a problem if there is none."""
        if not isinstance(given, str):
            self._check(where, given, takes=1)
            return UserCode(getattr(given, "__name__", "a function"), given, inspect.iscoroutinefunction(given))
        found = inspect.getattr_static(self._target, given, None)
        if found is None:
            methods = [name for name in dir(self._target) if not name.startswith("_")]
            meant = nearest(given, methods)
            hint = f"; did you mean {meant!r}?" if meant else ""
            self._problems.add(where, f"there is no method {given!r}{hint}")
            return None
        if isinstance(found, property) and found.fget is not None:
            return UserCode(given, found.fget, is_async=False)
        if inspect.isfunction(found):
            self._check(where, found, takes=2 if given == HOOK else 1)
            return UserCode(given, found, inspect.iscoroutinefunction(found))
        if not callable(getattr(self._target, given)):
            self._problems.add(where, f"{given!r} is not a method")
            return None
        return UserCode(given, lambda workflow, *more: getattr(workflow, given)(*more), is_async=False)

    def _check(self, where: str, function: Any, *, takes: int) -> None:
        """Add a problem if it cannot be called with the workflow alone (and the step's name, for the hook)."""
        if not callable(function):
            self._problems.add(where, f"{function!r} cannot be called")
            return
        try:
            inspect.signature(function).bind(*range(takes))
        except TypeError as error:
            wanted = "self" if takes == 1 else "self and the step's name"
            self._problems.add(where, f"it must take {wanted} and nothing else: {error}")
        except ValueError:
            return  # it has no readable signature: a wrong one raises when it is called


def _visits(stages: Sequence[UserCode], *, is_inline: bool) -> tuple[bool, ...]:
    found = [False]
    for stage in reversed(stages):
        found.append(False if stage.is_async else found[-1] or not is_inline)
    return tuple(reversed(found))


def described(settings: WorkflowSettings, definitions: Definitions) -> dict[str, Any]:
    """Return the options of a class, for documents and fingerprints. Options without a value are omitted."""
    said = {
        "queue": settings.queue,
        "priority": settings.priority,
        "max_duration": settings.max_duration,
        "allow_multiple": settings.allow_multiple or None,
        "may_proceed_without_hero": settings.may_proceed_without_hero or None,
        "drift": str(settings.drift),
        "on_exception": settings.policies.as_json(),
        "cancel_if": [one.name for one in definitions.conditions] or None,
        "steps": [_step_document(one) for one in definitions.steps],
    }
    return {key: value for key, value in said.items() if value is not None}


def _step_document(one: StepDefinition) -> dict[str, Any]:
    skip = one.options.skip_if
    said = {
        "name": one.name,
        "calls": one.attribute or getattr(one.function, "__name__", "a function"),
        "wait": one.wait,
        "skip_if": skip if isinstance(skip, str | bool | None) else getattr(skip, "__name__", "a function"),
        "on_exception": None if one.policies is None else one.policies.as_json(),
        "queue": one.options.queue,
        "priority": one.options.priority,
        "timeout": one.timeout,
        "inline": one.options.inline or None,
        "transactional": one.options.transactional or None,
        "on_crash": None if one.on_crash == "retry" else str(one.on_crash),
    }
    return {key: value for key, value in said.items() if value is not None}


def _functions(target: type[Any], base: type[Any], definitions: Definitions) -> list[Callable[..., Any]]:
    """Return all code of the class and its parents, and the functions that its steps and conditions call."""
    found: list[Callable[..., Any]] = []
    classes = target.__mro__[: target.__mro__.index(base)]
    for name in sorted({name for one in classes for name in vars(one)}):
        value = inspect.getattr_static(target, name)
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if inspect.isfunction(function):
            found.append(function)
    found += [one.function for one in definitions.steps if one.function is not None]
    conditions = [one.value for one in definitions.conditions] + [one.options.skip_if for one in definitions.steps]
    return found + [condition for condition in conditions if callable(condition)]


def _graph(settings: WorkflowSettings, definitions: Definitions, of_code: str) -> Graph:
    config = {"workflow": settings.name, "drift": str(settings.drift), "fingerprint": of_code}
    queue = priority = None
    # A run stays in the queue of its last step. So if one step has a queue or priority, all steps need one.
    if any(one.options.queue is not None for one in definitions.steps):
        queue = settings.queue or DEFAULT_QUEUE
    if any(one.options.priority is not None for one in definitions.steps):
        priority = settings.priority or 0
    steps = tuple(
        Step(
            one.name,
            StepKind.PYTHON,
            {**config, "transactional": True} if one.options.transactional else config,
            delay=one.wait or None,
            on_crash=one.on_crash,
            queue=one.options.queue or queue,
            priority=priority if one.options.priority is None else one.options.priority,
        )
        for one in definitions.steps
    )
    names = [step.name for step in steps]
    edges = tuple(Edge(source, target, GOES_ON) for source, target in pairwise(names))
    return Graph(
        steps,
        edges,
        on_failure=FailurePolicy.PAUSE,
        scope="python",
        max_duration=settings.max_duration,
        one_per_hero=not settings.allow_multiple,
    )


# The stored form of a workflow class: a graph like that of every form, and a document for users.


FORM: Final = "python"
_LONGEST_DESCRIPTION: Final = 10_000


def registered(compiled_class: CompiledClass, definitions: Definitions) -> Registered:
    """Return the entry of the class for the registry."""
    settings, target = compiled_class.settings, compiled_class.target
    place = f"{target.__module__}:{target.__qualname__}"
    description = _description(target)
    pinned = compiled_class.fingerprint if settings.drift is DriftPolicy.PIN else None
    compiled = Compiled(
        name=settings.name,
        form=FORM,
        graph=compiled_class.graph,
        description=description,
        code=(code_name(settings.name, pinned),),
        queue=settings.queue,
        priority=settings.priority,
        trigger=settings.trigger,
    )
    document: dict[str, Any] = {"form": FORM, "name": settings.name, "class": place}
    if description is not None:
        document["description"] = description
    document |= {**described(settings, definitions), "fingerprint": compiled_class.fingerprint}
    if settings.trigger.config:
        document["schedule"] = settings.trigger.config
    source = json.dumps(document, ensure_ascii=False)
    return Registered(settings.name, CodeKind.CHAIN, target, compiled, source, compiled_class.fingerprint, place)


def _description(target: type[Any]) -> str | None:
    """Return the docstring of the class itself, not an inherited one."""
    text = (vars(target).get("__doc__") or "").strip()
    return plain_text(" ".join(text.split()), _LONGEST_DESCRIPTION) or None
