"""Tables of the pages say what the code says, and their examples are evaluated."""

import json
from typing import Any

import pytest

from detent.expressions import (
    FUNCTIONS,
    NOW,
    SEED,
    ExpressionError,
    Headers,
    Scope,
    compile_expression,
    compile_template,
)
from detent.expressions.functions import ALIASES
from tests.docs.pages import DOCS, blocks_of, remarked_table


def scope() -> dict[str, Any]:
    [block] = [one for one in blocks_of(DOCS / "expressions.md") if one.remark("scope") is not None]
    found: dict[str, Any] = json.loads(block.text)
    for step in found["tasks"].values():
        step["headers"] = None if step["headers"] is None else Headers(step["headers"])
    return found


def rows(remark: str) -> list[tuple[str, ...]]:
    return list(remarked_table("expressions.md", remark).rows)


@pytest.mark.parametrize(("source", "value"), rows("conditions"))
def test_a_condition_gives_what_its_row_says(source: str, value: str) -> None:
    expression = compile_expression(source)
    if value.startswith("error: "):
        with pytest.raises(ExpressionError) as raised:
            expression.evaluate(scope())
        assert value.removeprefix("error: ") in raised.value.message
    else:
        assert_same(expression.evaluate(scope()), json.loads(value))


@pytest.mark.parametrize(("source", "value"), rows("templates"))
def test_a_template_becomes_what_its_row_says(source: str, value: str) -> None:
    template = compile_template(source)
    if value.startswith("error: "):
        with pytest.raises(ExpressionError) as raised:
            template.render(scope())
        assert raised.value.message.startswith(value.removeprefix("error: "))
    else:
        assert_same(template.render(scope()), json.loads(value))


FUNCTION_ROWS = [row for remark in ("functions", "lists", "dates", "texts") for row in rows(remark)]
#: The page says that its dates are evaluated then.
THEN: Scope = {NOW: 1_772_357_400_000_000, SEED: b"run/step"}


@pytest.mark.parametrize(("name", "description", "example", "value"), FUNCTION_ROWS)
def test_a_function_gives_what_its_row_says(name: str, description: str, example: str, value: str) -> None:
    assert FUNCTIONS[name] == description
    assert name in example
    assert_same(compile_expression(example).evaluate(THEN), json.loads(value))


def test_every_function_has_a_row() -> None:
    assert [row[0] for row in FUNCTION_ROWS] == list(FUNCTIONS)


def test_every_other_name_of_a_function_is_on_the_page() -> None:
    text = (DOCS / "expressions.md").read_text()
    assert [f"`{alias}` is `{name}`" in text for alias, name in ALIASES.items()] == [True] * len(ALIASES)


def assert_same(found: object, wanted: object) -> None:
    """Equal, and of the same type: 1 is not 1.0 and not true."""
    assert json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True)
