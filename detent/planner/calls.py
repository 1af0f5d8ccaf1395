"""A ready step made into a call: its parameters rendered, strictly."""

from __future__ import annotations

from typing import Final

from detent.expressions import ExpressionError
from detent.graph.model import Ending, StepKind
from detent.planner.judge import TEMPLATE_ERROR
from detent.planner.prepared import Prepared
from detent.planner.scope import build_scope
from detent.run.call import FunctionPort, RunView, StepCall
from detent.run.outcomes import Fail, StepError
from detent.run.state import RunState

_SEE_THEIR_RUN: Final = (StepKind.PYTHON, StepKind.FUNCTION)


def make_call(
    prepared: Prepared, state: RunState, index: int, *, generation: int = 0, port: FunctionPort | None = None
) -> StepCall | Fail:
    """The call for the next attempt of a step, or the failure that a template of it could not be filled in.

    Nothing is ever sent with a value missing: that would be more dangerous than to fail where people can see it."""
    step = prepared.steps[index]
    parameters = step.config.source
    if not step.config.is_constant:
        try:
            parameters = step.config.render(build_scope(prepared, state))
        except ExpressionError as error:
            return Fail(StepError(TEMPLATE_ERROR, error.message), retry=False)
    facts, number = state.facts, state.attempt_number(index)
    view = _view(prepared, state, generation, port) if step.kind in _SEE_THEIR_RUN else None
    return StepCall(facts.id, facts.tenant, step.name, step.kind, number, parameters, step.timeout, view)


def _view(prepared: Prepared, state: RunState, generation: int, port: FunctionPort | None) -> RunView:
    numbers, results, endings = prepared.numbers, state.results, state.ending

    def result_of(name: str) -> bytes | None:
        return results.get(numbers.get(name, -1))

    def ending_of(name: str) -> Ending | None:
        return endings[numbers[name]] if name in numbers else None

    return RunView(state.facts, prepared.graph, generation, result_of, ending_of, port)
