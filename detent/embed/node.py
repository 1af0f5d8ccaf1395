"""An engine inside the user's own process, for example in the lifespan of a web application.

async with detent.node(database_url="sqlite:///shop.db", workflows=["shop.workflows"]):
    ...
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from types import ModuleType
from typing import Any, Final

from detent.api.server.listener import listening
from detent.embed.config import settings_of
from detent.embed.request import named
from detent.engine.tuning import Tuning
from detent.ids import RUN, show
from detent.observe import listen
from detent.observe.logs import log_through_logging
from detent.process import App, bind, run_app
from detent.python.registry import registry
from detent.run.call import wait_name
from detent.steps.actions import load_modules
from detent.web.page import with_page

_LOG: Final = logging.getLogger("detent")
_UNSERVED: Final = (
    "run %s waits for a callback of %r, but this process serves no callback URLs, and no setting says which one does: "
    "they begin with %s. Mount detent.asgi(...), pass listen=True, or set base_url to the address of a `detent serve` "
    "on this database"
)


@asynccontextmanager
async def node(
    database_url: str | None = None,
    *,
    workflows: Iterable[str | ModuleType | Any] = (),
    migrate: bool = False,
    listen: bool = False,
    tuning: Tuning | None = None,
    **settings: Any,
) -> AsyncIterator[App]:
    """Run an engine in this process until the block ends. It then waits for the attempts in flight.

    `workflows` are names of modules to import, or modules, classes and functions that are already imported. The node
    serves every imported workflow. With `migrate` the tables are upgraded first (those of a SQLite file always are).
    With `listen` the API answers at `host` and `port`. Other settings have the names of `detent.toml`.
    """
    load_workflows(workflows)
    chosen = settings_of(database_url=database_url, **settings)
    async with AsyncExitStack() as stack:
        stack.callback(log_through_logging())
        sock = bind(chosen.host, chosen.port) if listen else None
        if sock is not None:
            stack.callback(sock.close)
        address = None if sock is None else sock.getsockname()[:2]
        app = await stack.enter_async_context(run_app(chosen, address=address, migrate=migrate, tuning=tuning))
        app.engine.served.learn_from(registry.serves)  # workflows that are imported later are served too
        if sock is not None:
            await stack.enter_async_context(listening(app, sock, front=with_page))
        elif chosen.base_url is None:
            stack.callback(_warn_of_waits(app.base_url))
        yield app


def load_workflows(workflows: Iterable[str | ModuleType | Any]) -> None:
    """Import the modules that are named, and register the other workflows. Raise InvalidInput if one is not valid."""
    for one in workflows:
        if isinstance(one, str):
            load_modules([one])
        elif not isinstance(one, ModuleType):
            named(one)


def _warn_of_waits(base_url: str) -> Callable[[], None]:
    """Log the first wait that opens in this process: no process is known to serve callback URLs. Return a function
    that stops it."""

    def hear(name: str, facts: dict[str, Any]) -> None:
        if name == "wait.opened":
            stop()
            _LOG.warning(_UNSERVED, show(RUN, facts["run"]), wait_name(facts["step"]), base_url)

    stop = listen(hear)
    return stop
