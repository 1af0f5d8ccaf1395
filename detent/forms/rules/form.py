"""The rule form: actions and edges, run when a record of an entity changes.

    name: Order Status Notification
    entity: order
    trigger_type: on_update
    trigger_conditions: {field_conditions: [{field_name: status, operator: changed_to, value: shipped}]}
    actions:
      - {name: Send Email, action_config: {recipients: ["{{customer_email}}"], subject: Shipped, body: It left us}}
    edges:
      - {target_action_id: send-email, edge_type: start}

An action with several incoming edges runs when all of them are decided and at least one is taken. A failure that takes
no edge ends the run. Edges name actions by their id, by their step, or as `temp:N`, their place in `actions`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from detent.forms.aliases import read_scope, scope_check
from detent.forms.compiled import Compiled, Limits, RuleFacts, TriggerDefinition, TriggerType
from detent.forms.definition import checked_document
from detent.forms.kinds import user_actions
from detent.forms.names import read_name, read_priority, read_queue, slug
from detent.forms.rules.action import WrittenAction, read_rule_action, step_names
from detent.forms.rules.conditions import OF_CHANGES, Conditions, read_conditions
from detent.forms.rules.edge import RuleEdge, read_edges
from detent.forms.rules.scope import RuleScope
from detent.forms.schedule import CRON_FIELDS, read_schedule
from detent.forms.templates import needed_language, template_reads
from detent.forms.text_tests import read_text_tests
from detent.forms.workflow_fields import (
    MOST_PARALLEL,
    POLICIES,
    OnUnhandled,
    placed,
    read_description,
    read_labels,
    read_limit,
    read_vars,
)
from detent.forms.written_work import check_answers, too_long
from detent.graph.check import cycles, describe_cycle, reachable, same_name, upstream
from detent.graph.model import RULE_SCOPE, Graph
from detent.values.fields import Fields, Problems, shown

FORM: Final = "rule"
_LIMITS: Final = Limits()
#: Fields of a rule that an editor sends. A save resolves the ids, and stores the layout beside the document.
_OF_EDITORS: Final = ("entity_id", "trigger_type_id", "canvas_layout")
FIELDS: Final = (
    *("form", "key", "name", "description", "is_active", "entity", "trigger_type", "trigger_conditions"),
    *("actions", "edges", "labels", "queue", "priority", "max_duration", "max_parallel", "on_unhandled"),
    *("vars", "output", "scope", "tests"),
    *CRON_FIELDS,
    *_OF_EDITORS,
)
_LONGEST_NAME: Final = 200
MAX_DURATION: Final = 30 * 86400.0
#: The record as it is now, in the condition of a trigger: that in the body, or the body itself.
_RECORD_OF_BODY: Final = "(body.after ?? body)"


class RuleTrigger(StrEnum):
    """When a rule runs."""

    ON_CREATE = "on_create"
    ON_UPDATE = "on_update"
    ON_DELETE = "on_delete"
    SCHEDULED = "scheduled"
    MANUAL = "manual"


OPERATIONS: Final = {
    RuleTrigger.ON_CREATE: ("create",),
    RuleTrigger.ON_UPDATE: ("update",),
    RuleTrigger.ON_DELETE: ("delete",),
}


class RuleOverlap(StrEnum):
    """What an event does while a run of the same record is open: it starts another one, or one that begins later."""

    ALLOW = "allow"
    QUEUE = "queue"


def compile_rule(
    document: Mapping[str, Any], *, limits: Limits = _LIMITS, actions: Collection[str] | None = None
) -> Compiled:
    """Compile a document of the rule form. Raise InvalidDefinition with all its problems.

    `actions` are the names that may be called; `None` does not check them."""
    problems = Problems()
    compiled = _compile(document, problems, limits, actions)
    problems.raise_if_any()
    return compiled


def read_facts(document: Mapping[str, Any], *, limits: Limits = _LIMITS) -> RuleFacts | None:
    """Return what a rule says about the changes that it is for, also if it is invalid otherwise. Raise
    InvalidDefinition if it cannot be read."""
    return _compile(document, Problems(), limits, None).rule


def _compile(
    document: Mapping[str, Any], problems: Problems, limits: Limits, actions: Collection[str] | None
) -> Compiled:
    fields = Fields(checked_document(document), "", problems)
    _refuse_too_many(fields, limits)
    fields.refuse_unknown(FIELDS)
    if fields.get("form") not in (None, FORM):
        fields.wrong("form", f"{FORM!r}")
    name, title = _read_names(fields)
    rule, trigger, remarks = _read_trigger(fields)
    written = _read_actions(fields, actions)
    edges = read_edges(fields, written)
    in_order = sorted(written, key=lambda one: (one.order, one.number))
    place = read_queue(fields), read_priority(fields)
    graph = Graph(
        steps=placed([one.built() for one in in_order], *place),
        edges=tuple(one.built() for one in edges if one.source is not None),
        on_failure=POLICIES[fields.choice("on_unhandled", OnUnhandled, OnUnhandled.FAIL)],
        scope=read_scope(fields, RULE_SCOPE),
        output=fields.get("output"),
        max_duration=read_limit(fields, "max_duration", MAX_DURATION),
        parallel=fields.integer("max_parallel", least=1, most=MOST_PARALLEL),
        vars=read_vars(fields),
        one_per_hero=rule.is_ordered,  # the hero of an event's run is its record
    )
    reads = [(one.path, one.field) for one in rule.conditions.leaves()]
    if written:
        _check_shape(graph, written, edges, problems)
        reads += _check_reads(graph, written, problems)
    graph = replace(graph, language=needed_language(graph))
    lasting = too_long(graph.max_duration, ((one.path, one) for one in written), "max_duration")
    check_answers(trigger, ((one.path, one) for one in written), problems, "an action of type core.respond")
    return Compiled(
        name=name,
        form=FORM,
        graph=graph,
        trigger=trigger,
        title=title,
        description=read_description(fields),
        enabled=fields.boolean("is_active", True),
        code=user_actions(graph.steps),
        labels=read_labels(fields),
        queue=place[0],
        priority=place[1],
        step_descriptions={one.step: one.description for one in written if one.description is not None},
        warnings=(*(warning for one in written for warning in one.warnings), *lasting, *remarks),
        tests=read_text_tests(fields.get("tests"), "tests", problems, graph),
        retried=frozenset(one.step for one in written if one.is_retried),
        limited=frozenset(one.step for one in written if one.is_limited),
        rule=replace(_facts(rule, reads, edges), ids=tuple((one.step, one.id or one.step) for one in written)),
        places=dict(pair for one in written for pair in one.places()),
    )


def _facts(rule: _Rule, reads: list[tuple[str, str]], edges: list[RuleEdge]) -> RuleFacts:
    return RuleFacts(
        rule.entity,
        rule.trigger.value,
        OPERATIONS.get(rule.trigger, ()),
        rule.conditions.expression(),
        rule.conditions.written,
        tuple(reads),
        tuple((f"{one.path}.edge_type", one.source.step) for one in edges if one.source and one.is_decided_later),
        rule.is_ordered,
    )


def _refuse_too_many(fields: Fields, limits: Limits) -> None:
    """Raise InvalidDefinition before anything is read if there are too many actions or edges."""
    for name, most in (("actions", limits.steps), ("edges", limits.edges)):
        items = fields.get(name)
        if isinstance(items, list) and len(items) > most:
            fields.problems.add(name, f"has {len(items)} {name}; at most {most} are allowed")
    fields.problems.raise_if_any()


# The rule: its names, what starts it, and its conditions.


@dataclass(frozen=True, slots=True)
class _Rule:
    entity: str | None
    trigger: RuleTrigger
    conditions: Conditions
    is_ordered: bool = False


def _read_names(fields: Fields) -> tuple[str, str | None]:
    """Return the name of the workflow and the name that people read."""
    title = fields.text("name", most=_LONGEST_NAME)
    if fields.get("name") is None:
        fields.problems.add("name", "is missing")
    if fields.get("key") is not None:
        inner = Problems()
        name = read_name(Fields({"name": fields.get("key")}, "", inner))
        for one in inner.found:
            fields.problems.add("key", one.message)
        return name, title
    name = "" if title is None else slug(title)
    if title is not None and not name:
        message = f"is missing, and {shown(title)} has no letter that can be in it; write a key such as order-shipped"
        fields.problems.add("key", message)
    return name, title


def _read_trigger(fields: Fields) -> tuple[_Rule, TriggerDefinition, list[str]]:
    """Read what starts a rule, and remarks that do not make it invalid."""
    remarks = []
    if fields.mapping("canvas_layout") is not None:
        remarks.append("canvas_layout: a document has no layout; save the rule in an editor, or send the layout itself")
    kind = _read_trigger_type(fields)
    block = Fields(fields.mapping("trigger_conditions") or {}, "trigger_conditions", fields.problems)
    conditions = read_conditions(block)
    is_ordered = kind in OPERATIONS and fields.choice("overlap", RuleOverlap, RuleOverlap.ALLOW) is RuleOverlap.QUEUE
    rule = _Rule(_read_entity(fields, kind), kind or RuleTrigger.MANUAL, conditions, is_ordered)
    if kind is not RuleTrigger.SCHEDULED:
        for name in fields.written([name for name in CRON_FIELDS if name != "overlap" or kind not in OPERATIONS]):
            fields.problems.add(name, f"is only for trigger_type scheduled{'' if kind is None else f', not {kind}'}")
    if kind is None or kind in OPERATIONS:
        return rule, TriggerDefinition(), remarks
    for one in conditions.leaves():
        if one.operator in OF_CHANGES:
            message = (
                f"{one.operator.value!r} compares a record before and after its change, and a {kind} rule has none"
            )
            fields.problems.add(one.path.removesuffix("field_name") + "operator", message)
    condition = conditions.expression(_RECORD_OF_BODY)
    if kind is RuleTrigger.MANUAL:
        return rule, TriggerDefinition(TriggerType.MANUAL, {}, condition), remarks
    if condition is not None:
        remarks.append("trigger_conditions: a schedule sends no record, so every field is null; use a condition action")
    schedule = Fields({name: fields.get(name) for name in CRON_FIELDS}, "", fields.problems)
    return rule, TriggerDefinition(TriggerType.CRON, read_schedule(schedule), condition), remarks


def _read_trigger_type(fields: Fields) -> RuleTrigger | None:
    name = _one_of(fields, "trigger_type", "trigger_type_id")
    if fields.get(name) is None:
        fields.problems.add("trigger_type", f"is missing; write one of {', '.join(RuleTrigger)}")
        return None
    known = len(fields.problems.found)
    found = fields.choice(name, RuleTrigger, RuleTrigger.MANUAL)
    return found if len(fields.problems.found) == known else None


def _read_entity(fields: Fields, kind: RuleTrigger | None) -> str | None:
    name = _one_of(fields, "entity", "entity_id")
    entity = fields.text(name, most=_LONGEST_NAME)
    if fields.get(name) is None and kind in OPERATIONS:
        fields.problems.add("entity", f"is missing: {kind} is about the records of an entity")
    if entity is not None and entity != entity.strip():
        fields.problems.add(name, f"{shown(entity)} has blanks at its ends")
    return entity


def _one_of(fields: Fields, name: str, other: str) -> str:
    """Return which of two spellings of a field is written."""
    if fields.get(other) is None:
        return name
    if fields.get(name) is not None:
        fields.problems.add(other, f"is another spelling of {name!r}; write one of them")
        return name
    return other


# Actions and edges.


def _read_actions(fields: Fields, actions: Collection[str] | None) -> list[WrittenAction]:
    items = fields.get("actions")
    if not isinstance(items, list | None):
        fields.wrong("actions", "a list of actions")
        return []
    if not items:
        fields.problems.add("actions", "there are no actions")
        return []
    names = step_names(items)
    found = [read_rule_action(number, raw, names[number], fields.problems, actions) for number, raw in enumerate(items)]
    ids: dict[str, WrittenAction] = {}
    steps: dict[str, WrittenAction] = {}
    kept = []
    for one in found:
        if one.id is not None and ids.setdefault(one.id, one) is not one:
            fields.problems.add(f"{one.path}.id", f"{shown(one.id)} is the id of {ids[one.id].path} already")
        first = steps.setdefault(one.step.casefold(), one)
        if first is one:
            kept.append(one)
        else:
            fields.problems.add(f"{one.path}.step", same_name(one.step, first.step))
    return kept


def _check_shape(graph: Graph, actions: list[WrittenAction], edges: list[RuleEdge], problems: Problems) -> None:
    """Report cycles, and actions that no start edge leads to."""
    looped = cycles(graph)
    for cycle in looped:
        words = describe_cycle(cycle).removeprefix("cycle: ")
        problems.add("edges", f"cycle detected between actions: {words}")
    reached = reachable(graph, [one.target.step for one in edges if one.source is None])
    joined = {step for one in edges if one.source is not None for step in (one.source.step, one.target.step)}
    for one in actions:
        if one.step in reached:
            continue
        if one.step in joined:
            problems.add(one.path, "unreachable: no path of edges leads from a start edge to it")
        else:
            problems.add(one.path, "orphaned: no edge leads to it; add an edge to it, or remove it")
    entered = {one.target.step: one.source.step for one in edges if one.source is not None}
    in_cycle = {step for cycle in looped for step in cycle}
    for edge in edges:
        before = entered.get(edge.target.step)
        if edge.source is None and before is not None and before in reached and edge.target.step not in in_cycle:
            message = f"{edge.target.step!r} follows {before!r}, so it is not a start; remove one of the edges"
            problems.add(f"{edge.path}.target_action_id", message)


def _check_reads(graph: Graph, actions: list[WrittenAction], problems: Problems) -> list[tuple[str, str]]:
    """Report reads of templates and conditions that cannot be answered. Return the fields of the entity that they
    read, with their places."""
    before = upstream(graph, [one.step for one in actions])
    kinds = {one.step: one.kind for one in actions}
    sensitive = [one.step for one in actions if one.sensitive]
    scope = scope_check(graph.scope, kinds, before, graph.vars, problems, sensitive)
    for one in actions:
        scope.check_step(one.step, one)
    for read in template_reads(graph.output, "output", problems):
        scope.check_output(read)
    fields = scope.fields if isinstance(scope, RuleScope) else []
    return [*fields, *((leaf.path, leaf.field) for one in actions for leaf in one.conditions)]
