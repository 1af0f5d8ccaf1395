"""The errors of the client.

    DetentError
    |- ApiError                Detent answered with an error: `status`, `error`, `code`, `message`, `problems`
    |  |- InvalidRequest       400, 405: the request is invalid; `problems` says where and why
    |  |- Unauthenticated      401
    |  |- PermissionDenied     403
    |  |- NotFound             404
    |  |- Conflict             409: the current state does not allow this
    |  |  |- AlreadyActive     the hero has an active run of that workflow: `run_id`
    |  |  `- RehearsalFailed   a strict publish was refused: `rehearsal`
    |  |- Gone                 410
    |  |- PreconditionFailed   412: it has changed since it was read; of a rule `current` says who, when and what
    |  |- TooLarge             413
    |  |- LimitExceeded        429: too many requests
    |  |- Unavailable          502, 503, 504: not available now
    |  |- ServerError          other 5xx: a bug of Detent
    |  `- UnexpectedAnswer     the answer is not one of a Detent
    |- NoConnection            no complete answer arrived
    |- ClientClosed            the client was closed before or during the call
    |- RunFailed               the run ended, but not `completed`: `run` and `steps` say why
    `- StillRunning            the run did not end within the timeout

A class with a counterpart in `detent.errors` is a subclass of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from detent import errors
from detent.documents.refusals import Details, Refusal
from detent.documents.rehearsal import RehearsalDocument
from detent.documents.rules import StaleRuleDocument
from detent.documents.runs import RunDocument, StepDocument
from detent.errors import DetentError, Problem

_FAILURES: Final = frozenset({"failed", "timeout", "template_error"})


class ApiError(DetentError):
    """Detent answered with an error."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        error: str = "",
        code: str = "",
        problems: Iterable[Problem] = (),
        retry_after: float = 0.0,
        run_id: str = "",
        rehearsal: RehearsalDocument | None = None,
        current: StaleRuleDocument | None = None,
    ) -> None:
        Exception.__init__(self, message)
        self.status, self.error, self.code, self.rehearsal = status, error, code, rehearsal
        self.current = current
        self.problems, self.retry_after, self.run_id = tuple(problems), retry_after, run_id

    def __str__(self) -> str:
        return "\n  ".join([self.message, *map(str, self.problems)])


class InvalidRequest(ApiError, errors.InvalidInput):
    """The request is invalid; `problems` says where and why."""


class Unauthenticated(ApiError):
    """The caller is not authenticated."""


class PermissionDenied(ApiError, errors.Forbidden):
    """The caller is not allowed to do this."""


class NotFound(ApiError, errors.NotFound):
    """Not found."""


class Conflict(ApiError, errors.Conflict):
    """The current state does not allow this."""


class AlreadyActive(Conflict, errors.AlreadyActive):
    """The hero has an active run of that workflow, `run_id`."""

    @property
    def run(self) -> str:  # type: ignore[override]
        return self.run_id


class RehearsalFailed(Conflict, errors.RehearsalFailed):
    """In the draft runs would fail, or runs in flight could not be moved to it. `rehearsal` says which."""


class Gone(ApiError):
    """The callback has expired."""


class PreconditionFailed(ApiError, errors.PreconditionFailed):
    """The object has changed since it was read."""


class TooLarge(ApiError, errors.TooLarge):
    """The input is larger than its limit."""


class LimitExceeded(ApiError):
    """Too many requests."""


class Unavailable(ApiError, errors.Unavailable):
    """Detent is not available now; retry in a moment."""


class ServerError(ApiError):
    """A bug of Detent; its log says more."""


class UnexpectedAnswer(ApiError):
    """The answer is not one of a Detent."""


class NoConnection(DetentError):
    """No complete answer arrived. `sent` is false if the request certainly did not reach a server."""

    code = "no_connection"

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class ClientClosed(DetentError):
    """The client is closed."""

    code = "client_closed"


class RunFailed(DetentError):
    """A run ended, but not `completed`. `steps` are the failed steps by name."""

    code = "run_failed"

    def __init__(self, run: RunDocument) -> None:
        self.run = run
        self.steps = {name: step for name, step in run.steps.items() if step.status in _FAILURES}
        failures = "".join(f"\n  {name}: {_reason(step)}" for name, step in self.steps.items())
        error = run.error or ("" if run.status == "cancelled" else "no step failed")
        super().__init__(f"run {run.id} of {run.workflow} ended {run.status}{error and f': {error}'}{failures}")


def _reason(step: StepDocument) -> str:
    return step.status if step.error is None else f"{step.status}: {step.error.message}"


class StillRunning(DetentError, TimeoutError):
    """The run did not end within the timeout. It goes on, or is paused until it is resumed. `run` is its last known
    document."""

    code = "still_running"

    def __init__(self, run: RunDocument) -> None:
        self.run = run
        super().__init__(f"run {run.id} of {run.workflow} is still {run.status}{_why_paused(run)}")


def _why_paused(run: RunDocument) -> str:
    """Describe what paused a run: a step with its error, or a person."""
    if run.status != "paused":
        return ""
    if run.paused_step is None:
        return f" by {run.paused_by}" if run.paused_by else ""
    step = run.steps.get(run.paused_step)
    error = run.paused_by if step is None or step.error is None else step.error.message
    return f": step '{run.paused_step}' paused it{error and f': {error}'}"


_BY_STATUS: Final[dict[int, type[ApiError]]] = {
    400: InvalidRequest,
    401: Unauthenticated,
    403: PermissionDenied,
    404: NotFound,
    405: InvalidRequest,
    409: Conflict,
    410: Gone,
    412: PreconditionFailed,
    413: TooLarge,
    429: LimitExceeded,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


_BY_CODE: Final[dict[str, type[ApiError]]] = {
    errors.AlreadyActive.code: AlreadyActive,
    errors.RehearsalFailed.code: RehearsalFailed,
}
_decoder = msgspec.json.Decoder(Refusal)


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> ApiError | None:
    """Return the error in an answer, or `None` if the answer is a success. Header names are in lower case."""
    if 200 <= status < 300:
        return None
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else UnexpectedAnswer)
    after = _seconds(headers.get("retry-after", ""))
    try:
        decoded = _decoder.decode(body)
    except msgspec.MsgspecError:
        return kind(f"the server answered {status} without saying why", status=status, retry_after=after)
    details = decoded.details or Details()
    problems = [Problem(each.field, each.message) for each in details.validation_errors]
    kind = _BY_CODE.get(decoded.code, kind)
    return kind(
        decoded.message,
        status=status,
        error=decoded.error,
        code=decoded.code,
        problems=problems,
        retry_after=after,
        run_id=details.run_id or "",
        rehearsal=details.rehearsal,
        current=details.current,
    )


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0.0
