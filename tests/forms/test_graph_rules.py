"""The rules that a definition in the graph form has to keep beside its schema, one test each."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidDefinition
from detent.forms.graph.form import compile_graph
from tests.forms.graphs import document, edge, node


def refused(written: Any) -> list[str]:
    with pytest.raises(InvalidDefinition) as caught:
        compile_graph(written)
    return [str(problem) for problem in caught.value.problems]


def test_start_node_exists_in_nodes() -> None:
    assert refused(document(node("a"), startNode="b")) == ["startNode: no node 'b'; did you mean 'a'?"]


def test_all_target_nodes_of_edges_exist() -> None:
    found = refused(document(node("first", "frist", edge("nowhere", "failure"), "last"), node("last")))
    assert found == [
        "nodes.first.edges[0].targetNode: no node 'frist'; did you mean 'first'?",
        "nodes.first.edges[1].targetNode: no node 'nowhere'",
    ]


def test_on_failure_references_an_existing_node() -> None:
    assert refused(document(node("a", onFailure="alarm"))) == ["nodes.a.onFailure: no node 'alarm'"]


def test_action_type_is_required_for_an_action() -> None:
    for written in ({"id": "a"}, {"id": "a", "nodeType": "action"}):
        assert refused(document(written)) == ["nodes.a.actionType: is missing: name the action of this node"]


def test_workflow_id_is_required_for_a_subworkflow() -> None:
    found = refused(document({"id": "a", "nodeType": "subworkflow"}))
    assert found == ["nodes.a.workflowId: is missing: name the workflow that this node starts"]


def test_the_superset_graph_of_all_edges_is_acyclic_whatever_their_conditions() -> None:
    back = edge("a", "failure", condition="false")
    assert refused(document(node("a", "b"), node("b", back))) == ["nodes.a.edges: cycle: a -> b -> a"]
    assert refused(document(node("a", "b"), node("b", onFailure="a"))) == ["nodes.a.edges: cycle: a -> b -> a"]


def test_every_node_is_reachable_from_the_start_node_in_the_superset_graph() -> None:
    [found] = refused(document(node("a"), node("b")))
    assert found.startswith("nodes.b: unreachable: no path of edges leads from startNode 'a' to it")
    never, handler = edge("b", condition="false"), node("c")
    compile_graph(document(node("a", never), node("b", onFailure="c"), handler))
