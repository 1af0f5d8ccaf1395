"""What holds for every rule, good or bad, and for the JSON Schema of the form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidDefinition
from detent.forms.compile import compile_document
from detent.forms.definition import read_definition
from detent.forms.rules.action import ACTION_FIELDS
from detent.forms.rules.action_types import ACTION_TYPES
from detent.forms.rules.edge import EDGE_FIELDS
from detent.forms.rules.form import FIELDS, compile_rule
from detent.forms.rules.schema import SCHEMA
from detent.graph import codec
from detent.graph.check import check
from detent.planner import prepare
from tests.forms.rules import ORDER_STATUS, STAND_INS, action, edge, rule, start, when
from tests.forms.test_rule_problems import ACTION, CONFIG, EDGE, RULE, TWO
from tests.graph.strategies import JSON

SEEN = jsonschema_rs.Draft202012Validator(SCHEMA)
WORDS = st.sampled_from(
    [
        *FIELDS,
        *ACTION_FIELDS,
        *EDGE_FIELDS,
        *ACTION_TYPES,
        *("start", "sequence", "true_branch", "always", "on_update", "scheduled", "temp:0", "temp:1", "temp:-1", "a"),
        *("field_conditions", "field_name", "operator", "value", "all", "any", "changed_to", "in", "recipients", "url"),
        *("{{ x }}", "{{ steps.a.output }}", "{{", "attempt.number > 1", "1 +", "2h", "core.echo", "core.wait"),
    ]
)
GARBAGE = st.recursive(
    JSON | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=6),
    max_leaves=40,
)
VALUES = ("", "x", "ä🙂", "{{ status }}", "{{ before.total }}", "{{ run.id }}", "{{ vars.limit }}")


def written_action(random: Random, name: str, reads: list[str]) -> dict[str, Any]:
    values = [*VALUES, *("{{ steps['" + one + "'].output }}" for one in reads)]
    config = {str(number): random.choice(values) for number in range(random.randrange(3))}
    kinds: list[tuple[str | None, dict[str, Any]]] = [
        ("core.echo", config),
        ("shop.pay", config),
        ("call", {"url": "https://x.example/", "body": config}),
        ("start_workflow", {"workflow": "child", "input": config}),
        ("delay", {"seconds": random.randrange(3600)}),
        ("wait", {}),
        (None, {"recipients": ["{{ email }}"], "subject": "s", "body": random.choice(values[1:])}),
        ("create_alert", {"alert_type": "a", "severity": "high", "title": "t", "message": random.choice(values[1:])}),
    ]
    kind, chosen = random.choice(kinds)
    one = {"name": name, "action_config": chosen, "execution_order": random.randrange(1, 4)}
    if kind is not None:
        one["action_type"] = kind
    if kind in ("core.echo", "call") and random.random() < 0.5:
        one |= {"retries": random.randrange(5), "timeout": random.choice(["10s", 5, 0.5])}
    if random.random() < 0.3:
        one |= {"step": f"step-of-{name}", "id": f"act_{name}"}
    return one


def definition(seed: int) -> dict[str, Any]:
    """A right rule: every action is reached, edges lead forward, reads are upstream."""
    random = Random(seed)
    count = random.randrange(1, 8)
    before: list[set[int]] = [set() for _ in range(count)]
    actions: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    steps: list[str] = []
    for number in range(count):
        is_condition = random.random() < 0.3
        sources = [one for one in range(number) if random.random() < 0.4]
        for source in sources:
            is_branch = actions[source].get("action_type") == "condition" and random.random() < 0.7
            kind = random.choice(["true_branch", "false_branch"] if is_branch else ["sequence", "always"])
            name = random.choice([f"temp:{source}", steps[source]])
            edges.append(edge(name, f"temp:{number}", kind, edge_order=random.randrange(3)))
            before[number] |= {source, *before[source]}
        if not sources:
            edges.append(start(f"temp:{number}"))
        one = written_action(random, f"a{number}", [steps[read] for read in sorted(before[number])])
        if is_condition:
            asked = random.choice([{"expression": "total > 1"}, when(("total", "gt", 1))])
            one = {"name": f"a{number}", "action_type": "condition", "action_config": asked}
        actions.append(one)
        steps.append(one.get("step", f"a{number}"))
    random.shuffle(edges)
    whole = rule(*actions, edges=edges, vars={"limit": 1}, on_unhandled=random.choice(["fail", "settle"]))
    if random.random() < 0.3:
        whole |= {"trigger_type": "scheduled", "cron_expression": "@daily", "entity": None}
    elif random.random() < 0.5:
        whole["trigger_conditions"] = when(("status", "changed_to", "x"), {"any": [("total", "gt", 5)]}, match="any")
    return whole


definitions = st.integers(0, 2**32).map(definition)


@given(definitions)
def test_a_right_rule_compiles_to_a_right_graph(document: dict[str, Any]) -> None:
    graph = compile_rule(document).graph
    assert check(graph) == []
    assert len(graph.steps) == len(document["actions"])
    assert len(graph.edges) == sum(one["edge_type"] != "start" for one in document["edges"])
    assert codec.decode(codec.encode(graph)) == graph
    assert len(prepare(graph).order) == len(graph.steps)


@given(definitions)
def test_yaml_and_json_become_the_same_rule(document: dict[str, Any]) -> None:
    as_json = json.dumps(document)
    as_yaml = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    one, other = (compile_document(read_definition(text)) for text in (as_json, as_yaml))
    assert one == other == compile_rule(document)


@given(definitions, st.data())
def test_an_edge_turned_around_is_refused_as_a_cycle(document: dict[str, Any], data: st.DataObject) -> None:
    pairs = [one for one in document["edges"] if one["edge_type"] != "start"]
    if not pairs:
        return
    turned = data.draw(st.sampled_from(pairs))
    document["edges"].append(edge(turned["target_action_id"], turned["source_action_id"]))
    with pytest.raises(InvalidDefinition) as caught:
        compile_rule(document)
    found = [one for one in caught.value.problems if one.field == "edges"]
    assert found
    assert all(one.message.startswith("cycle detected between actions") for one in found)


@given(GARBAGE)
def test_any_document_compiles_or_is_refused_with_problems(document: Any) -> None:
    refused_or_compiled(document)
    refused_or_compiled(rule(action(), edges=document))
    refused_or_compiled(rule(action(), document, edges=[start(), document]))
    refused_or_compiled(rule(action(action_config=document), trigger_conditions={"field_conditions": [document]}))


@given(st.data())
def test_a_right_rule_with_one_wrong_value_compiles_or_is_refused_with_problems(data: st.DataObject) -> None:
    document = json.loads(ORDER_STATUS)
    place: Any = document
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(GARBAGE)
    refused_or_compiled(document)


def refused_or_compiled(document: Any) -> None:
    """Nothing else may happen, and it must happen again in the same way."""
    outcomes = []
    for _ in range(2):
        try:
            found = compile_rule(document, actions=STAND_INS)
        except InvalidDefinition as error:
            outcomes.append([str(problem) for problem in error.problems])
        else:
            assert check(found.graph) == []
            prepare(found.graph)
            assert codec.decode(codec.encode(found.graph)) == found.graph
            assert json.loads(json.dumps(found.start_facts()))["rule"]["trigger_type"]
            outcomes.append([codec.fingerprint(codec.encode(found.graph))])
    assert outcomes[0] == outcomes[1]
    assert all(outcomes[0])
    assert outcomes[0]


# The JSON Schema.


def test_the_schema_is_a_schema_of_its_draft() -> None:
    assert jsonschema_rs.meta.is_valid(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_the_schema_has_the_keys_of_the_form_and_no_others() -> None:
    for schema, fields in (
        (SCHEMA, FIELDS),
        (SCHEMA["$defs"]["Action"], ACTION_FIELDS),
        (SCHEMA["$defs"]["Edge"], EDGE_FIELDS),
    ):
        assert set(schema["properties"]) == set(fields)
        assert schema["additionalProperties"] is False


def properties(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema["$defs"].values()):
        yield from part["properties"].items()


def test_every_key_is_described() -> None:
    for name, schema in properties(SCHEMA):
        assert name in ("all", "any") or schema["description"].endswith("."), name


def test_the_schema_accepts_the_request_of_the_editor() -> None:
    SEEN.validate(json.loads(ORDER_STATUS))


@given(definitions)
def test_the_schema_accepts_every_right_rule(document: dict[str, Any]) -> None:
    SEEN.validate(document)


def refused(document: Any) -> bool:
    try:
        compile_rule(document)
    except InvalidDefinition:
        return True
    return False


REFUSED = [
    *({**rule(action()), **fields} for fields, _, _ in RULE),
    *(rule(one) for one, _, _ in ACTION),
    *(rule(action("a", kind, action_config=config)) for kind, config, _, _ in CONFIG),
    *(rule(*TWO, edges=[start("a"), one]) for one, _, _ in EDGE),
]


def test_the_schema_sees_most_of_what_is_wrong_in_one_place() -> None:
    missed = [written for written in REFUSED if SEEN.is_valid(written)]
    assert len(missed) < len(REFUSED) / 2
    assert all(refused(written) for written in REFUSED)


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
        place[random.choice([*FIELDS, *ACTION_FIELDS, *EDGE_FIELDS, "field_name", "operator", "recipients"])] = value
    else:
        place[key] = value
    return whole  # type: ignore[no-any-return]


SMALL = [None, True, False, 0, 1, -1, 1.5, 1e9, "", "x", "1h", "false", [], ["it"], {}, {"a": "b"}, {"a": None}]


@pytest.mark.parametrize("value", SMALL, ids=repr)
def test_a_small_value_in_any_key_is_refused_by_the_schema_only_if_the_form_refuses_it(value: Any) -> None:
    base = rule(action())
    whole = [{**base, name: value} for name in FIELDS]
    whole += [{**base, "actions": [{**action(), name: value}]} for name in ACTION_FIELDS]
    whole += [rule(*TWO, edges=[start("a"), {**edge("a", "b"), name: value}]) for name in EDGE_FIELDS]
    for one in ACTION_TYPES.values():
        good = {"url": "https://x.example"} if one.name == "call" else dict.fromkeys(one.required, "low")
        whole += [rule(action("a", one.name, action_config={**good, key: value})) for key in one.keys]
    wrong = [one for one in whole if not SEEN.is_valid(one) and not refused(one)]
    assert wrong == []
