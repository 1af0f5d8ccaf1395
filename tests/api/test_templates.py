"""Templates over the API: workflows that are made of templates, and documents that are rendered."""

from __future__ import annotations

import json
from typing import Any

from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Answer, Detent, serving

TEMPLATES = "/api/v1/templates"
WORKFLOWS = f"{TEMPLATES}/workflows"
SETS = "/api/v1/template-sets"
ECHO: dict[str, Any] = {
    "id": "echo-twice",
    "displayName": "Echo twice",
    "category": "own things",
    "tags": ["Echo"],
    "configSchema": {
        "type": "object",
        "required": ["text"],
        "additionalProperties": False,
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer", "default": 3},
            "note": {"type": "string"},
            "names": {"type": "array", "items": {"type": "string"}, "default": []},
        },
    },
    "definition": {
        "tasks": {
            "a": {
                "action": "core.echo",
                "with": {
                    "text": "${config.text}",
                    "count": "${config.count}",
                    "said": "${config.text} for {{ trigger.body.name }}",
                    "note": "${config.note}",
                    "names": "${config.names}",
                },
            },
            "b": {"needs": ["a"], "if": "tasks.a.output.text == ${config.text}", "action": "core.echo"},
        }
    },
}
BRIEF: dict[str, Any] = {
    "set": "project-briefs",
    "id": "mobile-app",
    "title": "Mobile app",
    "format": "html",
    "fields": {
        "fields": [{"id": "title"}],
        "validation": {
            "jsonSchema": {
                "type": "object",
                "required": ["title", "deadline"],
                "properties": {"title": {"type": "string"}, "deadline": {"type": "string", "format": "date"}},
            }
        },
    },
    "body": "<h1>{{ title }}</h1>{% for one in answers.people %}<b>{{ one }}</b>{% endfor %}",
    "help": "# How to\nanswer",
}


async def post(detent: Detent, path: str, body: Any = None) -> Answer:
    return await detent.call("POST", path, json={} if body is None else body)


def problems(answer: Answer) -> dict[str, str]:
    assert answer.status == 400, answer.text
    return {one["field"]: one["message"] for one in answer.json["details"]["validation_errors"]}


async def output_of(detent: Detent, workflow: str, body: Any = None) -> dict[str, Any]:
    started = await detent.start(workflow, body or {})
    run = await detent.ended(started)
    assert run["status"] == "completed", run
    return run


async def test_a_template_becomes_a_draft_that_is_published_and_run(detent: Detent) -> None:
    created = await post(detent, WORKFLOWS, ECHO)
    assert created.status == 201, created.text
    assert created.json["data"]["is_official"] is False
    made = await post(
        detent, f"{WORKFLOWS}/echo-twice/instantiate", {"displayName": "My Écho!", "config": {"text": "hi"}}
    )
    assert made.status == 201, made.text
    assert (made.json["data"]["workflow"], made.json["data"]["status"]) == ("my-echo", "draft")
    assert made.json["data"]["problems"] == []
    published = await post(detent, "/api/v1/workflows/my-echo/publish")
    assert published.status == 200, published.text
    run = await output_of(detent, "my-echo", {"name": "Ada"})
    assert run["tasks"]["a"]["output"] == {
        "text": "hi", "count": 3, "said": "hi for Ada", "note": None, "names": [],
    }  # fmt: skip
    assert run["tasks"]["b"]["status"] == "success"
    workflow = (await detent.call("GET", "/api/v1/workflows/my-echo")).json["data"]
    assert workflow["title"] == "My Écho!"


ODD_TEXTS = (
    "{{ trigger.body.secret }}", "{{{{x}}}}", "{", "{{", "}}", "' || true || '", "a {% raw %} ${config.count}", "{{'",
    '"}} {{ trigger.body.secret }}', "\\", "\\' + trigger.body.secret + '", "\n{{\n", "{{ '{{' }}",
)  # fmt: skip


async def test_a_value_with_an_expression_in_it_stays_text(api: Detent) -> None:
    await post(api, WORKFLOWS, ECHO)
    for number, text in enumerate(ODD_TEXTS):
        name, config = f"w{number}", {"text": text, "names": [text, "x"]}
        made = await post(api, f"{WORKFLOWS}/echo-twice/instantiate", {"name": name, "config": config})
        assert made.status == 201, made.text
        assert made.json["data"]["problems"] == []
        await post(api, f"/api/v1/workflows/{name}/publish")
        run = await output_of(api, name, {"name": "N", "secret": "s3cret"})
        found = run["tasks"]["a"]["output"]
        assert (found["text"], found["said"], found["names"]) == (text, f"{text} for N", [text, "x"])
        assert run["tasks"]["b"]["status"] == "success", "the value is one text in the condition too"


async def test_every_problem_of_a_config_is_listed(api: Detent) -> None:
    await post(api, WORKFLOWS, ECHO)
    place = f"{WORKFLOWS}/echo-twice/instantiate"
    wrong = await post(api, place, {"name": "w", "config": {"count": "many", "names": [1], "other": 1}})
    assert set(problems(wrong)) == {"config", "config.count", "config.names[0]", "config.text"}
    assert wrong.json["code"] == "WFENG005"
    assert set(problems(await post(api, place, {"nmae": "w", "config": []}))) == {"nmae", "config"}
    assert (await post(api, f"{WORKFLOWS}/nope/instantiate", {})).status == 404
    assert set(problems(await post(api, place, {"displayName": "日本", "config": {"text": ""}}))) == {"name"}


async def test_a_template_never_replaces_a_workflow_that_exists(api: Detent) -> None:
    await post(api, WORKFLOWS, ECHO)
    await api.save('{"name": "w", "tasks": {"a": {"action": "core.echo"}}}')
    taken = await post(api, f"{WORKFLOWS}/echo-twice/instantiate", {"name": "w", "config": {"text": "x"}})
    assert (taken.status, taken.json["code"]) == (409, "name_taken")
    assert "draft" not in (await api.call("GET", "/api/v1/workflows/w")).json["data"]


async def test_a_value_that_is_used_often_cannot_fill_the_memory(api: Detent) -> None:
    many = {f"t{n}": {"action": "core.echo", "with": {"x": "${config.text}"}} for n in range(500)}
    await post(api, WORKFLOWS, {**ECHO, "definition": {"tasks": many}})
    config = {"text": "x" * 100_000}
    answer = await post(api, f"{WORKFLOWS}/echo-twice/instantiate", {"name": "w", "config": config})
    assert list(problems(answer)) == ["config"]


async def test_every_problem_of_a_new_template_is_listed(api: Detent) -> None:
    definition = {
        "tasks": {
            "a": {
                "action": "core.echo",
                "with": {"x": "${config.txet}", "y": "${config}", "z": "{{ '${config.text}' }}"},
            },
            "b": {"action": "core.echo", "if": "x == '${config.text}'", "with": {"x": "{{ ${config.text} "}},
        }
    }
    found = problems(await post(api, WORKFLOWS, {**ECHO, "definition": definition}))
    assert set(found) == {
        "definition.tasks.a.with.x", "definition.tasks.a.with.y", "definition.tasks.a.with.z",
        "definition.tasks.b.if", "definition.tasks.b.with.x",
    }  # fmt: skip
    assert "did you mean 'text'?" in found["definition.tasks.a.with.x"]
    schema = {"type": "objekt", "properties": {"text": {"$ref": "https://x.example/y"}}}
    assert {"config_schema.type", "config_schema.properties.text.$ref"} <= set(
        problems(await post(api, WORKFLOWS, {**ECHO, "configSchema": schema}))
    )
    plain = problems(await post(api, WORKFLOWS, {"id": "a/b", "tags": [1], "titel": 1}))
    assert set(plain) == {"id", "title", "definition", "tags", "titel"}


async def test_workflow_templates_are_listed_in_pages_and_filtered(api: Detent) -> None:
    await post(api, WORKFLOWS, ECHO)
    ids: list[str] = []
    more = ""
    while True:
        page = (await api.call("GET", f"{WORKFLOWS}?limit=4{more}")).json
        ids += [one["id"] for one in page["data"]]
        if page["next_cursor"] is None:
            break
        more = f"&cursor={page['next_cursor']}"
    assert ids == sorted(ids)
    assert {"echo-twice", "onboarding-with-approval"} <= set(ids)
    assert len(ids) >= 11

    async def found(query: str) -> list[str]:
        return [one["id"] for one in (await api.call("GET", f"{WORKFLOWS}?{query}")).json["data"]]

    assert await found("isOfficial=false") == ["echo-twice"]
    assert "echo-twice" not in await found("isOfficial=true")
    assert await found("category=own%20things") == ["echo-twice"]
    assert await found("search=TWICE") == ["echo-twice"]
    assert (await api.call("GET", f"{WORKFLOWS}?limit=0&colour=red")).status == 400
    assert (await api.call("GET", f"{WORKFLOWS}?cursor=abc")).status == 400


async def test_only_own_workflow_templates_are_deleted_and_ids_are_unique(api: Detent) -> None:
    assert (await post(api, WORKFLOWS, ECHO)).status == 201
    assert (await post(api, WORKFLOWS, ECHO)).status == 409
    assert (await post(api, WORKFLOWS, {**ECHO, "id": "trial-expiry"})).status == 409
    assert (await api.call("DELETE", f"{WORKFLOWS}/trial-expiry")).status == 403
    gone = await api.call("DELETE", f"{WORKFLOWS}/echo-twice")
    assert (gone.status, gone.json["data"]["id"]) == (200, "echo-twice")
    assert (await api.call("DELETE", f"{WORKFLOWS}/echo-twice")).status == 404
    assert (await api.call("GET", f"{WORKFLOWS}/echo-twice")).status == 404


async def test_a_document_is_rendered_of_answers_that_match_its_schema(api: Detent) -> None:
    created = await post(api, TEMPLATES, BRIEF)
    assert created.status == 201, created.text
    assert created.json["data"]["version"] == 1
    answers = {"title": "<Redesign>", "deadline": "2026-12-01", "people": ["Ada", "Bob"]}
    made = await post(api, f"{TEMPLATES}/mobile-app/render?version=1", {"answers": answers})
    assert made.status == 200, made.text
    assert made.json["data"]["rendered_body"] == "<h1>&lt;Redesign&gt;</h1><b>Ada</b><b>Bob</b>"
    assert made.json["data"]["metadata"]["version"] == 1
    wrong = await post(api, f"{TEMPLATES}/mobile-app/render", {"answers": {"deadline": "soon", "people": []}})
    assert set(problems(wrong)) == {"answers.title", "answers.deadline"}
    missing = await post(api, f"{TEMPLATES}/mobile-app/render", {"answers": {"title": "x", "deadline": "2026-12-01"}})
    assert problems(missing) == {"body": "line 1: undefined value"}
    assert missing.json["code"] == "render_failed"


async def test_a_document_template_that_is_not_there_or_disabled_is_wfeng004(api: Detent) -> None:
    await post(api, TEMPLATES, BRIEF)
    for method, path in (
        ("GET", "/nope"), ("GET", "/mobile-app?version=2"), ("GET", "/other/mobile-app"), ("POST", "/nope/render"),
        ("POST", "/mobile-app/render?version=7"), ("POST", "/mobile-app/render?set=other"), ("POST", "/nope/disable"),
        ("POST", "/mobile-app/enable?version=3"),
    ):  # fmt: skip
        answer = await api.call(method, TEMPLATES + path, json={})
        assert (answer.status, answer.json["code"]) == (404, "WFENG004"), path
    good = {"answers": {"title": "x", "deadline": "2026-12-01", "people": []}}
    assert (await post(api, f"{TEMPLATES}/mobile-app/disable")).json["data"]["enabled"] is False
    refused = await post(api, f"{TEMPLATES}/mobile-app/render?version=1", good)
    assert (refused.status, refused.json["code"]) == (404, "WFENG004")
    assert "disabled" in refused.json["message"]
    await post(api, f"{TEMPLATES}/mobile-app/enable?version=1")
    assert (await post(api, f"{TEMPLATES}/mobile-app/render", good)).status == 200
    await api.call("PUT", f"{SETS}/project-briefs", json={"title": "Briefs", "team": "product", "enabled": False})
    assert (await post(api, f"{TEMPLATES}/mobile-app/render", good)).status == 404


async def test_a_new_text_is_a_new_version_and_the_old_one_renders_as_before(api: Detent) -> None:
    await post(api, TEMPLATES, {**BRIEF, "fields": {}, "body": "one {{ x }}"})
    change = {"title": "Mobile app", "format": "html", "body": "two {{ x }}"}
    place = f"{TEMPLATES}/mobile-app"
    second = await api.call("PUT", place, json=change)
    assert (second.status, second.json["changed"], second.json["data"]["version"]) == (201, True, 2)
    again = await api.call("PUT", place, json=change)
    assert (again.status, again.json["changed"], again.json["data"]["version"]) == (200, False, 2)
    for version, text in (("1", "one 5"), ("2", "two 5")):
        made = await post(api, f"{place}/render?version={version}", {"answers": {"x": 5}})
        assert made.json["data"]["rendered_body"] == text
    assert (await post(api, f"{place}/render", {"answers": {"x": 5}})).json["data"]["rendered_body"] == "two 5"
    read = (await api.call("GET", f"{TEMPLATES}/project-briefs/mobile-app?version=1")).json["data"]
    assert (read["body"], read["versions"], read["version"]) == ("one {{ x }}", [2, 1], 1)
    assert (await post(api, TEMPLATES, BRIEF)).status == 409
    elsewhere = await api.call("PUT", place, json={**change, "id": "other"})
    assert list(problems(elsewhere)) == ["id"]


async def test_an_id_that_several_sets_have_needs_its_set(api: Detent) -> None:
    await post(api, TEMPLATES, BRIEF)
    await post(api, TEMPLATES, {**BRIEF, "set": "sales-briefs"})
    assert "project-briefs, sales-briefs" in problems(await api.call("GET", f"{TEMPLATES}/mobile-app"))["set"]
    assert (await api.call("GET", f"{TEMPLATES}/mobile-app?set=sales-briefs")).json["data"]["set"] == "sales-briefs"
    assert (await api.call("PUT", f"{TEMPLATES}/mobile-app", json={"title": "x", "body": "y"})).status == 400


async def test_document_templates_are_listed_by_team_and_set_without_texts(api: Detent) -> None:
    made = await api.call("PUT", f"{SETS}/sales", json={"displayName": "Sales", "team": "sales"})
    assert (made.status, made.json["data"]["title"]) == (201, "Sales")
    for place, id_ in (("sales", "offer"), ("project-briefs", "web"), ("project-briefs", "app")):
        assert (await post(api, TEMPLATES, {**BRIEF, "set": place, "id": id_})).status == 201

    async def found(query: str) -> list[str]:
        page = (await api.call("GET", f"{TEMPLATES}?{query}")).json
        assert all("body" not in one for one in page["data"])
        return [one["id"] for one in page["data"]]

    assert await found("") == ["app", "web", "offer"]
    assert await found("team=sales") == ["offer"]
    assert await found("set=project-briefs") == ["app", "web"]
    first = (await api.call("GET", f"{TEMPLATES}?limit=2")).json
    assert await found(f"limit=2&cursor={first['next_cursor']}") == ["offer"]
    sets = (await api.call("GET", f"{SETS}?limit=1")).json
    assert [one["id"] for one in sets["data"]] == ["project-briefs"]
    assert (await api.call("GET", f"{SETS}?team=sales")).json["data"][0]["id"] == "sales"


async def test_bad_document_templates_are_refused_with_every_problem(api: Detent) -> None:
    assert set(problems(await post(api, TEMPLATES, {"set": "workflows", "format": "pdf", "fields": []}))) == {
        "set", "id", "title", "body", "format", "fields",
    }  # fmt: skip
    bad = await post(api, TEMPLATES, {**BRIEF, "body": "ok\n{% for x in %}"})
    assert list(problems(bad)) == ["body"]
    assert problems(bad)["body"].startswith("line 2: ")
    schema = {"validation": {"jsonSchema": {"type": "nothing"}}}
    assert list(problems(await post(api, TEMPLATES, {**BRIEF, "fields": schema}))) == [
        "fields.validation.jsonSchema.type"
    ]
    large = await post(api, TEMPLATES, {**BRIEF, "body": "x" * 300_000})
    assert list(problems(large)) == ["body"]
    assert (await api.call("GET", f"{TEMPLATES}/mobile-app")).status == 404, "nothing was stored"


def rendering(version: Any = 1, **parameters: Any) -> str:
    step = {"templateSetId": "project-briefs", "templateId": "mobile-app", "version": version, **parameters}
    return json.dumps(
        {
            "name": "brief",
            "tasks": {
                "render": {"action": "core.template.render", "with": {"answers": "{{ trigger.body }}", **step}},
                "show": {
                    "needs": ["render"],
                    "action": "core.echo",
                    "with": {"text": "{{ tasks.render.output.body }}"},
                },
            },
        }
    )


@EVERY_DATABASE
async def test_a_step_renders_a_document_and_later_steps_read_it(detent: Detent) -> None:
    await post(detent, TEMPLATES, BRIEF)
    await detent.save(rendering())
    run = await output_of(detent, "brief", {"title": "A & B", "deadline": "2026-12-01", "people": []})
    assert run["tasks"]["show"]["output"] == {"text": "<h1>A &amp; B</h1>"}
    assert run["tasks"]["render"]["output"]["metadata"] == {
        "templateSetId": "project-briefs", "templateId": "mobile-app", "version": 1, "displayName": "Mobile app",
        "format": "html",
    }  # fmt: skip


async def test_a_step_whose_document_cannot_be_rendered_fails_at_once(api: Detent) -> None:
    await post(api, TEMPLATES, BRIEF)
    for definition, body, code in (
        (rendering(4), {}, "WFENG004"),
        (rendering("one"), {}, "invalid_parameters"),
        (rendering(1, other=1), {}, "invalid_parameters"),
        (rendering(), {"title": 1}, "invalid_parameters"),
        (rendering(), {"title": "x", "deadline": "2026-12-01"}, "render_failed"),
    ):
        await api.call("PUT", "/api/v1/workflows/brief", data=definition)
        run = await api.ended(await api.start("brief", body))
        step = run["tasks"]["render"]
        assert (run["status"], step["error"]["code"], len(step["attempts"])) == ("failed", code, 1)


async def test_templates_outlive_a_restart(database_url: str) -> None:
    async with serving(database_url) as first:
        await post(first, TEMPLATES, BRIEF)
        await post(first, WORKFLOWS, ECHO)
    async with serving(database_url) as second:
        assert (await second.call("GET", f"{TEMPLATES}/mobile-app")).json["data"]["help"] == "# How to\nanswer"
        assert (await second.call("GET", f"{WORKFLOWS}/echo-twice")).json["data"]["definition"] == ECHO["definition"]
