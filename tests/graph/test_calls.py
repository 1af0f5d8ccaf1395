"""What a graph calls, and graphs that a newer Detent wrote."""

from __future__ import annotations

import json

import pytest

from detent.errors import UnknownGraph
from detent.graph import codec
from detent.graph.check import called_actions, called_workflows, pinned_versions
from detent.graph.draw import outline, text
from detent.graph.model import Edge, Graph, Step, StepKind

CHILD = StepKind.SUBWORKFLOW
GRAPH = Graph(
    (
        Step("call", StepKind.ACTION, {"action": "core.echo"}),
        Step("any", StepKind.ACTION, {"action": "{{ trigger.body.action }}"}),
        Step("pinned", CHILD, {"workflow": "charge", "version": 3}),
        Step("again", CHILD, {"workflow": "order", "recursion": True, "detached": True}),
        Step("rendered", CHILD, {"workflow": "{{ trigger.body.workflow }}"}),
    ),
    (Edge("call", "pinned"),),
)


def test_the_workflows_that_a_graph_names_are_found_with_whether_they_may_recur() -> None:
    assert called_workflows(GRAPH) == [("pinned", "charge", False), ("again", "order", True)]
    assert pinned_versions(GRAPH) == {"pinned": 3}


def test_the_actions_that_a_graph_names_are_found() -> None:
    assert called_actions(GRAPH) == [("call", "core.echo")]


def test_an_outline_has_each_step_with_the_lines_that_lead_to_it() -> None:
    assert [name for name, _ in outline(GRAPH)] == ["call", "pinned", "any", "again", "rendered"]


def test_a_child_is_drawn_with_its_version_and_whether_it_is_waited_for() -> None:
    drawn = text(GRAPH)
    assert "charge version 3" in drawn
    assert "order without waiting for it" in drawn


@pytest.mark.parametrize("change", [{"hologram": 1}, {"on_failure": "shrug"}, {"steps": 5}])
def test_a_graph_with_a_part_of_a_newer_detent_cannot_be_read(change: dict[str, object]) -> None:
    written = json.dumps({**json.loads(codec.encode(GRAPH)), **change}).encode()
    with pytest.raises(UnknownGraph, match="cannot read a part of the graph"):
        codec.decode(written)


@pytest.mark.parametrize(("written", "count"), [({"steps": [1, 2], "new": 3}, 2), ({"steps": 5}, 0), ([], 0)])
def test_the_steps_of_a_graph_that_cannot_be_read_are_counted(written: object, count: int) -> None:
    assert codec.count_steps(json.dumps(written).encode()) == count


def test_only_a_durable_function_receives_signals() -> None:
    assert [kind for kind in StepKind if kind.receives_signals] == [StepKind.FUNCTION]
