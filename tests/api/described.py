"""A server that is generated from an OpenAPI 3 document: it checks requests against it, and answers examples of it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
from aiohttp import web

from detent.catalog.examples import example_of


class Described:
    """The operations of a document. It owns what was called, and what the document does not allow of the requests."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.called: list[str] = []
        self.problems: list[str] = []
        self._routes = [
            (re.compile(re.sub(r"\\{[^}]*\\}", "([^/]+)", re.escape(path))), re.findall(r"{([^}]*)}", path), item)
            for path, item in sorted(document["paths"].items(), key=lambda one: "{" in one[0])
        ]

    def fits(self, schema: dict[str, Any], value: Any) -> Iterator[str]:
        whole = {**schema, "components": self.document.get("components", {})}
        for error in jsonschema_rs.validator_for(whole).iter_errors(value):
            yield f"{'.'.join(map(str, error.instance_path))}: {error.message}"

    async def handle(self, request: web.Request) -> web.Response:
        method = request.method.lower()
        matches = ((route, route[0].fullmatch(request.rel_url.raw_path)) for route in self._routes)
        routes = ((names, item, found) for (_, names, item), found in matches if found and method in item)
        route = next(routes, None)
        if route is None:
            return self._refused(request, ["the document has no such operation"])
        names, item, found = route
        operation = item[method]
        self.called.append(operation["operationId"])
        given: dict[str, dict[str, Any]] = {
            "path": dict(zip(names, map(unquote, found.groups()), strict=True)),
            "query": dict(request.query),
            "header": {name.lower(): value for name, value in request.headers.items()},
        }
        declared = [*map(self._resolved, [*item.get("parameters", ()), *operation.get("parameters", ())])]
        problems = [problem for one in declared for problem in self._parameter(one, given)]
        unknown = set(given["query"]) - {one["name"] for one in declared if one["in"] == "query"}
        problems += [f"the query {name!r} is not declared" for name in sorted(unknown)]
        problems += self._body(operation, await request.text(), request.content_type)
        if problems:
            return self._refused(request, problems)
        status, answer = min((code, one) for code, one in operation["responses"].items() if code.startswith("2"))
        content = self._resolved(answer).get("content", {}).get("application/json")
        if content is None:
            return web.Response(status=int(status))
        return web.json_response(self.example(content), status=int(status))

    def example(self, content: dict[str, Any]) -> Any:
        schema = {**content.get("schema", {}), "components": self.document.get("components", {})}
        return content.get("example", example_of(schema))

    def _resolved(self, value: dict[str, Any]) -> dict[str, Any]:
        found: Any = value
        while "$ref" in found:
            path, found = found["$ref"].split("/")[1:], self.document
            for name in path:
                found = found[name]
        return dict(found)

    def _parameter(self, one: dict[str, Any], given: dict[str, dict[str, Any]]) -> Iterator[str]:
        name = one["name"].lower() if one["in"] == "header" else one["name"]
        values = given.get(one["in"], {})
        if name not in values:
            if one.get("required"):
                yield f"the {one['in']} {name!r} is missing"
            return
        schema = self._resolved(one.get("schema", {}))
        value: Any = values[name]
        if schema.get("type") in ("integer", "number", "boolean"):
            value = json.loads(value)
        elif schema.get("type") == "array":
            value = value.split(",")
        yield from self.fits(schema, value)

    def _body(self, operation: dict[str, Any], text: str, kind: str) -> Iterator[str]:
        declared = self._resolved(operation.get("requestBody", {}))
        if not text:
            if declared.get("required"):
                yield "the body is missing"
            return
        content = declared.get("content", {}).get(kind)
        if content is None:
            yield f"a body of the type {kind!r} is not declared"
            return
        yield from self.fits(content["schema"], json.loads(text))

    def _refused(self, request: web.Request, problems: list[str]) -> web.Response:
        self.problems += [f"{request.method} {request.path_qs}: {problem}" for problem in problems]
        return web.json_response({"problems": problems}, status=400)


@asynccontextmanager
async def described(document: dict[str, Any]) -> AsyncIterator[tuple[str, Described]]:
    """Serve a document on loopback."""
    service = Described(document)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", service.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", service
    finally:
        await runner.cleanup()
