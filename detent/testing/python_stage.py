"""Python workflows on the stage: a test can watch, answer and kill each body of a step.

Everything around a body is real: heroes are loaded, conditions are checked, policies apply.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import msgspec

from detent.embed.request import UNSET
from detent.errors import InvalidInput
from detent.ids import RUN, parse
from detent.python.classes.compiled import CompiledClass, CompiledStep
from detent.python.classes.state import StateType
from detent.python.functions.operations import Pending, StepWork
from detent.python.functions.run import Run
from detent.python.functions.step import StepContext, StepFunction
from detent.python.functions.step_runner import CancelStep, Ended, StepResult, StepRunner
from detent.python.functions.workflow import FunctionWorkflow
from detent.python.registry import CodeKind, PythonRegistry, Registered, registry
from detent.python.transactions import Transactions
from detent.run.outcomes import Fail, StepError
from detent.steps.links import Reservations
from detent.steps.user_code import ThreadPool
from detent.testing.answers import Answers, Output, StepRequest, value_of
from detent.testing.stage import Killed, Stage
from detent.values.durations import Duration
from detent.vault.secrets import SecretOpener


class StagedRegistry(PythonRegistry):
    """A registry that returns each workflow with its bodies wrapped by the stage."""

    def __init__(self, stage: Stage, initial_state: Any) -> None:
        super().__init__()
        self._stage, self._initial_state = stage, initial_state
        self._staged: dict[str, Registered] = {}
        self.find = self._find

    def _find(self, name: str) -> Registered | None:
        known = registry.find(name)
        if known is not None and name not in self._staged:
            if known.kind is CodeKind.CHAIN:
                target: Any = SimpleNamespace(__compiled__=self._on_stage(known.target.__compiled__))
            else:
                target = _listening(known.target, self._stage)
            self._staged[name] = replace(known, target=target)
        return self._staged.get(name)

    def _on_stage(self, compiled: CompiledClass) -> CompiledClass:
        steps = [_staged(step, self._stage) for step in compiled.steps.values()]
        state = compiled.state if self._initial_state is None else _Beginning(compiled.state, self._initial_state)
        return CompiledClass(compiled.target, compiled.settings, steps, state, compiled.graph, compiled.fingerprint)


def _staged(step: CompiledStep, stage: Stage) -> CompiledStep:
    name, body = step.name, step.body

    def call(workflow: Any) -> Any:
        if not stage.begins(name):
            return _stop_silently(stage, body.is_async)
        run = partial(_answer, stage.answers, name) if name in stage.answers else body.call
        try:
            output = stage.performed(name, partial(run, workflow))
        except Killed:
            return _stop_silently(stage, body.is_async)
        return stage.waited_for(name, output) if inspect.isawaitable(output) else output

    # An answer instead of a body changes nothing in a database, and needs none.
    is_transactional = step.is_transactional and name not in stage.answers
    return replace(step, body=replace(body, call=call), is_transactional=is_transactional)


def _answer(answers: Answers, name: str, workflow: Any) -> Any:
    given = answers.of(StepRequest(name, workflow.attempt, workflow))
    return _played_later(workflow, given) if inspect.isawaitable(given) else _played(workflow, given)


async def _played_later(workflow: Any, given: Awaitable[Any]) -> Any:
    return _played(workflow, await given)


def _played(workflow: Any, given: Any) -> Any:
    """Apply an answer instead of running the step's own code."""
    if not isinstance(given, Output):
        return given
    if given.state is not UNSET:
        kept = b'{"state":%b,"state_number":1}' % msgspec.json.encode(given.state)
        workflow.state = type(workflow).__compiled__.state.read([kept])[0]
    match given.then:
        case None:
            return given.value
        case "skip":
            workflow.skip()
        case "finish":
            workflow.finish(given.value)
        case "pause":
            workflow.pause(given.reason)
        case "cancel":
            workflow.cancel(given.reason)
    raise InvalidInput(f"an Output cannot have then={given.then!r}")


def _listening(target: FunctionWorkflow, stage: Stage) -> FunctionWorkflow:
    """Return a copy of a function that reports its awaited signals and its forgotten awaits to the stage."""
    staged, function = copy.copy(target), target.function

    async def program(run: Run, **arguments: Any) -> Any:
        wait = run.signal

        def signal(name: str, timeout: Duration | None = None) -> Any:
            pending: Any = wait(name, timeout)
            stage.signals[parse(RUN, run.id), pending.key] = pending
            return pending

        run.signal = signal  # type: ignore[method-assign]  # of this one run
        given = await function(run, **arguments)
        if not isinstance(given, Pending):  # the executor reports that as an error
            stage.forgotten.update(dict.fromkeys(one.call for one in run.unwanted.values()))
        return given

    staged.function = program
    return staged


def _stop_silently(stage: Stage, is_async: bool) -> Any:
    if is_async:
        return stage.for_ever()
    raise Killed


class _Beginning(StateType):
    """A state type whose initial state the test sets."""

    def __init__(self, inner: StateType, given: Any) -> None:
        new = inner.new()
        if isinstance(given, Mapping) and not isinstance(new, Mapping):
            given = type(new)(**given)
        if type(given) is not type(new):
            raise InvalidInput(f"state: a {type(new).__qualname__} is needed, not a {type(given).__qualname__}")
        vars(self).update(vars(inner))
        self._given = given

    def new(self) -> Any:
        return copy.deepcopy(self._given)


def check_state(workflow: str, given: Any) -> None:
    """Raise InvalidInput if the workflow cannot begin with that state."""
    known = registry.find(workflow)
    if known is None or known.kind is not CodeKind.CHAIN:
        raise InvalidInput(f"state: only a Workflow class has one, and {workflow or 'a definition'!r} is not a class")
    _Beginning(known.target.__compiled__.state, given)


class StagedBodies(StepRunner):
    """Runs the steps of durable functions on the stage, plain ones in the test's thread."""

    def __init__(
        self,
        stage: Stage,
        pool: ThreadPool,
        transactions: Transactions,
        reservations: Reservations | None = None,
        secrets: SecretOpener | None = None,
    ) -> None:
        super().__init__(pool, transactions, reservations, secrets)
        self._stage = stage

    def begin(
        self, work: StepWork, context: StepContext, ended: Ended, unlocked: Callable[[], None] = lambda: None
    ) -> CancelStep:
        stage, key = self._stage, context.step
        if not stage.comes(key):
            return _nothing
        silence, is_answered = stage.answers.silence(key), key in stage.answers

        def report(given: StepResult | Fail) -> None:
            if stage.ended(key):
                ended(given)
                if is_answered and work.function.transactional:
                    unlocked()

        if silence is not None:
            nothing_came = Fail(StepError("timeout", silence), timed_out=True)
            return asyncio.get_running_loop().call_later(stage.time_left(key), report, nothing_came).cancel
        if is_answered and (left := stage.time_left(key)):
            return _later(left, lambda: self._perform(work, context, report, unlocked))
        return self._perform(work, context, report, unlocked)

    def _perform(self, work: StepWork, context: StepContext, report: Ended, unlocked: Callable[[], None]) -> CancelStep:
        stage, key = self._stage, context.step
        is_answered = key in stage.answers
        body = _answered(work, stage, context) if is_answered else work.function.function
        staged = replace(
            work.function,
            function=_counted(body, stage, key, is_async=work.function.is_async),
            context=None if is_answered else work.function.context,
            transactional=work.function.transactional and not is_answered,
        )
        return super().begin(_with(work, staged), context, report, unlocked)


def _later(seconds: float, begin: Callable[[], CancelStep]) -> CancelStep:
    """Start a step after that many seconds, unless it is cancelled before."""
    cancels: list[CancelStep] = []
    timer = asyncio.get_running_loop().call_later(seconds, lambda: cancels.append(begin()))
    cancels.append(timer.cancel)
    return lambda: [cancel() for cancel in cancels]


def _answered(work: StepWork, stage: Stage, context: StepContext) -> Callable[..., Any]:
    """Return a body that returns the answer instead."""
    asked = StepRequest(stage.answers.name_for(context.step) or context.step, context.attempt, work.args)

    async def later(*_: Any, **__: Any) -> Any:
        found = stage.answers.of(asked)
        return value_of(await found if inspect.isawaitable(found) else found)

    return later if work.function.is_async else lambda *_, **__: value_of(stage.answers.of(asked))


def _counted(body: Callable[..., Any], stage: Stage, key: str, *, is_async: bool) -> Callable[..., Any]:
    """Return a body that is counted only when it runs: a stored result of a transaction is returned without it."""

    async def later(*args: Any, **kwargs: Any) -> Any:
        stage.ran[key] += 1
        return await body(*args, **kwargs)

    def at_once(*args: Any, **kwargs: Any) -> Any:
        stage.ran[key] += 1
        try:
            return body(*args, **kwargs)
        finally:
            stage.time_passes()

    return later if is_async else at_once


def _with(work: StepWork, function: StepFunction) -> StepWork:
    """Return the same work with another body."""
    other = StepWork(function, work.args, work.kwargs, work.retry, work.timeout)
    other.attempt, other.begun = work.attempt, work.begun
    return other


def _nothing() -> None:
    """Do nothing: there is nothing to cancel."""
