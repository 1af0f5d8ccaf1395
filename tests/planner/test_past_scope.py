"""What an expression reads of a past moment of a run."""

from __future__ import annotations

from detent.expressions import compile_expression
from detent.graph.model import Edge, Graph, Step, StepKind
from detent.instant import SECOND, iso
from detent.planner.moves.version import Movable
from detent.planner.past_scope import past_scope, past_step
from tests.planner.play import NOON, Play, play

GRAPH = Graph(
    (
        Step("first", StepKind.ACTION),
        Step("second", StepKind.ACTION, {"with": "{{now()}} {{uuid()}}"}),
        Step("last", StepKind.ACTION, guard="tasks.second.output == 2"),
        Step("never", StepKind.ACTION, guard="false"),
    ),
    (Edge("first", "second"), Edge("second", "last"), Edge("second", "never")),
    language=2,
)


def tried(run: Play, source: str, step: str | None = None) -> object:
    found = past_scope(run.version, run.facts, run.opening, run.entries, step)
    assert found is not None
    return compile_expression(source).evaluate(found.scope)


def at(seconds: int) -> str:
    return iso(NOON + seconds * SECOND).replace("Z", ".000Z")


def lived() -> Play:
    run = play(GRAPH)
    run.sleep(1)
    run.give("first", 1)
    run.sleep(2)
    run.give("second", 2)
    run.sleep(4)
    run.give("last", 3)
    return run


def test_a_step_reads_what_had_ended_before_it() -> None:
    run = lived()
    assert tried(run, "[tasks.first.output, tasks.second.output, tasks.last.output]", "second") == [1, None, None]
    assert tried(run, "[tasks.first.output, tasks.second.output, tasks.last.output]", "last") == [1, 2, None]
    assert tried(run, "[tasks.first.output, tasks.second.output, tasks.last.output]") == [1, 2, 3]


def test_now_is_when_the_step_became_ready_and_ids_are_those_of_the_step() -> None:
    run = play(GRAPH)
    run.sleep(1)
    run.give("first", 1)
    sent = run.parameters("second")["with"]
    run.sleep(2)
    run.give("second", 2)
    assert sent.split()[0] == at(1) == tried(run, "now()", "second")
    assert tried(run, "uuid()", "second") != tried(run, "uuid()", "last")
    assert tried(run, "now()", "first") == at(0)
    assert tried(run, "now()", "never") == at(3), "it was decided then and never became ready"
    run.sleep(4)
    run.give("last", 3)
    assert tried(run, "now()") == at(7)


def test_a_step_that_has_not_ended_reads_the_run_as_it_is() -> None:
    run = play(GRAPH)
    assert tried(run, "[now(), tasks.first.status]", "first") == [at(0), None]
    assert tried(run, "now()", "last") == at(0)
    run.sleep(1)
    run.give("first", 1)
    assert tried(run, "tasks.first.output", "second") == 1


def test_a_step_that_does_not_exist_has_no_scope() -> None:
    run = lived()
    assert past_scope(run.version, run.facts, run.opening, run.entries, "other") is None


def test_a_step_that_was_decided_and_ended_at_once_reads_what_decided_it() -> None:
    run = lived()
    assert tried(run, "[tasks.first.output, tasks.second.output, tasks.last.output]", "never") == [1, 2, None]
    assert tried(run, "now()", "never") == at(3)


def test_a_step_that_was_renamed_after_its_end_is_found_by_its_new_name() -> None:
    run = play(Graph((Step("a", StepKind.ACTION), Step("w", StepKind.WAIT, {"timeout": None})), (Edge("a", "w"),)))
    run.give("a", 1)
    moved = Graph((Step("b", StepKind.ACTION), Step("w", StepKind.WAIT, {"timeout": None})), (Edge("b", "w"),))
    assert isinstance(run.move_to(moved, {"a": "b"}), Movable)
    found = past_step(run.version, run.facts, run.opening, run.entries, "b", run.versions)
    assert found is not None
    assert found.prepared.steps[found.index].name == "b"
    assert past_step(run.version, run.facts, run.opening, run.entries, "none", run.versions) is None
    assert past_step(run.version, run.facts, run.opening, run.entries[:1], "a", run.versions) is not None
