"""The service that the example workflows call: a shop with a payment provider that calls back after two seconds."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp
from aiohttp import web

from detent.values.limits import BODY_LIMIT

CALL_BACK_AFTER: Final = 2.0
REFUSED_ORDER: Final = 402
PRICE: Final = 42.5
_TRIES: Final = 5


class Shop:
    """A shop with a payment provider. A callback URL must be on this machine: the shop calls no other host."""

    def __init__(self, call_back_after: float = CALL_BACK_AFTER) -> None:
        self._after = call_back_after
        self._calling: set[asyncio.Task[None]] = set()

    def application(self) -> web.Application:
        app = web.Application(client_max_size=BODY_LIMIT)
        app.router.add_post("/api/charge", self._charge)
        app.router.add_post("/api/create-checkout", self._create_checkout)
        for path in (
            *("send-receipt", "ship", "payment-failed", "activate-trial"),
            *("send-email", "expire-trial", "fulfill", "checkout-expired"),
        ):
            app.router.add_post(f"/api/{path}", self._note)
        app.on_shutdown.append(self._stop)
        return app

    async def _charge(self, request: web.Request) -> web.Response:
        order = (await _body(request)).get("order_id")
        if order == REFUSED_ORDER:
            return web.json_response({"error": "the card was declined", "order_id": order}, status=402)
        return web.json_response({"order_id": order, "amount": PRICE, "currency": "EUR"})

    async def _note(self, request: web.Request) -> web.Response:
        return web.json_response({"done": request.path.rpartition("/")[2], "with": await _body(request)})

    async def _create_checkout(self, request: web.Request) -> web.Response:
        body = await _body(request)
        url = str(body.get("callback_url", ""))
        if not url.startswith(("http://127.0.0.1:", "http://localhost:", "http://[::1]:")):
            return web.json_response({"error": "callback_url must be an address of this machine"}, status=400)
        calling = asyncio.get_running_loop().create_task(self._call_back(url, body.get("amount")))
        self._calling.add(calling)
        calling.add_done_callback(self._calling.discard)
        return web.json_response({"checkout_id": "co_1", "pay_at": "https://pay.example/co_1"}, status=201)

    async def _call_back(self, url: str, amount: object) -> None:
        await asyncio.sleep(self._after)
        payload = {"status": "paid", "payment_id": "pay_1", "amount": amount}
        async with aiohttp.ClientSession() as session:
            for attempt in range(_TRIES):
                try:
                    async with session.post(url, json=payload, headers={"webhook-id": "pay_1"}) as answer:
                        if answer.status < 500:
                            return
                except aiohttp.ClientError:
                    pass  # Detent may be restarting: a payment provider retries too
                await asyncio.sleep(2**attempt)

    async def _stop(self, _: web.Application) -> None:
        for calling in self._calling:
            calling.cancel()


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = await request.json() if request.can_read_body else {}
    except ValueError:
        raise web.HTTPBadRequest(text="the body is not JSON") from None
    return body if isinstance(body, dict) else {}


@asynccontextmanager
async def serving_shop(sock: socket.socket, shop: Shop | None = None) -> AsyncIterator[None]:
    """Serve the shop on a socket that is already bound."""
    runner = web.AppRunner((shop or Shop()).application(), access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.SockSite(runner, sock).start()
        yield
    finally:
        await runner.cleanup()
