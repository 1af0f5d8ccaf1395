"""A run whose code has changed goes on by another graph, with what it has achieved."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

from detent.graph import codec
from detent.graph.model import Edge, Ending, FailurePolicy, Graph, Step, StepKind
from detent.instant import SECOND
from detent.planner import fork_plan, retry_plan
from detent.planner.history import history
from detent.planner.moves.shape import shape_of
from detent.run.journal import encode_data
from detent.run.outcomes import Cancel, Finish, Move, Pause, Skip, StepError
from tests.planner.chains import BROKEN, CHAINED
from tests.planner.play import NOON, Play, play, play_again


def chain(*names: str, **delays: float) -> Graph:
    steps = tuple(Step(name, StepKind.PYTHON, delay=delays.get(name)) for name in names)
    edges = tuple(Edge(one, other, CHAINED) for one, other in pairwise(names))
    return Graph(steps, edges, on_failure=FailurePolicy.PAUSE)


def at(step: str, *names: str, **delays: float) -> Play:
    """A run of a chain that is at that step, each before it having given its name."""
    run = play(chain(*names, **delays))
    for name in names[: names.index(step)]:
        run.sleep(delays.get(name, 0))
        run.give(name, name)
    run.sleep(delays.get(step, 0))
    run.started.clear()
    return run


def move(run: Play, step: str, *names: str, **delays: float) -> None:
    run.attempt(step, Move(codec.encode(chain(*names, **delays))))


def live(run: Play) -> list[str]:
    """Let the rest of the chain succeed; gives what ran."""
    while not run.state.is_over:
        run.sleep(10)
        for name, status in run.statuses().items():
            if status == "running":
                run.give(name, name)
                break
    return run.started


CHANGES = [
    ("a step behind is new", ("a", "b", "new", "c"), ["b", "new", "c"]),
    ("a step before is new", ("new", "a", "b", "c"), ["b", "c"]),
    ("a new step stands right before the one at hand", ("a", "new", "b", "c"), ["b", "c"]),
    ("a step that has ended is gone", ("b", "c"), ["b", "c"]),
    ("the step at hand is gone", ("a", "c"), ["c"]),
    ("the step at hand has another name", ("a", "other", "c"), ["other", "c"]),
    ("a step behind is gone", ("a", "b"), ["b"]),
    ("two that have not ended change places", ("a", "c", "b"), ["b"]),
    ("the step at hand comes first", ("b", "a", "c"), ["b", "c"]),
    ("what has ended stands last", ("b", "c", "a"), ["b", "c"]),
    ("everything stands the other way round", ("c", "b", "a"), ["b"]),
    ("the step at hand is gone and a new one stands before what has ended", ("new", "a", "c"), ["c"]),
    ("nothing is left to do", ("a",), []),
]


@pytest.mark.parametrize(("names", "expected"), [change[1:] for change in CHANGES], ids=[one[0] for one in CHANGES])
def test_a_chain_goes_on_behind_what_has_ended(names: tuple[str, ...], expected: list[str]) -> None:
    run = at("b", "a", "b", "c")
    move(run, "b", *names)
    assert run.entries[-1].kind == "moved"
    assert live(run) == expected
    assert run.status == "completed"
    never = {name for name in names if name not in expected and name != "a"}
    assert {name for name, status in run.statuses().items() if status == "skipped"} == never


def test_the_results_of_what_has_ended_are_there_and_its_errors() -> None:
    run = play(chain("a", "b", "c"))
    run.attempt("a", Skip(BROKEN, b'{"state":{"n":1}}'))
    run.give("b", "two")
    move(run, "c", "a", "b", "new", "c")
    assert run.state.results == {run.number("a"): b'{"state":{"n":1}}', run.number("b"): b'{"output": "two"}'}
    assert run.error("a") == BROKEN
    assert run.statuses() == {"a": "skipped", "b": "success", "new": "skipped", "c": "running"}


def test_the_step_at_hand_has_waited_long_enough_and_the_others_have_not() -> None:
    run = at("b", "a", "b", "c", b=3600.0)
    move(run, "b", "a", "b", "c", b=7200.0, c=60.0)
    assert run.statuses()["b"] == "running"
    run.give("b", 1)
    assert (run.statuses()["c"], run.until("c")) == ("retrying", 60)
    gone = at("b", "a", "b", "c", b=3600.0)
    move(gone, "b", "a", "c", c=60.0)
    assert (gone.statuses()["c"], gone.until("c")) == ("retrying", 60)


def test_attempts_that_were_made_are_still_counted() -> None:
    run = at("b", "a", "b")
    run.attempt("b", Pause("by hand"))
    run.resume()
    run.crash()
    assert run.state.attempt_number(run.number("b")) == 3
    move(run, "b", "a", "b", "c")
    assert run.state.attempt_number(run.number("b")) == 3
    run.crash()
    assert run.state.attempt_number(run.number("b")) == 4


def test_a_paused_run_is_moved_and_stays_paused() -> None:
    run = at("b", "a", "b")
    run.pause("ann")
    move(run, "b", "b", "c")
    assert (run.status, run.statuses()["b"], run.started) == ("paused", "ready", [])
    run.resume()
    assert run.started == ["b"]


def test_a_run_is_moved_again_and_again_and_survives_a_crash_each_time() -> None:
    run = at("b", "a", "b")
    move(run, "b", "a", "b", "c")
    run.crash()
    move(run, "b", "a", "x", "b", "d")
    run.crash()
    move(run, "b", "b", "c", "a")
    run.crash()
    assert live(run) == ["b", "c"]
    assert run.status == "completed"


def test_what_was_carried_and_not_come_to_again_is_carried_on() -> None:
    run = at("c", "a", "b", "c")
    move(run, "c", "c", "b", "a", "d")
    assert run.statuses() == {"c": "running", "b": "pending", "a": "pending", "d": "pending"}
    move(run, "c", "c", "a", "b", "e", "d")
    assert live(run) == ["c", "c", "e", "d"]


def test_a_step_that_comes_back_is_not_run_again() -> None:
    run = at("c", "a", "b", "c")
    move(run, "c", "c", "d")
    move(run, "c", "c", "b", "d", "a")
    assert live(run) == ["c", "c", "d"]
    assert (run.statuses()["b"], run.state.results[run.number("b")]) == ("success", b'{"output": "b"}')


def test_an_entry_of_a_move_holds_no_result_and_no_error_that_stands_in_the_journal_already() -> None:
    run = play(chain("a", "b", "c"))
    run.attempt("a", Skip(StepError("exception", "e" * 10_000)))
    run.give("b", "r" * 200_000)
    move(run, "c", "c", "d")
    move(run, "c", "b", "c", "d", "a")
    assert [len(entry.data) < 2_000 for entry in run.entries[-2:]] == [True, True]
    run.crash()
    assert run.state.results[run.number("b")] == b'{"output": "%b"}' % (b"r" * 200_000)
    assert run.state.carried[run.number("a")].error == StepError("exception", "e" * 10_000)


def test_a_journal_whose_moves_hold_the_results_themselves_adds_up_to_the_same() -> None:
    run = at("c", "a", "b", "c")
    move(run, "c", "c", "d")
    move(run, "c", "b", "c", "d", "a")
    for place in (-2, -1):
        data = run.data(place)
        for name, how in data.carried.items():
            how.result = msgspec.Raw(b'{"output": "%b"}' % name.encode())
        run.entries[place] = run.entries[place]._replace(data=encode_data(data))
    run.check_fold()
    assert run.state.results[run.number("b")] == b'{"output": "b"}'


def test_code_that_asks_for_the_graph_the_run_is_at_pauses_it() -> None:
    run = at("b", "a", "b")
    move(run, "b", "a", "b")
    assert (run.status, run.error("b").code, run.state.paused_step) == ("paused", "drift", 1)
    run.resume()
    move(run, "b", "a", "b", "c")
    move(run, "b", "a", "b", "c")
    assert (run.status, run.error("b").code) == ("paused", "drift")


def test_a_failing_run_is_not_moved() -> None:
    run = play(
        Graph((Step("bad", StepKind.ACTION), Step("other", StepKind.ACTION)), on_failure=FailurePolicy.FAIL_FAST)
    )
    run.fail("bad")
    move(run, "other", "other", "more")
    assert (run.status, run.statuses()["other"]) == ("failed", "skipped")


def test_what_runs_beside_is_begun_anew_by_the_new_graph() -> None:
    run = play(Graph((Step("a", StepKind.PYTHON), Step("b", StepKind.PYTHON))))
    move(run, "a", "a", "b")
    assert run.statuses() == {"a": "running", "b": "pending"}
    run.give("a", 1)
    run.give("b", 2)
    assert run.status == "completed"


# -- done again


def _reused(run: Play) -> list[tuple[str | None, str | None]]:
    return [(entry.step, entry.outcome) for entry in run.entries if entry.kind == "reused"]


def _cancelled_after(*names: str) -> Play:
    """A run that was moved from a, b to those, and cancelled by its last step."""
    run = at("b", "a", "b")
    move(run, "b", *names)
    for name in names[:-1]:
        if run.statuses()[name] == "running":
            run.give(name, name)
    run.attempt(names[-1], Cancel("enough", BROKEN))
    return run


def test_a_retry_of_a_moved_run_keeps_by_name_what_its_first_graph_knows() -> None:
    origin = _cancelled_after("a", "b", "c", "d")
    assert origin.status == "cancelled"
    run = play_again(origin, retry_plan(origin.prepared, origin.state))
    assert _reused(run) == [("a", "success"), ("b", "success")]
    assert run.status == "completed", "the version it began with has no more steps"


def test_a_retry_over_the_graph_that_a_run_was_moved_to_keeps_all_of_it() -> None:
    origin = _cancelled_after("a", "b", "c", "d")
    run = Play(origin.prepared, origin.facts, now=origin.now, reuse=retry_plan(origin.prepared, origin.state))
    assert _reused(run) == [("a", "success"), ("b", "success"), ("c", "success")]
    assert run.started == ["d"]


def test_a_fork_of_a_finished_run_runs_what_it_left() -> None:
    origin = play(chain("a", "b", "c"))
    origin.give("a", 1)
    origin.attempt("b", Finish(b'{"output":2}'))
    run = play_again(origin, fork_plan(origin.prepared, origin.state, 1, None))
    assert _reused(run) == [("a", "success")]
    run.give("b", 3)
    assert run.started == ["b", "c"]


def test_what_was_skipped_on_purpose_is_skipped_again_in_a_retry_and_what_a_guard_skipped_is_decided_anew() -> None:
    graph = chain("a", "b", "c", "d")
    guarded = Step("maybe", StepKind.PYTHON, guard="1 == 2")
    origin = play(Graph((*graph.steps, guarded), graph.edges, on_failure=FailurePolicy.PAUSE))
    origin.attempt("a", Skip(BROKEN))
    origin.skip("b")
    origin.give("c", 3)
    origin.attempt("d", Cancel("enough"))
    run = play_again(origin, retry_plan(origin.prepared, origin.state))
    assert _reused(run) == [("a", "skipped"), ("b", "skipped"), ("c", "success")]
    assert run.started == ["d"]
    run.attempt("d", Cancel("enough"))
    third = play_again(run, retry_plan(run.prepared, run.state))
    assert _reused(third) == _reused(run)


def test_a_fork_at_a_skipped_step_runs_it() -> None:
    origin = play(chain("a", "b", "c"))
    origin.skip("a")
    origin.skip("b")
    origin.give("c", 1)
    run = play_again(origin, fork_plan(origin.prepared, origin.state, origin.number("b"), None))
    assert (_reused(run), run.started) == ([("a", "skipped")], ["b"])


def test_what_was_taken_over_and_not_reached_is_not_done_again_after_a_move() -> None:
    tasks = Graph(
        (Step("first", StepKind.PYTHON), Step("bad", StepKind.PYTHON), Step("tidy", StepKind.PYTHON)),
        (Edge("bad", "tidy", frozenset(Ending)),),
    )
    origin = play(tasks, opens_at=NOON + SECOND)
    origin.open()
    origin.fail("bad")
    origin.give("tidy", 1)
    run = play_again(origin, fork_plan(origin.prepared, origin.state, origin.number("first"), None))
    assert _reused(run) == [("tidy", "success")]
    run.attempt("first", Move(codec.encode(Graph((*tasks.steps, Step("more", StepKind.PYTHON)), tasks.edges))))
    run.started.clear()
    run.give("bad", 1)
    assert run.statuses()["tidy"] == "success"
    assert "tidy" not in run.started


def test_history_and_shape_know_a_run_that_its_code_moved() -> None:
    run, other = at("b", "a", "b"), at("b", "a", "b")
    move(run, "b", "a", "c")
    live(run)
    found = history(run.version, run.facts, run.opening, run.entries)
    assert [row.step for row in found if str(row.outcome) == "success"] == ["a", "c"]
    live(other)
    assert shape_of(1, run.opening, run.entries) != shape_of(1, other.opening, other.entries)
