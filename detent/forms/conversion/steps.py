"""A workflow as a document of the steps form: `needs` that all must be taken, and `if`.

The steps form has no conditions of edges, no first match, no failure edges, and no join of which one edge is enough.
"""

from __future__ import annotations

from typing import Final

from detent.forms.asks import is_approval
from detent.forms.conversion.parts import (
    Document,
    Source,
    edges_into,
    limit,
    map_fields,
    only_written,
    repeat_fields,
    request_fields,
    retries,
    sleep_length,
    trigger_of,
    wait_fields,
)
from detent.forms.steps.form import MAX_DURATION
from detent.forms.steps.step import MAP_FIELDS, REPEAT_FIELDS, RETRY, TIMEOUT
from detent.graph.fingerprint import canonical
from detent.graph.model import (
    FAILURES,
    NO_RETRY,
    ON_ANY,
    ON_RAN,
    ON_SUCCESS,
    STEPS_SCOPE,
    Edge,
    FailurePolicy,
    Join,
    OnCrash,
    Route,
    Step,
    StepKind,
)

_WORDS: Final = {FAILURES: "after a failure only", ON_RAN: "after a success or a failure (always)"}


def write_steps(source: Source) -> Document:
    """Write a workflow in the steps form. What it cannot hold becomes a problem of `source`."""
    compiled, graph = source.compiled, source.compiled.graph
    source.refuse_code()
    if graph.context is not None:
        source.problems.add("contextSnapshot", "the steps form has no limit of what later steps read")
    into, descriptions = edges_into(graph), source.descriptions()
    for step in canonical(graph).steps:
        _check_step(source, step, into[step.name])
    if source.problems.found:
        return {}
    return {
        "name": compiled.name,
        **only_written(
            title=None if compiled.title == compiled.name else compiled.title,
            description=compiled.description,
            enabled=None if compiled.enabled else False,
        ),
        **trigger_of(source),
        **({} if compiled.trigger_schema is None else {"trigger_schema": compiled.trigger_schema}),
        **only_written(
            labels=dict(compiled.labels),
            queue=compiled.queue,
            priority=compiled.priority,
            max_duration=limit(graph.max_duration, MAX_DURATION),
            one_per_hero=graph.one_per_hero or None,
            on_unhandled="fail" if graph.on_failure is FailurePolicy.FAIL_FAST else None,
            max_parallel=graph.parallel,
            scope=None if graph.scope == STEPS_SCOPE else graph.scope,
            vars=dict(graph.vars),
        ),
        "tasks": {step.name: _step(step, into[step.name], descriptions.get(step.name)) for step in graph.steps},
        **({} if graph.output is None else {"output": graph.output}),
        **only_written(tests=source.document.get("tests")),
    }


def _check_step(source: Source, step: Step, incoming: list[Edge]) -> None:
    """Report what the steps form cannot hold of a step and of its incoming edges."""
    if "first_of" in step.config:
        return
    if step.join is Join.ANY:
        names = ", ".join(repr(edge.source) for edge in incoming)
        source.refuse(step.name, f"runs after any of {names}; a step of the steps form waits for all its needs")
    if step.route is Route.FIRST_MATCH:
        source.refuse(step.name, "takes only the first of its edges that matches (firstMatch)")
    if step.delay is not None:
        source.refuse(step.name, "has a delay before its first attempt; write a sleep before it")
    seen: set[str] = set()
    for edge in incoming:
        for message in _edge_problems(edge, step):
            source.refuse_edge(edge, message)
        if edge.source in seen:
            source.refuse_edge(edge, "is a second one between the same two steps")
        seen.add(edge.source)


def _edge_problems(edge: Edge, target: Step) -> list[str]:
    found = []
    if edge.otherwise:
        found.append("is taken if no other edge takes care of the ending (onFailure)")
    if edge.condition is not None:
        found.append("has a condition; a step of the steps form has only an if of its own")
    wanted = ON_SUCCESS if target.guard is None else ON_ANY
    if edge.otherwise or (edge.on == wanted and edge.handles):
        return found
    if not edge.handles and edge.on != ON_RAN:
        found.append("takes care of no failure (handles: false)")
    elif edge.on == ON_SUCCESS:
        found.append("is taken after a success only, although its target has an if, which looks at every ending")
    elif edge.on == ON_ANY:
        found.append("is taken after any ending, although its target has no if")
    else:
        found.append(f"is taken {_WORDS.get(edge.on, 'after ' + ', '.join(sorted(edge.on)))}")
    return found


def _step(step: Step, incoming: list[Edge], description: str | None) -> Document:
    guard = {} if step.guard is None else {"if": step.guard}
    return {
        **only_written(title=step.title, description=description, needs=_needs(step, incoming)),
        **guard,
        **_work(step),
        **only_written(credential=step.config.get("credential")),
        **map_fields(step.each, MAP_FIELDS),
        **only_written(
            repeat=repeat_fields(step.repeat, REPEAT_FIELDS),
            **_tries(step),
            on_crash=None if step.on_crash is OnCrash.RETRY else step.on_crash.value,
            queue=step.queue,
            priority=step.priority,
        ),
    }


def _needs(step: Step, incoming: list[Edge]) -> list[str]:
    """Return the names that a step needs. A step with `first_of` lists them there."""
    return [] if "first_of" in step.config else [edge.source for edge in incoming]


def _work(step: Step) -> Document:
    config = step.config
    match step.kind:
        case StepKind.HTTP:
            return request_fields(step)
        case StepKind.SLEEP:
            return {"sleep": sleep_length(step)}
        case StepKind.WAIT:
            return {"approve" if is_approval(step) else "wait_for_webhook": wait_fields(step)}
        case StepKind.CONDITION:
            if "first_of" in config:
                return {"first_of": config["first_of"]}
            return {"condition": config["expression"]}
        case StepKind.SUBWORKFLOW:
            child = only_written(
                version=config.get("version"),
                wait=False if config.get("detached") else None,
                allow_recursion=config.get("recursion"),
            )
            return {"workflow": config["workflow"], **only_written(**{"with": config["input"]}), **child}
        case _:
            return {"action": config["action"], **only_written(**{"with": config["with"]})}


def _tries(step: Step) -> Document:
    is_child = step.kind is StepKind.SUBWORKFLOW
    if not is_child and step.kind not in (StepKind.HTTP, StepKind.ACTION):
        return {}
    return {
        "timeout": limit(step.timeout, None if is_child else TIMEOUT),
        "retries": retries(step.retry, NO_RETRY if is_child else RETRY),
        "rerender_on_retry": step.rerender or None,
        "sensitive": step.sensitive or None,
    }
