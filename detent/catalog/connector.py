"""A connector as plain values: where a service is, how it authenticates, and its actions, each of them one request.

`manifest.py` reads connectors that people write. `openapi.py` and `mcp.py` build them from other documents. The store
keeps each action with everything that its requests need (`DataDefinition`), so a stored version never changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from detent.catalog.action import ANYTHING, ActionFacts, ActionSource, Effect

_VERSION: Final = re.compile(r"(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})")
_DIGITS: Final = 10_000


class AuthType(StrEnum):
    """How a request proves who sends it."""

    NONE = "none"
    BEARER = "bearer"
    BASIC = "basic"
    API_KEY = "api_key"
    OAUTH2_CLIENT = "oauth2_client"
    AWS4 = "aws4"


class KeyPlace(StrEnum):
    """Where a request carries its API key."""

    HEADER = "header"
    QUERY = "query"


#: The parts of a credential that each type of authentication needs.
SECRETS: Final[Mapping[AuthType, tuple[str, ...]]] = {
    AuthType.NONE: (),
    AuthType.BEARER: ("token",),
    AuthType.BASIC: ("username", "password"),
    AuthType.API_KEY: ("token",),
    AuthType.OAUTH2_CLIENT: ("client_id", "client_secret"),
    AuthType.AWS4: ("access_key_id", "secret_access_key"),
}


class Auth(msgspec.Struct, frozen=True, omit_defaults=True):
    """The authentication of a connector. `name` and `place` are of an API key, `token_url` and `scopes` of OAuth2,
    `service` and `region` of aws4."""

    type: AuthType = AuthType.NONE
    name: str | None = None
    place: KeyPlace = KeyPlace.HEADER
    token_url: str | None = None
    scopes: tuple[str, ...] = ()
    service: str | None = None
    region: str | None = None


class BodyEncoding(StrEnum):
    """How the body of a request is written."""

    JSON = "json"
    FORM = "form"
    MULTIPART = "multipart"
    RAW = "raw"


class RequestSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """The request of an action. `path` has `{name}` for parameters. Query, headers and body are templates."""

    method: str = "GET"
    path: str = "/"
    query: Mapping[str, Any] = {}
    headers: Mapping[str, Any] = {}
    body: Any = None
    encoding: BodyEncoding = BodyEncoding.JSON


class ErrorSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a failed answer means. `code` and `message` are templates; `retry` is a condition. `None` is the usual."""

    code: str | None = None
    message: str | None = None
    retry: str | None = None


class LinkSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A resource of the service that belongs to the run. All fields are templates."""

    system: str
    type: str
    id: str
    url: str | None = None


class Pagination(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the pages of an answer follow each other.

    `items` is an expression for the list of one page. `next` is an expression for the mark of the next page, null at
    the end; `into` is where the request carries it: `query.NAME`, `body.PATH` or `url`. With `link_header` the header
    `Link` has the address of the next page. `on_more` says what happens after `max_pages`.
    """

    items: str
    next: str | None = None
    into: str | None = None
    link_header: bool = False
    max_pages: int = 10
    on_more: str = "fail"


class Protocol(StrEnum):
    """What a request speaks: plain HTTP, or a call of a tool of an MCP server."""

    HTTP = "http"
    MCP = "mcp"


class ActionSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """One action of a connector. `id` is without the connector. `output` is a template, `None` for the whole body."""

    id: str
    version: str
    request: RequestSpec
    title: str = ""
    description: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = ANYTHING
    output_schema: Mapping[str, Any] = ANYTHING
    success: str | None = None
    error: ErrorSpec = ErrorSpec()
    output: Any = None
    links: tuple[LinkSpec, ...] = ()
    effect: Effect = Effect()
    pagination: Pagination | None = None
    deprecation: str | None = None
    protocol: Protocol = Protocol.HTTP


class Connector(msgspec.Struct, frozen=True, omit_defaults=True):
    """A service and its actions. Without `base_url` the operator sets it. `probe` is the request that checks a
    credential."""

    id: str
    version: str
    title: str
    description: str = ""
    icon_url: str | None = None
    documentation_url: str | None = None
    base_url: str | None = None
    auth: Auth = Auth()
    acting_user_headers: bool = True
    actions: tuple[ActionSpec, ...] = ()
    probe: ActionSpec | None = None
    source: ActionSource = ActionSource.MANIFEST

    def definition(self, action: ActionSpec) -> DataDefinition:
        """Return everything that requests of an action need."""
        return DataDefinition(self.id, self.base_url, self.auth, action, self.acting_user_headers)

    def facts(self, action: ActionSpec) -> ActionFacts:
        """Return what the catalog lists of an action."""
        return ActionFacts(
            id=f"{self.id}.{action.id}",
            connector=self.id,
            version=action.version,
            title=action.title,
            description=action.description,
            category=action.category,
            tags=action.tags,
            parameters=action.parameters,
            output=action.output_schema,
            effect=action.effect,
            deprecation=action.deprecation,
            source=self.source,
        )


class DataDefinition(msgspec.Struct, frozen=True, omit_defaults=True):
    """One version of an action with the address and the authentication of its connector."""

    connector: str
    base_url: str | None
    auth: Auth
    action: ActionSpec
    acting_user_headers: bool = True


def rank_of(version: str) -> int:
    """Return a number that orders versions `MAJOR.MINOR.PATCH`. Raise ValueError for another text."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise ValueError("must be three numbers such as 1.2.0, each at most 9999")
    major, minor, patch = map(int, found.groups())
    return (major * _DIGITS + minor) * _DIGITS + patch
