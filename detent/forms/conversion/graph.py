"""A workflow as a document of the graph form, which can hold every graph but code."""

from __future__ import annotations

from typing import Any, Final

from detent.forms.asks import is_approval
from detent.forms.conversion.parts import (
    TRIED,
    Document,
    Source,
    edges_into,
    edges_out_of,
    limit,
    map_fields,
    milliseconds,
    number,
    only_written,
    repeat_fields,
    request_fields,
    sleep_length,
    trigger_of,
    wait_fields,
)
from detent.forms.graph.form import MAX_DURATION, id_problem
from detent.forms.graph.node import MAP_FIELDS, ON, REPEAT_FIELDS, RETRY, TIMEOUT, When
from detent.graph.fingerprint import canonical
from detent.graph.model import (
    FAILURES,
    GRAPH_SCOPE,
    NO_RETRY,
    ContextSnapshot,
    Edge,
    FailurePolicy,
    Join,
    OnCrash,
    Retry,
    Route,
    Step,
    StepKind,
)
from detent.values.durations import write_duration

_WHEN: Final = {endings: when for when, endings in ON.items()}


def write_graph(source: Source) -> Document:
    """Write a workflow in the graph form. What it cannot hold becomes a problem of `source`."""
    compiled, graph = source.compiled, source.compiled.graph
    source.refuse_code()
    if problem := id_problem(compiled.name):
        source.problems.add("name", f"{problem}; choose another name for the converted workflow")
    if source.problems.found:
        return {}
    steps = {step.name: step for step in canonical(graph).steps}
    out, descriptions = edges_out_of(graph), source.descriptions()
    into = edges_into(graph)
    starts = [name for name, incoming in into.items() if not incoming]
    waiting = {name for name, incoming in into.items() if len(incoming) > 1 and steps[name].join is Join.ALL}
    return {
        "form": "graph",
        "id": compiled.name,
        "displayName": compiled.title or compiled.name,
        **only_written(description=compiled.description, enabled=None if compiled.enabled else False),
        **trigger_of(source),
        **({} if compiled.trigger_schema is None else {"triggerSchema": compiled.trigger_schema}),
        **only_written(
            labels=dict(compiled.labels),
            queue=compiled.queue,
            priority=compiled.priority,
            maxDuration=limit(graph.max_duration, MAX_DURATION),
            onePerHero=graph.one_per_hero or None,
            onUnhandled="settle" if graph.on_failure is FailurePolicy.SETTLE else None,
            maxParallel=graph.parallel,
            contextSnapshot=_context(graph.context),
            scope=None if graph.scope == GRAPH_SCOPE else graph.scope,
            vars=dict(graph.vars),
        ),
        **({"startNode": starts[0]} if len(starts) == 1 else {"startNodes": starts}),
        "nodes": [
            _node(steps[name], out[name], descriptions.get(name), waits_for_all=name in waiting) for name in steps
        ],
        **({} if graph.output is None else {"output": graph.output}),
        **only_written(tests=source.document.get("tests")),
    }


def _context(context: ContextSnapshot | None) -> Document | None:
    if context is None:
        return None
    return {
        "mode": context.mode.value,
        **only_written(keys=list(context.keys)),
        "maxBytes": context.max_bytes,
        "overflow": context.overflow.value,
    }


def _node(step: Step, outgoing: list[Edge], description: str | None, *, waits_for_all: bool) -> Document:
    guard = {} if step.guard is None else {"if": step.guard}
    return {
        "id": step.name,
        **only_written(displayName=step.title, description=description),
        **_work(step),
        **map_fields(step.each, MAP_FIELDS),
        **only_written(
            credential=step.config.get("credential"),
            repeat=repeat_fields(step.repeat, REPEAT_FIELDS),
            policies=_policies(step),
            delay=None if step.delay is None else write_duration(step.delay),
            queue=step.queue,
            priority=step.priority,
            join=Join.ALL.value if waits_for_all else None,
        ),
        **guard,
        **_edges(step, outgoing),
    }


def _work(step: Step) -> Document:
    config = step.config
    match step.kind:
        case StepKind.HTTP:
            return {"actionType": "core.http.request", "parameters": request_fields(step)}
        case StepKind.SLEEP:
            return {"actionType": "core.delay", "parameters": {"duration": sleep_length(step)}}
        case StepKind.WAIT:
            action = "core.approval" if is_approval(step) else "core.wait"
            return {"actionType": action, **only_written(parameters=wait_fields(step))}
        case StepKind.CONDITION:
            return {"nodeType": "condition", "expression": config["expression"]}
        case StepKind.SUBWORKFLOW:
            child = only_written(
                parameters=config["input"],
                workflowVersion=config.get("version"),
                waitForCompletion=False if config.get("detached") else None,
                allowRecursion=config.get("recursion"),
            )
            return {"nodeType": "subworkflow", "workflowId": config["workflow"], **child}
        case _:
            return {"actionType": config["action"], **only_written(parameters=config["with"])}


def _policies(step: Step) -> Document | None:
    if step.kind not in TRIED:
        return None
    is_child = step.kind is StepKind.SUBWORKFLOW
    return only_written(
        timeoutMs=limit(step.timeout, None if is_child else TIMEOUT, milliseconds),
        retry=_retry(step.retry, NO_RETRY if is_child else RETRY),
        rerenderOnRetry=step.rerender or None,
        sensitive=step.sensitive or None,
        onCrash=None if step.on_crash is OnCrash.RETRY else step.on_crash.value,
    )


def _retry(retry: Retry, usual: Retry) -> Document | None:
    if retry == usual:
        return None
    usual_wait = max(RETRY.max_delay, retry.delay)
    return {
        "maxAttempts": retry.attempts,
        **only_written(
            baseDelayMs=None if retry.delay == RETRY.delay else milliseconds(retry.delay),
            backoffFactor=None if retry.factor == RETRY.factor else number(retry.factor),
            jitter=None if retry.jitter == RETRY.jitter else retry.jitter,
            maxDelayMs=None if retry.max_delay == usual_wait else milliseconds(retry.max_delay),
        ),
    }


def _edges(step: Step, outgoing: list[Edge]) -> Document:
    last = [edge for edge in outgoing if edge.otherwise]
    on_failure = last[0].target if len(last) == 1 and _is_on_failure(last[0]) else None
    return only_written(
        routePolicy="firstMatch" if step.route is Route.FIRST_MATCH else None,
        edges=[_edge(edge) for edge in outgoing if not (edge.otherwise and on_failure is not None)],
        onFailure=on_failure,
    )


def _is_on_failure(edge: Edge) -> bool:
    return edge.on == FAILURES and edge.condition is None and edge.handles


def _edge(edge: Edge) -> Document:
    when = _WHEN.get(edge.on)
    word: Any = sorted(edge.on) if when is None else when.value
    asked = {} if edge.condition is None else {"condition": edge.condition}
    return {
        "targetNode": edge.target,
        **({} if when is When.SUCCESS else {"when": [str(one) for one in word] if when is None else word}),
        **asked,
        **only_written(
            onError="false" if edge.false_on_error and asked else None,
            otherwise=edge.otherwise or None,
            handles=None if edge.handles == (when is not When.ALWAYS) else edge.handles,
        ),
    }
