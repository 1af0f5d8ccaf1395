"""Build the application: its routes, its health checks and its error handlers."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Final

from litestar import Litestar, get
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp, Receive, Scope, Send

from detent.api.context import ApiContext, context_of, put_context
from detent.api.errors import on_detent_error, on_http_error, on_surprise
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
from detent.api.routes.rules import action_templates, alerts, entities, events, parts, rules
from detent.api.server.guards import OriginGuard, known_hosts
from detent.app import App
from detent.auth.caller import Caller, local_caller
from detent.documents.answers import Health
from detent.errors import DetentError, StoreError, Unavailable
from detent.values.limits import INPUT_LIMIT
from detent.version import VERSION

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
    *run_control.ROUTES,
    *moves.ROUTES,
    *rehearsals.ROUTES,
    *heroes.ROUTES,
    *streams.ROUTES,
    *topics.ROUTES,
    *connectors.ROUTES,
    *imports.ROUTES,
    *triggers.ROUTES,
    *webhooks.ROUTES,
    *callbacks.ROUTES,
    *dead_letters.ROUTES,
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
        return OriginGuard(app, lambda scope: context_of(scope).hosts)

    return _Routes(
        route_handlers=ROUTES,
        exception_handlers={DetentError: on_detent_error, HTTPException: on_http_error, Exception: on_surprise},
        middleware=[guard],
        request_max_body_size=INPUT_LIMIT,
        openapi_config=_openapi(),
        logging_config=None,
    )


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
    )


def api_caller() -> Caller:
    """Return the caller of every request, while the API has no authentication."""
    return local_caller("api")


class Api:
    """The API of one running app: an ASGI application."""

    def __init__(self, context: ApiContext) -> None:
        self.context = context
        self._routes = build_routes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        put_context(scope, self.context)
        await self._routes(scope, receive, send)


def api_of(app: App) -> Api:
    """Build the API of a running app."""
    caller = api_caller()
    commands = app.commands.for_caller(caller)
    return Api(
        ApiContext(
            caller=commands.caller,
            commands=commands,
            triggers=app.triggers.for_caller(caller),
            feeds=app.feeds,
            live=topics.build_hub(commands, app.feeds),
            outage=app.engine.outage,
            check=app.store.check,
            hosts=known_hosts(app.base_url, loose=app.settings.allow_loose_auth),
        )
    )
