"""Values in the definition of a workflow template: their types, and that they never become expressions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.catalog.workflow_template import WorkflowTemplate, template_problems
from detent.errors import InvalidInput
from detent.expressions import ExpressionError, compile_expression, compile_template
from tests.graph.strategies import JSON
from tests.steps.escapes import ESCAPES, LEAKS

ANY_CONFIG = {"type": "object", "properties": {"x": {}, "y": {}}}


def instantiate(definition: dict[str, Any], schema: dict[str, Any] | None = None, **config: Any) -> dict[str, Any]:
    schema = ANY_CONFIG if schema is None else schema
    assert template_problems(definition, schema) == []
    template = WorkflowTemplate(
        id="t", title="T", description="", category="", definition=definition, config_schema=schema
    )
    return template.instantiate("made", "Made", config)


def filled(text: Any, **config: Any) -> Any:
    """What a parameter of an action becomes."""
    definition = {"tasks": {"a": {"action": "core.echo", "with": {"p": text}}}}
    return instantiate(definition, **config)["tasks"]["a"]["with"]["p"]


def rendered(text: Any, scope: dict[str, Any] | None = None, **config: Any) -> Any:
    """What a run sends for it."""
    return compile_template(filled(text, **config)).render(scope or {})


@settings(max_examples=40, deadline=None)
@given(JSON)
def test_a_place_alone_is_the_value_with_its_type_whatever_is_in_it(value: Any) -> None:
    assert rendered("${config.x}", x=value) == value
    assert rendered(["${config.x}", {"k": "${config.x}"}], x=value) == [value, {"k": value}]


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet="{}$'\"\\ ax%.\n", max_size=12), st.text(alphabet="{}' ax", max_size=6))
def test_a_text_in_other_text_stays_as_it_is(value: str, other: str) -> None:
    assert rendered("<${config.x}>", x=value) == f"<{value}>"
    assert rendered("${config.x}${config.y}", x=value, y=other) == value + other
    assert rendered("{${config.x}{{ n }}${config.y}}", {"n": 5}, x=value, y=other) == "{" + value + "5" + other + "}"


@settings(max_examples=40, deadline=None)
@given(JSON)
def test_a_value_in_an_expression_is_a_literal(value: Any) -> None:
    assert rendered("{{ [${config.x}, n] }}", {"n": 5}, x=value) == [value, 5]
    step = {"action": "core.echo", "if": "n == ${config.x}"}
    condition = instantiate({"tasks": {"a": step}}, x=value)["tasks"]["a"]["if"]
    assert compile_expression(condition).evaluate({"n": value}) is True


@pytest.mark.parametrize(
    "place",
    [
        ("tasks", "a", "if"),
        ("tasks", "a", "repeat", "until"),
        ("nodes", 0, "expression"),
        ("nodes", 0, "edges", 0, "condition"),
        ("trigger", "condition"),
        ("actions", 0, "action_config", "expression"),
        ("actions", 0, "repeat", "until"),
    ],
)
def test_every_condition_of_a_form_takes_literals(place: tuple[str | int, ...]) -> None:
    definition: Any = "x == ${config.x}"
    for key in reversed(place):
        definition = [definition] if isinstance(key, int) else {key: definition}
    found: Any = instantiate(definition, x="' || true || '")
    for key in place:
        found = found[key]
    assert found == "x == \"' || true || '\""


def test_no_published_escape_in_a_config_becomes_an_expression() -> None:
    for text in ESCAPES:
        assert rendered("a ${config.x} b", x=text) == f"a {text} b"
        assert rendered({"k": ["${config.x}"]}, x=text) == {"k": [text]}


def test_no_published_escape_in_an_expression_gets_out() -> None:
    scope = {"answers": {"items": "x"}, "trigger": {"body": {}}}
    for text in ESCAPES:
        try:
            made = json.dumps(compile_template(text).render(scope))
        except ExpressionError as error:
            made = error.message
        assert [leak for leak in LEAKS if leak in made] == [], text


def test_what_a_config_leaves_out_is_its_default_or_null() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"default": [1]}, "b": {"type": "object", "properties": {"c": {"type": "string"}}}},
    }
    definition = {"tasks": {"s": {"action": "core.echo", "with": {"a": "${config.a}", "c": "[${config.b.c}]"}}}}
    assert instantiate(definition, schema)["tasks"]["s"]["with"] == {"a": [1], "c": "[]"}
    assert instantiate(definition, schema, a=2, b={"c": "d"})["tasks"]["s"]["with"] == {"a": 2, "c": "[d]"}
    with pytest.raises(InvalidInput) as refused:
        instantiate(definition, schema, b={"c": 5})
    assert [one.field for one in refused.value.problems] == ["config.b.c"]


def test_the_name_and_the_title_are_those_of_the_new_workflow() -> None:
    steps = instantiate({"name": "old", "title": "Old", "tasks": {}})
    assert (steps["name"], steps["title"], list(steps)) == ("made", "Made", ["name", "title", "tasks"])
    graph = instantiate({"id": "old", "nodes": []})
    assert (graph["id"], graph["displayName"]) == ("made", "Made")


def test_keys_and_other_texts_with_a_dollar_stay_as_they_are() -> None:
    assert filled({"${config.x}": "${other.x} $x ${HOME}"}, x=1) == {"${config.x}": "${other.x} $x ${HOME}"}
