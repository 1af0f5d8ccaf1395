"""The life of a workflow: draft, version, archive; and everything that may start one of its versions."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from detent.forms import compile as forms
from detent.forms.compile import Form
from detent.forms.compiled import Compiled, Limits
from detent.forms.steps.form import compile_steps
from tests.api.server import Answer, Detent, serving

WORKFLOWS = "/api/v1/workflows"


def echo(value: Any, name: str = "echo", **more: Any) -> dict[str, Any]:
    return {"name": name, "tasks": {"a": {"action": "core.echo", "with": {"x": value}}}, **more}


def compile_staged(document: Mapping[str, Any], *, limits: Limits, actions: Collection[str] | None) -> Compiled:
    steps = {key: value for key, value in document.items() if key != "form"}
    return replace(compile_steps(steps, limits=limits, actions=actions), form="staged")


@pytest.fixture(autouse=True)
def _staged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A form that is a draft until it is published, beside the steps form."""
    staged = Form("staged", ("stages",), compile_staged, is_live_at_save=False)
    monkeypatch.setitem(forms.FORMS, "staged", staged)


def staged(value: Any, name: str = "echo", **more: Any) -> dict[str, Any]:
    return echo(value, name, form="staged", **more)


async def post(detent: Detent, document: Any, query: str = "") -> Answer:
    return await detent.call("POST", f"{WORKFLOWS}{query}", json=document)


async def put(detent: Detent, document: Any, query: str = "", tag: str | None = None) -> Answer:
    headers = {} if tag is None else {"If-Match": tag}
    return await detent.call("PUT", f"{WORKFLOWS}/{document['name']}{query}", json=document, headers=headers)


async def do(detent: Detent, verb: str, name: str = "echo", tag: str | None = None) -> Answer:
    headers = {} if tag is None else {"If-Match": tag}
    return await detent.call("POST", f"{WORKFLOWS}/{name}/{verb}", headers=headers)


async def read(detent: Detent, path: str = "") -> Any:
    answer = await detent.call("GET", f"{WORKFLOWS}/echo{path}")
    assert answer.status == 200, answer.text
    return answer.json["data"]


async def output(detent: Detent, query: str = "", body: Any = None) -> Any:
    """The version and the output of a run."""
    answer = await detent.call("POST", f"{WORKFLOWS}/echo/trigger{query}", json=body or {})
    assert answer.status == 201, answer.text
    run = await detent.ended(answer.json["data"])
    return run["version"], run["tasks"]["a"]["output"]


async def test_a_form_that_is_published_lives_from_draft_to_archive(detent: Detent) -> None:
    made = await post(detent, staged(1))
    assert made.status == 201, made.text
    data = made.json["data"]
    assert (data["status"], data["current_version"], data["form"], data["draft"]["revision"]) == (
        "draft",
        0,
        "staged",
        1,
    )
    assert data["definition"] == staged(1)
    refused = await detent.call("POST", f"{WORKFLOWS}/echo/trigger")
    assert (refused.status, refused.json["code"]) == (409, "WFENG002")
    assert refused.json["message"] == "Workflow is not Active (current status: Draft): echo"
    again = await post(detent, staged(2))
    assert (again.status, again.json["data"]["draft"]["revision"]) == (200, 2)
    published = await do(detent, "publish")
    assert published.status == 200, published.text
    assert published.json["data"] == {
        "workflow_id": data["id"], "workflow": "echo", "version": 1, "status": "active", "current_version": 1,
        "changed": True, "warnings": [], "rehearsal": None,
    }  # fmt: skip
    assert await output(detent) == (1, {"x": 2})
    immutable = await post(detent, staged(3))
    assert (immutable.status, immutable.json["code"]) == (400, "WFENG005")
    assert "is active, and its versions are immutable" in immutable.json["message"]
    changed = await put(detent, staged(3))
    assert (changed.status, changed.json["data"]["current_version"]) == (200, 1)
    assert changed.json["data"]["definition"] == staged(2), "the active version is as it was"
    assert await output(detent) == (1, {"x": 2})
    assert (await do(detent, "publish")).json["data"]["version"] == 2
    assert await output(detent) == (2, {"x": 3})
    deleted = await detent.call("DELETE", f"{WORKFLOWS}/echo")
    assert (deleted.status, deleted.json["message"]) == (409, "the workflow 'echo' is active: archive it first")
    archived = await do(detent, "archive")
    assert (archived.json["data"]["status"], archived.json["data"]["enabled"]) == ("archived", False)
    refused = await detent.call("POST", f"{WORKFLOWS}/echo/trigger")
    assert refused.json["message"] == "Workflow is not Active (current status: Archived): echo"
    assert (await detent.call("DELETE", f"{WORKFLOWS}/echo")).status == 200
    assert (await detent.call("GET", f"{WORKFLOWS}/echo")).status == 404


async def test_publishing_the_same_text_again_changes_nothing(api: Detent) -> None:
    await post(api, staged(1))
    first, second = await do(api, "publish"), await do(api, "publish")
    assert (first.json["data"]["changed"], second.json["data"]["changed"]) == (True, False)
    await put(api, staged(2))
    await do(api, "publish")
    await put(api, staged(1))
    back = (await do(api, "publish")).json["data"]
    assert (back["version"], back["changed"], back["current_version"]) == (1, True, 1)
    assert [one["version"] for one in await read(api, "/versions")] == [2, 1]


async def test_a_text_of_an_older_version_makes_that_one_current(api: Detent) -> None:
    saved = [(await put(api, echo(value))).json["data"]["current_version"] for value in (1, 2, 1, 3)]
    assert saved == [1, 2, 1, 3]
    assert [(one["version"], one["current"]) for one in await read(api, "/versions")] == [
        (3, True), (2, False), (1, False),
    ]  # fmt: skip


async def test_a_version_that_is_published_without_being_activated_waits(api: Detent) -> None:
    await post(api, staged(1))
    staging = (await do(api, "publish?autoActivate=false")).json["data"]
    assert (staging["version"], staging["status"], staging["current_version"]) == (1, "draft", 0)
    again = (await do(api, "publish?auto_activate=false")).json["data"]
    assert (again["version"], again["changed"]) == (1, False)
    assert (await do(api, "publish")).json["data"]["status"] == "active", "now it is activated"
    await put(api, staged(2))
    assert (await do(api, "publish?autoActivate=false")).json["data"]["current_version"] == 1
    assert await output(api) == (1, {"x": 1})
    activated = await do(api, "versions/2/activate")
    assert activated.json["data"]["current_version"] == 2
    assert await output(api) == (2, {"x": 2})


async def test_a_draft_keeps_anything_with_a_name_and_says_what_is_wrong(api: Detent) -> None:
    wrong = {"name": "echo", "tasks": {"a": {"action": "core.ecko", "needs": ["b"]}}}
    refused = await post(api, wrong)
    assert (refused.status, refused.json["code"]) == (400, "WFENG005")
    made = await put(api, wrong, "?draft=true")
    assert made.status == 201, made.text
    problems = made.json["data"]["draft"]["problems"]
    assert [one["field"] for one in problems] == ["tasks.a.action", "tasks.a.needs[0]"]
    draft = await read(api, "/draft")
    assert (draft["definition"], draft["problems"], draft["saved_by"]) == (wrong, problems, "api")
    published = await do(api, "publish")
    assert (published.status, published.json["code"]) == (400, "WFENG005")
    assert published.json["details"]["validation_errors"] == problems
    broken: list[Any] = [[], "text", {"name": "a/b", "tasks": {}}, {"tasks": {}}, {"name": "echo", "form": "sonnet"}]
    for document in broken:
        assert (await post(api, document, "?draft=true")).status == 400, document
    assert (await put(api, echo(1, "other") | {"name": "echo"}, "?draft=maybe")).status == 400
    strict = await post(api, {**wrong, "name": "staged", "form": "staged"})
    assert strict.status == 400, "without ?draft=true a draft must be valid"


async def test_a_draft_beside_the_live_version_of_the_steps_form(api: Detent) -> None:
    await post(api, echo(1))
    tag = (await api.call("GET", f"{WORKFLOWS}/echo")).headers["ETag"]
    saved = await put(api, echo(2), "?draft=true")
    assert (saved.status, saved.headers["ETag"]) == (200, '"d1"')
    now = await api.call("GET", f"{WORKFLOWS}/echo")
    assert (now.headers["ETag"], now.json["data"]["draft"]["revision"]) == (tag, 1), "a draft does not change the tag"
    assert (await read(api, "?version=draft"))["definition"] == echo(2)
    [row] = (await api.call("GET", WORKFLOWS)).json["data"]
    assert row["draft"] == {"revision": 1}
    assert (await api.call("DELETE", f"{WORKFLOWS}/echo/draft")).json["data"]["revision"] == 1
    assert (await api.call("GET", f"{WORKFLOWS}/echo/draft")).status == 404
    await put(api, echo(3), "?draft=true")
    assert (await do(api, "publish")).json["data"]["version"] == 2
    assert await output(api) == (2, {"x": 3})
    assert (await api.call("DELETE", f"{WORKFLOWS}/echo")).status == 200, "the steps form is deleted while it is active"


async def test_of_two_editors_of_a_draft_the_second_is_refused(api: Detent) -> None:
    tag = (await post(api, staged(1))).headers["ETag"]
    assert tag == (await api.call("GET", f"{WORKFLOWS}/echo")).headers["ETag"] == '"d1"'
    answers = await asyncio.gather(*(put(api, staged(number), tag=tag) for number in range(2, 7)))
    assert sorted(one.status for one in answers) == [200, 412, 412, 412, 412]
    assert (await do(api, "publish", tag=tag)).status == 412
    assert (await do(api, "publish", tag='"d2"')).status == 200
    assert (await do(api, "publish", tag='"d2"')).status == 412, "that draft is gone"
    live = (await api.call("GET", f"{WORKFLOWS}/echo")).headers["ETag"]
    assert (await put(api, staged(9), tag=live)).status == 200, "there is no draft, as the tag of the workflow says"
    assert (await put(api, staged(10), tag='"v1.1"')).status == 412
    gone = await api.call("DELETE", f"{WORKFLOWS}/echo/draft", headers={"If-Match": '"d1"'})
    assert gone.status == 412


async def test_a_workflow_that_was_never_published_is_removed_and_not_archived(api: Detent) -> None:
    await post(api, staged(1))
    for verb in ("archive", "reactivate"):
        refused = await do(api, verb)
        assert (refused.status, refused.json["code"]) == (409, "WFENG002"), verb
    assert (await api.call("DELETE", f"{WORKFLOWS}/echo/draft")).status == 409
    assert (await api.call("DELETE", f"{WORKFLOWS}/echo")).status == 200
    assert (await post(api, echo(1))).status == 201, "the name is free"


async def test_an_archived_workflow_is_read_only_until_it_is_reactivated(api: Detent) -> None:
    await post(api, echo(1))
    await put(api, echo(2))
    await do(api, "archive")
    assert (await do(api, "archive")).status == 200, "twice is once"
    for answer in (
        await put(api, echo(3)),
        await do(api, "versions/1/activate"),
        await api.call("POST", f"{WORKFLOWS}/echo/trigger?version=1"),
    ):
        assert (answer.status, answer.json["code"]) == (409, "WFENG002"), answer.text
    await put(api, echo(3), "?draft=true")
    refused = await do(api, "publish")
    assert (refused.status, refused.json["message"]) == (409, "the workflow 'echo' is archived; reactivate it first")
    back = await do(api, "reactivate")
    assert (back.json["data"]["status"], back.json["data"]["enabled"]) == ("active", True)
    assert (await do(api, "publish")).json["data"]["version"] == 3


async def test_archived_schedules_wait_and_go_on_with_their_next_slot(api: Detent) -> None:
    await post(api, echo(1, trigger={"type": "cron", "cron_expression": "0 0 1 1 *"}))
    [before] = (await api.call("GET", "/api/v1/triggers")).json["data"]
    await do(api, "archive")
    [archived] = (await api.call("GET", "/api/v1/triggers")).json["data"]
    assert (archived["enabled"], archived["next_at"]) == (True, None)
    await do(api, "reactivate")
    [after] = (await api.call("GET", "/api/v1/triggers")).json["data"]
    assert after["next_at"] == before["next_at"]
    await api.call("POST", f"/api/v1/triggers/{before['id']}/pause")
    await do(api, "archive")
    await do(api, "reactivate")
    [paused] = (await api.call("GET", "/api/v1/triggers")).json["data"]
    assert (paused["enabled"], paused["next_at"]) == (False, None), "what a person has paused stays paused"


async def test_an_archived_workflow_hears_no_event(api: Detent) -> None:
    await post(api, echo(1, trigger={"type": "event", "event": "order.paid"}))
    send = {"type": "order.paid", "data": {}}
    assert len((await api.call("POST", "/api/v1/events", json=send)).json["data"]["firings"]) == 1
    await do(api, "archive")
    assert (await api.call("POST", "/api/v1/events", json=send)).json["data"]["firings"] == []


async def test_any_version_is_read_compared_activated_and_started(detent: Detent) -> None:
    schema = {"type": "object", "required": ["n"]}
    await post(detent, echo(1, title="One", labels={"team": "a"}, trigger_schema=schema))
    await put(detent, echo(2, title="Two", description="second"))
    first = await read(detent, "?version=1")
    assert (first["version"], first["current_version"], first["title"], first["labels"]) == (1, 2, "One", {"team": "a"})
    assert first["definition"]["trigger_schema"] == schema
    assert (await read(detent))["title"] == "Two"
    assert (await read(detent, "/versions/1"))["definition"] == first["definition"]
    assert await output(detent) == (2, {"x": 2})
    assert await output(detent, "?version=1", {"n": 1}) == (1, {"x": 1})
    refused = await detent.call("POST", f"{WORKFLOWS}/echo/trigger?version=1", json={})
    assert (refused.status, refused.json["code"]) == (400, "WFENG005"), "the schema of that version counts"
    body = {"trigger": {"n": 1}, "version": 1}
    run = (await detent.call("POST", f"{WORKFLOWS}/echo/execute", json=body)).json["data"]
    assert (await detent.ended(run))["version"] == 1
    for missing, status in ((3, 404), ("draft", 409)):
        answer = await detent.call("POST", f"{WORKFLOWS}/echo/execute", json={"version": missing})
        assert answer.status == status, missing
    for wrong in (0, -1, "x", True, 2.5, 2**40):
        assert (await detent.call("POST", f"{WORKFLOWS}/echo/execute", json={"version": wrong})).status == 400, wrong
    twice = {"version": 1, "trigger": {"n": 1}}
    assert (await detent.call("POST", f"{WORKFLOWS}/echo/execute?version=2", json=twice)).status == 400
    assert (await do(detent, "versions/1/activate")).json["data"]["title"] == "One"
    assert await output(detent, body={"n": 1}) == (1, {"x": 1})
    assert (await detent.call("GET", f"{WORKFLOWS}/echo?version=9")).status == 404
    for number in (9, 0, 2**31, 2**63, 10**40):
        assert (await detent.call("GET", f"{WORKFLOWS}/echo/versions/{number}")).status == 404, number
        assert (await do(detent, f"versions/{number}/activate")).status == 404, number


async def test_a_version_that_older_code_saved_is_started_with_what_its_text_says(tmp_path: Path) -> None:
    async with serving(f"sqlite:///{tmp_path}/detent.db") as detent:
        await post(detent, echo(1, title="One", trigger_schema={"type": "object", "required": ["n"]}))
        await put(detent, echo(2, title="Two"))
        with closing(sqlite3.connect(tmp_path / "detent.db")) as file:
            file.execute("update workflow_version set facts = null")
            file.commit()
        assert [(await read(detent, f"?version={number}"))["title"] for number in (1, 2)] == ["One", "Two"]
        refused = await detent.call("POST", f"{WORKFLOWS}/echo/trigger?version=1", json={})
        assert refused.status == 400, "the schema of that version counts"
        assert await output(detent, "?version=1", {"n": 1}) == (1, {"x": 1})
        assert (await do(detent, "versions/1/activate")).json["data"]["title"] == "One"


async def test_two_versions_are_compared_field_by_field(api: Detent) -> None:
    steps = {"a": {"url": "https://a.example/x", "timeout": "10s"}, "b": {"needs": ["a"], "url": "https://b.example"}}
    await post(api, {"name": "echo", "tasks": steps})
    other = {"a": {"url": "https://a.example/y", "timeout": "10s"}, "c": {"needs": ["a"], "url": "https://c.example"}}
    await put(api, {"name": "echo", "title": "New", "tasks": other}, "?draft=true")
    found = await read(api, "/diff")
    assert (found["from"], found["to"], found["same"]) == (1, "draft", False)
    [changed] = found["steps"]["changed"]
    assert changed == {
        "name": "a",
        "fields": [{"field": "config.url", "old": "https://a.example/x", "new": "https://a.example/y"}],
    }
    assert [one["name"] for one in found["steps"]["added"]] == ["c"]
    assert [one["name"] for one in found["steps"]["removed"]] == ["b"]
    assert found["edges"]["added"] == [{"source": "a", "target": "c"}]
    assert found["edges"]["removed"] == [{"source": "a", "target": "b"}]
    assert found["settings"] == [{"field": "title", "old": None, "new": "New"}]
    assert (await read(api, "/diff?from=1&to=1"))["same"]
    for query, status in (("from=7", 404), ("from=x", 400), ("to=0", 400), ("form=1", 400)):
        assert (await api.call("GET", f"{WORKFLOWS}/echo/diff?{query}")).status == status, query
    await put(api, {"name": "echo", "tasks": {}}, "?draft=true")
    assert (await api.call("GET", f"{WORKFLOWS}/echo/diff")).status == 400, "a draft that cannot be compiled"


async def test_a_comparison_shows_no_secret(api: Detent) -> None:
    def hook(secret: str) -> dict[str, Any]:
        signature = {"preset": "github", "secrets": [secret]}
        return echo(1, trigger={"type": "webhook", "signature": signature})

    await post(api, echo(1))
    await put(api, hook("first-secret-of-all"))
    await put(api, hook("second-secret-of-all"))
    for query in ("from=2&to=3", "from=1&to=2", "from=2&to=1"):
        answer = await api.call("GET", f"{WORKFLOWS}/echo/diff?{query}")
        assert "secret-of-all" not in answer.text
        assert not answer.json["data"]["same"]


async def test_workflows_are_listed_by_status_and_by_text(api: Detent) -> None:
    await post(api, echo(1, "orders", title="All orders"))
    await post(api, echo(1, "refunds", title="Money BACK"))
    await post(api, staged(1, "drafted"))
    await do(api, "archive", "refunds")
    for query, names in {
        "status=Active": ["orders"],
        "status=archived": ["refunds"],
        "status=draft&isEnabled=true": ["drafted"],
        "search=back": ["refunds"],
        "search=R": ["drafted", "orders", "refunds"],
        "search=order&status=archived": [],
        "tenantId=default&status=active": ["orders"],
    }.items():
        found = (await api.call("GET", f"{WORKFLOWS}?{query}")).json["data"]
        assert [one["name"] for one in found] == names, query
    assert (await api.call("GET", f"{WORKFLOWS}?status=lost")).status == 400
    assert (await api.call("GET", f"{WORKFLOWS}?tenantId=other")).status == 400


@pytest.fixture
async def permissive() -> AsyncIterator[Detent]:
    async with serving("memory://", allow_draft_execution=True) as opened:
        yield opened


async def test_drafts_are_run_only_where_that_is_allowed(api: Detent, permissive: Detent) -> None:
    for detent in (api, permissive):
        await post(detent, staged(1))
        await put(detent, staged(2))
    refused = await api.call("POST", f"{WORKFLOWS}/echo/trigger?version=draft")
    assert (refused.status, refused.json["code"]) == (409, "WFENG002")
    assert "allow_draft_execution" in refused.json["message"]
    assert await output(permissive) == (-2, {"x": 2}), "a workflow that has only a draft"
    assert await output(permissive, "?version=draft") == (-2, {"x": 2})
    await do(permissive, "publish")
    await put(permissive, staged(3))
    assert await output(permissive) == (1, {"x": 2})
    assert await output(permissive, "?version=draft") == (-3, {"x": 3})
    assert [one["version"] for one in await read(permissive, "/versions")] == [1]
    assert [one["version"] for one in await read(permissive, "/versions?drafts=true")] == [-3, -2]
    assert (await do(permissive, "versions/-2/activate")).status == 404
    await put(permissive, {**staged(4), "tasks": {}}, "?draft=true")
    broken = await permissive.call("POST", f"{WORKFLOWS}/echo/trigger?version=draft")
    assert (broken.status, broken.json["code"]) == (400, "WFENG005")


async def test_parameters_that_no_input_can_render_are_found_when_that_is_asked(api: Detent) -> None:
    steps = {
        "a": {"action": "core.echo", "with": {"x": "{{ 1 / 0 }}", "y": "{{ trigger.body.never }}"}},
    }
    await post(api, {"name": "echo", "form": "staged", "tasks": steps})
    refused = await do(api, "publish?validateParameters=true")
    assert refused.status == 400
    [problem] = refused.json["details"]["validation_errors"]
    assert problem["field"] == "steps.a.with.x"
    assert (await do(api, "publish")).status == 200


async def test_a_webhook_chooses_no_version(api: Detent) -> None:
    await post(api, echo("{{ trigger.query.version }}", trigger={"type": "webhook"}))
    answer = await api.call("POST", "/webhook/workflow/trigger/echo?version=7", data="{}")
    assert answer.status < 300, answer.text
    [run] = (await api.call("GET", "/api/v1/runs")).json["data"]
    ended = await api.ended({"workflow_id": run["workflow_id"], "run_id": run["id"]})
    assert ended["tasks"]["a"]["output"] == {"x": "7"}
    assert json.dumps(ended["version"]) == "1"
