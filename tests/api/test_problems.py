"""Every error of Detent has its place in the table of answers."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from litestar import Request

from detent import errors
from detent.api.errors import on_detent_error
from detent.errors import DetentError, EngineError

KNOWN = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, DetentError) and kind is not DetentError and not issubclass(kind, EngineError)
]
REQUEST: Request[Any, Any, Any] = Request(
    {"type": "http", "method": "GET", "path": "/x", "headers": [], "query_string": b"", "app": None}  # type: ignore[arg-type]
)


@pytest.mark.parametrize("kind", KNOWN, ids=lambda kind: kind.__name__)
def test_an_error_that_users_can_cause_or_wait_out_is_never_an_internal_one(kind: type[DetentError]) -> None:
    answer = on_detent_error(REQUEST, kind("why"))
    assert answer.status_code in {400, 401, 403, 404, 409, 410, 412, 413, 429, 503}
    assert answer.content.error != "internal"


def test_a_bug_of_the_engine_is_told_to_the_caller_in_a_word_only() -> None:
    answer = on_detent_error(REQUEST, EngineError("secret facts"))
    assert answer.status_code == 500
    assert "secret" not in answer.content.message
