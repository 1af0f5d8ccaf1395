"""The rules of every graph."""

from __future__ import annotations

import itertools

from hypothesis import given

from detent.errors import Problem
from detent.graph import check as graph_check
from detent.graph.check import check, cycles, describe_cycle, in_order, pinned_actions, upstream
from detent.graph.model import Edge, Ending, Graph, Probe, Step, StepKind
from tests.graph.strategies import graph_of, plain, shapes


def chain(count: int) -> Graph:
    names = [f"s{number}" for number in range(count)]
    return graph_of(names, list(itertools.pairwise(names)))


def reachable(graph: Graph, start: str) -> set[str]:
    """Everything behind a step, by the plainest possible search."""
    found: set[str] = set()
    pending = [start]
    while pending:
        name = pending.pop()
        for edge in graph.edges:
            if edge.source == name and edge.target not in found:
                found.add(edge.target)
                pending.append(edge.target)
    return found


def test_a_graph_without_steps_is_refused() -> None:
    assert check(Graph(())) == [Problem("steps", "there are no steps")]


def test_a_good_graph_has_no_problems() -> None:
    assert check(graph_of(["a", "b", "c"], [("a", "b"), ("a", "c"), ("b", "c")])) == []


def test_a_name_that_is_there_twice_is_a_problem() -> None:
    assert check(graph_of(["a", "b", "a"], [])) == [Problem("steps.a", "there are two steps named 'a'")]


def test_names_that_differ_only_in_case_are_a_problem() -> None:
    [problem] = check(graph_of(["Straße", "STRASSE"], []))
    assert problem == Problem(
        "steps.STRASSE", "'STRASSE' and 'Straße' differ only in case; give one of them another name"
    )


def test_an_edge_must_join_steps_that_exist() -> None:
    assert check(graph_of(["a"], [("a", "x"), ("y", "a")])) == [
        Problem("edges[0].target", "no step 'x'"),
        Problem("edges[1].source", "no step 'y'"),
    ]


def test_an_edge_that_no_ending_satisfies_is_a_problem() -> None:
    graph = Graph((plain("a"), plain("b")), (Edge("a", "b", on=frozenset()),))
    assert check(graph) == [Problem("edges[0].on", "never taken: no ending of 'a' satisfies it")]


def test_the_same_edge_twice_is_a_problem_but_two_ways_between_steps_are_not() -> None:
    failed = frozenset({Ending.FAILED})
    two_ways = (Edge("a", "b"), Edge("a", "b", on=failed), Edge("a", "b", condition="x"))
    assert check(Graph((plain("a"), plain("b")), two_ways)) == []
    assert check(Graph((plain("a"), plain("b")), (*two_ways, Edge("a", "b", on=failed)))) == [
        Problem("edges[3]", "a second edge from 'a' to 'b' like one before")
    ]


def test_a_cycle_is_named_from_its_first_step_along_its_edges() -> None:
    graph = graph_of(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    assert check(graph) == [Problem("steps.a", "cycle: a -> b -> c -> a")]


def test_a_step_behind_itself_is_a_cycle() -> None:
    assert cycles(graph_of(["a"], [("a", "a")])) == [("a",)]


def test_every_knot_is_reported_also_one_behind_another() -> None:
    graph = graph_of(["d", "c", "b", "a"], [("a", "b"), ("b", "a"), ("a", "c"), ("c", "d"), ("d", "c")])
    assert cycles(graph) == [("d", "c"), ("b", "a")]


def test_a_cycle_of_ten_thousand_steps_is_found_and_its_message_stays_short() -> None:
    graph = chain(10_000)
    [cycle] = cycles(Graph(graph.steps, (*graph.edges, Edge("s9999", "s0"))))
    assert len(cycle) == 10_000
    assert describe_cycle(cycle).startswith("cycle: s0 -> s1 -> ")
    assert " -> (9988 more) -> " in describe_cycle(cycle)
    assert describe_cycle(cycle).endswith(" -> s9999 -> s0")


def test_a_chain_of_ten_thousand_steps_has_all_of_it_upstream_of_its_end() -> None:
    before = upstream(chain(10_000), ["s9999", "s1"])
    assert len(before.names("s9999")) == 9_999
    assert before.names("s1") == ["s0"]
    assert "s2" not in before


def test_nothing_is_said_about_what_stands_before_a_cycle() -> None:
    before = upstream(graph_of(["a", "b", "c", "d"], [("b", "c"), ("c", "b"), ("c", "d")]), ["a", "b", "c", "d"])
    assert [name for name in "abcd" if name in before] == ["a"]


@given(shapes(acyclic=True))
def test_the_order_of_an_acyclic_graph_puts_each_step_after_what_it_needs(graph: Graph) -> None:
    order = in_order(graph)
    assert sorted(order) == sorted(step.name for step in graph.steps)
    assert all(order.index(edge.source) < order.index(edge.target) for edge in graph.edges)
    assert cycles(graph) == []


@given(shapes(acyclic=False))
def test_a_graph_has_a_cycle_exactly_if_some_step_is_behind_itself(graph: Graph) -> None:
    looped = {step.name for step in graph.steps if step.name in reachable(graph, step.name)}
    found = cycles(graph)
    assert bool(found) == bool(looped)
    pairs = {(edge.source, edge.target) for edge in graph.edges}
    for cycle in found:
        assert all(pair in pairs for pair in zip(cycle, (*cycle[1:], cycle[0]), strict=True))
    # One for each knot: every looped step reaches, and is reached by, a step of exactly one reported cycle.
    for name in looped:
        behind = reachable(graph, name)
        assert sum(cycle[0] in behind and name in reachable(graph, cycle[0]) for cycle in found) == 1


@given(shapes(acyclic=False))
def test_upstream_agrees_with_a_plain_search(graph: Graph) -> None:
    names = [step.name for step in graph.steps]
    before = upstream(graph, names)
    for name in names:
        if name in before:
            assert before.names(name) == [other for other in names if name in reachable(graph, other)]


def test_the_pinned_versions_are_those_of_actions_that_are_data_and_of_their_probes() -> None:
    pinned = Step(
        "a", StepKind.ACTION, {"action": "slack.post", "version": "1.2.0"}, probe=Probe("slack.find", "1.1.0")
    )
    own = Step("b", StepKind.ACTION, {"action": "shop.pay"}, probe=Probe("shop.find"))
    other = Step("c", StepKind.HTTP, {"url": "https://x.example/", "version": "9"})
    assert pinned_actions(Graph((pinned, own, other))) == {"slack.post": "1.2.0", "slack.find": "1.1.0"}


def test_what_can_be_reached_has_the_starts_and_everything_after_them() -> None:
    steps = tuple(Step(name, StepKind.WAIT) for name in "abcde")
    graph = Graph(steps, (Edge("a", "b"), Edge("a", "c"), Edge("b", "c"), Edge("c", "a"), Edge("d", "e")))
    assert graph_check.reachable(graph, ["b"]) == {"a", "b", "c"}
    assert graph_check.reachable(graph, ["e", "d"]) == {"d", "e"}
    assert graph_check.reachable(graph, []) == set()
