"""The fingerprint of a graph: what has no effect does not change it, and everything else does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from detent.graph.fingerprint import canonical, fingerprint
from detent.graph.model import (
    FAILURES,
    ON_RAN,
    Each,
    Edge,
    Graph,
    Join,
    Probe,
    Repeat,
    Retry,
    Route,
    Step,
    StepKind,
)

A, B, C = (Step(name, StepKind.ACTION, {"action": "core.echo", "with": {}}) for name in "abc")
EDGES = (Edge("a", "c", order=1), Edge("a", "b"), Edge("b", "c"))
GRAPH = Graph((A, B, C), EDGES)


def with_step(**fields: Any) -> Graph:
    return replace(GRAPH, steps=(replace(A, **fields), B, C))


SAME = [
    replace(GRAPH, edges=EDGES[::-1]),
    replace(GRAPH, edges=(replace(EDGES[0], order=0, false_on_error=True), *EDGES[1:])),
    with_step(title="a", join=Join.ANY, probe=Probe("bank.find")),
    with_step(config={"action": "core.echo", "version": "1.0.0", "with": {}}),
    with_step(timeout=None, delay=None),
    replace(GRAPH, steps=(A, replace(B, route=Route.FIRST_MATCH), C)),
]
DIFFERENT = [
    replace(GRAPH, steps=(A, C, B)),
    replace(GRAPH, steps=(A, B, replace(C, join=Join.ANY))),
    replace(GRAPH, edges=(*EDGES[:2], replace(EDGES[2], on=ON_RAN))),
    replace(GRAPH, edges=(replace(EDGES[0], condition="true"), *EDGES[1:])),
    replace(GRAPH, edges=(*EDGES[:2], replace(EDGES[2], handles=False))),
    replace(GRAPH, max_duration=5.0),
    with_step(route=Route.FIRST_MATCH),
    with_step(retry=Retry(attempts=2)),
    with_step(timeout=1.0),
    with_step(title="Another"),
    with_step(each=Each([1])),
    with_step(repeat=Repeat("true", every=1.0)),
]


@pytest.mark.parametrize("graph", SAME)
def test_graphs_that_mean_the_same_have_the_same_fingerprint(graph: Graph) -> None:
    assert fingerprint(graph) == fingerprint(GRAPH)


def test_graphs_that_differ_have_different_fingerprints() -> None:
    found = [fingerprint(graph) for graph in (GRAPH, *DIFFERENT)]
    assert len(set(found)) == len(found)


def test_the_order_of_edges_counts_only_with_first_match_and_among_those_considered_last() -> None:
    first = replace(GRAPH, steps=(replace(A, route=Route.FIRST_MATCH), B, C))
    turned = replace(first, edges=(replace(EDGES[0], order=0), replace(EDGES[1], order=1), EDGES[2]))
    assert fingerprint(first) != fingerprint(turned)
    assert [(edge.target, edge.order) for edge in canonical(first).edges] == [("b", 0), ("c", 1), ("c", 0)]
    last = [Edge("a", target, FAILURES, otherwise=True, order=order) for target, order in (("b", 7), ("c", 9))]
    one, other = (replace(GRAPH, edges=(*EDGES, *edges)) for edges in (last, [replace(last[0], order=10), last[1]]))
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    ("step", "field"),
    [
        (Step("a", StepKind.SLEEP, {"seconds": 1}), "seconds"),
        (Step("a", StepKind.WAIT, {"timeout": 1, "early": "buffer"}), "timeout"),
    ],
)
def test_durations_are_compared_in_microseconds(step: Step, field: str) -> None:
    near, far = (replace(step, config={**step.config, field: length}) for length in (1.000_000_4, 1.000_002))
    assert fingerprint(Graph((step,))) == fingerprint(Graph((near,)))
    assert fingerprint(Graph((step,))) != fingerprint(Graph((far,)))
    text = replace(step, config={**step.config, field: "{{ 1 }}"})
    assert canonical(Graph((text,))).steps[0].config[field] == "{{ 1 }}"
    repeats = (Repeat("true", every=1.0, give_up_after=give_up) for give_up in (None, 2.000_000_1))
    for repeat in repeats:
        found = canonical(with_step(repeat=repeat, timeout=1.000_000_1)).steps[0]
        assert found.repeat is not None
        assert (found.timeout, found.repeat.give_up_after) in ((1.0, None), (1.0, 2.0))
