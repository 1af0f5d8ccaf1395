"""What a publish checks, and the life of a workflow in the graph form, one rule each."""

from __future__ import annotations

import json
from typing import Any

from tests.api.server import Answer, Detent, statuses
from tests.forms.graphs import document, edge, node

WORKFLOWS = "/api/v1/workflows"
PLACE = f"{WORKFLOWS}/orders"


async def post(api: Detent, *nodes: dict[str, Any], **fields: Any) -> Answer:
    return await api.call("POST", WORKFLOWS, data=json.dumps(document(*nodes, **fields)))


async def draft(api: Detent, *nodes: dict[str, Any], **fields: Any) -> None:
    """Save a draft, whatever is wrong with it."""
    answer = await api.call("PUT", f"{PLACE}?draft=true", data=json.dumps(document(*nodes, **fields)))
    assert answer.status in (200, 201), answer.text


async def publish(api: Detent, query: str = "") -> Answer:
    return await api.call("POST", f"{PLACE}/publish{query}")


async def published(api: Detent, *nodes: dict[str, Any], query: str = "", **fields: Any) -> dict[str, Any]:
    await draft(api, *nodes, **fields)
    answer = await publish(api, query)
    assert answer.status == 200, answer.text
    data: dict[str, Any] = answer.json["data"]
    return data


async def is_refused(api: Detent, *fields: str, query: str = "") -> None:
    """The publish names these fields, and makes no version."""
    answer = await publish(api, query)
    assert (answer.status, answer.json["code"]) == (400, "WFENG005"), answer.text
    assert [problem["field"] for problem in answer.json["details"]["validation_errors"]] == list(fields)
    assert (await api.call("GET", f"{PLACE}/versions")).json["data"] == []


# What a publish checks before it makes a version.


async def test_publish_validates_the_json_schema(api: Detent) -> None:
    await draft(api, node("a", policies={"timeoutMs": 0}, timeout=5), maxparallel=3)
    await is_refused(api, "maxparallel", "nodes.a.timeout", "nodes.a.policies.timeoutMs")


async def test_publish_checks_the_cross_references(api: Detent) -> None:
    await draft(api, node("a", "b", "d", "e", onFailure="c"), {"id": "d"}, {"id": "e", "nodeType": "subworkflow"})
    await is_refused(
        api, "nodes.d.actionType", "nodes.e.workflowId", "nodes.a.edges[0].targetNode", "nodes.a.onFailure"
    )


async def test_publish_lists_every_action_that_is_not_available(api: Detent) -> None:
    await draft(api, node("a", "b", actionType="shop.unknown"), node("b", "c"), node("c", actionType="crm.unknown"))
    await is_refused(api, "nodes.a.actionType", "nodes.c.actionType")


async def test_publish_checks_the_syntax_of_every_condition(api: Detent) -> None:
    await draft(
        api,
        node("a", edge("b", condition="trigger.x ="), edge("c", condition="trigger.y ==")),
        node("b", **{"if": "1 +"}),
        node("c", nodeType="condition", expression="(true"),
    )
    await is_refused(
        api, "nodes.a.edges[0].condition", "nodes.a.edges[1].condition", "nodes.b.if", "nodes.c.expression"
    )


async def test_publish_renders_parameters_with_an_empty_trigger_if_that_is_asked(api: Detent) -> None:
    await draft(api, node("a", parameters={"never": "{{ 1 / 0 }}", "perhaps": "{{ trigger.x }}"}))
    await is_refused(api, "nodes.a.parameters.never", query="?validateParameters=true")
    assert (await publish(api)).json["data"]["version"] == 1, "it is not asked by default"


# The life of a workflow.


async def test_post_creates_a_draft_and_updates_it_until_the_workflow_is_active_or_archived(api: Detent) -> None:
    made = await post(api, node("a"))
    assert (made.status, made.json["data"]["status"], made.json["data"]["current_version"]) == (201, "draft", 0)
    again = await post(api, node("b"))
    assert (again.status, again.json["data"]["draft"]["revision"]) == (200, 2)
    assert (await api.call("GET", f"{PLACE}/versions")).json["data"] == [], "a draft is not a version"
    wrong = await post(api, node("b", "c"))
    assert (wrong.status, wrong.json["code"]) == (400, "WFENG005")
    assert (await publish(api)).status == 200
    for status in ("active", "archived"):
        refused = await post(api, node("c"))
        assert (refused.status, refused.json["code"]) == (400, "WFENG005")
        assert f"is {status}, and its versions are immutable" in refused.json["message"]
        await api.call("POST", f"{PLACE}/archive")


async def test_a_version_is_made_only_if_the_checksum_differs(api: Detent) -> None:
    one = await published(api, node("a"))
    same = await published(api, node("a"))
    two = await published(api, node("b"))
    back = await published(api, node("a"))
    found = [(answer["version"], answer["changed"]) for answer in (one, same, two, back)]
    assert found == [(1, True), (1, False), (2, True), (1, True)]
    checksums = [row["checksum"] for row in (await api.call("GET", f"{PLACE}/versions")).json["data"]]
    assert len(set(checksums)) == len(checksums) == 2


async def test_publish_without_auto_activate_leaves_the_status_draft(api: Detent) -> None:
    made = await published(api, node("a"), query="?autoActivate=false")
    assert (made["version"], made["status"], made["current_version"]) == (1, "draft", 0)
    refused = await api.call("POST", f"{PLACE}/trigger", json={})
    assert (refused.status, refused.json["code"]) == (409, "WFENG002")
    activated = await api.call("POST", f"{PLACE}/versions/1/activate")
    assert (activated.json["data"]["status"], activated.json["data"]["current_version"]) == ("active", 1)
    assert (await api.ended(await api.start("orders", {})))["status"] == "completed"


async def test_a_run_in_flight_stays_on_its_version(api: Detent) -> None:
    await published(api, node("w", "a", actionType="core.wait"), node("a", parameters={"version": 1}))
    started = await api.start("orders", {})
    await published(api, node("w", "a", actionType="core.wait"), node("a", parameters={"version": 2}))
    waiting = await api.until(started, lambda run: run["tasks"]["w"]["status"] == "waiting")
    await api.call("POST", waiting["callbacks"][0]["url"], json={})
    run = await api.ended(started)
    assert (run["version"], run["output"]) == (1, {"version": 1})


async def test_archive_lets_runs_in_flight_go_on_and_disables_triggers_without_deleting_them(api: Detent) -> None:
    every_minute = {"type": "cron", "cron_expression": "* * * * *"}
    await published(api, node("w", actionType="core.wait"), trigger=every_minute)
    started = await api.start("orders", {})
    waiting = await api.until(started, lambda run: run["tasks"]["w"]["status"] == "waiting")
    archived = (await api.call("POST", f"{PLACE}/archive")).json["data"]
    assert (archived["status"], archived["enabled"]) == ("archived", False)
    refused = await api.call("POST", f"{PLACE}/trigger", json={})
    assert refused.json["message"] == "Workflow is not Active (current status: Archived): orders"
    [trigger] = (await api.call("GET", "/api/v1/triggers?workflow=orders")).json["data"]
    assert trigger["type"] == "cron"
    await api.call("POST", waiting["callbacks"][0]["url"], json={})
    assert (await api.ended(started))["status"] == "completed"
    back = (await api.call("POST", f"{PLACE}/reactivate")).json["data"]
    assert (back["status"], back["enabled"]) == ("active", True)


async def test_only_a_draft_is_deleted_at_once_and_an_active_workflow_is_archived_first(api: Detent) -> None:
    await draft(api, node("a", "nowhere"))
    assert (await api.call("DELETE", PLACE)).status == 200
    assert (await api.call("GET", PLACE)).status == 404
    await published(api, node("a"))
    refused = await api.call("DELETE", PLACE)
    assert (refused.status, refused.json["code"]) == (409, "WFENG002")
    await api.call("POST", f"{PLACE}/archive")
    assert (await api.call("DELETE", PLACE)).status == 200


async def test_any_version_is_read_with_its_definition(api: Detent) -> None:
    await published(api, node("a"))
    await published(api, node("b"))
    found = [(await api.call("GET", f"{PLACE}?version={number}")).json["data"]["definition"] for number in (1, 2)]
    assert [definition["nodes"][0]["id"] for definition in found] == ["a", "b"]
    assert (await api.call("GET", PLACE)).json["data"]["definition"] == found[1]
    assert (await api.call("GET", f"{PLACE}?version=3")).status == 404


async def test_execute_takes_the_envelope_and_a_request_id_belongs_to_one_workflow(api: Detent) -> None:
    reads = {"n": "{{ trigger.n }}", "m": "{{ spec.m }}"}
    await published(api, node("a", parameters=reads))
    envelope = {"requestId": "r-1", "trigger": {"n": 1}, "spec": {"m": 2}, "priority": 5, "tenantId": "default"}
    first = await api.call("POST", f"{PLACE}/execute", json=envelope)
    again = await api.call("POST", f"{PLACE}/execute", json=envelope)
    assert (first.status, again.status) == (202, 200)
    assert first.json["data"]["execution_id"] == again.json["data"]["execution_id"]
    run = await api.ended(first.json["data"])
    assert (run["output"], statuses(run)) == ({"n": 1, "m": 2}, {"a": "success"})
    other = {**document(node("a")), "id": "other"}
    await api.call("PUT", f"{WORKFLOWS}/other", data=json.dumps(other))
    assert (await api.call("POST", f"{WORKFLOWS}/other/publish")).status == 200
    taken = await api.call("POST", f"{WORKFLOWS}/other/execute", json=envelope)
    assert (taken.status, taken.json["code"]) == (409, "WFENG001")
