"""A caller cannot tell what another tenant has: a foreign id is answered like one that names nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Coroutine, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from litestar import Litestar, get
from litestar.params import FromPath
from sqlalchemy import select

from detent.api.app import build_routes
from detent.auth.policy import OBJECTS, POLICY, Access
from detent.store.protocol import Store
from detent.store.sql.schema import metadata
from tests.api.rules import SAVE
from tests.store.statement_walls import OWNED
from tests.tenants import matrix
from tests.tenants.matrix import body_of, cases, operations, plain
from tests.tenants.world import CANARIES, A, Answer, B, World, absent, two_tenants

#: Headers that differ between any two answers.
_VARIABLE = {"content-length", "etag", "last-modified", "location", "date"}
_VERSION = re.compile(r'"current_version":\d+,|"changed":\w+')
_HINT = re.compile(r"; (did you mean|add it with)[^\"]*")
#: Lists of the whole installation, and streams without an end.
_NOT_LISTS = {"list_tenants", "_handler", "show_openapi", "list_nodes", "list_queues", "get_storage", "stream_topics"}


class Stage:
    """Two tenants that all tests of this module share, and the loop on which they live."""

    def __init__(self, runner: asyncio.Runner, world: World) -> None:
        self.world = world
        self._runner = runner

    def run(self, test: Callable[[World], Coroutine[None, None, None]]) -> None:
        self._runner.run(test(self.world))


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    opened = two_tenants(f"sqlite:///{tmp_path_factory.mktemp('matrix')}/detent.db")
    with asyncio.Runner() as runner:
        yield Stage(runner, runner.run(opened.__aenter__()))
        runner.run(opened.__aexit__(None, None, None))


async def checksum(store: Store, tenant: int) -> dict[str, str]:
    """A digest of every row of a tenant, by table. What the engine does on its own is not in it."""
    found = {}
    for name in sorted(OWNED):
        table = metadata.tables[name]
        columns = [column for column in table.c if column.name not in ("owner", "epoch", "wake_at", "stage_epoch")]
        rows = await _rows(store, columns, table, tenant)
        found[name] = hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
    return found


async def _rows(store: Any, columns: Any, table: Any, tenant: int) -> list[Any]:
    access = store.run.__self__._access  # noqa: SLF001 - no verb reads everything
    return [tuple(row) for row in await access.query(select(*columns).where(table.c.tenant == tenant), {})]


def shown(answer: Answer, value: str) -> tuple[int, str, dict[str, str]]:
    headers = {name: text for name, text in answer.headers.items() if name not in _VARIABLE}
    return answer.status, plain(answer.text, value), headers


@pytest.mark.case("K1")
def test_no_list_filter_or_search_shows_what_another_tenant_has(stage: Stage) -> None:
    async def check(world: World) -> None:
        names = ("workflow", "run", "trigger", "entity", "connector", "rule")
        queries = [{}, {"limit": "200"}, *({name: world.objects[B][name][-1]} for name in names)]
        queries += [{"hero": "canaryb1:canaryb1"}, {"label": "team:canaryb1"}, {"q": "canaryb"}, {"search": "canaryb"}]
        found = []
        for operation, method, path in operations(build_routes()):
            line = POLICY[operation].need
            if method != "GET" or "{" in path or line is Access.PUBLIC or operation in _NOT_LISTS:
                continue
            for query in queries:
                answer = await world.call(A, "GET", f"{path}?{urlencode(query)}")
                text = answer.text
                for value in query.values():
                    text = text.replace(value, "")
                if CANARIES[B] in text or answer.status >= 500:
                    found.append(f"{operation} {query}: {answer}")
                if any(one in text for one in world.objects[B]["run"] + world.objects[B]["trigger"]):
                    found.append(f"{operation} {query}: an id of B")
        assert not found, "\n".join(found)

    stage.run(check)


@pytest.mark.case("K1")
def test_a_foreign_id_is_answered_like_a_missing_one_and_changes_nothing(stage: Stage) -> None:
    async def check(world: World) -> None:
        before, differ, count, asked = await checksum(world.app.store, B), [], 0, 0
        for case in cases(build_routes(), world):
            foreign = await world.call(A, case.method, case.foreign, body_of(case, case.value))
            missing = await world.call(A, case.method, case.missing, body_of(case, case.other))
            count += 1
            if shown(foreign, case.value) != shown(missing, case.other):
                differ.append(f"{case.operation} {case.method} {case.foreign}: {foreign} is not {missing}")
            if foreign.status >= 500 or CANARIES[B] in foreign.text.replace(case.value, ""):
                differ.append(f"{case.operation} {case.method} {case.foreign}: {foreign}")
            if [str(one) for one in foreign.asked] != [str(one) for one in missing.asked]:
                differ.append(f"{case.operation} {case.method} {case.foreign}: asks the database for something else")
            asked += len(foreign.asked)
        assert not differ, "\n".join(differ)
        assert count > 150
        assert asked > count, "the statements were noted"
        assert await checksum(world.app.store, B) == before

    stage.run(check)


@pytest.mark.case("K5")
def test_a_cursor_of_another_tenant_is_refused(stage: Stage) -> None:
    async def check(world: World) -> None:
        lists = 0
        for operation, method, path in operations(build_routes()):
            if method != "GET" or "{" in path or POLICY[operation].need is Access.PUBLIC or operation in _NOT_LISTS:
                continue
            page = await world.call(B, "GET", f"{path}?limit=1")
            is_page = page.status == 200 and page.headers.get("content-type", "").startswith("application/json")
            document = json.loads(page.text) if is_page else None
            cursor = document.get("next_cursor") if isinstance(document, dict) else None
            if cursor:
                lists += 1
                own = await world.call(B, "GET", f"{path}?{urlencode({'limit': 1, 'cursor': cursor})}")
                assert own.status == 200, operation
                answer = await world.call(A, "GET", f"{path}?{urlencode({'limit': 1, 'cursor': cursor})}")
                assert answer.status in (400, 404), f"{operation}: {answer}"
        assert lists > 10

    stage.run(check)


@pytest.mark.case("K3")
def test_names_and_request_ids_of_two_tenants_are_independent(stage: Stage) -> None:
    async def check(world: World) -> None:
        runs = set()
        for tenant in (A, B):
            definition = {"name": "same", "tasks": {"t": {"sleep": "1h"}}}
            await world.made(tenant, "POST", "/api/v1/workflows", definition)
            started = await world.call(tenant, "POST", "/api/v1/workflows/same/trigger", {}, idempotency_key="one")
            assert started.status == 201, started.text
            runs.add(started.data["run_id"])
        assert len(runs) == 2

    stage.run(check)


@pytest.mark.case("K4")
def test_a_tenant_that_a_request_names_is_not_believed(stage: Stage) -> None:
    async def check(world: World) -> None:
        headers = {"x_tenant": CANARIES[B], "x_tenant_id": str(B), "x_forwarded_tenant": CANARIES[B]}
        for path in ("/api/v1/me", "/api/v1/workflows", "/api/v1/runs", "/api/v1/secrets", "/api/v1/keys"):
            own = await world.call(A, "GET", path)
            assert own.status == 200, path
            named = await world.call(A, "GET", path, **headers)
            assert plain(named.text, path) == plain(own.text, path)
            for name in ("tenant", "tenant_id", "tenantId"):
                asked = await world.call(A, "GET", f"{path}?{name}={CANARIES[B]}")
                assert asked.status == 400 or plain(asked.text, path) == plain(own.text, path), (path, name)

    stage.run(check)


#: How a step names an object of each kind.
STEPS: dict[str, Callable[[str], dict[str, Any]]] = {
    "workflow": lambda name: {"workflow": name},
    "action": lambda name: {"action": name},
    "secret": lambda name: {"url": "https://crm.example.com/", "headers": {"X": f"{{{{ secrets.{name} }}}}"}},
    "credential": lambda name: {"url": "https://crm.example.com/", "credential": name},
}


def foreign_names(world: World, kind: str) -> list[str]:
    """Return ids and names of B. The names are those of its second objects: the matrix creates objects of A with the
    names of the first ones."""
    return [name.replace(f"{CANARIES[B]}1", f"{CANARIES[B]}2") for name in world.objects[B][kind]]


def without_hints(text: str) -> str:
    """Return an answer without names of A that are similar to the one that was asked for."""
    return _HINT.sub("", text)


async def outcome(world: World, kind: str, name: str) -> list[str]:
    """Save a workflow of A whose step names an object, and run it. Return all answers, without the name itself."""
    definition = {"name": "refers", "tasks": {"t": STEPS[kind](name)}}
    saved = await world.call(A, "PUT", "/api/v1/workflows/refers", definition)
    status = 200 if saved.status == 201 else saved.status  # the first one creates the workflow
    found = [f"{status} {_VERSION.sub('', without_hints(plain(saved.text, name)))}"]
    if saved.status in (200, 201):
        run = (await world.made(A, "POST", "/api/v1/workflows/refers/trigger", {}))["run_id"]
        async with asyncio.timeout(300):
            while (answer := await world.made(A, "GET", f"/api/v1/runs/{run}"))["status"] == "running":  # noqa: ASYNC110 - as a user would
                await asyncio.sleep(0.02)
        error = answer["tasks"]["t"]["error"] if "tasks" in answer else answer["error"]
        found.append(f"{answer['status']} {plain(json.dumps(error), name)}")
    return found


@pytest.mark.case("K2")
@pytest.mark.parametrize("kind", STEPS)
def test_a_step_that_names_an_object_of_another_tenant_is_refused_or_fails_like_one_of_nothing(
    stage: Stage, kind: str
) -> None:
    async def check(world: World) -> None:
        before = await checksum(world.app.store, B)
        for name in foreign_names(world, kind):
            foreign = await outcome(world, kind, name)
            assert foreign == await outcome(world, kind, absent(name))
            assert foreign[0].startswith("400") or foreign[1].startswith("failed"), foreign
            assert any(words in foreign[0] for words in ("there is no", "is not stored", "no action", "may not use")), (
                foreign
            )
        assert await checksum(world.app.store, B) == before

    stage.run(check)


@pytest.mark.case("K2")
def test_a_trigger_or_a_rule_cannot_be_about_an_object_of_another_tenant(stage: Stage) -> None:
    async def check(world: World) -> None:
        asked: list[tuple[str, str, Callable[[str], Any]]] = [
            ("workflow", "/api/v1/triggers", lambda name: {"name": "t", "type": "manual", "workflow": name}),
            ("entity", "/api/v1/rules/full", lambda name: {**SAVE, "name": "r", "entity_id": name}),
        ]
        for kind, place, body in asked:
            for name in foreign_names(world, kind):
                foreign = await world.call(A, "POST", place, body(name))
                missing = await world.call(A, "POST", place, body(absent(name)))
                assert foreign.status in (400, 404), foreign
                texts = [plain(foreign.text, name), plain(missing.text, absent(name))]
                assert (missing.status, without_hints(texts[1])) == (foreign.status, without_hints(texts[0]))

    stage.run(check)


def test_a_new_route_is_in_the_matrix(stage: Stage) -> None:
    @get("/api/v1/peek/{workflow:str}")
    async def get_workflow(workflow: FromPath[str]) -> None: ...

    made = [case.foreign for case in cases(Litestar([get_workflow], openapi_config=None), stage.world)]
    assert made == [f"/api/v1/peek/{value}" for value in stage.world.objects[B]["workflow"]]


def test_a_route_about_an_object_that_the_world_does_not_have_is_an_error(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    @get("/api/v1/peek/{gadget:str}")
    async def get_workflow(gadget: FromPath[str]) -> None: ...

    monkeypatch.setattr(matrix, "OBJECTS", {**OBJECTS, "gadget": "gadget"})
    with pytest.raises(AssertionError, match="no gadget"):
        list(cases(Litestar([get_workflow], openapi_config=None), stage.world))
