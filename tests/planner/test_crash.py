"""What becomes of attempts whose node died: numbers, careful starts, poison, and steps that must not be repeated."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import UnknownEntry
from detent.graph.model import Edge, Graph, OnCrash, Retry, Step, StepKind
from detent.planner import fold
from detent.run.call import StepCall
from tests.planner.play import Play, play, play_steps


def _pair(**given: Any) -> Play:
    """Two parallel steps and one after both."""
    steps = tuple(Step(name, StepKind.ACTION, {"with": {"n": 1}}, **given) for name in ("a", "b", "c"))
    return play(Graph(steps, (Edge("a", "c"), Edge("b", "c"))))


def _kinds(run: Play) -> list[tuple[str, str | None]]:
    return [(entry.kind, entry.step) for entry in run.entries]


def test_an_attempt_in_flight_runs_again_with_the_next_number_and_the_same_key() -> None:
    run = _pair()
    first = run.call("a")
    run.crash()
    assert run.started == ["a", "b"]
    second = run.call("a")
    assert isinstance(first, StepCall)
    assert isinstance(second, StepCall)
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.idempotency_key == second.idempotency_key
    assert _kinds(run) == [("adopted", None)]


def test_an_adoption_counts_only_for_steps_that_were_ready() -> None:
    run = _pair()
    run.crash()
    run.give("a", 1)
    run.give("b", 1)
    assert run.state.attempt_number(run.number("a")) == 3  # two have been made
    assert run.state.attempt_number(run.number("c")) == 1


def test_an_adoption_between_two_attempts_is_not_an_attempt() -> None:
    run = play_steps({"a": {"retries": {"attempts": 3, "delay": "60s", "jitter": False}}})
    run.fail("a", 503, retry=True)
    run.crash()
    run.sleep(60)
    assert run.state.attempt_number(0) == 2


def test_an_adoption_after_the_next_attempt_was_due_is_one() -> None:
    run = play_steps({"a": {"retries": {"attempts": 3, "delay": "60s", "jitter": False}}})
    run.fail("a", 503, retry=True)
    run.sleep(60)
    run.crash()
    run.sleep(0)
    assert run.state.attempt_number(0) == 3


def test_a_crash_uses_up_a_try() -> None:
    run = _pair(retry=Retry(attempts=2))
    run.crash()
    run.fail("a", retry=True)
    assert run.statuses()["a"] == "failed"


def test_a_run_given_up_without_a_crash_keeps_its_numbers() -> None:
    run = _pair()
    run.reload()
    assert run.state.attempt_number(0) == 1


def test_after_the_second_adoption_without_progress_steps_start_one_at_a_time_on_record() -> None:
    run = _pair()
    run.crash()
    assert run.started == ["a", "b"]
    run.crash()
    assert run.started == ["a"]
    assert _kinds(run) == [("adopted", None), ("adopted", None), ("started", "a")]
    assert run.entries[-1].attempt == 3


def test_the_next_step_starts_when_the_careful_one_has_ended() -> None:
    run = _pair()
    run.crash()
    run.crash()
    run.give("a", 1)
    assert run.started == ["a", "b"]
    assert _kinds(run)[-1] == ("ended", "a"), "there was progress, so nothing is careful any more"


@pytest.mark.case("A15")
def test_at_the_third_adoption_the_step_that_was_started_last_is_the_killer() -> None:
    run = _pair()
    for _ in range(3):
        run.crash()
    error = run.error("a")
    assert error.code == "poison"
    assert error.detail == {"attempts": 3, "payload": {"with": {"n": 1}}, "last_error": None}
    assert run.statuses() == {"a": "failed", "b": "running", "c": "pending"}
    assert run.state.attempt_number(run.number("b")) == 4
    run.give("b", 1)
    assert run.statuses()["c"] == "skipped"
    assert run.status == "failed"


def test_the_neighbour_of_a_killer_is_not_blamed() -> None:
    run = _pair()
    run.crash()
    run.crash()
    run.give("a", 1)  # `a` was harmless: progress, and the count begins anew
    for _ in range(2):
        run.crash()
    assert run.started == ["b"]
    run.crash()
    assert run.error("b").code == "poison"
    assert run.statuses()["a"] == "success"


def test_poison_tells_the_last_error_of_the_step() -> None:
    run = _pair(retry=Retry(attempts=10, delay=0.0))
    run.fail("a", code="exception", retry=True)
    run.give("b", 1)
    run.sleep(0)
    for _ in range(2):
        run.crash()
        run.sleep(0)
    assert run.started[-1] == "a"
    run.crash()
    assert run.error("a").detail["last_error"] == "it failed with exception"


def test_a_poisoned_step_whose_parameters_cannot_be_rendered_has_no_payload() -> None:
    run = play_steps({"a": {"action": "core.echo", "with": {"x": "{{trigger.body.missing}}"}}})
    for _ in range(3):
        run.crash()
    assert run.error("a").detail["payload"] is None


def test_how_many_adoptions_make_poison_is_a_setting() -> None:
    run = _pair()
    for _ in range(4):
        run.crash(poison_after=5)
    assert run.statuses()["a"] == "running"
    run.crash(poison_after=5)
    assert run.error("a").code == "poison"


def test_nobody_is_blamed_before_a_start_is_on_record() -> None:
    run = _pair()
    run.crash(poison_after=1)
    run.crash(poison_after=1)
    assert run.statuses()["a"] == run.statuses()["b"].replace("ready", "running") == "running"
    run.crash(poison_after=1)
    assert run.error("a").code == "poison"


def test_the_step_started_last_is_blamed_even_if_it_was_started_before() -> None:
    steps = (Step("a", StepKind.ACTION), Step("b", StepKind.ACTION, retry=Retry(attempts=9, delay=0.0)))
    run = play(Graph(steps))
    for _ in range(3):
        run.crash(poison_after=9)  # from here on one at a time: `a`
    assert list(run.state.begun) == [0]
    run.crash(poison_after=4)
    assert run.error("a").code == "poison"
    assert run.statuses()["b"] == "running"


@pytest.mark.parametrize("policy", [OnCrash.FAIL, OnCrash.ASK])
def test_a_step_that_must_not_be_repeated_is_on_record_before_it_starts(policy: OnCrash) -> None:
    run = _pair(on_crash=policy)
    assert _kinds(run) == [("started", "a"), ("started", "b")]


def test_a_step_that_fails_on_a_crash_does_so_and_the_rest_goes_on() -> None:
    run = _pair(on_crash=OnCrash.FAIL)
    run.give("a", 1)
    run.crash()
    assert run.statuses() == {"a": "success", "b": "failed", "c": "skipped"}
    assert run.error("b").code == "crashed"
    assert run.status == "failed"


def test_a_step_that_asks_after_a_crash_pauses_the_run_until_somebody_resumes() -> None:
    run = _pair(on_crash=OnCrash.ASK)
    run.crash()
    assert run.status == "paused"
    assert run.state.paused_by == "uncertain"
    assert run.statuses() == {"a": "uncertain", "b": "uncertain", "c": "pending"}
    assert run.started == []
    run.crash()
    run.crash()
    assert run.statuses()["b"] == "uncertain", "nothing was running, so nobody is to blame"
    run.resume()
    assert run.started == ["a"], "three adoptions without progress: one at a time"
    assert run.status == "running"


def test_an_uncertain_step_of_a_run_that_was_paused_before_keeps_the_reason() -> None:
    run = _pair(on_crash=OnCrash.ASK)
    run.pause("ann")
    run.crash()
    assert run.state.paused_by == "ann"
    run.resume()
    assert run.statuses()["a"] == "running"


def test_a_fold_stops_at_an_entry_of_a_newer_release() -> None:
    run = _pair()
    run.crash()
    strange = run.entries[0]._replace(seq=2, kind="signalled")
    with pytest.raises(UnknownEntry, match="unknown kind 'signalled'"):
        fold(run.prepared, run.facts, run.opening, [*run.entries, strange])
