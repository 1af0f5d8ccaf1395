"""The atomic save of rules over the API: the request of an editor, ids, names of new actions, problems, layouts."""

from __future__ import annotations

import copy
import io
import json
from typing import Any

import pytest

from detent.ids import ACTION, EDGE, ENTITY, WORKFLOW, parse
from tests.api.rules import FULL, RULES, SAVE, add_entity, create, problems, request_of
from tests.api.server import Detent


async def test_the_request_of_an_editor_gives_the_rule_with_all_ids(api: Detent) -> None:
    """The request as an editor sends it for a rule that exists, with an action that exists and a new one."""
    entity = await add_entity(api)
    first = request_of(actions=SAVE["actions"][:1], edges=SAVE["edges"][:1], canvas_layout=None)
    made = (await api.call("POST", f"{FULL}/full", json=first)).json
    existing = made["actions"][0]["id"]
    sent = copy.deepcopy(SAVE)
    sent["entity_id"] = entity["id"]
    sent["actions"][0]["id"] = existing

    answer = await api.call("PUT", f"{FULL}/{made['id']}/full", json=sent)

    assert answer.status == 200, answer.text
    saved = answer.json
    [warning] = saved.pop("warnings")
    assert "CONNECTOR_EMAIL_URL" in warning
    new = saved["actions"][1]["id"]
    assert parse(ACTION, new)
    assert parse(WORKFLOW, saved["id"])
    assert parse(ENTITY, saved["entity_id"])
    assert all(parse(EDGE, one["id"]) for one in saved["edges"])
    fields = ("id", "name", "action_config", "execution_order")
    ends = ("source_action_id", "target_action_id", "edge_type")
    told = {
        **{name: saved[name] for name in SAVE},
        "id": saved["id"],
        "actions": [{name: one[name] for name in fields} for one in saved["actions"]],
        "edges": [{name: one[name] for name in ends} for one in saved["edges"]],
    }
    assert told == {
        **sent,
        "id": made["id"],
        "actions": [{**sent["actions"][0], "id": existing}, {**sent["actions"][1], "id": new}],
        "edges": [
            {"source_action_id": None, "target_action_id": existing, "edge_type": "start"},
            {"source_action_id": existing, "target_action_id": new, "edge_type": "sequence"},
        ],
        "canvas_layout": {
            "viewport": {"x": 0, "y": 0, "zoom": 1},
            "node_positions": {
                "trigger": {"x": 100, "y": 100},
                existing: {"x": 300, "y": 100},
                new: {"x": 300, "y": 250},
            },
        },
    }
    assert saved["created_date"] <= saved["updated_date"]
    assert [one["action_type"] for one in saved["actions"]] == ["send_email", "create_alert"]
    assert (saved["version"], saved["key"]) == (2, "order-status-notification")
    assert saved["conditions"] == "status changed to 'shipped'"
    assert (await api.call("GET", f"{FULL}/{made['id']}")).json == saved
    enveloped = await api.call("GET", f"{RULES}/{saved['key']}")
    assert enveloped.json == {"data": saved}
    assert enveloped.headers["ETag"] == answer.headers["ETag"]


async def test_a_rule_that_was_read_can_be_sent_back_as_it_is(api: Detent) -> None:
    made = await create(api, labels={"team": "shop"}, max_duration="2d", vars={"a": 1})
    again = await api.call("PUT", f"{RULES}/{made.json['id']}", json=made.json)
    assert again.status == 200, again.text
    same = {**made.json, "updated_date": again.json["data"]["updated_date"]}
    assert again.json["data"] == same
    assert same["version"] == 1


async def test_the_two_example_errors_have_the_shape_and_the_words_of_editors(api: Detent) -> None:
    await add_entity(api)
    sent = request_of()
    sent["actions"][1]["action_config"] = {"recipients": [], "subject": "s", "body": "b"}
    sent["edges"].append({"source_action_id": "temp:1", "target_action_id": "temp:0", "edge_type": "sequence"})
    answer = await api.call("POST", f"{FULL}/full", json=sent)
    assert answer.status == 400
    refused = answer.json
    assert refused["error"] == "invalid_argument"
    assert refused["message"] == "workflow validation failed"
    found = refused["details"]["validation_errors"]
    assert {"field": "actions[1].action_config.recipients", "message": "at least one recipient required"} in found
    [cycle] = [one["message"] for one in found if one["field"] == "edges"]
    assert cycle.startswith("cycle detected between actions")
    assert found.index(
        {"field": "actions[1].action_config.recipients", "message": "at least one recipient required"}
    ) < ([one["field"] for one in found].index("edges"))


def _action(name: str | None = "Wait", **given: Any) -> dict[str, Any]:
    return {"name": name, "action_type": "delay", "action_config": {"seconds": 1}, "execution_order": 1, **given}


def _edge(source: str | None, target: str, kind: str = "sequence") -> dict[str, Any]:
    return {"source_action_id": source, "target_action_id": target, "edge_type": kind}


START = _edge(None, "temp:0", "start")
#: What is wrong with a request, and the field and words of the problem.
WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no name": ({"name": None}, "name", "is missing"),
    "an empty name": ({"name": " "}, "name", "must not be empty"),
    "no entity": ({"entity_id": None}, "entity_id", "is missing"),
    "an unknown entity": ({"entity_id": "ordr"}, "entity_id", "there is no entity 'ordr'; did you mean 'order'?"),
    "an unknown entity by name": ({"entity_id": None, "entity": "shop"}, "entity", "there is no entity 'shop'"),
    "an unknown id of an entity": (
        {"entity_id": "ent_01k5c1v6p2f7x8y9z0a1b2c3d4"},
        "entity_id",
        "there is no entity 'ent_01k5c1v6p2f7x8y9z0a1b2c3d4'",
    ),
    "no trigger type": ({"trigger_type_id": None}, "trigger_type_id", "is missing"),
    "an unknown trigger type": ({"trigger_type_id": "on_updat"}, "trigger_type_id", "did you mean 'on_update'?"),
    "conditions of another shape": ({"trigger_conditions": ["x"]}, "trigger_conditions", "must be a mapping"),
    "an unknown operator": (
        {"trigger_conditions": {"field_conditions": [{"field_name": "a", "operator": "equal", "value": 1}]}},
        "trigger_conditions.field_conditions[0].operator",
        "did you mean 'equals'?",
    ),
    "no actions": ({"actions": [], "edges": []}, "actions", "there are no actions"),
    "actions that are not a list": ({"actions": {}}, "actions", "must be a list"),
    "an action without a name": ({"actions": [_action(name=None)], "edges": [START]}, "actions[0].name", "is missing"),
    "an action without a config": (
        {"actions": [_action(action_config=None)], "edges": [START]},
        "actions[0].action_config",
        "is missing",
    ),
    "a config of another type": (
        {"actions": [_action(action_type="create_alert")], "edges": [START]},
        "actions[0].action_config.title",
        "is missing",
    ),
    "an unknown severity": (
        {
            "actions": [
                _action(
                    action_type="create_alert",
                    action_config={"alert_type": "a", "severity": "huge", "title": "t", "message": "m"},
                )
            ],
            "edges": [START],
        },
        "actions[0].action_config.severity",
        "'huge' is not one of low, medium, high, critical",
    ),
    "an unknown action type": (
        {"actions": [_action(action_type="send_emial")], "edges": [START]},
        "actions[0].action_type",
        "did you mean 'send_email'?",
    ),
    "an order of zero": (
        {"actions": [_action(execution_order=0)], "edges": [START]},
        "actions[0].execution_order",
        "must be from 1",
    ),
    "an order that is text": (
        {"actions": [_action(execution_order="1")], "edges": [START]},
        "actions[0].execution_order",
        "must be a whole number",
    ),
    "a start edge with a source": (
        {"actions": [_action(), _action("B")], "edges": [START, _edge("temp:0", "temp:1", "start")]},
        "edges[1].source_action_id",
        "must be null",
    ),
    "another edge without a source": (
        {"actions": [_action(), _action("B")], "edges": [START, _edge(None, "temp:1")]},
        "edges[1].source_action_id",
        "is missing",
    ),
    "an edge without a target": (
        {"edges": [{**START, "target_action_id": None}]},
        "edges[0].target_action_id",
        "is missing",
    ),
    "an unknown target": (
        {"edges": [_edge(None, "nothing", "start")]},
        "edges[0].target_action_id",
        "no action 'nothing'",
    ),
    "an unknown type of edges": (
        {"edges": [_edge(None, "temp:0", "begin")]},
        "edges[0].edge_type",
        "is not one of start",
    ),
    "a place out of range": (
        {"edges": [START, _edge("temp:0", "temp:2")]},
        "edges[1].target_action_id",
        "'temp:2' is not the place",
    ),
    "a negative place": (
        {"edges": [START, _edge("temp:-1", "temp:1")]},
        "edges[1].source_action_id",
        "'temp:-1' is not the place",
    ),
    "a place that is no number": (
        {"edges": [START, _edge("temp:x", "temp:1")]},
        "edges[1].source_action_id",
        "'temp:x' is not the place",
    ),
    "the place of another action as an id": (
        {"actions": [_action(id="temp:1"), _action("B", id="temp:0")], "edges": [START, _edge("temp:0", "temp:1")]},
        "actions[0].id",
        "'temp:1' is not the place of this action",
    ),
    "a place that two actions have": (
        {"actions": [_action(id="temp:0"), _action("B", id="temp:0")], "edges": [START, _edge("temp:0", "temp:1")]},
        "actions[1].id",
        "'temp:0' is the id of actions[0] already",
    ),
    "a key that two actions have": (
        {"actions": [_action(id="k"), _action("B", id="k")], "edges": [START, _edge("temp:0", "temp:1")]},
        "actions[1].id",
        "'k' is the id of actions[0] already",
    ),
    "an edge to itself": (
        {"edges": [START, _edge("temp:0", "temp:0")]},
        "edges[1].target_action_id",
        "an action cannot lead to itself",
    ),
    "an orphan": ({"edges": [START]}, "actions[1]", "orphaned"),
    "an unreachable action": (
        {
            "actions": [_action(), _action("B"), _action("C")],
            "edges": [START, _edge("temp:1", "temp:2")],
        },
        "actions[2]",
        "unreachable",
    ),
    "two starts to one action": ({"edges": [START, START]}, "edges[1].target_action_id", "has a start edge already"),
    "the same edge twice": (
        {"edges": [START, _edge("temp:0", "temp:1"), _edge("temp:0", "temp:1")]},
        "edges[2]",
        "a second sequence edge",
    ),
    "a branch of an action without an answer": (
        {"edges": [START, _edge("temp:0", "temp:1", "true_branch")]},
        "edges[1].edge_type",
        "true or false",
    ),
    "an unknown field": ({"colour": "red"}, "colour", "unknown field 'colour'"),
    "a layout that is a list": ({"canvas_layout": []}, "canvas_layout", "must be an object"),
    "a place on the canvas out of range": (
        {"canvas_layout": {"node_positions": {"temp:7": {"x": 1, "y": 1}}}},
        "canvas_layout.node_positions.temp:7",
        "is not the place of an action",
    ),
    "a place on the canvas without numbers": (
        {"canvas_layout": {"node_positions": {"temp:0": {"x": "1", "y": 1}}}},
        "canvas_layout.node_positions.temp:0",
        "two numbers",
    ),
    "a viewport that is text": ({"canvas_layout": {"viewport": "x"}}, "canvas_layout.viewport", "numbers"),
}


async def test_each_thing_that_is_wrong_is_refused_with_its_place(api: Detent) -> None:
    await add_entity(api)
    for name, (changes, field, words) in WRONG.items():
        found = problems(await api.call("POST", f"{FULL}/full", json=request_of(**changes)))
        assert any(place == field and words in said for place, said in found), (name, found)
    listed = await api.call("GET", RULES)
    assert listed.json["data"] == [], "nothing was saved"


async def test_all_problems_are_reported_at_once_in_the_order_of_the_fields(api: Detent) -> None:
    sent = request_of(
        name="",
        entity_id="nothing",
        actions=[_action(execution_order=0)],
        edges=[_edge(None, "temp:5", "start")],
        canvas_layout={"node_positions": {"temp:9": {"x": 1, "y": 1}}},
    )
    found = problems(await api.call("POST", f"{FULL}/full", json=sent))
    places = [field for field, _ in found]
    assert [*dict.fromkeys(place.split("[")[0].split(".")[0] for place in places)] == [
        "name", "entity_id", "actions", "edges", "canvas_layout",
    ]  # fmt: skip
    assert len(places) == len(set(found)), "no problem is reported twice"


@pytest.mark.parametrize("count", [1_001, 10_000])
async def test_too_many_actions_are_refused_before_anything_is_compiled(api: Detent, count: int) -> None:
    await add_entity(api)
    actions = [_action(f"a{number}") for number in range(count)]
    edges = [_edge(None, "temp:0", "start"), *(_edge(f"temp:{n}", f"temp:{n + 1}") for n in range(count - 1))]
    body = io.BytesIO(json.dumps(request_of(actions=actions, edges=edges)).encode())
    answer = await api.call("POST", f"{FULL}/full", data=body)
    assert problems(answer) == [("actions", f"has {count} actions; at most 1000 are allowed")]


async def test_a_thousand_actions_are_saved(api: Detent) -> None:
    await add_entity(api)
    actions = [{"name": f"a{number}", "action_config": {"seconds": 1}} for number in range(1_000)]
    edges = [_edge(None, "temp:0", "start"), *(_edge(f"temp:{n}", f"temp:{n + 1}") for n in range(999))]
    answer = await api.call("POST", f"{FULL}/full", json=request_of(actions=actions, edges=edges))
    assert answer.status == 201, answer.text
    assert len({one["id"] for one in answer.json["actions"]}) == 1_000
