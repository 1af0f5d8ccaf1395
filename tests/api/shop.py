"""The service that the workflows under test call: it writes down every call, and answers as a test wants it to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Call:
    """One call as the shop saw it."""

    path: str
    body: Any
    key: str | None


@dataclass
class Shop:
    """`charge` is the status and body of the charge; `hold` keeps checkouts from being answered until it is set."""

    url: str = ""
    charge: tuple[int, Any] = (200, {"amount": 42.5})
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    calls: list[Call] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def paths(self) -> list[str]:
        return [call.path for call in self.calls]

    def body(self, path: str) -> Any:
        [found] = [call.body for call in self.calls if call.path == path]
        return found

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        self.calls.append(Call(request.path, body, request.headers.get("Idempotency-Key")))
        self.arrived.set()
        if request.path == "/api/create-checkout":
            await self.hold.wait()
        status, answer = self.charge if request.path == "/api/charge" else (200, {"ok": True})
        return web.json_response(answer, status=status)


@asynccontextmanager
async def open_shop() -> AsyncIterator[Shop]:
    """A shop on a loopback port of its own."""
    shop = Shop()
    shop.hold.set()
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", shop.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    shop.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield shop
    await runner.cleanup()
