"""Answers in place of effects: pinned ones first, then those of a past run, then an example.

The example of an action has the shape of its output schema. Of a request nothing is known, so its example has the
fields that later steps read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from detent.catalog.examples import example_of
from detent.commands.approvals.answers import read_decision
from detent.commands.dry_run.simulation import AnswerSource, EffectAnswer, StepPlace, WaitAnswer
from detent.errors import InvalidInput
from detent.expressions import Reference
from detent.forms.stated_answers import BELOW, StatedAnswer, StatedAnswers, StatedOutcome
from detent.graph.ask import Decision, WaitAsk, approval_result
from detent.graph.model import FAILURES, Ending
from detent.instant import Instant, iso
from detent.planner.prepared import Prepared
from detent.run.call import StepCall
from detent.run.outcomes import EMPTY_RESULT, Done, Fail, StepError
from detent.steps.stated_outcomes import computed, output_schema, received_result, refused_call, stated_outcome

_WORD: Final = "example"
_PERSON: Final = "dry run"
_MOST_INDEX: Final = 20
_decode = msgspec.json.Decoder().decode


class RecordedStep(NamedTuple):
    """How a step of a past run ended, and its stored result."""

    ending: Ending
    result: bytes
    error: StepError | None


@dataclass(slots=True)
class EffectAnswers:
    """The answers of one dry run. `recorded` are those of a past run of the same workflow. `used` collects the names of
    the pinned answers that were asked for."""

    pinned: StatedAnswers = field(default_factory=dict)
    recorded: Mapping[str, RecordedStep] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def attempt(self, place: StepPlace, call: StepCall) -> EffectAnswer:
        """Return the end of an attempt. A request that could not be sent fails, whatever its answer is."""
        refused = refused_call(call)
        if refused is not None:
            return EffectAnswer(refused, None)
        stated = self._pinned(place)
        if stated is not None:
            outcome = stated_outcome(call, stated.outcome(call.attempt, place.item))
            return EffectAnswer(outcome, AnswerSource.PINNED)
        done = computed(call)
        if done is not None:
            return EffectAnswer(done, None)
        return self._from_run(place, call) or self._example(place, call)

    def child(self, place: StepPlace, call: StepCall) -> EffectAnswer | None:
        """Return the pinned or recorded end of a child run, or `None` to play it."""
        stated = self._pinned(place)
        if stated is not None:
            outcome = stated_outcome(call, stated.outcome(call.attempt, place.item))
            return EffectAnswer(outcome, AnswerSource.PINNED)
        return self._from_run(place, call)

    def wait(self, place: StepPlace, ask: WaitAsk | None, due: Callable[[float], Instant]) -> WaitAnswer:
        """Return the callback of a wait. Without another answer it is an example, and an approval is approved."""
        is_approval = ask is not None and ask.is_approval
        stated = self._pinned(place)
        if stated is not None:
            outcome = stated.outcome(1)
            if outcome.failure is not None:
                result = None
            elif ask is not None and is_approval:
                result = _decided(ask, outcome.value, due(outcome.after), place.step)
            else:
                result = received_result(outcome)
            return WaitAnswer(result, outcome.after, AnswerSource.PINNED)
        recorded = self.recorded.get(place.step) if place.depth == 0 else None
        if recorded is not None and recorded.ending is not Ending.SKIPPED:
            result = recorded.result if recorded.ending is Ending.SUCCESS else None
            return WaitAnswer(result, 0.0, AnswerSource.RUN)
        if ask is not None and is_approval:
            answer = None if ask.schema is None else example_of(ask.schema)
            result = approval_result(ask, [Decision(_PERSON, approved=True, at=iso(due(0.0)), answer=answer)])
        else:
            result = received_result(StatedOutcome(read_shape(place)))
        return WaitAnswer(result, 0.0, AnswerSource.EXAMPLE)

    def unused(self) -> list[str]:
        """Return the names of pinned answers for steps of children that no run asked for."""
        return [name for name in self.pinned if BELOW in name and name not in self.used]

    def _pinned(self, place: StepPlace) -> StatedAnswer | None:
        name = f"{place.workflow}{BELOW}{place.step}"
        if place.depth == 0 and name not in self.pinned:
            name = place.step
        if name in self.pinned:
            self.used.add(name)
        return self.pinned.get(name)

    def _from_run(self, place: StepPlace, call: StepCall) -> EffectAnswer | None:
        recorded = self.recorded.get(place.step) if place.depth == 0 else None
        if recorded is None or recorded.ending is Ending.SKIPPED:
            return None
        if place.item is not None:
            value = _item_value(place, recorded)
            return None if value is None else EffectAnswer(stated_outcome(call, value), AnswerSource.RUN)
        if recorded.ending is Ending.SUCCESS:
            return EffectAnswer(Done(recorded.result), AnswerSource.RUN)
        if recorded.ending not in FAILURES:
            return None
        error = recorded.error or StepError("failed", "it failed")
        timed_out = recorded.ending is Ending.TIMEOUT
        return EffectAnswer(Fail(error, recorded.result, retry=False, timed_out=timed_out), AnswerSource.RUN)

    def _example(self, place: StepPlace, call: StepCall) -> EffectAnswer:
        schema = output_schema(call)
        value = None if schema is None else example_of(schema)
        shape = read_shape(place)
        if value is None or (value == {} and shape is not None):
            value = shape
        return EffectAnswer(stated_outcome(call, StatedOutcome(value)), AnswerSource.EXAMPLE)


def _decided(ask: WaitAsk, body: Any, at: Instant, step: str) -> bytes:
    """Return the result of an approval that this decision ends. Raise InvalidInput if it does not fit what is asked."""
    try:
        given = read_decision(ask, body)
    except InvalidInput as error:
        raise InvalidInput(f"the answer of {step!r} is refused: {error.message}", error.problems) from None
    said = {"comment": given.get("comment"), "answer": given.get("answer")}
    return approval_result(ask, [Decision(_PERSON, approved=given["approved"], at=iso(at), **said)])


def _item_value(place: StepPlace, recorded: RecordedStep) -> StatedOutcome | None:
    """Return what an item of a past map gave. It is known if the map collects the outputs as they are."""
    step = place.prepared.steps[place.prepared.numbers[place.step]]
    outputs = _decode(recorded.result or EMPTY_RESULT).get("output")
    if step.collect is not None or not isinstance(outputs, list) or place.item is None:
        return None
    return StatedOutcome(outputs[place.item]) if place.item < len(outputs) else None


# The shape of an output of which no schema is known: what the expressions of the workflow read of it.


def read_shape(place: StepPlace) -> Any:
    """Return an example that has every field that expressions read of a step; `None` if they read none."""
    shape: Any = None
    for path, leaf in _paths(place.prepared, place.step):
        shape = _with(shape, path, leaf)
    return shape


def _paths(prepared: Prepared, name: str) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the paths that expressions read inside of a step's output, and the example at the end of each."""
    own = prepared.steps[prepared.numbers[name]]
    for step in prepared.steps:
        compiled = (step.config, step.guard, step.question, step.collect, *(edge.condition for edge in step.outgoing))
        for one in (*compiled, step.until):
            for reference in () if one is None else one.references:
                yield from _inside(reference, name, _WORD)
                if step is own and one in (step.until, step.collect):
                    yield from _result(reference)
        if step.items is not None:
            element: Any = None
            for reference in (*step.config.references, *(() if step.collect is None else step.collect.references)):
                if reference.path[:1] == ("item",):
                    element = _with(element, reference.path[1:], _WORD)
            for reference in step.items.references:
                yield from _inside(reference, name, [_WORD if element is None else element])
    for reference in () if prepared.output is None else prepared.output.references:
        yield from _inside(reference, name, _WORD)


def _inside(reference: Reference, name: str, leaf: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    match reference.path:
        case ("steps" | "tasks", step, "body" | "output", *rest) if step == name:
            yield tuple(rest), leaf
        case ("context", "data", step, "outputs", *rest) if step == name:
            yield tuple(rest), leaf
        case ("context", "data", step, *rest) if step == name:
            yield tuple(rest), leaf
        case _:
            return


def _result(reference: Reference) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    match reference.path:
        case ("result", "body" | "output", *rest):
            yield tuple(rest), _WORD
        case _:
            return


def _with(shape: Any, path: Sequence[str | int], leaf: Any) -> Any:
    """Return the shape with a leaf at that path. What is there already stays."""
    if not path:
        return leaf if shape is None or (shape == _WORD and leaf is not None) else shape
    key, rest = path[0], path[1:]
    if key == "length" and not rest:
        return shape if isinstance(shape, list) else [_WORD]
    if isinstance(key, int):
        known = shape[0] if isinstance(shape, list) and shape else None
        size = max(len(shape) if isinstance(shape, list) else 0, min(abs(key) + 1, _MOST_INDEX))
        return [_with(known, rest, leaf)] * size
    if isinstance(shape, list):
        return shape
    fields = shape if isinstance(shape, dict) else {}
    return {**fields, key: _with(fields.get(key), rest, leaf)}
