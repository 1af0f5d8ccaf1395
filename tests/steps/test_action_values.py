"""What an action may give back, and how it is written down."""

import enum
from collections import OrderedDict, UserDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.steps.action_step import ActionExecutor
from detent.steps.actions import Registry
from detent.steps.errors import OutputTooLarge, Unserialisable
from detent.steps.http.response import is_acceptable_json
from detent.steps.output import encode_output
from tests.steps.calls import failed, perform

LIMIT = 256 * 1024


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(str):
    __slots__ = ()


class Ratio(float):
    __slots__ = ()


class Point(msgspec.Struct):
    x: Any
    y: Any = None


class Person(pydantic.BaseModel):
    name: str
    born: date | None = None


@dataclass
class Box:
    inside: Any
    tags: list[str] = field(default_factory=list)


Pair = namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (None, "null"),
        ({"b": 1, "a": [True, 2.5, "é"]}, '{"b":1,"a":[true,2.5,"é"]}'),
        ((1, 2), "[1,2]"),
        (Pair(1, 2), "[1,2]"),
        ({1: "a"}, '{"1":"a"}'),
        (2**63 - 1, "9223372036854775807"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), '"2026-01-02T03:04:05Z"'),
        (date(2026, 1, 2), '"2026-01-02"'),
        (time(3, 4), '"03:04:00"'),
        (timedelta(days=1, seconds=2), '"P1DT2S"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (Decimal("1.50"), '"1.50"'),
        (Color.RED, '"red"'),
        (Level.HIGH, "3"),
        (Word("w"), '"w"'),
        (Ratio(0.5), "0.5"),
        (Point(1, Point(2)), '{"x":1,"y":{"x":2,"y":null}}'),
        (Box(Point(1), ["t"]), '{"inside":{"x":1,"y":null},"tags":["t"]}'),
        (Person(name="Ann", born=date(2000, 1, 1)), '{"name":"Ann","born":"2000-01-01"}'),
        ([Person(name="Ann")], '[{"name":"Ann","born":null}]'),
        (OrderedDict(a=1), '{"a":1}'),
        (defaultdict(list, a=[1]), '{"a":[1]}'),
        (UserDict(a=1), '{"a":1}'),
    ],
)
def test_f14_each_kind_of_value_has_one_form(value: Any, encoded: str) -> None:
    assert encode_output(value).decode() == f'{{"output":{encoded}}}'


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({1, 2}, "set"),
        (frozenset(), "frozenset"),
        (b"bytes", "bytes"),
        (bytearray(), "bytearray"),
        (object(), "object"),
        (range(3), "range"),
        (iter([]), "list_iterator"),
        (1j, "complex"),
        (int, "type"),
        (len, "builtin_function_or_method"),
        (Box({1}), "set"),
        (Point(b""), "bytes"),
        ([Box(Point({"a": {1}}))], "set"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (Box(float("-inf")), "-inf"),
        (Ratio("nan"), "nan"),
        (2**63, "64 bits"),
        (-(2**63) - 1, "64 bits"),
        ({"a": 10**30}, "64 bits"),
        ("\ud800", "surrogates"),
        ({"\ud800": 1}, "surrogates"),
        ({(1, 2): 1}, "tuple"),
        ({None: 1}, "NoneType"),
        ({True: 1}, "bool"),
        (nested(65), "64 deep"),
        (LOOP, "64 deep"),
    ],
)
async def test_f14_a_value_without_a_form_fails_the_step_by_name(value: Any, named: str) -> None:
    registry = Registry()
    registry.add("give", lambda: value, inline=True)
    outcome = failed(await perform(ActionExecutor(registry), "give"), "unserialisable")
    assert named in outcome.error.message
    assert not outcome.retry


def test_f14_the_nesting_limit_is_exact() -> None:
    assert encode_output(nested(64))


def test_f14_the_size_limit_is_exact() -> None:
    assert len(encode_output("x" * (LIMIT - 2))) == LIMIT + len('{"output":}')
    with pytest.raises(OutputTooLarge):
        encode_output("x" * (LIMIT - 1))


@pytest.mark.parametrize("value", ["x" * LIMIT, ["ab"] * LIMIT])
async def test_f14_an_output_beyond_the_limit_fails_the_step(value: Any) -> None:
    registry = Registry()
    registry.add("give", lambda: value, inline=True)
    assert not failed(await perform(ActionExecutor(registry), "give"), "output_too_large").retry


_keys = st.one_of(st.text(max_size=3), st.integers(), st.none())
_leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.decimals())
_values = st.recursive(
    _leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=4), max_leaves=20
)


@given(_values)
def test_f14_an_output_is_refused_or_can_be_read_by_everyone(value: Any) -> None:
    try:
        encoded = encode_output(value)
    except Unserialisable:
        return
    assert is_acceptable_json(encoded)
