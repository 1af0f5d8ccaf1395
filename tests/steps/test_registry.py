"""Which functions can be actions, and under which names."""

import contextvars
from collections.abc import Callable
from typing import Any

import pytest

import detent.steps.actions
from detent.errors import Conflict, InvalidInput
from detent.graph.model import StepKind
from detent.run.outcomes import Done
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import CORE, Registry, is_core
from tests.steps.calls import call_of


@pytest.fixture
def registry() -> Registry:
    return Registry()


def test_the_default_registry_is_what_the_plain_decorator_fills() -> None:
    @detent.steps.actions.action("tests.default_registry", inline=True)
    def nothing() -> None: ...

    assert "tests.default_registry" in detent.steps.actions.registry.names()
    assert ActionExecutor().begin(call_of(StepKind.ACTION, {"action": "tests.default_registry"})) == Done(
        b'{"output":null}'
    )


@pytest.mark.parametrize("name", ["", "core.mine", "a b", "1a", ".a", "a.", "a..b", "x" * 129, "ä"])
def test_a_name_that_cannot_be_one_is_refused(registry: Registry, name: str) -> None:
    with pytest.raises(InvalidInput):
        registry.add(name, lambda: None)


def test_a_taken_name_is_refused_unless_it_is_the_same_function_again(registry: Registry) -> None:
    def make() -> Callable[[], None]:
        def same() -> None: ...

        return same

    def other() -> None: ...

    registry.add("a", make())
    registry.add("a", make())
    with pytest.raises(Conflict):
        registry.add("a", other)


def test_functions_that_cannot_be_called_by_name_are_refused(registry: Registry) -> None:
    def positional(a: int, /) -> None: ...

    def unreadable(a: "NoSuchType") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    async def asynchronous() -> None: ...

    functions: list[Callable[..., Any]] = [positional, unreadable, contextvars.ContextVar[int]("x").get]
    for function in functions:
        with pytest.raises(InvalidInput):
            registry.add("a", function)
    with pytest.raises(InvalidInput):
        registry.add("a", asynchronous, inline=True)
    assert registry.names() == ()


def test_names_are_sorted_and_core_ones_are_known(registry: Registry) -> None:
    registry.add("b", print)
    registry.add("a", lambda: None)
    assert registry.names() == ("a", "b")
    known = ("core.echo", "core.fail", "core.log", "core.respond", "core.sometimes-fails", "core.transform")
    assert CORE.names() == known
    assert is_core("core.echo")
    assert not is_core("coreutils")


def test_an_action_of_the_user_takes_the_place_of_one_that_was_taken_over(registry: Registry) -> None:
    def one() -> None: ...

    def two() -> None: ...

    shipped = Registry()
    shipped.add("email.send", print)
    shipped.add("sql.query", print)
    registry.add("sql.query", one)
    for _ in range(2):
        registry.adopt(shipped)
    assert [made.function for made in registry.all()] == [print, one]
    registry.add("email.send", two)
    registry.adopt(shipped)
    assert [made.function for made in registry.all()] == [two, one]
    with pytest.raises(Conflict):
        registry.add("email.send", one)
