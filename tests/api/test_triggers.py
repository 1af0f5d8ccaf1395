"""Triggers over HTTP: what each route answers, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from detent.clock import SystemClock
from detent.documents.answers import Many, One
from detent.documents.triggers import BackfillDocument, EventReceipt, FiringDocument, TriggerDocument
from detent.instant import as_datetime
from tests.api.conftest import POSTGRES_TOO
from tests.api.server import PATIENCE, Detent

TRIGGERS = "/api/v1/triggers"
ECHO = '{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}'
OWNED = """
name: nightly
trigger: {type: cron, cron_expression: "0 3 * * *", timezone: Europe/Zurich}
tasks: {a: {action: core.echo}}
"""
CRON = {"workflow": "echo", "type": "cron", "config": {"cron_expression": "0 9 * * 1-5"}}


async def made(detent: Detent, **fields: Any) -> dict[str, Any]:
    answer = await detent.call("POST", TRIGGERS, json={"workflow": "echo", **fields})
    assert answer.status == 201, answer.text
    document: dict[str, Any] = answer.json["data"]
    return document


async def fired(detent: Detent, trigger: str, is_so: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """The firings of a trigger once that holds."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found: list[dict[str, Any]] = (await detent.call("GET", f"{TRIGGERS}/{trigger}/firings")).json["data"]
            if is_so(found):
                return found
            await asyncio.sleep(0.05)  # the API is polled, as any of its users would


async def test_a_trigger_is_made_read_listed_changed_and_deleted(detent: Detent) -> None:
    await detent.save(ECHO)
    answer = await detent.call("POST", TRIGGERS, json=CRON | {"name": "mornings"})
    trigger = answer.json["data"]
    assert answer.status == 201
    assert msgspec.to_builtins(msgspec.convert(answer.json, One[TriggerDocument])) == answer.json
    assert (trigger["owned_by"], trigger["enabled"], trigger["workflow"]) == ("api", True, "echo")
    assert trigger["config"]["overlap"] == "allow"
    place = f"{TRIGGERS}/{trigger['id']}"
    assert (await detent.call("GET", place)).json == answer.json
    changed = await detent.call("PUT", place, json={"config": {"cron_expression": "@hourly"}, "name": None})
    assert changed.status == 200, changed.text
    assert (changed.json["data"]["config"]["cron_expression"], changed.json["data"]["name"]) == ("0 * * * *", None)
    stale = await detent.call("PUT", place, json={"name": "x", "updated_at": trigger["updated_at"]})
    assert (stale.status, stale.json["error"]) == (412, "precondition_failed")
    whole = await detent.call("PUT", place, json=changed.json["data"])
    assert whole.status == 200, whole.text
    gone = await detent.call("DELETE", place)
    assert (gone.status, gone.json["data"]["id"]) == (200, trigger["id"])
    assert (await detent.call("GET", place)).status == 404


async def test_triggers_are_listed_by_workflow_type_and_state_in_pages(detent: Detent) -> None:
    await detent.save(ECHO)
    await detent.save(OWNED)
    ids = [(await made(detent, type="manual"))["id"] for _ in range(3)]
    paused = (await made(detent, type="webhook", enabled=False))["id"]

    async def listed(query: str) -> list[str]:
        answer = await detent.call("GET", f"{TRIGGERS}?{query}")
        assert answer.status == 200, answer.text
        assert msgspec.to_builtins(msgspec.convert(answer.json, Many[TriggerDocument])) == answer.json
        return [each["id"] for each in answer.json["data"]]

    assert await listed("workflow=echo") == [*ids, paused]
    assert await listed("workflowId=echo&isEnabled=false") == [paused]
    assert await listed("triggerType=Manual") == ids
    assert len(await listed("type=schedule&workflow=nightly")) == 1
    first = (await detent.call("GET", f"{TRIGGERS}?workflow=echo&limit=2")).json
    rest = await detent.call("GET", f"{TRIGGERS}?workflow=echo&limit=2&cursor={first['next_cursor']}")
    assert [each["id"] for each in rest.json["data"]] == [ids[2], paused]
    assert rest.json["next_cursor"] is None
    other = await detent.call("GET", f"{TRIGGERS}?cursor={first['next_cursor']}")
    assert other.status == 400


async def test_the_trigger_of_a_definition_is_paused_and_fired_here_and_changed_there(detent: Detent) -> None:
    await detent.save(OWNED)
    [trigger] = (await detent.call("GET", f"{TRIGGERS}?workflow=nightly")).json["data"]
    assert (trigger["owned_by"], trigger["type"], trigger["config"]["timezone"]) == (
        "definition", "cron", "Europe/Zurich"
    )  # fmt: skip
    place = f"{TRIGGERS}/{trigger['id']}"
    for method, body in (("PUT", {"name": "x"}), ("DELETE", None)):
        answer = await detent.call(method, place, json=body)
        assert (answer.status, answer.json["error"]) == (409, "conflict")
        assert "edit the definition" in answer.json["message"]
    paused = (await detent.call("POST", f"{place}/pause", json={"note": "holidays"})).json["data"]
    assert (paused["enabled"], paused["note"], paused["next_at"]) == (False, "holidays", None)
    resumed = (await detent.call("POST", f"{place}/resume")).json["data"]
    assert (resumed["enabled"], resumed["note"], resumed["next_at"]) == (True, None, trigger["next_at"])
    fire = await detent.call("POST", f"{place}/fire", json={"body": {"by": "hand"}})
    assert (fire.status, fire.json["data"]["status"], fire.json["data"]["type"]) == (201, "started", "manual")
    run = (await detent.call("GET", f"/api/v1/runs/{fire.json['data']['run_id']}")).json["data"]
    assert (run["trigger"], run["trigger_id"], run["input"]["body"]) == ("manual", trigger["id"], {"by": "hand"})


async def test_slots_are_previewed_in_their_time_zone(api: Detent) -> None:
    await api.save(OWNED)
    [trigger] = (await api.call("GET", TRIGGERS)).json["data"]
    coming = await api.call("GET", f"{TRIGGERS}/{trigger['id']}/next?count=3")
    assert len(coming.json["data"]) == 3
    assert coming.json["data"][0] == trigger["next_at"]
    query = {"cron_expression": "0 3 * * *", "timezone": "Europe/Zurich", "count": "3"}
    preview = await api.call("GET", "/api/v1/schedules/preview", params=query)
    assert preview.json == coming.json
    for wrong in ({}, {"cron_expression": "never"}, {"cron_expression": "* * * * *", "count": "0"},
                  {"cron_expression": "* * * * *", "timezone": "Mars"}, {"cron": "* * * * *"}):  # fmt: skip
        answer = await api.call("GET", "/api/v1/schedules/preview", params=wrong)
        assert (answer.status, answer.json["code"]) == (400, "WFENG005"), wrong
    manual = await made_manual(api)
    assert (await api.call("GET", f"{TRIGGERS}/{manual}/next")).status == 400


async def made_manual(api: Detent) -> str:
    await api.save(ECHO)
    return str((await made(api, type="manual"))["id"])


@POSTGRES_TOO
async def test_a_schedule_starts_runs_by_itself_and_each_slot_is_listed_once(detent: Detent) -> None:
    await detent.save(ECHO)
    trigger = await made(detent, type="cron", config={"cron_expression": "* * * * * *"})
    found = await fired(detent, trigger["id"], lambda firings: len(firings) >= 3)
    assert len({firing["scheduled_at"] for firing in found}) == len(found)
    started = await fired(detent, trigger["id"], lambda firings: firings[-1]["status"] == "started")
    run = (await detent.call("GET", f"/api/v1/runs/{started[-1]['run_id']}")).json["data"]
    assert (run["trigger"], run["input"]["scheduled_at"]) == ("cron", started[-1]["scheduled_at"])
    assert run["input"]["body"] == {}


async def test_a_backfill_is_told_first_and_passes_over_slots_that_have_a_firing(detent: Detent) -> None:
    await detent.save(ECHO)
    trigger = await made(detent, type="cron", config={"cron_expression": "0 * * * *"})
    place, span = f"{TRIGGERS}/{trigger['id']}/backfill", {"from": "2026-02-20T00:00:00Z", "to": "2026-02-20T05:30:00Z"}
    dry = await detent.call("POST", place, json=span)
    assert dry.status == 200, dry.text
    assert msgspec.to_builtins(msgspec.convert(dry.json, One[BackfillDocument])) == dry.json
    assert (dry.json["data"]["matched"], dry.json["data"]["dry_run"], dry.json["data"]["firings"]) == (6, True, [])
    some = await detent.call("POST", place, json=span | {"to": "2026-02-20T02:30:00Z", "dry_run": False})
    assert some.json["data"]["matched"] == 3
    again = await detent.call("POST", place, json=span)
    assert again.json["data"]["slots"] == ["2026-02-20T03:00:00Z", "2026-02-20T04:00:00Z", "2026-02-20T05:00:00Z"]
    rest = await detent.call("POST", place, json=span | {"dry_run": False})
    assert rest.json["data"]["slots"] == again.json["data"]["slots"]
    found = await fired(detent, trigger["id"], lambda firings: all(each["status"] == "started" for each in firings))
    assert sorted(each["scheduled_at"] for each in found) == dry.json["data"]["slots"]
    for wrong in ({"from": "x", "to": "y"}, {"from": span["to"], "to": span["from"]}, {},
                  span | {"to": "2999-01-01T00:00:00Z"}, span | {"from": "2020-01-01T00:00:00Z"}):  # fmt: skip
        assert (await detent.call("POST", place, json=wrong)).status == 400, wrong


async def test_a_backfill_up_to_now_bears_with_a_clock_that_is_ahead_and_fires_nothing_early(detent: Detent) -> None:
    await detent.save(ECHO)
    trigger = await made(detent, type="cron", config={"cron_expression": "* * * * *"})
    now = as_datetime(SystemClock().wall())
    span = {"from": (now - timedelta(minutes=5)).isoformat(), "to": (now + timedelta(seconds=55)).isoformat()}
    answer = await detent.call("POST", f"{TRIGGERS}/{trigger['id']}/backfill", json=span)
    assert answer.status == 200, answer.text
    slots = [datetime.fromisoformat(slot) for slot in answer.json["data"]["slots"]]
    assert len(slots) >= 4
    assert max(slots) <= as_datetime(SystemClock().wall())


async def test_an_event_fires_the_triggers_that_listen_to_its_type_once_for_each_id(detent: Detent) -> None:
    await detent.save(ECHO)
    heard = [(await made(detent, type="event", config={"event": one}))["id"] for one in ("order.paid", "order.*", "*")]
    picky = (await made(detent, type="event", event="order.*", condition="event.data.amount > 100"))["id"]
    for deaf in ("order", "order.paid.twice", "orders.*"):
        await made(detent, type="event", config={"event": deaf})
    event = {"type": "order.paid", "data": {"amount": 7}, "id": "e-1"}
    sent = await detent.call("POST", "/api/v1/events", json=event)
    assert sent.status == 202, sent.text
    assert msgspec.to_builtins(msgspec.convert(sent.json, One[EventReceipt])) == sent.json
    states = {each["trigger_id"]: each["status"] for each in sent.json["data"]["firings"]}
    assert states == {**dict.fromkeys(heard, "started"), picky: "ignored"}
    again = await detent.call("POST", "/api/v1/events", json=event)
    assert again.json == sent.json
    run = (await detent.call("GET", f"/api/v1/runs/{sent.json['data']['firings'][0]['run_id']}")).json["data"]
    assert (run["trigger"], run["input"]["body"]) == ("event", {"amount": 7})
    nobody = await detent.call("POST", "/api/v1/events", json={"type": "x"})
    assert nobody.json["data"]["matched"] == 3 - 2


@pytest.mark.parametrize(
    "wrong",
    [{}, {"type": 3}, {"type": ""}, {"type": "a b"}, {"type": "a.*"}, {"type": "a", "id": ""}, {"type": "a", "ID": "x"},
     {"type": "a", "id": "x" * 256}, {"type": "a" * 201}, {"type": "a", "id": "\x00"}, []],
)  # fmt: skip
async def test_an_event_that_is_not_right_is_refused(api: Detent, wrong: Any) -> None:
    answer = await api.call("POST", "/api/v1/events", json=wrong)
    assert (answer.status, answer.json["code"]) == (400, "WFENG005")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"type": "cron"}, "cron_expression"),
        ({"type": "cron", "config": {"cron_expression": "61 * * * *"}}, "config.cron_expression"),
        ({"type": "cron", "cron_expression": "* * * * *", "timezone": "Mars"}, "timezone"),
        ({"type": "webhook", "config": {"event": "x"}}, "config.event"),
        ({"type": "webhook", "condition": "nope.x"}, "condition"),
        ({"type": "webhook", "condition": "body == '\x00'"}, "condition"),
        ({"type": "webhook", "config": {"signature": {"preset": "github"}}}, "config.signature.secrets"),
        ({"type": "api"}, "type"),
        ({"type": "lunch"}, "type"),
        ({}, "type"),
        ({"type": "manual", "name": 3}, "name"),
        ({"type": "manual", "enabled": "yes"}, "enabled"),
        ({"type": "manual", "nmae": "x"}, "nmae"),
        ({"type": "manual", "config": []}, "config"),
        ({"type": "event", "config": {"event": "a*b"}}, "config.event"),
    ],
)
async def test_a_trigger_that_is_not_right_is_refused_with_its_place(
    api: Detent, wrong: dict[str, Any], field: str
) -> None:
    await api.save(ECHO)
    answer = await api.call("POST", TRIGGERS, json={"workflow": "echo"} | wrong)
    assert (answer.status, answer.json["code"]) == (400, "WFENG005"), answer.text
    fields = [each["field"] for each in answer.json["details"]["validation_errors"]]
    assert any(each.removeprefix("config.") == field.removeprefix("config.") for each in fields), fields
    assert (await api.call("GET", TRIGGERS)).json["data"] == []


@POSTGRES_TOO
@pytest.mark.case("F5", "F4")
@pytest.mark.parametrize("key", ["%00", "..%2F", "%20", "x' or 1=1 --", "trg_", "trg_" + "z" * 26, "a" * 5000])
async def test_an_id_that_is_none_is_not_found(detent: Detent, key: str) -> None:
    for path in ("", "/next", "/firings", "/firings/x"):
        assert (await detent.call("GET", f"{TRIGGERS}/{key}{path}")).status in (400, 404)
    for wrong in ("workflow=", "type='", "enabled=1", "limit=0", "cursor=x", "state=x", "nope=1"):
        assert (await detent.call("GET", f"{TRIGGERS}?{wrong}")).status == 400, wrong


async def test_firings_are_listed_by_state_in_pages_and_shown_with_what_was_received(detent: Detent) -> None:
    await detent.save(ECHO)
    trigger = await made(detent, type="manual", condition="body.n < 2")
    place = f"{TRIGGERS}/{trigger['id']}"
    for number in range(4):
        await detent.call("POST", f"{place}/fire", json={"body": {"n": number}})
    states = [each["status"] for each in (await detent.call("GET", f"{place}/firings")).json["data"]]
    assert states == ["ignored", "ignored", "started", "started"]
    first = (await detent.call("GET", f"{place}/firings?state=ignored&limit=1")).json
    rest = (await detent.call("GET", f"{place}/firings?state=ignored&limit=1&cursor={first['next_cursor']}")).json
    assert rest["next_cursor"] is None
    one = await detent.call("GET", f"{place}/firings/{rest['data'][0]['id']}")
    assert msgspec.to_builtins(msgspec.convert(one.json, One[FiringDocument])) == one.json
    assert one.json["data"]["request"]["body"] == {"n": 2}
    assert one.json["data"]["message"] == "the condition is false"


async def test_a_trigger_of_a_deleted_workflow_is_gone(detent: Detent) -> None:
    await detent.save(ECHO)
    trigger = await made(detent, type="manual")
    assert (await detent.call("DELETE", "/api/v1/workflows/echo")).status == 200
    assert (await detent.call("GET", f"{TRIGGERS}/{trigger['id']}")).status == 404
    assert (await detent.call("POST", TRIGGERS, json=CRON)).status == 404


@POSTGRES_TOO
async def test_of_many_that_apply_a_trigger_at_once_one_creates_it_and_the_last_word_counts(detent: Detent) -> None:
    await detent.save('{"name": "applied", "tasks": {"a": {"action": "core.echo"}}}')
    body = {"workflow": "applied", "name": "orders", "type": "event", "event": "order.paid"}
    answers = await asyncio.gather(*(detent.call("PUT", "/api/v1/triggers", json=body) for _ in range(8)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.json["data"]["trigger"]["id"] for answer in answers}) == 1
    assert (await detent.call("PUT", "/api/v1/triggers", json=body)).json["data"]["change"] == "unchanged"
    changed = await detent.call("PUT", "/api/v1/triggers", json={**body, "event": "order.*", "condition": "body.n > 1"})
    assert changed.json["data"]["change"] == "changed"
    plain = await detent.call("PUT", "/api/v1/triggers", json=body)  # what is left out has its default again
    assert plain.json["data"]["trigger"]["condition"] is None
    [row] = (await detent.call("GET", "/api/v1/triggers?workflow=applied")).json["data"]
    assert (await detent.call("DELETE", f"/api/v1/triggers/{row['id']}")).status == 200
    again = (await detent.call("PUT", "/api/v1/triggers", json=body)).json["data"]
    assert (again["change"], again["trigger"]["id"] != row["id"]) == ("created", True)
    nameless = await detent.call("PUT", "/api/v1/triggers", json={**body, "name": " "})
    assert (nameless.status, nameless.json["details"]["validation_errors"][0]["field"]) == (400, "name")
