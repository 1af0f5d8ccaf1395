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
from detent.catalog.shipped import load_shipped
from detent.commands import Commands, EngineCommands
from detent.errors import InvalidDefinition
from detent.forms.compile import compile_document
from detent.graph.model import Probe
from detent.settings import Settings
from detent.steps.actions import ActionContext, Registry, registry
from detent.steps.connectors.shipped import offer_shipped
from tests.forms.rules import action, edge, rule, start

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


@REGISTRY.action("shop.pay", effect="probed(shop.find)", timeout=120)
def pay(amount: int) -> None: ...


@REGISTRY.action("shop.find", effect="none")
def find(amount: int) -> dict[str, Any]:
    return {"happened": False}


@REGISTRY.action("shop.is-paid", effect="none")
def is_paid() -> bool:
    return True


@REGISTRY.action("shop.send", effect="probed(shop.lost)")
def send(**anything: Any) -> None: ...


@REGISTRY.action("shop.look", effect="none")
def look(context: ActionContext) -> None: ...


@pytest.fixture
async def commands() -> AsyncIterator[Commands]:
    async with build_app(Settings(database_url="memory://")) as app:
        yield EngineCommands(app.engine, find_action=REGISTRY.find).for_caller(local_caller("test"))


def steps(action: str, given: Any, **more: Any) -> str:
    return json.dumps({"name": "w", "tasks": {"a": {"action": action, "with": given, **more}}})


async def test_a_credential_of_code_that_could_never_see_it_is_refused_at_publish(commands: Commands) -> None:
    with pytest.raises(InvalidDefinition) as caught:
        await commands.workflows.save(steps("shop.charge", {}, credential="crm"))
    words = "has no meaning for 'shop.charge', whose code has no parameter of the type ActionContext"
    assert list(map(str, caught.value.problems)) == [f"tasks.a.credential: {words}"]
    await commands.workflows.save(steps("shop.look", {}, credential="crm"))


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
        {"id": "usual", "actionType": "shop.charge"},
        {"id": "safe", "actionType": "core.echo", "policies": {"retry": {"maxAttempts": 2}}},
    ]
    document = {"id": "g", "displayName": "G", "startNodes": [node["id"] for node in nodes], "nodes": nodes}
    await commands.drafts.save(json.dumps(document))
    for code in ("shop.old", "shop.charge"):
        await commands.workflows._store.record_served([("action", code)])  # noqa: SLF001 - as a node that is away
    first, second = (await commands.drafts.publish("g")).warnings
    assert first == "nodes.old.actionType: 'shop.old' is deprecated: use shop.ship"
    assert second.startswith("nodes.twice.actionType: 'shop.charge' does not declare its effect: ")


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (
            "shop.bill",
            "'shop.bill' declares no probe; declare `effect: probed(ACTION)` there, or write",
        ),
        ("core.echo", "'core.echo' declares no probe"),
        ("shop.send", "its probe 'shop.lost' does not exist; no node has it"),
        ("shop.elsewhere", "'shop.elsewhere' declares no probe"),
        ("github.create-issue", "'github.create-issue' declares no probe"),
    ],
)
async def test_a_probe_that_is_not_there_keeps_a_workflow_from_being_saved(
    commands: Commands, action: str, problem: str
) -> None:
    await commands.catalog.register(load_shipped, "shipped", ())
    given: dict[str, Any] = {"street": "a", "city": "b"} if action == "shop.bill" else {}
    with pytest.raises(InvalidDefinition) as caught:
        await commands.workflows.save(steps(action, given, on_crash="probe"))
    [found] = [one for one in caught.value.problems if one.field.endswith("on_crash")]
    assert found.field == "tasks.a.on_crash"
    assert problem in found.message


async def test_a_probe_is_named_in_the_graph_and_that_of_data_with_its_version(commands: Commands) -> None:
    await commands.catalog.register(load_shipped, "shipped", ())
    policies = {"onCrash": "probe"}
    payment = {"amount": 5, "currency": "eur"}
    nodes = [
        {"id": "code", "actionType": "shop.pay", "parameters": {"amount": 5}, "policies": policies},
        {"id": "data", "actionType": "stripe.create-payment-intent", "parameters": payment, "policies": policies},
    ]
    document = {"id": "g", "displayName": "G", "startNodes": ["code", "data"], "nodes": nodes}
    compiled = (await commands.workflows.pin(json.dumps(document))).compiled
    assert [step.probe for step in compiled.graph.steps] == [
        Probe("shop.find"),
        Probe("stripe.check-payment-intent", "1.1.0"),
    ]
    assert compiled.code == ("shop.find", "shop.pay"), "only a node that has both may run it"
    nodes[0] |= {"actionType": "shop.bill", "parameters": {"street": "a", "city": "b"}}
    with pytest.raises(InvalidDefinition) as caught:
        await commands.workflows.pin(json.dumps(document))
    assert [problem.field for problem in caught.value.problems] == ["nodes.code.policies.onCrash"]


@pytest.mark.parametrize(("written", "limit"), [({}, 120.0), ({"timeout": "5s"}, 5.0), ({"timeout": "10m"}, 600.0)])
async def test_the_time_limit_of_an_action_applies_where_its_step_states_none(
    commands: Commands, written: dict[str, Any], limit: float
) -> None:
    compiled = await commands.workflows.compile(steps("shop.pay", {"amount": 5}, **written))
    assert compiled.graph.steps[0].timeout == limit


def branched(action_type: str, config: dict[str, Any]) -> str:
    """A rule whose second action runs if the first one answers true."""
    first = action("First", action_type, action_config=config)
    return json.dumps(rule(first, action("b"), edges=[start(), edge("first", "b", "true_branch")]))


async def test_a_rule_has_branches_of_actions_that_declare_to_answer_true_or_false(commands: Commands) -> None:
    await commands.catalog.register(load_shipped, "shipped", ())
    await commands.workflows.save(branched("shop.is-paid", {}))
    issue = {"owner": "a", "repo": "b", "title": "c"}
    for name, config in (("shop.charge", {}), ("github.create-issue", issue)):
        with pytest.raises(InvalidDefinition) as caught:
            await commands.workflows.save(branched(name, config), replace=True)
        [problem] = caught.value.problems
        assert problem.field == "edges[1].edge_type"
        assert problem.message.startswith(f"{name!r} does not declare that its output is true or false, so 'first'")


async def test_constant_parts_of_a_config_are_checked_where_the_rule_has_them(commands: Commands) -> None:
    written = rule(action("Ship", "shop.ship", action_config={"to": {"street": "{{ street }}", "city": 5}}))
    with pytest.raises(InvalidDefinition) as caught:
        await commands.workflows.save(json.dumps(written))
    assert [str(one) for one in caught.value.problems] == ["actions[0].action_config.to.city: must be of type string"]


async def test_a_mail_of_a_rule_is_checked_in_the_words_of_its_config() -> None:
    mail = {"recipients": ["{{ email }}"], "subject": "s", "body": "b", "attachments": [{"name": ""}]}
    compiled = compile_document(rule(action("Mail", "send_email", action_config=mail)))
    offer_shipped()
    with pytest.raises(InvalidDefinition) as caught:
        check_actions(compiled, registry.find)
    assert [one.field for one in caught.value.problems] == ["actions[0].action_config.attachments[0].name"]


def test_an_action_that_this_process_does_not_know_is_not_checked() -> None:
    compiled = compile_document(json.loads(steps("shop.elsewhere", {"a": 1})))
    assert check_actions(compiled, REGISTRY.find) is compiled
    assert check_actions(compiled, None) is compiled
