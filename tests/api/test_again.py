"""Runs that are done again: what is called once more and what is not, witnessed by the service that is called."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.server import Answer, Detent, statuses
from tests.api.shop import Shop

RUNS = "/api/v1/runs"
WORKFLOWS = "/api/v1/workflows"


def order(shop: Shop) -> str:
    """A chain through the charge, and a branch beside it."""
    tasks = {
        "reserve": {"url": f"{shop.url}/reserve", "body": {"order": "{{trigger.body.order}}"}},
        "charge": {"needs": ["reserve"], "url": f"{shop.url}/api/charge", "retries": 0},
        "ship": {"needs": ["charge"], "url": f"{shop.url}/ship", "body": {"paid": "{{tasks.charge.body.amount}}"}},
        "thank": {"needs": ["reserve"], "url": f"{shop.url}/thank"},
    }
    return json.dumps({"name": "order", "labels": {"team": "shop"}, "tasks": tasks})


async def failed(detent: Detent, shop: Shop) -> dict[str, Any]:
    """A run whose charge failed; from then on charges succeed."""
    await detent.save(order(shop))
    shop.charge = (402, {"error": "card"})
    run = await detent.ended(await detent.start("order", {"order": 7}))
    assert (run["status"], statuses(run)["charge"]) == ("failed", "failed")
    shop.charge = (200, {"amount": 42.5})
    return run


async def whole(detent: Detent, answer: Answer) -> dict[str, Any]:
    document: dict[str, Any] = (await detent.call("GET", f"{RUNS}/{answer.json['data']['id']}?wait=20s")).json["data"]
    return document


@pytest.mark.case("K18")
async def test_a_retry_calls_only_what_did_not_succeed(detent: Detent, shop: Shop) -> None:
    old = await failed(detent, shop)
    answer = await detent.call("POST", f"{RUNS}/{old['id']}/retry", headers={"Idempotency-Key": "retry-1"})
    assert answer.status == 201, answer.text
    assert answer.headers["Location"] == f"{RUNS}/{answer.json['data']['id']}"
    assert answer.json["data"]["origin"] == {"run_id": old["id"], "kind": "retry"}
    new = await whole(detent, answer)
    assert (new["status"], set(statuses(new).values())) == ("completed", {"success"})
    assert (new["version"], new["labels"], new["input"]["body"]) == (1, {"team": "shop"}, {"order": 7})
    assert sorted(shop.paths()) == ["/api/charge", "/api/charge", "/reserve", "/ship", "/thank"]
    assert shop.body("/ship") == {"paid": 42.5}
    charges = [call.key for call in shop.calls if call.path == "/api/charge"]
    assert len(set(charges)) == 2
    again = await detent.call("POST", f"{RUNS}/{old['id']}/retry", headers={"Idempotency-Key": "retry-1"})
    assert (again.status, again.json["data"]["id"]) == (200, new["id"])
    assert (await detent.call("GET", f"{RUNS}/{old['id']}")).json["data"] == old
    for run, word in ((new["id"], "finished"),):
        refused = await detent.call("POST", f"{RUNS}/{run}/retry")
        assert (refused.status, refused.json["code"]) == (409, "WFENG002")
        assert refused.json["message"] == f"Cannot retry a {word} workflow"


async def test_a_retry_below_the_workflow_and_of_an_execution_is_the_same(detent: Detent, shop: Shop) -> None:
    old = await failed(detent, shop)
    below = await detent.call("POST", f"{WORKFLOWS}/order/runs/{old['id']}/retry")
    assert (below.status, below.json["data"]["origin"]["run_id"]) == (201, old["id"])
    execution = await detent.call("POST", f"/api/v1/executions/{old['id']}/retry")
    assert execution.status == 201
    assert execution.json["data"]["execution_id"] == execution.json["data"]["id"]
    assert execution.headers["Location"] == f"/api/v1/executions/{execution.json['data']['id']}"
    listed = (await detent.call("GET", f"{RUNS}?origin={old['id']}")).json["data"]
    assert len(listed) == 2
    await detent.save('{"name": "other", "tasks": {"a": {"action": "core.echo"}}}')
    elsewhere = await detent.call("POST", f"{WORKFLOWS}/other/runs/{old['id']}/retry")
    assert elsewhere.status == 404


@pytest.mark.case("K18")
async def test_a_fork_with_an_edited_output_runs_only_what_depends_on_it(detent: Detent, shop: Shop) -> None:
    await detent.save(order(shop))
    old = await detent.ended(await detent.start("order", {"order": 7}))
    shop.calls.clear()
    edited = await detent.call("POST", f"{RUNS}/{old['id']}/fork", json={"step": "charge", "output": {"amount": 1}})
    assert edited.status == 201, edited.text
    assert edited.json["data"]["origin"] == {"run_id": old["id"], "kind": "fork"}
    new = await whole(detent, edited)
    assert (new["status"], shop.paths(), shop.body("/ship")) == ("completed", ["/ship"], {"paid": 1})
    assert new["tasks"]["charge"]["body"] == {"amount": 1}
    shop.calls.clear()
    plain = await detent.call("POST", f"{RUNS}/{old['id']}/fork", json={"step": "charge"})
    assert (await whole(detent, plain))["status"] == "completed"
    assert sorted(shop.paths()) == ["/api/charge", "/ship"]


async def test_a_rerun_takes_the_current_version_and_perhaps_another_input(detent: Detent, shop: Shop) -> None:
    old = await failed(detent, shop)
    changed = json.loads(order(shop))
    del changed["tasks"]["thank"]
    await detent.call("PUT", f"{WORKFLOWS}/order", json=changed)
    shop.calls.clear()
    same = await whole(detent, await detent.call("POST", f"{RUNS}/{old['id']}/rerun"))
    assert (same["status"], same["version"], same["input"]["body"]) == ("completed", 2, {"order": 7})
    assert same["origin"] == {"run_id": old["id"], "kind": "rerun"}
    assert sorted(shop.paths()) == ["/api/charge", "/reserve", "/ship"]
    other = await whole(detent, await detent.call("POST", f"{RUNS}/{old['id']}/rerun", json={"input": {"order": 8}}))
    assert other["input"]["body"] == {"order": 8}


@pytest.mark.parametrize(
    ("verb", "body", "fields"),
    [("retry", {"step": "a"}, {"step"}), ("rerun", {"inputs": 1}, {"inputs"}), ("fork", {}, {"step"}),
     ("fork", {"step": 3}, {"step"}), ("fork", {"step": "a", "status_code": 200}, {"status_code"}),
     ("fork", {"step": "a", "output": 1, "statusCode": 99}, {"status_code"}),
     ("steps/a/resolve", {}, {"happened"}), ("steps/a/resolve", {"happened": "yes"}, {"happened"}),
     ("steps/a/resolve", {"happened": True, "by": "root"}, {"by"})],
)  # fmt: skip
async def test_a_body_that_is_not_right_is_refused_and_makes_nothing(
    api: Detent, verb: str, body: Any, fields: set[str]
) -> None:
    await api.save('{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}')
    run = await api.ended(await api.start("echo", {}))
    answer = await api.call("POST", f"{RUNS}/{run['id']}/{verb}", json=body)
    assert answer.status == 400, answer.text
    assert {problem["field"] for problem in answer.json["details"]["validation_errors"]} == fields
    assert len((await api.call("GET", RUNS)).json["data"]) == 1


async def test_what_is_not_there_or_not_so_is_told(api: Detent) -> None:
    await api.save('{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}')
    run = await api.ended(await api.start("echo", {}))
    place = f"{RUNS}/{run['id']}"
    unknown = await api.call("POST", f"{place}/fork", json={"step": "b"})
    assert (unknown.status, unknown.json["message"]) == (404, "the run has no step 'b'")
    assert (await api.call("POST", f"{place}/steps/b/resolve", json={"happened": True})).status == 404
    sure = await api.call("POST", f"{place}/steps/a/resolve", json={"happened": True})
    assert (sure.status, sure.json["code"]) == (409, "WFENG002")
    assert "it is success" in sure.json["message"]
    for verb in ("retry", "rerun", "fork", "why", "hierarchy"):
        method = "GET" if verb in ("why", "hierarchy") else "POST"
        body = {"step": "a"} if verb == "fork" else None
        answer = await api.call(method, f"{RUNS}/run_01h455vb4pex5vsknk084sn02q/{verb}", json=body)
        assert (answer.status, answer.json["error"]) == (404, "not_found")
    key = await api.call("POST", f"{place}/rerun", headers={"Idempotency-Key": ""})
    assert key.json["details"]["validation_errors"][0]["field"] == "Idempotency-Key"


# -- the mended version


async def mended(detent: Detent, shop: Shop) -> dict[str, Any]:
    """A run whose charge failed, and a current version with another charge and one step more."""
    old = await failed(detent, shop)
    tasks = json.loads(order(shop))["tasks"]
    tasks["charge"]["body"] = {"mended": True}
    tasks["report"] = {"needs": ["ship"], "url": f"{shop.url}/report"}
    text = json.dumps({"name": "order", "labels": {"team": "shop"}, "tasks": tasks})
    answer = await detent.call("PUT", f"{WORKFLOWS}/order", data=text)
    assert answer.json["data"]["current_version"] == 2
    return old


async def test_a_retry_on_the_current_version_keeps_what_succeeded_and_runs_the_mended_step(
    detent: Detent, shop: Shop
) -> None:
    old = await mended(detent, shop)
    preview = await detent.call("GET", f"{RUNS}/{old['id']}/retry?version=current")
    assert preview.json["data"] == {
        "run_id": old["id"],
        "version": 2,
        "kept": ["reserve", "thank"],
        "again": ["charge", "ship", "report"],
    }
    same = await detent.call("GET", f"{RUNS}/{old['id']}/retry")
    assert (same.json["data"]["version"], same.json["data"]["again"]) == (1, ["charge", "ship"])
    answer = await detent.call("POST", f"{RUNS}/{old['id']}/retry", json={"version": "current"})
    assert answer.status == 201, answer.text
    new = await whole(detent, answer)
    assert (new["version"], new["status"], statuses(new)["report"]) == (2, "completed", "success")
    assert shop.paths().count("/reserve") == 1
    assert shop.paths().count("/api/charge") == 2
    for wrong in ("newest", 2, None):
        body = {"version": wrong}
        refused = await detent.call("POST", f"{RUNS}/{old['id']}/retry", json=body)
        assert refused.status == (201 if wrong is None else 400), refused.text
    assert (await detent.call("GET", f"{RUNS}/{old['id']}/retry?version=x")).status == 400
    assert (await detent.call("GET", f"{RUNS}/{new['id']}/retry")).status == 409


async def test_a_bulk_retry_on_the_current_version_says_first_what_it_would_do(detent: Detent, shop: Shop) -> None:
    old = await mended(detent, shop)
    body = {"action": "retry", "filter": {"workflow": "order"}, "version": "current"}
    dry = (await detent.call("POST", f"{RUNS}/bulk", json=body)).json["data"]
    [preview] = dry["previews"]
    assert (preview["run_id"], preview["version"], preview["kept"]) == (old["id"], 2, ["reserve", "thank"])
    done = (await detent.call("POST", f"{RUNS}/bulk", json={**body, "dry_run": False})).json["data"]
    assert (done["done"], done["previews"]) == (1, [])
    [made] = (await detent.call("GET", f"{RUNS}?origin={old['id']}")).json["data"]
    assert made["version"] == 2
    again = (await detent.call("POST", f"{RUNS}/bulk", json=body)).json["data"]
    refused = {"run_id": old["id"], "message": f"it was run again already, as {made['id']}"}
    assert (again["previews"], again["refused"]) == ([], [refused]), "a dry run refuses what the retry itself refuses"
    wrong = {"action": "cancel", "filter": {"workflow": "order"}, "version": "current"}
    assert (await detent.call("POST", f"{RUNS}/bulk", json=wrong)).status == 400
