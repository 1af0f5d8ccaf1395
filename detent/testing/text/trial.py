"""Run one test in text: the real engine with the answers of the test, then the comparison."""

from __future__ import annotations

import json
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

from detent.clock import SystemClock
from detent.errors import DetentError, InvalidInput
from detent.forms.stated_answers import BELOW, StatedAnswers
from detent.forms.text_tests import Expected, TextTest
from detent.graph.model import StepKind
from detent.instant import Instant, micros
from detent.run.call import StepCall
from detent.run.outcomes import Fail, Outcome, StepError
from detent.steps.stated_outcomes import computed, refused_call, stated_outcome
from detent.testing.answers import Answers, CallPlace, Response, StepRequest
from detent.testing.errors import AnswerRefused, NeverEnds
from detent.testing.result import Speedrun
from detent.testing.speedruns import Definition, Subject, Trial
from detent.testing.text.comparison import differences, route_differences
from detent.testing.world import World

NO_ANSWER: Final = "no_answer"
_LONGEST: Final = 200
_SILENT: Final = "{$timeout: true} lets the wait run out of time"


@dataclass(frozen=True, slots=True)
class TextTestResult:
    """How a test ended: it passed if `failures` is empty. `route` shows the steps of its run."""

    name: str
    failures: tuple[str, ...]
    seconds: float
    route: str | None = None


class TextAnswers(Answers):
    """The answers of a test in text. A step with an effect and without an answer fails, and is in `missing`. Waits
    without an answer run out of time, and are there too."""

    def __init__(self, stated: StatedAnswers) -> None:
        super().__init__()
        self._stated = stated
        self.missing: dict[str, str] = {}

    def __contains__(self, key: object) -> bool:
        if key not in self._stated:  # only waits that are active are asked for in this manner
            self.missing.setdefault(str(key), _SILENT)
        return key in self._stated

    def name_for(self, key: str) -> str | None:
        return key if key in self._stated else None

    def key_for(self, place: CallPlace) -> str:
        name = f"{place.workflow}{BELOW}{place.step}"
        return name if name in self._stated or not place.is_first else place.step

    def after(self, key: str) -> Instant:
        return micros(self._stated[key].outcome(1).after) if key in self._stated else 0

    def silence(self, key: str) -> str | None:
        failure = self._stated[key].outcome(1).failure if key in self._stated else None
        return None if failure is None else failure.message

    def of(self, asked: StepRequest) -> Any:
        stated = self._stated[asked.step].outcome(asked.attempt, asked.item)
        return Response(stated.value, stated.status or 200, stated.headers, stated.query)

    def outcome(self, call: StepCall, place: CallPlace) -> Outcome | Coroutine[Any, Any, Outcome] | None:
        refused = refused_call(call)
        if refused is not None:
            return refused
        key = self.key_for(place)
        if key in self._stated:
            return stated_outcome(call, self._stated[key].outcome(call.attempt, place.item))
        if call.kind is StepKind.SUBWORKFLOW:
            return None
        done = computed(call)
        if done is not None:
            return done
        request = json.dumps(call.parameters, ensure_ascii=False, default=str)[:_LONGEST]
        self.missing[key] = f"the step would send {request}"
        return Fail(StepError(NO_ANSWER, f"the test has no answer for {key!r}"), retry=False)


@dataclass(slots=True)
class TextTrial:
    """A workflow with its children, ready for its tests."""

    definition: Definition
    children: Sequence[Definition] = field(default_factory=list)

    def run(self, test: TextTest) -> TextTestResult:
        """Run a test and return how it ended. It never raises because of the workflow or the test."""
        clock = SystemClock()
        began = clock.monotonic()
        failures, route = self._play(test)
        return TextTestResult(test.name, tuple(failures), clock.monotonic() - began, route)

    def _play(self, test: TextTest) -> tuple[list[str], str | None]:
        answers, worlds = TextAnswers(test.answers), list[World]()
        subject = Subject(
            "",
            test.input,
            test.hero,
            replace(self.definition),
            headers=test.headers,
            query=test.query,
            children=self.children,
        )
        try:
            run = Trial(subject, answers, at=test.clock).run(worlds.append)
        except NeverEnds as error:
            return [_forever(worlds[-1]) if worlds else str(error)], None
        except AnswerRefused as error:
            return [f"answers.{error.name}: {error.message}"], None
        except DetentError as error:
            return [_refusal(error)], None
        missing = [f"answers.{name}: is missing; {why}" for name, why in answers.missing.items()]
        found = [*missing, *_failures(test.expect, run, worlds[-1])]
        return found, repr(run) if found else None


def _forever(world: World) -> str:
    waits = [world.answer_key(run, step) for run, step, _ in world.open_waits()]
    if not waits:
        return "the run does not end"
    names = ", ".join(dict.fromkeys(waits))
    return f"the run waits for {names}: give it an answer, or {{$timeout: true}} to let its time run out"


def _refusal(error: DetentError) -> str:
    problems = error.problems if isinstance(error, InvalidInput) else ()
    return "\n".join([f"the run cannot be started: {error.message}", *(f"  {problem}" for problem in problems)])


def _failures(expect: Expected, run: Speedrun, world: World) -> Iterator[str]:
    """Yield everything that is not as expected."""
    if expect.status is not None and run.status != expect.status:
        why = f" ({run.error.splitlines()[0]})" if run.error else ""
        yield f"status: expected {expect.status}, was {run.status}{why}"
    if expect.error is not None and expect.error not in (run.error or ""):
        yield f"error: expected {expect.error!r} in it, was {run.error!r}"
    if expect.route is not None:
        yield from route_differences(expect.route, run.route)
    ended = {step.name: step.outcome for step in run.steps}
    for name in expect.ran:
        if ended.get(name) in (None, "skipped"):
            yield f"ran: {name} did not run"
    for name in expect.skipped:
        if ended.get(name) != "skipped":
            yield f"skipped: {name} {'did not end' if ended.get(name) is None else f'was {ended[name]}'}"
    results = {step.name: step.result for step in run.steps if step.outcome is not None}
    for name, value in expect.outputs.items():
        if name in results:
            yield from differences(value, results[name], f"outputs.{name}")
        else:
            yield f"outputs.{name}: the run did not reach the step"
    if expect.has_output:
        yield from differences(expect.output, run.output, "output")
    for name, wanted in expect.requests.items():
        yield from _request_differences(wanted, _requests(world, name), f"requests.{name}")
    if expect.took is not None and abs(run.slept - timedelta(seconds=expect.took)) >= timedelta(seconds=1):
        yield f"took: expected {timedelta(seconds=expect.took)}, was {run.slept}"


def _requests(world: World, name: str) -> list[Any]:
    """Return what a step would have sent: one request per attempt, or per item and attempt."""
    workflow, _, step = name.rpartition(BELOW)
    return [
        call.parameters
        for place, call in world.stage.calls
        if place.step == step and (place.workflow == workflow if workflow else place.is_first)
    ]


def _request_differences(wanted: Any, sent: list[Any], path: str) -> Iterator[str]:
    if isinstance(wanted, list):
        yield from differences(wanted, sent, path)
        return
    if not sent:
        yield f"{path}: nothing was sent"
    several = len(sent) > 1
    for number, request in enumerate(sent):
        yield from differences(wanted, request, f"{path}[{number}]" if several else path)
