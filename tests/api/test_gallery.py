"""Every template of the gallery becomes a workflow that is published and runs to its end.

Its connectors and addresses are those of servers on loopback: the actions are the real ones.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from detent.catalog.gallery import gallery
from detent.catalog.workflow_template import template_problems
from detent.run.status import TERMINAL
from tests.api.server import PATIENCE, Detent, serving
from tests.api.services import Services, item, open_services
from tests.connectors.mail import Mailbox, open_mail


@dataclass
class Story:
    """How a template is used: its config without the examples of its schema, the body of the start, the answers to
    waits, which steps run, and the texts that services and mailboxes receive."""

    config: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    done: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()


ISSUE = {"number": 7, "title": "Data loss after an upgrade", "html_url": "https://github.example/7"}
STORIES = {
    "onboarding-with-approval": Story(
        body={"name": "Ada", "email": "ada@example.org"},
        answers={"approval": {"approved": True}},
        done=("ask", "create-account", "welcome"),
        sent=("May Ada (ada@example.org) start?", "Welcome, Ada"),
    ),
    "payment-with-callback": Story(
        body={"order_id": 5, "amount": 12.5},
        answers={"payment": {"status": "paid"}},
        done=("create-checkout", "payment", "fulfil"),
    ),
    "nightly-report-to-email": Story(done=("figures", "send"), sent=("Nightly report: 20", '{"ok":true}')),
    "github-issue-triage": Story(
        body={"action": "opened", "issue": ISSUE}, done=("greet", "alert"), sent=("Thank you", "Urgent? Data loss")
    ),
    "monday-to-slack-status": Story(
        done=("fetch-items", "post"),
        sent=("2 items are In Progress: Shop, App",),
    ),
    "escalation-with-reminders": Story(
        config={"remind_after": "50ms", "escalate_after": "50ms", "give_up_after": "1h"},
        body={"subject": "Budget", "question": "May we?"},
        answers={"last-answer": {"yes": True}},
        done=("ask", "remind", "escalate", "last-answer"),
        sent=("Reminder: Budget", "ann@example.org did not answer. May we?"),
    ),
    "etl-over-a-map": Story(done=("extract", "load")),
    "webhook-relay": Story(body={"event": "paid"}, done=("deliver",)),
    "trial-expiry": Story(
        config={"reminder_after": "20ms", "last_days": "20ms"},
        body={"customer_id": "c 1", "email": "c@example.org"},
        done=("start", "remind", "look", "expire"),
        sent=("Your trial ends soon",),
    ),
    "project-brief": Story(
        body={"answers": {"title": "Redesign", "goal": "25% better"}},
        done=("render-template", "create-page", "post"),
        sent=(
            "<h1>Redesign</h1><p>25% better</p>",
            "Project brief created: https://wiki.example.com/display/PROJECTS/123456",
        ),
    ),
    "export-and-download": Story(
        config={"look_every": "100ms"}, body={"table": "orders"}, done=("ask", "wait-for-it", "deliver")
    ),
}
BRIEF = {"set": "project-briefs", "id": "mobile-app", "title": "App", "body": "<h1>{{ title }}</h1><p>{{ goal }}</p>"}


class World:
    """The services that the workflows call: it has records, exports that are ready at the second look, and trials."""

    def __init__(self) -> None:
        self.url = ""
        self._looks = 0

    async def answer(self, request: web.Request) -> web.Response:
        await request.read()
        return web.json_response(self._answer(request.method, request.path.strip("/")))

    def _answer(self, method: str, path: str) -> Any:
        match method, path.split("/"):
            case "GET", ["api", "records"]:
                return {"records": [{"id": number} for number in range(3)]}
            case "POST", ["api", "exports"]:
                return {"id": "e/1"}
            case "GET", ["api", "exports", *_]:
                self._looks += 1
                return {"state": "done" if self._looks > 1 else "running", "file": "e1.csv"}
            case "GET", ["api", "trials", *_]:
                return {"bought": False}
            case _:
                return {"ok": True}


@asynccontextmanager
async def open_world() -> AsyncIterator[World]:
    world, app = World(), web.Application()
    app.router.add_route("*", "/{rest:.*}", world.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    world.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield world
    finally:
        await runner.cleanup()


def examples(id_: str, url: str) -> dict[str, Any]:
    """The examples of the schema as a config, with the test's server in the place of every host."""
    found = {
        name: one["examples"][0]
        for name, one in gallery()[id_].config_schema["properties"].items()
        if "examples" in one
    }
    local: dict[str, Any] = json.loads(re.sub(r"https://[a-z.]+", url, json.dumps(found)))
    return local


async def ended(detent: Detent, started: dict[str, Any], story: Story) -> dict[str, Any]:
    """The run once it has ended. Its waits are answered as the story says."""
    left = dict(story.answers)
    async with asyncio.timeout(PATIENCE):
        while True:
            run = await detent.run(started)
            if run["status"] in TERMINAL:
                return run
            for callback in run["callbacks"]:
                if callback["status"] == "active" and callback["step"] in left:
                    await detent.call("POST", callback["url"], json=left.pop(callback["step"]))
            await asyncio.sleep(0.02)  # the API is polled, as any of its users would


def test_every_template_of_the_gallery_has_a_story_and_no_problem() -> None:
    assert set(gallery()) == set(STORIES)
    assert len(STORIES) >= 10
    for template in gallery().values():
        assert template_problems(template.definition, template.config_schema) == []
        assert template.is_official
        assert all([template.title, template.description, template.category, template.tags])
        described = template.config_schema["properties"].values()
        assert all("title" in one for one in described), template.id
        for name, one in template.config_schema["properties"].items():
            required = name in template.config_schema["required"]
            assert ("examples" in one) is required, f"{template.id}: {name}"
            assert required or "default" in one or name == "version"


@pytest.mark.parametrize("id_", STORIES)
async def test_a_template_of_the_gallery_is_made_published_and_run(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    story = STORIES[id_]
    async with open_world() as world, open_services() as services, open_mail() as mailbox:
        for name, value in {**services.environ(), **mail_environ(mailbox)}.items():
            monkeypatch.setenv(name, value)
        services.boards["123456"] = [item(1, "Shop", Status="In Progress"), item(2, "App", Status="In Progress")]
        run = await played(id_, story, world)
        received = received_texts(services, mailbox)
    assert run["status"] == "completed", run
    steps = {name for name, step in run["tasks"].items() if step["status"] in ("success", "received")}
    assert set(story.done) <= steps, run
    assert [text for text in story.sent if text not in received] == []


def mail_environ(mailbox: Mailbox) -> dict[str, str]:
    return {"CONNECTOR_EMAIL_URL": mailbox.url(), "CONNECTOR_EMAIL_FROM": "bot@example.com"}


def received_texts(services: Services, mailbox: Mailbox) -> str:
    """Everything that the services and the mailbox got, as one text."""
    bodies = [json.dumps(one.body, ensure_ascii=False) for one in services.received]
    for message in mailbox.messages:
        text = message.get_body(("plain",))
        bodies += [f"{message['To']} {message['Subject']} {'' if text is None else text.get_content()}"]
    return " ".join(bodies)


async def played(id_: str, story: Story, world: World) -> dict[str, Any]:
    """The run of a workflow that was made of a template and published, once it has ended."""
    async with serving("memory://") as detent:
        await detent.call("POST", "/api/v1/templates", json=BRIEF)
        config = {**examples(id_, world.url), **story.config}
        made = await detent.call(
            "POST", f"/api/v1/templates/workflows/{id_}/instantiate", json={"name": "mine", "config": config}
        )
        assert (made.status, made.json["data"]["problems"]) == (201, []), made.text
        published = await detent.call("POST", "/api/v1/workflows/mine/publish?validateParameters=true")
        assert published.status == 200, published.text
        # Mail and chats cannot recognise a message that is sent again, and a publish says so.
        assert [one for one in published.json["data"]["warnings"] if " does not " not in one] == []
        return await ended(detent, await detent.start("mine", story.body), story)
