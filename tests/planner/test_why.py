"""Why a run does not go on: what really blocks it comes first, in words for somebody who was just woken."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.graph.model import Edge, Graph, OnCrash, Step, StepKind
from detent.instant import SECOND, iso
from detent.planner import Reason, fold, why
from detent.planner.why import LONGEST
from detent.run.outcomes import Finish, Pause, Reattempt, StepError
from detent.run.state import Phase
from tests.planner.play import NOON, Play, graph_of, play, play_steps
from tests.planner.work import calls_in
from tests.planner.worlds import RANDOMS, some_world


def _why(run: Play, *, owned: bool = True) -> list[Reason]:
    """Asked of the state as it is read back from the journal."""
    state = fold(run.version, run.facts, run.opening, run.entries)
    return why(run.prepared, state, run.now, owned=owned)


def _kinds(reasons: list[Reason]) -> list[tuple[str, str | None]]:
    return [(str(reason.kind), reason.step) for reason in reasons]


def _at(seconds: float) -> str:
    return iso(NOON + round(seconds * SECOND))


def test_a_run_that_begins_later_has_not_started() -> None:
    run = play(graph_of({"a": {}, "b": {"needs": ["a"]}}), opens_at=NOON + 7500 * SECOND)
    (reason,) = _why(run, owned=False)
    assert (reason.kind, reason.until, reason.step) == ("not_started", NOON + 7500 * SECOND, None)
    assert reason.message == f"The run has not started yet: it starts at {_at(7500)} (in 2h 5m)."
    run.now = NOON + 7530 * SECOND
    (late,) = _why(run, owned=False)
    assert late.message == f"The run was to start at {_at(7500)} (30s ago), and no node has taken the run yet."


def test_a_wait_names_its_time_and_the_steps_behind_it() -> None:
    tasks = {"pay": {"wait_for_webhook": {"timeout": "2h"}}, "pack": {"needs": ["pay"]}, "ship": {"needs": ["pack"]}}
    run = play_steps(tasks)
    reasons = _why(run, owned=False)
    assert _kinds(reasons) == [("callback", "pay"), ("needs", "pack"), ("needs", "ship")]
    assert [reason.message for reason in reasons] == [
        f"Step 'pay' waits for its callback until {_at(7200)} (in 2h).",
        "Step 'pack' waits for step 'pay'.",
        "Step 'ship' waits for step 'pack'. It is blocked: step 'pay' waits for its callback.",
    ]
    assert (reasons[0].since, reasons[0].until) == (NOON, NOON + 7200 * SECOND)
    assert reasons[2].details == {"waits_for": ["pack"], "blocked_by": ["pay"]}
    run.now += 7201 * SECOND
    assert _why(run, owned=False)[0].message == (
        f"Step 'pay' got no callback until {_at(7200)} (1s ago), and no node has taken the run yet."
    )
    assert _why(run)[0].message.endswith("its node is about to continue it.")


def test_a_wait_without_a_limit_lasts_as_long_as_its_run() -> None:
    run = play_steps({"pay": {"wait_for_webhook": {}}}, max_duration="1d")
    assert _why(run)[0].until == NOON + 86400 * SECOND
    endless = play(Graph((Step("pay", StepKind.WAIT, {"timeout": None}),)))
    assert _why(endless)[0].message == "Step 'pay' waits for its callback, without a time limit."


def test_a_wait_does_not_outlive_its_run() -> None:
    run = play_steps({"pay": {"wait_for_webhook": {"timeout": "2d"}}}, max_duration="1d")
    assert _why(run)[0].until == NOON + 86400 * SECOND


def test_a_sleep_and_a_delay_say_until_when() -> None:
    steps = (Step("nap", StepKind.SLEEP, {"seconds": 60}), Step("late", StepKind.ACTION, delay=30.0))
    run = play(Graph(steps))
    assert [(reason.kind, reason.message) for reason in _why(run, owned=False)] == [
        ("sleep", f"Step 'nap' sleeps until {_at(60)} (in 1m)."),
        ("sleep", f"Step 'late' begins after its delay, at {_at(30)} (in 30s)."),
    ]
    run.now += 60 * SECOND
    assert _why(run, owned=False)[1].message == (
        f"Step 'nap' has slept until {_at(60)} (less than 1s ago), and no node has taken the run yet."
    )


def test_a_retry_says_which_it_is_and_what_went_wrong() -> None:
    run = play_steps({"a": {"retries": {"attempts": 5, "delay": "10s", "jitter": False}}})
    run.fail("a", 503, retry=True)
    (reason,) = _why(run)
    assert reason.message == (
        f"Step 'a' failed and is tried again at {_at(10)} (in 10s): retry 1 of 5. "
        "Last error: it failed with http_status."
    )
    assert reason.details == {
        "attempt": 2,
        "attempts": 6,
        "retry": 1,
        "retries": 5,
        "last_error": {"code": "http_status", "message": "it failed with http_status"},
    }
    run.now += 15 * SECOND
    (due,) = _why(run)
    assert (due.kind, due.message) == ("running", f"Step 'a' is running: attempt 2, since {_at(10)} (5s ago).")
    assert _kinds(_why(run, owned=False)) == [("ready", "a")]


def test_a_step_that_may_start_is_running_if_a_node_has_the_run() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    run.now += 90 * SECOND
    reasons = _why(run)
    assert _kinds(reasons) == [("running", "a"), ("needs", "b")]
    assert reasons[0].message == f"Step 'a' is running: attempt 1, since {_at(0)} (1m 30s ago)."
    left = _why(run, owned=False)
    assert _kinds(left) == [("ready", "a"), ("needs", "b")]
    assert left[0].message == "Step 'a' is ready, and no node has taken the run yet."


def test_a_live_state_knows_what_runs_without_being_told() -> None:
    run = play_steps({"a": {}})
    assert _kinds(why(run.prepared, run.state, run.now, owned=False)) == [("running", "a")]


def test_a_pause_comes_first_and_says_who_and_since_when() -> None:
    run = play_steps({"nap": {"sleep": "1h"}, "a": {}, "b": {"needs": ["a"]}})
    run.now += SECOND
    run.pause("ann@example.com")
    run.succeed("a")
    reasons = _why(run)
    assert _kinds(reasons) == [("paused", None), ("ready", "b"), ("sleep", "nap")]
    assert reasons[0].message == "The run is paused by ann@example.com: nothing new starts until it is resumed."
    assert (reasons[0].since, reasons[0].details) == (NOON + SECOND, {"by": "ann@example.com"})
    assert reasons[1].message == "Step 'b' is ready, and starts when the run is resumed."


def test_a_step_that_paused_its_run_is_named_with_what_went_wrong() -> None:
    run = play_steps({"charge": {}, "ship": {"needs": ["charge"]}})
    run.attempt("charge", Pause("its card was refused", StepError("exception", "ValueError: no")))
    reasons = _why(run)
    assert _kinds(reasons) == [("paused", None), ("ready", "charge"), ("needs", "ship")]
    assert reasons[0].message == (
        "Step 'charge' paused the run: its card was refused. Error: ValueError: no. "
        "Resume the run to try the step again, or skip the step."
    )
    assert reasons[0].details == {
        "by": "its card was refused",
        "step": "charge",
        "last_error": {"code": "exception", "message": "ValueError: no"},
    }


def test_a_step_whose_credential_needs_a_person_says_that_the_run_goes_on_by_itself() -> None:
    run = play_steps({"charge": {}})
    run.attempt("charge", Pause("credential", StepError("reconnect", "run `detent credentials connect crm`")))
    assert _why(run)[0].message == (
        "Step 'charge' paused the run: credential. Error: run `detent credentials connect crm`. "
        "The run goes on by itself when that is done."
    )


def test_a_step_that_asked_to_be_tried_again_says_when_and_which_attempt_it_will_be() -> None:
    run = play(Graph((Step("poll", StepKind.PYTHON),)))
    run.attempt("poll", Reattempt(60.0))
    (reason,) = _why(run)
    assert (reason.kind, reason.message) == ("retry", f"Step 'poll' is tried again at {_at(60)} (in 1m): attempt 2.")


def test_a_run_that_was_finished_says_by_whom() -> None:
    run = play(Graph((Step("a", StepKind.PYTHON), Step("b", StepKind.PYTHON))))
    run.attempt("b", Finish(b"{}"))
    assert _why(run)[0].message == f"The run is over: step 'b' finished it at {_at(0)}; open steps were skipped."
    other = play(Graph((Step("a", StepKind.PYTHON),)))
    other.finish()
    assert _why(other)[0].message == f"The run is over: a user finished it at {_at(0)}; open steps were skipped."


def test_a_step_in_doubt_asks_for_a_word() -> None:
    steps = (Step("charge", StepKind.ACTION, on_crash=OnCrash.ASK), Step("ship", StepKind.ACTION))
    run = play(Graph(steps, (Edge("charge", "ship"),)))
    run.crash()
    reasons = _why(run, owned=False)
    assert _kinds(reasons) == [("uncertain", "charge"), ("needs", "ship")]
    assert reasons[0].message == (
        "It is unknown whether step 'charge' happened: its node died during attempt 1. "
        "Resolve the step, or resume the run to try it again."
    )


def test_a_suspect_step_says_why_it_is_and_what_it_waits_for() -> None:
    run = play_steps({"a": {}, "b": {}})
    run.crash()
    run.crash()
    reasons = _why(run)
    assert _kinds(reasons) == [("suspect", "a"), ("suspect", "b")]
    assert reasons[0].message == (
        "Step 'a' is suspect: its run lost its node 2 times without progress. "
        f"It starts after a delay, at {_at(1)} (in 1s), when no other suspect attempt is in flight."
    )
    assert reasons[0].until == NOON + SECOND
    assert reasons[0].details == {"attempt": 3, "adoptions": 2, "strikes": 0, "waits_for": "delay"}
    run.sleep(1)
    reasons = _why(run)
    assert _kinds(reasons) == [("suspect", "b"), ("running", "a")]
    assert reasons[0].message.endswith(
        "It waits for its turn: a node makes the attempts of suspect runs one at a time."
    )
    assert reasons[0].details["waits_for"] == "turn"
    assert _why(run, owned=False)[1].message.endswith("No node has taken the run yet.")


def test_a_struck_step_says_how_often() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}})
    run.crash()
    run.crash()
    run.strike("a")
    reasons = _why(run)
    assert reasons[0].message.startswith("Step 'a' is suspect: its node died once while it was in flight.")
    assert reasons[-1].message.endswith("It is blocked: step 'a' is suspect and has not been started.")
    run.strike("a")
    assert "died 2 times" in _why(run)[0].message
    run.pause()
    assert _kinds(_why(run))[:2] == [("paused", None), ("retry", "a")]


def test_an_ended_run_says_how_it_ended() -> None:
    run = play_steps({"a": {}})
    run.fail("a", 500)
    (reason,) = _why(run)
    assert (
        reason.message == f"The run is over: it ended failed at {_at(0)}. Step 'a' failed: it failed with http_status."
    )
    cancelled = play_steps({"a": {}})
    cancelled.cancel()
    assert _why(cancelled)[0].details == {"status": "cancelled"}


def test_a_join_names_all_it_waits_for_and_what_is_deepest() -> None:
    tasks: dict[str, Any] = {"nap": {"sleep": "1h"}, "mid": {"needs": ["nap"]}, "a": {}}
    run = play_steps({**tasks, "join": {"needs": ["mid", "a"]}})
    reasons = {reason.step: reason for reason in _why(run)}
    assert reasons["join"].message == ("Step 'join' waits for steps 'mid' and 'a'. It is blocked: step 'nap' sleeps.")
    assert reasons["join"].details["blocked_by"] == ["nap", "a"]


def _wide(size: int) -> Play:
    names = [f"s{number}" for number in range(size)]
    steps = [Step(name, StepKind.ACTION) for name in names]
    return play(Graph((*steps, Step("join", StepKind.ACTION)), tuple(Edge(name, "join") for name in names)))


def test_a_long_list_ends_in_a_count() -> None:
    reasons = _why(_wide(99))
    assert len(reasons) == LONGEST + 1
    assert (reasons[-1].message, reasons[-1].details) == ("50 more steps have not ended.", {"more": 50})
    few = _why(_wide(7))
    assert few[-1].message == "Step 'join' waits for steps 's0', 's1', 's2', 's3', 's4' and 2 more."
    assert _why(_wide(50))[-1].message == "1 more step has not ended."


def test_the_work_to_explain_a_run_grows_no_faster_than_the_run() -> None:
    def work(run: Play) -> int:
        return calls_in(lambda: why(run.prepared, run.state, run.now, owned=True))

    assert work(_wide(10_000)) < 12 * work(_wide(1_000))


BLOCKING = {
    Phase.READY: {"ready", "running", "child"},
    Phase.RUNNING: {"running", "child"},
    Phase.CHILD: {"child"},
    Phase.RETRYING: {"retry", "sleep", "ready", "running"},
    Phase.SLEEPING: {"sleep"},
    Phase.WAITING: {"callback"},
    Phase.CHILD: {"child"},
    Phase.UNCERTAIN: {"uncertain"},
    Phase.PENDING: {"needs"},
}


def _check(run: Play, *, owned: bool) -> None:
    state = fold(run.version, run.facts, run.opening, run.entries)
    reasons = why(run.prepared, state, run.now, owned=owned)
    assert reasons == why(run.prepared, state, run.now, owned=owned), "asking changes nothing"
    assert reasons, "there is always a reason"
    assert all(reason.message.endswith(".") for reason in reasons)
    if state.is_over or state.opens_at is not None:
        return
    named = {reason.step: reason for reason in reasons if reason.step is not None}
    steps = [step for step in run.prepared.steps if state.phase[step.index] is not Phase.ENDED]
    assert set(named) == {step.name for step in steps}
    for step in steps:
        is_map = step.index in state.maps and named[step.name].kind != "suspect"
        expected = {"child"} if is_map else BLOCKING[state.phase[step.index]]
        assert named[step.name].kind in expected
    assert any(reason.kind == "paused" for reason in reasons) == (state.paused_by not in (None, "uncertain"))
    for reason in reasons:
        assert reason.kind != "needs" or {named[cause].kind for cause in reason.details["blocked_by"]} - {"needs"}
    kinds = [reason.kind == "needs" for reason in reasons]
    assert kinds == sorted(kinds), "what blocks comes first"


@given(RANDOMS, st.booleans())
@settings(max_examples=100)
def test_every_open_step_of_every_run_has_a_reason_that_fits_its_phase(rng: random.Random, owned: bool) -> None:
    world = some_world(rng)
    for _ in range(60):
        _check(world.play, owned=owned)
        if world.play.state.is_over:
            return
        world.step()


@given(RANDOMS)
@settings(max_examples=50)
def test_where_only_time_holds_a_run_up_the_reasons_name_its_next_wake(rng: random.Random) -> None:
    world = some_world(rng, trouble=0.0)
    run, expires = world.play, world.play.facts.expires_at
    for _ in range(60):
        if run.state.is_over:
            return
        reasons = [reason for reason in _why(run, owned=False) if reason.kind != "needs"]
        if all(reason.kind in ("sleep", "retry", "callback") for reason in reasons):
            times = [time for time in (expires, *(reason.until for reason in reasons)) if time is not None]
            times += run.state.notes.values()
            assert min(times, default=None) == run.state.next_wake()
        world.step()
