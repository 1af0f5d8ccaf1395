"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

import asyncio
from typing import Final

from litestar import get

from detent.api.bodies import AnyRequest
from detent.api.operations import refusals
from detent.api.wire import Health
from detent.errors import StoreError, Unavailable

PATIENCE: Final = 2.0


@get("/health/live", tags=["health"], summary="Is the process alive")
async def live() -> Health:
    """Always `ok` while the process answers at all."""
    return Health("ok")


@get("/health/ready", tags=["health"], summary="Can it take work", responses=refusals())
async def ready(request: AnyRequest) -> Health:
    """`ok` while the engine has its place and the database answers; 503 when starting, draining or cut off."""
    if not request.app.state["is_ready"]():
        raise Unavailable("the engine is starting, draining or without its database")
    try:
        async with asyncio.timeout(PATIENCE):
            await request.app.state["check"]()
    except (TimeoutError, StoreError):
        raise Unavailable("the database does not answer") from None
    return Health("ok")


ROUTES = [live, ready]
