"""Services on loopback that speak the shapes of real ones: Slack, monday.com, Confluence and GitHub."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

TOKENS = {
    "slack": "xoxb-slack-token-1",
    "monday": "monday-token-2",
    "confluence": "wiki-token-3",
    "github": "github_pat_token-4",
}


@dataclass
class Received:
    """A request as a service got it."""

    service: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Services:
    """The services behind one address each, and what they received."""

    url: str = ""
    received: list[Received] = field(default_factory=list)
    boards: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    channels: tuple[str, ...] = ("C1", "C456", "C0HR", "C0PROJECTS", "C0STATUS", "C0DEV")
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    page_size: int = 100

    def environ(self) -> dict[str, str]:
        """The environment of a node that is set up for them."""
        found = {f"CONNECTOR_{name.upper()}_TOKEN": token for name, token in TOKENS.items()}
        return found | {f"CONNECTOR_{name.upper()}_URL": f"{self.url}/{name}" for name in TOKENS}

    def at(self, service: str) -> list[Received]:
        return [one for one in self.received if one.service == service]

    async def slack(self, request: web.Request) -> web.Response:
        """Slack answers 200 also for what it refuses."""
        sent = await self._receive("slack", request)
        if sent.headers.get("Authorization") != f"Bearer {TOKENS['slack']}":
            return web.json_response({"ok": False, "error": "invalid_auth"})
        if request.path.endswith("/auth.test"):
            return web.json_response({"ok": True, "url": "https://example.slack.com/", "team": "Example"})
        if sent.body["channel"] not in self.channels:
            return web.json_response({"ok": False, "error": "channel_not_found"})
        ts = f"1700000000.{len(self.at('slack')):06d}"
        return web.json_response({"ok": True, "channel": sent.body["channel"], "ts": ts, "message": {"text": "..."}})

    async def monday(self, request: web.Request) -> web.Response:
        """monday.com answers 200 with a list of errors."""
        sent = await self._receive("monday", request)
        if sent.headers.get("Authorization") != f"Bearer {TOKENS['monday']}":
            return web.json_response({"errors": ["Not Authenticated"]}, status=401)
        given = sent.body.get("variables", {})
        assert "items_page" in sent.body["query"]
        if given["board"] == ["13"]:
            error = {"message": "Board is broken", "extensions": {"code": "InternalServerError"}}
            return web.json_response({"data": None, "errors": [error]})
        boards = [self.boards[board] for board in given["board"] if board in self.boards]
        start = int(given["cursor"] or 0)
        end = start + min(given["limit"], self.page_size)
        pages = [
            {"items_page": {"cursor": str(end) if end < len(board) else None, "items": board[start:end]}}
            for board in boards
        ]
        return web.json_response({"data": {"boards": pages}, "account_id": 1})

    async def confluence(self, request: web.Request) -> web.Response:
        """Confluence answers a page with its links."""
        sent = await self._receive("confluence", request)
        if sent.headers.get("Authorization") != f"Bearer {TOKENS['confluence']}":
            return web.json_response({"statusCode": 401, "message": "who are you"}, status=401)
        if request.method == "GET":
            page = self.pages.get(request.path.rpartition("/")[2])
            missing = {"statusCode": 404, "message": "No content found"}
            return web.json_response(page or missing, status=200 if page else 404)
        if any(page["title"] == sent.body["title"] for page in self.pages.values()):
            message = "A page with this title already exists"
            return web.json_response({"statusCode": 400, "message": message}, status=400)
        id_ = str(123456 + len(self.pages))
        self.pages[id_] = page = {
            "id": id_,
            "type": "page",
            "title": sent.body["title"],
            "space": sent.body["space"],
            "version": {"number": 1},
            "body": sent.body["body"],
            "_links": {"base": "https://wiki.example.com", "webui": f"/display/{sent.body['space']['key']}/{id_}"},
        }
        return web.json_response(page)

    async def github(self, request: web.Request) -> web.Response:
        """GitHub answers 201 with what it made."""
        sent = await self._receive("github", request)
        if sent.headers.get("Authorization") != f"Bearer {TOKENS['github']}":
            return web.json_response({"message": "Bad credentials", "status": "401"}, status=401)
        address = f"https://github.example{request.path.removeprefix('/github/repos')}"
        return web.json_response({"id": 1, "html_url": address, "body": sent.body["body"]}, status=201)

    async def _receive(self, service: str, request: web.Request) -> Received:
        raw = await request.read()
        found = Received(service, request.path, request.headers, json.loads(raw) if raw else None)
        self.received.append(found)
        return found


def item(id_: int, name: str, **columns: str) -> dict[str, Any]:
    """An item of monday.com, with its columns by title."""
    values = [{"text": text, "column": {"title": title}} for title, text in columns.items()]
    return {"id": str(id_), "name": name, "group": {"title": "Projects"}, "column_values": values}


@asynccontextmanager
async def open_services() -> AsyncIterator[Services]:
    services = Services()
    handlers: dict[str, Callable[[web.Request], Awaitable[web.StreamResponse]]] = {
        "slack": services.slack,
        "monday": services.monday,
        "confluence": services.confluence,
        "github": services.github,
    }
    app = web.Application()
    for name, handler in handlers.items():
        app.router.add_route("*", f"/{name}/{{path:.*}}", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    services.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield services
    finally:
        await runner.cleanup()
