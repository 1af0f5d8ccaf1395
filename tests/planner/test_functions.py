"""Durable functions: what they wait for, what ends them, what user code knows, and what a fork keeps."""

from __future__ import annotations

from typing import Any

import pytest

from detent.graph.model import Ending, Graph, OnCrash, Retry, Step, StepKind
from detent.instant import SECOND
from detent.planner.calls import build_view
from detent.planner.functions import ends_function, function_of, kind_of_operation
from detent.planner.history import history
from detent.planner.reuse import operation_fork_plan
from detent.planner.why import why
from detent.run import events
from detent.run.outcomes import Cancel, Done, Fail, Outcome, Pause, Skip, StepError, Suspend
from detent.run.state import Phase
from tests.planner.play import NOON, Play, play, play_again, play_steps

BROKEN = StepError("broken", "it broke")
LATER = NOON + 60 * SECOND


def function(**fields: Any) -> Play:
    return play(Graph((Step("fn", StepKind.FUNCTION, retry=Retry(attempts=2), **fields),)))


def said(run: Play, *, owned: bool = True) -> list[str]:
    return [reason.message for reason in why(run.prepared, run.state, now=run.now, owned=owned)]


@pytest.mark.parametrize(
    ("began", "words"),
    [
        (events.OperationBegan("@sleep", 0, until=LATER), "The function sleeps, until"),
        (events.OperationBegan("@wait:ok", 0), "The function waits for the callback 'ok'."),
        (events.OperationBegan("@ask:go", 0, until=LATER), "The function waits for the signal 'go', until"),
        (events.OperationBegan("@child:w#1", 0, child="run_1"), "waits for its child run_1 (w) to end."),
        (events.OperationBegan("charge", 1, until=LATER, error=BROKEN), "failed and is tried again at"),
        (events.OperationBegan("charge", 1), "Step 'charge' of the function failed and is tried again."),
    ],
    ids=["sleep", "wait", "signal", "child", "retry", "retry now"],
)
def test_why_names_the_operation_that_a_function_waits_for(began: events.OperationBegan, words: str) -> None:
    run = function()
    run.checks = False  # a suspension is not on record: after a fold, the function is ready
    run.tell(began)
    run.attempt("fn", Suspend(LATER, 0))
    assert any(words in one for one in said(run)), said(run)


def test_why_says_that_the_time_of_an_operation_has_come() -> None:
    run = function()
    run.tell(events.OperationBegan("@sleep", 0, until=LATER))
    run.now = LATER + SECOND
    assert any("The function has slept until" in one for one in said(run))


@pytest.mark.parametrize(("detail", "diff"), [({"diff": ["-a", "+b"]}, "-a\n+b"), ({"diff": "-a"}, "-a"), (None, None)])
def test_why_shows_how_the_code_differs_from_that_of_a_paused_run(detail: Any, diff: str | None) -> None:
    run = function()
    run.attempt("fn", Pause("the code has changed", StepError("drift", "the code has changed", detail)))
    reason = why(run.prepared, run.state, now=run.now, owned=True)[0]
    assert "put the old code back" in reason.message
    assert reason.details["diff"] == diff


@pytest.mark.parametrize(
    ("outcome", "is_end"),
    [
        (Done(b"{}"), True),
        (Skip(), True),
        (Cancel("no more"), True),
        (Fail(BROKEN, retry=False), True),
        (Fail(BROKEN, retry=True), False),
        (Pause("later"), False),
    ],
)
def test_a_function_ends_with_its_run_unless_it_is_tried_again_or_pauses(outcome: Outcome, is_end: bool) -> None:
    run = function()
    assert ends_function(run.prepared, run.state, events.AttemptEnded(0, 1, outcome, 1.0)) is is_end
    assert not ends_function(run.prepared, run.state, events.AttemptEnded(0, 2, outcome, 1.0))


def test_only_a_function_is_ended_as_one() -> None:
    run, other = function(), play_steps({"a": {}})
    assert ends_function(run.prepared, run.state, events.Skipped(0, "ann"))
    assert not ends_function(other.prepared, other.state, events.Skipped(0, "ann"))
    assert function_of(other.prepared) is None


def test_an_operation_counts_once_and_only_while_its_function_runs() -> None:
    run, other = function(), play_steps({"a": {}})
    ended = events.OperationEnded("charge", 1, Ending.SUCCESS, b"1")
    assert other.tell(ended).entry is None
    assert other.tell(events.OperationBegan("charge", 0)).entry is None
    assert run.tell(ended).entry is not None
    assert run.tell(ended).entry is None
    assert run.tell(events.OperationBegan("charge", 0)).entry is None
    run.attempt("fn", Fail(BROKEN, retry=True))
    assert run.tell(events.OperationBegan("refund", 0)).entry is None
    assert run.tell(events.OperationEnded("refund", 1, Ending.SUCCESS, b"1")).entry is None


def test_a_signal_that_is_not_asked_for_waits() -> None:
    run = function()
    run.tell(events.OperationEnded("@signal:go", 1, Ending.SUCCESS, b"1", message=1))
    assert not run.state.operations
    run.tell(events.OperationBegan("@ask:go", 0))
    run.tell(events.OperationEnded("@signal:go#2", 1, Ending.SUCCESS, b"2", message=2))
    assert not run.state.operations


def test_a_fork_at_an_operation_keeps_what_ended_before_it_and_every_signal() -> None:
    run = function()
    for number, key in enumerate(("a", "b", "@signal:go", "c"), 1):
        message = number if key.startswith("@") else None
        run.tell(events.OperationEnded(key, 1, Ending.SUCCESS, b"%d" % number, message=message))
    assert [one.key for one in operation_fork_plan(run.state, "b", None).operations] == ["a", "@signal:go"]
    edited = operation_fork_plan(run.state, "b", b'"new"').operations
    assert [(one.key, one.result) for one in edited] == [("a", b"1"), ("@signal:go", b"3"), ("b", b'"new"')]


def test_the_history_has_the_failed_attempts_of_an_operation() -> None:
    run = function()
    run.tell(events.OperationBegan("charge", 1, until=LATER, error=BROKEN))
    run.tell(events.OperationBegan("nap", 0))
    run.tell(events.OperationEnded("charge", 2, Ending.SUCCESS, b"1"))
    rows = [
        (row.step, row.attempt, str(row.outcome)) for row in history(run.prepared, run.facts, run.opening, run.entries)
    ]
    assert rows == [("charge", 1, "reattempted"), ("charge", 2, "success")]


def test_an_operation_is_due_when_its_function_asks_for_it() -> None:
    run = function()
    run.now += 10 * SECOND
    run.tell(events.OperationEnded("charge", 1, Ending.SUCCESS, b"1", ms=4_000))
    [row] = history(run.prepared, run.facts, run.opening, run.entries)
    assert row.scheduled_for == row.started_at == run.now - 4 * SECOND


def test_user_code_sees_the_facts_and_what_earlier_steps_did() -> None:
    run = play_steps({"a": {}, "b": {"retries": 0}, "c": {"needs": ["a"]}})
    run.give("a", 1)
    run.fail("b")
    view = build_view(run.prepared, run.state, 1, None)
    assert (view.result_of("a"), view.result_of("c"), view.result_of("zz")) == (run.state.results[0], None, None)
    assert (view.ending_of("a"), view.ending_of("c"), view.ending_of("zz")) == (Ending.SUCCESS, None, None)
    error = view.error_of("b")
    assert error is not None
    assert view.error_of("zz") is None


def test_a_function_whose_start_is_on_record_suspends_with_an_entry() -> None:
    run = function(on_crash=OnCrash.RETRY)
    run.state.begun[0] = 1
    plan = run.tell(events.AttemptEnded(0, 1, Suspend(LATER, 0), 1.0))
    assert plan.entry is not None


def test_a_run_that_keeps_operations_begins_with_them_as_checkpoints() -> None:
    run = function()
    run.tell(events.OperationEnded("a", 1, Ending.SUCCESS, b"1"))
    run.tell(events.OperationEnded("b", 1, Ending.FAILED, b"", error=BROKEN))
    again = play_again(run, operation_fork_plan(run.state, "b", None))
    assert [(entry.kind, entry.step) for entry in again.entries] == [("checkpoint", "a"), ("opened", None)]
    assert list(again.state.history) == ["a"]


def test_what_comes_while_a_function_falls_asleep_lets_it_run_again() -> None:
    run = function()
    run.checks = False  # a suspension is not on record
    run.tell(events.OperationEnded("@signal:go", 1, Ending.SUCCESS, b"1", message=1))
    run.attempt("fn", Suspend(LATER, 0))
    assert run.state.phase[0] is Phase.READY


def test_the_results_of_operations_read_as_those_of_waits_and_actions() -> None:
    assert [kind_of_operation(key) for key in ("@wait:ok", "charge")] == [StepKind.WAIT, StepKind.ACTION]


def test_why_names_only_the_operations_while_its_function_waits_for_them() -> None:
    run = function()
    run.tell(events.OperationBegan("@sleep", 0, until=LATER))
    run.reload()
    reasons = why(run.prepared, run.state, now=run.now, owned=False)
    assert [reason.kind for reason in reasons] == ["sleep"]
