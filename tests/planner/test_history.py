"""The history of a run: one row per attempt, with its outcome and its times."""

from __future__ import annotations

import pytest

from detent.errors import EngineError
from detent.instant import SECOND
from detent.planner.fold import fold
from detent.planner.history import PastAttempt, history
from detent.planner.moves.version import Movable
from detent.run import events
from detent.run.outcomes import Cancel, Done, Finish, Pause, Reattempt, Skip, StepError
from tests.planner.play import NOON, Play, answer, graph_of, play_graph, play_steps

ERROR = StepError("exception", "ValueError: no", {"traceback": "Traceback ..."})


def rows(run: Play) -> list[PastAttempt]:
    return history(run.prepared, run.facts, run.opening, run.entries)


def told(run: Play) -> list[tuple[str, int, str, str]]:
    return [(row.step, row.attempt, str(row.state), str(row.outcome)) for row in rows(run)]


def seconds(instant: int | None) -> float | None:
    return None if instant is None else (instant - NOON) / SECOND


def test_attempts_stand_in_the_order_they_ended_with_their_times() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}, "nap": {"needs": ["b"], "sleep": "10s"}})
    run.sleep(2)
    run.attempt("a", Done(answer(200)), ms=1500)
    run.sleep(3)
    run.succeed("b")
    run.sleep(30)
    assert told(run) == [
        ("a", 1, "completed", "success"),
        ("b", 1, "completed", "success"),
        ("nap", 1, "completed", "success"),
    ]
    times = [tuple(map(seconds, (row.scheduled_for, row.started_at, row.ended_at))) for row in rows(run)]
    assert times == [(0.0, 0.5, 2.0), (2.0, 4.999, 5.0), (15.0, 5.0, 15.0)]


def test_a_failed_attempt_that_is_tried_again_was_reattempted_and_the_next_is_due_then() -> None:
    run = play_steps({"a": {"retries": 1}})
    run.fail("a", retry=True)
    run.sleep(60)
    run.fail("a")
    assert told(run) == [("a", 1, "failed", "reattempted"), ("a", 2, "failed", "failed")]
    first, second = rows(run)
    assert first.scheduled_for == first.ended_at == NOON
    assert NOON < second.scheduled_for <= second.ended_at
    assert (first.error and first.error.message) == "it failed with http_status"


@pytest.mark.parametrize(
    ("outcome", "state", "became"),
    [
        (Skip(), "skipped", "skipped"),
        (Skip(ERROR), "skipped", "skipped"),
        (Reattempt(5.0), "completed", "reattempted"),
        (Reattempt(5.0, ERROR), "failed", "reattempted"),
        (Cancel("said so"), "cancelled", "cancelled"),
        (Cancel("it failed", ERROR), "failed", "cancelled"),
        (Pause("said so"), "cancelled", "cancelled"),
        (Pause("it failed", ERROR), "failed", "failed"),
        (Finish(answer(200)), "completed", "success"),
    ],
)
def test_flow_control_is_told_by_its_outcome(outcome: object, state: str, became: str) -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    run.attempt("a", outcome)  # type: ignore[arg-type]
    assert told(run)[0] == ("a", 1, state, became)
    assert rows(run)[0].error == getattr(outcome, "error", None)


def test_a_step_that_paused_its_run_is_due_again_when_it_is_resumed() -> None:
    run = play_steps({"a": {}})
    run.attempt("a", Pause("it failed", ERROR))
    run.sleep(60)
    run.resume()
    run.sleep(5)
    run.succeed("a")
    assert told(run) == [("a", 1, "failed", "failed"), ("a", 2, "completed", "success")]
    assert [seconds(row.scheduled_for) for row in rows(run)] == [0.0, 60.0]


def test_steps_that_are_decided_not_to_run_and_those_that_cannot_are_rows_without_a_start() -> None:
    run = play_steps(
        {"a": {}, "b": {"needs": ["a"], "if": "false"}, "c": {"needs": ["a"], "sleep": "{{tasks.a.body}}"}}
    )
    run.succeed("a")
    assert sorted(told(run))[1:] == [("b", 1, "skipped", "skipped"), ("c", 1, "failed", "failed")]
    assert [row.started_at for row in rows(run)[1:]] == [None, None]


def test_what_a_run_was_at_when_it_was_cancelled_is_canceled_and_what_it_never_reached_has_no_row() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}, "w": {"wait_for_webhook": {}}, "c": {"needs": ["b"]}})
    run.succeed("a")
    run.sleep(9)
    run.cancel()
    assert told(run) == [
        ("a", 1, "completed", "success"),
        ("b", 1, "cancelled", "cancelled"),
        ("w", 1, "cancelled", "cancelled"),
    ]
    assert seconds(rows(run)[1].ended_at) == 9.0


def test_a_run_that_a_person_finished_skips_what_it_was_at() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    run.tell(events.Finished("ann"))
    assert told(run)[0] == ("a", 1, "skipped", "skipped")


def test_a_step_that_took_its_nodes_down_has_failed() -> None:
    run = play_steps({"a": {"on_crash": "fail"}})
    run.crash()
    assert told(run) == [("a", 1, "failed", "failed")]


def test_a_run_that_begins_later_counts_from_then() -> None:
    graph_run = play_steps({"a": {}})
    run = Play(graph_run.prepared, graph_run.facts, opens_at=NOON + 100 * SECOND)
    run.open()
    run.succeed("a")
    assert [seconds(row.scheduled_for) for row in rows(run)] == [100.0]


def test_an_attempt_is_never_told_to_have_begun_before_it_was_due() -> None:
    """Its length and its end are of two clocks, and differ by a hair."""
    run = play_steps({"a": {}})
    run.sleep(2)
    run.attempt("a", Done(answer(200)), ms=2001)
    [row] = rows(run)
    assert row.started_at == row.scheduled_for == NOON


def test_attempts_that_died_with_their_node_have_their_rows() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    run.sleep(2)
    run.crash()
    run.sleep(3)
    run.crash()
    run.sleep(1)
    run.succeed("a")
    run.succeed("b")
    assert told(run) == [
        ("a", 1, "failed", "reattempted"),
        ("a", 2, "failed", "reattempted"),
        ("a", 3, "completed", "success"),
        ("b", 1, "completed", "success"),
    ]
    first, second, third, _ = rows(run)
    assert [seconds(row.ended_at) for row in (first, second, third)] == [2.0, 5.0, 6.0]
    assert [seconds(row.scheduled_for) for row in (first, second, third)] == [0.0, 2.0, 5.0]
    assert first.error == StepError("lost", "the node that ran it died")
    assert (first.started_at, third.error) == (None, None)


def test_a_crash_costs_no_attempt_of_a_step_that_had_ended_or_not_begun() -> None:
    run = play_steps({"a": {}, "nap": {"needs": ["a"], "sleep": "10s"}, "b": {"needs": ["nap"]}})
    run.succeed("a")
    run.crash()
    run.sleep(30)
    run.succeed("b")
    assert [row[:2] for row in told(run)] == [("a", 1), ("nap", 1), ("b", 1)]


def test_the_attempts_of_a_moved_run_have_the_new_names_of_their_steps() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], "retries": 1}, "nap": {"sleep": "10s"}})
    run.succeed("a")
    run.fail("b", retry=True)
    moved = run.move_to(
        graph_of({"a": {}, "c": {"needs": ["a"], "retries": 1}, "nap": {"sleep": "10s"}, "no": {"if": "1 > 2"}}),
        {"b": "c"},
    )
    assert isinstance(moved, Movable)
    run.sleep(60)
    run.succeed("c")
    found = history(run.version, run.facts, run.opening, run.entries, run.versions)
    assert [(row.step, row.attempt, str(row.outcome)) for row in found if row.step != "nap"] == [
        ("a", 1, "success"),
        ("b", 1, "reattempted"),
        ("no", 1, "skipped"),
        ("c", 2, "success"),
    ]


def test_a_condition_that_is_answered_at_once_is_one_attempt() -> None:
    run = play_graph({"id": "q", "nodeType": "condition", "expression": "1 < 2"})
    assert told(run) == [("q", 1, "completed", "success")]


def test_a_moved_run_whose_version_is_missing_cannot_be_folded() -> None:
    run = play_steps({"a": {}, "b": {}})
    assert isinstance(run.move_to(graph_of({"a": {}, "b": {}, "c": {}})), Movable)
    with pytest.raises(EngineError, match="version 2 is missing"):
        fold(run.version, run.facts, run.opening, run.entries)


def test_a_callback_that_is_received_is_no_attempt() -> None:
    run = play_steps({"w": {"wait_for_webhook": {}}})
    run.receive("w", {})
    assert [row.step for row in rows(run)] == ["w"]
