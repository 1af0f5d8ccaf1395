"""What can be seen of a run: its lists, its family, why it stands still, and the same under `/executions`."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from detent.api.openapi import examples
from detent.documents.answers import Many, One
from detent.documents.runs import (
    BulkDocument,
    EvaluationDocument,
    ExecutionStarted,
    HierarchyDocument,
    RunDocument,
    RunSummary,
    StartedDocument,
    WhyDocument,
)
from detent.documents.workflows import VersionDocument, WorkflowDocument
from tests.api.server import Detent
from tests.api.shop import Shop

RUNS = "/api/v1/runs"
EXECUTIONS = "/api/v1/executions"
WORKFLOWS = "/api/v1/workflows"
THREE = {
    "name": "three",
    "tasks": {
        "a": {"action": "core.echo"},
        "b": {"needs": ["a"], "action": "core.echo"},
        "c": {"needs": ["b"], "action": "core.echo"},
    },
}
WAITS = (
    '{"name": "waits", "tasks": {"w": {"wait_for_webhook": {"timeout": "1h"}}, "x": {"needs": ["w"], "sleep": "1s"}}}'
)


async def test_further_lists_come_when_they_are_asked_for_page_by_page(detent: Detent) -> None:
    await detent.save(json.dumps(THREE))
    run = await detent.ended(await detent.start("three", {}))
    assert not {"actions", "resources", "events", "children", "more"} & set(run)
    place = f"{EXECUTIONS}/{run['id']}"
    whole = (await detent.call("GET", f"{place}?include=actions,resources,events,children")).json["data"]
    assert [action["step"] for action in whole["actions"]] == ["a", "b", "c"]
    assert (whole["resources"], whole["children"], whole["more"]) == ([], [], [])
    events = (await detent.call("GET", f"{RUNS}/{run['id']}/events")).json["data"]
    assert whole["events"] == events
    pages = [
        (await detent.call("GET", f"{place}?include=events&include=actions&limit=2&offset={offset}")).json["data"]
        for offset in (0, 2)
    ]
    assert [action["step"] for page in pages for action in page["actions"]] == ["a", "b", "c"]
    assert pages[0]["events"] + pages[1]["events"] == events[:4]
    assert pages[0]["more"] == ["actions", "events"]
    assert msgspec.to_builtins(msgspec.convert(whole, RunDocument)) == whole


async def test_a_look_that_is_not_right_is_refused_with_all_its_problems(api: Detent) -> None:
    await api.save(WAITS)
    started = await api.start("waits", {})
    answer = await api.call("GET", f"{RUNS}/{started['run_id']}?include=steps&limit=0&offset=-1&wait=61s&full=1")
    assert answer.status == 400
    fields = {problem["field"] for problem in answer.json["details"]["validation_errors"]}
    assert fields == {"include", "limit", "offset", "wait", "full"}


async def test_a_run_says_why_it_does_not_go_on(detent: Detent) -> None:
    await detent.save(WAITS)
    started = await detent.start("waits", {})
    await detent.until(started, lambda run: run["tasks"]["w"]["status"] == "waiting")
    answer = await detent.call("GET", f"{RUNS}/{started['run_id']}/why")
    why = answer.json["data"]
    assert (why["run_id"], why["status"]) == (started["run_id"], "running")
    assert (why["reasons"][0]["kind"], why["reasons"][0]["step"]) == ("callback", "w")
    assert why["reasons"][0]["until"] > why["reasons"][0]["since"]
    assert why["summary"] == why["reasons"][0]["message"]
    assert msgspec.to_builtins(msgspec.convert(why, WhyDocument)) == why
    execution = (await detent.call("GET", f"{EXECUTIONS}/{started['run_id']}/why")).json["data"]
    assert execution["execution_id"] == started["run_id"]
    await detent.call("POST", f"{RUNS}/{started['run_id']}/cancel")
    ended = (await detent.call("GET", f"{RUNS}/{started['run_id']}/why")).json["data"]
    assert (ended["status"], ended["reasons"][0]["kind"]) == ("cancelled", "ended")


CHAIN = {
    "name": "chain",
    "tasks": {
        "first": {"action": "core.echo", "with": {"items": [{"sku": "a", "qty": 0}, {"sku": "b", "qty": 2}]}},
        "second": {"action": "core.echo", "needs": ["first"], "with": {"at": "{{now()}}", "id": "{{uuid()}}"}},
        "third": {"action": "core.echo", "needs": ["first"]},
    },
}


async def test_an_expression_is_tried_on_the_data_of_a_run(detent: Detent) -> None:
    await detent.save(json.dumps(CHAIN))
    run = await detent.ended(await detent.start("chain", {"total": 12}))

    async def tried(**body: Any) -> dict[str, Any]:
        answer = await detent.call("POST", f"{RUNS}/{run['id']}/evaluate", data=json.dumps(body))
        assert answer.status == 200, answer.json
        document: dict[str, Any] = answer.json["data"]
        assert msgspec.to_builtins(msgspec.convert(document, EvaluationDocument)) == document
        return document

    expression = "tasks.first.output.items.filter(i => i.qty > 0).map(i => i.sku)"
    assert (await tried(expression=expression))["value"] == ["b"]
    assert (await tried(expression=expression, step="second"))["value"] == ["b"]
    assert (await tried(expression="trigger.body.total"))["language"] == 1
    sent = {"at": "{{now()}}", "id": "{{uuid()}}"}
    assert (await tried(template=None))["value"] is None
    # The place of an id is its path in the step's config.
    found = (await tried(template={"action": "core.echo", "with": sent}, step="second"))["value"]
    assert found["with"] == run["tasks"]["second"]["output"]
    syntax = (await tried(expression="1 +"))["error"]
    assert (syntax["kind"], syntax["position"]) == ("syntax", 3)
    data = (await tried(template=["{{trigger.body.gone}}"]))["error"]
    assert (data["kind"], data["at"], data["position"]) == ("evaluation", [0], 0)
    beside = (await tried(expression="1 + size(tasks.third.output)", step="second"))["error"]
    assert (beside["kind"], beside["position"]) == ("reference", 9)
    assert "'second' does not need 'third'" in beside["message"]
    own = (await tried(expression="tasks.second.output", step="second"))["error"]
    assert "a step cannot read its own result" in own["message"]
    execution = await detent.call("POST", f"{EXECUTIONS}/{run['id']}/evaluate", data=b'{"expression": "1"}')
    assert execution.json["data"]["execution_id"] == run["id"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ("{}", "expression"),
        ('{"expression": "1", "template": 1}', "expression"),
        ('{"expression": 1}', "expression"),
        ('{"expression": null}', "expression"),
        ('{"expression": " "}', "expression"),
        ('{"expression": "1", "step": "secnd"}', "step"),
        ('{"expression": "1", "steps": "second"}', "steps"),
        ("[]", None),
        ("{", None),
    ],
)
async def test_a_trial_that_is_not_right_is_refused(detent: Detent, body: str, field: str | None) -> None:
    await detent.save(json.dumps(CHAIN))
    started = await detent.start("chain", {})
    answer = await detent.call("POST", f"{RUNS}/{started['run_id']}/evaluate", data=body)
    assert answer.status == 400
    if field is not None:
        assert [one["field"] for one in answer.json["details"]["validation_errors"]] == [field]


async def test_a_trial_on_no_run_is_not_found(detent: Detent) -> None:
    answer = await detent.call("POST", f"{RUNS}/run_nothing/evaluate", data=b'{"expression": "1"}')
    assert answer.status == 404


async def test_the_family_of_a_run_without_relatives_is_the_run(detent: Detent) -> None:
    await detent.save(json.dumps(THREE))
    run = await detent.ended(await detent.start("three", {}))
    family = (await detent.call("GET", f"{EXECUTIONS}/{run['id']}/hierarchy")).json["data"]
    assert (family["run_id"], family["execution_id"], family["complete"]) == (run["id"], run["id"], True)
    assert (family["root"]["id"], family["root"]["children"]) == (run["id"], [])
    assert msgspec.to_builtins(msgspec.convert(family, HierarchyDocument)) == family


@pytest.mark.parametrize("place", [RUNS, EXECUTIONS, f"{WORKFLOWS}/waits/runs"])
async def test_runs_are_steered_under_each_of_their_names(api: Detent, place: str) -> None:
    await api.save(WAITS)
    started = await api.start("waits", {})
    for verb, status in (("pause", "paused"), ("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        answer = await api.call("POST", f"{place}/{started['run_id']}/{verb}")
        assert (answer.status, answer.json["data"]["status"]) == (200, status)
        assert answer.json["data"].get("execution_id") == (started["run_id"] if place == EXECUTIONS else None)
    late = await api.call("POST", f"{place}/{started['run_id']}/resume")
    assert (late.status, late.json["message"]) == (409, "Cannot resume a canceled workflow")


CREATE = {
    "name": "order-processing",
    "trigger": "api",
    "tasks": {
        "charge": {
            "url": "https://myapp.com/api/charge",
            "method": "POST",
            "headers": {"Authorization": "Bearer {{trigger.body.token}}"},
            "body": {"order_id": "{{trigger.body.order_id}}"},
            "retries": 3,
            "timeout": 30000,
        },
        "send-receipt": {
            "needs": ["charge"],
            "if": "tasks.charge.status_code == 200",
            "url": "https://myapp.com/api/send-receipt",
            "method": "POST",
            "body": {"email": "{{trigger.body.email}}"},
        },
    },
}
ORDER = {"order_id": 123, "email": "alice@example.com", "token": "sk_live_xxx"}


async def test_an_order_goes_through_every_route_of_workflows(detent: Detent, shop: Shop) -> None:
    definition = json.dumps(CREATE).replace("https://myapp.com", shop.url)
    made = await detent.call("POST", WORKFLOWS, data=definition)
    workflow = made.json["data"]
    assert made.status == 201
    assert (workflow["name"], workflow["trigger"], workflow["task_count"], workflow["enabled"]) == (
        *("order-processing", "api"),
        *(2, True),
    )
    assert workflow["id"].startswith("wf_")
    assert workflow["inserted_at"].endswith("Z")
    place = f"{WORKFLOWS}/{workflow['id']}"
    started = await detent.call("POST", f"{place}/trigger", json=ORDER)
    assert started.status == 201
    assert {**started.json["data"], "run_id": "", "started_at": ""} == {
        "run_id": "",
        "workflow_id": workflow["id"],
        "status": "running",
        "started_at": "",
        "start_at": None,
    }
    run = await detent.ended(started.json["data"])
    assert (run["id"], run["status"]) == (started.json["data"]["run_id"], "completed")
    for name in ("charge", "send-receipt"):
        step = run["tasks"][name]
        assert (step["status"], step["status_code"]) == ("success", 200)
        assert step["duration_ms"] >= 0
        assert step["started_at"] <= step["finished_at"] <= run["finished_at"]
    assert shop.body("/api/send-receipt") == {"email": "alice@example.com"}
    assert (await detent.call("PUT", place, data=definition)).status == 200
    shown = (await detent.call("GET", place)).json["data"]["definition"]
    assert list(shown["tasks"]) == ["charge", "send-receipt"]
    assert [row["name"] for row in (await detent.call("GET", WORKFLOWS)).json["data"]] == ["order-processing"]
    assert [row["id"] for row in (await detent.call("GET", f"{place}/runs")).json["data"]] == [run["id"]]
    shop.hold.clear()
    cancelled = await detent.call("POST", f"{place}/runs/{run['id']}/cancel")
    assert cancelled.status == 409
    assert (await detent.call("DELETE", place)).status == 200
    assert (await detent.call("GET", WORKFLOWS)).json["data"] == []


def test_the_examples_of_the_documentation_have_the_shapes_of_the_answers() -> None:
    for shape, document in (
        (One[WorkflowDocument], examples.one(examples.WHOLE_WORKFLOW)),
        (Many[WorkflowDocument], examples.many(examples.WORKFLOW)),
        (Many[VersionDocument], examples.many(examples.VERSION)),
        (One[StartedDocument], examples.one(examples.STARTED)),
        (One[ExecutionStarted], examples.one(examples.EXECUTION)),
        (Many[RunSummary], examples.many(examples.SUMMARY)),
        (One[RunDocument], examples.one(examples.RUN)),
        (One[RunDocument], examples.one(examples.AGAIN)),
        (One[HierarchyDocument], examples.one(examples.HIERARCHY)),
        (One[WhyDocument], examples.one(examples.WHY)),
        (One[EvaluationDocument], examples.one(examples.EVALUATION)),
        (One[BulkDocument], examples.one(examples.BULK)),
    ):
        assert msgspec.to_builtins(msgspec.convert(document, shape)) == document


async def test_openapi_tells_everything_of_every_operation(api: Detent) -> None:
    document = (await api.call("GET", "/openapi.json")).json
    operations = [
        (f"{method} {path}", operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]
    ids = [operation["operationId"] for _, operation in operations]
    assert len(ids) == len(set(ids))
    assert all(id_.isalnum() and id_[0].islower() for id_ in ids)
    assert {"createWorkflow", "triggerWorkflow", "getRun", "getExecution", "getRunOfWorkflow", "listRuns"} <= set(ids)
    known = {tag["name"] for tag in document["tags"]}
    for place, operation in operations:
        assert all(operation.get(part) for part in ("summary", "description")), place
        assert set(operation["tags"]) <= known, place
        for parameter in operation.get("parameters", []):
            assert all(parameter.get(part) for part in ("description", "schema")), (place, parameter)
        for status, answer in operation["responses"].items():
            if status >= "400":
                assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/Refusal"), (place, status)
        if not place.startswith("get /health/live"):
            assert "503" in operation["responses"], place
        if "{" in place:
            sets = place.startswith(("put /api/v1/credentials", "put /api/v1/secrets"))  # new or not
            creates = sets or (place.startswith("put") and "201" in operation["responses"])
            assert creates or place.startswith("delete") or operation["responses"].keys() & {"404", "202"}, place
