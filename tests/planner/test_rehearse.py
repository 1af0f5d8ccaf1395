"""A rehearsal says what a run would have done in another graph, with its recorded answers."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.planner.moves.rehearsal import Detour, ParameterDiff, Rehearsal, rehearse
from detent.planner.prepared import prepare
from detent.run.outcomes import Skip
from tests.planner.play import Play, graph_of, play_steps
from tests.planner.worlds import POLICIES, World, random_graph, some_version


def rehearsed(run: Play, tasks: dict[str, Any], **names: str) -> Rehearsal:
    return rehearse(run.prepared, run.state, prepare(graph_of(tasks)), names)


def order(**charge: Any) -> dict[str, Any]:
    return {
        "reserve": {},
        "charge": {"needs": ["reserve"], "body": {"sum": "{{ tasks.reserve.body.sum }}"}, **charge},
        "ship": {"needs": ["charge"]},
    }


def done() -> Play:
    run = play_steps(order())
    run.succeed("reserve", body={"sum": 7, "free": True})
    run.succeed("charge")
    run.succeed("ship")
    return run


def test_the_same_graph_takes_the_same_way_with_the_same_requests() -> None:
    assert rehearsed(done(), order()) == Rehearsal()


def test_a_changed_request_is_a_difference_of_that_field() -> None:
    found = rehearsed(done(), order(body={"sum": "{{ tasks.reserve.body.sum + 1 }}", "note": "x"}))
    assert found.diffs == [
        ParameterDiff("charge", "body.sum", "7", "8"),
        ParameterDiff("charge", "body.note", None, '"x"'),
    ]
    assert (found.detours, found.failures) == ([], [])


def test_a_step_that_would_be_skipped_is_a_detour_with_its_edge() -> None:
    run = done()
    found = rehearsed(run, {**order(), "charge": {**order()["charge"], "if": "tasks.reserve.body.free == false"}})
    assert found.detours == [
        Detour("charge", "success", "skipped", None),
        Detour("ship", "success", "skipped", "charge -> ship"),
    ]


def test_a_template_that_cannot_be_rendered_would_fail() -> None:
    found = rehearsed(done(), order(body="{{ tasks.reserve.body.nothing.such }}"))
    [failure] = found.failures
    assert failure.step == "charge"
    assert "nothing" in failure.message


def test_a_new_step_has_no_recorded_result_and_what_follows_stays_open() -> None:
    found = rehearsed(done(), {**order(), "new": {"needs": ["reserve"]}, "after": {"needs": ["new"]}})
    assert (found.new_steps, found.detours, found.failures) == (["new"], [], [])


def test_a_run_in_flight_is_rehearsed_as_far_as_it_came() -> None:
    run = play_steps({"a": {}, "nap": {"sleep": 60}, "b": {"needs": ["nap"]}})
    run.attempt("a", Skip())
    assert rehearsed(run, {"a": {}, "nap": {"sleep": 9}, "b": {"needs": ["nap"]}}) == Rehearsal()


def test_renamed_steps_are_followed() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    run.succeed("a")
    run.succeed("b")
    new = {"first": {"url": "https://shop.example/a"}, "b": {"needs": ["first"]}}
    assert rehearsed(run, new, a="first") == Rehearsal()


@given(st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_a_finished_run_takes_the_same_way_in_its_own_graph(rng: random.Random) -> None:
    run = World(random_graph(rng, policies=POLICIES), rng).live()
    assert rehearse(run.prepared, run.state, run.prepared, {}) == Rehearsal()


@given(st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_a_rehearsal_changes_nothing_of_the_run(rng: random.Random) -> None:
    run = World(random_graph(rng, policies=POLICIES), rng).live()
    graph, names = some_version(rng, run.prepared.graph)
    rehearse(run.prepared, run.state, prepare(graph), names)
    run.check_fold()
