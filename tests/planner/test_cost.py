"""The cost of one event does not grow with the graph."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from statistics import median

import pytest

from detent.graph.model import Edge, Graph, Step, StepKind
from detent.planner import Prepared, advance, open_run, prepare
from detent.planner.calls import make_call
from detent.run import events
from detent.run.outcomes import Done
from detent.run.plan import Plan
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


def _run(prepared: Prepared, around: Callable[[Callable[[], Plan]], Plan] = lambda act: act()) -> None:
    """One run from its start to its end. `around` makes the plan of each event."""
    state = prepared.new_state(facts_of(prepared.graph))
    _, plan = open_run(prepared, state, now=NOON)
    todo = list(plan.start)
    while todo:
        index = todo.pop().step
        make_call(prepared, state, index)
        ended = events.AttemptEnded(index, 1, STEP, 1.0)
        todo.extend(around(partial(advance, prepared, state, event=ended, now=NOON)).start)
    assert state.is_over


def _bytes(prepared: Prepared) -> float:
    """The memory that is taken meanwhile by the plan of an event in the middle: the median of some events of a run."""
    found: list[int] = []
    events_seen = 0

    def measured(act: Callable[[], Plan]) -> Plan:
        nonlocal events_seen
        events_seen += 1
        if events_seen % (len(prepared.graph.steps) // 20):
            return act()
        tracemalloc.start()
        try:
            plan = act()
            found.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        return plan

    _run(prepared, measured)
    return median(found)


@pytest.mark.case("E4")
@pytest.mark.slow
@pytest.mark.parametrize("make", [_wide, _chain])
def test_ten_thousand_steps_cost_no_more_each_than_a_hundred(make: Callable[[int], Graph]) -> None:
    small, large = prepare(make(100)), prepare(make(10_000))
    assert calls_in(lambda: _run(large)) / 10_000 < 1.2 * calls_in(lambda: _run(small)) / 100
    # What a call hides, such as a copy of the whole state, would take a hundred times as much memory.
    assert _bytes(large) < 2 * _bytes(small)
