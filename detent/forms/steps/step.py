"""One step of the steps form: an HTTP request, a sleep, a wait for a webhook, an action, or a child run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

from detent.forms.kinds import (
    LARGEST_VERSION,
    LONGEST_WORKFLOW,
    REQUEST_FIELDS,
    RETRY_FIELDS,
    TRIED_KINDS,
    MapFields,
    RepeatFields,
    Work,
    WrittenMap,
    action_name_problem,
    child_config,
    read_action,
    read_map,
    read_on_crash,
    read_repeat,
    read_request,
    read_retry,
    read_sleep,
    read_wait,
)
from detent.forms.names import check_step_name, read_priority, read_queue
from detent.forms.templates import Read, condition, template_reads
from detent.forms.workflow_fields import read_description
from detent.graph.model import NO_RETRY, OnCrash, Repeat, Retry, Step, StepKind
from detent.values.durations import MILLISECONDS
from detent.values.fields import Fields, Problems, described
from detent.values.nearest import nearest

_TIMEOUT: Final = 30.0
_HASTY: Final = 0.1
_RETRY: Final = Retry()

_KINDS: Final = ("url", "sleep", "wait_for_webhook", "action", "workflow")
_MAP: Final = MapFields("for_each", "max_parallel", "collect", "on_item_failure", "tolerate", "max_items")
_REPEAT: Final = RepeatFields("until", "every", "factor", "max_wait", "give_up_after")
_SHARED: Final = ("needs", "if", "queue", "priority", "description", "name", "repeat", *_MAP.all())
_TRIED: Final = (*RETRY_FIELDS, "timeout", "on_crash")
_FIELDS: Final = {
    "url": (*_SHARED, *_TRIED, *REQUEST_FIELDS),
    "sleep": (*_SHARED, "sleep"),
    "wait_for_webhook": (*_SHARED, "wait_for_webhook"),
    "action": (*_SHARED, *_TRIED, "action", "with"),
    "workflow": (*_SHARED, *RETRY_FIELDS, "timeout", "workflow", "with", "version", "wait", "allow_recursion"),
}
_ALL_FIELDS: Final = tuple(dict.fromkeys(name for names in _FIELDS.values() for name in names))
_HINTS: Final = {("wait_for_webhook", "timeout"): '; write wait_for_webhook: {timeout: "1h"}'}


@dataclass(slots=True)
class WrittenStep:
    """A step as far as it could be read. Each need comes with its field.

    `kind` is `None` if even that could not be read; `unclear` is set if one of the needs does not exist.
    """

    name: str
    path: str
    kind: StepKind | None = None
    config: dict[str, Any] = field(default_factory=dict)
    guard: str | None = None
    needs: list[tuple[str, str]] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    retry: Retry = NO_RETRY
    timeout: float | None = None
    on_crash: OnCrash = OnCrash.RETRY
    is_retried: bool = False  # its retries are written
    is_limited: bool = False  # its time limit is written
    queue: str | None = None
    priority: int | None = None
    unclear: bool = False
    map: WrittenMap | None = None
    repeat: Repeat | None = None
    repeat_reads: list[Read] = field(default_factory=list)

    def step(self) -> Step:
        """Build the step of the graph."""
        return Step(
            name=self.name,
            kind=self.kind or StepKind.ACTION,
            config=self.config,
            guard=self.guard,
            retry=self.retry,
            timeout=self.timeout,
            on_crash=self.on_crash,
            queue=self.queue,
            priority=self.priority,
            each=None if self.map is None else self.map.each,
            repeat=self.repeat,
        )


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
    written.reads += reads
    written.queue = read_queue(fields)
    written.priority = read_priority(fields)
    read_description(fields)
    _read_kind(fields, written, actions)
    written.map = read_map(fields, _MAP, written.kind)
    written.repeat, written.repeat_reads = read_repeat(fields, "repeat", _REPEAT, written.kind)
    return written


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
            _set_work(written, read_request(fields))
            _tries(fields, written)
        case "sleep":
            _refuse_others(fields, "sleep")
            _set_work(written, read_sleep(fields, "sleep"))
        case "wait_for_webhook":
            _refuse_others(fields, "wait_for_webhook")
            written.kind, written.config = StepKind.WAIT, read_wait(fields, "wait_for_webhook")
        case "action":
            _action(fields, written, actions)
        case "workflow":
            _refuse_others(fields, "workflow")
            _child(fields, written)


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
    timeout = fields.duration("timeout", unit=MILLISECONDS, zero=False)
    written.timeout = _TIMEOUT if timeout is None else timeout
    if timeout is not None and timeout < _HASTY and not isinstance(fields.get("timeout"), str):
        said = f'a number counts milliseconds; write "{fields.get("timeout"):g}s" for seconds'
        written.warnings.append(f"{fields.at('timeout')}: {said}")
    written.retry = read_retry(fields, _RETRY)
    written.is_retried = bool(fields.written(RETRY_FIELDS))
    written.is_limited = timeout is not None
    written.on_crash = read_on_crash(fields, "on_crash", written.kind, repeat=fields.get("repeat") is not None)


def _child(fields: Fields, written: WrittenStep) -> None:
    """Read a step that is a child run. Without `timeout` it may last as long as the child."""
    body = fields.mapping("with") or {}
    written.kind = StepKind.SUBWORKFLOW
    written.config = child_config(
        fields.text("workflow", most=LONGEST_WORKFLOW) or "",
        body,
        version=fields.integer("version", least=1, most=LARGEST_VERSION),
        detached=not fields.boolean("wait", True),
        recursion=fields.boolean("allow_recursion", False),
    )
    written.reads += template_reads(body, fields.at("with"), fields.problems)
    written.timeout = fields.duration("timeout", unit=MILLISECONDS, zero=False)
    written.retry = read_retry(fields, NO_RETRY)


def _action(fields: Fields, written: WrittenStep, actions: Collection[str] | None) -> None:
    """Read an action, or another kind of step that is written as an action."""
    action = fields.text("action", most=128)
    given = Fields(fields.mapping("with") or {}, fields.at("with"), fields.problems)
    _refuse_others(fields, "action", tried=action not in {"core.delay", "core.wait"})
    written.kind = StepKind.ACTION
    if action is None:
        return
    if problem := action_name_problem(action, actions, fields.problems):
        fields.problems.add(fields.at("action"), problem)
    _set_work(written, read_action(action, given))
    if written.kind in TRIED_KINDS:
        _tries(fields, written)


def _set_work(written: WrittenStep, work: Work) -> None:
    written.kind, written.config = work.kind, work.config
    written.reads += work.reads
    written.warnings += work.warnings
