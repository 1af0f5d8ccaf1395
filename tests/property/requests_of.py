"""Requests for one operation: as its schema wants them, as it does not, and with any JSON at all."""

from __future__ import annotations

import copy
from enum import StrEnum
from typing import Any, Final

from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode

from detent.authoring.durations import parse_duration
from detent.errors import InvalidInput
from tests.authoring.test_steps_properties import GARBAGE, definitions
from tests.graph.strategies import JSON
from tests.property.pools import FED, WORKFLOWS, Pools

Operation = APIOperation[Any, Any, Any, Any]
Request = Case[Any]

#: A route that may wait is not asked to wait for longer, or there would be little time for others.
_LONGEST_WAIT: Final = 1.0
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
        _feed(draw, case, pools, own_name=takes_definition)
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


def _feed(draw: st.DrawFn, case: Request, pools: Pools, *, own_name: bool) -> None:
    """Put values that mean something where they belong, three times in four."""
    operation: Operation = case.operation
    for parameter in operation.path_parameters:
        _feed_one(draw, case.path_parameters, parameter.name, pools)
    for owned, owning in (("run", "workflow"), ("firing", "trigger")):
        owner = pools.owner((case.path_parameters or {}).get(owned))
        if owner is not None and owning in case.path_parameters and draw(st.integers(0, 3)):
            case.path_parameters[owning] = owner
    case.query = dict(case.query or {})
    for parameter in operation.query:
        if parameter.name in case.query or draw(st.integers(0, 3)) == 0:
            _feed_one(draw, case.query, parameter.name, pools)
    for parameter in operation.headers:
        if parameter.name in case.headers:
            _feed_one(draw, case.headers, parameter.name, pools)
    if isinstance(case.body, dict):
        for name in [name for name in case.body if name in FED]:
            _feed_one(draw, case.body, name, pools)
        if own_name and isinstance(case.body.get("name"), str) and "workflow" in (case.path_parameters or {}):
            case.path_parameters["workflow"] = case.body["name"] or "echo"
    if "wait" in case.query:
        case.query["wait"] = _bounded(case.query["wait"])


def _feed_one(draw: st.DrawFn, values: Any, name: str, pools: Pools) -> None:
    if name not in FED or draw(st.integers(0, 3)) == 0:
        return
    found = pools.pick(name, draw(st.integers(0, 10_000)))
    if found is not None:
        values[name] = found


def _bounded(wait: Any) -> Any:
    try:
        return wait if parse_duration(wait) <= _LONGEST_WAIT else f"{_LONGEST_WAIT:g}s"
    except InvalidInput:
        return wait
