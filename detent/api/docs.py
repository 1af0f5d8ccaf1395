"""The documentation of the API as one page, made from its OpenAPI document: nothing is loaded from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any, Final

from litestar import Response, get
from litestar.openapi.plugins import OpenAPIRenderPlugin

from detent.api.bodies import AnyRequest
from detent.api.pages import page

_METHODS: Final = ("get", "post", "put", "delete")


@get("/openapi.json", include_in_schema=False)
async def show_openapi(request: AnyRequest) -> Response[dict[str, Any]]:
    """The API for programs: OpenAPI 3.1."""
    return Response(request.app.openapi_schema.to_schema())


class DocsPage(OpenAPIRenderPlugin):
    """Lists every operation with its body and answers."""

    def render(self, request: AnyRequest, openapi_schema: dict[str, Any]) -> bytes:
        schemas = openapi_schema.get("components", {}).get("schemas", {})
        parts = [
            _operation(method, path, operation, schemas)
            for path, item in openapi_schema.get("paths", {}).items()
            for method in _METHODS
            if (operation := item.get(method))
        ]
        head = f'<h1>Detent API</h1><p class="soft">{escape(openapi_schema["info"].get("description", ""))} '
        return page("Detent API", f'{head}<a href="/openapi.json">openapi.json</a></p>{"".join(parts)}').encode()


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    lines = [
        f'<h2><span class="method">{method.upper()}</span> <code>{escape(path)}</code></h2>',
        f"<p>{escape(operation.get('summary', ''))}.",
        f'<span class="soft">{escape(operation.get("description", ""))}</span></p><dl>',
    ]
    for kind, media in operation.get("requestBody", {}).get("content", {}).items():
        lines.append(f"<dt>takes <code>{escape(kind)}</code>")
        lines.append(f'<dd class="soft">{escape(media.get("schema", {}).get("description", ""))}')
    for status, answer in sorted(operation.get("responses", {}).items()):
        lines.append(f"<dt><code>{escape(status)}</code> {escape(answer.get('description', ''))}")
        lines += [_shape(media.get("schema", {}), schemas) for media in answer.get("content", {}).values()]
    return "".join(lines) + "</dl>"


def _shape(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    name = schema.get("$ref", "").rpartition("/")[2]
    if name == "Refusal" or not schema:
        return ""
    return f"<dd><pre>{escape(json.dumps(_sketch(schema, schemas, 0), indent=2))}</pre>"


def _sketch(schema: dict[str, Any], schemas: dict[str, Any], depth: int) -> Any:
    """A value that shows the shape of a schema: the names of types in place of values."""
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = schemas.get(name, schema)
    if depth > 4:
        return "..."
    if "properties" in schema:
        return {key: _sketch(value, schemas, depth + 1) for key, value in schema["properties"].items()}
    if schema.get("type") == "array":
        return [_sketch(schema.get("items", {}), schemas, depth + 1)]
    choices = schema.get("oneOf") or schema.get("anyOf")
    if choices:
        return " | ".join(str(_sketch(choice, schemas, depth + 1)) for choice in choices)
    kind = schema.get("type", "any")
    return " | ".join(kind) if isinstance(kind, list) else kind
