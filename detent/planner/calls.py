"""The call of a ready step: its parameters, rendered strictly."""

from __future__ import annotations

from typing import Any

from detent.expressions import ExpressionError
from detent.graph.model import Ending
from detent.planner.judge import TEMPLATE_ERROR
from detent.planner.prepared import Prepared, probe_config
from detent.planner.scope import call_scope
from detent.run.call import ChildPort, FunctionPort, RunView, StepCall
from detent.run.outcomes import Fail, StepError
from detent.run.state import RunState


def make_call(
    prepared: Prepared, state: RunState, index: int, view: RunView | None = None, attempt: int = 0
) -> StepCall | Fail:
    """Return the call for the next attempt of a step or of its probe, or the failure of a template in it. `attempt` is
    the number of that attempt, if it is known.

    No call is sent with a missing value: that would be more dangerous than a visible failure.
    """
    step = prepared.steps[index]
    parameters: Any = step.config.source
    if not step.config.is_constant and step.items is None:
        try:
            parameters = step.config.render(call_scope(prepared, state, index))
        except ExpressionError as error:
            return Fail(StepError(TEMPLATE_ERROR, error.message), retry=False)
    if state.probes and index in state.probes:
        probe = prepared.graph.steps[index].probe
        assert probe is not None
        parameters = probe_config(probe, parameters)
    facts, number = state.facts, attempt or state.attempt_number(index)
    return StepCall(
        facts.id,
        facts.tenant,
        step.name,
        step.kind,
        number,
        parameters,
        step.timeout,
        view,
        is_sensitive=step.sensitive,
    )


def build_view(
    prepared: Prepared,
    state: RunState,
    generation: int,
    port: FunctionPort | None = None,
    child: ChildPort | None = None,
) -> RunView:
    """Return what user code may know of its run: the facts, the graph and what earlier steps have done.

    The view reads the state when it is asked, so it stays true while the state changes.
    """
    numbers, results, endings, errors = prepared.numbers, state.results, state.ending, state.errors

    def result_of(name: str) -> bytes | None:
        return results.get(numbers.get(name, -1))

    def ending_of(name: str) -> Ending | None:
        return endings[numbers[name]] if name in numbers else None

    def error_of(name: str) -> StepError | None:
        return errors.get(numbers.get(name, -1))

    return RunView(state.facts, prepared.graph, generation, result_of, ending_of, port, child, error_of)
