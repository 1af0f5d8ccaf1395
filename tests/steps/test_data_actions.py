"""Actions of manifests against servers on loopback: what is sent, what becomes of it, and that no secret stays."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from aiohttp import web

from detent.catalog.connections import EnvironmentConnections
from detent.catalog.manifest import build_connector
from detent.graph.model import Graph, StepKind
from detent.run.call import RunView, StepCall
from detent.run.outcomes import Outcome
from detent.run.state import RunFacts
from detent.steps.action_step import ActionExecutor
from detent.steps.data_action import CatalogActions, StoredDefinition
from detent.steps.http.step import HttpExecutor
from tests.catalog.manifests import TOKEN, manifest, parameters
from tests.steps.calls import RUN_ID, answer, attempt, call_of, done, failed
from tests.steps.listeners import website

PRINCIPAL = {"userId": "U123", "displayName": "Dou\ng", "email": "doug@example.com"}
GIVEN = {"body": {"huge": [1]}, "principal": PRINCIPAL, "correlation_id": "corr-1"}


def view_of(given: dict[str, Any]) -> RunView:
    facts = RunFacts(RUN_ID, 1, "w", json.dumps(given).encode(), 0, None, str)
    return RunView(facts, Graph(()), 1, lambda name: None, lambda name: None)


class Service:
    """A service with one handler, and the actions of a manifest that calls it."""

    def __init__(self, http: HttpExecutor, handle: Any, document: dict[str, Any], **environ: str) -> None:
        self.requests: list[web.Request] = []
        self._connector = build_connector(document)
        self._handle, self._http = handle, http
        self._environ = {"CONNECTOR_CRM_TOKEN": TOKEN, **environ}
        self.loads = 0

    async def receive(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.requests.append(request)
        found: web.StreamResponse = await self._handle(request)
        return found

    async def load(self, tenant: int, name: str, version: str) -> StoredDefinition | None:
        self.loads += 1
        found = [one for one in self._connector.actions if (f"crm.{one.id}", one.version) == (name, version)]
        if not found:
            return None
        return StoredDefinition(msgspec.json.encode(self._connector.definition(found[0])), is_own=False)

    async def __aenter__(self) -> Service:
        self._site = website(self.receive)
        server = await self._site.__aenter__()
        self.url = server.rstrip("/")
        self._environ.setdefault("CONNECTOR_CRM_URL", f"{self.url}/v1")
        catalog = CatalogActions(self._http, self.load, EnvironmentConnections(self._environ))
        self._executor = ActionExecutor(data=catalog)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._executor.close()
        await self._site.__aexit__(None, None, None)

    async def run(self, given: dict[str, Any] | None = None, *, run: Any = None, **call: Any) -> Outcome:
        whole = {"action": "crm.run", "version": "1.0.0", "with": given or {}, **call}
        made = call_of(StepKind.ACTION, whole)
        return await attempt(self._executor, msgspec.structs.replace(made, view=view_of(run or GIVEN)))


async def echo(request: web.Request) -> web.Response:
    """A careless service: it answers everything that it was sent."""
    return web.json_response({"headers": dict(request.headers), "url": str(request.url), "body": await request.text()})


async def test_a_request_has_its_token_its_key_and_the_user_it_acts_for(http: HttpExecutor) -> None:
    async with Service(http, echo, manifest({"output": {"done": True}})) as service:
        assert done(await service.run()) == {"output": {"done": True}, "status_code": 200}
        [sent] = service.requests
    assert sent.path == "/v1/run"
    assert sent.headers["Authorization"] == f"Bearer {TOKEN}"
    assert sent.headers["X-Acting-User-Id"] == "U123"
    assert sent.headers["X-Acting-User-Email"] == "doug@example.com"
    assert sent.headers["X-Acting-User-Name"] == "Dou g"
    assert sent.headers["X-Correlation-Id"] == "corr-1"
    assert sent.headers["Idempotency-Key"] == call_of(StepKind.ACTION, {}).idempotency_key
    assert sent.headers["Detent-Attempt"] == "1"


async def test_a_run_without_a_principal_acts_for_the_system(http: HttpExecutor) -> None:
    async with Service(http, echo, manifest()) as service:
        done(await service.run(run={"body": {}, "headers": {"x-correlation-id": "from-the-header"}}))
        [sent] = service.requests
    assert sent.headers["X-Acting-User-Id"] == "system"
    assert "X-Acting-User-Email" not in sent.headers
    assert sent.headers["X-Correlation-Id"] == "from-the-header"


async def test_a_connector_can_keep_the_user_to_itself(http: HttpExecutor) -> None:
    async with Service(http, echo, manifest(acting_user_headers=False)) as service:
        done(await service.run())
        [sent] = service.requests
    assert not [name for name in sent.headers if name.startswith("X-")]


async def test_no_secret_is_in_an_outcome_although_the_service_repeats_it(http: HttpExecutor) -> None:
    async with Service(http, echo, manifest()) as service:
        outcome = await service.run()
    assert TOKEN not in repr(outcome)
    assert answer(outcome)["output"]["headers"]["Authorization"] == "Bearer ***"

    async def refuse(request: web.Request) -> web.Response:
        return web.json_response({"why": f"{request.headers['Authorization']} is bad"}, status=403)

    document = manifest({"error": {"code": "{{ response.body.why }}", "message": "No: {{ response.body.why }}"}})
    async with Service(http, refuse, document) as service:
        outcome = await service.run()
    assert TOKEN not in repr(outcome)
    assert "No: Bearer *** is bad" in failed(outcome, "Bearer *** is bad").error.message


async def test_a_key_in_the_query_is_in_no_message(http: HttpExecutor) -> None:
    async def fail(request: web.Request) -> web.Response:
        return web.Response(status=500)

    async with Service(http, fail, manifest(auth={"type": "api_key", "in": "query", "name": "key"})) as service:
        outcome = failed(await service.run(), "http_status")
        assert service.requests[0].query["key"] == TOKEN
    assert TOKEN not in repr(outcome)
    assert outcome.retry


async def test_a_missing_credential_names_what_to_set(http: HttpExecutor) -> None:
    async with Service(http, echo, manifest(), CONNECTOR_CRM_TOKEN="") as service:
        outcome = failed(await service.run(), "missing_credential")
        assert service.requests == []
    assert "CONNECTOR_CRM_TOKEN" in outcome.error.message
    assert not outcome.retry


async def test_parameters_that_do_not_fit_are_never_sent(http: HttpExecutor) -> None:
    async with Service(http, echo, manifest({"parameters": parameters("n", n={"type": "integer"})})) as service:
        outcome = failed(await service.run({"n": "seven", "more": 1}), "invalid_parameters")
        assert service.requests == []
    assert outcome.error.detail is not None
    assert {one["field"] for one in outcome.error.detail["problems"]} == {"with", "with.n"}
    assert not outcome.retry


async def test_a_version_is_loaded_once(http: HttpExecutor) -> None:
    async with Service(http, echo, manifest()) as service:
        for _ in range(3):
            done(await service.run())
        assert service.loads == 1
        assert "version 9.9.9" in failed(await service.run(version="9.9.9"), "unknown_action").error.message


async def test_an_answer_of_another_shape_is_a_failure_with_words(http: HttpExecutor) -> None:
    async with Service(http, echo, manifest({"output": {"id": "{{ response.body.id }}"}})) as service:
        outcome = failed(await service.run(), "unexpected_answer")
    assert "crm.run" in outcome.error.message
    assert not outcome.retry


async def test_pages_follow_a_cursor_until_there_is_none(http: HttpExecutor) -> None:
    async def pages(request: web.Request) -> web.Response:
        page = int(request.query.get("cursor", "0"))
        return web.json_response({"items": [page * 2, page * 2 + 1], "next": page + 1 if page < 2 else None})

    action = {
        "request": {"path": "/list", "query": {"size": 2}},
        "pagination": {"items": "response.body.items", "next": "response.body.next", "into": "query.cursor"},
        "output": {"numbers": "{{ items }}"},
    }
    async with Service(http, pages, manifest(action)) as service:
        assert done(await service.run())["output"] == {"numbers": [0, 1, 2, 3, 4, 5]}
    action["pagination"] = {**action["pagination"], "max_pages": 2}  # type: ignore[dict-item]
    async with Service(http, pages, manifest(action)) as service:
        assert "more than 2 pages" in failed(await service.run(), "too_many_pages").error.message
        assert len(service.requests) == 2
    action["pagination"] = {**action["pagination"], "on_more": "stop"}  # type: ignore[dict-item]
    async with Service(http, pages, manifest(action)) as service:
        assert done(await service.run())["output"] == {"numbers": [0, 1, 2, 3]}


@pytest.mark.parametrize(
    ("link", "code"),
    [
        ('<http://evil.example.com/x>; rel="next"', "foreign_page"),
        ('</v1/list>; rel="next"', "endless_pages"),
    ],
)
async def test_a_next_page_stays_on_its_server_and_ends(http: HttpExecutor, link: str, code: str) -> None:
    async def list_all(request: web.Request) -> web.Response:
        return web.json_response([1], headers={"Link": link})

    action = {"request": {"path": "/list"}, "pagination": {"items": "response.body", "link_header": True}}
    async with Service(http, list_all, manifest(action)) as service:
        assert TOKEN not in repr(failed(await service.run(), code))


async def test_pages_follow_the_header_link(http: HttpExecutor) -> None:
    async def list_all(request: web.Request) -> web.Response:
        if "page" in request.query:
            return web.json_response([3])
        links = f'<{request.url}>; rel="self", <{request.url.with_query(page=2, size=9)}>; rel="next"'
        return web.json_response([1, 2], headers={"Link": links})

    action = {
        "request": {"path": "/list", "query": {"size": 9}},
        "pagination": {"items": "response.body", "link_header": True},
    }
    async with Service(http, list_all, manifest(action)) as service:
        assert done(await service.run())["output"] == {"items": [1, 2, 3]}
        assert [str(sent.url.query_string) for sent in service.requests] == ["size=9", "page=2&size=9"]


async def test_the_guard_of_http_steps_protects_actions_too(open_http: Any) -> None:
    async with Service(open_http(), echo, manifest()) as service:
        outcome = failed(await service.run(), "egress_denied")
        assert service.requests == []
    assert not outcome.retry


async def test_a_token_of_oauth_is_fetched_once_and_used_until_it_expires(http: HttpExecutor) -> None:
    issued = 0

    async def serve(request: web.Request) -> web.Response:
        nonlocal issued
        if request.path != "/token":
            return web.json_response({"seen": request.headers["Authorization"]})
        assert request.headers["Authorization"] == "Basic Y2xpZW50LTE6c2VjcmV0LTE="
        assert (await request.post())["scope"] == "a b"
        issued += 1
        return web.json_response({"access_token": f"issued-token-{issued}", "expires_in": 3600})

    secrets = {"CONNECTOR_CRM_CLIENT_ID": "client-1", "CONNECTOR_CRM_CLIENT_SECRET": "secret-1"}
    async with Service(http, serve, manifest(), **secrets) as service:
        auth = {"type": "oauth2_client", "token_url": f"{service.url}/token", "scopes": ["a", "b"]}
        service._connector = build_connector(manifest(auth=auth))  # noqa: SLF001
        for _ in range(2):
            assert done(await service.run())["output"] == {"seen": "Bearer ***"}
    assert issued == 1


async def test_a_refused_token_is_a_failure_with_words(http: HttpExecutor) -> None:
    async def serve(request: web.Request) -> web.Response:
        return web.json_response({"error": "invalid_client"}, status=401)

    secrets = {"CONNECTOR_CRM_CLIENT_ID": "client-1", "CONNECTOR_CRM_CLIENT_SECRET": "secret-1"}
    async with Service(http, serve, manifest(), **secrets) as service:
        auth = {"type": "oauth2_client", "token_url": f"{service.url}/token"}
        service._connector = build_connector(manifest(auth=auth))  # noqa: SLF001
        outcome = failed(await service.run(), "token_refused")
    assert "answered 401" in outcome.error.message
    assert not outcome.retry


async def test_a_plain_http_step_names_the_user_only_if_it_is_asked_to(http: HttpExecutor) -> None:
    async with website(echo) as server:
        parameters_ = {"url": server, "method": "GET", "acting_user_headers": True}
        call: StepCall = call_of(StepKind.HTTP, parameters_)
        with_user = done(await attempt(http, msgspec.structs.replace(call, view=view_of(GIVEN))))
        without = done(await attempt(http, call))
    assert with_user["body"]["headers"]["X-Acting-User-Id"] == "U123"
    assert "Authorization" not in with_user["body"]["headers"]
    assert "X-Acting-User-Id" not in without["body"]["headers"]
