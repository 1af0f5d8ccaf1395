"""What goes wrong is told as one of a few kinds, with everything the server said."""

from __future__ import annotations

import msgspec
import pytest

from detent import errors
from detent.client import (
    ApiError,
    Conflict,
    Gone,
    InvalidRequest,
    LimitExceeded,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    ServerError,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    runs,
    workflows,
)
from detent.client.errors import RunFailed, StillRunning, refusal
from detent.documents.runs import RunDocument
from detent.errors import DetentError, InvalidInput, Problem
from tests.client import documents
from tests.client.documents import step
from tests.client.talking import Stage, answered

KINDS = {
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
    500: ServerError,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
    302: UnexpectedAnswer,
    418: UnexpectedAnswer,
}


@pytest.mark.parametrize(("status", "kind"), KINDS.items())
def test_each_status_is_an_error_of_its_kind(status: int, kind: type[ApiError]) -> None:
    error = refusal(status, {}, b'{"error": "word", "code": "CODE", "message": "told"}')
    assert type(error) is kind
    assert (error.status, error.error, error.code, error.message) == (status, "word", "CODE", "told")


def test_problems_of_a_definition_are_all_there() -> None:
    found = [{"field": "tasks.a", "message": "one"}, {"field": "tasks.b", "message": "two"}]
    refused = {
        "error": "invalid_argument",
        "code": "WFENG005",
        "message": "no",
        "details": {"validation_errors": found},
    }
    stage = Stage([answered(400, refused)])
    with pytest.raises(InvalidRequest) as caught:
        stage.ask(workflows.create({"name": "x"}))
    assert caught.value.problems == (Problem("tasks.a", "one"), Problem("tasks.b", "two"))
    assert str(caught.value) == "no\n  tasks.a: one\n  tasks.b: two"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.InvalidInput),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (412, errors.PreconditionFailed),
        (413, errors.TooLarge),
        (503, errors.Unavailable),
        (500, DetentError),
    ],
)
def test_an_error_is_caught_as_its_counterpart_too(status: int, kind: type[DetentError]) -> None:
    assert isinstance(refusal(status, {}, b"{}"), kind)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"error": 1}', b"\xff\x00"])
def test_an_error_that_is_no_document_is_still_an_error(body: bytes) -> None:
    error = refusal(502, {}, body)
    assert isinstance(error, Unavailable)
    assert "502" in error.message


@pytest.mark.parametrize("text", ["", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "-1", "1e9", "99999999", "\u0663"])
def test_a_time_to_wait_that_is_no_number_of_seconds_is_none(text: str) -> None:
    error = refusal(503, {"retry-after": text}, b"")
    assert error is not None
    assert error.retry_after == 0.0


@pytest.mark.parametrize("body", [None, [], {"data": None}, {"data": {"id": 3}}, "text"])
def test_a_good_answer_that_no_detent_gives_is_unexpected(body: object) -> None:
    with pytest.raises(UnexpectedAnswer):
        Stage([answered(200, body)]).ask(runs.get("run_1"))


def test_fields_that_a_newer_detent_adds_are_not_in_the_way() -> None:
    document = documents.workflow(colour={"deep": ["blue"]})
    assert Stage([answered(200, {"data": document, "more": 1})]).ask(workflows.get("order")).id == "wf_1"


def test_a_failed_run_tells_which_steps_failed_and_why() -> None:
    steps = {
        "charge": step("failed", error={"code": "http_status", "message": "answered 402", "detail": None}),
        "wait": step("timeout"),
        "ship": step("skipped"),
    }
    error = RunFailed(_run("failed", error="charge failed", tasks=steps))
    assert set(error.steps) == {"charge", "wait"}
    assert (
        error.message
        == "run run_1 of order ended failed: charge failed\n  charge: failed: answered 402\n  wait: timeout"
    )


def _run(status: str, **given: object) -> RunDocument:
    return msgspec.convert(documents.run(status, **given), RunDocument)


def test_a_cancelled_run_tells_why_and_not_that_no_step_failed() -> None:
    reason = RunFailed(_run("cancelled", error="pay: nobody wants it")).message
    assert reason == "run run_1 of order ended cancelled: pay: nobody wants it"
    assert RunFailed(_run("cancelled")).message == "run run_1 of order ended cancelled"
    assert RunFailed(_run("failed")).message == "run run_1 of order ended failed: no step failed"


def test_a_run_that_is_still_paused_tells_which_step_paused_it_and_its_error() -> None:
    error = {"code": "exception", "message": "ValueError: no funds", "detail": None}
    tasks = {"pay": step("scheduled", error=error)}
    paused = _run("paused", paused_by="an exception in step 'pay'", paused_step="pay", tasks=tasks)
    told = "run run_1 of order is still paused: step 'pay' paused it: ValueError: no funds"
    assert StillRunning(paused).message == told
    assert StillRunning(_run("paused", paused_by="ann")).message == "run run_1 of order is still paused by ann"
    assert StillRunning(_run("running")).message == "run run_1 of order is still running"


@pytest.mark.parametrize("definition", [{}, {"name": ""}, {"name": 3}, "tasks: {}", "- a", "a: [", "{", "3"])
def test_a_definition_without_a_name_cannot_be_saved(definition: dict[str, object] | str) -> None:
    with pytest.raises(InvalidInput):
        workflows.save(definition)


@pytest.mark.parametrize("text", ["a\nb", "ü", "a\x00", "\r\nX-Evil: 1"])
def test_a_request_id_that_cannot_stand_in_a_header_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        runs.start("order", request_id=text)
