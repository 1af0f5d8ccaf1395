"""The JSON Schema of the graph form has the keys of the form, and refuses nothing that the form accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidDefinition
from detent.forms.graph.form import FIELDS, compile_graph
from detent.forms.graph.node import EDGE_FIELDS, NODE_FIELDS, POLICY_FIELDS, REPEAT_FIELDS, RETRY_FIELDS
from detent.forms.graph.schema import SCHEMA
from tests.forms.graphs import FANOUT_FANIN, MONDAY_STATUS, ONBOARD_PROJECT, RETRY_DEMO, document, edge, node
from tests.forms.test_graph_problems import CHILD, EDGE, NODE, WORKFLOW, child
from tests.forms.test_graph_properties import GARBAGE, definitions

SEEN = jsonschema_rs.Draft202012Validator(SCHEMA)
DEFS = SCHEMA["$defs"]


def test_the_schema_is_a_schema_of_its_draft() -> None:
    assert jsonschema_rs.meta.is_valid(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        (SCHEMA, FIELDS),
        (DEFS["Node"], NODE_FIELDS),
        (DEFS["Edge"], EDGE_FIELDS),
        (DEFS["Policies"], POLICY_FIELDS),
        (DEFS["Retry"], RETRY_FIELDS),
        (DEFS["Repeat"], REPEAT_FIELDS.all()),
    ],
)
def test_the_schema_has_the_keys_of_the_form_and_no_others(schema: dict[str, Any], fields: tuple[str, ...]) -> None:
    assert set(schema["properties"]) == set(fields)
    assert schema["additionalProperties"] is False


def properties(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema["$defs"].values()):
        yield from part["properties"].items()


@pytest.mark.parametrize(("name", "schema"), list(properties(SCHEMA)))
def test_every_key_is_described(name: str, schema: dict[str, Any]) -> None:
    target = schema.get("$ref", "").rpartition("/")[2]
    assert (DEFS[target] if target else schema)["description"].endswith(".")


@pytest.mark.parametrize("text", [MONDAY_STATUS, ONBOARD_PROJECT, FANOUT_FANIN, RETRY_DEMO])
def test_the_schema_accepts_the_four_workflows(text: str) -> None:
    SEEN.validate(json.loads(text))


@given(definitions)
def test_the_schema_accepts_every_right_definition(written: dict[str, Any]) -> None:
    SEEN.validate(written)


def refused(written: Any) -> bool:
    try:
        compile_graph(written)
    except InvalidDefinition:
        return True
    return False


#: Problems that a schema cannot see: what refers to what, texts of expressions and durations, what belongs together.
REFUSED_BY_BOTH = [
    *({**document(node("it")), **fields} for fields, _, _ in WORKFLOW),
    *(document({**node("it"), **fields}) for fields, _, _ in NODE),
    *(document(child(**fields)) for fields, _, _ in CHILD),
    *(document(node("a", {**edge("b"), **fields}), node("b")) for fields, _, _ in EDGE),
]


def test_the_schema_sees_most_of_what_is_wrong_in_one_place() -> None:
    missed = [written for written in REFUSED_BY_BOTH if SEEN.is_valid(written)]
    assert len(missed) < len(REFUSED_BY_BOTH) / 2
    assert all(refused(written) for written in REFUSED_BY_BOTH)


@given(definitions, st.integers(0, 2**32), GARBAGE)
def test_what_the_schema_refuses_the_form_refuses_too(written: dict[str, Any], seed: int, value: Any) -> None:
    changed = changed_somewhere(written, Random(seed), value)
    if not SEEN.is_valid(changed):
        assert refused(changed)


def changed_somewhere(written: dict[str, Any], random: Random, value: Any) -> dict[str, Any]:
    """The document with one key more, or one value replaced."""
    whole = json.loads(json.dumps(written))
    place: Any = whole
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = random.choice(keys) if keys else None
        if key is None or not isinstance(place[key], dict | list) or random.random() < 0.3:
            break
        place = place[key]
    if isinstance(place, list):
        place.append(value)
    elif key is None or random.random() < 0.3:
        place[random.choice([*FIELDS, *NODE_FIELDS, *EDGE_FIELDS, *POLICY_FIELDS, *RETRY_FIELDS])] = value
    else:
        place[key] = value
    return whole  # type: ignore[no-any-return]


SMALL = [None, True, False, 0, 1, -1, 1.5, 1e9, "", "x", "1h", "false", [], ["it"], {}, {"a": "b"}, {"a": None}]


@pytest.mark.parametrize("value", SMALL, ids=repr)
def test_a_small_value_in_any_key_is_refused_by_the_schema_only_if_the_form_refuses_it(value: Any) -> None:
    base = document(node("it"))
    whole = [{**base, name: value} for name in FIELDS]
    whole += [{**base, "nodes": [{**node("it"), name: value}]} for name in NODE_FIELDS]
    whole += [document(node("a", {**edge("b", condition="true"), name: value}), node("b")) for name in EDGE_FIELDS]
    whole += [document(node("it", policies={name: value})) for name in POLICY_FIELDS]
    whole += [document(node("it", policies={"retry": {name: value}})) for name in RETRY_FIELDS]
    wrong = [one for one in whole if not SEEN.is_valid(one) and not refused(one)]
    assert wrong == []
