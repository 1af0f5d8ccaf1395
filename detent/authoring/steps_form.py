"""The steps form: named steps with `needs` and `if`, as a mapping or a list.

    name: order-processing
    tasks:
      charge: {url: "https://shop.example/charge", body: {order: "{{trigger.body.order_id}}"}}
      receipt: {needs: [charge], if: tasks.charge.status_code == 200, url: "https://shop.example/receipt"}

`needs` are edges and all of them must be taken. Without `if` they are taken by success only, so a failed or skipped
need skips the step; with `if` they are taken by every ending and the condition decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from detent.authoring.compiled import Compiled, Limits
from detent.authoring.documents import checked_document
from detent.authoring.durations import SECOND
from detent.authoring.fields import Fields, Problems, described, inside, shown
from detent.authoring.steps_scope import StepsScope
from detent.authoring.steps_step import WrittenStep, read_priority, read_queue, read_step
from detent.authoring.templates import template_reads
from detent.authoring.trigger_schema import read_trigger_schema
from detent.authoring.triggers import TRIGGER_FIELDS, read_trigger
from detent.graph.check import cycles, describe_cycle, same_name, upstream
from detent.graph.model import ON_ANY, ON_SUCCESS, Edge, Graph, Step, StepKind

FORM: Final = "steps"
_LIMITS: Final = Limits()
_FIELDS: Final = (
    *("name", "description", "form", "enabled", "output", "labels", "queue", "priority", "tasks", "steps"),
    *("max_duration", "max_duration_seconds", "one_per_hero"),
    *TRIGGER_FIELDS,
    "trigger_schema",
)
DEFAULT_QUEUE: Final = "default"
_LONGEST_NAME: Final = 200
_LONGEST_DESCRIPTION: Final = 10_000
_MAX_DURATION: Final = 30 * 86400.0
_MOST_LABELS: Final = 64
_LONGEST_LABEL: Final = 200
# A name is a word of addresses and lists: no path, no invisible marks, nothing that turns the text around, no half of a
# character.
_NOT_IN_NAME: Final = re.compile(r"[/\\\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def compile_steps(
    document: Mapping[str, Any], *, limits: Limits = _LIMITS, actions: Collection[str] | None = None
) -> Compiled:
    """The workflow of a document in the steps form, or InvalidDefinition with all its problems. `actions` are the names
    that may be called; None leaves that for later."""
    problems = Problems()
    fields = Fields(checked_document(document), "", problems)
    fields.refuse_unknown(_FIELDS)
    if fields.get("form") not in (None, FORM):
        fields.wrong("form", f"{FORM!r}")
    name = read_name(fields)
    written = _read_steps(fields, limits, actions)
    place = read_queue(fields), read_priority(fields)
    graph = Graph(
        steps=_placed([step.step() for step in written], *place),
        edges=tuple(_edges(written, problems, limits)),
        output=fields.get("output"),
        max_duration=_max_duration(fields),
        one_per_hero=fields.boolean("one_per_hero", False),
    )
    _check_graph(graph, written, fields)
    trigger = read_trigger(fields)
    schema, remarks = read_trigger_schema(fields, trigger)
    compiled = Compiled(
        name=name,
        form=FORM,
        graph=graph,
        trigger=trigger,
        description=fields.text("description", most=_LONGEST_DESCRIPTION, lines=True),
        enabled=fields.boolean("enabled", True),
        code=_code(graph),
        labels=_labels(fields),
        queue=place[0],
        priority=place[1],
        trigger_schema=schema,
        warnings=(*(warning for step in written for warning in step.warnings), *remarks),
    )
    problems.raise_if_any()
    return compiled


def _placed(steps: list[Step], queue: str | None, priority: int | None) -> tuple[Step, ...]:
    """A run stays in the queue of its last step: where one step has its own, the others must say theirs."""
    own_queue = any(step.queue is not None for step in steps)
    own_priority = any(step.priority is not None for step in steps)
    usual = (queue or DEFAULT_QUEUE if own_queue else None, priority or 0 if own_priority else None)
    return tuple(
        replace(
            step,
            queue=usual[0] if step.queue is None else step.queue,
            priority=usual[1] if step.priority is None else step.priority,
        )
        for step in steps
    )


def read_name(fields: Fields) -> str:
    """The name of a workflow: 1 to 200 characters that can be seen, no slash, no blank at its ends."""
    if fields.get("name") is None:
        fields.problems.add(fields.at("name"), "is missing")
    name = fields.text("name", most=_LONGEST_NAME) or ""
    if name != name.strip() or name in {".", ".."} or _NOT_IN_NAME.search(name):
        rule = "without slashes, invisible characters, or blanks at its ends"
        fields.problems.add(fields.at("name"), f"{shown(name)} cannot be the name of a workflow; choose one {rule}")
    return name


def _read_steps(fields: Fields, limits: Limits, actions: Collection[str] | None) -> list[WrittenStep]:
    """Every step, in written order; of two with the same name the first."""
    found: dict[str, WrittenStep] = {}
    for name, raw, path in _named(fields, limits):
        written = read_step(name, raw, path, fields.problems, actions)
        first = found.setdefault(name.casefold(), written)
        if first is not written:
            fields.problems.add(path, same_name(name, first.name))
    return list(found.values())


def _named(fields: Fields, limits: Limits) -> Iterator[tuple[str, Any, str]]:
    """Name, content and path of each step, from a mapping or from a list of mappings with a name."""
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
    """The needs of all steps as edges; a need that cannot be one is a problem."""
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
                yield Edge(need, step.name, ON_SUCCESS if step.guard is None else ON_ANY)
            seen.add(need)


def _need_problem(
    name: str, need: str, seen: Collection[str], names: Collection[str], problems: Problems
) -> str | None:
    if need == name:
        return "a step cannot need itself"
    if need in seen:
        return f"{need!r} is there twice"
    if need not in names:
        return f"no step {shown(need)}{problems.did_you_mean(need, names)}"
    return None


def _check_graph(graph: Graph, written: list[WrittenStep], fields: Fields) -> None:
    """Cycles, and everything templates and conditions read."""
    problems = fields.problems
    paths = {step.name: step.path for step in written}
    for cycle in cycles(graph):
        problems.add(inside(paths[cycle[0]], "needs"), describe_cycle(cycle))
    # What stands behind an unknown need is not known either. An edge from a step to itself says so: nothing is said
    # about steps in or behind a cycle, so a misspelled need is one problem and not one for each template behind it.
    unclear = tuple(Edge(step.name, step.name) for step in written if step.unclear)
    known = replace(graph, edges=graph.edges + unclear)
    before = upstream(known, [step.name for step in written if step.reads])
    scope = StepsScope({step.name: step.kind for step in written}, before, problems)
    for step in written:
        for read in step.reads:
            scope.check(read, step.name)
    for read in template_reads(graph.output, "output", problems):
        scope.check(read, None)


def _max_duration(fields: Fields) -> float:
    written = fields.written(("max_duration", "max_duration_seconds"))
    if len(written) > 1:
        fields.problems.add("max_duration_seconds", "is another spelling of 'max_duration'; write one of them")
    if written == ["max_duration_seconds"] and isinstance(fields.get("max_duration_seconds"), str):
        fields.problems.add("max_duration_seconds", 'must be a number; or write max_duration: "30d"')
        return _MAX_DURATION
    seconds = fields.duration(written[0], unit=SECOND, zero=False) if written else None
    return _MAX_DURATION if seconds is None else seconds


def _labels(fields: Fields) -> dict[str, str]:
    labels = fields.mapping("labels") or {}
    if len(labels) > _MOST_LABELS:
        fields.problems.add("labels", f"has {len(labels)} labels; at most {_MOST_LABELS} are allowed")
        return {}
    inner = Fields(labels, "labels", fields.problems)
    for key in labels:
        if not key.strip() or len(key) > _LONGEST_LABEL:
            fields.problems.add(inner.at(key), f"the name of a label has 1 to {_LONGEST_LABEL} characters")
        if labels[key] is None:
            inner.wrong(key, "text")
    found = {key: inner.text(key, most=_LONGEST_LABEL) for key in labels}
    return {key: value for key, value in found.items() if value is not None}


def _code(graph: Graph) -> tuple[str, ...]:
    """The user's own actions: only a node that has them may run the workflow."""
    names = {str(step.config.get("action", "")) for step in graph.steps if step.kind is StepKind.ACTION}
    return tuple(sorted(name for name in names if name and not name.startswith("core.")))
