"""A whole Detent in the test's own process, and a client that speaks HTTP to it."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

from detent.api.server.listener import listening
from detent.process import LOOPBACK, App, bind, run_app
from detent.run.status import TERMINAL
from detent.settings import Settings

PATIENCE = 300.0
_KEYS = itertools.count()


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Any
    text: str
    json: Any


class Detent:
    """Speaks to the API as anybody would."""

    def __init__(self, app: App, session: aiohttp.ClientSession) -> None:
        self.app, self._session = app, session

    async def call(self, method: str, path: str | URL, **options: Any) -> Answer:
        async with self._session.request(method, path, **options) as answer:
            text = await answer.text()
            is_json = answer.content_type == "application/json"
            return Answer(answer.status, answer.headers, text, await answer.json() if is_json else None)

    @asynccontextmanager
    async def opened(self, method: str, path: str, headers: dict[str, str]) -> AsyncIterator[aiohttp.ClientResponse]:
        """An answer whose body is read by the caller. The connection is closed after it."""
        async with self._session.request(method, path, headers=headers) as answer:
            yield answer
            answer.close()

    async def save(self, definition: str) -> dict[str, Any]:
        answer = await self.call("POST", "/api/v1/workflows", data=definition)
        assert answer.status == 201, answer.text
        document: dict[str, Any] = answer.json["data"]
        return document

    async def start(self, workflow: str, body: Any) -> dict[str, Any]:
        """Start a run. While the database does not answer, ask again under the same key, as the answer 503 says."""
        key = f"start-{next(_KEYS)}-{os.getpid()}"
        async with asyncio.timeout(PATIENCE):
            while True:
                place, headers = f"/api/v1/workflows/{workflow}/trigger", {"Idempotency-Key": key}
                answer = await self.call("POST", place, json=body, headers=headers)
                if answer.status != 503:
                    break
                await asyncio.sleep(0.1)  # less than Retry-After says, because nothing else is asked meanwhile
        assert answer.status in (200, 201), answer.text
        document: dict[str, Any] = answer.json["data"]
        return document

    async def run(self, started: dict[str, Any]) -> dict[str, Any]:
        place = f"/api/v1/workflows/{started['workflow_id']}/runs/{started['run_id']}"
        document: dict[str, Any] = (await self.call("GET", place)).json["data"]
        return document

    async def ended(self, started: dict[str, Any]) -> dict[str, Any]:
        """The run once it has ended."""
        return await self.until(started, lambda run: run["status"] in TERMINAL)

    async def until(self, started: dict[str, Any], is_so: Any) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while True:
                run = await self.run(started)
                if is_so(run):
                    return run
                await asyncio.sleep(0.02)  # the API is polled, as any of its users would


def statuses(run: dict[str, Any]) -> dict[str, str]:
    return {name: step["status"] for name, step in run["tasks"].items()}


@asynccontextmanager
async def serving(url: str, **settings: Any) -> AsyncIterator[Detent]:
    """A Detent on that database."""
    chosen = Settings(database_url=url, **settings)
    with closing(bind("127.0.0.1", 0)) as sock:
        async with (
            run_app(chosen, address=sock.getsockname()[:2], allow=LOOPBACK, migrate=True) as app,
            listening(app, sock, loose=True),
            aiohttp.ClientSession(app.local_url) as session,
        ):
            yield Detent(app, session)
