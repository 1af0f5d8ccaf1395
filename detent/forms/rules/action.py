"""One action of a rule: its type with its config, its policies, and the name of its step."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from detent.forms.kinds import (
    RETRY_FIELDS,
    TRIED_KINDS,
    ChildFields,
    MapFields,
    RepeatFields,
    Work,
    action_name_problem,
    read_action,
    read_child,
    read_expression,
    read_map,
    read_on_crash,
    read_repeat,
    read_retry,
    retry_warnings,
    unit_warning,
)
from detent.forms.names import check_step_name, read_priority, read_queue, slug
from detent.forms.rules.action_types import ACTION_TYPES, ActionType, Severity, infer_type
from detent.forms.rules.conditions import FieldCondition, read_conditions
from detent.forms.templates import template_reads
from detent.forms.workflow_fields import read_description, read_limit
from detent.forms.written_work import WrittenWork
from detent.graph.model import NO_RETRY, Join, Retry, Step, StepKind
from detent.values.fields import Fields, Problems, described, shown
from detent.values.limits import ID_LIMIT

MAP_FIELDS: Final = MapFields("for_each", "max_parallel", "collect", "on_item_failure", "tolerate", "max_items")
REPEAT_FIELDS: Final = RepeatFields("until", "every", "factor", "max_wait", "give_up_after")
_CHILD_FIELDS: Final = ChildFields("workflow", "input", "version", "wait", "allow_recursion")
_TRIED: Final = (*RETRY_FIELDS, "timeout", "on_crash", "rerender_on_retry", "sensitive", "credential")
ACTION_FIELDS: Final = (
    *("id", "step", "name", "description", "action_type", "action_config", "execution_order", "is_active"),
    *("queue", "priority", "repeat"),
    *_TRIED,
    *MAP_FIELDS.all(),
)
LONGEST_NAME: Final = 200
LARGEST_ORDER: Final = 1_000_000
TIMEOUT: Final = 300.0
RETRY: Final = Retry(attempts=3)
_EXAMPLE: Final = "total > 100"
_ADDRESSES: Final = ("cc", "bcc", "reply_to")
_LONGEST_STEP: Final = 64
TEMPORARY: Final = re.compile(r"temp:(.*)", re.DOTALL)


@dataclass(slots=True)
class WrittenAction(WrittenWork):
    """An action as far as it could be read. `number` is its place in `actions`. `type` is `None` for an action of the
    catalog."""

    number: int
    path: str
    name: str = ""
    step: str = ""
    id: str | None = None
    order: int = 1
    type: ActionType | None = None
    conditions: list[FieldCondition] = field(default_factory=list)  # of a condition that is written with fields
    description: str | None = None

    @property
    def may_branch(self) -> bool:
        """Return whether its output can be true or false. Of an action of the catalog, its schema decides later."""
        return self.type.is_boolean if self.type is not None else self.kind in (StepKind.ACTION, None)

    def built(self) -> Step:
        """Build the step of the graph."""
        return self.build_step(self.step, join=Join.ANY, title=None if self.name == self.step else self.name)

    def places(self) -> Iterator[tuple[str, str]]:
        """Yield fields of its step in the graph, each with the field that it was written in."""
        step, config = f"steps.{self.step}", f"{self.path}.action_config"
        yield step, self.path
        yield f"{step}.action", f"{self.path}.action_type"
        yield f"{step}.with", config
        if self.type is not None:
            for name, written in self.type.renamed.items():
                yield f"{step}.with.{name}", f"{config}.{written}"
        if self.kind is StepKind.SUBWORKFLOW:
            for name in ("workflow", "input", "version"):
                yield f"{step}.{name}", f"{config}.{name}"


def step_names(actions: Sequence[Any]) -> list[str]:
    """Return the name of the step of each action: its `step`, or a slug of its name that no other action has.

    An action that is not a mapping, or has no name, gets a name too."""
    given = [one.get("step") if isinstance(one, dict) else None for one in actions]
    taken = {one.casefold() for one in given if isinstance(one, str)}
    found = []
    for one, step in zip(actions, given, strict=True):
        if isinstance(step, str) and step:
            found.append(step)
            continue
        name = one.get("name") if isinstance(one, dict) else None
        base = slug(name) if isinstance(name, str) else ""
        base = base if base[:1].isalpha() else f"action-{base}".strip("-")
        made, count = base[:_LONGEST_STEP].rstrip("-"), 1
        while made in taken:
            count += 1
            end = f"-{count}"
            made = base[: _LONGEST_STEP - len(end)].rstrip("-") + end
        taken.add(made)
        found.append(made)
    return found


def read_rule_action(
    number: int, raw: object, step: str, problems: Problems, actions: Collection[str] | None
) -> WrittenAction:
    """Read one action. Everything that is wrong with it becomes a problem."""
    found = WrittenAction(number, f"actions[{number}]", step=step)
    if not isinstance(raw, dict):
        problems.add(found.path, f"an action must be a mapping with name and action_config, not {described(raw)}")
        return found
    fields = Fields(raw, found.path, problems)
    fields.refuse_unknown(ACTION_FIELDS)
    if fields.get("name") is None:
        problems.add(fields.at("name"), "is missing")
    found.name = fields.text("name", most=LONGEST_NAME) or step
    if fields.text("step", most=_LONGEST_STEP) is not None:
        check_step_name(step, fields.at("step"), problems)
    found.id = _read_id(fields, number)
    found.order = fields.integer("execution_order", least=1, most=LARGEST_ORDER) or 1
    if not fields.boolean("is_active", True):
        problems.add(fields.at("is_active"), "an action cannot be inactive; remove it, or deactivate the rule")
    found.description = read_description(fields)
    found.queue, found.priority = read_queue(fields), read_priority(fields)
    _read_type(fields, found, actions)
    found.map = read_map(fields, MAP_FIELDS, found.kind)
    found.repeat, found.repeat_reads = read_repeat(fields, "repeat", REPEAT_FIELDS, found.kind)
    return found


def _read_id(fields: Fields, number: int) -> str | None:
    """Read the id of an action. `temp:N` is that of a new one, and N its place."""
    id_ = fields.text("id", most=ID_LIMIT)
    if id_ is None or not TEMPORARY.fullmatch(id_):
        return id_
    if id_ != f"temp:{number}":
        message = f"{shown(id_)} is not the place of this action, which is temp:{number}; a new action needs no id"
        fields.problems.add(fields.at("id"), message)
    return None


def _read_type(fields: Fields, found: WrittenAction, actions: Collection[str] | None) -> None:
    config = fields.mapping("action_config")
    if fields.get("action_config") is None:
        fields.problems.add(fields.at("action_config"), "is missing")
    given = Fields(config or {}, fields.at("action_config"), fields.problems)
    name = fields.text("action_type", most=128)
    if name is None:
        if fields.get("action_type") is None and config is not None:
            found.type = infer_type(config)
            if found.type is None:
                message = f"is missing, and no type fits the config; write one of {', '.join(ACTION_TYPES)}, "
                fields.problems.add(fields.at("action_type"), f"{message}or an action of the catalog")
        if found.type is None:
            return
    else:
        found.type = ACTION_TYPES.get(name)
        if found.type is None:
            _read_catalog_action(fields, found, name, given, actions)
            return
    if config is None:
        return
    match found.type.name:
        case "condition":
            given.refuse_unknown(found.type.keys)
            _read_condition(given, found)
        case "start_workflow":
            given.refuse_unknown(found.type.keys)
            found.set_work(read_child(given, _CHILD_FIELDS, "action"))
            _read_policies(fields, found, NO_RETRY, None)
        case "send_email" | "create_alert":
            _check_config(given, found.type)
            _set_work(fields, found, _renamed(found.type, given))
        case _:
            _set_work(fields, found, read_action(str(found.type.action), given))
    _refuse_policies(fields, found, found.type.name)


def _refuse_policies(fields: Fields, found: WrittenAction, name: str) -> None:
    """Report policies of an action that has no attempts."""
    if found.kind not in (*TRIED_KINDS, StepKind.SUBWORKFLOW):
        for key in fields.written(_TRIED):
            fields.problems.add(fields.at(key), f"{key!r} has no meaning for {name!r}: it has no attempts")


def _read_catalog_action(
    fields: Fields, found: WrittenAction, name: str, given: Fields, actions: Collection[str] | None
) -> None:
    problem = action_name_problem(name, actions, fields.problems)
    if "." not in name:  # a word without a connector in front is meant to be a type
        hint = fields.problems.did_you_mean(name, ACTION_TYPES)
        if problem is not None:
            known = f"; it is one of {', '.join(ACTION_TYPES)}, or an action of the catalog"
            problem = f"no action type {shown(name)}{hint or known}"
        elif hint and actions is None:
            found.warnings.append(f"{fields.at('action_type')}: {shown(name)} is not an action type of Detent{hint}")
    if problem is not None:
        fields.problems.add(fields.at("action_type"), problem)
    _set_work(fields, found, read_action(name, given))
    _refuse_policies(fields, found, name)


def _check_config(given: Fields, type_: ActionType) -> None:
    """Report what is wrong with the config of an e-mail or an alert. The other types read their configs themselves."""
    given.refuse_unknown(type_.keys)
    for key, schema in type_.config["properties"].items():
        value = given.get(key)
        if key == "recipients":
            _check_recipients(given)
        elif value is None:
            if key in type_.required:
                given.problems.add(given.at(key), "is missing")
        elif key == "severity" and isinstance(value, str) and "{{" not in value:
            given.choice(key, Severity, Severity.LOW)
        elif key in _ADDRESSES:
            _check_addresses(given, key)
        elif key == "attachments":
            if not isinstance(value, list | str):
                given.wrong(key, "a list of files")
        elif not isinstance(value, str):
            given.wrong(key, "text")
        elif not value.strip():
            given.problems.add(given.at(key), "must not be empty")
        elif len(value) > (most := schema.get("maxLength", len(value))):
            given.problems.add(given.at(key), f"has {len(value)} characters; at most {most} are allowed")


def _check_recipients(given: Fields) -> None:
    value = given.get("recipients")
    if value is None or value == [] or (isinstance(value, str) and not value.strip()):
        given.problems.add(given.at("recipients"), "at least one recipient required")
    else:
        _check_addresses(given, "recipients")


def _check_addresses(given: Fields, key: str) -> None:
    value = given.get(key)
    if isinstance(value, list):
        for number, one in enumerate(value):
            if not isinstance(one, str) or not one.strip():
                given.problems.add(f"{given.at(key)}[{number}]", f"must be an address, not {described(one)}")
    elif not isinstance(value, str):
        given.wrong(key, "a list of addresses, or one address")
    elif not value.strip():
        given.problems.add(given.at(key), "must not be empty")


def _renamed(type_: ActionType, given: Fields) -> Work:
    """Build the call of an action with the names that it has for its parameters. The reads of templates keep the
    places that they were written in."""
    names = {written: name for name, written in type_.renamed.items()}
    parameters = {names.get(key, key): value for key, value in given.values.items() if value is not None}
    reads = template_reads(given.values, given.path, given.problems)
    return Work(StepKind.ACTION, {"action": type_.action, "with": parameters}, reads)


def _set_work(fields: Fields, found: WrittenAction, work: Work) -> None:
    found.set_work(work)
    if work.kind in TRIED_KINDS:
        _read_policies(fields, found, RETRY, TIMEOUT)


def _read_policies(fields: Fields, found: WrittenAction, retry: Retry, timeout: float | None) -> None:
    found.timeout = read_limit(fields, "timeout", timeout)
    found.warnings += [*unit_warning(fields, "timeout", "s"), *retry_warnings(fields)]
    found.is_limited = fields.get("timeout") is not None
    found.retry = read_retry(fields, retry)
    found.is_retried = bool(fields.written(RETRY_FIELDS))
    found.rerender = fields.boolean("rerender_on_retry", False)
    found.read_sensitive(fields, is_map=fields.get(MAP_FIELDS.for_each) is not None)
    if found.kind is not StepKind.SUBWORKFLOW:
        found.read_credential(fields)
        found.on_crash = read_on_crash(fields, "on_crash", found.kind, repeat=fields.get("repeat") is not None)
    elif fields.get("on_crash") is not None:
        message = "has no meaning for a child workflow: its start is never repeated"
        fields.problems.add(fields.at("on_crash"), message)
    if found.kind is StepKind.SUBWORKFLOW and fields.get("credential") is not None:
        fields.problems.add(fields.at("credential"), "has no meaning for a child workflow, which sends no request")


def _read_condition(given: Fields, found: WrittenAction) -> None:
    found.kind = StepKind.CONDITION
    written = given.written(("field_conditions", "match"))
    if written and given.get("expression") is not None:
        given.problems.add(given.path, "write either expression or field_conditions")
    elif written:
        block = {name: given.get(name) for name in written}
        conditions = read_conditions(Fields(block, given.path, given.problems))
        if not given.get("field_conditions"):
            given.problems.add(given.at("field_conditions"), "there are no conditions")
        found.config = {"expression": conditions.expression() or "false"}
        found.conditions = conditions.leaves()
        return
    if given.get("expression") is None:
        given.problems.add(given.at("expression"), f"is missing: a condition such as {_EXAMPLE}")
    found.set_work(read_expression(given, "expression", _EXAMPLE))
