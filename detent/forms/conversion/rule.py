"""A workflow as a document of the rule form: actions with `start`, `sequence`, branch and `always` edges.

A rule has no join that waits for all, no `if`, no failure edges, no first match, and conditions of edges only over
whether their source is true or false.
"""

from __future__ import annotations

from typing import Any, Final

from detent.forms.asks import is_approval
from detent.forms.compiled import TriggerType
from detent.forms.conversion.parts import (
    TRIED,
    Document,
    Source,
    edges_into,
    edges_out_of,
    limit,
    map_fields,
    only_written,
    repeat_fields,
    request_fields,
    retries,
    sleep_length,
    wait_fields,
)
from detent.forms.rules.action import MAP_FIELDS, REPEAT_FIELDS, RETRY, TIMEOUT
from detent.forms.rules.action_types import CREATE_ALERT, SEND_EMAIL
from detent.forms.rules.conditions import literal
from detent.forms.rules.edge import EdgeType
from detent.forms.rules.form import MAX_DURATION, RuleTrigger
from detent.graph.fingerprint import canonical
from detent.graph.model import (
    NO_RETRY,
    ON_RAN,
    ON_SUCCESS,
    RULE_SCOPE,
    Edge,
    FailurePolicy,
    Join,
    OnCrash,
    Route,
    Step,
    StepKind,
)

_TYPES: Final = {one.action: one for one in (SEND_EMAIL, CREATE_ALERT)}


def write_rule(source: Source) -> Document:
    """Write a workflow in the rule form. What it cannot hold becomes a problem of `source`."""
    compiled, graph = source.compiled, source.compiled.graph
    source.refuse_code()
    if graph.context is not None:
        source.problems.add("contextSnapshot", "a rule has no limit of what later actions read")
    if graph.one_per_hero and not (compiled.rule is not None and compiled.rule.is_ordered):
        source.problems.add("one_per_hero", "a rule may have several open runs of a hero, unless it has overlap: queue")
    if compiled.trigger_schema is not None:
        source.problems.add("trigger_schema", "a rule has no schema of what starts it; its entity has one")
    starts, into = _trigger(source), edges_into(graph)
    steps = canonical(graph).steps
    for step in steps:
        _check_step(source, step, into[step.name])
    if source.problems.found:
        return {}
    descriptions = source.descriptions()
    return {
        "form": "rule",
        "key": compiled.name,
        "name": compiled.title or compiled.name,
        **only_written(description=compiled.description, is_active=None if compiled.enabled else False),
        **starts,
        **only_written(
            labels=dict(compiled.labels),
            queue=compiled.queue,
            priority=compiled.priority,
            max_duration=limit(graph.max_duration, MAX_DURATION),
            on_unhandled="settle" if graph.on_failure is FailurePolicy.SETTLE else None,
            max_parallel=graph.parallel,
            scope=None if graph.scope == RULE_SCOPE else graph.scope,
            vars=dict(graph.vars),
        ),
        "actions": [_action(step, descriptions.get(step.name)) for step in steps],
        "edges": [
            *(_edge(None, step.name, EdgeType.START) for step in steps if not into[step.name]),
            *(_edge(edge.source, edge.target, _type_of(edge)) for out in edges_out_of(graph).values() for edge in out),
        ],
        **({} if graph.output is None else {"output": graph.output}),
        **only_written(tests=source.document.get("tests")),
    }


def _trigger(source: Source) -> Document:
    rule, trigger = source.compiled.rule, source.compiled.trigger
    if rule is not None:
        order = "queue" if rule.is_ordered else None
        conditions = only_written(trigger_conditions=dict(rule.conditions), overlap=order)
        return {**only_written(entity=rule.entity), "trigger_type": rule.trigger_type, **conditions}
    if trigger.condition is not None:
        source.problems.add("trigger.condition", "a rule has conditions on fields, and no expression")
    match trigger.type:
        case TriggerType.CRON:
            return {"trigger_type": RuleTrigger.SCHEDULED.value, **trigger.config}
        case TriggerType.API | TriggerType.MANUAL:
            return {"trigger_type": RuleTrigger.MANUAL.value}
        case _:
            words = "a rule starts by a change of a record, by a schedule or by hand"
            source.problems.add("trigger", f"is {trigger.type.value!r}, and {words}")
            return {}


def _check_step(source: Source, step: Step, incoming: list[Edge]) -> None:
    """Report what a rule cannot hold of a step and of its incoming edges."""
    if step.join is Join.ALL and len(incoming) > 1:
        names = ", ".join(repr(edge.source) for edge in incoming)
        source.refuse(step.name, f"waits for all of {names}; an action of a rule runs after any of them")
    if step.guard is not None:
        source.refuse(step.name, "has an if; a rule has condition actions with branches")
    if step.route is Route.FIRST_MATCH:
        source.refuse(step.name, "takes only the first of its edges that matches (firstMatch)")
    if step.delay is not None:
        source.refuse(step.name, "has a delay before its first attempt; write a delay action before it")
    for edge in incoming:
        if edge.otherwise:
            source.refuse_edge(edge, "is taken if no other edge takes care of the ending (onFailure)")
        elif _written_type(edge) is None:
            source.refuse_edge(edge, _words(edge))


def _words(edge: Edge) -> str:
    if edge.condition is not None and edge.on == ON_SUCCESS:
        return "has a condition that is not whether its source is true or false"
    endings = "any ending" if len(edge.on) > len(ON_RAN) else ", ".join(sorted(edge.on))
    asked = " if a condition is true" if edge.condition is not None else ""
    return f"is taken after {endings}{asked}; a rule has sequence, true_branch, false_branch and always"


def _written_type(edge: Edge) -> EdgeType | None:
    """Return the type of edge that means the same, or `None`."""
    output = f"steps[{literal(edge.source)}].output"
    branches = {f"{output} == true": EdgeType.TRUE_BRANCH, f"{output} == false": EdgeType.FALSE_BRANCH}
    if edge.on == ON_RAN and not edge.handles and edge.condition is None:
        return EdgeType.ALWAYS
    if edge.on != ON_SUCCESS or not edge.handles:
        return None
    if edge.condition is None:
        return EdgeType.SEQUENCE
    return None if edge.false_on_error else branches.get(edge.condition)


def _type_of(edge: Edge) -> EdgeType:
    found = _written_type(edge)
    assert found is not None
    return found


def _edge(source: str | None, target: str, type_: EdgeType) -> Document:
    return {"source_action_id": source, "target_action_id": target, "edge_type": type_.value}


def _action(step: Step, description: str | None) -> Document:
    type_, config = _work(step)
    return {
        "step": step.name,
        "name": step.title or step.name,
        **only_written(description=description),
        "action_type": type_,
        "action_config": config,
        **map_fields(step.each, MAP_FIELDS),
        **only_written(
            credential=step.config.get("credential"),
            repeat=repeat_fields(step.repeat, REPEAT_FIELDS),
            **_tries(step),
            queue=step.queue,
            priority=step.priority,
        ),
    }


def _work(step: Step) -> tuple[str, Any]:
    """Return the type of an action and its config."""
    config = step.config
    match step.kind:
        case StepKind.HTTP:
            return "call", request_fields(step)
        case StepKind.SLEEP:
            return "delay", {"duration": sleep_length(step)}
        case StepKind.WAIT:
            return "approval" if is_approval(step) else "wait", wait_fields(step)
        case StepKind.CONDITION:
            return "condition", {"expression": config["expression"]}
        case StepKind.SUBWORKFLOW:
            child = only_written(
                input=config["input"],
                version=config.get("version"),
                wait=False if config.get("detached") else None,
                allow_recursion=config.get("recursion"),
            )
            return "start_workflow", {"workflow": config["workflow"], **child}
    type_, given = _TYPES.get(config["action"]), config["with"]
    if type_ is None:
        return config["action"], given
    written = {type_.renamed.get(name, name): value for name, value in given.items()}
    is_whole = written.keys() <= set(type_.keys) and written.keys() >= set(type_.required)
    return (type_.name, written) if is_whole else (config["action"], given)


def _tries(step: Step) -> Document:
    if step.kind not in TRIED:
        return {}
    is_child = step.kind is StepKind.SUBWORKFLOW
    return {
        "timeout": limit(step.timeout, None if is_child else TIMEOUT),
        "retries": retries(step.retry, NO_RETRY if is_child else RETRY),
        "rerender_on_retry": step.rerender or None,
        "sensitive": step.sensitive or None,
        "on_crash": None if step.on_crash is OnCrash.RETRY else step.on_crash.value,
    }
