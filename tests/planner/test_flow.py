"""Flow control from inside: what a step's own code wants of its run beside success and failure."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from detent.graph.model import Edge, Ending, FailurePolicy, Graph, OnCrash, Step, StepKind
from detent.run.outcomes import Cancel, Fail, Finish, Outcome, Pause, Reattempt, Skip, StepError
from detent.run.plan import NOTHING
from tests.planner.chains import BROKEN, chain
from tests.planner.play import NOON, Play, graph_of, play, play_steps


def test_a_skip_lets_the_chain_go_on_behind_the_step() -> None:
    run = play(chain("a", "b"))
    run.attempt("a", Skip())
    assert run.statuses() == {"a": "skipped", "b": "running"}
    run.give("b", 2)
    assert (run.status, run.output) == ("completed", 2)


def test_a_skip_because_of_an_error_keeps_the_error_and_what_it_left() -> None:
    run = play(chain("a", "b"))
    run.attempt("a", Skip(BROKEN, b'{"state":{"n":1}}'))
    assert run.error("a") == BROKEN
    assert run.state.results[run.number("a")] == b'{"state":{"n":1}}'
    run.give("b", 2)
    assert run.status == "completed"


def test_a_reattempt_comes_after_its_wait_as_often_as_it_is_asked_for() -> None:
    run = play(chain("a", "b"))
    for number in range(1, 9):
        run.attempt("a", Reattempt(30.0))
        assert (run.entries[-1].kind, run.entries[-1].outcome, run.entries[-1].attempt) == ("retry", None, number)
        assert run.statuses()["a"] == "retrying"
        assert run.until("a") == 30
        run.sleep(30)
        assert run.statuses()["a"] == "running"
    assert run.state.attempt_number(0) == 9


def test_a_reattempt_because_of_an_error_keeps_it_until_the_step_succeeds() -> None:
    run = play(chain("a"))
    run.attempt("a", Reattempt(0.0, BROKEN))
    assert (run.entries[-1].outcome, run.data().error, run.error("a")) == ("failed", BROKEN, BROKEN)
    run.sleep(0)
    run.give("a", 1)
    assert run.state.errors == {}


def test_a_step_cancels_its_run() -> None:
    run = play(chain("a", "b"))
    run.attempt("a", Cancel("the customer left", BROKEN))
    assert (run.status, run.statuses()) == ("cancelled", {"a": "cancelled", "b": "cancelled"})
    assert (run.entries[-1].kind, run.entries[-1].step, run.data().by) == ("cancelled", "a", "the customer left")
    assert run.ended is not None
    assert run.ended.error == "a: ValueError: no"
    quiet = play(chain("a"))
    quiet.attempt("a", Cancel("its hero is gone"))
    assert quiet.ended is not None
    assert quiet.ended.error == "a: its hero is gone"


def test_a_step_pauses_its_run_and_is_tried_again_when_it_is_resumed() -> None:
    run = play(chain("a", "b"))
    run.attempt("a", Pause("by hand", BROKEN))
    assert (run.status, run.statuses()["a"]) == ("paused", "ready")
    assert (run.state.paused_by, run.state.paused_step) == ("by hand", run.number("a"))
    assert (run.entries[-1].step, run.entries[-1].outcome, run.data().error) == ("a", "failed", BROKEN)
    run.started.clear()
    run.sleep(4000)
    assert run.started == []
    run.resume()
    assert (run.started, run.state.paused_step, run.state.attempt_number(0)) == (["a"], None, 2)
    run.give("a", 1)
    assert run.state.errors == {}


def test_a_pause_of_a_step_survives_a_crash() -> None:
    run = play(chain("a"))
    run.attempt("a", Pause("by hand"))
    run.crash()
    assert (run.status, run.started, run.state.paused_step) == ("paused", [], 0)
    run.resume()
    assert run.started == ["a"]


def test_a_step_that_pauses_a_run_somebody_paused_takes_it_over() -> None:
    run = play(chain("a"))
    run.pause("ann")
    run.attempt("a", Pause("by hand"))
    assert (run.state.paused_by, run.state.paused_at) == ("by hand", NOON)
    run.resume()
    assert run.statuses() == {"a": "running"}


def test_a_pause_does_not_stop_the_other_branches_attempts() -> None:
    run = play_steps({"a": {}, "b": {}, "c": {"needs": ["b"]}})
    run.attempt("a", Pause("by hand"))
    run.succeed("b")
    assert run.statuses() == {"a": "ready", "b": "success", "c": "ready"}
    run.resume()
    assert run.statuses() == {"a": "running", "b": "success", "c": "running"}


def test_a_step_finishes_its_run_with_its_own_output() -> None:
    run = play(chain("a", "b", "c"))
    run.give("a", 1)
    run.attempt("b", Finish(b'{"output":"early"}'))
    assert run.statuses() == {"a": "success", "b": "success", "c": "skipped"}
    assert (run.status, run.output) == ("completed", "early")
    assert run.data().finished
    assert run.started == ["a", "b"]


def test_what_a_run_finishes_with_is_of_the_step_that_finished_it() -> None:
    run = play_steps({"a": {}, "b": {}, "c": {"needs": ["a", "b"]}})
    run.give("b", "b")
    run.attempt("a", Finish(b'{"output":"a"}'))
    assert run.output == "a"
    assert run.statuses()["c"] == "skipped"


def test_a_run_that_is_finished_is_completed_whatever_failed_before() -> None:
    run = play_steps({"a": {}, "b": {}})
    run.fail("a")
    run.attempt("b", Finish(b'{"output":1}'))
    assert (run.status, run.output) == ("completed", 1)


@pytest.mark.parametrize("outcome", [Reattempt(1.0, BROKEN), Pause("by hand", BROKEN), Reattempt(), Pause("by hand")])
def test_a_failing_run_tries_nothing_again(outcome: Outcome) -> None:
    steps = (Step("bad", StepKind.ACTION), Step("other", StepKind.ACTION))
    run = play(Graph(steps, on_failure=FailurePolicy.FAIL_FAST))
    run.fail("bad")
    assert run.statuses() == {"bad": "failed", "other": "running"}
    assert run.reattempt("other") is NOTHING
    run.attempt("other", outcome)
    assert (run.status, run.statuses()["other"]) == ("failed", "failed")


def test_a_failing_run_can_skip_what_is_in_flight() -> None:
    steps = (Step("bad", StepKind.ACTION), Step("other", StepKind.ACTION))
    run = play(Graph(steps, on_failure=FailurePolicy.FAIL_FAST))
    run.fail("bad")
    assert run.skip("other").stop == [run.number("other")]
    assert (run.status, run.statuses()["other"]) == ("failed", "skipped")


# -- a failure in a graph that pauses


def _poisoned(run: Play) -> None:
    run.crash()
    run.crash()
    run.strike("a", 5)


FAILURES: tuple[Callable[[Play], object], ...] = (
    lambda run: run.attempt("a", Fail(BROKEN)),
    lambda run: run.attempt("a", Fail(StepError("timeout", "too long"), timed_out=True)),
    lambda run: run.attempt("a", Fail(StepError("template_error", "no such thing"), retry=False)),
    _poisoned,
)


@pytest.mark.parametrize("fail", FAILURES)
def test_a_failure_that_nobody_takes_care_of_pauses_the_run_and_a_resume_tries_again(
    fail: Callable[[Play], object],
) -> None:
    run = play(chain("a", "b"))
    fail(run)
    assert (run.status, run.statuses()) == ("paused", {"a": "ready", "b": "pending"})
    assert run.state.paused_by == "a failure of step 'a'"
    assert run.state.paused_step == 0
    assert run.error("a").message
    run.started.clear()
    run.resume()
    assert run.started == ["a"]
    run.give("a", 1)
    run.give("b", 2)
    assert run.status == "completed"


def test_a_crash_that_fails_a_step_pauses_such_a_run_and_counts_once() -> None:
    run = play(chain("a", "b", on_crash=OnCrash.FAIL))
    run.crash()
    assert (run.status, run.error("a").code) == ("paused", "crashed")
    assert run.state.attempt_number(0) == 2
    run.skip()
    assert run.statuses() == {"a": "skipped", "b": "running"}


def test_a_step_that_did_not_happen_pauses_such_a_run_and_a_resume_tries_it() -> None:
    run = play(chain("a", "b", on_crash=OnCrash.ASK))
    run.crash()
    run.resolve("a", happened=False)
    assert (run.status, run.state.paused_by) == ("paused", "a failure of step 'a'")
    assert (run.error("a").code, run.state.doubts, run.state.paused_step) == ("did_not_happen", {}, 0)
    run.resume()
    assert run.statuses() == {"a": "running", "b": "pending"}
    doubtful = play(chain("a", "b", on_crash=OnCrash.ASK))
    doubtful.crash()
    doubtful.resolve("a", happened=True)
    assert doubtful.statuses() == {"a": "success", "b": "running"}


def test_a_failure_that_a_step_takes_care_of_does_not_pause() -> None:
    steps = (Step("a", StepKind.PYTHON), Step("tidy", StepKind.PYTHON))
    failed = frozenset({Ending.FAILED})
    run = play(Graph(steps, (Edge("a", "tidy", failed),), on_failure=FailurePolicy.PAUSE))
    run.attempt("a", Fail(BROKEN))
    assert run.statuses() == {"a": "failed", "tidy": "running"}


def test_the_retries_of_a_step_come_before_the_pause() -> None:
    graph = graph_of({"a": {"retries": {"attempts": 1, "delay": 5}}})
    run = play(Graph(graph.steps, on_failure=FailurePolicy.PAUSE))
    run.attempt("a", Fail(BROKEN))
    assert (run.status, run.statuses()["a"]) == ("running", "retrying")
    run.sleep(10)
    run.attempt("a", Fail(BROKEN))
    assert run.status == "paused"
