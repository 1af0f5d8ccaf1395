"""The stage of a parked run: the most telling of everything that it waits for, the same for its fold."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.graph.model import Graph, OnCrash, Retry, Step, StepKind
from detent.instant import SECOND
from detent.planner import fold
from detent.planner.stage import stage_of
from detent.run.outcomes import Pause, StepError
from detent.run.stage import RunStage, StageKind, stage_kind
from detent.run.state import ChildRun, Operation, Phase
from tests.planner.play import NOON, Play, graph_of, play, play_steps
from tests.planner.worlds import some_world

WAIT = {"wait_for_webhook": {"timeout": "2h"}}


def _stage(run: Play) -> RunStage | None:
    live = stage_of(run.prepared, run.state)
    assert live == stage_of(run.prepared, fold(run.version, run.facts, run.opening, run.entries))
    return live


def _steps() -> Play:
    """A step that works, a sleep, and a wait."""
    work = Step("call", StepKind.ACTION, retry=Retry(attempts=3))
    return play(Graph((work, Step("nap", StepKind.SLEEP, {"seconds": 60}), Step("ask", StepKind.WAIT)), ()))


def test_a_wait_tells_more_than_a_sleep_and_a_sleep_more_than_a_retry() -> None:
    run = _steps()
    assert _stage(run) is None, "a step works"
    run.fail("call", retry=True)
    assert _stage(run) == RunStage(StageKind.WAITING, "ask")
    run.receive("ask")
    assert _stage(run) == RunStage(StageKind.SLEEPING, "nap")
    run = play(Graph((Step("call", StepKind.ACTION, retry=Retry(attempts=3)),), ()))
    run.fail("call", retry=True)
    assert _stage(run) == RunStage(StageKind.RETRYING, "call")


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"approve": {"title": "Pay?"}}, StageKind.PERSON),
        ({"wait_for_webhook": {"buttons": [{"label": "Yes", "body": 1}]}}, StageKind.PERSON),
        ({"wait_for_webhook": {"form": {"type": "object", "properties": {"x": {"type": "string"}}}}}, StageKind.PERSON),
        ({"wait_for_webhook": {"schema": {"type": "object"}}}, StageKind.WAITING),
        ({"wait_for_webhook": {}}, StageKind.WAITING),
    ],
)
def test_a_wait_that_asks_people_says_so(block: dict[str, Any], kind: StageKind) -> None:
    assert _stage(play_steps({"ask": block})) == RunStage(kind, "ask")


def test_a_first_attempt_after_a_delay_sleeps() -> None:
    assert _stage(play(Graph((Step("late", StepKind.ACTION, delay=30.0),), ()))) == RunStage(StageKind.SLEEPING, "late")


def test_a_step_that_has_ended_is_not_named() -> None:
    run = _steps()
    run.receive("ask")
    run.skip("nap")
    run.fail("call", retry=True)
    assert _stage(run) == RunStage(StageKind.RETRYING, "call")


def test_a_step_waits_for_its_child() -> None:
    run = play(Graph((Step("page", StepKind.SUBWORKFLOW, {"workflow": "w"}),), ()))
    child = ChildRun(run.new_run(), None)
    run.state.running = 0
    run.state.child_of[0] = child
    run.state.set_timer(0, Phase.CHILD, None)
    assert stage_of(run.prepared, run.state) == RunStage(StageKind.CHILD, "page")


def test_a_paused_run_is_paused_whatever_its_steps_wait_for() -> None:
    run = play_steps({"ask": WAIT})
    run.pause()
    assert _stage(run) == RunStage(StageKind.PAUSED)


def test_an_uncertain_step_is_named() -> None:
    run = play(Graph((Step("charge", StepKind.ACTION, on_crash=OnCrash.ASK),), ()))
    run.crash()
    assert _stage(run) == RunStage(StageKind.UNCERTAIN, "charge")


def test_the_step_that_paused_its_run_is_named() -> None:
    run = play(Graph((Step("charge", StepKind.ACTION),), ()))
    run.attempt("charge", Pause("drift", StepError("drift", "the code has changed")))
    assert _stage(run) == RunStage(StageKind.PAUSED, "charge")


def test_a_run_that_begins_later_has_no_stage_of_its_own() -> None:
    assert _stage(play(graph_of({"a": {}}), opens_at=NOON + SECOND)) is None


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("@sleep#1", StageKind.SLEEPING),
        ("@timer:t#1", StageKind.SLEEPING),
        ("@wait:w#1", StageKind.WAITING),
        ("@ask:s#1", StageKind.WAITING),
        ("@child:c#1", StageKind.CHILD),
        ("charge", StageKind.RETRYING),
    ],
)
def test_a_function_waits_for_its_operations(key: str, kind: StageKind) -> None:
    run = play(Graph((Step("call", StepKind.ACTION, retry=Retry(attempts=3)),), ()))
    run.fail("call", retry=True)
    run.state.operations[key] = Operation(key, NOON + SECOND, None, 1, None, NOON)
    assert stage_of(run.prepared, run.state) == RunStage(kind, key)


def test_a_function_that_asks_people_says_so() -> None:
    run = play(Graph((Step("call", StepKind.ACTION, retry=Retry(attempts=3)),), ()))
    run.fail("call", retry=True)
    for key, asks in (("@wait:w#1", False), ("@wait:a#1", True)):
        run.state.operations[key] = Operation(key, None, None, 1, None, NOON, asks)
    assert stage_of(run.prepared, run.state) == RunStage(StageKind.PERSON, "@wait:a#1")


@given(st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_every_run_that_waits_says_for_what(rng: random.Random) -> None:
    world = some_world(rng)
    for _ in range(40):
        state = world.play.state
        if state.is_over:
            return
        found = stage_of(world.play.prepared, state)
        at_work = state.ready or state.running or state.opens_at is not None
        assert (found is None) == (state.paused_by is None and bool(at_work))
        world.step()


ROW: dict[str, Any] = {"status": "running", "owned": False, "wake_at": 20, "stage": None, "is_current": True, "now": 10}


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({}, StageKind.SLEEPING),
        ({"wake_at": None}, StageKind.WAITING),
        ({"wake_at": 10}, StageKind.QUEUED),
        ({"owned": True}, StageKind.RUNNING),
        ({"owned": True, "stage": "child"}, StageKind.RUNNING),
        ({"status": "pending"}, StageKind.DELAYED),
        ({"status": "pending", "wake_at": 9}, StageKind.QUEUED),
        ({"status": "paused"}, StageKind.PAUSED),
        ({"status": "paused", "owned": True, "stage": "uncertain"}, StageKind.PAUSED),
        ({"status": "paused", "stage": "uncertain"}, StageKind.UNCERTAIN),
        ({"status": "paused", "stage": "uncertain", "is_current": False}, StageKind.PAUSED),
        ({"stage": "child"}, StageKind.CHILD),
        ({"stage": "queued"}, StageKind.QUEUED),
        ({"stage": "child", "wake_at": 9}, StageKind.QUEUED),
        ({"stage": "child", "is_current": False}, StageKind.SLEEPING),
        ({"stage": "a word of newer code"}, StageKind.SLEEPING),
    ],
)
def test_the_stage_of_a_row_never_says_more_than_the_row_knows(row: dict[str, Any], kind: StageKind) -> None:
    assert stage_kind(**{**ROW, **row}) is kind
