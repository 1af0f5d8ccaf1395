"""What a save, a publish and `validate` say about the parameters of actions."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pydantic
import pytest

from detent.app import build_app
from detent.auth.caller import local_caller
from detent.catalog.parameters import check_actions
from detent.commands import Commands, EngineCommands
from detent.errors import InvalidDefinition
from detent.forms.compile import compile_document
from detent.settings import Settings
from detent.steps.actions import Registry

REGISTRY = Registry()


@dataclass
class Address:
    street: str
    city: str
    zip: int | None = None


class Person(pydantic.BaseModel):
    name: str
    age: int = 0


@REGISTRY.action("shop.ship", effect="idempotent")
def ship(to: Address, copies: int = 1, person: Person | None = None) -> None: ...


@REGISTRY.action("shop.bill", effect="none")
def bill(params: Address) -> None: ...


@REGISTRY.action("shop.old", effect="none", deprecated="use shop.ship")
def old() -> None: ...


@dataclass
class Odd:
    size: int

    def __post_init__(self) -> None:
        raise KeyError(self.size)


@REGISTRY.action("shop.odd", effect="none")
def odd(what: Odd, ids: int = 2**70) -> None: ...


@REGISTRY.action("shop.charge")
def charge(**anything: Any) -> None: ...


@pytest.fixture
async def commands() -> AsyncIterator[Commands]:
    async with build_app(Settings(database_url="memory://")) as app:
        yield EngineCommands(app.engine, find_action=REGISTRY.find).for_caller(local_caller("test"))


def steps(action: str, given: Any, **more: Any) -> str:
    return json.dumps({"name": "w", "tasks": {"a": {"action": action, "with": given, **more}}})


GOOD = {"street": "{{ trigger.body.street }}", "city": "Bern"}


@pytest.mark.parametrize(
    ("action", "given", "problems"),
    [
        ("shop.ship", {"to": GOOD}, []),
        ("shop.ship", {"to": "{{ trigger.body.to }}", "copies": "{{ trigger.body.n }}"}, []),
        ("shop.ship", {"to": {**GOOD, "zip": "{{ trigger.body.zip }}"}, "person": {"name": "Ada", "age": "36"}}, []),
        ("shop.bill", GOOD, []),
        ("shop.bill", {"params": GOOD}, []),
        (
            "shop.ship",
            {"to": {"street": "{{ trigger.body.street }}", "city": 5}, "copies": "two", "kopies": 1},
            [
                "tasks.a.with.kopies: 'shop.ship' has no such parameter; did you mean 'copies'?",
                "tasks.a.with.copies: must be of type integer",
                "tasks.a.with.to.city: must be of type string",
            ],
        ),
        (
            "shop.ship",
            {"copies": 5.0},
            ["tasks.a.with.to: is missing", "tasks.a.with.copies: Expected `int`, got `float`"],
        ),
        ("shop.ship", {"to": {"street": "{{ trigger.body.street }}"}}, ["tasks.a.with.to.city: is missing"]),
        ("shop.odd", {"what": {"size": 5}}, ["tasks.a.with.what: KeyError: 5"]),
        ("shop.odd", {"what": {"size": "{{ trigger.body.size }}"}}, []),
        ("shop.bill", {"street": "{{ trigger.body.x }}", "city": []}, ["tasks.a.with.city: must be of type string"]),
        (
            "shop.bill",
            {"street": 1},
            ["tasks.a.with.street: must be of type string", "tasks.a.with.city: is missing"],
        ),
    ],
)
async def test_constant_parameters_are_checked_when_a_workflow_is_saved(
    commands: Commands, action: str, given: Any, problems: list[str]
) -> None:
    if not problems:
        await commands.workflows.save(steps(action, given))
        return
    with pytest.raises(InvalidDefinition) as caught:
        await commands.workflows.save(steps(action, given))
    assert sorted(map(str, caught.value.problems)) == sorted(problems)


async def test_a_draft_stores_the_problems_and_a_publish_refuses_it(commands: Commands) -> None:
    node = {"id": "n", "actionType": "shop.ship", "parameters": {"to": {**GOOD, "zip": "x"}}}
    draft = json.dumps({"id": "g", "displayName": "G", "startNode": "n", "nodes": [node]})
    saved = await commands.drafts.save(draft)
    assert [str(one) for one in saved.problems] == ["nodes.n.parameters.to.zip: must be of type integer or null"]
    with pytest.raises(InvalidDefinition):
        await commands.drafts.publish("g")


async def test_a_publish_warns_of_deprecated_actions_and_of_retries_without_a_known_effect(commands: Commands) -> None:
    nodes: list[dict[str, Any]] = [
        {"id": "old", "actionType": "shop.old"},
        {"id": "twice", "actionType": "shop.charge", "policies": {"retry": {"maxAttempts": 2}}},
        {"id": "once", "actionType": "shop.charge", "policies": {"retry": {"maxAttempts": 1}}},
        {"id": "safe", "actionType": "core.echo", "policies": {"retry": {"maxAttempts": 2}}},
    ]
    document = {"id": "g", "displayName": "G", "startNodes": [node["id"] for node in nodes], "nodes": nodes}
    await commands.drafts.save(json.dumps(document))
    for code in ("shop.old", "shop.charge"):
        await commands.workflows._store.record_served([("action", code)])  # noqa: SLF001 - as a node that is away
    first, second = (await commands.drafts.publish("g")).warnings
    assert first == "nodes.old.actionType: 'shop.old' is deprecated: use shop.ship"
    assert second.startswith("nodes.twice.actionType: 'shop.charge' does not declare its effect: ")


def test_an_action_that_this_process_does_not_know_is_not_checked() -> None:
    compiled = compile_document(json.loads(steps("shop.elsewhere", {"a": 1})))
    assert check_actions(compiled, REGISTRY.find) is compiled
    assert check_actions(compiled, None) is compiled
