"""Routes of the JSON Schemas of definitions, for editors and other programs."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, get
from litestar.params import FromPath

from detent.api.openapi.operations import Plain, answers, refusals
from detent.api.request import AnyRequest
from detent.forms.compile import schema_of

MEDIA_TYPE: Final = "application/schema+json"


@get(
    "/api/v1/schemas/{form:str}",
    tags=["workflows"],
    summary="Read the JSON Schema of a form",
    operation_class=Plain,
    responses={**answers(200, dict[str, Any], "The schema, draft 2020-12."), **refusals(403, 404)},
)
async def read_schema(request: AnyRequest, form: FromPath[str]) -> Response[dict[str, Any]]:
    """Return the JSON Schema of definitions of a form: `graph`. A definition that the schema accepts can still be
    refused: a schema cannot see what refers to what."""
    return Response(dict(schema_of(form)), media_type=MEDIA_TYPE, headers={"Cache-Control": "max-age=300"})


ROUTES: Final = [read_schema]
