"""When a request is sent again, and when not. No server and no waiting: the conversation is asked directly."""

from __future__ import annotations

import pytest

from detent.client import runs, workflows
from detent.client.calls import Answer, Call
from detent.client.errors import Conflict, LimitExceeded, NoConnection, Unavailable
from tests.client import documents
from tests.client.talking import Stage, answered

OK = answered(200, {"status": "ok"})
NOT_NOW = answered(503, {"error": "unavailable", "code": "unavailable", "message": "not now"}, retry_after="2")
STARTED = answered(201, {"data": documents.started()})
WORKFLOW = answered(200, {"data": documents.workflow()})
REFUSED = NoConnection("refused", sent=False)
LOST = NoConnection("lost", sent=True)


def test_not_now_is_asked_again_after_the_time_the_server_named() -> None:
    stage = Stage([NOT_NOW, WORKFLOW])
    assert stage.ask(workflows.get("order")).name == "order"
    [pause] = stage.pauses
    assert 2.0 < pause <= 2.1


def test_pauses_grow_and_stay_bounded() -> None:
    stage = Stage([LOST], patience=60)
    with pytest.raises(NoConnection):
        stage.ask(workflows.get("order"))
    assert stage.pauses == sorted(stage.pauses)
    assert stage.pauses[0] == pytest.approx(0.1)
    assert stage.pauses[-1] == pytest.approx(5.0)


@pytest.mark.parametrize("trouble", [NOT_NOW, LOST, REFUSED])
def test_all_tries_together_take_no_longer_than_patience(trouble: Answer | NoConnection) -> None:
    stage = Stage([trouble], patience=7.0, took=0.5)
    with pytest.raises((Unavailable, NoConnection)):
        stage.ask(workflows.get("order"))
    assert stage.now - 1000.0 <= 7.0 + 0.5
    assert len(stage.sent) > 1


def test_without_patience_nothing_is_sent_twice() -> None:
    stage = Stage([LOST], patience=0.0)
    with pytest.raises(NoConnection):
        stage.ask(workflows.get("order"))
    assert len(stage.sent) == 1


def test_a_start_that_is_sent_again_has_the_same_key() -> None:
    stage = Stage([LOST, NOT_NOW, STARTED])
    assert stage.ask(runs.start("order", {"n": 1})).run_id == "run_1"
    keys = {request.key or "" for request in stage.sent}
    assert len(stage.sent) == 3
    assert len(keys) == 1
    assert len(keys.pop()) >= 16


def test_two_starts_have_two_keys() -> None:
    keys = {runs.start("order").key for _ in range(100)}
    assert len(keys) == 100


def test_a_request_id_is_the_key() -> None:
    assert runs.start("order", request_id="order-7").headers["Idempotency-Key"] == "order-7"


def test_a_callback_that_is_sent_again_is_the_same_message() -> None:
    stage = Stage([LOST, answered(200, {"data": {"status": "accepted", "step": "w"}})])
    stage.ask(runs.callback("AZx"))
    assert len({request.headers["webhook-id"] for request in stage.sent}) == 1


def test_an_event_that_is_sent_again_has_the_same_id() -> None:
    stage = Stage([LOST, answered(202, {"data": {"id": "e", "type": "t", "matched": 0, "firings": []}})])
    stage.ask(runs.send_event("t"))
    assert len({request.body for request in stage.sent}) == 1


UNREPEATABLE: Call[object] = Call("POST", "/x", lambda answer: answer.status, repeatable=False)


@pytest.mark.parametrize("trouble", [NOT_NOW, LOST])
def test_what_must_not_happen_twice_is_not_sent_again_if_it_may_have_arrived(trouble: Answer | NoConnection) -> None:
    stage = Stage([trouble, OK])
    with pytest.raises((Unavailable, NoConnection)):
        stage.ask(UNREPEATABLE)
    assert len(stage.sent) == 1


def test_what_must_not_happen_twice_is_sent_again_if_it_certainly_did_not_arrive() -> None:
    stage = Stage([REFUSED, REFUSED, OK])
    assert stage.ask(UNREPEATABLE) == 200
    assert len(stage.sent) == 3


def test_a_definite_answer_is_not_asked_again() -> None:
    stage = Stage([answered(409, {"error": "conflict", "code": "WFENG002", "message": "no"}), STARTED])
    with pytest.raises(Conflict):
        stage.ask(runs.start("order"))
    assert len(stage.sent) == 1


def test_too_many_requests_are_fewer_then() -> None:
    stage = Stage([answered(429, {"error": "limit_exceeded", "message": "slow"}, retry_after="1"), WORKFLOW])
    stage.ask(workflows.get("order"))
    assert stage.pauses[0] > 1.0
    with pytest.raises(LimitExceeded):
        Stage([answered(429, {"error": "limit_exceeded", "message": "slow"}, retry_after="99")]).ask(
            workflows.get("order")
        )


def test_a_question_about_health_is_answered_at_once() -> None:
    stage = Stage([NOT_NOW, OK])
    with pytest.raises(Unavailable):
        stage.ask(runs.health())
    assert stage.pauses == []
