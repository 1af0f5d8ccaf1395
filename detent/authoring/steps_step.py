"""One step of the steps form: an HTTP request, a sleep, a wait for a webhook, or an action."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

from detent.authoring.durations import MILLISECOND
from detent.authoring.fields import Fields, Problems, described, shown
from detent.authoring.http_request import REQUEST_FIELDS, read_request
from detent.authoring.retries import RETRY_FIELDS, read_retry
from detent.authoring.templates import Read, condition, template_reads
from detent.authoring.waits import read_delay, read_sleep, read_wait, read_wait_block
from detent.expressions.nearest import nearest
from detent.graph.model import NO_RETRY, OnCrash, Retry, Step, StepKind

CORE_ACTIONS: Final = ("core.echo", "core.fail", "core.delay", "core.http.request", "core.wait")
_STEP_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ACTION_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/-]{0,127}")
_QUEUE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_LARGEST_PRIORITY: Final = 1_000
_LONGEST_DESCRIPTION: Final = 10_000
_TIMEOUT: Final = 30.0
_HASTY: Final = 0.1
_METHOD: Final = "POST"
_RETRY: Final = Retry()

_KINDS: Final = ("url", "sleep", "wait_for_webhook", "action")
_SHARED: Final = ("needs", "if", "queue", "priority", "description", "name")
_TRIED: Final = (*RETRY_FIELDS, "timeout", "on_crash")
_FIELDS: Final = {
    "url": (*_SHARED, *_TRIED, *REQUEST_FIELDS),
    "sleep": (*_SHARED, "sleep"),
    "wait_for_webhook": (*_SHARED, "wait_for_webhook"),
    "action": (*_SHARED, *_TRIED, "action", "with"),
}
_ALL_FIELDS: Final = tuple(dict.fromkeys(name for names in _FIELDS.values() for name in names))
_HINTS: Final = {("wait_for_webhook", "timeout"): '; write wait_for_webhook: {timeout: "1h"}'}


@dataclass(slots=True)
class WrittenStep:
    """A step as far as it could be read. Each need comes with its field.

    `kind` is None if even that could not be read; `unclear` is set when one of the needs does not exist.
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
    queue: str | None = None
    priority: int | None = None
    unclear: bool = False

    def step(self) -> Step:
        """The step of the graph."""
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
        )


def read_step(name: str, raw: object, path: str, problems: Problems, actions: Collection[str] | None) -> WrittenStep:
    """Read one step; everything wrong with it becomes a problem."""
    written = WrittenStep(name, path)
    check_step_name(name, path, problems)
    if not isinstance(raw, dict):
        problems.add(path, f"a step must be a mapping, not {described(raw)}")
        return written
    fields = Fields(raw, path, problems)
    fields.refuse_unknown(_ALL_FIELDS)
    if fields.get("name") not in (None, name):
        problems.add(fields.at("name"), f"this step is named {name!r} by its key; put other words into its description")
    written.needs = _needs(fields)
    written.guard, reads = condition(fields, "if")
    written.reads += reads
    written.queue = read_queue(fields)
    written.priority = read_priority(fields)
    fields.text("description", most=_LONGEST_DESCRIPTION, lines=True)
    _read_kind(fields, written, actions)
    return written


def check_step_name(name: str, path: str, problems: Problems) -> None:
    """The names of steps stand in addresses, expressions and columns, in every form."""
    if not _STEP_NAME.fullmatch(name):
        rule = "letters, digits, - and _, at most 64, the first a letter or _"
        problems.add(path, f"{shown(name)} cannot be the name of a step: {rule}")


def read_queue(fields: Fields) -> str | None:
    """The name of a queue, of a step or a workflow."""
    queue = fields.text("queue", most=64)
    if queue is not None and not _QUEUE_NAME.fullmatch(queue):
        fields.problems.add(fields.at("queue"), f"{shown(queue)} cannot be the name of a queue")
    return queue


def read_priority(fields: Fields) -> int | None:
    """A priority, larger first."""
    return fields.integer("priority", least=-_LARGEST_PRIORITY, most=_LARGEST_PRIORITY)


def _needs(fields: Fields) -> list[tuple[str, str]]:
    """The names this step needs, each with its field; `needs: charge` is `needs: [charge]`."""
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
            _request(fields, written)
            _tries(fields, written)
        case "sleep":
            _refuse_others(fields, "sleep")
            written.kind, written.config = StepKind.SLEEP, read_sleep(fields, "sleep")
            written.reads += template_reads(written.config["seconds"], fields.at("sleep"), fields.problems)
        case "wait_for_webhook":
            _refuse_others(fields, "wait_for_webhook")
            written.kind, written.config = StepKind.WAIT, read_wait(fields, "wait_for_webhook")
        case "action":
            _action(fields, written, actions)


def _kind(fields: Fields) -> str | None:
    found = fields.written(_KINDS)
    if not found and "wait_for_webhook" in fields.values:
        return "wait_for_webhook"
    if len(found) == 1:
        return found[0]
    if found:
        message = f"a step is one of {', '.join(_KINDS)}; this one has {' and '.join(found)}"
        fields.problems.add(fields.path, message)
    # A misspelled `ulr` is reported as such; that the step then has no kind is no second mistake.
    elif not any(nearest(key, _KINDS) for key in fields.values if key not in _ALL_FIELDS):
        fields.problems.add(fields.path, f"a step needs one of {', '.join(_KINDS)}")
    return None


def _refuse_others(fields: Fields, kind: str, *, tried: bool = True) -> None:
    """Report fields that say nothing about this kind of step."""
    for name in fields.written(_ALL_FIELDS):
        if name not in _FIELDS[kind] or (name in _TRIED and not tried):
            hint = _HINTS.get((kind, name), "")
            fields.problems.add(fields.at(name), f"{name!r} has no meaning for a step with {kind!r}{hint}")


def _request(fields: Fields, written: WrittenStep) -> None:
    written.kind, written.config = StepKind.HTTP, read_request(fields, _METHOD)
    for name in ("url", "headers", "body"):
        written.reads += template_reads(written.config[name], fields.at(name), fields.problems)
    if written.config["method"] in {"GET", "HEAD"} and written.config["body"] is not None:
        written.warnings.append(f"{fields.at('body')}: many servers ignore the body of a {written.config['method']}")


def _tries(fields: Fields, written: WrittenStep) -> None:
    timeout = fields.duration("timeout", unit=MILLISECOND, zero=False)
    written.timeout = _TIMEOUT if timeout is None else timeout
    if timeout is not None and timeout < _HASTY and not isinstance(fields.get("timeout"), str):
        said = f'a number counts milliseconds; write "{fields.get("timeout"):g}s" for seconds'
        written.warnings.append(f"{fields.at('timeout')}: {said}")
    written.retry = read_retry(fields, _RETRY)
    written.on_crash = fields.choice("on_crash", OnCrash, OnCrash.RETRY)


def _action(fields: Fields, written: WrittenStep, actions: Collection[str] | None) -> None:
    """An action, or another kind of step in the words of an action."""
    action = fields.text("action", most=128)
    given = Fields(fields.mapping("with") or {}, fields.at("with"), fields.problems)
    _refuse_others(fields, "action", tried=action not in {"core.delay", "core.wait"})
    match action:
        case None:
            written.kind = StepKind.ACTION
        case "core.delay":
            written.kind = StepKind.SLEEP
            written.config, name = read_delay(given)
            written.reads += template_reads(written.config["seconds"], given.at(name), fields.problems)
        case "core.wait":
            written.kind, written.config = StepKind.WAIT, read_wait_block(given)
        case "core.http.request":
            given.refuse_unknown(REQUEST_FIELDS)
            _request(given, written)
            _tries(fields, written)
        case _:
            _check_action_name(fields, action, actions)
            written.kind, written.config = StepKind.ACTION, {"action": action, "with": given.values}
            written.reads += template_reads(given.values, given.path, fields.problems)
            _tries(fields, written)


def _check_action_name(fields: Fields, action: str, actions: Collection[str] | None) -> None:
    if not _ACTION_NAME.fullmatch(action):
        fields.problems.add(fields.at("action"), f"{shown(action)} cannot be the name of an action")
        return
    known = CORE_ACTIONS if actions is None else sorted({*actions, *CORE_ACTIONS})
    # Without a list of actions, only the names that are always there can be checked.
    if action not in known and actions is not None:
        hint = fields.problems.did_you_mean(action, known)
        fields.problems.add(fields.at("action"), f"no action {shown(action)}{hint}")
