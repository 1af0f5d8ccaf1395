"""Runs in flight are moved to another version over HTTP: alone, in bulk, and refused with words."""

from __future__ import annotations

import json
from typing import Any

from tests.api.server import Detent, statuses
from tests.api.shop import Shop

RUNS = "/api/v1/runs"
WORKFLOWS = "/api/v1/workflows"
WAIT = {"wait_for_webhook": {"timeout": "2h"}}


def order(shop: Shop, **more: Any) -> str:
    tasks = {"reserve": {"url": f"{shop.url}/reserve"}, "ask": {"needs": ["reserve"], **WAIT}, **more}
    return json.dumps({"name": "order", "tasks": tasks})


async def put(detent: Detent, text: str) -> int:
    answer = await detent.call("PUT", f"{WORKFLOWS}/order", data=text)
    assert answer.status == 200, answer.text
    version: int = answer.json["data"]["current_version"]
    return version


async def waiting(detent: Detent, shop: Shop, count: int = 1) -> list[dict[str, Any]]:
    """Runs that wait for their callback, of version 1."""
    await detent.save(order(shop))
    started = [await detent.start("order", {"n": number}) for number in range(count)]
    for one in started:
        await detent.until(one, lambda run: statuses(run)["ask"] == "waiting")
    return started


async def test_a_waiting_run_is_moved_and_goes_on_in_the_new_version(detent: Detent, shop: Shop) -> None:
    [started] = await waiting(detent, shop)
    run = started["run_id"]
    version = await put(detent, order(shop, ship={"needs": ["ask"], "url": f"{shop.url}/ship"}, note={"sleep": 1}))
    dry = await detent.call("POST", f"{RUNS}/{run}/move", json={"dry_run": True})
    assert dry.status == 200, dry.text
    expected = {"run_id": run, "was": 1, "version": version, "movable": True, "begins": ["note"], "reasons": []}
    assert dry.json["data"] == {**expected, "dry_run": True, "requested": False}
    answer = await detent.call("POST", f"{RUNS}/{run}/move", json={"version": version})
    assert (answer.status, answer.json["data"]) == (200, {**expected, "dry_run": False, "requested": False})
    document = (await detent.call("GET", f"{RUNS}/{run}?include=events")).json["data"]
    assert document["version"] == version
    [moved] = [entry for entry in document["events"] if entry["kind"] == "moved"]
    assert (moved["was"], moved["version"], moved["status"]) == (1, version, None)
    [callback] = document["callbacks"]
    assert (await detent.call("POST", callback["url"], json=1)).status < 300
    done = await detent.ended(started)
    assert (done["status"], statuses(done)["ship"]) == ("completed", "success")
    assert sorted(shop.paths()) == ["/reserve", "/ship"]


async def test_an_expression_is_evaluated_on_a_run_that_was_moved(api: Detent, shop: Shop) -> None:
    [started] = await waiting(api, shop)
    run = started["run_id"]
    version = await put(api, order(shop, note={"sleep": 3600}))
    assert (await api.call("POST", f"{RUNS}/{run}/move", json={"version": version})).status == 200
    for body in (
        {"expression": "tasks.reserve.status_code"},
        {"expression": "tasks.reserve.status_code", "step": "ask"},
    ):
        answer = await api.call("POST", f"{RUNS}/{run}/evaluate", json=body)
        assert (answer.status, answer.json.get("data", {}).get("value")) == (200, 200), answer.text
    answer = await api.call("POST", f"{RUNS}/{run}/evaluate", json={"expression": "1", "step": "note"})
    assert answer.json["data"]["value"] == 1, "the new version has this step"


async def test_a_move_that_cannot_hold_is_refused_with_every_reason(detent: Detent, shop: Shop) -> None:
    [started] = await waiting(detent, shop)
    run = started["run_id"]
    tasks = {"reserve": {"url": f"{shop.url}/reserve", "needs": ["new"]}, "new": {"sleep": 1}}
    version = await put(detent, json.dumps({"name": "order", "tasks": tasks}))
    answer = await detent.call("POST", f"{RUNS}/{run}/move")
    words = f"'ask' is waiting for its callback, and version {version} has no step of that name"
    assert (answer.status, answer.json["code"]) == (409, "WFENG002")
    assert answer.json["message"] == f"Cannot move this run to version {version}: {words}"
    dry = await detent.call("POST", f"{RUNS}/{run}/move", json={"dryRun": True})
    assert (dry.json["data"]["movable"], dry.json["data"]["reasons"]) == (False, [{"step": "ask", "message": words}])
    for body, status in (
        ({"version": 99}, 404),
        ({"version": 0}, 400),
        ({"version": "x"}, 400),
        ({"names": {"a": 1}}, 400),
        ({"names": []}, 400),
        ({"nothing": 1}, 400),
        ({"version": 1}, 409),
    ):
        refused = await detent.call("POST", f"{RUNS}/{run}/move", json=body)
        assert refused.status == status, (body, refused.text)
    assert (await detent.call("POST", f"{RUNS}/run_nothing/move")).status == 404


async def test_many_runs_are_counted_in_groups_and_moved(detent: Detent, shop: Shop) -> None:
    found = await waiting(detent, shop, 3)
    version = await put(detent, order(shop, ship={"needs": ["ask"], "url": f"{shop.url}/ship"}))
    body: dict[str, Any] = {"filter": {"workflow": "order"}, "version": version}
    dry = (await detent.call("POST", f"{RUNS}/move", json=body)).json["data"]
    [group] = dry.pop("groups")
    assert dry == {"version": version, "dry_run": True, "matched": 3, "movable": 3, "sent": 0, "more": False}
    assert (group["runs"], group["at"], group["movable"], len(group["examples"])) == (3, ["ask"], True, 3)
    real = (await detent.call("POST", f"{RUNS}/move", json={**body, "dry_run": False})).json["data"]
    assert real["sent"] == 3
    for one in found:
        await detent.until(one, lambda run: run["version"] == version)
    again = (await detent.call("POST", f"{RUNS}/move", json=body)).json["data"]
    [group] = again["groups"]
    assert group["reasons"] == [{"step": None, "message": f"the run has version {version} already"}]
    bodies: list[dict[str, Any]] = [
        {},
        {"filter": {}},
        {"filter": {"status": "running"}},
        {"filter": {"workflow": "order"}, "limit": 0},
        {"filter": {"workflow": "order"}, "names": {"a": None}},
    ]
    for wrong in bodies:
        assert (await detent.call("POST", f"{RUNS}/move", json=wrong)).status == 400
    nowhere = {"filter": {"workflow": "order"}, "version": 77}
    assert (await detent.call("POST", f"{RUNS}/move", json=nowhere)).status == 404
