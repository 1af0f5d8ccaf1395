"""Workflows that call Slack, monday.com and Confluence as the specification writes them, from API to service."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from detent.ids import RUN, parse
from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Detent, serving, statuses
from tests.api.services import TOKENS, Services, item, open_services

MONDAY_STATUS: dict[str, Any] = {
    "id": "get-monday-status",
    "displayName": "Get Monday Status Report",
    "startNode": "fetch-items",
    "nodes": [
        {
            "id": "fetch-items",
            "actionType": "monday.get-items",
            "parameters": {
                "boardId": "{{ trigger.boardId }}",
                "filter": {"rules": [{"column": "Status", "operator": "eq", "value": "In Progress"}]},
            },
            "policies": {"retry": {"maxAttempts": 3, "baseDelayMs": 300, "backoffFactor": 2.0, "jitter": True}},
            "edges": [{"targetNode": "post-slack", "when": "success"}],
        },
        {
            "id": "post-slack",
            "actionType": "slack.post-message",
            "parameters": {
                "channelId": "{{ trigger.channelId }}",
                "message": "Found {{ context.data['fetch-items'].items.length }} items in progress.",
            },
        },
    ],
}
ONBOARD: dict[str, Any] = {
    "id": "onboard-project",
    "displayName": "Onboard New Project",
    "startNode": "get-item",
    "nodes": [
        {
            "id": "get-item",
            "actionType": "monday.get-items",
            "parameters": {
                "boardId": "{{ trigger.boardId }}",
                "filter": {"rules": [{"column": "Item ID", "operator": "eq", "value": "{{ trigger.itemId }}"}]},
            },
            "edges": [
                {
                    "targetNode": "create-confluence",
                    "when": "success",
                    "condition": "context.data['get-item'].items[0].Status === 'Approved'",
                },
                {
                    "targetNode": "notify-not-approved",
                    "when": "success",
                    "condition": "context.data['get-item'].items[0].Status !== 'Approved'",
                },
            ],
            "onFailure": "notify-error",
        },
        {
            "id": "create-confluence",
            "actionType": "confluence.create-page",
            "parameters": {
                "space": "PROJECTS",
                "title": "{{ context.data['get-item'].items[0].Name }} - Project Brief",
            },
        },
        {
            "id": "notify-not-approved",
            "actionType": "slack.post-message",
            "parameters": {
                "channelId": "{{ trigger.channelId }}",
                "message": "Project '{{ context.data['get-item'].items[0].Name }}' is not approved.",
            },
        },
        {
            "id": "notify-error",
            "actionType": "slack.post-message",
            "parameters": {
                "channelId": "{{ trigger.channelId }}",
                "message": "Onboarding failed at {{ context.data['get-item'].errorNode ?? 'unknown' }}.",
            },
        },
    ],
}
PRINCIPAL = {"userId": "U123", "displayName": "Doug", "email": "doug@example.com"}


@pytest.fixture
async def services(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Services]:
    async with open_services() as opened:
        for name, value in opened.environ().items():
            monkeypatch.setenv(name, value)
        yield opened


@pytest.fixture
async def detent(services: Services, database_url: str) -> AsyncIterator[Detent]:
    async with serving(database_url) as opened:
        yield opened


async def published(detent: Detent, definition: dict[str, Any]) -> dict[str, Any]:
    assert (await detent.call("POST", "/api/v1/workflows", json=definition)).status == 201
    answer = await detent.call("POST", f"/api/v1/workflows/{definition['id']}/publish")
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json["data"]
    return found


async def executed(detent: Detent, workflow: str, trigger: dict[str, Any], **more: Any) -> dict[str, Any]:
    envelope = {"principal": PRINCIPAL, "trigger": trigger, "correlationId": "corr-7", **more}
    answer = await detent.call("POST", f"/api/v1/workflows/{workflow}/execute", json=envelope)
    assert answer.status == 202, answer.text
    return await detent.ended(answer.json["data"])


@EVERY_DATABASE
async def test_the_linear_workflow_of_the_specification_runs_word_for_word(detent: Detent, services: Services) -> None:
    services.boards["77"] = [
        item(number, f"P{number}", Status="In Progress" if number % 3 else "Done") for number in range(30)
    ]
    services.page_size = 12
    await published(detent, MONDAY_STATUS)
    run = await executed(detent, "get-monday-status", {"boardId": 77, "channelId": "C1"})
    assert statuses(run) == {"fetch-items": "success", "post-slack": "success"}
    assert len(services.at("monday")) == 3, "three pages of twelve"
    [posted] = services.at("slack")
    assert posted.path == "/slack/chat.postMessage"
    assert posted.body == {"channel": "C1", "text": "Found 20 items in progress."}
    assert run["tasks"]["post-slack"]["output"] == {"channelId": "C1", "messageId": "1700000000.000001"}
    for received in services.received:
        assert received.headers["Authorization"] == f"Bearer {TOKENS[received.service]}"
        assert received.headers["X-Acting-User-Id"] == "U123"
        assert received.headers["X-Acting-User-Email"] == "doug@example.com"
        assert received.headers["X-Acting-User-Name"] == "Doug"
        assert received.headers["X-Correlation-Id"] == "corr-7"
        assert received.headers["Idempotency-Key"]


async def test_the_branching_workflow_of_the_specification_takes_each_of_its_ways(
    detent: Detent, services: Services
) -> None:
    services.boards["77"] = [item(1, "Website", Status="Approved"), item(2, "Shop", Status="Waiting")]
    await published(detent, ONBOARD)

    approved = await executed(detent, "onboard-project", {"boardId": "77", "itemId": "1", "channelId": "C1"})
    assert approved["status"] == "completed"
    assert statuses(approved)["create-confluence"] == "success"
    assert approved["tasks"]["create-confluence"]["output"] == {
        "pageId": "123456",
        "title": "Website - Project Brief",
        "version": 1,
        "url": "https://wiki.example.com/display/PROJECTS/123456",
    }
    [page] = services.at("confluence")
    linked = await detent.call("GET", "/api/v1/resources?system=confluence&type=page&id=123456")
    assert [one["run_id"] for one in linked.json["data"]] == [approved["id"]]
    assert page.body["space"] == {"key": "PROJECTS"}
    assert page.headers["X-Correlation-Id"] == "corr-7"

    refused = await executed(detent, "onboard-project", {"boardId": "77", "itemId": 2, "channelId": "C1"})
    assert statuses(refused)["notify-not-approved"] == "success"
    assert services.at("slack")[-1].body["text"] == "Project 'Shop' is not approved."

    failed = await executed(detent, "onboard-project", {"boardId": "78", "itemId": 2, "channelId": "C1"})
    assert (failed["status"], statuses(failed)["get-item"]) == ("completed", "failed")
    assert services.at("slack")[-1].body["text"] == "Onboarding failed at get-item."
    assert "there is no such board" in failed["tasks"]["get-item"]["error"]["message"]


async def test_what_a_service_refuses_fails_the_step_with_its_words(detent: Detent, services: Services) -> None:
    services.boards["77"] = []
    await published(detent, MONDAY_STATUS)
    run = await executed(detent, "get-monday-status", {"boardId": 77, "channelId": "C404"})
    error = run["tasks"]["post-slack"]["error"]
    assert (run["status"], error["code"]) == ("failed", "channel_not_found")
    assert len(services.at("slack")) == 1, "another attempt would not help"


async def test_no_token_is_in_a_journal_a_view_or_an_error(detent: Detent, services: Services) -> None:
    services.boards["77"] = [item(1, "Website", Status="Approved")]
    await published(detent, ONBOARD)
    run = await executed(detent, "onboard-project", {"boardId": 77, "itemId": 1, "channelId": "C1"})
    places = [f"/api/v1/runs/{run['id']}{rest}" for rest in ("", "/events", "/outline", "/steps/get-item", "/export")]
    texts = [(await detent.call("GET", place)).text for place in places]
    entries = await detent.app.store.journal(parse(RUN, run["id"]))
    texts += [repr(entries)]
    assert any("Website" in text for text in texts)
    for token in TOKENS.values():
        assert all(token not in text for text in texts)


async def test_a_template_of_a_user_cannot_read_a_credential(detent: Detent) -> None:
    for text in ("{{ credential.token }}", "{{ with.channelId }}", "{{ env.CONNECTOR_SLACK_TOKEN }}"):
        tasks = {"a": {"action": "slack.post-message", "with": {"channelId": "C1", "message": text}}}
        answer = await detent.call("POST", "/api/v1/workflows", json={"name": "thief", "tasks": tasks})
        assert answer.status == 400
        assert "unknown name" in answer.text


async def test_a_version_pins_its_actions_and_names_the_feature_that_it_needs(detent: Detent) -> None:
    tasks = {"a": {"action": "slack.post-message", "with": {"channelId": "C1", "message": "hi"}}}
    answer = await detent.call("POST", "/api/v1/workflows", json={"name": "plain", "tasks": tasks})
    assert answer.status == 201, answer.text
    row = await detent.app.store.workflow(1, "plain")
    assert row is not None
    graph = json.loads(row.graph)
    assert graph["steps"][0]["config"]["version"] == "1.0.0"
    assert json.loads(row.trigger)["code"] == ["detent/2", "detent/3"]
    run = await detent.ended(await detent.start("plain", {}))
    assert run["status"] == "completed"
    assert run["tasks"]["a"]["output"]["channelId"] == "C1"


async def test_a_plain_request_names_the_user_if_the_step_says_so(detent: Detent, services: Services) -> None:
    tasks = {
        "a": {
            "url": f"{services.url}/slack/chat.postMessage",
            "headers": {"Authorization": f"Bearer {TOKENS['slack']}"},
            "body": {"channel": "C1", "text": "hi"},
            "acting_user_headers": True,
        }
    }
    await detent.save(json.dumps({"name": "plain", "tasks": tasks}))
    run = await executed(detent, "plain", {})
    assert run["status"] == "completed"
    [sent] = services.at("slack")
    assert (sent.headers["X-Acting-User-Id"], sent.headers["X-Correlation-Id"]) == ("U123", "corr-7")
