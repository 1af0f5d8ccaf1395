"""A rehearsal over HTTP: groups of runs, differences, moves, and nothing is done."""

from __future__ import annotations

import json
from typing import Any

from tests.api.server import Detent
from tests.api.shop import Shop

WORKFLOWS = "/api/v1/workflows"


def order(shop: Shop, **more: Any) -> dict[str, Any]:
    tasks = {
        "reserve": {"url": f"{shop.url}/reserve", "body": {"n": "{{ trigger.body.n }}"}},
        "ask": {"needs": ["reserve"], "wait_for_webhook": {"timeout": "2h"}, "if": "trigger.body.n > 1"},
        "ship": {"needs": ["reserve"], "url": f"{shop.url}/ship"},
        **more,
    }
    return {"name": "order", "tasks": tasks}


async def test_a_draft_is_rehearsed_and_nothing_is_done(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(order(shop)))
    for number in range(4):
        started = await detent.start("order", {"n": number})
        await detent.until(started, lambda run: run["tasks"]["ship"]["status"] == "success")
    calls = len(shop.calls)
    draft = order(shop)
    draft["tasks"]["reserve"]["body"]["n"] = "{{ trigger.body.n * 2 }}"
    draft["tasks"]["ship"]["if"] = "trigger.body.n > 0"
    answer = await detent.call("POST", f"{WORKFLOWS}/order/rehearse?days=1", data=json.dumps(draft))
    assert answer.status == 200, answer.text
    found = answer.json["data"]
    assert (found["version"], found["finished"], found["in_flight"]) == (2, 2, 2)
    assert (found["same"], found["other"], found["failing"]) == (3, 1, 0)
    [other] = [group for group in found["groups"] if not group["same"]]
    assert other["detours"] == [{"step": "ship", "was": "success", "now": "skipped", "edge": None}]
    [waiting] = [group for group in found["groups"] if group["in_flight"]]
    [diff] = waiting["differences"]
    assert (diff["step"], diff["field"]) == ("reserve", "body.n")
    assert (found["matched"], found["movable"]) == (2, 2)
    assert len(shop.calls) == calls
    assert (await detent.call("GET", f"{WORKFLOWS}/order")).json["data"]["current_version"] == 1
    again = await detent.call("POST", f"{WORKFLOWS}/order/rehearse?version=1")
    assert (again.json["data"]["same"], again.json["data"]["other"]) == (4, 0)


async def test_a_rehearsal_that_is_not_possible_is_refused(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(order(shop)))
    place = f"{WORKFLOWS}/order/rehearse"
    assert (await detent.call("POST", place)).status == 404
    assert (await detent.call("POST", f"{place}?version=9")).status == 404
    assert (await detent.call("POST", f"{place}?days=-1", data=json.dumps(order(shop)))).status == 400
    assert (await detent.call("POST", place, data="{")).status == 400
    other = json.dumps({**order(shop), "name": "another"})
    assert (await detent.call("POST", place, data=other)).status == 400
    assert (await detent.call("POST", f"{WORKFLOWS}/nothing/rehearse", data=other)).status == 404
