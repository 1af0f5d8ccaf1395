"""The application: its table of routes, and how it answers errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from litestar import Litestar
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp

from detent.api import (
    again,
    bulk,
    callbacks,
    events,
    executions,
    health,
    heroes,
    pages,
    runs,
    signals,
    steering,
    streams,
    triggers,
    webhooks,
    workflows,
)
from detent.api.docs import DocsPage, show_openapi
from detent.api.guessing import Guesses
from detent.api.operations import TAGS, operation_id
from detent.api.origin import OriginGuard, known_hosts
from detent.api.problems import on_detent_error, on_http_error, on_surprise
from detent.engine.commands import INPUT_LIMIT, Commands
from detent.engine.feeds import Feeds
from detent.errors import DetentError
from detent.triggers.commands import TriggerCommands
from detent.version import VERSION

ROUTES = [
    *workflows.ROUTES,
    *executions.ROUTES,
    *runs.ROUTES,
    *again.ROUTES,
    *steering.ROUTES,
    *bulk.ROUTES,
    *heroes.ROUTES,
    *signals.ROUTES,
    *streams.ROUTES,
    *triggers.ROUTES,
    *events.ROUTES,
    *webhooks.ROUTES,
    *callbacks.ROUTES,
    *health.ROUTES,
    pages.show_index,
    show_openapi,
]


class _Api(Litestar):
    """Litestar without what it adds for pydantic and attrs wherever they are installed: to load it and ask it about
    every route is half of what it costs to begin, and nothing here is a model of theirs."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]


def build_api(
    commands: Commands,
    trigger_commands: TriggerCommands,
    feeds: Feeds,
    *,
    is_ready: Callable[[], bool],
    check: Callable[[], Awaitable[object]],
    base_url: str,
    loose: bool = False,
) -> Litestar:
    """The API before one engine's commands. `check` asks the database for a sign of life. With `loose` it answers to
    any host name."""
    hosts = known_hosts(base_url, loose=loose)

    def guard(app: ASGIApp) -> ASGIApp:
        return OriginGuard(app, hosts)

    return _Api(
        route_handlers=ROUTES,
        state=State(
            {
                "commands": commands,
                "triggers": trigger_commands,
                "feeds": feeds,
                "is_ready": is_ready,
                "check": check,
                "guesses": Guesses(),
                "forgeries": Guesses(),
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
