"""Answers as data: values, failures, attempts, items, and what cannot be one."""

from __future__ import annotations

from typing import Any

import pytest

from detent.catalog.examples import example_of
from detent.forms.compile import compile_document
from detent.forms.stated_answers import StatedAnswer, read_stated_answers
from detent.values.fields import Problems

GRAPH = compile_document(
    {
        "name": "x",
        "tasks": {
            "call": {"url": "https://x.example/"},
            "each": {"for_each": [1], "url": "https://x.example/"},
            "wait": {"wait_for_webhook": {}},
            "nap": {"sleep": "1s"},
        },
    }
).graph


def read(given: Any) -> tuple[dict[str, StatedAnswer], dict[str, str]]:
    problems = Problems()
    found = read_stated_answers(given, "answers", problems, GRAPH)
    return found, {problem.field: problem.message for problem in problems.found}


def answer(given: Any, step: str = "call") -> StatedAnswer:
    found, problems = read({step: given})
    assert problems == {}
    return found[step]


def test_a_value_is_an_answer_for_every_attempt() -> None:
    for value in (None, 5, "x", [1], {"a": 1}, {}):
        assert answer(value).outcome(1).value == answer(value).outcome(9).value == value
    assert answer({"$value": {"$a": 1}}).outcome(1).value == {"$a": 1}
    assert answer({"$status": 404, "$body": 1, "$headers": {"a": "b"}}).outcome(1).status == 404


def test_the_last_attempt_and_the_last_item_count_for_all_further_ones() -> None:
    several = answer({"$attempts": [{"$fail": "a"}, 2]})
    assert [several.outcome(number).value for number in (1, 2, 3)] == [None, 2, 2]
    items = answer({"$items": [1, {"$attempts": [{"$timeout": True}, 5]}]}, "each")
    assert items.outcome(1, 0).value == 1
    assert items.outcome(1, 1).failure is not None
    assert [items.outcome(2, number).value for number in (0, 1, 7)] == [1, 5, 5]


def test_a_failure_may_be_a_message_or_say_more() -> None:
    plain, more = (
        answer({"$fail": "no"}).outcome(1).failure,
        answer({"$fail": {"code": "c", "retry": False}}).outcome(1),
    )
    assert plain is not None
    assert (plain.message, plain.retry, plain.timed_out) == ("no", True, False)
    assert more.failure is not None
    assert (more.failure.code, more.failure.retry) == ("c", False)
    silent = answer({"$timeout": True}, "wait").outcome(1).failure
    assert silent is not None
    assert silent.timed_out
    assert answer({"$after": "2m", "$value": 1}, "wait").outcome(1).after == 120


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        (5, {"answers"}),
        ({"cal": 1}, {"answers.cal"}),
        ({"nap": 1}, {"answers.nap"}),
        ({"call": {"$statu": 1}}, {"answers.call.$statu"}),
        ({"call": {"$value": 1, "a": 2}}, {"answers.call.a"}),
        ({"call": {"$status": 99}}, {"answers.call.$status"}),
        ({"call": {"$attempts": []}}, {"answers.call.$attempts"}),
        ({"call": {"$attempts": [1], "$value": 2}}, {"answers.call.$value"}),
        ({"call": {"$attempts": [{"$items": [1]}]}}, {"answers.call.$attempts[0].$items"}),
        ({"call": {"$items": [1]}}, {"answers.call.$items"}),
        ({"each": {"$items": [{"$items": [1]}]}}, {"answers.each.$items[0]"}),
        ({"call": {"$after": "1m"}}, {"answers.call.$after"}),
        ({"call": {"$fail": 5}}, {"answers.call.$fail"}),
        ({"call": {"$fail": "x", "$status": 500}}, {"answers.call.$status"}),
        ({"call": {"$fail": "x", "$timeout": True}}, {"answers.call.$timeout"}),
        ({"call": {"$headers": {"a": 1}}}, {"answers.call.$headers.a"}),
        ({"call": {"$value": 1, "$body": 2}}, {"answers.call.$body"}),
        ({f"a/{number}": 1 for number in range(1_001)}, {"answers"}),
    ],
)
def test_what_is_not_an_answer_is_said_with_its_place(given: Any, fields: set[str]) -> None:
    assert set(read(given)[1]) == fields


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, None),
        ({"type": "string"}, "example"),
        ({"type": ["null", "integer"], "minimum": 3}, 3),
        ({"type": "number", "exclusiveMinimum": 0}, 1),
        ({"type": "string", "format": "date-time"}, "2026-02-22T10:00:00Z"),
        ({"type": "string", "minLength": 9, "maxLength": 9}, "examplexx"),
        ({"enum": ["b", "a"]}, "b"),
        ({"default": 7, "type": "string"}, 7),
        ({"type": "array", "items": {"type": "boolean"}}, [True]),
        ({"type": "array", "prefixItems": [{"const": 1}, {"type": "string"}]}, [1, "example"]),
        ({"type": "object", "properties": {"a": {"type": "string"}, "b": {"examples": [4]}}}, {"a": "example", "b": 4}),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"allOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": 2}}}]}, {"a": 1, "b": 2}),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "boolean"}}}, True),
        ({"$ref": "#/nowhere"}, None),
    ],
)
def test_an_example_has_the_shape_of_its_schema(schema: dict[str, Any], value: Any) -> None:
    assert example_of(schema) == value


def test_a_schema_that_refers_to_itself_has_an_example() -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}, "other": {"$ref": "#"}}}
    assert isinstance(example_of(schema), dict)
