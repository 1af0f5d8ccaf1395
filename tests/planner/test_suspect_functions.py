"""Durable functions whose nodes die: what is on record of them, and when a crash is a strike."""

from __future__ import annotations

import pytest

from detent.graph.model import Ending, FailurePolicy, Graph, OnCrash, Retry, Step, StepKind
from detent.instant import SECOND
from detent.planner.functions import ends_function
from detent.run import events
from detent.run.outcomes import Cancel, Continued, Done, Fail, Outcome, Reattempt, Skip, StepError, Suspend
from tests.planner.play import NOON, Play, play


def _suspect(on_crash: OnCrash = OnCrash.RETRY) -> Play:
    """A function in flight, on record, in a run that was adopted twice."""
    run = play(Graph((Step("fn", StepKind.FUNCTION, on_crash=on_crash),)))
    run.crash()
    run.crash()
    run.sleep(1)
    return run


def _kinds(run: Play) -> list[str]:
    return [str(entry.kind) for entry in run.entries]


def _ended(key: str) -> events.OperationEnded:
    return events.OperationEnded(key, 1, Ending.SUCCESS, b'{"output":1}')


def test_a_suspect_function_that_only_waits_is_put_on_record_as_not_in_flight() -> None:
    run = _suspect()
    assert run.state.begun == {0: 3}
    run.tell(events.OperationBegan("@sleep", 0, until=NOON + 60 * SECOND))
    run.attempt("fn", Suspend(NOON + 60 * SECOND, 0))
    assert _kinds(run) == ["adopted", "adopted", "started", "began", "retry"]
    assert (run.state.begun, run.state.stalled, run.until("fn")) == ({}, 0, 59.0)
    for _ in range(9):
        run.crash(poison_after=1)
    assert run.statuses() == {"fn": "retrying"}
    assert run.state.strikes == {}
    assert run.state.attempt_number(0) == 3, "it was not being tried"


def test_a_suspect_function_that_missed_something_is_called_again_at_once() -> None:
    run = _suspect()
    run.tell(_ended("@signal:go"))
    run.attempt("fn", Suspend(None, 0))
    assert run.until("fn") == 0.0
    run.sleep(0)
    assert run.started == ["fn", "fn"]


def test_a_suspect_function_that_waits_for_something_from_outside_has_no_time() -> None:
    run = _suspect()
    run.attempt("fn", Suspend(None, 0))
    assert (run.state.phase[0].name, run.state.until[0]) == ("RETRYING", None)
    run.crash()
    run.crash()
    assert run.state.until[0] is None, "nothing of it is due"


@pytest.mark.parametrize(
    "event",
    [
        _ended("charge"),
        events.OperationBegan("charge", 1, until=NOON, error=StepError("exception", "not yet")),
    ],
)
def test_a_step_of_it_that_ended_is_progress(event: events.Event) -> None:
    run = _suspect()
    run.strike("fn")
    run.sleep(4)
    run.tell(event)
    assert (run.state.stalled, run.state.strikes, run.state.begun) == (0, {}, {})
    run.crash(poison_after=1)
    assert run.state.strikes == {}


@pytest.mark.parametrize("key", ["@sleep", "@signal:go", "@now", "@child:other"])
def test_the_end_of_a_sleep_a_signal_and_a_child_is_none(key: str) -> None:
    run = _suspect()
    run.tell(_ended(key))
    run.crash(poison_after=1)
    assert run.error("fn").code == "poison"


def test_a_function_that_must_not_be_repeated_stays_on_record() -> None:
    run = play(Graph((Step("fn", StepKind.FUNCTION, on_crash=OnCrash.ASK),)))
    assert run.state.begun == {0: 1}
    run.crash()
    run.resume()
    run.crash()
    run.resume()
    run.sleep(1)
    run.tell(_ended("charge"))
    assert run.state.begun == {0: 3}


@pytest.mark.parametrize(
    ("outcome", "ends"),
    [
        (Done(b"{}"), True),
        (Continued(b"{}", taken={}), True),
        (Skip(), True),
        (Cancel("enough"), True),
        (Fail(StepError("bad", "bad"), retry=False), True),
        (Fail(StepError("bad", "bad")), False),
        (Reattempt(1.0), False),
        (Suspend(None, 0), False),
    ],
)
def test_which_outcomes_of_a_function_end_its_run(outcome: Outcome, ends: bool) -> None:
    run = play(Graph((Step("fn", StepKind.FUNCTION, retry=Retry(attempts=3)),)))
    assert ends_function(run.prepared, run.state, events.AttemptEnded(0, 1, outcome, 1.0)) is ends
    assert not ends_function(run.prepared, run.state, events.AttemptEnded(0, 2, outcome, 1.0)), "another attempt"


def test_a_failure_that_pauses_does_not_end_a_function_and_a_skip_does() -> None:
    failed = events.AttemptEnded(0, 1, Fail(StepError("bad", "bad"), retry=False), 1.0)
    run = play(Graph((Step("fn", StepKind.FUNCTION),), on_failure=FailurePolicy.PAUSE))
    assert not ends_function(run.prepared, run.state, failed)
    assert ends_function(run.prepared, run.state, events.Skipped(0, "ann"))
    assert not ends_function(run.prepared, run.state, events.Paused("ann"))
    other = play(Graph((Step("a", StepKind.ACTION),)))
    assert not ends_function(other.prepared, other.state, failed)
