"""Tables of the pages say what the code says, and their examples are evaluated."""

import json
import re
from dataclasses import replace
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
from detent.forms.compile import compile_document
from detent.forms.definition import read_definition
from detent.forms.graph import node as graph_form
from detent.forms.rules import action as rule_form
from detent.forms.steps import step as steps_form
from detent.graph.model import NO_RETRY, Retry
from detent.python.flow import Policies
from detent.python.functions.step import read_retry
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


def test_the_tries_of_every_form_are_those_of_the_code() -> None:
    table = remarked_table("retries-and-failures.md", "attempts")
    found = {re.sub(r"\[(.*?)\]\(.*?\)", r"\1", row[0]): (row[3], row[4]) for row in table.rows}
    no_limit = (str(NO_RETRY.attempts), "none")
    assert found == {
        "step of the steps form": (str(steps_form.RETRY.attempts), f"{steps_form.TIMEOUT:g} s"),
        "node of a graph": (str(graph_form.RETRY.attempts), f"{graph_form.TIMEOUT:g} s"),
        "action of a rule": (str(rule_form.RETRY.attempts), f"{rule_form.TIMEOUT:g} s"),
        "step, node or action that is a child run": no_limit,
        "step of a durable function": (str(read_retry(None).attempts), "none"),
        "step of a workflow class": (f"1, then it {Policies().default.action}s", "none"),
    }
    for _, more, whole, *_ in table.rows:
        text = f"name: w\ntasks: {{a: {{action: core.echo, {more.strip('`') or 'retries: 5'}}}}}"
        if "retries: " in more:
            same = compile_document(read_definition(text)).graph.steps[0].retry
            other = compile_document(read_definition(text.replace(more.strip("`"), whole.strip("`")))).graph.steps[0]
            assert same == other.retry == replace(steps_form.RETRY, attempts=6)
    assert read_retry(5) == Retry(attempts=6)
