"""A dry run over HTTP: it answers what a run would do, and changes nothing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import yaml
from yarl import URL

from tests.api.conftest import POSTGRES_TOO
from tests.api.server import Detent
from tests.api.shop import Shop

WORKFLOWS = "/api/v1/workflows"


def order(shop: Shop) -> dict[str, Any]:
    return {
        "name": "order",
        "trigger_schema": {"type": "object", "required": ["n"]},
        "tasks": {
            "reserve": {"url": f"{shop.url}/reserve", "body": {"n": "{{ trigger.body.n }}"}},
            "ask": {"needs": ["reserve"], "wait_for_webhook": {"timeout": "2h"}, "if": "trigger.body.n > 1"},
            "pay": {"needs": ["ask"], "if": "true", "workflow": "payment", "with": {"n": "{{ trigger.body.n }}"}},
        },
    }


def payment(shop: Shop) -> dict[str, Any]:
    return {"name": "payment", "tasks": {"charge": {"url": f"{shop.url}/charge"}}}


async def dry(detent: Detent, body: dict[str, Any], *, workflow: str = "order", status: int = 200) -> Any:
    answer = await detent.call("POST", f"{WORKFLOWS}/{workflow}/execute", data=json.dumps({"dryRun": True, **body}))
    assert answer.status == status, answer.text
    return answer.json["data"] if status == 200 else answer.json


@POSTGRES_TOO
async def test_a_dry_run_answers_what_would_happen_and_nothing_is_written(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(order(shop)))
    await detent.save(json.dumps(payment(shop)))
    answer = await detent.call("POST", f"{WORKFLOWS}/order/trigger?dry_run=true", data='{"n": 2}')
    assert answer.status == 200, answer.text
    found = answer.json["data"]
    assert (found["status"], found["version"], found["route"]) == ("completed", 1, ["reserve", "ask", "pay"])
    [reserve, ask, pay] = found["steps"]
    assert reserve["attempts"][0]["request"]["body"] == {"n": 2}
    assert (reserve["answered_by"], ask["answered_by"]) == ("example", "example")
    assert pay["child"]["route"] == ["charge"]
    assert shop.calls == []
    assert (await detent.call("GET", "/api/v1/runs")).json["data"] == []


async def test_answers_are_pinned_or_those_of_a_past_run(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(order(shop)))
    await detent.save(json.dumps(payment(shop)))
    found = await dry(detent, {"trigger": {"n": 2}, "answers": {"ask": {"$timeout": True}, "payment/charge": {"r": 1}}})
    assert found["route"] == ["reserve", "ask:timeout", "pay"]
    assert found["steps"][2]["child"]["steps"][0]["answered_by"] == "pinned"
    started = await detent.start("order", {"n": 1})
    await detent.until(started, lambda run: run["status"] == "completed")
    calls = len(shop.calls)
    past = await dry(detent, {"trigger": {"n": 1}, "fromRun": started["run_id"]})
    assert [step.get("answered_by") for step in past["steps"]] == ["run", None, "run"]
    assert past["output"] == (await detent.call("GET", f"/api/v1/runs/{started['run_id']}")).json["data"]["output"]
    assert len(shop.calls) == calls
    assert len((await detent.call("GET", "/api/v1/runs?workflow=order")).json["data"]) == 1


async def test_a_draft_is_played_and_not_stored_as_a_version(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(payment(shop)))
    draft = {"name": "payment", "tasks": {"other": {"action": "core.echo", "with": {"x": 1}}}}
    saved = await detent.call("PUT", f"{WORKFLOWS}/payment?draft=true", data=json.dumps(draft))
    assert saved.status == 200, saved.text
    found = await dry(detent, {"version": "draft"}, workflow="payment")
    assert (found["route"], "version" in found) == (["other"], False)
    assert len((await detent.call("GET", f"{WORKFLOWS}/payment/versions?drafts=true")).json["data"]) == 0
    assert (await dry(detent, {}, workflow="payment"))["route"] == ["charge"]


REFUSED: list[tuple[dict[str, Any], int, list[str]]] = [
    ({"trigger": {}}, 400, ["body.n"]),
    ({"trigger": {"n": 1}, "answers": {"resrve": 1, "ask": {"$t": 1}}}, 400, ["answers.resrve", "answers.ask.$t"]),
    ({"trigger": {"n": 1}, "answers": []}, 400, ["answers"]),
    ({"trigger": {"n": 1}, "dryRun": False, "answers": {}}, 400, ["answers"]),
    ({"trigger": {"n": 1}, "dryRun": "maybe"}, 400, ["dry_run"]),
    ({"trigger": {"n": 1}, "fromRun": "run_01h455vb4pex5vsknk084sn02q"}, 404, []),
    ({"trigger": {"n": 1}, "version": 9}, 404, []),
]


async def test_what_cannot_be_played_is_refused(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(order(shop)))
    for body, status, fields in REFUSED:
        refused = await dry(detent, body, status=status)
        problems = refused.get("details", {}).get("validation_errors", [])
        assert [problem["field"] for problem in problems] == fields, body
    assert (await detent.call("GET", "/api/v1/runs")).json["data"] == []


async def test_a_child_that_cannot_be_started_fails_its_step(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(order(shop)))
    found = await dry(detent, {"trigger": {"n": 1}})
    assert (found["status"], found["steps"][2]["error"]["code"]) == ("failed", "not_found")


async def test_no_spelling_of_a_dry_run_starts_a_run(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(payment(shop)))
    for query, status in (
        ("dryRun=true", 200),
        ("x=1&dry_run=true", 200),
        ("%64ry_run=true", 400),
        ("dry_run=yep", 400),
    ):
        place = URL(f"{WORKFLOWS}/payment/trigger?{query}", encoded=True)
        answer = await detent.call("POST", place, data="{}")
        assert answer.status == status, (query, answer.text)
    assert (await detent.call("GET", "/api/v1/runs")).json["data"] == []
    real = await detent.call("POST", f"{WORKFLOWS}/payment/trigger?dry_run=false&laundry=1", data="{}")
    assert real.status == 201


async def test_many_dry_runs_at_once_are_all_answered(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(payment(shop)))
    found = await asyncio.gather(*(dry(detent, {}, workflow="payment") for _ in range(20)))
    assert {one["status"] for one in found} == {"completed"}


async def test_a_run_is_exported_as_a_test_in_text(detent: Detent) -> None:
    definition = {"name": "echo", "tasks": {"a": {"action": "core.echo", "with": {"x": "{{trigger.body.x}}"}}}}
    await detent.save(json.dumps(definition))
    started = await detent.start("echo", {"x": 5})
    await detent.until(started, lambda run: run["status"] == "completed")
    place = f"/api/v1/runs/{started['run_id']}/export"
    answer = await detent.call("GET", f"{place}?as=test-yaml&workflow=echo.yaml")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{started["run_id"]}.test.yaml"'
    document = yaml.safe_load(answer.text)
    assert document["workflow"] == "echo.yaml"
    assert document["tests"][0]["expect"] == {"status": "completed", "route": ["a"], "output": {"x": 5}}
    assert (await detent.call("GET", f"{place}?as=test&workflow=echo.yaml")).status == 400


async def test_changed_tests_make_no_new_version(detent: Detent) -> None:
    definition: dict[str, Any] = {"name": "echo", "tasks": {"a": {"action": "core.echo"}}}
    await detent.save(json.dumps(definition))
    definition["tests"] = [{"name": "it echoes", "expect": {"status": "completed"}}]
    answer = await detent.call("PUT", f"{WORKFLOWS}/echo", data=json.dumps(definition))
    assert (answer.status, answer.json["data"]["current_version"]) == (200, 1)
    definition["tests"][0]["expect"] = {"status": "done"}
    refused = await detent.call("PUT", f"{WORKFLOWS}/echo", data=json.dumps(definition))
    [problem] = refused.json["details"]["validation_errors"]
    assert problem["field"] == "tests[0].expect.status"
