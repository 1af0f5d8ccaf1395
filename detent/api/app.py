"""Build the application: its routes, its health checks and its error handlers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from litestar import Litestar, get
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp

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
from detent.api.server.guards import OriginGuard, Throttle, known_hosts
from detent.app import App
from detent.auth.caller import Caller, local_caller
from detent.commands import Commands
from detent.documents.answers import Health
from detent.errors import DetentError, StoreError, Unavailable
from detent.triggers.commands import TriggerCommands
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
    outage = request.app.state["outage"]()
    if outage is not None:
        raise Unavailable(outage)
    try:
        async with asyncio.timeout(PATIENCE):
            await request.app.state["check"]()
    except TimeoutError:
        raise Unavailable("the database does not answer") from None
    except StoreError as error:
        raise Unavailable(error.outage) from None
    return Health("ok")


ROUTES = [
    *workflows.ROUTES,
    *versions.ROUTES,
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


class _Api(Litestar):
    """Litestar without its plugins for pydantic and attrs, which it adds if these packages are installed.

    Loading the plugins and asking them about every route is half of the start-up time. No model here needs them."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]


def build_api(
    commands: Commands,
    trigger_commands: TriggerCommands,
    feeds: Feeds,
    *,
    outage: Callable[[], str | None],
    check: Callable[[], Awaitable[object]],
    base_url: str,
    loose: bool = False,
) -> Litestar:
    """Build the API in front of the commands of one engine. `outage` returns why the engine takes no work, or `None`.
    `check` raises StoreError if the database does not answer. With `loose` the API answers to any host name."""
    hosts = known_hosts(base_url, loose=loose)

    def guard(app: ASGIApp) -> ASGIApp:
        return OriginGuard(app, hosts)

    return _Api(
        route_handlers=ROUTES,
        state=State(
            {
                "caller": commands.caller,
                "commands": commands,
                "triggers": trigger_commands,
                "feeds": feeds,
                "live": topics.build_hub(commands, feeds),
                "outage": outage,
                "check": check,
                "guesses": Throttle(),
                "forgeries": Throttle(),
                "hosts": hosts,
            }
        ),
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


def api_of(app: App) -> Litestar:
    """Build the API of a running app."""
    caller = api_caller()
    return build_api(
        app.commands.for_caller(caller),
        app.triggers.for_caller(caller),
        app.feeds,
        outage=app.engine.outage,
        check=app.store.check,
        base_url=app.base_url,
        loose=app.settings.allow_loose_auth,
    )
