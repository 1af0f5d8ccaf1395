"""What OpenAPI says of a route that its types do not: the body it takes and the errors it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import OpenAPIMediaType, Operation, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIType

from detent.api.problems import Refusal

_ANY: Final = Schema(description="Any JSON value, at most 256 KB.")
_DEFINITION: Final = Schema(
    type=OpenAPIType.OBJECT,
    description="A workflow definition, in JSON or YAML, at most 1 MB.",
    required=["name", "tasks"],
    properties={"name": Schema(type=OpenAPIType.STRING), "tasks": Schema(type=OpenAPIType.OBJECT)},
)


@dataclass
class TakesAnything(Operation):
    """A route whose whole body is data."""

    def __post_init__(self) -> None:
        self.request_body = RequestBody(content={"application/json": OpenAPIMediaType(schema=_ANY)})


@dataclass
class TakesDefinition(Operation):
    """A route whose body is a workflow definition."""

    def __post_init__(self) -> None:
        kinds = ("application/json", "application/yaml")
        self.request_body = RequestBody(
            content={kind: OpenAPIMediaType(schema=_DEFINITION) for kind in kinds}, required=True
        )


def refusals(*statuses: int) -> dict[int, ResponseSpec]:
    """The errors a route gives. 503 comes from every route, when the database is away."""
    return {
        status: ResponseSpec(Refusal, generate_examples=False, description=_WHY[status]) for status in (*statuses, 503)
    }


def answers(status: int, container: Any, description: str) -> dict[int, ResponseSpec]:
    """A good answer beside the one that the handler's type says."""
    return {status: ResponseSpec(container, generate_examples=False, description=description)}


_WHY: Final = {
    400: "The request is not right; `details` says where.",
    403: "Not allowed from there.",
    404: "There is nothing of that name.",
    409: "The state of things forbids it.",
    410: "Its time is over.",
    413: "The body is larger than its limit.",
    429: "Too many unknown tokens from there.",
    503: "Not now; try again after `Retry-After` seconds.",
}
