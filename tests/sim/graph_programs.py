"""Workflows as only the graph form can write them.

Their edges are considered last or handle nothing, some of their conditions cannot be evaluated, some steps are
conditions, and `parallel` limits how many attempts are in flight at once.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

from detent.graph import codec
from detent.graph.model import (
    FAILURES,
    ON_ANY,
    ON_RAN,
    ON_SUCCESS,
    Edge,
    FailurePolicy,
    Graph,
    Join,
    OnCrash,
    Route,
    Step,
    StepKind,
)
from detent.planner.prepared import prepare
from tests.sim.programs import Program

POLICIES: Final = (FailurePolicy.SETTLE, FailurePolicy.FAIL_FAST)


def in_graph_form(rng: random.Random, program: Program) -> Program:
    """The same steps, joined as the graph form joins them."""
    graph = program.graph
    needs = {step.name: [edge.source for edge in graph.edges if edge.target == step.name] for step in graph.steps}
    return with_graph(
        program,
        replace(
            graph,
            steps=tuple(_make_step(rng, step, needs[step.name]) for step in graph.steps),
            edges=tuple(_make_edge(rng, edge) for edge in graph.edges),
            on_failure=rng.choice(POLICIES),
            parallel=rng.choice((None, 1, 2, 3)),
        ),
    )


def with_graph(program: Program, graph: Graph) -> Program:
    """The same workflow with another graph."""
    raw = codec.encode(graph)
    return replace(program, graph=graph, raw=raw, prepared=prepare(codec.decode(raw)))


def make_form_version(rng: random.Random, graph: Graph) -> Graph:
    """A version that may allow more or fewer attempts at once, or asks another question at an edge."""
    edges = list(graph.edges)
    if edges and rng.random() < 0.3:
        place = rng.randrange(len(edges))
        edges[place] = replace(edges[place], condition=rng.choice((None, *_questions(edges[place].source))))
    parallel = rng.choice((None, 1, 2, 3)) if rng.random() < 0.3 else graph.parallel
    return replace(graph, edges=tuple(edges), parallel=parallel)


def _questions(source: str) -> tuple[str, ...]:
    """Conditions that are true, false, or cannot be evaluated."""
    return ("1 < 2", "1 > 2", f"tasks.{source}.status == 'success'", f"tasks.{source}.nothing.such == 1")


def _make_step(rng: random.Random, step: Step, needs: list[str]) -> Step:
    step = replace(step, join=rng.choice(tuple(Join)), route=rng.choice(tuple(Route)))
    if step.kind is StepKind.WAIT or rng.random() > 0.2:
        return step
    question = rng.choice(_questions(rng.choice(needs)) if needs else ("1 < 2", "1 > 2", "trigger.body.missing.such"))
    config = {"expression": question}
    return replace(step, kind=StepKind.CONDITION, config=config, timeout=None, delay=None, on_crash=OnCrash.RETRY)


def _make_edge(rng: random.Random, edge: Edge) -> Edge:
    condition = rng.choice(_questions(edge.source)) if rng.random() < 0.25 else edge.condition
    made = replace(edge, condition=condition, order=rng.randrange(3), false_on_error=rng.random() < 0.6)
    match rng.randrange(6):
        case 0:
            return replace(made, on=rng.choice((FAILURES, ON_RAN, ON_SUCCESS)), otherwise=True)
        case 1:
            return replace(made, on=ON_RAN, handles=False)
        case 2:
            return replace(made, on=FAILURES)
        case 3:
            return replace(made, on=ON_ANY)
        case _:
            return made
