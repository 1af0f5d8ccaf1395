"""Sends a request and holds its answer to the OpenAPI document."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

import requests
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.property.requests_of import Request

#: A request without an answer for so long has none: that is ten times what a busy machine needs.
SLOWEST: Final = 300.0
_CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
_FIRST_PIECE: Final = 65_536


class Broken(AssertionError):
    """An answer is not what the document says."""


@dataclass(frozen=True)
class Answer:
    """What came back, and after how many seconds."""

    response: requests.Response
    seconds: float


def ask(session: requests.Session, case: Request, url: str) -> Answer:
    """Send the request. Of a stream only its beginning is read: it may go on for ever."""
    request = case.as_transport_kwargs(base_url=url)
    began = time.monotonic()
    try:
        response = session.request(**request, stream=True, timeout=SLOWEST, allow_redirects=False)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            _keep(response, response.raw.read1(_FIRST_PIECE))
        else:
            _keep(response, response.content)
    except requests.Timeout:
        raise Broken(f"no answer within {SLOWEST:g} s") from None
    except UnicodeEncodeError as error:
        raise Broken(f"the document tells of a header that cannot be sent: {error}") from None
    except requests.ConnectionError as error:
        raise Broken(f"the connection was lost: {error}") from None
    return Answer(response, time.monotonic() - began)


def judge(case: Request, answer: Answer) -> None:
    """Broken with every reason, if the answer is not as it must be."""
    reasons = [] if answer.seconds <= SLOWEST else [f"answered after {answer.seconds:.1f} s"]
    if answer.response.status_code >= 500:  # the database is not away, so 503 is no excuse
        reasons.append(f"answered {answer.response.status_code}")
    try:
        case.validate_response(answer.response, checks=_CHECKS)
    except FailureGroup as group:
        reasons += [_told(failure) for failure in group.exceptions]
    except Failure as failure:
        reasons.append(_told(failure))
    if reasons:
        raise Broken("\n".join(dict.fromkeys(reasons)))


def _keep(response: requests.Response, content: bytes) -> None:
    response._content = content  # noqa: SLF001 - requests knows no other way to read a part
    response.close()


def _told(failure: Any) -> str:
    return f"{failure.title}: {failure.message}"
