"""A workflow that has become one of the other form while its runs were under way."""

from __future__ import annotations

from detent.clock import SystemClock
from detent.python.classes.executor import ClassExecutor
from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.functions import Run, workflow
from detent.python.functions.executor import FunctionExecutor
from detent.python.registry import PythonRegistry
from detent.run.call import RunView, StepCall
from detent.run.outcomes import Pause
from detent.run.state import RunFacts
from tests.python.function.ports import Port, Record


def _chain() -> PythonRegistry:
    registry = PythonRegistry()

    class Changing(Workflow, registry=registry):
        name = "changing"

        @step
        def one(self) -> None: ...

    return registry


def _function() -> PythonRegistry:
    @workflow(name="changing")
    async def changing(run: Run) -> None: ...

    registry = PythonRegistry()
    registry.add(changing.registered())
    return registry


def _call(begun_by: PythonRegistry) -> StepCall:
    """The first step of a run that was started by that code."""
    [known] = begun_by.all()
    graph = known.compiled.graph
    first = graph.steps[0]
    facts = RunFacts(bytes(16), 1, known.name, b'{"body":null}', 0, None, lambda key: key)
    view = RunView(facts, graph, 1, lambda _: None, lambda _: None, Port(Record()))
    return StepCall(facts.id, 1, first.name, first.kind, 1, dict(first.config), None, view)


async def test_a_run_of_a_class_that_is_a_function_now_pauses_and_says_so() -> None:
    outcome = ClassExecutor(_function()).begin(_call(_chain()))
    assert outcome == Pause("'changing' is a durable function now, and this run is of a class")


async def test_a_run_of_a_function_that_is_a_class_now_pauses_and_says_so() -> None:
    outcome = FunctionExecutor(clock=SystemClock(), registry=_chain()).begin(_call(_function()))
    assert outcome == Pause("'changing' is a class now, and this run is of a durable function")
