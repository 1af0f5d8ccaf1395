"""Events of records over the API: one or many, known by their ids, and what they start."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from tests.api.conftest import EVERY_DATABASE
from tests.api.rules import RULES, add_entity
from tests.api.server import Answer, Detent

EVENTS = "/api/v1/events/entity"
EVENT = {
    "entity": "order",
    "operation": "update",
    "id": 17,
    "before": {"status": "packed", "number": 17},
    "after": {"status": "shipped", "number": 17},
    "actor": "ann",
}
RULE = {
    "name": "Shipped",
    "is_active": True,
    "entity_id": "order",
    "trigger_type_id": "on_update",
    "trigger_conditions": {
        "field_conditions": [{"field_name": "status", "operator": "changed_to", "value": "shipped"}]
    },
    "actions": [
        {
            "name": "Tell",
            "action_type": "create_alert",
            "action_config": {
                "alert_type": "shipped",
                "severity": "low",
                "title": "Order {{number}}",
                "message": "{{before.status}} -> {{status}} by {{actor}}",
            },
            "execution_order": 1,
        }
    ],
    "edges": [{"source_action_id": None, "target_action_id": "temp:0", "edge_type": "start"}],
}


async def add_rule(detent: Detent, **given: Any) -> dict[str, Any]:
    answer = await detent.call("POST", f"{RULES}/full", json={**RULE, **given})
    assert answer.status == 201, answer.text
    made: dict[str, Any] = answer.json["data"]
    return made


async def send(detent: Detent, body: Any, query: str = "?wait=30", **options: Any) -> Answer:
    return await detent.call("POST", f"{EVENTS}{query}", json=body, **options)


@EVERY_DATABASE
@pytest.mark.slow
async def test_an_event_starts_the_rule_that_matches_with_its_fields_in_scope(detent: Detent) -> None:
    await add_entity(detent)
    rule = await add_rule(detent)
    answer = await send(detent, EVENT)
    assert answer.status == 202, answer.text
    receipt = answer.json["data"]
    [started] = receipt["runs"]
    assert (receipt["status"], receipt["record_id"], receipt["errors"]) == ("processed", "17", [])
    assert (started["rule_id"], started["rule"]) == (rule["id"], "shipped")
    run = await detent.ended({"workflow_id": rule["id"], "run_id": started["run_id"]})
    assert run["status"] == "completed", run
    [alert] = (await detent.call("GET", "/api/v1/alerts")).json["data"]
    assert (alert["title"], alert["message"]) == ("Order 17", "packed -> shipped by ann")
    assert (run["hero"], run["trigger"]) == ({"type": "order", "id": "17"}, "event")
    listed = (await detent.call("GET", f"{RULES}/{rule['id']}/firings")).json["data"]
    assert [(one["status"], one["event_id"], one["run_id"]) for one in listed] == [
        ("started", receipt["id"], started["run_id"])
    ]
    [recent] = (await detent.call("GET", f"{RULES}/shipped/recent-matches")).json["data"]
    assert (recent["id"], recent["matches"], recent["conditions"][0]["before"]) == (receipt["id"], True, "packed")


async def test_an_event_is_answered_at_once_unless_the_sender_waits(api: Detent) -> None:
    await add_entity(api)
    answer = await send(api, EVENT, query="")
    assert answer.status == 202
    assert answer.json["data"] == {
        "id": answer.json["data"]["id"], "entity": "order", "operation": "update", "record_id": "17",
        "status": "accepted",
    }  # fmt: skip
    assert answer.json["data"]["id"].startswith("evt_")


async def test_an_event_that_is_sent_again_by_any_of_its_ids_is_known(api: Detent) -> None:
    await add_entity(api)
    await add_rule(api)
    first = (await send(api, {**EVENT, "event_id": "e-1"})).json["data"]
    again = (await send(api, {**EVENT, "eventId": "e-1"})).json["data"]
    by_key = (await send(api, EVENT, headers={"Idempotency-Key": "e-1"})).json["data"]
    assert (first["status"], again["status"], by_key["status"]) == ("processed", "known", "known")
    assert first["runs"] == again["runs"] == by_key["runs"]
    assert len((await api.call("GET", "/api/v1/runs")).json["data"]) == 1


async def test_a_list_of_events_is_stored_together_or_not_at_all(api: Detent) -> None:
    await add_entity(api)
    await add_rule(api)
    many = [{**EVENT, "id": number, "event_id": f"e-{number}"} for number in range(30)]
    answer = await send(api, many)
    assert [one["status"] for one in answer.json["data"]] == ["processed"] * 30
    wrong = [{**EVENT, "event_id": "new"}, {**EVENT, "entity": "ordr"}, {**EVENT, "after": 7}, 5]
    refused = await send(api, wrong)
    assert refused.status == 400
    assert [one["field"] for one in refused.json["details"]["validation_errors"]] == ["[2].after", "[3]"]
    refused = await send(api, wrong[:2])
    [problem] = refused.json["details"]["validation_errors"]
    assert problem == {"field": "[1].entity", "message": "there is no entity 'ordr'; did you mean 'order'?"}
    assert (await send(api, {**EVENT, "event_id": "new"})).json["data"]["status"] == "processed"


@pytest.mark.parametrize("body", [[], [EVENT] * 1_001, 7, "x", {}, {"entity": "order"}, [[EVENT]], None])
async def test_what_is_no_event_is_refused(api: Detent, body: Any) -> None:
    await add_entity(api)
    answer = await send(api, body)
    assert (answer.status, answer.json["error"]) == (400, "invalid_argument")


async def test_an_event_that_is_too_large_is_refused_with_its_place(api: Detent) -> None:
    await add_entity(api)
    large = {**EVENT, "after": {"text": "x" * 300_000}}
    answer = await send(api, [EVENT, large])
    assert answer.status == 413
    assert (await send(api, large)).status == 413


async def test_rules_that_match_an_event_are_told_without_starting_them(api: Detent) -> None:
    await add_entity(api)
    await add_rule(api)
    other = await add_rule(api, name="Cancelled", is_active=False, trigger_type_id="on_delete", trigger_conditions={})
    found = (await api.call("POST", f"{RULES}/match", json={**EVENT, "after": {"status": "open"}})).json["data"]
    assert [(one["rule"], one["matches"], one["reason"]) for one in found] == [
        ("shipped", False, "not true: status changed to 'shipped'")
    ]
    [only] = (await api.call("POST", f"{RULES}/match", json={**EVENT, "rule": other["id"]})).json["data"]
    assert (only["name"], only["reason"]) == ("Cancelled", "it is for on_delete, not for update")
    missing = await api.call("POST", f"{RULES}/match", json={**EVENT, "rule": "nothing"})
    assert missing.status == 404
    refused = await api.call("POST", f"{RULES}/match", json={**EVENT, "rule": 7, "operation": "drop"})
    assert [one["field"] for one in refused.json["details"]["validation_errors"]] == ["rule", "operation"]
    assert (await api.call("GET", "/api/v1/runs")).json["data"] == []


async def test_the_firings_of_a_rule_are_listed_page_by_page(api: Detent) -> None:
    await add_entity(api)
    await add_rule(api)
    await send(api, [{**EVENT, "event_id": f"e-{number}"} for number in range(5)])
    seen: list[str] = []
    cursor = ""
    while True:
        page = (await api.call("GET", f"{RULES}/shipped/firings?limit=2{cursor}")).json
        seen += [one["event_id"] for one in page["data"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert sorted(seen) == [f"e-{number}" for number in range(5)]


async def test_a_rule_that_no_event_starts_has_no_recent_matches(api: Detent) -> None:
    await add_entity(api)
    await add_rule(api, trigger_type_id="manual", trigger_conditions={})
    answer = await api.call("GET", f"{RULES}/shipped/recent-matches")
    assert answer.status == 409
    assert "not started by events" in answer.json["message"]


async def test_a_rule_may_queue_the_runs_of_one_record(api: Detent) -> None:
    await add_entity(api)
    waiting = [{"name": "Nap", "action_type": "delay", "action_config": {"duration": "1s"}, "execution_order": 1}]
    await add_rule(api, overlap="queue", actions=waiting, trigger_conditions={})
    for number in range(3):
        await send(api, {**EVENT, "event_id": f"e-{number}"}, query="")
    async with asyncio.timeout(300):
        while len(found := (await api.call("GET", "/api/v1/runs?status=completed")).json["data"]) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    fired = (await api.call("GET", f"{RULES}/shipped/firings")).json["data"]
    events = {one["run_id"]: one["event_id"] for one in fired}
    spans = sorted((run["started_at"], run["finished_at"], events[run["id"]]) for run in found)
    assert [id_ for _, _, id_ in spans] == ["e-0", "e-1", "e-2"]
    assert all(one[1] <= other[0] for one, other in pairwise(spans)), "each began after the one before had ended"
    refused = await api.call("POST", f"{RULES}/full", json={**RULE, "name": "Other", "overlap": "skip"})
    assert [one["field"] for one in refused.json["details"]["validation_errors"]] == ["overlap"]


async def test_the_last_events_of_an_entity_have_their_records_newest_first(api: Detent) -> None:
    await add_entity(api)
    await send(api, [{**EVENT, "event_id": "first"}, {**EVENT, "event_id": "second", "before": None}])
    found = (await api.call("GET", "/api/v1/entities/order/events")).json["data"]
    assert [one["id"] for one in found] == ["second", "first"]
    assert found[1]["before"] == EVENT["before"]
    assert found[1]["after"] == EVENT["after"]
    assert (found[0]["before"], found[0]["record_id"], found[0]["actor"]) == (None, "17", "ann")
    assert (await api.call("GET", "/api/v1/entities/none/events")).status == 404


async def test_statistics_are_those_of_the_named_workflows(api: Detent) -> None:
    await add_entity(api)
    await add_rule(api)
    await add_rule(api, name="Other")
    assert (await send(api, EVENT)).status == 202
    found = (await api.call("GET", "/api/v1/stats?workflow=shipped&workflow=none")).json["data"]
    assert [(one["workflow"], len(one["recent"])) for one in found] == [("shipped", 1)]
    many = "&".join(f"workflow=w{number}" for number in range(65))
    assert (await api.call("GET", f"/api/v1/stats?{many}")).status == 400
