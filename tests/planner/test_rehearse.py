"""A rehearsal says what a run would have done in another graph, with its recorded answers."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings

from detent.planner.moves.rehearsal import Detour, ParameterDiff, Rehearsal, rehearse
from detent.planner.prepared import prepare
from detent.run.outcomes import Skip
from tests.planner.play import Play, graph_of, play_steps
from tests.planner.worlds import POLICIES, RANDOMS, World, random_graph, some_version


def rehearsed(run: Play, tasks: dict[str, Any], **names: str) -> Rehearsal:
    return rehearse(run.prepared, run.complete(), prepare(graph_of(tasks)), names, run.entries)


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


def test_a_list_is_compared_item_by_item_and_runs_that_differ_in_values_only_are_alike() -> None:
    found = rehearsed(done(), order(body={"sum": [1, "{{ tasks.reserve.body.sum }}"]}))
    assert found.diffs == [ParameterDiff("charge", "body.sum", "7", "[1, 7]")]
    run = play_steps(order(body={"sum": [1, "{{ tasks.reserve.body.sum }}", True]}))
    run.succeed("reserve", body={"sum": 7})
    run.succeed("charge")
    other = rehearsed(run, order(body={"sum": [1, "{{ tasks.reserve.body.sum + 1 }}", 1]}))
    assert [(diff.field, diff.old, diff.new) for diff in other.diffs] == [
        ("body.sum[1]", "7", "8"),
        ("body.sum[2]", "true", "1"),
    ]
    again = rehearsed(run, order(body={"sum": [1, "{{ tasks.reserve.body.sum + 2 }}", 1]}))
    assert (again == other, again.shape() == other.shape(), found.shape() == other.shape()) == (False, True, False)


def test_parameters_that_could_not_be_rendered_before_are_no_difference() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], "body": "{{ tasks.a.body.x }}"}})
    run.succeed("a", body={})
    run.fail("b", retry=False)
    found = rehearsed(run, {"a": {}, "b": {"needs": ["a"], "body": "fixed"}})
    assert (found.diffs, found.failures) == ([], [])


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


def each(items: str) -> dict[str, Any]:
    each = {"action": "core.echo", "for_each": items, "with": {"n": "{{ item }}"}, "needs": ["a"]}
    return {"a": {}, "each": each, "b": {"needs": ["each"]}}


def test_of_a_map_the_list_is_compared_and_not_what_an_item_reads() -> None:
    run = play_steps(each("{{ tasks.a.output.few }}"))
    run.give("a", {"few": [], "many": [1, 2]})
    run.give("b", 1)
    assert rehearsed(run, each("{{ tasks.a.output.few }}")) == Rehearsal()
    assert rehearsed(run, each("{{ tasks.a.output.many }}")).diffs == [
        ParameterDiff("each", "for_each", "[]", "[1, 2]")
    ]


def test_renamed_steps_are_followed() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    run.succeed("a")
    run.succeed("b")
    new = {"first": {"url": "https://shop.example/a"}, "b": {"needs": ["first"]}}
    assert rehearsed(run, new, a="first") == Rehearsal()


@given(RANDOMS)
@settings(max_examples=150)
def test_a_finished_run_takes_the_same_way_in_its_own_graph(rng: random.Random) -> None:
    run = World(random_graph(rng, policies=POLICIES), rng).live()
    assert rehearse(run.prepared, run.complete(), run.prepared, {}, run.entries) == Rehearsal()


def test_a_result_that_is_not_what_the_draft_repeats_for_would_be_asked_for_again() -> None:
    run = play_steps({"a": {"repeat": {"until": "result.body.n > 0", "every": 60}}})
    run.succeed("a", body={"n": 1})
    found = rehearsed(run, {"a": {"repeat": {"until": "result.body.n > 5", "every": 60}}})
    assert [failure.step for failure in found.failures] == ["a"]
    assert "would look again" in found.failures[0].message


@pytest.mark.parametrize("seed", [419, 624, 431, 254, 301])
def test_steps_end_in_the_order_of_the_record(seed: int) -> None:
    """A failure skips the steps that ended after it: in another order another step would be skipped."""
    rng = random.Random(seed)
    run = World(random_graph(rng, policies=POLICIES), rng).live()
    assert rehearse(run.prepared, run.complete(), run.prepared, {}, run.entries) == Rehearsal()


@given(RANDOMS)
@settings(max_examples=100)
def test_a_rehearsal_changes_nothing_of_the_run(rng: random.Random) -> None:
    run = World(random_graph(rng, policies=POLICIES), rng).live()
    graph, names = some_version(rng, run.prepared.graph)
    rehearse(run.prepared, run.complete(), prepare(graph), names, run.entries)
    run.check_fold()
