"""Steps that may or may not have happened: a person says, and the run goes on from there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.graph.model import Edge, FailurePolicy, Graph, OnCrash, Step, StepKind
from detent.run import events
from detent.run.outcomes import result_of
from detent.run.plan import NOTHING
from tests.planner.play import Play, play


def _asking(*, kind: StepKind = StepKind.ACTION, on_failure: FailurePolicy = FailurePolicy.SETTLE) -> Play:
    """Two parallel steps that ask after a crash, and one after both. The node has died."""
    ask: dict[str, Any] = {"on_crash": OnCrash.ASK}
    steps = (Step("a", kind, **ask), Step("b", kind, **ask), Step("c", StepKind.ACTION))
    run = play(Graph(steps, (Edge("a", "c"), Edge("b", "c")), on_failure=on_failure))
    run.crash()
    assert run.statuses() == {"a": "uncertain", "b": "uncertain", "c": "pending"}
    return run


def test_the_run_goes_on_when_the_last_doubt_is_gone() -> None:
    run = _asking()
    run.resolve("a", happened=True, result=b'{"output":5}')
    assert (run.status, run.state.paused_by) == ("paused", "uncertain")
    assert run.statuses() == {"a": "success", "b": "uncertain", "c": "pending"}
    plan = run.resolve("b", happened=True)
    assert (run.status, run.state.paused_by, run.state.paused_at) == ("running", None, None)
    assert [start.step for start in plan.start] == [run.number("c")], "in the same plan"
    assert run.state.results[run.number("a")] == b'{"output":5}'


def test_what_did_not_happen_is_a_failure_with_its_own_code() -> None:
    run = _asking()
    run.resolve("a", happened=False, by="bob")
    run.resolve("b", happened=True)
    assert run.statuses() == {"a": "failed", "b": "success", "c": "skipped"}
    assert run.error("a").code == "did_not_happen"
    assert run.error("a").message == "'a' was in flight when its node died, and bob says that it did not happen"
    assert run.status == "failed"


def test_the_journal_says_who_decided_and_of_which_attempt() -> None:
    run = _asking()
    run.crash()
    run.crash()
    run.resolve("a", happened=True, by="bob")
    entry = run.entries[-1]
    assert (entry.kind, entry.step, entry.outcome, run.data().by) == ("ended", "a", "success", "bob")
    assert entry.attempt == 1, "the one that was in flight, however often the run was adopted since"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (StepKind.ACTION, {"output": None}),
        (StepKind.HTTP, {"status_code": None, "headers": {}, "body": None}),
    ],
)
def test_without_a_result_the_output_is_null_in_the_shape_of_its_kind(kind: StepKind, expected: Any) -> None:
    run = _asking(kind=kind)
    run.resolve("a", happened=True)
    assert json.loads(run.state.results[run.number("a")]) == expected


def test_a_result_that_a_person_gives_has_the_shape_of_its_kind() -> None:
    assert json.loads(result_of(StepKind.HTTP, b'{"id":1}', 201)) == {
        "status_code": 201,
        "headers": {},
        "body": {"id": 1},
    }
    assert json.loads(result_of(StepKind.WAIT, b"7")) == {"status_code": None, "headers": {}, "body": 7}
    assert json.loads(result_of(StepKind.PYTHON, b'"x"')) == {"output": "x"}
    assert result_of(StepKind.SLEEP, b"7") == b"{}"


def test_a_run_that_a_person_paused_stays_paused() -> None:
    ask = Step("a", StepKind.ACTION, on_crash=OnCrash.ASK)
    run = play(Graph((ask, Step("c", StepKind.ACTION)), (Edge("a", "c"),)))
    run.pause("ann")
    run.crash()
    assert run.resolve("a", happened=True).start == []
    assert (run.status, run.state.paused_by, run.statuses()["c"]) == ("paused", "ann", "ready")
    run.resume()
    assert run.started == ["c"]


def test_a_step_that_is_not_in_doubt_cannot_be_resolved() -> None:
    run = _asking()
    run.resolve("a", happened=True)
    assert run.resolve("a", happened=False) is NOTHING
    assert run.resolve("c", happened=True) is NOTHING
    run.resume()
    assert run.resolve("b", happened=True) is NOTHING, "it is being tried again"
    assert run.tell(events.Resolved(run.number("c"), True, None, "ann")) is NOTHING


def test_a_resume_tries_again_only_what_is_still_in_doubt() -> None:
    run = _asking()
    run.resolve("a", happened=True)
    run.resume()
    assert run.started == ["b"]
    assert run.state.doubts == {}


def test_where_a_failure_stops_the_run_the_other_doubts_go_with_it() -> None:
    run = _asking(on_failure=FailurePolicy.FAIL_FAST)
    run.resolve("a", happened=False)
    assert run.statuses() == {"a": "failed", "b": "skipped", "c": "skipped"}
    assert (run.status, run.state.doubts) == ("failed", {})


def test_the_last_step_in_doubt_may_be_the_last_of_the_run() -> None:
    run = play(Graph((Step("a", StepKind.ACTION, on_crash=OnCrash.ASK),)))
    run.crash()
    plan = run.resolve("a", happened=True, result=b'{"output":9}')
    assert plan.end is not None
    assert (run.status, run.output) == ("completed", 9)


def test_a_run_can_be_cancelled_while_a_step_is_in_doubt() -> None:
    run = _asking()
    run.cancel()
    assert (run.status, run.state.doubts) == ("cancelled", {})
