"""Workflows written in Python, on the stage: their bodies are seen, answered and stopped one by one.

Everything around a body stays as it is: heroes are loaded, conditions asked, policies followed.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from detent.errors import InvalidInput
from detent.ids import RUN, parse
from detent.python.chain import Chain, Link
from detent.python.chain_step import ChainStep
from detent.python.durations import Duration
from detent.python.function.bodies import Bodies, CallOff, Told
from detent.python.function.pending import Pending, StepWork
from detent.python.function.run import Run
from detent.python.function.step_function import StepContext
from detent.python.function.workflow import FunctionWorkflow
from detent.python.registry import CodeKind, PythonRegistry, Registered, registry
from detent.python.run_state import StateType
from detent.python.transactional import Transactions
from detent.testing.answers import Asked
from detent.testing.stage import SameThread, Stage


class Killed(BaseException):
    """The process died in a plain function's place; nobody is left to hear of it."""


class StagedChainStep(ChainStep):
    """The executor of workflow classes, with plain functions in the test's thread."""

    def __init__(self, staged: StagedRegistry, now: Callable[[], int], keeper: Transactions) -> None:
        super().__init__(staged, now=now, keeper=keeper)
        self._pool = SameThread()


class StagedRegistry(PythonRegistry):
    """Finds each workflow with its bodies on the stage."""

    def __init__(self, stage: Stage, initial_state: Any) -> None:
        super().__init__()
        self._stage, self._initial_state = stage, initial_state
        self._staged: dict[str, Registered] = {}
        self.find = self._find

    def _find(self, name: str) -> Registered | None:
        known = registry.find(name)
        if known is not None and name not in self._staged:
            if known.kind is CodeKind.CHAIN:
                target: Any = SimpleNamespace(__chain__=self._on_stage(known.target.__chain__))
            else:
                target = _listening(known.target, self._stage)
            self._staged[name] = replace(known, target=target)
        return self._staged.get(name)

    def _on_stage(self, chain: Chain) -> Chain:
        links = [_staged(link, self._stage) for link in chain.links.values()]
        state = chain.state if self._initial_state is None else _Beginning(chain.state, self._initial_state)
        return Chain(chain.target, chain.settings, links, state, chain.graph, chain.fingerprint)


def _staged(link: Link, stage: Stage) -> Link:
    name, body = link.name, link.body

    def call(workflow: Any) -> Any:
        if not stage.begins(name):
            return _nobody_hears(stage, body.is_async)
        if name in stage.answers:
            output = stage.answers.of(Asked(name, workflow.attempt, workflow))
        else:
            output = body.call(workflow)
        if inspect.isawaitable(output):
            return stage.waited_for(name, output)
        return output if stage.ended(name) else _nobody_hears(stage, body.is_async)

    return replace(link, body=replace(body, call=call))


def _listening(target: FunctionWorkflow, stage: Stage) -> FunctionWorkflow:
    """The same function; the stage hears of the signals it waits for, and of what it forgets to wait for."""
    staged, function = copy.copy(target), target.function

    async def program(run: Run, **arguments: Any) -> Any:
        wait = run.signal

        def signal(name: str, timeout: Duration | None = None) -> Any:
            pending: Any = wait(name, timeout)
            stage.signals[parse(RUN, run.id), pending.key] = name
            return pending

        run.signal = signal  # type: ignore[method-assign]  # of this one run
        given = await function(run, **arguments)
        if not isinstance(given, Pending):  # which is told as an error
            stage.forgotten.update(dict.fromkeys(one.call for one in run.unwanted.values()))
        return given

    staged.function = program
    return staged


def _nobody_hears(stage: Stage, is_async: bool) -> Any:
    if is_async:
        return stage.for_ever()
    raise Killed


class _Beginning(StateType):
    """A state that begins as the test says."""

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
    """Refuse a state that the workflow cannot begin with."""
    known = registry.find(workflow)
    if known is None or known.kind is not CodeKind.CHAIN:
        raise InvalidInput(f"state: only a Workflow class has one, and {workflow or 'a definition'!r} is none")
    _Beginning(known.target.__chain__.state, given)


class StagedBodies(Bodies):
    """The steps of durable functions, plain ones in the test's thread."""

    def __init__(self, stage: Stage, keeper: Transactions) -> None:
        super().__init__(1, keeper=keeper)
        self._stage = stage
        self._pool = SameThread()

    def begin(
        self, work: StepWork, context: StepContext, told: Told, returned: Callable[[], None] = lambda: None
    ) -> CallOff:
        stage, key = self._stage, context.step
        if not stage.begins(key):
            return _nothing
        name = key if key in stage.answers else key.partition("#")[0]
        if name in stage.answers:
            work = _answered(work, lambda: stage.answers.of(Asked(name, context.attempt, work.args)))
        return super().begin(work, context, lambda given: told(given) if stage.ended(key) else None, returned)


def _answered(work: StepWork, answer: Callable[[], Any]) -> StepWork:
    """The same work with another body."""
    is_async = work.function.is_async

    async def awaited() -> Any:
        found = answer()
        return await found if inspect.isawaitable(found) else found

    body = replace(work.function, function=awaited if is_async else answer, context=None)
    other = StepWork(body, (), {}, work.retry, work.timeout)
    other.attempt, other.begun = work.attempt, work.begun
    return other


def _nothing() -> None:
    """There is nothing to call off."""
