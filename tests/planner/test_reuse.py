"""Retry and fork: what they take over from the run they come from, and that nothing of it happens again."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings

from detent.graph.model import Edge, Ending, FailurePolicy, Graph, Step, StepKind
from detent.planner import fork_plan, retry_plan
from detent.planner.scope import step_view
from detent.run import events
from detent.run.journal import decode_data, decode_opening
from detent.run.outcomes import result_of
from detent.run.plan import NOTHING
from tests.planner.play import Play, answer, play, play_again, play_steps
from tests.planner.worlds import RANDOMS, World, random_graph


def _retry(origin: Play) -> Play:
    return play_again(origin, retry_plan(origin.prepared, origin.state))


def _fork(origin: Play, step: str, edited: bytes | None = None) -> Play:
    return play_again(origin, fork_plan(origin.prepared, origin.state, origin.number(step), edited))


def _reused(run: Play) -> list[str | None]:
    return [entry.step for entry in run.entries if entry.kind == "reused"]


def _order() -> Play:
    """Reserve, then charge and print side by side, then ship after both."""
    tasks = {"reserve": {}, "charge": {"needs": ["reserve"]}, "print": {"needs": ["reserve"]}}
    return play_steps({**tasks, "ship": {"needs": ["charge", "print"]}}, {"body": {"order": 7}})


def _failed() -> Play:
    run = _order()
    run.succeed("reserve", 201, {"place": 3})
    run.fail("charge", 500)
    run.succeed("print")
    assert run.status == "failed"
    return run


def test_a_retry_runs_what_failed_and_what_depends_on_it() -> None:
    run = _retry(_failed())
    assert run.started == ["charge"]
    assert run.statuses() == {"reserve": "success", "charge": "running", "print": "success", "ship": "pending"}
    run.succeed("charge")
    run.succeed("ship")
    assert run.status == "completed"
    assert run.started == ["charge", "ship"]


def test_the_results_stand_first_in_the_new_journal_then_the_opening() -> None:
    origin = _failed()
    run = _retry(origin)
    assert [(entry.seq, entry.kind, entry.step) for entry in run.entries] == [
        (1, "reused", "reserve"),
        (2, "reused", "print"),
        (3, "opened", None),
    ]
    assert {entry.at for entry in run.entries} == {origin.now}
    assert decode_opening(run.opening).start == origin.now
    first = run.entries[0]
    assert (first.attempt, first.outcome) == (0, "success")
    assert bytes(decode_data(first.data).result) == origin.state.results[origin.number("reserve")]


def test_expressions_read_a_reused_result_like_any_other() -> None:
    tasks: dict[str, Any] = {"a": {}, "b": {"needs": ["a"], "body": {"n": "{{ tasks.a.body.n }}"}}}
    origin = play_steps(tasks)
    origin.succeed("a", 200, {"n": 5})
    origin.fail("b")
    run = _retry(origin)
    assert run.parameters("b")["body"] == {"n": 5}
    assert run.state.attempts[run.number("a")] == 0
    assert step_view(run.prepared, run.state, run.number("a")) == step_view(origin.prepared, origin.state, 0)


def test_what_depends_on_a_failure_runs_again_even_if_it_succeeded() -> None:
    tasks = {"a": {}, "b": {"needs": ["a"]}, "report": {"needs": ["b"], "if": "true"}, "other": {}}
    origin = play_steps(tasks)
    origin.fail("a")
    origin.succeed("other")
    origin.succeed("report")
    assert origin.statuses()["b"] == "skipped"
    assert _reused(_retry(origin)) == ["other"]


def test_a_success_behind_a_skipped_step_is_kept() -> None:
    tasks = {"no": {"if": "1 == 2"}, "after": {"needs": ["no"], "if": "true"}, "bad": {}}
    origin = play_steps(tasks)
    origin.succeed("after")
    origin.fail("bad")
    run = _retry(origin)
    assert _reused(run) == ["after"]
    assert run.statuses() == {"no": "skipped", "after": "success", "bad": "running"}


def test_steps_that_have_not_ended_run_again_with_all_that_depends_on_them() -> None:
    origin = _order()
    origin.succeed("reserve")
    origin.succeed("print")
    assert set(_reused(_retry(origin))) == {"reserve", "print"}
    origin.cancel()
    assert set(_reused(_retry(origin))) == {"reserve", "print"}


def test_a_reused_sleep_or_wait_is_over_at_once() -> None:
    tasks: dict[str, Any] = {
        "nap": {"sleep": "1h"},
        "w": {"wait_for_webhook": {"timeout": "1h"}, "needs": ["nap"]},
        "bad": {"needs": ["w"]},
    }
    origin = play_steps(tasks)
    origin.sleep(3600)
    origin.receive("w", {"paid": True})
    origin.fail("bad")
    run = _retry(origin)
    assert run.statuses() == {"nap": "success", "w": "received", "bad": "running"}
    assert run.active == {}
    assert run.state.next_timer() is None
    assert not run.data(0).result, "a sleep has no result"
    assert json.loads(run.state.results[run.number("w")])["body"] == {"paid": True}
    assert run.receive("w") is NOTHING


def test_a_delayed_step_is_kept_without_its_delay() -> None:
    steps = (Step("late", StepKind.ACTION, delay=60.0), Step("bad", StepKind.ACTION))
    origin = play(Graph(steps, (Edge("late", "bad"),)))
    origin.sleep(60)
    origin.give("late", 1)
    origin.fail("bad")
    run = _retry(origin)
    assert run.statuses() == {"late": "success", "bad": "running"}


def test_a_retry_of_a_retry_keeps_what_was_kept() -> None:
    again = _retry(_failed())
    again.fail("charge")
    third = _retry(again)
    assert _reused(third) == ["reserve", "print"]
    third.succeed("charge")
    third.succeed("ship")
    assert third.status == "completed"


@pytest.mark.case("K18")
def test_a_fork_runs_the_chosen_step_and_what_is_behind_it_and_nothing_else() -> None:
    origin = _order()
    for step in ("reserve", "charge", "print", "ship"):
        origin.succeed(step)
    run = _fork(origin, "charge")
    assert _reused(run) == ["reserve", "print"]
    run.succeed("charge")
    run.succeed("ship")
    assert run.started == ["charge", "ship"]
    assert run.status == "completed"


def test_a_fork_with_an_edited_output_does_not_run_the_step() -> None:
    origin = _order()
    for step in ("reserve", "charge", "print", "ship"):
        origin.succeed(step)
    run = _fork(origin, "charge", answer(200, {"paid": 1}))
    assert run.started == ["ship"]
    assert json.loads(run.state.results[run.number("charge")])["body"] == {"paid": 1}


def test_an_edited_output_may_take_another_way() -> None:
    tasks = {
        "ask": {},
        "yes": {"needs": ["ask"], "if": "tasks.ask.body == 'y'"},
        "no": {"needs": ["ask"], "if": "tasks.ask.body == 'n'"},
    }
    origin = play_steps(tasks)
    origin.succeed("ask", body="y")
    origin.succeed("yes")
    run = _fork(origin, "ask", answer(200, "n"))
    assert run.statuses() == {"ask": "success", "yes": "skipped", "no": "running"}


def test_a_fork_keeps_a_success_behind_a_failure_that_is_not_behind_the_step() -> None:
    tasks = {"x": {}, "bad": {}, "tidy": {"needs": ["bad"], "if": "true"}}
    origin = play_steps(tasks)
    origin.fail("bad")
    origin.succeed("tidy")
    origin.succeed("x")
    run = _fork(origin, "x")
    assert _reused(run) == ["tidy"]
    assert run.started == ["x", "bad"]
    assert run.statuses()["tidy"] == "pending", "it is not reached yet"
    run.cancel()
    assert _reused(_fork(run, "x")) == ["tidy"], "what was kept and not reached is still kept"


def test_a_result_is_reused_only_before_the_run_is_open() -> None:
    run = play_steps({"a": {}})
    assert run.tell(events.Reused(0, b"{}")) is NOTHING
    again = play_again(run, retry_plan(run.prepared, run.state))
    assert again.tell(events.Reused(0, b"{}")) is NOTHING


def test_a_retry_that_reuses_everything_is_over_as_it_begins() -> None:
    origin = play_steps({"a": {}, "b": {"needs": ["a"]}})
    origin.succeed("a", body=1)
    origin.succeed("b", body=2)
    run = _retry(origin)
    assert (run.status, run.output, run.started) == ("completed", 2, [])


def test_a_retry_survives_a_crash_and_keeps_its_numbers() -> None:
    run = _retry(_failed())
    run.crash()
    assert run.started == ["charge"]
    assert run.state.attempt_number(run.number("charge")) == 2


# -- for every graph and every life


def _above(graph: Graph, name: str) -> set[str]:
    """Every step this one depends on, directly or through others."""
    direct = {edge.source for edge in graph.edges if edge.target == name}
    return direct.union(*(_above(graph, source) for source in direct))


def _endings(run: Play) -> dict[str, Ending | None]:
    return {step.name: run.state.ending[step.index] for step in run.prepared.steps}


def _some_life(rng: random.Random) -> Play:
    """A run somewhere in its life, or at its end."""
    world = World(random_graph(rng), rng, trouble=rng.choice((0.0, 0.2)))
    if rng.random() < 0.7:
        return world.live()
    for _ in range(rng.randint(0, 12)):
        if not world.play.state.is_over:
            world.step()
    return world.play


@given(RANDOMS)
@settings(max_examples=200)
def test_a_retry_reuses_exactly_the_successes_that_rest_on_success(rng: random.Random) -> None:
    origin = _some_life(rng)
    found, graph = _endings(origin), origin.prepared.graph
    fine = (Ending.SUCCESS, Ending.SKIPPED)
    expected = {
        name: origin.state.results.get(origin.number(name), b"")
        for name, ending in found.items()
        if ending is Ending.SUCCESS and all(found[above] in fine for above in _above(graph, name))
    }
    reuse = retry_plan(origin.prepared, origin.state)
    assert {origin.prepared.steps[index].name: result for index, result in reuse.results.items()} == expected
    run = play_again(origin, reuse)
    if graph.on_failure is FailurePolicy.SETTLE and origin.prepared is origin.version:
        assert all(run.state.ending[index] is Ending.SUCCESS for index in reuse.results)


@given(RANDOMS)
@settings(max_examples=200)
def test_what_is_reused_never_starts_sleeps_or_waits(rng: random.Random) -> None:
    origin = _some_life(rng)
    prepared = origin.prepared
    chosen = rng.randrange(len(prepared.steps))
    edited = rng.choice((None, result_of(prepared.steps[chosen].kind)))
    reuse = rng.choice((retry_plan(prepared, origin.state), fork_plan(prepared, origin.state, chosen, edited)))
    world = World(prepared.graph, rng, trouble=0.1, reuse=reuse)
    run = world.live()
    kept = {prepared.steps[index].name for index in reuse.results}
    assert not kept & set(run.started)
    assert not kept & set(run.active)
    for entry in run.entries:
        decided = decode_data(entry.data).decided
        assert decided is None or not kept & {*decided.sleep, *decided.wait}
    ended = (Ending.SUCCESS, Ending.SKIPPED, Ending.CANCELLED, Ending.FAILED)
    for index in (run.number(name) for name in kept if name in run.prepared.numbers):
        assert run.state.ending[index] in ended
        assert not run.state.attempts[index]


@pytest.mark.case("K18")
@given(RANDOMS)
@settings(max_examples=200)
def test_a_fork_starts_only_what_is_behind_the_step_or_did_not_succeed(rng: random.Random) -> None:
    origin = World(random_graph(rng), rng).live()
    graph, found = origin.prepared.graph, _endings(origin)
    chosen = rng.choice(graph.steps).name
    behind = {name for name in found if chosen in _above(graph, name)}
    edited = rng.choice((None, b'{"output":3}'))
    reuse = fork_plan(origin.prepared, origin.state, origin.number(chosen), edited)
    kept = {origin.prepared.steps[index].name for index in reuse.results}
    succeeded = {name for name, ending in found.items() if ending is Ending.SUCCESS}
    assert kept == (succeeded - behind - {chosen}) | ({chosen} if edited else set())
    run = World(graph, rng, reuse=reuse).live()
    may_run = behind | {chosen} | (set(found) - succeeded)
    assert set(run.started) <= may_run - kept
