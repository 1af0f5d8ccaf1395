"""Revision 2 of the expression language in a run: when is now(), and which id is uuid()."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from detent.expressions import SyntaxProblem
from detent.graph.model import Edge, Graph, Retry, Step, StepKind
from detent.instant import SECOND, iso
from detent.planner.prepared import prepare
from tests.planner.play import NOON, Play, failure, play

SENT = {"with": {"at": "{{now()}}", "id": "{{uuid()}}", "ids": "{{[1, 2].map(i => uuid())}}"}}


def at(seconds: float) -> str:
    """What now() returns so many seconds after the start."""
    return iso(NOON + int(seconds * SECOND)).replace("Z", ".000Z")


def chain(**given: Any) -> Graph:
    steps = (
        Step("first", StepKind.ACTION, SENT),
        Step("second", StepKind.ACTION, SENT, retry=Retry(attempts=5, delay=10, jitter=False)),
    )
    return Graph(steps, (Edge("first", "second"),), language=2, **given)


def sent(run: Play, step: str) -> dict[str, Any]:
    found: dict[str, Any] = run.parameters(step)["with"]
    return found


def test_now_is_when_the_step_became_ready() -> None:
    run = play(chain())
    assert sent(run, "first")["at"] == at(0)
    run.sleep(7)
    assert sent(run, "first")["at"] == at(0), "it is the time of the decision, not of the rendering"
    run.give("first", 1)
    assert sent(run, "second")["at"] == at(7)


def test_a_repeated_attempt_sends_the_same_body() -> None:
    run = play(chain())
    run.sleep(1)
    run.give("first", 1)
    body = sent(run, "second")
    run.sleep(2)
    run.attempt("second", failure(retry=True))
    run.sleep(60)
    assert run.state.attempt_number(1) == 2
    assert sent(run, "second") == body
    run.crash()
    run.sleep(600)
    assert run.state.attempt_number(1) == 3
    assert sent(run, "second") == body
    run.sleep(5)
    run.crash()
    run.sleep(600)
    assert sent(run, "second") == body
    run.pause()
    run.resume()
    assert sent(run, "second") == body


def test_a_reattempt_by_a_user_sends_the_same_body() -> None:
    run = play(chain())
    body = sent(run, "first")
    run.sleep(5)
    run.reattempt("first", wait=3)
    run.sleep(3)
    assert sent(run, "first") == body


def test_steps_and_runs_have_ids_of_their_own() -> None:
    run = play(chain())
    first = sent(run, "first")
    run.give("first", 1)
    second = sent(run, "second")
    assert len({first["id"], *first["ids"], second["id"], *second["ids"]}) == 6
    other = Play(prepare(chain()), replace(run.facts, id=b"another run's id"))
    assert sent(other, "first")["id"] != first["id"]


def test_a_guard_reads_the_time_of_its_decision() -> None:
    steps = (
        Step("first", StepKind.ACTION),
        Step("early", StepKind.ACTION, guard=f"now() < '{at(60)}'"),
        Step("late", StepKind.ACTION, guard=f"now() >= '{at(60)}'"),
    )
    graph = Graph(steps, (Edge("first", "early"), Edge("first", "late")), language=2)
    run = play(graph)
    run.sleep(90)
    run.give("first", 1)
    assert run.statuses()["early"] == "skipped"
    assert run.state.ready or run.started[-1] == "late"


def test_conditions_of_edges_and_guards_have_ids_of_their_own() -> None:
    steps = (
        Step("first", StepKind.ACTION),
        Step("second", StepKind.ACTION, guard="uuid() != uuid() && uuid().length == 36"),
    )
    run = play(Graph(steps, (Edge("first", "second", condition="uuid() != null"),), language=2))
    run.give("first", 1)
    assert run.started[-1] == "second"


def test_a_sleep_may_be_computed_from_now() -> None:
    config = {"seconds": f"{{{{diff('{at(90)}', now(), 'seconds')}}}}"}
    run = play(Graph((Step("nap", StepKind.SLEEP, config),), language=2))
    assert run.until("nap") == 90


def test_the_output_reads_the_time_of_the_end() -> None:
    run = play(chain(output={"at": "{{now()}}", "id": "{{uuid()}}"}))
    run.sleep(3)
    first = sent(run, "first")
    run.give("first", 1)
    run.sleep(4)
    run.give("second", 1)
    assert run.ended is not None
    assert run.ended.output is not None
    assert at(7).encode() in run.ended.output
    assert first["id"].encode() not in run.ended.output


def test_a_result_is_decoded_once_for_all_elements_of_a_loop() -> None:
    config = {"with": "{{range(2000).map(i => tasks.first.body.length)[1999]}}"}
    steps = (Step("first", StepKind.ACTION), Step("second", StepKind.ACTION, config))
    run = play(Graph(steps, (Edge("first", "second"),), language=2))
    run.give("first", list(range(20_000)))
    assert run.parameters("second")["with"] == 20_000


def test_a_graph_is_compiled_in_its_own_revision() -> None:
    graph = chain()
    assert prepare(graph).steps[0].config.language == 2
    with pytest.raises(SyntaxProblem, match=r"now\(\) needs revision 2"):
        prepare(replace(graph, language=1))
    guarded = Graph((Step("a", StepKind.ACTION, guard="now() > ''"),))
    with pytest.raises(SyntaxProblem, match="needs revision 2"):
        prepare(guarded)
    with pytest.raises(SyntaxProblem, match="needs revision 2"):
        prepare(Graph((Step("a", StepKind.ACTION),), output="{{now()}}"))
