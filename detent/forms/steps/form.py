"""The steps form: named steps with `needs` and `if`, as a mapping or a list.

    name: order-processing
    tasks:
      charge: {url: "https://shop.example/charge", body: {order: "{{trigger.body.order_id}}"}}
      receipt: {needs: [charge], if: tasks.charge.status_code == 200, url: "https://shop.example/receipt"}

`needs` are edges, and all of them must be taken. Without `if` they are taken by success only, so a failed or skipped
need skips the step. With `if` they are taken by every ending, and the condition decides. A step with `first_of` runs
after whichever of its waits and sleeps ends first, and the other ones are cancelled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from detent.forms.aliases import read_scope, scope_check
from detent.forms.compiled import Compiled, Limits
from detent.forms.definition import checked_document
from detent.forms.entity_trigger import read_start
from detent.forms.kinds import user_actions
from detent.forms.names import read_name, read_priority, read_queue
from detent.forms.steps.step import WrittenStep, read_step
from detent.forms.templates import needed_language, template_reads
from detent.forms.text_tests import read_text_tests
from detent.forms.triggers import TRIGGER_FIELDS
from detent.forms.workflow_fields import (
    MOST_PARALLEL,
    POLICIES,
    OnUnhandled,
    placed,
    read_description,
    read_labels,
    read_limit,
    read_trigger_schema,
    read_vars,
)
from detent.forms.written_work import check_answers
from detent.graph.ask import ASK
from detent.graph.check import cycles, describe_cycle, same_name, upstream
from detent.graph.model import ON_ANY, ON_SUCCESS, STEPS_SCOPE, Edge, Ending, Graph, StepKind
from detent.values.fields import Fields, Problems, described, inside, shown

FORM: Final = "steps"
_LIMITS: Final = Limits()
_FIELDS: Final = (
    *("name", "title", "description", "form", "enabled", "output", "labels", "queue", "priority", "tasks", "steps"),
    *("max_duration", "max_duration_seconds", "one_per_hero", "on_unhandled", "max_parallel", "vars", "scope"),
    *TRIGGER_FIELDS,
    *("trigger_schema", "tests"),
)
_LONGEST_TITLE: Final = 200
MAX_DURATION: Final = 30 * 86400.0


#: The endings with which a wait or a sleep is the first of several.
_FIRST: Final = frozenset({Ending.SUCCESS, Ending.TIMEOUT})


def compile_steps(
    document: Mapping[str, Any], *, limits: Limits = _LIMITS, actions: Collection[str] | None = None
) -> Compiled:
    """Compile a document of the steps form. Raise InvalidDefinition with all its problems.

    `actions` are the names that may be called; `None` does not check them."""
    problems = Problems()
    fields = Fields(checked_document(document), "", problems)
    fields.refuse_unknown(_FIELDS)
    if fields.get("form") not in (None, FORM):
        fields.wrong("form", f"{FORM!r}")
    name = read_name(fields)
    written = _read_steps(fields, limits, actions)
    _enter_races(written, problems)
    place = read_queue(fields), read_priority(fields)
    trigger, rule = read_start(fields)
    graph = Graph(
        steps=placed([step.step() for step in written], *place),
        edges=tuple(_edges(written, problems, limits)),
        on_failure=POLICIES[fields.choice("on_unhandled", OnUnhandled, OnUnhandled.SETTLE)],
        scope=read_scope(fields, STEPS_SCOPE),
        output=fields.get("output"),
        max_duration=_max_duration(fields),
        one_per_hero=fields.boolean("one_per_hero", rule is not None and rule.is_ordered),
        parallel=fields.integer("max_parallel", least=1, most=MOST_PARALLEL),
        vars=read_vars(fields),
    )
    _check_graph(graph, written, fields)
    graph = replace(graph, language=needed_language(graph))
    schema, remarks = read_trigger_schema(fields, "trigger_schema", trigger)
    check_answers(trigger, ((step.path, step) for step in written), problems, "a step with respond")
    compiled = Compiled(
        name=name,
        form=FORM,
        graph=graph,
        trigger=trigger,
        title=fields.text("title", most=_LONGEST_TITLE),
        description=read_description(fields),
        enabled=fields.boolean("enabled", True),
        code=user_actions(graph.steps),
        labels=read_labels(fields),
        queue=place[0],
        priority=place[1],
        trigger_schema=schema,
        warnings=(*(warning for step in written for warning in step.warnings), *remarks),
        rule=rule,
        tests=read_text_tests(fields.get("tests"), "tests", problems, graph),
        retried=frozenset(step.name for step in written if step.is_retried),
        limited=frozenset(step.name for step in written if step.is_limited),
    )
    problems.raise_if_any()
    return compiled


def _read_steps(fields: Fields, limits: Limits, actions: Collection[str] | None) -> list[WrittenStep]:
    """Read every step, in written order; of two with the same name the first."""
    found: dict[str, WrittenStep] = {}
    for name, raw, path in _named(fields, limits):
        written = read_step(name, raw, path, fields.problems, actions)
        first = found.setdefault(name.casefold(), written)
        if first is not written:
            fields.problems.add(path, same_name(name, first.name))
    return list(found.values())


def _named(fields: Fields, limits: Limits) -> Iterator[tuple[str, Any, str]]:
    """Yield name, content and path of each step, from a mapping or from a list of mappings with a name."""
    written = fields.written(("tasks", "steps"))
    if len(written) > 1:
        fields.problems.add("steps", "is another spelling of 'tasks'; write one of them")
    key = written[0] if written else "tasks"
    tasks = fields.get(key)
    if not isinstance(tasks, dict | list | None):
        fields.wrong(key, "a mapping of names to steps")
    elif not tasks:
        fields.problems.add(key, "there are no steps")
    elif len(tasks) > limits.steps:
        fields.problems.add(key, f"has {len(tasks)} steps; at most {limits.steps} are allowed")
    elif isinstance(tasks, dict):
        yield from ((name, raw, inside(key, name)) for name, raw in tasks.items())
    else:
        for number, raw in enumerate(tasks):
            name = raw.get("name") if isinstance(raw, dict) else None
            if isinstance(name, str):
                yield name, raw, inside(key, name)
            else:
                wanted = "a mapping with a name" if name is None else f"named by a text, not {described(name)}"
                fields.problems.add(f"{key}[{number}]", f"a step in a list must be {wanted}")


def _edges(written: list[WrittenStep], problems: Problems, limits: Limits) -> Iterator[Edge]:
    """Yield the needs of all steps as edges. A need that cannot be an edge becomes a problem."""
    count = sum(len(step.needs) for step in written)
    if count > limits.edges:
        problems.add("tasks", f"there are {count} needs in all; at most {limits.edges} are allowed")
        return
    names = {step.name: None for step in written}
    for step in written:
        seen: set[str] = set()
        for need, place in step.needs:
            if message := _need_problem(step.name, need, seen, names, problems):
                problems.add(place, message)
                step.unclear = step.unclear or need not in names
            else:
                yield Edge(need, step.name, _endings(step))
            seen.add(need)


def _endings(step: WrittenStep) -> frozenset[Ending]:
    """Return the endings of a need after which the step runs. A guard decides about every one of them, and whichever
    of several waits is first may be so by its timeout."""
    if step.first_of:
        return _FIRST
    return ON_SUCCESS if step.guard is None else ON_ANY


def _enter_races(written: list[WrittenStep], problems: Problems) -> None:
    """Check the members of each `first_of`. Each wait among them gets an ask: its answer ends the other ones."""
    steps = {step.name: step for step in written}
    for step in written:
        for name, path in step.needs if step.first_of else ():
            member = steps.get(name)
            if member is not None and member.kind not in (StepKind.WAIT, StepKind.SLEEP):
                problems.add(path, f"{name!r} is neither a wait nor a sleep; only these can be ended by another one")
            elif member is not None and member.kind is StepKind.WAIT:
                member.config.setdefault(ASK, {})


def _need_problem(
    name: str, need: str, seen: Collection[str], names: Collection[str], problems: Problems
) -> str | None:
    if need == name:
        return "a step cannot need itself"
    if need in seen:
        return f"{need!r} is given twice"
    if need not in names:
        return f"no step {shown(need)}{problems.did_you_mean(need, names)}"
    return None


def _check_graph(graph: Graph, written: list[WrittenStep], fields: Fields) -> None:
    """Report cycles, and invalid reads of templates and conditions."""
    problems = fields.problems
    paths = {step.name: step.path for step in written}
    for cycle in cycles(graph):
        problems.add(inside(paths[cycle[0]], "needs"), describe_cycle(cycle))
    # What comes after an unknown need is not known either. A self-edge marks such a step, since steps in or after a
    # cycle are not checked. So a misspelled need is one problem, not one for each template after it.
    unclear = tuple(Edge(step.name, step.name) for step in written if step.unclear)
    known = replace(graph, edges=graph.edges + unclear)
    before = upstream(
        known,
        [
            step.name
            for step in written
            if step.reads or step.planned_reads or step.map is not None or step.repeat is not None
        ],
    )
    kinds = {step.name: step.kind for step in written}
    sensitive = [step.name for step in written if step.sensitive]
    scope = scope_check(graph.scope, kinds, before, graph.vars, problems, sensitive)
    for step in written:
        scope.check_step(step.name, step)
    for read in template_reads(graph.output, "output", problems):
        scope.check_output(read)


def _max_duration(fields: Fields) -> float | None:
    written = fields.written(("max_duration", "max_duration_seconds"))
    if len(written) > 1:
        fields.problems.add("max_duration_seconds", "is another spelling of 'max_duration'; write one of them")
    if written == ["max_duration_seconds"] and isinstance(fields.get("max_duration_seconds"), str):
        fields.problems.add("max_duration_seconds", 'must be a number; or write max_duration: "30d"')
        return MAX_DURATION
    return read_limit(fields, written[0], MAX_DURATION) if written else MAX_DURATION
