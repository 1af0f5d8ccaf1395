"""Flow control from inside a step.

Each verb raises, so that nothing behind it is done. It is no `Exception`: `except Exception` does not stop it; and what
was asked for is remembered, so that even `except BaseException` does not.
"""

from __future__ import annotations

from typing import Any, NoReturn

from detent.python.durations import Duration, in_seconds
from detent.run.outcomes import LONGEST_REASON, Cancel, Pause, Reattempt
from detent.run.plain_text import plain_text


class FlowControl(BaseException):
    """A step said how its run goes on. Let it pass."""


class SkipAsked(FlowControl):
    """The step is left out."""


class FinishAsked(FlowControl):
    """The run is done, with this result."""

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.result = result


class RunAsked(FlowControl):
    """The run is to be cancelled or paused, or its step tried again."""

    def __init__(self, outcome: Cancel | Pause | Reattempt) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class FlowVerbs:
    """The verbs, for whatever knows its attempt. Each is for the code of a step while it runs."""

    def _ask(self, verb: str, asked: FlowControl) -> NoReturn:
        """Remember what was asked for and raise it; RuntimeError where no step is running."""
        raise NotImplementedError

    def _where(self) -> str:
        raise NotImplementedError

    def _reason(self, given: object) -> str:
        """Of anything, since an error is often given as a reason; where the step is if none was given."""
        return ("" if given is None else plain_text(given, LONGEST_REASON)) or self._where()

    def cancel(self, reason: object = None) -> NoReturn:
        """Cancel the run. The reason is for people: a text, or an exception or anything else as its text."""
        self._ask("cancel", RunAsked(Cancel(self._reason(reason))))

    def pause(self, reason: object = None) -> NoReturn:
        """Let the run stand still until somebody resumes it; then this step is tried again."""
        self._ask("pause", RunAsked(Pause(self._reason(reason))))

    def skip(self) -> NoReturn:
        """Leave this step out and go on with the next."""
        self._ask("skip", SkipAsked())

    def reattempt(self, wait: Duration | None = None) -> NoReturn:
        """Try this step again, after a while."""
        self._ask("reattempt", RunAsked(Reattempt(0.0 if wait is None else in_seconds(wait))))

    def finish(self, result: Any = None) -> NoReturn:
        """The run is done: this step succeeded with that result, and what comes behind it is skipped."""
        self._ask("finish", FinishAsked(result))
