"""The JSON Schema of what starts a run."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidDefinition
from detent.forms.payload_schema import (
    LARGEST_SCHEMA,
    MOST_PROBLEMS,
    MOST_WORK,
    PayloadSchema,
    check_schema,
    plain_parts,
    size,
    work,
)
from detent.forms.steps.form import compile_steps

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
ORDER: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": ["string", "integer"]},
        "email": {"format": "email"},
        "items": {"items": {"properties": {"price": {"type": "number", "minimum": 0}}}, "maxItems": 3},
        "odd name": {"const": True},
    },
}


def told(schema: dict[str, Any], body: Any) -> list[tuple[str, str]]:
    return [(problem.field, problem.message) for problem in PayloadSchema(schema).problems(body)]


def test_a_body_that_keeps_its_schema_has_no_problems() -> None:
    assert told(ORDER, {"id": 5, "email": "ada@shop.example", "items": [{"price": 1.5}, {}], "odd name": True}) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, ("body.id", "is missing")),
        ([], ("body", "must be of type object")),
        (None, ("body", "must be of type object")),
        ({"id": None}, ("body.id", "must be of type integer or string")),
        ({"id": True}, ("body.id", "must be of type integer or string")),
        ({"id": 1, "email": "nobody"}, ("body.email", 'it is not a "email"')),
        ({"id": 1, "items": [{}, {"price": "x"}]}, ("body.items[1].price", "must be of type number")),
        ({"id": 1, "items": [{"price": -1}]}, ("body.items[0].price", "it is less than the minimum of 0")),
        ({"id": 1, "items": [1, 2, 3, 4]}, ("body.items", "it has more than 3 items")),
        ({"id": 1, "odd name": 1}, ("body['odd name']", "must be true")),
        ({"id": 1, "a": 1, "b": 2}, ("body", "has fields that are not allowed: a, b")),
    ],
)
def test_a_problem_of_a_body_has_its_path(body: Any, problem: tuple[str, str]) -> None:
    assert told(ORDER, body) == [problem]


def test_all_problems_of_a_body_are_told_at_once() -> None:
    fields = {field for field, _ in told(ORDER, {"email": 1, "items": [{"price": "x"}, {"price": -1}], "zz": 1})}
    assert fields == {"body.id", "body.items[0].price", "body.items[1].price", "body"}


def test_only_the_first_problems_are_told() -> None:
    assert len(told({"items": {"type": "string"}}, [1] * 500)) == MOST_PROBLEMS


def test_what_was_sent_is_not_repeated() -> None:
    assert "private" not in str(told({"properties": {"a": {"enum": [1, 2]}}}, {"a": "private" * 1000}))


@pytest.mark.parametrize(
    ("schema", "field", "message"),
    [
        ([], "trigger_schema", "must be a mapping"),
        ("x", "trigger_schema", "must be a mapping"),
        (True, "trigger_schema", "must be a mapping"),
        ({"type": "objekt"}, "trigger_schema.type", "must be one of array, boolean"),
        ({"properties": {"a": 5}}, "trigger_schema.properties.a", "is not of types"),
        ({"properties": {"a": {"minimum": "x"}}}, "trigger_schema.properties.a.minimum", 'not of type "number"'),
        ({"pattern": "("}, "trigger_schema.pattern", "is not a pattern"),
        ({"items": {"pattern": "(?=a)b"}}, "trigger_schema.items.pattern", "look-around"),
        ({"pattern": r"(a)\1"}, "trigger_schema.pattern", "back-references"),
        ({"pattern": "((a{1,999}){1,999}){1,999}"}, "trigger_schema.pattern", "is not a pattern that can be used"),
        ({"$ref": "#/$defs/ordr", "$defs": {"order": {}}}, "trigger_schema.$ref", "did you mean '#/$defs/order'?"),
        ({"allOf": [{"$ref": "#x"}]}, "trigger_schema.allOf[0].$ref", "nothing is fetched"),
        ({"$ref": "#"}, "trigger_schema", "leads back to itself"),
        ({"properties": {"a": {"$anchor": "x"}}}, "trigger_schema.properties.a.$anchor", "is not supported"),
        ({"properties": {"a": {"$id": "x"}}}, "trigger_schema.properties.a.$id", "only the whole schema"),
        ({"$schema": DRAFT_4, "not": {"id": "x"}}, "trigger_schema.not.id", "only the whole schema may have an id"),
        ({"$schema": "https://shop.example/schema"}, "trigger_schema", "is not a schema that can be used"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "type": "x"}, "trigger_schema.type", "must be one of"),
        ({"description": "x" * LARGEST_SCHEMA}, "trigger_schema", "at most 65536 are allowed"),
    ],
)
def test_a_problem_of_a_schema_is_named(schema: object, field: str, message: str) -> None:
    (found,) = check_schema(schema)
    assert found.field == field
    assert message in found.message


def test_all_problems_of_a_schema_are_told_at_once() -> None:
    schema = {"type": "x", "required": 5, "properties": {"a": {"minimum": "y"}, "b": {"$ref": "https://shop.example/"}}}
    assert {problem.field for problem in check_schema(schema)} == {
        "trigger_schema.type",
        "trigger_schema.required",
        "trigger_schema.properties.a.minimum",
        "trigger_schema.properties.b.$ref",
    }


@pytest.mark.parametrize(
    "place", [{}, {"items": {}}, {"unknown": {}}, {"$schema": "https://json-schema.org/draft/2020-12/schema"}]
)
@pytest.mark.parametrize("key", ["$ref", "$schema", "$dynamicRef"])
def test_nothing_is_ever_fetched(place: dict[str, Any], key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        schema = {**place, key: address} if "items" not in place else {"items": {key: address}}
        schema = {"unknown": {key: address}, "$ref": "#/unknown"} if "unknown" in place else schema
        # A nested `$schema` says nothing; everywhere else the address must be refused.
        assert check_schema(schema) or "items" in schema
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_file_of_the_machine_cannot_be_a_schema() -> None:
    assert check_schema({"$ref": "file:///etc/passwd"})


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(x+x+)+y", "(.*a.*){20}b", "[ab]*a[ab]{200}c"])
def test_no_pattern_takes_long(pattern: str) -> None:
    schema = PayloadSchema({"items": {"pattern": pattern}})
    schema.problems(["a" * 120_000 + "!", "ab" * 60_000 + "!"])


def doubling(levels: int) -> dict[str, Any]:
    """Each definition refers to the next one twice."""
    twice = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/a0", "$defs": {**twice, f"a{levels}": {"type": "string"}}}


def test_references_that_double_again_and_again_are_refused() -> None:
    assert check_schema(doubling(5)) == []
    assert "branches too often" in check_schema(doubling(40))[0].message


def test_a_chain_of_very_many_references_is_refused() -> None:
    chain = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(1_500)}
    schema = {"$ref": "#/$defs/a0", "$defs": {**chain, "a1500": {"type": "string"}}}
    assert check_schema(schema)


def test_a_schema_may_refer_to_itself_deeper() -> None:
    tree = {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "value": {"type": "number"}}}
    body: dict[str, Any] = {"value": "x"}
    for _ in range(20):
        body = {"left": body, "right": {}}
    ((field, message),) = told(tree, body)
    assert field.startswith("body.left.left.left")
    assert message == "must be of type number"


def test_a_body_that_makes_a_schema_branch_without_end_is_refused_in_time() -> None:
    schema = {"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}, "required": ["z"]}
    body: dict[str, Any] = {}
    for _ in range(60):
        body = {"a": body}
    assert "too much work" in told(schema, body)[0][1]


def test_a_long_list_of_large_choices_is_refused_in_time() -> None:
    schema = {"items": {"enum": [{"a": number} for number in range(3_000)]}}
    assert "too much work" in told(schema, [{"a": 1}] * 20_000)[0][1]


def test_a_very_long_array_is_checked() -> None:
    assert told({"items": {"type": "integer"}}, [1] * 120_000) == []
    assert told({"items": {"type": "integer"}}, [1] * 100_000 + ["x"]) == [("body[100000]", "must be of type integer")]


@pytest.mark.parametrize(
    "schema",
    [
        {"dependentSchemas": {"a": {"$ref": "#/$defs/x"}}},
        {"if": {"$ref": "#/$defs/x"}},
        {"properties": {"a": {"$ref": "#/$defs/x"}}},
        {"patternProperties": {"^a": {"$ref": "#/$defs/x"}}},
        {"additionalProperties": {"$ref": "#/$defs/x"}},
        {"propertyNames": {"$ref": "#/$defs/x"}},
        {"properties": {"b": {"prefixItems": [{"$ref": "#/$defs/x"}]}}},
        {"properties": {"b": {"items": {"$ref": "#/$defs/x"}}}},
        {"properties": {"b": {"contains": {"$ref": "#/$defs/x"}}}},
        {"not": {"$ref": "#/%24defs/x"}},
    ],
)
def test_every_way_to_apply_a_schema_is_counted(schema: dict[str, Any]) -> None:
    heavy = {"allOf": [{"type": "string"}] * 1_000}
    assert 1_000 < work({**schema, "$defs": {"x": heavy}}, {"a": 1, "b": [2]}) < MOST_WORK


@pytest.mark.parametrize("body", [{}, [], 5, {"a": [1, {"b": 2}], "c": "x"}, [[1, 2], [3]]])
@pytest.mark.parametrize("schema", [ORDER, {}, {"items": {"anyOf": [{"type": "string"}, {"minimum": 2}]}}])
def test_the_quick_look_at_the_work_never_says_less(schema: dict[str, Any], body: Any) -> None:
    parts = plain_parts(schema)
    assert parts is not None
    assert 3 * parts * size(body, 1_000) >= work(schema, body)


def test_only_a_schema_without_references_is_looked_at_quickly() -> None:
    assert plain_parts({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {}}}) is None
    assert plain_parts({"enum": [{"a": 1}]}) is None
    assert size([[1] * 50] * 50, 100) < 300


def test_a_schema_that_cannot_be_one_makes_no_validator() -> None:
    with pytest.raises(InvalidDefinition):
        PayloadSchema({"type": "x"})


def definition(**fields: Any) -> dict[str, Any]:
    return {"name": "a", "tasks": {"a": {"sleep": 1}}, **fields}


def test_a_definition_keeps_its_schema() -> None:
    assert compile_steps(definition(trigger_schema=ORDER)).trigger_schema == ORDER
    assert compile_steps(definition()).trigger_schema is None


def test_a_definition_with_a_wrong_schema_is_refused_with_all_its_problems() -> None:
    with pytest.raises(InvalidDefinition) as caught:
        compile_steps(definition(trigger_schema={"type": "x", "required": 5}, nmae="b"))
    assert [problem.field for problem in caught.value.problems] == [
        "nmae",
        "trigger_schema.required",
        "trigger_schema.type",
    ]


def test_a_schema_that_no_run_of_cron_can_keep_is_warned_of() -> None:
    cron = {"trigger": "cron", "cron_expression": "@daily"}
    (warning,) = compile_steps(definition(trigger_schema=ORDER, **cron)).warnings
    assert warning.startswith("trigger_schema: the body of a run that cron starts is {}")
    assert "body.id: is missing" in warning
    assert compile_steps(definition(trigger_schema={"type": "object"}, **cron)).warnings == ()


words = st.sampled_from(["string", "object", "#", "#/$defs/a", "(", "^a", "https://shop.example/", "x", ""])
scalars = words | st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-2, 2)
keywords = st.sampled_from(
    ["type", "properties", "items", "$ref", "allOf", "anyOf", "not", "enum", "const", "required", "pattern", "$id", "a"]
    + ["$schema", "$defs", "minimum", "format", "patternProperties", "additionalProperties", "if", "prefixItems"]
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keywords, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(keywords, values, max_size=5), values)
def test_any_schema_is_refused_or_can_be_used(schema: dict[str, Any], body: Any) -> None:
    if not check_schema(schema):
        PayloadSchema(schema).problems(body)
