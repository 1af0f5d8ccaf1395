"""Names and inputs that a function gives are checked where it gives them, and so are those of definitions."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from detent.errors import InvalidDefinition, InvalidInput
from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.functions import Run, workflow
from detent.python.registry import registry
from tests.python.function.ports import Stage
from tests.python.function.test_operations import double, output


class Colour(Enum):
    RED = "red"


class Other(Workflow, abstract=True):
    name = "Other"


_HOLDS_ITSELF: dict[str, Any] = {}
_HOLDS_ITSELF["itself"] = _HOLDS_ITSELF

NAMES: dict[str, Callable[[Run, Any], Any]] = {
    "child": lambda run, name: run.child(name),
    "step": lambda run, name: run.step(double, 1, name=name),
    "wait": lambda run, name: run.wait(name),
    "signal": lambda run, name: run.signal(name),
}
INPUTS: dict[str, Any] = {
    "nan": {"x": float("nan")},
    "set": {1, 2},
    "bytes": b"\xff",
    "beyond 64 bits": {"x": 10**40},
    "half a character": {"x": "\ud800"},
    "object": {"x": object()},
    "itself": _HOLDS_ITSELF,
    "large": {"x": "y" * 3_000_000},
}


def _refused(call: Callable[[Run], Any]) -> Stage:
    @workflow(name="naming")
    async def naming(run: Run) -> str:
        try:
            call(run)
        except InvalidInput as error:
            return error.message
        return "taken"

    return Stage(naming)


@pytest.mark.parametrize("name", ["no\x00body", "no\ud800body", "", "a/b", "x" * 300, " a", "a\nb"], ids=ascii)
@pytest.mark.parametrize("verb", NAMES)
async def test_a_name_that_cannot_be_kept_is_refused_where_it_is_given(verb: str, name: str) -> None:
    stage = _refused(lambda run: NAMES[verb](run, name))
    said = output(await stage.attempt())
    assert "cannot be the name of" in said
    assert not stage.record.order
    assert not stage.record.children


async def test_a_name_may_be_anything_that_is_written_as_one() -> None:
    @workflow(name="naming")
    async def naming(run: Run) -> list[Any]:
        return [await run.step(double, 1, name=Colour.RED), await run.step(double, 2, name=Colour.RED)]  # type: ignore[call-overload]

    stage = Stage(naming)
    assert output(await stage.attempt()) == [2, 4]
    assert stage.record.route() == ["Colour.RED", "Colour.RED#2"]


@pytest.mark.parametrize("given", INPUTS)
@pytest.mark.parametrize("workflow_", [Other, "Other"], ids=["class", "name"])
async def test_the_input_of_a_child_is_held_to_what_a_start_is(workflow_: Any, given: str) -> None:
    stage = _refused(lambda run: run.child(workflow_, INPUTS[given]))
    said = output(await stage.attempt())
    assert said.startswith("the input of 'Other' ")
    assert not stage.record.children


async def test_the_input_of_a_child_is_kept_as_it_was_when_it_was_given() -> None:
    @workflow(name="naming")
    async def naming(run: Run) -> None:
        given = {"x": (1, Colour.RED)}
        child = run.child("other", given)
        given["x"] = (2, Colour.RED)
        await child

    stage = Stage(naming)
    await stage.attempt()
    assert [child.body for child in stage.record.children.values()] == [{"x": [1, "red"]}]


@pytest.mark.parametrize("name", ["a\ud800", "a\x00b"], ids=ascii)
def test_a_workflow_cannot_have_a_name_that_cannot_be_kept(name: str) -> None:
    given = name
    with pytest.raises(InvalidDefinition):

        class Named(Workflow):
            name = given

            @step
            def one(self) -> None: ...

    with pytest.raises(InvalidDefinition):

        @workflow(name=name)
        async def named(run: Run) -> None: ...

    assert name not in registry.names()


def test_a_docstring_is_kept_as_far_as_it_can_be() -> None:
    @workflow(name="described")
    async def described(run: Run) -> None:
        "half \ud800 a character and \x00 none"

    assert described.compiled.description == "half ? a character and \ufffd none"
    described.source.encode()
