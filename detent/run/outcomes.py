"""How one attempt of a step ended: a value, not an exception.

An executor returns one of these and nothing else. The planner decides what follows: a retry, the next step, the end of
the run. Their texts often come from user code, so each outcome turns them into plain text of bounded length.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from detent.graph.model import StepKind
from detent.values.text import plain_text

LONGEST_CODE: Final = 128
LONGEST_MESSAGE: Final = 4_000
LONGEST_REASON: Final = 1_000


class StepError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a step failed. `code` is stable: `http_status`, `connect`, `timeout`, `egress_denied`, `poison`, ..."""

    code: str
    message: str
    detail: Any = None

    def __post_init__(self) -> None:
        _settle(self, "code", LONGEST_CODE)
        _settle(self, "message", LONGEST_MESSAGE)

    @property
    def traceback(self) -> str | None:
        """The end of the traceback, if an exception of user code is the reason."""
        found = self.detail.get("traceback") if isinstance(self.detail, dict) else None
        return found if isinstance(found, str) else None


class Done(msgspec.Struct, frozen=True):
    """The attempt succeeded. `result` is a JSON object as our canonical bytes: what expressions read of the step.

    Its keys are `output` (actions), or `status_code`, `headers`, `body` (http and callbacks), with `truncated: true`
    in place of a readable body where the response was cut.
    """

    result: bytes


class Fail(msgspec.Struct, frozen=True):
    """The attempt failed. `retry` says whether another attempt could help; `retry_after` (seconds) how long to wait
    at least; `timed_out` that the step's own time limit ended it. `result` as in Done, where there was an answer."""

    error: StepError
    result: bytes = b"{}"
    retry: bool = True
    retry_after: float | None = None
    timed_out: bool = False


class Skip(msgspec.Struct, frozen=True):
    """The step is left out, by its own code or because of an error of it; the run goes on behind it."""

    error: StepError | None = None
    result: bytes = b"{}"


class Reattempt(msgspec.Struct, frozen=True):
    """The step is to be tried again after `wait` seconds, as often as its code asks for it."""

    wait: float = 0.0
    error: StepError | None = None


class Cancel(msgspec.Struct, frozen=True):
    """The whole run is to be cancelled."""

    reason: str
    error: StepError | None = None

    def __post_init__(self) -> None:
        _settle(self, "reason", LONGEST_REASON)


class Pause(msgspec.Struct, frozen=True):
    """The run pauses until a person resumes it; then the step is tried again."""

    reason: str
    error: StepError | None = None

    def __post_init__(self) -> None:
        _settle(self, "reason", LONGEST_REASON)


class Finish(msgspec.Struct, frozen=True):
    """The step succeeded, and with it the run: what has not run yet is skipped."""

    result: bytes


class Move(msgspec.Struct, frozen=True):
    """The code of the run has changed: it is to go on by this graph (encoded), with what it has achieved so far. The
    step itself was not begun."""

    graph: bytes


class Suspend(msgspec.Struct, frozen=True):
    """A durable function has nothing to do before `until` (`None`: before a message arrives) and releases its memory.
    It has taken into account the first `seen` checkpoints of the run: if there are more by now, it is called again at
    once."""

    until: int | None
    seen: int


Outcome = Done | Fail | Skip | Reattempt | Cancel | Pause | Finish | Move | Suspend

EMPTY_RESULT: Final = b"{}"


def _settle(outcome: msgspec.Struct, name: str, longest: int) -> None:
    given = getattr(outcome, name)
    text = plain_text(given, longest)
    if text is not given:
        msgspec.structs.force_setattr(outcome, name, text)


def result_of(kind: StepKind, output: bytes = b"null", status_code: int | None = None) -> bytes:
    """Build the result of a step that did not compute it, in the shape of that kind. `output` is JSON that a person
    supplied. Answers (http, callbacks) carry it as their body; a sleep has none."""
    if kind is StepKind.SLEEP:
        return EMPTY_RESULT
    if kind in (StepKind.HTTP, StepKind.WAIT):
        empty: dict[str, str] = {}
        return msgspec.json.encode({"status_code": status_code, "headers": empty, "body": msgspec.Raw(output)})
    return msgspec.json.encode({"output": msgspec.Raw(output)})


def stated_result(kind: StepKind, output: bytes, status_code: int | None = None) -> bytes:
    """Return the result of a step whose output a person states. An HTTP answer without a status code was a success."""
    if status_code is None and kind is StepKind.HTTP:
        status_code = 200
    return result_of(kind, output, status_code)
