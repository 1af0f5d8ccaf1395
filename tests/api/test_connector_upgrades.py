"""Upgrades of workflows to newer versions of the actions of a connector."""

from __future__ import annotations

import json
from typing import Any

from tests.api.server import Detent
from tests.catalog.manifests import manifest, parameters

TEXT = {"type": "string"}
WHERE = "/api/v1/connectors/crm/upgrade"


async def add(api: Detent, version: str, path: str, schema: dict[str, Any] | None = None, **more: Any) -> None:
    """Add a version of a connector with the actions `find` and `note`."""
    find = {"parameters": schema or parameters("q", q=TEXT), "request": {"path": path}, "effect": "none"}
    note = {"parameters": parameters(text=TEXT), "request": {"path": "/notes"}, "effect": "none"}
    actions = {"find": find, "note": note}
    answer = await api.call("POST", "/api/v1/connectors", json=manifest(version=version, actions=actions, **more))
    assert answer.status == 201, answer.text


def steps(**given: Any) -> dict[str, Any]:
    return {name: {"action": f"crm.{name}", "with": one} for name, one in given.items()}


async def upgraded(api: Detent, **body: Any) -> dict[str, dict[str, Any]]:
    answer = await api.call("POST", WHERE, json=body)
    assert answer.status == 200, answer.text
    return {one["workflow"]: one for one in answer.json["data"]["workflows"]}


async def pins(api: Detent, workflow: str) -> tuple[int, bool, list[str]]:
    """The current version of a workflow, whether it is enabled, and the versions that its steps pin."""
    row = await api.app.store.workflow(1, workflow)
    assert row is not None
    return row.version, row.enabled, [step["config"].get("version") for step in json.loads(row.graph)["steps"]]


async def test_workflows_get_a_version_with_newer_actions_and_those_that_break_are_left_alone(api: Detent) -> None:
    await add(api, "1.0.0", "/find")
    await api.call("POST", "/api/v1/connectors", json=manifest(connector="other"))
    tasks = {**steps(find={"q": "x"}, note={}), "else": {"action": "other.run"}}
    text = json.dumps({"name": "plain", "tasks": tasks})
    await api.save(text)
    await api.save(json.dumps({"name": "short", "enabled": False, "tasks": steps(find={"q": "x" * 9})}))
    await api.save(json.dumps({"name": "alien", "tasks": {"run": {"action": "other.run"}}}))
    await api.call("POST", "/api/v1/workflows/short/disable")
    nodes = [{"id": "note", "actionType": "crm.note", "parameters": {"text": "{{ trigger.a }}"}}]
    graph = {"id": "graph", "displayName": "G", "startNode": "note", "nodes": nodes}
    assert (await api.call("POST", "/api/v1/workflows", json=graph)).status == 201
    assert (await api.call("POST", "/api/v1/workflows/graph/publish")).status == 200
    draft = await api.call("PUT", "/api/v1/workflows/graph", json={**graph, "displayName": "Next"})
    assert draft.status == 200, draft.text
    assert await upgraded(api) == {}, "everything is pinned to the newest version"

    await add(api, "1.1.0", "/v2/find", parameters("q", q={**TEXT, "maxLength": 5}))
    await api.call("POST", "/api/v1/connectors", json=manifest(connector="other", version="1.1.0"))
    before = {name: await pins(api, name) for name in ("plain", "short", "alien", "graph")}
    rehearsed = await upgraded(api, dry_run=True)
    assert {name: (one["blocked"], one["new_version"]) for name, one in rehearsed.items()} == {
        "graph": (False, None),
        "plain": (False, None),
        "short": (True, None),
    }
    step = {"step": "find", "action": "crm.find", "old_version": "1.0.0", "new_version": "1.1.0", "problems": []}
    assert rehearsed["plain"]["steps"][0] == step
    assert "tasks.find.with.q" in rehearsed["short"]["problems"][0]
    assert {name: await pins(api, name) for name in before} == before, "a dry run writes nothing"

    done = await upgraded(api)
    assert {name: one["new_version"] for name, one in done.items()} == {"graph": 2, "plain": 2, "short": None}
    assert await pins(api, "plain") == (2, True, ["1.1.0", "1.1.0", "1.0.0"]), "other connectors stay as they are"
    assert await pins(api, "graph") == (2, True, ["1.1.0"])
    assert await pins(api, "short") == before["short"]
    assert (await api.call("GET", "/api/v1/workflows/graph/draft")).json["data"]["definition"]["displayName"] == "Next"
    shown = await api.call("GET", "/api/v1/workflows/plain/diff?from=1&to=2")
    changed = shown.json["data"]["steps"]["changed"]
    changes = [(one["name"], [field["field"] for field in one["fields"]]) for one in changed]
    assert changes == [("find", ["config.version"]), ("note", ["config.version"])], shown.text
    assert {*await upgraded(api)} == {"short"}, "an upgrade is made once"


async def test_an_upgrade_keeps_what_is_disabled_and_what_has_changed_its_first_number(api: Detent) -> None:
    await add(api, "1.0.0", "/find")
    await api.save(json.dumps({"name": "off", "tasks": steps(note={})}))
    await api.save(json.dumps({"name": "find", "tasks": steps(find={"q": "x"}, note={"text": "{{ trigger.body }}"})}))
    await api.call("POST", "/api/v1/workflows/off/disable")
    await add(api, "2.0.0", "/find", parameters("text", text=TEXT))
    held = await upgraded(api)
    assert {one["blocked"] for one in held.values()} == {True}
    assert "version 2.0.0 may be incompatible" in held["off"]["steps"][0]["problems"][0]
    done = await upgraded(api, to="2.0.0")
    assert (done["off"]["new_version"], await pins(api, "off")) == (2, (2, False, ["2.0.0"]))
    assert [one["problems"] for one in done["find"]["steps"]] == [
        ["the parameter 'q' does not exist any more", "the parameter 'text' is required now"],
        [],
    ]
    assert await pins(api, "find") == (1, True, ["1.0.0", "1.0.0"])
    assert {*await upgraded(api, to="1.0.0")} == set(), "nothing is pinned to an older version again"

    await add(api, "2.1.0", "/find", parameters("text", text=TEXT))
    assert (await api.call("POST", "/api/v1/actions/crm.note/disable")).status == 200
    disabled = await upgraded(api)
    assert disabled["off"]["problems"] == ["tasks.note.action: the action 'crm.note' is disabled"]


async def test_an_upgrade_that_cannot_be_is_refused_with_words(api: Detent) -> None:
    unknown = await api.call("POST", WHERE)
    assert (unknown.status, "there is no connector 'crm'" in unknown.text) == (404, True)
    await add(api, "1.0.0", "/find")
    for to, words in (("9.0.0", "has the version 9.0.0"), ("newest", "three numbers")):
        answer = await api.call("POST", WHERE, json={"to": to})
        assert (answer.status, words in answer.text) == (400, True), answer.text
    odd = await api.call("POST", WHERE, json={"dryrun": "x"})
    assert odd.status == 400


async def test_an_upgrade_is_no_edit_of_what_files_manage_and_no_change_of_its_file(api: Detent) -> None:
    await add(api, "1.0.0", "/find")
    text = json.dumps({"name": "plain", "tasks": steps(find={"q": "x"})})
    await api.call("PUT", "/api/v1/workflows/plain?folder=shop", data=text)
    await add(api, "1.1.0", "/v2/find")
    plan = {"folder": "shop", "definitions": [{"text": text}]}
    assert (await api.call("POST", "/api/v1/workflows/plan", json=plan)).json["data"][0]["change"] == "unchanged"
    assert (await upgraded(api))["plain"]["new_version"] == 2
    assert (await api.call("GET", "/api/v1/workflows/plain")).json["data"]["managed_by"] == "shop"
    assert (await api.call("POST", "/api/v1/workflows/plan", json=plan)).json["data"][0]["change"] == "unchanged"
    unlocked = (await api.call("POST", "/api/v1/workflows/plain/unlock")).json["data"]
    assert (unlocked["current_version"], await pins(api, "plain")) == (3, (3, True, ["1.1.0"]))
