"""Exceptions of steps: what an action raises or returns to say how it ended, and what is wrong with its parameters or
output."""

from __future__ import annotations

import errno
from datetime import timedelta
from math import isnan
from typing import Any, Final

from detent.run.outcomes import LONGEST_CODE, Done, Fail, Pause
from detent.values.text import plain_text

LONGEST_WAIT: Final = 366 * 86_400.0
EXCEPTION: Final = "exception"
FAILED: Final = "failed"
UNAUTHORIZED: Final = "unauthorized"


class CredentialProblem(Exception):
    """A step cannot use its credential. `outcome` is how its attempt ends."""

    def __init__(self, outcome: Fail | Pause) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class ActionError(Exception):
    """An action failed. The step's error shows `code`."""

    code: str = EXCEPTION  # also of a subclass that does not call this `__init__`

    def __init__(self, message: str = "", *, code: str = EXCEPTION) -> None:
        super().__init__(message)
        self.code = code


class Permanent(ActionError):
    """The action failed and another attempt would not help."""


class RetryLater(ActionError):
    """The action failed and should not be tried again before `seconds` have passed.

    With `None`, or a value that is not a length of time, the step waits as long as its retry policy defines.
    """

    seconds: float | None = None

    def __init__(self, seconds: float | None, message: str = "", *, code: str = EXCEPTION) -> None:
        wait = _in_seconds(seconds)
        super().__init__(message or ("try again later" if wait is None else f"try again in {wait:g} s"), code=code)
        self.seconds = wait


class Failed(Permanent):
    """The action failed and another attempt would not help. It may be returned as well as raised."""

    def __init__(self, message: str = "", code: str = FAILED) -> None:
        super().__init__(message, code=code)


class RetriableFailure(RetryLater):
    """The action failed and another attempt may help, not before `after` seconds. It may be returned as well as
    raised."""

    def __init__(self, message: str = "", code: str = FAILED, *, after: float | None = None) -> None:
        super().__init__(after, message, code=code)


class Unauthorized(Permanent):
    """The service refused the credential of the action.

    If a step lent it a stored credential whose token can be renewed, the action is called once more with a new token,
    in the same attempt. Otherwise it failed, and another attempt would not help."""

    def __init__(self, message: str = "the service refused the credential") -> None:
        super().__init__(message, code=UNAUTHORIZED)


class Succeeded(Exception):
    """The action succeeded with this output. It may be returned as well as raised."""

    def __init__(self, output: Any = None) -> None:
        super().__init__(output)
        self.output = output


class Skipped(Exception):
    """The step is skipped, for this reason. It may be returned as well as raised."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)


class EgressDenied(OSError):
    """A step may not connect there."""

    def __init__(self, host: str, reason: str) -> None:
        super().__init__(errno.EACCES, f"a step may not connect to {host}: {reason}")
        self.reason = reason


class InvalidParameters(ValueError):
    """The parameters of the step do not fit the function it calls."""


class Unserialisable(ValueError):
    """The value has no JSON form."""


class OutputTooLarge(ValueError):
    """The value is larger than a step's output may be. `done` is what the step would have ended with."""

    def __init__(self, message: str, done: Done | None = None) -> None:
        super().__init__(message)
        self.done = done


def code_of(error: BaseException) -> str:
    """Return the code that an error is stored with, whatever its attributes are."""
    if not issubclass(type(error), ActionError):
        return EXCEPTION
    found = _attribute(error, "code")
    return EXCEPTION if found is None else plain_text(found, LONGEST_CODE) or EXCEPTION


def wait_of(error: BaseException) -> float | None:
    """Return how many seconds an error asks to wait, or `None` if it does not name a length of time."""
    return _in_seconds(_attribute(error, "seconds")) if issubclass(type(error), RetryLater) else None


def output_of(result: Succeeded) -> Any:
    """Return the output of a success that was raised or returned, whatever its class is."""
    return _attribute(result, "output")


def _attribute(error: BaseException, name: str) -> object:
    try:
        return getattr(error, name, None)
    except BaseException:  # noqa: BLE001 - a property of the user's class may raise anything
        return None


def _in_seconds(value: Any) -> float | None:
    try:
        seconds = float(value.total_seconds() if isinstance(value, timedelta) else value)
    except BaseException:  # noqa: BLE001 - as above
        return None
    return None if isnan(seconds) else min(max(0.0, seconds), LONGEST_WAIT)
