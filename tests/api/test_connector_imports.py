"""Imports of connectors over the API: OpenAPI documents, updates that break steps, and tools of an MCP server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any

import pytest
from aiohttp import web

from tests.api.server import Detent, serving

OPENAPI, MCP = "/api/v1/connectors/import/openapi", "/api/v1/connectors/import/mcp"
TEXT = {"type": "string"}


def operation(name: str, *parameters: dict[str, Any], body: Any = None) -> dict[str, Any]:
    found: dict[str, Any] = {"operationId": name, "parameters": list(parameters), "responses": {"200": {}}}
    return found if body is None else {**found, "requestBody": {"content": {"application/json": {"schema": body}}}}


def field(name: str, place: str = "query", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": TEXT, **more}


def shop(**more: Any) -> dict[str, Any]:
    """A document with ten operations."""
    item = {"type": "object", "properties": {"name": TEXT}}
    paths: dict[str, Any] = {
        "/orders": {"get": operation("listOrders", field("status")), "post": operation("createOrder", body=item)},
        "/orders/{id}": {
            "parameters": [field("id", "path", required=True)],
            "get": operation("getOrder"),
            "put": operation("replaceOrder", body=item),
            "patch": operation("changeOrder", body=item),
            "delete": operation("deleteOrder"),
        },
        "/orders/{id}/lines/{line}": {"get": operation("getLine", field("id", "path"), field("line", "path"))},
        "/search": {"get": operation("search", field("q", required=True), field("X-Locale", "header"))},
        "/customers/{id}/notes": {"post": operation("addNote", field("id", "path"), body={"type": "object"})},
        "/health": {"get": operation("health")},
    }
    return {"openapi": "3.1.0", "info": {"title": "Shop"}, "servers": [{"url": "/api"}], "paths": {**paths, **more}}


@asynccontextmanager
async def receiver(answer: Any) -> AsyncIterator[tuple[str, list[web.Request]]]:
    received: list[web.Request] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        await request.read()
        received.append(request)
        found: web.StreamResponse = await answer(request)
        return found

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", received
    finally:
        await runner.cleanup()


async def imported(api: Detent, document: dict[str, Any], query: str = "") -> dict[str, Any]:
    answer = await api.call("POST", f"{OPENAPI}?name=shop{query}", json=document)
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json["data"]
    return found


async def test_every_operation_of_a_document_can_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten operations, against a server that has exactly the paths of the document."""
    document = shop()

    async def serve(request: web.Request) -> web.Response:
        text = await request.text()
        return web.json_response(
            {"path": request.path_qs, "method": request.method, "body": json.loads(text or "null")}
        )

    async with receiver(serve) as (url, received), serving("memory://") as api:
        monkeypatch.setenv("CONNECTOR_SHOP_URL", f"{url}/api")
        made = await imported(api, document)
        assert (made["operations"], made["actions"], made["skipped"], made["version"]) == (10, 10, [], "1.0.0")
        calls: dict[str, dict[str, Any]] = {
            "list-orders": {"status": "open"},
            "create-order": {"body": {"name": "a"}},
            "get-order": {"id": "7"},
            "replace-order": {"id": "7", "body": {"name": "b"}},
            "change-order": {"id": "7", "body": {"name": "c"}},
            "delete-order": {"id": "a/b"},
            "get-line": {"id": "7", "line": "2"},
            "search": {"q": "x y", "X-Locale": "de"},
            "add-note": {"id": "8", "body": {"any": [1]}},
            "health": {},
        }
        tasks = {name: {"action": f"shop.{name}", "with": given} for name, given in calls.items()}
        await api.save(json.dumps({"name": "all", "tasks": tasks}))
        run = await api.ended(await api.start("all", {}))
        assert run["status"] == "completed", run
        sent = {name: run["tasks"][name]["output"] for name in calls}
        assert sent["list-orders"]["path"] == "/api/orders?status=open"
        assert sent["delete-order"] == {"path": "/api/orders/a%2Fb", "method": "DELETE", "body": None}
        assert sent["change-order"] == {"path": "/api/orders/7", "method": "PATCH", "body": {"name": "c"}}
        assert sent["search"]["path"] == "/api/search?q=x%20y"
        assert {request.headers.get("X-Locale") for request in received} == {None, "de"}


async def test_an_update_says_which_steps_of_which_workflows_break(api: Detent) -> None:
    await imported(api, shop())
    tasks = {
        "find": {"action": "shop.search", "with": {"q": "x"}},
        "note": {"action": "shop.add-note", "with": {"id": "1", "body": {}}},
        "list": {"action": "shop.list-orders", "with": {}},
    }
    await api.save(json.dumps({"name": "w", "tasks": tasks}))
    assert (await imported(api, shop()))["changed"] is False
    other = shop(
        **{
            "/search": {"get": operation("search", field("text", required=True))},
            "/orders": {"get": operation("listOrders", field("state"))},
        }
    )
    del other["paths"]["/customers/{id}/notes"]
    rehearsed = await imported(api, other, "&dryRun=true")
    assert (rehearsed["version"], rehearsed["connector"]["version"]) == ("2.0.0", "1.0.0")
    assert rehearsed["removed"] == ["shop.add-note", "shop.create-order"]
    broken = {one["step"]: one["problems"] for one in rehearsed["broken_steps"]}
    assert broken == {
        "find": ["the parameter 'q' does not exist any more", "the parameter 'text' is required now"],
        "note": ["the action does not exist any more"],
    }
    done = await imported(api, other)
    assert (done["version"], done["connector"]["version"]) == ("2.0.0", "2.0.0")
    row = await api.app.store.workflow(1, "w")
    assert row is not None
    assert json.loads(row.graph)["steps"][0]["config"]["version"] == "1.0.0", "a published version stays as it was"
    gone = await api.call("PUT", "/api/v1/workflows/w", data=json.dumps({"name": "w", "tasks": tasks}))
    assert gone.status == 400
    assert "does not have this action any more" in gone.text
    assert (await imported(api, other))["changed"] is False


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("", "{}"),
        ("?name=Bad%20Name", '{"openapi": "3.0.0", "paths": {"/x": {"get": {}}}}'),
        ("?name=core", '{"openapi": "3.0.0", "paths": {"/x": {"get": {}}}}'),
        ("?name=shop", '{"openapi": "3.0.0", "paths": {}}'),
        ("?name=shop", "["),
        ("?name=shop&unknown=1", "{}"),
    ],
)
async def test_a_document_that_cannot_be_imported_is_refused_with_words(api: Detent, query: str, body: str) -> None:
    answer = await api.call("POST", f"{OPENAPI}{query}", data=body)
    assert answer.status == 400, answer.text
    assert answer.json["details"]["validation_errors"]


async def test_a_large_document_is_accepted_here_and_nowhere_else(api: Detent) -> None:
    document = shop()
    document["info"]["description"] = "x" * (3 * 1024 * 1024)
    data = json.dumps(document).encode()
    answer = await api.call("POST", f"{OPENAPI}?name=shop", data=BytesIO(data))
    assert answer.json["data"]["actions"] == 10
    assert (await api.call("POST", "/api/v1/connectors", data=BytesIO(data))).status == 413


TOOLS = [
    {
        "name": "addNumbers",
        "description": "Adds",
        "inputSchema": {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "fail", "inputSchema": {"type": "object"}},
]


class McpServer:
    """An MCP server that forgets its sessions when it is told to."""

    def __init__(self, *, streams: bool) -> None:
        self.streams, self.sessions, self.opened = streams, set[str](), 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        message = await request.json()
        assert request.headers["Authorization"] == "Bearer mcp-token-9"
        assert "text/event-stream" in request.headers["Accept"]
        method = message["method"]
        if method == "initialize":
            self.opened += 1
            session = f"session-{self.opened}"
            self.sessions.add(session)
            result: Any = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "m"}}
            return self._answer(message, result, {"Mcp-Session-Id": session})
        if request.headers.get("Mcp-Session-Id") not in self.sessions:
            return web.Response(status=404)
        if method == "notifications/initialized":
            return web.Response(status=202)
        if method == "tools/list":
            return self._answer(message, {"tools": TOOLS}, {})
        called = message["params"]
        is_error = called["name"] == "fail"
        text = "it does not work" if is_error else str(called["arguments"]["a"] + 1)
        return self._answer(message, {"content": [{"type": "text", "text": text}], "isError": is_error}, {})

    def _answer(self, message: Any, result: Any, headers: dict[str, str]) -> web.Response:
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        if not self.streams:
            return web.json_response(body, headers=headers)
        text = f"event: message\ndata: {json.dumps(body)}\n\n"
        return web.Response(text=text, content_type="text/event-stream", headers=headers)


@pytest.mark.parametrize("streams", [False, True])
async def test_tools_of_an_mcp_server_are_called_as_actions(monkeypatch: pytest.MonkeyPatch, streams: bool) -> None:
    server = McpServer(streams=streams)
    monkeypatch.setenv("CONNECTOR_TOOLS_TOKEN", "mcp-token-9")
    async with receiver(server.handle) as (url, _), serving("memory://") as api:
        body = {"name": "tools", "url": f"{url}/mcp", "tools": TOOLS, "with_token": True}
        answer = await api.call("POST", MCP, json=body)
        assert answer.status == 200, answer.text
        assert answer.json["data"]["added"] == ["tools.add-numbers", "tools.fail"]
        tasks = {
            "add": {"action": "tools.add-numbers", "with": {"a": "{{ trigger.body.a }}"}},
            "bad": {"action": "tools.fail"},
        }
        await api.save(json.dumps({"name": "w", "tasks": tasks}))
        run = await api.ended(await api.start("w", {"a": 41}))
        assert run["tasks"]["add"]["output"] == {"text": "42", "content": [{"type": "text", "text": "42"}]}
        error = run["tasks"]["bad"]["error"]
        assert (error["code"], error["message"]) == ("tool_failed", "it does not work")
        server.sessions.clear()
        again = await api.ended(await api.start("w", {"a": 1}))
        assert again["tasks"]["add"]["output"]["text"] == "2", "a forgotten session is opened again"


async def test_a_document_without_a_body_is_read_from_its_address(api: Detent) -> None:
    async def serve(request: web.Request) -> web.Response:
        return web.Response(text=json.dumps(shop())) if request.path == "/shop.json" else web.Response(status=404)

    async with receiver(serve) as (url, received):
        made = await api.call("POST", f"{OPENAPI}?name=shop&url={url}/shop.json")
        assert made.status == 200, made.text
        assert made.json["data"]["connector"]["base_url"] == f"{url}/api", "a relative server begins at the address"
        away = await api.call("POST", f"{OPENAPI}?name=shop&url={url}/none.json")
        assert (away.status, "/none.json answered 404" in away.text) == (400, True)
        inner = await api.call("POST", f"{OPENAPI}?name=shop&url=http://169.254.169.254/latest")
        assert (inner.status, "cannot be read" in inner.text) == (400, True), "the egress guard refuses it"
        odd = await api.call("POST", f"{OPENAPI}?name=shop&url=file:///etc/passwd")
        assert (odd.status, "must begin with http" in odd.text) == (400, True)
        assert [request.path for request in received] == ["/shop.json", "/none.json"]


async def test_a_server_is_asked_for_its_tools_with_the_token_of_its_own_connector_only(
    api: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def serve(request: web.Request) -> web.Response:
        asked = await request.json()
        result: dict[str, Any] = {"serverInfo": {"name": "x", "title": "Search"}}
        if asked["method"] == "tools/list":
            result = {"tools": [{"name": "find", "inputSchema": {"type": "object"}}]}
        return web.json_response({"jsonrpc": "2.0", "id": asked.get("id"), "result": result})

    async with receiver(serve) as (url, received):
        lacks = await api.call("POST", MCP, json={"name": "find", "url": url, "with_token": True})
        assert (lacks.status, "CONNECTOR_FIND_TOKEN" in lacks.text) == (400, True)
        monkeypatch.setenv("CONNECTOR_SLACK_TOKEN", "xoxb-secret")
        foreign = await api.call("POST", MCP, json={"name": "slack", "url": url, "with_token": True})
        assert (foreign.status, received) == (409, []), "nothing is sent"
        monkeypatch.setenv("CONNECTOR_FIND_TOKEN", "secret-of-find")
        made = await api.call("POST", MCP, json={"name": "find", "url": url, "with_token": True})
        assert made.status == 200, made.text
        assert made.json["data"]["added"] == ["find.find"]
        assert made.json["data"]["connector"]["display_name"] == "Search"
        assert {request.headers["Authorization"] for request in received} == {"Bearer secret-of-find"}


async def test_actions_are_counted_by_what_they_can_be_narrowed_by(api: Detent) -> None:
    await imported(api, shop())
    found = (await api.call("GET", "/api/v1/actions/facets")).json["data"]
    assert {"value": "shop", "count": 10} in found["connectors"]
    for name, query in (("connectors", "connectorId"), ("categories", "category"), ("tags", "tag")):
        for one in found[name]:
            listed = await api.call("GET", "/api/v1/actions", params={query: one["value"], "limit": "200"})
            assert len(listed.json.get("data", ())) == one["count"], (one, listed.text)
