"""A Detent that checks every request, and browsers that sign in."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from html import unescape
from typing import Any

import aiohttp

from detent.api.server.listener import listening
from detent.auth.keys import make_key
from detent.process import LOOPBACK, App, bind, run_app
from detent.settings import Settings
from detent.store.auth import NewKey
from tests.api.server import Answer

PASSWORD = "correct horse battery"


class Browser:
    """Sends requests with its own cookies, as a browser does, and follows no redirect by itself."""

    def __init__(self, session: aiohttp.ClientSession, **headers: str) -> None:
        self.session = session
        self.headers = headers

    async def call(self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any) -> Answer:
        every = {**self.headers, **(headers or {})}
        async with self.session.request(method, path, headers=every, allow_redirects=False, **options) as answer:
            text = await answer.text()
            is_json = answer.content_type == "application/json" and text
            return Answer(answer.status, answer.headers, text, await answer.json() if is_json else None)

    async def form(self, path: str = "/login", **values: str) -> Answer:
        """Open a page, fill in its form and send it."""
        page = await self.call("GET", path, headers={"Accept": "text/html"})
        return await self.call("POST", path.partition("?")[0], data={**hidden(page.text), **values})

    async def sign_in(self, **values: str) -> None:
        answer = await self.form(**values)
        assert answer.status == 303, answer.text


def hidden(page: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    return {name: unescape(value) for name, value in found}


class Site:
    """A Detent that checks every request. It has a key of each role."""

    def __init__(self, app: App, stack: AsyncExitStack) -> None:
        self.app = app
        self._stack = stack

    async def browser(self, **headers: str) -> Browser:
        jar = aiohttp.CookieJar(unsafe=True)
        session = aiohttp.ClientSession(self.app.local_url, cookie_jar=jar)
        return Browser(await self._stack.enter_async_context(session), **headers)

    async def key(self, role: str = "instance-admin", **given: Any) -> str:
        """Add a key to the database and return it."""
        made = make_key()
        values = {"tenant": 1, "name": role, "role": role, "scopes": None, "workflows": None, "expires_at": None}
        row = NewKey(id=made.id, hash=made.hash, created_by="test", **{**values, **given})
        assert await self.app.store.add_key(row)
        return made.key

    async def caller(self, role: str = "instance-admin", **given: Any) -> Browser:
        """Return a client with a key."""
        return await self.browser(Authorization=f"Bearer {await self.key(role, **given)}")

    async def person(self, name: str = "alice", role: str = "operator", password: str | None = PASSWORD) -> str:
        admin = await self.caller()
        answer = await admin.call("POST", "/api/v1/users", json={"name": name, "role": role, "password": password})
        assert answer.status == 201, answer.text
        return str(answer.json["data"]["id"])


@asynccontextmanager
async def open_site(url: str = "memory://", **settings: Any) -> AsyncIterator[Site]:
    """Open a Detent that checks every request."""
    chosen = Settings(database_url=url, **settings)
    async with AsyncExitStack() as stack:
        sock = stack.enter_context(closing(bind("127.0.0.1", 0)))
        address = sock.getsockname()[:2]
        app = await stack.enter_async_context(run_app(chosen, address=address, allow=LOOPBACK, migrate=True))
        await stack.enter_async_context(listening(app, sock))
        yield Site(app, stack)
