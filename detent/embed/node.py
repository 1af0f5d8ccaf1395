"""An engine inside the user's own process, for example in the lifespan of a web application.

async with detent.node(database_url="sqlite:///shop.db", workflows=["shop.workflows"]):
    ...
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from types import ModuleType
from typing import Any

from detent.api.server.listener import listening
from detent.embed.config import settings_of
from detent.embed.request import named
from detent.engine.tuning import Tuning
from detent.process import App, bind, run_app
from detent.python.registry import registry
from detent.steps.actions import load_modules
from detent.web.page import with_page


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
    for one in workflows:
        if isinstance(one, str):
            load_modules([one])
        elif not isinstance(one, ModuleType):
            named(one)
    chosen = settings_of(database_url=database_url, **settings)
    async with AsyncExitStack() as stack:
        sock = bind(chosen.host, chosen.port) if listen else None
        if sock is not None:
            stack.callback(sock.close)
        address = None if sock is None else sock.getsockname()[:2]
        app = await stack.enter_async_context(run_app(chosen, address=address, migrate=migrate, tuning=tuning))
        app.engine.served.learn_from(registry.serves)  # workflows that are imported later are served too
        if sock is not None:
            await stack.enter_async_context(listening(app, sock, front=with_page))
        yield app
