"""How one attempt of a step ended: a value, not an exception.

An executor returns one of these and nothing else. The planner decides what follows: a retry, the next step, the end of
the run. Their texts often come from user code, so each outcome turns them into plain text of bounded length.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from detent.graph.model import StepKind
from detent.run.links import Link
from detent.values.text import plain_text

#: The key of a stored result that has the sealed one. What is beside it can be shown.
SEALED: Final = "$sealed"
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
        """Return the end of the traceback if user code raised an exception."""
        found = self.detail.get("traceback") if isinstance(self.detail, dict) else None
        return found if isinstance(found, str) else None


class Done(msgspec.Struct, frozen=True):
    """The attempt succeeded. `result` is a JSON object as our canonical bytes: what expressions read of the step.

    Its keys are `output` (actions), or `status_code`, `headers`, `body` (http and callbacks), with `truncated: true`
    in place of a readable body where the response was cut. `links` are claimed before the step ends. It fails if one of
    them belongs to another run.
    """

    result: bytes
    links: tuple[Link, ...] = ()


class Continued(Done, frozen=True, kw_only=True):
    """A durable function continues as a new run, which starts in the flush that ends this one. `taken`: how many
    signals of each name it took; the others belong to the new run."""

    taken: dict[str, int]


class Fail(msgspec.Struct, frozen=True):
    """The attempt failed. `retry`: another attempt could help. `retry_after`: the shortest delay before it, in seconds.
    `timed_out`: the step's own time limit ended it. `result`: as in Done, if there was an answer. `large`: what an
    action returned that is larger than the journal takes; the node makes a blob of it."""

    error: StepError
    result: bytes = b"{}"
    retry: bool = True
    retry_after: float | None = None
    timed_out: bool = False
    large: Done | None = None


class Skip(msgspec.Struct, frozen=True):
    """The step is skipped, by its own code or because of an error in it. The run continues after it."""

    error: StepError | None = None
    result: bytes = b"{}"


class Reattempt(msgspec.Struct, frozen=True):
    """The step is retried after `wait` seconds, as often as its code asks for it."""

    wait: float = 0.0
    error: StepError | None = None


class Cancel(msgspec.Struct, frozen=True):
    """The whole run is cancelled."""

    reason: str
    error: StepError | None = None

    def __post_init__(self) -> None:
        _settle(self, "reason", LONGEST_REASON)


class Pause(msgspec.Struct, frozen=True):
    """The run pauses until a user resumes it. Then the step is retried."""

    reason: str
    error: StepError | None = None

    def __post_init__(self) -> None:
        _settle(self, "reason", LONGEST_REASON)


class Finish(msgspec.Struct, frozen=True):
    """The step succeeded and finishes the run. Steps that have not run are skipped. `links`: as in Done."""

    result: bytes
    links: tuple[Link, ...] = ()


class Move(msgspec.Struct, frozen=True):
    """The code of the run has changed. The run continues with this graph (encoded) and its results so far. The step
    itself was not begun."""

    graph: bytes


class Suspend(msgspec.Struct, frozen=True):
    """A durable function has nothing to do before `until` (`None`: before a message arrives) and leaves memory. It has
    seen the first `seen` checkpoints of the run. If there are more by now, it is called again at once."""

    until: int | None
    seen: int


class Delegated(msgspec.Struct, frozen=True):
    """The child run of the step exists. The step ends when the child ends. Of a map: its first `pages` exist."""

    pages: int = 0


Outcome = Done | Fail | Skip | Reattempt | Cancel | Pause | Finish | Move | Suspend | Delegated

EMPTY_RESULT: Final = b"{}"


def _settle(outcome: msgspec.Struct, name: str, longest: int) -> None:
    given = getattr(outcome, name)
    text = plain_text(given, longest)
    if text is not given:
        msgspec.structs.force_setattr(outcome, name, text)


def result_of(kind: StepKind, output: bytes = b"null", status_code: int | None = None) -> bytes:
    """Build the result of a step that did not compute it, in the shape of that kind. `output` is JSON from
    a user. Answers (http, callbacks) have it as their body; a sleep has none."""
    if kind is StepKind.SLEEP:
        return EMPTY_RESULT
    if kind in (StepKind.HTTP, StepKind.WAIT):
        empty: dict[str, str] = {}
        return msgspec.json.encode({"status_code": status_code, "headers": empty, "body": msgspec.Raw(output)})
    return msgspec.json.encode({"output": msgspec.Raw(output)})


def stated_result(kind: StepKind, output: bytes, status_code: int | None = None) -> bytes:
    """Return the result of a step whose output a user states. An HTTP answer without a status code was a success."""
    if status_code is None and kind is StepKind.HTTP:
        status_code = 200
    return result_of(kind, output, status_code)
