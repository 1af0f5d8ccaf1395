"""A run in flight is moved to another version, or the move is refused with the reason."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from detent.graph.model import FAILURES, ON_ANY, Edge, FailurePolicy, Graph, Step, StepKind
from detent.instant import SECOND
from detent.planner.maps import page_of
from detent.planner.moves.version import Movable, MoveWish, Refused, check_move, versions_in
from detent.planner.prepared import prepare
from detent.run.journal import Page
from detent.run.outcomes import Pause, Skip
from detent.run.state import Phase, RunState
from tests.planner.play import NOON, Play, facts_of, failure, graph_of, play, play_steps, settled
from tests.planner.worlds import ALL_POLICIES, RANDOMS, World, random_graph, some_version, with_limit


def moved(run: Play, tasks: Mapping[str, Any], names: Mapping[str, str] | None = None, **document: Any) -> Movable:
    found = run.move_to(graph_of(tasks, **document), names)
    assert isinstance(found, Movable), found
    return found


def refused(run: Play, tasks: Mapping[str, Any], names: Mapping[str, str] | None = None, **document: Any) -> list[str]:
    """Let a move be refused, and check that the run goes on as before."""
    before, was = run.state, run.statuses()
    found = run.move_to(graph_of(tasks, **document), names)
    assert isinstance(found, Refused), found
    assert (run.entries[-1].kind, run.entries[-1].outcome) == ("moved", "refused")
    error = run.data().error
    assert error is not None
    assert error.message == found.in_words()
    assert run.statuses() == was
    assert run.state.ending == before.ending
    return [reason.message for reason in found.reasons]


def a_then(**more: Any) -> dict[str, Any]:
    return {"a": {}, "b": {"needs": ["a"]}, **more}


def test_a_page_of_a_map_is_not_moved() -> None:
    graph = graph_of({"m": {"for_each": [1, 2]}})
    page = Play(page_of(prepare(graph), Page("m", 0, 2)), facts_of(graph, {"body": {"items": [1, 2]}, "outer": {}}))
    words = "the run is a page of the map 'm'; move the run that has the map"
    assert refused(page, {"i0": {}, "i1": {}}) == [words]


# -- what is carried


def test_a_new_step_behind_the_frontier_runs_when_its_time_comes() -> None:
    run = play_steps(a_then())
    run.succeed("a")
    found = moved(run, a_then(c={"needs": ["b"]}))
    assert found.begins == ()
    assert run.statuses() == {"a": "success", "b": "running", "c": "pending"}
    run.succeed("b")
    run.succeed("c")
    assert run.status == "completed"
    assert run.started == ["a", "b", "b", "c"], "only what was in flight was started again"
    assert versions_in(run.entries) == [1, 2]


def test_a_new_step_beside_the_frontier_begins_at_once() -> None:
    run = play_steps(a_then())
    run.succeed("a", body=7)
    found = moved(run, a_then(c={"needs": ["a"], "url": "https://shop.example/{{ tasks.a.body }}"}))
    assert found.begins == ("c",)
    assert run.parameters("c")["url"] == "https://shop.example/7"


def test_a_sleep_keeps_its_time_and_a_retry_its_attempts() -> None:
    slow = {"retries": {"attempts": 2, "delay": 60, "jitter": False}}
    run = play_steps({"nap": {"sleep": "1h"}, "call": slow})
    run.attempt("call", failure())
    run.sleep(30)
    moved(run, {"nap": {"sleep": "5h"}, "call": slow, "after": {"needs": ["nap"]}})
    assert (run.until("nap"), run.until("call")) == (3570, 30)
    run.sleep(30)
    run.attempt("call", failure())
    run.sleep(120)
    run.attempt("call", failure())
    assert run.statuses()["call"] == "failed", "three attempts in all"
    run.sleep(3_570)
    assert run.statuses()["after"] == "running"


def test_a_wait_keeps_its_time_and_takes_its_callback() -> None:
    run = play_steps({"ask": {"wait_for_webhook": {"timeout": "2h"}}})
    run.sleep(60)
    found = moved(run, {"ask": {"wait_for_webhook": {"timeout": "9h"}}, "next": {"needs": ["ask"]}})
    assert (found.activated, found.opened, found.closed) == ((), (), ())
    assert run.until("ask") == 7_140
    run.receive("ask", {"paid": True})
    assert run.statuses() == {"ask": "received", "next": "running"}


def test_callbacks_of_new_waits_are_opened_and_those_of_gone_ones_closed() -> None:
    wait = {"wait_for_webhook": {"timeout": "2h"}}
    run = play_steps({"a": {}, "old": {"needs": ["a"], **wait}, "same": {"needs": ["a"], **wait}})
    found = moved(run, {"a": {}, "new": {"needs": ["a"], **wait}, "same": {"needs": ["a"], **wait}})
    assert ([step.name for step in found.opened], found.closed) == (["new"], ("old",))
    run.succeed("a")
    assert set(run.active) == {"new", "same"}


def test_the_callback_of_a_wait_that_the_new_version_skips_is_closed() -> None:
    wait = {"wait_for_webhook": {"timeout": "2h"}}
    run = play_steps({"nap": {"sleep": 9}, "ask": {"needs": ["nap"], **wait}})
    found = moved(run, {"nap": {"sleep": 9}, "ask": {"if": "1 == 2", **wait}, "new": {"if": "1 == 2", **wait}})
    assert (found.closed, [step.name for step in found.opened]) == (("ask", "new"), ["new"])
    assert run.statuses() == {"nap": "sleeping", "ask": "skipped", "new": "skipped"}


def test_a_wait_whose_callback_was_closed_cannot_come_back() -> None:
    wait = {"wait_for_webhook": {"timeout": "2h"}}
    run = play_steps({"a": {}, "ask": {"needs": ["a"], **wait}, "done": wait})
    run.receive("done")
    moved(run, {"a": {}})
    [words] = refused(run, {"a": {}, "ask": {"needs": ["a"], **wait}, "done": wait})
    assert words == "'ask' was a wait of this run before, and its URL is closed; give the wait another name"
    found = moved(run, {"a": {}, "other": {"needs": ["a"], **wait}, "done": wait})
    assert [step.name for step in found.opened] == ["other"]
    assert run.statuses()["done"] == "received"


def test_an_early_callback_is_taken_along() -> None:
    tasks: dict[str, Any] = {"a": {}, "ask": {"needs": ["a"], "wait_for_webhook": {"timeout": "2h"}}}
    run = play_steps(tasks)
    run.receive("ask", 1)
    moved(run, {**tasks, "z": {}})
    run.succeed("a")
    assert run.statuses()["ask"] == "received"


def test_a_renamed_step_is_the_same_step() -> None:
    run = play_steps(a_then())
    run.succeed("a", body=1)
    names = {"a": "first", "b": "second"}
    moved(run, {"first": {}, "second": {"needs": ["first"]}, "third": {"needs": ["second"]}}, names)
    assert run.statuses() == {"first": "success", "second": "running", "third": "pending"}
    assert run.data().names == names
    run.succeed("second")
    moved(run, {"first": {}, "second": {"needs": ["first"]}, "third": {"needs": ["second"]}, "x": {}})
    assert run.statuses() == {"first": "success", "second": "success", "third": "running", "x": "running"}


def test_a_step_that_ended_and_went_does_not_run_again_when_it_comes_back() -> None:
    run = play_steps(a_then())
    run.succeed("a", body=5)
    moved(run, {"b": {}})
    assert run.statuses() == {"b": "running"}
    moved(run, a_then())
    assert run.statuses() == {"a": "success", "b": "running"}
    assert run.state.results[run.number("a")]


def test_a_run_that_has_not_begun_is_moved() -> None:
    run = play(graph_of({"a": {}}), opens_at=NOON + 60 * SECOND)
    moved(run, a_then())
    assert run.statuses() == {"a": "pending", "b": "pending"}
    run.open()
    run.succeed("a")
    run.succeed("b")
    assert run.status == "completed"


def test_a_paused_run_stays_paused_and_goes_on_in_the_new_version() -> None:
    run = play_steps(a_then())
    run.attempt("a", Pause("it must wait"))
    moved(run, a_then(c={}))
    assert (run.status, run.state.paused_by) == ("paused", "it must wait")
    assert run.state.paused_step == run.number("a")
    run.resume()
    assert run.statuses() == {"a": "running", "b": "pending", "c": "running"}


def test_what_a_user_skipped_stays_skipped() -> None:
    run = play_steps(a_then(c={"needs": ["b"], "if": "1 == 1"}))
    run.skip("a")
    moved(run, a_then(c={"needs": ["b"], "if": "1 == 1"}, d={}))
    assert run.statuses()["a"] == "skipped"
    assert run.number("a") in run.state.left_out


def test_a_condition_that_read_the_time_is_not_answered_again() -> None:
    edges = (
        Edge("a", "join", condition="now() < '2026-12-01T00:00:00.000Z'"),
        Edge("other", "join"),
    )
    steps = (Step("a", StepKind.ACTION), Step("other", StepKind.ACTION), Step("join", StepKind.ACTION))
    run = play(Graph(steps, edges, language=2))
    run.give("a", 1)
    run.now += 400 * 86_400 * SECOND
    found = run.move_to(Graph((*steps, Step("more", StepKind.ACTION)), edges, language=2))
    assert isinstance(found, Movable), found
    run.give("other", 1)
    assert run.statuses()["join"] == "running"


# -- what is refused


def test_a_new_step_before_one_that_has_run_is_refused() -> None:
    run = play_steps(a_then())
    run.succeed("a")
    run.now += SECOND
    words = refused(run, {"new": {}, "a": {"needs": ["new"]}, "b": {"needs": ["a"]}})
    assert words == [
        "'a' ended success, but in version 2 'new' must end before it",
        "'b' is about to run, but in version 2 'a' must end before it",
    ]
    run.succeed("b")
    assert run.status == "completed"


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ({"a": {}}, "'nap' is sleeping, and version 2 has no step of that name"),
        ({"a": {}, "nap": {"needs": ["a"]}}, "'nap' is sleeping: it is of kind sleep, and of kind http in version 2"),
        ({"a": {}, "nap": {"needs": ["a"], "sleep": 9, "if": "1 == 2"}}, "'nap' is sleeping, and would be skipped"),
        (
            {"a": {}, "nap": {"needs": ["a"], "sleep": 9, "if": "trigger.body.y == 1"}},
            "a condition before 'nap' cannot be evaluated: 'y' is not in trigger.body",
        ),
        ({"a": {"if": "1 == 2"}, "nap": {"needs": ["a"], "sleep": 9}}, "'a' has run, and would be skipped"),
    ],
)
def test_a_step_with_no_place_in_the_new_version_is_refused(tasks: dict[str, Any], words: str) -> None:
    run = play_steps({"a": {}, "nap": {"needs": ["a"], "sleep": 60}})
    run.succeed("a")
    assert refused(run, tasks)[0].startswith(words)
    run.sleep(60)
    assert run.status == "completed"


def test_a_step_that_was_skipped_and_would_run_is_refused() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], "if": "1 == 2"}, "c": {"needs": ["a"]}})
    run.succeed("a")
    assert run.statuses()["b"] == "skipped"
    words = refused(run, {"a": {}, "b": {"needs": ["a"], "if": "1 == 1"}, "c": {"needs": ["a"]}})
    assert words == ["'b' was skipped, and would run"]


def test_an_active_wait_cannot_be_renamed_and_a_received_callback_is_not_left_behind() -> None:
    wait = {"wait_for_webhook": {"timeout": "2h"}}
    run = play_steps({"ask": wait})
    [words] = refused(run, {"question": wait}, {"ask": "question"})
    assert words == "'ask' is waiting for its callback: it cannot be renamed, because its name is part of the URL"
    early = play_steps({"a": {}, "ask": {"needs": ["a"], **wait}})
    early.receive("ask")
    [words] = refused(early, {"a": {}})
    assert "its callback has arrived already" in words


def failing_fast(*names: str, edges: tuple[Edge, ...] = ()) -> Graph:
    return Graph(tuple(Step(name, StepKind.ACTION) for name in names), edges, on_failure=FailurePolicy.FAIL_FAST)


def test_a_run_that_fails_or_would_fail_is_not_moved() -> None:
    run = play(failing_fast("bad", "other"))
    run.fail("bad")
    assert run.state.failing
    found = run.move_to(failing_fast("bad", "other", "more"))
    assert isinstance(found, Refused)
    assert found.in_words().startswith("'bad' has failed: the run is failing")
    run = play(failing_fast("bad", "mend", "other", edges=(Edge("bad", "mend", FAILURES),)))
    run.fail("bad")
    assert not run.state.failing
    found = run.move_to(failing_fast("bad", "mend", "other"))
    assert isinstance(found, Refused)
    assert found.in_words() == "'bad' has failed, and in version 2 no edge takes its failure: the run would fail"


def test_wrong_names_are_refused() -> None:
    run = play_steps({"a": {}, "b": {}})
    assert refused(run, {"a": {}, "b": {}}, {"x": "a", "a": "y"}) == [
        "'x' cannot be renamed: the run has no step of that name",
        "'a' cannot become 'y': version 2 has no step of that name",
    ]
    assert refused(run, {"a": {}, "b": {}}, {"a": "b"}) == ["'a' and 'b' would both become 'b'"]


def test_an_ended_run_and_python_code_are_not_moved() -> None:
    run = play_steps({"a": {}})
    run.succeed("a")
    new = prepare(graph_of(a_then()))
    found = check_move(run.prepared, run.state, new, MoveWish(2, 1), run.now)
    assert isinstance(found, Refused)
    assert found.in_words() == "the run has ended (completed); retry it on version 2 instead"
    code = play(Graph((Step("a", StepKind.PYTHON),)))
    found = check_move(code.prepared, code.state, new, MoveWish(2, 1), run.now)
    assert isinstance(found, Refused)
    assert "Python code" in found.in_words()
    same = check_move(new, new.new_state(run.facts), new, MoveWish(2, 2), run.now)
    assert isinstance(same, Refused)
    assert same.in_words() == "the run has version 2 already"


def test_a_changed_answer_of_a_condition_step_is_refused() -> None:
    def asking(expression: str) -> Graph:
        steps = (
            Step("a", StepKind.ACTION),
            Step("is", StepKind.CONDITION, {"expression": expression}),
            Step("b", StepKind.ACTION),
        )
        return Graph(steps, (Edge("a", "is"), Edge("is", "b", ON_ANY)))

    run = play(asking("tasks.a.output == 1"))
    run.give("a", 1)
    found = run.move_to(asking("tasks.a.output == 2"))
    assert isinstance(found, Refused)
    assert found.in_words() == "'is' was answered, and would be answered otherwise"
    assert isinstance(run.move_to(asking("tasks.a.output > 0")), Movable)


# -- random graphs


def _active(run: Play) -> dict[str, Any]:
    """What must not change of the steps of a run when it is moved."""
    return _active_in(run.state, run.prepared.numbers)


def _active_in(state: RunState, numbers: Mapping[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, index in numbers.items():
        phase = state.phase[index]
        if phase is Phase.ENDED:
            found[name] = (state.ending[index], state.results.get(index), state.errors.get(index), state.since[index])
        elif phase is not Phase.PENDING:
            number, until, child = state.attempt_number(index), state.until.get(index), state.child_of.get(index)
            if phase is Phase.CHILD:
                phase, until = Phase.READY, None  # it looks for its child again, which has the same time limit
            found[name] = (phase, until, number, state.since[index], state.begun.get(index), child)
    return found


def _some_life(rng: random.Random, graph: Graph) -> World:
    world = World(graph, rng, trouble=0.2, checks=False, later=rng.random() < 0.1)
    world.codes = False
    for _ in range(rng.randint(0, 15)):
        if not world.play.state.is_over:
            world.once()
    return world


@given(RANDOMS)
@settings(max_examples=300)
def test_a_move_to_the_same_graph_is_allowed_and_changes_nothing(rng: random.Random) -> None:
    graph = random_graph(rng, policies=ALL_POLICIES)
    run = _some_life(rng, graph).play
    if run.state.is_over or run.state.failing:
        return
    run.reload(keeps_results=True)
    before = settled(run.state)
    before["unsure"] = frozenset(run.state.children)  # it looks for its children again
    found = run.move_to(graph)
    assert isinstance(found, Movable), found
    assert found.begins == ()
    after = settled(found.state)
    for state in (before, after):
        del state["seq"], state["moved_version"], state["old_waits"]
        del state["readers"], state["last"], state["readable"], state["readable_bytes"]  # they are counted later again
        state["failures"] = sorted(state["failures"])
        state["begun"] = sorted(state["begun"])
    assert after == before


@given(RANDOMS)
@settings(max_examples=200)
def test_a_new_last_step_never_forbids_a_move(rng: random.Random) -> None:
    graph = random_graph(rng, policies=ALL_POLICIES)
    run = _some_life(rng, graph).play
    if run.state.is_over or run.state.failing:
        return
    edges = tuple(Edge(step.name, "last", ON_ANY, order=99, otherwise=True) for step in graph.steps)
    found = run.move_to(replace(graph, steps=(*graph.steps, Step("last", StepKind.ACTION)), edges=graph.edges + edges))
    assert isinstance(found, Movable), found


def test_a_step_cannot_take_the_name_of_one_that_ended_before() -> None:
    """The name is part of the idempotency key: the receiver would take the second request for the first."""
    run = play_steps({"a": {}, "b": {}})
    run.succeed("a")
    assert isinstance(run.move_to(graph_of({"b": {}})), Movable)
    found = run.move_to(graph_of({"a": {}}), {"b": "a"})
    assert isinstance(found, Refused)
    assert found.in_words() == "'b' cannot become 'a': the run had a step of that name before, and it has ended"


def _move_at_random(world: World) -> bool:
    """Move the run to a version that differs in some places. Return whether it was allowed."""
    run = world.play
    graph, names = some_version(world.rng, run.prepared.graph)
    run.reload(keeps_results=True)
    world.looks.clear()  # nothing is in flight any more
    before, started = _active(run), len(run.started)
    found = run.move_to(graph, names)
    if isinstance(found, Refused):
        assert found.reasons
        return False
    run.started[started:] = []
    after = _active_in(found.state, run.prepared.numbers)
    gone = {name for name in before if names.get(name, name) not in run.prepared.numbers}
    for name, how in before.items():
        if name not in gone:
            assert after.pop(names.get(name, name)) == how
    fresh = {name for name, how in after.items() if isinstance(how[0], Phase)}
    assert fresh == set(found.begins)
    return True


def _live_with_moves(rng: random.Random, *, limited: bool = False) -> tuple[int, int]:
    graph = random_graph(rng, policies=ALL_POLICIES)
    graph = with_limit(graph, rng) if limited else graph
    world = World(graph, rng, trouble=0.15, later=rng.random() < 0.1)
    world.codes = False
    counts = [0, 0]
    for _ in range(3_000):
        run = world.play
        if run.state.is_over:
            break
        if rng.random() < 0.15:
            counts[_move_at_random(world)] += 1
        if not world.play.state.is_over:  # a step that begins by a move may fail at once
            world.once()
    assert world.play.state.is_over, "the run does not end"
    _check_no_step_ran_again(world.play)
    return counts[0], counts[1]


def _check_no_step_ran_again(run: Play) -> None:
    """Each step has one entry `ended`, under whatever name it had."""
    ended: set[str] = set()
    for entry, data in ((entry, run.data(place)) for place, entry in enumerate(run.entries)):
        if entry.kind == "moved" and entry.outcome is None:
            ended = {data.names.get(name, name) for name in ended}
        if entry.kind == "ended":
            assert entry.step is not None
            assert entry.step not in ended, f"{entry.step} ran again after it had ended"
            ended.add(entry.step)


@given(RANDOMS)
@settings(max_examples=150)
def test_a_run_with_random_moves_ends_and_its_journal_adds_up(rng: random.Random) -> None:
    _live_with_moves(rng)


def test_many_seeded_runs_are_moved_and_refused() -> None:
    refusals, moves = 0, 0
    for seed in range(300):
        no, yes = _live_with_moves(random.Random(seed), limited=seed % 3 == 0)
        refusals, moves = refusals + no, moves + yes
    assert min(refusals, moves) > 40, "the moves have become too easy or too hard"


def test_skips_by_code_are_carried() -> None:
    run = play_steps({"a": {}, "b": {}})
    run.attempt("a", Skip())
    moved(run, {"a": {}, "b": {}, "c": {}})
    assert run.number("a") in run.state.left_out


def test_a_map_whose_items_have_begun_keeps_its_items() -> None:
    run = play_steps({"m": {"for_each": [1, 2]}})
    words = refused(run, {"m": {"for_each": [1, 2, 3]}})
    assert words == ["'m' is about to run: its items have begun, and version 2 has others"]
