"""What a tenant may do: the actions, connectors and code that it may use, and the hosts that it may reach."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from detent.auth.caller import Caller
from detent.catalog.manifest import read_manifest
from detent.python.functions import Run, workflow
from detent.store.catalog_rows import EVERY_TENANT
from tests.steps.listeners import website
from tests.tenants.limits import CHARGE, DEFAULT, change, confined, run_to_end, save
from tests.tenants.world import A, Answer, B, World

TENANT = "/api/v1/tenants/canarya"


@workflow
async def greets_tenants(run: Run, name: str) -> str:
    return f"hello {name}"


@workflow
async def triggered_in_tenants(run: Run, name: str) -> None:
    return None


def problems(refused: Answer) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(refused.text)["details"]["validation_errors"]
    return found


def code_of(run: dict[str, Any]) -> str:
    """The code of the only error of a run."""
    [error] = [step["error"] for step in run["tasks"].values() if step.get("error")]
    return str(error["code"])


def _json(value: Any) -> web.Response:
    return web.json_response(value)


def _caller(tenant: int) -> Caller:
    return Caller(tenant, "test")


Test = Callable[[World], Coroutine[None, None, None]]


@pytest.fixture(scope="module")
def on() -> Iterator[Callable[[Test], None]]:
    """Run a test in the world that all tests of this module share. Each begins with tenants without limits."""
    opened = confined()
    with asyncio.Runner() as runner:
        world = runner.run(opened.__aenter__())

        async def alone(test: Test) -> None:
            for tenant in (DEFAULT, A, B):
                await change(world, tenant, actions=None, egress=None, retention_days=None)
            await test(world)

        yield lambda test: runner.run(alone(test))
        runner.run(opened.__aexit__(None, None, None))


def test_a_definition_with_an_action_that_its_tenant_may_not_use_is_refused_at_save(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        assert (await save(world, DEFAULT, CHARGE)).status in (200, 201), "the first tenant may use everything"
        refused = await save(world, A, CHARGE)
        assert refused.status == 400, refused.text
        [problem] = problems(refused)
        assert problem["field"] == "tasks.pay.action"
        assert problem["message"] == (
            "the tenant 'canarya' may not use the action 'billing.charge'; an instance admin allows it with "
            "`detent tenants set canarya --allow billing.charge`"
        )
        assert (await save(world, A, {"name": "say", "tasks": {"a": {"action": "core.echo"}}})).status in (200, 201)
        await change(world, A, actions=["billing.*"])
        assert (await save(world, A, CHARGE)).status in (200, 201)
        assert (await run_to_end(world, A, "charge"))["status"] == "completed"
        assert (await save(world, B, CHARGE)).status == 400, "what is allowed to one tenant is not allowed to others"

    on(test)


def test_a_step_fails_with_a_clear_code_after_the_list_of_its_tenant_was_shortened(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        await change(world, A, actions=["billing.charge"])
        assert (await save(world, A, CHARGE)).status in (200, 201)
        await change(world, A, actions=["slack.*"])
        run = await run_to_end(world, A, "charge")
        assert run["status"] == "failed"
        assert code_of(run) == "action_not_allowed"
        assert "detent tenants set canarya --allow billing.charge" in run["error"]
        assert (await save(world, DEFAULT, CHARGE)).status in (200, 201)
        assert (await run_to_end(world, DEFAULT, "charge"))["status"] == "completed"

    on(test)


def test_the_first_tenant_can_be_confined_too(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        assert (await save(world, DEFAULT, CHARGE)).status in (200, 201)
        await change(world, DEFAULT, actions=["slack.*"])
        assert (await save(world, DEFAULT, {**CHARGE, "name": "again"})).status == 400
        assert code_of(await run_to_end(world, DEFAULT, "charge")) == "action_not_allowed"

    on(test)


async def _add_connectors(world: World, url: str, version: str = "1.0.0") -> None:
    """Give the installation and the tenant A a connector each, with the same manifest."""
    for tenant, name in ((EVERY_TENANT, "shared"), (A, "own")):
        facts = f"connector: {name}, version: {version}, base_url: '{url}'"
        text = f"{{{facts}, actions: {{get: {{request: {{path: /}}}}}}}}"
        made = read_manifest(text, filename="manifest.yaml")
        await world.app.commands.for_caller(_caller(tenant)).catalog._save(tenant, made)  # noqa: SLF001 - of no tenant


def test_a_tenant_uses_its_own_connectors_and_those_that_it_was_allowed(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        async def answer(request: Any) -> Any:
            return _json({"ok": True})

        async with website(answer) as url:
            await _add_connectors(world, url)
            own = {"name": "own", "tasks": {"a": {"action": "own.get"}}}
            shared = {"name": "shared", "tasks": {"a": {"action": "shared.get"}}}
            assert (await save(world, A, own)).status in (200, 201)
            assert (await run_to_end(world, A, "own"))["status"] == "completed"
            assert (await save(world, A, shared)).status == 400
            assert (await save(world, B, own)).status == 400, "another tenant's connector does not exist"
            await change(world, A, actions=["shared.*"])
            assert (await save(world, A, shared)).status in (200, 201)
            assert (await run_to_end(world, A, "shared"))["status"] == "completed"
            await change(world, A, actions=[])
            assert code_of(await run_to_end(world, A, "shared")) == "action_not_allowed"
            assert (await run_to_end(world, A, "own"))["status"] == "completed"

    on(test)


def test_the_catalog_of_a_tenant_has_what_it_may_use_and_no_more(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        await _add_connectors(world, "https://shared.example.com", "2.0.0")

        async def ids(tenant: int, place: str) -> set[str]:
            found: set[str] = set()
            cursor: str | None = ""
            while cursor is not None:
                page = json.loads((await world.call(tenant, "GET", f"/api/v1/{place}?limit=2{cursor}")).text)
                found |= {one["id"] for one in page["data"]}
                following = page.get("next_cursor")
                cursor = None if following is None else f"&cursor={following}"
            return found

        assert {"billing.charge", "shared.get"} <= await ids(DEFAULT, "actions")
        assert await ids(A, "connectors") == {"core", "own"}
        assert {name.partition(".")[0] for name in await ids(A, "actions")} == {"core", "own"}
        facets = await world.made(A, "GET", "/api/v1/actions/facets")
        assert {one["value"] for one in facets["connectors"]} == {"core", "own"}
        for place, word in (("actions", "get"), ("connectors", "*")):
            name = f"shared.{word}" if place == "actions" else "shared"
            for tenant, missing in ((A, name), (A, "nothing.get" if place == "actions" else "nothing")):
                answer = await world.call(tenant, "GET", f"/api/v1/{place}/{missing}")
                assert answer.status == 404
                assert f"detent tenants set canarya --allow {missing.partition('.')[0]}.{word}" in answer.text
        assert (await world.call(A, "GET", "/api/v1/connectors/shared/actions")).status == 404
        assert (await world.call(A, "GET", "/api/v1/actions/own.get")).status == 200
        await change(world, A, actions=["shared.get", "billing.*"])
        assert await ids(A, "connectors") == {"billing", "core", "own", "shared"}
        assert {"billing.charge", "shared.get"} <= await ids(A, "actions")
        assert (await world.call(A, "GET", "/api/v1/actions/shared.get")).status == 200
        assert "slack" not in await ids(A, "connectors")

    on(test)


def test_code_is_started_in_a_tenant_whose_list_allows_it_and_its_row_is_made_then(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        place = "/api/v1/workflows/greets_tenants"
        assert (await world.call(A, "GET", place)).status == 404
        refused = await world.call(A, "POST", f"{place}/trigger", {"name": "Ada"})
        assert refused.status == 403, refused.text
        assert "may not use the workflow 'greets_tenants'" in refused.text
        await change(world, A, actions=["workflow:greets_tenants"])
        assert (await run_to_end(world, A, "greets_tenants", {"name": "Ada"}))["output"] == "hello Ada"
        copy = await world.made(A, "GET", place)
        original = await world.made(DEFAULT, "GET", place)
        assert copy["id"] != original["id"]
        assert (await world.call(A, "POST", f"/api/v1/workflows/{original['id']}/trigger", {})).status == 404
        assert (await run_to_end(world, A, "greets_tenants", {"name": "Bob"}))["output"] == "hello Bob"
        assert (await world.made(A, "GET", place))["current_version"] == copy["current_version"]
        assert (await world.call(B, "POST", f"{place}/trigger", {"name": "Eve"})).status == 403

        parent = {"name": "parent", "tasks": {"child": {"workflow": "greets_tenants", "with": {"name": "Joe"}}}}
        assert (await save(world, A, parent)).status in (200, 201)
        assert (await run_to_end(world, A, "parent"))["status"] == "completed"
        await change(world, A, actions=None)
        assert (await world.call(A, "POST", f"{place}/trigger", {"name": "Ada"})).status == 403
        failed = await run_to_end(world, A, "parent")
        assert (failed["status"], code_of(failed)) == ("failed", "action_not_allowed")

    on(test)


def test_a_trigger_of_code_is_made_in_a_tenant_that_never_started_it(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        trigger = {"workflow": "triggered_in_tenants", "type": "webhook", "name": "calls"}
        refused = await world.call(A, "POST", "/api/v1/triggers", trigger)
        assert refused.status == 403, refused.text
        assert "--allow workflow:triggered_in_tenants" in refused.text
        await change(world, A, actions=["workflow:triggered_in_tenants"])
        made = await world.made(A, "POST", "/api/v1/triggers", trigger)
        assert (await world.made(A, "GET", "/api/v1/workflows/triggered_in_tenants"))["id"] == made["workflow_id"]
        assert (await world.call(A, "POST", "/api/v1/triggers", {**trigger, "workflow": "missing"})).status == 404
        fired = await world.call(A, "POST", urlsplit(made["url"]).path, {"name": "Ada"})
        assert fired.status in (200, 201, 202), fired.text

    on(test)


def test_a_newer_version_of_code_reaches_the_tenants_that_use_it(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        await change(world, A, actions=["workflow:*"])
        before = await run_to_end(world, A, "greets_tenants", {"name": "Ada"})
        store, part = world.app.store, world.app.commands.for_caller(_caller(DEFAULT)).workflows
        row = await store.workflow(DEFAULT, "greets_tenants")
        assert row is not None
        newer = (await part.as_version(row.id, greets_tenants.compiled, row.source))._replace(
            checksum="another", description="newer"
        )
        await store.save_workflow(newer, replace=True)
        part._context.workflows.forget(DEFAULT, row)  # noqa: SLF001 - as the process that saves it does
        after = await run_to_end(world, A, "greets_tenants", {"name": "Ada"})
        assert after["version"] == before["version"] + 1
        assert (await world.made(A, "GET", "/api/v1/workflows/greets_tenants"))["description"] == "newer"

    on(test)


def test_http_steps_of_a_tenant_reach_only_the_hosts_of_its_list(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        async def answer(request: Any) -> Any:
            return _json({"ok": True})

        async with website(answer) as url:
            flow = {"name": "fetch", "tasks": {"get": {"url": url, "method": "GET"}}}
            assert (await save(world, A, flow)).status in (200, 201)
            await change(world, A, egress=["api.example.com"])
            refused = await run_to_end(world, A, "fetch")
            assert (refused["status"], code_of(refused)) == ("failed", "egress_denied")
            await change(world, A, egress=["api.example.com", "127.0.0.0/8"])
            assert (await run_to_end(world, A, "fetch"))["status"] == "completed"

    on(test)


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"actions": ["slack.post message"]}, "actions[0]", "is not a name or a pattern of actions"),
    ({"actions": ["slack*"]}, "actions[0]", "is not a name or a pattern"),
    ({"actions": "slack.*"}, "actions", "must be a list of texts"),
    ({"actions": ["a.b"] * 501}, "actions", "at most 500"),
    ({"egress": ["http://x"]}, "egress[0]", "is not a valid network"),
    ({"egress": ["10.0.0.1/8"]}, "egress[0]", "write 10.0.0.0/8 instead"),
    ({"egress": ["169.254.169.254"]}, "egress[0]", "only the tenant 'default' may reach"),
    ({"egress": [5]}, "egress", "must be a list of texts"),
    ({"retention_days": 0}, "retention_days", "from 1 to 3,650"),
    ({"retention_days": 3651}, "retention_days", "from 1 to 3,650"),
    ({"retention_days": True}, "retention_days", "whole number of days"),
    ({"status": "suspended"}, "status", ""),
]


def test_limits_come_back_as_they_were_sent_and_wrong_ones_are_refused_with_every_problem(
    on: Callable[[Test], None],
) -> None:
    async def test(world: World) -> None:
        given = {"actions": ["slack.*", "workflow:Invoice"], "egress": ["*.example.com"], "retention_days": 30}
        changed = await change(world, A, **given)
        assert {name: changed[name] for name in given} == given
        changed = await change(world, A, egress=None)
        assert (changed["actions"], changed["egress"]) == (given["actions"], None), "what is not sent stays"
        for limits, field, words in WRONG:
            refused = await world.call(DEFAULT, "PATCH", TENANT, limits)
            assert refused.status == 400, (limits, refused.text)
            [problem] = problems(refused)
            assert (problem["field"], words in problem["message"]) == (field, True), problem
        both = await world.call(DEFAULT, "PATCH", TENANT, {"actions": ["a b"], "retention_days": 0})
        assert len(problems(both)) == 2
        assert (await world.call(DEFAULT, "PATCH", "/api/v1/tenants/nobody", {"actions": []})).status == 404
        assert (await world.made(DEFAULT, "GET", TENANT))["actions"] == given["actions"]

    on(test)


def test_two_entries_that_are_added_or_removed_at_once_both_count(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        await change(world, A, actions=["old.one", "old.two"], egress=None)
        added = [{"add_actions": [f"new.a{number}"], "add_egress": [f"h{number}.example"]} for number in range(5)]
        removed = [{"remove_actions": ["old.one"]}, {"remove_actions": ["old.two"]}]
        await asyncio.gather(*(world.made(DEFAULT, "PATCH", TENANT, one) for one in (*added, *removed)))
        found = await world.made(DEFAULT, "GET", TENANT)
        assert sorted(found["actions"]) == [f"new.a{number}" for number in range(5)]
        assert sorted(found["egress"]) == [f"h{number}.example" for number in range(5)]
        refused = await world.call(DEFAULT, "PATCH", TENANT, {"add_actions": ["x.y"], "remove_actions": ["old.one"]})
        [problem] = problems(refused)
        assert problem["field"] == "remove_actions[0]"
        assert "'old.one' is not in the list; it has" in problem["message"]
        too_many = [f"a.b{number}" for number in range(496)]
        refused = await world.call(DEFAULT, "PATCH", TENANT, {"add_actions": too_many})
        assert "would have 501 entries" in refused.text
        assert (await world.made(DEFAULT, "GET", TENANT))["actions"] == found["actions"], "a refusal changes nothing"
        kept = await world.made(DEFAULT, "PATCH", TENANT, {"actions": ["a.b"], "add_actions": ["c.d"], "egress": None})
        assert (kept["actions"], kept["egress"]) == (["a.b", "c.d"], None)

    on(test)


def test_two_changes_of_different_limits_at_once_both_count(on: Callable[[Test], None]) -> None:
    async def test(world: World) -> None:
        changes = ({"actions": ["a.b"]}, {"egress": ["a.example"]}, {"retention_days": 7})
        await asyncio.gather(*(world.made(DEFAULT, "PATCH", TENANT, one) for one in changes))
        found = await world.made(DEFAULT, "GET", TENANT)
        assert {name: found[name] for one in changes for name in one} == {
            "actions": ["a.b"], "egress": ["a.example"], "retention_days": 7,
        }  # fmt: skip

    on(test)
