"""A walk over any part of a journal is the fold of that part, however the run lived."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from detent.documents.outline import OutlineDocument
from detent.graph.model import Edge, Graph, Retry, Step, StepKind
from detent.planner.fold import fold
from detent.planner.moves.code import graph_of
from detent.run.journal import Kind
from detent.run.state import Phase
from detent.store.rows import RunRow
from detent.views.graph import run_graph_document
from detent.views.outline import outline_document
from detent.views.runs import step_status
from detent.views.walk import SLIM_BYTES, Walk, slim
from tests.planner.play import NOON, Play, play
from tests.planner.work import calls_in
from tests.planner.worlds import World, some_version, some_world

SEEDS = range(60)


def walked(run: Play, count: int) -> Walk:
    entries = [slim(entry) for entry in run.entries[:count]]
    return Walk(run.version, run.facts, run.opening, entries, run.versions)


def _is_over(world: World) -> bool:
    return world.play.state.is_over


def lived_in(seed: int, *, trouble: float, moves: bool = False) -> Play:
    """A random run that has ended, and may have been moved to other versions on the way."""
    rng = random.Random(seed)
    world = some_world(rng, trouble=trouble)
    while not _is_over(world):
        world.once()
        if moves and not _is_over(world) and rng.random() < 0.2:
            graph, names = some_version(rng, world.play.prepared.graph)
            world.looks.clear()
            world.play.move_to(graph, names)
    return world.play


@pytest.mark.parametrize(("trouble", "moves"), [(0.0, False), (0.3, False), (0.0, True)])
def test_a_walk_is_the_fold_of_the_same_entries(trouble: float, moves: bool) -> None:
    kinds = set()
    for seed in SEEDS:
        run = lived_in(seed, trouble=trouble, moves=moves)
        kinds |= {entry.kind for entry in run.entries}
        for count in range(len(run.entries) + 1):
            found = walked(run, count)
            state = fold(run.version, run.facts, run.opening, run.entries[:count], run.versions)
            assert found.state.seq == state.seq == count
            assert (found.state.phase, found.state.ending) == (state.phase, state.ending)
            assert (found.state.status, found.state.until) == (state.status, state.until)
            assert (found.state.errors, found.state.maps) == (state.errors, state.maps)
            assert found.prepared is graph_of(run.version, state)
            _check_edges(found)
            _check_outline(run, found, is_past=count < len(run.entries))
    assert Kind.ENDED in kinds
    assert (Kind.MOVED in kinds) is (moves or trouble > 0)


def _check_edges(found: Walk) -> None:
    """As many edges are taken and open as the state counts."""
    document = run_graph_document("w", 1, "steps", found)
    for step in found.prepared.steps:
        into = [edge for edge in document.edges if edge.target == step.name]
        if found.closed:
            continue
        assert sum(edge.state == "taken" for edge in into) == found.state.taken[step.index], step.name
        assert sum(edge.state == "open" for edge in into) == found.state.undecided[step.index], step.name


def row_of(run: Play) -> RunRow:
    nothing: list[Any] = [None] * len(RunRow._fields)
    given: dict[str, Any] = {"id": run.facts.id, "tenant": 1, "workflow": bytes(16), "workflow_name": "w", "version": 1}
    row = RunRow(*nothing)._replace(**given, status=run.status, trigger="api", owner=bytes(16), started_at=NOON)
    return row._replace(queue="default", opening=run.opening, ended_at=run.now if run.state.is_over else None)


def outlined(run: Play, found: Walk, *, is_past: bool = False) -> OutlineDocument:
    return outline_document(row_of(run), found, [], run.now, version=1, is_past=is_past)


def _check_outline(run: Play, found: Walk, *, is_past: bool) -> None:
    document = outlined(run, found, is_past=is_past)
    assert document.run.status == str(found.state.status)
    assert (document.run.finished_at is None) is is_past
    for step, prepared in zip(document.steps, found.prepared.steps, strict=True):
        assert step.status == step_status(found.state, prepared.index, owned=True)
        assert (step.finished_at is None) == (found.state.phase[prepared.index] is not Phase.ENDED)
        assert step.guard is not False or step.status == "skipped"
        assert step.guard is None or prepared.guard is not None
    msgspec.convert(msgspec.json.decode(msgspec.json.encode(document)), OutlineDocument)


def test_a_step_is_ready_when_the_fold_first_had_it_so() -> None:
    checked = 0
    for seed in SEEDS:
        run = some_world(random.Random(seed), trouble=0.2).live()
        if any(entry.kind == Kind.MOVED for entry in run.entries):
            continue
        ready: dict[int, int] = {}
        for count in range(len(run.entries) + 1):
            state = fold(run.version, run.facts, run.opening, run.entries[:count])
            for index, phase in enumerate(state.phase):
                if phase not in (Phase.PENDING, Phase.ENDED):
                    ready.setdefault(index, state.since[index])
                    assert walked(run, count).ready_at(index) == state.since[index]
        last = walked(run, len(run.entries))
        for index, at in ready.items():
            assert last.ready_at(index) == at
            checked += 1
    assert checked > 80


def chain(count: int) -> Graph:
    steps = tuple(Step(f"step-{number:04}", StepKind.ACTION, {"with": {}}) for number in range(count))
    edges = tuple(Edge(f"step-{number:04}", f"step-{number + 1:04}") for number in range(count - 1))
    return Graph(steps, edges)


def lived(count: int, output: Any = 1) -> Play:
    run = play(chain(count), checks=False)
    for number in range(count):
        run.sleep(1.5)
        run.give(f"step-{number:04}", output)
    return run


def test_a_walk_costs_twice_as_much_for_twice_as_many_steps() -> None:
    short, long = lived(100), lived(200)
    assert calls_in(lambda: walked(long, 200)) < 2.2 * calls_in(lambda: walked(short, 100))


def test_an_outline_of_1000_steps_has_less_than_200_kb() -> None:
    run = lived(1_000, output="x" * 300)
    document = outlined(run, walked(run, 1_000))
    assert {step.status for step in document.steps} == {"success"}
    assert len(msgspec.json.encode(document)) < 200_000


def test_the_tries_of_a_step_that_fails_forever_are_counted_and_the_last_ones_shown() -> None:
    run = play(Graph((Step("a", StepKind.ACTION, retry=Retry(attempts=1_000, delay=1.0, jitter=False)),)), checks=False)
    for _ in range(150):
        run.fail("a", retry=True)
        run.sleep(4_000)
    [step] = outlined(run, walked(run, 150)).steps
    assert (len(step.tries), step.more_tries) == (100, 50)
    assert (step.tries[-1].attempt, step.attempt) == (150, 151)
    assert step.tries[0].error == "it failed with http_status"


def test_a_slim_entry_has_no_large_result_and_changes_nothing_else() -> None:
    run = lived(3, output="x" * SLIM_BYTES)
    for entry in run.entries:
        made = slim(entry)
        assert len(made.data) < 200 < SLIM_BYTES < len(entry.data)
        assert made[:-1] == entry[:-1]
        assert slim(entry, [entry.step or ""]) is entry
        assert slim(made) is made
