"""The child runs that a durable function waits for: who waits for each, and which may not exist."""

from __future__ import annotations

import pytest

from detent.graph.model import Ending, Graph, Retry, Step, StepKind
from detent.instant import SECOND
from detent.planner.advance import put_off
from detent.planner.why import why
from detent.run import events
from detent.run.outcomes import Fail, StepError, Suspend
from detent.run.state import Phase
from tests.planner.play import NOON, Play, play


def parent() -> Play:
    """A function that waits for two children and a sleep."""
    run = play(Graph((Step("fn", StepKind.FUNCTION, retry=Retry(attempts=9)),)))
    for number in (1, 2):
        run.tell(events.OperationBegan(f"@child:c#{number}", 0, child=f"run_{number}"))
    run.tell(events.OperationBegan("@sleep", 0, until=NOON + 60 * SECOND))
    return run


def test_a_child_is_found_by_its_id_until_its_operation_has_ended() -> None:
    run = parent()
    assert run.state.children == {"run_1": "@child:c#1", "run_2": "@child:c#2"}
    run.tell(events.OperationEnded("@child:c#1", 1, Ending.SUCCESS, b'{"output":1}', message=1))
    run.tell(events.OperationEnded("@sleep", 1, Ending.SUCCESS, b"{}"))
    assert run.state.children == {"run_2": "@child:c#2"}


def test_a_child_that_continues_as_another_run_is_found_by_the_new_id() -> None:
    run = parent()
    run.tell(events.OperationBegan("@child:c#1", 0, child="run_3", message=1))
    assert run.state.children == {"run_3": "@child:c#1", "run_2": "@child:c#2"}


def test_the_children_of_a_function_that_suspends_exist() -> None:
    run = parent()
    run.checks = False  # a suspension is not on record: after a fold, the function is ready
    run.attempt("fn", Suspend(NOON + 60 * SECOND, 0))
    assert run.state.unsure == frozenset()


@pytest.mark.parametrize("how", ["crash", "failure", "pause", "reattempt"])
def test_children_may_not_exist_after_an_attempt_that_was_stopped(how: str) -> None:
    run = parent()
    match how:
        case "crash":
            run.crash()
        case "failure":
            run.attempt("fn", Fail(StepError("broken", "it broke"), retry=True))
        case "pause":
            run.pause()
        case _:
            run.reattempt("fn")
    assert run.state.unsure == {"run_1", "run_2"}


def test_a_run_without_children_doubts_nothing() -> None:
    run = play(Graph((Step("fn", StepKind.FUNCTION),)))
    run.crash()
    assert run.state.unsure == frozenset()


def child_step(**config: object) -> Play:
    return play(Graph((Step("c", StepKind.SUBWORKFLOW, {"workflow": "w", "input": {}, **config}),)))


def test_no_step_waits_for_a_detached_child() -> None:
    assert child_step(detached=True).state.children == {}
    assert list(child_step().state.children.values()) == [0]


def test_an_attempt_that_is_put_off_waits_for_the_child_that_it_has() -> None:
    run = child_step()
    assert [reason.kind for reason in why(run.prepared, run.state, now=run.now, owned=True)] == ["child"]
    put_off(run.state, 0)
    assert (run.state.phase[0], run.state.running) == (Phase.CHILD, 0)


def test_an_attempt_that_is_put_off_without_a_child_is_ready_again() -> None:
    run = play(Graph((Step("a", StepKind.ACTION, {"action": "core.echo"}),)))
    put_off(run.state, 0)
    assert (run.state.phase[0], list(run.state.ready)) == (Phase.READY, [0])
