"""The exceptions of durable functions.

Exception
├── StepFailed          a step of the function failed and is not retried
├── WaitTimeout         a callback or a signal did not come in time (a TimeoutError)
├── ChildFailed         a run that the function started did not complete
└── NotInFunction       the function itself did what only its steps may do
BaseException
└── ContinueAsNew       the function continues as a new run (raised by `run.continue_as_new`)
"""

from __future__ import annotations

from typing import Any

from detent.run.outcomes import StepError


class StepFailed(Exception):
    """A step failed and is not retried.

    It must be the same in a replay, so it is never the step's own exception. `type`, `code`, `message` and `detail`
    describe that exception.
    """

    def __init__(self, key: str, error: StepError) -> None:
        super().__init__(f"step {key!r} failed: {error.message}")
        self.key, self.error = key, error

    @property
    def type(self) -> str | None:
        """Return the name of the class of the exception, without its module: `CardDeclined`. It is `TimeoutError` after
        the step's time limit, and None if the step raised nothing."""
        if self.error.code == "timeout":
            return TimeoutError.__name__
        named = self.error.detail.get("type") if isinstance(self.error.detail, dict) else None
        return named.rpartition(".")[2] if isinstance(named, str) else None

    @property
    def code(self) -> str:
        return self.error.code

    @property
    def message(self) -> str:
        return self.error.message

    @property
    def detail(self) -> Any:
        return self.error.detail


class WaitTimeout(TimeoutError):
    """A callback or a signal did not come in time."""

    def __init__(self, key: str) -> None:
        kind, _, name = key.partition(":")
        what = "signal" if kind == "@ask" else "callback"
        super().__init__(f"the {what} '{name.partition('#')[0]}' did not come in time")
        self.key = key


class ChildFailed(Exception):
    """A run that the function started did not complete, or could not be started."""

    def __init__(self, key: str, error: StepError) -> None:
        super().__init__(f"{key.lstrip('@')}: {error.message}")
        self.key, self.error = key, error


class NotInFunction(RuntimeError):
    """A durable function did itself what only its steps may do. Every replay runs the function again."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"a durable function cannot use {what!r} itself: put the work into a step, "
            "`await run.step(function, ...)`, or start a run with `await run.child(workflow, ...)`"
        )


class ContinueAsNew(BaseException):
    """The function ends and continues as a new run. A BaseException, so that `except Exception` does not catch it."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("the function continues as a new run")
        self.body = body
