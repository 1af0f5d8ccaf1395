"""Runs of one shape took the same path, whatever values they have."""

from __future__ import annotations

from detent.planner.moves.shape import Shape, shape_of
from tests.forms.graphs import edge
from tests.planner.play import Play, failure, play_graph, play_steps
from tests.planner.test_graph_form import tried


def shape(run: Play) -> Shape:
    return shape_of(1, run.opening, run.entries)


def routed(total: int) -> Play:
    run = play_graph(
        tried("a", edge("b", condition="context.data['a'].total > 5"), edge("c")),
        *map(tried, "bc"),
        trigger={"total": total},
    )
    run.give("a", {"total": total})
    return run


def test_values_and_instants_do_not_change_the_shape() -> None:
    first, second = routed(7), routed(9)
    second.sleep(100)
    first.give("b", {"x": 1})
    second.give("b", {"y": [2]})
    assert shape(first) == shape(second)


def test_another_edge_outcome_error_or_version_is_another_shape() -> None:
    runs = [routed(7), routed(3), routed(7), routed(7)]
    runs[2].attempt("b", failure("http_status"))
    runs[3].attempt("b", failure("timeout"))
    assert len({shape(run) for run in runs}) == 4
    assert shape_of(1, runs[0].opening, runs[0].entries) != shape_of(2, runs[0].opening, runs[0].entries)


def test_a_crash_of_another_step_is_another_shape() -> None:
    runs = [play_steps({"a": {}, "b": {}}) for _ in range(3)]
    runs[1].crash()
    runs[2].crash()
    assert shape(runs[0]) != shape(runs[1]) == shape(runs[2])
