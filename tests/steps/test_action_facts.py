"""What the decorator and the signature of an action say about it."""

import dataclasses
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import msgspec
import pydantic
import pytest

from detent.catalog.action import Effect, EffectKind, read_effect
from detent.errors import InvalidInput
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import ActionContext, Isolation, Registry
from detent.steps.protocol import Needs
from tests.steps.calls import done, failed, perform


class Item(pydantic.BaseModel):
    name: str
    parts: "list[Item]" = []


class Charge(msgspec.Struct):
    amount: Annotated[int, msgspec.Meta(ge=1)]
    currency: str = "EUR"


@dataclasses.dataclass
class Refund:
    amount: int


@pytest.fixture
def registry() -> Registry:
    return Registry()


def plain() -> None: ...


async def on_loop() -> None: ...


def test_the_decorator_describes_the_action(registry: Registry) -> None:
    @registry.action(
        "shop.charge",
        version="1.2.0",
        title="Charge a card",
        category="Payment",
        tags=["money"],
        effect="keyed(Idempotency-Key)",
        deprecated="use shop.charge-v2",
        timeout=20,
    )
    def charge(amount: int, context: ActionContext, currency: str = "EUR") -> dict[str, int]:
        """Charge a card once."""
        return {}

    made = registry.find("shop.charge")
    assert made is not None
    facts = made.facts
    assert (facts.id, facts.connector, facts.version, facts.title) == ("shop.charge", "shop", "1.2.0", "Charge a card")
    assert (facts.category, facts.tags, facts.description) == ("Payment", ("money",), "Charge a card once.")
    assert facts.effect == Effect(EffectKind.KEYED, key="Idempotency-Key")
    assert facts.deprecation == "use shop.charge-v2"
    assert made.timeout == 20.0
    assert facts.parameters == {
        "type": "object",
        "properties": {"amount": {"type": "integer"}, "currency": {"type": "string", "default": "EUR"}},
        "required": ["amount"],
        "additionalProperties": False,
    }
    assert facts.output == {"type": "object", "additionalProperties": {"type": "integer"}}


def test_the_spelling_without_a_description_has_usual_facts(registry: Registry) -> None:
    registry.add("post-message", plain)
    registry.add("shop.charge-v3", plain)
    registry.add("fast", plain, inline=True)
    [fast, first, third] = registry.all()
    assert (first.facts.connector, first.facts.version, first.facts.title) == ("local", "1.0.0", "Post message")
    assert third.facts.version == "3.0.0"
    assert (first.isolation, fast.isolation) == (Isolation.THREAD, Isolation.INLINE)
    assert first.needs is Needs.NOTHING
    assert not first.facts.effect.is_repeatable


@pytest.mark.parametrize(
    ("name", "version", "words"),
    [
        ("shop.charge", "2.0.0", "call it 'shop.charge-v2'"),
        ("shop.charge-v3", "2.0.0", "call it 'shop.charge-v2'"),
        ("shop.charge-v2", "1.0.0", "its id names the major version 2"),
        ("shop.charge", "1.2", "write MAJOR.MINOR.PATCH"),
        ("shop.charge", "01.2.0", "write MAJOR.MINOR.PATCH"),
    ],
)
def test_a_major_version_above_1_is_an_action_of_its_own(
    registry: Registry, name: str, version: str, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        registry.add(name, plain, version=version)


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (plain, {"isolation": "cloud"}, "is one of thread, loop, inline, process, pool"),
        (plain, {"isolation": "loop"}, "would block the loop"),
        (on_loop, {"isolation": "thread"}, "runs on the loop"),
        (on_loop, {"isolation": "inline"}, "only a plain function can be inline"),
        (plain, {"isolation": "process", "inline": True}, "contradicts"),
        (lambda: None, {"isolation": "process"}, "a function at the top of a module"),
        (plain, {"memory": 2**30}, "only a process has a memory limit"),
        (plain, {"memory": 5, "isolation": "process"}, "at least 64 MB"),
        (plain, {"timeout": 0}, "more than 0 seconds"),
        (plain, {"heartbeat_timeout": "soon"}, "heartbeat_timeout"),
        (plain, {"effect": "often"}, "write one of none, idempotent"),
        (plain, {"effect": "keyed"}, "names a header or field"),
        (plain, {"effect": "none(x)"}, "names nothing"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_write(
    registry: Registry, function: Callable[..., Any], options: Any, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        registry.add("a.b", function, **options)
    assert registry.names() == ()


def test_an_effect_is_read_from_its_text() -> None:
    assert read_effect("probed(shop.find)") == Effect(EffectKind.PROBED, probe="shop.find")
    assert read_effect(" none ").is_repeatable


def test_models_of_pydantic_describe_themselves_and_what_cannot_be_described_may_be_anything(
    registry: Registry,
) -> None:
    class Odd: ...

    def pack(item: Item, price: Decimal, odd: Odd, when: date | None = None, **rest: int) -> Odd:
        raise AssertionError

    registry.add("pack", pack)
    [made] = registry.all()
    schema = made.facts.parameters
    assert schema["properties"]["odd"] == {}
    assert schema["properties"]["price"]["type"] == ["string", "number"]
    assert schema["properties"]["item"] == {"$ref": "#/$defs/Item"}
    assert schema["$defs"]["Item"]["required"] == ["name"]
    assert schema["additionalProperties"] == {"type": "integer"}
    assert made.facts.output == {}


async def test_one_parameter_named_params_takes_the_whole_with(registry: Registry) -> None:
    def charge(params: Charge, context: ActionContext) -> str:
        return f"{params.amount} {params.currency} {context.attempt}"

    def refund(params: Refund) -> int:
        return params.amount

    def pack(params: Item) -> str:
        return params.name

    for name, function in (("charge", charge), ("refund", refund), ("pack", pack)):
        registry.add(name, function, inline=True)
    step = ActionExecutor(registry)
    assert done(await perform(step, "charge", {"amount": 5}))["output"] == "5 EUR 1"
    assert done(await perform(step, "refund", {"amount": 5}))["output"] == 5
    assert done(await perform(step, "refund", {"params": {"amount": 5}}))["output"] == 5
    assert done(await perform(step, "pack", {"name": "box"}))["output"] == "box"
    described = {one.name: set(one.facts.parameters["properties"]) for one in registry.all()}
    assert described == {"charge": {"amount", "currency"}, "refund": {"amount"}, "pack": {"name", "parts"}}
    fail = failed(await perform(step, "charge", {"amount": 0, "currency": 5}), "invalid_parameters")
    assert [one["field"] for one in fail.error.detail["problems"]] == ["with.amount", "with.currency"]


async def test_rendered_parameters_that_do_not_fit_are_listed_with_all_their_paths(registry: Registry) -> None:
    def send(lines: list[Charge], to: str, copies: int = 1) -> None: ...

    registry.add("send", send)
    given = {"lines": [{"amount": 1}, {"amount": "x"}, {}], "to": 5, "copies": 2}
    fail = failed(await perform(ActionExecutor(registry), "send", given), "invalid_parameters")
    assert [(one["field"], one["message"]) for one in fail.error.detail["problems"]] == [
        ("with.lines[1].amount", "must be of type integer"),
        ("with.lines[2].amount", "is missing"),
        ("with.to", "must be of type string"),
    ]
    assert "the parameter 'lines' does not fit" in fail.error.message
    assert "the parameter 'to' does not fit" in fail.error.message
    assert not fail.retry
