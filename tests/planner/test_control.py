"""Pause, resume, cancel and expiry, in every phase a run can be in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from detent.graph.model import Graph, OnCrash, Step, StepKind
from detent.planner.advance import put_back, take_ready
from tests.planner.play import Play, play, play_steps


def _running() -> Play:
    return play_steps({"a": {}, "b": {"needs": ["a"]}})


def _retrying() -> Play:
    run = _running()
    run.fail("a", 503, retry=True)
    return run


def _sleeping() -> Play:
    return play_steps({"a": {"sleep": "1h"}, "b": {"needs": ["a"]}})


def _waiting() -> Play:
    return play_steps({"a": {"wait_for_webhook": {"timeout": "1h"}}, "b": {"needs": ["a"]}})


def _paused() -> Play:
    run = _sleeping()
    run.pause("bob")
    return run


def _ready() -> Play:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    run.pause("bob")
    run.succeed("a")
    return run


def _careful() -> Play:
    run = play_steps({"a": {}, "b": {}})
    run.crash()
    run.crash()
    return run


def _uncertain() -> Play:
    run = play(Graph((Step("a", StepKind.ACTION, on_crash=OnCrash.ASK), Step("b", StepKind.ACTION))))
    run.crash()
    return run


PHASES = (_running, _retrying, _sleeping, _waiting, _paused, _ready, _careful, _uncertain)


@pytest.mark.parametrize("make", PHASES)
def test_a_cancel_ends_every_open_step_and_the_run(make: Callable[[], Play]) -> None:
    run = make()
    done = {name: status for name, status in run.statuses().items() if status == "success"}
    run.cancel("ann")
    assert run.status == "cancelled"
    assert run.statuses() == {**dict.fromkeys(run.statuses(), "cancelled"), **done}
    assert run.data().by == "ann"
    assert run.entries[-1].kind == "cancelled"
    assert run.ended is not None
    assert (run.ended.output, run.ended.error) == (None, None)
    assert (run.state.open, run.state.running, run.state.ready, run.state.next_timer()) == (0, 0, {}, None)


@pytest.mark.parametrize("make", PHASES)
def test_an_expired_run_ends_as_timeout(make: Callable[[], Play]) -> None:
    run = make()
    run.expire()
    assert run.status == "timeout"
    assert "running" not in run.statuses().values()
    assert run.ended is not None
    assert run.ended.error == "the run took longer than its maximum duration"
    assert run.state.open == 0


@pytest.mark.parametrize("make", PHASES)
def test_a_pause_starts_nothing_and_a_resume_starts_what_is_ready(make: Callable[[], Play]) -> None:
    run = make()
    run.pause("ann")
    assert run.status == "paused"
    run.started.clear()
    run.sleep(4000)
    assert run.started == []
    run.resume("ann")
    assert run.status == "running"


def test_a_pause_says_who_and_a_second_one_changes_nothing() -> None:
    run = _running()
    run.pause("ann")
    assert run.state.paused_by == "ann"
    assert run.pause("bob").entry is None
    assert run.state.paused_by == "ann"


def test_a_resume_of_a_run_that_is_not_paused_changes_nothing() -> None:
    assert _running().resume().entry is None


def test_an_attempt_in_flight_ends_while_the_run_is_paused_and_nothing_follows() -> None:
    run = _running()
    run.pause()
    plan = run.succeed("a")
    assert plan.start == []
    assert run.statuses() == {"a": "success", "b": "ready"}
    run.resume()
    assert run.statuses()["b"] == "running"


def test_sleeps_and_waits_go_on_while_the_run_is_paused() -> None:
    run = play_steps({"nap": {"sleep": "1h"}, "w": {"wait_for_webhook": {"timeout": "2h"}}, "x": {"needs": ["nap"]}})
    run.pause()
    run.sleep(3600)
    run.receive("w")
    assert run.statuses() == {"nap": "success", "w": "received", "x": "ready"}


def test_a_paused_run_whose_last_attempt_ends_is_over() -> None:
    run = play_steps({"a": {}})
    run.pause()
    run.succeed("a")
    assert run.status == "completed"


def test_a_paused_run_is_still_paused_after_a_crash() -> None:
    run = _ready()
    run.crash()
    assert run.started == []
    assert run.status == "paused"
    run.resume()
    assert run.started == ["b"]


def test_a_failure_after_a_cancel_is_not_recorded() -> None:
    run = _running()
    run.cancel()
    assert run.fail("a").entry is None
    assert run.statuses()["a"] == "cancelled"


def test_an_attempt_that_could_not_be_started_is_ready_again() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    put_back(run.state, run.number("a"))
    put_back(run.state, run.number("b"))
    assert run.statuses() == {"a": "ready", "b": "pending"}
    assert run.state.running == 0
    assert [start.step for start in take_ready(run.prepared, run.state)] == [run.number("a")]


def test_a_second_pause_entry_is_read_without_complaint() -> None:
    """A run that could not be planned is paused by its engine, whatever its status was."""
    run = _running()
    run.pause("ann")
    again = run.entries[-1]._replace(seq=2)
    run.entries.append(again)
    run.reload()
    assert run.status == "paused"
    run.resume()
    assert run.status == "running"
