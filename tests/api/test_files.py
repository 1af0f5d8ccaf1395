"""Workflows in another form, plans of definitions, and the lock of workflows that files manage."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.api.server import Answer, Detent

WORKFLOWS = "/api/v1/workflows"
COMMENTED = """\
# Orders of the shop
name: orders   # the name
tasks:
  pay: {action: core.echo, with: {x: "{{ trigger.body }}"}}
  ship: {needs: [pay], action: core.echo}
"""
GRAPH = {
    "id": "routes",
    "displayName": "Routes",
    "startNode": "a",
    "nodes": [
        {
            "id": "a",
            "actionType": "core.echo",
            "routePolicy": "firstMatch",
            "edges": [{"targetNode": "b"}, {"targetNode": "c"}],
        },
        {"id": "b", "actionType": "core.echo", "onFailure": "c"},
        {"id": "c", "actionType": "core.echo"},
    ],
}
NEW = "name: new\ntasks: {a: {sleep: 1}}"


async def put(detent: Detent, text: Any, name: str, query: str = "") -> Answer:
    data = text if isinstance(text, str) else json.dumps(text)
    return await detent.call(
        "PUT", f"{WORKFLOWS}/{name}{query}", data=data, headers={"Content-Type": "application/yaml"}
    )


async def publish(detent: Detent, document: dict[str, Any], query: str = "") -> Answer:
    saved = await put(detent, document, document["id"], query)
    assert saved.status in (200, 201), saved.json
    return await detent.call("POST", f"{WORKFLOWS}/{document['id']}/publish{query}")


async def read(detent: Detent, query: str) -> Answer:
    return await detent.call("GET", f"{WORKFLOWS}/{query}")


async def plan(detent: Detent, *texts: str, folder: str | None = None) -> list[dict[str, Any]]:
    definitions = [{"text": text, "file": f"{number}.yaml"} for number, text in enumerate(texts)]
    body = {"definitions": definitions, **({} if folder is None else {"folder": folder})}
    answer = await detent.call("POST", f"{WORKFLOWS}/plan", json=body)
    assert answer.status == 200, answer.json
    found: list[dict[str, Any]] = answer.json["data"]
    return found


async def test_a_workflow_is_read_in_another_form(api: Detent) -> None:
    await put(api, COMMENTED, "orders")
    there = (await read(api, "orders?form=graph")).json["data"]
    assert (there["form"], there["definition"]["startNode"]) == ("graph", "pay")
    same = (await read(api, "orders?form=steps")).json["data"]
    assert same["definition"] == yaml.safe_load(COMMENTED)
    assert same["fingerprint"] == there["fingerprint"]
    assert "fingerprint" not in (await read(api, "orders")).json["data"]
    await publish(api, {**there["definition"], "id": "orders-graph"})
    back = (await read(api, "orders-graph?form=steps&version=1")).json["data"]
    assert back["fingerprint"] == there["fingerprint"]
    assert list(back["definition"]["tasks"]) == ["pay", "ship"]


async def test_what_a_form_cannot_hold_is_refused_with_every_reason(api: Detent) -> None:
    await publish(api, GRAPH)
    refused = await read(api, "routes?form=steps")
    assert (refused.status, refused.json["code"]) == (400, "not_convertible")
    fields = {one["field"] for one in refused.json["details"]["validation_errors"]}
    assert fields == {"nodes.a", "nodes.c"}
    unknown = await read(api, "routes?form=tree")
    assert (unknown.status, unknown.json["details"]["validation_errors"][0]["field"]) == (400, "form")


async def test_the_text_of_a_workflow_keeps_its_comments(api: Detent) -> None:
    await put(api, COMMENTED, "orders")
    stored = await read(api, "orders?as=text")
    assert (stored.headers["Content-Type"].partition(";")[0], stored.text) == ("application/yaml", COMMENTED)
    assert (await read(api, "orders?as=text&form=steps")).text == COMMENTED
    converted = yaml.safe_load((await read(api, "orders?as=text&form=graph")).text)
    assert [node["id"] for node in converted["nodes"]] == ["pay", "ship"]
    assert (await read(api, "orders?as=picture")).status == 400


@pytest.mark.parametrize("quoted", ["topsecret", '"topsecret"', '"top\\u0073ecret"'])
async def test_the_text_of_a_workflow_has_no_secret(api: Detent, quoted: str) -> None:
    text = COMMENTED + f"trigger: {{type: webhook, signature: {{preset: github, secrets: [{quoted}]}}}}\n"
    assert (await put(api, text, "orders")).status == 201
    shown = (await read(api, "orders?as=text")).text
    assert "secret]" not in shown
    assert yaml.safe_load(shown)["trigger"]["signature"]["secrets"] == ["***"]
    assert ("# the name" in shown) == ("\\u" not in quoted)
    converted = (await read(api, "orders?form=graph")).json["data"]
    assert converted["definition"]["trigger"]["signature"]["secrets"] == ["***"]


async def test_a_plan_says_what_a_save_would_change(detent: Detent) -> None:
    await put(detent, COMMENTED, "orders")
    await publish(detent, GRAPH)
    longer = json.dumps({**GRAPH, "maxDuration": "2h"})
    [same, other, new, bad] = await plan(detent, COMMENTED, longer, NEW, "name: x\ntasks: {}")
    assert (same["change"], same["current_version"]) == ("unchanged", 1)
    assert (other["change"], other["changes"]) == ("change", ["max_duration: 3600.0 -> 7200.0"])
    assert (new["change"], new["current_version"]) == ("create", 0)
    assert (bad["change"], bad["problems"][0]["field"]) == ("invalid", "tasks")
    assert (await read(detent, "new")).status == 404
    changed = COMMENTED.replace("needs: [pay], ", "").replace("# Orders", "# All orders")
    [found] = await plan(detent, changed)
    assert found["changes"] == ["- edge pay -> ship"]
    [found] = await plan(detent, COMMENTED.replace("# Orders", "# All orders"))
    assert found["change"] == "unchanged"


async def test_a_plan_names_what_is_disabled_or_archived(api: Detent) -> None:
    await put(api, COMMENTED, "orders")
    await api.call("POST", f"{WORKFLOWS}/orders/disable")
    assert (await plan(api, COMMENTED))[0]["changes"] == ["enabled: true"]
    await api.call("POST", f"{WORKFLOWS}/orders/archive")
    [found] = await plan(api, COMMENTED)
    assert (found["archived"], found["changes"]) == (True, ["is archived and would be reactivated"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "definitions"),
        ({"definitions": "x"}, "definitions"),
        ({"definitions": [{}] * 201}, "definitions"),
        ({"definitions": [1]}, "definitions[0]"),
        ({"definitions": [{"text": 1}]}, "definitions[0].text"),
        ({"definitions": [{"text": "", "name": ""}]}, "definitions[0].name"),
        ({"definitions": [], "folder": "a/b"}, "folder"),
        ({"definitions": [], "more": 1}, "more"),
    ],
)
async def test_a_plan_that_cannot_be_read_is_refused(api: Detent, body: Any, field: str) -> None:
    refused = await api.call("POST", f"{WORKFLOWS}/plan", json=body)
    assert refused.status == 400
    assert refused.json["details"]["validation_errors"][0]["field"] == field


async def test_a_workflow_that_files_manage_says_so_and_is_edited_only_there(detent: Detent) -> None:
    made = await put(detent, COMMENTED, "orders", "?folder=shop")
    assert made.json["data"]["managed_by"] == "shop"
    assert made.json["data"]["labels"] == {"managed-by": "files/shop"}
    other = COMMENTED.replace("core.echo}", "core.echo, with: {y: 1}}")
    for refused in (
        await put(detent, other, "orders"),
        await put(detent, other, "orders", "?folder=elsewhere"),
        await put(detent, other, "orders", "?draft=true"),
        await detent.call("DELETE", f"{WORKFLOWS}/orders"),
        await detent.call("POST", f"{WORKFLOWS}/orders/archive"),
        await detent.call("POST", f"{WORKFLOWS}/orders/versions/1/activate"),
    ):
        assert (refused.status, refused.json["code"]) == (409, "managed_by_files")
        assert "the files of the folder 'shop'" in refused.json["message"]
    assert (await detent.call("POST", f"{WORKFLOWS}/orders/disable")).status == 200
    assert (await detent.call("POST", f"{WORKFLOWS}/orders/enable")).status == 200
    changed = await put(detent, other, "orders", "?folder=shop")
    assert (changed.status, changed.json["data"]["current_version"]) == (200, 2)
    [found] = await plan(detent, other)
    assert "managed by the files" in found["problems"][0]["message"]
    assert [one["change"] for one in await plan(detent, other, folder="shop")] == ["unchanged"]
    listed = (await detent.call("GET", f"{WORKFLOWS}?label=managed-by:files/shop")).json["data"]
    assert [one["managed_by"] for one in listed] == ["shop"]


async def test_an_unlocked_workflow_is_edited_until_its_folder_is_applied_again(detent: Detent) -> None:
    await put(detent, COMMENTED, "orders", "?folder=shop")
    unlocked = (await detent.call("POST", f"{WORKFLOWS}/orders/unlock")).json["data"]
    assert (unlocked.get("managed_by"), unlocked["current_version"], unlocked["labels"]) == (None, 2, {})
    again = (await detent.call("POST", f"{WORKFLOWS}/orders/unlock")).json["data"]
    assert again["current_version"] == 2
    assert (await put(detent, COMMENTED.replace("core.echo}", "core.echo, with: {y: 1}}"), "orders")).status == 200
    [found] = await plan(detent, COMMENTED, folder="shop")
    assert "becomes managed by these files" in found["changes"]
    assert (await put(detent, COMMENTED, "orders", "?folder=shop")).json["data"]["managed_by"] == "shop"
    by_force = await put(detent, COMMENTED, "orders", "?unlock=true")
    assert (by_force.status, by_force.json["data"].get("managed_by")) == (200, None)


async def test_a_graph_that_files_manage_is_locked_too(detent: Detent) -> None:
    made = await publish(detent, GRAPH, "?folder=shop")
    assert made.status == 200
    assert (await read(detent, "routes")).json["data"]["managed_by"] == "shop"
    assert (await put(detent, GRAPH, "routes")).json["code"] == "managed_by_files"
    assert (await detent.call("POST", f"{WORKFLOWS}/routes/publish")).json["code"] == "managed_by_files"
    unlocked = await detent.call("POST", f"{WORKFLOWS}/routes/unlock")
    assert (unlocked.status, unlocked.json["data"]["status"]) == (200, "active")
    assert (await put(detent, GRAPH, "routes")).status == 200


async def test_a_folder_needs_an_id(api: Detent) -> None:
    for wrong in ("a%2Fb", "", "%20", "x" * 101):
        assert (await put(api, COMMENTED, "orders", f"?folder={wrong}")).status == 400, wrong
