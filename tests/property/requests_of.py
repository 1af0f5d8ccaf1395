"""Requests for one operation: as its schema wants them, as it does not, and with any JSON at all."""

from __future__ import annotations

import copy
from enum import StrEnum
from typing import Any, Final

from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode

from tests.forms.test_steps_properties import GARBAGE, definitions
from tests.graph.strategies import JSON
from tests.property.feeding import Feeder
from tests.property.pools import WORKFLOWS, Pools

Operation = APIOperation[Any, Any, Any, Any]
Request = Case[Any]

_LARGE: Final = st.sampled_from([10, 1_000, 100_000]).map(lambda size: ["x" * 10] * (size // 10))


class Kind(StrEnum):
    """How a request is made."""

    RIGHT = "right"
    WRONG = "wrong"
    ANY = "any"


_MODES: Final = {
    Kind.RIGHT: GenerationMode.POSITIVE,
    Kind.WRONG: GenerationMode.NEGATIVE,
    Kind.ANY: GenerationMode.POSITIVE,
}


def cases(operation: Operation, kind: Kind, pools: Pools) -> st.SearchStrategy[Request]:
    """Requests of a kind, most of them about things that exist."""
    takes_definition = _takes_definition(operation)
    strategy: st.SearchStrategy[Request] = operation.as_strategy(generation_mode=_MODES[kind])

    @st.composite
    def drawn(draw: st.DrawFn) -> Request:
        case = draw(strategy)
        if kind is Kind.ANY:
            _say_anything(draw, case)
        elif kind is Kind.RIGHT and takes_definition:
            case.body = draw(_definitions())
        if kind is not Kind.WRONG:  # a caller without a key may do everything here, one with an invented key nothing
            case.headers.pop("Authorization", None)
            case.cookies.clear()
        Feeder(draw, pools, spares=kind is Kind.RIGHT).feed(case)
        if takes_definition:
            _call_by_name(case)
        return case

    return drawn()


def _say_anything(draw: st.DrawFn, case: Request) -> None:
    """Any texts in the query; any JSON, or no JSON at all, in the body."""
    names = [parameter.name for parameter in case.operation.query]
    if names:
        case.query = draw(st.dictionaries(st.sampled_from(names), st.text(max_size=30), max_size=4))
    if case.operation.body:
        anything: Any = draw(GARBAGE | JSON | _LARGE | st.binary(max_size=200))
        case.body = anything
        case.media_type = "application/json"


def can_be(operation: Operation, kind: Kind) -> bool:
    """Whether there are such requests: whatever stands in the place of a text is a text."""
    if kind is Kind.RIGHT:
        return True
    if kind is Kind.ANY:
        return bool(operation.body) or len(operation.query) > 0
    schemas = [parameter.definition.get("schema", {}) for parameter in (*operation.query, *operation.headers)]
    return bool(operation.body) or any(schema.get("type") not in (None, "string") for schema in schemas)


def _takes_definition(operation: Operation) -> bool:
    return any(
        {"name", "tasks"} <= set(body.definition.get("schema", {}).get("properties", {})) for body in operation.body
    )


@st.composite
def _definitions(draw: st.DrawFn) -> Any:
    """A right one, or a right one with something wrong in it."""
    document: Any = copy.deepcopy(draw(st.sampled_from(WORKFLOWS) | definitions()))
    if draw(st.booleans()):
        return document
    place = document
    while True:
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or draw(st.booleans()):
            break
        place = place[key]
    place[key] = draw(GARBAGE)
    return document


def _call_by_name(case: Request) -> None:
    """A definition is saved at the address of its name."""
    if isinstance(case.body, dict) and isinstance(case.body.get("name"), str) and case.path_parameters:
        case.path_parameters["workflow"] = case.body["name"] or "echo"
