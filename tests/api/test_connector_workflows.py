"""Workflows that call Slack, monday.com, Confluence, mail servers and databases as their users write them, from API to
service."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from detent.auth.caller import local_caller
from detent.catalog.connections import EnvironmentConnections
from detent.ids import RUN, parse
from detent.views.catalog import missing_credentials
from tests.api.conftest import EVERY_DATABASE, POSTGRES_TOO
from tests.api.server import Detent, serving, statuses
from tests.api.services import TOKENS, Services, item, open_services
from tests.connectors.mail import PASSWORD, USER, open_mail

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
#: Section 15.5 of the specification, word for word.
BRIEF_OF_VERSION_4: dict[str, Any] = {
    "id": "create-project-brief",
    "displayName": "Create Project Brief from Template",
    "startNode": "render-template",
    "nodes": [
        {
            "id": "render-template",
            "actionType": "core.template.render",
            "parameters": {
                "templateSetId": "project-briefs",
                "templateId": "mobile-app-brief",
                "version": 4,
                "answers": "{{ trigger.spec.answers }}",
            },
            "edges": [{"targetNode": "create-confluence", "when": "success"}],
        },
        {
            "id": "create-confluence",
            "actionType": "confluence.create-page",
            "parameters": {
                "space": "PROJECTS",
                "title": "{{ trigger.spec.answers.title }} - Project Brief",
                "body": "{{ context.data['render-template'].body }}",
            },
        },
    ],
}
#: Section 15.7 of the specification, word for word: the workflow, and the request that starts it.
INTAKE: dict[str, Any] = {
    "id": "create-project-brief",
    "displayName": "Create Project Brief from Template",
    "startNode": "render-template",
    "nodes": [
        {
            "id": "render-template",
            "actionType": "core.template.render",
            "parameters": {
                "templateSetId": "{{ spec.templateSetId }}",
                "templateId": "{{ spec.templateId }}",
                "version": "{{ spec.templateVersion }}",
                "answers": "{{ spec.answers }}",
            },
            "edges": [{"targetNode": "create-confluence", "when": "success"}],
        },
        {
            "id": "create-confluence",
            "actionType": "confluence.create-page",
            "parameters": {
                "space": "PROJECTS",
                "title": "{{ spec.answers.title }} - Project Brief",
                "body": "{{ context.data['render-template'].body }}",
            },
            "edges": [{"targetNode": "notify-slack", "when": "success"}],
        },
        {
            "id": "notify-slack",
            "actionType": "slack.post-message",
            "parameters": {
                "channelId": "{{ trigger.channelId }}",
                "message": "✅ Project brief created: {{ context.data['create-confluence'].url }}",
            },
        },
    ],
}
INTAKE_REQUEST: dict[str, Any] = {
    "requestId": "slack-cmd-789",
    "principal": {"userId": "U123", "displayName": "Doug", "email": "doug@example.com"},
    "trigger": {"source": "slack", "channelId": "C456", "userId": "U123"},
    "spec": {
        "templateSetId": "project-briefs",
        "templateId": "mobile-app",
        "templateVersion": 1,
        "answers": {
            "title": "Recommendation Engine Redesign",
            "goal": "Improve personalization accuracy by 25%",
            "stakeholders": ["@doug", "@alice"],
            "deadline": "2025-12-01",
            "platform": "Web + Mobile",
        },
    },
}
TEMPLATE: dict[str, Any] = {
    "set": "project-briefs",
    "id": "mobile-app",
    "title": "Mobile app",
    "fields": {
        "fields": [{"id": "title", "label": "Title"}, {"id": "goal", "label": "Goal"}],
        "validation": {"jsonSchema": {"type": "object", "required": ["title", "goal"]}},
    },
    "body": "<h1>{{ title }}</h1><p>{{ goal }}</p>{% for one in stakeholders %}<li>{{ one }}</li>{% endfor %}",
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


@POSTGRES_TOO
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
    entries = await detent.app.store.journal(1, parse(RUN, run["id"]))
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


async def test_the_document_of_the_specification_is_rendered_and_published_word_for_word(
    detent: Detent, services: Services
) -> None:
    """Section 15.5."""
    document = {**TEMPLATE, "id": "mobile-app-brief"}
    for number in range(1, 6):
        method, place = ("POST", "") if number == 1 else ("PUT", "/mobile-app-brief?set=project-briefs")
        text = {**document, "body": f"<h1>{{{{ title }}}}</h1><i>of version {number}</i>"}
        answer = await detent.call(method, f"/api/v1/templates{place}", json=text)
        assert answer.status in (200, 201), answer.text
    await published(detent, BRIEF_OF_VERSION_4)
    answers = {"title": "Shop app", "goal": "Sell"}
    run = await executed(detent, "create-project-brief", {"spec": {"answers": answers}})
    assert (run["status"], statuses(run)) == (
        "completed",
        {"render-template": "success", "create-confluence": "success"},
    )
    body = "<h1>Shop app</h1><i>of version 4</i>"
    assert run["tasks"]["render-template"]["output"]["body"] == body
    [page] = services.at("confluence")
    assert page.path == "/confluence/rest/api/content"
    assert (page.body["title"], page.body["space"]) == ("Shop app - Project Brief", {"key": "PROJECTS"})
    assert page.body["body"]["storage"] == {"value": body, "representation": "storage"}
    assert page.headers["Authorization"] == f"Bearer {TOKENS['confluence']}"

    missing = await executed(detent, "create-project-brief", {"spec": {"answers": {"title": "No goal"}}})
    assert missing["status"] == "failed"
    assert len(services.at("confluence")) == 1, "answers that do not fit are not published"


@EVERY_DATABASE
async def test_the_intake_of_the_specification_reaches_wiki_and_chat_word_for_word(
    detent: Detent, services: Services
) -> None:
    """Section 15.7, with outputs, links, headers and tokens as its receivers see them."""
    assert (await detent.call("POST", "/api/v1/templates", json=TEMPLATE)).status == 201
    form = await detent.call("GET", "/api/v1/templates/project-briefs/mobile-app?version=1")
    assert [one["id"] for one in form.json["data"]["fields"]["fields"]] == ["title", "goal"]
    await published(detent, INTAKE)
    started = await detent.call("POST", "/api/v1/workflows/create-project-brief/execute", json=INTAKE_REQUEST)
    assert started.status == 202, started.text
    again = await detent.call("POST", "/api/v1/workflows/create-project-brief/execute", json=INTAKE_REQUEST)
    assert again.json["data"]["run_id"] == started.json["data"]["run_id"], "a slash command that comes twice"
    run = await detent.ended(started.json["data"])

    assert run["status"] == "completed", run
    steps = ("render-template", "create-confluence", "notify-slack")
    assert statuses(run) == dict.fromkeys(steps, "success")
    body = (
        "<h1>Recommendation Engine Redesign</h1><p>Improve personalization accuracy by 25%</p>"
        "<li>@doug</li><li>@alice</li>"
    )
    outputs = {name: run["tasks"][name]["output"] for name in steps}
    assert outputs["render-template"]["body"] == body
    assert outputs["render-template"]["metadata"]
    url = "https://wiki.example.com/display/PROJECTS/123456"
    assert (outputs["create-confluence"]["pageId"], outputs["create-confluence"]["url"]) == ("123456", url)

    [page], [message] = services.at("confluence"), services.at("slack")
    assert page.body["title"] == "Recommendation Engine Redesign - Project Brief"
    assert page.body["body"]["storage"]["value"] == body
    assert message.body == {"channel": "C456", "text": f"✅ Project brief created: {url}"}
    for received in (page, message):
        assert received.headers["Authorization"] == f"Bearer {TOKENS[received.service]}"
        assert received.headers["X-Acting-User-Id"] == "U123"
        assert received.headers["X-Acting-User-Email"] == "doug@example.com"
        assert received.headers["X-Acting-User-Name"] == "Doug"
        assert received.headers["X-Correlation-Id"] == run["id"]
    linked = await detent.call("GET", "/api/v1/resources?system=confluence&type=page&id=123456")
    assert [(one["run_id"], one["step"], one["url"]) for one in linked.json["data"]] == [
        (run["id"], "create-confluence", url)
    ]
    entries = repr(await detent.app.store.journal(1, parse(RUN, run["id"])))
    assert all(token not in entries for token in TOKENS.values())


async def test_a_workflow_mails_what_it_finds_in_a_database_and_keeps_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connectors in Python, from API to mailbox. No secret of theirs is in the journal."""
    shop = tmp_path / "shop.db"
    with closing(sqlite3.connect(shop)) as database:
        database.execute("create table customer (id integer primary key, email text)")
        database.execute("insert into customer values (7, 'ann@example.org')")
        database.commit()
    tasks = {
        "find": {
            "action": "sql.query",
            "with": {
                "statement": "select email from customer where id = :id",
                "parameters": {"id": "{{ trigger.body.customer }}"},
                "connection": "shop",
            },
        },
        "mail": {
            "needs": ["find"],
            "action": "email.send",
            "with": {
                "to": "{{ tasks.find.output.rows[0].email }}",
                "subject": "Order {{ trigger.body.order }}",
                "text": "It was paid.",
                "attachments": [{"name": "order.json", "content": "{{ json(trigger.body) }}"}],
            },
        },
    }
    async with open_mail(login=True) as mailbox:
        monkeypatch.setenv("CONNECTOR_SHOP_URL", f"sqlite:///{shop}")
        monkeypatch.setenv("CONNECTOR_EMAIL_URL", mailbox.url())
        monkeypatch.setenv("CONNECTOR_EMAIL_FROM", "Shop <shop@example.com>")
        monkeypatch.setenv("CONNECTOR_EMAIL_USERNAME", USER)
        monkeypatch.setenv("CONNECTOR_EMAIL_PASSWORD", PASSWORD)
        async with serving(f"sqlite:///{tmp_path}/detent.db") as detent:
            await detent.save(json.dumps({"name": "paid", "tasks": tasks}))
            run = await detent.ended(await detent.start("paid", {"customer": 7, "order": 17}))
            assert run["status"] == "completed", run
            entries = repr(await detent.app.store.journal(1, parse(RUN, run["id"])))
    [message] = mailbox.messages
    assert (message["From"], message["To"]) == ("Shop <shop@example.com>", "ann@example.org")
    assert message["Subject"] == "Order 17"
    [file] = message.iter_attachments()
    assert json.loads(file.get_content()) == {"customer": 7, "order": 17}
    assert mailbox.users == [USER]
    assert PASSWORD not in entries


async def test_what_connectors_in_python_lack_is_named_at_publish_by_the_step_and_by_doctor(api: Detent) -> None:
    mail = {"to": "{{ trigger.who }}", "subject": "Order", "text": "Paid."}
    nodes = [
        {"id": "mail", "actionType": "email.send", "parameters": mail, "edges": [{"targetNode": "more"}]},
        {"id": "more", "actionType": "s3.get-object", "parameters": {"key": "a", "connection": "archive"}},
    ]
    warnings = (await published(api, {"id": "w", "displayName": "W", "startNode": "mail", "nodes": nodes}))["warnings"]
    assert "the connection 'email' needs CONNECTOR_EMAIL_URL, which this process does not have" in warnings
    lacks = [f"CONNECTOR_ARCHIVE_{part}" for part in ("URL", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY")]
    for name in lacks:
        assert f"the connection 'archive' needs {name}, which this process does not have" in warnings
    run = await api.ended(await api.start("w", {"who": "ann@example.org"}))
    error = run["tasks"]["mail"]["error"]
    assert (error["code"], "set CONNECTOR_EMAIL_URL" in error["message"]) == ("missing_credential", True)
    found = await missing_credentials(api.app.store, local_caller("test").tenant, EnvironmentConnections({}))
    assert [one.message for one in found] == [
        "'email' is not set up here: set CONNECTOR_EMAIL_URL; w needs it",
        f"'archive' is not set up here: set {' and '.join(lacks)}; w needs it",
    ]
    listed = (await api.call("GET", "/api/v1/connectors/s3")).json["data"]
    assert (listed["display_name"], listed["auth_type"], listed["source"]) == ("S3", "aws4", "python")
    assert listed["missing"] == ["CONNECTOR_S3_URL", "CONNECTOR_S3_ACCESS_KEY_ID", "CONNECTOR_S3_SECRET_ACCESS_KEY"]
    shown = (await api.call("GET", "/api/v1/actions/email.send")).json["data"]
    assert set(shown["parameter_schema"]["properties"]) >= {"to", "from", "subject", "text", "html", "attachments"}


async def test_a_statement_with_a_template_and_parameters_that_do_not_fit_are_refused(api: Detent) -> None:
    bad = {
        "templated": {"statement": "select * from customer where name = '{{ trigger.body.name }}'"},
        "unknown": {"statement": "select 1", "params": {}},
        "scalar": {"statement": "select :a", "parameters": {"a": {"b": 1}}},
    }
    tasks = {name: {"action": "sql.query", "with": given} for name, given in bad.items()}
    answer = await api.call("POST", "/api/v1/workflows", json={"name": "w", "tasks": tasks})
    assert answer.status == 400, answer.text
    found = {one["field"]: one["message"] for one in answer.json["details"]["validation_errors"]}
    assert found["tasks.templated.with.statement"] == "cannot have a template; pass values in `parameters`, as :name"
    assert "tasks.unknown.with.params" in found
    assert any(place.startswith("tasks.scalar.with.parameters") for place in found)
