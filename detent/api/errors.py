"""Render errors as answers of the API. Status codes of errors are only in this module.

{"error": "invalid_argument", "code": "WFENG005", "message": "workflow validation failed",
 "details": {"validation_errors": [{"field": "tasks.charge.needs[0]", "message": "..."}]}}
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException

from detent.api.context import context_of
from detent.api.rehearsal import rehearsal_document
from detent.api.rules import stale_document
from detent.api.server.auditor import ERROR_KEY
from detent.commands.rules.save import StaleRule
from detent.documents.answers import FieldProblem
from detent.documents.refusals import Details, Refusal
from detent.documents.rehearsal import RehearsalDocument
from detent.documents.rules import StaleRuleDocument
from detent.errors import (
    AlreadyActive,
    CannotOpen,
    CommitUnknown,
    Conflict,
    DetentError,
    Forbidden,
    InvalidInput,
    LimitExceeded,
    ManagedByFiles,
    NameTaken,
    NoEncryptionKey,
    NotConvertible,
    NotFound,
    PreconditionFailed,
    Problem,
    RehearsalFailed,
    RenderFailed,
    RequestIdReused,
    RequestIdTaken,
    StoreError,
    TemplateNotFound,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from detent.observe import emit
from detent.store.rows import Receipt

INVALID: Final = "WFENG005"
ILLEGAL_STATE: Final = "WFENG002"

# Status, word and code by class of error; the first class that matches counts. Code `None`: the code of the error.
_KINDS: Final[tuple[tuple[type[DetentError], tuple[int, str, str | None]], ...]] = (
    (TooLarge, (413, "too_large", None)),
    (RenderFailed, (400, "invalid_argument", None)),
    (NotConvertible, (400, "invalid_argument", None)),
    (InvalidInput, (400, "invalid_argument", INVALID)),
    (Unauthenticated, (401, "unauthenticated", None)),
    (Forbidden, (403, "permission_denied", None)),
    (TemplateNotFound, (404, "not_found", "WFENG004")),
    (NotFound, (404, "not_found", None)),
    (NameTaken, (409, "conflict", None)),
    (NoEncryptionKey, (409, "conflict", None)),
    (CannotOpen, (409, "conflict", None)),
    (ManagedByFiles, (409, "conflict", None)),
    (AlreadyActive, (409, "conflict", None)),
    (RehearsalFailed, (409, "conflict", None)),
    (RequestIdReused, (409, "conflict", None)),
    (RequestIdTaken, (409, "conflict", "WFENG001")),
    (PreconditionFailed, (412, "precondition_failed", None)),
    (Conflict, (409, "conflict", ILLEGAL_STATE)),
    (LimitExceeded, (429, "limit_exceeded", None)),
    (Unavailable, (503, "unavailable", None)),
    (StoreError, (503, "unavailable", None)),
)
_WORDS: Final = {
    401: "unauthenticated",
    403: "permission_denied",
    404: "not_found",
    409: "conflict",
    410: "gone",
    412: "precondition_failed",
    413: "too_large",
    429: "limit_exceeded",
    503: "unavailable",
}
#: What Litestar reports if the client disconnects before its body is complete.
_LEFT: Final = "client disconnected prematurely"
#: Status, word and message of the answer to a callback that is not accepted.
REFUSALS: Final[dict[Receipt, tuple[int, str, str]]] = {
    Receipt.NOT_ACTIVE: (400, "invalid_argument", "Wait node not active"),
    Receipt.USED: (409, "conflict", "Webhook already used"),
    Receipt.EXPIRED: (410, "gone", "Webhook expired"),
    Receipt.NOT_FOUND: (404, "not_found", "Webhook not found"),
}


def refuse(
    status: int,
    error: str,
    code: str,
    message: str,
    *,
    problems: Iterable[Problem] = (),
    run_id: str | None = None,
    rehearsal: RehearsalDocument | None = None,
    current: StaleRuleDocument | None = None,
    headers: dict[str, str] | None = None,
) -> Response[Refusal]:
    """Build the answer for an error."""
    found = [FieldProblem(each.field, each.message) for each in problems if each.field or each.message != message]
    details = Details(found, run_id, rehearsal, current)
    body = Refusal(error, code, message, None if details == Details() else details)
    return Response(body, status_code=status, headers=headers or {}, media_type="application/json")


def refusal_bytes(error: str, code: str, message: str) -> bytes:
    """Encode the document of an error, for code that writes its answer without a Response."""
    return msgspec.json.encode(Refusal(error, code, message))


#: The message for a caller that answered by the name of a step.
_ANSWERS: Final[dict[Receipt, str]] = {
    Receipt.NOT_ACTIVE: "step '{}' does not wait yet, and takes no answer before it does",
    Receipt.USED: "step '{}' has its answer already; this one was not counted",
    Receipt.EXPIRED: "step '{}' does not wait any more: its time is over, or its run has gone on without it",
    Receipt.NOT_FOUND: "step '{}' does not wait for an answer",
}


def refuse_callback(receipt: Receipt, step: str | None = None) -> Response[Refusal]:
    """Build the answer to a callback that was not accepted. With a `step` the caller named it, and knows no webhook."""
    status, error, message = REFUSALS[receipt]
    return refuse(status, error, f"webhook_{receipt}", message if step is None else _ANSWERS[receipt].format(step))


def on_detent_error(request: Request[Any, Any, Any], error: DetentError) -> Response[Refusal]:
    """Answer an error that a command raised. A browser that is not signed in goes to the page for it."""
    request.scope["state"][ERROR_KEY] = error
    if isinstance(error, Unauthenticated) and _is_a_visit(request) and context_of(request.scope).logins is not None:
        path = request.scope["path"]
        query = request.scope["query_string"].decode("latin-1")
        place = quote(f"{path}?{query}" if query else path, safe="")
        up = "../" * (path.count("/") - 1) or "./"
        found = refuse(303, "unauthenticated", error.code, error.message)
        found.headers["Location"] = f"{up}login?next={place}"
        return found
    return answer_of(error, request.method, request.url.path)


def _is_a_visit(request: Request[Any, Any, Any]) -> bool:
    """Return whether a person opens an address in a browser."""
    return request.method == "GET" and request.headers.get("accept", "").startswith("text/html")


def answer_of(error: Exception, method: str, path: str) -> Response[Refusal]:
    """Build the answer to any error, for routes and for the fast path."""
    found = next((facts for kind, facts in _KINDS if isinstance(error, kind)), None)
    if found is None or not isinstance(error, DetentError):
        return surprised(error, method, path)
    status, word, code = found
    problems = error.problems if isinstance(error, InvalidInput) else ()
    message = _outage(error) if isinstance(error, StoreError) else error.message
    wait = math.ceil(getattr(error, "retry_after", 1.0))
    headers = {"Retry-After": str(wait)} if status in (429, 503) else None
    if status == 401:
        headers = {"WWW-Authenticate": "Bearer"}
    run_id = error.run if isinstance(error, AlreadyActive) else None
    failed = error.rehearsal if isinstance(error, RehearsalFailed) else None
    rehearsal = None if failed is None else rehearsal_document(failed)
    current = stale_document(error.row, error.changes) if isinstance(error, StaleRule) else None
    if current is not None:
        headers = {"ETag": current.etag}
    return refuse(
        status,
        word,
        code or error.code,
        message,
        problems=problems,
        run_id=run_id,
        rehearsal=rehearsal,
        current=current,
        headers=headers,
    )


def _outage(error: StoreError) -> str:
    """Return the message for a database that fails. It never has the address of the database."""
    if isinstance(error, CommitUnknown):
        return f"{error.outage}: it is unknown whether this was done. Look, or send it again with its Idempotency-Key"
    return f"{error.outage}; try again"


def on_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[Refusal]:
    """Answer an error that Litestar raised: no such route, or a request that cannot be read."""
    status, path = error.status_code, request.url.path[:200]
    match status:
        case 404:
            return refuse(404, "not_found", "not_found", f"there is nothing at {path}")
        case 405:
            message = f"{request.method} is not possible at {path}"
            return refuse(405, "invalid_argument", "method_not_allowed", message, headers=dict(error.headers or {}))
        case 413:
            return refuse(413, "too_large", "too_large", "the body is larger than its limit")
        case 500 if error.detail == _LEFT:
            return refuse(400, "invalid_argument", "bad_request", "the request ended before its body did")
        case _ if status >= 500:
            return on_surprise(request, error)
        case _:
            word = _WORDS.get(status, "invalid_argument")
            code = INVALID if word == "invalid_argument" else word
            return refuse(status, word, code, str(error.detail))


def shown_path(path: str) -> str:
    """Return a path for the log. The token of a callback is a secret, so it is replaced by `***`."""
    for start in ("/wh/", "/webhook/workflow/resume/"):
        if path.startswith(start):
            return f"{start}***"
    return path


def on_surprise(request: Request[Any, Any, Any], error: Exception) -> Response[Refusal]:
    """Answer an unexpected exception: a bug of Detent."""
    return surprised(error, request.method, request.url.path)


def surprised(error: Exception, method: str, path: str) -> Response[Refusal]:
    """Answer a bug of Detent. The traceback goes to the log; the caller gets a short message."""
    trace = "".join(traceback.format_exception(error))[-8000:]
    emit("api.failed", method=method, path=shown_path(path), error=trace)
    return refuse(500, "internal", "internal", "something went wrong inside Detent; its log says more")
