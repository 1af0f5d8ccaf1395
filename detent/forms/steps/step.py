"""One step of the steps form: an HTTP request, a sleep, a wait for a webhook, an approval, the first of several waits,
an action, a child run, a condition, or the answer to the caller."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from detent.forms.kinds import (
    REQUEST_FIELDS,
    RETRY_FIELDS,
    TRIED_KINDS,
    ChildFields,
    MapFields,
    RepeatFields,
    action_name_problem,
    read_action,
    read_answer,
    read_approval_block,
    read_child,
    read_expression,
    read_map,
    read_on_crash,
    read_repeat,
    read_request,
    read_retry,
    read_sleep,
    read_wait,
    retry_warnings,
    unit_warning,
)
from detent.forms.names import check_step_name, read_priority, read_queue
from detent.forms.templates import condition
from detent.forms.workflow_fields import read_description, read_limit
from detent.forms.written_work import WrittenWork
from detent.graph.model import NO_RETRY, Join, Retry, Step, StepKind
from detent.values.durations import MILLISECONDS
from detent.values.fields import Fields, Problems, described
from detent.values.nearest import nearest

TIMEOUT: Final = 30.0
RETRY: Final = Retry()

_KINDS: Final = (
    *("url", "sleep", "wait_for_webhook", "approve", "first_of", "action", "workflow", "condition", "respond"),
)
MAP_FIELDS: Final = MapFields("for_each", "max_parallel", "collect", "on_item_failure", "tolerate", "max_items")
REPEAT_FIELDS: Final = RepeatFields("until", "every", "factor", "max_wait", "give_up_after")
_CHILD_FIELDS: Final = ChildFields("workflow", "with", "version", "wait", "allow_recursion")
_SHARED: Final = ("needs", "if", "queue", "priority", "title", "description", "name", "repeat", *MAP_FIELDS.all())
_AGAIN: Final = (*RETRY_FIELDS, "timeout", "rerender_on_retry", "sensitive")
_TRIED: Final = (*_AGAIN, "on_crash", "credential")
_LONGEST_TITLE: Final = 200
_MOST_RIVALS: Final = 20
_FIELDS: Final = {
    "url": (*_SHARED, *_TRIED, *REQUEST_FIELDS),
    "sleep": (*_SHARED, "sleep"),
    "wait_for_webhook": (*_SHARED, "wait_for_webhook"),
    "approve": (*_SHARED, "approve"),
    "first_of": (*(name for name in _SHARED if name != "needs"), "first_of"),
    "action": (*_SHARED, *_TRIED, "action", "with"),
    "workflow": (*_SHARED, *_AGAIN, "workflow", "with", "version", "wait", "allow_recursion"),
    "condition": (*_SHARED, "condition"),
    "respond": (*_SHARED, "respond"),
}
_ALL_FIELDS: Final = tuple(dict.fromkeys(name for names in _FIELDS.values() for name in names))
_HINTS: Final = {
    ("wait_for_webhook", "timeout"): '; write wait_for_webhook: {timeout: "1h"}',
    ("approve", "timeout"): '; write approve: {title: ..., timeout: "1h"}',
    ("first_of", "needs"): "; it needs the steps that it lists",
}


@dataclass(slots=True)
class WrittenStep(WrittenWork):
    """A step as far as it could be read. Each need comes with its field. `unclear` is set if one of the needs does not
    exist."""

    name: str
    path: str
    guard: str | None = None
    needs: list[tuple[str, str]] = field(default_factory=list)
    title: str | None = None
    unclear: bool = False
    first_of: tuple[str, ...] = ()

    def step(self) -> Step:
        """Build the step of the graph."""
        join = Join.ANY if self.first_of else Join.ALL
        return self.build_step(self.name, guard=self.guard, title=self.title, join=join)


def read_step(name: str, raw: object, path: str, problems: Problems, actions: Collection[str] | None) -> WrittenStep:
    """Read one step. Everything that is wrong with it becomes a problem."""
    written = WrittenStep(name, path)
    check_step_name(name, path, problems)
    if not isinstance(raw, dict):
        problems.add(path, f"a step must be a mapping, not {described(raw)}")
        return written
    fields = Fields(raw, path, problems)
    fields.refuse_unknown(_ALL_FIELDS)
    if fields.get("name") not in (None, name):
        problems.add(fields.at("name"), f"this step is named {name!r} by its key; put other text into its description")
    written.needs = _needs(fields)
    written.guard, reads = condition(fields, "if")
    written.planned_reads += reads
    written.title = fields.text("title", most=_LONGEST_TITLE)
    written.queue = read_queue(fields)
    written.priority = read_priority(fields)
    read_description(fields)
    _read_kind(fields, written, actions)
    written.map = read_map(fields, MAP_FIELDS, written.kind)
    written.repeat, written.repeat_reads = read_repeat(fields, "repeat", REPEAT_FIELDS, written.kind)
    return written


def _first_of(fields: Fields, written: WrittenStep) -> None:
    """Read a step that ends when the first of some waits and sleeps has ended. It needs each of them."""
    names = fields.get("first_of")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(names) < 2:
        fields.wrong("first_of", "a list of two or more steps, such as [answer, deadline]")
        names = []
    elif len(names) > _MOST_RIVALS:
        fields.problems.add(fields.at("first_of"), f"has {len(names)} steps; at most {_MOST_RIVALS} are allowed")
        names = []
    written.kind = StepKind.CONDITION
    written.config = {"expression": "true", "first_of": names}
    written.first_of = tuple(names)
    written.needs = [(name, f"{fields.at('first_of')}[{number}]") for number, name in enumerate(names)]


def _needs(fields: Fields) -> list[tuple[str, str]]:
    """Return the names this step needs, each with its field; `needs: charge` is `needs: [charge]`."""
    value = fields.get("needs")
    if value is None:
        return []
    if isinstance(value, str):
        return [(value, fields.at("needs"))]
    if not isinstance(value, list):
        fields.wrong("needs", "the name of a step or a list of names")
        return []
    found = []
    for number, name in enumerate(value):
        place = f"{fields.at('needs')}[{number}]"
        if isinstance(name, str):
            found.append((name, place))
        else:
            fields.problems.add(place, f"must be the name of a step, not {described(name)}")
    return found


def _read_kind(fields: Fields, written: WrittenStep, actions: Collection[str] | None) -> None:
    match _kind(fields):
        case "url":
            _refuse_others(fields, "url")
            written.set_work(read_request(fields))
            _tries(fields, written)
        case "sleep":
            _refuse_others(fields, "sleep")
            written.set_work(read_sleep(fields, "sleep"))
        case "wait_for_webhook":
            _refuse_others(fields, "wait_for_webhook")
            written.set_work(read_wait(fields, "wait_for_webhook"))
            written.warnings += _wait_warnings(fields)
        case "approve":
            _refuse_others(fields, "approve")
            block = Fields(fields.mapping("approve") or {}, fields.at("approve"), fields.problems)
            written.set_work(read_approval_block(block))
        case "first_of":
            _refuse_others(fields, "first_of")
            _first_of(fields, written)
        case "action":
            _action(fields, written, actions)
        case "workflow":
            _refuse_others(fields, "workflow")
            _child(fields, written)
        case "condition":
            _refuse_others(fields, "condition")
            written.set_work(read_expression(fields, "condition"))
        case "respond":
            _refuse_others(fields, "respond")
            answer = fields.mapping("respond") or {}
            written.set_work(read_answer(Fields(answer, fields.at("respond"), fields.problems)))
            _tries(fields, written)


def _kind(fields: Fields) -> str | None:
    found = fields.written(_KINDS)
    if not found and "wait_for_webhook" in fields.values:
        return "wait_for_webhook"
    if len(found) == 1:
        return found[0]
    if found:
        message = f"a step is one of {', '.join(_KINDS)}; this one has {' and '.join(found)}"
        fields.problems.add(fields.path, message)
    # A misspelled `ulr` is reported as such; the missing kind is then not a second mistake.
    elif not any(nearest(key, _KINDS) for key in fields.values if key not in _ALL_FIELDS):
        fields.problems.add(fields.path, f"a step needs one of {', '.join(_KINDS)}")
    return None


def _refuse_others(fields: Fields, kind: str, *, tried: bool = True) -> None:
    """Report fields that have no meaning for this kind of step."""
    for name in fields.written(_ALL_FIELDS):
        if name not in _FIELDS[kind] or (name in _TRIED and not tried):
            hint = _HINTS.get((kind, name), "")
            fields.problems.add(fields.at(name), f"{name!r} has no meaning for a step with {kind!r}{hint}")


def _tries(fields: Fields, written: WrittenStep) -> None:
    written.timeout = timeout = read_limit(fields, "timeout", TIMEOUT, unit=MILLISECONDS)
    if timeout is not None:
        written.warnings += unit_warning(fields, "timeout", "ms")
    written.warnings += retry_warnings(fields)
    written.retry = read_retry(fields, RETRY)
    written.is_retried = bool(fields.written(RETRY_FIELDS))
    written.is_limited = fields.get("timeout") is not None
    written.rerender = fields.boolean("rerender_on_retry", False)
    written.read_sensitive(fields, is_map=fields.get(MAP_FIELDS.for_each) is not None)
    written.read_credential(fields)
    written.on_crash = read_on_crash(fields, "on_crash", written.kind, repeat=fields.get("repeat") is not None)


def _wait_warnings(fields: Fields) -> list[str]:
    value = fields.get("wait_for_webhook")
    if isinstance(value, dict):
        return unit_warning(Fields(value, fields.at("wait_for_webhook"), fields.problems), "timeout", "s")
    return unit_warning(fields, "wait_for_webhook", "s")


def _child(fields: Fields, written: WrittenStep) -> None:
    """Read a step that is a child run. Without `timeout` it may last as long as the child."""
    written.set_work(read_child(fields, _CHILD_FIELDS, "step"))
    written.timeout = read_limit(fields, "timeout", None, unit=MILLISECONDS)
    written.warnings += [*unit_warning(fields, "timeout", "ms"), *retry_warnings(fields)]
    written.rerender = fields.boolean("rerender_on_retry", False)
    written.read_sensitive(fields, is_map=fields.get(MAP_FIELDS.for_each) is not None)
    written.retry = read_retry(fields, NO_RETRY)


def _action(fields: Fields, written: WrittenStep, actions: Collection[str] | None) -> None:
    """Read an action, or another kind of step that is written as an action."""
    action = fields.text("action", most=128)
    given = Fields(fields.mapping("with") or {}, fields.at("with"), fields.problems)
    _refuse_others(fields, "action", tried=action not in {"core.delay", "core.wait", "core.approval"})
    written.kind = StepKind.ACTION
    if action is None:
        return
    if problem := action_name_problem(action, actions, fields.problems):
        fields.problems.add(fields.at("action"), problem)
    written.set_work(read_action(action, given))
    if written.kind in TRIED_KINDS:
        _tries(fields, written)
