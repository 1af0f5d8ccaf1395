"""The routes of the catalog, and what a publish makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.catalog.shipped import shipped_actions
from tests.api.server import Detent
from tests.catalog.manifests import manifest, parameters

CONNECTORS, ACTIONS = "/api/v1/connectors", "/api/v1/actions"
GET = {"parameters": parameters("id", id={"type": "string"}), "request": {"path": "/x/{id}"}, "effect": "none"}


async def added(api: Detent, **given: Any) -> dict[str, Any]:
    answer = await api.call("POST", CONNECTORS, json=manifest(GET, **given))
    assert answer.status == 201, answer.text
    found: dict[str, Any] = answer.json["data"]
    return found


def workflow(name: str = "w", action: str = "crm.run") -> str:
    return json.dumps({"name": name, "tasks": {"a": {"action": action, "with": {"id": "7"}, "retries": 0}}})


async def test_the_shipped_connectors_and_their_actions_are_listed(api: Detent) -> None:
    answer = await api.call("GET", CONNECTORS)
    found = {one["id"]: one for one in answer.json["data"]}
    assert found.keys() >= {"slack", "monday", "confluence", "github", "stripe", "core"}
    assert (found["slack"]["auth_type"], found["slack"]["requires_auth"]) == ("bearer", True)
    assert found["confluence"]["missing"] == ["CONNECTOR_CONFLUENCE_URL", "CONNECTOR_CONFLUENCE_TOKEN"]
    assert "auth" not in found["slack"]
    actions = await api.call("GET", f"{ACTIONS}?limit=200")
    assert {one["id"] for one in actions.json["data"]} >= {*shipped_actions(), "core.echo"}


async def test_actions_are_found_by_connector_category_and_text(api: Detent) -> None:
    async def found(query: str) -> list[str]:
        answer = await api.call("GET", f"{ACTIONS}?{query}")
        assert answer.status == 200, answer.text
        return [one["id"] for one in answer.json["data"]]

    assert await found("connectorId=slack") == ["slack.post-message", "slack.update-message"]
    mine = ["email.send", "notify.send", "slack.post-message", "slack.update-message"]
    assert await found("category=Communication") == mine
    refunds = await found("search=REFUND")  # actions that other tests of this process have registered are found too
    assert [one for one in refunds if one.startswith("stripe.")] == ["stripe.create-refund"]
    assert "slack.post-message" not in refunds
    assert await found("connector_id=slack&search=payment") == []
    listed = await api.call("GET", f"{CONNECTORS}/slack/actions")
    assert [one["id"] for one in listed.json["data"]] == ["slack.post-message", "slack.update-message"]


async def test_pages_of_actions_follow_each_other(api: Detent) -> None:
    seen: list[str] = []
    cursor = ""
    while True:
        answer = await api.call("GET", f"{ACTIONS}?limit=7{cursor}")
        seen += [one["id"] for one in answer.json["data"]]
        if answer.json["next_cursor"] is None:
            break
        cursor = f"&cursor={answer.json['next_cursor']}"
    assert seen == sorted(set(seen))
    assert set(seen) >= set(shipped_actions())
    wrong = await api.call("GET", f"{ACTIONS}?limit=7&search=x{cursor}")
    assert wrong.status == 400


async def test_an_action_has_the_schemas_of_its_parameters_and_its_output(api: Detent) -> None:
    document = (await api.call("GET", f"{ACTIONS}/slack.post-message")).json["data"]
    assert document["parameter_schema"]["required"] == ["channelId", "message"]
    assert "messageId" in document["output_schema"]["properties"]
    assert (document["version"], document["connector_id"], document["source"]) == ("1.0.0", "slack", "manifest")
    assert (await api.call("GET", f"{ACTIONS}/slack.post-message?version=1.0.0")).status == 200
    for path in (f"{ACTIONS}/slack.nothing", f"{ACTIONS}/slack.post-message?version=9.9.9", f"{CONNECTORS}/nothing"):
        assert (await api.call("GET", path)).status == 404
    assert (await api.call("GET", f"{CONNECTORS}/nothing/actions")).status == 404


async def test_a_manifest_is_added_once_and_its_versions_never_change(api: Detent) -> None:
    document = await added(api)
    assert (document["id"], document["source"], document["missing"]) == ("crm", "manifest", ["CONNECTOR_CRM_TOKEN"])
    again = await api.call("POST", CONNECTORS, json=manifest(GET))
    assert (again.status, again.json["changed"]) == (200, False)
    other = await api.call("POST", CONNECTORS, json=manifest(GET, title="Other"))
    assert other.status == 409
    assert "new version" in other.json["message"]
    assert (await added(api, version="1.0.1"))["version"] == "1.0.1"


async def test_a_manifest_with_problems_is_refused_with_all_of_them(api: Detent) -> None:
    answer = await api.call("POST", CONNECTORS, json={"connector": "X", "version": "1", "actions": {"a": {}}})
    assert answer.status == 400
    fields = {one["field"] for one in answer.json["details"]["validation_errors"]}
    assert fields == {"connector", "version", "actions.a.request"}
    for body in ("", "[", "- a", "a: {b: [", "\x00"):
        assert (await api.call("POST", CONNECTORS, data=body)).status == 400


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("slack", "Detent ships a connector 'slack'; choose another name"),
        ("email", "code has a connector 'email'; choose another name"),
        ("core", "Detent's own"),
    ],
)
async def test_what_detent_ships_cannot_be_replaced_or_removed(api: Detent, name: str, words: str) -> None:
    answer = await api.call("POST", CONNECTORS, json=manifest(GET, connector=name))
    assert (answer.status in (400, 409), words in answer.text) == (True, True), answer.text
    assert (await api.call("DELETE", f"{CONNECTORS}/slack")).status == 409


async def test_an_action_cannot_shadow_code_of_another_node(api: Detent) -> None:
    await api.app.store.register(b"n" * 16, ttl=600, actions=["crm.run"])
    answer = await api.call("POST", CONNECTORS, json=manifest(GET))
    assert (answer.status, "code has an action 'crm.run' already" in answer.text) == (409, True), answer.text


async def test_an_unknown_connector_is_named(api: Detent) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/disable"), ("GET", "/actions")):
        answer = await api.call(method, f"{CONNECTORS}/nowhere{path}")
        assert (answer.status, "there is no connector 'nowhere'" in answer.text) == (404, True), answer.text
    step = await api.call("POST", "/api/v1/workflows", data=workflow("w", "nowhere.run"))
    assert (step.status, "nowhere.run" in step.text) == (400, True), step.text


async def test_a_disabled_action_blocks_a_publish_and_no_published_version(api: Detent) -> None:
    await added(api)
    await api.save(workflow("before"))
    disabled = await api.call("POST", f"{ACTIONS}/crm.run/disable")
    assert disabled.json["data"]["enabled"] is False
    refused = await api.call("POST", "/api/v1/workflows", data=workflow("after"))
    assert (refused.status, refused.json["code"]) == (400, "WFENG005")
    assert refused.json["details"]["validation_errors"] == [
        {"field": "tasks.a.action", "message": "the action 'crm.run' is disabled"}
    ]
    graph = {
        "id": "g",
        "displayName": "G",
        "startNode": "n",
        "nodes": [{"id": "n", "actionType": "crm.run", "parameters": {"id": "7"}}],
    }
    assert (await api.call("POST", "/api/v1/workflows", json=graph)).status == 201, "a draft may be saved"
    published = await api.call("POST", "/api/v1/workflows/g/publish")
    assert published.status == 400
    assert published.json["details"]["validation_errors"][0]["field"] == "nodes.n.actionType"
    run = await api.ended(await api.start("before", {}))
    assert run["tasks"]["a"]["error"]["code"] == "missing_credential", "the published version still calls it"
    await api.call("POST", f"{ACTIONS}/crm.run/enable")
    answer = await api.call("POST", "/api/v1/workflows/g/publish")
    assert answer.status == 200
    assert any("CONNECTOR_CRM_TOKEN" in warning for warning in answer.json["data"]["warnings"])


async def test_a_removed_connector_blocks_a_publish_and_no_published_version(api: Detent) -> None:
    await added(api)
    await api.save(workflow("before"))
    assert (await api.call("DELETE", f"{CONNECTORS}/crm")).status == 200
    assert (await api.call("GET", f"{CONNECTORS}/crm")).status == 404
    refused = await api.call("POST", "/api/v1/workflows", data=workflow("after"))
    assert refused.status == 400
    run = await api.ended(await api.start("before", {}))
    assert run["tasks"]["a"]["error"]["code"] == "missing_credential"


async def test_an_unknown_action_is_refused_with_a_hint(api: Detent) -> None:
    refused = await api.call("POST", "/api/v1/workflows", data=workflow("w", "slack.post-mesage"))
    assert refused.status == 400
    assert "did you mean 'slack.post-message'?" in refused.text


async def test_a_deprecated_action_and_one_that_may_act_twice_are_warned_of(api: Detent) -> None:
    actions = {
        "old": {"request": {"path": "/x"}, "deprecated": "use crm.new", "effect": "none"},
        "post": {"request": {"method": "POST", "path": "/x"}},
    }
    await added(api, actions=actions)
    nodes = [
        {"id": "a", "actionType": "crm.old", "edges": [{"targetNode": "b"}]},
        {
            "id": "b",
            "actionType": "crm.post",
            "policies": {"retry": {"maxAttempts": 3}},
            "edges": [{"targetNode": "c"}],
        },
        {"id": "c", "actionType": "crm.post"},
    ]
    await api.call("POST", "/api/v1/workflows", json={"id": "g", "displayName": "G", "startNode": "a", "nodes": nodes})
    warnings = (await api.call("POST", "/api/v1/workflows/g/publish")).json["data"]["warnings"]
    assert "nodes.a.actionType: the action 'crm.old' is deprecated: use crm.new" in warnings
    assert any(one.startswith("nodes.b.actionType: 'crm.post' does not say") for one in warnings)
    assert not any(one.startswith("nodes.c") for one in warnings), "its author wrote no retries"


async def test_a_new_version_of_an_action_changes_no_version_of_a_workflow(api: Detent) -> None:
    await added(api)
    await api.save(workflow())
    await added(api, version="1.1.0")
    row = await api.app.store.workflow(1, "w")
    assert row is not None
    assert json.loads(row.graph)["steps"][0]["config"]["version"] == "1.0.0"
    again = await api.call("PUT", "/api/v1/workflows/w", data=workflow())
    assert again.json["changed"] is True
    row = await api.app.store.workflow(1, "w")
    assert row is not None
    assert json.loads(row.graph)["steps"][0]["config"]["version"] == "1.1.0"


async def test_the_schema_of_manifests_is_published(api: Detent) -> None:
    answer = await api.call("GET", "/api/v1/schemas/connector")
    assert answer.status == 200
    assert "actions" in answer.json["properties"]
