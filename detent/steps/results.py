"""The outcome of an action: from what it returned or raised, and the resources that it named meanwhile."""

from __future__ import annotations

from typing import Any

import msgspec

from detent.run.outcomes import Outcome, Skip, StepError
from detent.steps.errors import ActionError, OutputTooLarge, Skipped, Succeeded, output_of
from detent.steps.links import Links, done_with
from detent.steps.user_code import error_message, failure_of


def outcome_of(value: Any, links: Links | None = None) -> Outcome:
    """Return the outcome of an action that returned this value: its output, or a result that says more.

    Raise Unserialisable, OutputTooLarge or InvalidLink."""
    if isinstance(value, Succeeded | Skipped | ActionError):
        return outcome_of_error(value, links)
    return done_with(value, links)


def outcome_of_error(error: BaseException, links: Links | None = None) -> Outcome:
    """Return the outcome of an action that raised this. Never raise."""
    try:
        if isinstance(error, Succeeded):
            return done_with(output_of(error), links)
        if isinstance(error, Skipped):
            reason = error_message(error)
            return Skip(StepError("skipped", reason) if reason else None)
    except BaseException as second:  # noqa: BLE001 - the output has no JSON form, or a metaclass of the user raises
        error = second
    if type(error) is OutputTooLarge:
        return msgspec.structs.replace(failure_of(error), large=error.done)
    return failure_of(error)
