"""What belongs to rules: ids through saves, parts, versions, entities, types, alerts and action templates."""

from __future__ import annotations

import asyncio
from typing import Any

from detent.ids import ALERT, new_id, parse, show
from tests.api.rules import ENTITIES, FULL, RULES, add_entity, create, problems, request_of
from tests.api.server import Detent

ALERTS = "/api/v1/alerts"
TEMPLATES = "/api/v1/action-templates"


def wait(name: str, **given: Any) -> dict[str, Any]:
    return {"name": name, "action_type": "delay", "action_config": {"seconds": 1}, **given}


def edge(source: str | None, target: str, kind: str = "sequence") -> dict[str, Any]:
    return {"source_action_id": source, "target_action_id": target, "edge_type": kind}


# Ids.


async def test_ids_and_steps_stay_through_saves_and_renames(api: Detent) -> None:
    made = (await create(api)).json
    mail, alert = made["actions"]
    sent = {**made, "actions": [{**alert, "name": "Warn"}, {**mail, "name": "Write"}, wait("Send Email")]}
    sent["edges"] = [*made["edges"], edge(alert["id"], "temp:2")]
    saved = (await api.call("PUT", f"{FULL}/{made['id']}/full", json=sent)).json
    assert [one["id"] for one in saved["actions"][:2]] == [alert["id"], mail["id"]]
    assert [one["step"] for one in saved["actions"]] == ["create-alert", "send-email", "send-email-2"]
    assert [one["id"] for one in saved["edges"][:2]] == [one["id"] for one in made["edges"]], "they did not change"
    gone = {**saved, "actions": [saved["actions"][1], wait("Create Alert")], "edges": [made["edges"][0]]}
    gone["edges"].append(edge(mail["id"], "temp:1"))
    last = (await api.call("PUT", f"{FULL}/{made['id']}/full", json=gone)).json
    assert last["actions"][1]["id"] not in {one["id"] for one in saved["actions"]}
    assert last["actions"][1]["step"] == "create-alert-2", "a run in flight would take it for the action that is gone"


async def test_a_key_of_the_editor_names_a_new_action_everywhere(api: Detent) -> None:
    await add_entity(api)
    sent = request_of(
        actions=[wait("A", id="node-1"), wait("B", id="node-2")],
        edges=[edge(None, "node-1", "start"), edge("node-1", "node-2")],
        canvas_layout={"node_positions": {"node-2": {"x": 1, "y": 2}}},
    )
    saved = (await api.call("POST", f"{FULL}/full", json=sent)).json
    first, second = (one["id"] for one in saved["actions"])
    assert saved["edges"][1]["source_action_id"] == first
    assert saved["canvas_layout"]["node_positions"] == {second: {"x": 1, "y": 2}}


async def test_an_id_of_another_rule_is_refused_and_one_of_an_older_version_is_known(api: Detent) -> None:
    made = (await create(api)).json
    foreign = {**made, "actions": [*made["actions"], wait("C", id=show("act", new_id()))]}
    found = problems(await api.call("PUT", f"{FULL}/{made['id']}/full", json=foreign))
    assert ("actions[2].id", found[0][1]) == found[0]
    assert "this rule has no action" in found[0][1]
    smaller = {**made, "actions": made["actions"][:1], "edges": made["edges"][:1]}
    await api.call("PUT", f"{FULL}/{made['id']}/full", json=smaller)
    again = await api.call("PUT", f"{FULL}/{made['id']}/full", json=made)
    assert again.status == 200, again.text
    assert again.json["actions"] == made["actions"]
    assert again.json["version"] == 1, "the text of an older version makes that version current"
    assert again.json["canvas_layout"] == made["canvas_layout"], "its places are known still"
    copied = await api.call("POST", f"{FULL}/full", json={**made, "name": "Copy", "key": None})
    assert copied.status == 201, copied.text
    assert {one["id"] for one in copied.json["actions"]}.isdisjoint(one["id"] for one in made["actions"])


async def test_a_rule_of_a_file_is_edited_by_the_names_of_its_steps(api: Detent) -> None:
    await add_entity(api)
    text = """
form: rule
key: waits
name: Waits
entity: order
trigger_type: on_create
actions:
  - {name: First, action_type: delay, action_config: {seconds: 1}}
  - {name: Second, action_type: delay, action_config: {seconds: 1}}
edges:
  - {target_action_id: temp:0, edge_type: start}
  - {source_action_id: first, target_action_id: second, edge_type: sequence}
"""
    saved = await api.call("PUT", "/api/v1/workflows/waits", data=text, headers={"Content-Type": "application/yaml"})
    assert saved.status == 201, saved.text
    rule = (await api.call("GET", f"{RULES}/waits")).json["data"]
    assert [one["id"] for one in rule["actions"]] == ["first", "second"]
    assert [one["target_action_id"] for one in rule["edges"]] == ["first", "second"]
    same = (await api.call("PUT", f"{RULES}/waits", json=rule)).json["data"]
    assert same["version"] == 1, "an editor that changes nothing makes no version"
    added = await api.call(
        "POST",
        f"{RULES}/waits/actions",
        json={**wait("Third"), "edges": [{"source_action_id": "second", "edge_type": "always"}]},
    )
    assert added.status == 201, added.text
    parse("act", added.json["data"]["id"])


# If-Match and layouts.


async def test_a_tag_that_is_stale_is_answered_with_who_when_and_what(api: Detent) -> None:
    made = await create(api)
    place, old = f"{RULES}/{made.json['id']}", made.headers["ETag"]
    changed = await api.call("PUT", place, json={**made.json, "name": "Renamed"}, headers={"If-Match": old})
    assert changed.status == 200
    for method, path in (("PUT", place), ("DELETE", place), ("POST", f"{place}/versions/1/restore")):
        refused = await api.call(method, path, json=made.json, headers={"If-Match": old})
        assert refused.status == 412, (method, refused.text)
        current = refused.json["details"]["current"]
        assert current["etag"] == refused.headers["ETag"] == changed.headers["ETag"]
        assert current["difference"]["settings"] == [
            {"field": "name", "old": "Order Status Notification", "new": "Renamed"}
        ]
    foreign = await api.call("PUT", place, json=made.json, headers={"If-Match": '"x"'})
    assert foreign.status == 412
    assert foreign.json["details"]["current"]["difference"] is None
    assert (await api.call("PUT", place, json=made.json, headers={"If-Match": "*"})).status == 200
    stale = await api.call("PUT", f"{place}?validate_only=true", json=made.json, headers={"If-Match": old})
    assert stale.status == 412


async def test_a_layout_changes_neither_the_version_nor_the_tag(api: Detent) -> None:
    made = await create(api)
    first, second = (one["id"] for one in made.json["actions"])
    sent = {"viewport": {"x": 9, "y": 9, "zoom": 0.5}, "node_positions": {first: {"x": 7, "y": 8}, second: None}}
    answer = await api.call("PATCH", f"{RULES}/{made.json['id']}/layout", json=sent)
    assert answer.status == 200, answer.text
    expected = {
        "viewport": {"x": 9, "y": 9, "zoom": 0.5},
        "node_positions": {"trigger": {"x": 100, "y": 100}, first: {"x": 7, "y": 8}},
    }
    assert answer.json == {"data": {"canvas_layout": expected}}
    now = await api.call("GET", f"{RULES}/{made.json['id']}")
    assert now.json["data"]["canvas_layout"] == expected
    assert now.json["data"]["updated_date"] == made.json["updated_date"]
    assert now.headers["ETag"] == made.headers["ETag"]
    bare = await api.call("PATCH", f"{FULL}/{made.json['id']}/layout", json={"canvas_layout": sent})
    assert bare.json == {"canvas_layout": expected}
    wrong = await api.call("PATCH", f"{RULES}/{made.json['id']}/layout", json={"node_positions": {first: 1}})
    assert problems(wrong)[0][0] == f"canvas_layout.node_positions.{first}"
    assert (await api.call("PATCH", f"{RULES}/nothing/layout", json=sent)).status == 404


# The life of a rule.


async def test_rules_are_listed_read_deactivated_and_deleted(api: Detent) -> None:
    made = (await create(api)).json
    await add_entity(api, "customer")
    others = {"entity_id": "customer", "trigger_type_id": "on_create", "trigger_conditions": None}
    other = request_of(name="Welcome", description="Greet", **others)
    await api.call("POST", RULES, json=other)

    async def names(query: str = "") -> list[str]:
        answer = await api.call("GET", f"{RULES}{query}")
        assert answer.status == 200, answer.text
        return [one["name"] for one in answer.json["data"]]

    assert await names() == ["Order Status Notification", "Welcome"]
    assert await names("?entity=customer") == ["Welcome"]
    assert await names(f"?entity_id={made['entity_id']}") == ["Order Status Notification"]
    assert await names("?trigger_type=on_create") == ["Welcome"]
    assert await names("?search=STATUS") == ["Order Status Notification"]
    page = (await api.call("GET", f"{RULES}?limit=1")).json
    assert await names(f"?limit=1&cursor={page['next_cursor']}") == ["Welcome"]
    off = (await api.call("POST", f"{RULES}/{made['key']}/deactivate")).json["data"]
    assert (off["is_active"], off["version"]) == (False, 1)
    assert await names("?is_active=true") == ["Welcome"]
    refused = await api.call("POST", f"/api/v1/workflows/{made['key']}/trigger", json={})
    assert refused.status == 409
    on = (await api.call("POST", f"{RULES}/{made['id']}/activate")).json["data"]
    assert on["is_active"] is True
    deleted = (await api.call("DELETE", f"{RULES}/{made['id']}")).json["data"]
    assert deleted["key"] == made["key"]
    assert await names() == ["Welcome"]
    for method, path in (("GET", ""), ("PUT", ""), ("POST", "/activate"), ("GET", "/versions"), ("DELETE", "")):
        assert (await api.call(method, f"{RULES}/{made['id']}{path}", json=other)).status == 404, path
    assert (await api.call("GET", f"{RULES}?trigger_type=never")).status == 400
    assert (await api.call("GET", f"{RULES}?entity=never")).status == 404


async def test_a_workflow_of_another_form_is_not_a_rule(api: Detent) -> None:
    await api.save("name: steps\ntasks: {a: {action: core.echo}}")
    answer = await api.call("GET", f"{RULES}/steps")
    assert answer.status == 404
    assert "of the form 'steps'" in answer.json["message"]


async def test_a_taken_name_is_a_conflict_unless_another_key_is_given(api: Detent) -> None:
    await create(api)
    assert (await api.call("POST", RULES, json=request_of())).status == 409
    other = await api.call("POST", RULES, json=request_of(key="another"))
    assert other.status == 201, other.text
    assert (other.json["data"]["key"], other.json["data"]["name"]) == ("another", "Order Status Notification")
    renamed = await api.call("PUT", f"{RULES}/another", json=request_of(key="third"))
    assert problems(renamed)[0][0] == "key"


async def test_versions_have_their_author_and_what_changed_and_can_be_restored(api: Detent) -> None:
    made = (await create(api)).json
    place = f"{RULES}/{made['id']}"
    await api.call(
        "PUT", place, json={**made, "name": "Renamed", "actions": made["actions"][:1], "edges": made["edges"][:1]}
    )
    versions = (await api.call("GET", f"{place}/versions")).json["data"]
    assert [(one["version"], one["current"], one["author"], one["name"]) for one in versions] == [
        (2, True, "api", "Renamed"),
        (1, False, "api", "Order Status Notification"),
    ]
    page = (await api.call("GET", f"{place}/versions?limit=1")).json
    rest = (await api.call("GET", f"{place}/versions?limit=1&cursor={page['next_cursor']}")).json
    assert [one["version"] for one in rest["data"]] == [1]
    newest, first = (await api.call("GET", f"{place}/history")).json["data"]
    assert [one["name"] for one in newest["difference"]["actions"]["removed"]] == ["Create Alert"]
    assert [one["edge_type"] for one in newest["difference"]["edges"]["removed"]] == ["sequence"]
    assert [one["field"] for one in newest["difference"]["settings"]] == ["name"]
    assert len(first["difference"]["actions"]["added"]) == 2
    old = (await api.call("GET", f"{place}/versions/1")).json["data"]
    assert (old["name"], old["version"], old["actions"]) == (made["name"], 1, made["actions"])
    assert (await api.call("GET", f"{place}?version=1")).json["data"] == old
    assert (await api.call("GET", f"{place}/versions/9")).status == 404
    restored = (await api.call("POST", f"{place}/versions/1/restore")).json["data"]
    assert (restored["version"], restored["actions"], restored["edges"]) == (1, made["actions"], made["edges"])
    assert (await api.call("POST", f"{place}/versions/9/restore")).status == 404


async def test_a_draft_keeps_what_is_wrong_and_makes_no_version(api: Detent) -> None:
    made = (await create(api)).json
    draft = await api.call("PUT", f"{RULES}/{made['id']}?draft=true", json={**made, "edges": []})
    assert draft.status == 200, draft.text
    assert [one["field"] for one in draft.json["data"]["problems"]] == ["actions[0]", "actions[1]"]
    now = (await api.call("GET", f"{RULES}/{made['id']}")).json["data"]
    assert (now["version"], now["edges"]) == (1, made["edges"])
    better = {**made, "name": "Better"}
    assert (await api.call("PUT", f"{RULES}/{made['id']}?draft=true", json=better)).json["data"]["problems"] == []
    published = await api.call("POST", f"/api/v1/workflows/{made['id']}/publish")
    assert published.status == 200, published.text
    assert (await api.call("GET", f"{RULES}/{made['id']}")).json["data"]["name"] == "Better"


# Actions and edges.


async def test_actions_are_added_changed_and_removed_one_by_one(api: Detent) -> None:
    made = (await create(api)).json
    place = f"{RULES}/{made['id']}/actions"
    mail, alert = (one["id"] for one in made["actions"])
    listed = await api.call("GET", place)
    assert listed.json["data"] == made["actions"]
    orphan = problems(await api.call("POST", place, json=wait("Later")))
    assert [field for field, _ in orphan] == ["actions[2]"]
    new = {**wait("Later"), "edges": [edge(mail, "new"), edge("new", alert)]}
    added = await api.call("POST", place, json=new, headers={"If-Match": listed.headers["ETag"]})
    assert added.status == 201, added.text
    id_ = added.json["data"]["id"]
    assert (await api.call("GET", f"{place}/{id_}")).json["data"] == added.json["data"]
    assert (await api.call("GET", f"{place}/later")).json["data"]["id"] == id_
    assert (await api.call("POST", place, json=new, headers={"If-Match": listed.headers["ETag"]})).status == 412
    changed = await api.call("PATCH", f"{place}/{id_}", json={"name": "Much later", "description": "x"})
    assert changed.json["data"] == {**added.json["data"], "name": "Much later", "description": "x"}
    whole = await api.call("PUT", f"{place}/{id_}", json={"name": "Wait", "action_config": {"seconds": 5}})
    assert whole.json["data"] == {**added.json["data"], "name": "Wait", "action_config": {"seconds": 5}}
    bad = problems(await api.call("PATCH", f"{place}/{id_}", json={"execution_order": -1}))
    assert bad[0][0] == "actions[2].execution_order"
    removed = await api.call("DELETE", f"{place}/{id_}")
    assert removed.status == 200, "another edge leads to what is behind it"
    assert removed.json["data"]["id"] == id_
    assert (await api.call("GET", f"{place}/{id_}")).status == 404
    assert (await api.call("DELETE", f"{place}/{id_}")).status == 404


async def test_an_action_in_the_middle_is_removed_if_its_neighbours_are_connected(api: Detent) -> None:
    await add_entity(api)
    chain = request_of(
        actions=[wait("A"), wait("B"), wait("C")],
        edges=[edge(None, "temp:0", "start"), edge("temp:0", "temp:1", "always"), edge("temp:1", "temp:2")],
        canvas_layout=None,
    )
    made = (await api.call("POST", RULES, json=chain)).json["data"]
    first, middle, last = (one["id"] for one in made["actions"])
    place = f"{RULES}/{made['id']}/actions/{middle}"
    assert problems(await api.call("DELETE", place))[0][0] == "actions[1]"
    assert (await api.call("DELETE", f"{place}?reconnect=true")).status == 200
    edges = (await api.call("GET", f"{RULES}/{made['id']}/edges")).json["data"]
    assert [(one["source_action_id"], one["target_action_id"], one["edge_type"]) for one in edges] == [
        (None, first, "start"),
        (first, last, "always"),
    ]


async def test_edges_are_added_changed_and_removed_one_by_one(api: Detent) -> None:
    made = (await create(api)).json
    place = f"{RULES}/{made['id']}/edges"
    mail, alert = (one["id"] for one in made["actions"])
    start, sequence = made["edges"]
    assert (await api.call("GET", place)).json["data"] == made["edges"]
    added = await api.call("POST", place, json=edge(mail, alert, "always"))
    assert added.status == 201, added.text
    id_ = added.json["data"]["id"]
    assert (await api.call("DELETE", f"{place}/{sequence['id']}")).status == 200
    patched = (await api.call("PATCH", f"{place}/{id_}", json={"edge_order": 3})).json["data"]
    assert patched == {**added.json["data"], "edge_order": 3}
    changed = (await api.call("PUT", f"{place}/{id_}", json=edge(mail, alert))).json["data"]
    assert changed == sequence, "an edge is its ends and its type"
    assert (await api.call("GET", f"{place}/{start['id']}")).json["data"] == start
    assert problems(await api.call("DELETE", f"{place}/{start['id']}"))
    assert (await api.call("GET", f"{place}/{id_}")).status == 404


# Entities and types.


async def test_entities_are_added_changed_listed_and_deleted(api: Detent) -> None:
    made = await add_entity(api, title="Orders", fields={"type": "object"})
    assert (made["name"], made["title"], made["fields"], made["revision"]) == ("order", "Orders", {"type": "object"}, 1)
    assert (await api.call("POST", ENTITIES, json={"name": "order"})).status == 409
    assert (await api.call("POST", ENTITIES, json={"name": " "})).status == 400
    wrong = await api.call("POST", ENTITIES, json={"name": "x", "fields": {"type": "objekt"}})
    assert problems(wrong)[0][0].startswith("fields")
    changed = (await api.call("PUT", f"{ENTITIES}/order", json={"title": "All orders"})).json["data"]
    assert (changed["title"], changed["fields"]) == ("All orders", None)
    assert (await api.call("PUT", f"{ENTITIES}/order", json={"name": "other"})).status == 400
    assert (await api.call("GET", f"{ENTITIES}/{made['id']}")).json["data"] == changed
    await add_entity(api, "customer")
    page = (await api.call("GET", f"{ENTITIES}?limit=1")).json
    assert [one["name"] for one in page["data"]] == ["customer"]
    rest = (await api.call("GET", f"{ENTITIES}?limit=1&cursor={page['next_cursor']}")).json
    assert [one["name"] for one in rest["data"]] == ["order"]
    bare = (await api.call("GET", "/v1/workflow/entities")).json
    assert [one["name"] for one in bare] == ["customer", "order"]
    assert (await api.call("DELETE", f"{ENTITIES}/customer")).json["data"]["name"] == "customer"
    assert (await api.call("DELETE", f"{ENTITIES}/customer")).status == 404
    await api.call("POST", RULES, json=request_of())
    used = await api.call("DELETE", f"{ENTITIES}/order")
    assert used.status == 409
    assert "'order-status-notification'" in used.json["message"]


async def test_fields_that_an_entity_does_not_have_are_refused_wherever_a_rule_is_saved(api: Detent) -> None:
    fields: dict[str, Any] = {"status": {}, "number": {}, "customer_email": {}}
    await add_entity(api, fields={"type": "object", "properties": fields, "additionalProperties": False})
    found = problems(await api.call("POST", RULES, json=request_of()))
    assert [field for field, _ in found] == ["actions[1].action_config.message"]
    assert "customer_name" in found[0][1]
    plain = await api.call(
        "POST", "/api/v1/workflows", json={**request_of(canvas_layout=None), "form": "rule", "entity_id": "order"}
    )
    assert problems(plain) == found


async def test_a_field_that_the_entity_does_not_have_is_reported_with_every_other_problem(api: Detent) -> None:
    fields: dict[str, Any] = {"status": {}, "number": {}, "customer_email": {}}
    await add_entity(api, fields={"type": "object", "properties": fields, "additionalProperties": False})
    wrong = request_of(name="", edges=[{"target_action_id": "temp:9", "edge_type": "start"}])
    places = [field for field, _ in problems(await api.call("POST", RULES, json=wrong))]
    assert {"name", "actions[1].action_config.message", "edges[0].target_action_id"} <= set(places)
    of_catalog = request_of()
    of_catalog["actions"][0] = {"name": "Echo", "action_type": "core.delay", "action_config": {"second": 1}}
    places = [field for field, _ in problems(await api.call("POST", RULES, json=of_catalog))]
    assert "actions[1].action_config.message" in places
    assert len(places) > 1
    trigger = {
        "type": "on_update", "entity": "order",
        "trigger_conditions": {"field_conditions": [{"field_name": "statu", "operator": "changed"}]},
    }  # fmt: skip
    steps = {"name": "x", "trigger": trigger, "tasks": {"a": {"needs": ["b"], "action": "core.echo"}}}
    found = problems(await api.call("POST", "/api/v1/workflows", json=steps))
    assert [field for field, _ in found] == [
        "tasks.a.needs[0]",
        "trigger.trigger_conditions.field_conditions[0].field_name",
    ]


async def test_a_default_that_is_written_in_one_version_only_is_no_difference(api: Detent) -> None:
    await add_entity(api)
    plain = {"key": "late", "name": "Late", "entity": "order", "trigger_type": "on_update", "form": "rule"}
    mail = {"recipients": ["a@x.example"], "subject": "s", "body": "b"}
    edges = [{"target_action_id": "temp:0", "edge_type": "start"}]
    await api.call(
        "POST", "/api/v1/workflows", json={**plain, "actions": [{"name": "A", "action_config": mail}], "edges": edges}
    )
    made = (await api.call("GET", f"{RULES}/late")).json["data"]
    defaults = {"retries": 2, "timeout": "5m", "on_crash": "retry", "execution_order": 1}
    written = {
        **made, "is_active": True, "labels": {}, "vars": {}, "on_unhandled": "fail", "max_duration": "30d",
        "trigger_conditions": {"field_conditions": [], "match": "all"}, "actions": [{**made["actions"][0], **defaults}],
    }  # fmt: skip
    for changes in ({}, {"on_unhandled": "settle"}):
        assert (await api.call("PUT", f"{RULES}/late", json={**written, **changes})).status == 200
    newest, second, _ = (await api.call("GET", f"{RULES}/late/history")).json["data"]
    assert newest["difference"]["settings"] == [{"field": "on_unhandled", "old": "fail", "new": "settle"}]
    nothing: dict[str, list[Any]] = {"added": [], "removed": []}
    assert second["difference"] == {"actions": {**nothing, "changed": []}, "edges": nothing, "settings": []}


async def test_the_types_of_rules_are_listed(api: Detent) -> None:
    kinds = (await api.call("GET", "/api/v1/trigger-types")).json["data"]
    assert [one["id"] for one in kinds] == ["on_create", "on_update", "on_delete", "scheduled", "manual"]
    assert (await api.call("GET", "/v1/workflow/trigger-types")).json == kinds
    types = (await api.call("GET", "/api/v1/action-types")).json["data"]
    assert {"send_email", "create_alert", "condition", "delay", "wait", "call"} <= {one["name"] for one in types}
    assert [one["name"] for one in types if one["has_branches"]] == ["condition"]
    assert (await api.call("GET", "/v1/workflow/action-types")).json == types


# Alerts.


ALARM: dict[str, Any] = {
    "actions": [
        {
            "name": "Warn",
            "action_config": {
                "alert_type": "late",
                "severity": "{{level}}",
                "title": "Order {{number}}",
                "message": "It is late",
            },
        }
    ],
    "edges": [edge(None, "temp:0", "start")],
    "canvas_layout": None,
}


async def raised(api: Detent, rule: dict[str, Any], **record: Any) -> dict[str, Any]:
    return await api.ended(await api.start(rule["key"], {"after": record}))


async def test_an_action_raises_an_alert_that_is_acknowledged_and_resolved(detent: Detent) -> None:
    rule = (await create(detent, **ALARM)).json
    run = await raised(detent, rule, number=7, level="high")
    assert run["status"] == "completed", run
    output = run["tasks"]["warn"]["output"]
    [alert] = (await detent.call("GET", ALERTS)).json["data"]
    assert (alert["id"], alert["severity"], alert["title"]) == (output["alert_id"], "high", "Order 7")
    assert (alert["rule"], alert["rule_id"], alert["run_id"], alert["step"]) == (
        rule["key"],
        rule["id"],
        run["id"],
        "warn",
    )
    assert (alert["status"], alert["alert_type"], alert["rule_name"]) == ("open", "late", rule["name"])
    await asyncio.gather(*(raised(detent, rule, number=n, level="low") for n in (8, 9)))

    async def titles(query: str) -> list[str]:
        answer = await detent.call("GET", f"{ALERTS}?{query}")
        assert answer.status == 200, answer.text
        return sorted(one["title"] for one in answer.json["data"])

    assert await titles("severity=low") == ["Order 8", "Order 9"]
    assert await titles("severity=low&severity=high&alert_type=late") == ["Order 7", "Order 8", "Order 9"]
    assert await titles(f"run={run['id']}") == ["Order 7"]
    assert len(await titles(f"rule={rule['id']}")) == 3
    assert await titles("before=2026-01-01T00:00:00Z") == []
    page = (await detent.call("GET", f"{ALERTS}?limit=2")).json
    assert len((await detent.call("GET", f"{ALERTS}?limit=2&cursor={page['next_cursor']}")).json["data"]) == 1
    seen = (await detent.call("POST", f"{ALERTS}/{alert['id']}/acknowledge")).json["data"]
    assert (seen["status"], seen["acknowledged_by"], seen["resolved_date"]) == ("acknowledged", "api", None)
    done = (await detent.call("POST", f"{ALERTS}/{alert['id']}/resolve")).json["data"]
    assert (done["status"], done["resolved_by"]) == ("resolved", "api")
    assert (await detent.call("GET", f"{ALERTS}/{alert['id']}")).json["data"] == done
    assert (await detent.call("POST", f"{ALERTS}/{alert['id']}/acknowledge")).status == 409
    assert await titles("status=open") == ["Order 8", "Order 9"]
    for path in (f"/{show(ALERT, new_id())}", "/nothing"):
        assert (await detent.call("GET", ALERTS + path)).status == 404
        assert (await detent.call("POST", f"{ALERTS}{path}/resolve")).status == 404
    assert (await detent.call("GET", f"{ALERTS}?severity=huge")).status == 400
    runs = (await detent.call("GET", f"{RULES}/{rule['id']}/executions?limit=1")).json
    assert len(runs["data"]) == 1
    assert (await detent.call("GET", f"{RULES}/{rule['key']}/runs")).json["data"][-1]["id"] == run["id"]


async def test_an_alert_with_an_unknown_severity_fails_its_run(api: Detent) -> None:
    rule = (await create(api, **ALARM)).json
    run = await raised(api, rule, number=7, level="huge")
    assert run["status"] == "failed"
    assert run["tasks"]["warn"]["error"]["code"] == "invalid_parameters"
    assert (await api.call("GET", ALERTS)).json["data"] == []


# Action templates.


async def test_action_templates_are_stored_changed_listed_and_deleted(api: Detent) -> None:
    body = {"name": "Mail", "action_type": "send_email", "default_config": {"subject": "Hello"}, "description": ""}
    made = (await api.call("POST", TEMPLATES, json=body)).json["data"]
    assert {name: made[name] for name in body} == body
    assert (made["is_active"], made["created_by"]) == (True, "api")
    assert (await api.call("POST", TEMPLATES, json=body)).status == 409
    unknown = await api.call("POST", TEMPLATES, json={**body, "name": "x", "action_type": "send_emial"})
    assert problems(unknown) == [("action_type", "there is no action type 'send_emial'; did you mean 'send_email'?")]
    place = f"{TEMPLATES}/{made['id']}"
    changed = (await api.call("PUT", place, json={**body, "name": "Post", "is_active": False})).json["data"]
    assert (changed["name"], changed["is_active"]) == ("Post", False)
    assert (await api.call("GET", place)).json["data"] == changed
    await api.call("POST", TEMPLATES, json={"name": "Alert", "action_type": "create_alert"})
    listed = (await api.call("GET", f"{TEMPLATES}?is_active=true")).json["data"]
    assert [one["name"] for one in listed] == ["Alert"]
    assert (await api.call("GET", f"{TEMPLATES}?action_type=send_email")).json["data"] == [changed]
    assert (await api.call("DELETE", place)).json["data"] == changed
    for method in ("GET", "PUT", "DELETE"):
        assert (await api.call(method, place, json=body)).status == 404
