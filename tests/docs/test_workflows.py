"""Every workflow on the pages is what they say it is, and runs to the end they promise."""

import json
import re
from typing import Any

import pytest

from detent.catalog.shipped import shipped_actions
from detent.errors import InvalidDefinition
from detent.forms.compile import compile_document
from detent.forms.definition import read_definition
from detent.steps.actions import registry
from detent.steps.connectors.shipped import offer_shipped
from detent.values.json import parse_json
from tests.docs import python_blocks, running
from tests.docs.pages import Block, blocks, blocks_of

SKIPPED_ENDINGS = {"skipped"}


def definition_of(block: Block) -> dict[str, Any]:
    """The definition of a block; a block without tasks, nodes or actions holds some steps of one."""
    document = read_definition(block.text, syntax="json" if block.language == "json" else "yaml")
    return document if {"tasks", "nodes", "actions"} & set(document) else {"name": "some-steps", "tasks": document}


def is_workflow(block: Block) -> bool:
    """YAML on the pages is workflows, but for tests in files of their own; JSON is also what the API answers."""
    if (block.remark("file") or "").endswith(".test.yaml"):
        return False
    keys = set(json.loads(block.text)) if block.language == "json" and block.text.startswith("{") else set()
    if block.remark("manifest") is not None:
        return False
    return block.language == "yaml" or {"name", "tasks"} <= keys or {"id", "nodes"} <= keys


WORKFLOWS = [block for block in blocks("yaml", "json") if is_workflow(block)]
GOOD = [block for block in WORKFLOWS if block.remark("refused") is None]
REFUSED = [block for block in WORKFLOWS if block.remark("refused") is not None]
WHOLE = [
    block for block in GOOD if re.search(r'"(tasks|nodes|actions)"|^(tasks|nodes|actions):$', block.text, re.MULTILINE)
]


def place(block: Block) -> str:
    return block.place


def test_there_are_examples_of_every_sort() -> None:
    assert len(WHOLE) >= 10
    assert REFUSED


@pytest.mark.parametrize("block", GOOD, ids=place)
def test_the_workflow_is_accepted_without_a_remark(block: Block) -> None:
    python_blocks.execute(block.page)
    offer_shipped()
    compiled = compile_document(definition_of(block), actions=(*registry.names(), *shipped_actions()))
    assert compiled.warnings == ()


@pytest.mark.parametrize("block", REFUSED, ids=place)
def test_the_workflow_is_refused_for_what_the_page_says(block: Block) -> None:
    with pytest.raises(InvalidDefinition) as refused:
        compile_document(definition_of(block))
    problems = refused.value.problems
    assert sorted(problem.field for problem in problems) == sorted((block.remark("refused") or "").split(", "))
    following = blocks_of(block.page)[blocks_of(block.page).index(block) + 1]
    assert sorted(following.text.splitlines()) == sorted(str(problem) for problem in problems)


def _children_of(block: Block) -> list[dict[str, Any]]:
    """The workflows of the same page that steps of this one start."""
    steps = definition_of(block).get("tasks", {}).values()
    named = {step.get("workflow") for step in steps if isinstance(step, dict)} - {None}
    return [found for one in WHOLE if one.page == block.page and (found := definition_of(one)).get("name") in named]


@pytest.mark.parametrize("block", WHOLE, ids=place)
async def test_the_workflow_runs_to_the_end_the_page_promises(block: Block) -> None:
    python_blocks.execute(block.page)
    document = await running.run(
        definition_of(block),
        given=json.loads(block.remark("input") or "{}"),
        answers=block.all_remarks("answer"),
        calls=block.all_remarks("call"),
        children=_children_of(block),
    )
    errors = {name: step["error"] for name, step in document["tasks"].items() if step["error"]}
    assert document["status"] == (block.remark("status") or "completed"), errors
    # What a page shows is what runs: a workflow whose steps were all skipped would show nothing.
    assert any(step["status"] not in SKIPPED_ENDINGS for step in document["tasks"].values())
    unexpected = {error["code"] for error in errors.values()} - {"http_status", *block.all_remarks("error")}
    assert not unexpected, errors


@pytest.mark.parametrize("block", [one for one in blocks("json") if not is_workflow(one)], ids=place)
def test_a_block_marked_as_json_is_json(block: Block) -> None:
    text = block.text if block.text.lstrip().startswith(("{", "[")) else f"{{{block.text}}}"
    parse_json(text, InvalidDefinition)
