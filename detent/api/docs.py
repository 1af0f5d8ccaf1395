"""The documentation of the API as one page, made from its OpenAPI document: nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from typing import Any, Final

from litestar import Response, get
from litestar.openapi.plugins import OpenAPIRenderPlugin

from detent.api.bodies import AnyRequest
from detent.api.docs_page import render_docs

#: `One_detent.api.wire.RunDocument_`, as the framework names a generic type.
_GENERIC: Final = re.compile(r"(One|Many)_((?:\w+\.)*)([\w]+?)_$")
_PLACE: Final = "#/components/schemas/"


@get("/openapi.json", include_in_schema=False)
async def show_openapi(request: AnyRequest) -> Response[dict[str, Any]]:
    """The API for programs: OpenAPI 3.1."""
    return Response(openapi_document(request.app.openapi_schema.to_schema()))


def openapi_document(schema: dict[str, Any]) -> dict[str, Any]:
    """The document in an order that is always the same, and with names that a generated client can carry: an answer
    with one document is `RunDocumentAnswer`, a page of them `RunDocumentPage`."""
    named: dict[str, Any] = _renamed(schema)
    components = named.get("components", {}).get("schemas", {})
    if components:
        named["components"]["schemas"] = {_name(name): components[name] for name in sorted(components, key=_name)}
    named["paths"] = {path: named["paths"][path] for path in sorted(named.get("paths", {}))}
    return named


def _name(name: str) -> str:
    found = _GENERIC.fullmatch(name)
    if found is None:
        return name
    inner = "".join(word[:1].upper() + word[1:] for word in found[3].split("_"))
    return inner + ("Answer" if found[1] == "One" else "Page")


def _renamed(value: Any) -> Any:
    match value:
        case dict():
            return {key: _renamed(part) for key, part in value.items()}
        case list():
            return [_renamed(part) for part in value]
        case str() if value.startswith(_PLACE):
            return _PLACE + _name(value.removeprefix(_PLACE))
        case _:
            return value


class DocsPage(OpenAPIRenderPlugin):
    """Shows every operation with its parameters, bodies, answers and errors."""

    def render(self, request: AnyRequest, openapi_schema: dict[str, Any]) -> bytes:
        return render_docs(openapi_document(openapi_schema)).encode()
