"""What becomes of attempts whose node died: numbers, suspects, strikes, poison, and steps that must not be repeated."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import UnknownEntry
from detent.graph.model import Edge, Graph, OnCrash, Retry, Step, StepKind
from detent.instant import SECOND
from detent.planner import fold
from detent.planner.suspects import is_suspect_run
from detent.run import events
from detent.run.call import StepCall
from detent.run.plan import NOTHING, StartAttempt
from tests.planner.play import Play, play, play_steps


def _pair(**given: Any) -> Play:
    """Two parallel steps and one after both."""
    steps = tuple(Step(name, StepKind.ACTION, {"with": {"n": 1}}, **given) for name in ("a", "b", "c"))
    return play(Graph(steps, (Edge("a", "c"), Edge("b", "c"))))


def _suspect(run: Play) -> Play:
    """A run that was adopted twice, with its first step in flight on record."""
    run.crash()
    run.crash()
    run.sleep(1)
    return run


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


def test_after_the_second_adoption_without_progress_steps_start_one_at_a_time_on_record_after_a_delay() -> None:
    run = _pair()
    run.crash()
    assert run.started == ["a", "b"], "once may be chance"
    run.crash()
    assert run.started == []
    assert (run.until("a"), run.until("b")) == (1.0, 1.0)
    run.sleep(1)
    assert run.started == ["a"]
    assert _kinds(run) == [("adopted", None), ("adopted", None), ("started", "a")]
    assert run.entries[-1].attempt == 3
    assert [plan.start for plan in run.plans if plan.start][-1] == [StartAttempt(0, 3, True, True)]


def test_a_run_is_not_suspect_any_more_when_an_attempt_has_ended() -> None:
    run = _suspect(_pair())
    run.give("a", 1)
    assert run.started == ["a", "b"]
    assert _kinds(run)[-1] == ("ended", "a"), "the start of `b` is not on record"


def test_a_crash_in_flight_is_a_strike_and_the_step_waits_longer_each_time() -> None:
    run = _suspect(_pair())
    delays = []
    for strikes in range(1, 5):
        run.strike("a")
        assert run.state.strikes == {0: strikes}
        delays.append(run.until("a"))
        assert run.until("b") <= 1.0, "it was only ready"
    assert delays == [4.0, 16.0, 64.0, 256.0]


def test_the_delay_grows_up_to_a_setting() -> None:
    run = _suspect(_pair())
    for _ in range(4):
        run.sleep(10)
        run.crash(poison_after=9, poison_delay=9.5)
    assert max(run.until("a"), run.until("b")) == 9.5
    run = _pair()
    run.crash(poison_delay=0.0)
    run.crash(poison_delay=0.0)
    run.sleep(0)
    assert run.started == ["a"]


def test_a_step_with_strikes_waits_longer_than_others_at_a_crash_that_is_not_its_own() -> None:
    run = _suspect(_pair())
    run.strike("a")
    run.sleep(60)
    run.crash()
    assert (run.until("a"), run.until("b")) == (2.0, 4.0), "`b` was in flight"
    run.sleep(60)
    run.crash()
    assert (run.until("a"), run.until("b")) == (16.0, 2.0), "`a` was in flight"


def test_a_step_with_strikes_waits_at_a_crash_after_another_step_has_ended() -> None:
    run = _suspect(_pair())
    run.strike("a")
    run.sleep(1)
    run.give("b", 1)
    run.sleep(2.5)
    assert run.until("a") == 0.5
    run.crash()
    assert run.state.stalled == 1
    assert run.until("a") == 2.0


def test_a_retry_that_is_due_soon_after_a_crash_waits_for_the_delay_of_its_run() -> None:
    run = play(Graph((Step("a", StepKind.ACTION, retry=Retry(attempts=3, delay=8.0, jitter=False)),)))
    run.fail("a", retry=True)
    due = run.until("a")
    run.crash()
    run.sleep(due - 0.25)
    run.crash()
    assert run.until("a") == 1.0


def test_another_step_goes_first_while_a_struck_one_waits() -> None:
    run = _suspect(_pair())
    run.strike("a")
    run.sleep(1)
    assert run.started == ["b"]
    run.give("b", 1)
    assert run.started == ["b"], "`a` waits for its time"
    run.sleep(3)
    assert run.started == ["b", "a"]
    assert _kinds(run)[-1] == ("started", "a"), "a step with a strike stays suspect, whatever the others do"


@pytest.mark.case("A15")
def test_after_five_strikes_a_step_ends_as_poison_and_the_rest_goes_on() -> None:
    run = _suspect(_pair())
    run.strike("a", 4)
    assert run.statuses()["a"] == "retrying"
    assert is_suspect_run(run.state)
    run.strike("a")
    assert not is_suspect_run(run.state)
    error = run.error("a")
    assert error.code == "poison"
    assert error.message == "the node of 'a' died 5 times while this step was in flight alone; it is not tried again"
    assert error.detail == {"attempts": 7, "payload": {"with": {"n": 1}}, "last_error": None}
    assert run.state.strikes == {}
    run.sleep(0)
    run.give("b", 1)
    assert run.statuses() == {"a": "failed", "b": "success", "c": "skipped"}
    assert run.status == "failed"


def test_a_crash_while_nothing_is_in_flight_on_record_is_nobodys_strike() -> None:
    run = _suspect(_pair())
    run.strike("a")
    for _ in range(20):
        run.crash(poison_after=1)  # in the delay, before anything has begun
    assert run.state.strikes == {0: 1}
    assert run.statuses() == {"a": "retrying", "b": "retrying", "c": "pending"}


def test_a_crash_before_the_run_was_suspect_is_nobodys_strike() -> None:
    run = _pair()
    run.crash(poison_after=1)
    run.crash(poison_after=1)
    assert run.state.strikes == {}
    assert run.state.begun == {}


def test_the_neighbour_of_a_killer_is_not_blamed() -> None:
    run = _suspect(_pair())
    run.give("a", 1)  # `a` was harmless: progress, and the count begins again
    run.crash()
    run.crash()
    run.strike("b", 5)
    assert run.error("b").code == "poison"
    assert run.statuses()["a"] == "success"


def test_an_attempt_that_fails_by_itself_takes_its_strikes_back() -> None:
    run = _suspect(_pair(retry=Retry(attempts=20, delay=0.0)))
    run.strike("a", 3)
    run.now += 64 * SECOND
    run.wake(0)
    run.fail("a", retry=True)
    assert run.state.strikes == {}
    run.crash()
    run.crash()
    run.strike("a", 4)
    assert run.statuses()["a"] == "retrying"


def test_poison_tells_the_last_error_of_the_step() -> None:
    run = _pair(retry=Retry(attempts=10, delay=0.0))
    run.fail("a", code="exception", retry=True)
    run.give("b", 1)
    run.sleep(0)
    run.crash()
    run.sleep(0)
    run.crash()
    run.strike("a", 2, poison_after=2)
    assert run.error("a").detail["last_error"] == "it failed with exception"
    assert "died 2 times" in run.error("a").message


def test_one_strike_is_told_as_once() -> None:
    run = _suspect(_pair())
    run.strike("a", poison_after=1)
    assert run.error("a").message.startswith("the node of 'a' died once while")


def test_a_poisoned_step_whose_parameters_cannot_be_rendered_has_no_payload() -> None:
    run = _suspect(play_steps({"a": {"action": "core.echo", "with": {"x": "{{trigger.body.missing}}"}}}))
    run.strike("a", 5)
    assert run.error("a").detail["payload"] is None


def test_the_end_of_a_sleep_is_no_progress_and_what_follows_it_is_suspect_too() -> None:
    run = play_steps({"killer": {}, "nap": {"sleep": "3s"}, "b": {"needs": ["nap"]}})
    run.crash()
    run.now += 3 * SECOND - 1
    run.crash()
    run.sleep(0.5)
    assert run.statuses()["nap"] == "success"
    assert run.started == []
    assert run.until("b") == 0.5, "it became ready in a suspect run, so it waits as well"
    run.sleep(0.5)
    assert run.started == ["killer"]


def test_a_sleep_and_a_wait_are_never_blamed() -> None:
    run = play_steps({"nap": {"sleep": "5s"}, "pay": {"wait_for_webhook": {"timeout": "1h"}}})
    for _ in range(20):
        run.crash(poison_after=1)
    assert run.statuses() == {"nap": "sleeping", "pay": "waiting"}
    assert run.state.strikes == {}


def test_an_attempt_that_was_released_is_not_in_flight_and_keeps_number_and_strikes() -> None:
    run = _suspect(_pair())
    run.strike("a")
    run.sleep(1)
    run.give("b", 1)
    run.sleep(3)
    assert run.state.begun == {0: 4}
    run.tell(events.Released(0))
    assert run.tell(events.Released(0)) is NOTHING
    assert (run.state.begun, run.state.attempt_number(0)) == ({}, 4)
    run.reload()
    run.crash(poison_after=2)
    assert run.state.strikes == {0: 1}, "only a crash in flight is a strike"
    run.strike("a", poison_after=2)
    assert run.error("a").code == "poison"


def test_a_step_that_must_not_be_repeated_is_not_released() -> None:
    run = _pair(on_crash=OnCrash.ASK)
    assert run.tell(events.Released(0)) is NOTHING


def test_a_struck_step_of_a_run_that_is_not_suspect_waits_alone() -> None:
    run = _suspect(_pair(retry=Retry(attempts=9, delay=0.0)))
    run.strike("a")
    run.sleep(1)
    run.fail("b", retry=True)  # progress: only `a` is suspect
    run.sleep(3)
    run.strike("a")
    assert run.until("a") == 16.0
    assert run.statuses()["b"] in ("running", "retrying")
    run.sleep(0)
    assert "b" in run.started


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
    assert run.status == "running"
    assert run.started == [], "its run is suspect, so it waits for the delay after its adoption"
    run.sleep(1)
    assert run.started == ["a"], "three adoptions without progress: one at a time"


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
