"""The cost of one event does not grow with the graph."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from time import process_time

import pytest

from detent.graph.model import Edge, Graph, Step, StepKind
from detent.planner import Prepared, advance, open_run, prepare
from detent.planner.calls import make_call
from detent.run import events
from detent.run.outcomes import Done
from tests.planner.play import NOON, facts_of
from tests.planner.work import calls_in

STEP = Done(b'{"output":1}')


def _wide(size: int) -> Graph:
    """That many parallel steps and a join that reads the first."""
    names = [f"s{number}" for number in range(size)]
    steps = tuple(Step(name, StepKind.ACTION, {"with": "{{trigger.body}}"}) for name in names)
    return Graph((*steps, Step("join", StepKind.ACTION)), tuple(Edge(name, "join") for name in names))


def _chain(size: int) -> Graph:
    """Each step reads the one before and has a condition."""
    steps = [Step("s0", StepKind.ACTION)]
    for number in range(1, size):
        before = f"tasks.s{number - 1}.output"
        steps.append(Step(f"s{number}", StepKind.ACTION, {"with": f"{{{{{before}}}}}"}, guard=f"{before} == 1"))
    return Graph(tuple(steps), tuple(Edge(f"s{number}", f"s{number + 1}") for number in range(size - 1)))


def _run(prepared: Prepared) -> None:
    """One run from its start to its end."""
    state = prepared.new_state(facts_of(prepared.graph))
    _, plan = open_run(prepared, state, now=NOON)
    todo = list(plan.start)
    while todo:
        index = todo.pop().step
        make_call(prepared, state, index)
        ended = events.AttemptEnded(index, 1, STEP, 1.0)
        todo.extend(advance(prepared, state, event=ended, now=NOON).start)
    assert state.is_over


def _seconds(prepared: Prepared) -> float:
    """The CPU that one run costs in this process."""
    begun = process_time()
    _run(prepared)
    return process_time() - begun


@pytest.fixture
def no_garbage() -> Iterator[None]:
    """What other tests left behind must not be searched while this one measures."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.case("E4")
@pytest.mark.slow
@pytest.mark.usefixtures("no_garbage")
@pytest.mark.parametrize("make", [_wide, _chain])
def test_ten_thousand_steps_cost_no_more_each_than_a_hundred(make: Callable[[int], Graph]) -> None:
    small, large = prepare(make(100)), prepare(make(10_000))
    assert calls_in(lambda: _run(large)) / 10_000 < 1.2 * calls_in(lambda: _run(small)) / 100
    # What a call hides, such as a copy of the whole state, would cost a hundred times as much.
    assert _seconds(large) / 10_000 < 20 * min(_seconds(small) for _ in range(5)) / 100
