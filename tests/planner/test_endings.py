"""How steps and runs end (skipping, conditions, handled failures), in the steps form and on plain graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from detent.graph.model import (
    FAILURES,
    ON_ANY,
    ON_RAN,
    ON_SUCCESS,
    Edge,
    Ending,
    FailurePolicy,
    Graph,
    Join,
    OnCrash,
    Retry,
    Route,
    Step,
    StepKind,
)
from detent.run import events
from detent.run.outcomes import Done
from tests.planner.play import Play, answer, play, play_steps

ORDER: Mapping[str, Any] = {
    "charge": {"body": {"order_id": "{{trigger.body.order_id}}"}},
    "send-receipt": {"needs": ["charge"], "if": "tasks.charge.status_code == 200"},
    "notify-warehouse": {"needs": ["charge"], "if": "tasks.charge.status_code == 200"},
    "handle-failure": {"needs": ["charge"], "if": "tasks.charge.status_code != 200"},
}


def test_an_order_that_is_paid_is_receipted_and_shipped() -> None:
    run = play_steps(ORDER, {"body": {"order_id": 123}})
    assert run.parameters("charge")["body"] == {"order_id": 123}
    run.succeed("charge", 200, {"amount": 5})
    assert run.statuses() == {
        "charge": "success",
        "send-receipt": "running",
        "notify-warehouse": "running",
        "handle-failure": "skipped",
    }
    run.succeed("notify-warehouse")
    run.succeed("send-receipt")
    assert run.status == "completed"


def test_an_order_that_is_refused_takes_the_other_branch_and_is_completed() -> None:
    run = play_steps(ORDER, {"body": {"order_id": 123}})
    run.fail("charge", 402)
    assert run.statuses()["send-receipt"] == run.statuses()["notify-warehouse"] == "skipped"
    run.succeed("handle-failure")
    assert run.status == "completed"


def test_a_refused_order_whose_handler_fails_has_failed_because_of_the_handler() -> None:
    run = play_steps(ORDER, {"body": {"order_id": 123}})
    run.fail("charge", 402)
    run.fail("handle-failure", 500)
    assert run.status == "failed"
    assert run.ended is not None
    assert run.ended.error == "handle-failure: it failed with http_status"


def test_a_skipped_need_skips_all_that_stands_behind_it_without_a_condition() -> None:
    run = play_steps({"a": {"if": "1 == 2"}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}, "d": {}})
    run.succeed("d")
    assert run.statuses() == {"a": "skipped", "b": "skipped", "c": "skipped", "d": "success"}
    assert run.status == "completed"


def test_a_run_whose_steps_are_all_skipped_ends_as_it_starts() -> None:
    run = play_steps({"a": {"if": "1 == 2"}, "b": {"needs": ["a"]}})
    assert run.status == "completed"
    assert run.entries == []
    assert run.output is None


def test_a_failed_need_skips_what_has_no_condition() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    run.fail("a", 500)
    assert run.statuses() == {"a": "failed", "b": "skipped"}
    assert run.status == "failed"


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        ("tasks.a.status == 'skipped'", True),
        ("tasks.a.status_code == null", True),
        ("tasks.a.status_code == 200", False),
        ("tasks.a.status_code != 200", True),
        ("tasks.a.status_code >= 400", False),
        ("tasks.a.body == null", True),
        ("tasks.a.body.paid == true", False),
        ("tasks.a.body.paid != true", True),
        ("tasks.a.headers == null", True),
    ],
)
def test_a_condition_reads_a_skipped_step_as_nulls(condition: str, runs: bool) -> None:
    run = play_steps({"a": {"if": "1 == 2"}, "b": {"needs": ["a"], "if": condition}})
    assert run.statuses()["b"] == ("running" if runs else "skipped")


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        ("tasks.a.status == 'failed'", True),
        ("tasks.a.status_code == 503", True),
        ("tasks.a.body.reason == 'full'", True),
        ("tasks.a.headers['retry-after'] == '7'", True),
        ("tasks.a.status == 'success'", False),
    ],
)
def test_a_condition_reads_the_answer_of_a_failed_step(condition: str, runs: bool) -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], "if": condition}})
    result = answer(503, {"reason": "full"}, {"Retry-After": "7"})
    run.fail("a", result=result)
    assert run.statuses()["b"] == ("running" if runs else "skipped")


def test_a_step_without_an_answer_has_no_status_code() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], "if": "tasks.a.status_code == null && tasks.a.body.x == null"}})
    run.fail("a", code="connect")
    assert run.statuses()["b"] == "running"


def test_the_time_limit_of_the_last_attempt_ends_a_step_as_timeout() -> None:
    run = play_steps({"a": {"retries": 1}, "b": {"needs": ["a"], "if": "tasks.a.status == 'timeout'"}})
    run.fail("a", retry=True, timed_out=True, code="timeout")
    assert run.statuses()["a"] == "retrying"
    run.sleep(10)
    run.fail("a", retry=True, timed_out=True, code="timeout")
    assert run.statuses() == {"a": "timeout", "b": "running"}


def test_a_failure_is_handled_through_skipped_steps() -> None:
    steps = {"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"], "if": "tasks.b.status == 'skipped'"}}
    run = play_steps(steps)
    run.fail("a", 500)
    assert run.statuses() == {"a": "failed", "b": "skipped", "c": "running"}
    run.succeed("c")
    assert run.status == "completed"


def test_other_branches_go_on_after_a_failure_and_the_run_has_failed() -> None:
    run = play_steps({"a": {}, "b": {}, "c": {"needs": ["b"]}})
    run.fail("a", 500)
    assert run.status == "running"
    run.succeed("b")
    run.succeed("c")
    assert run.statuses() == {"a": "failed", "b": "success", "c": "success"}
    assert run.status == "failed"


@pytest.mark.case("F13")
def test_a_condition_that_cannot_be_answered_fails_its_step() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], "if": "tasks.a.body.paid == true"}})
    run.succeed("a", 200, {"payd": True})
    assert run.statuses()["b"] == "failed"
    assert run.error("b").code == "condition_error"
    assert "paid" in run.error("b").message
    assert run.status == "failed"


# -- plain graphs


def _graph(*edges: Edge, **given: Any) -> Graph:
    names = dict.fromkeys(name for edge in edges for name in (edge.source, edge.target))
    changes: Mapping[str, Mapping[str, Any]] = given.pop("steps", {})
    steps = tuple(Step(name, StepKind.ACTION, **changes.get(name, {})) for name in names)
    return Graph(steps, edges, **given)


def _end(run: Play, name: str, ending: Ending) -> None:
    if ending is Ending.SUCCESS:
        run.give(name, 1)
    else:
        code = "template_error" if ending is Ending.TEMPLATE_ERROR else "exception"
        run.fail(name, code=code, timed_out=ending is Ending.TIMEOUT)


@pytest.mark.parametrize("ending", [Ending.SUCCESS, Ending.FAILED, Ending.TIMEOUT, Ending.TEMPLATE_ERROR])
@pytest.mark.parametrize("on", [ON_SUCCESS, ON_ANY, ON_RAN, FAILURES])
def test_an_edge_is_taken_by_the_endings_in_its_set(on: frozenset[Ending], ending: Ending) -> None:
    run = play(_graph(Edge("a", "b", on)))
    _end(run, "a", ending)
    assert run.statuses() == {"a": str(ending), "b": "running" if ending in on else "skipped"}


def test_always_is_not_taken_by_a_step_that_was_skipped() -> None:
    run = play(_graph(Edge("a", "b"), Edge("b", "c", ON_RAN)))
    run.fail("a")
    assert run.statuses() == {"a": "failed", "b": "skipped", "c": "skipped"}


@pytest.mark.parametrize(
    ("join", "first", "second", "status"),
    [
        (Join.ALL, Ending.SUCCESS, Ending.SUCCESS, "running"),
        (Join.ALL, Ending.SUCCESS, Ending.FAILED, "skipped"),
        (Join.ANY, Ending.SUCCESS, Ending.FAILED, "running"),
        (Join.ANY, Ending.FAILED, Ending.FAILED, "skipped"),
    ],
)
def test_a_join_waits_for_every_edge_and_then_decides(join: Join, first: Ending, second: Ending, status: str) -> None:
    run = play(_graph(Edge("a", "c"), Edge("b", "c"), steps={"c": {"join": join}}))
    _end(run, "a", first)
    assert run.statuses()["c"] == "pending"
    _end(run, "b", second)
    assert run.statuses()["c"] == status


def test_the_first_matching_edge_in_order_is_the_only_one_taken() -> None:
    edges = (
        Edge("a", "late", order=2),
        Edge("a", "first", order=0, condition="tasks.a.output == 2"),
        Edge("a", "second", order=1, condition="tasks.a.output == 1"),
    )
    run = play(_graph(*edges, steps={"a": {"route": Route.FIRST_MATCH}}))
    run.give("a", 1)
    assert run.statuses() == {"a": "success", "late": "skipped", "first": "skipped", "second": "running"}


def test_an_edge_condition_that_cannot_be_answered_fails_its_target_when_that_is_decided() -> None:
    run = play(_graph(Edge("a", "c", condition="tasks.a.output.x == 1"), Edge("b", "c")))
    run.give("a", {})
    assert run.statuses()["c"] == "pending"
    run.give("b", 1)
    assert run.statuses()["c"] == "failed"
    assert run.error("c").code == "condition_error"


def test_an_edge_condition_may_be_false_when_it_cannot_be_answered() -> None:
    run = play(_graph(Edge("a", "b", condition="tasks.a.output.x == 1", false_on_error=True)))
    run.give("a", {})
    assert run.statuses()["b"] == "skipped"
    assert (run.data().decided or pytest.fail("nothing was decided")).edges == {0: False}
    assert run.status == "completed"


def test_two_edge_conditions_that_cannot_be_answered_fail_their_target_once() -> None:
    broken = "tasks.a.output.x == 1"
    run = play(_graph(Edge("a", "c", condition=broken), Edge("b", "c", condition="tasks.b.output.y == 1")))
    run.give("a", {})
    run.give("b", {})
    assert run.statuses()["c"] == "failed"
    assert "y" in run.error("c").message


def test_an_error_is_readable_while_it_is_the_last_word_about_a_step() -> None:
    graph = _graph(
        Edge("a", "b", ON_ANY),
        steps={"a": {"retry": Retry(attempts=2)}, "b": {"guard": "tasks.a.error.code == 'http_status'"}},
    )
    failed, mended = play(graph), play(graph)
    for run in (failed, mended):
        run.fail("a", retry=True)
        run.sleep(10)
    failed.fail("a", retry=True)
    assert failed.statuses()["b"] == "running"
    mended.give("a", 1)
    assert mended.statuses()["b"] == "skipped"


# -- fail_fast


def _fail_fast(*edges: Edge, **given: Any) -> Play:
    return play(_graph(*edges, on_failure=FailurePolicy.FAIL_FAST, **given))


def test_a_failure_that_takes_no_edge_skips_what_has_not_started_and_lets_attempts_end() -> None:
    run = _fail_fast(Edge("a", "b"), Edge("c", "d"))
    run.fail("a")
    assert run.statuses() == {"a": "failed", "b": "skipped", "c": "running", "d": "skipped"}
    assert run.status == "running"
    run.give("c", 1)
    assert run.statuses()["c"] == "success"
    assert run.status == "failed"


def test_a_failure_with_a_failure_edge_does_not_stop_the_others() -> None:
    run = _fail_fast(Edge("a", "mend", FAILURES), Edge("c", "d"))
    run.fail("a")
    run.give("mend", 1)
    run.give("c", 1)
    run.give("d", 1)
    assert run.status == "completed"


def test_an_attempt_that_fails_in_a_failing_run_is_not_tried_again() -> None:
    run = _fail_fast(Edge("a", "b"), Edge("c", "d"), steps={"c": {"retry": Retry(attempts=5)}})
    run.fail("a")
    run.fail("c", retry=True)
    assert run.statuses()["c"] == "failed"
    assert run.status == "failed"


def test_a_step_between_attempts_is_given_up_and_reads_as_skipped() -> None:
    run = _fail_fast(Edge("a", "b"), Edge("c", "d"), steps={"c": {"retry": Retry(attempts=5)}})
    run.fail("c", 503, retry=True)
    run.fail("a")
    assert run.statuses() == {"a": "failed", "b": "skipped", "c": "skipped", "d": "skipped"}
    assert run.number("c") not in run.state.errors
    assert run.status == "failed"


def test_two_steps_lost_with_one_node_both_fail_and_the_run_ends() -> None:
    graph = Graph(
        tuple(
            Step(name, StepKind.ACTION, on_crash=crash) for name, crash in (("a", OnCrash.FAIL), ("b", OnCrash.FAIL))
        ),
        on_failure=FailurePolicy.FAIL_FAST,
    )
    run = play(graph)
    run.crash()
    assert run.statuses() == {"a": "failed", "b": "failed"}
    assert run.status == "failed"


def test_a_late_result_of_an_earlier_attempt_is_not_taken_for_the_running_one() -> None:
    run = play_steps({"a": {"retries": 2}})
    run.fail("a", 503, retry=True)
    run.sleep(10)
    plan = run.tell(events.AttemptEnded(0, 1, Done(answer(200)), 1.0))
    assert plan.entry is None
    assert run.statuses()["a"] == "running"
