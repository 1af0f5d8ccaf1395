"""The documentation of the API as one page, made from its OpenAPI document: nothing is loaded from elsewhere."""

from __future__ import annotations

from typing import Any

from litestar import Response, get
from litestar.openapi.plugins import OpenAPIRenderPlugin

from detent.api.bodies import AnyRequest
from detent.api.docs_page import render_docs


@get("/openapi.json", include_in_schema=False)
async def show_openapi(request: AnyRequest) -> Response[dict[str, Any]]:
    """The API for programs: OpenAPI 3.1."""
    return Response(request.app.openapi_schema.to_schema())


class DocsPage(OpenAPIRenderPlugin):
    """Shows every operation with its parameters, bodies, answers and errors."""

    def render(self, request: AnyRequest, openapi_schema: dict[str, Any]) -> bytes:
        return render_docs(openapi_schema).encode()
