"""A ready step made into a call: its parameters rendered, strictly."""

from __future__ import annotations

from detent.expressions import ExpressionError
from detent.planner.judge import TEMPLATE_ERROR
from detent.planner.prepared import Prepared
from detent.planner.scope import build_scope
from detent.run.call import StepCall
from detent.run.outcomes import Fail, StepError
from detent.run.state import RunState


def make_call(prepared: Prepared, state: RunState, index: int) -> StepCall | Fail:
    """The call for the next attempt of a step, or the failure that a template of it could not be filled in.

    Nothing is ever sent with a value missing: that would be more dangerous than to fail where people can see it."""
    step = prepared.steps[index]
    try:
        parameters = step.config.render({} if step.config.is_constant else build_scope(prepared, state))
    except ExpressionError as error:
        return Fail(StepError(TEMPLATE_ERROR, error.message), retry=False)
    facts = state.facts
    return StepCall(facts.id, facts.tenant, step.name, step.kind, state.attempt_number(index), parameters, step.timeout)
