"""Answers as data: what a dry run or a test in text uses in place of the effects of steps.

A plain value is the output of the step; of an HTTP request or a callback it is the body. A mapping whose keys begin
with `$` says more:

    charge: {receipt: 17}
    charge: {$status: 503, $body: {reason: busy}, $headers: {retry-after: "5"}}
    charge: {$fail: no funds}                     charge: {$fail: {message: no funds, code: declined, retry: false}}
    charge: {$timeout: true}
    charge: {$attempts: [{$status: 503}, {receipt: 17}]}      the last one counts for all further attempts
    ship: {$items: [{id: 1}, {$fail: lost}]}                  of a map; the last one counts for all further items
    approve: {$after: 2d, $value: {ok: true}}                 a callback, so long after the start of the run

The answer for a step of a child run has the name of the child's workflow in front: `payment/charge`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from detent.graph.model import Graph, Step, StepKind
from detent.values.durations import SECONDS
from detent.values.fields import Fields, Problems, inside, shown

SIGN: Final = "$"
#: Between the workflow of a child run and its step. No name of a workflow or a step has it.
BELOW: Final = "/"
MOST_ANSWERS: Final = 1_000
MOST_ATTEMPTS: Final = 1_000
_USUAL_CODE: Final = "failed"
_LONGEST_CODE: Final = 128
_LONGEST_MESSAGE: Final = 4_000
_SMALLEST_STATUS: Final = 200
_LARGEST_STATUS: Final = 599
_OUTCOME_WORDS: Final = ("$value", "$body", "$status", "$headers", "$query", "$after", "$fail", "$timeout")
_LIST_WORDS: Final = ("$attempts", "$items")
_FAILURE_WORDS: Final = ("message", "code", "retry")
#: What the planner decides by itself.
_UNANSWERED: Final = {StepKind.SLEEP: "a sleep", StepKind.CONDITION: "a condition"}


@dataclass(frozen=True, slots=True)
class StatedFailure:
    """A failure. `retry`: another attempt could help. `timed_out`: nothing came in time."""

    message: str
    code: str = _USUAL_CODE
    retry: bool = True
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class StatedOutcome:
    """The end of one attempt, or a callback that comes `after` seconds since the start of the run."""

    value: Any = None
    failure: StatedFailure | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class StatedAnswer:
    """The answers for the attempts of a step, or for the items of a map."""

    attempts: tuple[StatedOutcome, ...]
    items: tuple[StatedAnswer, ...] = ()

    def outcome(self, attempt: int, item: int | None = None) -> StatedOutcome:
        """Return what an attempt ends with, by its number from 1 on. `item` is the index of an item of a map."""
        if self.items:
            return self.items[min(item or 0, len(self.items) - 1)].outcome(attempt)
        return self.attempts[min(attempt, len(self.attempts)) - 1]


StatedAnswers = Mapping[str, StatedAnswer]


def read_stated_answers(given: Any, path: str, problems: Problems, graph: Graph | None) -> dict[str, StatedAnswer]:
    """Read the answers by step. Add a problem for each that cannot be used. `None` for `graph`: any name is accepted,
    because the steps are not known."""
    found: dict[str, StatedAnswer] = {}
    if given is None:
        return found
    if not isinstance(given, dict):
        problems.add(path, "must be a mapping of steps to answers")
        return found
    if len(given) > MOST_ANSWERS:
        problems.add(path, f"has {len(given)} answers; at most {MOST_ANSWERS} are allowed")
        return found
    steps = None if graph is None else {step.name: step for step in graph.steps}
    for name, value in given.items():
        place, step = inside(path, name), None
        if steps is not None and BELOW not in name:
            step = steps.get(name)
            if step is None:
                problems.add(place, f"no step {shown(name)}{problems.did_you_mean(name, steps)}")
                continue
            if step.kind in _UNANSWERED:
                problems.add(place, f"{_UNANSWERED[step.kind]} has no effect, so it takes no answer")
                continue
        found[name] = read_stated_answer(value, place, problems, step)
    return found


def read_stated_answer(given: Any, path: str, problems: Problems, step: Step | None = None) -> StatedAnswer:
    """Read one answer. `step` is what it answers, if that is known."""
    if not _is_statement(given):
        return StatedAnswer((StatedOutcome(given),))
    fields = Fields(given, path, problems)
    fields.refuse_unknown((*_OUTCOME_WORDS, *_LIST_WORDS))
    lists = fields.written(_LIST_WORDS)
    if not lists:
        return StatedAnswer((_read_outcome(fields, step),))
    for other in given:
        if other != lists[0] and other in (*_OUTCOME_WORDS, *_LIST_WORDS):
            problems.add(fields.at(other), f"has no meaning beside {lists[0]}")
    parts = _read_list(fields, lists[0])
    if lists[0] == "$attempts":
        return StatedAnswer(tuple(_read_attempt(part, place, problems, step) for part, place in parts) or _NOTHING)
    if step is not None and step.each is None:
        problems.add(fields.at("$items"), "only a step with for_each has items; write $attempts for several attempts")
    return StatedAnswer((), tuple(_read_item(part, place, problems) for part, place in parts) or (_EMPTY,))


def _is_statement(given: Any) -> bool:
    """Return whether a value is a mapping with words, and not a plain value."""
    return isinstance(given, dict) and any(isinstance(key, str) and key.startswith(SIGN) for key in given)


def _read_list(fields: Fields, name: str) -> list[tuple[Any, str]]:
    given = fields.get(name)
    if not isinstance(given, list) or not given:
        fields.wrong(name, "a list of answers")
        return []
    if len(given) > MOST_ATTEMPTS:
        fields.problems.add(fields.at(name), f"has {len(given)} answers; at most {MOST_ATTEMPTS} are allowed")
        return []
    return [(part, f"{fields.at(name)}[{number}]") for number, part in enumerate(given)]


def _read_attempt(given: Any, path: str, problems: Problems, step: Step | None) -> StatedOutcome:
    if not _is_statement(given):
        return StatedOutcome(given)
    fields = Fields(given, path, problems)
    fields.refuse_unknown(_OUTCOME_WORDS)
    return _read_outcome(fields, step)


def _read_item(given: Any, path: str, problems: Problems) -> StatedAnswer:
    if isinstance(given, dict) and "$items" in given:
        problems.add(path, "an item has no items of its own")
        return _EMPTY
    return read_stated_answer(given, path, problems)


def _read_outcome(fields: Fields, step: Step | None) -> StatedOutcome:
    is_wait = step is not None and step.kind is StepKind.WAIT
    values = [name for name in ("$value", "$body") if name in fields.values]
    if len(values) > 1:
        fields.problems.add(fields.at("$body"), "is another spelling of $value; write one of them")
    failure = _read_failure(fields)
    if failure is not None:
        for name in fields.written(_others(fields.values, ("$fail", "$timeout", "$after"))):
            fields.problems.add(fields.at(name), "has no meaning beside a failure")
    if step is not None and not is_wait:
        for name in fields.written(("$after", "$query")):
            fields.problems.add(fields.at(name), "is for the callback of a wait only")
    return StatedOutcome(
        value=fields.get(values[0]) if values else None,
        failure=failure,
        status=fields.integer("$status", least=_SMALLEST_STATUS, most=_LARGEST_STATUS),
        headers=_texts(fields, "$headers"),
        query=_texts(fields, "$query"),
        after=fields.duration("$after", unit=SECONDS) or 0.0,
    )


def _others(given: Mapping[str, Any], known: Collection[str]) -> list[str]:
    return [name for name in _OUTCOME_WORDS if name in given and name not in known]


def _read_failure(fields: Fields) -> StatedFailure | None:
    """Read `$fail` or `$timeout`."""
    written = fields.written(("$fail", "$timeout"))
    if len(written) > 1:
        fields.problems.add(fields.at("$timeout"), "write either $fail or $timeout")
    if not written:
        return None
    if written[0] == "$timeout":
        if isinstance(fields.get("$timeout"), str):
            return StatedFailure(fields.text("$timeout", most=_LONGEST_MESSAGE) or "", "timeout", timed_out=True)
        is_silent = fields.boolean("$timeout", True)
        return StatedFailure("nothing came in time", "timeout", timed_out=True) if is_silent else None
    if isinstance(fields.get("$fail"), str):
        return StatedFailure(fields.text("$fail", most=_LONGEST_MESSAGE, lines=True) or "")
    block = fields.get("$fail")
    if not isinstance(block, dict):
        fields.wrong("$fail", "a message, or a mapping with message, code and retry")
        return StatedFailure("")
    inner = Fields(block, fields.at("$fail"), fields.problems)
    inner.refuse_unknown(_FAILURE_WORDS)
    return StatedFailure(
        inner.text("message", most=_LONGEST_MESSAGE, lines=True) or "it failed",
        inner.text("code", most=_LONGEST_CODE) or _USUAL_CODE,
        inner.boolean("retry", True),
    )


def _texts(fields: Fields, name: str) -> dict[str, str]:
    block = fields.mapping(name) or {}
    inner = Fields(block, fields.at(name), fields.problems)
    for key, value in block.items():
        if not isinstance(value, str):
            inner.wrong(key, "text")
    return {key: value for key, value in block.items() if isinstance(value, str)}


_NOTHING: Final = (StatedOutcome(),)
_EMPTY: Final = StatedAnswer(_NOTHING)
