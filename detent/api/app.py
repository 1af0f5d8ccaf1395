"""Build the application: its routes, its health checks and its error handlers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cache
from typing import Final

from litestar import Litestar, get
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp, Receive, Scope, Send

from detent.api.context import ApiContext, context_of, put_context, put_prefix
from detent.api.errors import on_detent_error, on_http_error, on_surprise
from detent.api.openapi.access import COMPONENTS, describe_access
from detent.api.openapi.operations import TAGS, operation_id, refusals
from detent.api.openapi.page import DocsPage, show_openapi
from detent.api.request import AnyRequest
from detent.api.routes import (
    callbacks,
    dead_letters,
    document_templates,
    heroes,
    lists,
    moves,
    outlines,
    overviews,
    pages,
    rehearsals,
    run_control,
    runs,
    starts,
    streams,
    templates,
    topics,
    triggers,
    versions,
    webhooks,
    workflows,
)
from detent.api.routes.catalog import connectors, imports
from detent.api.routes.files import plans
from detent.api.routes.identity import audit, keys, logins, sessions, tenants, users
from detent.api.routes.payloads import blobs
from detent.api.routes.rules import action_templates, alerts, entities, events, parts, rules
from detent.api.routes.vault import credentials, secrets
from detent.api.server.auditor import Auditor
from detent.api.server.guards import OriginGuard, own_names
from detent.api.server.policy_guard import PolicyGuard, require_lines
from detent.app import App
from detent.auth.authenticator import Authenticator
from detent.auth.caller import Caller, local_caller
from detent.auth.cookies import Cookies
from detent.auth.logins import Logins
from detent.documents.answers import Health
from detent.errors import DetentError, StoreError, Unavailable
from detent.values.limits import INPUT_LIMIT
from detent.version import VERSION
from detent.views.feeds import Feeds

#: Seconds that `/health/ready` waits for the database.
PATIENCE: Final = 2.0


@get("/health/live", tags=["health"], summary="Is the process alive")
async def live() -> Health:
    """Answer `ok` while the process answers at all."""
    return Health("ok")


@get("/health/ready", tags=["health"], summary="Can it take work", responses=refusals())
async def ready(request: AnyRequest) -> Health:
    """Answer `ok` while the engine can take work and the database can be written. Otherwise answer 503; `message` says
    why."""
    context = context_of(request.scope)
    outage = context.outage()
    if outage is not None:
        raise Unavailable(outage)
    try:
        async with asyncio.timeout(PATIENCE):
            await context.check()
    except TimeoutError:
        raise Unavailable("the database does not answer") from None
    except StoreError as error:
        raise Unavailable(error.outage) from None
    return Health("ok")


ROUTES = [
    *workflows.ROUTES,
    *versions.ROUTES,
    *rules.ROUTES,
    *events.ROUTES,
    *parts.ROUTES,
    *entities.ROUTES,
    *alerts.ROUTES,
    *action_templates.ROUTES,
    *plans.ROUTES,
    *templates.ROUTES,
    *document_templates.ROUTES,
    *starts.ROUTES,
    *lists.ROUTES,
    *runs.ROUTES,
    *outlines.ROUTES,
    *overviews.ROUTES,
    *keys.ROUTES,
    *tenants.ROUTES,
    *run_control.ROUTES,
    *moves.ROUTES,
    *rehearsals.ROUTES,
    *heroes.ROUTES,
    *streams.ROUTES,
    *topics.ROUTES,
    *connectors.ROUTES,
    *imports.ROUTES,
    *secrets.ROUTES,
    *audit.ROUTES,
    *credentials.ROUTES,
    *triggers.ROUTES,
    *webhooks.ROUTES,
    *callbacks.ROUTES,
    *dead_letters.ROUTES,
    *blobs.ROUTES,
    *logins.ROUTES,
    *users.ROUTES,
    *sessions.ROUTES,
    live,
    ready,
    pages.show_index,
    show_openapi,
]


class _Routes(Litestar):
    """Litestar without its plugins for pydantic and attrs, which it adds if these packages are installed.

    Loading the plugins and asking them about every route is half of the start-up time. No model here needs them."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]


@cache
def build_routes() -> Litestar:
    """Build the routes, once per process: that takes longer than everything else at the start of an app."""

    def guard(app: ASGIApp) -> ASGIApp:
        return OriginGuard(app, lambda scope: context_of(scope).names)

    describe_access(ROUTES)
    routes = _Routes(
        route_handlers=ROUTES,
        exception_handlers={DetentError: on_detent_error, HTTPException: on_http_error, Exception: on_surprise},
        middleware=[guard, PolicyGuard],
        request_max_body_size=INPUT_LIMIT,
        openapi_config=_openapi(),
        logging_config=None,
    )
    require_lines(routes)
    return routes


def _openapi() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Detent",
        version=VERSION,
        description="A durable workflow engine: save workflows, start runs, receive callbacks. Requests and "
        "answers are JSON; `{workflow}` is an id or a name.",
        path="/docs",
        render_plugins=[DocsPage(path="/")],
        create_examples=False,
        operation_id_creator=operation_id,
        use_handler_docstrings=True,
        tags=TAGS,
        components=COMPONENTS,
    )


class Api:
    """The API of one running app: an ASGI application."""

    def __init__(self, context: ApiContext) -> None:
        self.context = context
        self._routes = build_routes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        put_context(scope, self.context)
        if scope.get("root_path"):
            put_prefix(scope)
        await self._routes(scope, receive, send)


def api_caller() -> Caller:
    """Return the caller of requests that this process trusts: its own, and all of them in loose mode."""
    return local_caller("api")


def context_for(
    app: App,
    authenticator: Authenticator,
    *,
    hosts: frozenset[str] | None,
    sign_in: Logins | None = None,
    auditor: Auditor | None = None,
    feeds: Feeds | None = None,
) -> ApiContext:
    """Build what the requests to a running app share."""
    return ApiContext(
        authenticator=authenticator,
        engine_commands=app.commands,
        engine_triggers=app.triggers,
        public=replace(local_caller("public"), scopes=frozenset(), via="public"),
        feeds=feeds or app.feeds,
        build_hub=topics.build_hub,
        outage=app.engine.outage,
        check=app.store.check,
        names=own_names(app.base_url, hosts),
        auditor=auditor or Auditor(app.store, app.engine.time.now),
        logins=sign_in,
        cookies=Cookies.of_url(app.base_url),
    )
