"""OpenAPI and Swagger documents as connectors, and what an update of one breaks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.catalog.connections import ServiceConnection
from detent.catalog.connector import AuthType, KeyPlace, Protocol
from detent.catalog.data_action import DataAction, WrittenRequest
from detent.catalog.mcp import McpRefused, build_mcp_connector, output_of, read_result
from detent.catalog.openapi import LARGEST_SCHEMA, Import, import_openapi, read_openapi
from detent.catalog.update import compare
from detent.errors import InvalidInput

CONNECTION = ServiceConnection("https://shop.example.com", {"token": "t-0000000"})


def document(paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "paths": paths, **more}


def imported(paths: dict[str, Any], **more: Any) -> Import:
    return import_openapi(document(paths, **more), "shop")


def action_of(found: Import, name: str) -> DataAction:
    spec = next(one for one in found.connector.actions if one.id == name)
    return DataAction(found.connector.definition(spec))


def sent_by(made: DataAction, given: dict[str, Any]) -> WrittenRequest:
    bound = made.bind(given, "k")
    return bound.write(bound.render(CONNECTION), CONNECTION)


def parameter(name: str, place: str, type_: str = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": {"type": type_}, **more}


def test_an_operation_becomes_an_action_with_parameters_of_every_place() -> None:
    operation = {
        "operationId": "updateOrder",
        "summary": "Update an order",
        "tags": ["orders"],
        "parameters": [parameter("dry.run", "query", "boolean"), parameter("X-Trace", "header")],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}},
        },
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}},
    }
    order = {
        "type": "object",
        "required": ["sku"],
        "properties": {"sku": {"type": "string"}, "note": {"type": "string", "nullable": True}},
    }
    path = {"parameters": [parameter("orderId", "path", "integer", required=True)], "put": operation}
    found = imported({"/orders/{orderId}": path}, components={"schemas": {"Order": order}})
    made = action_of(found, "update-order")
    assert made.action.parameters["required"] == ["orderId", "body"]
    assert made.action.category == "orders"
    assert made.action.output_schema["properties"]["note"]["type"] == ["string", "null"]
    given = {"orderId": 7, "dry_run": True, "X-Trace": "a", "body": {"sku": "x"}}
    assert made.problems(given) == []
    assert {problem.field for problem in made.problems({"body": {}})} == {"with.orderId", "with.body.sku"}
    sent = sent_by(made, given)
    assert (sent.method, sent.url) == ("PUT", "https://shop.example.com/orders/7?dry.run=true")
    assert sent.headers["X-Trace"] == "a"
    assert json.loads(sent.body or b"") == {"sku": "x"}


def test_a_parameter_that_is_not_given_is_not_sent() -> None:
    found = imported({"/x": {"get": {"operationId": "list", "parameters": [parameter("q", "query")]}}})
    made = action_of(found, "list")
    assert sent_by(made, {}).url == "https://shop.example.com/x"


@pytest.mark.parametrize(
    ("kind", "body", "content_type", "sent"),
    [
        ("application/x-www-form-urlencoded", {"a": 1}, "application/x-www-form-urlencoded", b"a=1"),
        ("application/vnd.api+json", {"a": 1}, "application/vnd.api+json", b'{"a":1}'),
        ("text/csv", "a,b", "text/csv", b"a,b"),
    ],
)
def test_a_body_is_written_in_its_own_format(kind: str, body: Any, content_type: str, sent: bytes) -> None:
    found = imported({"/x": {"post": {"operationId": "send", "requestBody": {"content": {kind: {}}}}}})
    made = action_of(found, "send")
    written = sent_by(made, {"body": body})
    assert (written.headers.get("Content-Type", written.content_type), written.body) == (content_type, sent)


def test_what_cannot_become_an_action_is_named_with_its_reason() -> None:
    upload: dict[str, Any] = {"requestBody": {"content": {"application/octet-stream": {}}}}
    found = imported({"/files": {"post": upload, "get": {}}})
    assert found.operations == 2
    assert [one.id for one in found.connector.actions] == ["get-files"]
    assert [(one.operation, one.reason) for one in found.skipped] == [
        ("POST /files", "its body is application/octet-stream, which is not text")
    ]
    with pytest.raises(InvalidInput, match="no operation"):
        imported({"/files": {"post": upload}})


def test_references_that_lead_back_to_themselves_end() -> None:
    schemas = {
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}},
        "Loop": {"$ref": "#/components/schemas/Loop"},
    }
    body = {
        "content": {
            "application/json": {"schema": {"allOf": [{"$ref": f"#/components/schemas/{name}"} for name in schemas]}}
        }
    }
    found = imported({"/x": {"post": {"operationId": "a", "requestBody": body}}}, components={"schemas": schemas})
    assert action_of(found, "a").problems({"body": {"next": {"next": {}}}}) == []


def test_a_schema_that_explodes_is_cut() -> None:
    schemas: dict[str, Any] = {
        f"S{level}": {
            "type": "object",
            "properties": {f"p{number}": {"$ref": f"#/components/schemas/S{level + 1}"} for number in range(30)},
        }
        for level in range(5)
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    found = imported({"/x": {"post": {"operationId": "a", "requestBody": body}}}, components={"schemas": schemas})
    [action] = found.connector.actions
    assert len(json.dumps(action.parameters)) <= LARGEST_SCHEMA
    assert action.parameters["properties"].keys() == {"body"}


def test_swagger_2_has_bodies_forms_and_its_host() -> None:
    old = {
        "swagger": "2.0",
        "info": {"title": "Old"},
        "host": "api.example.com",
        "basePath": "/v2",
        "schemes": ["http", "https"],
        "securityDefinitions": {"key": {"type": "apiKey", "in": "query", "name": "api_key"}},
        "paths": {
            "/pets": {
                "post": {
                    "operationId": "addPet",
                    "parameters": [{"in": "body", "name": "pet", "required": True, "schema": {"type": "object"}}],
                }
            },
            "/form": {
                "post": {
                    "operationId": "form",
                    "parameters": [{"in": "formData", "name": "a", "type": "string", "required": True}],
                }
            },
        },
    }
    found = import_openapi(old, "shop")
    assert found.connector.base_url == "https://api.example.com/v2"
    assert (found.connector.auth.type, found.connector.auth.place) == (AuthType.API_KEY, KeyPlace.QUERY)
    assert action_of(found, "add-pet").action.parameters["required"] == ["body"]
    form = action_of(found, "form")
    written = sent_by(form, {"a": "1"})
    assert written.body == b"a=1"


@pytest.mark.parametrize(
    ("scheme", "auth"),
    [
        ({"type": "http", "scheme": "bearer"}, AuthType.BEARER),
        ({"type": "http", "scheme": "Basic"}, AuthType.BASIC),
        ({"type": "apiKey", "in": "header", "name": "X-Key"}, AuthType.API_KEY),
        (
            {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://id.example.com/t"}}},
            AuthType.OAUTH2_CLIENT,
        ),
        ({"type": "oauth2", "flows": {"authorizationCode": {}}}, AuthType.BEARER),
        ({"type": "mutualTLS"}, AuthType.NONE),
    ],
)
def test_security_schemes_become_the_authentication(scheme: Any, auth: AuthType) -> None:
    found = imported({"/x": {"get": {}}}, components={"securitySchemes": {"s": scheme}}, security=[{"s": []}])
    assert found.connector.auth.type is auth


def test_servers_may_have_variables_and_be_relative() -> None:
    server = {"url": "https://{region}.example.com/v1/", "variables": {"region": {"default": "eu"}}}
    assert imported({"/x": {"get": {}}}, servers=[server]).connector.base_url == "https://eu.example.com/v1"
    relative = document({"/x": {"get": {}}}, servers=[{"url": "/v3"}])
    found = import_openapi(relative, "shop", source_url="https://api.example.com/docs/openapi.json")
    assert found.connector.base_url == "https://api.example.com/v3"
    assert imported({"/x": {"get": {}}}, servers=[{"url": "/v3"}]).connector.base_url is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "openapi: 3.0.0",
        "{openapi: 3.0.0, paths: []}",
        "{openapi: 4.0.0, paths: {}}",
        "{openapi: 3.0.0, paths: {}}",
        "{openapi: 3.0.0, paths: {/x: {get: {parameters: 7, responses: []}}, y: 1, 200: 2}, info: 3}",
        "{openapi: 3.0.0, paths: {/x: {$ref: '#/paths/~1x'}}}",
        "{openapi: 3.0.0, paths: {/x: {post: {requestBody: {content: {'a/{{ credential.token }}+json': {}}}}}}}",
        "{openapi: 3.0.0, paths: {'/{{ credential.token }}': {get: {}}}}",
        "a: &a [*a]",
        "x" * 100,
        "- " * 30_000,
    ],
)
def test_a_document_of_any_shape_is_imported_or_refused_with_words(text: str) -> None:
    found: Import | None = None
    problems: object = None
    try:
        found = read_openapi(text, "shop")
    except InvalidInput as error:
        problems = error.problems
    assert found or problems
    for action in found.connector.actions if found else ():
        DataAction(found.connector.definition(action)) if found else None
        assert "credential" not in json.dumps([action.request.path, dict(action.request.headers)])


def test_a_document_above_20_mb_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        read_openapi(b" " * (20 * 1024 * 1024 + 1), "shop")
    assert "at most" in caught.value.problems[0].message


def test_an_update_says_which_parameters_break() -> None:
    def version(*parameters: dict[str, Any]) -> Any:
        return imported(
            {"/x": {"get": {"operationId": "list", "parameters": list(parameters)}}, "/y": {"get": {}}}
        ).connector

    before = version(parameter("a", "query"), parameter("b", "query", "integer"))
    same = compare(before.actions, version(parameter("a", "query"), parameter("b", "query", "integer")))
    assert same.is_empty
    after = version(parameter("b", "query"), parameter("c", "query", required=True), parameter("d", "query"))
    update = compare(before.actions, after)
    assert [one.action for one in update.changed] == ["shop.list"]
    assert update.problems_of("shop.list", {"a": 1, "b": 2}) == [
        "the parameter 'a' does not exist any more",
        "the parameter 'c' is required now",
        "the parameter 'b' must be string now, not integer",
    ]
    assert update.problems_of("shop.list", {"c": 1}) == []
    assert update.next_version("1.4.2") == "2.0.0"
    wider = version(parameter("a", "query"), parameter("b", "query", "integer"), parameter("n", "query"))
    assert compare(before.actions, wider).next_version("1.4.2") == "1.5.0"
    gone = compare(before.actions, imported({"/x": {"get": {"operationId": "list"}}}).connector)
    assert [one.action for one in gone.removed] == ["shop.get-y"]


TOOL = {
    "name": "findDocs",
    "description": "Finds documents",
    "inputSchema": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}


def test_tools_of_an_mcp_server_become_actions() -> None:
    connector = build_mcp_connector("search", "https://mcp.example.com/mcp", [TOOL], with_token=True)
    [action] = connector.actions
    assert (action.id, action.protocol, action.request.body) == ("find-docs", Protocol.MCP, {"tool": "findDocs"})
    assert action.parameters["required"] == ["text"]
    assert (connector.auth.type, action.effect.kind.value) == (AuthType.BEARER, "none")


@pytest.mark.parametrize(
    "tools", [None, [], [1], [{"name": ""}], [TOOL, {"name": "find_docs"}, TOOL], [{"name": "{{ x"}]]
)
def test_tools_that_cannot_be_used_are_refused_with_words(tools: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        build_mcp_connector("search", "https://mcp.example.com/mcp", tools)
    assert caught.value.problems


def test_an_answer_of_mcp_is_json_or_an_event_stream() -> None:
    result = {"content": [{"type": "text", "text": "hi"}]}
    message = {"jsonrpc": "2.0", "id": 3, "result": result}
    stream = (
        f"event: message\ndata: {json.dumps({'method': 'notifications/progress'})}\n\ndata: {json.dumps(message)}\n\n"
    )
    assert read_result(message, 3) == read_result(stream, 3) == result
    assert output_of(result) == {"text": "hi", "content": result["content"]}
    assert output_of({**result, "structuredContent": {"n": 1}}) == {"n": 1}
    bodies: list[Any] = ["", "data: {", None, [], {"id": 3}, {"id": 3, "error": {"code": 1, "message": "no"}}]
    for body in bodies:
        with pytest.raises(McpRefused):
            read_result(body, 3)
    with pytest.raises(McpRefused, match="hi"):
        output_of({**result, "isError": True})


def test_a_deprecated_operation_says_so_without_a_successor() -> None:
    found = imported({"/x": {"get": {"operationId": "old", "deprecated": True}, "post": {"operationId": "new"}}})
    assert [(one.id, one.deprecation) for one in found.connector.actions] == [
        ("old", "the service calls this operation deprecated"),
        ("new", None),
    ]
