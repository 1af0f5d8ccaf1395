"""A client that speaks to the server under attack and writes every word down."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Final

import aiohttp

from detent.engine.callbacks import CallbackTokens
from detent.ids import RUN, parse
from tests.hostile.ledger import UNKNOWN, Ledger, Sent
from tests.hostile.server import SECRET, Server

WORKERS: Final = 64
_PATIENCE: Final = 300.0

DEFINITIONS: Final = (
    '{"name": "one", "tasks": {"w": {"wait_for_webhook": {}}, "next": {"needs": ["w"], "action": "core.echo"}}}',
    '{"name": "two", "tasks": {"first": {"wait_for_webhook": {}}, "w": {"needs": ["first"], "wait_for_webhook": {}}}}',
    '{"name": "brief", "tasks": {"w": {"wait_for_webhook": {"timeout": "200ms"}}}}',
    '{"name": "race", "tasks": {"w": {"wait_for_webhook": {"timeout": "2s"}}}}',
)


class World:
    """Use as a context manager. `requests` counts callbacks only."""

    def __init__(self, server: Server, seed: int) -> None:
        self.server, self.ledger, self.rng = server, Ledger(), random.Random(seed)
        self.requests = 0
        self.runs = 0
        self.phase = ""
        self._tokens = CallbackTokens(SECRET, server.url)
        self._marks = 0

    async def __aenter__(self) -> World:
        connector = aiohttp.TCPConnector(limit=WORKERS * 4, keepalive_timeout=3)
        self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=_PATIENCE))
        for definition in DEFINITIONS:
            assert await self._ask("POST", "/api/v1/workflows", data=definition) is not None
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def _ask(self, method: str, path: str, **options: Any) -> Any:
        """An ordinary request, again until it is answered; what was asked twice is harmless here."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                await self.server.is_up.wait()
                try:
                    async with self._session.request(method, self.server.url + path, **options) as answer:
                        if answer.status < 300:
                            return await answer.json()
                        if answer.status != 503:
                            raise RuntimeError(f"{method} {path}: {answer.status} {await answer.text()}")
                except (aiohttp.ClientError, TimeoutError):
                    pass
                await asyncio.sleep(0.05)

    async def begin(self, workflow: str) -> tuple[str, float]:
        """A new run, and when it was started in seconds since the epoch."""
        self.runs += 1
        data = (await self._ask("POST", f"/api/v1/workflows/{workflow}/trigger", json={}))["data"]
        return data["run_id"], datetime.fromisoformat(data["started_at"]).timestamp()

    async def run(self, run: str) -> dict[str, Any]:
        document: dict[str, Any] = (await self._ask("GET", f"/api/v1/runs/{run}"))["data"]
        return document

    async def send(self, run: str, step: str, *allowed: int, message: str | None = None) -> int:
        """A callback, once. Gives its status, or 0 if nobody answered."""
        self._marks += 1
        mark = f"{run}/{step}/{self._marks}"
        headers = {} if message is None else {"webhook-id": message}
        url = self._tokens.url(parse(RUN, run), step)
        status = await self.post(url, {"mark": mark}, headers)
        sent = Sent(message or mark, mark, status)
        self.ledger.note(self.phase, run, step, sent, frozenset(allowed))
        return status

    async def insist(self, run: str, step: str, *allowed: int, message: str) -> int:
        """The same message again and again until it is answered."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                await self.server.is_up.wait()
                status = await self.send(run, step, *allowed, 503, message=message)
                if status not in (UNKNOWN, 503):
                    return status
                await asyncio.sleep(0.02)

    async def post(self, url: str, body: Any, headers: dict[str, str]) -> int:
        self.requests += 1
        try:
            async with self._session.post(url, json=body, headers=headers) as answer:
                await answer.read()
                return answer.status
        except (aiohttp.ClientError, TimeoutError):
            return UNKNOWN


async def in_parallel(count: int, work: Callable[[int], Awaitable[None]], *, workers: int = WORKERS) -> None:
    """So many pieces of work, a few at a time."""
    numbers = iter(range(count))

    async def labour() -> None:
        for number in numbers:
            await work(number)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(workers, count)):
            group.create_task(labour())
