"""What differs between two graphs: steps, edges and settings, by the paths of their fields."""

from dataclasses import replace

from hypothesis import given

from detent.graph.diff import ABSENT, EdgeChange, FieldChange, GraphDiff, StepChange, diff_graphs, diff_values
from detent.graph.model import ON_ANY, Edge, Graph, Retry, Route, Step, StepKind
from tests.graph.strategies import graphs

CHARGE = Step("charge", StepKind.HTTP, {"url": "https://a", "headers": {"x": "1", "y": "2"}}, timeout=30)
SHIP = Step("ship", StepKind.HTTP, {"url": "https://b"})
GRAPH = Graph((CHARGE, SHIP), (Edge("charge", "ship"),))


@given(graphs())
def test_a_graph_does_not_differ_from_itself(graph: Graph) -> None:
    assert not diff_graphs(graph, graph)
    assert not diff_graphs(graph, replace(graph, steps=graph.steps[::-1])), "the order of steps does not count"


@given(graphs(), graphs())
def test_a_difference_is_the_same_backwards(old: Graph, new: Graph) -> None:
    there, back = diff_graphs(old, new), diff_graphs(new, old)
    assert set(_names(there.added_steps)) == set(_names(back.removed_steps))
    assert {one.name for one in there.changed_steps} == {one.name for one in back.changed_steps}
    assert len(there.added_edges) == len(back.removed_edges)
    assert len(there.changed_edges) == len(back.changed_edges)
    turned = {(field, after, before) for field, before, after in map(_hashable, there.settings)}
    assert turned == set(map(_hashable, back.settings))


def _names(steps: tuple[Step, ...]) -> list[str]:
    return [step.name for step in steps]


def _hashable(change: FieldChange) -> tuple[str, str, str]:
    return change.field, repr(change.old), repr(change.new)


def test_one_changed_header_is_one_line() -> None:
    other = replace(CHARGE, config={"url": "https://a", "headers": {"x": "1", "y": "3", "z": "4"}}, timeout=60)
    found = diff_graphs(GRAPH, replace(GRAPH, steps=(other, SHIP)))
    fields = (
        FieldChange("config.headers.y", "2", "3"),
        FieldChange("config.headers.z", ABSENT, "4"),
        FieldChange("timeout", 30, 60),
    )
    assert found == GraphDiff(changed_steps=(StepChange("charge", fields),))


def test_steps_and_edges_come_and_go() -> None:
    mail = Step("mail", StepKind.ACTION, {"action": "core.echo"}, retry=Retry(attempts=3))
    new = Graph((CHARGE, mail), (Edge("charge", "mail", ON_ANY),), max_duration=60)
    assert diff_graphs(GRAPH, new) == GraphDiff(
        added_steps=(mail,),
        removed_steps=(SHIP,),
        added_edges=(Edge("charge", "mail", ON_ANY),),
        removed_edges=(Edge("charge", "ship"),),
        settings=(FieldChange("max_duration", None, 60),),
    )


def test_an_edge_that_changes_is_not_one_that_goes_and_one_that_comes() -> None:
    new = replace(GRAPH, edges=(Edge("charge", "ship", condition="a == 1"),))
    change = EdgeChange("charge", "ship", (FieldChange("condition", None, "a == 1"),))
    assert diff_graphs(GRAPH, new) == GraphDiff(changed_edges=(change,))


def test_of_several_edges_between_two_steps_equal_ones_are_paired_first() -> None:
    one, two, three = (Edge("charge", "ship", condition=text) for text in "abc")
    found = diff_graphs(replace(GRAPH, edges=(one, two)), replace(GRAPH, edges=(two, three)))
    assert found == GraphDiff(changed_edges=(EdgeChange("charge", "ship", (FieldChange("condition", "a", "c"),)),))
    found = diff_graphs(replace(GRAPH, edges=(one, two)), replace(GRAPH, edges=(two,)))
    assert found == GraphDiff(removed_edges=(one,))


def test_the_order_of_edges_counts_only_where_the_first_one_is_taken() -> None:
    edges = (Edge("charge", "ship", condition="a", order=0), Edge("charge", "ship", condition="b", order=1))
    turned = (replace(edges[0], order=1), replace(edges[1], order=0))
    assert not diff_graphs(replace(GRAPH, edges=edges), replace(GRAPH, edges=turned))
    first = replace(GRAPH, steps=(replace(CHARGE, route=Route.FIRST_MATCH), SHIP))
    found = diff_graphs(replace(first, edges=edges), replace(first, edges=turned))
    assert [change.fields[0].field for change in found.changed_edges] == ["order", "order"]


def test_values_of_different_types_differ() -> None:
    assert list(diff_values({"a": True}, {"a": 1})) == [FieldChange("a", True, 1)]
    assert list(diff_values({"a": [1]}, {"a": [True]})) == [FieldChange("a", [1], [True])]
    assert list(diff_values({"a": {"b": 1}}, {"a": [1]})) == [FieldChange("a", {"b": 1}, [1])]
    assert list(diff_values({"a": [{"b": 1}]}, {"a": [{"b": 1}]})) == []
