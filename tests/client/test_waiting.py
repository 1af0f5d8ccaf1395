"""Waiting for a run: long polls until it has ended, however the server answers them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from detent.client import RunFailed, StillRunning, runs
from detent.client.calls import Answer
from detent.client.errors import NoConnection, NotFound
from detent.client.runs import LONGEST_POLL
from tests.client import documents
from tests.client.talking import Stage, answered


def run(status: str, **more: Any) -> Answer:
    return answered(200, {"data": documents.run(status, **more)})


def test_it_asks_until_the_run_has_ended() -> None:
    stage = Stage([run("running"), run("paused"), run("completed", output=7)], took=20.0)
    assert stage.ask(runs.wait("run_1")).output == 7
    assert [request.target for request in stage.sent] == ["/api/v1/runs/run_1?wait=20000ms"] * 3
    assert stage.pauses == []


def test_a_poll_may_take_longer_than_other_requests() -> None:
    stage = Stage([run("completed")])
    stage.ask(runs.wait("run_1"))
    assert stage.sent[0].timeout == 10.0 + LONGEST_POLL


@pytest.mark.parametrize("timeout", [45, 45.0, timedelta(seconds=45)])
def test_it_gives_up_when_the_time_is_over(timeout: float | timedelta) -> None:
    stage = Stage([run("running")], took=20.0)
    with pytest.raises(StillRunning) as caught:
        stage.ask(runs.wait("run_1", timeout))
    assert caught.value.run.status == "running"
    assert isinstance(caught.value, TimeoutError)
    assert [request.target.partition("=")[2] for request in stage.sent] == ["20000ms", "20000ms", "5000ms"]


def test_without_time_it_looks_once() -> None:
    stage = Stage([run("completed", output=1)])
    assert stage.ask(runs.result("run_1", 0)) == 1
    with pytest.raises(StillRunning):
        Stage([run("running")]).ask(runs.wait("run_1", 0))


def test_a_server_that_answers_at_once_is_not_asked_without_pause() -> None:
    stage = Stage([run("running")])
    with pytest.raises(StillRunning):
        stage.ask(runs.wait("run_1", 2.0))
    assert len(stage.sent) <= 10
    assert stage.now == pytest.approx(1002.0)


def test_a_connection_that_breaks_meanwhile_changes_nothing() -> None:
    lost = NoConnection("lost", sent=True)
    stage = Stage([run("running"), lost, lost, run("completed", output="done")], took=20.0, patience=90.0)
    assert stage.ask(runs.result("run_1")) == "done"


def test_the_result_of_a_run_that_went_on_as_a_new_one_is_that_of_the_last() -> None:
    first, second = ({"continued_as": f"run_{number}"} for number in (2, 3))
    stage = Stage([run("completed", output=first), run("completed", output=second), run("completed", output="end")])
    assert stage.ask(runs.result("run_1")) == "end"
    assert [request.target.partition("?")[0] for request in stage.sent] == [f"/api/v1/runs/run_{n}" for n in (1, 2, 3)]
    own = {"continued_as": "run_2", "of": "the function's own"}
    assert Stage([run("completed", output=own)]).ask(runs.result("run_1")) == own


@pytest.mark.parametrize("status", ["failed", "cancelled", "timeout"])
def test_a_run_that_did_not_complete_has_no_result(status: str) -> None:
    with pytest.raises(RunFailed) as caught:
        Stage([run(status)]).ask(runs.result("run_1"))
    assert caught.value.run.status == status


def test_a_run_that_is_not_there_is_not_waited_for() -> None:
    with pytest.raises(NotFound):
        Stage([answered(404, {"error": "not_found", "message": "no run"})]).ask(runs.wait("run_1"))
