"""A tenant that names an object of another one, by id or by name, finds what it would find if that did not exist."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from aiohttp import web

from detent import Link, Linked
from detent.catalog.manifest import read_manifest
from detent.ids import RUN, WORKFLOW, new_id, parse, show
from detent.python.functions import Run, workflow
from detent.steps.actions import registry
from tests.api.rules import SAVE
from tests.api.server import PATIENCE
from tests.steps.listeners import website
from tests.tenants.limits import change, confined, run_to_end, save
from tests.tenants.test_limits import _caller, code_of, problems
from tests.tenants.world import A, Answer, B, World

Test = Callable[[World], Coroutine[None, None, None]]
TOKEN = "token of the operator"


@workflow
async def counts_in_its_tenant(run: Run, number: int) -> int:
    if number < 2:
        run.continue_as_new(number + 1)
    return number


def link_item() -> Linked:
    return Linked({"id": "17"}, [Link("monday", "item", "17")])


@pytest.fixture(scope="module")
def on() -> Iterator[Callable[[Test], None]]:
    """Run a test in the world that all tests of this module share. Both tenants may use all code."""
    registry.add("board.create", link_item)
    opened = confined()
    with asyncio.Runner() as runner, pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONNECTOR_CRM_TOKEN", TOKEN)
        world = runner.run(opened.__aenter__())
        for tenant in (A, B):
            runner.run(change(world, tenant, actions=["*"]))
        yield lambda test: runner.run(test(world))
        runner.run(opened.__aexit__(None, None, None))
    registry._actions.pop("board.create")  # noqa: SLF001 - a registry has no other end


async def made_by(world: World, tenant: int, definition: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = await world.made(tenant, "PUT", f"/api/v1/workflows/{definition['name']}", definition)
    return found


async def listed(world: World, tenant: int, workflow: str, count: int) -> list[dict[str, Any]]:
    """The runs of a workflow, as soon as there are so many."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found: list[dict[str, Any]] = await world.made(tenant, "GET", f"/api/v1/runs?workflow={workflow}")
            if len(found) >= count:
                return found
            await asyncio.sleep(0.02)  # the API is polled, as any of its users would


def warnings(answer: Answer) -> str:
    assert answer.status in (200, 201), answer.text
    return " ".join(json.loads(answer.text)["data"].get("warnings") or ())


ECHO: dict[str, Any] = {"name": "bs-own", "tasks": {"say": {"action": "core.echo"}}}


@pytest.mark.case("K2")
def test_a_child_step_does_not_find_the_workflow_of_another_tenant(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        own = await made_by(world, B, ECHO)
        absent = show(WORKFLOW, new_id())
        said = []
        for number, named in enumerate((own["id"], own["name"], absent)):
            flow: dict[str, Any] = {"name": f"parent-{number}", "tasks": {"child": {"workflow": named}}}
            assert f"there is no workflow '{named}'" in warnings(await save(world, A, flow))
            run = await run_to_end(world, A, flow["name"])
            assert (run["status"], code_of(run)) == ("failed", "not_found")
            said.append(run["tasks"]["child"]["error"]["message"].replace(named, ""))
        assert len(set(said)) == 1
        graph = {
            "id": "published-parent", "displayName": "Parent", "startNode": "child",
            "nodes": [{"id": "child", "nodeType": "subworkflow", "workflowId": own["id"]}],
        }  # fmt: skip
        assert (await world.call(A, "POST", "/api/v1/workflows", graph)).status == 201
        refused = await world.call(A, "POST", "/api/v1/workflows/published-parent/publish")
        assert refused.status == 400, refused.text
        assert f"there is no workflow '{own['id']}'" in refused.text

    on(test)


@pytest.mark.case("K2")
def test_a_trigger_is_not_made_for_the_workflow_of_another_tenant(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        own = await made_by(world, B, ECHO)
        answers = []
        for named in (own["id"], own["name"], show(WORKFLOW, new_id())):
            given = {"type": "webhook", "workflow": named}
            answer = await world.call(A, "POST", "/api/v1/triggers", given)
            answers.append((answer.status, answer.text.replace(named, "")))
        assert len(set(answers)) == 1
        assert answers[0][0] in (400, 404), answers[0]

    on(test)


@pytest.mark.case("K2")
def test_an_event_reaches_only_triggers_of_its_own_tenant(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        listens = {**ECHO, "name": "listens", "trigger": {"type": "event", "event": "order.paid"}}
        await made_by(world, B, listens)
        paid = {"type": "order.paid", "data": {}}
        for tenant in (A, B):
            await world.made(tenant, "POST", "/api/v1/events", paid)
        assert len(await listed(world, B, "listens", 1)) == 1

    on(test)


async def _foreign_version(world: World, definition: dict[str, Any]) -> str:
    """Store what B has compiled as a version of A: whatever a save refuses, the run must refuse it too."""
    part = world.app.commands.for_caller(_caller(B)).workflows
    compiled = await part.compile(json.dumps(definition), filename="flow.json")
    version = await part.as_version(new_id(), compiled, json.dumps(definition))
    await world.app.store.save_workflow(version._replace(tenant=A, id=new_id()), replace=True)
    return str(definition["name"])


@pytest.mark.case("K2")
def test_an_action_of_another_tenants_connector_is_refused_at_save_and_at_run(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        text = "{connector: bcrm, version: 1.0.0, base_url: 'http://127.0.0.1:9', actions: {get: {request: {path: /}}}}"
        catalog = world.app.commands.for_caller(_caller(B)).catalog
        await catalog.add(read_manifest(text, filename="bcrm.yaml"))
        flow = {"name": "asks-bcrm", "tasks": {"get": {"action": "bcrm.get"}}}
        refused = await save(world, A, flow)
        assert refused.status == 400
        assert "bcrm.get" in problems(refused)[0]["message"]
        name = await _foreign_version(world, flow)
        run = await run_to_end(world, A, name)
        assert (run["status"], code_of(run)) == ("failed", "unknown_action")

    on(test)


@pytest.mark.case("K2")
async def test_on_a_shared_database_such_an_action_is_like_one_of_nothing(postgres_database: str) -> None:
    # Another node may have an action that this one does not know. So it is saved, and its run waits for that node.
    heard: list[str] = []

    async def listen(request: web.Request) -> web.Response:
        heard.append(request.path)
        return web.json_response({})

    async with website(listen) as url, confined(postgres_database) as world:
        for tenant in (A, B):
            await change(world, tenant, actions=["*"])
        text = f"{{connector: bcrm, version: 1.0.0, base_url: '{url}', actions: {{get: {{request: {{path: /}}}}}}}}"
        await world.app.commands.for_caller(_caller(B)).catalog.add(read_manifest(text, filename="bcrm.yaml"))
        told, runs = [], []
        for action in ("bcrm.get", "zcrm.get"):
            name = f"asks-{action[0]}"
            saved = await save(world, A, {"name": name, "tasks": {"get": {"action": action}}})
            told.append(warnings(saved).replace(action, "").replace(name, ""))
            started = await world.made(A, "POST", f"/api/v1/workflows/{name}/trigger", {})
            runs.append(started["run_id"])
        assert told[0] == told[1]
        await save(world, B, {"name": "asks", "tasks": {"get": {"action": "bcrm.get"}}})
        assert (await run_to_end(world, B, "asks"))["status"] == "completed"
        shown = [await world.made(A, "GET", f"/api/v1/runs/{run}") for run in runs]
        states = [(one["status"], one["tasks"]["get"]["status"], one["stage"]["kind"]) for one in shown]
        assert states[0] == states[1]
        assert shown[0]["finished_at"] is None
        assert heard == ["/"]


@pytest.mark.case("K2")
def test_a_connector_with_the_name_of_a_connection_of_the_operator_does_not_get_its_token(
    on: Callable[[Test], None],
) -> None:
    async def test(world: World) -> None:
        heard: list[str | None] = []

        async def listen(request: web.Request) -> web.Response:
            heard.append(request.headers.get("Authorization"))
            return web.json_response({})

        async with website(listen) as url:
            text = (
                f"{{connector: crm, version: 1.0.0, base_url: '{url}', auth: {{type: bearer}}, "
                "actions: {get: {request: {path: /}}}}"
            )
            await world.app.commands.for_caller(_caller(A)).catalog.add(read_manifest(text, filename="crm.yaml"))
            assert (await save(world, A, {"name": "steals", "tasks": {"get": {"action": "crm.get"}}})).status == 201
            run = await run_to_end(world, A, "steals")
            assert code_of(run) == "missing_credential"
            assert "detent credentials set crm" in run["error"]
            imported = {"url": f"{url}/mcp", "name": "crm", "with_token": True}
            answer = await world.call(A, "POST", "/api/v1/connectors/import/mcp", imported)
            assert 400 <= answer.status < 500, answer.text
        assert f"Bearer {TOKEN}" not in heard

    on(test)


@pytest.mark.case("K2")
def test_a_secret_of_another_tenant_is_not_opened(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        await world.made(B, "PUT", "/api/v1/secrets/BKEY", {"value": "secret of tenant b"})
        flow = {"name": "opens", "tasks": {"say": {"action": "core.echo", "with": {"key": "{{secrets.BKEY}}"}}}}
        assert "there is no secret 'BKEY'" in warnings(await save(world, A, flow))
        run = await run_to_end(world, A, "opens")
        assert (run["status"], code_of(run)) == ("failed", "missing_secret")
        assert "secret of tenant b" not in json.dumps(run)

    on(test)


@pytest.mark.case("K2")
def test_a_credential_of_another_tenant_is_not_sent(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        heard: list[str | None] = []

        async def listen(request: web.Request) -> web.Response:
            heard.append(request.headers.get("Authorization"))
            return web.json_response({})

        async with website(listen) as url:
            token = {"kind": "token", "hosts": [url.removeprefix("http://")], "token": "credential of tenant b"}
            await world.made(B, "PUT", "/api/v1/credentials/bcred", token)
            flow = {"name": "sends", "tasks": {"get": {"url": url, "method": "GET", "credential": "bcred"}}}
            assert "'bcred' of the step 'get' is not stored" in warnings(await save(world, A, flow))
            run = await run_to_end(world, A, "sends")
            assert (run["status"], code_of(run)) == ("failed", "missing_credential")
        assert heard == []

    on(test)


@pytest.mark.case("K2")
def test_templates_of_another_tenant_are_neither_rendered_nor_instantiated(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        brief = {"title": "b", "body": "text of tenant b {{ answers }}"}
        await world.made(B, "PUT", "/api/v1/templates/b-brief?set=b-set", brief)
        step = {"action": "core.template.render", "with": {"templateId": "b-brief", "templateSetId": "b-set"}}
        for tenant, status in ((A, "failed"), (B, "completed")):
            await made_by(world, tenant, {"name": "renders", "tasks": {"render": step}})
            run = await run_to_end(world, tenant, "renders")
            assert (run["status"], "text of tenant b" in json.dumps(run)) == (status, tenant == B), run
        template = {
            "id": "b-say", "title": "b", "config_schema": {"type": "object", "properties": {}},
            "definition": {"tasks": {"say": {"action": "core.echo"}}},
        }  # fmt: skip
        await world.made(B, "POST", "/api/v1/templates/workflows", template)
        place = "/api/v1/templates/workflows/{}/instantiate"
        answers = [await world.call(A, "POST", place.format(name), {"name": "mine"}) for name in ("b-say", "no-say")]
        assert [answer.status for answer in answers] == [404, 404]
        assert answers[0].text.replace("b-say", "no-say") == answers[1].text

    on(test)


@pytest.mark.case("K2")
def test_a_rule_does_not_find_the_entity_of_another_tenant(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        entity = await world.made(B, "POST", "/api/v1/entities", {"name": "border", "title": "B"})
        alert = {"alert_type": "x", "severity": "low", "title": "x", "message": "x"}
        rule = {
            **SAVE, "name": "reads b", "trigger_conditions": None, "canvas_layout": {},
            "actions": [{"id": None, "name": "Create Alert", "action_config": alert, "execution_order": 1}],
            "edges": [{"source_action_id": None, "target_action_id": "temp:0", "edge_type": "start"}],
        }  # fmt: skip
        for named in (entity["id"], "border"):
            refused = await world.call(A, "POST", "/api/v1/rules/full", {**rule, "entity_id": named})
            assert refused.status == 400, refused.text
            assert f"there is no entity '{named}'" in refused.text

    on(test)


@pytest.mark.case("K2")
def test_a_run_that_continues_stays_in_its_tenant(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        first: dict[str, Any] = {}
        for tenant in (B, A):
            first = await run_to_end(world, tenant, "counts_in_its_tenant", {"number": 0})
            runs = await listed(world, tenant, "counts_in_its_tenant", 3)
            assert {run["workflow_id"] for run in runs} == {first["workflow_id"]}
        other = await world.app.store.run(B, parse(RUN, first["id"]))
        assert other is None

    on(test)


@pytest.mark.case("K2")
def test_a_link_of_one_tenant_does_not_block_another_or_name_its_run(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        for tenant in (A, B):
            await made_by(world, tenant, {"name": "links", "tasks": {"create": {"action": "board.create"}}})
            assert (await run_to_end(world, tenant, "links"))["status"] == "completed"
        again = await run_to_end(world, B, "links")
        assert code_of(again) == "WFENG003", "the second run of the same tenant"
        [own] = await world.made(A, "GET", "/api/v1/runs?workflow=links")
        assert own["id"] not in json.dumps(again)

    on(test)
