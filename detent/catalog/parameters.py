"""Checks the parameters of steps against the schemas of their actions.

At publish, every constant part of a `with` is checked. Parts with `{{ }}` are only known when they are rendered: then
the action checks the whole. Both report all problems with their paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec

from detent.catalog.action import ActionFacts
from detent.errors import InvalidDefinition, Problem
from detent.forms.compile import FORMS
from detent.forms.compiled import Compiled
from detent.forms.kinds import user_actions
from detent.forms.payload_schema import PayloadSchema
from detent.graph.model import Graph, OnCrash, Probe, Step, StepKind
from detent.values.fields import inside
from detent.values.nearest import nearest

Path = tuple[str | int, ...]

_LONGEST_MESSAGE: Final = 300
#: A key in the schema of a parameter that must be written as it is, without templates.
CONSTANT: Final = "x-detent-constant"


class KnownAction(Protocol):
    """An action that this process knows."""

    @property
    def facts(self) -> ActionFacts:
        """Return its description."""

    @property
    def timeout(self) -> float | None:
        """Return its own time limit in seconds."""

    @property
    def takes_context(self) -> bool:
        """Return whether its code gets the context of its attempt, which has its connections."""

    def misfits(self, constants: Mapping[str, Any], *, is_whole: bool) -> Mapping[str, str | None]:
        """Convert constant parameters. Return why each does not fit, or `None` for one that fits; the empty name stands
        for all of them together. What is not judged is left out. `is_whole`: there are no other parameters."""

    def unwrapped(self, given: Any) -> Any:
        """Return the `with` of a step as the schema describes it."""


FindAction = Callable[[str], KnownAction | None]


def check_actions(compiled: Compiled, find: FindAction | None, *, effects: bool = True) -> Compiled:
    """Return a compiled workflow with what its actions say: their probes, their time limits where a step states none,
    and warnings; without `effects`, only of deprecated ones.

    Raise InvalidDefinition if a constant parameter of a step does not fit its action, or if a probe is missing."""
    if find is None:
        return compiled
    problems: list[Problem] = []
    warnings: list[str] = []
    form = FORMS.get(compiled.form)
    changed: dict[str, Step] = {}
    outputs: dict[str, ActionFacts] = {}
    for step, action in _calls(compiled.graph, find):
        outputs[step.name] = action.facts
        changed |= _declared(compiled, step, action, problems)
        given = action.unwrapped(step.config.get("with") or {})
        problems += _templated(action.facts, given, f"steps.{step.name}.with")
        problems += constant_problems(action, given, f"steps.{step.name}.with")
        if "credential" in step.config and "version" not in step.config and not action.takes_context:
            words = f"has no meaning for {action.facts.id!r}, whose code has no parameter of the type ActionContext"
            problems.append(Problem(f"steps.{step.name}.credential", words))
        place = f"steps.{step.name}.action"
        said = _warnings(step, action.facts, effects=effects and step.name in compiled.retried)
        warnings += [f"{form.place(place, compiled) if form else place}: {one}" for one in said]
    problems += branch_problems(compiled, outputs)
    if problems:
        placed = [Problem(form.place(one.field, compiled) if form else one.field, one.message) for one in problems]
        raise InvalidDefinition(problems=placed)
    if changed:
        steps = tuple(changed.get(step.name, step) for step in compiled.graph.steps)
        compiled = replace(compiled, graph=replace(compiled.graph, steps=steps), code=user_actions(steps))
    return replace(compiled, warnings=(*compiled.warnings, *warnings)) if warnings else compiled


def branch_problems(compiled: Compiled, known: Mapping[str, ActionFacts]) -> Iterator[Problem]:
    """Yield a problem for each branch of a rule whose source does not declare that its output is true or false.

    `known` has the action of each step; steps that it does not have are not judged."""
    for place, step in () if compiled.rule is None else compiled.rule.branches:
        if step in known and known[step].output.get("type") != "boolean":
            words = f"{known[step].id!r} does not declare that its output is true or false, so {step!r} has no branches"
            yield Problem(place, f"{words}; lead from an action of type condition")


def _declared(compiled: Compiled, step: Step, action: KnownAction, problems: list[Problem]) -> dict[str, Step]:
    """Return the step with the probe and the time limit of its action, if it needs one of them."""
    made, probe = step, action.facts.effect.probe
    if step.on_crash is OnCrash.PROBE and probe is None:
        problems.append(no_probe(step.name, action.facts.id))
    elif step.on_crash is OnCrash.PROBE and probe is not None:
        made = replace(made, probe=Probe(probe))
    if action.timeout is not None and step.name not in compiled.limited:
        made = replace(made, timeout=action.timeout)
    return {} if made == step else {step.name: made}


def no_probe(step: str, action: str) -> Problem:
    """Return the problem of a step that asks for a probe which its action does not declare."""
    words = f"{action!r} declares no probe; declare `effect: probed(ACTION)` there, or write ask, fail or retry here"
    return Problem(f"steps.{step}.on_crash", words)


def _calls(graph: Graph, find: FindAction) -> Iterator[tuple[Step, KnownAction]]:
    for step in graph.steps:
        name = step.config.get("action")
        if step.kind is StepKind.ACTION and isinstance(name, str) and (found := find(name)) is not None:
            yield step, found


def _warnings(step: Step, facts: ActionFacts, *, effects: bool) -> Iterator[str]:
    if facts.deprecation is not None:
        yield f"{facts.id!r} is deprecated: {facts.deprecation}"
    if effects and step.retry.attempts > 1 and not facts.effect.is_repeatable:
        said = "an attempt that failed may have had its effect, and the next one may repeat it"
        yield f"{facts.id!r} does not declare its effect: {said}; declare `effect`, or write `retries: 0`"


def _templated(facts: ActionFacts, given: Any, root: str) -> Iterator[Problem]:
    """Yield a problem for each template in a parameter that must be constant. A text of SQL is one: a value that became
    a part of it could change what it does."""
    for name, schema in facts.parameters.get("properties", {}).items():
        value = given.get(name) if isinstance(given, Mapping) else None
        if schema.get(CONSTANT) is True and any(True for _ in _holes(value)):
            yield Problem(inside(root, name), "cannot have a template; pass values in `parameters`, as :name")


def constant_problems(action: KnownAction, given: Any, root: str) -> list[Problem]:
    """Return what is wrong with the constant parts of a `with`."""
    found = schema_problems(action.facts, given, root, holes=tuple(_holes(given)))
    if not isinstance(given, Mapping):
        return found
    # A conversion knows more than a schema: it decides about every parameter that it can judge.
    constants = {name: value for name, value in given.items() if not any(True for _ in _holes(value))}
    for name, message in action.misfits(constants, is_whole=len(constants) == len(given)).items():
        place = inside(root, name) if name else root
        about = [one for one in found if one.field == place or one.field.startswith((f"{place}.", f"{place}["))]
        if message is None:
            found = [one for one in found if one not in about]
        elif not about:
            found.append(Problem(place, _clipped(message)))
    return found


def constant_misfits(facts: ActionFacts, given: Any, root: str) -> list[Problem]:
    """Return what the schema of an action refuses of the constant parts of a `with`."""
    return schema_problems(facts, given, root, holes=tuple(_holes(given)))


def schema_problems(facts: ActionFacts, given: Any, root: str, *, holes: tuple[Path, ...] = ()) -> list[Problem]:
    """Return what the schema of an action refuses of a `with`, whatever comes into its `holes`. A schema that cannot
    be used refuses nothing."""
    if not facts.parameters:
        return []
    problems: list[Problem] = []
    if isinstance(given, Mapping) and facts.parameters.get("additionalProperties") is False:
        known = facts.parameters.get("properties", {})
        for name in given.keys() - known.keys():
            near = nearest(name, known)
            hint = "" if near is None else f"; did you mean {near!r}?"
            problems.append(Problem(inside(root, name), f"{facts.id!r} has no such parameter{hint}"))
        given = {name: value for name, value in given.items() if name in known}
    schema = _compiled(msgspec.json.encode(facts.parameters))
    found = [] if schema is None else schema.constant_problems(given, holes, root)
    return [*sorted(problems, key=str), *found]


@lru_cache(maxsize=256)
def _compiled(schema: bytes) -> PayloadSchema | None:
    """Return a schema that is ready to check parameters, or `None` if it cannot be used."""
    try:
        return PayloadSchema(msgspec.json.decode(schema))
    except InvalidDefinition:
        return None


def _holes(value: Any) -> Iterator[Path]:
    """Yield the path of each text with a template in it."""
    pending: list[tuple[Path, Any]] = [((), value)]
    while pending:
        place, one = pending.pop()
        if isinstance(one, str):
            if "{{" in one:
                yield place
        elif isinstance(one, Mapping):
            pending += [((*place, key), inner) for key, inner in one.items()]
        elif isinstance(one, list):
            pending += [((*place, number), inner) for number, inner in enumerate(one)]


def _clipped(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…"
