"""Shapes take plain values without an expression, and fill in exactly what an expression would."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from detent.catalog.data_action import BoundAction, DataAction
from detent.catalog.shape import compile_shape
from detent.expressions import ExpressionError, Mode, compile_expression, compile_template
from tests.catalog.manifests import answered, compiled, parameters

VALUES: list[Any] = [
    *("a", "", "with blank", "ä", "\ud800", "x" * 1_001, "x" * 100_000, "{{ with.a }}"),
    *(0, -7, 2**53, 2**63 - 1, 2**2000, 1.5, float("inf"), True, None),
    *({"b": "inner"}, {"b": None}, {}, ["a"], []),
]
SHAPES: list[Any] = [
    "{{ with.a }}",
    "{{ with.a.b }}",
    "{{ response.body.a }}",
    "{{response.body.a.b}}",
    "{{ with.a }}/{{ response.body.a }}",
    "#{{ response.body.a }}",
    "{{ with.a.b }}-{{ response.body.a.b }}!",
    "{{ with.a }} of {{ call.key }}",
    {"one": "{{ response.body.a }}", "two": "{{ response.body.b }}"},
    {"one": "{{ response.body.a }}", "fixed": 7, "deep": {"two": "{{ response.body.a.b }}"}},
    ["{{ response.body.a }}", "{{ with.a }}", 7],
]


def bound_to(given: dict[str, Any], body: Any, action: DataAction | None = None) -> BoundAction:
    bound = (action or compiled({"parameters": parameters(a={}, b={})})).bind(given, "key-1", 5)
    bound.read(answered(body))
    return bound


def outcome(fill: Callable[[BoundAction], Any], bound: BoundAction) -> Any:
    """Return what is filled in, or why nothing is."""
    try:
        return fill(bound)
    except ExpressionError as error:
        return error.message.rpartition("}}: ")[2]


def evaluated(shape: Any, bound: BoundAction) -> Any:
    """Return a shape as expressions and templates alone fill it in."""
    if isinstance(shape, dict):
        return {key: evaluated(one, bound) for key, one in shape.items()}
    if isinstance(shape, list):
        return [evaluated(one, bound) for one in shape]
    if isinstance(shape, str) and shape.startswith("{{") and shape.count("{{") == 1 and shape.endswith("}}"):
        return compile_expression(shape[2:-2].strip(), Mode.TEMPLATE).evaluate(bound.scope())
    return compile_template(shape).render(bound.scope())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_shape_fills_in_what_expressions_would(shape: Any) -> None:
    fill = compile_shape(shape)
    assert fill is not None
    action = compiled({"parameters": parameters(a={}, b={})})
    for one in VALUES:
        for given, body in (({"a": one}, {"a": one}), ({"a": "1"}, {"a": one, "b": one}), ({"a": one}, {})):
            bound = bound_to(given, body, action)
            assert repr(outcome(fill, bound)) == repr(outcome(partial(evaluated, shape), bound))


@pytest.mark.parametrize("body", [None, [], "text", 7], ids=repr)
def test_an_answer_that_is_not_an_object_has_no_fields(body: Any) -> None:
    for shape in ({"one": "{{ response.body.a }}"}, "{{ response.body.a }}", "#{{ response.body.a }}"):
        fill = compile_shape(shape)
        assert fill is not None
        with pytest.raises(ExpressionError):
            fill(bound_to({}, body))


def test_an_object_keeps_the_order_of_its_manifest() -> None:
    shape = {
        "z": "{{ with.a }}",
        "fixed": 7,
        "y": "{{ with.b }}",
        "key": "{{ call.key }}",
        "x": {"deep": "{{ with.a }}"},
    }
    fill = compile_shape(shape, frozenset({"a", "b"}))
    assert fill is not None
    assert list(fill(bound_to({"b": 2, "a": 1}, None)).items()) == [
        *(("z", 1), ("fixed", 7), ("y", 2), ("key", "key-1"), ("x", {"deep": 1})),
    ]
    assert list(fill(bound_to({"b": 2}, None)).items()) == [("fixed", 7), ("y", 2), ("key", "key-1"), ("x", {})]


def test_filling_in_changes_no_shape() -> None:
    shape = {"a": "{{ with.a }}", "list": ["{{ with.a }}", {"b": "{{ with.b }}"}]}
    fill = compile_shape(shape, frozenset({"a", "b"}))
    assert fill is not None
    fill(bound_to({"a": 1, "b": 2}, None))
    assert fill(bound_to({}, None)) == {"list": [None, {}]}
    assert shape == {"a": "{{ with.a }}", "list": ["{{ with.a }}", {"b": "{{ with.b }}"}]}
