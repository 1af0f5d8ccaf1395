"""Flow control from outside: what a person wants of a step or a run, wherever it stands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from detent.graph.model import Ending, FailurePolicy, Graph, OnCrash, Step, StepKind
from detent.instant import SECOND
from detent.planner.advance import is_wanted, put_off
from detent.run import events
from detent.run.outcomes import Fail, Pause, StepError
from detent.run.plan import NOTHING, StartAttempt
from tests.planner.chains import BROKEN, chain
from tests.planner.play import NOON, Play, play, play_steps


def beside() -> Play:
    """Three branches: one runs, one waits, one sleeps."""
    return play_steps({"work": {}, "w": {"wait_for_webhook": {}}, "nap": {"sleep": "1h"}, "x": {"needs": ["work"]}})


def test_a_step_that_was_skipped_is_not_the_current_one_although_its_run_stays_paused() -> None:
    steps = (Step("work", StepKind.ACTION, on_crash=OnCrash.ASK), Step("kid", StepKind.SUBWORKFLOW))
    run = play(Graph(steps, on_failure=FailurePolicy.PAUSE))
    run.crash()
    error = StepError("child", "it failed")
    run.tell(events.ChildEnded(1, run.state.child_of[1].id, Ending.FAILED, b"{}", error, 1))
    assert (run.state.paused_step, run.statuses()) == (1, {"work": "uncertain", "kid": "ready"})
    run.skip()
    run.reattempt()
    assert [(entry.kind, entry.step) for entry in run.entries[-2:]] == [("ended", "kid"), ("retry", "work")]


@pytest.mark.parametrize("how", [Play.resume, Play.skip, Play.reattempt])
def test_a_run_that_goes_on_after_a_pause_looks_for_its_children(how: Callable[[Play], object]) -> None:
    """The pause may have come before a child was started that the journal names."""
    steps = (Step("work", StepKind.ACTION), Step("kid", StepKind.SUBWORKFLOW))
    run = play(Graph(steps, on_failure=FailurePolicy.PAUSE))
    run.fail("work")
    put_off(run.state, 1)
    assert run.statuses() == {"work": "ready", "kid": "child"}
    how(run)
    assert run.statuses()["kid"] == "running"


def test_a_person_skips_an_attempt_in_flight_and_its_outcome_does_not_count() -> None:
    run = play(chain("a", "b"))
    plan = run.skip()
    assert (run.stopped, [start.step for start in plan.start]) == (["a"], [1])
    assert (run.entries[-1].outcome, run.data().by) == ("skipped", "ann")
    assert run.attempt("a", Fail(BROKEN)) is NOTHING
    assert run.statuses() == {"a": "skipped", "b": "running"}


def test_a_person_has_an_attempt_in_flight_begun_anew_and_the_old_outcome_does_not_count() -> None:
    run = play(chain("a", "b"))
    old = StartAttempt(0, 1, on_record=False)
    assert is_wanted(run.state, old)
    run.reattempt(wait=5)
    assert run.stopped == ["a"]
    assert (run.entries[-1].kind, run.entries[-1].outcome, run.entries[-1].attempt) == ("retry", None, 1)
    assert not is_wanted(run.state, old)
    run.sleep(5)
    assert run.statuses()["a"] == "running"
    assert not is_wanted(run.state, old)
    assert is_wanted(run.state, StartAttempt(0, 2, on_record=False))


def test_who_tries_a_step_that_was_not_in_flight_does_not_use_up_an_attempt() -> None:
    run = play(Graph((Step("a", StepKind.PYTHON, delay=86400.0),)))
    run.reattempt("a")
    assert run.stopped == []
    assert run.entries[-1].attempt == 0
    run.sleep(0)
    assert run.statuses() == {"a": "running"}
    assert run.state.attempt_number(0) == 1


def test_a_person_gets_a_run_going_that_stands_still_for_a_step() -> None:
    for go_on in (Play.skip, Play.reattempt):
        run = play(chain("a", "b"))
        run.attempt("a", Pause("by hand", BROKEN))
        go_on(run)
        assert (run.status, run.state.paused_by, run.state.paused_step) == ("running", None, None)
        run.sleep(0)
        assert "running" in run.statuses().values()


def test_the_step_that_paused_its_run_is_the_one_that_is_meant() -> None:
    run = play_steps({"first": {}, "work": {}, "w": {"wait_for_webhook": {}}})
    run.attempt("work", Pause("by hand"))
    run.skip()
    assert run.statuses() == {"first": "running", "work": "skipped", "w": "waiting"}


def test_without_a_name_what_runs_is_meant_before_what_waits_and_sleeps() -> None:
    run = beside()
    for expected in ("work", "w", "nap"):
        run.skip()
        assert run.entries[-1].step == expected
    assert (run.status, run.statuses()["x"]) == ("completed", "skipped")


def test_a_skipped_wait_closes_its_callback_and_takes_none_any_more() -> None:
    run = beside()
    plan = run.skip("w")
    assert plan.closed == ["w"]
    assert run.receive("w") is NOTHING
    assert run.statuses()["w"] == "skipped"
    assert run.skip("nap").closed == []


def test_a_wait_or_a_sleep_cannot_be_tried() -> None:
    run = beside()
    assert run.reattempt("w") is NOTHING
    assert run.reattempt("nap") is NOTHING
    assert run.reattempt("x") is NOTHING
    run.reattempt()
    assert run.entries[-1].step == "work"


def test_a_step_that_has_ended_or_was_not_reached_is_not_at_hand() -> None:
    run = play(chain("a", "b", "c"))
    run.give("a", 1)
    for ask in (run.skip, run.reattempt):
        assert ask("a") is NOTHING
        assert ask("c") is NOTHING


def test_a_run_that_somebody_else_paused_goes_on_when_a_step_of_it_is_skipped() -> None:
    run = play(chain("a", "b"))
    run.pause("bob")
    run.skip("a")
    assert run.statuses() == {"a": "skipped", "b": "running"}


def test_a_retrying_step_is_skipped_or_tried_at_once() -> None:
    run = play_steps({"a": {}, "b": {}})
    run.fail("a", 503, retry=True)
    run.fail("b", 503, retry=True)
    run.skip("a")
    run.reattempt("b")
    assert run.entries[-1].attempt == 0
    run.sleep(0)
    assert run.statuses() == {"a": "skipped", "b": "running"}
    assert run.state.attempt_number(run.number("b")) == 2


def _in_doubt() -> Play:
    steps = tuple(Step(name, StepKind.ACTION, on_crash=OnCrash.ASK) for name in "ab")
    run = play(Graph(steps))
    run.crash()
    assert run.statuses() == {"a": "uncertain", "b": "uncertain"}
    return run


def test_a_step_in_doubt_is_skipped_or_tried_again_and_the_run_goes_on_after_the_last() -> None:
    run = _in_doubt()
    run.skip("a")
    assert (run.status, run.statuses()["a"], run.entries[-1].attempt) == ("paused", "skipped", 1)
    run.reattempt("b")
    assert (run.status, run.state.doubts) == ("running", {})
    run.sleep(0)
    assert run.statuses()["b"] == "running"
    assert run.state.attempt_number(run.number("b")) == 2


def test_suspect_steps_that_are_skipped_make_room_for_the_next() -> None:
    run = play_steps({"a": {}, "b": {}})
    run.crash()
    run.crash()
    run.sleep(1)
    assert run.started == ["a"]
    run.skip("a")
    assert run.statuses() == {"a": "skipped", "b": "running"}


PLACES: tuple[Callable[[], Play], ...] = (beside, _in_doubt, lambda: play(chain("a", "b")))


@pytest.mark.parametrize("make", PLACES)
@pytest.mark.parametrize("paused", [False, True])
def test_a_person_finishes_a_run_wherever_it_stands(make: Callable[[], Play], *, paused: bool) -> None:
    run = make()
    if paused:
        run.pause()
    run.finish("bob")
    assert (run.status, set(run.statuses().values())) == ("completed", {"skipped"})
    assert (run.entries[-1].kind, run.data().by) == ("finished", "bob")
    assert (run.state.open, run.state.running, run.state.ready, run.state.next_timer()) == (0, 0, {}, None)
    assert run.ended is not None
    assert run.ended.output is None


def test_a_run_that_somebody_finishes_gives_what_its_last_step_gave() -> None:
    run = play(chain("a", "b", "c"))
    run.give("a", 1)
    run.give("b", 2)
    run.finish()
    assert (run.status, run.output) == ("completed", 2)


def test_a_run_that_has_not_begun_has_nothing_to_skip_to_try_or_to_finish() -> None:
    run = play(chain("a"), opens_at=NOON + SECOND)
    assert run.skip() is NOTHING
    assert run.skip("a") is NOTHING
    assert run.reattempt() is NOTHING
    assert run.finish() is NOTHING
    run.open()
    assert run.statuses() == {"a": "running"}
